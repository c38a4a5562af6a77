"""Figure of the README: a plug over its socket, cut along the plane y = 0, with all local minimal distances.

    pip install -r tools/oracle/requirements.txt
    python tools/figures/section.py target/release/feeler docs/figures/plug.svg

The minima are from `feeler query --json`; the outlines are cut by an independent kernel (Open CASCADE).
The pose moves B within the plane, so that all minima are in it.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

from OCP.BRepAdaptor import BRepAdaptor_Curve
from OCP.BRepAlgoAPI import BRepAlgoAPI_Section
from OCP.BRepBuilderAPI import BRepBuilderAPI_Transform
from OCP.GCPnts import GCPnts_QuasiUniformDeflection
from OCP.gp import gp_Dir, gp_Pln, gp_Pnt, gp_Quaternion, gp_Trsf, gp_Vec
from OCP.STEPControl import STEPControl_Reader
from OCP.TopAbs import TopAbs_EDGE
from OCP.TopExp import TopExp_Explorer
from OCP.TopoDS import TopoDS

DATA = Path(__file__).resolve().parents[2] / "data"
A, B = DATA / "socket.step", DATA / "plug.step"
TILT = math.radians(3)
POSE = (0.5, 0, 20, 0, math.sin(TILT / 2), 0, math.cos(TILT / 2))
D_MAX = 7
SCALE = 9  # pixels per mm
X, Z = (-26, 42), (-19, 54)  # mm


def solid(path, pose=None):
    reader = STEPControl_Reader()
    reader.ReadFile(str(path))
    reader.TransferRoots()
    shape = reader.OneShape()
    if pose is None:
        return shape
    move = gp_Trsf()
    move.SetRotation(gp_Quaternion(*pose[3:]))
    move.SetTranslationPart(gp_Vec(*pose[:3]))
    return BRepBuilderAPI_Transform(shape, move, True).Shape()


def outline(shape):
    """Closed polygons of (x, z): the intersection of the solid with the plane y = 0."""
    section = BRepAlgoAPI_Section(shape, gp_Pln(gp_Pnt(0, 0, 0), gp_Dir(0, 1, 0)))
    pieces = []
    edges = TopExp_Explorer(section.Shape(), TopAbs_EDGE)
    while edges.More():
        curve = BRepAdaptor_Curve(TopoDS.Edge_s(edges.Current()))
        points = GCPnts_QuasiUniformDeflection(curve, 0.01)
        pieces.append([(points.Value(i).X(), points.Value(i).Z()) for i in range(1, points.NbPoints() + 1)])
        edges.Next()
    loops = []
    while pieces:
        loop = pieces.pop()
        while math.dist(loop[0], loop[-1]) > 1e-4:
            end = loop[-1]
            ends = [min(math.dist(end, p[0]), math.dist(end, p[-1])) for p in pieces]
            k = ends.index(min(ends))
            piece = pieces.pop(k)
            loop += piece if math.dist(end, piece[0]) < math.dist(end, piece[-1]) else piece[::-1]
        loops.append(loop)
    return loops


def at(x, z):
    return f"{(x - X[0]) * SCALE:.1f},{(Z[1] - z) * SCALE:.1f}"


def path(loops, style):
    d = " ".join("M" + " L".join(at(*p) for p in loop) + "Z" for loop in loops)
    return f'<path d="{d}" fill-rule="evenodd" {style}/>'


def main(feeler, target):
    pose = ",".join(f"{v:.7g}" for v in POSE)
    command = [feeler, "query", str(A), str(B), "--d-max", str(D_MAX), "--pose-b", pose, "--json", "-q"]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    width, height = (X[1] - X[0]) * SCALE, (Z[1] - Z[0]) * SCALE
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="15">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        path(outline(solid(A)), 'fill="#c9d3de" stroke="#31475e" stroke-width="1.5"'),
        path(outline(solid(B, POSE)), 'fill="#f1d9b5" stroke="#7a5415" stroke-width="1.5"'),
    ]
    for name, place in (("A: socket", (-20, -15)), ("B: plug", (-3, 48.5))):
        x, y = at(*place).split(",")
        out.append(f'<text x="{x}" y="{y}" fill="#222">{name}</text>')
    for number, contact in enumerate(answer["contacts"]):
        a, b = [(contact[p][0], contact[p][2]) for p in ("point_a", "point_b")]
        out.append(f'<path d="M{at(*a)} L{at(*b)}" stroke="#c0182a" stroke-width="2.5"/>')
        for x, y in (at(*p).split(",") for p in (a, b)):
            out.append(f'<circle cx="{x}" cy="{y}" r="4" fill="#c0182a"/>')
        # The number is above the midpoint, off the outlines of the solids.
        x, y = at((a[0] + b[0]) / 2, (a[1] + b[1]) / 2 + 1.3).split(",")
        out.append(f'<text x="{x}" y="{y}" fill="#c0182a" font-weight="bold" text-anchor="middle">{number + 1}</text>')
        x, y = at(23.5, 48 - 5 * number).split(",")
        kinds = [f"{contact[f]['kind']} {contact[f]['source']}" for f in ("feature_a", "feature_b")]
        out.append(f'<text x="{x}" y="{y}" fill="#c0182a" font-weight="bold">{number + 1}: {contact["distance"]:.6f} mm</text>')
        out.append(f'<text x="{x}" y="{y}" dy="17" fill="#555" font-size="12">{" – ".join(kinds)}</text>')
    out.append("</svg>")
    Path(target).write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
