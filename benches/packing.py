"""Packing of concave grains in a box under a lid (DIST chapter 5): void ratio, coordination numbers, contact points
and the time of a step, for spheres, meshes of 20, 80 and 320 facets, and exact grains.

    cargo build --profile dist -p feeler-cli
    python benches/packing.py --feeler target/dist/feeler --grains 100 --out packing

The scenes are `data/pour/packing.toml` with other numbers of grains, other shapes of the same bounding balls, and a
box and a lid that grow with the number of grains. Runs that are interrupted continue with the same command. A table in
Markdown is printed, one row for each run. `--time` ends runs earlier, to measure the time of a step only: 1,200 grains
take hours to settle.

    python benches/packing.py --feeler target/dist/feeler --grains 100 --search 0.02 0.06 --out packing-search

measures instead what lower bounds of distances save in the search for contacts (DIST 3.3): at each of these times (s)
it computes the same few rows of the series with bounds and by a search of all pairs whose bounding balls overlap, and
compares the results. Times are processor times.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data" / "pour"
SIZES = "{ by_number = [[0.71, 7], [0.5, 76], [0.35, 17]] }"
SHAPES = {
    "spheres": f"sphere = {{ diameter = {SIZES} }}",
    "20": "facets = 20",
    "80": "facets = 80",
    "320": "facets = 320",
    "exact": "",
    "ellipsoids": "superellipsoid",
}
ELLIPSOIDS = "superellipsoid = { semi_axes = [1, 1, 2], exponents = [1, 1], diameter = SIZES }"
"""Grains that bounding balls of the sizes of the peanuts contain: their own diameter is 0.63 of these."""
MEASURED = {"spheres": 0.01, "ellipsoids": 0.01}
"""Simulated time (s) over which both searches are compared, a multiple of the time between rows, if it is not
`MEASURED_SLOW`. Runs with fast steps would end before they are interrupted at its beginning."""
MEASURED_SLOW = 0.0005


def replaced(text, old, new):
    """Replaces all occurrences of a text that the scene must contain."""
    if old not in text:
        sys.exit(f"data/pour/packing.toml does not contain {old!r}")
    return text.replace(old, new)


def scene(grains, shape, end, kinetic, seed):
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
    if end is not None:
        text = replaced(text, "end = 0.1 ", f"end = {end} ")
    if kinetic is not None:
        text = replaced(text, "kinetic = 5e-3 ", f"kinetic = {kinetic} ")
    if shape == "spheres":
        head, rest = text.split("[grains.shape.solid]")
        return head + SHAPES[shape] + "\n\n[packing]" + rest.split("[packing]")[1]
    if shape == "ellipsoids":
        head, rest = text.split("[grains.shape.solid]")
        sizes = "{ by_number = [[0.447, 7], [0.315, 76], [0.22, 17]] }"
        return head + f"shape = {{ {ELLIPSOIDS.replace('SIZES', sizes)} }}\n\n[packing]" + rest.split("[packing]")[1]
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


def last_time(folder):
    rows = (folder / "series.csv").read_text().splitlines() if (folder / "series.csv").exists() else []
    return float(rows[-1].split(",")[0]) if len(rows) > 1 and rows[-1] else 0.0


def interrupted(command, folder, until):
    """Runs a scene and interrupts it after the simulated time `until` (s), so that it writes a checkpoint."""
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while run.poll() is None and last_time(folder) < until:
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    run.wait()


def compared_searches(args, grains, shape, start):
    """Row of the table of `--search`: steps from the checkpoint after `start`, with bounds and with all searches."""
    name = f"{grains}-{shape}-{start:g}"
    file, folder = args.out / f"{name}.toml", args.out / name
    text = scene(grains, shape, round(start + MEASURED.get(shape, MEASURED_SLOW), 9), 1e-9, args.seed)
    file.write_text(text.replace("frames = 0.02 ", "frames = 0.0005 ").replace("checkpoints = 0.002\n", ""))
    command = [args.feeler, "pour", file, "-q", "--threads", args.threads]
    interrupted([*command, "-o", folder], folder, start)
    results, series = {}, {}
    for search in ("used", "all"):
        copy = args.out / f"{name}-{search}"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        before = os.times()
        run = [*command, "-o", copy, "--json", "--count-searches", search]
        done = subprocess.run(run, stdout=subprocess.PIPE, check=True)
        after = os.times()
        result = json.loads(done.stdout)
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        result["cpu_share"] = cpu / result["wall_s"]
        results[search], series[search] = result, (copy / "series.csv").read_bytes()
    if series["used"] != series["all"] or results["all"]["search"]["missed"]:
        sys.exit(f"{name}: the results depend on the search")
    counts, steps = results["used"]["search"], results["used"]["steps"]
    if not steps:
        sys.exit(f"{name}: the run had ended before it was interrupted")
    # The wall times of contacts, scaled to processor time.
    times = [1e3 * r["contacts_wall_s"] * min(r["cpu_share"], 1) for r in (results["all"], results["used"])]
    cells = [
        grains,
        shape,
        f"{start:g}",
        *(f"{counts[k] / steps:.1f}" for k in ("excluded", "tracked", "searched")),
        *(f"{t:.3f}" for t in times),
        f"{100 * (1 - times[1] / times[0]):.0f} %",
        steps,
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feeler", default="feeler", help="the program")
    parser.add_argument("--grains", type=int, nargs="+", default=[100], help="numbers of grains, such as 100 1200 2400")
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=list(SHAPES)[:-1])
    parser.add_argument("--out", type=Path, default=Path("packing"), help="folder for scenes and results")
    parser.add_argument("--time", type=float, help="end (s) of the runs, a multiple of 0.02")
    parser.add_argument("--kinetic", type=float, help="kinetic energy of a settled packing, as a part of its maximum")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--search", type=float, nargs="+", help="times (s) at which searches are compared")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    if args.search:
        print("| grains | shape | time (s) | pairs excluded | tracked | searched |", end="")
        print(" contacts without bounds (ms/step) | with bounds | saved | steps |")
        print("|---|---|---|---|---|---|---|---|---|---|")
        for grains in args.grains:
            for shape in args.shapes:
                for start in args.search:
                    print(compared_searches(args, grains, shape, start), flush=True)
        return
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
