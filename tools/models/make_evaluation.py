import json
import math
import subprocess
import sys
from pathlib import Path

import cadquery as cq
from cadquery import Edge, Solid, Vector, Wire, Workplane

from make_stab import along, at, polar, rounded, spun, turned
from OCP.BRepBuilderAPI import BRepBuilderAPI_NurbsConvert
from OCP.Interface import Interface_Static
from OCP.STEPControl import STEPControl_AsIs, STEPControl_Writer

from make_models import normalise

# Bayonet cone: seated, the plug's tip is at z = 0.
CONE_PLAY = 0.2
TIP_R, CONE_R, CONE_H, PLUG_TOP = 12.0, 20.0, 24.0, 32.0
TOOTH_R, TOOTH_Z, TOOTH_TIP = 2.0, 15.0, 14.2
CHANNELS = 5
RIBS, HOLES = 7, 12
LOCK = math.radians(30)
FLAT = 19.8
SLACK = math.radians(3)
Z = Vector(0, 0, 1)


def sector(radius, z0, z1, a0, a1):
    return spun(Solid.makeCylinder(radius, z1 - z0, Vector(0, 0, z0), Z, math.degrees(a1 - a0)), a0)


def channel():
    """Volume removed for a tooth that enters from the tip at the angle LOCK and is seated at the angle 0."""
    half, floor = TOOTH_R + CONE_PLAY, TOOTH_TIP - CONE_PLAY
    slot = Solid.makeBox(40, 2 * half, TOOTH_Z + half + 1, Vector(0, -half, -1))
    # The end wall is half a width beyond the tooth.
    end = Solid.makeBox(40, 2 * half, 2 * half, Vector(0, -half, TOOTH_Z - half))
    around = sector(40, TOOTH_Z - half, TOOTH_Z + half, -SLACK, LOCK)
    whole = spun(slot, LOCK).fuse(spun(end, -SLACK), around)
    return whole.cut(Solid.makeCylinder(floor, 60, Vector(0, 0, -10), Z)).clean()


def groove(z, r, floor, half, slope):
    """Corners (r, z, radius) of a groove in a cylinder of radius r, with conical sides and a floor of the other radius."""
    wide = half + slope * abs(floor - r)
    return [(r, z - wide, 0), (floor, z - half, 0), (floor, z + half, 0), (r, z + wide, 0)]


def cone_plug():
    """The plug: cone, cylinder, flange with holes, and a grip with rings; five channels."""
    ribs = [corner for k in range(RIBS) for corner in groove(43 + 2.4 * k, 11, 10.2, 0.6, 0)]
    body = turned(rounded([(0, 0, 0), (TIP_R, 0, 1.5), (CONE_R, CONE_H, 8),
                           *groove(28, CONE_R, CONE_R - 0.8, 0.6, 0.5), (CONE_R, PLUG_TOP, 0), (25, PLUG_TOP, 0), (26, PLUG_TOP + 1, 0),
                           (26, 38, 0), (25, 39, 0), (11, 39, 3), *ribs, (11, 60, 0), (10, 61, 0), (0, 61, 0)])).val()
    one = channel()
    body = body.cut(*[spun(one, 2 * math.pi * k / CHANNELS) for k in range(CHANNELS)]).clean()
    holes = [along(Z, polar(19.5, 2 * math.pi * k / HOLES, 35), 1.5, 9) for k in range(HOLES)]
    holes += [along(polar(1, math.pi * k / 2, 0), polar(22, math.pi * k / 2, 35.5), 1.0, 9) for k in range(4)]
    return body.cut(*holes)


TOP = 31.5


def cone_receptacle():
    slope = (CONE_R - TIP_R) / CONE_H
    wide = CONE_PLAY * math.sqrt(1 + slope * slope)
    bend = (CONE_R + CONE_PLAY - TIP_R - wide) / slope
    r, low = CONE_R + CONE_PLAY, -1.5
    hole = turned(rounded([(0, low, 0), (TIP_R + wide + slope * low, low, 0), (r, bend, 8 - CONE_PLAY), (r, TOP - 1.5, 0),
                           (r + 1.5, TOP, 0), (r + 1.5, TOP + 5, 0), (0, TOP + 5, 0)])).val()
    tooth = along(Vector(1, 0, 0), Vector(TOOTH_TIP, 0, TOOTH_Z), TOOTH_R, 8)
    # The corner without material marks the tooth.
    outline = Wire.makePolygon([Vector(*p, -8) for p in ((38, -38), (38, 18), (18, 38), (-38, 38), (-38, -38))], close=True)
    return Solid.extrudeLinear(outline, [], Vector(0, 0, TOP + 8)).cut(spun(hole, math.pi)).fuse(tooth)


# Hotstab: seated, the tip of the plug is at z = 0.
STAB_PLAY = 0.1
STAB_TIP, STAB_SMALL, STAB_LARGE, STAB_NECK = 9.0, 14.0, 20.0, 12.0
STAB_FIRST, STAB_STEP = math.radians(25), math.radians(35)
STAB_STEP_Z, STAB_SHOULDER, STAB_TOP, STAB_FACE = 34.0, 64.0, 90.0, 62.0


def stab_outline(play):
    """Points (r, z) of the profile, offset outwards: end of the tip's arc, both ends of the small cylinder, start of the large one."""
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
    tip = Edge.makeThreePointArc(at(0, 0), at(STAB_TIP * math.cos(middle), STAB_TIP - STAB_TIP * math.sin(middle)), at(*points[0][:2]))
    above = STAB_TOP + 10
    edges = [tip, *rounded([*points, (STAB_LARGE, STAB_SHOULDER, 0), (STAB_NECK, STAB_SHOULDER, 0), (STAB_NECK, above, 0), (0, above, 0)])]
    wire = Wire.assembleEdges([*edges, Edge.makeLine(at(0, above), at(0, 0))])
    half = Solid.revolve(wire, [], 180, Vector(0, 0, 0), Vector(0, 0, 1))
    whole = half.fuse(spun(half, math.pi))
    return whole.cut(Solid.makeBox(60, 60, 20, Vector(-30, -30, STAB_TOP)))


def stab_receptacle():
    touch, low, step, wide = stab_outline(STAB_PLAY)
    small, large = low[0], wide[0]
    cut = math.tan(STAB_FIRST)
    sump = 2.0
    narrow = touch[0] + (sump - touch[1]) * cut
    rings = lambda zs, r: [corner for k, z in enumerate(zs) for corner in groove(z, r, r + 1.2 + 0.1 * k, 0.8, 0.5)]
    profile = [(0, -4, 0), (narrow - 1, -4, 1), (narrow - 1, sump, 0), (narrow, sump, 0), (*low, 0),
               *rings((20.5, 25.5, 30), small), (*step, 0), (*wide, 0),
               *rings((46, 51, 56), large), (large, STAB_FACE - 2.5, 0), (large + 0.6, STAB_FACE - 1.3, 0),
               (large + 1.9, STAB_FACE, 0), (large + 1.9, STAB_FACE + 5, 0), (0, STAB_FACE + 5, 0)]
    hole = turned(rounded(profile)).val()
    block = Workplane("XY").box(76, 76, STAB_FACE + 10, centered=(True, True, False)).translate((0, 0, -10)).edges("|Z").fillet(9).val()
    tools = [hole]
    bolt = turned(rounded([(0, 40, 0), (2.1, 41.2, 0), (2.1, STAB_FACE - 0.6, 0), (2.7, STAB_FACE, 0), (2.7, STAB_FACE + 1, 0),
                           (0, STAB_FACE + 1, 0)])).val()
    tools += [bolt.moved(cq.Location(Vector(x, y, 0))) for x in (-29, 29) for y in (-29, 29)]
    for side, z in ((0, 25.5), (math.pi, 51.0)):
        tools += [along(polar(1, side, 0), Vector(0, 0, z), 0.7, 40), along(polar(1, side, 0), polar(30, side, z), 3.5, 10)]
    tools.append(turned(rounded([(0, -12, 0), (4.5, -12, 0), (4.5, -10, 0), (3, -8.5, 0), (3, -3, 0), (0, -3, 0)])).val())
    return block.cut(*tools)



LETTERS = {  # strokes of letters from point to point of a grid of 3 x 5 points, numbered row by row from the lower left corner
    "A": "0C CE E2 68", "B": "0C CE 68 02 28 8E", "C": "0C CE 02", "D": "0C CE 02 2E", "E": "0C CE 68 02", "F": "0C CE 68",
    "G": "0C CE 02 28", "H": "0C 2E 68", "I": "D1", "L": "0C 02", "N": "0C 2E C2", "O": "0C CE E2 02", "P": "0C CE E8 68",
    "R": "0C CE E8 68 72", "S": "CE C6 68 82 02", "T": "CE D1", "U": "0C E2 02", "1": "D1", "0": "0C CE E2 02", "4": "C6 68 E2", " ": "",
}


def stroke(a, b, radius):
    """The volume that a ball cutter removes from a to b; its seam is on top."""
    along_ab, up = (b - a).normalized() * radius, Z * radius
    side = lambda p, s: Edge.makeThreePointArc(p + along_ab * s, p + (along_ab * s + up) * math.sqrt(0.5), p + up)
    wire = Wire.assembleEdges([side(a, -1), Edge.makeLine(a + up, b + up), side(b, 1), Edge.makeLine(b + along_ab, a - along_ab)])
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
    bar = along(x, Vector(-BAR_HALF, 0, BAR_Z), BAR_R, 2 * BAR_HALF).fuse(*[ball(BAR_R, Vector(s * BAR_HALF, 0, BAR_Z)) for s in (-1, 1)])
    rings = [Solid.makeTorus(BAR_R + 0.4, 1.0, Vector(s * p, 0, BAR_Z), x) for s in (-1, 1) for p in (15, 19, 23, 27)]
    dimples = [ball(0.9, Vector(s * p, (BAR_R + 0.5) * math.cos(t), BAR_Z + (BAR_R + 0.5) * math.sin(t)))
               for s in (-1, 1) for p in (13, 17, 21, 25, 29) for t in [2 * math.pi * (k + 0.5) / 7 for k in range(7)]]
    return bar.cut(*rings).cut(*dimples)


def free_form_tip():
    """The tip as B-spline surfaces: they end where the arc of the plain tip ends, tangent to the cone, and stay inside the arc."""
    end = at(*stab_outline(0)[0])
    tangents = [Vector(1, 0, 0), Vector(math.sin(STAB_FIRST), 0, math.cos(STAB_FIRST))]
    arc = Edge.makeSpline([at(0, 0.5), at(4.5, 1.5), end], tangents=tangents)
    inside = at(0, end.z + 3)
    wire = Wire.assembleEdges([arc, Edge.makeLine(end, inside), Edge.makeLine(inside, at(0, 0.5))])
    return Solid(BRepBuilderAPI_NurbsConvert(Solid.revolve(wire, [], 360, Vector(0, 0, 0), Z).wrapped).Shape())


def stab_detailed():
    points = [(*p, 0) for p in stab_outline(0)]
    c = 0.5
    profile = [(0, points[0][1], 0), *points, (STAB_LARGE, STAB_SHOULDER, 0), (STAB_NECK, STAB_SHOULDER, 0), (STAB_NECK, COLLAR, 0),
               (STAB_LARGE - c, COLLAR, 0), (STAB_LARGE, COLLAR + c, 0), (STAB_LARGE, COLLAR_TOP - c, 0), (STAB_LARGE - c, COLLAR_TOP, 0),
               (8, COLLAR_TOP, 3), (8, BAR_Z, 0), (0, BAR_Z, 0)]
    body = turned(rounded(profile)).val().fuse(free_form_tip()).fuse(grip())
    body = body.cut(*knurl())
    for text, radius in RINGS:
        body = body.cut(*engraving(text, radius, COLLAR_TOP))
    return body


def write(shape, file):
    solids = shape.Solids()
    assert len(solids) == 1 and solids[0].isValid(), f"{file.name}: {len(solids)} solids"
    # The writer defines the settings.
    writer = STEPControl_Writer()
    Interface_Static.SetCVal_s("write.step.unit", "MM")
    Interface_Static.SetCVal_s("write.step.schema", "AP214IS")
    Interface_Static.SetIVal_s("write.surfacecurve.mode", 0)
    writer.Transfer(solids[0].wrapped, STEPControl_AsIs)
    writer.Write(str(file))
    normalise(file)


def write_json(file, poses, clearance, a, b, reference={}):
    scenario = {"unit": "mm", "dt": 1 / 60, "clearance": clearance, "a": a, "b": b, "phases": PHASES,
                "reference_min_distance": reference, "poses_b": poses}
    text = json.dumps(scenario).replace('"poses_b": [[', '"poses_b": [\n[').replace("], [", "],\n[")
    file.write_text(text + "\n")


PHASES = [("flight", 0, 801), ("insertion", 801, 1101), ("inplace", 1101, 1301), ("extraction", 1301, 1500)]
TOUCH, LEAVE = 500, 1400
COUNT = 1500

# Nominal path: index; x, y, height z (mm) and spin (degrees) of the plug; azimuth and elevation (degrees) of the direction in
# which it is pushed, part of the spin in it; tilt (degrees) about the direction across the azimuth, amplitude of the wobble (degrees).
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
    (1030, 0, 0, 0, -30, 280, 10, 0, 0.02, 0.01),
    (1060, 0, 0, 0, -19, 300, 80, -0.2, 0.02, 0.01),
    (1101, 0, 0, 0, 0, 330, -60, 0.3, 0.02, 0.01),
    (1130, 0, 0, 0, 1, 360, -10, 0.5, 0.02, 0.01),
    (1160, 0, 0, 0, 2, 390, 0, 0.95, 0.02, 0.01),
    (1190, 0, 0, 0, 0, 440, 30, 0.3, 0.02, 0.01),
    (1220, 0, 0, 0, -2, 500, 0, 0, 0.02, 0.01),
    (1260, 0, 0, 0, 2, 570, -60, 0, 0.02, 0.01),
    (1301, 0, 0, 0, 0, 600, 0, 0.2, 0.02, 0.01),
    (1372, 0, 0, 0, -30, 640, 50, 0, 0.02, 0.01),
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
    (1010, 0, 0, 9, 0, 200, 0, 0, 0.02, 0.01),
    (1080, 0, 0, 0.5, 0, 280, -20, 0, 0.02, 0.01),
    (1101, 0, 0, 0, 0, 300, -70, 0, 0.02, 0.01),
    (1150, 0, 0, 0, 10, 360, -30, 0, 0.02, 0.01),
    (1200, 0, 0, 0, -10, 450, 0, 0, 0.02, 0.01),
    (1250, 0, 0, 0, 10, 540, -60, 0, 0.02, 0.01),
    (1301, 0, 0, 0, 0, 620, -10, 0, 0.02, 0.01),
    (1340, 0, 0, 4, 0, 680, 0, 0, 0.02, 0.01),
    (1400, 0, 0, 13.5, 0, 760, 0, 0, 0.02, 0.01),
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
    return [d * e + a * h + b * g - c * f, d * f - a * g + b * h + c * e, d * g + a * f - b * e + c * h, d * h - a * e - b * f - c * g]


def rotate(q, v):
    return multiply(multiply(q, [*v, 0.0]), [-q[0], -q[1], -q[2], q[3]])[:3]


def smooth(t):
    t = min(1.0, max(0.0, t))
    return t * t * (3 - 2 * t)


class PushedPath:
    """Poses of a plug by index and distance t (mm) of the push."""

    def __init__(self, keys, pivot, lever):
        self.keys, self.pivot, self.lever = keys, pivot, lever

    def pose(self, i, t):
        x, y, z, spin, azimuth, elevation, part, tilt, wobble = interpolate(self.keys, i)
        a, e = math.radians(azimuth), math.radians(elevation)
        side = t * (1 - abs(part))
        x, y, z = x + side * math.cos(a) * math.cos(e), y + side * math.sin(a) * math.cos(e), z + side * math.sin(e)
        turn = 0.5 * (math.radians(spin) + t * part / self.lever)
        u = math.radians(tilt * -math.sin(a) + wobble * math.sin(0.031 * i + 1))
        v = math.radians(tilt * math.cos(a) + wobble * math.sin(0.043 * i))
        angle = math.hypot(u, v)
        f = math.sin(0.5 * angle) / angle if angle else 0.5
        q = multiply([f * u, f * v, 0.0, math.cos(0.5 * angle)], [0.0, 0.0, math.sin(turn), math.cos(turn)])
        offset = rotate(q, [0.0, 0.0, self.pivot])
        pose = [x - offset[0], y - offset[1], z + self.pivot - offset[2], *q]
        return [round(v, 12) + 0.0 for v in pose]


class Gaps:
    """Smallest distances at many poses from `feeler sweep`."""

    def __init__(self, feeler, receptacle, plug, folder):
        self.feeler, self.folder = feeler, folder
        self.files = []
        for file in (receptacle, plug):
            self.files.append(folder / (file.name.split(".")[0] + ".feeler"))
            subprocess.run([feeler, "preprocess", "-q", str(file), "-o", str(self.files[-1])], check=True)

    def __call__(self, poses, reach):
        """For each pose the smallest distance, `reach` beyond it, and -1 for interfering solids."""
        file = self.folder / "poses.json"
        file.write_text(json.dumps({"unit": "mm", "dt": 1 / 60, "poses_b": poses}))
        run = subprocess.run([self.feeler, "sweep", "-q", "--json", *map(str, self.files), "--d-max", str(reach), "--trajectory", str(file)],
                             capture_output=True, text=True)
        assert run.returncode in (0, 1), run.stderr
        out = []
        for frame in json.loads(run.stdout)["frames"]:
            assert frame["status"] in ("separated", "touching", "interfering"), frame
            d = frame["min_distance"]
            out.append(-1.0 if frame["status"] == "interfering" else reach if d is None else d)
        return out


REACH = 3.0


def push(path, gaps, clearance, indices):
    """Distances t of the pushes that end 2e-4 to 8e-4 clearances before contact."""
    low, high, goal = 3e-4 * clearance, 7e-4 * clearance, 5e-4 * clearance
    t = {i: 0.0 for i in indices}
    free, blocked = {}, {}
    last = {}
    todo = list(indices)
    for round_ in range(60):
        if not todo:
            return {i: v for i, v in t.items()}
        found = gaps([path.pose(i, t[i]) for i in todo], REACH)
        if round_ == 0:
            bad = [i for i, d in zip(todo, found) if d < low]
            print("not free:", bad)
            for i in bad: del t[i]
            todo, found = zip(*[(i, d) for i, d in zip(todo, found) if d >= low])
        rest = []
        for i, d in zip(todo, found):
            if low <= d <= high:
                continue
            rest.append(i)
            if d < low:
                assert t[i] > 0, f"pose {i} is not free: {d}"
                blocked[i] = t[i]
                # Close to the contact a small step back is better than half of the interval.
                t[i] = 0.5 * (free[i][0] + t[i])
                continue
            slope = 1.0
            if d < REACH and i in free and free[i][0] < t[i] and d < free[i][1] < REACH:
                slope = min(1.0, max(0.1, (free[i][1] - d) / (t[i] - free[i][0])))
            free[i] = (t[i], d)
            step = (d - goal) / slope
            if i in blocked and t[i] + step >= blocked[i]:
                step = 0.5 * (blocked[i] - t[i])
            t[i] += step
        todo = rest
    raise AssertionError(f"no contact: {[(i, t[i], free[i], blocked.get(i)) for i in todo[:5]]}")


def travel(a, b, points):
    """Largest distance that one of the points of the plug moves."""
    place = lambda pose, p: [u + v for u, v in zip(rotate(pose[3:], p), pose[:3])]
    return max(math.dist(place(a, p), place(b, p)) for p in points)


def trajectory(path, gaps, clearance, points):
    indices = range(TOUCH, LEAVE + 1)
    t = push(path, gaps, clearance, indices)
    poses = []
    for i in range(COUNT):
        if i < TOUCH:
            s = t[TOUCH] * smooth((i - TOUCH + 40) / 40)
        elif i > LEAVE:
            s = t[LEAVE] * (1 - smooth((i - LEAVE) / 15))
        else:
            s = t.get(i, 0)
        poses.append(path.pose(i, s))
    found = gaps(poses, REACH)
    steps = [travel(a, b, points) for a, b in zip(poses, poses[1:])]
    for i, d in enumerate(found):
        if d < 2e-4 * clearance or (TOUCH <= i <= LEAVE and d > 8e-4 * clearance):
            print("wrong", i, d)
    print("steps", max(steps[:TOUCH]), max(steps[TOUCH:LEAVE]), max(steps[LEAVE:]))
    for i in range(TOUCH, LEAVE):
        if steps[i] > 0.2: print("  step", i, round(steps[i], 3), [round(b - a, 3) for a, b in zip(poses[i], poses[i + 1])])
    return poses, found


if __name__ == "__main__":
    out = Path(sys.argv[1])
    if sys.argv[3:] == ["detail"]:
        write(stab_detailed(), out / "hotstab-detailed.step")
        sys.exit()
    if sys.argv[3:] != ["poses"]:
        write(cone_plug(), out / "cone-plug.step")
        write(cone_receptacle(), out / "cone-receptacle.step")
        write(stab_plain(), out / "hotstab-plug.step")
        write(stab_receptacle(), out / "hotstab-receptacle.step")

    feeler = sys.argv[2]
    gaps = Gaps(feeler, out / "cone-receptacle.step", out / "cone-plug.step", Path("/tmp/ev"))
    import time; t0 = time.time()
    poses, found = trajectory(PushedPath(CONE_KEYS, 15.0, 14.0), gaps, CONE_PLAY, [(0, 0, 0), (12, 0, 0), (-12, 0, 0), (0, 20, 28), (0, -20, 28), (20, 0, 28), (-20, 0, 28)])
    write_json(out / "cone.json", poses, CONE_PLAY, "cone-receptacle.step", "cone-plug.step")
    print(time.time() - t0)
    for name, plug in (("hotstab", "hotstab-plug.step"), ("hotstab-detailed", "hotstab-detailed.stpz")):
        gaps = Gaps(feeler, out / "hotstab-receptacle.step", out / plug, Path("/tmp/ev"))
        poses, found = trajectory(PushedPath(STAB_KEYS, 30.0, 20.0), gaps, STAB_PLAY, [(0, 0, 0), (0, 20, 50), (0, -20, 50), (20, 0, 50), (-20, 0, 50)])
        write_json(out / f"{name}.json", poses, STAB_PLAY, "hotstab-receptacle.step", plug)
        print(time.time() - t0)
