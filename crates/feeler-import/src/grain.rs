//! Prepares grains bounded by one closed spline surface.

use crate::front::{ImportError, OPTIONS};
use crate::{fnv1a, program, unplaced};
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_geom::nurbs::NurbsSurface;
use feeler_hierarchy::{Model, Origin};
use feeler_step::Reading;

/// Returns a model of one solid bounded by a closed NURBS surface (mm), like that of a STEP file with
/// one part. The surface can be that of a `feeler_grains::nurbs::NurbsGrain`, or any other closed
/// surface. If the surface is within 1e-7 of its size of a sphere or torus, the solid gets this shape,
/// for which contacts have closed forms.
///
/// # Errors
/// [`ImportError`] that states `name`: the numbers do not describe a surface, or the surface does not
/// close. Self-intersections are not detected here; use `NurbsGrain::check_embedded`.
///
/// ```
/// use feeler_import::prepare_grain;
///
/// # let half = std::f64::consts::FRAC_1_SQRT_2;
/// # let circle = [(1., 0., 1.), (1., 1., half), (0., 1., 1.), (-1., 1., half), (-1., 0., 1.),
/// #     (-1., -1., half), (0., -1., 1.), (1., -1., half), (1., 0., 1.)];
/// # let meridian = [(0., -1., 1.), (1., -1., half), (1., 0., 1.), (1., 1., half), (0., 1., 1.)];
/// # let net = circle.iter().flat_map(|(c, s, w)| meridian.iter().map(move |(r, z, h)| {
/// #     (feeler_geom::P3::new(3.0 * r * c, 2.0 * r * s, *z), w * h)
/// # }));
/// # let (points, weights) = net.unzip();
/// # let surface = feeler_geom::nurbs::NurbsSurface { u_degree: 2, v_degree: 2,
/// #     u_knots: vec![0., 0., 0., 1., 1., 2., 2., 3., 3., 4., 4., 4.],
/// #     v_knots: vec![0., 0., 0., 1., 1., 2., 2., 2.], n_v: 5, points, weights };
/// // The surface of `NurbsGrain::ellipsoid([3.0, 2.0, 1.0])`.
/// let model = prepare_grain("ellipsoid", &surface)?;
/// assert_eq!(model.solids.len(), 1);
/// assert!((model.solids[0].info.volume - 25.132741).abs() < 1e-5);
/// # Ok::<(), feeler_import::ImportError>(())
/// ```
pub fn prepare_grain(name: &str, surface: &NurbsSurface) -> Result<Model, ImportError> {
    prepare_grain_with(name, surface, &BuildOptions::default())
}

/// Like [`prepare_grain`], with options for building the solid.
///
/// # Errors
/// Same as [`prepare_grain`].
pub fn prepare_grain_with(
    name: &str,
    surface: &NurbsSurface,
    options: &BuildOptions,
) -> Result<Model, ImportError> {
    let failed = |e: &dyn std::fmt::Display| ImportError::new(format!("grain '{name}': {e}"));
    let grid = surface.to_bezier().map_err(|e| failed(&e))?;
    let source = feeler_brep::closed::closed_surface(name, grid);
    let solid = build_solid(&source, options).map_err(|e| failed(&e))?;
    let hierarchy = feeler_prepare::prepare_solid(&solid, &OPTIONS).map_err(|e| failed(&e))?;
    Ok(Model {
        input: name.to_owned(),
        input_hash: fnv1a(&bytes(surface)),
        options: OPTIONS,
        solids: vec![hierarchy],
        instances: vec![unplaced(0, name.to_owned())],
        components: Vec::new(),
        remarks: feeler_prepare::remarks(&solid, name),
        origin: Origin { program: program(Reading::default()), references: Vec::new() },
    })
}

/// All numbers of a surface as bytes, from which the hash of the input is computed.
fn bytes(s: &NurbsSurface) -> Vec<u8> {
    let counts = [u64::from(s.u_degree), u64::from(s.v_degree), s.n_v as u64];
    let points = s.points.iter().flat_map(|p| p.coords.iter());
    let numbers = s.u_knots.iter().chain(&s.v_knots).chain(points).chain(&s.weights);
    counts.iter().flat_map(|n| n.to_le_bytes()).chain(numbers.flat_map(|x| x.to_le_bytes())).collect()
}
