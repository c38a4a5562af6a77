#!/usr/bin/env bash
# Opens pages of the program from disk in a headless browser and operates them. Installs missing tools
# with `apt-get` and `npm` if possible. Screenshots for inspection are in target/view.
#
#     tools/view/check.sh [FEELER [MODEL...]]
set -euo pipefail
cd "$(dirname "$0")/../.."

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

place="$PWD/target/view"
mkdir -p "$place"
quiet() { "$@" >"$place/log" 2>&1 || { cat "$place/log" >&2; exit 1; }; }
feeler="${1:-}"
if [ -z "$feeler" ]; then
  quiet cargo build --release
  feeler="$PWD/target/release/feeler"
fi
shift || true
quiet cargo build --release -p feeler-wasm --target wasm32-unknown-unknown
quiet cargo run -p feeler-wasm --example package -- \
  target/wasm32-unknown-unknown/release/feeler_wasm.wasm "$place/package"
[ -d "$place/node_modules/playwright-core" ] || (cd "$place" && quiet npm install --silent playwright-core@1)
cp tools/view/check.mjs "$place/"
node "$place/check.mjs" "$feeler" "$PWD" "$(command -v chromium)" "$@"
