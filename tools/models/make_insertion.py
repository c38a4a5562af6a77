"""The insertion scenario of `data/`: a bayonet plug is inserted into its socket, rotated, at rest, and extracted again.

    pip install -r tools/oracle/requirements.txt
    python tools/models/make_insertion.py [DATA_DIR]      # writes DATA_DIR/bayonet.json

The parts are `bayonet_plug` and `bayonet_socket` of make_models.py: 0.1 mm of play between cylinders, 0.2
mm around the lugs. Poses are closed formulas: a path along and about the axis, with a wobble within the
play. The smallest distance at every twelfth pose is from an independent kernel, as in
tools/oracle/distances.py.
"""

import json
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracle"))
from distances import placed, read  # noqa: E402
from OCP.BRepExtrema import BRepExtrema_DistShapeShape  # noqa: E402

PHASES = [("approach", 40), ("insertion", 60), ("turn", 40), ("inplace", 60), ("extraction", 60)]
TURNED = math.radians(48)


def smooth(t):
    return t * t * (3 - 2 * t)


def path(phase, t):
    """Height (mm) and rotation (rad) of the plug at part t of a phase."""
    if phase == "approach":
        return 60 - 26 * smooth(t), 0.0
    if phase == "insertion":
        return 34 * (1 - smooth(t)), 0.0
    if phase == "turn":
        return 0.0, TURNED * smooth(t)
    if phase == "inplace":
        return 0.0, TURNED
    # Extraction: half of the time rotating back, half of it rising.
    return (0.0, TURNED * (1 - smooth(2 * t))) if t < 0.5 else (60 * smooth(2 * t - 1), 0.0)


def pose(i, phase, t):
    """Translation and quaternion x, y, z, w."""
    z, turn = path(phase, t)
    x, y = 0.03 * math.sin(0.61 * i), 0.03 * math.sin(0.47 * i + 1)
    z += 0.06 * math.sin(0.37 * i + 2)
    turn += math.radians(0.3) * math.sin(0.29 * i)
    tilt = [math.radians(0.03) * math.sin(0.53 * i), math.radians(0.03) * math.sin(0.71 * i + 1)]
    # The tilt follows the rotation; the product is accurate to second order and a rotation after
    # normalisation.
    c, s = math.cos(turn / 2), math.sin(turn / 2)
    a, b = tilt[0] / 2, tilt[1] / 2
    q = [a * c + b * s, b * c - a * s, s, c]
    n = math.sqrt(sum(v * v for v in q))
    return [round(v, 12) for v in (x, y, z)] + [v / n for v in q]


def distance(socket, plug, at):
    """Smallest distance (mm); the kernel must report separated parts."""
    x, y, z, w = at[3:]
    r = [[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]
    extrema = BRepExtrema_DistShapeShape(socket, placed(plug, r, at[:3]))
    assert extrema.IsDone() and not extrema.InnerSolution() and extrema.Value() > 0.02, at
    return extrema.Value()


def main(data):
    poses, phases = [], []
    for name, n in PHASES:
        phases.append([name, len(poses), len(poses) + n])
        poses += [pose(len(poses) + k, name, k / (n - 1)) for k in range(n)]
    socket, plug = read(data / "bayonet-socket.step"), read(data / "bayonet-plug.step")
    reference = {}
    for i in range(0, len(poses), 12):
        reference[str(i)] = round(distance(socket, plug, poses[i]), 7)
        print(i, reference[str(i)], flush=True)
    scenario = {"unit": "mm", "dt": 1 / 60, "clearance": 0.1, "a": "bayonet-socket.step", "b": "bayonet-plug.step",
                "phases": phases, "reference_min_distance": reference, "poses_b": poses}
    text = json.dumps(scenario).replace('"poses_b": [[', '"poses_b": [\n[').replace("], [", "],\n[")
    (data / "bayonet.json").write_text(text + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "data"))
