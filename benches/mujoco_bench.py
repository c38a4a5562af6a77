"""What the campaigns in MuJoCo share: scenes, what stands for the solids, targets, and a judge of depths.

MuJoCo takes a plain mesh as its convex hull, which fills every hole: beside exact contacts stand its own of the
mesh as a signed distance field, and those of convex pieces that CoACD makes of the mesh.
"""

import dataclasses
import hashlib
import json
import pathlib
import time

import mujoco
import numpy as np

import feeler
import feeler.mujoco as exact

ROOT = pathlib.Path(__file__).resolve().parents[1]
STIFF = 'solref="0.002 1" solimp="0.99 0.99 0.001"'
# kg/m3
STEEL = 7850
STEP = 0.001
# Depth (mm) down to which solids in one another are looked at first.
SHALLOW = 0.05
# Of a pose of a scenario (s); within which a plug follows its target (s): as in src/drive.rs.
POSE_TIME, RESPONSE = 1 / 60, 0.02
SOURCES = ("exact", "sdf", "coacd")
# Chord error of the mesh of a signed distance field, as a part of the clearance; CoACD, whose pieces are coarser
# by far, takes minutes of one as large as the clearance.
FINE = 0.25


@dataclasses.dataclass
class Scene:
    """A fixed part and one that goes along poses (rows of x, y, z, qx, qy, qz, qw; mm)."""

    name: str
    a: feeler.Body
    b: feeler.Body
    clearance: float
    poses: np.ndarray
    # First pose in which the plug is in its place, and the first one after.
    place: tuple[int, int]

    @property
    def in_place(self):
        return self.poses[(self.place[0] + self.place[1]) // 2]


def scenes(files):
    """The pin of 19.9 mm and its blind bore of 20 mm, then the scenarios of files."""
    a, b = (feeler.prepare(ROOT / "data" / f"{n}.step").body() for n in ("blind-bore", "pin"))
    # Straight in and out, in the phases of the scenarios, speeding up and slowing down.
    part = np.interp(np.arange(300), [0, 149, 239, 299], [0, 1, 1, 0])
    poses = np.zeros((300, 7))
    poses[:, 2], poses[:, 6] = 80 + (20.01 - 80) * (1 - np.cos(np.pi * part)) / 2, 1
    yield Scene("peg", a, b, 0.05, poses, (150, 240))
    for file in files:
        text = json.loads(file.read_text())
        a, b = (feeler.prepare(file.parent / text[k]).body() for k in "ab")
        phase = next(p for p in text["phases"] if "place" in p[0])
        poses = np.array(text["poses_b"], dtype=float)
        yield Scene(file.stem, a, b, text["clearance"], poses, (phase[1], phase[2]))


class Shapes:
    """What stands for the solids of a scene in MuJoCo."""

    def __init__(self, scene, source, threshold=0.05):
        """source: one of SOURCES. threshold: concavity that CoACD leaves."""
        self.scene, self.source, self.seconds = scene, source, 0.0
        self.pieces = {n: self._pieces(n, getattr(scene, n), threshold) for n in "ab"}

    def _pieces(self, name, body, threshold):
        if self.source == "exact":
            # MuJoCo only draws it.
            return [exact.mesh_asset(name, body)]
        if self.source == "sdf":
            return [exact.mesh_asset(name, body, FINE * self.scene.clearance)]
        hulls, seconds = convex_pieces(body, self.scene.clearance, threshold)
        self.seconds += seconds
        numbers = (" ".join(f"{x:.9g}" for x in (points * 1e-3).ravel()) for points in hulls)
        return [f'<mesh name="{name}{k}" vertex="{n}"/>' for k, n in enumerate(numbers)]

    def told(self):
        """How many convex pieces there are, and how deep they are in one another where the solids are not."""
        model = self.model(self.scene.in_place)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        deep = -1e3 * data.contact.dist.min(initial=0.0)
        return (
            f"{len(self.pieces['a'])} and {len(self.pieces['b'])} convex pieces, made in {self.seconds:.0f} s; in place "
            f"they are {deep:.3f} mm deep in one another"
        )

    def model(self, pose, friction=0.0, gravity=(0, 0, 0), margin=0.0):
        """A is fixed, B starts at a pose and is free, with mass and inertia of the exact solid. MuJoCo pushes from a
        gap of `margin` (m) on."""
        kind = "mesh" if self.source == "coacd" else "sdf"
        slides = f'friction="{friction} 0 0" condim="{3 if friction > 0 else 1}" margin="{margin!r}"'
        names = {n: [f"{n}{k}" if kind == "mesh" else n for k in range(len(p))] for n, p in self.pieces.items()}
        geoms = {
            n: "".join(f'<geom name="{g}" type="{kind}" mesh="{g}" {STIFF} {slides}/>' for g in names[n])
            for n in names
        }
        place = " ".join(repr(float(x)) for x in np.asarray(pose[:3]) * 1e-3)
        x, y, z, w = (repr(float(q)) for q in pose[3:])
        g = " ".join(repr(float(v)) for v in gravity)
        # Cones of friction as they are, not as pyramids.
        model = mujoco.MjModel.from_xml_string(f"""<mujoco>
          <option timestep="{STEP}" gravity="{g}" cone="elliptic"><flag energy="enable"/></option>
          <asset>{"".join(self.pieces["a"] + self.pieces["b"])}</asset>
          <worldbody>{geoms["a"]}<body pos="{place}" quat="{w} {x} {y} {z}"><freejoint/>
          {exact.inertial(self.scene.b, STEEL)}{geoms["b"]}</body></worldbody></mujoco>""")
        if self.source == "exact":
            exact.install(model, {"a": self.scene.a, "b": self.scene.b})
        return model

    def release(self, model):
        if self.source == "exact":
            exact.uninstall(model)


def convex_pieces(body, chord, threshold):
    """Points of the pieces that CoACD makes of a display mesh, and the time that took (s). It takes minutes: they
    are kept in target/coacd."""
    import coacd

    coacd.set_log_level("error")
    mesh = body.mesh(chord)
    used, corners = np.unique(np.asarray(mesh.welded)[np.asarray(mesh.triangles)], return_inverse=True)
    points, corners = np.asarray(mesh.points)[used], corners.reshape(-1, 3)
    key = hashlib.sha256(points.tobytes() + corners.tobytes()).hexdigest()[:16]
    kept = ROOT / "target" / "coacd" / f"{body.name}-{key}-{threshold}.npz"
    if not kept.is_file():
        start = time.perf_counter()
        parts = coacd.run_coacd(coacd.Mesh(points, corners), threshold=threshold, seed=1)
        seconds = time.perf_counter() - start
        kept.parent.mkdir(parents=True, exist_ok=True)
        np.savez(kept, seconds=seconds, **{f"{k:04}": np.asarray(v) for k, (v, _) in enumerate(parts)})
    with np.load(kept) as read:
        return [read[k] for k in sorted(read.files) if k != "seconds"], float(read["seconds"])


class Run:
    """Steps of a model, timed and judged."""

    # Whether what a call costs beside its query is timed, too.
    asks_again = False

    def __init__(self, scene, source, model, looks):
        """looks: steps from one look at the true solids to the next; and wherever the engine's contacts are deeper than
        all that were seen."""
        self.scene, self.source, self.model, self.looks = scene, source, model, looks
        self.data = mujoco.MjData(model)
        mujoco.mj_forward(model, self.data)
        self.judge = feeler.ContactPair(scene.a, scene.b)
        self.times, self.overheads = [], []
        self.contacts, self.deepest, self.lost, self.steps = 0, 0.0, 0, 0

    def step(self):
        """One step; the square of the angular acceleration in it (rad/s2)."""
        d = self.data
        spin = d.qvel[3:6].copy()
        # Of this thread: what else runs on the machine does not count.
        clock = time.thread_time()
        mujoco.mj_step(self.model, d)
        self.times.append(1e3 * (time.thread_time() - clock))
        self.contacts = max(self.contacts, d.ncon)
        told = d.contact.dist.min(initial=0.0) * 1e3
        # Deeper contacts are asked for twice, and the second query would be worked out.
        is_due = self.asks_again and self.steps % self.looks == 0
        if self.source == "exact" and told > -SHALLOW and is_due:
            self.ask_again()
        if told < self.deepest or self.steps % self.looks == 0:
            self.look()
        self.steps += 1
        return ((d.qvel[3:6] - spin) ** 2).sum() / self.model.opt.timestep**2

    def look(self):
        """How deep the true solids were in one another at the start of the step, or that they were lost in one another:
        asked of feeler in a query of its own."""
        pose = [*(self.data.xpos[1] * 1e3), *self.data.xquat[1][1:], self.data.xquat[1][0]]
        thick = 0.45 * (self.scene.a.wall + self.scene.b.wall)
        told = 0.0
        for penetration in (min(SHALLOW, thick), thick):
            found = self.judge.query(pose_b=pose, d_max=0, penetration=penetration)
            told = found["distance"].min(initial=0.0)
            if self.judge.status != "interfering" or told < 0:
                break
        else:
            self.lost += 1
        if told < self.deepest:
            # Edges of two faces that lie on one another cross sideways: what is common to the solids there is as thin
            # as the faces are pressed together, and a short way across them parts the solids.
            way = self.judge.separating_translation(pose_b=pose)
            told = max(told, 0 if way is None else -np.linalg.norm(way))
            self.deepest = min(self.deepest, told)

    def ask_again(self):
        """Geoms stand where they stood at the start of the step, so the query is not worked out again: what is
        left is all that a step costs beside it, MuJoCo's own search for near geoms and the prediction of contacts
        with it. That a pose is asked for twice changes what is remembered, and so the motion."""
        clock = time.thread_time()
        mujoco.mj_collision(self.model, self.data)
        self.overheads.append(1e6 * (time.thread_time() - clock))

    def row(self):
        """Contacts, mean and 95 % of the time of a step (ms), deepest (mm), times lost, overhead (us)."""
        low, high = np.percentile(self.times, [50, 95])
        over = np.percentile(self.overheads, [50, 95]) if self.overheads else [np.nan] * 2
        return (
            f"{self.contacts:6}  {np.mean(self.times):7.3f}  {high:7.3f}  {self.deepest:10.2e}  {self.lost:4}"
            f"  {over[0]:5.1f} {over[1]:5.1f}"
        )


HEAD = "  most  ms mean     95 %  deepest mm  lost  over us 95 %"


def product(p, q):
    """Of quaternions x, y, z, w, by rows."""
    v, w = p[..., :3], p[..., 3:]
    u, s = q[..., :3], q[..., 3:]
    vector = w * u + s * v + np.cross(v, u)
    return np.concatenate([vector, w * s - (v * u).sum(-1, keepdims=True)], -1)


def turned(q, v):
    """Vectors turned by quaternions x, y, z, w, by rows."""
    u, w = q[..., :3], q[..., 3:]
    t = 2 * np.cross(u, v)
    return v + w * t + np.cross(u, t)


def rotation(vector):
    """Quaternions of rotation vectors, by rows."""
    half = 0.5 * np.linalg.norm(vector, axis=-1, keepdims=True)
    # sinc is sin(pi x) / (pi x): good at 0.
    return np.concatenate([0.5 * vector * np.sinc(half / np.pi), np.cos(half)], -1)


def rotation_vector(q):
    """The shortest one, of quaternions by rows."""
    q = np.where(q[..., 3:] < 0, -q, q)
    sine = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(sine, q[..., 3:])
    return q[..., :3] * np.where(sine > 1e-12, angle / np.maximum(sine, 1e-300), 2.0)


class Target:
    """The same as in src/drive.rs: along the poses by screw motions, displaced by so many clearances, and tilted by
    twice as many over the length of the plug."""

    def __init__(self, scene, part):
        count = len(scene.poses)
        self.length = np.ptp(scene.b.bounds[:, 2])
        self.tilt = 2 * part * scene.clearance / self.length
        self.seat = (scene.place[1] - 1) * POSE_TIME
        self.last = (count - 1) * POSE_TIME
        self.times = np.arange(1, round((self.last + 10 * RESPONSE) / STEP) + 1) * STEP
        at = np.minimum(np.concatenate([[0.0], self.times]), self.last)
        k = np.minimum((at / POSE_TIME).astype(int), count - 2)
        points, turns = scene.poses[:, :3], scene.poses[:, 3:] / np.linalg.norm(scene.poses[:, 3:], axis=1)[:, None]
        # From pose to pose in world coordinates: turned by w and moved by v at once, a screw motion.
        flip = turns[:-1] * [-1, -1, -1, 1]
        between = product(turns[1:], flip)
        w = rotation_vector(between)
        moved = points[1:] - turned(between, points[:-1])
        v = np.linalg.solve(_left_jacobian(w), moved[..., None])[..., 0]
        s = (at / POSE_TIME - k)[:, None]
        step = rotation(s * w[k])
        shift = (_left_jacobian(s * w[k]) @ (s * v[k])[..., None])[..., 0]
        self.points = turned(step, points[k]) + shift + np.array([0.8, 0.6, 0.0]) * (part * scene.clearance)
        tilted = rotation(np.array([0.6, -0.8, 0.0]) * self.tilt)
        self.turns = product(np.broadcast_to(tilted, (len(at), 4)), product(step, turns[k]))
        self.velocities = np.diff(self.points, axis=0) / STEP

    def start(self):
        return np.concatenate([self.points[0], self.turns[0]])

    def pull(self, k, model, data):
        """A spring and a damper towards where the target is at the end of step k, as in src/bin/engines.rs: a force
        and a torque on the plug (xfrc_applied), explicit. A weld would be one more soft constraint that MuJoCo
        weighs against the contacts."""
        place, turn = self.points[k + 1] * 1e-3, self.turns[k + 1]
        own = np.array([*data.qpos[4:7], data.qpos[3]])
        center = turned(own, model.body_ipos[1])
        spin = turned(own, data.qvel[3:6])
        velocity = data.qvel[:3] + np.cross(spin, center)
        m, gyration = model.body_mass[1], 0.3 * self.length * 1e-3
        stiffness, damping = m / RESPONSE**2, 2 * m / RESPONSE
        off = place + turned(turn, model.body_ipos[1]) - data.qpos[:3] - center
        missing = rotation_vector(product(turn, own * [-1, -1, -1, 1]))
        data.xfrc_applied[1, :3] = off * stiffness + (self.velocities[k] * 1e-3 - velocity) * damping
        data.xfrc_applied[1, 3:] = (missing * stiffness - spin * damping) * gyration**2


def _left_jacobian(w):
    """What takes the velocity of a screw motion to its displacement, by rows of rotation vectors."""
    angle = np.linalg.norm(w, axis=-1)[:, None, None]
    hat = np.zeros((len(w), 3, 3))
    hat[:, 0, 1], hat[:, 0, 2], hat[:, 1, 2] = -w[:, 2], w[:, 1], -w[:, 0]
    hat -= hat.transpose(0, 2, 1)
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    one = np.where(small, 0.5 - angle**2 / 24, (1 - np.cos(safe)) / safe**2)
    two = np.where(small, 1 / 6 - angle**2 / 120, (safe - np.sin(safe)) / safe**3)
    return np.eye(3) + one * hat + two * (hat @ hat)
