//! A line (cylinder, cone, straight edge) and a circle (torus, circular edge).
//!
//! Let `P` be the point of the circle at θ, `e` the unit tangent there, `u` the axis, `m` the line's
//! slope and `w_⊥` the part of `P - o` orthogonal to the axis. A critical pair satisfies `± cos φ ŵ_⊥·e
//! = m u·e`. For constant radius (m = 0) this is a trigonometric polynomial of degree 2 in θ; otherwise
//! squaring gives one of degree 4: `cos²φ (w_⊥·e)² = m² |w_⊥|² (u·e)²`. Points where the axis intersects
//! the circle are roots of both.

use super::around::{
    AxisDistance, Found, Harmonic, MIN_HARMONIC, add, amplitude, is_near_harmonic_zero, polished,
};
use super::signed_distance::across;
use super::simple::{Guess, SimpleSolutions, State, Undecided, simple_solution};
use super::solve::{Job, Pair, Sample, Solutions, on_nappe, sample};
use super::{Family, Primitive};
use crate::roots::{TrigPoly, TrigRoots, trig_roots};
use crate::unit_angle::UnitAngle;
use crate::{Frame, P3, V3, math};
use std::f64::consts::{PI, TAU};

/// Poses and radii of a line A and a circle B.
pub(super) struct Poses {
    /// Line: a point of its axis, its unit direction `u`, the slope of its radius, and `cos_phi` = √(1 −
    /// slope²).
    origin: P3,
    u: V3,
    pub(super) slope: f64,
    pub(super) cos_phi: f64,
    /// Circle: its frame and its radius.
    frame: Frame,
    pub(super) radius: f64,
    /// Vector from the circle's centre to the nearest point of the line's axis.
    offset: V3,
}

impl Poses {
    pub(super) fn new(origin: &P3, u: &V3, slope: f64, frame: Frame, radius: f64) -> Self {
        let offset = across(&(origin - frame.origin), u);
        Self { origin: *origin, u: *u, slope, cos_phi: (1.0 - slope * slope).sqrt(), frame, radius, offset }
    }
}

/// Adds the critical pairs of line A and circle B.
pub(super) fn solve(job: &mut Job<'_>) {
    let (&Primitive::Line { origin, dir: u, slope, .. }, &Primitive::Circle { frame, radius, .. }) =
        (job.a, job.b)
    else {
        return;
    };
    let poses = Poses::new(&origin, &u, slope, frame, radius);
    coaxial_family(job, &poses);
    let forms = Forms::new(&poses);
    if job.out.family.is_none() && solve_encircling(job, &poses, &forms).is_some() {
        return;
    }
    tangent_family(job, &poses);

    let mut found = Solutions::new(job, radius);
    let Some(positions) = candidates(job, &poses, &forms) else { return };
    if job.out.family.is_some() || all_simple(job, &poses, &positions, &mut found).is_err() {
        found.clear();
        try_everything(job, &poses, &positions, &mut found);
    }
    found.finish(job);
}

/// Adds the critical pairs with distances in the requested range to `found`, starting from the roots of
/// the polynomial at `positions` on the circle. Returns `Undecided` unless all critical pairs at any
/// distance are proven to be simple.
///
/// The signed distance from the line, without the constant radii (`±cos φ |w_⊥| - m w·u` in the symbols
/// of the module documentation), is for each side a function on the circle with equal numbers of minima
/// and maxima. The first and second derivative decide whether a root is one of them. Only solutions that
/// may be in the range are refined up to rounding.
fn all_simple(
    job: &Job<'_>,
    p: &Poses,
    positions: &[UnitAngle],
    found: &mut Solutions<'_>,
) -> Result<(), Undecided> {
    let radius_sum = job.a.sigma() + job.b.sigma();
    // With a constant radius both sides have the same roots, and each solution represents both.
    let sides: &[f64] = if p.slope == 0.0 { &[1.0] } else { &[1.0, -1.0] };
    let mut of_side: [SimpleSolutions; 2] = Default::default();
    for &position in positions {
        let foot = Foot::at(p, position);
        let mut is_root = false;
        for (&side, simple) in sides.iter().zip(&mut of_side) {
            let Some((guess, state)) = simple_solution(OnSide { poses: p, side, foot })? else { continue };
            let foot = guess.foot;
            is_root = true;
            if !simple.add(foot.position, &state)? {
                continue;
            }
            let distance = guess.distance();
            let wanted = job.may_be_in_range(distance - radius_sum, 0.0)
                || p.slope == 0.0 && job.may_be_in_range(-distance - radius_sum, 0.0);
            if !(wanted && job.may_be_on_nappe(&sample(job.a, guess.along()))) {
                continue;
            }
            if foot.dist > job.scaled_length(MIN_AXIS_DISTANCE) {
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
    let are_complete = |simple| SimpleSolutions::are_complete(std::slice::from_ref(simple), 2);
    if of_side[..sides.len()].iter().all(are_complete) { Ok(()) } else { Err(Undecided) }
}

/// Distance of the circle's point from the line's axis, relative to the sizes of the primitives, above
/// which the direction from the axis gives the normal to nearly all digits. With a smaller value normals
/// are dominated by rounding; with a larger one more solutions need refinement.
const MIN_AXIS_DISTANCE: f64 = 1e-3;

/// Point of the circle at an angular position, relative to the line.
#[derive(Clone, Copy)]
struct Foot {
    position: UnitAngle,
    /// Unit radial direction and unit tangent of the circle at the point.
    e_r: V3,
    e: V3,
    /// Vector from the line's axis to the point, its length, and the point's coordinate along the axis
    /// (mm).
    across: V3,
    dist: f64,
    along: f64,
}

impl Foot {
    fn at(p: &Poses, position: UnitAngle) -> Self {
        let UnitAngle { cos, sin } = position;
        let e_r = p.frame.x * cos + p.frame.y * sin;
        let e = p.frame.y * cos - p.frame.x * sin;
        let w = across(&(e_r * p.radius - p.offset), &p.u);
        let along = (p.frame.origin + e_r * p.radius - p.origin).dot(&p.u);
        Self { position, e_r, e, across: w, dist: w.norm(), along }
    }
}

/// Approximate critical point of the signed distance. `side` is 1 if the normal points from the line's
/// axis towards the circle's point, and −1 if it points away from it.
#[derive(Clone, Copy)]
pub(super) struct OnSide<'a> {
    poses: &'a Poses,
    side: f64,
    foot: Foot,
}

impl<'a> OnSide<'a> {
    pub(super) fn at(poses: &'a Poses, side: f64, position: UnitAngle) -> Self {
        Self { poses, side, foot: Foot::at(poses, position) }
    }

    /// Returns the signed distance (mm) without the constant radii of both primitives.
    pub(super) fn distance(&self) -> f64 {
        self.side * self.poses.cos_phi * self.foot.dist - self.poses.slope * self.foot.along
    }

    /// Returns the angular position on the circle.
    pub(super) fn position(&self) -> UnitAngle {
        self.foot.position
    }

    /// Returns the arc length (mm) on the line of its sphere's centre.
    fn along(&self) -> f64 {
        let Self { poses: p, side, foot } = self;
        foot.along + p.slope * side * foot.dist / p.cos_phi
    }

    /// Returns the spheres about the points on the line and on the circle.
    pub(super) fn spheres(&self, job: &Job<'_>) -> [Sample; 2] {
        let on_circle = self.poses.frame.origin + self.foot.e_r * self.poses.radius;
        [sample(job.a, self.along()), Sample::of_point(on_circle, job.b.sigma())]
    }

    /// Returns the unit normal of the pair, from the line to the circle.
    pub(super) fn normal(&self) -> V3 {
        let Self { poses: p, side, foot } = self;
        (foot.across * (side * p.cos_phi / foot.dist) - p.u * p.slope).normalize()
    }

    /// Returns the arc lengths on the line and on the circle, and the unit normal from the line to the
    /// circle.
    fn pair(&self) -> Pair {
        Pair { s: self.along(), t: self.foot.position.angle() * self.poses.radius, n: self.normal() }
    }
}

impl Guess for OnSide<'_> {
    fn state(&self) -> Option<State> {
        let (p, foot) = (self.poses, &self.foot);
        // First and second derivative by θ, divided by the radius.
        let g = foot.across * (self.side * p.cos_phi / foot.dist) - p.u * p.slope;
        // Component of the tangent around the axis.
        let turning = p.u.cross(&foot.across).dot(&foot.e) / foot.dist;
        let bending = p.radius / foot.dist;
        let det = self.side * p.cos_phi * bending * turning * turning - g.dot(&foot.e_r);
        let step = -g.dot(&foot.e) / det;
        let size = 1.0 + bending;
        Some(State { step, size: step.abs(), det, derivative_bound: size * size, max_size: f64::INFINITY })
    }

    fn stepped(&self, state: &State) -> Self {
        Self { foot: Foot::at(self.poses, self.foot.position.stepped(state.step)), ..*self }
    }
}

/// Adds all critical pairs to `found` without proofs: refines the candidates at all `positions` on the
/// circle and, if a solution seems to be missing, starts from evenly spaced points of the circle.
fn try_everything(job: &Job<'_>, p: &Poses, positions: &[UnitAngle], found: &mut Solutions<'_>) {
    for position in positions {
        starts(p, position.angle(), &mut |start| found.try_start(start, MAX_START_RESIDUAL));
    }
    if job.out.family.is_none() && !found.balanced() {
        for k in 0..NUM_EXTRA_STARTS {
            starts(p, TAU * f64::from(k) / f64::from(NUM_EXTRA_STARTS), &mut |start| {
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
/// Number of evenly spaced points of the circle from which Newton's iteration starts if the indices of
/// the critical pairs show that one is missing. With more points the search is slower; with fewer points
/// critical pairs may stay missing.
const NUM_EXTRA_STARTS: u32 = 64;

/// Terms of the equation of critical pairs as functions of the angle θ on the circle.
pub(super) struct Forms {
    /// `w_⊥·e`: product of the vector from the line's axis to the circle's point and the circle's unit
    /// tangent.
    pub(super) across_e: TrigPoly,
    /// `u·e`: product of the axis' unit direction and the circle's unit tangent.
    pub(super) along_e: TrigPoly,
    /// `|w_⊥|²`: squared distance of the circle's point from the line's axis.
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

/// Returns the angular positions on the circle of possible critical pairs. Returns `None` for coaxial
/// poses, which have no isolated pairs.
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
        // The squared equation holds identically, so the zeros of its factors are the candidates.
        let mut roots = trig_roots(across_e, 0.0).unwrap_or_default();
        for root in trig_roots(along_e, 0.0).unwrap_or_default() {
            let _ = roots.try_push(root);
        }
        Some(roots)
    })
}

/// Passes to `try_start` the pairs from which Newton's iteration starts at the circle's point of the
/// angle `theta` (rad). A pair consists of this point, a point of the line's axis and a unit normal n
/// with `u·n = -slope`, where u is the axis' direction. At a critical pair, n is also orthogonal to the
/// circle's tangent and parallel to the connection of both points. A start satisfies the first of these
/// two conditions. If that condition determines n poorly or not at all, for example because the tangent
/// is parallel to the axis, starts that satisfy the second one are passed, too.
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
    // Nearly parallel tangents do not give a normal, and neither do points that nearly coincide; the
    // other source is used then.
    if (sin_sq < 2.5e-3 || nu_sq < 0.1) && dist > 1e-14 * p.radius {
        emit(w_across * (p.cos_phi / dist) - p.u * p.slope);
        if p.slope != 0.0 {
            emit(w_across * (-p.cos_phi / dist) - p.u * p.slope);
        }
    }
}

/// Adds the family of critical pairs that exists in coaxial poses, in which all points of the circle
/// have the same distance from the line's surface.
fn coaxial_family(job: &mut Job<'_>, p: &Poses) {
    let sigma = job.a.sigma() + job.b.sigma();
    // In most poses two points suffice to exclude a family on both sides.
    let [first, last] = [p.radius, -p.radius].map(|r| {
        let x = p.frame.origin + p.frame.x * r - p.origin;
        (p.cos_phi * across(&x, &p.u).norm(), p.slope * x.dot(&p.u))
    });
    let differ = |side: f64| (side * (first.0 - last.0) - (first.1 - last.1)).abs() > job.tol + job.noise;
    if differ(1.0) && differ(-1.0) {
        return;
    }
    for side in [1.0, -1.0] {
        let (mut lo, mut hi, mut is_on_used_nappe) = (f64::INFINITY, f64::NEG_INFINITY, false);
        // Opposite points come first because they exclude a family soonest.
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
            is_on_used_nappe |= on_nappe(&sample(job.a, along + p.slope * dist / p.cos_phi), job.tol);
        }
        if hi - lo <= job.tol && is_on_used_nappe {
            job.add_family(Family::One, lo, hi);
        }
    }
}

/// Adds the family of a line whose axis is tangent to the circle: every direction orthogonal to the
/// common tangent is the normal of a critical pair. Two edges (both radii of the spheres 0) get one
/// isolated pair instead.
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
                // Edges that touch to rounding have one pair, whose normal is free. A normal in the
                // circle's plane separates inside from outside.
                if dist.max(a.d1.cross(&b.d1).norm() * len) <= job.noise {
                    job.add(&Pair { s, t, n: b.d2.normalize() });
                }
            } else {
                job.add_family(Family::One, -sigma_a - sigma_b - dist, -sigma_a - sigma_b + dist);
            }
        }
    }
}

/// Returns the two pairs of arc lengths (mm) on the line and on the circle at which the angle between
/// the line's direction and the circle's tangent is smallest.
pub(super) fn parallel_tangents(origin: &P3, u: &V3, frame: &Frame, radius: f64) -> [(f64, f64); 2] {
    let theta = math::atan2(-u.dot(&frame.x), u.dot(&frame.y));
    [theta, theta + PI].map(|theta| {
        let (sin, cos) = math::sin_cos(theta);
        let p = frame.origin + (frame.x * cos + frame.y * sin) * radius;
        ((p - origin).dot(u), theta * radius)
    })
}

/// Adds all critical pairs of a line and a circle in the requested range if all points of the circle have
/// about the same distance from the line's axis. Returns `None` and adds nothing if the conditions in the
/// documentation of the module `around` are not satisfied, or if Newton's method does not converge; the
/// caller then uses the general solver.
pub(super) fn solve_encircling(job: &mut Job<'_>, p: &Poses, forms: &Forms) -> Option<()> {
    let square = &forms.across_sq;
    let axis_distance = AxisDistance::new(square.cos[0], [1, 2].map(|k| amplitude(square, k)))?;
    let by_slope = p.slope.abs() * amplitude(&forms.along_e, 1);
    let double = p.cos_phi * amplitude(&forms.across_e, 2);
    let (rest, rest_rate) = (
        double + by_slope * axis_distance.max_deviation,
        2.0 * double + by_slope * (axis_distance.max_deviation + axis_distance.max_rate),
    );
    let radius_sum = job.a.sigma() + job.b.sigma();
    let is_even = p.slope == 0.0;
    let mut found = Found::new();
    for side in [1.0, -1.0] {
        let first = |of: fn(&TrigPoly) -> f64| {
            p.cos_phi * side * of(&forms.across_e) - p.slope * axis_distance.mean * of(&forms.along_e)
        };
        let harmonic = Harmonic { cos: first(|f| f.cos[1]), sin: first(|f| f.sin[1]), rest, rest_rate };
        let zero = harmonic.zero(axis_distance.mean * MIN_HARMONIC)?;
        let max_change = p.radius * harmonic.max_change(&axis_distance);
        for position in [zero, zero.opposite()] {
            let start = OnSide::at(p, side, position);
            let distance = start.distance();
            let may_count = |d: f64| job.may_be_in_range(d - radius_sum, max_change);
            if may_count(distance) || is_even && may_count(-distance) {
                let guess = polished(start)?;
                if !is_near_harmonic_zero(guess.position(), position) {
                    return None;
                }
                found.push((guess.spheres(job), guess.normal()));
            }
        }
        // With a constant radius both sides have the same zeros, and each represents both.
        if is_even {
            break;
        }
    }
    add(job, &found, is_even);
    Some(())
}
