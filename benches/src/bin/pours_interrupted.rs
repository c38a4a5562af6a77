//! Kills pours at random moments and compares the final files with those of uninterrupted runs:
//!
//! ```text
//! cargo run --profile dist -p feeler-benches --bin pours_interrupted -- [SCENE.toml…] [--kills N]
//! ```
//!
//! By default the scenes are those of `data/pour`. Each run except the last one is killed (SIGKILL) at a
//! random moment, and the next run resumes from the files that it finds. Finally all files must have the
//! names and bytes of the uninterrupted run. Exit status 1 if they have not, or a run could not resume.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports")]

use clap::Parser as _;
use feeler_benches::{Fallible, number_after};
use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// First argument of the processes that this program starts and kills.
const WORKER: &str = "--worker";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|a| a == WORKER) {
        let line = ["feeler", "pour", "-q"].map(str::to_owned).into_iter().chain(args.into_iter().skip(1));
        let cli = feeler_cli::args::Cli::parse_from(line);
        let outcome = feeler_cli::run(&cli.command, &mut std::io::sink(), &mut std::io::sink());
        if let Err(e) = &outcome {
            eprintln!("{e:#}");
        }
        return outcome.map_or(ExitCode::from(2), Into::into);
    }
    let kills = number_after(&args, "--kills").unwrap_or(10_u32);
    let mut scenes: Vec<PathBuf> = args.iter().filter(|a| a.ends_with(".toml")).map(PathBuf::from).collect();
    if scenes.is_empty() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/pour");
        scenes = ["hopper.toml", "shaken.toml"].map(|name| data.join(name)).into();
    }
    for scene in scenes {
        if let Err(e) = campaign(&scene, kills) {
            eprintln!("{}: {e}", scene.display());
            return ExitCode::from(1);
        }
    }
    ExitCode::SUCCESS
}

fn campaign(scene: &Path, kills: u32) -> Fallible<()> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let (undisturbed, disturbed) = (dir.path().join("undisturbed"), dir.path().join("out"));
    let clock = Instant::now();
    finish(start(scene, &undisturbed)?)?;
    let whole = clock.elapsed().as_secs_f64();
    let expected = listing(&undisturbed)?;
    let bytes: usize = expected.values().map(Vec::len).sum();
    println!("{}: undisturbed {} files, {bytes} bytes in {whole:.1} s", scene.display(), expected.len());
    let mut rng = SmallRng::seed_from_u64(34);
    let mut killed = 0;
    for _ in 0..10 * kills {
        if killed == kills {
            break;
        }
        let mut child = start(scene, &disturbed)?;
        std::thread::sleep(Duration::from_secs_f64(rng.random_range(0.0..2.0 * whole / f64::from(kills))));
        // A run that has just ended cannot be killed; the error is ignored.
        let _ = child.kill();
        let status = child.wait().map_err(|e| e.to_string())?;
        match status.code() {
            Some(0) => break,
            Some(code) => return Err(format!("a run ended with {code}")),
            None => {}
        }
        killed += 1;
        let rows = std::fs::read_to_string(disturbed.join("series.csv")).map_or(0, |t| t.lines().count());
        println!("kill {killed}: {rows} lines");
    }
    finish(start(scene, &disturbed)?)?;
    let found = listing(&disturbed)?;
    let names = |all: &BTreeMap<PathBuf, Vec<u8>>| all.keys().cloned().collect::<Vec<_>>();
    if names(&found) != names(&expected) {
        return Err(format!("after {killed} kills: {} files with other names", found.len()));
    }
    if let Some((name, _)) = expected.iter().find(|(name, bytes)| found.get(*name) != Some(*bytes)) {
        return Err(format!("after {killed} kills: {} differs", name.display()));
    }
    println!("after {killed} kills: the same {} files with the same {bytes} bytes", found.len());
    Ok(())
}

fn start(scene: &Path, output: &Path) -> Fallible<Child> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    Command::new(program)
        .args([Path::new(WORKER), scene, Path::new("-o"), output])
        .stdin(Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())
}

fn finish(mut child: Child) -> Fallible<()> {
    let status = child.wait().map_err(|e| e.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("a run ended with {status}")) }
}

/// All files below a folder with their bytes, by relative path.
fn listing(folder: &Path) -> Fallible<BTreeMap<PathBuf, Vec<u8>>> {
    let mut out = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).map_err(|e| e.to_string())? {
            let path = entry.map_err(|e| e.to_string())?.path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).map_err(|e| e.to_string())?.to_path_buf();
                out.insert(name, std::fs::read(&path).map_err(|e| e.to_string())?);
            }
        }
    }
    Ok(out)
}
