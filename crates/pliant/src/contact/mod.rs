//! How matter meets surfaces: closest-point and swept tests, and the response.
//!
//! Start at [`triangle`]: the tests between a point or a segment and one
//! triangle that every index in [`crate::space`] uses. [`triangle_reference`]
//! holds the older forms they are compared with.

pub mod triangle;
pub mod triangle_reference;
