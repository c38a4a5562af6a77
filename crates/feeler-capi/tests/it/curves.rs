//! Scenes of curves, called as from C: results with closed forms, and invalid arguments.
#![allow(
    unsafe_code,
    clippy::undocumented_unsafe_blocks,
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::disallowed_methods,
    reason = "calls the C interface as C does"
)]

use feeler_c::*;
use std::f64::consts::TAU;
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

fn error() -> String {
    unsafe { CStr::from_ptr(feeler_last_error()) }.to_str().unwrap().to_owned()
}

fn ok(result: FeelerResult) {
    assert_eq!(result, FeelerResult::Ok, "{}", error());
}

fn refused(result: FeelerResult, expected: FeelerResult, words: &[&str]) {
    assert_eq!(result, expected, "{}", error());
    for word in words {
        assert!(error().contains(word), "{word}: {}", error());
    }
}

fn body(name: &str) -> *mut FeelerBody {
    let file = CString::new(format!("{}/../../data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let (mut model, mut body) = (null_mut(), null_mut());
    unsafe {
        ok(feeler_prepare_step(file.as_ptr(), &raw mut model));
        ok(feeler_body_new(model, 0, &raw mut body));
        feeler_model_free(model);
    }
    body
}

fn options(d_max: f64) -> FeelerCurveOptions {
    let mut options = std::mem::MaybeUninit::uninit();
    unsafe {
        feeler_curve_options_init(options.as_mut_ptr());
        FeelerCurveOptions { d_max, ..options.assume_init() }
    }
}

fn scene(d_max: f64) -> *mut FeelerCurveScene {
    let mut scene = null_mut();
    ok(unsafe { feeler_curve_scene_new(&options(d_max), &raw mut scene) });
    scene
}

fn add(scene: *mut FeelerCurveScene, degree: u32, points: &[f64], radius: f64) -> u32 {
    let mut id = u32::MAX;
    ok(unsafe {
        let (p, n) = (points.as_ptr(), points.len() / 3);
        feeler_curve_scene_add_curve(scene, degree, p, n, radius, false, &raw mut id)
    });
    id
}

fn contacts(scene: *mut FeelerCurveScene) -> Vec<FeelerCurveContact> {
    let mut count = 0;
    unsafe {
        ok(feeler_curve_scene_update(scene));
        // The number is written even if `out` has no space.
        ok(feeler_curve_scene_contacts(scene, null_mut(), 0, &raw mut count));
        let mut out = Vec::with_capacity(count);
        ok(feeler_curve_scene_contacts(scene, out.as_mut_ptr(), count, &raw mut count));
        out.set_len(count);
        out
    }
}

/// Two cables that cross over a box: gaps, frames, identities, verdicts.
#[test]
fn cables_over_a_box() {
    let plate = body("box.step");
    let scene = scene(1.0);
    let (mut id, mut status) = (u32::MAX, FeelerStatus::Undecided);
    let mut info: FeelerBodyInfo = unsafe { std::mem::zeroed() };
    unsafe {
        info.struct_size = u32::try_from(size_of::<FeelerBodyInfo>()).unwrap();
        ok(feeler_body_info(plate, &raw mut info));
        ok(feeler_curve_scene_add_body(scene, plate, null(), &raw mut id));
        feeler_body_free(plate);
    }
    let mid = |k: usize| 0.5 * (info.bbox_min[k] + info.bbox_max[k]);
    let (x, y, top) = (mid(0), mid(1), info.bbox_max[2]);
    let along_x = |h: f64| [x - 100.0, y, top + h, x + 100.0, y, top + h];
    let along_y = |h: f64| [x, y - 100.0, top + h, x, y + 100.0, top + h];
    let low = add(scene, 1, &along_x(1.5), 1.0);
    let high = add(scene, 1, &along_y(3.75), 1.0);
    let found = contacts(scene);
    let between: Vec<_> = found.iter().filter(|c| c.kind == 0).collect();
    assert_eq!(between.len(), 1);
    let c = between[0];
    assert!(c.curve == low && c.other == high && (c.gap - 0.25).abs() < 1e-12, "{c:?}");
    assert!((c.u[0] - 0.5).abs() < 1e-12 && (c.u[1] - 0.5).abs() < 1e-12 && c.place == [0, 0]);
    assert!((c.normal[2] - 1.0).abs() < 1e-12 && (c.distance - 2.25).abs() < 1e-12);
    assert!(c.feature_kind == u32::MAX && c.feature_index == u32::MAX && c.set == u32::MAX);
    let on_box: Vec<_> = found.iter().filter(|c| c.kind == 2).collect();
    let set = on_box.iter().find(|c| c.set != u32::MAX).unwrap().set;
    let samples = on_box.iter().filter(|c| c.set == set).count();
    assert!(samples >= 2, "a stretch of equal distance has samples");
    for c in on_box {
        assert!(c.curve == low && c.other == id && c.part == 0 && c.u[1].is_nan());
        assert!((c.gap - 0.5).abs() < 1e-12 && (c.normal[2] + 1.0).abs() < 1e-12, "{c:?}");
        for k in 0..3 {
            assert!((c.point_b[k] - c.point_a[k] - c.distance * c.normal[k]).abs() < 1e-12);
        }
        // Samples are on the top face; an edge where the stretch ends may be reported as well.
        let is_sample = c.feature_kind == 0 && c.set == set;
        assert!(is_sample || c.feature_kind == 1 && c.set == u32::MAX, "{c:?}");
        assert!(c.feature_index < 12, "{c:?}");
    }
    let mut overlap = true;
    unsafe {
        ok(feeler_curve_scene_status(scene, low, id, &raw mut status));
        assert_eq!(status, FeelerStatus::Unknown, "detection is disabled");
        ok(feeler_curve_scene_curves_interfere(scene, low, high, &raw mut overlap));
        assert!(!overlap);
        ok(feeler_curve_scene_detect_interference(scene, true));
        ok(feeler_curve_scene_update_curve(scene, low, along_x(0.75).as_ptr(), 2));
        ok(feeler_curve_scene_update_curve(scene, high, along_y(2.5).as_ptr(), 2));
    }
    let moved = contacts(scene);
    let same = moved.iter().find(|m| m.kind == 0).unwrap();
    assert!(same.id == c.id && (same.gap + 0.25).abs() < 1e-12, "{same:?}");
    assert!(moved.iter().any(|m| m.kind == 2 && (m.gap + 0.25).abs() < 1e-12));
    unsafe {
        ok(feeler_curve_scene_curves_interfere(scene, high, low, &raw mut overlap));
        assert!(overlap);
        for (curve, expected) in [(low, FeelerStatus::Interfering), (high, FeelerStatus::Separated)] {
            ok(feeler_curve_scene_status(scene, curve, id, &raw mut status));
            assert_eq!(status, expected);
        }
        // The box moves down by 1 mm.
        let down = FeelerPose { translation: [0.0, 0.0, -1.0], rotation: [0.0, 0.0, 0.0, 1.0] };
        ok(feeler_curve_scene_set_pose(scene, id, &raw const down));
        let found = contacts(scene);
        assert!(found.iter().filter(|c| c.kind == 2).all(|c| (c.gap - 0.75).abs() < 1e-12));
        ok(feeler_curve_scene_status(scene, low, id, &raw mut status));
        assert_eq!(status, FeelerStatus::Separated);
        ok(feeler_curve_scene_remove_curve(scene, high));
        ok(feeler_curve_scene_remove_body(scene, id));
        assert!(contacts(scene).is_empty());
        feeler_curve_scene_free(scene);
    }
}

/// Control points of three turns of radius 10 in six half turns.
fn spring(pitch: f64) -> Vec<f64> {
    let (r, pieces) = (10.0, 6_u32);
    let h = TAU / 2.0;
    let k = 4.0 / 3.0 * (h / 4.0).tan();
    let dz = pitch * h / TAU / 3.0;
    let mut points = vec![r, 0.0, 0.0];
    for i in 0..pieces {
        let (s, c) = (f64::from(i) * h).sin_cos();
        let (s1, c1) = (f64::from(i + 1) * h).sin_cos();
        let (z, z1) = (pitch * f64::from(i) / 2.0, pitch * f64::from(i + 1) / 2.0);
        points.extend([r * c - r * s * k, r * s + r * c * k, z + dz]);
        points.extend([r * c1 + r * s1 * k, r * s1 - r * c1 * k, z1 - dz]);
        points.extend([r * c1, r * s1, z1]);
    }
    points
}

/// Coils of a compressed spring: strict minima one and two turns apart, away from the ends.
#[test]
fn a_spring_with_itself() {
    let scene = scene(8.0);
    let id = add(scene, 3, &spring(8.0), 1.0);
    for (pitch, n, distances) in [
        (8.0, 8, [7.928_905, f64::NAN]),
        (4.0, 12, [3.991_030, 7.982_057]),
        (2.5, 12, [2.497_806, 4.995_611]),
    ] {
        let points = spring(pitch);
        ok(unsafe { feeler_curve_scene_update_curve(scene, id, points.as_ptr(), points.len() / 3) });
        let strict: Vec<_> = contacts(scene)
            .into_iter()
            .filter(|c| c.kind == 1 && c.place == [0, 0] && c.set == u32::MAX)
            .collect();
        assert_eq!(strict.len(), n, "pitch {pitch}");
        for c in strict {
            assert!(c.curve == id && c.other == id && c.u[0] < c.u[1]);
            assert!(distances.iter().any(|d| (c.distance - d).abs() < 1e-6), "pitch {pitch}: {c:?}");
            assert!((c.gap - (c.distance - 2.0)).abs() < 1e-12);
        }
    }
    unsafe { feeler_curve_scene_free(scene) };
}

/// Nodes with derivatives, fitted points, points at parameters.
#[test]
fn ways_to_make_a_curve() {
    let scene = scene(1.0);
    let (mut id, mut count, mut deviation) = (0, 0, f64::NAN);
    unsafe {
        // A circle of radius 10 through 32 nodes with its derivatives.
        let circle = |r: f64, z: f64| -> (Vec<f64>, Vec<f64>) {
            let angles = (0..32).map(|i| TAU * f64::from(i) / 32.0);
            let points = angles.clone().flat_map(|a| [r * a.cos(), r * a.sin(), z]).collect();
            let slopes =
                angles.flat_map(|a| [-r * a.sin(), r * a.cos(), 0.0].map(|x| x * TAU / 32.0)).collect();
            (points, slopes)
        };
        let (points, slopes) = circle(10.0, 0.0);
        let add = |n: usize, closed: bool, id: *mut u32| {
            feeler_curve_scene_add_hermite(scene, points.as_ptr(), slopes.as_ptr(), n, 0.5, closed, id)
        };
        ok(add(32, true, &raw mut id));
        ok(feeler_curve_scene_control_points(scene, id, null_mut(), 0, &raw mut count));
        assert_eq!(count, 96);
        let mut control = vec![0.0; 3 * count];
        ok(feeler_curve_scene_control_points(scene, id, control.as_mut_ptr(), count, &raw mut count));
        assert_eq!(control[..3], points[..3]);
        let (wide, slopes_of_it) = circle(12.0, 3.0);
        ok(feeler_curve_scene_update_hermite(scene, id, wide.as_ptr(), slopes_of_it.as_ptr(), 32));
        let u: Vec<f64> = (0..65).map(|i| 0.5 * f64::from(i)).collect();
        let mut at = vec![0.0; 3 * u.len()];
        ok(feeler_curve_scene_points_at(scene, id, u.as_ptr(), u.len(), at.as_mut_ptr()));
        assert!(at.chunks(3).all(|p| (p[0].hypot(p[1]) - 12.0).abs() < 1e-4 && (p[2] - 3.0).abs() < 1e-12));
        let result = feeler_curve_scene_update_hermite(scene, id, wide.as_ptr(), slopes_of_it.as_ptr(), 31);
        refused(result, FeelerResult::Query, &["32 nodes", "31"]);
        refused(add(1, false, &raw mut id), FeelerResult::Query, &["two points"]);
        refused(add(32, true, null_mut()), FeelerResult::Argument, &["id is NULL"]);
        // Fit of the same circle.
        let fit = |n: usize, tolerance: f64, id: *mut u32, deviation: *mut f64| {
            feeler_curve_scene_fit_curve(scene, wide.as_ptr(), n, tolerance, 0.5, true, id, deviation)
        };
        ok(fit(32, 1e-3, &raw mut id, &raw mut deviation));
        assert!((0.0..=1e-3).contains(&deviation), "{deviation}");
        ok(fit(32, 1e-3, &raw mut id, null_mut()));
        refused(fit(3, 1e-3, &raw mut id, null_mut()), FeelerResult::Query, &["four measured points"]);
        refused(fit(32, f64::NAN, &raw mut id, null_mut()), FeelerResult::Query, &["tolerance"]);
        feeler_curve_scene_free(scene);
    }
}

/// A bend of radius 2 is too tight for a tube of radius 2.1, but not for one of 1.9.
#[test]
fn bends_that_are_too_tight() {
    let scene = scene(1.0);
    let k = 4.0 / 3.0 * (TAU / 16.0).tan() * 2.0;
    let quarter = [2.0, 0.0, 0.0, 2.0, k, 0.0, k, 2.0, 0.0, 0.0, 2.0, 0.0];
    add(scene, 3, &quarter, 1.9);
    let tight = add(scene, 3, &quarter.map(|x| x + 100.0), 2.1);
    let (mut bend, mut count) = (unsafe { std::mem::zeroed::<FeelerTightBend>() }, 0);
    unsafe {
        ok(feeler_curve_scene_update(scene));
        ok(feeler_curve_scene_tight_bends(scene, &raw mut bend, 1, &raw mut count));
        feeler_curve_scene_free(scene);
    }
    assert!(count == 1 && bend.curve == tight && (bend.curvature - 0.5).abs() < 0.01, "{count} {bend:?}");
    assert!(bend.range[0] <= bend.u && bend.u <= bend.range[1], "{bend:?}");
}

#[test]
fn invalid_arguments_are_reported() {
    let (scene, mut id, mut count) = (scene(1.0), 7, 0);
    let points = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 1.0, 0.0, 3.0, 1.0, 0.0];
    let (query, argument, lost) = (FeelerResult::Query, FeelerResult::Argument, FeelerResult::Scene);
    unsafe {
        let add = |degree: u32, p: *const f64, n: usize, radius: f64| {
            let mut id = 0;
            feeler_curve_scene_add_curve(scene, degree, p, n, radius, false, &raw mut id)
        };
        let p = points.as_ptr();
        refused(add(3, p, 3, 0.1), query, &["3 control points", "give 3 for each piece and one more"]);
        refused(add(0, p, 4, 0.1), query, &["degree 0", "1 to 5"]);
        refused(add(6, p, 4, 0.1), query, &["degree 6"]);
        refused(add(3, p, 4, -1.0), query, &["radius of -1"]);
        refused(add(3, p, 4, f64::NAN), query, &["radius of NaN"]);
        refused(add(3, null(), 4, 0.1), argument, &["points is NULL"]);
        refused(add(3, p, 0, 0.1), query, &["0 control points"]);
        refused(add(3, p, usize::MAX, 0.1), argument, &["address space"]);
        let mut bad = points;
        bad[7] = f64::NAN;
        refused(add(3, bad.as_ptr(), 4, 0.1), query, &["point 2", "finite"]);
        refused(add(3, [1.0; 12].as_ptr(), 4, 0.1), query, &["piece 0 has no length"]);
        ok(feeler_curve_scene_add_curve(scene, 3, p, 4, 0.1, false, &raw mut id));
        assert_eq!(id, 0, "rejected curves have no id");
        // A rejected update does not change the curve.
        refused(feeler_curve_scene_update_curve(scene, id, bad.as_ptr(), 4), query, &["curve 0", "point 2"]);
        let words = ["curve 0", "cannot change from 4"];
        refused(feeler_curve_scene_update_curve(scene, id, p, 3), query, &words);
        let mut control = [0.0; 12];
        ok(feeler_curve_scene_control_points(scene, id, control.as_mut_ptr(), 4, &raw mut count));
        assert_eq!(control, points);
        // Unknown ids.
        refused(feeler_curve_scene_update_curve(scene, 9, p, 4), lost, &["no curve 9"]);
        refused(feeler_curve_scene_update_hermite(scene, 9, p, p, 4), lost, &["no curve 9"]);
        refused(feeler_curve_scene_remove_curve(scene, 9), lost, &["no curve 9"]);
        refused(feeler_curve_scene_points_at(scene, 9, p, 1, control.as_mut_ptr()), lost, &["no curve 9"]);
        refused(feeler_curve_scene_set_pose(scene, 9, null()), lost, &["body 9 does not exist"]);
        refused(feeler_curve_scene_remove_body(scene, 9), lost, &["body 9 does not exist"]);
        let mut status = FeelerStatus::Unknown;
        refused(feeler_curve_scene_status(scene, id, 9, &raw mut status), lost, &["body 9 does not exist"]);
        refused(feeler_curve_scene_status(scene, 9, 0, &raw mut status), lost, &["no curve 9"]);
        let mut overlap = false;
        refused(feeler_curve_scene_curves_interfere(scene, id, 9, &raw mut overlap), lost, &["no curve 9"]);
        let nan = [f64::NAN];
        let at = feeler_curve_scene_points_at(scene, id, nan.as_ptr(), 1, control.as_mut_ptr());
        refused(at, query, &["u[0] is NaN", "0 to 1"]);
        // NULL pointers.
        refused(feeler_curve_scene_update(null_mut()), argument, &["scene is NULL"]);
        let mut other = 0;
        let to_null = feeler_curve_scene_add_body(scene, null(), null(), &raw mut other);
        refused(to_null, argument, &["body is NULL"]);
        let held = body("sphere.step");
        refused(feeler_curve_scene_add_body(scene, held, null(), null_mut()), argument, &["id is NULL"]);
        let odd = FeelerPose { translation: [f64::NAN; 3], rotation: [0.0, 0.0, 0.0, 1.0] };
        refused(feeler_curve_scene_add_body(scene, held, &raw const odd, &raw mut other), query, &["pose"]);
        ok(feeler_curve_scene_add_body(scene, held, null(), &raw mut other));
        assert_eq!(other, 0);
        refused(feeler_curve_scene_set_pose(scene, other, &raw const odd), query, &["pose"]);
        feeler_body_free(held);
        refused(
            feeler_curve_scene_contacts(scene, null_mut(), 4, &raw mut count),
            argument,
            &["out is NULL"],
        );
        refused(feeler_curve_scene_contacts(scene, null_mut(), 0, null_mut()), argument, &["count is NULL"]);
        refused(feeler_curve_scene_status(scene, id, other, null_mut()), argument, &["out is NULL"]);
        let with_null = feeler_curve_scene_add_curve(scene, 3, p, 4, 0.1, false, null_mut());
        refused(with_null, argument, &["id is NULL"]);
        // Options.
        let mut made = null_mut();
        let mut new = |options: FeelerCurveOptions| feeler_curve_scene_new(&raw const options, &raw mut made);
        refused(new(options(-1.0)), query, &["d_max is -1"]);
        refused(new(options(f64::NAN)), query, &["d_max is NaN"]);
        refused(new(FeelerCurveOptions { level_slope: -1.0, ..options(1.0) }), query, &["level_slope"]);
        refused(new(FeelerCurveOptions { level_length: f64::NAN, ..options(1.0) }), query, &["level_length"]);
        refused(new(FeelerCurveOptions { max_samples: 1, ..options(1.0) }), query, &["max_samples"]);
        refused(new(FeelerCurveOptions { struct_size: 0, ..options(1.0) }), argument, &["struct_size"]);
        assert_eq!(feeler_curve_scene_new(null(), null_mut()), argument);
        ok(feeler_curve_scene_new(null(), &raw mut made));
        feeler_curve_scene_free(made);
        feeler_curve_scene_free(null_mut());
        // The scene is still usable.
        assert!(contacts(scene).iter().all(|c| c.curve == id));
        feeler_curve_scene_free(scene);
    }
}
