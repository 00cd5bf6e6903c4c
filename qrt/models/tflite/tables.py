"""Lookup tables for functions of one variable as LiteRT computes them: 256 entries for 8-bit values, 513 for 16-bit.

For each 8-bit value the function is computed in float32, divided by the result's scale and rounded. Rule "half_even"
(XNNPACK) divides, adds the zero point, and then rounds. Rule "half_away" (builtin kernels) multiplies by the inverse of
the scale, rounds, and then adds the zero point. SQRT, RSQRT and HARD_SWISH are computed differently.
"""

import math
from collections.abc import Callable

import numpy as np

import qrt.numerics as numerics
from qrt.models.tflite import libm
from qrt.numerics import gemmlowp
from qrt.numerics.floats32 import expf, logf
from qrt.numerics.multipliers import double_multiplier
from qrt.ops.core import Array, storage_dtype
from qrt.types import UniformType

F32 = np.float32
Function = Callable[[Array], Array]


def _logistic(x: Array) -> Array:
    return F32(1) / (F32(1) + expf(-x))


def _logistic_float64(x: Array) -> Array:
    return 1.0 / (1.0 + libm.map_elements(math.exp, -np.clip(x.astype(np.float64), -700.0, 700.0)))


def _tanh_float64(x: Array) -> Array:
    return libm.map_elements(math.tanh, x)


def _elu(x: Array) -> Array:
    return np.where(x >= 0, x, libm.float32("expm1f", x))


def _gelu(x: Array) -> Array:
    return F32(0.5) * x * libm.float32("erfcf", x * F32(-math.sqrt(0.5)))


def _gelu_approximate(x: Array) -> Array:
    inner = F32(math.sqrt(2.0 / math.pi)) * (x + F32(0.044715) * x * x * x)
    return F32(0.5) * x * (F32(1) + libm.float32("tanhf", inner))


def _tanh(x: Array) -> Array:
    return libm.float32("tanhf", x)


FUNCTIONS: dict[str, Function] = {
    "LOGISTIC": _logistic,
    "TANH": _tanh,
    "ELU": _elu,
    "EXP": expf,
    "GELU": _gelu,
    "GELU approximate": _gelu_approximate,
}
IN_FLOAT64: dict[str, Function] = {"LOGISTIC": _logistic_float64, "TANH": _tanh_float64}
"""The functions that XNNPACK computes in float64."""


def _where_positive(function: Function, x: Array, otherwise: float) -> Array:
    results = np.full(x.shape, otherwise, F32)
    results[x > 0] = function(x[x > 0])
    return results


def function_of(name: str, out: UniformType, rule: str) -> Function:
    """Return the function of float32 arrays that computes the TFLite operator ``name``.

    For numbers that are not positive, LOG gives the least value of the type ``out``, and RSQRT the greatest value.
    """
    low, high = (float(F32(out.scale) * F32(end - out.zero_point)) for end in (out.storage_min, out.storage_max))
    if name == "LOG":
        return lambda x: _where_positive(logf, x, low)
    if name == "RSQRT":
        return lambda x: _where_positive(lambda v: F32(1) / np.sqrt(v), x, high)
    return IN_FLOAT64[name] if rule == "half_even" and name in IN_FLOAT64 else FUNCTIONS[name]


def table(name: str, x: UniformType, out: UniformType, rule: str) -> Array:
    """Return the storage of the operator ``name``'s results for all 256 storage values of the type ``x``, ascending."""
    least, greatest = x.default_bounds
    centred = np.arange(least, greatest + 1, dtype=np.int64) - x.zero_point
    own = _OWN.get(name)
    stored = _of_floats(name, centred, x, out, rule) if own is None else own(centred, x, out)
    return np.clip(stored, out.storage_min, out.storage_max).astype(storage_dtype(out))


def _of_floats(name: str, centred: Array, x: UniformType, out: UniformType, rule: str) -> Array:
    function = function_of(name, out, rule)
    with np.errstate(over="ignore", invalid="ignore"):
        values = function(F32(x.scale) * centred.astype(F32)).astype(F32)
        if rule == "half_even":
            rounded = np.rint(values / F32(out.scale) + F32(out.zero_point))
            return np.asarray(np.clip(rounded, out.storage_min, out.storage_max).astype(np.int64))
        scaled = values * (F32(1) / F32(out.scale))
    rounded = np.clip(numerics.round_integral(scaled, "half_away"), -1e6, 1e6)
    return np.asarray(rounded.astype(np.int64) + out.zero_point)


def _sqrt(centred: Array, x: UniformType, out: UniformType) -> Array:
    """Return the table of SQRT, whose results are truncated instead of rounded.

    ``centred`` has the storage values minus the zero point.
    """
    scaled = np.sqrt(F32(x.scale) * np.maximum(centred, 0).astype(F32)) / F32(out.scale)
    return np.asarray(np.trunc(scaled).astype(np.int64) + out.zero_point)


# -- HARD_SWISH: 16-bit fixed point ----------------------------------------------------------------------------------


def _hard_swish(centred: Array, x: UniformType, out: UniformType) -> Array:
    """Return the table of ``x * relu6(x + 3) / 6``, computed in 16-bit fixed point as by LiteRT's kernel.

    ``centred`` has the storage values minus the zero point. The factor ``relu6(x + 3) / 6`` has 15 fractional bits, and
    its product with x is truncated.
    """
    fine = F32(1 / 128) * F32(x.scale)
    to_result, right = _multiplier_16(float(fine / F32(out.scale)))
    to_factor, left = _multiplier_16(float(fine / (F32(3) / F32(32768))))
    value = gemmlowp.saturate(centred << 7, 16)
    result = gemmlowp.doubling_high_multiply(value, to_result, 16)
    factor = gemmlowp.saturate(value << max(left - 1, 0), 16) if left > 0 else value
    factor = gemmlowp.doubling_high_multiply(factor, to_factor, 16)
    factor = gemmlowp.saturate(factor << 1, 16) if left > 0 else gemmlowp.divide_by_power(factor, -left)
    product = ((factor + (1 << 15)) >> 1) * result
    cut = np.where(product >= 0, product >> 15, -(-product >> 15))
    return gemmlowp.divide_by_power(cut, -right) + out.zero_point


def _multiplier_16(multiplier: float) -> tuple[int, int]:
    m0, shift = double_multiplier(multiplier)
    return min((m0 + (1 << 15)) >> 16, (1 << 15) - 1), shift


def hard_swish_fits(x: UniformType, out: UniformType) -> bool:
    """Return True if LiteRT accepts a HARD_SWISH: the result's scale is at least 1/128 of the input's scale."""
    return double_multiplier(float(F32(1 / 128) * F32(x.scale) / F32(out.scale)))[1] <= 0


# -- RSQRT: a reciprocal square root of integers ---------------------------------------------------------------------

_BITS = 20
"""The number of fractional bits of an integer's reciprocal square root."""


def _rsqrt_table(centred: Array, x: UniformType, out: UniformType) -> Array:
    """Return the table of RSQRT: fixed-point reciprocal roots of the integers ``centred``, multiplied by the scales.

    ``centred`` has the storage values minus the zero point. Those that are not positive give the largest result.
    """
    m0, shift = double_multiplier(float(1 / np.float64(np.sqrt(F32(x.scale)) * F32(out.scale))))
    root, right = gemmlowp.inverse_root(np.maximum(centred, 1))
    roots = gemmlowp.scale_fixed_double(1, root, _BITS - right)
    stored = gemmlowp.scale_fixed_double(roots, m0, shift - _BITS) + out.zero_point
    return np.where(centred > 0, stored, out.storage_max)


_OWN: dict[str, Callable[[Array, UniformType, UniformType], Array]] = {
    "SQRT": _sqrt,
    "RSQRT": _rsqrt_table,
    "HARD_SWISH": _hard_swish,
}


# -- 16 bits ---------------------------------------------------------------------------------------------------------


def interpolated(name: str, x: UniformType, out: UniformType) -> Array:
    """Return the 513 entries of a function of 16-bit values, between which `qrt.lookup_interpolated` interpolates.

    Every step of the computation is in float32.
    """
    function = function_of(name, out, "half_away")

    low, high, least, most = (float(F32(t.scale) * F32(end)) for t in (x, out) for end in t.default_bounds)
    with np.errstate(over="ignore", invalid="ignore"):
        return numerics.interpolated_table(function, low, high, least, most, F32)
