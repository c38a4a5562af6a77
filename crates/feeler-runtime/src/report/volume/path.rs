//! Pieces of the boundary of a clipped face in its parameter plane, and line integrals along them.

use crate::body::side::Which;
use crate::query::Context;
use crate::report::curves::march::{Faces, Point};
use feeler_geom::mass::{FluxForm, FluxSums, NUM_FLUX_SUMS};
use feeler_geom::trim::{TrimPiece, gauss_legendre};
use feeler_geom::{P2, P3, Rect, Surface, V3, math};
use feeler_hierarchy::Face;
use std::sync::LazyLock;

/// Coarser and finer rule on [0, 1] of the line integrals.
static RULES: LazyLock<[Vec<(f64, f64)>; 2]> = LazyLock::new(|| [6, 10].map(gauss_legendre));

/// Maximum number of successive halvings of a path. A larger value is slower for paths through poles; a
/// smaller one is less exact there.
const MAX_HALVINGS: u32 = 16;
/// Maximum number of halvings, on the way to a part, that do not reduce the differences of its rules. A
/// larger value is much slower where rounding prevents convergence, such as along crossing curves of nearly
/// tangent faces; a smaller one is less exact for paths with several poles or kinks.
const MAX_STAGNANT_HALVINGS: u32 = 4;
/// Ratio of the differences of the rules after a halving to those before, above which the halving counts as
/// one without convergence. At a pole the ratio is at most 0.5, of rounding about 1. A larger value is
/// slower, a smaller one less exact.
const CONVERGENCE: f64 = 0.7;
/// Accuracy of a line integral relative to the cube of the overlap's diagonal (for the volume; other powers
/// for the other sums). A larger value is less exact; with a smaller one, rounding causes halvings.
const PATH_ACCURACY: f64 = 1e-13;
/// Accuracy of a line integral relative to its integrand. It must be above rounding; a larger value is less
/// exact.
const INTEGRAND_ACCURACY: f64 = 4e-15;

/// Largest difference between the ends of a path and the integral of its derivative, as a fraction of the
/// diagonal of the overlap's box. With a larger value, jumps between neighbouring curves are accepted; with a
/// smaller one, inexact curves are rejected.
const MAX_JUMP: f64 = 1e-8;

/// Distances along a segment, as fractions of its length, at which a point beside a double point is computed.
/// Larger ones leave larger gaps; at smaller ones, the branches are not distinguished.
const DOUBLE_POINT_RADII: [f64; 4] = [1e-7, 1e-6, 1e-5, 1e-4];

/// Segment of a traced crossing curve between two of its points.
#[derive(Clone, Copy)]
pub(super) struct CurveSegment<'a> {
    pub faces: &'a Faces<'a>,
    pub from: &'a Point,
    pub to: &'a Point,
}

/// A path in the parameter plane of a face, over its parameter s.
#[derive(Clone, Copy)]
pub(super) enum Course<'a> {
    /// Trimming piece; s is its parameter.
    Trim(&'a TrimPiece),
    /// Segment of a crossing curve; s in [0, 1] is the position along the chord.
    Curve(CurveSegment<'a>),
    /// Line at this u; s is the parameter v.
    Side(f64),
}

/// A directed piece of the boundary of a clipped face: a course from the parameter `range[0]` to
/// `range[1]`, which can be the smaller one.
#[derive(Clone, Copy)]
pub(super) struct Path<'a> {
    pub course: Course<'a>,
    pub range: [f64; 2],
}

/// Point of a path.
#[derive(Clone, Copy)]
pub(super) struct PathPoint {
    pub uv: P2,
    /// Derivative of v by s.
    pub dv: f64,
    /// The point in the frame of A.
    pub p: P3,
}

/// One face of one solid.
#[derive(Clone, Copy)]
pub(super) struct Sheet<'a> {
    pub ctx: &'a Context<'a>,
    pub which: Which,
    pub face: &'a Face,
}

impl Sheet<'_> {
    pub(super) fn surface(&self) -> &Surface {
        &self.face.surface
    }

    pub(super) fn rect(&self) -> &Rect {
        &self.face.trim.rect
    }

    /// Point of a course at s; `None` if the crossing curve cannot be computed there.
    pub(super) fn at(&self, course: &Course<'_>, s: f64) -> Option<PathPoint> {
        match course {
            Course::Trim(piece) => {
                let uv = self.clamped(piece.eval(s));
                let p = self.ctx.in_a(self.which, &self.surface().point(uv));
                Some(PathPoint { uv, dv: piece.derivative(s).y, p })
            }
            Course::Side(u) => {
                let uv = self.clamped(P2::new(*u, s));
                let p = self.ctx.in_a(self.which, &self.surface().point(uv));
                Some(PathPoint { uv, dv: 1.0, p })
            }
            Course::Curve(segment) => {
                let (at, speed) = segment.at(s)?;
                let (uv, derivative) = self.on_surface(&at, &speed)?;
                Some(PathPoint { uv, dv: derivative, p: at.p })
            }
        }
    }

    fn clamped(&self, uv: P2) -> P2 {
        let r = self.rect();
        P2::new(uv.x.max(r.u0).min(r.u1), uv.y.max(r.v0).min(r.v1))
    }

    /// Parameters of a point of a crossing curve on this face, in its rectangle.
    pub(super) fn parameters(&self, at: &Point) -> P2 {
        let q = self.ctx.in_own(self.which, &at.p);
        let hint = Some(at.uv[self.which as usize]);
        let hint = hint.filter(|uv| !self.surface().is_canonical() && *uv != P2::origin());
        self.wrapped(self.surface().invert(&q, hint, Some(self.rect())))
    }

    /// Parameters shifted by periods into the rectangle of the trims.
    pub(super) fn wrapped(&self, uv: P2) -> P2 {
        let (trim, r) = (&self.face.trim, self.rect());
        P2::new(
            trim.u_period.map_or(uv.x, |period| math::wrap(uv.x, r.u0, period)),
            trim.v_period.map_or(uv.y, |period| math::wrap(uv.y, r.v0, period)),
        )
    }

    /// Parameters of a point of a crossing curve on this face, and the derivative of v for the velocity
    /// `speed` of the point (frame of A).
    fn on_surface(&self, at: &Point, speed: &V3) -> Option<(P2, f64)> {
        let uv = self.parameters(at);
        let (_, du, dv) = self.surface().first_derivs(uv);
        let speed = match self.which {
            Which::A => *speed,
            Which::B => self.ctx.pose_ba * speed,
        };
        let [e, f, g] = [du.norm_squared(), du.dot(&dv), dv.norm_squared()];
        let (x, y) = (du.dot(&speed), dv.dot(&speed));
        let det = e * g - f * f;
        // At a pole, v changes as in the direction across the circles of constant v.
        let rate = if det > 1e-24 * e.max(g) * g { (e * y - f * x) / det } else { y / g };
        rate.is_finite().then_some((uv, rate))
    }
}

impl CurveSegment<'_> {
    /// Point of the curve at s, and its derivative by s (frame of A).
    pub(super) fn at(&self, s: f64) -> Option<(Point, V3)> {
        let d = self.to.p - self.from.p;
        let near = if s < 0.5 { self.from } else { self.to };
        let at = self.faces.onto(&(self.from.p + d * s), Some(&d), near.uv)?;
        let along = at.t.dot(&d);
        let speed = at.t * (d.norm_squared() / along);
        speed.iter().all(|x| x.is_finite()).then_some((at, speed))
    }

    /// Point of the curve at s, or very near to it if the curve cannot be computed there because another
    /// branch crosses it.
    pub(super) fn end(&self, s: f64) -> Option<Point> {
        if s <= 0.0 {
            return Some(*self.from);
        }
        if s >= 1.0 {
            return Some(*self.to);
        }
        let beside = DOUBLE_POINT_RADII.iter().flat_map(|r| [s + r, s - r]);
        std::iter::once(s).chain(beside).find_map(|s| self.at(s)).map(|(at, _)| at)
    }

    /// Sine between the natural normal of the sheet and the outward normal of the other face, with the
    /// sign that is positive if the other solid is on the left of the curve in the parameter plane.
    /// `None` if the curve cannot be computed at s.
    pub(super) fn sense(&self, sheet: &Sheet<'_>, other: &Sheet<'_>, s: f64) -> Option<f64> {
        let (at, speed) = self.at(s)?;
        let normal = |sheet: &Sheet<'_>| {
            let n = sheet.surface().normal(sheet.parameters(&at));
            if sheet.which == Which::A { n } else { sheet.ctx.pose_ab * n }
        };
        let outward = if other.face.outward { normal(other) } else { -normal(other) };
        Some(normal(sheet).cross(&outward).dot(&speed.normalize()))
    }
}

/// Sums of line integrals along paths of one face.
pub(super) struct PathIntegral<'a> {
    pub sheet: Sheet<'a>,
    pub form: &'a FluxForm<'a>,
    /// Diagonal (mm) of the overlap's box.
    pub scale: f64,
    pub sums: FluxSums,
    /// Sum of the differences between two rules for the flux and of the rounding of the integrand (mm³).
    pub error: f64,
}

/// Integrals along a part of a path.
struct PathPart {
    range: [f64; 2],
    sums: FluxSums,
    /// Difference between the two rules for the flux, and the rounding of the integrand (mm³).
    difference: f64,
    /// Largest difference between the two rules beyond rounding, relative to powers of the diagonal of the
    /// overlap's box.
    excess: f64,
    /// Whether the parameters of the ends agree with the integral of their derivative.
    is_continuous: bool,
}

impl PathIntegral<'_> {
    /// Adds the integral along a path. `None` if the path cannot be computed at a node.
    pub(super) fn add(&mut self, path: &Path<'_>) -> Option<()> {
        let whole = self.part(&path.course, path.range)?;
        self.add_part(&path.course, &whole, MAX_HALVINGS, MAX_STAGNANT_HALVINGS)
    }

    /// Adds the integral along a part, which is halved while its two rules differ. `stagnant` is the number
    /// of halvings without convergence that are left.
    fn add_part(&mut self, course: &Course<'_>, part: &PathPart, halvings: u32, stagnant: u32) -> Option<()> {
        let is_exact = part.excess <= PATH_ACCURACY;
        // The solution can jump from one branch of a crossing curve to another one.
        if !(is_exact && part.is_continuous) && halvings > 0 && stagnant > 0 {
            let [a, b] = part.range;
            let middle = 0.5 * (a + b);
            let (first, second) = (self.part(course, [a, middle]), self.part(course, [middle, b]));
            if let (Some(first), Some(second)) = (first, second) {
                // A jump is in one half; only rounding interrupts both.
                let has_converged = if part.is_continuous {
                    first.excess + second.excess <= CONVERGENCE * part.excess
                } else {
                    first.is_continuous || second.is_continuous
                };
                let stagnant = stagnant - u32::from(!has_converged);
                let (sums, error) = (self.sums, self.error);
                let mut add = |half: &PathPart| self.add_part(course, half, halvings - 1, stagnant);
                if add(&first).and_then(|()| add(&second)).is_some() {
                    return Some(());
                }
                // The curve cannot be computed very near to a double point.
                (self.sums, self.error) = (sums, error);
            }
        }
        self.error += part.difference;
        self.sums.iter_mut().zip(part.sums).for_each(|(s, f)| *s += f);
        part.is_continuous.then_some(())
    }

    /// Integrals along a part of a course; `None` if it cannot be computed at a node.
    fn part(&self, course: &Course<'_>, [a, b]: [f64; 2]) -> Option<PathPart> {
        let middle = self.sheet.at(course, 0.5 * (a + b))?;
        let mut size: f64 = 0.0;
        let (mut rise, mut total) = (0.0, 0.0);
        let mut by_rule = [[0.0; NUM_FLUX_SUMS]; 2];
        for (sums, rule) in by_rule.iter_mut().zip(&*RULES) {
            (rise, total) = (0.0, 0.0);
            for (x, w) in rule {
                let at = self.sheet.at(course, a + (b - a) * x)?;
                let f = self.form.antiderivative(self.beside(at.uv, middle.uv));
                let w = w * (b - a) * at.dv;
                rise += w;
                size = size.max((w * f[0]).abs());
                total += (w * f[0]).abs();
                sums.iter_mut().zip(f).for_each(|(s, f)| *s += w * f);
            }
        }
        let [coarse, fine] = by_rule;
        let l = self.scale;
        let off = |k: usize, scale: f64| (coarse[k] - fine[k]).abs() / scale;
        let volume = (off(0, 1.0) - INTEGRAND_ACCURACY * 12.0 * size).max(0.0) / (l * l * l);
        let area = off(4, l * l).max(off(5, l * l)).max(off(6, l * l));
        Some(PathPart {
            range: [a, b],
            sums: fine,
            // Both rules share the rounding of the integrand, which is the integral from the smallest u and
            // much larger than the flux of a small overlap.
            difference: off(0, 1.0) + INTEGRAND_ACCURACY * total,
            // Moments are as exact as the volume.
            excess: volume.max(0.01 * area),
            is_continuous: self.is_rise(course, [a, b], rise, &middle)?,
        })
    }

    /// Whether v rises by `rise` along a part of a course, as the integral of its derivative states. `None`
    /// if the course cannot be computed at an end.
    fn is_rise(&self, course: &Course<'_>, range: [f64; 2], rise: f64, middle: &PathPoint) -> Option<bool> {
        let Course::Curve(segment) = course else { return Some(true) };
        let v = |s: f64| Some(self.sheet.parameters(&segment.end(s)?).y);
        let mut off = v(range[1])? - v(range[0])? - rise;
        if let Some(period) = self.sheet.face.trim.v_period {
            off -= period * (off / period).round();
        }
        let (_, _, dv) = self.sheet.surface().first_derivs(middle.uv);
        Some(off.abs() * dv.norm() <= MAX_JUMP * self.scale)
    }

    /// Adds the sliver between a part of a trimming piece and the edge that it approximates, to first order
    /// in their distance. `onto_edge` returns the point of the edge nearest to a point (frame of the solid),
    /// and `reference` is the reference point of the form.
    pub(super) fn add_sliver(&mut self, path: &Path<'_>, reference: &P3, onto_edge: &dyn Fn(&P3) -> P3) {
        let Course::Trim(piece) = path.course else { return };
        let (surface, trim, [a, b]) = (self.sheet.surface(), &self.sheet.face.trim, path.range);
        let near = |d: f64, period: Option<f64>| period.map_or(d, |t| d - t * (d / t).round());
        for (x, w) in &RULES[1] {
            let t = a + (b - a) * x;
            let at = piece.eval(t);
            let to = surface.invert(&onto_edge(&surface.point(at)), Some(at), Some(&trim.rect));
            let along = piece.derivative(t);
            let [du, dv] = [near(to.x - at.x, trim.u_period), near(to.y - at.y, trim.v_period)];
            // The domain is on the left.
            let width = w * (b - a) * (du * along.y - dv * along.x);
            let f = self.form.density(surface, reference, at);
            self.sums.iter_mut().zip(f).for_each(|(s, f)| *s += width * f);
        }
    }

    /// Adds the straight connection of two points in the parameter plane that are almost the same.
    pub(super) fn add_gap(&mut self, from: P2, to: P2) {
        let mut dv = to.y - from.y;
        if let Some(period) = self.sheet.face.trim.v_period {
            dv -= period * (dv / period).round();
        }
        if dv.abs() > 0.0 {
            let to = self.beside(to, from);
            let f = self.form.antiderivative(from + (to - from) * 0.5);
            self.sums.iter_mut().zip(f).for_each(|(s, f)| *s += dv * f);
        }
    }

    /// Parameters `uv`, shifted in u by a period if that brings them nearer to those of `near`.
    fn beside(&self, uv: P2, near: P2) -> P2 {
        match self.sheet.face.trim.u_period {
            Some(period) => P2::new(uv.x - period * ((uv.x - near.x) / period).round(), uv.y),
            None => uv,
        }
    }
}
