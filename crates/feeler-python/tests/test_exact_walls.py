"""Exact walls as the wheel's user has them: closed forms, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

import feeler

DATA = Path(__file__).parents[3] / "data"


@pytest.fixture(scope="module")
def box():
    return feeler.prepare(DATA / "box.step").body()


def test_spheres_over_a_box(box):
    lo, hi = box.bounds
    middle = (lo + hi) / 2
    wall = feeler.ExactWall(box, [0, 0, 100])
    top = np.array([middle[0], middle[1], hi[2] + 100.4])
    centers = np.array([top + [0, 0, 50], top, [hi[0] + 0.3, middle[1], hi[2] + 100.4]])
    contacts = wall.spheres(centers, 0.5, reach=0.1)
    assert contacts.dtype == feeler.wall_contact_dtype and list(contacts["particle"]) == [1, 2]
    assert list(wall.offsets) == [0, 0, 1, 2]
    assert contacts["gap"] == pytest.approx([-0.1, 0.0], abs=1e-12)
    assert contacts["normal"][0] == pytest.approx([0, 0, 1], abs=1e-12)
    assert contacts["normal"][1] == pytest.approx([0.6, 0, 0.8], abs=1e-12)
    assert np.isinf(contacts["curvatures"][1, 0])
    again = wall.spheres(centers, [0.5, 0.5, 0.5], reach=0.1)
    assert (again == contacts).all(), "warm"
    flat = wall.superellipsoids(centers[1:2], [0, 0, 0, 1], [2, 2, 0.5], [1, 1], reach=0.1)
    assert flat["gap"] == pytest.approx([-0.1], abs=1e-9)


def test_what_makes_no_sense_is_refused(box):
    wall = feeler.ExactWall(box)
    for centers, radii, word in [
        ([[0, 0]], 1, "centers"),
        ([[0, 0, 0]], [1, 2], "radii"),
        ([[0, 0, np.nan]], 1, "particle 0"),
        ([[0, 0, 0]], -1, "particle 0"),
    ]:
        with pytest.raises(feeler.QueryError, match=word):
            wall.spheres(centers, radii)
    with pytest.raises(feeler.QueryError, match="exponents"):
        wall.superellipsoids([[0, 0, 0]], [0, 0, 0, 1], [1, 1, 1], [1, 3])
