//! Bodies: solids that are ready for queries.

use crate::error::{Failure, FeelerResult, enter};
use crate::model::FeelerModel;
use crate::pointer::{hand_out, put_sized, shared, take_back};
use feeler::Body;
use std::sync::Arc;

/// Prepared solid or open surface, for pairs, trackers, scenes and walls.
#[derive(Debug)]
pub struct FeelerBody(pub(crate) Arc<Body>);

/// Geometric properties of a solid, in its own coordinates.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FeelerBodyInfo {
    /// `sizeof(FeelerBodyInfo)`, set by the caller.
    pub struct_size: u32,
    /// 1 for a closed solid, 0 for an open surface, whose volume, centroid and inertia are 0.
    pub has_mass: u32,
    /// Smallest coordinates of the axis-aligned bounding box (mm).
    pub bbox_min: [f64; 3],
    /// Largest coordinates of the axis-aligned bounding box (mm).
    pub bbox_max: [f64; 3],
    /// Area of the surface (mm²).
    pub area: f64,
    /// Volume (mm³); 0 for an open surface.
    pub volume: f64,
    /// Centre of mass (mm); zeros for an open surface.
    pub centroid: [f64; 3],
    /// Inertia tensor (mm⁵) about the centre of mass at density 1, axes of the solid, row by row.
    pub inertia: [f64; 9],
    /// Lower bound of the thickness of the material (mm): the length of the shortest segment through
    /// material that is normal to faces at both ends. Infinite if no such segment exists; 0 for an
    /// open surface and if no bound could be proven.
    pub min_thickness: f64,
    /// Numbers of features: faces, edges and vertices. All faces on one oriented surface count as one
    /// face (a supermaximal face), and all edges on one curve between the same faces as one edge.
    pub feature_counts: [u32; 3],
    /// Reserved, 0.
    pub reserved: u32,
}

/// Mass and inertia of a solid of uniform density, in its own coordinates.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FeelerMass {
    /// `sizeof(FeelerMass)`, set by the caller.
    pub struct_size: u32,
    /// Reserved, 0.
    pub reserved: u32,
    /// Mass (kg).
    pub mass: f64,
    /// Centre of mass (mm).
    pub centroid: [f64; 3],
    /// Inertia tensor (kg·mm²) about the centre of mass, axes of the solid, row by row.
    pub inertia: [f64; 9],
}

/// Creates a body from a solid of a model. `solid` is the index of the solid, counted from 0. Free it
/// with `feeler_body_free`. The body remains valid if the model is freed.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_body_new(
    model: *const FeelerModel,
    solid: usize,
    out: *mut *mut FeelerBody,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        let body = Body::from_model(&shared(model, "model")?.model, solid);
        hand_out(out, FeelerBody(Arc::new(body.map_err(Failure::of(FeelerResult::Body))?)))
    })
}

/// Frees a body. Pairs, trackers, scenes and walls that use the body remain valid.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_body_free(body: *mut FeelerBody) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(body);
        Ok(())
    });
}

/// Writes the geometric properties of a solid to `out`.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_body_info(body: *const FeelerBody, out: *mut FeelerBodyInfo) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { put_sized(out, info(&shared(body, "body")?.0), "out") })
}

/// Writes the mass and the inertia of the exact solid to `out`. `density` is in kg/m³ (steel: 7850).
/// Returns `FEELER_RESULT_ARGUMENT` unless the density is positive and finite, and `FEELER_RESULT_BODY`
/// for an open surface.
///
/// # Safety
/// Pointers follow the conventions of the [crate].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_body_mass(
    body: *const FeelerBody,
    density: f64,
    out: *mut FeelerMass,
) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { put_sized(out, mass(&shared(body, "body")?.0, density)?, "out") })
}

fn mass(body: &Body, density: f64) -> Result<FeelerMass, Failure> {
    if !(density.is_finite() && density > 0.0) {
        return Err(Failure::argument(format!(
            "density is {density}: give a finite number above 0, in kg/m³"
        )));
    }
    let info = info(body);
    if info.has_mass == 0 {
        return Err(Failure::new(FeelerResult::Body, "the body is an open surface and has no mass"));
    }
    let density = density * 1e-9; // kg/mm³
    Ok(FeelerMass {
        struct_size: 0,
        reserved: 0,
        mass: density * info.volume,
        centroid: info.centroid,
        inertia: info.inertia.map(|i| density * i),
    })
}

/// Record of the geometric properties of a body, with `struct_size` 0.
#[must_use]
pub fn info(body: &Body) -> FeelerBodyInfo {
    let h = body.hierarchy();
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let mass = h.info.inertia;
    let tensor = mass.map_or([[0.0; 3]; 3], |m| m.tensor);
    FeelerBodyInfo {
        struct_size: 0,
        has_mass: mass.is_some().into(),
        bbox_min: h.info.bbox_min,
        bbox_max: h.info.bbox_max,
        area: h.info.area,
        volume: h.info.volume,
        centroid: mass.map_or([0.0; 3], |m| m.centroid),
        inertia: std::array::from_fn(|i| tensor[i / 3][i % 3]),
        min_thickness: body.min_thickness(),
        feature_counts: [count(h.faces.len()), count(h.edges.len()), count(h.vertices.len())],
        reserved: 0,
    }
}
