"""Imports the files of `make_solids.py` and compares them with what Open CASCADE said of them.

    python tools/models/check_solids.py target/release/feeler DIR [--only TEXT]

Every file must be prepared whole within 10 s of processor time, with area and volume to 1e-6 of `DIR/facts.json`. Where
they differ, `quadrature.py` decides, which integrates once more with the kernel's surfaces but not its integration:

- *its integral*: ours is within 1e-6 of the third one, and the kernel's is not;
- *gaps*: ours is no farther from the kernel's or the third one than the solid is undetermined, edges being off their
  faces (or surfaces approximated) by that part of its size, and no more than 1e-5;
- *undecided*: the third one has not converged to 1e-6 itself;
- *wrong*: anything else. Exit status 1 when there is one.
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
    """Row of the report, or why there is none."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (MAX_TIME, MAX_TIME))
    out = subprocess.run([feeler, "preprocess", str(path), "-o", str(Path(folder) / "x.feeler"), "--force", "--jobs", "1",
                          "--json", "-q"], capture_output=True, text=True, preexec_fn=limit, check=False)
    try:
        row = json.loads(out.stdout)["inputs"][0]
    except (ValueError, LookupError):
        return None, f"no report (status {out.returncode}): {out.stderr.strip()[-200:]}"
    if not row["ok"]:
        return None, f"refused: {row['error']}"
    if row["solids"] != 1:
        return None, f"{row['solids']} solids"
    return row, None


def difference(a, b):
    """Of areas and volumes, relative."""
    return max(abs(a[k] / b[k] - 1) for k in ("area", "volume"))


def undetermined(feeler, prepared):
    """By which part of its size a prepared solid's edges are off their faces."""
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
            print(f"{name}: {verdict}: {off:.1e} apart, from the third method ours {ours:.1e}, theirs {theirs:.1e}; doubts: the"
                  f" third {doubt:.1e}, theirs {fact['doubt']:.0e}; gaps {gap:.1e} of the size", flush=True)
    print(f"{len(facts)} files: {dict(count)}; slowest {slowest[0]:.2f} s ({slowest[1]})")
    sys.exit(count["wrong"] > 0)


if __name__ == "__main__":
    main()
