//! The scenes inside the program.

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        /// Name and text of every shipped scene.
        pub const SHIPPED: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../scenes/", $name, ".toml")))),*];
    };
}

shipped![
    "colon",
    "colon-40k",
    "river",
    "dam-break",
    "hydrostatic",
    "wine-glass",
    "tumbler",
    "drop",
    "fountain",
    "wind",
    "sphere-bowl",
    "hills",
    "beads",
    "blood",
    "drain",
    "piston",
    "stirrer",
    "colon-peristalsis",
    "jelly",
    "beam",
    "clay",
    "pile",
    "tug",
    "matching",
    "integrators",
    "springs-cube",
    "springs-bunny",
    "springs-bunny2",
    "springs-dragon",
    "springs-armadillo",
    "springs-rigid",
    "springs-melting",
    "wine-glass-a",
    "wine-glass-b",
    "wine-glass-c",
    "wine-glass-d",
    "wine-glass-e",
    "wine-glass-f",
    "face-a",
    "face-b",
    "face-c",
    "face-d",
    "face-e",
    "face-f",
    "space-blobs",
    "lung",
    "lung-spirometry",
    "lung-sick",
    "soft-cloth",
];
