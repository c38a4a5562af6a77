//! How far B has moved in the frame of A, summed over a pair's queries.
//!
//! A culling test that has held with a margin holds for as long as B has moved less than the margin. Summed motion is one
//! number: the largest way of a point of B's box plus an arm times the angle turned, so that margins of distances and of
//! angles can be told from it alike.

use crate::Body;
use feeler_geom::{Obb, P3, Pose, math};

/// The summed motion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Odometer {
    last: Option<Pose>,
    corners: Vec<P3>,
    arm: f64,
    total: f64,
}

impl Odometer {
    /// For pairs whose B is `b`; an angle of one radian counts `min_arm` (mm) or more.
    pub(crate) fn new(b: &Body, min_arm: f64) -> Self {
        let corners =
            if b.bounds().is_empty() { Vec::new() } else { Obb::from_aabb(b.bounds()).corners().to_vec() };
        Self { last: None, corners, arm: min_arm.max(0.5 * b.size()), total: 0.0 }
    }

    /// Motion so far (mm).
    pub(crate) fn total(&self) -> f64 {
        self.total
    }

    /// Counts from zero again.
    pub(crate) fn restart(&mut self) {
        self.total = 0.0;
    }

    /// Takes the next relative pose; returns the motion (mm) since the last one, infinite at the first.
    pub(crate) fn advance(&mut self, pose_ab: &Pose) -> f64 {
        let step = self.last.map_or(f64::INFINITY, |last| {
            // The way of a point is a convex function of the point: largest at a corner.
            let way = self.corners.iter().map(|p| (pose_ab * p - last * p).norm()).fold(0.0, f64::max);
            let scale = pose_ab.translation.vector.norm() + 2.0 * self.arm;
            let turn = last.rotation.rotation_to(&pose_ab.rotation);
            // Not the arc cosine, which loses small angles.
            let angle = 2.0 * math::atan2(turn.imag().norm(), turn.w.abs());
            way + self.arm * angle + 16.0 * f64::EPSILON * scale
        });
        self.last = Some(*pose_ab);
        if step.is_finite() {
            self.total += step;
        }
        step
    }
}
