//! The C interface as C sees it: NULL, wrong sizes, damaged bytes, and everything freed.
#![allow(
    unsafe_code,
    clippy::undocumented_unsafe_blocks,
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    reason = "calls the C interface as C does"
)]

use feeler_c::*;
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::ffi::{CStr, CString};
use std::ptr::{null, null_mut};

fn data(name: &str) -> CString {
    CString::new(format!("{}/../../data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn error() -> String {
    unsafe { CStr::from_ptr(feeler_last_error()) }.to_str().unwrap().to_owned()
}

fn ok(result: FeelerResult) {
    assert_eq!(result, FeelerResult::Ok, "{}", error());
}

fn model(name: &str) -> *mut FeelerModel {
    let mut model = null_mut();
    ok(unsafe { feeler_model_prepare_step(data(name).as_ptr(), &raw mut model) });
    model
}

fn body(name: &str) -> *mut FeelerBody {
    let (model, mut body) = (model(name), null_mut());
    unsafe {
        ok(feeler_body_new(model, 0, &raw mut body));
        feeler_model_free(model);
    }
    body
}

fn moved(x: f64, y: f64, z: f64) -> FeelerPose {
    FeelerPose { translation: [x, y, z], rotation: [0.0, 0.0, 0.0, 1.0] }
}

fn options(d_max: f64) -> FeelerOptions {
    let mut options = std::mem::MaybeUninit::uninit();
    unsafe {
        feeler_options_init(options.as_mut_ptr());
        FeelerOptions { d_max, ..options.assume_init() }
    }
}

#[test]
fn queries_verdicts_and_facts() {
    let ball = body("sphere.step");
    let (mut pair, mut count) = (null_mut(), 0);
    let mut contacts = [FeelerContact::default(); 4];
    unsafe {
        ok(feeler_pair_new(ball, ball, &raw mut pair));
        let place = moved(22.5, 0.0, 0.0);
        let asked = options(5.0);
        ok(feeler_pair_query(pair, null(), &place, &asked, contacts.as_mut_ptr(), 4, &raw mut count));
        assert_eq!(count, 1);
        assert!((contacts[0].distance - 2.5).abs() < 1e-12);
        assert_eq!(contacts[0].normal, [1.0, 0.0, 0.0]);
        // Without room it still counts.
        ok(feeler_pair_query(pair, null(), &place, &asked, null_mut(), 0, &raw mut count));
        assert_eq!(count, 1);
        ok(feeler_pair_contacts(pair, contacts.as_mut_ptr(), 4, &raw mut count));
        assert_eq!((count, contacts[0].age), (1, 1));
        let mut verdict: FeelerVerdict = std::mem::zeroed();
        verdict.struct_size = size_of::<FeelerVerdict>() as u32;
        ok(feeler_pair_verdict(pair, &raw mut verdict));
        assert_eq!(verdict.status, FeelerStatus::Separated);
        ok(feeler_pair_query(pair, null(), null(), null(), null_mut(), 0, &raw mut count));
        ok(feeler_pair_verdict(pair, &raw mut verdict));
        assert_eq!(verdict.status, FeelerStatus::Interfering);
        assert!(verdict.inside_a > 9.0 && verdict.inside_b > 9.0);
        // Pressed by 0.01 mm: the contact explains it, and the verdict follows on demand.
        let pressed = FeelerOptions { penetration: 0.05, decide: 2, ..options(0.1) };
        let place = moved(19.99, 0.0, 0.0);
        ok(feeler_pair_query(pair, null(), &place, &pressed, contacts.as_mut_ptr(), 4, &raw mut count));
        assert!(count == 1 && (contacts[0].distance + 0.01).abs() < 1e-12);
        ok(feeler_pair_verdict(pair, &raw mut verdict));
        assert_eq!(verdict.status, FeelerStatus::Unknown);
        ok(feeler_pair_decide(pair, &raw mut verdict));
        assert_eq!(verdict.status, FeelerStatus::Interfering);
        ok(feeler_pair_forget(pair));
        let place = moved(22.5, 0.0, 0.0);
        let mut info =
            FeelerBodyInfo { struct_size: size_of::<FeelerBodyInfo>() as u32, ..FeelerBodyInfo::default() };
        ok(feeler_body_info(ball, &raw mut info));
        let volume = 4.0 / 3.0 * std::f64::consts::PI * 1000.0;
        assert!(info.has_mass == 1 && (info.volume - volume).abs() < 1e-9);
        assert!((info.inertia[0] - 0.4 * volume * 100.0).abs() < 1e-6);
        // A caller that knows the first two members only.
        let mut old = FeelerBodyInfo { struct_size: 8, volume: -1.0, ..FeelerBodyInfo::default() };
        ok(feeler_body_info(ball, &raw mut old));
        assert!(old.has_mass == 1 && old.volume == -1.0 && old.struct_size == 8);
        // A caller that knows less of the options gets the defaults for the rest.
        let older = FeelerOptions { struct_size: 16, ..options(0.5) };
        ok(feeler_pair_query(pair, null(), &place, &older, null_mut(), 0, &raw mut count));
        assert_eq!(count, 0, "d_max is among what it knows");
        feeler_body_free(ball);
        ok(feeler_pair_query(pair, null(), &place, &asked, null_mut(), 0, &raw mut count));
        feeler_pair_free(pair);
    }
}

fn lasting_contact() -> FeelerLastingContact {
    unsafe { std::mem::zeroed() }
}

/// A pin that stands in its bore, moved about: numbers stay, records agree with one another.
#[test]
fn lasting_contacts() {
    let (bore, pin) = (body("blind-bore.step"), body("pin.step"));
    let half = std::f64::consts::FRAC_1_SQRT_2;
    // A is turned and moved with B, so that its coordinates are not the world's.
    let turned = |p: [f64; 3]| FeelerPose {
        translation: [p[0] + 5.0, 7.0 - p[2], p[1]],
        rotation: [half, 0.0, 0.0, half],
    };
    let place = |x: f64, z: f64| (turned([0.0; 3]), turned([x, 0.0, z]));
    unsafe {
        let (mut lasting, mut count, mut explained) = (null_mut(), 0, false);
        ok(feeler_lasting_new(bore, pin, &raw mut lasting));
        feeler_body_free(bore);
        feeler_body_free(pin);
        let mut contacts = [lasting_contact(); 64];
        let mut ask = |x: f64, z: f64, contacts: &mut [FeelerLastingContact; 64]| {
            let (a, b) = place(x, z);
            let out = contacts.as_mut_ptr();
            ok(feeler_lasting_ask(lasting, &a, &b, 0.5, 1.0, out, 64, &raw mut count, &raw mut explained));
            assert!(explained && (1..=64).contains(&count), "{count}");
            count
        };
        let (x, z) = (0.03, 20.01);
        let n = ask(x, z, &mut contacts);
        let first: Vec<u64> = contacts[..n].iter().map(|c| c.number).collect();
        let (a, b) = place(x, z);
        let (a, b) = (a.read().unwrap(), b.read().unwrap());
        for c in &contacts[..n] {
            let near = |p: [f64; 3], q: feeler::P3| (feeler::P3::from(p) - q).norm() < 1e-9;
            assert!(near(c.point_a, a.transform_point(&c.local_a.into())));
            assert!(near(c.point_b, b.transform_point(&c.local_b.into())));
            let (normal, local) = (feeler::V3::from(c.normal), feeler::V3::from(c.local_normal));
            assert!((normal - a.transform_vector(&local)).norm() < 1e-12);
            let between = feeler::P3::from(c.point_b) - feeler::P3::from(c.point_a);
            assert!(c.is_found == 1 && (between - normal * c.gap).norm() < 1e-9, "{c:?}");
            // The bottom, or the wall: pushed up, or inwards.
            assert!(local.z > 0.999 && (c.gap - 0.01).abs() < 1e-9 || local.z.abs() < 1e-9, "{c:?}");
            assert!(c.gap > 0.0 && c.curvature_a.iter().all(|k| !k.is_nan()));
        }
        // The bore's wall bends towards the pin, by its radius.
        let wall = contacts[..n].iter().find(|c| c.local_normal[2].abs() < 1e-9).unwrap();
        assert!((wall.gap - 0.02).abs() < 1e-9 && (wall.curvature_a[0] + 0.1).abs() < 1e-9, "{wall:?}");
        // A step on: the same numbers; then pressed in by 2 um.
        let n = ask(x, z - 0.001, &mut contacts);
        assert_eq!(contacts[..n].iter().map(|c| c.number).collect::<Vec<_>>(), first);
        let n = ask(x, z - 0.012, &mut contacts);
        let deepest = contacts[..n].iter().map(|c| c.gap).fold(0.0, f64::min);
        assert!((deepest + 0.002).abs() < 1e-9, "{deepest}");
        let mut verdict: FeelerVerdict = std::mem::zeroed();
        verdict.struct_size = size_of::<FeelerVerdict>() as u32;
        ok(feeler_lasting_verdict(lasting, &raw mut verdict));
        assert_eq!(verdict.status, FeelerStatus::Interfering);
        // Without room it still counts, and gives them later.
        let mut again = [lasting_contact(); 64];
        let mut total = 0;
        ok(feeler_lasting_contacts(lasting, null_mut(), 0, &raw mut total));
        ok(feeler_lasting_contacts(lasting, again.as_mut_ptr(), 1, &raw mut total));
        assert!(total == n && again[0].number == contacts[0].number && again[1].gap == 0.0);
        // Begun anew.
        ok(feeler_lasting_clear(lasting));
        ok(feeler_lasting_contacts(lasting, null_mut(), 0, &raw mut total));
        assert_eq!(total, 0);
        let n = ask(x, z, &mut contacts);
        assert!(contacts[..n].iter().all(|c| !first.contains(&c.number)), "numbers are never given twice");
        // Tilted to one side and to the other: what is remembered keeps its number and its curvatures.
        let mut remembered = 0;
        for tilt in [1e-5, -1e-5] {
            let rotation = [0.0, tilt, 0.0, 1.0];
            let b = FeelerPose { rotation, ..moved(0.0, 0.0, 20.01) };
            let out = contacts.as_mut_ptr();
            ok(feeler_lasting_ask(lasting, null(), &b, 0.5, 1.0, out, 64, &raw mut count, null_mut()));
            for c in contacts[..count].iter().filter(|c| c.is_found == 0) {
                remembered += 1;
                assert!(c.curvature_a.iter().chain(&c.curvature_b).all(|k| !k.is_nan()), "{c:?}");
            }
        }
        assert!(remembered > 0);
        // What makes no sense; after an error there are no contacts.
        let far = moved(0.0, 0.0, 40.0);
        let mut bad = |b: &FeelerPose, reach: f64, depth: f64| {
            let out = contacts.as_mut_ptr();
            let result =
                feeler_lasting_ask(lasting, null(), b, reach, depth, out, 64, &raw mut count, null_mut());
            ok(feeler_lasting_contacts(lasting, null_mut(), 0, &raw mut total));
            assert_eq!(total, 0);
            result
        };
        let nan = f64::NAN;
        assert_eq!(bad(&far, nan, 1.0), FeelerResult::Query);
        assert_eq!(bad(&far, -1.0, 1.0), FeelerResult::Query);
        assert_eq!(bad(&far, 0.5, nan), FeelerResult::Query);
        assert!(error().contains("depth"), "{}", error());
        assert_eq!(bad(&far, 0.5, -1.0), FeelerResult::Query);
        assert_eq!(bad(&moved(nan, 0.0, 0.0), 0.5, 1.0), FeelerResult::Query);
        assert!(error().contains("pose_b"), "{}", error());
        let ask = feeler_lasting_ask;
        let (out, n) = (contacts.as_mut_ptr(), &raw mut count);
        assert_eq!(ask(null_mut(), null(), &far, 0.5, 1.0, out, 64, n, null_mut()), FeelerResult::Argument);
        // Nowhere to write to: nothing was asked.
        let near = moved(0.0, 0.0, 20.01);
        for (out, count) in [(out, null_mut()), (null_mut(), n)] {
            ok(ask(lasting, null(), &near, 0.5, 1.0, null_mut(), 0, n, null_mut()));
            assert!(*n > 0);
            let result = ask(lasting, null(), &near, 0.5, 1.0, out, 64, count, null_mut());
            assert_eq!(result, FeelerResult::Argument);
            ok(feeler_lasting_contacts(lasting, null_mut(), 0, n));
            assert_eq!(*n, 0);
        }
        assert_eq!(feeler_lasting_contacts(lasting, null_mut(), 0, null_mut()), FeelerResult::Argument);
        // In one another as deep as they can be, looked at down to nothing.
        let ball = body("sphere.step");
        let mut deep = null_mut();
        ok(feeler_lasting_new(ball, ball, &raw mut deep));
        ok(ask(deep, null(), null(), 0.5, 0.0, out, 64, n, &raw mut explained));
        assert!(!explained, "in one another without a negative gap");
        assert_eq!(feeler_lasting_new(ball, null(), &raw mut deep), FeelerResult::Argument);
        assert_eq!(feeler_lasting_new(ball, ball, null_mut()), FeelerResult::Argument);
        feeler_body_free(ball);
        feeler_lasting_free(deep);
        feeler_lasting_free(lasting);
        feeler_lasting_free(null_mut());
        assert_eq!(feeler_lasting_clear(null_mut()), FeelerResult::Argument);
    }
}

/// A ball of steel, against the formulas; an open surface has no mass.
#[test]
fn masses() {
    let ball = body("sphere.step");
    unsafe {
        let mut mass = FeelerMass { struct_size: size_of::<FeelerMass>() as u32, ..FeelerMass::default() };
        ok(feeler_body_mass(ball, 7850.0, &raw mut mass));
        let kg = 7850e-9 * 4.0 / 3.0 * std::f64::consts::PI * 1000.0;
        assert!((mass.mass - kg).abs() < 1e-12 && (mass.inertia[4] - 0.4 * kg * 100.0).abs() < 1e-10);
        assert!(mass.center.iter().all(|c| c.abs() < 1e-9));
        for density in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(feeler_body_mass(ball, density, &raw mut mass), FeelerResult::Argument);
            assert!(error().contains("density"), "{}", error());
        }
        assert_eq!(feeler_body_mass(null(), 1.0, &raw mut mass), FeelerResult::Argument);
        assert_eq!(feeler_body_mass(ball, 1.0, null_mut()), FeelerResult::Argument);
        mass.struct_size = 1;
        assert_eq!(feeler_body_mass(ball, 1.0, &raw mut mass), FeelerResult::Argument);
        feeler_body_free(ball);
    }
}

#[test]
fn scenes() {
    let (ball, plate) = (body("sphere.step"), body("box.step"));
    let (mut scene, mut ids, mut count) = (null_mut(), [0_u32; 3], 0);
    unsafe {
        ok(feeler_scene_new(&options(1.0), &raw mut scene));
        ok(feeler_scene_add(scene, ball, null(), &raw mut ids[0]));
        ok(feeler_scene_add(scene, ball, &moved(20.5, 0.0, 0.0), &raw mut ids[1]));
        let both: [*const FeelerBody; 2] = [plate, plate];
        let places = [moved(0.0, 0.0, 500.0), moved(0.0, 0.0, 900.0)];
        ok(feeler_scene_add_compound(scene, both.as_ptr(), places.as_ptr(), 2, null(), &raw mut ids[2]));
        ok(feeler_scene_step(scene));
        let mut contacts =
            vec![FeelerSceneContact { bodies: [0; 2], parts: [0; 2], contact: FeelerContact::default() }; 4];
        ok(feeler_scene_contacts(scene, contacts.as_mut_ptr(), 4, &raw mut count));
        assert_eq!(count, 1);
        assert!(contacts[0].bodies == [ids[0], ids[1]] && (contacts[0].contact.distance - 0.5).abs() < 1e-12);
        let mut status = FeelerStatus::Unknown;
        ok(feeler_scene_status(scene, ids[1], ids[0], &raw mut status));
        assert_eq!(status, FeelerStatus::Separated);
        ok(feeler_scene_set_body(scene, ids[0], -1.0, 0.25, false));
        ok(feeler_scene_step(scene));
        ok(feeler_scene_contacts(scene, contacts.as_mut_ptr(), 4, &raw mut count));
        assert!((contacts[0].contact.gap - 0.25).abs() < 1e-12);
        ok(feeler_scene_set_pair(scene, ids[0], ids[1], -1.0, null(), true));
        ok(feeler_scene_step(scene));
        let mut event = FeelerEvent {
            bodies: [0; 2],
            parts: [0; 2],
            id: 0,
            contact: 0,
            kind: FeelerEventKind::Began,
            reserved: 0,
        };
        ok(feeler_scene_events(scene, &raw mut event, 1, &raw mut count));
        assert!(count == 1 && event.kind == FeelerEventKind::Ended && event.contact == -1);
        assert_eq!(feeler_scene_remove(scene, 99), FeelerResult::Scene);
        assert!(error().contains("no body 99"), "{}", error());
        ok(feeler_scene_remove(scene, ids[0]));
        let place = moved(f64::NAN, 0.0, 0.0);
        assert_eq!(feeler_scene_set_poses(scene, &ids[1], &place, 1), FeelerResult::Query);
        ok(feeler_scene_set_poses(scene, &ids[1], &moved(0.0, 0.0, 0.0), 1));
        feeler_scene_free(scene);
        feeler_body_free(ball);
        feeler_body_free(plate);
    }
}

#[test]
fn what_makes_no_sense_is_told() {
    let (ball, mut count) = (body("sphere.step"), 0);
    unsafe {
        let mut out = null_mut();
        assert_eq!(feeler_model_read(null(), &raw mut out), FeelerResult::Argument);
        assert!(error().contains("path is NULL"));
        assert_eq!(feeler_model_read(data("nowhere.feeler").as_ptr(), &raw mut out), FeelerResult::File);
        assert!(error().contains("nowhere.feeler"), "{}", error());
        let latin = CString::new(vec![0xe9, b'.', b's']).unwrap();
        assert_eq!(feeler_model_read(latin.as_ptr(), &raw mut out), FeelerResult::Argument);
        let mut pair = null_mut();
        assert_eq!(feeler_pair_new(ball, null(), &raw mut pair), FeelerResult::Argument);
        assert_eq!(feeler_pair_new(ball, ball, null_mut()), FeelerResult::Argument);
        ok(feeler_pair_new(ball, ball, &raw mut pair));
        let query = |place: &FeelerPose, options: &FeelerOptions, count: *mut usize| {
            feeler_pair_query(pair, null(), place, options, null_mut(), 0, count)
        };
        let (here, asked) = (moved(30.0, 0.0, 0.0), options(1.0));
        assert_eq!(query(&moved(f64::INFINITY, 0.0, 0.0), &asked, &raw mut count), FeelerResult::Query);
        let turned = FeelerPose { rotation: [0.0; 4], ..here };
        assert_eq!(query(&turned, &asked, &raw mut count), FeelerResult::Query);
        assert!(error().contains("pose_b") && error().contains("norm"), "{}", error());
        assert_eq!(query(&here, &options(-1.0), &raw mut count), FeelerResult::Query);
        for far in [1e13, 1e155, 1e300] {
            let everything = options(f64::INFINITY);
            assert_eq!(query(&moved(far, 0.0, 0.0), &everything, &raw mut count), FeelerResult::Query);
            assert!(
                error().contains("the coordinates reach") && error().contains("allows at most"),
                "{}",
                error()
            );
            // Farther than d_max, whatever rounding does.
            ok(query(&moved(far, 0.0, 0.0), &asked, &raw mut count));
            assert_eq!(count, 0);
        }
        assert_eq!(query(&here, &asked, null_mut()), FeelerResult::Argument);
        for struct_size in [0, 3, 100_000] {
            let odd = FeelerOptions { struct_size, ..asked };
            assert_eq!(query(&here, &odd, &raw mut count), FeelerResult::Argument);
            assert!(error().contains("struct_size"), "{}", error());
        }
        ok(query(&here, &asked, &raw mut count));
        feeler_pair_free(pair);
        let mut mesh = null_mut();
        assert_eq!(feeler_mesh_new(ball, 0.0, &raw mut mesh), FeelerResult::Argument);
        feeler_body_free(ball);
        let (mut scene, mut other) = (null_mut(), null_mut());
        assert_eq!(feeler_scene_new(&options(f64::INFINITY), &raw mut scene), FeelerResult::Query);
        let held = model("sphere.step");
        assert_eq!(feeler_body_new(held, 7, &raw mut other), FeelerResult::Body);
        assert!(error().contains("no 7"), "{}", error());
        feeler_model_free(held);
        feeler_model_free(null_mut());
        feeler_body_free(null_mut());
        feeler_pair_free(null_mut());
        feeler_scene_free(null_mut());
        feeler_mesh_free(null_mut());
    }
}

#[test]
fn meshes() {
    let ball = body("sphere.step");
    unsafe {
        let mut mesh = null_mut();
        ok(feeler_mesh_new(ball, 0.1, &raw mut mesh));
        feeler_body_free(ball);
        let mut data: FeelerMeshData = std::mem::zeroed();
        data.struct_size = size_of::<FeelerMeshData>() as u32;
        ok(feeler_mesh_data(mesh, &raw mut data));
        assert!(data.open_sides == 0 && data.deviation <= 0.1 && data.triangle_count > 100);
        let points = std::slice::from_raw_parts(data.points, 3 * data.point_count);
        let triangles = std::slice::from_raw_parts(data.triangles, 3 * data.triangle_count);
        assert!(triangles.iter().all(|i| (*i as usize) < data.point_count));
        let radius = |p: &[f64]| p.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(points.chunks(3).all(|p| (radius(p) - 10.0).abs() < 1e-9));
        feeler_mesh_free(mesh);
    }
}

/// Damaged bytes through the entry points: errors or models whose bodies answer, never a crash.
#[test]
fn damaged_bytes() {
    let held = model("bore.step");
    let (mut count, mut again) = (0, 0);
    let mut bytes = Vec::new();
    unsafe {
        ok(feeler_model_to_bytes(held, null_mut(), 0, &raw mut count));
        bytes.resize(count, 0);
        ok(feeler_model_to_bytes(held, bytes.as_mut_ptr(), count, &raw mut again));
        feeler_model_free(held);
    }
    assert_eq!(count, again);
    let step = std::fs::read(data("bore.step").to_str().unwrap()).unwrap();
    let name = CString::new("damaged").unwrap();
    let mut rng = SmallRng::seed_from_u64(3);
    let mut read = 0;
    for k in 0..600 {
        let mut damaged = if k % 3 == 0 { step.clone() } else { bytes.clone() };
        for _ in 0..rng.random_range(1..4) {
            let i = rng.random_range(0..damaged.len());
            damaged[i] = rng.random();
        }
        if rng.random_bool(0.2) {
            damaged.truncate(rng.random_range(0..damaged.len()));
        }
        unsafe {
            let mut out = null_mut();
            let result = if k % 3 == 0 {
                feeler_model_prepare_bytes(damaged.as_ptr(), damaged.len(), name.as_ptr(), &raw mut out)
            } else {
                feeler_model_read_bytes(damaged.as_ptr(), damaged.len(), &raw mut out)
            };
            if result != FeelerResult::Ok {
                assert!(result == FeelerResult::File && !error().is_empty(), "{result:?} {}", error());
                continue;
            }
            read += 1;
            let mut ball = null_mut();
            if feeler_body_new(out, 0, &raw mut ball) == FeelerResult::Ok {
                let (mut pair, mut n) = (null_mut(), 0);
                ok(feeler_pair_new(ball, ball, &raw mut pair));
                let result = feeler_pair_query(
                    pair,
                    null(),
                    &moved(60.0, 0.0, 0.0),
                    null(),
                    null_mut(),
                    0,
                    &raw mut n,
                );
                assert_ne!(result, FeelerResult::Panic, "{}", error());
                feeler_pair_free(pair);
                feeler_body_free(ball);
            }
            feeler_model_free(out);
        }
    }
    assert!(read > 0);
}
