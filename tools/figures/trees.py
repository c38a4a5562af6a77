"""Figures of docs/DEFORMABLE.md: cost of trees of facets by bodies in mutual contact and facets per body.

    cargo run --release -p feeler-deformable --example benchmarks trees > trees.csv
    python tools/figures/trees.py trees.csv docs/figures

writes `trees-cost.svg` (as DIST 4.22: operations of building, traversing and both) and `trees-gain.svg` (as DIST
4.23: cost of one kind of trees as a part of another), and prints the break-even of each panel of the latter.
"""

import argparse
import csv
import math
from html import escape
from pathlib import Path

CELL = (46, 22)  # pixels
LEFT, TOP, GAP, HEAD = 62, 46, 34, 40
NAMES = {"scene": "one tree for all bodies", "pair": "two trees for each pair", "body": "one tree for each body"}
EVEN_BELOW = 1.02
"""Ratio below which two costs count as equal: pairs of equal trees differ by the order of their nodes."""
LIGHT, DARK = (247, 250, 253), (33, 92, 145)
CHEAP, EVEN, DEAR = (56, 118, 178), (250, 250, 250), (196, 70, 52)


def table(path):
    """Rows by kind of contact, number of bodies, number of facets, and kind of trees."""
    rows = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            key = (row["contacts"], int(row["bodies"]), int(row["facets"]), row["trees"])
            rows[key] = {k: float(v) for k, v in row.items() if k not in ("contacts", "trees")}
    return rows


class Costs:
    """Operations of one search of all pairs, and the time of a step."""

    def __init__(self, rows):
        self.rows = rows
        self.bodies = sorted({key[1] for key in rows})
        self.facets = sorted({key[2] for key in rows})

    def of(self, what, contacts, bodies, facets, trees):
        row = self.rows[contacts, bodies, facets, trees]
        # All pairs are collected in the same steps, those in which the tree of the scene is.
        searches = self.rows[contacts, bodies, facets, "scene"]["collections"]
        update, traverse = row["box_updates"] / searches, row["box_tests"] / searches
        return {
            "build": row["sorted"] + update,
            "traverse": traverse,
            "both": row["sorted"] + update + traverse,
            "update": update + traverse,
            "time": row["us_per_step"],
        }[what]

    def ratio(self, what, contacts, trees, base="scene"):
        def value(bodies, facets):
            return self.of(what, contacts, bodies, facets, trees) / self.of(what, contacts, bodies, facets, base)

        return value


def reference(bodies, facets):
    """Ratio of the cost functions of DIST 4.6."""
    total = bodies * facets
    pairs = bodies * (bodies - 1) / 2
    return (bodies + pairs) * facets * math.log(facets) / (2 * total * math.log(total))


def mixed(a, b, t):
    return tuple(round(x + (y - x) * t) for x, y in zip(a, b))


def sequential(value, low, high):
    return mixed(LIGHT, DARK, math.log(value / low) / math.log(high / low))


def diverging(value):
    t = max(-1, min(1, math.log(value) / math.log(3)))
    return mixed(EVEN, CHEAP, -t) if t < 0 else mixed(EVEN, DEAR, t)


def number(value):
    if value >= 9.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 1.995 else f"{value:.2f}"


def panel(out, at, title, costs, value, color, line):
    x0, y0 = at
    out.append(f'<text x="{x0}" y="{y0 - 10}" font-weight="bold">{escape(title)}</text>')
    rows, edges = list(reversed(costs.facets)), []
    values = [[value(m, facets) for m in costs.bodies] for facets in rows]
    for i, facets in enumerate(rows):
        y = y0 + i * CELL[1]
        out.append(f'<text x="{x0 - 6}" y="{y + 15}" text-anchor="end">{facets}</text>')
        for j, v in enumerate(values[i]):
            x, rgb = x0 + j * CELL[0], color(v)
            ink = "#fff" if sum(rgb) < 420 else "#222"
            out.append(
                f'<rect x="{x}" y="{y}" width="{CELL[0]}" height="{CELL[1]}" fill="rgb{rgb}"/>'
                f'<text x="{x + CELL[0] / 2}" y="{y + 15}" text-anchor="middle" fill="{ink}">{number(v)}</text>'
            )
            if line and j and (v < EVEN_BELOW) != (values[i][j - 1] < EVEN_BELOW):
                edges.append(f"M{x} {y}v{CELL[1]}")
            if line and i and (v < EVEN_BELOW) != (values[i - 1][j] < EVEN_BELOW):
                edges.append(f"M{x} {y}h{CELL[0]}")
    bottom = y0 + len(rows) * CELL[1]
    for j, m in enumerate(costs.bodies):
        out.append(f'<text x="{x0 + (j + 0.5) * CELL[0]}" y="{bottom + 15}" text-anchor="middle">{m}</text>')
    if edges:
        out.append(f'<path d="{"".join(edges)}" stroke="#111" stroke-width="3" stroke-linecap="square"/>')


def figure(path, title, notes, panels, columns, costs):
    """Writes a grid of panels, given as (title, value, color, line)."""
    width = len(costs.bodies) * CELL[0] + LEFT + GAP
    height = len(costs.facets) * CELL[1] + HEAD + GAP
    size = (columns * width + 10, TOP + 16 * len(notes) + math.ceil(len(panels) / columns) * height)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
        f'viewBox="0 0 {size[0]} {size[1]}" font-family="sans-serif" font-size="12">',
        f'<rect width="{size[0]}" height="{size[1]}" fill="white"/>',
        f'<text x="16" y="22" font-size="15" font-weight="bold">{escape(title)}</text>',
    ]
    out += [f'<text x="16" y="{42 + 16 * k}" fill="#444">{escape(note)}</text>' for k, note in enumerate(notes)]
    for k, (name, value, color, line) in enumerate(panels):
        at = (LEFT + k % columns * width, TOP + 16 * len(notes) + HEAD - 14 + k // columns * height)
        panel(out, at, name, costs, value, color, line)
    path.write_text("\n".join(out + ["</svg>\n"]))


def cost_figure(path, costs):
    panels = []
    for trees, name in NAMES.items():
        for what, verb in (("build", "build"), ("traverse", "traverse"), ("both", "both")):

            def value(m, facets, what=what, trees=trees):
                return costs.of(what, "points", m, facets, trees) / (m * facets)

            panels.append([f"{name}: {verb}", value])
    values = [v(m, facets) for _, v in panels for m in costs.bodies for facets in costs.facets]
    low, high = min(values), max(values)
    panels = [(name, value, lambda v: sequential(v, low, high), False) for name, value in panels]
    notes = ["Bodies that touch at a point. Across: bodies in mutual contact; upwards: facets of a body."]
    figure(path, "Operations of a search for each facet", notes, panels, 3, costs)


def gain_figure(path, costs):
    panels = [
        ("DIST 4.6, cost functions: pairs / all", reference),
        ("points, trees built: pairs / all", costs.ratio("both", "points", "pair")),
        ("points, boxes updated: pairs / all", costs.ratio("update", "points", "pair")),
        ("faces, trees built: pairs / all", costs.ratio("both", "faces", "pair")),
        ("faces, boxes updated: pairs / all", costs.ratio("update", "faces", "pair")),
        ("points, boxes updated: bodies / all", costs.ratio("update", "points", "body")),
        ("points, time of a step: pairs / all", costs.ratio("time", "points", "pair")),
        ("faces, time of a step: pairs / all", costs.ratio("time", "faces", "pair")),
        ("points, time of a step: bodies / all", costs.ratio("time", "points", "body")),
    ]
    notes = [
        "Below 1 (blue), two trees for each pair (or one for each body) are cheaper than one tree for all bodies.",
        "The line is the break-even. Across: bodies in mutual contact; upwards: facets of a body.",
    ]
    maps = [(name, value, diverging, True) for name, value in panels]
    figure(path, "Operations and times, as parts of those of one tree for all bodies", notes, maps, 3, costs)
    for name, value in panels:
        all_values = [value(m, facets) for m in costs.bodies for facets in costs.facets]
        even = []
        for facets in costs.facets:
            last = [m for m in costs.bodies if all(value(k, facets) < EVEN_BELOW for k in costs.bodies if k <= m)]
            even.append(f"{facets}: {max(last) if last else '-'}")
        print(f"{name}: {min(all_values):.2f} to {max(all_values):.2f}; cheaper up to ... bodies: {', '.join(even)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    costs = Costs(table(args.table))
    cost_figure(args.folder / "trees-cost.svg", costs)
    gain_figure(args.folder / "trees-gain.svg", costs)


if __name__ == "__main__":
    main()
