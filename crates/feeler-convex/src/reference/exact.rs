//! Distance of small hulls to more digits than a double, with proven bounds.
//!
//! # Source
//! Optimality of the nearest point x of a convex set: every point w of the set satisfies ⟨x, w⟩ ≥ ⟨x, x⟩
//! (DIST (2.12)).
//!
//! Numbers are unevaluated sums of two doubles (106 bits). The nearest point is searched vertex by
//! vertex, and each simplex by all its faces. The result is an interval that contains the distance even
//! if the search failed.

use crate::double_double::{two_product, two_sum};
use feeler_geom::P3;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// An unevaluated sum of two doubles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Twofold(f64, f64);

impl Twofold {
    const ZERO: Self = Self(0.0, 0.0);
    const ONE: Self = Self(1.0, 0.0);

    fn of((hi, lo): (f64, f64)) -> Self {
        let s = hi + lo;
        Self(s, lo - (s - hi))
    }

    /// Returns the double nearest to the number.
    #[must_use]
    pub const fn value(self) -> f64 {
        self.0
    }

    fn sqrt(self) -> Self {
        if self.0 <= 0.0 {
            return Self::ZERO;
        }
        let r = self.0.sqrt();
        let rest = self - Self::of(two_product(r, r));
        Self::of(two_sum(r, rest.0 / (2.0 * r)))
    }
}

impl Add for Twofold {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        let (s, e) = two_sum(self.0, o.0);
        let (t, f) = two_sum(self.1, o.1);
        let Self(s, e) = Self::of((s, e + t));
        Self::of((s, e + f))
    }
}
impl Neg for Twofold {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}
impl Sub for Twofold {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + -o
    }
}
impl Mul for Twofold {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let (p, e) = two_product(self.0, o.0);
        Self::of((p, e + (self.0 * o.1 + self.1 * o.0)))
    }
}
impl Div for Twofold {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let q = self.0 / o.0;
        let r = self - o * Self(q, 0.0);
        let q2 = r.0 / o.0;
        let r = r - o * Self(q2, 0.0);
        Self::of(two_sum(q, q2)) + Self(r.0 / o.0, 0.0)
    }
}

type Vector = [Twofold; 3];

fn difference(b: &P3, a: &P3) -> Vector {
    [0, 1, 2].map(|k| Twofold::of(two_sum(b[k], -a[k])))
}
fn dot(a: &Vector, b: &Vector) -> Twofold {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
fn minus(a: &Vector, b: &Vector) -> Vector {
    [0, 1, 2].map(|k| a[k] - b[k])
}
fn plus(a: &Vector, b: &Vector, f: Twofold) -> Vector {
    [0, 1, 2].map(|k| a[k] + b[k] * f)
}
fn cross(a: &Vector, b: &Vector) -> Vector {
    [0, 1, 2].map(|k| {
        let (l, m) = ((k + 1) % 3, (k + 2) % 3);
        a[l] * b[m] - a[m] * b[l]
    })
}

/// Interval that contains the distance of two hulls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    /// Upper bound of the distance: the distance between two points of the hulls.
    pub upper: Twofold,
    /// Lower bound of the distance: the largest gap between the hulls found along a direction, at least
    /// zero.
    pub lower: Twofold,
}

impl Exact {
    /// Returns the width of the interval; 0 if the bounds agree or are reversed by rounding.
    #[must_use]
    pub fn width(&self) -> f64 {
        (self.upper - self.lower).value().max(0.0)
    }

    /// Returns `distance` minus the upper bound, computed without cancellation.
    #[must_use]
    pub fn error(&self, distance: f64) -> f64 {
        (Twofold(distance, 0.0) - self.upper).value()
    }
}

/// Computes bounds of the distance between the hulls of two sets of points. `start` contains up to four
/// pairs (index of a point of A, of a point of B) from which the search starts; it affects only the
/// speed and may be empty.
#[must_use]
pub fn distance(a: &[P3], b: &[P3], start: &[(usize, usize)]) -> Exact {
    let mut pairs: Vec<(usize, usize)> = start.iter().copied().take(4).collect();
    if pairs.is_empty() {
        pairs.push((0, 0));
    }
    let point = |(i, j): (usize, usize)| difference(&b[j], &a[i]);
    let mut best: Option<(Twofold, Vector)> = None;
    let mut lower = Twofold::ZERO;
    let mut level = 0;
    for _ in 0..200 {
        let w: Vec<Vector> = pairs.iter().map(|p| point(*p)).collect();
        let (x, keep) = nearest(&w);
        let x_sq = dot(&x, &x);
        if best.is_some_and(|(b, _)| !((x_sq - b).value() < 0.0)) {
            // A better direction may leave the distance unchanged to 106 bits.
            level += 1;
            if level > 4 || best.is_some_and(|(b, _)| (x_sq - b).value() > rounding(b, &w)) {
                break;
            }
        } else {
            best = Some((x_sq, x));
        }
        if x_sq.value() == 0.0 {
            break;
        }
        pairs = keep.iter().map(|i| pairs[*i]).collect();
        let height = |p: &P3| {
            let p = [p.x, p.y, p.z].map(|c| Twofold(c, 0.0));
            dot(&x, &p)
        };
        let extreme = |points: &[P3], sign: f64| {
            let mut best = (0, Twofold(f64::INFINITY, 0.0));
            for (i, p) in points.iter().enumerate() {
                let h = height(p) * Twofold(sign, 0.0);
                if (h - best.1).value() < 0.0 || i == 0 {
                    best = (i, h);
                }
            }
            best
        };
        let ((j, hb), (i, ha)) = (extreme(b, 1.0), extreme(a, -1.0));
        let bound = (hb + ha) / x_sq.sqrt();
        if (bound - lower).value() > 0.0 {
            lower = bound;
        }
        if pairs.contains(&(i, j)) || pairs.len() == 4 {
            break;
        }
        pairs.push((i, j));
    }
    let upper = best.map_or(Twofold::ZERO, |(x_sq, _)| x_sq.sqrt());
    Exact { upper, lower }
}

/// Computes the gap between the hulls of A and B along a direction, which need not be normalised. A
/// positive gap separates them and is a lower bound of their distance; a negative one is minus an upper
/// bound of the penetration depth. It is NaN if a set is empty.
#[must_use]
pub fn gap(a: &[P3], b: &[P3], direction: &feeler_geom::V3) -> f64 {
    let height = |p: &P3| {
        let t = |k: usize| Twofold::of(two_product(p[k], direction[k]));
        t(0) + t(1) + t(2)
    };
    let lowest = b.iter().map(height).reduce(|x, y| if (y - x).value() < 0.0 { y } else { x });
    let highest = a.iter().map(height).reduce(|x, y| if (y - x).value() > 0.0 { y } else { x });
    match (lowest, highest) {
        (Some(l), Some(h)) => (l - h).value() / direction.norm(),
        _ => f64::NAN,
    }
}

/// Returns whether the origin is strictly inside the tetrahedron of the four differences `b[i] - a[i]`.
#[must_use]
pub fn strictly_inside(a: &[P3; 4], b: &[P3; 4]) -> bool {
    let w: Vec<Vector> = (0..4).map(|i| difference(&b[i], &a[i])).collect();
    let det = |p: &Vector, q: &Vector, r: &Vector| dot(p, &cross(q, r)).value();
    let c = [
        det(&w[1], &w[2], &w[3]),
        -det(&w[0], &w[2], &w[3]),
        det(&w[0], &w[1], &w[3]),
        -det(&w[0], &w[1], &w[2]),
    ];
    // Twofold determinants are accurate to 1e-30 of the products.
    let size = w.iter().flatten().fold(0.0, |m: f64, c| m.max(c.value().abs()));
    let noise = 1e-28 * size * size * size;
    c.iter().all(|c| *c > noise) || c.iter().all(|c| *c < -noise)
}

/// Bound of the rounding error of the squared distance `d_sq` of a point that is computed as a
/// combination of the vertices `w`.
fn rounding(d_sq: Twofold, w: &[Vector]) -> f64 {
    let size = w.iter().flatten().fold(0.0, |m: f64, c| m.max(c.value().abs()));
    1e-30 * d_sq.value().sqrt() * size
}

/// Returns the point of the simplex `w` nearest to the origin, and the indices of the vertices of the
/// face that contains it. The candidates are the footpoints of the origin on all faces, from the
/// vertices to the whole simplex; footpoints outside their face are skipped.
fn nearest(w: &[Vector]) -> (Vector, Vec<usize>) {
    let mut best: Option<(Twofold, Vector, Vec<usize>)> = None;
    // Larger faces last: among equals (to rounding) they give the better direction.
    let mut sets: Vec<usize> = (1..1 << w.len()).collect();
    sets.sort_by_key(|s| s.count_ones());
    for set in sets {
        let members: Vec<usize> = (0..w.len()).filter(|i| set >> i & 1 == 1).collect();
        let Some(x) = foot(w, &members) else { continue };
        let x_sq = dot(&x, &x);
        if best.as_ref().is_none_or(|(b, ..)| (x_sq - *b).value() <= rounding(*b, w)) {
            best = Some((x_sq, x, members));
        }
    }
    best.map_or(([Twofold::ZERO; 3], Vec::new()), |(_, x, members)| (x, members))
}

/// Computes the footpoint of the origin on the face of the simplex `w` with the vertices `members`.
/// Returns `None` if it lies outside the face (a weight is negative) or if the face is degenerate.
fn foot(w: &[Vector], members: &[usize]) -> Option<Vector> {
    // The first two vertices become those of the longest edge.
    let mut order = members.to_vec();
    let length = |i: usize, j: usize| {
        let e = minus(&w[i], &w[j]);
        dot(&e, &e).value()
    };
    if order.len() > 2 {
        let mut far = (0, 1);
        for i in 0..order.len() {
            for j in i + 1..order.len() {
                if length(order[i], order[j]) > length(order[far.0], order[far.1]) {
                    far = (i, j);
                }
            }
        }
        order.swap(0, far.0);
        let second = if far.1 == 0 { far.0 } else { far.1 };
        order.swap(1, second);
    }
    let base = w[order[0]];
    let edges: Vec<Vector> = order[1..].iter().map(|i| minus(&w[*i], &base)).collect();
    // Orthogonal directions, and their coefficients in terms of the edges.
    let mut basis: Vec<Vector> = Vec::new();
    let mut coefficients: Vec<Vec<Twofold>> = Vec::new();
    for (k, e) in edges.iter().enumerate() {
        let mut h = *e;
        let mut of = vec![Twofold::ZERO; edges.len()];
        of[k] = Twofold::ONE;
        // Two passes of orthogonalisation are sufficient.
        for _ in 0..2 {
            for (g, f) in basis.iter().zip(&coefficients) {
                let t = -(dot(&h, g) / dot(g, g));
                h = plus(&h, g, t);
                for (x, y) in of.iter_mut().zip(f) {
                    *x = *x + *y * t;
                }
            }
        }
        if !(dot(&h, &h).value() > 1e-56 * dot(e, e).value()) {
            return None;
        }
        basis.push(h);
        coefficients.push(of);
    }
    let mut x = base;
    let mut weights = vec![Twofold::ZERO; edges.len()];
    for _ in 0..2 {
        for (h, f) in basis.iter().zip(&coefficients) {
            let t = -(dot(&x, h) / dot(h, h));
            for (wt, y) in weights.iter_mut().zip(f) {
                *wt = *wt + *y * t;
            }
            x = base;
            for (wt, e) in weights.iter().zip(&edges) {
                x = plus(&x, e, *wt);
            }
        }
    }
    // The remaining component along the face is rounding of the sum, 1e-32 of the coordinates. It would
    // turn a short x.
    for h in basis.iter().chain(&basis) {
        x = plus(&x, h, -(dot(&x, h) / dot(h, h)));
    }
    let first = weights.iter().fold(Twofold::ONE, |s, w| s - *w);
    (first.value() >= 0.0 && weights.iter().all(|w| w.value() >= 0.0)).then_some(x)
}
