//! Simplex of a GJK search: at most four points of the difference of two shapes, with the pairs of
//! support points that they come from, and the point of their convex hull nearest to the origin.

use crate::double_double::{split, two_product_split, two_sum};
use crate::signed_volumes::Nearest;
use crate::support::{Support, SupportPoint};
use crate::types::{ClosestPoints, WitnessVertex};
use feeler_geom::{P3, V3};

/// Two shapes A and B, represented by their difference B − A, whose coordinates are multiplied by the
/// power of two `scale`.
pub(crate) struct Pair<'s, A: ?Sized, B: ?Sized> {
    pub(crate) a: &'s A,
    pub(crate) b: &'s B,
    /// Power of two by which all coordinates are multiplied, so that their squares neither overflow nor
    /// underflow.
    pub(crate) scale: f64,
}

/// Point `w` of the difference B − A of two shapes' cores, multiplied by [`Pair::scale`], with the
/// support points `a` and `b` that it comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vertex {
    pub(crate) w: V3,
    pub(crate) a: SupportPoint,
    pub(crate) b: SupportPoint,
}

impl Vertex {
    /// Largest magnitude of the coordinates of both support points, multiplied by `scale`.
    #[inline]
    pub(crate) fn size(&self, scale: f64) -> f64 {
        // Comparisons compile to one instruction, unlike a maximum that handles NaN. A NaN ends the
        // search by its bound.
        let larger = |m: f64, c: f64| if c.abs() > m { c.abs() } else { m };
        let (a, b) = (&self.a.point, &self.b.point);
        let of = |p: &P3| larger(larger(larger(0.0, p.x), p.y), p.z);
        scale * larger(of(a), of(b))
    }
}

impl<A: Support + ?Sized, B: Support + ?Sized> Pair<'_, A, B> {
    /// Returns the point of the difference B − A that is farthest in the direction opposite to `along`.
    /// It comes from A's farthest point along `along` and from B's farthest point in the opposite
    /// direction.
    #[inline]
    pub(crate) fn support(&self, along: &V3) -> Vertex {
        self.vertex(self.a.support(along), self.b.support(&-along))
    }

    #[inline]
    pub(crate) fn support_near(&self, along: &V3, last: [u32; 2]) -> Vertex {
        self.vertex(self.a.support_near(along, last[0]), self.b.support_near(&-along, last[1]))
    }

    #[inline]
    pub(crate) fn vertex(&self, a: SupportPoint, b: SupportPoint) -> Vertex {
        Vertex { w: (b.point - a.point) * self.scale, a, b }
    }
}

/// Distance, relative to the coordinates, below which it is recomputed in doubled precision. A larger
/// value is slower; with 1/1000, distances of flat pairs had errors of 1.8e-12
/// (`benches/src/bin/convex_campaign.rs`).
pub(crate) const REFINE_BELOW: f64 = 1.0 / 64.0;

/// Simplex of a search, with its `n` vertices and its point nearest to the origin.
#[derive(Clone, Debug)]
pub(crate) struct Simplex {
    pub(crate) n: usize,
    /// Vertices: scaled points of the difference, the newest one last.
    w: [V3; 4],
    /// Support points on A and B that the vertices come from.
    from: [[SupportPoint; 2]; 4],
    pub(crate) weights: [f64; 4],
    /// Point of the simplex nearest to the origin.
    pub(crate) v: V3,
}

impl Simplex {
    #[inline]
    pub(crate) const fn empty() -> Self {
        const ORIGIN: SupportPoint = SupportPoint::plain(P3::new(0.0, 0.0, 0.0));
        let v = V3::new(0.0, 0.0, 0.0);
        Self { n: 0, w: [v; 4], from: [[ORIGIN; 2]; 4], weights: [0.0; 4], v }
    }

    /// Resets the simplex to a single vertex.
    #[inline]
    pub(crate) fn set(&mut self, vertex: &Vertex) {
        self.n = 0;
        self.v = vertex.w;
        self.weights[0] = 1.0;
        self.push(vertex);
    }

    #[inline]
    pub(crate) fn push(&mut self, vertex: &Vertex) {
        self.w[self.n] = vertex.w;
        self.from[self.n] = [vertex.a, vertex.b];
        self.n += 1;
    }

    pub(crate) fn vertices(&self) -> impl Iterator<Item = Vertex> {
        self.w.iter().zip(&self.from).take(self.n).map(|(w, [a, b])| Vertex { w: *w, a: *a, b: *b })
    }

    /// Indices ([`SupportPoint::index`]) of the support points on A and on B that the newest vertex
    /// comes from.
    #[inline]
    pub(crate) fn last(&self) -> [u32; 2] {
        self.from[self.n.saturating_sub(1).min(3)].map(|p| p.index)
    }

    pub(crate) fn points(&self) -> &[V3] {
        &self.w[..self.n]
    }

    /// Returns whether a point of the difference is already a vertex of the simplex.
    #[inline]
    pub(crate) fn contains_vertex(&self, w: &V3) -> bool {
        self.points().contains(w)
    }

    /// Reduces the simplex to the vertices whose hull contains the nearest point `to`, and stores that
    /// point.
    #[inline]
    pub(crate) fn reduce(&mut self, to: &Nearest) {
        for (k, (j, weight)) in to.vertices().iter().zip(to.weights()).enumerate() {
            // Positions ascend, so no entry is overwritten before it is read.
            if k != *j {
                self.w[k] = self.w[*j];
                self.from[k] = self.from[*j];
            }
            self.weights[k] = *weight;
        }
        self.n = to.vertices().len();
        self.v = to.point();
    }

    /// Returns the vector from the origin to the nearest point. At a small distance, relative to `size`
    /// (the largest coordinate, scaled), the vector is made perpendicular to the simplex. The nearest
    /// point is a sum of vertices and has an error proportional to their size, which at a small distance
    /// would change the direction and mislead the search.
    #[inline]
    pub(crate) fn direction(&self, size: f64) -> V3 {
        if self.v.norm_squared() > (REFINE_BELOW * REFINE_BELOW) * size * size {
            self.v
        } else {
            self.perpendicular()
        }
    }

    fn perpendicular(&self) -> V3 {
        let v = self.v;
        let out = match *self.points() {
            [a, b] => across(v, b - a),
            [a, b, c] => {
                let (n, edges, long) = normal(&a, &b, &c);
                // The normal of a needle is only rounding, but its long edge is accurate.
                if n.norm_squared() > 1e-16 * edges[long].norm_squared() * edges[long].norm_squared() {
                    n * (n.dot(&v).signum() * v.norm() / n.norm())
                } else {
                    across(v, edges[long])
                }
            }
            _ => v,
        };
        if out.norm_squared() > 0.0 { out } else { v }
    }

    /// Returns the nearest point, recomputed with differences and sum in doubled precision, for
    /// distances small relative to the coordinates. `scale` is [`Pair::scale`].
    #[inline]
    pub(crate) fn refined(&self, scale: f64) -> V3 {
        let factors = self.weights.map(split);
        let mut x = V3::zeros();
        for k in 0..3 {
            let difference = |i: usize| {
                let [a, b] = &self.from[i];
                two_sum(scale * b.point[k], -scale * a.point[k])
            };
            let w0 = difference(0);
            let mut sum = w0;
            for (i, factor) in factors.iter().enumerate().take(self.n).skip(1) {
                let w = difference(i);
                // Edges start at the first vertex, so that the sum of the weights cancels.
                let (edge, err) = two_sum(w.0, -w0.0);
                let (p, e) = two_product_split(*factor, split(edge));
                let (s, t) = two_sum(sum.0, p);
                sum = (s, sum.1 + (t + (e + self.weights[i] * (err + (w.1 - w0.1)))));
            }
            x[k] = sum.0 + sum.1;
        }
        // The remaining component along the simplex is rounding of the weights.
        match *self.points() {
            [a, b] => across(x, b - a),
            [a, b, c] => {
                let (_, edges, long) = normal(&a, &b, &c);
                let e = edges[long];
                let h = across(edges[(long + 1) % 3], e);
                across(across(x, e), across(h, e))
            }
            _ => x,
        }
    }

    /// Writes the closest points of both cores to `witness`, and appends the simplex's vertices with
    /// their weights to its list.
    #[inline]
    pub(crate) fn write_witness(&self, witness: &mut ClosestPoints) {
        let (mut a, mut b) = (V3::zeros(), V3::zeros());
        for ([on_a, on_b], weight) in self.from[..self.n].iter().zip(self.weights) {
            witness.vertices.push(WitnessVertex { a: *on_a, b: *on_b, weight });
            a += on_a.point.coords * weight;
            b += on_b.point.coords * weight;
        }
        witness.point_a = P3::from(a);
        witness.point_b = P3::from(b);
    }
}

/// Returns the component of `v` orthogonal to `t`, or `v` if `t` is zero.
fn across(v: V3, t: V3) -> V3 {
    let along = v.dot(&t) / t.norm_squared();
    if along.is_finite() { v - t * along } else { v }
}

/// Returns the normal (not normalised) of a triangle, its edge vectors b − a, c − b and a − c, and the
/// index of the longest one.
fn normal(a: &V3, b: &V3, c: &V3) -> (V3, [V3; 3], usize) {
    let edges = [b - a, c - b, a - c];
    let l = edges.map(|e| e.norm_squared());
    let long = (0..3).fold(0, |m, i| if l[i] > l[m] { i } else { m });
    (edges[0].cross(&edges[1]), edges, long)
}
