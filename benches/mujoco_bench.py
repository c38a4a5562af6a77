"""Shared code of the campaigns in MuJoCo: scenes, shapes, targets, and measurements of penetration.

MuJoCo replaces a plain mesh by its convex hull, which fills every hole. Exact contacts are therefore compared with
those of MuJoCo for the mesh as a signed distance field, and for convex pieces that CoACD makes of the mesh.
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
# Density of steel (kg/m3).
STEEL_DENSITY = 7850
STEP = 0.001
# Depth (mm) of the first search for the penetration of the true solids.
FIRST_DEPTH = 0.05
# Time between two poses of a scenario, and response time of a plug that follows its target (s), as in src/drive.rs.
POSE_INTERVAL, RESPONSE_TIME = 1 / 60, 0.02
SOURCES = ("exact", "sdf", "coacd")
# Chord error of the mesh of a signed distance field, as a fraction of the clearance. CoACD gets a mesh with a chord
# error as large as the clearance: it takes minutes even for that, and its pieces are far coarser.
SDF_CHORD = 0.25


@dataclasses.dataclass
class Scene:
    """A fixed part, and a part that moves along poses (rows of x, y, z, qx, qy, qz, qw; mm)."""

    name: str
    a: feeler.Body
    b: feeler.Body
    clearance: float
    poses: np.ndarray
    # Index of the first pose in which the plug is seated, and of the first one after.
    place: tuple[int, int]

    @property
    def in_place(self):
        return self.poses[(self.place[0] + self.place[1]) // 2]


def scenes(files):
    """Yields the pin of 19.9 mm and its blind bore of 20 mm, then the scenarios of the files."""
    a, b = (feeler.prepare_step(ROOT / "data" / f"{n}.step").body() for n in ("blind-bore", "pin"))
    # Straight in and out, in the phases of the scenarios, with smooth acceleration.
    part = np.interp(np.arange(300), [0, 149, 239, 299], [0, 1, 1, 0])
    poses = np.zeros((300, 7))
    poses[:, 2], poses[:, 6] = 80 + (20.01 - 80) * (1 - np.cos(np.pi * part)) / 2, 1
    yield Scene("peg", a, b, 0.05, poses, (150, 240))
    for file in files:
        text = json.loads(file.read_text())
        a, b = (feeler.prepare_step(file.parent / text[k]).body() for k in "ab")
        phase = next(p for p in text["phases"] if "place" in p[0])
        poses = np.array(text["poses_b"], dtype=float)
        yield Scene(file.stem, a, b, text["clearance"], poses, (phase[1], phase[2]))


class Shapes:
    """Shapes of the solids of a scene in MuJoCo."""

    def __init__(self, scene, source, threshold=0.05):
        """source: one of SOURCES. threshold: remaining concavity of the pieces of CoACD."""
        self.scene, self.source, self.seconds = scene, source, 0.0
        self.pieces = {n: self._pieces(n, getattr(scene, n), threshold) for n in "ab"}

    def _pieces(self, name, body, threshold):
        if self.source == "exact":
            # MuJoCo only draws this mesh.
            return [exact.mesh_asset(name, body)]
        if self.source == "sdf":
            return [exact.mesh_asset(name, body, SDF_CHORD * self.scene.clearance)]
        hulls, seconds = convex_pieces(body, self.scene.clearance, threshold)
        self.seconds += seconds
        numbers = (" ".join(f"{x:.9g}" for x in (points * 1e-3).ravel()) for points in hulls)
        return [f'<mesh name="{name}{k}" vertex="{n}"/>' for k, n in enumerate(numbers)]

    def describe_pieces(self):
        """Describes the convex pieces: their number, and their penetration in place, where the solids do not
        interfere."""
        model = self.model(self.scene.in_place)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        depth = -1e3 * data.contact.dist.min(initial=0.0)
        return (
            f"{len(self.pieces['a'])} and {len(self.pieces['b'])} convex pieces, made in {self.seconds:.0f} s; in "
            f"place they penetrate by {depth:.3f} mm"
        )

    def model(self, pose, friction=0.0, gravity=(0, 0, 0), margin=0.0):
        """Model with a fixed A and a free B that starts at a pose, with mass and inertia of the exact solid. Contact
        forces act below a gap of `margin` (m)."""
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
        # Elliptic friction cones, not pyramidal ones.
        model = mujoco.MjModel.from_xml_string(f"""<mujoco>
          <option timestep="{STEP}" gravity="{g}" cone="elliptic"><flag energy="enable"/></option>
          <asset>{"".join(self.pieces["a"] + self.pieces["b"])}</asset>
          <worldbody>{geoms["a"]}<body pos="{place}" quat="{w} {x} {y} {z}"><freejoint/>
          {exact.inertial(self.scene.b, STEEL_DENSITY)}{geoms["b"]}</body></worldbody></mujoco>""")
        if self.source == "exact":
            exact.install(model, {"a": self.scene.a, "b": self.scene.b})
        return model

    def release(self, model):
        if self.source == "exact":
            exact.uninstall(model)


def convex_pieces(body, chord, threshold):
    """Points of the pieces that CoACD makes of a display mesh, and the time for it (s). It takes minutes, so the pieces
    are cached in target/coacd."""
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
    """Steps of a model, with their times and the penetration of the true solids."""

    # Whether the overhead of a call beyond its query is measured too.
    measures_overhead = False

    def __init__(self, scene, source, model, looks):
        """looks: number of steps between two measurements of the penetration of the true solids. It is also measured
        when the contacts of the engine are deeper than any measured penetration."""
        self.scene, self.source, self.model, self.looks = scene, source, model, looks
        self.data = mujoco.MjData(model)
        mujoco.mj_forward(model, self.data)
        self.true_solids = feeler.ContactPair(scene.a, scene.b)
        self.times, self.overheads = [], []
        self.contacts, self.deepest, self.lost, self.steps = 0, 0.0, 0, 0

    def step(self):
        """Makes a step; returns the square of its angular acceleration (rad2/s4)."""
        d = self.data
        spin = d.qvel[3:6].copy()
        # Processor time of this thread does not depend on other load of the machine.
        clock = time.thread_time()
        mujoco.mj_step(self.model, d)
        self.times.append(1e3 * (time.thread_time() - clock))
        self.contacts = max(self.contacts, d.ncon)
        engine_depth = d.contact.dist.min(initial=0.0) * 1e3
        # Deeper contacts are queried twice, and the second query would not be cached.
        is_due = self.measures_overhead and self.steps % self.looks == 0
        if self.source == "exact" and engine_depth > -FIRST_DEPTH and is_due:
            self.measure_overhead()
        if engine_depth < self.deepest or self.steps % self.looks == 0:
            self.measure_penetration()
        self.steps += 1
        return ((d.qvel[3:6] - spin) ** 2).sum() / self.model.opt.timestep**2

    def measure_penetration(self):
        """Measures the penetration of the true solids at the start of the step by a separate query, and counts
        interferences without a contact."""
        pose = [*(self.data.xpos[1] * 1e3), *self.data.xquat[1][1:], self.data.xquat[1][0]]
        thick = 0.45 * (self.scene.a.min_thickness + self.scene.b.min_thickness)
        distance = 0.0
        for penetration in (min(FIRST_DEPTH, thick), thick):
            found = self.true_solids.query(pose_b=pose, d_max=0, penetration=penetration)
            distance = found["distance"].min(initial=0.0)
            if self.true_solids.status != "interfering" or distance < 0:
                break
        else:
            self.lost += 1
        if distance < self.deepest:
            # Edges of two coincident faces cross sideways: the common volume there is as thin as the faces are pressed
            # together, and a short translation across them separates the solids.
            translation = self.true_solids.separating_translation(pose_b=pose)
            distance = max(distance, 0 if translation is None else -np.linalg.norm(translation))
            self.deepest = min(self.deepest, distance)

    def measure_overhead(self):
        """Measures the overhead of contacts in a step beyond their query. The geoms have the poses of the start of the
        step, so the query is cached, and the rest is measured: MuJoCo's search for near geoms and the prediction of
        contacts. The repeated query changes the cached results, and so the motion."""
        clock = time.thread_time()
        mujoco.mj_collision(self.model, self.data)
        self.overheads.append(1e6 * (time.thread_time() - clock))

    def row(self):
        """Maximum number of contacts, mean and 95 % of the time of a step (ms), deepest penetration (mm), steps
        without a contact in spite of interference, overhead (us)."""
        low, high = np.percentile(self.times, [50, 95])
        over = np.percentile(self.overheads, [50, 95]) if self.overheads else [np.nan] * 2
        return (
            f"{self.contacts:6}  {np.mean(self.times):7.3f}  {high:7.3f}  {self.deepest:10.2e}  {self.lost:4}"
            f"  {over[0]:5.1f} {over[1]:5.1f}"
        )


HEAD = "   max  ms mean     95 %  deepest mm  lost  over us 95 %"


def product(p, q):
    """Products of quaternions x, y, z, w, by rows."""
    v, w = p[..., :3], p[..., 3:]
    u, s = q[..., :3], q[..., 3:]
    vector = w * u + s * v + np.cross(v, u)
    return np.concatenate([vector, w * s - (v * u).sum(-1, keepdims=True)], -1)


def turned(q, v):
    """Vectors rotated by quaternions x, y, z, w, by rows."""
    u, w = q[..., :3], q[..., 3:]
    t = 2 * np.cross(u, v)
    return v + w * t + np.cross(u, t)


def rotation(vector):
    """Quaternions of rotation vectors, by rows."""
    half = 0.5 * np.linalg.norm(vector, axis=-1, keepdims=True)
    # np.sinc(x) is sin(pi x) / (pi x), which is accurate at 0.
    return np.concatenate([0.5 * vector * np.sinc(half / np.pi), np.cos(half)], -1)


def rotation_vector(q):
    """Shortest rotation vectors of quaternions, by rows."""
    q = np.where(q[..., 3:] < 0, -q, q)
    sine = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(sine, q[..., 3:])
    return q[..., :3] * np.where(sine > 1e-12, angle / np.maximum(sine, 1e-300), 2.0)


class Target:
    """Target as in src/drive.rs: it follows the poses by screw motions, displaced by `part` clearances and tilted by
    twice that displacement over the length of the plug."""

    def __init__(self, scene, part):
        count = len(scene.poses)
        self.length = np.ptp(scene.b.bounds[:, 2])
        self.tilt = 2 * part * scene.clearance / self.length
        self.seat = (scene.place[1] - 1) * POSE_INTERVAL
        self.last = (count - 1) * POSE_INTERVAL
        self.times = np.arange(1, round((self.last + 10 * RESPONSE_TIME) / STEP) + 1) * STEP
        at = np.minimum(np.concatenate([[0.0], self.times]), self.last)
        k = np.minimum((at / POSE_INTERVAL).astype(int), count - 2)
        points, turns = scene.poses[:, :3], scene.poses[:, 3:] / np.linalg.norm(scene.poses[:, 3:], axis=1)[:, None]
        # The screw motion between two poses in world coordinates has the angular velocity w and the velocity v.
        flip = turns[:-1] * [-1, -1, -1, 1]
        between = product(turns[1:], flip)
        w = rotation_vector(between)
        moved = points[1:] - turned(between, points[:-1])
        v = np.linalg.solve(_left_jacobian(w), moved[..., None])[..., 0]
        s = (at / POSE_INTERVAL - k)[:, None]
        step = rotation(s * w[k])
        shift = (_left_jacobian(s * w[k]) @ (s * v[k])[..., None])[..., 0]
        self.points = turned(step, points[k]) + shift + np.array([0.8, 0.6, 0.0]) * (part * scene.clearance)
        tilted = rotation(np.array([0.6, -0.8, 0.0]) * self.tilt)
        self.turns = product(np.broadcast_to(tilted, (len(at), 4)), product(step, turns[k]))
        self.velocities = np.diff(self.points, axis=0) / STEP

    def start(self):
        return np.concatenate([self.points[0], self.turns[0]])

    def pull(self, k, model, data):
        """Applies an explicit force and torque (xfrc_applied) of a spring and a damper that pull the plug to the
        target at the end of step k, as in src/bin/engines.rs. A weld would be a soft constraint that MuJoCo balances
        with the contacts."""
        place, turn = self.points[k + 1] * 1e-3, self.turns[k + 1]
        own = np.array([*data.qpos[4:7], data.qpos[3]])
        center = turned(own, model.body_ipos[1])
        spin = turned(own, data.qvel[3:6])
        velocity = data.qvel[:3] + np.cross(spin, center)
        m, gyration = model.body_mass[1], 0.3 * self.length * 1e-3
        stiffness, damping = m / RESPONSE_TIME**2, 2 * m / RESPONSE_TIME
        off = place + turned(turn, model.body_ipos[1]) - data.qpos[:3] - center
        missing = rotation_vector(product(turn, own * [-1, -1, -1, 1]))
        data.xfrc_applied[1, :3] = off * stiffness + (self.velocities[k] * 1e-3 - velocity) * damping
        data.xfrc_applied[1, 3:] = (missing * stiffness - spin * damping) * gyration**2


def _left_jacobian(w):
    """Left Jacobians, by rows of rotation vectors: they map the velocity of a screw motion to its displacement."""
    angle = np.linalg.norm(w, axis=-1)[:, None, None]
    hat = np.zeros((len(w), 3, 3))
    hat[:, 0, 1], hat[:, 0, 2], hat[:, 1, 2] = -w[:, 2], w[:, 1], -w[:, 0]
    hat -= hat.transpose(0, 2, 1)
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    one = np.where(small, 0.5 - angle**2 / 24, (1 - np.cos(safe)) / safe**2)
    two = np.where(small, 1 / 6 - angle**2 / 120, (safe - np.sin(safe)) / safe**3)
    return np.eye(3) + one * hat + two * (hat @ hat)
