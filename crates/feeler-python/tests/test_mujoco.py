"""Tests of feeler.mujoco; skipped if MuJoCo is not installed."""

import contextlib
import ctypes
import math
import pathlib
import re
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import feeler

mujoco = pytest.importorskip("mujoco")
exact = pytest.importorskip("feeler.mujoco")

DATA = pathlib.Path(__file__).resolve().parents[3] / "data"
STIFF = 'solref="0.002 1" solimp="0.99 0.99 0.001" friction="0 0 0" condim="1"'
FULL = mujoco.mjtState.mjSTATE_FULLPHYSICS


def body(name):
    return feeler.prepare_step(DATA / f"{name}.step").body()


def model(a, b, start, kind="sdf", gravity="0 0 -9.81", soft=STIFF):
    x, y, z = (1e-3 * v for v in start)
    kind_a, kind_b = (kind, kind) if isinstance(kind, str) else kind
    return mujoco.MjModel.from_xml_string(f"""<mujoco>
      <option timestep="0.001" gravity="{gravity}" integrator="Euler"/>
      <asset>{exact.mesh_asset("a", a)}{exact.mesh_asset("b", b)}</asset>
      <worldbody><geom name="a" type="{kind_a}" mesh="a" {soft}/>
      <body pos="{x} {y} {z}"><freejoint/>{exact.inertial(b, 7850)}
      <geom name="b" type="{kind_b}" mesh="b" {soft}/></body></worldbody></mujoco>""")


@pytest.fixture
def pin():
    a, b = body("blind-bore"), body("pin")
    m = model(a, b, [0, 0, 20.1], gravity="2.8 -0.9 -9.3")
    exact.install(m, {"a": a, "b": b})
    yield m, a, b
    exact.uninstall(m)


@contextlib.contextmanager
def installed(m, geoms, **options):
    exact.install(m, geoms, **options)
    try:
        yield
    finally:
        exact.uninstall(m)


def run(m, steps):
    d = mujoco.MjData(m)
    deepest, most = 0.0, 0
    for _ in range(steps):
        mujoco.mj_step(m, d)
        most = max(most, d.ncon)
        if d.ncon:
            deepest = min(deepest, d.contact.dist.min() * 1e3)
    return d, deepest, most


def test_a_pin_falls_to_the_bottom_of_its_bore_and_rests(pin):
    m, a, b = pin
    d, _, most = run(m, 500)
    assert 0 < most <= 50
    rest = d.contact.dist.min() * 1e3
    assert -0.005 <= rest <= 0
    # The depth is that of the exact solids, measured by a separate query.
    pose = [*(d.qpos[:3] * 1e3), *d.qpos[4:7], d.qpos[3]]
    pair = feeler.ContactPair(a, b)
    contacts = pair.query(pose_b=pose, d_max=0.01, penetration=0.05)
    assert abs(contacts["distance"].min() - rest) < 2e-3
    assert abs(d.qpos[2] * 1e3 - 20) < 0.005


def test_frames_of_meshes_are_undone(pin):
    m, a, b = pin
    d = mujoco.MjData(m)
    d.qpos[:3] = [0.0, 0.0, 0.0199999]
    mujoco.mj_forward(m, d)
    down = [c for c in d.contact if abs(c.frame[2]) > 0.99]
    assert down and all(abs(c.dist * 1e3 + 1e-4) < 1e-6 for c in down)


def test_rollouts_in_threads_equal_one_after_the_other(pin):
    m, *_ = pin
    alone = [run(m, 60)[0].qpos.copy() for _ in range(2)]
    assert (alone[0] == alone[1]).all()
    out = [None] * 4

    def work(k):
        out[k] = run(m, 60)[0].qpos.copy()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all((q == alone[0]).all() for q in out)
    # Reset data start a new motion.
    d, *_ = run(m, 40)
    mujoco.mj_resetData(m, d)
    for _ in range(60):
        mujoco.mj_step(m, d)
    assert (d.qpos == alone[0]).all()


def test_rollouts_of_mujoco_do_not_depend_on_earlier_use_of_the_data(pin):
    from mujoco import rollout

    m, *_ = pin
    d = mujoco.MjData(m)
    starts = np.zeros((4, mujoco.mj_stateSize(m, FULL)))
    # States of the motion, with times that are far apart.
    for k, start in enumerate(starts):
        for _ in range(8):
            mujoco.mj_step(m, d)
        mujoco.mj_getState(m, d, start, FULL)
        start[0] = k
    alone = [rollout.rollout(m, mujoco.MjData(m), start[None], nstep=30)[0][0] for start in starts]
    for data in (mujoco.MjData(m), [mujoco.MjData(m) for _ in range(2)]):
        together, _ = rollout.rollout(m, data, starts, nstep=30)
        assert (together == alone).all()


def test_states_of_deleted_data_are_dropped():
    a = body("box")
    # A micrometre into one another.
    m = model(a, a, [0, 0, 19.999])
    with installed(m, {"a": a, "b": a}):
        first = mujoco.MjData(m)
        mujoco.mj_forward(m, first)
        count = exact._feeler.mujoco_states()

        def others(n):
            # Referenced, so that each has a different address.
            held = [mujoco.MjData(m) for _ in range(n)]
            for d in held:
                mujoco.mj_forward(m, d)

        others(300)
        assert exact._feeler.mujoco_states() == count + 300
        # The bodies do not move, so that the calls are cheap.
        for _ in range(100_000):
            mujoco.mj_collision(m, first)
        others(600)
        left = exact._feeler.mujoco_states()
        assert count + 300 < left <= count + 601
        # States of the previous installation are dropped with it.
        exact.install(m, {"a": a, "b": a})
        assert exact._feeler.mujoco_states() == count - 1
        mujoco.mj_forward(m, first)
    assert exact._feeler.mujoco_states() == count - 1


def entry(m, i, j):
    """Function that calls the entry of the table for geoms 0 and 1 with a large buffer and returns the contacts."""
    _, library = exact._mujoco()
    function = ctypes.cast(exact._table(library)[i][j], COLLISION)
    buffer = np.full((200, 10), 77.0)

    def call(d, margin):
        count = function(m._address, d._address, buffer.ctypes.data, 0, 1, margin)
        assert (buffer[count:] == 77).all() and not (buffer[:count] == 77).any()
        found = buffer[:count].copy()
        buffer[:] = 77
        return found

    return call


COLLISION = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3, ctypes.c_int, ctypes.c_int, ctypes.c_double)


def test_failed_calls_are_counted():
    a = body("box")
    # A micrometre into one another.
    m = model(a, a, [0, 0, 19.999])
    with pytest.raises(exact.MujocoError, match="install"):
        exact.counts(m)
    with installed(m, {"a": a, "b": a}):
        d = mujoco.MjData(m)
        mujoco.mj_forward(m, d)
        assert d.ncon > 0 and exact.counts(m)[:2] == (0, 0)
        call = entry(m, 8, 8)
        d.geom_xpos[1, 0] = np.nan
        assert len(call(d, 0)) == 0
        assert exact.counts(m)[:2] == (1, 0)
        # Both boxes at the same position.
        d.geom_xpos[1] = d.geom_xpos[0]
        with pytest.warns(exact.MujocoWarning, match="'a' and 'b' interfere at time 0 s"):
            call(d, 0)
        assert exact.counts(m)[:2] == (1, 1) and exact.counts(m).unexplained == 1
        # Counts restart with the installation.
        exact.install(m, {"a": a, "b": a})
        assert exact.counts(m)[:2] == (0, 0)


def test_the_deepest_contacts_up_to_the_maximum_number():
    a, b = body("socket"), body("plug")
    pose = [0.0005, 0, 0]
    all = feeler.ContactPair(a, b).query(pose_b=pose, d_max=1, penetration=0.05)
    assert len(all) > 50
    for kind, number, most in (("mesh", 7, 4), ("sdf", 8, 20)):
        m = model(a, b, pose, kind=kind)
        with installed(m, {"a": a, "b": b}):
            assert m.opt.sdf_initpoints == 50
            # About thirty of all minima carry loads.
            m.opt.sdf_initpoints = 20
            d = mujoco.MjData(m)
            mujoco.mj_kinematics(m, d)
            call = entry(m, number, number)
            found = call(d, 0.02)
            assert len(found) == most and exact.counts(m).dropped > 0
            assert abs(found[:, 0].min() * 1e3 - all["gap"].min()) < 1e-9
            # The maximum number of contacts may change between steps.
            m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_MULTICCD
            m.opt.sdf_initpoints = 7
            fewer = call(d, 0.02)
            assert len(fewer) == {"mesh": 1, "sdf": 7}[kind]
            assert (np.sort(fewer[:, 0]) == np.sort(found[:, 0])[: len(fewer)]).all()


def test_parts_that_strike_do_not_overlap():
    """A pin falls by 8 mm into its bore in tilted gravity and hits walls and bottom; a box falls on an edge."""
    a, b = body("blind-bore"), body("pin")
    base, block = plate(100, 100, 10), body("box")
    tilted = exact.body_element("b", block, 7850, pos=(0, 0, 0.025), quat=(0.99, 0.02, 0.05, 0.1))
    for parts, m in (
        ((a, b), model(a, b, [0, 0, 28], gravity="2.8 -0.9 -9.3")),
        ((base, block), scene({"a": base, "b": block}, f'<geom name="a" type="sdf" mesh="a" {exact.STIFF}/>', tilted)),
    ):
        pair, deepest = feeler.ContactPair(*parts), 0
        with installed(m, dict(zip("ab", parts))):
            d = mujoco.MjData(m)
            for _ in range(600):
                mujoco.mj_step(m, d)
                deepest = max(deepest, depth(m, d, "a", "b", pair))
            counts = exact.counts(m)
            assert counts[:2] == (0, 0) and counts.updates == 600
            assert counts.uncovered <= 0.01 * counts.updates and counts.dropped == 0
        assert deepest < 0.01


@pytest.mark.parametrize("turned", [0, 0.3])
def test_a_brick_slides_over_the_seam_of_flush_blocks(turned):
    """Without friction the brick keeps its speed and does not tilt."""
    block, brick = body("box"), body("contact/brick")
    (_, _, bottom), (length, _, _) = brick.bounds[0], brick.bounds[1] - brick.bounds[0]
    begin = -1e-3 * (0.6 * length + 1)
    m = mujoco.MjModel.from_xml_string(f"""<mujoco>
      <option timestep="0.001" gravity="0 0 -9.81" integrator="Euler"/>
      <asset>{exact.mesh_asset("block", block)}{exact.mesh_asset("brick", brick)}</asset>
      <worldbody>
      <geom name="left" type="sdf" mesh="block" pos="-0.02 0 -0.01" {STIFF}/>
      <geom name="right" type="sdf" mesh="block" pos="0.02 0 -0.01" {STIFF}/>
      <body pos="{begin} 0.0004 {-1e-3 * bottom}" euler="0 0 {math.degrees(turned)}"><freejoint/>
      {exact.inertial(brick, 7850)}<geom name="brick" type="sdf" mesh="brick" {STIFF}/></body>
      </worldbody></mujoco>""")
    with installed(m, {"left": block, "right": block, "brick": brick}):
        d = mujoco.MjData(m)
        d.qvel[:2] = 0.1, 0.007
        steps = 0
        while d.qpos[0] < -begin:
            mujoco.mj_step(m, d)
            steps += 1
            up = np.zeros(3)
            mujoco.mju_rotVecQuat(up, np.array([0.0, 0.0, 1.0]), d.qpos[3:7])
            assert d.qvel[:2] == pytest.approx([0.1, 0.007], abs=1e-4), steps
            assert np.hypot(*up[:2]) <= 1e-5, steps
        assert steps > 100


def test_meshes_get_the_deepest_contacts():
    a, b = body("box"), body("box")
    m = model(a, b, [0, 0, 19.999], kind="mesh")
    with installed(m, {"a": a, "b": b}):
        _, _, most = run(m, 100)
        assert 0 < most <= 4


def test_frames_of_a_part_that_is_moved_and_turned_by_mujoco():
    a, b = body("box"), body("inch-bracket")
    turn = np.array([0.02, 0.01, 0.3, 0.95])
    pose = [3.0, -4.0, 10.4, *turn / np.linalg.norm(turn)]
    m = model(a, b, pose[:3])
    assert np.abs(m.mesh_pos[1]).max() > 0.01 and abs(m.mesh_quat[1][0]) < 0.9
    wanted = feeler.ContactPair(a, b).query(pose_b=pose, d_max=1)
    assert len(wanted) > 0
    with installed(m, {"a": a, "b": b}, reach=1):
        d = mujoco.MjData(m)
        d.qpos[3:7] = [pose[6], *pose[3:6]]
        mujoco.mj_kinematics(m, d)
        # The installation has added gaps to the margin.
        found = entry(m, 8, 8)(d, 1e-3 + m.geom_gap.sum())
    middle = (wanted["point_a"] + wanted["point_b"]) / 2
    for gap, point, normal in zip(wanted["gap"], middle, wanted["normal"]):
        off = np.abs(found[:, :7] - [gap * 1e-3, *(point * 1e-3), *normal]).max(1)
        assert off.min() < 1e-9


@pytest.mark.parametrize("kind", [("sdf", "mesh"), ("mesh", "sdf"), ("mesh", "mesh")])
def test_geoms_of_both_types_in_either_order(kind):
    """MuJoCo passes the mesh first, regardless of the order of geoms; normals point from the first to the second."""
    a, b = body("box"), body("box")
    m = model(a, b, [1, 2, 19.9995], kind=kind)
    with installed(m, {"a": a, "b": b}):
        d = mujoco.MjData(m)
        mujoco.mj_forward(m, d)
        assert d.ncon > 0
        for c in d.contact:
            up = 1 if tuple(c.geom) == (0, 1) else -1
            assert abs(c.frame[2] - up) < 1e-9 and abs(c.dist * 1e3 + 0.0005) < 1e-6
        assert tuple(d.contact[0].geom) == ((1, 0) if kind[0] == "sdf" else (0, 1))
        if kind == ("mesh", "mesh"):
            # The four deepest contacts do not prevent a box from tipping.
            return
        for _ in range(200):
            mujoco.mj_step(m, d)
        assert abs(d.qpos[2] * 1e3 - 20) < 0.005


def test_margins_list_contacts_and_gaps_keep_them_inactive():
    a, b = body("box"), body("box")
    for words, is_listed, is_active in (("", False, False), ('margin="1e-4"', True, True), ('gap="1e-4"', True, False)):
        m = model(a, b, [0, 0, 20.05], soft=f"{STIFF} {words}")
        with installed(m, {"a": a, "b": b}):
            d = mujoco.MjData(m)
            mujoco.mj_forward(m, d)
            assert (d.ncon > 0, d.nefc > 0) == (is_listed, is_active)
            assert all(abs(c.dist * 1e3 - 0.05) < 1e-6 for c in d.contact)


def test_depth_of_resting_parts():
    """Micrometres with STIFF, and hundredths of a millimetre or more with the defaults of MuJoCo, as documented."""
    a, b = body("box"), body("box")
    depths = []
    for soft in (STIFF, ""):
        m = model(a, b, [0, 0, 20], soft=soft)
        with installed(m, {"a": a, "b": b}):
            d, *_ = run(m, 400)
            depths.append(20 - d.qpos[2] * 1e3)
    assert 0 < depths[0] < 0.005 and 0.02 < depths[1] < 1


def plate(x, y, z):
    """Plate with its upper side at 0."""
    points = np.array([[i * x / 2, j * y / 2, k * z] for i in (-1, 1) for j in (-1, 1) for k in (-1, 0)])
    triangles = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
    triangles += [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    return feeler.prepare_mesh(points, triangles, "plate").body()


def shifted(name, by):
    """Solid with another origin of its own coordinates."""

    def shift(found):
        x, y, z = (float(number) + d for number, d in zip(found[1].split(","), by))
        return f"({x!r},{y!r},{z!r}))"

    text = (DATA / f"{name}.step").read_text()
    text = re.sub(r"(?<=CARTESIAN_POINT\(''\,)\(([^,()]+,[^,()]+,[^,()]+)\)\)", shift, text)
    return feeler.prepare_bytes(text.encode()).body()


def gear(teeth, module=2.0, height=6.0, play=0.05, pieces=8):
    """A spur gear about z, a tooth at angle 0: involutes of 20 degrees in straight pieces."""
    pitch = module * teeth / 2
    base = pitch * math.cos(math.radians(20))

    def involute(r):
        return math.sqrt(max((r / base) ** 2 - 1, 0)) - math.acos(min(base / r, 1))

    half = math.pi / (2 * teeth) - play / (2 * pitch) + involute(pitch)
    foot = pitch - 1.25 * module
    radii = np.linspace(1.0001 * max(base, foot), pitch + module, pieces + 1)
    flank = [(r, half - involute(r)) for r in radii]
    if foot < base:
        flank.insert(0, (foot, half))
    tooth = [(r, -turn) for r, turn in flank] + list(reversed(flank))
    outline = [(r, turn + 2 * math.pi * k / teeth) for k in range(teeth) for r, turn in tooth]
    xy = np.array([(r * math.cos(turn), r * math.sin(turn)) for r, turn in outline])
    n, i = len(xy), np.arange(len(xy))
    j, below, above = (i + 1) % n, np.full(n, 2 * n), np.full(n, 2 * n + 1)
    rings = [np.column_stack([xy, np.full(n, z)]) for z in (-height / 2, height / 2)]
    points = np.vstack([*rings, [[0, 0, -height / 2], [0, 0, height / 2]]])
    sides = [(i, j, n + j), (i, n + j, n + i), (j, i, below), (n + i, n + j, above)]
    return feeler.prepare_mesh(points, np.vstack([np.column_stack(t) for t in sides]), "gear").body()


def scene(parts, *elements, options="", gravity="0 0 -9.81"):
    """Model of <geom> and <body> elements with the meshes of some parts."""
    assets = "".join(exact.mesh_asset(name, part) for name, part in parts.items())
    return mujoco.MjModel.from_xml_string(f"""<mujoco><compiler angle="radian"/>
      <option timestep="0.001" gravity="{gravity}"/>
      <asset>{assets}</asset><worldbody>{"".join(elements)}</worldbody>{options}</mujoco>""")


def depth(m, d, a, b, pair):
    """Depth (mm) of the exact solids, measured by a separate query; inf if they interfere without a contact."""
    mujoco.mj_kinematics(m, d)
    found = pair.query(exact.pose(m, d, a), exact.pose(m, d, b), d_max=0.01, penetration=1)
    if len(found) == 0:
        return math.inf if pair.status == "interfering" else 0
    return max(0, -found["distance"].min())


def test_a_roller_is_integrated_at_its_centre_of_mass():
    """The origin of the solid is on its rim: with the frame of the body there, the depth is tens of micrometres."""
    incline = math.radians(5)
    gravity = f"{9.81 * math.sin(incline)} 0 {-9.81 * math.cos(incline)}"
    a, b = plate(400, 60, 10), shifted("cylinder", (10, 0, -20))
    soft = f'{exact.STIFF} friction="0.5 0.0001 0.00001"'
    turned = (math.sqrt(0.5), math.sqrt(0.5), 0, 0)
    deepest = {}
    for is_centred in (True, False):
        content = {} if is_centred else {"freejoint": False, "content": "<freejoint/>"}
        element = exact.body_element("b", b, 7850, pos=(-0.15, 0, 0.01), quat=turned, geom=soft, **content)
        m = scene({"a": a, "b": b}, f'<geom name="a" type="sdf" mesh="a" {soft}/>', element, gravity=gravity)
        pair = feeler.ContactPair(a, b)
        with installed(m, {"a": a, "b": b}):
            d = mujoco.MjData(m)
            deepest[is_centred] = 0
            for k in range(800):
                mujoco.mj_step(m, d)
                if k % 10 == 0:
                    deepest[is_centred] = max(deepest[is_centred], depth(m, d, "a", "b", pair))
            assert exact.counts(m)[:2] == (0, 0)
            # Displacement of a cylinder that rolls without slipping.
            moved = exact.pose(m, d, "b") @ [-10, 0, 0, 1] - [-160, 0, 10, 0]
            assert abs(moved[0] - 0.5 * 2 / 3 * 9.81e3 * math.sin(incline) * d.time**2) < 5
    assert deepest[True] <= 0.005 < 0.01 < deepest[False]


def test_elements_of_bodies_place_solids():
    a = shifted("inch-bracket", (3, -5, 8))
    turn = np.array([0.9, 0.3, -0.2, 0.4])
    by = np.array([0.01, -0.02, 0.03])
    wanted = None
    joint = '<joint type="slide" axis="1 0 0"/>'
    for is_free, content in ((True, '<site name="s"/>'), (False, f'{joint}<site name="s"/>')):
        element = exact.body_element(
            "b", a, 2700, pos=by, quat=2 * turn, freejoint=is_free, mesh="m", geom='condim="4"',
            content=content,
        )  # fmt: skip
        m = scene({"m": a}, element)
        d = mujoco.MjData(m)
        mujoco.mj_forward(m, d)
        pose = exact.pose(m, d, "b")
        assert np.abs(pose[:3, 3] - 1e3 * by).max() < 1e-4
        wanted = pose if wanted is None else wanted
        assert np.abs(pose - wanted).max() < 1e-4 and (exact.pose(m, d, 0) == pose).all()
        center = pose @ [*a.centroid, 1]
        assert np.abs(1e3 * d.xipos[1] - center[:3]).max() < 1e-4
        # The frame is at the centre of mass, or at the origin of the solid's coordinates.
        assert np.abs(1e3 * d.site_xpos[0] - (center[:3] if is_free else 1e3 * by)).max() < 1e-4
        assert abs(m.body_mass[1] / (a.volume * 2700e-9) - 1) < 1e-12
        inertia = np.linalg.eigvalsh(a.inertia) * 2700e-15
        assert np.abs(np.sort(m.body_inertia[1]) / inertia - 1).max() < 1e-9
        assert m.geom_condim[0] == 4 and m.geom_type[0] == 8
    with pytest.raises(exact.MujocoError, match="no geom 'c' with a mesh"):
        exact.pose(m, d, "c")


def test_gears_on_hinges_keep_their_energy():
    """MuJoCo gives bodies with joints through their centre of mass no inverse weight, so that energy grows."""
    a, b = gear(12), gear(18)
    hinge, soft = '<joint type="hinge" axis="0 0 1"/>', f'{exact.STIFF} condim="1"'
    half = math.pi / 36
    m = scene(
        {"a": a, "b": b},
        exact.body_element("a", a, 7850, freejoint=False, geom=soft, content=hinge),
        exact.body_element("b", b, 7850, pos=(0.03, 0, 0), quat=(math.cos(half), 0, 0, math.sin(half)),
                           freejoint=False, geom=soft, content=hinge),
        gravity="0 0 0",
    )  # fmt: skip
    before = m.body_invweight0.copy()
    assert (before[1:, 0] < 1e-15).all()
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        exact.install(m, {"a": a, "b": b})
    assert [f"{g.message}"[:9] for g in given] == ["body 'a':", "body 'b':"]
    assert all(g.category is exact.MujocoWarning and "body_invweight0[" in f"{g.message}" for g in given)
    with contextlib.ExitStack() as stack:
        stack.callback(exact.uninstall, m)
        # Flat gears: about that of a free body.
        assert (np.abs(m.body_invweight0[1:, 0] * m.body_mass[1:] - 2 / 3) < 0.1).all()
        d = mujoco.MjData(m)
        energies, work = [], 0
        for k in range(2100):
            torque = 1e-4 if k < 100 else 0
            d.qfrc_applied[0] = torque
            start = d.qpos[0]
            mujoco.mj_step(m, d)
            work += torque * (d.qpos[0] - start)
            energies.append(0.5 * (d.qvel**2 / m.dof_invweight0).sum())
        # The driven tooth hits the other gear: some of the work is lost, and no energy is gained.
        assert 0.9 * work < energies[100] <= work
        coasting = np.array(energies[100:]) / energies[100]
        assert 0.99 <= coasting.min() and coasting.max() <= 1.0001
        assert abs(d.qvel[0] * 12 / 18 + d.qvel[1]) < 0.05 * d.qvel[0] and exact.counts(m)[:2] == (0, 0)
    assert (m.body_invweight0 == before).all()


def test_inverse_weights_are_corrected_where_contacts_need_them():
    a = body("box")
    ball, slide = '<joint type="ball"/>', '<joint type="slide" axis="0 0 1"/>'
    off = '<joint type="hinge" axis="0 0 1" pos="0.01 0 0"/>'

    def correct(content, condim=3):
        geom = f'condim="{condim}"'
        m = scene({"a": a}, exact.body_element("a", a, 7850, freejoint=content is None, geom=geom,
                                               content=content or ""))  # fmt: skip
        before = m.body_invweight0[1].copy()
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            with installed(m, {"a": a}):
                exact.install(m, {"a": a})
                after = m.body_invweight0[1].copy()
        assert (m.body_invweight0[1] == before).all()
        # One warning for each installation.
        assert len(given) == (0 if (before == after).all() else 2)
        return before != after, after * [m.body_mass[1], 1 / (1 / m.body_inertia[1]).mean()]

    for content in (None, off, slide, ""):
        assert not correct(content)[0].any()
    changed, weights = correct(ball)
    assert list(changed) == [True, False] and 1 < weights[0] < 10
    # Weights that MuJoCo resets are corrected again.
    element = exact.body_element("a", a, 7850, freejoint=False, content=ball)
    m = scene({"a": a}, element)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with installed(m, {"a": a}):
            first = m.body_invweight0[1].copy()
            m.body_mass[1] *= 2
            m.body_inertia[1] *= 2
            mujoco.mj_setConst(m, mujoco.MjData(m))
            heavier = m.body_invweight0[1].copy()
            exact.install(m, {"a": a})
            assert np.allclose(m.body_invweight0[1], first / 2)
        assert (m.body_invweight0[1] == heavier).all()
    # Torsional friction has its own rows.
    changed, weights = correct(slide, 4)
    assert list(changed) == [False, True] and 0.3 < weights[1] < 1.1


def test_parts_that_interfere_at_the_start_are_reported():
    a = body("box")
    # 5 mm deep: no contact reaches that far by default.
    m = model(a, a, [0, 0, 15])
    with installed(m, {"a": a, "b": a}):
        d = mujoco.MjData(m)
        wanted = "'a' and 'b' interfere at time 0 s .*larger depth"
        with pytest.warns(exact.MujocoWarning, match=wanted) as given:
            mujoco.mj_step(m, d)
            steps = exact.counts(m).unexplained
            for _ in range(5):
                mujoco.mj_step(m, d)
        assert len(given) == 1 and steps == 1 and exact.counts(m).unexplained == 6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with installed(m, {"a": a, "b": a}, depth=6):
            mujoco.mj_step(m, mujoco.MjData(m))
        with installed(m, {"a": a, "b": a}), pytest.raises(exact.MujocoWarning):
            mujoco.mj_step(m, mujoco.MjData(m))
    with installed(m, {"a": a, "b": a}), pytest.warns(exact.MujocoWarning) as given:
        threads = [threading.Thread(target=run, args=(m, 3)) for _ in range(3)]
        [t.start() for t in threads]
        [t.join() for t in threads]
    assert len(given) == 1


@pytest.mark.parametrize("speed", [0.3, 1.0, 2.0])
def test_reach_grows_with_speed(speed):
    """A box that falls flat on a plate: their boxes overlap only when they touch, and in a step it moves
    farther than the smallest reach."""
    a, b = plate(100, 100, 10), body("box")
    for options in ({"speed": 1.2 * speed}, {"reach": 2.4 * speed}):
        m = scene({"a": a, "b": b}, f'<geom name="a" type="sdf" mesh="a" {exact.STIFF}/>',
                  exact.body_element("b", b, 7850, pos=(0, 0, 0.0203)))  # fmt: skip
        pair, deepest = feeler.ContactPair(a, b), 0
        with installed(m, {"a": a, "b": b}, **options):
            d = mujoco.MjData(m)
            d.qvel[2] = -speed
            for _ in range(60):
                mujoco.mj_step(m, d)
                deepest = max(deepest, depth(m, d, "a", "b", pair))
            assert exact.counts(m)[:2] == (0, 0) and d.ncon > 0
        assert deepest < 0.01


def test_gaps_of_geoms_are_increased_for_a_speed_and_given_back():
    a, b = body("box"), body("ball")
    pair = '<contact><pair geom1="a" geom2="b" gap="1e-5"/></contact>'
    m = scene({"a": a, "b": b}, f'<geom name="a" type="sdf" mesh="a" gap="2e-5" {STIFF}/>',
              exact.body_element("b", b, 7850, pos=(0, 0, 0.0132), geom=f'margin="3e-5" {STIFF}'),
              options=pair)  # fmt: skip
    names = ("geom_gap", "geom_margin", "pair_gap", "body_margin", "body_invweight0")
    before = [getattr(m, name).copy() for name in names]
    for options, gap in (({}, 1e-3), ({"speed": 3}, 3e-3), ({"speed": 0}, 1e-4), ({"reach": 5}, 2.5e-3)):
        with installed(m, {"a": a, "b": b}, **options):
            exact.install(m, {"a": a, "b": b}, **options)
            assert np.allclose(m.geom_gap, [2e-5 + gap, gap]) and np.allclose(m.pair_gap, 1e-5 + 2 * gap)
            assert np.allclose(m.body_margin, [2e-5 + gap, 3e-5 + gap])
            # 0.1 mm apart, within the gap that the installation has added.
            d = mujoco.MjData(m)
            mujoco.mj_forward(m, d)
            assert d.ncon == 0
        assert all((getattr(m, name) == array).all() for name, array in zip(names, before))
    with pytest.raises(exact.MujocoError, match="speed is -1"):
        exact.install(m, {"a": a}, speed=-1)


def test_meshes_have_no_points_outside_the_solid():
    """Corners of parameter rectangles would be millimetres outside rings with grooves."""
    for name in ("race", "ring", "spool", "blind-bore", "plug", "socket", "shaft"):
        part = body(name)
        mesh = part.mesh(1e-3 * part.size)
        assert len(np.unique(mesh.triangles)) == len(mesh.points)
        assert (np.abs(mesh.points - part.bounds.mean(0)) <= np.ptp(part.bounds, 0) / 2 + 1e-6).all()
        with installed(scene({"a": part}, exact.body_element("a", part, 7850)), {"a": part}):
            pass


def test_other_models_use_mujoco_and_uninstall_restores_the_table():
    _, library = exact._mujoco()
    table = exact._table(library)
    before = [table[i][j] for i, j in exact._ENTRIES]
    a, b = body("box"), body("ball")
    m, other = model(a, b, [0, 0, 22]), model(a, b, [0, 0, 22])
    plain = run(other, 200)[0].qpos.copy()
    exact.install(m, {"a": a, "b": b})
    exact.install(m, {0: a, 1: b})
    assert [table[i][j] for i, j in exact._ENTRIES] != before
    assert (run(other, 200)[0].qpos == plain).all()
    exact.uninstall(m)
    assert [table[i][j] for i, j in exact._ENTRIES] == before
    assert (run(m, 200)[0].qpos == plain).all()


def test_other_libraries_in_the_table():
    _, library = exact._mujoco()
    table = exact._table(library)
    first = table[8][8]
    a, b = body("box"), body("ball")
    ours, other = model(a, b, [0, 0, 22]), model(a, b, [0, 0, 22])
    plain = run(other, 100)[0].qpos.copy()
    calls_of = {"below": [], "above": []}

    def stranger(name, below):
        def call(model, data, out, g1, g2, margin):
            calls_of[name].append(model)
            return ctypes.cast(below, COLLISION)(model, data, out, g1, g2, margin)

        return COLLISION(call)

    def counted(m):
        for calls in calls_of.values():
            calls.clear()
        q = run(m, 100)[0].qpos.copy()
        return q, len(calls_of["below"]), len(calls_of["above"])

    below = stranger("below", first)
    table[8][8] = ctypes.cast(below, ctypes.c_void_p).value
    try:
        # A function that was there before is called for other models.
        exact.install(ours, {"a": a, "b": b})
        q, n, _ = counted(other)
        assert (q == plain).all() and n > 0
        exactly, n, _ = counted(ours)
        assert not (exactly == plain).all() and n == 0
        # A function that is added later remains and calls ours.
        above = stranger("above", table[8][8])
        place = table[8][8] = ctypes.cast(above, ctypes.c_void_p).value
        exact.uninstall(ours)
        assert table[8][8] == place
        q, n, m = counted(ours)
        assert (q == plain).all() and n == m > 0
        # Installed again, calls do not loop.
        exact.install(ours, {"a": a, "b": b})
        assert table[8][8] == place
        q, n, m = counted(ours)
        assert (q == exactly).all() and n == 0 and m > 0
        q, n, m = counted(other)
        assert (q == plain).all() and n == m > 0
        exact.uninstall(ours)
        # A function over one that calls ours has an unknown successor.
        table[8][8] = ctypes.cast(stranger("above", place), ctypes.c_void_p).value
        with pytest.raises(exact.MujocoError, match="remove both functions first"):
            exact.install(ours, {"a": a, "b": b})
        # It removes itself, and ours is found again.
        table[8][8] = exact._feeler.mujoco_functions()[2]
        with installed(ours, {"a": a, "b": b}):
            assert (counted(ours)[0] == exactly).all()
        assert table[8][8] == ctypes.cast(below, ctypes.c_void_p).value
    finally:
        table[8][8] = first


def test_errors_say_what_to_do(monkeypatch, tmp_path):
    a = body("box")
    m = model(a, a, [0, 0, 30])
    with pytest.raises(exact.MujocoError, match="no geom 'c'"):
        exact.install(m, {"c": a})
    with pytest.raises(exact.MujocoError, match="mm apart"):
        exact.install(m, {"a": body("ball")})
    plane = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><geom name="p" type="plane" size="1 1 1"/></worldbody></mujoco>'
    )
    with pytest.raises(exact.MujocoError, match="is not a mesh"):
        exact.install(plane, {"p": a})
    monkeypatch.setattr(mujoco, "__version__", "4.0.1")
    with pytest.raises(exact.MujocoError, match="4.0.1 is not known.*pip install"):
        exact.install(m, {"a": a})
    monkeypatch.undo()
    # With wheels of two versions the library is missing in the folder of MuJoCo.
    monkeypatch.setattr(mujoco, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(exact.MujocoError, match="contains no library of MuJoCo"):
        exact.install(m, {"a": a})


def test_the_example_of_a_hinge_swings_and_writes_a_page(tmp_path):
    """The worked mechanism of docs/MECHANISMS.md: energy and period of a pendulum without friction."""
    example, page = pathlib.Path(__file__).parents[1] / "examples" / "hinge.py", tmp_path / "hinge.html"
    command = [sys.executable, example, DATA / "contact", "--seconds", "1", "--step", "0.001", "--page", page]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    numbers = {key: [float(x) for x in re.findall(r"[-+]?[0-9][0-9.]*", text)] for key, text in found.items()}
    period, expected = numbers["period"]
    assert abs(expected - 0.3582) < 1e-4 and abs(period / expected - 1) < 3e-3
    assert numbers["swing"][0] == 60 and numbers["swing"][1] > 59
    assert -3 < numbers["energy"][0] < 0 and numbers["energy"][1] < 0.1
    # Gravity moves the pin by 10 µm in a step, and the softness of contacts allows as much.
    assert numbers["deepest"][0] < 25
    failed, unexplained, updates, uncovered, dropped = numbers["counts"]
    assert failed == unexplained == dropped == 0 and uncovered < 0.01 * updates
    # Joints of three bodies, each with three prismatic and three revolute joints.
    motion = page.with_suffix(".toml").read_text()
    assert motion.count("[[joint]]") == 18 and "leaf-revolute-y" in motion
    assert "leaf" in page.read_text()
