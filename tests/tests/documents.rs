//! What the documents say of the code: cited sections and linked files are there, and the index of tolerances
//! names every constant with its value.

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
    // What stands here is about citations and constants.
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

/// The numbers of an expression: `1.0 / 64.0` has two, `std::f64::consts::PI - 1e-6` one.
fn numbers(expression: &str) -> Vec<f64> {
    let plain = expression.replace("f64", " ").replace(['_', '\u{202f}', ' '], " ");
    let plain = plain.replace('−', "-");
    let mut out = Vec::new();
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | '-');
    for word in plain.split(|c: char| !is_part(c)) {
        if let Ok(x) = word.trim_end_matches('.').parse::<f64>() {
            out.push(x);
        }
    }
    out
}

/// Rows of the tables of constants: file, name, value.
fn indexed() -> Vec<(PathBuf, String, String)> {
    let document = text(&root().join("docs/TOLERANCES.md"));
    let mut folder = PathBuf::new();
    let mut out = Vec::new();
    for line in document.lines() {
        if let Some(rest) = line.strip_prefix("`crates/") {
            folder = root().join("crates").join(rest.split('`').next().expect("a folder in quotes"));
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if cells.len() == 7 && cells[0].starts_with('`') {
            out.push((folder.join(cells[1]), cells[0].trim_matches('`').to_owned(), cells[3].to_owned()));
        }
    }
    assert!(out.len() > 200, "{} rows", out.len());
    out
}

/// The value of a constant, or of a field with a default.
fn value_in<'a>(source: &'a str, name: &str) -> Option<&'a str> {
    let constant = source.split_once(&format!("const {name}: ")).and_then(|(_, rest)| {
        let (_, value) = rest.split_once('=')?;
        Some(value.split_once(';')?.0)
    });
    let default = || {
        let field = format!("{name}: ");
        let all = source.match_indices(&field);
        all.map(|(at, found)| source[at + found.len()..].split([',', '\n']).next().unwrap_or_default())
            .find(|v| !numbers(v).is_empty())
    };
    constant.or_else(default)
}

#[test]
fn tolerances_are_as_the_index_says() {
    for (file, name, value) in indexed() {
        if name.ends_with("()") {
            assert!(text(&file).contains(&format!("fn {name}").replace("()", "(")), "{name}");
            continue;
        }
        let source = text(&file);
        let found = value_in(&source, &name).unwrap_or_else(|| panic!("{}: no {name}", file.display()));
        // Ranges and symbols say what numbers do not.
        let (told, real) = (numbers(&value), numbers(found));
        let is_symbolic = value.contains(['½', '…']) || value.contains(|c: char| c.is_ascii_uppercase());
        let same =
            told.len() == real.len() && told.iter().zip(&real).all(|(x, y)| (x - y).abs() <= 1e-12 * y.abs());
        assert!(is_symbolic || same, "{}: {name} is {found}, not {value}", file.display());
    }
}

/// What decides nothing: layout, sizes of pictures, constants of nature and of algorithms.
const NOT_TOLERANCES: [&str; 21] = [
    "ALL",
    "AT",
    "BINOMIAL3",
    "BINOMIAL6",
    "BOTTOM",
    "CUT",
    "FLAT_WEIGHT",
    "HALF",
    "HEIGHT",
    "INF",
    "LEFT",
    "MERIDIANS",
    "OFFSET",
    "PER_MM3",
    "RIGHT",
    "STATION_TURN",
    "STEPS_AHEAD",
    "TAN_PI_8",
    "THIRD_OF_RADIUS",
    "TOP",
    "WIDTH",
];

#[test]
fn no_constant_is_missing_from_the_index() {
    let known: BTreeSet<(PathBuf, String)> = indexed().into_iter().map(|(f, n, _)| (f, n)).collect();
    for file in sources() {
        let path = file.strip_prefix(root()).expect("a file of ours").to_string_lossy();
        let is_code = path.starts_with("crates") && path.contains("/src/");
        if !is_code || ["test", "/reference/", "fixture"].iter().any(|w| path.contains(w)) {
            continue;
        }
        // Tests come last in a file.
        let source = text(&file);
        let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for line in source.lines() {
            let Some((_, rest)) = line.split_once("const ") else { continue };
            let Some((name, kind)) = rest.split_once(": ") else { continue };
            let is_length = kind.starts_with("f64 = ") || kind.starts_with("[f64; ");
            if is_length && !NOT_TOLERANCES.contains(&name) {
                let key = (file.clone(), name.to_owned());
                assert!(known.contains(&key), "{}: {name} is not in docs/TOLERANCES.md", file.display());
            }
        }
    }
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
