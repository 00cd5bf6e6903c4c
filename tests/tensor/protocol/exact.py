"""What the tests of NumPy's functions share: tensors of every kind of type, and their values as exact rationals."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError
from qrt.ops.core import parameter_index, parameters_of
from tests.ops.strategies import SCALES, storage_of, storages, uniform_types, zero_points

Call = Callable[[Any], Any]


def exact(q: QuantTensor) -> np.ndarray:
    """The values as fractions."""
    scales, zeros = (np.broadcast_to(x, q.shape) for x in parameters_of(q.type, q.shape))
    values = np.empty(q.shape, object)
    triples = zip(q.storage.ravel().tolist(), zeros.ravel().tolist(), scales.ravel().tolist(), strict=True)
    values.reshape(-1)[:] = [(s - z) * Fraction(scale) for s, z, scale in triples]
    return values


def parameters(q: QuantTensor) -> np.ndarray:
    """The index of each element's parameters."""
    return np.broadcast_to(parameter_index(q.type, q.shape), q.shape)


@st.composite
def types_of(draw: st.DrawFn, shape: tuple[int, ...]) -> UniformType:
    """Types per layer, per axis and in blocks, of every width, that fit a shape."""
    axes = [axis for axis, size in enumerate(shape) if size]
    kind = draw(st.sampled_from(["layer", "axis", "blocks"])) if axes else "layer"
    if kind == "axis":
        axis = draw(st.sampled_from(axes))
        return draw(uniform_types(shape[axis], axis))
    if kind == "layer" or len(axes) < len(shape):
        return draw(uniform_types())
    blocked = draw(st.lists(st.sampled_from(axes), min_size=1, unique=True))
    blocks = {a: draw(st.sampled_from([b for b in range(1, shape[a] + 1) if shape[a] % b == 0])) for a in blocked}
    grid = [shape[a] // blocks[a] if a in blocks else 1 for a in range(len(shape))]
    count, stored = math.prod(grid), draw(storages())
    scales = draw(st.lists(SCALES, min_size=count, max_size=count))
    zeros = draw(st.lists(zero_points(stored), min_size=count, max_size=count))
    return UniformType(
        expressed="f32",
        scales=np.reshape(scales, grid),
        zero_points=np.reshape(zeros, grid).tolist(),
        block_sizes=blocks,
        **stored,
    )


@st.composite
def tensors(draw: st.DrawFn, least: int = 0, most: int = 3, largest: int = 4) -> QuantTensor:
    """Tensors of few elements, none too; some are views in another order."""
    shape = tuple(draw(st.lists(st.integers(0, largest), min_size=least, max_size=most)))
    t = draw(types_of(shape))
    q = QuantTensor(storage_of(t, shape, np.random.default_rng(draw(st.integers(0, 99)))), t)
    view = draw(st.sampled_from(["", "", "transposed", "reversed"]))
    if view == "reversed" and not t.is_sub_channel:
        return q[tuple(slice(None, None, -1) for _ in shape)]
    return q.T if view == "transposed" else q


def storage_fields(t: UniformType) -> tuple[Any, ...]:
    return t.storage, t.expressed_type, t.storage_min, t.storage_max


def outcome(call: Call, x: Any) -> Any:
    """What a call gives, or the error that it raises."""
    try:
        return call(x)
    except (ValueError, IndexError, TypeError) as error:
        return error


def assert_moves(call: Call, q: QuantTensor, follows: bool) -> Any:
    """What NumPy makes of the exact values, it makes of the tensor; what NumPy refuses is refused by the same error.
    Where parameters differ, a tensor may be refused too: not, if the routine ``follows`` axes, where they do along one
    axis of the result."""
    expected, got = outcome(call, exact(q)), outcome(call, q)
    if isinstance(expected, Exception):
        kinds = [kind for kind in (ValueError, IndexError, TypeError) if isinstance(expected, kind)]
        assert isinstance(got, QuantTypeError), f"{expected!r}, but got {got!r}"
        assert not q.type.is_per_layer or isinstance(got, kinds[0]), (got, expected)
    elif isinstance(got, Exception):
        assert isinstance(got, QuantTypeError), got
        assert not q.type.is_per_layer, got
        is_said = follows and q.type.is_per_axis
        assert not (is_said and all(has_axis(i, len(q.scales)) for i in listed(call(parameters(q))))), got
    else:
        for mine, theirs in zip(listed(got), listed(expected), strict=True):
            assert isinstance(mine, QuantTensor)
            assert storage_fields(mine.type) == storage_fields(q.type)
            values, wanted = exact(mine), np.asarray(theirs, object)
            assert values.shape == wanted.shape
            assert values.tolist() == wanted.tolist()
        return got
    return None


def listed(result: Any) -> list[Any]:
    return [*result] if isinstance(result, (list, tuple)) else [result]


def has_axis(index: np.ndarray, channels: int) -> bool:
    """Whether indices of parameters are of several channels, all of them, and differ along one axis alone."""
    index = np.asarray(index)
    spans = [[slice(None) if a == axis else slice(0, 1) for a in range(index.ndim)] for axis in range(index.ndim)]
    is_along = any((index == index[tuple(span)]).all() for span in spans) if index.size else False
    return is_along and 1 < channels == len(np.unique(index))
