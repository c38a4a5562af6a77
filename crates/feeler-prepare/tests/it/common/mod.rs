//! Checks a hierarchy against the solid it was made from, at random points.

use feeler_brep::Solid;
use feeler_geom::trim::{Side, TrimCells};
use feeler_geom::{P2, P3, Rect, Surface, V3, math};
use feeler_hierarchy::{AreaId, EdgeId, Face, FaceId, Feature, Hierarchy, Node, NodeId, VertexId};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::f64::consts::TAU;

/// Compares a solid with its hierarchy at `samples` random points per feature. `size` (mm) is the length
/// to which tolerances are relative.
pub(crate) struct Checker<'a> {
    pub(crate) solid: &'a Solid,
    pub(crate) h: &'a Hierarchy,
    pub(crate) rng: SmallRng,
    pub(crate) samples: usize,
    /// Number of points compared with the bounds of the nodes above them.
    pub(crate) checked: std::cell::Cell<u64>,
    parents: Vec<NodeId>,
    leaf_node: Vec<NodeId>,
    by_feature: std::collections::BTreeMap<Feature, Vec<AreaId>>,
    size: f64,
}

fn inside(r: &Rect, p: P2, eps: f64) -> bool {
    r.u0 - eps <= p.x && p.x <= r.u1 + eps && r.v0 - eps <= p.y && p.y <= r.v1 + eps
}

impl<'a> Checker<'a> {
    pub(crate) fn new(solid: &'a Solid, h: &'a Hierarchy, samples: usize) -> Self {
        let mut by_feature = std::collections::BTreeMap::<Feature, Vec<AreaId>>::new();
        for (k, a) in h.areas.iter().enumerate() {
            by_feature.entry(a.feature).or_default().push(AreaId::new(k));
        }
        let (parents, leaf_node) = tree(h);
        Self {
            solid,
            h,
            rng: SmallRng::seed_from_u64(17),
            samples,
            checked: std::cell::Cell::new(0),
            parents,
            leaf_node,
            by_feature,
            size: solid.bounds.diagonal(),
        }
    }

    pub(crate) fn all(&mut self) {
        feeler_hierarchy::validate::check_hierarchy(self.h).expect("the hierarchy is not well formed");
        self.areas();
        self.faces();
        self.edges();
        self.vertices();
        self.sources();
    }

    /// Nodes on the path from a leaf to the root.
    fn path(&self, area: AreaId) -> Vec<&'a Node> {
        let mut at = self.leaf_node[area.index()];
        let mut out = vec![];
        loop {
            out.push(&self.h.nodes[at.index()]);
            if at == NodeId(0) {
                return out;
            }
            at = self.parents[at.index()];
        }
    }

    fn bounded(&self, area: AreaId, p: &P3, directions: &[V3], what: &str) {
        self.checked.set(self.checked.get() + 1);
        let a = &self.h.areas[area.index()];
        let eps = 1e-12 * (self.size + p.coords.amax());
        for d in directions {
            assert!(a.cone.contains(d, 1e-9), "{what}: {d:?} is outside the leaf's cone {:?}", a.cone);
        }
        for (k, n) in self.path(area).iter().enumerate() {
            assert!(n.obb.contains(p, eps), "{what}: {p:?} is outside the box {k} levels up, {:?}", n.obb);
            for d in directions {
                assert!(
                    n.cone.contains(d, 1e-9),
                    "{what}: {d:?} is outside the cone {k} levels up, {:?}",
                    n.cone
                );
            }
        }
    }

    fn random_in(&mut self, r: &Rect) -> P2 {
        let mut one = |a: f64, b: f64| if a < b { self.rng.random_range(a..=b) } else { a };
        P2::new(one(r.u0, r.u1), one(r.v0, r.v1))
    }

    /// Checks that the bounds of every leaf contain random points of its area and, for faces, the
    /// normals there.
    pub(crate) fn areas(&mut self) {
        for k in 0..self.h.areas.len() {
            let a = &self.h.areas[k];
            for _ in 0..4 {
                let uv = self.random_in(&a.rect);
                match a.feature {
                    Feature::Face(f) => {
                        let face = &self.h.faces[f.index()];
                        let n = face.surface.normal(uv);
                        let n = if face.outward { n } else { -n };
                        let p = face.surface.point(uv);
                        self.bounded(AreaId::new(k), &p, &[n], &format!("face {f} {uv:?}"));
                    }
                    Feature::Edge(e) => {
                        let p = self.h.edges[e.index()].curve.point(uv.x);
                        self.bounded(AreaId::new(k), &p, &[], &format!("edge {e} {uv:?}"));
                    }
                    Feature::Vertex(_) => {}
                }
            }
        }
    }

    /// Checks that every point of a trimmed domain lies in the rectangle of a leaf.
    pub(crate) fn faces(&mut self) {
        for f in 0..self.h.faces.len() {
            let face = &self.h.faces[f];
            let areas = self.by_feature.get(&Feature::Face(FaceId::new(f))).cloned().unwrap_or_default();
            for k in 0..self.samples {
                // Half of the points are taken in leaves, because the domain may fill little of its
                // rectangle.
                let rect = if k % 2 == 0 || areas.is_empty() {
                    face.trim.rect
                } else {
                    self.h.areas[areas[self.rng.random_range(0..areas.len())].index()].rect
                };
                let uv = self.random_in(&rect);
                if face.trim.classify(uv) == Side::Outside {
                    continue;
                }
                let held = areas.iter().find(|a| inside(&self.h.areas[a.index()].rect, uv, 0.0));
                let held = held.unwrap_or_else(|| panic!("face {f}: {uv:?} is in no leaf"));
                let n = face.surface.normal(uv);
                let n = if face.outward { n } else { -n };
                self.bounded(*held, &face.surface.point(uv), &[n], &format!("face {f} {uv:?}"));
            }
            for piece in &face.trim.pieces {
                let uv = piece.eval(self.rng.random_range(0.0..=1.0));
                let held = areas.iter().any(|a| inside(&self.h.areas[a.index()].rect, uv, 0.0));
                assert!(held, "face {f}: boundary point {uv:?} is in no leaf");
            }
        }
    }

    fn outward(&self, face: &Face, p: &P3, hint: Option<P2>) -> V3 {
        let n = face.surface.normal(face.surface.invert(p, hint, None));
        if face.outward { n } else { -n }
    }

    /// Checks that every edge point lies in a leaf whose cone contains the normals of both faces.
    pub(crate) fn edges(&mut self) {
        for e in 0..self.h.edges.len() {
            let edge = &self.h.edges[e];
            let areas = self.by_feature.get(&Feature::Edge(EdgeId::new(e))).cloned().unwrap_or_default();
            assert!(
                edge.sides[0].forward || !edge.sides[1].forward,
                "edge {e}: the side on the left does not come first"
            );
            for span in &edge.spans {
                assert!(span.t0 < span.t1, "edge {e}: empty span {span:?}");
                for _ in 0..self.samples.clamp(1, 20) {
                    let t = self.rng.random_range(span.t0..=span.t1);
                    let p = edge.curve.point(t);
                    let normals: Vec<V3> = edge
                        .sides
                        .iter()
                        .map(|s| {
                            let hint = interpolate(&s.guide, t);
                            let face = &self.h.faces[s.face.index()];
                            if let Some(h) = hint {
                                // The guide must be close enough for the inversion to converge to the
                                // point.
                                let q = face.surface.point(face.surface.invert(&p, Some(h), None));
                                let off = (q - p).norm();
                                let allowed = 1e-6 * self.size + 3.0 * span.deviation;
                                assert!(
                                    off <= allowed,
                                    "edge {e} at {t}: the guide converges to a point {off} mm away"
                                );
                            }
                            self.outward(face, &p, hint)
                        })
                        .collect();
                    let held: Vec<AreaId> = areas
                        .iter()
                        .copied()
                        .filter(|a| {
                            let r = &self.h.areas[a.index()].rect;
                            r.u0 <= t && t <= r.u1
                        })
                        .collect();
                    assert!(!held.is_empty(), "edge {e}: {t} is in no leaf");
                    let w = self.rng.random_range(0.0..=1.0);
                    let mixed = normals[0] * w + normals[1] * (1.0 - w);
                    for a in held {
                        self.bounded(a, &p, &normals, &format!("edge {e} at {t}"));
                        if mixed.norm() > 1e-3 {
                            self.bounded(a, &p, &[mixed], &format!("edge {e} at {t}, between"));
                        }
                    }
                }
            }
        }
    }

    /// Checks that the cone of a vertex contains its polar.
    pub(crate) fn vertices(&mut self) {
        for v in 0..self.h.vertices.len() {
            let vertex = &self.h.vertices[v];
            let areas = &self.by_feature[&Feature::Vertex(VertexId::new(v))];
            assert_eq!(areas.len(), 1, "a vertex does not have one leaf");
            for _ in 0..self.samples {
                let d = V3::from_fn(|_, _| self.rng.random_range(-1.0..1.0));
                if vertex.constraints.iter().all(|c| c.dot(&d) <= 0.0) {
                    self.bounded(areas[0], &vertex.point, &[d], &format!("vertex {v}"));
                }
            }
        }
    }

    /// Checks that the supermaximal faces contain the points of their source faces and no others.
    pub(crate) fn sources(&mut self) {
        let h = self.h;
        // The sources are grouped by entity id.
        for (k, info) in self.solid.faces.iter().enumerate() {
            let source = &self.solid.shell.faces[k];
            let own = TrimCells::build(&info.domain).0;
            let candidates: Vec<&Face> =
                h.faces.iter().filter(|f| f.sources.iter().any(|s| s.0 == info.source)).collect();
            assert!(!candidates.is_empty(), "face #{} is in no supermaximal face", info.source);
            for _ in 0..self.samples {
                let uv = self.random_in(&own.rect);
                let p = source.surface.point(uv);
                let d = source.surface.metric(uv);
                if own.nearest(uv, d, 1e-5 * self.size).is_some() {
                    continue;
                }
                let want = own.classify(uv) == Side::Inside;
                let found = candidates.iter().any(|f| {
                    let at = f.surface.invert(&p, (!f.surface.is_canonical()).then_some(uv), None);
                    let mine = f.sources.iter().find(|s| s.0 == info.source).expect("filtered");
                    let cells = mine.1.as_ref().unwrap_or(&f.trim);
                    // The domain of a spindle torus is not periodic in v, but its inversion is.
                    let mid = 0.5 * (f.trim.rect.v0 + f.trim.rect.v1);
                    let is_torus = matches!(f.surface, Surface::Torus { .. });
                    let at = if is_torus { P2::new(at.x, math::unwrap_near(at.y, mid, TAU)) } else { at };
                    cells.classify(at) == Side::Inside && f.trim.classify(at) == Side::Inside
                });
                assert_eq!(found, want, "face #{} at {uv:?} {p:?}", info.source);
                if want {
                    let n = source.surface.normal(uv) * if source.orientation { 1.0 } else { -1.0 };
                    let same = candidates.iter().any(|f| {
                        let hint = (!f.surface.is_canonical()).then_some(uv);
                        self.outward(f, &p, hint).dot(&n) > 1.0 - 1e-9
                    });
                    assert!(same, "face #{}: the outward normal changed", info.source);
                }
            }
        }
    }
}

/// Returns the parameters (u, v) of a guide at `t` by linear interpolation, or `None` outside its range.
pub(crate) fn interpolate(guide: &[[f64; 3]], t: f64) -> Option<P2> {
    let k = guide.partition_point(|g| g[0] <= t);
    let (a, b) = (guide.get(k.wrapping_sub(1)), guide.get(k));
    match (a, b) {
        (Some(a), Some(b)) => {
            let s = (t - a[0]) / (b[0] - a[0]);
            Some(P2::new(a[1] + (b[1] - a[1]) * s, a[2] + (b[2] - a[2]) * s))
        }
        (Some(x), None) | (None, Some(x)) => Some(P2::new(x[1], x[2])),
        (None, None) => None,
    }
}

/// Checks the structure of the tree; returns the parent of each node and the node of each area.
fn tree(h: &Hierarchy) -> (Vec<NodeId>, Vec<NodeId>) {
    let mut parents = vec![NodeId(u32::MAX); h.nodes.len()];
    let mut leaf = vec![NodeId(u32::MAX); h.areas.len()];
    assert_eq!(h.nodes.len(), 2 * h.areas.len() - 1, "not a binary tree");
    let mut next_area = 0;
    let mut stack = vec![(NodeId(0), 1_u32)];
    let mut seen = 0;
    // Divisions are unrestricted to a depth of 32; below, sets are halved by number.
    let max_depth = 33 + h.areas.len().next_power_of_two().trailing_zeros();
    assert!(max_depth <= feeler_hierarchy::validate::MAX_DEPTH, "the depth exceeds that of files");
    while let Some((k, depth)) = stack.pop() {
        seen += 1;
        assert!(depth <= max_depth, "depth {depth} of {} leaves", h.areas.len());
        let n = &h.nodes[k.index()];
        match (n.area(), n.children()) {
            (Some(a), None) => {
                assert_eq!(a.0, next_area, "areas are not in the order of the leaves");
                next_area += 1;
                leaf[a.index()] = k;
            }
            (None, Some([a, b])) => {
                assert!(a > k && b.0 == a.0 + 1, "children do not follow their parent side by side");
                for c in [a, b] {
                    parents[c.index()] = k;
                    let t = h.nodes[c.index()].types;
                    assert_eq!(n.types & t, t, "a parent lacks a type of its child");
                }
                stack.push((b, depth + 1));
                stack.push((a, depth + 1));
            }
            _ => unreachable!("a node is neither a leaf nor an inner node"),
        }
    }
    assert_eq!(seen, h.nodes.len(), "not every node is reached once");
    (parents, leaf)
}
