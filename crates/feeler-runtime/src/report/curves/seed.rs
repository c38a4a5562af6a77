//! Where a crossing curve is met first.

use feeler_geom::{P2, P3, V3};

/// A point of a crossing curve, frame of A.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seed {
    pub p: P3,
    /// A trim passes here.
    pub at_edge: bool,
    /// Unit tangent of the curve, in either sense.
    pub t: V3,
    /// Sine of the angle between the surfaces.
    pub sine: f64,
    /// Parameters where they are known, else the origin.
    pub uv: [P2; 2],
}

impl Seed {
    /// Whether another one is in the same place, or on the same curve nearby: in the direction of both
    /// tangents.
    pub(super) fn stands_for(&self, other: &Self, same: f64, nearby: f64) -> bool {
        let d = other.p - self.p;
        let length = d.norm();
        if length <= same {
            return self.at_edge || !other.at_edge;
        }
        !other.at_edge
            && length <= nearby
            && self.t.cross(&d).norm() <= 0.1 * length
            && other.t.cross(&d).norm() <= 0.1 * length
    }
}
