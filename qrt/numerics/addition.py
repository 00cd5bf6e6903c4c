"""Rules that round the sum or difference of two quantized values to storage.

``fixed`` is qrt's own rule. The sources of the others are:

- ``scaled20``: XNNPACK's addition;
- ``fixed_double``: the TFLite reference kernels of ADD and SUB;
- ``float32_fused``: ONNX Runtime's kernel of QLinearAdd for AVX2.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Literal

import numpy as np

from qrt.errors import QuantTypeError
from qrt.numerics.elements import broadcast_arrays
from qrt.numerics.floats import OPS
from qrt.numerics.gemmlowp import scale_fixed_double
from qrt.numerics.multipliers import ADD_FRACTION_BITS, add_multiplier, double_multipliers, rounded_ratios
from qrt.numerics.requantization import RequantParameters, requantize, round_scaled_float32
from qrt.numerics.rounding import Array
from qrt.numerics.rules import Summand, Table, ZeroPoint

SumName = Literal["fixed", "fixed_double", "fixed_double_16", "float32_fused", "scaled20"]
BLOCK: Final = 16
"""Number of elements in a block, for rules named ``..._16``; blocks begin at a tensor's first element."""
_FMA = OPS["math.fma"]("f32")
_MOST_RATIO: Final = 2.0**64
"""The bound of ratios of scales: below it, no sum of two scaled values overflows float32."""


@dataclass(frozen=True, eq=False)
class SumParameters:
    """The parameters by which add and sub scale two operands, and requantize their sum.

    Without shifts (``a_shift`` and ``b_shift``), operand a minus its zero point is multiplied by ``a_multiplier``. With
    shifts, it is shifted left by ``left``, then scaled by the rule ``fixed_double`` with ``a_multiplier`` and
    ``a_shift``. Operand b is scaled in the same way. ``end`` requantizes the sum to storage. Arrays are flat, with one
    entry per parameter index (such as a channel).
    """

    a_multiplier: Array
    b_multiplier: Array
    end: RequantParameters
    a_shift: Array = field(default_factory=partial(np.empty, 0, np.int32))
    b_shift: Array = field(default_factory=partial(np.empty, 0, np.int32))
    left: int = 0
    block: int = 0
    """Number of elements in a block, or 0. Operands in whole blocks are rounded once, others twice."""
    a_scale: Array = field(default_factory=partial(np.empty, 0, np.float32))
    b_scale: Array = field(default_factory=partial(np.empty, 0, np.float32))
    """``a_scale``, ``b_scale``: factors of the stored values, only for ``float32_fused``. ``end`` has the offset."""


def in_blocks(size: int) -> int:
    """Return how many of ``size`` elements lie in whole blocks of 16.

    Rules named ``..._16`` round these elements differently from the remaining elements.

    >>> in_blocks(35)
    32
    """
    return size // BLOCK * BLOCK


def sum_left_shift(widths: tuple[int, ...]) -> int:
    """Return the number of places by which ``fixed_double`` first shifts operands to the left: 20 or 15.

    The shift is 20 if the storage of the operands and of the result has at most 8 bits, and 15 if it has at most 16.
    """
    if max(widths) > 16:
        raise QuantTypeError(f"requant = 'fixed_double' needs storage of at most 16 bits, got {max(widths)} bits")
    return 20 if max(widths) <= 8 else 15


@dataclass(frozen=True, eq=False)
class Sums:
    """The scales and zero points of the first operand, the second operand and the result of an add or sub.

    The arrays have one entry per parameter index (such as a channel). ``bounds`` is (container, least, greatest) of the
    result's storage, ``left`` is the result of ``sum_left_shift``, and ``sign`` is 1 for add and -1 for sub.
    """

    bounds: tuple[str, int, int]
    scales: Sequence[Array]
    zero_points: Sequence[Array]
    left: int = 0
    sign: int = 1


def rounded_shift(bounds: tuple[str, int, int], zero_points: Array, places: Array) -> RequantParameters:
    """Return the parameters with which the ``fixed`` rule computes ``(sum + 2**(N-1)) >> N``, for N in ``places``.

    The multiplier is 1.
    """
    ones = np.ones(len(zero_points), np.int32)
    return RequantParameters("fixed", *bounds, zero_points, ones, places.astype(np.int32))


def form_fixed_sum(sums: Sums) -> SumParameters:
    """Round each ratio of an operand's scale to the result's scale, half to even, to 20 fractional bits."""
    *operands, to = [scales.tolist() for scales in sums.scales]
    a, b = [np.array([*map(add_multiplier, own, to)], np.int64) for own in operands]
    return SumParameters(a, b, rounded_shift(sums.bounds, sums.zero_points[2], np.full(len(a), ADD_FRACTION_BITS)))


def _float32_ratios(sums: Sums) -> list[Array]:
    return [rounded_ratios(s[:, None], sums.scales[2][:, None], np.float32) for s in sums.scales[:2]]


def form_scaled20(sums: Sums) -> SumParameters:
    """Convert the float32 ratios of the operands' scales to the result's scale to integers with a common shift.

    The shift is chosen so that the larger integer has 21 bits.
    """
    ratios = np.stack(_float32_ratios(sums))
    outside = ratios[~((ratios >= 2.0**-10) & (ratios < 2.0**8))]
    if outside.size:
        raise QuantTypeError(
            "requant = 'scaled20' needs the scale of an operand divided by that of the result in [2**-10, 2**8), got "
            f"{outside[0]}"
        )
    places = ADD_FRACTION_BITS + 1 - np.frexp(ratios.max(axis=0))[1]
    a, b = np.rint(np.ldexp(ratios.astype(np.float64), places)).astype(np.int64)
    return SumParameters(a, b, rounded_shift(sums.bounds, sums.zero_points[2], places))


def form_double_sum(sums: Sums) -> SumParameters:
    """Form ratios of scales as multipliers and shifts of the rule `fixed_double`.

    The ratios are `sa / t`, `sb / t` and `t / (so * 2^left)`, where `t` is twice the larger one of `sa` and `sb`.
    """
    a_scales, b_scales, scales = sums.scales
    with np.errstate(over="ignore"):  # what overflows makes ratios that are refused
        twice, unit = 2 * np.maximum(a_scales, b_scales), scales * 2.0**sums.left
    shifts, multipliers = [], []
    for above, below in ((a_scales, twice), (b_scales, twice), (twice, unit)):
        m0, shift = double_multipliers(rounded_ratios(above[:, None], below[:, None], np.float64))
        multipliers.append(m0)
        shifts.append(shift.astype(np.int32))
    if (shifts[2] > 0).any():
        with np.errstate(over="ignore"):
            largest = np.max(np.maximum(a_scales, b_scales) / scales)
        raise QuantTypeError(
            "requant = 'fixed_double' needs the scale of an operand divided by that of the result below "
            f"2**{sums.left - 1}, got {largest:g}"
        )
    last = multipliers[2].astype(np.int32), shifts[2]
    end = RequantParameters("fixed_double", *sums.bounds, sums.zero_points[2], *last)
    return SumParameters(multipliers[0], multipliers[1], end, shifts[0], shifts[1], sums.left)


def form_double_sum_in_blocks(sums: Sums) -> SumParameters:
    """Form ratios as for `fixed_double`. Operands in whole blocks of 16 elements are rounded only once."""
    return replace(form_double_sum(sums), block=BLOCK)


def form_fused_sum(sums: Sums) -> SumParameters:
    """Form the float32 ratios `ra` and `rb` of the operands' scales to the result's scale.

    The zero points are combined in one offset: `zo - fma(ra, za, rb*zb)`.
    """
    ra, rb = _float32_ratios(sums)
    rb = rb * np.float32(sums.sign)
    za, zb, zo = (z.astype(np.float32) for z in sums.zero_points)
    largest = max(ra.max(initial=0), np.abs(rb).max(initial=0))
    if largest >= _MOST_RATIO:
        raise QuantTypeError(
            "requant = 'float32_fused' needs the scale of an operand divided by that of the result below 2**64, got "
            f"{largest}"
        )
    unit, count = np.ones(len(zo), np.float32), len(zo)
    end = RequantParameters(
        "raw_mean", *sums.bounds, np.zeros(count, np.int64), scale_f32=unit, offset_f32=zo - _FMA(ra, za, rb * zb)
    )
    ones = np.ones(count, np.int64)
    return SumParameters(ones, ones, end, a_scale=ra, b_scale=rb)


@dataclass(frozen=True)
class SumRule:
    """One rounding rule of ``add`` and ``sub``, which the attribute ``requant`` selects by name.

    The fields are those of `numerics.rules.RequantRule`.
    """

    name: SumName
    form: Callable[[Sums], SumParameters]
    zero_point: ZeroPoint = "after"
    summand: Summand = "values"
    is_shifted: bool = False
    """True if operands are first shifted to the left, by ``sum_left_shift``."""
    block: int = 0
    """Number of elements in a block, or 0. Elements of whole blocks are rounded differently from the others."""


SUM_RULES: Final = Table(
    "rule of a sum",
    (
        (rule.name, rule)
        for rule in (
            SumRule("fixed", form_fixed_sum),
            SumRule("fixed_double", form_double_sum, is_shifted=True),
            SumRule("fixed_double_16", form_double_sum_in_blocks, is_shifted=True, block=BLOCK),
            SumRule("float32_fused", form_fused_sum, "before", "storage"),
            SumRule("scaled20", form_scaled20),
        )
    ),
)
"""The rules by their names, the values of ``requant`` in IR, in Python and in files."""


def _scale_once(q: Array, m0: Array, shift: Array, left: int) -> Array:
    """Return ``q * 2**places * m0 / 2**31`` with ``places = left + shift``, rounded to the nearest integer.

    If ``places`` is negative, ``q`` is first shifted right, rounding down.
    """
    places = left + int(shift)
    shifted = q << places if places > 0 else q >> -places
    return np.asarray((shifted * m0 + (1 << 30)) >> 31)


def requantize_sum(a: Array, b: Array, parameters: SumParameters, index: Array, sign: int = 1) -> Array:
    """Return the storage of ``a + sign * b`` for int64 arrays of stored values minus their zero points.

    For ``float32_fused`` the arrays have the stored values themselves, and the sign is part of the parameters.
    ``index`` has the parameter index of each element.
    """
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
