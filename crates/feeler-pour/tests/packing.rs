//! Packings against closed forms: masses of scaled grains and of meshes, void ratios, coordination numbers,
//! lids, the end of runs at rest, and runs that continue.

#![expect(clippy::unwrap_used, reason = "an error fails the test")]

use feeler_geom::math;
use feeler_pour::{PourError, PourRun, PourScene, PourSummary, Series};
use std::f64::consts::PI;
use std::path::{Path, PathBuf};

const GRAVITY: f64 = 9_810.0;

/// Density of all grains (kg/mm³).
const DENSITY: f64 = 2500e-9;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/pour")
}

/// Scene with a floor and one table of grains.
fn scene(grains: &str, more: &str) -> String {
    format!(
        "end = 0.1
[law.only]
normal = 500.0
restitution = 0.3
[[wall]]
name = 'floor'
plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
[[grains]]
name = 'some'
density = 2500
{grains}
[output]
rows = 0.001
frames = 0.01
{more}"
    )
}

fn parse(text: &str) -> Result<PourScene, PourError> {
    PourScene::parse(text, &data())
}

/// Summary of a scene at its beginning.
fn begin(text: &str) -> PourSummary {
    let (scene, folder) = (parse(text).unwrap(), tempfile::tempdir().unwrap());
    PourRun::open(&scene, folder.path(), false).unwrap().summary()
}

/// Runs a scene to its end and returns the series and the last state.
fn run(text: &str) -> (Series, PourSummary) {
    let (scene, folder) = (parse(text).unwrap(), tempfile::tempdir().unwrap());
    let mut run = PourRun::open(&scene, folder.path(), false).unwrap();
    while !run.is_finished() {
        run.advance().unwrap();
    }
    (run.series().unwrap(), run.summary())
}

/// Mass (kg) of one peanut with these keys of its solid.
fn mass_of_peanut(keys: &str) -> f64 {
    let grains = format!(
        "number = 1\nshape = {{ solid = {{ file = 'peanut.step', {keys} }} }}\n\
         region = {{ box = [[0, 0, 1], [9, 9, 10]] }}"
    );
    begin(&scene(&grains, "")).mass
}

/// Volume (mm³) of the peanut of `tools/models/make_peanut.py`: two caps and the neck between them.
fn peanut_volume() -> f64 {
    let (r, a, q) = (1.0_f64, 0.75_f64, 0.5_f64);
    let major = ((r + q) * (r + q) - a * a).sqrt();
    let rim = a * q / (r + q);
    let cap = |z: f64| r * r * z - math::powi(z - a, 3) / 3.0;
    let arc = rim * (q * q - rim * rim).sqrt() + q * q * math::asin(rim / q);
    let neck = 2.0 * rim * (major * major + q * q) - 2.0 * math::powi(rim, 3) / 3.0 - 2.0 * major * arc;
    PI * (2.0 * (cap(a + r) - cap(rim)) + neck)
}

#[test]
fn masses_of_scaled_grains_are_proportional_to_the_cube_of_their_size() {
    let own = mass_of_peanut("unit = 'mm'");
    assert!((own / (DENSITY * peanut_volume()) - 1.0).abs() < 1e-9, "{own}");
    // The size is that of the ball of equal volume.
    for d in [0.3, 2.0] {
        let mass = mass_of_peanut(&format!("diameter = {d}"));
        assert!((mass / (DENSITY * PI / 6.0 * d * d * d) - 1.0).abs() < 1e-9, "{mass}");
    }
    // The size is that of the smallest ball around the grain, whose radius is 1.75 mm in the file.
    let bounding = |d: f64| mass_of_peanut(&format!("bounding_diameter = {d}"));
    let unit = bounding(1.0);
    assert!((unit * 3.5 * 3.5 * 3.5 / own - 1.0).abs() < 4e-3, "{unit} {own}");
    for d in [0.35, 0.5, 0.71] {
        assert!((bounding(d) / (unit * d * d * d) - 1.0).abs() < 1e-9, "{d}");
    }
}

#[test]
fn sizes_and_positions_are_determined_by_the_seed() {
    let grains = "number = 40\nregion = { box = [[0, 0, 0], [2, 2, 9]] }\narrangement = 'dense'
shape.solid.file = 'peanut.step'
shape.solid.bounding_diameter = { by_number = [[0.71, 7], [0.5, 76], [0.35, 17]] }";
    let first_frame = |seed: u64| {
        let scene = parse(&format!("seed = {seed}\n{}", scene(grains, ""))).unwrap();
        let folder = tempfile::tempdir().unwrap();
        drop(PourRun::open(&scene, folder.path(), false).unwrap());
        std::fs::read(folder.path().join("frames/grains-000000.vtp")).unwrap()
    };
    let first = first_frame(1);
    assert!(first == first_frame(1) && first != first_frame(2));
}

#[test]
fn meshes_of_a_solid_are_inscribed_and_converge() {
    let mass = |facets: &str| mass_of_peanut(&format!("bounding_diameter = 0.5{facets}"));
    let exact = mass("");
    let parts = [20, 80, 320, 1280].map(|n| mass(&format!(", facets = {n}")) / exact);
    assert!(parts.windows(2).all(|p| p[0] < p[1]) && parts[0] > 0.4 && parts[3] < 1.0, "{parts:?}");
    // The error of the volume is of second order in the length of edges.
    let ratio = (1.0 - parts[2]) / (1.0 - parts[3]);
    assert!((3.0..5.0).contains(&ratio), "{parts:?}");
    let grains = "number = 1\nshape.solid = { file = 'peanut.step', facets = 80 }\n\
                  region = { box = [[0, 0, 1], [9, 9, 10]] }";
    let notes = parse(&scene(grains, "")).unwrap().notes().join("\n");
    assert!(notes.contains("'some': a mesh of 80 facets has ") && notes.contains("of inertia"), "{notes}");
}

#[test]
fn void_ratio_of_a_known_arrangement() {
    let grains = "number = 8\nsphere = { diameter = 2 }\nregion = { box = [[0, 0, 0], [9, 9, 9]] }";
    let packing = begin(&scene(grains, "[packing]\nbox = [[0, 0, 0], [9, 9, 10]]\n")).packing.unwrap();
    let volume = 8.0 * PI / 6.0 * 8.0;
    assert!((packing.void_ratio - (810.0 - volume) / volume).abs() < 1e-9, "{packing:?}");
    assert_eq!((packing.count, packing.mutual, packing.pairs_by_points), (8, [8, 0, 0, 0, 0, 0], [0; 4]));
}

/// Four spheres on the floor of a box that is slightly wider than they are, and one in the hollow between
/// them, under a lid: each contact force follows from statics.
#[test]
fn a_pyramid_under_a_lid_has_the_contacts_and_forces_of_statics() {
    let side = 2.01;
    let ball = |x: f64, y: f64, z: f64| {
        let (low, high) = (-1.001, 1.001);
        format!(
            "[[grains]]\ndensity = 2500\nnumber = 1\nsphere = {{ diameter = 2 }}\n\
             region = {{ box = [[{}, {}, {}], [{}, {}, {}]] }}\n",
            x + low,
            y + low,
            z + low,
            x + high,
            y + high,
            z + high
        )
    };
    let corners = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
    let grains = corners.map(|(x, y)| ball(1.006 * x, 1.006 * y, 1.002)).concat() + &ball(0.0, 0.0, 2.45);
    let planes =
        [("left", "[1, 0, 0]"), ("right", "[-1, 0, 0]"), ("front", "[0, 1, 0]"), ("back", "[0, -1, 0]")];
    let walls = planes.map(|(name, normal)| {
        let sign = if normal.contains('-') { side } else { -side };
        format!("[[wall]]\nname = '{name}'\nplane = {{ point = [{sign}, {sign}, 0], normal = {normal} }}\n")
    });
    let text = format!(
        "end = 2
[law.only]
normal = 500.0
restitution = 0.3
[[wall]]
name = 'floor'
plane = {{ point = [0, 0, 0], normal = [0, 0, 1] }}
{}[[wall]]
name = 'lid'
plane = {{ point = [0, 0, 9], normal = [0, 0, -1] }}
lid = {{ mass = 5e-5, pressure = 0.5, area = 4, above = 0.25 }}
{grains}[packing]
box = [[-{side}, -{side}, 0], [{side}, {side}, 9]]
lid = 'lid'
[stop]
kinetic = 1e-10
during = 0.005
[output]
rows = 0.001
frames = 0.01
",
        walls.concat()
    );
    let (series, summary) = run(&text);
    assert!(summary.has_settled && summary.time < 1.9, "{summary:?}");
    let last = |name: &str| *series.column(name).last().unwrap();
    // The lid begins 0.25 mm above the highest sphere.
    assert!((series.column("lid_travel_mm")[0] - (9.0 - 3.7)).abs() < 0.002);
    let weight = DENSITY * PI / 6.0 * 8.0 * GRAVITY;
    let on_lid = 5e-5 * GRAVITY + 0.5 * 4.0;
    let is_near = |force: f64, expected: f64| (force - expected).abs() < 2e-4 * expected.abs();
    assert!(is_near(last("lid_fz_mN"), on_lid), "{} {on_lid}", last("lid_fz_mN"));
    assert!(is_near(last("floor_fz_mN"), -on_lid - 5.0 * weight), "{}", last("floor_fz_mN"));
    // Distances of centres along the box and along z; springs shorten the distance of centres and widen the
    // box.
    let sides = |push: f64| {
        let along = side - 1.0 + push / 500.0;
        let horizontal = 2.0_f64.sqrt() * along;
        let distance = 2.0 - (push * 2.0_f64.sqrt() * 2.0 / horizontal) / 500.0;
        (horizontal, (distance * distance - horizontal * horizontal).sqrt())
    };
    // The force of each of the four spheres on both of its walls, by iteration.
    let mut push = 0.0;
    for _ in 0..50 {
        let (horizontal, vertical) = sides(push);
        push = (on_lid + weight) / 4.0 * horizontal / vertical / 2.0_f64.sqrt();
    }
    for (name, sign) in [("left_fx", -1.0), ("right_fx", 1.0), ("front_fy", -1.0), ("back_fy", 1.0)] {
        let force = last(&format!("{name}_mN"));
        assert!(is_near(force, sign * 2.0 * push), "{name}: {force} {push}");
    }
    let on_floor = (on_lid + 5.0 * weight) / 4.0;
    let height = 1.0 - on_floor / 500.0 + sides(push).1 + 1.0 - on_lid / 500.0;
    assert!((last("lid_travel_mm") - (9.0 - height)).abs() < 1e-5, "{} {height}", last("lid_travel_mm"));
    let (area, volume) = (4.0 * side * side, 5.0 * PI / 6.0 * 8.0);
    assert!((last("void_ratio") - (area * height - volume) / volume).abs() < 1e-5, "{}", last("void_ratio"));
    let packing = summary.packing.unwrap();
    assert!((packing.coordination - 8.0 / 5.0).abs() < 1e-12, "{packing:?}");
    assert!((packing.wall_coordination - 13.0 / 5.0).abs() < 1e-12, "{packing:?}");
    assert_eq!((packing.pairs_by_points, packing.mutual), ([4, 0, 0, 0], [0, 5, 0, 0, 0, 0]));
}

#[test]
fn concave_grains_touch_at_several_points() {
    let grains = "number = 12\narrangement = 'dense'\nregion = { box = [[-3, -3, 0], [3, 3, 30]] }
shape.solid = { file = 'peanut.step' }";
    let planes = [
        "[3, 0, 0], normal = [-1, 0, 0]",
        "[-3, 0, 0], normal = [1, 0, 0]",
        "[0, 3, 0], normal = [0, -1, 0]",
        "[0, -3, 0], normal = [0, 1, 0]",
    ];
    let sides: String = planes.map(|plane| format!("[[wall]]\nplane = {{ point = {plane} }}\n")).concat();
    let lid = "[[wall]]
name = 'lid'
plane = { point = [0, 0, 30], normal = [0, 0, -1] }
lid = { mass = 5e-4, above = 0.5 }
[packing]
box = [[-3, -3, 0], [3, 3, 30]]
lid = 'lid'
";
    let text = scene(grains, &format!("{sides}{lid}")).replace("normal = 500", "normal = 2000");
    let (series, summary) = run(&text);
    let packing = summary.packing.unwrap();
    assert_eq!(packing.count, 12, "{packing:?}");
    let several = series.column("pairs_2").iter().chain(series.column("pairs_3")).sum::<f64>();
    let most = series.column("coordination").iter().copied().fold(0.0, f64::max);
    assert!(most > 1.5 && several > 0.0, "{most} {several}: the lid presses the grains together");
    let energy = series.column("kinetic_uJ");
    let peak = energy.iter().copied().fold(0.0, f64::max);
    assert!(*energy.last().unwrap() < 0.1 * peak, "{peak} {:?}", energy.last());
    // The void ratio follows from the height of the lid and the volume of the grains.
    let (travel, ratio) = (series.column("lid_travel_mm"), series.column("void_ratio"));
    for (travel, ratio) in travel.iter().zip(ratio) {
        let expected = 36.0 * (30.0 - travel) / (12.0 * peanut_volume()) - 1.0;
        assert!((ratio - expected).abs() < 1e-6, "{ratio} {expected}");
    }
}

/// Names and bytes of the files of a run, without those of durations.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            out.extend(contents(&path));
        } else if !path.ends_with("timing.csv") {
            out.push((path.file_name().unwrap().into(), std::fs::read(&path).unwrap()));
        }
    }
    out.sort();
    out
}

#[test]
fn continued_runs_have_the_bytes_of_uninterrupted_ones_for_any_number_of_threads() {
    // The scene of the documentation with fewer grains, which ends at a loose limit.
    let own = std::fs::read_to_string(data().join("packing.toml")).unwrap();
    let changes = [
        ("number = 100", "number = 8"),
        ("end = 0.1 ", "end = 0.04 "),
        ("kinetic = 5e-3", "during = 0.001\nkinetic = 0.7"),
        ("rows = 0.0005", "timing = true\nrows = 0.0005"),
        ("[2, 0, 0]", "[0.8, 0, 0]"),
        ("[0, 2, 0]", "[0, 0.8, 0]"),
        ("[2, 2, 5]", "[0.8, 0.8, 5]"),
        ("[2, 2, 5]", "[0.8, 0.8, 5]"),
    ];
    let text = changes.iter().fold(own, |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    });
    let scene = parse(&text).unwrap();
    let threads = |n: usize| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    let summary = threads(2).install(|| {
        let mut run = PourRun::open(&scene, &whole, false).unwrap();
        while !run.is_finished() {
            run.advance().unwrap();
        }
        run.summary()
    });
    assert!(summary.has_settled && summary.time < 0.04, "{summary:?}");
    let mut stops = [7, 21, 22].into_iter();
    threads(1).install(|| {
        loop {
            // A dropped run leaves rows and frames after its last checkpoint, like a killed one.
            let mut run = PourRun::open(&scene, &parts, false).unwrap();
            let stop = stops.next().unwrap_or(u64::MAX);
            while !run.is_finished() && run.row() < stop {
                run.advance().unwrap();
            }
            if run.is_finished() {
                assert_eq!(run.summary(), summary);
                break;
            }
        }
    });
    assert!(contents(&whole) == contents(&parts), "the bytes differ");
    let lines =
        |folder: &Path, name: &str| std::fs::read_to_string(folder.join(name)).unwrap().lines().count();
    for folder in [&whole, &parts] {
        // The series also has a row for the initial state.
        assert_eq!(lines(folder, "timing.csv") + 1, lines(folder, "series.csv"));
    }
    assert!(PourRun::open(&scene, &parts, false).unwrap().is_finished(), "a finished run continues");
}

#[test]
fn errors_name_the_key_and_a_remedy() {
    let region = "region = { box = [[0, 0, 1], [9, 9, 9]] }";
    let ball = format!("number = 1\nsphere = {{ diameter = 2 }}\n{region}");
    let of_ball = |more: &str| scene(&format!("{ball}\n{more}"), "");
    let solid = |file: &str, keys: &str| {
        scene(&format!("number = 1\nshape.solid = {{ file = '{file}', {keys} }}\n{region}"), "")
    };
    let peanut = |keys: &str| solid("peanut.step", keys);
    let more = |tables: &str| scene(&ball, tables);
    let lid = |table: &str| {
        let plane = "plane = { point = [0, 0, 9], normal = [0, 0, -1] }";
        more(&format!("[[wall]]\nname = 'lid'\n{plane}\nlid = {{ {table} }}\n"))
    };
    let boxed = "[packing]\nbox = [[0, 0, 0], [9, 9, 9]]\n";
    let with_packing = |table: &str, name: &str| format!("{}{boxed}lid = '{name}'\n", lid(table));
    let cylinder = "number = 1\nsphere = { diameter = 2 }\narrangement = 'dense'\n\
                    region = { cylinder = { from = [0, 0, 0], to = [0, 0, 9], radius = 3 } }";
    let cases: Vec<(String, &[&str])> = vec![
        (peanut("diameter = 1, bounding_diameter = 2"), &["'some': shape", "give one of them"]),
        (peanut("diameter = { from = 1, to = 2 }"), &["shape: diameter", "for each size", "by_number"]),
        (peanut("diameter = { by_number = [] }"), &["shape: diameter", "at least one"]),
        (peanut("diameter = { by_number = [[1, 0]] }"), &["shape: diameter", "above 0"]),
        (peanut("facets = 100"), &["shape: facets", "20, 80, 320 or 1280"]),
        (solid("ring.step", "facets = 80"), &["shape: facets", "intersects the surface", "STL"]),
        (peanut("size = 1"), &["line", "unknown field `size`", "bounding_diameter"]),
        (of_ball("arrangement = 'tight'"), &["line", "`tight`", "dense"]),
        (of_ball("arrangement = 'dense'\nrate = 1"), &["'some': arrangement", "omit it"]),
        (scene(cylinder, ""), &["'some': arrangement", "a box"]),
        (lid("mass = 0"), &["'lid': lid: mass", "above 0 kg"]),
        (lid("above = 1"), &["line", "missing field `mass`"]),
        (lid("mass = 1, above = -1"), &["'lid': lid: above", "at least 0"]),
        (lid("mass = 1, pressure = 1"), &["'lid': lid: pressure, area", "give both"]),
        (lid("mass = 1, pressure = 1, area = -1"), &["'lid': lid: pressure, area", "above 0"]),
        (lid("mass = 1, direction = [0, 0, 0]"), &["'lid': lid: direction", "not all 0"]),
        (lid("mass = 1, direction = [0, 0, 1]"), &["'lid': lid: direction", "or a pressure"]),
        (
            lid("mass = 1 }\nshake = { by = [1, 0, 0], frequency = 1"),
            &["'lid': motion, shake, lid", "one motion"],
        ),
        (more("[packing]\nbox = [[0, 0, 0], [0, 1, 1]]\n"), &["[packing]: box", "two finite corners"]),
        (
            more(&format!("{boxed}lid = 'floor'\n")),
            &["[packing]: lid", "'floor' slides", "none has the key lid"],
        ),
        (with_packing("mass = 1", "top"), &["no wall 'top' slides", "use lid"]),
        (
            with_packing("mass = 1, direction = [0, 1, -1]", "lid"),
            &["[packing]: lid", "an axis of coordinates"],
        ),
        (more("[stop]\nkinetic = 1\n"), &["[stop]: kinetic", "below 1"]),
        (more("[stop]\nkinetic = 0.1\nduring = -1\n"), &["[stop]: during", "at least 0"]),
    ];
    for (text, expected) in cases {
        let message = parse(&text).map(drop).expect_err(&text).to_string();
        for piece in expected {
            assert!(message.contains(piece), "no '{piece}' in: {message}\n{text}");
        }
    }
    let full = of_ball("arrangement = 'dense'").replace("number = 1", "number = 900");
    let (scene, folder) = (parse(&full).unwrap(), tempfile::tempdir().unwrap());
    let message = PourRun::open(&scene, folder.path(), false).map(drop).unwrap_err().to_string();
    let expected = ["'some': region", "of 900 particles fit into the box"];
    assert!(expected.iter().all(|piece| message.contains(piece)), "{message}");
}
