//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Simulate matter that flows, bends, tears and breaks.
#[derive(Debug, Parser)]
#[command(name = "pliant", version, about, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a scene and write pictures, charts and data files
    Run(RunArgs),
    /// List the scenes that are built in
    Scenes {
        /// Print the text of this scene, to start a file of your own
        #[arg(value_name = "NAME")]
        show: Option<String>,
    },
    /// Check a scene file without running it
    Check(SceneArgs),
    /// Print the JSON Schema of scene files
    Schema,
    /// Look at meshes, and fill surfaces with tetrahedra
    #[command(subcommand)]
    Mesh(MeshCommand),
    /// Measure speed and memory, beside published figures
    Bench(BenchArgs),
    /// Compare physics with analytic and measured references
    Validate(ValidateArgs),
}

/// What to do with a mesh.
#[derive(Debug, Subcommand)]
pub enum MeshCommand {
    /// Fill a closed surface (.obj, .stl, .ply, .smf) with tetrahedra
    Tet {
        /// The surface
        #[arg(value_name = "FILE")]
        surface: PathBuf,
        /// About this number of tetrahedra
        #[arg(long, value_name = "COUNT", default_value_t = 20_000)]
        tets: usize,
        /// Result: .msh, .vtk, .node and .ele, or .pts and .tet [default: FILE.msh]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Print counts, quality and histograms
    Info {
        /// A surface or tetrahedra (.msh, .vtk, .node, .ele, .pts, .tet)
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Say what is wrong with a mesh, if anything
    Check {
        /// A surface or tetrahedra (.msh, .vtk, .node, .ele, .pts, .tet)
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// Which scene, and what to change in it.
#[derive(Debug, Args)]
pub struct SceneArgs {
    /// Name of a built-in scene, or path of a scene file (.toml or .json)
    #[arg(value_name = "SCENE")]
    pub scene: String,
    /// Change a key of the scene: fluid.0.viscosity=2 (may be given often)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// Options of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Name of a built-in scene, or path of a scene file (.toml or .json)
    #[arg(value_name = "SCENE", required_unless_present = "resume")]
    pub scene: Option<String>,
    /// Change a key of the scene: fluid.0.viscosity=2 (may be given often)
    #[arg(long = "set", value_name = "KEY=VALUE", conflicts_with = "resume")]
    pub set: Vec<String>,
    /// Folder for the results [default: out/SCENE]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Overwrite results in the folder
    #[arg(long)]
    pub force: bool,
    /// Continue from a checkpoint
    #[arg(long, value_name = "FILE", conflicts_with = "scene")]
    pub resume: Option<PathBuf>,
    /// Simulated seconds, if not those of the scene
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub duration: Option<f64>,
    /// Number of threads [default: all cores]
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub threads: Option<usize>,
    /// Write no pictures
    #[arg(long)]
    pub no_pictures: bool,
    /// Write no particle files
    #[arg(long)]
    pub no_data: bool,
    /// Write nothing at all: only run and print the summary
    #[arg(long)]
    pub dry: bool,
    /// Write a checkpoint every so many frames, not only at the end
    #[arg(long, value_name = "FRAMES")]
    pub checkpoint_every: Option<u64>,
    /// No progress bar
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the summary as one line of JSON
    #[arg(long)]
    pub json: bool,
}

/// How rows are printed.
#[derive(Clone, Copy, Debug, Args)]
pub struct FormatArgs {
    /// One JSON object per row
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Tables for BENCHMARKS.md and VALIDATION.md
    #[arg(long)]
    pub markdown: bool,
}

/// Options of `bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// What to measure; everything if left out
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Number of particles (dam-break) [default: 6859, 59319 and 1000000]
    #[arg(long, value_name = "COUNT")]
    pub particles: Option<usize>,
    /// Fewer repeats and smaller sizes: to see that it works, not to quote
    #[arg(long)]
    pub quick: bool,
    /// Folder for charts
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Number of threads [default: all cores]
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub threads: Option<usize>,
    /// How to print
    #[command(flatten)]
    pub format: FormatArgs,
}

/// Options of `validate`.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Which case; all if left out
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Also the long runs
    #[arg(long)]
    pub full: bool,
    /// Folder for charts
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Number of threads [default: all cores]
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub threads: Option<usize>,
    /// How to print
    #[command(flatten)]
    pub format: FormatArgs,
}
