//! All real roots of small polynomials and trigonometric polynomials.
//!
//! The domain is divided into charts in Bernstein form. Subdivision isolates the sign changes by the
//! variation-diminishing property, and a safeguarded Newton iteration on the chart's power form refines
//! each of them. A part of a chart over which all coefficients are within the rounding error is reported
//! as a root, so nearly double roots are never lost. A nearly double root may be reported once or twice,
//! and a reported value may differ from the true root by an amount of the order of rounding. Callers
//! must therefore check roots in their original equations.
//!
//! # Source
//! MATH §3 (trigonometric polynomials of degree ≤ 4). Isolation by Bernstein subdivision follows Lane
//! and Riesenfeld. The charts of the circle by rational quarter arcs are ours; they have no root at
//! infinity.

mod bracket;

use crate::binomial::pascal;
use crate::math;
use crate::unit_angle::UnitAngle;
use arrayvec::ArrayVec;
use bracket::{bracketed, simple_root};
use std::f64::consts::FRAC_PI_2;
use std::sync::LazyLock;

/// Maximum degree of a [`TrigPoly`]; the squared equations of two skeletons need no more.
pub const TRIG_DEGREE: usize = 4;
/// Maximum degree supported by [`poly_roots`]. A larger degree would need larger [`PolyRoots`] and
/// binomial tables.
pub const POLY_DEGREE: usize = 8;

/// Roots of a trigonometric polynomial. There are at most eight, and each may be reported three times if
/// it is nearly multiple.
pub type TrigRoots = ArrayVec<UnitAngle, 24>;
/// Real roots of a polynomial of degree up to 8. A nearly multiple root may be reported up to three
/// times.
pub type PolyRoots = ArrayVec<f64, 24>;

/// `cos[0] + Σ cos[k] cos kθ + sin[k] sin kθ`, `k ≤ 4`; `sin[0]` is unused.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrigPoly {
    /// Coefficients of cos kθ, k from 0.
    pub cos: [f64; TRIG_DEGREE + 1],
    /// Coefficients of sin kθ, k from 0; the first one is unused.
    pub sin: [f64; TRIG_DEGREE + 1],
}

impl TrigPoly {
    /// Creates `c + a cos θ + b sin θ`.
    #[must_use]
    pub fn linear(c: f64, a: f64, b: f64) -> Self {
        let mut p = Self::default();
        p.cos[0] = c;
        p.cos[1] = a;
        p.sin[1] = b;
        p
    }

    /// Returns the value at the angle `theta` (rad).
    #[must_use]
    pub fn eval(&self, theta: f64) -> f64 {
        self.eval2(theta).0
    }

    /// Returns the value and the derivative at the angle `theta` (rad).
    #[must_use]
    pub fn eval2(&self, theta: f64) -> (f64, f64) {
        let (s1, c1) = math::sin_cos(theta);
        let (mut s, mut c) = (s1, c1);
        let (mut value, mut slope) = (self.cos[0], 0.0);
        let mut k = 1.0;
        for i in 1..=TRIG_DEGREE {
            value += self.cos[i] * c + self.sin[i] * s;
            slope += k * (self.sin[i] * c - self.cos[i] * s);
            (s, c) = (s * c1 + c * s1, c * c1 - s * s1);
            k += 1.0;
        }
        (value, slope)
    }

    /// Returns the derivative of the polynomial by the angle θ.
    #[must_use]
    pub fn derivative(&self) -> Self {
        let mut out = Self::default();
        let mut k = 1.0;
        for i in 1..=TRIG_DEGREE {
            out.cos[i] = k * self.sin[i];
            out.sin[i] = -k * self.cos[i];
            k += 1.0;
        }
        out
    }

    /// Returns the actual degree: the highest index with a nonzero coefficient.
    #[must_use]
    pub fn degree(&self) -> usize {
        (1..=TRIG_DEGREE).rev().find(|&k| self.cos[k] != 0.0 || self.sin[k] != 0.0).unwrap_or(0)
    }

    /// Sum of the magnitudes of the coefficients, an upper bound of the magnitude of the polynomial at
    /// all angles.
    #[must_use]
    pub fn size(&self) -> f64 {
        self.cos.iter().chain(&self.sin[1..]).map(|v| v.abs()).sum()
    }

    /// Returns the sum of two polynomials.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        Self {
            cos: std::array::from_fn(|k| self.cos[k] + other.cos[k]),
            sin: std::array::from_fn(|k| self.sin[k] + other.sin[k]),
        }
    }

    /// Returns the polynomial multiplied by `f`.
    #[must_use]
    pub fn scale(&self, f: f64) -> Self {
        Self { cos: self.cos.map(|v| v * f), sin: self.sin.map(|v| v * f) }
    }

    /// Returns the product of two polynomials. Terms beyond degree 4 are dropped; they must vanish
    /// (callers multiply small degrees).
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        let mut out = Self::default();
        let (da, db) = (self.degree(), other.degree());
        for i in 0..=da {
            let (a, b) = (self.cos[i], if i == 0 { 0.0 } else { self.sin[i] });
            for j in 0..=db {
                let (c, d) = (other.cos[j], if j == 0 { 0.0 } else { other.sin[j] });
                let sum = i + j;
                let diff = i.abs_diff(j);
                // sin((i - j)θ) = ± sin(|i - j|θ).
                let sign = if i >= j { 1.0 } else { -1.0 };
                if sum <= TRIG_DEGREE {
                    out.cos[sum] += 0.5 * (a * c - b * d);
                    out.sin[sum] += 0.5 * (a * d + b * c);
                }
                out.cos[diff] += 0.5 * (a * c + b * d);
                out.sin[diff] += 0.5 * sign * (b * c - a * d);
            }
        }
        out.sin[0] = 0.0;
        out
    }
}

/// Returns the angles of all real roots in no particular order. Returns `None` if the polynomial is
/// identically zero within `noise`, or if a coefficient is not finite. `noise` is an absolute error of
/// the values; it is raised to the rounding of the coefficients if that is larger.
///
/// An arc over which the values stay within that error is reported by its midpoint, and also by its ends
/// if it is wider than 1e-6 rad.
#[must_use]
pub fn trig_roots(p: &TrigPoly, noise: f64) -> Option<TrigRoots> {
    let size = p.size();
    let noise = noise.max(32.0 * f64::EPSILON * size);
    let degree = p.degree();
    let mut roots = TrigRoots::new();
    let mut angles = ArrayVec::<f64, 24>::new();
    if !size.is_finite() || size <= noise {
        return None;
    }
    if degree == 0 {
        return Some(roots);
    }
    let table: &ArcTable = if degree <= 2 { &ARC2 } else { &ARC4 };
    let mut flat = FlatPieces::default();
    for chart in 0..4 {
        let bernstein = table.form(&table.bernstein, p, chart);
        let angle = |x: f64| ArcTable::center(chart) + 2.0 * math::atan(TAN_PI_8 * (2.0 * x - 1.0));
        // Computed for the first root only, because most arcs have no root.
        let mut power: Option<Chart> = None;
        isolate(&bernstein, 2 * table.degree, noise, &mut |piece| match piece {
            Piece::Sign { ends, values } => {
                let c = power.get_or_insert_with(|| table.form(&table.power, p, chart));
                let ends = ends.map(|x| 2.0 * x - 1.0);
                // Constant degrees let the compiler unroll the loops.
                let y = if table.degree == 2 {
                    simple_root(|y| horner2(&c[..5], y), ends, values)
                } else {
                    simple_root(|y| horner2(c, y), ends, values)
                };
                let _ =
                    roots.try_push(table.unit_angle(chart).turned(UnitAngle::of_half_tangent(TAN_PI_8 * y)));
            }
            Piece::Flat(lo, hi) => flat.add(angle(lo), angle(hi), &mut angles),
        });
    }
    flat.finish(&mut angles);
    for angle in angles {
        let _ = roots.try_push(UnitAngle::of_angle(angle));
    }
    Some(roots)
}

/// Returns all real roots of `Σ coeffs[k] x^k` (at most nine coefficients; further ones are ignored) in
/// increasing order. Returns `None` if the polynomial is identically zero, or if a coefficient is not
/// finite. Two roots that are closer than the square root of rounding, relative to the geometric mean of
/// the roots, may be reported as one.
#[must_use]
pub fn poly_roots(coeffs: &[f64]) -> Option<PolyRoots> {
    let mut c = [0.0; POLY_DEGREE + 1];
    for (to, from) in c.iter_mut().zip(coeffs) {
        *to = *from;
    }
    let mut roots = PolyRoots::new();
    let degree = (0..=POLY_DEGREE).rev().find(|&k| c[k] != 0.0)?;
    let low = (0..=POLY_DEGREE).find(|&k| c[k] != 0.0)?;
    if c.iter().any(|v| !v.is_finite()) {
        return None;
    }
    if low > 0 {
        roots.push(0.0);
    }
    // The polynomial without the root 0: b[k] = c[k + low].
    let n = degree - low;
    if n == 0 {
        return Some(roots);
    }
    let mut b = [0.0; POLY_DEGREE + 1];
    b[..=n].copy_from_slice(&c[low..=degree]);
    #[expect(clippy::cast_precision_loss, reason = "n ≤ 8")]
    let scale = math::powf((b[0] / b[n]).abs(), 1.0 / n as f64);
    let scale = if scale.is_finite() && scale > 0.0 { scale } else { 1.0 };
    let mut power = 1.0;
    for v in &mut b[..=n] {
        *v *= power;
        power *= scale;
    }
    let noise = 64.0 * f64::EPSILON * b.iter().map(|v| v.abs()).sum::<f64>();
    let mut reversed = b;
    reversed[..=n].reverse();
    for (chart, inverted) in [(b, false), (reversed, true)] {
        let mut flat = FlatPieces::default();
        let mut found = PolyRoots::new();
        let x_of = |t: f64| 2.0 * t - 1.0;
        isolate(&bernstein_of_power(&chart, n), n, noise, &mut |piece| match piece {
            Piece::Sign { ends: [lo, hi], .. } => {
                if let Some(r) = bracketed(|x| horner2(&chart[..=n], x), x_of(lo), x_of(hi)) {
                    let _ = found.try_push(r);
                }
            }
            Piece::Flat(lo, hi) => flat.add(x_of(lo), x_of(hi), &mut found),
        });
        flat.finish(&mut found);
        for x in found {
            let root = if inverted { scale / x } else { scale * x };
            // A root near ±1 may be found in both charts.
            let is_duplicate = |r: &f64| (r - root).abs() <= 1e-12 * root.abs();
            if root.is_finite() && !(inverted && x.abs() > 1.0 - 1e-9 && roots.iter().any(is_duplicate)) {
                let _ = roots.try_push(root);
            }
        }
    }
    roots.sort_by(f64::total_cmp);
    Some(roots)
}

/// Returns the value and the derivative at `x` of the polynomial `Σ c[k] x^k`.
fn horner2(c: &[f64], x: f64) -> (f64, f64) {
    c.iter().rev().fold((0.0, 0.0), |(v, d), &a| (v * x + a, d * x + v))
}

/// Coefficients of a polynomial of degree up to 8 in Bernstein form over [0, 1].
type Bernstein = [f64; 9];
/// Coefficients of a polynomial of degree up to 8 in powers of its variable, which is in [-1, 1].
type Chart = [f64; 9];

/// Binomial coefficients: `CHOOSE[n][k]` is "n over k".
const CHOOSE: [[f64; 9]; 9] = pascal();

/// Converts the polynomial `Σ c_k x^k` of degree `n` over x in [-1, 1] to Bernstein form in t, with `x =
/// t - (1 - t)`, by expanding `Σ c_k x^k ((1 - t) + t)^(n - k)`.
fn bernstein_of_power(c: &[f64; 9], n: usize) -> Bernstein {
    let mut out = [0.0; 9];
    for (k, &a) in c.iter().enumerate().take(n + 1) {
        // x^k has the scaled coefficient (-1)^(k-i) C(k, i) at t^i (1-t)^(k-i).
        for i in 0..=k {
            let sign = if (k - i) % 2 == 0 { 1.0 } else { -1.0 };
            for j in 0..=n - k {
                out[i + j] += a * sign * CHOOSE[k][i] * CHOOSE[n - k][j];
            }
        }
    }
    for (v, binomial) in out.iter_mut().zip(&CHOOSE[n]).take(n + 1) {
        *v /= binomial;
    }
    out
}

/// tan(π/8): the value of tan(ψ/2) at the end of a quarter arc, where the angle ψ from its middle is
/// π/4. It is fixed by the four charts of the circle.
const TAN_PI_8: f64 = std::f64::consts::SQRT_2 - 1.0;
/// Angle (rad) of the middle of the first quarter arc. It keeps the ends of the arcs away from the
/// multiples of π/4, which are common roots in CAD poses; near the end of an arc roots would be isolated
/// more slowly.
const FIRST_CENTER: f64 = 0.137;

/// Coefficients of the real and imaginary parts of `e^{ik(ψ + offset)} W^n` for k ≤ n, over angles ψ in
/// [-π/4, π/4] from the middle of a quarter arc, with `W = 1 + tan²(ψ/2)` and the middle of the first
/// arc as offset.
type ArcForms = [([f64; 9], [f64; 9]); TRIG_DEGREE + 1];

/// The functions cos kθ and sin kθ over a quarter arc, times `W^n` with `W = 1 + tan²(ψ/2)` and ψ the
/// angle from the middle of the arc, as polynomials of degree 2n in `y = tan(ψ/2) / tan(π/8)`; n is
/// `degree`.
struct ArcTable {
    degree: usize,
    /// Direction of the middle of the first arc.
    first: UnitAngle,
    /// The functions in Bernstein form in `(y + 1) / 2`.
    bernstein: ArcForms,
    /// The coefficients of the functions with respect to the powers of `y`.
    power: ArcForms,
}

static ARC2: LazyLock<ArcTable> = LazyLock::new(|| ArcTable::new(2));
static ARC4: LazyLock<ArcTable> = LazyLock::new(|| ArcTable::new(4));

impl ArcTable {
    fn new(degree: usize) -> Self {
        let x2 = TAN_PI_8 * TAN_PI_8;
        // Coefficients are scaled by the binomials, so that multiplication is a plain convolution.
        let w = ([1.0 + x2, 2.0 * (1.0 - x2), 1.0 + x2], [0.0; 3]);
        let z = ([1.0 - x2, 2.0 * (1.0 + x2), 1.0 - x2], [-2.0 * TAN_PI_8, 0.0, 2.0 * TAN_PI_8]);
        let mut bernstein = Self::products(degree, &w, &z);
        for (re, im) in &mut bernstein {
            for (i, binomial) in CHOOSE[2 * degree].iter().enumerate().take(2 * degree + 1) {
                re[i] /= binomial;
                im[i] /= binomial;
            }
        }
        let w = ([1.0, 0.0, x2], [0.0; 3]);
        let z = ([1.0, 0.0, -x2], [0.0, 2.0 * TAN_PI_8, 0.0]);
        let first = UnitAngle::of_angle(FIRST_CENTER);
        Self { degree, first, bernstein, power: Self::products(degree, &w, &z) }
    }

    /// Computes the coefficients of `e^{ik offset} z^k w^(n - k)` for k ≤ n, given the quadratic
    /// polynomials z and w as real and imaginary parts; n is `degree`.
    fn products(degree: usize, w: &([f64; 3], [f64; 3]), z: &([f64; 3], [f64; 3])) -> ArcForms {
        let mut out = [([0.0; 9], [0.0; 9]); TRIG_DEGREE + 1];
        let mut angle = 0.0;
        for (k, form) in out.iter_mut().enumerate().take(degree + 1) {
            let (sin, cos) = math::sin_cos(angle);
            let (mut re, mut im) = ([0.0; 9], [0.0; 9]);
            (re[0], im[0]) = (cos, sin);
            for f in 0..degree {
                let (fr, fi) = if f < k { z } else { w };
                let (mut nr, mut ni) = ([0.0; 9], [0.0; 9]);
                for i in 0..=2 * f {
                    for j in 0..3 {
                        nr[i + j] += re[i] * fr[j] - im[i] * fi[j];
                        ni[i + j] += re[i] * fi[j] + im[i] * fr[j];
                    }
                }
                (re, im) = (nr, ni);
            }
            *form = (re, im);
            angle += FIRST_CENTER;
        }
        out
    }

    /// Returns the coefficients of the polynomial `p` over quarter arc number `chart`, multiplied by the
    /// positive function `W^n` of [`ArcTable`], which has no effect on the roots, in the form of the
    /// table `arcs`.
    fn form(&self, arcs: &ArcForms, p: &TrigPoly, chart: usize) -> [f64; 9] {
        let mut out = [0.0; 9];
        for (k, (re, im)) in arcs.iter().enumerate().take(self.degree + 1) {
            // (a - ib) i^(k chart): rotation by quarter turns is exact.
            let (a, b) = (p.cos[k], if k == 0 { 0.0 } else { -p.sin[k] });
            let (a, b) = match (k * chart) % 4 {
                0 => (a, b),
                1 => (-b, a),
                2 => (-a, -b),
                _ => (b, -a),
            };
            for ((v, re), im) in out.iter_mut().zip(re).zip(im) {
                *v += a * re - b * im;
            }
        }
        out
    }

    /// Direction of the middle of quarter arc number `chart`.
    fn unit_angle(&self, chart: usize) -> UnitAngle {
        (0..chart).fold(self.first, |unit_angle, _| unit_angle.quarter_turned())
    }

    /// Angle (rad) of the middle of quarter arc number `chart`.
    fn center(chart: usize) -> f64 {
        let mut center = FIRST_CENTER;
        for _ in 0..chart {
            center += FRAC_PI_2;
        }
        center
    }
}

/// Piece of [0, 1] that the isolation of roots reports.
enum Piece {
    /// The polynomial has exactly one sign change in the piece, and the values at both ends exceed the
    /// noise.
    Sign {
        /// Start and end of the piece in [0, 1].
        ends: [f64; 2],
        /// Values of the polynomial at the ends.
        values: [f64; 2],
    },
    /// All values over the piece, given by its start and end, are within the noise, or the piece is too
    /// short to be divided.
    Flat(f64, f64),
}

/// Position at which a piece is cut in two, relative to its width. It differs from 0.5 because exact
/// roots are common at the midpoint, where a cut would need extra pieces.
const CUT_POSITION: f64 = 0.4619;
/// Width (in the chart's parameter) below which a piece counts as a point. With a larger value distinct
/// roots merge; a smaller one is below rounding, and the subdivision ends only at the limit of pieces.
const MIN_PIECE_WIDTH: f64 = 1e-15;
/// Maximum number of pieces of a subdivision, a safeguard: ten times the number that eight roots next to
/// ends of pieces need. With a smaller value pieces with roots are reported as flat; a larger one only
/// delays the end.
const MAX_PIECES: usize = 8192;

/// Passes to `report`, from left to right, all pieces of [0, 1] in which the polynomial of degree `n` in
/// Bernstein form has a root or stays within `noise`.
fn isolate(coeffs: &Bernstein, n: usize, noise: f64, report: &mut impl FnMut(Piece)) {
    // Constant degrees let the compiler unroll the loops.
    match n {
        4 => isolate_degree(coeffs, 4, noise, report),
        8 => isolate_degree(coeffs, 8, noise, report),
        _ => isolate_degree(coeffs, n, noise, report),
    }
}

#[inline(always)]
fn isolate_degree(coeffs: &Bernstein, n: usize, noise: f64, report: &mut impl FnMut(Piece)) {
    let mut stack: ArrayVec<(Bernstein, f64, f64), 64> = ArrayVec::new();
    let mut next = Some((*coeffs, 0.0, 1.0));
    let mut budget = MAX_PIECES;
    while let Some((mut c, lo, hi)) = next.take().or_else(|| stack.pop()) {
        let c_used = &c[..=n];
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for &v in c_used {
            min = if v < min { v } else { min };
            max = if v > max { v } else { max };
        }
        if min > noise || max < -noise {
            continue;
        }
        budget -= 1;
        if (max <= noise && min >= -noise) || hi - lo < MIN_PIECE_WIDTH || budget == 0 || stack.len() + 2 > 64
        {
            report(Piece::Flat(lo, hi));
            if budget == 0 {
                return;
            }
            continue;
        }
        let (first, last) = (c[0], c[n]);
        if first * last < 0.0 && first.abs() > noise && last.abs() > noise && variations(c_used) == 1 {
            report(Piece::Sign { ends: [lo, hi], values: [first, last] });
            continue;
        }
        let left = cut(&mut c, n);
        let mid = lo + CUT_POSITION * (hi - lo);
        stack.push((c, mid, hi));
        next = Some((left, lo, mid));
    }
}

/// Number of sign changes of a sequence; zeros are ignored.
fn variations(c: &[f64]) -> usize {
    let mut count = 0;
    let mut previous = 0.0;
    for &v in c {
        if v != 0.0 {
            if v * previous < 0.0 {
                count += 1;
            }
            previous = v.signum();
        }
    }
    count
}

/// Subdivides a polynomial in Bernstein form at [`CUT_POSITION`] by de Casteljau's algorithm. Leaves the
/// right part in `right` and returns the left one.
#[inline(always)]
fn cut(right: &mut Bernstein, n: usize) -> Bernstein {
    /// Unrolls the levels of de Casteljau's scheme, which keeps all coefficients in registers.
    macro_rules! levels {
        ($($level:literal: $($i:literal)*;)*) => {{
            let mut points = *right;
            let mut left = points;
            $(
                $( points[$i] = (1.0 - CUT_POSITION) * points[$i] + CUT_POSITION * points[$i + 1]; )*
                left[$level] = points[0];
            )*
            *right = points;
            left
        }};
    }
    // Point i of the right half is last written at level n - i.
    match n {
        4 => levels! { 1: 0 1 2 3; 2: 0 1 2; 3: 0 1; 4: 0; },
        8 => levels! {
            1: 0 1 2 3 4 5 6 7; 2: 0 1 2 3 4 5 6; 3: 0 1 2 3 4 5; 4: 0 1 2 3 4;
            5: 0 1 2 3; 6: 0 1 2; 7: 0 1; 8: 0;
        },
        _ => {
            let mut left = *right;
            for (k, edge) in left.iter_mut().enumerate().take(n + 1).skip(1) {
                for i in 0..=n - k {
                    right[i] = (1.0 - CUT_POSITION) * right[i] + CUT_POSITION * right[i + 1];
                }
                *edge = right[0];
            }
            left
        }
    }
}

/// Run of adjacent flat pieces, which are merged before they are converted to roots; `open` is the start
/// and end of the piece merged so far, which the next flat piece may extend.
#[derive(Default)]
struct FlatPieces {
    open: Option<(f64, f64)>,
}

impl FlatPieces {
    fn add(&mut self, lo: f64, hi: f64, roots: &mut ArrayVec<f64, 24>) {
        match &mut self.open {
            Some((_, end)) if lo - *end < 1e-9 => *end = hi,
            _ => {
                self.finish(roots);
                self.open = Some((lo, hi));
            }
        }
    }

    fn finish(&mut self, roots: &mut ArrayVec<f64, 24>) {
        if let Some((lo, hi)) = self.open.take() {
            let _ = roots.try_push(0.5 * (lo + hi));
            if hi - lo > 1e-6 {
                let _ = roots.try_push(lo);
                let _ = roots.try_push(hi);
            }
        }
    }
}

#[cfg(test)]
mod tests;
