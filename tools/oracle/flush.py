"""Checks the statuses of parts in the blocks that they were cut from.

    python tools/models/make_flush.py PAIRS
    python tools/oracle/flush.py FEELER PAIRS [--slow SECONDS] [--only PREFIX ...]      # FEELER: the program

Queries each pair of the folder PAIRS (with --only, those whose names start with a PREFIX), in both orders. Prints those
whose status is not the expected one of `manifest.json`, that are decided at a coarser tolerance only, or that take
longer than SECONDS (1 by default), and a summary. The exit status is 1 if a status is wrong. A part that was fitted
anew may deviate by 1e-7 mm.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("feeler", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--slow", type=float, default=1.0)
    parser.add_argument("--only", nargs="+", default=[""], metavar="PREFIX")
    args = parser.parse_args()
    count = {"right": 0, "wrong": 0, "undecided": 0, "coarser": 0, "slow": 0, "failed": 0}
    seconds = []
    for name, row in json.loads((args.pairs / "manifest.json").read_text()).items():
        if not name.startswith(tuple(args.only)):
            continue
        files = [args.pairs / f"{name}-{role}.step" for role in ("part", "block")]
        for order in (files, files[::-1]):
            start = time.time()
            done = subprocess.run([args.feeler, "query", *order, "--d-max", "1", "--json"], capture_output=True, text=True)
            seconds.append(time.time() - start)
            about = f"{order[0].stem} {row['parameters']}, {row['fit']}, {seconds[-1]:.2f} s"
            if not done.stdout.strip():
                count["failed"] += 1
                print(f"{about}: {(done.stderr.strip().splitlines() or ['no output'])[-1]}")
                continue
            answer = json.loads(done.stdout)
            right = answer["status"] == row["expected"]
            kind = "right" if right else "undecided" if answer["status"] == "undecided" else "wrong"
            count[kind] += 1
            count["coarser"] += answer.get("decided_at") is not None
            count["slow"] += seconds[-1] > args.slow
            if kind != "right" or answer.get("decided_at") or seconds[-1] > args.slow:
                at = f", decided at {answer['decided_at']:.1e} mm" if answer.get("decided_at") else ""
                print(f"{about}: {answer['status']}, expected {row['expected']}{at}", flush=True)
    seconds.sort()
    print(", ".join(f"{n} {kind}" for kind, n in count.items()) + f"; median {seconds[len(seconds) // 2]:.2f} s, "
          f"slowest {seconds[-1]:.2f} s")
    return 1 if count["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
