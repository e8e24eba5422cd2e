//! `pliant mesh`: look at meshes and fill surfaces with tetrahedra.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use pliant::mesh::{
    Histogram, MeshError, TetMesh, TriMesh, read_mesh, read_tet_mesh, tetrahedralise, to_gmsh,
    to_obj, to_ply_binary, to_stl_binary, to_tet_list, to_tetgen_ele, to_tetgen_node,
    to_vertex_list, to_vtk_tets,
};

use crate::cli::MeshCommand;
use crate::error::CliError;
use crate::output::write_atomic;

/// Bins of a histogram, and the width of its longest bar.
const BINS: usize = 12;
const BAR: usize = 40;

/// Runs one of the commands.
pub fn run(command: &MeshCommand) -> Result<ExitCode, CliError> {
    match command {
        MeshCommand::Tet { surface, tets, out } => fill(surface, *tets, out.as_deref()),
        MeshCommand::Repair {
            surface,
            holes,
            triangles,
            out,
        } => repair(surface, *holes, *triangles, out.as_deref()),
        MeshCommand::Info { file } => info(file),
        MeshCommand::Check { file } => check(file),
    }
}

/// A mesh of either kind.
enum Mesh {
    Surface(TriMesh),
    Tets(TetMesh),
}

fn read(file: &Path) -> Result<Mesh, CliError> {
    match read_mesh(file) {
        Ok(mesh) => Ok(Mesh::Surface(mesh)),
        Err(MeshError::UnknownFormat { .. }) => read_tet_mesh(file)
            .map(Mesh::Tets)
            .map_err(|e| CliError::Usage(e.to_string())),
        Err(e) => Err(CliError::Usage(e.to_string())),
    }
}

fn fill(surface: &Path, tets: usize, out: Option<&Path>) -> Result<ExitCode, CliError> {
    let mesh = read_mesh(surface).map_err(|e| CliError::Usage(e.to_string()))?;
    let volume = f64::from(mesh.volume().abs());
    let found = tetrahedralise(Arc::new(mesh), tets)
        .map_err(|e| CliError::Usage(format!("{}: {e}", surface.display())))?;
    let out = out.map_or_else(|| surface.with_extension("msh"), Path::to_path_buf);
    write(&found.mesh, &out)?;
    say!(
        "{}: {} tetrahedra on a lattice of {:.3e} m",
        out.display(),
        found.mesh.tets.len(),
        found.cell
    );
    say!(
        "volume {:.4e} m³, that of the surface {volume:.4e} m³",
        found.mesh.volume()
    );
    describe(&found.mesh);
    Ok(ExitCode::SUCCESS)
}

/// Vertices nearer than this share of the mesh's size are one.
const WELD: f32 = 1e-6;

fn repair(
    surface: &Path,
    holes: usize,
    triangles: Option<usize>,
    out: Option<&Path>,
) -> Result<ExitCode, CliError> {
    let mut mesh = read_mesh(surface).map_err(|e| CliError::Usage(e.to_string()))?;
    let welded = mesh.weld(WELD * mesh.aabb().size().length());
    let flat = mesh.remove_degenerate();
    let filled = mesh.fill_holes(holes);
    say!(
        "{welded} vertices welded, {flat} flat triangles removed, {} holes closed with {} triangles, {} left",
        filled.closed,
        filled.triangles,
        filled.left
    );
    if let Some(wanted) = triangles {
        let before = mesh.triangles.len();
        mesh = mesh.decimated(wanted);
        say!("{before} triangles, {} kept", mesh.triangles.len());
    }
    let out = out.map_or_else(
        || {
            let stem = surface.file_stem().unwrap_or_default().to_string_lossy();
            surface.with_file_name(format!("{stem}_repaired.obj"))
        },
        Path::to_path_buf,
    );
    match out.extension().and_then(|e| e.to_str()).unwrap_or("") {
        "obj" => write_atomic(&out, to_obj(&mesh).as_bytes())?,
        "ply" => write_atomic(&out, &to_ply_binary(&mesh))?,
        "stl" => write_atomic(&out, &to_stl_binary(&mesh))?,
        other => {
            return Err(CliError::Usage(format!(
                "{}: surfaces are written as .obj, .ply or .stl, not `.{other}`",
                out.display()
            )));
        }
    }
    let report = mesh.check();
    let state = if report.is_sound() {
        "closed and sound".to_string()
    } else {
        report.problems().join("; ")
    };
    say!("{}: {state}", out.display());
    Ok(ExitCode::SUCCESS)
}

fn write(mesh: &TetMesh, out: &Path) -> Result<(), CliError> {
    let ending = out.extension().and_then(|e| e.to_str()).unwrap_or("");
    let save = |path: &Path, text: String| write_atomic(path, text.as_bytes());
    match ending {
        "msh" => save(out, to_gmsh(mesh))?,
        "vtk" => save(out, to_vtk_tets(mesh))?,
        "obj" => save(out, to_obj(&mesh.surface_mesh()))?,
        "node" | "ele" => {
            save(&out.with_extension("node"), to_tetgen_node(mesh))?;
            save(&out.with_extension("ele"), to_tetgen_ele(mesh))?;
        }
        "pts" | "tet" => {
            save(&out.with_extension("pts"), to_vertex_list(mesh))?;
            save(&out.with_extension("tet"), to_tet_list(mesh))?;
        }
        _ => {
            return Err(CliError::Usage(format!(
                "--out {}: the name must end in .msh, .vtk, .node, .ele, .pts, .tet, or .obj for \
                 the surface",
                out.display()
            )));
        }
    }
    Ok(())
}

fn info(file: &Path) -> Result<ExitCode, CliError> {
    match read(file)? {
        Mesh::Surface(mesh) => {
            let (vertices, triangles) = (mesh.vertices.len(), mesh.triangles.len());
            say!(
                "{}: {vertices} vertices, {triangles} triangles",
                file.display()
            );
            say!("box {} m", mesh.aabb().size());
            say!("{}", mesh.check());
        }
        Mesh::Tets(mesh) => {
            say!("{}: {} tetrahedra", file.display(), mesh.tets.len());
            describe(&mesh);
            let q = mesh.quality(BINS);
            histogram("volume [m³]", &q.volumes);
            histogram("edge length [m]", &q.edge_lengths);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn check(file: &Path) -> Result<ExitCode, CliError> {
    let problem = match read(file)? {
        Mesh::Surface(mesh) => {
            let report = mesh.check();
            (!report.is_sound()).then(|| report.problems().join("\n"))
        }
        Mesh::Tets(mesh) => mesh.validate().err().map(|e| e.to_string()),
    };
    match problem {
        None => {
            say!("{}: fine", file.display());
            Ok(ExitCode::SUCCESS)
        }
        Some(problem) => Err(CliError::Usage(format!("{}: {problem}", file.display()))),
    }
}

fn describe(mesh: &TetMesh) {
    let q = mesh.quality(1);
    say!(
        "{} points, {} edges, {} surface triangles, box {} m",
        mesh.points.len(),
        mesh.edges().len(),
        mesh.surface().len(),
        mesh.aabb().size()
    );
    say!(
        "dihedral angles {:.1} to {:.1} degrees, radius ratio {:.3} to {:.3}, mean {:.3}",
        q.dihedral.min,
        q.dihedral.max,
        q.radius_ratio.min,
        q.radius_ratio.max,
        q.radius_ratio.mean
    );
}

fn histogram(title: &str, histogram: &Histogram) {
    say!("{title}");
    let most = histogram.counts.iter().copied().max().unwrap_or(1).max(1);
    for (border, &count) in histogram.borders.iter().zip(&histogram.counts) {
        let bar = "#".repeat((BAR * count).div_ceil(most));
        say!("  {border:>10.3e}  {count:>8}  {bar}");
    }
}
