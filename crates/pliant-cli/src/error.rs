//! What can go wrong, as the user reads it.

use std::path::PathBuf;

use thiserror::Error;

/// An error that ends the program with exit code 2.
#[derive(Debug, Error)]
pub enum CliError {
    /// The scene is wrong.
    #[error(transparent)]
    Scene(#[from] pliant::scene::SceneError),
    /// The world cannot go on.
    #[error("{0}")]
    Step(#[from] pliant::StepError),
    /// A data file cannot be written.
    #[error(transparent)]
    Output(#[from] crate::output::OutputError),
    /// A picture cannot be written.
    #[error(transparent)]
    Picture(#[from] pliant_render::PictureError),
    /// A particle file cannot be read.
    #[error(transparent)]
    Input(#[from] crate::input::InputError),
    /// A surface cannot be drawn.
    #[error(transparent)]
    Surface(#[from] pliant::surface::SurfaceError),
    /// A checkpoint cannot be used.
    #[error("{path}: {source}", path = path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// Why.
        source: pliant::observe::CheckpointError,
    },
    /// Nothing can be shown.
    #[cfg(feature = "view")]
    #[error(transparent)]
    View(#[from] pliant_view::ViewError),
    /// A file cannot be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A run has failed after its first frame, or while writing it.
    #[error("{source}\n{kept}")]
    Stopped {
        /// Why.
        source: Box<CliError>,
        /// What is left of the run.
        kept: String,
    },
    /// The command line makes no sense.
    #[error("{0}")]
    Usage(String),
}
