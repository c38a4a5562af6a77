//! Prepares solids of the crate truck-modeling.

use crate::front::{ImportError, OPTIONS};
use crate::{fnv1a, program, unplaced};
use anyhow::Context as _;
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::truck::{CompressedSolid, restored, solid_source};
use feeler_hierarchy::{Model, Options, Origin};
use feeler_step::Reading;
use std::path::Path;
use truck_modeling::{Matrix4, Solid, builder};

/// Returns a model of a solid of truck-modeling, whose lengths are taken as millimetres. Lines, planes and
/// lines of revolution become canonical curves and surfaces, all others exact NURBS.
///
/// # Errors
/// [`ImportError`] that states `name`: a curve or surface has no exact representation (such as an
/// intersection curve of a Boolean operation), or the shells do not bound a solid. Vertices, edges and faces
/// are numbered from 1 in the order of the solid's compressed form.
///
/// ```
/// use feeler_import::prepare_truck;
/// use truck_modeling::{Point3, Vector3, builder};
///
/// let corner = builder::vertex(Point3::new(0.0, 0.0, 0.0));
/// let edge = builder::tsweep(&corner, 3.0 * Vector3::unit_x());
/// let face = builder::tsweep(&edge, 4.0 * Vector3::unit_y());
/// let brick = builder::tsweep(&face, 5.0 * Vector3::unit_z());
/// let model = prepare_truck("brick", &brick)?;
/// assert!((model.solids[0].info.volume - 60.0).abs() < 1e-12);
/// # Ok::<(), feeler_import::ImportError>(())
/// ```
pub fn prepare_truck(name: &str, solid: &Solid) -> Result<Model, ImportError> {
    let hash = serde_json::to_vec(&solid.compress()).map(|bytes| fnv1a(&bytes)).unwrap_or_default();
    prepare(name, solid, (name.to_owned(), hash), &OPTIONS, Reading::default())
        .map_err(|e| ImportError::new(format!("solid '{name}': {e:#}")))
}

/// Prepares the solid in a JSON file as truck writes it. Lengths are in millimetres, or in the unit that
/// `reading` states.
///
/// # Errors
/// Same as [`prepare_truck`]; or the file is not such a solid. The error names the file.
pub(crate) fn prepare_json(
    path: &Path,
    bytes: &[u8],
    options: &Options,
    reading: Reading,
) -> anyhow::Result<Model> {
    let file = path.display().to_string();
    let compressed: CompressedSolid = serde_json::from_slice(bytes).with_context(|| {
        format!("{file}: not a solid of truck-modeling as JSON (an object with `boundaries`)")
    })?;
    let solid = restored(compressed).with_context(|| file.clone())?;
    let solid = match reading.unit {
        Some(mm) => builder::transformed(&solid, Matrix4::from_scale(mm)),
        None => solid,
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let input = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    prepare(&stem, &solid, (input, fnv1a(bytes)), options, reading).with_context(|| file)
}

fn prepare(
    name: &str,
    solid: &Solid,
    (input, input_hash): (String, u64),
    options: &Options,
    reading: Reading,
) -> anyhow::Result<Model> {
    let source = solid_source(name, solid)?;
    let solid = build_solid(&source, &BuildOptions::default())?;
    let (hierarchy, remarks) =
        feeler_prepare::prepare_with_remarks(&solid, &format!("solid '{name}'"), options)?;
    Ok(Model {
        input,
        input_hash,
        options: *options,
        solids: vec![hierarchy],
        instances: vec![unplaced(0, name.to_owned())],
        components: Vec::new(),
        remarks,
        origin: Origin { program: program(reading), references: Vec::new() },
    })
}
