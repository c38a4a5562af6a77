//! Direction of a contact between a vertex and an edge or another vertex.
//!
//! At distance 0 the footpoints define no direction: any unit vector of both polars is one, and one near their
//! middle is chosen.
//!
//! # Source
//! MATH §2 (BREP 1.23 at d = 0).

use crate::body::edge_normals::edge_normals;
use crate::footpoint::polar::Few;
use crate::query::{Candidate, Context};
use crate::side::Which;
use feeler_geom::{P3, V3};
use feeler_hierarchy::Feature;

/// A direction from A to B in both polars for a candidate within the tolerance, with a vertex and without a
/// face; `None` when the candidate is not of this kind, when its own direction is in both polars, or when the
/// polars have no direction in common.
pub(crate) fn direction(ctx: &Context<'_>, c: &Candidate) -> Option<V3> {
    let is_vertex = |f| matches!(f, Feature::Vertex(_));
    let is_face = |f| matches!(f, Feature::Face(_));
    if c.distance.abs() > ctx.tol.tol
        || is_face(c.feature_a)
        || is_face(c.feature_b)
        || !(is_vertex(c.feature_a) || is_vertex(c.feature_b))
    {
        return None;
    }
    let mut constraints = Few::new();
    collect(ctx, Which::A, c.feature_a, &c.p_a, &mut constraints)?;
    collect(ctx, Which::B, c.feature_b, &c.p_b, &mut constraints)?;
    let own = constraints.iter().all(|v| c.n.dot(v) <= ctx.tol.angle * v.norm());
    if own { None } else { feasible(&constraints) }
}

/// Vectors `v` (frame of A) with ⟨n, v⟩ ≤ 0 for every direction from A to B in the polar of one side.
fn collect(ctx: &Context<'_>, which: Which, feature: Feature, p: &P3, out: &mut Few) -> Option<()> {
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
            let own = match which {
                Which::A => *p,
                Which::B => ctx.pose_ba * p,
            };
            let t = crate::footpoint::trim::locate_on_edge(body, i, &own, None, &ctx.tol)?.place.uv[0];
            let e = edge_normals(body, i, t)?;
            if e.dihedral() < 0.0 {
                return None;
            }
            // Across the tangent, and outside both faces: the directions into them are left and right of the
            // edge.
            let into = [e.normals[0].cross(&e.tangent), e.tangent.cross(&e.normals[1])];
            [e.tangent, -e.tangent, into[0], into[1]].into_iter().for_each(add);
        }
        Feature::Face(_) => return None,
    }
    Some(())
}

/// A unit vector near the middle of `{n : ⟨n, v⟩ ≤ 0}`, `None` when that is {0}: the mean of its extreme
/// rays.
pub(crate) fn feasible(constraints: &[V3]) -> Option<V3> {
    let unit: Few = constraints.iter().filter_map(|v| v.try_normalize(f64::MIN_POSITIVE)).collect();
    let holds = |n: &V3| unit.iter().all(|v| n.dot(v) <= 1e-9);
    let mut sum = V3::zeros();
    let mut one = None;
    for (i, v) in unit.iter().enumerate() {
        for w in &unit[..i] {
            let Some(ray) = v.cross(w).try_normalize(1e-9) else { continue };
            for n in [ray, -ray] {
                if holds(&n) {
                    sum += n;
                    one = Some(n);
                }
            }
        }
    }
    // Opposite rays cancel where the cone holds a whole line.
    sum.try_normalize(1e-9).filter(holds).or(one)
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
