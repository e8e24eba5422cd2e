//! Tetrahedral bodies from a few numbers.
//!
//! - `block.rs`: [`TetBlock`], a box of cells, also a beam.
//! - `ball.rs`: [`TetBall`].
//! - `creature.rs`: [`Creature`], a body with a head and limbs of irregular
//!   elements, in the sizes of the scans of Lesmes 2013.
//! - `shell.rs`: [`TetShell`], a wall on any surface, and [`TetBasin`].

mod ball;
mod block;
mod creature;
mod shell;

pub use ball::TetBall;
pub use block::{TetBlock, cube_of_lesmes};
pub use creature::{Creature, CreaturePreset};
pub use shell::{TetBasin, TetShell};
