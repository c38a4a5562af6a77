//! Shared code of the benchmark programs.

pub mod bars;
pub mod contact_mechanisms;
pub mod curve_culling;
pub mod damage;
pub mod depth;
pub mod drive;
pub mod endure;
pub mod inserted;
pub mod lines;
pub mod near_contact;
pub mod plot;
pub mod record;
pub mod span;
pub mod timed;
pub mod tracked_pairs;
pub mod triangles;

use feeler_brep::SolidSource;
use feeler_brep::fixtures::SourceBuilder;
use feeler_brep::source::LoopSource;
use feeler_geom::{Frame, P3, Pose, Surface};
use feeler_hierarchy::{Model, Options};
use feeler_runtime::Body;
use feeler_tests::insertion::Insertion;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// A result whose error is a message, because the programs only print errors.
pub type Fallible<T> = Result<T, String>;

/// Exit status of a campaign: 0 if its requirements hold, 1 if one fails, 2 after an error, which is
/// printed.
#[must_use]
#[expect(clippy::print_stderr, reason = "the last message of a program that reports")]
pub fn exit_code(result: Fallible<bool>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Median, 95th percentile and maximum of the values; zeros for an empty slice. Sorts the values.
#[must_use]
pub fn spread(values: &mut [f64]) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let at = |q: usize| {
        values.get((values.len() * q / 100).min(values.len().saturating_sub(1))).copied().unwrap_or(0.0)
    };
    [at(50), at(95), values.last().copied().unwrap_or(0.0)]
}

/// Processor time (s) of this thread, from an arbitrary start. Unlike wall time, it does not depend on
/// other load of the machine.
#[must_use]
pub fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "a time in a report")]
    let seconds = time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64;
    seconds
}

/// STEP files among `inputs` and in the folders among them, sorted. Other files that are named directly
/// are included too.
#[must_use]
pub fn step_files<'a>(inputs: impl IntoIterator<Item = &'a Path>) -> Vec<PathBuf> {
    let is_step = |p: &PathBuf| {
        p.extension().is_some_and(|e| e.eq_ignore_ascii_case("step") || e.eq_ignore_ascii_case("stp"))
    };
    let mut out = Vec::new();
    for input in inputs {
        match std::fs::read_dir(input) {
            Ok(entries) => out.extend(entries.flatten().map(|e| e.path()).filter(is_step)),
            Err(_) => out.push(input.to_owned()),
        }
    }
    out.sort();
    out
}

/// Prepares a STEP file with the default options.
///
/// # Errors
/// Errors of [`feeler_import::prepare_step_with`].
pub fn prepare(path: &Path) -> Fallible<Model> {
    prepare_with(path, feeler_import::DEFAULT_FLATNESS)
}

/// Prepares a STEP file with another flatness (rad).
///
/// # Errors
/// Errors of [`feeler_import::prepare_step_with`].
pub fn prepare_with(path: &Path, flatness: f64) -> Fallible<Model> {
    feeler_import::prepare_step_with(path, &Options { flatness }).map_err(|e| format!("{e:#}"))
}

/// Loads the insertion scenarios of the folder that is the first argument, or those of `data`; with
/// `--scenario NAME` only that one. The flatness is the default or `--flatness RAD`.
///
/// # Errors
/// Errors of [`Insertion::load_all`], or no scenario has that name.
pub fn scenarios(args: &[String]) -> Fallible<Vec<Insertion>> {
    let folder =
        args.first().filter(|a| !a.starts_with("--")).map_or_else(feeler_tests::data_dir, PathBuf::from);
    let flatness = number_after(args, "--flatness").unwrap_or(feeler_import::DEFAULT_FLATNESS);
    let mut all = Insertion::load_all(&folder, flatness)?;
    if let Some(wanted) = number_after::<String>(args, "--scenario") {
        all.retain(|s| s.name == wanted);
        if all.is_empty() {
            return Err(format!("{}: no scenario is named '{wanted}' (--scenario)", folder.display()));
        }
    }
    Ok(all)
}

/// Value of the option `name` among the arguments; `None` if it is missing or malformed.
#[must_use]
pub fn number_after<T: std::str::FromStr>(args: &[String], name: &str) -> Option<T> {
    let at = args.iter().position(|a| a == name)?;
    args.get(at + 1)?.parse().ok()
}

/// Distance (mm) between adjacent holes of a [`plate`].
const PITCH: f64 = 10.0;

/// Number of holes in a row of a [`plate`].
fn plate_side(holes: u32) -> u32 {
    (1..).find(|n| n * n >= holes).unwrap_or(1)
}

/// x and y (mm) of the axis of hole `k` of a [`plate`] with `side` holes in a row.
fn plate_axis(side: u32, k: u32) -> [f64; 2] {
    let (s, c) = feeler_geom::math::sin_cos(0.3);
    let middle = |n: u32| PITCH * (f64::from(n) - 0.5 * f64::from(side - 1));
    let (u, v) = (middle(k % side), middle(k / side));
    [c * u - s * v, s * u + c * v]
}

/// x and y (mm) of the axis of a hole near the middle of a [`plate`].
#[must_use]
pub fn plate_hole(holes: u32) -> [f64; 2] {
    let side = plate_side(holes);
    plate_axis(side, holes / side / 2 * side + side / 2)
}

/// A square plate with a grid of round holes. The grid is rotated about the normal, so that no row is
/// parallel to a side.
#[must_use]
pub fn plate(holes: u32) -> SolidSource {
    let mut b = SourceBuilder::new();
    let side = plate_side(holes);
    let (radius, height) = (3.0, 5.0);
    let (s, c) = feeler_geom::math::sin_cos(0.3);
    // The corners of the rotated grid stay inside the plate.
    let half = 0.5 * PITCH * f64::from(side + 1) * (s + c);
    let level = |x: f64, y: f64, z: f64| Frame { origin: P3::new(x, y, z), ..Frame::identity() };
    let corners = [(-half, -half), (half, -half), (half, half), (-half, half)];
    let low = corners.map(|(x, y)| b.vertex(x, y, 0.0));
    let high = corners.map(|(x, y)| b.vertex(x, y, height));
    for k in 0..4 {
        let next = (k + 1) % 4;
        b.polygon(&[&[low[k], low[next], high[next], high[k]]]);
    }
    let (mut bottom, mut top) = (vec![], vec![]);
    bottom.push(b.ring(&[low[3], low[2], low[1], low[0]]));
    top.push(b.ring(&high));
    for k in 0..holes {
        let [x, y] = plate_axis(side, k);
        let rims = [0.0, height].map(|z| {
            let start = b.vertex(x + radius, y, z);
            b.circle(level(x, y, z), radius, start)
        });
        let around = |rim: u32, forward: bool| LoopSource::Edges(vec![(rim, forward)]);
        b.face(
            Surface::Cylinder { frame: level(x, y, 0.0), radius },
            false,
            vec![around(rims[0], false), around(rims[1], true)],
        );
        bottom.push(around(rims[0], true));
        top.push(around(rims[1], false));
    }
    b.face(Surface::Plane { frame: level(0.0, 0.0, 0.0) }, false, bottom);
    b.face(Surface::Plane { frame: level(0.0, 0.0, height) }, true, top);
    b.finish("plate")
}

/// First solid of a model, and its pose in the file.
///
/// # Errors
/// The hierarchy is malformed.
pub fn first_body(model: &Model) -> Fallible<(Arc<Body>, Pose)> {
    let instance = &model.instances[0];
    let [x, y, z, w] = instance.rotation;
    let pose = Pose::from_parts(
        nalgebra::Translation3::from(instance.translation),
        nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(w, x, y, z)),
    );
    let body = Body::new(model.solids[instance.solid as usize].clone()).map_err(|e| e.to_string())?;
    Ok((Arc::new(body), pose))
}
