//! Rational Bézier curves and patches in homogeneous coordinates, and their piecewise compositions.

mod bernstein;
mod bounds;
pub(crate) mod build;
mod crease;
mod eval;
mod project;
mod subdivide;
mod third;

pub(crate) use bounds::box_of;
#[cfg(feature = "evaluations")]
pub use eval::patch_evaluations;
pub use subdivide::Part;

use nalgebra::Vector4;

use crate::frame::unit;
use crate::{P2, P3, Pose, V3};

/// A homogeneous control point `(w x, w y, w z, w)`, `w > 0`.
pub type H4 = Vector4<f64>;

/// A curve of rational Bézier pieces over `[breaks[i], breaks[i+1]]`, all of one degree.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BezierSpline {
    /// Degree of the pieces, 1 to [`MAX_DEGREE`].
    pub degree: u32,
    /// Increasing parameters at the ends of the pieces, one more than the number of pieces.
    #[cfg_attr(feature = "serde", serde(with = "crate::bulk"))]
    pub breaks: Vec<f64>,
    /// `(degree + 1)` control points per piece, in the order of the pieces.
    #[cfg_attr(feature = "serde", serde(with = "crate::bulk"))]
    pub control: Vec<H4>,
    /// Whether the end coincides with the start and has the same tangent, so that parameters outside the
    /// range wrap.
    pub periodic: bool,
}

/// A grid of rational Bézier patches over `[u_breaks[i], u_breaks[i+1]] × [v_breaks[j], v_breaks[j+1]]`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BezierSurface {
    /// Degree of the patches in u, 1 to [`MAX_DEGREE`].
    pub u_degree: u32,
    /// Degree of the patches in v, 1 to [`MAX_DEGREE`].
    pub v_degree: u32,
    /// Increasing parameters in u at the borders of the patches.
    #[cfg_attr(feature = "serde", serde(with = "crate::bulk"))]
    pub u_breaks: Vec<f64>,
    /// Increasing parameters in v at the borders of the patches.
    #[cfg_attr(feature = "serde", serde(with = "crate::bulk"))]
    pub v_breaks: Vec<f64>,
    /// Control points: patch (i, j) starts at `(i * n_v + j) * (u_degree + 1) * (v_degree + 1)`, with
    /// `n_v` patches along v; within a patch, control point (a, b) is at `a * (v_degree + 1) + b`.
    #[cfg_attr(feature = "serde", serde(with = "crate::bulk"))]
    pub control: Vec<H4>,
    /// Whether the sides at the minimum and the maximum u coincide with common tangent planes, so that u
    /// wraps.
    pub u_periodic: bool,
    /// Like `u_periodic`, for the sides at the minimum and the maximum v.
    pub v_periodic: bool,
}

/// Largest supported degree of splines. STEP files rarely exceed 11, and revolved splines double the
/// degree. A larger value costs stack space in evaluation; with a smaller one files are refused.
pub const MAX_DEGREE: u32 = 25;

/// Homogeneous control point of the point `p` with the weight `w`.
#[must_use]
pub fn homogeneous(p: &P3, w: f64) -> H4 {
    H4::new(p.x * w, p.y * w, p.z * w, w)
}

/// Point of a homogeneous control point.
#[must_use]
pub fn dehomogenized(h: &H4) -> P3 {
    P3::new(h.x / h.w, h.y / h.w, h.z / h.w)
}

fn moved(h: &H4, pose: &Pose) -> H4 {
    let a = pose.rotation * h.xyz() + pose.translation.vector * h.w;
    H4::new(a.x, a.y, a.z, h.w)
}

fn scaled(h: &H4, f: f64) -> H4 {
    H4::new(h.x * f, h.y * f, h.z * f, h.w)
}

/// Unit direction from the first control point to the first one that is farther from it than 1e-7 of
/// `size` (mm). It is the tangent at the start, even if the derivative is zero there. `None` if no
/// control point is that far.
fn first_direction(c: &[H4], size: f64) -> Option<V3> {
    let p0 = dehomogenized(&c[0]);
    c[1..].iter().map(|h| dehomogenized(h) - p0).find(|d| d.norm() > 1e-7 * size).and_then(unit)
}

impl BezierSpline {
    /// Number of pieces.
    #[must_use]
    pub fn n_pieces(&self) -> usize {
        self.breaks.len() - 1
    }

    /// Parameter range: the first and the last break.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        (self.breaks[0], self.breaks[self.breaks.len() - 1])
    }

    /// Period of the parameter; `None` if the spline is not periodic.
    #[must_use]
    pub fn period(&self) -> Option<f64> {
        let (t0, t1) = self.range();
        self.periodic.then_some(t1 - t0)
    }

    /// Control points in space (mm), without their weights.
    #[must_use]
    pub fn points(&self) -> Vec<P3> {
        self.control.iter().map(dehomogenized).collect()
    }

    /// Control points of piece `i`.
    #[must_use]
    pub fn piece_control(&self, i: usize) -> &[H4] {
        let n = self.degree as usize + 1;
        &self.control[i * n..(i + 1) * n]
    }

    /// Index of the piece at `t`. At a break it is the piece after the break; outside the range it is an
    /// end piece. `t` wraps if the spline is periodic.
    #[must_use]
    pub fn piece(&self, t: f64) -> usize {
        eval::locate(&self.breaks, self.wrapped(t))
    }

    /// Returns `t`, wrapped into the range if the spline is periodic.
    #[must_use]
    pub fn wrapped(&self, t: f64) -> f64 {
        eval::wrap_range(&self.breaks, self.periodic, t)
    }

    /// Unit tangent at `t`, also where the derivative is zero; see [`crate::Curve::tangent`]. `None` if
    /// the piece has no length.
    #[must_use]
    pub fn tangent(&self, t: f64) -> Option<V3> {
        self.tangent_of(t, self.derivs(t).d1)
    }

    /// Like [`BezierSpline::tangent`], with the derivative `d1` at `t` already computed.
    pub(crate) fn tangent_of(&self, t: f64, d1: V3) -> Option<V3> {
        let t = self.wrapped(t);
        let i = self.piece(t);
        let (t0, t1) = (self.breaks[i], self.breaks[i + 1]);
        if d1.norm() * (t1 - t0) > 1e-7 * self.piece_size(i) {
            return unit(d1);
        }
        // At a singular point, the longer side of the piece gives the more accurate direction.
        if t - t0 > t1 - t { self.tangent_before(i, t) } else { self.tangent_after(i, t) }
    }

    /// Unit tangent of piece `i` at `t`, as the limit from smaller parameters; `None` if the piece has
    /// no length before `t`.
    pub(crate) fn tangent_before(&self, i: usize, t: f64) -> Option<V3> {
        let mut c = self.sub_control(i, self.breaks[i], t.max(self.breaks[i].next_up()));
        c.reverse();
        first_direction(&c, self.piece_size(i)).map(|d| -d)
    }

    /// Unit tangent of piece `i` at `t`, as the limit from larger parameters; `None` if the piece has no
    /// length after `t`.
    pub(crate) fn tangent_after(&self, i: usize, t: f64) -> Option<V3> {
        let t1 = self.breaks[i + 1];
        first_direction(&self.sub_control(i, t.min(t1.next_down()), t1), self.piece_size(i))
    }

    fn piece_size(&self, i: usize) -> f64 {
        let c = self.piece_control(i);
        let first = dehomogenized(&c[0]);
        c.iter().map(|h| (dehomogenized(h) - first).norm()).fold(0.0, f64::max)
    }

    /// The spline moved by a pose.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        Self { control: self.control.iter().map(|h| moved(h, pose)).collect(), ..self.clone() }
    }

    /// The spline scaled by `f` about the origin, with the same parametrisation.
    #[must_use]
    pub fn scaled(&self, f: f64) -> Self {
        Self { control: self.control.iter().map(|h| scaled(h, f)).collect(), ..self.clone() }
    }
}

/// Breaks strictly inside `(t0, t1)`; those of a periodic spline are repeated with the period.
pub(crate) fn breaks_inside(breaks: &[f64], periodic: bool, t0: f64, t1: f64) -> Vec<f64> {
    let (lo, hi) = (breaks[0], breaks[breaks.len() - 1]);
    if !periodic {
        let inner = &breaks[1..breaks.len() - 1];
        return inner.iter().copied().filter(|b| t0 < *b && *b < t1).collect();
    }
    let period = hi - lo;
    let first = ((t0 - lo) / period).floor();
    let n = ((t1 - lo) / period).ceil() - first;
    // So far from the range, adding a period to a break would be lost in rounding.
    if !(first.abs() < 1e9 && n < 1e4) {
        return Vec::new();
    }
    let mut out = Vec::new();
    let mut turn = first;
    while lo + turn * period < t1 {
        let shifted = breaks[..breaks.len() - 1].iter().map(|b| b + turn * period);
        out.extend(shifted.filter(|b| t0 < *b && *b < t1));
        turn += 1.0;
    }
    out
}

impl BezierSurface {
    /// Numbers of patches in u and v.
    #[must_use]
    pub fn n_patches(&self) -> (usize, usize) {
        (self.u_breaks.len() - 1, self.v_breaks.len() - 1)
    }

    /// Parameter rectangle of the whole surface.
    #[must_use]
    pub fn domain(&self) -> crate::Rect {
        let (u, v) = (&self.u_breaks, &self.v_breaks);
        crate::Rect { u0: u[0], u1: u[u.len() - 1], v0: v[0], v1: v[v.len() - 1] }
    }

    /// Control points in space (mm), without their weights.
    #[must_use]
    pub fn points(&self) -> Vec<P3> {
        self.control.iter().map(dehomogenized).collect()
    }

    /// Control points of patch `(i, j)`; `(a, b)` at `a * (v_degree + 1) + b`.
    #[must_use]
    pub fn patch_control(&self, (i, j): (usize, usize)) -> &[H4] {
        let n = (self.u_degree as usize + 1) * (self.v_degree as usize + 1);
        let k = i * (self.v_breaks.len() - 1) + j;
        &self.control[k * n..(k + 1) * n]
    }

    /// Parameter rectangle of patch `(i, j)`.
    #[must_use]
    pub fn patch_rect(&self, (i, j): (usize, usize)) -> crate::Rect {
        crate::Rect {
            u0: self.u_breaks[i],
            u1: self.u_breaks[i + 1],
            v0: self.v_breaks[j],
            v1: self.v_breaks[j + 1],
        }
    }

    /// Indices of the patch at `uv`. At a break it is the patch after the break; outside the domain it
    /// is a border patch. Periodic directions wrap.
    #[must_use]
    pub fn patch(&self, uv: P2) -> (usize, usize) {
        let uv = self.wrapped(uv);
        (eval::locate(&self.u_breaks, uv.x), eval::locate(&self.v_breaks, uv.y))
    }

    /// Returns `uv`, wrapped into the domain in periodic directions.
    #[must_use]
    pub fn wrapped(&self, uv: P2) -> P2 {
        P2::new(
            eval::wrap_range(&self.u_breaks, self.u_periodic, uv.x),
            eval::wrap_range(&self.v_breaks, self.v_periodic, uv.y),
        )
    }

    /// Unit natural normal ∂u × ∂v at `uv`; see [`crate::Surface::normal`]. At an isolated singular
    /// point it is the limit along the line to the centre of the patch, or the world's `z` if that limit
    /// does not exist.
    #[must_use]
    pub fn normal(&self, uv: P2) -> V3 {
        let uv = self.wrapped(uv);
        let (i, j) = self.patch(uv);
        let (hu, hv) = (self.u_breaks[i + 1] - self.u_breaks[i], self.v_breaks[j + 1] - self.v_breaks[j]);
        let (_, du, dv) = self.first_derivs(uv);
        let (du, dv) = (du * hu, dv * hv);
        let n = du.cross(&dv);
        let c = self.patch_control((i, j));
        let (nv, last) = (self.v_degree as usize, c.len() - 1);
        let diagonals = [(0, last), (nv, last - nv)];
        let size = diagonals.iter().map(|&(a, b)| (dehomogenized(&c[a]) - dehomogenized(&c[b])).norm());
        let size = size.fold(0.0, f64::max).max(du.norm()).max(dv.norm());
        let regular = du.norm() > 1e-8 * size && dv.norm() > 1e-8 * size;
        if regular && n.norm() > 1e-8 * du.norm() * dv.norm() {
            return n.normalize();
        }
        // First order: add the change of ∂u × ∂v towards the centre of the patch.
        let d = self.patch_derivs((i, j), uv);
        let center = P2::new(self.u_breaks[i] + 0.5 * hu, self.v_breaks[j] + 0.5 * hv);
        let (a, b) = ((center.x - uv.x) / hu, (center.y - uv.y) / hv);
        let (duu, duv, dvv) = (d.duu * (hu * hu), d.duv * (hu * hv), d.dvv * (hv * hv));
        let n_u = duu.cross(&dv) + du.cross(&duv);
        let n_v = duv.cross(&dv) + du.cross(&dvv);
        let first = n + n_u * a + n_v * b;
        if first.norm() > 1e-7 * size * size {
            return first.normalize();
        }
        // Higher orders: evaluate slightly inside the patch.
        let d = self.regular_derivs(uv);
        unit(d.du.cross(&d.dv)).unwrap_or_else(V3::z)
    }

    /// Derivatives up to second order at `uv`, or at a point slightly inside the patch if the first
    /// derivatives at `uv` do not span a plane.
    pub(crate) fn regular_derivs(&self, uv: P2) -> crate::SurfaceDerivs {
        let uv = self.wrapped(uv);
        let (i, j) = self.patch(uv);
        let (hu, hv) = (self.u_breaks[i + 1] - self.u_breaks[i], self.v_breaks[j + 1] - self.v_breaks[j]);
        let center = P2::new(self.u_breaks[i] + 0.5 * hu, self.v_breaks[j] + 0.5 * hv);
        let mut d = self.patch_derivs((i, j), uv);
        let size = |d: &crate::SurfaceDerivs| (d.du * hu).norm().max((d.dv * hv).norm());
        for step in [1e-4, 1e-3, 1e-2, 0.1] {
            let s = size(&d);
            if d.du.cross(&d.dv).norm() * hu * hv > 1e-7 * s * s {
                break;
            }
            d = self.patch_derivs((i, j), uv + (center - uv) * step);
        }
        d
    }

    /// The surface moved by a pose.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        Self { control: self.control.iter().map(|h| moved(h, pose)).collect(), ..self.clone() }
    }

    /// The surface scaled by `f` about the origin, with the same parametrisation.
    #[must_use]
    pub fn scaled(&self, f: f64) -> Self {
        Self { control: self.control.iter().map(|h| scaled(h, f)).collect(), ..self.clone() }
    }
}
