"""Prints data/pour/tray.stl or die.stl: a closed container of 100 x 100 x 60 mm, or a cube of 4 mm; each has twelve
outward triangles.

    python make_boxes.py tray > tray.stl
    python make_boxes.py die > die.stl
"""

import sys


def cross(u, v):
    return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]


name = sys.argv[1]
xs, zs = {"tray": ((-50, 50), (0, 60)), "die": ((-2, 2), (-2, 2))}[name]
points = [(x, y, z) for z in zs for y in xs for x in xs]
quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
print("solid " + name)
for q in quads:
    for corners in ([q[0], q[1], q[2]], [q[0], q[2], q[3]]):
        a, b, c = (points[k] for k in corners)
        normal = cross([x - y for x, y in zip(b, a)], [x - y for x, y in zip(c, a)])
        length = sum(x * x for x in normal) ** 0.5
        print("facet normal {:g} {:g} {:g}\nouter loop".format(*(x / length for x in normal)))
        for p in (a, b, c):
            print("vertex {:g} {:g} {:g}".format(*p))
        print("endloop\nendfacet")
print("endsolid " + name)
