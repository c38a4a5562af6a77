//! Computes the boxes of leaves, and the cones around the directions in their polars.
//!
//! # Source
//! BREP §2.4.2, §3.3; MATH §7.

use arrayvec::ArrayVec;
use feeler_brep::{Solid, VertexPolar};
use feeler_geom::frame::{complete_basis, unit};
use feeler_geom::{Curve, Obb, P2, P3, PolyCone, Rect, RevolutionCone, Surface, V3};
use feeler_hierarchy::{EdgeId, FaceId, Feature, VertexId};

use crate::boxes::{WORLD, boxed, frame};
use crate::group::{EdgeGroup, FaceGroup, Features, SpanGroup, VertexPick};
use crate::normals::{PieceOfEdge, side_normals};
use crate::polar::extreme_rays;
use crate::split::{FREE_FORM_FLATNESS, FacePart, parts, split_face};

/// Leaf of the tree, before the tree is built: an area of a feature with its bounds.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) feature: Feature,
    pub(crate) rect: Rect,
    /// Points whose convex hull contains the area.
    pub(crate) points: ArrayVec<P3, 8>,
    pub(crate) obb: Obb,
    /// Unit vectors whose conical hull contains all directions in the polars of the points of the area; empty
    /// if these do not fit into a half-space.
    pub(crate) spread: ArrayVec<V3, MAX_SPREAD>,
    pub(crate) poly: PolyCone,
    pub(crate) cone: RevolutionCone,
}

/// Angle (rad) up to which a cone of directions is not dilated by its slack, because the computation of
/// the cone dilates it by twice this angle. A larger value leaves normals outside their cone; a smaller
/// one causes more halvings.
const NEGLIGIBLE_SLACK: f64 = 0.5 * feeler_geom::cone::HULL_DILATION;

/// Maximum number of halvings of each interval of an edge between consecutive breaks of its curve, after
/// which the interval becomes a leaf although its directions vary by more than the flatness.
const MAX_HALVINGS: u32 = 10;

/// Maximum number of halvings of such an interval if its tangents, or the normals of a face along it, fit
/// no half-space or cannot be bounded at a singular point.
const MAX_UNBOUNDED_HALVINGS: u32 = 4;

/// Computes the leaves of all features of a solid. `flatness` (rad) is the maximum apex angle of the
/// normals or tangents of a leaf.
pub(crate) fn leaves(solid: &Solid, features: &Features, flatness: f64) -> Vec<Leaf> {
    let mut out = Vec::new();
    for (k, face) in features.faces.iter().enumerate() {
        face_leaves(Feature::Face(FaceId::new(k)), face, flatness, &mut out);
    }
    for (k, edge) in features.edges.iter().enumerate() {
        let feature = Feature::Edge(EdgeId::new(k));
        let solved = matches!(edge.curve, Curve::Line { .. } | Curve::Circle { .. });
        let flatness = if solved { flatness } else { flatness.min(FREE_FORM_FLATNESS) };
        for span in &edge.spans {
            edge_leaves(&EdgeContext { solid, features, edge, span, feature, flatness }, &mut out);
        }
    }
    for (k, vertex) in features.vertices.iter().enumerate() {
        out.push(vertex_leaf(Feature::Vertex(VertexId::new(k)), solid, vertex));
    }
    out
}

/// Axes that are tried for the box of a leaf, in the frame of the solid.
#[derive(Clone, Copy, Debug)]
enum Axes {
    /// Axes of the smallest box, which are known for planes, lines and vertices; no others are tried.
    Best([V3; 3]),
    /// Axes to try in addition to the world axes and the principal axes.
    Try([V3; 3]),
    /// Only the world axes and the principal axes are tried.
    Unknown,
}

/// Cones around the directions in the polars of the points of a leaf.
#[derive(Clone, Debug)]
struct Cones {
    spread: ArrayVec<V3, MAX_SPREAD>,
    poly: PolyCone,
    cap: RevolutionCone,
}

impl Cones {
    /// Computes cones around the conical hull of the directions, dilated by the angle `slack` (rad).
    /// Returns `None` if the result does not fit into a half-space.
    fn around(directions: &[V3], slack: f64) -> Option<Self> {
        let (mut poly, mut cap) = PolyCone::hull_and_cap(directions)?;
        if slack > NEGLIGIBLE_SLACK {
            (poly, cap) = (poly.dilated(slack)?, cap.dilated(slack));
        }
        let few = slack <= NEGLIGIBLE_SLACK && directions.len() <= MAX_SPREAD;
        let spread = if few { directions } else { &poly.generators };
        Some(Self { spread: spread.iter().filter_map(|d| unit(*d)).collect(), poly, cap })
    }
}

/// Maximum number of directions in [`Leaf::spread`]. Longer lists are replaced by the generators of
/// their polyhedral cone.
const MAX_SPREAD: usize = 8;

impl Leaf {
    fn new(
        feature: Feature,
        rect: Rect,
        points: &[P3],
        axes: Axes,
        deviation: f64,
        cones: Option<Cones>,
    ) -> Self {
        let mut obb = match axes {
            Axes::Best(axes) => Obb::around(points, axes),
            Axes::Try(axes) => boxed(points, &[axes]),
            Axes::Unknown => boxed(points, &[]),
        };
        obb.half.add_scalar_mut(deviation);
        let points = if points.len() > 8 || deviation > 0.0 {
            ArrayVec::from(obb.corners())
        } else {
            points.iter().copied().collect()
        };
        let Cones { spread, poly, cap: cone } = cones.unwrap_or_else(|| Cones {
            spread: ArrayVec::new(),
            poly: PolyCone::all(),
            cap: RevolutionCone::all(),
        });
        Self { feature, rect, points, obb, spread, poly, cone }
    }
}

fn face_leaves(feature: Feature, face: &FaceGroup, flatness: f64, out: &mut Vec<Leaf>) {
    // Footpoints beyond the boundary are accepted within the deviation of the boundary.
    let deviation = face.cells.pieces.iter().fold(0.0, |m: f64, p| m.max(p.deviation));
    // Adjacent areas along the axis of a cylinder, and all areas of a plane, have equal directions; their
    // cones are computed once.
    let mut last: Option<(Vec<V3>, Option<Cones>)> = None;
    for FacePart { rect, generators } in split_face(face, flatness) {
        let cones = generators.and_then(|mut g| {
            if !face.outward {
                g.iter_mut().for_each(|d| *d = -*d);
            }
            match &last {
                Some((same, cones)) if *same == g => cones.clone(),
                _ => {
                    let cones = Cones::around(&g, 0.0);
                    last = Some((g, cones.clone()));
                    cones
                }
            }
        });
        let axes = match &face.surface {
            Surface::Plane { frame } => Axes::Best([frame.x, frame.y, frame.z]),
            surface => {
                let middle = surface.derivs(P2::new(0.5 * (rect.u0 + rect.u1), 0.5 * (rect.v0 + rect.v1)));
                frame(middle.du, middle.dv).map_or(Axes::Unknown, Axes::Try)
            }
        };
        out.push(Leaf::new(feature, rect, &face.surface.hull_points(&rect), axes, deviation, cones));
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
        // A full turn has no tangent cone, so that halving needs shorter arcs to start from.
        let limit = if cx.edge.curve.period().is_some() { cx.flatness } else { f64::INFINITY };
        let n = parts(w[1] - w[0], limit);
        let at = |k: u32| if k == n { w[1] } else { w[0] + (w[1] - w[0]) * (f64::from(k) / f64::from(n)) };
        for k in 0..n {
            halve(cx, at(k), at(k + 1), 0, out);
        }
    }
}

/// Halves the interval `[t0, t1]` of an edge until the tangents, and the normals of each face along it,
/// lie within the flatness, and appends the leaves to `out`. `depth` is the number of halvings so far.
fn halve(cx: &EdgeContext<'_>, t0: f64, t1: f64, depth: u32, out: &mut Vec<Leaf>) {
    let limit = 0.5 * cx.flatness * (1.0 + 1e-9);
    let flat = |c: &RevolutionCone| c.half_angle <= limit;
    let tangents = cx.edge.curve.tangent_cone(t0, t1);
    let mid = 0.5 * (t0 + t1);
    if tangents.is_some_and(|c| !flat(&c)) && depth < MAX_HALVINGS && t0 < mid && mid < t1 {
        // The tangents are tested first because bounding the normals of the faces costs much more.
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
    let cones = generators.and_then(|g| Cones::around(&g, slack));
    let rect = Rect { u0: t0, u1: t1, v0: 0.0, v1: 0.0 };
    let axes = edge_axes(&cx.edge.curve, t0, t1);
    out.push(Leaf::new(cx.feature, rect, &hull, axes, cx.span.deviation, cones));
}

/// Computes axes for the box of an edge's interval: along the chord and, for planar curves,
/// perpendicular to it in the plane of the curve.
fn edge_axes(curve: &Curve, t0: f64, t1: f64) -> Axes {
    let chord = curve.point(t1) - curve.point(t0);
    let across = match curve {
        Curve::Line { .. } => {
            return unit(chord).map_or(Axes::Unknown, |x| {
                let (e, f) = complete_basis(&x);
                Axes::Best([x, e, f])
            });
        }
        Curve::Circle { frame, .. }
        | Curve::Ellipse { frame, .. }
        | Curve::Parabola { frame, .. }
        | Curve::Hyperbola { frame, .. } => frame.z.cross(&chord),
        Curve::Bezier(_) => curve.derivs(0.5 * (t0 + t1)).d2,
    };
    frame(chord, across).map_or(Axes::Unknown, Axes::Try)
}

fn vertex_leaf(feature: Feature, solid: &Solid, pick: &VertexPick) -> Leaf {
    let point = solid.shell.vertices[pick.vertex as usize];
    let cones = match &solid.vertices[pick.vertex as usize].polar {
        VertexPolar::Constraints(c) => extreme_rays(c).and_then(|(rays, slack)| Cones::around(&rays, slack)),
        VertexPolar::Empty => None,
    };
    let rect = Rect { u0: 0.0, u1: 0.0, v0: 0.0, v1: 0.0 };
    Leaf::new(feature, rect, &[point], Axes::Best(WORLD), pick.deviation, cones)
}
