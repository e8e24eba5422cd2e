use super::*;
use crate::mesh::{
    TetBlock, to_gmsh, to_tet_list, to_tetgen_ele, to_tetgen_node, to_vertex_list, to_vtk_tets,
};
use proptest::prelude::*;

fn mesh() -> TetMesh {
    TetBlock {
        cells: [2, 1, 3],
        ..TetBlock::default()
    }
    .build()
    .unwrap()
}

#[test]
fn every_format_reads_back_what_was_written() {
    let mesh = mesh();
    assert_eq!(parse_gmsh(to_gmsh(&mesh).as_bytes()).unwrap(), mesh);
    assert_eq!(parse_vtk_tets(to_vtk_tets(&mesh).as_bytes()).unwrap(), mesh);
    let nodes = parse_tetgen_node(to_tetgen_node(&mesh).as_bytes()).unwrap();
    assert_eq!(nodes.points, mesh.points);
    let tets = parse_tetgen_ele(to_tetgen_ele(&mesh).as_bytes(), &nodes).unwrap();
    assert_eq!(tets, mesh.tets);
    let points = parse_vertex_list(to_vertex_list(&mesh).as_bytes()).unwrap();
    assert_eq!(points, mesh.points);
    let tets = parse_tet_list(to_tet_list(&mesh).as_bytes(), points.len()).unwrap();
    assert_eq!(tets, mesh.tets);
}

#[test]
fn lists_count_from_0_or_1() {
    assert_eq!(parse_tet_list(b"1\n0 1 2 3", 4).unwrap(), [[0, 1, 2, 3]]);
    assert_eq!(parse_tet_list(b"1\n1 2 3 4", 4).unwrap(), [[0, 1, 2, 3]]);
    assert_eq!(parse_tet_list(b"1\n1 2 3 4", 5).unwrap(), [[1, 2, 3, 4]]);
}

#[test]
fn gmsh_4_blocks_and_other_elements() {
    let text =
        b"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 10 40\n3 1 0 4\n10\n20\n30\n40\n\
        0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n$Elements\n2 2 1 2\n2 1 2 1\n1 10 20 30\n3 1 4 1\n\
        2 10 20 30 40\n$EndElements\n";
    let mesh = parse_gmsh(text).unwrap();
    assert_eq!(mesh.points.len(), 4);
    assert_eq!(mesh.tets, [[0, 1, 2, 3]]);
}

#[test]
fn vtk_5_offsets() {
    let text =
        b"# vtk DataFile Version 5.1\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n\
        0 0 0 1 0 0 0 1 0\n0 0 1\nCELLS 2 4\nOFFSETS vtktypeint64\n0 4\nCONNECTIVITY vtktypeint64\n\
        0 1 2 3\nCELL_TYPES 1\n10\n";
    assert_eq!(parse_vtk_tets(text).unwrap().tets, [[0, 1, 2, 3]]);
}

#[test]
fn messages_name_the_line_and_what_would_be_right() {
    let message = |r: Result<TetMesh, ParseError>| r.unwrap_err().to_string();
    assert_eq!(
        parse_vertex_list(b"2\n0 0 0\n").unwrap_err().to_string(),
        "line 2: the file ends here, but vertex 1 of 2 should follow"
    );
    assert_eq!(
        parse_vertex_list(b"1\n0 0 0\n1 1 1\n")
            .unwrap_err()
            .to_string(),
        "line 3: the file says it has 1 vertices, but goes on here"
    );
    assert_eq!(
        parse_tet_list(b"1\n0 1 2 9", 4).unwrap_err().to_string(),
        "line 2: point 9 does not exist; there are 4, counted from 0"
    );
    assert_eq!(
        parse_tetgen_node(b"1 2 0 0\n0 1 1")
            .unwrap_err()
            .to_string(),
        "line 1: the dimension is 2, but must be 3"
    );
    assert_eq!(
        parse_tetgen_node(b"2 3 0 0\n1 0 0 0\n3 0 0 0")
            .unwrap_err()
            .to_string(),
        "line 3: point 3 stands where 2 should be"
    );
    assert_eq!(
        message(parse_gmsh(b"$MeshFormat\n3 0 8")),
        "line 2: version 3, but must be 2.2 or 4.1 (Mesh.MshFileVersion)"
    );
    assert_eq!(
        message(parse_gmsh(
            b"$MeshFormat\n2.2 0 8\n$Nodes\n1\n1 0 0 0\n$Elements\n1\n1 4 0 1 1 1 7"
        )),
        "line 8: node 7 is not among the $Nodes"
    );
    assert!(message(parse_vtk_tets(b"hello")).starts_with("line 1: a VTK file must begin"));
    assert!(
        read_tet_mesh("a.obj")
            .unwrap_err()
            .to_string()
            .contains(".msh")
    );
}

proptest! {
    #[test]
    fn damaged_files_are_refused_not_survived(
        format in 0usize..6,
        at in 0.0f64..1.0,
        byte in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let mesh = mesh();
        let nodes = TetGenNodes { points: mesh.points.clone(), first: 0 };
        let text = match format {
            0 => to_gmsh(&mesh),
            1 => to_vtk_tets(&mesh),
            2 => to_tetgen_node(&mesh),
            3 => to_tetgen_ele(&mesh),
            4 => to_vertex_list(&mesh),
            _ => to_tet_list(&mesh),
        };
        let mut bytes = text.into_bytes();
        let place = (at * bytes.len() as f64) as usize;
        if cut {
            bytes.truncate(place);
        } else {
            bytes[place] = byte;
        }
        // Whatever comes of it, indices are valid.
        let n = mesh.points.len() as u32;
        let tets = match format {
            0 => parse_gmsh(&bytes).map(|m| m.tets),
            1 => parse_vtk_tets(&bytes).map(|m| m.tets),
            2 => parse_tetgen_node(&bytes).map(|_| vec![]),
            3 => parse_tetgen_ele(&bytes, &nodes),
            4 => parse_vertex_list(&bytes).map(|_| vec![]),
            _ => parse_tet_list(&bytes, mesh.points.len()),
        };
        if let Ok(tets) = tets {
            prop_assert!(tets.iter().flatten().all(|&v| v < n));
        }
    }
}
