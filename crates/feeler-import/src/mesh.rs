//! Prepares solids bounded by triangles.

use crate::front::{ImportError, OPTIONS};
use crate::{fnv1a, program, unplaced};
use anyhow::Context as _;
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::mesh::{MeshOptions, MeshSolid, solids_of_triangles};
use feeler_geom::P3;
use feeler_geom::count::index;
use feeler_hierarchy::{Model, Options, Origin, Remark, Severity};
use feeler_step::Reading;
use std::path::Path;

/// Returns a model of the solids that closed surfaces of triangles bound. Points are in mm; a triangle
/// is three indices of points, counter-clockwise seen from outside. The solids are exactly these
/// polyhedra. Adjacent coplanar triangles form one face ([`MeshOptions::rounding`]). A surface that
/// faces inwards and lies inside another surface is a cavity of that solid. If open surfaces are
/// enabled, they become sheets without thickness, with contacts on both sides.
///
/// # Errors
/// [`ImportError`] that states `name`: the triangles do not close, a side belongs to more than two
/// triangles, the corners of a triangle are collinear, or triangles intersect one another. Triangle 5 of
/// the list is face #6 in the message.
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
/// let open = MeshOptions { open_shells: true, ..MeshOptions::default() };
/// let sheet = prepare_mesh("tip", &points, &triangles[1..], open)?;
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

/// Whether the name of a file has the extension of STL files, in lower or upper case.
#[must_use]
pub fn is_stl(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("stl"))
}

/// Prepares the solids that the triangles of an STL file bound.
///
/// # Errors
/// Same as [`prepare_mesh`]; or `reading` states no unit, or the file is not STL. The error names the
/// file.
pub(crate) fn prepare_stl(
    path: &Path,
    bytes: &[u8],
    options: &Options,
    reading: Reading,
) -> anyhow::Result<Model> {
    let file = path.display();
    let scale = reading.unit.with_context(|| {
        format!("{file}: STL files do not state their unit; give it with --unit (mm, m, inch, …)")
    })?;
    let (points, triangles) = feeler_stl::read(bytes.to_vec(), scale).with_context(|| file.to_string())?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let input = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let origin = Origin { program: program(reading), references: Vec::new() };
    // STL stores single-precision numbers, so coordinates are rounded by at most half a unit in the last
    // place of the largest one.
    let farthest = points.iter().flat_map(|p| p.iter()).fold(0.0, |m: f64, x| m.max(x.abs()));
    let rounding = f64::from(f32::EPSILON) * 0.5 * farthest;
    let mesh = MeshOptions { open_shells: reading.open_shells, rounding };
    let prepared = prepare(&stem, (&points, &triangles), mesh, (input, fnv1a(bytes)), options, origin);
    prepared.with_context(|| file.to_string())
}

fn prepare(
    name: &str,
    (points, triangles): (&[P3], &[[u32; 3]]),
    mesh: MeshOptions,
    (input, input_hash): (String, u64),
    options: &Options,
    origin: Origin,
) -> anyhow::Result<Model> {
    let sources = solids_of_triangles(name, points, triangles, mesh)?;
    let (mut solids, mut instances, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
    let are_many = sources.len() > 1;
    for (k, MeshSolid { source, open_edges }) in sources.iter().enumerate() {
        let solid = build_solid(source, &BuildOptions::default())?;
        let name = if are_many { format!("{name}-{}", k + 1) } else { name.to_owned() };
        let subject = format!("solid '{name}'");
        if *open_edges > 0 {
            let message = format!(
                "is a mesh with open edges ({open_edges}); it is prepared as a sheet without thickness, with \
                 a front and a back. If it should be a solid, close the mesh"
            );
            let severity = Severity::Warning;
            remarks.push(Remark { severity, subject: subject.clone(), entity: None, point: None, message });
        }
        let (hierarchy, more) = feeler_prepare::prepare_with_remarks(&solid, &subject, options)?;
        remarks.extend(more);
        solids.push(hierarchy);
        instances.push(unplaced(index(k), name));
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

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::{Pose, V3};

    /// The fourth corner of a rotated square side, in single precision, is not exactly in the plane of
    /// the other three corners. The side must become one face nevertheless.
    #[test]
    fn turned_cubes_of_single_precision_have_six_faces() {
        let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles: Vec<[u32; 3]> =
            sides.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect();
        for k in 0..60 {
            let f = f64::from(k);
            let turn = Pose::rotation(V3::new(0.7, 0.31, 1.3) * f);
            let pose = Pose::translation(f, -2.0 * f, 0.5 * f) * turn;
            let of = |k: u32, bit: u32| if k & bit == 0 { -5.0 } else { 5.0 };
            let corner = |k: u32| pose * P3::new(of(k, 1), of(k, 2), of(k, 4));
            #[expect(clippy::cast_possible_truncation, reason = "a file has single precision")]
            let points: Vec<P3> = (0..8).map(|k| corner(k).map(|x| f64::from(x as f32))).collect();
            let farthest = points.iter().flat_map(|p| p.iter()).fold(0.0, |m: f64, x| m.max(x.abs()));
            let mesh = MeshOptions { open_shells: false, rounding: f64::from(f32::EPSILON) * 0.5 * farthest };
            let model = prepare_mesh("cube", &points, &triangles, mesh).unwrap();
            let solid = &model.solids[0];
            assert_eq!((solid.faces.len(), solid.edges.len(), solid.vertices.len()), (6, 12, 8), "{k}");
            assert!((solid.info.volume - 1000.0).abs() < 1e-3, "{k}: {}", solid.info.volume);
        }
    }
}
