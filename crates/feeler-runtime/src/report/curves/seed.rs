//! Points from which crossing curves are traced.

use feeler_geom::{P2, P3, V3};

/// A point of a crossing curve in the frame of A.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seed {
    pub p: P3,
    /// Whether an edge of one face passes through the other face at this point.
    pub at_edge: bool,
    /// Unit tangent of the curve at this point, in one of its two directions.
    pub t: V3,
    /// Sine of the angle between the two surfaces at this point.
    pub sine: f64,
    /// Parameters of this point on the surfaces of A and B; (0, 0) if they are not known.
    pub uv: [P2; 2],
}

impl Seed {
    /// Whether this seed makes the seed `other` superfluous. It does if they are the same point up to
    /// `same` (mm), unless only `other` is at an edge. It also does if `other` is not at an edge, is at
    /// most `nearby` (mm) away, and the connection of the two seeds is nearly parallel to both tangents.
    pub(super) fn replaces(&self, other: &Self, same: f64, nearby: f64) -> bool {
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
