//! Canonical shapes in disguise: splines and patches that are lines, circles, ellipses, planes, cylinders,
//! cones, spheres or tori within a tolerance.
//!
//! A few points and curvatures suggest a kind, or end the matter: most free-form shapes cost no more. A fit
//! of the distances at a coarse grid of points (Gauss–Newton) then takes the shape to round-off, so that
//! exact rational arcs and revolutions come out as what they were made from, and a fine grid on every piece
//! measures the deviation.
//!
//! # Source
//! BREP §2.1 (canonical where it can be). Samples: the squared distance from a quadric along a piece of
//! degree `p` is zero everywhere when it is at `4 p + 1` points.
//!
//! # Deviations
//! The deviation between samples is not bounded but estimated, by the largest measured one with a margin of a
//! half.

mod curve;
mod fit;
mod near;
mod surface;

#[cfg(test)]
mod tests;

use crate::bezier::{BezierSpline, BezierSurface};
use crate::{Curve, Surface};

pub use near::Nearly;

/// What a spline or a grid is, within a tolerance.
#[derive(Clone, Debug)]
pub struct Recognised<T> {
    /// The canonical shape. A curve runs the same way as the spline.
    pub shape: T,
    /// Whether a surface's natural normal is that of the grid; `true` for curves.
    pub same_normal: bool,
    /// Distance between both (mm).
    pub deviation: f64,
}

/// Share by which the largest measured distance is raised to stand for all.
const MARGIN: f64 = 1.5;

impl BezierSpline {
    /// The line or circle that the spline is within `tol` (mm), or the ellipse that it is to rounding, run in
    /// the same direction; `None` when it is none or `tol` is not positive, when it runs back on itself or
    /// more than once around. (Within a tolerance, any short and gentle arc is an ellipse.)
    #[must_use]
    pub fn recognised(&self, tol: f64) -> Option<Recognised<Curve>> {
        if tol > 0.0 { curve::recognised(self, tol) } else { None }
    }

    /// The line or circle that the spline follows within `tol` (mm), with what directions and curvatures are
    /// off; `None` when there is none. Where [`BezierSpline::recognised`] replaces a shape, this only
    /// accompanies it.
    #[must_use]
    pub fn nearly(&self, tol: f64) -> Option<Nearly<Curve>> {
        near::nearly_curve(self, tol)
    }
}

impl BezierSurface {
    /// The plane, sphere, cylinder, cone or torus that the grid is within `tol` (mm); `None` when it is none.
    #[must_use]
    pub fn recognised(&self, tol: f64) -> Option<Recognised<Surface>> {
        if tol > 0.0 { surface::recognised(self, tol) } else { None }
    }

    /// The canonical surface that the grid follows within `tol` (mm), with what normals and curvatures are
    /// off; `None` when there is none. Where [`BezierSurface::recognised`] replaces a shape, this only
    /// accompanies it.
    #[must_use]
    pub fn nearly(&self, tol: f64) -> Option<Nearly<Surface>> {
        near::nearly_surface(self, tol)
    }
}

/// Points a piece that the deviation is measured at, by its degree.
#[expect(clippy::cast_precision_loss, reason = "a handful")]
fn places(degree: u32) -> impl Iterator<Item = f64> + Clone {
    let n = (4 * degree as usize).min(16);
    (0..=n).map(move |i| i as f64 / n as f64)
}
