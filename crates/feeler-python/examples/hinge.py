"""Simulates a hinge with play in MuJoCo: from STEP files to a page that plays the motion (docs/MECHANISMS.md).

    python hinge.py FOLDER [--step S] [--cone CONE] [--solref S] [--friction MU] [--seconds S] [--page FILE]
"""

import argparse
import pathlib

import mujoco
import numpy as np

import feeler
import feeler.mujoco as exact

RELEASED, STEEL, GRAVITY = np.radians(60), 7850, 9.81
# Number of frames of the page per second. More make the page smoother and larger.
FRAMES = 50


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="folder of hinge-base, -leaf and -pin.step")
    parser.add_argument("--step", type=float, default=5e-4, help="time step (s)")
    parser.add_argument("--cone", default="elliptic", choices=["elliptic", "pyramidal"])
    parser.add_argument("--solref", type=float, help="time constant of contacts (s); default: two steps")
    parser.add_argument("--friction", type=float, default=0.0)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--page", type=pathlib.Path, help="output page (.html); a .toml file is written beside it")
    return parser.parse_args()


def hinge(bodies, args):
    """Model of the base upside down, the leaf at 60 degrees from its rest position, and a loose pin. The axis is y."""
    solref = 2 * args.step if args.solref is None else args.solref
    # MuJoCo replaces time constants below two steps by two steps, unless refsafe is disabled.
    safe = "enable" if solref >= 2 * args.step else "disable"
    contact = f'solref="{solref} 1" solimp="0.99 0.99 0.001" condim="3" friction="{args.friction} 0 0"'
    half = 0.5 * (np.pi / 2 - RELEASED)
    turn = (np.cos(half), 0, np.sin(half), 0)
    return mujoco.MjModel.from_xml_string(f"""<mujoco>
      <option timestep="{args.step}" gravity="0 0 {-GRAVITY}" cone="{args.cone}">
        <flag energy="enable" refsafe="{safe}"/>
      </option>
      <asset>{"".join(exact.mesh_asset(name, body) for name, body in bodies.items())}</asset>
      <worldbody>
        <geom name="base" type="sdf" mesh="base" quat="0 0 1 0" {contact}/>
        {exact.body_element("leaf", bodies["leaf"], STEEL, quat=turn, geom=contact)}
        {exact.body_element("pin", bodies["pin"], STEEL, geom=contact)}
      </worldbody></mujoco>""")


def ideal(leaf):
    """Energy (J) of the swing of a leaf about a fixed axis without friction, and its period (s)."""
    mass, arm = 1e-9 * STEEL * leaf.volume, 1e-3 * np.hypot(leaf.centroid[0], leaf.centroid[2])
    inertia = 1e-15 * STEEL * leaf.inertia[1, 1] + mass * arm**2
    # The period of a pendulum by the arithmetic-geometric mean.
    a, b = 1.0, np.cos(RELEASED / 2)
    for _ in range(6):
        a, b = 0.5 * (a + b), np.sqrt(a * b)
    weight = mass * GRAVITY * arm
    return weight * (1 - np.cos(RELEASED)), 2 * np.pi * np.sqrt(inertia / weight) / a


def swing(angles, step):
    """Period (s) and last amplitude (degrees) from the angles of all steps; None with less than two zero crossings."""
    at = np.flatnonzero((angles[1:] > 0) != (angles[:-1] > 0))
    if len(at) < 2:
        return None
    passages = step * (at + angles[at] / (angles[at] - angles[at + 1]))
    return 2 * np.diff(passages).mean(), np.degrees(np.abs(angles[at[-2] : at[-1] + 1]).max())


def motion_file(files, times, poses):
    """File for `feeler mechanism`: each part moves by three prismatic joints, then by revolute joints about y, x and z."""
    links, joints, values = ["[links]"], [], ["[motion]", f"times = {[round(t, 6) for t in times]}"]
    for name, file in files.items():
        matrices = np.array(poses[name])
        # R = R_y R_x R_z: the hinge rotates about y; the other angles are small.
        angles = [
            np.unwrap(np.arctan2(matrices[:, 0, 2], matrices[:, 2, 2])),
            np.arcsin(np.clip(-matrices[:, 1, 2], -1, 1)),
            np.unwrap(np.arctan2(matrices[:, 1, 0], matrices[:, 1, 1])),
        ]
        rows = [*matrices[:, :3, 3].T, *np.degrees(angles)]
        for k, (kind, axis) in enumerate(zip(["prismatic"] * 3 + ["revolute"] * 3, "xyzyxz")):
            # Links between two joints have no solids.
            link, before = (name if n == 5 else f"{name}-{n}" for n in (k, k - 1))
            links.append(f'{link} = "{file.resolve().as_posix()}"' if k == 5 else f"{link} = []")
            joints.append(f'[[joint]]\nname = "{name}-{kind}-{axis}"\nlink = "{link}"')
            joints.append(f'parent = "{before}"' if k else "")
            joints.append(f"{kind} = {[int(axis == other) for other in 'xyz']}")
            values.append(f"{name}-{kind}-{axis} = {[round(float(x), 7) for x in rows[k]]}")
    return "\n".join([*links, *joints, *values, ""])


def main():
    args = options()
    files = {name: args.folder / f"hinge-{name}.step" for name in ("base", "leaf", "pin")}
    bodies = {name: feeler.prepare_step(file).body() for name, file in files.items()}
    model = hinge(bodies, args)
    exact.install(model, bodies)
    try:
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        start, angles, energies, depths, most, deepest = data.energy.sum(), [], [], [], 0, ""
        times, poses, every = [], {name: [] for name in bodies}, max(1, round(1 / (FRAMES * args.step)))
        for k in range(round(args.seconds / args.step)):
            if k % every == 0:
                mujoco.mj_kinematics(model, data)
                times.append(data.time)
                for name in bodies:
                    poses[name].append(exact.pose(model, data, name))
            # `qpos` of a free body is its centre of mass; the angle of the leaf at rest is 0.
            x, _, z = data.joint(model.body("leaf").jntadr[0]).qpos[:3]
            angles.append(np.arctan2(x, -z))
            mujoco.mj_step(model, data)
            if data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number:
                print(f"unstable at {k * args.step:.4f} s")
                break
            energies.append(data.energy.sum())
            most = max(most, data.ncon)
            depths.append(max(0.0, -1e6 * data.contact.dist.min()) if data.ncon else 0.0)
            if depths[-1] > max(depths[:-1], default=0.0):
                pair = data.contact.geom[data.contact.dist.argmin()]
                deepest = f" at {data.time:.4f} s, {model.geom(pair[0]).name} and {model.geom(pair[1]).name}"
        counts = exact.counts(model)
    finally:
        exact.uninstall(model)
    energy, period = ideal(bodies["leaf"])
    seen, change = swing(np.array(angles), args.step), (np.array(energies) - start) / energy
    print(f"contacts  at most {most} in a step")
    print(f"period    {seen[0]:.4f} s, {period:.4f} s without play and friction" if seen else "no swing")
    if seen:
        print(f"swing     from {np.degrees(RELEASED):.0f} to {seen[1]:.1f} degrees")
    rise = 100 * max(change.max(), 0)
    print(f"energy    {100 * change[-1]:+.1f} % of that of the swing; largest rise {rise:.2f} %")
    print(f"deepest   {max(depths):.2f} um{deepest}; in 95 % of the steps {np.percentile(depths, 95):.2f} um")
    print("counts    " + ", ".join(f"{name} {value}" for name, value in counts._asdict().items()))
    if args.page:
        motion = args.page.with_suffix(".toml")
        motion.write_text(motion_file(files, times, poses))
        write = ["mechanism", motion, "--no-proof", "--steps", len(times), "--d-max", 0.5]
        # The exit status is 1 if parts overlap at a step.
        status, _, messages = feeler.run([*map(str, write), "--html", str(args.page)])
        if status > 1:
            raise SystemExit(messages)
        print(f"page      {args.page}")


main()
