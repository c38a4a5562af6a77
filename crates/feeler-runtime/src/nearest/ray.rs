//! Intersections of rays with the boundary of a solid.
//!
//! Canonical surfaces have closed forms. Free-form areas are halved until the ray is far from tangent to
//! them; each part then has at most one crossing, which Newton's method finds. A crossing far from all
//! trims, at which the ray is not almost tangent, is *certain*. All others are uncertain, because several
//! faces or none can contain them. Uncertain crossings with overlapping intervals of the ray form a group;
//! a group is a crossing if the ray is inside the solid on one side of it and outside on the other, by the
//! signed distance of points there.

use super::membership::RayScratch;
use super::signed::{BoundaryPoint, signed_foot};
use super::{NearScratch, tips};
use crate::api::error::QueryError;
use crate::api::tolerance::Tolerances;
use crate::body::coordinates::{length, point_range};
use crate::body::{Body, outward_normal};
use feeler_geom::surface::line_in_slabs;
use feeler_geom::trim::Side;
use feeler_geom::{Aabb, Obb, P2, P3, Rect, Surface, V3, math};
use feeler_hierarchy::{AreaId, FaceId, Feature, NodeId};

/// Sine of the angle between ray and surface below which a crossing is uncertain. A larger value samples
/// more points; with a smaller one, crossings of almost tangent rays are miscounted.
const MIN_CERTAIN_SINE: f64 = 1e-4;
/// Sine of the angle between ray and plane below which they count as parallel. With a larger value, flat
/// crossings are lost; with a smaller one, rounding determines their position.
const MIN_PLANE_SINE: f64 = 1e-9;
/// Approximate minimum sine of the angle between the ray and the tangent planes of a part of a free-form
/// area for which Newton's method is used. A larger value causes more halvings; with a smaller one Newton's
/// method can diverge.
const MIN_GRAPH_SINE: f64 = 1e-2;
/// Largest half-angle (rad) of the normals of a part for which Newton's method is used. It must be below a
/// right angle; a smaller value causes more halvings.
const MAX_GRAPH_ANGLE: f64 = 1.5;
/// Maximum number of halvings of a free-form area; smaller parts are uncertain crossings. More of them
/// cost more for tangent rays; with fewer, groups of uncertain crossings are longer.
const MAX_HALVINGS: u32 = 24;
/// Maximum number of parts of free-form areas that are visited for one ray; further parts are uncertain
/// crossings. A larger value costs more for tangent rays; with a smaller one, groups are longer.
const MAX_PARTS: u32 = 1000;
/// Distance (tolerances) from a trim, in addition to its deviation, at which a crossing is uncertain. With a
/// larger value, short chords near edges are lost; with a smaller one, crossings are miscounted there.
const TRIM_MARGIN: f64 = 10.0;
/// Difference of parameters, as a fraction of the face's parameter rectangle, up to which two crossings of
/// one face are the same, found in two adjacent areas. A larger value merges crossings near each other;
/// with a smaller one, rounding separates equal ones.
const SAME_PARAMETERS: f64 = 1e-5;
/// Positions in a stretch of the ray between two groups, as fractions of its length, at which the signed
/// distance is sampled. More of them cost more; with fewer, more stretches seem to run along the boundary.
const SAMPLES: [f64; 3] = [0.5, 0.25, 0.75];
/// Number of bisections of a stretch of the ray that contains a lost crossing. More of them do not improve
/// the position; with fewer, it is less accurate.
const MAX_BISECTIONS: usize = 52;
/// Largest displacement of the ray's origin along the ray, in sizes of the body, by which the equations of
/// a surface are centred. With a larger value, rounding of the displaced origin affects the roots; with a
/// smaller one, almost tangent rays lose them.
const MAX_CENTRING: f64 = 4.0;

/// Point where a ray passes through the boundary of a solid, in the frame of the solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayIntersection {
    /// Parameter of the ray: the point is `origin + t · direction`, with the direction as given.
    pub t: f64,
    /// Point of the boundary (mm).
    pub point: P3,
    /// Outward unit normal of the face at the point.
    pub normal: V3,
    /// Face that contains the point.
    pub face: FaceId,
    /// Whether the ray enters the solid; `false` where it leaves. Always `true` for a sheet.
    pub is_entering: bool,
}

/// Intersections of rays with the boundary of a solid. Memory is reused between calls.
///
/// # Guarantees
/// The intersections of a ray alternate between entering and leaving, and the last one leaves: a ray that
/// passes through an edge or a vertex has one intersection there, and a ray that touches the solid without
/// passing into it has none. A ray along the boundary counts as outside there. A ray that starts on the
/// boundary, within the tolerance (1e-7 of the size), has an intersection at its start only if it leads
/// into the solid.
///
/// Two intersections that are nearer to each other than some tens of tolerances can be missing if they are
/// that near to an edge, too, or if the ray is almost tangent.
///
/// A sheet is entered at every intersection, and counts as wider by ten tolerances at its border.
#[derive(Debug, Default)]
pub struct RayQuery {
    stack: Vec<NodeId>,
    faces: Vec<FaceId>,
    crossings: Vec<Crossing>,
    groups: Vec<Group>,
    hits: Vec<RayIntersection>,
    near: NearScratch,
    rays: RayScratch,
}

/// Crossing of the ray with the surface of a face, inside the trims or near them.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    /// Position along the ray (mm).
    s: f64,
    /// Half the length (mm) of the interval of the ray that can contain the crossing; 0 if it is certain.
    reach: f64,
    face: FaceId,
    uv: P2,
    /// Component of the ray's direction along the outward normal; NaN if the crossing was not solved.
    sine: f64,
    is_inside_trims: bool,
}

impl Crossing {
    fn is_certain(&self) -> bool {
        self.reach <= 0.0
    }
}

/// Crossings with overlapping intervals: a range of the sorted crossings.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: usize,
    end: usize,
    /// Interval of the ray (mm).
    range: [f64; 2],
}

/// Line in the frame of the solid. Its origin is the point nearest to the centre of the body.
struct Line<'a> {
    body: &'a Body,
    origin: P3,
    /// Unit direction.
    dir: V3,
    /// Position of the start of the ray (mm).
    start: f64,
    tol: Tolerances,
}

impl RayQuery {
    /// Creates a query object; memory is allocated at the first call.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Computes the intersections of the ray `origin + t · direction`, t ≥ 0, with the boundary of a body,
    /// by increasing t. Origin and direction are in the frame of the body; the direction can have any
    /// length above 0.
    ///
    /// # Errors
    /// [`QueryError::Point`] if the origin is not finite, [`QueryError::Direction`] if the direction is not
    /// finite or zero, and [`QueryError::CoordinatesTooLarge`].
    pub fn intersections(
        &mut self,
        body: &Body,
        origin: &P3,
        direction: &V3,
    ) -> Result<&[RayIntersection], QueryError> {
        self.hits.clear();
        point_range(body, origin, f64::INFINITY)?;
        let speed = length(direction);
        let dir = direction / speed;
        if !(speed > 0.0 && speed.is_finite() && dir.iter().all(|x| x.is_finite())) {
            return Err(QueryError::Direction);
        }
        let dir = dir.normalize();
        let to_center = (body.bounds().center() - origin).dot(&dir);
        if body.bounds().is_empty() {
            return Ok(&self.hits);
        }
        let tol = Tolerances::of_lengths(body.size().max(f64::MIN_POSITIVE), body.reach(), None);
        let line = Line { body, origin: origin + dir * to_center, dir, start: -to_center, tol };
        self.find_crossings(&line);
        if body.is_sheet() {
            self.cross_sheet(&line);
        } else {
            self.cross_solid(&line);
        }
        for hit in &mut self.hits {
            hit.t = (hit.t - line.start).max(0.0) / speed;
        }
        Ok(&self.hits)
    }

    /// Stores the crossings of the ray with all faces, sorted by position.
    fn find_crossings(&mut self, line: &Line<'_>) {
        let Self { stack, faces, crossings, .. } = self;
        let body = line.body;
        crossings.clear();
        faces.clear();
        stack.clear();
        stack.extend((!body.faces().is_empty()).then_some(NodeId(0)));
        let slack = line.tol.tol + body.deviation();
        let mut parts = 0;
        while let Some(i) = stack.pop() {
            let node = &body.faces()[i.index()];
            if !line.intersects(&node.obb, slack) {
                continue;
            }
            if let Some(children) = node.children() {
                stack.extend(children);
                continue;
            }
            let Some(area) = node.area() else { continue };
            if let Feature::Face(f) = body.area(area).feature {
                if body.face(f).surface.is_canonical() {
                    faces.push(f);
                } else {
                    line.cross_area(f, area, &mut parts, crossings);
                }
            }
        }
        faces.sort_unstable();
        faces.dedup();
        for &f in faces.iter() {
            line.cross_face(f, crossings);
        }
        crossings.retain(|c| c.s + c.reach.max(line.tol.tol) >= line.start);
        // Adjacent areas share their border, so that a crossing can be found twice.
        crossings.sort_by(|a, b| a.face.cmp(&b.face).then(a.s.total_cmp(&b.s)));
        crossings.dedup_by(|a, b| a.face == b.face && line.is_same(a, b));
        crossings.sort_by(|a, b| a.s.total_cmp(&b.s).then(a.face.cmp(&b.face)));
    }

    /// Reports one crossing of a sheet for each group, on the side that faces the ray.
    fn cross_sheet(&mut self, line: &Line<'_>) {
        self.group();
        let Self { crossings, groups, hits, .. } = self;
        hits.extend(groups.iter().filter_map(|group| {
            let front = crossings[group.first..group.end].iter().filter(|c| c.sine < 0.0);
            // Of equal crossings, the first one is chosen.
            let best = front.rev().max_by_key(|c| (c.is_inside_trims, c.is_certain()))?;
            Some(line.intersection(best, true))
        }));
    }

    /// Reports the crossings at which the ray enters or leaves a solid. Where certain crossings contradict
    /// each other, a crossing is lost between them, and bisection finds it.
    fn cross_solid(&mut self, line: &Line<'_>) {
        self.group();
        let Self { crossings, groups, hits, near, rays, .. } = self;
        let Some(first) = groups.first() else { return };
        let mut probe = Probe { line, near, rays };
        // Whether the ray is inside before the group, if that is certain.
        let before = |g: &Group| {
            let first = &crossings[g.first];
            (g.end == g.first + 1 && first.is_certain()).then_some(first.sine > 0.0)
        };
        let bounds = line.body.bounds().inflated(line.tol.tol + line.body.deviation());
        let mut is_inside = if !bounds.contains(&line.point(line.start)) {
            false
        } else if first.range[0] <= line.start + line.tol.tol {
            probe.is_inside_between(line.start, line.start)
        } else {
            before(first).unwrap_or_else(|| probe.is_inside_between(line.start, first.range[0]))
        };
        let mut position = line.start;
        for (k, group) in groups.iter().enumerate() {
            let known = before(group);
            if let Some(is_inside_before) = known.filter(|b| *b != is_inside) {
                hits.extend(probe.bisect(position, group.range[0], is_inside));
                is_inside = is_inside_before;
            }
            let is_inside_after = match (known, groups.get(k + 1)) {
                (Some(is_inside_before), _) => !is_inside_before,
                (None, None) => false,
                (None, Some(next)) => {
                    before(next).unwrap_or_else(|| probe.is_inside_between(group.range[1], next.range[0]))
                }
            };
            if is_inside_after != is_inside {
                let leads_there = |c: &&Crossing| if is_inside_after { c.sine < 0.0 } else { c.sine > 0.0 };
                let all = &crossings[group.first..group.end];
                // Of equal crossings, the first one is chosen.
                let best =
                    all.iter().rev().filter(leads_there).max_by_key(|c| (c.is_inside_trims, c.is_certain()));
                hits.extend(match best {
                    Some(crossing) => Some(line.intersection(crossing, is_inside_after)),
                    None => probe.bisect(group.range[0], group.range[1], is_inside),
                });
            }
            (is_inside, position) = (is_inside_after, group.range[1]);
        }
        if is_inside {
            let end = line.range_in(&bounds, 0.0).map_or(position, |[_, to]| to.max(position));
            hits.extend(probe.bisect(position, end, true));
        }
    }

    /// Forms groups of the sorted crossings.
    fn group(&mut self) {
        let Self { crossings, groups, .. } = self;
        groups.clear();
        // By the starts of the intervals, so that overlapping ones are adjacent.
        crossings.sort_by(|a, b| (a.s - a.reach).total_cmp(&(b.s - b.reach)).then(a.face.cmp(&b.face)));
        for (i, c) in crossings.iter().enumerate() {
            let range = [c.s - c.reach, c.s + c.reach];
            match groups.last_mut() {
                Some(last)
                    if range[0] <= last.range[1]
                        && !(c.is_certain() && crossings[last.first..i].iter().all(Crossing::is_certain)) =>
                {
                    last.end = i + 1;
                    last.range[1] = last.range[1].max(range[1]);
                }
                _ => groups.push(Group { first: i, end: i + 1, range }),
            }
        }
    }
}

/// Samples of the signed distance along a ray.
struct Probe<'a> {
    line: &'a Line<'a>,
    near: &'a mut NearScratch,
    rays: &'a mut RayScratch,
}

impl Probe<'_> {
    fn signed(&mut self, s: f64) -> Option<BoundaryPoint> {
        let Line { body, tol, .. } = self.line;
        signed_foot(body, &self.line.point(s), tol, (&mut *self.near, &mut *self.rays))
    }

    /// Whether the stretch of the ray between two positions is inside the solid; `false` for a stretch
    /// along the boundary.
    fn is_inside_between(&mut self, from: f64, to: f64) -> bool {
        let tol = self.line.tol.tol;
        let mut deepest = 0.0_f64;
        for part in SAMPLES {
            let signed = self.signed(from + part * (to - from));
            let distance = signed.map_or(f64::INFINITY, |x| x.signed_distance);
            if distance.abs() > deepest.abs() {
                deepest = distance;
            }
            if distance.abs() > tol {
                break;
            }
        }
        deepest < -tol
    }

    /// Crossing between two positions, of which the first is inside the solid or, if `is_inside` is not set,
    /// the second.
    fn bisect(&mut self, from: f64, to: f64, is_inside: bool) -> Option<RayIntersection> {
        let (mut lo, mut hi) = (from, to);
        for _ in 0..MAX_BISECTIONS {
            let middle = 0.5 * (lo + hi);
            let distance = self.signed(middle)?.signed_distance;
            if (distance < 0.0) == is_inside {
                lo = middle;
            } else {
                hi = middle;
            }
        }
        let BoundaryPoint { foot, normal, face, .. } = self.signed(lo)?;
        Some(RayIntersection { t: lo, point: foot, normal, face, is_entering: !is_inside })
    }
}

impl Line<'_> {
    fn point(&self, s: f64) -> P3 {
        self.origin + self.dir * s
    }

    fn intersection(&self, c: &Crossing, is_entering: bool) -> RayIntersection {
        let face = self.body.face(c.face);
        RayIntersection {
            t: c.s,
            point: face.surface.point(c.uv),
            normal: outward_normal(face, c.uv),
            face: c.face,
            is_entering,
        }
    }

    /// Whether the ray intersects a box enlarged by `slack` (mm).
    fn intersects(&self, obb: &Obb, slack: f64) -> bool {
        let d = obb.center - self.origin;
        let slab = |k: usize| (obb.axes[k].dot(&d), obb.axes[k].dot(&self.dir), obb.half[k] + slack);
        line_in_slabs([slab(0), slab(1), slab(2)]).is_some_and(|(_, end)| end >= self.start - slack)
    }

    /// Range of the ray (mm) in a box enlarged by `slack` (mm).
    fn range_in(&self, b: &Aabb, slack: f64) -> Option<[f64; 2]> {
        let (d, half) = (b.center() - self.origin, (b.max - b.min) * 0.5);
        let slab = |k: usize| (d[k], self.dir[k], half[k] + slack);
        line_in_slabs([slab(0), slab(1), slab(2)]).map(|(from, to)| [from, to])
    }

    /// Adds the crossings with a face with a closed form.
    fn cross_face(&self, f: FaceId, out: &mut Vec<Crossing>) {
        let face = self.body.face(f);
        for tip in tips(&face.surface) {
            let s = (tip - self.origin).dot(&self.dir);
            let margin = self.margin(f);
            if (self.point(s) - tip).norm() <= margin {
                let uv = face.surface.invert(&tip, None, Some(&face.trim.rect));
                out.push(Crossing {
                    s,
                    reach: 2.0 * margin,
                    face: f,
                    uv,
                    sine: f64::NAN,
                    is_inside_trims: true,
                });
            }
        }
        let center = self.centred(&face.surface);
        let roots = face.surface.line_parameters(&self.point(center), &self.dir, MIN_PLANE_SINE);
        for root in roots.into_iter().flatten() {
            let s = center + root;
            let p = self.point(s);
            let uv = face.surface.invert(&p, None, Some(&face.trim.rect));
            let off = (face.surface.point(uv) - p).norm();
            // Farther crossings are on the other nappe or sheet.
            if off <= 1e3 * self.tol.tol {
                self.add_crossing(f, uv, (s, if off > self.tol.tol { off } else { 0.0 }), out);
            }
        }
    }

    /// Position (mm) about which the equation of the crossings with a surface is centred, so that almost
    /// tangent lines have accurate roots.
    fn centred(&self, surface: &Surface) -> f64 {
        let center = match surface {
            Surface::Sphere { frame, .. } => (frame.origin - self.origin).dot(&self.dir),
            Surface::Cylinder { frame, .. } => {
                let (o, d) = (frame.local(&self.origin).xy(), frame.local_vector(&self.dir).xy());
                -o.dot(&d) / d.norm_squared()
            }
            Surface::Cone { frame, half_angle } => {
                let (o, d) = (frame.local(&self.origin), frame.local_vector(&self.dir));
                let k = math::tan(*half_angle);
                let product = |p: &V3, q: &V3| p.x * q.x + p.y * q.y - k * k * p.z * q.z;
                -product(&o, &d) / product(&d, &d)
            }
            _ => 0.0,
        };
        // NaN has no limit, either.
        if center.abs() <= MAX_CENTRING * self.body.size() { center } else { 0.0 }
    }

    /// Distance (mm) from the trims of a face within which its crossings are uncertain.
    fn margin(&self, f: FaceId) -> f64 {
        self.body.data(Feature::Face(f)).deviation + TRIM_MARGIN * self.tol.tol
    }

    /// Adds a crossing with the surface of a face at position `s` (mm), unless it is outside the trims.
    /// `off` (mm) is the distance of the line from the surface if that is uncertain, otherwise 0.
    fn add_crossing(&self, f: FaceId, uv: P2, (s, off): (f64, f64), out: &mut Vec<Crossing>) {
        let face = self.body.face(f);
        let d = face.surface.derivs(uv);
        let metric = [d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared()];
        let margin = self.margin(f);
        let is_near_trim = face.trim.nearest(uv, metric, margin).is_some();
        let is_inside_trims = face.trim.classify(uv) == Side::Inside;
        if !is_inside_trims && !is_near_trim {
            return;
        }
        let sine = outward_normal(face, uv).dot(&self.dir);
        // At a singular point of the surface, the normal can be NaN.
        let is_tangent = sine.is_nan() || sine.abs() < MIN_CERTAIN_SINE;
        let is_at_start = (s - self.start).abs() * sine.abs() <= self.tol.tol;
        let flat = sine.abs().max(MIN_CERTAIN_SINE);
        let reach = if is_near_trim {
            2.0 * margin / flat.max(0.1)
        } else if off > 0.0 || is_tangent || is_at_start {
            2.0 * off.max(self.tol.tol) / flat
        } else {
            0.0
        };
        out.push(Crossing { s, reach, face: f, uv, sine, is_inside_trims });
    }

    /// Adds the crossings with an area of a free-form face; `parts` counts the parts visited for the ray.
    fn cross_area(&self, f: FaceId, area: AreaId, parts: &mut u32, out: &mut Vec<Crossing>) {
        let cap = &self.body.tree()[self.body.leaf_of_area(area).index()].cap;
        let is_graph = cap.cos > 0.0 && cap.axis.dot(&self.dir).abs() > cap.sin + MIN_GRAPH_SINE;
        self.cross_part((f, &self.body.area(area).rect, is_graph), 0, parts, out);
    }

    /// Adds the crossings with the part of a free-form face over a rectangle. `is_graph` is whether the part
    /// is certainly a graph, seen along the ray, so that it has at most one crossing.
    fn cross_part(
        &self,
        (f, rect, is_graph): (FaceId, &Rect, bool),
        halvings: u32,
        parts: &mut u32,
        out: &mut Vec<Crossing>,
    ) {
        *parts += 1;
        let surface = &self.body.face(f).surface;
        let line = (&self.origin, &self.dir);
        if is_graph && let Some(crossing) = surface.graph_crossing(rect, line, self.tol.trim) {
            if let Some((uv, s)) = crossing {
                self.add_crossing(f, uv, (s, 0.0), out);
            }
            return;
        }
        if halvings >= MAX_HALVINGS || *parts >= MAX_PARTS {
            if let Some([from, to]) = self.range_in(&surface.bounds(rect), self.tol.tol) {
                let reach = 0.5 * (to - from) + self.tol.tol;
                let (uv, s) = (rect.center(), 0.5 * (from + to));
                out.push(Crossing { s, reach, face: f, uv, sine: f64::NAN, is_inside_trims: false });
            }
            return;
        }
        for half in surface.halves(rect) {
            let range = self.range_in(&surface.bounds(&half), self.tol.tol);
            if range.is_some_and(|[_, to]| to >= self.start - self.tol.tol) {
                let is_graph = surface.normal_cone(&half).is_some_and(|c| {
                    let to_axis = c.axis.dot(&self.dir).abs();
                    c.half_angle < MAX_GRAPH_ANGLE && to_axis > math::sin(c.half_angle) + MIN_GRAPH_SINE
                });
                self.cross_part((f, &half, is_graph), halvings + 1, parts, out);
            }
        }
    }

    /// Whether two crossings of one face have the same surface parameters, up to rounding.
    fn is_same(&self, a: &Crossing, b: &Crossing) -> bool {
        let trim = &self.body.face(a.face).trim;
        let near = |x: f64, y: f64, period: Option<f64>, width: f64| {
            let d = (x - y).abs();
            period.map_or(d, |p| (d % p).min(p - d % p)) <= SAME_PARAMETERS * width
        };
        near(a.uv.x, b.uv.x, trim.u_period, trim.rect.width())
            && near(a.uv.y, b.uv.y, trim.v_period, trim.rect.height())
            && (a.s - b.s).abs() <= a.reach.max(b.reach).max(self.tol.tol)
    }
}
