"""Minimum thicknesses from an independent kernel (Open CASCADE through its Python package), against those that feeler stores.

    pip install -r tools/oracle/requirements.txt
    python tools/oracle/walls.py FEELER SHOTS FILE.step...     # FEELER: the program

From seeded random points of the faces, rays through the material bounce along the normals until they converge to opposite normals.
Such a segment is an upper bound of the minimum thickness, so the stored value must not be larger. It may be smaller, because rays
converge only to some of the thinnest places (not to those between a bore and a side, for example). The exit status is 1 if a stored
value is too large.
"""

import json
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from OCP.BRepAdaptor import BRepAdaptor_Surface
from OCP.BRepTools import BRepTools
from OCP.BRepTopAdaptor import BRepTopAdaptor_FClass2d
from OCP.IntCurvesFace import IntCurvesFace_ShapeIntersector
from OCP.STEPControl import STEPControl_Reader
from OCP.TopAbs import TopAbs_FACE, TopAbs_IN, TopAbs_REVERSED, TopAbs_SOLID
from OCP.TopExp import TopExp_Explorer
from OCP.TopoDS import TopoDS
from OCP.gp import gp_Dir, gp_Lin, gp_Pnt, gp_Pnt2d, gp_Vec

BOUNCES = 60  # maximum for each ray
OPPOSITE = 1e-11  # normals with a cosine of this much above -1 are opposite


def parts(shape, kind):
    explorer = TopExp_Explorer(shape, kind)
    while explorer.More():
        yield explorer.Current()
        explorer.Next()


def outward(face, u, v):
    """Point and outward normal; `None` if the normal is undefined."""
    p, du, dv = gp_Pnt(), gp_Vec(), gp_Vec()
    BRepAdaptor_Surface(face).D1(u, v, p, du, dv)
    n = du.Crossed(dv)
    if n.Magnitude() < 1e-12:
        return None
    n.Normalize()
    return p, n.Reversed() if face.Orientation() == TopAbs_REVERSED else n


def shoot(target, p, n):
    """Distance to the next face against the normal, and the point and normal there."""
    target.Perform(gp_Lin(p, gp_Dir(n.Reversed())), 1e-5, 1e4)
    if not target.IsDone() or target.NbPnt() == 0:
        return None
    k = min(range(1, target.NbPnt() + 1), key=target.WParameter)
    hit = outward(TopoDS.Face_s(target.Face(k)), target.UParameter(k), target.VParameter(k))
    return hit and (target.WParameter(k), hit)


def thinnest(solid, shots, rng):
    faces = [TopoDS.Face_s(f) for f in parts(solid, TopAbs_FACE)]
    target = IntCurvesFace_ShapeIntersector()
    target.Load(solid, 1e-7)
    best = math.inf
    for _ in range(shots):
        face = rng.choice(faces)
        u0, u1, v0, v1 = BRepTools.UVBounds_s(face)
        u, v = rng.uniform(u0, u1), rng.uniform(v0, v1)
        if BRepTopAdaptor_FClass2d(face, 1e-9).Perform(gp_Pnt2d(u, v)) != TopAbs_IN:
            continue
        at = outward(face, u, v)
        for _ in range(BOUNCES):
            hit = at and shoot(target, *at)
            if not hit:
                break
            length, there = hit
            cosine = at[1].Dot(there[1])
            if cosine < OPPOSITE - 1:
                best = min(best, length)
                break
            if cosine > 0.2:
                break
            at = there
    return best


def stored(program, path):
    """Minimum thickness of a file's solids as stored by feeler."""
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "part.feeler")
        subprocess.run([program, "preprocess", path, "--quiet", "--output", out], capture_output=True)
        text = subprocess.run([program, "inspect", out, "--json"], capture_output=True, text=True).stdout
    walls = [s["min_thickness"] for s in json.loads(text)["solids"]]
    return min((w for w in walls if w is not None), default=math.inf)


def main():
    program, shots = sys.argv[1], int(sys.argv[2])
    thicker = False
    for path in sys.argv[3:]:
        reader = STEPControl_Reader()
        reader.ReadFile(path)
        reader.TransferRoots()
        rng = random.Random(1)
        found = min((thinnest(s, shots, rng) for s in parts(reader.OneShape(), TopAbs_SOLID)), default=math.inf)
        wall = stored(program, path)
        wrong = wall > found * (1 + 1e-9)
        thicker |= wrong
        print(f"{Path(path).name}: stored {wall:.9g}, found {found:.9g}{', THICKER' if wrong else ''}", flush=True)
    sys.exit(thicker)


if __name__ == "__main__":
    main()
