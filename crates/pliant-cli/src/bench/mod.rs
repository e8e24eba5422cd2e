//! Measurements: the tables of the founding documents rerun, and our own.
//!
//! Each file measures one subject and returns rows of plain figures; how they
//! are printed is not its business.

pub mod neighbours;
