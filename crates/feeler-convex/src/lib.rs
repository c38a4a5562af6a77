//! Distance between convex shapes: support mappings, Signed Volumes, GJK, penetration depth, and which of
//! many are near.
//!
//! A shape is what its support mapping says: the point farthest along a direction. [`distance`] finds the
//! closest points of two shapes, with barycentric weights on the points they came from; [`penetration()`] how
//! deep one is in the other.
//!
//! [`BroadPhase`] follows many moving shapes and tells which pairs are near.
//!
//! Poses are shapes too: [`Moved`] brings a shape into the common frame. This crate knows no files and no
//! solids.

mod broad_phase;
mod double_double;
mod expansion;
mod gjk;
mod hull;
mod penetration;
#[cfg(any(test, feature = "reference"))]
pub mod reference;
mod signed_volumes;
mod simplex;
mod support;
mod types;

pub use broad_phase::{BroadPhase, BroadPhaseCounts, BroadPhaseError, BroadPhaseRequest};
pub use gjk::{
    Answer, Outcome, Request, SignedVolumes, Start, SubAlgorithm, Warm, Witness, WitnessVertex, distance,
    distance_with,
};
pub use penetration::{Depth, Penetration, PenetrationRequest, penetration};
pub use signed_volumes::{Nearest, Newest, Signs, nearest_to_origin, signed_volumes};
pub use support::{
    Affine, Ball, Capsule, Cone, ControlHull, Cuboid, Cylinder, Difference, Dilated, Ellipsoid, Hull, Moved,
    PointSet, PolySuperellipsoid, Polytope, Segment, ShapeError, Sum, Superellipsoid, Support, SupportPoint,
    Tetrahedron, Triangle,
};

use feeler_geom::V3;

/// The power of two below a positive finite number; -1023 for the smallest ones and zero.
fn exponent(x: f64) -> i32 {
    let biased = (x.to_bits() >> 52 & 0x7ff) as i32;
    biased - 1023
}

/// 2ⁿ for −1022 ≤ n ≤ 1023.
fn power_of_two(n: i32) -> f64 {
    #[expect(clippy::cast_sign_loss, reason = "in range")]
    f64::from_bits(((n.clamp(-1022, 1023) + 1023) as u64) << 52)
}

/// v · 2ⁿ, in two steps: one factor alone may be out of range.
fn scaled(v: V3, n: i32) -> V3 {
    let half = n / 2;
    v * power_of_two(half) * power_of_two(n - half)
}
