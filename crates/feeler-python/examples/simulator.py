"""Loop of a simulator: a ball falls on a plate and bounces. python simulator.py PLATE.step BALL.step"""

import sys

import numpy as np

import feeler

plate, ball = (feeler.prepare_step(path).body() for path in sys.argv[1:3])
scene = feeler.Scene()
floor = scene.add(plate)
scene.set_body_options(floor, fixed=True)
x, y = plate.bounds.mean(axis=0)[:2] + [0.9, 0]
z = plate.bounds[1, 2] - ball.bounds[0, 2] + 2
body = scene.add(ball, [x, y, z])

dt, stiffness, gravity, speed, deepest = 1e-4, 4e6, 9810, 0.0, 0.0
force, impacts, was_pressed = -gravity, 0, False
for _ in range(5000):
    scene.set_pose(body, [x, y, z])
    # Bound of the ball's rotation (rad) and displacement (mm) in this step: twice the displacement by the
    # last speed and force. The plate is not listed, so it does not move.
    bound = [0, 2 * (dt * abs(speed) + dt**2 * abs(force))]
    scene.track(np.array([body], dtype=np.uint32), np.array([bound]), reach=0.2)
    contacts = scene.tracked_contacts
    depth = (-contacts["gap"]).clip(min=0)
    # The normal points from A, the body that was added first, to B.
    force = stiffness * (depth * contacts["normal"][:, 2]).sum() - gravity
    deepest = max(deepest, depth.max(initial=0))
    impacts += not was_pressed and depth.any()
    was_pressed = depth.any()
    speed += dt * force
    z += dt * speed
counts = scene.tracker_counts
print(f"{impacts} impacts, deepest {deepest:.6f} mm, verdicts {counts['decisions']}, uncovered {counts['uncovered']}")
