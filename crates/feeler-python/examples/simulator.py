"""The loop of a simulator: a ball falls on a plate and bounces. python simulator.py PLATE.step BALL.step"""

import sys

import feeler

plate, ball = (feeler.prepare(path).body() for path in sys.argv[1:3])
scene = feeler.Scene(d_max=0.2, penetration=0.4)  # contacts go on at negative distances
floor = scene.add(plate)
scene.set_body(floor, fixed=True)
x, y = plate.bounds.mean(axis=0)[:2] + [0.9, 0]
z = plate.bounds[1, 2] - ball.bounds[0, 2] + 2
body = scene.add(ball, [x, y, z])

dt, stiffness, gravity, speed, deepest = 1e-4, 4e6, 9810, 0.0, 0.0
began = 0
for _ in range(5000):
    scene.set_pose(body, [x, y, z])
    scene.step()
    contacts = scene.contacts
    depth = (-contacts["gap"]).clip(min=0)
    # The normal goes from A, the body added first, to B.
    force = stiffness * (depth * contacts["normal"][:, 2]).sum() - gravity
    deepest = max(deepest, depth.max(initial=0))
    began += (scene.events["kind"] == 0).sum()
    speed += dt * force
    z += dt * speed
print(f"contacts began {began} times, deepest {deepest:.6f} mm")
