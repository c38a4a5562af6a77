//! A canonical feature against a Bézier patch: two unknowns.
//!
//! # Source
//! MATH §8; BREP Algorithm 12 for the starts.
//!
//! # Deviations
//! Instead of one guess from corner tetrahedra, Newton's method starts from every local minimum of the
//! objective on a grid over the leaf, and from every cell of the grid whose corners' derivatives allow
//! one, because flatness does not guarantee one minimum per leaf (BREP §1.5.1.3).

use super::newton::{Eval, Goal, Outcome, minimise};
use super::reduced::Reduced;
use super::{FreePoint, ReducedPair, Solved, candidate_of};
use crate::api::contact::Stats;
use crate::body::outward_normal;
use crate::body::samples::{COLLAPSED, GRID_POINTS, MARGIN, at};
use crate::query::Context;
use arrayvec::ArrayVec;
use feeler_geom::{P2, Rect, Surface, V3};
use feeler_hierarchy::{AreaId, FaceId, Feature};
use nalgebra::{Matrix2, Vector2};

/// Largest sine, at a converged point, of the angle between the gradient of the signed distance and the
/// normal of the curve or patch over which the distance is minimised. With a larger value, stalled points
/// count as minima; with a smaller one, sound minima become undecided.
pub(super) const ACCEPT_SINE: f64 = 1e-9;
/// Sine of the angle between the gradient of the signed distance and the normal of the curve or patch
/// over which the distance is minimised, below which Newton's method ends, because the rest is rounding.
/// A larger value gives less exact footpoints; a smaller one wastes steps.
pub(super) const DONE_SINE: f64 = 1e-14;
/// Largest residual at which a converged point of half a squared distance is accepted as a minimum, as a
/// multiple of [`Tolerances::eps`](crate::Tolerances::eps). The residual (mm) is the largest derivative of
/// half the squared distance with respect to the length along a parameter ([`Goal`]). With a larger value,
/// stalled points count as minima; with a smaller one, sound minima become undecided.
const ACCEPT_EPS: f64 = 1e3;
/// Residual of half a squared distance below which Newton's method ends, as a multiple of
/// [`Tolerances::eps`](crate::Tolerances::eps). The remaining residual tilts the direction between
/// footpoints that are close together. A larger value gives less exact footpoints; a smaller one wastes
/// steps.
const DONE_EPS: f64 = 1e-3;

/// Largest ratio of two distances up to which the derivatives at grid points describe those in between:
/// the largest distance of a point of the area from its nearest grid point, over the distance of a grid
/// point from the nearest point at which the objective has no derivatives. With a larger value, minima
/// near thin shapes are missed; a smaller one gives more starts.
const MAX_SMOOTH_DISTANCE: f64 = 0.5;

/// Rounding of a distance as a fraction of [`Tolerances::eps`](crate::Tolerances::eps), the rounding of a
/// footpoint after hundreds of operations. With a larger value, Newton's method accepts rises of the
/// objective; with a smaller one, it stalls.
pub(crate) const VALUE_ROUNDING: f64 = 0.05;

/// Adds the minima of the distance between the canonical feature of `pair` and the area `area` of the
/// free-form face `face`.
pub(crate) fn solve(
    ctx: &Context<'_>,
    pair: &ReducedPair<'_>,
    (face, area): (FaceId, AreaId),
    out: &mut Solved,
    stats: &mut Stats,
) {
    let objective = pair.objective;
    let body = ctx.body(pair.free);
    let rect = &body.area(area).rect;
    let face_data = body.face(face);
    let surface = &face_data.surface;
    let goal = goal(ctx, objective);
    let mut eval = |x: &Vector2<f64>| evaluate(objective, surface, rect, x, ctx.tol.eps);
    let samples = body.grid_of(area);
    let mut values = [f64::INFINITY; GRID_POINTS];
    let mut slopes = [[f64::NAN; 2]; GRID_POINTS];
    for (k, p) in samples.points().iter().enumerate() {
        if let Some((value, gradient)) = objective.slope(p) {
            (values[k], slopes[k]) = (value, samples.slopes(k, &gradient));
        }
    }
    // A distance changes by at most the displacement.
    let lowest = values.iter().fold(f64::INFINITY, |m, v| m.min(*v));
    let nearest = if objective.squared { (2.0 * lowest.max(0.0)).sqrt() } else { lowest };
    if nearest > ctx.d_max + samples.radius {
        return;
    }
    let mut found: ArrayVec<Vector2<f64>, 16> = ArrayVec::new();
    let border = border_margin(ctx, body.data(Feature::Face(face)).deviation, &samples.lengths);
    // Where the objective may be sharp, derivatives at grid points do not describe those in between.
    let is_sharp = |k: usize| {
        let probe = objective.probe(&samples.points()[k]);
        probe.is_none_or(|q| q.sharpness * samples.radius > MAX_SMOOTH_DISTANCE)
    };
    let lowest_points = (0..samples.len())
        .filter(|&k| samples.is_minimum(&values, k) && (samples.may_be_critical(&slopes, k) || is_sharp(k)))
        .map(|k| samples.params(k));
    for start in lowest_points.chain(samples.cells_with_minimum(&slopes)) {
        let start = Vector2::from(start);
        let (x, undecided) = match minimise(&mut eval, start, MARGIN, goal, stats) {
            Outcome::Minimum(x) => (x, false),
            Outcome::Outside => continue,
            Outcome::Stalled(x) => (x, true),
        };
        // A minimum farther outside this leaf belongs to the neighbouring one.
        if (0..2).any(|k| x[k] < -border[k] || x[k] > 1.0 + border[k]) {
            continue;
        }
        let tangents = |x: &[f64; 2]| {
            let d = surface.derivs(at(rect, x[0], x[1]));
            [d.du * rect.width(), d.dv * rect.height()]
        };
        let x = Vector2::from(before_poles(x.into(), tangents));
        if found.iter().any(|y| same_place(surface, rect, &x, y, ctx.tol.same)) || found.is_full() {
            continue;
        }
        found.push(x);
        report(ctx, pair, (face, at(rect, x[0], x[1])), undecided, out, stats);
    }
}

/// Clamps unit-box parameters `x` outside a patch to its collapsed sides (poles). A surface ends at its pole,
/// and the normal of its equations is reversed behind the pole. `tangents` returns the derivatives of a
/// point by both parameters.
pub(super) fn before_poles(x: [f64; 2], tangents: impl Fn(&[f64; 2]) -> [V3; 2]) -> [f64; 2] {
    let mut out = x;
    for k in 0..2 {
        if !(0.0..=1.0).contains(&x[k]) {
            let mut on_side = x;
            on_side[k] = x[k].clamp(0.0, 1.0);
            let t = tangents(&on_side);
            if t[1 - k].norm() <= COLLAPSED * t[k].norm() {
                out[k] = on_side[k];
            }
        }
    }
    out
}

/// Adds a minimum at parameters `uv` of the free-form face `face`, unless its distance is out of range or the
/// connection of its footpoints is not normal to the face.
pub(crate) fn report(
    ctx: &Context<'_>,
    pair: &ReducedPair<'_>,
    (face, uv): (FaceId, P2),
    undecided: bool,
    out: &mut Solved,
    stats: &mut Stats,
) {
    let face_data = ctx.body(pair.free).face(face);
    let p = face_data.surface.point(uv);
    let Some(q) = pair.objective.probe(&p) else { return };
    // The patch's own normal is better conditioned than the difference of the footpoints.
    let (d, n) = along(ctx, &(p - q.foot), -outward_normal(face_data, uv));
    let tangential = (p - q.foot - n * d).norm();
    if !(ctx.least <= d && d <= ctx.d_max) || tangential > ctx.tol.tol.max(1e-6 * d.abs()) {
        return;
    }
    if undecided {
        stats.effort.stalled += 1;
    }
    let point = FreePoint { feature: Feature::Face(face), uv, p, foot: q.foot, n };
    out.candidates.push(candidate_of(ctx, pair, &point, undecided));
}

/// Signed distance (mm) and unit direction of `connection`, the vector between two footpoints. `n` is its
/// direction according to a face's normal, and is returned unless the distance exceeds the size of the
/// solids. The direction of the vector itself is better conditioned then.
pub(super) fn along(ctx: &Context<'_>, connection: &V3, n: V3) -> (f64, V3) {
    let distance = connection.dot(&n);
    if distance.abs() <= ctx.tol.size {
        return (distance, n);
    }
    let length = connection.norm().copysign(distance);
    (length, connection / length)
}

/// Distance outside the unit box, for each unit-box parameter, up to which a solution belongs to the leaf.
/// It corresponds to the length that the trim test may accept. `deviation` (mm) is that of the feature;
/// `lengths` (mm) are those of the leaf along its parameters.
pub(crate) fn border_margin(ctx: &Context<'_>, deviation: f64, lengths: &[f64; 2]) -> [f64; 2] {
    let slack = deviation + ctx.tol.same;
    lengths.map(|length| if length > 0.0 { (slack / length).clamp(1e-9, MARGIN) } else { MARGIN })
}

/// Convergence criterion for the minimisation of an objective: sines for a signed distance, lengths (mm)
/// for half a squared distance.
pub(crate) fn goal(ctx: &Context<'_>, objective: &Reduced) -> Goal {
    if objective.squared { squared_goal(ctx) } else { Goal { accept: ACCEPT_SINE, done: DONE_SINE } }
}

/// Convergence criterion (mm) for the minimisation of half a squared distance.
pub(crate) fn squared_goal(ctx: &Context<'_>) -> Goal {
    Goal { accept: ACCEPT_EPS * ctx.tol.eps, done: DONE_EPS * ctx.tol.eps }
}

pub(crate) fn same_place(
    surface: &Surface,
    rect: &Rect,
    x: &Vector2<f64>,
    y: &Vector2<f64>,
    tol: f64,
) -> bool {
    (x - y).norm() < 1e-9
        || (surface.point(at(rect, x[0], x[1])) - surface.point(at(rect, y[0], y[1]))).norm() < tol
}

/// Evaluates the objective at unit-box parameters `x` in the rectangle `rect` of a surface, with derivatives
/// by them. `eps` (mm) is the rounding of a footpoint. `None` where the objective has no derivatives.
pub(crate) fn evaluate(
    objective: &Reduced,
    surface: &Surface,
    rect: &Rect,
    x: &Vector2<f64>,
    eps: f64,
) -> Option<Eval<2>> {
    let d = surface.derivs(at(rect, x[0], x[1]));
    let q = objective.probe(&d.p)?;
    let (wu, wv) = (rect.u1 - rect.u0, rect.v1 - rect.v0);
    let t = [d.du * wu, d.dv * wv];
    let second = [d.duu * (wu * wu), d.duv * (wu * wv), d.dvv * (wv * wv)];
    let form = q.bending.matrix();
    let hess = |i: usize, j: usize| t[i].dot(&(form * t[j])) + q.grad.dot(&second[i + j]);
    Some(Eval {
        f: q.f,
        grad: Vector2::new(q.grad.dot(&t[0]), q.grad.dot(&t[1])),
        hess: Matrix2::new(hess(0, 0), hess(0, 1), hess(1, 0), hess(1, 1)),
        len: lengths(&t),
        noise: VALUE_ROUNDING * eps * if objective.squared { q.grad.norm() + eps } else { 1.0 },
    })
}

/// Lengths (mm) of the tangents, with a lower bound for a collapsed one.
fn lengths(t: &[V3; 2]) -> Vector2<f64> {
    let (a, b) = (t[0].norm(), t[1].norm());
    let floor = 1e-6 * a.max(b);
    Vector2::new(a.max(floor), b.max(floor))
}
