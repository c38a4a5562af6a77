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
event_dtype: np.dtype[np.void]
"""bodies, parts, id, contact (place among the contacts, -1 of one that has ended), kind: 0 began,
1 persisted, 2 ended."""

class FeelerError(Exception):
    """What feeler refuses, with what to do."""

class FileError(FeelerError):
    """A file that cannot be read, prepared or written."""

class BodyError(FeelerError):
    """A solid that cannot be queried."""

class QueryError(FeelerError):
    """Options or poses that make no sense."""

class SceneError(FeelerError):
    """A body that is not in the scene, or may not be as asked."""

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
    def wall(self) -> float:
        """Smallest thickness of the material, or less; 0 where it is not known."""
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
        quasi: float = 0.0,
        dilation_a: float = 0.0,
        dilation_b: float = 0.0,
        parallel: bool = False,
        decide: bool = True,
        tolerance: float | None = None,
        penetration: float = 0.0,
        certified: bool = False,
        conformal_spacing: float | None = None,
    ) -> NDArray[np.void]:
        """All local minimal distances up to d_max, by ascending distance, as an array of contact_dtype."""
    @property
    def contacts(self) -> NDArray[np.void]:
        """Those of the last query once more."""
    @property
    def status(self) -> Status | None: ...
    @property
    def distance(self) -> float | None: ...
    @property
    def verdict(self) -> Verdict | None: ...
    def forget(self) -> None:
        """Begins a new motion: what the next query finds is new."""

class Scene:
    """Many bodies that move together. d_max bounds the gap, the distance less both dilations. One thread at a
    time; steps share their work among threads and release the GIL."""

    def __init__(
        self,
        d_max: float = 1.0,
        *,
        quasi: float = 0.0,
        decide: bool = True,
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
    def step(self) -> None: ...
    @property
    def contacts(self) -> NDArray[np.void]:
        """All minima of the last step, an array of scene_contact_dtype."""
    @property
    def events(self) -> NDArray[np.void]:
        """What became of the contacts of the step before, and which are new; an array of event_dtype."""
    def status(self, a: int, b: int) -> Status | None:
        """How two bodies stood; None where they were not near."""
    @property
    def bodies(self) -> list[int]: ...
    def __len__(self) -> int: ...

def clearance(
    *files: str | PathLike[str],
    rules: str | PathLike[str] | None = None,
    d_max: float | None = None,
    threads: int | None = None,
) -> dict[str, Any]:
    """Where the parts of assemblies touch, interfere or come too close: the JSON of `feeler clearance`."""

def run(arguments: list[str]) -> tuple[int, str, str]:
    """Runs the program: exit status, output, messages."""
