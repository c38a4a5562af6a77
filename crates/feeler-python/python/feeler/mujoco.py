"""Exact contacts of CAD solids in MuJoCo.

    import mujoco, feeler, feeler.mujoco

    pin = feeler.prepare("pin.step").body()
    xml = f'''<mujoco><option timestep="0.001"/>
      <asset>{feeler.mujoco.mesh_asset("pin", pin)}</asset>
      ... <geom name="pin" type="sdf" mesh="pin"/> ...</mujoco>'''
    model = mujoco.MjModel.from_xml_string(xml)
    feeler.mujoco.install(model, {"pin": pin, "bore": "bore.feeler"})

Pairs of geoms that are both given are answered by feeler: one contact for each local minimal distance, and
what still holds of those before. All others are MuJoCo's, by the mesh. Lengths are metres in MuJoCo,
millimetres in feeler; solids stand as they do in their files.

MuJoCo's own contacts of a mesh are those of its convex hull, which fills every hole.

Geoms of type sdf have room for 50 contacts, those of type mesh for 4 (1 without multiccd): the deepest. MuJoCo's
contacts are soft: solref="0.002 1" and solimp="0.99 0.99 0.001" let parts into one another by micrometres,
the defaults by hundredths to tenths. Contacts push from the margin on, and parts rest that far apart: leave it and
gap at 0, or take margin="5e-6" against blows.

Call `uninstall(model)` before a model goes: another one may get its address.
"""

from __future__ import annotations

import ctypes as _ctypes
import os as _os
import threading as _threading
from collections.abc import Mapping as _Mapping
from types import ModuleType as _Module
from typing import TYPE_CHECKING, Any as _Any, NamedTuple as _NamedTuple

import numpy as _np

from . import _feeler

if TYPE_CHECKING:
    from mujoco import MjModel
    from numpy.typing import NDArray

    Part = _feeler.Body | str | _os.PathLike[str]

VERSIONS = ("4.0.0",)
"""Versions of MuJoCo whose table of collision functions is known."""

_MESH, _SDF, _TYPES = 7, 8, 9
_ENTRIES = ((_MESH, _MESH), (_MESH, _SDF), (_SDF, _SDF))
_ROOM = 50
_lock = _threading.Lock()
# What our functions go on to, by entry: None while they are not in the table.
_earlier: list[int] | None = None
# By entry, after the last model went: what another library had put over our function, and what ours goes on to.
_covered: dict[int, tuple[int, int]] = {}
_initpoints: dict[int, int] = {}


class MujocoError(RuntimeError):
    """MuJoCo cannot be given contacts: the message says why, and what to do."""


def _mujoco() -> tuple[_Module, _ctypes.CDLL]:
    try:
        import mujoco
    except ImportError as e:
        raise MujocoError("MuJoCo is not installed: pip install 'feeler[mujoco]'") from e
    if mujoco.__version__ not in VERSIONS:
        raise MujocoError(
            f"MuJoCo {mujoco.__version__} is not known to feeler.mujoco, which writes into its table of "
            f"collision functions: pip install mujoco=={VERSIONS[-1]} mujoco-core=={VERSIONS[-1]}"
        )
    folder = _os.path.dirname(mujoco.__file__)
    names = [n for n in _os.listdir(folder) if n.startswith(("libmujoco.", "mujoco.dll"))]
    if not names:
        raise MujocoError(f"{folder} holds no library of MuJoCo: install mujoco-core again")
    return mujoco, _ctypes.CDLL(_os.path.join(folder, names[0]))


def _table(library: _ctypes.CDLL) -> _Any:
    return ((_ctypes.c_void_p * _TYPES) * _TYPES).in_dll(library, "mjCOLLISIONFUNC")


def _offsets(mujoco: _Module, model: MjModel) -> list[int]:
    """Where mjData keeps its time and its pointers to places of geoms, and mjModel the length of a step:
    looked for by what they hold."""
    data = mujoco.MjData(model)
    xpos, xmat = data.geom_xpos.ctypes.data, data.geom_xmat.ctypes.data

    def find(struct: int, wanted: int) -> int:
        # What is looked for is there, so the search ends within the struct.
        return next(k for k in range(0, 1 << 22, 8) if wanted == _ctypes.c_uint64.from_address(struct + k).value)

    data.time = 0.7182818284590452
    time = find(data._address, int(_np.float64(data.time).view(_np.uint64)))
    length, model.opt.timestep = model.opt.timestep, 0.0577215664901532
    try:
        step = find(model._address, int(_np.float64(model.opt.timestep).view(_np.uint64)))
    finally:
        model.opt.timestep = length
    return [time, find(data._address, xpos), find(data._address, xmat), step]


def _body(part: Part) -> _feeler.Body:
    if isinstance(part, _feeler.Body):
        return part
    path = _os.fspath(part)
    model = _feeler.Model.read(path) if path.endswith(".feeler") else _feeler.prepare(path)
    if len(model) != 1:
        raise MujocoError(f"{path} holds {len(model)} solids: give one of them, as Model.body(number)")
    return model.body()


def _frame(model: MjModel, mesh: int) -> NDArray[_np.float64]:
    """From the solid to the geom: MuJoCo moves meshes to their centres of mass and turns them."""
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
    """A mesh in other units, or of another part, is noticed."""
    first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    points = model.mesh_vert[first : first + count].astype(float) * 1e3
    points = (points - frame[:3, 3]) @ frame[:3, :3]
    off = _np.abs(_np.array([points.min(0), points.max(0)]) - body.bounds).max()
    if off > 0.05 * body.size:
        raise MujocoError(
            f"geom '{name}': its mesh and the solid '{body.name}' are {off:.3g} mm apart; meshes are to be in "
            "metres, in the solid's own coordinates (feeler.mujoco.mesh_asset makes one)"
        )


def install(
    model: MjModel,
    geoms: _Mapping[str, Part] | _Mapping[int, Part] | _Mapping[str | int, Part],
    *,
    reach: float = 0.2,
    depth: float = 1.0,
) -> None:
    """Lets feeler answer for pairs of the given geoms of a model, in all its data and all threads.

    geoms: for each geom, by name or number, its solid: a Body, or a .feeler or STEP file with one solid.
    reach: distance (mm) from which on contacts are followed, more than parts move in a step.
    depth: how deep (mm) in one another solids are told, as far as their walls are thick enough.

    Raises MujocoError where MuJoCo is missing or another version than VERSIONS, for geoms that are neither
    mesh nor sdf, and for meshes that are not in metres or not where the solid is.
    """
    global _earlier
    mujoco, library = _mujoco()
    ours = []
    for key, part in geoms.items():
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, key) if isinstance(key, str) else int(key)
        if not 0 <= number < model.ngeom:
            raise MujocoError(f"the model has no geom {key!r}")
        mesh = model.geom_dataid[number]
        if model.geom_type[number] not in (_MESH, _SDF) or mesh < 0:
            raise MujocoError(f"geom {key!r} is no mesh: give it type=\"sdf\" and a mesh of the solid")
        body, frame = _body(part), _frame(model, mesh)
        _check_size(key, model, mesh, frame, body)
        ours.append((int(number), body, frame))
    with _lock:
        if _earlier is None:
            table, functions, earlier = _table(library), _feeler.mujoco_functions(), []
            for k, (i, j) in enumerate(_ENTRIES):
                now = table[i][j] or 0
                cover, below = _covered.get(k, (now, now))
                if now not in (cover, below, functions[k]):
                    raise MujocoError(
                        "another library has written into MuJoCo's table of collision functions over one that was "
                        "there when the last model was uninstalled: take both out first"
                    )
                # A cover calls our function already: to call the cover from there would never end.
                earlier.append(below)
            _earlier = earlier
            room = _ctypes.cast(library.mj_maxContact, _ctypes.c_void_p).value or 0
            _feeler.mujoco_begin(_earlier, room, _offsets(mujoco, model))
            for k, (i, j) in enumerate(_ENTRIES):
                if k not in _covered or table[i][j] == _covered[k][1]:
                    table[i][j] = functions[k]
            _covered.clear()
        _feeler.mujoco_register(model._address, ours, float(reach), float(depth))
        _initpoints.setdefault(model._address, model.opt.sdf_initpoints)
        model.opt.sdf_initpoints = max(model.opt.sdf_initpoints, _ROOM)


def uninstall(model: MjModel) -> None:
    """Gives a model's contacts back to MuJoCo; after the last one its table is as it was."""
    global _earlier
    _, library = _mujoco()
    with _lock:
        left = _feeler.mujoco_forget(model._address)
        model.opt.sdf_initpoints = _initpoints.pop(model._address, model.opt.sdf_initpoints)
        if left == 0 and _earlier is not None:
            table = _table(library)
            for k, ((i, j), function) in enumerate(zip(_ENTRIES, _feeler.mujoco_functions())):
                # Another one may stand there, which goes on to ours: it must stay.
                if table[i][j] == function:
                    table[i][j] = _earlier[k] or None
                else:
                    _covered[k] = (table[i][j] or 0, _earlier[k])
            _earlier = None


class Counts(_NamedTuple):
    """How often feeler had no answer for a pair of geoms, since the model's installation."""

    failed: int
    """Calls without contacts, because a pose was not finite, or by an error of feeler's."""
    unexplained: int
    """Calls in which solids were in one another without a contact that shows it: too deep for their walls."""


def counts(model: MjModel) -> Counts:
    """How often there was no answer, in all data and threads of a model. Both are 0 where all is well.

    Raises MujocoError for a model that nothing is installed for.
    """
    found = _feeler.mujoco_counts(model._address)
    if found is None:
        raise MujocoError("nothing is installed for this model: call feeler.mujoco.install first")
    return Counts(*found)


def mesh_asset(name: str, body: _feeler.Body, chord: float | None = None) -> str:
    """A <mesh> element (XML) of a solid's display mesh, in metres, in the solid's own coordinates.

    chord: how far (mm) it may be from the solid; a thousandth of the size unless told.
    """
    mesh = body.mesh(chord if chord is not None else 1e-3 * body.size)
    points = " ".join(f"{x:.9g}" for x in (_np.asarray(mesh.points) * 1e-3).ravel())
    corners = " ".join(str(k) for k in _np.asarray(mesh.triangles).ravel())
    return f'<mesh name="{name}" vertex="{points}" face="{corners}"/>'


def inertial(body: _feeler.Body, density: float) -> str:
    """An <inertial> element (XML): mass, centre and inertia of the exact solid at a density (kg/m3)."""
    tensor, center = body.inertia, body.centroid
    if tensor is None or center is None:
        raise MujocoError(f"'{body.name}' has no volume, and so no mass")
    t = tensor * density * 1e-15
    full = [t[0, 0], t[1, 1], t[2, 2], t[0, 1], t[0, 2], t[1, 2]]
    pos = " ".join(repr(float(x)) for x in center * 1e-3)
    numbers = " ".join(repr(float(x)) for x in full)
    return f'<inertial pos="{pos}" mass="{body.volume * density * 1e-9!r}" fullinertia="{numbers}"/>'
