"""The plug of the insertion scenario s1, eroded, for runs with implicit dilation as in BREP 5.1.1.

    pip install -r tools/models/requirements.txt
    python tools/models/make_eroded.py s1.json OUT_DIR [PART]      # PART of the largest radius, default 0.005

Writes OUT_DIR/s1-eroded.step and OUT_DIR/s1-eroded.json, which contains the dilation (mm) that restores
the plug; the receptacle is copied. The poses are those of s1.json.

The offset function of the modelling kernel fails on this plug (mixed convex and concave edges at a
vertex). The script therefore rebuilds the plug from its surfaces, each moved inwards by the erosion and
intersected sharply with its neighbours: planes, cylinders, cones, tori and spheres are offset in closed
form, fillets of convex edges shrink. Checks of the result:

- built with 0 it must be the plug of the scenario: equal volume and area to 1e-6, empty differences;
- the eroded solid must be one valid solid, as it is read from its file;
- points spread over its faces must be at the requested depth inside the plug, to 2e-5 mm, except beside
  concave edges, where sharp joins are deeper.

Lengths in mm, the tip at z = 0, the axis along z.
"""

import json
import math
import random
import sys
from pathlib import Path

import cadquery as cq
from cadquery import Solid, Vector, Workplane
from OCP.BRepClass3d import BRepClass3d_SolidClassifier
from OCP.BRepExtrema import BRepExtrema_DistShapeShape
from OCP.TopAbs import TopAbs_IN

from scenarios import without_date, write_scenario

TIP, TOP, CONE, PLUG, FLANGE = 15.0, 30.0, 60.0, 80.0, 92.0
RIM = 40.0
SLOPE = math.atan2(TOP - TIP, CONE)
FLOOR, HALF_WIDTH, HEIGHT, TURN = 21.7, 3.3, 45.0, math.radians(40)
UP = Vector(0, 0, 1)


def chamfer(size, d):
    """A chamfer of 45 degrees after its three faces have moved inwards."""
    return size - (2 - math.sqrt(2)) * d


def rim(solid, z, r):
    found = [e for e in solid.edges().vals() if e.geomType() == "CIRCLE"
             and abs(e.Center().z - z) < 1e-3 and abs(e.radius() - r) < 1e-3]
    assert found, (z, r)
    return solid.newObject(found)


def cylinder(radius, start, direction, length):
    return Solid.makeCylinder(radius, length, start, direction)


def ball(radius, center):
    return Solid.makeSphere(radius, Vector(0, 0, 0), UP, -90, 90, 360).moved(cq.Location(center))


def cone_radius(z, d):
    return TIP + z * math.tan(SLOPE) - d / math.cos(SLOPE)


def outside(d):
    meet = (TOP - d - cone_radius(0, d)) / math.tan(SLOPE)
    points = [(0, d), (cone_radius(d, d), d), (TOP - d, meet), (TOP - d, PLUG + d), (RIM - d, PLUG + d), (RIM - d, FLANGE - d),
              (0, FLANGE - d)]
    body = Workplane("XZ").polyline(points).close().revolve(360, (0, 0, 0), (0, 1, 0))
    body = rim(body, d, cone_radius(d, d)).fillet(2.5 - d)
    body = rim(body, meet, TOP - d).fillet(6 - d)
    body = rim(body, FLANGE - d, RIM - d).fillet(2 - d)
    return rim(body, PLUG + d, RIM - d).chamfer(chamfer(1, d))


def channel(d):
    """The bayonet channel: along the plug, then around it, with round ends."""
    floor, half = FLOOR - d, HALF_WIDTH + d
    slot = Solid.makeBox(40 + d, 2 * half, 35 + d, Vector(floor, -half, 10 - d))
    around = Solid.makeCylinder(60, 2 * half, Vector(0, 0, HEIGHT - half), UP, math.degrees(TURN))
    around = around.cut(cylinder(floor, Vector(0, 0, HEIGHT - half), UP, 2 * half))
    ends = [cylinder(half, Vector(floor * math.cos(a), floor * math.sin(a), HEIGHT), Vector(math.cos(a), math.sin(a), 0), 40)
            for a in (0, TURN)]
    return slot.fuse(around, *ends)


def hollows(d):
    """All other parts that are removed."""
    out = [Solid.makeTorus(TOP + 0.4, 1.6 + d, Vector(0, 0, z), UP) for z in (66, 72)]
    out.append(Solid.makeTorus(cone_radius(18, 0) + 0.3, 1.2 + d, Vector(0, 0, 18), UP))
    for a in map(math.radians, (100, 150, 200, 250, 300)):
        g = Vector(math.sin(SLOPE) * math.cos(a), math.sin(SLOPE) * math.sin(a), math.cos(SLOPE))
        p = Vector((TIP + 1.2) * math.cos(a), (TIP + 1.2) * math.sin(a), 0) + g * 24
        out.append(cylinder(2.2 + d, p, g, 22).fuse(ball(2.2 + d, p), ball(2.2 + d, p + g * 22)))
    for a in map(math.radians, range(30, 390, 60)):
        p = Vector(35 * math.cos(a), 35 * math.sin(a), 0)
        out.append(cylinder(1.8 + d, p + UP * PLUG, UP, 12))
        out.append(cylinder(3 + d, p + UP * (87 - d), UP, 5 + d))
    across = 20 + 2 * d / math.cos(math.pi / 6)
    out.append(Workplane("XY").polygon(6, across).extrude(10 + d).translate((0, 0, 82 - d)).val())
    return out


def plug(d):
    out = outside(d).cut(Workplane(channel(d)))
    for tool in [*hollows(d)[:3], cylinder(6 + d, Vector(0, 0, 0), UP, 14).fuse(ball(6 + d, Vector(0, 0, 14)))]:
        out = out.cut(Workplane(tool))
    out = rim(out, d, 6 + d).chamfer(chamfer(0.8, d))
    for tool in hollows(d)[3:]:
        out = out.cut(Workplane(tool))

    def is_rim(e):
        c = e.Center()
        near = abs(math.hypot(c.x, c.y) - cone_radius(c.z, d)) < 2 and -0.35 < math.atan2(c.y, c.x) < TURN + 0.35
        return near and 20 < c.z < 52 and e.geomType() != "CIRCLE"

    out = out.newObject([e for e in out.edges().vals() if is_rim(e)]).fillet(0.5 - d)
    assert out.solids().size() == 1, d
    return out.solids().val()


def written(solid, file):
    """The solid as read from its file: reading recomputes the fillet's trims, some of which the kernel reports as invalid."""
    cq.exporters.export(Workplane(solid), str(file))
    without_date(file)
    read = cq.importers.importStep(str(file)).solids().vals()
    assert len(read) == 1 and read[0].isValid(), file
    return read[0]


def check_same(mine, theirs):
    for what in ("Volume", "Area"):
        a, b = (getattr(s, what)() for s in (mine, theirs))
        assert abs(a - b) < 1e-6 * b, (what, a, b)
    apart = mine.cut(theirs).Volume() + theirs.cut(mine).Volume()
    assert abs(apart) < 1e-6 * theirs.Volume(), apart


def depths(eroded, original, count=600):
    """Depths (mm) of points on the eroded solid's faces inside the original one."""
    rng = random.Random(1)
    shell = cq.Compound.makeCompound(original.Faces())
    faces = eroded.Faces()
    weights = [math.sqrt(f.Area()) for f in faces]
    classify = BRepClass3d_SolidClassifier(original.wrapped)
    out = []
    while len(out) < count:
        face = rng.choices(faces, weights)[0]
        box = face._uvBounds()
        u, v = rng.uniform(*box[:2]), rng.uniform(*box[2:])
        p = face._geomAdaptor().Value(u, v)
        point = cq.Vertex.makeVertex(p.X(), p.Y(), p.Z())
        if BRepExtrema_DistShapeShape(point.wrapped, face.wrapped).Value() > 1e-7:
            continue
        classify.Perform(p, 1e-7)
        depth = BRepExtrema_DistShapeShape(point.wrapped, shell.wrapped).Value()
        out.append(depth if classify.State() == TopAbs_IN else -depth)
    return sorted(out)


def main(scenario, folder, part):
    data = json.loads(scenario.read_text())
    original = cq.importers.importStep(str(scenario.parent / data["b"])).solids().val()
    check_same(plug(0.0), original)
    largest = max(math.hypot(v.X, v.Y) for v in original.Vertices())
    d = round(part * largest, 9)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{scenario.stem}-eroded.step"
    solid = written(plug(d), file)
    found = depths(solid, original)
    wrong = [x for x in found if x < d - 2e-5]
    deeper = [x for x in found if x > d + 2e-5]
    right = len(found) - len(wrong) - len(deeper)
    print(f"largest radius {largest:.6f} mm, eroded by {d} mm: {len(solid.Faces())} faces of {len(original.Faces())}, "
          f"volume {solid.Volume():.4f} mm3 of {original.Volume():.4f}; of {len(found)} points on its faces {right} are "
          f"{d} mm inside the plug, {len(deeper)} deeper (maximum {found[-1]:.4f} mm), {len(wrong)} less deep (minimum "
          f"{found[0]:.6f} mm)")
    assert not wrong and len(deeper) < 0.2 * len(found), "the erosion is wrong"
    write_scenario(scenario, file, dilation=d)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]) if len(sys.argv) > 3 else 0.005)
