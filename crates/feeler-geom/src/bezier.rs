//! Rational Bézier curves and patches in homogeneous coordinates, and their piecewise compositions.

use nalgebra::Vector4;

/// A homogeneous control point `(w x, w y, w z, w)`, `w > 0`.
pub type H4 = Vector4<f64>;

/// Rational Bézier pieces over `[breaks[i], breaks[i+1]]`, all of one degree.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BezierSpline {
    /// Degree, 1 ..= [`MAX_DEGREE`].
    pub degree: u32,
    /// Increasing parameters, one more than there are pieces.
    pub breaks: Vec<f64>,
    /// `(degree + 1)` control points a piece, piece after piece.
    pub control: Vec<H4>,
    /// The end meets the start with a common tangent, and parameters may wrap.
    pub periodic: bool,
}

/// A grid of rational Bézier patches over `[u_breaks[i], u_breaks[i+1]] × [v_breaks[j], v_breaks[j+1]]`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BezierSurface {
    /// Degree in u.
    pub u_degree: u32,
    /// Degree in v.
    pub v_degree: u32,
    /// Increasing parameters in u.
    pub u_breaks: Vec<f64>,
    /// Increasing parameters in v.
    pub v_breaks: Vec<f64>,
    /// Patch (i, j) starts at `(i * n_v + j) * (u_degree + 1) * (v_degree + 1)`, with `n_v` patches along v; within
    /// a patch control point (a, b) is at `a * (v_degree + 1) + b`.
    pub control: Vec<H4>,
    /// The two u sides coincide with common tangent planes, and u may wrap.
    pub u_periodic: bool,
    /// As `u_periodic`, for v.
    pub v_periodic: bool,
}

/// Largest supported degree (ISO files rarely pass 11; revolved splines double).
pub const MAX_DEGREE: u32 = 25;
