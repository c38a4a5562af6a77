//! Two circles (tori, circular edges).
//!
//! Let `P` be the point of the second circle at φ, `e` the unit tangent there and `ρ` the projection of
//! `P - O_1` on the first circle's plane. The partner of `P` is the nearest or the farthest point of the
//! first circle, and a critical pair satisfies `(O_2 - O_1)·e = ± R_1 ρ·e / |ρ|`. Squared, this is a
//! trigonometric polynomial of degree 4 in φ with up to eight real roots (all eight occur). If `P` lies
//! on the first circle's axis, every point of that circle satisfies the first condition, and the second
//! one, `R_1 e_r·e = (O_2 - O_1)·e`, selects the partner.

use super::around::{
    AxisDistance, Found, Harmonic, MIN_HARMONIC, add, is_near_harmonic_zero, length, polished,
};
use super::simple::{Guess, SimpleSolutions, State, Undecided, simple_solution};
use super::solve::{Job, Pair, Sample, Solutions, sample};
use super::{Family, Primitive};
use crate::roots::{TrigPoly, TrigRoots, trig_roots};
use crate::unit_angle::UnitAngle;
use crate::{Frame, P3, V3, math};
use arrayvec::ArrayVec;
use std::f64::consts::{PI, TAU};

/// Circle given by its frame and radius.
#[derive(Clone, Copy)]
pub(super) struct Circle {
    pub(super) frame: Frame,
    pub(super) radius: f64,
}

impl Circle {
    /// Returns the point and the unit tangent at an angle (rad).
    fn at(&self, theta: f64) -> (P3, V3) {
        let (sin, cos) = math::sin_cos(theta);
        let f = &self.frame;
        (f.origin + (f.x * cos + f.y * sin) * self.radius, f.y * cos - f.x * sin)
    }

    /// Returns the angle (rad) of the circle's point nearest to `p`.
    fn nearest(&self, p: &P3) -> f64 {
        let x = p - self.frame.origin;
        math::atan2(x.dot(&self.frame.y), x.dot(&self.frame.x))
    }
}

/// Adds the critical pairs of circle A and circle B.
pub(super) fn solve(job: &mut Job<'_>) {
    let (
        &Primitive::Circle { frame: frame_a, radius: radius_a, .. },
        &Primitive::Circle { frame: frame_b, radius: radius_b, .. },
    ) = (job.a, job.b)
    else {
        return;
    };
    let first = Circle { frame: frame_a, radius: radius_a };
    let second = Circle { frame: frame_b, radius: radius_b };
    equidistant_families(job, &first, &second);
    if job.out.family.is_none() && solve_encircling(job, &first, &second).is_some() {
        return;
    }
    tangent_family(job, &first, &second);

    let Some(positions) = candidates(job, &first, &second) else { return };
    let mut found = Solutions::new(job, radius_a.min(radius_b));
    if job.out.family.is_some() || all_simple(job, &first, &second, &positions, &mut found).is_err() {
        found.clear();
        try_everything(job, &first, &second, &positions, &mut found);
    }
    found.finish(job);
}

/// Adds the critical pairs with distances in the requested range to `found`, starting from the roots of
/// the polynomial at `positions` on the second circle. Returns `Undecided` unless all critical pairs at
/// any distance are proven to be simple.
///
/// Half the squared distance `½ |w|²` between a point of each circle is a function on the torus of pairs
/// of points. At a point of the second circle and its partner on the first one, the first and second
/// derivatives by the arc lengths decide whether a root is a critical point, and of which index. Only
/// solutions that may be in the range are refined up to rounding.
fn all_simple(
    job: &Job<'_>,
    first: &Circle,
    second: &Circle,
    positions: &[UnitAngle],
    found: &mut Solutions<'_>,
) -> Result<(), Undecided> {
    let radius_sum = job.a.sigma() + job.b.sigma();
    // Solutions on the near side and on the far side of the first circle.
    let mut of_side: [SimpleSolutions; 2] = Default::default();
    for &position in positions {
        let foot = Foot::at(first, second, position);
        let mut is_root = false;
        for (side, simple) in [1.0, -1.0].into_iter().zip(&mut of_side) {
            let guess = OnSide { first, second, side, foot };
            let Some((guess, state)) = simple_solution(guess)? else { continue };
            let foot = guess.foot;
            is_root = true;
            if !simple.add(foot.position, &state)? {
                continue;
            }
            let w = foot.connection(first, side);
            let h = w.norm();
            if !(job.may_be_in_range(h - radius_sum, 0.0) || job.may_be_in_range(-h - radius_sum, 0.0)) {
                continue;
            }
            if guess.connection_gives_normal() {
                let guess = polished(guess).ok_or(Undecided)?;
                found.add_exact(guess.spheres(job), guess.normal());
            } else {
                found.refine_simple(guess.pair())?;
            }
        }
        if !is_root {
            return Err(Undecided);
        }
    }
    if SimpleSolutions::are_complete(&of_side, 4) { Ok(()) } else { Err(Undecided) }
}

/// Minimum distance of the two points of a pair, relative to the first circle's radius, at which the
/// direction of their connection is used as the normal. With a smaller value normals are dominated by
/// rounding; with a larger one more solutions need refinement.
const MIN_CONNECTION: f64 = 1e-3;
/// Sine of the angle between two tangents below which their cross product is not used as the normal.
/// With a smaller value normals are dominated by rounding; with a larger one the connection is used more
/// often.
const MIN_TANGENT_SINE: f64 = 0.05;

/// Point of the second circle at an angular position, with its nearest and farthest points (its
/// partners) on the first circle.
#[derive(Clone, Copy)]
struct Foot {
    position: UnitAngle,
    /// Unit radial direction and unit tangent of the second circle at its point.
    e_r2: V3,
    e_2: V3,
    /// Unit radial direction and unit tangent of the first circle at its point nearest to the second
    /// circle's point.
    e_r1: V3,
    e_1: V3,
    /// Distances (mm) of the second circle's point from the first circle's axis (`rho`) and plane
    /// (`height`, with sign).
    rho: f64,
    height: f64,
}

impl Foot {
    fn at(first: &Circle, second: &Circle, position: UnitAngle) -> Self {
        let UnitAngle { cos, sin } = position;
        let (f, g) = (&first.frame, &second.frame);
        let e_r2 = g.x * cos + g.y * sin;
        let x = (g.origin - f.origin) + e_r2 * second.radius;
        let (u, v) = (x.dot(&f.x), x.dot(&f.y));
        let rho = (u * u + v * v).sqrt();
        let (u, v) = (u / rho, v / rho);
        Self {
            position,
            e_r2,
            e_2: g.y * cos - g.x * sin,
            e_r1: f.x * u + f.y * v,
            e_1: f.y * u - f.x * v,
            rho,
            height: x.dot(&f.z),
        }
    }

    /// Vector from the partner to the second circle's point; the partner is the nearest point of the
    /// first circle for `side` = 1 and the farthest one for −1.
    fn connection(&self, first: &Circle, side: f64) -> V3 {
        self.e_r1 * (self.rho - side * first.radius) + first.frame.z * self.height
    }
}

/// Approximate critical point of half the squared distance between a point of each circle. The partner of
/// the second circle's point is the nearest point of the first circle for `side` = 1 and the farthest one
/// for −1.
#[derive(Clone, Copy)]
pub(super) struct OnSide<'a> {
    first: &'a Circle,
    second: &'a Circle,
    side: f64,
    foot: Foot,
}

impl<'a> OnSide<'a> {
    pub(super) fn at(first: &'a Circle, second: &'a Circle, side: f64, position: UnitAngle) -> Self {
        Self { first, second, side, foot: Foot::at(first, second, position) }
    }

    /// Returns the squared distance between the two points.
    pub(super) fn distance_sq(&self) -> f64 {
        self.foot.connection(self.first, self.side).norm_squared()
    }

    /// Whether the two points are far enough apart for their difference to give the normal up to
    /// rounding.
    pub(super) fn connection_gives_normal(&self) -> bool {
        self.distance_sq() > MIN_CONNECTION * MIN_CONNECTION * self.first.radius * self.first.radius
    }

    /// Returns the angular position on the second circle.
    pub(super) fn position(&self) -> UnitAngle {
        self.foot.position
    }

    /// Returns the spheres about the points on the first and on the second circle.
    pub(super) fn spheres(&self, job: &Job<'_>) -> [Sample; 2] {
        let Self { first, second, side, foot } = self;
        let on_first = first.frame.origin + foot.e_r1 * (side * first.radius);
        let on_second = second.frame.origin + foot.e_r2 * second.radius;
        [Sample::of_point(on_first, job.a.sigma()), Sample::of_point(on_second, job.b.sigma())]
    }

    /// Returns the unit normal of the pair: the direction of the connection, or, if the points are too
    /// near each other, the direction orthogonal to both tangents.
    pub(super) fn normal(&self) -> V3 {
        let foot = &self.foot;
        let tangents = foot.e_1.cross(&foot.e_2);
        if self.connection_gives_normal() || tangents.norm() < MIN_TANGENT_SINE {
            let w = foot.connection(self.first, self.side);
            w / w.norm()
        } else {
            tangents.normalize()
        }
    }

    /// Returns the pair, given by the arc lengths on both circles and the normal.
    pub(super) fn pair(&self) -> Pair {
        let Self { first, second, side, foot } = self;
        let e = foot.e_r1 * *side;
        let theta = math::atan2(e.dot(&first.frame.y), e.dot(&first.frame.x));
        Pair { s: theta * first.radius, t: foot.position.angle() * second.radius, n: self.normal() }
    }
}

impl Guess for OnSide<'_> {
    fn state(&self) -> Option<State> {
        let (foot, r1, r2) = (&self.foot, self.first.radius, self.second.radius);
        if foot.rho <= MIN_CONNECTION * r1 {
            return None;
        }
        // Bounds all derivatives by the angles, divided by the product of the radii.
        let size = 1.0 + (self.second.frame.origin - self.first.frame.origin).norm() / r1.min(r2);
        // Second derivatives by the arc lengths. The first derivative by the first arc length vanishes.
        let w = foot.connection(self.first, self.side);
        let twist = foot.e_1.dot(&foot.e_2);
        let (by_s, by_t) = (self.side * foot.rho / r1, 1.0 - w.dot(&foot.e_r2) / r2);
        let det = by_s * by_t - twist * twist;
        let slope = w.dot(&foot.e_2) / det;
        let (ds, dt) = (slope * twist / r1, -slope * by_s / r2);
        // If the tangents are nearly parallel, the connection must be accurate enough to give the
        // normal.
        let is_crossing = foot.e_1.cross(&foot.e_2).norm() >= MIN_TANGENT_SINE;
        let max_size = if is_crossing { f64::INFINITY } else { MIN_CONNECTION * w.norm() / r1 };
        Some(State { step: dt, size: ds.abs().max(dt.abs()), det, derivative_bound: size * size, max_size })
    }

    fn stepped(&self, state: &State) -> Self {
        Self { foot: Foot::at(self.first, self.second, self.foot.position.stepped(state.step)), ..*self }
    }
}

/// Adds all critical pairs to `found` without proofs: refines the candidates at all `positions` on the
/// second circle and, if a solution seems to be missing, starts from evenly spaced points of the second
/// circle.
fn try_everything(
    job: &Job<'_>,
    first: &Circle,
    second: &Circle,
    positions: &[UnitAngle],
    found: &mut Solutions<'_>,
) {
    for position in positions {
        starts(first, second, position.angle(), &mut |start| found.try_start(start, MAX_START_RESIDUAL));
    }
    if job.out.family.is_none() && !found.balanced() {
        for k in 0..NUM_EXTRA_STARTS {
            starts(first, second, TAU * f64::from(k) / f64::from(NUM_EXTRA_STARTS), &mut |start| {
                found.try_start(start, f64::INFINITY);
            });
        }
    }
}

/// Maximum residual (dimensionless) of the equations of a critical pair at which a candidate is refined;
/// a candidate with a larger residual does not belong to its root, because roots are accurate to 1e-4 at
/// worst (fourfold ones). With a larger value wrong candidates are refined; with a smaller one roots are
/// lost.
const MAX_START_RESIDUAL: f64 = 0.05;
/// Number of evenly spaced points of the second circle from which Newton's iteration starts if the
/// indices of the critical pairs show that one is missing. With more points the search is slower; with
/// fewer points critical pairs may stay missing.
const NUM_EXTRA_STARTS: u32 = 64;

/// Returns the angular positions on the second circle of possible critical pairs. Returns `None` for
/// coaxial circles, which have no isolated pairs.
fn candidates(job: &Job<'_>, first: &Circle, second: &Circle) -> Option<TrigRoots> {
    let d = second.frame.origin - first.frame.origin;
    let (f, g, r2) = (&first.frame, &second.frame, second.radius);
    // `a` is (O_2 - O_1)·e; the other two are the products of the first circle's axis with e and with P
    // - O_1.
    let a = TrigPoly::linear(0.0, d.dot(&g.y), -d.dot(&g.x));
    let (zx, zy) = (f.z.dot(&g.x), f.z.dot(&g.y));
    let axis_e = TrigPoly::linear(0.0, zy, -zx);
    let height = TrigPoly::linear(d.dot(&f.z), r2 * zx, r2 * zy);
    // ρ·e = (P - O_1)·e - height axis_e: in this form small terms stay small for nearly coaxial circles.
    let b = a.add(&axis_e.mul(&height).scale(-1.0));
    if a.size() + b.size() <= job.noise {
        return None;
    }
    let rho_x = TrigPoly::linear(d.dot(&f.x), r2 * f.x.dot(&g.x), r2 * f.x.dot(&g.y));
    let rho_y = TrigPoly::linear(d.dot(&f.y), r2 * f.y.dot(&g.x), r2 * f.y.dot(&g.y));
    let rho_sq = rho_x.mul(&rho_x).add(&rho_y.mul(&rho_y));
    let r1_sq = first.radius * first.radius;
    let poly = a.mul(&a).mul(&rho_sq).add(&b.mul(&b).scale(-r1_sq));
    let size = a.size() * a.size() * rho_sq.size() + b.size() * b.size() * r1_sq;
    trig_roots(&poly, 64.0 * f64::EPSILON * size).or_else(|| {
        // The equation a ρ = ±r₁ b holds identically for one sign: the second circle is a meridian or a
        // Villarceau circle of a torus around the first one. For the other sign its roots are common zeros of
        // a ρ and b. A polynomial that is identically 0 adds no roots.
        let mut roots = trig_roots(&a, job.noise).unwrap_or_default();
        for root in trig_roots(&b, job.noise).unwrap_or_default() {
            let _ = roots.try_push(root);
        }
        Some(roots)
    })
}

/// Passes to `try_start` the pairs from which Newton's iteration can start, for the second circle's
/// point at the angle `phi` (rad).
fn starts(first: &Circle, second: &Circle, phi: f64, try_start: &mut impl FnMut(Pair)) {
    let (p2, e2) = second.at(phi);
    let x = p2 - first.frame.origin;
    let rho = math::hypot(x.dot(&first.frame.x), x.dot(&first.frame.y));
    let mut emit = |theta: f64| {
        let (p1, e1) = first.at(theta);
        let w = p2 - p1;
        let cross = e1.cross(&e2);
        let (sin, h) = (cross.norm(), w.norm());
        let mut start = |n: V3| try_start(Pair { s: theta * first.radius, t: phi * second.radius, n });
        // Nearly parallel tangents do not give a normal, and neither do points that nearly coincide; the
        // other source is used then.
        if sin > 1e-14 {
            start(cross / sin);
        }
        if sin < 0.05 && h > 1e-14 * first.radius {
            start(w / h);
        }
    };
    let near = first.nearest(&p2);
    emit(near);
    emit(near + PI);
    if rho < 0.2 * first.radius {
        let (ex, ey) = (e2.dot(&first.frame.x), e2.dot(&first.frame.y));
        let cos = x.dot(&e2) / (first.radius * math::hypot(ex, ey));
        if cos.abs() <= 1.0 + 1e-3 {
            let (mid, half) = (math::atan2(ey, ex), math::acos(cos));
            emit(mid + half);
            emit(mid - half);
        }
    }
}

/// Adds the families of critical pairs that exist if all points of one circle have the same distance
/// from the other one: coaxial circles, circles that are meridians or Villarceau circles of a torus
/// around the other circle, and coinciding circles.
fn equidistant_families(job: &mut Job<'_>, first: &Circle, second: &Circle) {
    let (sigma_a, sigma_b) = (job.a.sigma(), job.b.sigma());
    let mid = -sigma_a - sigma_b;
    for (fixed, moving) in [(first, second), (second, first)] {
        if !may_be_equidistant(fixed, moving, job.tol + job.noise) {
            continue;
        }
        for far in [false, true] {
            let Some((lo, hi)) = distance_along(fixed, moving, far, job.tol) else { continue };
            if hi <= job.tol {
                let edges = sigma_a == 0.0 && sigma_b == 0.0;
                job.add_family(if edges { Family::One } else { Family::Two }, mid - hi, mid + hi);
            } else {
                job.add_family(Family::One, mid + lo, mid + hi);
                job.add_family(Family::One, mid - hi, mid - lo);
            }
        }
    }
}

/// Whether two opposite points of `moving` have equal distances, within `tol` (mm), from `fixed`. For each
/// point, the distance from the nearest or from the farthest point of `fixed` is used; any combination
/// counts. This is necessary for a constant distance, and is tested first because it is cheap.
fn may_be_equidistant(fixed: &Circle, moving: &Circle, tol: f64) -> bool {
    let [first, last] = [moving.radius, -moving.radius].map(|r| {
        let x = fixed.frame.local(&(moving.frame.origin + moving.frame.x * r));
        let rho = (x.x * x.x + x.y * x.y).sqrt();
        [rho - fixed.radius, rho + fixed.radius].map(|v| (v * v + x.z * x.z).sqrt())
    });
    let differs = |h: f64, other: f64| (h - other).abs() > tol;
    first.iter().any(|&h| last.iter().any(|&other| !differs(h, other)))
}

/// Returns the minimum and the maximum distance (mm) from points of `moving` to their partners on
/// `fixed`. The partner is the nearest point (or, if `far`, the farthest one) at the start, and is
/// followed continuously from there. Returns `None` if the range is wider than `tol` (mm).
fn distance_along(fixed: &Circle, moving: &Circle, far: bool, tol: f64) -> Option<(f64, f64)> {
    let mut previous: Option<V3> = None;
    let (mut lo, mut hi) = (f64::INFINITY, 0.0f64);
    for k in 0..32 {
        let (p, _) = moving.at(TAU * f64::from(k) / 32.0);
        let near = fixed.nearest(&p);
        let (at_near, at_far) = (fixed.at(near).0, fixed.at(near + PI).0);
        let partner = match previous {
            // Beyond the fixed circle's axis the nearest point becomes the farthest one.
            Some(q) if (at_far - fixed.frame.origin).dot(&q) > (at_near - fixed.frame.origin).dot(&q) => {
                at_far
            }
            None if far => at_far,
            _ => at_near,
        };
        previous = Some(partner - fixed.frame.origin);
        let h = (p - partner).norm();
        (lo, hi) = (lo.min(h), hi.max(h));
        if hi.is_nan() || hi - lo > tol {
            return None;
        }
    }
    Some((lo, hi))
}

/// Adds the family of two circles that touch with a common tangent: every direction orthogonal to the
/// tangent is the normal of a critical pair. Two edges (both radii of the spheres 0) get one isolated
/// pair instead.
fn tangent_family(job: &mut Job<'_>, first: &Circle, second: &Circle) {
    if !may_touch(first, second, job.tol + job.noise) {
        return;
    }
    let (sigma_a, sigma_b) = (job.a.sigma(), job.b.sigma());
    let len = first.radius.min(second.radius).min(job.extent);
    for (s, t) in parallel_tangents(first, second) {
        let (a, b) = (sample(job.a, s), sample(job.b, t));
        let h = (b.c - a.c).norm();
        if 2.0 * h <= job.tol && a.d1.cross(&b.d1).norm() * len <= job.tol {
            if sigma_a == 0.0 && sigma_b == 0.0 {
                // Edges that touch to rounding have one pair, whose normal is free. A normal in a
                // circle's plane separates inside from outside. (Coinciding circles touch everywhere.)
                if job.out.family.is_none() && h.max(a.d1.cross(&b.d1).norm() * len) <= job.noise {
                    job.add(&Pair { s, t, n: b.d2.normalize() });
                }
            } else {
                job.add_family(Family::One, -sigma_a - sigma_b - h, -sigma_a - sigma_b + h);
            }
        }
    }
}

/// Whether the two points of any pair that [`parallel_tangents`] returns may be within `distance` (mm)
/// of each other.
fn may_touch(first: &Circle, second: &Circle, distance: f64) -> bool {
    let line = first.frame.z.cross(&second.frame.z);
    let centers = second.frame.origin - first.frame.origin;
    let radius_along = |c: &Circle, v: &V3| {
        let (x, y) = (v.dot(&c.frame.x), v.dot(&c.frame.y));
        let len = (x * x + y * y).sqrt();
        // A vector without direction in the plane counts as angle zero.
        let e = if len == 0.0 { c.frame.x } else { c.frame.x * (x / len) + c.frame.y * (y / len) };
        e * c.radius
    };
    let rays = [(first.frame.z.cross(&line), second.frame.z.cross(&line)), (centers, centers)];
    rays.iter().any(|(r1, r2)| {
        let (p, q) = (radius_along(first, r1), radius_along(second, r2));
        let is_farther = |v: V3| v.norm() > distance;
        !(is_farther(centers + q - p)
            && is_farther(centers - q - p)
            && is_farther(centers + q + p)
            && is_farther(centers - q + p))
    })
}

/// Returns pairs of arc lengths (mm) on both circles at which the tangents are parallel: there both
/// tangents are parallel to the intersection line of the circles' planes. Pairs on the line through the
/// centres are returned as well, because circles in parallel planes can touch only there.
pub(super) fn parallel_tangents(first: &Circle, second: &Circle) -> ArrayVec<(f64, f64), 8> {
    let line = first.frame.z.cross(&second.frame.z);
    let centers = second.frame.origin - first.frame.origin;
    let mut out = ArrayVec::new();
    for (r1, r2) in [(first.frame.z.cross(&line), second.frame.z.cross(&line)), (centers, centers)] {
        for (side1, side2) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let theta = first.nearest(&(first.frame.origin + r1 * side1));
            let phi = second.nearest(&(second.frame.origin + r2 * side2));
            out.push((theta * first.radius, phi * second.radius));
        }
    }
    out
}

/// Adds all critical pairs of two circles in the requested range if all points of the second circle have
/// about the same distance from the first one's axis. Returns `None` and adds nothing if the conditions in
/// the documentation of the module `around` are not satisfied, or if Newton's method does not converge; the
/// caller then uses the general solver.
pub(super) fn solve_encircling(job: &mut Job<'_>, first: &Circle, second: &Circle) -> Option<()> {
    let (f, g) = (&first.frame, &second.frame);
    let between = g.origin - f.origin;
    let height = between.dot(&f.z);
    // Coefficients of cos φ and sin φ in the product of `v` with the radial direction at φ. The
    // derivative of that product is the product with the tangent.
    let in_plane = |v: &V3| [v.dot(&g.x), v.dot(&g.y)];
    let (d, z) = (in_plane(&between), in_plane(&f.z));
    let across = between - f.z * height;
    let (r, tilt_sq) = (second.radius, z[0] * z[0] + z[1] * z[1]);
    let axis_distance = AxisDistance::new(
        across.norm_squared() + r * r * (1.0 - 0.5 * tilt_sq),
        [2.0 * r * length(in_plane(&across)), 0.5 * r * r * tilt_sq],
    )?;
    let double = 0.5 * first.radius * r * tilt_sq;
    let rest = length(d) * axis_distance.max_deviation + double;
    let rest_rate = length(d) * (axis_distance.max_deviation + axis_distance.max_rate) + 2.0 * double;
    let radius_sum = job.a.sigma() + job.b.sigma();
    let mut found = Found::new();
    for side in [1.0, -1.0] {
        let (of_d, of_z) = (axis_distance.mean - side * first.radius, side * first.radius * height);
        // v·e = -v·x sin φ + v·y cos φ.
        let harmonic =
            Harmonic { cos: of_d * d[1] + of_z * z[1], sin: -(of_d * d[0] + of_z * z[0]), rest, rest_rate };
        let zero = harmonic.zero(axis_distance.mean * job.scaled_length(MIN_HARMONIC))?;
        let max_change = r * harmonic.max_change(&axis_distance);
        for position in [zero, zero.opposite()] {
            let start = OnSide::at(first, second, side, position);
            let h_sq = start.distance_sq();
            let [lo, hi] = [h_sq - 2.0 * max_change, h_sq + 2.0 * max_change].map(|x| x.max(0.0).sqrt());
            let may_count = |d: f64| job.may_be_in_range(d - radius_sum, 0.5 * (hi - lo));
            if may_count(0.5 * (lo + hi)) || may_count(-0.5 * (lo + hi)) {
                let guess = polished(start)?;
                if !(guess.connection_gives_normal() && is_near_harmonic_zero(guess.position(), position)) {
                    return None;
                }
                found.push((guess.spheres(job), guess.normal()));
            }
        }
    }
    add(job, &found, true);
    Some(())
}
