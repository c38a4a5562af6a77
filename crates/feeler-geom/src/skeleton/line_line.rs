//! Two lines: cylinders, cones and straight edges in any combination.
//!
//! The dot products of the normal `n` with both axes are given by the slopes, so there are at most two
//! candidates `n = n_∥ ± ν k`, with `k` the common perpendicular. The equation `w = h n` is linear in
//! the two arc lengths and `h`.
//!
//! # Conditioning
//! All vectors are expressed in the orthonormal basis `(u, g, k)` of the first axis. The second axis
//! enters through `v - u`, whose subtraction is exact for nearly parallel axes, so the solution is as
//! accurate as the axes at any angle between them.

use super::signed_distance::across;
use super::solve::{Job, Pair, on_nappe, sample};
use super::{Family, Primitive};
use crate::V3;

/// Two lines A and B with axes `u` and `v`; B is reversed if necessary so that the angle between the
/// axes is at most 90°.
struct Lines {
    u: V3,
    /// Slopes of A and of the (reversed) B.
    slope_a: f64,
    slope_b: f64,
    /// Vector from A's origin to B's.
    q: V3,
    /// Cosine of the angle between the axes, and one minus the cosine.
    cos: f64,
    versine: f64,
    /// Component of B's axis orthogonal to A's, and its length.
    v_across: V3,
    sin: f64,
    /// +1, or -1 if B was reversed.
    sense: f64,
}

/// Adds the critical pairs of line A and line B.
pub(super) fn solve(job: &mut Job<'_>) {
    let (
        &Primitive::Line { origin: o_a, dir: u, slope: slope_a, .. },
        &Primitive::Line { origin: o_b, dir, slope, .. },
    ) = (job.a, job.b)
    else {
        return;
    };
    let sense = if u.dot(&dir) < 0.0 { -1.0 } else { 1.0 };
    let v = dir * sense;
    let diff = v - u;
    let versine = 0.5 * diff.norm_squared();
    let v_across = across(&(diff + u * versine), &u);
    let lines = Lines {
        u,
        slope_a,
        slope_b: slope * sense,
        q: o_b - o_a,
        cos: 1.0 - versine,
        versine,
        v_across,
        sin: v_across.norm(),
        sense,
    };
    families(job, &lines);
    isolated(job, &lines);
}

/// Adds the isolated critical pairs of two lines, of which there are at most two. Their normals are
/// mirror images with respect to the plane of both directions; for cylinders, they are the common
/// perpendicular in both senses. Nothing is added if the axes are parallel or the lines have no common
/// normal.
fn isolated(job: &mut Job<'_>, l: &Lines) {
    // Axes that are parallel to rounding over the features have no isolated pair near the features.
    if l.sin <= 8.0 * f64::EPSILON || l.sin * job.extent <= job.noise {
        return;
    }
    let g = l.v_across / l.sin;
    let k = l.u.cross(&g);
    let p = ((l.slope_b + l.slope_a) - l.versine * l.slope_a) / l.sin;
    let cos_phi_sq = 1.0 - l.slope_a * l.slope_a;
    let cos_phi = cos_phi_sq.sqrt();
    let nu_sq = (cos_phi - p) * (cos_phi + p);
    let rounding = 8.0 * f64::EPSILON * (1.0 + (l.slope_a.abs() + l.slope_b.abs()) / l.sin);
    if nu_sq.is_nan() || nu_sq <= rounding {
        // Either no common normal exists, or it lies in the plane of the axes. Then the rulings are
        // parallel and the critical pairs form a family, if there are any.
        return;
    }
    let nu = nu_sq.sqrt();
    let (q_u, q_g, q_k) = (l.q.dot(&l.u), l.q.dot(&g), l.q.dot(&k));
    for side in [1.0, -1.0] {
        let n = (g * p + k * (side * nu) - l.u * l.slope_a).normalize();
        let h = side * q_k / nu;
        let t = (h * p - q_g) / l.sin;
        let s = q_u + t * l.cos + h * l.slope_a;
        job.add(&Pair { s, t: t * l.sense, n });
    }
}

/// Adds the families of parallel rulings and of coaxial axes along which the distance varies by at most
/// the query's tolerance over the query's extent.
///
/// B's sphere at the arc length `t` has the signed distance `± cos φ_a |x_⊥| - slope_a x·u - σ_a -
/// σ_b(t)` from A. Here `x = q + t v` is the vector from A's origin to the sphere's centre, `x_⊥` its
/// part orthogonal to A's axis `u`, `cos φ_a = √(1 − slope_a²)`, and σ denotes the radii. This is affine
/// plus a convex or concave term, so its extremes over an interval are at the ends and at one stationary
/// point.
fn families(job: &mut Job<'_>, l: &Lines) {
    // The features lie near their origins, so the interval is centred midway between the origins.
    let mid = -0.5 * l.q.dot(&(l.u * l.cos + l.v_across));
    let range = [mid - job.extent, mid + job.extent];
    let cos_phi = (1.0 - l.slope_a * l.slope_a).sqrt();
    let q_across = across(&l.q, &l.u);
    let offset = |t: f64| q_across + l.v_across * t;
    let slope = -(l.slope_a * l.cos + l.slope_b);
    let sigma = job.a.sigma() + job.b.sigma();
    let base = -l.slope_a * l.q.dot(&l.u) - sigma;

    let widest = offset(range[0]).norm().max(offset(range[1]).norm());
    let edges = [job.a, job.b]
        .iter()
        .all(|p| matches!(p, Primitive::Line { sigma, slope, .. } if *sigma == 0.0 && *slope == 0.0));
    if 2.0 * widest + 2.0 * slope.abs() * job.extent <= job.tol && is_on_used_nappes(job, l, &range, 0.0) {
        let at = base + slope * mid;
        let family = if edges { Family::One } else { Family::Two };
        job.add_family(family, at - job.tol, at + job.tol);
        return;
    }
    // Axes that cross and stay within a few tolerances of each other over the range have no family of
    // rulings: the distance varies about as much around the axes as along them.
    let nearest = (l.sin > 0.0)
        .then(|| -q_across.dot(&l.v_across) / (l.sin * l.sin))
        .map_or(q_across.norm(), |t| offset(t.max(range[0]).min(range[1])).norm());
    if widest <= NEARLY_COAXIAL * job.tol && nearest <= 0.5 * widest {
        return;
    }
    // Beyond the point where the axes intersect, rulings of cones continue on the opposite side, on the
    // other nappe.
    let crossing = (l.sin > 0.0).then(|| -q_across.dot(&l.v_across) / (l.sin * l.sin));
    let shortest = 0.5 * job.extent;
    let parts = [
        Some(range),
        crossing.map(|t| [range[0], t.min(range[1])]),
        crossing.map(|t| [t.max(range[0]), range[1]]),
    ];
    for side in [1.0, -1.0] {
        let value = |t: f64| side * cos_phi * offset(t).norm() + base + slope * t;
        for part in parts.iter().flatten().filter(|p| p[1] - p[0] >= shortest) {
            let (lo, hi) = extremes(l, &q_across, side * slope / cos_phi, part, &value);
            if hi - lo <= job.tol && is_on_used_nappes(job, l, part, side) {
                job.add_family(Family::One, lo, hi);
            }
        }
    }
}

/// Maximum distance between two axes over the extent, as a multiple of the tolerance, at which they have
/// no family of dimension one if they approach each other to half of that distance. With a smaller value
/// the dimension of the family may change between queries of nearly equal poses.
const NEARLY_COAXIAL: f64 = 16.0;

/// Returns the smallest and the largest value over the interval `part` of the function `value`, which is
/// `± |x_⊥| + slope t` up to a factor and a constant. They are at the ends or at the stationary point,
/// where the slope of the affine term balances that of `± |x_⊥|`; `ratio` is the slope of the affine
/// term divided by the factor of `|x_⊥|`.
fn extremes(
    l: &Lines,
    q_across: &V3,
    ratio: f64,
    part: &[f64; 2],
    value: &impl Fn(f64) -> f64,
) -> (f64, f64) {
    let (first, last) = (value(part[0]), value(part[1]));
    let (mut lo, mut hi) = (first.min(last), first.max(last));
    if ratio.abs() < l.sin {
        // |x_⊥|² = height² + (sin t + along)².
        let g = l.v_across / l.sin;
        let along = q_across.dot(&g);
        let height = (q_across - g * along).norm();
        let reach = -height * ratio / ((l.sin - ratio) * (l.sin + ratio)).sqrt();
        let t = (reach - along) / l.sin;
        if part[0] < t && t < part[1] {
            (lo, hi) = (lo.min(value(t)), hi.max(value(t)));
        }
    }
    (lo, hi)
}

/// Whether the family over the range of B's arc length has a pair on the used nappes of both cones.
/// `side` is the sign of the normal along `x_⊥`, and 0 for coinciding axes.
fn is_on_used_nappes(job: &Job<'_>, l: &Lines, range: &[f64; 2], side: f64) -> bool {
    let cos_phi = (1.0 - l.slope_a * l.slope_a).sqrt();
    [range[0], 0.5 * (range[0] + range[1]), range[1]].iter().any(|&t| {
        let x = l.q + (l.u * l.cos + l.v_across) * t;
        let h = side * across(&x, &l.u).norm() / cos_phi;
        let a = sample(job.a, x.dot(&l.u) + l.slope_a * h);
        on_nappe(&a, job.tol) && on_nappe(&sample(job.b, t * l.sense), job.tol)
    })
}
