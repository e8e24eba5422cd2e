//! How matter meets surfaces: closest-point and swept tests, and the response.
