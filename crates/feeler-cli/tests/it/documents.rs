//! The commands of the README and of the guide do what these documents say, and the options of the interface
//! are those of the program.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "test code")]

use crate::common::{data, feeler};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

/// Command that runs the program from the sources.
const PROGRAM: &str = "cargo run --release -- ";

/// Fenced block of a document.
struct Block {
    /// Number of the first line of the block in the document.
    line: usize,
    /// Word after the opening fence; empty for output of the program.
    language: String,
    text: String,
}

fn document(name: &str) -> String {
    std::fs::read_to_string(data("..").join(name)).unwrap()
}

fn blocks(document: &str) -> Vec<Block> {
    let mut out = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((k, line)) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else { continue };
        let indent = line.len() - line.trim_start().len();
        let text: Vec<&str> = lines
            .by_ref()
            .map(|(_, l)| l.get(indent..).unwrap_or_default())
            .take_while(|l| !l.starts_with("```"))
            .collect();
        out.push(Block { line: k + 2, language: language.to_owned(), text: text.join("\n") });
    }
    out
}

/// Temporary folder with a link to `data`, in which the commands of a document can run.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(data("").canonicalize().unwrap(), folder.path().join("data")).unwrap();
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs lines of a shell. `feeler`, and commands that run it by cargo, run the program that is
    /// tested.
    fn run(&self, script: &str) -> Output {
        let script = script.replace(PROGRAM, "feeler ");
        let function = "feeler() { \"$FEELER\" \"$@\"; }\n";
        Command::new("bash")
            .args(["-c", &format!("{function}{script}")])
            .current_dir(self.path())
            .env("FEELER", env!("CARGO_BIN_EXE_feeler"))
            .output()
            .unwrap()
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Commands of a block of a shell, with their continuation lines and here-documents.
fn commands(block: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut ends_with = None;
    for line in block.lines() {
        let continues = out.last().is_some_and(|last: &String| last.ends_with('\\')) || ends_with.is_some();
        if ends_with.as_deref() == Some(line) {
            ends_with = None;
        }
        if let Some((_, word)) = line.split_once("<<") {
            ends_with = Some(word.trim().trim_matches('\'').to_owned());
        }
        match out.last_mut() {
            Some(last) if continues => *last = format!("{last}\n{line}"),
            _ if line.trim().is_empty() || line.starts_with('#') => {}
            _ => out.push(line.to_owned()),
        }
    }
    out
}

/// Whether a line that a document shows is one that the program prints, up to durations and rounding. A final
/// word `...` stands for the rest of the line.
fn is_same_line(shown: &str, printed: &str) -> bool {
    let (a, b): (Vec<_>, Vec<_>) = (shown.split_whitespace().collect(), printed.split_whitespace().collect());
    let number = |w: &str| w.trim_matches(|c| "(),:".contains(c)).parse::<f64>().ok();
    // A time with its unit in parentheses, or the column before the output of `preprocess`.
    let is_duration = |words: &[&str], k: usize| {
        let next = words.get(k + 1).copied().unwrap_or_default();
        (words[k].starts_with('(') && ["ms)", "s)"].contains(&next)) || next.starts_with("prepared/")
    };
    for (k, word) in a.iter().enumerate() {
        if *word == "..." && k + 1 == a.len() {
            return true;
        }
        let Some(other) = b.get(k) else { return false };
        let is_near = match (number(word), number(other)) {
            (Some(x), Some(y)) => (x - y).abs() <= 1e-5 * x.abs().max(1.0),
            _ => word == other,
        };
        let are_durations = is_duration(&a, k) && is_duration(&b, k);
        if !is_near && !are_durations {
            return false;
        }
    }
    a.len() == b.len()
}

/// First line that a document shows but the program does not print at that position. A line `...` of the
/// document stands for any lines.
fn difference(shown: &str, printed: &str) -> Option<String> {
    let mut printed = printed.lines();
    let mut skips = false;
    for line in shown.lines() {
        if line == "..." {
            skips = true;
            continue;
        }
        let next = if skips { printed.find(|p| is_same_line(line, p)) } else { printed.next() };
        skips = false;
        if !next.is_some_and(|p| is_same_line(line, p)) {
            return Some(format!("{line}\nprinted: {}", next.unwrap_or("nothing that is the same")));
        }
    }
    None
}

/// Exit status that the text around a command announces; 0 for all other commands.
fn expected_status(command: &str) -> i32 {
    let announced = [
        // One assembly of the data refers to a part that is missing on purpose.
        ("preprocess data", 1),
        // One of the damaged files is refused.
        ("preprocess damaged --html", 1),
        ("--rules rules.toml", 1),
        ("--bless", 0),
        ("--baseline known.json", 0),
        ("--curves", 1),
        ("--volume", 1),
        ("--penetration", 1),
        ("diff ", 1),
    ];
    let last = announced.iter().rfind(|(words, _)| command.contains(words));
    last.map_or(0, |(_, status)| *status)
}

/// Runs all commands of a document in order; returns their number.
fn run_commands(name: &str, folder: &Folder) -> usize {
    let mut count = 0;
    for block in blocks(&document(name)) {
        let place = |command: &str| format!("{name}:{}: {command}", block.line);
        if let Some(file) = block.text.lines().next().and_then(|l| l.strip_prefix("# "))
            && block.language == "toml"
        {
            std::fs::write(folder.path().join(file), &block.text).unwrap();
        } else if block.language == "sh" {
            for command in commands(&block.text) {
                // Builds, tests and examples are compiled with the tests.
                let is_program = !command.starts_with("cargo ") || command.starts_with(PROGRAM);
                if !is_program || command.starts_with("alias ") {
                    continue;
                }
                let done = folder.run(&command);
                assert_eq!(
                    done.status.code(),
                    Some(expected_status(&command)),
                    "{}\n{}",
                    place(&command),
                    text(&done)
                );
                count += 1;
            }
        } else if let Some((command, shown)) = block.text.strip_prefix("$ ").and_then(|t| t.split_once('\n'))
        {
            let done = folder.run(command);
            assert_eq!(
                done.status.code(),
                Some(expected_status(command)),
                "{}\n{}",
                place(command),
                text(&done)
            );
            let printed = if command.contains("diff ") || command.contains("preprocess damaged") {
                text(&done)
            } else {
                String::from_utf8_lossy(&done.stdout).into_owned()
            };
            assert_eq!(difference(shown, &printed), None, "{}\n{printed}", place(command));
            count += 1;
        }
    }
    count
}

#[test]
fn commands_of_the_readme_run() {
    let folder = Folder::new();
    assert!(run_commands("README.md", &folder) >= 7);
    // The first output in the document is that of its first command.
    let readme = document("README.md");
    let all = blocks(&readme);
    let command = commands(&all.iter().find(|b| b.language == "sh").unwrap().text).remove(0);
    let shown = &all.iter().find(|b| b.language.is_empty()).unwrap().text;
    let printed = String::from_utf8(folder.run(&command).stdout).unwrap();
    assert_eq!(difference(shown, &printed), None, "{printed}");
}

#[test]
fn commands_of_the_guide_run() {
    let folder = Folder::new();
    // The guide expects the reader to have these files.
    let parts = folder.path().join("parts");
    std::fs::create_dir(&parts).unwrap();
    for f in ["socket.step", "plug.step"] {
        std::fs::copy(data(f), parts.join(f)).unwrap();
    }
    let pose = r#"{"unit": "mm", "dt": 0.1, "poses_b": [[0,0,1,0,0,0,1], [0,0,0.1,0,0,0,1]]}"#;
    std::fs::write(folder.path().join("insertion.json"), pose).unwrap();
    assert!(run_commands("docs/GUIDE.md", &folder) >= 20);
}

/// Long options of a command, according to its `--help`.
fn options_of_program(command: &str) -> BTreeSet<String> {
    let help = String::from_utf8(feeler(&[command, "--help"]).stdout).unwrap();
    let options = help.lines().map(str::trim_start).filter(|l| l.starts_with('-'));
    options
        .filter_map(|l| l.split([' ', ',']).find(|w| w.starts_with("--")))
        .map(|w| w.trim_end_matches("...").split('[').next().unwrap_or(w).to_owned())
        .collect()
}

#[test]
fn options_of_the_interface_are_those_of_the_program() {
    let interface = document("docs/INTERFACE.md");
    let mut documented: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut of: Vec<String> = Vec::new();
    for line in interface.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            of = heading.split(" and ").map(str::to_owned).collect();
        } else if line.starts_with("## ") {
            of.clear();
        }
        let Some(cell) = line.strip_prefix("| ").and_then(|l| l.split(" | ").next()) else { continue };
        // A row of `query and sweep` may name the one command that has the option.
        let only = of.iter().filter(|c| line.contains(&format!("(`{c}`)"))).cloned().collect::<Vec<_>>();
        for option in cell.split(['`', ' ', ',', '=']).filter(|w| w.starts_with("--")) {
            for command in if only.is_empty() { &of } else { &only } {
                documented.entry(command.clone()).or_default().insert(option.to_owned());
            }
        }
    }
    assert_eq!(documented.len(), 11, "{:?}", documented.keys());
    // Options of all commands are described once, before the tables.
    let common = ["--color", "--help", "--version"].map(str::to_owned);
    for (command, documented) in documented {
        let mut program = options_of_program(&command);
        program.retain(|o| !common.contains(o));
        let missing: Vec<_> = program.difference(&documented).collect();
        let unknown: Vec<_> = documented.difference(&program).collect();
        assert!(
            missing.is_empty() && unknown.is_empty(),
            "{command}: not documented: {missing:?}; not in the program: {unknown:?}"
        );
    }
}

#[test]
fn differences_are_found() {
    assert!(is_same_line("a 1.000000001 (3.1 ms)", "a 1.000000002 (4 ms)"));
    assert!(!is_same_line("a 1.0001", "a 1.0002") && !is_same_line("a b", "a b c"));
    assert!(is_same_line("block  ...", "block and more"));
    assert_eq!(difference("a\n...\nc", "a\nb\nc\nd"), None);
    assert!(difference("a\n...\nx", "a\nb\nc").is_some() && difference("b", "a\nb").is_some());
}
