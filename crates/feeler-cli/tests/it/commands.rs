//! The commands as a user runs them: files, tables, JSON.
#![allow(clippy::unwrap_used, reason = "test code")]

use crate::common::{data, feeler};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

fn json(args: &[&str]) -> Value {
    let run = feeler(args);
    assert!(run.status.success(), "{args:?}: {}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}"))
}

#[test]
fn a_file_gives_what_the_step_file_gives() {
    let dir = tempfile::tempdir().unwrap();
    let report = json(&[
        "preprocess",
        data("socket.step").to_str().unwrap(),
        data("plug.step").to_str().unwrap(),
        "-o",
        dir.path().to_str().unwrap(),
        "--json",
    ]);
    assert!(report["inputs"].as_array().unwrap().iter().all(|i| i["ok"] == true), "{report}");
    let pose = "0.02,0.01,0.1,0.0002,0.0001,0,1";
    let strip = |mut v: Value| {
        v["stats"]["wall_us"] = Value::Null;
        v
    };
    let from_step = strip(json(&[
        "query",
        data("socket.step").to_str().unwrap(),
        data("plug.step").to_str().unwrap(),
        "--d-max",
        "0.2",
        "--pose-b",
        pose,
        "--json",
    ]));
    let (a, b) = (dir.path().join("socket.feeler"), dir.path().join("plug.feeler"));
    let from_file = strip(json(&[
        "query",
        a.to_str().unwrap(),
        b.to_str().unwrap(),
        "--d-max",
        "0.2",
        "--pose-b",
        pose,
        "--json",
    ]));
    assert_eq!(from_step, from_file, "the file and the STEP input disagree");
    assert_eq!(from_file["status"], "separated", "{from_file}");
    let contacts = from_file["contacts"].as_array().unwrap();
    assert!(!contacts.is_empty(), "no contact");
    for l in contacts {
        let v =
            |k: &str| -> Vec<f64> { l[k].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect() };
        let (p, q, n) = (v("point_a"), v("point_b"), v("normal"));
        let d = l["distance"].as_f64().unwrap();
        for i in 0..3 {
            assert!((q[i] - p[i] - d * n[i]).abs() < 1e-9, "the normal does not lead from A to B: {l}");
        }
        assert!(l["feature_a"]["source"].as_str().unwrap().starts_with('#'), "{l}");
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let file = |n: &str| dir.path().join(n);
    for n in ["one.feeler", "two.feeler"] {
        let run = feeler(&[
            "preprocess",
            data("shaft.step").to_str().unwrap(),
            "-o",
            file(n).to_str().unwrap(),
            "-q",
        ]);
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }
    assert_eq!(
        std::fs::read(file("one.feeler")).unwrap(),
        std::fs::read(file("two.feeler")).unwrap(),
        "bytes differ"
    );
}

#[test]
fn inspect_knows_area_and_volume() {
    let v = json(&["inspect", data("inch-bracket.step").to_str().unwrap(), "--json"]);
    let s = &v["solids"][0];
    // The generator prints 12916.963900 mm³.
    assert!((s["volume"].as_f64().unwrap() - 12916.9639).abs() < 1e-3, "{s}");
    assert_eq!(s["faces"], 10, "{s}");
    let v = json(&["inspect", data("torus-without-edges.step").to_str().unwrap(), "--json"]);
    let expected = 2.0 * std::f64::consts::PI * std::f64::consts::PI * 12.0 * 16.0;
    assert!((v["solids"][0]["volume"].as_f64().unwrap() / expected - 1.0).abs() < 1e-9, "{v}");
    assert_eq!(v["solids"][0]["faces_by_type"]["torus"], 1, "{v}");
}

#[test]
fn known_distances() {
    // Two spheres with radii of 10 and 7.5 mm, whose centres are 30 mm apart.
    let v = json(&[
        "query",
        data("sphere.step").to_str().unwrap(),
        data("sphere-without-edges.step").to_str().unwrap(),
        "--d-max",
        "20",
        "--pose-b",
        "0,18,24",
        "--json",
    ]);
    assert_eq!(v["contacts"].as_array().unwrap().len(), 1, "{v}");
    assert!((v["min_distance"].as_f64().unwrap() - 12.5).abs() < 1e-12, "{v}");
    // The solids are farther apart than `--d-max`.
    let v = json(&[
        "query",
        data("sphere.step").to_str().unwrap(),
        data("box.step").to_str().unwrap(),
        "--d-max",
        "1",
        "--pose-b",
        "500,0,0",
        "--json",
    ]);
    assert!(v["min_distance"].is_null() && v["status"] == "separated", "{v}");
    assert!(v["nearest_distance"].as_f64().unwrap() > 400.0, "{v}");
    // One solid inside the other.
    let run = feeler(&[
        "query",
        data("box.step").to_str().unwrap(),
        data("ball.step").to_str().unwrap(),
        "--d-max",
        "1",
        "--json",
    ]);
    let v: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(v["status"], "interfering", "{v}");
    assert_eq!(run.status.code(), Some(1), "{v}");
}

#[test]
fn inspect_shows_the_assembly() {
    let frame = data("assemblies/frame.step");
    let v = json(&["inspect", frame.to_str().unwrap(), "--json"]);
    let components = v["components"].as_array().unwrap();
    let index = |v: &Value| usize::try_from(v.as_u64().unwrap()).unwrap();
    let named = |n: &str| components.iter().find(|c| c["name"] == n).unwrap();
    assert!(named("frame")["parent"].is_null(), "{v}");
    assert_eq!(components[index(&named("upper")["parent"])]["name"], "rack", "{v}");
    assert_eq!(named("rack")["pose"]["translation"], serde_json::json!([0.0, 50.0, 0.0]), "{v}");
    let held = index(&named("foot:2")["instances"][0]);
    assert_eq!(v["solids"][held]["component"], named("foot:2")["index"], "{v}");
    assert!(v["left_out"][0].as_str().unwrap().contains("lost.stp"), "{v}");
    let run = feeler(&["inspect", frame.to_str().unwrap()]);
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(text.contains("└─ ") && text.contains("foot:2 [1]  rotated 90°"), "{text}");
}

#[test]
fn a_mirrored_instance_is_where_its_image_is() {
    // A wall at x = 0 and its mirror image at the plane x = -10 (mm).
    let hands = data("assemblies/hands.step");
    let hands = hands.to_str().unwrap();
    let v = json(&["query", hands, hands, "--d-max", "25", "--solid-a", "0", "--solid-b", "1", "--json"]);
    assert!((v["min_distance"].as_f64().unwrap() - 20.0).abs() < 1e-9, "{v}");
}

/// A box that lacks one face, as a surface model: distances from inside, from outside, and to the rim of
/// the opening.
#[test]
fn open_shells() {
    let dir = tempfile::tempdir().unwrap();
    let step = std::fs::read_to_string(data("box.step")).unwrap();
    let line = |kind: &str| step.lines().find(|l| l.contains(&format!("{kind}("))).unwrap().to_owned();
    let (solid, shell) = (line("MANIFOLD_SOLID_BREP"), line("CLOSED_SHELL"));
    let (solid_id, shell_id) = (solid.split_once('=').unwrap().0, shell.split_once('=').unwrap().0);
    // The first face of the shell is the one at x = -20; it is removed.
    let (head, faces) = shell.split_once("',(").unwrap();
    let faces = faces.split_once(',').unwrap().1;
    let open = step
        .replace(&solid, &format!("{solid_id}= SHELL_BASED_SURFACE_MODEL('tub',({}));", shell_id.trim()))
        .replace(&shell, &format!("{}',({faces}", head.replace("CLOSED_SHELL", "OPEN_SHELL")));
    let file = dir.path().join("tub.step");
    std::fs::write(&file, open).unwrap();
    let refused = feeler(&["preprocess", file.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("surface model") && text.contains("--open-shells"), "{text}");
    assert!(!dir.path().join("tub.feeler").exists(), "no output");

    let report = json(&["preprocess", file.to_str().unwrap(), "--open-shells", "--json"]);
    let input = &report["inputs"][0];
    assert_eq!((&input["ok"], &input["faces"]), (&Value::from(true), &Value::from(10)), "{report}");
    assert!(input["warnings"][0].as_str().unwrap().contains("open edges (4)"), "{report}");
    let tub = dir.path().join("tub.feeler");
    // With the same options, the output is up to date.
    let again = json(&["preprocess", file.to_str().unwrap(), "--open-shells", "--json"]);
    assert_eq!(again["inputs"][0]["unchanged"], true, "{again}");

    // The radius of the ball is 3.1 mm; the box extends to ±20, ±15 and ±10 mm.
    let distances = |pose: &str, d_max: &str| -> Vec<f64> {
        let v = json(&[
            "query",
            tub.to_str().unwrap(),
            data("ball.step").to_str().unwrap(),
            "--d-max",
            d_max,
            "--pose-b",
            pose,
            "--json",
        ]);
        assert_eq!(v["status"], "separated", "{v}");
        v["contacts"].as_array().unwrap().iter().map(|l| l["distance"].as_f64().unwrap()).collect()
    };
    let near = |found: Vec<f64>, expected: &[f64]| {
        assert!(
            found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9),
            "{found:?} instead of {expected:?}"
        );
    };
    near(distances("3,1,2", "20"), &[4.9, 8.9, 10.9, 12.9, 13.9]);
    near(distances("3,1,16", "5"), &[2.9]);
    near(distances("30,0,0", "8"), &[6.9]);
    // In front of the open side: the rim has a minimum on each of its four sides, and the bottom of the tub
    // one through the opening.
    let side = |a: f64, b: f64| (a * a + b * b).sqrt() - 3.1;
    near(
        distances("-30,1,2", "60"),
        &[side(10.0, 8.0), side(10.0, 12.0), side(10.0, 14.0), side(10.0, 16.0), 46.9],
    );

    // Two sheets that cross have no separating translation; a sheet and a ball have one. Both pairs have
    // crossing curves.
    let interfering = |other: &Path, pose: &str| -> Value {
        let tub = tub.to_str().unwrap();
        let query =
            ["query", tub, other.to_str().unwrap(), "--d-max", "0", "--pose-b", pose, "--curves", "0.01"];
        let run = feeler(&[&query[..], &["--json", "--quiet"]].concat());
        assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stdout));
        serde_json::from_slice(&run.stdout).unwrap()
    };
    let sheets = interfering(&tub, "5,4,3,0,0,0.3826834323650898,0.9238795325112867");
    assert!(
        sheets["witness"].is_object() && sheets["witness"]["separating_translation"].is_null(),
        "{sheets}"
    );
    assert!(!sheets["curves"].as_array().unwrap().is_empty());
    // The centre of the ball is 1 mm beyond the face at x = 20, which it crosses in a circle.
    let ball = interfering(&data("ball.step"), "21,1,2");
    let way = ball["witness"]["separating_translation"][0].as_f64().unwrap();
    assert!((way - 2.1).abs() < 1e-4, "{}", ball["witness"]);
    assert_eq!(ball["curves"][0]["closed"], true);
}

/// `--certified` reports how many solves are proven to be complete; the minima are the same as without
/// the option.
#[test]
fn certified_queries_report_the_proof() {
    let (wave, ball) = (data("wave.step"), data("sphere.step"));
    let base = [
        "query",
        wave.to_str().unwrap(),
        ball.to_str().unwrap(),
        "--d-max",
        "8",
        "--pose-b",
        "1,2,20",
        "--quiet",
    ];
    let ordinary = json(&[&base[..], &["--json"]].concat());
    let certified = json(&[&base[..], &["--json", "--certified"]].concat());
    assert!(ordinary.get("certificate").is_none(), "{ordinary}");
    let c = &certified["certificate"];
    assert_eq!((&c["complete"], &c["undecided"]), (&Value::from(true), &Value::from(0)), "{c}");
    assert!(c["solves"].as_u64().unwrap() > 0, "a free-form side: {c}");
    assert!(!ordinary["contacts"].as_array().unwrap().is_empty(), "{ordinary}");
    assert_eq!(ordinary["contacts"], certified["contacts"], "the minima");
    assert!(certified["contacts"].as_array().unwrap().iter().all(|l| l["undecided"] == false), "{certified}");
    let table = feeler(&[&base[..], &["--certified"]].concat());
    let text = String::from_utf8_lossy(&table.stdout);
    let line = format!("certified: all of {} solves", c["solves"]);
    assert!(text.contains(&line), "{text}");
}

/// `--tolerance` decides which solids touch, and is part of the result.
#[test]
fn tolerances_decide_contact() {
    // The spheres have radii of 10 and 7.5 mm, and their centres are 17.51 mm apart.
    let (a, b) = (data("sphere.step"), data("sphere-without-edges.step"));
    let base = ["query", a.to_str().unwrap(), b.to_str().unwrap(), "--d-max", "1", "--pose-b", "0,0,17.51"];
    let apart = json(&[&base[..], &["--json"]].concat());
    assert_eq!((&apart["schema"], &apart["status"]), (&Value::from(4), &Value::from("separated")), "{apart}");
    let default = apart["tolerance"].as_f64().unwrap();
    assert!(0.0 < default && default < 1e-4, "{apart}");
    let touching = json(&[&base[..], &["--json", "--tolerance", "0.02"]].concat());
    assert_eq!(touching["status"], "touching", "{touching}");
    assert!((touching["tolerance"].as_f64().unwrap() - 0.02).abs() < 1e-12, "{touching}");
    assert!((touching["min_distance"].as_f64().unwrap() - 0.01).abs() < 1e-9, "{touching}");
    for evidence in ["undecided", "widened", "witness", "crossing_faces"] {
        assert!(touching.get(evidence).is_none(), "{evidence}: {touching}");
    }
    let table = feeler(&[&base[..], &["--tolerance", "0.02"]].concat());
    assert!(String::from_utf8_lossy(&table.stdout).starts_with("touching: "), "{table:?}");
}

#[test]
fn inspect_knows_where_the_mass_is() {
    // A torus of R = 12 and r = 4: volume 2 pi^2 R r^2, moment about its axis V (R^2 + 3/4 r^2).
    let file = data("torus-without-edges.step");
    let file = file.to_str().unwrap();
    let v = json(&["inspect", file, "--json", "--density", "*=7850"]);
    let s = &v["solids"][0];
    let pi = std::f64::consts::PI;
    let volume = 2.0 * pi * pi * 12.0 * 16.0;
    let zz = volume * (144.0 + 12.0);
    let close = |v: &Value, x: f64| assert!((v.as_f64().unwrap() / x - 1.0).abs() < 1e-12, "{v} is not {x}");
    close(&s["inertia"][2][2], zz);
    close(&s["mass_kg"], volume * 7850e-9);
    close(&s["inertia_kg_mm2"][2][2], zz * 7850e-9);
    close(&v["together"]["mass_kg"], volume * 7850e-9);
    assert!(s["centroid"][0].as_f64().unwrap().abs() < 1e-12, "{s}");
    close(&s["placed_max"][0], 16.0);
    let run = feeler(&["inspect", file, "--density", "torus=x"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("'x' is not a density"), "{run:?}");
    for bad in ["torus", "torus=-1", "torus=0", "torus=inf", "torus=NaN"] {
        assert_eq!(feeler(&["inspect", file, "--density", bad]).status.code(), Some(2), "{bad}");
    }
    let run = feeler(&["inspect", file, "--density", "nut=1"]);
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{message}");
    let name = s["name"].as_str().unwrap();
    assert!(
        message.contains("torus-without-edges.step") && message.contains("'nut'") && message.contains(name),
        "{message}"
    );
}

#[test]
fn inspect_adds_up_an_assembly() {
    let frame = data("assemblies/frame.step");
    let frame = frame.to_str().unwrap();
    let v = json(&["inspect", frame, "--json", "--density", "*=1000"]);
    let solids = v["solids"].as_array().unwrap();
    assert!(solids.len() > 2, "{v}");
    let sum = |key: &str| solids.iter().map(|s| s[key].as_f64().unwrap()).sum::<f64>();
    let together = &v["together"];
    assert!((together["volume"].as_f64().unwrap() / sum("volume") - 1.0).abs() < 1e-12, "{together}");
    assert!((together["mass_kg"].as_f64().unwrap() / sum("mass_kg") - 1.0).abs() < 1e-12, "{together}");
    let corner = |s: &Value, k: usize| s["placed_max"][k].as_f64().unwrap();
    for k in 0..3 {
        let most = solids.iter().map(|s| corner(s, k)).fold(f64::MIN, f64::max);
        assert!((together["bbox_max"][k].as_f64().unwrap() - most).abs() < 1e-12, "{together}");
    }
    // Without a density for every solid, there is no total mass.
    let v = json(&["inspect", frame, "--json", "--density", "0=1000"]);
    assert!(v["solids"][0]["mass_kg"].is_f64() && v["solids"][1]["mass_kg"].is_null(), "{v}");
    assert!(v["together"]["mass_kg"].is_null(), "{v}");
    let run = feeler(&["inspect", frame, "--density", "0=1000", "--density", "0=2000"]);
    assert_eq!(run.status.code(), Some(2), "{run:?}");
    let text = String::from_utf8(feeler(&["inspect", frame, "--density", "0=1000"]).stdout).unwrap();
    assert!(text.contains("solids with the numbers [1"), "{text}");
}

/// If a file has several solids and none is selected, the error lists them.
#[test]
fn a_solid_among_several_must_be_named() {
    let frame = data("assemblies/frame.step");
    let bolt = data("box.step");
    let run = feeler(&["query", frame.to_str().unwrap(), bolt.to_str().unwrap(), "--d-max", "1"]);
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{message}");
    for word in ["--solid-a", "0 'frame/", "clearance"] {
        assert!(message.contains(word), "{word}: {message}");
    }
}

/// `sweep` prints the results of `query` for the same pose to the last bit, and reads numbers without
/// rounding.
#[test]
fn a_sweep_repeats_queries_to_the_bit() {
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(data("bayonet.json")).unwrap();
    let scenario: Value = serde_json::from_str(&text).unwrap();
    let pose = &scenario["poses_b"][150];
    let file = dir.path().join("one.json");
    std::fs::write(&file, serde_json::json!({ "poses_b": [pose] }).to_string()).unwrap();
    let (a, b) = (data("bayonet-socket.step"), data("bayonet-plug.step"));
    let files = [a.to_str().unwrap(), b.to_str().unwrap()];
    let common = ["--d-max", "0.2", "--json", "--quiet"];
    let numbers: Vec<String> = pose.as_array().unwrap().iter().map(ToString::to_string).collect();
    let moved = numbers.join(",");
    let query = json(&[&["query"], &files[..], &common[..], &["--pose-b", &moved]].concat());
    let sweep =
        json(&[&["sweep"], &files[..], &common[..], &["--trajectory", file.to_str().unwrap()]].concat());
    assert!(!query["contacts"].as_array().unwrap().is_empty());
    assert_eq!(query["contacts"], sweep["frames"][0]["contacts"]);
    assert_eq!(sweep["summary"]["interfering"], 0);

    // The pose of a frame is accepted as a pose file.
    let pose_file = dir.path().join("pose.json");
    std::fs::write(&pose_file, sweep["frames"][0]["pose_b"].to_string()).unwrap();
    let pose = format!("@{}", pose_file.display());
    let again = json(&[&["query"], &files[..], &common[..], &["--pose-b", &pose]].concat());
    assert_eq!(query["contacts"], again["contacts"]);

    let all = json(&[&["query"], &files[..], &["--d-max", "inf", "--json", "--quiet"]].concat());
    assert!(all["d_max"].is_null() && all["contacts"].as_array().unwrap().len() > 10, "{all}");
    let top =
        json(&[&["query"], &files[..], &["--d-max", "inf", "--top", "3", "--json", "--quiet"]].concat());
    let (all, top) = (all["contacts"].as_array().unwrap(), &top);
    assert_eq!(top["contacts"].as_array().unwrap()[..], all[..3]);
    assert_eq!(top["contacts_left_out"], all.len() - 3);
}

/// A unit on the command line overrides the unit in the file, and a file that was prepared with another
/// unit is prepared again.
#[test]
fn units_can_be_given() {
    let dir = tempfile::tempdir().unwrap();
    let (bracket, output) = (data("inch-bracket.step"), dir.path().join("out.feeler"));
    let volume = |args: &[&str]| -> f64 {
        let run = Command::new(env!("CARGO_BIN_EXE_feeler")).args(args).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let document: Value = serde_json::from_slice(&run.stdout).unwrap();
        document["solids"][0]["volume"].as_f64().unwrap()
    };
    let file = bracket.to_str().unwrap();
    let inches = volume(&["inspect", file, "--json"]);
    let mm = volume(&["inspect", file, "--json", "--unit", "mm"]);
    let scale: f64 = inches / mm;
    assert!((scale / (25.4 * 25.4 * 25.4) - 1.0).abs() < 1e-9, "{inches} {mm}");
    assert_eq!(volume(&["inspect", file, "--json", "--unit", "inch"]).to_bits(), inches.to_bits());
    let prepare = |unit: &[&str]| {
        let args = [&["preprocess", file, "-o", output.to_str().unwrap(), "--json"], unit].concat();
        let run = Command::new(env!("CARGO_BIN_EXE_feeler")).args(args).output().unwrap();
        let document: Value = serde_json::from_slice(&run.stdout).unwrap();
        document["inputs"][0]["unchanged"].as_bool().unwrap()
    };
    assert!(!prepare(&[]) && prepare(&[]));
    assert!(!prepare(&["--unit", "cm"]) && prepare(&["--unit", "10"]), "a unit is an option like others");
    let run =
        Command::new(env!("CARGO_BIN_EXE_feeler")).args(["inspect", file, "--unit", "furlong"]).output();
    let run = run.unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("give um, mm, cm"));
}

/// Completions for every shell, and a page for every command.
#[test]
fn completions_and_manual() {
    let feeler = |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_feeler")).args(args).output().unwrap();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = feeler(&["completions", shell]);
        let text = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && text.contains("clearance") && text.contains("d-max"), "{shell}");
    }
    let dir = tempfile::tempdir().unwrap();
    let pages = dir.path().join("man");
    assert!(feeler(&["man", pages.to_str().unwrap()]).status.success());
    for page in ["feeler.1", "feeler-query.1", "feeler-regress.1", "feeler-diff.1"] {
        let text = std::fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.contains(".TH") && text.contains(".SH"), "{page}");
    }
    assert!(String::from_utf8_lossy(&feeler(&["man"]).stdout).contains(".TH feeler"));
}

/// Colours are printed on request and on terminals.
#[test]
fn colours() {
    let (bore, pin) = (data("bore.step"), data("pin.step"));
    let query = |color: &str| {
        let files = [bore.to_str().unwrap(), pin.to_str().unwrap()];
        let args = [&["query", "--d-max", "1", "--color", color], &files[..]].concat();
        let run = Command::new(env!("CARGO_BIN_EXE_feeler")).args(args).output().unwrap();
        String::from_utf8(run.stdout).unwrap()
    };
    assert!(query("always").contains("\u{1b}[32mseparated\u{1b}[0m"));
    for color in ["never", "auto"] {
        assert!(!query(color).contains('\u{1b}'), "{color}");
    }
}

/// STL files are the polyhedra that their triangles bound.
#[test]
fn stl_files_are_solids() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("block.stl");
    std::fs::write(&file, crate::common::stl_block([0.0; 3], [10.0, 20.0, 30.0])).unwrap();
    let file = file.to_str().unwrap();
    let run = |args: &[&str]| feeler(args);
    let refused = run(&["inspect", file]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        refused.status.code() == Some(2) && said.contains("block.stl: STL files do not state their unit")
    );
    assert!(said.contains("give it with --unit"), "{said}");
    let shown = run(&["inspect", file, "--unit", "mm", "--json"]);
    let document: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let solid = &document["solids"][0];
    assert!((solid["volume"].as_f64().unwrap() - 6000.0).abs() < 1e-9, "{solid}");
    // The adjacent triangles in one plane form one face.
    assert_eq!(solid["supermaximal_faces"], 6, "{solid}");
    let output = dir.path().join("block.feeler");
    let prepare = || {
        let done = run(&["preprocess", file, "--unit", "cm", "-o", output.to_str().unwrap(), "--json"]);
        let document: Value = serde_json::from_slice(&done.stdout).unwrap();
        document["inputs"][0]["unchanged"].as_bool().unwrap()
    };
    assert!(!prepare() && prepare(), "prepared, then up to date");
    // The solid is 10 cm wide and begins at x = 0, so a box at x = 130 mm is 30 mm away from it, plus
    // the smallest x of the box.
    let other = data("box.step");
    let other = other.to_str().unwrap();
    let answer =
        json(&["query", output.to_str().unwrap(), other, "--d-max", "99", "--pose-b", "130,0,0", "--json"]);
    let left = json(&["inspect", other, "--json"])["solids"][0]["bbox_min"][0].as_f64().unwrap();
    let distance = answer["contacts"][0]["distance"].as_f64().unwrap();
    assert!((distance - (30.0 + left)).abs() < 1e-9, "{distance} {left}");
    let open = dir.path().join("open.stl");
    let text = crate::common::stl_block([0.0; 3], [10.0, 20.0, 30.0]);
    let (head, _) = text.rsplit_once("facet normal").unwrap();
    std::fs::write(&open, format!("{head}endsolid block\n")).unwrap();
    let refused = run(&["inspect", open.to_str().unwrap(), "--unit", "mm"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && said.contains("open.stl: the side from"), "{said}");
    assert!(said.contains("close the hole"), "{said}");
}

/// `--volume` measures the common part: a cylinder inside a box.
#[test]
fn overlaps_are_measured() {
    let (block, cylinder) = (data("box.step"), data("cylinder.step"));
    let base = ["query", block.to_str().unwrap(), cylinder.to_str().unwrap(), "--d-max", "1", "--volume"];
    let run = feeler(&[&base[..], &["--json", "--quiet"]].concat());
    let found: Value = serde_json::from_slice(&run.stdout).unwrap();
    let volume = found["overlap"]["volume"].as_f64().unwrap();
    assert!((volume / (1000.0 * std::f64::consts::PI) - 1.0).abs() < 1e-7, "{found}");
    assert_eq!(found["overlap"]["method"], "faces");
    assert!((found["overlap"]["centroid"][2].as_f64().unwrap() - 5.0).abs() < 1e-6, "{found}");
    let run = feeler(&[&base[..], &["--pose-b", "100,0,0", "--json", "--quiet"]].concat());
    let found: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert!(found.get("overlap").is_some_and(Value::is_null), "{found}");
}
