#!/usr/bin/env bash
# Makes an archive for this platform: the program, its completions and manual pages, and the library for C and C++ with
# its header and its packages for CMake and pkg-config.
#
#     tools/release/archive.sh [FOLDER]
#
# Writes feeler-VERSION-TARGET.tar.gz and its SHA-256 sum to FOLDER (target/release-archive). PROFILE selects the
# profile of cargo (dist). Needs CMake, GNU tar and GNU install. Two runs of one commit with one toolchain write the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-target/release-archive}
profile=${PROFILE:-dist}

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
target=$(rustc -vV | sed -n 's/^host: //p')
name=feeler-$version-$target
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
stage=$place/$name

cargo build --locked --quiet --profile "$profile" -p feeler-cli
program=${CARGO_TARGET_DIR:-target}/$profile/feeler
install -D -m 755 "$program" "$stage/bin/feeler"
completions() { # shell, path
  mkdir -p "$(dirname "$stage/share/$2")"
  "$program" completions "$1" >"$stage/share/$2"
}
completions bash bash-completion/completions/feeler
completions zsh zsh/site-functions/_feeler
completions fish fish/vendor_completions.d/feeler.fish
"$program" man "$stage/share/man/man1" >/dev/null

cmake -S crates/feeler-capi -B "$place/library" -DFEELER_PROFILE="$profile" -DFEELER_CARGO_OPTIONS=--locked \
  -Dtarget_dir="$(realpath "${CARGO_TARGET_DIR:-target}")" >/dev/null
cmake --build "$place/library" >/dev/null
cmake --install "$place/library" --prefix "$stage" >/dev/null

install -D -m 644 -t "$stage/share/doc/feeler" README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT
mkdir -p "$out"
tar -C "$place" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" -cf - "$name" |
  gzip -9n >"$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" | tee "$name.tar.gz.sha256")
