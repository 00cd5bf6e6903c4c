"""Exact results as integers, and their conversion to a tensor of i32, to a requested type, or to an array of float64.

An integer of such a result stands for the integer times its unit, a product of a few scales (`Units`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

import qrt.numerics as numerics
from qrt.errors import QuantTypeError, shown
from qrt.numerics.elements import broadcast_arrays
from qrt.numerics.sums import rounded_multiples
from qrt.ops.core import Array, Shape, check_zero_points, container, parameter_index, storage_dtype
from qrt.tensor.protocol.elements import axes_of, first_element, stored
from qrt.tensor.protocol.results import into, tensor
from qrt.tensor.quant_tensor import QuantTensor, wrap_storage
from qrt.types import FloatType, UniformType, check_integrity, parse_type
from qrt.types.parameters import BlockSizes

I32_END = 1 << 31
"""The bound of magnitudes: integers below it become an exact i32 result."""
I64_END = 1 << 62
"""The bound of magnitudes: integers below it can be requantized."""
NO_DTYPE = object()
"""The value of ``dtype`` for functions without this parameter."""
GIVE_VALUES = "give np.asarray(q), the values as floats"
"""The advice for a result that may exceed 64 bits."""
add_up: Callable[..., Any] = np.add.reduce
"""``np.add.reduce``, typed loosely because its annotations do not cover all its arguments."""


@dataclass(frozen=True)
class Units:
    """The units of an exact result: the real values of the integer 1, one for each channel or block.

    For example, the unit of a product of tensors with the scales sa and sb is sa * sb.
    """

    expressed: FloatType
    factors: tuple[tuple[float, ...], ...]
    shape: Shape = ()
    axis: int | None = None
    blocks: BlockSizes | None = None

    @staticmethod
    def of(t: UniformType, power: int = 1) -> "Units":
        """Return the units of products of ``power`` elements of type ``t``: its scales to the power ``power``."""
        factors = tuple((s,) * power for s in t.scales)
        return Units(t.expressed_type, factors, t.scales_shape, t.axis, t.block_sizes)

    def products(self) -> list[Fraction]:
        ratios = [[scale.as_integer_ratio() for scale in scales] for scales in self.factors]
        return [Fraction(prod(n for n, _ in pairs), prod(d for _, d in pairs)) for pairs in ratios]


@lru_cache(maxsize=256)  # exact products of the scales of many channels take longer than their sums
def _i32_type(units: Units, bound: int, takes_dtype: bool) -> UniformType:
    """Return the i32 type of zero point 0 whose scales are the units, for integers of a magnitude up to ``bound``.

    Raise QuantTypeError if there is no such type. The error advises to give a ``dtype``, if the function
    ``takes_dtype``.
    """
    typed = "dtype=t, a !quant.uniform type, or " if I32_END <= bound < I64_END else ""
    instead = f"give {typed}dtype=np.float64" if takes_dtype else GIVE_VALUES
    if bound >= I32_END:
        raise QuantTypeError(f"no exact i32 result type exists, because the result may reach {shown(bound)}: {instead}")
    try:
        scales = np.array([float(unit) for unit in units.products()]).reshape(units.shape)
        scale = scales if units.shape else float(scales)
        return UniformType("i32", units.expressed, scale, axis=units.axis, block_sizes=units.blocks)
    except (OverflowError, QuantTypeError) as error:
        reason = str(error).partition(": ")[2] if isinstance(error, QuantTypeError) else "the scale overflows"
        raise QuantTypeError(f"no exact result type exists ({reason or error}): {instead}") from error


def finish(acc: Any, bound: int, units: Units, dtype: Any = NO_DTYPE, out: Any = None) -> Any:
    """Return the result of a NumPy function as a tensor or an array, given its exact integers ``acc``.

    ``bound`` is the largest magnitude that the integers may have. ``dtype`` and ``out`` are the function's arguments.
    """
    acc, takes_dtype = np.asarray(acc), dtype is not NO_DTYPE
    if dtype is None or not takes_dtype:
        dtype = out.type if isinstance(out, QuantTensor) else getattr(out, "dtype", None)
    wanted = result_type(dtype)
    if isinstance(wanted, np.dtype):
        return write_floats(to_float64(acc, units), wanted, out)
    if wanted is None or (bound < I32_END and wanted == _i32_type(units, bound, takes_dtype)):
        t, storage = _i32_type(units, bound, takes_dtype), acc.astype(np.int32, copy=False)
    else:
        t, storage = wanted, requantized(acc, bound, units, wanted)
    return into(out, wrap_storage(storage, t))


def write_floats(values: Array, dtype: np.dtype[Any], out: Any) -> Any:
    """Return ``values``, or ``out`` with the values written to it.

    Raise QuantTypeError if ``out`` has another shape or dtype.
    """
    if out is None:
        return values[()]
    if not isinstance(out, np.ndarray) or out.dtype != dtype or out.shape != values.shape:
        given = f"shape {out.shape} and dtype {out.dtype}" if isinstance(out, np.ndarray) else shown(out)
        raise QuantTypeError(f"'out' must be an array of shape {values.shape} and dtype {dtype}, got {given}")
    out[...] = values
    return out


def result_type(dtype: Any) -> UniformType | np.dtype[Any] | None:
    """Return the type that a ``dtype`` argument means: float64, or a quantized type, given as a type or as text."""
    if dtype is None or isinstance(dtype, UniformType):
        return dtype
    if isinstance(dtype, str) and dtype.startswith("!"):
        return parse_type(dtype, kind=UniformType)
    try:
        if np.dtype(dtype) == np.float64:
            return np.dtype(np.float64)
    except (TypeError, ValueError):
        pass
    raise QuantTypeError(f"'dtype' must be a !quant.uniform type or np.float64, got {shown(dtype)}")


def requantized(acc: Array, bound: int, units: Units, t: UniformType) -> Array:
    """Return exact integers as storage of ``t``, by the rule ``fixed`` (docs/numerics.md, "Requantization")."""
    if t.expressed_type != units.expressed:
        raise QuantTypeError(f"'dtype' must have the expressed type of the result, {units.expressed}, got {t}")
    if bound >= I64_END:
        raise QuantTypeError(f"the result may reach {bound}, which overflows 64 bits: {GIVE_VALUES}")
    check_zero_points(t, "dtype")
    check_integrity(t, acc.shape)
    acc = acc.astype(np.int64, copy=False)
    source, target = broadcast_arrays(_index(units, acc.shape), parameter_index(t, acc.shape))
    pairs, inverse = np.unique(np.stack([source.ravel(), target.ravel()]), axis=1, return_inverse=True)
    parameters = numerics.requant_parameters(
        "fixed",
        container(t),
        t.storage_min,
        t.storage_max,
        [units.factors[i] for i in pairs[0]],
        [(t.scales[i],) for i in pairs[1]],
        [t.zero_points[i] for i in pairs[1]],
    )
    return numerics.requantize(acc, parameters, inverse.reshape(source.shape)).astype(storage_dtype(t))


def _index(units: Units, shape: Shape) -> Array:
    """Return, for each element of an exact result, the index of its unit among ``units``."""
    if len(units.factors) == 1:
        return np.zeros((1,) * len(shape), np.int64)
    like = UniformType("i8", "f64", np.ones(units.shape), axis=units.axis, block_sizes=units.blocks)
    return parameter_index(like, shape)


def to_float64(acc: Array, units: Units, divisor: Fraction | int = 1, root: bool = False) -> Array:
    """Return ``acc * units / divisor`` or, with ``root``, the square root of that; rounded once to float64."""
    ratios = [unit / divisor for unit in units.products()]
    return rounded_multiples(acc, ratios, _index(units, acc.shape) + np.zeros(acc.shape, np.int64), root)


def require_tensors(*operands: Any) -> None:
    for x in operands:
        tensor(x, "an operand")


_HARMLESS: dict[str, tuple[Any, ...]] = {"where": (True,), "initial": (0,), "subok": (True,), "order": ("K",)}


def refuse_others(others: Mapping[str, Any]) -> None:
    """Raise QuantTypeError for keywords that have no meaning for QuantTensors, unless they have their defaults."""
    for key, value in others.items():
        if value is None or any(value is default for default in (np._NoValue, *_HARMLESS.get(key, ()))):
            continue
        raise QuantTypeError(f"the argument {key!r} is not supported for a QuantTensor")


def keeps_dimensions(keepdims: Any) -> bool:
    """Return the truth of NumPy's ``keepdims``, which may be 1 or ``np.True_``: True keeps reduced axes with size 1."""
    return keepdims is not np._NoValue and bool(keepdims)


def along_first(method: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the implementation of a ufunc's method, such as `np.add.reduce`.

    The implementation calls ``function`` with the method's arguments. The axis is 0 if it is not given.
    """

    def rule(array: Any, axis: Any = 0, **options: Any) -> Any:
        return function(array, axis, **{key: value for key, value in options.items() if value is not None})

    return rule


def dtype_for(bound: int) -> Any:
    """Return the dtype in which integers of magnitude ``bound`` are computed fastest."""
    return np.int16 if bound < 1 << 15 else np.int32 if bound < I32_END else np.int64


def centred(q: QuantTensor, bound: int = I64_END) -> Array:
    """Return ``storage - zero_point`` as a new array, in a dtype that holds integers of magnitude ``bound``.

    Unsigned storage may wrap in a signed dtype of its width; the subtraction wraps back, so the difference is right.
    """
    terms: Array = stored(q).astype(dtype_for(bound))
    zeros = q.type.zero_points
    if not any(zeros):
        return terms
    centre = np.array(zeros, np.int64).astype(terms.dtype)
    np.subtract(terms, centre[parameter_index(q.type, q.shape)] if len(set(zeros)) > 1 else centre[0], terms)
    return terms


def reduced_units(t: UniformType, shape: Shape, axes: Shape, keepdims: bool, power: int = 1) -> Units:
    """Return the units of a sum over axes, whose addends are products of ``power`` elements.

    Raise QuantTypeError if scales differ along one of the axes.
    """
    if any(_differs_along(t, axis) for axis in axes):
        along = ", ".join(str(axis) for axis in axes if _differs_along(t, axis))
        raise QuantTypeError(
            f"{t if len(t.scales) < 9 else 'the type of the operand'} has scales that differ along axis {along}, "
            "which is summed over: requantize first, by qrt.requantize(q, t) with a per-layer type t"
        )
    return Units.of(t if t.is_per_layer else first_element(t, shape, axes, keepdims), power)


def reduction(q: QuantTensor, axis: Any, keepdims: Any, power: int = 1) -> tuple[Shape, bool, Units, int]:
    """Return (reduced axes, True to keep them with size 1, units of the sums, number of elements in a sum)."""
    require_tensors(q)
    axes, is_wanted = axes_of(axis, q.ndim), keeps_dimensions(keepdims)
    units = reduced_units(q.type, q.shape, axes, is_wanted, power)
    return axes, is_wanted, units, prod(q.shape[d] for d in axes)


def _differs_along(t: UniformType, axis: int) -> bool:
    if t.is_sub_channel:
        return t.scales_shape[axis] > 1
    return t.axis == axis and (len(t.scales) > 1)
