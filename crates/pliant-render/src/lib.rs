//! Pictures and charts of pliant worlds, as PNG files, without a GPU.
