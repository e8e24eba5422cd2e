//! Tetrahedral mesh files. Coordinates are written with the fewest digits that read
//! back as the same `f32`.

use std::fmt::{Display, Write};

use super::TetMesh;

/// A head and one line per item.
fn lines<T, L: Display>(head: &str, items: &[T], line: impl Fn(usize, &T) -> L) -> String {
    let mut out = String::with_capacity(head.len() + 40 * items.len());
    out.push_str(head);
    for (i, item) in items.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{}", line(i, item));
    }
    out
}

fn joined<T: Display, const N: usize>(items: [T; N]) -> String {
    items.map(|v| v.to_string()).join(" ")
}

/// The vertices as a count and `x y z` lines (Lesmes 2013).
pub fn to_vertex_list(mesh: &TetMesh) -> String {
    lines(&format!("{}\n", mesh.points.len()), &mesh.points, |_, p| {
        joined(p.to_array())
    })
}

/// The tetrahedra as a count and lines of four numbers from 0 (Lesmes 2013).
pub fn to_tet_list(mesh: &TetMesh) -> String {
    lines(&format!("{}\n", mesh.tets.len()), &mesh.tets, |_, t| {
        joined(*t)
    })
}

/// The points as a TetGen `.node` file.
pub fn to_tetgen_node(mesh: &TetMesh) -> String {
    lines(
        &format!("{} 3 0 0\n", mesh.points.len()),
        &mesh.points,
        |i, p| format!("{i} {}", joined(p.to_array())),
    )
}

/// The tetrahedra as a TetGen `.ele` file.
pub fn to_tetgen_ele(mesh: &TetMesh) -> String {
    lines(&format!("{} 4 0\n", mesh.tets.len()), &mesh.tets, |i, t| {
        format!("{i} {}", joined(*t))
    })
}

/// The mesh as a Gmsh 2.2 text file.
pub fn to_gmsh(mesh: &TetMesh) -> String {
    let head = format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n",
        mesh.points.len()
    );
    let mut out = lines(&head, &mesh.points, |i, p| {
        format!("{} {}", i + 1, joined(p.to_array()))
    });
    let head = format!("$EndNodes\n$Elements\n{}\n", mesh.tets.len());
    out += &lines(&head, &mesh.tets, |i, t| {
        format!("{} 4 2 0 1 {}", i + 1, joined(t.map(|v| u64::from(v) + 1)))
    });
    out + "$EndElements\n"
}

/// The mesh as a legacy VTK text file.
pub fn to_vtk_tets(mesh: &TetMesh) -> String {
    let (points, tets) = (mesh.points.len(), mesh.tets.len());
    let head = format!(
        "# vtk DataFile Version 3.0\npliant\nASCII\nDATASET UNSTRUCTURED_GRID\n\
         POINTS {points} float\n"
    );
    let mut out = lines(&head, &mesh.points, |_, p| joined(p.to_array()));
    let head = format!("CELLS {tets} {}\n", 5 * tets);
    out += &lines(&head, &mesh.tets, |_, t| format!("4 {}", joined(*t)));
    out + &lines(&format!("CELL_TYPES {tets}\n"), &mesh.tets, |_, _| 10)
}
