//! How far B has moved in the frame of A, summed over a pair's queries.
//!
//! A culling test that has held with a margin holds for as long as B has moved less than the margin. Ways of points and
//! angles are summed apart: what distance tells does not run out by turning.

use crate::Body;
use feeler_geom::{Obb, P3, Pose, math};

/// A motion of B, or what a test leaves for one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Motion {
    /// Largest way (mm) of a point of B's box.
    pub way: f64,
    /// Angle (rad).
    pub turn: f64,
}

impl Motion {
    /// None at all.
    pub(crate) const ZERO: Self = Self { way: 0.0, turn: 0.0 };
    /// Any motion: nothing depends on it.
    pub(crate) const ANY: Self = Self { way: f64::INFINITY, turn: f64::INFINITY };
    /// Less than none: what has run out.
    pub(crate) const NONE: Self = Self { way: f64::NEG_INFINITY, turn: f64::NEG_INFINITY };

    /// Any turn, but points no farther than this.
    pub(crate) fn of_way(way: f64) -> Self {
        Self { way, ..Self::ANY }
    }

    /// Any way, but no farther round than this.
    pub(crate) fn of_turn(turn: f64) -> Self {
        Self { turn, ..Self::ANY }
    }

    /// Both, one after the other.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self { way: self.way + other.way, turn: self.turn + other.turn }
    }

    /// Whether the way and the turn are both less.
    pub(crate) fn is_within(self, other: Self) -> bool {
        self.way < other.way && self.turn < other.turn
    }
}

/// The summed motion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Odometer {
    last: Option<Pose>,
    corners: Vec<P3>,
    size: f64,
    total: Motion,
}

impl Odometer {
    /// For pairs whose B is `b`.
    pub(crate) fn new(b: &Body) -> Self {
        let corners =
            if b.bounds().is_empty() { Vec::new() } else { Obb::from_aabb(b.bounds()).corners().to_vec() };
        Self { last: None, corners, size: b.size(), total: Motion::ZERO }
    }

    /// Motion so far.
    pub(crate) fn total(&self) -> Motion {
        self.total
    }

    /// Counts from zero again.
    pub(crate) fn restart(&mut self) {
        self.total = Motion::ZERO;
    }

    /// Takes the next relative pose; returns the motion since the last one, infinite at the first.
    pub(crate) fn advance(&mut self, pose_ab: &Pose) -> Motion {
        let step = self.last.map_or(Motion::ANY, |last| {
            // The way of a point is a convex function of the point: largest at a corner.
            let way = self.corners.iter().map(|p| (pose_ab * p - last * p).norm()).fold(0.0, f64::max);
            let scale = pose_ab.translation.vector.norm() + 2.0 * self.size;
            let turn = last.rotation.rotation_to(&pose_ab.rotation);
            // Not the arc cosine, which loses small angles.
            let angle = 2.0 * math::atan2(turn.imag().norm(), turn.w.abs());
            Motion { way: way + 16.0 * f64::EPSILON * scale, turn: angle + 16.0 * f64::EPSILON }
        });
        self.last = Some(*pose_ab);
        if step.is_within(Motion::ANY) {
            self.total = self.total.plus(step);
        }
        step
    }
}
