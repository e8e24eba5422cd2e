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
    "springs-cube",
    "springs-bunny",
    "springs-bunny2",
    "springs-dragon",
    "springs-armadillo",
    "springs-rigid",
    "springs-melting",
    "pool",
    "floating-boxes",
    "falling-box",
    "vessel",
    "vessel-injury",
    "bleeding-cut",
    "water-balloon",
    "elastic-gate",
];
