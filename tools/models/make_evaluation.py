"""Two insertions with the numbers of faces and edges of BREP 5.1 and 5.2, in which the plug slides along the receptacle.

    pip install -r tools/models/requirements.txt
    python tools/models/make_evaluation.py FEELER [OUT_DIR] [NAME...]     # cone, hotstab, hotstab-detailed; default: all

Writes models and trajectories to OUT_DIR (default: `data/evaluation`). FEELER is the program. With the same program,
repeated runs write the same bytes. A run takes some ten minutes, most of them for `hotstab-detailed`.

`cone` is a conical plug with bayonet channels; its receptacle has a tooth. `hotstab` is a stab of 40 mm with a spherical
tip. `hotstab-detailed` is the same stab with a free-form tip, a knurled and engraved collar and a handle.

A nominal path is interpolated between keys and stays within the play. From pose 500 to pose 1400 the plug is pushed along
a direction that varies smoothly, until the smallest distance is about 5e-4 clearances. Positions on the path are chosen
such that successive steps have similar sizes.

All poses are checked with FEELER, and 50 of each scenario (20 of the detailed one) with an independent kernel, as in
tools/oracle/distances.py. That kernel misses some minima: if it reports a larger distance than FEELER, its own distances
of FEELER's footpoints from both solids decide.
"""

import gzip
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import cadquery as cq
from cadquery import Edge, Solid, Vector, Vertex, Wire, Workplane
from OCP.BRep import BRep_Tool
from OCP.BRepAlgoAPI import BRepAlgoAPI_Cut, BRepAlgoAPI_Fuse
from OCP.BRepBuilderAPI import BRepBuilderAPI_NurbsConvert
from OCP.BRepExtrema import BRepExtrema_DistShapeShape
from OCP.Interface import Interface_Static
from OCP.STEPControl import STEPControl_AsIs, STEPControl_Writer
from OCP.TopTools import TopTools_ListOfShape

from make_models import normalise
from make_stab import along, at, polar, rounded, spun, turned

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracle"))
from distances import placed, read  # noqa: E402

Z = Vector(0, 0, 1)


def combine(operation, shape, tools):
    """A Boolean operation on one thread: on several, last digits differ from run to run."""
    lists = []
    for shapes in ([shape], tools):
        lists.append(TopTools_ListOfShape())
        for s in shapes:
            lists[-1].Append(s.wrapped)
    operation.SetArguments(lists[0])
    operation.SetTools(lists[1])
    operation.SetRunParallel(False)
    operation.Build()
    assert operation.IsDone()
    return cq.Shape.cast(operation.Shape())


def cut(shape, *tools):
    return combine(BRepAlgoAPI_Cut(), shape, tools)


def fuse(shape, *tools):
    return combine(BRepAlgoAPI_Fuse(), shape, tools)


# -------------------------------------------------------------------------------------------------------------- cone

# The plug is seated when its tip is at z = 0. Lengths are in mm.
CONE_PLAY = 0.2
# Radii of the tip and of the cylinder; heights of the cone and of the flange.
TIP_R, CONE_R, CONE_H, PLUG_TOP = 12.0, 20.0, 24.0, 32.0
# Radius of the tooth, height of its axis, and distance of its end from the plug's axis.
TOOTH_R, TOOTH_Z, TOOTH_TIP = 2.0, 15.0, 14.2
CHANNELS, RIBS, HOLES = 5, 7, 12
# Rotation from the end of the insertion to the seated pose, and from there to the end of the channel.
LOCK, SLACK = math.radians(30), math.radians(3)
# Height of the receptacle's front face.
CONE_FACE = 31.5


def sector(radius, z0, z1, a0, a1):
    """A sector of a cylinder from angle a0 to a1."""
    return spun(Solid.makeCylinder(radius, z1 - z0, Vector(0, 0, z0), Z, math.degrees(a1 - a0)), a0)


def channel():
    """Volume removed for a tooth that enters from the tip at the angle LOCK and is seated at the angle 0."""
    half, floor = TOOTH_R + CONE_PLAY, TOOTH_TIP - CONE_PLAY
    slot = Solid.makeBox(40, 2 * half, TOOTH_Z + half + 1, Vector(0, -half, -1))
    # The end wall is half a width beyond the tooth.
    end = Solid.makeBox(40, 2 * half, 2 * half, Vector(0, -half, TOOTH_Z - half))
    around = sector(40, TOOTH_Z - half, TOOTH_Z + half, -SLACK, LOCK)
    whole = fuse(spun(slot, LOCK), spun(end, -SLACK), around)
    return cut(whole, Solid.makeCylinder(floor, 60, Vector(0, 0, -10), Z)).clean()


def groove(z, r, floor, half, slope):
    """Corners (r, z, radius) of a groove in a cylinder of radius r, with conical sides and a floor of the other radius."""
    wide = half + slope * abs(floor - r)
    return [(r, z - wide, 0), (floor, z - half, 0), (floor, z + half, 0), (r, z + wide, 0)]


def cone_plug():
    """The plug: cone, cylinder, flange with holes, and a grip with rings; five channels."""
    ribs = [corner for k in range(RIBS) for corner in groove(43 + 2.4 * k, 11, 10.2, 0.6, 0)]
    profile = [(0, 0, 0), (TIP_R, 0, 1.5), (CONE_R, CONE_H, 8), *groove(28, CONE_R, CONE_R - 0.8, 0.6, 0.5),
               (CONE_R, PLUG_TOP, 0), (25, PLUG_TOP, 0), (26, PLUG_TOP + 1, 0), (26, 38, 0), (25, 39, 0), (11, 39, 3), *ribs,
               (11, 60, 0), (10, 61, 0), (0, 61, 0)]
    body = turned(rounded(profile)).val()
    one = channel()
    body = cut(body, *[spun(one, 2 * math.pi * k / CHANNELS) for k in range(CHANNELS)]).clean()
    holes = [along(Z, polar(19.5, 2 * math.pi * k / HOLES, 35), 1.5, 9) for k in range(HOLES)]
    holes += [along(polar(1, math.pi * k / 2, 0), polar(22, math.pi * k / 2, 35.5), 1.0, 9) for k in range(4)]
    return cut(body, *holes)


def cone_receptacle():
    """A block with a hole that is the cone and cylinder of the plug, offset by the play, and a tooth."""
    slope = (CONE_R - TIP_R) / CONE_H
    wide = CONE_PLAY * math.sqrt(1 + slope * slope)
    bend = (CONE_R + CONE_PLAY - TIP_R - wide) / slope
    r, low = CONE_R + CONE_PLAY, -1.5
    hole = turned(rounded([(0, low, 0), (TIP_R + wide + slope * low, low, 0), (r, bend, 8 - CONE_PLAY), (r, CONE_FACE - 1.5, 0),
                           (r + 1.5, CONE_FACE, 0), (r + 1.5, CONE_FACE + 5, 0), (0, CONE_FACE + 5, 0)])).val()
    tooth = along(Vector(1, 0, 0), Vector(TOOTH_TIP, 0, TOOTH_Z), TOOTH_R, 8)
    # The corner without material marks the tooth.
    outline = Wire.makePolygon([Vector(*p, -8) for p in ((38, -38), (38, 18), (18, 38), (-38, 38), (-38, -38))], close=True)
    return fuse(cut(Solid.extrudeLinear(outline, [], Vector(0, 0, CONE_FACE + 8)), spun(hole, math.pi)), tooth)


# ----------------------------------------------------------------------------------------------------------- hotstab

# Seated, the tip of the plain plug is at z = 0.
STAB_PLAY = 0.1
# Radii of the spherical tip, of both cylinders and of the neck; half angles of the cones; heights of the start of the second
# cone, of the shoulder, of the plain plug's top and of the receptacle's front face.
STAB_TIP, STAB_SMALL, STAB_LARGE, STAB_NECK = 9.0, 14.0, 20.0, 12.0
STAB_FIRST, STAB_STEP = math.radians(25), math.radians(35)
STAB_STEP_Z, STAB_SHOULDER, STAB_TOP, STAB_FACE = 34.0, 64.0, 90.0, 62.0


def stab_outline(play):
    """Points (r, z) of the profile, offset outwards.

    These are the end of the tip's arc, both ends of the small cylinder and the start of the large one.
    """
    tip = STAB_TIP + play
    touch = (tip * math.cos(STAB_FIRST), STAB_TIP - tip * math.sin(STAB_FIRST))
    small, large = STAB_SMALL + play, STAB_LARGE + play
    step = STAB_STEP_Z - play * math.tan(0.5 * STAB_STEP)
    low = touch[1] + (small - touch[0]) / math.tan(STAB_FIRST)
    return touch, (small, low), (small, step), (large, step + (large - small) / math.tan(STAB_STEP))


def stab_plain():
    """A plug of fifteen faces: surfaces of revolution in two halves each, and the top."""
    points = [(*p, 0) for p in stab_outline(0)]
    middle = 0.5 * (STAB_FIRST + math.pi / 2)
    between = at(STAB_TIP * math.cos(middle), STAB_TIP - STAB_TIP * math.sin(middle))
    tip = Edge.makeThreePointArc(at(0, 0), between, at(*points[0][:2]))
    above = STAB_TOP + 10
    top = [(STAB_LARGE, STAB_SHOULDER, 0), (STAB_NECK, STAB_SHOULDER, 0), (STAB_NECK, above, 0), (0, above, 0)]
    edges = [tip, *rounded([*points, *top])]
    wire = Wire.assembleEdges([*edges, Edge.makeLine(at(0, above), at(0, 0))])
    half = Solid.revolve(wire, [], 180, Vector(0, 0, 0), Vector(0, 0, 1))
    whole = fuse(half, spun(half, math.pi))
    # A cut leaves the top in one piece.
    return cut(whole, Solid.makeBox(60, 60, 20, Vector(-30, -30, STAB_TOP)))


def stab_receptacle():
    """A block with a hole that is the profile of the plug, offset by the play, with grooves; ports, a drain and bolt holes."""
    touch, low, step, wide = stab_outline(STAB_PLAY)
    small, large = low[0], wide[0]
    slope = math.tan(STAB_FIRST)
    sump = 1.0
    narrow = touch[0] + (sump - touch[1]) * slope
    rings = lambda zs, r: [corner for k, z in enumerate(zs) for corner in groove(z, r, r + 1.2 + 0.1 * k, 0.8, 0.5)]
    profile = [(0, -4, 0), (narrow - 1, -4, 1), (narrow - 1, sump, 0), (narrow, sump, 0), (*low, 0),
               *rings((20.5, 25.5, 30), small), (*step, 0), (*wide, 0),
               *rings((46, 51, 56), large), (large, STAB_FACE - 2.5, 0), (large + 0.6, STAB_FACE - 1.3, 0),
               (large + 1.9, STAB_FACE, 0), (large + 1.9, STAB_FACE + 5, 0), (0, STAB_FACE + 5, 0)]
    hole = turned(rounded(profile)).val()
    block = Workplane("XY").box(76, 76, STAB_FACE + 10, centered=(True, True, False)).translate((0, 0, -10))
    block = block.edges("|Z").fillet(9).val()
    tools = [hole]
    bolt = turned(rounded([(0, 40, 0), (2.1, 41.2, 0), (2.1, STAB_FACE - 0.6, 0), (2.7, STAB_FACE, 0), (2.7, STAB_FACE + 1, 0),
                           (0, STAB_FACE + 1, 0)])).val()
    tools += [bolt.moved(cq.Location(Vector(x, y, 0))) for x in (-29, 29) for y in (-29, 29)]
    for side, z in ((0, 25.5), (math.pi, 51.0)):
        tools += [along(polar(1, side, 0), Vector(0, 0, z), 0.7, 40), along(polar(1, side, 0), polar(30, side, z), 3.5, 10)]
    tools.append(turned(rounded([(0, -12, 0), (4.5, -12, 0), (4.5, -10, 0), (3, -8.5, 0), (3, -3, 0), (0, -3, 0)])).val())
    return cut(block, *tools)



LETTERS = {  # strokes from point to point of a grid of 3 x 5 points, numbered row by row from the lower left corner
    "A": "0C CE E2 68", "B": "0C CE 68 02 28 8E", "C": "0C CE 02", "D": "0C CE 02 2E", "E": "0C CE 68 02", "F": "0C CE 68",
    "G": "0C CE 02 28", "H": "0C 2E 68", "I": "D1", "L": "0C 02", "N": "0C 2E C2", "O": "0C CE E2 02", "P": "0C CE E8 68",
    "R": "0C CE E8 68 72", "S": "CE C6 68 82 02", "T": "CE D1", "U": "0C E2 02", "1": "D1", "0": "0C CE E2 02",
    "4": "C6 68 E2", " ": "",
}


def stroke(a, b, radius):
    """The volume that a ball cutter removes from a to b; its seam is on top."""
    along_ab, up = (b - a).normalized() * radius, Z * radius
    side = lambda p, s: Edge.makeThreePointArc(p + along_ab * s, p + (along_ab * s + up) * math.sqrt(0.5), p + up)
    lines = [Edge.makeLine(a + up, b + up), Edge.makeLine(b + along_ab, a - along_ab)]
    wire = Wire.assembleEdges([side(a, -1), lines[0], side(b, 1), lines[1]])
    return Solid.revolve(wire, [], 360, a, b)


def engraving(text, radius, z, cutter=0.2, deep=0.1, size=(1.5, 3.0), gap=0.42):
    """Strokes of a text around the axis, for a ball cutter on the plane at height z; strokes do not touch each other."""
    spot = lambda c: (int(c, 16) % 3 * size[0] / 2, int(c, 16) // 3 * size[1] / 4)
    out = []
    for k, letter in enumerate(text):
        for a, b in LETTERS[letter].split():
            a, b = (Vector(*spot(c), 0) for c in (a, b))
            # The stroke across an N needs more room beside its uprights.
            d = (b - a).normalized() * (2 * gap if (b - a).Length > size[1] + 0.1 else gap)
            ends = [Vector(radius + p.y - size[1] / 2, size[0] / 2 - p.x, z + cutter - deep) for p in (a + d, b - d)]
            out.append(spun(stroke(*ends, cutter), -2 * math.pi * k / len(text)))
    return out


# Texts and their radii; heights of the collar and of the handle's bar, radius and half length of the bar.
RINGS = (("FEELER CAD CONTACT AND CLEARANCE TEST PART ", 17.4), ("HOTSTAB 40 CLEARANCE 01 ", 13.2))
COLLAR, COLLAR_TOP, BAR_Z, BAR_R, BAR_HALF = 68.0, 78.0, 105.0, 6.0, 32.0


def knurl(count=60, depth=0.7):
    """Grooves of 90 degrees along the rim of the collar."""
    tip, out = STAB_LARGE - depth, STAB_LARGE + 0.2
    points = [Vector(tip, 0, COLLAR - 1), Vector(out, out - tip, COLLAR - 1), Vector(out, tip - out, COLLAR - 1)]
    wedge = Solid.extrudeLinear(Wire.makePolygon(points, close=True), [], Vector(0, 0, COLLAR_TOP - COLLAR + 2))
    return [spun(wedge, 2 * math.pi * (k + 0.5) / count) for k in range(count)]


def grip():
    """A bar with rounded ends, ring grooves and dimples."""
    x = Vector(1, 0, 0)
    ball = lambda r, p: Solid.makeSphere(r, Vector(0, 0, 0), Z, -90, 90, 360).moved(cq.Location(p))
    ends = [ball(BAR_R, Vector(s * BAR_HALF, 0, BAR_Z)) for s in (-1, 1)]
    bar = fuse(along(x, Vector(-BAR_HALF, 0, BAR_Z), BAR_R, 2 * BAR_HALF), *ends)
    rings = [Solid.makeTorus(BAR_R + 0.4, 1.0, Vector(s * p, 0, BAR_Z), x) for s in (-1, 1) for p in (15, 19, 23, 27)]
    dimples = [ball(0.9, Vector(s * p, (BAR_R + 0.5) * math.cos(t), BAR_Z + (BAR_R + 0.5) * math.sin(t)))
               for s in (-1, 1) for p in (13, 17, 21, 25, 29) for t in [2 * math.pi * (k + 0.5) / 7 for k in range(7)]]
    return cut(cut(bar, *rings), *dimples)


def free_form_tip():
    """A tip of B-spline surfaces inside the sphere of the plain tip, tangent to the first cone."""
    end = at(*stab_outline(0)[0])
    tangents = [Vector(1, 0, 0), Vector(math.sin(STAB_FIRST), 0, math.cos(STAB_FIRST))]
    arc = Edge.makeSpline([at(0, 0.5), at(4.5, 1.5), end], tangents=tangents)
    inside = at(0, end.z + 3)
    wire = Wire.assembleEdges([arc, Edge.makeLine(end, inside), Edge.makeLine(inside, at(0, 0.5))])
    return Solid(BRepBuilderAPI_NurbsConvert(Solid.revolve(wire, [], 360, Vector(0, 0, 0), Z).wrapped).Shape())


def stab_detailed():
    """The plug with a free-form tip, a knurled and engraved collar and a handle; the same between tip and shoulder."""
    points = [(*p, 0) for p in stab_outline(0)]
    # Grooves of the knurl divide the chamfers.
    c = 0.5
    profile = [(0, points[0][1], 0), *points, (STAB_LARGE, STAB_SHOULDER, 0), (STAB_NECK, STAB_SHOULDER, 0),
               (STAB_NECK, COLLAR, 0), (STAB_LARGE - c, COLLAR, 0), (STAB_LARGE, COLLAR + c, 0),
               (STAB_LARGE, COLLAR_TOP - c, 0), (STAB_LARGE - c, COLLAR_TOP, 0), (8, COLLAR_TOP, 3), (8, BAR_Z, 0), (0, BAR_Z, 0)]
    body = cut(fuse(fuse(turned(rounded(profile)).val(), free_form_tip()), grip()), *knurl())
    for text, radius in RINGS:
        body = cut(body, *engraving(text, radius, COLLAR_TOP))
    return body


# -------------------------------------------------------------------------------------------------------- trajectories

PHASES = [("flight", 0, 801), ("insertion", 801, 1101), ("inplace", 1101, 1301), ("extraction", 1301, 1500)]
COUNT, TOUCH, LEAVE = 1500, 500, 1400
# Between these poses the steps are made more equal.
ANCHORS = [0, TOUCH, 801, 1101, 1301, LEAVE, COUNT - 1]
# Bounds of the gap that a push must reach, and the gap that it aims at, in clearances.
GOAL = (3e-4, 5e-4, 7e-4)
# Minima up to this distance (mm) are computed.
REACH = 3.0

# Nominal paths: position on the path (an index); x, y, height z (mm) and spin (degrees) of the plug; azimuth and elevation
# (degrees) of the push and the part of the spin in it; tilt (degrees) towards the azimuth; amplitude (degrees) of a wobble.
CONE_KEYS = [
    (0, -60, 28, 72, -95, 200, -90, 0, 14, 1),
    (250, -46, -6, 50, -60, 200, -90, 0, 8, 1),
    (440, -28, -9, 34.5, -38, 200, -90, 0, 2, 0.3),
    (500, -24, -8, 33, -36, 200, -90, 0, 1.5, 0.1),
    (620, -15, -5, 32.5, -34, 195, -90, 0, 1.2, 0.1),
    (680, -9, -2, 32, -32, 190, -80, 0, 1, 0.1),
    (740, -3, 0, 29, -31, 185, -30, 0, 0.5, 0.05),
    (801, 0, 0, 24, -30, 180, 0, 0, 0.2, 0.02),
    (870, 0, 0, 17, -30, 150, 0, 0, 0.1, 0.02),
    (940, 0, 0, 10, -30, 180, 0, 0, 0.05, 0.01),
    (970, 0, 0, 7, -30, 180, 0, 0.3, 0.02, 0.01),
    (1000, 0, 0, 3.5, -30, 230, 0, 0.5, 0.02, 0.01),
    (1030, 0, 0, 0, -30, 280, 10, 0, 0.1, 0.03),
    (1060, 0, 0, 0, -19, 300, 80, -0.2, 0, 0.05),
    (1101, 0, 0, 0, 0, 330, -60, 0.3, -0.15, 0.05),
    (1130, 0, 0, 0, 1, 360, -10, 0.5, 0.1, 0.05),
    (1160, 0, 0, 0, 2, 390, 0, 0.95, 0, 0.05),
    (1190, 0, 0, 0, 0, 440, 30, 0.3, -0.15, 0.05),
    (1220, 0, 0, 0, -2, 500, 0, 0, 0.15, 0.05),
    (1260, 0, 0, 0, 2, 570, -60, 0, -0.1, 0.05),
    (1301, 0, 0, 0, 0, 600, 0, 0.2, 0.1, 0.05),
    (1372, 0, 0, 0, -30, 640, 50, 0, -0.1, 0.03),
    (1400, 0, 0, 4.5, -30, 700, 20, 0, 0.02, 0.01),
    (1440, 0, 0, 18.5, -32, 720, 20, 0, 0.3, 0.05),
    (1499, 8, 5, 46, -40, 720, 20, 0, 3, 0.3),
]
STAB_KEYS = [
    (0, 52, -40, 120, 40, 20, -90, 0, 15, 1),
    (250, 44, -2, 88, 20, 20, -90, 0, 9, 1),
    (440, 30, 9, 66, 10, 20, -90, 0, 3, 0.3),
    (500, 28, 9, 63.5, 5, 20, -90, 0, 2, 0.1),
    (620, 20, 6, 63, 0, 20, -90, 0, 1.2, 0.1),
    (680, 14, 4, 61, 0, 20, -70, 0, 0.8, 0.1),
    (740, 4, 1, 50, 0, 20, -10, 0, 0.4, 0.05),
    (801, 0, 0, 36, 0, 10, 0, 0, 0.1, 0.02),
    (880, 0, 0, 26, 0, 60, 0, 0, 0.02, 0.01),
    (950, 0, 0, 17, 0, 110, 0, 0, 0.02, 0.01),
    (1010, 0, 0, 9, 0, 200, 0, 0, -0.06, 0.02),
    (1080, 0, 0, 0.5, 0, 280, -20, 0, 0.05, 0.02),
    (1101, 0, 0, 0, 0, 300, -70, 0, 0, 0.03),
    (1150, 0, 0, 0, 10, 360, -30, 0, -0.08, 0.03),
    (1200, 0, 0, 0, -10, 450, 0, 0, 0.08, 0.03),
    (1250, 0, 0, 0, 10, 540, -60, 0, -0.03, 0.03),
    (1301, 0, 0, 0, 0, 620, -10, 0, 0.06, 0.02),
    (1340, 0, 0, 5, 0, 680, 0, 0, -0.06, 0.02),
    (1400, 0, 0, 15.5, 0, 760, 0, 0, 0.02, 0.01),
    (1440, 0, 0, 29, 0, 780, 0, 0, 0.1, 0.05),
    (1499, 0, 0, 63, 0, 780, 0, 0, 1, 0.1),
]


def interpolate(keys, i):
    """Value of the monotone cubic (Fritsch and Carlson) through the keys at index i."""
    k = max(j for j in range(len(keys) - 1) if keys[j][0] <= i)
    x = [key[0] for key in keys]
    slope = lambda j, c: (keys[j + 1][c] - keys[j][c]) / (x[j + 1] - x[j])

    def tangent(j, c):
        if j in (0, len(keys) - 1):
            return 0.0
        a, b = slope(j - 1, c), slope(j, c)
        return 0.0 if a * b <= 0 else 2 * a * b / (a + b)

    h = x[k + 1] - x[k]
    t = (i - x[k]) / h
    out = []
    for c in range(1, len(keys[0])):
        p, q, a, b = keys[k][c], keys[k + 1][c], h * tangent(k, c), h * tangent(k + 1, c)
        out.append(p + t * (a + t * (3 * (q - p) - 2 * a - b + t * (2 * (p - q) + a + b))))
    return out


def multiply(p, q):
    """Product of two quaternions x, y, z, w."""
    (a, b, c, d), (e, f, g, h) = p, q
    return [d * e + a * h + b * g - c * f, d * f - a * g + b * h + c * e,
            d * g + a * f - b * e + c * h, d * h - a * e - b * f - c * g]


def rotate(q, v):
    return multiply(multiply(q, [*v, 0.0]), [-q[0], -q[1], -q[2], q[3]])[:3]


def smooth(t):
    t = min(1.0, max(0.0, t))
    return t * t * (3 - 2 * t)


class PushedPath:
    """Poses of a plug by position on the path (an index, may be fractional) and distance t (mm) of the push."""

    def __init__(self, keys, pivot, lever):
        self.keys, self.pivot, self.lever = keys, pivot, lever

    def pose(self, at, t):
        """Translation and quaternion x, y, z, w. The tilt is about a point on the axis at the height of the pivot."""
        x, y, z, spin, azimuth, elevation, part, tilt, wobble = interpolate(self.keys, at)
        a, e = math.radians(azimuth), math.radians(elevation)
        side = t * (1 - abs(part))
        x, y, z = x + side * math.cos(a) * math.cos(e), y + side * math.sin(a) * math.cos(e), z + side * math.sin(e)
        half = 0.5 * (math.radians(spin) + t * part / self.lever)
        u = math.radians(wobble * math.sin(0.031 * at + 1) - tilt * math.sin(a))
        v = math.radians(wobble * math.sin(0.043 * at) + tilt * math.cos(a))
        angle = math.hypot(u, v)
        f = math.sin(0.5 * angle) / angle if angle else 0.5
        q = multiply([f * u, f * v, 0.0, math.cos(0.5 * angle)], [0.0, 0.0, math.sin(half), math.cos(half)])
        offset = rotate(q, [0.0, 0.0, self.pivot])
        # Adding 0 turns -0 into 0.
        return [round(c, 12) + 0.0 for c in (x - offset[0], y - offset[1], z + self.pivot - offset[2], *q)]


class Solids:
    """A receptacle and a plug as FEELER prepares them."""

    def __init__(self, feeler, receptacle, plug, folder):
        self.feeler, self.folder = feeler, folder
        self.files = [folder / f"{file.name.split('.')[0]}.feeler" for file in (receptacle, plug)]
        for file, prepared in zip((receptacle, plug), self.files):
            subprocess.run([feeler, "preprocess", "-q", file, "-o", prepared], check=True, stdout=subprocess.DEVNULL)

    def frames(self, poses, reach):
        """Results of `feeler sweep` for minima up to a reach; interfering solids make it end with status 1."""
        file = self.folder / "poses.json"
        file.write_text(json.dumps({"unit": "mm", "poses_b": poses}))
        run = subprocess.run([self.feeler, "sweep", "-q", "--json", *self.files, "--d-max", str(reach), "--trajectory", file],
                             capture_output=True, text=True)
        assert run.returncode in (0, 1), run.stderr
        return json.loads(run.stdout)["frames"]

    def gaps(self, poses):
        """For each pose the smallest distance up to REACH, and -1 for interfering solids."""
        out = []
        for frame in self.frames(poses, REACH):
            assert frame["status"] in ("separated", "touching", "interfering"), frame
            d = frame["min_distance"]
            out.append(-1.0 if frame["status"] == "interfering" else REACH if d is None else d)
        return out


def push(path, solids, clearance, places):
    """Distances of the pushes, by index, that end at the gap GOAL; all positions are solved together."""
    low, goal, high = (part * clearance for part in GOAL)
    t = dict.fromkeys(places, 0.0)
    free, blocked = {}, {}
    todo = list(places)
    for _ in range(60):
        if not todo:
            return t
        found, rest = solids.gaps([path.pose(places[i], t[i]) for i in todo]), []
        for i, d in zip(todo, found):
            if low <= d <= high:
                continue
            rest.append(i)
            if d < low:
                assert t[i] > 0, f"the nominal pose {i} is not free"
                blocked[i] = t[i]
                t[i] = 0.5 * (free[i][0] + t[i])
                continue
            # A secant step, not beyond the middle between a free and a blocked pose if it would reach the latter.
            slope = 1.0
            if i in free and d < free[i][1] < REACH and free[i][0] < t[i]:
                slope = min(1.0, max(0.1, (free[i][1] - d) / (t[i] - free[i][0])))
            free[i] = (t[i], d)
            step = (d - goal) / slope
            t[i] += 0.5 * (blocked[i] - t[i]) if i in blocked and t[i] + step >= blocked[i] else step
        todo = rest
    raise AssertionError(f"no contact at {todo}")


def travel(a, b, points):
    """Largest distance (mm) that one of the points of the plug moves."""
    return max(math.dist(*([u + v for u, v in zip(rotate(pose[3:], p), pose[:3])] for pose in (a, b))) for p in points)


def uniform(places, steps, begin, end):
    """Positions from begin to end such that the steps become more equal; the path between given positions is linear."""
    mean = sum(steps[begin:end]) / (end - begin)
    total, sums = 0.0, [0.0]
    for step in steps[begin:end]:
        total += step + 0.2 * mean
        sums.append(total)
    k, out = 0, []
    for i in range(end - begin):
        goal = total * i / (end - begin)
        while sums[k + 1] <= goal:
            k += 1
        part = (goal - sums[k]) / (sums[k + 1] - sums[k])
        out.append(places[begin + k] + part * (places[begin + k + 1] - places[begin + k]))
    places[begin:end] = out


def trajectory(path, solids, clearance, points):
    """Poses in contact from TOUCH to LEAVE; before and after that the push grows and fades."""
    places = [float(i) for i in range(COUNT)]
    for round_ in range(3):
        t = push(path, solids, clearance, {i: places[i] for i in range(TOUCH, LEAVE + 1)})
        poses = []
        for i, place in enumerate(places):
            s = t[min(LEAVE, max(TOUCH, i))] * (smooth((i - TOUCH + 40) / 40) if i < TOUCH else 1 - smooth((i - LEAVE) / 15))
            poses.append(path.pose(place, s))
        steps = [travel(a, b, points) for a, b in zip(poses, poses[1:])]
        if round_ < 2:
            for begin, end in zip(ANCHORS, ANCHORS[1:]):
                uniform(places, steps, begin, end)
    return poses, steps


def matrix(q):
    x, y, z, w = q
    return [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]


def kernel_distance(a, b):
    extrema = BRepExtrema_DistShapeShape(a, b)
    assert extrema.IsDone() and not extrema.InnerSolution()
    return extrema.Value()


def check_poses(solids, poses, steps, clearance):
    """All poses with FEELER: none interferes, gaps in contact are within 2e-4 to 8e-4 clearances, steps are small."""
    frames = solids.frames(poses, REACH)
    status = {s: sum(f["status"] == s for f in frames) for s in ("separated", "touching")}
    assert sum(status.values()) == len(poses), [f["index"] for f in frames if f["status"] not in status]
    gaps = [f["min_distance"] / clearance for f in frames[TOUCH:LEAVE + 1]]
    outside = [f["min_distance"] for f in frames[:TOUCH] + frames[LEAVE + 1:]]
    assert min(gaps) >= 2e-4 and max(gaps) <= 8e-4, (min(gaps), max(gaps))
    assert min(d for d in outside if d is not None) >= 2e-4 * clearance
    coarser = [f["index"] for f in frames if "decided_at" in f]
    free, contact = max(steps[:TOUCH] + steps[LEAVE:]), max(steps[TOUCH:LEAVE])
    assert free <= 0.5 and contact <= 0.2, (free, contact)
    print(f"  {status['separated']} separated, {status['touching']} touching, {len(coarser)} decided at a coarser tolerance; "
          f"gaps in contact {min(gaps):.1e} to {max(gaps):.1e} clearances; steps up to {free:.2f} mm in flight, "
          f"{contact:.2f} mm in contact")


def check_distances(solids, poses, count, receptacle, plug):
    """Smallest distances at some poses from the independent kernel, by index."""
    chosen = [round(k * (len(poses) - 1) / (count - 1)) for k in range(count)]
    frames = solids.frames([poses[i] for i in chosen], 200.0)
    out, largest, missed = {}, 0.0, []
    for i, frame in zip(chosen, frames):
        d, at = frame["min_distance"], poses[i]
        moved = placed(plug, matrix(at[3:]), at[:3])
        theirs = kernel_distance(receptacle, moved)
        if theirs > d + 1e-6:
            # A distance with both footpoints on the solids is an upper bound.
            contact = frame["contacts"][0]
            off = max(kernel_distance(Vertex.makeVertex(*contact[p]).wrapped, s)
                      for p, s in (("point_a", receptacle), ("point_b", moved)))
            assert off < 1e-6, (i, d, theirs, off)
            missed.append((i, theirs - d))
            theirs = d
        assert abs(theirs - d) <= 1e-6, (i, d, theirs)
        largest = max(largest, abs(theirs - d))
        out[str(i)] = round(theirs, 7)
    print(f"  {count} distances differ by at most {largest:.1e} mm from those of the independent kernel, except for "
          f"{len(missed)} minima that it misses {missed}", flush=True)
    return out


def write(shape, file):
    """Writes one valid solid; *.stpz is compressed by gzip, without a date."""
    solids = shape.Solids()
    assert len(solids) == 1 and solids[0].isValid(), f"{file.name}: {len(solids)} solids"
    plain = file.with_suffix(".step")
    # The writer defines the settings.
    writer = STEPControl_Writer()
    Interface_Static.SetCVal_s("write.step.unit", "MM")
    Interface_Static.SetCVal_s("write.step.schema", "AP214IS")
    Interface_Static.SetIVal_s("write.surfacecurve.mode", 0)
    writer.Transfer(solids[0].wrapped, STEPControl_AsIs)
    writer.Write(str(plain))
    normalise(plain)
    # Numbers that are 0 up to rounding differ from run to run, and so do the ends of their lines.
    text = re.sub(r"\n +", "", plain.read_text())
    plain.write_text(re.sub(r"-?\d\.\d*E-(1[3-9]|[2-9]\d)\b", "0.", text))
    if file.suffix == ".stpz":
        file.write_bytes(gzip.compress(plain.read_bytes(), 9, mtime=0))
        plain.unlink()


def read_shape(file, folder):
    if file.suffix != ".stpz":
        return read(file)
    plain = folder / f"{file.stem}.step"
    plain.write_bytes(gzip.decompress(file.read_bytes()))
    return read(plain)


def counts(feeler, file, shape):
    """Faces and edges as FEELER imports them, and the number of seams among the edges."""
    run = subprocess.run([feeler, "inspect", "--json", file], check=True, capture_output=True, text=True)
    solid = json.loads(run.stdout)["solids"][0]
    seams = sum(BRep_Tool.IsClosed_s(e.wrapped, f.wrapped) and not BRep_Tool.Degenerated_s(e.wrapped)
                for f in cq.Shape.cast(shape).Faces() for e in {e.hashCode(): e for e in f.Edges()}.values())
    return [solid[k] for k in ("faces", "supermaximal_faces", "edges", "supermaximal_edges")], seams, solid


def scenario_text(scenario):
    """JSON with one pose in a line."""
    poses = ",\n".join(json.dumps(p) for p in scenario["poses_b"])
    rest = json.dumps({k: v for k, v in scenario.items() if k != "poses_b"})
    return f'{rest[:-1]}, "poses_b": [\n{poses}\n]}}\n'


# Models, with the numbers of BREP's Tables 5.1 and 5.2: faces, supermaximal faces, edges, supermaximal edges.
MODELS = {
    "cone-plug.step": (cone_plug, (108, 65, 194, 136)),
    "cone-receptacle.step": (cone_receptacle, (15, 13, 25, 24)),
    "hotstab-plug.step": (stab_plain, (15, 7, 10, 5)),
    "hotstab-detailed.stpz": (stab_detailed, (993, 759, 1608, 1451)),
    "hotstab-receptacle.step": (stab_receptacle, (64, 58, 78, 72)),
}

# Name: receptacle, plug, clearance, path, points of the plug for the sizes of steps, number of distances from the other kernel.
CONE_POINTS = [(0, 0, 0), *((r * math.cos(a), r * math.sin(a), z) for r, z in ((12, 0), (20, 28), (26, 36)) for a in range(6))]
STAB_POINTS = [(0, 0, 0), *((r * math.cos(a), r * math.sin(a), z) for r, z in ((14, 20), (20, 62)) for a in range(6))]
SCENARIOS = {
    "cone": ("cone-receptacle.step", "cone-plug.step", CONE_PLAY, PushedPath(CONE_KEYS, 15.0, 14.0), CONE_POINTS, 50),
    "hotstab": ("hotstab-receptacle.step", "hotstab-plug.step", STAB_PLAY, PushedPath(STAB_KEYS, 30.0, 20.0), STAB_POINTS, 50),
    "hotstab-detailed": ("hotstab-receptacle.step", "hotstab-detailed.stpz", STAB_PLAY, PushedPath(STAB_KEYS, 30.0, 20.0),
                         STAB_POINTS, 20),
}


def main(feeler, out, names):
    out.mkdir(parents=True, exist_ok=True)
    used = {file for name in names for file in SCENARIOS[name][:2]}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        shapes = {}
        for name, (make, table) in MODELS.items():
            if name not in used:
                continue
            write(make(), out / name)
            shapes[name] = read_shape(out / name, folder)
            found, seams, solid = counts(feeler, out / name, shapes[name])
            kinds = {k: n for part in ("faces_by_type", "edges_by_curve") for k, n in solid[part].items() if n}
            print(f"{name}: faces, supermaximal, edges, supermaximal {found}, BREP {list(table)}; {seams} seams; {kinds}",
                  flush=True)
            checked = range(4) if name.startswith("cone") else range(2)
            assert all(abs(found[k] - table[k]) <= max(1, 0.1 * table[k]) for k in checked), name
        for name in names:
            a, b, clearance, path, points, count = SCENARIOS[name]
            solids = Solids(feeler, out / a, out / b, folder)
            seated = solids.gaps([[0, 0, 0, 0, 0, 0, 1]])[0]
            assert abs(seated - clearance) < 1e-6, seated
            print(f"{name}: clearance {seated:.7f} mm", flush=True)
            poses, steps = trajectory(path, solids, clearance, points)
            check_poses(solids, poses, steps, clearance)
            reference = check_distances(solids, poses, count, shapes[a], shapes[b])
            scenario = {"unit": "mm", "dt": 1 / 60, "clearance": clearance, "a": a, "b": b, "phases": PHASES,
                        "reference_min_distance": reference, "poses_b": poses}
            (out / f"{name}.json").write_text(scenario_text(scenario))
            for file in (f"{name}.json", a, b):
                assert (out / file).stat().st_size <= 1_000_000, file


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2] if len(sys.argv) > 2 else "data/evaluation"), sys.argv[3:] or list(SCENARIOS))
