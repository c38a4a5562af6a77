"""Packing of concave grains in a box under a lid (DIST chapter 5): void ratio, coordination numbers, contact points
and the time of a step, for spheres, meshes of 20, 80 and 320 facets, and exact grains.

    cargo build --profile dist -p feeler-cli
    python benches/packing.py --feeler target/dist/feeler --grains 100 --out packing

The scenes are `data/pour/packing.toml` with other numbers of grains, other shapes of the same bounding balls, and a
box and a lid that grow with the number of grains. Runs that are interrupted continue with the same command. A table in
Markdown is printed, one row for each run. `--time` ends runs earlier, to measure the time of a step only: 1,200 grains
take hours to settle.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data" / "pour"
SIZES = "{ by_number = [[0.71, 7], [0.5, 76], [0.35, 17]] }"
SHAPES = {
    "spheres": f"sphere = {{ diameter = {SIZES} }}",
    "20": "facets = 20",
    "80": "facets = 80",
    "320": "facets = 320",
    "exact": "",
}


def replaced(text, old, new):
    """Replaces all occurrences of a text that the scene must contain."""
    if old not in text:
        sys.exit(f"data/pour/packing.toml does not contain {old!r}")
    return text.replace(old, new)


def scene(grains, shape, time, kinetic, seed):
    """Text of the scene with this number of grains of a shape."""
    text = (DATA / "packing.toml").read_text()
    size = (grains / 100) ** (1 / 3)
    side, height = f"{2 * size:.9g}", f"{5 * size:.9g}"
    text = replaced(text, "[2, 2, 5]", f"[{side}, {side}, {height}]")
    text = replaced(text, "[0, 0, 5]", f"[0, 0, {height}]")
    text = replaced(text, "[2, 0, 0]", f"[{side}, 0, 0]")
    text = replaced(text, "[0, 2, 0]", f"[0, {side}, 0]")
    text = replaced(text, "mass = 4e-6", f"mass = {4e-6 * size**2:.9g}")
    text = replaced(text, "number = 100", f"number = {grains}")
    text = replaced(text, 'file = "peanut.step"', f'file = "{DATA / "peanut.step"}"')
    # Spheres and meshes have their own step by default.
    text = f"seed = {seed}\n" + replaced(text, "\nstep = 5e-6 ", "\n#")
    # A frame of 2,400 grains takes 70 MB.
    text = replaced(text, "frames = 0.002 ", "checkpoints = 0.002\nframes = 0.02 ")
    if time is not None:
        text = replaced(text, "end = 0.1 ", f"end = {time} ")
    if kinetic is not None:
        text = replaced(text, "kinetic = 5e-3 ", f"kinetic = {kinetic} ")
    if shape == "spheres":
        head, rest = text.split("[grains.shape.solid]")
        return head + SHAPES[shape] + "\n\n[packing]" + rest.split("[packing]")[1]
    return replaced(text, "\n[packing]", f"{SHAPES[shape]}\n\n[packing]")


def row(grains, shape, result):
    packing = result["packing"]
    points = "/".join(map(str, packing["pairs_by_points"]))
    mutual = "/".join(map(str, packing["mutual"]))
    cells = [
        grains,
        shape,
        f"{packing['void_ratio']:.3f}",
        f"{packing['coordination']:.2f} + {packing['wall_coordination']:.2f}",
        points,
        mutual,
        f"{result['end_s']:.4g}" + ("" if result["settled"] else " (moving)"),
        f"{1e3 * result['contacts_wall_s']:.3f}" if result["contacts_wall_s"] else "",
        f"{1e3 * result['step_wall_s']:.3f}" if result["step_wall_s"] else "",
        result["steps"],
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feeler", default="feeler", help="the program")
    parser.add_argument("--grains", type=int, nargs="+", default=[100], help="numbers of grains, such as 100 1200 2400")
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--out", type=Path, default=Path("packing"), help="folder for scenes and results")
    parser.add_argument("--time", type=float, help="end (s) of the runs, a multiple of 0.02")
    parser.add_argument("--kinetic", type=float, help="kinetic energy of a settled packing, as a part of its maximum")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", default="1")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    print("| grains | shape | void ratio | partners + walls of a grain | pairs with 1/2/3/4+ points |", end="")
    print(" grains in groups of 1/2/3/4/5/6+ | end (s) | contacts (ms/step) | step (ms) | steps |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for grains in args.grains:
        for shape in args.shapes:
            name = f"{grains}-{shape}"
            file = args.out / f"{name}.toml"
            file.write_text(scene(grains, shape, args.time, args.kinetic, args.seed))
            command = [args.feeler, "pour", file, "-o", args.out / name, "--json", "-q", "--threads", args.threads]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
            print(row(grains, shape, json.loads(done.stdout)), flush=True)


if __name__ == "__main__":
    main()
