"""Canonical NaN results of ops: positive and quiet on every processor.

Processors differ: infinity minus infinity is a negative NaN on x86, a positive one on ARM.
"""

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
"""Ops whose result is a NaN only if an operand is a NaN."""
_CONVERSIONS = frozenset({"arith.sitofp", "arith.truncf", "arith.uitofp"})
"""Ops whose result, in formats with infinities, is a NaN only if an operand is a NaN."""


def with_one_nan(compute: Function, name: str, form: str) -> Function:
    """Return ``compute``, the function of op ``name``, with NaN results replaced by the positive quiet NaN.

    A NaN that comes from a NaN operand stays as it is. ``form`` is the float format of the result.
    """
    special = FORMATS[form].special
    if name in _NEVER or special == "none" or (name in _CONVERSIONS and special == "ieee"):
        return compute
    nan = np.float64(np.nan).astype(float_dtype(form))

    def call(*x: Any) -> Any:
        result = compute(*x)
        if isinstance(result, tuple):
            return tuple(_renamed(one, x, nan) if _has_nan(one) else one for one in result)
        return _renamed(result, x, nan) if _has_nan(result) else result

    return call


def _has_nan(x: Any) -> bool:
    if not x.ndim:
        return bool(x != x)
    if x.dtype.kind == "f" and x.itemsize > 2:  # one pass without a temporary; slow for what NumPy computes in f32
        return bool(x.size and np.isnan(np.minimum.reduce(x, axis=None)))
    return bool(np.isnan(x).any())


def _renamed(result: Any, operands: tuple[Any, ...], nan: Any) -> Any:
    """Replace the NaNs of a result by ``nan``, except where an operand is a NaN."""
    unordered = result != result
    for x in operands:
        unordered = unordered & (x == x)
    if not result.ndim:
        return nan if unordered else result
    return np.where(unordered, nan, result)
