//! All local minima of the distance from a point to a solid.
//!
//! # Source
//! MATH §21: a boundary point is a minimum if the direction to the given point is in its polar and no
//! small motion along the boundary leads closer to the given point. BREP §4.4 (trims and polars).
//!
//! # Guarantees
//! Minima on canonical surfaces, lines and circles have closed forms. Newton's method from dense samples
//! finds those on other geometry. The result depends on the point and the reach of the query only, not
//! on earlier queries.

mod places;

pub use places::{Boundary, BoundaryPart as NearPart};

use crate::api::tolerance::Tolerances;
use crate::body::edge_normals::edge_normals;
use crate::body::samples::{CURVE_STEPS, GRID_POINTS, at};
use crate::body::{Body, outward_normal};
use crate::footpoint::polar::{Polar, test_vertex};
use crate::footpoint::touching::feasible;
use crate::footpoint::trim::span_at;
use crate::nearest::membership::{RayScratch, contains};
use crate::nearest::nearest_on_arc;
use arrayvec::ArrayVec;
use feeler_geom::skeleton::signed_distance_value;
use feeler_geom::trim::Side;
use feeler_geom::{Curve, P2, P3, Rect, Surface, V3, math};
use feeler_hierarchy::{AreaId, EdgeId, FaceId, Feature, VertexId};
use places::{BoundaryPart, polar_middle, spread};

/// A boundary point of a solid that is nearer to a given point than all boundary points around it, in the
/// frame of the solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointMinimum {
    /// The boundary point, in the frame of the solid.
    pub point: P3,
    /// Outward unit normal at `point`. It points towards the given point, or away from it if the given
    /// point is inside the material.
    pub normal: V3,
    /// Distance (mm) of the given point from `point`, negative if the given point is inside the material.
    pub distance: f64,
    /// Principal curvatures of the solid at the boundary point (1/mm), the larger one first, positive
    /// where the solid is convex. The larger one is infinite on edges, and both are infinite at
    /// vertices. On concave edges and tips, which are minima only for points inside the material, both
    /// are set to 0.
    pub curvatures: [f64; 2],
    /// Feature that contains `point`; for concave edges and tips, an adjacent face.
    pub feature: Feature,
    /// Identity of the minimum, which is constant as the minimum moves on its feature. Several minima on
    /// one free-form feature have different identities, as have the samples of a set.
    pub id: u64,
    /// Whether the minimum is one of a few samples of a set of equally near boundary points. Such a set
    /// exists for a point on the axis of a bore or in the centre of a sphere.
    pub is_sample: bool,
}

/// Side of the boundary from which a boundary point is a minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ApproachSide {
    Outside,
    Inside,
}

#[derive(Clone, Copy, Debug)]
struct Found {
    minimum: PointMinimum,
    from: ApproachSide,
    /// Deviation (mm) of the trim or edge at the boundary point, within which the point is uncertain.
    slack: f64,
}

/// Computes the minima of the distance from points to a solid. Memory is reused between calls.
#[derive(Debug, Default)]
pub struct PointMinima {
    stack: Vec<(f64, u32)>,
    near: Vec<u32>,
    found: Vec<Found>,
    minima: Vec<PointMinimum>,
    tested: Vec<u32>,
    rays: RayScratch,
}

/// Distance of a point from the boundary of a solid, and its side: a result of a query in addition to
/// the minima.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointPosition {
    /// Distance (mm) of the given point from the nearest boundary point; 0 if it is unknown.
    pub distance: f64,
    /// Whether the given point is inside the material.
    pub is_inside: bool,
}

/// Dimensionless second derivative of half the squared distance up to which neighbouring boundary points
/// count as equally near. With a larger value, minima near axes become samples; with a smaller one, sets
/// on axes are lost.
const MIN_SECOND_DERIVATIVE: f64 = 1e-9;
/// Number of samples of a circle of equally near points. More of them cost more; with fewer, the set is
/// described less accurately.
const RING_SAMPLES: usize = 4;
/// Number of samples of a sphere of equally near points. More of them cost more; with fewer, the set is
/// described less accurately.
const SPHERE_SAMPLES: usize = 6;
/// Number of points of a circle of equally near points that are tested against the trims of the face or
/// the spans of the edge; the samples are selected from those inside. A larger value costs more; with a
/// smaller one, narrow parts of a face have no samples.
const SAMPLE_CANDIDATES: usize = 48;
/// Maximum number of steps of Newton's method. More of them cost more; with fewer, footpoints are lost.
const MAX_NEWTON_STEPS: usize = 30;
/// Distance outside an area, in widths of its parameter rectangle, up to which a footpoint belongs to
/// it. With a larger value, minima are found twice and merged; with a smaller one, footpoints between
/// areas are lost.
const MAX_OUTSIDE_AREA: f64 = 1e-6;
/// Difference of unit normals up to which coincident minima are the same. With a larger value, contacts of
/// concave corners merge; with a smaller one, minima are reported twice.
const MAX_NORMAL_DIFFERENCE: f64 = 1e-2;
/// Largest distance of the given point from the normal line at a converged footpoint, as a fraction of
/// the size. A larger value accepts points that are not footpoints; with a smaller one, footpoints are
/// lost.
const MAX_FOOT_ERROR: f64 = 1e-10;

/// Position of the lowest bit of the kind in identities ([`PointMinimum::id`]): 0 for a face, 1 for an
/// edge, 2 for a vertex, 3 for an arc at a concave edge, 4 for a tip. The bits below contain an index,
/// then the branch. It is the index of the face, edge or vertex, of the edge of the arc's trim, or of
/// the face with the tip.
const KIND_SHIFT: u32 = 60;
/// Number of the lowest bits of an identity ([`PointMinimum::id`]), which contain the branch: a number
/// that distinguishes the minima of one point on one feature of the solid. At most 2¹⁶ such minima have
/// different identities, with a smaller value fewer; more than 28 bits would leave too few for the
/// index.
const BRANCH_BITS: u32 = 16;

fn id(kind: u64, feature: u32) -> u64 {
    kind << KIND_SHIFT | u64::from(feature) << BRANCH_BITS
}

/// Footpoint of a point on the surface of a face, whether or not it is inside the trims. Points are in
/// the frame of the solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceFoot {
    /// Signed distance (mm) of the given point from the surface, positive outside the material.
    pub distance: f64,
    /// Outward unit normal of the surface at `foot`, which is the gradient of the signed distance.
    pub normal: V3,
    /// Footpoint: the given point lies on the normal of the surface there.
    pub foot: P3,
    /// Parameters of `foot` on the surface.
    pub uv: P2,
}

/// Footpoint of `p` (frame of the solid) on the surface of a face, or near an area of a face, with the
/// signed distance. Returns `None` if no footpoint was found, and if `place` is not a face or an area of
/// a face.
#[must_use]
pub fn surface_foot(boundary: &Boundary, place: BoundaryPart, p: &P3) -> Option<SurfaceFoot> {
    let body = &**boundary.body();
    let (f, uv) = match place {
        BoundaryPart::Face(f) => {
            let face = body.face(f);
            (f, face.surface.invert(p, None, Some(&face.trim.rect)))
        }
        BoundaryPart::Patch(f, area) => {
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

/// Principal curvatures (1/mm) of a face at the parameters `uv`, with the order and sign of
/// [`PointMinimum::curvatures`]. Returns `None` if the parameters are outside the trims, or outside the
/// area if `place` is an area of a face, and if `place` is neither a face nor such an area.
#[must_use]
pub fn held_curvatures(boundary: &Boundary, place: BoundaryPart, uv: P2) -> Option<[f64; 2]> {
    let body = &**boundary.body();
    let f = match place {
        BoundaryPart::Face(f) => f,
        BoundaryPart::Patch(f, area) => {
            let rect = &body.area(area).rect;
            let (wu, wv) = (MAX_OUTSIDE_AREA * rect.width(), MAX_OUTSIDE_AREA * rect.height());
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

/// Whether the outward unit direction `n` (frame of the solid) is in the polar of an edge at its
/// parameter `t`, and `t` is in one of the spans of the edge.
#[must_use]
pub fn is_in_edge_polar(boundary: &Boundary, e: EdgeId, t: f64, n: &V3) -> bool {
    let (body, tol) = (boundary.body(), &boundary.tol);
    span_at(body.edge(e), t, tol).is_some_and(|(_, t)| {
        edge_normals(body, e, t).is_some_and(|normals| normals.test(n, tol.angle, 0.0) == Polar::Exact)
    })
}

/// Whether the outward unit direction `n` (frame of the solid) is in the polar of a vertex.
#[must_use]
pub fn is_in_vertex_polar(boundary: &Boundary, v: VertexId, n: &V3) -> bool {
    test_vertex(boundary.body().vertex(v), n, boundary.tol.angle, 0.0) == Polar::Exact
}

/// Common part of the identities ([`PointMinimum::id`]) of all minima on a feature: the identity with
/// branch 0.
#[must_use]
pub fn feature_id(feature: Feature) -> u64 {
    match feature {
        Feature::Face(f) => id(0, f.0),
        Feature::Edge(e) => id(1, e.0),
        Feature::Vertex(v) => id(2, v.0),
    }
}

impl PointMinima {
    /// Creates a query object; memory is allocated at the first call.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Computes the minima of the distance from `p` (frame of the solid) within `reach` (mm), by
    /// increasing distance. For a point inside the material, the result is only the nearest boundary
    /// point (the shortest way out), even beyond `reach`. [`Boundary::can_reach`] must accept the
    /// coordinates of `p`.
    pub fn query(&mut self, boundary: &Boundary, p: &P3, reach: f64) -> &[PointMinimum] {
        let mut near = std::mem::take(&mut self.near);
        let radius = Self::required_radius(boundary, reach);
        self.places(boundary, p, radius, &mut near);
        self.solve(boundary, p, reach, radius, &near);
        self.near = near;
        &self.minima
    }

    /// Minima that the previous call of [`PointMinima::query`] or [`PointMinima::solve`] has found.
    #[must_use]
    pub fn minima(&self) -> &[PointMinimum] {
        &self.minima
    }

    /// Writes to `out` the sorted numbers of the parts of the boundary ([`Boundary::place`]) whose boxes
    /// are within `radius` (mm) of `p` (frame of the solid). [`PointMinima::solve`] takes them for any
    /// point, with a radius that is smaller by its distance from `p`.
    pub fn places(&mut self, boundary: &Boundary, p: &P3, radius: f64, out: &mut Vec<u32>) {
        boundary.within(p, radius, &mut self.stack, out);
    }

    /// Smallest radius (mm) around a point within which [`PointMinima::solve`] needs all parts of the
    /// boundary. It slightly exceeds `reach` (mm).
    #[must_use]
    pub fn required_radius(boundary: &Boundary, reach: f64) -> f64 {
        reach + 2.0 * boundary.slack
    }

    /// Computes the minima of `p` (frame of the solid) within `reach` (mm). `near` contains the numbers
    /// of all parts of the boundary within `radius` (mm) of `p` ([`PointMinima::places`]); the radius
    /// must be at least [`PointMinima::required_radius`]. Other parts are searched only if these do not
    /// determine whether `p` is inside. The result is the same for every such radius. Returns the
    /// distance of `p` from the boundary and its side; [`PointMinima::minima`] returns the minima.
    pub fn solve(
        &mut self,
        boundary: &Boundary,
        p: &P3,
        reach: f64,
        radius: f64,
        near: &[u32],
    ) -> PointPosition {
        self.found.clear();
        self.minima.clear();
        let ctx = Context { body: boundary.body(), places: boundary, p: *p };
        for &k in near {
            ctx.add_minima(boundary.list[k as usize], radius, &mut self.found);
        }
        let mut nearest = NearestSides::of(&self.found);
        // If the nearest point is closer than this distance, `near` also contains any equally near point
        // of the other side.
        if nearest.position(boundary.slack).distance > radius - boundary.slack {
            nearest = self.search_nearest(&ctx);
        }
        let position = self.confirmed(&ctx, nearest);
        self.select(&ctx, position, reach);
        position
    }

    /// Computes only the distance of `p` (frame of the solid) from the boundary, and its side. The list
    /// of minima is cleared.
    pub fn position(&mut self, boundary: &Boundary, p: &P3) -> PointPosition {
        let ctx = Context { body: boundary.body(), places: boundary, p: *p };
        self.minima.clear();
        let nearest = self.search_nearest(&ctx);
        self.confirmed(&ctx, nearest)
    }

    /// Confirms by rays the side that the nearest boundary points indicate. A point is inside only if no
    /// ray contradicts this: if the nearest boundary point is lost in the gap between a face and its edges,
    /// the point is reported as outside, with the distance 0. If a minimum from outside and one from inside
    /// are equally near, as at the end of a slit, only rays determine the side.
    fn confirmed(&mut self, ctx: &Context<'_>, nearest: NearestSides) -> PointPosition {
        let slack = ctx.places.slack;
        let position = nearest.position(slack);
        let needs_rays = position.is_inside || (nearest.is_tied(slack) && !ctx.body.is_sheet());
        if !needs_rays || position.distance <= ctx.places.tol.tol {
            return position;
        }
        match contains(ctx.body, &ctx.p, ctx.places.tol.trim, &mut self.rays) {
            Some(false) if position.is_inside => PointPosition { distance: 0.0, is_inside: false },
            Some(true) => PointPosition { distance: nearest.inside, is_inside: true },
            _ => position,
        }
    }

    /// Searches the whole boundary for the minima nearest to the given point, without a limit of the
    /// distance.
    fn search_nearest(&mut self, ctx: &Context<'_>) -> NearestSides {
        self.found.clear();
        self.tested.clear();
        let (found, tested) = (&mut self.found, &mut self.tested);
        let mut limit = f64::INFINITY;
        ctx.places.nearest_first(&ctx.p, &mut self.stack, |place, _| {
            if !tested.contains(&place) {
                tested.push(place);
                let before = found.len();
                ctx.add_minima(ctx.places.list[place as usize], limit, found);
                for f in &found[before..] {
                    limit = limit.min(f.minimum.distance.abs() + ctx.places.slack);
                }
            }
            limit
        });
        NearestSides::of(found)
    }

    fn select(&mut self, ctx: &Context<'_>, position: PointPosition, reach: f64) {
        let Self { found, minima, .. } = self;
        if position.is_inside {
            let inside = found.iter().filter(|f| f.from == ApproachSide::Inside).map(|f| f.minimum);
            let key = |m: &PointMinimum| m.distance.abs();
            minima.extend(inside.min_by(|a, b| key(a).total_cmp(&key(b)).then(a.id.cmp(&b.id))));
            return;
        }
        found.retain(|f| f.from == ApproachSide::Outside && f.minimum.distance <= reach);
        // Faces come before edges, and edges before vertices. Of a minimum that is found several times, the
        // first is kept.
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
                    && ((a.normal - b.normal).norm() <= MAX_NORMAL_DIFFERENCE || is_at)
            });
            if !is_known {
                minima.push(f.minimum);
            }
        }
        // Sorted by identity, so minima of one feature are adjacent.
        let mut branch = 0;
        for i in 1..minima.len() {
            let is_next = !minima[i].is_sample && minima[i].feature == minima[i - 1].feature;
            branch = if is_next { branch + 1 } else { 0 };
            minima[i].id |= branch;
        }
        minima.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.id.cmp(&b.id)));
    }
}

/// Distances (mm) of one point from the nearest minimum of [`ApproachSide::Outside`] and from the nearest
/// one of [`ApproachSide::Inside`]; infinite if no such minimum was found. The smaller distance determines
/// the side on which the point lies.
#[derive(Clone, Copy, Debug)]
struct NearestSides {
    outside: f64,
    inside: f64,
}

impl NearestSides {
    fn of(found: &[Found]) -> Self {
        let nearest = |from: ApproachSide| {
            let of = found.iter().filter(|f| f.from == from);
            of.map(|f| f.minimum.distance.abs()).fold(f64::INFINITY, f64::min)
        };
        Self { outside: nearest(ApproachSide::Outside), inside: nearest(ApproachSide::Inside) }
    }

    /// Distance and side that follow from the nearest boundary point: the point is inside if the nearest
    /// minimum from inside is nearer than that from outside by more than `slack` (mm), the uncertainty
    /// of the distances.
    fn position(self, slack: f64) -> PointPosition {
        let Self { outside, inside } = self;
        let is_inside = outside > inside + slack || (outside.is_infinite() && inside.is_finite());
        PointPosition { distance: if is_inside { inside } else { outside.min(inside) }, is_inside }
    }

    /// Whether the two distances differ by at most `slack` (mm), the uncertainty of the model, so that
    /// they do not determine the side.
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
    /// Adds the minima of the distance from the given point that lie on one part of the boundary, within
    /// `radius` (mm) of the point.
    fn add_minima(&self, place: BoundaryPart, radius: f64, out: &mut Vec<Found>) {
        match place {
            BoundaryPart::Face(f) => self.face(f, radius, out),
            BoundaryPart::Patch(f, area) => self.patch(f, area, radius, out),
            BoundaryPart::Edge(e) => self.edge(e, radius, out),
            BoundaryPart::Curve(e, area) => self.curve(e, area, radius, out),
            BoundaryPart::Vertex(v) => self.vertex(v, radius, out),
            BoundaryPart::Border(arc) => {
                let arc = &self.body.edge_arcs().list[arc as usize];
                let ball = (arc.middle() - self.p).norm() - arc.radius();
                if ball <= radius {
                    let foot = nearest_on_arc(self.body, arc, &self.p);
                    self.crease(arc.face, id(3, arc.piece.edge), foot, radius, out);
                }
            }
            BoundaryPart::Tip(f, tip) => self.crease(f, id(4, f.0), tip, radius, out),
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
        out.push(Found { minimum, from: ApproachSide::Inside, slack: self.places.slack });
    }

    fn tol(&self) -> &Tolerances {
        &self.places.tol
    }

    /// Deviation (mm) of the trim on which the parameters `uv` lie; 0 in the interior, and `None`
    /// outside the trims. `metric` returns the first fundamental form at `uv`.
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
        if lambda.is_nan() || lambda < -MIN_SECOND_DERIVATIVE {
            return;
        }
        if lambda <= MIN_SECOND_DERIVATIVE {
            self.add_set_samples(f, uv, distance, out);
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
        Found {
            minimum,
            from: if distance < 0.0 { ApproachSide::Inside } else { ApproachSide::Outside },
            slack,
        }
    }

    /// Adds samples of a circle or sphere of equally near points of the face `f`, for example for a point on
    /// the axis of a cylinder. `uv` is one of these points; `distance` (mm) is their signed distance from the
    /// queried point.
    fn add_set_samples(&self, f: FaceId, uv: P2, distance: f64, out: &mut Vec<Found>) {
        let face = self.body.face(f);
        let rect = &face.trim.rect;
        let mut inside: ArrayVec<P2, SAMPLE_CANDIDATES> = ArrayVec::new();
        let mut offer = |uv: P2| {
            if face.trim.classify(uv) == Side::Inside {
                inside.push(uv);
            }
        };
        let along = |lo: f64, hi: f64, i: usize| lo + (hi - lo) * (i as f64 + 0.5) / SAMPLE_CANDIDATES as f64;
        let is_round = match face.surface {
            Surface::Sphere { .. } => true,
            Surface::Torus { minor, .. } => {
                // The set is a circle of the tube, or a circle around the axis.
                let around_tube = (distance.abs() - minor).abs() <= MIN_SECOND_DERIVATIVE * minor;
                for i in 0..SAMPLE_CANDIDATES {
                    offer(if around_tube {
                        P2::new(uv.x, along(rect.v0, rect.v1, i))
                    } else {
                        P2::new(along(rect.u0, rect.u1, i), uv.y)
                    });
                }
                false
            }
            _ => {
                for i in 0..SAMPLE_CANDIDATES {
                    offer(P2::new(along(rect.u0, rect.u1, i), uv.y));
                }
                false
            }
        };
        let samples: ArrayVec<P2, SPHERE_SAMPLES> = if is_round {
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
                spread::<SPHERE_SAMPLES>(&inside)
            }
        } else {
            spread::<RING_SAMPLES>(&inside).into_iter().collect()
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
            let Some(uv) =
                foot_from(&face.surface, rect, at(rect, x, y), &p, (self.tol().size, MAX_OUTSIDE_AREA))
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
            if lambda.is_nan() || lambda < -MIN_SECOND_DERIVATIVE {
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
                if math::hypot(q.x, q.y) <= MIN_SECOND_DERIVATIVE * r {
                    self.ring(e, radius, out);
                    return;
                }
                math::atan2(q.y, q.x)
            }
            _ => return,
        };
        self.at_edge(e, t, radius, out);
    }

    /// Adds samples of a circular edge if the given point is on its axis, so that all points of the
    /// circle are equally near.
    fn ring(&self, e: EdgeId, radius: f64, out: &mut Vec<Found>) {
        let edge = self.body.edge(e);
        let mut inside: ArrayVec<P2, SAMPLE_CANDIDATES> = ArrayVec::new();
        let (lo, hi) = edge
            .spans
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), s| (lo.min(s.t0), hi.max(s.t1)));
        for i in 0..SAMPLE_CANDIDATES {
            let t = lo + (hi - lo) * (i as f64 + 0.5) / SAMPLE_CANDIDATES as f64;
            if edge.spans.iter().any(|s| s.t0 <= t && t <= s.t1) {
                inside.push(P2::new(t, 0.0));
            }
        }
        for (k, uv) in spread::<RING_SAMPLES>(&inside).iter().enumerate() {
            let before = out.len();
            self.at_edge(e, uv.x, radius, out);
            for found in &mut out[before..] {
                found.minimum.is_sample = true;
                found.minimum.id |= 1 + k as u64;
            }
        }
    }

    /// Adds the point at parameter `t` of an edge, where the edge is orthogonal to the direction to the
    /// given point, if it is a minimum within `radius` (mm).
    fn at_edge(&self, e: EdgeId, t: f64, radius: f64, out: &mut Vec<Found>) {
        let edge = self.body.edge(e);
        let d = edge.curve.derivs(t);
        let w = self.p - d.p;
        let distance = w.norm();
        if distance > radius {
            return;
        }
        let speed_sq = d.d1.norm_squared();
        let is_minimum = speed_sq - w.dot(&d.d2) > -MIN_SECOND_DERIVATIVE * speed_sq;
        let Some((span, t)) = span_at(edge, t, self.tol()).filter(|_| is_minimum) else { return };
        // If the given point is on the edge, every direction of the polar is a valid normal.
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
        out.push(Found { minimum, from: ApproachSide::Outside, slack: edge.spans[span].deviation });
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

    /// Whether no edge that ends in a vertex leads closer to the given point, which is at `distance`
    /// (mm) from the vertex in the direction `n`. The polar decides this except for an edge orthogonal
    /// to `n`, for which the second derivative does.
    fn is_end_minimum(&self, v: VertexId, n: &V3, distance: f64) -> bool {
        // Most directions are well inside the polar.
        let slack = self.tol().angle;
        let is_across = |u: &V3| n.dot(u) >= -slack * u.norm();
        if !self.body.vertex(v).constraints.iter().any(is_across) {
            return true;
        }
        self.places.ends_at(v).iter().all(|&(_, e, t)| {
            let d = self.body.edge(e).curve.derivs(t);
            let speed_sq = d.d1.norm_squared();
            let bend = speed_sq - distance * n.dot(&d.d2);
            n.dot(&d.d1).abs() > slack * speed_sq.sqrt() || bend > -MIN_SECOND_DERIVATIVE * speed_sq
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
        out.push(Found { minimum, from: ApproachSide::Outside, slack: vertex.deviation });
    }
}

/// Principal curvatures (1/mm) of a surface at the parameters `uv`, with respect to the outward normal,
/// the larger one first. `outward` states whether the natural normal is the outward one.
fn curvatures(surface: &Surface, outward: bool, uv: P2) -> [f64; 2] {
    let [small, large] = surface.curvatures(uv);
    if outward { [large, small] } else { [-small, -large] }
}

/// Parameters of a footpoint of `p` near the area with the parameters `rect`, by Newton's method for the
/// squared distance, which starts at the parameters `start`. Returns `None` if the result after
/// [`MAX_NEWTON_STEPS`] steps is not a footpoint up to [`MAX_FOOT_ERROR`], or if it is outside `rect` by
/// more than `beside` widths. `size` (mm) is that of the solid.
fn foot_from(surface: &Surface, rect: &Rect, start: P2, p: &P3, (size, beside): (f64, f64)) -> Option<P2> {
    let (wu, wv) = (rect.width(), rect.height());
    let domain = surface.natural_domain();
    let wide = |lo: f64, hi: f64, w: f64, from: f64, to: f64, period: Option<f64>| {
        if period.is_some() { (lo - w, hi + w) } else { ((lo - w).max(from), (hi + w).min(to)) }
    };
    let (u0, u1) = wide(rect.u0, rect.u1, 0.5 * wu, domain.u0, domain.u1, surface.u_period());
    let (v0, v1) = wide(rect.v0, rect.v1, 0.5 * wv, domain.v0, domain.v1, surface.v_period());
    let mut uv = start;
    for _ in 0..MAX_NEWTON_STEPS {
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
        let has_converged = (next.x - uv.x).abs() <= 1e-14 * wu && (next.y - uv.y).abs() <= 1e-14 * wv;
        uv = next;
        if has_converged {
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
    (is_own && off <= MAX_FOOT_ERROR * (size + w.norm())).then_some(uv)
}

/// Parameter of a footpoint of `p` on a curve, up to rounding, by Newton's method between the parameters
/// `lo` and `hi`. The derivative of the distance must be negative or 0 at `lo` and positive or 0 at
/// `hi`.
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
        let has_converged = (next - t).abs() <= 2.0 * f64::EPSILON * t.abs().max(hi - lo);
        t = next;
        if has_converged {
            break;
        }
    }
    t
}
