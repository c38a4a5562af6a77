//! Hulls of many points: support points by hill climbing along edges.
//!
//! # Source
//! DIST §4.8.2 (hill climbing).
//!
//! # Deviations
//! - Neighbours are compared by the components of edge vectors along the direction instead of the
//!   heights of vertices. Near the support point, where heights agree in all digits, edge vectors still
//!   give the sign of their difference.
//! - A search without an earlier result starts from a table of directions.

use super::points::{check_points, position_of_farthest};
use super::{ConvexShapeError, Support, SupportPoint};
use crate::hull::convex_hull;
use feeler_geom::{P3, V3};

/// Minimum number of vertices for hill climbing; below it, a linear search is faster
/// (`benches/src/bin/gjk.rs`).
const MIN_WALK_VERTICES: usize = 24;

/// Minimum number of vertices of a hull for which the table of directions is used although an earlier
/// result is given, if that result is not the support point. Below it, walking from the earlier result
/// is faster (`benches/src/bin/gjk.rs`, queries in turn).
const MIN_TABLE_VERTICES: usize = 256;

/// Convex hull of owned points. Points inside the hull are dropped; indices of support points and facets
/// refer to the given points.
#[derive(Clone, Debug)]
pub struct Polytope {
    vertices: Vec<P3>,
    /// Indices of the vertices among the given points, in ascending order.
    numbers: Vec<u32>,
    center: P3,
    facets: Vec<[u32; 3]>,
    walk: Option<Walk>,
}

#[derive(Clone, Debug)]
struct Walk {
    /// Neighbours of vertex i: `neighbours[offsets[i]..offsets[i + 1]]`. Vertices are numbered by their
    /// positions in [`Polytope::vertices`].
    offsets: Vec<u32>,
    neighbours: Vec<u32>,
    /// For each of `per_side`² cells of directions, the position in [`Polytope::vertices`] of the vertex
    /// farthest along the direction at the cell's centre, from which hill climbing starts.
    table: Vec<u32>,
    per_side: usize,
}

impl Polytope {
    /// Creates the convex hull of points (mm).
    ///
    /// # Errors
    /// The list of points is empty or longer than `u32` can count, or a point is not finite.
    pub fn new(points: &[P3]) -> Result<Self, ConvexShapeError> {
        check_points(points)?;
        // Coordinates are scaled by a power of two to a size near 1, so that products of signed volumes
        // stay in range.
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
        #[expect(clippy::cast_precision_loss, reason = "the number of points is far below 2^53")]
        let share = 1.0 / vertices.len() as f64;
        let center = P3::from(vertices.iter().fold(V3::zeros(), |sum, p| sum + p.coords * share));
        let mut out = Self { vertices, numbers, center, facets: hull.unwrap_or_default(), walk: None };
        if out.vertices.len() >= MIN_WALK_VERTICES && !out.facets.is_empty() {
            out.walk = Some(Walk::new(&out));
        }
        Ok(out)
    }

    /// Returns the vertices of the hull; all given points if they are coplanar.
    #[must_use]
    pub fn vertices(&self) -> &[P3] {
        &self.vertices
    }

    /// Returns the triangles of the hull, counter-clockwise from outside, as indices of the given
    /// points. The list is empty if the points are coplanar.
    #[must_use]
    pub fn facets(&self) -> &[[u32; 3]] {
        &self.facets
    }

    #[inline]
    fn position(&self, number: u32) -> usize {
        let i = number as usize;
        // Fast path: usually no point was dropped.
        match self.numbers.get(i) {
            Some(n) if *n == number => i,
            _ => self.numbers.binary_search(&number).unwrap_or(0),
        }
    }

    #[inline]
    fn support_point(&self, position: usize) -> SupportPoint {
        SupportPoint { point: self.vertices[position], index: self.numbers[position] }
    }
}

impl Walk {
    fn new(of: &Polytope) -> Self {
        let n = of.vertices.len();
        let mut degree = vec![0_u32; n + 1];
        // Every edge is visited twice, once in each direction.
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
                #[expect(clippy::cast_possible_truncation, reason = "indices of points are u32")]
                let v = v as u32;
                neighbours[fill[u] as usize] = v;
                fill[u] += 1;
            }
        }
        // The number of cells is about the number of vertices.
        let per_side = (1..80).find(|k| k * k >= n).unwrap_or(80);
        let mut walk = Self { offsets, neighbours, table: Vec::with_capacity(per_side * per_side), per_side };
        let mut last = 0;
        for cell in 0..per_side * per_side {
            last = walk.climb(&of.vertices, &walk.direction(cell), last);
            #[expect(clippy::cast_possible_truncation, reason = "indices of points are u32")]
            walk.table.push(last as u32);
        }
        walk
    }

    /// Returns the direction at the centre of a cell of the table. Directions are mapped to the
    /// octahedron |x| + |y| + |z| = 1, whose lower faces are folded outwards. This gives a square, which
    /// is divided into `per_side`² cells.
    fn direction(&self, cell: usize) -> V3 {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let at = |i: usize| (2 * i + 1) as f64 / self.per_side as f64 - 1.0;
        let (u, v) = (at(cell / self.per_side), at(cell % self.per_side));
        let z = 1.0 - u.abs() - v.abs();
        if z < 0.0 { V3::new(fold(u, v), fold(v, u), z) } else { V3::new(u, v, z) }
    }

    #[inline]
    fn start(&self, d: &V3) -> usize {
        let f = 1.0 / (d.x.abs() + d.y.abs() + d.z.abs());
        let (u, v) = (d.x * f, d.y * f);
        let (u, v) = if d.z < 0.0 { (fold(u, v), fold(v, u)) } else { (u, v) };
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let half = 0.5 * self.per_side as f64;
        // A zero direction gives NaN and so cell 0.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, then clamped"
        )]
        let cell = |c: f64| ((c + 1.0) * half) as usize;
        let last = self.per_side - 1;
        self.table[cell(u).min(last) * self.per_side + cell(v).min(last)] as usize
    }

    /// Like [`Self::climb`], from the earlier result `start` or, if the table's vertex for `direction` is
    /// farther along `direction` than `start` and all its neighbours, from that vertex.
    #[inline(never)]
    fn climb_near(&self, vertices: &[P3], direction: &V3, start: usize) -> usize {
        let next = self.highest_around(vertices, direction, start);
        if next == start {
            return start;
        }
        if vertices.len() < MIN_TABLE_VERTICES {
            return self.climb(vertices, direction, next);
        }
        let table = self.start(direction);
        let up = (vertices[table] - vertices[next]).dot(direction);
        self.climb(vertices, direction, if up > 0.0 { table } else { next })
    }

    /// Moves from the vertex `start` to its neighbour farthest along `direction` until no neighbour is
    /// farther; on a convex body the vertex reached is the support point. Returns its position in
    /// `vertices`.
    #[inline(never)]
    fn climb(&self, vertices: &[P3], direction: &V3, start: usize) -> usize {
        let mut at = start;
        // Every step increases the height, so no vertex repeats, except by rounding.
        for _ in 0..vertices.len() {
            let next = self.highest_around(vertices, direction, at);
            if next == at {
                return at;
            }
            at = next;
        }
        at
    }

    /// Returns the position of the vertex that is farthest along `direction` among the vertex `at` and
    /// its neighbours; `at` if no neighbour is farther.
    #[inline]
    fn highest_around(&self, vertices: &[P3], direction: &V3, at: usize) -> usize {
        let from = vertices[at];
        let mut best = (0.0, at);
        for i in &self.neighbours[self.offsets[at] as usize..self.offsets[at + 1] as usize] {
            let up = (vertices[*i as usize] - from).dot(direction);
            // Branch-free selection by a mask, because the branch would be unpredictable.
            let higher = usize::from(up > best.0).wrapping_neg();
            best.0 = if up > best.0 { up } else { best.0 };
            best.1 = (*i as usize & higher) | (best.1 & !higher);
        }
        best.1
    }
}

/// Returns the first coordinate of the point (u, v) after folding a lower face of the octahedron
/// outwards or back.
#[inline]
fn fold(u: f64, v: f64) -> f64 {
    (1.0 - v.abs()).copysign(u)
}

impl Support for Polytope {
    #[inline]
    fn support(&self, direction: &V3) -> SupportPoint {
        match &self.walk {
            Some(walk) => self.support_point(walk.climb(&self.vertices, direction, walk.start(direction))),
            None => self.support_point(position_of_farthest(&self.vertices, direction)),
        }
    }

    #[inline]
    fn support_near(&self, direction: &V3, start: u32) -> SupportPoint {
        match &self.walk {
            Some(walk) => {
                self.support_point(walk.climb_near(&self.vertices, direction, self.position(start)))
            }
            None => self.support_point(position_of_farthest(&self.vertices, direction)),
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
