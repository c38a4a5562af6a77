//! Cones of revolution: one axis, one angle.
//!
//! # Source
//! BREP §3.1, Eqs. (3.2) and (3.4).

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use super::min_cap::{min_cap_axis, units};
use crate::frame::{complete_basis, unit};
use crate::{V3, math};
use nalgebra::Matrix3;
use std::f64::consts::PI;

/// All directions within `half_angle` of `axis`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RevolutionCone {
    /// Unit axis.
    pub axis: V3,
    /// Half-angle in [0, π]; π means all directions.
    pub half_angle: f64,
}

/// What every constructed half-angle is enlarged by (rad), far above the rounding of the angles involved.
const ANGLE_SLACK: f64 = 1e-12;

impl RevolutionCone {
    /// All directions.
    #[must_use]
    pub fn all() -> Self {
        Self { axis: V3::z(), half_angle: PI }
    }

    /// The cone of one direction, which need not be of unit length; all directions when it has none.
    #[must_use]
    pub fn of_direction(direction: V3) -> Self {
        unit(direction).map_or_else(Self::all, |axis| Self { axis, half_angle: ANGLE_SLACK })
    }

    /// A cone around directions, which need not be of unit length: the smallest one where they fit an open
    /// half-space, rounded outward. Zero vectors are passed over; when nothing remains, or something is not
    /// finite, all directions. Deterministic.
    #[must_use]
    pub fn around(directions: &[V3]) -> Self {
        units(directions).map_or_else(Self::all, |dirs| Self::around_units(&dirs))
    }

    /// [`RevolutionCone::around`] directions that are of unit length and finite; all directions around none.
    #[must_use]
    pub fn around_units(dirs: &[V3]) -> Self {
        if dirs.is_empty() {
            return Self::all();
        }
        let (axis, (far, chord_sq)) = min_cap_axis(dirs);
        // Chords resolve all angles but those near a half turn, and an arc tangent costs twenty of them.
        let half = if chord_sq < 3.9 {
            angle(&axis, &far)
        } else {
            dirs.iter().fold(0.0, |m: f64, d| m.max(angle(&axis, d)))
        };
        Self { axis, half_angle: (half + ANGLE_SLACK).min(PI) }
    }

    /// Whether every direction is inside (up to rounding). Also true of a cone with numbers that are not
    /// finite.
    #[must_use]
    pub fn is_all(&self) -> bool {
        !(self.half_angle < PI)
    }

    /// Whether a direction (of any length) is inside the cone enlarged by `eps` radians.
    #[must_use]
    pub fn contains(&self, direction: &V3, eps: f64) -> bool {
        self.is_all() || angle(&self.axis, direction) <= self.half_angle + eps
    }

    /// The cone with its half-angle enlarged by `angle` (rad, ≥ 0).
    #[must_use]
    pub fn dilated(&self, angle: f64) -> Self {
        Self { axis: self.axis, half_angle: (self.half_angle + angle).min(PI) }
    }

    /// The cone turned by a rotation.
    #[must_use]
    pub fn rotated(&self, rotation: &Matrix3<f64>) -> Self {
        Self { axis: rotation * self.axis, half_angle: self.half_angle }
    }

    /// The smallest cone around two, rounded outward; all directions where none smaller exists.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        if self.is_all() || other.is_all() {
            return Self::all();
        }
        let between = angle(&self.axis, &other.axis);
        let (wide, narrow) = if self.half_angle >= other.half_angle { (self, other) } else { (other, self) };
        if between + narrow.half_angle + 1e-14 <= wide.half_angle {
            return *wide;
        }
        let half = 0.5 * (between + wide.half_angle + narrow.half_angle);
        if !(half < PI - ANGLE_SLACK) {
            return Self::all();
        }
        // Turn the wide axis towards the narrow one until the far border of the narrow cone is reached.
        let turn = half - wide.half_angle;
        let sideways = unit(narrow.axis - wide.axis * narrow.axis.dot(&wide.axis));
        let e = match sideways {
            // Parallel or opposite axes have no plane in common; any will do.
            Some(e) if between < PI - 1e-7 => e,
            _ => complete_basis(&wide.axis).0,
        };
        let (s, c) = math::sin_cos(turn);
        let Some(axis) = unit(wide.axis * c + e * s) else { return Self::all() };
        // Measured, not derived: the axis may be off for nearly parallel and nearly opposite axes.
        let half = (angle(&axis, &wide.axis) + wide.half_angle)
            .max(angle(&axis, &narrow.axis) + narrow.half_angle)
            + ANGLE_SLACK;
        if half < PI { Self { axis, half_angle: half } } else { Self::all() }
    }

    /// A cone around many, by repeated union; `None` for no cone at all.
    pub fn union_of<'a>(cones: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        cones.into_iter().fold(None, |acc: Option<Self>, c| Some(acc.map_or(*c, |a| a.union(c))))
    }

    /// Whether a direction of one cone may be opposite to a direction of the other after all half-angles
    /// together are enlarged by `slack` (rad, ≥ 0). Both in one frame. `false` is certain.
    #[must_use]
    pub fn may_be_antipodal(&self, other: &Self, slack: f64) -> bool {
        let reach = self.half_angle + other.half_angle + slack + ANGLE_SLACK;
        !(angle(&self.axis, &-other.axis) > reach)
    }

    /// The form for hot loops, enlarged by `dilation` (rad, ≥ 0).
    #[must_use]
    pub fn cap(&self, dilation: f64) -> Cap {
        let half = (self.half_angle + dilation + ANGLE_SLACK).min(PI);
        if !(half < PI) {
            return Cap { axis: self.axis, cos: -1.0, sin: 0.0 };
        }
        let (sin, cos) = math::sin_cos(half);
        Cap { axis: self.axis, cos, sin }
    }
}

/// A cone of revolution with the sine and cosine of its half-angle: the antipodal test without angles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cap {
    /// Unit axis.
    pub axis: V3,
    /// Cosine of the half-angle.
    pub cos: f64,
    /// Sine of the half-angle, ≥ 0.
    pub sin: f64,
}

/// Rounding allowance of the products of a [`Cap`] test.
const COS_SLACK: f64 = 16.0 * f64::EPSILON;

impl Cap {
    /// Whether a direction of `self` may be opposite to one of `other`, given in the same frame. `false` is
    /// certain.
    #[must_use]
    pub fn may_be_antipodal(&self, other: &Self) -> bool {
        self.may_be_antipodal_to(&other.axis, other)
    }

    /// [`Cap::may_be_antipodal`] with the other's axis already turned into this cap's frame.
    #[must_use]
    pub fn may_be_antipodal_to(&self, other_axis: &V3, other: &Self) -> bool {
        // Sine and cosine of the summed half-angles; past π every direction is reached.
        let sin = self.sin * other.cos + self.cos * other.sin;
        let cos = self.cos * other.cos - self.sin * other.sin;
        !(sin > COS_SLACK)
            || (self.cos < 0.0 && other.cos < 0.0)
            || !(-self.axis.dot(other_axis) < cos - COS_SLACK)
    }
}

/// Angle between two vectors of any length, exact to a few roundings everywhere; 0 for a zero vector.
#[must_use]
pub(crate) fn angle(a: &V3, b: &V3) -> f64 {
    math::atan2(a.cross(b).norm(), a.dot(b))
}

#[cfg(feature = "serde")]
crate::record!(RevolutionCone { axis: V3, half_angle: f64 });
