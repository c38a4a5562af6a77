//! Recognition of canonical shapes: splines and patches that are lines, circles, ellipses, planes,
//! cylinders, cones, spheres or tori within a tolerance.
//!
//! A few points and curvatures suggest a kind of shape or rule all kinds out, so most free-form shapes
//! are rejected quickly. A Gauss–Newton fit of the distances at a coarse grid of points then determines
//! the shape to rounding, so that exact rational arcs and revolutions give the shapes from which they
//! were made. A fine grid on every piece measures the deviation.
//!
//! # Source
//! BREP §2.1 (canonical shapes if possible). Samples: the squared distance from a quadric along a piece
//! of degree `p` is zero everywhere if it is zero at `4 p + 1` points.
//!
//! # Deviations
//! The deviation between samples is not bounded but estimated: as 1.5 times the largest measured one.

mod curve;
mod fit;
mod near;
mod surface;

#[cfg(test)]
mod tests;

use crate::bezier::{BezierSpline, BezierSurface};
use crate::{Curve, Surface};

pub use near::Nearly;

/// A canonical shape that equals a spline or a grid of patches within a tolerance.
#[derive(Clone, Debug)]
pub struct Recognised<T> {
    /// Canonical shape; a curve has the direction of the spline.
    pub shape: T,
    /// Whether the natural normal of the surface is that of the grid; `true` for curves.
    pub same_normal: bool,
    /// Estimated largest distance (mm) between the canonical shape and the spline or grid.
    pub deviation: f64,
}

/// Factor by which the largest measured deviation is enlarged, to account for points between the
/// samples. A larger value rejects shapes, a smaller one underestimates deviations.
const DEVIATION_MARGIN: f64 = 1.5;

impl BezierSpline {
    /// Recognises a line or circle within `tol` (mm), or an ellipse up to rounding, with the direction
    /// of the spline. `None` if the spline does not agree with any of them, runs back on itself or
    /// around more than once, or if `tol` is not positive. (`tol` does not apply to ellipses, because
    /// any short and slightly curved arc is nearly an ellipse.)
    #[must_use]
    pub fn recognised(&self, tol: f64) -> Option<Recognised<Curve>> {
        if tol > 0.0 { curve::recognised(self, tol) } else { None }
    }

    /// Finds the line or circle that the spline follows within `tol` (mm), with the differences of
    /// directions and curvatures; `None` if such a curve does not exist. The result complements the
    /// spline, whereas that of [`BezierSpline::recognised`] replaces it.
    #[must_use]
    pub fn nearly(&self, tol: f64) -> Option<Nearly<Curve>> {
        near::nearly_curve(self, tol)
    }
}

impl BezierSurface {
    /// Recognises a plane, sphere, cylinder, cone or torus within `tol` (mm); `None` if the grid of
    /// patches does not agree with any of them or `tol` is not positive.
    #[must_use]
    pub fn recognised(&self, tol: f64) -> Option<Recognised<Surface>> {
        if tol > 0.0 { surface::recognised(self, tol) } else { None }
    }

    /// Finds the canonical surface that the grid follows within `tol` (mm), with the differences of
    /// normals and curvatures; `None` if such a surface does not exist. The result complements the grid,
    /// whereas that of [`BezierSurface::recognised`] replaces it.
    #[must_use]
    pub fn nearly(&self, tol: f64) -> Option<Nearly<Surface>> {
        near::nearly_surface(self, tol)
    }
}

/// Relative parameters in [0, 1] at which the deviation of a piece of a given degree is measured.
#[expect(clippy::cast_precision_loss, reason = "the count is small")]
fn sample_parameters(degree: u32) -> impl Iterator<Item = f64> + Clone {
    let n = (4 * degree as usize).min(16);
    (0..=n).map(move |i| i as f64 / n as f64)
}
