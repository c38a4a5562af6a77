//! Display meshes.

use crate::body::FeelerBody;
use crate::error::{Failure, FeelerResult, enter};
use crate::pointer::{hand_out, put_sized, shared, take_back};
use feeler::mesh::{Mesh, MeshError, mesh};

/// Triangles of a solid, in its own coordinates.
#[derive(Debug)]
pub struct FeelerMesh {
    points: Vec<f64>,
    normals: Vec<f64>,
    triangles: Vec<u32>,
    rest: Mesh,
}

/// Where the data of a mesh is; it lives as long as the mesh.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FeelerMeshData {
    /// `sizeof(FeelerMeshData)`, set by the caller.
    pub struct_size: u32,
    /// Sides of triangles without a partner: 0 where the mesh is closed.
    pub open_sides: u32,
    /// Largest distance (mm) found between a triangle and its surface.
    pub deviation: f64,
    /// Number of vertices.
    pub point_count: usize,
    /// Number of triangles.
    pub triangle_count: usize,
    /// Coordinates (mm): three of each vertex. Each face has vertices of its own.
    pub points: *const f64,
    /// Outward unit normals: three numbers of each vertex.
    pub normals: *const f64,
    /// For each vertex the first one in the same place.
    pub welded: *const u32,
    /// Three vertices of each triangle, counter-clockwise from outside.
    pub triangles: *const u32,
    /// For each triangle its supermaximal face: `feature.index` of contacts.
    pub faces: *const u32,
}

/// Triangles no farther than `chord` (mm) from a solid.
///
/// # Safety
/// `body` is a body; `out` may be written. Free the mesh by `feeler_mesh_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_mesh_new(
    body: *const FeelerBody,
    chord: f64,
    out: *mut *mut FeelerMesh,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let rest = mesh(shared(body, "body")?.0.hierarchy(), chord).map_err(|e| match e {
            MeshError::Chord(_) => Failure::argument(e),
            e => Failure::new(FeelerResult::Body, e),
        })?;
        let points = rest.points.iter().flat_map(|p| [p.x, p.y, p.z]).collect();
        let normals = rest.normals.iter().flat_map(|n| [n.x, n.y, n.z]).collect();
        let triangles = rest.triangles.iter().flatten().copied().collect();
        hand_out(out, FeelerMesh { points, normals, triangles, rest })
    })
}

/// Frees a mesh; NULL does nothing.
///
/// # Safety
/// `mesh` is NULL or a mesh that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_mesh_free(mesh: *mut FeelerMesh) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(mesh);
        Ok(())
    });
}

/// Where the data of a mesh is.
///
/// # Safety
/// `mesh` is a mesh; `out` has the size that its `struct_size` tells.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_mesh_data(mesh: *const FeelerMesh, out: *mut FeelerMeshData) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let mesh = shared(mesh, "mesh")?;
        let data = FeelerMeshData {
            struct_size: 0,
            open_sides: u32::try_from(mesh.rest.open_sides()).unwrap_or(u32::MAX),
            deviation: mesh.rest.deviation,
            point_count: mesh.rest.points.len(),
            triangle_count: mesh.rest.triangles.len(),
            points: mesh.points.as_ptr(),
            normals: mesh.normals.as_ptr(),
            welded: mesh.rest.welded.as_ptr(),
            triangles: mesh.triangles.as_ptr(),
            faces: mesh.rest.faces.as_ptr(),
        };
        put_sized(out, data, "out")
    })
}
