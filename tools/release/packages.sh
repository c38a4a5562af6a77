#!/usr/bin/env bash
# Packages all crates that are published, and runs a program that depends on the packaged files alone.
#
#     tools/release/packages.sh [OPTION of cargo package]...
#
# `--allow-dirty` packages changes that are not committed.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cargo package --workspace --exclude feeler-tests --exclude feeler-benches --no-verify --quiet --target-dir "$place/target" "$@"

mkdir "$place/crates"
for package in "$place"/target/package/*.crate; do
  tar xzf "$package" -C "$place/crates"
done

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
mkdir -p "$place/dependent/src"
{
  printf '[package]\nname = "dependent"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n\n'
  printf '[dependencies]\nfeeler = "=%s"\n\n[patch.crates-io]\n' "$version"
  for crate in "$place"/crates/*/; do
    name=$(basename "$crate")
    printf '%s = { path = "%s" }\n' "${name%-"$version"}" "$crate"
  done
} >"$place/dependent/Cargo.toml"
cat >"$place/dependent/src/main.rs" <<'PROGRAM'
use feeler::{Body, ContactPair, Pose, QueryOptions};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ball = Arc::new(Body::from_model(&feeler::prepare_step(std::env::args().nth(1).expect("a file"))?, 0)?);
    let mut pair = ContactPair::new(ball.clone(), ball);
    let moved = Pose::translation(22.5, 0.0, 0.0);
    let minima = pair.query(&Pose::identity(), &moved, &QueryOptions::within(5.0))?;
    assert_eq!(minima.len(), 1, "the distance of two balls");
    println!("distance {} mm", minima[0].distance);
    Ok(())
}
PROGRAM
cargo run --quiet --manifest-path "$place/dependent/Cargo.toml" --target-dir "$place/built" -- "$root/data/sphere.step"
echo "$(find "$place/crates" -mindepth 1 -maxdepth 1 | wc -l) crates packaged; a program built from them runs"
