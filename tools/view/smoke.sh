#!/usr/bin/env bash
# Checks that pages open in a browser: one page of each kind, from disk, in headless Chromium. check.sh
# also operates them.
#
#     tools/view/smoke.sh FEELER
set -euo pipefail
cd "$(dirname "$0")/../.."
feeler="$1"
if ! command -v chromium >/dev/null && ! { apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1; then
  echo "chromium is missing: install it (Debian: chromium)" >&2
  exit 1
fi
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT

"$feeler" view -q data/assemblies/rack.step -o "$place/view.html"
"$feeler" sweep -q data/bore.step data/pin.step --d-max 1 --joint 0,0,0,0,0,1 --slide 0,9 --steps 3 \
  --html "$place/sweep.html" >"$place/out"
"$feeler" mechanism -q data/arm/arm.toml --no-proof --steps 9 --html "$place/mechanism.html" >"$place/out"
"$feeler" clearance -q data/assemblies/rack.step --html "$place/clearance.html" >"$place/out"
"$feeler" diff -q data/pin.step data/pin-short.step --html "$place/diff.html" >"$place/out" || [ $? = 1 ]
"$feeler" preprocess -q data/plug.step -o "$place/plug.feeler" --html "$place/import.html" >"$place/out"
"$feeler" pour -q data/pour/grains.toml -o "$place/grains" --html "$place/pour.html" >"$place/out"
{
  printf 'NRRD0004\ntype: uint8\ndimension: 3\nsizes: 8 8 8\nencoding: text\n\n'
  awk 'BEGIN { for (k = 0; k < 512; k++) print 1 + (k % 8 > 3) + 2 * (k > 200 + 20 * (k % 8)) }'
} >"$place/grains.nrrd"
"$feeler" tessellate -q "$place/grains.nrrd" --min-edge 1 --html "$place/cells.html" >"$place/out"
for page in view sweep mechanism clearance diff import pour cells; do
  chromium --headless --no-sandbox --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader \
    --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync \
    --user-data-dir="$place/profile" --virtual-time-budget=20000 --dump-dom "file://$place/$page.html" \
    >"$place/$page.dom" 2>"$place/log"
  grep -q '<main id="view" data-ready="true">' "$place/$page.dom" || {
    echo "$page.html does not open:" >&2
    grep -o '<main id="view".\{300\}' "$place/$page.dom" >&2 || cat "$place/log" >&2
    exit 1
  }
done
echo "eight pages open"
