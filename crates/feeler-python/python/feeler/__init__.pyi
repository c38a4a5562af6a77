"""Exact contact and clearance between CAD solids. Lengths are millimetres, angles radians."""

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str

Pose = ArrayLike | None
"""A 4x4 matrix, [x, y, z] or [x, y, z, qx, qy, qz, qw]; None where the solid is modelled."""
Status = Literal["separated", "touching", "interfering", "undecided"]
TrackedStatus = Literal["separated", "touching", "pressed", "deep", "interfering"]

contact_dtype: np.dtype[np.void]
"""Members of a contact:

distance, gap: signed distance, and less both dilations.
point_a, point_b: footpoints, world; local_a, local_b: in the solids' own coordinates.
normal: unit, point_b - point_a = distance * normal; outward of A.
curvature_a, curvature_b: smallest and largest normal curvature, positive where the solid bulges.
id: stays the same while the minimum stays on its features. age: queries in a row that have found it before.
kind: 0 strict, 1 quasi, 2 a sample of a conformal set. undecided: not solved to round-off, or not proven.
feature_kind_a: 0 face, 1 edge, 2 vertex; feature_a its number; source_a its entity in the STEP file;
uv_a the parameters there. The same of b.
"""
scene_contact_dtype: np.dtype[np.void]
"""bodies (ascending, the first one is A), parts, and the members of contact_dtype."""
step_contact_dtype: np.dtype[np.void]
"""Members of a contact of a ContactTracker:

id: identity, increases from contact to contact of a tracker and is never assigned twice.
gap: signed gap (mm) along the normal, less the dilations.
point_a, point_b: footpoints, world; local_a, local_b: in the solids' own coordinates.
normal: unit, outward of A, world; local_normal: in A's own coordinates.
gap_rate: first derivative of the gap by a twist of B at A's origin, in A's frame: translation (mm), then rotation
(rad).
curvature_a, curvature_b: smallest and largest normal curvature (1/mm), positive where the solid bulges.
feature_kind_a: 0 face, 1 edge, 2 vertex; feature_a its index; uv_a the parameters there. Likewise of b.
kind: 0 strict, 1 quasi, 2 sample, 3 extended.
is_active: the step can close the gap, because the gap is at most the displacement of the bound.
"""
tracked_pair_dtype: np.dtype[np.void]
"""Members of a near pair of Scene.track:

bodies (ascending, the first one is A), parts.
status: 0 separated, 1 touching, 2 pressed, 3 deep, 4 interfering, as ContactTracker.status.
depth: depth (mm) of the deepest contact of a pair that is pressed or deep, else 0.
jumped, decided, dropped: as ContactTracker.update returns them.
bound: rotation (rad) and displacement (mm) of B relative to A that the contacts suffice for.
first_contact, contact_count: its contacts are tracked_contacts[first_contact : first_contact + contact_count].
"""
event_dtype: np.dtype[np.void]
"""bodies, parts, id, contact (place among the contacts, -1 of one that has ended), kind: 0 began,
1 persisted, 2 ended."""

curve_contact_dtype: np.dtype[np.void]
"""Members of a minimum of a scene of curves; the curve is A:

kind: 0 two curves, 1 a curve and itself, 2 a curve and a solid.
curve: the curve, of two the smaller id; other: the other curve, or the body; part: which of its solids.
u: parameters on both curves, of a curve and itself the smaller one first; the second is nan for a solid.
point_a, point_b: points of the curves, or of the solid, world; the tube's is a radius away.
normal: unit, point_b - point_a = distance * normal.
distance: of the points, negative where the curve is inside the solid. gap: of the tubes.
place: 0 inside a piece, 1 a corner, 2 a free end.
feature_kind: of a solid 0 face, 1 edge, 2 vertex, else -1; feature its number.
set: the same number for all samples of one stretch of equal distance of a pair; -1 for what is no sample.
id: stays the same from step to step while the minimum moves on.
"""
tight_bend_dtype: np.dtype[np.void]
"""curve, range (parameters between which the curvature is too large), u (where it is largest), curvature
(1/mm there, infinite at a cusp)."""
wall_contact_dtype: np.dtype[np.void]
"""Members of a contact of a particle with an exact wall:

particle: its place in the arrays. point: the wall's point, world (mm). normal: unit, from the wall to the particle.
gap: how far the surfaces are apart along it, negative where the particle is pressed in.
curvatures: of the wall (1/mm), the larger one first, positive where it bulges towards the particle; infinite across
an edge, and both at a vertex.
id: the same as long as the contact stays on its feature of the wall.
"""

class FeelerError(Exception):
    """What feeler refuses, with what to do."""

class FileError(FeelerError):
    """A file that cannot be read, prepared or written."""

class BodyError(FeelerError):
    """A solid that cannot be queried."""

class QueryError(FeelerError):
    """Options, poses or curves that are not valid, or coordinates that are rounded too much."""

class SceneError(FeelerError):
    """A body or a curve that is not in the scene, or may not be as asked."""

class MeshError(FeelerError):
    """A solid that could not be meshed."""

class Instance:
    """A solid in its place."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str:
        """Names from the root of the assembly, joined by '/'."""
    @property
    def solid(self) -> int:
        """Number of the solid."""
    @property
    def pose(self) -> NDArray[np.float64]:
        """4x4, from the solid's coordinates to the model's."""

class Model:
    """What a file holds. Read only; any number of threads may use it. Pickled by its bytes."""

    @staticmethod
    def read(path: str | PathLike[str]) -> Model:
        """Reads a .feeler file."""
    @staticmethod
    def from_bytes(data: bytes) -> Model:
        """Reads the bytes of a .feeler file."""
    @staticmethod
    def prepare_bytes(data: bytes, name: str = "bytes") -> Model:
        """Prepares the bytes of a STEP file, which errors call by this name."""
    @staticmethod
    def of_mesh(
        points: ArrayLike, triangles: ArrayLike, name: str = "mesh", *, open_shells: bool = False
    ) -> Model:
        """The solids that closed surfaces of triangles bound: points (n, 3) in mm; triangles (m, 3), numbers of
        points, counter-clockwise seen from outside. A surface that looks inwards within another is a hollow.
        open_shells: open surfaces are sheets without thickness, met from both sides. Raises FileError where they bound
        no solids, QueryError for other arrays."""
    def write(self, path: str | PathLike[str]) -> int:
        """Writes a .feeler file, whole or not at all; the number of bytes."""
    def to_bytes(self) -> bytes: ...
    @property
    def input(self) -> str: ...
    @property
    def solids(self) -> list[str]:
        """Names of the distinct solids."""
    @property
    def instances(self) -> list[Instance]: ...
    @property
    def remarks(self) -> list[str]:
        """What the import had to say."""
    @property
    def left_out(self) -> list[str]:
        """Solids and components that could not be prepared."""
    def body(self, solid: int = 0) -> Body: ...
    def __len__(self) -> int: ...

def prepare(path: str | PathLike[str]) -> Model:
    """Reads a STEP file and prepares its solids, which takes a tenth of a second to some minutes: write the
    model to a file and read that the next time. The GIL is released."""

class Body:
    """A solid ready for queries, in its own coordinates. Any number of threads may use it."""

    def __init__(self, model: Model, solid: int = 0) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def volume(self) -> float:
        """mm³, of density 1 the mass."""
    @property
    def area(self) -> float: ...
    @property
    def min_thickness(self) -> float:
        """Smallest thickness of the material, or less; 0 of a sheet and where it is not known."""
    @property
    def size(self) -> float:
        """Diagonal of the box."""
    @property
    def bounds(self) -> NDArray[np.float64]:
        """Two rows: smallest and largest coordinates."""
    @property
    def centroid(self) -> NDArray[np.float64] | None:
        """None of an open surface."""
    @property
    def inertia(self) -> NDArray[np.float64] | None:
        """3x3 (mm⁵) about the centroid, of density 1."""
    def mesh(self, chord: float) -> Mesh:
        """Triangles no farther than `chord` (mm) from the solid; nothing is measured on them."""

class Mesh:
    """Triangles of a body."""

    @property
    def points(self) -> NDArray[np.float64]:
        """Each face has vertices of its own."""
    @property
    def normals(self) -> NDArray[np.float64]: ...
    @property
    def triangles(self) -> NDArray[np.uint32]:
        """Counter-clockwise from outside."""
    @property
    def faces(self) -> NDArray[np.uint32]:
        """For each triangle its face: feature_a, feature_b of contacts."""
    @property
    def welded(self) -> NDArray[np.uint32]:
        """For each vertex the first one in the same place."""
    @property
    def deviation(self) -> float:
        """Largest distance found between a triangle and its surface."""
    @property
    def open_sides(self) -> int:
        """Sides without a partner: 0 where the mesh is closed."""

class Verdict:
    """How two solids stood, with what proves it."""

    @property
    def status(self) -> Status: ...
    @property
    def distance(self) -> float | None:
        """Smallest distance of a minimum; None where none was within d_max."""
    @property
    def witness(self) -> list[float] | None:
        """Of interfering solids: a point inside both."""
    @property
    def inside_a(self) -> float | None:
        """Lower bound of its distance to the boundary of A. No translation shorter than inside_a + inside_b
        parts the solids."""
    @property
    def inside_b(self) -> float | None: ...
    @property
    def undecided_places(self) -> int: ...
    @property
    def tolerance(self) -> float:
        """Lengths below this were zero."""

class ContactPair:
    """Two bodies and what their queries reuse. One thread at a time; queries release the GIL."""

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
        decide: bool = True,
        verdict_unless_pressed: bool = False,
        tolerance: float | None = None,
        penetration: float = 0.0,
        certified: bool = False,
        conformal_spacing: float | None = None,
    ) -> NDArray[np.void]:
        """All local minimal distances up to d_max, by ascending distance, as an array of contact_dtype.

        verdict_unless_pressed: skips the verdict if a contact has a negative gap (with penetration above 0),
        because such a contact explains the interference; decide() computes the verdict on demand."""
    def separating_translation(
        self,
        pose_a: Pose = None,
        pose_b: Pose = None,
        *,
        dilation_a: float = 0.0,
        dilation_b: float = 0.0,
        tolerance: float | None = None,
    ) -> list[float] | None:
        """A vector (mm) by which B moved no longer interferes with A, short but not proven to be the shortest; None
        where they do not interfere. A search that takes up to 200 decisions."""
    @property
    def contacts(self) -> NDArray[np.void]:
        """Those of the last query once more."""
    @property
    def status(self) -> Status | None: ...
    @property
    def distance(self) -> float | None: ...
    @property
    def verdict(self) -> Verdict | None: ...
    def decide(self) -> Verdict | None:
        """Verdict of the last query, computed on demand if its options skipped it; None before the first query
        and after an error."""
    def forget(self) -> None:
        """Begins a new motion: what the next query finds is new."""

class ContactTracker:
    """Contacts of two bodies over the steps of a simulator. One thread at a time; updates release the GIL.

    A motion of B relative to A that keeps the bound of an update and every linear gap of its contacts ends with no
    gap below about -gap_error, up to terms of second order in the motion.

    reach: gap (mm) up to which contacts are reported, beside those that the step can close.
    max_depth: depth (mm) down to which contacts are followed, as far as the walls of the bodies separate their sides.
    max_step: largest motion (rad, mm) between two updates that continues a motion; a larger one is a jump.
    gap_error: wanted error (mm) of a gap at the end of a step.
    max_contacts: largest number of contacts; those with the largest gaps are dropped, never a negative one. None: no
    limit.
    dilation_a, dilation_b: dilations (mm), which gaps take into account.

    copy.copy returns a tracker with the same contacts, numbers and counts."""

    def __init__(
        self,
        a: Body,
        b: Body,
        reach: float = 0.05,
        max_depth: float = ...,
        max_step: Sequence[float] = (0.1, 1.0),
        gap_error: float = 1e-3,
        max_contacts: int | None = None,
        dilation_a: float = 0.0,
        dilation_b: float = 0.0,
    ) -> None: ...
    def update(self, pose_a: Pose, pose_b: Pose, rotation: float, displacement: float) -> dict[str, bool | int]:
        """Computes the contacts for a step from these poses that turns B relative to A by at most `rotation` (rad)
        and displaces any point of B that can come into contact by at most `displacement` (mm). After an error
        there are no contacts.

        Returns `jumped` (the motion since the last update was larger than max_step, or there was none, and
        no contact continues), `decided` (a verdict was computed) and `dropped` (contacts that max_contacts
        dropped)."""
    def expected_bound(
        self, pose_a: Pose, pose_b: Pose, forced: float, max_displacement: float
    ) -> tuple[float, float]:
        """Rotation and displacement of the step from these poses, for engines that cannot query within a step:
        twice the relative motion since the last update, plus the displacement `forced` (mm) that forces add in a
        step, such as g dt². At most max_displacement (mm) and max_step; the first step and a step after a jump
        get max_displacement."""
    def covers(self, pose_a: Pose, pose_b: Pose) -> bool:
        """Whether the contacts suffice for the motion from the poses of the last update to these."""
    def motion_to(self, pose_a: Pose, pose_b: Pose) -> tuple[float, float] | None:
        """Rotation (rad) and displacement (mm) of B relative to A since the last update; None before the first."""
    @property
    def contacts(self) -> NDArray[np.void]:
        """Contacts of the last update by ascending number, an array of step_contact_dtype."""
    def gap_hessians(self) -> NDArray[np.float64]:
        """Second derivatives H of the gaps of the contacts, shape (contacts, 6, 6): a twist x of B at A's origin, in A's
        frame, changes a gap by gap_rate @ x + x @ H @ x / 2 up to third order, where B's pose changes by the exponential
        of the twist. NaN for a contact that is not isolated, such as a member of a conformal set."""
    def predicted_gaps(
        self, one_step_ago: Pose, two_steps_ago: Pose = None, is_free: bool = True
    ) -> NDArray[np.float64]:
        """Gaps (mm) of the contacts at the end of the step without that contact, shape (contacts,): for engines whose
        contacts act only if they are closed. Such an engine needs the contacts with a negative gap. The bodies continue
        as in the last step or accelerate as in the last two; the smaller gap is returned.

        one_step_ago, two_steps_ago: poses of B in A's frame; None if unknown. Without the first one the gaps are those
        of the last update.
        is_free: if true, no joints guide the bodies, and the prediction includes rotations by impacts on the other contacts."""
    @property
    def bound(self) -> tuple[float, float] | None:
        """Rotation and displacement of the last update."""
    @property
    def status(self) -> TrackedStatus | None:
        """Status by the signed gaps: pressed if the smallest is negative, deep if it exceeds max_depth, interfering
        if the verdict is interference and no contact has a negative gap. None before the first update."""
    @property
    def depth(self) -> float:
        """Depth (mm) of the deepest contact of bodies that are pressed or deep, else 0. For concave solids that is
        not the depth of penetration."""
    def verdict(self) -> Verdict | None:
        """Proven verdict at the poses of the last update, computed on demand; None before the first update and
        after an error."""
    @property
    def counts(self) -> dict[str, int]:
        """Sums over all updates: updates, jumps, decisions (verdicts), uncovered (motions beyond the bound of the
        update before) and dropped (contacts)."""
    def clear(self) -> None:
        """Forgets the motion: the next update searches anew. Numbers and counts continue."""
    def __copy__(self) -> ContactTracker: ...

class Scene:
    """Many bodies that move together. d_max bounds the gap, the distance less both dilations. One thread at a
    time; steps share their work among threads and release the GIL."""

    def __init__(
        self,
        d_max: float = 1.0,
        *,
        quasi_angle: float = 0.0,
        decide: bool = True,
        verdict_unless_pressed: bool = False,
        parallel: bool = False,
        tolerance: float | None = None,
        penetration: float = 0.0,
        certified: bool = False,
        conformal_spacing: float | None = None,
        dilation_a: float = 0.0,
        dilation_b: float = 0.0,
    ) -> None: ...
    def add(self, body: Body, pose: Pose = None) -> int:
        """The id of a new body; never given again."""
    def add_compound(self, parts: Iterable[tuple[Body, Pose]], pose: Pose = None) -> int:
        """Several solids as one body, each with its place in it."""
    def add_model(self, model: Model) -> list[int]:
        """All instances of a model in their places."""
    def remove(self, id: int) -> None: ...
    def set_pose(self, id: int, pose: ArrayLike) -> None: ...
    def set_poses(self, ids: NDArray[np.uint32], poses: NDArray[np.float64]) -> None:
        """Rows of x, y, z, qx, qy, qz, qw."""
    def pose(self, id: int) -> NDArray[np.float64]: ...
    def set_body(
        self, id: int, d_max: float | None = None, dilation: float = 0.0, fixed: bool = False
    ) -> None:
        """Asks something else of all pairs of a body. Two fixed bodies are not asked."""
    def set_pair(
        self,
        a: int,
        b: int,
        d_max: float | None = None,
        dilation: Sequence[float] | None = None,
        ignored: bool = False,
    ) -> None:
        """Asks something else of a pair, in place of what is asked of its bodies."""
    def update(self) -> None: ...
    @property
    def contacts(self) -> NDArray[np.void]:
        """All minima of the last step, an array of scene_contact_dtype."""
    @property
    def events(self) -> NDArray[np.void]:
        """What became of the contacts of the step before, and which are new; an array of event_dtype."""
    def status(self, a: int, b: int) -> Status | None:
        """How two bodies stood; None where they were not near."""
    def track(
        self,
        ids: NDArray[np.uint32],
        bounds: NDArray[np.float64],
        *,
        reach: float = 0.05,
        max_depth: float = ...,
        max_step: Sequence[float] = (0.1, 1.0),
        gap_error: float = 1e-3,
        max_contacts: int | None = None,
        dilation_a: float = 0.0,
        dilation_b: float = 0.0,
    ) -> None:
        """Finds the near pairs of the bodies where they are, and for each one the contacts that suffice for the step to
        come, with a ContactTracker for each pair, in parallel.

        bounds: rows of the rotation (rad) and the displacement (mm) of any point that each of the bodies `ids` makes
        at most in this step, relative to the world; the other bodies do not move. A pair's bound is the sum of
        both, rounded up to powers of two. The options are those of ContactTracker; dilations are added to those of the scene,
        and options that change make all trackers search anew. Near are solids whose gap is at most `reach` and what
        both motions can close. After a QueryError pairs that failed are left out of the results."""
    @property
    def tracked_pairs(self) -> NDArray[np.void]:
        """Near pairs of the last track, an array of tracked_pair_dtype; some may have no contact."""
    @property
    def tracked_contacts(self) -> NDArray[np.void]:
        """Contacts of these pairs, pair by pair, an array of step_contact_dtype. Numbers are unique within a pair."""
    def covers(self) -> bool:
        """Whether the contacts suffice for the motion from the poses of the last track to those that the bodies have
        now."""
    @property
    def tracker_counts(self) -> dict[str, int]:
        """Sums over all trackers: as ContactTracker.counts."""
    @property
    def bodies(self) -> list[int]: ...
    def __len__(self) -> int: ...

class Curve:
    """A deformable curve: Bézier pieces of one degree (1 to 5) that meet end to end, and a radius (mm) around
    them. Its solid is a tube with round ends. The parameter goes from 0 to the number of pieces.

    points: rows of x, y, z, end points of neighbours given once: n * degree + 1 rows for n pieces, n * degree
    when the last piece ends where the first one starts (closed).
    """

    def __init__(self, points: ArrayLike, radius: float, degree: int = 3, closed: bool = False) -> None: ...
    @staticmethod
    def hermite(
        points: ArrayLike, derivatives: ArrayLike, radius: float, closed: bool = False
    ) -> Curve:
        """Cubics through nodes with derivatives by the parameter, which grows by 1 from node to node. Without
        directions of your own, derivatives are numpy.gradient(points, axis=0)."""
    @staticmethod
    def fit(measured: ArrayLike, tolerance: float, radius: float, closed: bool = False) -> Curve:
        """Cubics near four measured points or more, given in their order: as few pieces as bring all points
        within the tolerance (mm), or as many as the points allow: look at deviation."""
    def update(self, points: ArrayLike, derivatives: ArrayLike | None = None) -> None:
        """Moves the curve: as many control points as it was made with, or, with derivatives, as many nodes.
        Where they are refused it stays as it was."""
    @property
    def deviation(self) -> float | None:
        """Of a fitted curve: largest distance (mm) of a measured point from it, as it was made."""
    @property
    def points(self) -> NDArray[np.float64]:
        """The control points, as they are now."""
    @property
    def radius(self) -> float: ...
    @radius.setter
    def radius(self, radius: float) -> None: ...
    @property
    def degree(self) -> int: ...
    @property
    def closed(self) -> bool: ...
    @property
    def size(self) -> float:
        """Diagonal of the box of the control points."""
    @property
    def bounds(self) -> NDArray[np.float64]:
        """Two rows: smallest and largest coordinates of the control points; without the radius."""
    def point(self, u: ArrayLike) -> NDArray[np.float64]:
        """The point at a parameter, or a row for each of an array of them."""
    def derivative(self, u: ArrayLike) -> NDArray[np.float64]:
        """The derivative by the parameter there; at a joint that of the piece that starts there."""
    def tight_bends(self) -> NDArray[np.void]:
        """Stretches where radius times curvature is 1 or more: the tube overlaps itself there, though its
        distance from itself has no minimum. Members of tight_bend_dtype but curve."""
    def __len__(self) -> int:
        """The number of pieces."""

class CurveScene:
    """Curves that deform among solids that move: all minima between curves, of curves with themselves, and
    between curves and solids. One thread at a time; steps share their work among threads and release the GIL.

    d_max: largest gap (mm) of minima that are told.
    level_slope: stretches on which the distance changes by less than this with length (mm per mm) are sets of
    equal distance, told by at most max_samples samples; larger values make tubes that lie side by side one
    contact sooner. None: 1e-6.
    level_length: length (mm) from which on such a stretch is a set and not a minimum. None: the larger of the
    sum of the radii and a hundredth of the smaller curve's size.
    max_samples: at least 2. None: 16.
    decide: steps decide of near curves and solids whether they interfere (status).
    """

    def __init__(
        self,
        d_max: float = 1.0,
        *,
        level_slope: float | None = None,
        level_length: float | None = None,
        max_samples: int | None = None,
        decide: bool = False,
    ) -> None: ...
    def add_curve(self, curve: Curve) -> int:
        """The id of a copy of the curve; never given again."""
    def update_curve(self, id: int, points: ArrayLike, derivatives: ArrayLike | None = None) -> None:
        """Moves a curve, as Curve.update."""
    def update_curves(
        self,
        ids: Sequence[int],
        points: Sequence[ArrayLike],
        derivatives: Sequence[ArrayLike] | None = None,
    ) -> None:
        """Moves curves one after the other. At the first one that is refused it stops."""
    def remove_curve(self, id: int) -> None: ...
    def curve(self, id: int) -> Curve:
        """A copy of a curve as it is now."""
    def add_body(self, body: Body, pose: Pose = None) -> int:
        """The id of a new body; never given again. Bodies and curves are counted apart."""
    def set_pose(self, id: int, pose: ArrayLike) -> None: ...
    def remove_body(self, id: int) -> None: ...
    def update(self) -> None:
        """Finds all minima as curves and bodies are now. What bodies do among themselves is for a Scene."""
    @property
    def contacts(self) -> NDArray[np.void]:
        """All minima of the last step, by pairs and by parameters; an array of curve_contact_dtype."""
    @property
    def tight_bends(self) -> NDArray[np.void]:
        """Stretches of the curves, in the last step, that are bent more than their radius allows; an array of
        tight_bend_dtype."""
    def status(self, curve: int, body: int) -> Status | None:
        """How they stood in the last step: 'separated', 'interfering', 'touching', when the tube is as near as
        rounding allows to tell, or 'undecided', when the work allowed for it ran out. None where steps do not
        decide it, and of what was added since."""
    def interferes(self, curve: int, body: int) -> bool | None:
        """The same: whether they had common inner points; None where they touch, or it is not decided."""
    def curves_interfere(self, a: int, b: int) -> bool:
        """Whether the tubes of two curves, or of a curve and itself, overlapped in the last step. Bends that
        are too tight do not count."""
    @property
    def curves(self) -> list[int]: ...
    @property
    def bodies(self) -> list[int]: ...

class ExactWall:
    """A solid that particles meet, without triangles. What it learns of particles makes later queries faster and
    changes no answer. One thread at a time; queries share their work among threads and release the GIL."""

    def __init__(self, body: Body, pose: Pose = None) -> None: ...
    def set_pose(self, pose: ArrayLike) -> None: ...
    def spheres(self, centers: ArrayLike, radii: ArrayLike, reach: float = 0.0) -> NDArray[np.void]:
        """All contacts of spheres with gaps of at most reach (mm), by particles and then by gaps; an array of
        wall_contact_dtype. centers: rows of x, y, z (mm); radii: one for each, or one for all. A centre inside the
        material has one contact, along the shortest way out."""
    def superellipsoids(
        self,
        centers: ArrayLike,
        orientations: ArrayLike,
        semi_axes: ArrayLike,
        exponents: ArrayLike,
        reach: float = 0.0,
    ) -> NDArray[np.void]:
        """The same of superellipsoids. orientations: rows qx, qy, qz, qw, from their own axes to the world;
        semi_axes: rows a, b, c (mm); exponents: rows e1 (around their z), e2 (along it), in [0.1, 1.9]. One row
        stands for all."""
    @property
    def contacts(self) -> NDArray[np.void]:
        """Those of the last query."""
    @property
    def offsets(self) -> NDArray[np.uint32]:
        """Where each particle's contacts begin, and after the last one where they end."""

class FacetWall:
    """A wall of triangles (mm), which balls meet as one surface; open or closed, numbered by places, so that the
    order of the triangles changes no bit.

    resolution: "full" (what is behind other facets is not felt, and friction goes on from facet to facet),
    "proximity" (contacts with facets that hardly differ in direction are one) or "reduced" (friction begins
    anew on each facet). cutoff: largest angle (rad) between normals of facets that a contact goes on to.
    sides: from where facets are felt, "both", "front" (where normals point, by the right-hand rule) or "back"."""

    def __init__(
        self,
        points: ArrayLike,
        triangles: ArrayLike,
        *,
        resolution: str = "full",
        cutoff: float = 0.5,
        sides: str = "both",
    ) -> None:
        """points: rows x, y, z (mm); triangles: rows of three numbers of points, from 0. Raises QueryError."""
    @staticmethod
    def read_stl(
        path: str | PathLike[str],
        scale: float = 1.0,
        *,
        resolution: str = "full",
        cutoff: float = 0.5,
        sides: str = "both",
    ) -> FacetWall:
        """From an STL file; scale: mm of one of its units. Raises FileError."""
    @staticmethod
    def of_body(
        body: Body, chord: float, *, resolution: str = "full", cutoff: float = 0.5, sides: str = "front"
    ) -> FacetWall:
        """A solid's display mesh, off by chord (mm) at most. Raises MeshError."""
    @property
    def facets(self) -> int:
        """Number of triangles."""
    @property
    def bounds(self) -> NDArray[np.float64]:
        """Least and greatest coordinates (mm), in the wall's own coordinates."""

class Law:
    """Forces of a contact by its overlap and the velocities there: a spring, a dashpot that gives a coefficient of
    restitution of a head-on impact, and shear that Coulomb's friction limits."""

    @staticmethod
    def linear(normal: float, shear: float = 0.0, restitution: float = 1.0, friction: float = 0.0) -> Law:
        """Springs of a normal and a shear stiffness (N/m)."""
    @staticmethod
    def hertz(
        young: float,
        poisson: float,
        restitution: float = 1.0,
        friction: float = 0.0,
        wall: tuple[float, float] | None = None,
    ) -> Law:
        """Hertz and Mindlin. young: Young's modulus of the balls (kPa: a thousandth of that in Pa); wall: modulus
        and Poisson's ratio of the wall, unless it is of the same material."""

class WallForces:
    """What walls do to balls that another program steps. Balls are known by their tags, in any order; what friction
    remembers of balls that are not in a call is dropped. The same bits for any order and any number of threads.
    Lengths are mm, masses kg, times s: forces are mN, torques mN mm."""

    def __init__(self) -> None: ...
    def add(self, wall: Body | ExactWall | FacetWall, law: Law, pose: Pose = None) -> int:
        """Adds a wall (a copy of it); its number. A Body is met without triangles."""
    def add_plane(self, point: Sequence[float], normal: Sequence[float], law: Law) -> int:
        """Adds a plane with material behind it; its number."""
    def __len__(self) -> int: ...
    def pose(self, wall: int) -> NDArray[np.float64]: ...
    def set_pose(self, wall: int, pose: ArrayLike) -> None:
        """Puts a wall somewhere else, which is no motion: contacts feel no velocity of it."""
    def set_motion(
        self,
        wall: int,
        velocity: Sequence[float] = (0.0, 0.0, 0.0),
        spin: Sequence[float] = (0.0, 0.0, 0.0),
        center: Sequence[float] | None = None,
    ) -> None:
        """How a wall moves from now on: velocity (mm/s) of its reference point, spin (rad/s), and the reference
        point (mm, world) unless it stays the same; torques on the wall are about it."""
    def advance(self, time: float) -> None:
        """Moves the walls on by a time (s)."""
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
        """Forces (mN) on balls and torques (mN mm) about their centres, after a step of time (s); with 0 friction
        does not go on. Raises QueryError."""
    def force(self, wall: int) -> list[float]:
        """What all balls did to a wall in the last call (mN)."""
    def torque(self, wall: int) -> list[float]:
        """The same about its reference point (mN mm)."""
    @property
    def contacts(self) -> int:
        """How many there were in the last call."""
    def save(self) -> bytes:
        """Where walls are, how they move, and what friction remembers."""
    def restore(self, state: bytes) -> None:
        """Takes it over; the same walls must have been added. Raises QueryError."""

class Grain:
    """A superellipsoid or poly-superellipsoid, in the coordinates of its semi-axes. Lengths are mm. Exponents, around
    z and along it, are in [0.1, 1.9]: near 0 a box, 1 an ellipsoid, near 2 an octahedron."""

    @staticmethod
    def superellipsoid(semi_axes: Sequence[float], exponents: Sequence[float] = (1.0, 1.0)) -> Grain:
        """One whose sides are alike. Raises QueryError."""
    @staticmethod
    def poly(
        positive: Sequence[float], negative: Sequence[float], exponents: Sequence[float] = (1.0, 1.0)
    ) -> Grain:
        """One with three semi-axes on the positive sides, three on the negative ones. Raises QueryError."""
    @property
    def positive(self) -> list[float]: ...
    @property
    def negative(self) -> list[float]: ...
    @property
    def exponents(self) -> list[float]: ...
    @property
    def radius(self) -> float:
        """Of a ball about the origin that holds it."""
    @property
    def volume(self) -> float:
        """mm3."""
    @property
    def center(self) -> list[float]:
        """Its centre of mass."""

class GrainForces:
    """What grains, balls and walls do to each other, for a program that steps the grains; or they step themselves, as
    the simulations of feeler do. The same bits for any number of threads. Lengths are mm, masses kg, times s: forces
    are mN, torques mN mm, angular momenta kg mm2/s."""

    def __init__(self, between: Law | None = None) -> None:
        """between: the law of grains with each other; without it they pass through each other."""
    def add_grain(self, grain: Grain | Body | float, density: float) -> int:
        """Adds a grain, a solid, also a concave one, or a ball of a radius, of a density (kg/m3); its number, from 0. It
        is at the origin until set_motions puts it elsewhere. Solids meet planes and walls that are solids or
        sheets (Model.of_mesh), no FacetWall. Raises QueryError."""
    def mass(self, grain: int) -> float:
        """kg."""
    def moments(self, grain: int) -> list[float]:
        """Moments of inertia about its axes of inertia (kg mm2)."""
    def axes(self, grain: int) -> NDArray[np.float64]:
        """From its axes of inertia, about its centre of mass, to its own coordinates: a 4x4 matrix."""
    @property
    def grains(self) -> int:
        """How many have been added."""
    def add(self, wall: Body | ExactWall | FacetWall, law: Law, pose: Pose = None) -> int:
        """Adds a wall (a copy of it); its number. A Body is met without triangles."""
    def add_plane(self, point: Sequence[float], normal: Sequence[float], law: Law) -> int:
        """Adds a plane with material behind it; its number."""
    def __len__(self) -> int:
        """How many walls there are."""
    def pose(self, wall: int) -> NDArray[np.float64]: ...
    def set_pose(self, wall: int, pose: ArrayLike) -> None:
        """Puts a wall somewhere else, which is no motion: contacts feel no velocity of it."""
    def set_motion(
        self,
        wall: int,
        velocity: Sequence[float] = (0.0, 0.0, 0.0),
        spin: Sequence[float] = (0.0, 0.0, 0.0),
        center: Sequence[float] | None = None,
    ) -> None:
        """How a wall moves from now on, as of WallForces."""
    def advance(self, time: float) -> None:
        """Moves the walls on by a time (s)."""
    def set_motions(
        self, grains: ArrayLike, centers: ArrayLike, turns: ArrayLike, velocities: ArrayLike, momenta: ArrayLike
    ) -> None:
        """Puts grains, by their numbers, where they are: centres of mass (n x 3), unit quaternions w, x, y, z from axes
        of inertia to the world (n x 4), velocities (n x 3), angular momenta in the world (n x 3). Raises QueryError."""
    def motions(
        self,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """The same four of all grains."""
    def forces(self, time: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Forces on all grains where they are, and torques about their centres of mass, after a step of time (s); with
        0 friction does not go on. Raises QueryError."""
    def step(self, time: float, steps: int = 1) -> None:
        """Makes steps of a time (s) without another program: half a step of motion, a kick, half a step. Raises
        QueryError."""
    def take_out(self, grain: int) -> None:
        """Takes a grain out for good."""
    def force(self, wall: int) -> list[float]:
        """What all grains did to a wall in the last call."""
    def torque(self, wall: int) -> list[float]:
        """The same about its reference point."""
    @property
    def contacts(self) -> int:
        """How many there were in the last call, with walls and between grains."""
    def save(self) -> bytes:
        """Where grains and walls are, and what friction remembers."""
    def restore(self, state: bytes) -> None:
        """Takes it over; the same grains and walls must have been added. Raises QueryError."""

def clearance(
    *files: str | PathLike[str],
    rules: str | PathLike[str] | None = None,
    d_max: float | None = None,
    threads: int | None = None,
) -> dict[str, Any]:
    """Where the parts of assemblies touch, interfere or come too close: the JSON of `feeler clearance`."""

def run(arguments: list[str]) -> tuple[int, str, str]:
    """Runs the program: exit status, output, messages."""
