#!/usr/bin/env python3
"""Solids that touch themselves or others at a point, and a rounded box.

    python tools/models/make_touching.py [FOLDER]        # data/touching by default

drilled        a block with a blind hole of 10 mm, whose tip (118 degrees) is at the origin
point          a pin with a point of 90 degrees at the origin
tangent-hole   a block of 10 mm with a through hole of 4 mm that is tangent to a side; its circles are edges with
               two vertices at one point; volume 1000 - 40 pi
touching-edge  a block of 10 mm with two square holes that share an edge; volume 680
rounded        a box of 10 x 8 x 6 mm with all edges rounded by 1.3 mm; volume in closed form in the test
"""

import math
import sys
from pathlib import Path

import cadquery as cq
from make_models import write


def revolved(points):
    return cq.Workplane("XZ").polyline(points).close().revolve(360, (0, 0, 0), (0, 1, 0)).val()


def drilled():
    height = 5 / math.tan(math.radians(59))
    return revolved([(0, 0), (5, height), (5, 20), (15, 20), (15, -10), (0, -10)])


def point():
    return revolved([(0, 0), (4.8, 4.8), (4.8, 30), (0, 30)])


def tangent_hole():
    block = cq.Workplane("XY").box(10, 10, 10)
    return block.cut(cq.Workplane("XY").cylinder(20, 2).translate((3, 0, 0))).val()


def touching_edge():
    def block(x, y, size):
        return cq.Workplane("XY").box(*size).translate((x, y, 0))

    return block(0, 0, (10, 10, 10)).cut(block(-2, -2, (4, 4, 20))).cut(block(2, 2, (4, 4, 20))).val()


def rounded():
    return cq.Workplane("XY").box(10, 8, 6).edges().fillet(1.3).val()


MODELS = {
    "drilled": drilled,
    "point": point,
    "tangent-hole": tangent_hole,
    "touching-edge": touching_edge,
    "rounded": rounded,
}


def main():
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "data" / "touching"
    out.mkdir(parents=True, exist_ok=True)
    for name, make in MODELS.items():
        shape = make()
        write(shape, out / f"{name}.step", "MM")
        print(f"{name:14} {shape.Volume():.6f} mm3, valid: {shape.isValid()}")


if __name__ == "__main__":
    main()
