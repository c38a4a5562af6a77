//! `feeler mechanism`, and proofs of `feeler sweep`, as a user runs them.
#![allow(clippy::unwrap_used, reason = "test code")]

use crate::common::feeler_in_data as feeler;
use serde_json::Value;
use std::path::Path;

fn document(args: &[&str]) -> Value {
    let run = feeler(args);
    serde_json::from_slice(&run.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&run.stderr)))
}

/// Path of a copy of the mechanism `data/arm` with the post at another position, or with further keys.
fn arm(dir: &Path, post: &str, extra: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/arm");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, dir.join(path.file_name().unwrap())).unwrap();
    }
    let urdf = std::fs::read_to_string(dir.join("arm.urdf")).unwrap();
    assert!(urdf.contains("0.44 0.31 0"), "{urdf}");
    std::fs::write(dir.join("arm.urdf"), urdf.replace("0.44 0.31 0", post)).unwrap();
    let toml = std::fs::read_to_string(dir.join("arm.toml")).unwrap();
    std::fs::write(dir.join("arm.toml"), format!("{extra}\n{toml}")).unwrap();
    dir.join("arm.toml").to_str().unwrap().to_owned()
}

#[test]
fn an_arm_passes_a_post() {
    let dir = tempfile::tempdir().unwrap();
    let [csv, svg] = ["margins.csv", "margins.svg"].map(|n| dir.path().join(n).to_str().unwrap().to_owned());
    let args = ["mechanism", "arm/arm.toml", "--steps", "200", "--json", "-q", "--csv", &csv, "--plot", &svg];
    let run = feeler(&args);
    assert!(run.status.success() && run.stderr.is_empty(), "{}", String::from_utf8_lossy(&run.stderr));
    let document: Value = serde_json::from_slice(&run.stdout).unwrap();
    let pairs = document["pairs"].as_array().unwrap();
    // Seven links and a post; neighbours and links connected by fixed joints are not checked.
    assert_eq!(pairs.len(), 20);
    assert!(pairs.iter().all(|p| p["motion"]["result"] == "free"), "{document}");
    let margins = document["margins"].as_array().unwrap();
    let smallest = margins.iter().filter_map(|m| m["margin"].as_f64()).fold(f64::INFINITY, f64::min);
    assert!(smallest > 2.0 && smallest < 4.0, "{smallest}");
    let rows = std::fs::read_to_string(&csv).unwrap();
    assert_eq!(rows.lines().count(), 201);
    assert!(rows.starts_with("time_s,margin_mm,a,b,interferes\n0,"), "{rows}");
    assert!(std::fs::read_to_string(&svg).unwrap().contains("margin (mm)"));
    // With one thread, the program prints the same bytes.
    let one = feeler(&[&args[..], &["--threads", "1"]].concat());
    assert_eq!(one.stdout, run.stdout);
}

/// The arm hits a post; at the time of first contact, the distance is 0.
#[test]
fn an_arm_hits_a_post() {
    let dir = tempfile::tempdir().unwrap();
    let file = arm(dir.path(), "0.40 0.28 0", "");
    let hit = document(&["mechanism", &file, "--json", "-q"]);
    let contacts: Vec<&Value> =
        hit["pairs"].as_array().unwrap().iter().filter(|p| p["motion"]["result"] == "contact").collect();
    assert!(!contacts.is_empty(), "{hit}");
    for contact in contacts {
        assert!(contact["a"] == "post" || contact["b"] == "post", "{contact}");
        assert!(contact["motion"]["distance"].as_f64().unwrap().abs() < 1e-6);
    }
    let text = feeler(&["mechanism", &file, "-q"]);
    assert_eq!(text.status.code(), Some(1));
    let table = String::from_utf8(text.stdout).unwrap();
    assert!(
        table.contains("first contact at") && table.contains("of 20 pairs are not proven free"),
        "{table}"
    );
}

#[test]
fn a_grid_over_the_limits_of_joints() {
    let dir = tempfile::tempdir().unwrap();
    let mechanism = dir.path().join("slider.toml");
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    for name in ["box.step", "sphere.step"] {
        std::fs::copy(data.join(name), dir.path().join(name)).unwrap();
    }
    std::fs::write(
        &mechanism,
        "neighbours = true\n[links]\nground = 'box.step'\nball = 'sphere.step'\n\
         [[joint]]\nlink = 'ball'\nprismatic = [0, 0, 1]\nlimits = [0, 100]\n",
    )
    .unwrap();
    let file = mechanism.to_str().unwrap();
    let table = feeler(&["mechanism", file, "--grid", "11", "-q"]);
    let text = String::from_utf8(table.stdout).unwrap();
    assert_eq!(table.status.code(), Some(1), "{text}");
    assert!(text.contains("11 poses of 1 pairs") && text.contains("poses of the grid interfere"), "{text}");
    let none = feeler(&["mechanism", file, "-q"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&none.stderr).contains("[motion]"));
}

/// A ball of radius 10 moves down to a block whose top is at z = 10, and into it.
fn ball_on_block(dir: &Path, heights: &str, uncertainty: &str) -> String {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    for name in ["box.step", "sphere.step"] {
        let text = std::fs::read_to_string(data.join(name)).unwrap();
        assert!(text.contains("LENGTH_MEASURE(1.E-07)"), "{name}");
        let stated = text.replace("LENGTH_MEASURE(1.E-07)", &format!("LENGTH_MEASURE({uncertainty})"));
        std::fs::write(dir.join(name), stated).unwrap();
    }
    let file = dir.join("press.toml");
    let text = format!(
        "neighbours = true\n[links]\nground = 'box.step'\nball = 'sphere.step'\n\
         [[joint]]\nlink = 'ball'\nprismatic = [0, 0, 1]\n[motion]\ntimes = [0, 3]\nball = [{heights}]\n"
    );
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// A pair that interferes at a step states its depth there, and the distance of the other steps.
#[test]
fn depths_of_mechanisms() {
    let dir = tempfile::tempdir().unwrap();
    let file = ball_on_block(dir.path(), "27, 18", "1.E-07");
    let found = document(&["mechanism", &file, "--steps", "4", "--json", "-q"]);
    let pair = &found["pairs"][0];
    let near = |key: &str, value: f64| (pair[key].as_f64().unwrap() - value).abs() < 1e-6;
    assert!(near("smallest", 1.0) && near("time", 2.0), "{pair}");
    assert!(near("depth", 2.0) && near("depth_time", 3.0), "{pair}");
    assert!(pair["interfering_steps"] == 1 && pair["undecided_steps"] == 0, "{pair}");
    assert_eq!(found["margins"][3]["margin"], 0.0);
    let run = feeler(&["mechanism", &file, "--steps", "4", "-q"]);
    let table = String::from_utf8(run.stdout).unwrap();
    assert_eq!(run.status.code(), Some(1), "{table}");
    let row: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().take(7).collect();
    assert_eq!(row, ["ball", "ground", "1.000000", "2.0000", "1", "2.000000", "3.0000"], "{table}");
    // Pairs that do not interfere have no depth.
    let file = ball_on_block(dir.path(), "27, 21", "1.E-07");
    let free = document(&["mechanism", &file, "--steps", "4", "--json", "-q"]);
    assert!(free["pairs"][0]["depth"].is_null() && free["pairs"][0]["depth_time"].is_null(), "{free}");
    let text = feeler(&["mechanism", &file, "--steps", "4", "-q"]);
    assert!(text.status.success(), "{text:?}");
}

/// The tolerance holds for the steps and for the motion between them.
#[test]
fn tolerances_of_mechanisms() {
    let dir = tempfile::tempdir().unwrap();
    let check = |file: &str, extra: &[&str]| {
        let args = [&["mechanism", file, "--steps", "4", "--json", "-q", "--allow-touching"], extra].concat();
        let run = feeler(&args);
        let found: Value = serde_json::from_slice(&run.stdout).unwrap();
        let pair = found["pairs"][0].clone();
        (run.status.code(), pair["interfering_steps"].as_u64().unwrap(), pair["motion"].clone())
    };
    let file = ball_on_block(dir.path(), "27, 18", "1.E-07");
    let (code, steps, motion) = check(&file, &[]);
    assert!((code, steps) == (Some(1), 1) && motion["result"] == "penetration", "{motion}");
    // The motion is bisected to the time at which the depth is two tolerances.
    assert!((motion["time"].as_f64().unwrap() - 7.0 / 3.0).abs() < 1e-4, "{motion}");
    assert!((motion["depth"].as_f64().unwrap() - 2.0).abs() < 1e-6, "{motion}");
    let (code, steps, motion) = check(&file, &["--tolerance", "0.5"]);
    assert!((code, steps) == (Some(1), 1) && motion["result"] == "penetration", "{motion}");
    assert!((motion["time"].as_f64().unwrap() - 8.0 / 3.0).abs() < 1e-4, "{motion}");
    let (code, steps, motion) = check(&file, &["--tolerance", "1.5"]);
    assert!((code, steps) == (Some(0), 0) && motion["result"] == "contact", "{motion}");
    assert!((motion["max_depth"].as_f64().unwrap() - 3.0).abs() < 1e-9, "{motion}");
    // 1 µm deep, with files that state an accuracy of 1 µm.
    let file = ball_on_block(dir.path(), "27, 19.999", "1.E-03");
    let (code, steps, motion) = check(&file, &[]);
    assert!((code, steps) == (Some(1), 1) && motion["result"] == "penetration", "{motion}");
    let (code, steps, motion) = check(&file, &["--tolerance", "file"]);
    assert!((code, steps) == (Some(0), 0) && motion["result"] == "contact", "{motion}");
    for (value, message) in [("0", "above 0"), ("files", "--tolerance")] {
        let run = feeler(&["mechanism", &file, "--tolerance", value]);
        assert_eq!(run.status.code(), Some(2), "{value}");
        assert!(String::from_utf8_lossy(&run.stderr).contains(message), "{run:?}");
    }
}

/// Errors state the mistake and what to do.
#[test]
fn mistakes_in_mechanisms() {
    let dir = tempfile::tempdir().unwrap();
    let cases = [
        ("[links]\na = 'nowhere.step'\n[motion]\ntimes = [0, 1]\n", "nowhere.step"),
        ("[links\n", "not a valid mechanism"),
        ("colour = 1\n[links]\n", "colour"),
        ("[links]\na = 'x.step'\n[[joint]]\nlink = 'a'\n[motion]\ntimes = [0, 1]\n", "revolute = [x, y, z]"),
        ("[links]\na = 'x.step'\n[motion]\ntimes = [0, 0]\n", "increase"),
        ("[links]\na = 'x.step'\n[motion]\ntimes = [0, 1]\nb = [0, 1]\n", "unknown joint 'b'"),
        ("urdf = 'none.urdf'\n[links]\n", "none.urdf"),
        (
            "[links]\na = 'x.step'\n[[joint]]\nlink = 'a'\nrevolute = [0, 0, 1]\nlimits = [0, 10]\n\
             [motion]\ntimes = [0, 1]\na = [0, 20]\n",
            "beyond its limits from 0 to 10 deg",
        ),
    ];
    for (i, (text, message)) in cases.iter().enumerate() {
        let file = dir.path().join(format!("m{i}.toml"));
        std::fs::write(&file, text).unwrap();
        let run = feeler(&["mechanism", file.to_str().unwrap()]);
        let error = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(2), "{text}: {error}");
        assert!(error.contains(message), "{text}: {error}");
    }
}

/// A joint moves B: along the axis of the bore the motion is free, across the axis there is a first
/// contact.
#[test]
fn joints_and_proofs_of_sweeps() {
    let sweep = |extra: &[&str]| {
        let pair = ["sweep", "socket.step", "plug.step", "--d-max", "0.12", "-q", "--proof"];
        feeler(&[&pair[..], extra].concat())
    };
    let along = sweep(&["--joint", "0,0,0,0,0,1", "--slide", "0.1,30", "--steps", "10"]);
    let text = String::from_utf8(along.stdout).unwrap();
    assert!(along.status.success() && text.contains("proven free all the way"), "{text}");
    let screw = sweep(&["--joint", "0,0,0,0,0,1", "--slide", "0.1,5", "--turn", "0,20"]);
    assert!(screw.status.code().is_some_and(|c| c <= 1), "{screw:?}");
    let wide = sweep(&["--joint", "0,0,0,0,0,1", "--turn", "0,360", "--steps", "2"]);
    assert!(String::from_utf8_lossy(&wide.stderr).contains("--steps"), "{wide:?}");
    let across = sweep(&["--joint", "0,0,0,1,0,0", "--slide", "0,5", "--json"]);
    let document: Value = serde_json::from_slice(&across.stdout).unwrap();
    assert!(document["motion"]["result"].is_string(), "{}", document["motion"]);
    for (args, message) in [
        (vec!["--joint", "0,0,0,0,0,0", "--slide", "0,1"], "direction"),
        (vec!["--joint", "0,0,0,0,0,1"], "--turn"),
        (vec!["--joint", "0,0", "--slide", "0,1"], "X,Y,Z,DX,DY,DZ"),
        (vec!["--joint", "0,0,0,0,0,1", "--slide", "0"], "FROM,TO"),
    ] {
        let run = sweep(&args);
        assert_eq!(run.status.code(), Some(2), "{run:?}");
        assert!(String::from_utf8_lossy(&run.stderr).contains(message), "{run:?}");
    }
}

/// A brick slides on a plate: contact counts unless it is allowed, and penetration always counts.
#[test]
fn sweeps_tell_contact_from_penetration() {
    let sweep = |direction: &str, more: &[&str]| {
        let joint = format!("0,0,0,{direction}");
        let pair = ["sweep", "contact/plate.step", "contact/brick.step", "--d-max", "1", "--joint", &joint];
        let rest = ["--slide", "0,30", "--steps", "3", "--json", "-q"];
        let run = feeler(&[&pair[..], &rest, more].concat());
        let document: Value = serde_json::from_slice(&run.stdout).unwrap_or_default();
        (run.status.code(), document["motion"].clone())
    };
    let (code, motion) = sweep("1,0,0", &["--proof"]);
    assert_eq!((code, motion["result"].as_str()), (Some(1), Some("in contact")), "{motion}");
    let (code, motion) = sweep("1,0,0", &["--proof", "--allow-touching"]);
    assert_eq!((code, motion["result"].as_str()), (Some(0), Some("contact")), "{motion}");
    assert_eq!(motion["contact_time"].as_f64(), Some(0.0), "{motion}");
    let (code, motion) = sweep("1,0,1", &["--proof", "--allow-touching"]);
    assert_eq!((code, motion["result"].as_str()), (Some(0), Some("contact")), "{motion}");
    // One step goes 10 mm along the slope of 0.01.
    let (code, motion) = sweep("1,0,-0.01", &["--proof", "--allow-touching"]);
    assert_eq!((code, motion["result"].as_str()), (Some(1), Some("penetration")), "{motion}");
    let [time, depth, limit] = ["time", "depth", "max_depth"].map(|key| motion[key].as_f64().unwrap());
    assert!((time * 0.1 - limit).abs() < 0.05 * limit && depth > limit, "{motion}");
    assert_eq!(sweep("1,0,0", &["--allow-touching"]).0, Some(2), "--proof is missing");
}

/// The key `allow_touching` of a mechanism file: a brick slides on a plate and is lifted.
#[test]
fn mechanisms_may_touch() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/contact");
    for name in ["plate.step", "brick.step"] {
        std::fs::copy(folder.join(name), dir.path().join(name)).unwrap();
    }
    let file = dir.path().join("slide.toml");
    let text = "neighbours = true\n[links]\nground = 'plate.step'\nbrick = 'brick.step'\n[[joint]]\n\
                link = 'brick'\nprismatic = [1, 0, 0]\n[motion]\ntimes = [0, 1]\nbrick = [0, 20]\n";
    for (extra, code, result) in [("", 1, "in contact"), ("allow_touching = true\n", 0, "contact")] {
        std::fs::write(&file, format!("{extra}{text}")).unwrap();
        let run = feeler(&["mechanism", file.to_str().unwrap(), "--steps", "5", "--json", "-q"]);
        let document: Value = serde_json::from_slice(&run.stdout).unwrap();
        let motion = &document["pairs"][0]["motion"];
        assert_eq!((run.status.code(), motion["result"].as_str()), (Some(code), Some(result)), "{document}");
    }
}

/// A hinge and a bayonet whose parts fit without play move freely, and the first penetration of a bayonet
/// that is pushed 0.01 mm too deep is found.
#[test]
fn mechanisms_without_play_are_proven_free_of_penetration() {
    let motions = |path: &Path| {
        let run = feeler(&["mechanism", path.to_str().unwrap(), "--steps", "5", "--json", "-q"]);
        let document: Value = serde_json::from_slice(&run.stdout).unwrap();
        let pairs = document["pairs"].as_array().unwrap().clone();
        (run.status.code(), pairs.into_iter().map(|pair| pair["motion"].clone()).collect::<Vec<_>>())
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/fitted");
    for (name, pairs) in [("hinge", 3), ("bayonet", 1)] {
        let (code, motions) = motions(&folder.join(name).with_extension("toml"));
        assert_eq!((code, motions.len()), (Some(0), pairs), "{motions:?}");
        for motion in &motions {
            assert_eq!(motion["result"], "contact", "{motion}");
            assert!(motion["queries"].as_u64().unwrap() < 200, "{motion}");
        }
    }

    let dir = tempfile::tempdir().unwrap();
    for name in ["bayonet-plug.step", "bayonet-socket.step"] {
        std::fs::copy(folder.join(name), dir.path().join(name)).unwrap();
    }
    let text = std::fs::read_to_string(folder.join("bayonet.toml")).unwrap();
    let deeper = text.replace("[10, -20, -20]", "[10, -20.01, -20.01]");
    assert_ne!(deeper, text);
    let file = dir.path().join("deeper.toml");
    std::fs::write(&file, deeper).unwrap();
    let (code, motions) = motions(&file);
    assert_eq!((code, motions[0]["result"].as_str()), (Some(1), Some("penetration")), "{motions:?}");
    // The lugs reach the bottom of the groove 30 mm below their start, at a speed of 30.01 mm/s.
    let limit = motions[0]["max_depth"].as_f64().unwrap();
    let time = motions[0]["time"].as_f64().unwrap();
    assert!((time - (30.0 + limit) / 30.01).abs() < 1e-7, "{motions:?}");
    // The depth that was found is a lower bound.
    let depth = motions[0]["depth"].as_f64().unwrap();
    assert!(depth > limit && depth < 0.01 + 1e-6, "{motions:?}");
}

/// A four-bar linkage that its crank drives: the rocker follows the closed form, and the pair of crank and
/// rocker is proven free.
#[test]
fn a_four_bar_linkage_is_driven_by_its_crank() {
    let args = ["mechanism", "linkage/four-bar.toml", "--steps", "73", "--json", "-q"];
    let run = feeler(&args);
    assert!(run.status.success() && run.stderr.is_empty(), "{}", String::from_utf8_lossy(&run.stderr));
    let document: Value = serde_json::from_slice(&run.stdout).unwrap();
    let linkage = &document["linkage"];
    let number = |key: &str| linkage[key].as_f64().unwrap();
    assert!(number("closure_error") <= 1e-10 * number("size"), "{linkage}");
    assert!(number("deviation") <= 1e-6 * number("size"), "{linkage}");
    assert_eq!(
        (linkage["closing"][0].as_str(), linkage["branches"].as_array().unwrap().len()),
        (Some("pin"), 2)
    );
    let dependent = linkage["dependent"].as_array().unwrap();
    let rocker = dependent.iter().find(|j| j["name"] == "rocker").unwrap();
    assert!(dependent.len() == 3 && rocker["unit"] == "deg");
    // Angle between the line from the rocker's axis to the crank's end and the rocker, by the law of cosines.
    for (i, value) in (0_u32..).zip(rocker["values"].as_array().unwrap()) {
        let (s, c) = feeler_geom::math::sin_cos(f64::from(5 * i).to_radians());
        let (x, y) = (20.0 * c - 45.0, 20.0 * s);
        let length = feeler_geom::math::hypot(x, y);
        let between = feeler_geom::math::acos((length * length + 900.0 - 1600.0) / (60.0 * length));
        let exact = feeler_geom::math::atan2(y, x) - between;
        let turns = (value.as_f64().unwrap().to_radians() - exact) / std::f64::consts::TAU;
        assert!((turns - turns.round()).abs() < 1e-11, "step {i}: {value} {}", exact.to_degrees());
    }
    let pairs = document["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 1, "links that share a joint or the closing joint are not checked");
    assert_eq!(pairs[0]["motion"]["result"], "free");
    assert!((pairs[0]["smallest"].as_f64().unwrap() - 2.0).abs() < 1e-9, "{}", pairs[0]);
    let one = feeler(&[&args[..], &["--threads", "1"]].concat());
    assert_eq!(one.stdout, run.stdout);
    let table =
        String::from_utf8(feeler(&["mechanism", "linkage/four-bar.toml", "--steps", "5"]).stdout).unwrap();
    assert!(table.contains("3 dependent joints; branch ") && table.contains("proven free"), "{table}");
}

/// Mistakes in linkages, and a rocker in the layer of the crank.
#[test]
fn linkages_that_do_not_move_freely() {
    let dir = tempfile::tempdir().unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
    std::fs::copy(data.join("contact/brick.step"), dir.path().join("brick.step")).unwrap();
    let text = std::fs::read_to_string(data.join("linkage/four-bar.toml")).unwrap();
    let text = text.replace("../contact/", "");
    let check = |changes: &[(&str, &str)], more: &[&str]| {
        let changed = changes.iter().fold(text.clone(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        });
        let file = dir.path().join("linkage.toml");
        std::fs::write(&file, changed).unwrap();
        let run = feeler(&[&["mechanism", file.to_str().unwrap(), "--steps", "9", "-q"][..], more].concat());
        let [out, err] = [run.stdout, run.stderr].map(|b| String::from_utf8(b).unwrap());
        (run.status.code(), out + &err)
    };
    let (code, out) = check(&[("45, 0, 12", "45, 0, 0"), ("15, 0, 12", "15, 0, 24")], &[]);
    assert!(code == Some(1) && out.contains("not proven free"), "{out}");
    for (changes, more, message) in [
        (&[("closes = true\n", "")][..], &[][..], "set `closes = true`"),
        (&[("45, 0, 12", "80, 0, 12")], &[], "dead point at"),
        (&[("45, 0, 12", "100, 0, 12")], &[], "the loop of joint 'pin' does not close at 0.000000 s"),
        (&[("crank = [0, 360]", "")], &[], "1 more must have values"),
        (
            &[("crank = [0, 360]", "crank = [0, 360]\nrocker = [0, 1]"), ("start = 90", "")],
            &[],
            "too many joints",
        ),
        (&[("start = 90", "")], &[], "`start` values near one of the closed positions"),
        (&[("closes", "limits = [-1, 1]\ncloses")], &[], "joint 'pin' reaches"),
        (&[("[links]", "deviation = 0\n[links]")], &[], "deviation is 0"),
        (&[("closes", "limits = [-1, 1]\ncloses")], &["--grid", "3"], "check a motion"),
    ] {
        let (code, out) = check(changes, more);
        assert!(code == Some(2) && out.contains(message), "{changes:?}: {out}");
    }
}
