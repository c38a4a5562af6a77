//! All local minimal distances between a curve and a solid.
//!
//! Against a face or a canonical edge only the curve's parameter is unknown: what is minimised is the signed
//! distance of the curve's points from the surface or the edge. Other edges are curves of their own, with
//! vertices points. A minimum counts when its foot is in the trims, and its direction in the polar of an edge
//! or a vertex.
//!
//! # Source
//! BREP §4.3.3, Algorithm 14 (in which some tangent must be orthogonal to some normal), §4.4 (trims and
//! polars).
//! # Deviations
//! - A tree of the curve meets the solid's by distance; directions are tested by the signs of slopes,
//!   exactly.
//! - Distances are signed: tubes are pressed into faces up to their radius, and the curve itself beyond that
//!   where it is inside the solid.

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
use crate::minimum::{CurveOptions, CurveStats, Place, SolidMinimum};
use crate::obstacle::{Distance, EdgeShape, Obstacle};
use crate::part::Part;
use crate::piece::at;
use crate::query::{MOVE, is_end, level_length, limits};
use crate::sets::{Pairing, Sampling, Sets};
use crate::solve::{Limits, OnCurve, Places, Solutions, Stretch, solve_parts, solve_point};
use crate::tree::{Between, Skeleton, Vertex};

/// Minima that are nearer than this part of the size are one.
const SAME: f64 = 1e-8;

/// Part of the size by which a foot may be beside its face.
const BESIDE: f64 = 1e-10;

/// Turning (rad) up to which one stretch of a curve is sampled at its ends and in the middle only.
const FLAT: f64 = 0.5;

/// Half the length of stretches of a curve, as part of the radii of curvature of the surface that is parallel
/// to a feature there: on a longer one samples may miss how the distance changes.
const SHORT: f64 = 0.5;

/// Part of a leaf's parameters below which stretches are not halved: there the distance has a kink.
const LEAST: f64 = 1e-4;

/// Slope (of the distance with length) of what counts as a minimum on free-form faces.
const CRITICAL: f64 = 1e-7;

/// Slope (of the distance with length) that rounding leaves at vertices.
const ROUNDING: f64 = 1e-12;

/// What is found before it is measured: parameter of the curve, of a fitted edge its span and parameter.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    feature: Feature,
    u: f64,
    foot: P3,
    /// Signed distance, and the unit vector away from the solid.
    distance: f64,
    away: V3,
    place: Place,
    set: Option<u32>,
}

/// Scratch, results and identities of the minima of a curve and a solid.
#[derive(Debug, Default)]
pub struct CurveSolidPair {
    walk: Walk,
    points: PointQuery,
    sets: Sets,
    found: Vec<Candidate>,
    minima: Vec<SolidMinimum>,
    ids: Ids<SolidMinimum>,
}

/// Stretches of equal distance and minima of one query, and the scratch of its search.
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
    /// A pair that nothing was asked of yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What the last query found.
    #[must_use]
    pub fn minima(&self) -> &[SolidMinimum] {
        &self.minima
    }

    /// What the last query cost.
    #[must_use]
    pub fn stats(&self) -> CurveStats {
        CurveStats {
            n_nodes: self.walk.n_nodes,
            n_parts: self.walk.n_parts,
            n_undecided: self.walk.n_undecided,
        }
    }

    /// All local minima of the distance between a curve and a solid placed by `pose`, with gaps of at most
    /// `d_max` and the curve at most its radius inside the solid, by their parameters.
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
            Sampling { size, length: level_length(curve, curve, options), most: options.max_samples };
        self.join(&ctx, &sampling);
        self.conclude(&ctx, pose, options);
        &self.minima
    }

    /// Joins stretches of each feature to sets.
    fn join(&mut self, ctx: &Context<'_>, sampling: &Sampling) {
        let stretches = &mut self.walk.stretches;
        stretches.sort_unstable_by(|p, q| {
            p.0.cmp(&q.0)
                .then(p.1.of.cmp(&q.1.of))
                .then(p.1.ends[0][0].total_cmp(&q.1.ends[0][0]))
                .then(p.1.ends[1][0].total_cmp(&q.1.ends[1][0]))
        });
        stretches.dedup_by(|p, q| p.0 == q.0 && p.1.of == q.1.of && p.1.ends == q.1.ends);
        let mut n_sets = 0;
        let mut i = 0;
        while i < stretches.len() {
            let feature = stretches[i].0;
            let n = stretches[i..].iter().take_while(|s| s.0 == feature).count();
            self.walk.solutions.stretches.clear();
            for k in i..i + n {
                let stretch = stretches[k].1;
                // The search has cut what goes on.
                let goes_on = |p: usize, q: usize| {
                    let (p, q) = (&stretches[p].1, &stretches[q].1);
                    p.of == q.of && p.ends[1][0] >= q.ends[0][0]
                };
                let is_free = [k == i || !goes_on(k - 1, k), k + 1 == i + n || !goes_on(k, k + 1)];
                let mut keep = |part| self.walk.solutions.stretches.push(part);
                ctx.clip(feature, &stretch, is_free, &mut self.points, &mut keep);
            }
            i += n;
            ctx.part_overlaps(feature, &mut self.walk.solutions.stretches);
            let along = Along { ctx, feature };
            self.sets.clear();
            self.sets.join(&along, &self.walk.solutions.stretches, sampling);
            // A minimum on a set is told by its samples.
            self.found.retain(|c| c.feature != feature || !self.sets.holds(&along, &[c.u, 0.0], ctx.size));
            for s in &self.sets.minima {
                self.found.extend(ctx.on(feature, s.of, s.places[0], None));
            }
            for s in &self.sets.samples {
                self.found.extend(ctx.on(feature, s.of, s.places[0], Some(n_sets + s.set)));
            }
            n_sets += self.sets.samples.last().map_or(0, |s| s.set + 1);
        }
    }

    fn conclude(&mut self, ctx: &Context<'_>, pose: &Pose, options: &CurveOptions) {
        let radius = ctx.curve.radius();
        // Vertices of the curve and faces of the solid first: they are what else is found beside them.
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
            let is_known = self.found[..i].iter().any(|d| {
                let apart = (ctx.curve.point(d.u) - point).norm().max((d.foot - c.foot).norm());
                apart <= SAME * ctx.size
            });
            if is_known || c.distance > options.d_max + radius {
                continue;
            }
            if c.set.is_none() && c.place == Place::Inside && ctx.leaves_along_an_edge(c, &mut self.points) {
                continue;
            }
            // Inside the solid a wall may be near that the curve never came through.
            let is_deep = c.distance < -SAME * ctx.size;
            if is_deep {
                let is_inside =
                    self.points.contains(ctx.solid.body(), &ctx.into.point(&point), SAME * ctx.size);
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
            (moved <= MOVE * ctx.size && new.set.is_some() == old.set.is_some()).then_some(moved)
        };
        self.ids.assign(&mut self.minima, moved);
    }
}

/// What all steps of a query share.
struct Context<'a> {
    curve: &'a Curve,
    solid: &'a Obstacle,
    /// From the world into the solid's frame.
    into: PoseMatrix,
    limits: Limits,
    size: f64,
}

/// Places of stretches along a curve; the other side is told by the curve's place.
struct Along<'a> {
    ctx: &'a Context<'a>,
    feature: Feature,
}

impl Pairing for Along<'_> {
    fn apart(&self, p: &Places, q: &Places) -> f64 {
        (self.ctx.curve.point(p[0]) - self.ctx.curve.point(q[0])).norm()
    }

    fn across(&self, places: Places, _along: usize) -> Places {
        places
    }

    fn is_end(&self, places: &Places) -> bool {
        is_end(self.ctx.curve, places[0])
    }

    fn rises(&self, places: &Places, stretch: &Stretch) -> bool {
        let t = self.ctx.into.rotation * self.ctx.curve.at(places[0]).d;
        self.ctx.on(self.feature, stretch.of, places[0], None).is_some_and(|c| c.away.dot(&t) > 0.0)
    }
}

impl Context<'_> {
    /// The part of a curve in the solid's frame.
    fn placed<const N: usize>(&self, part: &Part<N>) -> Part<N> {
        let mut placed = *part;
        for p in &mut placed.control {
            *p = self.into.point(&P3::from(*p)).coords;
        }
        placed
    }

    /// The minimum at a parameter of the curve opposite to a feature, where the solid has it.
    fn measured(&self, feature: Feature, u: f64, place: Place, set: Option<u32>) -> Option<Candidate> {
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

    /// The place at a parameter of the curve opposite to an area's feature, where the solid has it.
    fn on(&self, feature: Feature, area: u32, u: f64, set: Option<u32>) -> Option<Candidate> {
        match feature {
            Feature::Face(f) if self.solid.faces[f.index()].is_none() => {
                let rect = self.solid.body().hierarchy().areas[area as usize].rect;
                self.on_free(f, &rect, rect.center(), u).map(|(c, _)| Candidate { set, ..c })
            }
            _ => self.measured(feature, u, Place::Inside, set),
        }
    }

    /// The place at a parameter of the curve opposite to an area of a free-form face, looked for from `uv`;
    /// with the parameters of its foot.
    fn on_free(&self, f: FaceId, rect: &Rect, uv: P2, u: f64) -> Option<(Candidate, P2)> {
        let u = u.clamp(0.0, self.curve.n_pieces() as f64);
        let p = self.into.point(&self.curve.point(u));
        let mut uv = uv;
        let d = self.solid.distance_to_face(f, &p, &mut uv, rect)?;
        // Each area tells its own: the foot may have gone on to another one.
        let slack = BESIDE.sqrt();
        let (w, h) = (slack * rect.width(), slack * rect.height());
        let is_own =
            (rect.u0 - w..=rect.u1 + w).contains(&uv.x) && (rect.v0 - h..=rect.v1 + h).contains(&uv.y);
        let found = Candidate {
            feature: Feature::Face(f),
            u,
            foot: d.foot(&p),
            distance: d.value,
            away: d.gradient,
            place: Place::Inside,
            set: None,
        };
        (is_own && self.solid.holds(f, uv, BESIDE * self.size)).then_some((found, uv))
    }

    /// Foot, signed distance and direction of a point from a feature whose minimum it may be.
    fn opposite(&self, feature: Feature, p: &P3) -> Option<(P3, f64, V3)> {
        let h = self.solid.body().hierarchy();
        match feature {
            Feature::Face(f) => {
                let face = &h.faces[f.index()];
                let slack = BESIDE * self.size;
                if let Some(primitive) = &self.solid.faces[f.index()] {
                    let d = Distance::of_primitive(primitive, p, self.size)?;
                    let foot = d.foot(p);
                    let uv = face.surface.invert(&foot, None, Some(&face.trim.rect));
                    // Not the continuation of a cone beyond its apex.
                    let is_on = (face.surface.point(uv) - foot).norm() <= SAME * self.size;
                    return (is_on && self.solid.holds(f, uv, slack)).then_some((foot, d.value, d.gradient));
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

    /// A foot on an edge where the edge has it and its polar the direction.
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

    /// Minima inside of the pieces of the curve.
    fn pieces<const N: usize>(&mut self, ctx: &Context<'_>, s: &Skeleton<N>, found: &mut Vec<Candidate>) {
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

    /// Minima of a leaf of the curve, in the solid's frame, with all features near it.
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
                    self.free(ctx, part, f, id, found);
                }
            }
            Feature::Edge(e) => match &ctx.solid.edges[e.index()] {
                EdgeShape::Silent => {}
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
                    OnCurve::Minimum(u) => found.extend(ctx.measured(area.feature, u, Place::Inside, None)),
                    OnCurve::Level { ends, outward } => {
                        let ends = ends.map(|u| [u, 0.0]);
                        stretches.push((area.feature, Stretch { ends, outward, along: 0, of: id.0 }));
                    }
                };
                solve_point(&vertex.point.coords, part, &ctx.limits, &mut take, &mut self.n_parts);
            }
        }
    }

    /// A face or an edge with a signed distance in closed form.
    fn canonical<const N: usize>(
        &mut self,
        ctx: &Context<'_>,
        part: &Part<N>,
        feature: Feature,
        primitive: &feeler_geom::skeleton::Primitive,
        found: &mut Vec<Candidate>,
    ) {
        let distance = |p: &P3| Distance::of_primitive(primitive, p, ctx.size);
        let mut take = |u: f64| found.extend(ctx.measured(feature, u, Place::Inside, None));
        search(ctx, part, &distance, &mut take, &mut |stretch| self.stretches.push((feature, stretch)));
    }

    /// An area of a free-form face.
    fn free<const N: usize>(
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
            // From a place that leads nowhere the next point is not looked for.
            last.set(if d.is_some() { uv } else { area.rect.center() });
            d.map(|d| (d, uv))
        };
        let distance = |p: &P3| from_area(p).map(|d| d.0);
        let mut take = |u: f64| {
            let Some((c, uv)) = ctx.on_free(f, &area.rect, last.get(), u) else { return };
            last.set(uv);
            // Nor is it one where feet begin or end.
            let t = ctx.into.rotation * ctx.curve.at(c.u).d;
            if c.away.dot(&t).abs() <= CRITICAL * t.norm() {
                found.push(c);
            }
        };
        let mut level = |s: Stretch| self.stretches.push((Feature::Face(f), Stretch { of: id.0, ..s }));
        search(ctx, part, &distance, &mut take, &mut level);
    }

    /// A span of an edge that has no closed form.
    fn fitted<const N: usize>(
        &mut self,
        ctx: &Context<'_>,
        part: &Part<N>,
        e: feeler_hierarchy::EdgeId,
        span: &crate::obstacle::Fitted,
        found: &mut Vec<Candidate>,
    ) {
        self.solutions.clear();
        for leaf in &span.skeleton.leaves {
            solve_parts(part, &Part::of_leaf(leaf), Between::CURVES, &ctx.limits, &mut self.solutions);
        }
        self.n_parts += self.solutions.n_parts;
        self.n_undecided += self.solutions.n_undecided;
        let middle = |s: &Stretch| [0, 1].map(|k| 0.5 * (s.ends[0][k] + s.ends[1][k]));
        let places = self.solutions.minima.iter().copied().chain(self.solutions.stretches.iter().map(middle));
        for [u, v] in places {
            if let Some((u, foot)) = polished(ctx, e, u, span.parameter(v)) {
                let p = ctx.into.point(&ctx.curve.point(u));
                if let Some((foot, distance, away)) = ctx.at_edge(e, &p, &foot) {
                    let (feature, place) = (Feature::Edge(e), Place::Inside);
                    found.push(Candidate { feature, u, foot, distance, away, place, set: None });
                }
            }
        }
    }

    /// Minima at a free end or a corner of the curve.
    fn vertex(&mut self, ctx: &Context<'_>, vertex: &Vertex, found: &mut Vec<Candidate>) {
        let h = ctx.solid.body().hierarchy();
        let p = ctx.into.point(&vertex.point.into());
        let place =
            if vertex.before.is_some() && vertex.after.is_some() { Place::Corner } else { Place::End };
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
                // No way along the curve leads nearer.
                let rises =
                    |t: &V3, sign: f64| (ctx.into.rotation * t).dot(&away) * sign >= -ROUNDING * t.norm();
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
                    if ctx.solid.holds(f, uv, BESIDE * ctx.size) {
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
                            for leaf in &span.skeleton.leaves {
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

/// Minima of a signed distance along a part, which is looked at in stretches that turn little and are short
/// beside what bends the distance.
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
            // No foot: nothing to be found here.
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
            of: 0,
        }),
    };
    let speed = part.speed();
    let mut look = |[from, to]: [f64; 2]| -> bool {
        let half = 0.5 * (to - from) * speed;
        let middle = at(&part.control, 0.5 * (from + to)).p;
        let mut is_long = part.turning() * (to - from) > FLAT;
        if let Some(d) = distance(&middle.into()) {
            // No point is further from the middle than half the length, and distances change by no more.
            if d.value > ctx.limits.reach + half || d.value < -ctx.curve.radius() - half {
                return true;
            }
            is_long |= half * d.tightness() > SHORT;
        }
        if is_long && to - from > LEAST {
            return false;
        }
        range.set([from, to]);
        along::minima(&mut slope, inset([from, to]), &ctx.limits.level, &mut found);
        true
    };
    halved([0.0, 1.0], &mut look);
}

/// A range without its ends: where a curve crosses the axis of a hole, which joints like to lie on, the slope
/// jumps.
fn inset([from, to]: [f64; 2]) -> [f64; 2] {
    let by = 0.5 * along::BEYOND * (to - from);
    [from + by, to - by]
}

/// The end of a range for that of its inset.
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

/// Looks at a range, and at both halves where that does not tell.
fn halved([from, to]: [f64; 2], look: &mut impl FnMut([f64; 2]) -> bool) {
    if !look([from, to]) {
        let middle = 0.5 * (from + to);
        halved([from, middle], look);
        halved([middle, to], look);
    }
}

/// The minimum near a place of a curve and an edge, found with a fit: with the true edge, the solid's frame.
fn polished(ctx: &Context<'_>, e: feeler_hierarchy::EdgeId, u: f64, t: f64) -> Option<(f64, P3)> {
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

/// The parameter of the point of a curve nearest to `p`, near `t`.
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
