"""Tests of exact walls: results with closed forms, and invalid arguments."""

from pathlib import Path

import numpy as np
import pytest

import feeler

DATA = Path(__file__).parents[3] / "data"


@pytest.fixture(scope="module")
def box():
    return feeler.prepare_step(DATA / "box.step").body()


def test_spheres_over_a_box(box):
    lo, hi = box.bounds
    middle = (lo + hi) / 2
    wall = feeler.ExactWall(box, [0, 0, 100])
    top = np.array([middle[0], middle[1], hi[2] + 100.4])
    centers = np.array([top + [0, 0, 50], top, [hi[0] + 0.3, middle[1], hi[2] + 100.4]])
    contacts = wall.sphere_contacts(centers, 0.5, reach=0.1)
    assert contacts.dtype == feeler.wall_contact_dtype and list(contacts["particle"]) == [1, 2]
    assert list(wall.offsets) == [0, 0, 1, 2]
    assert contacts["gap"] == pytest.approx([-0.1, 0.0], abs=1e-12)
    assert contacts["normal"][0] == pytest.approx([0, 0, 1], abs=1e-12)
    assert contacts["normal"][1] == pytest.approx([0.6, 0, 0.8], abs=1e-12)
    assert np.isinf(contacts["curvatures"][1, 0])
    again = wall.sphere_contacts(centers, [0.5, 0.5, 0.5], reach=0.1)
    assert (again == contacts).all(), "warm"
    flat = wall.superellipsoid_contacts(centers[1:2], [0, 0, 0, 1], [2, 2, 0.5], [1, 1], reach=0.1)
    assert flat["gap"] == pytest.approx([-0.1], abs=1e-9)


def test_invalid_arguments_are_reported(box):
    wall = feeler.ExactWall(box)
    for centers, radii, word in [
        ([[0, 0, np.nan]], 1, "particle 0"),
        ([[0, 0, 0]], -1, "particle 0"),
    ]:
        with pytest.raises(feeler.QueryError, match=word):
            wall.sphere_contacts(centers, radii)
    with pytest.raises(ValueError, match=r"centers: expected shape \(n, 3\) .* got shape \(1, 2\)"):
        wall.sphere_contacts([[0, 0]], 1)
    with pytest.raises(ValueError, match=r"radii: expected shape \(1,\) or \(\) .* got shape \(2,\)"):
        wall.sphere_contacts([[0, 0, 0]], [1, 2])
    with pytest.raises(feeler.QueryError, match="exponents"):
        wall.superellipsoid_contacts([[0, 0, 0]], [0, 0, 0, 1], [1, 1, 1], [1, 3])
