"""The stab of an insertion scenario with more and with less detail and the same fit, as compared in BREP 5.2.

    pip install -r tools/models/requirements.txt
    python tools/models/make_stab.py SCENARIO.json OUT_DIR [full] [plain]

Writes OUT_DIR/NAME-full.step and NAME-plain.step with a scenario for each (NAME-full.json, ...): the poses, phases and
receptacle of SCENARIO.json (s2); the receptacle is copied. The fitting surfaces do not depend on the detail: a tip of radius
8 mm, a cone of 20 degrees to a diameter of 30 mm, a cylinder, a cone of 30 degrees to a diameter of 40 mm, a cylinder up to
the flange at 150 mm. `plain` consists of these surfaces and a handle. `full` has the details of a real stab: seal grooves,
galleries with cross bores, a depth scale, a knurled flange with countersunk holes, a number engraved with a ball cutter, a
spline waist, a grip with grooves and dimples. In the fitting region details only remove material.

Both are checked to be one valid solid. The kernel may write the faces of `full` in a different order each time; their number
and the volume do not change. Lengths are in mm, the tip is at z = 0, the axis is along z.
"""

import math
import sys
from pathlib import Path

import cadquery as cq
from cadquery import Edge, Solid, Vector, Wire, Workplane

from scenarios import without_date, write_scenario

TIP = 8.0
SMALL, LARGE = 15.0, 20.0
TOP = 150.0
FLANGE, FLANGE_TOP = 27.0, 158.0
NECK, NECK_TOP = 12.0, 185.0
GRIP, GRIP_HALF = 6.0, 35.0


def at(r, z):
    """A point of the half-plane through the axis."""
    return Vector(r, 0, z)


def rounded(corners):
    """Edges of the polyline through corners (r, z, radius); a corner with a radius becomes an arc, tangent to both sides."""
    ends = []
    for i, (r, z, radius) in enumerate(corners):
        here = at(r, z)
        if radius == 0:
            ends.append((here, here, None))
            continue
        before, after = (at(*corners[k][:2]) - here for k in (i - 1, i + 1))
        a, b = before.normalized(), after.normalized()
        half = 0.5 * math.acos(max(-1.0, min(1.0, a.dot(b))))
        cut = radius / math.tan(half)
        middle = here + (a + b).normalized() * (radius / math.sin(half) - radius)
        ends.append((here + a * cut, here + b * cut, middle))
    edges = []
    for (_, start, _), (end, leave, middle) in zip(ends, ends[1:]):
        edges.append(Edge.makeLine(start, end))
        if middle is not None:
            edges.append(Edge.makeThreePointArc(end, middle, leave))
    return edges


def outline(waist):
    """The profile from the tip to the top, with a straight neck or a spline waist."""
    slope, steep = math.radians(20), math.radians(30)
    touch = (TIP * math.cos(slope), TIP - TIP * math.sin(slope))
    half = -0.5 * (math.pi / 2 + slope)
    tip = Edge.makeThreePointArc(at(0, 0), at(TIP * math.cos(half), TIP + TIP * math.sin(half)), at(*touch))
    first = touch[1] + (SMALL - touch[0]) / math.tan(slope)
    last = 60 + (LARGE - SMALL) / math.tan(steep)
    corners = [(*touch, 0), (SMALL, first, 4), (SMALL, 60, 3), (LARGE, last, 2), (LARGE, TOP, 0),
               (FLANGE - 1, TOP, 0), (FLANGE, TOP + 1, 0), (FLANGE, FLANGE_TOP - 1, 0), (FLANGE - 1, FLANGE_TOP, 0)]
    if not waist:
        corners += [(NECK, FLANGE_TOP, 4), (NECK, NECK_TOP, 0), (0, NECK_TOP, 0)]
        return [tip, *rounded(corners)]
    shoulder, collar = (NECK, FLANGE_TOP), (NECK, NECK_TOP - 3)
    spline = Edge.makeSpline([at(*shoulder), at(NECK - 1.6, 165), at(NECK - 2.2, 172), at(NECK - 1.0, 178), at(*collar)])
    return [tip, *rounded([*corners, (*shoulder, 0)]), spline,
            *rounded([(*collar, 0), (NECK, NECK_TOP, 0), (0, NECK_TOP, 0)])]


def turned(edges):
    """The solid of revolution of a profile that is closed along the axis."""
    start, end = edges[0].startPoint(), edges[-1].endPoint()
    wire = Wire.assembleEdges([*edges, Edge.makeLine(end, start)])
    return Workplane(Solid.revolve(wire, [], 360, Vector(0, 0, 0), Vector(0, 0, 1)))


def along(direction, center, radius, length):
    return Solid.makeCylinder(radius, length, center, direction)


def capsule(a, b, radius):
    """The volume that a ball cutter removes from a to b."""
    d = b - a
    ball = Solid.makeSphere(radius, Vector(0, 0, 0), Vector(0, 0, 1), -90, 90, 360)
    return along(d.normalized(), a, radius, d.Length).fuse(ball.moved(cq.Location(a)), ball.moved(cq.Location(b)))


def handle():
    bar = along(Vector(1, 0, 0), Vector(-GRIP_HALF, 0, NECK_TOP), GRIP, 2 * GRIP_HALF)
    ball = Solid.makeSphere(GRIP, Vector(0, 0, 0), Vector(0, 0, 1), -90, 90, 360)
    ends = [ball.moved(cq.Location(Vector(x, 0, NECK_TOP))) for x in (-GRIP_HALF, GRIP_HALF)]
    return Workplane(bar.fuse(*ends))


def ring(z, radius, half, depth, fillet):
    """A groove of revolution with rounded bottom corners."""
    r = radius - depth
    out = radius + 2
    corners = [(out, z - half, 0), (r, z - half, fillet), (r, z + half, fillet), (out, z + half, 0)]
    wire = Wire.assembleEdges([*rounded(corners), Edge.makeLine(at(out, z + half), at(out, z - half))])
    return Solid.revolve(wire, [], 360, Vector(0, 0, 0), Vector(0, 0, 1))


def polar(radius, angle, z):
    return Vector(radius * math.cos(angle), radius * math.sin(angle), z)


def spun(shape, angle):
    return shape.rotate(Vector(0, 0, 0), Vector(0, 0, 1), math.degrees(angle))


def grooves():
    """Seal grooves, and galleries with their cross bores."""
    places = [(40, SMALL), (50, SMALL), (85, LARGE), (95, LARGE), (115, LARGE), (125, LARGE)]
    seals = [ring(z, r, 1.6, 1.5, 0.4) for z, r in places]
    galleries = [ring(45, SMALL, 1.5, 1.2, 0.3), ring(105, LARGE, 3, 1.5, 0.5)]
    bores = [along(polar(1, 2 * math.pi * k / n, 0), Vector(0, 0, z), 1.5, 24)
             for z, n in ((45, 2), (105, 4)) for k in range(n)]
    return [seals + galleries, bores]


def scale():
    """A depth scale: three rows of short marks 2.5 mm apart, every fifth longer, milled 0.25 mm deep."""
    marks = []
    for row in range(3):
        angle = math.radians(45 + 120 * row)
        for k, z in enumerate([129.5 + 2.5 * i for i in range(8)] + [74.5 + 2.5 * i for i in range(3)]):
            width = 5.0 if k % 5 == 0 else 3.0
            box = Solid.makeBox(2, width, 0.3, Vector(LARGE - 0.25, -width / 2, z))
            marks.append(spun(box, angle))
    return [marks]


def knurl(count=60, depth=0.8):
    """Grooves of 90 degrees along the rim of the flange."""
    out = FLANGE + 0.3
    tip = FLANGE - depth
    w = out - tip
    points = [Vector(tip, 0, TOP - 1), Vector(out, w, TOP - 1), Vector(out, -w, TOP - 1)]
    face = Wire.makePolygon(points, close=True)
    wedge = Solid.extrudeLinear(face, [], Vector(0, 0, FLANGE_TOP - TOP + 2))
    return [[spun(wedge, 2 * math.pi * (k + 0.5) / count) for k in range(count)]]


def holes(count=18):
    """Blind holes in the flange, drilled and countersunk."""
    drilled, sunk = [], []
    for k in range(count):
        p = polar(23.4, 2 * math.pi * k / count, 0)
        hole = along(Vector(0, 0, 1), p + Vector(0, 0, 153), 0.9, 6)
        point = Solid.makeCone(0.9, 0, 0.6, p + Vector(0, 0, 153), Vector(0, 0, -1))
        drilled.append(hole.fuse(point))
        sunk.append(Solid.makeCone(1.5, 0.3, 1.2, p + Vector(0, 0, FLANGE_TOP), Vector(0, 0, -1)))
    return [drilled, sunk]


SEGMENTS = {  # the strokes of a digit of seven segments, of height 2 and width 1
    "a": ((0, 2), (1, 2)), "b": ((1, 2), (1, 1)), "c": ((1, 1), (1, 0)), "d": ((0, 0), (1, 0)),
    "e": ((0, 1), (0, 0)), "f": ((0, 2), (0, 1)), "g": ((0, 1), (1, 1)),
}
DIGITS = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"]


def number(text="20261124000100400"):
    """A number around the flange's face, engraved with a ball cutter; strokes do not touch each other."""
    strokes = []
    size, gap, cutter, deep = 1.4, 0.34, 0.25, 0.15
    for k, digit in enumerate(text):
        angle = 2 * math.pi * k / len(text)
        for segment in DIGITS[int(digit)]:
            (x0, y0), (x1, y1) = SEGMENTS[segment]
            a, b = Vector(x0 * size, y0 * size, 0), Vector(x1 * size, y1 * size, 0)
            d = (b - a).normalized() * gap
            place = [Vector(18.4 + p.y, p.x - size / 2, FLANGE_TOP + cutter - deep) for p in (a + d, b - d)]
            strokes.append(spun(capsule(*place, cutter), angle))
    return [strokes]


def grip():
    """Ring grooves and rows of dimples on both sides of the handle."""
    x_axis = Vector(1, 0, 0)
    rings = [Solid.makeTorus(GRIP + 0.4, 1.0, Vector(s * x, 0, NECK_TOP), x_axis) for s in (-1, 1) for x in (16, 20, 24, 28)]
    ball = Solid.makeSphere(0.9, Vector(0, 0, 0), Vector(0, 0, 1), -90, 90, 360)
    dimples = []
    for s in (-1, 1):
        for x in (18, 22, 26, 31):
            for k in range(8):
                t = 2 * math.pi * (k + 0.5) / 8
                dimples.append(ball.moved(cq.Location(
                    Vector(s * x, (GRIP + 0.5) * math.cos(t), NECK_TOP + (GRIP + 0.5) * math.sin(t)))))
    return [rings, dimples]


def stab(detail):
    out = turned(outline(detail == "full")).union(handle())
    if detail == "full":
        for tools in [*grooves(), *scale(), *knurl(), *holes(), *number(), *grip()]:
            out = Workplane(out.val().cut(*tools))
            solids = out.solids().vals()
            assert len(solids) == 1, f"{len(solids)} solids"
            out = Workplane(solids[0])
    solid = out.solids().val()
    assert out.solids().size() == 1 and solid.isValid(), detail
    return solid


def main(scenario, folder, details):
    folder.mkdir(parents=True, exist_ok=True)
    for detail in details:
        solid = stab(detail)
        file = folder / f"{scenario.stem}-{detail}.step"
        cq.exporters.export(Workplane(solid), str(file))
        without_date(file)
        write_scenario(scenario, file)
        print(f"{file}: {len(solid.Faces())} faces, {len(solid.Edges())} edges, {solid.Volume():.3f} mm3, "
              f"{file.stat().st_size // 1000} kB", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:] or ["plain", "full"])
