"""Helpers that run the loop nests of `linalg` ops on NumPy arrays.

They compute the loops' extents from shapes, view operands as arrays over the loops, and compute sums of products.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from qrt.errors import ModelError, UndefinedError
from qrt.ir.core.affine import AffineMapAttr, Expression, evaluate, linear
from qrt.ops.core import Array

Shape = tuple[int, ...]


def extents(maps: Sequence[AffineMapAttr], shapes: Sequence[Shape]) -> Shape:
    """Return the number of iterations of each loop: the size of an operand dimension that the loop alone indexes.

    Raise UndefinedError if such dimensions have different sizes for one loop. Raise ModelError if an index is out of
    bounds.
    """
    sizes: dict[int, int] = {}
    for number, (map, shape) in enumerate(zip(maps, shapes, strict=True)):
        for axis, (result, size) in enumerate(zip(map.results, shape, strict=True)):
            if isinstance(result, tuple) and result[0] == "d" and sizes.setdefault(result[1], size) != size:
                raise UndefinedError(
                    f"shapes disagree: dimension {axis} of operand #{number} has size {size}, but an earlier operand "
                    f"has size {sizes[result[1]]} for the same loop"
                )
    loops = tuple(sizes[loop] for loop in range(maps[0].dimensions)) if maps else ()
    if 0 not in loops:
        for number, (map, shape) in enumerate(zip(maps, shapes, strict=True)):
            _check_bounds(number, map, shape, loops)
    return loops


def _check_bounds(number: int, map: AffineMapAttr, shape: Shape, loops: Shape) -> None:
    for axis, (result, size) in enumerate(zip(map.results, shape, strict=True)):
        if isinstance(result, tuple) and result[0] == "d":
            continue
        low, high = _range(result, loops)
        if low < 0 or high >= size:
            raise ModelError(
                f"the loops read indices {low} to {high} of dimension {axis} of operand #{number}, which has size "
                f"{size}"
            )


def _range(expression: Expression, loops: Shape) -> tuple[int, int]:
    weights = linear(expression, len(loops))
    if weights is None:
        values = evaluate(expression, grid(loops))
        return int(np.min(values)), int(np.max(values))
    ends = [weight * (extent - 1) for weight, extent in zip(weights[1:], loops, strict=True)]
    return weights[0] + sum(end for end in ends if end < 0), weights[0] + sum(end for end in ends if end > 0)


def grid(loops: Shape) -> list[Array]:
    """Return, for each loop, its indices as an array that broadcasts with those of the other loops."""
    return [
        np.arange(extent).reshape([-1 if axis == loop else 1 for axis in range(len(loops))])
        for loop, extent in enumerate(loops)
    ]


def view(array: Any, map: AffineMapAttr, loops: Shape) -> Any:
    """Return an operand as an array with one axis per loop, of size 1 for loops that do not index the operand.

    The result is a view; it is a copy if an index is not a weighted sum of loop indices. A scalar is returned
    unchanged. Bounds are not checked here.
    """
    if not isinstance(array, np.ndarray):
        return array
    rank = len(loops)
    weights = [linear(result, rank) for result in map.results]
    rows = [row for row in weights if row is not None]
    if len(rows) < len(weights):
        positions = grid(loops)
        return array[tuple(evaluate(result, positions) for result in map.results)]
    if any(row[0] for row in rows):
        array = array[tuple(slice(row[0], None) for row in rows)]
    strides = [  # the stride of a loop with one iteration may not fit 64 bits
        sum(row[loop + 1] * stride for row, stride in zip(rows, array.strides, strict=True)) if extent > 1 else 0
        for loop, extent in enumerate(loops)
    ]
    used = [any(row[loop + 1] for row in rows) for loop in range(rank)]
    shape = [extent if is_used else 1 for extent, is_used in zip(loops, used, strict=True)]
    return strided(array, shape, strides)


def strided(array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
    """Return NumPy's `as_strided` view of an array.

    NumPy's function rejects arrays of 8-bit floats, so the view is made on integers with the same bits.
    """
    bits = array.view(f"u{array.itemsize}")
    return np.lib.stride_tricks.as_strided(bits, tuple(shape), tuple(strides)).view(array.dtype)


def sums_of_products(x: Array, y: Array, reduced: Sequence[int], loops: Shape) -> Array | None:
    """Return the sum of `x * y` over the reduced loops modulo 2**64, as an array over the other loops in their order.

    The operands are integers of at most 64 bits, with an axis for each loop. Return None if an operand has size 1 along
    a reduced loop. If float32 or float64 represents every sum exactly, the product is computed in that type, which is
    many times faster.
    """
    if any(not x.shape[loop] == y.shape[loop] == loops[loop] for loop in reduced):
        return None
    parallel = [loop for loop in range(x.ndim) if loop not in reduced]
    batch = [loop for loop in parallel if x.shape[loop] == y.shape[loop]]
    rows = [loop for loop in parallel if loop not in batch and y.shape[loop] == 1]
    columns = [loop for loop in parallel if loop not in batch and loop not in rows]
    terms = prod(loops[loop] for loop in reduced)
    bound = terms * _magnitude(x) * _magnitude(y)
    dtype = np.float32 if bound < 1 << 24 else np.float64 if bound < 1 << 53 else np.int64
    left = x.transpose([*batch, *rows, *reduced, *columns]).astype(dtype)
    right = y.transpose([*batch, *reduced, *columns, *rows]).astype(dtype)
    outer = left.shape[: len(batch)]
    sums = np.matmul(left.reshape((*outer, -1, terms)), right.reshape((*outer, terms, -1)))
    order = [*batch, *rows, *columns]
    sums = sums.reshape([max(x.shape[loop], y.shape[loop]) for loop in order])
    result: Array = sums.transpose([order.index(loop) for loop in parallel]).astype(np.int64)
    return result


def _magnitude(x: Array) -> int:
    return max(abs(int(x.min())), abs(int(x.max())))


def element(map: AffineMapAttr, index: Sequence[int]) -> tuple[int, ...]:
    """Return the indices of the operand's element that a map gives for loop indices ``index``."""
    return tuple(evaluate(result, index) for result in map.results)
