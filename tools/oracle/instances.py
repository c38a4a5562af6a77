"""Placements of the solids of assemblies by an independent kernel (Open CASCADE).

    pip install -r tools/oracle/requirements.txt
    python tools/oracle/instances.py data/golden/instances.json FILE.step...

The kernel ignores reflections and references to other files. For every placed solid, the output has the box around its vertices
(mm, in world coordinates) and its volume, in the kernel's order.
"""

import json
import sys
from pathlib import Path

from OCP.BRep import BRep_Tool
from OCP.BRepGProp import BRepGProp
from OCP.GProp import GProp_GProps
from OCP.STEPControl import STEPControl_Reader
from OCP.TopAbs import TopAbs_SOLID, TopAbs_VERTEX
from OCP.TopExp import TopExp_Explorer
from OCP.TopoDS import TopoDS


def solids(shape):
    explorer = TopExp_Explorer(shape, TopAbs_SOLID)
    while explorer.More():
        yield explorer.Current()
        explorer.Next()


def corners(solid):
    explorer = TopExp_Explorer(solid, TopAbs_VERTEX)
    points = []
    while explorer.More():
        p = BRep_Tool.Pnt_s(TopoDS.Vertex_s(explorer.Current()))
        points.append((p.X(), p.Y(), p.Z()))
        explorer.Next()
    return [min(c) for c in zip(*points)] + [max(c) for c in zip(*points)]


def volume(solid):
    props = GProp_GProps()
    BRepGProp.VolumeProperties_s(solid, props, 1e-6)
    return props.Mass()


def main():
    out = {}
    for path in map(Path, sys.argv[2:]):
        reader = STEPControl_Reader()
        reader.ReadFile(str(path))
        reader.TransferRoots()
        rows = [corners(s) + [volume(s)] for s in solids(reader.OneShape())]
        out[path.name] = [[round(x, 9) for x in row] for row in rows]
        print(f"{path.name}: {len(rows)} solids", file=sys.stderr)
    lines = [f'"{name}": [\n' + ",\n".join(json.dumps(r) for r in rows) + "\n]" for name, rows in out.items()]
    Path(sys.argv[1]).write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
