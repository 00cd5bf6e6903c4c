"""Handlers of ``shape``. A shape is a one-dimensional int64 array with the size of each dimension."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from qrt.errors import UndefinedError
from qrt.ir import Operation
from qrt.ir.dialects.shape.ops import extents_of
from qrt.ops.core import Array
from qrt.runtime.interpreter.core import Compiler, Function, Handler, identity
from qrt.runtime.values import as_index


def _extents(numbers: Any) -> Array:
    return np.array([int(number) for number in numbers], np.int64)


def _extent(extents: Any, index: Any) -> Any:
    if not 0 <= index < len(extents):
        raise UndefinedError(f"extent {int(index)} is out of range for rank {len(extents)}")
    return np.int64(extents[index])


def _split_at(extents: Array, index: Any) -> tuple[Array, Array]:
    rank = len(extents)
    at = int(index) + (rank if index < 0 else 0)
    if not 0 <= at <= rank:
        raise UndefinedError(
            f"the split index must be in [{-rank}, {rank}] for a shape of rank {rank}, got {int(index)}"
        )
    return extents[:at], extents[at:]


def _stretched(shapes: Sequence[Array]) -> list[int] | None:
    """Return the shape to which all shapes broadcast; None if they do not broadcast.

    Sizes fit if they are equal or one of them is 1. Negative sizes are allowed, so that every shape broadcasts with
    itself.
    """
    extents: list[int] = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        for place, extent in enumerate(shape.tolist(), len(extents) - len(shape)):
            if extent not in (1, extents[place]) and extents[place] != 1:
                return None
            extents[place] = extents[place] if extent == 1 else extent
    return extents


def _broadcast(*shapes: Array) -> Array:
    extents = _stretched(shapes)
    if extents is None:
        raise UndefinedError(
            f"the shapes cannot be broadcast together: {', '.join(str(shape.tolist()) for shape in shapes)}"
        )
    return _extents(extents)


def _divide(left: Any, right: Any) -> Any:
    if right == 0:
        raise UndefinedError(f"division by zero: {int(left)} / 0")
    return as_index(int(left) // int(right))


def _const_shape(op: Operation, compiler: Compiler) -> Function:
    value = _extents(extents_of(op))
    return lambda: value


def _always(function: Function) -> Handler:
    return lambda op, compiler: function


HANDLERS: dict[str, Handler] = {
    "shape.add": _always(lambda left, right: as_index(int(left) + int(right))),
    "shape.broadcast": _always(_broadcast),
    "shape.concat": _always(lambda left, right: np.concatenate([left, right])),
    "shape.const_shape": _const_shape,
    "shape.dim": _always(lambda array, index: _extent(array.shape, index)),
    "shape.div": _always(_divide),
    "shape.get_extent": _always(_extent),
    "shape.is_broadcastable": _always(lambda *shapes: np.bool_(_stretched(shapes) is not None)),
    "shape.mul": _always(lambda left, right: as_index(int(left) * int(right))),
    "shape.num_elements": _always(lambda extents: as_index(prod(map(int, extents)))),
    "shape.rank": _always(lambda extents: np.int64(len(extents))),
    "shape.shape_eq": _always(lambda *shapes: np.bool_(all(np.array_equal(shapes[0], other) for other in shapes[1:]))),
    "shape.shape_of": _always(lambda array: _extents(array.shape)),
    "shape.split_at": _always(_split_at),
    "shape.to_extent_tensor": identity,
}
