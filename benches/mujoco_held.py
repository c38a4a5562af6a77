"""Plugs let go in their sockets, in MuJoCo: with exact contacts, and with what MuJoCo has.

    python benches/mujoco_held.py [SCENARIO.json...] [--seconds 10] [--margin UM] [--own] [--coacd]

Needs the wheel and MuJoCo (docs/ENGINES.md), --coacd the package coacd. A row for the pin of 19.9 mm in its bore
of 20 mm, and for each scenario: contacts, CPU time of a step (mean and 95 %), how deep the true solids are in one
another at the start of steps (asked of feeler in a query of its own), how often they were lost in one another, what
the table's function costs beside the query (median and 95 %), what the energy exceeds that of the start by as a
part of weight times size, and the RMS of the angular acceleration in the last fifth. Rows of MuJoCo's own contacts:
as in mujoco_insertions.py.

Exit status 1 where exact contacts let solids deeper into one another than 5 um, or are more than
50, or energy grows by more than 1e-4 of weight times size.
"""

import argparse
import pathlib
import sys

import numpy as np
from mujoco_bench import HEAD, SOURCES, Run, Shapes, scenes

GRAVITY = 9.81 * np.array([0.3, -0.1, -1.0]) / np.linalg.norm([0.3, -0.1, -1.0])
DEEPEST, CONTACTS, ENERGY, LOOKS = 5e-3, 50, 1e-4, 10


def hold(scene, shapes, seconds, margin):
    start = scene.in_place.copy()
    if scene.name == "peg":
        start[2] = 20.05
    model = shapes.model(start, gravity=GRAVITY, margin=margin)
    try:
        run = Run(scene, shapes.source, model, LOOKS)
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
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("files", nargs="*", type=pathlib.Path)
    asked.add_argument("--seconds", type=float, default=10.0)
    asked.add_argument("--overhead", action="store_true", help="time calls where nothing is worked out")
    asked.add_argument("--margin", type=float, default=5.0, help="gap from which on MuJoCo pushes (um)")
    asked.add_argument("--own", action="store_true")
    asked.add_argument("--coacd", action="store_true")
    asked.add_argument("--threshold", type=float, default=0.05, help="concavity that CoACD leaves")
    asked = asked.parse_args()
    Run.asks_again = asked.overhead
    wanted = dict(zip(SOURCES, [True, asked.own, asked.coacd]))
    print(f"scene  from {HEAD}   energy  rad/s2")
    is_right = True
    for scene in scenes(asked.files):
        for source in (s for s in SOURCES if wanted[s]):
            shapes = Shapes(scene, source, asked.threshold)
            if source == "coacd":
                print(f"{scene.name}: {shapes.told()}")
            run, excess, shaken = hold(scene, shapes, asked.seconds, 1e-6 * asked.margin)
            print(f"{scene.name:5}  {source:5}{run.row()}  {excess:7.0e}  {shaken:6.2f}", flush=True)
            if source == "exact":
                is_right &= run.deepest >= -DEEPEST and run.lost == 0
                is_right &= run.contacts <= CONTACTS and excess <= ENERGY
    sys.exit(0 if is_right else 1)


main()
