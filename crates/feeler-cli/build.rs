//! Commit from which the program was built, for `feeler --version`. It does not enter files that the program
//! writes.

use std::path::Path;
use std::process::Command;

fn main() {
    // A release is rebuilt after every commit; programs of tests are not.
    let release = std::env::var("PROFILE").is_ok_and(|p| p == "release");
    let watched = if release { ["../../.git/HEAD", "../../.git/refs/heads"] } else { ["build.rs"; 2] };
    for path in watched.iter().filter(|p| Path::new(p).exists()) {
        println!("cargo::rerun-if-changed={path}");
    }
    let commit = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let commit = commit.ok().filter(|o| o.status.success()).and_then(|o| String::from_utf8(o.stdout).ok());
    let commit = commit.map_or_else(|| "unknown".to_owned(), |c| c.trim().to_owned());
    println!("cargo::rustc-env=FEELER_COMMIT={commit}");
}
