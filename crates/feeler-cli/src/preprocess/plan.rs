//! Assignment of outputs to inputs.

use crate::args::PreprocessArgs;
use crate::folder;
use anyhow::ensure;
use feeler_import as import;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One input with its output.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) input: PathBuf,
    /// Path of the output, or the reason why the input cannot be prepared.
    pub(super) output: Result<PathBuf, String>,
}

/// Replaces folders by the files below them, sorted by name, and assigns an output to each input. An
/// error that concerns one input fails its job only; an error in the command line is returned.
pub(super) fn plan(args: &PreprocessArgs) -> anyhow::Result<Vec<Job>> {
    // Inputs, each with its path relative to the folder of the command line that contains it.
    let mut found: Vec<(PathBuf, Result<PathBuf, String>)> = Vec::new();
    for input in &args.inputs {
        if input.is_dir() {
            let before = found.len();
            found.extend(folder::files(input, &is_step));
            ensure!(
                found.len() > before || args.inputs.len() > 1,
                "{}: the folder contains no STEP files (*.step, *.stp, *.p21, *.stpz)",
                input.display()
            );
        } else if input == Path::new(import::STDIN) {
            let has_file = args.inputs.len() == 1 && args.output.as_ref().is_some_and(|o| !names_folder(o));
            ensure!(has_file, "-: standard input must be the only input and needs an output file: -o FILE");
            found.push((input.clone(), Ok(input.clone())));
        } else {
            found.push((input.clone(), Ok(input.file_name().map(PathBuf::from).unwrap_or_default())));
        }
    }
    ensure!(!found.is_empty(), "the folders contain no STEP files (*.step, *.stp, *.p21, *.stpz)");

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
    reject_collisions(&mut jobs);
    Ok(jobs)
}

/// Whether an output is a folder, or its name ends with a separator.
fn names_folder(output: &Path) -> bool {
    output.is_dir() || output.to_string_lossy().ends_with(['/', '\\'])
}

fn is_step(path: &Path) -> bool {
    path.file_name().and_then(|n| n.to_str()).is_some_and(feeler_step::is_step_name)
}

/// Path of the output beside an input. Both extensions of a compressed file are replaced (`part.step.gz`).
fn renamed(input: &Path) -> PathBuf {
    let inner = input.with_extension("");
    let packed =
        input.extension().is_some_and(|e| e.eq_ignore_ascii_case("gz") || e.eq_ignore_ascii_case("zip"));
    if packed && is_step(&inner) { inner.with_extension("feeler") } else { input.with_extension("feeler") }
}

/// Removes repeated inputs. If several inputs have the same output, only the first one is prepared.
fn reject_collisions(jobs: &mut Vec<Job>) {
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
                format!("the output {} is also an input; choose another output with -o", output.display());
            jobs[i].output = Err(message);
        } else if let Some(first) = first_use.get(output) {
            let message = format!(
                "the output {} is also that of {}; give the inputs different names or folders",
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

    fn args(inputs: &[&Path], output: Option<PathBuf>) -> PreprocessArgs {
        PreprocessArgs {
            inputs: inputs.iter().map(|p| p.to_path_buf()).collect(),
            output,
            ..PreprocessArgs::default()
        }
    }

    fn names(root: &Path, jobs: &[Job]) -> Vec<(String, String)> {
        let short = |p: &Path| p.strip_prefix(root).unwrap_or(p).display().to_string();
        let output = |j: &Job| j.output.as_ref().map_or_else(|_| "rejected".to_owned(), |o| short(o));
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
        // A file that is given in addition to its folder is prepared once.
        let file = folder.join("a.stp");
        assert_eq!(plan(&args(&[&folder, &file], None)).unwrap().len(), 3, "given twice");
        let error = plan(&args(&[&folder.join("sub/none")], None)).unwrap();
        assert_eq!(error.len(), 1, "a missing input is a file that cannot be read");
        std::fs::create_dir(root.join("empty")).unwrap();
        let error = plan(&args(&[&root.join("empty")], None)).unwrap_err().to_string();
        assert!(error.contains("no STEP files"), "{error}");
    }

    #[test]
    fn only_the_later_input_of_a_collision_fails() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for f in ["a.step", "a.stp", "b.feeler"] {
            std::fs::write(root.join(f), "").unwrap();
        }
        let (a, other, b) = (root.join("a.step"), root.join("a.stp"), root.join("b.feeler"));
        let jobs = plan(&args(&[&a, &other, &b], None)).unwrap();
        assert_eq!(
            names(root, &jobs),
            [pair("a.step", "a.feeler"), pair("a.stp", "rejected"), pair("b.feeler", "rejected")]
        );
        assert!(
            plan(&args(&[&a, &other], Some(root.join("x.feeler")))).is_err(),
            "one output for two inputs"
        );
        assert!(plan(&args(&[&a], Some(root.join("x.feeler")))).is_ok(), "one output for one input");
    }
}
