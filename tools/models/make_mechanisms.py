"""Mechanisms for `feeler mechanism`: an arm, parts without play, and the planetary stage of make_assemblies.py.

    pip install -r tools/models/requirements.txt
    python tools/models/make_mechanisms.py arm FOLDER      # FOLDER/arm.urdf, arm.toml, one STEP file for each link
    python tools/models/make_mechanisms.py fitted FOLDER   # hinge.toml, bayonet.toml: parts that fit without play
    python tools/models/make_mechanisms.py stage FOLDER    # FOLDER/stage.step, stage.toml: a whole turn of the carrier

Lengths are in millimetres, in the URDF file in metres. Links of the arm are in their own frames.
"""

import math
import sys
from pathlib import Path

import cadquery as cq

import make_assemblies as gears
from scenarios import without_date


def link(*solids):
    out = solids[0]
    for s in solids[1:]:
        out = out.union(s)
    return out


def along_y(radius, y0, y1, x=0, z=0):
    return cq.Workplane("XZ", origin=(x, y0, z)).circle(radius).extrude(-(y1 - y0))


def along_x(radius, x0, x1, y=0, z=0):
    return cq.Workplane("YZ", origin=(x0, y, z)).circle(radius).extrude(x1 - x0)


def arm_links():
    plate = cq.Workplane().box(260, 260, 15, centered=(True, True, False)).edges("|Z").fillet(30)
    base = link(plate, cq.Workplane("XY", origin=(0, 0, 15)).circle(85).extrude(95)).faces(">Z").edges().fillet(6)
    turret = link(cq.Workplane("XY", origin=(0, 0, 2)).circle(80).extrude(60), along_y(62, -60, 38, z=90))
    upper = link(along_y(60, 0, 60), along_y(48, 0, 60, z=320),
                 cq.Workplane("XY", origin=(0, 30, 160)).box(84, 52, 320).edges("|Z").fillet(14))
    fore = link(along_y(48, -64, -4), along_x(34, 20, 210, y=-34), along_y(40, -70, -2, x=20))
    roll = along_x(30, 2, 80).faces(">X").edges().fillet(4)
    pitch = link(along_y(26, -28, 28), along_x(22, 10, 58))
    tool = link(along_x(25, 2, 12), cq.Workplane("XY", origin=(50, 24, 0)).box(76, 8, 20),
                cq.Workplane("XY", origin=(50, -24, 0)).box(76, 8, 20),
                cq.Workplane("XY", origin=(14, 0, 0)).box(8, 56, 24))
    post = cq.Workplane().circle(40).extrude(300).faces(">Z").edges().fillet(15)
    return {"base": base, "post": post, "turret": turret, "upper": upper, "fore": fore, "roll": roll, "pitch": pitch, "tool": tool}


# Position (mm) of a post beside the base.
POST = (440, 310, 0)

# Name, parent, child, origin (mm), axis, limits (degrees).
ARM_JOINTS = [
    ("waist", "base", "turret", (0, 0, 110), (0, 0, 1), (-180, 180)),
    ("shoulder", "turret", "upper", (0, 40, 90), (0, 1, 0), (-100, 135)),
    ("elbow", "upper", "fore", (0, 0, 320), (0, 1, 0), (-160, 160)),
    ("wrist1", "fore", "roll", (210, -34, 0), (1, 0, 0), (-190, 190)),
    ("wrist2", "roll", "pitch", (108, 0, 0), (0, 1, 0), (-118, 118)),
    ("wrist3", "pitch", "tool", (58, 0, 0), (1, 0, 0), (-360, 360)),
]

# Upright, rotated by half a turn, bent forward and back; the arm passes a post on its way.
ARM_MOTION = {
    "waist": [0, 40, 90, 150, 150, 60, 0],
    "shoulder": [0, 30, 45, 20, -40, -20, 0],
    "elbow": [0, 10, 30, 10, -10, -20, 0],
    "wrist1": [0, 90, 120, 0, -90, -45, 0],
    "wrist2": [0, -60, 30, 80, 60, -20, 0],
    "wrist3": [0, 120, 240, 120, 0, -90, 0],
}


def arm(folder):
    links = arm_links()
    for name, solid in links.items():
        assert len(solid.vals()) == 1 and solid.val().isValid(), name
        file = folder / f"{name}.step"
        cq.exporters.export(solid, str(file))
        without_date(file)
    rows = ['<?xml version="1.0"?>', '<robot name="arm">']
    rows += [f'  <link name="{name}"/>' for name in links]
    for name, parent, child, origin, axis, (lower, upper) in ARM_JOINTS:
        metres = " ".join(f"{x / 1000:g}" for x in origin)
        rows += [f'  <joint name="{name}" type="revolute">',
                 f'    <parent link="{parent}"/><child link="{child}"/>',
                 f'    <origin xyz="{metres}" rpy="0 0 0"/><axis xyz="{" ".join(map(str, axis))}"/>',
                 f'    <limit lower="{math.radians(lower):.9f}" upper="{math.radians(upper):.9f}" effort="1" velocity="1"/>',
                 "  </joint>"]
    metres = " ".join(f"{x / 1000:g}" for x in POST)
    rows += ['  <joint name="floor" type="fixed">', '    <parent link="base"/><child link="post"/>',
             f'    <origin xyz="{metres}" rpy="0 0 0"/>', "  </joint>"]
    (folder / "arm.urdf").write_text("\n".join([*rows, "</robot>", ""]))
    rows = ["# A six-axis arm: feeler mechanism arm.toml --steps 1000", 'urdf = "arm.urdf"', "", "[links]"]
    rows += [f'{name} = "{name}.step"' for name in links]
    rows += ["", "[motion]", "times = [0, 1, 2, 3, 4, 5, 6]"]
    rows += [f"{name} = {values}" for name, values in ARM_MOTION.items()]
    (folder / "arm.toml").write_text("\n".join([*rows, ""]))


def stage(folder):
    gears.stage(0).export(str(folder / "stage.step"))
    centre = gears.MODULE * (gears.SUN + gears.PLANET) / 2
    n = gears.PLANETS
    rows = ["# A planetary stage, a whole turn of its carrier: feeler mechanism stage.toml", 'assembly = "stage.step"',
            "neighbours = true", "", "[links]", 'ring = "ring*"', 'sun = ["sun*", "shaft*"]',
            'carrier = ["carrier*", "pin*"]']
    # Spacers and washers are in flat contact with planets and plates, and are omitted. Equal parts share
    # a product and are distinguished by their numbers.
    rows += [f'planet{k} = "planet0:{k + 1}"' for k in range(n)]
    ratio = (gears.SUN + gears.RING) / gears.SUN
    rows += ["", "[[joint]]", 'link = "carrier"', "revolute = [0, 0, 1]",
             "", "[[joint]]", 'link = "sun"', "revolute = [0, 0, 1]", 'mimic = "carrier"', f"ratio = {ratio!r}"]
    for k in range(n):
        x, y = (centre * f(2 * math.pi * k / n) for f in (math.cos, math.sin))
        # Relative to the carrier the sun rotates by ratio - 1, and the planet in the opposite direction.
        own = -(ratio - 1) * gears.SUN / gears.PLANET
        rows += ["", "[[joint]]", f'link = "planet{k}"', 'parent = "carrier"', "revolute = [0, 0, 1]",
                 f"point = [{x!r}, {y!r}, 0]", 'mimic = "carrier"', f"ratio = {own!r}"]
    rows += ["", "[motion]", f"times = {[float(i) for i in range(9)]}", f"carrier = {[45.0 * i for i in range(9)]}", ""]
    (folder / "stage.toml").write_text("\n".join(rows))


def upright(radius, z0, z1):
    return cq.Workplane("XY", origin=(0, 0, z0)).circle(radius).extrude(z1 - z0)


def hinge_parts():
    """Base with two lugs, leaf between them, and a pin with two heads, all flush with each other."""

    def eye(z0, z1, side):
        arm = cq.Workplane("XY", origin=(side * 15, 0, (z0 + z1) / 2)).box(30, 6, z1 - z0)
        return upright(8, z0, z1).union(arm).cut(upright(4, z0, z1))

    plate = cq.Workplane("XY", origin=(-32, 0, 15)).box(6, 30, 30)
    return {
        "hinge-base": eye(0, 10, -1).union(eye(20, 30, -1)).union(plate),
        "hinge-leaf": eye(10, 20, 1),
        "hinge-pin": upright(4, 0, 30).union(upright(7, -3, 0)).union(upright(7, 30, 33)),
    }


def bayonet_parts():
    """Plug with two lugs, and a socket with two slots along the axis that end in a groove of the lugs' height."""
    plug = upright(10, 0, 40)
    socket = upright(20, -30, 0).cut(upright(10, -30, 0))
    for side in (1, -1):
        plug = plug.union(cq.Workplane("XY", origin=(side * 11, 0, 2)).box(4, 4, 4))
        slot = cq.Workplane("XY", origin=(side * 10, 0, -10)).box(8, 4, 20)
        socket = socket.cut(slot.intersect(upright(12.5, -30, 0)))
    groove = upright(12.5, -20, -16).cut(upright(9, -20, -16))
    return {"bayonet-plug": plug.intersect(upright(12.5, 0, 40)), "bayonet-socket": socket.cut(groove)}


HINGE = """\
# A hinge without play: feeler mechanism hinge.toml
neighbours = true
allow_touching = true

[links]
base = "hinge-base.step"
leaf = "hinge-leaf.step"
pin = "hinge-pin.step"

[[joint]]
link = "leaf"
revolute = [0, 0, 1]

[[joint]]
link = "pin"
revolute = [0, 0, 1]
mimic = "leaf"
ratio = 0.4

[motion]
times = [0, 1]
leaf = [-60, 60]
"""

BAYONET = """\
# A bayonet without play, pushed in and turned: feeler mechanism bayonet.toml
neighbours = true
allow_touching = true

[links]
socket = "bayonet-socket.step"
plug = "bayonet-plug.step"
carriage = []

[[joint]]
link = "carriage"
prismatic = [0, 0, 1]

[[joint]]
link = "plug"
parent = "carriage"
revolute = [0, 0, 1]

[motion]
times = [0, 1, 2]
carriage = [10, -20, -20]
plug = [0, 0, 60]
"""


def fitted(folder):
    for name, solid in (hinge_parts() | bayonet_parts()).items():
        assert len(solid.vals()) == 1 and solid.val().isValid(), name
        file = folder / f"{name}.step"
        cq.exporters.export(solid, str(file))
        without_date(file)
    (folder / "hinge.toml").write_text(HINGE)
    (folder / "bayonet.toml").write_text(BAYONET)


def main():
    kind, folder = sys.argv[1:]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    {"arm": arm, "fitted": fitted, "stage": stage}[kind](folder)


if __name__ == "__main__":
    main()
