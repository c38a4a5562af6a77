"""Exact contact and clearance between CAD solids.

Lengths are in mm, angles in rad. A pose maps the own coordinates of a solid to world coordinates: a 4x4 matrix,
[x, y, z], or [x, y, z, qx, qy, qz, qw].

    import feeler

    ball = feeler.prepare_step("ball.step").body()
    pair = feeler.ContactPair(ball, ball)
    contacts = pair.query(pose_b=[22.5, 0, 0], d_max=5)
    contacts["distance"]      # numpy array
    pair.status               # 'separated'
"""

import json as _json
import os as _os

from ._feeler import (
    Body,
    BodyError,
    ContactPair,
    ContactTracker,
    Curve,
    CurveScene,
    ExactWall,
    FacetWall,
    FeelerError,
    FileError,
    Grain,
    GrainForces,
    Instance,
    Law,
    Mesh,
    MeshError,
    Model,
    QueryError,
    Scene,
    SceneError,
    Verdict,
    WallForces,
    __version__,
    contact_dtype,
    curve_contact_dtype,
    contact_event_dtype,
    distances,
    nearest_point_dtype,
    prepare_bytes,
    prepare_mesh,
    prepare_step,
    ray_intersection_dtype,
    run,
    scene_contact_dtype,
    step_contact_dtype,
    tight_bend_dtype,
    tracked_pair_dtype,
    verdict_dtype,
    wall_contact_dtype,
)
from ._types import StepBound

__all__ = [
    "Body",
    "BodyError",
    "ContactPair",
    "ContactTracker",
    "Curve",
    "CurveScene",
    "ExactWall",
    "FacetWall",
    "FeelerError",
    "FileError",
    "Grain",
    "GrainForces",
    "Instance",
    "Law",
    "Mesh",
    "MeshError",
    "Model",
    "QueryError",
    "Scene",
    "SceneError",
    "StepBound",
    "Verdict",
    "WallForces",
    "__version__",
    "clearance",
    "contact_dtype",
    "curve_contact_dtype",
    "contact_event_dtype",
    "distances",
    "nearest_point_dtype",
    "prepare_bytes",
    "prepare_mesh",
    "prepare_step",
    "ray_intersection_dtype",
    "run",
    "scene_contact_dtype",
    "step_contact_dtype",
    "tight_bend_dtype",
    "tracked_pair_dtype",
    "verdict_dtype",
    "wall_contact_dtype",
]


def clearance(*files, rules=None, d_max=None, threads=None):
    """Checks which parts of assemblies touch, interfere or come too close. Returns the JSON of ``feeler clearance``
    (docs/INTERFACE.md) as a dict. A violated rule is not an error. Raises FeelerError if nothing could be measured."""
    arguments = ["clearance", *map(_os.fspath, files), "--json", "--quiet"]
    if rules is not None:
        arguments += ["--rules", _os.fspath(rules)]
    if d_max is not None:
        arguments += ["--d-max", repr(float(d_max))]
    if threads is not None:
        arguments += ["--threads", str(int(threads))]
    status, out, err = run(arguments)
    if status == 2:
        raise FeelerError(err.strip())
    return _json.loads(out)
