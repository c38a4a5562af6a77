"""Plugs pulled into their sockets and out again by targets, in MuJoCo: with exact contacts, and with what MuJoCo has.

    python benches/mujoco_insertions.py [SCENARIO.json...] [--friction MU...] [--beside PART...] [--own] [--coacd]

Needs the wheel and MuJoCo (docs/ENGINES.md), --coacd the package coacd. Scenarios and the pin of 19.9 mm in its
blind bore of 20 mm. The target goes the way of the scenario, beside its place by 0, 0.5, 1 and 2 clearances and
tilted; a spring and a damper pull the plug along (src/drive.rs); nothing but contacts keeps it out of the socket.

A row tells: contacts, CPU time of a step (mean and 95 %), how deep the true solids are in one another at the start of
steps (asked of feeler in a query of its own), how often they were lost in one another, what the table's function
costs beside the query (median and 95 %), how far the plug is from its target along its way in place and at the end
(mm), whether it seats and comes out within 0.05 mm, and the RMS of the angular acceleration in place.

--own: a row of MuJoCo's contacts of the meshes as SDF geoms. --coacd: of convex pieces of the meshes, and how deep
the pieces are in one another where the true solids stand apart in place. Plain meshes are left out: MuJoCo takes
their convex hulls, which fill every hole.

Exit status 1 where exact contacts without friction do not let a plug in and out, or are more than 50, or lose it.
"""

import argparse
import pathlib
import sys

import mujoco
import numpy as np
from mujoco_bench import HEAD, SOURCES, STEP, Run, Shapes, Target, scenes

SEATED, CONTACTS = 0.05, 50
LOOKS = {"exact": 4, "sdf": 20, "coacd": 20}


def insert(scene, shapes, part, friction):
    target = Target(scene, part)
    model = shapes.model(target.start(), friction)
    try:
        run = Run(scene, shapes.source, model, LOOKS[shapes.source])
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
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("files", nargs="*", type=pathlib.Path)
    asked.add_argument("--friction", nargs="+", type=float, default=[0.0, 0.1, 0.3])
    asked.add_argument("--beside", nargs="+", type=float, default=[0.0, 0.5, 1.0, 2.0])
    asked.add_argument("--overhead", action="store_true", help="time calls where nothing is worked out")
    asked.add_argument("--own", action="store_true")
    asked.add_argument("--coacd", action="store_true")
    asked.add_argument("--threshold", type=float, default=0.05, help="concavity that CoACD leaves")
    asked.add_argument("--only", nargs="+", help="these scenes: peg, names of scenarios")
    asked.add_argument("--without-exact", action="store_true")
    asked = asked.parse_args()
    Run.asks_again = asked.overhead
    wanted = dict(zip(SOURCES, [not asked.without_exact, asked.own, asked.coacd]))
    print(f"MuJoCo {mujoco.__version__}, steps of {STEP} s")
    print(f"scene  from   beside   mu{HEAD}  in place      out  works  rad/s2")
    is_right = True
    for scene in scenes(asked.files):
        if asked.only and scene.name not in asked.only:
            continue
        for source in (s for s in SOURCES if wanted[s]):
            shapes = Shapes(scene, source, asked.threshold)
            if source == "coacd":
                print(f"{scene.name}: {shapes.told()}")
            for friction in asked.friction:
                for part in asked.beside:
                    run, seated, out, shaken = insert(scene, shapes, part, friction)
                    works = max(abs(seated), abs(out)) <= SEATED
                    print(
                        f"{scene.name:5}  {source:5}  {part:6}  {friction:3}{run.row()}  {seated:8.4f}  {out:7.4f}"
                        f"  {'yes' if works else 'NO':5}  {shaken:6.2f}",
                        flush=True,
                    )
                    if source == "exact":
                        is_right &= (works or friction > 0) and run.contacts <= CONTACTS and run.lost == 0
    sys.exit(0 if is_right else 1)


main()
