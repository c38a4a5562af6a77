//! Angle between the two faces of an edge, and the status that follows from it.
//!
//! # Source
//! MATH §4 "Edges": the signed angle between the outward normals is `atan2(⟨n₁ × n₂, t⟩, ⟨n₁, n₂⟩)` with
//! `n₁` left of the edge. A razor edge (±π) is therefore not mistaken for a smooth one.
//!
//! # Deviations
//! An edge whose angle changes its sign only within the noise of a file (see [`NOISE`], [`MAX_CHANGES`])
//! is not split but counts as convex. No contact is lost, because the exact polar test finds none where
//! the edge is not convex.

use feeler_geom::V3;

use super::draft::{Draft, UseAt};
use super::host::Host;
use crate::solid::EdgeStatus;

/// Maximum signed angle (rad) between the outward normals of the faces of an edge that counts as smooth;
/// convex angles are positive. With a larger value minima on convex edges are lost; with a smaller one
/// minima on smooth edges are found, which are removed later.
const SMOOTH: f64 = 1e-7;
/// Magnitude (rad) that the signed angle between the faces must exceed on both sides of a change of its
/// sign; otherwise the change counts as noise. A larger value misses splits; with a smaller one edges
/// are split at noise.
const NOISE: f64 = 1e-6;
/// Maximum number of changes of sign at which an edge is split. An edge with more of them is considered
/// smooth with noise and is not split.
const MAX_CHANGES: usize = 4;
/// Maximum concave angle (rad) between the outward normals of the faces of an edge that counts as smooth
/// if it is nowhere convex. A smaller value loses quasi-minima of inexact files.
const NEARLY_SMOOTH: f64 = 1e-3;

/// Distance from the ends of an edge within which a change of sign of the signed angle does not count,
/// relative to the solid's size; the largest distance of the edge from its surfaces is used if it is
/// larger. A larger value misses splits; a smaller one leaves edges that are shorter than the tolerance
/// of coincidence.
const NEAR_END: f64 = 1e-6;

/// Magnitude (rad) of the angle between the outward normals beyond which its sign is computed from
/// positions of the faces instead of normals. A larger value gives wrong signs near π, a smaller one
/// takes more time.
pub(super) const RAZOR: f64 = 3.13;

/// Signed angle (rad) between the outward normals of the two faces of an edge: its range along the edge,
/// and where it changes its sign. Convex angles are positive.
#[derive(Clone, Debug)]
pub(super) struct Dihedral {
    pub(super) min: f64,
    pub(super) max: f64,
    /// Edge parameters at which the angle changes its sign, in increasing order.
    pub(super) changes: Vec<f64>,
}

impl Dihedral {
    pub(super) fn status(&self) -> EdgeStatus {
        if self.max > SMOOTH {
            EdgeStatus::Convex
        } else if self.min >= -NEARLY_SMOOTH {
            EdgeStatus::Smooth
        } else {
            EdgeStatus::Concave
        }
    }
}

/// Returns the outward normal of the face to which the use `at` belongs, at the edge parameter `t`;
/// `None` if the surface has no normal there.
pub(super) fn outward_normal(draft: &Draft, host: &Host<'_>, at: UseAt, t: f64) -> Option<V3> {
    let u = draft.at(at);
    let e = &draft.edges[u.edge as usize];
    let p = u.pcurve.as_ref()?;
    let near_end = |end: f64| (t - end).abs() <= 1e-6 * (e.range.1 - e.range.0);
    let singular =
        near_end(e.range.0) && p.singular[0].is_some() || near_end(e.range.1) && p.singular[1].is_some();
    let guess = p.guess(t);
    // At a pole the free parameter is defined only as the limit from inside the edge.
    let tip = if near_end(e.range.0) { p.singular[0] } else { p.singular[1] };
    let n = match tip.filter(|_| singular) {
        Some(k) => host.singular[k].normal(host.surface, host.singular[k].free(guess)),
        None => host
            .surface
            .normal(p.at_node(t).unwrap_or_else(|| host.invert(&e.curve.point(t), guess, p.expected()))),
    };
    let n = if draft.faces[at.face].outward { n } else { -n };
    n.iter().all(|c| c.is_finite()).then_some(n)
}

fn guess(draft: &Draft, at: UseAt, t: f64) -> Option<feeler_geom::P2> {
    draft.at(at).pcurve.as_ref().map(|p| p.guess(t))
}

/// Samples the angle between the outward normals of the two faces of an edge along the edge. `a` and `b`
/// are the two uses of the edge. Returns `None` if no sample has a normal of both faces.
pub(super) fn dihedral(draft: &Draft, hosts: &[Host<'_>], [a, b]: [UseAt; 2]) -> Option<Dihedral> {
    let (left, right) = if draft.at(a).forward { (a, b) } else { (b, a) };
    let e = &draft.edges[draft.at(a).edge as usize];
    let angle = |t: f64| -> Option<f64> {
        let n1 = outward_normal(draft, &hosts[left.face], left, t)?;
        let n2 = outward_normal(draft, &hosts[right.face], right, t)?;
        let tangent = e.curve.tangent(t)?;
        let angle = feeler_geom::math::atan2(n1.cross(&n2).dot(&tangent), n1.dot(&n2));
        if angle.abs() < RAZOR {
            return Some(angle);
        }
        // The faces are tangent and back to back. A step into the left face ends below the right face at
        // a razor, and above it at a slit.
        let step = 1e-3 * (e.curve.point(e.mid()) - e.curve.point(e.range.0)).norm();
        let (h1, h2) = (&hosts[left.face], &hosts[right.face]);
        let into = e.curve.point(t) + n1.cross(&tangent) * step;
        let p = h1.surface.point(h1.invert(&into, guess(draft, left, t)?, 0.0));
        let foot = h2.surface.point(h2.invert(&p, guess(draft, right, t)?, 0.0));
        let height = (p - foot).dot(&n2);
        // If the faces have no height above each other, they belong to a sheet, whose rim is a razor.
        let slit = height > 1e-12 * draft.size;
        Some(if slit { -angle.abs() } else { angle.abs() })
    };
    let (t0, t1) = e.range;
    // The samples are the nodes of the pcurve with more nodes, because their nearest surface points are
    // known.
    let (p, q) = (draft.at(a).pcurve.as_ref()?, draft.at(b).pcurve.as_ref()?);
    let nodes = if p.nodes.len() >= q.nodes.len() { &p.nodes } else { &q.nodes };
    let samples: Vec<(f64, f64)> = nodes.iter().filter_map(|(t, _)| angle(*t).map(|x| (*t, x))).collect();
    // A razor is a razor over its whole length, so changes of sign near ±π are noise.
    let min = samples.iter().map(|s| s.1).reduce(f64::min)?;
    let max = samples.iter().map(|s| s.1).reduce(f64::max)?;
    let mut between: Vec<(f64, f64, bool)> = vec![];
    let mut last: Option<(f64, f64)> = None;
    for (t, x) in samples.iter().copied().filter(|s| s.1.abs() > NOISE) {
        if let Some((s, y)) = last
            && (x > 0.0) != (y > 0.0)
            && x.abs() < 3.0
            && y.abs() < 3.0
        {
            between.push((s, t, y > 0.0));
        }
        last = Some((t, x));
    }
    if between.len() > MAX_CHANGES || min >= -NEARLY_SMOOTH {
        between.clear();
    }
    let mut changes: Vec<f64> =
        between.into_iter().map(|(s, t, positive)| bisect(&angle, s, t, positive)).collect();
    let span = t1 - t0;
    // Where a surface collapses, normals beside an end are noise, and a cut there would leave an edge
    // with coincident ends.
    let near = (NEAR_END * draft.size).max(p.off_surface).max(q.off_surface);
    let ends = [t0, t1].map(|t| e.curve.point(t));
    changes.retain(|t| {
        let p = e.curve.point(*t);
        t - t0 > 1e-6 * span && t1 - t > 1e-6 * span && ends.iter().all(|end| (p - end).norm() > near)
    });
    Some(Dihedral { min, max, changes })
}

fn bisect(angle: &impl Fn(f64) -> Option<f64>, mut a: f64, mut b: f64, a_positive: bool) -> f64 {
    // 36 halvings reach 1e-11 of the sample interval, far below the noise of the angle.
    for _ in 0..36 {
        let m = 0.5 * (a + b);
        match angle(m) {
            Some(x) if (x > 0.0) == a_positive => a = m,
            _ => b = m,
        }
    }
    0.5 * (a + b)
}
