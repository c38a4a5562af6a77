//! Direction of a contact between a vertex and an edge or another vertex, or between edges with parallel
//! tangents.
//!
//! At distance 0 the footpoints do not define a direction. Every unit vector that lies in both polars is
//! a valid direction; a vector near the middle of them is chosen.
//!
//! # Source
//! MATH §2 (BREP 1.23 at d = 0).

use crate::body::edge_normals::{EdgeNormals, edge_normals};
use crate::body::side::Which;
use crate::footpoint::polar::Few;
use crate::query::{Candidate, Context};
use feeler_geom::{P3, V3};
use feeler_hierarchy::Feature;

/// Sine of the angle between tangents below which edges count as parallel, without a unique common
/// perpendicular. With a larger value, directions are not perpendicular to both edges; with a smaller
/// one, rounding determines the perpendiculars.
const MAX_PARALLEL_SINE: f64 = 1e-6;
/// Distance of two footpoints, in units of the rounding of a footpoint, below which they do not define a
/// direction. With a larger value, more directions are taken from the middle of the polars; with a
/// smaller one, rounding determines the directions.
pub(crate) const ROUNDINGS: f64 = 100.0;

/// Rounding of the products of extreme rays of a cone with its constraints. A larger value accepts rays
/// just outside cones; a smaller one refuses exact rays.
const RAY_ROUNDING: f64 = 1e-9;
/// Distance of two unit vectors below which they count as one extreme ray. With a larger value, normals
/// at small angles are merged; with a smaller one, the mean counts a ray twice.
const SAME_RAY: f64 = 1e-6;

/// Returns the unit direction from A to B (frame of A) and the signed distance (mm) along it, for a
/// candidate whose distance is within the tolerance and whose features are a vertex and an edge or a
/// vertex, or two edges with parallel tangents. Returns `None` for any other candidate, and if the
/// polars have no common direction.
///
/// The direction is that of the connection of the footpoints, in either sense, if it is in both polars.
/// Otherwise it is near the middle of the directions that are in both polars.
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
        if a.cross(&b).norm() > MAX_PARALLEL_SINE {
            return None;
        }
        // Both edges have the same tangent, so the two constraints along the tangent are needed only
        // once.
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

/// Appends to `out` the constraints of the polar of a feature at its footpoint `p`: vectors v (frame of
/// A) with ⟨n, v⟩ ≤ 0 for every direction n from A to B in the polar. Those along the tangent of an edge
/// are first. Returns the tangent (frame of A) of an edge, and `Some(None)` for a vertex. Returns `None`
/// for a face, a concave edge, or a footpoint that is not on its edge.
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
            let t = crate::footpoint::trim::locate_on_edge(body, i, &own, None, 0.0, &ctx.tol)?.place.uv[0];
            let e = edge_normals(body, i, t)?;
            of_edge(&e)?.into_iter().for_each(add);
            return Some(Some(if which == Which::A { e.tangent } else { ctx.pose_ab * e.tangent }));
        }
        Feature::Face(_) => return None,
    }
    Some(None)
}

/// Vectors v (frame of the solid) with ⟨n, v⟩ ≤ 0 for every direction n in the polar of an edge. The two
/// along the tangent are first. `None` for a concave edge.
pub(crate) fn of_edge(e: &EdgeNormals) -> Option<[V3; 4]> {
    if e.dihedral() < 0.0 {
        return None;
    }
    // The directions into the faces are to the left and to the right of the edge; n is across the tangent
    // and outside both faces.
    let into = [e.normals[0].cross(&e.tangent), e.tangent.cross(&e.normals[1])];
    Some([e.tangent, -e.tangent, into[0], into[1]])
}

/// Unit vector near the middle of the cone of the vectors n with ⟨n, v⟩ ≤ 0 for all v in `constraints`:
/// the mean of its extreme rays. Returns `None` if the cone is {0}.
pub(crate) fn feasible(constraints: &[V3]) -> Option<V3> {
    let rays = extreme_rays(constraints);
    let sum: V3 = rays.iter().sum();
    let one = rays.first().copied();
    // Opposite rays cancel if the cone contains a whole line.
    let is_inside = |n: &V3| constraints.iter().all(|v| n.dot(v) <= RAY_ROUNDING * v.norm());
    sum.try_normalize(RAY_ROUNDING).filter(is_inside).or(one)
}

/// Unit vectors along the extreme rays of the cone of the vectors n with ⟨n, v⟩ ≤ 0 for all v in
/// `constraints`. Each ray is included once, whatever the number of constraints that are active on it.
/// For the polar of a vertex between planes, the rays are the normals of the planes.
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
        assert!(
            feasible(&[V3::x(), -V3::x(), V3::y(), -V3::y(), V3::z(), -V3::z()]).is_none(),
            "the cone is {{0}}"
        );
    }
}
