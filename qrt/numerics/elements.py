"""Helpers of functions on elements. An element is a NumPy scalar, elements are an array of any shape."""

from collections.abc import Callable
from typing import Any

import numpy as np

from qrt.errors import UndefinedError

Function = Callable[..., Any]
"""NumPy scalars or broadcastable arrays to one of the same, or to a tuple where there are two results."""


def holds(condition: Any) -> bool:
    """Whether a condition is true of any element."""
    return bool(condition.any()) if condition.ndim else bool(condition)


def choose(condition: Any, left: Any, right: Any) -> Any:
    """``left`` where the condition is true, else ``right``."""
    if condition.ndim:
        return np.where(condition, left, right)
    return left if condition else right


def checked(compute: Function, *rules: tuple[str, Function]) -> Function:
    """``compute``, which raises for undefined operands: each rule tests (result, *operands)."""
    if not rules:
        return compute

    def call(*x: Any) -> Any:
        result = compute(*x)
        for what, undefined in rules:
            if holds(undefined(result, *x)):
                raise UndefinedError(what)
        return result

    return call
