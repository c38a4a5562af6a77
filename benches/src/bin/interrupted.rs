//! Kills the preparation of a folder at random moments and compares the final result with that of an
//! uninterrupted run:
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin interrupted -- FOLDER [--kills N] [--jobs N]
//! ```
//!
//! Each attempt except the last one is killed (SIGKILL) at a random moment of its expected time. After
//! each kill all `.feeler` files must be complete; after the last attempt, names and bytes must be those
//! of the uninterrupted run.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use clap::Parser as _;
use feeler_benches::Fallible;
use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// First argument of the processes that this program starts and kills.
const WORKER: &str = "--worker";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    if args.get(1).is_some_and(|a| a == WORKER) {
        let line = std::iter::once("feeler".to_owned()).chain(args.into_iter().skip(2));
        let cli = feeler_cli::args::Cli::parse_from(line);
        let outcome = feeler_cli::run(&cli.command, &mut std::io::sink(), &mut std::io::sink());
        return outcome.map_or(ExitCode::from(2), Into::into);
    }
    let number = |name: &str, default: usize| {
        let value = args.iter().position(|a| a == name).and_then(|i| args.get(i + 1));
        value.and_then(|v| v.parse().ok()).unwrap_or(default)
    };
    let Some(folder) = args.get(1) else {
        eprintln!("an argument is needed: a folder of STEP files");
        return ExitCode::from(2);
    };
    match campaign(Path::new(folder), number("--kills", 20), number("--jobs", 2)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::from(1)
        }
    }
}

fn campaign(input: &Path, kills: usize, jobs: usize) -> Fallible<()> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let (undisturbed, output) = (dir.path().join("undisturbed"), dir.path().join("out"));
    let clock = Instant::now();
    let status = start(input, &undisturbed, jobs)?.wait().map_err(|e| e.to_string())?;
    let whole = clock.elapsed().as_secs_f64();
    let expected = listing(&undisturbed)?;
    println!("undisturbed: {} files in {whole:.1} s, {status}", expected.len());
    let mut rng = SmallRng::seed_from_u64(20);
    let mut killed = 0;
    let mut attempts = 0;
    // Several kills interrupt the work on one folder, and some occur late enough to interrupt its largest
    // files.
    while killed < kills {
        attempts += 1;
        if attempts > 4 * kills {
            return Err("the runs end before they can be killed; use a larger folder".to_owned());
        }
        let mut child = start(input, &output, jobs)?;
        std::thread::sleep(Duration::from_secs_f64(rng.random_range(0.0..whole)));
        child.kill().map_err(|e| e.to_string())?;
        if child.wait().map_err(|e| e.to_string())?.code().is_some() {
            // The run ended before it was killed; start again, because otherwise no work is left to be
            // interrupted.
            std::fs::remove_dir_all(&output).map_err(|e| e.to_string())?;
            continue;
        }
        killed += 1;
        let files = listing(&output)?;
        let is_whole = |name: &Path| name.extension().is_some_and(|e| e == "feeler");
        let left = files.keys().filter(|n| !is_whole(n)).count();
        for (name, bytes) in files.iter().filter(|(n, _)| is_whole(n)) {
            feeler_hierarchy::file::decode(bytes).map_err(|e| format!("{}: {e}", name.display()))?;
        }
        println!("kill {killed}: {} whole files, {left} temporary ones", files.len() - left);
    }
    let status = start(input, &output, jobs)?.wait().map_err(|e| e.to_string())?;
    let got = listing(&output)?;
    println!("finished: {} files, {status}", got.len());
    if got == expected {
        println!("names and bytes are those of the undisturbed run");
        return Ok(());
    }
    let names = expected.keys().chain(got.keys());
    let differing = names.filter(|n| expected.get(*n) != got.get(*n)).map(|n| n.display().to_string());
    Err(format!("different: {}", differing.collect::<Vec<_>>().join(", ")))
}

fn start(input: &Path, output: &Path, jobs: usize) -> Fallible<Child> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    Command::new(program)
        .args([WORKER, "preprocess", "--quiet", "--jobs"])
        .arg(jobs.to_string())
        .arg("-o")
        .args([output, input])
        .stdin(Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())
}

/// All files below a folder, by relative path, with their bytes.
fn listing(folder: &Path) -> Fallible<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(f) = folders.pop() {
        // The run was killed before it made this folder.
        let Ok(entries) = std::fs::read_dir(&f) else { continue };
        for entry in entries {
            let path = entry.map_err(|e| e.to_string())?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = std::fs::read(&path).map_err(|e| e.to_string())?;
                files.insert(path, bytes);
            }
        }
    }
    let relative = |p: PathBuf| p.strip_prefix(folder).map(Path::to_owned).unwrap_or(p);
    Ok(files.into_iter().map(|(p, bytes)| (relative(p), bytes)).collect())
}
