"""Lengths of crossing curves against an independent kernel (Open CASCADE): `feeler query --curves` and BRepAlgoAPI_Section.

    pip install -r tools/oracle/requirements.txt
    python tools/oracle/sections.py FEELER                     # pairs of data/ in generated poses
    python tools/oracle/sections.py FEELER FILE.step...        # interfering pairs of assemblies as placed

For each interfering pair it prints both lengths (mm), the number of curves and the number of places left out. Pairs that differ by
more than 1e-5 are marked, with the largest distance (mm) of vertices from the shells of both solids, by the kernel, and from the
kernel's curves: the kernel missed a curve or computed it badly if its vertices are on both shells but far from the kernel's curves.
"""

import json
import math
import random
import subprocess
import sys
from pathlib import Path

from OCP.BRep import BRep_Builder
from OCP.BRepAlgoAPI import BRepAlgoAPI_Section
from OCP.BRepBuilderAPI import BRepBuilderAPI_MakeVertex
from OCP.BRepExtrema import BRepExtrema_DistShapeShape
from OCP.BRepGProp import BRepGProp
from OCP.gp import gp_Pnt, gp_Quaternion, gp_Trsf, gp_Vec
from OCP.GProp import GProp_GProps
from OCP.TopAbs import TopAbs_EDGE, TopAbs_FACE
from OCP.TopExp import TopExp_Explorer
from OCP.TopLoc import TopLoc_Location
from OCP.TopoDS import TopoDS_Compound

from assemblies import listed, match, placed
from judge import Solid

DATA = Path(__file__).resolve().parents[2] / "data"
MODELS = ["box", "cylinder", "cone", "sphere", "torus", "plug", "socket", "wave", "spool", "ring", "half-cone", "swept", "loft", "bore", "shaft", "void",
          "perforated-plate", "stepped-cone"]


def section(a, b):
    """The intersection curves, their length and number."""
    result = BRepAlgoAPI_Section(a, b, False)
    result.ComputePCurveOn1(False)
    result.Approximation(False)
    result.Build()
    length, n = 0.0, 0
    explorer = TopExp_Explorer(result.Shape(), TopAbs_EDGE)
    while explorer.More():
        props = GProp_GProps()
        BRepGProp.LinearProperties_s(explorer.Current(), props)
        length += props.Mass()
        n += 1
        explorer.Next()
    return result.Shape(), length, n


def faces_of(shape):
    """The boundary of a solid; distances to the solid itself are zero inside."""
    compound, builder = TopoDS_Compound(), BRep_Builder()
    builder.MakeCompound(compound)
    explorer = TopExp_Explorer(shape, TopAbs_FACE)
    while explorer.More():
        builder.Add(compound, explorer.Current())
        explorer.Next()
    return compound


def distance(p, shape):
    return BRepExtrema_DistShapeShape(BRepBuilderAPI_MakeVertex(gp_Pnt(*p)).Vertex(), shape).Value()


def query(feeler, paths, solids, pose, chord):
    command = [feeler, "query", *map(str, paths), "--solid-a", str(solids[0]), "--solid-b", str(solids[1]), "--d-max", "0", "--curves", str(chord),
               "--pose-b", pose, "--json", "--quiet"]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    return json.loads(run.stdout)


def compare(name, answer, shapes):
    if answer["status"] != "interfering":
        return None
    curves = answer["curves"]
    length = sum(math.dist(p, q) for c in curves for p, q in zip(c["points"], c["points"][1:]))
    curves_of_kernel, other, n = section(*shapes)
    off = abs(length - other) / max(length, other, 1e-300)
    left = answer["curves_left_out"]
    why = ""
    if off > 1e-5:
        points = [p for c in curves for p in c["points"][:: max(1, len(c["points"]) // 10)]]
        shells = [max((distance(p, shape) for p in points), default=0.0) for shape in (*map(faces_of, shapes), curves_of_kernel)]
        why = " DIFFERS: off the solids by {:.1e} and {:.1e}, off the kernel's curves by {:.1e}".format(*shells)
    print(f"{name}: {length:.7g} {other:.7g} {off:.1e}, {len(curves)} curves, {n} edges, {len(left)} left out" + why, flush=True)
    return off <= 1e-5


def generated(feeler):
    rng = random.Random(5)
    solids = {name: Solid(placed(DATA / f"{name}.step")[0][0]) for name in MODELS}
    done = []
    for k in range(400):
        if len(done) == 24:
            break
        a, b = rng.sample(MODELS, 2)
        x, y = solids[a], solids[b]
        middle = [(x.box[0] + x.box[1]) / 2, (y.box[0] + y.box[1]) / 2]
        q = [rng.gauss(0, 1) for _ in range(4)]
        norm = math.sqrt(sum(c * c for c in q))
        q = [c / norm for c in q] if k % 4 else [0.0, 0.0, 0.0, 1.0]
        trsf = gp_Trsf()
        trsf.SetRotation(gp_Quaternion(*q))
        c = gp_Vec(*map(float, middle[1]))
        c.Transform(trsf)
        t = [float(middle[0][i]) - (c.X(), c.Y(), c.Z())[i] + rng.uniform(-0.2, 0.2) * (x.size + y.size) / 2 for i in range(3)]
        trsf.SetTranslationPart(gp_Vec(*t))
        pose = ",".join(map(repr, t + q))
        answer = query(feeler, [DATA / f"{a}.step", DATA / f"{b}.step"], (0, 0), pose, 1e-6 * (x.size + y.size))
        moved = y.shape.Moved(TopLoc_Location(trsf))
        same = compare(f"{a} {b} {pose}", answer, (x.shape, moved))
        if same is not None:
            done.append(same)
    return done


def main():
    feeler, files = sys.argv[1], sys.argv[2:]
    done = generated(feeler) if not files else []
    for path in map(Path, files):
        solids = [(Solid(s), source) for s, source in placed(path)]
        partner = match(solids, listed(feeler, path))
        for i, (a, _) in enumerate(solids):
            for j in range(i + 1, len(solids)):
                b = solids[j][0]
                if i in partner and j in partner and max(max(a.box[0] - b.box[1]), max(b.box[0] - a.box[1])) < 0.0:
                    k, l = partner[i][0], partner[j][0]
                    answer = query(feeler, [path, path], (k, l), "0,0,0", 1e-7 * (a.size + b.size))
                    same = compare(f"{path.name} {k} {l}", answer, (a.shape, b.shape))
                    done += [same] if same is not None else []
    print(f"{len(done)} pairs, {done.count(False)} differ")


if __name__ == "__main__":
    main()
