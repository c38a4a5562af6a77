//! Time that Rapier spends on finding contacts.

use crate::cpu_seconds;
use rapier3d_f64::geometry::{ContactData, ContactManifold, ContactManifoldData};
use rapier3d_f64::math::{Pose, Real, Vector};
use rapier3d_f64::parry::query::details::{NormalConstraints, ShapeCastOptions};
use rapier3d_f64::parry::query::{
    ClosestPoints, Contact, ContactManifoldsWorkspace, NonlinearRigidMotion, PersistentQueryDispatcher,
    QueryDispatcher, ShapeCastHit, ShapeDistance, ShapeIntersection, Unsupported,
};
use rapier3d_f64::parry::shape::Shape;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A dispatcher of Rapier that forwards all calls to another one and measures the processor time of
/// contact queries.
#[derive(Debug)]
pub struct Timed<D> {
    inner: D,
    spent: Spent,
}

/// Counter of the processor time spent on contact queries. Clones share one counter.
#[derive(Clone, Debug, Default)]
pub struct Spent(Arc<AtomicU64>);

impl Spent {
    /// Returns the processor time spent since the previous call, and resets the counter.
    pub fn take(&self) -> Duration {
        Duration::from_nanos(self.0.swap(0, Ordering::Relaxed))
    }
}

impl<D> Timed<D> {
    /// Wraps a dispatcher.
    pub fn new(inner: D, spent: Spent) -> Self {
        Self { inner, spent }
    }
}

impl<D: QueryDispatcher> QueryDispatcher for Timed<D> {
    fn intersection_test(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
    ) -> Result<ShapeIntersection, Unsupported> {
        self.inner.intersection_test(pos12, g1, g2)
    }

    fn distance(&self, pos12: &Pose, g1: &dyn Shape, g2: &dyn Shape) -> Result<ShapeDistance, Unsupported> {
        self.inner.distance(pos12, g1, g2)
    }

    fn contact(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        prediction: Real,
    ) -> Result<Option<Contact>, Unsupported> {
        self.inner.contact(pos12, g1, g2, prediction)
    }

    fn closest_points(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        max_dist: Real,
    ) -> Result<ClosestPoints, Unsupported> {
        self.inner.closest_points(pos12, g1, g2, max_dist)
    }

    fn cast_shapes(
        &self,
        pos12: &Pose,
        local_vel12: Vector,
        g1: &dyn Shape,
        g2: &dyn Shape,
        options: ShapeCastOptions,
    ) -> Result<Option<ShapeCastHit>, Unsupported> {
        self.inner.cast_shapes(pos12, local_vel12, g1, g2, options)
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
        let stop = stop_at_penetration;
        self.inner.cast_shapes_nonlinear(motion1, g1, motion2, g2, start_time, end_time, stop)
    }
}

impl<D> PersistentQueryDispatcher<ContactManifoldData, ContactData> for Timed<D>
where
    D: PersistentQueryDispatcher<ContactManifoldData, ContactData>,
{
    fn contact_manifolds(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        prediction: Real,
        manifolds: &mut Vec<ContactManifold>,
        workspace: &mut Option<ContactManifoldsWorkspace>,
    ) -> Result<(), Unsupported> {
        let begin = cpu_seconds();
        let out = self.inner.contact_manifolds(pos12, g1, g2, prediction, manifolds, workspace);
        let passed = Duration::from_secs_f64((cpu_seconds() - begin).max(0.0));
        let passed = u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX);
        self.spent.0.fetch_add(passed, Ordering::Relaxed);
        out
    }

    fn contact_manifold_convex_convex(
        &self,
        pos12: &Pose,
        g1: &dyn Shape,
        g2: &dyn Shape,
        normal_constraints1: Option<&dyn NormalConstraints>,
        normal_constraints2: Option<&dyn NormalConstraints>,
        prediction: Real,
        manifold: &mut ContactManifold,
    ) -> Result<(), Unsupported> {
        let [one, two] = [normal_constraints1, normal_constraints2];
        self.inner.contact_manifold_convex_convex(pos12, g1, g2, one, two, prediction, manifold)
    }
}
