//! `feeler pour` from scene files to results: masses, loads and times against closed forms, killed runs,
//! invalid scenes, and the commands of docs/POUR.md.

#![expect(clippy::unwrap_used, reason = "an error fails the test")]

use crate::common::{data, feeler, stl_block};
use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Scene with a plane and one grain above it.
const DROP: &str = "end = 0.2
[law.only]
normal = 500.0
restitution = 0.3
friction = 0.2
shear = 250.0
[[wall]]
name = 'floor'
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[[grains]]
name = 'one'
sphere = { diameter = 4.0 }
density = 2500
number = 1
region = { box = [[-2.5, -2.5, 30], [2.5, 2.5, 34]] }
[output]
rows = 0.001
frames = 0.02
";

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn pour(scene: &Path, folder: &Path, more: &[&str]) -> Output {
    let mut args = vec!["pour", scene.to_str().unwrap(), "-o", folder.to_str().unwrap(), "-q"];
    args.extend(more);
    feeler(&args)
}

fn write_scene(folder: &Path, scene: &str) -> PathBuf {
    let file = folder.join("scene.toml");
    std::fs::write(&file, scene).unwrap();
    file
}

/// Reads the columns of the series of a run, by name.
fn columns(folder: &Path) -> BTreeMap<String, Vec<f64>> {
    let text = std::fs::read_to_string(folder.join("series.csv")).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut out: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in lines {
        for (name, cell) in names.iter().zip(line.split(',')) {
            out.entry((*name).to_owned()).or_default().push(cell.parse().unwrap());
        }
    }
    out
}

/// Bytes of all files below a folder, by path.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut out = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(files(&path));
        } else {
            out.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    out
}

/// Bytes of all files below a folder, by path relative to the folder.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    files(folder).into_iter().map(|(p, b)| (p.strip_prefix(folder).unwrap().to_path_buf(), b)).collect()
}

#[test]
fn a_grain_falls_and_bounces_as_in_closed_form() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let done = pour(&write_scene(folder.path(), DROP), &out, &["--json"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done));
    let document: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&document["grains"], &document["end_s"]), (&1.into(), &0.2.into()));
    let c = columns(&out);
    assert_eq!(c["time_s"].len(), 201, "a row for each output time and the initial state");
    let mass = 4.0 / 3.0 * std::f64::consts::PI * 8.0 * 2500e-9;
    assert!(c["mass_kg"].iter().all(|m| (m - mass).abs() < 1e-15), "mass of the grain");
    // The lowest point of the grain is initially 28 to 30 mm above the floor; the potential energy gives
    // its height.
    let begin = c["potential_uJ"][0] / (mass * 9_810.0) - 2.0;
    assert!((28.0..=32.0).contains(&begin), "{begin}");
    for (k, t) in c["time_s"].iter().enumerate().take(70) {
        let (t, fallen) = (*t, begin - (c["potential_uJ"][k] / (mass * 9_810.0) - 2.0));
        assert!((fallen - 0.5 * 9_810.0 * t * t).abs() < 1e-9, "free fall at {t}: {fallen}");
        let kinetic = mass * 9_810.0 * fallen;
        assert!((c["kinetic_uJ"][k] - kinetic).abs() < 1e-9 * (1.0 + kinetic), "energy at {t}");
    }
    // The momentum that the floor has taken is that of the weight, apart from the momentum of the grain.
    let sum: f64 = c["floor_fz_mN"].iter().map(|f| f * 0.001).sum();
    let last = c["kinetic_uJ"].last().unwrap();
    let speed = (2.0 * last / mass).sqrt();
    assert!((sum + mass * 9_810.0 * 0.2).abs() <= mass * speed + 1e-12, "{sum}: impulses");
}

#[test]
fn grains_leave_at_the_computed_time() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let outlet = "[[outlet]]\nname = 'exit'\npoint = [0, 0, 10]\nnormal = [0, 0, -2]\n";
    let done = pour(
        &write_scene(folder.path(), &format!("{DROP}{outlet}").replace("end = 0.2", "end = 0.1")),
        &out,
        &[],
    );
    assert_eq!(done.status.code(), Some(0), "{}", text(&done));
    let c = columns(&out);
    let begin = c["potential_uJ"][0] / (c["mass_kg"][0] * 9_810.0);
    let time = (2.0 * (begin - 10.0) / 9_810.0).sqrt();
    let left = c["exit_grains"].iter().position(|n| *n > 0.0).unwrap();
    assert!(c["time_s"][left - 1] <= time && time <= c["time_s"][left] + 1e-5, "{time} {left}");
    assert!((c["exit_kg_per_s"][left] - c["mass_kg"][0] / 0.001).abs() < 1e-9, "the flow of that row");
    assert!(
        c["grains"].last().unwrap().abs() < 1e-12 && c["kinetic_uJ"].last().unwrap().abs() < 1e-12,
        "a grain remains"
    );
    // A grain that leaves the domain is lost.
    let domain = DROP.replace("end = 0.2", "end = 0.1\ndomain = [[-9, -9, 12], [9, 9, 40]]");
    let done = pour(&write_scene(folder.path(), &domain), &out, &["--fresh"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done));
    assert!((columns(&out)["lost_grains"].last().unwrap() - 1.0).abs() < 1e-12, "the grain is not lost");
}

#[test]
fn a_hopper_empties_when_its_gate_opens() {
    let folder = tempfile::tempdir().unwrap();
    let scene = std::fs::read_to_string(data("pour/hopper.toml")).unwrap();
    let hopper = data("particles/hopper.step");
    let scene = scene
        .replace("../particles/hopper.step", hopper.to_str().unwrap())
        .replace("number = 400", "number = 100")
        .replace("end = 0.8 ", "end = 0.5 ")
        .replace("radius = 34.5", "radius = 20");
    let scene = write_scene(folder.path(), &scene);
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let page = folder.path().join("page.html");
    let plot = folder.path().join("plot.svg");
    let more = ["--threads", "1", "--html", page.to_str().unwrap(), "--plot", plot.to_str().unwrap()];
    let done = pour(&scene, &one, &more);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done));
    let c = columns(&one);
    let whole = c["mass_kg"][0];
    for (k, mass) in c["mass_kg"].iter().enumerate() {
        let sum = mass + c["outlet_kg"][k] + c["lost_kg"][k];
        assert!((sum - whole).abs() < 1e-12, "the mass changes: {sum}");
        assert!(c["lost_kg"][k].abs() < 1e-300, "a grain has passed a wall");
    }
    // Before the gate opens, the walls carry the weight, apart from grains that still move.
    let k = c["time_s"].iter().position(|t| *t >= 0.249).unwrap();
    let load = -(c["hopper_fz_mN"][k] + c["gate_fz_mN"][k]);
    assert!((load / (whole * 9_810.0) - 1.0).abs() < 0.1, "{load} of {}", whole * 9_810.0);
    assert!(
        c["outlet_grains"][k].abs() < 1e-300 && *c["outlet_grains"].last().unwrap() > 80.0,
        "the hopper does not empty"
    );
    assert!(std::fs::read_to_string(&page).unwrap().contains("id=\"picture\""), "a page");
    assert!(std::fs::read_to_string(&plot).unwrap().contains("mass flow (g/s)"), "a plot");
    let done = pour(&scene, &two, &["--threads", "2"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done));
    assert!(contents(&one) == contents(&two), "the bytes depend on the number of threads");
    // A finished run is not repeated.
    let before = contents(&one);
    let done = pour(&scene, &one, &["--json"]);
    let document: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&document["steps"], contents(&one) == before), (&0.into(), true));
}

/// Grains of three shapes fall on a floor: it carries their weight, their masses are those of closed forms,
/// their surfaces lie on the floor, and a killed run ends with the bytes of an uninterrupted one.
#[test]
fn grains_of_smooth_shape_fall_and_rest() {
    let scene = "end = 0.4
[law.only]
normal = 2000.0
shear = 1000.0
restitution = 0.3
friction = 0.5
[[wall]]
name = 'floor'
plane = { point = [0, 0, 0], normal = [0, 0, 1] }
[[grains]]
shape = { superellipsoid = { semi_axes = [2, 1.5, 1], diameter = { from = 3, to = 4 } } }
density = 2500
number = 4
region = { box = [[-20, -20, 5], [20, 20, 30]] }
[[grains]]
shape = { poly-superellipsoid = { positive = [2, 1, 1], negative = [1, 1.5, 0.5], exponents = [0.8, 1.2] } }
density = 2500
number = 4
region = { box = [[-20, -20, 5], [20, 20, 30]] }
[[grains]]
name = 'late'
shape = { superellipsoid = { semi_axes = [2, 2, 3], exponents = [0.5, 1] } }
density = 2500
number = 2
rate = 100
region = { box = [[-20, -20, 5], [20, 20, 30]] }
[output]
rows = 0.01
frames = 0.1
";
    let folder = tempfile::tempdir().unwrap();
    let file = write_scene(folder.path(), scene);
    let run = folder.path().join("run");
    let output = pour(&file, &run, &["--html", folder.path().join("page.html").to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(&output));
    let found = columns(&run);
    // The mean over 0.2 s is compared, because the grains rock for a long time.
    let (mass, rows) = (found["mass_kg"].last().unwrap(), &found["floor_fz_mN"]);
    let force = rows[rows.len() - 20..].iter().sum::<f64>() / 20.0;
    assert!(found["grains"].last().unwrap() > &9.5, "a grain has left");
    assert!((force + mass * 9_810.0).abs() < 0.02 * mass * 9_810.0, "{force} mN, {mass} kg");
    // Volumes: balls of 3 to 4 mm, bounds of the shapes close to ellipsoids, and cylinders with round ends.
    let (min, max) = (4.0 * 14.13 + 4.0 * 4.5, 4.0 * 33.52 + 4.0 * 8.0);
    let cylinders = 2.0 * 4.0 / 3.0 * 2.0 * 2.0 * 3.0 * std::f64::consts::PI;
    let volume = mass / 2_500e-9;
    assert!(volume > min + cylinders && volume < max + 1.3 * cylinders, "{volume} mm³");
    // Vertices of the surfaces in the last frame, 66 for each grain: none is deeper in the floor than
    // the springs are compressed.
    let bytes = std::fs::read(run.join("frames/surfaces-000004.vtp")).unwrap();
    let mark: &[u8] = b"<AppendedData encoding=\"raw\">\n_";
    let at = bytes.windows(mark.len()).position(|w| w == mark).unwrap() + mark.len() + 8;
    let numbers = bytes[at..at + 10 * 66 * 24].as_chunks::<8>().0;
    let heights: Vec<f64> = numbers.chunks(3).map(|p| f64::from_le_bytes(p[2])).collect();
    let lowest = heights.chunks(66).map(|h| h.iter().copied().fold(f64::INFINITY, f64::min));
    assert!(lowest.clone().all(|z| z > -0.02 && z < 0.5), "{:?}", lowest.collect::<Vec<_>>());
    let list = std::fs::read_to_string(run.join("scene.pvd")).unwrap();
    assert!(list.contains("surfaces-000004.vtp"), "{list}");

    // The shapes, if rotated, scaled and displaced as the frame states, coincide with the surfaces. The
    // first 66 vertices of a shape are those of the surface.
    let blocks = |file: &str| {
        let bytes = std::fs::read(run.join(file)).unwrap();
        let at = bytes.windows(mark.len()).position(|w| w == mark).unwrap() + mark.len();
        let (mut rest, mut out) = (&bytes[at..], Vec::new());
        while let Some((length, behind)) = rest.split_first_chunk::<8>() {
            let length = usize::try_from(u64::from_le_bytes(*length)).unwrap();
            let Some((block, behind)) = behind.split_at_checked(length) else { break };
            (rest, _) = (behind, out.push(block.to_vec()));
        }
        out
    };
    let doubles = |b: &[u8]| b.as_chunks::<8>().0.iter().map(|x| f64::from_le_bytes(*x)).collect::<Vec<_>>();
    let floats =
        |b: &[u8]| b.as_chunks::<4>().0.iter().map(|x| f64::from(f32::from_le_bytes(*x))).collect::<Vec<_>>();
    let frame = blocks("frames/grains-000004.vtp");
    let (centers, radii, rotations) = (doubles(&frame[0]), floats(&frame[1]), floats(&frame[5]));
    let shapes: Vec<Vec<f64>> = (0..3).map(|k| doubles(&blocks(&format!("shape-{k}.vtp"))[0])).collect();
    let mut rotated = 0;
    for grain in 0..10 {
        let group = usize::from(frame[4][8 * grain]);
        let [w, x, y, z] = [0, 1, 2, 3].map(|k| rotations[4 * grain + k]);
        rotated += usize::from(w.abs() < 0.99);
        // Matrix of a unit quaternion.
        let m = [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ];
        for p in 0..66 {
            let q = &shapes[group][3 * p..3 * p + 3];
            for (k, row) in m.iter().enumerate() {
                let at = centers[3 * grain + k]
                    + radii[grain] * row.iter().zip(q).map(|(a, b)| a * b).sum::<f64>();
                let drawn = f64::from_le_bytes(numbers[3 * (66 * grain + p) + k]);
                assert!((at - drawn).abs() < 1e-5, "grain {grain}, point {p}: {at} {drawn}");
            }
        }
    }
    assert!(rotated > 5, "{rotated} of 10 are rotated");

    // A run is killed and continued.
    let other = folder.path().join("other");
    let mut child = Command::new(env!("CARGO_BIN_EXE_feeler"))
        .args(["pour", file.to_str().unwrap(), "-o", other.to_str().unwrap(), "-q"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !other.join("frames/grains-000001.vtp").exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    // The process may have ended already.
    let _ = child.kill();
    child.wait().unwrap();
    let output = pour(&file, &other, &[]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(contents(&run) == contents(&other), "the bytes differ");
}

#[test]
fn killed_runs_end_with_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (scene, whole, killed) =
        (data("pour/shaken.toml"), folder.path().join("whole"), folder.path().join("killed"));
    let done = pour(&scene, &whole, &[]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done));
    let expected = contents(&whole);
    // The scene has a container, moving walls, a source and grains from the beginning.
    assert!(expected.iter().any(|(f, _)| f.ends_with("frames/wall-2-000007.vtp")), "frames of moving walls");
    let c = columns(&whole);
    assert!(c["grains"].last().unwrap() - c["grains"][0] > 30.0, "the source makes no grains");
    assert!(c["tray_fx_mN"].iter().any(|f| f.abs() > 1.0), "the tray is not shaken");
    assert!(c["paddle_fz_mN"].iter().any(|f| f.abs() > 1.0), "the paddle has no contacts");
    for rows in [3, 13, 29] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_feeler"))
            .args(["pour", scene.to_str().unwrap(), "-q", "-o", killed.to_str().unwrap()])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let count = || std::fs::read_to_string(killed.join("series.csv")).map_or(0, |t| t.lines().count());
        while child.try_wait().unwrap().is_none() && count() < rows {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // Temporary files of a killed process are removed.
    std::fs::write(killed.join("frames/.grains-000003.vtp.17-0.tmp"), "half").unwrap();
    let done = pour(&scene, &killed, &[]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done));
    let found = contents(&killed);
    let names = |all: &[(PathBuf, Vec<u8>)]| all.iter().map(|f| f.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&expected), names(&found));
    for (a, b) in expected.iter().zip(&found) {
        assert!(a.1 == b.1, "{} differs", a.0.display());
    }
}

#[test]
fn a_checkpoint_of_another_scene_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let short = DROP.replace("end = 0.2", "end = 0.02");
    assert_eq!(pour(&write_scene(folder.path(), &short), &out, &[]).status.code(), Some(0));
    let before = contents(&out);
    let other = short.replace("friction = 0.2", "friction = 0.3");
    let done = pour(&write_scene(folder.path(), &other), &out, &[]);
    assert_eq!(done.status.code(), Some(2), "the run continues with another scene");
    assert!(
        text(&done).contains("checkpoint: is of another scene") && text(&done).contains("--fresh"),
        "{}",
        text(&done)
    );
    assert!(contents(&out) == before, "a file has changed");
    let done = pour(&write_scene(folder.path(), &other), &out, &["--fresh"]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done));
    // A series that is shorter than at the checkpoint is an error.
    std::fs::write(out.join("series.csv"), "time_s\n").unwrap();
    let done = pour(&write_scene(folder.path(), &other), &out, &[]);
    assert!(text(&done).contains("series.csv: has 7 bytes"), "{}", text(&done));
}

#[test]
fn solids_are_poured_and_killed_runs_continue() {
    let folder = tempfile::tempdir().unwrap();
    let own = std::fs::read_to_string(data("pour/rings.toml")).unwrap();
    // Fewer rings fall from a smaller height, so that the run is short.
    let lower = "from = [0, 0, 32], to = [0, 0, 75], radius = 17";
    let short = [
        ("end = 0.5 ", "end = 0.3 "),
        ("opens_at = 0.25", "opens_at = 0.22"),
        ("number = 60", "number = 8"),
        ("from = [0, 0, 50], to = [0, 0, 85], radius = 34.5", lower),
        ("\"../", &format!("\"{}/", data("").display())),
        ("ring.step", &data("pour/ring.step").display().to_string()),
    ];
    let short = short.iter().fold(own, |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    let scene = write_scene(folder.path(), &short);
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    let done = pour(&scene, &whole, &["--html", folder.path().join("page.html").to_str().unwrap()]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done));
    let c = columns(&whole);
    let row = |t: f64| c["time_s"].iter().position(|x| *x >= t - 1e-9).unwrap();
    // The rings lie on gate and hopper, whose load is their weight.
    let volume = 2.0 * std::f64::consts::PI * std::f64::consts::PI * 2.6 * 0.9 * 0.9;
    let weight = 8.0 * volume * 2500e-9 * 9810.0;
    let rows = row(0.2)..row(0.215);
    let of = |name: &str| c[name][rows.clone()].iter().sum::<f64>() / rows.len() as f64;
    let load = of("gate_fz_mN") + of("hopper_fz_mN");
    assert!((load + weight).abs() < 0.1 * weight, "{load} {weight}");
    assert!(c["grains"][row(0.215)] > 7.5, "a ring has passed the gate");
    assert!(c["outlet_kg"].last().unwrap() > &0.0, "no ring has left");
    let mut child = Command::new(env!("CARGO_BIN_EXE_feeler"))
        .args(["pour", scene.to_str().unwrap(), "-q", "-o", killed.to_str().unwrap()])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let count = || std::fs::read_to_string(killed.join("series.csv")).map_or(0, |t| t.lines().count());
    while child.try_wait().unwrap().is_none() && count() < 14 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let done = pour(&scene, &killed, &[]);
    assert_eq!(done.status.code(), Some(0), "{}", text(&done));
    assert!(contents(&whole) == contents(&killed), "the bytes differ");
    for (from, to, expected) in [
        ("file = \"/", "chord = 0.2\nfile = \"/", &["'hopper'", "'rings' are solids", "omit chord"][..]),
        ("pour/ring.step", "pour/none.step", &["[[grains]] shape: solid", "none.step", "scene's folder"]),
        ("pour/ring.step", "assemblies/rack.step", &["'rings': shape", "solids; give a file with one"]),
    ] {
        let scene = write_scene(folder.path(), &short.replacen(from, to, 1));
        let rejected = pour(&scene, &folder.path().join("out"), &[]);
        let message = text(&rejected);
        assert!(!rejected.status.success() && expected.iter().all(|e| message.contains(e)), "{message}");
    }
}

#[test]
fn polyhedra_are_poured_into_walls_of_triangles() {
    let folder = tempfile::tempdir().unwrap();
    // Dice of 3 mm in inches, and a block whose top is at 0; both are triangles in STL files.
    let side = 3.0 / 25.4;
    std::fs::write(folder.path().join("die.stl"), stl_block([0.0; 3], [side; 3])).unwrap();
    let block = stl_block([-40.0, -40.0, -10.0], [40.0, 40.0, 0.0]);
    std::fs::write(folder.path().join("block.stl"), &block).unwrap();
    let (head, _) = block.rsplit_once("facet normal").unwrap();
    std::fs::write(folder.path().join("open.stl"), format!("{head}endsolid block\n")).unwrap();
    let own = "end = 0.25
[law.only]
normal = 2000.0
restitution = 0.3
friction = 0.3
shear = 1000.0
[[wall]]
name = 'floor'
file = 'block.stl'
unit = 'mm'
solid = true
[[wall]]
name = 'side'
plane = { point = [-12, 0, 0], normal = [1, 0, 0] }
[[grains]]
name = 'dice'
shape = { solid = { file = 'die.stl', unit = 'inch' } }
density = 2500
number = 8
region = { box = [[-11, -8, 3], [8, 8, 12]] }
velocity = [-200, 0, 0]
[output]
rows = 0.005
frames = 0.05
";
    let out = folder.path().join("out");
    // A mesh without one of its triangles is a sheet; the floor has contacts nevertheless.
    let run = |own: &str| {
        let done = pour(&write_scene(folder.path(), own), &out, &["--fresh"]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done));
        columns(&out)
    };
    let c = run(&own.replace("block.stl", "open.stl"));
    assert!(*c["grains"].last().unwrap() > 7.5 && *c["kinetic_uJ"].last().unwrap() < 1e-6, "on a sheet");
    let c = run(own);
    let last = |name: &str| *c[name].last().unwrap();
    let weight = 8.0 * 27.0 * 2500e-9 * 9810.0;
    let late = c["time_s"].iter().position(|t| *t > 0.2).unwrap();
    let load = c["floor_fz_mN"][late..].iter().sum::<f64>() / (c["floor_fz_mN"].len() - late) as f64;
    assert!((load + weight).abs() < 0.05 * weight, "{load} {weight}");
    assert!(c["side_fx_mN"].iter().any(|f| *f < -1.0), "no contact with the plane");
    assert!(last("grains") > 7.5 && last("kinetic_uJ") < 1e-6, "{} {}", last("grains"), last("kinetic_uJ"));
    for (from, to, expected) in [
        ("solid = true\n", "", &["'floor'", "'dice' are solids", "add solid = true for an STL file"][..]),
        ("die.stl", "open.stl", &["'dice': shape", "open.stl: the side from", "close the hole"]),
        ("unit = 'mm'\n", "", &["'floor': unit", "add unit = \"mm\""]),
        (", unit = 'inch'", "", &["'dice': shape: unit", "add unit = \"mm\""]),
        ("solid = true", "solid = true\nsides = 'both'", &["'floor': sides", "omit it"]),
        (
            "solid = true",
            "solid = true\nchord = 1",
            &["'floor': chord", "STL files consist of triangles already"],
        ),
        ("plane = {", "solid = true\nplane = {", &["'side': solid", "omit it"]),
    ] {
        assert!(own.contains(from), "{from}");
        let rejected = pour(&write_scene(folder.path(), &own.replacen(from, to, 1)), &out, &[]);
        let message = text(&rejected);
        assert!(
            rejected.status.code() == Some(2) && expected.iter().all(|e| message.contains(e)),
            "{message}"
        );
    }
}

#[test]
fn errors_of_scenes_name_the_key_and_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let stl = data("pour/tray.stl");
    let wall = format!("[[wall]]\nname = 'tray'\nfile = '{}'\n", stl.display());
    let step = format!("[[wall]]\nname = 'block'\nfile = '{}'\n", data("box.step").display());
    let many = format!("[[wall]]\nfile = '{}'\n", data("assemblies/rack.step").display());
    let change = |from: &str, to: &str| DROP.replace(from, to);
    let law = "[law.other]\nnormal = 1.0\n";
    let cases: Vec<(String, &[&str])> = vec![
        (change("end = 0.2", "end = 0.2\nending = 3"), &["line 2", "unknown field `ending`"]),
        (change("end = 0.2", "end = 'soon'"), &["line 1", "expected"]),
        (change("end = 0.2\n", ""), &["missing field `end`"]),
        (change("end = 0.2", "end = -1"), &["end: -1 s", "above 0"]),
        (change("end = 0.2", "end = 0.2\nstep = 1e-2"), &["step:", "too long", "or omit it"]),
        (change("rows = 0.001", "rows = 0.0011"), &["end: 0.2 s", "not a multiple", "[output] rows"]),
        (change("diameter = 4.0", "diameter = { from = 4 }"), &["{mean, deviation, from, to}"]),
        (
            change("diameter = 4.0", "diameter = { from = 4, to = 3 }"),
            &["[[grains]] 'one': diameter", "range from 4 to 3 is not valid"],
        ),
        (change("sphere = { diameter = 4.0 }\n", ""), &["'one'", "either sphere or shape"]),
        (
            change("sphere = { diameter = 4.0 }", "shape = { superellipsoid = { semi_axes = [1, 1, 0] } }"),
            &["'one': shape", "+z"],
        ),
        (
            change(
                "sphere = { diameter = 4.0 }",
                "shape = { superellipsoid = { semi_axes = [1, 1, 1], exponents = [1, 3] } }",
            ),
            &["'one': shape", "exponent", "3"],
        ),
        (change("number = 1", "number = 1\nmass = 2"), &["[[grains]] 'one'", "either number or mass"]),
        (change("number = 1", "number = 500"), &["'one': region", "of 500 particles fit", "make it larger"]),
        (change("density = 2500", "density = 0"), &["'one': density"]),
        (change("density = 2500", "density = 2500\nfrom = 1"), &["'one': from, until", "add rate"]),
        (
            change("[[-2.5, -2.5, 30], [2.5, 2.5, 34]]", "[[3, 3, 3], [2.5, 2.5, 34]]"),
            &["'one': region", "two finite corners"],
        ),
        (change("box = ", "ball = "), &["line", "unknown variant `ball`"]),
        (format!("{DROP}{law}"), &["between: law: name one of the laws only, other"]),
        (change("restitution = 0.3", "restitution = 1.3"), &["[law.only]", "restitution", "at most 1"]),
        (change("normal = 500.0", "young = 1e6"), &["[law.only]", "young (kPa) and poisson"]),
        (change("plane = {", "law = 'none'\nplane = {"), &["'floor'", "no [law.none]", "its laws are only"]),
        (
            change("plane = { point = [0, 0, 0], normal = [0, 0, 1] }", ""),
            &["'floor'", "either file", "or plane"],
        ),
        (change("normal = [0, 0, 1]", "normal = [0, 0, 0]"), &["'floor': plane", "normal"]),
        (change("plane = {", "chord = 1\nplane = {"), &["'floor': chord", "omit it"]),
        (change("plane = {", "pose = '@p.json'\nplane = {"), &["'floor': pose", "give its numbers"]),
        (change("plane = {", "opens_at = -1\nplane = {"), &["'floor': opens_at"]),
        (format!("{DROP}{wall}"), &["'tray': unit", "add unit = \"mm\""]),
        (format!("{DROP}{wall}unit = 'furlong'"), &["'tray': unit", "'furlong' is not a unit"]),
        (format!("{DROP}{wall}unit = 'mm'\nchord = 1"), &["'tray': chord", "STL files consist of triangles"]),
        (
            format!("{DROP}[[wall]]\nfile = 'none.step'"),
            &["none.step", "paths are relative to the scene's folder"],
        ),
        (format!("{DROP}{step}chord = 1e-9"), &["'block': chord", "or more"]),
        (format!("{DROP}{step}part = 'lid'"), &["'block': part", "has no 'lid'"]),
        (format!("{DROP}{step}solid = true"), &["'block': solid", "for STL files"]),
        (format!("{DROP}{step}sides = 'both'"), &["'block': sides", "add chord"]),
        (format!("{DROP}{step}shake = {{ by = [1, 0, 0], frequency = 0 }}"), &["'block': shake", "above 0"]),
        (format!("{DROP}{many}part = 'none'"), &["has no 'none'; its parts are"]),
        (
            change("box = [[-2.5, -2.5, 30], [2.5, 2.5, 34]]", "inside = { wall = 'floor' }"),
            &["no triangles", "chord"],
        ),
        (
            change("box = [[-2.5, -2.5, 30], [2.5, 2.5, 34]]", "inside = { wall = 'x' }"),
            &["no wall 'x'; its walls are floor"],
        ),
        (
            format!("{DROP}[[outlet]]\nname = 'floor'\npoint = [0, 0, 0]\nnormal = [0, 0, 1]"),
            &["'floor' is taken"],
        ),
        (
            format!("{DROP}[[outlet]]\nname = 'way'\npoint = [0, 0, 0]\nnormal = [0, 0, 0]"),
            &["'way': normal"],
        ),
        ("end = 1\ngrains = []\n[law.a]\nnormal = 1\n".to_owned(), &["[[grains]]: the scene has no grains"]),
    ];
    for (scene, expected) in cases {
        let done = pour(&write_scene(folder.path(), &scene), &out, &[]);
        let message = text(&done);
        assert_eq!(done.status.code(), Some(2), "{message}\n{scene}");
        assert!(message.contains("scene.toml"), "the file is not named: {message}");
        for piece in expected {
            assert!(message.contains(piece), "no '{piece}' in: {message}\n{scene}");
        }
        assert!(!out.exists(), "a folder was created: {message}");
    }
    let done = feeler(&["pour", "no/such.toml"]);
    assert!(text(&done).contains("no/such.toml: cannot be read") && done.status.code() == Some(2));
    let scene = write_scene(folder.path(), DROP);
    let done = pour(&scene, &out, &["--plot", "x.png"]);
    assert!(text(&done).contains("plots are SVG"), "{}", text(&done));
    std::fs::write(&out, "a file").unwrap();
    let done = pour(&scene, &out, &[]);
    assert!(text(&done).contains("out/frames: cannot create the folder"), "{}", text(&done));
}

#[test]
fn random_numbers_in_scenes_do_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let scene = std::fs::read_to_string(data("pour/shaken.toml")).unwrap();
    let mut scene = scene
        .replace("tray.stl", data("pour/tray.stl").to_str().unwrap())
        .replace("../box.step", data("box.step").to_str().unwrap())
        .replace("mass = 0.012", "mass = 0.002");
    for (key, value) in [("end", "2e-4"), ("rows", "1e-4"), ("frames", "1e-4"), ("checkpoints", "1e-4")] {
        let line = scene.lines().find(|l| l.starts_with(key)).unwrap().to_owned();
        scene = scene.replace(&line, &format!("{key} = {value}"));
    }
    let scene = scene.replace("from = 0.05", "from = 0.0").replace("from = 0.02", "from = 0.0");
    let more = "[[outlet]]\npoint = [0, 0, -5]\nnormal = [0, 0, -1]\nradius = 50.0\n";
    let scene = format!("step = 2e-6\ndomain = [[-200, -200, -200], [200, 200, 200]]\n{scene}\n{more}");
    assert_eq!(
        pour(&write_scene(folder.path(), &scene), &out, &[]).status.code(),
        Some(0),
        "the unchanged scene is rejected"
    );
    // Positions of the numbers of the scene.
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.-/".contains(c);
    let mut words: Vec<(usize, usize)> = Vec::new();
    for (at, _) in scene.match_indices(|c: char| " [=".contains(c)) {
        let end = at + 1 + scene[at + 1..].find(|c| !is_part(c)).unwrap_or(0);
        if scene[at + 1..end].parse::<f64>().is_ok() {
            words.push((at + 1, end));
        }
    }
    assert!(words.len() > 60, "{} numbers", words.len());
    let mut rng = SmallRng::seed_from_u64(3);
    for _ in 0..60 {
        let (from, to) = words[rng.random_range(0..words.len())];
        let value = ["nan", "inf", "-1.0", "0.0", "1e308", "1e-308", "0"][rng.random_range(0..7)];
        let changed = format!("{}{value}{}", &scene[..from], &scene[to..]);
        let done = pour(&write_scene(folder.path(), &changed), &out, &["--fresh"]);
        let message = text(&done);
        let is_reported = done.status.code() == Some(2)
            && message.contains("scene.toml: ")
            && !message.contains("panicked");
        let line = changed[..from].lines().last().unwrap_or_default();
        assert!(is_reported || done.status.code() == Some(0), "{line}{value}: {message}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_reports_how_to_continue() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let scene = write_scene(folder.path(), &DROP.replace("end = 0.2", "end = 200\nstep = 1e-5"));
    let child = Command::new(env!("CARGO_BIN_EXE_feeler"))
        .args(["pour", scene.to_str().unwrap(), "-o", out.to_str().unwrap()])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let count = || std::fs::read_to_string(out.join("series.csv")).map_or(0, |t| t.lines().count());
    while count() < 5 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let second = pour(&scene, &out, &[]);
    assert!(text(&second).contains("another run writes to it"), "{}", text(&second));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(130), "{}", text(&done));
    assert!(text(&done).contains("the same command continues from there"), "{}", text(&done));
    assert!(out.join("checkpoint").exists(), "no checkpoint");
}

#[cfg(unix)]
#[test]
fn the_commands_of_the_guide_work() {
    let guide = std::fs::read_to_string(data("../docs/POUR.md")).unwrap();
    let place = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(data("").canonicalize().unwrap(), place.path().join("data")).unwrap();
    let blocks = |language: &str| {
        let begin = format!("```{language}\n");
        guide.split(&begin).skip(1).map(|b| b.split("```").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mut run = 0;
    for line in blocks("sh").iter().flat_map(|b| b.lines()).filter(|l| !l.is_empty()) {
        let line = line.split('#').next().unwrap().trim();
        let words: Vec<&str> = line.strip_prefix("feeler ").expect("a command").split_whitespace().collect();
        let done = Command::new(env!("CARGO_BIN_EXE_feeler")).args(&words).current_dir(place.path()).output();
        let done = done.unwrap();
        assert_eq!(done.status.code(), Some(0), "{line}: {}", text(&done));
        for (flag, file) in words.iter().zip(words.iter().skip(1)) {
            if ["-o", "--plot", "--html"].contains(flag) {
                assert!(place.path().join(file).exists(), "{line}: {file}");
            }
        }
        run += 1;
    }
    assert!(run >= 2, "{run} commands");
    // The scene in the document is the one that its commands use.
    let scene = std::fs::read_to_string(data("pour/hopper.toml")).unwrap();
    assert!(blocks("toml").contains(&scene), "the scene of the guide is data/pour/hopper.toml");
}
