//! Bounds of third derivatives, for the error of a quadratic model of a piece or patch.
//!
//! # Source
//! Piegl & Tiller, *The NURBS Book*, §1.3–1.5 (hodographs, quotient rule); the hull property of the
//! control points of derivatives. Derivatives of rational nets are bounded by the quotient rule in
//! interval arithmetic, per coordinate.

use super::{BezierSpline, BezierSurface, H4, bernstein, dehomogenized, subdivide};
use crate::ball::VectorBall;
use crate::interval::Interval;
use crate::{Rect, V3, math};

/// A net of homogeneous control points over the unit square.
#[derive(Clone)]
struct Net {
    nu: usize,
    nv: usize,
    c: Vec<H4>,
}

impl Net {
    /// Control points of the derivative of order `(ku, kv)`; a single zero if the order exceeds a
    /// degree.
    fn derivative(&self, ku: usize, kv: usize) -> Vec<H4> {
        let mut out = self.clone();
        (0..ku).for_each(|_| out.differentiate(0));
        (0..kv).for_each(|_| out.differentiate(1));
        out.c
    }

    /// Returns section `i` of `n` along the first parameter, if `axis` is 0, or along the second one.
    fn part(&self, axis: usize, i: i32, n: i32) -> Self {
        let mut c = self.c.clone();
        let (s0, s1) = (f64::from(i) / f64::from(n), f64::from(i + 1) / f64::from(n));
        if axis == 0 {
            for b in 0..=self.nv {
                subdivide::restrict(&mut c[b..], self.nu, self.nv + 1, s0, s1);
            }
        } else {
            for row in c.chunks_exact_mut(self.nv + 1) {
                subdivide::restrict(row, self.nv, 1, s0, s1);
            }
        }
        Self { nu: self.nu, nv: self.nv, c }
    }

    /// Replaces the net by that of its derivative along the first parameter, if `axis` is 0, or along the
    /// second one; by a single zero if the degree is 0.
    fn differentiate(&mut self, axis: usize) {
        let Self { nu, nv, c } = self;
        let n = *nv + 1;
        let degree = if axis == 0 { &mut *nu } else { &mut *nv };
        if *degree == 0 {
            *self = Self { nu: 0, nv: 0, c: vec![H4::zeros()] };
            return;
        }
        #[expect(clippy::cast_precision_loss, reason = "degrees are small")]
        let scale = *degree as f64;
        *degree -= 1;
        let (step, width) = if axis == 0 { (n, n) } else { (1, n - 1) };
        let mut len = 0;
        for k in 0..c.len() - step {
            // Along the second parameter, the last point of a row has no successor in the row.
            if axis == 0 || k % n < width {
                c[len] = (c[k + step] - c[k]) * scale;
                len += 1;
            }
        }
        c.truncate(len);
    }

    /// Returns ranges of the derivatives of the homogeneous control points: at \[i\]\[j\] those of order i
    /// along the first parameter and j along the second one, up to order 3 in total.
    fn ranges(&self) -> [[(Range, Interval); 4]; 4] {
        let reach = self.c.iter().fold(0.0, |m: f64, h| m.max(h.amax()));
        let mut out = [[(Range([Interval::point(0.0); 3]), Interval::point(0.0)); 4]; 4];
        let mut along_u = self.clone();
        let mut net = self.clone();
        for (i, row) in (0..).zip(&mut out) {
            net.clone_from(&along_u);
            let last = if self.nv == 0 { 0 } else { 3 - i };
            for (j, range) in (0..=last).zip(row) {
                *range = Range::of(&net.c, self.rounding(reach, i + j));
                net.differentiate(1);
            }
            along_u.differentiate(0);
        }
        out
    }

    /// Upper bound of the absolute rounding error of the coordinates of a derivative's control points,
    /// for order `k` of the derivative and control points up to `reach`. Subdivision adds about an ulp
    /// per step, and every difference multiplies the error by twice the degree.
    #[expect(clippy::cast_precision_loss, reason = "degrees are small")]
    fn rounding(&self, reach: f64, k: i32) -> f64 {
        let n = self.nu.max(self.nv) as f64;
        8.0 * (n + 2.0) * f64::EPSILON * reach * math::powi(2.0 * n, k)
    }
}

/// Enclosure of a vector by one interval per coordinate.
#[derive(Clone, Copy)]
struct Range([Interval; 3]);

impl Range {
    fn of(c: &[H4], rounding: f64) -> (Self, Interval) {
        let coordinate = |k: usize| {
            let (lo, hi) =
                c.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), h| (lo.min(h[k]), hi.max(h[k])));
            Interval::new(lo - rounding, hi + rounding)
        };
        (Self([0, 1, 2].map(coordinate)), coordinate(3))
    }

    fn hull(&self, o: &Self) -> Self {
        Self([0, 1, 2].map(|k| self.0[k].hull(&o.0[k])))
    }

    fn minus(self, f: Interval, o: Self) -> Self {
        Self([0, 1, 2].map(|k| self.0[k] - f * o.0[k]))
    }

    fn over(self, w: Interval) -> Self {
        Self(self.0.map(|x| x / w))
    }

    fn ball(&self) -> VectorBall {
        let center = V3::from_fn(|k, _| self.0[k].mid());
        let far = V3::from_fn(|k, _| (self.0[k].hi() - center[k]).max(center[k] - self.0[k].lo()));
        let radius = far.norm() * (1.0 + 8.0 * f64::EPSILON);
        if radius.is_finite() { VectorBall::new(center, radius) } else { VectorBall::everything() }
    }
}

/// Maximum number of equal sections along each parameter into which a rational net is divided; the
/// derivatives are bounded on each section. A larger value gives tighter bounds and takes longer; a smaller
/// one gives looser bounds.
const MAX_PARTS: i32 = 4;
/// Relative change of the weights along a parameter, over a section, up to which the net is not divided
/// further along it. With a larger value bounds are looser, because the quotient rule multiplies the changes
/// of lower derivatives by those of the weights; with a smaller one small cells are divided in vain.
const MAX_WEIGHT_CHANGE: f64 = 0.1;

impl Net {
    /// Number of sections that the weights need along the first parameter, if `axis` is 0, or along the
    /// second one.
    fn parts(&self, axis: usize) -> i32 {
        let (step, degree) = if axis == 0 { (self.nv + 1, self.nu) } else { (1, self.nv) };
        let is_last = |k: usize| axis == 1 && k % (self.nv + 1) == self.nv;
        let pairs = (0..self.c.len() - step).filter(|k| !is_last(*k));
        let changes = pairs.map(|k| (self.c[k + step].w - self.c[k].w).abs());
        let least = self.c.iter().fold(f64::INFINITY, |least: f64, h| least.min(h.w));
        #[expect(clippy::cast_precision_loss, reason = "degrees are small")]
        let change = degree as f64 * changes.fold(0.0, f64::max) / least;
        // Also for weights that are not positive.
        let is_enough = |n: &i32| 0.0 <= change && change <= MAX_WEIGHT_CHANGE * f64::from(*n);
        [1, 2].into_iter().find(is_enough).unwrap_or(MAX_PARTS)
    }
}

/// Returns a ball for each of the `orders` (ku, kv), with ku + kv = 3. It contains the derivatives of
/// the net's curve or surface of that order with respect to the parameters of the unit square.
fn third<const N: usize>(net: &Net, orders: [(usize, usize); N]) -> [VectorBall; N] {
    let w0 = net.c[0].w;
    let plain = net.c.iter().all(|h| (h.w - w0).abs() <= 64.0 * f64::EPSILON * w0.abs());
    if plain {
        let reach = net.c.iter().fold(0.0, |m: f64, h| m.max(h.amax()));
        // The rounding error of the weights has the effect of an error of one more coordinate.
        let rounding = 64.0 * net.rounding(reach, 3) / w0;
        return orders.map(|(i, j)| {
            let d: Vec<V3> = net.derivative(i, j).iter().map(|h| h.xyz() / w0).collect();
            VectorBall::around(&d).widened(2.0 * rounding)
        });
    }
    // Sections are shorter along both parameters, because the lower derivatives are bounded better, too.
    let parts = net.parts(0).max(net.parts(1));
    let (parts_u, parts_v) = (parts, if net.nv == 0 { 1 } else { parts });
    let mut all: Option<[Range; N]> = None;
    for i in 0..parts_u {
        let strip = net.part(0, i, parts_u);
        for j in 0..parts_v {
            let mut part = if parts_v > 1 { strip.part(1, j, parts_v) } else { strip.clone() };
            part.c = centered(&part.c);
            let Some(ranges) = quotients(&part, orders) else {
                return [VectorBall::everything(); N];
            };
            all = Some(match all {
                Some(before) => std::array::from_fn(|k| before[k].hull(&ranges[k])),
                None => ranges,
            });
        }
    }
    // The derivatives are with respect to the parameters of a section.
    let powers = |x: i32| (0..4).scan(1.0, move |p, _| Some(std::mem::replace(p, *p * f64::from(x))));
    let (of_u, of_v) = (powers(parts_u).collect::<Vec<_>>(), powers(parts_v).collect::<Vec<_>>());
    all.map_or([VectorBall::everything(); N], |ranges| {
        std::array::from_fn(|k| ranges[k].ball().times(of_u[orders[k].0] * of_v[orders[k].1]))
    })
}

/// Returns a range for each of the `orders`, which contains the derivatives of that order of a rational
/// net; `None` if a weight may be non-positive.
fn quotients<const N: usize>(net: &Net, orders: [(usize, usize); N]) -> Option<[Range; N]> {
    let ranges = net.ranges();
    let all = |i: usize, j: usize| ranges[i][j];
    let (a, w) = all(0, 0);
    if w.lo() <= 0.0 {
        return None;
    }
    let s = a.over(w);
    let two = Interval::point(2.0);
    let three = Interval::point(3.0);
    // Orders along the first and the second parameter; `swap` exchanges the two.
    let mixed = |i: usize, j: usize, swap: bool| if swap { all(j, i) } else { all(i, j) };
    Some(orders.map(|(i, j)| {
        let swap = j > i;
        let ((au, wu), (auu, wuu)) = (mixed(1, 0, swap), mixed(2, 0, swap));
        let su = au.minus(wu, s).over(w);
        let suu = auu.minus(two * wu, su).minus(wuu, s).over(w);
        if i == 0 || j == 0 {
            let (auuu, wuuu) = mixed(3, 0, swap);
            return auuu.minus(three * wu, suu).minus(three * wuu, su).minus(wuuu, s).over(w);
        }
        let ((av, wv), (auv, wuv)) = (mixed(0, 1, swap), mixed(1, 1, swap));
        let sv = av.minus(wv, s).over(w);
        let suv = auv.minus(wu, sv).minus(wv, su).minus(wuv, s).over(w);
        let (auuv, wuuv) = mixed(2, 1, swap);
        let sum = auuv.minus(wv, suu).minus(two * wu, suv).minus(two * wuv, su);
        sum.minus(wuu, sv).minus(wuuv, s).over(w)
    }))
}

/// Control points relative to the centre of those with positive weight; each coordinate is rounded once.
fn centered(c: &[H4]) -> Vec<H4> {
    let points: Vec<V3> = c.iter().filter(|h| h.w > 0.0).map(|h| dehomogenized(h).coords).collect();
    let o = VectorBall::around(&points).center;
    c.iter().map(|h| *h - H4::new(o.x * h.w, o.y * h.w, o.z * h.w, 0.0)).collect()
}

impl BezierSpline {
    /// Ball that contains the third derivatives over `[t0, t1]` of the piece that contains the middle of
    /// the range, extrapolated beyond its breaks. Derivatives are with respect to the parameter of the
    /// spline.
    #[must_use]
    pub fn third_derivatives(&self, t0: f64, t1: f64) -> VectorBall {
        let i = self.piece(0.5 * (t0 + t1));
        let shift = self.wrapped(0.5 * (t0 + t1)) - 0.5 * (t0 + t1);
        let control = bernstein::local(self.piece_control(i));
        let c = centered(&self.restrict(i, control, t0 + shift, t1 + shift));
        let [ball] = third(&Net { nu: c.len() - 1, nv: 0, c }, [(3, 0)]);
        let w = t1 - t0;
        ball.times(1.0 / (w * w * w))
    }
}

impl BezierSurface {
    /// Balls that contain the third derivatives uuu, uuv, uvv and vvv over `rect` of the patch that
    /// contains the centre of the rectangle, extrapolated beyond its breaks. Derivatives are with
    /// respect to the parameters of the surface.
    #[must_use]
    pub fn third_derivatives(&self, rect: &Rect) -> [VectorBall; 4] {
        let middle = rect.center();
        let (patch, inside) = (self.patch(middle), self.wrapped(middle));
        let (du, dv) = (inside.x - middle.x, inside.y - middle.y);
        let moved = Rect { u0: rect.u0 + du, u1: rect.u1 + du, v0: rect.v0 + dv, v1: rect.v1 + dv };
        let control = bernstein::local(self.patch_control(patch));
        let c = centered(&self.restrict(patch, control, &moved));
        let net = Net { nu: self.u_degree as usize, nv: self.v_degree as usize, c };
        let [uuu, uuv, uvv, vvv] = third(&net, [(3, 0), (2, 1), (1, 2), (0, 3)]);
        let (wu, wv) = (rect.width(), rect.height());
        [
            uuu.times(1.0 / (wu * wu * wu)),
            uuv.times(1.0 / (wu * wu * wv)),
            uvv.times(1.0 / (wu * wv * wv)),
            vvv.times(1.0 / (wv * wv * wv)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{nurbs_curve, nurbs_surface, rng};
    use crate::{Curve, P2, Rect, Surface, V3};
    use rand::Rng;

    /// Difference quotients of second derivatives are means of third ones, so the ball, which is convex,
    /// contains them.
    #[test]
    fn differences_of_second_derivatives_are_inside() {
        let mut r = rng(93);
        let mut tight = 0;
        for k in 0..400 {
            let curve = nurbs_curve(&mut r).to_bezier().unwrap();
            let (b0, b1) = {
                let i = r.random_range(0..curve.n_pieces());
                (curve.breaks[i], curve.breaks[i + 1])
            };
            let (s, t) = (r.random_range(0.0..0.9), r.random_range(0.02..1.0));
            let (t0, t1) = (b0 + (b1 - b0) * s, b0 + (b1 - b0) * (s + (1.0 - s) * t));
            let ball = curve.third_derivatives(t0, t1);
            let size = curve.derivs(t0).d2.norm() + curve.derivs(t1).d2.norm();
            for _ in 0..5 {
                let (mut x, mut y) = (r.random_range(t0..t1), r.random_range(t0..t1));
                if y < x {
                    std::mem::swap(&mut x, &mut y);
                }
                let mean = (curve.derivs(y).d2 - curve.derivs(x).d2) / (y - x);
                let noise = 1e-12 * size / (y - x);
                assert!(ball.widened(noise).contains(&mean), "{k}: {ball:?} {mean}");
                tight += u32::from((mean - ball.center).norm() > 0.2 * ball.radius);
            }
        }
        // Otherwise the bound would be too loose.
        assert!(tight > 300, "{tight}");
    }

    #[test]
    fn differences_on_patches_are_inside() {
        let mut r = rng(94);
        for k in 0..150 {
            let surface = nurbs_surface(&mut r).to_bezier().unwrap();
            let (i, j) = (
                r.random_range(0..surface.u_breaks.len() - 1),
                r.random_range(0..surface.v_breaks.len() - 1),
            );
            let whole = surface.patch_rect((i, j));
            let mut part = |a: f64, b: f64| {
                let s = r.random_range(0.0..0.6);
                (a + (b - a) * s, a + (b - a) * (s + r.random_range(0.1..0.4)))
            };
            let ((u0, u1), (v0, v1)) = (part(whole.u0, whole.u1), part(whole.v0, whole.v1));
            let rect = Rect { u0, u1, v0, v1 };
            let third = surface.third_derivatives(&rect);
            let at = |u: f64, v: f64| surface.patch_derivs((i, j), P2::new(u, v));
            let size = [at(u0, v0), at(u1, v1), at(u0, v1), at(u1, v0)]
                .iter()
                .fold(0.0, |m: f64, d| m.max(d.duu.norm() + d.duv.norm() + d.dvv.norm()));
            for _ in 0..5 {
                let (x, y) = (r.random_range(u0..u1), r.random_range(v0..v1));
                let (p, q, s, t) = (at(u0, y), at(u1, y), at(x, v0), at(x, v1));
                let (wu, wv) = (rect.width(), rect.height());
                let means: [(usize, V3, f64); 6] = [
                    (0, (q.duu - p.duu) / wu, wu),
                    (1, (q.duv - p.duv) / wu, wu),
                    (2, (q.dvv - p.dvv) / wu, wu),
                    (1, (t.duu - s.duu) / wv, wv),
                    (2, (t.duv - s.duv) / wv, wv),
                    (3, (t.dvv - s.dvv) / wv, wv),
                ];
                for (which, mean, width) in means {
                    let ball = third[which].widened(1e-11 * size / width);
                    assert!(ball.contains(&mean), "{k}: {which} {ball:?} {mean}");
                }
            }
        }
    }

    #[test]
    fn closed_forms_of_conics() {
        let mut r = rng(95);
        let frame = crate::testing::frame(&mut r);
        for curve in [
            Curve::Circle { frame, radius: 2.0 },
            Curve::Ellipse { frame, semi_x: 3.0, semi_y: 0.5 },
            Curve::Parabola { frame, focal: 1.3 },
            Curve::Hyperbola { frame, semi: 1.2, semi_imag: 0.4 },
            Curve::Line { origin: frame.origin, dir: frame.x },
        ] {
            for _ in 0..200 {
                let (t0, w) = (r.random_range(-2.0..2.0), r.random_range(0.01..1.0));
                let ball = curve.third_derivatives(t0, t0 + w);
                let (x, y) = (r.random_range(t0..t0 + w), t0 + w);
                let mean = (curve.derivs(y).d2 - curve.derivs(x).d2) / (y - x);
                assert!(ball.widened(1e-13 / (y - x)).contains(&mean), "{curve:?}: {ball:?} {mean}");
            }
        }
    }

    #[test]
    fn canonical_surfaces_have_no_third_derivatives() {
        let frame = crate::testing::frame(&mut rng(96));
        let rect = Rect { u0: 0.0, u1: 1.0, v0: 0.0, v1: 1.0 };
        assert!(Surface::Plane { frame }.third_derivatives(&rect).is_none(), "canonical");
    }
}
