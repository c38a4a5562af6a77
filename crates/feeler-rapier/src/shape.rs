//! Solids as shapes of Rapier.

use crate::units::{self, METRES};
use feeler_runtime::Body;
use feeler_view::mesh::{MeshError, mesh};
use nalgebra::{Matrix3, Rotation3, UnitQuaternion};
use rapier3d_f64::geometry::{ColliderBuilder, SharedShape, TriMesh, TriMeshFlags};
use rapier3d_f64::math::{Pose, Real, Rotation, Vector};
use rapier3d_f64::parry::bounding_volume::{Aabb, BoundingSphere};
use rapier3d_f64::parry::mass_properties::MassProperties;
use rapier3d_f64::parry::query::{PointProjection, PointQuery, Ray, RayCast, RayIntersection};
use rapier3d_f64::parry::shape::{FeatureId, Shape, ShapeType, TypedShape};
use std::sync::Arc;

/// Default chord error (largest distance from the solid) of a display mesh, relative to the solid's
/// size. Rays and contacts with Rapier's shapes are less exact with a larger value; the mesh has more
/// triangles with a smaller one.
const DEFAULT_CHORD_RATIO: f64 = 1e-3;
/// Thickness that is assumed for a solid without a measured thickness, relative to its size. Rapier uses
/// it in continuous collision detection to find fast bodies;
/// [`ExactDispatcher::install`](crate::ExactDispatcher::install) disables that detection.
const DEFAULT_THICKNESS_RATIO: f64 = 1e-2;

/// Exact shape of a CAD solid, in its own coordinates. Clones share the solid.
#[derive(Clone, Debug)]
pub struct ExactShape {
    body: Arc<Body>,
    display: Arc<TriMesh>,
}

/// Reason why a solid cannot be a shape.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// The display mesh could not be computed.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The display mesh of the solid with this name has no triangles.
    #[error("'{0}': the display mesh has no triangles; prepare the file again and check its remarks")]
    Empty(String),
}

/// Factor from mm³, the unit of feeler's volumes, to m³, the unit of Rapier's densities.
const CUBIC_METRES_PER_CUBIC_MM: f64 = 1e-9;

impl ExactShape {
    /// Creates the shape of a solid, with a display mesh whose chord error is a thousandth of the
    /// solid's size.
    ///
    /// # Errors
    /// Returns a [`ShapeError`] if the display mesh cannot be computed.
    pub fn new(body: Arc<Body>) -> Result<Self, ShapeError> {
        let chord = DEFAULT_CHORD_RATIO * body.size();
        Self::with_display(body, chord)
    }

    /// Creates the shape of a solid, with a display mesh of a given chord error (mm), which is used for
    /// rays, points and contacts with Rapier's shapes.
    ///
    /// # Errors
    /// Returns a [`ShapeError`] if the display mesh cannot be computed.
    pub fn with_display(body: Arc<Body>, chord: f64) -> Result<Self, ShapeError> {
        let mesh = mesh(body.hierarchy(), chord)?;
        let points: Vec<Vector> = mesh.points.iter().map(units::point).collect();
        let corner = |k: u32| mesh.welded[k as usize];
        let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| t.map(corner)).collect();
        let empty = |_| ShapeError::Empty(body.hierarchy().info.name.clone());
        // An open mesh gets no topology: rays and contacts work without it, but points are never inside.
        let display = TriMesh::with_flags(points.clone(), triangles.clone(), TriMeshFlags::ORIENTED)
            .or_else(|_| TriMesh::new(points, triangles))
            .map_err(empty)?;
        Ok(Self { body, display: Arc::new(display) })
    }

    /// Solid of the shape.
    #[must_use]
    pub fn body(&self) -> &Arc<Body> {
        &self.body
    }

    /// Display mesh, in metres.
    #[must_use]
    pub fn display(&self) -> &TriMesh {
        &self.display
    }

    /// Returns a builder of a collider with this shape. If a density (kg/m³) is set on the builder, mass
    /// and inertia are those of the exact solid.
    pub fn collider(&self) -> ColliderBuilder {
        ColliderBuilder::new(SharedShape::new(self.clone()))
    }
}

impl RayCast for ExactShape {
    fn cast_local_ray_and_get_normal(
        &self,
        ray: &Ray,
        max_time_of_impact: Real,
        solid: bool,
    ) -> Option<RayIntersection> {
        self.display.cast_local_ray_and_get_normal(ray, max_time_of_impact, solid)
    }
}

impl PointQuery for ExactShape {
    fn project_local_point(&self, pt: Vector, solid: bool) -> PointProjection {
        self.display.project_local_point(pt, solid)
    }

    fn project_local_point_and_get_feature(&self, pt: Vector) -> (PointProjection, FeatureId) {
        self.display.project_local_point_and_get_feature(pt)
    }
}

impl Shape for ExactShape {
    fn compute_local_aabb(&self) -> Aabb {
        let b = self.body.bounds();
        Aabb::new(units::point(&b.min), units::point(&b.max))
    }

    fn compute_local_bounding_sphere(&self) -> BoundingSphere {
        self.compute_local_aabb().bounding_sphere()
    }

    fn clone_dyn(&self) -> Box<dyn Shape> {
        Box::new(self.clone())
    }

    /// Returns `None`, because scaling is not supported.
    fn scale_dyn(&self, _scale: Vector, _num_subdivisions: u32) -> Option<Box<dyn Shape>> {
        None
    }

    /// Mass properties of the exact solid for a density (kg/m³), in Rapier's units; 0 for a sheet.
    fn mass_properties(&self, density: Real) -> MassProperties {
        let info = &self.body.hierarchy().info;
        let Some(inertia) = info.inertia else { return MassProperties::default() };
        let mass = density * info.volume * CUBIC_METRES_PER_CUBIC_MM;
        let unit = density * CUBIC_METRES_PER_CUBIC_MM * METRES * METRES;
        // The eigenvalues of Rapier's own solver are accurate only to 1e-8.
        let axes = Matrix3::from_fn(|r, c| inertia.tensor[r][c] * unit).symmetric_eigen();
        let mut frame = axes.eigenvectors;
        if frame.determinant() < 0.0 {
            frame.set_column(2, &-frame.column(2));
        }
        let frame = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(frame));
        let frame = Rotation::from_xyzw(frame.i, frame.j, frame.k, frame.w);
        let center = units::point(&inertia.centroid.into());
        let principal = units::direction(&axes.eigenvalues);
        MassProperties::with_principal_inertia_frame(center, mass, principal, frame)
    }

    fn shape_type(&self) -> ShapeType {
        ShapeType::Custom
    }

    fn as_typed_shape(&self) -> TypedShape<'_> {
        TypedShape::Custom(self)
    }

    fn ccd_thickness(&self) -> Real {
        let wall = self.body.min_thickness();
        let thick =
            if wall.is_finite() && wall > 0.0 { wall } else { DEFAULT_THICKNESS_RATIO * self.body.size() };
        thick * METRES
    }

    fn ccd_angular_thickness(&self) -> Real {
        0.0
    }

    fn compute_aabb(&self, position: &Pose) -> Aabb {
        // This box is as tight as the extents of the rotated solid, not the box of a rotated box.
        let b = self.body.posed_bounds(&units::exact_pose(position));
        Aabb::new(units::point(&b.min), units::point(&b.max))
    }
}
