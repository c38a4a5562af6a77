//! Pressed minima: minima at negative distances, where one solid is pressed into the other.
//!
//! Two solids that interfere have many critical pairs of their boundaries at negative distances. Most of
//! them are not contacts, for example those of a pin in a deep hole with the opposite wall. A critical
//! pair is a contact if there is a common point (a point inside both solids) near its footpoints. It is
//! also a contact if it was one in the last query and the motion since then explains the change of its
//! distance, unless the verdict excludes interference. A conformal set between two faces is continued
//! only if it has a common point, because faces that have slid past each other in one plane have none. A
//! footpoint beyond a concave edge must lie in its own solid.
//!
//! # Guarantees
//! Common points lie in both solids. A sheet has no interior; for a sheet, a point at or near its own
//! footpoint lies in the other solid. An edge against a vertex, or two vertices, are never pressed: a
//! motion that brings them together passes through a contact of a face or of two edges first.
//!
//! # Source
//! MATH §16.

use crate::accept::identities::ContactIds;
use crate::api::contact::ContactKind;
use crate::body::Body;
use crate::body::edge_normals::edge_normals;
use crate::body::side::Which;
use crate::footpoint::trim::is_in_trims;
use crate::nearest::membership::{RayScratch, contains};
use crate::nearest::{NearScratch, faces_around, outward_of_all};
use crate::query::{Accepted, Context};
use arrayvec::ArrayVec;
use feeler_geom::{P2, P3, V3};
use feeler_hierarchy::Feature;

/// Scratch buffers reused between queries.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    near: NearScratch,
    rays: RayScratch,
    sets: Vec<Set>,
}

/// A conformal set of two faces at a negative distance.
#[derive(Clone, Copy, Debug)]
struct Set {
    /// Faces of A and B between which the set lies.
    features: (Feature, Feature),
    /// Sum of the midpoints between the footpoints of the samples (mm, frame of A).
    sum: V3,
    /// Number of samples of the set that `sum` contains.
    count: f64,
    /// Whether a point inside both solids was found near a sample of the set. All samples that continue
    /// a contact of the last query are then kept.
    is_confirmed: bool,
}

impl Set {
    fn contains(&self, x: &Accepted) -> bool {
        self.features == (x.feature_a, x.feature_b)
    }
}

/// Distances of tested points from a pressed edge or vertex, into its own solid, and from a sample of a
/// pressed set, towards the middle of the set, as fractions of the contact's depth. They are tried in this
/// order until a point inside both solids is found.
const INWARD_STEPS: [f64; 3] = [0.5, 0.1, 0.02];
/// Maximum distance (in tolerances) of a face from a vertex at which the face counts as adjacent to it. A
/// larger value confirms contacts of neighbouring features; a smaller one misses contacts of corners.
const MAX_FACE_DISTANCE: f64 = 4.0;

/// Removes minima below the signed distances of touching solids that are neither confirmed by a point
/// inside both solids nor continue a contact of the last query. `is_apart`: the solids are known not to
/// interfere. `contact_ids` are the contacts of the last query; `displacement` (mm) is an upper bound of
/// the displacement of B's points since then.
pub(crate) fn retain(
    ctx: &Context<'_>,
    is_apart: bool,
    (contact_ids, displacement): (&ContactIds, f64),
    scratch: &mut Scratch,
    accepted: &mut Vec<Accepted>,
) {
    let tol = &ctx.tol;
    let sheets = [ctx.a, ctx.b].map(Body::is_sheet);
    let presses = sheets != [true; 2] && ctx.presses();
    let may_be_pressed = |x: &Accepted| presses && x.distance >= -ctx.penetration;
    let is_near = |x: &Accepted| is_apart && sheets == [false; 2] && x.distance >= tol.min_distance_apart();
    let is_possible = |x: &Accepted| may_be_pressed(x) || is_near(x);
    let is_pressed = |x: &Accepted| x.distance < tol.min_distance();
    scratch.sets.clear();
    for x in accepted.iter().filter(|x| is_set_sample(x) && is_pressed(x)) {
        let sum = middle(x).coords;
        match scratch.sets.iter_mut().find(|set| set.contains(x)) {
            Some(set) => (set.sum, set.count) = (set.sum + sum, set.count + 1.0),
            None => {
                let features = (x.feature_a, x.feature_b);
                scratch.sets.push(Set { features, sum, count: 1.0, is_confirmed: false });
            }
        }
    }
    // A verdict refutes a depth that no common point confirms, whatever the last query found there.
    let is_refuted = |x: &Accepted| is_apart && x.distance < tol.min_distance_apart();
    let continues = |x: &Accepted| {
        may_be_pressed(x) && !is_refuted(x) && contact_ids.continues(x, &ctx.pose_ba, displacement + tol.tol)
    };
    for x in accepted.iter().filter(|x| is_set_sample(x) && is_pressed(x)) {
        let Some(k) = scratch.sets.iter().position(|set| set.contains(x)) else { continue };
        if !scratch.sets[k].is_confirmed && continues(x) {
            scratch.sets[k].is_confirmed = confirmed(ctx, x, scratch) || confirmed_inwards(ctx, x, scratch);
        }
    }
    accepted.retain(|x| {
        if !is_pressed(x) {
            return true;
        }
        if x.is_extended && !is_in_material(ctx, x, &mut scratch.rays) {
            return false;
        }
        if continues(x) {
            // The loop above has examined the samples of sets.
            return !is_set_sample(x) || scratch.sets.iter().any(|set| set.contains(x) && set.is_confirmed);
        }
        is_possible(x)
            && (confirmed(ctx, x, scratch) || is_set_sample(x) && confirmed_inwards(ctx, x, scratch))
    });
}

/// Returns whether the footpoints of a pressed minimum that lie beyond a border of their face, or beyond an
/// end of their edge, lie in their own solid. Beyond a concave edge a surface continues in the material below
/// the other face; past the end of such an edge, and beyond the next fold, it may continue in free space,
/// which opposes nothing.
fn is_in_material(ctx: &Context<'_>, x: &Accepted, rays: &mut RayScratch) -> bool {
    let sides = [(Which::A, x.feature_a, &x.place_a, x.p_a), (Which::B, x.feature_b, &x.place_b, x.p_b)];
    sides.into_iter().all(|(which, feature, place, p)| {
        let body = ctx.body(which);
        let uv = P2::new(place.uv[0], place.uv[1]);
        if body.is_sheet() || is_in_trims(body, feature, uv, &ctx.tol) {
            return true;
        }
        // Nearer to the boundary, the deviations of trims decide.
        let near = (0.01 * ctx.tol.tol).max(ctx.tol.trim + body.data(feature).deviation);
        contains(body, &ctx.in_own(which, &p), near, rays) != Some(false)
    })
}

/// Like [`is_in_material`], for one minimum that is not a result of a query.
pub(crate) fn has_feet_in_material(ctx: &Context<'_>, x: &Accepted) -> bool {
    is_in_material(ctx, x, &mut RayScratch::default())
}

/// Returns whether a minimum is a sample of a conformal set of two faces.
fn is_set_sample(x: &Accepted) -> bool {
    x.kind == ContactKind::Conformal
        && matches!((x.feature_a, x.feature_b), (Feature::Face(_), Feature::Face(_)))
}

fn middle(x: &Accepted) -> P3 {
    nalgebra::center(&x.p_a, &x.p_b)
}

/// Returns whether a point near the sample `x` of a set, towards the middle of the set, is inside both
/// solids. It is for samples on the border of the set, where one of the solids ends.
fn confirmed_inwards(ctx: &Context<'_>, x: &Accepted, scratch: &mut Scratch) -> bool {
    let own = middle(x);
    let set = scratch.sets.iter().find(|set| set.contains(x));
    let inwards = set.and_then(|set| (set.sum / set.count - own.coords).try_normalize(ctx.tol.tol));
    inwards.is_some_and(|v| {
        INWARD_STEPS.iter().any(|step| is_common(ctx, x, &(own - v * (step * x.distance)), scratch))
    })
}

/// Returns whether a point inside both solids is found near the footpoints of a minimum at a negative
/// distance. The tested points depend on the features. For two faces, it is the midpoint between the
/// footpoints. For a face and an edge or vertex, they are points behind the edge or vertex in its own
/// solid. For two edges, they are points around the midpoint. If a body is a sheet, the footpoint on the
/// sheet is tested, too.
fn confirmed(ctx: &Context<'_>, x: &Accepted, scratch: &mut Scratch) -> bool {
    let depth = -x.distance;
    let middle = middle(x);
    let mut tried: ArrayVec<P3, 12> = ArrayVec::new();
    match (x.feature_a, x.feature_b) {
        (Feature::Face(_), Feature::Face(_)) => tried.push(middle),
        (Feature::Face(_), _) => behind(ctx, Which::B, x, depth, scratch, &mut tried),
        (_, Feature::Face(_)) => behind(ctx, Which::A, x, depth, scratch, &mut tried),
        _ => {
            tried.extend([crossing_centroid(ctx, x), Some(middle)].into_iter().flatten());
            // If both solids end on one plane, the middle is in neither of them.
            let out = [Which::A, Which::B].into_iter().filter_map(|own| bisector(ctx, own, x)).sum::<V3>();
            tried.extend(INWARD_STEPS.map(|step| middle - out * (step * depth)));
        }
    }
    tried.iter().any(|p| is_common(ctx, x, p, scratch)) || {
        // A footpoint on the rim of a sheet may be in the solid.
        sheet(ctx, x).is_some_and(|(_, p, _)| is_common(ctx, x, &p, scratch))
    }
}

/// Returns the body that is a sheet, the footpoint of a minimum on it (frame of A) and its feature; `None`
/// if no body is a sheet.
fn sheet(ctx: &Context<'_>, x: &Accepted) -> Option<(Which, P3, Feature)> {
    if ctx.a.is_sheet() {
        return Some((Which::A, x.p_a, x.feature_a));
    }
    ctx.b.is_sheet().then_some((Which::B, x.p_b, x.feature_b))
}

/// Returns whether the point `p` (frame of A) near a minimum at a negative distance is inside both
/// solids. If one body is a sheet, the point is tested in the other body only, and is first projected to
/// the sheet if the sheet's feature is a face.
fn is_common(ctx: &Context<'_>, x: &Accepted, p: &P3, scratch: &mut Scratch) -> bool {
    let mut inside = |body, p: &P3| contains(body, p, 0.01 * ctx.tol.tol, &mut scratch.rays) == Some(true);
    let Some((which, foot, feature)) = sheet(ctx, x) else {
        return inside(ctx.a, p) && inside(ctx.b, &(ctx.pose_ba * p));
    };
    let is_face = matches!(feature, Feature::Face(_));
    let p = if is_face { p - x.n * x.n.dot(&(p - foot)) } else { *p };
    if which == Which::A { inside(ctx.b, &(ctx.pose_ba * p)) } else { inside(ctx.a, &p) }
}

/// Adds to `out` points (frame of A) behind the footpoint of a minimum on the edge or vertex of the body
/// `own`: inside that body, at the fractions [`INWARD_STEPS`] of `depth` (mm).
fn behind(
    ctx: &Context<'_>,
    own: Which,
    x: &Accepted,
    depth: f64,
    scratch: &mut Scratch,
    out: &mut ArrayVec<P3, 12>,
) {
    let (feature, place, p) = match own {
        Which::A => (x.feature_a, &x.place_a, x.p_a),
        Which::B => (x.feature_b, &x.place_b, x.p_b),
    };
    let body = ctx.body(own);
    let local = if own == Which::A { p } else { ctx.pose_ba * p };
    let mut outward: ArrayVec<V3, 2> = ArrayVec::new();
    match feature {
        Feature::Edge(e) => outward.extend(edge_normals(body, e, place.uv[0]).map(|n| n.middle().0)),
        Feature::Vertex(v) => {
            // The constraints of the polar lead into the solid.
            let into = body.vertex(v).constraints.iter().filter_map(|c| c.try_normalize(0.0));
            outward.extend((-into.sum::<V3>()).try_normalize(1e-9));
            let faces = faces_around(body, &local, MAX_FACE_DISTANCE * ctx.tol.tol, &mut scratch.near);
            outward.extend(outward_of_all(&faces).and_then(|v| v.try_normalize(1e-9)));
        }
        Feature::Face(_) => {}
    }
    for step in INWARD_STEPS {
        for n in &outward {
            out.extend([ctx.in_a(own, &(local - n * (step * depth)))]);
        }
    }
}

/// Outward unit direction (frame of A) midway between the normals of both faces of the edge of the body
/// `own` in a minimum; `None` if the feature is not an edge.
fn bisector(ctx: &Context<'_>, own: Which, x: &Accepted) -> Option<V3> {
    let (feature, place) = match own {
        Which::A => (x.feature_a, &x.place_a),
        Which::B => (x.feature_b, &x.place_b),
    };
    let Feature::Edge(e) = feature else { return None };
    let (out, _) = edge_normals(ctx.body(own), e, place.uv[0])?.middle();
    Some(if own == Which::A { out } else { ctx.pose_ab * out })
}

/// Point (frame of A) that is presumably inside both solids at two pressed edges: the centroid of the four
/// points at which the tangent of each edge intersects the tangent planes of the other edge's faces.
/// `None` if there are no two edges or a point is not finite.
fn crossing_centroid(ctx: &Context<'_>, x: &Accepted) -> Option<P3> {
    let (Feature::Edge(a), Feature::Edge(b)) = (x.feature_a, x.feature_b) else { return None };
    let of_a = edge_normals(ctx.a, a, x.place_a.uv[0])?;
    let of_b = edge_normals(ctx.b, b, x.place_b.uv[0])?;
    let [tangent_b, left, right] = [of_b.tangent, of_b.normals[0], of_b.normals[1]].map(|v| ctx.pose_ab * v);
    let pierced = |p: P3, t: V3, q: P3, n: V3| {
        let s = n.dot(&(q - p)) / n.dot(&t);
        s.is_finite().then(|| (p + t * s).coords)
    };
    let mut sum = V3::zeros();
    for n in [left, right] {
        sum += pierced(x.p_a, of_a.tangent, x.p_b, n)?;
    }
    for n in of_a.normals {
        sum += pierced(x.p_b, tangent_b, x.p_a, n)?;
    }
    Some(P3::from(sum * 0.25))
}
