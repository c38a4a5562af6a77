"""Assemblies for `feeler clearance`: a bolted flange of any size, and a planetary gear stage in 13 positions.

    pip install -r tools/models/requirements.txt
    python tools/models/make_assemblies.py flange N FILE.step
    python tools/models/make_assemblies.py planetary FOLDER      # FOLDER/stage-00.step … stage-12.step

The flange consists of two rings, N bolts and N nuts. Bolts have 0.5 mm of play in their holes, heads and
nuts are in contact with the rings, and nuts and bolts share the nominal cylinder of their thread. The
stage consists of a sun, five planets on pins, a ring gear, a carrier of two plates, and spacers: 24
parts, all with play. The involute teeth of module 2 are thinned by 0.1 mm, the pins are 0.02 mm thinner
than their bores. Position k rotates the sun by k steps of 7 degrees.
"""

import math
import sys
from pathlib import Path

import cadquery as cq

# ------------------------------------------------------------------------------------------------------------- flange


def flange(n):
    radius = max(60.0, n * 22 / (2 * math.pi))
    places = [(radius * math.cos(2 * math.pi * k / n), radius * math.sin(2 * math.pi * k / n)) for k in range(n)]
    ring = cq.Workplane().circle(radius + 20).circle(radius - 20).extrude(12)
    ring = ring.faces(">Z").workplane().pushPoints(places).hole(11)
    bolt = cq.Workplane().polygon(6, 19).extrude(-6.5).faces(">Z").workplane().circle(5).extrude(36)
    nut = cq.Workplane().polygon(6, 19).circle(5).extrude(8)
    out = cq.Assembly(name="flange")
    out.add(ring, name="lower")
    out.add(ring, name="upper", loc=cq.Location((0, 0, 12)))
    for k, (x, y) in enumerate(places):
        out.add(bolt, name=f"bolt{k}", loc=cq.Location((x, y, 0)))
        out.add(nut, name=f"nut{k}", loc=cq.Location((x, y, 24)))
    return out


# ---------------------------------------------------------------------------------------------------------- planetary

MODULE, PRESSURE = 2.0, math.radians(20)
SUN, PLANET, PLANETS = 20, 20, 5
RING = SUN + 2 * PLANET
THINNED = 0.1


def involute(base, t):
    return base * (math.cos(t) + t * math.sin(t)), base * (math.sin(t) - t * math.cos(t))


def gear_profile(teeth, addendum, dedendum, thinned):
    """Closed outline of a gear: involute flanks as splines, straight lines below the base circle, arcs at the tips."""
    pitch = MODULE * teeth / 2
    base, tip, root = pitch * math.cos(PRESSURE), pitch + addendum, pitch - dedendum
    inv = math.tan(PRESSURE) - PRESSURE
    half = math.pi / (2 * teeth) - thinned / (2 * pitch) + inv
    start, end = math.sqrt(max(0.0, (max(base, root) / base) ** 2 - 1)), math.sqrt((tip / base) ** 2 - 1)
    flank = [involute(base, start + (end - start) * k / 8) for k in range(9)]

    def turned(p, a, mirror=False):
        x, y = (p[0], -p[1]) if mirror else p
        return x * math.cos(a) - y * math.sin(a), x * math.sin(a) + y * math.cos(a)

    low = min(root, base) if root < base else root
    w = cq.Workplane()
    for k in range(teeth):
        middle = 2 * math.pi * k / teeth
        right = [turned(p, middle - half) for p in flank]
        left = [turned(p, middle + half, mirror=True) for p in reversed(flank)]
        foot = [turned((low, 0), middle - half), turned((low, 0), middle + half)]
        w = w.moveTo(*foot[0]) if k == 0 else w.lineTo(*foot[0])
        if math.dist(foot[0], right[0]) > 1e-6:
            w = w.lineTo(*right[0])
        w = w.spline(right[1:], includeCurrent=True)
        w = w.threePointArc(turned((tip, 0), middle), left[0])
        w = w.spline(left[1:], includeCurrent=True)
        if math.dist(foot[1], left[-1]) > 1e-6:
            w = w.lineTo(*foot[1])
    return w.close()


def stage(position):
    sun_turn = math.radians(7 * position)
    carrier_turn = sun_turn * SUN / (SUN + RING)
    centre = MODULE * (SUN + PLANET) / 2
    sun = gear_profile(SUN, MODULE, 1.25 * MODULE, THINNED).extrude(10)
    sun = sun.faces(">Z").workplane().hole(12)
    planet = gear_profile(PLANET, MODULE, 1.25 * MODULE, THINNED).extrude(10)
    planet = planet.faces(">Z").workplane().hole(10)
    inside = gear_profile(RING, 1.25 * MODULE, MODULE, -THINNED).extrude(10)
    ring = cq.Workplane().circle(MODULE * RING / 2 + 12).extrude(10).cut(inside)
    pin = cq.Workplane("XY", origin=(0, 0, -5)).circle(4.99).extrude(20)
    washer = cq.Workplane().circle(8).circle(5).extrude(0.9)
    places = [(centre * math.cos(2 * math.pi * k / PLANETS), centre * math.sin(2 * math.pi * k / PLANETS))
              for k in range(PLANETS)]
    plate = cq.Workplane().circle(centre + 12).circle(10).extrude(4)
    plate = plate.faces(">Z").workplane().pushPoints(places).hole(10)
    shaft = cq.Workplane("XY", origin=(0, 0, -20)).circle(5.98).extrude(50)

    out = cq.Assembly(name="stage")
    about = lambda a: cq.Location((0, 0, 0), (0, 0, 1), math.degrees(a))  # noqa: E731
    # A tooth of every planet points at a gap of the ring if the ring is rotated by half a tooth.
    out.add(ring, name="ring", loc=about(math.pi / RING))
    out.add(sun, name="sun", loc=about(sun_turn))
    out.add(shaft, name="shaft", loc=about(sun_turn))
    out.add(plate, name="carrier1", loc=about(carrier_turn) * cq.Location((0, 0, -5)))
    out.add(plate, name="carrier2", loc=about(carrier_turn) * cq.Location((0, 0, 11)))
    for k in range(PLANETS):
        at = carrier_turn + 2 * math.pi * k / PLANETS
        x, y = centre * math.cos(at), centre * math.sin(at)
        # A tooth of the sun is at sun_turn; at the mesh it is opposite to a gap of the planet.
        phase = at + math.pi - (sun_turn - at) * SUN / PLANET + math.pi / PLANET
        here = cq.Location((x, y, 0))
        out.add(planet, name=f"planet{k}", loc=here * about(phase))
        out.add(pin, name=f"pin{k}", loc=here)
        out.add(washer, name=f"washer{k}", loc=here * cq.Location((0, 0, -0.95)))
        if k < 4:
            out.add(washer, name=f"spacer{k}", loc=here * cq.Location((0, 0, 10.05)))
    return out


def main():
    kind, *rest = sys.argv[1:]
    if kind == "flange":
        flange(int(rest[0])).export(rest[1])
    else:
        folder = Path(rest[0])
        folder.mkdir(parents=True, exist_ok=True)
        for k in range(13):
            stage(k).export(str(folder / f"stage-{k:02}.step"))


if __name__ == "__main__":
    main()
