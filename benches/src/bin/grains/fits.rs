//! Fits to points on known shapes.

use crate::direction;
use feeler_convex::{PolySuperellipsoid, Support};
use feeler_geom::math::powf;
use feeler_geom::{P3, Pose, V3};
use feeler_grains::fit::fit;
use nalgebra::{Translation3, UnitQuaternion};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::time::Instant;

/// Maximum distance between the fitted and the true surface at which a shape counts as found, as a
/// fraction of the size.
const MAX_SURFACE_DISTANCE_REL: f64 = 1e-6;

pub(super) fn run(shapes: u32, points: u32, e: [f64; 2]) -> bool {
    let mut rng = SmallRng::seed_from_u64(312);
    let mut offs = Vec::new();
    let start = Instant::now();
    for i in 0..shapes {
        let mut semi = || V3::from_fn(|_, _| rng.random_range(0.3..3.0));
        let (plus, minus) = (semi(), semi());
        let e = [rng.random_range(e[0]..e[1]), rng.random_range(e[0]..e[1])];
        let shape = PolySuperellipsoid::new(plus, minus, e).expect("semi-axes and exponents are right");
        let at = direction(&mut rng) * rng.random_range(0.0..20.0);
        let turn = direction(&mut rng) * rng.random_range(0.0..3.1);
        let pose = Pose::from_parts(Translation3::from(at), UnitQuaternion::from_scaled_axis(turn));
        let cloud: Vec<[f64; 3]> = (0..points)
            .map(|_| {
                let d = direction(&mut rng);
                let u = V3::from_fn(|i, _| (d[i] / if d[i] < 0.0 { minus[i] } else { plus[i] }).abs());
                let around = powf(u.x, 2.0 / e[0]) + powf(u.y, 2.0 / e[0]);
                let gauge = powf(powf(around, e[0] / e[1]) + powf(u.z, 2.0 / e[1]), 0.5 * e[1]);
                (pose * P3::from(d / gauge)).into()
            })
            .collect();
        let found = match fit(&cloud) {
            Ok(found) => found,
            Err(error) => {
                println!("shape {i}: {error}");
                offs.push(f64::INFINITY);
                continue;
            }
        };
        let (grain, there) = (found.grain().expect("a fit is a grain"), found.pose());
        let height = |shape: &PolySuperellipsoid, pose: &Pose, n: &V3| {
            let local = pose.rotation.inverse_transform_vector(n);
            (pose * shape.support(&local).point).coords.dot(n)
        };
        // The largest distance of the surfaces of convex bodies is that of their support functions.
        let off = (0..5000)
            .map(|_| direction(&mut rng))
            .map(|n| (height(&shape, &pose, &n) - height(grain.shape(), &there, &n)).abs() / found.size)
            .fold(0.0, f64::max);
        if off > MAX_SURFACE_DISTANCE_REL {
            println!("shape {i}: off by {off:.1e}, rms {:.1e}: {plus:?} {minus:?} {e:?}", found.rms);
        }
        offs.push(off);
    }
    let seconds = start.elapsed().as_secs_f64() / f64::from(shapes);
    offs.sort_by(f64::total_cmp);
    let right = offs.iter().filter(|o| **o <= MAX_SURFACE_DISTANCE_REL).count();
    println!(
        "{right} of {shapes} shapes from {points} points to {MAX_SURFACE_DISTANCE_REL:.0e} of the size; \
         median {:.1e}, worst {:.1e}; {seconds:.2} s each, including the comparison",
        offs[offs.len() / 2],
        offs[offs.len() - 1]
    );
    right == offs.len()
}
