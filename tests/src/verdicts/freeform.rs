//! Pairs of arbitrary solids near contact, with rays as the reference: for free-form solids, which have
//! no closed form.

use super::generate::{against, placed, small, turn};
use super::judge::Fault;
use super::{QueryResult, Verdict};
use crate::Part;
use crate::membership::{NEAR_BOUNDARY, Rays};
use feeler_geom::trim::Side;
use feeler_geom::{P2, P3, Pose, V3};
use nalgebra::Translation3;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};

/// A solid and the reference for the membership of points.
#[derive(Debug)]
pub struct Free<'a> {
    /// The solid.
    pub part: &'a Part,
    rays: Rays<'a>,
    /// Sampled points of the faces with their outward normals, in the solid's frame.
    samples: Vec<(P3, V3)>,
}

impl<'a> Free<'a> {
    /// Samples the faces of a solid.
    #[must_use]
    pub fn new(part: &'a Part) -> Self {
        let solid = part.body.hierarchy();
        let mut rng = SmallRng::seed_from_u64(11);
        let mut samples = Vec::new();
        let each = (1500 / solid.faces.len()).max(30);
        for f in &solid.faces {
            let r = f.trim.rect;
            let sign = if f.outward { 1.0 } else { -1.0 };
            let uv =
                (0..4 * each).map(|_| P2::new(rng.random_range(r.u0..r.u1), rng.random_range(r.v0..r.v1)));
            let inside = uv.filter(|uv| f.trim.classify(*uv) == Side::Inside).take(each);
            samples.extend(inside.map(|uv| (f.surface.point(uv), f.surface.normal(uv) * sign)));
        }
        Self { part, rays: Rays::new(solid), samples }
    }

    fn size(&self) -> f64 {
        self.part.body.size()
    }
}

/// Poses of A and B for a given number, near contact.
#[must_use]
pub fn poses(a: &Free<'_>, b: &Free<'_>, seed: u64) -> [Pose; 2] {
    let mut rng = SmallRng::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let rng = &mut rng;
    let size = a.size().max(b.size());
    let (p, q) =
        (a.samples[rng.random_range(0..a.samples.len())], b.samples[rng.random_range(0..b.samples.len())]);
    let pose = if rng.random_bool(0.2) {
        let turn = turn(rng);
        let middle = a.part.body.bounds().center() - turn * b.part.body.bounds().center();
        placed(middle, turn)
    } else {
        against(rng, p, q)
    };
    let pose = Translation3::from(p.1 * (size * small(rng).clamp(-0.1, 0.1))) * pose;
    let pose_a = if rng.random_bool(0.5) { Pose::identity() } else { placed(p.1 * size, turn(rng)) };
    [pose_a, pose_a * pose]
}

/// Result of the reference.
#[derive(Clone, Debug)]
pub struct Seen {
    /// A point in world coordinates that is inside both solids, farther than [`NEAR_BOUNDARY`] of the
    /// size from both boundaries; `None` if none was found.
    pub common: Option<P3>,
    /// Smallest distance (mm) between sampled points of both solids, which is an upper bound of their
    /// distance.
    pub nearest: f64,
    /// Faults with descriptions.
    pub faults: Vec<(Fault, String)>,
}

/// Checks the results for A and B in their poses, from a query with the given `d_max`.
#[must_use]
pub fn check(
    a: &Free<'_>,
    b: &Free<'_>,
    [pose_a, pose_b]: &[Pose; 2],
    d_max: f64,
    result: &QueryResult,
) -> Seen {
    let pose_ab = pose_a.inv_mul(pose_b);
    let pose_ba = pose_ab.inverse();
    let size = a.size().max(b.size());
    let tol = 1e-7 * size;
    let both = |p: &P3| {
        a.part.body.bounds().contains(p)
            && b.part.body.bounds().contains(&(pose_ba * p))
            && a.rays.contains(p) == Some(true)
            && b.rays.contains(&(pose_ba * p)) == Some(true)
    };
    // Samples moved below the surface of either solid.
    let mut candidates: Vec<P3> = Vec::new();
    for depth in [10.0 * NEAR_BOUNDARY * size, 100.0 * NEAR_BOUNDARY * size] {
        candidates.extend(a.samples.iter().map(|(p, n)| p - n * depth));
        candidates.extend(b.samples.iter().map(|(p, n)| pose_ab * (p - n * depth)));
    }
    let common = candidates.into_iter().find(both);
    let placed: Vec<P3> = b.samples.iter().map(|(p, _)| pose_ab * p).collect();
    let nearest = a
        .samples
        .iter()
        .flat_map(|(p, _)| placed.iter().map(move |q| (p - q).norm_squared()))
        .fold(f64::INFINITY, f64::min)
        .sqrt();
    let mut faults = vec![];
    if result.verdict == Verdict::Interfering {
        // The verdict is wrong if the solids are far apart and neither is inside the other.
        let one_inside = || {
            let of_b = placed.iter().find_map(|q| a.rays.contains(q));
            let of_a = a.samples.iter().find_map(|(p, _)| b.rays.contains(&(pose_ba * p)));
            of_a != Some(false) || of_b != Some(false)
        };
        if common.is_none() && nearest > 0.2 * size && !one_inside() {
            faults.push((Fault::Invented, format!("samples are {nearest:.3e} mm apart")));
        }
    } else if result.verdict != Verdict::Undecided {
        if let Some(p) = &common {
            faults.push((Fault::Missed, format!("{p} (A's frame) is inside both solids")));
        } else if result.distance.unwrap_or(d_max) > nearest + 2.0 * tol {
            faults.push((
                Fault::TooFar,
                format!("distance {:?}, but samples are {nearest:.9e} mm apart", result.distance),
            ));
        }
    }
    Seen { common: common.map(|p| pose_a * p), nearest, faults }
}
