//! Two circles (tori, circular edges).
//!
//! With `P` the point of the second circle at φ, `e` its unit tangent, `ρ` the projection of `P - O_1` on the
//! first circle's plane, the partner of `P` is the nearest or the farthest point of the first circle, and a
//! pair needs `(O_2 - O_1)·e = ± R_1 ρ·e / |ρ|`: squared, a trigonometric polynomial of degree 4 in φ with up
//! to eight real roots (all eight occur). Where `P` lies on the first circle's axis, every point of it is a
//! partner by the first condition, and the second one, `R_1 e_r·e = (O_2 - O_1)·e`, chooses.

use super::around::{Found, Harmonic, LEAST, Swing, add, is_near, length, polished};
use super::simple::{Doubt, Guess, Places, State, settled};
use super::solve::{Job, Pair, Sample, Solutions, sample};
use super::{Family, Primitive};
use crate::roots::{TrigPoly, TrigRoots, trig_roots};
use crate::unit_angle::UnitAngle;
use crate::{Frame, P3, V3, math};
use arrayvec::ArrayVec;
use std::f64::consts::{PI, TAU};

/// A circle.
#[derive(Clone, Copy)]
pub(super) struct Circle {
    pub(super) frame: Frame,
    pub(super) radius: f64,
}

impl Circle {
    /// Point and unit tangent at an angle.
    fn at(&self, theta: f64) -> (P3, V3) {
        let (sin, cos) = math::sin_cos(theta);
        let f = &self.frame;
        (f.origin + (f.x * cos + f.y * sin) * self.radius, f.y * cos - f.x * sin)
    }

    /// Angle of the point nearest to `p`.
    fn nearest(&self, p: &P3) -> f64 {
        let x = p - self.frame.origin;
        math::atan2(x.dot(&self.frame.y), x.dot(&self.frame.x))
    }
}

/// Circle (A) against circle (B).
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
    if job.out.family.is_none() && around(job, &first, &second).is_some() {
        return;
    }
    tangent_family(job, &first, &second);

    let Some(places) = candidates(job, &first, &second) else { return };
    let mut found = Solutions::new(job, radius_a.min(radius_b));
    if job.out.family.is_some() || all_simple(job, &first, &second, &places, &mut found).is_err() {
        found.clear();
        try_everything(job, &first, &second, &places, &mut found);
    }
    found.finish(job);
}

/// Finds the solutions in the range when all there are, in range or not, are simple.
///
/// `½ |w|²` is a function on the torus of pairs of points. With a point's partner, two derivatives by the arc
/// lengths tell whether a root is a critical point and of which index, and only what is asked for is brought
/// to rounding.
fn all_simple(
    job: &Job<'_>,
    first: &Circle,
    second: &Circle,
    places: &[UnitAngle],
    found: &mut Solutions<'_>,
) -> Result<(), Doubt> {
    let radius_sum = job.a.sigma() + job.b.sigma();
    // Solutions on the near side and on the far side of the first circle.
    let mut of_side: [Places; 2] = Default::default();
    for &place in places {
        let foot = Foot::at(first, second, place);
        let mut is_root = false;
        for (side, places) in [1.0, -1.0].into_iter().zip(&mut of_side) {
            let guess = OnSide { first, second, side, foot };
            let Some((guess, state)) = settled(guess)? else { continue };
            let foot = guess.foot;
            is_root = true;
            if !places.add(foot.place, &state)? {
                continue;
            }
            let w = foot.connection(first, side);
            let h = w.norm();
            if !(job.may_be_in_range(h - radius_sum, 0.0) || job.may_be_in_range(-h - radius_sum, 0.0)) {
                continue;
            }
            if guess.is_told_by_connection() {
                let guess = polished(guess).ok_or(Doubt)?;
                found.add_exact(guess.spheres(job), guess.normal());
            } else {
                found.refine_simple(guess.pair())?;
            }
        }
        if !is_root {
            return Err(Doubt);
        }
    }
    if Places::are_complete(&of_side, 4) { Ok(()) } else { Err(Doubt) }
}

/// Distance (in radii) of points whose connection is the normal whatever the tangents.
const NEAR: f64 = 1e-3;
/// Sine below which tangents are too parallel to give the normal.
const PARALLEL: f64 = 0.05;

/// A point of the second circle and its partners on the first one.
#[derive(Clone, Copy)]
struct Foot {
    place: UnitAngle,
    /// Unit radius and tangent of the second circle.
    e_r2: V3,
    e_2: V3,
    /// The same on the first circle, at the nearest point.
    e_r1: V3,
    e_1: V3,
    /// Distances from the first circle's axis and plane.
    rho: f64,
    height: f64,
}

impl Foot {
    fn at(first: &Circle, second: &Circle, place: UnitAngle) -> Self {
        let UnitAngle { cos, sin } = place;
        let (f, g) = (&first.frame, &second.frame);
        let e_r2 = g.x * cos + g.y * sin;
        let x = (g.origin - f.origin) + e_r2 * second.radius;
        let (u, v) = (x.dot(&f.x), x.dot(&f.y));
        let rho = (u * u + v * v).sqrt();
        let (u, v) = (u / rho, v / rho);
        Self {
            place,
            e_r2,
            e_2: g.y * cos - g.x * sin,
            e_r1: f.x * u + f.y * v,
            e_1: f.y * u - f.x * v,
            rho,
            height: x.dot(&f.z),
        }
    }

    /// From the partner on a side of the first circle to the point.
    fn connection(&self, first: &Circle, side: f64) -> V3 {
        self.e_r1 * (self.rho - side * first.radius) + first.frame.z * self.height
    }
}

/// A guess of a critical point of `½ |w|²` with the partner on one side of the first circle.
#[derive(Clone, Copy)]
pub(super) struct OnSide<'a> {
    first: &'a Circle,
    second: &'a Circle,
    side: f64,
    foot: Foot,
}

impl<'a> OnSide<'a> {
    pub(super) fn at(first: &'a Circle, second: &'a Circle, side: f64, place: UnitAngle) -> Self {
        Self { first, second, side, foot: Foot::at(first, second, place) }
    }

    /// The square of the length between the places.
    pub(super) fn distance_sq(&self) -> f64 {
        self.foot.connection(self.first, self.side).norm_squared()
    }

    /// Whether the places are far enough from each other for their difference to be the normal to rounding.
    pub(super) fn is_told_by_connection(&self) -> bool {
        self.distance_sq() > NEAR * NEAR * self.first.radius * self.first.radius
    }

    /// The place on the second circle.
    pub(super) fn place(&self) -> UnitAngle {
        self.foot.place
    }

    /// The spheres about the places on both.
    pub(super) fn spheres(&self, job: &Job<'_>) -> [Sample; 2] {
        let Self { first, second, side, foot } = self;
        let on_first = first.frame.origin + foot.e_r1 * (side * first.radius);
        let on_second = second.frame.origin + foot.e_r2 * second.radius;
        [Sample::of_point(on_first, job.a.sigma()), Sample::of_point(on_second, job.b.sigma())]
    }

    /// The normal: the direction of the connection, or across both tangents.
    pub(super) fn normal(&self) -> V3 {
        let foot = &self.foot;
        let tangents = foot.e_1.cross(&foot.e_2);
        if self.is_told_by_connection() || tangents.norm() < PARALLEL {
            let w = foot.connection(self.first, self.side);
            w / w.norm()
        } else {
            tangents.normalize()
        }
    }

    /// The places on both, and the normal.
    pub(super) fn pair(&self) -> Pair {
        let Self { first, second, side, foot } = self;
        let e = foot.e_r1 * *side;
        let theta = math::atan2(e.dot(&first.frame.y), e.dot(&first.frame.x));
        Pair { s: theta * first.radius, t: foot.place.angle() * second.radius, n: self.normal() }
    }
}

impl Guess for OnSide<'_> {
    fn state(&self) -> Option<State> {
        let (foot, r1, r2) = (&self.foot, self.first.radius, self.second.radius);
        if foot.rho <= NEAR * r1 {
            return None;
        }
        // Bounds all derivatives by the angles, over the product of the radii.
        let size = 1.0 + (self.second.frame.origin - self.first.frame.origin).norm() / r1.min(r2);
        // Second derivatives by the arc lengths; the first one by the first length vanishes.
        let w = foot.connection(self.first, self.side);
        let twist = foot.e_1.dot(&foot.e_2);
        let (by_s, by_t) = (self.side * foot.rho / r1, 1.0 - w.dot(&foot.e_r2) / r2);
        let det = by_s * by_t - twist * twist;
        let slope = w.dot(&foot.e_2) / det;
        let (ds, dt) = (slope * twist / r1, -slope * by_s / r2);
        // Where tangents are nearly parallel, the connection must be known to give the normal.
        let is_crossing = foot.e_1.cross(&foot.e_2).norm() >= PARALLEL;
        let allowed = if is_crossing { f64::INFINITY } else { NEAR * w.norm() / r1 };
        Some(State { step: dt, size: ds.abs().max(dt.abs()), det, curving: size * size, allowed })
    }

    fn stepped(&self, state: &State) -> Self {
        Self { foot: Foot::at(self.first, self.second, self.foot.place.stepped(state.step)), ..*self }
    }
}

/// The solutions that any candidate leads to, and any point of the second circle when one seems to be
/// missing.
fn try_everything(
    job: &Job<'_>,
    first: &Circle,
    second: &Circle,
    places: &[UnitAngle],
    found: &mut Solutions<'_>,
) {
    for place in places {
        starts(first, second, place.angle(), &mut |start| found.try_start(start, GATE));
    }
    if job.out.family.is_none() && !found.balanced() {
        for k in 0..SAMPLES {
            starts(first, second, TAU * f64::from(k) / f64::from(SAMPLES), &mut |start| {
                found.try_start(start, f64::INFINITY);
            });
        }
    }
}

/// Residual above which a candidate does not belong to this root: roots are known to 1e-4 at worst
/// (fourfold).
const GATE: f64 = 0.05;
/// Points of the second circle tried when the indices show that a solution is missing.
const SAMPLES: u32 = 64;

/// Places of the second circle where a pair can be; `None` for coaxial circles, which have no isolated pairs.
fn candidates(job: &Job<'_>, first: &Circle, second: &Circle) -> Option<TrigRoots> {
    let d = second.frame.origin - first.frame.origin;
    let (f, g, r2) = (&first.frame, &second.frame, second.radius);
    // (O_2 - O_1)·e, and the first circle's axis against e and against the second circle's radius.
    let a = TrigPoly::linear(0.0, d.dot(&g.y), -d.dot(&g.x));
    let (zx, zy) = (f.z.dot(&g.x), f.z.dot(&g.y));
    let axis_e = TrigPoly::linear(0.0, zy, -zx);
    let height = TrigPoly::linear(d.dot(&f.z), r2 * zx, r2 * zy);
    // ρ·e = (P - O_1)·e - height axis_e: small terms stay small for nearly coaxial circles.
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
        // One of the two signs holds identically (a meridian or a Villarceau circle of a torus around the
        // first circle): the other one then holds where both of its terms vanish.
        let mut roots = trig_roots(&a, job.noise).unwrap_or_default();
        for root in trig_roots(&b, job.noise).unwrap_or_default() {
            let _ = roots.try_push(root);
        }
        Some(roots)
    })
}

/// Pairs to start Newton's iteration from at the second circle's angle `phi`.
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
        // Nearly parallel tangents, and points that nearly coincide, leave it to the other one to give the
        // normal.
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

/// One circle at constant distance from the other: coaxial circles, meridians and Villarceau circles of a
/// torus around the other, and the circle itself.
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

/// Whether two opposite points of `moving` have a distance from `fixed` in common, to the nearest or the
/// farthest point.
fn may_be_equidistant(fixed: &Circle, moving: &Circle, tol: f64) -> bool {
    let [first, last] = [moving.radius, -moving.radius].map(|r| {
        let x = fixed.frame.local(&(moving.frame.origin + moving.frame.x * r));
        let rho = (x.x * x.x + x.y * x.y).sqrt();
        [rho - fixed.radius, rho + fixed.radius].map(|v| (v * v + x.z * x.z).sqrt())
    });
    let apart = |h: f64, other: f64| (h - other).abs() > tol;
    first.iter().any(|&h| last.iter().any(|&other| !apart(h, other)))
}

/// Range of the distance from points of `moving` to their partner on `fixed`, continued from the nearest (or
/// farthest) one; `None` as soon as it is wider than `tol`.
fn distance_along(fixed: &Circle, moving: &Circle, far: bool, tol: f64) -> Option<(f64, f64)> {
    let mut previous: Option<V3> = None;
    let (mut lo, mut hi) = (f64::INFINITY, 0.0f64);
    for k in 0..32 {
        let (p, _) = moving.at(TAU * f64::from(k) / 32.0);
        let near = fixed.nearest(&p);
        let (at_near, at_far) = (fixed.at(near).0, fixed.at(near + PI).0);
        let partner = match previous {
            // Past the fixed circle's axis the nearest point becomes the farthest one.
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

/// The circles touching each other: every normal of the common cross-section is one of a pair.
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
                // Edges that touch to rounding: one pair, whose normal is free. In a circle's plane it tells
                // inside from outside. (Coinciding circles touch everywhere.)
                if job.out.family.is_none() && h.max(a.d1.cross(&b.d1).norm() * len) <= job.noise {
                    job.add(&Pair { s, t, n: b.d2.normalize() });
                }
            } else {
                job.add_family(Family::One, -sigma_a - sigma_b - h, -sigma_a - sigma_b + h);
            }
        }
    }
}

/// Whether points of [`parallel_tangents`] are within a distance.
fn may_touch(first: &Circle, second: &Circle, distance: f64) -> bool {
    let line = first.frame.z.cross(&second.frame.z);
    let centers = second.frame.origin - first.frame.origin;
    let radius_along = |c: &Circle, v: &V3| {
        let (x, y) = (v.dot(&c.frame.x), v.dot(&c.frame.y));
        let len = (x * x + y * y).sqrt();
        // Without a direction the angle is taken as zero.
        let e = if len == 0.0 { c.frame.x } else { c.frame.x * (x / len) + c.frame.y * (y / len) };
        e * c.radius
    };
    let rays = [(first.frame.z.cross(&line), second.frame.z.cross(&line)), (centers, centers)];
    rays.iter().any(|(r1, r2)| {
        let (p, q) = (radius_along(first, r1), radius_along(second, r2));
        let apart = |v: V3| v.norm() > distance;
        !(apart(centers + q - p)
            && apart(centers - q - p)
            && apart(centers + q + p)
            && apart(centers - q + p))
    })
}

/// Arc lengths on both circles where tangents are parallel: they lie along the line where the planes meet. In
/// parallel planes, where all tangents have partners, those on the line through the centres, where the
/// circles can touch.
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

/// Adds all pairs of two circles in the range; `None`, with nothing added, unless the second one goes round
/// the axis of the first one evenly.
pub(super) fn around(job: &mut Job<'_>, first: &Circle, second: &Circle) -> Option<()> {
    let (f, g) = (&first.frame, &second.frame);
    let between = g.origin - f.origin;
    let height = between.dot(&f.z);
    // By the cosine and the sine of φ in products with the radius there; the derivative of these is that with
    // the tangent.
    let in_plane = |v: &V3| [v.dot(&g.x), v.dot(&g.y)];
    let (d, z) = (in_plane(&between), in_plane(&f.z));
    let across = between - f.z * height;
    let (r, tilt_sq) = (second.radius, z[0] * z[0] + z[1] * z[1]);
    let swing = Swing::new(
        across.norm_squared() + r * r * (1.0 - 0.5 * tilt_sq),
        [2.0 * r * length(in_plane(&across)), 0.5 * r * r * tilt_sq],
    )?;
    let double = 0.5 * first.radius * r * tilt_sq;
    let rest = length(d) * swing.off + double;
    let rest_rate = length(d) * (swing.off + swing.rate) + 2.0 * double;
    let radius_sum = job.a.sigma() + job.b.sigma();
    let mut found = Found::new();
    for side in [1.0, -1.0] {
        let (of_d, of_z) = (swing.middle - side * first.radius, side * first.radius * height);
        // v·e = -v·x sin φ + v·y cos φ.
        let harmonic =
            Harmonic { cos: of_d * d[1] + of_z * z[1], sin: -(of_d * d[0] + of_z * z[0]), rest, rest_rate };
        let zero = harmonic.zero(swing.middle * job.coarse(LEAST))?;
        let change = r * harmonic.change(&swing);
        for place in [zero, zero.opposite()] {
            let start = OnSide::at(first, second, side, place);
            let h_sq = start.distance_sq();
            let [lo, hi] = [h_sq - 2.0 * change, h_sq + 2.0 * change].map(|x| x.max(0.0).sqrt());
            let may_count = |d: f64| job.may_be_in_range(d - radius_sum, 0.5 * (hi - lo));
            if may_count(0.5 * (lo + hi)) || may_count(-0.5 * (lo + hi)) {
                let guess = polished(start)?;
                if !(guess.is_told_by_connection() && is_near(guess.place(), place)) {
                    return None;
                }
                found.push((guess.spheres(job), guess.normal()));
            }
        }
    }
    add(job, &found, true);
    Some(())
}
