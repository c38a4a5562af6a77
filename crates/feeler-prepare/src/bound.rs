//! Boxes and cones of leaves.
//!
//! # Source
//! BREP §2.4.2, §3.3; MATH §7.

use feeler_brep::{Solid, VertexPolar};
use feeler_geom::frame::complete_basis;
use feeler_geom::{Obb, P2, P3, PolyCone, Rect, RevolutionCone, V3};
use feeler_hierarchy::Feature;

use crate::boxes::{boxed, frame};
use crate::group::{EdgeGroup, FaceGroup, Features, SpanGroup, VertexPick};
use crate::normals::{PieceOfEdge, side_normals};
use crate::polar::extreme_rays;
use crate::split::{FacePart, parts, split_face};

/// A leaf before the tree is built.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) feature: Feature,
    pub(crate) rect: Rect,
    /// At most eight points in whose convex hull the area lies.
    pub(crate) points: Vec<P3>,
    pub(crate) obb: Obb,
    pub(crate) poly: PolyCone,
    pub(crate) cone: RevolutionCone,
}

/// Angles below this (rad) are covered by the dilation that every hull gets.
const NEGLIGIBLE: f64 = 0.5 * feeler_geom::cone::HULL_DILATION;

/// Halvings of an edge, from one break or kink of its curve to the next.
const MAX_HALVINGS: u32 = 10;

/// Halvings of an edge whose normals have no bound.
const MAX_UNBOUNDED_HALVINGS: u32 = 4;

/// All leaves of a solid.
pub(crate) fn leaves(solid: &Solid, features: &Features, flatness: f64) -> Vec<Leaf> {
    let mut out = Vec::new();
    for (k, face) in features.faces.iter().enumerate() {
        face_leaves(Feature::Face(crate::group::index(k)), face, flatness, &mut out);
    }
    for (k, edge) in features.edges.iter().enumerate() {
        let feature = Feature::Edge(crate::group::index(k));
        for span in &edge.spans {
            edge_leaves(&EdgeContext { solid, features, edge, span, feature, flatness }, &mut out);
        }
    }
    for (k, vertex) in features.vertices.iter().enumerate() {
        out.push(vertex_leaf(Feature::Vertex(crate::group::index(k)), solid, vertex));
    }
    out
}

impl Leaf {
    fn new(
        feature: Feature,
        rect: Rect,
        mut points: Vec<P3>,
        axes: Option<[V3; 3]>,
        deviation: f64,
        poly: Option<PolyCone>,
    ) -> Self {
        let mut obb = boxed(&points, axes.as_slice());
        obb.half.add_scalar_mut(deviation);
        if points.len() > 8 || deviation > 0.0 {
            points = obb.corners().to_vec();
        }
        let poly = poly.unwrap_or_else(PolyCone::all);
        let cone = if poly.is_all() { RevolutionCone::all() } else { poly.revolution() };
        Self { feature, rect, points, obb, poly, cone }
    }
}

fn face_leaves(feature: Feature, face: &FaceGroup, flatness: f64, out: &mut Vec<Leaf>) {
    // A footpoint is accepted within the deviation of the boundary next to it.
    let deviation = face.cells.pieces.iter().fold(0.0, |m: f64, p| m.max(p.deviation));
    for FacePart { rect, generators } in split_face(face, flatness) {
        let generators = generators.map(|mut g| {
            if !face.outward {
                g.iter_mut().for_each(|d| *d = -*d);
            }
            g
        });
        let poly = generators.and_then(|g| PolyCone::hull(&g));
        let middle = face.surface.derivs(P2::new(0.5 * (rect.u0 + rect.u1), 0.5 * (rect.v0 + rect.v1)));
        let axes = frame(middle.du, middle.dv);
        out.push(Leaf::new(feature, rect, face.surface.hull_points(&rect), axes, deviation, poly));
    }
}

struct EdgeContext<'a> {
    solid: &'a Solid,
    features: &'a Features,
    edge: &'a EdgeGroup,
    span: &'a SpanGroup,
    feature: Feature,
    flatness: f64,
}

fn edge_leaves(cx: &EdgeContext<'_>, out: &mut Vec<Leaf>) {
    let (t0, t1) = (cx.span.t0, cx.span.t1);
    let mut stops = vec![t0];
    stops.extend(cx.edge.curve.breaks(t0, t1));
    stops.push(t1);
    for w in stops.windows(2) {
        // An arc of one turn has no tangent cone to start halving from.
        let limit = if cx.edge.curve.period().is_some() { cx.flatness } else { f64::INFINITY };
        let n = parts(w[1] - w[0], limit);
        let at = |k: u32| if k == n { w[1] } else { w[0] + (w[1] - w[0]) * (f64::from(k) / f64::from(n)) };
        for k in 0..n {
            halve(cx, at(k), at(k + 1), 0, out);
        }
    }
}

/// Halves `[t0, t1]` until its tangents and each face's normals along it are almost flat.
fn halve(cx: &EdgeContext<'_>, t0: f64, t1: f64, depth: u32, out: &mut Vec<Leaf>) {
    let limit = 0.5 * cx.flatness * (1.0 + 1e-9);
    let flat = |c: &RevolutionCone| c.half_angle <= limit;
    let tangents = cx.edge.curve.tangent_cone(t0, t1);
    let mid = 0.5 * (t0 + t1);
    if tangents.is_some_and(|c| !flat(&c)) && depth < MAX_HALVINGS && t0 < mid && mid < t1 {
        // Bounding the faces' normals costs much more.
        halve(cx, t0, mid, depth + 1, out);
        halve(cx, mid, t1, depth + 1, out);
        return;
    }
    let hull = cx.edge.curve.hull_points(t0, t1);
    let piece =
        PieceOfEdge { solid: cx.solid, edge: cx.edge, hull: &hull, t0, t1, deviation: cx.span.deviation };
    let mut generators: Option<Vec<V3>> = Some(vec![]);
    let mut slack = 0.0_f64;
    let (mut turns, mut unbounded) = (tangents.is_none(), tangents.is_none());
    for (side, (face, _)) in cx.edge.sides.iter().enumerate() {
        let normals = side_normals(&piece, &cx.features.faces[*face as usize], side);
        slack = slack.max(normals.slack);
        match normals.generators {
            Some(g) => {
                turns |= g.len() > 1 && !flat(&RevolutionCone::around(&g));
                if let Some(all) = &mut generators {
                    all.extend(g);
                }
            }
            None => {
                (turns, unbounded, generators) = (true, true, None);
            }
        }
    }
    let max_depth = if unbounded { MAX_UNBOUNDED_HALVINGS } else { MAX_HALVINGS };
    if turns && depth < max_depth && t0 < mid && mid < t1 {
        halve(cx, t0, mid, depth + 1, out);
        halve(cx, mid, t1, depth + 1, out);
        return;
    }
    let mut poly = generators.and_then(|g| PolyCone::hull(&g));
    if slack > NEGLIGIBLE {
        poly = poly.and_then(|p| p.dilated(slack));
    }
    let rect = Rect { u0: t0, u1: t1, v0: 0.0, v1: 0.0 };
    let chord = cx.edge.curve.point(t1) - cx.edge.curve.point(t0);
    let axes = Some(complete_basis(&chord.normalize()))
        .filter(|_| chord.norm() > 0.0)
        .map(|(e, f)| [e, f, e.cross(&f)]);
    out.push(Leaf::new(cx.feature, rect, hull, axes, cx.span.deviation, poly));
}

fn vertex_leaf(feature: Feature, solid: &Solid, pick: &VertexPick) -> Leaf {
    let point = solid.shell.vertices[pick.vertex as usize];
    let poly = match &solid.vertices[pick.vertex as usize].polar {
        VertexPolar::Constraints(c) => extreme_rays(c).and_then(|(rays, slack)| {
            let hull = PolyCone::hull(&rays)?;
            if slack > NEGLIGIBLE { hull.dilated(slack) } else { Some(hull) }
        }),
        VertexPolar::Empty => None,
    };
    let rect = Rect { u0: 0.0, u1: 0.0, v0: 0.0, v1: 0.0 };
    Leaf::new(feature, rect, vec![point], None, pick.deviation, poly)
}
