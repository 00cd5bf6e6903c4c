"""Comparisons of integers and floats, tests for NaNs and infinities, and LiteRT's comparison of quantized values."""

import operator
from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from qrt.numerics.conversions import widened
from qrt.numerics.elements import Function
from qrt.numerics.float_text import FORMATS
from qrt.numerics.gemmlowp import scale_fixed_double
from qrt.numerics.integers import Integer
from qrt.numerics.multipliers import double_multiplier
from qrt.numerics.rounding import Array

INTEGER_PREDICATES: dict[str, Function] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "slt": operator.lt,
    "sle": operator.le,
    "sgt": operator.gt,
    "sge": operator.ge,
    "ult": operator.lt,
    "ule": operator.le,
    "ugt": operator.gt,
    "uge": operator.ge,
}
"""``cmpi``'s predicates in the order of their numbers; ``s...`` compares signed values, ``u...`` unsigned ones."""

FLOAT_PREDICATES: dict[str, Function] = {
    "false": lambda a, b: (a < b) & (a > b),
    "oeq": operator.eq,
    "ogt": operator.gt,
    "oge": operator.ge,
    "olt": operator.lt,
    "ole": operator.le,
    "one": lambda a, b: (a < b) | (a > b),
    "ord": lambda a, b: (a == a) & (b == b),
    "ueq": lambda a, b: ~((a < b) | (a > b)),
    "ugt": lambda a, b: ~(a <= b),
    "uge": lambda a, b: ~(a < b),
    "ult": lambda a, b: ~(a >= b),
    "ule": lambda a, b: ~(a > b),
    "une": operator.ne,
    "uno": lambda a, b: (a != a) | (b != b),
    "true": lambda a, b: (a == a) | (a != a) | (b == b),
}
"""``cmpf``'s predicates in the order of their numbers."""


def of_integers(predicate: int, t: Integer) -> Function:
    """Return the function of ``arith.cmpi`` on integers of type ``t`` for a predicate, given by its number."""
    name = tuple(INTEGER_PREDICATES)[predicate]
    compare: Function = INTEGER_PREDICATES[name]
    if t.width == 1 and name[0] == "s":
        return lambda a, b: compare(b, a)  # true is -1, below false
    if t.width > 1 and name[0] == "u":
        sign = t.sign
        return lambda a, b: compare(a ^ sign, b ^ sign)
    return compare


def of_floats(predicate: int) -> Function:
    """Return the function of ``arith.cmpf`` for a predicate, given by its number."""
    compare: Function = FLOAT_PREDICATES[tuple(FLOAT_PREDICATES)[predicate]]
    return compare


def _classified(test: Function) -> Callable[[str], Function]:
    """Return a function that takes the name of a float format, and returns ``test`` for values of that format.

    The values are converted to float64, which keeps NaNs, infinities and subnormals distinct.
    """

    def bind(form: str) -> Function:
        widen = widened(form)
        return lambda x: test(widen(x))

    return bind


def _isnormal(form: str) -> Function:
    widen, least = widened(form), float(2.0 ** FORMATS[form].min_exponent)
    return lambda x: np.isfinite(y := abs(widen(x))) & (y >= least)


CLASSES: dict[str, Callable[[str], Function]] = {
    "math.isfinite": _classified(np.isfinite),
    "math.isinf": _classified(np.isinf),
    "math.isnan": _classified(np.isnan),
    "math.isnormal": _isnormal,
}
"""Makers of ops that test the class of a float, from the name of its format."""


COMPARED_BITS: Final = 8
"""Fractional bits of ``compared_values``."""


def compared_values(stored: npt.ArrayLike, scale: float, zero_point: int) -> Array:
    """Return ``(stored - zero_point) * scale`` in units of 2^-8: the integers that LiteRT's kernels compare.

    The scale must be below 1. Values are scaled and rounded by the rule ``fixed_double``.

    >>> compared_values([3, 4, 5], 0.001, 0).tolist()
    [1, 1, 1]
    """
    m0, shift = double_multiplier(scale)
    return scale_fixed_double((np.asarray(stored, np.int64) - zero_point) << COMPARED_BITS, m0, shift)
