//! The tables "Names in each language" of docs/BINDINGS.md, checked against the sources of all
//! languages: every name exists, and every public function, class and method has a row or a reason to
//! exist in one language only.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Texts of the Rust files in the folder `src` of crates.
fn sources(crates: &[&str]) -> Vec<String> {
    let mut folders: Vec<PathBuf> =
        crates.iter().map(|name| root().join("crates").join(name).join("src")).collect();
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                texts.push(std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    texts
}

/// The identifier at the start of a text.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    &text[..end]
}

/// The name of a public item that a line of Rust declares, after one of these keywords.
fn declared<'a>(line: &'a str, keywords: &[&str]) -> Option<&'a str> {
    let mut rest = line.trim_start().strip_prefix("pub ")?;
    for qualifier in ["const ", "unsafe ", "extern \"C\" "] {
        if !keywords.contains(&qualifier.trim()) {
            rest = rest.strip_prefix(qualifier).unwrap_or(rest);
        }
    }
    keywords.iter().find_map(|k| rest.strip_prefix(k)?.strip_prefix(' ')).map(identifier)
}

/// Public types, functions, methods (`Type::method`) and fields (`Type::field`) of Rust sources.
fn rust_names(texts: &[String]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for text in texts {
        let mut owner = String::new();
        for line in text.lines() {
            if line.starts_with('}') {
                owner.clear();
            } else if let Some(rest) = line.strip_prefix("impl") {
                // `impl<'a> Trait for Type<'a> {` or `impl Type {`.
                let rest = rest.split_once("> ").filter(|_| rest.starts_with('<')).map_or(rest, |r| r.1);
                let rest = rest.split_once(" for ").map_or(rest, |r| r.1);
                owner = identifier(rest.trim_start()).to_owned();
                if line.contains("Clone for") {
                    names.insert(format!("{owner}::clone"));
                }
            } else if let Some(name) = declared(line, &["struct", "enum", "type", "fn", "const", "static"]) {
                if line.starts_with("pub") {
                    names.insert(name.to_owned());
                    if line.contains(" struct ") || line.contains(" enum ") {
                        name.clone_into(&mut owner);
                    }
                } else {
                    names.insert(format!("{owner}::{name}"));
                }
            } else if let Some(field) = line.strip_prefix("    pub ") {
                names.insert(format!("{owner}::{}", identifier(field)));
            }
        }
    }
    names
}

/// Types, members (`FeelerX.member`) and functions of the C header.
fn c_names(header: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut names, mut functions) = (BTreeSet::new(), BTreeSet::new());
    let mut owner = String::new();
    let mut in_comment = false;
    for line in header.lines() {
        in_comment |= line.trim_start().starts_with("/*");
        if in_comment {
            in_comment = !line.contains("*/");
            continue;
        }
        if let Some(rest) = line.strip_prefix("typedef ") {
            let name = identifier(rest.split_once(' ').unwrap().1);
            names.insert(name.to_owned());
            name.clone_into(&mut owner);
        } else if line.starts_with('}') {
            owner.clear();
        } else if line.starts_with("  ") && line.ends_with(';') && !owner.is_empty() {
            let declarator = line.trim_end_matches(';').split('[').next().unwrap();
            let member = declarator.rsplit([' ', '*']).next().unwrap();
            names.insert(format!("{owner}.{member}"));
        } else if let Some(at) = line.find("feeler_").filter(|_| !line.starts_with(' ')) {
            let name = identifier(&line[at..]);
            if line[at + name.len()..].starts_with('(') {
                names.insert(name.to_owned());
                functions.insert(name.to_owned());
            }
        }
    }
    (names, functions)
}

/// Types, functions and methods (`Type::method`) of the C++ header; members of records of C as
/// `Alias::member`.
fn cpp_names(header: &str, c: &BTreeSet<String>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut owner = String::new();
    for line in header.lines() {
        let start = line.trim_start();
        if start.starts_with("//") {
            continue;
        }
        if let Some(rest) = line.strip_prefix("using ") {
            let (alias, record) = rest.trim_end_matches(';').split_once(" = ").unwrap();
            names.insert(alias.to_owned());
            let prefix = format!("{record}.");
            names.extend(
                c.iter().filter_map(|n| n.strip_prefix(&prefix)).map(|member| format!("{alias}::{member}")),
            );
        } else if let Some(rest) = line.strip_prefix("class ").or_else(|| line.strip_prefix("struct ")) {
            identifier(rest).clone_into(&mut owner);
            names.insert(owner.clone());
        } else if line.starts_with('}') {
            owner.clear();
        } else if let Some(rest) = line.strip_prefix("inline ") {
            let name = rest.split('(').next().unwrap().rsplit(' ').next().unwrap();
            names.insert(name.to_owned());
        } else if line.starts_with("    ") && !line.starts_with("     ") && !owner.is_empty() {
            let declarator = line.split(['(', ';']).next().unwrap().trim_end();
            let name = declarator.rsplit([' ', '&', '*']).next().unwrap();
            names.insert(format!("{owner}::{name}"));
        }
    }
    names
}

/// Public classes, functions, constants, methods and properties (`Class.method`) of the stub.
fn python_names(stub: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut owner = String::new();
    let mut in_text = false;
    for line in stub.lines() {
        let quotes = line.matches("\"\"\"").count();
        let is_text = in_text || line.trim_start().starts_with("\"\"\"");
        in_text ^= quotes % 2 == 1;
        if is_text {
            continue;
        }
        if let Some(rest) = line.strip_prefix("class ") {
            identifier(rest).clone_into(&mut owner);
            names.insert(owner.clone());
        } else if let Some(rest) = line.strip_prefix("def ") {
            names.insert(identifier(rest).to_owned());
            owner.clear();
        } else if let Some(rest) = line.strip_prefix("    def ") {
            names.insert(format!("{owner}.{}", identifier(rest)));
        } else if line.starts_with(|c: char| c.is_alphabetic())
            && (line.contains(": ") || line.contains(" = "))
        {
            names.insert(identifier(line).to_owned());
        } else if line.starts_with("    ") && !owner.is_empty() && line.contains(": ") {
            let name = identifier(&line[4..]);
            if !name.is_empty() {
                names.insert(format!("{owner}.{name}"));
            }
        }
    }
    let is_private = |part: &str| part.starts_with('_') && !part.starts_with("__");
    names.retain(|name| !name.split('.').any(is_private));
    names
}

/// Classes and methods (`Class.method`) of the wasm sources, with their names in JavaScript.
fn js_names(texts: &[String]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for text in texts {
        let (mut owner, mut name) = (String::new(), None);
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("pub struct ") {
                names.insert(identifier(rest).to_owned());
            } else if let Some(rest) = line.strip_prefix("impl ") {
                identifier(rest).clone_into(&mut owner);
            } else if let Some((_, rest)) = line.split_once("js_name = ") {
                name = Some(identifier(rest).to_owned());
            } else if let Some(method) = line.strip_prefix("    pub fn ") {
                let name = name.take().unwrap_or_else(|| identifier(method).to_owned());
                names.insert(format!("{owner}.{name}"));
            }
        }
    }
    names
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap().to_owned();
    words.fold(first, |all, word| {
        let (head, tail) = word.split_at(1);
        all + &head.to_uppercase() + tail
    })
}

/// Names in backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Everything that names are looked up in.
struct Languages {
    rust: BTreeSet<String>,
    exports: String,
    c: BTreeSet<String>,
    c_functions: BTreeSet<String>,
    cpp: BTreeSet<String>,
    python: BTreeSet<String>,
    stub: String,
    records: String,
    js: BTreeSet<String>,
    js_sources: String,
    json: String,
}

impl Languages {
    fn read() -> Self {
        let crates = [
            "feeler-runtime",
            "feeler-curves",
            "feeler-particles",
            "feeler-grains",
            "feeler-geom",
            "feeler-hierarchy",
            "feeler-import",
            "feeler-assembly",
            "feeler-mechanism",
            "feeler-pour",
            "feeler-tessellation",
            "feeler-view",
        ];
        let (c, c_functions) = c_names(&read("crates/feeler-capi/include/feeler.h"));
        let folder = "crates/feeler-python/python/feeler";
        let files = ["__init__.pyi", "_results.py", "_checks.py"];
        let stub = files.map(|file| read(&format!("{folder}/{file}"))).join("\n");
        let wasm = sources(&["feeler-wasm"]);
        Self {
            rust: rust_names(&sources(&crates)),
            exports: read("crates/feeler/src/lib.rs"),
            cpp: cpp_names(&read("crates/feeler-capi/include/feeler.hpp"), &c),
            c,
            c_functions,
            python: python_names(&stub),
            stub,
            records: read("crates/feeler-python/src/record.rs"),
            js: js_names(&wasm),
            js_sources: wasm.join("\n"),
            json: sources(&["feeler-cli"]).join("\n"),
        }
    }

    /// Whether a name exists in the language of a column.
    fn has(&self, column: &Column<'_>, name: &str) -> bool {
        let full = column.full(name);
        match column.language {
            "Rust" => {
                let parts: Vec<&str> = full.split("::").collect();
                let item = parts[parts.len().saturating_sub(2)..].join("::");
                let is_exported = |part: &str| {
                    self.exports.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == part)
                };
                if parts[0].starts_with(char::is_lowercase) && parts.len() == 2 {
                    is_exported(parts[0]) && self.rust.contains(parts[1])
                } else if parts.len() == 1 {
                    is_exported(&full) && self.rust.contains(&full) || is_exported(&full) && full == "Pose"
                } else {
                    self.rust.contains(&item)
                }
            }
            "C" => self.c.contains(&full),
            "C, C++" => self.c.contains(&full),
            // A constructor has the name of its class.
            "C++" => {
                self.cpp.contains(&full)
                    || full.split_once("::").is_some_and(|(a, b)| a == b && self.cpp.contains(a))
            }
            "Python" if column.prefix.ends_with("_dtype.") => {
                let member = full.rsplit('.').next().unwrap();
                self.records.contains(&format!("(\"{member}\","))
            }
            "Python keyword" => {
                self.stub.lines().any(|line| line.trim_start().starts_with(&format!("{name}: ")))
            }
            "Python" => self.python.contains(&full),
            "JavaScript" => {
                self.js.contains(&full) || {
                    let (owner, method) = full.split_once('.').unwrap_or(("", &full));
                    self.js.contains(&format!("{owner}.{}", camel_case(method)))
                }
            }
            "JavaScript member" => {
                self.js_sources.contains(&format!("(\"{name}\","))
                    || self.js_sources.contains(&format!("\"{name}\" =>"))
            }
            "JSON" => {
                self.json.contains(&format!("\"{name}\":")) || self.json.contains(&format!("[\"{name}\"]"))
            }
            other => panic!("no language '{other}'"),
        }
    }
}

/// A column of a table: a language, and the prefix of its names.
struct Column<'a> {
    language: &'a str,
    prefix: &'a str,
}

impl<'a> Column<'a> {
    /// The column of a header, for example ``C++ `Model::` ``.
    fn of(header: &'a str) -> Self {
        let (language, prefix) = header.split_once('`').unwrap_or((header, ""));
        Self { language: language.trim(), prefix: prefix.trim_end_matches('`') }
    }

    /// A name with the prefix of the column, unless it has one of its own.
    fn full(&self, name: &str) -> String {
        let is_full = name.contains("::")
            || name.contains('.')
            || name.starts_with("feeler_")
            || name.starts_with("Feeler")
            || name.starts_with(char::is_uppercase) && !self.prefix.is_empty() && self.prefix != "Feeler";
        if is_full { name.to_owned() } else { format!("{}{name}", self.prefix) }
    }
}

#[test]
fn every_thing_has_the_same_name_in_every_language() {
    let document = read("docs/BINDINGS.md");
    let (_, section) =
        document.split_once("## Names in each language").expect("docs/BINDINGS.md has the section");
    let (tables, alone) =
        section.split_once("### In one language only").expect("the section ends with a list");
    let languages = Languages::read();
    let mut errors = Vec::new();
    let mut named: BTreeSet<(String, String)> = BTreeSet::new();
    let mut columns: Vec<Column<'_>> = Vec::new();
    for line in tables.lines() {
        let Some(row) = line.strip_prefix("| ") else { continue };
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        if cells[0] == "name" {
            columns = cells[1..].iter().map(|cell| Column::of(cell)).collect();
            continue;
        }
        if cells.len() != columns.len() + 1 {
            errors.push(format!("{line}: {} cells, {} columns", cells.len(), columns.len() + 1));
            continue;
        }
        for (column, cell) in columns.iter().zip(&cells[1..]) {
            let names = if *cell == "same" { quoted(cells[0]) } else { quoted(cell) };
            if names.is_empty() && *cell == "same" {
                errors.push(format!("{line}: 'same' as no name"));
            }
            for name in names {
                if !languages.has(column, name) {
                    errors.push(format!("{}: no {}", column.language, column.full(name)));
                }
                named.insert((column.language.to_owned(), column.full(name)));
            }
        }
    }
    // A name in the list may have one `*`.
    let patterns = quoted(alone);
    let is_listed = |name: &str| {
        let owner = name.split('.').next().unwrap();
        patterns.iter().any(|pattern| match pattern.split_once('*') {
            Some((start, end)) => name.starts_with(start) && name.ends_with(end),
            None => *pattern == name || *pattern == owner,
        })
    };
    let has_row = |language: &str, name: &str| named.contains(&(language.to_owned(), name.to_owned()));
    for function in &languages.c_functions {
        if !has_row("C", function) && !is_listed(function) {
            errors.push(format!("C: {function} has no row"));
        }
    }
    for name in &languages.python {
        let is_special = name.contains("__") || name == "Pose" || name.ends_with("Status");
        if !has_row("Python", name) && !is_listed(name) && !is_special {
            errors.push(format!("Python: {name} has no row"));
        }
    }
    for pattern in patterns {
        let is_used = match pattern.split_once('*') {
            Some((start, end)) => {
                languages.c_functions.iter().any(|f| f.starts_with(start) && f.ends_with(end))
            }
            None => {
                languages.c_functions.contains(pattern)
                    || languages.python.contains(pattern)
                    || ["feeler.lammps", "particles", "grains", "deformable", "feeler-deformable", "Result"]
                        .contains(&pattern)
            }
        };
        if !is_used {
            errors.push(format!("the list names {pattern}, which does not exist"));
        }
    }
    assert!(errors.is_empty(), "docs/BINDINGS.md, \"Names in each language\":\n{}", errors.join("\n"));
}
