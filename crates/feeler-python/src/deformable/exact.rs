//! Rigid bodies of exact shape: prepared solids, balls and half-spaces.

use super::failed;
use crate::error::query;
use crate::model::Body;
use feeler::deformable::{Ball, DeformableError, HalfSpace, RigidBody, SmoothShape};
use feeler::particles::ExactShape;
use feeler::{P3, Pose};
use pyo3::prelude::*;
use std::sync::Arc;

/// Shape of a prepared solid; `None` stands for the default distance of probes.
fn shape(body: &Body, probe_spacing: Option<f64>) -> PyResult<ExactShape> {
    let shape = ExactShape::new(Arc::clone(&body.body));
    match probe_spacing {
        None => Ok(shape),
        Some(spacing) if spacing > 0.0 => Ok(shape.with_probe_spacing(spacing)),
        Some(spacing) => Err(query(format!("probe_spacing is {spacing} mm; give a length above 0, or inf"))),
    }
}

/// Creates a fixed body with the shape of a prepared solid.
pub(super) fn solid(body: &Body, pose: &Pose, probe_spacing: Option<f64>) -> PyResult<RigidBody> {
    shape(body, probe_spacing)?.rigid_body(pose).map_err(failed)
}

/// Creates a free body with the shape and the inertia of a prepared solid.
pub(super) fn free_solid(
    body: &Body,
    density: f64,
    pose: &Pose,
    probe_spacing: Option<f64>,
) -> PyResult<RigidBody> {
    if !(density.is_finite() && density > 0.0) {
        return Err(failed(DeformableError::Density(density)));
    }
    if body.body.is_sheet() {
        let name = &body.body.hierarchy().info.name;
        return Err(query(format!(
            "body '{name}' is an open surface, which has no mass; use RigidBody.solid"
        )));
    }
    shape(body, probe_spacing)?.free_rigid_body(density, pose).map_err(failed)
}

/// Creates a fixed body of balls with the given centres and radii in its frame.
pub(super) fn balls(centers: &[[f64; 3]], radii: &[[f64; 1]], pose: &Pose) -> PyResult<RigidBody> {
    if centers.is_empty() {
        return Err(query("the list of balls is empty; give at least one centre"));
    }
    let mut shapes: Vec<Box<dyn SmoothShape>> = Vec::with_capacity(centers.len());
    for (i, (&center, &[radius])) in centers.iter().zip(radii).enumerate() {
        if !(radius.is_finite() && radius > 0.0) {
            return Err(query(format!("the radius of ball {i} is {radius} mm; give a finite value above 0")));
        }
        if !center.iter().all(|c| c.is_finite()) {
            return Err(query(format!("the centre of ball {i} is not finite")));
        }
        shapes.push(Box::new(Ball { center: P3::from(center), radius }));
    }
    RigidBody::smooth(shapes, pose).map_err(failed)
}

/// Creates a fixed half-space below the plane z = 0 of its frame.
pub(super) fn half_space(pose: &Pose) -> PyResult<RigidBody> {
    RigidBody::smooth(vec![Box::new(HalfSpace)], pose).map_err(failed)
}
