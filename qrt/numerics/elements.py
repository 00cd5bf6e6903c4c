"""Helpers for functions of NumPy scalars or arrays, and broadcasting of arrays of any rank.

NumPy's own broadcasting functions take at most 32 dimensions, although arrays may have 64.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from qrt.errors import UndefinedError

Function = Callable[..., Any]
"""A function of NumPy scalars or of arrays that broadcast; it returns a scalar or an array, or a tuple of two."""


def is_any(condition: Any) -> bool:
    """Return True if a condition, a NumPy bool or an array of them, is true for any element."""
    return bool(condition.any()) if condition.ndim else bool(condition)


def choose(condition: Any, left: Any, right: Any) -> Any:
    """Return ``left`` where the condition is true, else ``right``. A scalar condition returns an operand uncopied."""
    if condition.ndim:
        return np.where(condition, left, right)
    return left if condition else right


def checked(compute: Function, *rules: tuple[str, Function]) -> Function:
    """Return ``compute`` wrapped to raise UndefinedError for operands for which it is undefined.

    Each rule is (message, test): the error is raised if ``test(result, *operands)`` is true for any element.
    """
    if not rules:
        return compute

    def call(*x: Any) -> Any:
        result = compute(*x)
        for what, undefined in rules:
            if is_any(undefined(result, *x)):
                raise UndefinedError(what)
        return result

    return call


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape to which several shapes broadcast. Raises ValueError if they do not broadcast.

    >>> broadcast_shapes((3, 1), (4,), ())
    (3, 4)
    """
    rank = max(map(len, shapes), default=0)
    together = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if size != 1 and together[axis] not in (1, size):
                raise ValueError(f"shapes do not broadcast: {', '.join(map(str, shapes))}")
            together[axis] = together[axis] if size == 1 else int(size)
    return tuple(together)


def broadcast_arrays(*arrays: Any) -> list[Any]:
    """Return views of the arrays, all broadcast to one shape."""
    shape = broadcast_shapes(*map(np.shape, arrays))
    return [np.broadcast_to(array, shape) for array in arrays]
