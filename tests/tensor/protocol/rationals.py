"""Tensors of every kind of type, and their values as exact rationals: NumPy computes with arrays of them."""

from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st

from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError
from qrt.ops.core import parameter_index
from tests.ops.strategies import SCALES, generators, shapes, storage_of, storages, uniform_types, zero_points

SHORT_SCALES = st.builds(lambda m, e: m * 2.0**e, st.sampled_from([1, 3, 5, 7, 11, 13, 1023]), st.integers(-12, 4))
"""Products of four of them are exact in float64."""


def values(q: QuantTensor) -> np.ndarray[Any, Any]:
    """``(storage - zero_point) * scale``, exact."""
    index = np.broadcast_to(parameter_index(q.type, q.shape), q.shape)
    pairs = zip(q.storage.ravel().tolist(), index.ravel().tolist(), strict=True)
    flat = [(n - q.type.zero_points[i]) * Fraction(q.type.scales[i]) for n, i in pairs]
    made = np.empty(len(flat), object)
    made[:] = flat
    return made.reshape(q.shape)


def same(result: Any, expected: Any) -> bool:
    """Whether a tensor has exactly these values, and their shape."""
    exact = np.asarray(expected, object)
    return result.shape == exact.shape and values(result).ravel().tolist() == exact.ravel().tolist()


def outcome(call: Callable[[], Any]) -> Any:
    """What the call gives, or its refusal."""
    try:
        return call()
    except QuantTypeError as error:
        return error


def magnitude(t: UniformType) -> int:
    return max(max(abs(t.storage_max - z), abs(t.storage_min - z)) for z in t.zero_points)


def differs_along(q: QuantTensor, axis: int) -> bool:
    """Whether more than one scale stands along an axis."""
    if q.type.is_sub_channel:
        return q.type.scales_shape[axis] > 1
    return q.type.axis == axis and len(q.type.scales) > 1


@st.composite
def tensors(
    draw: st.DrawFn,
    shape: tuple[int, ...] | None = None,
    widths: Any = range(1, 33),
    scales: st.SearchStrategy[float] = SCALES,
    kinds: Any = ("layer", "axis", "blocks"),
) -> QuantTensor:
    """Per layer, per axis or sub-channel, of every width, zero sizes and rank 0 among the shapes."""
    if shape is None:
        shape = draw(st.integers(0, 3).flatmap(lambda rank: shapes(rank, 5)))
    kind = draw(st.sampled_from(kinds))
    axis = draw(st.integers(0, max(len(shape) - 1, 0)))
    if kind == "blocks" and shape and 0 not in shape:
        t = draw(block_types(shape, widths, scales))
    elif kind == "axis" and shape and shape[axis]:
        t = draw(uniform_types(shape[axis], axis, widths, scales))
    else:
        t = draw(uniform_types(widths=widths, scales=scales))
    return QuantTensor(storage_of(t, shape, draw(generators())), t)


@st.composite
def block_types(draw: st.DrawFn, shape: tuple[int, ...], widths: Any, scales: st.SearchStrategy[float]) -> UniformType:
    blocks = {}
    for d, n in enumerate(shape):
        if draw(st.booleans()) or d == 0:
            blocks[d] = draw(st.sampled_from([k for k in range(1, n + 1) if n % k == 0]))
    counts = tuple(n // blocks[d] if d in blocks else 1 for d, n in enumerate(shape))
    stored = draw(storages(widths))
    many = [
        draw(st.lists(each, min_size=prod(counts), max_size=prod(counts))) for each in (scales, zero_points(stored))
    ]
    nested = [np.array(each).reshape(counts).tolist() for each in many]
    return UniformType(expressed="f32", scales=nested[0], zero_points=nested[1], block_sizes=blocks, **stored)
