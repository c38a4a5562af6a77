"""Status of neighbouring solids of assemblies, by an independent kernel (Open CASCADE).

    pip install -r tools/oracle/requirements.txt
    python tools/oracle/assemblies.py FEELER OUT.jsonl FILE.step...      # FEELER: the program

Writes one line of JSON for each pair of placed solids whose boxes are within 0.1 mm, with the indices of the solids in
`feeler inspect`. Solids are matched by the entity of the file, by placement and by volume. Lines are appended, and existing
pairs are skipped, so an interrupted run can be continued. `judge.py` documents the verdicts.

Lines without "distance" describe a file: the number of solids on each side, and those without a partner.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from OCP.TopLoc import TopLoc_Location

from judge import HERE, Reference, Solid, opened, rotation, solids_of, trsf

NEAR = 0.1  # mm
LIMIT = 60.0  # seconds for each query of the kernel


def listed(feeler, path):
    """The instances in the order of feeler."""
    with tempfile.TemporaryDirectory() as folder:
        return prepared(feeler, path, Path(folder) / "x.feeler")


def prepared(feeler, path, target):
    """Prepares a file as `target`; returns the instances in the order of feeler."""
    # A few solids of some files cannot be prepared; the others are used.
    subprocess.run([feeler, "preprocess", str(path), "-o", str(target)], check=False, capture_output=True)
    if not target.exists():
        return []
    text = subprocess.run([feeler, "inspect", str(target), "--json"], check=True, capture_output=True).stdout
    return json.loads(text)["solids"]


def placed(path):
    """All placed solids, each with its entity number in the file."""
    reader = opened(path)
    transfer, model = reader.WS().TransferReader(), reader.WS().Model()
    # The kernel does not keep the entity numbers, but it keeps the order of the file.
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
            except Exception:  # some shapes have no entity
                pass
        out.append((solid, source))
    return out


def match(solids, instances):
    """For each solid of the kernel: feeler's index and the difference (mm) of their placements."""
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
    # If the kernel has no entity, solids are matched by their order, with equal volumes and within
    # feeler's box.
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
            except Exception as e:  # exceptions of the kernel have no common class
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
            reference = Reference(solids, LIMIT)
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
                row = reference.row(i, j, HERE, (i, j))
                k, l = (partner[x][0] if x in partner else None for x in (i, j))
                write({"file": path.name, "a": k, "b": l, "kernel_a": i, "kernel_b": j,
                       "size": max(solids[i].size, solids[j].size), **row})
            reference.close()


if __name__ == "__main__":
    main()
