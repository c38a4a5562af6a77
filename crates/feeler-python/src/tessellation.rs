//! Cells fitted to voxel images, as arrays.

use crate::arrays;
use crate::error::{file, query};
use crate::source::Fields;
use crate::wait;
use feeler::assembly::Progress;
use feeler::tessellation::{
    CellKind, CellMesh, CellValues, Fit, FitMethod, FitOptions, FitStage, FitState, Grains, Neighbour,
    Polyhedra, PolyhedronFace, Regularisation, SiteIndex, VoxelImage, rand_index, tessellate as cells_of,
};
use feeler_geom::{P3, V3};
use feeler_hierarchy::whole::write_whole;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Options of [`tessellate`].
struct Request {
    periodic: [bool; 3],
    options: FitOptions,
    min_edge: Option<f64>,
}

/// Result of a fit.
struct Found {
    grains: Grains,
    state: FitState,
    sites: Vec<[f64; 3]>,
    weights: Vec<f64>,
    polyhedra: Polyhedra,
    rand_index: f64,
    regularisation: Option<Regularisation>,
}

fn fit(image: &VoxelImage, request: &Request, progress: &Arc<Progress>) -> PyResult<Found> {
    let grains = Grains::new(image, request.periodic).map_err(query)?;
    let mut fit = Fit::new(&grains, request.options).map_err(query)?;
    progress.set_total(usize::try_from(request.options.max_iterations).unwrap_or(usize::MAX));
    while !fit.is_finished() {
        if progress.is_stopped() {
            return Err(wait::stopped());
        }
        fit.advance().map_err(query)?;
        progress.advance(1);
    }
    let state = fit.state().clone();
    let cells = cells_of(&grains.domain, &state.sites()).map_err(query)?;
    let index = SiteIndex::new(&cells.domain, &cells.sites).map_err(query)?;
    let redrawn = VoxelImage::of_tessellation(&index, image.size);
    let mut mesh = CellMesh::new(&cells);
    let regularisation = request.min_edge.map(|length| mesh.regularise(length));
    let origin = image.origin.coords;
    let position = |p: &P3| [p.x + origin.x, p.y + origin.y, p.z + origin.z];
    Ok(Found {
        sites: cells.sites.iter().map(|s| position(&s.position)).collect(),
        weights: cells.sites.iter().map(|s| s.weight).collect(),
        polyhedra: mesh.polyhedra(&origin),
        rand_index: rand_index(&image.labels, &redrawn.labels),
        regularisation,
        grains,
        state,
    })
}

/// Number of a wall: -1 to -6 for the lower and upper ends of x, y and z.
fn neighbour_number(neighbour: Neighbour) -> i64 {
    match neighbour {
        Neighbour::Cell { index, .. } => index.into(),
        Neighbour::Wall { axis, upper } => -1 - 2 * i64::from(axis) - i64::from(upper),
    }
}

fn neighbour_of(number: i64) -> Option<Neighbour> {
    match u32::try_from(number) {
        Ok(index) => Some(Neighbour::Cell { index, shift: [0; 3] }),
        Err(_) => {
            let wall = u8::try_from(-1 - number).ok().filter(|w| *w < 6)?;
            Some(Neighbour::Wall { axis: wall / 2, upper: wall % 2 == 1 })
        }
    }
}

/// Fits cells to the grains of an image: an array of labels, or the path of a file.
#[pyfunction]
#[pyo3(signature = (
    image, spacing, origin, periodic, voronoi, derivative_free, tolerance, max_iterations, min_edge, threads,
    progress
))]
#[expect(clippy::too_many_arguments, reason = "passed on by Python")]
pub(crate) fn tessellate<'py>(
    py: Python<'py>,
    image: &Bound<'py, PyAny>,
    spacing: Option<[f64; 3]>,
    origin: Option<[f64; 3]>,
    periodic: [bool; 3],
    voronoi: bool,
    derivative_free: bool,
    tolerance: f64,
    max_iterations: u64,
    min_edge: Option<f64>,
    threads: Option<u16>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let positive = |name: &str, x: f64| {
        let is_valid = x.is_finite() && x > 0.0;
        if is_valid { Ok(()) } else { Err(query(format!("{name} is {x}; give a finite number above 0"))) }
    };
    positive("tolerance", tolerance)?;
    min_edge.map_or(Ok(()), |x| positive("min_edge", x))?;
    spacing.iter().flatten().try_for_each(|x| positive("spacing", *x))?;
    let path = image.extract::<PathBuf>().ok();
    let array = if path.is_some() { None } else { Some(arrays::labels(image)?) };
    let request = Request {
        periodic,
        options: FitOptions {
            kind: if voronoi { CellKind::Voronoi } else { CellKind::Laguerre },
            method: if derivative_free { FitMethod::Simplex } else { FitMethod::Gradient },
            tolerance,
            max_iterations,
            ..FitOptions::default()
        },
        min_edge,
    };
    let found = wait::run(py, progress, threads, move |progress| {
        let mut image = match (path, array) {
            (Some(path), _) => VoxelImage::load(&path, None).map_err(file)?,
            (None, array) => {
                let (size, labels) = array.unwrap_or_default();
                VoxelImage { size, spacing: V3::repeat(1.0), origin: P3::origin(), labels }
            }
        };
        image.spacing = spacing.map_or(image.spacing, V3::from);
        image.origin = origin.map_or(image.origin, P3::from);
        fit(&image, &request, progress)
    })?;
    build(py, &found)
}

fn rows<'py>(py: Python<'py>, rows: &[[f64; 3]]) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let flat = PyArray1::from_iter(py, rows.iter().flatten().copied());
    Ok(flat.call_method1("reshape", (rows.len(), 3))?.cast_into()?)
}

fn build<'py>(py: Python<'py>, found: &Found) -> PyResult<Bound<'py, PyAny>> {
    let (grains, state, polyhedra) = (&found.grains, &found.state, &found.polyhedra);
    let n = polyhedra.cells.len();
    let values: Vec<(f64, P3)> = (0..n).map(|k| polyhedra.volume_and_centroid(k)).collect();
    let missing = |k: usize| polyhedra.cells[k].is_empty();
    let centroids: Vec<[f64; 3]> = values
        .iter()
        .enumerate()
        .map(|(k, (_, c))| if missing(k) { [f64::NAN; 3] } else { [c.x, c.y, c.z] })
        .collect();
    let points: Vec<[f64; 3]> = polyhedra.points.iter().map(|p| [p.x, p.y, p.z]).collect();
    let offsets =
        |ends: &mut dyn Iterator<Item = usize>| arrays::offsets(py, std::iter::once(0).chain(ends).collect());
    let mut sum = 0;
    let mut face_ends = polyhedra.faces.iter().map(|f| {
        sum += f.vertices.len();
        sum
    });
    let regularisation = found.regularisation.map(|r| {
        Fields::new(py)
            .set("min_edge_before", r.min_edge_before)?
            .set("min_edge_after", r.min_edge_after)?
            .set("merged_count", r.merged)?
            .set("remaining_count", r.remaining)?
            .set("vanished_face_count", r.vanished_faces)?
            .set("max_volume_change", r.max_volume_change)?
            .build("Regularisation")
    });
    let counts =
        |all: &[usize]| PyArray1::from_iter(py, all.iter().map(|k| i64::try_from(*k).unwrap_or(i64::MAX)));
    Fields::new(py)
        .set("labels", PyArray1::from_slice(py, &grains.labels))?
        .set("sites", rows(py, &found.sites)?)?
        .set("weights", PyArray1::from_slice(py, &found.weights))?
        .set("voxel_counts", counts(&grains.voxels))?
        .set("volumes", PyArray1::from_iter(py, values.iter().map(|(v, _)| *v)))?
        .set("centroids", rows(py, &centroids)?)?
        .set("vertices", rows(py, &points)?)?
        .set("cell_offsets", offsets(&mut polyhedra.cells.iter().map(|c| c.end)))?
        .set(
            "face_neighbours",
            PyArray1::from_iter(py, polyhedra.faces.iter().map(|f| neighbour_number(f.neighbour))),
        )?
        .set("face_offsets", offsets(&mut face_ends))?
        .set(
            "face_vertices",
            PyArray1::from_iter(py, polyhedra.faces.iter().flat_map(|f| &f.vertices).copied()),
        )?
        .set("voxel_edge", grains.voxel_edge)?
        .set("is_converged", state.stage == FitStage::Converged)?
        .set("iteration_count", state.iterations)?
        .set("objective", state.objective)?
        .set("rms_distance", state.objective * grains.mean_diameter())?
        .set("history", PyArray1::from_slice(py, &state.history))?
        .set("rand_index", found.rand_index)?
        .set("regularisation", regularisation.transpose()?)?
        .build("Tessellation")
}

/// Writes the cells of a result to a file; the extension of the name selects the format.
#[pyfunction]
#[pyo3(signature = (
    path, labels, weights, vertices, cell_offsets, face_neighbours, face_offsets, face_vertices
))]
#[expect(clippy::too_many_arguments, reason = "arrays of a result")]
pub(crate) fn write_cells(
    py: Python<'_>,
    path: PathBuf,
    labels: PyReadonlyArray1<'_, u32>,
    weights: PyReadonlyArray1<'_, f64>,
    vertices: PyReadonlyArray2<'_, f64>,
    cell_offsets: PyReadonlyArray1<'_, i64>,
    face_neighbours: PyReadonlyArray1<'_, i64>,
    face_offsets: PyReadonlyArray1<'_, i64>,
    face_vertices: PyReadonlyArray1<'_, u32>,
) -> PyResult<()> {
    let points = vertices.as_array();
    let points: Vec<P3> = points.rows().into_iter().map(|r| P3::new(r[0], r[1], r[2])).collect();
    let (labels, weights) = (labels.as_array().to_vec(), weights.as_array().to_vec());
    let all: Vec<u32> = face_vertices.as_array().to_vec();
    let broken = || query("the arrays of the tessellation do not fit together");
    let ranges = |offsets: &PyReadonlyArray1<'_, i64>, end: usize| -> Option<Vec<Range<usize>>> {
        let list: Vec<usize> =
            offsets.as_array().iter().map(|k| usize::try_from(*k).ok()).collect::<Option<_>>()?;
        let ranges: Vec<_> = list.windows(2).map(|w| w[0]..w[1]).collect();
        ranges.iter().all(|r| r.start <= r.end && r.end <= end).then_some(ranges)
    };
    let numbers = face_neighbours.as_array();
    let bounds = ranges(&face_offsets, all.len()).filter(|b| b.len() == numbers.len()).ok_or_else(broken)?;
    let faces: Option<Vec<PolyhedronFace>> = numbers
        .iter()
        .zip(bounds)
        .map(|(n, b)| {
            let vertices = all[b].to_vec();
            let is_valid = vertices.iter().all(|v| (*v as usize) < points.len());
            Some(PolyhedronFace { neighbour: neighbour_of(*n).filter(|_| is_valid)?, vertices })
        })
        .collect();
    let faces = faces.ok_or_else(broken)?;
    let cells = ranges(&cell_offsets, faces.len()).ok_or_else(broken)?;
    if cells.len() != labels.len() || cells.len() != weights.len() {
        return Err(broken());
    }
    let polyhedra = Polyhedra { points, faces, cells };
    py.detach(|| {
        let extension = path.extension().map_or_else(String::new, |e| e.to_string_lossy().to_lowercase());
        let text = match extension.as_str() {
            "vtu" => {
                let value = |(k, (label, weight)): (usize, (&u32, &f64))| CellValues {
                    label: *label,
                    weight: *weight,
                    volume: polyhedra.volume_and_centroid(k).0,
                };
                let values: Vec<CellValues> = labels.iter().zip(&weights).enumerate().map(value).collect();
                polyhedra.to_vtu(&values)
            }
            "stl" => polyhedra.to_stl(&labels),
            "geo" => polyhedra.to_geo(&labels),
            _ => {
                let name = path.display();
                return Err(file(format!(
                    "{name}: the format is not known; give a name that ends in .vtu, .stl or .geo"
                )));
            }
        };
        let written = write_whole(&path, text.as_bytes());
        written.map_err(|e| file(format!("{}: the cells cannot be written: {e}", path.display())))
    })
}
