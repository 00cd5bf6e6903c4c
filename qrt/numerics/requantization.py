"""How an exact integer accumulator becomes storage: the four rules, sums, blocks and the bias.

Sources: the affine lowering ``(acc * M0 + (1 << (N-1))) >> N`` and TOSA's single-rounding ``RESCALE`` for ``fixed``;
gemmlowp and the TFLite reference kernels for ``fixed_double``; XNNPACK and ONNX ``QLinearMatMul`` for ``float32``; the
TFLite reference fully connected kernel for ``float64_away``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError
from qrt.numerics.multipliers import ADD_FRACTION_BITS, double_multiplier, fixed_multiplier
from qrt.numerics.rounding import Array, round_integral

RequantRule = Literal["fixed", "fixed_double", "float32", "float64_away"]
REQUANT_RULES: Final[tuple[RequantRule, ...]] = get_args(RequantRule)


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
    multipliers, scale_f32, scale_f64 = [], np.empty(0, np.float32), np.empty(0, np.float64)
    pairs = list(zip(numerators, denominators, strict=True))
    if rule == "fixed":
        multipliers = [fixed_multiplier(_exact_ratio(n, d)) for n, d in pairs]
    elif rule == "fixed_double":
        multipliers = [double_multiplier(float(_rounded_ratio(n, d, np.float64))) for n, d in pairs]
    elif rule == "float32":
        scale_f32 = np.array([_rounded_ratio(n, d, np.float32) for n, d in pairs], np.float32)
    elif rule == "float64_away":
        scale_f64 = np.array([_rounded_ratio(n, d, np.float64) for n, d in pairs], np.float64)
    else:
        raise QuantTypeError(f"unknown requantization rule {rule!r}, expected one of {', '.join(REQUANT_RULES)}")
    zero_point = np.array(zero_points, np.int64)
    m0, shift = np.array(multipliers, np.int32).reshape(-1, 2).T.copy()
    return RequantParameters(rule, storage, storage_min, storage_max, zero_point, m0, shift, scale_f32, scale_f64)


def sum_parameters(storage: str, storage_min: int, storage_max: int, zero_point: Array) -> RequantParameters:
    """The end of ``add`` and ``sub``: ``(sum + 2**19) >> 20``, the ``fixed`` rule with a multiplier of 1 and N = 20."""
    empty = np.empty(0, np.float64)
    ones, shifts = np.ones(len(zero_point), np.int32), np.full(len(zero_point), ADD_FRACTION_BITS, np.int32)
    return RequantParameters("fixed", storage, storage_min, storage_max, zero_point, ones, shifts, empty, empty)


def _exact_ratio(numerators: tuple[float, ...], denominators: tuple[float, ...]) -> Fraction:
    """Integers are multiplied and reduced once: fractions that are multiplied are reduced each time."""
    above = [x.as_integer_ratio() for x in numerators]
    below = [x.as_integer_ratio() for x in denominators]
    return Fraction(
        prod(n for n, _ in above) * prod(d for _, d in below), prod(d for _, d in above) * prod(n for n, _ in below)
    )


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
    if parameters.rule in ("fixed", "fixed_double"):
        scale = _scale_fixed if parameters.rule == "fixed" else _scale_fixed_double
        scaled = scale(values, parameters.multiplier[i], parameters.shift[i])
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
        [scale_fixed(int(a), int(m), int(n)) for a, m, n in zip(acc.flat, m0.flat, shift.flat, strict=True)],
        object,
    ).reshape(acc.shape)


def scale_fixed(acc: int, m0: int, shift: int) -> int:
    """``fixed`` of one accumulator, of any magnitude, before the zero point and the clamp."""
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
    with np.errstate(over="ignore"):
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
        v if bs == sa * sw else scale_fixed(int(v), *fixed_multiplier(Fraction(bs) / (Fraction(sa) * Fraction(sw))))
        for v, bs, (sa, sw) in zip(values, bias_scale, scale, strict=True)
    ]
    if any(abs(v) >= 1 << 62 for v in rescaled):
        raise QuantTypeError("the bias does not fit 64 bits at the accumulator's scale")
    return np.array(rescaled, np.int64)
