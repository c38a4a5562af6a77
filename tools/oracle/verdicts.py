"""Golden verdicts (separated, touching, interfering) of models of `data/` from an independent kernel (Open CASCADE).

    pip install -r tools/oracle/requirements.txt
    python tools/oracle/verdicts.py [DATA_DIR]      # writes DATA_DIR/golden/verdicts.json

Rows are all pairs of models in the poses of their files (each also with itself), and a seeded selection of pairs in eleven more
poses: boxes flush along each axis, overlapping slightly, half overlapping, quarter turns, random ones, and solids that are pushed
together by the kernel's distance until they touch, or a little more or less. `judge.py` documents the verdicts and the marks of
unreliable rows.
"""

import itertools
import json
import math
import sys
from pathlib import Path

import numpy as np

from judge import CLEAR, HERE, KERNEL, NOISE, POINTS, TOUCH, Reference, Solid, read, rotation

SELECTED = 66
LIMIT = 20.0  # seconds for each query of the kernel
# Pairs with fits or seats in the poses of their files: always selected.
FITS = [("bore", "pin"), ("blind-bore", "pin-short"), ("socket", "plug"), ("stepped-cone", "stepped-seat"),
        ("bayonet-plug", "bayonet-socket"), ("race", "ball"), ("ring", "shaft"), ("box", "void")]
S = math.sqrt(0.5)
QUARTERS = [(S, 0.0, 0.0, S), (0.0, S, 0.0, S), (0.0, 0.0, S, S), (1.0, 0.0, 0.0, 0.0), (-S, 0.0, 0.0, S), (0.5, 0.5, 0.5, 0.5)]


def neat(x):
    """Rounds coordinates of boxes, which are computed numerically, to the nominal value."""
    r = np.round(x, 5)
    return np.where(np.abs(r - x) < 2e-6, r, x)


def about(q, center, target):
    """The pose that rotates by `q` and moves `center` to `target`."""
    t = np.asarray(target) - rotation((0.0, 0.0, 0.0, *q)) @ center
    return tuple(float(x) for x in np.round(t, 9)) + tuple(float(x) for x in q)


def poses(reference, i, j, rng):
    """Names and values of the eleven poses other than that of the files."""
    a, b = reference.solids[i], reference.solids[j]
    box_a, box_b = neat(a.box), neat(b.box)
    still = HERE[3:]
    axes = list(range(3))

    def beside(axis, overlap, q=still, sign=None):
        """Pose of box B beside box A along an axis, overlapping by a length, centred along the other axes."""
        sign = rng.choice([-1, 1]) if sign is None else sign
        turned = box_b if q == still else neat(reference.query("box", i, j, (0.0, 0.0, 0.0, *q)))
        t = 0.5 * (box_a.sum(0) - turned.sum(0))
        t[axis] = box_a[1][axis] - turned[0][axis] - overlap if sign > 0 else box_a[0][axis] - turned[1][axis] + overlap
        return tuple(float(x) for x in np.round(t, 9)) + tuple(q)

    extent = np.minimum(box_a[1] - box_a[0], box_b[1] - box_b[0])
    for axis in axes:
        yield "flush", beside(axis, 0.0)
    axis = int(rng.integers(3))
    yield "slight", beside(axis, 0.01 * extent[axis])
    axis = int(rng.integers(3))
    yield "half", beside(axis, 0.5 * extent[axis])
    q = QUARTERS[int(rng.integers(len(QUARTERS)))]
    yield "turned", about(q, 0.5 * box_b.sum(0), 0.5 * box_a.sum(0))
    yield "turned-flush", beside(int(rng.integers(3)), 0.0, QUARTERS[int(rng.integers(len(QUARTERS)))])

    def random_turn():
        q = rng.normal(size=4)
        return tuple(float(x) for x in q / np.linalg.norm(q))

    center_a, center_b = 0.5 * box_a.sum(0), 0.5 * box_b.sum(0)
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    yield "random", about(random_turn(), center_b, center_a + 0.3 * (a.size + b.size) * rng.random() * direction)
    for what in ("apart", "touched", "pushed"):
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        pose = about(random_turn(), center_b, center_a + 0.6 * (a.size + b.size) * direction)
        if what == "apart":
            yield what, pose
            continue
        # Translate along the shortest direction, which closes the distance between the nearest points.
        unit = -direction
        for _ in range(3):
            result = reference.query("distance", i, j, pose)
            if result is None or result[0] < 1e-9:
                break
            length, shift, _ = result
            if length > 1e-6:
                unit = np.array(shift) / length
            pose = tuple(float(np.round(pose[k] - shift[k], 12)) for k in range(3)) + pose[3:]
        if what == "pushed":
            # Deeper by 1e-4 of the size, or farther apart by 1e-5.
            step = 1e-4 if (i + j) % 2 == 0 else -1e-5
            pose = tuple(float(np.round(pose[k] - step * max(a.size, b.size) * unit[k], 12)) for k in range(3)) + pose[3:]
        yield what, pose


def main():
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "data"
    names, solids = [], []
    for path in sorted(data.glob("*.step")):
        shapes = read(path)
        if len(shapes) != 1:
            print(f"{path.name}: {len(shapes)} solids, skipped", flush=True)
            continue
        names.append(path.stem)
        solids.append(Solid(shapes[0]))
    reference = Reference(solids, LIMIT)
    pairs = list(itertools.combinations_with_replacement(range(len(names)), 2))
    fits = [tuple(sorted((names.index(x), names.index(y)))) for x, y in FITS]
    rng = np.random.default_rng(2026)
    others = [p for p in pairs if p not in fits]
    selected = set(fits) | {others[k] for k in rng.choice(len(others), SELECTED - len(fits), replace=False)}
    rows = []
    for n, (i, j) in enumerate(pairs):
        wanted = [("lie", HERE)]
        if (i, j) in selected:
            wanted += poses(reference, i, j, np.random.default_rng([2026, i, j]))
        for k, (what, pose) in enumerate(wanted):
            row = reference.row(i, j, pose, (i, j, k))
            seconds = row.pop("seconds")
            if row["of"] == POINTS:
                del row["of"]
            if row["marked"] is None:
                del row["marked"]
            for key in ("distance", "common"):
                if row[key] is not None:
                    row[key] = float(f"{row[key]:.9g}")
            rows.append({"a": names[i], "b": names[j], "what": what, "pose_b": list(pose), **row})
            if seconds > 5.0 or "marked" in row:
                print(f"{names[i]} / {names[j]} {what}: {row} in {seconds} s", flush=True)
        if n % 20 == 0:
            print(f"{n} of {len(pairs)} pairs", flush=True)
        if n % 20 == 0 or n + 1 == len(pairs):
            write(data / "golden" / "verdicts.json", rows)


def write(path, rows):
    head = {
        "kernel": f"{KERNEL}: BRepExtrema_DistShapeShape, BRepAlgoAPI_Common, BRepClass3d_SolidClassifier",
        "unit": "mm",
        "pose": "tx, ty, tz, qx, qy, qz, qw; moves B, A stays as read",
        "columns": f"distance; common: volume in mm3; points: number of {POINTS} random points, or of `of`, that are in both; "
                   "corners: number of vertices of one that are in the other; marked: why the row must not be used as a "
                   "reference; null: the kernel failed",
        "touch": TOUCH, "noise": NOISE, "clear": CLEAR,
    }
    lines = ",\n".join(json.dumps(r, separators=(",", ":")) for r in rows)
    path.write_text(json.dumps(head, indent=0)[:-2] + ',\n"rows": [\n' + lines + "\n]\n}\n")


if __name__ == "__main__":
    main()
