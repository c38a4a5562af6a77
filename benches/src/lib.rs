//! What the comparison programs share.

use feeler_geom::Pose;
use feeler_hierarchy::{Model, Options};
use feeler_runtime::Body;
use std::path::Path;
use std::sync::Arc;

/// A result whose error is a message: the programs here only print them.
pub type Fallible<T> = Result<T, String>;

/// Median, 95th percentile and maximum; zeros for no values.
#[must_use]
pub fn spread(values: &mut [f64]) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let at = |q: usize| {
        values.get((values.len() * q / 100).min(values.len().saturating_sub(1))).copied().unwrap_or(0.0)
    };
    [at(50), at(95), values.last().copied().unwrap_or(0.0)]
}

/// Prepares a STEP file with the default options.
///
/// # Errors
/// As [`feeler_cli::import::prepare_step`].
pub fn prepare(path: &Path) -> Fallible<Model> {
    Ok(feeler_cli::import::prepare_step(path, &Options { flatness: feeler_cli::import::DEFAULT_FLATNESS })
        .map_err(|e| format!("{e:#}"))?
        .model)
}

/// The first solid of a model, and where its file puts it.
///
/// # Errors
/// An ill-formed hierarchy.
pub fn first_body(model: &Model) -> Fallible<(Arc<Body>, Pose)> {
    let instance = &model.instances[0];
    let [x, y, z, w] = instance.rotation;
    let pose = Pose::from_parts(
        nalgebra::Translation3::from(instance.translation),
        nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(w, x, y, z)),
    );
    let body = Body::new(model.solids[instance.solid as usize].clone()).map_err(|e| e.to_string())?;
    Ok((Arc::new(body), pose))
}
