//! All local minima of the distance from a point to a solid.
//!
//! # Source
//! MATH §21: a place is a minimum when the point is in its polar and no motion along the boundary leads
//! closer. BREP §4.4 (trims and polars).
//!
//! # Guarantees
//! Closed forms on canonical surfaces, lines and circles; Newton's method from dense samples on others.
//! What is found depends on the point and the reach alone.

mod places;

pub use places::{Boundary, Place as NearPlace};

use crate::api::tolerance::Tolerances;
use crate::body::edge_normals::edge_normals;
use crate::body::samples::{CURVE_STEPS, GRID_POINTS, at};
use crate::body::{Body, outward_normal};
use crate::footpoint::polar::{Polar, test_vertex};
use crate::footpoint::touching::feasible;
use crate::footpoint::trim::span_at;
use crate::nearest::membership::{RayScratch, contains};
use crate::nearest::nearest_on_track;
use arrayvec::ArrayVec;
use feeler_geom::skeleton::signed_distance_value;
use feeler_geom::trim::Side;
use feeler_geom::{Curve, P2, P3, Rect, Surface, V3, math};
use feeler_hierarchy::{AreaId, EdgeId, FaceId, Feature, VertexId};
use places::{Place, polar_middle, spread};

/// A place of a solid's boundary that is nearer to a point than all places around it. The solid's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointMinimum {
    /// The place.
    pub point: P3,
    /// Unit vector from the material to the outside: towards the point, or away from it where that is inside.
    pub normal: V3,
    /// Distance (mm), negative where the point is inside the material.
    pub distance: f64,
    /// Principal curvatures of the solid at the place (1/mm), the larger one first, positive where it bulges
    /// outwards. Infinite across an edge, and both at a vertex; 0 on concave edges, which points inside are
    /// nearest to.
    pub curvatures: [f64; 2],
    /// The feature; of concave edges and tips one of the faces beside.
    pub feature: Feature,
    /// A number for the feature, the same wherever on it the place is. Of several minima on one free-form
    /// feature, and of the samples of a set, each has its own.
    pub id: u64,
    /// Whether it is one of few samples of a set of equally near places: from the axis of a bore, or the
    /// centre of a sphere.
    pub is_sample: bool,
}

/// Where a place is a minimum from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Outside,
    Inside,
}

#[derive(Clone, Copy, Debug)]
struct Found {
    minimum: PointMinimum,
    from: From,
    /// How far (mm) the model leaves the place open.
    slack: f64,
}

/// Asks for the minima of points; its room is kept from call to call.
#[derive(Debug, Default)]
pub struct PointMinima {
    stack: Vec<(f64, u32)>,
    near: Vec<u32>,
    found: Vec<Found>,
    minima: Vec<PointMinimum>,
    asked: Vec<u32>,
    rays: RayScratch,
}

/// What a query has told beside the minima.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Distance (mm) of the nearest place of the boundary; 0 where that is not known.
    pub distance: f64,
    /// Whether the point is inside the material.
    pub is_inside: bool,
}

/// Of a dimensionless second derivative of ½ distance²: below it places are equally near.
const SET: f64 = 1e-9;
/// Samples of a ring of equally near places.
const RING: usize = 4;
/// Samples of a sphere of equally near places.
const SEAT: usize = 6;
/// Parameters that are looked at for samples.
const LOOKS: usize = 48;
/// Steps of Newton's method.
const STEPS: usize = 30;
/// Share of the width of an area by which a foot may be beside it.
const BESIDE: f64 = 1e-6;
/// Normals that differ by less are one.
const SAME_NORMAL: f64 = 1e-2;
/// Part of the size by which `p − foot` of a converged foot may be off the normal.
const OFF: f64 = 1e-10;

/// Kinds of features in identities.
const KIND: u32 = 60;
/// Bits of the branch.
const BRANCH: u32 = 16;

fn id(kind: u64, feature: u32) -> u64 {
    kind << KIND | u64::from(feature) << BRANCH
}

/// The foot of a point on the surface of a face, also where that is beside the face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceFoot {
    /// Signed distance of the point (mm), positive outside.
    pub distance: f64,
    /// Its gradient: the outward unit normal.
    pub normal: V3,
    /// The foot.
    pub foot: P3,
    /// Its parameters.
    pub uv: P2,
}

/// Signed distance of a point from the surface of a face or of an area of one, the solid's frame; `None`
/// where there is no foot near the area, or no single one.
#[must_use]
pub fn surface_foot(boundary: &Boundary, place: Place, p: &P3) -> Option<SurfaceFoot> {
    let body = &**boundary.body();
    let (f, uv) = match place {
        Place::Face(f) => {
            let face = body.face(f);
            (f, face.surface.invert(p, None, Some(&face.trim.rect)))
        }
        Place::Patch(f, area) => {
            let rect = &body.area(area).rect;
            let [x, y] = body.grid_of(area).foot(p).params;
            (f, foot_from(&body.face(f).surface, rect, at(rect, x, y), p, (boundary.tol.size, 0.4))?)
        }
        _ => return None,
    };
    let face = body.face(f);
    let (foot, normal) = (face.surface.point(uv), outward_normal(face, uv));
    let w = p - foot;
    let distance = w.dot(&normal);
    ((w - normal * distance).norm() <= boundary.tol.trim).then_some(SurfaceFoot {
        distance,
        normal,
        foot,
        uv,
    })
}

/// The principal curvatures of a face at a foot (as of a [`PointMinimum`]) when the face holds it, and, of an
/// area of a face, when the area does.
#[must_use]
pub fn held_curvatures(boundary: &Boundary, place: Place, uv: P2) -> Option<[f64; 2]> {
    let body = &**boundary.body();
    let f = match place {
        Place::Face(f) => f,
        Place::Patch(f, area) => {
            let rect = &body.area(area).rect;
            let (wu, wv) = (BESIDE * rect.width(), BESIDE * rect.height());
            let is_own =
                rect.u0 - wu <= uv.x && uv.x <= rect.u1 + wu && rect.v0 - wv <= uv.y && uv.y <= rect.v1 + wv;
            if !is_own {
                return None;
            }
            f
        }
        _ => return None,
    };
    let ctx = Context { body: boundary.body(), places: boundary, p: P3::origin() };
    let face = body.face(f);
    ctx.holds(f, uv, || face.surface.metric(uv)).map(|_| curvatures(&face.surface, face.outward, uv))
}

/// Whether an outward unit direction is in the polar of an edge at its parameter `t`, and `t` in one of its
/// spans.
#[must_use]
pub fn is_in_edge_polar(boundary: &Boundary, e: EdgeId, t: f64, n: &V3) -> bool {
    let (body, tol) = (boundary.body(), &boundary.tol);
    span_at(body.edge(e), t, tol).is_some_and(|(_, t)| {
        edge_normals(body, e, t).is_some_and(|normals| normals.test(n, tol.angle, 0.0) == Polar::Exact)
    })
}

/// Whether an outward unit direction is in the polar of a vertex.
#[must_use]
pub fn is_in_vertex_polar(boundary: &Boundary, v: VertexId, n: &V3) -> bool {
    test_vertex(boundary.body().vertex(v), n, boundary.tol.angle, 0.0) == Polar::Exact
}

/// The number of minima on a feature, as [`PointMinimum::id`].
#[must_use]
pub fn feature_id(feature: Feature) -> u64 {
    match feature {
        Feature::Face(f) => id(0, f.0),
        Feature::Edge(e) => id(1, e.0),
        Feature::Vertex(v) => id(2, v.0),
    }
}

impl PointMinima {
    /// Nothing asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The minima of `p` (the solid's frame) within `reach` (mm), by increasing distance. The coordinates
    /// must be within the limits of [`Boundary::can_reach`]. For a point inside the material the nearest
    /// place of the boundary alone, however deep it is: the shortest way out.
    pub fn query(&mut self, boundary: &Boundary, p: &P3, reach: f64) -> &[PointMinimum] {
        let mut near = std::mem::take(&mut self.near);
        let radius = Self::least_radius(boundary, reach);
        self.places(boundary, p, radius, &mut near);
        self.solve(boundary, p, reach, radius, &near);
        self.near = near;
        &self.minima
    }

    /// What the last query has found.
    #[must_use]
    pub fn minima(&self) -> &[PointMinimum] {
        &self.minima
    }

    /// The numbers of all places with a part within `radius` (mm) of `p`: what [`PointMinima::solve`] needs
    /// for all points around it. Sorted.
    pub fn places(&mut self, boundary: &Boundary, p: &P3, radius: f64, out: &mut Vec<u32>) {
        boundary.within(p, radius, &mut self.stack, out);
    }

    /// The radius (mm) within which [`PointMinima::solve`] must know all places: a little more than the
    /// reach.
    #[must_use]
    pub fn least_radius(boundary: &Boundary, reach: f64) -> f64 {
        reach + 2.0 * boundary.slack
    }

    /// The minima of `p` within `reach`, given all places within `radius` of it, no less than
    /// [`PointMinima::least_radius`]. Looks beyond the radius only where these do not tell whether `p` is
    /// inside. What is found is the same for any such radius.
    pub fn solve(&mut self, boundary: &Boundary, p: &P3, reach: f64, radius: f64, near: &[u32]) -> Standing {
        self.found.clear();
        self.minima.clear();
        let ctx = Context { body: boundary.body(), places: boundary, p: *p };
        for &k in near {
            ctx.ask(boundary.list[k as usize], radius, &mut self.found);
        }
        let mut nearest = NearestSides::of(&self.found);
        // Of what is nearer than this, a place that is as near on the other side is known, too.
        if nearest.standing(boundary.slack).distance > radius - boundary.slack {
            nearest = self.look_farther(&ctx);
        }
        let standing = self.confirmed(&ctx, nearest);
        self.conclude(&ctx, standing, reach);
        standing
    }

    /// The distance of `p` from the boundary and its side, and nothing else.
    pub fn standing(&mut self, boundary: &Boundary, p: &P3) -> Standing {
        let ctx = Context { body: boundary.body(), places: boundary, p: *p };
        self.minima.clear();
        let nearest = self.look_farther(&ctx);
        self.confirmed(&ctx, nearest)
    }

    /// Inside only where rays do not say otherwise: of a point whose nearest place is lost in what the model
    /// leaves open between a face and its edges, nothing is told but that it is outside. Where a place in
    /// front and one behind are equally near, as at the end of a slit, rays alone tell the side.
    fn confirmed(&mut self, ctx: &Context<'_>, nearest: NearestSides) -> Standing {
        let slack = ctx.places.slack;
        let standing = nearest.standing(slack);
        let is_asked = standing.is_inside || (nearest.is_tied(slack) && !ctx.body.is_sheet());
        if !is_asked || standing.distance <= ctx.places.tol.tol {
            return standing;
        }
        match contains(ctx.body, &ctx.p, ctx.places.tol.trim, &mut self.rays) {
            Some(false) if standing.is_inside => Standing { distance: 0.0, is_inside: false },
            Some(true) => Standing { distance: nearest.inside, is_inside: true },
            _ => standing,
        }
    }

    /// The nearest place of all.
    fn look_farther(&mut self, ctx: &Context<'_>) -> NearestSides {
        self.found.clear();
        self.asked.clear();
        let (found, asked) = (&mut self.found, &mut self.asked);
        let mut limit = f64::INFINITY;
        ctx.places.nearest_first(&ctx.p, &mut self.stack, |place, _| {
            if !asked.contains(&place) {
                asked.push(place);
                let before = found.len();
                ctx.ask(ctx.places.list[place as usize], limit, found);
                for f in &found[before..] {
                    limit = limit.min(f.minimum.distance.abs() + ctx.places.slack);
                }
            }
            limit
        });
        NearestSides::of(found)
    }

    fn conclude(&mut self, ctx: &Context<'_>, standing: Standing, reach: f64) {
        let Self { found, minima, .. } = self;
        if standing.is_inside {
            let inside = found.iter().filter(|f| f.from == From::Inside).map(|f| f.minimum);
            let key = |m: &PointMinimum| m.distance.abs();
            minima.extend(inside.min_by(|a, b| key(a).total_cmp(&key(b)).then(a.id.cmp(&b.id))));
            return;
        }
        found.retain(|f| f.from == From::Outside && f.minimum.distance <= reach);
        // Faces before edges before vertices: what is found twice is told by the first.
        found.sort_by(|a, b| {
            a.minimum.id.cmp(&b.minimum.id).then(a.minimum.distance.total_cmp(&b.minimum.distance))
        });
        let same = ctx.places.tol.same;
        for i in 0..found.len() {
            let f = found[i];
            let is_known = found[..i].iter().any(|g| {
                let (a, b) = (&f.minimum, &g.minimum);
                let apart = same + f.slack + g.slack;
                let is_lower = !matches!(a.feature, Feature::Face(_));
                let is_at = is_lower && a.distance <= apart && b.distance <= apart;
                !(a.is_sample && b.is_sample)
                    && (a.point - b.point).norm() <= apart
                    && ((a.normal - b.normal).norm() <= SAME_NORMAL || is_at)
            });
            if !is_known {
                minima.push(f.minimum);
            }
        }
        // Sorted by identities, those of one feature are neighbours.
        let mut branch = 0;
        for i in 1..minima.len() {
            let is_next = !minima[i].is_sample && minima[i].feature == minima[i - 1].feature;
            branch = if is_next { branch + 1 } else { 0 };
            minima[i].id |= branch;
        }
        minima.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.id.cmp(&b.id)));
    }
}

/// Distances (mm) of the nearest places that are minima from outside and from inside; infinite: none.
#[derive(Clone, Copy, Debug)]
struct NearestSides {
    outside: f64,
    inside: f64,
}

impl NearestSides {
    fn of(found: &[Found]) -> Self {
        let nearest = |from: From| {
            let of = found.iter().filter(|f| f.from == from);
            of.map(|f| f.minimum.distance.abs()).fold(f64::INFINITY, f64::min)
        };
        Self { outside: nearest(From::Outside), inside: nearest(From::Inside) }
    }

    /// The nearest place tells the side: of a point outside it is a minimum from there.
    fn standing(self, slack: f64) -> Standing {
        let Self { outside, inside } = self;
        let is_inside = outside > inside + slack || (outside.is_infinite() && inside.is_finite());
        Standing { distance: if is_inside { inside } else { outside.min(inside) }, is_inside }
    }

    /// Neither is nearer by more than what the model leaves open.
    fn is_tied(self, slack: f64) -> bool {
        (self.outside - self.inside).abs() <= slack
    }
}

struct Context<'a> {
    body: &'a Body,
    places: &'a Boundary,
    p: P3,
}

impl Context<'_> {
    /// Adds the minima of one place that are within `radius`.
    fn ask(&self, place: Place, radius: f64, out: &mut Vec<Found>) {
        match place {
            Place::Face(f) => self.face(f, radius, out),
            Place::Patch(f, area) => self.patch(f, area, radius, out),
            Place::Edge(e) => self.edge(e, radius, out),
            Place::Curve(e, area) => self.curve(e, area, radius, out),
            Place::Vertex(v) => self.vertex(v, radius, out),
            Place::Border(arc) => {
                let arc = &self.body.edge_arcs().list[arc as usize];
                let ball = (arc.middle() - self.p).norm() - arc.radius();
                if ball <= radius {
                    let foot = nearest_on_track(self.body, arc, &self.p);
                    self.crease(arc.face, id(3, arc.piece.edge), foot, radius, out);
                }
            }
            Place::Tip(f, tip) => self.crease(f, id(4, f.0), tip, radius, out),
        }
    }

    fn crease(&self, face: FaceId, id: u64, foot: P3, radius: f64, out: &mut Vec<Found>) {
        let w = foot - self.p;
        let distance = w.norm();
        if distance > radius || distance <= 0.0 {
            return;
        }
        let minimum = PointMinimum {
            point: foot,
            normal: w / distance,
            distance: -distance,
            curvatures: [0.0; 2],
            feature: Feature::Face(face),
            id,
            is_sample: false,
        };
        out.push(Found { minimum, from: From::Inside, slack: self.places.slack });
    }

    fn tol(&self) -> &Tolerances {
        &self.places.tol
    }

    /// The deviation of the trim that parameters are on, 0 inside; `None`: not on the face.
    fn holds(&self, f: FaceId, uv: P2, metric: impl FnOnce() -> [f64; 3]) -> Option<f64> {
        let cells = &self.body.face(f).trim;
        if cells.classify(uv) == Side::Inside {
            return Some(0.0);
        }
        let slack = self.body.data(Feature::Face(f)).deviation + self.tol().trim;
        let (piece, _, off) = cells.nearest(uv, metric(), slack)?;
        let deviation = cells.pieces[piece].deviation;
        (off <= deviation + self.tol().trim).then_some(deviation)
    }

    fn face(&self, f: FaceId, radius: f64, out: &mut Vec<Found>) {
        let (face, p) = (self.body.face(f), self.p);
        if let Some((primitive, off)) = self.body.sphere_envelope(self.body.dense(Feature::Face(f)))
            && signed_distance_value(primitive, &p).is_some_and(|d| d.abs() - off > radius)
        {
            return;
        }
        let uv = face.surface.invert(&p, None, Some(&face.trim.rect));
        let (foot, du, dv) = face.surface.first_derivs(uv);
        let normal = outward_normal(face, uv);
        let w = p - foot;
        let distance = w.dot(&normal);
        if distance.abs() > radius || (w - normal * distance).norm() > self.tol().trim {
            return;
        }
        let curvatures = curvatures(&face.surface, face.outward, uv);
        let lambda = 1.0 + if distance > 0.0 { curvatures[1] } else { curvatures[0] } * distance;
        if lambda.is_nan() || lambda < -SET {
            return;
        }
        if lambda <= SET {
            self.set(f, uv, distance, out);
            return;
        }
        let metric = || [du.norm_squared(), du.dot(&dv), dv.norm_squared()];
        if let Some(slack) = self.holds(f, uv, metric) {
            out.push(self.on_face(f, (foot, normal, distance), curvatures, slack));
        }
    }

    fn on_face(&self, f: FaceId, foot: (P3, V3, f64), curvatures: [f64; 2], slack: f64) -> Found {
        let (point, normal, distance) = foot;
        let minimum = PointMinimum {
            point,
            normal,
            distance,
            curvatures,
            feature: Feature::Face(f),
            id: id(0, f.0),
            is_sample: false,
        };
        Found { minimum, from: if distance < 0.0 { From::Inside } else { From::Outside }, slack }
    }

    /// Samples of the places of a face that are as near as the one at `uv`.
    fn set(&self, f: FaceId, uv: P2, distance: f64, out: &mut Vec<Found>) {
        let face = self.body.face(f);
        let rect = &face.trim.rect;
        let mut inside: ArrayVec<P2, LOOKS> = ArrayVec::new();
        let mut offer = |uv: P2| {
            if face.trim.classify(uv) == Side::Inside {
                inside.push(uv);
            }
        };
        let along = |lo: f64, hi: f64, i: usize| lo + (hi - lo) * (i as f64 + 0.5) / LOOKS as f64;
        let is_round = match face.surface {
            Surface::Sphere { .. } => true,
            Surface::Torus { minor, .. } => {
                // About the tube's circle, or about the axis.
                let around_tube = (distance.abs() - minor).abs() <= SET * minor;
                for i in 0..LOOKS {
                    offer(if around_tube {
                        P2::new(uv.x, along(rect.v0, rect.v1, i))
                    } else {
                        P2::new(along(rect.u0, rect.u1, i), uv.y)
                    });
                }
                false
            }
            _ => {
                for i in 0..LOOKS {
                    offer(P2::new(along(rect.u0, rect.u1, i), uv.y));
                }
                false
            }
        };
        let samples: ArrayVec<P2, SEAT> = if is_round {
            let quarter = std::f64::consts::FRAC_PI_2;
            for v in [-0.999, 0.0, 0.999] {
                let n = if v == 0.0 { 4 } else { 1 };
                for i in 0..n {
                    offer(P2::new(rect.u0 + f64::from(i) * quarter + 1e-3, v * quarter));
                }
            }
            if inside.is_empty() {
                face.trim.sample_inside(rect).into_iter().collect()
            } else {
                spread::<SEAT>(&inside)
            }
        } else {
            spread::<RING>(&inside).into_iter().collect()
        };
        for (k, &uv) in samples.iter().enumerate() {
            let (foot, normal) = (face.surface.point(uv), outward_normal(face, uv));
            let distance = (self.p - foot).dot(&normal);
            let mut found =
                self.on_face(f, (foot, normal, distance), curvatures(&face.surface, face.outward, uv), 0.0);
            found.minimum.is_sample = true;
            found.minimum.id |= 1 + k as u64;
            out.push(found);
        }
    }

    fn patch(&self, f: FaceId, area: AreaId, radius: f64, out: &mut Vec<Found>) {
        let (body, p) = (self.body, self.p);
        let face = body.face(f);
        let rect = &body.area(area).rect;
        let grid = body.grid_of(area);
        let mut slopes = [[0.0; 2]; GRID_POINTS];
        for (k, q) in grid.points().iter().enumerate() {
            slopes[k] = grid.slopes(k, &(q - p));
        }
        let nearest = grid.foot(&p).params;
        let first = out.len();
        for [x, y] in grid.cells_with_minimum(&slopes).chain([nearest]) {
            let Some(uv) = foot_from(&face.surface, rect, at(rect, x, y), &p, (self.tol().size, BESIDE))
            else {
                continue;
            };
            let d = face.surface.derivs(uv);
            let normal = outward_normal(face, uv);
            let w = p - d.p;
            let distance = w.dot(&normal);
            if distance.abs() > radius
                || out[first..].iter().any(|g| (g.minimum.point - d.p).norm() <= self.tol().same)
            {
                continue;
            }
            let curvatures = curvatures(&face.surface, face.outward, uv);
            let lambda = 1.0 + if distance > 0.0 { curvatures[1] } else { curvatures[0] } * distance;
            if lambda.is_nan() || lambda < -SET {
                continue;
            }
            let metric = || [d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared()];
            if let Some(slack) = self.holds(f, uv, metric) {
                out.push(self.on_face(f, (d.p, normal, distance), curvatures, slack));
            }
        }
    }

    fn edge(&self, e: EdgeId, radius: f64, out: &mut Vec<Found>) {
        let edge = self.body.edge(e);
        let t = match &edge.curve {
            Curve::Line { origin, dir } => dir.dot(&(self.p - origin)),
            Curve::Circle { frame, radius: r } => {
                let q = frame.local(&self.p);
                if math::hypot(q.x, q.y) <= SET * r {
                    self.ring(e, radius, out);
                    return;
                }
                math::atan2(q.y, q.x)
            }
            _ => return,
        };
        self.at_edge(e, t, radius, out);
    }

    /// Samples of a circle from a point of its axis.
    fn ring(&self, e: EdgeId, radius: f64, out: &mut Vec<Found>) {
        let edge = self.body.edge(e);
        let mut inside: ArrayVec<P2, LOOKS> = ArrayVec::new();
        let (lo, hi) = edge
            .spans
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), s| (lo.min(s.t0), hi.max(s.t1)));
        for i in 0..LOOKS {
            let t = lo + (hi - lo) * (i as f64 + 0.5) / LOOKS as f64;
            if edge.spans.iter().any(|s| s.t0 <= t && t <= s.t1) {
                inside.push(P2::new(t, 0.0));
            }
        }
        for (k, uv) in spread::<RING>(&inside).iter().enumerate() {
            let before = out.len();
            self.at_edge(e, uv.x, radius, out);
            for found in &mut out[before..] {
                found.minimum.is_sample = true;
                found.minimum.id |= 1 + k as u64;
            }
        }
    }

    /// The place at parameter `t` of an edge, where its tangent is across `p`.
    fn at_edge(&self, e: EdgeId, t: f64, radius: f64, out: &mut Vec<Found>) {
        let edge = self.body.edge(e);
        let d = edge.curve.derivs(t);
        let w = self.p - d.p;
        let distance = w.norm();
        if distance > radius {
            return;
        }
        let speed_sq = d.d1.norm_squared();
        let is_minimum = speed_sq - w.dot(&d.d2) > -SET * speed_sq;
        let Some((span, t)) = span_at(edge, t, self.tol()).filter(|_| is_minimum) else { return };
        // On the edge itself any direction of its polar is normal.
        let normal = if distance <= self.tol().eps {
            polar_middle(self.body, e, t)
        } else {
            let n = w / distance;
            edge_normals(self.body, e, t)
                .filter(|normals| normals.test(&n, self.tol().angle, 0.0) == Polar::Exact)
                .map(|_| n)
        };
        let Some(normal) = normal else { return };
        let along = -d.d2.dot(&normal) / speed_sq;
        let minimum = PointMinimum {
            point: d.p,
            normal,
            distance,
            curvatures: [f64::INFINITY, if along.is_finite() { along } else { 0.0 }],
            feature: Feature::Edge(e),
            id: id(1, e.0),
            is_sample: false,
        };
        out.push(Found { minimum, from: From::Outside, slack: edge.spans[span].deviation });
    }

    fn curve(&self, e: EdgeId, area: AreaId, radius: f64, out: &mut Vec<Found>) {
        let curve = &self.body.edge(e).curve;
        let rect = &self.body.area(area).rect;
        let samples = self.body.curve_samples_of(area);
        let step = rect.width() / CURVE_STEPS as f64;
        let slope = |i: usize| (samples[i].p - self.p).dot(&samples[i].d1);
        let mut before = slope(0);
        for i in 0..CURVE_STEPS {
            let after = slope(i + 1);
            if before <= 0.0 && after >= 0.0 {
                let (lo, hi) = (rect.u0 + step * i as f64, rect.u0 + step * (i + 1) as f64);
                self.at_edge(e, foot_between(curve, &self.p, lo, hi), radius, out);
            }
            before = after;
        }
    }

    /// Whether no edge that is across the direction `n` to the point at its end in a vertex leads closer:
    /// there the polar tells nothing, and the second derivative all.
    fn is_end_minimum(&self, v: VertexId, n: &V3, distance: f64) -> bool {
        // Most directions are well within the polar.
        let slack = self.tol().angle;
        let is_across = |u: &V3| n.dot(u) >= -slack * u.norm();
        if !self.body.vertex(v).constraints.iter().any(is_across) {
            return true;
        }
        self.places.ends_at(v).iter().all(|&(_, e, t)| {
            let d = self.body.edge(e).curve.derivs(t);
            let speed_sq = d.d1.norm_squared();
            let bend = speed_sq - distance * n.dot(&d.d2);
            n.dot(&d.d1).abs() > slack * speed_sq.sqrt() || bend > -SET * speed_sq
        })
    }

    fn vertex(&self, v: VertexId, radius: f64, out: &mut Vec<Found>) {
        let vertex = self.body.vertex(v);
        let w = self.p - vertex.point;
        let distance = w.norm();
        if distance > radius {
            return;
        }
        let normal = if distance <= self.tol().eps {
            feasible(&vertex.constraints)
        } else {
            let n = w / distance;
            let is_in_polar = test_vertex(vertex, &n, self.tol().angle, 0.0) == Polar::Exact;
            (is_in_polar && self.is_end_minimum(v, &n, distance)).then_some(n)
        };
        let Some(normal) = normal else { return };
        let minimum = PointMinimum {
            point: vertex.point,
            normal,
            distance,
            curvatures: [f64::INFINITY; 2],
            feature: Feature::Vertex(v),
            id: id(2, v.0),
            is_sample: false,
        };
        out.push(Found { minimum, from: From::Outside, slack: vertex.deviation });
    }
}

/// Principal curvatures against the outward normal, the larger one first.
fn curvatures(surface: &Surface, outward: bool, uv: P2) -> [f64; 2] {
    let [small, large] = surface.curvatures(uv);
    if outward { [large, small] } else { [-small, -large] }
}

/// Parameters near an area, from `start`, whose point has `p` on its normal: Newton's method in the squared
/// distance. Stops after [`STEPS`], and gives nothing that is not a foot to [`OFF`] of the size, nor one that
/// is farther beside the area than a share of its width.
fn foot_from(surface: &Surface, rect: &Rect, start: P2, p: &P3, (size, beside): (f64, f64)) -> Option<P2> {
    let (wu, wv) = (rect.width(), rect.height());
    let domain = surface.natural_domain();
    let wide = |lo: f64, hi: f64, w: f64, from: f64, to: f64, period: Option<f64>| {
        if period.is_some() { (lo - w, hi + w) } else { ((lo - w).max(from), (hi + w).min(to)) }
    };
    let (u0, u1) = wide(rect.u0, rect.u1, 0.5 * wu, domain.u0, domain.u1, surface.u_period());
    let (v0, v1) = wide(rect.v0, rect.v1, 0.5 * wv, domain.v0, domain.v1, surface.v_period());
    let mut uv = start;
    for _ in 0..STEPS {
        let d = surface.derivs(uv);
        let off = d.p - p;
        let (gu, gv) = (off.dot(&d.du), off.dot(&d.dv));
        let (a, b, c) = (d.du.norm_squared(), d.du.dot(&d.dv), d.dv.norm_squared());
        let (fa, fb, fc) = (a + off.dot(&d.duu), b + off.dot(&d.duv), c + off.dot(&d.dvv));
        let is_convex = fa > 0.0 && fa * fc > fb * fb;
        let (a, b, c) = if is_convex { (fa, fb, fc) } else { (a, b, c) };
        let det = a * c - b * b;
        let step = [(b * gv - c * gu) / det, (b * gu - a * gv) / det];
        if !step.iter().all(|s| s.is_finite()) {
            break;
        }
        let next = P2::new((uv.x + step[0]).clamp(u0, u1), (uv.y + step[1]).clamp(v0, v1));
        let is_still = (next.x - uv.x).abs() <= 1e-14 * wu && (next.y - uv.y).abs() <= 1e-14 * wv;
        uv = next;
        if is_still {
            break;
        }
    }
    let is_own = uv.x >= rect.u0 - beside * wu
        && uv.x <= rect.u1 + beside * wu
        && uv.y >= rect.v0 - beside * wv
        && uv.y <= rect.v1 + beside * wv;
    let w = p - surface.point(uv);
    let normal = surface.normal(uv);
    let off = (w - normal * w.dot(&normal)).norm();
    (is_own && off <= OFF * (size + w.norm())).then_some(uv)
}

/// The parameter of a foot of `p` on a curve between two parameters with slopes towards each other: Newton's
/// method in a bracket, to rounding.
fn foot_between(curve: &Curve, p: &P3, mut lo: f64, mut hi: f64) -> f64 {
    let mut t = 0.5 * (lo + hi);
    for _ in 0..80 {
        let d = curve.derivs(t);
        let off = d.p - p;
        let (g, h) = (off.dot(&d.d1), d.d1.norm_squared() + off.dot(&d.d2));
        if g > 0.0 {
            hi = t;
        } else {
            lo = t;
        }
        let newton = t - g / h;
        let next = if h > 0.0 && lo <= newton && newton <= hi { newton } else { 0.5 * (lo + hi) };
        let is_still = (next - t).abs() <= 2.0 * f64::EPSILON * t.abs().max(hi - lo);
        t = next;
        if is_still {
            break;
        }
    }
    t
}
