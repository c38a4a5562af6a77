//! Tests of assembly trees: counts, names and poses are compared with closed forms and an independent
//! kernel.
#![allow(clippy::unwrap_used, reason = "test code")]

use feeler_brep::build::{BuildOptions, build_solid};
use feeler_geom::P3;
use feeler_step::{
    Import, ReadOptions, Reading, Severity, StepError, read_step, read_step_bytes, read_step_with,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data")
}

fn assembly(name: &str) -> Import {
    read_step(&data().join("assemblies").join(name)).unwrap()
}

/// Box around the vertices of an instance: minimum and maximum coordinates.
fn corners(import: &Import, instance: usize) -> [f64; 6] {
    let i = &import.instances[instance];
    let mut out =
        [f64::INFINITY, f64::INFINITY, f64::INFINITY, -f64::INFINITY, -f64::INFINITY, -f64::INFINITY];
    for v in &import.solids[i.solid].vertices {
        let p = i.pose * v.point;
        for k in 0..3 {
            out[k] = out[k].min(p[k]);
            out[k + 3] = out[k + 3].max(p[k]);
        }
    }
    out
}

fn near(a: [f64; 6], b: [f64; 6], tol: f64) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tol)
}

/// Lists components as `depth name`, each followed by its instances.
fn tree(import: &Import) -> Vec<String> {
    let mut depth = vec![0; import.components.len()];
    let mut lines = Vec::new();
    for (k, c) in import.components.iter().enumerate() {
        if let Some(p) = c.parent {
            assert!(p < k, "a parent follows its child");
            depth[k] = depth[p] + 1;
        }
        let held: Vec<String> = import
            .instances
            .iter()
            .enumerate()
            .filter(|(_, i)| i.component == Some(k))
            .map(|(i, _)| format!(" {i}"))
            .collect();
        lines.push(format!(
            "{}{}{}{}",
            "-".repeat(depth[k]),
            c.name,
            if c.mirrored { "*" } else { "" },
            held.concat()
        ));
    }
    lines
}

/// Checks that the pose of every instance is the product of the poses of its components.
fn check_poses(import: &Import, what: &str) {
    for (k, i) in import.instances.iter().enumerate() {
        let source = &import.solids[i.solid];
        let Some(p) = source.vertices.first().map(|v| v.point) else { continue };
        // Every component maps its coordinates to those of its parent; a mirrored solid contains the
        // mirrored point.
        let mut chain = Vec::new();
        let mut at = i.component;
        while let Some(c) = at {
            chain.push(&import.components[c]);
            at = import.components[c].parent;
        }
        let mirror = |p: P3| P3::new(-p.x, p.y, p.z);
        let odd = chain.iter().filter(|c| c.mirrored).count() % 2 == 1;
        let original = if odd { mirror(p) } else { p };
        let placed = chain.iter().fold(original, |p, c| c.pose * if c.mirrored { mirror(p) } else { p });
        let tol = 1e-9 * (1.0 + placed.coords.norm());
        assert!((placed - i.pose * p).norm() < tol, "{what}: instance {k} '{}'", i.path);
    }
}

#[test]
fn nested_and_repeated() {
    let import = assembly("rack.step");
    assert_eq!((import.solids.len(), import.instances.len()), (3, 7));
    let expected = [
        "rack",
        "-lower",
        "--block 0",
        "--pin_left:1 1",
        "--pin_left:2 2",
        "-upper",
        "--block 3",
        "--pin_left:1 4",
        "--pin_left:2 5",
        "-ball 6",
    ];
    assert_eq!(tree(&import), expected);
    check_poses(&import, "rack");
    let paths: Vec<&str> = import.instances.iter().map(|i| i.path.as_str()).collect();
    assert_eq!(paths[4..], ["rack/upper/pin_left:1", "rack/upper/pin_left:2", "rack/ball"]);
    assert!(import.problems.is_empty(), "{:?}", import.problems);
    // The upper shelf is rotated by a quarter turn about z and moved to (10, 0, 50): x becomes y.
    assert!(near(corners(&import, 3), [-5., -30., 45., 25., 30., 55.], 1e-9), "{:?}", corners(&import, 3));
    // The right pin extends from -10 down to -30 in its shelf; its bottom centre is the top of the other
    // pin.
    let top = import.instances[5].pose * P3::new(0., 0., 20.);
    assert!((top - P3::new(10., 15., 20.)).norm() < 1e-9, "{top}");
}

#[test]
fn mirrored_instances() {
    let import = assembly("hands.step");
    assert_eq!((import.solids.len(), import.instances.len()), (2, 3));
    assert_eq!(tree(&import), ["hands", "-hand 0", "-hand* 1", "-hand* 2"]);
    check_poses(&import, "hands");
    assert_eq!(import.instances[1].solid, import.instances[2].solid, "both images share one solid");
    for (i, expected) in [
        (0, [0., 0., 0., 30., 14., 12.]),
        (1, [-50., 0., 0., -20., 14., 12.]),
        (2, [0., 40., -12., 30., 54., 0.]),
    ] {
        assert!(near(corners(&import, i), expected, 1e-9), "{i}: {:?}", corners(&import, i));
    }
    // The image is not a rotation: the round boss is at x = 6 from the corner and y = 5 from the long
    // side.
    let built: Vec<_> =
        import.solids.iter().map(|s| build_solid(s, &BuildOptions::default()).unwrap()).collect();
    assert!((built[0].volume / built[1].volume - 1.0).abs() < 1e-12, "volume");
    let boss = |i: usize| {
        let points = import.solids[import.instances[i].solid].vertices.iter();
        let high = points.map(|v| import.instances[i].pose * v.point).filter(|p| p.z.abs() > 11.0);
        high.map(|p| p.coords.xy()).next().unwrap()
    };
    let (a, b, c) = (boss(0), boss(1), boss(2));
    assert!((b.x + 20.0 + a.x).abs() < 1e-9 && (b.y - a.y).abs() < 1e-9, "{a} {b}");
    assert!((c.x - a.x).abs() < 1e-9 && (c.y - 40.0 - a.y).abs() < 1e-9, "{a} {c}");
}

#[test]
fn parts_in_other_files() {
    let import = assembly("frame.step");
    // The foot, in inches in its own file, occurs twice, and the three solids of the rack occur seven
    // times; one file is missing.
    assert_eq!((import.solids.len(), import.instances.len()), (4, 9));
    assert_eq!(tree(&import)[..3], ["frame", "-foot:1 0", "-foot:2 1"]);
    let parent = |name: &str| {
        let c = import.components.iter().find(|c| c.name == name).unwrap();
        import.components[c.parent.unwrap()].name.as_str()
    };
    assert_eq!((parent("lower"), parent("rack")), ("rack", "frame"), "the root of the other file is merged");
    check_poses(&import, "frame");
    let files: Vec<_> = import.files.iter().map(Option::as_deref).collect();
    assert_eq!(files, [Some("PARTS/Foot.stp"), Some("rack.step"), Some("rack.step"), Some("rack.step")]);
    assert!(near(corners(&import, 0), [0., 0., 0., 30., 14., 12.], 1e-9), "{:?}", corners(&import, 0));
    // z becomes y, x stays, y becomes -z; the part is moved to (100, 0, 20) mm.
    let c = corners(&import, 1);
    assert!(near(c, [100., 0., 6., 130., 12., 20.], 1e-9), "{c:?}");
    assert_eq!(import.instances[8].path, "frame/rack/ball");
    assert!(near(corners(&import, 8), [100., 50., -5., 100., 50., -5.], 1e-9), "{:?}", corners(&import, 8));
    let errors: Vec<_> = import.problems.iter().filter(|p| p.severity == Severity::Error).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].entity == Some(62) && errors[0].message.contains("lost.stp"), "{}", errors[0]);
}

#[test]
fn other_files_that_cannot_be_used() {
    let frame = std::fs::read(data().join("assemblies/frame.step")).unwrap();
    let none = read_step_bytes("frame.step", &frame).unwrap_err();
    let StepError::NoSolids { found, .. } = &none else { panic!("{none}") };
    for name in ["PARTS/Foot.stp", "rack.step", "lost.stp"] {
        assert!(found.contains(name), "{found}");
    }
    let part = std::fs::read(data().join("box.step")).unwrap();
    // One file is the assembly itself, with a part that refers to itself, one is not a STEP file, and one
    // is valid.
    let resolve = |name: &str| match name {
        "rack.step" => Some(frame.clone()),
        "PARTS/Foot.stp" => Some(b"nothing".to_vec()),
        "lost.stp" => Some(part.clone()),
        _ => None,
    };
    let options = ReadOptions { resolve: &resolve, reading: Reading::default() };
    let import = read_step_with("frame.step", &frame, &options).unwrap();
    assert_eq!((import.solids.len(), import.instances.len()), (1, 2), "{:?}", import.problems);
    let errors: Vec<String> =
        import.problems.iter().filter(|p| p.severity == Severity::Error).map(ToString::to_string).collect();
    let reported = |words: &[&str]| errors.iter().any(|e| words.iter().all(|w| e.contains(w)));
    assert!(reported(&["#42", "PARTS/Foot.stp", "not a STEP file"]), "{errors:?}");
    assert!(reported(&["rack.step", "refers back"]), "{errors:?}");
    // Files without a STEP extension are not opened.
    let text = String::from_utf8(frame).unwrap().replace("lost.stp", "lost.CATPart");
    let error = read_step_bytes("frame.step", text.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("lost.CATPart, which is not a STEP file"), "{error}");
}

/// Compares counts and vertex boxes with another kernel, for our assembly and those of the shared corpus.
/// Volumes only distinguish parts here; other tests compare them precisely.
#[test]
fn poses_agree_with_another_kernel() {
    let text = std::fs::read_to_string(data().join("golden/instances.json")).unwrap();
    let golden: BTreeMap<String, Vec<[f64; 7]>> = serde_json::from_str(&text).unwrap();
    let models = data().join("../../shared/models");
    let mut checked = 0;
    for (file, rows) in &golden {
        let path = [data().join("assemblies"), models.clone()].map(|d| d.join(file));
        let Some(path) = path.iter().find(|p| p.is_file()) else { continue };
        let import = read_step(path).unwrap();
        assert_eq!(import.instances.len(), rows.len(), "{file}: instances");
        check_poses(&import, file);
        let volumes: Vec<f64> = import
            .solids
            .iter()
            .map(|s| build_solid(s, &BuildOptions::default()).map_or(f64::NAN, |s| s.volume))
            .collect();
        let mut left = rows.clone();
        for (k, i) in import.instances.iter().enumerate() {
            let c = corners(&import, k);
            if import.solids[i.solid].vertices.is_empty() {
                continue;
            }
            let size = c.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
            let found = left.iter().position(|r| {
                let there: [f64; 6] = std::array::from_fn(|j| r[j]);
                // The other kernel may have more vertices than a single pole.
                let one = import.solids[i.solid].vertices.len() == 1;
                let inside = (0..3).all(|j| there[j] <= c[j] + 1e-9 && c[j + 3] <= there[j + 3] + 1e-9);
                (near(c, there, 1e-6 * size) || one && inside) && (r[6] / volumes[i.solid] - 1.0).abs() < 1e-3
            });
            let Some(at) = found else {
                panic!("{file}: instance {k} '{}' is not where the other kernel has it: {c:?}", i.path)
            };
            left.swap_remove(at);
            checked += 1;
        }
    }
    assert!(checked >= 7, "{checked} instances checked");
}
