"""Volume, centroid, inertia and boxes of solids from an independent kernel (Open CASCADE).

    pip install -r tools/oracle/requirements.txt
    python tools/oracle/inertia.py data/golden/inertia.json FILE.step...

For every placed solid, in world coordinates: volume (mm3), centroid (mm), the inertia tensor about it at density 1 (mm5; xx, yy,
zz, xy, xz, yz, the last three with the sign of the tensor), the optimal box (mm; min, max), and the relative difference of two
methods of the kernel: adaptive Gauss integration to 1e-10 and to 1e-7. Files in which the kernel finds no solid are skipped.
"""

import json
import sys
from pathlib import Path

from OCP.Bnd import Bnd_Box
from OCP.BRepBndLib import BRepBndLib
from OCP.BRepGProp import BRepGProp
from OCP.GProp import GProp_GProps
from OCP.STEPControl import STEPControl_Reader
from OCP.TopAbs import TopAbs_SOLID
from OCP.TopExp import TopExp_Explorer


def solids(shape):
    explorer = TopExp_Explorer(shape, TopAbs_SOLID)
    while explorer.More():
        yield explorer.Current()
        explorer.Next()


def properties(solid, eps):
    props = GProp_GProps()
    BRepGProp.VolumeProperties_s(solid, props, eps)
    c, m = props.CentreOfMass(), props.MatrixOfInertia()
    tensor = [m.Value(i, j) for i, j in [(1, 1), (2, 2), (3, 3), (1, 2), (1, 3), (2, 3)]]
    return [props.Mass(), c.X(), c.Y(), c.Z(), *tensor]


def box(solid):
    b = Bnd_Box()
    BRepBndLib.AddOptimal_s(solid, b, False, False)
    b.SetGap(0.0)
    return list(b.Get())


def row(solid):
    fine, coarse = properties(solid, 1e-10), properties(solid, 1e-7)
    size = max(abs(x) for x in fine[4:7])
    doubt = max(abs(1 - coarse[0] / fine[0]), *(abs(a - b) / size for a, b in zip(fine[4:], coarse[4:])))
    return [float(f"{x:.13g}") for x in fine + box(solid)] + [float(f"{doubt:.1g}")]


def main():
    out = {}
    for path in map(Path, sys.argv[2:]):
        reader = STEPControl_Reader()
        reader.ReadFile(str(path))
        reader.TransferRoots()
        rows = [row(s) for s in solids(reader.OneShape())]
        print(f"{path.name}: {len(rows)} solids", file=sys.stderr, flush=True)
        if rows:
            out[path.name] = rows
    lines = [f'"{name}": [\n' + ",\n".join(json.dumps(r) for r in rows) + "\n]" for name, rows in out.items()]
    Path(sys.argv[1]).write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
