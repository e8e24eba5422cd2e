//! The scenes of Müller et al. 2004: liquid and deformable bodies together.

use std::time::Instant;

use pliant::scene::Scene;
use serde::Serialize;

use crate::cli::BenchArgs;
use crate::error::CliError;
use crate::report::Report;

#[derive(Serialize)]
struct Row {
    particles: usize,
    tetrahedra: usize,
    /// Wall time of a sixtieth of a second, mean over the run.
    ms_per_frame: f64,
    substeps_per_frame: f64,
    /// So often a second the viewer can show the world and a hand is felt: after every
    /// sub-step of a frame that takes longer than a picture, at most 60.
    pictures_per_s: f64,
    real_time_factor: f64,
    /// Frames per second, or what its milliseconds per step make, of the source on an
    /// Athlon of 1.8 GHz; 0 where it has none.
    source_fps: f64,
    leaked: usize,
    /// Tetrahedra that are inside out at the end.
    inverted: usize,
}

const FRAME: f32 = 1.0 / 60.0;

/// Measures every scene at the source's size and at ten times the particles.
pub fn bench(args: &BenchArgs, out: &mut Report) -> Result<(), CliError> {
    out.table(
        "Coupling: the scenes of Müller et al. 2004",
        "Steps of 1/60 s. The source ran on an Athlon of 1.8 GHz: the pool at 20 frames per \
         second, the vessel in 70 ms and the injured vessel in 60 ms per step. pictures_per_s: \
         how often the viewer shows the world and a hand is felt, which is after every sub-step \
         where frames take longer than a picture.",
    );
    let frames = if args.quick { 10 } else { 60 };
    for (name, source_fps) in [
        ("pool", 20.0),
        ("floating-boxes", 0.0),
        ("falling-box", 0.0),
        ("vessel", 1000.0 / 70.0),
        ("vessel-injury", 1000.0 / 60.0),
    ] {
        for times in [1.0f32, 10.0] {
            if times > 1.0 && args.quick {
                continue;
            }
            let row = measure(name, times, source_fps, frames)?;
            let case = format!("{name}, particles x{times}");
            out.row(&[("bench", "coupling"), ("case", &case)], &row);
        }
    }
    Ok(())
}

fn measure(name: &str, times: f32, source_fps: f64, frames: u32) -> Result<Row, CliError> {
    let plain = Scene::open(name, &[])?;
    let spacing = plain.description.fluid.first().map_or(0.0, |f| f.spacing);
    let spacing = spacing / times.cbrt();
    let mut built = Scene::open(name, &[format!("fluid.0.spacing={spacing}")])?.build()?;
    let before = built.world.steps().1;
    let clock = Instant::now();
    for _ in 0..frames {
        built.world.step(FRAME)?;
    }
    let wall = clock.elapsed().as_secs_f64();
    let world = &built.world;
    let simulated = f64::from(frames) * f64::from(FRAME);
    let substeps = (world.steps().1 - before) as f64;
    Ok(Row {
        particles: world.fluids().map(pliant::Fluid::len).sum(),
        tetrahedra: world.solids().map(|s| s.rest().tets.len()).sum(),
        ms_per_frame: 1e3 * wall / f64::from(frames),
        substeps_per_frame: substeps / f64::from(frames),
        pictures_per_s: (substeps / wall).min(60.0),
        real_time_factor: simulated / wall,
        source_fps,
        leaked: world.leaked(),
        inverted: world.solids().map(pliant::Solid::inverted).sum(),
    })
}
