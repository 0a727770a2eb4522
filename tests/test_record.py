"""Records behave like frozen dataclasses."""

from __future__ import annotations

import copy
import pickle

import pytest

from memx.model import Bullet, Candidate
from memx.record import record, replace


@record
class Point:
    """A record of two fields, one with a default."""

    x: int
    y: int = 2


def test_fields_positional_and_named_equal() -> None:
    """Both ways of construction give equal records with equal hashes."""
    assert Point(1) == Point(x=1, y=2)
    assert hash(Point(1)) == hash(Point(1, 2))


def test_other_type_same_values_differs() -> None:
    """Records of two classes are never equal."""
    assert Bullet("a", "t") != Candidate("a", "t", "r", 0.5, 50, "general", "method")


def test_assignment_and_deletion_refused() -> None:
    """A record cannot be changed after it was made."""
    point = Point(1)
    with pytest.raises(AttributeError, match="immutable"):
        point.x = 3  # type: ignore[misc]
    with pytest.raises(AttributeError, match="immutable"):
        del point.x


def test_missing_or_unknown_field_refused() -> None:
    """Construction and replacement check names."""
    with pytest.raises(TypeError):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point(1, z=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="no field 'z'"):
        replace(Point(1), z=3)


def test_replace_leaves_original() -> None:
    """A replacement is a new record."""
    point = Point(1)
    assert (replace(point, y=9), point) == (Point(1, 9), Point(1, 2))


def test_copy_and_pickle_round_trip() -> None:
    """Records travel between processes, which multi-core history mining needs."""
    bullet = Bullet("k3v9q2m7xa", "text", tags=("a", "b"), created=1.5)
    assert pickle.loads(pickle.dumps(bullet)) == bullet  # noqa: S301 (our own bytes)
    assert copy.deepcopy(bullet) == bullet


def test_repr_names_every_field() -> None:
    """The text form can be read by a person."""
    assert repr(Point(1)) == "Point(x=1, y=2)"
