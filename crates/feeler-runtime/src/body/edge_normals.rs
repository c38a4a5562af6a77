//! Normals of both faces along an edge.

use crate::body::Body;
use feeler_geom::{P2, P3, V3, math};
use feeler_hierarchy::{AdjacentFace, EdgeId};

/// Normals of both faces at a point of an edge. The first face lies to the left of the curve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeNormals {
    /// Unit tangent of the edge in the direction of its parameter.
    pub tangent: V3,
    /// Outward unit normals, at the point of the edge, of the faces to its left and right.
    pub normals: [V3; 2],
}

/// Absolute dihedral angle (rad) above which rounding determines its sign; a negative angle then counts
/// as positive, so that the edge is a razor (convex) instead of a slit. With a value nearer to π, razor
/// edges can count as slits; with one farther from π, slits count as razors.
const MAX_SIGNED_ANGLE: f64 = std::f64::consts::PI - 1e-6;

/// Normals of both faces at parameter `t` of an edge; `None` at a singular point of the curve.
pub(crate) fn edge_normals(body: &Body, edge: EdgeId, t: f64) -> Option<EdgeNormals> {
    let edge = body.edge(edge);
    let d = edge.curve.derivs(t);
    let tangent = edge.curve.tangent_of(t, &d)?;
    let p = d.p;
    let normals = [0, 1].map(|i| side_normal(body, &edge.sides[i], &p, t));
    let left_first = edge.sides[0].forward || !edge.sides[1].forward;
    Some(EdgeNormals { tangent, normals: if left_first { normals } else { [normals[1], normals[0]] } })
}

impl Body {
    /// Unit tangent of an edge at its parameter `t`, and the outward unit normals of the faces to its left
    /// and to its right (seen from outside, along the curve), in the frame of the solid. Returns `None` at
    /// a singular point of the curve.
    #[must_use]
    pub fn edge_normals(&self, edge: EdgeId, t: f64) -> Option<(V3, [V3; 2])> {
        edge_normals(self, edge, t).map(|e| (e.tangent, e.normals))
    }
}

fn side_normal(body: &Body, side: &AdjacentFace, p: &P3, t: f64) -> V3 {
    let face = body.face(side.face);
    let n = face.surface.normal_beside(p, guide_at(&side.guide, t));
    if face.outward { n } else { -n }
}

/// Parameters on a face at the parameter `t` of its edge. `guide` is a table of (t, u, v), in which they
/// are interpolated; `None` if it is empty.
pub(crate) fn guide_at(guide: &[[f64; 3]], t: f64) -> Option<P2> {
    let (first, last) = (guide.first()?, guide.last()?);
    let i = guide.partition_point(|g| g[0] <= t);
    if i == 0 {
        return Some(P2::new(first[1], first[2]));
    }
    if i == guide.len() {
        return Some(P2::new(last[1], last[2]));
    }
    let (a, b) = (guide[i - 1], guide[i]);
    let s = if b[0] > a[0] { (t - a[0]) / (b[0] - a[0]) } else { 0.0 };
    Some(P2::new(a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2])))
}

impl EdgeNormals {
    /// Signed dihedral angle ω (rad): from the left face's normal to the right one's about the tangent,
    /// positive where the edge is convex.
    pub(crate) fn dihedral(&self) -> f64 {
        let [left, right] = &self.normals;
        let omega = math::atan2(left.cross(right).dot(&self.tangent), left.dot(right));
        // The sign for opposite normals is rounding. Concave edges have no minima, so the edge is a razor.
        if omega < -MAX_SIGNED_ANGLE { -omega } else { omega }
    }

    /// Unit direction in the middle of the edge's polar and the angle (rad) from it to either end of the
    /// polar; the angle is 0 for a concave edge, whose polar is {0}.
    pub(crate) fn middle(&self) -> (V3, f64) {
        let half = 0.5 * self.dihedral();
        let (s, c) = math::sin_cos(half);
        (self.normals[0] * c + self.tangent.cross(&self.normals[0]) * s, half.max(0.0))
    }
}
