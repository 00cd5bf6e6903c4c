"""Resizing of images: source positions and weights for each position of the result, and bilinear interpolation.

>>> low, high, weight = bilinear_positions("fixed11", 3, 5, align_corners=True, half_pixel_centers=False)
>>> low.tolist(), high.tolist(), weight.tolist()
([0, 0, 1, 1, 2], [1, 1, 2, 2, 2], [0, 1024, 0, 1024, 0])
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

RESIZE_RULES: Final = ("fixed11", "fixed10_away", "products_float32", "lines_float32")
"""The rules that weight the neighbours of a position (docs/numerics_operations.md)."""
_HALF: Final = np.float32(0.5)


def bilinear_positions(
    rule: str, size: int, out: int, *, align_corners: bool, half_pixel_centers: bool
) -> tuple[Array, Array, Array]:
    """Return (first neighbours, second neighbours, weights of the second) for an axis of ``size`` resized to ``out``.

    The weights are integers with 11 or 10 fractional bits, or float32, as the rule requires.
    """
    at = np.arange(out, dtype=np.int64)
    if rule == "fixed10_away":
        return _fixed10(at, size, out, align_corners, half_pixel_centers)
    corners = align_corners and out > 1
    scale = np.float32(size - corners) / np.float32(max(out - corners, 1))
    places = at.astype(np.float32)
    if rule == "products_float32":
        places = (places + _HALF) * scale - _HALF if half_pixel_centers else places * scale
        low = np.maximum(np.floor(places).astype(np.int64), 0)
        high = np.minimum(np.ceil(places).astype(np.int64), size - 1)
        return low, high, places - low.astype(np.float32)
    if half_pixel_centers:
        places = places * scale + (_HALF * scale - _HALF)
        places = np.clip(places, np.float32(0), np.float32(size - 1))
    else:
        places = places * scale
    low = places.astype(np.int64)
    weights = places - low.astype(np.float32)
    if rule == "fixed11":
        weights = np.rint(weights * np.float32(2048)).astype(np.int64)
    return low, np.minimum(low + 1, size - 1), weights


def _fixed10(
    at: Array, size: int, out: int, align_corners: bool, half_pixel_centers: bool
) -> tuple[Array, Array, Array]:
    one = 1 << 10
    scale = (one * size + out // 2) // max(out, 1)
    if align_corners and out > 1:
        scale = (one * (size - 1) + (out - 1) // 2) // (out - 1)
    places = at * scale + (scale // 2 - one // 2 if half_pixel_centers else 0)
    low = np.maximum(_truncated(places, one), 0)
    high = np.minimum(_truncated(places + one - 1, one), size - 1)
    return low, high, places - one * low


def _truncated(a: Array, b: int) -> Array:
    """Return ``a / b`` rounded toward zero."""
    rounded: Array = np.where(a < 0, -(-a // b), a // b)
    return rounded


def nearest_positions(size: int, out: int, *, align_corners: bool, half_pixel_centers: bool) -> Array:
    """Return the nearest source position for each position of an axis of ``size`` resized to ``out``.

    The positions are computed in float32.
    """
    corners = align_corners and out > 1
    scale = np.float32(size - corners) / np.float32(max(out - corners, 1))
    places = (np.arange(out).astype(np.float32) + (_HALF if half_pixel_centers else np.float32(0))) * scale
    whole = np.trunc(places)
    rounded = whole + (places - whole >= _HALF) if align_corners else np.floor(places)
    nearest: Array = np.clip(rounded.astype(np.int64), 0, size - 1)
    return nearest


def bilinear(rule: str, corners: tuple[Array, Array, Array, Array], down: Array, right: Array) -> Array:
    """Interpolate between four neighbours: upper left, upper right, lower left, lower right.

    ``down`` is the weight of the lower neighbours, ``right`` that of the right ones. The result is int64 for integers,
    and float32 for floats.
    """
    a, b, c, d = corners
    if rule == "fixed11":
        a, b, c, d = (v.astype(np.int64) for v in corners)
        top, bottom = a * 2048 + (b - a) * right, c * 2048 + (d - c) * right
        return np.asarray((top * 2048 + (bottom - top) * down + (1 << 21)) >> 22)
    if rule == "fixed10_away":
        a, b, c, d = (v.astype(np.int64) for v in corners)
        acc = a * (1024 - down) * (1024 - right) + c * down * (1024 - right)
        acc = acc + b * (1024 - down) * right + d * down * right
        return _truncated(acc + np.where(acc > 0, 1 << 19, -(1 << 19)), 1 << 20)
    is_float = a.dtype == np.float32
    a, b, c, d = (v.astype(np.float32) for v in corners)
    if rule == "lines_float32":
        top, bottom = a + (b - a) * right, c + (d - c) * right
        return np.asarray(top + (bottom - top) * down)
    one = np.float32(1)
    total = a * (one - down) * (one - right) + c * down * (one - right)
    total = total + b * (one - down) * right + d * down * right
    return total if is_float else (total + _HALF).astype(np.int64)
