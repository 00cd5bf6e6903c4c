"""Checks and conversions of scales and zero points, given as numbers, nested sequences or arrays.

A type may have half a million scales, so NumPy checks and rounds all at once. Only wrong values, and items that NumPy
cannot convert, are handled one by one.
"""

import math
import struct
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError, shown
from qrt.numerics.float_arrays import nearest
from qrt.numerics.float_text import FORMATS
from qrt.types.builtin import FloatType

Array = npt.NDArray[Any]
BlockSizes = tuple[tuple[int, int], ...]
_INT32_MAX = (1 << 31) - 1
_INT64 = range(-(1 << 63), 1 << 63)


def float_array(scales: Any) -> tuple[tuple[int, ...], Array]:
    """Return (shape, flat float64 array in row-major order) of a number, nested sequences or an array."""
    array = _array_of(scales)
    if array is not None and array.dtype in (np.float32, np.float64):
        return array.shape, array.astype(np.float64).ravel()
    shape, flat = _flatten(scales, "scales")
    return shape, np.array([as_float(item, "a scale") for item in flat])


def check_scales(scales: Array, expressed: FloatType) -> None:
    """Raise QuantTypeError if `check_scale` rejects one of the scales."""
    least, greatest = _scale_range(expressed)
    wrong = ~((scales >= least) & (scales <= greatest))
    if wrong.any():
        check_scale(float(scales[wrong.argmax()]), expressed)


@cache
def _scale_range(expressed: FloatType) -> tuple[float, float]:
    """Return the least and the greatest scale that both the expressed type and a positive finite double can hold."""
    least, greatest = FORMATS["f64"].smallest, FORMATS["f64"].largest
    return (
        float(expressed.smallest if expressed.smallest > least else least),
        float(expressed.largest if expressed.largest < greatest else greatest),
    )


def rounded_scales(scales: Array, expressed: FloatType) -> Array:
    """Round scales to the expressed type, to nearest even, and return them as float64."""
    return nearest(scales, expressed.format)[0]


def ranges_around_0(low: Any, high: Any) -> tuple[Array, Array]:
    """Return (low, high) as float64 arrays, with each range extended to include 0.

    Raises QuantTypeError if the shapes differ, an end is not finite, or low exceeds high.
    """
    ends = []
    for what, given in (("'lo'", low), ("'hi'", high)):
        shape, flat = _flatten(given, what)
        ends.append(np.array([as_float(item, what) for item in flat], np.float64).reshape(shape))
    lows, highs = ends
    if lows.shape != highs.shape:
        raise QuantTypeError(f"'lo' and 'hi' must have the same shape, got {lows.shape} and {highs.shape}")
    wrong = ~(np.isfinite(lows) & np.isfinite(highs) & (lows <= highs))
    if wrong.any():
        place = int(wrong.argmax())
        raise QuantTypeError(
            f"'lo' and 'hi' must be finite with lo <= hi, got lo = {lows.ravel()[place]:g} and "
            f"hi = {highs.ravel()[place]:g}"
        )
    return np.minimum(lows, 0.0), np.maximum(highs, 0.0)


def integer_bytes(zero_points: Any, shape: tuple[int, ...]) -> bytes:
    """Return the zero points as the bytes of int64 in row-major order; no bytes if all are 0.

    Raises QuantTypeError unless their shape is `shape`, the shape of the scales.
    """
    if zero_points is None:
        return b""
    if type(zero_points) is int and shape == ():
        return struct.pack("=q", as_integer(zero_points, "a zero point")) if zero_points else b""
    array = _array_of(zero_points)
    if array is not None and np.can_cast(array.dtype, np.int64):
        given, flat = array.shape, array.astype(np.int64)
    else:
        given, items = _flatten(zero_points, "zero points")
        flat = np.array([as_integer(value, "a zero point") for value in items], np.int64)
    if given != shape:
        raise QuantTypeError(f"zero points must have the shape of the scales, {shape}, got {given}")
    return flat.tobytes() if flat.any() else b""


def check_scale(scale: float, expressed: FloatType) -> None:
    """Raise QuantTypeError unless `scale` is positive, finite and in the range of the expressed type."""
    if not expressed.smallest <= scale <= expressed.largest or not 0.0 < scale < math.inf:
        least, greatest = f"{expressed.smallest:e}", f"{expressed.largest:e}"
        raise QuantTypeError(f"scale {scale:e} out of expressed type range [{least}, {greatest}]")


def as_float(value: Any, what: str) -> float:
    try:
        if not isinstance(value, str | bytes):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise QuantTypeError(f"{what} must be a float, got {shown(value)}")


def as_integer(value: Any, what: str) -> int:
    try:
        result = index(value)
    except TypeError:
        raise QuantTypeError(f"{what} must be an integer, got {shown(value)}") from None
    if result not in _INT64:
        raise QuantTypeError(f"{what} must be an integer of 64 bits, got {shown(result)}")
    return result


def _array_of(values: Any) -> Array | None:
    """Convert nested sequences to an array; return None if NumPy cannot convert them."""
    if not isinstance(values, np.ndarray | list | tuple):
        return None
    try:
        return np.asarray(values)
    except (ValueError, TypeError, OverflowError):
        return None


def _are_rows(level: list[Any], what: str) -> bool:
    """Return True if all items of `level`, one nesting level, are sequences, False if none is.

    Raises QuantTypeError if only some are; `what` names the values in the message.
    """
    rows = {issubclass(kind, list | tuple) for kind in set(map(type, level))}
    if len(rows) > 1:
        raise QuantTypeError(f"{what} must have rows of the same length on each level, got rows beside numbers")
    return True in rows


def _flatten(values: Any, what: str) -> tuple[tuple[int, ...], list[Any]]:
    """Return (shape, items in row-major order) of a number, nested sequences or an array."""
    if isinstance(values, float | int):
        return (), [values]
    if hasattr(values, "tolist"):
        values = values.tolist()
    shape: list[int] = []
    level = [values]
    while _are_rows(level, what):
        if len(set(map(len, level))) != 1 or len(shape) > 64:
            raise QuantTypeError(
                f"{what} must have rows of the same length on each level, got rows of different lengths"
            )
        shape.append(len(level[0]))
        level = [*chain.from_iterable(level)]
    return tuple(shape), level


def checked_axis(axis: int | None) -> int | None:
    if axis is None:
        return None
    axis = as_integer(axis, "'axis'")
    if not 0 <= axis <= _INT32_MAX:
        reason = " (the axis of a type is counted from 0, because a type has no rank)" if axis < 0 else ""
        raise QuantTypeError(f"illegal quantized dimension: {axis}{reason}")
    return axis


def checked_blocks(blocks: Mapping[int, int] | Iterable[tuple[int, int]] | None) -> BlockSizes | None:
    if blocks is None:
        return None
    try:
        pairs = [(axis, size) for axis, size in (blocks.items() if isinstance(blocks, Mapping) else blocks)]
    except (TypeError, ValueError):
        raise QuantTypeError(f"'block_sizes' must be a mapping from axes to sizes, got {shown(blocks)}") from None
    checked = []
    for axis, size in pairs:
        size = as_integer(size, "a block size")
        if size <= 0:
            raise QuantTypeError(f"illegal block size: {size}, expected a positive integer")
        checked.append((checked_axis(axis), size))
    return tuple(checked)  # type: ignore[arg-type]  # checked_axis gives None for None alone


def check_scales_shape(shape: tuple[int, ...], axis: int | None, blocks: BlockSizes | None) -> None:
    if 0 in shape:
        raise QuantTypeError(f"a quantized type must have at least one scale, got scales of shape {shape}")
    if blocks is not None:
        if not shape:
            raise QuantTypeError(
                "scales of a sub-channel type must be nested sequences, one level per tensor dimension, got one number"
            )
    elif axis is not None:
        if len(shape) != 1:
            instead = "flatten them" if shape else "write [scale], or leave axis out"
            raise QuantTypeError(f"scales of a per-axis type must be one flat sequence, got shape {shape}: {instead}")
    elif shape:
        raise QuantTypeError(
            f"scales of shape {shape} need an axis or block sizes: write "
            + ("axis=0 for a scale per row" if len(shape) == 1 else "block_sizes={0: rows of a block, 1: columns}")
        )
