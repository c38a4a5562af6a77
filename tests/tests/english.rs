//! Language of comments, messages and documents: openings, verbs and phrases that are not standard technical
//! English do not occur, apart from the justified exceptions of `english_exceptions.txt`.

use std::fs;
use std::path::{Path, PathBuf};

/// First words with which a doc comment must not begin.
const OPENINGS: [&str; 9] = ["What", "Of", "The same", "As", "On", "In", "Where", "Both", "How far"];

/// Phrases, as sequences of words, with the words that excuse them when they follow or precede.
const PHRASES: [&str; 31] = [
    "tell",
    "tells",
    "told",
    "telling",
    "ask",
    "asks",
    "asked",
    "asking",
    "judge",
    "judges",
    "judged",
    "mend",
    "mends",
    "mended",
    "goes on",
    "go on",
    "going on",
    "went on",
    "is none",
    "are none",
    "was none",
    "were none",
    "tells nothing",
    "of no use",
    "of use",
    "how far",
    "by how much",
    "as many as",
    "is no",
    "are no",
    "is of no",
];

/// Words after "is no" and "are no" that make standard English of them.
const COMPARATIVES: [&str; 12] = [
    "longer", "more", "less", "smaller", "larger", "greater", "deeper", "farther", "further", "better",
    "worse", "later",
];

/// Maximum number of exceptions; it only decreases.
const MAX_EXCEPTIONS: usize = 50;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests is in the workspace").to_path_buf()
}

/// A line of prose: its number, its text, and whether it begins a doc comment.
struct Prose {
    line: usize,
    text: String,
    begins_doc: bool,
}

/// Comments and string literals of a Rust source.
fn prose_of_rust(source: &str) -> Vec<Prose> {
    let mut out = Vec::new();
    let mut was_doc = false;
    for (k, line) in source.lines().enumerate() {
        let trimmed = line.trim_start();
        let doc = trimmed.strip_prefix("///").or_else(|| trimmed.strip_prefix("//!"));
        if let Some(text) = doc {
            let prose = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
            out.push(Prose { line: k + 1, text: prose.trim().to_owned(), begins_doc: !was_doc });
            was_doc = true;
            continue;
        }
        was_doc = false;
        let (mut code, mut literal, mut texts) = (true, String::new(), Vec::new());
        let mut chars = trimmed.chars().peekable();
        while let Some(c) = chars.next() {
            if code && c == '/' && chars.peek() == Some(&'/') {
                texts.push(chars.skip(1).collect());
                break;
            }
            match (code, c) {
                (true, '"') => code = false,
                (false, '"') => {
                    code = true;
                    texts.push(std::mem::take(&mut literal));
                }
                (false, '\\') => {
                    chars.next();
                    literal.push(' ');
                }
                (false, c) => literal.push(c),
                _ => {}
            }
        }
        // A literal of several lines ends later.
        texts.push(literal);
        let texts = texts.into_iter().filter(|t: &String| t.trim().contains(' '));
        out.extend(texts.map(|text| Prose { line: k + 1, text, begins_doc: false }));
    }
    out
}

/// Lines of a Markdown document outside blocks of code, without inline code and targets of links.
fn prose_of_markdown(source: &str) -> Vec<Prose> {
    let mut out = Vec::new();
    let mut is_code = false;
    for (k, line) in source.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !line.starts_with("    ") {
            let text = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
            out.push(Prose { line: k + 1, text, begins_doc: false });
        }
    }
    out
}

/// Comments of a script, a C or a JavaScript source.
fn prose_of_comments(source: &str, marks: &[&str]) -> Vec<Prose> {
    let mut out = Vec::new();
    let mut is_block = false;
    for (k, line) in source.lines().enumerate() {
        let begins =
            line.contains("/*") && !line.contains("*/") || line.matches("\"\"\"").count() == 1 && !is_block;
        let ends = line.contains("*/") || line.matches("\"\"\"").count() == 1 && is_block;
        let comment = marks.iter().filter_map(|m| line.split_once(m).map(|(_, text)| text)).next();
        let whole = is_block || begins || ends || line.contains("\"\"\"");
        if let Some(text) = if whole { Some(line) } else { comment } {
            out.push(Prose { line: k + 1, text: text.to_owned(), begins_doc: false });
        }
        is_block = (is_block || begins) && !ends;
    }
    out
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && name != "assets" && !name.starts_with('.') {
                files(&path, out);
            }
        } else {
            out.push(path);
        }
    }
}

/// Words of a text in lower case; punctuation separates phrases.
fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for word in text.split_whitespace() {
        let bare: String = word.chars().filter(|c| c.is_alphanumeric() || *c == '_' || *c == '-').collect();
        out.push(bare.to_lowercase());
        if word.ends_with([',', '.', ';', ':', ')']) {
            out.push(String::new());
        }
    }
    out
}

/// Phrase of the list that a text contains, if any.
fn phrase_in(text: &str) -> Option<&'static str> {
    let words = words(text);
    PHRASES.into_iter().find(|phrase| {
        let wanted: Vec<&str> = phrase.split(' ').collect();
        words.windows(wanted.len()).enumerate().any(|(k, window)| {
            let negates = phrase.contains(" no");
            let after = words.get(k + wanted.len()).map_or("", String::as_str);
            let before = k.checked_sub(1).and_then(|k| words.get(k)).map_or("", String::as_str);
            let is_standard =
                negates && (COMPARATIVES.contains(&after) || ["there", "here"].contains(&before));
            window == wanted && !is_standard
        })
    })
}

/// Exceptions: `path: words of the line: reason`.
fn exceptions() -> Vec<(String, String)> {
    let list = fs::read_to_string(root().join("tests/tests/english_exceptions.txt")).expect("the exceptions");
    let lines = list.lines().filter(|l| !l.starts_with('#') && !l.is_empty());
    let parts = lines.map(|l| l.splitn(3, ": ").map(str::to_owned).collect::<Vec<_>>());
    parts
        .map(|p| match p.as_slice() {
            [path, text, reason] if !reason.is_empty() => (path.clone(), text.clone()),
            _ => panic!("an exception is `path: words of the line: reason`, not {p:?}"),
        })
        .collect()
}

#[test]
fn comments_messages_and_documents_use_standard_english() {
    let exceptions = exceptions();
    assert!(exceptions.len() <= MAX_EXCEPTIONS, "{} exceptions", exceptions.len());
    let mut all = vec![root().join("README.md"), root().join("CHANGELOG.md")];
    ["crates", "tests", "benches", "docs", "tools", "fuzz", "data"]
        .iter()
        .for_each(|f| files(&root().join(f), &mut all));
    all.sort();
    let (mut wrong, mut used, mut lines) = (Vec::new(), vec![false; exceptions.len()], 0);
    for path in all {
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let name = path.strip_prefix(root()).expect("inside").to_string_lossy().into_owned();
        // The rules themselves, and the record of earlier versions.
        if name.ends_with("tests/english.rs") || name.starts_with("benches/runs/") {
            continue;
        }
        let read = || fs::read_to_string(&path).unwrap_or_default();
        let prose = match extension {
            "rs" => prose_of_rust(&read()),
            "md" => prose_of_markdown(&read()),
            "py" | "pyi" | "sh" | "toml" => prose_of_comments(&read(), &["# "]),
            "c" | "h" | "hpp" | "cpp" | "js" | "ts" => prose_of_comments(&read(), &["// "]),
            _ => continue,
        };
        for Prose { line, text, begins_doc } in prose {
            lines += 1;
            let is_opening = |o: &&str| text.strip_prefix(*o).is_some_and(|t| t.starts_with([' ', ',', ':']));
            let opening = OPENINGS.into_iter().find(|o| begins_doc && is_opening(o));
            let Some(found) = opening.or_else(|| phrase_in(&text)) else { continue };
            match exceptions.iter().position(|(file, words)| *file == name && text.contains(words.as_str())) {
                Some(k) => used[k] = true,
                None => wrong.push(format!("{name}:{line}: {found:?}: {}", text.trim())),
            }
        }
    }
    let unused: Vec<_> = exceptions.iter().zip(used).filter(|(_, used)| !used).map(|(e, _)| e).collect();
    assert!(lines > 20_000, "only {lines} lines of prose were found");
    assert!(wrong.is_empty(), "{} lines:\n{}", wrong.len(), wrong.join("\n"));
    assert!(unused.is_empty(), "exceptions that no line needs: {unused:?}");
}

#[test]
fn the_rules_find_what_they_are_for() {
    let found = |text: &str| prose_of_rust(text).iter().find_map(|p| phrase_in(&p.text));
    assert_eq!(found("// The tree is asked for it."), Some("asked"));
    assert_eq!(found("let x = \"this is no file\";"), Some("is no"));
    assert_eq!(found("let x = \"a line \\\" is none of it\";"), Some("is none"));
    for good in [
        "// There is no file.",
        "// It is no longer valid.",
        "let asked = 1;",
        "// `told`, the name is none_left",
    ] {
        assert_eq!(found(good).filter(|_| !good.contains('`')), None, "{good}");
    }
    assert!(
        prose_of_rust("/// What is x.\nfn x() {}")
            .iter()
            .any(|p| p.begins_doc && p.text.starts_with("What "))
    );
    assert_eq!(prose_of_markdown("```\nasked\n```\n`asked` text").len(), 1);
}
