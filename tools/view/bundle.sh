# Regenerates crates/feeler-view/assets/three.min.js: the parts of three.js that the page uses, as one classic
# script, because pages from disk may not import modules. Needs npm.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
assets="$here/../../crates/feeler-view/assets"
place="$(mktemp -d)"
trap 'rm -rf "$place"' EXIT
cp "$here/three.mjs" "$place/"
cd "$place"
npm init -y >/dev/null
npm install --silent --ignore-scripts=false three@0.187.0 esbuild@0.28.2
node node_modules/esbuild/install.js
node_modules/.bin/esbuild three.mjs --bundle --minify --format=iife --global-name=THREE \
  --legal-comments=inline --target=es2020 --outfile="$assets/three.min.js"
cp node_modules/three/LICENSE "$assets/three.LICENSE"
