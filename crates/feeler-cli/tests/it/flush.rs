//! Parts in blocks from which they were cut, along free-form faces: touching at the default tolerance,
//! whatever degree, parameters and poles their splines have, in both orders, with the area of the wall that
//! they share.
#![allow(clippy::unwrap_used, reason = "test code")]

use crate::common::{data, feeler};
use serde_json::{Value, json};

/// Area (mm²) of the wall of a part. The part is a prism along z, so each of its ends has the area of its
/// volume divided by its height.
fn wall_area(part: &str) -> f64 {
    let found = json_of(&["inspect", part, "--json"]);
    let solid = &found["solids"][0];
    let z = |key: &str| solid[key][2].as_f64().unwrap();
    let height = z("bbox_max") - z("bbox_min");
    solid["area"].as_f64().unwrap() - 2.0 * solid["volume"].as_f64().unwrap() / height
}

fn json_of(args: &[&str]) -> Value {
    let out = feeler(args);
    serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)))
}

#[test]
fn parts_touch_the_blocks_they_were_cut_from() {
    for name in ["raised", "turned", "ellipsoid"] {
        let [part, block] =
            ["part", "block"].map(|role| data(&format!("flush/{name}-{role}.step")).display().to_string());
        let mut areas = Vec::new();
        for pair in [[&part, &block], [&block, &part]] {
            let found = json_of(&["query", pair[0], pair[1], "--d-max", "0.1", "--json"]);
            assert_eq!(
                (&found["status"], &found["decided_at"]),
                (&json!("touching"), &Value::Null),
                "{name}"
            );
            let regions = found["contact_regions"].as_array().unwrap();
            let free = regions.iter().filter(|region| region["kind"] == "free-form");
            let area: f64 = free.map(|region| region["area"].as_f64().unwrap()).sum();
            areas.push(area);
        }
        assert!((areas[0] / areas[1] - 1.0).abs() < 1e-8, "{name}: {areas:?}");
        // The other block reaches along one half of its part only.
        if name == "raised" {
            let wall = wall_area(&part);
            assert!((areas[0] / wall - 1.0).abs() < 1e-8, "{name}: {areas:?}, wall {wall}");
        }
    }
}

/// A part that is moved into the wall by 20 tolerances interferes; one far from the block is separated.
#[test]
fn moved_parts_interfere() {
    let [part, block] =
        ["flush/turned-part.step", "flush/turned-block.step"].map(|f| data(f).display().to_string());
    let tolerance =
        json_of(&["query", &part, &block, "--d-max", "0.1", "--json"])["tolerance"].as_f64().unwrap();
    for (shift, status) in [(20.0 * tolerance, "interfering"), (100.0, "separated")] {
        let pose = format!("{shift},0,0");
        let found = json_of(&["query", &part, &block, "--d-max", "0.1", "--json", "--pose-a", &pose]);
        assert_eq!(found["status"], status, "{pose}");
    }
}

/// A part with poles that is moved within its block: touching below half of the tolerance, interfering above
/// a few tolerances. Beside the poles, the parameters of both are turned against each other.
#[test]
fn moved_parts_with_poles_are_decided() {
    let [part, block] =
        ["flush/ellipsoid-part.step", "flush/ellipsoid-block.step"].map(|f| data(f).display().to_string());
    let tolerance = 1e-5;
    let cases =
        [([0.4, 0.0, 0.0], "touching"), ([0.3, 0.2, 0.2], "touching"), ([0.0, 0.0, 6.0], "interfering")];
    for (shift, status) in cases {
        let pose = shift.map(|x| (x * tolerance).to_string()).join(",");
        let args =
            ["query", &part, &block, "--d-max", "0.1", "--json", "--tolerance", "1e-5", "--pose-a", &pose];
        let found = json_of(&args);
        assert_eq!(found["status"], status, "{pose}");
    }
}

/// At a few tolerances, some pairs of areas are not decided. The depth is at most twice the coarser tolerance
/// that decides them.
#[test]
fn undecided_parts_have_a_small_depth_bound() {
    let [part, block] =
        ["flush/ellipsoid-part.step", "flush/ellipsoid-block.step"].map(|f| data(f).display().to_string());
    let args =
        ["query", &part, &block, "--d-max", "0.1", "--json", "--tolerance", "1e-5", "--pose-a", "2e-5,0,0"];
    let found = json_of(&args);
    match found["status"].as_str() {
        Some("undecided") => {
            let coarser = found["coarser"]["tolerance"].as_f64().unwrap();
            let bound = found["depth_bound"].as_f64().unwrap();
            assert!(coarser <= 1e-4 && bound <= 2.0 * coarser, "{coarser}, {bound}");
        }
        status => assert_eq!(status, Some("touching")),
    }
}
