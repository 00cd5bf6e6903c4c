"""Requantization of exact accumulators by the rules of `numerics.rules`, sums of blocks, and rescaling of biases."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError
from qrt.numerics.elements import broadcast_arrays
from qrt.numerics.gemmlowp import scale_fixed_double, scale_half_up_twice
from qrt.numerics.multipliers import fixed_multiplier
from qrt.numerics.rounding import Array, round_integral
from qrt.numerics.rules import ARITHMETICS, RULES, Arithmetic, Domain, Factors


@dataclass(frozen=True, eq=False)
class RequantParameters:
    """The parameters that requantize an exact integer accumulator to storage.

    Arrays are flat, one entry per parameter index (such as a channel). ``rule`` names an `Arithmetic`, which determines
    the arrays that have entries; other arrays are empty. ``zero_point`` (int64) always has entries; they are 0 if the
    rule does not add a zero point to the rounded integer.
    """

    rule: str
    storage: str
    storage_min: int
    storage_max: int
    zero_point: Array
    multiplier: Array = field(default_factory=partial(np.empty, 0, np.int32))
    shift: Array = field(default_factory=partial(np.empty, 0, np.int32))
    scale_f32: Array = field(default_factory=partial(np.empty, 0, np.float32))
    scale_f64: Array = field(default_factory=partial(np.empty, 0, np.float64))
    offset_f32: Array = field(default_factory=partial(np.empty, 0, np.float32))
    divisor_f32: Array = field(default_factory=partial(np.empty, 0, np.float32))

    def take(self, index: Array) -> "RequantParameters":
        """Return the parameters that the array ``index`` selects. ``index`` is flattened."""
        floats = (self.scale_f32, self.scale_f64, self.offset_f32, self.divisor_f32)
        arrays = (self.zero_point, self.multiplier, self.shift, *floats)
        taken = [a[index.ravel()] if a.size else a for a in arrays]
        return RequantParameters(self.rule, self.storage, self.storage_min, self.storage_max, *taken)


def requant_parameters(
    rule: str,
    storage: str,
    storage_min: int,
    storage_max: int,
    numerators: npt.ArrayLike,
    denominators: npt.ArrayLike,
    zero_points: npt.ArrayLike,
    counts: npt.ArrayLike | None = None,
    operand_zero_points: npt.ArrayLike = 0,
) -> RequantParameters:
    """Return parameters for real multipliers and output zero points, by the rule `numerics.RULES[rule]`.

    The multipliers are ``prod(numerators[i]) / prod(denominators[i])``, divided by ``counts[i]`` if given. Only the
    rules ``raw_mean`` and ``raw_sum`` read ``operand_zero_points``.
    """
    row = RULES[rule]
    given = np.atleast_1d(np.asarray(zero_points, np.int64))
    above, below = (np.asarray(f, np.float64).reshape(len(given), np.shape(f)[-1]) for f in (numerators, denominators))
    factors = Factors(
        above,
        below,
        np.broadcast_to(np.asarray(operand_zero_points, np.int64), given.shape),
        given,
        None if counts is None else np.asarray(counts),
    )
    none = np.zeros_like(given)
    arrays = {"zero_point": given if row.zero_point == "after" else none}
    if "offset_f32" in row.arithmetic.reads:
        arrays["offset_f32"] = (given if row.zero_point == "before" else none).astype(np.float32)
    arrays |= row.form(factors, row)
    return RequantParameters(row.arithmetic.name, storage, storage_min, storage_max, **arrays)


def requantize(acc: npt.ArrayLike, parameters: RequantParameters, index: npt.ArrayLike = 0) -> Array:
    """Requantize accumulators to storage (int64 values within the storage bounds).

    ``acc`` are exact integers (of any integer dtype, or objects beyond 64 bits), or float32 sums if the arithmetic has
    an ``element_scale``. ``index`` is the parameter index of each accumulator, and broadcasts against ``acc``.
    """
    values, i = broadcast_arrays(np.asarray(acc), np.asarray(index))
    by = ARITHMETICS[parameters.rule]
    scaled = _DOMAINS[by.domain](values, parameters, i, by)
    return np.asarray(
        np.clip(scaled + parameters.zero_point[i], parameters.storage_min, parameters.storage_max), np.int64
    )


def _scale_integers(acc: Array, p: RequantParameters, index: Array, by: Arithmetic) -> Array:
    return _SHIFTS[by.roundings](acc, p.multiplier[index], p.shift[index])


def _divide_integers(acc: Array, p: RequantParameters, index: Array, by: Arithmetic) -> Array:
    """Return ``acc / divisor`` rounded to the nearest integer, half away from zero."""
    wide, divisor = acc if acc.dtype == object else acc.astype(np.int64), p.multiplier[index]
    quotient = (np.abs(wide) + divisor // 2) // divisor
    return np.asarray(np.where(acc < 0, -quotient, quotient))


def _scale_floats(acc: Array, p: RequantParameters, index: Array, by: Arithmetic) -> Array:
    """Apply the float steps of the rule, each rounded, and round the result to integers."""
    dtype = np.dtype(by.domain)
    with np.errstate(over="ignore"):
        scaled = acc.astype(dtype)
        for step, name in by.steps:
            scaled = _STEPS[step](scaled, getattr(p, name)[index].astype(dtype))
    return _round_bounded(scaled, p.zero_point[index], p.storage_min, p.storage_max, by.roundings[0])


def _round_bounded(scaled: Array, zero_point: Array, storage_min: int, storage_max: int, rounding: str) -> Array:
    low, high = ((bound - zero_point).astype(scaled.dtype) for bound in (storage_min, storage_max))
    return round_integral(np.minimum(np.maximum(scaled, low), high), rounding).astype(np.int64)


def _scale_fixed(acc: Array, m0: Array, shift: Array) -> Array:
    """Return ``(acc * M0 + (1 << (N-1))) >> N``, where N is ``shift``.

    N > 62 gives 0, N = 0 has no rounding term, N < 0 shifts left exactly.
    """
    ordinary = bool(np.all((shift >= 1) & (shift <= 62)))
    if ordinary and acc.dtype != object and (acc.size == 0 or max(int(acc.max()), -int(acc.min())) < 1 << 31):
        # |acc * M0| < 2**62 and the rounding term is at most 2**61: int64 holds the sum.
        n = shift.astype(np.int64)
        return (acc.astype(np.int64) * m0.astype(np.int64) + (np.int64(1) << (n - 1))) >> n
    return np.array(
        [scale_fixed(int(a), int(m), int(n)) for a, m, n in zip(acc.ravel(), m0.ravel(), shift.ravel(), strict=True)],
        object,
    ).reshape(acc.shape)


def scale_fixed(acc: int, m0: int, shift: int) -> int:
    """Scale one accumulator of any magnitude by the rule ``fixed``, before the zero point and the clamp."""
    if shift > 62:
        return 0
    if shift > 0:
        return (acc * m0 + (1 << (shift - 1))) >> shift
    return (acc * m0) << -shift


_SHIFTS: dict[tuple[str, ...], Callable[[Array, Array, Array], Array]] = {
    ("half_up",): _scale_fixed,
    ("half_up", "half_away"): scale_fixed_double,
    ("half_up", "half_up"): scale_half_up_twice,
}
_STEPS: dict[str, Callable[[Array, Array], Array]] = {"multiply": np.multiply, "divide": np.divide, "add": np.add}
_DOMAINS: dict[Domain, Callable[[Array, RequantParameters, Array, Arithmetic], Array]] = {
    "integer": _scale_integers,
    "exact": _divide_integers,
    "float32": _scale_floats,
    "float64": _scale_floats,
}


def round_scaled_float32(scaled: Array, zero_point: Array, storage_min: int, storage_max: int) -> Array:
    """Return the storage of a scaled float32 accumulator: the last steps of the ``float32`` rule.

    The accumulator is clamped to ``[min - zp, max - zp]`` in float32 and rounded half to even, and the zero point is
    added. Bounds of more than 24 bits may round to float32 values just outside the storage range, which a final integer
    clamp corrects.
    """
    integral = _round_bounded(scaled, zero_point, storage_min, storage_max, "half_even")
    return np.asarray(np.clip(integral + zero_point, storage_min, storage_max))


def blocks_float32(sums: Array, scale: Array, bias: Array | None, bias_scale: Array) -> Array:
    """Return the float32 sum over blocks of ``f32(sum of a block) * scale``, in ascending order of the blocks.

    Products are not fused with additions; ``bias * bias_scale`` is added last. ``sums`` is [blocks, ..., columns],
    ``scale`` [blocks, columns].
    """
    total = np.zeros(sums.shape[1:], np.float32)
    with np.errstate(over="ignore"):
        for acc, s in zip(sums, scale, strict=True):
            total = total + acc.astype(np.float32) * s
        return total if bias is None else total + bias.astype(np.float32) * bias_scale


def blocks_fixed(sums: Array, multiplier: Array, bias: Array | None, bias_multiplier: Array) -> Array:
    """Return the exact sum over blocks of ``sum of a block * M0``, plus the bias times its M0, as Python integers."""
    total = np.zeros(sums.shape[1:], object)
    for acc, m0 in zip(sums, multiplier, strict=True):
        total = total + acc.astype(object) * m0.astype(object)
    return total if bias is None else total + bias.astype(object) * bias_multiplier.astype(object)


def rescale_bias(
    bias: npt.ArrayLike, bias_scale: Sequence[float], zero_point: Sequence[int], scale: Sequence[tuple[float, float]]
) -> Array:
    """Return a stored bias q at the accumulator's scale: ``S_b * (q - Z_b) / (sa * sw)``, rounded once to int64.

    ``bias`` is 1-D. ``bias_scale``, ``zero_point`` and ``scale`` have ``S_b``, ``Z_b`` and (sa, sw) for each element.
    If ``S_b`` equals the float64 product ``sa * sw``, the result is ``q - Z_b``.
    """
    values = np.asarray(bias).astype(object) - np.array(zero_point, object)
    rescaled = [
        v if bs == sa * sw else scale_fixed(int(v), *fixed_multiplier(Fraction(bs) / (Fraction(sa) * Fraction(sw))))
        for v, bs, (sa, sw) in zip(values, bias_scale, scale, strict=True)
    ]
    if any(abs(v) >= 1 << 62 for v in rescaled):
        raise QuantTypeError("the bias overflows 64 bits when it is rescaled to the accumulator's scale")
    return np.array(rescaled, np.int64)
