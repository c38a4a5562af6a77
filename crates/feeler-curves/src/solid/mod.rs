//! All local minimal distances between a curve and a solid.
//!
//! Against a face or a canonical edge, the only unknown is the curve's parameter: the signed distance of
//! the curve's points from the surface or the edge is minimised. Other edges are treated as curves,
//! vertices as points. A minimum is accepted if its footpoint is in the trims, and its direction is in
//! the polar of the edge or vertex.
//!
//! # Source
//! BREP §4.3.3, Algorithm 14 (whose condition is that a tangent of the curve can be orthogonal to a
//! normal of the solid), §4.4 (trims and polars).
//! # Deviations
//! - The trees of curve and solid are culled by distance. Directions are tested exactly, by the signs of
//!   slopes.
//! - Distances are signed, so minima are also found where the tube, and even the curve itself, is
//!   pressed into a face.

mod borders;
mod interference;

use std::cell::Cell;

use feeler_geom::obb::PoseMatrix;
use feeler_geom::{P2, P3, Pose, Rect, V3};
use feeler_hierarchy::{AreaId, FaceId, Feature, NodeId};
use feeler_runtime::PointQuery;

use crate::along::{self, Found, Slope};
use crate::curve::{Curve, with_pieces};
use crate::ids::{Ids, Numbered};
use crate::minimum::{CurveLocation, CurveOptions, CurveStats, SolidMinimum};
use crate::obstacle::{Distance, EdgeShape, Obstacle};
use crate::part::Part;
use crate::piece::at;
use crate::query::{MAX_IDENTITY_MOVE, is_end, level_length, limits};
use crate::sets::{Pairing, Sampling, Sets};
use crate::solve::{Limits, OnCurve, ParamPair, Solutions, Stretch, solve_parts, solve_point};
use crate::tree::{Between, CurveTree, Vertex};

/// Distance, as a fraction of the size of the curve or the solid, whichever is larger, below which two
/// minima count as duplicates. With a larger value, different minima are merged; with a smaller one,
/// minima are reported twice.
const SAME_MINIMUM_TOLERANCE: f64 = 1e-8;

/// Distance by which a footpoint may lie outside the trims of its face, as a fraction of the size of the
/// curve or the solid, whichever is larger. Its square root is the distance in parameters by which a
/// footpoint may lie outside the rectangle of its area, as a fraction of the rectangle's sides. With a
/// larger value, false footpoints outside the faces are accepted; with a smaller one, footpoints on
/// borders are lost.
const TRIM_SLACK: f64 = 1e-10;

/// Maximum turning (rad) of a stretch of a curve that is sampled only at its ends and near its middle.
/// With a larger value, minima of wildly bent curves are lost; a smaller one is slower.
const MAX_STRETCH_TURNING: f64 = 0.5;

/// Maximum half length of a stretch of a curve that is sampled only at its ends and near its middle, as a
/// fraction of the smallest radius of curvature of the feature's parallel surface through the curve's
/// point. With a larger value, minima near axes and centres of curvature are lost; a smaller one is
/// slower.
const MAX_STRETCH_RATIO: f64 = 0.5;

/// Minimum length of a stretch of a curve that may be bisected, as a fraction of a leaf's parameters;
/// the distance is assumed to have a kink on shorter stretches that still turn or bend too much. With a
/// larger value, minima near kinks of the distance are lost; with a smaller one, curves across axes are
/// slower.
const MIN_STRETCH: f64 = 1e-4;

/// Maximum slope of the distance with length (mm per mm) at a minimum on a free-form face. With a larger
/// value, points where footpoints end are reported; with a smaller one, minima are lost.
const CRITICAL_SLOPE: f64 = 1e-7;

/// Slope of the distance with length (mm per mm) that rounding leaves at free ends and corners of
/// curves. With a smaller value, minima there are lost; with a larger one, false minima are accepted.
const VERTEX_SLOPE_ROUNDING: f64 = 1e-12;

/// Minimum found by the search, in the solid's frame; duplicates and false minima are removed later.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    feature: Feature,
    u: f64,
    foot: P3,
    /// Signed distance (mm) of the curve's point from the solid, and (`away`) the unit vector that points
    /// away from the solid there.
    distance: f64,
    away: V3,
    place: CurveLocation,
    set: Option<u32>,
}

/// Scratch buffers, results and identities of the minima between a curve and a solid.
#[derive(Debug, Default)]
pub struct CurveSolidPair {
    walk: Walk,
    points: PointQuery,
    sets: Sets,
    found: Vec<Candidate>,
    minima: Vec<SolidMinimum>,
    ids: Ids<SolidMinimum>,
}

/// Search of one query: its buffers, and the stretches of constant distance that it has found.
#[derive(Debug, Default)]
struct Walk {
    curve: Vec<u32>,
    solid: Vec<NodeId>,
    seen: Vec<Feature>,
    solutions: Solutions,
    stretches: Vec<(Feature, Stretch)>,
    n_nodes: usize,
    n_parts: usize,
    n_undecided: usize,
}

impl Numbered for SolidMinimum {
    fn id(&mut self) -> &mut u64 {
        &mut self.id
    }
}

impl CurveSolidPair {
    /// Creates a pair that has no results yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Minima that the most recent query found; empty before the first one.
    #[must_use]
    pub fn minima(&self) -> &[SolidMinimum] {
        &self.minima
    }

    /// Counts of the work of the most recent query.
    #[must_use]
    pub fn stats(&self) -> CurveStats {
        CurveStats {
            n_nodes: self.walk.n_nodes,
            n_parts: self.walk.n_parts,
            n_undecided: self.walk.n_undecided,
        }
    }

    /// Finds all local minima of the distance between a curve and a solid placed by `pose`, sorted by
    /// their parameters. Minima are not reported if their gaps exceed `d_max`, or if the curve's point
    /// is inside the solid and deeper than the curve's radius.
    pub fn query(
        &mut self,
        curve: &Curve,
        solid: &Obstacle,
        pose: &Pose,
        options: &CurveOptions,
    ) -> &[SolidMinimum] {
        let limits = Limits { reach: options.d_max + curve.radius(), ..limits(curve, curve, options) };
        let size = curve.size().max(solid.body().size());
        let ctx = Context { curve, solid, into: PoseMatrix::from(&pose.inverse()), limits, size };
        self.found.clear();
        self.walk.clear();
        with_pieces!(&curve.pieces, s => {
            self.walk.pieces(&ctx, s, &mut self.found);
            for vertex in &s.vertices {
                self.walk.vertex(&ctx, vertex, &mut self.found);
            }
        });
        let sampling =
            Sampling { size, length: level_length(curve, curve, options), max_samples: options.max_samples };
        self.join(&ctx, &sampling);
        self.collect_minima(&ctx, pose, options);
        &self.minima
    }

    /// Joins the stretches of each feature to sets. Replaces the minima on the sets by samples, and adds
    /// one minimum for each chain of stretches that is too short for a set.
    fn join(&mut self, ctx: &Context<'_>, sampling: &Sampling) {
        let stretches = &mut self.walk.stretches;
        stretches.sort_unstable_by(|p, q| {
            p.0.cmp(&q.0)
                .then(p.1.area.cmp(&q.1.area))
                .then(p.1.ends[0][0].total_cmp(&q.1.ends[0][0]))
                .then(p.1.ends[1][0].total_cmp(&q.1.ends[1][0]))
        });
        stretches.dedup_by(|p, q| p.0 == q.0 && p.1.area == q.1.area && p.1.ends == q.1.ends);
        let mut n_sets = 0;
        let mut i = 0;
        while i < stretches.len() {
            let feature = stretches[i].0;
            let n = stretches[i..].iter().take_while(|s| s.0 == feature).count();
            self.walk.solutions.stretches.clear();
            for k in i..i + n {
                let stretch = stretches[k].1;
                // The search splits stretches that continue.
                let continues = |p: usize, q: usize| {
                    let (p, q) = (&stretches[p].1, &stretches[q].1);
                    p.area == q.area && p.ends[1][0] >= q.ends[0][0]
                };
                let is_free = [k == i || !continues(k - 1, k), k + 1 == i + n || !continues(k, k + 1)];
                let mut keep = |part| self.walk.solutions.stretches.push(part);
                ctx.clip(feature, &stretch, is_free, &mut self.points, &mut keep);
            }
            i += n;
            ctx.remove_overlaps(feature, &mut self.walk.solutions.stretches);
            let along = SolidPairing { ctx, feature };
            self.sets.clear();
            self.sets.join(&along, &self.walk.solutions.stretches, sampling);
            // A minimum on a set is represented by its samples.
            self.found.retain(|c| c.feature != feature || !self.sets.contains(&along, &[c.u, 0.0], ctx.size));
            for s in &self.sets.minima {
                self.found.extend(ctx.candidate(feature, s.area, s.params[0], None));
            }
            for s in &self.sets.samples {
                self.found.extend(ctx.candidate(feature, s.area, s.params[0], Some(n_sets + s.set)));
            }
            n_sets += self.sets.samples.last().map_or(0, |s| s.set + 1);
        }
    }

    fn collect_minima(&mut self, ctx: &Context<'_>, pose: &Pose, options: &CurveOptions) {
        let radius = ctx.curve.radius();
        // Vertices of the curve and faces of the solid come first, so that duplicates found beside them
        // are dropped.
        self.found.sort_unstable_by(|p, q| {
            q.place
                .cmp(&p.place)
                .then(p.feature.cmp(&q.feature))
                .then(p.u.total_cmp(&q.u))
                .then(p.set.cmp(&q.set))
        });
        self.minima.clear();
        for (i, c) in self.found.iter().enumerate() {
            let point = ctx.curve.point(c.u);
            let is_duplicate = self.found[..i].iter().any(|d| {
                let separation = (ctx.curve.point(d.u) - point).norm().max((d.foot - c.foot).norm());
                separation <= SAME_MINIMUM_TOLERANCE * ctx.size
            });
            if is_duplicate || c.distance > options.d_max + radius {
                continue;
            }
            if c.set.is_none()
                && c.place == CurveLocation::Inside
                && ctx.decreases_along_edge(c, &mut self.points)
            {
                continue;
            }
            // Inside the solid, the nearest face may be one that the curve did not pass through.
            let is_deep = c.distance < -SAME_MINIMUM_TOLERANCE * ctx.size;
            if is_deep {
                let is_inside = self.points.contains(
                    ctx.solid.body(),
                    &ctx.into.point(&point),
                    SAME_MINIMUM_TOLERANCE * ctx.size,
                );
                if c.distance < -radius || is_inside != Ok(Some(true)) {
                    continue;
                }
            }
            self.minima.push(SolidMinimum {
                u: c.u,
                point,
                foot: pose * c.foot,
                normal: pose.rotation * c.away,
                distance: c.distance,
                gap: c.distance - radius,
                place: c.place,
                feature: c.feature,
                set: c.set,
                id: 0,
            });
        }
        self.minima.sort_unstable_by(|p, q| p.u.total_cmp(&q.u).then(p.feature.cmp(&q.feature)));
        let into = pose.inverse();
        let moved = |new: &SolidMinimum, old: &SolidMinimum| {
            let along = (new.u - old.u).abs() * ctx.curve.at(new.u).d.norm();
            let aside = (into * new.foot - into * old.foot).norm();
            let moved = along.max(aside);
            (moved <= MAX_IDENTITY_MOVE * ctx.size && new.set.is_some() == old.set.is_some()).then_some(moved)
        };
        self.ids.assign(&mut self.minima, moved);
    }
}

/// Data shared by all steps of a query; `size` (mm) is that of the curve or the solid, whichever is
/// larger.
struct Context<'a> {
    curve: &'a Curve,
    solid: &'a Obstacle,
    /// Transform from world coordinates into the solid's frame.
    into: PoseMatrix,
    limits: Limits,
    size: f64,
}

/// [`Pairing`] of a curve and a feature of a solid, with which stretches of constant distance are joined
/// to sets. Two pairs of parameters are compared by the points on the curve alone, because these
/// determine the footpoints on the feature.
struct SolidPairing<'a> {
    ctx: &'a Context<'a>,
    feature: Feature,
}

impl Pairing for SolidPairing<'_> {
    fn separation(&self, p: &ParamPair, q: &ParamPair) -> f64 {
        (self.ctx.curve.point(p[0]) - self.ctx.curve.point(q[0])).norm()
    }

    fn across(&self, params: ParamPair, _along: usize) -> ParamPair {
        params
    }

    fn is_end(&self, params: &ParamPair) -> bool {
        is_end(self.ctx.curve, params[0])
    }

    fn rises(&self, params: &ParamPair, stretch: &Stretch) -> bool {
        let t = self.ctx.into.rotation * self.ctx.curve.at(params[0]).d;
        self.ctx.candidate(self.feature, stretch.area, params[0], None).is_some_and(|c| c.away.dot(&t) > 0.0)
    }
}

impl Context<'_> {
    /// Transforms a part of the curve into the solid's frame.
    fn placed<const N: usize>(&self, part: &Part<N>) -> Part<N> {
        let mut placed = *part;
        for p in &mut placed.control {
            *p = self.into.point(&P3::from(*p)).coords;
        }
        placed
    }

    /// Returns the candidate at the parameter `u` of the curve with its footpoint on a feature. `None`
    /// if the feature has no closed form, if the footpoint is outside the trims, or if the direction is
    /// outside the polar of the edge or vertex.
    fn measured(
        &self,
        feature: Feature,
        u: f64,
        place: CurveLocation,
        set: Option<u32>,
    ) -> Option<Candidate> {
        let u = u.clamp(0.0, self.curve.n_pieces() as f64);
        let p = self.into.point(&self.curve.point(u));
        self.opposite(feature, &p).map(|(foot, distance, away)| Candidate {
            feature,
            u,
            foot,
            distance,
            away,
            place,
            set,
        })
    }

    /// Returns the candidate at the parameter `u` of the curve with its footpoint on a feature, as a
    /// sample of the set with the number `set`, if given. `area` is the index of the area of a free-form
    /// face in which the footpoint is searched. `None` if no valid footpoint exists.
    fn candidate(&self, feature: Feature, area: u32, u: f64, set: Option<u32>) -> Option<Candidate> {
        match feature {
            Feature::Face(f) if self.solid.faces[f.index()].is_none() => {
                let rect = self.solid.body().hierarchy().areas[area as usize].rect;
                self.candidate_on_patch(f, &rect, rect.center(), u).map(|(c, _)| Candidate { set, ..c })
            }
            _ => self.measured(feature, u, CurveLocation::Inside, set),
        }
    }

    /// Returns the candidate at the parameter `u` of the curve with its footpoint in the area `rect` of
    /// a free-form face, and the parameters of that footpoint. Newton's method starts at the parameters
    /// `uv`. `None` if no valid footpoint exists.
    fn candidate_on_patch(&self, f: FaceId, rect: &Rect, uv: P2, u: f64) -> Option<(Candidate, P2)> {
        let u = u.clamp(0.0, self.curve.n_pieces() as f64);
        let p = self.into.point(&self.curve.point(u));
        let mut uv = uv;
        let d = self.solid.distance_to_face(f, &p, &mut uv, rect)?;
        // Each area reports only footpoints in its own rectangle; Newton's method may have moved to a
        // neighbouring area.
        let slack = TRIM_SLACK.sqrt();
        let (w, h) = (slack * rect.width(), slack * rect.height());
        let is_own =
            (rect.u0 - w..=rect.u1 + w).contains(&uv.x) && (rect.v0 - h..=rect.v1 + h).contains(&uv.y);
        let found = Candidate {
            feature: Feature::Face(f),
            u,
            foot: d.foot(&p),
            distance: d.value,
            away: d.gradient,
            place: CurveLocation::Inside,
            set: None,
        };
        (is_own && self.solid.face_contains(f, uv, TRIM_SLACK * self.size)).then_some((found, uv))
    }

    /// Returns the footpoint of the point `p` (solid's frame) on a feature, the signed distance (mm) of
    /// `p`, and the unit vector away from the solid. `None` if the feature has no closed form, or if the
    /// footpoint is outside the trims or the direction outside the polar.
    fn opposite(&self, feature: Feature, p: &P3) -> Option<(P3, f64, V3)> {
        let h = self.solid.body().hierarchy();
        match feature {
            Feature::Face(f) => {
                let face = &h.faces[f.index()];
                let slack = TRIM_SLACK * self.size;
                if let Some(primitive) = &self.solid.faces[f.index()] {
                    let d = Distance::of_primitive(primitive, p, self.size)?;
                    let foot = d.foot(p);
                    let uv = face.surface.invert(&foot, None, Some(&face.trim.rect));
                    // Rejects footpoints on the extension of a cone beyond its apex.
                    let is_on = (face.surface.point(uv) - foot).norm() <= SAME_MINIMUM_TOLERANCE * self.size;
                    return (is_on && self.solid.face_contains(f, uv, slack))
                        .then_some((foot, d.value, d.gradient));
                }
                None
            }
            Feature::Edge(e) => match &self.solid.edges[e.index()] {
                EdgeShape::Canonical(primitive) => {
                    let d = Distance::of_primitive(primitive, p, self.size)?;
                    let foot = d.foot(p);
                    self.at_edge(e, p, &foot)
                }
                _ => None,
            },
            Feature::Vertex(v) => {
                let vertex = &h.vertices[v.index()];
                let w = p - vertex.point;
                let distance = w.norm();
                let is_in = vertex.constraints.iter().all(|c| c.dot(&w) <= 1e-9 * c.norm() * distance);
                (is_in && distance > 0.0).then(|| (vertex.point, distance, w / distance))
            }
        }
    }

    /// Like [`opposite`](Self::opposite), for the point `foot` on the curve of an edge. `None` if `foot`
    /// is not on a span of the edge, or if the direction to `p` is not in the edge's polar.
    fn at_edge(&self, e: feeler_hierarchy::EdgeId, p: &P3, foot: &P3) -> Option<(P3, f64, V3)> {
        let w = p - foot;
        let distance = w.norm();
        let t = self.solid.on_edge(e, foot)?;
        (distance > 0.0 && self.solid.is_in_polar(e, t, &w)).then(|| (*foot, distance, w / distance))
    }
}

impl Walk {
    fn clear(&mut self) {
        self.stretches.clear();
        self.n_nodes = 0;
        self.n_parts = 0;
        self.n_undecided = 0;
    }

    /// Adds the minima inside of the pieces of the curve to `found`, and stretches of constant distance
    /// to `stretches`.
    fn pieces<const N: usize>(&mut self, ctx: &Context<'_>, s: &CurveTree<N>, found: &mut Vec<Candidate>) {
        let root = &ctx.solid.body().hierarchy().nodes[0].obb;
        self.curve.clear();
        self.curve.push(0);
        while let Some(i) = self.curve.pop() {
            let node = &s.nodes[i as usize];
            let half = 0.5 * node.bounds.diagonal();
            let center = ctx.into.point(&((node.bounds.min + node.bounds.max) * 0.5).into());
            if root.distance_to(&center) > ctx.limits.reach + half {
                continue;
            }
            if node.count > 1 {
                self.curve.extend(s.children(i));
                continue;
            }
            let part = ctx.placed(&Part::of_leaf(&s.leaves[node.first as usize]));
            self.leaf(ctx, &part, &center, half, found);
        }
    }

    /// Adds the minima between a leaf of the curve (`part`, in the solid's frame) and all features near
    /// it to `found`. The leaf lies in a ball with the centre `center` and the radius `half` (mm).
    fn leaf<const N: usize>(
        &mut self,
        ctx: &Context<'_>,
        part: &Part<N>,
        center: &P3,
        half: f64,
        found: &mut Vec<Candidate>,
    ) {
        let h = ctx.solid.body().hierarchy();
        self.seen.clear();
        self.solid.clear();
        self.solid.push(NodeId(0));
        while let Some(i) = self.solid.pop() {
            self.n_nodes += 1;
            let node = &h.nodes[i.index()];
            if node.obb.distance_to(center) > ctx.limits.reach + half {
                continue;
            }
            if let Some(children) = node.children() {
                self.solid.extend(children);
                continue;
            }
            let Some(id) = node.area() else { continue };
            let area = &h.areas[id.index()];
            let is_whole = match area.feature {
                Feature::Face(f) => ctx.solid.faces[f.index()].is_some(),
                Feature::Edge(_) | Feature::Vertex(_) => true,
            };
            if is_whole {
                if self.seen.contains(&area.feature) {
                    continue;
                }
                self.seen.push(area.feature);
            }
            self.feature(ctx, part, id, found);
        }
    }

    fn feature<const N: usize>(
        &mut self,
        ctx: &Context<'_>,
        part: &Part<N>,
        id: AreaId,
        found: &mut Vec<Candidate>,
    ) {
        let h = ctx.solid.body().hierarchy();
        let area = &h.areas[id.index()];
        self.n_parts += 1;
        match area.feature {
            Feature::Face(f) => {
                if let Some(primitive) = &ctx.solid.faces[f.index()] {
                    self.canonical(ctx, part, area.feature, primitive, found);
                } else {
                    self.free_form(ctx, part, f, id, found);
                }
            }
            Feature::Edge(e) => match &ctx.solid.edges[e.index()] {
                EdgeShape::Ignored => {}
                EdgeShape::Canonical(primitive) => self.canonical(ctx, part, area.feature, primitive, found),
                EdgeShape::Fitted(spans) => {
                    for span in spans {
                        self.fitted(ctx, part, e, span, found);
                    }
                }
            },
            Feature::Vertex(v) => {
                let vertex = &h.vertices[v.index()];
                if vertex.quasi_only {
                    return;
                }
                let stretches = &mut self.stretches;
                let mut take = |on: OnCurve| match on {
                    OnCurve::Minimum(u) => {
                        found.extend(ctx.measured(area.feature, u, CurveLocation::Inside, None))
                    }
                    OnCurve::Level { ends, outward } => {
                        let ends = ends.map(|u| [u, 0.0]);
                        stretches.push((area.feature, Stretch { ends, outward, along: 0, area: id.0 }));
                    }
                };
                solve_point(&vertex.point.coords, part, &ctx.limits, &mut take, &mut self.n_parts);
            }
        }
    }

    /// Adds the minima between a part of the curve and a face or an edge whose signed distance has a
    /// closed form to `found`.
    fn canonical<const N: usize>(
        &mut self,
        ctx: &Context<'_>,
        part: &Part<N>,
        feature: Feature,
        primitive: &feeler_geom::skeleton::Primitive,
        found: &mut Vec<Candidate>,
    ) {
        let distance = |p: &P3| Distance::of_primitive(primitive, p, ctx.size);
        let mut take = |u: f64| found.extend(ctx.measured(feature, u, CurveLocation::Inside, None));
        search(ctx, part, &distance, &mut take, &mut |stretch| self.stretches.push((feature, stretch)));
    }

    /// Adds the minima between a part of the curve and the area `id` of a free-form face to `found`.
    fn free_form<const N: usize>(
        &mut self,
        ctx: &Context<'_>,
        part: &Part<N>,
        f: FaceId,
        id: AreaId,
        found: &mut Vec<Candidate>,
    ) {
        let area = &ctx.solid.body().hierarchy().areas[id.index()];
        let last = Cell::new(area.rect.center());
        let from_area = |p: &P3| {
            let mut uv = last.get();
            let d = ctx.solid.distance_to_face(f, p, &mut uv, &area.rect);
            // After a failure, the next search starts at the centre of the area.
            last.set(if d.is_some() { uv } else { area.rect.center() });
            d.map(|d| (d, uv))
        };
        let distance = |p: &P3| from_area(p).map(|d| d.0);
        let mut take = |u: f64| {
            let Some((c, uv)) = ctx.candidate_on_patch(f, &area.rect, last.get(), u) else { return };
            last.set(uv);
            // Rejects points where footpoints begin or end.
            let t = ctx.into.rotation * ctx.curve.at(c.u).d;
            if c.away.dot(&t).abs() <= CRITICAL_SLOPE * t.norm() {
                found.push(c);
            }
        };
        let mut level = |s: Stretch| self.stretches.push((Feature::Face(f), Stretch { area: id.0, ..s }));
        search(ctx, part, &distance, &mut take, &mut level);
    }

    /// Adds the minima between a part of the curve and one span of an edge that has no closed form to
    /// `found`.
    fn fitted<const N: usize>(
        &mut self,
        ctx: &Context<'_>,
        part: &Part<N>,
        e: feeler_hierarchy::EdgeId,
        span: &crate::obstacle::Fitted,
        found: &mut Vec<Candidate>,
    ) {
        self.solutions.clear();
        for leaf in &span.tree.leaves {
            solve_parts(part, &Part::of_leaf(leaf), Between::CURVES, &ctx.limits, &mut self.solutions);
        }
        self.n_parts += self.solutions.n_parts;
        self.n_undecided += self.solutions.n_undecided;
        let middle = |s: &Stretch| [0, 1].map(|k| 0.5 * (s.ends[0][k] + s.ends[1][k]));
        let params = self.solutions.minima.iter().copied().chain(self.solutions.stretches.iter().map(middle));
        for [u, v] in params {
            if let Some((u, foot)) = polish(ctx, e, u, span.parameter(v)) {
                let p = ctx.into.point(&ctx.curve.point(u));
                if let Some((foot, distance, away)) = ctx.at_edge(e, &p, &foot) {
                    let (feature, place) = (Feature::Edge(e), CurveLocation::Inside);
                    found.push(Candidate { feature, u, foot, distance, away, place, set: None });
                }
            }
        }
    }

    /// Adds the minima between a free end or a corner of the curve and all features of the solid to
    /// `found`.
    fn vertex(&mut self, ctx: &Context<'_>, vertex: &Vertex, found: &mut Vec<Candidate>) {
        let h = ctx.solid.body().hierarchy();
        let p = ctx.into.point(&vertex.point.into());
        let place = if vertex.before.is_some() && vertex.after.is_some() {
            CurveLocation::Corner
        } else {
            CurveLocation::End
        };
        self.seen.clear();
        self.solid.clear();
        self.solid.push(NodeId(0));
        while let Some(i) = self.solid.pop() {
            let node = &h.nodes[i.index()];
            if node.obb.distance_to(&p) > ctx.limits.reach {
                continue;
            }
            if let Some(children) = node.children() {
                self.solid.extend(children);
                continue;
            }
            let Some(area) = node.area() else { continue };
            let area = &h.areas[area.index()];
            let mut take = |foot: P3, distance: f64, away: V3| {
                // The distance must not decrease along the curve in either direction.
                let rises = |t: &V3, sign: f64| {
                    (ctx.into.rotation * t).dot(&away) * sign >= -VERTEX_SLOPE_ROUNDING * t.norm()
                };
                if vertex.after.is_none_or(|t| rises(&t, 1.0))
                    && vertex.before.is_none_or(|t| rises(&t, -1.0))
                {
                    let (feature, u) = (area.feature, vertex.u);
                    found.push(Candidate { feature, u, foot, distance, away, place, set: None });
                }
            };
            match area.feature {
                Feature::Face(f) if ctx.solid.faces[f.index()].is_none() => {
                    let mut uv: P2 = area.rect.center();
                    let Some(d) = ctx.solid.distance_to_face(f, &p, &mut uv, &area.rect) else { continue };
                    if ctx.solid.face_contains(f, uv, TRIM_SLACK * ctx.size) {
                        take(d.foot(&p), d.value, d.gradient);
                    }
                }
                Feature::Edge(e) => match &ctx.solid.edges[e.index()] {
                    EdgeShape::Fitted(spans) => {
                        for span in spans {
                            let mut on = |on: OnCurve| {
                                let v = match on {
                                    OnCurve::Minimum(v) => v,
                                    OnCurve::Level { ends, .. } => 0.5 * (ends[0] + ends[1]),
                                };
                                let edge = &h.edges[e.index()];
                                let foot = edge.curve.point(nearest_on(&edge.curve, span.parameter(v), &p));
                                if let Some((foot, distance, away)) = ctx.at_edge(e, &p, &foot) {
                                    take(foot, distance, away);
                                }
                            };
                            for leaf in &span.tree.leaves {
                                let part = Part::of_leaf(leaf);
                                solve_point(&p.coords, &part, &ctx.limits, &mut on, &mut self.n_parts);
                            }
                        }
                    }
                    _ => {
                        if let Some((foot, distance, away)) = ctx.opposite(area.feature, &p) {
                            take(foot, distance, away);
                        }
                    }
                },
                Feature::Vertex(v) if h.vertices[v.index()].quasi_only => {}
                feature => {
                    if let Some((foot, distance, away)) = ctx.opposite(feature, &p) {
                        take(foot, distance, away);
                    }
                }
            }
        }
    }
}

/// Finds the minima of a signed distance along a part of the curve. Passes the parameters of strict
/// minima on the whole curve to `take`, and stretches of constant distance to `level`. The part is split
/// into intervals that turn little and are short relative to the radii of curvature of the distance.
fn search<const N: usize>(
    ctx: &Context<'_>,
    part: &Part<N>,
    distance: &impl Fn(&P3) -> Option<Distance>,
    take: &mut impl FnMut(f64),
    level: &mut impl FnMut(Stretch),
) {
    let mut slope = |x: f64| {
        let at = at(&part.control, x);
        let speed = at.d.norm();
        match distance(&at.p.into()) {
            Some(d) => {
                let change = d.gradient.dot(&at.dd) + d.bend(&at.d);
                Slope { p: x, value: d.gradient.dot(&at.d), change, speed, scale: speed }
            }
            // Without a footpoint there is no minimum; a constant positive slope excludes it.
            None => Slope { p: x, value: speed, change: 0.0, speed, scale: speed },
        }
    };
    let range = Cell::new([0.0, 1.0]);
    let mut found = |found: Found| match found {
        Found::Minimum(x) => take(part.at(x)),
        Found::Level(from, to) => level(Stretch {
            ends: [from.p, to.p].map(|x| [part.at(outset(x, &range.get())), 0.0]),
            outward: [-from.value / from.scale, to.value / to.scale],
            along: 0,
            area: 0,
        }),
    };
    let speed = part.speed();
    let mut examine = |[from, to]: [f64; 2]| -> bool {
        let half = 0.5 * (to - from) * speed;
        let middle = at(&part.control, 0.5 * (from + to)).p;
        let mut is_long = part.turning() * (to - from) > MAX_STRETCH_TURNING;
        if let Some(d) = distance(&middle.into()) {
            // The part stays within half its length of the middle, and the distance changes by no more
            // than that.
            if d.value > ctx.limits.reach + half || d.value < -ctx.curve.radius() - half {
                return true;
            }
            is_long |= half * d.max_curvature() > MAX_STRETCH_RATIO;
        }
        if is_long && to - from > MIN_STRETCH {
            return false;
        }
        range.set([from, to]);
        along::minima(&mut slope, inset([from, to]), &ctx.limits.level, &mut found);
        true
    };
    bisect([0.0, 1.0], &mut examine);
}

/// Shrinks an interval slightly at both ends, because the slope jumps where a curve crosses the axis of
/// a hole, and joints often lie on axes.
fn inset([from, to]: [f64; 2]) -> [f64; 2] {
    let by = 0.5 * along::END_TOLERANCE * (to - from);
    [from + by, to - by]
}

/// Maps an end of the interval shrunk by [`inset`] back to the end of the original interval `range`.
/// Other parameters `x` are returned unchanged.
fn outset(x: f64, range: &[f64; 2]) -> f64 {
    let [from, to] = inset(*range);
    if x <= from {
        range[0]
    } else if x >= to {
        range[1]
    } else {
        x
    }
}

/// Calls `examine` for an interval, and recursively for both halves if it returns false. `examine` must
/// return true for short intervals.
fn bisect([from, to]: [f64; 2], examine: &mut impl FnMut([f64; 2]) -> bool) {
    if !examine([from, to]) {
        let middle = 0.5 * (from + to);
        bisect([from, middle], examine);
        bisect([middle, to], examine);
    }
}

/// Refines a minimum found on a fitted edge, by at most 12 Newton steps on the edge's exact curve. The
/// steps start from the parameters `u` (curve) and `t` (edge). Returns the parameter on the curve and the
/// footpoint on the edge (solid's frame). Returns `None` if the determinant of the second derivatives of
/// the squared distance is not positive at a step; the caller then drops the minimum.
fn polish(ctx: &Context<'_>, e: feeler_hierarchy::EdgeId, u: f64, t: f64) -> Option<(f64, P3)> {
    let edge = &ctx.solid.body().hierarchy().edges[e.index()];
    let (mut u, mut t) = (u, t);
    for _ in 0..12 {
        let a = ctx.curve.at(u);
        let (p, d) = (ctx.into.point(&a.p.into()), ctx.into.rotation * a.d);
        let dd = ctx.into.rotation * a.dd;
        let b = edge.curve.derivs(t);
        let w = p - b.p;
        let (fa, fb) = (w.dot(&d), -w.dot(&b.d1));
        let (aa, bb) = (d.norm_squared() + w.dot(&dd), b.d1.norm_squared() - w.dot(&b.d2));
        let ab = -d.dot(&b.d1);
        let det = aa * bb - ab * ab;
        if det <= 0.0 {
            return None;
        }
        let step = [(ab * fb - bb * fa) / det, (ab * fa - aa * fb) / det];
        u = (u + step[0]).clamp(0.0, ctx.curve.n_pieces() as f64);
        t += step[1];
        if step[0].abs() < 1e-13 && (step[1] * b.d1.norm()).abs() < 1e-13 * ctx.size {
            break;
        }
    }
    Some((u, edge.curve.point(t)))
}

/// Finds the parameter of the point on an edge's curve nearest to `p` by Newton's method, which starts
/// at the parameter `t`.
fn nearest_on(curve: &feeler_geom::Curve, t: f64, p: &P3) -> f64 {
    let mut t = t;
    for _ in 0..12 {
        let d = curve.derivs(t);
        let w = d.p - p;
        let bend = d.d1.norm_squared() + w.dot(&d.d2);
        let step = -w.dot(&d.d1) / bend;
        if !step.is_finite() || bend <= 0.0 {
            break;
        }
        t += step;
        if step.abs() < 1e-14 * (1.0 + t.abs()) {
            break;
        }
    }
    t
}
