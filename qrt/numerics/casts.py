"""Quantization and dequantization as the ops ``quant.qcast`` and ``quant.dcast`` compute them."""

from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError
from qrt.numerics.rounding import Array, round_integral, round_to_format

ZeroPointOrder = Literal["before", "after"]
ScaleForm = Literal["divide", "reciprocal"]
ZERO_POINTS: Final[tuple[ZeroPointOrder, ...]] = get_args(ZeroPointOrder)
SCALES: Final[tuple[ScaleForm, ...]] = get_args(ScaleForm)


def quantize(
    x: npt.ArrayLike,
    scale: npt.ArrayLike,
    zero_point: npt.ArrayLike,
    storage_min: int,
    storage_max: int,
    expressed: str,
    *,
    rounding: str = "half_even",
    zero_point_order: str = "before",
    scale_form: str = "divide",
) -> Array:
    """Quantize float64 values of format ``expressed`` to stored integers (int64), as ``quant.qcast`` does.

    The result is ``clamp(round(x / s + f(zp)), min, max)``. ``f`` rounds to the format ``expressed``, and the result of
    every step is rounded to it too. ``zero_point_order="after"`` adds the zero point to the rounded integer instead
    (ONNX QuantizeLinear). ``scale_form="reciprocal"`` multiplies by the rounded ``1 / s`` (XNNPACK). A NaN, in ``x`` or
    as the result of a step, is stored as ``clamp(zp)``; infinities saturate. The clamp compares exactly, in float64.
    """
    for what, given, known in (("scale form", scale_form, SCALES), ("zero point order", zero_point_order, ZERO_POINTS)):
        if given not in known:
            raise QuantTypeError(f"unknown {what} {given!r}, expected one of {', '.join(known)}")
    values = round_to_format(x, expressed)
    s = round_to_format(scale, expressed)
    zp = np.asarray(zero_point, np.int64)
    offset = zp if zero_point_order == "after" else np.zeros_like(zp)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        quotient = values / s if scale_form == "divide" else values * round_to_format(1.0 / s, expressed)
        scaled = round_to_format(quotient, expressed)
        if zero_point_order == "before":
            scaled = round_to_format(scaled + round_to_format(zp, expressed), expressed)
    # Not only a NaN input: infinity times a reciprocal of 0, and infinity plus an infinite f(zp), are NaN too.
    nan = np.isnan(scaled)
    clamped = np.clip(round_integral(scaled, rounding), storage_min - offset, storage_max - offset)
    stored = np.where(nan, 0, clamped).astype(np.int64) + offset
    return np.where(nan, np.clip(zp, storage_min, storage_max), stored)


def dequantize(q: npt.ArrayLike, scale: npt.ArrayLike, zero_point: npt.ArrayLike, expressed: str) -> Array:
    """Dequantize stored integers to float64 values of format ``expressed``, as ``quant.dcast`` does.

    The value is ``(f(q) - f(zp)) * s``. ``f`` rounds to the format ``expressed``, and the result of every step is
    rounded to it too. If ``f(q)`` and ``f(zp)`` are both infinite, the result is the positive quiet NaN.
    """
    stored = round_to_format(np.asarray(q, np.int64), expressed)
    zp = round_to_format(np.asarray(zero_point, np.int64), expressed)
    with np.errstate(over="ignore", invalid="ignore"):
        value = round_to_format(round_to_format(stored - zp, expressed) * round_to_format(scale, expressed), expressed)
    return np.where(np.isnan(value), np.nan, value)
