//! Bodies: solids ready for queries.

use crate::error::{Failure, FeelerResult, enter};
use crate::model::FeelerModel;
use crate::pointer::{hand_out, put_sized, shared, take_back};
use feeler::Body;
use std::sync::Arc;

/// A solid, ready for queries.
#[derive(Debug)]
pub struct FeelerBody(pub(crate) Arc<Body>);

/// Facts about a solid, in its own coordinates.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FeelerBodyInfo {
    /// `sizeof(FeelerBodyInfo)`, set by the caller.
    pub struct_size: u32,
    /// 0: an open surface, which has no mass.
    pub has_mass: u32,
    /// Smallest coordinates (mm).
    pub bbox_min: [f64; 3],
    /// Largest coordinates (mm).
    pub bbox_max: [f64; 3],
    /// Area (mm²).
    pub area: f64,
    /// Volume (mm³), of density 1 the mass.
    pub volume: f64,
    /// Centre of mass (mm).
    pub centroid: [f64; 3],
    /// Inertia tensor (mm⁵) about the centre of mass, of density 1, by rows.
    pub inertia: [f64; 9],
    /// Smallest thickness of the material (mm) or less; 0 of a sheet and where it is not known.
    pub min_thickness: f64,
    /// Supermaximal faces, edges and vertices.
    pub features: [u32; 3],
    /// 0.
    pub reserved: u32,
}

/// What an engine wants to know of a solid of one density, in its own coordinates: kilograms and
/// millimetres.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FeelerMass {
    /// `sizeof(FeelerMass)`, set by the caller.
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// kg.
    pub mass: f64,
    /// Centre of mass (mm).
    pub center: [f64; 3],
    /// Inertia tensor (kg mm²) about the centre of mass, by rows.
    pub inertia: [f64; 9],
}

/// Takes a solid of a model into use, by its number.
///
/// # Safety
/// `model` is a model; `out` may be written. Free the body by `feeler_body_free`.
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

/// Frees a body; NULL does nothing. Pairs and scenes that have taken it keep what they need.
///
/// # Safety
/// `body` is NULL or a body that is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_body_free(body: *mut FeelerBody) {
    // SAFETY: by the caller's promise.
    enter(|| unsafe {
        take_back(body);
        Ok(())
    });
}

/// Facts about a solid.
///
/// # Safety
/// `body` is a body; `out` has the size that its `struct_size` tells.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn feeler_body_info(body: *const FeelerBody, out: *mut FeelerBodyInfo) -> FeelerResult {
    // SAFETY: by the caller's promise.
    enter(|| unsafe { put_sized(out, info(&shared(body, "body")?.0), "out") })
}

/// Mass and inertia of the exact solid at a density (kg/m³; steel: 7850).
///
/// # Safety
/// `body` is a body; `out` has the size that its `struct_size` tells.
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
        return Err(Failure::argument(format!("density is {density}; give kg/m³ above 0")));
    }
    let info = info(body);
    if info.has_mass == 0 {
        return Err(Failure::new(FeelerResult::Body, "an open surface has no mass"));
    }
    let density = density * 1e-9; // kg/mm³
    Ok(FeelerMass {
        struct_size: 0,
        reserved: 0,
        mass: density * info.volume,
        center: info.centroid,
        inertia: info.inertia.map(|i| density * i),
    })
}

/// Facts about a solid.
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
        features: [count(h.faces.len()), count(h.edges.len()), count(h.vertices.len())],
        reserved: 0,
    }
}
