//! Prepared solids and grains as smooth shapes of rigid bodies among deformable bodies.

use crate::exact::ExactWall;
use feeler_deformable::{DeformableError, RigidBody, SmoothShape, SurfacePoint};
use feeler_geom::{P3, Pose, V3};
use feeler_grains::convex::{Grain, Placed, contact};
use feeler_grains::mass::MassProperties;
use feeler_runtime::{Body, Boundary, PointMinima, PointQuery};
use std::sync::Arc;

/// Smallest default spacing of probes relative to the size of the solid. With a larger value, narrower parts
/// of concave solids can press between the nodes of a facet undetected; a smaller value takes more
/// evaluations near thin solids.
const MIN_PROBE_SPACING: f64 = 0.02;
/// Largest default spacing of probes relative to the size of the solid: the smallest thickness of a solid is
/// infinite if all of its walls are wedges. With a larger value, such wedges can press between the nodes of a
/// facet undetected; a smaller value takes more evaluations near thick solids.
const MAX_PROBE_SPACING: f64 = 0.1;
/// Radius of the ball whose contact with a grain gives the distance of its centre, relative to the radius of
/// the grain. With a larger value, less deep points have contacts by the fallback of grains; with a smaller
/// value, rounding of the gap is larger relative to the ball.
const POINT_RADIUS: f64 = 0.01;

/// Prepared CAD solid as a smooth shape, in the coordinates of the solid: with its own faces, without
/// triangles.
///
/// ```no_run
/// use feeler_deformable::{ContactSettings, Simulation};
/// use feeler_geom::{Pose, V3};
/// use feeler_particles::ExactShape;
/// # fn run(die: std::sync::Arc<feeler_runtime::Body>) -> Result<(), feeler_deformable::DeformableError> {
/// let mut simulation = Simulation::new(ContactSettings::new(50.0, 0.5))?;
/// let mut die = ExactShape::new(die).rigid_body(&Pose::identity())?;
/// die.prescribe(V3::z() * -10.0, V3::zeros())?;
/// simulation.add(die)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ExactShape {
    boundary: Arc<Boundary>,
    /// Pose that maps the coordinates of the solid to the frame of the shape.
    pose: Pose,
    spacing: f64,
    query: PointQuery,
    minima: PointMinima,
}

impl ExactShape {
    /// Creates the shape of a prepared solid. Probes have a spacing of the smallest thickness of the solid
    /// ([`Body::min_thickness`]), at least a fiftieth and at most a tenth of its size.
    #[must_use]
    pub fn new(body: Arc<Body>) -> Self {
        Self::with_pose(Arc::new(Boundary::new(body)), Pose::identity())
    }

    pub(crate) fn of_wall(wall: &ExactWall, pose: Pose) -> Self {
        Self::with_pose(wall.boundary(), pose)
    }

    fn with_pose(boundary: Arc<Boundary>, pose: Pose) -> Self {
        let body = boundary.body();
        let (thickness, size) = (body.min_thickness(), body.size());
        let spacing = thickness.clamp(MIN_PROBE_SPACING * size, MAX_PROBE_SPACING * size);
        Self { boundary, pose, spacing, query: PointQuery::new(), minima: PointMinima::default() }
    }

    /// Sets the largest distance of probes (mm, above 0), as [`SmoothShape::probe_spacing`] describes;
    /// an infinite value declares that the solid is convex.
    #[must_use]
    pub fn with_probe_spacing(mut self, spacing: f64) -> Self {
        self.spacing = spacing;
        self
    }

    /// Creates a fixed body of this shape in a pose that maps the coordinates of the solid to the world.
    ///
    /// # Errors
    /// The pose is not finite.
    pub fn rigid_body(self, pose: &Pose) -> Result<RigidBody, DeformableError> {
        RigidBody::smooth(vec![Box::new(self)], pose)
    }

    /// Like [`ExactShape::rigid_body`], for a body that moves freely, with the mass and inertia of the solid.
    /// The density is in t/mm³.
    ///
    /// # Errors
    /// The pose is not finite, the density is not above 0, or the solid is a sheet.
    pub fn free_rigid_body(self, density: f64, pose: &Pose) -> Result<RigidBody, DeformableError> {
        let mass = MassProperties::of_solid(&self.boundary.body().hierarchy().info);
        let mass = mass.filter(|_| !self.boundary.body().is_sheet()).ok_or(DeformableError::Inertia)?;
        let mut body = self.rigid_body(pose)?;
        body.set_free_with_inertia(mass.volume * density, mass.centroid, mass.tensor * density)?;
        Ok(body)
    }

    fn surface_point(&self, distance: f64, normal: &V3) -> SurfacePoint {
        SurfacePoint { distance, normal: self.pose.rotation * normal }
    }
}

impl SmoothShape for ExactShape {
    fn nearest(&mut self, point: &P3) -> Option<SurfacePoint> {
        let p = self.pose.inverse_transform_point(point);
        let found = self.query.signed(self.boundary.body(), &p).ok()??;
        Some(self.surface_point(found.signed_distance, &found.normal))
    }

    fn minima(
        &mut self,
        point: &P3,
        reach: f64,
        nearest: SurfacePoint,
        out: &mut Vec<SurfacePoint>,
    ) -> Option<()> {
        let p = self.pose.inverse_transform_point(point);
        self.minima.query(&self.boundary, &p, reach);
        let first = out.len();
        let minima = self.minima.minima().iter();
        out.extend(minima.map(|m| self.surface_point(m.distance, &m.normal)));
        // The nearest point is a minimum whatever the search for all of them has found.
        if out.len() == first {
            out.push(nearest);
        }
        Some(())
    }

    fn is_convex(&self) -> bool {
        self.spacing == f64::INFINITY
    }

    fn probe_spacing(&self) -> f64 {
        self.spacing
    }

    fn radius(&self) -> f64 {
        let bounds = self.boundary.body().bounds();
        (self.pose * bounds.center()).coords.norm() + 0.5 * bounds.diagonal()
    }

    fn clone_box(&self) -> Box<dyn SmoothShape> {
        let copy = Self::with_pose(Arc::clone(&self.boundary), self.pose);
        Box::new(copy.with_probe_spacing(self.spacing))
    }
}

/// Grain as a smooth shape. It is convex.
#[derive(Clone, Debug)]
pub(super) struct ConvexGrain {
    grain: Grain,
    /// Pose that maps the coordinates of the grain's semi-axes to the frame of the shape.
    pose: Pose,
    /// Small ball around the points whose distances are computed.
    ball: Grain,
    ball_radius: f64,
}

impl ConvexGrain {
    /// Creates the shape; `None` if the grain is too small for the ball of a point.
    pub(super) fn new(grain: &Grain, pose: Pose) -> Option<Self> {
        let ball_radius = POINT_RADIUS * grain.radius();
        let semi = V3::repeat(ball_radius);
        let ball = Grain::superellipsoid(semi, [1.0, 1.0]).ok()?;
        Some(Self { grain: *grain, pose, ball, ball_radius })
    }
}

impl SmoothShape for ConvexGrain {
    fn nearest(&mut self, point: &P3) -> Option<SurfacePoint> {
        let grain = Placed::new(&self.grain, &self.pose).ok()?;
        let ball =
            Placed::new(&self.ball, &Pose::from_parts(point.coords.into(), self.pose.rotation)).ok()?;
        let found = contact(&grain, &ball, f64::INFINITY, None)?;
        Some(SurfacePoint { distance: found.gap + self.ball_radius, normal: found.normal })
    }

    fn is_convex(&self) -> bool {
        true
    }

    fn radius(&self) -> f64 {
        self.pose.translation.vector.norm() + self.grain.radius()
    }

    fn clone_box(&self) -> Box<dyn SmoothShape> {
        Box::new(self.clone())
    }
}
