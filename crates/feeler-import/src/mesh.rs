//! Solids bounded by triangles.

use crate::front::{ImportError, OPTIONS};
use crate::{fnv1a, program};
use anyhow::Context as _;
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::mesh::{MeshOptions, solids_of_triangles};
use feeler_geom::P3;
use feeler_geom::count::index;
use feeler_hierarchy::{Instance, Model, Options, Origin};
use feeler_step::Reading;
use std::path::Path;

/// A model of the solids that closed surfaces of triangles bound (points in mm, three of them counted from 0
/// for each triangle, counter-clockwise seen from outside): polyhedra, exactly as they are given, triangles
/// of one plane being one face. A surface that looks inwards inside another one is a hollow of it. Where open
/// ones are asked for, they are sheets without thickness, met from both sides.
///
/// # Errors
/// [`ImportError`], with the name: triangles that do not close, that share a side with more than one other,
/// or whose corners are on one line.
///
/// ```
/// use feeler_import::{MeshOptions, prepare_mesh};
/// # use feeler_geom::P3;
///
/// let points = [(0., 0., 0.), (6., 0., 0.), (0., 5., 0.), (0., 0., 4.)].map(|(x, y, z)| P3::new(x, y, z));
/// let triangles = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
/// let model = prepare_mesh("tip", &points, &triangles, MeshOptions::default())?;
/// assert!((model.solids[0].info.volume - 20.0).abs() < 1e-12);
///
/// let open = prepare_mesh("tip", &points, &triangles[1..], MeshOptions::default()).unwrap_err().to_string();
/// assert!(open.contains("mesh 'tip': the side from ["), "{open}");
/// let sheet = prepare_mesh("tip", &points, &triangles[1..], MeshOptions { open_shells: true })?;
/// assert_eq!(sheet.solids[0].info.volume, 0.0);
/// # Ok::<(), feeler_import::ImportError>(())
/// ```
pub fn prepare_mesh(
    name: &str,
    points: &[P3],
    triangles: &[[u32; 3]],
    mesh: MeshOptions,
) -> Result<Model, ImportError> {
    let numbers = points.iter().flat_map(|p| p.iter()).flat_map(|x| x.to_le_bytes());
    let corners = triangles.iter().flatten().flat_map(|k| k.to_le_bytes());
    let origin = Origin { program: program(Reading::default()), references: Vec::new() };
    let input = (name.to_owned(), fnv1a(&numbers.chain(corners).collect::<Vec<u8>>()));
    prepare(name, (points, triangles), mesh, input, &OPTIONS, origin)
        .map_err(|e| ImportError::new(format!("mesh '{name}': {e}")))
}

/// Whether a file is STL, by its name.
pub(crate) fn is_stl(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("stl"))
}

/// The solids that an STL file's triangles bound.
///
/// # Errors
/// As [`prepare_mesh`]; no unit, no STL file; told with its name.
pub(crate) fn prepare_stl(
    path: &Path,
    bytes: &[u8],
    options: &Options,
    reading: Reading,
) -> anyhow::Result<Model> {
    let file = path.display();
    let scale = reading.unit.with_context(|| {
        format!("{file}: STL files do not tell their unit; give one: --unit mm (or m, inch, …)")
    })?;
    let (points, triangles) = feeler_stl::read(bytes.to_vec(), scale).with_context(|| file.to_string())?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let input = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let origin = Origin { program: program(reading), references: Vec::new() };
    let open = MeshOptions { open_shells: reading.open_shells };
    let prepared = prepare(&stem, (&points, &triangles), open, (input, fnv1a(bytes)), options, origin);
    prepared.with_context(|| file.to_string())
}

fn prepare(
    name: &str,
    (points, triangles): (&[P3], &[[u32; 3]]),
    open: MeshOptions,
    (input, input_hash): (String, u64),
    options: &Options,
    origin: Origin,
) -> anyhow::Result<Model> {
    let sources = solids_of_triangles(name, points, triangles, open)?;
    let (mut solids, mut instances, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
    let are_many = sources.len() > 1;
    for (k, source) in sources.iter().enumerate() {
        let solid = build_solid(source, &BuildOptions::default())?;
        let name = if are_many { format!("{name}-{}", k + 1) } else { name.to_owned() };
        remarks.extend(feeler_prepare::remarks(&solid, &format!("solid '{name}'")));
        solids.push(feeler_prepare::prepare_solid(&solid, options)?);
        instances.push(Instance {
            solid: index(k),
            name,
            path: String::new(),
            translation: [0.0; 3],
            rotation: [0.0, 0.0, 0.0, 1.0],
        });
    }
    Ok(Model {
        input,
        input_hash,
        options: *options,
        solids,
        instances,
        components: Vec::new(),
        remarks,
        origin,
    })
}
