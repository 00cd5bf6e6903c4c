"""How the sum or the difference of two quantized values becomes storage.

Sources: XNNPACK's addition for ``scaled20``, the TFLite reference kernels of ADD and SUB for ``fixed_double``.
ONNX Runtime's kernel of QLinearAdd for AVX2 for ``float32_fused``. ``fixed`` is qrt's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, get_args

import numpy as np

from qrt.errors import QuantTypeError
from qrt.numerics.broadcasting import broadcast_arrays
from qrt.numerics.floats import OPS
from qrt.numerics.gemmlowp import scale_fixed_double
from qrt.numerics.multipliers import ADD_FRACTION_BITS, add_multiplier, double_multipliers, rounded_ratios
from qrt.numerics.requantization import RequantParameters, requantize, round_scaled_float32
from qrt.numerics.rounding import Array

SumRule = Literal["fixed", "fixed_double", "fixed_double_16", "float32_fused", "scaled20"]
SUM_RULES: Final[tuple[SumRule, ...]] = get_args(SumRule)
BLOCK: Final = 16
"""Elements of the blocks of rules whose name ends in ``_16``, counted from the first element of a tensor on."""
_NO_SHIFT = np.empty(0, np.int32)
_NO_SCALE = np.empty(0, np.float32)
_NO_DOUBLE = np.empty(0, np.float64)
_FMA = OPS["math.fma"]("f32")
_MOST_RATIO: Final = 2.0**64
"""Below it no sum of two scaled values leaves float32."""


@dataclass(frozen=True, eq=False)
class SumParameters:
    """Each operand without its zero point is shifted ``left`` places and scaled, by a product with its multiplier, or
    by ``fixed_double`` where there are shifts. ``end`` makes storage of what they add up to. Arrays are flat, one
    entry per parameter index."""

    a_multiplier: Array
    b_multiplier: Array
    end: RequantParameters
    a_shift: Array = field(default_factory=lambda: _NO_SHIFT)
    b_shift: Array = field(default_factory=lambda: _NO_SHIFT)
    left: int = 0
    block: int = 0
    """In whole blocks of so many elements, if there are blocks, operands are rounded once, not twice."""
    a_scale: Array = field(default_factory=lambda: _NO_SCALE)
    b_scale: Array = field(default_factory=lambda: _NO_SCALE)
    """float32, for ``float32_fused`` alone: factors of storage as it is. ``end`` has the offset of their sum."""


def in_blocks(size: int) -> int:
    """How many of a tensor's elements stand in whole blocks of a rule whose name ends in ``_16``.

    >>> in_blocks(35)
    32
    """
    return size // BLOCK * BLOCK


def sum_left_shift(widths: tuple[int, ...]) -> int:
    """The places by which ``fixed_double`` first shifts operands to the left: 20 where all storage, that of the result
    too, has at most 8 bits, and 15 where it has at most 16."""
    if max(widths) > 16:
        raise QuantTypeError(f"requant = 'fixed_double' needs storage of at most 16 bits, got {max(widths)}")
    return 20 if max(widths) <= 8 else 15


def sum_parameters(
    rule: str,
    bounds: tuple[str, int, int],
    scales: Sequence[Array],
    zero_points: Array,
    left: int = 0,
    operand_zero_points: Sequence[Array] = (),
    sign: int = 1,
) -> SumParameters:
    """Parameters for the ``scales`` of the two operands and of the result, whose zero points and ``bounds`` (container,
    least and greatest storage) are given. ``left`` is that of ``sum_left_shift``, for ``fixed_double``. The zero points
    of the operands and the ``sign`` of the second are for ``float32_fused``.
    """
    a, b, to = scales
    if rule == "float32_fused":
        return _float32_fused(bounds, scales, (*operand_zero_points, zero_points), sign)
    if rule == "fixed":
        return _fixed(bounds, a, b, to, zero_points)
    if rule == "scaled20":
        return _scaled20(bounds, a, b, to, zero_points)
    if rule == "fixed_double":
        return _fixed_double(bounds, a, b, to, zero_points, left)
    if rule == "fixed_double_16":
        return replace(_fixed_double(bounds, a, b, to, zero_points, left), block=BLOCK)
    raise QuantTypeError(f"unknown rule of a sum {rule!r}, expected one of {', '.join(SUM_RULES)}")


def rounded_shift(bounds: tuple[str, int, int], zero_points: Array, places: Array) -> RequantParameters:
    """``(sum + 2**(N-1)) >> N``: the ``fixed`` rule with a multiplier of 1."""
    empty = np.empty(0, np.float64)
    ones = np.ones(len(zero_points), np.int32)
    return RequantParameters("fixed", *bounds, zero_points, ones, places.astype(np.int32), empty, empty)


def _fixed(
    bounds: tuple[str, int, int], a_scales: Array, b_scales: Array, scales: Array, zero_points: Array
) -> SumParameters:
    """Scales over that of the result with 20 fractional bits."""
    a, b = (
        np.array([add_multiplier(s, to) for s, to in zip(own.tolist(), scales.tolist(), strict=True)], np.int64)
        for own in (a_scales, b_scales)
    )
    return SumParameters(a, b, rounded_shift(bounds, zero_points, np.full(len(a), ADD_FRACTION_BITS)))


def _scaled20(
    bounds: tuple[str, int, int], a_scales: Array, b_scales: Array, scales: Array, zero_points: Array
) -> SumParameters:
    """Ratios in float32, with as many fractional bits as make the larger one an integer of 21 bits."""
    ratios = np.stack([rounded_ratios(s[:, None], scales[:, None], np.float32) for s in (a_scales, b_scales)])
    outside = ratios[~((ratios >= 2.0**-10) & (ratios < 2.0**8))]
    if outside.size:
        raise QuantTypeError(
            f"requant = 'scaled20' needs ratios of scales from 2**-10 to 2**8, 2**8 left out, got {outside[0]}"
        )
    places = ADD_FRACTION_BITS + 1 - np.frexp(ratios.max(axis=0))[1]
    a, b = np.rint(np.ldexp(ratios.astype(np.float64), places)).astype(np.int64)
    return SumParameters(a, b, rounded_shift(bounds, zero_points, places))


def _fixed_double(
    bounds: tuple[str, int, int], a_scales: Array, b_scales: Array, scales: Array, zero_points: Array, left: int
) -> SumParameters:
    """Operands over twice the larger scale; the sum over ``2**left`` result scales. All ratios are below 1."""
    with np.errstate(over="ignore"):  # what overflows makes ratios that are refused
        twice, unit = 2 * np.maximum(a_scales, b_scales), scales * 2.0**left
    shifts, multipliers = [], []
    for above, below in ((a_scales, twice), (b_scales, twice), (twice, unit)):
        m0, shift = double_multipliers(rounded_ratios(above[:, None], below[:, None], np.float64))
        multipliers.append(m0)
        shifts.append(shift.astype(np.int32))
    if (shifts[2] > 0).any():
        raise QuantTypeError(
            f"requant = 'fixed_double' needs scales of operands below 2**{left - 1} times that of the result"
        )
    empty = np.empty(0, np.float64)
    end = RequantParameters(
        "fixed_double", *bounds, zero_points, multipliers[2].astype(np.int32), shifts[2], empty, empty
    )
    return SumParameters(multipliers[0], multipliers[1], end, shifts[0], shifts[1], left)


def _float32_fused(
    bounds: tuple[str, int, int], scales: Sequence[Array], zero_points: Sequence[Array], sign: int
) -> SumParameters:
    """Ratios in float32. What all zero points add is one offset, of whose products the first is fused."""
    a, b, to = scales
    ra, rb = (rounded_ratios(s[:, None], to[:, None], np.float32) for s in (a, b))
    rb = rb * np.float32(sign)
    za, zb, zo = (z.astype(np.float32) for z in zero_points)
    largest = max(ra.max(initial=0), np.abs(rb).max(initial=0))
    if largest >= _MOST_RATIO:
        raise QuantTypeError(f"requant = 'float32_fused' needs ratios of scales below 2**64, got {largest}")
    offset = zo - _FMA(ra, za, rb * zb)
    none, count = np.empty(0, np.int32), len(zero_points[2])
    end = RequantParameters(
        "raw_mean", *bounds, np.zeros(count, np.int64), none, none, np.ones(count, np.float32), _NO_DOUBLE, offset
    )
    ones = np.ones(count, np.int64)
    return SumParameters(ones, ones, end, a_scale=ra, b_scale=rb)


def _scale_once(q: Array, m0: Array, shift: Array, left: int) -> Array:
    """What ``fixed_double`` computes with one rounding: all places are shifted before the product. Those to the right
    round down."""
    places = left + int(shift)
    shifted = q << places if places > 0 else q >> -places
    return np.asarray((shifted * m0 + (1 << 30)) >> 31)


def requantize_sum(a: Array, b: Array, parameters: SumParameters, index: Array, sign: int = 1) -> Array:
    """Storage of ``a + sign * b``, which are values without their zero points (int64); storage as it is for
    ``float32_fused``, whose parameters have the sign."""
    p = parameters
    if p.a_scale.size:
        with np.errstate(over="ignore"):
            inner = _FMA(b.astype(np.float32), p.b_scale[index], p.end.offset_f32[index])
            total = _FMA(a.astype(np.float32), p.a_scale[index], inner)
        return round_scaled_float32(total, p.end.zero_point[index], p.end.storage_min, p.end.storage_max)
    if p.block:
        a, b = broadcast_arrays(a, b)
        operands = (a, p.a_multiplier[0], p.a_shift[0]), (b, p.b_multiplier[0], p.b_shift[0])
        left, right = (_scale_once(q, m0, shift, p.left) for q, m0, shift in operands)
        whole = np.arange(a.size).reshape(a.shape) < in_blocks(a.size)
        twice = requantize_sum(a, b, replace(p, block=0), index, sign)
        return np.where(whole, requantize(left + sign * right, p.end, index), twice)
    if p.a_shift.size:
        left = scale_fixed_double(a << p.left, p.a_multiplier[index], p.a_shift[index])
        right = scale_fixed_double(b << p.left, p.b_multiplier[index], p.b_shift[index])
    else:
        left, right = a * p.a_multiplier[index], b * p.b_multiplier[index]
    return requantize(left + sign * right, p.end, index)
