//! The built program, run from outside on small scenes.

mod common;
mod messages;
mod resume;
mod run;
