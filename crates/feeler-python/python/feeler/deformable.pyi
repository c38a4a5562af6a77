"""Deformable bodies of finite elements in contact with each other, with rigid bodies and with exact solids: explicit
time steps, penalty contact with Coulomb friction. The guide is docs/DEFORMABLE.md.

Units: mm, s and t (tonnes). Forces are in N, stresses and Young's moduli in N/mm², energies in mJ, momenta in N·s.
Steel has the density 7.85e-9 t/mm³ and Young's modulus 2.1e5 N/mm².

Bodies: an object of DeformableBody or RigidBody refers to its body before and after it is added to a simulation. Arrays
such as `positions` are copies that later steps do not change.

Poses, as in the rest of feeler: a 4x4 matrix, [x, y, z], or [x, y, z, qx, qy, qz, qw] with a unit quaternion; None is
the identity.

Nodes: arguments named `nodes` are one index or an array of indices of shape (k,). If a node or a value is not valid, no
node is changed.

Errors: ValueError with the expected and the given shape and dtype for wrong arrays; QueryError for values that are not
valid, or not finite; SceneError for steps that fail; FileError for mesh files.

Threads: a Simulation, and the objects of its bodies, may be used by one thread at a time: using an object that another
thread uses raises RuntimeError. Steps release the GIL. Results have the same bits every time.

Examples in this file run in the root of the project.
"""

from os import PathLike
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import Body, GrainForces, Pose

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

class Mesh:
    """Mesh of tetrahedra with four nodes and hexahedra with eight nodes.

    nodes: positions (mm), shape (n, 3).
    tetrahedra: node indices, shape (k, 4). The first three nodes are counterclockwise seen from outside the fourth, so
    that the volume (b - a) x (c - a) · (d - a) is positive.
    hexahedra: node indices, shape (k, 8), in the order of gmsh: the bottom face counterclockwise seen from the top,
    then the top face.

    Elements are checked when a DeformableBody is created. A face that belongs to one element only is part of the
    boundary. A quadrilateral face never matches triangles, so the interface of tetrahedra and hexahedra in one mesh
    counts as boundary. Meshes can be pickled and compared.

    >>> corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> feeler.deformable.Mesh(corners, tetrahedra=[[0, 1, 2, 3]])
    <Mesh: 4 nodes, 1 tetrahedra, 0 hexahedra>
    """

    def __init__(
        self, nodes: ArrayLike, tetrahedra: ArrayLike | None = None, hexahedra: ArrayLike | None = None
    ) -> None: ...
    @staticmethod
    def box_of_tetrahedra(corner: ArrayLike, size: ArrayLike, divisions: tuple[int, int, int] | list[int]) -> Mesh:
        """Box of tetrahedra, six for each cell of `box_of_hexahedra`, with the same nodes. Raises QueryError."""
    @staticmethod
    def box_of_hexahedra(corner: ArrayLike, size: ArrayLike, divisions: tuple[int, int, int] | list[int]) -> Mesh:
        """Box of hexahedra from `corner` with the edge lengths `size` (mm, shape (3,)), and the numbers of divisions
        along x, y and z. Node (i, j, k) has the index i + (nx + 1) * (j + (ny + 1) * k). Raises QueryError."""
    @staticmethod
    def from_msh(text: str) -> Mesh:
        """Mesh from the text of a file of gmsh in the text formats MSH 2.2 or 4.1. Coordinates are taken as mm.
        Elements of points, curves and surfaces are skipped, and so are nodes that belong to no volume element; other
        volume elements are errors. Raises FileError with the number of the line."""
    @staticmethod
    def read_msh(path: str | PathLike[str]) -> Mesh:
        """Mesh from a file of gmsh, as from_msh. Raises FileError with the path and the number of the line."""
    @property
    def nodes(self) -> NDArray[np.float64]:
        """Positions of the nodes (mm), shape (n, 3)."""
    @property
    def tetrahedra(self) -> NDArray[np.uint32]:
        """Node indices of the tetrahedra, shape (k, 4)."""
    @property
    def hexahedra(self) -> NDArray[np.uint32]:
        """Node indices of the hexahedra, shape (k, 8)."""

class Material:
    """Isotropic material with the St Venant–Kirchhoff law: the second Piola–Kirchhoff stress is a linear function of
    the Green strain. The law is meant for small strains with arbitrary rotations; an element that is compressed to less
    than about 58 % of its length loses its stiffness.

    young: Young's modulus (N/mm²), finite and positive.
    poisson: Poisson's ratio, above -1 and below 0.5.
    density: density (t/mm³), finite and positive.

    Raises QueryError.

    >>> steel = feeler.deformable.Material(young=2.1e5, poisson=0.3, density=7.85e-9)
    >>> round(steel.bar_wave_speed / 1e6, 2)
    5.17
    """

    def __init__(self, young: float, poisson: float, density: float) -> None: ...
    @property
    def young(self) -> float:
        """Young's modulus (N/mm²)."""
    @property
    def poisson(self) -> float:
        """Poisson's ratio."""
    @property
    def density(self) -> float:
        """Density (t/mm³)."""
    @property
    def lame(self) -> tuple[float, float]:
        """Lamé's constants lambda and mu (N/mm²)."""
    @property
    def bar_wave_speed(self) -> float:
        """Speed of longitudinal waves in a slender bar, sqrt(E / rho) (mm/s)."""
    @property
    def pressure_wave_speed(self) -> float:
        """Speed of pressure waves in an unbounded solid, sqrt((lambda + 2 mu) / rho) (mm/s)."""

class ContactSettings:
    """Parameters of the contact law and of the contact search.

    penalty: stiffness of each contact (N/mm), positive. A larger value reduces the overlap of the skins and the stable
    time step.
    margin: distance of the skins (mm), positive, up to which pairs of features are collected. They are collected again
    when the two pieces have moved by this distance. A larger value makes the lists longer; a smaller value makes them
    shorter-lived.
    friction: coefficient of friction, at least 0.
    slip_speed: sliding speed (mm/s), positive, below which friction is proportional to the speed. A larger value makes
    contacts that should stick creep; a step dt with friction F on a mass m is stable if this speed is above F dt / m.
    None: 1.
    edge_contacts: whether sharp edges are in contact with sharp edges of other bodies. Without it, bodies whose edges
    cross penetrate one another until a corner touches a facet. None: True.
    activation: distance of the skins of two pieces (mm), at least 0, up to which facets are searched for; infinite to
    search the facets of all pairs in every step. None: 0.
    trees: features that share a tree: those of a piece ("piece", the fastest), of a piece in one pair ("pair"), or all
    ("scene"). Results have the same bits for each of them; their costs are compared in docs/DEFORMABLE.md.

    Raises QueryError.

    >>> feeler.deformable.ContactSettings(penalty=50, margin=0.5, friction=0.3).slip_speed
    1.0
    """

    def __init__(
        self,
        penalty: float,
        margin: float,
        *,
        friction: float = 0.0,
        slip_speed: float | None = None,
        edge_contacts: bool | None = None,
        activation: float | None = None,
        trees: Literal["piece", "pair", "scene"] = "piece",
    ) -> None: ...
    @property
    def penalty(self) -> float: ...
    @property
    def margin(self) -> float: ...
    @property
    def friction(self) -> float: ...
    @property
    def slip_speed(self) -> float: ...
    @property
    def edge_contacts(self) -> bool: ...
    @property
    def activation(self) -> float: ...
    @property
    def trees(self) -> Literal["piece", "pair", "scene"]: ...

class DeformableBody:
    """Body of tetrahedra and hexahedra, at rest in the undeformed positions of a mesh.

    skin: distance (mm) of the contact surface from the boundary of the mesh. Thin against the elements, and thick
    against the displacement of a step.

    Masses are lumped. Both elements have linear shape functions and are too stiff in bending if one element spans the
    thickness, and if Poisson's ratio is close to 0.5.

    Raises QueryError if the mesh has no elements, refers to nodes that do not exist, or contains nodes without
    elements, numbers that are not finite, or inverted elements.

    >>> mesh = feeler.deformable.Mesh.box_of_hexahedra([0, 0, 0], [10, 10, 10], [2, 2, 2])
    >>> rubber = feeler.deformable.Material(young=5, poisson=0.4, density=1.1e-9)
    >>> cube = feeler.deformable.DeformableBody(mesh, rubber, skin=0.1)
    >>> cube.set_uniform_velocity([0, 0, -100])
    >>> cube.positions.shape, round(1e6 * cube.mass, 3), cube.center_of_mass.round(6).tolist()
    ((27, 3), 1.1, [5.0, 5.0, 5.0])
    """

    def __init__(self, mesh: Mesh, material: Material, skin: float) -> None: ...
    @property
    def index(self) -> int | None:
        """Index in the simulation that the body was added to; None before."""
    @property
    def material(self) -> Material: ...
    @property
    def skin(self) -> float:
        """Distance of the contact surface from the boundary of the mesh (mm)."""
    @property
    def reference(self) -> NDArray[np.float64]:
        """Undeformed positions of the nodes (mm), shape (n, 3)."""
    @property
    def positions(self) -> NDArray[np.float64]:
        """Positions of the nodes (mm), shape (n, 3)."""
    @property
    def velocities(self) -> NDArray[np.float64]:
        """Velocities of the nodes (mm/s), shape (n, 3)."""
    @property
    def forces(self) -> NDArray[np.float64]:
        """Sums of internal forces, contact forces and gravity at the nodes after the last step (N), shape (n, 3)."""
    @property
    def masses(self) -> NDArray[np.float64]:
        """Lumped masses of the nodes (t), shape (n,)."""
    @property
    def facets(self) -> NDArray[np.uint32]:
        """Node indices of the boundary triangles with outward normals, shape (m, 3). Quadrilaterals are split into two
        triangles."""
    @property
    def mass(self) -> float:
        """Total mass (t)."""
    @property
    def center_of_mass(self) -> NDArray[np.float64]:
        """Centre of mass (mm), shape (3,)."""
    @property
    def momentum(self) -> NDArray[np.float64]:
        """Linear momentum (N·s), shape (3,)."""
    @property
    def angular_momentum(self) -> NDArray[np.float64]:
        """Angular momentum about the origin (N·mm·s), shape (3,)."""
    @property
    def kinetic_energy(self) -> float:
        """Kinetic energy (mJ)."""
    @property
    def strain_energy(self) -> float:
        """Strain energy after the last computation of forces (mJ)."""
    @property
    def max_eigenvalue(self) -> float:
        """Upper bound of the squared angular frequency (1/s²) of all small vibrations of the undeformed body without
        contact."""
    def set_velocity(self, nodes: ArrayLike, velocity: ArrayLike) -> None:
        """Sets the velocity (mm/s, shape (3,)) of a node or of nodes, which may have one velocity each, shape (k, 3).
        Raises QueryError."""
    def set_uniform_velocity(self, velocity: ArrayLike) -> None:
        """Sets the velocity (mm/s, shape (3,)) of all nodes. Raises QueryError."""
    def set_position(self, nodes: ArrayLike, position: ArrayLike) -> None:
        """Moves a node to a position (mm, shape (3,)), or nodes to positions of shape (k, 3). Reference positions do
        not change. Raises QueryError."""
    def set_damping(self, damping: float) -> None:
        """Sets the coefficient a (1/s), at least 0, of a damping force -a m v on all nodes; 0 by default. Raises
        QueryError."""
    def prescribe_velocity(self, nodes: ArrayLike, axis: int, velocity: ArrayLike) -> None:
        """Prescribes the velocity (mm/s) of nodes along an axis (0, 1 or 2): one number, or one for each node. The
        velocity 0 fixes the coordinate. Raises QueryError."""
    def prescribe_displacement(self, nodes: ArrayLike, axis: int, displacement: ArrayLike) -> None:
        """Prescribes the displacement (mm) of nodes from their reference positions along an axis (0, 1 or 2): one
        number, or one for each node. The nodes reach it at the end of the next step and stay there. Raises
        QueryError."""
    def release(self, nodes: ArrayLike, axis: int) -> None:
        """Ends the prescribed motion of nodes along an axis (0, 1 or 2). Raises QueryError."""
    def reaction(self, nodes: ArrayLike) -> NDArray[np.float64]:
        """Force (N) that keeps the prescribed coordinates of a node on a motion at constant velocity, shape (3,), or of
        nodes, shape (k, 3); 0 along free coordinates. Raises QueryError."""
    def stresses(self) -> NDArray[np.float64]:
        """Second Piola–Kirchhoff stresses (N/mm²) at all integration points, shape (k, 3, 3): one for each tetrahedron,
        then eight for each hexahedron."""
    def stiffness_matrix(self) -> NDArray[np.float64]:
        """Stiffness matrix for small strains (N/mm), shape (3 n, 3 n); rows 3k to 3k + 2 belong to node k. The
        matrix is dense: it is meant for analyses of small bodies. Raises MemoryError."""

class RigidBody:
    """Rigid body with a surface of triangles. It is fixed until `prescribe`, `move_to` or `set_free` is called. The
    static methods create spheres and bodies of exact shape.

    nodes: positions (mm), shape (n, 3).
    facets: node indices of the triangles with outward normals, shape (m, 3).
    skin: distance (mm) of the contact surface from the triangles.

    Raises QueryError if there are no triangles, a node index does not exist, a node belongs to no triangle, or a number
    is not valid.

    >>> corners = [[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]]
    >>> plate = feeler.deformable.RigidBody(corners, [[0, 1, 2], [0, 2, 3]], skin=0.1)
    >>> plate.center.tolist(), plate.velocity.tolist()
    ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])

    Bodies of exact shape (`solid`, `free_solid`, `balls`, `half_space`) have neither nodes nor triangles. They touch
    the surfaces of deformable bodies, of rigid bodies with triangles, and spheres, whose skins carry the contacts. They
    do not touch each other.

    >>> die = feeler.deformable.RigidBody.solid(feeler.prepare_step("data/box.step").body(), [0, 0, -10])
    >>> die.prescribe([0, 0, 50])
    >>> die
    <RigidBody: exact shape, centre (0, 0, -10) mm>
    """

    def __init__(self, nodes: ArrayLike, facets: ArrayLike, skin: float) -> None: ...
    @staticmethod
    def sphere(center: ArrayLike, radius: float) -> RigidBody:
        """Fixed sphere (mm). Raises QueryError."""
    @staticmethod
    def solid(body: Body, pose: Pose = None, *, probe_spacing: float | None = None) -> RigidBody:
        """Fixed body with the faces of a prepared solid, without triangles, at a pose that maps the own coordinates of
        the solid to the common frame. An open surface has contacts on both sides.

        probe_spacing: largest distance (mm), above 0, of the points at which edges and facets near the solid are probed
        for minima between their nodes. Narrower parts of a concave solid can press between the nodes of a facet
        undetected; a smaller value takes more evaluations. inf for convex solids, which need no probes. None: the
        smallest thickness of the solid, and at least a fiftieth of its size.

        Raises QueryError."""
    @staticmethod
    def free_solid(body: Body, density: float, pose: Pose = None, *, probe_spacing: float | None = None) -> RigidBody:
        """Like `solid`, for a body that moves freely, with the mass and the inertia of the solid. The density is in
        t/mm³. Raises QueryError, also for open surfaces, which have no mass."""
    @staticmethod
    def balls(centers: ArrayLike, radii: ArrayLike, pose: Pose = None) -> RigidBody:
        """Fixed body of balls, each with contacts of its own: one ball, or a clump.

        centers: shape (n, 3), mm, in the frame of the body, which the pose maps to the common frame. radii: shape (n,),
        or one radius for all (mm). Raises QueryError."""
    @staticmethod
    def half_space(pose: Pose = None) -> RigidBody:
        """Fixed half-space below the plane z = 0 of its frame, which the pose maps to the common frame. Raises
        QueryError."""
    @property
    def index(self) -> int | None:
        """Index in the simulation that the body was added to; None before."""
    def set_free(self, density: float) -> None:
        """Lets the body move freely. The mass follows from the density (t/mm³) and the volume inside the triangles or
        the sphere; skins of facetted bodies have no mass. Raises QueryError if the triangles enclose no positive
        volume, and for bodies of exact shape: see `free_solid` and `set_free_with_inertia`."""
    def set_free_with_inertia(self, mass: float, center: ArrayLike, tensor: ArrayLike) -> None:
        """Lets the body move freely with a mass (t), a centre of mass (mm, shape (3,)), and an inertia tensor (t·mm²,
        shape (3, 3)) about it. The centre and the tensor are in the frame of an exact shape; for other bodies, they are
        in the frame whose origin is `center` and whose axes turn with the body. Raises QueryError if the mass is not
        positive, or the tensor not symmetric and positive definite."""
    def prescribe(self, velocity: ArrayLike, angular_velocity: ArrayLike | None = None) -> None:
        """Prescribes constant velocities: the velocity of the centre (mm/s) and the angular velocity (rad/s), both of
        shape (3,); None is 0. Raises QueryError."""
    def move_to(self, pose: ArrayLike, velocity: ArrayLike, angular_velocity: ArrayLike | None = None) -> None:
        """Prescribes the pose at the end of the next step: the position of `center` and `rotation`, with the velocity
        of the centre (mm/s) and the angular velocity (rad/s) there, both of shape (3,); None is 0. The velocities
        matter for friction; those at the start of the first step are 0, or set by `prescribe`. The body rests
        there in later steps: call it before every step of a path. Raises QueryError."""
    def set_velocity(self, velocity: ArrayLike, angular_velocity: ArrayLike | None = None) -> None:
        """Sets the velocity of the centre (mm/s) and the angular velocity (rad/s), both of shape (3,); None is 0. Later
        velocities follow from the forces if the body moves freely. Raises QueryError."""
    @property
    def center(self) -> NDArray[np.float64]:
        """Position of the centre (mm), shape (3,): the centre of mass of a free body, otherwise the mean of the nodes,
        or the origin of the frame of an exact shape."""
    @property
    def rotation(self) -> NDArray[np.float64]:
        """Rotation matrix from the orientation at creation, shape (3, 3); of an exact shape, from its frame."""
    @property
    def velocity(self) -> NDArray[np.float64]:
        """Velocity of the centre (mm/s), shape (3,)."""
    @property
    def angular_velocity(self) -> NDArray[np.float64]:
        """Angular velocity in the common frame (rad/s), shape (3,)."""
    @property
    def positions(self) -> NDArray[np.float64]:
        """Positions of the nodes (mm), shape (n, 3); the centre of a sphere; (0, 3) for an exact shape."""
    @property
    def facets(self) -> NDArray[np.uint32]:
        """Node indices of the triangles, shape (m, 3); (0, 3) for a sphere or an exact shape."""
    @property
    def skin(self) -> float:
        """Distance of the contact surface from the triangles, or the radius of a sphere (mm); 0 for an exact shape."""
    @property
    def mass(self) -> float | None:
        """Mass (t); None if the motion is prescribed."""
    @property
    def force(self) -> NDArray[np.float64]:
        """Resultant of gravity and contact forces after the last step (N), shape (3,); contact forces only if the
        motion is prescribed."""
    @property
    def torque(self) -> NDArray[np.float64]:
        """Resultant torque of contact forces about `center` after the last step (N·mm), shape (3,)."""
    @property
    def momentum(self) -> NDArray[np.float64]:
        """Linear momentum (N·s), shape (3,); 0 if the motion is prescribed."""
    @property
    def angular_momentum(self) -> NDArray[np.float64]:
        """Angular momentum about the origin (N·mm·s), shape (3,); 0 if the motion is prescribed."""
    @property
    def kinetic_energy(self) -> float:
        """Kinetic energy (mJ); 0 if the motion is prescribed."""

class Energies(NamedTuple):
    """Energies of all bodies (mJ).

    kinetic: kinetic energy of bodies whose motion is not prescribed. strain: strain energy. contact: potential energy
    of contacts. gravity: potential energy of gravity, 0 at the origin.

    >>> feeler.deformable.Energies(kinetic=2.0, strain=1.0, contact=0.5, gravity=-1.0).total
    2.5
    """

    kinetic: float
    strain: float
    contact: float
    gravity: float
    @property
    def total(self) -> float:
        """Sum of all energies (mJ). It changes by the work of friction, damping and prescribed motions only, up to the
        error of the time steps."""

class PairStatus(NamedTuple):
    """Pair of pieces of different bodies.

    bodies: indices of the two bodies. pieces: indices of the pieces among the pieces of their bodies.
    bound: lower bound of the distance of the skins of both pieces (mm); negative if the skins may overlap.
    is_active: whether the pair has trees of facets.

    >>> feeler.deformable.PairStatus((0, 1), (0, 0), 2.5, False).bound
    2.5
    """

    bodies: tuple[int, int]
    pieces: tuple[int, int]
    bound: float
    is_active: bool

class SearchCounts(NamedTuple):
    """Counts of the contact search since the start of a simulation.

    pair_steps: sum over all steps of the number of pairs of pieces. distances: distances of convex hulls that were
    computed. trees_built: number of times that a pair became near, so that its features were searched with trees.
    collections: number of times that the features of a pair were collected from its trees, or those of all pairs from
    the tree of the scene. feature_tests: pairs of features that were tested. sorted_features: sum over the levels of
    all trees that were built of the features that were sorted. box_updates: boxes of features and of nodes of trees
    that were computed. box_tests: pairs of boxes that were tested. signed_distances: signed distances from exact shapes
    that were computed.

    >>> feeler.deformable.Simulation(feeler.deformable.ContactSettings(20, 0.5)).search_counts.distances
    0
    """

    pair_steps: int
    distances: int
    trees_built: int
    collections: int
    feature_tests: int
    sorted_features: int
    box_updates: int
    box_tests: int
    signed_distances: int

class Simulation:
    """Bodies in contact, which move by explicit central differences. copy.copy() copies a simulation with its bodies.

    >>> fd = feeler.deformable
    >>> simulation = fd.Simulation(fd.ContactSettings(penalty=20, margin=0.5))
    >>> mesh = fd.Mesh.box_of_hexahedra([0, 0, 1], [10, 10, 10], [2, 2, 2])
    >>> cube = fd.DeformableBody(mesh, fd.Material(young=5, poisson=0.4, density=1.1e-9), skin=0.1)
    >>> corners = [[-9, -9, 0], [19, -9, 0], [19, 19, 0], [-9, 19, 0]]
    >>> simulation.add(cube), simulation.add(fd.RigidBody(corners, [[0, 1, 2], [0, 2, 3]], skin=0.1))
    (0, 1)
    >>> simulation.set_gravity([0, 0, -9810])
    >>> simulation.run(1500, 0.9 * simulation.stable_step(2))
    >>> bool(cube.center_of_mass[2] > 5)
    True
    """

    def __init__(self, settings: ContactSettings) -> None: ...
    def add(self, body: DeformableBody | RigidBody) -> int:
        """Adds a body, whose surface is one piece of the contact search, and returns its index. The object refers to
        the body of the simulation from now on. Raises SceneError if the body is already in a simulation."""
    def add_in_pieces(self, body: DeformableBody | RigidBody, pieces: ArrayLike) -> int:
        """Adds a body whose surface is divided into pieces, one index for each of its facets, shape (m,). Contacts do
        not depend on the pieces. The search is fastest if the pieces are nearly convex. Raises QueryError,
        SceneError."""
    @property
    def bodies(self) -> list[DeformableBody | RigidBody]:
        """New objects for all bodies, in the order of their addition."""
    def set_gravity(self, gravity: ArrayLike) -> None:
        """Sets the acceleration of gravity (mm/s², shape (3,)); 0 by default. Raises QueryError."""
    def stable_step(self, contacts: int) -> float:
        """Time step (s) that is stable while every surface node has at most `contacts` contacts. Without contacts it is
        at most the largest stable step for small strains; the part of contacts is an estimate. inf if the simulation
        has neither deformable bodies nor contacts."""
    def step(self, step: float) -> None:
        """Advances all bodies by `step` (s). Raises QueryError if the step is not positive or exceeds the stable step
        of the elements and the contacts. Raises SceneError if an element is inverted, a number is not finite, or a pair
        of bodies moves too fast or is pressed too hard for its skins; the positions are not usable for further steps
        then."""
    def run(self, steps: int, step: float) -> None:
        """Advances all bodies by a number of steps of `step` (s), as `step`, without the GIL. Ctrl-C ends the run after
        a whole step."""
    def run_until(self, time: float, step: float) -> int:
        """Advances all bodies by steps of `step` (s) until `time` is at least the given time (s), as `run`, and returns
        the number of steps."""
    @property
    def time(self) -> float:
        """Time since the start (s)."""
    @property
    def energies(self) -> Energies:
        """Energies after the last step (mJ)."""
    @property
    def max_overlap(self) -> float:
        """Largest overlap of the skins of two bodies, or of a skin and an exact shape, after the last step (mm); 0
        without contact."""
    @property
    def search_counts(self) -> SearchCounts:
        """Counts of the contact search."""
    @property
    def pairs(self) -> list[PairStatus]:
        """Status of all pairs of pieces of different bodies, after the last step. Pairs with exact shapes are not among
        them."""
    def exact_distance(self, pair: int) -> float:
        """Distance of the convex hulls of a pair of pieces minus their skins (mm), computed from the current positions;
        `pair` counts in the order of `pairs`. Raises SceneError if the pair does not exist."""
    def __copy__(self) -> Simulation: ...

class GrainCoupling:
    """Grains of a GrainForces among the bodies of a simulation, in one frame. Grains move by their own masses (kg) and
    forces (mN): contacts between grains and with walls follow the laws of the GrainForces, contacts with deformable
    bodies follow the ContactSettings. Forces on grains and bodies are equal and opposite.

    grains: grains, solids and spheres, with the gravity that acts on them.
    simulation: the deformable bodies. Its `stable_step` accounts for the masses of coupled grains.

    >>> fd = feeler.deformable
    >>> simulation = fd.Simulation(fd.ContactSettings(penalty=20, margin=0.5))
    >>> mesh = fd.Mesh.box_of_hexahedra([-5, -5, -5], [10, 10, 5], [4, 4, 2])
    >>> block = fd.DeformableBody(mesh, fd.Material(young=5, poisson=0.4, density=1.1e-9), skin=0.1)
    >>> bottom = np.flatnonzero(mesh.nodes[:, 2] < -4.9)
    >>> for axis in range(3):
    ...     block.prescribe_velocity(bottom, axis, 0.0)
    >>> simulation.add(block)
    0
    >>> grains = feeler.GrainForces(gravity=[0, 0, -9810])
    >>> ball = grains.add_grain(2.0, density=7850)
    >>> grains.set_motions([ball], [[0.3, 0.2, 2.5]], [[0, 0, 0, 1]], [[0, 0, 0]], [[0, 0, 0]])
    >>> coupling = fd.GrainCoupling(grains, simulation)
    >>> coupling.add(ball)
    1
    >>> coupling.step(0.5 * simulation.stable_step(2), steps=3000)
    >>> bool(grains.motions()[0][ball, 2] > 1.5)
    True
    """

    def __init__(self, grains: GrainForces, simulation: Simulation) -> None: ...
    def add(self, grain: int) -> int:
        """Adds a body with the shape of a grain to the simulation, at the grain's position, and returns its index.
        Raises SceneError if the grain does not exist, was removed or is coupled already."""
    def remove(self, grain: int) -> int:
        """Ends the coupling of a grain, which may have been removed. Its body remains without shapes and contacts.
        Returns the index of the body. Raises SceneError if the grain is not coupled."""
    def step(self, step: float, steps: int = 1) -> None:
        """Advances grains and bodies by a number of steps of `step` (s), without the GIL. Momentum is conserved while
        the step is constant. Ctrl-C ends the run after a whole step. Raises QueryError and SceneError as
        `Simulation.step` and `GrainForces.step`; the positions are not usable for further steps then."""
    def body(self, grain: int) -> int | None:
        """Index of the body of a grain in the simulation; None if the grain is not coupled."""
    def load(self, grain: int) -> tuple[list[float], list[float]]:
        """Force (mN) of the deformable bodies on a grain in the last step, and torque (mN mm) about its centre of mass.
        Raises SceneError if the grain is not coupled."""
