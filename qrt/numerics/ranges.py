"""Scales and zero points from ranges of real numbers (docs/numerics.md, "From a range to a type").

The arithmetic is in float64, element by element; IEEE 754 rounds each step to the same value on every machine.
Comparisons of a range with the values that a scale can represent are exact.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError
from qrt.numerics.double_double import two_product
from qrt.numerics.float_text import FORMATS, FloatFormat
from qrt.numerics.rounding import round_integral

Array = npt.NDArray[Any]


def range_parameters(
    low: Array, high: Array, storage_min: int, storage_max: int, expressed: str, *, symmetric: bool
) -> tuple[Array, Array]:
    """Return (scales, zero points) with which storage covers each range ``low <= 0 <= high`` of float64 numbers.

    ``(storage_min - z) * s <= low`` and ``high <= (storage_max - z) * s`` hold exactly. Scales are values of the format
    ``expressed``, but may exceed its largest value. The range from 0 to 0 has scale 1.

    >>> range_parameters(np.float64([-1, 0]), np.float64([1, 3]), -8, 7, "f32", symmetric=False)
    (array([0.14285715, 0.2       ]), array([ 0, -8]))
    """
    below, above = np.abs(low), np.abs(high)
    is_empty = (below == 0) & (above == 0)
    if symmetric:
        zero = (storage_min + storage_max + 1) // 2
        steps = min(zero - storage_min, storage_max - zero)
        if not steps:
            raise QuantTypeError(
                "symmetric=True needs storage with values on both sides of a zero point, got storage from "
                f"{storage_min} to {storage_max}: give more bits"
            )
        scales = least_scale(np.maximum(below, above), np.float64(steps), expressed)
        return np.where(is_empty, 1.0, scales), np.full(below.shape, zero, np.int64)
    scales, under = _divided(below, above, storage_max - storage_min, expressed)
    nearest_to_0 = min(max(storage_min, 0), storage_max)
    zero_points = np.where(is_empty, nearest_to_0, storage_min + under.astype(np.int64))
    return np.where(is_empty, 1.0, scales), zero_points


def _divided(below: Array, above: Array, steps: int, expressed: str) -> tuple[Array, Array]:
    """Return the least scale that covers ``-below`` to ``above`` in ``steps`` steps, and the number of steps below 0.

    The best number of steps below 0 is within 1 of ``steps * below / (below + above)``. So the integer nearest to this
    quotient and the two integers next to it are tried; if scales are equal, the nearest integer wins.
    """
    is_divided = (below > 0) & (above > 0)
    if steps == 1 and is_divided.any():
        place = is_divided.argmax()
        raise QuantTypeError(
            "storage with 2 values cannot represent the negative and the positive part of the range "
            f"{-below.ravel()[place]:g} to {above.ravel()[place]:g}: give more bits"
        )
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        quotient = np.rint(steps / (1 + above / below))
    under = np.where(is_divided, np.clip(quotient, 1, steps - 1), np.where(below > 0, steps, 0))
    scales = _covering(below, above, under, steps, expressed)
    for neighbour in (under + 1, under - 1):
        other = np.where(is_divided, np.clip(neighbour, 1, max(steps - 1, 1)), under)
        other_scales = _covering(below, above, other, steps, expressed)
        is_better = other_scales < scales
        scales, under = np.where(is_better, other_scales, scales), np.where(is_better, other, under)
    return scales, under


def _covering(below: Array, above: Array, under: Array, steps: int, expressed: str) -> Array:
    """Return the scale with which ``under`` steps cover ``below``, and the remaining steps cover ``above``.

    A side of size 0 needs no steps.
    """
    lower = least_scale(below, np.maximum(under, 1), expressed)
    return np.maximum(lower, least_scale(above, np.maximum(steps - under, 1), expressed))


def least_scale(reach: Array, steps: Array | np.float64, expressed: str) -> Array:
    """Return the least value s of the format ``expressed`` with ``s * steps >= reach``, compared exactly.

    With the scale s, ``steps`` integers (from 1 to 2^32) cover the distance ``reach``. If no value of the format
    suffices, the result exceeds the format's largest value. For formats wider than float64 the result is a float64
    value, like all scales in types.

    >>> float(least_scale(np.float64(1), np.float64(10), "f32"))
    0.10000000149011612
    """
    form = FORMATS[expressed] if FORMATS[expressed].precision <= 53 else FORMATS["f64"]
    with np.errstate(over="ignore", invalid="ignore"):
        scale = np.maximum(_rounded_up(reach / steps, form), float(form.smallest))
        # The quotient was rounded to nearest, so that one just below the reach may stand on a value of the format.
        fraction, exponent = np.frexp(scale)
        product, rest = two_product(fraction, steps)
        falls_short = (product - np.ldexp(reach, -exponent)) + rest < 0
        return np.where(falls_short, scale + np.ldexp(1.0, _quantum(scale, form)), scale)


def _rounded_up(x: Array, form: FloatFormat) -> Array:
    """Return the least value of a format that is at least ``x``, as if the format had no largest exponent."""
    quantum = _quantum(x, form)
    return np.ldexp(np.ceil(np.ldexp(x, -quantum)), quantum)


def _quantum(x: Array, form: FloatFormat) -> Array:
    """Return the exponent of the distance between ``x`` and the next larger value of a format."""
    exponent: Array = np.maximum(np.frexp(x)[1] - 1, form.min_exponent)
    return exponent - (form.precision - 1)


# -- ranges of fake quantizations -------------------------------------------------------------------------------------


def fake_quant_parameters(low: Array, high: Array, storage_min: int, storage_max: int) -> tuple[Array, Array]:
    """Return (scales, zero points) of fake quantizations for the ranges from ``low`` to ``high`` (float64).

    The arithmetic is that of TensorFlow's converter and of the `quant` dialect's `fakeQuantAttrsToType`.

    A range keeps its width, and is moved until 0 is one of its quantized values; numbers near an end may then saturate.
    A range of a single number has scale 1 and the zero point ``storage_min``.

    >>> fake_quant_parameters(np.float64([-1, 0.5]), np.float64([1, 1]), 0, 255)
    (array([0.00784314, 0.00196078]), array([128,   0]))
    """
    is_point = low == high
    scales = np.where(is_point, 1.0, (high - low) / float(storage_max - storage_min))
    from_low, from_high = storage_min - low / scales, storage_max - high / scales
    error_of_low = abs(storage_min) + np.abs(low / scales)
    error_of_high = abs(storage_max) + np.abs(high / scales)
    zeros = np.where(error_of_low < error_of_high, from_low, from_high)
    zeros = round_integral(np.clip(zeros, storage_min, storage_max), "half_away")
    return scales, np.where(is_point, storage_min, zeros).astype(np.int64)
