//! Spheres, ellipsoids and tori as exact rational surfaces.
//!
//! # Source
//! NURBS Table 3.1 and (3.8): the circle as four rational arcs; Piegl & Tiller, *The NURBS Book*, §8.5:
//! surfaces of revolution.

use super::{NurbsGrain, NurbsGrainError};
use feeler_geom::P3;
use feeler_geom::nurbs::NurbsSurface;

/// Weight of the control points at the corners of a square whose rational quadratic curve is a circle:
/// cos 45°.
const HALF: f64 = std::f64::consts::FRAC_1_SQRT_2;
/// Control points of the unit circle in Table 3.1 of NURBS: x, y and weight.
pub(super) const CIRCLE: [(f64, f64, f64); 9] = [
    (1.0, 0.0, 1.0),
    (1.0, 1.0, HALF),
    (0.0, 1.0, 1.0),
    (-1.0, 1.0, HALF),
    (-1.0, 0.0, 1.0),
    (-1.0, -1.0, HALF),
    (0.0, -1.0, 1.0),
    (1.0, -1.0, HALF),
    (1.0, 0.0, 1.0),
];
/// Knots of the quadratic circle with the control points [`CIRCLE`], NURBS (3.8).
pub(super) const CIRCLE_KNOTS: &[f64] = &[0., 0., 0., 1., 1., 2., 2., 3., 3., 4., 4., 4.];

impl NurbsGrain {
    /// Creates a sphere of a radius (mm) about the origin, with its poles on the z axis.
    ///
    /// # Errors
    /// Returns [`NurbsGrainError::Dimension`] if the radius is not valid.
    pub fn sphere(radius: f64) -> Result<Self, NurbsGrainError> {
        dimension("the radius", radius)?;
        Self::ellipsoid([radius; 3])
    }

    /// Creates an ellipsoid with half axes (mm) along x, y and z about the origin, with its poles on the
    /// z axis.
    ///
    /// # Errors
    /// Returns [`NurbsGrainError::Dimension`] if a half axis is not valid.
    pub fn ellipsoid(half_axes: [f64; 3]) -> Result<Self, NurbsGrainError> {
        for (name, a) in ["the half axis along x", "the half axis along y", "the half axis along z"]
            .into_iter()
            .zip(half_axes)
        {
            dimension(name, a)?;
        }
        let [a, b, c] = half_axes;
        // Half a circle from the south pole to the north pole.
        let meridian =
            [(0.0, -1.0, 1.0), (1.0, -1.0, HALF), (1.0, 0.0, 1.0), (1.0, 1.0, HALF), (0.0, 1.0, 1.0)];
        let knots = [0., 0., 0., 1., 1., 2., 2., 2.];
        Self::new(revolved(&meridian, &knots, |x, y, z| P3::new(a * x, b * y, c * z)))
    }

    /// Creates a torus about the z axis: a tube of radius `minor` (mm) along a circle of radius `major`
    /// (mm).
    ///
    /// # Errors
    /// Returns [`NurbsGrainError::Dimension`] if a radius is not valid, or if `minor` is not smaller than
    /// `major`.
    pub fn torus(major: f64, minor: f64) -> Result<Self, NurbsGrainError> {
        dimension("the radius of the ring", major)?;
        dimension("the radius of the tube", minor)?;
        if minor >= major {
            return Err(NurbsGrainError::Dimension { name: "the radius of the tube", value: minor });
        }
        let tube = CIRCLE.map(|(x, z, w)| (major + minor * x, minor * z, w));
        Self::new(revolved(&tube, CIRCLE_KNOTS, P3::new))
    }
}

fn dimension(name: &'static str, value: f64) -> Result<(), NurbsGrainError> {
    if value.is_finite() && value > 0.0 { Ok(()) } else { Err(NurbsGrainError::Dimension { name, value }) }
}

/// Builds the surface of revolution about z of a quadratic profile, whose control points are given by
/// radius, height and weight. u runs around the axis, v along the profile with the knots `knots`.
/// `place` receives a point of the circle (x, y; radius 1) multiplied by the radius, and the height, and
/// returns the control point.
fn revolved(profile: &[(f64, f64, f64)], knots: &[f64], place: impl Fn(f64, f64, f64) -> P3) -> NurbsSurface {
    let net =
        CIRCLE.iter().flat_map(|(c, s, w)| profile.iter().map(move |(r, z, h)| (r * c, r * s, *z, w * h)));
    let (points, weights) = net.map(|(x, y, z, w)| (place(x, y, z), w)).unzip();
    NurbsSurface {
        u_degree: 2,
        v_degree: 2,
        u_knots: CIRCLE_KNOTS.to_vec(),
        v_knots: knots.to_vec(),
        n_v: profile.len(),
        points,
        weights,
    }
}
