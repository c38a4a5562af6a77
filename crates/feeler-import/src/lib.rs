//! Imports STEP files: STEP file → solids → hierarchies. This crate chains the offline stages. Grains
//! bounded by a closed surface, and solids bounded by triangles, can be prepared as well, and with the
//! feature `truck` solids of the crate truck-modeling.

mod front;
mod grain;
mod mesh;
mod refused;
mod solid;
#[cfg(feature = "truck")]
mod truck;

pub use feeler_brep::mesh::MeshOptions;
pub use front::{ImportError, ImportStage, prepare_bytes, prepare_bytes_with_progress, prepare_step};
pub use grain::{prepare_grain, prepare_grain_with};
pub use mesh::{is_stl, prepare_mesh};
pub use refused::{RefusedPlace, RefusedSolid, refused_solids};
#[cfg(feature = "truck")]
pub use truck::prepare_truck;

use anyhow::{Context as _, bail, ensure};
use feeler_brep::build::Problem;
use feeler_geom::Pose;
use feeler_geom::count::index;
use feeler_hierarchy::{Component, Instance, Model, Options, Origin, Reference, Remark, Severity};
use feeler_step::ReadOptions;
pub use feeler_step::Reading;
use solid::Refusal;
use std::cell::RefCell;
use std::io::Read as _;
use std::path::Path;

/// Name and version of this program, stored in models. Models of another version are not up to date and
/// are prepared again.
const PROGRAM: &str = concat!("feeler ", env!("CARGO_PKG_VERSION"));

/// Name and version of this program, followed by the options of reading, as stored in models.
fn program(reading: Reading) -> String {
    let mut program = PROGRAM.to_owned();
    if reading.open_shells {
        program.push_str(" --open-shells");
    }
    if reading.skip_hidden {
        program.push_str(" --skip-hidden");
    }
    if let Some(mm) = reading.unit {
        program.push_str(&format!(" --unit {mm}"));
    }
    program
}

/// Default of `--flatness`: largest apex angle (rad) of the normals of one area (MATH §6). It needs the
/// fewest nodes, for the same minima, among all values that were measured. A larger value gives looser
/// cones; a smaller one gives more leaves.
pub const DEFAULT_FLATNESS: f64 = 0.8;

/// Imports and prepares a STEP file and the files in its folder that it refers to. Remarks on irregular,
/// approximated or skipped content are in [`Model::remarks`].
///
/// # Errors
/// The file cannot be read, is not STEP, or none of its solids could be prepared. Messages name the file,
/// the entity and what to do.
pub fn prepare_step_with(path: &Path, options: &Options) -> anyhow::Result<Model> {
    prepare_read(path, &read(path)?, options, Reading::default())
}

/// Like [`prepare_step_with`], for a file whose `bytes` have been read, with the options `reading`. STL
/// files (`*.stl`) are accepted as well: their triangles bound solids, and `reading` must state their
/// unit. With the feature `truck`, solids of truck-modeling (`*.json`) are accepted, too.
///
/// # Errors
/// Same as [`prepare_step_with`].
pub fn prepare_read(path: &Path, bytes: &[u8], options: &Options, reading: Reading) -> anyhow::Result<Model> {
    if is_stl(path) {
        return mesh::prepare_stl(path, bytes, options, reading);
    }
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
        #[cfg(feature = "truck")]
        return truck::prepare_json(path, bytes, options, reading);
        #[cfg(not(feature = "truck"))]
        bail!(
            "{}: a solid of truck-modeling needs a program built with the feature `truck`; for other solids \
             give a STEP or .feeler file",
            path.display()
        );
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let resolve = |other: &str| feeler_step::read_below(folder, other);
    prepare(&shown(path), bytes, options, &ReadOptions { resolve: &resolve, reading }, &mut |_| {})
}

/// Like [`prepare_step_with`], for the bytes of a STEP file; `file` is the name of the input in
/// messages. Parts in other files that it refers to are skipped.
///
/// # Errors
/// Same as [`prepare_step_with`].
pub fn prepare_bytes_with(file: &str, bytes: &[u8], options: &Options) -> anyhow::Result<Model> {
    let reading = ReadOptions { resolve: &|_| None, reading: Reading::default() };
    prepare(file, bytes, options, &reading, &mut |_| {})
}

fn prepare(
    file: &str,
    bytes: &[u8],
    options: &Options,
    reading: &ReadOptions<'_>,
    progress: &mut dyn FnMut(ImportStage<'_>),
) -> anyhow::Result<Model> {
    progress(ImportStage::Reading);
    let input = Path::new(file).file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let references = RefCell::new(Vec::new());
    let resolve = |other: &str| {
        let found = (reading.resolve)(other);
        references.borrow_mut().push(Reference { path: other.to_owned(), hash: found.as_deref().map(fnv1a) });
        found
    };
    let import = feeler_step::read_step_with(file, bytes, &ReadOptions { resolve: &resolve, ..*reading })?;
    let (mut remarks, mut refused) = (Vec::new(), Vec::new());
    for p in &import.problems {
        let severity = feeler_prepare::severity(p.severity);
        let list = if severity == Severity::Error { &mut refused } else { &mut remarks };
        let point = p.place.map(Into::into);
        let (subject, entity, message) = (String::new(), p.entity, p.to_string());
        list.push(Remark { severity, subject, entity, point, message });
    }
    let mut solids = Vec::new();
    // Index of each imported solid among the prepared solids; `None` if it could not be prepared.
    let mut place = vec![None; import.solids.len()];
    for (i, source) in import.solids.iter().enumerate() {
        let other = import.files[i].as_ref().map_or_else(String::new, |f| format!("{f}: "));
        let name = if source.name.is_empty() { String::new() } else { format!(" '{}'", source.name) };
        let label = format!("{other}solid #{}{name}", source.id);
        let left_out = |subject: &str, entity: Option<u64>, message: String| Remark {
            severity: Severity::Error,
            subject: subject.to_owned(),
            entity: entity.or(Some(source.id)),
            point: entity.and_then(|e| source.place_of(e)).map(Into::into),
            message,
        };
        let (count, name) = (import.solids.len(), source.name.as_str());
        progress(ImportStage::Preparing { index: i, count, name });
        match solid::prepared(source, &label, options) {
            Ok((h, more)) => {
                remarks.extend(more);
                place[i] = Some(index(solids.len()));
                solids.push(h);
            }
            Err(Refusal::Build(e)) => {
                let entity = e.problems.first().and_then(Problem::entity);
                refused.push(left_out("", entity, format!("{other}{e}")));
            }
            Err(Refusal::Prepare(e, more)) => {
                remarks.extend(more);
                refused.push(left_out(&label, e.entity(), e.to_string()));
            }
        }
    }
    if solids.is_empty() {
        if refused.is_empty() {
            bail!("{file}: the file contains no solids");
        }
        bail!("{file}: no solid could be prepared: {}", reasons(&refused));
    }
    let mut components = Vec::with_capacity(import.components.len());
    for c in &import.components {
        let (translation, rotation) = numbers(&c.pose);
        components.push(Component {
            name: c.name.clone(),
            source: c.id,
            parent: c.parent.map(index),
            mirrored: c.mirrored,
            translation,
            rotation,
            instances: Vec::new(),
        });
    }
    let mut instances = Vec::new();
    for i in &import.instances {
        let Some(solid) = place[i.solid] else { continue };
        if let Some(c) = i.component {
            components[c].instances.push(index(instances.len()));
        }
        let (translation, rotation) = numbers(&i.pose);
        instances.push(Instance { solid, name: i.name.clone(), path: i.path.clone(), translation, rotation });
    }
    if instances.is_empty() {
        bail!("{file}: none of its solids that could be prepared is placed: {}", reasons(&refused));
    }
    remarks.extend(refused);
    let origin = Origin { program: program(reading.reading), references: references.into_inner() };
    let model = Model {
        input,
        input_hash: fnv1a(bytes),
        options: *options,
        solids,
        instances,
        components,
        remarks,
        origin,
    };
    Ok(model)
}

/// Joins remarks on what is left out to one line of text.
fn reasons(refused: &[Remark]) -> String {
    let reasons: Vec<String> = refused.iter().map(Remark::about).collect();
    reasons.join("; ")
}

/// Instance of the solid with the index `solid`, in the coordinates of the solid.
fn unplaced(solid: u32, name: String) -> Instance {
    let (translation, rotation) = numbers(&Pose::identity());
    Instance { solid, name, path: String::new(), translation, rotation }
}

/// Returns the translation (mm) and the rotation of a pose; the rotation is a unit quaternion x, y, z,
/// w.
fn numbers(pose: &Pose) -> ([f64; 3], [f64; 4]) {
    let q = pose.rotation.coords;
    (pose.translation.vector.into(), [q.x, q.y, q.z, q.w])
}

/// Returns the model in the file `output` and the size of that file (bytes) if preparing `input` would
/// give exactly this model, and `None` otherwise. The file must be complete. It must have been prepared
/// from the same bytes (including those of referenced files), with the same options and by this version
/// of the program.
#[must_use]
pub fn up_to_date(
    input: &Path,
    bytes: &[u8],
    output: &Path,
    options: &Options,
    reading: Reading,
) -> Option<(Model, u64)> {
    let size = std::fs::metadata(output).ok()?.len();
    let model = feeler_hierarchy::file::read_model(output).ok()?;
    let same = model.origin.program == program(reading)
        && model.options == *options
        && model.input_hash == fnv1a(bytes)
        && input.file_name().is_some_and(|n| n.to_string_lossy() == model.input);
    let folder = input.parent().unwrap_or(Path::new(""));
    let unchanged = |r: &Reference| r.hash == feeler_step::read_below(folder, &r.path).as_deref().map(fnv1a);
    (same && model.origin.references.iter().all(unchanged)).then_some((model, size))
}

/// Loads a `.feeler` file, or prepares a STEP or STL file in memory. Reads standard input if the path is
/// [`STDIN`]. The second value is a message for stderr if the file was prepared, and `None` if it was
/// loaded. The message states the duration, and on further lines what was left out.
///
/// # Errors
/// Same as [`prepare_step_with`] and [`feeler_hierarchy::file::decode`]; the error names the file.
pub fn load(path: &Path) -> anyhow::Result<(Model, Option<String>)> {
    load_with(path, Reading::default())
}

/// Like [`load`], with options for reading STEP and STL files.
///
/// # Errors
/// Same as [`load`].
pub fn load_with(path: &Path, reading: Reading) -> anyhow::Result<(Model, Option<String>)> {
    let bytes = read_input(path)?;
    if feeler_hierarchy::file::is_feeler(&bytes)
        || path.extension().is_some_and(|e| e.eq_ignore_ascii_case("feeler"))
    {
        let model = feeler_hierarchy::file::decode(&bytes).with_context(|| path.display().to_string())?;
        return Ok((model, None));
    }
    let clock = std::time::Instant::now();
    let options = Options { flatness: DEFAULT_FLATNESS };
    let model = prepare_read(path, &bytes, &options, reading)?;
    let mut note = format!(
        "{}: prepared in {:.2} s (not cached; `feeler preprocess` writes a .feeler file that loads \
         instantly)",
        shown(path),
        clock.elapsed().as_secs_f64()
    );
    for r in model.left_out() {
        note.push_str(&format!("\n{}: left out: {r}", shown(path)));
    }
    Ok((model, Some(note)))
}

/// Returns the number of millimetres in a unit: `um`, `mm`, `cm`, `m`, `in`, `inch`, `ft`, `foot`, or
/// the number of millimetres itself.
///
/// # Errors
/// The text is not a unit; the message lists the units.
pub fn parse_unit(s: &str) -> Result<f64, String> {
    match s.trim().to_ascii_lowercase().as_str() {
        "um" => Ok(1e-3),
        "mm" => Ok(1.0),
        "cm" => Ok(10.0),
        "m" => Ok(1000.0),
        "in" | "inch" => Ok(25.4),
        "ft" | "foot" => Ok(304.8),
        other => match other.parse::<f64>() {
            Ok(mm) if mm.is_finite() && mm > 0.0 => Ok(mm),
            _ => Err(format!(
                "'{s}' is not a unit; give um, mm, cm, m, inch, ft, or its length in mm, such as 25.4"
            )),
        },
    }
}

/// Path that stands for standard input.
pub const STDIN: &str = "-";

/// Name of an input in messages.
fn shown(path: &Path) -> String {
    if path == Path::new(STDIN) { "standard input".to_owned() } else { path.display().to_string() }
}

/// Reads a whole file, or all of standard input if the path is [`STDIN`].
///
/// # Errors
/// Same as [`read`]; or standard input cannot be read, or has more than [`feeler_step::MAX_UNPACKED`]
/// bytes.
pub fn read_input(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path != Path::new(STDIN) {
        return read(path);
    }
    let mut bytes = Vec::new();
    let max_bytes = feeler_step::MAX_UNPACKED;
    let input = std::io::stdin().lock().take(max_bytes + 1).read_to_end(&mut bytes);
    input.context("standard input: cannot be read")?;
    ensure!(bytes.len() as u64 <= max_bytes, "standard input: exceeds {} MiB; give a file", max_bytes >> 20);
    Ok(bytes)
}

/// Reads a whole file.
///
/// # Errors
/// The path is a folder or cannot be read; the error names the path.
pub fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path.is_dir() {
        bail!("{}: is a folder; give a STEP or .feeler file", path.display());
    }
    std::fs::read(path).with_context(|| format!("{}: cannot be read", path.display()))
}

/// Hash (64-bit FNV-1a) of the bytes of an input, which identifies the input.
#[must_use]
pub fn input_hash(bytes: &[u8]) -> u64 {
    fnv1a(bytes)
}

/// 64-bit FNV-1a hash.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}
