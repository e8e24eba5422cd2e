//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

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
    /// Make pictures of a stored run or of a scene: stills, X-rays, animations
    Render(RenderArgs),
    /// Watch a scene live in a window and act on it, or take a picture with the live renderer
    View(ViewArgs),
    /// Draw meshes around stored particles
    Surface(SurfaceArgs),
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
    /// Weld a surface, close its holes and, if asked, take triangles away
    Repair {
        /// The surface (.obj, .stl, .ply, .smf)
        #[arg(value_name = "FILE")]
        surface: PathBuf,
        /// Close holes of at most this number of edges
        #[arg(long, value_name = "EDGES", default_value_t = 10_000)]
        holes: usize,
        /// Collapse edges until about this number of triangles is left
        #[arg(long, value_name = "COUNT")]
        triangles: Option<usize>,
        /// Result: .obj, .ply or .stl [default: FILE_repaired.obj]
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
    /// End as soon as nothing has been faster than this for ten frames, in m/s
    #[arg(long, value_name = "SPEED")]
    pub until_still: Option<f32>,
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

/// Kinds of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StyleArg {
    /// Particles coloured by speed
    Quick,
    /// Liquid, glass and tissue by rays
    Ray,
    /// Fluoroscopy
    Xray,
}

/// Options of `render`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Folder of a run, name of a built-in scene, or path of a scene file
    #[arg(value_name = "RUN or SCENE")]
    pub target: String,
    /// Change a key of the scene: picture.xray.contrast=1.5 (may be given often)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Kind of picture [default: that of the scene]
    #[arg(long, value_enum)]
    pub style: Option<StyleArg>,
    /// Width and height in pixels, such as 1280x720 [default: those of the scene]
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<[u32; 2]>,
    /// Rays per pixel of a still [default: that of the scene]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub samples: Option<u32>,
    /// Draw particles in stills, instead of the liquid's surface
    #[arg(long)]
    pub particles: bool,
    /// Only this stored frame
    #[arg(long, value_name = "NUMBER")]
    pub frame: Option<u64>,
    /// Every so many stored frames
    #[arg(long, value_name = "FRAMES", default_value_t = 1)]
    pub every: u32,
    /// Simulate a scene for so many seconds first
    #[arg(long, value_name = "SECONDS")]
    pub time: Option<f64>,
    /// Folder for the pictures, or a .png file for one [default: RUN/STYLE, SCENE.png]
    #[arg(short, long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Also write an animated GIF
    #[arg(long, value_name = "FILE")]
    pub gif: Option<PathBuf>,
    /// Also write an MP4; needs the program ffmpeg
    #[arg(long, value_name = "FILE")]
    pub mp4: Option<PathBuf>,
    /// Seconds per picture of an animation [default: as simulated]
    #[arg(long, value_name = "SECONDS")]
    pub pause: Option<f32>,
    /// Number of threads [default: all cores]
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub threads: Option<usize>,
}

/// Options of `view`.
#[derive(Debug, Args)]
#[cfg_attr(not(feature = "view"), allow(dead_code))]
pub struct ViewArgs {
    /// Name of a built-in scene, or path of a scene file (.toml or .json)
    #[arg(value_name = "SCENE", default_value = "colon")]
    pub scene: String,
    /// Change a key of the scene: fluid.0.viscosity=2 (may be given often)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// What is drawn: particles, surface, surfels, gas, xray or wireframe
    #[arg(long, default_value = "particles")]
    pub mode: String,
    /// Colours show this quantity: speed, pressure, density, von_mises, ...
    #[arg(long, value_name = "NAME")]
    pub field: Option<String>,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", value_parser = size, default_value = "1280x800")]
    pub size: [u32; 2],
    /// Open no window: write a picture (.png) and end
    #[arg(long, value_name = "FILE")]
    pub shot: Option<PathBuf>,
    /// Simulate for so many seconds before the picture
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, requires = "shot")]
    pub after: f64,
    /// Do not run at once
    #[arg(long, conflicts_with = "shot")]
    pub paused: bool,
    /// Continue from a checkpoint
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scene", "set"])]
    pub resume: Option<PathBuf>,
    /// Folder for pictures, animations and states
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub out: PathBuf,
    /// Write down what happens in the window, one line per event
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Number of threads [default: all cores]
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub threads: Option<usize>,
}

/// Reads `1280x720`.
fn size(text: &str) -> Result<[u32; 2], String> {
    let wrong = || format!("{text:?} is not a size such as 1280x720, from 16 to 16384");
    let (width, height) = text.split_once('x').ok_or_else(wrong)?;
    let side = |s: &str| s.parse().ok().filter(|n| (16..=16_384).contains(n));
    match (side(width), side(height)) {
        (Some(width), Some(height)) => Ok([width, height]),
        _ => Err(wrong()),
    }
}

/// Options of `surface`.
#[derive(Debug, Args)]
pub struct SurfaceArgs {
    /// Particle file (.vtu or .ply); one {} stands for the numbers of a sequence
    #[arg(value_name = "FILE")]
    pub input: PathBuf,
    /// Mesh file (.ply, .obj, .stl or .vtu), with {} for a sequence
    /// [default: FILE_surface.ply]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Distance between particles in metres [default: found from the particles]
    #[arg(long, value_name = "METRES")]
    pub spacing: Option<f32>,
    /// Side of a cube of the grid, in spacings
    #[arg(long, default_value_t = 0.5)]
    pub cell: f32,
    /// Round kernels, no smoothing, volume as it comes
    #[arg(long)]
    pub plain: bool,
    /// Rounds of smoothing [default: 6, or 0 with --plain]
    #[arg(long, value_name = "ROUNDS")]
    pub smoothing: Option<u32>,
    /// Check that the mesh is closed and manifold, and print its volume
    #[arg(long)]
    pub check: bool,
    /// Number of threads [default: all cores]
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub threads: Option<usize>,
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
    /// Beside SPlisHSPlasH, in turn (dam-break): needs its Python package, pysplishsplash
    #[arg(long)]
    pub peer: bool,
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
