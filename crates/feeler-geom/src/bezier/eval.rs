//! Evaluation with Bernstein values on the stack.
//!
//! # Source
//! Piegl & Tiller, *The NURBS Book*, §1.3–1.5: Bernstein recurrence, hodographs, quotient rule.

use nalgebra::Vector3;

use super::{BezierSpline, BezierSurface, H4, MAX_DEGREE};
use crate::{CurveDerivs, P2, P3, SurfaceDerivs, V3, math};

/// Room for the largest degree.
pub(super) const ROOM: usize = MAX_DEGREE as usize + 1;

/// Bernstein values of degrees `n`, `n - 1`, `n - 2` at one parameter (unused entries stay zero).
struct Basis<const N: usize> {
    b0: [f64; N],
    b1: [f64; N],
    b2: [f64; N],
}

impl<const N: usize> Basis<N> {
    fn new(n: usize, s: f64) -> Self {
        let mut b = [0.0; N];
        b[0] = 1.0;
        let mut out = Self { b0: [0.0; N], b1: [0.0; N], b2: [0.0; N] };
        let r = 1.0 - s;
        for k in 1..=n {
            if k + 1 == n {
                out.b2 = b;
            }
            if k == n {
                out.b1 = b;
            }
            // Raise degree k - 1 to k, from the top so that old values are still there.
            for i in (1..=k).rev() {
                b[i] = r * b[i] + s * b[i - 1];
            }
            b[0] *= r;
        }
        out.b0 = b;
        out
    }
}

/// Homogeneous value and first two derivatives by the local parameter.
#[inline]
fn contract<const N: usize>(n: usize, basis: &Basis<N>, control: impl Fn(usize) -> H4) -> [H4; 3] {
    let mut h = [H4::zeros(); 3];
    let mut prev = control(0);
    let mut prev_diff = H4::zeros();
    h[0] += prev * basis.b0[0];
    for i in 1..=n {
        let c = control(i);
        let diff = c - prev;
        h[0] += c * basis.b0[i];
        h[1] += diff * basis.b1[i - 1];
        if i >= 2 {
            h[2] += (diff - prev_diff) * basis.b2[i - 2];
        }
        prev = c;
        prev_diff = diff;
    }
    #[expect(clippy::cast_precision_loss, reason = "degrees are small")]
    let nf = n as f64;
    h[1] *= nf;
    h[2] *= nf * (nf - 1.0);
    h
}

/// Homogeneous value and derivatives of one piece at the local parameter `s`.
pub(super) fn curve_h(control: &[H4], s: f64) -> [H4; 3] {
    let n = control.len() - 1;
    if n < 4 {
        contract(n, &Basis::<4>::new(n, s), |i| control[i])
    } else if n < 8 {
        contract(n, &Basis::<8>::new(n, s), |i| control[i])
    } else {
        contract(n, &Basis::<ROOM>::new(n, s), |i| control[i])
    }
}

/// `[h, h_u, h_v, h_uu, h_uv, h_vv]` of one patch at local parameters.
pub(super) fn patch_h(control: &[H4], nu: usize, nv: usize, s: f64, t: f64) -> [H4; 6] {
    if nu < 4 && nv < 4 {
        patch_room::<4>(control, nu, nv, s, t)
    } else if nu < 8 && nv < 8 {
        patch_room::<8>(control, nu, nv, s, t)
    } else if nu < 16 && nv < 16 {
        patch_room::<16>(control, nu, nv, s, t)
    } else {
        patch_room::<ROOM>(control, nu, nv, s, t)
    }
}

/// `[h, h_u, h_v]` of one patch at local parameters.
fn patch_h1(control: &[H4], nu: usize, nv: usize, s: f64, t: f64) -> [H4; 3] {
    if nu < 4 && nv < 4 {
        patch_room1::<4>(control, nu, nv, s, t)
    } else if nu < 8 && nv < 8 {
        patch_room1::<8>(control, nu, nv, s, t)
    } else if nu < 16 && nv < 16 {
        patch_room1::<16>(control, nu, nv, s, t)
    } else {
        patch_room1::<ROOM>(control, nu, nv, s, t)
    }
}

fn patch_room1<const N: usize>(control: &[H4], nu: usize, nv: usize, s: f64, t: f64) -> [H4; 3] {
    let bv = Basis::<N>::new(nv, t);
    let bu = Basis::<N>::new(nu, s);
    let (mut h, mut hu, mut hv) = (H4::zeros(), H4::zeros(), H4::zeros());
    let mut prev = H4::zeros();
    for (a, c) in control.chunks_exact(nv + 1).enumerate() {
        let mut row = c[0] * bv.b0[0];
        let mut row_v = H4::zeros();
        for b in 1..=nv {
            row += c[b] * bv.b0[b];
            row_v += (c[b] - c[b - 1]) * bv.b1[b - 1];
        }
        h += row * bu.b0[a];
        hv += row_v * bu.b0[a];
        if a > 0 {
            hu += (row - prev) * bu.b1[a - 1];
        }
        prev = row;
    }
    #[expect(clippy::cast_precision_loss, reason = "degrees are small")]
    let (nu, nv) = (nu as f64, nv as f64);
    [h, hu * nu, hv * nv]
}

fn patch_room<const N: usize>(control: &[H4], nu: usize, nv: usize, s: f64, t: f64) -> [H4; 6] {
    let bv = Basis::<N>::new(nv, t);
    let mut rows = [[H4::zeros(); 3]; N];
    for (row, c) in rows.iter_mut().zip(control.chunks_exact(nv + 1)) {
        *row = contract(nv, &bv, |b| c[b]);
    }
    let bu = Basis::<N>::new(nu, s);
    let [h, hu, huu] = contract(nu, &bu, |a| rows[a][0]);
    let [hv, huv, _] = contract(nu, &bu, |a| rows[a][1]);
    let [hvv, _, _] = contract(nu, &bu, |a| rows[a][2]);
    [h, hu, hv, huu, huv, hvv]
}

fn split(h: &H4) -> (V3, f64) {
    (Vector3::new(h.x, h.y, h.z), h.w)
}

/// Quotient rule for a curve.
pub(super) fn project_curve([h, h1, h2]: &[H4; 3]) -> CurveDerivs {
    let (a, w) = split(h);
    let (a1, w1) = split(h1);
    let (a2, w2) = split(h2);
    let p = a / w;
    let d1 = (a1 - p * w1) / w;
    let d2 = (a2 - d1 * (2.0 * w1) - p * w2) / w;
    CurveDerivs { p: P3::from(p), d1, d2 }
}

/// Quotient rule for a surface.
pub(super) fn project_surface([h, hu, hv, huu, huv, hvv]: &[H4; 6]) -> SurfaceDerivs {
    let (a, w) = split(h);
    let (au, wu) = split(hu);
    let (av, wv) = split(hv);
    let (auu, wuu) = split(huu);
    let (auv, wuv) = split(huv);
    let (avv, wvv) = split(hvv);
    let p = a / w;
    let du = (au - p * wu) / w;
    let dv = (av - p * wv) / w;
    SurfaceDerivs {
        p: P3::from(p),
        du,
        dv,
        duu: (auu - du * (2.0 * wu) - p * wuu) / w,
        duv: (auv - dv * wu - du * wv - p * wuv) / w,
        dvv: (avv - dv * (2.0 * wv) - p * wvv) / w,
    }
}

/// Index of the piece that holds `t`: the later one at a break, the end pieces outside.
pub(super) fn locate(breaks: &[f64], t: f64) -> usize {
    breaks.partition_point(|b| *b <= t).clamp(1, breaks.len() - 1) - 1
}

/// `t` wrapped into the range when that is periodic and `t` lies outside.
pub(super) fn wrap_range(breaks: &[f64], periodic: bool, t: f64) -> f64 {
    let (lo, hi) = (breaks[0], breaks[breaks.len() - 1]);
    // Rounding must not lead out of the range again: another wrap would find another piece.
    if periodic && !(lo <= t && t <= hi) { math::wrap(t, lo, hi - lo).max(lo).min(hi) } else { t }
}

impl BezierSpline {
    /// Point and first two derivatives at `t`; end pieces extrapolate, periodic splines wrap.
    #[must_use]
    pub fn derivs(&self, t: f64) -> CurveDerivs {
        let t = self.wrapped(t);
        self.piece_derivs(locate(&self.breaks, t), t)
    }

    /// Point and first two derivatives of piece `i`, extrapolated when `t` is outside it.
    #[must_use]
    pub fn piece_derivs(&self, i: usize, t: f64) -> CurveDerivs {
        let (t0, t1) = (self.breaks[i], self.breaks[i + 1]);
        let inv = 1.0 / (t1 - t0);
        let mut h = curve_h(self.piece_control(i), (t - t0) * inv);
        h[1] *= inv;
        h[2] *= inv * inv;
        project_curve(&h)
    }
}

impl BezierSurface {
    /// Point and derivatives at `uv`; border patches extrapolate, periodic directions wrap.
    #[must_use]
    pub fn derivs(&self, uv: P2) -> SurfaceDerivs {
        let uv = self.wrapped(uv);
        self.patch_derivs(self.patch(uv), uv)
    }

    /// Point and first derivatives at `uv`: about half the work of [`BezierSurface::derivs`].
    #[must_use]
    pub fn first_derivs(&self, uv: P2) -> (P3, V3, V3) {
        let uv = self.wrapped(uv);
        let (i, j) = self.patch(uv);
        let (u0, v0) = (self.u_breaks[i], self.v_breaks[j]);
        let iu = 1.0 / (self.u_breaks[i + 1] - u0);
        let iv = 1.0 / (self.v_breaks[j + 1] - v0);
        let c = self.patch_control((i, j));
        let (nu, nv) = (self.u_degree as usize, self.v_degree as usize);
        let [h, hu, hv] = patch_h1(c, nu, nv, (uv.x - u0) * iu, (uv.y - v0) * iv);
        let inv_w = 1.0 / h.w;
        let p = h.xyz() * inv_w;
        let du = (hu.xyz() - p * hu.w) * (iu * inv_w);
        let dv = (hv.xyz() - p * hv.w) * (iv * inv_w);
        (P3::from(p), du, dv)
    }

    /// Point and derivatives of patch `(i, j)`, extrapolated when `uv` is outside it.
    #[must_use]
    pub fn patch_derivs(&self, (i, j): (usize, usize), uv: P2) -> SurfaceDerivs {
        let (u0, v0) = (self.u_breaks[i], self.v_breaks[j]);
        let iu = 1.0 / (self.u_breaks[i + 1] - u0);
        let iv = 1.0 / (self.v_breaks[j + 1] - v0);
        let c = self.patch_control((i, j));
        let (nu, nv) = (self.u_degree as usize, self.v_degree as usize);
        let mut h = patch_h(c, nu, nv, (uv.x - u0) * iu, (uv.y - v0) * iv);
        h[1] *= iu;
        h[2] *= iv;
        h[3] *= iu * iu;
        h[4] *= iu * iv;
        h[5] *= iv * iv;
        project_surface(&h)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping_never_leaves_the_range() {
        let breaks = [1.229_713_588_429e-14, 87.964_594_300_514];
        let (lo, hi) = (breaks[0], breaks[1]);
        let period = hi - lo;
        for k in -3..=3 {
            for ulps in -40..=40 {
                let t = lo + period * f64::from(k);
                let t = t + f64::from(ulps) * f64::EPSILON * 128.0;
                let x = wrap_range(&breaks, true, t);
                assert!(lo <= x && x <= hi, "{t:e} {x:e}");
            }
        }
    }
}
