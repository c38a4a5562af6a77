//! Members of a continuous family of critical pairs.

use super::solve::{Pair, System, moved, on_nappe, sample, system};
use super::{Critical, Primitive, signed_distance};
use crate::frame::{complete_basis, unit};
use crate::{P3, V3, math};
use nalgebra::{Matrix4, Vector4};

/// The member near `p_guess` (a point on or near A) of the family of critical pairs that
/// [`critical_pairs`](super::critical_pairs) reported for the same `tol` and `extent`. The footpoints are on their
/// features to rounding; `p_b - p_a = distance n` and the conditions on `n` hold to what `tol` over `extent` allows, and
/// exactly for an exact family. `None` when there is none near.
///
/// Starting from the foot of `p_guess`, Newton steps of minimal length lead to the family, along directions that are
/// not the family's own; so samples keep their place along it.
#[must_use]
pub fn family_foot(a: &Primitive, b: &Primitive, p_guess: &P3, tol: f64, extent: f64) -> Option<Critical> {
    match (a, b) {
        (Primitive::Plane { origin, normal }, _) => plane_member(*origin, *normal, b, p_guess, tol, extent),
        (_, Primitive::Plane { origin, normal }) => {
            plane_member(*origin, *normal, a, p_guess, tol, extent).map(Critical::swapped)
        }
        _ => skeleton_member(a, b, p_guess, tol, extent),
    }
}

/// Plane (A) with any primitive.
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
            // c + t u - (σ + slope t) n, nearest to the guess along the plane.
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
    (slope * extent <= SLACK * tol.max(f64::EPSILON * extent) && distance.is_finite()).then(|| Critical {
        p_a: p_b - normal * distance,
        p_b,
        n: normal,
        distance,
    })
}

/// How far (in tolerances) a member's residuals may be from zero.
const SLACK: f64 = 4.0;

/// Points, lines and circles.
fn skeleton_member(a: &Primitive, b: &Primitive, p_guess: &P3, tol: f64, extent: f64) -> Option<Critical> {
    let mut x = start(a, b, p_guess)?;
    let len = extent.max(tol);
    // Directions in which the distance changes by less than the tolerance over the extent are the family's.
    let flat = (SLACK * tol / len).clamp(1e-10, 1e-3);
    for _ in 0..30 {
        let sys = system(a, b, &x, len);
        let step = short_step(&sys, flat)?;
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
    let fits = r.iter().all(|v| v.abs() * len <= SLACK * tol.max(1e-14 * len));
    (fits && on_nappe(&sa, tol) && on_nappe(&sb, tol)).then(|| Critical {
        p_a: sa.c + x.n * sa.sigma,
        p_b: sb.c - x.n * sb.sigma,
        n: x.n,
        distance: (sb.c - sa.c).dot(&x.n) - sa.sigma - sb.sigma,
    })
}

/// The step of minimal length that solves the system in its stiff directions.
fn short_step(sys: &System, flat: f64) -> Option<[f64; 4]> {
    let j = Matrix4::from_fn(|r, c| sys.j[r][c]);
    let svd = j.try_svd(true, true, f64::EPSILON, 100)?;
    let (u, v_t) = (svd.u?, svd.v_t?);
    let y = u.transpose() * Vector4::from(sys.r);
    let scaled = Vector4::from_fn(|i, _| {
        let s = svd.singular_values[i];
        if s > flat { -y[i] / s } else { 0.0 }
    });
    let step = v_t.transpose() * scaled;
    step.iter().all(|v| v.is_finite()).then(|| step.into())
}

/// Skeleton parameters and a normal from a point near A.
fn start(a: &Primitive, b: &Primitive, p_guess: &P3) -> Option<Pair> {
    let is_thin = |p: &Primitive| {
        matches!(p, Primitive::Point { sigma, .. } | Primitive::Circle { sigma, .. } if *sigma == 0.0)
            || matches!(p, Primitive::Line { sigma, slope, .. } if *sigma == 0.0 && *slope == 0.0)
    };
    // The normal is that of a surface where there is one, else the direction between the features.
    let from_a = signed_distance(a, p_guess).map(|d| (d.foot, d.gradient));
    let from_b = signed_distance(b, p_guess).map(|d| -d.gradient);
    let n = match (is_thin(a), is_thin(b)) {
        (false, _) => from_a.map(|f| f.1).or(from_b),
        (true, false) => from_b,
        (true, true) => unit(signed_distance(b, p_guess).map_or_else(V3::zeros, |d| d.foot - p_guess)),
    };
    let p_a = from_a.map_or(*p_guess, |f| f.0);
    let s = arc_length(a, &p_a, n.as_ref());
    let tangent = sample(a, s).d1;
    let n = n.or_else(|| unit(tangent).map(|t| complete_basis(&t).0)).unwrap_or_else(V3::z);
    let t = arc_length(b, &p_a, Some(&-n));
    Some(Pair { s, t, n })
}

/// Arc length of the sphere that touches `p` with outward normal `n`.
fn arc_length(skeleton: &Primitive, p: &P3, n: Option<&V3>) -> f64 {
    match *skeleton {
        Primitive::Plane { .. } | Primitive::Point { .. } => 0.0,
        Primitive::Line { origin, dir, sigma, slope } => {
            // Along the axis: p = c + σ n with n·dir = -slope.
            let along = (p - origin).dot(&dir);
            if n.is_some() { (along + slope * sigma) / (1.0 - slope * slope) } else { along }
        }
        Primitive::Circle { frame, radius, sigma } => {
            let q = n.map_or(*p, |n| p - n * sigma);
            let x = frame.local(&q);
            math::atan2(x.y, x.x) * radius
        }
    }
}
