"""Exact contacts of CAD solids in MuJoCo.

    import mujoco, feeler, feeler.mujoco as exact

    bore, pin = (feeler.prepare_step(f"{name}.step").body() for name in ("bore", "pin"))
    model = mujoco.MjModel.from_xml_string(f'''<mujoco>
      <option timestep="0.001"/>
      <asset>{exact.mesh_asset("bore", bore)}{exact.mesh_asset("pin", pin)}</asset>
      <worldbody>
        <geom name="bore" type="sdf" mesh="bore" {exact.STIFF}/>
        {exact.body_element("pin", pin, 7850, pos=(0, 0, 0.02))}
      </worldbody></mujoco>''')
    exact.install(model, {"bore": bore, "pin": pin})

feeler computes the contacts between two geoms if both are given to `install`: a set that suffices for the step
(feeler.ContactTracker). MuJoCo computes all other contacts from the meshes, that is from convex hulls, in which
every hole is filled. Lengths are in metres in MuJoCo and in millimetres in feeler.

A pair of geoms of type sdf can have 50 contacts, one of type mesh 4 (1 without multiccd); if there are more, the
deepest are used. Contacts in MuJoCo are soft: parts overlap by micrometres with STIFF, and by hundredths to tenths
of a millimetre with the defaults of MuJoCo. Contacts act below the margin of the geoms, so that parts at rest are
that far apart: keep margin and gap at 0, or set margin="5e-6" for impacts.

Call `uninstall(model)` before a model is deleted: another model may get its address.
"""

from __future__ import annotations

import ctypes as _ctypes
import os as _os
import threading as _threading
import warnings as _warnings
from collections.abc import Mapping as _Mapping, Sequence as _Sequence
from types import ModuleType as _Module
from typing import TYPE_CHECKING, Any as _Any, NamedTuple as _NamedTuple

import numpy as _np

from . import _feeler

if TYPE_CHECKING:
    from mujoco import MjData, MjModel
    from numpy.typing import NDArray

    Part = _feeler.Body | str | _os.PathLike[str]

VERSIONS = ("4.0.0",)
"""Supported versions of MuJoCo: those whose table of collision functions is known."""

STIFF = 'solref="0.002 1" solimp="0.99 0.99 0.001"'
"""Attributes of a geom (XML) for stiff contacts: parts overlap by micrometres at a time step of 1 ms."""

_MESH, _SDF, _TYPES = 7, 8, 9
_FREE = 0  # mjJNT_FREE
_ENTRIES = ((_MESH, _MESH), (_MESH, _SDF), (_SDF, _SDF))
# Number of contacts of two geoms of type sdf. More cost time in MuJoCo; fewer may drop contacts that carry loads.
_MAX_CONTACTS = 50
# Smallest gap (mm) that is added to two geoms. A smaller one misses contacts of slow parts; a larger one costs calls.
_GAP = 0.2
# Number of steps whose motion the gaps of geoms cover: the motion is known from the second call on.
_STEPS = 2
# An inverse weight of a body below this fraction of that of its contacts counts as zero.
_WEIGHTLESS = 1e-2
_lock = _threading.Lock()
# Functions that our functions call for other geoms, by entry; None while ours are not in the table.
_earlier: list[int] | None = None
# Entries of the table that contained a function of another library when the last model was uninstalled: that function,
# and the one that ours calls.
_covered: dict[int, tuple[int, int]] = {}


class MujocoError(RuntimeError):
    """Exact contacts cannot be installed; the message says why and what to do."""


class MujocoWarning(UserWarning):
    """The model would move incorrectly; the message says what was corrected or what to do."""


# Arrays of a model that `install` changes.
_CHANGED = ("geom_gap", "pair_gap", "body_margin", "body_invweight0")


class _Saved(_NamedTuple):
    """Values of a model that `install` changes, for each array before and after."""

    initpoints: int
    arrays: dict[str, tuple[NDArray[_np.float64], NDArray[_np.float64]]]


# By the address of the model.
_saved: dict[int, _Saved] = {}


def _mujoco() -> tuple[_Module, _ctypes.CDLL]:
    try:
        import mujoco
    except ImportError as e:
        raise MujocoError("MuJoCo is not installed: pip install 'feeler[mujoco]'") from e
    if mujoco.__version__ not in VERSIONS:
        raise MujocoError(
            f"MuJoCo {mujoco.__version__} is not known to feeler.mujoco, which writes to its table of "
            f"collision functions: pip install mujoco=={VERSIONS[-1]} mujoco-core=={VERSIONS[-1]}"
        )
    folder = _os.path.dirname(mujoco.__file__)
    names = [n for n in _os.listdir(folder) if n.startswith(("libmujoco.", "mujoco.dll"))]
    if not names:
        raise MujocoError(f"{folder} contains no library of MuJoCo: reinstall mujoco-core")
    return mujoco, _ctypes.CDLL(_os.path.join(folder, names[0]))


def _table(library: _ctypes.CDLL) -> _Any:
    return ((_ctypes.c_void_p * _TYPES) * _TYPES).in_dll(library, "mjCOLLISIONFUNC")


def _offsets(mujoco: _Module, model: MjModel) -> list[int]:
    """Offsets of the time and of the pointers to positions and rotations of geoms in mjData, and of the time step and
    gravity in mjModel. They are found by searching for known values."""
    data = mujoco.MjData(model)
    xpos, xmat = data.geom_xpos.ctypes.data, data.geom_xmat.ctypes.data

    def find(struct: int, wanted: int) -> int:
        # The struct contains the value, so the search ends within it.
        return next(k for k in range(0, 1 << 22, 8) if wanted == _ctypes.c_uint64.from_address(struct + k).value)

    data.time = 0.7182818284590452
    time = find(data._address, int(_np.float64(data.time).view(_np.uint64)))
    length, model.opt.timestep = model.opt.timestep, 0.0577215664901532
    try:
        step = find(model._address, int(_np.float64(model.opt.timestep).view(_np.uint64)))
    finally:
        model.opt.timestep = length
    gravity = model.opt.gravity.ctypes.data - model._address
    return [time, find(data._address, xpos), find(data._address, xmat), step, gravity]


def _body(part: Part) -> _feeler.Body:
    if isinstance(part, _feeler.Body):
        return part
    path = _os.fspath(part)
    model = _feeler.Model.read(path) if path.endswith(".feeler") else _feeler.prepare_step(path)
    if len(model) != 1:
        raise MujocoError(f"{path} contains {len(model)} solids: give one of them, as Model.body(index)")
    return model.body()


def _frame(model: MjModel, mesh: int) -> NDArray[_np.float64]:
    """Pose of the solid in the frame of the geom: MuJoCo translates meshes to their centres of mass and rotates
    them."""
    w, x, y, z = model.mesh_quat[mesh]
    turn = _np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    frame = _np.eye(4)
    frame[:3, :3] = turn.T
    frame[:3, 3] = -turn.T @ model.mesh_pos[mesh] * 1e3
    return frame


def _check_size(
    name: str | int, model: MjModel, mesh: int, frame: NDArray[_np.float64], body: _feeler.Body
) -> None:
    """Raises MujocoError for a mesh with other units or of another part."""
    first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    points = model.mesh_vert[first : first + count].astype(float) * 1e3
    points = (points - frame[:3, 3]) @ frame[:3, :3]
    off = _np.abs(_np.array([points.min(0), points.max(0)]) - body.bounds).max()
    if off > 0.05 * body.size:
        raise MujocoError(
            f"geom '{name}': its mesh and the solid '{body.name}' are {off:.3g} mm apart; the mesh must be "
            "in metres and in the own coordinates of the solid (use feeler.mujoco.mesh_asset)"
        )


def _is_free(model: MjModel, geom: int) -> bool:
    """Whether the body of a geom is fixed or has a free joint, so that no other joint guides it."""
    body = int(model.body_weldid[model.geom_bodyid[geom]])
    if body == 0:
        return True
    joint = int(model.body_jntadr[body])
    return int(model.body_jntnum[body]) == 1 and int(model.jnt_type[joint]) == _FREE


def _copies(model: MjModel) -> list[NDArray[_np.float64]]:
    return [getattr(model, name).copy() for name in _CHANGED]


def _restore(model: MjModel) -> None:
    """Undoes the changes of `install` in a model, except of values that were changed since."""
    saved = _saved.pop(model._address, None)
    if saved is None:
        return
    model.opt.sdf_initpoints = saved.initpoints
    for name, (before, after) in saved.arrays.items():
        array = getattr(model, name)
        # A model that was deleted without `uninstall` may have had the same address.
        if array.shape == before.shape:
            array[:] = _np.where(array == after, before, array)


def _widen(model: MjModel, geoms: set[int], gap: float) -> None:
    """Adds a gap (m) to each pair of geoms: MuJoCo calls the function for boxes nearer than margins and gaps."""
    for geom in geoms:
        model.geom_gap[geom] += 0.5 * gap
        body = model.geom_bodyid[geom]
        margin = model.geom_margin[geom] + model.geom_gap[geom]
        model.body_margin[body] = max(model.body_margin[body], margin)
    # Margins and gaps of <pair> elements replace those of the geoms.
    for pair, both in enumerate(zip(model.pair_geom1, model.pair_geom2)):
        if geoms.issuperset(int(geom) for geom in both):
            model.pair_gap[pair] += gap


def _correct_weights(mujoco: _Module, model: MjModel, geoms: set[int]) -> list[str]:
    """Replaces inverse weights of bodies that are zero up to rounding although contacts move the body.

    `body_invweight0` of MuJoCo is the mean inverse mass of the centre of mass over three directions, and the mean
    inverse inertia. It scales the regularisation of contacts. With a joint through the centre of mass the first value
    is 0, contacts have no regularisation, and energy grows. With the mean inverse inertia r, the inertia I and the
    mass m of the body, the value is replaced by r trace(I) / m, which is 1 / m for a ball on a hinge. Rotations of a
    body on a slide are corrected likewise.

    Returns a message for each corrected body.
    """
    messages = []
    for body in sorted({int(model.geom_bodyid[geom]) for geom in geoms}):
        mass, inertia = float(model.body_mass[body]), model.body_inertia[body]
        if model.body_weldid[body] == 0 or mass <= 0 or inertia.min() <= 0:
            continue
        weights = model.body_invweight0[body]
        shift, turn = map(float, weights)
        # Only contacts with torsional friction have rows for rotations.
        has_torsion = any(model.geom_condim[geom] > 3 for geom in geoms if model.geom_bodyid[geom] == body)
        wanted = turn * float(inertia.sum()) / mass, shift * mass * float((1 / inertia).mean())
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body) or body
        for k, (unit, is_used) in enumerate((("1/kg", True), ("1/(kg m2)", has_torsion))):
            if is_used and weights[k] < _WEIGHTLESS * wanted[k]:
                what = "rotations" if k else "its centre of mass"
                messages.append(
                    f"body {name!r}: its joints leave {what} without an inverse weight "
                    f"(body_invweight0[{body}, {k}] = {weights[k]:.3g} {unit}), and contacts would add "
                    f"energy; set to {wanted[k]:.3g}"
                )
                weights[k] = wanted[k]
    return messages


def install(
    model: MjModel,
    geoms: _Mapping[str, Part] | _Mapping[int, Part] | _Mapping[str | int, Part],
    *,
    reach: float | None = None,
    depth: float = 1.0,
    speed: float = 1.0,
) -> None:
    """Lets feeler compute the contacts between the given geoms of a model, for all its data and in all threads.

    geoms: for each geom, by name or number, its solid: a Body, or a .feeler or STEP file with one solid.
    reach: largest relative displacement (mm) of two parts in a step for which the contacts suffice. None: the
    distance covered in two steps at `speed`, at least 1 mm. The contacts suffice for twice the displacement of the
    last step plus that by gravity, up to this distance.
    depth: largest depth (mm) of contacts between overlapping solids; the thickness of the solids may limit it further.
    speed: relative speed (m/s) up to which impacts are expected. MuJoCo requests contacts only if the boxes of the
    geoms are near enough: the gaps of two geoms are increased by the distance covered in two steps at this speed, or
    by `reach` if that is larger. Contacts in this added gap do not act.

    Bodies with joints through their centre of mass get an inverse weight (`body_invweight0`), with a MujocoWarning;
    call `install` again after `mj_setConst`, which resets it. During a simulation, a MujocoWarning names each pair of
    geoms that interfere without a contact.

    Raises MujocoError if MuJoCo is missing or its version is not in VERSIONS, for geoms that are neither mesh nor sdf,
    and for meshes that are not in metres or not in the own coordinates of the solid.
    """
    global _earlier
    mujoco, library = _mujoco()
    if not (_np.isfinite(speed) and speed >= 0):
        raise MujocoError(f"speed is {speed}: give a finite number of m/s, 0 or more")
    farthest = None if reach is None else float(reach)
    # Sum of the gaps that are added to two geoms (m).
    gap = max(1e-3 * (_GAP if farthest is None else farthest), _STEPS * speed * model.opt.timestep)
    ours = []
    for key, part in geoms.items():
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, key) if isinstance(key, str) else int(key)
        if not 0 <= number < model.ngeom:
            raise MujocoError(f"the model has no geom {key!r}")
        mesh = model.geom_dataid[number]
        if model.geom_type[number] not in (_MESH, _SDF) or mesh < 0:
            raise MujocoError(f"geom {key!r} is not a mesh: give it type=\"sdf\" and a mesh of the solid")
        body, frame = _body(part), _frame(model, mesh)
        _check_size(key, model, mesh, frame, body)
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_GEOM, int(number)) or int(number)
        ours.append((int(number), repr(name), body, frame, _is_free(model, int(number))))
    with _lock:
        if _earlier is None:
            table, functions, earlier = _table(library), _feeler.mujoco_functions(), []
            for k, (i, j) in enumerate(_ENTRIES):
                now = table[i][j] or 0
                cover, below = _covered.get(k, (now, now))
                if now not in (cover, below, functions[k]):
                    raise MujocoError(
                        "another library has replaced a function in MuJoCo's table of collision functions that was "
                        "there when the last model was uninstalled: remove both functions first"
                    )
                # A covering function calls ours; if ours called it, the calls would not end.
                earlier.append(below)
            _earlier = earlier
            max_contacts = _ctypes.cast(library.mj_maxContact, _ctypes.c_void_p).value or 0
            _feeler.mujoco_begin(_earlier, max_contacts, _offsets(mujoco, model))
            for k, (i, j) in enumerate(_ENTRIES):
                if k not in _covered or table[i][j] == _covered[k][1]:
                    table[i][j] = functions[k]
            _covered.clear()
        _feeler.mujoco_register(model._address, ours, farthest, gap, float(depth))
        _restore(model)
        before, initpoints = _copies(model), model.opt.sdf_initpoints
        model.opt.sdf_initpoints = max(initpoints, _MAX_CONTACTS)
        numbers = {number for number, *_ in ours}
        _widen(model, numbers, gap)
        messages = _correct_weights(mujoco, model, numbers)
        arrays = dict(zip(_CHANGED, zip(before, _copies(model))))
        _saved[model._address] = _Saved(initpoints, arrays)
    for message in messages:
        _warnings.warn(message, MujocoWarning, stacklevel=2)


def uninstall(model: MjModel) -> None:
    """Lets MuJoCo compute the contacts of a model again, and undoes the changes of `install`. After the last model the
    table of MuJoCo is restored."""
    global _earlier
    _, library = _mujoco()
    with _lock:
        left = _feeler.mujoco_forget(model._address)
        _restore(model)
        if left == 0 and _earlier is not None:
            table = _table(library)
            for k, ((i, j), function) in enumerate(zip(_ENTRIES, _feeler.mujoco_functions())):
                # The function of another library may call ours, so that it must remain.
                if table[i][j] == function:
                    table[i][j] = _earlier[k] or None
                else:
                    _covered[k] = (table[i][j] or 0, _earlier[k])
            _earlier = None


class Counts(_NamedTuple):
    """Counts over all calls for pairs of geoms of a model since `install`."""

    failed: int
    """Calls without contacts because a pose was not finite or because of an error of feeler."""
    unexplained: int
    """Updates in which solids interfered and no contact had a negative gap, because they were too deep."""
    updates: int
    """Updates of the contacts of two geoms."""
    uncovered: int
    """Steps whose motion exceeded the bound for which the contacts suffice, for example impacts."""
    dropped: int
    """Contacts beyond the maximum number of MuJoCo; those with the largest gaps are dropped."""


def counts(model: MjModel) -> Counts:
    """Counts over all data and threads of a model. `failed` and `unexplained` are 0 in a valid simulation.

    Raises MujocoError for a model without `install`.
    """
    found = _feeler.mujoco_counts(model._address)
    if found is None:
        raise MujocoError("nothing is installed for this model: call feeler.mujoco.install first")
    return Counts(*found)


def pose(model: MjModel, data: MjData, geom: str | int) -> NDArray[_np.float64]:
    """Pose of the solid of a geom for queries: a 4x4 matrix from own coordinates to world coordinates (mm).

    geom: name or number of a geom with a mesh in the solid's own coordinates.
    """
    mujoco, _ = _mujoco()
    number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, geom) if isinstance(geom, str) else int(geom)
    if not 0 <= number < model.ngeom or model.geom_dataid[number] < 0:
        raise MujocoError(f"the model has no geom {geom!r} with a mesh")
    world = _np.eye(4)
    world[:3, :3] = data.geom_xmat[number].reshape(3, 3)
    world[:3, 3] = data.geom_xpos[number] * 1e3
    solid: NDArray[_np.float64] = world @ _frame(model, model.geom_dataid[number])
    return solid


def _numbers(numbers: _Sequence[float] | NDArray[_np.float64]) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def mesh_asset(name: str, body: _feeler.Body, chord: float | None = None) -> str:
    """<mesh> element (XML): the display mesh of a solid, in metres, in own coordinates of the solid.

    chord: largest distance (mm) from the solid; by default a thousandth of its size.
    """
    mesh = body.mesh(chord if chord is not None else 1e-3 * body.size)
    points = " ".join(f"{x:.9g}" for x in (_np.asarray(mesh.points) * 1e-3).ravel())
    corners = " ".join(str(k) for k in _np.asarray(mesh.triangles).ravel())
    return f'<mesh name="{name}" vertex="{points}" face="{corners}"/>'


def _mass(body: _feeler.Body, density: float) -> tuple[NDArray[_np.float64], str]:
    """Centre of mass (mm), and attributes for the mass and the inertia at a density (kg/m3)."""
    tensor, center = body.inertia, body.centroid
    if tensor is None or center is None:
        raise MujocoError(f"'{body.name}' is an open surface and has no mass")
    t = tensor * density * 1e-15
    full = [t[0, 0], t[1, 1], t[2, 2], t[0, 1], t[0, 2], t[1, 2]]
    return center, f'mass="{body.volume * density * 1e-9!r}" fullinertia="{_numbers(full)}"'


def inertial(body: _feeler.Body, density: float) -> str:
    """<inertial> element (XML): mass, centre of mass and inertia of the exact solid at a density (kg/m3), for a body
    whose frame is that of the solid's own coordinates."""
    center, mass = _mass(body, density)
    return f'<inertial pos="{_numbers(center * 1e-3)}" {mass}/>'


def body_element(
    name: str,
    body: _feeler.Body,
    density: float,
    *,
    pos: _Sequence[float] | NDArray[_np.float64] = (0, 0, 0),
    quat: _Sequence[float] | NDArray[_np.float64] = (1, 0, 0, 0),
    freejoint: bool = True,
    mesh: str | None = None,
    geom: str = STIFF,
    content: str = "",
) -> str:
    """<body> element (XML): a solid of a density (kg/m3) with its exact mass and inertia, and a geom of the same name
    for `install`.

    pos, quat: position (m) and orientation (w first) of the solid's own coordinates in the parent body.
    freejoint: whether the body moves freely. Its frame is then at the centre of mass, with the axes of the solid's
    coordinates, because the integration error of MuJoCo grows with the distance of the two. The position of the body
    in the data (xpos, qpos) is that of the centre of mass; `pose` returns that of the solid. Without a freejoint the
    frame of the body is that of the solid's coordinates.
    mesh: name of the mesh asset, if it differs from `name`.
    geom: attributes of the geom, for example softness and friction.
    content: XML that is inserted in the element, in the frame of the body: joints, sites, sensors, other bodies.
    """
    center, mass = _mass(body, density)
    pos, quat, origin = _np.asarray(pos, float), _np.asarray(quat, float), _np.zeros(3)
    if freejoint:
        origin = center * 1e-3
        w, v = quat[0], quat[1:]
        # The quaternion may have any length, because MuJoCo normalises it.
        turned = origin + 2 * _np.cross(v, _np.cross(v, origin) + w * origin) / (quat @ quat)
        pos = pos + turned
    joint = "<freejoint/>" if freejoint else ""
    return (
        f'<body name="{name}" pos="{_numbers(pos)}" quat="{_numbers(quat)}">{joint}'
        f'<inertial pos="{_numbers(center * 1e-3 - origin)}" {mass}/>'
        f'<geom name="{name}" type="sdf" mesh="{mesh or name}" pos="{_numbers(-origin)}" {geom}/>'
        f"{content}</body>"
    )
