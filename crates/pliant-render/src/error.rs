//! What can go wrong when a picture is written.

use std::path::{Path, PathBuf};

/// Why a picture could not be saved.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The file could not be created, written or renamed.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file that was asked for.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The picture could not be encoded as PNG.
    #[error("cannot encode {} as PNG: {source}", path.display())]
    Encode {
        /// The file that was asked for.
        path: PathBuf,
        /// The encoder's reason.
        source: png::EncodingError,
    },
    /// The animation could not be encoded.
    #[error("cannot write {}: {problem}", path.display())]
    Animation {
        /// The file that was asked for.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

impl PictureError {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        PictureError::Io {
            path: path.to_path_buf(),
            source,
        }
    }
}
