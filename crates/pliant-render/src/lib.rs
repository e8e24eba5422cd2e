//! Pictures and charts of pliant worlds, as PNG files, without a GPU.
//!
//! - [`Scene`] holds what a picture shows (particles, surfaces, a floor) and
//!   renders it through a [`Camera`] into an [`Image`].
//! - [`RayScene`] makes stills of water, glass and tissue by following rays.
//! - [`xray::XrayScene`] makes X-ray pictures.
//! - [`LineChart`] and [`StackedChart`] draw numbers.
//!
//! Everything runs on the processor, needs no font, driver or system library,
//! and gives the same bits whatever the number of threads.
//!
//! Where to start reading: `picture.rs` is the whole way from a scene to an
//! image; `raster.rs` finds what is visible, `shade.rs`, `shadow.rs` and
//! `occlusion.rs` light it.

mod animation;
mod camera;
mod canvas;
mod chart;
mod colour;
mod colour_map;
mod error;
mod glyphs;
mod image;
mod occlusion;
mod overlay;
mod picture;
mod plot;
mod primitives;
mod raster;
mod ray;
mod scene;
mod shade;
mod shadow;
mod stacked_chart;
mod text;
mod ticks;
mod tiles;
pub mod xray;

pub use animation::{GifWriter, write_mp4};
pub use camera::{Camera, View};
pub use chart::{LineChart, Series, SeriesStyle};
pub use colour::Colour;
pub use colour_map::ColourMap;
pub use error::PictureError;
pub use image::Image;
pub use plot::{PALETTE, Scale};
pub use ray::{Coat, Finish, RayMesh, RayScene, RaySettings};
pub use scene::{Ground, Legend, MeshSurface, Scene, SphereColours, Spheres};
pub use stacked_chart::StackedChart;
pub use text::{Align, TextStyle, text_width};
