//! Support for the end-to-end tests: models and their preparation, the brute-force reference and the
//! pairs for it, and reference methods for verdicts, membership, motions and curves.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "test support: counts of cells and samples"
)]

pub mod brute_force;
pub mod cases;
pub mod conformal;
mod conjugate;
pub mod contact_motions;
pub mod corpus;
pub mod curve_scenes;
pub mod curve_solids;
pub mod curves;
mod cycloidal;
pub mod far;
pub mod insertion;
pub mod membership;
pub mod motions;
pub mod moving_pairs;
pub mod particle_walls;
pub mod passages;
pub mod profiles;
pub mod pushes;
pub mod tracking;
pub mod verdicts;

use feeler_brep::Solid;
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::source::SolidSource;
use feeler_geom::Pose;
use feeler_hierarchy::Options;
use feeler_runtime::{Body, ContactPair, QueryOptions};
use nalgebra::{Rotation3, Translation3, UnitQuaternion, Vector3};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Path of the folder `data` with the project's models.
#[must_use]
pub fn data_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../data")
}

/// Path of the shared corpus beside the repository, if it is present; tests that need it are skipped
/// otherwise.
#[must_use]
pub fn shared_dir() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    dir.join("models/manifest.json").is_file().then_some(dir)
}

/// A solid as a boundary representation and as a body for queries.
#[derive(Debug)]
pub struct Part {
    /// The boundary representation.
    pub solid: Solid,
    /// The prepared body.
    pub body: Arc<Body>,
    /// Pose of the instance in the file.
    pub pose: Pose,
}

/// Imports and prepares one solid instance of a STEP file.
///
/// # Panics
/// If the import or the preparation fails.
#[must_use]
pub fn part(path: &Path, instance: usize) -> Part {
    part_with(path, instance, feeler_import::DEFAULT_FLATNESS)
}

/// Like [`part`], with a given flatness (rad).
///
/// # Panics
/// As in [`part`].
#[must_use]
pub fn part_with(path: &Path, instance: usize, flatness: f64) -> Part {
    let import = feeler_step::read_step(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let place = &import.instances[instance];
    Part { pose: place.pose, ..part_of(&import.solids[place.solid], flatness) }
}

/// Builds and prepares a solid in its own frame, with a given flatness (rad).
///
/// # Panics
/// If the solid cannot be built or prepared.
#[must_use]
pub fn part_of(source: &SolidSource, flatness: f64) -> Part {
    let solid =
        build_solid(source, &BuildOptions::default()).unwrap_or_else(|e| panic!("{}: {e}", source.name));
    let hierarchy = feeler_prepare::prepare_solid(&solid, &Options { flatness })
        .unwrap_or_else(|e| panic!("{}: {e}", source.name));
    let body = Body::new(hierarchy).unwrap_or_else(|e| panic!("{}: {e}", source.name));
    Part { solid, body: Arc::new(body), pose: Pose::identity() }
}

/// Imports and prepares the model `name` of `data/`.
#[must_use]
pub fn model(name: &str) -> Part {
    part(&data_dir().join(format!("{name}.step")), 0)
}

/// Queries a fresh pair of two parts with the given options.
///
/// # Panics
/// If a pose is not finite or an option is invalid.
#[must_use]
pub fn query(a: &Part, b: &Part, pose_a: &Pose, pose_b: &Pose, options: &QueryOptions) -> ContactPair {
    let mut pair = ContactPair::new(Arc::clone(&a.body), Arc::clone(&b.body));
    pair.query(&(pose_a * a.pose), &(pose_b * b.pose), options).expect("finite poses and options");
    pair
}

/// Pose of a rigid motion given by a row-major 4×4 matrix (mm).
#[must_use]
pub fn pose_of_matrix(m: &[[f64; 4]; 4]) -> Pose {
    let r = nalgebra::Matrix3::from_fn(|i, j| m[i][j]);
    let r = Rotation3::from_matrix_eps(&r, 1e-15, 100, Rotation3::identity());
    Pose::from_parts(Translation3::new(m[0][3], m[1][3], m[2][3]), UnitQuaternion::from_rotation_matrix(&r))
}

/// A seeded random motion of at most `dt` mm and `dr` radians about `base`.
#[must_use]
pub fn random_pose(seed: u64, base: &Pose, dt: f64, dr: f64) -> Pose {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut ball = |r: f64| loop {
        let v = Vector3::from_fn(|_, _| rng.random_range(-1.0..=1.0));
        if v.norm_squared() <= 1.0 {
            return v * r;
        }
    };
    let (t, w) = (ball(dt), ball(dr));
    Translation3::from(t) * base * UnitQuaternion::from_scaled_axis(w)
}
