//! Groups edges into supermaximal edges.

use feeler_brep::{EdgeInfo, EdgeStatus, Solid};
use feeler_geom::Curve;

use super::vertices::{EdgeEnd, Ends};
use super::{EdgeGroup, Role, Scale, SpanGroup, edge_deviation};
use crate::cluster::clusters;
use crate::coincide::{TMap, curve_key, curve_map, key_tolerance};
use feeler_geom::count::index;

/// Maximum gap (rad) between the normals of the faces of a smooth edge that carries quasi-LMDs only. A
/// larger gap is also accepted if it, times the size of the solid, is at most the measured deviation of
/// the edge: the footpoint of a contact whose normal falls into the gap is then within the deviation of
/// a footpoint that one of the faces accepts. With a larger value minima can fall into the gap; with a
/// smaller one more edges are solved.
const MAX_SMOOTH_GAP: f64 = 1e-9;

/// Returns the role of a source edge: the kind of minima it can carry. `size` is the size of the solid
/// (mm).
fn role(edge: &EdgeInfo, size: f64) -> Role {
    match edge.status {
        EdgeStatus::Convex => Role::Strict,
        EdgeStatus::Concave | EdgeStatus::Seam => Role::None,
        EdgeStatus::Smooth => {
            let gap = edge.dihedral.1;
            if gap * size <= edge_deviation(edge).max(MAX_SMOOTH_GAP * size) {
                Role::Quasi
            } else {
                Role::Strict
            }
        }
    }
}

/// Returns the two sides of a source edge: the index of the supermaximal face of each side (from
/// `face_of`, by source face), and whether that face is on the left of the curve. The side on the left
/// comes first. A missing side is replaced by the other one. Returns `None` for an edge without sides.
fn sides(edge: &EdgeInfo, face_of: &[u32]) -> Option<[(u32, bool); 2]> {
    let side = |k: usize| edge.sides.get(k).map(|s| (face_of[s.face as usize], s.forward));
    let first = side(0)?;
    let second = side(1).unwrap_or(first);
    Some(if second.1 && !first.1 { [second, first] } else { [first, second] })
}

/// Returns the two sides of an edge, given as in [`sides`], for the opposite direction of its curve: left
/// and right are exchanged.
fn turned([a, b]: [(u32, bool); 2]) -> [(u32, bool); 2] {
    let (a, b) = ((a.0, !a.1), (b.0, !b.1));
    if b.1 && !a.1 { [b, a] } else { [a, b] }
}

/// Groups the source edges into supermaximal edges, except those that `seam` marks. Each source edge
/// becomes a span of its own; [`join_spans`] joins them. `face_of` is the index of the supermaximal face
/// of each source face.
pub(super) fn group_edges(solid: &Solid, face_of: &[u32], seam: &[bool], scale: &Scale) -> Vec<EdgeGroup> {
    let live: Vec<u32> = (0..index(solid.edges.len())).filter(|&e| !seam[e as usize]).collect();
    let keys: Vec<[f64; 15]> = live
        .iter()
        .map(|&e| {
            let info = &solid.edges[e as usize];
            let geometry = curve_key(&solid.shell.edges[e as usize].curve, &scale.center);
            let mut key = [0.0; 15];
            key[..12].copy_from_slice(&geometry);
            if let Some([a, b]) = sides(info, face_of) {
                key[12] = f64::from(a.0.min(b.0));
                key[13] = f64::from(a.0.max(b.0));
            }
            key[14] = match role(info, scale.size) {
                Role::Strict => 0.0,
                Role::Quasi => 1.0,
                Role::None => 2.0,
            };
            key
        })
        .collect();
    let mut tolerance = [0.0; 15];
    tolerance[..12].copy_from_slice(&key_tolerance(scale.size, scale.tol));
    let mut groups: Vec<EdgeGroup> = Vec::new();
    for class in clusters(&keys, &tolerance) {
        let first = groups.len();
        for e in class.into_iter().map(|k| live[k as usize]) {
            let info = &solid.edges[e as usize];
            let Some(own) = sides(info, face_of) else { continue };
            let source = &solid.shell.edges[e as usize];
            let found = (first..groups.len()).find_map(|g| {
                let (map, deviation) = curve_map(&source.curve, &groups[g].curve, info.range, scale.tol)?;
                let seen = if map.reverses() { turned(own) } else { own };
                (seen == groups[g].sides).then_some((g, map, deviation))
            });
            let (g, map, off) = found.unwrap_or_else(|| {
                groups.push(EdgeGroup {
                    curve: source.curve.clone(),
                    spans: vec![],
                    closed: false,
                    sides: own,
                    role: role(info, scale.size),
                    members: vec![],
                });
                (groups.len() - 1, TMap::IDENTITY, 0.0)
            });
            let mut span = SpanGroup {
                t0: map.apply(info.range.0),
                t1: map.apply(info.range.1),
                edge: e,
                ends: [index(source.vertices.0), index(source.vertices.1)],
                deviation: edge_deviation(info) + off,
            };
            if map.reverses() {
                std::mem::swap(&mut span.t0, &mut span.t1);
                span.ends.reverse();
            }
            groups[g].spans.push(span);
            groups[g].members.push((e, map));
        }
    }
    groups.sort_by_key(|g| g.members[0].0);
    groups
}

/// Joins the spans of each supermaximal edge at vertices where no other edge ends. Returns a flag for
/// each source vertex: whether spans were joined there.
pub(super) fn join_spans(
    solid: &Solid,
    groups: &mut [EdgeGroup],
    ends: &Ends,
    face_of: &[u32],
    scale: &Scale,
) -> Vec<bool> {
    let mut joined = vec![false; solid.shell.vertices.len()];
    // Successor of every span of every group, if it has one.
    let mut next: Vec<Vec<Option<usize>>> = groups.iter().map(|g| vec![None; g.spans.len()]).collect();
    for (v, joined) in joined.iter_mut().enumerate() {
        let [a, b] = ends.at(v) else { continue };
        if a.group != b.group || a.at_end == b.at_end {
            continue;
        }
        let (EdgeEnd { span: from, group, .. }, EdgeEnd { span: to, .. }) =
            if a.at_end { (a, b) } else { (b, a) };
        let group_ref = &groups[*group];
        let around = &solid.vertices[v].faces;
        let between = around.iter().all(|f| group_ref.sides.iter().any(|s| s.0 == face_of[*f as usize]));
        if between && is_followed_by(group_ref, *from, *to, scale) {
            next[*group][*from] = Some(*to);
            *joined = true;
        }
    }
    for (group, next) in groups.iter_mut().zip(&next) {
        chain(group, next);
    }
    joined
}

/// Returns whether span `from` of a supermaximal edge ends where span `to` (possibly the same one)
/// starts.
fn is_followed_by(group: &EdgeGroup, from: usize, to: usize, scale: &Scale) -> bool {
    let (a, b) = (&group.spans[from], &group.spans[to]);
    if from == to && group.curve.period().is_none() {
        return false;
    }
    let near = scale.tol + a.deviation + b.deviation + 1e-6 * scale.size;
    if (group.curve.point(a.t1) - group.curve.point(b.t0)).norm() > near {
        return false;
    }
    let gap = (b.t0 - a.t1).abs();
    let gap = group.curve.period().map_or(gap, |p| (gap - (gap / p).round() * p).abs());
    // The parameters must agree as well, because a curve that crosses itself has equal points at
    // different parameters.
    gap <= 0.25 * (a.t1 - a.t0).abs().max((b.t1 - b.t0).abs())
}

/// Replaces each sequence of successive spans of a supermaximal edge by one span, sorts the spans by
/// parameter, and sets whether the edge is closed. `next` contains the index of the successor of each
/// span, `None` for the last one of a sequence.
fn chain(group: &mut EdgeGroup, next: &[Option<usize>]) {
    let period = group.curve.period();
    let n = group.spans.len();
    let mut has_previous = vec![false; n];
    for k in next.iter().flatten() {
        has_previous[*k] = true;
    }
    let mut used = vec![false; n];
    let mut out = Vec::new();
    // Chains with a start come first; the spans that are left form rings.
    let starts = (0..n).filter(|&k| !has_previous[k]).chain((0..n).filter(|&k| has_previous[k]));
    for start in starts.collect::<Vec<_>>() {
        if used[start] {
            continue;
        }
        used[start] = true;
        let mut span = group.spans[start];
        let mut at = start;
        let mut ring = false;
        while let Some(k) = next[at] {
            if used[k] {
                ring = k == start;
                break;
            }
            used[k] = true;
            let s = group.spans[k];
            let shift = period.map_or(0.0, |p| ((span.t1 - s.t0) / p).round() * p);
            span.t1 = s.t1 + shift;
            span.ends[1] = s.ends[1];
            span.deviation = span.deviation.max(s.deviation);
            at = k;
        }
        if let (true, Some(p)) = (ring, period) {
            span.t1 = span.t0 + p;
            group.closed = n_rings(next) == 1 && has_previous.iter().all(|h| *h);
        }
        out.push(span);
    }
    if let Some(p) = period.filter(|_| matches!(group.curve, Curve::Circle { .. } | Curve::Ellipse { .. })) {
        for s in &mut out {
            let shift = (s.t0 / p).floor() * p;
            s.t0 -= shift;
            s.t1 -= shift;
        }
    }
    out.sort_by(|a, b| a.t0.total_cmp(&b.t0).then(a.edge.cmp(&b.edge)));
    group.spans = out;
}

/// Returns the number of closed rings that the spans form, or `usize::MAX` if a span has no successor.
/// `next` contains for each span the index of its successor, or `None`.
fn n_rings(next: &[Option<usize>]) -> usize {
    let mut used = vec![false; next.len()];
    let mut rings = 0;
    for start in 0..next.len() {
        let mut at = start;
        let mut fresh = false;
        while !used[at] {
            used[at] = true;
            fresh = true;
            match next[at] {
                Some(k) => at = k,
                None => return usize::MAX,
            }
        }
        rings += usize::from(fresh);
    }
    rings
}
