"""Broadcasting against NumPy's, and beyond the 32 dimensions that NumPy's functions take. Hazards: a size 0, a size
that is no int."""

import itertools

import numpy as np
import pytest

from qrt.numerics.elements import broadcast_arrays, broadcast_shapes

SHAPES = [(), (1,), (0,), (3,), (2, 1), (1, 3), (2, 3), (0, 3), (4, 1, 1), (1, 1, 0)]


@pytest.mark.parametrize(("a", "b"), list(itertools.product(SHAPES, SHAPES)))
def test_two_shapes_as_numpy(a, b):
    try:
        expected = np.broadcast_shapes(a, b)
    except ValueError:
        with pytest.raises(ValueError, match="do not broadcast"):
            broadcast_shapes(a, b)
        return
    assert broadcast_shapes(a, b) == expected
    for ours, numpys in zip(
        broadcast_arrays(np.ones(a), np.ones(b)), np.broadcast_arrays(np.ones(a), np.ones(b)), strict=True
    ):
        assert ours.shape == numpys.shape


def test_none_and_many():
    assert broadcast_shapes() == ()
    assert broadcast_shapes((2, 1), (3,), (), (1, 1, 1)) == (1, 2, 3)
    assert [type(size) for size in broadcast_shapes((np.int64(2),), (1,))] == [int]


def test_every_rank_that_an_array_has():
    ones = (1,) * 62
    a, b = broadcast_arrays(np.ones((*ones, 2, 1)), np.ones((*ones, 1, 3)))
    assert a.shape == b.shape == (*ones, 2, 3)
