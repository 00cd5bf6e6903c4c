"""Rounding to float formats and to integers, and conversion of floats to integers times a common power of two."""

from typing import Any, Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError
from qrt.numerics.float_text import FORMATS

Array = npt.NDArray[Any]

Rounding = Literal["half_even", "half_away", "toward_zero"]
ROUNDINGS: Final[tuple[Rounding, ...]] = get_args(Rounding)
UNIT_CARRY: Final = 0x010101
LEAST_UNIT_EXPONENT: Final = 23

_DIRECTED = {"toward_zero": (True, True), "down": (True, False), "up": (False, True)}
"""For each rounding mode, a bool for positive and one for negative numbers that are too large for a format.

True means that the number becomes the largest value of its sign instead of infinity or a NaN.
"""


def round_to_format(x: npt.ArrayLike, name: str, rounding: str = "half_even") -> Array:
    """Round float64 values to the builtin float format ``name`` and return them as float64.

    ``rounding`` is one of ``ROUNDINGS``, ``down`` or ``up``. A value that is too large becomes infinity; NaN if the
    format has no infinity; the largest value if the format has neither, or if the value is rounded toward zero.

    An operation on two values of a format that is computed in float64 and then rounded here equals the operation
    rounded once, if 53 >= 2p + 2 for the format's precision p (Figueroa, "When is double rounding innocuous?", 1995).
    That holds for every builtin float up to f32.
    """
    form = FORMATS[name]
    values = np.asarray(x, np.float64)
    if name == "f64":
        return values
    if form.precision > 53 or not form.has_zero:
        raise QuantTypeError(f"arithmetic of type {name} is not supported")
    exponent = np.frexp(values)[1] - 1
    quantum = np.maximum(exponent, form.min_exponent) - (form.precision - 1)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.ldexp(values, -quantum)
        directed = {"down": np.floor, "up": np.ceil}.get(rounding)
        rounded = np.ldexp(directed(scaled) if directed else round_integral(scaled, rounding), quantum)
    largest = float(form.largest)
    beyond = {"ieee": np.inf, "none": largest}.get(form.special, np.nan)
    overflow = np.copysign(beyond, values)
    above, below = _DIRECTED.get(rounding, (False, False))
    stays = np.where(np.signbit(values), below, above)
    rounded = np.where(np.abs(rounded) > largest, np.where(stays, np.copysign(largest, values), overflow), rounded)
    if form.special == "nan_zero":
        rounded = rounded + 0.0  # has no negative zero
    return np.where(np.isfinite(values), rounded, np.where(np.isinf(values), overflow, values))


def round_integral(x: npt.ArrayLike, rounding: str) -> Array:
    """Round float64 values to integers, still float64, by one of ``ROUNDINGS``."""
    values = np.asarray(x, np.float64)
    if rounding == "half_even":
        return np.rint(values)
    if rounding == "toward_zero":
        return np.trunc(values)
    if rounding == "half_away":
        # floor(|x| + 0.5) is wrong for 0.49999999999999994; comparing the exact fraction is not.
        whole = np.trunc(values)
        with np.errstate(invalid="ignore"):
            away = np.abs(values - whole) >= 0.5
        return np.where(away, whole + np.sign(values), whole)
    raise QuantTypeError(f"unknown rounding {rounding!r}, expected one of {', '.join(ROUNDINGS)}")


def unit_integers(x: Array) -> tuple[Array, Array]:
    """Return finite float32 values [..., n] as integers ``x / unit``, rounded half to even, and the units [..., 1].

    Each unit is the least power of two with which no integer exceeds 0x7F7F7F, but at least 2^-126. The limit is 127 *
    65536 + 127 * 256 + 127: three signed bytes hold it and its negative. The unit is 2^(e - 149), where e is the biased
    exponent of the largest magnitude, plus one if its fraction exceeds 0x7EFEFE, but at least 23. The unit and its
    inverse are normal numbers of float32, so that ``x * (1 / unit)`` is exact unless it is far below 1/2.

    >>> unit_integers(np.float32([1, -0.75, 0]))
    (array([ 4194304, -3145728,        0]), array([2.3841858e-07], dtype=float32))
    """
    bits = np.abs(x).view(np.int32).max(axis=-1, keepdims=True, initial=0)
    exponent = np.maximum((bits + UNIT_CARRY) >> 23, LEAST_UNIT_EXPONENT)
    unit, inverse = (np.ldexp(np.float32(1), sign * (exponent - 149)) for sign in (1, -1))
    return np.rint(x * inverse).astype(np.int64), unit
