"""The type of an indexed tensor: channels follow their storage, blocks are not cut."""

from typing import Any

import numpy as np
import pytest

from qrt.errors import QuantTypeError
from qrt.ops.core import parameters_of
from qrt.ops.indexing import indexed_element
from qrt.types import UniformType

PER_AXIS = UniformType("i8", "f32", [0.5, 1.0, 2.0, 4.0], [0, 1, 2, 3], axis=1)
BLOCKS = UniformType("i8", "f32", [[0.5, 1.0, 2.0], [4.0, 8.0, 16.0]], [[0, 1, 2], [3, 4, 5]], block_sizes={0: 2, 1: 2})


def assert_follows(t: UniformType, shape: tuple[int, ...], key: Any) -> UniformType:
    """The parameters of every element left are those it had."""
    element = indexed_element(t, shape, key)
    left = np.zeros(shape)[key].shape
    for old, new in zip(parameters_of(t, shape), parameters_of(element, left), strict=True):
        np.testing.assert_array_equal(np.broadcast_to(new, left), np.broadcast_to(old, shape)[key])
    return element


@pytest.mark.parametrize(
    ("key", "axis"),
    [
        (slice(None), 1),
        (0, 0),
        (slice(1, None, 2), 1),
        ((slice(None), slice(1, 3)), 1),
        ((slice(None), slice(None, None, -1)), 1),
        ((slice(None), slice(-1, None)), 1),
        ((None, 0), 1),
        ((0, None), 1),
        ((..., 0), 1),
        ((None, ..., None), 2),
        ((slice(None), 2), None),
        ((slice(None), -1), None),
        ((1, np.int64(3), 0), None),
        ((..., 1, slice(None)), None),
        ((0, slice(2, 3), 0), 0),
        (..., 1),
    ],
)
def test_per_axis(key: Any, axis: int | None) -> None:
    assert assert_follows(PER_AXIS, (3, 4, 5), key).axis == axis


@pytest.mark.parametrize(
    "key", [slice(2, None), (slice(None), slice(2, 6)), (slice(0, 2), slice(4, 6)), ..., (slice(2, 4), slice(0, 4))]
)
def test_whole_blocks(key: Any) -> None:
    assert_follows(BLOCKS, (4, 6), key)


def test_an_axis_without_blocks_may_be_indexed_away() -> None:
    t = UniformType("i8", "f32", [[[0.5], [1.0]]], block_sizes={1: 2})
    assert assert_follows(t, (3, 4, 5), 1).block_sizes == ((0, 2),)
    assert assert_follows(t, (3, 4, 5), (slice(1, 3), slice(2, 4), 0)).block_sizes == ((1, 2),)


@pytest.mark.parametrize(
    ("key", "axis"),
    [
        ((slice(None), [3, 0]), 1),
        ((slice(None), np.array([[3, 0]])), 2),
        ((slice(None), [[3], [0]]), 1),
        ((slice(None), [[3]]), 2),
        ((slice(None), np.array(2)), None),
        (([0, 1, 2], [3, 0, 0]), 0),
        (([[0], [1]], [3, 0, 0]), 1),
        (([0, 1, 2], slice(None), [3, 0, 0]), 1),
        ((slice(None), [1, 2], slice(None), None), 1),
        ((0, slice(None), [3, 0, 0]), 1),
        (([0, 1, 2], [1]), 0),
        ((slice(None), [True, False, False, True]), 1),
        (np.eye(3, 4, dtype=bool), 0),
        (([0, 2], ..., [1, 3]), 1),
        ((slice(None), [3, 0], None, [1, 2]), 0),
        ((slice(None), [3, 0], ..., [1, 2]), 0),
    ],
)
def test_channels_stand_along_the_axis_where_their_indices_do(key: Any, axis: int | None) -> None:
    """An array of one index keeps the channel's axis, an integer takes it away: types never depend on sizes of 1."""
    assert assert_follows(PER_AXIS, (3, 4, 5), key).axis == axis


@pytest.mark.parametrize(
    "key", [[0, 1], ([2, 3, 0, 1], slice(None, None, -1)), (None, slice(2, 4), None), (0, [0, 1]), (3,), (1, 2), [0, 0]]
)
def test_blocks_stay_whole_wherever_they_go(key: Any) -> None:
    assert_follows(BLOCKS, (4, 6), key)


@pytest.mark.parametrize(
    ("t", "shape", "key", "message"),
    [
        (PER_AXIS, (3, 4, 5), (slice(None), slice(4, None)), "the index must select at least one channel of"),
        (PER_AXIS, (3, 4, 5), (slice(None), []), "the index must select at least one channel of"),
        (
            PER_AXIS,
            (3, 4, 5),
            (slice(None), [[0, 1], [2, 3]]),
            "the index would mix the different scales along axis 1 of",
        ),
        (
            PER_AXIS,
            (3, 4, 5),
            True,
            "the index of a tensor with several scales must not be a boolean scalar, got True: write None for a new "
            "axis",
        ),
        (BLOCKS, (4, 6), slice(1, 3), "the index must select whole blocks of 2 elements along axis 0 of"),
        (BLOCKS, (4, 6), slice(None, None, 2), "the index must select whole blocks of 2 elements along axis 0 of"),
        (BLOCKS, (4, 6), [1, 2], "the index must select whole blocks of 2 elements along axis 0 of"),
        (BLOCKS, (4, 6), ([0, 1], [0, 1]), "the index would mix the different scales along axis 1 of"),
        (BLOCKS, (4, 6), slice(2, 2), "the index must select at least one block of"),
    ],
)
def test_refuses(t: UniformType, shape: tuple[int, ...], key: Any, message: str) -> None:
    with pytest.raises(QuantTypeError, match=message):
        indexed_element(t, shape, key)
