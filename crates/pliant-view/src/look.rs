//! How a snapshot is shown.

/// What is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Particles as balls, bodies solid.
    #[default]
    Particles,
    /// The liquid as the eye sees it: a screen-space mesh that mirrors and refracts.
    Surface,
    /// The liquid's surface as overlapping discs.
    Surfels,
    /// Particles as puffs of smoke, the farthest first.
    Gas,
    /// What a fluoroscope sees: the way of rays through everything.
    Xray,
    /// Edges only.
    Wireframe,
}

impl Mode {
    /// All modes in the order of menus and keys.
    pub const ALL: [Mode; 6] = [
        Mode::Particles,
        Mode::Surface,
        Mode::Surfels,
        Mode::Gas,
        Mode::Xray,
        Mode::Wireframe,
    ];

    /// Name in menus and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Particles => "particles",
            Mode::Surface => "surface",
            Mode::Surfels => "surfels",
            Mode::Gas => "gas",
            Mode::Xray => "xray",
            Mode::Wireframe => "wireframe",
        }
    }

    /// Its pictures are dark: what is written over them must be light.
    pub fn is_dark(self) -> bool {
        matches!(self, Mode::Xray | Mode::Wireframe)
    }

    /// The mode of this name.
    pub fn from_name(name: &str) -> Option<Mode> {
        Mode::ALL.into_iter().find(|m| m.name() == name)
    }
}

/// Everything about a picture except where it is taken from.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// What is drawn.
    pub mode: Mode,
    /// Colours show this quantity, `speed` or a scalar of the matter. If left out,
    /// liquids have the colour of their material, lighter where they are fast, and
    /// bodies their own.
    pub field: Option<String>,
    /// Ends of the colour scale; those of the values shown if left out.
    pub range: Option<(f32, f32)>,
    /// Draw obstacles.
    pub walls: bool,
    /// Times the opacity that the scene gives to obstacles.
    pub wall_opacity: f32,
    /// Draw films that liquid has left on walls.
    pub films: bool,
    /// Bodies show their facets, instead of smooth surfaces.
    pub facets: bool,
    /// Exposure of X-rays.
    pub exposure: f32,
    /// Dense matter is dark in X-rays, as on a fluoroscope's screen.
    pub inverted: bool,
    /// Pixels drawn for each shown, along each side: more make smoother edges.
    pub samples: u32,
}

impl Default for Look {
    fn default() -> Self {
        Look {
            mode: Mode::default(),
            field: None,
            range: None,
            walls: true,
            wall_opacity: 1.0,
            films: true,
            facets: true,
            exposure: 1.0,
            inverted: false,
            samples: 2,
        }
    }
}
