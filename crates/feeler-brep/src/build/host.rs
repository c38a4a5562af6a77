//! Surface of a face with data for the parameter plane: periods, closed sides, singular points, inversion
//! by continuity.

use std::f64::consts::TAU;

use feeler_geom::{P2, P3, Rect, Surface, V2, V3, math};

use super::singular::{Singular, inner_sheet, spindle_angle};

/// Maximum distance of a face's edges from the sheet of a spindle torus that the file states, relative
/// to the solid's size. If it is exceeded and the other sheet is nearer, that one is used. A larger
/// value keeps wrong statements; with a smaller one, inexact edges change the sheet.
const FAR_SHEET: f64 = 1e-3;

/// Surface of a face with the data needed for work in its parameter plane.
#[derive(Clone, Debug)]
pub(super) struct Host<'a> {
    pub(super) surface: &'a Surface,
    pub(super) singular: Vec<Singular>,
    pub(super) u_period: Option<f64>,
    pub(super) v_period: Option<f64>,
    pub(super) natural: Rect,
    /// Whether the sides at the minimum and the maximum u coincide in space although u has no period (at
    /// a crease or an unmarked seam).
    pub(super) u_closed: bool,
    /// Like `u_closed`, for v.
    pub(super) v_closed: bool,
}

impl<'a> Host<'a> {
    /// Creates the host of a surface. `outer_sheet` is the stated sheet of a spindle torus, and `near`
    /// returns points of the face, which select the sheet if none is stated or the statement is wrong.
    pub(super) fn new(
        surface: &'a Surface,
        singular: &[Singular],
        outer_sheet: Option<bool>,
        near: &dyn Fn() -> Vec<P3>,
        size: f64,
    ) -> Self {
        let mut host = Self {
            surface,
            singular: singular.to_vec(),
            u_period: surface.u_period(),
            v_period: surface.v_period(),
            natural: surface.natural_domain(),
            u_closed: false,
            v_closed: false,
        };
        if let Some(tip) = spindle_angle(surface) {
            host.v_period = None;
            let near = near();
            let sheets = [(-tip, tip), (tip, TAU - tip)];
            // Largest distance (mm) of the points of the face from each sheet of the spindle torus. The
            // smallest distance would not distinguish the sheets, because they share both tips.
            let [outer, inner] = sheets.map(|(v0, v1)| {
                let sheet = Rect { v0, v1, ..host.natural };
                let off = |p: &P3| (surface.point(surface.invert(p, None, Some(&sheet))) - p).norm();
                near.iter().map(off).fold(0.0, f64::max)
            });
            let is_wrong = |own: f64, other: f64| own > FAR_SHEET * size && other < 0.5 * own;
            let is_inner = match outer_sheet {
                Some(true) => is_wrong(outer, inner),
                Some(false) => !is_wrong(inner, outer),
                None => inner < 0.5 * outer,
            };
            (host.natural.v0, host.natural.v1) = sheets[usize::from(is_inner)];
            if is_inner {
                inner_sheet(&mut host.singular);
            }
        }
        if let Surface::Bezier(_) = surface {
            let r = host.natural;
            let same = |a: P2, b: P2| (surface.point(a) - surface.point(b)).norm() <= 1e-7 * size;
            let spread = |lo: f64, hi: f64| (0..=8).map(move |k| lo + (hi - lo) * f64::from(k) / 8.0);
            let free = |u_free: bool| !host.singular.iter().any(|s| s.u_free == u_free);
            host.u_closed = host.u_period.is_none()
                && free(false)
                && spread(r.v0, r.v1).all(|v| same(P2::new(r.u0, v), P2::new(r.u1, v)));
            host.v_closed = host.v_period.is_none()
                && free(true)
                && spread(r.u0, r.u1).all(|u| same(P2::new(u, r.v0), P2::new(u, r.v1)));
        }
        host
    }

    /// Returns the parameter rectangle in which pcurves must stay: the natural rectangle, but unbounded
    /// in a parameter that is periodic.
    pub(super) fn reach(&self) -> Rect {
        let r = &self.natural;
        let side = |period: Option<f64>, lo: f64, hi: f64| match period {
            Some(_) => (f64::NEG_INFINITY, f64::INFINITY),
            None => (lo, hi),
        };
        let (u0, u1) = side(self.u_period, r.u0, r.u1);
        let (v0, v1) = side(self.v_period, r.v0, r.v1);
        Rect { u0, u1, v0, v1 }
    }

    /// Returns whether the parameter line through `uv`, along which only parameter `k` varies (0 for u,
    /// 1 for v), is nearly a point in space: all its points are within `tol` (mm) of the surface point
    /// at `uv`.
    pub(super) fn is_short_line(&self, uv: P2, k: usize, tol: f64) -> bool {
        let r = &self.natural;
        let (lo, hi) = if k == 0 { (r.u0, r.u1) } else { (r.v0, r.v1) };
        let p = self.surface.point(uv);
        // The ends come first, because on almost all surfaces they are far away.
        [0, 8, 4, 2, 6, 1, 3, 5, 7].into_iter().all(|i| {
            let mut at = uv;
            at[k] = lo + (hi - lo) * (f64::from(i) / 8.0);
            (self.surface.point(at) - p).norm() <= tol
        })
    }

    /// Returns whether `uv` is on a side where the surface closes on itself without a period.
    pub(super) fn is_on_closed_side(&self, uv: P2) -> bool {
        let r = &self.natural;
        let near = |x: f64, lo: f64, hi: f64| x - lo <= 1e-6 * (hi - lo) || hi - x <= 1e-6 * (hi - lo);
        (self.u_closed && near(uv.x, r.u0, r.u1)) || (self.v_closed && near(uv.y, r.v0, r.v1))
    }

    /// Returns `uv`, shifted by whole periods so that each parameter is within half a period of that of
    /// `near`.
    pub(super) fn unwrapped(&self, uv: P2, near: P2) -> P2 {
        let v_turn = if spindle_angle(self.surface).is_some() { Some(TAU) } else { self.v_period };
        let shift = |x: f64, near: f64, p: Option<f64>| p.map_or(x, |p| math::unwrap_near(x, near, p));
        P2::new(shift(uv.x, near.x, self.u_period), shift(uv.y, near.y, v_turn))
    }

    /// Returns the parameters of the surface point to which Newton's method for the point nearest to `p`
    /// converges from `hint`. Returns `None` if that point is farther than `expected` (mm) from `p`, if
    /// the method does not converge, and for surfaces other than splines.
    pub(super) fn descend(&self, p: &P3, hint: P2, expected: f64) -> Option<P2> {
        let Surface::Bezier(b) = self.surface else { return None };
        let (uv, _) = b.descend(p, hint).filter(|(_, off)| *off <= expected)?;
        Some(self.unwrapped(uv, hint))
    }

    /// Returns the parameters of the surface point nearest to `p`, among those around `hint`. The result
    /// of Newton's method is accepted if it is within `expected` (mm) of `p`; otherwise the surroundings
    /// of `hint` are searched.
    pub(super) fn invert(&self, p: &P3, hint: P2, expected: f64) -> P2 {
        self.descend(p, hint, expected).unwrap_or_else(|| self.search_near(p, hint))
    }

    /// Searches the surface point nearest to `p`: around `hint` first, and on the whole surface if the
    /// nearest point found is at the limit of these surroundings. Returns its parameters.
    pub(super) fn search_near(&self, p: &P3, hint: P2) -> P2 {
        if let Surface::Bezier(b) = self.surface {
            // For edges that are off the surface, Newton's method ends at the border of the surface,
            // where only a search is reliable. A local search is tried first.
            let r = b.domain();
            let reach = V2::new(0.06 * r.width(), 0.06 * r.height());
            let span = |x: f64, reach: f64, period: Option<f64>, lo: f64, hi: f64| match period {
                Some(_) => (x - reach, x + reach),
                None => ((x - reach).max(lo), (x + reach).min(hi)),
            };
            let (u0, u1) = span(hint.x, reach.x, self.u_period, r.u0, r.u1);
            let (v0, v1) = span(hint.y, reach.y, self.v_period, r.v0, r.v1);
            let near = Rect { u0, u1, v0, v1 };
            if u0 < u1 && v0 < v1 {
                let uv = self.surface.invert(p, Some(hint), Some(&near));
                let cut = |x: f64, lo: f64, hi: f64, at: f64, reach: f64| {
                    (x <= lo && lo > at - 1.001 * reach && lo < at - 0.999 * reach)
                        || (x >= hi && hi < at + 1.001 * reach && hi > at + 0.999 * reach)
                };
                let cut = cut(uv.x, u0, u1, hint.x, reach.x) || cut(uv.y, v0, v1, hint.y, reach.y);
                if !cut {
                    return uv;
                }
            }
        }
        self.unwrapped(self.surface.invert(p, Some(hint), self.sheet()), hint)
    }

    /// Returns the parameter rectangle of the face's sheet of a spindle torus; `None` for other
    /// surfaces.
    fn sheet(&self) -> Option<&Rect> {
        spindle_angle(self.surface).is_some().then_some(&self.natural)
    }

    /// Searches the surface point nearest to `p` on the whole surface (for a spindle torus, on the
    /// face's sheet) and returns its parameters in the natural rectangle.
    pub(super) fn invert_global(&self, p: &P3) -> P2 {
        let uv = self.surface.invert(p, None, self.sheet());
        if spindle_angle(self.surface).is_some() {
            let mid = 0.5 * (self.natural.v0 + self.natural.v1);
            return P2::new(uv.x, math::unwrap_near(uv.y, mid, TAU));
        }
        uv
    }

    /// Returns the index in `self.singular` of the singular point within `tol` (mm) of `p`; `None` if no
    /// singular point is that near. `inside` is a point farther inside the face, which selects one of
    /// the two tips of a horn torus, because the tips coincide in space.
    pub(super) fn singular_at(&self, p: &P3, tol: f64, inside: &P3) -> Option<usize> {
        let mut near = (0..self.singular.len()).filter(|i| (self.singular[*i].point - p).norm() <= tol);
        let first = near.next()?;
        let mut others = near.peekable();
        if others.peek().is_none() {
            return Some(first);
        }
        let uv = self.invert_global(inside);
        let off = |i: usize| (self.singular[i].fixed(uv) - self.singular[i].value).abs();
        Some(others.fold(first, |best, i| if off(i) < off(best) { i } else { best }))
    }

    /// Returns the first derivatives of the surface with respect to u and v.
    pub(super) fn jacobian(&self, uv: P2) -> (V3, V3) {
        let (_, du, dv) = self.surface.first_derivs(uv);
        (du, dv)
    }
}

/// Maps a parameter vector `d` to space by the first derivatives of a surface.
pub(super) fn push((du, dv): &(V3, V3), d: V2) -> V3 {
    du * d.x + dv * d.y
}

/// Maps a velocity in space to a velocity in the parameter plane by least squares, given the first
/// derivatives of the surface with respect to u and v; `None` if these are (almost) parallel.
pub(super) fn pull((du, dv): &(V3, V3), velocity: &V3) -> Option<V2> {
    let (e, f, g) = (du.norm_squared(), du.dot(dv), dv.norm_squared());
    let det = e * g - f * f;
    // det / (e g) is the squared sine of the angle between the parameter lines at the point.
    if det.is_nan() || det <= 1e-14 * e * g {
        return None;
    }
    let (a, b) = (du.dot(velocity), dv.dot(velocity));
    Some(V2::new((g * a - f * b) / det, (e * b - f * a) / det))
}
