"""How neighbouring solids of assemblies stand, by an independent kernel (Open CASCADE).

    pip install -r tools/oracle/requirements.txt
    python tools/oracle/assemblies.py FEELER OUT.jsonl FILE.step...      # FEELER: the program

For each pair of placed solids whose boxes come within 0.1 mm one line of JSON, with the indices that `feeler inspect` gives the
solids: matched by the entity of the file that a solid is made from, by placement and by volume. Lines are appended, and pairs that have
one are left out: an interrupted run goes on. How a verdict is reached: `judge.py`.

Lines without "distance" tell about a file: how many solids each side has, and which have no partner.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from OCP.TopLoc import TopLoc_Location

from judge import HERE, Judge, Solid, opened, rotation, solids_of, trsf

NEAR = 0.1  # mm
LIMIT = 60.0  # seconds for each question to the kernel


def listed(feeler, path):
    """The instances as feeler lists them."""
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "x.feeler"
        # Some files lose a solid or two: what is left counts.
        subprocess.run([feeler, "preprocess", str(path), "-o", str(prepared)], check=False, capture_output=True)
        if not prepared.exists():
            return []
        text = subprocess.run([feeler, "inspect", str(prepared), "--json"], check=True, capture_output=True).stdout
    return json.loads(text)["solids"]


def placed(path):
    """All placed solids, each with the number of its entity in the file."""
    reader = opened(path)
    transfer, model = reader.WS().TransferReader(), reader.WS().Model()
    # The kernel forgets the numbers; it keeps the order of the file.
    text = re.sub(r"/\*.*?\*/", "", path.read_text("latin-1"), flags=re.S)
    numbers = iter(re.findall(r"#(\d+)\s*=\s*(?:MANIFOLD_SOLID_BREP|BREP_WITH_VOIDS|FACETED_BREP)\s*\(", text))
    kinds = ("StepShape_ManifoldSolidBrep", "StepShape_BrepWithVoids", "StepShape_FacetedBrep")
    of_entity = {}
    for n in range(1, model.NbEntities() + 1):
        if model.Value(n).DynamicType().Name() in kinds:
            of_entity[n] = f"#{next(numbers)}"
    assert next(numbers, None) is None, path
    out = []
    for solid in solids_of(reader.OneShape()):
        source = None
        for shape in (solid.Located(TopLoc_Location()), solid):
            try:
                source = source or of_entity.get(model.Number(transfer.EntityFromShapeResult(shape, -1)))
            except Exception:  # the kernel does not know every shape of its own
                pass
        out.append((solid, source))
    return out


def match(solids, instances):
    """For each solid of the kernel feeler's index of it, and by how much (mm) their placements differ."""
    costs = []
    for i, (s, source) in enumerate(solids):
        t = s.shape.Location().Transformation()
        for k, f in enumerate(instances):
            if f["source"] != source or abs(f["volume"] - s.volume) > 0.1 * abs(s.volume):
                continue
            u = trsf(f["pose"]["translation"] + f["pose"]["rotation"])
            off = max(abs(t.Value(r, c) - u.Value(r, c)) * (1.0 if c == 4 else s.size) for r in (1, 2, 3) for c in (1, 2, 3, 4))
            if off < 1e-3 * s.size:
                costs.append((off, i, k))
    out, taken = {}, set()
    for off, i, k in sorted(costs):
        if i not in out and k not in taken:
            out[i] = (k, off)
            taken.add(k)
    # Where the kernel does not know the entity: the same order on both sides, volume by volume, and within feeler's box.
    left = [i for i in range(len(solids)) if i not in out]
    rest = [k for k in range(len(instances)) if k not in taken]
    if len(left) == len(rest):
        for i, k in zip(left, rest):
            s, f = solids[i][0], instances[k]
            pose = f["pose"]["translation"] + f["pose"]["rotation"]
            own = rotation(pose).T @ (s.box - np.array(pose[:3])).T
            center = own.mean(axis=1)
            low, high = np.array(f["bbox_min"]), np.array(f["bbox_max"])
            within = (center > low - 1e-3 * s.size).all() and (center < high + 1e-3 * s.size).all()
            if solids[i][1] is None and within and abs(f["volume"] - s.volume) <= 1e-2 * abs(s.volume):
                out[i] = (k, None)
    return out


def main():
    feeler, target = sys.argv[1], Path(sys.argv[2])
    done = set()
    if target.exists():
        for line in target.read_text().splitlines():
            row = json.loads(line)
            done.add((row["file"], row.get("kernel_a"), row.get("kernel_b")))
    with target.open("a") as out:

        def write(row):
            out.write(json.dumps(row) + "\n")
            out.flush()

        for path in map(Path, sys.argv[3:]):
            try:
                solids = [(Solid(s), source) for s, source in placed(path)]
            except Exception as e:  # what the kernel throws has no common kind
                print(f"{path.name}: {e}", flush=True)
                continue
            if len(solids) < 2:
                continue
            instances = listed(feeler, path)
            partner = match(solids, instances)
            solids = [s for s, _ in solids]
            if (path.name, None, None) not in done:
                write({"file": path.name, "kernel_solids": len(solids), "instances": len(instances),
                       "unmatched": [i for i in range(len(solids)) if i not in partner],
                       "worst_match": max((c for _, c in partner.values() if c is not None), default=None),
                       "by_order": sum(c is None for _, c in partner.values())})
            judge = Judge(solids, LIMIT)
            near = []
            for i, a in enumerate(solids):
                for j in range(i + 1, len(solids)):
                    b = solids[j]
                    gap = np.maximum(a.box[0] - b.box[1], b.box[0] - a.box[1]).max()
                    if gap <= NEAR:
                        near.append((i, j))
            print(f"{path.name}: {len(solids)} solids, {len(instances)} instances, {len(partner)} matched, {len(near)} near", flush=True)
            for i, j in near:
                if (path.name, i, j) in done:
                    continue
                row = judge.row(i, j, HERE, (i, j))
                k, l = (partner[x][0] if x in partner else None for x in (i, j))
                write({"file": path.name, "a": k, "b": l, "kernel_a": i, "kernel_b": j,
                       "size": max(solids[i].size, solids[j].size), **row})
            judge.close()


if __name__ == "__main__":
    main()
