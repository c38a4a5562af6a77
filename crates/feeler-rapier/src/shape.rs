//! A solid as a shape of Rapier's.

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

/// Chord error of a display mesh as a part of the solid's size, by default.
const CHORD: f64 = 1e-3;
/// Thickness of a solid whose walls could not be measured, as a part of its size.
const THICKNESS: f64 = 1e-2;

/// A CAD solid, in its own coordinates. Cheap to clone: copies share the solid.
#[derive(Clone, Debug)]
pub struct ExactShape {
    body: Arc<Body>,
    display: Arc<TriMesh>,
}

/// Why a solid is no shape.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// No display mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// No triangle.
    #[error("'{0}': its display mesh has no triangle, prepare the file again and read its remarks")]
    Empty(String),
}

/// mm³ in m³.
const CUBIC: f64 = 1e-9;

impl ExactShape {
    /// A solid with a display mesh whose chord error is a thousandth of its size.
    ///
    /// # Errors
    /// [`ShapeError`].
    pub fn new(body: Arc<Body>) -> Result<Self, ShapeError> {
        let chord = CHORD * body.size();
        Self::with_display(body, chord)
    }

    /// A solid with a display mesh of a chord error (mm): what rays, points and Rapier's own shapes meet.
    ///
    /// # Errors
    /// [`ShapeError`].
    pub fn with_display(body: Arc<Body>, chord: f64) -> Result<Self, ShapeError> {
        let mesh = mesh(body.hierarchy(), chord)?;
        let points: Vec<Vector> = mesh.points.iter().map(units::point).collect();
        let corner = |k: u32| mesh.welded[k as usize];
        let triangles: Vec<[u32; 3]> = mesh.triangles.iter().map(|t| t.map(corner)).collect();
        let empty = |_| ShapeError::Empty(body.hierarchy().info.name.clone());
        // Without topology, where a mesh is open, rays and contacts work all the same; inside is not known.
        let display = TriMesh::with_flags(points.clone(), triangles.clone(), TriMeshFlags::ORIENTED)
            .or_else(|_| TriMesh::new(points, triangles))
            .map_err(empty)?;
        Ok(Self { body, display: Arc::new(display) })
    }

    /// The solid.
    #[must_use]
    pub fn body(&self) -> &Arc<Body> {
        &self.body
    }

    /// Its display mesh (m).
    #[must_use]
    pub fn display(&self) -> &TriMesh {
        &self.display
    }

    /// A collider of it. With a density (kg/m³) its mass and inertia are those of the exact solid.
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

    /// There is none: a solid has the size that it has.
    fn scale_dyn(&self, _scale: Vector, _num_subdivisions: u32) -> Option<Box<dyn Shape>> {
        None
    }

    /// Those of the exact solid; none of a sheet.
    fn mass_properties(&self, density: Real) -> MassProperties {
        let info = &self.body.hierarchy().info;
        let Some(inertia) = info.inertia else { return MassProperties::default() };
        let mass = density * info.volume * CUBIC;
        let unit = density * CUBIC * METRES * METRES;
        // Rapier's own eigenvalues are good to 1e-8 only.
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
        let wall = self.body.wall();
        let thick = if wall.is_finite() && wall > 0.0 { wall } else { THICKNESS * self.body.size() };
        thick * METRES
    }

    fn ccd_angular_thickness(&self) -> Real {
        0.0
    }

    fn compute_aabb(&self, position: &Pose) -> Aabb {
        // As tight as the solid's extents, not the box of its box.
        let b = self.body.posed_bounds(&units::exact_pose(position));
        Aabb::new(units::point(&b.min), units::point(&b.max))
    }
}
