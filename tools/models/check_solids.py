"""Imports the files of `make_solids.py` and compares them with the values of Open CASCADE.

    python tools/models/check_solids.py target/release/feeler DIR [--only TEXT]

Every file must be prepared completely within 10 s of processor time, with area and volume to 1e-6 of `DIR/facts.json`.
If they differ, `quadrature.py` decides; it integrates with the surfaces of the kernel, but with its own quadrature:

- *its integral*: feeler is within 1e-6 of the third method, and the kernel is not;
- *gaps*: feeler differs from the kernel or the third method by at most the relative size of the gaps (deviations of edges
  from their faces, or of approximated surfaces), and by at most 1e-5;
- *undecided*: the third method has not converged to 1e-6 itself;
- *wrong*: everything else. The exit status is 1 if there is any.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from quadrature import integrals

TOL = 1e-6
MAX_TIME = 10


def imported(feeler, path, folder):
    """Row of the report and None, or None and the reason of the failure."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (MAX_TIME, MAX_TIME))
    out = subprocess.run([feeler, "preprocess", str(path), "-o", str(Path(folder) / "x.feeler"), "--force", "--jobs", "1",
                          "--json", "-q"], capture_output=True, text=True, preexec_fn=limit, check=False)
    try:
        row = json.loads(out.stdout)["inputs"][0]
    except (ValueError, LookupError):
        return None, f"no report (status {out.returncode}): {out.stderr.strip()[-200:]}"
    if not row["ok"]:
        return None, f"rejected: {row['error']}"
    if row["solids"] != 1:
        return None, f"{row['solids']} solids instead of 1"
    return row, None


def difference(a, b):
    """Largest relative difference of area and volume."""
    return max(abs(a[k] / b[k] - 1) for k in ("area", "volume"))


def undetermined(feeler, prepared):
    """Deviation of a prepared solid's edges from their faces, relative to its size."""
    text = subprocess.run([feeler, "inspect", str(prepared), "--json"], check=True, capture_output=True, text=True).stdout
    solid = json.loads(text)["solids"][0]
    size = sum((a - b) ** 2 for a, b in zip(solid["bbox_max"], solid["bbox_min"])) ** 0.5
    return solid["max_trim_deviation"] / size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("feeler")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    facts = {k: v for k, v in json.loads((args.folder / "facts.json").read_text()).items() if args.only in k}
    count, slowest = Counter(), (0.0, "")
    with tempfile.TemporaryDirectory() as folder:
        for name, fact in facts.items():
            row, why = imported(args.feeler, args.folder / name, folder)
            if why:
                count["wrong"] += 1
                print(f"{name}: WRONG: {why}", flush=True)
                continue
            slowest = max(slowest, (row["wall_s"], name))
            off = difference(row, fact)
            if off <= TOL:
                count["equal"] += 1
                continue
            third, finer = (dict(zip(("area", "volume"), integrals(args.folder / name, parts))) for parts in (1, 3))
            ours, theirs, doubt = difference(row, finer), difference(fact, finer), difference(third, finer)
            gap = undetermined(args.feeler, Path(folder) / "x.feeler")
            if doubt <= TOL and ours <= TOL < theirs:
                verdict = "its integral"
            elif off <= min(gap, 1e-5) or doubt <= TOL and ours <= min(gap, 1e-5):
                verdict = "gaps"
            else:
                verdict = "undecided" if doubt > TOL else "WRONG"
            count[verdict.lower()] += 1
            print(f"{name}: {verdict}: difference {off:.1e}; from the third method feeler {ours:.1e}, the kernel {theirs:.1e};"
                  f" errors of the third method {doubt:.1e}, of the kernel {fact['doubt']:.0e}; gaps {gap:.1e} of the size",
                  flush=True)
    print(f"{len(facts)} files: {dict(count)}; slowest {slowest[0]:.2f} s ({slowest[1]})")
    sys.exit(count["wrong"] > 0)


if __name__ == "__main__":
    main()
