"""Tables of functions of one 8-bit variable, with the 256 entries that ONNX Runtime computes.

Each input ``q`` is dequantized, ``s * (q - z)``, and the function is computed in float32. The function's value is
divided by the result's scale, rounded half to even, and added to the result's zero point. Sources: ONNX Runtime's
qlinear_lookup_table, and the logistic function of its MLAS for processors with FMA3, whose polynomials are Eigen's.
"""

from collections.abc import Callable

import numpy as np

from qrt.numerics.floats import OPS
from qrt.ops.core import Array, storage_dtype
from qrt.types import UniformType

F32 = np.float32
Function = Callable[[Array], Array]
_FMA = OPS["math.fma"]("f32")
_FARTHEST = 18.0
"""The magnitude beyond which the logistic function is constant."""
_NUMERATOR = (4.37031012579801e-11, 1.15627324459942e-07, 6.08574864600143e-05, 8.51377133304701e-03,
              2.48287947061529e-01)  # fmt: skip
_DENOMINATOR = (6.10247389755681e-13, 5.76102136993427e-09, 6.29106785017040e-06, 1.70198817374094e-03,
                1.16817656904453e-01, 9.93151921023180e-01)  # fmt: skip
"""Coefficients of x^2, the one of the highest power first."""


def identity(x: Array) -> Array:
    """Return ``x``."""
    return x


def logistic(x: Array) -> Array:
    """Compute ``1 / (1 + exp(-x))`` as a quotient of float32 polynomials, by Horner's rule with fused multiply-adds.

    >>> logistic(np.float32([0.0, 30.0])).tolist()
    [0.5, 1.0]
    """
    x = np.minimum(np.maximum(x, F32(-_FARTHEST)), F32(_FARTHEST))
    above, below = (_polynomial(x * x, coefficients) for coefficients in (_NUMERATOR, _DENOMINATOR))
    return np.asarray(np.clip(above * x / below + F32(0.5), F32(0), F32(1)))


def _polynomial(square: Array, coefficients: tuple[float, ...]) -> Array:
    value = np.full(square.shape, coefficients[0], F32)
    for coefficient in coefficients[1:]:
        value = _FMA(value, square, np.full(square.shape, coefficient, F32))
    return value


def leaky_relu(alpha: float) -> Function:
    """Return the function that maps nonnegative x to x, and negative x to ``alpha * x``."""
    return lambda x: np.where(x >= 0, x, F32(alpha) * x)


def table(function: Function, x: UniformType, out: UniformType) -> Array:
    """Return a function's table: the storage of type ``out`` for each storage value of type ``x``, in ascending order.

    Both types use all 8 bits.

    >>> half = UniformType("u8", "f32", 0.5)
    >>> table(identity, half, half.with_(scales=1.0))[:5].tolist()
    [0, 0, 1, 2, 2]
    """
    q = np.arange(x.storage_min, x.storage_max + 1)
    with np.errstate(over="ignore", invalid="ignore"):
        values = function(F32(x.scale) * (q - x.zero_point).astype(F32)) / F32(out.scale)
    low, high = F32(out.storage_min - out.zero_point), F32(out.storage_max - out.zero_point)
    rounded = np.rint(np.minimum(np.maximum(values, low), high)) + F32(out.zero_point)
    return rounded.astype(storage_dtype(out))
