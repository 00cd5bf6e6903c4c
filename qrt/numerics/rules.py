"""Table of requantization rules: ways to turn an exact accumulator into storage.

A rule has an arithmetic, which computes with the accumulator and integer or float parameters, and a function that forms
these parameters from scales, zero points and counts. C kernels, the lowering and `requantize` depend only on the
arithmetic.

Sources of the rules:

- ``fixed``: the affine lowering ``(acc * M0 + (1 << (N-1))) >> N``, and TOSA's single-rounding ``RESCALE``;
- ``fixed_double`` and ``reduced16``: gemmlowp and the TFLite reference kernels;
- ``half_up_twice``: ``fixed_double`` as NEON's instructions round it;
- ``float32`` (also ONNX ``QLinearMatMul``), ``fixed8``, ``raw_mean`` and ``raw_sum``: XNNPACK;
- ``float64_away``: the TFLite reference kernel of fully connected layers;
- ``integer``: the TFLite reference kernel of average pools;
- ``zero_point_first``, ``float32_divisor_first``, ``dequantized`` and the rules named ``dequantized_...``: ONNX
  Runtime.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final, Literal, NoReturn, TypeVar, get_args

import numpy as np

from qrt.errors import QuantTypeError
from qrt.numerics.multipliers import (
    byte_multipliers,
    divided_multipliers,
    double_multipliers,
    fixed_multipliers,
    reduced_multipliers,
    rounded_ratios,
)
from qrt.numerics.rounding import Array

RequantName = Literal[
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
REQUANT_RULES: Final[tuple[RequantName, ...]] = get_args(RequantName)
"""The rules that every op with an exact accumulator has."""
RequantizeName = Literal[RequantName, "fixed8", "half_up_twice_16"]
MulName = Literal[RequantName, "zero_point_first"]
AverageName = Literal[
    RequantName, "integer", "dequantized", "dequantized_rows", "dequantized_columns", "dequantized_lanes"
]
MeanName = Literal[RequantName, "float32_divisor_first", "raw_mean"]
ReduceSumName = Literal[RequantName, "raw_sum"]

Domain = Literal["integer", "exact", "float32", "float64"]
Step = Literal["multiply", "divide", "add", "shift"]
Ratio = Literal["exact", "float32", "float64", "float32_product", "float32_divisors"]
ZeroPoint = Literal["after", "before", "none"]
Summand = Literal["values", "storage", "floats"]
Form = Callable[["Factors", "RequantRule"], dict[str, Array]]
Row = TypeVar("Row")


class Table(dict[str, Row]):
    """A dictionary from names to rules or arithmetics. Looking up an unknown name raises QuantTypeError."""

    def __init__(self, kind: str, rows: Iterable[tuple[str, Row]]) -> None:
        named = tuple(rows)
        super().__init__(named)
        assert len(self) == len(named), f"two rows of the {kind} table have one name"
        self._kind = kind

    def __missing__(self, name: object) -> NoReturn:
        raise QuantTypeError(f"unknown {self._kind} {name!r}, expected one of {', '.join(self)}")


@dataclass(frozen=True)
class Arithmetic:
    """The steps that turn an accumulator into an integer, to which the zero point is added before the clamp.

    ``steps`` has (operation, name of the array of `RequantParameters` that is its operand). The domain determines what
    is rounded:

    - ``integer``: the product with M0 is shifted right. ``roundings`` has the rounding of this shift, or of two shifts
      that replace it: by 31 places, then by the remaining places.
    - ``exact``: the exact quotient is rounded.
    - ``float32`` and ``float64``: every step is rounded to this format, and the last value to an integer.
    """

    name: str
    domain: Domain
    steps: tuple[tuple[Step, str], ...]
    roundings: tuple[str, ...]
    element_scale: str = ""
    """The array of factors that dequantize elements before they are summed; the accumulator is then a float sum."""
    reads: tuple[str, ...] = field(init=False)
    """The names of the parameter arrays that have entries."""

    def __post_init__(self) -> None:
        names = [name for _, name in self.steps]
        object.__setattr__(self, "reads", (self.element_scale, *names) if self.element_scale else tuple(names))


_SHIFTED: Final[tuple[tuple[Step, str], ...]] = (("multiply", "multiplier"), ("shift", "shift"))
FIXED: Final = Arithmetic("fixed", "integer", _SHIFTED, ("half_up",))
FIXED_DOUBLE: Final = Arithmetic("fixed_double", "integer", _SHIFTED, ("half_up", "half_away"))
HALF_UP_TWICE: Final = Arithmetic("half_up_twice", "integer", _SHIFTED, ("half_up", "half_up"))
FLOAT32: Final = Arithmetic("float32", "float32", (("multiply", "scale_f32"),), ("half_even",))
FLOAT64_AWAY: Final = Arithmetic("float64_away", "float64", (("multiply", "scale_f64"),), ("half_away",))
RAW_MEAN: Final = Arithmetic("raw_mean", "float32", (("multiply", "scale_f32"), ("add", "offset_f32")), ("half_even",))
DEQUANTIZED: Final = Arithmetic(
    "dequantized",
    "float32",
    (("divide", "multiplier"), ("divide", "divisor_f32"), ("add", "offset_f32")),
    ("half_even",),
    element_scale="scale_f32",
)
INTEGER: Final = Arithmetic("integer", "exact", (("divide", "multiplier"),), ("half_away",))
ARITHMETICS: Final = Table(
    "arithmetic of a requantization",
    ((a.name, a) for a in (FIXED, FIXED_DOUBLE, HALF_UP_TWICE, FLOAT32, RAW_MEAN, FLOAT64_AWAY, INTEGER, DEQUANTIZED)),
)
"""The arithmetics by their names, which `RequantParameters.rule` and saved programs have."""


@dataclass(frozen=True)
class RequantRule:
    """A requantization rule, which the attribute ``requant`` of an op selects by name.

    ``form`` makes the parameters from real multipliers; ``ratio`` names the format to which each step of computing the
    multipliers is rounded. ``zero_point`` is ``after`` if the result's zero point is added to the rounded integer,
    ``before`` if it is added to the float, and ``none`` if it is not added.
    """

    name: str
    arithmetic: Arithmetic
    form: Form
    ratio: Ratio
    zero_point: ZeroPoint = "after"
    summand: Summand = "values"
    """Addends of an accumulator: stored values minus zero points (``values``), stored values, or dequantized floats."""
    order: str = ""
    """The order of `numerics.sum_in_order` in which floats are summed."""
    behind: str = ""
    """The rule for elements after a tensor's last whole block of `BLOCK` elements; empty if it is the same rule."""


@dataclass(frozen=True)
class Factors:
    """The numerators (``above``) and denominators (``below``) of real multipliers, arrays [parameter index, factor].

    A parameter index is, for example, a channel. Other fields are the zero points of the operand and of the result, and
    the number of elements of an average or sum.
    """

    above: Array
    below: Array
    operand_zero_points: Array
    zero_points: Array
    counts: Array | None

    @property
    def all_below(self) -> Array:
        """The denominators, with the count as the last column if there is one."""
        return self.below if self.counts is None else np.column_stack([self.below, self.counts])


def _ratios(above: Array, below: Array, ratio: Ratio) -> Array:
    """Return the real multipliers ``product of above / product of below``.

    Each step is rounded to the format ``ratio``. Two formats have other steps. With ``float32_product`` the product of
    ``above`` is computed in float32, and the division in float64. With ``float32_divisors`` the product of ``below`` is
    computed first, in float32, and the division is in float32 too.
    """
    if ratio == "float32_product":
        product = rounded_ratios(above, below[:, :0], np.float32)
        return rounded_ratios(product.astype(np.float64)[:, None], below, np.float64)
    if ratio == "float32_divisors":
        divisors = rounded_ratios(below, below[:, :0], np.float32)
        return rounded_ratios(above, divisors.astype(np.float64)[:, None], np.float32)
    return rounded_ratios(above, below, np.dtype(ratio).type)


def _integers(m0: Array, shift: Array) -> dict[str, Array]:
    return {"multiplier": m0.astype(np.int32), "shift": shift.astype(np.int32)}


def _double(f: Factors, rule: RequantRule) -> tuple[Array, Array]:
    m0, shift = double_multipliers(_ratios(f.above, f.below, rule.ratio), rule.name)
    return (m0, shift) if f.counts is None else divided_multipliers(m0, shift, f.counts)


def form_fixed(f: Factors, rule: RequantRule) -> dict[str, Array]:
    """Choose N so that the real multiplier `M` times 2^N, rounded half to even, is an integer `M0` in [2^30, 2^31)."""
    return _integers(*fixed_multipliers(f.above, f.all_below))


def form_double(f: Factors, rule: RequantRule) -> dict[str, Array]:
    """Round the real multiplier `M` half away from zero to `M0 * 2^(shift-31)`, `M0` in [2^30, 2^31).

    This is TFLite's `QuantizeMultiplier`.
    """
    return _integers(*_double(f, rule))


def form_reduced(f: Factors, rule: RequantRule) -> dict[str, Array]:
    """Round the real multiplier `M` as for `fixed_double`, and reduce `M0` to 15 significant bits.

    `M0` becomes `min((M0 + 2^15) >> 16, 2^15 - 1) << 16`, and N is `31 - shift`.
    """
    return _integers(*reduced_multipliers(*_double(f, rule)))


def form_bytes(f: Factors, rule: RequantRule) -> dict[str, Array]:
    """Round the real multiplier `M` times 2^8, half to even, to `M0`; N is 8. `M` lies between 2^-8 and 2^7."""
    return _integers(*byte_multipliers(_ratios(f.above, f.all_below, rule.ratio)))


def form_float(f: Factors, rule: RequantRule) -> dict[str, Array]:
    """Use the real multiplier `M`, a float, without conversion to an integer."""
    return {rule.arithmetic.steps[0][1]: _ratios(f.above, f.all_below, rule.ratio)}


def form_raw_mean(f: Factors, rule: RequantRule) -> dict[str, Array]:
    """Use `s`, the real multiplier `M` times `f32(1/n)` for n elements, as the multiplier of the sum.

    The offset is `f32(z) - f32(n*zi)*s`, where z is the zero point of the result and zi that of the operand. Each step
    is in float32.
    """
    assert f.counts is not None  # the rule is that of means alone
    return _form_raw(f, _ratios(f.above, f.below, rule.ratio) * (np.float32(1) / f.counts.astype(np.float32)))


def form_raw_sum(f: Factors, rule: RequantRule) -> dict[str, Array]:
    """Use the real multiplier `M`, a float, without conversion to an integer.

    The offset is `f32(z) - f32(n*zi)*M` for n elements, where z is the zero point of the result and zi that of the
    operand. Each step is in float32.
    """
    return _form_raw(f, _ratios(f.above, f.below, rule.ratio))


def _form_raw(f: Factors, scale: Array) -> dict[str, Array]:
    assert f.counts is not None  # the rules are those of means and sums alone
    raw = (f.counts.astype(np.int64) * f.operand_zero_points).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        offset = f.zero_points.astype(np.float32) - raw * scale
    if not (np.isfinite(offset) & (scale > 0)).all():
        raise QuantTypeError("quotients of the scales exceed the range of float32: use requant = 'fixed'")
    return {"scale_f32": scale, "offset_f32": offset}


def form_dequantized(f: Factors, rule: RequantRule) -> dict[str, Array]:
    """Keep the operand's scale `f32(si)`, the number n of elements and the result's scale `f32(so)` as parameters."""
    assert f.counts is not None  # the rules are those of averages alone
    none = np.ones((len(f.zero_points), 0))
    return {
        "scale_f32": _ratios(f.above, none, rule.ratio),
        "divisor_f32": _ratios(f.below, none, rule.ratio),
        "multiplier": f.counts.astype(np.int32),
    }


def form_count(f: Factors, rule: RequantRule) -> dict[str, Array]:
    """Keep only the number n of elements: the result has the scale and the zero point of the operand."""
    assert f.counts is not None  # the rule is that of averages alone
    return {"multiplier": f.counts.astype(np.int32)}


_HALF_UP_TWICE: Final = RequantRule("half_up_twice", HALF_UP_TWICE, form_double, "float64")
RULES: Final = Table(
    "requantization rule",
    (
        (rule.name, rule)
        for rule in (
            RequantRule("fixed", FIXED, form_fixed, "exact"),
            RequantRule("fixed8", FIXED, form_bytes, "float32"),
            RequantRule("reduced16", FIXED, form_reduced, "float64"),
            RequantRule("fixed_double", FIXED_DOUBLE, form_double, "float64"),
            RequantRule("fixed_double_f32", FIXED_DOUBLE, form_double, "float32"),
            RequantRule("fixed_double_f32_product", FIXED_DOUBLE, form_double, "float32_product"),
            _HALF_UP_TWICE,
            replace(_HALF_UP_TWICE, name="half_up_twice_f32_product", ratio="float32_product"),
            replace(_HALF_UP_TWICE, name="half_up_twice_16", behind="fixed_double"),
            RequantRule("float32", FLOAT32, form_float, "float32"),
            RequantRule("float32_divisor_first", FLOAT32, form_float, "float32_divisors"),
            RequantRule("float64_away", FLOAT64_AWAY, form_float, "float64"),
            RequantRule("zero_point_first", RAW_MEAN, form_float, "float32", "before"),
            RequantRule("raw_mean", RAW_MEAN, form_raw_mean, "float32", "before", "storage"),
            RequantRule("raw_sum", RAW_MEAN, form_raw_sum, "float32", "before", "storage"),
            RequantRule("integer", INTEGER, form_count, "exact", "none", "storage"),
            RequantRule("dequantized", DEQUANTIZED, form_dequantized, "float32", "before", "floats", "rows"),
            RequantRule("dequantized_rows", DEQUANTIZED, form_dequantized, "float32", "after", "floats", "rows"),
            RequantRule("dequantized_columns", DEQUANTIZED, form_dequantized, "float32", "after", "floats", "columns"),
            RequantRule("dequantized_lanes", DEQUANTIZED, form_dequantized, "float32", "after", "floats", "lanes"),
        )
    ),
)
"""The rules by their names, the values of ``requant`` in IR, in Python and in files."""
