"""Plugs pulled into their sockets and out again by targets in MuJoCo, with exact contacts and with contacts of MuJoCo.

    python benches/mujoco_insertions.py [SCENARIO.json...] [--friction MU...] [--beside PART...] [--own] [--coacd]

Needs the wheel and MuJoCo (docs/ENGINES.md), --coacd the package coacd. The scenes are the given scenarios and the
pin of 19.9 mm in its blind bore of 20 mm. The target follows the path of the scenario, displaced by 0, 0.5, 1 and 2
clearances and tilted; a spring and a damper pull the plug along (src/drive.rs). Only contacts keep the plug out of
the socket.

A row gives the contacts, the processor time of a step (mean and 95 %), the deepest penetration of the true solids at
the start of steps (by separate queries), the number of interferences without a contact, the overhead of the contact
callback beyond the query (median and 95 %), the distance of the plug from its target along its path in place and at
the end (mm), whether it seats and comes out within 0.05 mm, and the RMS of the angular acceleration in place.

--own adds a row of MuJoCo's contacts for the meshes as SDF geoms, --coacd one for convex pieces of the meshes, with
their penetration in place, where the true solids are apart. Plain meshes are omitted, because MuJoCo replaces them by
their convex hulls, which fill every hole.

The exit status is 1 if, with exact contacts and without friction, a plug does not seat or come out, or if exact
contacts are more than 50 or miss an interference.
"""

import argparse
import pathlib
import sys

import mujoco
import numpy as np
from mujoco_bench import HEAD, SOURCES, STEP, Run, Shapes, Target, scenes

MAX_SEATED_DISTANCE, MAX_CONTACTS = 0.05, 50
STEPS_PER_MEASUREMENT = {"exact": 4, "sdf": 20, "coacd": 20}


def insert(scene, shapes, part, friction):
    target = Target(scene, part)
    model = shapes.model(target.start(), friction)
    try:
        run = Run(scene, shapes.source, model, STEPS_PER_MEASUREMENT[shapes.source])
        first, last = (k / 60 for k in scene.place)
        shaken, seated, off = [], np.nan, np.nan
        for k, now in enumerate(target.times):
            target.pull(k, model, run.data)
            shake = run.step()
            off = run.data.qpos[2] * 1e3 - target.points[k + 1, 2]
            if now - STEP < target.seat <= now:
                seated = off
            if first <= now < last:
                shaken.append(shake)
        return run, seated, off, np.sqrt(np.mean(shaken))
    finally:
        shapes.release(model)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("files", nargs="*", type=pathlib.Path)
    args.add_argument("--friction", nargs="+", type=float, default=[0.0, 0.1, 0.3])
    args.add_argument("--beside", nargs="+", type=float, default=[0.0, 0.5, 1.0, 2.0])
    args.add_argument("--overhead", action="store_true", help="measure the overhead of calls with a cached query")
    args.add_argument("--own", action="store_true")
    args.add_argument("--coacd", action="store_true")
    args.add_argument("--threshold", type=float, default=0.05, help="remaining concavity of the pieces of CoACD")
    args.add_argument("--only", nargs="+", help="run only these scenes: peg, names of scenarios")
    args.add_argument("--without-exact", action="store_true")
    args = args.parse_args()
    Run.measures_overhead = args.overhead
    wanted = dict(zip(SOURCES, [not args.without_exact, args.own, args.coacd]))
    print(f"MuJoCo {mujoco.__version__}, steps of {STEP} s")
    print(f"scene  from   beside   mu{HEAD}  in place      out  works  rad/s2")
    is_right = True
    for scene in scenes(args.files):
        if args.only and scene.name not in args.only:
            continue
        for source in (s for s in SOURCES if wanted[s]):
            shapes = Shapes(scene, source, args.threshold)
            if source == "coacd":
                print(f"{scene.name}: {shapes.describe_pieces()}")
            for friction in args.friction:
                for part in args.beside:
                    run, seated, out, shaken = insert(scene, shapes, part, friction)
                    works = max(abs(seated), abs(out)) <= MAX_SEATED_DISTANCE
                    print(
                        f"{scene.name:5}  {source:5}  {part:6}  {friction:3}{run.row()}  {seated:8.4f}  {out:7.4f}"
                        f"  {'yes' if works else 'NO':5}  {shaken:6.2f}",
                        flush=True,
                    )
                    if source == "exact":
                        is_right &= (works or friction > 0) and run.contacts <= MAX_CONTACTS and run.lost == 0
    sys.exit(0 if is_right else 1)


main()
