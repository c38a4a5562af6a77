//! Index of the numeric constants of the libraries, generated from their doc comments: docs/CONSTANTS.md.
//! `FEELER_BLESS=1 cargo test -p feeler-tests --test constants` writes it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Types of the constants that are listed: numbers, arrays and ranges of numbers, durations.
const NUMERIC: [&str; 14] = [
    "f64", "f32", "usize", "isize", "u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32", "i64", "Duration",
];

/// Names that do not say what they limit, and of what.
const VAGUE: [&str; 25] = [
    "BESIDE", "CLOSE", "DOUBT", "ENOUGH", "FAR", "FEW", "FINE", "FLAT", "LEAST", "LONGEST", "MANY", "MOST",
    "NARROW", "NEAR", "OFF", "PLAIN", "ROOM", "SAME", "SEAT", "SET", "SLIP", "SMALL", "STEP", "SURELY",
    "WIDE",
];

/// Maximum number of constants with a name of [`VAGUE`]; it only decreases.
const MAX_VAGUE: usize = 3;

/// Maximum number of constants without a doc comment; it only decreases.
const MAX_UNDOCUMENTED: usize = 17;

struct Constant {
    name: String,
    file: String,
    value: String,
    doc: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests is in the workspace").to_path_buf()
}

/// Rust sources below a folder in the order of their paths, without tests, fixtures and reference methods.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
            if ["tests", "testing", "reference", "fixture"].contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

/// Whether a type consists of numbers only.
fn is_numeric(kind: &str) -> bool {
    let words = kind.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty());
    let mut types =
        words.filter(|w| w.starts_with(|c: char| c.is_alphabetic() && !c.is_uppercase()) || *w == "Duration");
    let is_reference = kind.contains(['&', '<']) && !kind.contains("Range");
    types.clone().next().is_some() && types.all(|t| NUMERIC.contains(&t)) && !is_reference
}

/// Constants of a source, unit tests excluded.
fn constants(file: &str, source: &str) -> Vec<Constant> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines: Vec<&str> = source.lines().collect();
    let mut out = Vec::new();
    for (k, line) in lines.iter().enumerate() {
        let declaration = line.trim_start();
        // Constants of functions and of trait implementations are explained by their surroundings.
        if declaration != *line && !declaration.starts_with("pub") {
            continue;
        }
        let declaration = declaration.strip_prefix("pub(crate) ").unwrap_or(declaration);
        let declaration = declaration.strip_prefix("pub(super) ").unwrap_or(declaration);
        let declaration = declaration.strip_prefix("pub ").unwrap_or(declaration);
        let Some((name, rest)) = declaration.strip_prefix("const ").and_then(|d| d.split_once(": ")) else {
            continue;
        };
        let whole: String = std::iter::once(rest)
            .chain(lines[k + 1..].iter().map(|l| l.trim()))
            .collect::<Vec<_>>()
            .join(" ");
        let Some((kind, value)) = whole.split_once('=') else { continue };
        if name == "_" || !is_numeric(kind) {
            continue;
        }
        let value = value.split(';').next().unwrap_or_default().trim();
        let mut docs: Vec<&str> = Vec::new();
        for above in lines[..k].iter().rev() {
            let above = above.trim_start();
            if let Some(doc) = above.strip_prefix("///") {
                docs.push(doc.trim());
            } else if !above.starts_with("#[") {
                break;
            }
        }
        docs.reverse();
        let doc = docs.join(" ");
        out.push(Constant { name: name.to_owned(), file: file.to_owned(), value: value.to_owned(), doc });
    }
    out
}

fn all() -> BTreeMap<String, Vec<Constant>> {
    let mut out = BTreeMap::new();
    for entry in fs::read_dir(root().join("crates")).expect("crates") {
        let folder = entry.expect("an entry").path();
        let name = folder.file_name().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
        if !folder.join("src").is_dir() {
            continue;
        }
        let mut of_crate = Vec::new();
        for path in sources(&folder.join("src")) {
            let file = path.strip_prefix(folder.join("src")).expect("inside").to_string_lossy().into_owned();
            of_crate.extend(constants(&file, &fs::read_to_string(&path).expect("a source")));
        }
        if !of_crate.is_empty() {
            out.insert(name, of_crate);
        }
    }
    out
}

/// Text of a table cell: one line without the separator of cells and without links of rustdoc.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace("[`", "`").replace("`]", "`")
}

/// First sentence of a doc comment.
fn first_sentence(doc: &str) -> &str {
    let end = doc.match_indices(". ").map(|(at, _)| at + 1).find(|at| !doc[..*at].ends_with("e.g."));
    &doc[..end.unwrap_or(doc.len())]
}

fn index(all: &BTreeMap<String, Vec<Constant>>) -> String {
    let count: usize = all.values().map(Vec::len).sum();
    let mut out = String::from("# Constants\n\n");
    let _ = write!(
        out,
        "Numeric constants of the libraries, {count} in all, generated from their doc comments by\n\
         `FEELER_BLESS=1 cargo test -p feeler-tests --test constants`. The comment at\n\
         the constant gives the reason, the unit and the effect of larger and smaller values. Tolerances\n\
         that users set are in [TOLERANCES.md](TOLERANCES.md).\n"
    );
    for (name, constants) in all {
        let _ = write!(out, "\n## {name}\n\n| constant | value | file | meaning |\n|---|---|---|---|\n");
        for c in constants {
            let value: String = c.value.split_whitespace().collect::<Vec<_>>().join(" ");
            let value = if value.chars().count() > 60 { "…".to_owned() } else { format!("`{value}`") };
            let meaning = cell(first_sentence(&c.doc));
            let _ = writeln!(out, "| `{}` | {} | {} | {meaning} |", c.name, cell(&value), c.file);
        }
    }
    out
}

#[test]
fn index_is_up_to_date() {
    let all = all();
    assert!(all.values().map(Vec::len).sum::<usize>() > 500, "constants were not found");
    let path = root().join("docs/CONSTANTS.md");
    let generated = index(&all);
    if std::env::var_os("FEELER_BLESS").is_some() {
        fs::write(&path, &generated).expect("the index is written");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let changed = generated.lines().find(|line| !stored.contains(line));
    let command = "FEELER_BLESS=1 cargo test -p feeler-tests --test constants";
    assert!(stored == generated, "docs/CONSTANTS.md is out of date ({changed:?}); run {command}");
}

#[test]
fn every_constant_is_documented() {
    let missing: Vec<String> = all()
        .iter()
        .flat_map(|(name, constants)| {
            constants
                .iter()
                .filter(|c| c.doc.is_empty())
                .map(move |c| format!("{name}/src/{}: {}", c.file, c.name))
        })
        .collect();
    assert!(
        missing.len() <= MAX_UNDOCUMENTED,
        "{} constants without a doc comment:\n{}",
        missing.len(),
        missing.join("\n")
    );
}

#[test]
fn names_say_what_is_limited() {
    let vague: Vec<String> = all()
        .iter()
        .flat_map(|(name, constants)| {
            let vague = constants.iter().filter(|c| VAGUE.contains(&c.name.as_str()));
            vague.map(move |c| format!("{name}/src/{}: {}", c.file, c.name))
        })
        .collect();
    assert!(vague.len() <= MAX_VAGUE, "{} constants with vague names:\n{}", vague.len(), vague.join("\n"));
}
