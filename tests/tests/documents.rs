//! Documents against the code: cited sections and linked files exist, and lines are at most 110 columns wide.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests is in the workspace").to_path_buf()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Files with an extension below a folder.
fn files(folder: &Path, extension: &str, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            files(&path, extension, out);
        } else if path.extension().is_some_and(|e| e == extension) {
            out.push(path);
        }
    }
}

fn sources() -> Vec<PathBuf> {
    let mut out = Vec::new();
    ["crates", "tests", "benches"].iter().for_each(|f| files(&root().join(f), "rs", &mut out));
    // This file contains examples of citations.
    out.retain(|f| !f.ends_with("tests/documents.rs"));
    assert!(out.len() > 200, "the sources are elsewhere");
    out
}

/// The digits at the beginning of a text.
fn number(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())]
}

#[test]
fn cited_sections_are_there() {
    let math = text(&root().join("docs/MATH.md"));
    let there: BTreeSet<&str> = math.lines().filter_map(|l| l.strip_prefix("## ")).map(number).collect();
    let mut cited = 0;
    for file in sources() {
        let source = text(&file);
        for (at, line) in source.lines().enumerate() {
            // `MATH §3, §8` and `MATH §4 and §7` cite two.
            let Some((_, after)) = line.split_once("MATH §") else { continue };
            let of_math = after.split("BREP").next().unwrap_or_default();
            for section in std::iter::once(of_math).chain(of_math.split('§').skip(1)) {
                let section = number(section);
                cited += 1;
                assert!(
                    there.contains(section),
                    "{}:{}: docs/MATH.md has no section {section}",
                    file.display(),
                    at + 1
                );
            }
        }
    }
    assert!(cited > 80, "{cited} citations");
}

#[test]
fn links_lead_somewhere() {
    let mut documents = Vec::new();
    files(&root(), "md", &mut documents);
    let mut links = 0;
    for document in documents {
        let content = text(&document);
        for piece in content.split("](").skip(1) {
            let Some((link, _)) = piece.split_once(')') else { continue };
            if link.contains("://") || link.contains(' ') {
                continue;
            }
            links += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let folder = document.parent().expect("a folder");
            let target = if file.is_empty() { document.clone() } else { folder.join(file) };
            assert!(target.exists(), "{}: {link}", document.display());
            let is_document = target.extension().is_some_and(|e| e == "md");
            if !anchor.is_empty() && is_document {
                let found =
                    text(&target).lines().filter(|l| l.starts_with('#')).any(|l| anchor_of(l) == anchor);
                assert!(found, "{}: no heading for {link}", document.display());
            }
        }
    }
    assert!(links > 40, "{links} links");
}

/// The anchor that a heading gets: small letters, digits and hyphens.
fn anchor_of(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim();
    let kept = words.chars().filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-');
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// No line of code or comment is wider than a screen beside another one.
#[test]
fn lines_end_at_column_110() {
    const WIDTH: usize = 110;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<PathBuf> = ["crates", "tests", "benches", "fuzz"].map(|f| root.join(f)).into();
    let mut wide = Vec::new();
    let mut n_files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() && path.file_name().is_some_and(|n| n != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                n_files += 1;
                let text = fs::read_to_string(&path).unwrap();
                let lines = text.lines().enumerate().filter(|(_, l)| l.chars().count() > WIDTH);
                wide.extend(lines.map(|(i, _)| format!("{}:{}", path.display(), i + 1)));
            }
        }
    }
    assert!(n_files > 300, "{n_files} files");
    assert!(wide.is_empty(), "wider than {WIDTH} columns:\n{}", wide.join("\n"));
}

/// The versions that are stated a second time, for crates that depend on each other and for the C library,
/// are that of the workspace.
#[test]
fn versions_are_equal() {
    let manifest = text(&root().join("Cargo.toml"));
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = ")).expect("a version");
    let mut crates = 0;
    let mut manifests = vec![root().join("Cargo.toml")];
    files(&root().join("crates"), "toml", &mut manifests);
    for line in manifests.iter().map(|path| text(path)).collect::<String>().lines() {
        if line.contains("version = \"") && line.contains("path = \"") {
            assert!(line.contains(&format!("version = {version},")), "{line}");
            crates += 1;
        }
    }
    assert!(crates > 20, "{crates} crates");
    let cmake = text(&root().join("crates/feeler-capi/CMakeLists.txt"));
    let expected = format!("project(feeler VERSION {} ", version.trim_matches('"'));
    assert!(cmake.contains(&expected), "no `{expected}` in CMakeLists.txt");
    let changes = text(&root().join("CHANGELOG.md"));
    let newest = changes.lines().find_map(|line| line.strip_prefix("## ")).expect("a version");
    assert!(newest.starts_with(version.trim_matches('"')), "the newest changes are those of {newest}");
}
