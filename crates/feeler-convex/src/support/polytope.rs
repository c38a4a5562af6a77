//! Hulls of many points: the search walks along edges.
//!
//! # Source
//! DIST §4.8.2 (hill climbing).
//!
//! # Deviations
//! - Steps are compared by edge vectors, not by heights of vertices: near the top, where heights agree in all their
//!   digits, edges still tell up from down.
//! - A search without a guess starts from a table of directions.

use super::points::{Fours, check_points};
use super::{ShapeError, Support, SupportPoint};
use crate::hull::convex_hull;
use feeler_geom::{P3, V3};

/// Fewest vertices for which walking beats looking at all of them (`benches/src/bin/gjk.rs`).
const WALK_FROM: usize = 24;

/// The convex hull of owned points. Points inside the hull are dropped; numbers are those of the given points.
#[derive(Clone, Debug)]
pub struct Polytope {
    vertices: Vec<P3>,
    /// Numbers of the vertices among the given points; ascending.
    numbers: Vec<u32>,
    center: P3,
    facets: Vec<[u32; 3]>,
    /// For polytopes without a walk.
    fours: Fours,
    walk: Option<Walk>,
}

#[derive(Clone, Debug)]
struct Walk {
    /// Neighbours of vertex i: `neighbours[offsets[i]..offsets[i + 1]]`.
    offsets: Vec<u32>,
    neighbours: Vec<u32>,
    /// Vertices to start from: per side of a cube `per_side`² cells of directions.
    table: Vec<u32>,
    per_side: usize,
}

impl Polytope {
    /// # Errors
    /// No point, more than `u32` can count, or one that is not finite.
    pub fn new(points: &[P3]) -> Result<Self, ShapeError> {
        check_points(points)?;
        // Signs of volumes need their products within the range of numbers: a size near 1, by a power of two.
        let size = points.iter().fold(0.0, |m: f64, p| m.max(p.coords.amax()));
        let exponent = crate::exponent(size);
        let scaled: Vec<V3> = points.iter().map(|p| crate::scaled(p.coords, -exponent)).collect();
        let hull = convex_hull(&scaled);
        let numbers: Vec<u32> = match &hull {
            Some(facets) => {
                let mut v: Vec<u32> = facets.iter().flatten().copied().collect();
                v.sort_unstable();
                v.dedup();
                v
            }
            #[expect(clippy::cast_possible_truncation, reason = "checked above")]
            None => (0..points.len() as u32).collect(),
        };
        let vertices: Vec<P3> = numbers.iter().map(|i| points[*i as usize]).collect();
        #[expect(clippy::cast_precision_loss, reason = "a number of points")]
        let share = 1.0 / vertices.len() as f64;
        let center = P3::from(vertices.iter().fold(V3::zeros(), |sum, p| sum + p.coords * share));
        let fours = Fours::new(&vertices);
        let mut out = Self { vertices, numbers, center, facets: hull.unwrap_or_default(), fours, walk: None };
        if out.vertices.len() >= WALK_FROM && !out.facets.is_empty() {
            out.walk = Some(Walk::new(&out));
        }
        Ok(out)
    }

    /// Vertices of the hull (all points, where these lie in one plane).
    #[must_use]
    pub fn vertices(&self) -> &[P3] {
        &self.vertices
    }

    /// Triangles of the hull, counter-clockwise from outside, by the numbers of the given points; empty where these lie
    /// in one plane.
    #[must_use]
    pub fn facets(&self) -> &[[u32; 3]] {
        &self.facets
    }

    #[inline]
    fn position(&self, number: u32) -> usize {
        let i = number as usize;
        // Most often no point was dropped.
        match self.numbers.get(i) {
            Some(n) if *n == number => i,
            _ => self.numbers.binary_search(&number).unwrap_or(0),
        }
    }

    #[inline]
    fn answer(&self, position: usize) -> SupportPoint {
        SupportPoint { point: self.vertices[position], index: self.numbers[position] }
    }
}

impl Walk {
    fn new(of: &Polytope) -> Self {
        let n = of.vertices.len();
        let mut degree = vec![0_u32; n + 1];
        // Every edge is met twice, once in each direction.
        for f in &of.facets {
            for v in f {
                degree[of.position(*v) + 1] += 1;
            }
        }
        for i in 0..n {
            degree[i + 1] += degree[i];
        }
        let offsets = degree;
        let mut fill = offsets.clone();
        let mut neighbours = vec![0; of.facets.len() * 3];
        for f in &of.facets {
            for k in 0..3 {
                let (u, v) = (of.position(f[k]), of.position(f[(k + 1) % 3]));
                #[expect(clippy::cast_possible_truncation, reason = "numbers of points are u32")]
                let v = v as u32;
                neighbours[fill[u] as usize] = v;
                fill[u] += 1;
            }
        }
        // About as many cells as vertices.
        let per_side = (1..32).find(|k| 6 * k * k >= n).unwrap_or(32);
        let mut walk =
            Self { offsets, neighbours, table: Vec::with_capacity(6 * per_side * per_side), per_side };
        let mut last = 0;
        for cell in 0..6 * per_side * per_side {
            last = walk.climb(&of.vertices, &walk.direction(cell), last);
            #[expect(clippy::cast_possible_truncation, reason = "numbers of points are u32")]
            walk.table.push(last as u32);
        }
        walk
    }

    /// Cells count along the second axis after the side's own, then the third, then the sides: +x, +y, +z, −x, −y, −z.
    fn direction(&self, cell: usize) -> V3 {
        let k = self.per_side;
        let (side, i, j) = (cell / (k * k), cell / k % k, cell % k);
        #[expect(clippy::cast_precision_loss, reason = "below 32")]
        let at = |i: usize| (2 * i + 1) as f64 / k as f64 - 1.0;
        let axis = side % 3;
        let mut d = V3::zeros();
        d[axis] = if side < 3 { 1.0 } else { -1.0 };
        d[(axis + 1) % 3] = at(i);
        d[(axis + 2) % 3] = at(j);
        d
    }

    #[inline]
    fn start(&self, d: &V3) -> usize {
        let axis = d.iamax();
        let k = self.per_side;
        #[expect(clippy::cast_precision_loss, reason = "below 32")]
        let half = 0.5 * k as f64;
        let f = half / d[axis].abs();
        // A zero direction gives NaN, and with it cell 0.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, then clamped"
        )]
        let cell = |c: f64| ((c * f + half) as usize).min(k - 1);
        let side = if d[axis] < 0.0 { axis + 3 } else { axis };
        let cell = (side * k + cell(d[(axis + 1) % 3])) * k + cell(d[(axis + 2) % 3]);
        self.table[cell] as usize
    }

    /// From a vertex to its neighbour farthest up, until none is higher: on a convex body that is the top.
    #[inline(never)]
    fn climb(&self, vertices: &[P3], direction: &V3, start: usize) -> usize {
        let mut at = start;
        // Every step goes up, so none comes back, except by rounding.
        for _ in 0..vertices.len() {
            let from = vertices[at];
            let mut best = (0.0, at);
            let neighbours = &self.neighbours[self.offsets[at] as usize..self.offsets[at + 1] as usize];
            for i in neighbours {
                let up = (vertices[*i as usize] - from).dot(direction);
                if up > best.0 {
                    best = (up, *i as usize);
                }
            }
            if best.1 == at {
                return at;
            }
            at = best.1;
        }
        at
    }
}

impl Support for Polytope {
    #[inline]
    fn support(&self, direction: &V3) -> SupportPoint {
        match &self.walk {
            Some(walk) => self.answer(walk.climb(&self.vertices, direction, walk.start(direction))),
            None => self.answer(self.fours.farthest(direction)),
        }
    }

    #[inline]
    fn support_near(&self, direction: &V3, start: u32) -> SupportPoint {
        match &self.walk {
            Some(walk) => self.answer(walk.climb(&self.vertices, direction, self.position(start))),
            None => self.answer(self.fours.farthest(direction)),
        }
    }

    fn center(&self) -> P3 {
        self.center
    }

    #[inline]
    fn numbered(&self, index: u32) -> Option<P3> {
        let i = self.position(index);
        (self.numbers[i] == index).then(|| self.vertices[i])
    }
}
