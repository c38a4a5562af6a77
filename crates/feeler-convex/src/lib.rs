//! Distance between convex shapes: support mappings, Signed Volumes, GJK, penetration depth, and a broad
//! phase.
//!
//! A shape is defined by its support mapping: the point farthest along a direction. [`distance`]
//! computes the closest points of two shapes, with barycentric weights on the support points they came
//! from. [`penetration()`] computes the penetration depth.
//!
//! [`BroadPhase`] tracks many moving shapes and reports which pairs are near.
//!
//! A pose is applied by wrapping a shape in [`Moved`], which places it in the common frame. This crate
//! depends neither on files nor on solids.

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
    ClosestPoints, DistanceOutcome, DistanceRequest, DistanceResult, SignedVolumes, Start, SubAlgorithm,
    Warm, WitnessVertex, distance, distance_with,
};
pub use penetration::{Penetration, PenetrationOutcome, PenetrationRequest, penetration};
pub use signed_volumes::{Nearest, Newest, Signs, nearest_to_origin, signed_volumes};
pub use support::{
    Affine, Ball, Capsule, Cone, ControlHull, ConvexShapeError, Cuboid, Cylinder, Dilated, Ellipsoid, Hull,
    MinkowskiDifference, Moved, PointSet, PolySuperellipsoid, Polytope, Segment, Sum, Superellipsoid,
    Support, SupportPoint, Tetrahedron, Triangle,
};

use feeler_geom::V3;

/// Returns the binary exponent of a positive finite number; -1023 for subnormal numbers and zero.
fn exponent(x: f64) -> i32 {
    let biased = (x.to_bits() >> 52 & 0x7ff) as i32;
    biased - 1023
}

/// Computes 2ⁿ; n is clamped to −1022 ≤ n ≤ 1023.
fn power_of_two(n: i32) -> f64 {
    #[expect(clippy::cast_sign_loss, reason = "in range")]
    f64::from_bits(((n.clamp(-1022, 1023) + 1023) as u64) << 52)
}

/// Computes v · 2ⁿ in two steps, because a single factor could overflow or underflow.
fn scaled(v: V3, n: i32) -> V3 {
    let half = n / 2;
    v * power_of_two(half) * power_of_two(n - half)
}
