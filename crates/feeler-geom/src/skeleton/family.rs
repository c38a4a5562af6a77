//! Members of a continuous family of critical pairs.

use super::solve::{Pair, System, moved, on_nappe, sample, system};
use super::{Critical, Primitive, circle_circle, line_circle, signed_distance};
use crate::frame::{complete_basis, unit};
use crate::{P3, V3, math};
use arrayvec::ArrayVec;
use nalgebra::{Matrix4, Vector4};

/// Returns the critical pair near `p_guess` (a point on or near A) of the family that
/// [`critical_pairs`](super::critical_pairs) reported for the same primitives, `tol` and `extent` (mm).
/// The footpoints are on the primitives up to rounding. `p_b - p_a = distance n` and the conditions on
/// `n` hold within the slack that `tol` over `extent` allows, and exactly for an exact family. Returns
/// `None` if no member of the family with a signed distance of at least `least` (mm) is near; between
/// planes, and a plane and another primitive, `least` has no effect.
///
/// Newton steps of minimal length lead from the footpoint of `p_guess` on A to the family. They have no
/// component along the family, so samples of a family keep their positions along it.
#[must_use]
pub fn family_foot(
    a: &Primitive,
    b: &Primitive,
    p_guess: &P3,
    least: f64,
    (tol, extent): (f64, f64),
) -> Option<Critical> {
    match (a, b) {
        (Primitive::Plane { origin, normal }, _) => plane_member(*origin, *normal, b, p_guess, tol, extent),
        (_, Primitive::Plane { origin, normal }) => {
            plane_member(*origin, *normal, a, p_guess, tol, extent).map(Critical::swapped)
        }
        _ => skeleton_member(a, b, p_guess, least, (tol, extent)),
    }
}

/// Returns the member near `p_guess` of the family of a plane A and any primitive B, or `None` if they
/// have no family.
fn plane_member(
    origin: P3,
    normal: V3,
    other: &Primitive,
    p_guess: &P3,
    tol: f64,
    extent: f64,
) -> Option<Critical> {
    let p_b = match *other {
        Primitive::Plane { origin: o_b, normal: n_b } => {
            let across = normal.dot(&n_b);
            if across > -0.5 {
                return None;
            }
            p_guess + normal * ((o_b - p_guess).dot(&n_b) / across)
        }
        Primitive::Point { center, sigma } => center - normal * sigma,
        Primitive::Line { origin: o_b, dir, sigma, slope } => {
            // The point c + t u - (σ + slope t) n nearest to the guess along the plane.
            let (start, step) = (o_b - normal * sigma, dir - normal * slope);
            let along = step - normal * step.dot(&normal);
            let t = (p_guess - start).dot(&along) / along.norm_squared();
            let b = sample(other, t);
            if !(t.is_finite() && on_nappe(&b, tol)) {
                return None;
            }
            b.c - normal * b.sigma
        }
        Primitive::Circle { frame, radius, .. } => {
            let x = frame.local(p_guess);
            let b = sample(other, math::atan2(x.y, x.x) * radius);
            b.c - normal * b.sigma
        }
    };
    let distance = (p_b - origin).dot(&normal);
    let slope = match *other {
        Primitive::Plane { normal: n_b, .. } => (normal + n_b).norm(),
        Primitive::Point { .. } => 0.0,
        Primitive::Line { dir, slope, .. } => (normal.dot(&dir) - slope).abs(),
        Primitive::Circle { frame, .. } => math::hypot(normal.dot(&frame.x), normal.dot(&frame.y)),
    };
    (slope * extent <= MAX_MEMBER_RESIDUAL * tol.max(f64::EPSILON * extent) && distance.is_finite())
        .then(|| Critical { p_a: p_b - normal * distance, p_b, n: normal, distance })
}

/// Maximum residual of the equations of a critical pair at a member of a family, as a multiple of the
/// tolerance. With a larger value isolated pairs count as families; with a smaller one families are
/// lost.
const MAX_MEMBER_RESIDUAL: f64 = 4.0;

/// Returns the member nearest to `p_guess` of the family of two primitives that are not planes. It is
/// the nearest one of those to which Newton's iteration converges from several starts; `None` if it
/// converges from none of them.
fn skeleton_member(
    a: &Primitive,
    b: &Primitive,
    p_guess: &P3,
    least: f64,
    (tol, extent): (f64, f64),
) -> Option<Critical> {
    let mut best: Option<Critical> = None;
    let distances = |c: &Critical| ((c.p_a - p_guess).norm(), (c.p_b - p_guess).norm());
    // For two parallel axes apart from each other all rulings are members within some tolerances, but
    // only two of them are stationary.
    let first = usize::from(are_axes_distinct(a, b, p_guess, tol));
    for (k, x) in starts(a, b, p_guess, tol).into_iter().enumerate().skip(first) {
        let Some(member) = converged(a, b, x, least, (tol, extent)) else { continue };
        // The first start has the guess's own normal. If that normal already belongs to a member, no
        // other member is nearer.
        let at_guess = sample(a, x.s);
        if k == 0 && (member.p_a - at_guess.c - x.n * at_guess.sigma).norm() <= tol {
            return Some(member);
        }
        let nearer = |old: &Critical| {
            let ((p, q), (old_p, old_q)) = (distances(&member), distances(old));
            // Edges and vertices have many normals at one footpoint; then B's footpoint decides.
            p < old_p - tol || (p <= old_p + tol && q < old_q)
        };
        if best.as_ref().is_none_or(nearer) {
            best = Some(member);
        }
    }
    best
}

/// Whether A and B are lines whose axes are more than half of `tol` (mm) apart near the point `p`, so
/// that they do not count as coaxial.
fn are_axes_distinct(a: &Primitive, b: &Primitive, p: &P3, tol: f64) -> bool {
    let on_axis = |x: &Primitive| match x {
        Primitive::Line { origin, dir, .. } => Some(origin + dir * (p - origin).dot(dir)),
        _ => None,
    };
    on_axis(a).zip(on_axis(b)).is_some_and(|(p, q)| (p - q).norm() > 0.5 * tol)
}

/// Iterates Newton steps of minimal length from the pair `x`. Returns `None` if they do not converge to
/// a member of a family within `tol` (mm), if its distance is less than `least` (mm), or if it is not on
/// the used nappe of a cone.
fn converged(
    a: &Primitive,
    b: &Primitive,
    mut x: Pair,
    least: f64,
    (tol, extent): (f64, f64),
) -> Option<Critical> {
    let len = extent.max(tol);
    // Directions along which the distance changes by less than the tolerance over the extent are tangent
    // to the family.
    let max_flat_singular = (MAX_MEMBER_RESIDUAL * tol / len).clamp(1e-10, 1e-3);
    let n_points = [a, b].iter().filter(|p| matches!(p, Primitive::Point { .. })).count();
    let mut is_family = false;
    for _ in 0..30 {
        let sys = system(a, b, &x, len);
        let (step, dimension) = min_norm_step(&sys, max_flat_singular)?;
        is_family = dimension > n_points;
        let size = step.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let turn = math::hypot(step[2], step[3]);
        let damp = if turn > 0.5 { 0.5 / turn } else { 1.0 };
        x = moved(&x, &step.map(|v| v * damp), &sys.basis, len);
        if size <= 1e-14 {
            break;
        }
    }
    let r = system(a, b, &x, len).r;
    let (sa, sb) = (sample(a, x.s), sample(b, x.t));
    let fits = r.iter().all(|v| v.abs() * len <= MAX_MEMBER_RESIDUAL * tol.max(1e-14 * len));
    let distance = (sb.c - sa.c).dot(&x.n) - sa.sigma - sb.sigma;
    (fits && is_family && distance >= least && on_nappe(&sa, tol) && on_nappe(&sb, tol)).then(|| Critical {
        p_a: sa.c + x.n * sa.sigma,
        p_b: sb.c - x.n * sb.sigma,
        n: x.n,
        distance,
    })
}

/// Returns the step of minimal length that solves the system along directions with a singular value
/// above `max_flat_singular`, and the number of the other directions, which are tangent to a family. The
/// unused parameter of a point primitive counts as one of those. Returns `None` if the decomposition
/// fails.
fn min_norm_step(sys: &System, max_flat_singular: f64) -> Option<([f64; 4], usize)> {
    let j = Matrix4::from_fn(|r, c| sys.j[r][c]);
    let svd = j.try_svd(true, true, f64::EPSILON, 100)?;
    let (u, v_t) = (svd.u?, svd.v_t?);
    let y = u.transpose() * Vector4::from(sys.r);
    let scaled = Vector4::from_fn(|i, _| {
        let s = svd.singular_values[i];
        if s > max_flat_singular { -y[i] / s } else { 0.0 }
    });
    let step = v_t.transpose() * scaled;
    let dimension = svd.singular_values.iter().filter(|&&s| s <= max_flat_singular).count();
    step.iter().all(|v| v.is_finite()).then(|| (step.into(), dimension))
}

/// Returns pairs (arc lengths on both skeletons and a normal) from which Newton's iteration starts, for
/// the point `p_guess` near A. The first pair has the normal at the guess. The next ones have the two
/// normals along the connection of the skeletons. The rest are at points where the skeletons touch
/// within `tol` (mm).
fn starts(a: &Primitive, b: &Primitive, p_guess: &P3, tol: f64) -> ArrayVec<Pair, 13> {
    let from_a = signed_distance(a, p_guess);
    let from_b = signed_distance(b, p_guess).map(|d| -d.gradient);
    // The normal is that of a surface if one of the features is a surface, else the direction between
    // the features.
    let n = match (is_thin(a), is_thin(b)) {
        (false, _) => from_a.map(|d| d.gradient).or(from_b),
        (true, false) => from_b,
        (true, true) => unit(signed_distance(b, p_guess).map_or_else(V3::zeros, |d| d.foot - p_guess)),
    };
    let p_a = from_a.map_or(*p_guess, |d| d.foot);
    let s = arc_length(a, &p_a, n.as_ref());
    let at = sample(a, s);
    let n = n.or_else(|| unit(at.d1).map(|t| complete_basis(&t).0)).unwrap_or_else(V3::z);
    let mut out = ArrayVec::new();
    out.push(Pair { s, t: partner(b, &at.c, &p_a, &n), n });
    for t in nearest(b, &at.c) {
        // The normal closest to the direction of w among those with A's required product with its axis.
        let w = sample(b, t).c - at.c;
        let Some(e) = unit(w - at.d1 * w.dot(&at.d1)) else { continue };
        let cos_phi = (1.0 - at.slope * at.slope).sqrt();
        for side in [cos_phi, -cos_phi] {
            let n = e * side - at.d1 * at.slope;
            let s = arc_length(a, &p_a, Some(&n));
            out.push(Pair { s, t: partner(b, &sample(a, s).c, &p_a, &n), n });
        }
    }
    for (s, t) in parallel_tangents(a, b) {
        let (at, other) = (sample(a, s), sample(b, t));
        let outward = unit(p_guess - at.c - at.d1 * at.d1.dot(&(p_guess - at.c)));
        if let Some(e) = outward.filter(|_| (other.c - at.c).norm() <= tol) {
            out.push(Pair { s, t, n: if at.sigma < 0.0 { -e } else { e } });
        }
    }
    out
}

/// Returns pairs of arc lengths (mm) on the skeletons of A and B at which their tangents are parallel.
/// The list is empty unless one is a circle and the other a line or a circle.
fn parallel_tangents(a: &Primitive, b: &Primitive) -> ArrayVec<(f64, f64), 8> {
    match (a, b) {
        (Primitive::Line { origin, dir, .. }, Primitive::Circle { frame, radius, .. }) => {
            line_circle::parallel_tangents(origin, dir, frame, *radius).into_iter().collect()
        }
        (Primitive::Circle { .. }, Primitive::Line { .. }) => {
            parallel_tangents(b, a).into_iter().map(|(s, t)| (t, s)).collect()
        }
        (
            &Primitive::Circle { frame, radius, .. },
            &Primitive::Circle { frame: frame_b, radius: radius_b, .. },
        ) => {
            let first = circle_circle::Circle { frame, radius };
            let second = circle_circle::Circle { frame: frame_b, radius: radius_b };
            circle_circle::parallel_tangents(&first, &second)
        }
        _ => ArrayVec::new(),
    }
}

/// Whether a primitive is an edge or a vertex: a skeleton with spheres of radius 0.
fn is_thin(p: &Primitive) -> bool {
    matches!(p, Primitive::Point { sigma, .. } | Primitive::Circle { sigma, .. } if *sigma == 0.0)
        || matches!(p, Primitive::Line { sigma, slope, .. } if *sigma == 0.0 && *slope == 0.0)
}

/// Returns the arc length (mm) of the point of B's skeleton that is closest to the line through `c_a`,
/// the centre of A's sphere, along the normal `n`. `p_a` is A's footpoint. Returns 0 if B is a point or a
/// plane.
fn partner(b: &Primitive, c_a: &P3, p_a: &P3, n: &V3) -> f64 {
    let off_normal = |v: V3| v - n * v.dot(n);
    match *b {
        Primitive::Line { origin, dir, .. } => {
            let along = off_normal(dir);
            let t = (c_a - origin).dot(&along) / along.norm_squared();
            if t.is_finite() { t } else { 0.0 }
        }
        Primitive::Circle { radius, .. } => {
            // The partner may be the nearest point or the farthest one.
            let t = arc_length(b, p_a, Some(&-n));
            let miss = |t: f64| off_normal(sample(b, t).c - c_a).norm();
            let far = t + std::f64::consts::PI * radius;
            // For coaxial circles both lie along the normal; then the one that the normal points to is
            // the partner.
            if miss(far) < 0.5 * miss(t) - 1e-9 * radius.abs() { far } else { t }
        }
        _ => 0.0,
    }
}

/// Returns the arc length (mm) of the point of B's skeleton nearest to `p` and, on a circle, also that
/// of the farthest point.
fn nearest(b: &Primitive, p: &P3) -> ArrayVec<f64, 2> {
    let t = arc_length(b, p, None);
    let mut out = ArrayVec::new();
    out.push(t);
    if let Primitive::Circle { radius, .. } = *b {
        out.push(t + std::f64::consts::PI * radius);
    }
    out
}

/// Returns the arc length (mm) on a skeleton of the sphere that has `p` on its surface with the outward
/// normal `n`. Without a normal, returns the arc length of the skeleton's point nearest to `p`.
fn arc_length(skeleton: &Primitive, p: &P3, n: Option<&V3>) -> f64 {
    match *skeleton {
        Primitive::Plane { .. } | Primitive::Point { .. } => 0.0,
        Primitive::Line { origin, dir, sigma, slope } => {
            // On the surface p = c + σ n with n·dir = -slope.
            let along = (p - origin).dot(&dir);
            if n.is_some() { (along + slope * sigma) / (1.0 - slope * slope) } else { along }
        }
        Primitive::Circle { frame, radius, sigma } => {
            // On the inner sheet of a spindle torus the sphere's centre is on the opposite side of the
            // axis.
            let (q, side) = n.map_or((*p, 1.0), |n| (p - n * sigma, radius.signum()));
            let x = frame.local(&q);
            math::atan2(side * x.y, side * x.x) * radius
        }
    }
}
