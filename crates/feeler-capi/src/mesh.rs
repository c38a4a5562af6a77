//! Display meshes.

use crate::body::FeelerBody;
use crate::error::{Failure, FeelerResult, enter};
use crate::pointer::{hand_out, put_sized, shared, take_back};
use feeler::mesh::{Mesh, MeshError, mesh};

/// Triangle mesh of a body for display, in the body's own coordinates.
#[derive(Debug)]
pub struct FeelerMesh {
    points: Vec<f64>,
    normals: Vec<f64>,
    triangles: Vec<u32>,
    rest: Mesh,
}

/// Arrays of a mesh. The pointers are valid until the mesh is freed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FeelerMeshData {
    /// `sizeof(FeelerMeshData)`, set by the caller.
    pub struct_size: u32,
    /// Number of triangle sides that no adjacent triangle shares; 0 for a closed mesh.
    pub open_sides: u32,
    /// Largest measured distance between a triangle and the surface of its face (mm).
    pub deviation: f64,
    /// Number of vertices.
    pub point_count: usize,
    /// Number of triangles.
    pub triangle_count: usize,
    /// Coordinates (mm): x, y, z of each vertex. No two faces share a vertex.
    pub points: *const f64,
    /// Outward unit normals of the faces: x, y, z of each vertex.
    pub normals: *const f64,
    /// Index of the first vertex at the same position, for each vertex; it joins the triangles of
    /// adjacent faces.
    pub welded: *const u32,
    /// Indices of three vertices of each triangle, counter-clockwise seen from outside.
    pub triangles: *const u32,
    /// Index of the face of each triangle, numbered like `index` of `FeelerFeatureRef`.
    pub faces: *const u32,
}

/// Creates a triangle mesh within `chord` (mm) of the exact faces, for display only: queries do not use
/// meshes. Check `deviation` of `FeelerMeshData`, which may exceed `chord` for extreme splines and edges
/// far from their faces. Free the mesh with `feeler_mesh_free`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
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

/// Frees a mesh.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_mesh_free(mesh: *mut FeelerMesh) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(mesh);
        Ok(())
    });
}

/// Writes the sizes and the arrays of a mesh to `out`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
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
