//! What a run leaves behind: pictures, particle files, time series and charts.

use std::path::{Path, PathBuf};

use pliant::StepReport;
use pliant::mesh::to_ply_binary;
use pliant::observe::{STAGES, Timers};
use pliant::scene::description::MeshFormat;
use pliant::scene::{Built, Scene};
use pliant_render::{GifWriter, LineChart, Series, StackedChart};

use super::folder::Folder;
use super::probes::ProbeTable;
use crate::cli::RunArgs;
use crate::error::CliError;
use crate::output::csv::{CsvWriter, read_csv};
use crate::output::pvd::PvdCollection;
use crate::output::{PointArray, Values, ply, vtu, write_atomic};
use crate::picture::{Painter, surface_mesh, surfaces_of_fluid};
use crate::surface::write_mesh;

/// Columns of `series.csv` before those of the stages and the obstacles.
const COLUMNS: [&str; 14] = [
    "frame",
    "time_s",
    "substeps",
    "particles",
    "leaked",
    "kinetic_j",
    "potential_j",
    "max_speed_m_per_s",
    "momentum_x_kg_m_per_s",
    "momentum_y_kg_m_per_s",
    "momentum_z_kg_m_per_s",
    "center_x_m",
    "center_y_m",
    "center_z_m",
];

/// Writes the files of one run.
pub struct Recorder<'a> {
    folder: &'a Folder,
    painter: Option<Painter>,
    /// Draw every so many frames.
    every: u64,
    animation: Option<GifWriter>,
    /// How surfaces are written, if they are.
    surface: Option<(MeshFormat, f32)>,
    data: bool,
    series: CsvWriter,
    rows: Vec<Vec<f64>>,
    probes: Option<ProbeTable>,
    pvd: Option<PvdCollection>,
    timers: Timers,
}

impl<'a> Recorder<'a> {
    /// Opens the files. Rows and frames that an earlier run wrote up to the state
    /// of `built` are kept, so that a resumed run continues them.
    pub fn new(
        folder: &'a Folder,
        scene: &Scene,
        built: &Built,
        args: &RunArgs,
    ) -> Result<Recorder<'a>, CliError> {
        let done = built.world.steps().0;
        let columns = series_columns(built);
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        let path = folder.file("series.csv");
        let rows = kept_rows(&path, names.len(), done);
        let series = CsvWriter::create(&path, &names, &rows)?;
        let data = !args.no_data;
        let mut pvd = None;
        if data {
            let parts = built.world.matter().count() as u32;
            let files = rows.iter().flat_map(|r| {
                let file = |part| data_file(built, part, r[0] as u64, "vtu");
                (0..parts).map(move |part| (r[1], part, file(part)))
            });
            let earlier: Vec<_> = files.filter(|(_, _, f)| folder.file(f).exists()).collect();
            pvd = Some(PvdCollection::create(
                folder.file("particles.pvd"),
                &earlier,
            )?);
        }
        let picture = &scene.description.picture;
        let [width, height] = picture.size;
        let shown = scene.description.frame * picture.every as f32;
        let mut animation = None;
        let mut painter = None;
        if !args.no_pictures {
            painter = Some(Painter::new(scene, built)?);
            if picture.animation {
                let path = folder.file("animation.gif");
                animation = Some(GifWriter::create(path, (width, height), shown)?);
            }
        }
        let output = &scene.description.output;
        Ok(Recorder {
            folder,
            painter,
            every: u64::from(picture.every.max(1)),
            animation,
            surface: output.surface.map(|format| (format, output.surface_cell)),
            data,
            series,
            rows,
            probes: ProbeTable::open(folder, built)?,
            pvd,
            timers: *built.world.timers(),
        })
    }

    /// Writes what does not change, and the first frame.
    pub fn begin(&mut self, scene: &Scene, built: &Built) -> Result<(), CliError> {
        let (text, file, _, _) = scene.origin();
        let copy = if file.to_ascii_lowercase().ends_with(".json") {
            "scene.json"
        } else {
            "scene.toml"
        };
        write_atomic(&self.folder.file(copy), text.as_bytes())?;
        for (obstacle, name) in built.world.obstacles().zip(obstacle_names(built)) {
            if let Some(mesh) = obstacle.triangles()
                && self.data
                && !obstacle.is_moving()
            {
                let file = self.folder.file(format!("data/{name}.vtu"));
                vtu::write_mesh(&file, mesh, &[])?;
            }
        }
        if self.rows.is_empty() && built.world.steps().0 == 0 {
            self.outputs(0, built)?;
            self.row(0, built, 0)?;
        }
        Ok(())
    }

    /// Writes frame `k`.
    pub fn frame(&mut self, k: u64, built: &Built, report: &StepReport) -> Result<(), CliError> {
        self.outputs(k, built)?;
        self.row(k, built, report.substeps)
    }

    /// Writes the state to continue from, as [`super::checkpoint::encode`] gives it.
    /// Returns the file.
    pub fn checkpoint(&self, bytes: &[u8]) -> Result<PathBuf, CliError> {
        let path = self.folder.file("checkpoint.pliant");
        write_atomic(&path, bytes)?;
        Ok(path)
    }

    fn outputs(&mut self, k: u64, built: &Built) -> Result<(), CliError> {
        if let Some(painter) = &self.painter
            && k.is_multiple_of(self.every)
        {
            let path = self.folder.file(format!("frames/frame_{k:05}.png"));
            let image = painter.draw(built, built.world.time(), k)?;
            image.save_png(path)?;
            if let Some(animation) = &mut self.animation {
                animation.add(&image)?;
            }
        }
        self.surfaces(k, built)?;
        if self.data {
            self.films(k, built)?;
        }
        let Some(pvd) = &mut self.pvd else {
            return Ok(());
        };
        let fluids = built.world.fluids().count();
        let bodies: Vec<_> = built.world.solids().collect();
        let rigids = built.world.rigids().count();
        let softs: Vec<_> = built.world.softs().collect();
        for (part, matter) in built.world.matter().enumerate() {
            let points = matter.points();
            let scalars = matter.scalars();
            let mut arrays = vec![
                PointArray {
                    name: "velocity",
                    values: Values::Vector(points.velocity),
                },
                PointArray {
                    name: "id",
                    values: Values::Index(points.id),
                },
            ];
            arrays.extend(scalars.iter().map(|(name, values)| PointArray {
                name,
                values: Values::Scalar(values),
            }));
            let file = data_file(built, part as u32, k, "vtu");
            let path = self.folder.file(&file);
            let as_ply = self.folder.file(data_file(built, part as u32, k, "ply"));
            let body = part.checked_sub(fluids);
            let soft = body.and_then(|k| softs.get(k.checked_sub(bodies.len() + rigids)?));
            match (body.and_then(|k| bodies.get(k)), soft, matter.surface()) {
                (Some(body), _, Some(surface)) => {
                    let fields = body.element_fields();
                    let cells: Vec<_> = fields
                        .iter()
                        .map(|(name, values)| PointArray {
                            name,
                            values: Values::Scalar(values),
                        })
                        .collect();
                    let tets = &body.rest().tets;
                    vtu::write_tets(&path, points.position, tets, &arrays, &cells)?;
                    write_atomic(&as_ply, &to_ply_binary(&surface_mesh(&surface)))?;
                }
                (None, None, Some(surface)) => {
                    let mesh = surface_mesh(&surface);
                    vtu::write_mesh(&path, &mesh, &[])?;
                    write_atomic(&as_ply, &to_ply_binary(&mesh))?;
                }
                (None, Some(soft), _) => {
                    let mesh = soft.shape();
                    vtu::write_mesh(&path, &mesh, &arrays)?;
                    write_atomic(&as_ply, &to_ply_binary(&mesh))?;
                }
                _ => {
                    vtu::write_particles(&path, points.position, &arrays)?;
                    let (position, velocity) = (points.position, points.velocity);
                    ply::write_particles(&as_ply, position, velocity, &arrays[1..])?;
                }
            }
            pvd.append(built.world.time(), part as u32, Path::new(&file))?;
        }
        for (obstacle, name) in built.world.obstacles().zip(obstacle_names(built)) {
            if let Some(mesh) = obstacle.triangles_now()
                && obstacle.is_moving()
            {
                let file = self.folder.file(format!("data/{name}_{k:05}.vtu"));
                vtu::write_mesh(&file, &mesh, &[])?;
            }
        }
        Ok(())
    }

    /// Writes the surface of every liquid, if the scene asks for it.
    fn surfaces(&self, k: u64, built: &Built) -> Result<(), CliError> {
        let (Some((format, cell)), true) = (self.surface, self.data) else {
            return Ok(());
        };
        let extension = match format {
            MeshFormat::Ply => "ply",
            MeshFormat::Obj => "obj",
            MeshFormat::Stl => "stl",
            MeshFormat::Vtu => "vtu",
        };
        for fluid in built.world.fluids() {
            let names = plain(fluid.liquids().iter().map(|l| &l.name));
            for (liquid, surface) in surfaces_of_fluid(fluid, cell)? {
                let file = format!("data/surface_{}_{k:05}.{extension}", names[liquid]);
                write_mesh(&self.folder.file(file), &surface.mesh)?;
            }
        }
        Ok(())
    }

    /// Writes the films on walls.
    fn films(&self, k: u64, built: &Built) -> Result<(), CliError> {
        for (i, handle) in &built.coatings {
            let Some(coating) = built.world.coating(*handle) else {
                continue;
            };
            let obstacle = built.world.obstacle(coating.obstacle());
            if let Some(mesh) = obstacle.and_then(|o| o.triangles()) {
                let film = PointArray {
                    name: "film",
                    values: Values::Scalar(coating.thickness()),
                };
                let file = self.folder.file(film_file(*i, k));
                vtu::write_mesh(&file, mesh, &[film])?;
            }
        }
        Ok(())
    }

    /// Ends the animation and draws the charts.
    pub fn finish(&mut self) -> Result<(), CliError> {
        if let Some(animation) = self.animation.take() {
            animation.finish()?;
        }
        self.charts()
    }

    fn row(&mut self, k: u64, built: &Built, substeps: u32) -> Result<(), CliError> {
        let world = &built.world;
        let totals = world.totals();
        let center = totals.center_of_mass();
        let mut row = vec![
            k as f64,
            world.time(),
            f64::from(substeps),
            world.point_count() as f64,
            world.leaked() as f64,
            totals.kinetic,
            totals.potential,
            f64::from(totals.max_speed),
            totals.momentum.x,
            totals.momentum.y,
            totals.momentum.z,
            center.x,
            center.y,
            center.z,
        ];
        let spent = world.timers().since(&self.timers);
        self.timers = *world.timers();
        for (stage, _) in STAGES {
            let ms = 1e3 * spent.spent(stage).as_secs_f64();
            row.push(ms / f64::from(substeps.max(1)));
        }
        for (handle, _) in &built.obstacles {
            row.extend(world.force_on(*handle).as_dvec3().to_array());
        }
        let solids = built.solids.iter().map(|h| world.force_on_solid(*h));
        let rigids = built.rigids.iter().map(|h| world.force_on_rigid(*h));
        for force in solids.chain(rigids) {
            row.extend(force.as_dvec3().to_array());
        }
        self.series.row(&row)?;
        self.rows.push(row);
        if let Some(probes) = &mut self.probes {
            probes.row(k, built)?;
        }
        Ok(())
    }

    /// Draws the charts of energies, of time per stage, and of the probes.
    pub fn charts(&self) -> Result<(), CliError> {
        let column =
            |c: usize| -> Vec<(f64, f64)> { self.rows.iter().map(|r| (r[1], r[c])).collect() };
        let lowest = self.rows.iter().map(|r| r[6]).fold(f64::INFINITY, f64::min);
        let potential: Vec<(f64, f64)> = self.rows.iter().map(|r| (r[1], r[6] - lowest)).collect();
        let total: Vec<(f64, f64)> = self
            .rows
            .iter()
            .map(|r| (r[1], r[5] + r[6] - lowest))
            .collect();
        LineChart {
            title: "Energy".into(),
            x_label: "time [s]".into(),
            y_label: "energy [J]".into(),
            series: vec![
                Series::line("kinetic", column(5)),
                Series::line("potential above its lowest", potential),
                Series::line("sum", total),
            ],
            ..LineChart::default()
        }
        .save_png(self.folder.file("energy.png"))?;
        // The first row is the start: nothing was computed for it.
        let timed: Vec<&Vec<f64>> = self.rows.iter().filter(|r| r[2] > 0.0).collect();
        let layers = STAGES.iter().enumerate().map(|(s, (_, name))| {
            let values: Vec<f64> = timed.iter().map(|r| r[COLUMNS.len() + s]).collect();
            ((*name).to_string(), values)
        });
        // Stages that take next to nothing would only fill the legend, and need colours.
        let all: f64 = timed
            .iter()
            .flat_map(|r| &r[COLUMNS.len()..][..STAGES.len()])
            .sum();
        let layers = layers.filter(|(_, values)| values.iter().sum::<f64>() > 0.01 * all);
        StackedChart {
            title: "Time per sub-step, stages above 1 %".into(),
            x_label: "time [s]".into(),
            y_label: "wall time [ms]".into(),
            x: timed.iter().map(|r| r[1]).collect(),
            layers: layers.collect(),
            ..StackedChart::default()
        }
        .save_png(self.folder.file("stages.png"))?;
        match &self.probes {
            Some(probes) => probes.charts(self.folder),
            None => Ok(()),
        }
    }
}

fn series_columns(built: &Built) -> Vec<String> {
    let mut columns: Vec<String> = COLUMNS.iter().map(|c| (*c).to_string()).collect();
    columns.extend(STAGES.iter().map(|(_, name)| format!("{name}_ms")));
    for name in obstacle_names(built) {
        columns.extend(["x", "y", "z"].map(|axis| format!("force_{name}_{axis}_n")));
    }
    let pushed = built.world.solids().count() + built.world.rigids().count();
    for name in body_names(built).iter().take(pushed) {
        columns.extend(["x", "y", "z"].map(|axis| format!("force_body_{name}_{axis}_n")));
    }
    columns
}

/// Names of all bodies: deformable, rigid, soft.
fn body_names(built: &Built) -> Vec<String> {
    let solids = built.world.solids().map(|s| &s.settings().name);
    let rigids = built.world.rigids().map(|r| &r.settings().name);
    let softs = built.world.softs().map(|s| &s.settings().name);
    plain(solids.chain(rigids).chain(softs))
}

fn obstacle_names(built: &Built) -> Vec<String> {
    plain(built.world.obstacles().map(|o| &o.name))
}

/// Names that are safe in a file name and in a CSV header, and still differ.
pub(super) fn plain<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for name in names {
        let name: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        let mut free = name.clone();
        let mut number = 2;
        while taken.contains(&free) || free.starts_with("particles_") || free.starts_with("body_") {
            let name = name.trim_start_matches("particles_");
            free = format!("{}_{number}", name.trim_start_matches("body_"));
            number += 1;
        }
        taken.push(free);
    }
    taken
}

/// Where the film on the scene's obstacle `i` is stored.
pub fn film_file(i: usize, k: u64) -> String {
    format!("data/film_{i}_{k:05}.vtu")
}

/// The file of one part of the matter at frame `k`: liquids are `particles`, bodies
/// have their own names.
pub fn data_file(built: &Built, part: u32, k: u64, extension: &str) -> String {
    let fluids = built.world.fluids().count();
    let name = match (part as usize).checked_sub(fluids) {
        Some(body) => {
            let names = body_names(built);
            format!("body_{}", names.get(body).map_or("", String::as_str))
        }
        None if part == 0 => "particles".into(),
        None => format!("particles{}", part + 1),
    };
    format!("data/{name}_{k:05}.{extension}")
}

/// Rows of an earlier run, up to frame `done`; none for a run from the start.
pub(super) fn kept_rows(path: &Path, columns: usize, done: u64) -> Vec<Vec<f64>> {
    if done == 0 {
        return Vec::new();
    }
    let mut rows = read_csv(path);
    rows.retain(|r| r.len() == columns && r[0] <= done as f64);
    rows
}
