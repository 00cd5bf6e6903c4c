"""Products of floats that are quantized at run time, and an LSTM that uses them.

A float32 tensor gets one scale and one zero point from its least and its greatest element (DynamicQuantizeLinear of
ONNX). Its product with quantized weights is a sum of integers times one float per column. The LSTM multiplies the
inputs of all steps at once, and the hidden values at each step (DynamicQuantizeLSTM of ONNX Runtime).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from qrt.numerics.floats32 import exp64
from qrt.numerics.rounding import Array

GATES: Final = ("input", "output", "forget", "cell")
"""The order of gates in ONNX."""
TANH: Final = (62 / 2835, -17 / 315, 2 / 15, -1 / 3)
"""Coefficients of ``(tanh(x) / x - 1) / x**2`` as a polynomial in ``x**2`` near 0, from the highest degree."""
TANH_NEAR: Final = 1 / 16
FARTHEST: Final = 104.0
"""The bound to which magnitudes are clamped: the sigmoid of -104 is 0 in float32."""
MOST: Final = 255
"""The largest unsigned 8-bit integer."""
_NAN: Final = np.float32("nan")


def dynamic_parameters(x: Array) -> tuple[np.float32, int]:
    """Return (scale, zero point) of unsigned 8-bit storage that covers 0 and all elements of a float32 tensor.

    NaNs among the elements are ignored. The zero point is ``-least / scale``, rounded and clamped; if this quotient is
    a NaN, as for -inf, the zero point is 255.

    >>> dynamic_parameters(np.float32([-1, 0.5, 4.1]))
    (np.float32(0.02), 50)
    """
    with np.errstate(all="ignore"):
        least, most = np.float32(np.fmin.reduce(x, None, initial=0)), np.float32(np.fmax.reduce(x, None, initial=0))
        if least == most:
            return np.float32(1), 0
        scale = np.float32((most - least) / np.float32(MOST))
        zero_point = -least / scale
    return scale, MOST if np.isnan(zero_point) else int(np.rint(np.clip(zero_point, 0, MOST)))


def dynamic_storage(x: Array, scale: np.float32, zero_point: int) -> Array:
    """Return float32 values quantized to unsigned 8 bits, as int64. If ``x / scale`` is a NaN, 0 is stored."""
    with np.errstate(all="ignore"):
        steps = np.rint(np.asarray(x, np.float32) / scale)
    steps = np.where(np.isnan(steps), np.float32(-1e6), steps)
    return np.asarray(np.clip(steps, -1e6, 1e6).astype(np.int64) + zero_point).clip(0, MOST)


@dataclass(frozen=True)
class DynamicColumns:
    """8-bit weights [depth, columns] as stored integers, with a zero point and a float32 scale for each column."""

    storage: Array
    zero_points: Array
    scales: Array


def dynamic_product(x: Array, w: DynamicColumns) -> Array:
    """Quantize x [rows, depth] with one scale, and return its float32 product [rows, columns] with the weights."""
    scale, zero_point = dynamic_parameters(x)
    centred = dynamic_storage(x, scale, zero_point) - zero_point
    sums = centred @ (w.storage.astype(np.int64) - w.zero_points)
    with np.errstate(all="ignore"):
        return np.asarray(sums.astype(np.float32) * (scale * w.scales))


def sigmoid32(x: Array) -> Array:
    """Return the sigmoid of float32 values, computed by an exponential in float64 and rounded once.

    >>> float(sigmoid32(np.float32([0.5]))[0])
    0.622459352016449
    """
    power = exp64(-np.minimum(np.abs(x.astype(np.float64)), FARTHEST))
    return np.asarray((np.where(x < 0, power, 1.0) / (power + 1.0)).astype(np.float32))


def tanh32(x: Array) -> Array:
    """Return the hyperbolic tangent of float32 values, computed in float64 and rounded once.

    The computation uses a polynomial near 0, and an exponential elsewhere.

    >>> float(tanh32(np.float32([0.5]))[0])
    0.46211716532707214
    """
    wide = np.abs(x.astype(np.float64))
    square = wide * wide
    near = np.full_like(square, TANH[0])
    with np.errstate(all="ignore"):
        for factor in TANH[1:]:
            near = near * square + factor
        near = near * square * wide + wide
        far = 1.0 - 2.0 / (exp64(np.minimum(wide + wide, FARTHEST)) + 1.0)
    return np.asarray(np.copysign(np.where(wide < TANH_NEAR, near, far), x).astype(np.float32))


def dynamic_lstm(
    x: Array, w: DynamicColumns, r: DynamicColumns, bias: Array, hidden: Array, cell: Array, reverse: bool
) -> tuple[Array, Array, Array]:
    """Run a float32 LSTM and return (hidden values of every step, hidden values after the last, cell after the last).

    Shapes: x [steps, batch, inputs], w [inputs, 4 * cells], r [cells, 4 * cells], bias [4 * cells], hidden and cell
    [batch, cells]. Gates are in the order of `GATES`. ``reverse`` begins with the last step.
    """
    steps, batch, inputs = x.shape
    columns = w.storage.shape[1]
    of_x = dynamic_product(x.reshape(steps * batch, inputs), w).reshape(steps, batch, columns)
    y = np.empty((steps, batch, columns // 4), np.float32)
    with np.errstate(all="ignore"):
        for step in reversed(range(steps)) if reverse else range(steps):
            gates = of_x[step] + dynamic_product(hidden, r) + bias
            enter, out, forget, candidate = np.split(gates, 4, axis=1)
            enter, out, forget = (sigmoid32(gate) for gate in (enter, out, forget))
            cell = forget * cell + enter * tanh32(candidate)
            hidden = y[step] = out * tanh32(cell)
    return _one_nan(y), _one_nan(hidden), _one_nan(cell)


def _one_nan(x: Array) -> Array:
    return np.where(np.isnan(x), _NAN, x).astype(np.float32)
