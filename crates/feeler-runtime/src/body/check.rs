//! Validation of a hierarchy, and data that is derived from it as a whole.

use super::BodyError;
use super::order::MAX_AREAS;
use feeler_convex::Polytope;
use feeler_geom::Rect;
use feeler_hierarchy::{Feature, Hierarchy};
use std::sync::Arc;

/// Polytope of the stored hull of a solid; `None` for a solid without nodes. Returns an error if the
/// hull or the bounding box is not finite.
pub(super) fn hull_of(h: &Hierarchy) -> Result<Option<Arc<Polytope>>, BodyError> {
    let bad = |what| BodyError::NotFinite { name: h.info.name.clone(), what };
    if h.nodes.is_empty() {
        return Ok(None);
    }
    let corners = h.info.bbox_min.iter().chain(&h.info.bbox_max);
    if !corners.into_iter().all(|x| x.is_finite()) {
        return Err(bad("the bounding box"));
    }
    Polytope::new(&h.hull).map(|hull| Some(Arc::new(hull))).map_err(|_| bad("the hull"))
}

/// Smallest rectangle around all rectangles; the point (0, 0) for an empty iterator.
pub(super) fn around_areas<'a>(rects: impl Iterator<Item = &'a Rect>) -> Rect {
    let union = |r: Rect, s: &Rect| Rect {
        u0: r.u0.min(s.u0),
        u1: r.u1.max(s.u1),
        v0: r.v0.min(s.v0),
        v1: r.v1.max(s.v1),
    };
    let mut rects = rects.copied();
    rects
        .next()
        .map_or(Rect { u0: 0.0, u1: 0.0, v0: 0.0, v1: 0.0 }, |first| rects.fold(first, |r, s| union(r, &s)))
}

/// Checks that every index is in range, that the boxes and cones of nodes are finite, that each area has
/// a leaf, and that there are at most [`MAX_AREAS`] areas.
pub(super) fn check(h: &Hierarchy) -> Result<(), BodyError> {
    if h.areas.len() > MAX_AREAS {
        return Err(BodyError::TooLarge { name: h.info.name.clone(), count: h.areas.len() });
    }
    let bad_reference = |what, index| BodyError::Reference { name: h.info.name.clone(), what, index };
    for (i, e) in h.edges.iter().enumerate() {
        if e.sides.iter().any(|s| s.face.index() >= h.faces.len()) || e.spans.is_empty() {
            return Err(bad_reference("edge", i));
        }
    }
    for (i, a) in h.areas.iter().enumerate() {
        let (index, count) = match a.feature {
            Feature::Face(f) => (f.0, h.faces.len()),
            Feature::Edge(e) => (e.0, h.edges.len()),
            Feature::Vertex(v) => (v.0, h.vertices.len()),
        };
        if index as usize >= count {
            return Err(bad_reference("area", i));
        }
    }
    let mut seen = vec![false; h.areas.len()];
    for (i, n) in h.nodes.iter().enumerate() {
        let numbers = n.obb.center.coords.sum() + n.obb.half.sum() + n.cone.axis.sum() + n.cone.half_angle;
        if !numbers.is_finite() {
            return Err(BodyError::NotFinite { name: h.info.name.clone(), what: "a node of the hierarchy" });
        }
        let is_valid = match (n.area(), n.children()) {
            (Some(a), _) => seen.get_mut(a.index()).map(|s| *s = true).is_some(),
            // Children follow their parent, so every traversal ends.
            (_, Some([c, d])) => c.index() > i && d.index() < h.nodes.len(),
            _ => false,
        };
        if !is_valid {
            return Err(bad_reference("node", i));
        }
    }
    match seen.iter().position(|s| !s) {
        Some(i) => Err(bad_reference("area without a leaf", i)),
        None => Ok(()),
    }
}
