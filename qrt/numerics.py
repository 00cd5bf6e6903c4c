"""Every numeric rule of qrt as plain code: casts, multipliers, requantization.

This file is the contract in executable form. It is written for reading and for exactness: integers are ``int64`` or
Python integers, floats are rounded step by step. The kernels in ``csrc/`` are held to these functions bit for bit,
and IR spells the same rules as the attributes ``rounding``, ``zero_point``, ``scale`` and ``requant``.

Sources: the MLIR ``quant`` dialect for the meaning of casts; the affine lowering ``(acc * M0 + (1 << (N-1))) >> N``
and TOSA's single-rounding ``RESCALE`` for ``fixed``; gemmlowp and the TFLite reference kernels for ``fixed_double``;
XNNPACK and ONNX ``QLinearMatMul`` for ``float32``; the TFLite reference fully connected kernel for ``float64_away``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError
from qrt.floats import FORMATS

Array = npt.NDArray[Any]

ROUNDINGS: Final = ("half_even", "half_away", "toward_zero")
ZERO_POINTS: Final = ("before", "after")
SCALES: Final = ("divide", "reciprocal")
REQUANT_RULES: Final = ("fixed", "fixed_double", "float32", "float64_away")

ADD_FRACTION_BITS: Final = 20
SOFTMAX_FRACTION_BITS: Final = 30
UNIT_CARRY: Final = 0x010101
LEAST_UNIT_EXPONENT: Final = 23


# ------------------------------------------------------------------------------------------------------------- floats


_DIRECTED = {"toward_zero": (True, True), "down": (True, False), "up": (False, True)}
"""Whether a positive, and a negative, number too large becomes the largest value instead of what lies beyond it."""


def round_to_format(x: npt.ArrayLike, name: str, rounding: str = "half_even") -> Array:
    """Rounds float64 values to the builtin float format ``name`` and returns them as float64; ``rounding`` is one of
    ``ROUNDINGS``, ``down`` or ``up``.

    An operation on two values of a format done in float64 and then rounded here equals the operation rounded once, as
    long as 53 >= 2p + 2 for its precision p (Figueroa, "When is double rounding innocuous?", 1995): so for every
    builtin float up to f32. Overflow gives infinity, else NaN, else the largest value, whichever the format has
    first; where ``rounding`` is towards zero, the largest value.
    """
    form = FORMATS[name]
    values = np.asarray(x, np.float64)
    if name == "f64":
        return values
    if form.precision > 53 or not form.has_zero:
        raise QuantTypeError(f"{name} arithmetic is not executable")
    exponent = np.frexp(values)[1] - 1
    quantum = np.maximum(exponent, form.min_exponent) - (form.precision - 1)
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = np.ldexp(values, -quantum)
        directed = {"down": np.floor, "up": np.ceil}.get(rounding)
        rounded = np.ldexp(directed(scaled) if directed else round_integral(scaled, rounding), quantum)
    largest = float(form.largest)
    beyond = {"ieee": np.inf, "none": largest}.get(form.special, np.nan)
    overflow = np.copysign(beyond, values)
    above, below = _DIRECTED.get(rounding, (False, False))
    stays = np.where(np.signbit(values), below, above)
    rounded = np.where(np.abs(rounded) > largest, np.where(stays, np.copysign(largest, values), overflow), rounded)
    if form.special == "nan_zero":
        rounded = rounded + 0.0  # has no negative zero
    return np.where(np.isfinite(values), rounded, np.where(np.isinf(values), overflow, values))


def round_integral(x: npt.ArrayLike, rounding: str) -> Array:
    """Rounds float64 values to integers (still float64) by one of ``ROUNDINGS``."""
    values = np.asarray(x, np.float64)
    if rounding == "half_even":
        return np.rint(values)
    if rounding == "toward_zero":
        return np.trunc(values)
    if rounding == "half_away":
        # floor(|x| + 0.5) is wrong for 0.49999999999999994; comparing the exact fraction is not.
        whole = np.trunc(values)
        with np.errstate(invalid="ignore"):
            away = np.abs(values - whole) >= 0.5
        return np.where(away, whole + np.sign(values), whole)
    raise QuantTypeError(f"unknown rounding {rounding!r}, expected one of {', '.join(ROUNDINGS)}")


# -------------------------------------------------------------------------------------------------------------- casts


def quantize(
    x: npt.ArrayLike,
    scale: npt.ArrayLike,
    zero_point: npt.ArrayLike,
    storage_min: int,
    storage_max: int,
    expressed: str,
    *,
    rounding: str = "half_even",
    zero_point_order: str = "before",
    scale_form: str = "divide",
) -> Array:
    """``quant.qcast``: float64 values of format ``expressed`` to stored integers (int64).

    ``clamp(round(x / s + f(zp)), min, max)``, every step rounded to ``expressed``. ``zero_point_order="after"`` adds
    the zero point to the rounded integer instead (ONNX QuantizeLinear); ``scale_form="reciprocal"`` multiplies by the
    rounded ``1 / s`` (XNNPACK). NaN, of ``x`` or of a step, stores ``clamp(zp)``; infinities saturate. The comparison
    with the bounds is exact, in float64.
    """
    values = round_to_format(x, expressed)
    s = round_to_format(scale, expressed)
    zp = np.asarray(zero_point, np.int64)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if scale_form == "divide":
            scaled = round_to_format(values / s, expressed)
        elif scale_form == "reciprocal":
            scaled = round_to_format(values * round_to_format(1.0 / s, expressed), expressed)
        else:
            raise QuantTypeError(f"unknown scale form {scale_form!r}, expected one of {', '.join(SCALES)}")
        if zero_point_order == "before":
            scaled = round_to_format(scaled + round_to_format(zp, expressed), expressed)
            offset = np.zeros_like(zp)
        elif zero_point_order == "after":
            offset = zp
        else:
            raise QuantTypeError(
                f"unknown zero point order {zero_point_order!r}, expected one of {', '.join(ZERO_POINTS)}"
            )
    # Not only a NaN input: infinity times a reciprocal of 0, and infinity plus an infinite f(zp), are NaN too.
    nan = np.isnan(scaled)
    clamped = np.clip(round_integral(scaled, rounding), storage_min - offset, storage_max - offset)
    stored = np.where(nan, 0, clamped).astype(np.int64) + offset
    return np.where(nan, np.clip(zp, storage_min, storage_max), stored)


def dequantize(q: npt.ArrayLike, scale: npt.ArrayLike, zero_point: npt.ArrayLike, expressed: str) -> Array:
    """``quant.dcast``: ``(f(q) - f(zp)) * s``, every step rounded to ``expressed``; float64 values of that format. NaNs
    are the positive quiet one: ``q`` and ``zp`` were both beyond the format."""
    stored = round_to_format(np.asarray(q, np.int64), expressed)
    zp = round_to_format(np.asarray(zero_point, np.int64), expressed)
    with np.errstate(over="ignore", invalid="ignore"):
        value = round_to_format(round_to_format(stored - zp, expressed) * round_to_format(scale, expressed), expressed)
    return np.where(np.isnan(value), np.nan, value)


# -------------------------------------------------------------------------------------------------------- multipliers


def half_even_ratio(numerator: int, denominator: int) -> int:
    """``numerator / denominator`` rounded half to even, exactly."""
    quotient, remainder = divmod(numerator, denominator)
    twice = 2 * remainder
    return quotient + (twice > denominator or (twice == denominator and quotient & 1 == 1))


def fixed_multiplier(multiplier: Fraction) -> tuple[int, int]:
    """(M0, N) with ``M0 / 2**N`` nearest to ``multiplier`` and M0 in [2**30, 2**31).

    >>> fixed_multiplier(Fraction(1))
    (1073741824, 30)
    >>> fixed_multiplier(Fraction(1, 3))
    (1431655765, 32)
    """
    if multiplier <= 0:
        raise QuantTypeError(f"requantization multiplier must be positive, got {multiplier}")
    shift = 31 - (multiplier.numerator.bit_length() - multiplier.denominator.bit_length())
    if _scaled(multiplier, shift) >= 1 << 31:
        shift -= 1
    m0 = half_even_ratio(multiplier.numerator << max(shift, 0), multiplier.denominator << max(-shift, 0))
    return (m0 >> 1, shift - 1) if m0 == 1 << 31 else (m0, shift)


def _scaled(value: Fraction, shift: int) -> Fraction:
    return value * (1 << shift) if shift >= 0 else value / (1 << -shift)


def shared_fixed_multipliers(multipliers: Sequence[Fraction]) -> tuple[list[int], int]:
    """(M0 of each, N): one shared N, chosen by the largest multiplier, for sums of products with one rounding."""
    shift = fixed_multiplier(max(multipliers))[1]
    scaled = [_scaled(m, shift) for m in multipliers]
    return [half_even_ratio(s.numerator, s.denominator) for s in scaled], shift


def double_multiplier(multiplier: float) -> tuple[int, int]:
    """(M0, shift) of TFLite's ``QuantizeMultiplier``: ``multiplier = M0 / 2**31 * 2**shift``; a positive shift is to
    the left.

    M0 is rounded half away from zero. A multiplier that needs more than 31 places to the right is 0.

    >>> double_multiplier(0.75)
    (1610612736, 0)
    """
    fraction, exponent = np.frexp(multiplier)
    m0 = int(round_integral(float(fraction) * 2.0**31, "half_away"))
    if m0 == 1 << 31:
        m0, exponent = m0 >> 1, exponent + 1
    if exponent < -31:
        return 0, 0
    if exponent > 30:
        raise QuantTypeError(f"requant = 'fixed_double' needs a multiplier below 2**30, got {multiplier}")
    return m0, int(exponent)


def add_multiplier(operand_scale: float, result_scale: float) -> int:
    """Operand scale over result scale with 20 fractional bits, half to even: the multiplier of ``add`` and ``sub``."""
    ratio = Fraction(operand_scale) / Fraction(result_scale) * (1 << ADD_FRACTION_BITS)
    return half_even_ratio(ratio.numerator, ratio.denominator)


# ----------------------------------------------------------------------------------------------------- requantization


@dataclass(frozen=True, eq=False)
class RequantParameters:
    """How an exact integer accumulator becomes storage. Arrays are flat, one entry per parameter index.

    Only the arrays that ``rule`` reads are filled: ``multiplier`` and ``shift`` (int32) for ``fixed`` and
    ``fixed_double``, ``scale_f32`` for ``float32``, ``scale_f64`` for ``float64_away``; the others have no elements.
    ``zero_point`` (int64) is always there.
    """

    rule: str
    storage: str
    storage_min: int
    storage_max: int
    zero_point: Array
    multiplier: Array
    shift: Array
    scale_f32: Array
    scale_f64: Array

    def take(self, index: Array) -> "RequantParameters":
        """The parameters of each entry of ``index``, flat."""
        arrays = (self.zero_point, self.multiplier, self.shift, self.scale_f32, self.scale_f64)
        taken = [a[index.ravel()] if a.size else a for a in arrays]
        return RequantParameters(self.rule, self.storage, self.storage_min, self.storage_max, *taken)


def requant_parameters(
    rule: str,
    storage: str,
    storage_min: int,
    storage_max: int,
    numerators: Sequence[tuple[float, ...]],
    denominators: Sequence[tuple[float, ...]],
    zero_points: Sequence[int],
) -> RequantParameters:
    """Parameters for the real multipliers ``prod(numerators[i]) / prod(denominators[i])`` and output zero points.

    ``fixed`` forms the multiplier as an exact rational of the stored doubles; ``float32`` in float32, every step
    rounded, the products first (an average's count counts as a divisor); ``fixed_double`` and ``float64_away`` in
    float64 likewise.
    """
    empty = np.empty(0, np.int32)
    m0, shift, scale_f32, scale_f64 = empty, empty, np.empty(0, np.float32), np.empty(0, np.float64)
    pairs = list(zip(numerators, denominators, strict=True))
    if rule == "fixed":
        fixed = [fixed_multiplier(_exact_product(n) / _exact_product(d)) for n, d in pairs]
        m0 = np.array([f[0] for f in fixed], np.int32)
        shift = np.array([f[1] for f in fixed], np.int32)
    elif rule == "fixed_double":
        doubles = [double_multiplier(float(_rounded_ratio(n, d, np.float64))) for n, d in pairs]
        m0 = np.array([f[0] for f in doubles], np.int32)
        shift = np.array([f[1] for f in doubles], np.int32)
    elif rule == "float32":
        scale_f32 = np.array([_rounded_ratio(n, d, np.float32) for n, d in pairs], np.float32)
    elif rule == "float64_away":
        scale_f64 = np.array([_rounded_ratio(n, d, np.float64) for n, d in pairs], np.float64)
    else:
        raise QuantTypeError(f"unknown requantization rule {rule!r}, expected one of {', '.join(REQUANT_RULES)}")
    zero_point = np.array(zero_points, np.int64)
    return RequantParameters(rule, storage, storage_min, storage_max, zero_point, m0, shift, scale_f32, scale_f64)


def sum_parameters(storage: str, storage_min: int, storage_max: int, zero_point: Array) -> RequantParameters:
    """The end of ``add`` and ``sub``: ``(sum + 2**19) >> 20``, the ``fixed`` rule with a multiplier of 1 and N = 20."""
    empty = np.empty(0, np.float64)
    ones, shifts = np.ones(len(zero_point), np.int32), np.full(len(zero_point), ADD_FRACTION_BITS, np.int32)
    return RequantParameters("fixed", storage, storage_min, storage_max, zero_point, ones, shifts, empty, empty)


def _exact_product(factors: tuple[float, ...]) -> Fraction:
    product = Fraction(1)
    for factor in factors:
        product *= Fraction(factor)
    return product


def _rounded_ratio(
    numerators: tuple[float, ...], denominators: tuple[float, ...], dtype: type[np.floating[Any]]
) -> Any:
    with np.errstate(all="ignore"):
        ratio = dtype(1)
        for factor in numerators:
            ratio = ratio * dtype(factor)
        for factor in denominators:
            ratio = ratio / dtype(factor)
    if not 0 < ratio < np.inf:
        raise QuantTypeError(
            f"the scale product {' * '.join(map(str, numerators))} / {' / '.join(map(str, denominators))} "
            f"{'underflows' if ratio == 0 else 'overflows'} {np.dtype(dtype).name}: use requant = 'fixed'"
        )
    return ratio


def requantize(acc: npt.ArrayLike, parameters: RequantParameters, index: npt.ArrayLike = 0) -> Array:
    """Accumulators to storage (int64 values within the storage bounds).

    ``acc``: exact integers (any integer dtype, or object for values beyond 64 bits). ``index``: the parameter index
    of each accumulator, broadcast against ``acc``.
    """
    values, i = np.broadcast_arrays(np.asarray(acc), np.asarray(index))
    zp = parameters.zero_point[i]
    low, high = parameters.storage_min, parameters.storage_max
    if parameters.rule == "fixed":
        scaled = _scale_fixed(values, parameters.multiplier[i], parameters.shift[i])
        return np.asarray(np.clip(scaled + zp, low, high), np.int64)
    if parameters.rule == "fixed_double":
        scaled = _scale_fixed_double(values, parameters.multiplier[i], parameters.shift[i])
        return np.asarray(np.clip(scaled + zp, low, high), np.int64)
    if parameters.rule == "float32":
        with np.errstate(over="ignore"):
            scaled = values.astype(np.float32) * parameters.scale_f32[i]
        return round_scaled_float32(scaled, zp, low, high)
    with np.errstate(over="ignore"):
        product = values.astype(np.float64) * parameters.scale_f64[i]
    integral = np.clip(round_integral(product, "half_away"), low - zp, high - zp)
    return np.asarray(integral.astype(np.int64) + zp)


def _scale_fixed(acc: Array, m0: Array, shift: Array) -> Array:
    """``(acc * M0 + (1 << (N-1))) >> N``; N > 62 gives 0, N = 0 has no rounding term, N < 0 shifts left exactly."""
    ordinary = bool(np.all((shift >= 1) & (shift <= 62)))
    if ordinary and acc.dtype != object and (acc.size == 0 or max(int(acc.max()), -int(acc.min())) < 1 << 31):
        # |acc * M0| < 2**62 and the rounding term is at most 2**61: int64 holds the sum.
        n = shift.astype(np.int64)
        return (acc.astype(np.int64) * m0.astype(np.int64) + (np.int64(1) << (n - 1))) >> n
    return np.array(
        [_scale_fixed_one(int(a), int(m), int(n)) for a, m, n in zip(acc.flat, m0.flat, shift.flat, strict=True)],
        object,
    ).reshape(acc.shape)


def _scale_fixed_one(acc: int, m0: int, shift: int) -> int:
    if shift > 62:
        return 0
    if shift > 0:
        return (acc * m0 + (1 << (shift - 1))) >> shift
    return (acc * m0) << -shift


def _scale_fixed_double(acc: Array, m0: Array, shift: Array) -> Array:
    """gemmlowp's saturating rounding doubling high multiply, then a rounding divide by a power of two (half away from
    zero)."""
    limit = 1 << 31
    left = np.clip(acc.astype(object) * (1 << np.maximum(shift, 0).astype(object)), -limit, limit - 1).astype(np.int64)
    product = left * m0.astype(np.int64)
    # gemmlowp divides by truncation: the nudge makes that a rounding, half away from zero but for negative ties.
    nudged = product + np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    high = np.where(nudged >= 0, nudged >> 31, -((-nudged) >> 31))
    right = np.maximum(-shift, 0).astype(np.int64)
    mask = (np.int64(1) << right) - 1
    threshold = (mask >> 1) + (high < 0)
    return np.asarray((high >> right) + ((high & mask) > threshold))


def round_scaled_float32(scaled: Array, zero_point: Array, storage_min: int, storage_max: int) -> Array:
    """The end of the ``float32`` rule: clamp to ``[min - zp, max - zp]`` in float32, half to even, integer + zp.

    Bounds of more than 24 bits round in float32 to just outside the storage range: the integer clamp at the end
    brings them back.
    """
    low = (storage_min - zero_point).astype(np.float32)
    high = (storage_max - zero_point).astype(np.float32)
    integral = np.rint(np.minimum(np.maximum(scaled, low), high)).astype(np.int64)
    return np.clip(integral + zero_point, storage_min, storage_max)


def requantize_sum(total: Array, zero_point: Array, storage_min: int, storage_max: int) -> Array:
    """The end of ``add`` and ``sub``: a sum with 20 fractional bits, rounded half up, + zp, clamp."""
    rounded = (total + (1 << (ADD_FRACTION_BITS - 1))) >> ADD_FRACTION_BITS
    return np.asarray(np.clip(rounded + zero_point, storage_min, storage_max))


def blocks_float32(sums: Array, scale: Array, bias: Array | None, bias_scale: Array) -> Array:
    """Sub-channel ``float32``: each block's integer sum, in float32, times its scale, added in ascending block order
    without fusing; the bias last. ``sums`` is [blocks, ..., columns], ``scale`` [blocks, columns]."""
    total = np.zeros(sums.shape[1:], np.float32)
    for acc, s in zip(sums, scale, strict=True):
        total = total + acc.astype(np.float32) * s
    return total if bias is None else total + bias.astype(np.float32) * bias_scale


def blocks_fixed(sums: Array, multiplier: Array, bias: Array | None, bias_multiplier: Array) -> Array:
    """Sub-channel ``fixed``: the exact sum of ``P_b * M0_b`` and of the bias times its M0, as Python integers."""
    total = np.zeros(sums.shape[1:], object)
    for acc, m0 in zip(sums, multiplier, strict=True):
        total = total + acc.astype(object) * m0.astype(object)
    return total if bias is None else total + bias.astype(object) * bias_multiplier.astype(object)


def rescale_bias(
    bias: npt.ArrayLike, bias_scale: Sequence[float], zero_point: Sequence[int], scale: Sequence[tuple[float, float]]
) -> Array:
    """Bias storage to integers at the accumulator's scale (int64): ``S_b * (q - Z_b) / (sa * sw)``, ``fixed``,
    rounded once.

    ``bias`` is 1-D; the other three have one entry per element, ``scale`` the pairs (sa, sw). Where ``S_b`` is the
    double product ``sa * sw``, the integers pass unchanged.
    """
    values = np.asarray(bias).astype(object) - np.array(zero_point, object)
    rescaled = [
        v
        if bs == sa * sw
        else _scale_fixed_one(int(v), *fixed_multiplier(Fraction(bs) / (Fraction(sa) * Fraction(sw))))
        for v, bs, (sa, sw) in zip(values, bias_scale, scale, strict=True)
    ]
    if any(abs(v) >= 1 << 62 for v in rescaled):
        raise QuantTypeError("the bias does not fit 64 bits at the accumulator's scale")
    return np.array(rescaled, np.int64)


# --------------------------------------------------------------------------------------------------------------- units


def unit_integers(x: Array) -> tuple[Array, Array]:
    """Finite float32 values [..., n] as integers ``x / unit``, half to even, and their unit [..., 1].

    The unit is the least power of two with which no integer exceeds 0x7F7F7F (127 * 65536 + 127 * 256 + 127: three
    signed bytes hold it and its negative), but no less than 2^-126. It is 2^(e - 149), where e is the biased exponent
    of the largest magnitude, one more where its fraction exceeds 0x7EFEFE, and at least 23. Both it and its inverse
    are normal numbers of float32, so ``x * (1 / unit)`` is exact but where it is far below 1/2.

    >>> unit_integers(np.float32([1, -0.75, 0]))
    (array([ 4194304, -3145728,        0]), array([2.3841858e-07], dtype=float32))
    """
    bits = np.abs(x).view(np.int32).max(axis=-1, keepdims=True, initial=0)
    exponent = np.maximum((bits + UNIT_CARRY) >> 23, LEAST_UNIT_EXPONENT)
    unit, inverse = (np.ldexp(np.float32(1), sign * (exponent - 149)) for sign in (1, -1))
    return np.rint(x * inverse).astype(np.int64), unit


# ------------------------------------------------------------------------------------------------------------- softmax


@lru_cache(maxsize=64)
def softmax_table(scale: float, beta: float) -> Array:
    """``exp(-beta * scale * d)`` for d from 0 to 255 with 30 fractional bits (int32, read-only), correctly rounded."""
    step = Fraction(beta) * Fraction(scale)
    table = np.array([negative_exponential(step * d, SOFTMAX_FRACTION_BITS) for d in range(256)], np.int32)
    table.flags.writeable = False
    return table


def softmax(
    q: Array, axis: int, table: Array, scale: float, zero_point: int, storage_min: int, storage_max: int
) -> Array:
    """Storage of at most 8 bits to storage of the result along ``axis``: ``T[d] / (sum of T * scale)`` with
    ``d = max(q) - q``, the sum exact, the two operations in float64, half to even, + zp, clamp."""
    if q.size == 0:
        return q.astype(np.int64)
    values = q.astype(np.int64)
    entries = table.astype(np.int64)[values.max(axis=axis, keepdims=True) - values]
    with np.errstate(over="ignore"):
        scaled = entries.astype(np.float64) / (entries.sum(axis=axis, keepdims=True).astype(np.float64) * scale)
    integral = np.clip(round_integral(scaled, "half_even"), storage_min - zero_point, storage_max - zero_point)
    return np.asarray(integral.astype(np.int64) + zero_point)


def negative_exponential(x: Fraction, bits: int) -> int:
    """``exp(-x) * 2**bits`` for x from 0 up and at least 3 bits, rounded to nearest.

    The bounds of the series are narrowed until both round to one integer. They do: ``exp`` of a rational other than 0
    is no rational, so never half way between two integers (Lindemann).

    >>> negative_exponential(Fraction(1), 30)
    395007542
    """
    if x == 0:
        return 1 << bits
    if x > bits:
        return 0  # exp(-bits) * 2**bits is below 0.74**bits, and that below a half
    precision = 2 * bits + 32
    while True:
        least, greatest = _exponential_bounds(x, precision)
        low, high = (half_even_ratio(1 << (precision + bits), bound) for bound in (greatest, least))
        if low == high:
            return low
        precision *= 2


def _exponential_bounds(x: Fraction, precision: int) -> tuple[int, int]:
    """Integers below and above ``exp(x) * 2**precision``: its Taylor series, each term rounded down and up."""
    least = greatest = low = high = 1 << precision
    n = 0
    while high > 1 or n < 2 * x:
        n += 1
        low = low * x.numerator // (x.denominator * n)
        high = -(-high * x.numerator // (x.denominator * n))
        least, greatest = least + low, greatest + high
    # The last term is at most 1, and from there on each is at most half of the one before.
    return least, greatest + 1
