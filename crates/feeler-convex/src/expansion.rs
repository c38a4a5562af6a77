//! How deep the cores of two shapes are in each other: a hull of points of their difference, expanded where
//! it is nearest to the origin.
//!
//! # Source
//! G. van den Bergen, *Proximity queries and penetration depth computation on 3D game objects*, 2001.

use crate::hull::{GrowingHull, side};
use crate::simplex::{Pair, Simplex, Vertex};
use crate::support::{Support, SupportPoint};
use feeler_geom::{P3, V3};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The direction from A to B along which cores that meet are less deep than `touch` (scaled); `None` when
/// they are deeper, or when that is not to be found out.
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

/// A direction with the height of the difference's support plane: an upper bound of the depth.
#[derive(Clone, Copy)]
pub(crate) struct Plane {
    pub height: f64,
    /// Outward from the difference B − A, of unit length.
    pub normal: V3,
}

pub(crate) struct Wanted {
    pub rel_tol: f64,
    pub abs_tol: f64,
    /// Part of the depth beside that of the cores.
    pub radius: f64,
    /// A depth below or above which nothing more is asked.
    pub enough: Option<f64>,
}

pub(crate) struct Expansion<'s, 'p, A: ?Sized, B: ?Sized> {
    pub pair: &'s Pair<'p, A, B>,
    pub seeds: Vec<Vertex>,
    pub vertices: Vec<Vertex>,
    pub upper: Plane,
    pub lower: f64,
    pub size: f64,
    pub iterations: u32,
}

/// Heights of facets, ordered as numbers.
struct Key(f64, u32);

feeler_geom::ordered_by!(Key, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));

impl<'s, 'p, A: Support + ?Sized, B: Support + ?Sized> Expansion<'s, 'p, A, B> {
    pub(crate) fn new(pair: &'s Pair<'p, A, B>) -> Self {
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
    pub(crate) fn look(&mut self, normal: V3) -> (Vertex, f64) {
        let vertex = self.pair.take(&-normal);
        self.iterations += 1;
        self.size = self.size.max(vertex.size(self.pair.scale));
        let height = vertex.w.dot(&normal);
        if height < self.upper.height {
            self.upper = Plane { height, normal };
        }
        (vertex, height)
    }

    /// Expands until the bounds are as close as wanted. Ends: every step adds a vertex or retires a facet for
    /// good.
    pub(crate) fn run(&mut self, wanted: &Wanted, max_iterations: u32) -> bool {
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

    /// Four points of the difference with a volume. `None` when it is flat up to rounding; the upper bound is
    /// then its thickness.
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
pub(crate) fn normal(a: &V3, b: &V3, c: &V3) -> Option<V3> {
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
