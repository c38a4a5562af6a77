//! Which files are prepared, and where each result goes.

use crate::args::Preprocess;
use crate::folder;
use anyhow::ensure;
use feeler_import as import;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One input.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) input: PathBuf,
    /// Where the result goes, or why this input cannot be worked on.
    pub(super) output: Result<PathBuf, String>,
}

/// Expands folders, in the order of names, and gives each input its output. What concerns one input only is
/// that job's failure; usage that makes no sense as a whole is refused.
pub(super) fn plan(args: &Preprocess) -> anyhow::Result<Vec<Job>> {
    // Inputs with their paths below the folder that they were found in.
    let mut found: Vec<(PathBuf, Result<PathBuf, String>)> = Vec::new();
    for input in &args.inputs {
        if input.is_dir() {
            let before = found.len();
            found.extend(folder::files(input, &is_step));
            ensure!(
                found.len() > before || args.inputs.len() > 1,
                "{}: the folder holds no STEP files (*.step, *.stp, *.p21, *.stpz)",
                input.display()
            );
        } else if input == Path::new(import::STDIN) {
            let has_file = args.inputs.len() == 1 && args.output.as_ref().is_some_and(|o| !names_folder(o));
            ensure!(
                has_file,
                "-: standard input is prepared alone, and needs a file for the result: -o FILE"
            );
            found.push((input.clone(), Ok(input.clone())));
        } else {
            found.push((input.clone(), Ok(input.file_name().map(PathBuf::from).unwrap_or_default())));
        }
    }
    ensure!(!found.is_empty(), "none of the folders holds STEP files (*.step, *.stp, *.p21, *.stpz)");

    let several = args.inputs.len() > 1 || args.inputs.iter().any(|i| i.is_dir());
    let folder = match &args.output {
        Some(o) if names_folder(o) => Some(o),
        Some(o) if several => {
            let takes_files = o.exists() || o.extension().is_some_and(|e| e.eq_ignore_ascii_case("feeler"));
            ensure!(!takes_files, "{}: with several inputs, -o must name a folder", o.display());
            Some(o)
        }
        _ => None,
    };
    let mut jobs: Vec<Job> = found
        .into_iter()
        .map(|(input, relative)| {
            let output = relative.map(|relative| match (folder, &args.output) {
                (Some(folder), _) => renamed(&folder.join(relative)),
                (None, Some(file)) => file.clone(),
                (None, None) => renamed(&input),
            });
            Job { input, output }
        })
        .collect();
    refuse_collisions(&mut jobs);
    Ok(jobs)
}

/// Whether an output is a folder, or is named as one.
fn names_folder(output: &Path) -> bool {
    output.is_dir() || output.to_string_lossy().ends_with(['/', '\\'])
}

fn is_step(path: &Path) -> bool {
    path.file_name().and_then(|n| n.to_str()).is_some_and(feeler_step::is_step_name)
}

/// The name of the result beside an input: both endings of a packed file go (`part.step.gz`).
fn renamed(input: &Path) -> PathBuf {
    let inner = input.with_extension("");
    let packed =
        input.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz") || e.eq_ignore_ascii_case("zip"));
    if packed && is_step(&inner) { inner.with_extension("feeler") } else { input.with_extension("feeler") }
}

/// Inputs named twice are worked on once; of several inputs with one output, the first gets it.
fn refuse_collisions(jobs: &mut Vec<Job>) {
    let real = |p: &Path| p.canonicalize().unwrap_or_else(|_| p.to_owned());
    let mut first_use: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let mut inputs: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for (i, job) in jobs.iter().enumerate() {
        inputs.entry(real(&job.input)).or_insert(i);
    }
    let mut twice = vec![false; jobs.len()];
    for i in 0..jobs.len() {
        twice[i] = inputs.get(&real(&jobs[i].input)).is_some_and(|first| *first != i);
        let Ok(output) = &jobs[i].output else { continue };
        if twice[i] {
            continue;
        }
        if inputs.contains_key(&real(output)) {
            let message =
                format!("{}: would overwrite an input; choose another output with -o", output.display());
            jobs[i].output = Err(message);
        } else if let Some(first) = first_use.get(output) {
            let message = format!(
                "would be written to {}, as {}; give them different names or folders",
                output.display(),
                jobs[*first].input.display()
            );
            jobs[i].output = Err(message);
        } else {
            first_use.insert(output.clone(), i);
        }
    }
    let mut drop = twice.into_iter();
    jobs.retain(|_| !drop.next().unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(inputs: &[&Path], output: Option<PathBuf>) -> Preprocess {
        Preprocess {
            inputs: inputs.iter().map(|p| p.to_path_buf()).collect(),
            output,
            ..Preprocess::default()
        }
    }

    fn names(root: &Path, jobs: &[Job]) -> Vec<(String, String)> {
        let short = |p: &Path| p.strip_prefix(root).unwrap_or(p).display().to_string();
        let output = |j: &Job| j.output.as_ref().map_or_else(|_| "refused".to_owned(), |o| short(o));
        jobs.iter().map(|j| (short(&j.input), output(j))).collect()
    }

    fn pair(a: &str, b: &str) -> (String, String) {
        (a.to_owned(), b.to_owned())
    }

    #[test]
    fn folders_are_walked_in_order_and_mirrored() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        std::fs::create_dir_all(root.join("in/sub/deep")).unwrap();
        for f in
            ["in/b.STEP", "in/a.stp", "in/notes.txt", "in/.hidden.step", "in/sub/deep/a.p21", "in/c.feeler"]
        {
            std::fs::write(root.join(f), "").unwrap();
        }
        let folder = root.join("in");
        assert_eq!(renamed(Path::new("a/b.STEP.GZ")), Path::new("a/b.feeler"));
        assert_eq!(renamed(Path::new("b.stpz")), Path::new("b.feeler"));
        assert_eq!(renamed(Path::new("b.2.zip")), Path::new("b.2.feeler"));
        let plain = plan(&args(&[&folder], None)).unwrap();
        assert_eq!(
            names(root, &plain),
            [
                pair("in/a.stp", "in/a.feeler"),
                pair("in/b.STEP", "in/b.feeler"),
                pair("in/sub/deep/a.p21", "in/sub/deep/a.feeler")
            ]
        );
        let mirrored = plan(&args(&[&folder], Some(root.join("out")))).unwrap();
        assert_eq!(names(root, &mirrored)[2], pair("in/sub/deep/a.p21", "out/sub/deep/a.feeler"));
        // A file named besides its folder is worked on once.
        let file = folder.join("a.stp");
        assert_eq!(plan(&args(&[&folder, &file], None)).unwrap().len(), 3, "named twice");
        let error = plan(&args(&[&folder.join("sub/none")], None)).unwrap();
        assert_eq!(error.len(), 1, "what is not there is a file that cannot be read");
        std::fs::create_dir(root.join("empty")).unwrap();
        let error = plan(&args(&[&root.join("empty")], None)).unwrap_err().to_string();
        assert!(error.contains("no STEP files"), "{error}");
    }

    #[test]
    fn collisions_cost_the_later_input_only() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for f in ["a.step", "a.stp", "b.feeler"] {
            std::fs::write(root.join(f), "").unwrap();
        }
        let (a, other, b) = (root.join("a.step"), root.join("a.stp"), root.join("b.feeler"));
        let jobs = plan(&args(&[&a, &other, &b], None)).unwrap();
        assert_eq!(
            names(root, &jobs),
            [pair("a.step", "a.feeler"), pair("a.stp", "refused"), pair("b.feeler", "refused")]
        );
        assert!(plan(&args(&[&a, &other], Some(root.join("x.feeler")))).is_err(), "one file for two");
        assert!(plan(&args(&[&a], Some(root.join("x.feeler")))).is_ok(), "one file for one");
    }
}
