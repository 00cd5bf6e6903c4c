"""Softmax as LiteRT computes it, in its three arithmetics: a table of float32 exponentials, gemmlowp's fixed point, and
16-bit tables that are interpolated. ``tables`` has qrt's own.

Sources: the TFLite kernels ``optimized_ops.h``, ``reference/softmax.h`` and ``internal/common.h``.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np

from qrt.numerics import fixed_functions, gemmlowp
from qrt.numerics.floats32 import expf
from qrt.numerics.multipliers import double_multiplier
from qrt.numerics.rounding import Array, round_integral

_DIFFERENCE_BITS: Final = 5
"""Integer bits of a scaled difference from the largest value."""
_SUM_BITS: Final = 12
"""Integer bits of a sum of exponentials."""
_INTERVALS: Final = 512
"""Of an interpolated table, which has one entry more."""


# -- table_float32 ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def softmax_table_float32(scale: float, beta: float) -> Array:
    """``expf(-s * beta * d)`` for d from 0 to 255: float32, each product rounded, read-only."""
    step = np.float32(-np.float32(scale)) * np.float32(beta)
    return _fixed(expf(step * np.arange(256, dtype=np.float32)))


def softmax_float32(
    q: Array, axis: int, table: Array, scale: float, zero_point: int, storage_min: int, storage_max: int
) -> Array:
    """``T[d] * inv`` half away from zero, + zp, clamp, with ``inv = 1 / (S * scale)`` and the sum S in order: every
    step rounded to float32."""
    if q.size == 0:
        return q.astype(np.int64)
    entries = table[_distances(q, axis)]
    with np.errstate(all="ignore"):
        total = np.add.accumulate(entries, axis=axis, dtype=np.float32).take([-1], axis=axis)
        scaled = entries * (np.float32(1) / (total * np.float32(scale)))
    integral = np.clip(round_integral(scaled, "half_away"), storage_min - zero_point, storage_max - zero_point)
    return np.asarray(integral.astype(np.int64) + zero_point)


def _distances(q: Array, axis: int) -> Array:
    values = q.astype(np.int64)
    return np.asarray(values.max(axis=axis, keepdims=True) - values)


# -- gemmlowp --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def softmax_table_gemmlowp(scale: float, beta: float) -> Array:
    """``exp(-beta * s * d)`` for d from 0 to 255 as gemmlowp computes it: int32 without integer bits, 0 where a scaled
    difference has more than 5 integer bits, read-only."""
    real = min(float(np.float32(beta)) * float(np.float32(scale)) * (1 << (31 - _DIFFERENCE_BITS)), 2.0**31 - 1)
    multiplier, shift = double_multiplier(real)
    radius = int(((1 << _DIFFERENCE_BITS) - 1) * (1 << (31 - _DIFFERENCE_BITS)) / (2.0**shift))
    distance = np.arange(256, dtype=np.int64)
    kept = np.minimum(distance, radius)
    scaled = gemmlowp.doubling_high_multiply(-kept << max(shift, 0), np.int64(multiplier))
    if shift < 0:
        scaled = gemmlowp.divide_by_power(scaled, -shift)
    entries = fixed_functions.exp_on_negative_values(scaled, _DIFFERENCE_BITS)
    return _fixed(np.where(distance <= radius, entries, 0).astype(np.int32))


def softmax_gemmlowp(q: Array, axis: int, table: Array, bits: int, storage_min: int) -> Array:
    """Storage of ``bits`` bits, in units of ``2**-bits`` from its least value on. A reciprocal of the sum by Newton's
    method, times each entry."""
    if q.size == 0:
        return q.astype(np.int64)
    entries = table.astype(np.int64)[_distances(q, axis)]
    total = gemmlowp.divide_by_power(entries, _SUM_BITS).sum(axis=axis, keepdims=True)
    headroom = 32 - (np.frexp(total.astype(np.float64))[1]).astype(np.int64)
    scale = gemmlowp.one_over_one_plus((total << headroom) - (1 << 31))
    product = gemmlowp.doubling_high_multiply(scale, entries)
    quotient = gemmlowp.divide_by_power(product, _SUM_BITS - headroom + 31 - bits)
    return np.where(entries > 0, np.clip(quotient, 0, (1 << bits) - 1), 0) + storage_min


# -- table_int16 -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def softmax_tables_int16() -> tuple[Array, Array]:
    """``exp`` from -10 to 0 and ``1 / (1 + x)`` from 0 to 1 as interpolated tables of 513 entries: int16, in units of
    2^-15."""
    exponential = interpolated_table(np.exp, -10.0, 0.0, -1.0, 1.0, np.float64)
    return exponential, interpolated_table(lambda x: 1.0 / (1.0 + x), 0.0, 1.0, -1.0, 1.0, np.float64)


def softmax_multiplier_int16(scale: float, beta: float) -> tuple[int, int]:
    """(M0, shift) that bring a difference to the units of the first table."""
    return double_multiplier(float(np.float32(scale)) * float(np.float32(beta)) / (10.0 / 65535.0))


def softmax_int16(q: Array, axis: int, multiplier: int, shift: int, exponential: Array, reciprocal: Array) -> Array:
    """Storage from 0 to 32767, in units of 2^-15."""
    if q.size == 0:
        return q.astype(np.int64)
    left, right = max(shift, 0), max(-shift, 0)
    scaled = gemmlowp.saturate(-_distances(q, axis) << left, 32)
    scaled = gemmlowp.divide_by_power(gemmlowp.doubling_high_multiply(scaled, np.int64(multiplier)), right)
    entries = lookup_interpolated(np.clip(scaled + 32767, -32768, 32767), exponential)
    total = entries.sum(axis=axis, keepdims=True)
    headroom = 32 - (np.frexp(total.astype(np.float64))[1]).astype(np.int64)
    normal = ((total << (headroom - 1)) + (1 << 13)) >> 14
    inverse = lookup_interpolated(np.clip(normal - (1 << 15) - (1 << 16), -32768, 32767), reciprocal)
    right = 31 - headroom
    return np.clip((entries * inverse + (np.int64(1) << (right - 1))) >> right, 0, 32767)


def interpolated_table(
    function: Callable[[Array], Array], low: float, high: float, least: float, most: float, dtype: type
) -> Array:
    """513 entries of a function between ``low`` and ``high``, in 16-bit steps from ``least`` to ``most``: each is
    moved by half the error that interpolation has in the middle. ``dtype`` is that of every step."""
    step = dtype(dtype(high) - dtype(low)) / dtype(_INTERVALS)
    units = dtype(65536) / (dtype(most) - dtype(least))
    at = dtype(low) + np.arange(_INTERVALS, dtype=dtype) * step
    value, middle, following = (
        np.asarray(function(x.astype(dtype)), dtype) * units
        for x in (at, at + step / 2, dtype(low) + (np.arange(1, _INTERVALS + 1, dtype=dtype)) * step)
    )
    sample = round_integral(value, "half_away")
    interpolated = round_integral((following + sample.astype(dtype)) / dtype(2), "half_away")
    bias = round_integral((interpolated - round_integral(middle, "half_away")) / 2, "half_away")
    last = round_integral(np.asarray(function(np.array([high], dtype)), dtype) * units, "half_away")
    return _fixed(np.clip(np.concatenate([sample - bias, last]), -32768, 32767).astype(np.int16))


def lookup_interpolated(q: Array, table: Array) -> Array:
    """The entry of the upper 9 bits of 16-bit values, plus the lower 7 as a share of the way to the next one."""
    values, entries = q.astype(np.int64), table.astype(np.int64)
    base = entries[256 + (values >> 7)]
    slope = entries[257 + (values >> 7)] - base
    return np.asarray(base + ((slope * (values & 127) + 64) >> 7))


def _fixed(table: Array) -> Array:
    table.flags.writeable = False
    return table
