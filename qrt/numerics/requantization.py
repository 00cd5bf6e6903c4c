"""How an exact integer accumulator becomes storage: the rules, sums of blocks and the bias.

Sources: the affine lowering ``(acc * M0 + (1 << (N-1))) >> N`` and TOSA's single-rounding ``RESCALE`` for ``fixed``;
gemmlowp and the TFLite reference kernels for ``fixed_double`` and ``reduced16``; the same as NEON's instructions round
for ``half_up_twice``; XNNPACK for ``float32`` (as ONNX ``QLinearMatMul``), ``fixed8``, ``raw_mean`` and ``raw_sum``;
the TFLite reference fully connected kernel for ``float64_away``, its average pool for ``integer``; ONNX Runtime for
``zero_point_first``, ``float32_divisor_first``, ``dequantized`` and the rules whose names begin so.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError
from qrt.numerics.broadcasting import broadcast_arrays
from qrt.numerics.gemmlowp import scale_fixed_double, scale_half_up_twice
from qrt.numerics.multipliers import (
    byte_multipliers,
    divided_multipliers,
    double_multipliers,
    fixed_multiplier,
    fixed_multipliers,
    reduced_multipliers,
    rounded_ratios,
)
from qrt.numerics.rounding import Array, round_integral

RequantRule = Literal[
    "fixed",
    "fixed_double",
    "fixed_double_f32",
    "fixed_double_f32_product",
    "float32",
    "float64_away",
    "half_up_twice",
    "half_up_twice_f32_product",
    "reduced16",
]
REQUANT_RULES: Final[tuple[RequantRule, ...]] = get_args(RequantRule)
"""The rules of an exact accumulator."""
RequantizeRule = Literal[RequantRule, "fixed8", "half_up_twice_16"]
"""``half_up_twice_16`` is ``half_up_twice`` for whole blocks of 16 elements, and ``fixed_double`` for what is left."""
MulRule = Literal[RequantRule, "zero_point_first"]
AverageRule = Literal[
    RequantRule, "integer", "dequantized", "dequantized_rows", "dequantized_columns", "dequantized_lanes"
]
MeanRule = Literal[RequantRule, "float32_divisor_first", "raw_mean"]
ReduceSumRule = Literal[RequantRule, "raw_sum"]
_EMPTY = np.empty(0, np.float32)
_NONE = {
    "multiplier": np.empty(0, np.int32),
    "shift": np.empty(0, np.int32),
    "scale_f32": _EMPTY,
    "scale_f64": np.empty(0, np.float64),
}


@dataclass(frozen=True, eq=False)
class RequantParameters:
    """How an exact integer accumulator becomes storage. Arrays are flat, one entry per parameter index.

    ``rule`` says what is computed. Rules that differ in how they form a multiplier alone share it: ``fixed_double_f32``
    has the parameters of ``fixed_double``, ``reduced16`` and ``fixed8`` those of ``fixed``, ``raw_sum`` and
    ``zero_point_first`` those of ``raw_mean``, ``float32_divisor_first`` those of ``float32``; the rules of averages
    whose names begin with ``dequantized`` differ in the order of a sum and in where the zero point joins.

    Only the arrays that ``rule`` reads are filled: ``multiplier`` and ``shift`` (int32) for ``fixed``,
    ``fixed_double`` and ``half_up_twice``, ``scale_f32`` for ``float32`` and, with ``offset_f32``, for ``raw_mean``,
    ``scale_f64`` for ``float64_away``, ``multiplier`` as a divisor for ``integer``; for ``dequantized`` the operand's
    scale in ``scale_f32``, the result's in ``divisor_f32``, and a zero point that joins before the rounding in
    ``offset_f32``. The others have no elements. ``zero_point`` (int64) is always there; it is 0 where the rule adds
    none to an integer.
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
    offset_f32: Array = field(default_factory=lambda: _EMPTY)
    divisor_f32: Array = field(default_factory=lambda: _EMPTY)

    def take(self, index: Array) -> "RequantParameters":
        """The parameters of each entry of ``index``, flat."""
        floats = (self.scale_f32, self.scale_f64, self.offset_f32, self.divisor_f32)
        arrays = (self.zero_point, self.multiplier, self.shift, *floats)
        taken = [a[index.ravel()] if a.size else a for a in arrays]
        return RequantParameters(self.rule, self.storage, self.storage_min, self.storage_max, *taken)


@dataclass(frozen=True)
class _Factors:
    """Of each parameter index: numerators and denominators of the real multiplier [n, factors], the zero points of
    the operand and of the result, and how many elements an average has."""

    above: Array
    below: Array
    operand_zero_points: Array
    zero_points: Array
    counts: Array | None

    def ratios(self, dtype: type[np.floating[Any]]) -> Array:
        """A count is the last divisor."""
        below = self.below if self.counts is None else np.column_stack([self.below, self.counts])
        return rounded_ratios(self.above, below, dtype)

    def of_product(self, rule: str) -> tuple[Array, Array]:
        """`double` of a product of scales that is rounded to float32, each step of it, before it is divided."""
        product = rounded_ratios(self.above, self.below[:, :0], np.float32).astype(np.float64)
        return replace(self, above=product[:, None]).double(rule)

    def double(self, rule: str, dtype: type[np.floating[Any]] = np.float64) -> tuple[Array, Array]:
        """(M0, shift) as TFLite forms them. A count divides M0."""
        m0, shift = double_multipliers(rounded_ratios(self.above, self.below, dtype), rule)
        return (m0, shift) if self.counts is None else divided_multipliers(m0, shift, self.counts)


_Formed = tuple[str, dict[str, Any]]
"""The rule by which parameters are used, and its arrays."""


def _integers(rule: str, m0: Array, shift: Array) -> _Formed:
    return rule, {"multiplier": m0.astype(np.int32), "shift": shift.astype(np.int32)}


def _form_fixed(f: _Factors) -> _Formed:
    below = f.below if f.counts is None else np.column_stack([f.below, f.counts])
    return _integers("fixed", *fixed_multipliers(f.above, below))


def _form_raw(f: _Factors, divides: bool) -> _Formed:
    """The scale of a sum of raw storage, which for a mean the count divides, and what its zero points add."""
    assert f.counts is not None  # the rules are those of means and sums alone
    counts, zero = f.counts.astype(np.float32), np.zeros_like(f.zero_points)
    scale = rounded_ratios(f.above, f.below, np.float32)
    if divides:
        scale = scale * (np.float32(1) / counts)
    raw = (f.counts.astype(np.int64) * f.operand_zero_points).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        offset = f.zero_points.astype(np.float32) - raw * scale
    if not (np.isfinite(offset) & (scale > 0)).all():
        raise QuantTypeError("the scales leave float32: use requant = 'fixed'")
    return "raw_mean", {"scale_f32": scale, "offset_f32": offset, "zero_point": zero}


def _form_zero_point_first(f: _Factors) -> _Formed:
    """The zero point joins in float32, before the rounding."""
    arrays = {"scale_f32": f.ratios(np.float32), "offset_f32": f.zero_points.astype(np.float32)}
    return "raw_mean", {**arrays, "zero_point": np.zeros_like(f.zero_points)}


def _form_divisor_first(f: _Factors) -> _Formed:
    """``float32`` whose divisors are multiplied, in float32, before the division."""
    assert f.counts is not None  # the rule is that of means alone
    below = np.column_stack([f.below, f.counts])
    product = rounded_ratios(below, below[:, :0], np.float32).astype(np.float64)
    return "float32", {"scale_f32": rounded_ratios(f.above, product[:, None], np.float32)}


def _form_dequantized(f: _Factors, zero_point_first: bool = False) -> _Formed:
    """Both scales in float32, the count of an average, and the zero point, which may join before the rounding."""
    assert f.counts is not None  # the rules are those of averages alone
    none, zeros = np.ones((len(f.zero_points), 0)), np.zeros_like(f.zero_points)
    first, last = (f.zero_points, zeros) if zero_point_first else (zeros, f.zero_points)
    return "dequantized", {
        "scale_f32": rounded_ratios(f.above, none, np.float32),
        "divisor_f32": rounded_ratios(f.below, none, np.float32),
        "offset_f32": first.astype(np.float32),
        "multiplier": f.counts.astype(np.int32),
        "zero_point": last,
    }


def _form_integer(f: _Factors) -> _Formed:
    assert f.counts is not None  # the rule is that of averages alone
    return "integer", {"multiplier": f.counts.astype(np.int32), "zero_point": np.zeros_like(f.zero_points)}


_FORMS: dict[str, Callable[[_Factors], _Formed]] = {
    "fixed": _form_fixed,
    "fixed_double": lambda f: _integers("fixed_double", *f.double("fixed_double")),
    "fixed_double_f32": lambda f: _integers("fixed_double", *f.double("fixed_double_f32", np.float32)),
    "fixed_double_f32_product": lambda f: _integers("fixed_double", *f.of_product("fixed_double_f32_product")),
    "half_up_twice": lambda f: _integers("half_up_twice", *f.double("half_up_twice")),
    "half_up_twice_f32_product": lambda f: _integers("half_up_twice", *f.of_product("half_up_twice_f32_product")),
    "reduced16": lambda f: _integers("fixed", *reduced_multipliers(*f.double("reduced16"))),
    "fixed8": lambda f: _integers("fixed", *byte_multipliers(f.ratios(np.float32))),
    "float32": lambda f: ("float32", {"scale_f32": f.ratios(np.float32)}),
    "float32_divisor_first": _form_divisor_first,
    "zero_point_first": _form_zero_point_first,
    "dequantized": lambda f: _form_dequantized(f, zero_point_first=True),
    "dequantized_rows": _form_dequantized,
    "dequantized_columns": _form_dequantized,
    "dequantized_lanes": _form_dequantized,
    "float64_away": lambda f: ("float64_away", {"scale_f64": f.ratios(np.float64)}),
    "raw_mean": lambda f: _form_raw(f, divides=True),
    "raw_sum": lambda f: _form_raw(f, divides=False),
    "integer": _form_integer,
}


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
    """Parameters for the real multipliers ``prod(numerators[i]) / prod(denominators[i])``, divided by ``counts[i]``,
    and output zero points.

    ``fixed`` forms the multiplier as an exact rational of the stored doubles; ``float32`` in float32, every step
    rounded, the products first, the count last; ``fixed_double`` and ``float64_away`` in float64 likewise, where a
    count divides the M0 of ``fixed_double``. docs/numerics.md has the others. ``raw_mean`` and
    ``raw_sum`` alone read ``operand_zero_points``.
    """
    form = _FORMS.get(rule)
    if form is None:
        raise QuantTypeError(f"unknown requantization rule {rule!r}, expected one of {', '.join(REQUANT_RULES)}")
    zero_point = np.atleast_1d(np.asarray(zero_points, np.int64))
    above, below = (
        np.asarray(f, np.float64).reshape(len(zero_point), np.shape(f)[-1]) for f in (numerators, denominators)
    )
    factors = _Factors(
        above,
        below,
        np.broadcast_to(np.asarray(operand_zero_points, np.int64), zero_point.shape),
        zero_point,
        None if counts is None else np.asarray(counts),
    )
    computed, arrays = form(factors)
    filled = {"zero_point": zero_point, **_NONE, **arrays}
    return RequantParameters(computed, storage, storage_min, storage_max, **filled)


def requantize(acc: npt.ArrayLike, parameters: RequantParameters, index: npt.ArrayLike = 0) -> Array:
    """Accumulators to storage (int64 values within the storage bounds).

    ``acc``: exact integers (any integer dtype, or object for values beyond 64 bits). ``index``: the parameter index
    of each accumulator, broadcast against ``acc``.
    """
    values, i = broadcast_arrays(np.asarray(acc), np.asarray(index))
    zp = parameters.zero_point[i]
    low, high = parameters.storage_min, parameters.storage_max
    if parameters.rule in _SCALES:
        scaled = _SCALES[parameters.rule](values, parameters.multiplier[i], parameters.shift[i])
        return np.asarray(np.clip(scaled + zp, low, high), np.int64)
    if parameters.rule == "integer":
        return np.asarray(np.clip(_divide_away(values, parameters.multiplier[i]), low, high), np.int64)
    if parameters.rule in ("float32", "raw_mean"):
        with np.errstate(over="ignore"):
            scaled = values.astype(np.float32) * parameters.scale_f32[i]
            if parameters.rule == "raw_mean":
                scaled = scaled + parameters.offset_f32[i]
        return round_scaled_float32(scaled, zp, low, high)
    with np.errstate(over="ignore"):
        product = values.astype(np.float64) * parameters.scale_f64[i]
    integral = np.clip(round_integral(product, "half_away"), low - zp, high - zp)
    return np.asarray(integral.astype(np.int64) + zp)


def _divide_away(acc: Array, divisor: Array) -> Array:
    """The nearest integer to ``acc / divisor``, half away from zero."""
    wide = acc if acc.dtype == object else acc.astype(np.int64)
    quotient = (np.abs(wide) + divisor // 2) // divisor
    return np.asarray(np.where(acc < 0, -quotient, quotient))


def _scale_fixed(acc: Array, m0: Array, shift: Array) -> Array:
    """``(acc * M0 + (1 << (N-1))) >> N``; N > 62 gives 0, N = 0 has no rounding term, N < 0 shifts left exactly."""
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
    """``fixed`` of one accumulator, of any magnitude, before the zero point and the clamp."""
    if shift > 62:
        return 0
    if shift > 0:
        return (acc * m0 + (1 << (shift - 1))) >> shift
    return (acc * m0) << -shift


_SCALES: dict[str, Callable[[Array, Array, Array], Array]] = {
    "fixed": _scale_fixed,
    "fixed_double": scale_fixed_double,
    "half_up_twice": scale_half_up_twice,
}


def round_scaled_float32(scaled: Array, zero_point: Array, storage_min: int, storage_max: int) -> Array:
    """The end of the ``float32`` rule: clamp to ``[min - zp, max - zp]`` in float32, half to even, integer + zp.

    Bounds of more than 24 bits round in float32 to just outside the storage range: the integer clamp at the end
    brings them back.
    """
    low = (storage_min - zero_point).astype(np.float32)
    high = (storage_max - zero_point).astype(np.float32)
    integral = np.rint(np.minimum(np.maximum(scaled, low), high)).astype(np.int64)
    return np.clip(integral + zero_point, storage_min, storage_max)


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
