//! `scenes`, `check` and `schema`.

use std::process::ExitCode;

use pliant::scene::{SHIPPED, Scene};

use crate::cli::SceneArgs;
use crate::error::CliError;
use crate::run::try_step;

/// Lists the shipped scenes, or prints one.
pub fn list(show: Option<&str>) -> Result<ExitCode, CliError> {
    match show {
        Some(name) => {
            let scene = Scene::open(name, &[])?;
            say!("{}", scene.origin().0.trim_end());
        }
        None => {
            let width = SHIPPED.iter().map(|(n, _)| n.len()).max().unwrap_or(0);
            for (name, _) in SHIPPED {
                let scene = Scene::open(name, &[])?;
                say!("{name:width$}  {}", scene.description.title);
            }
            say!("\nRun one with `pliant run NAME`; print its file with `pliant scenes NAME`.");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads and builds a scene and says what is in it.
pub fn check(args: &SceneArgs) -> Result<ExitCode, CliError> {
    let scene = Scene::open(&args.scene, &args.set)?;
    let mut built = scene.build()?;
    for fluid in built.world.fluids() {
        say!(
            "fluid `{}`: {} particles of {:.3e} kg, spacing {} m",
            fluid.settings().name,
            fluid.len(),
            fluid.particle_mass(),
            fluid.settings().spacing
        );
    }
    for solid in built.world.solids() {
        let mass = solid.mass_report();
        say!(
            "solid `{}`: {} points, {} tetrahedra, {:.4} kg, sub-steps of {:.1e} s",
            solid.settings().name,
            solid.len(),
            solid.rest().tets.len(),
            mass.effective_mass,
            solid.step_length()
        );
        if mass.truncated > 0 {
            say!(
                "  {} points ({:.1} %) were lighter than `max_inverse_mass` allows; it was {:.2} kg",
                mass.truncated,
                mass.truncated_percent,
                mass.mass
            );
        }
        if let Some(stable) = solid.stable_step() {
            say!(
                "  stable up to {:.1e} s, limited by {} at point {}",
                stable.seconds,
                stable.stiffest,
                stable.point
            );
        }
    }
    for soft in built.world.softs() {
        say!(
            "soft `{}`: {} points, {} faces, {} springs, {:.3e} m³, sub-steps of {:.1e} s",
            soft.settings().name,
            soft.len(),
            soft.triangles().len(),
            soft.edges().len(),
            soft.rest_volume(),
            soft.settings().step
        );
    }
    for rigid in built.world.rigids() {
        say!("rigid `{}`: {:.4} kg", rigid.settings().name, rigid.mass());
    }
    for obstacle in built.world.obstacles() {
        match obstacle.triangles() {
            Some(mesh) => say!(
                "obstacle `{}`: {} triangles, {}",
                obstacle.name,
                mesh.triangles.len(),
                mesh.check()
            ),
            None => say!("obstacle `{}`: a plane", obstacle.name),
        }
    }
    let frames = scene.frames()?;
    let (duration, frame) = (scene.description.duration, scene.description.frame);
    try_step(&scene, &mut built.world)?;
    let cfl = built.world.settings.cfl;
    let gravity = built.world.gravity.length();
    for fluid in built.world.fluids() {
        let speed = built.world.totals().max_speed;
        let bound = fluid.step_bound(cfl, speed, gravity);
        let (dt, limit) = match built.world.settings.fixed {
            Some(fixed) => (fixed, "the scene".to_string()),
            None => (bound.dt, bound.limit.to_string()),
        };
        say!("sub-steps of about {dt:.1e} s at the start, set by {limit}");
    }
    let leaked = built.world.leaked();
    if leaked > 0 {
        say!("{leaked} particles start on the wrong side of a wall");
    }
    say!(
        "{}: fine; {duration} s in {frames} frames of {frame} s",
        args.scene
    );
    Ok(ExitCode::SUCCESS)
}

/// Prints the JSON Schema.
pub fn schema() -> Result<ExitCode, CliError> {
    say!("{:#}", Scene::schema());
    Ok(ExitCode::SUCCESS)
}
