"""MuJoCo with exact contacts; left out where it is not installed."""

import ctypes
import pathlib
import threading

import numpy as np
import pytest

import feeler

mujoco = pytest.importorskip("mujoco")
exact = pytest.importorskip("feeler.mujoco")

DATA = pathlib.Path(__file__).resolve().parents[3] / "data"
STIFF = 'solref="0.002 1" solimp="0.99 0.99 0.001" friction="0 0 0" condim="1"'


def body(name):
    return feeler.prepare(DATA / f"{name}.step").body()


def model(a, b, start, kind="sdf", gravity="0 0 -9.81"):
    x, y, z = (1e-3 * v for v in start)
    return mujoco.MjModel.from_xml_string(f"""<mujoco>
      <option timestep="0.001" gravity="{gravity}" integrator="Euler"/>
      <asset>{exact.mesh_asset("a", a)}{exact.mesh_asset("b", b)}</asset>
      <worldbody><geom name="a" type="{kind}" mesh="a" {STIFF}/>
      <body pos="{x} {y} {z}"><freejoint/>{exact.inertial(b, 7850)}
      <geom name="b" type="{kind}" mesh="b" {STIFF}/></body></worldbody></mujoco>""")


@pytest.fixture
def pin():
    a, b = body("blind-bore"), body("pin")
    m = model(a, b, [0, 0, 20.1], gravity="2.8 -0.9 -9.3")
    exact.install(m, {"a": a, "b": b})
    yield m, a, b
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
    d, deepest, most = run(m, 2000)
    assert 0 < most <= 50
    rest = d.contact.dist.min() * 1e3
    assert -0.005 <= rest <= 0
    # Judged by a query of its own: the depth is that of the true solids.
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
    alone = [run(m, 300)[0].qpos.copy() for _ in range(2)]
    assert (alone[0] == alone[1]).all()
    out = [None] * 4

    def work(k):
        out[k] = run(m, 300)[0].qpos.copy()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all((q == alone[0]).all() for q in out)
    # Data that begins again begins anew.
    d, *_ = run(m, 100)
    mujoco.mj_resetData(m, d)
    for _ in range(300):
        mujoco.mj_step(m, d)
    assert (d.qpos == alone[0]).all()


def test_rollouts_of_mujoco(pin):
    from mujoco import rollout

    m, *_ = pin
    d = mujoco.MjData(m)
    size = mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    start = np.zeros(size)
    mujoco.mj_getState(m, d, start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    one, _ = rollout.rollout(m, d, np.tile(start, (4, 1)), nstep=200)
    many, _ = rollout.rollout(m, [mujoco.MjData(m) for _ in range(2)], np.tile(start, (4, 1)), nstep=200)
    assert (one == many).all()


def test_meshes_get_the_deepest_contacts():
    a, b = body("box"), body("box")
    m = model(a, b, [0, 0, 19.999], kind="mesh")
    exact.install(m, {"a": a, "b": b})
    try:
        _, _, most = run(m, 100)
        assert 0 < most <= 4
    finally:
        exact.uninstall(m)


def test_others_are_mujocos_and_uninstall_gives_the_table_back():
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
    with pytest.raises(exact.MujocoError, match="is no mesh"):
        exact.install(plane, {"p": a})
    monkeypatch.setattr(mujoco, "__version__", "4.0.1")
    with pytest.raises(exact.MujocoError, match="4.0.1 is not known.*pip install"):
        exact.install(m, {"a": a})
