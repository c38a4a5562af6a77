//! Pairs of bodies near contact, for the programs that examine trackers and queries.

use crate::contact_mechanisms::{Mechanism, SceneFile};
use crate::{Fallible, number_after};
use feeler_brep::fixtures::prism;
use feeler_geom::{Pose, V3, math};
use feeler_import::DEFAULT_FLATNESS;
use feeler_runtime::{Body, ContactPair, QueryOptions};
use feeler_tests::insertion::Insertion;
use feeler_tests::tracking::Scene;
use feeler_tests::{data_dir, part, part_of};
use nalgebra::{Translation3, UnitQuaternion};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum distance (mm) of two bodies of a mechanism that count as neighbours. Smaller values miss pairs
/// with large play, larger ones add pairs that never touch.
const MAX_NEIGHBOUR_DISTANCE: f64 = 0.5;

/// Loads the pairs that the arguments of a program select: those of `data`, two obtuse concave corners,
/// those of the scenarios `s1.json` and `s2.json` in the folder that is the first argument, and with
/// `--mechanisms FOLDER` the neighbours in the scenes of `FOLDER/mechanisms.json`. `--only NAME` selects
/// one of these pairs.
///
/// # Errors
/// A file cannot be read, or there is no pair with that name.
pub fn tracked_pairs(args: &[String]) -> Fallible<Vec<Scene>> {
    let only: Option<String> = number_after(args, "--only");
    let is_wanted = |name: &str| only.as_ref().is_none_or(|only| only == name);
    let mut scenes = Vec::new();
    add_data(&is_wanted, &mut scenes)?;
    if let Some(folder) = args.first().filter(|a| !a.starts_with("--")) {
        add_scenarios(Path::new(folder), &is_wanted, &mut scenes)?;
    }
    if let Some(folder) = number_after::<PathBuf>(args, "--mechanisms") {
        add_mechanisms(&folder, &is_wanted, &mut scenes)?;
    }
    if scenes.is_empty() {
        return Err(format!("--only: no pair is named '{}'", only.unwrap_or_default()));
    }
    Ok(scenes)
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::translation(x, y, z)
}

fn turned(pose: Pose, axis: V3, angle: f64) -> Pose {
    let turn = UnitQuaternion::from_scaled_axis(axis * angle);
    pose * Pose::from_parts(Translation3::identity(), turn)
}

/// Adds the pairs of `data`, and the two obtuse concave corners.
fn add_data(is_wanted: &dyn Fn(&str) -> bool, out: &mut Vec<Scene>) -> Fallible<()> {
    let folder = data_dir();
    let mut add = |name: &str, models: [&str; 2], poses: Vec<Pose>, jitter: [f64; 2]| {
        if is_wanted(name) {
            let [a, b] = models.map(|m| part(&folder.join(format!("{m}.step")), 0));
            // The given poses are relative to the coordinates of the files.
            let poses = poses.iter().map(|p| a.pose.inverse() * p * b.pose).collect();
            out.push(Scene { name: name.to_owned(), a: a.body, b: b.body, poses, jitter });
        }
    };
    let z = V3::z();
    let id = Pose::identity();
    let height = 20.0;
    let flush = vec![
        at(0.0, 0.0, height + 0.02),
        at(1.3, 0.7, height + 0.02),
        turned(at(2.0, 1.0, height + 0.02), z, 0.3),
    ];
    add("flush boxes", ["box", "box"], flush, [0.01, 5e-4]);
    add("peg", ["socket", "plug"], [0.5, 3.0, 8.0].map(|h| at(0.0, 0.0, h)).to_vec(), [0.05, 1e-3]);
    let depths = [20.1, 21.0, 25.0].map(|h| at(0.0, 0.0, h));
    add("pin in bore", ["blind-bore", "pin"], depths.to_vec(), [0.02, 5e-4]);
    add("thread", ["thread/nut", "thread/bolt"], vec![id], [0.005, 1e-4]);
    let places = vec![at(13.0, 0.0, 0.0), at(0.0, 13.0, 0.0), at(9.2, 9.2, 0.0)];
    add("race and ball", ["race", "ball"], places, [0.05, 3.0]);
    let leaf = ["contact/hinge-base", "contact/hinge-leaf"];
    add("hinge leaf", leaf, vec![id, turned(id, V3::y(), 0.7)], [0.02, 5e-4]);
    add("hinge pin", ["contact/hinge-base", "contact/hinge-pin"], vec![id], [0.01, 2e-4]);
    add("leaf pin", ["contact/hinge-leaf", "contact/hinge-pin"], vec![id], [0.01, 2e-4]);
    let stud = ["contact/ball-socket", "contact/ball-stud"];
    add("ball joint", stud, vec![turned(id, V3::x(), 0.2618), id], [0.005, 0.05]);
    let brick = [at(0.0, 0.0, 10.02), at(0.5, 0.3, 10.02), turned(at(0.5, 0.3, 10.02), z, 0.0873)];
    add("bricks", ["contact/brick", "contact/brick"], brick.to_vec(), [0.005, 2e-4]);
    add("rings", ["contact/flat-ring", "contact/flat-ring"], vec![at(0.0, 0.0, 3.01)], [0.005, 5e-4]);
    for (a, b) in [
        ("box", "cylinder"),
        ("cone", "torus"),
        ("spool", "ball"),
        ("cylinder-nurbs", "box-nurbs"),
        ("wave", "torus-nurbs"),
    ] {
        add(&format!("{a} and {b}"), [a, b], vec![], [0.01, 1e-3]);
    }
    if is_wanted("bayonet") {
        let insertion = Insertion::load(&folder.join("bayonet.json"), DEFAULT_FLATNESS)?;
        out.push(insertion_scene("bayonet", insertion, &["insertion", "turn", "inplace"])?);
    }
    for degrees in [120.0_f64, 150.0] {
        let name = format!("corner of {degrees:.0} degrees");
        if !is_wanted(&name) {
            continue;
        }
        let (sine, cosine) = math::sin_cos((180.0 - degrees).to_radians());
        let (x, y) = (20.0 * cosine, 20.0 * sine);
        let base = [[-20.0, -10.0], [x + 10.0, -10.0], [x + 10.0, y], [x, y], [0.0, 0.0], [-20.0, 0.0]];
        let block = [[-2.0, 0.0], [0.0, 0.0], [0.0, 2.0], [-2.0, 2.0]];
        let body = |polygon: &[[f64; 2]], height| part_of(&prism(polygon, height), DEFAULT_FLATNESS).body;
        let poses = [-1.0, -0.1, -0.02, -0.005].map(|x| at(x, 1e-3, 5.0)).to_vec();
        out.push(Scene { name, a: body(&base, 20.0), b: body(&block, 10.0), poses, jitter: [0.005, 2e-4] });
    }
    Ok(())
}

fn insertion_scene(name: &str, insertion: Insertion, phases: &[&str]) -> Fallible<Scene> {
    let mut poses = Vec::new();
    for phase in phases {
        let from_a = insertion.a.1.inverse();
        poses.extend(insertion.poses[insertion.phase(phase)?].iter().map(|p| from_a * p));
    }
    // In the first quarter of an insertion the solids are not near each other.
    poses.drain(..poses.len() / 4);
    let Insertion { a, b, .. } = insertion;
    Ok(Scene { name: name.to_owned(), a: a.0, b: b.0, poses, jitter: [0.01, 1e-4] })
}

/// Adds the pairs of the scenarios s1 and s2 in the folder `folder`.
fn add_scenarios(folder: &Path, is_wanted: &dyn Fn(&str) -> bool, out: &mut Vec<Scene>) -> Fallible<()> {
    for name in ["s1", "s2"] {
        let file = folder.join(format!("{name}.json"));
        if is_wanted(name) {
            let insertion = Insertion::load(&file, DEFAULT_FLATNESS)?;
            out.push(insertion_scene(name, insertion, &["insertion", "inplace"])?);
        }
    }
    Ok(())
}

/// Adds the neighbours in the scenes of mechanisms; two parts that are neighbours several times in a
/// scene form one pair with several poses.
fn add_mechanisms(folder: &Path, is_wanted: &dyn Fn(&str) -> bool, out: &mut Vec<Scene>) -> Fallible<()> {
    let file = SceneFile::load(folder)?;
    for mechanism in &file.mechanisms {
        let mut scenes = neighbours(mechanism, folder)?;
        scenes.retain(|s| is_wanted(&s.name));
        out.append(&mut scenes);
    }
    Ok(())
}

fn neighbours(mechanism: &Mechanism, folder: &Path) -> Fallible<Vec<Scene>> {
    let parts: Vec<Arc<Body>> = mechanism.load_parts(folder)?;
    let mut out: Vec<Scene> = Vec::new();
    for (i, a) in mechanism.bodies.iter().enumerate() {
        for (j, b) in mechanism.bodies.iter().enumerate().skip(i + 1) {
            let name = format!("{}: {} / {}", mechanism.name, a.part, b.part);
            let pose = a.pose().inverse() * b.pose();
            let mut pair = ContactPair::new(parts[i].clone(), parts[j].clone());
            let options =
                QueryOptions { detect_interference: false, ..QueryOptions::within(MAX_NEIGHBOUR_DISTANCE) };
            pair.query(&Pose::identity(), &pose, &options).map_err(|e| format!("{name}: {e}"))?;
            if pair.min_distance().is_none() {
                continue;
            }
            match out.iter_mut().find(|s| s.name == name) {
                Some(scene) => scene.poses.push(pose),
                None => {
                    let (a, b) = (parts[i].clone(), parts[j].clone());
                    out.push(Scene { name, a, b, poses: vec![pose], jitter: [0.01, 5e-4] });
                }
            }
        }
    }
    Ok(out)
}
