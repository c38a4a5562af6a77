"""Mechanisms with little play in MuJoCo with exact contacts: the scenes of the program `mechanism_steps`.

    python tools/models/make_contact_mechanisms.py FOLDER
    python benches/mujoco_mechanisms.py FOLDER [--only NAME...] [--seconds S] [--limit S] [--looks N] [--own]
        [--step S] [--cone CONE] [--solref S] [--reach MM]

Needs the wheel and MuJoCo (docs/ENGINES.md). The columns are those of `mechanism_steps`; *failed* counts calls
without contacts. --own adds a row with MuJoCo's contacts of the display meshes as signed distance fields.

Frames of free bodies are at their centres of mass: MuJoCo integrates the motion of the frame's origin, with an error of
half of r (omega dt)^2 a step if it is at a distance r. Bodies on a revolute joint through their centre of mass get the
weight in constraints (`body_invweight0`) that MuJoCo rounds to 0.

The exit status is 1 if contacts were lost.
"""

import argparse
import json
import pathlib
import re
import sys
import time

import mujoco
import numpy as np

import feeler
import feeler.mujoco as exact

MAX_SECONDS = 2.0
# Depth (mm) of the first search for the penetration of the true solids.
FIRST_DEPTH = 0.05
# Depth (mm) up to which a penetration is reported without computing a separating translation, which takes seconds for
# threads.
MAX_UNVERIFIED_DEPTH = 1e-3
# Radius of gyration as a fraction of a body's size, for the rotation of a pulled body.
GYRATION = 0.3


def numbers(values):
    return " ".join(repr(float(x)) for x in values)


def quaternion(vector):
    """Quaternion w, x, y, z of a rotation vector (rad)."""
    half = 0.5 * np.linalg.norm(vector)
    return np.array([np.cos(half), *(0.5 * np.sinc(half / np.pi) * np.asarray(vector))])


def matrix(q):
    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, q)
    return out.reshape(3, 3)


class Scene:
    """A scene in MuJoCo, and the poses of its parts."""

    def __init__(self, entry, parts, source, args):
        self.entry, self.parts, self.source = entry, [parts[b["part"]] for b in entry["bodies"]], source
        self.step = args.step
        solref = 2 * args.step if args.solref is None else args.solref
        stiff = f'solref="{solref} 1" solimp="0.99 0.99 0.001"'
        kinds = {b["part"] for b in entry["bodies"]}
        friction = f'friction="{entry["friction"]} 0 0" condim="3"'
        bodies = []
        # Origins of the parts in the frames of the bodies (mm).
        self.origins = []
        for b, part in zip(entry["bodies"], self.parts):
            q = quaternion(np.radians(b.get("rotation", (0, 0, 0))))
            place, inertial, joint = np.array(b.get("position", (0, 0, 0)), dtype=float), "", ""
            origin = np.zeros(3)
            if not b.get("fixed"):
                inertial = exact.inertial(part, b["density"])
                if "revolute" in b:
                    joint = f'<joint type="hinge" axis="{numbers(matrix(q).T @ b["revolute"])}"/>'
                else:
                    joint, origin = "<freejoint/>", -part.centroid
                    place = place - matrix(q) @ origin
                    inertial = re.sub(r'pos="[^"]*"', 'pos="0 0 0"', inertial)
            self.origins.append(origin)
            named, at = f'name="{b["name"]}"', f'pos="{numbers(origin * 1e-3)}"'
            bodies.append(
                f'<body {named} pos="{numbers(place * 1e-3)}" quat="{numbers(q)}">{joint}{inertial}'
                f'<geom {named} type="sdf" mesh="{b["part"]}" {at} {stiff} {friction}/></body>'
            )
        gravity = numbers(np.array(entry["gravity"]) * 1e-3)
        self.model = mujoco.MjModel.from_xml_string(f"""<mujoco>
          <option timestep="{args.step}" gravity="{gravity}" cone="{args.cone}"><flag energy="enable"/></option>
          <size memory="200M"/><asset>{"".join(exact.mesh_asset(k, parts[k]) for k in sorted(kinds))}</asset>
          <worldbody>{"".join(bodies)}</worldbody></mujoco>""")
        for k, b in enumerate(entry["bodies"]):
            if "revolute" in b:
                turned = self.model.body_invweight0[k + 1, 1]
                gyration = self.model.body_inertia[k + 1].mean() / self.model.body_mass[k + 1]
                self.model.body_invweight0[k + 1, 0] = turned * gyration
        if source == "exact":
            geoms = {b["name"]: part for b, part in zip(entry["bodies"], self.parts)}
            exact.install(self.model, geoms, reach=args.reach or None)
        self.data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)
        # MuJoCo includes the potential energy of fixed bodies.
        fixed = [k + 1 for k, b in enumerate(entry["bodies"]) if b.get("fixed")]
        self.ground = -sum(self.model.body_mass[k] * self.model.opt.gravity @ self.data.xipos[k] for k in fixed)

    def energy(self):
        """Kinetic and potential energy (J) of the bodies that move, at the start of the last step."""
        return self.data.energy.sum() - self.ground

    def states(self):
        """State of each body: position of the origin (mm), rotation, centre of mass (mm) and its velocity, spin
        (rad/s)."""
        out, six = [], np.zeros(6)
        for k, origin in enumerate(self.origins):
            turn = self.data.xmat[k + 1].reshape(3, 3).copy()
            place = self.data.xpos[k + 1] * 1e3 + turn @ origin
            mujoco.mj_objectVelocity(self.model, self.data, mujoco.mjtObj.mjOBJ_BODY, k + 1, six, 0)
            center = self.data.xipos[k + 1] * 1e3
            velocity = six[3:] * 1e3 + np.cross(six[:3], center - self.data.xpos[k + 1] * 1e3)
            out.append((place, turn, center, velocity, six[:3].copy()))
        return out

    def push(self, states, now):
        """Applies the loads and pulls of the next step (N, N m), as in src/contact_mechanisms.rs."""
        names = [b["name"] for b in self.entry["bodies"]]
        self.data.xfrc_applied[:] = 0
        for load in self.entry.get("loads", []):
            if not load.get("from", 0) <= now < load.get("until", np.inf):
                continue
            k = names.index(load["body"])
            scale = np.sin(2 * np.pi * load["frequency"] * now) if "frequency" in load else 1
            axis = np.array(load.get("axis", (0, 0, 0)), dtype=float)
            torque = scale * np.array(load.get("torque", (0, 0, 0)), dtype=float)
            torque = torque + axis * load.get("gain", 0) * (load.get("spin", 0) - states[k][4] @ axis)
            self.data.xfrc_applied[k + 1, :3] += scale * np.array(load.get("force", (0, 0, 0)))
            self.data.xfrc_applied[k + 1, 3:] += 1e-3 * torque
        for pull in self.entry.get("pulls", []):
            k = names.index(pull["body"])
            _, turn, center, velocity, spin = states[k]
            rows = np.array(pull["positions"], dtype=float).T
            at, before = (np.array([np.interp(t, pull["times"], row) for row in rows]) for t in (now, now - self.step))
            start = matrix(quaternion(np.radians(self.entry["bodies"][k].get("rotation", (0, 0, 0)))))
            target = at + start @ self.parts[k].centroid
            mass, response = self.model.body_mass[k + 1], pull["response"]
            missing, q = np.zeros(3), np.zeros(4)
            mujoco.mju_mat2Quat(q, (start @ turn.T).ravel())
            mujoco.mju_quat2Vel(missing, q, 1.0)
            push = mass / response**2 * (target - center) + 2 * mass / response * ((at - before) / self.step - velocity)
            inertia = (GYRATION * self.parts[k].size * 1e-3) ** 2
            self.data.xfrc_applied[k + 1, :3] += 1e-3 * push
            self.data.xfrc_applied[k + 1, 3:] += (mass / response**2 * missing - 2 * mass / response * spin) * inertia


class Depths:
    """Penetration of the true solids, from separate queries."""

    def __init__(self, scene):
        bodies = scene.entry["bodies"]
        self.pairs = [
            (i, j, feeler.ContactPair(scene.parts[i], scene.parts[j]))
            for j in range(len(bodies))
            for i in range(j)
            if not (bodies[i].get("fixed") and bodies[j].get("fixed"))
        ]
        self.scene, self.deepest, self.where = scene, 0.0, ""

    def measure(self, states, step):
        for i, j, pair in self.pairs:
            a, b = (self.scene.parts[k] for k in (i, j))
            poses = [np.eye(4), np.eye(4)]
            for pose, k in zip(poses, (i, j)):
                left, _, right = np.linalg.svd(states[k][1])
                pose[:3, :3], pose[:3, 3] = left @ right, states[k][0]
            middle = [p[:3, :3] @ body.bounds.mean(0) + p[:3, 3] for p, body in zip(poses, (a, b))]
            if np.linalg.norm(middle[0] - middle[1]) > 0.5 * (a.size + b.size):
                continue
            thick, found = 0.45 * (a.min_thickness + b.min_thickness), 0.0
            for penetration in (min(FIRST_DEPTH, thick), min(1e3, thick)):
                minima = pair.query(*poses, d_max=0, penetration=penetration)
                found = minima["distance"].min(initial=0.0)
                if pair.status != "interfering" or found < 0:
                    break
            if found < self.deepest:
                # Edges that cross on faces in contact give a large depth; the translation that separates the solids is
                # shorter.
                if found < -MAX_UNVERIFIED_DEPTH:
                    translation = pair.separating_translation(*poses)
                    found = max(found, 0.0 if translation is None else -np.linalg.norm(translation))
                if found < self.deepest:
                    names = [self.scene.entry["bodies"][k]["name"] for k in (i, j)]
                    self.deepest, self.where = found, f" [{names[0]}-{names[1]} step {step}]"


def twist(motion, body, axis):
    """Rotation (rad) of a body about an axis since the start, unwrapped."""
    out = [0.0]
    for before, after in zip(motion, motion[1:]):
        q = np.zeros(4)
        mujoco.mju_mat2Quat(q, (after[body][1] @ before[body][1].T).ravel())
        turn = 2 * np.arctan2(q[1:] @ axis, q[0])
        out.append(out[-1] + (turn + np.pi) % (2 * np.pi) - np.pi)
    return np.array(out)


def measured_quantity(entry, motion, step):
    """Measured quantity of the scene and its expected value, as text."""
    wanted = entry["observe"]
    names = [b["name"] for b in entry["bodies"]]
    bodies, axis = [names.index(n) for n in wanted["bodies"]], np.array(wanted["axis"], dtype=float)
    first, last, body, expected = motion[0], motion[-1], bodies[0], wanted["expected"][0]
    tail = motion[len(motion) * 4 // 5 :]
    aside = f"(expected {expected:.4f})"
    match wanted["kind"]:
        case "coordinate":
            off = [last[b][0] @ axis - e for b, e in zip(bodies, wanted["expected"])]
            k = int(np.abs(off).argmax())
            return f"{names[bodies[k]]} rests at {wanted['expected'][k]:.3f} mm {1e3 * off[k]:+.2f} um"
        case "travel":
            return f"travel {(last[body][2] - first[body][2]) @ axis:.4f} mm {aside}"
        case "advance":
            turns, middle = twist(motion, body, axis) / (2 * np.pi), len(motion) // 2
            advance = (last[body][0] - motion[middle][body][0]) @ axis / (turns[-1] - turns[middle])
            return f"advance {advance:.4f} mm/turn {aside}, {360 * turns[-1]:.1f} degrees"
        case "offset":
            return f"offset {max(np.linalg.norm(s[body][0] - first[body][0]) for s in motion):.4f} mm {aside}"
        case "span":
            apart = [np.linalg.norm(last[i][0] - last[j][0]) for i, j in zip(bodies, bodies[1:])]
            return f"span {max(apart):.4f} mm {aside}"
        case "turn":
            return f"largest rotation {np.degrees(np.abs(twist(motion, body, axis)).max()):.4f} degrees {aside}"
        case "period":
            down = np.array(entry["gravity"]) / np.linalg.norm(entry["gravity"])
            arms = np.array([s[body][2] for s in motion]) - entry["bodies"][body].get("position", (0, 0, 0))
            angles = np.arctan2(arms @ np.cross(axis, down), arms @ down)
            k = np.flatnonzero((angles[1:] > 0) != (angles[:-1] > 0))
            if len(k) < 2:
                return "no swing"
            passages = step * (k + angles[k] / (angles[k] - angles[k + 1]))
            swings = [np.degrees(np.abs(part).max()) for part in (angles[: k[0] + 1], angles[k[-2] : k[-1] + 1])]
            period = 2 * np.diff(passages).mean()
            return f"period {period:.4f} s {aside}, swing {swings[0]:.0f} to {swings[1]:.0f} degrees"
        case "ratio":
            spins = [sum(s[b][4] @ axis for s in tail) for b in bodies[:2]]
            return f"ratio of spins {spins[1] / spins[0]:.4f} {aside}"
        case "orbit":
            def rate(state):
                arm = state[2] - axis * (state[2] @ axis)
                return np.cross(arm, state[3]) @ axis / (arm @ arm)

            spin = np.mean([s[body][4] @ axis for s in tail])
            orbit = np.mean([rate(s[b]) for s in tail for b in bodies[1:]]) / spin
            off = 1e3 * np.linalg.norm(last[body][0] - first[body][0])
            return f"orbit / spin {orbit:.4f} {aside}, spin {spin:.2f} rad/s, ring off {off:.1f} um"


def simulate(entry, parts, source, args):
    """Simulates a scene; returns its row and the number of lost contacts."""
    scene = Scene(entry, parts, source, args)
    try:
        depths, motion, times, contacts, start = Depths(scene), [scene.states()], [], 0, time.thread_time()
        begin = max_energy = scene.energy()
        steps = round(min(entry["seconds"], args.seconds) / args.step)
        for k in range(steps):
            scene.push(motion[-1], args.step * (k + 1))
            # Processor time of this thread does not depend on other load of the machine.
            clock = time.thread_time()
            mujoco.mj_step(scene.model, scene.data)
            times.append(1e3 * (time.thread_time() - clock))
            contacts = max(contacts, scene.data.ncon)
            # MuJoCo does not update the frames after the integration, so update them here.
            mujoco.mj_kinematics(scene.model, scene.data)
            mujoco.mj_comPos(scene.model, scene.data)
            mujoco.mj_comVel(scene.model, scene.data)
            motion.append(scene.states())
            max_energy = max(max_energy, scene.energy())
            is_unstable = scene.data.warning[mujoco.mjtWarning.mjWARN_BADQACC].number > 0
            if args.looks and (k % args.looks == 0 or k + 1 == steps or is_unstable):
                depths.measure(motion[-1], k)
            if time.thread_time() - start > args.limit or is_unstable:
                break
        counts = exact.counts(scene.model) if source == "exact" else (0, 0)
    finally:
        if source == "exact":
            exact.uninstall(scene.model)
    free = [k for k, b in enumerate(entry["bodies"]) if not b.get("fixed")]
    weight = sum(scene.model.body_mass[k + 1] for k in free) * 9.81
    scale = weight * max(scene.parts[k].size for k in free) * 1e-3
    high, worst = np.percentile(times, 95), int(np.argmax(times))
    end = scene.energy()
    return (
        f"{len(times):5}  {contacts:8}  {np.mean(times):7.3f}  {high:7.3f}  {times[worst]:7.2f}  {worst:6}  "
        f"{abs(1e3 * depths.deepest):10.2f}  {counts[1]:5} {counts[0]:7}  {1e3 * begin:16.4f} {1e3 * end:10.4f}  "
        f"{(max_energy - begin) / scale:9.1e}  {measured_quantity(entry, motion, args.step)}{depths.where}"
    ), counts[1]


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("folder", type=pathlib.Path)
    args.add_argument("--only", nargs="+")
    args.add_argument("--seconds", type=float, default=MAX_SECONDS)
    args.add_argument("--limit", type=float, default=60.0, help="processor time of a run (s)")
    args.add_argument("--looks", type=int, default=20, help="steps between two queries of the true solids")
    args.add_argument("--own", action="store_true")
    args.add_argument("--step", type=float, default=1e-3, help="time step (s)")
    args.add_argument("--cone", default="elliptic", choices=["elliptic", "pyramidal"])
    args.add_argument("--solref", type=float, help="time constant of contacts (s); default: two steps")
    args.add_argument("--reach", type=float, default=0.5, help="reach of `install` (mm); 0: its default")
    args = args.parse_args()
    entries = json.loads((args.folder / "mechanisms.json").read_text())["mechanisms"]
    print(
        "mechanism   contacts  steps  contacts  ms mean     95 %    worst  (step)  deepest um   lost  failed  "
        "energy mJ: start        end   increase  observed"
    )
    is_right = True
    for entry in (e for e in entries if not args.only or e["name"] in args.only):
        parts = {p: feeler.prepare_step(args.folder / f"{p}.step").body() for p in {b["part"] for b in entry["bodies"]}}
        for source in ["exact", "sdf"] if args.own else ["exact"]:
            try:
                row, lost = simulate(entry, parts, source, args)
            except (exact.MujocoError, ValueError) as e:
                row, lost = str(e), 1
            print(f"{entry['name']:10}  {source:8}  {row}", flush=True)
            is_right &= lost == 0
    sys.exit(0 if is_right else 1)


main()
