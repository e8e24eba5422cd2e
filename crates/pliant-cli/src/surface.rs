//! `pliant surface`: meshes around stored particles.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use pliant::math::Xyz;
use pliant::mesh::{TriMesh, to_obj, to_ply_binary, to_stl_binary};
use pliant::space::{CellGrid, NeighbourSearch};
use pliant::surface::{SurfaceSettings, surface_of};

use crate::cli::SurfaceArgs;
use crate::error::CliError;
use crate::in_pool;
use crate::input::read_particles;
use crate::output::{vtu, write_atomic};

/// Draws the surfaces that the command line asks for.
pub fn surface(args: &SurfaceArgs) -> Result<ExitCode, CliError> {
    in_pool(args.threads, || {
        let files = sequence(&args.input, args.output.as_deref())?;
        let mut sound = true;
        for (from, to) in &files {
            sound &= one(args, from, to)?;
        }
        Ok(if sound {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    })
}

fn one(args: &SurfaceArgs, from: &Path, to: &Path) -> Result<bool, CliError> {
    let particles = read_particles(from)?;
    let positions = particles.positions.view();
    let spacing = match args.spacing {
        Some(spacing) => spacing,
        None => usual_distance(positions).ok_or_else(|| {
            CliError::Usage(format!(
                "{}: the distance between particles cannot be told; give --spacing",
                from.display()
            ))
        })?,
    };
    let base = if args.plain {
        SurfaceSettings::new(spacing)
    } else {
        SurfaceSettings::smooth(spacing)
    };
    let settings = SurfaceSettings {
        cell: args.cell,
        smoothing: args.smoothing.unwrap_or(base.smoothing),
        ..base
    };
    let clock = Instant::now();
    let surface = surface_of(positions, &settings)?;
    let ms = 1e3 * clock.elapsed().as_secs_f64();
    write_mesh(to, &surface.mesh)?;
    say!(
        "{}: {} particles, {} triangles, {ms:.0} ms",
        to.display(),
        positions.len(),
        surface.mesh.triangles.len()
    );
    if !args.check {
        return Ok(true);
    }
    let problems = surface.mesh.check().problems();
    problems.iter().for_each(|problem| say!("  {problem}"));
    let ours = f64::from(surface.mesh.volume());
    let theirs = positions.len() as f64 * f64::from(spacing).powi(3);
    say!(
        "  {}, volume {ours:.6} m³, {:+.2} % against the particles",
        if problems.is_empty() {
            "closed and manifold"
        } else {
            "not sound"
        },
        100.0 * (ours / theirs - 1.0)
    );
    Ok(problems.is_empty())
}

/// Writes a mesh in the format of the path's extension.
pub fn write_mesh(path: &Path, mesh: &TriMesh) -> Result<(), CliError> {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    let bytes = match extension.to_str() {
        Some("ply") => to_ply_binary(mesh),
        Some("obj") => to_obj(mesh).into_bytes(),
        Some("stl") => to_stl_binary(mesh),
        Some("vtu") => return Ok(vtu::write_mesh(path, mesh, &[])?),
        _ => {
            return Err(CliError::Usage(format!(
                "{}: a mesh is written as .ply, .obj, .stl or .vtu",
                path.display()
            )));
        }
    };
    Ok(write_atomic(path, &bytes)?)
}

/// The files of `input` and where their surfaces go. One `{}` in both stands for
/// the part of the name that counts up.
fn sequence(input: &Path, output: Option<&Path>) -> Result<Vec<(PathBuf, PathBuf)>, CliError> {
    let text = input.to_string_lossy();
    let default = || {
        let stem = text.rsplit_once('.').map_or(&*text, |(stem, _)| stem);
        format!("{stem}_surface.ply")
    };
    let output = output.map_or_else(default, |o| o.to_string_lossy().into_owned());
    if !text.contains("{}") {
        return Ok(vec![(input.to_path_buf(), PathBuf::from(output))]);
    }
    let name = input.file_name().unwrap_or_default().to_string_lossy();
    let parts: Vec<&str> = name.split("{}").collect();
    let ([before, after], true) = (&parts[..], output.contains("{}")) else {
        return Err(CliError::Usage(format!(
            "{text} -> {output}: a sequence needs one {{}} in the file name of both"
        )));
    };
    let folder = input.parent().filter(|p| !p.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).map_err(|source| CliError::Read {
        path: folder.to_path_buf(),
        source,
    })?;
    let mut found: Vec<(String, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let number = name.strip_prefix(before)?.strip_suffix(after)?;
            let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| (number.to_string(), entry.path()))
        })
        .collect();
    found.sort_by_key(|(number, _)| (number.len(), number.clone()));
    if found.is_empty() {
        return Err(CliError::Usage(format!("no file matches {text}")));
    }
    Ok(found
        .into_iter()
        .map(|(number, path)| (path, PathBuf::from(output.replace("{}", &number))))
        .collect())
}

/// The distance that particles at rest have from each other: each has its own
/// volume, so it is the cube root of the volume per particle in crowded places.
fn usual_distance(positions: Xyz<'_>) -> Option<f32> {
    let bounds = pliant::math::Aabb::of(positions.iter().filter(|p| p.is_finite()));
    let size = bounds.size();
    if positions.len() < 2 || size.max_element() <= 0.0 {
        return None;
    }
    // First guess the spacing of a full box, then look at nearest neighbours.
    let guess = (size.x.max(1e-9) * size.y.max(1e-9) * size.z.max(1e-9) / positions.len() as f32)
        .cbrt()
        .max(1e-6 * size.max_element());
    let mut radius = 2.0 * guess;
    for _ in 0..8 {
        let mut grid = CellGrid::new();
        grid.build(positions, radius);
        let mut nearest = Vec::new();
        for i in (0..positions.len()).step_by(1 + positions.len() / 2000) {
            let p = positions.get(i);
            let mut best = f32::INFINITY;
            grid.for_each_within(positions, p, &mut |k| {
                if k as usize != i {
                    best = best.min(positions.get(k as usize).distance(p));
                }
            });
            nearest.push(best);
        }
        nearest.sort_unstable_by(f32::total_cmp);
        let middle = nearest[nearest.len() / 2];
        if middle.is_finite() && middle > 0.0 {
            return Some(crowded_distance(positions, 3.5 * middle));
        }
        radius *= 2.0;
    }
    None
}

/// Cube root of the volume per particle where particles are crowded, counted in
/// balls of this radius.
fn crowded_distance(positions: Xyz<'_>, radius: f32) -> f32 {
    let mut grid = CellGrid::new();
    grid.build(positions, radius);
    let mut counts: Vec<u32> = (0..positions.len())
        .step_by(1 + positions.len() / 2000)
        .map(|i| {
            let mut count = 0;
            grid.for_each_within(positions, positions.get(i), &mut |_| count += 1);
            count
        })
        .collect();
    counts.sort_unstable();
    // Most particles are near a surface; few are where it is too tight.
    let full = counts[counts.len() * 9 / 10].max(1) as f32;
    (4.0 / 3.0 * std::f32::consts::PI / full).cbrt() * radius
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;
    use pliant::math::XyzVec;

    #[test]
    fn sequences_pair_their_files_in_order() {
        let dir = crate::output::test_folder("sequence");
        for name in ["p_2.ply", "p_10.ply", "p_x.ply", "q_1.ply"] {
            std::fs::write(dir.join(name), "").unwrap();
        }
        let out = dir.join("s_{}.obj");
        let pairs = sequence(&dir.join("p_{}.ply"), Some(&out)).unwrap();
        let expected = [("p_2.ply", "s_2.obj"), ("p_10.ply", "s_10.obj")];
        assert_eq!(pairs, expected.map(|(a, b)| (dir.join(a), dir.join(b))));
        assert!(sequence(&dir.join("p_{}.ply"), Some(&dir.join("s.obj"))).is_err());
        assert!(sequence(&dir.join("z_{}.ply"), None).is_err());
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn the_spacing_of_a_lattice_is_found() {
        let lattice: XyzVec = (0..8000)
            .map(|i| 0.02 * Vec3::new((i % 20) as f32, (i / 20 % 20) as f32, (i / 400) as f32))
            .collect();
        let found = usual_distance(lattice.view()).unwrap();
        assert!((found / 0.02 - 1.0).abs() < 0.01, "{found}");
        assert_eq!(usual_distance(XyzVec::default().view()), None);
    }
}
