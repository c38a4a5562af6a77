//! Penetration depth of the cores of two shapes (the shapes without their radii): a polytope of points
//! of their difference B − A is expanded at its facet nearest to the origin.
//!
//! # Source
//! G. van den Bergen, *Proximity queries and penetration depth computation on 3D game objects*, 2001.

use crate::hull::{GrowingHull, side};
use crate::simplex::{Pair, Simplex, Vertex};
use crate::support::{Support, SupportPoint};
use feeler_geom::{P3, V3};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Returns a unit direction, from A to B, along which intersecting cores penetrate each other by at most
/// `touch` (scaled by [`Pair::scale`]). Returns `None` if their depth is larger or cannot be determined.
/// `simplex` contains points of the difference B − A of the cores with which the polytope starts.
pub(crate) fn depth_of_contact<A: Support + ?Sized, B: Support + ?Sized>(
    pair: &Pair<'_, A, B>,
    simplex: &Simplex,
    touch: f64,
) -> Option<V3> {
    let mut expansion = Expansion::new(pair);
    // Known points save a few steps.
    expansion.seeds = simplex.vertices().collect();
    let goal = ExpansionGoal { rel_tol: 0.0, abs_tol: 0.25 * touch, radius: 0.0, threshold: Some(touch) };
    expansion.run(&goal, 500);
    (expansion.upper.height <= touch).then_some(-expansion.upper.normal)
}

/// Supporting plane of the difference B − A of the cores. Its `height`, the distance of the origin from
/// the plane, is an upper bound of the depth.
#[derive(Clone, Copy)]
pub(crate) struct Plane {
    pub height: f64,
    /// Unit normal of the plane, pointing away from the difference B − A.
    pub normal: V3,
}

pub(crate) struct ExpansionGoal {
    pub rel_tol: f64,
    pub abs_tol: f64,
    /// Sum of the radii of both shapes. `rel_tol` is relative to the depth of the shapes, which exceeds
    /// that of the cores by this sum.
    pub radius: f64,
    /// The expansion also ends when the depth of the cores is proven to be above or below this
    /// threshold. With `None` it ends only when the bounds agree.
    pub threshold: Option<f64>,
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

/// Entry of the queue of facets: height of the facet's plane above the origin, and index of the facet,
/// by which equal heights are ordered.
struct FacetHeight(f64, u32);

feeler_geom::ordered_by!(FacetHeight, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));

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

    /// Evaluates the point of the difference B − A of the cores that is farthest along the unit vector
    /// `normal`, and lowers the upper bound of the depth to its height if that is smaller. Returns the
    /// point and its height along `normal`.
    pub(crate) fn evaluate(&mut self, normal: V3) -> (Vertex, f64) {
        let vertex = self.pair.support(&-normal);
        self.iterations += 1;
        self.size = self.size.max(vertex.size(self.pair.scale));
        let height = vertex.w.dot(&normal);
        if height < self.upper.height {
            self.upper = Plane { height, normal };
        }
        (vertex, height)
    }

    /// Expands the polytope until the bounds of the depth meet the goal. Returns `true` if they do, and
    /// also if the difference of the cores is flat. Returns `false` if `max_iterations` support points
    /// have been evaluated or a point is not finite. The expansion terminates because every step adds a
    /// vertex or retires a facet permanently.
    pub(crate) fn run(&mut self, goal: &ExpansionGoal, max_iterations: u32) -> bool {
        let Some(mut hull) = self.first_tetrahedron() else {
            // A flat difference has no interior; its remaining thickness is rounding.
            self.lower = 0.0;
            return self.upper.height.is_finite();
        };
        let mut open: BinaryHeap<Reverse<FacetHeight>> = BinaryHeap::new();
        let push = |hull: &GrowingHull, open: &mut BinaryHeap<Reverse<FacetHeight>>, from: usize| {
            for f in from..hull.facets.len() {
                let [a, b, c] = hull.facets[f].v.map(|i| hull.points[i as usize]);
                let height = normal(&a, &b, &c).map_or(f64::INFINITY, |n| n.dot(&a));
                #[expect(clippy::cast_possible_truncation, reason = "a few facets per iteration")]
                open.push(Reverse(FacetHeight(height, f as u32)));
            }
        };
        push(&hull, &mut open, 0);
        let mut retired = f64::INFINITY;
        while let Some(Reverse(FacetHeight(height, f))) = open.pop() {
            if !hull.facets[f as usize].alive {
                continue;
            }
            // The height of a facet is final if no point is outside it.
            self.lower = height.min(retired);
            let rounding = 8.0 * f64::EPSILON * self.size;
            let allowed = |depth: f64| (goal.rel_tol * (depth + goal.radius)).max(goal.abs_tol).max(rounding);
            if self.upper.height - self.lower <= allowed(self.upper.height) {
                return true;
            }
            if goal.threshold.is_some_and(|e| self.lower > e || self.upper.height <= e) {
                return true;
            }
            if self.iterations >= max_iterations {
                return false;
            }
            let v = hull.facets[f as usize].v;
            let [a, b, c] = v.map(|i| hull.points[i as usize]);
            let Some(n) = normal(&a, &b, &c) else { continue };
            let (vertex, reached) = self.evaluate(n);
            if !reached.is_finite() {
                self.upper.height = f64::NAN;
                return false;
            }
            let grown = if hull.is_outside(f, &vertex.w) && reached - height > rounding {
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

    /// Returns the hull of four points of the difference B − A of the cores that span a nonzero volume.
    /// Returns `None` if the difference is flat up to rounding; the upper bound of the depth is then its
    /// thickness.
    fn first_tetrahedron(&mut self) -> Option<GrowingHull> {
        let mut found = std::mem::take(&mut self.seeds);
        for seed in &found {
            self.size = self.size.max(seed.size(self.pair.scale));
        }
        if found.len() < 4 || side(&found[0].w, &found[1].w, &found[2].w, &found[3].w).abs() == 0.0 {
            found.clear();
            for axis in [V3::x(), V3::y(), V3::z()] {
                let ends = [self.evaluate(axis).0, self.evaluate(-axis).0];
                // The first axis along which the difference is wide enough gives two points.
                if found.is_empty() && (ends[0].w - ends[1].w).amax() > 8.0 * f64::EPSILON * self.size {
                    found.extend(ends);
                }
            }
            let [p, q] = found[..] else { return None };
            let t = (q.w - p.w).normalize();
            let rounding = 8.0 * f64::EPSILON * self.size;
            // Four directions orthogonal to the line give a third point off the line.
            let u = t.cross(&V3::ith(t.iamin(), 1.0)).normalize();
            let r = [u, -u, t.cross(&u), u.cross(&t)].into_iter().find_map(|n| {
                let r = self.evaluate(n).0;
                ((r.w - p.w).cross(&t).norm() > rounding).then_some(r)
            })?;
            let n = normal(&p.w, &q.w, &r.w)?;
            let s = [n, -n].into_iter().find_map(|n| {
                let s = self.evaluate(n).0;
                ((s.w - p.w).dot(&n).abs() > rounding).then_some(s)
            })?;
            found.extend([r, s]);
        }
        self.vertices = found;
        GrowingHull::new(self.vertices.iter().map(|v| v.w).collect(), [0, 1, 2, 3])
    }
}

/// The core of `shape`, translated by the vector `by`. As a [`Support`] it has the radius 0, whatever
/// the radius of `shape`.
pub(crate) struct Translated<'s, S: ?Sized> {
    pub(crate) shape: &'s S,
    pub(crate) by: V3,
}

impl<S: Support + ?Sized> Support for Translated<'_, S> {
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

/// Returns the unit normal of a triangle, on the side from which its corners are counter-clockwise.
/// Returns `None` if the triangle is degenerate.
pub(crate) fn normal(a: &V3, b: &V3, c: &V3) -> Option<V3> {
    // Computed at the corner between the two shorter edges, which has the smallest error.
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
