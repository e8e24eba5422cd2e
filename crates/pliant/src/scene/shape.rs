//! From the description of a shape to an obstacle with its index.

use std::path::Path;
use std::sync::Arc;

use glam::{EulerRot, Quat, Vec3};

use super::check::{is_near, too_far};
use super::description::{self as d, Index, Shape};
use super::motion;
use crate::contact::Obstacle;
use crate::mesh::{
    Colon, Cuboid, HeightGrid, Ribs, RiverBed, TriMesh, Tube, Tumbler, UvSphere, WineGlass,
    read_mesh,
};
use crate::space::{Bvh, Sdf, TriangleHash, TriangleIndex};

/// Most segments around a generated shape; a sphere has their square in triangles.
const MOST_SEGMENTS: u32 = 1_000;

/// Most squares along an edge of a box.
const MOST_CELLS: u32 = 300;

/// Why a shape cannot be made: the key that is wrong, and why.
pub(super) struct ShapeError {
    pub key: &'static str,
    pub message: String,
    pub help: Option<&'static str>,
}

fn wrong(message: impl Into<String>) -> ShapeError {
    ShapeError {
        key: "shape",
        message: message.into(),
        help: None,
    }
}

/// The obstacle described by `o`, with an index that answers up to `reach`.
pub(super) fn obstacle(o: &d::Obstacle, folder: &Path, reach: f32) -> Result<Obstacle, ShapeError> {
    let rotation = Quat::from_euler(
        EulerRot::ZYX,
        o.rotate.z.to_radians(),
        o.rotate.y.to_radians(),
        o.rotate.x.to_radians(),
    );
    let resting = at_rest(o, folder, reach, rotation)?
        .with_contact(o.restitution, o.friction)
        .with_no_slip(o.no_slip)
        .with_contact_angle(o.contact_angle.to_radians());
    let place = |p| rotation * (o.scale * p) + o.translate;
    motion::apply(o, resting, place).map_err(|message| ShapeError {
        key: "motion",
        message,
        help: None,
    })
}

fn at_rest(
    o: &d::Obstacle,
    folder: &Path,
    reach: f32,
    rotation: Quat,
) -> Result<Obstacle, ShapeError> {
    if let Shape::Plane { point, normal } = o.shape {
        if normal.try_normalize().is_none() || !point.is_finite() {
            return Err(wrong(
                "a plane needs a finite `point` and a `normal` that is not zero",
            ));
        }
        let point = rotation * (o.scale * point) + o.translate;
        if !is_near(point) {
            return Err(wrong(too_far()));
        }
        return Ok(Obstacle::plane(&o.name, point, rotation * normal));
    }
    if let Some(grid) = landscape(&o.shape) {
        let mut grid = grid?;
        if o.rotate != Vec3::ZERO {
            return Err(ShapeError {
                key: "rotate",
                message: "a landscape cannot be turned".into(),
                help: Some("turn gravity instead, or use a mesh"),
            });
        }
        grid.origin = o.scale * grid.origin + o.translate;
        grid.spacing *= o.scale;
        grid.heights.iter_mut().for_each(|h| *h *= o.scale);
        let bounds = grid.to_mesh().aabb();
        if !(is_near(bounds.min) && is_near(bounds.max) && grid.spacing > 0.0) {
            return Err(wrong(too_far()));
        }
        return Ok(Obstacle::heightfield(&o.name, grid));
    }
    let mut mesh = triangles(&o.shape, folder, motion::rings(o))?;
    mesh.transform(o.scale, rotation, o.translate);
    if !mesh.vertices.iter().all(|&v| is_near(v)) {
        return Err(wrong(too_far()));
    }
    if mesh.triangles.is_empty() {
        return Err(wrong("the mesh has no triangles"));
    }
    let report = mesh.check();
    if matches!(o.shape, Shape::Mesh { closed: true, .. }) && !report.is_closed() {
        return Err(ShapeError {
            key: "shape",
            message: format!("a closed mesh is needed here, but {report}"),
            help: Some("close the hole, or leave out `closed = true`"),
        });
    }
    let mesh = Arc::new(mesh);
    let index: Arc<dyn TriangleIndex> = match o.index {
        Index::Hash => Arc::new(TriangleHash::build(mesh.clone(), reach)),
        Index::Bvh => Arc::new(Bvh::build(mesh.clone())),
        Index::Sdf => {
            let cell = o.sdf_cell.unwrap_or(reach);
            // Its distances are off by up to a cell, so it must see further.
            let sdf = Sdf::build(mesh.clone(), cell, reach + cell).map_err(|e| ShapeError {
                key: "index",
                message: e.to_string(),
                help: Some("use index = \"hash\" or \"bvh\""),
            })?;
            Arc::new(sdf)
        }
    };
    let reach = reach + index.distance_error();
    Ok(Obstacle::mesh(&o.name, mesh, index, reach))
}

/// The mesh of a shape; a tube has so many `rings`, if it needs more than its ends.
pub(super) fn triangles(
    shape: &Shape,
    folder: &Path,
    rings: Option<u32>,
) -> Result<TriMesh, ShapeError> {
    if let Shape::Sphere { segments, .. }
    | Shape::Tube { segments, .. }
    | Shape::WineGlass { segments }
    | Shape::Tumbler { segments } = shape
        && *segments > MOST_SEGMENTS
    {
        return Err(wrong(format!(
            "`segments` is {segments}, but must be at most {MOST_SEGMENTS}"
        )));
    }
    let mesh = match shape {
        Shape::Mesh { file, .. } => {
            return read_mesh(folder.join(file)).map_err(|e| wrong(e.to_string()));
        }
        Shape::Plane { .. } | Shape::River { .. } | Shape::Heightfield { .. } => {
            return Err(wrong("this shape is not a mesh"));
        }
        Shape::Box { min, max, cells } => {
            if let Some(many) = cells.iter().find(|&&n| n > MOST_CELLS) {
                return Err(wrong(format!(
                    "`cells` has {many}, but must have at most {MOST_CELLS} along each edge"
                )));
            }
            Cuboid {
                cells: *cells,
                ..Cuboid::new(*min, *max)
            }
            .build()
        }
        Shape::Sphere {
            center,
            radius,
            segments,
        } => UvSphere {
            center: *center,
            radius: *radius,
            segments: *segments,
            rings: (segments / 2).saturating_sub(1).max(2),
        }
        .build(),
        Shape::Tube {
            from,
            to,
            radius,
            segments,
            capped,
        } => Tube {
            path: vec![*from, *to],
            radius: *radius,
            segments: *segments,
            smooth_rings: rings,
            capped: *capped,
        }
        .build(),
        Shape::Colon { triangles, seed } => match triangles {
            8040 => Colon::coarse(*seed).build(),
            40_000 => Colon::fine(*seed).build(),
            other => {
                return Err(wrong(format!(
                    "a colon has 8040 or 40000 triangles, not {other}"
                )));
            }
        },
        Shape::WineGlass { segments } => WineGlass {
            segments: *segments,
            ..WineGlass::default()
        }
        .build(),
        Shape::Ribs { left } => Ribs {
            left: *left,
            ..Ribs::default()
        }
        .build(),
        Shape::Tumbler { segments } => Tumbler {
            segments: *segments,
            ..Tumbler::default()
        }
        .build(),
    };
    mesh.map_err(|e| wrong(e.to_string()))
}

fn landscape(shape: &Shape) -> Option<Result<HeightGrid, ShapeError>> {
    let grid = match shape {
        Shape::River { seed } => RiverBed {
            seed: *seed,
            ..RiverBed::default()
        }
        .heights(),
        Shape::Heightfield {
            origin,
            spacing,
            heights,
        } => {
            let nx = heights.first().map_or(0, Vec::len);
            if heights.iter().any(|row| row.len() != nx) {
                return Some(Err(wrong("every row of `heights` must be equally long")));
            }
            if !heights.iter().flatten().all(|h| h.is_finite()) {
                return Some(Err(wrong("every one of `heights` must be a finite number")));
            }
            let mut flat = heights.iter().flatten().copied();
            HeightGrid::from_fn(nx, heights.len(), *spacing, *origin, |_, _| {
                flat.next().unwrap_or(0.0)
            })
        }
        _ => return None,
    };
    Some(grid.map_err(|e| wrong(e.to_string())))
}
