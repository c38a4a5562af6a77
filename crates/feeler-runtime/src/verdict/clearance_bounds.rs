//! What earlier queries have shown to be clear of a face's surface, and how far it may move until it can
//! reach it.
//!
//! A search that finds no crossing knows by how much: every point of a face, or of its edges, is at least a
//! *room* away from the level of the other face's closed form, or farther than a second room from that face's
//! areas. Signed distances change by no more than points move. So nothing is found again before one of the
//! two has moved that far against the other one, from where it was then: by the closed form, for which turns
//! about its own axis do not count, for the first room, by the face itself for the second one.
//!
//! # Source
//! MATH §15.

use super::{BESIDE, LEVELS};
use crate::body::Body;
use crate::body::ids::FacePair;
use crate::body::side::Which;
use crate::query::Context;
use feeler_geom::skeleton::Primitive;
use feeler_geom::{Aabb, P3, Pose};
use feeler_hierarchy::{AreaId, FaceId};

/// How far (mm) what was searched is from where crossings are looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// From the level of the surface, of what is not far from the face's areas.
    pub surface: f64,
    /// From the face's areas, of the rest.
    pub areas: f64,
}

impl Room {
    /// Of nothing.
    pub(super) const ALL: Self = Self { surface: f64::INFINITY, areas: f64::INFINITY };
}

/// What is asked of a pair of faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// The edges of a face of A, or of B, through the surface of the other one.
    Edges(Which),
    /// The same of the face, for closed curves.
    Inside(Which),
    /// The same of one area of the face.
    Area(Which, AreaId),
}

impl Question {
    /// The solid whose edges or face it is about.
    pub(super) fn own(self) -> Which {
        match self {
            Self::Edges(own) | Self::Inside(own) | Self::Area(own, _) => own,
        }
    }
}

/// Most arcs that a proof about edges leaves out.
pub(super) const MOST_OPEN: usize = 6;

/// Arcs of edges that may cross the surface.
pub(super) type Open = arrayvec::ArrayVec<u32, MOST_OPEN>;

/// What is known of a question.
#[derive(Clone, Debug)]
pub(super) enum Known {
    /// No crossing is found but on these arcs.
    Clear(Open),
    /// Nothing, and it is worth to find out.
    Open,
    /// Nothing; most such stay so.
    Unlikely,
}

#[derive(Clone, Debug)]
struct Entry {
    question: Question,
    faces: FacePair,
    room: Room,
    open: Open,
    /// Takes coordinates of the other solid to the own one's, at the time.
    pose: Pose,
    /// The query that has found it, and that from which on it is worth to look again.
    since: u32,
    again: u32,
}

/// What was found out, by questions and pairs of faces. One may push out another one, which is then unknown
/// again.
#[derive(Debug, Default)]
pub(super) struct Rooms {
    entries: Vec<Option<Entry>>,
    queries: u32,
    /// The tolerance that all was found with.
    valid_for: Option<f64>,
}

const BITS: u32 = 10;
/// Queries to wait where nothing was found or it did not last this long.
const LOOK_EVERY: u32 = 8;
const LASTS: u32 = 2;

impl Rooms {
    /// Forgets earlier queries.
    pub(super) fn clear(&mut self) {
        self.entries.fill(None);
        self.queries = 0;
    }

    /// Begins a query.
    pub(super) fn begin(&mut self, tol: f64) {
        if self.valid_for != Some(tol) || self.queries > u32::MAX - 2 * LOOK_EVERY {
            self.clear();
            self.valid_for = Some(tol);
        }
        self.queries += 1;
    }

    /// What is known about a face of the question's solid and one of the other solid.
    pub(super) fn known(&mut self, ctx: &Context<'_>, question: Question, faces: FacePair) -> Known {
        // The first query of a pair may be its last one: it asks for no more than it needs.
        if self.queries < 2 {
            return Known::Unlikely;
        }
        let slot = slot(question, faces);
        let Some(Some(entry)) = self.entries.get_mut(slot) else { return Known::Open };
        if entry.question != question || entry.faces != faces {
            return Known::Open;
        }
        if entry.holds(ctx) {
            return Known::Clear(entry.open.clone());
        }
        if entry.again == 0 {
            let lasted = self.queries - entry.since > LASTS;
            entry.again = self.queries + if lasted { 0 } else { LOOK_EVERY };
        }
        if self.queries < entry.again { Known::Unlikely } else { Known::Open }
    }

    /// Whether a face of the question's solid is known to be clear of one of the other solid by several
    /// tolerances.
    pub(super) fn is_clear(&self, ctx: &Context<'_>, question: Question, faces: FacePair) -> bool {
        let entry = self.entries.get(slot(question, faces)).and_then(Option::as_ref);
        entry.is_some_and(|e| e.question == question && e.faces == faces && e.holds(ctx))
    }

    /// Keeps what was found out.
    pub(super) fn keep(
        &mut self,
        ctx: &Context<'_>,
        question: Question,
        faces: FacePair,
        (room, open): (Room, Open),
    ) {
        if self.entries.is_empty() {
            self.entries.resize(1 << BITS, None);
        }
        let own = question.own();
        let [mine, face] = faces;
        // What counts as a crossing is near the level or in the areas, up to this.
        let deviation = |which, f: FaceId| ctx.body(which).features()[f.index()].deviation;
        let beside = 2.0 * BESIDE * ctx.tol.tol;
        let levels = (LEVELS[1] - LEVELS[0]) * ctx.tol.tol;
        let areas = beside + 2.0 * (deviation(own, mine) + deviation(own.other(), face));
        let room = Room { surface: room.surface - beside - levels, areas: room.areas - areas };
        let again = if room.surface > 0.0 && room.areas > 0.0 { 0 } else { self.queries + LOOK_EVERY };
        let pose = *ctx.pose_to_other(own.other());
        self.entries[slot(question, faces)] =
            Some(Entry { question, faces, room, open, pose, since: self.queries, again });
    }
}

/// Fibonacci hashing.
fn slot(question: Question, [mine, face]: FacePair) -> usize {
    let number = match question {
        Question::Edges(own) => own as u64,
        Question::Inside(own) => 2 + own as u64,
        Question::Area(own, area) => 4 + own as u64 + (u64::from(area.0) << 3),
    };
    let key = number.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ (u64::from(mine.0) << 32) ^ u64::from(face.0);
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS)) as usize
}

impl Entry {
    /// Whether the other face has moved by less than the rooms since.
    fn holds(&self, ctx: &Context<'_>) -> bool {
        if self.again > 0 {
            return false;
        }
        let own = self.question.own();
        let [mine, face] = self.faces;
        let (body, facing) = (ctx.body(own), ctx.body(own.other()));
        // What is asked about is in a ball.
        let (data, other) = (&body.features()[mine.index()], &facing.features()[face.index()]);
        let poses = [&self.pose, ctx.pose_to_other(own.other())];
        let beside = data.deviation + BESIDE * ctx.tol.tol;
        let Some(primitive) = &other.primitive else { return false };
        let (center, radius) = match self.question {
            Question::Area(_, area) => {
                let obb = &body.node(body.leaf_of_area(area)).obb;
                (obb.center, obb.radius())
            }
            _ => (data.bounds.center(), 0.5 * data.extent),
        };
        displacement_of_form(primitive, poses, (&center, radius + beside)) < self.room.surface
            && (self.room.areas == f64::INFINITY
                || displacement_of_box(&other.bounds, poses) < self.room.areas)
    }
}

/// How far (mm) the signed distance from a primitive changes in a ball when it is moved by the second pose
/// instead of the first one.
fn displacement_of_form(
    primitive: &Primitive,
    [before, now]: [&Pose; 2],
    (center, radius): (&P3, f64),
) -> f64 {
    let moved = |p: &P3| (before * p, now * p);
    let turned = |v| (before * v, now * v);
    // About its axis and where that is, a turn by no more than its direction changes takes one place to the
    // other.
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
            // The point of the axis that was beside the middle of the ball.
            let along = (center - before * origin).dot(&d);
            let (o, p) = moved(&(origin + dir * along));
            // A cylinder may slide.
            let p = if *slope == 0.0 { p - e * (p - o).dot(&e) } else { p };
            (p - o).norm() + about(&p, (e - d).norm())
        }
        Primitive::Circle { frame, .. } => {
            let ((o, p), (d, e)) = (moved(&frame.origin), turned(&frame.z));
            (p - o).norm() + about(&p, (e - d).norm())
        }
    }
}

/// How far (mm) a point of a box moves.
fn displacement_of_box(bounds: &Aabb, [before, now]: [&Pose; 2]) -> f64 {
    let center = bounds.center();
    let (p, q) = (before.rotation.coords, now.rotation.coords);
    // Both signs are the same turn; half the angle's sine is no more than twice that of its half.
    let turn = 2.0 * (p - q).norm().min((p + q).norm());
    (now * center - before * center).norm() + 0.5 * turn * bounds.diagonal()
}

/// By how much (mm) a ball is off the areas of a face, the solid's frame; where that is no more than `reach`,
/// no more than this.
pub(super) fn off_areas(body: &Body, face: FaceId, center: &P3, radius: f64, reach: f64) -> f64 {
    let data = &body.features()[face.index()];
    let mut least = f64::INFINITY;
    for &area in body.areas_of(data) {
        least = least.min(body.node(body.leaf_of_area(area)).obb.distance_to(center) - radius);
        if least <= reach {
            break;
        }
    }
    least
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

    /// A turn about the axis of the form, as large as it likes, and what is small beside it.
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

    /// Signed distances change by no more than the displacement of a form, points of a box move no more than
    /// that of a box, and a turn of a form about its own axis is no displacement.
    #[test]
    fn displacements_hold() {
        let mut rng = SmallRng::seed_from_u64(3);
        let mut tight = 0;
        for _ in 0..5000 {
            let form = primitive(&mut rng);
            let before = Pose::new(vector(&mut rng, 3.0), vector(&mut rng, 3.0));
            let now = before * motion(&mut rng, &form);
            let (center, radius) = (P3::from(vector(&mut rng, 5.0)), rng.random_range(0.0..2.0));
            let displacement = displacement_of_form(&form, [&before, &now], (&center, radius));
            let [from, to] = [before, now].map(|pose| form.transformed(&pose));
            let mut most = 0.0_f64;
            for _ in 0..20 {
                let p = center + vector(&mut rng, 1.0).normalize() * (radius * rng.random_range(0.0..1.0));
                let values = [&from, &to].map(|form| signed_distance(form, &p).map(|s| s.value));
                let [Some(x), Some(y)] = values else { continue };
                most = most.max((x - y).abs());
            }
            assert!(most <= displacement + 1e-12, "{most} > {displacement}: {form:?}");
            tight += usize::from(displacement < 4.0 * most + 1e-12);
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
