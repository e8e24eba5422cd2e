//! The surfaces of a world's deformable bodies.

use pliant::TriMesh;
use pliant::scene::Built;
use pliant::world::{Matter, SurfaceView};
use pliant_render::Colour;

/// Colours of deformable bodies, in turn.
const COLOURS: [u32; 6] = [0xd9776a, 0x6aa5d9, 0xd9b45f, 0x7fb77e, 0xa98bc4, 0x8c9aa8];

/// The surface of every deformable body, with its colour.
pub(super) fn bodies(built: &Built) -> Vec<(TriMesh, Colour)> {
    let surfaces = built.world.matter().filter_map(Matter::surface);
    let colours = COLOURS.into_iter().cycle().map(Colour::hex);
    surfaces.map(|s| surface_mesh(&s)).zip(colours).collect()
}

/// A quantity at the vertices of [`bodies`]; nothing for bodies that have no such.
pub(super) fn values_of_bodies(built: &Built, scalar: &str) -> Vec<Option<Vec<f32>>> {
    let surfaces = built.world.matter().filter_map(|m| Some((m, m.surface()?)));
    let values = surfaces.map(|(matter, surface)| {
        let scalars = matter.scalars();
        let (_, values) = scalars.into_iter().find(|(name, _)| *name == scalar)?;
        let (_, points) = numbered(&surface);
        Some(points.into_iter().map(|p| values[p as usize]).collect())
    });
    values.collect()
}

/// The surface of matter as a mesh of its own.
pub fn surface_mesh(surface: &SurfaceView<'_>) -> TriMesh {
    numbered(surface).0
}

/// The same, with the numbers of its vertices among the matter's points.
fn numbered(surface: &SurfaceView<'_>) -> (TriMesh, Vec<u32>) {
    let mut number = vec![u32::MAX; surface.points.position.len()];
    let mut points = Vec::new();
    let mut mesh = TriMesh::default();
    for triangle in surface.triangles {
        mesh.triangles.push(triangle.map(|v| {
            let slot = &mut number[v as usize];
            if *slot == u32::MAX {
                *slot = mesh.vertices.len() as u32;
                mesh.vertices.push(surface.points.position.get(v as usize));
                points.push(v);
            }
            *slot
        }));
    }
    (mesh, points)
}
