"""Writes pairs of solids that fit each other along free-form faces as STEP files (mm): a part and a block from which the part
was cut.

    pip install -r tools/models/requirements.txt
    python tools/models/make_flush.py OUT_DIR [--count 120] [--seed 1] [--only FAMILY]

The 20 families (extruded, revolved, lofted, swept and twisted splines, fillets of constant and variable radius, drafts, …)
alternate. Every sixth pair is written as the kernel made it; in the other pairs the faces of the part are converted to splines
and described differently: with more knots, with a raised degree, with reversed or exchanged parameters, or fitted anew to 1e-7 mm.
Solids that contain their centre and are star-shaped about it are also pressed in by 2 to 10 µm (scaled up) or left with such play (scaled
down). `manifest.json` stores for each pair its family, description and expected status.
"""

import argparse
import json
import multiprocessing
import random
from pathlib import Path

from cadquery import Face, Shape, Solid, Vector, Workplane
from OCP.BRep import BRep_Tool
from OCP.BRepBuilderAPI import BRepBuilderAPI_Copy, BRepBuilderAPI_NurbsConvert
from OCP.Geom import Geom_BSplineSurface
from OCP.Interface import Interface_Static
from OCP.ShapeCustom import ShapeCustom, ShapeCustom_RestrictionParameters
from OCP.GeomAbs import GeomAbs_C2

from make_csg import elliptic_cylinder, extruded_spline, loft, revolved_lens, revolved_spline, scaled, sweep, twisted
from make_solids import (closed_spline, draft as tapered, free_fillet, free_form, only_solid, plane_at, read, sound, spline_sweep,
                         transition, twist, variable_fillet, write)

# Time limit (s) of one draw, and maximum number of draws of one pair.
TIMEOUT, MAX_DRAWS = 60, 40


def ellipsoid(r):
    a, b = r.uniform(4, 10), r.uniform(4, 10)
    side = Workplane("XZ").moveTo(0, -b).spline([(0.7 * a, -0.7 * b), (a, 0), (0.7 * a, 0.7 * b), (0, b)],
                                                tangents=[(1, 0), (-1, 0)], includeCurrent=True)
    return side.close().revolve(360, (0, 0, 0), (0, 1, 0)).val()


def vase(r):
    points = [(r.uniform(4, 9), 5 * k) for k in range(6)]
    return Workplane("XZ").lineTo(*points[0]).spline(points[1:], includeCurrent=True).lineTo(0, 25).close() \
        .revolve(360, (0, 0, 0), (0, 1, 0)).val()


def part_of_a_vase(r):
    points = [(r.uniform(4, 9), 5 * k) for k in range(6)]
    return Workplane("XZ").lineTo(*points[0]).spline(points[1:], includeCurrent=True).lineTo(0, 25).close() \
        .revolve(r.uniform(60, 300), (0, 0, 0), (0, 1, 0)).val()


def sheet(r):
    """A block under a bicubic surface."""
    heights = [[Vector(6 * i, 6 * j, 12 + r.uniform(-3, 3)) for j in range(6)] for i in range(6)]
    top = Face.makeSplineApprox(heights, tol=1e-3, minDeg=3, maxDeg=5)
    return Solid.extrudeLinear(top, Vector(0, 0, -20))


def wavy(r):
    return Workplane("XY").spline(closed_spline(r, 12, 10, 0.12), periodic=True).close().extrude(r.uniform(8, 20)).val()


def cone_of_ellipses(r):
    wires = [Workplane(plane_at(r, 12 * k, 0, 0)).ellipse(8 - 2 * k, r.uniform(3, 6)).wires().val() for k in range(3)]
    return Solid.makeLoft(wires, False)


FAMILIES = [elliptic_cylinder, extruded_spline, wavy, tapered, free_form, loft, transition, cone_of_ellipses, vase, part_of_a_vase,
            revolved_spline, revolved_lens, ellipsoid, twisted, twist, spline_sweep, sweep, sheet, variable_fillet, free_fillet]
# Families whose solids are star-shaped about the centre of mass.
STAR = {elliptic_cylinder, cone_of_ellipses, ellipsoid}


def splines(solid):
    """A copy of a solid whose faces are all splines, and these splines."""
    converted = Shape.cast(BRepBuilderAPI_Copy(BRepBuilderAPI_NurbsConvert(solid.wrapped, True).Shape()).Shape())
    surfaces = []
    for face in converted.Faces():
        surface = BRep_Tool.Surface_s(face.wrapped)
        if isinstance(surface, Geom_BSplineSurface) and all(surface is not s for s in surfaces):
            surfaces.append(surface)
    return only_solid(converted), surfaces


def described_anew(r, solid, how):
    if how == "same":
        return solid
    if how == "refitted":
        return only_solid(Shape.cast(ShapeCustom.BSplineRestriction_s(
            splines(solid)[0].wrapped, 1e-7, 1e-7, 5, 200, GeomAbs_C2, GeomAbs_C2, True, False, ShapeCustom_RestrictionParameters())))
    solid, surfaces = splines(solid)
    for s in surfaces:
        u0, u1, v0, v1 = s.Bounds()
        if how == "knots":
            for _ in range(3):
                s.InsertUKnot(r.uniform(u0, u1), 1, 1e-9, True)
                s.InsertVKnot(r.uniform(v0, v1), 1, 1e-9, True)
        elif how == "degree":
            s.IncreaseDegree(s.UDegree() + 1, s.VDegree() + 2)
        elif how == "half turn":
            s.UReverse()
            s.VReverse()
        elif how == "quarter turn":
            s.ExchangeUV()
            s.UReverse()
    return solid


def block_around(r, solid):
    """A block from which the solid has been cut, and in half of the cases only one half of it."""
    box = solid.BoundingBox()
    d = 0.2 * max(box.xlen, box.ylen, box.zlen)
    low, size = Vector(box.xmin - d, box.ymin - d, box.zmin - d), [box.xlen + 2 * d, box.ylen + 2 * d, box.zlen + 2 * d]
    if r.random() < 0.7:
        size[r.randrange(3)] *= r.uniform(0.4, 0.7)
    return only_solid(Solid.makeBox(*size, low).cut(solid))


def draw(family, number, attempt, seed, out, answer):
    """Draws one pair, in a separate process because the kernel may crash or not terminate."""
    try:
        r = random.Random(f"{seed}/{number}/{attempt}/{family.__name__}")
        part = only_solid(scaled(r, only_solid(family(r))))
        block = block_around(r, part)
        how = ["same", "knots", "degree", "half turn", "quarter turn", "refitted"][(number // len(FAMILIES)) % 6]
        fit = r.choice(["flush", "pressed", "play"]) if family in STAR else "flush"
        name = f"{number:03}-{family.__name__.replace('_', '-')}"
        if fit != "flush":
            box = part.BoundingBox()
            radius = 0.5 * max(box.xlen, box.ylen, box.zlen)
            change = r.uniform(2e-3, 1e-2) / radius
            centre = part.Center()
            part = only_solid(part.translate(centre * -1).scale(1 + (change if fit == "pressed" else -change)).translate(centre))
        part = described_anew(r, part, how)
        for solid, role in ((part, "part"), (block, "block")):
            # Curves in the parameters of converted surfaces do not apply any more.
            Interface_Static.SetIVal_s("write.surfacecurve.mode", 0 if role == "part" else 1)
            write(solid, out / f"{name}-{role}.step", "AP214IS")
            sound(only_solid(read(out / f"{name}-{role}.step")))
        expected = {"flush": "touching", "pressed": "interfering", "play": "separated"}[fit]
        answer.put({name: {"family": family.__name__, "parameters": how, "fit": fit, "expected": expected, "draw": attempt}})
    except Exception as e:  # noqa: BLE001 (any error of the kernel: drawn again)
        answer.put(f"{type(e).__name__}: {e}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    context = multiprocessing.get_context("fork")
    manifest = {}
    for number in range(args.count):
        family = FAMILIES[number % len(FAMILIES)]
        if args.only not in (None, family.__name__):
            continue
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
                break
            print(f"{number:03} {family.__name__:18} drawn again: {result}", flush=True)
        else:
            print(f"{number:03} {family.__name__:18} left out", flush=True)
    (args.out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    print(f"{len(manifest)} pairs")


if __name__ == "__main__":
    main()
