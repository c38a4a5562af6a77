//! Curves in space.
//!
//! # Source
//! BREP §2.1 (canonical where it can be, rational Bézier otherwise); parametrisations of ISO 10303-42.

use crate::bezier::BezierSpline;
use crate::{Aabb, Frame, P3, Pose, RevolutionCone, V3};

/// A curve with its ISO 10303-42 parametrisation (angles in radians).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Curve {
    /// `origin + t dir`, `dir` of unit length: `t` in mm.
    Line {
        /// Point at `t = 0`.
        origin: P3,
        /// Unit direction.
        dir: V3,
    },
    /// `o + r (cos t x + sin t y)`.
    Circle {
        /// Centre and axes; `z` is the axis of rotation.
        frame: Frame,
        /// Radius, > 0.
        radius: f64,
    },
    /// `o + a cos t x + b sin t y`.
    Ellipse {
        /// Centre and axes.
        frame: Frame,
        /// Semi-axis along `x`, > 0.
        semi_x: f64,
        /// Semi-axis along `y`, > 0.
        semi_y: f64,
    },
    /// `o + f t² x + 2 f t y`.
    Parabola {
        /// Vertex and axes.
        frame: Frame,
        /// Focal distance, > 0.
        focal: f64,
    },
    /// `o + a cosh t x + b sinh t y`.
    Hyperbola {
        /// Centre and axes.
        frame: Frame,
        /// Semi-axis, > 0.
        semi: f64,
        /// Imaginary semi-axis, > 0.
        semi_imag: f64,
    },
    /// Rational Bézier pieces joined over increasing parameters.
    Bezier(BezierSpline),
}

/// A point of a curve with its first two derivatives by the parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveDerivs {
    /// Point.
    pub p: P3,
    /// First derivative.
    pub d1: V3,
    /// Second derivative.
    pub d2: V3,
}

impl Curve {
    /// Point at `t`. A Bézier spline extrapolates its end pieces, or wraps when periodic.
    #[must_use]
    pub fn point(&self, t: f64) -> P3 {
        self.derivs(t).p
    }

    /// Point and first two derivatives at `t`.
    #[must_use]
    pub fn derivs(&self, t: f64) -> CurveDerivs {
        let _ = t;
        todo!("helper: shapes")
    }

    /// Unit tangent in the direction of increasing `t`; at a singular point (zero derivative) the limit from
    /// inside the range, `None` if there is none.
    #[must_use]
    pub fn tangent(&self, t: f64) -> Option<V3> {
        let _ = t;
        todo!("helper: shapes")
    }

    /// Parameter period: 2π for circle and ellipse, that of a closed periodic spline, else `None`.
    #[must_use]
    pub fn period(&self) -> Option<f64> {
        todo!("helper: shapes")
    }

    /// Parameters strictly inside `(t0, t1)` where pieces meet (splines only). Every area must lie between two
    /// neighbours of these.
    #[must_use]
    pub fn breaks(&self, t0: f64, t1: f64) -> Vec<f64> {
        let _ = (t0, t1);
        todo!("helper: shapes")
    }

    /// Parameters strictly inside `(t0, t1)` where the tangent direction jumps by more than `angle_tol` radians.
    #[must_use]
    pub fn kinks(&self, t0: f64, t1: f64, angle_tol: f64) -> Vec<f64> {
        let _ = (t0, t1, angle_tol);
        todo!("helper: shapes")
    }

    /// Conservative box around the piece over `[t0, t1]`, tight to rounding for canonical curves.
    #[must_use]
    pub fn bounds(&self, t0: f64, t1: f64) -> Aabb {
        let _ = (t0, t1);
        todo!("helper: shapes")
    }

    /// Conservative cone around all unit tangents over `[t0, t1]`; `None` when they do not fit a half-space.
    #[must_use]
    pub fn tangent_cone(&self, t0: f64, t1: f64) -> Option<RevolutionCone> {
        let _ = (t0, t1);
        todo!("helper: shapes")
    }

    /// A convex hull of points that contains the piece over `[t0, t1]` (segment ends, circumscribed polygon of an
    /// arc, Bézier control points): what oriented boxes are fitted to.
    #[must_use]
    pub fn hull_points(&self, t0: f64, t1: f64) -> Vec<P3> {
        let _ = (t0, t1);
        todo!("helper: shapes")
    }

    /// Parameter in `[t0, t1]` of the curve point nearest to `p` (global over the range, ends included).
    #[must_use]
    pub fn project(&self, p: &P3, t0: f64, t1: f64) -> f64 {
        let _ = (p, t0, t1);
        todo!("helper: shapes")
    }

    /// The curve moved by a pose. The parametrisation stays.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        let _ = pose;
        todo!("helper: shapes")
    }
}
