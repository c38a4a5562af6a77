//! Products of polynomials in Bernstein form, and the vectors that bound tangents (hodographs) and
//! normals.
//!
//! # Source
//! BREP §3.3.3 (scaled normal patch), with the product form for rational patches: the numerators of
//! `∂u × ∂v` are a polynomial net as well. Floater, *Derivatives of rational Bézier curves*, for the
//! direction of the hodograph.
//!
//! With homogeneous coordinates `A` and weight `w`, `S = (A, w)`, the direction of `∂u × ∂v` is
//! `w (A_u × A_v) + w_u (A_v × A) + w_v (A × A_u)`, of degrees `(3p - 1, 3q - 1)` for a patch of degrees
//! `(p, q)`; if `w` is constant, the direction is `A_u × A_v`, of degrees `(2p - 1, 2q - 1)`.

use super::H4;
use crate::binomial::row as binomials;
use crate::{P3, V3};

/// Bernstein coefficients of a polynomial in u and v, of degrees `nu` and `nv`, each multiplied by its
/// two binomial coefficients, so that products of polynomials are convolutions.
#[derive(Clone)]
struct Net<T> {
    nu: usize,
    nv: usize,
    c: Vec<T>,
}

impl<T: Copy + std::ops::Mul<f64, Output = T>> Net<T> {
    fn new(nu: usize, nv: usize, values: impl Iterator<Item = T>) -> Self {
        let (bu, bv) = (binomials(nu), binomials(nv));
        let c = values.enumerate().map(|(k, x)| x * (bu[k / (nv + 1)] * bv[k % (nv + 1)])).collect();
        Self { nu, nv, c }
    }

    /// Returns the Bernstein coefficients, without the binomial coefficients.
    fn coefficients(&self) -> Vec<T> {
        let (bu, bv) = (binomials(self.nu), binomials(self.nv));
        let n = self.nv + 1;
        self.c.iter().enumerate().map(|(k, x)| *x * (1.0 / (bu[k / n] * bv[k % n]))).collect()
    }

    fn product<U: Copy, R: Copy + std::ops::AddAssign>(
        &self,
        o: &Net<U>,
        zero: R,
        f: impl Fn(T, U) -> R,
    ) -> Net<R> {
        let (nu, nv) = (self.nu + o.nu, self.nv + o.nv);
        let mut c = vec![zero; (nu + 1) * (nv + 1)];
        for (ka, a) in self.c.iter().enumerate() {
            let (ia, ja) = (ka / (self.nv + 1), ka % (self.nv + 1));
            for (kb, b) in o.c.iter().enumerate() {
                let (ib, jb) = (kb / (o.nv + 1), kb % (o.nv + 1));
                c[(ia + ib) * (nv + 1) + ja + jb] += f(*a, *b);
            }
        }
        Net { nu, nv, c }
    }
}

fn cross(a: &Net<V3>, b: &Net<V3>) -> Net<V3> {
    a.product(b, V3::zeros(), |x, y| x.cross(&y))
}

fn times(w: &Net<f64>, a: &Net<V3>) -> Net<V3> {
    w.product(a, V3::zeros(), |x, y| y * x)
}

/// Whether all weights of the control points are equal, up to the rounding of subdivision.
fn polynomial(c: &[H4]) -> bool {
    c.iter().all(|h| (h.w - c[0].w).abs() <= 64.0 * f64::EPSILON * c[0].w)
}

/// Returns the control points relative to `origin`, so that products of their coordinates lose no digits
/// if they are far from the world's origin.
fn relative(c: &[H4], origin: &P3) -> Vec<H4> {
    c.iter().map(|h| *h - H4::new(origin.x * h.w, origin.y * h.w, origin.z * h.w, 0.0)).collect()
}

/// Returns the control points relative to the first one, so that small pieces cut out of them keep their
/// digits far from the world's origin.
pub(super) fn local(c: &[H4]) -> Vec<H4> {
    relative(c, &super::dehomogenized(&c[0]))
}

/// Rounding error (mm) of stored control points. Points within this distance of each other may coincide,
/// for example on a collapsed side that was moved by a pose.
pub(super) fn rounding(c: &[H4]) -> f64 {
    16.0 * f64::EPSILON * largest(c)
}

fn largest(c: &[H4]) -> f64 {
    c.iter().fold(0.0, |m: f64, h| m.max(h.xyz().amax()))
}

/// Returns vectors such that every tangent of the curve is a conical combination of them. Vectors at the
/// level of rounding are omitted; `noise` (mm) is the rounding error of the control points.
pub(super) fn tangent_vectors(c: &[H4], noise: f64) -> Vec<V3> {
    let n = c.len() - 1;
    if polynomial(c) {
        return kept(c.windows(2).map(|w| (w[1] - w[0]).xyz()).collect(), noise);
    }
    let r = local(c);
    let diffs: Vec<H4> = r.windows(2).map(|w| w[1] - w[0]).collect();
    let a = Net::new(n, 0, r.iter().map(|h| h.xyz()));
    let w = Net::new(n, 0, r.iter().map(|h| h.w));
    let a1 = Net::new(n - 1, 0, diffs.iter().map(|h| h.xyz()));
    let w1 = Net::new(n - 1, 0, diffs.iter().map(|h| h.w));
    let mut d = times(&w, &a1);
    for (x, y) in d.c.iter_mut().zip(times(&w1, &a).c) {
        *x -= y;
    }
    let w_max = c.iter().fold(0.0, |m: f64, h| m.max(h.w));
    kept(d.coefficients(), noise * w_max)
}

/// Returns vectors such that every natural normal of the patch is a conical combination of them. Vectors
/// at the level of rounding (a collapsed side) are omitted; `noise` (mm) is the rounding error of the
/// control points. An empty result means that the patch has no area. `nu` and `nv` are its degrees.
pub(super) fn normal_vectors(c: &[H4], nu: usize, nv: usize, noise: f64) -> Vec<V3> {
    let r = local(c);
    let n = nv + 1;
    let du: Vec<H4> = (0..nu * n).map(|k| r[k + n] - r[k]).collect();
    let dv: Vec<H4> = r.chunks_exact(n).flat_map(|row| row.windows(2).map(|w| w[1] - w[0])).collect();
    let vector = |h: &H4| h.xyz();
    let au = Net::new(nu - 1, nv, du.iter().map(vector));
    let av = Net::new(nu, nv - 1, dv.iter().map(vector));
    let steps = largest(&du).max(largest(&dv));
    let noise = 4.0 * noise * steps;
    let normal = cross(&au, &av);
    if polynomial(c) {
        return kept(normal.coefficients(), noise);
    }
    let a = Net::new(nu, nv, r.iter().map(vector));
    let w = Net::new(nu, nv, r.iter().map(|h| h.w));
    let wu = Net::new(nu - 1, nv, du.iter().map(|h| h.w));
    let wv = Net::new(nu, nv - 1, dv.iter().map(|h| h.w));
    let mut sum = times(&w, &normal);
    let second = times(&wu, &cross(&av, &a));
    let third = times(&wv, &cross(&a, &au));
    for ((x, y), z) in sum.c.iter_mut().zip(second.c).zip(third.c) {
        *x += y + z;
    }
    let w_max = c.iter().fold(0.0, |m: f64, h| m.max(h.w));
    kept(sum.coefficients(), noise * w_max)
}

fn kept(mut v: Vec<V3>, noise: f64) -> Vec<V3> {
    let largest = v.iter().fold(0.0, |m: f64, x| m.max(x.norm()));
    let threshold = noise.max(1e-14 * largest);
    v.retain(|x| x.norm() > threshold);
    v
}

/// Returns Bernstein coefficients of a polynomial that has the sign of the derivative of the squared
/// distance between the curve and `p`: `(A·A') w - (A·A) w'` with `A` relative to `p`. Coefficients at
/// the level of rounding are set to zero.
pub(super) fn approach(c: &[H4], p: &P3) -> Vec<f64> {
    let n = c.len() - 1;
    let r = relative(c, p);
    let dot = |x: V3, y: V3| x.dot(&y);
    let a = Net::new(n, 0, r.iter().map(|h| h.xyz()));
    let a1 = Net::new(n - 1, 0, r.windows(2).map(|w| (w[1] - w[0]).xyz()));
    let first = a.product(&a1, 0.0, dot);
    let reach = largest(&r);
    let noise = 64.0 * f64::EPSILON * (largest(c) + p.coords.amax() * c[0].w.abs()) * reach;
    let (out, noise) = if polynomial(c) {
        (first, noise)
    } else {
        let w = Net::new(n, 0, r.iter().map(|h| h.w));
        let w1 = Net::new(n - 1, 0, r.windows(2).map(|w| w[1].w - w[0].w));
        let w_max = c.iter().fold(0.0, |m: f64, h| m.max(h.w));
        let mut out = w.product(&first, 0.0, |x, y| x * y);
        let square = a.product(&a, 0.0, dot);
        for (x, y) in out.c.iter_mut().zip(w1.product(&square, 0.0, |x, y| x * y).c) {
            *x -= y;
        }
        (out, noise * w_max)
    };
    out.coefficients().into_iter().map(|x| if x.abs() <= noise { 0.0 } else { x }).collect()
}
