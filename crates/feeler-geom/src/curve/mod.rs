//! Curves in space.
//!
//! # Source
//! BREP §2.1 (canonical shapes if possible, rational Bézier otherwise); parametrisations of ISO
//! 10303-42.

mod bounds;
mod exact_bezier;
mod project;

pub(crate) use bounds::{arc_polygon, half_space, sinusoid_range};

use crate::CurveDerivs;
use std::f64::consts::TAU;

use crate::bezier::BezierSpline;
use crate::frame::unit;
use crate::{Aabb, Frame, P3, Pose, RevolutionCone, V3, VectorBall, math};

/// A curve with its ISO 10303-42 parametrisation by t (angles in radians). In the formulas, `o`, `x` and
/// `y` are the origin (mm) and the axes of the curve's frame.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Curve {
    /// Line `origin + t dir`, with `dir` of unit length and `t` in mm.
    Line {
        /// Point of the line at `t = 0` (mm).
        origin: P3,
        /// Unit direction of the line.
        dir: V3,
    },
    /// Circle `o + r (cos t x + sin t y)`.
    Circle {
        /// Centre `o` and axes of the circle; `z` is its axis of rotation.
        frame: Frame,
        /// Radius r (mm), > 0.
        radius: f64,
    },
    /// Ellipse `o + a cos t x + b sin t y`.
    Ellipse {
        /// Centre `o` and axes of the ellipse; `z` is normal to its plane.
        frame: Frame,
        /// Semi-axis a along `x` (mm), > 0.
        semi_x: f64,
        /// Semi-axis b along `y` (mm), > 0.
        semi_y: f64,
    },
    /// Parabola `o + f t² x + 2 f t y`.
    Parabola {
        /// Vertex `o`, axis of symmetry `x` and the direction `y` perpendicular to it.
        frame: Frame,
        /// Distance f of the focus from the vertex (mm), > 0.
        focal: f64,
    },
    /// Branch of a hyperbola, `o + a cosh t x + b sinh t y`.
    Hyperbola {
        /// Centre `o` and axes of the hyperbola; its vertex is at `o + a x`.
        frame: Frame,
        /// Semi-axis a along `x` (mm), > 0.
        semi: f64,
        /// Imaginary semi-axis b, along `y` (mm), > 0.
        semi_imag: f64,
    },
    /// Spline of rational Bézier pieces over consecutive parameter ranges.
    Bezier(BezierSpline),
}

impl Curve {
    /// Point at the parameter `t`. The end pieces of a Bézier spline are extrapolated; parameters of a
    /// periodic spline are wrapped into its range.
    #[must_use]
    pub fn point(&self, t: f64) -> P3 {
        self.derivs(t).p
    }

    /// Point, first and second derivative at the parameter `t`.
    #[must_use]
    pub fn derivs(&self, t: f64) -> CurveDerivs {
        match self {
            Self::Line { origin, dir } => CurveDerivs { p: origin + dir * t, d1: *dir, d2: V3::zeros() },
            Self::Circle { frame, radius: r } => {
                let (s, c) = math::sin_cos(t);
                let radial = frame.vector(r * c, r * s, 0.0);
                CurveDerivs { p: frame.origin + radial, d1: frame.vector(-r * s, r * c, 0.0), d2: -radial }
            }
            Self::Ellipse { frame, semi_x: a, semi_y: b } => {
                let (s, c) = math::sin_cos(t);
                let radial = frame.vector(a * c, b * s, 0.0);
                CurveDerivs { p: frame.origin + radial, d1: frame.vector(-a * s, b * c, 0.0), d2: -radial }
            }
            Self::Parabola { frame, focal: f } => CurveDerivs {
                p: frame.point(f * t * t, 2.0 * f * t, 0.0),
                d1: frame.vector(2.0 * f * t, 2.0 * f, 0.0),
                d2: frame.x * (2.0 * f),
            },
            Self::Hyperbola { frame, semi: a, semi_imag: b } => {
                let (ch, sh) = (math::cosh(t), math::sinh(t));
                let d2 = frame.vector(a * ch, b * sh, 0.0);
                CurveDerivs { p: frame.origin + d2, d1: frame.vector(a * sh, b * ch, 0.0), d2 }
            }
            Self::Bezier(spline) => spline.derivs(t),
        }
    }

    /// Ball that contains the third derivatives over `[t0, t1]`. For a spline, it contains those of the
    /// one Bézier piece that contains the middle of the range, extrapolated beyond the ends of the piece.
    #[must_use]
    pub fn third_derivatives(&self, t0: f64, t1: f64) -> VectorBall {
        match self {
            Self::Line { .. } | Self::Parabola { .. } => VectorBall::exact(V3::zeros()),
            Self::Circle { radius, .. } => VectorBall::new(V3::zeros(), *radius).widened(0.0),
            Self::Ellipse { semi_x, semi_y, .. } => {
                VectorBall::new(V3::zeros(), semi_x.max(*semi_y)).widened(0.0)
            }
            Self::Hyperbola { semi, semi_imag, .. } => {
                // cosh and |sinh| are largest at the largest |t|.
                let t = t0.abs().max(t1.abs());
                let (ch, sh) = (math::cosh(t), math::sinh(t));
                VectorBall::new(V3::zeros(), math::hypot(semi * sh, semi_imag * ch)).widened(0.0)
            }
            Self::Bezier(spline) => spline.third_derivatives(t0, t1),
        }
    }

    /// Unit tangent in the direction of increasing `t`; at a singular point (zero derivative) the limit
    /// from inside the range, or `None` if it does not exist.
    #[must_use]
    pub fn tangent(&self, t: f64) -> Option<V3> {
        match self {
            Self::Bezier(spline) => spline.tangent(t),
            _ => self.tangent_of(t, &self.derivs(t)),
        }
    }

    /// Like [`Curve::tangent`], with the derivatives at `t` already computed.
    #[must_use]
    pub fn tangent_of(&self, t: f64, derivs: &CurveDerivs) -> Option<V3> {
        match self {
            Self::Bezier(spline) => spline.tangent_of(t, derivs.d1),
            _ => unit(derivs.d1),
        }
    }

    /// Period of the parameter: 2π for circle and ellipse, the length of the range of a periodic spline,
    /// otherwise `None`.
    #[must_use]
    pub fn period(&self) -> Option<f64> {
        match self {
            Self::Circle { .. } | Self::Ellipse { .. } => Some(TAU),
            Self::Bezier(spline) => spline.period(),
            Self::Line { .. } | Self::Parabola { .. } | Self::Hyperbola { .. } => None,
        }
    }

    /// Parameters strictly inside `(t0, t1)` where the pieces of a spline join; none for other curves.
    /// Every area of a hierarchy must lie between two neighbouring breaks.
    #[must_use]
    pub fn breaks(&self, t0: f64, t1: f64) -> Vec<f64> {
        match self {
            Self::Bezier(spline) => crate::bezier::breaks_inside(&spline.breaks, spline.periodic, t0, t1),
            _ => Vec::new(),
        }
    }

    /// Parameters strictly inside `(t0, t1)` where the tangent direction changes by more than
    /// `angle_tol` radians. Only joints of splines are tested, not cusps inside pieces.
    #[must_use]
    pub fn kinks(&self, t0: f64, t1: f64, angle_tol: f64) -> Vec<f64> {
        match self {
            Self::Bezier(spline) => project::kinks(spline, t0, t1, angle_tol),
            _ => Vec::new(),
        }
    }

    /// Axis-aligned box that contains the curve over `[t0, t1]`. It is tight up to rounding, except for
    /// splines.
    #[must_use]
    pub fn bounds(&self, t0: f64, t1: f64) -> Aabb {
        bounds::bounds(self, t0, t1)
    }

    /// Cone that contains all tangents over `[t0, t1]`; `None` if they do not fit a half-space.
    #[must_use]
    pub fn tangent_cone(&self, t0: f64, t1: f64) -> Option<RevolutionCone> {
        bounds::tangent_cone(self, t0, t1)
    }

    /// Points whose convex hull contains the curve over `[t0, t1]`: the ends of a segment, the vertices
    /// of a polygon around an arc, or Bézier control points. Oriented boxes are fitted to these points.
    #[must_use]
    pub fn hull_points(&self, t0: f64, t1: f64) -> Vec<P3> {
        bounds::hull_points(self, t0, t1)
    }

    /// Parameter in `[t0, t1]` of the curve's point nearest to `p`, which is the global minimum of the
    /// distance over the range, ends included.
    #[must_use]
    pub fn project(&self, p: &P3, t0: f64, t1: f64) -> f64 {
        project::project(self, p, t0, t1)
    }

    /// Length of the curve over `[t0, t1]` (mm) by one seven-point Gauss–Legendre rule per smooth piece,
    /// accurate to about 1e-6 (relative) for regular curves.
    #[must_use]
    pub fn length_estimate(&self, t0: f64, t1: f64) -> f64 {
        project::length_estimate(self, t0, t1)
    }

    /// Length of the curve over `[t0, t1]` (mm) by adaptive quadrature, accurate to 1e-12 (relative), or
    /// less if singular points are near.
    #[must_use]
    pub fn arc_length(&self, t0: f64, t1: f64) -> f64 {
        project::arc_length(self, t0, t1)
    }

    /// The curve moved by a pose, with the same parametrisation.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        match self {
            Self::Line { origin, dir } => Self::Line { origin: pose * origin, dir: pose * dir },
            Self::Circle { frame, radius } => {
                Self::Circle { frame: frame.transformed(pose), radius: *radius }
            }
            Self::Ellipse { frame, semi_x, semi_y } => {
                Self::Ellipse { frame: frame.transformed(pose), semi_x: *semi_x, semi_y: *semi_y }
            }
            Self::Parabola { frame, focal } => {
                Self::Parabola { frame: frame.transformed(pose), focal: *focal }
            }
            Self::Hyperbola { frame, semi, semi_imag } => {
                Self::Hyperbola { frame: frame.transformed(pose), semi: *semi, semi_imag: *semi_imag }
            }
            Self::Bezier(spline) => Self::Bezier(spline.transformed(pose)),
        }
    }

    /// The curve scaled about the origin by `f > 0` (a change of the length unit). The parameter of a
    /// line is scaled too; all others are kept.
    #[must_use]
    pub fn scaled(&self, f: f64) -> Self {
        let scale = |frame: &Frame| Frame { origin: frame.origin * f, ..*frame };
        match self {
            Self::Line { origin, dir } => Self::Line { origin: origin * f, dir: *dir },
            Self::Circle { frame, radius } => Self::Circle { frame: scale(frame), radius: radius * f },
            Self::Ellipse { frame, semi_x, semi_y } => {
                Self::Ellipse { frame: scale(frame), semi_x: semi_x * f, semi_y: semi_y * f }
            }
            Self::Parabola { frame, focal } => Self::Parabola { frame: scale(frame), focal: focal * f },
            Self::Hyperbola { frame, semi, semi_imag } => {
                Self::Hyperbola { frame: scale(frame), semi: semi * f, semi_imag: semi_imag * f }
            }
            Self::Bezier(spline) => Self::Bezier(spline.scaled(f)),
        }
    }
}

#[cfg(test)]
mod tests;
