"""Averages of dequantized values: float32 sums in the orders of ONNX Runtime's pools, and the storage made of them.

``rows`` adds the elements of a window one after the other, a row after the other. ``columns`` adds each column from the
top, and then these sums from the left. ``lanes`` counts the elements row by row: four sums take the elements whose
numbers leave the remainder 0, 1, 2 or 3 by 4, up to the last whole four; they are added as ``(0 + 2) + (1 + 3)``, and
then the elements behind in order.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from qrt.numerics.requantization import RequantParameters, round_scaled_float32

Array = npt.NDArray[Any]
LANES: Final = 4
AVERAGE_ORDERS: Final[Mapping[str, str]] = {
    "dequantized": "rows",
    "dequantized_rows": "rows",
    "dequantized_columns": "columns",
    "dequantized_lanes": "lanes",
}
"""The order in which a rule of averages adds floats."""


def sum_in_order(windows: Array, order: str) -> Array:
    """The sums of float32 elements [..., rows, columns], which are not all -0, in an order.

    >>> window = np.array([[1e8, 1.0, 1.0], [-1e8, 1.0, 1.0]], np.float32)
    >>> [float(sum_in_order(window, order)) for order in ("rows", "columns", "lanes")]
    [2.0, 4.0, 2.0]
    """
    if order == "columns":
        return _added(_added(windows, -2), -1)
    flat = windows.reshape(*windows.shape[:-2], windows.shape[-2] * windows.shape[-1])
    if order == "rows":
        return _added(flat, -1)
    whole = flat.shape[-1] // LANES * LANES
    total = np.zeros(flat.shape[:-1], flat.dtype)
    if whole:
        lanes = _added(flat[..., :whole].reshape(*flat.shape[:-1], whole // LANES, LANES), -2)
        total = (lanes[..., 0] + lanes[..., 2]) + (lanes[..., 1] + lanes[..., 3])
    return _added(np.concatenate([total[..., np.newaxis], flat[..., whole:]], axis=-1), -1)


def _added(values: Array, axis: int) -> Array:
    return np.asarray(np.add.accumulate(values, axis=axis, dtype=values.dtype).take(-1, axis=axis))


def average_dequantized(total: Array, parameters: RequantParameters, index: Array) -> Array:
    """Storage of a float32 sum of dequantized values. It is divided by their count and by the scale, and rounded. By
    the rule ``dequantized`` the zero point joins before, by the others behind."""
    p = parameters
    with np.errstate(over="ignore"):
        scaled = total / p.multiplier[index].astype(np.float32) / p.divisor_f32[index] + p.offset_f32[index]
    return round_scaled_float32(scaled, p.zero_point[index], p.storage_min, p.storage_max)
