"""Writes random solids as STEP files, with the values that Open CASCADE computes for them: cases for `check_solids.py`.

    pip install -r tools/models/requirements.txt
    python tools/models/make_solids.py OUT_DIR [--count 200] [--seed 1] [--only FAMILY]

Families of solids that are difficult to read (lofts, sweeps, variable fillets, offsets, threads, engraved text, tangent
booleans, …) alternate, each with random parameters; the same seed and number give the same solid. Each solid is written in
AP203, AP214 and AP242. `facts.json` contains area (mm2), volume (mm3), box (mm) and number of faces of each solid as read back,
by adaptive integration; `doubt` is the relative difference of the kernel's own methods. A solid is drawn again if the kernel
cannot build it, reports it as invalid or self-intersecting, or cannot read it back.
"""

import argparse
import json
import math
import multiprocessing
import random
from collections import Counter
from pathlib import Path

import cadquery as cq
from cadquery import Edge, Face, Plane, Shape, Solid, Vector, Wire, Workplane
from OCP.Bnd import Bnd_Box
from OCP.BRepBndLib import BRepBndLib
from OCP.BOPAlgo import BOPAlgo_ArgumentAnalyzer
from OCP.BRep import BRep_Tool
from OCP.BRepBuilderAPI import BRepBuilderAPI_MakeEdge, BRepBuilderAPI_MakeWire
from OCP.BRepOffset import BRepOffset_Skin
from OCP.BRepFilletAPI import BRepFilletAPI_MakeFillet
from OCP.BRepGProp import BRepGProp
from OCP.BRepLib import BRepLib
from OCP.BRepOffsetAPI import BRepOffsetAPI_DraftAngle, BRepOffsetAPI_MakeOffsetShape, BRepOffsetAPI_ThruSections
from OCP.Geom import Geom_CylindricalSurface, Geom_Hyperbola, Geom_Parabola
from OCP.Geom2d import Geom2d_Ellipse, Geom2d_TrimmedCurve
from OCP.GCE2d import GCE2d_MakeSegment
from OCP.gp import gp_Ax2, gp_Ax2d, gp_Ax3, gp_Dir, gp_Dir2d, gp_Pln, gp_Pnt, gp_Pnt2d
from OCP.GeomAbs import GeomAbs_Arc, GeomAbs_Intersection
from OCP.GProp import GProp_GProps
from OCP.Interface import Interface_Static
from OCP.STEPControl import STEPControl_AsIs, STEPControl_Reader, STEPControl_Writer

SCHEMAS = {"ap203": "AP203", "ap214": "AP214IS", "ap242": "AP242DIS"}
# Time limit (s) of one draw.
TIMEOUT = 60
# Maximum number of draws of one solid.
MAX_DRAWS = 40


# --------------------------------------------------------------------------------------------------- profiles

def closed_spline(r, n, radius, uneven):
    """Points of a closed smooth curve around the origin."""
    return [(q * math.cos(a), q * math.sin(a)) for k in range(n)
            for a in [2 * math.pi * k / n] for q in [radius * (1 + r.uniform(-uneven, uneven))]]


def profile(r, plane, radius):
    w = Workplane(plane)
    kind = r.choice(["circle", "ellipse", "spline", "polygon", "rounded"])
    if kind == "circle":
        return w.circle(radius).wires().val()
    if kind == "ellipse":
        return w.ellipse(radius, radius * r.uniform(0.4, 0.95)).wires().val()
    if kind == "spline":
        return w.spline(closed_spline(r, r.randint(4, 9), radius, 0.25), periodic=True).close().wires().val()
    if kind == "polygon":
        return w.polygon(r.randint(3, 7), 2 * radius).wires().val()
    rounded = cq.Sketch().rect(1.6 * radius, radius).vertices().fillet(r.uniform(0.1, 0.4) * radius)
    return rounded.reset().faces().vals()[0].outerWire().moved(cq.Location(plane))


def plane_at(r, z, shift, tilt):
    normal = Vector(r.uniform(-tilt, tilt), r.uniform(-tilt, tilt), 1)
    a = r.uniform(0, 2 * math.pi)
    return Plane(Vector(r.uniform(-shift, shift), r.uniform(-shift, shift), z), Vector(math.cos(a), math.sin(a), 0), normal)


def free_form(r):
    """A solid with free-form sides and plane ends."""
    kind = r.randrange(3)
    h = r.uniform(8, 30)
    if kind == 0:
        return Workplane("XY").spline(closed_spline(r, r.randint(4, 8), 10, 0.25), periodic=True).close().extrude(h).val()
    if kind == 1:
        sections = [Workplane(plane_at(r, h * k / 2, 1, 0)).ellipse(r.uniform(6, 10), r.uniform(5, 9)).wires().val()
                    for k in range(3)]
        return Solid.makeLoft(sections, False)
    points = [(r.uniform(6, 10), h * k / 4) for k in range(5)]
    return Workplane("XZ").lineTo(*points[0]).spline(points[1:], includeCurrent=True).lineTo(0, h).close() \
        .revolve(360, (0, 0, 0), (0, 1, 0)).val()


# --------------------------------------------------------------------------------------------------- families

def loft(r):
    n = r.randint(2, 4)
    wires = [profile(r, plane_at(r, 12 * k, 3, 0.2), r.uniform(4, 10)) for k in range(n)]
    return Solid.makeLoft(wires, r.random() < 0.4)


def transition(r):
    """Rectangle to circle, like a duct."""
    lower = Workplane("XY").rect(r.uniform(10, 30), r.uniform(10, 30)).wires().val()
    upper = Workplane(plane_at(r, r.uniform(10, 30), 5, 0.3)).circle(r.uniform(4, 9)).wires().val()
    return Solid.makeLoft([lower, upper], r.random() < 0.5)


def helix_sweep(r):
    pitch, radius = r.uniform(4, 12), r.uniform(6, 20)
    path = Wire.makeHelix(pitch, pitch * r.uniform(0.6, 3.5), radius, lefthand=r.random() < 0.5)
    q = r.uniform(0.1, 0.4) * pitch
    start = Workplane(Plane((radius, 0, 0), (1, 0, 0), (0, 1, pitch / (2 * math.pi * radius))))
    kind = r.randrange(3)
    section = start.circle(q) if kind == 0 else start.rect(2 * q, 1.5 * q) if kind == 1 else start.ellipse(q, 0.6 * q)
    return section.sweep(path, isFrenet=True).val()


def cone_helix(r):
    pitch = r.uniform(5, 9)
    path = Wire.makeHelix(pitch, pitch * r.uniform(1, 2.5), r.uniform(8, 15), angle=r.uniform(3, 20))
    at, along = path.positionAt(0), path.tangentAt(0)
    q = r.uniform(0.1, 0.35) * pitch
    start = Workplane(Plane(at, Vector(at.x, at.y, 0).cross(along).cross(along) * -1, along))
    return (start.circle(q) if r.random() < 0.6 else start.rect(q, q)).sweep(path, isFrenet=True).val()


def spline_sweep(r):
    n = r.randint(3, 6)
    points = [(0, 0, 0)] + [(15 * k, r.uniform(-8, 8), r.uniform(-8, 8)) for k in range(1, n)]
    path = Workplane("XY").spline(points, tangents=[(1, 0, 0), (1, 0, 0)])
    start = Workplane("YZ")
    q = r.uniform(1.5, 4)
    kind = r.randrange(3)
    section = start.circle(q) if kind == 0 else start.rect(2 * q, q) if kind == 1 else \
        start.spline(closed_spline(r, 6, q, 0.2), periodic=True).close()
    return section.sweep(path, isFrenet=r.random() < 0.3).val()


def pipe(r):
    """A hollow pipe of straight pieces and bends."""
    a, b, q = r.uniform(10, 30), r.uniform(5, 15), r.uniform(1.5, 4)
    path = Workplane("XZ").lineTo(0, a).radiusArc((b, a + b), b).lineTo(b + a, a + b)
    return Workplane("XY").circle(q).circle(q * r.uniform(0.5, 0.9)).sweep(path).val()


def twist(r):
    w = Workplane("XY")
    w = w.rect(r.uniform(8, 20), r.uniform(5, 12)) if r.random() < 0.5 else w.polygon(r.randint(3, 6), 15)
    return w.twistExtrude(r.uniform(10, 40), r.uniform(15, 170)).val()


def variable_fillet(r):
    kind = r.randrange(3)
    if kind == 0:
        solid = Solid.makeBox(r.uniform(15, 30), r.uniform(15, 30), r.uniform(15, 30))
    elif kind == 1:
        solid = Workplane("XY").polygon(r.randint(3, 7), 30).extrude(15).val()
    else:
        solid = Solid.makeCylinder(10, 20).fuse(Solid.makeBox(30, 8, 8, Vector(-15, -4, 0))).clean()
    make = BRepFilletAPI_MakeFillet(solid.wrapped)
    edges = solid.Edges()
    for e in r.sample(edges, r.randint(1, min(3, len(edges)))):
        make.Add(r.uniform(0.5, 3), r.uniform(0.5, 3), e.wrapped)
    return Shape.cast(make.Shape())


def free_fillet(r):
    solid = free_form(r)
    edges = solid.Edges()
    ends = [e for e in edges if e.Center().z > 0.8 * solid.BoundingBox().zmax]
    return solid.fillet(r.uniform(0.3, 2), ends)


def junction_fillet(r):
    """Two intersecting cylinders with fillets along their intersection."""
    a = Solid.makeCylinder(r.uniform(8, 12), 40, Vector(0, 0, -20))
    b = Solid.makeCylinder(r.uniform(3, 7), 30, Vector(0, r.uniform(-1, 1), 0), Vector(1, 0, r.uniform(-0.3, 0.3)))
    both = a.fuse(b).clean()
    outside = [e for e in both.Edges() if e.geomType() not in ("CIRCLE", "LINE")]
    return both.fillet(r.uniform(0.3, 1.5), outside)


def shell(r):
    solid = free_form(r)
    top = max(solid.Faces(), key=lambda f: f.Center().z)
    inward = -1 if r.random() < 0.7 else 1
    return Workplane(solid).newObject([top]).shell(inward * r.uniform(0.3, 1.5)).val()


def offset(r):
    solid = free_form(r)
    make = BRepOffsetAPI_MakeOffsetShape()
    make.PerformByJoin(solid.wrapped, r.choice([-1, 1]) * r.uniform(0.2, 1.5), 1e-5, BRepOffset_Skin, False, False,
                       r.choice([GeomAbs_Arc, GeomAbs_Intersection]))
    return Shape.cast(make.Shape())


def draft(r):
    if r.random() < 0.5:
        w = Workplane("XY").spline(closed_spline(r, 6, 12, 0.15), periodic=True).close() if r.random() < 0.5 else \
            Workplane("XY").sketch().rect(30, 20).vertices().fillet(r.uniform(1, 6)).finalize()
        return w.extrude(r.uniform(5, 15), taper=r.uniform(1, 12)).val()
    solid = Workplane("XY").rect(30, 20).extrude(15).edges("|Z").fillet(r.uniform(1, 5)).val() if r.random() < 0.5 else \
        Workplane("XY").circle(12).extrude(10).faces(">Z").workplane().rect(8, 8).cutThruAll().val()
    make = BRepOffsetAPI_DraftAngle(solid.wrapped)
    angle = math.radians(r.uniform(1, 12))
    for f in solid.Faces():
        if abs(f.normalAt().z) < 0.5:
            make.Add(f.wrapped, gp_Dir(0, 0, 1), angle, gp_Pln(gp_Pnt(0, 0, 0), gp_Dir(0, 0, 1)))
    make.Build()
    return Shape.cast(make.Shape())


def thread(r):
    """A thread between two curves on cylinders, as on bottles, with or without its neck."""
    radius, height = r.uniform(6, 15), r.uniform(8, 20)
    inner = Geom_CylindricalSurface(gp_Ax3(gp_Pnt(0, 0, 0), gp_Dir(0, 0, 1)), radius * 0.99)
    outer = Geom_CylindricalSurface(gp_Ax3(gp_Pnt(0, 0, 0), gp_Dir(0, 0, 1)), radius * r.uniform(1.04, 1.12))
    turn = gp_Ax2d(gp_Pnt2d(2 * math.pi, height / 2), gp_Dir2d(2 * math.pi, height / 4))
    wide, narrow = Geom2d_Ellipse(turn, 2 * math.pi, height / 10), Geom2d_Ellipse(turn, 2 * math.pi, height / 40)
    arc1, arc2 = Geom2d_TrimmedCurve(wide, 0, math.pi), Geom2d_TrimmedCurve(narrow, 0, math.pi)
    line = GCE2d_MakeSegment(wide.Value(0), wide.Value(math.pi)).Value()
    edges = [BRepBuilderAPI_MakeEdge(c, s).Edge() for c, s in [(arc1, inner), (line, inner), (arc2, outer), (line, outer)]]
    wires = [BRepBuilderAPI_MakeWire(edges[k], edges[k + 1]).Wire() for k in (0, 2)]
    for w in wires:
        BRepLib.BuildCurves3d_s(w)
    tool = BRepOffsetAPI_ThruSections(True)
    for w in wires:
        tool.AddWire(w)
    tool.CheckCompatibility(False)
    ridge = Shape.cast(tool.Shape())
    return ridge.fuse(Solid.makeCylinder(radius, height)) if r.random() < 0.7 else ridge


def cut_thread(r):
    """A helical groove cut from a rod."""
    radius, pitch = r.uniform(4, 8), r.uniform(1.5, 3)
    length = pitch * r.uniform(3, 6)
    path = Wire.makeHelix(pitch, length, radius)
    q = pitch * r.uniform(0.2, 0.42)
    start = Workplane(Plane((radius, 0, 0), (1, 0, 0), (0, 1, 0)))
    groove = start.polyline([(-q, 0), (0.01 * q, -q), (0.01 * q, q)]).close().sweep(path, isFrenet=True).val()
    return Solid.makeCylinder(radius * r.choice([1.0, 0.98]), length + 2 * pitch, Vector(0, 0, -pitch)).cut(groove)


def text(r):
    """Letters engraved into, or embossed on, a curved face."""
    word = "".join(r.choice("ABCDEFGHKLMNOPRSTUVXYZ0123456789&@s") for _ in range(r.randint(1, 4)))
    radius, deep = r.uniform(12, 25), r.uniform(0.3, 0.8)
    size = r.uniform(4, 7)
    letters = Workplane("XZ", origin=(0, 0, 10)).text(word, size, -2 * radius, font="DejaVu Sans").val()
    kind = r.randrange(3)
    if kind == 0:
        body, grown = [Solid.makeCylinder(q, 20) for q in (radius, radius + deep)]
        core = Solid.makeCylinder(radius - deep, 20)
    elif kind == 1:
        ball = lambda q: Solid.makeSphere(q, Vector(0, 0, 10), Vector(0, 0, 1), -90, 90, 360)
        body, grown, core = ball(radius), ball(radius + deep), ball(radius - deep)
    else:
        cone = lambda q: Solid.makeCone(q, q * 0.7, 20)
        body, grown, core = cone(radius), cone(radius + deep), cone(radius - deep)
    if r.random() < 0.6:
        return body.cut(letters.intersect(body).cut(core))
    return body.fuse(letters.intersect(grown).cut(core))


def tangent(r):
    """Booleans of solids with faces that touch along lines or coincide."""
    q, h = r.uniform(4, 10), r.uniform(10, 25)
    rod = Solid.makeCylinder(q, h)
    kind = r.randrange(7)
    if kind == 0:
        return rod.fuse(Solid.makeBox(2 * h, 2 * q, h, Vector(0, -q, 0)))
    if kind == 1:
        return rod.fuse(Solid.makeSphere(q, Vector(0, 0, h), Vector(0, 0, 1), -90, 90, 360))
    if kind == 2:
        cross = Solid.makeCylinder(q, 2 * h, Vector(-h, 0, 0), Vector(1, 0, 0))
        return Solid.makeCylinder(q, 2 * h, Vector(0, 0, -h)).fuse(cross)
    if kind == 3:
        return rod.cut(Solid.makeCylinder(q / 2, 2 * h, Vector(q / 2 * r.choice([0.5, 0.9]), 0, -1)))
    if kind == 4:
        ring = Solid.makeTorus(3 * q, q)
        return ring.fuse(Solid.makeCylinder(3 * q, 2 * q, Vector(0, 0, -q)))
    if kind == 5:
        box = Solid.makeBox(4 * q, 4 * q, h, Vector(-2 * q, -2 * q, 0))
        return box.cut(Solid.makeCylinder(q, h, Vector(0, -q, 0))).fuse(Solid.makeCylinder(q, 1.5 * h, Vector(0, q, 0)))
    wave = Workplane("XZ").spline([(-3 * q, 0), (-q, q / 2), (q, -q / 2), (3 * q, 0)], tangents=[(1, 0), (1, 0)]) \
        .lineTo(3 * q, -h).lineTo(-3 * q, -h).close().extrude(h)
    plate = Workplane("XZ").moveTo(3 * q, 0).rect(6 * q, h, centered=(False, False)).extrude(h)
    return wave.union(plate.translate((0, 0, -h))).val()


def ellipsoid(r):
    a, b = r.uniform(4, 15), r.uniform(3, 12)
    kind = r.randrange(4)
    if kind < 2:
        w = Workplane("XZ").moveTo(0, -b).ellipseArc(a, b, -90, 90, startAtCurrent=True).close()
        solid = w.revolve(r.choice([360, 360, 200]), (0, 0, 0), (0, 1, 0)).val()
        return solid if kind == 0 else solid.cut(Solid.makeCylinder(0.4 * a, 4 * b, Vector(0.1 * a, 0, -2 * b)))
    # A vessel with dished ends.
    w = Workplane("XZ").moveTo(0, -b).ellipseArc(a, b, -90, 0, startAtCurrent=True).lineTo(a, 2 * b) \
        .ellipseArc(a, b, 0, 90, startAtCurrent=True).close()
    solid = w.revolve(360, (0, 0, 0), (0, 1, 0)).val()
    return solid if kind == 2 else solid.fuse(Solid.makeCylinder(0.3 * a, 6 * b, Vector(0, 0, -2 * b)))


def conic(r):
    """Paraboloids and hyperboloids."""
    axes = gp_Ax2(gp_Pnt(0, 0, 0), gp_Dir(0, -1, 0), gp_Dir(0, 0, 1))
    t = r.uniform(4, 10)
    if r.random() < 0.5:
        curve = Geom_Parabola(axes, r.uniform(0.5, 4))
    else:
        curve, t = Geom_Hyperbola(axes, r.uniform(3, 8), r.uniform(2, 6)), r.uniform(0.6, 1.4)
    edge = Edge(BRepBuilderAPI_MakeEdge(curve, 0, t).Edge())
    a, b = edge.startPoint(), edge.endPoint()
    top = Vector(0, 0, b.z)
    wire = Wire.assembleEdges([edge, Edge.makeLine(b, top), Edge.makeLine(top, a)])
    solid = Solid.revolve(wire, [], 360, Vector(0, 0, 0), Vector(0, 0, 1))
    if r.random() < 0.4:
        solid = solid.cut(Solid.makeBox(100, 100, 300, Vector(0.3 * abs(b.x), -50, -150)))
    return solid


def vase(r):
    points = [(r.uniform(4, 12), 6 * k) for k in range(r.randint(4, 7))]
    w = Workplane("XZ").lineTo(*points[0]).spline(points[1:], includeCurrent=True).lineTo(0, points[-1][1]).close()
    solid = w.revolve(r.choice([360, 360, 130]), (0, 0, 0), (0, 1, 0)).val()
    if r.random() < 0.5:
        solid = solid.cut(Solid.makeCylinder(r.uniform(1, 3), 40, Vector(-20, 0, r.uniform(6, 12)), Vector(1, 0, 0)))
    return solid


def drilled(r):
    """Free-form bodies with holes."""
    solid = free_form(r)
    h = solid.BoundingBox().zmax
    for _ in range(r.randint(1, 3)):
        at = Vector(r.uniform(-4, 4), -20, r.uniform(0.2, 0.8) * h)
        solid = solid.cut(Solid.makeCylinder(r.uniform(0.5, 2), 40, at, Vector(r.uniform(-0.3, 0.3), 1, r.uniform(-0.2, 0.2))))
    return solid


def patch(r):
    """A plate with a face through a grid of points."""
    n = r.randint(4, 7)
    points = [[Vector(6 * i, 6 * j, 10 + r.uniform(-2, 2)) for j in range(n)] for i in range(n)]
    face = Face.makeSplineApprox(points, tol=1e-2, smoothing=None, minDeg=3, maxDeg=5)
    return Solid.extrudeLinear(face, Vector(0, 0, -r.uniform(1, 8))) if r.random() < 0.5 else face.thicken(r.uniform(0.5, 2))


FAMILIES = [loft, transition, helix_sweep, cone_helix, spline_sweep, pipe, twist, variable_fillet, free_fillet, junction_fillet,
            shell, offset, draft, thread, cut_thread, text, tangent, ellipsoid, conic, vase, drilled, patch]


# ------------------------------------------------------------------------------------------------------ facts

def only_solid(shape):
    solids = shape.Solids()
    assert len(solids) == 1, f"{len(solids)} solids"
    assert solids[0].isValid(), "invalid"
    return solids[0]


def sound(solid):
    """The solid, if it passes the kernel's checks beyond validity: no crossing faces, at most two faces at each edge."""
    analyzer = BOPAlgo_ArgumentAnalyzer()
    analyzer.SetShape1(solid.wrapped)
    analyzer.ArgumentTypeMode = analyzer.SelfInterMode = True
    analyzer.Perform()
    assert not analyzer.HasFaulty(), "its faces intersect each other"
    uses = Counter(e.hashCode() for f in solid.Faces() for w in f.Wires() for e in w.Edges()
                   if not BRep_Tool.Degenerated_s(e.wrapped))
    assert max(uses.values()) <= 2, "an edge of more than two faces"
    return solid


def integrals(solid, eps):
    area, volume = GProp_GProps(), GProp_GProps()
    BRepGProp.SurfaceProperties_s(solid.wrapped, area, eps)
    BRepGProp.VolumeProperties_s(solid.wrapped, volume, eps)
    return area.Mass(), volume.Mass()


def facts(solid):
    area, volume = integrals(solid, 1e-9)
    coarse = integrals(solid, 1e-7)
    assert volume > 1e-3, "no volume"
    around = Bnd_Box()
    BRepBndLib.AddOptimal_s(solid.wrapped, around, False, False)
    around.SetGap(0.0)
    return {"area": area, "volume": volume, "faces": len(solid.Faces()), "box": list(around.Get()),
            "doubt": max(abs(coarse[0] / area - 1), abs(coarse[1] / volume - 1))}


def write(shape, path, schema):
    Interface_Static.SetCVal_s("write.step.schema", schema)
    Interface_Static.SetCVal_s("write.step.unit", "MM")
    writer = STEPControl_Writer()
    writer.Transfer(shape.wrapped, STEPControl_AsIs)
    writer.Write(str(path))


def read(path):
    reader = STEPControl_Reader()
    reader.ReadFile(str(path))
    reader.TransferRoots()
    return Shape.cast(reader.OneShape())


def draw(family, number, attempt, seed, out, answer):
    """Draws one solid, in a separate process because the kernel may crash or not terminate."""
    try:
        r = random.Random(f"{seed}/{number}/{attempt}/{family.__name__}")
        solid = only_solid(family(r))
        name = f"{number:03}-{family.__name__.replace('_', '-')}"
        rows = {}
        for key, schema in SCHEMAS.items():
            path = out / f"{name}-{key}.step"
            write(solid, path, schema)
            back = only_solid(read(path))
            rows[path.name] = facts(sound(back) if not rows else back)
        answer.put(rows)
    except Exception as e:  # noqa: BLE001 (any error of the kernel: drawn again)
        answer.put(f"{type(e).__name__}: {e}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    families = [f for f in FAMILIES if args.only in (None, f.__name__)]
    all_facts = {}
    context = multiprocessing.get_context("fork")
    for number in range(args.count):
        family = families[number % len(families)]
        for attempt in range(MAX_DRAWS):
            answer = context.SimpleQueue()
            child = context.Process(target=draw, args=(family, number, attempt, args.seed, args.out, answer))
            child.start()
            child.join(TIMEOUT)
            if child.is_alive():
                child.kill()
                child.join()
            result = "crash or timeout" if answer.empty() else answer.get()
            if isinstance(result, dict):
                all_facts.update(result)
                any_row = next(iter(result.values()))
                print(f"{number:03} {family.__name__:16} {any_row['faces']:4} faces {any_row['volume']:14.6f} mm3"
                      f" doubt {any_row['doubt']:.0e}, draw {attempt + 1}", flush=True)
                break
            print(f"{number:03} {family.__name__:16} drawn again: {result}", flush=True)
            for key in SCHEMAS:
                (args.out / f"{number:03}-{family.__name__.replace('_', '-')}-{key}.step").unlink(missing_ok=True)
        (args.out / "facts.json").write_text(json.dumps(all_facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
