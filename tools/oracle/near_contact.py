"""Checks the poses or motions of a benchmark run with distances of an independent kernel (Open CASCADE).

    pip install -r tools/oracle/requirements.txt
    python tools/oracle/near_contact.py MODELS FILE.jsonl [--limit N] [--jobs N]

FILE.jsonl is written by the benchmark programs `near_contact` or `free_motions` with `--jsonl` (and `--all`). The script prints each
pose that the kernel contradicts, and the counts at the end; the exit status is 1 if there is any. The kernel has no signed distance:
it reports 0 for solids that touch or interfere. A query is

* `late` if it reports no minimum, or only larger ones, and the kernel has a smaller distance;
* `early` if its minimum is smaller than the distance of the kernel, which misses some minima: such cases need inspection;
* `wrong` if it is `Separated` at distance 0 of the kernel, or `Interfering` at a positive distance.

A motion is `late` if the kernel's distance at a time before its contact (or at any time, if it is free) is 0. The kernel
sometimes takes solids that are far apart for one inside the other; their common volume decides then.
"""

import argparse
import json
import multiprocessing
import sys
from functools import cache
from pathlib import Path

from OCP.BRep import BRep_Builder
from OCP.BRepAlgoAPI import BRepAlgoAPI_Common
from OCP.BRepExtrema import BRepExtrema_DistShapeShape
from OCP.BRepGProp import BRepGProp
from OCP.GProp import GProp_GProps
from OCP.gp import gp_Quaternion, gp_Trsf, gp_Vec
from OCP.TopAbs import TopAbs_ShapeEnum
from OCP.TopExp import TopExp_Explorer
from OCP.TopLoc import TopLoc_Location
from OCP.TopoDS import TopoDS_Compound

from distances import read

# Maximum difference (mm) that is accepted in addition to one tolerance of the query; distance (mm) of the
# kernel that counts as 0.
ACCURACY, ZERO = 1e-6, 1e-9


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


def check_motion(row, a, b):
    """Contradictions between the kernel and the first contact of a motion; the poses are samples over [0, 1]."""
    contact = row["time"]
    for time, pose in row["samples"]:
        if (contact is None or time < contact - 1e-6) and distance(a, b, pose) == 0.0:
            return [f"late: {row['outcome']} at {contact}, kernel 0 at {time}"]
    return []


def check(task):
    models, row = task
    a, b = (shape(str(Path(models) / row[k])) for k in "ab")
    try:
        return row, (check_motion if "samples" in row else check_pose)(row, a, b)
    except Exception as e:  # noqa: BLE001 (any error of the kernel)
        return row, f"{type(e).__name__}: {e}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("models", type=Path)
    parser.add_argument("jsonl", type=Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    rows = [json.loads(line) for line in args.jsonl.read_text().splitlines()][: args.limit]
    contradicted = failed = 0
    with multiprocessing.get_context("fork").Pool(args.jobs) as pool:
        for row, found in pool.imap(check, [(args.models, row) for row in rows]):
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
