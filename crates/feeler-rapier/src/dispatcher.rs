//! Dispatch of pairs of shapes to exact contacts or to Rapier's.

use crate::manifolds::{Manifold, PairMemory, Request};
use crate::shape::ExactShape;
use crate::units::{self, METRES};
use feeler_geom::Pose as ExactPose;
use feeler_runtime::{ContactPair, QueryOptions, Status};
use rapier3d_f64::geometry::{ContactData, ContactManifoldData};
use rapier3d_f64::math::{Pose, Real, Vector};
use rapier3d_f64::parry::query::details::{NormalConstraints, ShapeCastOptions};
use rapier3d_f64::parry::query::{
    ClosestPoints, Contact, ContactManifoldsWorkspace, DefaultQueryDispatcher, NonlinearRigidMotion,
    PersistentQueryDispatcher, QueryDispatcher, ShapeCastHit, ShapeDistance, ShapeIntersection, Unsupported,
};
use rapier3d_f64::parry::shape::Shape;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Largest acceleration (mm/s²) of a body for which the contacts of a step suffice: that of gravity. A
/// larger value gives more contacts; with a smaller one, bodies at rest that begin to fall may miss a
/// contact.
pub(crate) const GRAVITY: f64 = 9_810.0;
/// Duration of a step (s) that is assumed without [`ExactDispatcher::install`]. A larger value gives
/// more contacts; with a smaller one, bodies at rest that begin to fall may miss a contact.
const DEFAULT_STEP: f64 = 1e-3;
/// Default of the largest depth of contacts (mm). A larger value is slower; with a smaller one, deeply
/// interfering solids have no contacts.
const DEFAULT_MAX_DEPTH: f64 = 1.0;

/// Query dispatcher that computes exact contacts of exact shapes. For a pair of an exact shape and one
/// of Rapier's shapes, Rapier computes the contacts with the display mesh. Pairs of Rapier's shapes are
/// passed on to the next dispatcher. Clones share their counters.
#[derive(Clone, Debug)]
pub struct ExactDispatcher {
    /// Largest depth of contacts (mm), limited by the thickness of the solids.
    pub depth: f64,
    /// Displacement (mm) that forces can add to the motion of one step: g·dt² for gravity.
    /// [`ExactDispatcher::install`] computes it from
    /// [`CloseFitParameters::step`](crate::CloseFitParameters::step).
    pub forced_displacement: f64,
    counters: Arc<Counters>,
}

#[derive(Debug, Default)]
struct Counters {
    unexplained: AtomicU64,
    failed: AtomicU64,
    has_warned: AtomicBool,
}

impl Default for ExactDispatcher {
    fn default() -> Self {
        Self {
            depth: DEFAULT_MAX_DEPTH,
            forced_displacement: GRAVITY * DEFAULT_STEP * DEFAULT_STEP,
            counters: Arc::default(),
        }
    }
}

impl ExactDispatcher {
    /// Number of updates in which two solids interfered but had no contact with a negative gap, because
    /// the interference was deeper than contacts are tracked: [`depth`](Self::depth), or the thickness
    /// of the solids.
    #[must_use]
    pub fn unexplained(&self) -> u64 {
        self.counters.unexplained.load(Ordering::Relaxed)
    }

    /// Number of queries that failed because a pose or a distance was not finite.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.counters.failed.load(Ordering::Relaxed)
    }

    /// Whether an exact shape has been near one of Rapier's shapes, so that contacts with the display
    /// mesh of the exact shape were computed.
    #[must_use]
    pub fn has_met_others(&self) -> bool {
        self.counters.has_warned.load(Ordering::Relaxed)
    }

    fn request(&self, prediction: Real) -> Request {
        Request {
            prediction: prediction / METRES,
            depth: self.depth,
            forced_displacement: self.forced_displacement,
        }
    }

    /// Returns the two shapes for Rapier's own dispatcher, with display meshes in place of exact shapes;
    /// `None` if neither is exact.
    fn displayed<'s>(&self, g1: &'s dyn Shape, g2: &'s dyn Shape) -> Option<(&'s dyn Shape, &'s dyn Shape)> {
        let exact = [g1, g2].map(|g| g.as_shape::<ExactShape>());
        if exact.iter().all(Option::is_none) {
            return None;
        }
        if !self.counters.has_warned.swap(true, Ordering::Relaxed) {
            let [a, b] = [g1, g2].map(Shape::shape_type);
            log::warn!(
                "an exact shape is near a shape of another kind ({a:?}, {b:?}): their contacts are computed \
                 with its display mesh and are not exact; use an ExactShape for both"
            );
        }
        let [a, b] = [(exact[0], g1), (exact[1], g2)].map(|(exact, own)| match exact {
            Some(e) => e.display() as &dyn Shape,
            None => own,
        });
        Some((a, b))
    }
}

/// Returns the two shapes as exact shapes; `None` unless both are exact.
fn exact<'s>(g1: &'s dyn Shape, g2: &'s dyn Shape) -> Option<(&'s ExactShape, &'s ExactShape)> {
    Some((g1.as_shape::<ExactShape>()?, g2.as_shape::<ExactShape>()?))
}

/// Queries two exact shapes once, without cached data. `pos12` is Rapier's pose (m) of B in the frame of
/// A.
fn query_once(
    a: &ExactShape,
    b: &ExactShape,
    pos12: &Pose,
    options: &QueryOptions,
) -> Result<ContactPair, Unsupported> {
    let mut pair = ContactPair::new(a.body().clone(), b.body().clone());
    pair.query(&ExactPose::identity(), &units::exact_pose(pos12), options).map_err(|_| Unsupported)?;
    Ok(pair)
}

fn is_in_touch(pair: &ContactPair) -> bool {
    matches!(pair.status(), Some(Status::Interfering | Status::Touching))
}

/// Largest distance (mm) of queries that need only the status, such as those of sensors.
const STATUS_ONLY_DISTANCE: f64 = 0.0;

impl QueryDispatcher for ExactDispatcher {
    fn intersection_test(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
    ) -> Result<ShapeIntersection, Unsupported> {
        if let Some((a, b)) = exact(g1, g2) {
            let pair = query_once(a, b, pos12, &QueryOptions::within(STATUS_ONLY_DISTANCE))?;
            return Ok(ShapeIntersection { intersecting: is_in_touch(&pair), subshape1: 0, subshape2: 0 });
        }
        let (a, b) = self.displayed(g1, g2).ok_or(Unsupported)?;
        DefaultQueryDispatcher.intersection_test(pos12, a, b)
    }

    fn distance(&self, pos12: &Pose, g1: &dyn Shape, g2: &dyn Shape) -> Result<ShapeDistance, Unsupported> {
        if let Some((a, b)) = exact(g1, g2) {
            let pair = query_once(a, b, pos12, &QueryOptions::within(STATUS_ONLY_DISTANCE))?;
            let mut distance = 0.0;
            if !is_in_touch(&pair) {
                let ab = units::exact_pose(pos12);
                let options = QueryOptions::within(f64::INFINITY);
                let found = pair.nearest_distance(&ExactPose::identity(), &ab, &options);
                distance = found.map_err(|_| Unsupported)?.ok_or(Unsupported)?.max(0.0) * METRES;
            }
            return Ok(ShapeDistance { distance, subshape1: 0, subshape2: 0 });
        }
        let (a, b) = self.displayed(g1, g2).ok_or(Unsupported)?;
        DefaultQueryDispatcher.distance(pos12, a, b)
    }

    fn contact(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        prediction: Real,
    ) -> Result<Option<Contact>, Unsupported> {
        if let Some((a, b)) = exact(g1, g2) {
            let mut manifolds = Vec::new();
            let mut memory = PairMemory::new(a.body(), b.body());
            let found = memory.update(pos12, &self.request(prediction), &mut manifolds);
            found.map_err(|_| Unsupported)?;
            let of = |m: &Manifold| m.points.first().map(|p| (p.dist, p.local_p1, p.local_p2, m.local_n1));
            let nearest = manifolds.iter().filter_map(of).min_by(|a, b| a.0.total_cmp(&b.0));
            return Ok(nearest.map(|(dist, point1, point2, normal)| {
                Contact::new(point1, point2, normal, pos12.rotation.inverse() * -normal, dist)
            }));
        }
        let (a, b) = self.displayed(g1, g2).ok_or(Unsupported)?;
        DefaultQueryDispatcher.contact(pos12, a, b, prediction)
    }

    fn closest_points(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        max_dist: Real,
    ) -> Result<ClosestPoints, Unsupported> {
        if let Some((a, b)) = exact(g1, g2) {
            let pair = query_once(a, b, pos12, &QueryOptions::within(max_dist / METRES))?;
            return Ok(match pair.contacts().first() {
                _ if is_in_touch(&pair) => ClosestPoints::Intersecting,
                Some(l) => ClosestPoints::WithinMargin(units::point(&l.local_a), units::point(&l.local_b)),
                None => ClosestPoints::Disjoint,
            });
        }
        let (a, b) = self.displayed(g1, g2).ok_or(Unsupported)?;
        DefaultQueryDispatcher.closest_points(pos12, a, b, max_dist)
    }

    fn cast_shapes(
        &self,
        pos12: &Pose,
        local_vel12: Vector,
        g1: &dyn Shape,
        g2: &dyn Shape,
        options: ShapeCastOptions,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        let (a, b) = self.displayed(g1, g2).filter(|_| exact(g1, g2).is_none()).ok_or(Unsupported)?;
        DefaultQueryDispatcher.cast_shapes(pos12, local_vel12, a, b, options)
    }

    fn cast_shapes_nonlinear(
        &self,
        motion1: &NonlinearRigidMotion,
        g1: &dyn Shape,
        motion2: &NonlinearRigidMotion,
        g2: &dyn Shape,
        start_time: Real,
        end_time: Real,
        stop_at_penetration: bool,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        let (a, b) = self.displayed(g1, g2).filter(|_| exact(g1, g2).is_none()).ok_or(Unsupported)?;
        let end = stop_at_penetration;
        DefaultQueryDispatcher.cast_shapes_nonlinear(motion1, a, motion2, b, start_time, end_time, end)
    }
}

impl PersistentQueryDispatcher<ContactManifoldData, ContactData> for ExactDispatcher {
    fn contact_manifolds(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        prediction: Real,
        manifolds: &mut Vec<Manifold>,
        workspace: &mut Option<ContactManifoldsWorkspace>,
    ) -> Result<(), Unsupported> {
        let Some((a, b)) = exact(g1, g2) else {
            let (a, b) = self.displayed(g1, g2).ok_or(Unsupported)?;
            return DefaultQueryDispatcher.contact_manifolds(pos12, a, b, prediction, manifolds, workspace);
        };
        let (a, b) = (a.body(), b.body());
        let known = workspace.as_mut().and_then(|w| w.0.downcast_mut::<PairMemory>());
        let memory = match known.is_some_and(|memory| memory.is_of(a, b)) {
            true => workspace.as_mut(),
            false => {
                manifolds.clear();
                Some(workspace.insert(PairMemory::new(a, b).into()))
            }
        };
        let memory = memory.and_then(|w| w.0.downcast_mut::<PairMemory>()).ok_or(Unsupported)?;
        match memory.update(pos12, &self.request(prediction), manifolds) {
            Ok(true) => {}
            Ok(false) => _ = self.counters.unexplained.fetch_add(1, Ordering::Relaxed),
            Err(_) => _ = self.counters.failed.fetch_add(1, Ordering::Relaxed),
        }
        Ok(())
    }

    fn contact_manifold_convex_convex(
        &self,
        _pos12: &Pose,
        _g1: &dyn Shape,
        _g2: &dyn Shape,
        _normal_constraints1: Option<&dyn NormalConstraints>,
        _normal_constraints2: Option<&dyn NormalConstraints>,
        _prediction: Real,
        _manifold: &mut Manifold,
    ) -> Result<(), Unsupported> {
        Err(Unsupported)
    }
}
