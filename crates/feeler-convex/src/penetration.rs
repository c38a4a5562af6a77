//! How deep two convex shapes are in each other.
//!
//! # Source
//! The expanding polytope of van den Bergen, named in DIST §2.4.1 (EPA-GJK).
//!
//! # Deviations
//! - The polytope's signs are exact: no facet is degenerate, none has to be dropped or merged.
//! - The polytope need not hold the origin at the start; facets that have it outside come first.
//! - The depth found for round shapes is improved by closest points of the shapes pulled apart: near a minimum these
//!   give the direction to all digits, which facets cannot.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use crate::gjk::{Pair, Simplex, Vertex};
use crate::hull::{GrowingHull, side};
use crate::support::{Support, SupportPoint};
use crate::{Outcome, Request, Start, distance};
use feeler_geom::{P3, V3};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What [`penetration`] is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenetrationRequest {
    /// Largest error of the depth, relative to the depth, to be proven by the bounds.
    pub rel_tol: f64,
    /// Largest error of the depth (mm); enough when either tolerance holds.
    pub abs_tol: f64,
    /// Most support points taken for the polytope. Hulls need as many as the facets near the answer have vertices, round
    /// shapes about 1 / `rel_tol` where the depth is that of a common centre, far fewer elsewhere.
    pub max_iterations: u32,
}

impl Default for PenetrationRequest {
    fn default() -> Self {
        Self { rel_tol: 1e-6, abs_tol: 0.0, max_iterations: 2000 }
    }
}

/// What can be said about the depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The shapes overlap, or touch with a depth of zero: the depth is known to the tolerance.
    Found,
    /// A direction separates the shapes: the depth is zero. For the closest points ask [`distance`].
    Separated,
    /// The bounds are further apart than asked when the steps ran out.
    Stalled,
    /// A support point or a radius was not a number, infinite, or negative: nothing is known.
    Invalid,
}

/// The answer of [`penetration`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penetration {
    /// What is known.
    pub outcome: Depth,
    /// The way B must go along `direction` so that the shapes only touch (mm): never too short, up to rounding.
    pub depth: f64,
    /// Lower bound of the depth (mm), up to rounding.
    pub lower_bound: f64,
    /// Unit vector from A to B.
    pub direction: V3,
    /// The point of A that is deepest in B; `point_a − point_b` is `depth` times `direction`, up to the tolerance.
    pub point_a: P3,
    /// The point of B that is deepest in A.
    pub point_b: P3,
    /// Support points taken.
    pub iterations: u32,
}

/// The smallest translation that separates two shapes in one frame.
#[must_use]
pub fn penetration<A: Support + ?Sized, B: Support + ?Sized>(
    a: &A,
    b: &B,
    request: &PenetrationRequest,
) -> Penetration {
    let pair = Pair { a, b, scale: 1.0 };
    let radii = [a.radius(), b.radius()];
    let nothing = Penetration {
        outcome: Depth::Invalid,
        depth: 0.0,
        lower_bound: 0.0,
        direction: V3::zeros(),
        point_a: a.center(),
        point_b: b.center(),
        iterations: 0,
    };
    let radius = radii[0] + radii[1];
    if !(radii[0] >= 0.0 && radii[1] >= 0.0 && radius.is_finite()) {
        return nothing;
    }
    // With the cores apart the depth is what their distance leaves of the radii.
    let cores = distance(&Core(a), &Core(b), &Request::default());
    let at_surface = |mut p: Penetration| {
        p.point_a += p.direction * radii[0];
        p.point_b -= p.direction * radii[1];
        p
    };
    match cores.outcome {
        Outcome::Invalid => nothing,
        Outcome::Separated | Outcome::Stalled | Outcome::Beyond => {
            let depth = radius - cores.distance;
            let lower = radius - cores.distance;
            at_surface(Penetration {
                outcome: match cores.outcome {
                    _ if radius - cores.lower_bound < 0.0 || depth < 0.0 => Depth::Separated,
                    Outcome::Stalled => Depth::Stalled,
                    _ => Depth::Found,
                },
                depth: depth.max(0.0),
                lower_bound: lower.max(0.0),
                direction: cores.direction,
                point_a: cores.witness.point_a,
                point_b: cores.witness.point_b,
                iterations: cores.iterations,
            })
        }
        Outcome::Touching | Outcome::Overlapping => {
            let mut expansion = Expansion::new(&pair);
            let wanted = Wanted { rel_tol: request.rel_tol, abs_tol: request.abs_tol, radius, enough: None };
            let closed = expansion.run(&wanted, request.max_iterations);
            if !expansion.upper.height.is_finite() {
                return nothing;
            }
            let points = expansion.polish().unwrap_or([cores.witness.point_a, cores.witness.point_b]);
            let depth = expansion.upper.height.max(0.0) + radius;
            at_surface(Penetration {
                outcome: if closed { Depth::Found } else { Depth::Stalled },
                depth,
                lower_bound: (expansion.lower.max(0.0) + radius).min(depth),
                direction: -expansion.upper.normal,
                point_a: points[0],
                point_b: points[1],
                iterations: cores.iterations + expansion.iterations,
            })
        }
    }
}

/// The direction from A to B along which cores that meet are less deep than `touch` (scaled); `None` when they are
/// deeper, or when that is not to be found out.
pub(crate) fn depth_of_contact<A: Support + ?Sized, B: Support + ?Sized>(
    pair: &Pair<'_, A, B>,
    simplex: &Simplex,
    touch: f64,
) -> Option<V3> {
    let mut expansion = Expansion::new(pair);
    // Points that are known already spare a few steps.
    expansion.seeds = simplex.vertices().collect();
    let wanted = Wanted { rel_tol: 0.0, abs_tol: 0.25 * touch, radius: 0.0, enough: Some(touch) };
    expansion.run(&wanted, 500);
    (expansion.upper.height <= touch).then_some(-expansion.upper.normal)
}

/// A shape without its radius.
struct Core<'s, S: ?Sized>(&'s S);

impl<S: Support + ?Sized> Support for Core<'_, S> {
    fn support(&self, direction: &V3) -> SupportPoint {
        self.0.support(direction)
    }
    fn support_near(&self, direction: &V3, start: u32) -> SupportPoint {
        self.0.support_near(direction, start)
    }
    fn center(&self) -> P3 {
        self.0.center()
    }
    fn numbered(&self, index: u32) -> Option<P3> {
        self.0.numbered(index)
    }
}

/// A direction with the height of the difference's support plane: an upper bound of the depth.
#[derive(Clone, Copy)]
struct Plane {
    height: f64,
    /// Outward from the difference B − A, of unit length.
    normal: V3,
}

struct Wanted {
    rel_tol: f64,
    abs_tol: f64,
    /// Part of the depth beside that of the cores.
    radius: f64,
    /// A depth below or above which nothing more is asked.
    enough: Option<f64>,
}

struct Expansion<'s, 'p, A: ?Sized, B: ?Sized> {
    pair: &'s Pair<'p, A, B>,
    seeds: Vec<Vertex>,
    vertices: Vec<Vertex>,
    upper: Plane,
    lower: f64,
    size: f64,
    iterations: u32,
}

/// Heights of facets, ordered as numbers.
#[derive(PartialEq)]
struct Key(f64, u32);
impl Eq for Key {}
impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

impl<'s, 'p, A: Support + ?Sized, B: Support + ?Sized> Expansion<'s, 'p, A, B> {
    fn new(pair: &'s Pair<'p, A, B>) -> Self {
        Self {
            pair,
            seeds: Vec::new(),
            vertices: Vec::new(),
            upper: Plane { height: f64::INFINITY, normal: V3::x() },
            lower: f64::NEG_INFINITY,
            size: 0.0,
            iterations: 0,
        }
    }

    /// The farthest point along a direction, and what it says about the depth.
    fn look(&mut self, normal: V3) -> (Vertex, f64) {
        let vertex = self.pair.take(&-normal);
        self.iterations += 1;
        self.size = self.size.max(vertex.size(self.pair.scale));
        let height = vertex.w.dot(&normal);
        if height < self.upper.height {
            self.upper = Plane { height, normal };
        }
        (vertex, height)
    }

    /// Expands until the bounds are as close as wanted. Ends: every step adds a vertex or retires a facet for good.
    fn run(&mut self, wanted: &Wanted, max_iterations: u32) -> bool {
        let Some(mut hull) = self.first_tetrahedron() else {
            // A flat difference has no interior; what its thickness leaves is rounding.
            self.lower = 0.0;
            return self.upper.height.is_finite();
        };
        let mut open: BinaryHeap<Reverse<Key>> = BinaryHeap::new();
        let push = |hull: &GrowingHull, open: &mut BinaryHeap<Reverse<Key>>, from: usize| {
            for f in from..hull.facets.len() {
                let [a, b, c] = hull.facets[f].v.map(|i| hull.points[i as usize]);
                let height = normal(&a, &b, &c).map_or(f64::INFINITY, |n| n.dot(&a));
                #[expect(clippy::cast_possible_truncation, reason = "a few facets per iteration")]
                open.push(Reverse(Key(height, f as u32)));
            }
        };
        push(&hull, &mut open, 0);
        let mut retired = f64::INFINITY;
        while let Some(Reverse(Key(height, f))) = open.pop() {
            if !hull.facets[f as usize].alive {
                continue;
            }
            // Heights of facets that no point is outside of are final.
            self.lower = height.min(retired);
            let rounding = 8.0 * f64::EPSILON * self.size;
            let allowed =
                |depth: f64| (wanted.rel_tol * (depth + wanted.radius)).max(wanted.abs_tol).max(rounding);
            if self.upper.height - self.lower <= allowed(self.upper.height) {
                return true;
            }
            if wanted.enough.is_some_and(|e| self.lower > e || self.upper.height <= e) {
                return true;
            }
            if self.iterations >= max_iterations {
                return false;
            }
            let v = hull.facets[f as usize].v;
            let [a, b, c] = v.map(|i| hull.points[i as usize]);
            let Some(n) = normal(&a, &b, &c) else { continue };
            let (vertex, reached) = self.look(n);
            if !reached.is_finite() {
                self.upper.height = f64::NAN;
                return false;
            }
            let grown = if hull.sees(f, &vertex.w) && reached - height > rounding {
                let i = hull.push_point(vertex.w);
                self.vertices.push(vertex);
                hull.add(i, f)
            } else {
                retired = retired.min(reached);
                continue;
            };
            let Some(first) = grown else { return false };
            push(&hull, &mut open, first);
        }
        self.lower = self.lower.min(retired);
        true
    }

    /// Four points of the difference with a volume. `None` when it is flat up to rounding; the upper bound is then its
    /// thickness.
    fn first_tetrahedron(&mut self) -> Option<GrowingHull> {
        let mut found = std::mem::take(&mut self.seeds);
        for seed in &found {
            self.size = self.size.max(seed.size(self.pair.scale));
        }
        if found.len() < 4 || side(&found[0].w, &found[1].w, &found[2].w, &found[3].w).abs() == 0.0 {
            found.clear();
            for axis in [V3::x(), V3::y(), V3::z()] {
                let ends = [self.look(axis).0, self.look(-axis).0];
                // The first axis along which the difference is wide enough gives two points.
                if found.is_empty() && (ends[0].w - ends[1].w).amax() > 8.0 * f64::EPSILON * self.size {
                    found.extend(ends);
                }
            }
            let [p, q] = found[..] else { return None };
            let t = (q.w - p.w).normalize();
            let rounding = 8.0 * f64::EPSILON * self.size;
            // Two directions across; a third vertex off the line in one of them.
            let u = t.cross(&V3::ith(t.iamin(), 1.0)).normalize();
            let r = [u, -u, t.cross(&u), u.cross(&t)].into_iter().find_map(|n| {
                let r = self.look(n).0;
                ((r.w - p.w).cross(&t).norm() > rounding).then_some(r)
            })?;
            let n = normal(&p.w, &q.w, &r.w)?;
            let s = [n, -n].into_iter().find_map(|n| {
                let s = self.look(n).0;
                ((s.w - p.w).dot(&n).abs() > rounding).then_some(s)
            })?;
            found.extend([r, s]);
        }
        self.vertices = found;
        GrowingHull::new(self.vertices.iter().map(|v| v.w).collect(), [0, 1, 2, 3])
    }

    /// Improves the upper bound: pulls B out of A along the best direction and a little further; the closest points of
    /// the two then show the normal of the difference near its lowest plane. Returns them, back in place: at the lowest
    /// plane they are the deepest points of both cores.
    fn polish(&mut self) -> Option<[P3; 2]> {
        let mut points = None;
        for _ in 0..64 {
            let Plane { height, normal } = self.upper;
            let rounding = 4.0 * f64::EPSILON * self.size;
            if !(height > rounding) {
                return points;
            }
            let away = -normal * (height * 1.125);
            let pulled = Pulled { shape: self.pair.b, by: away };
            let request =
                Request { start: Start::Direction(-normal), max_iterations: 200, ..Request::default() };
            let answer = distance(&Core(self.pair.a), &pulled, &request);
            if answer.outcome != Outcome::Separated {
                return points;
            }
            let (_, reached) = self.look(-answer.direction);
            // The same plane, up to what rounding makes of the direction of a short distance.
            if reached <= height + 256.0 * rounding {
                points = Some([answer.witness.point_a, answer.witness.point_b - away]);
            }
            if !(reached < height - rounding) {
                return points;
            }
        }
        points
    }
}

/// A shape's core moved by a vector.
pub(crate) struct Pulled<'s, S: ?Sized> {
    pub(crate) shape: &'s S,
    pub(crate) by: V3,
}

impl<S: Support + ?Sized> Support for Pulled<'_, S> {
    fn support(&self, direction: &V3) -> SupportPoint {
        let SupportPoint { point, index } = self.shape.support(direction);
        SupportPoint { point: point + self.by, index }
    }
    fn support_near(&self, direction: &V3, start: u32) -> SupportPoint {
        let SupportPoint { point, index } = self.shape.support_near(direction, start);
        SupportPoint { point: point + self.by, index }
    }
    fn center(&self) -> P3 {
        self.shape.center() + self.by
    }
}

/// Unit normal, counter-clockwise; `None` where rounding leaves none.
fn normal(a: &V3, b: &V3, c: &V3) -> Option<V3> {
    // From the corner between the shorter edges, which has the smallest error.
    let (ab, bc, ca) = (b - a, c - b, a - c);
    let (l, m, n) = (ab.norm_squared(), bc.norm_squared(), ca.norm_squared());
    let cross = if l >= m && l >= n {
        bc.cross(&ca)
    } else if m >= n {
        ca.cross(&ab)
    } else {
        ab.cross(&bc)
    };
    cross.try_normalize(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests;
