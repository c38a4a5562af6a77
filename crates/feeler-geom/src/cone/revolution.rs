//! Cones of revolution, given by an axis and a half-angle.
//!
//! # Source
//! BREP §3.1, Eqs. (3.2) and (3.4).

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the conservative branch")]

use super::min_cap::{min_cap_axis, units};
use crate::frame::{complete_basis, unit};
use crate::{V3, math};
use nalgebra::Matrix3;
use std::f64::consts::PI;

/// All directions within `half_angle` of `axis`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RevolutionCone {
    /// Unit axis of the cone.
    pub axis: V3,
    /// Half-angle (rad) in [0, π]; π means all directions.
    pub half_angle: f64,
}

/// Angle (rad) by which every constructed half-angle is enlarged, far above the rounding of the angles
/// involved. A larger value loosens cones; with a smaller one directions could lie outside.
const ANGLE_SLACK: f64 = 1e-12;

impl RevolutionCone {
    /// The cone of all directions.
    #[must_use]
    pub fn all() -> Self {
        Self { axis: V3::z(), half_angle: PI }
    }

    /// Cone around a single direction of any length; the cone of all directions for the zero vector.
    #[must_use]
    pub fn of_direction(direction: V3) -> Self {
        unit(direction).map_or_else(Self::all, |axis| Self { axis, half_angle: ANGLE_SLACK })
    }

    /// Cone around directions of any length, rounded outward. It is the smallest one if the directions
    /// fit an open half-space. Zero vectors are ignored; if no vector remains or one is not finite, the
    /// cone contains all directions. The result is deterministic.
    #[must_use]
    pub fn around(directions: &[V3]) -> Self {
        units(directions).map_or_else(Self::all, |dirs| Self::around_units(&dirs))
    }

    /// Like [`RevolutionCone::around`], for finite directions of unit length; all directions if `dirs`
    /// is empty.
    #[must_use]
    pub fn around_units(dirs: &[V3]) -> Self {
        if dirs.is_empty() {
            return Self::all();
        }
        let (axis, (far, chord_sq)) = min_cap_axis(dirs);
        // Chords resolve all angles except those near a half turn, and an arc tangent costs as much as
        // twenty chords.
        let half = if chord_sq < 3.9 {
            angle(&axis, &far)
        } else {
            dirs.iter().fold(0.0, |m: f64, d| m.max(angle(&axis, d)))
        };
        Self { axis, half_angle: (half + ANGLE_SLACK).min(PI) }
    }

    /// Whether the cone contains all directions, up to rounding. `true` also for a half-angle that is
    /// NaN.
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

    /// The cone rotated by a rotation matrix.
    #[must_use]
    pub fn rotated(&self, rotation: &Matrix3<f64>) -> Self {
        Self { axis: rotation * self.axis, half_angle: self.half_angle }
    }

    /// Smallest cone around both cones, rounded outward; the cone of all directions if no smaller one
    /// exists.
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
            // Parallel or opposite axes do not span a plane, so any plane is used.
            Some(e) if between < PI - 1e-7 => e,
            _ => complete_basis(&wide.axis).0,
        };
        let (s, c) = math::sin_cos(turn);
        let Some(axis) = unit(wide.axis * c + e * s) else { return Self::all() };
        // The half-angle is measured again, because the axis is inaccurate for nearly parallel and
        // nearly opposite axes.
        let half = (angle(&axis, &wide.axis) + wide.half_angle)
            .max(angle(&axis, &narrow.axis) + narrow.half_angle)
            + ANGLE_SLACK;
        if half < PI { Self { axis, half_angle: half } } else { Self::all() }
    }

    /// Cone around several cones, by repeated union; `None` if `cones` is empty.
    pub fn union_of<'a>(cones: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        cones.into_iter().fold(None, |acc: Option<Self>, c| Some(acc.map_or(*c, |a| a.union(c))))
    }

    /// Whether a direction of one cone may be opposite to a direction of the other cone if the sum of
    /// their half-angles is enlarged by `slack` (rad, ≥ 0). Both cones are given in one frame. The
    /// result `false` is proven.
    #[must_use]
    pub fn may_be_antipodal(&self, other: &Self, slack: f64) -> bool {
        let reach = self.half_angle + other.half_angle + slack + ANGLE_SLACK;
        !(angle(&self.axis, &-other.axis) > reach)
    }

    /// Converts the cone, enlarged by `dilation` (rad, ≥ 0), to the form for inner loops.
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

/// A cone of revolution with the sine and cosine of its half-angle, so that tests for opposite
/// directions need no trigonometric functions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cap {
    /// Unit axis of the cone.
    pub axis: V3,
    /// Cosine of the half-angle.
    pub cos: f64,
    /// Sine of the half-angle, ≥ 0.
    pub sin: f64,
}

/// Allowance for the rounding of the cosines in [`Cap::may_be_antipodal`]. A larger value culls less; a
/// smaller one could cull cones with opposite directions.
const COS_SLACK: f64 = 16.0 * f64::EPSILON;

impl Cap {
    /// Whether a direction of `self` may be opposite to a direction of `other`; both are given in the
    /// same frame. The result `false` is proven.
    #[must_use]
    pub fn may_be_antipodal(&self, other: &Self) -> bool {
        self.may_be_antipodal_to(&other.axis, other)
    }

    /// Like [`Cap::may_be_antipodal`], where `other_axis` is the axis of `other`, rotated into the frame
    /// of `self`.
    #[must_use]
    pub fn may_be_antipodal_to(&self, other_axis: &V3, other: &Self) -> bool {
        // Sine and cosine of the sum of the half-angles; beyond π all directions are reached.
        let sin = self.sin * other.cos + self.cos * other.sin;
        let cos = self.cos * other.cos - self.sin * other.sin;
        !(sin > COS_SLACK)
            || (self.cos < 0.0 && other.cos < 0.0)
            || !(-self.axis.dot(other_axis) < cos - COS_SLACK)
    }
}

/// Angle (rad) between two vectors of any length, accurate to a few roundings at all angles; 0 for a
/// zero vector.
#[must_use]
pub(crate) fn angle(a: &V3, b: &V3) -> f64 {
    math::atan2(a.cross(b).norm(), a.dot(b))
}

#[cfg(feature = "serde")]
crate::record!(RevolutionCone { axis: V3, half_angle: f64 });
