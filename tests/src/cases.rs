//! Pairs of models of `data/` with random poses, small enough for the brute-force search.

use feeler_geom::Pose;
use nalgebra::{Translation3, UnitQuaternion, Vector3};
use std::f64::consts::{FRAC_PI_2, PI};

/// Two models of `data/` and random poses of the second one.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of model A.
    pub a: &'static str,
    /// Name of model B.
    pub b: &'static str,
    /// Centre of the random poses of B.
    pub base: Pose,
    /// Maximum translation (mm) from `base`.
    pub dt: f64,
    /// Maximum rotation (rad) from `base`.
    pub dr: f64,
    /// Maximum distance (mm) of minima.
    pub d_max: f64,
    /// Number of random poses.
    pub poses: u64,
}

/// Creates a case whose `base` is the translation `t` (mm) and a rotation (axis times angle in rad).
#[must_use]
pub fn case(
    (a, b): (&'static str, &'static str),
    t: [f64; 3],
    r: [f64; 3],
    dt: f64,
    dr: f64,
    d_max: f64,
    poses: u64,
) -> Case {
    let base = Pose::from_parts(Translation3::from(t), UnitQuaternion::from_scaled_axis(Vector3::from(r)));
    Case { a, b, base, dt, dr, d_max, poses }
}

/// Pairs that cover every canonical pair of BREP Table 4.1 and free-form surfaces.
#[must_use]
pub fn cases() -> Vec<Case> {
    vec![
        case(("box", "cylinder"), [0.0, 0.0, 62.0], [0.0; 3], 22.0, PI, 14.0, 36),
        case(("cylinder", "cylinder"), [44.0, 0.0, 0.0], [0.0; 3], 20.0, PI, 16.0, 32),
        case(("cylinder", "torus"), [40.0, 0.0, 10.0], [0.0; 3], 8.0, PI, 14.0, 28),
        case(("cone", "sphere"), [20.0, 0.0, 12.0], [0.0; 3], 8.0, PI, 12.0, 20),
        case(("cone", "half-cone"), [30.0, 0.0, 12.0], [0.0; 3], 10.0, PI, 14.0, 32),
        case(("cone", "torus"), [37.0, 0.0, 10.0], [0.0; 3], 8.0, PI, 14.0, 25),
        case(("torus", "ring"), [0.0, 0.0, 20.0], [0.0; 3], 8.0, PI, 12.0, 25),
        case(("sphere", "torus-without-edges"), [10.0, 0.0, 26.0], [0.0; 3], 8.0, PI, 14.0, 18),
        case(("sphere-without-edges", "sphere"), [10.0, 8.0, 20.0], [0.0; 3], 6.0, PI, 12.0, 5),
        case(("half-cone", "box"), [0.0, 45.0, 15.0], [0.0; 3], 12.0, PI, 12.0, 25),
        case(("socket", "plug"), [0.0, 0.0, 0.1], [0.0; 3], 0.03, 6e-4, 0.12, 20),
        case(("stepped-seat", "stepped-cone"), [0.0, 0.0, 0.2], [0.0; 3], 0.08, 1.5e-3, 0.3, 20),
        case(("spool", "spool"), [1.3, 0.0, 0.0], [FRAC_PI_2, 0.0, 0.0], 0.05, 0.05, 0.5, 20),
        case(("shaft", "ring"), [0.0, 0.0, 30.0], [0.0; 3], 0.1, 0.02, 0.4, 20),
        case(("race", "ball"), [13.0, 0.0, 0.0], [0.0; 3], 0.08, PI, 0.3, 20),
        case(("loft", "torus"), [0.0, 0.0, 34.0], [0.0; 3], 8.0, PI, 8.0, 12),
        case(("wave", "sphere"), [0.0, 0.0, 20.0], [0.0; 3], 6.0, PI, 8.0, 12),
    ]
}

impl Case {
    /// Seed of pose `k` of case number `index`; each `other` > 0 gives a further series of poses.
    #[must_use]
    pub fn seed(index: usize, k: u64, other: u64) -> u64 {
        1000 * index as u64 + k + 100_000 * other
    }
}
