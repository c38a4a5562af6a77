"""Exact contact and clearance between CAD solids.

Units: lengths are in mm, angles in rad, unless a comment states otherwise.

Poses map the own coordinates of a solid to world coordinates. A pose is a 4x4 matrix, [x, y, z], or
[x, y, z, qx, qy, qz, qw] with a unit quaternion; None is the identity. Returned poses are 4x4 matrices.

Contacts are in world coordinates, except members named local_*. Normals point from A to B. A is the first body of a
pair; in a scene, the body with the smaller id.

Arrays: arguments of type ArrayLike may be numpy arrays or nested sequences. Results are numpy arrays that own their
memory. Records are structured arrays, for example contacts["point_a"] or contacts["feature_a"]["index"].

Errors: ValueError with the expected and the given shape and dtype for wrong arrays; QueryError for invalid values of
options, poses or coordinates; the other subclasses of FeelerError as documented.

Threads: a Model, Body, Mesh or other object that is data may be used by any number of threads, a ContactPair,
ContactTracker, Scene, Curve, CurveScene, ExactWall, WallForces, GrainForces or deformable.Simulation by one thread at a
time: using an object that another thread uses raises RuntimeError. Calls that change nothing, such as
ContactPair.distances, may run at once. Preparation, queries and updates release the GIL. Results do not depend on the
number of threads, to the bit. Queries of many points, rays or poses use all processors; the environment variable
RAYON_NUM_THREADS limits their number.

Examples in this file run in the root of the project.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Their types and documentation are in their modules.
from . import deformable as deformable
from ._checks import clearance as clearance
from ._checks import diff as diff
from ._checks import first_penetration as first_penetration
from ._checks import joint_poses as joint_poses
from ._checks import pour as pour
from ._checks import regress as regress
from ._checks import sweep as sweep
from ._checks import tessellate as tessellate
from ._checks import time_of_contact as time_of_contact
from ._results import ClearancePair as ClearancePair
from ._results import ClearanceReport as ClearanceReport
from ._results import ContactMotion as ContactMotion
from ._results import Difference as Difference
from ._results import EntryComparison as EntryComparison
from ._results import Fit as Fit
from ._results import Joint as Joint
from ._results import Linkage as Linkage
from ._results import MechanismPair as MechanismPair
from ._results import MechanismReport as MechanismReport
from ._results import ModelComparison as ModelComparison
from ._results import Outflow as Outflow
from ._results import Overlap as Overlap
from ._results import Part as Part
from ._results import Passage as Passage
from ._results import PourReport as PourReport
from ._results import RegressReport as RegressReport
from ._results import Regularisation as Regularisation
from ._results import SweepReport as SweepReport
from ._results import Tessellation as Tessellation

__version__: str

Pose = ArrayLike | None
"""4x4 matrix, [x, y, z], or [x, y, z, qx, qy, qz, qw] (mm, unit quaternion); None is the identity."""
Poses = ArrayLike | None
"""Poses of one body in a query of many poses: shape (n, 7), (n, 3) or (n, 4, 4). A single pose stands for all; None is
the identity."""
Status = Literal["separated", "touching", "interfering", "undecided"]
"""Relation of two solids: no common point; nearer than the tolerance, without intersection of the interiors; the
interiors intersect; or the computing budget was exhausted before interference was found or excluded."""
TrackedStatus = Literal["separated", "touching", "pressed", "deep", "interfering"]
"""Status of two bodies by the signed gaps of their strict contacts or by a verdict: every gap exceeds the tolerance;
the smallest gap is within the tolerance; a gap is negative; a contact is deeper than max_depth; or the verdict is
interference, but no contact has a negative gap, because the bodies penetrate each other deeper than contacts are
tracked."""

contact_dtype: np.dtype[np.void]
"""Contact of a pair: a local minimum of the distance, or another constraint of a step that a ContactTracker reports, in
mm and world coordinates (of a tracker: at the poses of the last update).

distance: signed distance of the footpoints along the normal, negative where the solids penetrate each other.
gap: distance minus both dilations.
point_a, point_b: footpoints. local_a, local_b: footpoints in own coordinates.
normal: unit vector from A to B, outward from A: point_b - point_a = distance * normal for a minimum. It keeps its
direction if the distance becomes negative. local_normal: the normal in A's own coordinates.
gap_rate: first derivative of the gap with respect to a twist of B at A's origin, in A's frame: translation (mm), then
rotation (rad).
curvature_a, curvature_b: smallest and largest normal curvature (1/mm), positive where the solid is convex; infinite
across an edge and at a vertex.
id: identity, the same from query to query of a pair while the footpoints stay on their features. In a tracker it
increases from contact to contact and is never reused.
age: number of preceding consecutive queries, or updates of the tracker, that found this contact.
kind: 0 strict minimum, 1 quasi-minimum (quasi_angle, or the rotation of a step), 2 sample of a conformal set; of
trackers only: 3 sample of two nearly conformal features, 4 extended (quasi-minimum beyond a concave edge).
is_active: a step can close the gap, because the gap is at most the displacement of the step's bound, which is 0 for a
query. A solver needs only active contacts.
is_fixed: whether the footpoints on A and on B are fixed on their features: one of each sample is.
undecided: the solver stopped above rounding level (footpoints accurate to 1e-6 of the size) or, in a certified query,
its pair of areas may have more minima.
feature_a, feature_b: features at the footpoints, records of
    kind (0 face, 1 edge, 2 vertex), index (among the features of this kind), source (entity number in the STEP file,
    or 0), uv (parameters of the footpoint: u and v, t and 0, or zeros).
"""
nearest_point_dtype: np.dtype[np.void]
"""Boundary point of a body nearest to a given point, in mm and the body's own coordinates.

signed_distance: distance of the given point from the boundary, negative inside.
point: the boundary point.
normal: outward unit normal at the boundary point, which is the gradient of the signed distance. On edges and vertices
it has the direction between the two points, or lies between the normals of the faces if the given point is on the
boundary.
face: index of the face that contains the boundary point, as in feature_a of contacts. On an edge, it is one of the
adjacent faces.
is_inside: whether the given point is inside.
"""
ray_intersection_dtype: np.dtype[np.void]
"""Point where a ray passes through the boundary of a body, in mm and the body's own coordinates.

t: parameter of the ray; the point is origin + t * direction.
point: the boundary point. normal: outward unit normal of the face there. face: index of the face.
is_entering: whether the ray enters the body; it leaves otherwise.
"""
verdict_dtype: np.dtype[np.void]
"""Verdict at one of many poses, in mm and world coordinates.

status: 0 separated, 1 touching, 2 interfering, 3 undecided (Status).
min_distance: smallest distance of a contact; inf if no contact is within d_max.
witness, inside_a, inside_b: as in Verdict; nan if the bodies do not interfere.
undecided_count: as in Verdict.
"""
scene_contact_dtype: np.dtype[np.void]
"""Contact of two bodies of a scene: bodies (ids, ascending; A is the first one), parts (indices of the solids in their
bodies, 0 except in compounds), and the members of contact_dtype."""
contact_event_dtype: np.dtype[np.void]
"""Event of an update of a scene: bodies, parts and id of the contact; contact: its index in Scene.contacts, -1 if it
has ended; kind: 0 began, 1 persisted, 2 ended."""
tracked_pair_dtype: np.dtype[np.void]
"""Near pair of solids in the last Scene.track.

bodies (ids, ascending; A is the first one), parts (indices of the solids in their bodies).
status: 0 separated, 1 touching, 2 pressed, 3 deep, 4 interfering (TrackedStatus).
depth: depth (mm) of the deepest contact if the pair is pressed or deep, else 0.
jumped, decided, dropped, limited: as in the result of ContactTracker.update.
bound: record of rotation (rad) and displacement (mm): bound of the relative motion for which the contacts suffice.
first_contact, contact_count: the contacts are tracked_contacts[first_contact : first_contact + contact_count].
"""
curve_contact_dtype: np.dtype[np.void]
"""Contact of a scene of curves: a local minimum of the distance between a curve and another curve, itself or a solid,
in mm and world coordinates. A is the curve.

kind: 0 two curves, 1 a curve with itself, 2 a curve and a solid.
curve: id of the curve, of two curves the smaller id. other: id of the other curve, or of the body. part: index of the
solid in the body, 0 for curves.
u: parameters on both curves, for a curve with itself in ascending order; the second one is nan for a solid.
point_a, point_b: points on the curves or the solid; the nearest points of tubes are one radius away.
normal: unit vector, point_b - point_a = distance * normal.
distance: distance of the points, negative where the curve is inside the solid. gap: distance of the tubes, or of the
tube and the solid.
place: location on each curve: 0 inside a piece, 1 at a corner, 2 at a free end.
feature_kind, feature_index: feature of the solid (0 face, 1 edge, 2 vertex) and its index; -1 for two curves.
set: index of the set of equal distance that the sample belongs to, -1 for a contact that is not a sample.
id: identity, the same from update to update while the minimum moves continuously.
"""
tight_bend_dtype: np.dtype[np.void]
"""Stretch of a curve where the curvature exceeds 1/radius: curve (id), range (parameters at its ends), u (parameter of
the largest curvature found), curvature (1/mm; infinite at a cusp)."""
wall_contact_dtype: np.dtype[np.void]
"""Contact of a particle with an exact wall, in mm and world coordinates.

particle: index of the particle in the arrays of the query.
point: footpoint on the wall. normal: unit normal from the wall to the particle.
gap: signed distance of the surfaces along the normal, negative where the particle penetrates the wall.
curvatures: principal curvatures of the wall (1/mm), the larger one first, positive where the wall is convex; infinite
across an edge, both infinite at a vertex.
id: identity, the same while the contact stays on its feature of the wall.
"""

class FeelerError(Exception):
    """Base class of the errors of feeler. The message names the file, option or value and what to do.

    >>> issubclass(feeler.FileError, feeler.FeelerError)
    True
    """

class FileError(FeelerError):
    """A file, or data given as bytes, cannot be read, prepared or written.

    >>> try:
    ...     feeler.prepare_step("data/nowhere.step")
    ... except feeler.FileError as error:
    ...     print("nowhere.step" in str(error))
    True
    """

class BodyError(FeelerError):
    """A solid does not exist, or its data is not valid for queries.

    >>> issubclass(feeler.BodyError, feeler.FeelerError)
    True
    """

class QueryError(FeelerError):
    """Invalid values of options, poses or curves; coordinates so large that their rounding exceeds a tenth of the
    tolerance; or solids that are too thin for the options.

    >>> ball = feeler.prepare_step("data/sphere.step").body()
    >>> try:
    ...     feeler.ContactPair(ball, ball).query(d_max=-1)
    ... except feeler.QueryError as error:
    ...     print("d_max" in str(error))
    True
    """

class SceneError(FeelerError):
    """A body or a curve is not in the scene, or the scene does not accept the operation.

    >>> try:
    ...     feeler.Scene().pose(3)
    ... except feeler.SceneError as error:
    ...     print("3" in str(error))
    True
    """

class MeshError(FeelerError):
    """A face of a solid cannot be triangulated.

    >>> issubclass(feeler.MeshError, feeler.FeelerError)
    True
    """

def prepare_step(path: str | PathLike[str]) -> Model:
    """Reads a STEP file and prepares its solids, which takes from a tenth of a second to some minutes: write the model
    to a .feeler file and read that file the next time. Solids that cannot be prepared are listed in Model.left_out.
    Raises FileError. Ctrl-C raises KeyboardInterrupt at once; the preparation then ends in the background.

    >>> feeler.prepare_step("data/pin.step")
    <Model 'pin.step': 1 solids, 1 instances>
    """

def prepare_bytes(data: bytes, name: str = "bytes") -> Model:
    """Prepares the bytes of a STEP file. `name` is the file name in messages. Raises FileError.

    >>> feeler.prepare_bytes(open("data/pin.step", "rb").read(), "pin.step").solids
    ['pin']
    """

def prepare_mesh(
    points: ArrayLike, triangles: ArrayLike, name: str = "mesh", *, open_shells: bool = False
) -> Model:
    """Prepares the solids that closed surfaces of triangles bound.

    points: shape (n, 3), mm. triangles: shape (m, 3), indices of points, counter-clockwise seen from outside. A surface
    that is oriented inwards and lies within another surface is a cavity.
    open_shells: open surfaces become sheets without thickness, which have contacts on both sides.

    Raises FileError if the triangles do not bound solids.

    >>> points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> corner = feeler.prepare_mesh(points, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]).body()
    >>> round(corner.volume, 9)
    0.166666667
    """

def distances(
    pairs: Sequence[ContactPair],
    poses_a: Poses = None,
    poses_b: Poses = None,
    d_max: float = 1.0,
    *,
    quasi_angle: float = 0.0,
    dilation_a: float = 0.0,
    dilation_b: float = 0.0,
    parallel: bool = False,
    detect_interference: bool = True,
    verdict_unless_pressed: bool = False,
    tolerance: float | None = None,
    penetration: float = 0.0,
    certified: bool = False,
    conformal_spacing: float | None = None,
    load_bearing: bool = False,
) -> NDArray[np.float64]:
    """Smallest signed distances (mm) of m pairs at n poses, shape (m, n), as ContactPair.distances, in parallel.

    poses_a, poses_b: poses of the bodies A and B. An array of shape (n, 7), (n, 3) or (n, 4, 4) stands for all pairs, one
    of shape (m, n, 7), (m, n, 3) or (m, n, 4, 4) has the poses of each pair.

    Raises QueryError with the indices of the pair and the pose.

    >>> ball, box = (feeler.prepare_step(f"data/{name}.step").body() for name in ("sphere", "box"))
    >>> pairs = [feeler.ContactPair(ball, ball), feeler.ContactPair(box, box)]
    >>> feeler.distances(pairs, poses_b=[[0, 0, 20.5], [0, 0, 21]], d_max=5).round(9).tolist()
    [[0.5, 1.0], [0.5, 1.0]]
    """

class Instance:
    """Placement of a solid in a model.

    >>> rack = feeler.prepare_step("data/assemblies/rack.step")
    >>> rack.instances[0].path, rack.instances[0].pose.shape
    ('rack/lower/block', (4, 4))
    """

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str:
        """Names from the root of the assembly, joined by '/'; empty without an assembly."""
    @property
    def solid(self) -> int:
        """Index of the solid."""
    @property
    def pose(self) -> NDArray[np.float64]:
        """Pose of the solid in the model, 4x4."""

class Model:
    """Contents of a STEP or .feeler file: distinct solids and their instances. Can be pickled. Made by prepare_step,
    prepare_bytes, prepare_mesh, Model.read and Model.from_bytes. len(model) is the number of solids.

    >>> model = feeler.prepare_step("data/pin.step")
    >>> len(model), model.body().name, feeler.Model.from_bytes(model.to_bytes()).solids
    (1, 'pin', ['pin'])
    """

    @staticmethod
    def read(path: str | PathLike[str]) -> Model:
        """Reads a .feeler file. Raises FileError."""
    @staticmethod
    def from_bytes(data: bytes) -> Model:
        """Reads the bytes of a .feeler file. Raises FileError."""
    def write(self, path: str | PathLike[str]) -> int:
        """Writes a .feeler file and returns the number of bytes. If writing fails, an existing file remains unchanged.
        Raises FileError."""
    def to_bytes(self) -> bytes:
        """Bytes of a .feeler file."""
    @property
    def input(self) -> str:
        """Name of the input file."""
    @property
    def solids(self) -> list[str]:
        """Names of the distinct solids."""
    @property
    def instances(self) -> list[Instance]:
        """Instances of the solids."""
    @property
    def remarks(self) -> list[str]:
        """Warnings and notes of the import."""
    @property
    def left_out(self) -> list[str]:
        """Solids and components that could not be prepared, with the reasons."""
    def body(self, solid: int = 0) -> Body:
        """Body of the solid with this index; negative indices count from the end. Raises IndexError, BodyError."""
    def __len__(self) -> int: ...

class Body:
    """Solid, or open surface, that is ready for queries, in its own coordinates."""

    def __init__(self, model: Model, solid: int = 0) -> None:
        """Body of the solid of a model with this index; negative indices count from the end. Raises IndexError,
        BodyError."""
    @property
    def name(self) -> str: ...
    @property
    def volume(self) -> float:
        """Volume (mm³); 0 for an open surface."""
    @property
    def area(self) -> float:
        """Area of the surface (mm²)."""
    @property
    def min_thickness(self) -> float:
        """Lower bound of the thickness of the material (mm): the length of the shortest segment through material that
        is normal to faces at both ends. inf if there is no such segment; 0 for an open surface and if no bound could be
        proven."""
    @property
    def size(self) -> float:
        """Diagonal of the bounding box (mm)."""
    @property
    def bounds(self) -> NDArray[np.float64]:
        """Smallest and largest coordinates of the bounding box (mm), shape (2, 3)."""
    @property
    def centroid(self) -> NDArray[np.float64] | None:
        """Centre of mass (mm); None for an open surface."""
    @property
    def inertia(self) -> NDArray[np.float64] | None:
        """Inertia tensor (mm⁵) about the centre of mass at density 1, 3x3; None for an open surface."""
    def signed_distance(self, points: ArrayLike) -> NDArray[np.float64]:
        """Distances (mm) of points from the boundary, negative inside the body, shape (n,). An open surface has no
        inside. Computed in parallel.

        points: shape (n, 3), mm, in the body's own coordinates.

        Exact up to rounding in the interior of faces with a closed form, and up to the deviation of the edges there.
        Raises QueryError with the index of the first point that is not finite or too far away.

        >>> ball = feeler.prepare_step("data/sphere.step").body()  # radius 10
        >>> ball.signed_distance([[0, 0, 12], [0, 0, 9]]).round(9).tolist()
        [2.0, -1.0]
        """
    def contains(self, points: ArrayLike) -> NDArray[np.bool_]:
        """Whether points are inside the body: whether signed_distance is negative. Shape (n,).

        points: shape (n, 3), mm, in the body's own coordinates. Raises QueryError as signed_distance.

        >>> ball = feeler.prepare_step("data/sphere.step").body()
        >>> ball.contains([[0, 0, 12], [0, 0, 9]]).tolist()
        [False, True]
        """
    def nearest(self, points: ArrayLike) -> NDArray[np.void]:
        """Boundary points nearest to given points, an array of nearest_point_dtype, shape (n,). Computed in parallel.

        points: shape (n, 3), mm, in the body's own coordinates. Raises QueryError as signed_distance.

        >>> ball = feeler.prepare_step("data/sphere.step").body()
        >>> (found,) = ball.nearest([[0, 0, 12]])
        >>> found["point"].round(9).tolist(), found["normal"].round(9).tolist()
        ([0.0, 0.0, 10.0], [0.0, 0.0, 1.0])
        """
    def ray_intersections(
        self, origins: ArrayLike, directions: ArrayLike
    ) -> tuple[NDArray[np.int64], NDArray[np.void]]:
        """Intersections of rays with the boundary: offsets, shape (n + 1,), and an array of ray_intersection_dtype.
        Those of ray i are intersections[offsets[i] : offsets[i + 1]], by increasing t. Computed in parallel.

        origins: shape (n, 3), mm. directions: shape (n, 3), or (3,) for all; any length above 0. Both are in the body's
        own coordinates.

        The intersections of a ray alternate between entering and leaving, and the last one leaves: a ray through an
        edge or a vertex has one intersection there, and a ray that touches the body without passing into it has none. A
        ray along the boundary counts as outside there. A ray that starts on the boundary, within 1e-7 of the size, has
        an intersection at its start only if it leads into the body. Two intersections that are nearer to each other
        than some tens of tolerances (1e-7 of the size) can be missing near edges and on almost tangent rays. An open
        surface is entered at every intersection.

        Raises QueryError with the index of the first ray that is not finite, has no direction or starts too far away.

        >>> ball = feeler.prepare_step("data/sphere.step").body()
        >>> offsets, hits = ball.ray_intersections([[-20, 0, 0], [-20, 0, 11]], [1, 0, 0])
        >>> offsets.tolist(), hits["t"].round(9).tolist(), hits["is_entering"].tolist()
        ([0, 2, 2], [10.0, 30.0], [True, False])
        """
    def mesh(self, chord: float) -> Mesh:
        """Triangle mesh whose distance from the solid is at most `chord` (mm). Raises MeshError."""

class Mesh:
    """Triangle mesh of a body for display. Queries do not use meshes.

    >>> mesh = feeler.prepare_step("data/sphere.step").body().mesh(0.1)
    >>> mesh.points.shape[1], len(mesh.triangles) == len(mesh.faces), mesh.deviation <= 0.1, mesh.open_sides
    (3, True, True, 0)
    """

    @property
    def points(self) -> NDArray[np.float64]:
        """Vertices (mm), shape (n, 3). No two faces share a vertex."""
    @property
    def normals(self) -> NDArray[np.float64]:
        """Outward unit normals at the vertices, shape (n, 3)."""
    @property
    def triangles(self) -> NDArray[np.uint32]:
        """Indices of vertices, counter-clockwise seen from outside, shape (m, 3)."""
    @property
    def faces(self) -> NDArray[np.uint32]:
        """Index of the face of each triangle, as in feature_a and feature_b of contacts."""
    @property
    def welded(self) -> NDArray[np.uint32]:
        """For each vertex the index of the first vertex at the same position, to join the faces."""
    @property
    def deviation(self) -> float:
        """Largest distance found between a triangle and its surface (mm)."""
    @property
    def open_sides(self) -> int:
        """Number of triangle sides without a neighbour; 0 for a closed mesh."""

class Verdict:
    """Verdict of a query: whether two solids interfere, and the proof.

    >>> ball = feeler.prepare_step("data/sphere.step").body()  # radius 10
    >>> pair = feeler.ContactPair(ball, ball)
    >>> contacts = pair.query(pose_b=[0, 0, 19])
    >>> pair.verdict.status, pair.verdict.inside_a + pair.verdict.inside_b <= 1
    ('interfering', True)
    """

    @property
    def status(self) -> Status: ...
    @property
    def min_distance(self) -> float | None:
        """Smallest distance of a contact (mm); None if no contact is within d_max."""
    @property
    def witness(self) -> NDArray[np.float64] | None:
        """Point inside both solids, world coordinates (mm), if they interfere; else None."""
    @property
    def inside_a(self) -> float | None:
        """Lower bound of the distance (mm) of the witness from the boundary of A. No translation shorter than
        inside_a + inside_b separates the solids."""
    @property
    def inside_b(self) -> float | None:
        """Lower bound of the distance (mm) of the witness from the boundary of B."""
    @property
    def depth(self) -> float | None:
        """Depth (mm) of an interference: inside_a + inside_b, or -min_distance if that is larger; else None."""
    @property
    def undecided_count(self) -> int:
        """Number of locations where interference could be neither found nor excluded."""
    @property
    def tolerance(self) -> float:
        """Tolerance of the query (mm): lengths below it counted as zero."""

class ContactPair:
    """Two bodies and the results that their queries reuse."""

    def __init__(self, a: Body, b: Body) -> None: ...
    def query(
        self,
        pose_a: Pose = None,
        pose_b: Pose = None,
        d_max: float = 1.0,
        *,
        quasi_angle: float = 0.0,
        dilation_a: float = 0.0,
        dilation_b: float = 0.0,
        parallel: bool = False,
        detect_interference: bool = True,
        verdict_unless_pressed: bool = False,
        tolerance: float | None = None,
        penetration: float = 0.0,
        certified: bool = False,
        conformal_spacing: float | None = None,
        load_bearing: bool = False,
    ) -> NDArray[np.void]:
        """Computes all local minima of the distance up to d_max (mm), by ascending distance: an array of contact_dtype.

        quasi_angle: angle (rad) by which the polars of edges and vertices are dilated to report quasi-minima, 0 to π/4.
        dilation_a, dilation_b: implicit dilations (mm), subtracted from the gap.
        parallel: distribute the query among threads.
        detect_interference: compute the verdict. If False, decide() computes it on demand.
        verdict_unless_pressed: skip the verdict if a contact has a negative gap (penetration > 0), because such a
        contact explains the interference.
        tolerance: lengths (mm) below this count as zero. None: 1e-7 of the larger solid's diagonal.
        penetration: depth (mm) down to which contacts at negative distances are reported; less than half the sum of
        both min_thickness.
        certified: prove that no minimum with a spline is missing, or report what is undecided.
        conformal_spacing: largest spacing (mm) of the samples of a conformal set. None: a quarter of its extent.
        load_bearing: report only the outermost samples of conformal sets, which carry loads.

        Raises QueryError; then the pair has no contacts and no verdict."""
    def distances(
        self,
        poses_a: Poses = None,
        poses_b: Poses = None,
        d_max: float = 1.0,
        *,
        quasi_angle: float = 0.0,
        dilation_a: float = 0.0,
        dilation_b: float = 0.0,
        parallel: bool = False,
        detect_interference: bool = True,
        verdict_unless_pressed: bool = False,
        tolerance: float | None = None,
        penetration: float = 0.0,
        certified: bool = False,
        conformal_spacing: float | None = None,
        load_bearing: bool = False,
    ) -> NDArray[np.float64]:
        """Smallest signed distances (mm) at n poses, shape (n,): the smallest distance of a contact, inf without a
        contact within d_max, and -inf if the bodies interfere deeper than `penetration`, so that `distances > 0` is
        whether they are apart. With detect_interference=False, there is no -inf. Computed in parallel.

        poses_a, poses_b: poses of the bodies; for poses of B in A's frame, give poses_b alone. Options are those of
        query, except that `parallel` has no effect: the poses are distributed among the threads.

        Each result is that of a new pair, with the same bits however many threads compute it. Minima much farther away
        than the smallest one are not computed, so that a large d_max costs little. The results of the pair itself
        (contacts, verdict) do not change. Raises QueryError with the index of the first invalid pose.

        >>> ball = feeler.prepare_step("data/sphere.step").body()
        >>> pair = feeler.ContactPair(ball, ball)
        >>> pair.distances(poses_b=[[22.5, 0, 0], [19, 0, 0], [40, 0, 0]], d_max=5).round(9).tolist()
        [2.5, -inf, inf]
        """
    def verdicts(
        self,
        poses_a: Poses = None,
        poses_b: Poses = None,
        d_max: float = 0.0,
        *,
        quasi_angle: float = 0.0,
        dilation_a: float = 0.0,
        dilation_b: float = 0.0,
        parallel: bool = False,
        detect_interference: bool = True,
        verdict_unless_pressed: bool = False,
        tolerance: float | None = None,
        penetration: float = 0.0,
        certified: bool = False,
        conformal_spacing: float | None = None,
        load_bearing: bool = False,
    ) -> NDArray[np.void]:
        """Verdicts at n poses, an array of verdict_dtype, shape (n,). Poses, options, guarantees and errors are those of
        distances. A verdict that the options skip is computed nevertheless.

        >>> ball = feeler.prepare_step("data/sphere.step").body()
        >>> pair = feeler.ContactPair(ball, ball)
        >>> pair.verdicts(poses_b=[[22.5, 0, 0], [20, 0, 0], [19, 0, 0]])["status"].tolist()
        [0, 1, 2]
        """
    def contacts_at(
        self,
        poses_a: Poses = None,
        poses_b: Poses = None,
        d_max: float = 1.0,
        *,
        quasi_angle: float = 0.0,
        dilation_a: float = 0.0,
        dilation_b: float = 0.0,
        parallel: bool = False,
        detect_interference: bool = True,
        verdict_unless_pressed: bool = False,
        tolerance: float | None = None,
        penetration: float = 0.0,
        certified: bool = False,
        conformal_spacing: float | None = None,
        load_bearing: bool = False,
    ) -> tuple[NDArray[np.int64], NDArray[np.void]]:
        """Contacts at n poses: offsets, shape (n + 1,), and an array of contact_dtype. Those at pose i are
        contacts[offsets[i] : offsets[i + 1]], by ascending distance, with age 0. Poses, options, guarantees and errors
        are those of distances.

        >>> ball = feeler.prepare_step("data/sphere.step").body()
        >>> pair = feeler.ContactPair(ball, ball)
        >>> offsets, contacts = pair.contacts_at(poses_b=[[40, 0, 0], [22.5, 0, 0]], d_max=5)
        >>> offsets.tolist(), contacts["point_b"].round(9).tolist()
        ([0, 0, 1], [[12.5, 0.0, 0.0]])
        """
    def iter_contacts(
        self,
        poses_a: Poses = None,
        poses_b: Poses = None,
        d_max: float = 1.0,
        *,
        chunk: int = 1024,
        quasi_angle: float = 0.0,
        dilation_a: float = 0.0,
        dilation_b: float = 0.0,
        parallel: bool = False,
        detect_interference: bool = True,
        verdict_unless_pressed: bool = False,
        tolerance: float | None = None,
        penetration: float = 0.0,
        certified: bool = False,
        conformal_spacing: float | None = None,
        load_bearing: bool = False,
    ) -> Iterator[NDArray[np.void]]:
        """Iterator over the contacts at n poses: an array of contact_dtype for each pose. It computes `chunk` poses at a
        time in parallel, so that long runs need little memory and can be interrupted. Poses, options, guarantees and
        errors are those of distances; an invalid query raises when its chunk is reached.

        >>> ball = feeler.prepare_step("data/sphere.step").body()
        >>> pair = feeler.ContactPair(ball, ball)
        >>> poses = np.linspace([20.5, 0, 0], [22.5, 0, 0], 3)
        >>> [float(contacts["gap"].min().round(9)) for contacts in pair.iter_contacts(poses_b=poses, d_max=5, chunk=2)]
        [0.5, 1.5, 2.5]
        """
    def gap_gradients(self) -> NDArray[np.float64]:
        """First derivatives of the gaps of the contacts of the last query, shape (contacts, 6), with respect to a twist
        of B at A's origin, in A's frame: translation (mm), then rotation (rad). B's pose in A's frame changes by the
        exponential of the twist, exp(twist) @ pose.

        The gradient of an isolated contact is exact. That of a sample of a conformal set is the gradient of the
        distance between its two points along the normal.

        >>> ball = feeler.prepare_step("data/sphere.step").body()
        >>> pair = feeler.ContactPair(ball, ball)
        >>> contacts = pair.query(pose_b=[22.5, 0, 0], d_max=5)
        >>> (pair.gap_gradients().round(9) + 0.0).tolist()
        [[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
        """
    def gap_hessians(self) -> NDArray[np.float64]:
        """Second derivatives H of the gaps of the contacts of the last query, shape (contacts, 6, 6), in the coordinates
        of gap_gradients: a twist x changes a gap by gradient @ x + x @ H @ x / 2 up to third order. nan for a contact
        that is not isolated to second order, such as a sample of a conformal set, and for two vertices at gap 0.

        >>> ball = feeler.prepare_step("data/sphere.step").body()
        >>> pair = feeler.ContactPair(ball, ball)
        >>> contacts = pair.query(pose_b=[25, 0, 0], d_max=5)
        >>> (np.diag(pair.gap_hessians()[0]).round(9) + 0.0).tolist()  # 1/25: the distance of the centres is 25
        [0.0, 0.04, 0.04, 0.0, 0.0, 0.0]
        """
    def separating_translation(
        self,
        pose_a: Pose = None,
        pose_b: Pose = None,
        *,
        dilation_a: float = 0.0,
        dilation_b: float = 0.0,
        tolerance: float | None = None,
    ) -> NDArray[np.float64] | None:
        """Translation of B (mm, world coordinates) after which the solids no longer interfere: short, but not proven to
        be the shortest. None if they do not interfere. The search computes up to 200 verdicts."""
    def overlap(
        self,
        pose_a: Pose = None,
        pose_b: Pose = None,
        *,
        tolerance: float | None = None,
    ) -> Overlap | None:
        """Volume, centroid and box of the common part of the solids. None if they do not interfere, and with sheets,
        which have no volume. The computation takes longer than a query.

        >>> ball = feeler.prepare_step("data/sphere.step").body()  # radius 10
        >>> overlap = feeler.ContactPair(ball, ball).overlap(pose_b=[19, 0, 0])
        >>> round(overlap.volume, 9), overlap.method  # two caps of height 0.5
        (15.44616388, 'faces')
        """
    @property
    def contacts(self) -> NDArray[np.void]:
        """Contacts of the last query."""
    @property
    def status(self) -> Status | None:
        """Status of the last query; None before the first query, after an error, and if the options skipped the
        verdict."""
    @property
    def min_distance(self) -> float | None:
        """Smallest distance (mm) of a contact of the last query; None without a contact."""
    @property
    def verdict(self) -> Verdict | None:
        """Verdict of the last query; None as for status."""
    def decide(self) -> Verdict | None:
        """Returns the verdict of the last query and computes it first if the options skipped it; None before the first
        query and after an error."""
    def forget(self) -> None:
        """Discards the results of earlier queries, so that the contacts of the next query get new ids."""

class StepBound(NamedTuple):
    """Bound of the motion of B relative to A in one step.

    >>> feeler.StepBound(rotation=0.01, displacement=0.5).displacement
    0.5
    """

    rotation: float
    """Largest relative rotation (rad)."""
    displacement: float
    """Largest displacement (mm), in A's frame, of any point of B that can come into contact."""

class ContactTracker:
    """Contacts of two bodies over the steps of a simulator. The contacts of an update suffice for a step: if the motion
    of B relative to A stays within the bound and keeps every linearised gap nonnegative, no gap at its end is below
    about -gap_error, up to terms of second order in the motion.

    reach: gap (mm) up to which contacts are reported in addition to those that the step can close.
    max_depth: depth (mm) down to which contacts are tracked, as far as min_thickness of the bodies allows. Default inf.
    max_step: largest rotation (rad) and displacement (mm) between two updates that continue the motion; a larger motion
    is a jump. None: (0.1, 1).
    gap_error: largest error (mm) of a gap at the end of a step.
    max_contacts: maximum number of contacts, None for no limit. Contacts with the largest gaps are dropped first, those
    with negative gaps never.
    dilation_a, dilation_b: implicit dilations (mm), subtracted from gaps.

    copy.copy returns a tracker with the same contacts, ids and counts. Raises QueryError for invalid options.

    >>> bore, pin = (feeler.prepare_step(f"data/{name}.step").body() for name in ("bore", "pin"))
    >>> tracker = feeler.ContactTracker(bore, pin)
    >>> report = tracker.update(None, [0.01, 0, 0], rotation=1e-4, displacement=0.1)
    >>> tracker.status, float(tracker.contacts["gap"].min().round(9)), bool(tracker.contacts["is_active"].any())
    ('separated', 0.04, True)
    """

    def __init__(
        self,
        a: Body,
        b: Body,
        reach: float = 0.05,
        max_depth: float = ...,
        max_step: ArrayLike | None = None,
        gap_error: float = 1e-3,
        max_contacts: int | None = None,
        dilation_a: float = 0.0,
        dilation_b: float = 0.0,
    ) -> None: ...
    def update(self, pose_a: Pose, pose_b: Pose, rotation: float, displacement: float) -> dict[str, bool | int]:
        """Computes the contacts for a step that starts at these poses, rotates B relative to A by at most `rotation`
        (rad), and displaces any point of B that can come into contact by at most `displacement` (mm).

        Returns `jumped` (the motion since the last update exceeded max_step, or this is the first update: no contact
        continues), `decided` (a verdict was computed), `dropped` (number of contacts dropped because of max_contacts)
        and `limited` (the set may be incomplete because of limits on the numbers of corners of a flat area and of
        samples of curved contacts, so that a step may end deeper than guaranteed). Raises QueryError; then there are
        no contacts."""
    def expected_bound(self, pose_a: Pose, pose_b: Pose, forced: float, max_displacement: float) -> StepBound:
        """Bound of the step that starts at these poses, for engines that cannot query within a step: twice the relative
        motion since the last update, plus the displacement `forced` (mm) by forces, for example g dt². At most
        `max_displacement` (mm) and max_step. For the first step and after a jump the displacement is
        max_displacement."""
    def covers(self, pose_a: Pose, pose_b: Pose) -> bool:
        """Whether the contacts suffice for the motion from the poses of the last update to these poses."""
    def motion_to(self, pose_a: Pose, pose_b: Pose) -> StepBound | None:
        """Motion of B relative to A since the last update; None before the first update."""
    @property
    def contacts(self) -> NDArray[np.void]:
        """Contacts of the last update by ascending id, an array of contact_dtype."""
    def gap_hessians(self) -> NDArray[np.float64]:
        """Second derivatives H of the gaps of the contacts, shape (contacts, 6, 6): a twist x of B at A's origin, in
        A's frame (mm, then rad), changes a gap by gap_rate @ x + x @ H @ x / 2 up to third order, if B's pose changes
        by the exponential of the twist. nan for a contact that is not isolated, for example a member of a conformal
        set."""
    def predicted_gaps(
        self, one_step_ago: Pose, two_steps_ago: Pose = None, is_free: bool = True
    ) -> NDArray[np.float64]:
        """Gaps (mm) of the contacts predicted for the end of the next step, each as if that contact exerted no force,
        shape (contacts,). Engines whose contacts act only when closed need the contacts with negative predicted gaps.
        The gap is the smaller one of two predictions: one repeats the displacement of the last step, the other also
        repeats its change from the step before.

        one_step_ago, two_steps_ago: poses of B in A's frame before the last step and before the step that preceded it.
        Here None means unknown, not the identity. Without the first one the gaps are those of the last update, without
        the second one only the first prediction is made.
        is_free: no joints guide the bodies; then an impact at one contact rotates the bodies, which can reduce the
        predicted gaps of the others."""
    @property
    def bound(self) -> StepBound | None:
        """Bound of the last update; None before the first update and after an error."""
    @property
    def status(self) -> TrackedStatus | None:
        """Status by the signed gaps or by a verdict; None before the first update and after an error."""
    @property
    def depth(self) -> float:
        """Depth (mm) of the deepest contact if the status is pressed or deep, else 0. For concave solids the depth of a
        contact is not the penetration depth."""
    def verdict(self) -> Verdict | None:
        """Computes the proven verdict at the poses of the last update; None before the first update and after an
        error."""
    @property
    def counts(self) -> dict[str, int]:
        """Counts over all updates: updates, jumps (updates after a jump, including the first one), decisions
        (verdicts), uncovered (updates after a motion that exceeded the bound of the previous update), dropped
        (contacts), limited (updates whose set may be incomplete)."""
    def clear(self) -> None:
        """Discards contacts and motion, for example if a simulation is reset: the next update searches anew. Ids and
        counts continue."""
    def __copy__(self) -> ContactTracker: ...

class Scene:
    """Many bodies that move together. d_max limits the gap, that is the distance minus both dilations, and must be
    finite. The options are those of ContactPair.query. Updates distribute their work among threads. len(scene) is the
    number of bodies.

    >>> pin = feeler.prepare_step("data/pin.step").body()
    >>> scene = feeler.Scene(d_max=1)
    >>> first, second = scene.add(pin), scene.add(pin, [0, 0, 60.5])
    >>> scene.update()
    >>> scene.status(first, second), float(scene.contacts["distance"].min().round(9))
    ('separated', 0.5)
    """

    def __init__(
        self,
        d_max: float = 1.0,
        *,
        quasi_angle: float = 0.0,
        dilation_a: float = 0.0,
        dilation_b: float = 0.0,
        parallel: bool = False,
        detect_interference: bool = True,
        verdict_unless_pressed: bool = False,
        tolerance: float | None = None,
        penetration: float = 0.0,
        certified: bool = False,
        conformal_spacing: float | None = None,
        load_bearing: bool = False,
    ) -> None: ...
    def add(self, body: Body, pose: Pose = None) -> int:
        """Adds a body and returns its id, which is never reused."""
    def add_compound(self, parts: Iterable[tuple[Body, Pose]], pose: Pose = None) -> int:
        """Adds one body of several solids, each with its pose in the body, and returns its id."""
    def add_model(self, model: Model) -> list[int]:
        """Adds all instances of a model at their poses and returns their ids."""
    def remove(self, id: int) -> None:
        """Removes a body. Its contacts end in the next update. Raises SceneError."""
    def set_pose(self, id: int, pose: ArrayLike) -> None:
        """Sets the pose of a body for the next update. Raises SceneError, QueryError."""
    def set_poses(self, ids: ArrayLike, poses: ArrayLike) -> None:
        """Sets the poses of several bodies. ids: shape (n,). poses: shape (n, 7), rows x, y, z, qx, qy, qz, qw. Raises
        SceneError or QueryError at the first invalid row; the bodies before it have moved."""
    def pose(self, id: int) -> NDArray[np.float64]:
        """Pose of a body, 4x4. Raises SceneError."""
    def set_body_options(
        self, id: int, d_max: float | None = None, dilation: float = 0.0, fixed: bool = False
    ) -> None:
        """Sets options of all pairs of a body. d_max: largest gap (mm), None for that of the scene; of two bodies the
        larger value applies. dilation: implicit dilation (mm) of the body, added to that of the scene. fixed: the body
        never moves; pairs of fixed bodies are skipped."""
    def set_pair_options(
        self,
        a: int,
        b: int,
        d_max: float | None = None,
        dilation: ArrayLike | None = None,
        ignored: bool = False,
    ) -> None:
        """Sets options of a pair of bodies, which replace those of the bodies. d_max: largest gap (mm). dilation: two
        implicit dilations (mm), of a and of b. None: those of the bodies. ignored: the pair is skipped."""
    def update(self) -> None:
        """Finds the near pairs of all bodies at their poses and computes their contacts and verdicts. If the query of a
        pair fails, its QueryError is raised, and the results of all other pairs are up to date."""
    @property
    def contacts(self) -> NDArray[np.void]:
        """Contacts of the last update, sorted by bodies, parts and distance: an array of scene_contact_dtype."""
    @property
    def events(self) -> NDArray[np.void]:
        """One event for every contact of the last update and of the previous one: an array of contact_event_dtype."""
    def status(self, a: int, b: int) -> Status | None:
        """Status of two bodies in the last update; None if they were not near each other or the options skipped the
        verdict. Raises SceneError."""
    def track(
        self,
        ids: ArrayLike,
        bounds: ArrayLike,
        *,
        reach: float = 0.05,
        max_depth: float = ...,
        max_step: ArrayLike | None = None,
        gap_error: float = 1e-3,
        max_contacts: int | None = None,
        dilation_a: float = 0.0,
        dilation_b: float = 0.0,
    ) -> None:
        """Finds the near pairs of the bodies at their poses, and for each pair the contacts that suffice for the next
        step, with a ContactTracker for each pair. Two solids are near if their gap is at most `reach` plus what both
        motions can close.

        ids: shape (n,). bounds: shape (n, 2); bounds[i] limits the motion of the body ids[i] in the step relative to
        the world: its rotation (rad) and the displacement (mm) of any of its points. Bodies that are not listed do not
        move. The bound of a pair is the sum of both, rounded up to powers of two.

        The options are those of ContactTracker; dilations are added to those of the scene. If options change, all pairs
        search anew. After a QueryError the pairs that failed are missing from the results."""
    @property
    def tracked_pairs(self) -> NDArray[np.void]:
        """Near pairs of the last track, an array of tracked_pair_dtype. Some of them may have no contacts."""
    @property
    def tracked_contacts(self) -> NDArray[np.void]:
        """Contacts of the near pairs, pair by pair: an array of contact_dtype. Ids are unique within a pair."""
    def covers(self) -> bool:
        """Whether the contacts suffice for the motion from the poses of the last track to the present poses."""
    @property
    def tracker_counts(self) -> dict[str, int]:
        """Counts over all pairs, as ContactTracker.counts."""
    @property
    def bodies(self) -> list[int]:
        """Ids of the bodies, ascending."""
    def __len__(self) -> int: ...

class Curve:
    """Deformable curve of connected Bézier pieces of one degree (1 to 5), with a radius (mm). Its solid is a tube with
    round ends. The parameter runs from 0 to the number of pieces, which is len(curve).

    points: shape (n, 3), control points (mm). End points that neighbours share are listed once, so that k pieces have
    k * degree + 1 points, or k * degree if the curve is closed and the last piece ends at the first point.

    Raises QueryError for invalid values.

    >>> curve = feeler.Curve([[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]], radius=0.5)
    >>> len(curve), curve.point(0.5).tolist(), curve.point([0, 1]).shape
    (1, [1.5, 0.0, 0.0], (2, 3))
    """

    def __init__(self, points: ArrayLike, radius: float, degree: int = 3, closed: bool = False) -> None: ...
    @staticmethod
    def hermite(
        points: ArrayLike, derivatives: ArrayLike, radius: float, closed: bool = False
    ) -> Curve:
        """Curve of cubic pieces through nodes with derivatives with respect to the parameter, which increases by 1 from
        node to node; both of shape (n, 3). If directions are not known, use numpy.gradient(points, axis=0)."""
    @staticmethod
    def fit(measured: ArrayLike, tolerance: float, radius: float, closed: bool = False) -> Curve:
        """Curve of cubic pieces fitted to at least four measured points, shape (n, 3), in their order along the curve.
        The number of pieces is the smallest that brings all points within the tolerance (mm), at most what the points
        determine; check `deviation`."""
    def update(self, points: ArrayLike, derivatives: ArrayLike | None = None) -> None:
        """Moves the curve to new control points or, with derivatives, to new nodes. Their number does not change. If the
        points are invalid, the curve does not change."""
    @property
    def deviation(self) -> float | None:
        """Largest distance (mm) of a measured point from a curve made by `fit`; None for other curves."""
    @property
    def points(self) -> NDArray[np.float64]:
        """Control points (mm), shape (n, 3)."""
    @property
    def radius(self) -> float:
        """Radius of the tube (mm), at least 0."""
    @radius.setter
    def radius(self, radius: float) -> None: ...
    @property
    def degree(self) -> int: ...
    @property
    def is_closed(self) -> bool: ...
    @property
    def size(self) -> float:
        """Diagonal of the bounding box of the control points (mm)."""
    @property
    def bounds(self) -> NDArray[np.float64]:
        """Smallest and largest coordinates of the control points (mm), without the radius, shape (2, 3)."""
    def point(self, u: ArrayLike) -> NDArray[np.float64]:
        """Point (mm) at a parameter, or at each parameter of an array: shape (*u.shape, 3)."""
    def derivative(self, u: ArrayLike) -> NDArray[np.float64]:
        """First derivative with respect to the parameter, shape (*u.shape, 3). At a joint it is that of the piece that
        starts there."""
    def tight_bends(self) -> NDArray[np.void]:
        """Stretches where the curvature exceeds 1/radius. The tube overlaps itself there although the distance of the
        curve from itself has no minimum. Members as in tight_bend_dtype, without `curve`."""
    def __len__(self) -> int: ...

class CurveScene:
    """Deformable curves among solids that move: contacts between curves, of curves with themselves, and between curves
    and solids. Updates distribute their work among threads.

    d_max: largest gap (mm) of reported contacts.
    level_slope: largest change of the distance with length (mm per mm) on a stretch of equal distance, which is
    reported as a set of at most max_samples samples. With larger values, tubes that lie side by side become one contact
    sooner. None: 1e-6.
    level_length: smallest length (mm) of a set; a shorter level stretch is reported as one minimum. None: the sum of
    the radii or a hundredth of the smaller curve's size, whichever is larger.
    max_samples: at least 2. None: 16.
    detect_interference: updates decide whether near curves and bodies interfere (status).

    >>> line = np.outer(np.arange(4.0), [1, 0, 0])
    >>> scene = feeler.CurveScene(d_max=5)
    >>> ids = [scene.add_curve(feeler.Curve(line + [0, 0, z], radius=0.5)) for z in (0, 2)]
    >>> scene.update()
    >>> float(scene.contacts["gap"].min().round(9))
    1.0
    """

    def __init__(
        self,
        d_max: float = 1.0,
        *,
        level_slope: float | None = None,
        level_length: float | None = None,
        max_samples: int | None = None,
        detect_interference: bool = False,
    ) -> None: ...
    def add_curve(self, curve: Curve) -> int:
        """Adds a copy of a curve and returns its id, which is never reused."""
    def update_curve(self, id: int, points: ArrayLike, derivatives: ArrayLike | None = None) -> None:
        """Moves a curve, as Curve.update. Raises SceneError, QueryError."""
    def update_curves(
        self,
        ids: ArrayLike,
        points: Sequence[ArrayLike],
        derivatives: Sequence[ArrayLike] | None = None,
    ) -> None:
        """Moves several curves. Raises the error of the first invalid curve; the curves before it have moved."""
    def remove_curve(self, id: int) -> None:
        """Removes a curve. Raises SceneError."""
    def curve(self, id: int) -> Curve:
        """Copy of a curve as it is now. Raises SceneError."""
    def add_body(self, body: Body, pose: Pose = None) -> int:
        """Adds a body and returns its id, which is never reused and independent of the ids of curves."""
    def set_pose(self, id: int, pose: ArrayLike) -> None:
        """Sets the pose of a body for the next update. Raises SceneError, QueryError."""
    def remove_body(self, id: int) -> None:
        """Removes a body. Raises SceneError."""
    def update(self) -> None:
        """Computes all contacts at the present positions. For contacts between bodies use a Scene."""
    @property
    def contacts(self) -> NDArray[np.void]:
        """Contacts of the last update, by ascending pairs and parameters: an array of curve_contact_dtype."""
    @property
    def tight_bends(self) -> NDArray[np.void]:
        """Stretches where curves were bent more tightly than their radius in the last update: an array of
        tight_bend_dtype."""
    def status(self, curve: int, body: int) -> Status | None:
        """Status of a curve and a body in the last update: 'separated', 'interfering', 'touching' (the gap is zero
        within rounding) or 'undecided' (the computing budget was exhausted). None if interference is not detected, or
        if the curve or the body is new. Raises SceneError."""
    def interferes(self, curve: int, body: int) -> bool | None:
        """Whether a curve and a body had common inner points in the last update; None if they touch or it is not
        decided. Raises SceneError."""
    def curves_interfere(self, a: int, b: int) -> bool:
        """Whether the tubes of two curves, or of a curve with itself, overlapped in the last update. Tight bends do not
        count. Raises SceneError."""
    @property
    def curves(self) -> list[int]:
        """Ids of the curves, ascending."""
    @property
    def bodies(self) -> list[int]:
        """Ids of the bodies, ascending."""

class ExactWall:
    """Exact solid as a wall for particles. Cached results of the particles near it make later queries faster and do not
    change results. Queries distribute their work among threads.

    >>> wall = feeler.ExactWall(feeler.prepare_step("data/sphere.step").body())  # radius 10
    >>> wall.sphere_contacts([[0, 0, 10.5]], [1.0])["gap"].round(9).tolist()
    [-0.5]
    """

    def __init__(self, body: Body, pose: Pose = None) -> None: ...
    def set_pose(self, pose: ArrayLike) -> None:
        """Sets the pose of the wall."""
    def sphere_contacts(self, centers: ArrayLike, radii: ArrayLike, reach: float = 0.0) -> NDArray[np.void]:
        """Computes all contacts of spheres whose gaps are at most reach (mm), by ascending particles and gaps: an array
        of wall_contact_dtype.

        centers: shape (n, 3), mm. radii: shape (n,), or one radius for all (mm). A sphere with its centre inside the
        material has one contact, along the shortest translation out of the wall. Raises QueryError."""
    def superellipsoid_contacts(
        self,
        centers: ArrayLike,
        orientations: ArrayLike,
        semi_axes: ArrayLike,
        exponents: ArrayLike,
        reach: float = 0.0,
    ) -> NDArray[np.void]:
        """Computes all contacts of superellipsoids, like sphere_contacts.

        orientations: shape (n, 4), quaternions qx, qy, qz, qw from own axes to the world. semi_axes: shape (n, 3), mm.
        exponents: shape (n, 2), around the z axis and along it, in [0.1, 1.9]; 1, 1 is an ellipsoid. Of each, one row
        applies to all particles. Raises QueryError."""
    @property
    def contacts(self) -> NDArray[np.void]:
        """Contacts of the last query."""
    @property
    def offsets(self) -> NDArray[np.uint32]:
        """Index of the first contact of each particle, and the number of all contacts: shape (particles + 1,)."""

class FacetWall:
    """Wall of triangles, open or closed, whose contacts are those of one surface. Facets are numbered by position, so
    that results do not depend on the order of the triangles.

    resolution: "full" (facets behind other facets have no contacts, and friction continues from facet to facet),
    "proximity" (contacts with facets of nearly equal direction are merged) or "reduced" (friction starts anew on each
    facet).
    cutoff: largest angle (rad) between the normals of facets from which a contact continues to the next.
    sides: sides of the facets that have contacts, "both", "front" (the side of the normals, by the right-hand rule) or
    "back".

    >>> feeler.FacetWall([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]).facets
    1
    """

    def __init__(
        self,
        points: ArrayLike,
        triangles: ArrayLike,
        *,
        resolution: str = "full",
        cutoff: float = 0.5,
        sides: str = "both",
    ) -> None:
        """points: shape (n, 3), mm. triangles: shape (m, 3), indices of points. Raises QueryError."""
    @staticmethod
    def read_stl(
        path: str | PathLike[str],
        scale: float = 1.0,
        *,
        resolution: str = "full",
        cutoff: float = 0.5,
        sides: str = "both",
    ) -> FacetWall:
        """Reads an STL file. scale: length of its unit in mm. Raises FileError."""
    @staticmethod
    def of_body(
        body: Body, chord: float, *, resolution: str = "full", cutoff: float = 0.5, sides: str = "front"
    ) -> FacetWall:
        """Wall from the display mesh of a solid, whose distance from the solid is at most chord (mm). Raises
        MeshError."""
    @property
    def facets(self) -> int:
        """Number of triangles."""
    @property
    def bounds(self) -> NDArray[np.float64]:
        """Smallest and largest coordinates (mm) in own coordinates, shape (2, 3)."""

class Law:
    """Law of contact forces as functions of overlap and relative velocity: a spring, a dashpot with a given coefficient
    of restitution of central impacts, and a shear force limited by Coulomb friction.

    >>> feeler.Law.linear(normal=100, shear=50, restitution=0.5, friction=0.3)
    <Law: Linear { normal: 100.0, shear: 50.0, restitution: 0.5, friction: 0.3 }>
    """

    @staticmethod
    def linear(normal: float, shear: float = 0.0, restitution: float = 1.0, friction: float = 0.0) -> Law:
        """Linear springs with a normal and a shear stiffness (N/m). Raises QueryError."""
    @staticmethod
    def hertz(
        young: float,
        poisson: float,
        restitution: float = 1.0,
        friction: float = 0.0,
        wall: tuple[float, float] | None = None,
    ) -> Law:
        """Law of Hertz and Mindlin. young: Young's modulus of the particles (kPa). wall: Young's modulus (kPa) and
        Poisson's ratio of the wall; None if it has the same material. Raises QueryError."""

class WallForces:
    """Forces of walls on spheres that an external program integrates. Spheres are identified by tags, in any order; the
    friction history of spheres that are missing in a call is dropped. Results do not depend on the order and the number
    of threads, to the bit. Lengths are in mm, masses in kg, times in s, hence forces in mN and torques in mN mm.
    len(forces) is the number of walls.

    >>> forces = feeler.WallForces()
    >>> forces.add_plane([0, 0, 0], [0, 0, 1], feeler.Law.linear(normal=100))
    0
    """

    def __init__(self) -> None: ...
    def add(self, wall: Body | ExactWall | FacetWall, law: Law, pose: Pose = None) -> int:
        """Adds a copy of a wall and returns its number. A Body is an exact wall."""
    def add_plane(self, point: Sequence[float], normal: Sequence[float], law: Law) -> int:
        """Adds a plane with material behind it, opposite to the normal, and returns its number."""
    def __len__(self) -> int: ...
    def pose(self, wall: int) -> NDArray[np.float64]:
        """Pose of a wall, 4x4."""
    def set_pose(self, wall: int, pose: ArrayLike) -> None:
        """Sets the pose of a wall. This is not a motion: contacts have no velocity from it."""
    def set_motion(
        self,
        wall: int,
        velocity: Sequence[float] = (0.0, 0.0, 0.0),
        spin: Sequence[float] = (0.0, 0.0, 0.0),
        center: Sequence[float] | None = None,
    ) -> None:
        """Sets the motion of a wall: the velocity (mm/s) of its reference point, its spin (rad/s), and the reference
        point (mm, world), None for the present one. Torques on the wall refer to the reference point."""
    def advance(self, time: float) -> None:
        """Moves the walls by a time (s)."""
    def forces(
        self,
        centers: ArrayLike,
        velocities: ArrayLike,
        spins: ArrayLike,
        radii: ArrayLike,
        masses: ArrayLike,
        tags: ArrayLike,
        time: float,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Computes the forces (mN) on the spheres and the torques (mN mm) about their centres, of shape (n, 3), after a
        step of `time` (s). With 0 the friction history does not advance.

        centers: shape (n, 3), mm. velocities: shape (n, 3), mm/s. spins: shape (n, 3), rad/s. radii: shape (n,), mm.
        masses: shape (n,), kg. tags: shape (n,), integers. Raises QueryError."""
    def force(self, wall: int) -> list[float]:
        """Force of all spheres on a wall in the last call (mN)."""
    def torque(self, wall: int) -> list[float]:
        """Torque of all spheres on a wall about its reference point in the last call (mN mm)."""
    @property
    def contacts(self) -> int:
        """Number of contacts in the last call."""
    def save(self) -> bytes:
        """Poses and motions of the walls and the friction history, as bytes."""
    def restore(self, state: bytes) -> None:
        """Restores a saved state; the same walls must have been added. Raises QueryError."""

class Grain:
    """Superellipsoid or poly-superellipsoid in coordinates along its semi-axes (mm). The exponents, around the z axis
    and along it, are in [0.1, 1.9]: near 0 a box, 1 an ellipsoid, near 2 an octahedron.

    >>> grain = feeler.Grain.superellipsoid([1, 2, 3])
    >>> grain.radius, round(grain.volume / (8 * np.pi), 9)
    (3.0, 1.0)
    """

    @staticmethod
    def superellipsoid(semi_axes: Sequence[float], exponents: Sequence[float] = (1.0, 1.0)) -> Grain:
        """Superellipsoid with three semi-axes. Raises QueryError."""
    @staticmethod
    def poly(
        positive: Sequence[float], negative: Sequence[float], exponents: Sequence[float] = (1.0, 1.0)
    ) -> Grain:
        """Poly-superellipsoid with three semi-axes on the positive sides and three on the negative sides. Raises
        QueryError."""
    @property
    def positive(self) -> list[float]: ...
    @property
    def negative(self) -> list[float]: ...
    @property
    def exponents(self) -> list[float]: ...
    @property
    def radius(self) -> float:
        """Radius (mm) of a sphere about the origin that contains the grain."""
    @property
    def volume(self) -> float:
        """Volume (mm³)."""
    @property
    def center(self) -> list[float]:
        """Centre of mass (mm)."""

class GrainForces:
    """Forces between grains, and of walls on grains, that an external program or `step` integrates. Results do not
    depend on the number of threads, to the bit. Lengths are in mm, masses in kg, times in s, hence forces in mN,
    torques in mN mm and angular momenta in kg mm²/s. len(forces) is the number of walls.

    >>> forces = feeler.GrainForces()
    >>> floor = forces.add_plane([0, 0, 0], [0, 0, 1], feeler.Law.linear(normal=100))
    >>> ball = forces.add_grain(2.0, density=2500)
    >>> len(forces), forces.grains
    (1, 1)
    """

    def __init__(self, between: Law | None = None, gravity: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        """between: law of contacts between grains. None: grains do not collide with each other.
        gravity: acceleration (mm/s²) in `step` and in the steps of `feeler.deformable.GrainCoupling`; `forces` does not
        include it. Raises QueryError."""
    def add_grain(self, grain: Grain | Body | float, density: float) -> int:
        """Adds a grain, a solid (which may be concave) or a sphere of a radius (mm) with a density (kg/m³), and returns
        its number, from 0. Its pose is the identity until set_motions. Solids collide with planes and with walls that
        are solids or sheets (prepare_mesh), not with a FacetWall. Raises QueryError."""
    def mass(self, grain: int) -> float:
        """Mass of a grain (kg)."""
    def moments(self, grain: int) -> list[float]:
        """Principal moments of inertia of a grain (kg mm²)."""
    def axes(self, grain: int) -> NDArray[np.float64]:
        """Pose (4x4) that maps coordinates along the principal axes of inertia, about the centre of mass, to own
        coordinates of a grain."""
    @property
    def grains(self) -> int:
        """Number of grains that have been added."""
    def add(self, wall: Body | ExactWall | FacetWall, law: Law, pose: Pose = None) -> int:
        """Adds a copy of a wall and returns its number. A Body is an exact wall."""
    def add_plane(self, point: Sequence[float], normal: Sequence[float], law: Law) -> int:
        """Adds a plane with material behind it, opposite to the normal, and returns its number."""
    def __len__(self) -> int: ...
    def pose(self, wall: int) -> NDArray[np.float64]:
        """Pose of a wall, 4x4."""
    def set_pose(self, wall: int, pose: ArrayLike) -> None:
        """Sets the pose of a wall. This is not a motion: contacts have no velocity from it."""
    def set_motion(
        self,
        wall: int,
        velocity: Sequence[float] = (0.0, 0.0, 0.0),
        spin: Sequence[float] = (0.0, 0.0, 0.0),
        center: Sequence[float] | None = None,
    ) -> None:
        """Sets the motion of a wall, as WallForces.set_motion."""
    def advance(self, time: float) -> None:
        """Moves the walls by a time (s)."""
    def set_motions(
        self, grains: ArrayLike, centers: ArrayLike, rotations: ArrayLike, velocities: ArrayLike, momenta: ArrayLike
    ) -> None:
        """Sets the motions of grains with these numbers: centres of mass (n, 3), unit quaternions x, y, z, w from
        principal axes of inertia to the world (n, 4), velocities (n, 3), and angular momenta in world coordinates (n,
        3). Raises QueryError."""
    def motions(
        self,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Centres, quaternions, velocities and angular momenta of all grains, as in set_motions."""
    def forces(self, time: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Computes the forces (mN) on all grains and the torques (mN mm) about their centres of mass, after a step of
        `time` (s). With 0 the friction history does not advance. Raises QueryError."""
    def step(self, time: float, steps: int = 1) -> None:
        """Integrates steps of `time` (s): half a step of motion, the change of velocities, half a step of motion.
        Raises QueryError."""
    def remove(self, grain: int) -> None:
        """Removes a grain. Its number is not reused."""
    def force(self, wall: int) -> list[float]:
        """Force of all grains on a wall in the last call (mN)."""
    def torque(self, wall: int) -> list[float]:
        """Torque of all grains on a wall about its reference point in the last call (mN mm)."""
    @property
    def contacts(self) -> int:
        """Number of contacts in the last call, with walls and between grains."""
    def save(self) -> bytes:
        """Motions of grains and walls and the friction history, as bytes."""
    def restore(self, state: bytes) -> None:
        """Restores a saved state; the same grains and walls must have been added. Raises QueryError."""

class Rules:
    """Rules of a clearance check (docs/INTERFACE.md, "clearance"). Can be pickled.

    >>> feeler.Rules("[[rule]]\\nname = 'play'\\na = 'pin*'\\nb = 'block'\\nmin = 0.2")
    <Rules: play>
    """

    def __init__(self, text: str) -> None:
        """Reads the text of a rule file (TOML). Raises FileError."""
    @staticmethod
    def read(path: str | PathLike[str]) -> Rules:
        """Reads a rule file. Raises FileError."""
    @property
    def text(self) -> str:
        """Text of the rules."""

class Path:
    """Motion of a body over time: the poses (world) from time 0 to `duration`, at rest afterwards. The unit of time is
    arbitrary, but the same for both paths of a motion. Can be pickled.

    >>> path = feeler.Path.through([0, 2], [[0, 0, 0], [10, 0, 0]])
    >>> path.duration, path.pose(0.5)[:3, 3].tolist()
    (2.0, [2.5, 0.0, 0.0])
    """

    @staticmethod
    def still(pose: Pose = None) -> Path:
        """Body at rest, with duration 0."""
    @staticmethod
    def screw(
        pose: Pose, velocity: ArrayLike, angular_velocity: ArrayLike, duration: float = 1.0
    ) -> Path:
        """Screw motion from a pose on: the velocity (mm per unit of time) of the body's origin at time 0 and the angular
        velocity (rad per unit of time), both in world coordinates, determine an axis that does not move. Raises
        QueryError.

        >>> turn = feeler.Path.screw([1, 0, 0], [0, np.pi / 2, 0], [0, 0, np.pi / 2])  # about the z axis
        >>> turn.pose(1)[:3, 3].round(9).tolist()
        [0.0, 1.0, 0.0]
        """
    @staticmethod
    def through(times: ArrayLike, poses: ArrayLike) -> Path:
        """Screw motions between poses, each with the smaller rotation angle. `times` increase; poses have shape (n, 7),
        (n, 3) or (n, 4, 4). The path starts with the first pose at time 0. Raises QueryError."""
    @property
    def duration(self) -> float:
        """End of the motion."""
    def pose(self, time: float) -> NDArray[np.float64]:
        """Pose at a time, 4x4."""

class Mechanism:
    """Links and joints, and the solids that move with the links. Can be pickled, with its solids.

    Values of joints are in rad, or mm for prismatic joints: a dict of joints, in which omitted joints are at 0, or an
    array with a value for each of `joints`.

    >>> arm = feeler.Mechanism.read("data/arm/arm.toml")
    >>> arm
    <Mechanism: 8 links, 7 joints, 8 parts>
    >>> report = arm.check([0, 1], {"waist": [0, 1], "elbow": [0, 0.5]}, steps=10)
    >>> report.is_proven_free, report.times.shape, report.link_poses.shape
    (True, (10,), (10, 8, 4, 4))
    """

    @staticmethod
    def read(path: str | PathLike[str]) -> Mechanism:
        """Reads a mechanism file (TOML; docs/INTERFACE.md, "Mechanisms") with the parts of its links, or a URDF without
        parts, which with_parts() adds. Raises FileError."""
    @staticmethod
    def from_toml(text: str, folder: str | PathLike[str] = "") -> Mechanism:
        """Reads the text of a mechanism file; paths in it are relative to `folder`. Raises FileError."""
    @staticmethod
    def from_urdf(text: str) -> Mechanism:
        """Reads the text of a URDF; its shapes are ignored, and with_parts() adds bodies. Raises FileError.

        >>> text = open("data/arm/arm.urdf").read()
        >>> feeler.Mechanism.from_urdf(text).joints[0].name
        'waist'
        """
    def with_parts(self, parts: Mapping[str, Body | Model | str | PathLike[str] | Sequence[Any]]) -> Mechanism:
        """Copy of the mechanism with these parts instead of its own ones: for each link a Body in the frame of the link,
        a Model or its file, or a list of them. Raises FileError and QueryError.

        >>> ball = feeler.prepare_step("data/sphere.step").body()
        >>> arm = feeler.Mechanism.read("data/arm/arm.urdf").with_parts({"base": ball, "tool": ball})
        >>> arm.parts
        [('base', 'base'), ('tool', 'tool')]
        """
    @property
    def links(self) -> list[str]:
        """Names of the links."""
    @property
    def joints(self) -> list[Joint]:
        """Joints, each after the joint that moves its parent."""
    @property
    def parts(self) -> list[tuple[str, str]]:
        """Name and link of each part."""
    @property
    def motion(self) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]] | None:
        """Motion of the mechanism file: times (s), and the values of the joints that move at these times."""
    def link_poses(self, values: Mapping[str, ArrayLike] | ArrayLike) -> NDArray[np.float64]:
        """Poses of all links (world) for the values of the joints: shape (links, 4, 4), or (n, links, 4, 4) for n values
        of each joint. Raises QueryError if a value exceeds the limits of its joint, and for closed loops.

        >>> arm = feeler.Mechanism.read("data/arm/arm.urdf")
        >>> arm.link_poses({"waist": [0, 0.5, 1]}).shape
        (3, 8, 4, 4)
        """
    def check(
        self,
        times: ArrayLike | None = None,
        values: Mapping[str, ArrayLike] | ArrayLike | None = None,
        *,
        steps: int = 100,
        grid: int | None = None,
        d_max: float = 10.0,
        distance: float = 0.0,
        proof: bool = True,
        allow_touching: bool | None = None,
        tolerance: float | None = None,
        deviation: float | None = None,
        ignore: Sequence[Sequence[str]] | None = None,
        neighbours: bool | None = None,
        threads: int | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> MechanismReport:
        """Checks that the parts stay free of each other as the joints move, also between the moments of measurement.

        times, values: times (s) and the values of the joints at these times, linear in between; default: the motion of
        the mechanism file. On closed loops, joints without values are dependent.
        steps: number of evenly spaced moments at which distances are measured.
        grid: instead of a motion, this number of values of each joint with limits, in all combinations.
        d_max: largest distance (mm) that is measured.
        distance: distance (mm) that counts as contact between the moments.
        proof: whether to prove that the parts stay apart between the moments, or to find the first contact.
        allow_touching: the proof excludes penetration instead of contact; default: as the file states, or False.
        tolerance: lengths (mm) below it count as zero; default: 1e-7 of the larger part.
        deviation: maximum deviation (mm) from the exact motion of closed loops.
        ignore: pairs of links that are not checked; neighbours: whether links that share a joint are checked, too;
        defaults: as the file states.
        threads, progress: as of clearance; progress counts measurements.

        Raises FileError and QueryError. Ctrl-C interrupts the check.

        >>> feeler.Mechanism.read("data/arm/arm.toml").check(steps=20, proof=False).margins.shape
        (20,)
        """

class PourScene:
    """Scene of a simulation of grains, checked and ready for pour() (docs/POUR.md). Can be pickled; the files that it
    names are read again.

    >>> scene = feeler.PourScene.read("data/pour/rings.toml")
    >>> scene.outflow_names[-1], scene.row_count > 0
    ('lost', True)
    """

    def __init__(self, text: str, folder: str | PathLike[str] = "") -> None:
        """Reads the text of a scene file; paths in it are relative to `folder`. Raises FileError."""
    @staticmethod
    def read(path: str | PathLike[str]) -> PourScene:
        """Reads a scene file and the models that it names. Raises FileError."""
    @property
    def notes(self) -> list[str]:
        """Messages about the scene: models that were prepared, parts that were left out, a long time step."""
    @property
    def outflow_names(self) -> list[str]:
        """Names of the outlets, then 'lost' for particles that leave the domain otherwise."""
    @property
    def time_step(self) -> float:
        """Duration of a time step (s)."""
    @property
    def row_count(self) -> int:
        """Number of rows of the series after that of the initial state."""
    @property
    def duration(self) -> float:
        """Simulated time of the whole run (s)."""

def run(arguments: list[str]) -> tuple[int, str, str]:
    """Runs the program `feeler` with these arguments. Returns the exit status, stdout and stderr. Ctrl-C raises
    KeyboardInterrupt at once; the command then ends in the background.

    >>> status, out, err = feeler.run(["inspect", "data/pin.step", "--json"])
    >>> status, out.startswith("{"), err
    (0, True, '')
    """
