"""Sums of dequantized values, in float32, in the orders of ONNX Runtime's pools.

``rows`` adds the elements of a window one after the other, a row after the other. ``columns`` adds each column from the
top, and then these sums from the left. ``lanes`` counts the elements row by row: four sums take the elements whose
numbers leave the remainder 0, 1, 2 or 3 by 4, up to the last whole four; they are added as ``(0 + 2) + (1 + 3)``, and
then the elements behind in order.
"""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
LANES: Final = 4


def sum_in_order(windows: Array, order: str) -> Array:
    """The sums of float32 elements [..., rows, columns], which are not all -0, in an order.

    >>> window = np.array([[1e8, 1.0, 1.0], [-1e8, 1.0, 1.0]], np.float32)
    >>> [float(sum_in_order(window, order)) for order in ("rows", "columns", "lanes")]
    [2.0, 4.0, 2.0]
    """
    return _ORDERS[order](windows)


def _flat(windows: Array) -> Array:
    return windows.reshape(*windows.shape[:-2], windows.shape[-2] * windows.shape[-1])


def _sum_of_rows(windows: Array) -> Array:
    return _added(_flat(windows), -1)


def _sum_of_columns(windows: Array) -> Array:
    return _added(_added(windows, -2), -1)


def _sum_of_lanes(windows: Array) -> Array:
    flat = _flat(windows)
    whole = flat.shape[-1] // LANES * LANES
    total = np.zeros(flat.shape[:-1], flat.dtype)
    if whole:
        lanes = _added(flat[..., :whole].reshape(*flat.shape[:-1], whole // LANES, LANES), -2)
        total = (lanes[..., 0] + lanes[..., 2]) + (lanes[..., 1] + lanes[..., 3])
    return _added(np.concatenate([total[..., np.newaxis], flat[..., whole:]], axis=-1), -1)


def _added(values: Array, axis: int) -> Array:
    return np.asarray(np.add.accumulate(values, axis=axis, dtype=values.dtype).take(-1, axis=axis))


_ORDERS = {"rows": _sum_of_rows, "columns": _sum_of_columns, "lanes": _sum_of_lanes}
