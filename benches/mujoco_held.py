"""Plugs released in their sockets in MuJoCo, with exact contacts and with contacts of MuJoCo.

    python benches/mujoco_held.py [SCENARIO.json...] [--seconds 10] [--margin UM] [--own] [--coacd]

Needs the wheel and MuJoCo (docs/ENGINES.md), --coacd the package coacd. The table has a row for the pin of 19.9 mm in
its bore of 20 mm and for each scenario: contacts, processor time of a step (mean and 95 %), the deepest penetration of
the true solids at the start of steps (by separate queries), the number of interferences without a contact, the overhead
of the contact callback beyond the query (median and 95 %), the largest excess of the energy over that at the start as a
fraction of weight times size, and the RMS of the angular acceleration in the last fifth. --own and --coacd add the rows
of MuJoCo's contacts, as in mujoco_insertions.py.

The exit status is 1 if, with exact contacts, solids penetrate by more than 5 um, there are more than 50 contacts, or
the energy grows by more than 1e-4 of weight times size.
"""

import argparse
import pathlib
import sys

import numpy as np
from mujoco_bench import HEAD, SOURCES, Run, Shapes, scenes

GRAVITY = 9.81 * np.array([0.3, -0.1, -1.0]) / np.linalg.norm([0.3, -0.1, -1.0])
MAX_PENETRATION, MAX_CONTACTS, MAX_ENERGY_EXCESS, STEPS_PER_MEASUREMENT = 5e-3, 50, 1e-4, 10


def hold(scene, shapes, seconds, margin):
    start = scene.in_place.copy()
    if scene.name == "peg":
        start[2] = 20.05
    model = shapes.model(start, gravity=GRAVITY, margin=margin)
    try:
        run = Run(scene, shapes.source, model, STEPS_PER_MEASUREMENT)
        begin, scale = run.data.energy.sum(), model.body_mass[1] * 9.81 * scene.b.size * 1e-3
        steps = round(seconds / model.opt.timestep)
        excess, shaken = -np.inf, []
        for k in range(steps):
            shake = run.step()
            excess = max(excess, (run.data.energy.sum() - begin) / scale)
            if k > 0.8 * steps:
                shaken.append(shake)
        return run, excess, np.sqrt(np.mean(shaken))
    finally:
        shapes.release(model)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("files", nargs="*", type=pathlib.Path)
    args.add_argument("--seconds", type=float, default=10.0)
    args.add_argument("--overhead", action="store_true", help="measure the overhead of calls with a cached query")
    args.add_argument("--margin", type=float, default=5.0, help="gap below which contact forces act (um)")
    args.add_argument("--own", action="store_true")
    args.add_argument("--coacd", action="store_true")
    args.add_argument("--threshold", type=float, default=0.05, help="remaining concavity of the pieces of CoACD")
    args = args.parse_args()
    Run.measures_overhead = args.overhead
    wanted = dict(zip(SOURCES, [True, args.own, args.coacd]))
    print(f"scene  from {HEAD}   energy  rad/s2")
    is_right = True
    for scene in scenes(args.files):
        for source in (s for s in SOURCES if wanted[s]):
            shapes = Shapes(scene, source, args.threshold)
            if source == "coacd":
                print(f"{scene.name}: {shapes.describe_pieces()}")
            run, excess, shaken = hold(scene, shapes, args.seconds, 1e-6 * args.margin)
            print(f"{scene.name:5}  {source:5}{run.row()}  {excess:7.0e}  {shaken:6.2f}", flush=True)
            if source == "exact":
                is_right &= run.deepest >= -MAX_PENETRATION and run.lost == 0
                is_right &= run.contacts <= MAX_CONTACTS and excess <= MAX_ENERGY_EXCESS
    sys.exit(0 if is_right else 1)


main()
