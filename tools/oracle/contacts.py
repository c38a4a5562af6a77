"""Contact areas of assemblies against an independent kernel (Open CASCADE): areas of common parts of touching faces.

    pip install -r tools/oracle/requirements.txt
    python tools/oracle/contacts.py FEELER FILE.step...      # FEELER: the program

For each pair of placed solids that `feeler query` reports as `touching` with an area, prints this area and the sum of the
areas of the common parts (BRepAlgoAPI_Common) of each face of one solid with each face of the other. Pairs that differ by more
than 1e-6 are marked, with the inconsistency of the kernel: the difference between the area of a face and the sum of its common
part with another face and of the rest that the kernel cuts off.
"""

import json
import subprocess
import sys
from pathlib import Path

from OCP.Bnd import Bnd_Box
from OCP.BRepAlgoAPI import BRepAlgoAPI_Common, BRepAlgoAPI_Cut
from OCP.BRepBndLib import BRepBndLib
from OCP.BRepGProp import BRepGProp
from OCP.GProp import GProp_GProps
from OCP.TopAbs import TopAbs_FACE
from OCP.TopExp import TopExp_Explorer
from OCP.TopoDS import TopoDS

from assemblies import listed, match, placed
from judge import Solid

NEAR = 1e-3  # mm


def faces(shape):
    explorer = TopExp_Explorer(shape, TopAbs_FACE)
    while explorer.More():
        face = TopoDS.Face_s(explorer.Current())
        box = Bnd_Box()
        BRepBndLib.AddOptimal_s(face, box, False, False)
        box.SetGap(NEAR)
        yield face, box
        explorer.Next()


def area_of(shape):
    props = GProp_GProps()
    BRepGProp.SurfaceProperties_s(shape, props, 1e-10)
    return abs(props.Mass())


def common_area(a, b):
    """The common area, and the pairs of faces with a common part."""
    total, pairs = 0.0, []
    for f, box in a:
        for g, other in b:
            if box.IsOut(other):
                continue
            common = BRepAlgoAPI_Common(f, g)
            if common.IsDone():
                area = area_of(common.Shape())
                total += area
                if area > 0.0:
                    pairs.append((f, g, area))
    return total, pairs


def contradiction(pairs):
    return sum(max(abs(area_of(f) - area - area_of(BRepAlgoAPI_Cut(f, g).Shape())), abs(area_of(g) - area - area_of(BRepAlgoAPI_Cut(g, f).Shape())))
               for f, g, area in pairs)


def main():
    feeler = sys.argv[1]
    compared = differing = 0
    for path in map(Path, sys.argv[2:]):
        solids = [(Solid(s), source) for s, source in placed(path)]
        partner = match(solids, listed(feeler, path))
        solids = [s for s, _ in solids]
        parts = [list(faces(s.shape)) for s in solids]
        for i, a in enumerate(solids):
            for j in range(i + 1, len(solids)):
                b = solids[j]
                if i not in partner or j not in partner:
                    continue
                if max(max(a.box[0] - b.box[1]), max(b.box[0] - a.box[1])) > NEAR:
                    continue
                k, l = partner[i][0], partner[j][0]
                run = subprocess.run([feeler, "query", str(path), str(path), "--solid-a", str(k), "--solid-b", str(l), "--d-max", "0.001",
                                      "--json", "--quiet"], check=False, capture_output=True, text=True)
                answer = json.loads(run.stdout)
                contacts = answer.get("contact_regions", [])
                area = sum(c["area"] or 0.0 for c in contacts)
                error = sum(c["error"] or 0.0 for c in contacts if c["area"])
                if answer["status"] != "touching" or area == 0.0:
                    continue
                other, pairs = common_area(parts[i], parts[j])
                compared += 1
                off = abs(area - other) / max(area, other)
                differing += off > 1e-6
                kinds = sorted({c["kind"] for c in contacts if c["area"]})
                print(f"{path.name} {k} {l}: {area:.9g} {other:.9g} {off:.1e} (reported error {error / area:.1e}) {'+'.join(kinds)}"
                      + (f" DIFFERS by {abs(area - other):.1e} mm2, inconsistency of the kernel {contradiction(pairs):.1e}" if off > 1e-6 else ""), flush=True)
    print(f"{compared} pairs, {differing} differ")


if __name__ == "__main__":
    main()
