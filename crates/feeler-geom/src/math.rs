//! All transcendental functions of the workspace.
//!
//! Platform math libraries differ in the last bit; because every call goes through this module (enforced
//! by `.clippy.toml`), a single change makes results portable.
#![expect(
    clippy::disallowed_methods,
    reason = "this module wraps the functions that the lint disallows elsewhere"
)]

use std::f64::consts::TAU;

macro_rules! unary {
    ($($(#[$m:meta])* $name:ident),* $(,)?) => {
        $( $(#[$m])* #[must_use] pub fn $name(x: f64) -> f64 { x.$name() } )*
    };
}

unary! {
    /// Sine of an angle in radians.
    sin,
    /// Cosine of an angle in radians.
    cos,
    /// Tangent of an angle in radians.
    tan,
    /// Inverse tangent (rad), in [-π/2, π/2].
    atan,
    /// Exponential function.
    exp,
    /// Natural logarithm.
    ln,
    /// Hyperbolic sine.
    sinh,
    /// Hyperbolic cosine.
    cosh,
    /// Inverse hyperbolic sine.
    asinh,
}

/// Sine and cosine of an angle in radians.
#[must_use]
pub fn sin_cos(x: f64) -> (f64, f64) {
    x.sin_cos()
}

/// Inverse sine (rad) of the argument clamped to [-1, 1], so that rounding cannot produce a NaN.
#[must_use]
pub fn asin(x: f64) -> f64 {
    x.clamp(-1.0, 1.0).asin()
}

/// Inverse cosine (rad) of the argument clamped to [-1, 1], so that rounding cannot produce a NaN.
#[must_use]
pub fn acos(x: f64) -> f64 {
    x.clamp(-1.0, 1.0).acos()
}

/// Angle (rad) of the vector (x, y), in (-π, π].
#[must_use]
pub fn atan2(y: f64, x: f64) -> f64 {
    y.atan2(x)
}

/// Euclidean length of (x, y) without overflow.
#[must_use]
pub fn hypot(x: f64, y: f64) -> f64 {
    x.hypot(y)
}

/// `x` raised to the integer power `n`.
#[must_use]
pub fn powi(x: f64, n: i32) -> f64 {
    x.powi(n)
}

/// `x` raised to the real power `y`.
#[must_use]
pub fn powf(x: f64, y: f64) -> f64 {
    x.powf(y)
}

/// `x` shifted by whole periods into `[lo, lo + period)`.
#[must_use]
pub fn wrap(x: f64, lo: f64, period: f64) -> f64 {
    let y = x - ((x - lo) / period).floor() * period;
    if y >= lo + period { lo } else { y }
}

/// `x` shifted by whole periods to within half a period of `near`.
#[must_use]
pub fn unwrap_near(x: f64, near: f64, period: f64) -> f64 {
    x + ((near - x) / period).round() * period
}

/// Angle (rad) shifted by whole turns into `[0, 2π)`.
#[must_use]
pub fn turn(x: f64) -> f64 {
    wrap(x, 0.0, TAU)
}
