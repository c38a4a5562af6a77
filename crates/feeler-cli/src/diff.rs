//! `feeler diff`: differences between two versions of a model, or of a folder of models.

use crate::args::DiffArgs;
use crate::drawing::{self, Drawing};
use crate::page::{Cell, Row, report};
use crate::{CommandOutcome, folder, interrupt, table};
use anyhow::{Context as _, bail, ensure};
use feeler_assembly::{
    ComparisonTolerances, DifferenceKind, ModelComparison, PartCounts, VolumeDifference, compare_models,
    compare_volumes,
};
use feeler_hierarchy::whole;
use feeler_import as import;
use feeler_view::picture::{PicturePart, PictureScene, Tint, What};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Schema version of the JSON document of `feeler diff`.
const SCHEMA: u32 = 2;

/// Number of differences of a file that the table shows without `--all`; it states the number of further
/// ones. Tables are long with a larger value; a smaller one hides differences.
const MAX_SHOWN: usize = 30;

const HEADER: [&str; 4] = ["file", "kind", "of", "what"];

/// Result for one file that exists in the old or the new version, or in both.
#[derive(Debug)]
struct File {
    /// Path of the file relative to the compared folders, or the path of the new file if two files are
    /// compared.
    name: String,
    outcome: FileOutcome,
}

#[derive(Debug)]
enum FileOutcome {
    Added,
    Removed,
    /// The old and the new version were read; contains their differences, and the volumes by which changed
    /// solids differ.
    Compared(ModelComparison, Vec<VolumeDifference>),
    /// A version of the file cannot be read; contains the reason.
    Failed(String),
}

impl File {
    fn is_same(&self) -> bool {
        matches!(&self.outcome, FileOutcome::Compared(c, _) if c.differences.is_empty())
    }

    /// Rows of the table, one for each difference and each volume: kind, subject, description.
    fn lines(&self) -> Vec<[String; 3]> {
        match &self.outcome {
            FileOutcome::Added => vec![["file", "", "is new"].map(str::to_owned)],
            FileOutcome::Removed => vec![["file", "", "is gone"].map(str::to_owned)],
            FileOutcome::Failed(e) => vec![["import", "", e].map(str::to_owned)],
            FileOutcome::Compared(c, volumes) => {
                let mut left: Vec<&VolumeDifference> = volumes.iter().collect();
                let volume_row = |v: &VolumeDifference| {
                    [DifferenceKind::Mass.name().to_owned(), v.subject.clone(), v.in_words()]
                };
                let mut rows = Vec::new();
                for d in &c.differences {
                    // The volume is the first row about its solid.
                    let is_of =
                        |v: &&VolumeDifference| v.subject == d.subject && d.kind != DifferenceKind::Part;
                    if let Some(k) = left.iter().position(is_of) {
                        rows.push(volume_row(left.remove(k)));
                    }
                    rows.push([d.kind.name().to_owned(), d.subject.clone(), d.what.clone()]);
                }
                rows
            }
        }
    }
}

pub(crate) fn run(
    args: &DiffArgs,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<CommandOutcome> {
    let default = ComparisonTolerances::default();
    let tol = ComparisonTolerances { length: args.tolerance, relative: args.relative, ..default };
    let both = pairs(&args.old, &args.new)?;
    interrupt::tidy_up_on_interrupt();
    let one = |(name, files): (&String, &Versions)| {
        let outcome = match files {
            Versions { old: None, .. } => FileOutcome::Added,
            Versions { new: None, .. } => FileOutcome::Removed,
            Versions { old: Some(old), new: Some(new) } => compare_files(old, new, args, &tol),
        };
        File { name: name.clone(), outcome }
    };
    let files: Vec<File> = both.par_iter().map(one).collect();
    // If two files are compared, not folders, a failure is the error of the command.
    if let [File { outcome: FileOutcome::Failed(e), .. }] = files.as_slice() {
        bail!("{e}");
    }
    if args.form.json {
        serde_json::to_writer(&mut *out, &document(&files))?;
        writeln!(out)?;
    } else {
        write!(out, "{}", text(&files, args.all))?;
    }
    if !args.form.quiet {
        writeln!(err, "feeler: {}", summary(&files))?;
    }
    if let Some(file) = &args.html {
        let page = html(&files, &both, args.read.reading())?;
        whole::write_whole(file, page.as_bytes())
            .with_context(|| format!("{}: cannot be written", file.display()))?;
    }
    Ok(if files.iter().all(File::is_same) { CommandOutcome::Done } else { CommandOutcome::Partly })
}

/// Paths of the old and the new version of a file; `None` for a version that does not exist.
#[derive(Clone, Debug, Default)]
struct Versions {
    old: Option<PathBuf>,
    new: Option<PathBuf>,
}

/// Old and new version of each file to compare, by name. If `old` and `new` are files, these two are
/// compared; if they are folders, all models below them, named by their paths relative to the folders.
fn pairs(old: &Path, new: &Path) -> anyhow::Result<BTreeMap<String, Versions>> {
    for path in [old, new] {
        ensure!(path.exists(), "{}: the file or folder does not exist", path.display());
    }
    match (old.is_dir(), new.is_dir()) {
        (false, false) => {
            let both = Versions { old: Some(old.to_owned()), new: Some(new.to_owned()) };
            return Ok(BTreeMap::from([(new.display().to_string(), both)]));
        }
        (true, true) => {}
        _ => bail!(
            "{} and {} are a file and a folder; give two files or two folders",
            old.display(),
            new.display()
        ),
    }
    let mut out: BTreeMap<String, Versions> = BTreeMap::new();
    for (path, name) in models(old)? {
        out.entry(name).or_default().old = Some(path);
    }
    for (path, name) in models(new)? {
        out.entry(name).or_default().new = Some(path);
    }
    ensure!(!out.is_empty(), "neither folder contains STEP or .feeler files");
    Ok(out)
}

/// Paths of the models (STEP and .feeler files) below a folder, each with its path relative to the
/// folder. A .feeler file beside a STEP file of the same name is omitted, because the STEP file is
/// compared.
fn models(below: &Path) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let is_model = |path: &Path| {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
        feeler_step::is_step_name(name) || path.extension().is_some_and(|e| e.eq_ignore_ascii_case("feeler"))
    };
    let mut out = Vec::new();
    for (path, relative) in folder::files(below, &is_model) {
        let relative = relative.map_err(anyhow::Error::msg).with_context(|| path.display().to_string())?;
        out.push((path, folder::with_slashes(&relative)));
    }
    let sources: BTreeSet<String> = out
        .iter()
        .filter(|(_, name)| !name.ends_with(".feeler"))
        .map(|(_, name)| folder::with_slashes(&Path::new(name).with_extension("feeler")))
        .collect();
    out.retain(|(_, name)| !sources.contains(name));
    Ok(out)
}

fn compare_files(old: &Path, new: &Path, args: &DiffArgs, tol: &ComparisonTolerances) -> FileOutcome {
    // Files with equal bytes are equal models and are not prepared.
    if let (Ok(a), Ok(b)) = (import::read(old), import::read(new))
        && a == b
    {
        return FileOutcome::Compared(ModelComparison::default(), Vec::new());
    }
    let model = |path: &Path| Ok::<_, anyhow::Error>(import::load_with(path, args.read.reading())?.0);
    match (model(old), model(new)) {
        (Ok(a), Ok(b)) => {
            let (comparison, volumes) = if args.skip_volumes {
                (compare_models(&a, &b, tol), Vec::new())
            } else {
                compare_volumes(&a, &b, tol)
            };
            FileOutcome::Compared(comparison, volumes)
        }
        (Err(e), Ok(_)) => FileOutcome::Failed(format!("can be read now; before: {e:#}")),
        (Ok(_), Err(e)) => FileOutcome::Failed(format!("cannot be read any more: {e:#}")),
        (Err(a), Err(b)) => FileOutcome::Failed(format!("cannot be read: {a:#}; {b:#}")),
    }
}

fn text(files: &[File], all: bool) -> String {
    let mut rows = Vec::new();
    let several = files.len() > 1;
    for file in files {
        let lines = file.lines();
        let shown = if all { lines.len() } else { MAX_SHOWN };
        let mut add = |cells: [String; 3]| {
            let name = several.then_some(file.name.as_str());
            rows.push(name.map(str::to_owned).into_iter().chain(cells).collect::<Vec<_>>());
        };
        lines.iter().take(shown).for_each(|cells| add(cells.clone()));
        if lines.len() > shown {
            let more = format!("and {} more; --all shows them", lines.len() - shown);
            add([String::new(), String::new(), more]);
        }
    }
    let header = if several { &HEADER[..] } else { &HEADER[1..] };
    if rows.is_empty() { String::new() } else { table::render(header, &rows) }
}

fn summary(files: &[File]) -> String {
    if let [File { outcome: FileOutcome::Compared(c, _), .. }] = files {
        if c.differences.is_empty() {
            return "no differences".to_owned();
        }
        let PartCounts { same, added, removed, renamed, moved, changed } = c.parts;
        return format!(
            "parts: {same} the same, {added} new, {removed} gone, {renamed} renamed, {moved} moved, \
                {changed} changed"
        );
    }
    let same = files.iter().filter(|f| f.is_same()).count();
    let count = |is: fn(&FileOutcome) -> bool| files.iter().filter(|f| is(&f.outcome)).count();
    format!(
        "files: {same} the same, {} new, {} gone, {} differ",
        count(|o| matches!(o, FileOutcome::Added)),
        count(|o| matches!(o, FileOutcome::Removed)),
        files.len() - same - count(|o| matches!(o, FileOutcome::Added | FileOutcome::Removed)),
    )
}

fn document(files: &[File]) -> Value {
    let one = |f: &File| match &f.outcome {
        FileOutcome::Added => json!({ "name": f.name, "status": "added" }),
        FileOutcome::Removed => json!({ "name": f.name, "status": "removed" }),
        FileOutcome::Failed(e) => json!({ "name": f.name, "status": "failed", "error": e }),
        FileOutcome::Compared(c, volumes) => json!({
            "name": f.name, "status": if c.differences.is_empty() { "same" } else { "different" },
            "parts": c.parts, "differences": c.differences, "volumes": volumes,
        }),
    };
    json!({ "schema": SCHEMA, "unit": "mm", "files": files.iter().map(one).collect::<Vec<_>>() })
}

fn html(
    files: &[File],
    both: &BTreeMap<String, Versions>,
    reading: import::Reading,
) -> anyhow::Result<String> {
    let mut drawing = Drawing::new(None, false);
    let mut rows = Vec::new();
    for file in files.iter().filter(|f| !f.is_same()) {
        let is_drawn = !drawing.is_full();
        let scene =
            both.get(&file.name).filter(|_| is_drawn).and_then(|b| scene(file, b, reading, &mut drawing));
        for [kind, of, what] in file.lines() {
            let cells = vec![
                Cell::new("path", file.name.as_str()),
                Cell::new("", kind),
                Cell::new("path", of.clone()),
                Cell::new("", what),
            ];
            let show = scene.as_ref().map(|(k, paths)| {
                let parts = drawing::about(paths, &of);
                // Both versions of a part are shown together.
                let is_few = parts.is_empty() || paths.len() <= 2;
                drawing.show(*k, if is_few { What::All } else { What::Parts(parts) })
            });
            rows.push(Row { class: "new", cells, show });
        }
    }
    report("Differences", &summary(files), &drawing.failed, (&HEADER, &rows), drawing.finished())
}

/// Draws the new version of a file and those parts of the old version that differ. Returns the index of
/// the scene in `drawing`, and its parts, each with its path in its own version. A version that cannot
/// be read is not drawn; `None` if no part is drawn.
fn scene(
    file: &File,
    both: &Versions,
    reading: import::Reading,
    drawing: &mut Drawing,
) -> Option<(usize, Vec<PicturePart>)> {
    let mut load = |path: &Option<PathBuf>, tint| {
        let (model, _) = import::load_with(path.as_deref()?, reading).ok()?;
        Some(drawing.parts_of_model(&model, tint))
    };
    let (old, mut new) =
        (load(&both.old, Tint::Old).unwrap_or_default(), load(&both.new, Tint::New).unwrap_or_default());
    let differs = |parts: &[PicturePart]| -> BTreeSet<usize> {
        file.lines().iter().flat_map(|[_, subject, _]| drawing::about(parts, subject)).collect()
    };
    // Parts without differences are drawn once.
    let is_whole_file = matches!(file.outcome, FileOutcome::Added | FileOutcome::Removed);
    let [in_old, mut in_new] = [&old, &new].map(|parts| differs(parts));
    // If each file has only one part, the two parts are compared even if their names differ.
    if let ([_], [_]) = (old.as_slice(), new.as_slice()) {
        in_new.extend(in_old.iter().copied());
    }
    for (i, part) in new.iter_mut().enumerate() {
        if !in_new.contains(&i) && !is_whole_file {
            part.tint = Tint::Own;
        }
    }
    new.extend(
        old.into_iter().enumerate().filter(|(i, _)| in_old.contains(i) || is_whole_file).map(|(_, p)| p),
    );
    if new.is_empty() {
        return None;
    }
    let by_path = new.clone();
    for part in new.iter_mut().filter(|p| p.tint == Tint::Old) {
        part.path = format!("old version/{}", part.path);
    }
    Some((
        drawing.add(PictureScene { name: file.name.clone(), parts: new, ..PictureScene::default() }),
        by_path,
    ))
}
