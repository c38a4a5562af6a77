"""Golden distances between models of `data/` from an independent kernel (Open CASCADE through its Python package).

    pip install -r tools/oracle/requirements.txt
    python tools/oracle/distances.py [DATA_DIR]      # writes DATA_DIR/golden/distances.json

For every pair, seeded random poses of B around a base pose are kept if the bodies are separated. The recorded number is the
global minimum distance. The kernel misses some minima; a smaller value with footpoints on both bodies is right then.
"""

import json
import math
import sys
from pathlib import Path

import numpy as np
from OCP.BRepExtrema import BRepExtrema_DistShapeShape
from OCP.STEPControl import STEPControl_Reader
from OCP.TopLoc import TopLoc_Location
from OCP.gp import gp_Trsf

# a, b, base translation of B, base rotation vector of B, spread of translation (mm), spread of rotation (deg)
PAIRS = [
    ("box", "cylinder", (0, 0, 20), (0, 0, 0), 25, 180),
    ("cylinder", "torus", (30, 0, 10), (0, 0, 0), 15, 180),
    ("cone", "sphere", (20, 0, 12), (0, 0, 0), 12, 180),
    ("half-cone", "box", (0, 40, 15), (0, 0, 0), 15, 180),
    ("torus", "ring", (0, 0, 14), (0, 0, 0), 10, 180),
    ("bore", "pin", (0, 0, 0), (0, 0, 0), 0.04, 0.05),
    ("bore", "pin-short", (0, 0, 0), (0, 0, 0), 0.04, 0.15),
    ("blind-bore", "pin-short", (0, 0, 5), (0, 0, 0), 0.04, 0.1),
    ("socket", "plug", (0, 0, 0.1), (0, 0, 0), 0.03, 0.04),
    ("stepped-seat", "stepped-cone", (0, 0, 0.2), (0, 0, 0), 0.08, 0.1),
    ("spool", "spool", (1.3, 0, 0), (math.pi / 2, 0, 0), 0.05, 3),
    ("shaft", "ring", (0, 0, 30), (0, 0, 0), 0.1, 1.0),
    ("race", "ball", (13, 0, 0), (0, 0, 0), 0.08, 180),
    ("perforated-plate", "pin-short", (4, 4, 16), (0, 0, 0), 3, 20),
    ("bayonet-socket", "bayonet-plug", (0, 0, 0), (0, 0, 0), 0.04, 0.1),
    ("loft", "torus", (0, 0, 30), (0, 0, 0), 8, 180),
    ("swept", "loft", (20, 0, 10), (0, 0, 0), 6, 180),
    ("wave", "sphere", (0, 0, 18), (0, 0, 0), 7, 180),
    ("void", "box", (45, 5, 5), (0, 0, 0), 8, 180),
    ("inch-bracket", "cylinder", (35, 12, 25), (0, 0, 0), 12, 180),
]
POSES = 20


def read(path):
    reader = STEPControl_Reader()
    assert reader.ReadFile(str(path)) == 1, path
    reader.TransferRoots()
    return reader.OneShape()


def rotation(vector):
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = np.asarray(vector) / angle
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * (k @ k)


def placed(shape, r, t):
    trsf = gp_Trsf()
    trsf.SetValues(*r[0], t[0], *r[1], t[1], *r[2], t[2])
    return shape.Moved(TopLoc_Location(trsf))


def main():
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "data"
    shapes, out = {}, []
    for index, (a, b, t0, r0, dt, dr) in enumerate(PAIRS):
        for name in (a, b):
            shapes.setdefault(name, read(data / f"{name}.step"))
        poses, attempt = [], 0
        while len(poses) < POSES and attempt < 40 * POSES:
            rng = np.random.default_rng([2026, index, attempt])
            attempt += 1
            d = rng.normal(size=3)
            t = np.array(t0) + d / np.linalg.norm(d) * dt * rng.random() ** (1 / 3)
            axis = rng.normal(size=3)
            r = rotation(axis / np.linalg.norm(axis) * math.radians(dr) * rng.random()) @ rotation(r0)
            extrema = BRepExtrema_DistShapeShape(shapes[a], placed(shapes[b], r, t))
            if not extrema.IsDone() or extrema.Value() < 1e-3 or extrema.InnerSolution():
                continue
            pa, pb = extrema.PointOnShape1(1), extrema.PointOnShape2(1)
            matrix = [[*map(float, r[i]), float(t[i])] for i in range(3)] + [[0.0, 0.0, 0.0, 1.0]]
            poses.append({"pose_b": matrix, "distance": extrema.Value(),
                          "point_a": [pa.X(), pa.Y(), pa.Z()], "point_b": [pb.X(), pb.Y(), pb.Z()]})
        print(f"{a} / {b}: {len(poses)} poses in {attempt} attempts, "
              f"{min(p['distance'] for p in poses):.4f} .. {max(p['distance'] for p in poses):.4f} mm", flush=True)
        out.append({"a": a, "b": b, "poses": poses})
    target = data / "golden"
    target.mkdir(exist_ok=True)
    document = {"kernel": "Open CASCADE 7.9.3 (cadquery-ocp 7.9.3.1.1), BRepExtrema_DistShapeShape",
                "unit": "mm", "pose": "4x4 row-major; moves B, A stays as read", "pairs": out}
    (target / "distances.json").write_text(json.dumps(document, indent=0))


if __name__ == "__main__":
    main()
