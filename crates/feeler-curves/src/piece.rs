//! Arithmetic of one Bézier piece: evaluation, subdivision, and Bernstein coefficients of products.
//!
//! Pieces are cubic or quintic and stored as arrays of `N` control points. Pieces of a lower degree are
//! raised, which keeps their shape. `w = a(s) - b(t)` is the difference of two pieces, both over [0, 1].
//!
//! # Source
//! BREP §3.5.2.2 takes the control points of derivatives and of differences as generators of cones. The
//! Bernstein coefficients of `w · a'` used here are convex combinations of the products of those
//! generators, so their signs reject at least as many pairs.

use feeler_geom::V3;

/// Control points of a Bézier piece of degree `N - 1`.
pub(crate) type Piece<const N: usize> = [V3; N];

/// Maximum number of control points of a piece: that of a quintic.
pub(crate) const MAX_CONTROL_POINTS: usize = 6;

/// Maximum number of Bernstein coefficients in one parameter of a product of a piece and a derivative.
pub(crate) const MAX_PRODUCT_COEFFICIENTS: usize = 2 * MAX_CONTROL_POINTS - 2;

const fn binomial(n: usize, k: usize) -> f64 {
    if k > n {
        return 0.0;
    }
    let (mut c, mut i) = (1.0, 0);
    while i < k {
        c = c * (n - i) as f64 / (i + 1) as f64;
        i += 1;
    }
    c
}

/// Computes the weights `w[i][j]` of products of Bernstein polynomials: polynomial i of degree p times
/// polynomial j of degree q is `w[i][j]` times polynomial i + j of degree p + q.
const fn product_weights(p: usize, q: usize) -> [[f64; MAX_CONTROL_POINTS]; MAX_CONTROL_POINTS] {
    let mut w = [[0.0; MAX_CONTROL_POINTS]; MAX_CONTROL_POINTS];
    let mut i = 0;
    while i <= p {
        let mut j = 0;
        while j <= q {
            w[i][j] = binomial(p, i) * binomial(q, j) / binomial(p + q, i + j);
            j += 1;
        }
        i += 1;
    }
    w
}

/// Product weights for pieces of `N` control points.
struct Weights<const N: usize>;

impl<const N: usize> Weights<N> {
    /// Weights ([`product_weights`]) of the product of a first derivative (degree `N - 2`) and a piece
    /// (degree `N - 1`).
    const FIRST: [[f64; MAX_CONTROL_POINTS]; MAX_CONTROL_POINTS] = product_weights(N - 2, N - 1);
    /// Weights ([`product_weights`]) of the product of a second derivative (degree `N - 3`) and a piece
    /// (degree `N - 1`).
    const SECOND: [[f64; MAX_CONTROL_POINTS]; MAX_CONTROL_POINTS] = product_weights(N - 3, N - 1);
    /// Weights ([`product_weights`]) of the product of a first derivative (degree `N - 2`) with itself,
    /// which is the squared speed.
    const SPEED: [[f64; MAX_CONTROL_POINTS]; MAX_CONTROL_POINTS] = product_weights(N - 2, N - 2);
}

/// Point of a piece or curve (mm), and its first and second derivatives by the parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub p: V3,
    pub d: V3,
    pub dd: V3,
}

pub(crate) fn at<const N: usize>(a: &Piece<N>, t: f64) -> At {
    // De Casteljau's algorithm, stopped two steps before the end, when three points are left.
    let mut c = *a;
    let s = 1.0 - t;
    for k in (3..N).rev() {
        for i in 0..k {
            c[i] = c[i] * s + c[i + 1] * t;
        }
    }
    let n = (N - 1) as f64;
    let (l, r) = (c[0] * s + c[1] * t, c[1] * s + c[2] * t);
    At { p: l * s + r * t, d: (r - l) * n, dd: (c[2] - c[1] * 2.0 + c[0]) * (n * (n - 1.0)) }
}

/// Splits a piece into its two halves, over [0, ½] and [½, 1].
pub(crate) fn halves<const N: usize>(a: &Piece<N>) -> [Piece<N>; 2] {
    let (mut l, mut r) = (*a, *a);
    // After step k, r[i] is point i of level k; r[0] is the next point of the left half.
    for (k, l) in l.iter_mut().enumerate().skip(1) {
        for i in 0..N - k {
            r[i] = (r[i] + r[i + 1]) * 0.5;
        }
        *l = r[0];
    }
    [l, r]
}

/// Returns the piece extrapolated to the parameters [-beyond, 1 + beyond], which become [0, 1].
pub(crate) fn widened<const N: usize>(a: &Piece<N>, beyond: f64) -> Piece<N> {
    // De Casteljau's algorithm also extrapolates: cut first at 1 + beyond, then, reversed, at -beyond.
    let part = |a: &Piece<N>, t: f64| {
        let (mut c, mut l) = (*a, *a);
        for (k, l) in l.iter_mut().enumerate().skip(1) {
            for i in 0..N - k {
                c[i] = c[i] * (1.0 - t) + c[i + 1] * t;
            }
            *l = c[0];
        }
        l
    };
    let mut longer = part(a, 1.0 + beyond);
    longer.reverse();
    let mut wide = part(&longer, 1.0 + beyond / (1.0 + beyond));
    wide.reverse();
    wide
}

/// Computes the control points of a piece's derivative; the last array element is unused.
pub(crate) fn derivative<const N: usize>(a: &Piece<N>) -> Piece<N> {
    let mut h = [V3::zeros(); N];
    for i in 0..N - 1 {
        h[i] = (a[i + 1] - a[i]) * (N - 1) as f64;
    }
    h
}

/// Computes the control points of a piece's second derivative; the last two array elements are unused.
fn second<const N: usize>(a: &Piece<N>) -> Piece<N> {
    let mut h = [V3::zeros(); N];
    for i in 0..N - 2 {
        h[i] = (a[i + 2] - a[i + 1] * 2.0 + a[i]) * ((N - 1) * (N - 2)) as f64;
    }
    h
}

/// Smallest and largest of a set of numbers, here Bernstein coefficients, which bound a polynomial over
/// [0, 1].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub lo: f64,
    pub hi: f64,
}

impl Range {
    fn empty() -> Self {
        Self { lo: f64::INFINITY, hi: f64::NEG_INFINITY }
    }

    fn insert(&mut self, x: f64) {
        // Comparisons compile to one instruction; `min` and `max` also check for NaN.
        if x < self.lo {
            self.lo = x;
        }
        if x > self.hi {
            self.hi = x;
        }
    }

    /// Whether the range excludes zero, so that all its numbers have one sign.
    pub(crate) fn has_sign(&self) -> bool {
        self.lo > 0.0 || self.hi < 0.0
    }

    /// Largest magnitude in the range.
    pub(crate) fn magnitude(&self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// Smallest magnitude in the range.
    pub(crate) fn min_magnitude(&self) -> f64 {
        if self.has_sign() { self.lo.abs().min(self.hi.abs()) } else { 0.0 }
    }
}

/// Computes the range of the Bernstein coefficients of `w · a'`, the derivative of half the squared
/// distance by s, where `w = a(s) - b(t)`. The range is widened by a bound of the rounding error, so
/// that a zero at the common end of two neighbouring pieces is in the range of at least one of them.
pub(crate) fn gradient<const N: usize, const M: usize>(a: &Piece<N>, b: &Piece<M>) -> Range {
    let h = derivative(a);
    let range = products::<N, M>(&Weights::<N>::FIRST, &h, N - 1, a, b, &[0.0; MAX_PRODUCT_COEFFICIENTS]);
    let speed = h[..N - 1].iter().map(V3::amax).fold(0.0, f64::max);
    let slack = 4.0 * f64::EPSILON * speed * (a[0].amax() + b[0].amax() + b[M - 1].amax() + speed);
    Range { lo: range.lo - slack, hi: range.hi + slack }
}

/// Computes the range of the Bernstein coefficients of `|a'|² + w · a''`, the second derivative of half
/// the squared distance by s, where `w = a(s) - b(t)`.
pub(crate) fn curvature<const N: usize, const M: usize>(a: &Piece<N>, b: &Piece<M>) -> Range {
    let (h, k) = (derivative(a), second(a));
    let mut speed = [0.0; MAX_PRODUCT_COEFFICIENTS];
    for i in 0..N - 1 {
        for j in 0..N - 1 {
            speed[i + j] += Weights::<N>::SPEED[i][j] * h[i].dot(&h[j]);
        }
    }
    products::<N, M>(&Weights::<N>::SECOND, &k, N - 2, a, b, &speed)
}

/// Computes the range of the Bernstein coefficients of `begin + w · h`, where `w = a(s) - b(t)`. `h` is a
/// polynomial in s with `n` control points, `begin` are the Bernstein coefficients of a polynomial in s,
/// and `weights` are the product weights of `h` and `a`.
fn products<const N: usize, const M: usize>(
    weights: &[[f64; MAX_CONTROL_POINTS]; MAX_CONTROL_POINTS],
    h: &Piece<N>,
    n: usize,
    a: &Piece<N>,
    b: &Piece<M>,
    begin: &[f64; MAX_PRODUCT_COEFFICIENTS],
) -> Range {
    // Both pieces are translated to a common origin, so that products of coordinates lose no digits.
    let origin = a[0];
    let (mut own, mut other) = (*begin, [[0.0; M]; MAX_PRODUCT_COEFFICIENTS]);
    for i in 0..n {
        let mut across = [0.0; M];
        for (across, b) in across.iter_mut().zip(b) {
            *across = h[i].dot(&(b - origin));
        }
        for j in 0..N {
            own[i + j] += weights[i][j] * h[i].dot(&(a[j] - origin));
            for k in 0..M {
                other[i + j][k] += weights[i][j] * across[k];
            }
        }
    }
    let mut range = Range::empty();
    for (own, other) in own.iter().zip(&other).take(n + N - 1) {
        for other in other {
            range.insert(own - other);
        }
    }
    range
}

/// Computes the range of the Bernstein coefficients of `-a' · b'`, the mixed second derivative of half
/// the squared distance of two pieces.
pub(crate) fn mixed<const N: usize, const M: usize>(a: &Piece<N>, b: &Piece<M>) -> Range {
    let (h, g) = (derivative(a), derivative(b));
    let mut range = Range::empty();
    for x in &h[..N - 1] {
        for y in &g[..M - 1] {
            range.insert(-x.dot(y));
        }
    }
    range
}

/// Upper bound of the angle (rad) between two vectors, at most 2.7e-4 rad too large; 0 if a vector has
/// no length.
pub(crate) fn angle_bound(a: &V3, b: &V3) -> f64 {
    let lengths = (a.norm_squared() * b.norm_squared()).sqrt();
    if lengths > 0.0 { acos_bound(a.dot(b) / lengths) } else { 0.0 }
}

/// Upper bound of acos: acos(x) ≤ `acos_bound(x)` ≤ acos(x) + 2.7e-4. The formula is Abramowitz and
/// Stegun 4.4.45, whose error is at most 6.8e-5.
fn acos_bound(x: f64) -> f64 {
    let x = x.clamp(-1.0, 1.0);
    let m = x.abs();
    let root = (1.0 - m).sqrt();
    let y = root * (1.570_728_8 - m * (0.212_114_4 - m * (0.074_261_0 - m * 0.018_729_3)));
    // The bound is exact at x = 1, so that straight pieces have no turning.
    let y = y + 1.2e-4 * root;
    if x < 0.0 { std::f64::consts::PI - y + 2e-4 } else { y }
}

/// Upper bound of the turning (rad) of a piece, the total angle by which its tangent rotates: the sum of
/// the exterior angles of its control polygon.
pub(crate) fn turning<const N: usize>(a: &Piece<N>) -> f64 {
    let mut legs = [V3::zeros(); N];
    let mut squares = [0.0; N];
    for i in 0..N - 1 {
        legs[i] = a[i + 1] - a[i];
        squares[i] = legs[i].norm_squared();
    }
    let mut sum = 0.0;
    if squares[..N - 1].iter().all(|&s| s > 0.0) {
        // The exterior angles do not depend on each other, so the processor can compute several at once.
        for i in 0..N - 2 {
            sum += acos_bound(legs[i].dot(&legs[i + 1]) / (squares[i] * squares[i + 1]).sqrt());
        }
        return sum;
    }
    let mut last = V3::zeros();
    for leg in &legs[..N - 1] {
        if leg.norm_squared() > 0.0 {
            sum += angle_bound(&last, leg);
            last = *leg;
        }
    }
    sum
}

/// Direction of a piece at its start, not normalised: from the first control point to the next one that
/// differs from it.
pub(crate) fn first_leg<const N: usize>(a: &Piece<N>) -> V3 {
    (1..N).map(|i| a[i] - a[0]).find(|d| d.norm_squared() > 0.0).unwrap_or_else(V3::zeros)
}

/// Direction of a piece at its end, not normalised: to the last control point from the nearest one
/// before that differs from it.
pub(crate) fn last_leg<const N: usize>(a: &Piece<N>) -> V3 {
    (0..N - 1).rev().map(|i| a[N - 1] - a[i]).find(|d| d.norm_squared() > 0.0).unwrap_or_else(V3::zeros)
}

/// Upper bound of the curvature of a piece (1/mm); infinite if its derivative may vanish.
pub(crate) fn bend_bound<const N: usize>(a: &Piece<N>) -> f64 {
    let (h, k) = (derivative(a), second(a));
    let chord = a[N - 1] - a[0];
    let length = chord.norm();
    // The speed along the chord is at least that of the slowest control point of the derivative.
    let slowest = h[..N - 1].iter().map(|h| h.dot(&chord)).fold(f64::INFINITY, f64::min) / length;
    if slowest.is_nan() || slowest <= 0.0 {
        return f64::INFINITY;
    }
    let mut largest: f64 = 0.0;
    for x in &h[..N - 1] {
        for y in &k[..N - 2] {
            largest = largest.max(x.cross(y).norm_squared());
        }
    }
    largest.sqrt() / (slowest * slowest * slowest)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests compare with the library's own functions")]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{Rng as _, SeedableRng as _};

    fn piece<const N: usize>(rng: &mut SmallRng) -> Piece<N> {
        std::array::from_fn(|_| V3::from_fn(|_, _| rng.random_range(-1.0..1.0)))
    }

    #[test]
    fn acos_is_bounded_closely() {
        let n = 2_000_000;
        for k in 0..=n {
            // Samples are denser where the slope of acos is infinite.
            let x = (std::f64::consts::PI * f64::from(k) / f64::from(n)).cos();
            for x in [x, -x] {
                let off = acos_bound(x) - x.acos();
                assert!(-1e-15 < off && off < 2.7e-4, "{x}: off by {off:e}");
            }
        }
        assert!(acos_bound(1.0) == 0.0 && acos_bound(2.0) == 0.0, "acos of 1 and beyond");
        for k in 1..1000 {
            let x = 1.0 - f64::EPSILON * f64::from(k);
            assert!(acos_bound(x) >= x.acos() && acos_bound(-x) >= (-x).acos(), "bound near ±1: {x}");
        }
    }

    fn bounds_hold<const N: usize, const M: usize>(seed: u64) {
        let mut rng = SmallRng::seed_from_u64(seed);
        for _ in 0..200 {
            let (a, b): (Piece<N>, Piece<M>) = (piece(&mut rng), piece(&mut rng));
            let ranges = [gradient(&a, &b), curvature(&a, &b), mixed(&a, &b)];
            for _ in 0..50 {
                let (x, y) = (rng.random::<f64>(), rng.random::<f64>());
                let (p, q) = (at(&a, x), at(&b, y));
                let w = p.p - q.p;
                let values = [w.dot(&p.d), p.d.norm_squared() + w.dot(&p.dd), -p.d.dot(&q.d)];
                for (range, value) in ranges.iter().zip(values) {
                    let slack = 1e-13 * (1.0 + range.magnitude());
                    assert!(
                        range.lo - slack <= value && value <= range.hi + slack,
                        "{value} not in {range:?}"
                    );
                }
            }
            let end = at(&a, 0.0);
            let w = end.p - b[0];
            // At a corner of the square, the coefficient equals the value.
            assert!(gradient(&a, &b).lo <= w.dot(&end.d) + 1e-13, "coefficient at a corner");
        }
    }

    #[test]
    fn bernstein_ranges_hold() {
        bounds_hold::<4, 4>(1);
        bounds_hold::<4, 6>(2);
        bounds_hold::<6, 4>(3);
        bounds_hold::<6, 6>(4);
    }

    fn parts_are_the_piece<const N: usize>(seed: u64) {
        let mut rng = SmallRng::seed_from_u64(seed);
        for _ in 0..200 {
            let a: Piece<N> = piece(&mut rng);
            let [l, r] = halves(&a);
            let wide = widened(&a, 0.25);
            let t = rng.random::<f64>();
            for (part, u) in [(&l, 0.5 * t), (&r, 0.5 + 0.5 * t), (&wide, -0.25 + 1.5 * t)] {
                let (p, q) = (at(part, t), at(&a, u));
                assert!((p.p - q.p).norm() < 1e-12, "{u}: a point off by {:e}", (p.p - q.p).norm());
                assert!(p.d.angle(&q.d) < 1e-5, "{u}: the directions differ");
            }
        }
    }

    #[test]
    fn halves_and_widened_pieces_are_the_same_curve() {
        parts_are_the_piece::<4>(5);
        parts_are_the_piece::<6>(6);
    }

    #[test]
    fn derivatives_are_differences() {
        let mut rng = SmallRng::seed_from_u64(7);
        for _ in 0..100 {
            let a: Piece<6> = piece(&mut rng);
            let (t, h) = (rng.random::<f64>(), 1e-5);
            let (l, m, r) = (at(&a, t - h), at(&a, t), at(&a, t + h));
            assert!(((r.p - l.p) / (2.0 * h) - m.d).norm() < 1e-6, "first derivative");
            assert!(((r.d - l.d) / (2.0 * h) - m.dd).norm() < 1e-5, "second derivative");
        }
    }

    #[test]
    fn turning_of_a_piece_is_bounded() {
        let mut rng = SmallRng::seed_from_u64(8);
        for _ in 0..200 {
            let a: Piece<6> = piece(&mut rng);
            let directions: Vec<V3> = (0..=500).map(|k| at(&a, f64::from(k) / 500.0).d).collect();
            let sum: f64 = directions.windows(2).map(|d| d[0].angle(&d[1])).sum();
            assert!(sum <= turning(&a) + 1e-9, "turning of {sum} exceeds its bound {}", turning(&a));
        }
    }
}
