#!/usr/bin/env bash
# Builds the documentation site from the documents of the repository, and checks its links.
#
#     tools/site/build.sh [--quick] [FEELER]
#
# Writes a folder of static files, target/site/html, which works from disk and on any web server. FEELER is the program
# that makes the gallery and the headline figures (target/release/feeler, built if it is missing); pictures that are up
# to date are kept. --quick leaves both and the page for STEP files out, needs no program, and writes
# target/site/quick/html. Needs Python 3.11 or newer with venv, the Rust target wasm32-unknown-unknown for the page, and
# Chromium for the gallery, which is installed if `apt-get` is available.
set -euo pipefail
cd "$(dirname "$0")/../.."
quick=""
if [ "${1:-}" = --quick ]; then
  quick=yes
  shift
fi
feeler=${1:-target/release/feeler}
tools=target/site
place=$tools${quick:+/quick}

stage() { echo "-- $1 (after $SECONDS s)"; }

stage "mdBook"
mkdir -p "$place"
if ! cmp -s tools/site/requirements.txt "$tools/installed.txt"; then
  python3 -m venv --clear "$tools/venv"
  "$tools/venv/bin/pip" install -q --disable-pip-version-check -r tools/site/requirements.txt
  cp tools/site/requirements.txt "$tools/installed.txt"
fi

stage "chapters"
python3 tools/site/assemble.py "$place"

if [ -z "$quick" ]; then
  if ! command -v chromium >/dev/null &&
    ! { apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1; then
    echo "chromium is missing: install it (Debian: chromium)" >&2
    exit 1
  fi
  [ -x "$feeler" ] || cargo build --release --locked -p feeler-cli
  stage "page for STEP files"
  tools/site/try/build.sh "$place/src/try"
  cp tools/site/try.md "$place/src/try.md"
  stage "gallery"
  python3 tools/site/gallery.py "$feeler" "$place"
  stage "headline figures"
  python3 tools/site/figures.py "$feeler" "$place"
fi

stage "book"
rm -rf "$place/html"
"$tools/venv/bin/mdbook" build "$place" >"$place/log" 2>&1 || { cat "$place/log" >&2; exit 1; }
if grep -E "WARN|ERROR" "$place/log" >&2; then
  exit 1
fi
python3 tools/site/check_html.py "$place"
stage "done: $place/html/index.html"
