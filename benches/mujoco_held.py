"""Plugs let go in their sockets, in MuJoCo: with exact contacts, and with MuJoCo's own of their meshes.

    python benches/mujoco_held.py [SCENARIO.json...] [--seconds 10] [--own]

Needs the wheel and MuJoCo (docs/ENGINES.md). A row for the pin of 19.9 mm in its bore of 20 mm, and for each
scenario: contacts, time of a step, how deep the true solids are in one another at the end of steps (asked of
feeler in a query of its own), what the energy exceeds that of the start by as a part of weight times size, and
the RMS of the angular acceleration in the last fifth. With --own a second row: MuJoCo's contacts of the meshes
as SDF geoms.

Exit status 1 where exact contacts let solids deeper into one another than 5 um, or are more than
50, or energy grows by more than 1e-4 of weight times size.
"""

import argparse
import json
import pathlib
import sys
import time

import mujoco
import numpy as np

import feeler
import feeler.mujoco as exact

ROOT = pathlib.Path(__file__).resolve().parents[1]
STIFF = 'solref="0.002 1" solimp="0.99 0.99 0.001" friction="0 0 0" condim="1"'
STEEL = 7850
GRAVITY = 9.81 * np.array([0.3, -0.1, -1.0]) / np.linalg.norm([0.3, -0.1, -1.0])
DEEPEST, CONTACTS, ENERGY, LOOKS = 5e-3, 50, 1e-4, 10


def scenes(files):
    bodies = [feeler.prepare(ROOT / "data" / f"{n}.step").body() for n in ("blind-bore", "pin")]
    yield "peg", *bodies, np.array([0, 0, 20.05, 0, 0, 0, 1.0])
    for file in files:
        text = json.loads(file.read_text())
        a, b = (feeler.prepare(file.parent / text[k]).body() for k in "ab")
        phase = next(p for p in text["phases"] if "place" in p[0])
        pose = text["poses_b"][(phase[1] + phase[2]) // 2]
        yield file.stem, a, b, np.array(pose, dtype=float)


def model(a, b, pose):
    place = " ".join(repr(float(x)) for x in pose[:3] * 1e-3)
    x, y, z, w = (repr(float(q)) for q in pose[3:])
    gravity = " ".join(repr(float(x)) for x in GRAVITY)
    return mujoco.MjModel.from_xml_string(f"""<mujoco><option timestep="0.001" gravity="{gravity}"/>
      <asset>{exact.mesh_asset("a", a)}{exact.mesh_asset("b", b)}</asset><worldbody>
      <geom name="a" type="sdf" mesh="a" {STIFF}/><body pos="{place}" quat="{w} {x} {y} {z}"><freejoint/>
      {exact.inertial(b, STEEL)}<geom name="b" type="sdf" mesh="b" {STIFF}/></body></worldbody></mujoco>""")


def run(a, b, pose, seconds, is_exact):
    m = model(a, b, pose)
    m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    if is_exact:
        exact.install(m, {"a": a, "b": b})
    try:
        d, judge = mujoco.MjData(m), feeler.ContactPair(a, b)
        mujoco.mj_forward(m, d)
        begin, scale = d.energy.sum(), m.body_mass[1] * 9.81 * b.size * 1e-3
        times, most, deepest, excess, shaken = [], 0, 0.0, -np.inf, []
        steps = round(seconds / m.opt.timestep)
        thick = 0.45 * (a.wall + b.wall)
        for k in range(steps):
            spin = d.qvel[3:6].copy()
            clock = time.perf_counter()
            mujoco.mj_step(m, d)
            times.append(1e3 * (time.perf_counter() - clock))
            most, excess = max(most, d.ncon), max(excess, (d.energy.sum() - begin) / scale)
            if k > 0.8 * steps:
                shaken.append(((d.qvel[3:6] - spin) ** 2).sum() / m.opt.timestep**2)
            if k % LOOKS == 0:
                at = [*(d.qpos[:3] * 1e3), *d.qpos[4:7], d.qpos[3]]
                found = judge.query(pose_b=at, d_max=0, penetration=min(0.2, thick))
                told = found["distance"].min(initial=0.0)
                # In one another without a contact: deeper than that.
                deepest = min(deepest, -np.inf if judge.status == "interfering" and told == 0 else told)
        return np.mean(times), most, deepest, excess, np.sqrt(np.mean(shaken))
    finally:
        if is_exact:
            exact.uninstall(m)


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("files", nargs="*", type=pathlib.Path)
    asked.add_argument("--seconds", type=float, default=10.0)
    asked.add_argument("--own", action="store_true")
    asked = asked.parse_args()
    print("scene     contacts from    most  ms mean  deepest mm   energy  rad/s2")
    is_right = True
    for name, a, b, pose in scenes(asked.files):
        for is_exact in [True, False] if asked.own else [True]:
            mean, most, deepest, excess, shaken = run(a, b, pose, asked.seconds, is_exact)
            source = "exact" if is_exact else "MuJoCo"
            row = f"{name:8}  {source:13}  {most:6}  {mean:7.3f}  {deepest:10.2e}  {excess:7.0e}  {shaken:6.2f}"
            print(row, flush=True)
            is_right &= not is_exact or (deepest >= -DEEPEST and most <= CONTACTS and excess <= ENERGY)
    sys.exit(0 if is_right else 1)


main()
