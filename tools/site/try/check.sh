#!/usr/bin/env bash
# Builds the page that imports STEP files and operates it in headless Chromium. Installs missing tools with
# `apt-get` and `npm` if possible. Screenshots for inspection are in target/site.
#
#     tools/site/try/check.sh [FEELER [--times] [MODEL...]]
#
# Prints the times of further models beside those of the program, with --times also those of a file of 10 MB.
set -euo pipefail
cd "$(dirname "$0")/../../.."

need() { # program, Debian package
  command -v "$1" >/dev/null && return
  echo "installing $2"
  if ! { apt-get update -qq && apt-get install -y -qq "$2"; } >/dev/null 2>&1; then
    echo "$1 is missing: install it (Debian: $2)" >&2
    exit 1
  fi
}
need node nodejs
need npm npm
need chromium chromium
rustup target add wasm32-unknown-unknown >/dev/null 2>&1 || true

target="${CARGO_TARGET_DIR:-$PWD/target}"
place="$target/site"
mkdir -p "$place"
quiet() { "$@" >"$place/log" 2>&1 || { cat "$place/log" >&2; exit 1; }; }
feeler="${1:-}"
if [ -z "$feeler" ]; then
  quiet cargo build --release
  feeler="$target/release/feeler"
fi
shift || true
quiet tools/site/try/build.sh "$place/try"
[ -d "$place/node_modules/playwright-core" ] || (cd "$place" && quiet npm install --silent playwright-core@1)
cp tools/site/try/check.mjs "$place/"
node "$place/check.mjs" "$feeler" "$PWD" "$place/try" "$(command -v chromium)" "$@"
