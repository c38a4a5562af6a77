"""Measures the headline figures of the documentation site on the models of data/, with the program alone.

    python tools/site/figures.py FEELER                # prints the page
    python tools/site/figures.py FEELER target/site    # writes src/benchmarks.md and figures.json

Every figure is measured in this run; --runs N sets the number of repetitions (3). Needs only the standard library.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Models whose preparation is measured.
MODELS = ["data/bore.step", "data/loft.step", "data/perforated-plate.step", "data/evaluation/cone-plug.step",
          "data/evaluation/hotstab-detailed.stpz"]  # fmt: skip
# Motions: name, the two models, trajectory, largest distance (twice the clearance).
MOTIONS = [
    ("bayonet plug in its socket", "data/bayonet-socket.step", "data/bayonet-plug.step", "data/bayonet.json", 0.2),
    ("bayonet cone in its receptacle", "data/evaluation/cone-receptacle.step", "data/evaluation/cone-plug.step",
     "data/evaluation/cone.json", 0.4),
    ("hotstab in its receptacle", "data/evaluation/hotstab-receptacle.step", "data/evaluation/hotstab-plug.step",
     "data/evaluation/hotstab.json", 0.2),
]  # fmt: skip
# Whole runs of the program, from STEP files to a printed result.
COMMANDS = [
    "feeler query data/socket.step data/plug.step --d-max 7 --pose-b 0.5,0,20,0,0.0261769,0,0.9996573",
    "feeler query data/torus.step data/loft.step --d-max 12 --pose-b 0,0,-12",
    "feeler clearance data/assemblies/rack.step",
    "feeler mechanism data/linkage/four-bar.toml",
]


def run(feeler: Path, arguments: list[str], allowed: tuple[int, ...] = (0,)) -> str:
    """Runs the program in the root of the repository and returns what it prints."""
    done = subprocess.run([str(feeler), *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in allowed:
        sys.exit(f"exit status {done.returncode} of feeler {' '.join(arguments)}\n{done.stderr}")
    return done.stdout


def processor() -> str:
    """Name of the processor, if the system states it."""
    info = Path("/proc/cpuinfo")
    for line in info.read_text(encoding="utf-8").splitlines() if info.exists() else []:
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def significant(value: float) -> str:
    """The value with two significant digits, without an exponent."""
    return f"{float(f'{value:.2g}'):.10f}".rstrip("0").rstrip(".")


def prepared(feeler: Path, runs: int) -> list[dict]:
    """Times of `feeler preprocess`, one file at a time."""
    out = []
    with tempfile.TemporaryDirectory() as folder:
        for model in MODELS:
            arguments = ["preprocess", model, "-o", f"{folder}/out.feeler", "--force", "--json", "-q"]
            found = [json.loads(run(feeler, arguments))["inputs"][0] for _ in range(runs)]
            seconds = [entry["wall_s"] for entry in found]
            out.append({"model": model, "faces": found[0]["faces"], "bytes": found[0]["bytes"],
                        "median_s": statistics.median(seconds), "worst_s": max(seconds)})  # fmt: skip
    return out


def swept(feeler: Path, runs: int) -> list[dict]:
    """Times of the queries of `feeler sweep`, each with minima and verdict, on one thread."""
    out = []
    for name, a, b, trajectory, d_max in MOTIONS:
        arguments = ["sweep", a, b, "--d-max", str(d_max), "--trajectory", trajectory]
        frames = [json.loads(run(feeler, [*arguments, "--json", "-q"], (0, 1)))["frames"] for _ in range(runs)]
        # The first pose has no earlier results to reuse.
        poses = [[frame["wall_us"] / 1e3 for frame in same] for same in zip(*frames, strict=True)]
        warm = [statistics.median(times) for times in poses[1:]]
        medians = [statistics.median(times) for times in zip(*poses[1:], strict=True)]
        near = [len(frame["contacts"]) for frame in frames[0] if frame["contacts"]]
        out.append({"name": name, "command": "feeler " + " ".join(arguments), "poses": len(poses),
                    "in_reach": len(near), "minima": statistics.median(near), "first_ms": statistics.median(poses[0]),
                    "median_ms": statistics.median(warm),
                    "medians_ms": [min(medians), max(medians)], "worst_ms": max(warm),
                    "single_worst_ms": max(t for times in poses[1:] for t in times)})  # fmt: skip
    return out


def whole(feeler: Path, runs: int) -> list[dict]:
    """Times of whole runs of the program, from its start to its end."""
    out = []
    for command in COMMANDS:
        seconds = []
        for _ in range(runs):
            start = time.perf_counter()
            run(feeler, command.split()[1:])
            seconds.append(time.perf_counter() - start)
        out.append({"command": command, "median_s": statistics.median(seconds), "worst_s": max(seconds)})
    return out


def page(figures: dict) -> str:
    """The page with all tables."""
    runs = figures["runs"]
    lines = [
        "# Headline figures",
        "",
        "Times of the program on the models of the repository. One command measures all of them:",
        "",
        "```sh",
        "python tools/site/figures.py target/release/feeler",
        "```",
        "",
        "| | |",
        "|---|---|",
        f"| version | {figures['version']} |",
        f"| date | {figures['date']} |",
        f"| processor | {figures['processor']}, {figures['cores']} cores |",
        f"| load average at the start | {figures['load']} |",
        f"| repetitions | {runs} |",
        "",
        "A load average above 0 means that other programs shared the cores. They lengthen single times: medians are more",
        "reliable than worst values.",
        "",
        "## Warm queries",
        "",
        "Each pose of a motion is a query for all local minima within twice the clearance of the parts, and for the",
        f"verdict. It reuses the results of the pose before it. The time of a pose is the median of {runs} runs on one",
        "thread. The table shows the median and the worst of all poses but the first, the medians of the single runs,",
        "the worst single time of any run, and the time of the first pose, which has no results to reuse.",
        "",
        "| motion | poses | in reach | minima | median ms | single medians ms | worst ms | single worst ms | first ms |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in figures["warm"]:
        median, worst, single, first = (
            significant(row[f"{key}_ms"]) for key in ("median", "worst", "single_worst", "first")
        )
        medians = " to ".join(significant(value) for value in row["medians_ms"])
        cells = [
            row["name"],
            row["poses"],
            row["in_reach"],
            f"{row['minima']:g}",
            median,
            medians,
            worst,
            single,
            first,
        ]
        lines.append(f"| {' | '.join(str(cell) for cell in cells)} |")
    lines += [
        "",
        "*In reach* counts the poses with minima; *minima* is the median number of minima at these poses. The chapter",
        "[Evaluation](docs/EVALUATION.md) has times of the last two motions from a run of a benchmark program.",
        "",
        "```sh",
        *(row["command"] for row in figures["warm"]),
        "```",
        "",
        "## Preparation",
        "",
        "Conversion of a STEP file to a `.feeler` file: reading, repair, hierarchy and volume. A prepared file is read",
        "in milliseconds.",
        "",
        "| model | faces | kB | median s | worst s |",
        "|---|--:|--:|--:|--:|",
    ]
    for row in figures["preparation"]:
        times = f"{significant(row['median_s'])} | {significant(row['worst_s'])}"
        lines.append(f"| `{row['model']}` | {row['faces']} | {row['bytes'] / 1000:.0f} | {times} |")
    lines += [
        "",
        "```sh",
        *(f"feeler preprocess {row['model']} -o out.feeler --force --json" for row in figures["preparation"]),
        "```",
        "",
        "## From STEP files to a result",
        "",
        "Whole runs of the program, from its start to its end, with the preparation of all files in memory.",
        "",
        "| command | median s | worst s |",
        "|---|--:|--:|",
    ]
    for row in figures["whole"]:
        lines.append(f"| `{row['command']}` | {significant(row['median_s'])} | {significant(row['worst_s'])} |")
    lines += [
        "",
        "## All results",
        "",
        "The chapter [Results](benches/RESULTS.md) lists exactness, completeness and times against other programs,",
        "with the command, processor and date of each claim. [Evaluation](docs/EVALUATION.md) repeats the evaluation",
        "of the main reference, and [Benches and campaigns](benches/index.md) describes the benchmark programs.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures the headline figures of the documentation site.")
    parser.add_argument("feeler", type=Path)
    parser.add_argument("place", type=Path, nargs="?", help="folder of the site, such as target/site")
    parser.add_argument("--runs", type=int, default=3, help="number of repetitions")
    options = parser.parse_args()
    feeler = options.feeler.resolve()
    start = time.monotonic()
    figures = {
        "version": run(feeler, ["--version"]).splitlines()[0],
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": f"{os.getloadavg()[0]:.1f}",
        "runs": options.runs,
        "warm": swept(feeler, options.runs),
        "preparation": prepared(feeler, options.runs),
        "whole": whole(feeler, options.runs),
    }
    if options.place is None:
        print(page(figures), end="")
        return
    (options.place / "src").mkdir(parents=True, exist_ok=True)
    (options.place / "src" / "benchmarks.md").write_text(page(figures), encoding="utf-8")
    (options.place / "figures.json").write_text(json.dumps(figures, indent=1), encoding="utf-8")
    print(f"headline figures: {options.runs} repetitions ({time.monotonic() - start:.0f} s)")


main()
