//! STEP file → solids → hierarchies: the one place where the offline stages are chained.

use anyhow::{Context as _, bail};
use feeler_hierarchy::{Instance, Model, Options, Origin};
use std::path::Path;

/// The program that makes hierarchies: those of another version are made again.
const PROGRAM: &str = concat!("feeler ", env!("CARGO_PKG_VERSION"));

/// Default of `--flatness` (rad), MATH §6.
pub const DEFAULT_FLATNESS: f64 = 0.5;

/// A prepared input, with what the user should hear about it.
#[derive(Debug)]
pub struct Prepared {
    /// Solids that could be prepared, in their places.
    pub model: Model,
    /// One message for each solid of the file that had to be left out.
    pub refused: Vec<String>,
}

/// Imports and prepares a STEP file.
///
/// # Errors
/// The file cannot be read, is not STEP, or none of its solids could be prepared. Messages name the file, the
/// entity and what to do.
pub fn prepare_step(path: &Path, options: &Options) -> anyhow::Result<Prepared> {
    prepare_bytes(&path.display().to_string(), &read(path)?, options)
}

/// [`prepare_step`] on bytes; `file` is the input's name as errors should show it, a path or not.
///
/// # Errors
/// As [`prepare_step`].
pub fn prepare_bytes(file: &str, bytes: &[u8], options: &Options) -> anyhow::Result<Prepared> {
    let input = Path::new(file).file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let import = feeler_step::read_step_bytes(file, bytes)?;
    let mut warnings: Vec<String> = import.problems.iter().map(ToString::to_string).collect();
    let mut refused = Vec::new();
    let mut solids = Vec::new();
    // Index of each imported solid among the prepared ones.
    let mut place = vec![None; import.solids.len()];
    for (i, source) in import.solids.iter().enumerate() {
        let label = if source.name.is_empty() { String::new() } else { format!(" '{}'", source.name) };
        let prepared = feeler_brep::build::build_solid(source, &feeler_brep::build::BuildOptions::default())
            .map_err(|e| e.to_string())
            .and_then(|solid| {
                warnings.extend(solid.warnings.iter().map(|w| format!("solid #{}{label}: {w}", source.id)));
                feeler_prepare::prepare_solid(&solid, options)
                    .map_err(|e| format!("solid #{}{label}: {e}", source.id))
            });
        match prepared {
            Ok(h) => {
                place[i] = Some(u32::try_from(solids.len()).context("too many solids")?);
                solids.push(h);
            }
            Err(e) => refused.push(e),
        }
    }
    if solids.is_empty() {
        if refused.is_empty() {
            bail!("{file}: no solids in this file");
        }
        bail!("{file}: no solid could be prepared: {}", refused.join("; "));
    }
    let instances = import
        .instances
        .iter()
        .filter_map(|i| {
            let q = i.pose.rotation.coords;
            Some(Instance {
                solid: place[i.solid]?,
                name: i.name.clone(),
                path: i.path.clone(),
                translation: i.pose.translation.vector.into(),
                rotation: [q.x, q.y, q.z, q.w],
            })
        })
        .collect();
    warnings.extend(refused.iter().map(|r| format!("left out: {r}")));
    let origin = Origin { program: PROGRAM.to_owned(), references: Vec::new(), left_out: refused.clone() };
    let model = Model {
        input,
        input_hash: fnv1a(bytes),
        options: *options,
        solids,
        instances,
        components: Vec::new(),
        warnings,
        origin,
    };
    Ok(Prepared { model, refused })
}

/// The model at `output` and its size in bytes, if preparing the input would give exactly that: a whole file made from
/// the same bytes, with the same options, by this version of the program.
#[must_use]
pub fn up_to_date(input: &Path, bytes: &[u8], output: &Path, options: &Options) -> Option<(Model, u64)> {
    let size = std::fs::metadata(output).ok()?.len();
    let model = feeler_hierarchy::file::read_model(output).ok()?;
    let same = model.origin.program == PROGRAM
        && model.options == *options
        && model.input_hash == fnv1a(bytes)
        && input.file_name().is_some_and(|n| n.to_string_lossy() == model.input);
    same.then_some((model, size))
}

/// Loads a `.feeler` file, or prepares a STEP file in memory; the note says which, for stderr.
///
/// # Errors
/// As [`prepare_step`] and [`feeler_hierarchy::file::decode`], with the file's name.
pub fn load(path: &Path) -> anyhow::Result<(Model, Option<String>)> {
    let bytes = read(path)?;
    if feeler_hierarchy::file::is_feeler(&bytes)
        || path.extension().is_some_and(|e| e.eq_ignore_ascii_case("feeler"))
    {
        let model = feeler_hierarchy::file::decode(&bytes).with_context(|| path.display().to_string())?;
        return Ok((model, None));
    }
    let clock = std::time::Instant::now();
    let options = Options { flatness: DEFAULT_FLATNESS };
    let prepared = prepare_bytes(&path.display().to_string(), &bytes, &options)?;
    let mut note = format!(
        "{}: prepared in memory in {:.2} s; run `feeler preprocess` once to load it at once",
        path.display(),
        clock.elapsed().as_secs_f64()
    );
    for r in &prepared.refused {
        note.push_str(&format!("\n{}: left out: {r}", path.display()));
    }
    Ok((prepared.model, Some(note)))
}

pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path.is_dir() {
        bail!("{}: is a folder; give a STEP or .feeler file", path.display());
    }
    std::fs::read(path).with_context(|| format!("{}: cannot be read", path.display()))
}

/// FNV-1a, 64 bits.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}
