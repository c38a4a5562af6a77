"""Figures of packings as in DIST chapter 5: void ratio, coordination number and kinetic energy over time, and the
distribution of mutual contacts, from the series of runs of `feeler pour` with a table `[packing]`.

    python tools/figures/packings.py packing/100-spheres packing/100-exact --out docs/figures

writes

| file | content | figure of DIST |
|---|---|---|
| `packing-history.svg`, `.csv` | void ratio, coordination number, kinetic energy over time | 5.8 to 5.10, 5.16 |
| `packing-contacts.svg`, `.csv` | share of grains by the size of their largest group of mutually touching ones | 5.12 |
| `packing-final.csv` | last row of each run: void ratio and coordination number | 5.17, Table 5.4 |

A run is named after its folder. Kinetic energies are parts of the maximum of their run.
"""

import argparse
import csv
import math
from html import escape
from pathlib import Path

COLOURS = ["#2166ac", "#b2182b", "#1b7837", "#e08214", "#762a83", "#525252"]
MUTUAL = ["mutual_1", "mutual_2", "mutual_3", "mutual_4", "mutual_5", "mutual_6_or_more"]
WIDTH, HEIGHT, LEFT, TOP, GAP = 280, 200, 62, 58, 80  # pixels


class Run:
    """Series of a run, by column."""

    def __init__(self, folder):
        self.name = folder.name
        with (folder / "series.csv").open() as file:
            rows = list(csv.DictReader(file))
        if not rows or "void_ratio" not in rows[0]:
            raise SystemExit(f"{folder}/series.csv has no column void_ratio; the scene needs a table [packing]")
        self.columns = {name: [float(row[name]) for row in rows] for name in rows[0]}
        energies = self.columns["kinetic_uJ"]
        self.columns["kinetic_part"] = [e / (max(energies) or 1.0) for e in energies]


def ticks(low, high):
    """Round values within a range, at most seven of them."""
    step = 10 ** math.floor(math.log10(high - low))
    step = next(s for s in (step / 5, step / 2, step, 2 * step) if (high - low) / s <= 6)
    first = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def panel(out, at, title, axis, runs, column, is_logarithmic=False):
    """Draws one column of all runs over time."""
    x0, y0 = at
    # Kinetic energies are drawn from 1e-7 on; the first rows of void ratios are those of falling grains.
    value = (lambda v: math.log10(max(v, 1e-7))) if is_logarithmic else (lambda v: v)
    end = max(run.columns["time_s"][-1] for run in runs)
    values = [value(v) for run in runs for v in run.columns[column] if math.isfinite(v)]
    low, high = (min(values), max(values)) if is_logarithmic else (min(0, *values), max(values))
    high = high if high > low else low + 1
    x = lambda t: x0 + WIDTH * t / end
    y = lambda v: y0 + HEIGHT * (high - v) / (high - low)
    out.append(f'<text x="{x0}" y="{y0 - 12}" font-weight="bold">{escape(title)}</text>')
    out.append(f'<rect x="{x0}" y="{y0}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>')
    for t in ticks(0, end):
        out.append(f'<text x="{x(t):.1f}" y="{y0 + HEIGHT + 16}" text-anchor="middle">{t:g}</text>')
    for v in ticks(low, high):
        label = f"1e{v:g}" if is_logarithmic else f"{v:g}"
        if not is_logarithmic or float(v).is_integer():
            out.append(f'<text x="{x0 - 6}" y="{y(v) + 4:.1f}" text-anchor="end">{label}</text>')
            out.append(f'<path d="M{x0} {y(v):.1f}h{WIDTH}" stroke="#ddd"/>')
    out.append(f'<text x="{x0 + WIDTH / 2}" y="{y0 + HEIGHT + 34}" text-anchor="middle">{escape(axis)}</text>')
    for run, colour in zip(runs, COLOURS):
        points = [
            f"{x(t):.1f},{y(value(v)):.1f}"
            for t, v in zip(run.columns["time_s"], run.columns[column])
            if math.isfinite(v)
        ]
        out.append(f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}" stroke-width="1.5"/>')


def bars(out, at, runs):
    """Draws the shares of grains by the size of their largest group, at the end of each run."""
    x0, y0 = at
    shares = [mutual_shares(run) for run in runs]
    high = max(max(s) for s in shares)
    group = WIDTH * 1.6 / len(MUTUAL)
    width = 0.8 * group / len(runs)
    for k in range(len(MUTUAL)):
        label = f"{k + 1}" if k < 5 else "6 or more"
        middle = x0 + (k + 0.45) * group
        out.append(f'<text x="{middle:.1f}" y="{y0 + HEIGHT + 16}" text-anchor="middle">{label}</text>')
        for j, (share, colour) in enumerate(zip(shares, COLOURS)):
            size = HEIGHT * share[k] / high
            left = x0 + k * group + 0.05 * group + j * width
            out.append(
                f'<rect x="{left:.1f}" y="{y0 + HEIGHT - size:.1f}" width="{width:.1f}" height="{size:.1f}" '
                f'fill="{colour}"/>'
            )
            out.append(
                f'<text x="{left + width / 2:.1f}" y="{y0 + HEIGHT - size - 4:.1f}" text-anchor="middle" '
                f'font-size="9">{100 * share[k]:.0f}</text>'
            )
    out.append(f'<path d="M{x0} {y0 + HEIGHT}h{group * len(MUTUAL):.0f}" stroke="#888"/>')
    label = "grains that all touch each other, with the grain itself"
    out.append(f'<text x="{x0 + group * 3}" y="{y0 + HEIGHT + 34}" text-anchor="middle">{label}</text>')


def mutual_shares(run):
    counts = [run.columns[name][-1] for name in MUTUAL]
    return [c / (sum(counts) or 1.0) for c in counts]


def legend(out, runs, x, y):
    for run, colour in zip(runs, COLOURS):
        out.append(f'<rect x="{x}" y="{y - 9}" width="14" height="10" fill="{colour}"/>')
        out.append(f'<text x="{x + 19}" y="{y}">{escape(run.name)}</text>')
        x += 36 + 7 * len(run.name)


def write_svg(path, width, height, body):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif"'
    ground = '<rect width="100%" height="100%" fill="#fff"/>'
    path.write_text("\n".join([f'{head} font-size="12">', ground, *body, "</svg>\n"]))


def write_csv(path, header, rows):
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", help="folders of runs of feeler pour, at most six")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder of the figures")
    args = parser.parse_args()
    if len(args.runs) > len(COLOURS):
        parser.error(f"give at most {len(COLOURS)} runs")
    runs = [Run(folder) for folder in args.runs]
    args.out.mkdir(parents=True, exist_ok=True)

    body = []
    legend(body, runs, LEFT, 20)
    panels = [("void ratio", "void_ratio", False), ("coordination number", "coordination", False)]
    panels.append(("kinetic energy, part of its maximum", "kinetic_part", True))
    for k, (title, column, is_logarithmic) in enumerate(panels):
        panel(body, (LEFT + k * (WIDTH + GAP), TOP), title, "time (s)", runs, column, is_logarithmic)
    write_svg(args.out / "packing-history.svg", LEFT + 3 * (WIDTH + GAP), TOP + HEIGHT + 48, body)
    history = ["time_s", "void_ratio", "coordination", "wall_coordination", "kinetic_uJ"]
    rows = [[run.name, *row] for run in runs for row in zip(*(run.columns[c] for c in history))]
    write_csv(args.out / "packing-history.csv", ["run", *history], rows)

    body = []
    legend(body, runs, LEFT, 20)
    body.append(f'<text x="{LEFT}" y="{TOP - 12}" font-weight="bold">share of grains (%)</text>')
    bars(body, (LEFT, TOP + 10), runs)
    write_svg(args.out / "packing-contacts.svg", int(LEFT + 1.6 * WIDTH + 30), TOP + HEIGHT + 58, body)
    rows = [[run.name, *(f"{s:.6f}" for s in mutual_shares(run))] for run in runs]
    write_csv(args.out / "packing-contacts.csv", ["run", *MUTUAL], rows)
    last = [*history, "pairs_1", "pairs_2", "pairs_3", "pairs_4_or_more"]
    rows = [[run.name, *(run.columns[c][-1] for c in last)] for run in runs]
    write_csv(args.out / "packing-final.csv", ["run", *last], rows)


if __name__ == "__main__":
    main()
