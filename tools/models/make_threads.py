"""An M6 set screw and its nut with helical flanks, for `feeler-dynamics`.

    pip install -r tools/models/requirements.txt
    python tools/models/make_threads.py FOLDER      # FOLDER/bolt.step and nut.step

The profile is ISO metric with 60 degrees and a pitch of 1 mm, without chamfers: 12 mm of thread, 5 mm of nut. The nut's
flanks are nominal, the bolt's are offset inwards by 0.05 mm (normal to the flank), which leaves 0.1 mm of play sideways;
crests and roots are 0.12 mm apart, so that only flanks touch. Each thread is a ridge between ruled faces along four
helices, as in CAD systems: the kernel writes helices as splines, so that flanks are only close to the true helicoid.
The ridge begins and ends outside the part and is cut by its end planes.

Numbers are rounded to 1e-10 mm, and edges are written without parameter curves, which keeps the files
small.
"""

import math
import re
import sys
from pathlib import Path

from cadquery import Face, Shell, Solid, Vector, Wire, Workplane
from OCP.STEPControl import STEPControl_Controller

import make_models

PITCH = 1.0
MAJOR, MINOR = 6.0, 6.0 - 1.082532 * PITCH
# Radius at which ridge and groove have the same width.
PITCH_RADIUS = 0.5 * (6.0 - 0.649519 * PITCH)
SLOPE = math.tan(math.radians(30))
PLAY = 0.05
BOLT_LENGTH, NUT_LENGTH = 12.0, 5.0
# Length (mm) of a ridge beyond the part before it is cut.
BEYOND = 2.0


def ridge(profile, z0, z1):
    """A solid along a helix about z, from a closed polygon of (radius, height)."""
    edges = [Wire.makeHelix(PITCH, z1 - z0, r).translate(Vector(0, 0, z0 + z)).Edges() for r, z in profile]
    sides = [Face.makeRuledSurface(a, b) for k in range(len(profile)) for a, b in zip(edges[k - 1], edges[k])]
    ends = []
    for z in (z0, z1):
        angle = 2 * math.pi * (z - z0) / PITCH
        corners = [Vector(r * math.cos(angle), r * math.sin(angle), z + dz) for r, dz in profile]
        ends.append(Face.makeFromWires(Wire.makePolygon(corners, close=True)))
    return Solid.makeSolid(Shell.makeShell(sides + ends))


def cut_to(solid, length):
    solids = solid.intersect(Solid.makeBox(20, 20, length, Vector(-10, -10, 0))).Solids()
    assert len(solids) == 1 and solids[0].isValid(), f"{len(solids)} solids"
    return solids[0]


def bolt():
    crest, root = 0.5 * MAJOR - 0.07, 0.5 * MINOR - 0.12
    inset = PLAY / math.cos(math.radians(30))
    half = lambda r: PITCH / 4 - (r - PITCH_RADIUS) * SLOPE - inset
    # The ridge begins inside the core, so that the kernel need not join coincident faces.
    inside = root - 0.1
    profile = [(inside, -half(inside)), (crest, -half(crest)), (crest, half(crest)), (inside, half(inside))]
    core = Solid.makeCylinder(root, BOLT_LENGTH + 2 * BEYOND, Vector(0, 0, -BEYOND))
    return cut_to(core.fuse(ridge(profile, -BEYOND, BOLT_LENGTH + BEYOND)), BOLT_LENGTH)


def nut():
    crest, root = 0.5 * MINOR, 0.5 * MAJOR + 0.05
    half = lambda r: PITCH / 4 + (r - PITCH_RADIUS) * SLOPE
    inside = root + 0.02
    profile = [(crest, -half(crest)), (inside, -half(inside)), (inside, half(inside)), (crest, half(crest))]
    blank = Workplane("XY", origin=(0, 0, -BEYOND)).polygon(6, 11.5).circle(root).extrude(NUT_LENGTH + 2 * BEYOND)
    # Half a pitch up, at the groove of the bolt.
    thread = ridge(profile, -BEYOND, NUT_LENGTH + BEYOND).translate(Vector(0, 0, 0.5 * PITCH))
    return cut_to(blank.val().fuse(thread), NUT_LENGTH)


def shortened(match):
    text = f"{round(float(match.group()), 10):.12g}"
    return (text if "." in text or "e" in text else text + ".").replace("e", ".E" if "." not in text else "E")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    # Settings of the writer are effective only after this initialisation.
    STEPControl_Controller.Init_s()
    for name, make in (("bolt", bolt), ("nut", nut)):
        solid, path = make(), out / f"{name}.step"
        make_models.WITHOUT_PCURVES.add(name)
        make_models.write(solid, path, "MM")
        path.write_text(re.sub(r"-?\d+\.\d{10,}(E[-+]?\d+)?", shortened, path.read_text()))
        print(f"{name:12} {len(solid.Faces()):3} faces  {solid.Volume():12.6f} mm3  {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
