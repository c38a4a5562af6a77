"""Writes the STEP models of `data/`.

    pip install -r tools/models/requirements.txt
    python tools/models/make_models.py [OUT_DIR]

All lengths are in millimetres unless a model states otherwise. Every model is a function that returns a
solid; the dictionary at the end contains the file names. Headers have no date, so the same input gives
the same bytes.
"""

import math
import re
import sys
from pathlib import Path

import cadquery as cq
from cadquery import Solid, Vector, Workplane
from OCP.BRepBuilderAPI import BRepBuilderAPI_NurbsConvert
from OCP.Interface import Interface_Static
from OCP.STEPControl import STEPControl_AsIs, STEPControl_Writer


def revolve(points):
    """Solid of revolution about z of a closed polygon of (radius, height) points."""
    return Workplane("XZ").polyline(points).close().revolve(360, (0, 0, 0), (0, 1, 0)).val()


# ------------------------------------------------------------------------------------------------ primitives

def box():
    return Workplane("XY").box(40, 30, 20).val()


def cylinder():
    return Solid.makeCylinder(10, 40)


def cone():
    """Full cone with its apex at z = 30."""
    return Solid.makeCone(12, 0, 30)


def half_cone():
    """A cone cut through its axis: the apex has edges and half a conical face."""
    return Workplane(cone()).cut(Workplane("XY").box(40, 40, 80).translate((0, -20, 0))).val()


def sphere():
    return Solid.makeSphere(10, Vector(0, 0, 0), Vector(0, 0, 1), -90, 90, 360)


def torus():
    return Solid.makeTorus(20, 5)


def oval_pin():
    """Elliptic cylinder with semi-axes of 9 and 5 mm."""
    return Workplane("XY").ellipse(9, 5).extrude(10).val()


def oval_block():
    """A block with the hole that the oval pin fills exactly."""
    return Workplane("XY").box(30, 20, 10, centered=(True, True, False)).cut(Workplane(oval_pin())).val()


def nurbs(make):
    """The solid with all surfaces and curves converted to B-splines."""
    return lambda: Solid(BRepBuilderAPI_NurbsConvert(make().wrapped).Shape())


# ---------------------------------------------------------------------------------------- functional contacts

def pin():
    """Pin of 19.9 mm diameter, longer than its bore."""
    return Workplane("XY").circle(9.95).extrude(60).translate((0, 0, -30)).val()


def pin_short():
    """Pin of 19.9 mm diameter, shorter than its bore."""
    return Workplane("XY").circle(9.95).extrude(20).translate((0, 0, -10)).val()


def bore():
    """Block with a through bore of 20 mm diameter along z."""
    return Workplane("XY").box(50, 50, 40).faces(">Z").workplane().hole(20).val()


def blind_bore():
    """Block with a chamfered blind bore of 20 mm diameter, open at the top."""
    return (Workplane("XY").box(50, 50, 40).faces(">Z").workplane().hole(20, 30)
            .faces(">Z").edges("%CIRCLE").chamfer(1.5).val())


def plug():
    """Stepped plug with a rounded nose: cylinders of 19.9 and 11.9, a cone between them, a torus fillet."""
    body = revolve([(0, -12), (5.95, -12), (5.95, 0), (9.95, 6), (9.95, 26), (14, 26), (14, 32), (0, 32)])
    w = Workplane(body)
    return w.edges(cq.selectors.BoxSelector((-7, -7, -13), (7, 7, -11))).fillet(2.0).val()


def socket():
    """Counterpart of `plug` with 0.05 mm of radial play."""
    block = Workplane("XY").box(44, 44, 42, centered=(True, True, False)).translate((0, 0, -17))
    hole = Workplane(revolve([(0, -12.2), (6, -12.2), (6, 0), (10, 6), (10, 30), (0, 30)]))
    return block.cut(hole).faces(">Z").edges("%CIRCLE").chamfer(1.0).val()


def hopper():
    """A silo of radius 35 mm, a cone and an outlet of radius 10 mm whose lower end is at z = 0."""
    return revolve([(10, 0), (10, 10), (35, 50), (35, 160), (38, 160), (38, 49), (13, 9), (13, 0)])


def stepped_cone():
    """Conical seat part: two cones of different angle joined by a cylinder."""
    return revolve([(0, 0), (4, 0), (8, 10), (8, 16), (14, 24), (14, 30), (0, 30)])


def stepped_seat():
    """Seat of `stepped_cone`, 0.1 mm larger in radius."""
    block = Workplane("XY").box(40, 40, 36, centered=(True, True, False)).translate((0, 0, -6))
    hole = Workplane(revolve([(0, -1), (3.7, -1), (4.1, 0), (8.1, 10), (8.1, 16), (14.1, 24), (14.1, 31), (0, 31)]))
    return block.cut(hole).val()


def spool():
    """Spool whose groove is a concave torus (tube radius 1, ring radius 1.5), cut off at 0.866 tube radii."""
    h = math.sqrt(3) / 2
    profile = (Workplane("XZ").moveTo(0, -h).lineTo(1.0, -h).threePointArc((0.5, 0), (1.0, h)).lineTo(0, h).close())
    return profile.revolve(360, (0, 0, 0), (0, 1, 0)).val()


def shaft():
    """Shaft with a shoulder, a keyway and a retaining-ring groove."""
    body = revolve([(0, 0), (12, 0), (12, 20), (8, 20), (8, 48), (7.2, 48), (7.2, 49.5), (8, 49.5), (8, 55), (0, 55)])
    key = Workplane("XY").box(20, 3, 4).translate((14, 0, 40))
    return Workplane(body).cut(key).val()


def ring():
    """Ring with a round section, 16.4 mm inside diameter."""
    return Solid.makeTorus(10.2, 2.0)


def race():
    """Outer ball race: a ring with a concave toroidal groove."""
    body = Workplane(revolve([(14, -5), (20, -5), (20, 5), (14, 5)]))
    return body.cut(Workplane(Solid.makeTorus(13, 3.2))).val()


def ball():
    """Ball for `race`, 6.2 mm diameter, centred at the origin."""
    return Solid.makeSphere(3.1, Vector(0, 0, 0), Vector(0, 0, 1), -90, 90, 360)


def perforated_plate():
    """Plate with 100 holes."""
    pts = [(8 * i - 36, 8 * j - 36) for i in range(10) for j in range(10)]
    return Workplane("XY").box(90, 90, 6).faces(">Z").workplane().pushPoints(pts).hole(5).val()


def bayonet_plug():
    """Plug with two radial lugs and a spherical tip."""
    body = Workplane(revolve([(0, 0), (9.9, 0), (9.9, 30), (16, 30), (16, 36), (0, 36)]))
    lug = Workplane("YZ").circle(2.4).extrude(12.4).translate((0, 0, 8))
    body = body.union(lug).union(lug.rotate((0, 0, 0), (0, 0, 1), 180))
    return body.faces("<Z").edges("%CIRCLE").fillet(3.0).val()


def bayonet_socket():
    """Sleeve with two L-shaped slots for the lugs of `bayonet_plug`."""
    body = Workplane(revolve([(10, -2), (15, -2), (15, 28), (10, 28)]))
    for k in range(2):
        slot = Workplane("XY").box(8, 5.2, 24, centered=(True, True, False)).translate((12.5, 0, 7.5))
        turn = None
        for i in range(13):
            s = (Workplane("YZ").circle(2.6).extrude(8).translate((8.5, 0, 8)).rotate((0, 0, 0), (0, 0, 1), i * 4.0))
            if i in (0, 12):
                turn = s if turn is None else turn.union(s)
        arc = Workplane(revolve([(8.5, 5.4), (16.5, 5.4), (16.5, 10.6), (8.5, 10.6)]))
        wedge = (Workplane("XY").moveTo(0, 0).lineTo(30, 0)
                 .lineTo(30 * math.cos(math.radians(48)), 30 * math.sin(math.radians(48))).close().extrude(40))
        cut = slot.union(arc.intersect(wedge)).union(turn)
        body = body.cut(cut.rotate((0, 0, 0), (0, 0, 1), 180 * k))
    return body.val()


# -------------------------------------------------------------------------------------------------- free form

def loft():
    """Lofted body between an ellipse, a spline section and a circle: B-spline faces."""
    pts = [(9 * (1 + 0.12 * math.cos(3 * t)) * math.cos(t), 6.5 * (1 + 0.12 * math.cos(3 * t)) * math.sin(t))
           for t in [2 * math.pi * i / 12 for i in range(12)]]
    return (Workplane("XY").ellipse(10, 6).workplane(offset=12).spline(pts, periodic=True).close()
            .workplane(offset=12).circle(5).loft(combine=True).val())


def swept():
    """Circular section swept along a spatial spline."""
    path = Workplane("XZ").spline([(0, 0), (8, 12), (0, 24), (-6, 40)], tangents=[(0, 1), (0, 1)])
    return Workplane("XY").ellipse(4, 3).sweep(path).val()


def wave():
    """Block with a wavy free-form top."""
    top = [[cq.Vector(x, y, 6 + 1.5 * math.sin(x / 6) * math.cos(y / 5)) for y in range(-20, 21, 5)]
           for x in range(-20, 21, 5)]
    face = cq.Face.makeSplineApprox(top, tol=1e-2, minDeg=3, maxDeg=5)
    block = Workplane("XY").box(36, 36, 24).translate((0, 0, 0))
    splitter = cq.Workplane(block.val()).split(cq.Workplane(face))
    lower = min(splitter.solids().vals(), key=lambda s: s.Center().z)
    return lower


# ---------------------------------------------------------------------------------------------------- special

def void_body():
    """Block with a spherical and a cylindrical cavity inside."""
    block = Workplane("XY").box(40, 30, 30)
    block = block.cut(Workplane(Solid.makeSphere(8, Vector(-8, 0, 0), Vector(0, 0, 1), -90, 90, 360)))
    return block.cut(Workplane(Solid.makeCylinder(4, 10, Vector(11, 0, -5), Vector(0, 0, 1)))).val()


def inch_bracket():
    """L-shaped bracket with a hole and a rounded edge, written in inches."""
    s = Workplane("XZ").polyline([(0, 0), (50.8, 0), (50.8, 6.35), (6.35, 6.35), (6.35, 38.1), (0, 38.1)]).close().extrude(-25.4)
    s = s.edges(cq.selectors.BoxSelector((6, -1, 6), (7, 26, 7))).fillet(3.175)
    return s.faces(">X").workplane(centerOption="CenterOfBoundBox").end().cut(
        Workplane(Solid.makeCylinder(4.7625, 20, Vector(33, 12.7, -5), Vector(0, 0, 1)))).val()


def without_edges(entity, name):
    """A whole closed surface as one face without loops. Open CASCADE cannot write such a file."""
    return f"""ISO-10303-21;
HEADER;
FILE_DESCRIPTION(('{name}: one face without loops'),'2;1');
FILE_NAME('{name}','',(''),(''),'','','');
FILE_SCHEMA(('AUTOMOTIVE_DESIGN {{ 1 0 10303 214 1 1 1 1 }}'));
ENDSEC;
DATA;
#1=APPLICATION_CONTEXT('automotive design');
#2=PRODUCT_CONTEXT('',#1,'mechanical');
#3=PRODUCT('{name}','{name}','',(#2));
#4=PRODUCT_DEFINITION_FORMATION('','',#3);
#5=PRODUCT_DEFINITION_CONTEXT('part definition',#1,'design');
#6=PRODUCT_DEFINITION('design','',#4,#5);
#7=PRODUCT_DEFINITION_SHAPE('','',#6);
#8=SHAPE_DEFINITION_REPRESENTATION(#7,#9);
#9=ADVANCED_BREP_SHAPE_REPRESENTATION('{name}',(#10),#20);
#10=MANIFOLD_SOLID_BREP('{name}',#11);
#11=CLOSED_SHELL('',(#12));
#12=ADVANCED_FACE('',(),#13,.T.);
#13={entity};
#14=AXIS2_PLACEMENT_3D('',#15,#16,#17);
#15=CARTESIAN_POINT('',(0.,0.,0.));
#16=DIRECTION('',(0.,0.,1.));
#17=DIRECTION('',(1.,0.,0.));
#20=(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNCERTAINTY_ASSIGNED_CONTEXT((#24))GLOBAL_UNIT_ASSIGNED_CONTEXT((#21,#22,#23))REPRESENTATION_CONTEXT('',''));
#21=(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.));
#22=(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.));
#23=(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT());
#24=UNCERTAINTY_MEASURE_WITH_UNIT(LENGTH_MEASURE(1.E-07),#21,'distance_accuracy_value','');
ENDSEC;
END-ISO-10303-21;
"""


# ------------------------------------------------------------------------------------------------ assemblies

def rack():
    """Two shelves, each a block with two pins, one of them upside down, and a ball beside them."""
    block = Workplane("XY").box(60, 30, 10).faces(">Z").workplane().pushPoints([(-15, 0), (15, 0)]).hole(8)
    pin = Workplane("XY").circle(3.9).extrude(20).faces(">Z").chamfer(0.5)
    shelf = cq.Assembly(name="shelf")
    shelf.add(block, name="block")
    shelf.add(pin, name="pin_left", loc=cq.Location((-15, 0, -10)))
    shelf.add(pin, name="pin_right", loc=cq.Location((15, 0, -10), (1, 0, 0), 180))
    rack = cq.Assembly(name="rack")
    rack.add(shelf, name="lower")
    rack.add(shelf, name="upper", loc=cq.Location((10, 0, 50), (0, 0, 1), 90))
    rack.add(Workplane("XY").sphere(5), name="ball", loc=cq.Location((100, 0, 0)))
    return rack


def hand():
    """A part without any symmetry: a slanted prism with a round boss."""
    prism = Workplane("XY").polyline([(0, 0), (30, 0), (22, 14), (0, 10)]).close().extrude(8, taper=5)
    return prism.union(Workplane("XY").circle(3).extrude(12).translate((6, 5, 0))).val()


def next_id(text):
    return max(int(n) for n in re.findall(r"^#(\d+) *=", text, re.M)) + 1


def find(text, pattern):
    return re.search(pattern, text, re.M | re.S).group(1)


def pair_of_hands(text):
    """Adds to a part's file a product that contains the part three times as mapped items: unchanged, mirrored in the plane
    x = -10, and mirrored in its own plane z = 0 and moved by 40 along y."""
    rep = find(text, r"^(#\d+) *= *ADVANCED_BREP_SHAPE_REPRESENTATION")
    context = find(text, r"^#\d+ *= *ADVANCED_BREP_SHAPE_REPRESENTATION\('[^']*',\([^)]*\),(#\d+)\)")
    product_context = find(text, r"^(#\d+) *= *PRODUCT_CONTEXT")
    definition_context = find(text, r"^(#\d+) *= *PRODUCT_DEFINITION_CONTEXT")
    n = next_id(text)
    i = {k: f"#{n + j}" for j, k in enumerate(
        "product formation definition shape sdr rep map o home x y z nx nz left up right top p1 p2 m0 m1 m2".split())}
    lines = f"""{i['product']}=PRODUCT('hands','hands','',({product_context}));
{i['formation']}=PRODUCT_DEFINITION_FORMATION('','',{i['product']});
{i['definition']}=PRODUCT_DEFINITION('design','',{i['formation']},{definition_context});
{i['shape']}=PRODUCT_DEFINITION_SHAPE('','',{i['definition']});
{i['sdr']}=SHAPE_DEFINITION_REPRESENTATION({i['shape']},{i['rep']});
{i['rep']}=SHAPE_REPRESENTATION('hands',({i['m0']},{i['m1']},{i['m2']}),{context});
{i['map']}=REPRESENTATION_MAP({i['home']},{rep});
{i['o']}=CARTESIAN_POINT('',(0.,0.,0.));
{i['home']}=AXIS2_PLACEMENT_3D('',{i['o']},{i['z']},{i['x']});
{i['x']}=DIRECTION('',(1.,0.,0.));
{i['y']}=DIRECTION('',(0.,1.,0.));
{i['z']}=DIRECTION('',(0.,0.,1.));
{i['nx']}=DIRECTION('',(-1.,0.,0.));
{i['nz']}=DIRECTION('',(0.,0.,-1.));
{i['p1']}=CARTESIAN_POINT('',(-20.,0.,0.));
{i['p2']}=CARTESIAN_POINT('',(0.,40.,0.));
{i['left']}=CARTESIAN_TRANSFORMATION_OPERATOR_3D('',$,$,{i['nx']},{i['y']},{i['p1']},1.,{i['z']});
{i['up']}=CARTESIAN_TRANSFORMATION_OPERATOR_3D('',$,$,{i['x']},{i['y']},{i['p2']},1.,{i['nz']});
{i['m0']}=MAPPED_ITEM('',{i['map']},{i['home']});
{i['m1']}=MAPPED_ITEM('',{i['map']},{i['left']});
{i['m2']}=MAPPED_ITEM('',{i['map']},{i['up']});
"""
    at = text.index("ENDSEC;", text.index("DATA;"))
    return text[:at] + lines + text[at:]


def with_references():
    """A frame whose two feet and a missing part are in other files; lengths in metres."""
    def part(n, name, file):
        return f"""#{n}=PRODUCT('{name}','{name}','',(#2));
#{n + 1}=PRODUCT_DEFINITION_FORMATION('','',#{n});
#{n + 2}=PRODUCT_DEFINITION('design','',#{n + 1},#5);
#{n + 3}=PRODUCT_DEFINITION_SHAPE('','',#{n + 2});
#{n + 4}=SHAPE_DEFINITION_REPRESENTATION(#{n + 3},#{n + 5});
#{n + 5}=SHAPE_REPRESENTATION('{name}',(#14),#20);
""" + (f"""#{n + 6}=DOCUMENT_FILE('{file}','','',#7,'',$);
#{n + 7}=EXTERNAL_SOURCE(IDENTIFIER(''));
#{n + 8}=APPLIED_EXTERNAL_IDENTIFICATION_ASSIGNMENT('{file}',#8,#{n + 7},(#{n + 6}));
#{n + 9}=APPLIED_DOCUMENT_REFERENCE(#{n + 6},'',(#{n + 2}));
""" if file else "")

    def use(n, part, target):
        return f"""#{n}=NEXT_ASSEMBLY_USAGE_OCCURRENCE('{n}','','',#32,#{part + 2},$);
#{n + 1}=PRODUCT_DEFINITION_SHAPE('','',#{n});
#{n + 2}=ITEM_DEFINED_TRANSFORMATION('','',#14,#{target});
#{n + 3}=(REPRESENTATION_RELATIONSHIP('','',#{part + 5},#35)REPRESENTATION_RELATIONSHIP_WITH_TRANSFORMATION(#{n + 2})SHAPE_REPRESENTATION_RELATIONSHIP());
#{n + 4}=CONTEXT_DEPENDENT_SHAPE_REPRESENTATION(#{n + 3},#{n + 1});
"""

    return f"""ISO-10303-21;
HEADER;
FILE_DESCRIPTION(('an assembly whose parts are in other files'),'2;1');
FILE_NAME('frame','',(''),(''),'','','');
FILE_SCHEMA(('AUTOMOTIVE_DESIGN {{ 1 0 10303 214 1 1 1 1 }}'));
ENDSEC;
DATA;
#1=APPLICATION_CONTEXT('automotive design');
#2=PRODUCT_CONTEXT('',#1,'mechanical');
#5=PRODUCT_DEFINITION_CONTEXT('part definition',#1,'design');
#7=DOCUMENT_TYPE('geometry');
#8=IDENTIFICATION_ROLE('external document id and location',$);
#14=AXIS2_PLACEMENT_3D('',#15,#16,#17);
#15=CARTESIAN_POINT('',(0.,0.,0.));
#16=DIRECTION('',(0.,0.,1.));
#17=DIRECTION('',(1.,0.,0.));
#18=AXIS2_PLACEMENT_3D('',#19,#25,#17);
#19=CARTESIAN_POINT('',(0.1,0.,0.02));
#20=(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNIT_ASSIGNED_CONTEXT((#21,#22,#23))REPRESENTATION_CONTEXT('',''));
#21=(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT($,.METRE.));
#22=(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.));
#23=(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT());
#25=DIRECTION('',(0.,1.,0.));
#26=AXIS2_PLACEMENT_3D('',#27,#16,#17);
#27=CARTESIAN_POINT('',(0.,0.05,0.));
{part(30, 'frame', None)}{part(40, 'foot', 'PARTS/Foot.stp')}{part(50, 'rack', 'rack.step')}{part(60, 'lost', 'lost.stp')}{use(70, 40, 14)}{use(80, 40, 18)}{use(90, 50, 26)}{use(100, 60, 14)}ENDSEC;
END-ISO-10303-21;
"""


def write_assemblies(out):
    (out / "parts").mkdir(parents=True, exist_ok=True)
    Interface_Static.SetCVal_s("write.step.unit", "MM")
    rack().export(str(out / "rack.step"), "STEP")
    normalise(out / "rack.step")
    write(hand(), out / "hands.step", "MM")
    (out / "hands.step").write_text(pair_of_hands((out / "hands.step").read_text().replace("'hands'", "'hand'")))
    write(hand(), out / "parts" / "foot.stp", "INCH")
    (out / "frame.step").write_text(with_references())


MODELS = {
    "box": box, "cylinder": cylinder, "cone": cone, "half-cone": half_cone, "sphere": sphere, "torus": torus,
    "pin": pin, "pin-short": pin_short, "bore": bore, "blind-bore": blind_bore, "plug": plug, "socket": socket,
    "stepped-cone": stepped_cone, "stepped-seat": stepped_seat, "spool": spool, "shaft": shaft, "ring": ring,
    "race": race, "ball": ball, "perforated-plate": perforated_plate, "bayonet-plug": bayonet_plug,
    "bayonet-socket": bayonet_socket, "loft": loft, "swept": swept, "wave": wave, "void": void_body,
    "inch-bracket": inch_bracket, "fits/oval-pin": oval_pin, "fits/oval-block": oval_block,
    "box-nurbs": nurbs(box), "cylinder-nurbs": nurbs(cylinder), "cone-nurbs": nurbs(cone),
    "sphere-nurbs": nurbs(sphere), "torus-nurbs": nurbs(torus), "shaft-nurbs": nurbs(shaft),
}
INCH = {"inch-bracket"}
WITHOUT_PCURVES = {"perforated-plate", "bayonet-socket", "race", "stepped-seat"}
TEXT = {
    "sphere-without-edges": "SPHERICAL_SURFACE('',#14,7.5)",
    "torus-without-edges": "TOROIDAL_SURFACE('',#14,12.,4.)",
}


def write(shape, path, unit):
    # Both kinds of files occur, with and without parameter curves; large ones are written without.
    Interface_Static.SetIVal_s("write.surfacecurve.mode", 0 if path.stem in WITHOUT_PCURVES else 1)
    Interface_Static.SetCVal_s("write.step.unit", unit)
    Interface_Static.SetCVal_s("write.step.schema", "AP214IS")
    Interface_Static.SetIVal_s("write.precision.mode", 0)
    writer = STEPControl_Writer()
    writer.Transfer(shape.wrapped, STEPControl_AsIs)
    writer.Write(str(path))
    normalise(path)


def normalise(path):
    text = path.read_text()
    # Dates and product counters would differ from run to run.
    text = re.sub(r"FILE_NAME\(.*?\);", f"FILE_NAME('{path.stem}','',(''),(''),'','','');", text, count=1, flags=re.S)
    text = re.sub(r"'Open CASCADE STEP translator [^']*'", f"'{path.stem}'", text)
    path.write_text(text)


def main():
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "data"
    (out / "fits").mkdir(parents=True, exist_ok=True)
    for name, make in MODELS.items():
        shape = make()
        solids = shape.Solids()
        assert len(solids) == 1 and solids[0].isValid(), f"{name}: {len(solids)} solids"
        write(solids[0], out / f"{name}.step", "INCH" if name in INCH else "MM")
        print(f"{name:24} {len(solids[0].Faces()):4} faces  {solids[0].Volume():14.6f} mm3")
    for name, entity in TEXT.items():
        (out / f"{name}.step").write_text(without_edges(entity, name))
    write_assemblies(out / "assemblies")
    (out / "particles").mkdir(exist_ok=True)
    write(hopper(), out / "particles" / "hopper.step", "MM")


if __name__ == "__main__":
    main()
