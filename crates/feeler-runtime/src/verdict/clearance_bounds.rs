//! Clearance bounds: results of earlier searches without a crossing, and the motion up to which they stay
//! valid.
//!
//! A search that finds no crossing also computes two lower bounds. Every point of the searched face, or of
//! its edges, is at least the first bound away from the level of the other face's surface, or at least the
//! second bound away from the areas of the other face. A signed distance changes by at most the
//! displacement of points. A repeated search therefore finds nothing until the other face has moved,
//! relative to the searched one, by one of the bounds from its pose in the search. The first bound is
//! compared with the displacement of the surface's closed form, for which rotations about its own axis do
//! not count; the second one with the displacement of the face.
//!
//! # Source
//! MATH §15.

use super::{LEVELS, MAX_BESIDE_TRIM};
use crate::body::Body;
use crate::body::ids::FacePair;
use crate::body::side::Which;
use crate::query::Context;
use feeler_geom::skeleton::Primitive;
use feeler_geom::{Aabb, P3, Pose};
use feeler_hierarchy::{AreaId, FaceId};

/// Lower bounds of the distances (mm) of the points of a searched face, or of its edges, from possible
/// crossings with a face of the other solid.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClearanceBound {
    /// Distance from the level of the other face's surface, for all points that are near the areas of that
    /// face.
    pub surface: f64,
    /// Distance from the areas of the other face, for all points of the searched face that are not near
    /// them.
    pub areas: f64,
}

impl ClearanceBound {
    /// Bounds for an empty set of points.
    pub(super) const UNBOUNDED: Self = Self { surface: f64::INFINITY, areas: f64::INFINITY };
}

/// Kind of a search for crossings between a face of one solid and the surface of a face of the other
/// one. The `Which` of a variant is the solid whose face, or whose edges, are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CrossingQuery {
    /// Search for points at which edges of a face of this solid cross the surface of a face of the other
    /// solid.
    Edges(Which),
    /// Search for closed curves, inside a face of this solid, in which the surface of a face of the
    /// other solid crosses it.
    Face(Which),
    /// Search for closed curves, inside one area of a face of this solid, in which the surface of a face
    /// of the other solid crosses it.
    Area(Which, AreaId),
}

impl CrossingQuery {
    /// The solid whose edges or face are searched.
    pub(super) fn own(self) -> Which {
        match self {
            Self::Edges(own) | Self::Face(own) | Self::Area(own, _) => own,
        }
    }
}

/// Maximum number of edge arcs for which a cached result does not exclude crossings; with more arcs, the
/// result is not cached. A larger number makes entries larger; a smaller one repeats more searches.
pub(super) const MAX_OPEN_ARCS: usize = 6;

/// Indices, in the body's list of edge arcs, of the arcs of a face that may cross a surface; all other
/// arcs of the face are proved not to cross it.
pub(super) type OpenArcs = arrayvec::ArrayVec<u32, MAX_OPEN_ARCS>;

/// Cached result of a search for crossings.
#[derive(Clone, Debug)]
pub(super) enum CachedResult {
    /// A valid result is cached: crossings are excluded except on these edge arcs. The list is empty if
    /// the whole face was searched.
    Clear(OpenArcs),
    /// No valid result is cached, and bounds are worth computing.
    Unknown,
    /// No valid result is cached. Bounds are not worth computing, because this is the first query, because
    /// the last attempt failed, or because its bounds lasted too short a time.
    NotWorthwhile,
}

/// Cached result of one search.
#[derive(Clone, Debug)]
struct Entry {
    query: CrossingQuery,
    /// Searched face of the query's solid, and face of the other solid.
    faces: FacePair,
    bound: ClearanceBound,
    open: OpenArcs,
    /// Pose of the other solid in the frame of the query's solid when the result was computed.
    pose: Pose,
    /// Number of the query that computed the result.
    since: u32,
    /// Number of the query from which on new bounds are worth computing; 0 as long as the stored bounds
    /// have not been found to be used up.
    retry_at: u32,
}

/// Results of searches by kind of search and pair of faces, in a hash table without probing: a new entry
/// may replace another one, whose result is then unknown again.
#[derive(Clone, Debug, Default)]
pub(super) struct ClearanceCache {
    entries: Vec<Option<Entry>>,
    /// Number of queries since the cache was cleared.
    queries: u32,
    /// Tolerance (mm) with which the entries were computed.
    valid_for: Option<f64>,
}

/// Logarithm to base 2 of the number of slots. A larger value takes more memory (each slot takes about 130
/// bytes); a smaller one replaces more entries.
const SLOT_BITS: u32 = 10;
/// Number of queries for which bounds are not computed again, if none were found or they lasted at most
/// [`MIN_LIFETIME`] queries. A larger value repeats searches for longer; a smaller one computes bounds
/// in vain.
const RETRY_INTERVAL: u32 = 8;
/// Number of queries: bounds that were valid for more are computed again at once, others after
/// [`RETRY_INTERVAL`] queries. A larger value gives up sooner on fast motions; a smaller one computes
/// bounds in vain.
const MIN_LIFETIME: u32 = 2;

impl ClearanceCache {
    /// Clears the results of earlier queries.
    pub(super) fn clear(&mut self) {
        self.entries.fill(None);
        self.queries = 0;
    }

    /// Starts a query with the tolerance `tol` (mm); clears the results of queries with another tolerance.
    pub(super) fn begin(&mut self, tol: f64) {
        if self.valid_for != Some(tol) || self.queries > u32::MAX - 2 * RETRY_INTERVAL {
            self.clear();
            self.valid_for = Some(tol);
        }
        self.queries += 1;
    }

    /// Looks up the result of an earlier search; it does not search. Returns [`CachedResult::Unknown`] if the
    /// caller must search and should store the result. `faces` are the searched face of the query's solid and
    /// the face of the other solid.
    pub(super) fn get(&mut self, ctx: &Context<'_>, query: CrossingQuery, faces: FacePair) -> CachedResult {
        // The first query of a pair may be its last one, so it does not compute bounds.
        if self.queries < 2 {
            return CachedResult::NotWorthwhile;
        }
        let slot = slot(query, faces);
        let Some(Some(entry)) = self.entries.get_mut(slot) else { return CachedResult::Unknown };
        if entry.query != query || entry.faces != faces {
            return CachedResult::Unknown;
        }
        if entry.is_valid(ctx) {
            return CachedResult::Clear(entry.open.clone());
        }
        if entry.retry_at == 0 {
            let lasted = self.queries - entry.since > MIN_LIFETIME;
            entry.retry_at = self.queries + if lasted { 0 } else { RETRY_INTERVAL };
        }
        if self.queries < entry.retry_at { CachedResult::NotWorthwhile } else { CachedResult::Unknown }
    }

    /// Whether a cached result proves that a face of the query's solid is several tolerances away from a
    /// face of the other solid.
    pub(super) fn is_clear(&self, ctx: &Context<'_>, query: CrossingQuery, faces: FacePair) -> bool {
        let entry = self.entries.get(slot(query, faces)).and_then(Option::as_ref);
        entry.is_some_and(|e| e.query == query && e.faces == faces && e.is_valid(ctx))
    }

    /// Stores the bounds of a search and the edge arcs for which they do not hold.
    pub(super) fn store(
        &mut self,
        ctx: &Context<'_>,
        query: CrossingQuery,
        faces: FacePair,
        (bound, open): (ClearanceBound, OpenArcs),
    ) {
        if self.entries.is_empty() {
            self.entries.resize(1 << SLOT_BITS, None);
        }
        let own = query.own();
        let [mine, face] = faces;
        // Crossings are accepted within these distances of the level and of the areas.
        let deviation = |which, f: FaceId| ctx.body(which).features()[f.index()].deviation;
        let beside = 2.0 * MAX_BESIDE_TRIM * ctx.tol.tol;
        let levels = (LEVELS[1] - LEVELS[0]) * ctx.tol.tol;
        let areas = beside + 2.0 * (deviation(own, mine) + deviation(own.other(), face));
        let bound = ClearanceBound { surface: bound.surface - beside - levels, areas: bound.areas - areas };
        let retry_at =
            if bound.surface > 0.0 && bound.areas > 0.0 { 0 } else { self.queries + RETRY_INTERVAL };
        let pose = *ctx.pose_to_other(own.other());
        self.entries[slot(query, faces)] =
            Some(Entry { query, faces, bound, open, pose, since: self.queries, retry_at });
    }
}

/// Index of the entry of the hash table in which the result of a search is stored, by Fibonacci hashing.
fn slot(query: CrossingQuery, [mine, face]: FacePair) -> usize {
    let number = match query {
        CrossingQuery::Edges(own) => own as u64,
        CrossingQuery::Face(own) => 2 + own as u64,
        CrossingQuery::Area(own, area) => 4 + own as u64 + (u64::from(area.0) << 3),
    };
    let key = number.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ (u64::from(mine.0) << 32) ^ u64::from(face.0);
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOT_BITS)) as usize
}

impl Entry {
    /// Whether the result is still valid: the displacement of the other face since the search, relative to
    /// the searched one, is below the bounds.
    fn is_valid(&self, ctx: &Context<'_>) -> bool {
        if self.retry_at > 0 {
            return false;
        }
        let own = self.query.own();
        let [mine, face] = self.faces;
        let (body, facing) = (ctx.body(own), ctx.body(own.other()));
        // The searched face or area is in a ball.
        let (data, other) = (&body.features()[mine.index()], &facing.features()[face.index()]);
        let poses = [&self.pose, ctx.pose_to_other(own.other())];
        let beside = data.deviation + MAX_BESIDE_TRIM * ctx.tol.tol;
        let Some(primitive) = &other.primitive else { return false };
        let (center, radius) = match self.query {
            CrossingQuery::Area(_, area) => {
                let obb = &body.node(body.leaf_of_area(area)).obb;
                (obb.center, obb.radius())
            }
            _ => (data.bounds.center(), 0.5 * data.extent),
        };
        displacement_of_form(primitive, poses, (&center, radius + beside)) < self.bound.surface
            && (self.bound.areas == f64::INFINITY
                || displacement_of_box(&other.bounds, poses) < self.bound.areas)
    }
}

/// Upper bound of the change (mm) of the signed distance of the points of a ball from a primitive if the
/// primitive is transformed by the second pose instead of the first one.
fn displacement_of_form(
    primitive: &Primitive,
    [before, now]: [&Pose; 2],
    (center, radius): (&P3, f64),
) -> f64 {
    let moved = |p: &P3| (before * p, now * p);
    let turned = |v| (before * v, now * v);
    // A rotation about the primitive's axis leaves the distance unchanged. The remaining rotation
    // displaces a point by at most the change of the axis direction times the point's distance from the
    // pivot.
    let about = |at: &P3, tilt: f64| tilt * ((center - at).norm() + radius);
    match primitive {
        Primitive::Plane { origin, normal } => {
            let ((o, p), (m, n)) = (moved(origin), turned(normal));
            ((center - p).dot(&n) - (center - o).dot(&m)).abs() + (n - m).norm() * radius
        }
        Primitive::Point { center: c, .. } => {
            let (o, p) = moved(c);
            (p - o).norm()
        }
        Primitive::Line { origin, dir, slope, .. } => {
            let (d, e) = turned(dir);
            // The point of the axis that was nearest to the centre of the ball.
            let along = (center - before * origin).dot(&d);
            let (o, p) = moved(&(origin + dir * along));
            // A cylinder may slide along its axis.
            let p = if *slope == 0.0 { p - e * (p - o).dot(&e) } else { p };
            (p - o).norm() + about(&p, (e - d).norm())
        }
        Primitive::Circle { frame, .. } => {
            let ((o, p), (d, e)) = (moved(&frame.origin), turned(&frame.z));
            (p - o).norm() + about(&p, (e - d).norm())
        }
    }
}

/// Upper bound (mm) of the displacement of the points of a box from the first pose to the second one.
fn displacement_of_box(bounds: &Aabb, [before, now]: [&Pose; 2]) -> f64 {
    let center = bounds.center();
    let (p, q) = (before.rotation.coords, now.rotation.coords);
    // Both signs represent the same rotation. The sine of half the angle is at most twice the sine of a
    // quarter of it.
    let turn = 2.0 * (p - q).norm().min((p + q).norm());
    (now * center - before * center).norm() + 0.5 * turn * bounds.diagonal()
}

/// Lower bound (mm) of the distance of a ball (frame of the solid) from the areas of a face; negative if
/// the ball may intersect them. The search ends at the first area whose bound is at most `reach` (mm).
/// That bound is then the result, and other areas can be nearer. The area at the position `hint` among
/// those of the face is tried first; the position where the search ended becomes the hint.
pub(super) fn distance_to_areas(
    body: &Body,
    face: FaceId,
    (center, radius): (&P3, f64),
    reach: f64,
    hint: &mut usize,
) -> f64 {
    let areas = body.areas_of(&body.features()[face.index()]);
    let distance = |area: &AreaId| body.node(body.leaf_of_area(*area)).obb.distance_to(center) - radius;
    if let Some(d) = areas.get(*hint).map(distance).filter(|d| *d <= reach) {
        return d;
    }
    let mut smallest = f64::INFINITY;
    for (k, area) in areas.iter().enumerate() {
        smallest = smallest.min(distance(area));
        if smallest <= reach {
            *hint = k;
            break;
        }
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;
    use feeler_geom::skeleton::signed_distance;
    use feeler_geom::{Frame, V3};
    use nalgebra::{Translation3, UnitQuaternion};
    use rand::rngs::SmallRng;
    use rand::{Rng as _, SeedableRng as _};

    fn vector(rng: &mut SmallRng, scale: f64) -> V3 {
        V3::from_fn(|_, _| scale * rng.random_range(-1.0..1.0))
    }

    fn primitive(rng: &mut SmallRng) -> Primitive {
        let frame = Frame::from_z(P3::from(vector(rng, 3.0)), vector(rng, 1.0), None).expect("a direction");
        let (origin, sigma) = (frame.origin, rng.random_range(-2.0..2.0));
        match rng.random_range(0..5) {
            0 => Primitive::Plane { origin, normal: frame.z },
            1 => Primitive::Point { center: origin, sigma },
            2 => Primitive::Line { origin, dir: frame.z, sigma, slope: 0.0 },
            3 => Primitive::Line { origin, dir: frame.z, sigma: 0.0, slope: rng.random_range(-0.8..0.8) },
            _ => Primitive::Circle { frame, radius: rng.random_range(2.5..4.0), sigma },
        }
    }

    /// A rotation of any size about the axis of the primitive, followed by a small motion.
    fn motion(rng: &mut SmallRng, form: &Primitive) -> Pose {
        let (at, axis) = match *form {
            Primitive::Plane { origin, normal } => (origin, normal),
            Primitive::Point { center, .. } => (center, vector(rng, 1.0)),
            Primitive::Line { origin, dir, .. } => (origin, dir),
            Primitive::Circle { frame, .. } => (frame.origin, frame.z),
        };
        let turn = UnitQuaternion::from_scaled_axis(axis * rng.random_range(-1.0..1.0));
        let about = Translation3::from(at.coords) * turn * Translation3::from(-at.coords);
        let scale = [1.0, 1e-3, 1e-9][rng.random_range(0..3)];
        Pose::new(vector(rng, scale), vector(rng, scale)) * about
    }

    /// Signed distances change by at most the displacement of a primitive, points of a box move by at most
    /// the displacement of the box, and a rotation of a primitive about its own axis has no displacement.
    #[test]
    fn displacements_are_bounds() {
        let mut rng = SmallRng::seed_from_u64(3);
        let mut tight = 0;
        for _ in 0..5000 {
            let form = primitive(&mut rng);
            let before = Pose::new(vector(&mut rng, 3.0), vector(&mut rng, 3.0));
            let now = before * motion(&mut rng, &form);
            let (center, radius) = (P3::from(vector(&mut rng, 5.0)), rng.random_range(0.0..2.0));
            let displacement = displacement_of_form(&form, [&before, &now], (&center, radius));
            let [from, to] = [before, now].map(|pose| form.transformed(&pose));
            let mut largest = 0.0_f64;
            for _ in 0..20 {
                let p = center + vector(&mut rng, 1.0).normalize() * (radius * rng.random_range(0.0..1.0));
                let values = [&from, &to].map(|form| signed_distance(form, &p).map(|s| s.value));
                let [Some(x), Some(y)] = values else { continue };
                largest = largest.max((x - y).abs());
            }
            assert!(largest <= displacement + 1e-12, "{largest} > {displacement}: {form:?}");
            tight += usize::from(displacement < 4.0 * largest + 1e-12);
            let bounds = Aabb::of_points(&[P3::from(vector(&mut rng, 2.0)), P3::from(vector(&mut rng, 2.0))]);
            let displacement = displacement_of_box(&bounds, [&before, &now]);
            for p in feeler_geom::Obb::from_aabb(&bounds).corners() {
                let moved = (now * p - before * p).norm();
                assert!(moved <= displacement + 1e-12, "{moved} > {displacement}");
            }
        }
        assert!(tight > 1500, "{tight}");
    }
}
