"""The NaN that an op makes of numbers is positive and quiet, whatever the processor's is: x86 makes a negative one of
infinity less infinity, ARM a positive one."""

from typing import Any

import numpy as np

from qrt.numerics.conversions import float_dtype
from qrt.numerics.elements import Function
from qrt.numerics.float_text import FORMATS

_NEVER = frozenset(
    f"{dialect}.{name}"
    for dialect, names in {
        "arith": ("bitcast", "extf", "maximumf", "maxnumf", "minimumf", "minnumf", "negf"),
        "math": ("absf", "ceil", "clampf", "copysign", "floor", "round", "roundeven", "trunc"),
    }.items()
    for name in names
)
"""Ops whose result is a NaN only if an operand is one."""
_CONVERSIONS = frozenset({"arith.sitofp", "arith.truncf", "arith.uitofp"})
"""Ops for which this also holds, in formats that have infinities."""


def with_one_nan(compute: Function, name: str, form: str) -> Function:
    """``compute``, the op of that name with a result of a float format. Its NaNs become the positive quiet one, unless
    an operand is a NaN.
    """
    special = FORMATS[form].special
    if name in _NEVER or special == "none" or (name in _CONVERSIONS and special == "ieee"):
        return compute
    nan = np.float64(np.nan).astype(float_dtype(form))

    def call(*x: Any) -> Any:
        made = compute(*x)
        if isinstance(made, tuple):
            return tuple(_renamed(one, x, nan) if _has_nan(one) else one for one in made)
        return _renamed(made, x, nan) if _has_nan(made) else made

    return call


def _has_nan(x: Any) -> bool:
    if not x.ndim:
        return bool(x != x)
    if x.dtype.kind == "f" and x.itemsize > 2:  # one pass without a temporary; slow for what NumPy computes in f32
        return bool(x.size and np.isnan(np.minimum.reduce(x, axis=None)))
    return bool(np.isnan(x).any())


def _renamed(made: Any, operands: tuple[Any, ...], nan: Any) -> Any:
    """The result with ``nan`` in place of its NaNs, where no operand is a NaN."""
    unordered = made != made
    for x in operands:
        unordered = unordered & (x == x)
    if not made.ndim:
        return nan if unordered else made
    return np.where(unordered, nan, made)
