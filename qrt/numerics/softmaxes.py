"""Softmax and log-softmax as LiteRT computes them, and softmax as ONNX Runtime computes it.

LiteRT has three arithmetics: a table of float32 exponentials, gemmlowp's fixed point, and interpolated 16-bit tables.
ONNX Runtime has a table of exponentials with a shifted argument. The softmax that qrt uses by default is in `tables`.

In the formulas, ``d`` is the largest stored value of a line minus the stored value, ``T`` the table of exponentials,
and ``S`` the sum of ``T[d]`` over the line. A line is a vector along the softmax axis.

Sources: TFLite's optimized and reference kernels; ONNX Runtime's QLinearSoftmax.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, get_args

import numpy as np

from qrt.numerics import fixed_functions, gemmlowp
from qrt.numerics.floats32 import expf, logf
from qrt.numerics.multipliers import double_multiplier
from qrt.numerics.rounding import Array, round_integral
from qrt.numerics.tables import interpolated_table, lookup_interpolated
from qrt.numerics.transcendental.correctly_rounded import bind

_DIFFERENCE_BITS: Final = 5
"""Integer bits of a scaled difference between a value and the largest value."""
SUM_BITS: Final = 12
"""Integer bits of a sum of exponentials."""
SoftmaxRule = Literal["table_int32", "table_float32", "gemmlowp", "table_int16", "table_shifted"]
SOFTMAX_RULES: Final[tuple[SoftmaxRule, ...]] = get_args(SoftmaxRule)
LogSoftmaxRule = Literal["table_float32", "gemmlowp"]
LOG_SOFTMAX_RULES: Final[tuple[LogSoftmaxRule, ...]] = get_args(LogSoftmaxRule)


# -- table_float32 ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def softmax_table_float32(scale: float, beta: float) -> Array:
    """Return the float32 table ``expf(-scale * beta * d)`` for d from 0 to 255, read-only. Each product is rounded."""
    step = np.float32(-np.float32(scale)) * np.float32(beta)
    return _fixed(expf(step * np.arange(256, dtype=np.float32)))


def softmax_float32(
    q: Array, axis: int, table: Array, scale: float, zero_point: int, storage_min: int, storage_max: int
) -> Array:
    """Return the softmax of stored values, as storage: ``half_away(table[d] * inv) + zp``, clamped.

    ``d`` is ``max(q) - q``, and ``inv`` is ``1 / (S * scale)``, where ``S`` is the sum of ``table[d]`` along the axis,
    added in order. Every step is rounded to float32.
    """
    if q.size == 0:
        return q.astype(np.int64)
    entries = table[_distances(q, axis)]
    with np.errstate(all="ignore"):
        total = np.add.accumulate(entries, axis=axis, dtype=np.float32).take([-1], axis=axis)
        scaled = entries * (np.float32(1) / (total * np.float32(scale)))
    return _stored(round_integral(scaled, "half_away"), zero_point, storage_min, storage_max)


def _stored(rounded: Array, zero_point: int, storage_min: int, storage_max: int) -> Array:
    """Return rounded values plus the zero point, clamped to the storage bounds.

    The clamp is in float64, because float32 does not represent every 32-bit bound.
    """
    integral = np.clip(rounded.astype(np.float64), storage_min - zero_point, storage_max - zero_point)
    return np.asarray(integral.astype(np.int64) + zero_point)


def _distances(q: Array, axis: int) -> Array:
    values = q.astype(np.int64)
    return np.asarray(values.max(axis=axis, keepdims=True) - values)


# -- table_shifted ---------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def softmax_table_shifted(scale: float, beta: float, size: int) -> Array:
    """Return the read-only float32 table ``exp(scale * beta * (shift - d))`` for d from 0 to 255, computed in float64.

    The shift makes entries as large as possible while a sum of ``size`` entries fits float32, with a margin of e^5.
    """
    step = float(np.float32(scale)) * beta
    most = float(logf(np.array([np.finfo(np.float32).max / np.float32(max(size, 1))]))[0])
    exponents = (max(most - 5.0, 0.0) / step - np.arange(256)) * step
    return _fixed(bind("exp", "f64")(exponents).astype(np.float32))


def softmax_shifted(
    q: Array, axis: int, table: Array, scale: float, zero_point: int, storage_min: int, storage_max: int
) -> Array:
    """Return the softmax of stored values, as storage: ``half_even(table[d] * k / S) + zp``, clamped.

    ``d`` is ``max(q) - q``, ``k`` is ``floor(1 / scale)``, and ``S`` is the sum of ``table[d]`` along the axis, added
    in order. Every step is rounded to float32.
    """
    if q.size == 0:
        return q.astype(np.int64)
    entries = table[_distances(q, axis)]
    with np.errstate(all="ignore"):
        total = np.add.accumulate(entries, axis=axis, dtype=np.float32).take([-1], axis=axis)
        scaled = entries * softmax_units(scale) / total
    return _stored(np.rint(scaled), zero_point, storage_min, storage_max)


def softmax_units(scale: float) -> np.float32:
    """Return ``floor(1 / scale)`` in float32: the stored value, without zero point, of a probability of 1.

    >>> float(softmax_units(0.3))
    3.0
    """
    with np.errstate(over="ignore"):
        return np.float32(np.floor(np.float32(1) / np.float32(scale)))


# -- gemmlowp --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def softmax_table_gemmlowp(scale: float, beta: float) -> Array:
    """Return the table ``exp(-beta * scale * d)`` for d from 0 to 255 as gemmlowp computes it: int32, read-only.

    Entries are fixed-point numbers without integer bits. An entry is 0 if ``beta * scale * d`` needs more than 5
    integer bits.
    """
    return _exponentials(*_scaled_differences(scale, beta))


def _scaled_differences(scale: float, beta: float) -> tuple[Array, int]:
    """Return ``-beta * scale * d`` for d from 0 to 255 in fixed point, and the largest d that does not overflow.

    The fixed-point numbers have 5 integer bits. Values for greater d equal that for the largest d.
    """
    multiplier, shift = _difference_multiplier(scale, beta)
    radius = int(((1 << _DIFFERENCE_BITS) - 1) * (1 << (31 - _DIFFERENCE_BITS)) / 2.0**shift)
    distances = np.minimum(np.arange(256, dtype=np.int64), radius)
    return gemmlowp.doubling_high_multiply(-distances << shift, multiplier), radius


def _difference_multiplier(scale: float, beta: float) -> tuple[int, int]:
    real = float(np.float32(beta)) * float(np.float32(scale)) * (1 << (31 - _DIFFERENCE_BITS))
    return double_multiplier(min(real, 2.0**31 - 1))


def _exponentials(scaled: Array, radius: int) -> Array:
    entries = fixed_functions.exp_on_negative_values(scaled, _DIFFERENCE_BITS)
    return _fixed(np.where(np.arange(256) <= radius, entries, 0).astype(np.int32))


def softmax_gemmlowp(q: Array, axis: int, table: Array, bits: int, storage_min: int) -> Array:
    """Return the softmax of stored values, as storage of ``bits`` bits in units of ``2**-bits`` above ``storage_min``.

    Each entry is multiplied by a reciprocal of the sum, which Newton's method computes.
    """
    if q.size == 0:
        return q.astype(np.int64)
    entries = table.astype(np.int64)[_distances(q, axis)]
    total = gemmlowp.divide_by_power(entries, SUM_BITS).sum(axis=axis, keepdims=True)
    headroom = 32 - (np.frexp(total.astype(np.float64))[1]).astype(np.int64)
    scale = gemmlowp.one_over_one_plus((total << headroom) - (1 << 31))
    product = gemmlowp.doubling_high_multiply(scale, entries)
    quotient = gemmlowp.divide_by_power(product, SUM_BITS - headroom + 31 - bits)
    return np.where(entries > 0, np.clip(quotient, 0, (1 << bits) - 1), 0) + storage_min


# -- table_int16 -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def softmax_tables_int16() -> tuple[Array, Array]:
    """Return the tables of ``exp`` from -10 to 0 and of ``1 / (1 + x)`` from 0 to 1: int16, in units of 2^-15.

    Each has 513 entries, between which kernels interpolate.
    """
    exponential = interpolated_table(bind("exp", "f64"), -10.0, 0.0, -1.0, 1.0, np.float64)
    return exponential, interpolated_table(lambda x: 1.0 / (1.0 + x), 0.0, 1.0, -1.0, 1.0, np.float64)


def softmax_multiplier_int16(scale: float, beta: float) -> tuple[int, int]:
    """Return (M0, shift) that scale a difference of stored values to steps of the exponential table.

    A step is 10 / 65535.
    """
    return double_multiplier(float(np.float32(scale)) * float(np.float32(beta)) / (10.0 / 65535.0))


def softmax_int16(q: Array, axis: int, multiplier: int, shift: int, exponential: Array, reciprocal: Array) -> Array:
    """Return the softmax of 16-bit stored values, as storage from 0 to 32767 in units of 2^-15.

    ``exponential`` and ``reciprocal`` are the tables that ``softmax_tables_int16`` returns; ``multiplier`` and
    ``shift`` are what ``softmax_multiplier_int16`` returns.
    """
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
    return np.asarray(np.clip((entries * inverse + (np.int64(1) << (right - 1))) >> right, 0, 32767))


# -- the logarithm ---------------------------------------------------------------------------------------------------


def log_softmax_float32(
    q: Array, axis: int, input_scale: float, scale: float, zero_point: int, storage_min: int, storage_max: int
) -> Array:
    """Return the log-softmax of stored values, as storage.

    The result is ``rint(s / so * q - (s * max(q) + logf(S)) / so) + zp``, clamped; s and so are ``input_scale`` and
    ``scale``. S is the sum of ``expf(-s * (max(q) - q))`` along the axis, as in ``softmax_float32``. Every step is in
    float32.
    """
    if q.size == 0:
        return q.astype(np.int64)
    table, values = softmax_table_float32(input_scale, 1.0), q.astype(np.int64)
    total = np.add.accumulate(table[_distances(q, axis)], axis=axis, dtype=np.float32).take([-1], axis=axis)
    s, so = np.float32(input_scale), np.float32(scale)
    offset = (s * values.max(axis=axis, keepdims=True).astype(np.float32) + logf(total)) / so
    rounded = np.rint((s / so) * values.astype(np.float32) - offset)
    return _stored(rounded, zero_point, storage_min, storage_max)


@dataclass(frozen=True, eq=False)
class LogSoftmaxParameters:
    """The parameters of a log-softmax by gemmlowp.

    ``table`` is the result of ``softmax_table_gemmlowp``. ``scaled`` has the arguments of the exponentials in the
    table: ``-s * d`` for d from 0 to 255. ``multiplier`` and ``shift`` convert such an argument to a difference of
    stored values of the operand. ``radius`` is the largest d with an entry that is not 0.
    """

    table: Array
    scaled: Array
    multiplier: int
    shift: int
    radius: int


@lru_cache(maxsize=64)
def log_softmax_parameters(scale: float) -> LogSoftmaxParameters:
    scaled, radius = _scaled_differences(scale, 1.0)
    m0, shift = _difference_multiplier(scale, 1.0)
    back = double_multiplier(2.0 ** (31 - shift) / m0)
    return LogSoftmaxParameters(_exponentials(scaled, radius), _fixed(scaled), *back, radius)


def log_softmax_gemmlowp(
    q: Array, axis: int, p: LogSoftmaxParameters, zero_point: int, storage_min: int, storage_max: int
) -> Array:
    """Return the log-softmax of stored values, as storage with 4 fractional bits.

    The result is ``-s * d - log(S)``, rounded half away from zero, with ``d = max(q) - q`` and S the sum of ``exp(-s *
    d)``. It is ``storage_min`` if d exceeds the radius, or if ``-s * d - log(S)`` does not fit 5 integer bits.
    """
    if q.size == 0:
        return q.astype(np.int64)
    distance = _distances(q, axis)
    total = gemmlowp.divide_by_power(p.table[distance], SUM_BITS).sum(axis=axis, keepdims=True)
    log = fixed_functions.log_at_least_one(total, SUM_BITS, _DIFFERENCE_BITS)
    threshold = gemmlowp.scale_fixed_double(log - (1 << 31), p.multiplier, p.shift)
    values = gemmlowp.divide_by_power(p.scaled[distance] - log, 31 - _DIFFERENCE_BITS - 4) + zero_point
    counts = -distance > np.maximum(threshold, -p.radius - 1)
    return np.where(counts, np.clip(values, storage_min, storage_max), storage_min)


def _fixed(table: Array) -> Array:
    table.flags.writeable = False
    return table
