//! `scenes`, `check` and `schema`.

use std::process::ExitCode;

use pliant::scene::{SHIPPED, Scene};

use crate::cli::SceneArgs;
use crate::error::CliError;

/// Lists the shipped scenes, or prints one.
pub fn list(show: Option<&str>) -> Result<ExitCode, CliError> {
    match show {
        Some(name) => {
            let scene = Scene::open(name, &[])?;
            print!("{}", scene.origin().0);
        }
        None => {
            let width = SHIPPED.iter().map(|(n, _)| n.len()).max().unwrap_or(0);
            for (name, _) in SHIPPED {
                let scene = Scene::open(name, &[])?;
                println!("{name:width$}  {}", scene.description.title);
            }
            println!("\nRun one with `pliant run NAME`; print its file with `pliant scenes NAME`.");
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads and builds a scene and says what is in it.
pub fn check(args: &SceneArgs) -> Result<ExitCode, CliError> {
    let scene = Scene::open(&args.scene, &args.set)?;
    let mut built = scene.build()?;
    for fluid in built.world.fluids() {
        println!(
            "fluid `{}`: {} particles of {:.3e} kg, spacing {} m",
            fluid.settings().name,
            fluid.len(),
            fluid.particle_mass(),
            fluid.settings().spacing
        );
    }
    for obstacle in built.world.obstacles() {
        match obstacle.triangles() {
            Some(mesh) => println!(
                "obstacle `{}`: {} triangles, {}",
                obstacle.name,
                mesh.triangles.len(),
                mesh.check()
            ),
            None => println!("obstacle `{}`: a plane", obstacle.name),
        }
    }
    // The first sub-step finds what only the numbers show, such as a step too large.
    let report = built.world.step(1e-6)?;
    let leaked = built.world.leaked();
    println!(
        "{}: fine; {} s in frames of {} s, first sub-step limited by {}{}",
        args.scene,
        scene.description.duration,
        scene.description.frame,
        report.limit,
        if leaked > 0 {
            format!("; {leaked} particles start outside")
        } else {
            String::new()
        }
    );
    Ok(ExitCode::SUCCESS)
}

/// Prints the JSON Schema.
pub fn schema() -> Result<ExitCode, CliError> {
    println!("{:#}", Scene::schema());
    Ok(ExitCode::SUCCESS)
}
