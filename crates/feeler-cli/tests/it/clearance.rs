//! `feeler clearance`: verdicts on all pairs of parts of assemblies, rules about pairs, and known
//! findings.
#![allow(clippy::unwrap_used, reason = "test code")]

use crate::common::data;
use serde_json::{Value, json};
use std::process::{Command, Output};

fn clearance(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_feeler")).arg("clearance").args(args).output().unwrap()
}

/// Exit status and JSON document of a run.
fn json(args: &[&str]) -> (i32, Value) {
    let run = clearance(&[args, &["--json", "--quiet"]].concat());
    let document = serde_json::from_slice(&run.stdout);
    let message = String::from_utf8_lossy(&run.stderr);
    (run.status.code().unwrap(), document.unwrap_or_else(|e| panic!("{e}: {message}")))
}

/// Files of a bore and a pin. The radius of the pin is 0.05 mm smaller than that of the bore.
fn files() -> [String; 2] {
    ["bore.step", "pin.step"].map(|f| data(f).display().to_string())
}

#[test]
fn pairs_agree_with_closed_forms() {
    let [bore, pin] = files();
    let between = |x: f64| json(&[&bore, &pin, "--pose", &format!("1={x},0,0")]);
    let (code, found) = between(0.02);
    let row = &found["results"][0];
    assert_eq!((code, &row["status"]), (0, &json!("separated")), "{found}");
    assert!((row["distance"].as_f64().unwrap() - 0.03).abs() < 1e-12, "{row}");
    assert_eq!((&row["a"], &row["b"]), (&json!("bore/bore"), &json!("pin/pin")));
    assert_eq!((&row["finding"], &found["summary"]["near"]), (&Value::Null, &json!(1)));

    let (code, found) = between(0.05);
    let row = &found["results"][0];
    assert_eq!((code, &row["status"]), (0, &json!("touching")), "{found}");
    assert_eq!(row["contact_regions"][0]["kind"], "line");

    let (code, found) = between(0.15);
    let row = &found["results"][0];
    assert_eq!((code, &row["status"], &row["finding"]), (1, &json!("interfering"), &json!("interferes")));
    // The pin has to move back by 0.1 mm to be free.
    let depth = row["depth"].as_f64().unwrap();
    assert!(depth > 0.01 && depth <= 0.1 + 1e-9 && row["crossing_faces"].is_array(), "{row}");

    let (code, found) = between(1000.0);
    assert_eq!((code, &found["results"], &found["summary"]["pairs"]), (0, &json!([]), &json!(1)));
}

#[test]
fn results_do_not_depend_on_threads() {
    let frame = data("assemblies/rack.step").display().to_string();
    let run = |threads: &str| {
        let (code, mut found) = json(&[&frame, "--d-max", "30", "--threads", threads]);
        found["summary"]["wall_s"] = Value::Null;
        (code, found)
    };
    assert_eq!(run("1"), run("4"));
    let near = run("1").1["results"].as_array().unwrap().len();
    assert!(near >= 4, "{near}");
}

#[test]
fn rules_decide_in_their_order() {
    let dir = tempfile::tempdir().unwrap();
    let frame = data("assemblies/rack.step").display().to_string();
    let rules = dir.path().join("rules.toml");
    let check = |text: &str| {
        std::fs::write(&rules, text).unwrap();
        json(&[&frame, "--rules", rules.to_str().unwrap()])
    };
    let findings = |v: &Value| -> Vec<String> {
        let rows = v["results"].as_array().unwrap().iter().filter(|r| !r["finding"].is_null());
        rows.map(|r| format!("{} {}", r["finding"].as_str().unwrap(), r["rule"].as_str().unwrap())).collect()
    };
    // The pins are 0.1 mm away from their blocks.
    let (code, found) = check("[[rule]]\nname='play'\na='pin*'\nb='block'\nmin=0.2");
    assert_eq!((code, findings(&found)), (1, vec!["too-close play".to_owned(); 2]), "{found}");
    let (code, found) = check("[[rule]]\nname='play'\na='pin*'\nb='block'\nmin=0.05");
    assert_eq!((code, findings(&found).len()), (0, 0), "{found}");
    assert_eq!(found["d_max"], 0.05);
    let both = "[[rule]]\nname='upper'\na='*/upper/pin*'\nb='*/upper/block'\nmin=0.05\n\
                [[rule]]\nname='rest'\na='pin*'\nb='block'\nmin=0.2";
    let (code, found) = check(both);
    assert_eq!((code, findings(&found)), (1, vec!["too-close rest".to_owned()]), "{found}");
    let (code, found) =
        check("[[rule]]\nname='fit'\na='*/upper/pin_left*'\nb='*/upper/block'\ntouching='required'");
    // One pin is near its block, the other one is too far from its block to be measured; neither pin
    // touches a block.
    assert_eq!((code, findings(&found)), (1, vec!["does-not-touch fit".to_owned(); 2]), "{found}");
    // Each pin should touch a block or the ball; other pins do not count.
    let one = "[[rule]]\nname='sits'\na='pin*'\nb='{block,ball}'\ntouching='required'";
    let (code, found) = check(one);
    assert_eq!((code, findings(&found)), (1, vec!["does-not-touch sits".to_owned(); 4]), "{found}");
    // Only the ball is required to touch a block, and it touches none.
    let (code, found) = check("[[rule]]\nname='lies'\na='ball'\nb='block'\ntouching='required'");
    assert_eq!((code, findings(&found)), (1, vec!["does-not-touch lies".to_owned()]), "{found}");
    let (code, found) = check("ignore = ['block']\n[[rule]]\na='pin*'\nb='*'\nmin=0.2");
    assert_eq!((code, findings(&found).len()), (0, 0), "{found}");
    assert!(found["summary"]["ignored"].as_u64().unwrap() > 0, "{found}");
}

/// A missing part cannot be checked, so the check fails.
#[test]
fn missing_parts_are_reported() {
    let frame = data("assemblies/frame.step").display().to_string();
    let (code, found) = json(&[&frame]);
    assert_eq!((code, &found["summary"]["findings_new"]), (1, &json!(0)), "{found}");
    assert!(found["left_out"][0].as_str().unwrap().contains("lost.stp"), "{found}");
    let message = String::from_utf8(clearance(&[&frame, "--quiet"]).stderr).unwrap();
    assert!(message.contains("not checked") && message.contains("lost.stp"), "{message}");
}

#[test]
fn interference_is_a_finding_unless_a_rule_allows_it() {
    let dir = tempfile::tempdir().unwrap();
    let rules = dir.path().join("rules.toml");
    let [a, b] = ["box.step", "cylinder.step"].map(|f| data(f).display().to_string());
    let check = |text: &str| {
        std::fs::write(&rules, text).unwrap();
        json(&[&a, &b, "--rules", rules.to_str().unwrap()]).0
    };
    assert_eq!(check("[[rule]]\na='sphere'\nmin=1"), 1, "no rule matches them");
    assert_eq!(check("[[rule]]\na='box'\ninterfering='allowed'"), 0);
    assert_eq!(check("[[rule]]\na='box'\nb='cyl*'\ninterfering='forbidden'"), 1);
    let (code, found) = json(&[&a, &b, "--ignore", "box=cylinder"]);
    assert_eq!((code, &found["summary"]["ignored"]), (0, &json!(1)));
    assert_eq!(json(&[&a, &b, "--only", "sphere"]).0, 0);
}

/// A seat that a cone penetrates on one side is 0.8 mm away on the other one, which is not their distance.
#[test]
fn distances_of_other_places_are_not_those_of_parts_that_interfere() {
    let [a, b] = ["stepped-cone.step", "stepped-seat.step"].map(|f| data(f).display().to_string());
    let (code, found) = json(&[&a, &b, "--pose", "1=0.5,0,0.2", "--d-max", "10"]);
    let row = &found["results"][0];
    assert_eq!((code, &row["status"], &row["distance"]), (1, &json!("interfering"), &Value::Null), "{row}");
    assert!(row["minima"].as_u64().unwrap() > 0 && row.get("point_a").is_none(), "{row}");
    assert!(row["depth"].as_f64().unwrap() > 0.4, "{row}");
}

#[test]
fn known_findings_do_not_fail() {
    let dir = tempfile::tempdir().unwrap();
    let baseline = dir.path().join("known.json").display().to_string();
    let [a, b, c] = ["box.step", "cylinder.step", "torus.step"].map(|f| data(f).display().to_string());
    let (code, _) = json(&[&a, &b, "--baseline", &baseline, "--bless"]);
    assert_eq!(code, 0, "blessed");
    let written = std::fs::read_to_string(&baseline).unwrap();
    let (code, found) = json(&[&a, &b, "--baseline", &baseline]);
    assert_eq!((code, &found["results"][0]["known"]), (0, &json!(true)));
    let (code, found) = json(&[&a, &b, &c, "--baseline", &baseline]);
    assert_eq!(code, 1);
    assert_eq!(
        (&found["results"][0]["known"], &found["summary"]["findings_known"]),
        (&json!(false), &json!(1))
    );
    let (code, found) = json(&[&a, &b, "--pose", "1=500,0,0", "--baseline", &baseline]);
    assert_eq!((code, &found["summary"]["findings_fixed"]), (0, &json!(1)));
    json(&[&a, &b, "--baseline", &baseline, "--bless"]);
    assert_eq!(std::fs::read_to_string(&baseline).unwrap(), written, "the same bytes");
}

#[test]
fn other_output_formats() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name).display().to_string();
    let [a, b] = ["box.step", "cylinder.step"].map(|f| data(f).display().to_string());
    let run =
        clearance(&[&a, &b, "--csv", &file("x.csv"), "--junit", &file("x.xml"), "--html", &file("x.html")]);
    assert_eq!(run.status.code(), Some(1));
    let table = String::from_utf8(run.stdout).unwrap();
    assert!(table.lines().nth(1).unwrap().starts_with("interferes  interfering"), "{table}");
    let read = |name: &str| std::fs::read_to_string(file(name)).unwrap();
    let csv = read("x.csv");
    assert!(
        csv.starts_with("a,b,finding,") && csv.contains("box/box,cylinder/cylinder,interferes,false"),
        "{csv}"
    );
    assert!(read("x.xml").contains("<failure message=\"interferes\""), "{}", read("x.xml"));
    let page = read("x.html");
    assert!(
        page.contains("<td>interferes</td>") && page.ends_with("</html>\n") && !page.contains("src="),
        "{page}"
    );
}

#[test]
fn errors_name_the_mistake() {
    let dir = tempfile::tempdir().unwrap();
    let rules = dir.path().join("rules.toml").display().to_string();
    std::fs::write(&rules, "[[rule]]\na = 'x'\nmni = 2\n").unwrap();
    let [bore, pin] = files();
    let cases: [(&[&str], &str); 8] = [
        (&[&bore, "--rules", &rules], "mni"),
        (&[&bore, "--rules", "nowhere.toml"], "nowhere.toml"),
        (&[&bore, "--ignore", "[x"], "not a valid pattern"),
        (&[&bore, "--pose", "0,0,1"], "no '='"),
        (&[&bore, &pin, "--pose", "2=0,0,1"], "there are 2 files"),
        (&[&bore, "--bless"], "--baseline"),
        (&[&bore, "--baseline", "nowhere.json"], "--bless writes one"),
        (&[&bore, "--html", "nowhere/x.html"], "the folder does not exist"),
    ];
    for (args, says) in cases {
        let run = clearance(args);
        let message = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{args:?}: {message}");
        assert!(message.contains(says), "{args:?}: {message}");
    }
}

/// Contact with one of several possible partners is enough; rules that match no pair are reported.
#[test]
fn one_contact_is_enough() {
    let dir = tempfile::tempdir().unwrap();
    let rules = dir.path().join("rules.toml");
    let [bore, pin] = files();
    // The pin touches the first bore's wall; the second bore is far away.
    let check = |text: &str| {
        std::fs::write(&rules, text).unwrap();
        let poses = ["--pose", "1=0.05,0,0", "--pose", "2=200,0,0"];
        let args = [&[bore.as_str(), &pin, &bore, "--rules", rules.to_str().unwrap()], &poses[..]].concat();
        let run = clearance(&args);
        (run.status.code().unwrap(), String::from_utf8_lossy(&run.stderr).into_owned())
    };
    assert_eq!(check("[[rule]]\na = 'pin'\nb = 'bore*'\ntouching = 'required'").0, 0);
    // Each bore should touch a pin, and the second one does not.
    let (code, message) = check("[[rule]]\na = 'bore*'\nb = 'pin'\ntouching = 'required'");
    assert!(code == 1 && message.contains("1 new findings"), "{message}");
    let (code, message) = check("[[rule]]\nname = 'typo'\na = 'pni'\nb = 'bore*'\nmin = 1");
    assert!(code == 0 && message.contains("rule 'typo' matches no two parts"), "{message}");
}

/// A pin of radius 9.95 mm in a bore of radius 10 mm, 0.1 mm too far to the side: the common part is a
/// crescent along the bore, whose volume limits decide about.
#[test]
fn limits_allow_interferences_within_them() {
    let [bore, pin] = files();
    let rules = std::env::temp_dir().join(format!("feeler-limits-{}.toml", std::process::id()));
    let with = |limits: &str| {
        std::fs::write(&rules, format!("[[rule]]\nname = 'fit'\na = 'pin*'\nb = 'bore*'\n{limits}\n"))
            .unwrap();
        json(&[&bore, &pin, "--pose", "1=0.15,0,0", "--rules", rules.to_str().unwrap()])
    };
    let (code, found) = with("max_volume = 1e4\nmax_depth = 0.2");
    let row = &found["results"][0];
    assert_eq!((code, &row["status"], &row["finding"]), (0, &json!("interfering"), &Value::Null), "{row}");
    assert_eq!((&row["max_volume"], &row["max_depth"]), (&json!(1e4), &json!(0.2)));
    let volume = row["overlap"]["volume"].as_f64().unwrap();
    // Area of the part of a circle of radius r outside one of radius R whose centre is at the distance d.
    let (r, big, d) = (9.95_f64, 10.0_f64, 0.15_f64);
    let x = (d * d + big * big - r * r) / (2.0 * d);
    let segment = |r: f64, h: f64| r * r * feeler_geom::math::acos(h / r) - h * (r * r - h * h).sqrt();
    let crescent = segment(r, x - d) - segment(big, x);
    let length =
        row["overlap"]["bbox_max"][2].as_f64().unwrap() - row["overlap"]["bbox_min"][2].as_f64().unwrap();
    assert!((volume / (crescent * length) - 1.0).abs() < 1e-6, "{row}, expected {}", crescent * length);
    for limits in ["max_volume = 0.01", "max_depth = 0.001", "max_volume = 1e4\nmax_depth = 0.001"] {
        let (code, found) = with(limits);
        assert_eq!((code, &found["results"][0]["finding"]), (1, &json!("interferes")), "{limits}");
    }
    std::fs::remove_file(&rules).unwrap();
    // Without a limit of the volume, it is measured on request only.
    let (_, found) = json(&[&bore, &pin, "--pose", "1=0.15,0,0"]);
    assert!(found["results"][0].get("overlap").is_none());
    let run = clearance(&[&bore, &pin, "--pose", "1=0.15,0,0", "--volume", "--quiet"]);
    let table = String::from_utf8(run.stdout).unwrap();
    assert!(table.contains("volume mm3") && table.contains(&format!("{volume:.6}")), "{table}");
}
