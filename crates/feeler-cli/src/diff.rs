//! `feeler diff`: what differs between two versions of a model, or of a folder of models.

use crate::args::Diff;
use crate::drawing::{self, Drawing};
use crate::page::{Cell, Row, report};
use crate::{Outcome, folder, interrupt, table};
use anyhow::{Context as _, bail, ensure};
use feeler_compare::{Difference, ModelFacts, Parts, Tolerances, parts};
use feeler_hierarchy::whole;
use feeler_import as import;
use feeler_view::picture::{Part, Scene, Tint, What};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Version of the JSON document.
const SCHEMA: u32 = 2;

/// Lines of a file in the table, unless all are asked for.
const SHOWN: usize = 30;

const HEADER: [&str; 4] = ["file", "kind", "of", "what"];

/// One file of both versions.
#[derive(Debug)]
struct File {
    /// Its path below the folders; the new file's name where two files are compared.
    name: String,
    outcome: FileOutcome,
}

#[derive(Debug)]
enum FileOutcome {
    Added,
    Removed,
    /// Read in both versions.
    Compared(Parts, Vec<Difference>),
    /// One version of it cannot be read.
    Failed(String),
}

impl File {
    fn is_same(&self) -> bool {
        matches!(&self.outcome, FileOutcome::Compared(_, differences) if differences.is_empty())
    }

    /// Its rows of a table: kind, subject, what.
    fn lines(&self) -> Vec<[&str; 3]> {
        match &self.outcome {
            FileOutcome::Added => vec![["file", "", "is new"]],
            FileOutcome::Removed => vec![["file", "", "is gone"]],
            FileOutcome::Failed(e) => vec![["import", "", e]],
            FileOutcome::Compared(_, all) => {
                all.iter().map(|d| [d.kind.name(), d.subject.as_str(), d.what.as_str()]).collect()
            }
        }
    }
}

pub(crate) fn run(args: &Diff, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<Outcome> {
    let tol = Tolerances { length: args.tolerance, relative: args.relative, ..Tolerances::default() };
    let both = pairs(&args.old, &args.new)?;
    interrupt::tidy_up_on_interrupt();
    let one = |(name, files): (&String, &Both)| {
        let outcome = match files {
            Both { old: None, .. } => FileOutcome::Added,
            Both { new: None, .. } => FileOutcome::Removed,
            Both { old: Some(old), new: Some(new) } => compared(old, new, args.read.reading(), &tol),
        };
        File { name: name.clone(), outcome }
    };
    let files: Vec<File> = both.par_iter().map(one).collect();
    // Of two files there is nothing else to tell.
    if let [File { outcome: FileOutcome::Failed(e), .. }] = files.as_slice() {
        bail!("{e}");
    }
    if args.json {
        serde_json::to_writer(&mut *out, &document(&files))?;
        writeln!(out)?;
    } else {
        write!(out, "{}", text(&files, args.all))?;
    }
    if !args.quiet {
        writeln!(err, "feeler: {}", summary(&files))?;
    }
    if let Some(file) = &args.html {
        let page = html(&files, &both, args.read.reading())?;
        whole::write_whole(file, page.as_bytes())
            .with_context(|| format!("{}: cannot be written", file.display()))?;
    }
    Ok(if files.iter().all(File::is_same) { Outcome::Done } else { Outcome::Partly })
}

/// A file in both versions, or in one of them.
#[derive(Clone, Debug, Default)]
struct Both {
    old: Option<PathBuf>,
    new: Option<PathBuf>,
}

/// Two files, or the files of two folders by their paths.
fn pairs(old: &Path, new: &Path) -> anyhow::Result<BTreeMap<String, Both>> {
    for path in [old, new] {
        ensure!(path.exists(), "{}: there is no such file or folder", path.display());
    }
    match (old.is_dir(), new.is_dir()) {
        (false, false) => {
            let both = Both { old: Some(old.to_owned()), new: Some(new.to_owned()) };
            return Ok(BTreeMap::from([(new.display().to_string(), both)]));
        }
        (true, true) => {}
        _ => bail!("{} and {}: give two files, or two folders", old.display(), new.display()),
    }
    let mut out: BTreeMap<String, Both> = BTreeMap::new();
    for (path, name) in models(old)? {
        out.entry(name).or_default().old = Some(path);
    }
    for (path, name) in models(new)? {
        out.entry(name).or_default().new = Some(path);
    }
    ensure!(!out.is_empty(), "neither folder holds STEP or .feeler files");
    Ok(out)
}

/// The models below a folder. What was prepared of a STEP file beside it is left out: the file itself is
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

fn compared(old: &Path, new: &Path, reading: import::Reading, tol: &Tolerances) -> FileOutcome {
    let facts = |path: &Path| -> anyhow::Result<ModelFacts> {
        Ok(ModelFacts::of(&import::load_with(path, reading)?.0, true))
    };
    // Equal bytes are equal models, and need no preparation.
    if let (Ok(a), Ok(b)) = (import::read(old), import::read(new))
        && a == b
    {
        return FileOutcome::Compared(Parts::default(), vec![]);
    }
    match (facts(old), facts(new)) {
        (Ok(a), Ok(b)) => {
            let (count, differences) = parts(&a, &b, tol);
            FileOutcome::Compared(count, differences)
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
        let shown = if all { lines.len() } else { SHOWN };
        let mut add = |cells: [&str; 3]| {
            let name = several.then_some(file.name.as_str());
            rows.push(name.into_iter().chain(cells).map(str::to_owned).collect::<Vec<_>>());
        };
        lines.iter().take(shown).for_each(|cells| add(*cells));
        if lines.len() > shown {
            add(["", "", &format!("and {} more; --all shows them", lines.len() - shown)]);
        }
    }
    let header = if several { &HEADER[..] } else { &HEADER[1..] };
    if rows.is_empty() { String::new() } else { table::render(header, &rows) }
}

fn summary(files: &[File]) -> String {
    if let [File { outcome: FileOutcome::Compared(parts, differences), .. }] = files {
        if differences.is_empty() {
            return "no differences".to_owned();
        }
        let Parts { same, added, removed, renamed, moved, changed } = parts;
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
        FileOutcome::Compared(parts, differences) => json!({
            "name": f.name, "status": if differences.is_empty() { "same" } else { "different" },
            "parts": parts, "differences": differences,
        }),
    };
    json!({ "schema": SCHEMA, "unit": "mm", "files": files.iter().map(one).collect::<Vec<_>>() })
}

fn html(files: &[File], both: &BTreeMap<String, Both>, reading: import::Reading) -> anyhow::Result<String> {
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
                Cell::new("path", of),
                Cell::new("", what),
            ];
            let show = scene.as_ref().map(|(k, paths)| {
                let parts = drawing::about(paths, of);
                // One version of a part is not to be seen without the other.
                let is_few = parts.is_empty() || paths.len() <= 2;
                drawing.show(*k, if is_few { What::All } else { What::Parts(parts) })
            });
            rows.push(Row { class: "new", cells, show });
        }
    }
    report("Differences", &summary(files), &drawing.failed, (&HEADER, &rows), drawing.finished())
}

/// The new version, and of the old one what differs, with the parts by their paths in their version. What
/// cannot be read is not drawn; its row tells why.
fn scene(
    file: &File,
    both: &Both,
    reading: import::Reading,
    drawing: &mut Drawing,
) -> Option<(usize, Vec<Part>)> {
    let mut load = |path: &Option<PathBuf>, tint| {
        let (model, _) = import::load_with(path.as_deref()?, reading).ok()?;
        Some(drawing.parts_of_model(&model, tint))
    };
    let (old, mut new) =
        (load(&both.old, Tint::Old).unwrap_or_default(), load(&both.new, Tint::New).unwrap_or_default());
    let differs = |parts: &[Part]| -> BTreeSet<usize> {
        file.lines().iter().flat_map(|[_, subject, _]| drawing::about(parts, subject)).collect()
    };
    // Where nothing is told of a part it is the same, and drawn once.
    let is_whole_file = matches!(file.outcome, FileOutcome::Added | FileOutcome::Removed);
    let [in_old, mut in_new] = [&old, &new].map(|parts| differs(parts));
    // The only part of a file is compared with the only part of the other, whatever they are called.
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
    Some((drawing.add(Scene { name: file.name.clone(), parts: new, ..Scene::default() }), by_path))
}
