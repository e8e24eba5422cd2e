//! What can go wrong with a view.

use pliant::scene::SceneError;
use pliant_render::PictureError;

/// Why nothing, or nothing more, can be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// There is nothing to draw with.
    #[error(
        "no graphics adapter was found ({0}); install a driver for Vulkan, Metal or DirectX 12 \
         (Debian: `apt-get install mesa-vulkan-drivers` draws in software), or use `pliant \
         render`, which needs none"
    )]
    NoAdapter(String),
    /// The adapter cannot be used.
    #[error("the graphics adapter {adapter} cannot be used: {problem}")]
    NoDevice {
        /// Its name.
        adapter: String,
        /// What it says.
        problem: String,
    },
    /// There is no display.
    #[error("no window can be opened: {0}; `--shot FILE` makes a picture without one")]
    NoWindow(String),
    /// The adapter has stopped working.
    #[error("the graphics device has failed: {0}")]
    Lost(String),
    /// A picture of an impossible size.
    #[error("a picture of {width} x {height} pixels is larger than this adapter can draw ({most})")]
    TooLarge {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
        /// Largest side.
        most: u32,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        /// The file.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The scene cannot be built.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A picture cannot be written.
    #[error(transparent)]
    Picture(#[from] PictureError),
}
