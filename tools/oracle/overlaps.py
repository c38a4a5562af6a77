"""Volumes of the common parts of posed solids, by an independent kernel (Open CASCADE).

    pip install -r tools/oracle/requirements.txt
    python tools/oracle/overlaps.py FEELER [COUNT [SEED]]      # FEELER: the program

Poses pairs of single-solid files of data/ at random, with a fixed seed, until COUNT pairs (100 by default) overlap, and
compares `feeler query --volume` with the Boolean intersection of the kernel. Prints one line for each pair: files, volume,
relative difference, estimated relative error, method and seconds; then a summary. Pairs whose Boolean intersection is empty,
although feeler has a witness, are listed and do not count.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from OCP.BRepAlgoAPI import BRepAlgoAPI_Common
from OCP.BRepBuilderAPI import BRepBuilderAPI_Transform
from OCP.BRepGProp import BRepGProp
from OCP.gp import gp_Quaternion, gp_Trsf, gp_Vec
from OCP.GProp import GProp_GProps
from OCP.STEPControl import STEPControl_Reader

DATA = Path(__file__).parents[2] / "data"
NAMES = """ball blind-bore bore box box-nurbs cone cone-nurbs cylinder cylinder-nurbs half-cone loft perforated-plate pin
 plug race ring shaft shaft-nurbs socket sphere sphere-nurbs spool stepped-cone stepped-seat torus torus-nurbs void
 wave""".split()


def shape_of(name):
    reader = STEPControl_Reader()
    reader.ReadFile(str(DATA / f"{name}.step"))
    reader.TransferRoots()
    return reader.OneShape()


def volume_of(shape):
    props = GProp_GProps()
    BRepGProp.VolumeProperties_s(shape, props, 1e-9, True, True)
    return props.Mass()


def moved(shape, pose):
    t = gp_Trsf()
    t.SetRotation(gp_Quaternion(*pose[3:]))
    t.SetTranslationPart(gp_Vec(*pose[:3]))
    return BRepBuilderAPI_Transform(shape, t, True).Shape()


def measured(feeler, a, b, pose):
    """The overlap of feeler, or None, and the seconds that it took."""
    text = ",".join(repr(float(x)) for x in pose)
    args = [feeler, "query", DATA / f"{a}.step", DATA / f"{b}.step", "--d-max", "0.01", "--volume", "--json", "-q"]
    clock = time.monotonic()
    run = subprocess.run([*map(str, args), "--pose-b", text], capture_output=True, text=True, check=False)
    seconds = time.monotonic() - clock
    return json.loads(run.stdout).get("overlap"), seconds


def main():
    feeler, count, seed = sys.argv[1], int((sys.argv + ["", "", "100"])[2] or 100), int((sys.argv + [""] * 3)[3] or 1)
    rng = np.random.default_rng(seed)
    shapes = {name: shape_of(name) for name in NAMES}
    offs, methods, wrong = [], {}, 0
    while len(offs) < count:
        a, b = rng.choice(NAMES, 2)
        q = rng.normal(size=4)
        pose = [*rng.uniform(-8, 8, 3), *(q / np.linalg.norm(q))]
        found, seconds = measured(feeler, a, b, pose)
        if found is None:
            continue
        exact = volume_of(BRepAlgoAPI_Common(shapes[a], moved(shapes[b], pose)).Shape())
        if exact <= 0:
            print(f"{a} {b}: the kernel finds no common part of {found['volume']:.9g} mm3", ",".join(map(str, pose)))
            continue
        off = abs(found["volume"] - exact) / exact
        error = found["error"] / found["volume"]
        # The kernel integrates to about 1e-6.
        is_wrong = off > 4 * error + 1e-5
        wrong += is_wrong
        offs.append(off)
        methods[found["method"]] = methods.get(found["method"], 0) + 1
        mark = "  DIFFERS" if is_wrong else ""
        print(f"{a} {b} {exact:.9g} {off:.1e} {error:.1e} {found['method']} {seconds:.2f}{mark}", flush=True)
        if is_wrong:
            print("   ", ",".join(map(str, pose)), found["volume"])
    offs.sort()
    print(f"{len(offs)} pairs, {methods}; median difference {offs[len(offs) // 2]:.1e}, {wrong} beyond the errors")


main()
