"""Comparisons by value, exact: of tensors with tensors, with arrays of numbers and with real numbers.

A real number becomes an integer of the storage for each scale, so that NumPy compares storage. Elsewhere keys compare.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import isnan, lcm
from numbers import Real
from typing import Any, Literal

import numpy as np

from qrt.eager.calls import Planned, Tensor
from qrt.eager.storage import is_packed
from qrt.errors import QuantTypeError, QuantValueError, shown
from qrt.numerics.broadcasting import broadcast_shapes
from qrt.ops.core import Array, parameter_index, parameters_of, storage_dtype
from qrt.tensor.arrays import as_array
from qrt.tensor.functions import lookup
from qrt.tensor.protocol.elements import NUMBERS, no_tensor, stored
from qrt.tensor.protocol.keys import Key, keys_of, product, rational, rationals_where, shifted, units_of
from qrt.tensor.protocol.table import implements
from qrt.tensor.protocol.tables import has_table
from qrt.tensor.quant_tensor import QuantTensor
from qrt.types import UniformType

_MIRRORED: dict[Any, Any] = {
    np.equal: np.equal,
    np.not_equal: np.not_equal,
    np.less: np.greater,
    np.less_equal: np.greater_equal,
    np.greater: np.less,
    np.greater_equal: np.less_equal,
}
_WORDS: dict[Any, str] = {
    np.equal: "equal to",
    np.not_equal: "unequal to",
    np.less: "less than",
    np.less_equal: "at most",
    np.greater: "greater than",
    np.greater_equal: "at least",
}
_STRICT: dict[Any, Any] = {
    np.less: np.less,
    np.less_equal: np.less,
    np.greater: np.greater,
    np.greater_equal: np.greater,
}
Side = Literal["left", "right"]
_BEYOND = 1 << 40
"""An integer that is greater than any storage."""


def compare(ufunc: Any, a: Any, b: Any) -> Any:
    """What ``ufunc`` says of the values, an array of bool; one of the operands is a tensor."""
    if not isinstance(a, Tensor):
        ufunc, a, b = _MIRRORED[ufunc], b, a
    if not isinstance(b, Tensor):
        if type(b) is float or type(b) is int or isinstance(b, Real):
            return _with_number(ufunc, a, b)
        number = as_array(b)[()]
        if isinstance(number, Real):
            return _with_number(ufunc, a, number)
    elif a._shape == b._shape and a.type is b.type:
        return ufunc(stored(a), stored(b))
    elif _have_one_scale(a.type, b.type):
        return _broadcast(ufunc, stored(a), stored(b))
    with np.errstate(invalid="ignore"):  # of NaNs that signal
        return of_keys(ufunc, *keys_of([a, b]))


def _have_one_scale(t: UniformType, u: UniformType) -> bool:
    return t.is_per_layer and u.is_per_layer and t.scales == u.scales and t.zero_points == u.zero_points


def of_keys(ufunc: np.ufunc, a: Key, b: Key) -> Any:
    (high, low), (other, rest) = a, b
    if isinstance(low, float) and isinstance(rest, float):
        return _broadcast(ufunc, high, other)
    is_equal = _broadcast(np.equal, high, other)
    if ufunc is np.equal:
        return is_equal & (low == rest)
    if ufunc is np.not_equal:
        return ~(is_equal & (low == rest))
    return _STRICT[ufunc](high, other) | (is_equal & ufunc(low, rest))


def _broadcast(ufunc: np.ufunc, a: Array, b: Array) -> Any:
    try:
        return ufunc(a, b)
    except ValueError:
        raise QuantValueError(f"np.{ufunc.__name__}: shapes {a.shape} and {b.shape} do not broadcast") from None
    except TypeError:  # of Python's numbers and what is no number
        raise QuantTypeError(f"np.{ufunc.__name__}: a tensor is compared with real numbers alone") from None


# -------------------------------------------------------------------------------------------------------------- numbers


def _with_number(ufunc: np.ufunc, q: Tensor, number: Any) -> Any:
    t: UniformType = q.type
    if t.is_per_layer:
        test, threshold = test_of_storage(ufunc, t, number)
        return test(stored(q), threshold)
    x = rational(number)
    if not isinstance(x, Fraction):
        return ufunc(np.zeros(q._shape), x)  # as every finite value does
    floors, is_exact = floors_of(t, x)
    index = parameter_index(t, q._shape)
    storage = stored(q)
    if ufunc in (np.equal, np.not_equal):
        is_equal = is_exact & (floors >= t.storage_min) & (floors <= t.storage_max)
        found = (storage == _of_dtype(floors, t, storage.dtype)[index]) & is_equal[index]
        return ~found if ufunc is np.not_equal else found
    if ufunc in (np.less, np.greater_equal):
        floors = floors - is_exact
    # Storage beyond the floor: `>=` and the floor as it is where some floor lies below all integers of the dtype.
    is_greater = ufunc in (np.greater, np.greater_equal)
    if floors.max() < t.storage_max:
        test = np.greater_equal if is_greater else np.less
        return test(storage, _of_dtype(floors + 1, t, storage.dtype)[index])
    if floors.min() >= t.storage_min:
        return (np.greater if is_greater else np.less_equal)(storage, _of_dtype(floors, t, storage.dtype)[index])
    return (np.greater if is_greater else np.less_equal)(storage, floors[index])


def _planned_with_number(ufunc: np.ufunc, q: Tensor, number: float) -> Planned:
    test, threshold = test_of_storage(ufunc, q.type, number)
    return Planned((q,), lambda operands: test(stored(operands[0]), threshold))


def _of_dtype(integers: Array, t: UniformType, dtype: np.dtype[Any]) -> Array:
    return np.clip(integers, t.storage_min, t.storage_max).astype(dtype)


@lru_cache(maxsize=256)
def test_of_storage(ufunc: np.ufunc, t: UniformType, number: Any) -> tuple[np.ufunc, Array]:
    """The comparison of storage, and the integer to compare it with, in the dtype of the storage: another dtype, and
    Python's integers, cost NumPy more."""
    floor, is_exact = floor_of(t.scales[0], t.zero_points[0], rational(number))
    limits = np.iinfo(storage_dtype(t))
    is_equality, is_greater = ufunc in (np.equal, np.not_equal), ufunc in (np.greater, np.greater_equal)
    if floor is not None and not is_equality:
        floor += 1 - (is_exact and ufunc in (np.less, np.greater_equal))
    if (is_exact or not is_equality) and floor is not None and limits.min <= floor <= limits.max:
        test = ufunc if is_equality else np.greater_equal if is_greater else np.less
        return test, np.array(floor, limits.dtype)
    # No storage, or all: equal to it, or beyond it. Nothing is equal to NaN, less or greater.
    is_all = ufunc is np.not_equal if is_equality else floor is not None and (floor < 0) == is_greater
    return (np.greater_equal if is_all else np.less), np.array(limits.min, limits.dtype)


def floor_of(scale: float, zero_point: int, x: Fraction | float) -> tuple[Any, bool]:
    """(the greatest storage whose value is not above the number, were there no bounds; whether it is the number).
    Infinities give an integer beyond all storage, NaN gives None."""
    if not isinstance(x, Fraction):
        return (None if isnan(x) else _BEYOND if x > 0 else -_BEYOND), False
    numerator, denominator = scale.as_integer_ratio()
    floor, rest = divmod(x.numerator * denominator, x.denominator * numerator)
    return min(max(zero_point + floor, -_BEYOND), _BEYOND), rest == 0


@lru_cache(maxsize=256)
def place_among(t: UniformType, number: Any, side: Side) -> tuple[Array, Side]:
    """What ``np.searchsorted`` is to look for in storage of a type per layer, and on which side: NaN is beyond all."""
    floor, is_exact = floor_of(t.scales[0], t.zero_points[0], rational(number))
    limits = np.iinfo(storage_dtype(t))
    if floor is None or floor > limits.max:
        return np.array(limits.max, limits.dtype), "right"
    if floor < limits.min:
        return np.array(limits.min, limits.dtype), "left"
    return np.array(floor, limits.dtype), side if is_exact else "right"


def floors_of(t: UniformType, x: Fraction) -> tuple[Array, Array]:
    """``floor_of`` for each parameter of the type, up to ``_BEYOND``."""
    scales, zero_points = np.array(t.scales, np.float64), np.array(t.zero_points, np.int64)
    units = units_of(scales)
    if units is None or not _is_double(x):
        found = [floor_of(scale, zero, x) for scale, zero in zip(t.scales, t.zero_points, strict=True)]
        return np.array([floor for floor, _ in found], np.int64), np.array([is_exact for _, is_exact in found])
    with np.errstate(over="ignore"):
        quotients = np.clip(float(x) / scales, -_BEYOND, _BEYOND)
    # A quotient is off by much less than 1: the floor is the nearest integer or the one below, as its product says.
    nearest = np.rint(quotients)
    key, limit = product(nearest, units[0]), (shifted(np.array(float(x)), units[1]), 0.0)
    floors = zero_points + nearest.astype(np.int64) - of_keys(np.greater, key, limit)
    return floors, of_keys(np.equal, key, limit)


def _is_double(x: Fraction) -> bool:
    try:
        return float(x) == x
    except OverflowError:
        return False


# ------------------------------------------------------------------------------------------------------------ functions


def _comparison(ufunc: np.ufunc) -> None:
    name = f"np.{ufunc.__name__}"

    def rule(a: Any, b: Any, /, *, out: Array | None = None, where: Any = True, **others: Any) -> Any:
        if others:
            refuse(name, others)
        if out is None and where is True:
            if type(b) in NUMBERS and isinstance(a, Tensor) and a.type.is_per_layer:
                return _planned_with_number(ufunc, a, b)
            if type(a) in NUMBERS and isinstance(b, Tensor) and b.type.is_per_layer:
                return _planned_with_number(_MIRRORED[ufunc], b, a)
        found = compare(ufunc, a, b)
        return found if out is None and where is True else written(found, out, where)

    rule.__doc__ = f"Where a value is {_WORDS[ufunc]} the other, as bools."
    implements(ufunc, kind="order")(rule)


for _ufunc in _MIRRORED:
    _comparison(_ufunc)


def refuse(name: str, arguments: Mapping[str, Any]) -> None:
    """Raises for the first argument that is given although quantized tensors do not take it."""
    for argument, value in arguments.items():
        if value is not None:
            raise QuantTypeError(f"{name}: {argument} is not supported for quantized tensors, got {shown(value)}")


def written(found: Any, out: Array | None, where: Any) -> Any:
    """A result as a ufunc gives it: in ``out``, and only where it is asked for."""
    if out is None and where is True:
        return found
    no_tensor((out, where), "out or where")
    if out is None:
        out = np.empty(broadcast_shapes(np.shape(found), np.shape(where)), bool)
    try:
        np.copyto(out, found, where=where)
    except ValueError:
        raise QuantValueError(f"out has shape {np.shape(out)}, the result has shape {np.shape(found)}") from None
    return out


@implements(np.array_equal, kind="order")
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether shapes and values are equal."""
    return _shape(a1) == _shape(a2) and bool(compare(np.equal, a1, a2).all())


def _shape(x: Any) -> Any:
    return x._shape if isinstance(x, Tensor) else as_array(x).shape


@implements(np.array_equiv, kind="order")
def array_equiv(a1: Any, a2: Any) -> bool:
    """Whether the values are equal after broadcasting."""
    try:
        return bool(np.all(compare(np.equal, a1, a2)))
    except QuantValueError:
        return False


@implements(np.isclose, kind="order")
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """``abs(a - b) <= atol + rtol * abs(b)`` of the rationals. Floats decide where their error cannot matter."""
    found = _by_intervals(a, b, rtol, atol)
    if found is not None:
        return found
    operands = a, b, rtol, atol
    with np.errstate(all="ignore"):
        x, y, relative, absolute = map(_nearest_doubles, operands)
        try:
            margin = np.abs(x - y) - (absolute + relative * np.abs(y))
        except ValueError:
            raise QuantValueError(f"np.isclose: shapes {np.shape(a)} and {np.shape(b)} do not broadcast") from None
        # No rounding is off by more than 2**-53 of this sum, or by 2**-1074; there are fewer than 16.
        sum_of_all = np.abs(x) + np.abs(y) * (1 + np.abs(relative)) + np.abs(absolute)
        is_doubtful = ~(np.abs(margin) > sum_of_all * 2.0**-49 + 2.0**-1000)
    found = np.asarray(margin < 0)
    if is_doubtful.any():
        rows = zip(*(rationals_where(each, np.asarray(is_doubtful)) for each in operands), strict=True)
        found[is_doubtful] = [_is_close(*row) for row in rows]
    return found[()]


def _by_intervals(a: Any, b: Any, rtol: Any, atol: Any) -> Any:
    """``np.isclose`` by two lookups: of the least and of the greatest storage of ``a`` that is close to an element of
    ``b``. None for operands that are no tensors per layer, the second of at most 8 bits, and for other tolerances than
    finite numbers."""
    if not (isinstance(a, QuantTensor) and isinstance(b, QuantTensor)) or {type(rtol), type(atol)} - {int, float}:
        return None
    intervals = _close_intervals(a.type, b.type, rtol, atol)
    if intervals is None:
        return None
    least, greatest = (lookup(b, table)._data for table in intervals)
    try:
        return (a._data >= least) & (a._data <= greatest)
    except ValueError:
        raise QuantValueError(f"np.isclose: shapes {a.shape} and {b.shape} do not broadcast") from None


@lru_cache(maxsize=64)
def _close_intervals(
    t: UniformType, u: UniformType, rtol: float, atol: float
) -> tuple[QuantTensor, QuantTensor] | None:
    """The ends, in storage of ``t``, of what is close to each storage of ``u``. No storage is in an interval that ends
    before it begins."""
    if is_packed(t) or not t.is_per_layer or not has_table(u) or rtol - rtol != 0 or atol - atol != 0:
        return None
    parts = [*map(Fraction, (t.scales[0], u.scales[0], atol)), Fraction(rtol) * Fraction(u.scales[0])]
    denominator = lcm(*(part.denominator for part in parts))
    step, unit, fixed, relative = (int(part * denominator) for part in parts)
    zero, (low, high), ends = t.zero_points[0], t.default_bounds, []
    for q in range(u.default_bounds[0], u.default_bounds[1] + 1):
        n = q - u.zero_points[0]
        margin = fixed + relative * abs(n)
        least, greatest = max(zero - (margin - n * unit) // step, low), min(zero + (n * unit + margin) // step, high)
        ends.append((least, greatest) if least <= greatest else (high, low))
    storage = UniformType(storage_dtype(t), u.expressed_type, 1.0)
    first, last = np.array(ends, storage_dtype(t)).T.copy()
    return QuantTensor._of(first, storage), QuantTensor._of(last, storage)


def _nearest_doubles(x: Any) -> Array:
    if isinstance(x, Tensor):
        scales, zero_points = parameters_of(x.type, x._shape)
        return (stored(x).astype(np.float64) - zero_points) * scales
    try:
        return as_array(x).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise QuantTypeError(f"np.isclose: real numbers are needed, got {shown(x)}") from None


def _is_close(a: Any, b: Any, rtol: Any, atol: Any) -> bool:
    if isinstance(a, float) or isinstance(b, float):  # NaN or infinite, which the other is not
        return False
    parts = atol, (rtol * float(b != 0) if isinstance(rtol, float) else rtol * abs(b))
    # What is infinite or NaN decides by itself: rationals beyond float's range would not be added to it.
    return bool(abs(a - b) <= sum([part for part in parts if isinstance(part, float)] or parts))


@implements(np.allclose, kind="order")
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    """Whether ``np.isclose`` holds everywhere."""
    return bool(np.all(isclose(a, b, rtol, atol)))
