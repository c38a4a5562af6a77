//! Solids bounded by triangles.

use crate::front::{ImportError, OPTIONS};
use crate::{fnv1a, program};
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::mesh::solids_of_triangles;
use feeler_geom::P3;
use feeler_geom::count::index;
use feeler_hierarchy::{Instance, Model, Origin};
use feeler_step::Reading;

/// A model of the solids that closed surfaces of triangles bound (points in mm, three of them counted from 0
/// for each triangle, counter-clockwise seen from outside): polyhedra, exactly as they are given, triangles
/// of one plane being one face. A surface that looks inwards inside another one is a hollow of it.
///
/// # Errors
/// [`ImportError`], with the name: triangles that do not close, that share a side with more than one other,
/// or whose corners are on one line.
///
/// ```
/// use feeler_import::prepare_mesh;
/// # use feeler_geom::P3;
///
/// let points = [(0., 0., 0.), (6., 0., 0.), (0., 5., 0.), (0., 0., 4.)].map(|(x, y, z)| P3::new(x, y, z));
/// let model = prepare_mesh("tip", &points, &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])?;
/// assert!((model.solids[0].info.volume - 20.0).abs() < 1e-12);
///
/// let open = prepare_mesh("tip", &points, &[[0, 2, 1], [0, 1, 3], [1, 2, 3]]).unwrap_err().to_string();
/// assert!(open.contains("mesh 'tip': the side from ["), "{open}");
/// # Ok::<(), feeler_import::ImportError>(())
/// ```
pub fn prepare_mesh(name: &str, points: &[P3], triangles: &[[u32; 3]]) -> Result<Model, ImportError> {
    let failed = |e: &dyn std::fmt::Display| ImportError::new(format!("mesh '{name}': {e}"));
    let sources = solids_of_triangles(name, points, triangles).map_err(|e| failed(&e))?;
    let (mut solids, mut instances, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
    let are_many = sources.len() > 1;
    for (k, source) in sources.iter().enumerate() {
        let solid = build_solid(source, &BuildOptions::default()).map_err(|e| failed(&e))?;
        let name = if are_many { format!("{name}-{}", k + 1) } else { name.to_owned() };
        remarks.extend(feeler_prepare::remarks(&solid, &name));
        solids.push(feeler_prepare::prepare_solid(&solid, &OPTIONS).map_err(|e| failed(&e))?);
        instances.push(Instance {
            solid: index(k),
            name,
            path: String::new(),
            translation: [0.0; 3],
            rotation: [0.0, 0.0, 0.0, 1.0],
        });
    }
    let numbers = points.iter().flat_map(|p| p.iter()).flat_map(|x| x.to_le_bytes());
    let corners = triangles.iter().flatten().flat_map(|k| k.to_le_bytes());
    Ok(Model {
        input: name.to_owned(),
        input_hash: fnv1a(&numbers.chain(corners).collect::<Vec<u8>>()),
        options: OPTIONS,
        solids,
        instances,
        components: Vec::new(),
        remarks,
        origin: Origin { program: program(Reading::default()), references: Vec::new() },
    })
}
