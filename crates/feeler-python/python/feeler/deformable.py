"""Deformable bodies of finite elements in contact with each other, with rigid bodies and with exact solids.

    import feeler.deformable as fd

    rubber = fd.Material(young=5, poisson=0.4, density=1.1e-9)
    mesh = fd.Mesh.box_of_hexahedra([0, 0, 0.2], [20, 20, 10], [2, 2, 1])
    block = fd.DeformableBody(mesh, rubber, skin=0.1)
    plate = fd.RigidBody([[-20, -20, 0], [80, -20, 0], [80, 40, 0], [-20, 40, 0]], [[0, 1, 2], [0, 2, 3]], skin=0.1)
    simulation = fd.Simulation(fd.ContactSettings(penalty=50, margin=0.5))
    simulation.add(block)
    simulation.add(plate)
    simulation.set_gravity([0, 0, -9810])
    simulation.run(1000, 0.9 * simulation.stable_step(2))
    block.positions     # numpy array (mm)

The plate can also be a prepared solid with its own faces: fd.RigidBody.solid(feeler.prepare_step(path).body(), pose).

Units are mm, s and t (tonnes): forces are in N, stresses in N/mm², energies in mJ. The guide is docs/DEFORMABLE.md.
"""

from __future__ import annotations

from typing import NamedTuple

from ._feeler import deformable as _native

ContactSettings = _native.ContactSettings
DeformableBody = _native.DeformableBody
GrainCoupling = _native.GrainCoupling
Material = _native.Material
Mesh = _native.Mesh
RigidBody = _native.RigidBody
Simulation = _native.Simulation

__all__ = [
    "ContactSettings",
    "DeformableBody",
    "Energies",
    "GrainCoupling",
    "Material",
    "Mesh",
    "PairStatus",
    "RigidBody",
    "SearchCounts",
    "Simulation",
]


class Energies(NamedTuple):
    """Energies of all bodies (mJ)."""

    kinetic: float
    strain: float
    contact: float
    gravity: float

    @property
    def total(self) -> float:
        """Sum of all energies (mJ)."""
        return self.kinetic + self.strain + self.contact + self.gravity


class PairStatus(NamedTuple):
    """Pair of pieces of different bodies, with the bound of its distance."""

    bodies: tuple[int, int]
    pieces: tuple[int, int]
    bound: float
    is_active: bool


class SearchCounts(NamedTuple):
    """Counts of the contact search since the start of a simulation."""

    pair_steps: int
    distances: int
    trees_built: int
    collections: int
    feature_tests: int
    sorted_features: int
    box_updates: int
    box_tests: int
    signed_distances: int
