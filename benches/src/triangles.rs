//! Contacts of triangle meshes by parry, which the benchmark programs compare with exact contacts.

use crate::Fallible;
use feeler_geom::Pose;
use feeler_view::mesh::Mesh;
use parry3d_f64::math::{Pose as ParryPose, Rotation, Vector};
use parry3d_f64::query::{
    ContactManifold, ContactManifoldsWorkspace, DefaultQueryDispatcher, PersistentQueryDispatcher,
};
use parry3d_f64::shape::TriMesh;

/// Returns parry's shape of a mesh.
///
/// # Errors
/// The mesh has no triangles.
pub fn shape(mesh: Mesh) -> Fallible<TriMesh> {
    let points = mesh.points.iter().map(|p| Vector::new(p.x, p.y, p.z)).collect();
    TriMesh::new(points, mesh.triangles).map_err(|e| e.to_string())
}

/// Converts a pose to parry's type.
#[must_use]
pub fn parry_pose(pose: &Pose) -> ParryPose {
    let (t, q) = (pose.translation.vector, pose.rotation.coords);
    ParryPose::from_parts(Vector::new(t.x, t.y, t.z), Rotation::from_xyzw(q.x, q.y, q.z, q.w))
}

/// Contact manifolds of two meshes, kept from pose to pose.
#[derive(Default)]
#[expect(missing_debug_implementations, reason = "parry's workspace has none")]
pub struct Manifolds {
    manifolds: Vec<ContactManifold<(), ()>>,
    workspace: Option<ContactManifoldsWorkspace>,
}

impl Manifolds {
    /// Computes the manifolds at a pose of B in the frame of A. Returns the number of contact points with
    /// distances of at most `prediction` (mm), and the smallest of these distances; `None` if no point is
    /// that near.
    ///
    /// # Errors
    /// parry does not support the pair of shapes.
    pub fn update(
        &mut self,
        pose: &ParryPose,
        [a, b]: &[TriMesh; 2],
        prediction: f64,
    ) -> Fallible<(usize, Option<f64>)> {
        let Self { manifolds, workspace } = self;
        DefaultQueryDispatcher
            .contact_manifolds(pose, a, b, prediction, manifolds, workspace)
            .map_err(|e| e.to_string())?;
        let near = || manifolds.iter().flat_map(|m| &m.points).map(|p| p.dist).filter(|d| *d <= prediction);
        Ok((near().count(), near().min_by(f64::total_cmp)))
    }
}
