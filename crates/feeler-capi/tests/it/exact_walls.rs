//! Exact walls, called as from C: results with closed forms, and invalid arguments.
#![allow(
    unsafe_code,
    clippy::undocumented_unsafe_blocks,
    clippy::unwrap_used,
    reason = "calls the C interface as C does"
)]

use feeler_c::*;
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

fn error() -> String {
    unsafe { CStr::from_ptr(feeler_last_error()) }.to_str().unwrap().to_owned()
}

fn ok(result: FeelerResult) {
    assert_eq!(result, FeelerResult::Ok, "{}", error());
}

fn wall(name: &str) -> *mut FeelerExactWall {
    let file = CString::new(format!("{}/../../data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let (mut model, mut body, mut wall) = (null_mut(), null_mut(), null_mut());
    unsafe {
        ok(feeler_prepare_step(file.as_ptr(), &raw mut model));
        ok(feeler_body_new(model, 0, &raw mut body));
        ok(feeler_exact_wall_new(body, &raw mut wall));
        feeler_body_free(body);
        feeler_model_free(model);
    }
    wall
}

fn contacts(wall: *mut FeelerExactWall) -> (Vec<FeelerWallContact>, Vec<u32>) {
    let mut count = 0;
    unsafe {
        // The number is written even if `out` has no space.
        ok(feeler_exact_wall_contacts(wall, null_mut(), 0, &raw mut count));
        let mut out = Vec::with_capacity(count);
        ok(feeler_exact_wall_contacts(wall, out.as_mut_ptr(), count, &raw mut count));
        out.set_len(count);
        ok(feeler_exact_wall_offsets(wall, null_mut(), 0, &raw mut count));
        let mut offsets = Vec::with_capacity(count);
        ok(feeler_exact_wall_offsets(wall, offsets.as_mut_ptr(), count, &raw mut count));
        offsets.set_len(count);
        (out, offsets)
    }
}

/// Spheres and an ellipsoid over a ball of radius 3.1 that moves.
#[test]
fn particles_over_a_ball() {
    let wall = wall("ball.step");
    let mut count = 0;
    unsafe { ok(feeler_exact_wall_offsets(wall, null_mut(), 0, &raw mut count)) };
    assert_eq!(count, 0, "no query yet");
    let pose = FeelerPose { translation: [0.0, 0.0, 100.0], rotation: [0.0, 0.0, 0.0, 1.0] };
    ok(unsafe { feeler_exact_wall_set_pose(wall, &raw const pose) });
    let centers = [0.0, 0.0, 500.0, 0.0, 0.0, 105.5, 0.0, -5.0, 100.0];
    let radii = [1.0, 2.5, 2.0];
    ok(unsafe { feeler_exact_wall_sphere_contacts(wall, centers.as_ptr(), radii.as_ptr(), 3, 0.1) });
    let (found, offsets) = contacts(wall);
    assert_eq!((found.len(), offsets.as_slice()), (2, [0, 0, 1, 2].as_slice()), "{found:?}");
    let radius = 3.1;
    let over = &found[0];
    assert!(over.particle == 1 && (over.gap + 0.1).abs() < 1e-9, "{over:?}");
    assert!((over.normal[2] - 1.0).abs() < 1e-12, "{over:?}");
    assert!((over.point[2] - 100.0 - radius).abs() < 1e-9, "{over:?}");
    assert!(over.curvatures.iter().all(|k| (k - 1.0 / radius).abs() < 1e-12), "{over:?}");
    assert!(found[1].particle == 2 && (found[1].gap + 0.1).abs() < 1e-9, "{found:?}");
    let (turn, semi, exponents) = ([0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 2.5], [1.0, 1.0]);
    ok(unsafe {
        let [q, s, e] = [turn.as_ptr(), semi.as_ptr(), exponents.as_ptr()];
        feeler_exact_wall_superellipsoid_contacts(wall, centers[3..].as_ptr(), q, s, e, 1, 0.1)
    });
    let (tall, _) = contacts(wall);
    assert!(tall.len() == 1 && (tall[0].gap - over.gap).abs() < 1e-9, "{tall:?}");
    unsafe { feeler_exact_wall_free(wall) };
}

#[test]
fn invalid_arguments_are_reported() {
    let wall = wall("ball.step");
    let (at, radius) = ([0.0, 0.0, 20.0, 0.0, f64::NAN, 0.0], [1.0, -1.0]);
    let query = |centers: *const f64, n: usize, reach: f64| unsafe {
        feeler_exact_wall_sphere_contacts(wall, centers, radius.as_ptr(), n, reach)
    };
    for (result, expected, word) in [
        (query(null(), 1, 0.0), FeelerResult::Argument, "centers"),
        (query(at.as_ptr(), 1, -1.0), FeelerResult::Query, "reach"),
        (query(at.as_ptr(), 2, 0.0), FeelerResult::Query, "particle 1"),
        (unsafe { feeler_exact_wall_set_pose(null_mut(), null()) }, FeelerResult::Argument, "wall"),
    ] {
        assert_eq!(result, expected, "{word}");
    }
    assert_eq!(query(at.as_ptr(), 2, 0.0), FeelerResult::Query);
    assert!(error().contains("particle 1"), "{}", error());
    ok(query(at.as_ptr(), 1, 0.0));
    unsafe { feeler_exact_wall_free(wall) };
}
