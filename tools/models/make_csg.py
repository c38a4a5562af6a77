"""Writes random CSG solids as STEP files (mm): models for the benchmark program `near_contact`.

    pip install -r tools/models/requirements.txt
    python tools/models/make_csg.py OUT_DIR [--count 85] [--seed 1] [--only FAMILY]

The families (unions, cuts and intersections of primitives, fillets, chamfers, lofts, revolved splines,
sweeps, …) alternate,
each with random parameters; the same seed and number give the same solid. The longest side of a solid's box is between 1 and
100 mm. `manifest.json` stores for each file the family, the seed, the number of the draw, the number of faces, area (mm2),
volume (mm3) and box (mm), computed by the kernel from the file that was written. A solid is drawn again if the kernel cannot
build it, reports it as invalid or self-intersecting, or if its volume is tiny.
"""

import argparse
import json
import math
import multiprocessing
import random
from pathlib import Path

from cadquery import Location, Shape, Solid, Vector, Workplane
from OCP.BRepFilletAPI import BRepFilletAPI_MakeFillet

from make_solids import closed_spline, facts, only_solid, plane_at, profile, read, sound, write

# Time limit (s) of one draw.
TIMEOUT = 60
# Maximum number of draws of one solid.
MAX_DRAWS = 60
# Smallest volume, relative to the cubed diagonal of the bounding box.
MIN_VOLUME = 5e-4
# Maximum number of faces.
MAX_FACES = 60


# -------------------------------------------------------------------------------------------------- primitives

def direction(r):
    while True:
        v = Vector(r.uniform(-1, 1), r.uniform(-1, 1), r.uniform(-1, 1))
        if 0.1 < v.Length < 1:
            return v.normalized()


def placed(r, solid, spread):
    """The solid with the centre of its box within `spread` of the origin and, in two of three cases, in a random orientation."""
    solid = solid.moved(Location(solid.BoundingBox().center * -1))
    if r.random() < 0.67:
        solid = solid.rotate(Vector(0, 0, 0), direction(r), r.uniform(0, 360))
    return solid.moved(Location(direction(r) * (spread * r.random())))


def primitive(r, size):
    """A box, cylinder, cone, sphere, torus or wedge with sides of about `size`."""
    kind = r.choice(["box", "cylinder", "cone", "sphere", "torus", "wedge"])
    a, b, c = (size * r.uniform(0.5, 1) for _ in range(3))
    if kind == "box":
        return Solid.makeBox(a, b, c)
    if kind == "cylinder":
        return Solid.makeCylinder(0.5 * a, b)
    if kind == "cone":
        return Solid.makeCone(0.5 * a, 0.5 * a * r.choice([0, r.uniform(0.2, 0.8)]), b)
    if kind == "sphere":
        return Solid.makeSphere(0.5 * a, Vector(0, 0, 0), Vector(0, 0, 1), -90, 90, 360)
    if kind == "torus":
        return Solid.makeTorus(0.4 * a, 0.4 * a * r.uniform(0.25, 0.6))
    return Solid.makeWedge(a, b, c, a * r.uniform(0.1, 0.3), c * r.uniform(0.1, 0.3), a * r.uniform(0.5, 0.9),
                           c * r.uniform(0.5, 0.9))


def free_form(r):
    """A solid with free-form faces, of about 20 mm."""
    return r.choice([loft, revolved_spline, extruded_spline, elliptic_cylinder, twisted])(r)


# ---------------------------------------------------------------------------------------------------- families

def union(r):
    solid = placed(r, primitive(r, 20), 0)
    for _ in range(r.randint(1, 3)):
        solid = solid.fuse(placed(r, primitive(r, 16), 10))
    return solid.clean()


def cut(r):
    solid = placed(r, primitive(r, 24), 0)
    for _ in range(r.randint(1, 3)):
        solid = solid.cut(placed(r, primitive(r, 14), 12))
    return solid.clean()


def intersection(r):
    solid = placed(r, primitive(r, 24), 0)
    for _ in range(r.randint(1, 2)):
        solid = solid.intersect(placed(r, primitive(r, 24), 6))
    return solid.clean()


def junction(r):
    """The union of two primitives, and the edges in which they intersect."""
    a, b = placed(r, primitive(r, 20), 0), placed(r, primitive(r, 14), 10)
    solid = a.fuse(b).clean()
    own = {(round(c.x, 6), round(c.y, 6), round(c.z, 6)) for s in (a, b) for e in s.Edges() for c in [e.Center()]}
    new = [e for e in solid.Edges() if tuple(round(x, 6) for x in e.Center().toTuple()) not in own]
    curves = [e for e in new if e.geomType() not in ("LINE", "CIRCLE")]
    assert new, "the primitives do not intersect"
    return solid, curves or new


def fillet(r):
    solid, edges = junction(r)
    return solid.fillet(r.uniform(0.3, 2), edges)


def variable_fillet(r):
    """Fillets whose radius changes along the edge."""
    solid, edges = junction(r)
    make = BRepFilletAPI_MakeFillet(solid.wrapped)
    for e in r.sample(edges, min(2, len(edges))):
        make.Add(r.uniform(0.3, 2), r.uniform(0.3, 2), e.wrapped)
    return Shape.cast(make.Shape())


def chamfer(r):
    solid, edges = junction(r)
    return solid.chamfer(r.uniform(0.3, 1.5), None, edges)


def rounded_cut(r):
    """A cut whose new edges are rounded or chamfered."""
    a, b = placed(r, primitive(r, 24), 0), placed(r, primitive(r, 12), 12)
    solid = a.cut(b).clean()
    edges = [e for e in solid.Edges() if e.geomType() not in ("LINE", "CIRCLE")] or solid.Edges()
    size = r.uniform(0.2, 1.2)
    return solid.fillet(size, edges) if r.random() < 0.6 else solid.chamfer(size, None, edges)


def loft(r):
    n = r.randint(2, 4)
    wires = [profile(r, plane_at(r, 10 * k, 3, 0.2), r.uniform(4, 10)) for k in range(n)]
    return Solid.makeLoft(wires, r.random() < 0.3)


def revolved_spline(r):
    points = [(r.uniform(4, 12), 6 * k) for k in range(r.randint(4, 6))]
    w = Workplane("XZ").lineTo(*points[0]).spline(points[1:], includeCurrent=True).lineTo(0, points[-1][1]).close()
    return w.revolve(r.choice([360, 360, 200, 110]), (0, 0, 0), (0, 1, 0)).val()


def revolved_lens(r):
    """A solid of revolution that ends at a pole: an ellipsoid or a drop."""
    a, b = r.uniform(5, 12), r.uniform(5, 15)
    w = Workplane("XZ").moveTo(0, -b)
    if r.random() < 0.5:
        w = w.ellipseArc(a, b, -90, 90, startAtCurrent=True)
    else:
        w = w.spline([(a, -0.2 * b), (r.uniform(0.3, 0.7) * a, 0.5 * b), (0, b)], tangents=[(1, 0), (-1, 0)],
                     includeCurrent=True)
    return w.close().revolve(360, (0, 0, 0), (0, 1, 0)).val()


def sweep(r):
    points = [(0, 0, 0)] + [(12 * k, r.uniform(-8, 8), r.uniform(-8, 8)) for k in range(1, r.randint(3, 5))]
    path = Workplane("XY").spline(points, tangents=[(1, 0, 0), (1, 0, 0)])
    q = r.uniform(2, 4)
    start = Workplane("YZ")
    section = r.choice([
        lambda: start.circle(q),
        lambda: start.rect(2 * q, q),
        lambda: start.ellipse(q, 0.6 * q),
        lambda: start.spline(closed_spline(r, 6, q, 0.2), periodic=True).close(),
    ])()
    return section.sweep(path, isFrenet=r.random() < 0.3).val()


def extruded_spline(r):
    w = Workplane("XY").spline(closed_spline(r, r.randint(4, 8), 10, 0.3), periodic=True).close()
    return w.extrude(r.uniform(6, 25), taper=r.choice([0, 0, r.uniform(2, 8)])).val()


def elliptic_cylinder(r):
    w = Workplane("XY").ellipse(r.uniform(7, 12), r.uniform(3, 8))
    return w.extrude(r.uniform(6, 25)).val()


def twisted(r):
    w = Workplane("XY")
    w = r.choice([
        lambda: w.rect(r.uniform(8, 20), r.uniform(5, 12)),
        lambda: w.polygon(r.randint(3, 6), 15),
        lambda: w.ellipse(r.uniform(6, 10), r.uniform(3, 5)),
    ])()
    return w.twistExtrude(r.uniform(10, 40), r.uniform(15, 170)).val()


def free_form_union(r):
    return placed(r, free_form(r), 0).fuse(placed(r, primitive(r, 14), 10)).clean()


def free_form_cut(r):
    solid = placed(r, free_form(r), 0)
    for _ in range(r.randint(1, 2)):
        solid = solid.cut(placed(r, primitive(r, 12), 10))
    return solid.clean()


def free_form_fillet(r):
    """A free-form solid with rounded or chamfered edges."""
    solid = free_form(r)
    edges = solid.Edges()
    some = r.sample(edges, r.randint(1, len(edges)))
    return solid.fillet(r.uniform(0.3, 1.5), some) if r.random() < 0.7 else solid.chamfer(r.uniform(0.3, 1), None, some)


FAMILIES = [union, cut, intersection, fillet, variable_fillet, chamfer, rounded_cut, loft, revolved_spline, revolved_lens, sweep,
            extruded_spline, elliptic_cylinder, twisted, free_form_union, free_form_cut, free_form_fillet]


# -------------------------------------------------------------------------------------------------------- files

def scaled(r, solid):
    """The solid with the longest side of its box between 1 and 100 mm, log-uniform."""
    box = solid.BoundingBox()
    factor = 100 ** r.random() / max(box.xlen, box.ylen, box.zlen)
    return solid.moved(Location(box.center * -1)).scale(factor)


def draw(family, number, attempt, seed, out, answer):
    """Draws one solid, in a separate process because the kernel may crash or not terminate."""
    try:
        r = random.Random(f"{seed}/{number}/{attempt}/{family.__name__}")
        solid = only_solid(scaled(r, only_solid(family(r))))
        path = out / f"{number:03}-{family.__name__.replace('_', '-')}.step"
        write(solid, path, "AP214IS")
        solid = sound(only_solid(read(path)))
        row = facts(solid)
        low, high = row["box"][:3], row["box"][3:]
        assert row["volume"] > MIN_VOLUME * math.dist(low, high) ** 3, "thin"
        assert row["faces"] <= MAX_FACES, "too many faces"
        answer.put({path.name: {"family": family.__name__, "seed": seed, "draw": attempt, **row}})
    except Exception as e:  # noqa: BLE001 (any error of the kernel: drawn again)
        answer.put(f"{type(e).__name__}: {e}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=85)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    families = [f for f in FAMILIES if args.only in (None, f.__name__)]
    manifest = {}
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
                manifest.update(result)
                row = next(iter(result.values()))
                print(f"{number:03} {family.__name__:18} {row['faces']:4} faces {row['volume']:14.6f} mm3, draw {attempt + 1}",
                      flush=True)
                break
            print(f"{number:03} {family.__name__:18} drawn again: {result}", flush=True)
            (args.out / f"{number:03}-{family.__name__.replace('_', '-')}.step").unlink(missing_ok=True)
    (args.out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
