"""Writes mechanisms with little play as STEP files (mm) and `mechanisms.json`, the scenes that are simulated with them.

    pip install -r tools/models/requirements.txt
    python tools/models/make_contact_mechanisms.py FOLDER [--only NAME...]

Sixteen mechanisms (pin in a blind bore, square peg, box on a plate, table, bricks, roller, cups, drawer, plug, hex bit, ball
cross of a universal joint, a splined shaft). Each part is a function that returns a solid; each scene is
a function that returns the entry of `mechanisms.json`. The tables PARTS, SCENES and PAIRS list them.
Without --only everything is written; with it, the named scenes and pairs with their parts.

`mechanisms.json` has two lists. An entry of `mechanisms` has

    name, about        name, and description of the simulation
    gravity            mm/s2
    friction           coefficient of all contacts
    seconds            simulated time; steps are 1 ms
    bodies             name, part (file without .step), fixed or density (kg/m3), position (mm), rotation (a rotation vector,
                       degrees), revolute (axis of a joint with the world through the body's origin, optional)
    loads              on a body, from..until (s): force (N) at the centre of mass and torque (N mm), multiplied by a sine if
                       `frequency` (Hz) is given; with `gain` (N mm s) also a torque of `gain` times the difference of `spin`
                       (rad/s) and the spin about `axis`
    pulls              a critically damped spring of `response` (s) that pulls a body along `positions` (mm) at `times` (s)
                       and keeps its initial rotation
    observe            kind, bodies, and the value expected by a closed form:
                       coordinate  final coordinate of the origin along `axis`, one expected value (mm) for each body
                       travel      displacement of the centre of mass along `axis` (mm)
                       advance     displacement along `axis` per turn, in the second half (mm)
                       offset      largest displacement of the origin (mm); the play is expected
                       span        largest distance between the origins of consecutive bodies at the end (mm)
                       turn        largest rotation about `axis` (degrees)
                       period      of the swing about `axis` under gravity (s)
                       ratio       ratio of the spin of the second body to that of the first, in the last fifth
                       orbit       mean rate at which the other bodies revolve around `axis`, divided by the spin of the first

An entry of `pairs` has name, about, the parts a and b, position_b (mm) and reach (mm).
"""

import argparse
import json
import math
from pathlib import Path

from cadquery import Solid, Vector, Workplane
from OCP.STEPControl import STEPControl_Controller

import make_models
import make_threads

STEEL, WOOD, PLASTIC = 7850, 700, 1000
# mm/s2
EARTH = 9810
DOWN = (0, 0, -EARTH)


# -------------------------------------------------------------------------------------------------- primitives

def box(x, y, z, center=(0, 0, 0)):
    return Solid.makeBox(x, y, z, Vector(center[0] - x / 2, center[1] - y / 2, center[2] - z / 2))


def ball(radius, center=(0, 0, 0)):
    return Solid.makeSphere(radius, Vector(*center), Vector(0, 0, 1), -90, 90, 360)


def upright(radius, z0, z1, x=0, y=0):
    """A cylinder along z."""
    return Solid.makeCylinder(radius, z1 - z0, Vector(x, y, z0))


def lying(radius, y0, y1, x=0, z=0):
    """A cylinder along y."""
    return Solid.makeCylinder(radius, y1 - y0, Vector(x, y0, z), Vector(0, 1, 0))


def merged(first, *others):
    for other in others:
        first = first.fuse(other)
    return first.clean()


# ------------------------------------------------------------------------------------------------------- parts

def plate():
    """The ground: its top is z = 0."""
    return box(400, 400, 10, (0, 0, -5))


def square_peg():
    """A peg 19.9 mm wide with rounded edges; its lower end at z = 0 is chamfered."""
    peg = Workplane(box(19.9, 19.9, 40, (0, 0, 20))).edges("|Z").fillet(2)
    return peg.faces("<Z").edges().chamfer(0.5).val()


def square_hole():
    """A block with a square blind hole of 20 mm, 30 mm deep from z = 0."""
    hole = Workplane(box(20, 20, 30, (0, 0, -15))).edges("|Z").fillet(2).val()
    return box(50, 50, 40, (0, 0, -20)).cut(hole)


def rounded_box():
    return Workplane(box(40, 30, 20, (0, 0, 10))).edges("|Z").fillet(3).edges(">Z").chamfer(1).val()


def table():
    """A top on four round feet with bottoms at z = 0."""
    feet = [upright(4, 0, 6, x, y) for x in (-25, 25) for y in (-15, 15)]
    return merged(box(60, 40, 6, (0, 0, 9)), *feet)


def brick():
    return box(40, 20, 10, (0, 0, 5))


def roller():
    """A cylinder along y that touches z = 0."""
    return lying(10, -15, 15, z=10)


def cup():
    """A conical cup with a wall of about 2 mm and a rounded rim."""
    profile = [(0, 0), (30, 0), (40, 60), (38, 60), (28.2, 2), (0, 2)]
    return Workplane(make_models.revolve(profile)).edges(">Z").fillet(0.6).val()


def cabinet():
    """A cabinet that is open at both ends, with a rail of 8 by 4 mm on each side."""
    shell = box(120, 160, 60).cut(box(100, 170, 50))
    return merged(shell, box(8.5, 140, 4, (-46.25, 0, 0)), box(8.5, 140, 4, (46.25, 0, 0)))


def drawer_box():
    """A drawer whose grooves of 8.5 by 4.4 mm fit the rails with 0.2 mm of play in height and 0.5 mm sideways."""
    case = box(99, 140, 40).cut(box(75, 132, 40, (0, 0, 4)))
    case = case.cut(box(9, 150, 4.4, (-45.5, 0, 0)), box(9, 150, 4.4, (45.5, 0, 0)))
    return merged(case, lying(6, -90, -69.5))


def two_pin_plug():
    """A plug with pins of 4 mm with hemispherical ends, 18.5 mm apart; the body ends at z = 0."""
    body = Workplane(box(35, 14, 15, (0, 0, 7.5))).edges("|Z").fillet(5).val()
    pins = [s for x in (-9.25, 9.25) for s in (upright(2, -17, 1, x), ball(2, (x, 0, -17)))]
    return merged(body, *pins)


def two_pin_socket():
    """A socket with bores of 4.2 mm with conical entries."""
    block = box(50, 30, 25, (0, 0, -12.5))
    for x in (-9.25, 9.25):
        entry = Solid.makeCone(3.1, 2.1, 1, Vector(x, 0, 0), Vector(0, 0, -1))
        block = block.cut(upright(2.1, -20, 0, x), entry)
    return block


def hexagon(across, z0, z1):
    """A hexagonal prism with a given distance across flats."""
    return Workplane("XY", origin=(0, 0, z0)).polygon(6, across / math.cos(math.radians(30))).extrude(z1 - z0).val()


# Distances across flats.
SOCKET_ACROSS, BIT_ACROSS = 5.0, 4.94


def hex_screw():
    """An M6 screw with a socket of 5 mm, 3 mm deep from z = 6."""
    head = Workplane(merged(upright(5, 0, 6), upright(3, -20, 0))).edges(">Z").chamfer(0.4).val()
    return head.cut(hexagon(SOCKET_ACROSS, 3, 7))


def hex_bit():
    """A hex bit of 4.94 mm across flats; its end at z = 3 is chamfered."""
    return Workplane(hexagon(BIT_ACROSS, 3, 43)).faces("<Z").edges().chamfer(0.2).val()


BALL_JOINT_PLAY = 0.03


def ball_stud():
    return merged(ball(8), upright(4, 0, 30))


def ball_socket():
    """A socket that encloses the ball beyond its equator, up to z = 5."""
    return upright(14, -14, 5).cut(ball(8 + BALL_JOINT_PLAY))


def hinge_base():
    """A base with two lugs, 15 mm apart, with bores of 8 mm along y."""
    base = box(40, 30, 4, (0, 0, -14))
    for y in (-10, 10):
        base = merged(base, box(12, 5, 14, (0, y, -7)), lying(6, y - 2.5, y + 2.5))
    return base.cut(lying(4, -30, 30))


def hinge_leaf():
    """An eye between the lugs, 0.05 mm from each, and an arm along x."""
    leaf = merged(lying(6, -7.45, 7.45), box(40, 14.9, 4, (20, 0, 0))).cut(lying(4, -30, 30))
    return Workplane(leaf).edges("|Y and >X").fillet(1).val()


def hinge_pin():
    """A pin of 7.9 mm for bores of 8 mm, with a head beyond each lug."""
    return merged(lying(3.95, -12.6, 12.6), lying(6, 12.6, 15.6), lying(6, -15.6, -12.6))


# Radii of the ball bearing (mm): circle of the balls' centres, balls, grooves; and radial play of a ball
# in each groove.
ORBIT, BALL, GROOVE, RACE_PLAY = 15, 3, 3.12, 0.01


def bearing_ring(r0, r1, groove):
    ring = make_models.revolve([(r0, -5), (r1, -5), (r1, 5), (r0, 5)])
    return ring.cut(Solid.makeTorus(groove, GROOVE))


def bearing_inner():
    return bearing_ring(8, 13, ORBIT - BALL - RACE_PLAY + GROOVE)


def bearing_outer():
    return bearing_ring(17, 22, ORBIT + BALL + RACE_PLAY - GROOVE)


def bearing_ball():
    return ball(BALL)


MODULE, TEETH = 2, (17, 25)
# Backlash (mm) of the pair, half of which is removed from each gear's teeth.
BACKLASH = 0.05
# Number of points of the spline through a flank.
FLANK_POINTS = 8


def gear(teeth):
    """A spur gear with involute flanks of 20 degrees and a bore of 10 mm; a tooth is on the x axis."""
    pressure = math.radians(20)
    pitch = MODULE * teeth / 2
    base, tip, root = pitch * math.cos(pressure), pitch + MODULE, pitch - 1.25 * MODULE
    half_at_pitch = (math.pi * MODULE - BACKLASH) / (4 * pitch)

    def half_angle(r):
        involute = lambda angle: math.tan(angle) - angle
        return half_at_pitch + involute(pressure) - involute(math.acos(min(1, base / r)))

    def at(r, angle):
        return (r * math.cos(angle), r * math.sin(angle))

    first = max(1.0005 * base, root + 0.05)
    radii = [first + (tip - first) * k / (FLANK_POINTS - 1) for k in range(FLANK_POINTS)]
    foot, outline = half_angle(first), Workplane("XY").moveTo(*at(root, -half_angle(first)))
    for k in range(teeth):
        middle = 2 * math.pi * k / teeth
        after = 2 * math.pi * (k + 1) / teeth
        outline = outline.lineTo(*at(first, middle - foot))
        outline = outline.spline([at(r, middle - half_angle(r)) for r in radii[1:]], includeCurrent=True)
        outline = outline.threePointArc(at(tip, middle), at(tip, middle + half_angle(tip)))
        outline = outline.spline([at(r, middle + half_angle(r)) for r in radii[-2::-1]], includeCurrent=True)
        outline = outline.lineTo(*at(root, middle + foot))
        end = at(root, after - foot) if k + 1 < teeth else at(root, -foot)
        outline = outline.threePointArc(at(root, (middle + after) / 2), end)
    return outline.close().extrude(10).val().cut(upright(5, -1, 11))


# Half the length of a link's straight wires, and radii of its bends (of the wire's axis) and of the wire.
STRAIGHT, BEND, WIRE = 10, 8, 3


def chain_link():
    """A wire of 6 mm along a stadium in the plane of x and y, elongated along x."""
    solids = []
    for side in (-1, 1):
        solids.append(Solid.makeCylinder(WIRE, 2 * STRAIGHT, Vector(-STRAIGHT, side * BEND, 0), Vector(1, 0, 0)))
        torus = Solid.makeTorus(BEND, WIRE, Vector(side * STRAIGHT, 0, 0))
        solids.append(torus.intersect(box(20, 40, 20, (side * (STRAIGHT + 10), 0, 0))))
    return merged(*solids)


def flat_ring():
    return upright(12, 0, 3).cut(upright(8, -1, 4))


# Radial play of the cross's journals, and play of the splines (on each flank, at tips and at roots).
CROSS_PLAY, SPLINE_PLAY = 0.025, 0.02


def cross():
    """The cross of a universal joint: a hub and four journals of 8 mm."""
    journals = [Solid.makeCylinder(4, 44, Vector(*start), Vector(*along))
                for start, along in [((-22, 0, 0), (1, 0, 0)), ((0, -22, 0), (0, 1, 0))]]
    hub = Workplane(box(16, 16, 14)).edges("|Z").fillet(3).val()
    return Workplane(merged(hub, *journals)).faces("<X or >X or <Y or >Y").edges().chamfer(0.4).val()


def cross_frame():
    """A ring with four bores for the journals of the cross."""
    ring = upright(26, -8, 8).cut(upright(14, -9, 9))
    bore = 4 + CROSS_PLAY
    return ring.cut(Solid.makeCylinder(bore, 60, Vector(-30, 0, 0), Vector(1, 0, 0)), lying(bore, -30, 30))


def splined(root, tip, width, z0, z1):
    """A core with twelve straight-sided teeth."""
    teeth = [box(tip + 1, width, z1 - z0, ((tip + 1) / 2, 0, (z0 + z1) / 2))
             .rotate(Vector(0, 0, 0), Vector(0, 0, 1), 30 * k) for k in range(12)]
    return merged(upright(root, z0, z1), *teeth).intersect(upright(tip, z0, z1)).clean()


def splined_shaft():
    return merged(splined(10, 12, 3, -12, 12), upright(9, -25, 25))


def splined_hub():
    play = SPLINE_PLAY
    return upright(18, -8, 8).cut(splined(10 + play, 12 + play, 3 + 2 * play, -9, 9))


PARTS = {
    "blind-bore": make_models.blind_bore, "pin": make_models.pin, "square-peg": square_peg, "square-hole": square_hole,
    "plate": plate, "rounded-box": rounded_box, "table": table, "brick": brick, "roller": roller, "cup": cup,
    "cabinet": cabinet, "drawer-box": drawer_box, "two-pin-plug": two_pin_plug, "two-pin-socket": two_pin_socket,
    "hex-screw": hex_screw, "hex-bit": hex_bit, "ball-stud": ball_stud, "ball-socket": ball_socket,
    "hinge-base": hinge_base, "hinge-leaf": hinge_leaf, "hinge-pin": hinge_pin, "bearing-inner": bearing_inner,
    "bearing-outer": bearing_outer, "bearing-ball": bearing_ball, "gear-17": lambda: gear(17), "gear-25": lambda: gear(25),
    "chain-link": chain_link, "bolt": make_threads.bolt, "nut": make_threads.nut, "flat-ring": flat_ring, "cross": cross,
    "cross-frame": cross_frame, "splined-shaft": splined_shaft, "splined-hub": splined_hub,
}
# Large files are written without parameter curves.
WITHOUT_PCURVES = {"gear-17", "gear-25", "bolt", "nut"}


# ------------------------------------------------------------------------------------------------------ scenes

def fixed(name, part):
    return {"name": name, "part": part, "fixed": True}


def free(name, part, position=(0, 0, 0), rotation=(0, 0, 0), density=STEEL, **more):
    return {"name": name, "part": part, "position": position, "rotation": rotation, "density": density, **more}


def observe(kind, bodies, axis, expected):
    return {"kind": kind, "bodies": bodies, "axis": axis, "expected": expected}


X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def pin_scene():
    return {"about": "a pin of 19.9 mm falls by 1 mm to the bottom of its blind bore of 20 mm",
            "gravity": DOWN, "friction": 0.2, "seconds": 1.0,
            "bodies": [fixed("bore", "blind-bore"), free("pin", "pin", (0, 0.01, 21), (0.02, 0, 0))],
            "observe": observe("coordinate", ["pin"], Z, [20])}


def square_peg_scene():
    return {"about": "a square peg of 19.9 mm falls by 10 mm to the bottom of its hole of 20 mm",
            "gravity": DOWN, "friction": 0.15, "seconds": 1.0,
            "bodies": [fixed("hole", "square-hole"), free("peg", "square-peg", (0.03, 0.02, -20), (0, 0, 0.1))],
            "observe": observe("coordinate", ["peg"], Z, [-30])}


def box_scene():
    return {"about": "a box rests flush on a plate",
            "gravity": DOWN, "friction": 0.2, "seconds": 1.0,
            "bodies": [fixed("plate", "plate"), free("box", "rounded-box")],
            "observe": observe("coordinate", ["box"], Z, [0])}


def table_scene():
    return {"about": "a table tilted by 1 degree falls by 1 mm on its four feet",
            "gravity": DOWN, "friction": 0.2, "seconds": 1.0,
            "bodies": [fixed("plate", "plate"), free("table", "table", (0, 0, 1), (1, 0, 0))],
            "observe": observe("coordinate", ["table"], Z, [0])}


def bricks_scene():
    names = [f"brick{k}" for k in range(8)]
    stack = [free(name, "brick", (0.5 * (k % 2), 0.3 * (k % 3), 0.02 + 10.02 * k), (0, 0, 5 * (k % 2)))
             for k, name in enumerate(names)]
    return {"about": "a stack of eight bricks, every other one turned by 5 degrees, falls by 0.02 mm",
            "gravity": DOWN, "friction": 0.5, "seconds": 1.0,
            "bodies": [fixed("plate", "plate"), *stack],
            "observe": observe("coordinate", names, Z, [10 * k for k in range(8)])}


def roller_scene():
    slope, seconds = math.radians(5), 1.0
    along, across = EARTH * math.sin(slope), EARTH * math.cos(slope)
    return {"about": "a cylinder rolls down an incline of 5 degrees",
            "gravity": (along, 0, -across), "friction": 0.5, "seconds": seconds,
            "bodies": [fixed("plate", "plate"), free("roller", "roller", (-190, 0, 0.001))],
            "observe": observe("travel", ["roller"], X, [along / 1.5 * seconds**2 / 2])}


def cups_scene():
    # The lower edge of a cup, of radius 30 mm, rests in the inner cone of the cup below: 28.2 mm at a
    # height of 2 mm, 38 mm at 60 mm.
    pitch = 2 + (30 - 28.2) * 58 / (38 - 28.2)
    names = [f"cup{k}" for k in range(5)]
    return {"about": "five conical cups fall into each other by 0.5 mm",
            "gravity": DOWN, "friction": 0.3, "seconds": 0.5,
            "bodies": [fixed("plate", "plate"),
                       *[free(n, "cup", (0, 0, 0.5 + (pitch + 0.5) * k), density=PLASTIC) for k, n in enumerate(names)]],
            "observe": observe("coordinate", names, Z, [pitch * k for k in range(5)])}


def drawer_scene():
    force, friction, begin, seconds = 0.3, 0.15, 0.1, 0.5
    mass = drawer_box().Volume() * 1e-9 * WOOD
    acceleration = 1e3 * force / mass - friction * EARTH
    return {"about": "a drawer is pulled out on its rails, off its middle",
            "gravity": DOWN, "friction": friction, "seconds": seconds,
            "bodies": [fixed("cabinet", "cabinet"), free("drawer", "drawer-box", (0, 0, -0.15), density=WOOD)],
            "loads": [{"body": "drawer", "force": (0, -force, 0), "torque": (0, 0, 3), "from": begin}],
            "observe": observe("travel", ["drawer"], Y, [-acceleration * (seconds - begin)**2 / 2])}


def plug_scene():
    return {"about": "a two-pin plug is pulled into its socket by a spring that is 0.36 mm beside it",
            "gravity": (0, 0, 0), "friction": 0.15, "seconds": 1.0,
            "bodies": [fixed("socket", "two-pin-socket"),
                       free("plug", "two-pin-plug", (0.3, 0.2, 24), density=1500)],
            "pulls": [{"body": "plug", "response": 0.02, "times": [0, 0.8],
                       "positions": [(0.3, 0.2, 24), (0.3, 0.2, -0.5)]}],
            "observe": observe("coordinate", ["plug"], Z, [0])}


def hex_scene():
    radius = BIT_ACROSS / 2 / math.cos(math.radians(30))
    turn = 30 - math.degrees(math.acos(SOCKET_ACROSS / 2 / radius))
    return {"about": "a hex bit as heavy as the tool that holds it oscillates in a fixed screw",
            "gravity": DOWN, "friction": 0.15, "seconds": 1.0,
            "bodies": [fixed("screw", "hex-screw"), free("bit", "hex-bit", (0, 0, 0.05), density=400_000)],
            "loads": [{"body": "bit", "torque": (0, 0, 6), "frequency": 1}],
            "observe": observe("turn", ["bit"], Z, [turn])}


def ball_joint_scene():
    return {"about": "a ball stud tilted by 15 degrees falls over in its socket",
            "gravity": DOWN, "friction": 0.1, "seconds": 1.0,
            "bodies": [fixed("socket", "ball-socket"), free("stud", "ball-stud", rotation=(15, 0, 0))],
            "observe": observe("offset", ["stud"], Z, [BALL_JOINT_PLAY])}


def period(solid, amplitude):
    """Period (s) of a pendulum about the y axis, released from rest at an angle (rad)."""
    center, volume = solid.Center(), solid.Volume()
    arm = math.hypot(center.x, center.z)
    # Moment of inertia about the centre of mass, at unit density.
    own = Solid.matrixOfInertia(solid)[1][1]
    small = 2 * math.pi * math.sqrt((own / volume + arm**2) / (EARTH * arm))
    # The complete elliptic integral as an arithmetic-geometric mean.
    a, b = 1.0, math.cos(amplitude / 2)
    for _ in range(6):
        a, b = (a + b) / 2, math.sqrt(a * b)
    return small / a


def hinge_scene():
    released = 60
    # Gravity is along +z, away from the base: at rest the leaf's arm points along +z.
    return {"about": "the leaf of a hinge with 0.05 mm of radial play swings about its loose pin",
            "gravity": (0, 0, EARTH), "friction": 0.05, "seconds": 1.0,
            "bodies": [fixed("base", "hinge-base"), free("leaf", "hinge-leaf", rotation=(0, released - 90, 0)),
                       free("pin", "hinge-pin")],
            "observe": observe("period", ["leaf"], Y, [period(hinge_leaf(), math.radians(released))])}


def bearing_scene():
    angles = [2 * math.pi * (k + 0.5) / 8 for k in range(8)]
    balls = [free(f"ball{k}", "bearing-ball", (ORBIT * math.cos(t), ORBIT * math.sin(t), 0)) for k, t in enumerate(angles)]
    return {"about": "the inner ring of a ball bearing carries 2 N and is accelerated to 30 rad/s",
            "gravity": (0, 0, 0), "friction": 0.1, "seconds": 0.5,
            "bodies": [fixed("outer", "bearing-outer"), free("inner", "bearing-inner"), *balls],
            "loads": [{"body": "inner", "force": (0, -2, 0), "axis": Z, "spin": 30, "gain": 0.2}],
            "observe": observe("orbit", ["inner", *(b["name"] for b in balls)], Z, [(ORBIT - BALL) / (2 * ORBIT)])}


def gears_scene():
    a, b = TEETH
    return {"about": "a gear of 17 teeth drives one of 25 against a damper",
            "gravity": (0, 0, 0), "friction": 0.05, "seconds": 0.5,
            "bodies": [free("driver", "gear-17", revolute=Z),
                       free("driven", "gear-25", (MODULE * (a + b) / 2, 0, 0), revolute=Z)],
            "loads": [{"body": "driver", "axis": Z, "spin": 10, "gain": 2},
                      {"body": "driven", "axis": Z, "spin": 0, "gain": 0.2}],
            "observe": observe("ratio", ["driver", "driven"], Z, [-a / b])}


def chain_scene():
    pitch = 2 * (STRAIGHT + BEND - WIRE)
    # Links have their length along z, and their plane is that of y and z or that of x and z (a third of a
    # turn about a space diagonal).
    third = 120 / math.sqrt(3)
    turns = [(0, 90, 0), (-third, third, third)]
    names = [f"link{k}" for k in range(5)]
    links = [free(n, "chain-link", (0, 0, -(pitch - 0.1) * k), turns[k % 2]) for k, n in enumerate(names)]
    links[0] = {**fixed(names[0], "chain-link"), "rotation": turns[0]}
    return {"about": "a hanging chain of five links, pulled sideways for 0.1 s",
            "gravity": DOWN, "friction": 0.2, "seconds": 0.5, "bodies": links,
            "loads": [{"body": names[-1], "force": (0.05, 0.02, 0), "until": 0.1}],
            "observe": observe("span", names, Z, [pitch])}


def bolt_scene():
    return {"about": "an M6 bolt is accelerated in its nut to 10 rad/s",
            "gravity": DOWN, "friction": 0.1, "seconds": 0.5,
            "bodies": [fixed("nut", "nut"), free("bolt", "bolt")],
            "loads": [{"body": "bolt", "axis": Z, "spin": 10, "gain": 0.002}],
            "observe": observe("advance", ["bolt"], Z, [make_threads.PITCH])}


SCENES = {
    "pin": pin_scene, "square-peg": square_peg_scene, "box": box_scene, "table": table_scene, "bricks": bricks_scene,
    "roller": roller_scene, "cups": cups_scene, "drawer": drawer_scene, "plug": plug_scene, "hex": hex_scene,
    "ball-joint": ball_joint_scene, "hinge": hinge_scene, "bearing": bearing_scene, "gears": gears_scene,
    "chain": chain_scene, "bolt": bolt_scene,
}
PAIRS = {
    "rings": {"about": "two flat rings, coaxial and 0.05 mm apart", "a": "flat-ring", "b": "flat-ring",
              "position_b": (0, 0, 3.05), "reach": 0.1},
    "cross": {"about": "the cross of a universal joint in its four bores", "a": "cross-frame", "b": "cross",
              "position_b": (0, 0, 0), "reach": 0.1},
    "hub": {"about": "a shaft with twelve teeth in its hub", "a": "splined-hub", "b": "splined-shaft",
            "position_b": (0, 0, 0), "reach": 0.1},
}


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("folder", type=Path)
    args.add_argument("--only", nargs="+", choices=[*SCENES, *PAIRS], default=[*SCENES, *PAIRS])
    args = args.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    scenes = [{"name": n, **make()} for n, make in SCENES.items() if n in args.only]
    pairs = [{"name": n, **entry} for n, entry in PAIRS.items() if n in args.only]
    wanted = {b["part"] for s in scenes for b in s["bodies"]} | {p[side] for p in pairs for side in "ab"}
    # Settings of the writer are effective only after this initialisation.
    STEPControl_Controller.Init_s()
    make_models.WITHOUT_PCURVES.update(WITHOUT_PCURVES)
    for name in (n for n in PARTS if n in wanted):
        solids = PARTS[name]().Solids()
        assert len(solids) == 1 and solids[0].isValid(), f"{name}: {len(solids)} solids"
        path = args.folder / f"{name}.step"
        make_models.write(solids[0], path, "MM")
        print(f"{name:14} {len(solids[0].Faces()):4} faces  {solids[0].Volume():13.6f} mm3  {path.stat().st_size:7} bytes")
    rows = [",\n".join("  " + json.dumps(entry) for entry in entries) for entries in (scenes, pairs)]
    text = f'{{"mechanisms": [\n{rows[0]}\n], "pairs": [\n{rows[1]}\n]}}\n'
    (args.folder / "mechanisms.json").write_text(text)


if __name__ == "__main__":
    main()
