//! Exact constructors of conics, extrusions, surfaces of revolution and ruled surfaces, and Hermite
//! interpolation for shapes without an exact form.
//!
//! Breaks of conics and revolutions are ISO 10303-42 parameters (angles in rad). Between breaks, the
//! parameter of a rational arc is not its angle but specific to this library.
//!
//! # Source
//! Piegl & Tiller, *The NURBS Book*, §7.3–7.5 (conics), §8.2–8.5 (bilinear, extruded, ruled, revolved), §5.5
//! (degree elevation).

use std::f64::consts::{FRAC_PI_2, TAU};

use super::{BezierSpline, BezierSurface, H4, homogeneous};
use crate::{Frame, P2, P3, SurfaceDerivs, V3, math};

impl BezierSpline {
    /// Creates the straight segment from `a` to `b` over the parameter range `[t0, t1]`.
    #[must_use]
    pub fn segment(a: &P3, b: &P3, t0: f64, t1: f64) -> Self {
        let control = vec![homogeneous(a, 1.0), homogeneous(b, 1.0)];
        Self { degree: 1, breaks: vec![t0, t1], control, periodic: false }
    }

    /// Creates the arc `o + semi_x cos t x + semi_y sin t y` of the frame with origin `o` over
    /// `[t0, t1]` (rad, at most one turn), as quadratic pieces of at most a quarter turn. Parameter and
    /// angle agree at the breaks only.
    #[must_use]
    pub fn arc(frame: &Frame, semi_x: f64, semi_y: f64, t0: f64, t1: f64) -> Self {
        let breaks = even_breaks(t0, t1, FRAC_PI_2);
        let mut control = Vec::with_capacity(3 * (breaks.len() - 1));
        let at = |t: f64| {
            let (s, c) = math::sin_cos(t);
            frame.vector(semi_x * c, semi_y * s, 0.0)
        };
        for w in breaks.windows(2) {
            let c = math::cos(0.5 * (w[1] - w[0]));
            let m = frame.origin.coords * c + at(0.5 * (w[0] + w[1]));
            control.push(homogeneous(&(frame.origin + at(w[0])), 1.0));
            control.push(H4::new(m.x, m.y, m.z, c));
            control.push(homogeneous(&(frame.origin + at(w[1])), 1.0));
        }
        let periodic = is_turn(t1 - t0);
        let last = control.len() - 1;
        if periodic {
            control[last] = control[0];
        }
        Self { degree: 2, breaks, control, periodic }
    }

    /// Returns the spline restricted to `[t0, t1]`, `t0 < t1`; breaks beyond the end of a periodic
    /// spline are shifted by the period.
    #[must_use]
    pub fn restricted(&self, t0: f64, t1: f64) -> Self {
        if (t0, t1) == self.range() {
            return self.clone();
        }
        let mut breaks = vec![t0];
        let mut control = Vec::new();
        for part in self.parts(t0, t1) {
            control.extend(self.sub_control(part.piece, part.t0, part.t1));
            breaks.push(part.t1 + part.shift);
        }
        let last = breaks.len() - 1;
        breaks[last] = t1;
        let whole = self.period().is_some_and(|p| t1 - t0 >= p * (1.0 - 1e-14));
        Self { degree: self.degree, breaks, control, periodic: whole }
    }

    /// Returns the same curve with its degree raised to `degree`; unchanged if its degree is at least
    /// that.
    #[must_use]
    pub fn elevated(&self, degree: u32) -> Self {
        let mut out = self.clone();
        while out.degree < degree {
            let n = out.degree as usize;
            out.control = out.control.chunks_exact(n + 1).flat_map(elevate).collect();
            out.degree += 1;
        }
        out
    }

    /// Interpolates samples `(t, point, derivative)` by a piecewise cubic. At least two samples with
    /// increasing `t` are required. The error is of fourth order in the parameter distance of the
    /// samples.
    #[must_use]
    pub fn hermite(samples: &[(f64, P3, V3)]) -> Self {
        let mut control = Vec::with_capacity(4 * samples.len());
        for w in samples.windows(2) {
            let ((t0, p0, d0), (t1, p1, d1)) = (w[0], w[1]);
            let h = (t1 - t0) / 3.0;
            control.extend([p0, p0 + d0 * h, p1 - d1 * h, p1].iter().map(|p| homogeneous(p, 1.0)));
        }
        let breaks = samples.iter().map(|s| s.0).collect();
        let mut spline = Self { degree: 3, breaks, control, periodic: false };
        spline.periodic = spline.closes_smoothly();
        spline
    }
}

impl BezierSurface {
    /// Creates the bilinear patch over the unit square through the corners `p[u][v]`.
    #[must_use]
    pub fn bilinear(p: [[P3; 2]; 2]) -> Self {
        Self {
            u_degree: 1,
            v_degree: 1,
            u_breaks: vec![0.0, 1.0],
            v_breaks: vec![0.0, 1.0],
            control: p.iter().flatten().map(|p| homogeneous(p, 1.0)).collect(),
            u_periodic: false,
            v_periodic: false,
        }
    }

    /// Creates the surface `profile(u) + v direction` over `v` in `[v0, v1]`.
    #[must_use]
    pub fn extrusion(profile: &BezierSpline, direction: &V3, v0: f64, v1: f64) -> Self {
        let lift = |h: &H4, v: f64| {
            let a = direction * (h.w * v);
            H4::new(h.x + a.x, h.y + a.y, h.z + a.z, h.w)
        };
        Self {
            u_degree: profile.degree,
            v_degree: 1,
            u_breaks: profile.breaks.clone(),
            v_breaks: vec![v0, v1],
            control: profile.control.iter().flat_map(|h| [lift(h, v0), lift(h, v1)]).collect(),
            u_periodic: profile.periodic,
            v_periodic: false,
        }
    }

    /// Revolves a profile about the line `origin + s axis` (`axis` is a unit vector) through the angles
    /// `[u0, u1]` (rad, at most one turn), in quadratic arcs of at most a quarter turn. `v` is the
    /// parameter of the profile; `u` is the angle at the breaks only.
    #[must_use]
    pub fn revolution(profile: &BezierSpline, origin: &P3, axis: &V3, u0: f64, u1: f64) -> Self {
        let u_breaks = even_breaks(u0, u1, FRAC_PI_2);
        let n = profile.degree as usize + 1;
        let periodic = is_turn(u1 - u0);
        // Rotates the component normal to the axis by `angle`; scales the component along the axis and
        // the weight by `c`.
        let turned = |h: &H4, angle: f64, c: f64| {
            let a = h.xyz() - origin.coords * h.w;
            let along = axis * a.dot(axis);
            let across = a - along;
            let (sin, cos) = math::sin_cos(angle);
            let p = origin.coords * (h.w * c) + along * c + across * cos + axis.cross(&across) * sin;
            H4::new(p.x, p.y, p.z, h.w * c)
        };
        let mut control = Vec::with_capacity((u_breaks.len() - 1) * 3 * profile.control.len());
        let last_arc = u_breaks.len() - 2;
        for (i, w) in u_breaks.windows(2).enumerate() {
            let c = math::cos(0.5 * (w[1] - w[0]));
            let end = if periodic && i == last_arc { u_breaks[0] } else { w[1] };
            for piece in profile.control.chunks_exact(n) {
                for (angle, c) in [(w[0], 1.0), (0.5 * (w[0] + w[1]), c), (end, 1.0)] {
                    control.extend(piece.iter().map(|h| turned(h, angle, c)));
                }
            }
        }
        let mut surface = Self {
            u_degree: 2,
            v_degree: profile.degree,
            u_breaks,
            v_breaks: profile.breaks.clone(),
            control,
            u_periodic: periodic,
            v_periodic: profile.periodic,
        };
        surface.collapse_sides();
        surface
    }

    /// Creates the ruled surface `(1 - v) a(u) + v b(u)` over `u` in the range of `a` and `v` in [0, 1].
    /// The range of `b` is mapped to that of `a`. (If the curves have unequal weights, the rulings are
    /// the same, but their speed in `v` is not constant.)
    #[must_use]
    pub fn ruled(a: &BezierSpline, b: &BezierSpline) -> Self {
        let degree = a.degree.max(b.degree);
        let (a, b) = (a.elevated(degree), b.elevated(degree));
        let ((a0, a1), (b0, b1)) = (a.range(), b.range());
        let tol = 1e-12 * (a1 - a0);
        // Each break is a pair of parameters of `a` and `b`, so that the breaks of both curves are kept
        // exactly.
        let mut pairs: Vec<(f64, f64)> =
            a.breaks.iter().map(|t| (*t, b0 + (t - a0) / (a1 - a0) * (b1 - b0))).collect();
        for t in &b.breaks {
            let s = a0 + (t - b0) / (b1 - b0) * (a1 - a0);
            match pairs.iter_mut().find(|p| (p.0 - s).abs() <= tol) {
                Some(pair) => pair.1 = *t,
                None => pairs.push((s, *t)),
            }
        }
        pairs.sort_by(|x, y| x.0.total_cmp(&y.0));
        let mut control = Vec::new();
        for w in pairs.windows(2) {
            let piece = |s: &BezierSpline, t0: f64, t1: f64| {
                let i = s.piece(0.5 * (t0 + t1));
                s.sub_control(i, t0, t1)
            };
            let (ca, cb) = (piece(&a, w[0].0, w[1].0), piece(&b, w[0].1, w[1].1));
            control.extend(ca.into_iter().zip(cb).flat_map(|(x, y)| [x, y]));
        }
        Self {
            u_degree: degree,
            v_degree: 1,
            u_breaks: pairs.iter().map(|p| p.0).collect(),
            v_breaks: vec![0.0, 1.0],
            control,
            u_periodic: a.periodic && b.periodic,
            v_periodic: false,
        }
    }

    /// Interpolates `f` by a piecewise biquintic surface. It has the points, first derivatives and
    /// twists of `f` on the grid `us × vs` (increasing, at least two values each), and the points and
    /// slopes at the thirds of grid lines. First derivatives are continuous across grid lines if those
    /// of `f` are; the error is of sixth order in the grid distance.
    #[must_use]
    pub fn hermite(us: &[f64], vs: &[f64], f: impl Fn(P2) -> SurfaceDerivs) -> Self {
        let mut control = Vec::with_capacity(36 * us.len() * vs.len());
        for u in us.windows(2) {
            for v in vs.windows(2) {
                let (hu, hv) = (u[1] - u[0], v[1] - v[0]);
                let nodes = |w: &[f64], h: f64| [w[0], w[0] + h / 3.0, w[1] - h / 3.0, w[1]];
                let (at_u, at_v) = (nodes(u, hu), nodes(v, hv));
                let d = at_u.map(|u| at_v.map(|v| f(P2::new(u, v))));
                // Data at the nodes 0 to 3 (thirds): the node, and whether the datum is the derivative.
                // The end nodes have both point and derivative.
                let columns = [(0, false), (0, true), (1, false), (2, false), (3, true), (3, false)];
                let rows = columns.map(|(i, slope_u)| {
                    quintic(columns.map(|(j, slope_v)| {
                        let d = &d[i][j];
                        match (slope_u, slope_v) {
                            (false, false) => d.p.coords,
                            (true, false) => d.du * hu,
                            (false, true) => d.dv * hv,
                            (true, true) => d.duv * (hu * hv),
                        }
                    }))
                });
                let across: [[V3; 6]; 6] = std::array::from_fn(|b| quintic(rows.map(|row| row[b])));
                control.extend((0..36).map(|k| homogeneous(&P3::from(across[k % 6][k / 6]), 1.0)));
            }
        }
        let mut surface = Self {
            u_degree: 5,
            v_degree: 5,
            u_breaks: us.to_vec(),
            v_breaks: vs.to_vec(),
            control,
            u_periodic: false,
            v_periodic: false,
        };
        surface.detect_periodicity();
        surface
    }
}

/// Control points of the quintic over [0, 1] with the data `d`: value and slope at 0, values at 1/3 and
/// 2/3, slope and value at 1.
fn quintic(d: [V3; 6]) -> [V3; 6] {
    let (b0, b1, b4, b5) = (d[0], d[0] + d[1] / 5.0, d[5] - d[4] / 5.0, d[5]);
    let p = d[2] * 243.0 - b0 * 32.0 - b1 * 80.0 - b4 * 10.0 - b5;
    let q = d[3] * 243.0 - b0 - b1 * 10.0 - b4 * 80.0 - b5 * 32.0;
    [b0, b1, (p * 2.0 - q) / 120.0, (q * 2.0 - p) / 120.0, b4, b5]
}

/// Whether an angle (rad) is a full turn, up to rounding.
fn is_turn(angle: f64) -> bool {
    (angle - TAU).abs() <= 1e-12
}

/// Evenly spaced breaks from the first to the last parameter, at most `step` apart.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the count is small and positive"
)]
pub(crate) fn even_breaks(t0: f64, t1: f64, step: f64) -> Vec<f64> {
    let n = ((t1 - t0) / step * (1.0 - 1e-12)).ceil().clamp(1.0, 1e4) as usize;
    (0..=n).map(|i| if i == n { t1 } else { t0 + (t1 - t0) * (i as f64 / n as f64) }).collect()
}

#[expect(clippy::cast_precision_loss, reason = "degrees are small")]
fn elevate(c: &[H4]) -> Vec<H4> {
    let n = c.len();
    (0..=n)
        .map(|i| {
            let f = i as f64 / n as f64;
            let left = if i > 0 { c[i - 1] * f } else { H4::zeros() };
            let right = if i < n { c[i] * (1.0 - f) } else { H4::zeros() };
            left + right
        })
        .collect()
}
