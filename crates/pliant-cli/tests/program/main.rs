//! The built program, run from outside on small scenes.

mod common;
mod instability;
mod messages;
mod pictures;
mod probes;
mod resume;
mod run;
