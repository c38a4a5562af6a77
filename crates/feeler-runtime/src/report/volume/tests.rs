//! Stated errors of overlap volumes against closed forms of nearly flush solids.

use super::*;
use feeler_brep::build::{BuildOptions, build_solid};
use feeler_brep::fixtures;
use feeler_brep::source::SolidSource;
use feeler_geom::math;
use nalgebra::UnitQuaternion;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::f64::consts::PI;

/// Rounding of a volume relative to that of the smaller solid, which stated errors need not include.
const ROUNDING: f64 = 1e-12;
/// Shifts in mm and tilts in rad of nearly flush solids.
const SMALL: [f64; 9] = [1e-6, 3e-6, 1e-5, 4e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2];

fn body(source: &SolidSource) -> Arc<Body> {
    let solid = build_solid(source, &BuildOptions::default()).unwrap();
    let options = feeler_hierarchy::Options { flatness: 0.5 };
    Arc::new(Body::new(feeler_prepare::prepare_solid(&solid, &options).unwrap()).unwrap())
}

/// Block around the origin.
fn centered(size: [f64; 3]) -> Arc<Body> {
    body(&fixtures::block(size.map(|x| -0.5 * x), size.map(|x| 0.5 * x)))
}

fn turned_about_z(angle: f64) -> Pose {
    Pose::from_parts(Translation::identity(), UnitQuaternion::from_scaled_axis(V3::z() * angle))
}

type Translation = nalgebra::Translation3<f64>;

/// Computes an overlap in both roles, in the second one in a rotated frame. Asserts the volume, the stated
/// errors and the box, and returns the larger stated error relative to the volume.
#[track_caller]
fn check(what: &str, a: &Arc<Body>, b: &Arc<Body>, pose: &Pose, exact: f64) -> f64 {
    let options = QueryOptions::within(0.1);
    let whole = a.hierarchy().info.volume.min(b.hierarchy().info.volume);
    let here = Pose::identity();
    let turn = Pose::from_parts(Translation::identity(), UnitQuaternion::from_euler_angles(0.4, -1.1, 2.3));
    let mut worst = 0.0_f64;
    for (is_swapped, a, b, p, q) in [(false, a, b, &here, pose), (true, b, a, &(turn * pose), &turn)] {
        let found = ContactPair::new(a.clone(), b.clone()).overlap(p, q, &options).unwrap();
        let found = found.unwrap_or_else(|| panic!("{what}: no overlap"));
        let off = (found.volume - exact).abs();
        assert!(
            off <= found.error + ROUNDING * whole,
            "{what}, swapped {is_swapped}: {found:?}, exact {exact}, off by {off:e}"
        );
        let region = common(&a.posed_bounds(p), &b.posed_bounds(q)).inflated(1e-9);
        assert!(region.contains(&found.min) && region.contains(&found.max), "{what}: {found:?}, {region:?}");
        worst = worst.max(found.error / exact);
    }
    worst
}

/// Overlap by lines only.
fn by_lines(a: &Arc<Body>, b: &Arc<Body>, pose: &Pose, max_lines: u32) -> Overlap {
    let pair = ContactPair::new(a.clone(), b.clone());
    let here = Pose::identity();
    let ctx = context(&pair, (&here, pose), &QueryOptions::within(0.1)).unwrap().unwrap();
    let region = common(&a.posed_bounds(&here), &b.posed_bounds(pose));
    let measure = Measure { ctx: &ctx, poses: [here, *pose], region, witness: region.center() };
    measure.by_lines(&measure.zoomed().unwrap(), max_lines).unwrap()
}

/// Common volume of two equal blocks that are shifted.
fn of_shifted(size: [f64; 3], by: [f64; 3]) -> f64 {
    size.iter().zip(by).map(|(x, d)| x - d.abs()).product()
}

/// Common volume of two cubes, of which one is turned about the axis through the centres of two faces.
fn of_turned(side: f64, angle: f64) -> f64 {
    let (sin, cos) = math::sin_cos(angle.abs());
    side * side * side * 2.0 / (1.0 + sin + cos)
}

/// The overlap of two equal circles at a distance.
fn lens(radius: f64, d: f64) -> f64 {
    2.0 * radius * radius * math::acos(0.5 * d / radius) - 0.5 * d * (4.0 * radius * radius - d * d).sqrt()
}

#[test]
fn volume_of_shifted_blocks_is_within_the_stated_error() {
    let size = [40.0, 30.0, 20.0];
    let block = centered(size);
    let mut rng = SmallRng::seed_from_u64(52);
    for t in SMALL.into_iter().flat_map(|t| [t, -t]) {
        let error = check(&format!("along x by {t}"), &block, &block, &Pose::translation(t, 0.0, 0.0), {
            of_shifted(size, [t, 0.0, 0.0])
        });
        assert!(error <= 1e-6, "along x by {t}: {error:e}");
        let by = [0; 3].map(|_| t * rng.random_range(-1.0..1.0));
        let pose = Pose::translation(by[0], by[1], by[2]);
        let error = check(&format!("by {by:?}"), &block, &block, &pose, of_shifted(size, by));
        assert!(error <= 1e-6, "by {by:?}: {error:e}");
    }
}

#[test]
fn centroid_and_box_of_shifted_blocks() {
    let block = centered([40.0, 30.0, 20.0]);
    for t in [-5e-3, -1e-3, -1e-4, 1e-4, 5e-3] {
        let pair = ContactPair::new(block.clone(), block.clone());
        let pose = Pose::translation(t, 0.0, 0.0);
        let found = pair.overlap(&Pose::identity(), &pose, &QueryOptions::within(0.1)).unwrap().unwrap();
        let (min, max) = (P3::new(-20.0 + t.max(0.0), -15.0, -10.0), P3::new(20.0 + t.min(0.0), 15.0, 10.0));
        let off = [found.min - min, found.max - max, found.centroid - nalgebra::center(&min, &max)];
        let largest = off.iter().map(V3::amax).fold(0.0, f64::max);
        // Crossing curves extend beyond trims by up to 1e-9 of the size.
        assert!(largest <= 2e-7, "shifted by {t}: {found:?}, off by {largest:e}");
    }
}

#[test]
fn volume_of_tilted_cubes_is_within_the_stated_error() {
    let cube = centered([20.0; 3]);
    for angle in [1e-6, 1e-5, 1e-4, 3e-4, 1e-3].into_iter().flat_map(|t| [t, -t]) {
        let error = check(
            &format!("turned by {angle}"),
            &cube,
            &cube,
            &turned_about_z(angle),
            of_turned(20.0, angle),
        );
        assert!(error <= 1e-4, "turned by {angle}: {error:e}");
    }
}

/// Kinks on opposite sides of a solid cancel each other in the difference of opposite displacements.
#[test]
fn volume_of_contained_blocks_is_within_the_stated_error() {
    let cube = centered([20.0; 3]);
    for d in SMALL {
        let slab = centered([20.0 - d, 20.0, 10.0]);
        let error = check(&format!("narrower by {d}"), &cube, &slab, &Pose::identity(), (20.0 - d) * 200.0);
        assert!(error <= 1e-6, "narrower by {d}: {error:e}");
        // Neither solid contains the other.
        let bar = centered([20.0 - d, 30.0, 10.0]);
        let what = format!("crossing, narrower by {d}");
        let error = check(&what, &cube, &bar, &Pose::identity(), (20.0 - d) * 200.0);
        assert!(error <= 1e-6, "{what}: {error:e}");
    }
    let slab = centered([10.0, 20.0, 5.0]);
    let error = check("flush inside", &cube, &slab, &Pose::identity(), 1000.0);
    assert!(error <= 1e-9, "{error:e}");
    let error = check("equal", &cube, &cube, &Pose::identity(), 8000.0);
    assert!(error <= 1e-9, "{error:e}");
    check("generic", &cube, &slab, &Pose::translation(7.3, 0.4, 11.1), 7.7 * 19.6 * 1.4);
}

#[test]
fn thin_common_parts_are_within_the_stated_error() {
    let cube = centered([20.0; 3]);
    for x in [19.999, 19.99, 19.9999] {
        let by = [x, x, 0.0];
        let pose = Pose::translation(x, x, 0.0);
        let error = check(&format!("thin at {x}"), &cube, &cube, &pose, of_shifted([20.0; 3], by));
        assert!(error <= 1e-3, "thin at {x}: {error:e}");
    }
}

#[test]
fn volume_of_nearly_equal_cylinders_is_within_the_stated_error() {
    let (r, h) = (5.0, 12.0);
    let rod = body(&fixtures::cylinder(r, h));
    for t in [1e-6, -1e-5, 1e-4, -1e-3, 1e-2] {
        let (along, across) = (Pose::translation(0.0, 0.0, t), Pose::translation(0.6 * t, 0.8 * t, 0.0));
        let shorter = PI * r * r * (h - t.abs());
        let pin = body(&fixtures::cylinder(r - t, h));
        let thinner = PI * (r * r).min((r - t) * (r - t)) * h;
        let errors = [
            check(&format!("along the axis by {t}"), &rod, &rod, &along, shorter),
            check(&format!("across the axis by {t}"), &rod, &rod, &across, lens(r, t.abs()) * h),
            check(&format!("coaxial, radius less by {t}"), &rod, &pin, &Pose::identity(), thinner),
        ];
        assert!(errors.iter().all(|e| *e <= 1e-5), "{t}: {errors:?}");
    }
}

#[test]
fn volume_by_lines_is_within_the_stated_error() {
    let (cube, block) = (centered([20.0; 3]), centered([40.0, 30.0, 20.0]));
    let at = |x: f64, y: f64| Pose::translation(x, y, 0.0);
    let cases = [
        (&cube, at(19.999, 19.999), 2e-5),
        (&block, at(-0.01, 0.0), of_shifted([40.0, 30.0, 20.0], [0.01, 0.0, 0.0])),
        (&cube, at(0.0, 0.0), 8000.0),
        (&cube, turned_about_z(3e-4), of_turned(20.0, 3e-4)),
        (&cube, turned_about_z(-1e-3), of_turned(20.0, -1e-3)),
    ];
    for (solid, pose, exact) in &cases {
        for max_lines in [4_000, 12_000] {
            let found = by_lines(solid, solid, pose, max_lines);
            let off = (found.volume - exact).abs();
            assert!(off <= found.error, "{found:?}, exact {exact}, off by {off:e}");
        }
    }
}
