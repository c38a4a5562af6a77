//! Canonical features as envelopes of oriented spheres, with closed forms for their critical distances.
//!
//! A sphere, cylinder, cone or torus is the envelope of spheres of signed radius `σ(t)` whose centres `c(t)`
//! lie on a point, a line or a circle; edges and vertices are the case `σ = 0`. With `n` the outward normal
//! of A at its footpoint, `p_a = c_a + σ_a n` and `p_b = c_b - σ_b n`, so that a pair is critical when
//!
//! ```text
//! w := c_b - c_a = h n,   h = d + σ_a + σ_b,   n·c_a' = -σ_a',   n·c_b' = +σ_b'.
//! ```
//!
//! Each submodule solves these equations for one pair of skeletons. Both signs of `h` are solutions, and
//! so is `h = 0`, where the skeletons intersect (crossing or coaxial axes). Each isolated pair is
//! refined by Newton steps: either in the skeletons' parameters and `n` (`solve.rs`), which stay regular
//! at `d = 0` and at `h = 0`, or in one angle where the skeletons are well apart. Pairs of a circle
//! outside the range are not refined if all solutions are proven to be simple (`simple.rs`) or their
//! number is known to be the minimum (`around.rs`).
//!
//! # Source
//! MATH §3; BREP §4.3.1, Table 4.1.
//!
//! # Deviations
//! One formulation replaces BREP's separate function for each cell of the table. Line–circle pairs with
//! slope and circle–circle pairs use the real roots of a trigonometric polynomial, where BREP iterates.
//!
//! # Degenerate input
//! Parallel, coaxial, concentric and tangent skeletons set [`Criticals::family`]. For a vertex that
//! touches a vertex or an edge, and for two edges that touch along a line, every unit vector orthogonal
//! to the tangents is a normal. One of them is returned; a caller that needs a normal inside given
//! polars must choose it.

mod around;
mod circle_circle;
mod family;
mod line_circle;
mod line_line;
mod over_box;
mod plane_any;
mod point_any;
mod signed_distance;
mod simple;
mod solve;

#[cfg(test)]
mod tests;

use crate::{Curve, Frame, P3, Pose, Surface, V3, math};
use arrayvec::ArrayVec;

pub use family::family_foot;
pub use over_box::{
    gradient_over_ball, range_over_box, signed_distance_gradient, signed_distance_value,
    signed_distance_with_clear_radius,
};
pub use signed_distance::{
    Bending, SignedDistance, SignedDistanceForm, signed_distance, signed_distance_form,
    signed_distance_within,
};

/// A canonical feature with the material on a known side: a plane, or an envelope of oriented spheres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Primitive {
    /// Plane through `origin` with outward unit `normal`.
    Plane {
        /// A point of the plane (mm).
        origin: P3,
        /// Outward unit normal of the plane.
        normal: V3,
    },
    /// Sphere of signed radius `sigma`, or a vertex if `sigma` is 0.
    Point {
        /// Centre of the sphere, or the vertex.
        center: P3,
        /// Signed radius (mm): positive if the material is inside the sphere, negative if it is outside.
        sigma: f64,
    },
    /// Cylinder, cone or straight edge: spheres at `origin + t dir` with radius `sigma + slope t`. A
    /// cone has its apex at `origin`, `sigma` = 0 and `slope` = ± sin(half-angle), unless
    /// [`Primitive::rebased`] has moved the origin.
    Line {
        /// Point on the axis.
        origin: P3,
        /// Unit direction of the axis.
        dir: V3,
        /// Signed radius (mm) at `origin`: positive if the material is inside the spheres.
        sigma: f64,
        /// Change of the signed radius per mm along `dir`, in (-1, 1); 0 for a cylinder or an edge. A
        /// cone consists only of the nappe on which the radius has the sign of the slope.
        slope: f64,
    },
    /// Torus or circular edge: spheres of signed radius `sigma` around the circle.
    Circle {
        /// Centre and axes of the circle.
        frame: Frame,
        /// Radius of the circle (mm), negative for the inner sheet of a spindle torus. A point of the
        /// inner sheet belongs to the sphere whose centre is on the opposite side of the axis.
        radius: f64,
        /// Signed radius of the tube (mm): positive if the material is inside the tube; 0 for an edge.
        sigma: f64,
    },
}

/// A critical pair of two primitives A and B, in their common frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Critical {
    /// Footpoint on primitive A (mm).
    pub p_a: P3,
    /// Footpoint on primitive B (mm).
    pub p_b: P3,
    /// Unit normal: A's outward normal at `p_a` and the opposite of B's at `p_b`. It points from A to B
    /// at positive distances, and is defined at distance 0, too.
    pub n: V3,
    /// Signed distance `(p_b - p_a)·n` of the two primitives at the pair (mm); negative where they
    /// overlap.
    pub distance: f64,
}

impl Critical {
    /// Returns the pair with A and B exchanged.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { p_a: self.p_b, p_b: self.p_a, n: -self.n, distance: self.distance }
    }
}

/// Dimension of a continuous family of critical pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// A curve of pairs (parallel cylinders, a cylinder on a plane, a coaxial torus and cylinder …).
    One,
    /// A surface of pairs (coaxial cylinders, parallel planes …).
    Two,
}

/// All critical pairs of two primitives: pairs of surface points, one on each, whose connection is normal to
/// both surfaces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Criticals {
    /// Isolated pairs with a distance in the requested range, by increasing distance.
    pub isolated: ArrayVec<Critical, 16>,
    /// Dimension of the continuous family of critical pairs with distances in the range; `None` if the
    /// primitives have no family. A family is exact up to the tolerance of the query. [`family_foot`]
    /// returns members of the family.
    pub family: Option<Family>,
}

impl Primitive {
    /// Returns the primitive of a canonical surface with the given orientation, or `None` for a Bézier
    /// grid. A spindle torus yields its outer sheet; use [`Primitive::of_face`] for either sheet.
    #[must_use]
    pub fn of_surface(surface: &Surface, outward: bool) -> Option<Self> {
        let sign = if outward { 1.0 } else { -1.0 };
        Some(match *surface {
            Surface::Plane { frame } => Self::Plane { origin: frame.origin, normal: frame.z * sign },
            Surface::Cylinder { frame, radius } => {
                Self::Line { origin: frame.origin, dir: frame.z, sigma: sign * radius, slope: 0.0 }
            }
            Surface::Cone { frame, half_angle } => Self::Line {
                origin: frame.origin,
                dir: frame.z,
                sigma: 0.0,
                slope: sign * math::sin(half_angle),
            },
            Surface::Sphere { frame, radius } => Self::Point { center: frame.origin, sigma: sign * radius },
            Surface::Torus { frame, major, minor } => {
                Self::Circle { frame, radius: major, sigma: sign * minor }
            }
            Surface::Bezier(_) => return None,
        })
    }

    /// Like [`Primitive::of_surface`], for a face that may lie on the inner sheet of a spindle torus
    /// ([`on_inner_sheet`](crate::trim::on_inner_sheet)). On that sheet, where `R + r cos v` is
    /// negative, the natural normal points to the tube's circle, and both radii change sign.
    #[must_use]
    pub fn of_face(surface: &Surface, outward: bool, on_inner_sheet: bool) -> Option<Self> {
        let primitive = Self::of_surface(surface, outward != on_inner_sheet)?;
        Some(match primitive {
            Self::Circle { frame, radius, sigma } if on_inner_sheet => {
                Self::Circle { frame, radius: -radius, sigma }
            }
            other => other,
        })
    }

    /// Returns the primitive of a straight or circular curve; `None` for other curves.
    #[must_use]
    pub fn of_curve(curve: &Curve) -> Option<Self> {
        match *curve {
            Curve::Line { origin, dir } => Some(Self::Line { origin, dir, sigma: 0.0, slope: 0.0 }),
            Curve::Circle { frame, radius } => Some(Self::Circle { frame, radius, sigma: 0.0 }),
            _ => None,
        }
    }

    /// Returns the primitive of a vertex at `p`.
    #[must_use]
    pub fn of_point(p: P3) -> Self {
        Self::Point { center: p, sigma: 0.0 }
    }

    /// Returns the primitive with a line's origin moved to the point of its axis nearest to `p`.
    /// [`critical_pairs`] measures near-degenerate poses around the origins of lines, so this function
    /// must be called if the feature is far from the origin of its axis (for a slim cone, the apex).
    #[must_use]
    pub fn rebased(self, p: &P3) -> Self {
        match self {
            Self::Line { origin, dir, sigma, slope } => {
                let t = (p - origin).dot(&dir);
                Self::Line { origin: origin + dir * t, dir, sigma: sigma + slope * t, slope }
            }
            other => other,
        }
    }

    /// Returns the primitive transformed by a pose.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        match *self {
            Self::Plane { origin, normal } => Self::Plane { origin: pose * origin, normal: pose * normal },
            Self::Point { center, sigma } => Self::Point { center: pose * center, sigma },
            Self::Line { origin, dir, sigma, slope } => {
                Self::Line { origin: pose * origin, dir: pose * dir, sigma, slope }
            }
            Self::Circle { frame, radius, sigma } => {
                Self::Circle { frame: frame.transformed(pose), radius, sigma }
            }
        }
    }

    /// Largest magnitude (mm) of the coordinates and radii of the primitive; rounding errors are
    /// relative to it.
    #[must_use]
    pub fn reach(&self) -> f64 {
        match *self {
            Self::Plane { origin, .. } => origin.coords.amax(),
            Self::Point { center, sigma } => center.coords.amax() + sigma.abs(),
            Self::Line { origin, sigma, .. } => origin.coords.amax() + sigma.abs(),
            Self::Circle { frame, radius, sigma } => frame.origin.coords.amax() + radius.abs() + sigma.abs(),
        }
    }

    /// Returns the primitive with the same spheres and a positive radius for a circle of negative
    /// radius, and `None` for all other primitives.
    fn with_both_sheets(&self) -> Option<Self> {
        match *self {
            Self::Circle { frame, radius, sigma } if radius < 0.0 => {
                Some(Self::Circle { frame, radius: -radius, sigma })
            }
            _ => None,
        }
    }

    /// Returns the signed radius of the spheres (mm): at the origin for a line, and 0 for a plane.
    fn sigma(&self) -> f64 {
        match *self {
            Self::Plane { .. } => 0.0,
            Self::Point { sigma, .. } | Self::Line { sigma, .. } | Self::Circle { sigma, .. } => sigma,
        }
    }

    /// Returns the rank of the kind of primitive. Pairs are ordered by rank, so that each unordered pair
    /// of kinds needs one solver only.
    fn kind(&self) -> u8 {
        match self {
            Self::Plane { .. } => 0,
            Self::Point { .. } => 1,
            Self::Line { .. } => 2,
            Self::Circle { .. } => 3,
        }
    }
}

/// Returns all critical pairs (minima, saddles and maxima) of two primitives in a common frame with
/// signed distances in `[-tol, d_max]` (mm). `p_a` lies on A with outward normal `n`, `p_b` on B with
/// outward normal `-n`, and `p_b - p_a = distance n`, all up to rounding relative to the sizes of the
/// primitives. On an edge `n` is only required to be orthogonal to the tangent; at a vertex it is free.
/// For a spindle torus, pairs on both sheets are returned.
///
/// `extent` (mm) is the size of the features, which lie within about `extent` of the origins of their
/// lines. A near-degenerate pose counts as a [`Family`] if the distance along the nearby exact family
/// varies by less than `tol` mm over `extent`. Isolated pairs of a near-degenerate pose are returned as
/// well; they are samples of the family.
#[must_use]
pub fn critical_pairs(a: &Primitive, b: &Primitive, d_max: f64, tol: f64, extent: f64) -> Criticals {
    critical_pairs_between(a, b, [-tol, d_max], tol, extent)
}

/// Like [`critical_pairs`], for signed distances in `range` (minimum and maximum, mm). A negative
/// distance is minus a penetration depth.
#[must_use]
pub fn critical_pairs_between(
    a: &Primitive,
    b: &Primitive,
    range: [f64; 2],
    tol: f64,
    extent: f64,
) -> Criticals {
    let mut out = Criticals::default();
    collect_critical_pairs(a, b, range, (tol, extent), &mut out);
    out
}

/// Like [`critical_pairs_between`], but writes to `out`, which is cleared first. This avoids copying the
/// large result.
pub fn collect_critical_pairs(
    a: &Primitive,
    b: &Primitive,
    range: [f64; 2],
    (tol, extent): (f64, f64),
    out: &mut Criticals,
) {
    out.isolated.clear();
    out.family = None;
    // The spheres touch both sheets of a spindle torus, and the equations hold on both.
    let both = [a, b].map(Primitive::with_both_sheets);
    let (a, b) = (both[0].as_ref().unwrap_or(a), both[1].as_ref().unwrap_or(b));
    let mirrored = match (a, b) {
        // Critical points are well separated along the smaller circle, but may cluster along the larger
        // one.
        (Primitive::Circle { radius: r, .. }, Primitive::Circle { radius: q, .. }) => r < q,
        _ => a.kind() > b.kind(),
    };
    let (first, second) = if mirrored { (b, a) } else { (a, b) };
    let mut job = solve::Job::new(first, second, range, tol, extent, out);
    match (first, second) {
        (Primitive::Plane { origin, normal }, other) => {
            plane_any::solve(&mut job, *origin, *normal, other);
        }
        (Primitive::Point { center, sigma }, other) => point_any::solve(&mut job, center, *sigma, other),
        (Primitive::Line { .. }, Primitive::Line { .. }) => line_line::solve(&mut job),
        (Primitive::Line { .. }, _) => line_circle::solve(&mut job),
        _ => circle_circle::solve(&mut job),
    }
    if mirrored {
        for c in &mut out.isolated {
            *c = c.swapped();
        }
    }
    out.isolated.sort_by(|x, y| x.distance.total_cmp(&y.distance));
}
