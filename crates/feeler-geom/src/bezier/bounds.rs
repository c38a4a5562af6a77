//! Bounds from control points: boxes, hulls, tangent and normal vectors over parameter ranges of splines
//! and grids.

use super::{BezierSpline, BezierSurface, H4, bernstein, dehomogenized};
use crate::{Aabb, P3, Rect, V3};

impl BezierSpline {
    /// Control points of the pieces over `[t0, t1]`; their convex hull contains the curve over this
    /// range. If extrapolation far outside the breaks makes a weight non-positive, the result is empty.
    #[must_use]
    pub fn hull_points(&self, t0: f64, t1: f64) -> Vec<P3> {
        let parts = self.parts(t0, t1);
        points(parts.iter().map(|p| self.sub_control(p.piece, p.t0, p.t1)))
    }

    /// Vectors whose conical hull contains all tangents over `[t0, t1]`; empty if the curve has no
    /// length there.
    #[must_use]
    pub fn tangent_vectors(&self, t0: f64, t1: f64) -> Vec<V3> {
        let mut out = Vec::new();
        for part in self.parts(t0, t1) {
            let noise = bernstein::rounding(self.piece_control(part.piece));
            let control = bernstein::local(self.piece_control(part.piece));
            let (t0, t1) = widened(part.t0, part.t1, self.breaks[part.piece], self.breaks[part.piece + 1]);
            let net = self.restrict(part.piece, control, t0, t1);
            out.extend(bernstein::tangent_vectors(&net, noise));
        }
        out
    }
}

impl BezierSurface {
    /// Control points of the patches over `rect`; their convex hull contains the surface over this
    /// rectangle. If extrapolation far outside the breaks makes a weight non-positive, the result is
    /// empty.
    #[must_use]
    pub fn hull_points(&self, rect: &Rect) -> Vec<P3> {
        points(self.cells(rect).iter().map(|(patch, part)| self.sub_control(*patch, part)))
    }

    /// Vectors whose conical hull contains all natural normals over `rect`, from the control vectors of
    /// the scaled normal patches. `None` if a patch has no area.
    #[must_use]
    pub fn normal_vectors(&self, rect: &Rect) -> Option<Vec<V3>> {
        let (nu, nv) = (self.u_degree as usize, self.v_degree as usize);
        let mut out = Vec::new();
        for (patch, part) in self.cells(rect) {
            let noise = bernstein::rounding(self.patch_control(patch));
            let control = bernstein::local(self.patch_control(patch));
            let whole = self.patch_rect(patch);
            let (u0, u1) = widened(part.u0, part.u1, whole.u0, whole.u1);
            let (v0, v1) = widened(part.v0, part.v1, whole.v0, whole.v1);
            let net = self.restrict(patch, control, &Rect { u0, u1, v0, v1 });
            let vectors = bernstein::normal_vectors(&net, nu, nv, noise);
            if vectors.is_empty() {
                return None;
            }
            out.extend(vectors);
        }
        Some(out)
    }
}

/// Widens the range `[t0, t1]` to at least 1e-6 of the piece's range `[b0, b1]`, because differences
/// over smaller ranges are dominated by rounding.
fn widened(t0: f64, t1: f64, b0: f64, b1: f64) -> (f64, f64) {
    let min_length = 1e-6 * (b1 - b0);
    if t1 - t0 >= min_length {
        return (t0, t1);
    }
    let grow = 0.5 * (min_length - (t1 - t0));
    // Stay inside the piece if the range was inside, because an extrapolation has other directions.
    let lo = (t0 - grow).max(b0.min(t0));
    let hi = (lo + min_length).min(b1.max(t1));
    ((hi - min_length).min(t0), hi.max(t1))
}

fn points(nets: impl Iterator<Item = Vec<H4>>) -> Vec<P3> {
    let all: Vec<H4> = nets.flatten().collect();
    if all.iter().all(|h| h.w > 0.0) { all.iter().map(dehomogenized).collect() } else { Vec::new() }
}

/// Box of points, rounded outward; the unbounded box if `points` is empty.
pub(crate) fn box_of(points: &[P3]) -> Aabb {
    let b = Aabb::of_points(points);
    if b.is_empty() {
        let inf = f64::INFINITY;
        return Aabb { min: P3::new(-inf, -inf, -inf), max: P3::new(inf, inf, inf) };
    }
    let reach = b.min.coords.amax().max(b.max.coords.amax());
    b.inflated(32.0 * f64::EPSILON * reach)
}
