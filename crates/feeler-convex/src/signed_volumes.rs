//! The point of a simplex nearest to the origin.
//!
//! # Source
//! DIST §3.1, Algorithms 1 to 4 (S3D, S2D, S1D), Eqs. (3.2) to (3.8).
//!
//! # Deviations
//! - The errata of MATH §12: (3.8) projects with a minus; every face whose sign is *not the same* as the whole's is
//!   searched, not only those with the opposite sign, or exactly coplanar points get no search at all; S1D falls back
//!   to the nearer end point.
//! - All three faces of a triangle are searched, not only those that hold the newest vertex: the simplex may come from
//!   anywhere.
//! - Signs within rounding count as different. A result inside a triangle is checked against its vertices; when
//!   rounding misplaced it (needles), the edges compete as well. The weights of a flat tetrahedron are refined until
//!   they give the origin.

#![expect(clippy::neg_cmp_op_on_partial_ord, reason = "a NaN must take the cautious branch")]

use arrayvec::ArrayVec;
use feeler_geom::V3;

/// The nearest point of a simplex: the smallest set of vertices that holds it, with their positive weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    /// The point.
    pub point: V3,
    /// Positions of the vertices in the given simplex.
    pub vertices: ArrayVec<usize, 4>,
    /// Positive weights of these vertices; their sum is 1 up to rounding.
    pub weights: ArrayVec<f64, 4>,
}

impl Nearest {
    fn of(s: &[V3], vertices: &[usize], weights: &[f64]) -> Self {
        let mut out = Self { point: V3::zeros(), vertices: ArrayVec::new(), weights: ArrayVec::new() };
        for (v, w) in vertices.iter().zip(weights) {
            out.point += s[*v] * *w;
            out.vertices.push(*v);
            out.weights.push(*w);
        }
        out
    }

    fn nearer(self, other: Self) -> Self {
        if other.point.norm_squared() < self.point.norm_squared() { other } else { self }
    }
}

/// Point of the convex hull of one to four points nearest to the origin; `None` for no or more points. Points may
/// coincide, or lie on one line or plane. Coordinates must be finite, and small enough for their cubes to be.
#[must_use]
pub fn nearest_to_origin(s: &[V3]) -> Option<Nearest> {
    match s.len() {
        1 => Some(Nearest::of(s, &[0], &[1.0])),
        2 => Some(s1d(s, [0, 1])),
        3 => Some(s2d(s, [0, 1, 2])),
        4 => Some(s3d(s)),
        _ => None,
    }
}

/// Eq. (3.4): the same sign, neither of them zero or NaN.
fn same_sign(a: f64, b: f64) -> bool {
    (a > 0.0 && b > 0.0) || (a < 0.0 && b < 0.0)
}

/// Algorithm 2.
fn s3d(s: &[V3]) -> Nearest {
    // Cofactors of Eq. (3.6): volumes with the origin in place of each vertex.
    let c = [
        s[1].dot(&s[2].cross(&s[3])),
        -s[0].dot(&s[2].cross(&s[3])),
        s[0].dot(&s[1].cross(&s[3])),
        -s[0].dot(&s[1].cross(&s[2])),
    ];
    let det = (s[1] - s[0]).dot(&(s[2] - s[0]).cross(&(s[3] - s[0])));
    let size = s.iter().fold(0.0, |m: f64, v| m.max(v.norm()));
    let noise = 16.0 * f64::EPSILON * size * size * size;
    // A sign within rounding is no sign.
    let reliable = |c: f64| det.abs() > noise && c.abs() > noise && same_sign(det, c);
    if c.iter().all(|c| same_sign(det, *c))
        && let Some(inside) = refined(s, c.map(|c| c / det), det, size)
    {
        return inside;
    }
    let certain = c.iter().all(|c| reliable(*c));
    const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]];
    let mut best: Option<Nearest> = None;
    for (c, face) in c.iter().zip(FACES) {
        if certain || !reliable(*c) {
            let found = s2d(s, face);
            best = Some(match best {
                Some(b) => b.nearer(found),
                None => found,
            });
        }
    }
    // Unless all are certain, some sign is not reliable.
    best.unwrap_or_else(|| s2d(s, FACES[0]))
}

/// The origin as a combination of a tetrahedron's vertices. In flat tetrahedra the weights of Cramer's rule miss it by
/// far more than rounding; each correction multiplies the miss by the same small factor. `None` when the miss stays,
/// or a weight does not stay positive: the origin is then outside or on a face.
fn refined(s: &[V3], mut weights: [f64; 4], det: f64, size: f64) -> Option<Nearest> {
    let e = [s[1] - s[0], s[2] - s[0], s[3] - s[0]];
    // Gradients of the weights of vertices 1, 2 and 3.
    let g = [e[1].cross(&e[2]) / det, e[2].cross(&e[0]) / det, e[0].cross(&e[1]) / det];
    for _ in 0..4 {
        let sum: f64 = weights.iter().sum();
        let weights_now = weights.map(|w| w / sum);
        if !weights_now.iter().all(|w| *w > 0.0) {
            return None;
        }
        let found = Nearest::of(s, &[0, 1, 2, 3], &weights_now);
        let miss = found.point;
        if miss.norm() <= 4.0 * f64::EPSILON * size {
            return Some(found);
        }
        let d = g.map(|g| g.dot(&miss));
        weights = [
            weights_now[0] + d[0] + d[1] + d[2],
            weights_now[1] - d[0],
            weights_now[2] - d[1],
            weights_now[3] - d[2],
        ];
    }
    None
}

/// Algorithm 3.
fn s2d(s: &[V3], v: [usize; 3]) -> Nearest {
    let [a, b, d] = v.map(|i| s[i]);
    let n = (b - a).cross(&(d - a));
    let p = n * (a.dot(&n) / n.norm_squared());
    // The Cartesian plane on which the triangle casts the largest shadow; n holds the three shadows' areas.
    let j = n.iamax();
    let (k, l) = ((j + 1) % 3, (j + 2) % 3);
    let area = |x: &V3, y: &V3| (x[k] - p[k]) * (y[l] - p[l]) - (x[l] - p[l]) * (y[k] - p[k]);
    let mu = n[j];
    let c = [area(&b, &d), area(&d, &a), area(&a, &b)];
    let long_sq = (b - a).norm_squared().max((d - a).norm_squared());
    // In a needle the normal is rounding, and so are the signs.
    let mut needle = !(n.norm_squared() > 1e-16 * long_sq * long_sq);
    let mut best: Option<Nearest> = None;
    if c.iter().all(|c| same_sign(mu, *c)) {
        let sum = c[0] + c[1] + c[2];
        let inside = Nearest::of(s, &v, &c.map(|c| c / sum));
        // Optimal when no vertex is nearer along the way from the origin.
        let x = inside.point;
        let size = a.norm().max(b.norm()).max(d.norm());
        let slack = 16.0 * f64::EPSILON * x.norm() * size;
        if [a, b, d].iter().all(|q| x.dot(q) >= x.norm_squared() - slack) {
            return inside;
        }
        needle = true;
        best = Some(inside);
    }
    for (c, edge) in c.iter().zip([[v[1], v[2]], [v[0], v[2]], [v[0], v[1]]]) {
        if needle || !same_sign(mu, *c) {
            let found = s1d(s, edge);
            best = Some(match best {
                Some(b) => b.nearer(found),
                None => found,
            });
        }
    }
    best.unwrap_or_else(|| s1d(s, [v[0], v[1]]))
}

/// Algorithm 4. With t = b − a the projections onto the line, ⟨−a, t⟩ and ⟨b, t⟩, have the signs of the two fictitious
/// segments, on any Cartesian axis; computed so they need no division.
fn s1d(s: &[V3], v: [usize; 2]) -> Nearest {
    let (a, b) = (s[v[0]], s[v[1]]);
    let t = b - a;
    let (towards_b, towards_a) = (-a.dot(&t), b.dot(&t));
    let sum = towards_a + towards_b;
    if towards_a > 0.0 && towards_b > 0.0 {
        return Nearest::of(s, &v, &[towards_a / sum, towards_b / sum]);
    }
    let end = if a.norm_squared() <= b.norm_squared() { v[0] } else { v[1] };
    Nearest::of(s, &[end], &[1.0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng, SeedableRng};

    /// Nearest point by trying all sub-simplices: least squares on each affine hull, kept when no weight is negative.
    fn brute_force(s: &[V3]) -> f64 {
        let mut best = f64::INFINITY;
        for mask in 1_u32..1 << s.len() {
            let v: Vec<V3> = (0..s.len()).filter(|i| mask >> i & 1 == 1).map(|i| s[i]).collect();
            let e = nalgebra::DMatrix::from_fn(3, v.len() - 1, |r, c| v[c + 1][r] - v[0][r]);
            let w = if v.len() == 1 {
                nalgebra::DVector::zeros(0)
            } else {
                let rhs = nalgebra::DVector::from_iterator(3, (-v[0]).iter().copied());
                let size = e.amax();
                match e.svd(true, true).solve(&rhs, 1e-12 * size) {
                    Ok(w) => w,
                    Err(_) => continue,
                }
            };
            let w0 = 1.0 - w.sum();
            if w0 < -1e-12 || w.iter().any(|w| *w < -1e-12) {
                continue;
            }
            let p = v[0] * w0 + v[1..].iter().zip(w.iter()).fold(V3::zeros(), |p, (v, w)| p + v * *w);
            best = best.min(p.norm());
        }
        best
    }

    #[test]
    fn matches_enumeration_of_all_sub_simplices() {
        let mut rng = SmallRng::seed_from_u64(31);
        for _ in 0..20_000 {
            let n = rng.random_range(1..5);
            let mut s: Vec<V3> = (0..n).map(|_| V3::from_fn(|_, _| rng.random_range(-1.0..1.0))).collect();
            let shift =
                V3::from_fn(|_, _| rng.random_range(-1.0..1.0)) * [0.0, 0.3, 2.0][rng.random_range(0..3)];
            match rng.random_range(0..6) {
                0 => s.iter_mut().for_each(|v| v.z = 0.0),
                1 => s.iter_mut().for_each(|v| *v = V3::new(v.x, 2.0 * v.x, -v.x)),
                2 => s[n - 1] = s[0],
                3 => s.iter_mut().for_each(|v| v.z *= 1e-9),
                4 => s.iter_mut().for_each(|v| *v = v.map(|c| (c * 2.0).round())),
                _ => {}
            }
            s.iter_mut().for_each(|v| *v += shift);
            let found = nearest_to_origin(&s).unwrap();
            let (d, exact) = (found.point.norm(), brute_force(&s));
            assert!(d < exact + 1e-11, "{s:?}: {d} {exact}");
            // Least squares have lost digits on nearly flat simplices; from below every point is its own witness: no
            // vertex lies nearer along the way from the origin.
            assert!(d > exact - 1e-8, "{s:?}: {d} {exact}");
            let x = found.point;
            assert!(s.iter().all(|v| x.dot(v) > x.norm_squared() - 1e-14 * (1.0 + d)), "{s:?}: {x:?}");
            assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-13, "sum");
            assert!(found.weights.iter().all(|w| *w > 0.0), "positive: {found:?}");
        }
    }

    #[test]
    fn sizes_without_an_answer() {
        assert!(nearest_to_origin(&[]).is_none(), "no points");
        assert!(nearest_to_origin(&[V3::x(); 5]).is_none(), "too many points");
    }
}
