#!/usr/bin/env bash
# Builds the page that imports STEP files in the browser, as a folder for any static web server.
#
#     tools/site/try/build.sh OUT
#     python3 -m http.server -d OUT
set -euo pipefail
out="$(mkdir -p "$1" && cd "$1" && pwd)"
cd "$(dirname "$0")/../../.."
target="${CARGO_TARGET_DIR:-target}"
jobs=(${JOBS:+-j "$JOBS"})

cargo build -q --release "${jobs[@]}" -p feeler-wasm --features step --target wasm32-unknown-unknown
# The tests build this program with the dependencies of the workspace.
[ -x "$target/debug/examples/package" ] || cargo build -q "${jobs[@]}" -p feeler-wasm --example package
package="$(mktemp -d)"
trap 'rm -rf "$package"' EXIT
"$target/debug/examples/package" "$target/wasm32-unknown-unknown/release/feeler_wasm.wasm" "$package"
cp "$package/feeler.js" "$package/feeler_bg.wasm" "$out/"
cp tools/site/try/{index.html,try.css,try.js,worker.js} "$out/"
cp crates/feeler-view/assets/{three.min.js,three.LICENSE} "$out/"
cp data/{plug,socket}.step "$out/"
