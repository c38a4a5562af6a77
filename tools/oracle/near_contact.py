"""Checks the poses or motions of a benchmark run with distances of an independent kernel (Open CASCADE).

    pip install -r tools/oracle/requirements.txt
    python tools/oracle/near_contact.py MODELS FILE.jsonl [--limit N] [--every N] [--samples N] [--jobs N]

FILE.jsonl is written by the benchmark programs `near_contact` or `free_motions` with `--jsonl` (and `--all`). The script prints each
pose that the kernel contradicts, and the counts at the end; the exit status is 1 if there is any. The kernel has no signed distance:
it reports 0 for solids that touch or interfere. A query is

* `late` if it reports no minimum, or only larger ones, and the kernel has a smaller distance;
* `early` if its minimum is smaller than the distance of the kernel, which misses some minima: such cases need inspection;
* `wrong` if it is `Separated` at distance 0 of the kernel, or `Interfering` at a positive distance.

A motion is `late` if the kernel's distance at a time before its contact (or at any time, if it is free) is 0. `--samples N` checks
the N poses nearest to the contact, or to the place where a free motion passes the other solid. The kernel sometimes takes solids that are far apart for one inside the other; their common volume decides then.
"""

import argparse
import json
import multiprocessing
import sys
from functools import cache
from pathlib import Path

import fcl
import numpy as np
from OCP.BRep import BRep_Builder, BRep_Tool
from OCP.BRepAlgoAPI import BRepAlgoAPI_Common
from OCP.BRepExtrema import BRepExtrema_DistShapeShape
from OCP.BRepGProp import BRepGProp
from OCP.BRepMesh import BRepMesh_IncrementalMesh
from OCP.GProp import GProp_GProps
from OCP.gp import gp_Quaternion, gp_Trsf, gp_Vec
from OCP.TopAbs import TopAbs_Orientation, TopAbs_ShapeEnum
from OCP.TopExp import TopExp_Explorer
from OCP.TopLoc import TopLoc_Location
from OCP.TopoDS import TopoDS, TopoDS_Compound

from distances import read

# Maximum difference (mm) that is accepted in addition to one tolerance of the query; distance (mm) of the
# kernel that counts as 0.
ACCURACY, ZERO = 1e-6, 1e-9
# Largest deviation (mm) and angle (rad) of triangles from their solid.
CHORD, ANGLE = 0.005, 0.2


@cache
def shape(path):
    return read(path)


def moved(a_shape, pose):
    x, y, z, qx, qy, qz, qw = pose
    motion = gp_Trsf()
    motion.SetRotation(gp_Quaternion(qx, qy, qz, qw))
    motion.SetTranslationPart(gp_Vec(x, y, z))
    return a_shape.Moved(TopLoc_Location(motion))


def distance(a, b, pose):
    extrema = BRepExtrema_DistShapeShape(a, moved(b, pose))
    assert extrema.IsDone(), "no distance"
    value = extrema.Value()
    if extrema.InnerSolution():
        if common_volume(a, moved(b, pose)) > 0.0:
            return 0.0
        value = BRepExtrema_DistShapeShape(boundary(a), boundary(moved(b, pose))).Value()
    return 0.0 if value < ZERO else value


def boundary(solids):
    """The shells of solids."""
    builder, shells = BRep_Builder(), TopoDS_Compound()
    builder.MakeCompound(shells)
    found = TopExp_Explorer(solids, TopAbs_ShapeEnum.TopAbs_SHELL)
    while found.More():
        builder.Add(shells, found.Current())
        found.Next()
    return shells


def common_volume(a, b):
    properties = GProp_GProps()
    BRepGProp.VolumeProperties_s(BRepAlgoAPI_Common(a, b).Shape(), properties)
    return properties.Mass()


@cache
def triangles(path):
    """Corners of the triangles of a solid, oriented outwards, and their tree."""
    solid = shape(path)
    BRepMesh_IncrementalMesh(solid, CHORD, False, ANGLE, False)
    corners, faces = [], TopExp_Explorer(solid, TopAbs_ShapeEnum.TopAbs_FACE)
    while faces.More():
        face, place = TopoDS.Face_s(faces.Current()), TopLoc_Location()
        mesh = BRep_Tool.Triangulation_s(face, place)
        assert mesh is not None, "a face without triangles"
        points = [mesh.Node(i + 1).Transformed(place.Transformation()) for i in range(mesh.NbNodes())]
        points = np.array([(p.X(), p.Y(), p.Z()) for p in points])
        order = np.array([mesh.Triangle(i + 1).Get() for i in range(mesh.NbTriangles())]) - 1
        if face.Orientation() == TopAbs_Orientation.TopAbs_REVERSED:
            order = order[:, ::-1]
        corners.append(points[order])
        faces.Next()
    corners = np.concatenate(corners)
    tree = fcl.BVHModel()
    tree.beginModel(len(corners), 3 * len(corners))
    tree.addSubModel(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))
    tree.endModel()
    return corners, tree


def encloses(corners, p):
    """Whether a point is inside a closed surface of triangles: the sum of their solid angles is 4 pi."""
    a, b, c = (corners[:, i] - p for i in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    dot = lambda x, y: np.einsum("ij,ij->i", x, y)
    return np.arctan2(volume, la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb).sum() > np.pi


def is_apart(path_a, path_b, pose):
    """Whether the triangles prove that two solids are apart."""
    (corners_a, a), (corners_b, b) = triangles(path_a), triangles(path_b)
    *position, x, y, z, w = pose
    move = fcl.Transform(np.array([w, x, y, z]), np.array(position))
    found = fcl.distance(fcl.CollisionObject(a), fcl.CollisionObject(b, move), fcl.DistanceRequest(), fcl.DistanceResult())
    if found <= 4.0 * CHORD:
        return False
    turn, shift = np.array(move.getRotation()), np.array(move.getTranslation())
    return not (encloses(corners_a, turn @ corners_b[0, 0] + shift) or encloses(corners_b, turn.T @ (corners_a[0, 0] - shift)))


def check_pose(row, a, b):
    """Contradictions between the kernel and the queries of a pose."""
    kernel = distance(a, b, row["pose_b"])
    margin = row["tolerance"] + ACCURACY
    found = {}
    if kernel > max(row["gap"], 0.0) + margin:
        found[f"kernel {kernel:.9g}, more than the prescribed gap {row['gap']:.9g}"] = []
    for name, query in row["queries"].items():
        smallest, status = query["least"], query["status"]
        reported = row["d_max"] if smallest is None else max(smallest, 0.0)
        if status != "Interfering" and kernel < reported - margin:
            found.setdefault(f"late: {reported:.9g}, kernel {kernel:.9g}", []).append(name)
        if smallest is not None and kernel > reported + margin:
            found.setdefault(f"early: {reported:.9g}, kernel {kernel:.9g}", []).append(name)
        if (status == "Separated" and kernel == 0.0) or (status == "Interfering" and kernel > margin):
            found.setdefault(f"wrong: {status}, kernel {kernel:.9g}", []).append(name)
    return [f"{what} [{' '.join(names)}]" if names else what for what, names in found.items()]


def check_motion(row, paths, max_samples):
    """Contradictions between the kernel and the first contact of a motion; the poses are samples over [0, 1]."""
    contact = row["time"]
    before = [(t, pose) for t, pose in row["samples"] if contact is None or t < contact - 1e-6]
    before.sort(key=lambda sample: abs(sample[0] - (row.get("passes", 0.5) if contact is None else contact)))
    for time, pose in before[:max_samples]:
        if not is_apart(*paths, pose) and distance(*map(shape, paths), pose) == 0.0:
            return [f"late: {row['outcome']} at {contact}, kernel 0 at {time}"]
    return []


def check(task):
    models, row, max_samples = task
    paths = [str(Path(models) / row[k]) for k in "ab"]
    try:
        if "samples" in row:
            return row, check_motion(row, paths, max_samples)
        return row, check_pose(row, *map(shape, paths))
    except Exception as e:  # noqa: BLE001 (any error of the kernel)
        return row, f"{type(e).__name__}: {e}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", type=Path)
    parser.add_argument("jsonl", type=Path)
    parser.add_argument("--limit", type=int, help="number of rows")
    parser.add_argument("--every", type=int, default=1, help="check every N-th row")
    parser.add_argument("--samples", type=int, help="poses of each motion")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    rows = [json.loads(line) for line in args.jsonl.read_text().splitlines()][:: args.every][: args.limit]
    contradicted = failed = 0
    with multiprocessing.get_context("fork").Pool(args.jobs) as pool:
        for row, found in pool.imap(check, [(args.models, row, args.samples) for row in rows]):
            if isinstance(found, str):
                failed += 1
                print(f"#{row['number']} {row['a']} {row['b']} the kernel fails: {found}", flush=True)
            elif found:
                contradicted += 1
                print(f"#{row['number']} {row['a']} {row['b']} gap {row.get('gap')}: {'; '.join(found)}", flush=True)
    print(f"{len(rows)} checked, {contradicted} contradicted, {failed} without a distance of the kernel")
    sys.exit(contradicted > 0)


if __name__ == "__main__":
    main()
