"""Moves a part to the pose in a cavity at which its smallest clearance is largest.

    python placement.py CAVITY.step PART.step X Y Z

X, Y and Z (mm) are a start of the part at which it does not interfere. Each step linearises the gaps of all contacts by
their gradients and solves a linear program for the twist that maximises the smallest gap within a trust region. Needs
scipy.
"""

import sys

import numpy as np
from scipy.optimize import linprog
from scipy.spatial.transform import Rotation

import feeler


def exponential(twist):
    """4x4 matrix of a twist: translation (mm), then rotation (rad)."""
    v, w = twist[:3], twist[3:]
    cross = np.cross(np.eye(3), w)  # cross @ x == np.cross(w, x)
    angle = np.linalg.norm(w)
    # Coefficients of the series of the translation.
    b, c = (0.5, 1 / 6) if angle < 1e-4 else ((1 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3)
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_rotvec(w).as_matrix()
    matrix[:3, 3] = (np.eye(3) + b * cross + c * cross @ cross) @ v
    return matrix


def best_twist(gaps, gradients, trust, size):
    """Twist within the trust region (mm) that maximises the smallest linearised gap, and that gap."""
    # Variables: the twist, with rotations as displacements at the distance `size`, and the gap s.
    scale = np.array([1, 1, 1, 1 / size, 1 / size, 1 / size])
    rows = np.hstack([-gradients * scale, np.ones((len(gaps), 1))])
    bounds = [(-trust, trust)] * 6 + [(None, None)]
    solved = linprog([0] * 6 + [-1], A_ub=rows, b_ub=gaps, bounds=bounds)
    return solved.x[:6] * scale, solved.x[6]


def place(cavity, part, pose, d_max=5.0, steps=200):
    """Pose (4x4) of `part` in the frame of `cavity` with the largest smallest clearance near `pose`, and the clearance
    (mm)."""
    pair = feeler.ContactPair(cavity, part)
    gaps = pair.query(pose_b=pose, d_max=d_max)["gap"]
    if pair.status != "separated" or len(gaps) == 0:
        raise ValueError(f"the part is {pair.status} at the start, with {len(gaps)} gaps up to {d_max} mm")
    trust = 0.1 * part.size
    for _ in range(steps):
        twist, predicted = best_twist(gaps, pair.gap_gradients(), trust, part.size)
        if trust < 1e-9 * part.size or predicted - gaps.min() < 1e-10:
            break
        moved = exponential(twist) @ pose
        found = pair.query(pose_b=moved, d_max=d_max)["gap"]
        if len(found) and pair.status == "separated" and found.min() > gaps.min() + 0.1 * (predicted - gaps.min()):
            pose, gaps, trust = moved, found, 2 * trust
        else:
            trust *= 0.25
            pair.query(pose_b=pose, d_max=d_max)
    return pose, gaps.min()


if __name__ == "__main__":
    cavity, part = (feeler.prepare_step(path).body() for path in sys.argv[1:3])
    start = np.eye(4)
    start[:3, 3] = [float(x) for x in sys.argv[3:6]]
    pose, clearance = place(cavity, part, start)
    print(f"smallest clearance {clearance:.9f} mm at\n{pose.round(6)}")
