//! Dependencies between modules and crates: modules of a crate have no circular dependencies, modules of the
//! runtime use lower layers only, and no crate uses one that the code map (`crates/README.md`) excludes.
//!
//! All paths that begin with `crate`, `super` or `self` are read, in `use` lines and elsewhere. Re-exports
//! are resolved and unit tests skipped. A child module may use items of its parents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Path of a module within its crate.
type Module = Vec<String>;

struct Token {
    text: String,
    line: usize,
}

struct Source {
    file: PathBuf,
    tokens: Vec<Token>,
}

/// Use of an item of module `to` in module `from`.
struct Arrow {
    from: Module,
    to: Module,
    place: String,
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests is in the workspace").join("crates")
}

/// Identifiers and punctuation, without comments and literals.
fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut out = Vec::new();
    let (mut i, mut line) = (0, 1);
    let starts = |i: usize, what: &str| what.chars().enumerate().all(|(k, c)| chars.get(i + k) == Some(&c));
    while i < chars.len() {
        let c = chars[i];
        let begin = i;
        if c.is_whitespace() {
            i += 1;
        } else if starts(i, "//") {
            while i < chars.len() && chars[i] != '\n' {
                i += 1;
            }
        } else if starts(i, "/*") {
            while i < chars.len() && !starts(i, "*/") {
                i += 1;
            }
            i += 2;
        } else if c == '"' {
            i += 1;
            while i < chars.len() && chars[i] != '"' {
                i += if chars[i] == '\\' { 2 } else { 1 };
            }
            i += 1;
        } else if c == '\'' && (chars.get(i + 1) == Some(&'\\') || chars.get(i + 2) == Some(&'\'')) {
            i += 2;
            while i < chars.len() && chars[i] != '\'' {
                i += 1;
            }
            i += 1;
        } else if c.is_alphanumeric() || c == '_' {
            while i < chars.len() && (chars[i].is_alphanumeric() || chars[i] == '_') {
                i += 1;
            }
            out.push(Token { text: chars[begin..i].iter().collect(), line });
        } else {
            let wide = if starts(i, "::") { 2 } else { 1 };
            i += wide;
            out.push(Token { text: chars[begin..i].iter().collect(), line });
        }
        line += chars[begin..i.min(chars.len())].iter().filter(|c| **c == '\n').count();
    }
    out
}

/// Tokens without the items marked `#[cfg(test)]`.
fn without_tests(all: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut rest = all.into_iter().peekable();
    while let Some(token) = rest.next() {
        out.push(token);
        let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
        let n = out.len();
        if n < mark.len() || !out[n - mark.len()..].iter().zip(mark).all(|(t, m)| t.text == m) {
            continue;
        }
        out.truncate(n - mark.len());
        let mut depth = 0;
        for token in rest.by_ref() {
            depth += i32::from(token.text == "{") - i32::from(token.text == "}");
            if depth == 0 && (token.text == "}" || token.text == ";") {
                break;
            }
        }
    }
    out
}

/// Modules of a crate with their sources.
fn modules(root: &Path) -> BTreeMap<Module, Source> {
    let mut out = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|e| e != "rs") {
                continue;
            }
            let relative = path.strip_prefix(root).expect("inside").with_extension("");
            let mut names: Module =
                relative.iter().map(|n| n.to_str().expect("a plain name").to_string()).collect();
            if names.last().is_some_and(|n| ["mod", "lib", "main"].contains(&n.as_str())) {
                names.pop();
            }
            if names.iter().any(|n| n == "tests") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source");
            out.insert(names, Source { file: path, tokens: without_tests(tokens(&text)) });
        }
    }
    out
}

/// Paths of one `use` declaration and its number of tokens; `tokens` begins after the keyword.
fn paths_of_use(tokens: &[Token]) -> (Vec<Vec<String>>, usize) {
    let (mut out, mut path): (Vec<Vec<String>>, Vec<String>) = (Vec::new(), Vec::new());
    let mut open: Vec<usize> = Vec::new();
    let mut renamed = false;
    for (k, token) in tokens.iter().enumerate() {
        let end = |out: &mut Vec<Vec<String>>, path: &[String], open: &[usize]| {
            if path.len() > open.last().copied().unwrap_or(0) {
                out.push(path.to_vec());
            }
        };
        match token.text.as_str() {
            "::" => {}
            "{" => open.push(path.len()),
            "," | "}" | ";" => {
                end(&mut out, &path, &open);
                renamed = false;
                path.truncate(open.last().copied().unwrap_or(0));
                match token.text.as_str() {
                    "}" => {
                        open.pop();
                        // The separator after a group does not end a path of its own.
                        path.truncate(open.last().copied().unwrap_or(0));
                    }
                    ";" => return (out, k + 1),
                    _ => {}
                }
            }
            "as" => renamed = true,
            _ if renamed => {}
            word => path.push(word.to_string()),
        }
    }
    (out, tokens.len())
}

/// Path relative to the crate root; `None` for a path that does not begin with `crate`, `super` or `self`.
fn from_root(module: &Module, path: &[String]) -> Option<Module> {
    let mut here = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "super" | "self" => module.clone(),
        _ => return None,
    };
    for word in path.iter().skip(usize::from(path[0] == "crate")) {
        match word.as_str() {
            "super" => {
                here.pop();
            }
            "self" | "*" => {}
            name => here.push(name.to_string()),
        }
    }
    Some(here)
}

/// Dependencies between the modules of a crate, and the other feeler crates that its modules use.
fn read(root: &Path) -> (Vec<Arrow>, BTreeMap<String, String>) {
    let modules = modules(root);
    let mut named: Vec<(Module, Module, String)> = Vec::new();
    let mut exported: BTreeMap<Module, Module> = BTreeMap::new();
    let mut foreign = BTreeMap::new();
    for (module, source) in &modules {
        let tokens = &source.tokens;
        let place = |k: usize| format!("{}:{}", source.file.display(), tokens[k].line);
        let mut k = 0;
        while k < tokens.len() {
            let word = tokens[k].text.as_str();
            if word.starts_with("feeler_") {
                foreign.entry(word.to_string()).or_insert_with(|| place(k));
            }
            if word == "use" {
                let is_public = k > 0 && ["pub", ")"].contains(&tokens[k - 1].text.as_str());
                let (paths, taken) = paths_of_use(&tokens[k + 1..]);
                for path in paths {
                    if let Some(crate_name) = path.first().filter(|w| w.starts_with("feeler_")) {
                        foreign.entry(crate_name.clone()).or_insert_with(|| place(k));
                    }
                    let whole = from_root(module, &path);
                    if let (true, Some(name)) = (is_public, path.last()) {
                        // Paths to child modules need no `self`.
                        let of_child = || [module.as_slice(), path.as_slice()].concat();
                        let to = whole.clone().unwrap_or_else(of_child);
                        exported.insert([module.as_slice(), std::slice::from_ref(name)].concat(), to);
                    }
                    named.extend(whole.map(|w| (module.clone(), w, place(k))));
                }
                k += taken + 1;
            } else if ["crate", "super", "self"].contains(&word)
                && tokens.get(k + 1).is_some_and(|t| t.text == "::")
            {
                let begin = k;
                let mut path = vec![word.to_string()];
                while tokens.get(k + 1).is_some_and(|t| t.text == "::")
                    && tokens.get(k + 2).is_some_and(|t| t.text.starts_with(|c: char| c.is_alphabetic()))
                {
                    path.push(tokens[k + 2].text.clone());
                    k += 2;
                }
                named.extend(from_root(module, &path).map(|w| (module.clone(), w, place(begin))));
                k += 1;
            } else {
                k += 1;
            }
        }
    }
    let arrows = named
        .into_iter()
        .filter_map(|(from, path, place)| {
            let to = resolved(&modules, &exported, path)?;
            (from != to && !from.starts_with(&to)).then_some(Arrow { from, to, place })
        })
        .collect();
    (arrows, foreign)
}

/// Module that defines the item of a path.
fn resolved(
    modules: &BTreeMap<Module, Source>,
    exported: &BTreeMap<Module, Module>,
    mut path: Module,
) -> Option<Module> {
    for _ in 0..6 {
        let depth = (0..=path.len()).rev().find(|n| modules.contains_key(&path[..*n]))?;
        let next = path.get(..=depth).and_then(|name| exported.get(name));
        match next {
            Some(to) if *to != path[..=depth] => path = [to.as_slice(), &path[depth + 1..]].concat(),
            _ => return Some(path[..depth].to_vec()),
        }
    }
    None
}

/// Circular dependencies among the children of each module, one line a dependency.
fn circles(arrows: &[Arrow]) -> Vec<String> {
    let mut siblings: BTreeMap<Module, BTreeMap<(String, String), &Arrow>> = BTreeMap::new();
    for arrow in arrows {
        let common = arrow.from.iter().zip(&arrow.to).take_while(|(a, b)| a == b).count();
        if let (Some(a), Some(b)) = (arrow.from.get(common), arrow.to.get(common)) {
            let between = siblings.entry(arrow.from[..common].to_vec()).or_default();
            between.entry((a.clone(), b.clone())).or_insert(arrow);
        }
    }
    let mut out = Vec::new();
    for between in siblings.values() {
        let mut reach: BTreeSet<(String, String)> = between.keys().cloned().collect();
        loop {
            let more: BTreeSet<(String, String)> = reach
                .iter()
                .flat_map(|(a, b)| {
                    let from_b = reach.iter().filter(move |(c, _)| c == b);
                    from_b.map(move |(_, d)| (a.clone(), d.clone()))
                })
                .filter(|pair| !reach.contains(pair))
                .collect();
            if more.is_empty() {
                break;
            }
            reach.extend(more);
        }
        for ((a, b), arrow) in between {
            if reach.contains(&(b.clone(), a.clone())) {
                out.push(format!("{}: {a} and {b} depend on each other", arrow.place));
            }
        }
    }
    out
}

/// Layers of the modules of feeler-runtime, from the top; a module may use only modules of lower rows.
const LAYERS: [&[&str]; 14] = [
    &["tracking"],
    &["report"],
    &["pair"],
    &["certify", "conformal", "step_set"],
    &["accept"],
    &["solve", "verdict", "minima"],
    &["footpoint"],
    &["query"],
    &["cull"],
    &["load"],
    &["nearest"],
    &["body"],
    &["profile", "api"],
    &["diagnostics"],
];

/// Maximum number of ordered pairs of runtime modules of which the first uses the second.
const MAX_DEPENDENCIES: usize = 85;

/// Crates that a crate must not use, as in the code map.
const NEVER: [(&str, &[&str]); 21] = [
    ("feeler-geom", &["convex", "brep", "step", "hierarchy", "prepare", "import", "runtime", "cli"]),
    ("feeler-convex", &["brep", "step", "hierarchy", "prepare", "runtime", "cli"]),
    ("feeler-brep", &["step", "hierarchy", "prepare", "runtime", "cli"]),
    ("feeler-step", &["hierarchy", "prepare", "runtime", "cli"]),
    ("feeler-stl", &["convex", "brep", "step", "hierarchy", "prepare", "import", "runtime", "cli"]),
    ("feeler-hierarchy", &["brep", "step", "prepare", "runtime", "cli"]),
    ("feeler-prepare", &["step", "runtime", "cli"]),
    ("feeler-runtime", &["brep", "step", "prepare", "cli"]),
    ("feeler-assembly", &["brep", "step", "prepare", "import", "cli"]),
    ("feeler-pour", &["brep", "step", "prepare", "cli"]),
    ("feeler-tessellation", &["brep", "step", "prepare", "import", "runtime", "particles", "cli"]),
    ("feeler-curves", &["brep", "step", "prepare", "import", "dynamics", "cli"]),
    ("feeler-grains", &["brep", "step", "prepare", "import", "dynamics", "curves", "particles", "cli"]),
    ("feeler-particles", &["brep", "step", "prepare", "import", "dynamics", "curves", "cli"]),
    ("feeler-dynamics", &["brep", "step", "prepare", "import", "cli"]),
    ("feeler-deformable", &["brep", "step", "prepare", "import", "runtime", "hierarchy", "dynamics", "cli"]),
    ("feeler-pieces", &["brep", "step", "prepare", "import", "runtime", "dynamics", "particles", "cli"]),
    ("feeler-rapier", &["brep", "step", "prepare", "import", "dynamics", "cli"]),
    ("feeler-import", &["assembly", "runtime", "cli"]),
    ("feeler", &["brep", "step", "prepare", "cli"]),
    ("feeler-cli", &[]),
];

fn sources_of(name: &str) -> PathBuf {
    crates().join(name).join("src")
}

#[test]
fn modules_have_no_circular_dependencies() {
    let mut wrong = Vec::new();
    let mut read_any = 0;
    for entry in std::fs::read_dir(crates()).expect("crates") {
        let root = entry.expect("an entry").path().join("src");
        if root.is_dir() {
            let (arrows, _) = read(&root);
            read_any += arrows.len();
            wrong.extend(circles(&arrows));
        }
    }
    assert!(read_any > 500, "only {read_any} dependencies found");
    assert!(wrong.is_empty(), "{} circular dependencies:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn runtime_modules_use_lower_layers_only() {
    let row = |name: &str| LAYERS.iter().position(|modules| modules.contains(&name));
    let (arrows, _) = read(&sources_of("feeler-runtime"));
    let mut wrong = Vec::new();
    let mut between = BTreeSet::new();
    for Arrow { from, to, place } in &arrows {
        let (Some(a), Some(b)) = (from.first(), to.first()) else { continue };
        if a == b {
            continue;
        }
        between.insert((a, b));
        match (row(a), row(b)) {
            (Some(high), Some(low)) if high < low => {}
            (Some(_), Some(_)) => wrong.push(format!("{place}: {a} uses {b}, which is not below it")),
            _ => wrong.push(format!("{place}: {a} or {b} is missing in LAYERS")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(between.len() <= MAX_DEPENDENCIES, "{} dependencies between modules", between.len());
}

/// Modules import from the module that defines an item, not through re-exports of the crate root.
#[test]
fn runtime_modules_do_not_import_through_the_crate_root() {
    let root = sources_of("feeler-runtime");
    let names: BTreeSet<Module> = modules(&root).into_keys().collect();
    let mut wrong = Vec::new();
    for (module, source) in modules(&root).iter().filter(|(module, _)| !module.is_empty()) {
        for (k, window) in source.tokens.windows(3).enumerate() {
            let [first, separator, item] = window else { continue };
            let is_path = first.text == "crate" && separator.text == "::";
            if is_path && item.text != "{" && !names.contains(&vec![item.text.clone()]) {
                wrong.push(format!("{}:{}: crate::{}", module.join("::"), source.tokens[k].line, item.text));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn crates_keep_to_the_code_map() {
    let mut wrong = Vec::new();
    for (name, never) in NEVER {
        let (_, foreign) = read(&sources_of(name));
        for other in never {
            if let Some(place) = foreign.get(&format!("feeler_{other}")) {
                wrong.push(format!("{place}: {name} must not use feeler-{other}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The parser of this test finds dependencies in code, and none in comments, literals and unit tests.
#[test]
fn planted_circles_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("lib.rs", "mod a;\nmod b;\nmod c;\npub use b::Thing;\n");
    write("a.rs", "use crate::{c, Thing}; // crate::b\nfn f(x: \"crate::c\") {}\n");
    write("b.rs", "pub struct Thing;\n#[cfg(test)]\nmod tests { use crate::a::f; }\n");
    write("c.rs", "fn g() {}\n");
    assert!(circles(&read(folder.path()).0).is_empty(), "tests and comments do not count");
    write("b.rs", "pub struct Thing;\nfn h() { super::a::f() }\n");
    let found = circles(&read(folder.path()).0);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().any(|line| line.contains("b.rs:2")), "{found:?}");
}
