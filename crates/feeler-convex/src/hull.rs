//! Incremental convex hull with exact signs: facets are never degenerate or inverted.
//!
//! # Source
//! The beneath-beyond method; visibility by adaptive predicates (the `robust` crate).
//!
//! # Deviations
//! A point is outside a facet only if it is strictly outside, so points on the hull's surface are
//! skipped. In exact arithmetic the visible facets then form a disc, and the corners of a new facet are
//! never collinear.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "NaN must take the conservative branch")]

use feeler_geom::V3;
use robust::Coord3D;

/// Triangle with corners counter-clockwise as seen from outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facet {
    /// Indices of the three corners among the hull's points.
    pub(crate) v: [u32; 3],
    /// `across[k]` is the index of the facet on the other side of the edge from corner k to the next
    /// corner.
    across: [u32; 3],
    pub(crate) alive: bool,
}

/// Convex hull to which points are added one by one.
#[derive(Clone, Debug, Default)]
pub(crate) struct GrowingHull {
    pub(crate) points: Vec<V3>,
    pub(crate) facets: Vec<Facet>,
    /// For each point, the index of the new facet whose edge on the horizon starts there, and
    /// [`NO_FACET`] for points off the horizon. The horizon is the boundary of the facets that the added
    /// point removes. Used only while a point is added.
    starts: Vec<u32>,
    stack: Vec<u32>,
    /// Indices of the facets that the most recently added point removed, because it was outside of them.
    /// They stay in `facets`, with `alive` unset.
    pub(crate) removed: Vec<u32>,
    horizon: Vec<(u32, u32, u32)>,
}

/// Value of a facet index that stands for the absence of a facet.
const NO_FACET: u32 = u32::MAX;

/// Returns a number with an exact sign: positive if `d` is on the side of the plane from which `a`, `b`,
/// `c` are counter-clockwise, and 0 if all four points are coplanar.
pub(crate) fn side(a: &V3, b: &V3, c: &V3, d: &V3) -> f64 {
    let [a, b, c, d] = [a, b, c, d].map(|v| Coord3D { x: v.x, y: v.y, z: v.z });
    -robust::orient3d(a, b, c, d)
}

impl GrowingHull {
    /// Creates the hull of the four points with the indices `first`. Returns `None` if their volume is
    /// zero. The other points are stored but not added.
    pub(crate) fn new(points: Vec<V3>, mut first: [u32; 4]) -> Option<Self> {
        let p = first.map(|i| points[i as usize]);
        let s = side(&p[0], &p[1], &p[2], &p[3]);
        if !(s.abs() > 0.0) {
            return None;
        }
        if s > 0.0 {
            first.swap(0, 1);
        }
        let [a, b, c, d] = first;
        // `d` is inside: a, b, c are counter-clockwise from outside, and the other facets share their
        // edges in reverse.
        let facets = vec![
            Facet { v: [a, b, c], across: [1, 2, 3], alive: true },
            Facet { v: [b, a, d], across: [0, 3, 2], alive: true },
            Facet { v: [c, b, d], across: [0, 1, 3], alive: true },
            Facet { v: [a, c, d], across: [0, 2, 1], alive: true },
        ];
        let starts = vec![NO_FACET; points.len()];
        Some(Self { points, facets, starts, ..Self::default() })
    }

    /// Returns whether a point is strictly outside the plane of a facet.
    pub(crate) fn is_outside(&self, facet: u32, p: &V3) -> bool {
        let [a, b, c] = self.facets[facet as usize].v.map(|i| &self.points[i as usize]);
        side(a, b, c, p) > 0.0
    }

    /// Appends a point to the list of points, without adding it to the hull, and returns its index.
    pub(crate) fn push_point(&mut self, p: V3) -> u32 {
        self.points.push(p);
        self.starts.push(NO_FACET);
        #[expect(clippy::cast_possible_truncation, reason = "the number of iterations fits in a u32")]
        let i = (self.points.len() - 1) as u32;
        i
    }

    /// Adds point `i`, which must be outside of facet `seen_by`, to the hull. Appends the new facets to
    /// `facets` and returns the index of the first one. Returns `None` if the signs contradict each
    /// other, which happens only if products underflow; the hull is then invalid.
    pub(crate) fn add(&mut self, i: u32, seen_by: u32) -> Option<usize> {
        let p = self.points[i as usize];
        self.removed.clear();
        self.horizon.clear();
        self.stack.clear();
        self.stack.push(seen_by);
        self.facets[seen_by as usize].alive = false;
        while let Some(f) = self.stack.pop() {
            self.removed.push(f);
            let facet = self.facets[f as usize];
            for k in 0..3 {
                let g = facet.across[k];
                if !self.facets[g as usize].alive {
                    continue;
                }
                if self.is_outside(g, &p) {
                    self.facets[g as usize].alive = false;
                    self.stack.push(g);
                }
            }
        }
        for f in &self.removed {
            let facet = self.facets[*f as usize];
            for k in 0..3 {
                if self.facets[facet.across[k] as usize].alive {
                    self.horizon.push((facet.v[k], facet.v[(k + 1) % 3], facet.across[k]));
                }
            }
        }
        let first = self.facets.len();
        for n in 0..self.horizon.len() {
            let (u, v, outer) = self.horizon[n];
            #[expect(
                clippy::cast_possible_truncation,
                reason = "indices of points are u32, and there are at most twice as many facets"
            )]
            let id = (first + n) as u32;
            self.facets.push(Facet { v: [u, v, i], across: [outer, NO_FACET, NO_FACET], alive: true });
            if std::mem::replace(&mut self.starts[u as usize], id) != NO_FACET {
                return None;
            }
            let across = &mut self.facets[outer as usize];
            let k = (0..3).find(|k| across.v[*k] == v && across.v[(k + 1) % 3] == u)?;
            across.across[k] = id;
        }
        for n in 0..self.horizon.len() {
            let next = self.starts[self.horizon[n].1 as usize];
            if next == NO_FACET {
                return None;
            }
            #[expect(clippy::cast_possible_truncation, reason = "as above")]
            let id = (first + n) as u32;
            self.facets[id as usize].across[1] = next;
            self.facets[next as usize].across[2] = id;
        }
        for (u, ..) in &self.horizon {
            self.starts[*u as usize] = NO_FACET;
        }
        Some(first)
    }
}

/// Returns the indices of four points that are far from each other and have a nonzero volume. Returns
/// `None` if all points are coplanar.
fn first_four(points: &[V3]) -> Option<[u32; 4]> {
    let farthest = |measure: &dyn Fn(&V3) -> f64| {
        let mut best = (0, f64::NEG_INFINITY);
        for (i, p) in points.iter().enumerate() {
            let m = measure(p);
            if m > best.1 {
                best = (i, m);
            }
        }
        best.0
    };
    let a = farthest(&|p| p.x);
    let b = farthest(&|p| (p - points[a]).norm_squared());
    let ab = points[b] - points[a];
    let c = farthest(&|p| ab.cross(&(p - points[a])).norm_squared());
    let n = ab.cross(&(points[c] - points[a]));
    let d = farthest(&|p| n.dot(&(p - points[a])).abs());
    let exact = |i: usize| side(&points[a], &points[b], &points[c], &points[i]).abs() > 0.0;
    let d = if exact(d) { Some(d) } else { (0..points.len()).find(|i| exact(*i)) };
    #[expect(clippy::cast_possible_truncation, reason = "indices of points are u32")]
    d.map(|d| [a, b, c, d].map(|i| i as u32))
}

/// Returns the facets of the convex hull of points, whose largest coordinate must be near 1, as indices
/// of their corners, counter-clockwise from outside. Returns `None` if the points are coplanar, or if
/// products of their differences underflow.
pub(crate) fn convex_hull(points: &[V3]) -> Option<Vec<[u32; 3]>> {
    let first = first_four(points)?;
    let mut hull = GrowingHull::new(points.to_vec(), first)?;
    // Conflict lists of quickhull: each outside point is listed at one facet that it is outside of.
    let mut conflicts: Vec<Vec<u32>> = vec![Vec::new(); 4];
    #[expect(clippy::cast_possible_truncation, reason = "indices of points are u32")]
    for i in 0..points.len() as u32 {
        if let Some(f) = (0..4).find(|f| hull.is_outside(*f, &points[i as usize])) {
            conflicts[f as usize].push(i);
        }
    }
    let mut f = 0;
    while f < hull.facets.len() {
        if !hull.facets[f].alive || conflicts[f].is_empty() {
            f += 1;
            continue;
        }
        let [a, b, c] = hull.facets[f].v.map(|i| points[i as usize]);
        let n = (b - a).cross(&(c - a));
        let height = |i: u32| n.dot(&(points[i as usize] - a));
        let far = conflicts[f].iter().copied().reduce(|x, y| if height(y) > height(x) { y } else { x })?;
        #[expect(clippy::cast_possible_truncation, reason = "as above")]
        let first_new = hull.add(far, f as u32)?;
        conflicts.resize(hull.facets.len(), Vec::new());
        for r in hull.removed.clone() {
            for i in std::mem::take(&mut conflicts[r as usize]) {
                #[expect(clippy::cast_possible_truncation, reason = "as above")]
                let seen =
                    (first_new..hull.facets.len()).find(|g| hull.is_outside(*g as u32, &points[i as usize]));
                if let Some(g) = seen {
                    conflicts[g].push(i);
                }
            }
        }
    }
    Some(hull.facets.iter().filter(|f| f.alive).map(|f| f.v).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    /// Checks by exact signs that the hull is closed, convex and around all points; also checks Euler's
    /// formula.
    fn check(points: &[V3], facets: &[[u32; 3]]) {
        let mut edges = std::collections::BTreeSet::new();
        for f in facets {
            for k in 0..3 {
                assert!(edges.insert((f[k], f[(k + 1) % 3])), "an edge is used twice: {f:?}");
            }
            let [a, b, c] = f.map(|i| points[i as usize]);
            assert!(points.iter().all(|p| side(&a, &b, &c, p) <= 0.0), "a point is outside {f:?}");
        }
        assert!(edges.iter().all(|(u, v)| edges.contains(&(*v, *u))), "the hull is not closed");
        let vertices: std::collections::BTreeSet<u32> = facets.iter().flatten().copied().collect();
        assert_eq!(vertices.len() + facets.len(), edges.len() / 2 + 2, "Euler's formula");
    }

    #[test]
    fn random_and_degenerate_clouds() {
        let mut rng = SmallRng::seed_from_u64(41);
        let mut flat = 0;
        for round in 0..600 {
            let n = rng.random_range(1..80);
            let mut p: Vec<V3> = (0..n).map(|_| V3::from_fn(|_, _| rng.random_range(-1.0..1.0))).collect();
            match round % 6 {
                // Many coplanar, collinear and duplicate points.
                0 => p.iter_mut().for_each(|v| *v = v.map(|c| (c * 2.0).round())),
                1 => p.iter_mut().for_each(|v| v.z = (v.z * 1.5).round()),
                2 => p.iter_mut().for_each(|v| v.z *= 1e-12),
                3 => p.iter_mut().for_each(|v| *v = v.normalize()),
                4 => p.iter_mut().for_each(|v| v.z = v.x + v.y),
                _ => {}
            }
            match convex_hull(&p) {
                Some(facets) => check(&p, &facets),
                None => flat += 1,
            }
        }
        assert!(flat < 200, "{flat} clouds are flat");
    }
}
