//! Direction of a contact between a vertex and an edge or another vertex, or between edges with parallel
//! tangents.
//!
//! At distance 0 the footpoints define no direction: any unit vector of both polars is one, and one near
//! their middle is chosen.
//!
//! # Source
//! MATH §2 (BREP 1.23 at d = 0).

use crate::body::edge_normals::{EdgeNormals, edge_normals};
use crate::body::side::Which;
use crate::footpoint::polar::Few;
use crate::query::{Candidate, Context};
use feeler_geom::{P3, V3};
use feeler_hierarchy::Feature;

/// Sine between tangents below which edges have no common perpendicular.
const PARALLEL: f64 = 1e-6;
/// Distance, in roundings of a footpoint, below which two footpoints define no direction.
pub(crate) const ROUNDINGS: f64 = 100.0;

/// Rounding of products with an extreme ray of a cone, and distance of unit vectors along one ray.
const RAY_ROUNDING: f64 = 1e-9;
const SAME_RAY: f64 = 1e-6;

/// Direction from A to B, and the signed distance (mm) along it, of a candidate within the tolerance that has
/// a vertex and no face, or two edges whose tangents are parallel; `None` for any other candidate, or when
/// the polars have no direction in common.
///
/// The direction is that between the footpoints, in either sense, if it is in both polars; otherwise one near
/// the middle of the directions in both.
pub(crate) fn direction(ctx: &Context<'_>, c: &Candidate) -> Option<(V3, f64)> {
    let is_face = |f| matches!(f, Feature::Face(_));
    if c.distance.abs() > ctx.tol.tol || is_face(c.feature_a) || is_face(c.feature_b) {
        return None;
    }
    let mut constraints = Few::new();
    let tangent_a = collect(ctx, Which::A, c.feature_a, &c.p_a, &mut constraints)?;
    let n_of_a = constraints.len();
    let tangent_b = collect(ctx, Which::B, c.feature_b, &c.p_b, &mut constraints)?;
    if let (Some(a), Some(b)) = (tangent_a, tangent_b) {
        if a.cross(&b).norm() > PARALLEL {
            return None;
        }
        // Both edges have the same tangent: one pair of constraints suffices.
        constraints.drain(n_of_a..n_of_a + 2);
    }
    let between = c.p_b - c.p_a;
    let own = between.try_normalize(ROUNDINGS * ctx.tol.eps).and_then(|u| {
        let slack = ctx.tol.angle + 4.0 * ctx.tol.eps / between.norm();
        let holds = |n: &V3| constraints.iter().all(|v| n.dot(v) <= slack * v.norm());
        [u, -u].into_iter().find(holds)
    });
    let n = own.or_else(|| feasible(&constraints))?;
    Some((n, between.dot(&n)))
}

/// Appends vectors `v` (frame of A) with ⟨n, v⟩ ≤ 0 for every direction n from A to B in the polar of
/// one side. Those along an edge's tangent come first. Returns the tangent (frame of A) of an edge.
pub(crate) fn collect(
    ctx: &Context<'_>,
    which: Which,
    feature: Feature,
    p: &P3,
    out: &mut Few,
) -> Option<Option<V3>> {
    let body = ctx.body(which);
    let mut add = |v: V3| {
        out.push(match which {
            Which::A => v,
            // B's outward direction is -n.
            Which::B => ctx.pose_ab * -v,
        });
    };
    match feature {
        Feature::Vertex(i) => body.vertex(i).constraints.iter().for_each(|v| add(*v)),
        Feature::Edge(i) => {
            let own = ctx.in_own(which, p);
            let t = crate::footpoint::trim::locate_on_edge(body, i, &own, None, &ctx.tol)?.place.uv[0];
            let e = edge_normals(body, i, t)?;
            of_edge(&e)?.into_iter().for_each(add);
            return Some(Some(if which == Which::A { e.tangent } else { ctx.pose_ab * e.tangent }));
        }
        Feature::Face(_) => return None,
    }
    Some(None)
}

/// Vectors v (the solid's frame) with ⟨n, v⟩ ≤ 0 for every direction n in the polar of an edge, those
/// along the tangent first; `None` for a concave edge.
pub(crate) fn of_edge(e: &EdgeNormals) -> Option<[V3; 4]> {
    if e.dihedral() < 0.0 {
        return None;
    }
    // Across the tangent, and outside both faces: the directions into them are left and right of the edge.
    let into = [e.normals[0].cross(&e.tangent), e.tangent.cross(&e.normals[1])];
    Some([e.tangent, -e.tangent, into[0], into[1]])
}

/// Unit vector near the middle of `{n : ⟨n, v⟩ ≤ 0}`, `None` when that is {0}: the mean of its extreme
/// rays.
pub(crate) fn feasible(constraints: &[V3]) -> Option<V3> {
    let rays = extreme_rays(constraints);
    let sum: V3 = rays.iter().sum();
    let one = rays.first().copied();
    // Opposite rays cancel where the cone contains a whole line.
    let is_inside = |n: &V3| constraints.iter().all(|v| n.dot(v) <= RAY_ROUNDING * v.norm());
    sum.try_normalize(RAY_ROUNDING).filter(is_inside).or(one)
}

/// Unit vectors along the extreme rays of `{n : ⟨n, v⟩ ≤ 0}`, each one once, whatever the number of
/// planes through it. Those of the polar of a vertex between planes are the normals of its faces.
pub(crate) fn extreme_rays(constraints: &[V3]) -> Few {
    let unit: Few = constraints.iter().filter_map(|v| v.try_normalize(f64::MIN_POSITIVE)).collect();
    let is_inside = |n: &V3| unit.iter().all(|v| n.dot(v) <= RAY_ROUNDING);
    let mut rays = Few::new();
    for (i, v) in unit.iter().enumerate() {
        for w in &unit[..i] {
            let Some(ray) = v.cross(w).try_normalize(RAY_ROUNDING) else { continue };
            for n in [ray, -ray] {
                if is_inside(&n) && !rays.iter().any(|r| (r - n).norm() < SAME_RAY) {
                    rays.push(n);
                }
            }
        }
    }
    rays
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middle_of_an_octant() {
        let n = feasible(&[-V3::x(), -V3::y(), -V3::z()]).unwrap();
        assert!((n - V3::new(1.0, 1.0, 1.0).normalize()).norm() < 1e-15, "{n}");
        assert!(feasible(&[V3::x(), -V3::x(), V3::y(), -V3::y(), V3::z(), -V3::z()]).is_none(), "only zero");
    }
}
