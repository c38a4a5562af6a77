//! The simplex of a search: at most four pairs of support points and the point of their hull nearest to the
//! origin.

use crate::double_double::{split, two_product_split, two_sum};
use crate::signed_volumes::Nearest;
use crate::support::{Support, SupportPoint};
use crate::types::{Witness, WitnessVertex};
use feeler_geom::{P3, V3};

/// Both shapes, seen as their difference B − A, times a power of two.
pub(crate) struct Pair<'s, A: ?Sized, B: ?Sized> {
    pub(crate) a: &'s A,
    pub(crate) b: &'s B,
    pub(crate) scale: f64,
}

/// A point of the difference and where it comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vertex {
    pub(crate) w: V3,
    pub(crate) a: SupportPoint,
    pub(crate) b: SupportPoint,
}

impl Vertex {
    /// The largest coordinate it was computed from.
    #[inline]
    pub(crate) fn size(&self, scale: f64) -> f64 {
        // One instruction each, unlike the maximum that minds NaN; a NaN ends the search by its bound.
        let larger = |m: f64, c: f64| if c.abs() > m { c.abs() } else { m };
        let (a, b) = (&self.a.point, &self.b.point);
        let of = |p: &P3| larger(larger(larger(0.0, p.x), p.y), p.z);
        scale * larger(of(a), of(b))
    }
}

impl<A: Support + ?Sized, B: Support + ?Sized> Pair<'_, A, B> {
    /// The point of the difference that is nearest along a direction: there A reaches furthest towards B.
    #[inline]
    pub(crate) fn take(&self, along: &V3) -> Vertex {
        self.vertex(self.a.support(along), self.b.support(&-along))
    }

    #[inline]
    pub(crate) fn take_near(&self, along: &V3, last: [u32; 2]) -> Vertex {
        self.vertex(self.a.support_near(along, last[0]), self.b.support_near(&-along, last[1]))
    }

    #[inline]
    pub(crate) fn vertex(&self, a: SupportPoint, b: SupportPoint) -> Vertex {
        Vertex { w: (b.point - a.point) * self.scale, a, b }
    }
}

/// A distance below this part of the coordinates has lost digits that are worth the work to get them back; at
/// a thousandth, distances of flat pairs had errors of 1.8e-12 (`benches/src/bin/convex_campaign.rs`).
pub(crate) const SMALL: f64 = 1.0 / 64.0;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Simplex {
    pub(crate) n: usize,
    /// Points of the difference; the newest is the last.
    w: [V3; 4],
    /// Where they come from, on A and on B.
    from: [[SupportPoint; 2]; 4],
    pub(crate) weights: [f64; 4],
    /// The nearest point.
    pub(crate) v: V3,
}

impl Simplex {
    #[inline]
    pub(crate) const fn empty() -> Self {
        const NONE: SupportPoint = SupportPoint::plain(P3::new(0.0, 0.0, 0.0));
        let v = V3::new(0.0, 0.0, 0.0);
        Self { n: 0, w: [v; 4], from: [[NONE; 2]; 4], weights: [0.0; 4], v }
    }

    /// Of one vertex.
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

    /// The numbers of the newest vertex.
    #[inline]
    pub(crate) fn last(&self) -> [u32; 2] {
        self.from[self.n.saturating_sub(1).min(3)].map(|p| p.index)
    }

    pub(crate) fn points(&self) -> &[V3] {
        &self.w[..self.n]
    }

    /// Whether a point of the difference is one of its vertices already.
    #[inline]
    pub(crate) fn holds(&self, w: &V3) -> bool {
        self.points().contains(w)
    }

    /// Keeps what the nearest point needs.
    #[inline]
    pub(crate) fn reduce(&mut self, to: &Nearest) {
        for (k, (j, weight)) in to.vertices().iter().zip(to.weights()).enumerate() {
            // Positions ascend: none is overwritten before it is read.
            if k != *j {
                self.w[k] = self.w[*j];
                self.from[k] = self.from[*j];
            }
            self.weights[k] = *weight;
        }
        self.n = to.vertices().len();
        self.v = to.point();
    }

    /// The direction of the nearest point, made perpendicular to the simplex to rounding of its own length.
    /// As a sum of vertices it has an error of their size: at a small distance that would turn it, and the
    /// search with it.
    #[inline]
    pub(crate) fn direction(&self, size: f64) -> V3 {
        if self.v.norm_squared() > (SMALL * SMALL) * size * size { self.v } else { self.perpendicular() }
    }

    fn perpendicular(&self) -> V3 {
        let v = self.v;
        let out = match *self.points() {
            [a, b] => across(v, b - a),
            [a, b, c] => {
                let (n, edges, long) = normal(&a, &b, &c);
                // The normal of a needle is rounding; its long edge is not.
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

    /// The nearest point again, with the differences and the sum in doubled precision: for distances small
    /// against the coordinates.
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
                // Edges from the first vertex: the weights' own sum drops out.
                let (edge, err) = two_sum(w.0, -w0.0);
                let (p, e) = two_product_split(*factor, split(edge));
                let (s, t) = two_sum(sum.0, p);
                sum = (s, sum.1 + (t + (e + self.weights[i] * (err + (w.1 - w0.1)))));
            }
            x[k] = sum.0 + sum.1;
        }
        // What is left along the simplex is the rounding of the weights.
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

    /// The points of both cores.
    #[inline]
    pub(crate) fn tell(&self, witness: &mut Witness) {
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

/// A vector without its part along `t`.
fn across(v: V3, t: V3) -> V3 {
    let along = v.dot(&t) / t.norm_squared();
    if along.is_finite() { v - t * along } else { v }
}

/// Normal and edges of a triangle, and which edge is the longest.
fn normal(a: &V3, b: &V3, c: &V3) -> (V3, [V3; 3], usize) {
    let edges = [b - a, c - b, a - c];
    let l = edges.map(|e| e.norm_squared());
    let long = (0..3).fold(0, |m, i| if l[i] > l[m] { i } else { m });
    (edges[0].cross(&edges[1]), edges, long)
}
