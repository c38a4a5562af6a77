//! A line (cylinder, cone, straight edge) and a circle (torus, circular edge).
//!
//! With `P` the point of the circle at θ, `e` the unit tangent there, `u` the axis and `m` the line's slope,
//! a pair needs `± cos φ ŵ_⊥·e = m u·e`, `w_⊥` the part of `P - o` across the axis. For constant radius (m
//! = 0) that is a trigonometric polynomial of degree 2 in θ, else one of degree 4 after squaring:
//! `cos²φ (w_⊥·e)² = m² |w_⊥|² (u·e)²`. Points where the axis meets the circle are roots of both.

use super::around::{Found, Harmonic, LEAST, Swing, add, amplitude, is_near, polished};
use super::signed_distance::across;
use super::simple::{Doubt, Guess, Places, State, settled};
use super::solve::{Job, Pair, Sample, Solutions, on_nappe, sample};
use super::{Family, Primitive};
use crate::roots::{TrigPoly, TrigRoots, trig_roots};
use crate::unit_angle::UnitAngle;
use crate::{Frame, P3, V3, math};
use std::f64::consts::{PI, TAU};

/// The line's and the circle's data.
pub(super) struct Poses {
    /// Axis: point, direction, slope of the radius.
    origin: P3,
    u: V3,
    pub(super) slope: f64,
    pub(super) cos_phi: f64,
    /// Circle.
    frame: Frame,
    pub(super) radius: f64,
    /// From the circle's centre to the nearest point of the axis.
    offset: V3,
}

impl Poses {
    pub(super) fn new(origin: &P3, u: &V3, slope: f64, frame: Frame, radius: f64) -> Self {
        let offset = across(&(origin - frame.origin), u);
        Self { origin: *origin, u: *u, slope, cos_phi: (1.0 - slope * slope).sqrt(), frame, radius, offset }
    }
}

/// Line (A) against circle (B).
pub(super) fn solve(job: &mut Job<'_>) {
    let (&Primitive::Line { origin, dir: u, slope, .. }, &Primitive::Circle { frame, radius, .. }) =
        (job.a, job.b)
    else {
        return;
    };
    let poses = Poses::new(&origin, &u, slope, frame, radius);
    coaxial_family(job, &poses);
    let forms = Forms::new(&poses);
    if job.out.family.is_none() && around(job, &poses, &forms).is_some() {
        return;
    }
    tangent_family(job, &poses);

    let mut found = Solutions::new(job, radius);
    let Some(places) = candidates(job, &poses, &forms) else { return };
    if job.out.family.is_some() || all_simple(job, &poses, &places, &mut found).is_err() {
        found.clear();
        try_everything(job, &poses, &places, &mut found);
    }
    found.finish(job);
}

/// Finds the solutions in the range when all there are, in range or not, are simple.
///
/// On each side of the line the distance `±cos φ |w_⊥| - m w·u` is a function on the circle with as many
/// minima as maxima. Two derivatives tell whether a root is one of them, and only what is asked for is
/// brought to rounding.
fn all_simple(
    job: &Job<'_>,
    p: &Poses,
    places: &[UnitAngle],
    found: &mut Solutions<'_>,
) -> Result<(), Doubt> {
    let radius_sum = job.a.sigma() + job.b.sigma();
    // With a constant radius both sides have the same roots, and each solution stands for both.
    let sides: &[f64] = if p.slope == 0.0 { &[1.0] } else { &[1.0, -1.0] };
    let mut of_side: [Places; 2] = Default::default();
    for &place in places {
        let foot = Foot::at(p, place);
        let mut is_root = false;
        for (&side, places) in sides.iter().zip(&mut of_side) {
            let Some((guess, state)) = settled(OnSide { poses: p, side, foot })? else { continue };
            let foot = guess.foot;
            is_root = true;
            if !places.add(foot.place, &state)? {
                continue;
            }
            let distance = guess.distance();
            let wanted = job.may_be_in_range(distance - radius_sum, 0.0)
                || p.slope == 0.0 && job.may_be_in_range(-distance - radius_sum, 0.0);
            if !(wanted && job.may_be_on_nappe(&sample(job.a, guess.along()))) {
                continue;
            }
            if foot.dist > job.coarse(NEAR) {
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
    let are_complete = |places| Places::are_complete(std::slice::from_ref(places), 2);
    if of_side[..sides.len()].iter().all(are_complete) { Ok(()) } else { Err(Doubt) }
}

/// Distance from the axis, relative to the sizes, from which on the direction from it is the normal to nearly
/// all digits.
const NEAR: f64 = 1e-3;

/// A point of the circle seen from the line.
#[derive(Clone, Copy)]
struct Foot {
    place: UnitAngle,
    /// Unit radius and tangent of the circle.
    e_r: V3,
    e: V3,
    /// From the axis to the point, its length, and the place along the axis.
    across: V3,
    dist: f64,
    along: f64,
}

impl Foot {
    fn at(p: &Poses, place: UnitAngle) -> Self {
        let UnitAngle { cos, sin } = place;
        let e_r = p.frame.x * cos + p.frame.y * sin;
        let e = p.frame.y * cos - p.frame.x * sin;
        let w = across(&(e_r * p.radius - p.offset), &p.u);
        let along = (p.frame.origin + e_r * p.radius - p.origin).dot(&p.u);
        Self { place, e_r, e, across: w, dist: w.norm(), along }
    }
}

/// A guess of a critical point of the distance on one side of the line.
#[derive(Clone, Copy)]
pub(super) struct OnSide<'a> {
    poses: &'a Poses,
    side: f64,
    foot: Foot,
}

impl<'a> OnSide<'a> {
    pub(super) fn at(poses: &'a Poses, side: f64, place: UnitAngle) -> Self {
        Self { poses, side, foot: Foot::at(poses, place) }
    }

    /// Signed distance, but for the constant radii.
    pub(super) fn distance(&self) -> f64 {
        self.side * self.poses.cos_phi * self.foot.dist - self.poses.slope * self.foot.along
    }

    /// The place on the circle.
    pub(super) fn place(&self) -> UnitAngle {
        self.foot.place
    }

    /// The place on the line.
    fn along(&self) -> f64 {
        let Self { poses: p, side, foot } = self;
        foot.along + p.slope * side * foot.dist / p.cos_phi
    }

    /// The spheres about the places on both.
    pub(super) fn spheres(&self, job: &Job<'_>) -> [Sample; 2] {
        let on_circle = self.poses.frame.origin + self.foot.e_r * self.poses.radius;
        [sample(job.a, self.along()), Sample::of_point(on_circle, job.b.sigma())]
    }

    /// The normal.
    pub(super) fn normal(&self) -> V3 {
        let Self { poses: p, side, foot } = self;
        (foot.across * (side * p.cos_phi / foot.dist) - p.u * p.slope).normalize()
    }

    /// The places on both, and the normal.
    fn pair(&self) -> Pair {
        Pair { s: self.along(), t: self.foot.place.angle() * self.poses.radius, n: self.normal() }
    }
}

impl Guess for OnSide<'_> {
    fn state(&self) -> Option<State> {
        let (p, foot) = (self.poses, &self.foot);
        // First and second derivative by θ, over the radius.
        let g = foot.across * (self.side * p.cos_phi / foot.dist) - p.u * p.slope;
        // The part of the tangent that turns around the axis.
        let turning = p.u.cross(&foot.across).dot(&foot.e) / foot.dist;
        let bending = p.radius / foot.dist;
        let det = self.side * p.cos_phi * bending * turning * turning - g.dot(&foot.e_r);
        let step = -g.dot(&foot.e) / det;
        let size = 1.0 + bending;
        Some(State { step, size: step.abs(), det, curving: size * size, allowed: f64::INFINITY })
    }

    fn stepped(&self, state: &State) -> Self {
        Self { foot: Foot::at(self.poses, self.foot.place.stepped(state.step)), ..*self }
    }
}

/// The solutions that any candidate leads to, and any point of the circle when one seems to be missing.
fn try_everything(job: &Job<'_>, p: &Poses, places: &[UnitAngle], found: &mut Solutions<'_>) {
    for place in places {
        starts(p, place.angle(), &mut |start| found.try_start(start, GATE));
    }
    if job.out.family.is_none() && !found.balanced() {
        for k in 0..SAMPLES {
            starts(p, TAU * f64::from(k) / f64::from(SAMPLES), &mut |start| {
                found.try_start(start, f64::INFINITY);
            });
        }
    }
}

/// Residual above which a candidate does not belong to this root: roots are known to 1e-4 at worst
/// (fourfold).
const GATE: f64 = 0.05;
/// Points of the circle tried when the indices show that a solution is missing.
const SAMPLES: u32 = 64;

/// What the equation is made of, as functions of θ.
pub(super) struct Forms {
    /// `w_⊥·e`.
    pub(super) across_e: TrigPoly,
    /// `u·e`.
    pub(super) along_e: TrigPoly,
    /// `|w_⊥|²`.
    pub(super) across_sq: TrigPoly,
}

impl Forms {
    pub(super) fn new(p: &Poses) -> Self {
        let (ux, uy) = (p.u.dot(&p.frame.x), p.u.dot(&p.frame.y));
        let (ox, oy) = (p.offset.dot(&p.frame.x), p.offset.dot(&p.frame.y));
        let r = p.radius;
        // -o·e - r (u·e_r)(u·e)
        let mut across_e = TrigPoly::linear(0.0, -oy, ox);
        across_e.cos[2] = -r * ux * uy;
        across_e.sin[2] = -0.5 * r * (uy - ux) * (uy + ux);
        let along_e = TrigPoly::linear(0.0, uy, -ux);
        // r² + o² - 2 r o·e_r - r² (u·e_r)²
        let mut across_sq = TrigPoly::linear(r * r + p.offset.norm_squared(), -2.0 * r * ox, -2.0 * r * oy);
        across_sq.cos[0] -= 0.5 * r * r * (ux * ux + uy * uy);
        across_sq.cos[2] = -0.5 * r * r * (ux - uy) * (ux + uy);
        across_sq.sin[2] = -r * r * ux * uy;
        Self { across_e, along_e, across_sq }
    }
}

/// Places of the circle where a pair can be; `None` for coaxial poses, which have no isolated pairs.
fn candidates(job: &Job<'_>, p: &Poses, forms: &Forms) -> Option<TrigRoots> {
    let Forms { across_e, along_e, across_sq } = forms;
    if across_e.size() + p.slope.abs() * p.radius * along_e.size() <= job.noise {
        return None;
    }
    if p.slope == 0.0 {
        return trig_roots(across_e, 0.0);
    }
    let left = across_e.scale(p.cos_phi);
    let right = along_e.scale(p.slope);
    let poly = left.mul(&left).add(&right.mul(&right).mul(across_sq).scale(-1.0));
    let size = left.size() * left.size() + right.size() * right.size() * across_sq.size();
    trig_roots(&poly, 64.0 * f64::EPSILON * size).or_else(|| {
        // The square vanishes identically: zeros of its factors remain.
        let mut roots = trig_roots(across_e, 0.0).unwrap_or_default();
        for root in trig_roots(along_e, 0.0).unwrap_or_default() {
            let _ = roots.try_push(root);
        }
        Some(roots)
    })
}

/// Pairs to start Newton's iteration from at `theta`: normals orthogonal to the tangent with the given
/// product with the axis, and normals along `w` with that product; where both are well conditioned they
/// agree.
fn starts(p: &Poses, theta: f64, try_start: &mut impl FnMut(Pair)) {
    let (sin, cos) = math::sin_cos(theta);
    let e_r = p.frame.x * cos + p.frame.y * sin;
    let e = p.frame.y * cos - p.frame.x * sin;
    let w_across = across(&(e_r * p.radius - p.offset), &p.u);
    let along = (p.frame.origin + e_r * p.radius - p.origin).dot(&p.u);
    let mut emit = |n: V3| {
        // w = h n, so w_⊥ = h n_⊥ with |n_⊥| = cos φ.
        let h = w_across.dot(&(n + p.u * p.slope)) / (p.cos_phi * p.cos_phi);
        try_start(Pair { s: along + p.slope * h, t: theta * p.radius, n: n.normalize() });
    };
    let k = p.u.cross(&e);
    let sin_sq = k.norm_squared();
    let nu_sq = 1.0 - p.slope * p.slope / sin_sq;
    if sin_sq > 1e-28 && nu_sq > -1e-3 {
        let in_plane = (e * p.u.dot(&e) - p.u) * (p.slope / sin_sq);
        let nu = (nu_sq.max(0.0) / sin_sq).sqrt();
        emit(in_plane + k * nu);
        if p.slope != 0.0 {
            emit(in_plane - k * nu);
        }
    }
    let dist = w_across.norm();
    // Nearly parallel tangents, and points that nearly coincide, leave it to the other one to give the
    // normal.
    if (sin_sq < 2.5e-3 || nu_sq < 0.1) && dist > 1e-14 * p.radius {
        emit(w_across * (p.cos_phi / dist) - p.u * p.slope);
        if p.slope != 0.0 {
            emit(w_across * (-p.cos_phi / dist) - p.u * p.slope);
        }
    }
}

/// The circle at constant distance from the line's surface: coaxial poses.
fn coaxial_family(job: &mut Job<'_>, p: &Poses) {
    let sigma = job.a.sigma() + job.b.sigma();
    // Nearly always two points tell, for both sides.
    let [first, last] = [p.radius, -p.radius].map(|r| {
        let x = p.frame.origin + p.frame.x * r - p.origin;
        (p.cos_phi * across(&x, &p.u).norm(), p.slope * x.dot(&p.u))
    });
    let differ = |side: f64| (side * (first.0 - last.0) - (first.1 - last.1)).abs() > job.tol + job.noise;
    if differ(1.0) && differ(-1.0) {
        return;
    }
    for side in [1.0, -1.0] {
        let (mut lo, mut hi, mut used) = (f64::INFINITY, f64::NEG_INFINITY, false);
        // Opposite points first: they tell at once that there is no family.
        for k in [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15] {
            let (sin, cos) = math::sin_cos(TAU * f64::from(k) / 16.0);
            let x = p.frame.origin + (p.frame.x * cos + p.frame.y * sin) * p.radius - p.origin;
            let dist = side * across(&x, &p.u).norm();
            let along = x.dot(&p.u);
            let d = p.cos_phi * dist - p.slope * along - sigma;
            (lo, hi) = (lo.min(d), hi.max(d));
            if hi - lo > job.tol {
                break;
            }
            used |= on_nappe(&sample(job.a, along + p.slope * dist / p.cos_phi), job.tol);
        }
        if hi - lo <= job.tol && used {
            job.add_family(Family::One, lo, hi);
        }
    }
}

/// The axis touching the circle: every normal of the common cross-section is one of a pair.
fn tangent_family(job: &mut Job<'_>, p: &Poses) {
    let (sigma_a, sigma_b) = (job.a.sigma(), job.b.sigma());
    let len = p.radius.min(job.extent);
    if p.slope.abs() * len > job.tol {
        return;
    }
    for (s, t) in parallel_tangents(&p.origin, &p.u, &p.frame, p.radius) {
        let (a, b) = (sample(job.a, s), sample(job.b, t));
        let dist = (b.c - a.c).norm();
        if 2.0 * dist <= job.tol && a.d1.cross(&b.d1).norm() * len <= job.tol {
            if sigma_a == 0.0 && sigma_b == 0.0 {
                // Edges that touch to rounding: one pair, whose normal is free. In the circle's plane it
                // tells inside from outside.
                if dist.max(a.d1.cross(&b.d1).norm() * len) <= job.noise {
                    job.add(&Pair { s, t, n: b.d2.normalize() });
                }
            } else {
                job.add_family(Family::One, -sigma_a - sigma_b - dist, -sigma_a - sigma_b + dist);
            }
        }
    }
}

/// Arc lengths on the line and on the circle where the tangents are as parallel as they get.
pub(super) fn parallel_tangents(origin: &P3, u: &V3, frame: &Frame, radius: f64) -> [(f64, f64); 2] {
    let theta = math::atan2(-u.dot(&frame.x), u.dot(&frame.y));
    [theta, theta + PI].map(|theta| {
        let (sin, cos) = math::sin_cos(theta);
        let p = frame.origin + (frame.x * cos + frame.y * sin) * radius;
        ((p - origin).dot(u), theta * radius)
    })
}

/// Adds all pairs of a line and a circle in the range; `None`, with nothing added, unless the circle goes
/// round the line evenly.
pub(super) fn around(job: &mut Job<'_>, p: &Poses, forms: &Forms) -> Option<()> {
    let square = &forms.across_sq;
    let swing = Swing::new(square.cos[0], [1, 2].map(|k| amplitude(square, k)))?;
    let by_slope = p.slope.abs() * amplitude(&forms.along_e, 1);
    let double = p.cos_phi * amplitude(&forms.across_e, 2);
    let (rest, rest_rate) =
        (double + by_slope * swing.off, 2.0 * double + by_slope * (swing.off + swing.rate));
    let radius_sum = job.a.sigma() + job.b.sigma();
    let is_even = p.slope == 0.0;
    let mut found = Found::new();
    for side in [1.0, -1.0] {
        let first = |of: fn(&TrigPoly) -> f64| {
            p.cos_phi * side * of(&forms.across_e) - p.slope * swing.middle * of(&forms.along_e)
        };
        let harmonic = Harmonic { cos: first(|f| f.cos[1]), sin: first(|f| f.sin[1]), rest, rest_rate };
        let zero = harmonic.zero(swing.middle * LEAST)?;
        let change = p.radius * harmonic.change(&swing);
        for place in [zero, zero.opposite()] {
            let start = OnSide::at(p, side, place);
            let distance = start.distance();
            let may_count = |d: f64| job.may_be_in_range(d - radius_sum, change);
            if may_count(distance) || is_even && may_count(-distance) {
                let guess = polished(start)?;
                if !is_near(guess.place(), place) {
                    return None;
                }
                found.push((guess.spheres(job), guess.normal()));
            }
        }
        // With a constant radius both sides have the same zeros, and each stands for both.
        if is_even {
            break;
        }
    }
    add(job, &found, is_even);
    Some(())
}
