//! Poly-superellipsoids fitted to points of a surface.
//!
//! # Source
//! POLY §3.5.1: 14 variables, eight of the shape and six of the pose.
//! # Deviations
//! - POLY sums squares of F − 1, in which points near a corner have the largest weight. Here the
//!   residuals approximate distances.
//! - The starts are frames from the moments of the points, in all orders of axes, each also rotated by
//!   45° about its z: a prism with ε₁ = 0.5 has a second, worse fit with ε₁ = 1.5 in the rotated frame.
//!   Further frames follow, for points without distinct axes, until a fit is exact or all frames have
//!   been tried.

mod gauge;
mod solve;

use crate::GrainError;
use crate::convex::Grain;
use feeler_geom::{Pose, V3};
use gauge::{Gauge, Posed, variable_of};
use nalgebra::{Matrix3, Quaternion, Rotation3, Translation3, UnitQuaternion};
use solve::{VARIABLES, least_squares};

/// Poly-superellipsoid fitted to points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeFit {
    /// Semi-axes (mm): +x, +y, +z, −x, −y, −z.
    pub semi_axes: [f64; 6],
    /// Exponents ε₁ and ε₂, in (0.1, 1.9).
    pub exponents: [f64; 2],
    /// Origin of the shape's coordinates (mm).
    pub center: [f64; 3],
    /// Rotation from the shape's axes to those of the points: quaternion x, y, z, w.
    pub rotation: [f64; 4],
    /// Root mean square of the points' distances from the surface (mm). Distances are computed to first
    /// order.
    pub rms: f64,
    /// Largest distance of a point from the surface (mm). Distances are computed to first order.
    pub largest: f64,
    /// Diagonal of the points' bounding box (mm), to compare `rms` and `largest` with.
    pub size: f64,
}

impl ShapeFit {
    /// The grain without its pose.
    ///
    /// # Errors
    /// Returns an error if the semi-axes or exponents are not valid; those of results of [`fit`] are.
    pub fn grain(&self) -> Result<Grain, GrainError> {
        let s = self.semi_axes;
        Grain::new(V3::new(s[0], s[1], s[2]), V3::new(s[3], s[4], s[5]), self.exponents)
    }

    /// Pose that maps the grain's coordinates to those of the points.
    #[must_use]
    pub fn pose(&self) -> Pose {
        let [x, y, z, w] = self.rotation;
        Pose::from_parts(
            Translation3::from(self.center),
            UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z)),
        )
    }
}

/// Minimum number of points of a fit: the number of its variables.
pub const FEWEST_POINTS: usize = VARIABLES;

/// Maximum number of points to which a shape is fitted from each of the different starts; the final fit
/// uses all points. A larger value is slower, a smaller one may select a worse start.
const MAX_START_POINTS: usize = 240;
/// Root mean square of the residuals, for points scaled to a bounding box with the diagonal 2, below
/// which a fit counts as exact and no other start is tried. A larger value gives worse fits, a smaller
/// one is slower.
const EXACT_FIT_RMS: f64 = 1e-9;
/// Smallest standard deviation of the points' coordinates in a direction, for points scaled to a
/// bounding box with the diagonal 2; with a smaller one the points count as lying in a plane. It is also
/// the smallest semi-axis of a start. A larger value refuses thin grains, a smaller one fits planes.
const MIN_POINT_THICKNESS: f64 = 1e-6;
/// Maximum number of evaluations in the final fit to all points, divided by one more than the number of
/// variables. A larger value is slower where fits converge slowly, a smaller one ends fits early.
const PATIENCE: usize = 60;
/// Maximum number of evaluations in the fit from one start, divided by one more than the number of
/// variables. A larger value is slower where fits converge slowly, a smaller one ends fits early and may
/// select a worse start.
const PATIENCE_START: usize = 12;

/// Fits a poly-superellipsoid to points (mm) of a surface, measured all around it, in any pose.
///
/// The points may be noisy: `rms` and `largest` of the result measure their deviation. The same points
/// always give the same result.
///
/// ```
/// // Points of an ellipsoid.
/// let points: Vec<[f64; 3]> = (0..400)
///     .map(|i| {
///         let z = 1.0 - (2.0 * f64::from(i) + 1.0) / 400.0;
///         let (r, a) = ((1.0 - z * z).sqrt(), 2.399963 * f64::from(i));
///         [3.0 * r * a.cos() + 10.0, 2.0 * r * a.sin(), z]
///     })
///     .collect();
/// let fit = feeler_grains::fit::fit(&points)?;
/// assert!(fit.largest < 1e-6 * fit.size);
/// # Ok::<(), feeler_grains::GrainError>(())
/// ```
///
/// # Errors
/// Returns an error if there are fewer than [`FEWEST_POINTS`] points, if one is not finite, if all lie
/// in a plane, or if an octant of the fitted shape contains no points because they are all on one side
/// of it.
pub fn fit(points: &[[f64; 3]]) -> Result<ShapeFit, GrainError> {
    if points.len() < FEWEST_POINTS {
        return Err(GrainError::Points(
            "are too few: 14 variables need at least 14 points, preferably several hundred",
        ));
    }
    if !points.iter().flatten().all(|c| c.is_finite()) {
        return Err(GrainError::Points("have a coordinate that is not finite"));
    }
    let all = || points.iter().map(|p| V3::from(*p));
    let (low, high) = all()
        .fold((V3::repeat(f64::INFINITY), V3::repeat(f64::NEG_INFINITY)), |(l, h), p| (l.inf(&p), h.sup(&p)));
    let size = (high - low).norm();
    if !(size > 0.0 && size.is_finite()) {
        return Err(GrainError::Points("all coincide, or their distances overflow"));
    }
    #[expect(clippy::cast_precision_loss, reason = "the number of points is below 2^53")]
    let share = 1.0 / points.len() as f64;
    let middle = all().fold(V3::zeros(), |m, p| m + (p - low) * share) + low;
    // Points relative to their mean, scaled so that the diagonal of their bounding box is 2.
    let unit: Vec<V3> = all().map(|p| (p - middle) * (2.0 / size)).collect();
    let covariance = unit.iter().fold(Matrix3::zeros(), |m, p| m + p * p.transpose() * share);
    let eigen = covariance.symmetric_eigen();
    if eigen.eigenvalues.min() <= MIN_POINT_THICKNESS * MIN_POINT_THICKNESS {
        return Err(GrainError::Points("lie in a plane"));
    }
    let posed = best_of(&unit, &eigen.eigenvectors);
    check_octants(&posed, &unit)?;
    let (mut sum, mut largest) = (0.0, 0.0_f64);
    for p in &unit {
        let value = posed.value(&posed.local(p));
        let off = (value.m - 1.0) / value.gradient.norm();
        sum += off * off * share;
        largest = largest.max(off.abs());
    }
    let back = 0.5 * size;
    let q = posed.rotation.coords;
    Ok(ShapeFit {
        semi_axes: posed.semi.map(|s| s * back),
        exponents: posed.exponents,
        center: (posed.center * back + middle).into(),
        rotation: [q.x, q.y, q.z, q.w],
        rms: sum.sqrt() * back,
        largest: largest * back,
        size,
    })
}

/// Fits a shape to some of the points from all starts, and then to all `points` from the best result.
/// `axes` are the principal axes of the points.
fn best_of(points: &[V3], axes: &Matrix3<f64>) -> Posed {
    let step = points.len().div_ceil(MAX_START_POINTS);
    let some: Vec<V3> = points.iter().step_by(step).copied().collect();
    let enough = |points: &[V3], half: f64| {
        #[expect(clippy::cast_precision_loss, reason = "the number of points is below 2^53")]
        let n = points.len() as f64;
        (2.0 * half / n).sqrt() <= EXACT_FIT_RMS
    };
    let mut best: Option<(Gauge<'_>, [f64; VARIABLES], f64)> = None;
    for base in starts(axes) {
        let gauge = Gauge { points: &some, base };
        let (v, half) = least_squares(&gauge, &start(&some, &base), PATIENCE_START);
        if best.as_ref().is_none_or(|b| half < b.2) {
            best = Some((Gauge { points, base }, v, half));
        }
        if enough(&some, half) {
            break;
        }
    }
    let (gauge, v, _) = best.unwrap_or_else(|| {
        let base = UnitQuaternion::identity();
        (Gauge { points, base }, start(points, &base), f64::INFINITY)
    });
    gauge.posed(&least_squares(&gauge, &v, PATIENCE).0)
}

/// Rotations of the shapes from which fits start: the principal axes of the points with each of them as
/// z, then the same frames rotated by 45° about z, then evenly spread frames.
fn starts(axes: &Matrix3<f64>) -> impl Iterator<Item = UnitQuaternion<f64>> {
    let column = |i: usize| -> V3 { axes.column(i).into_owned() };
    let by_moments = [(0, 1), (1, 2), (2, 0)].map(|(x, y)| {
        let (x, y) = (column(x), column(y));
        let frame = Matrix3::from_columns(&[x, y, x.cross(&y)]);
        UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(frame))
    });
    let eighth = UnitQuaternion::from_axis_angle(&V3::z_axis(), std::f64::consts::FRAC_PI_4);
    let diagonal = by_moments.map(|q| q * eighth);
    // Quaternions of an evenly spread low-discrepancy sequence.
    let over = (0..48).map(|i| {
        let part = |k: f64| (0.5 + f64::from(i) * k).fract();
        let (u, v, w) = (part(0.819_172_513), part(0.671_043_607), part(0.549_700_478));
        let full = std::f64::consts::TAU;
        let ((s1, c1), (s2, c2)) =
            (feeler_geom::math::sin_cos(full * v), feeler_geom::math::sin_cos(full * w));
        let (a, b) = ((1.0 - u).sqrt(), u.sqrt());
        UnitQuaternion::from_quaternion(Quaternion::new(b * c2, a * s1, a * c1, b * s2))
    });
    by_moments.into_iter().chain(diagonal).chain(over)
}

/// Variables of the start of a fit: the ellipsoid with the axes of the frame `base` whose extents along
/// these axes, from the origin to either side, are those of the points.
fn start(points: &[V3], base: &UnitQuaternion<f64>) -> [f64; VARIABLES] {
    let mut extents = [0.0_f64; 6];
    for p in points {
        let local = base.inverse_transform_vector(p);
        for i in 0..3 {
            extents[i] = extents[i].max(local[i]);
            extents[i + 3] = extents[i + 3].max(-local[i]);
        }
    }
    let mut v = [0.0; VARIABLES];
    for (v, e) in v.iter_mut().zip(extents) {
        *v = feeler_geom::math::ln(e.max(MIN_POINT_THICKNESS));
    }
    (v[6], v[7]) = (variable_of(1.0), variable_of(1.0));
    v
}

/// Checks that every octant of the shape contains a point.
fn check_octants(posed: &Posed, points: &[V3]) -> Result<(), GrainError> {
    let mut seen = [false; 8];
    for p in points {
        let local = posed.local(p);
        seen[(0..3).map(|i| usize::from(local[i] < 0.0) << i).sum::<usize>()] = true;
    }
    if seen.iter().all(|s| *s) {
        Ok(())
    } else {
        Err(GrainError::Points(
            "leave an octant of the fitted shape empty: give points all around the surface",
        ))
    }
}

#[cfg(test)]
mod tests;
