"""Functions that compare values: comparisons of tensors with tensors, arrays and numbers, sets, and sorted searches.

The value of an element is the number that ``np.asarray`` gives, and every comparison is exact. For a per-layer type a
real number becomes two integers, so that NumPy compares storage. Functions that return values of the operands, such as
`np.unique`, need operands with one common scale and zero point.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np

import qrt.numerics as numerics
from qrt.errors import QuantTypeError, shown
from qrt.numerics.elements import broadcast_shapes
from qrt.ops.core import Array, storage_dtype
from qrt.tensor.arrays import as_array
from qrt.tensor.calls import Tensor
from qrt.tensor.protocol.elements import exact_number, have_one_scale, no_tensor, per_layer, require_one_scale, stored
from qrt.tensor.protocol.exact import refuse_others
from qrt.tensor.protocol.results import tensor
from qrt.tensor.protocol.table import enter, enter_rules, implements
from qrt.tensor.quant_tensor import wrap_storage
from qrt.types import UniformType

_MIRRORED: dict[Any, tuple[Any, str]] = {
    np.equal: (np.equal, "True for each pair of equal values."),
    np.not_equal: (np.not_equal, "True for each pair of different values."),
    np.less: (np.greater, "True for each pair whose first value is less than the second."),
    np.less_equal: (np.greater_equal, "True for each pair whose first value is at most the second."),
    np.greater: (np.less, "True for each pair whose first value is greater than the second."),
    np.greater_equal: (np.less_equal, "True for each pair whose first value is at least the second."),
}
"""For each comparison, the comparison that gives the same result for exchanged operands."""


def compare(ufunc: Any, a: Any, b: Any) -> Any:
    """Return the bool array of a comparison ufunc on values; at least one of the operands is a tensor."""
    if not isinstance(a, Tensor):
        ufunc, a, b = _MIRRORED[ufunc][0], b, a
    if not isinstance(b, Tensor):
        number = b if isinstance(b, Real) else as_array(b)[()]
        if isinstance(number, Real) and a.type.is_per_layer:
            exact = exact_number(number)
            places = places_of(a.type, float(number) if exact is None else exact)
            if places is not None:
                return _with_number(ufunc, stored(a), *places, a.type.storage_max + 1)
    with np.errstate(invalid="ignore"):  # signaling NaNs
        return _broadcast(ufunc, *comparable([a, b]))


def _broadcast(ufunc: np.ufunc, a: Array, b: Array) -> Any:
    try:
        result = ufunc(a, b)
    except (TypeError, ArithmeticError):  # an operand that is not a number, or a Decimal NaN
        kinds = " and ".join(str(x.dtype) for x in (a, b))
        raise QuantTypeError(f"expected tensors and real numbers to compare, got the dtypes {kinds}") from None
    return result.astype(bool) if isinstance(result, np.ndarray) else np.bool_(result)


_EXACT_INTEGERS = 1 << 53
"""The magnitude up to which float64 represents every integer."""


@lru_cache(maxsize=256)
def is_strictly_increasing(t: UniformType) -> bool:
    """Return True if a greater storage integer always has a greater value, for elements of one scale and zero point.

    The conditions for a type with p bits of precision: every integer, zero point and difference is exact, no product
    with a scale overflows, and differences are at most 2^(p - 1). Then two neighbouring products are further apart than
    the rounding of both, so that they remain distinct.
    """
    half = 1 << t.expressed_type.precision - 1
    distances = [max(t.storage_max - zero, zero - t.storage_min) for zero in t.zero_points]
    if max(distances) > half or max(map(abs, (t.storage_min, t.storage_max, *t.zero_points))) > 2 * half:
        return False
    with np.errstate(over="ignore"):
        scales = numerics.round_to_format(np.array(t.scales), t.expressed_type.name)
        largest = numerics.round_to_format(scales * np.array(distances), t.expressed_type.name)
    return bool((scales > 0).all() and np.isfinite(largest).all())


def comparable(operands: Sequence[Any]) -> list[Array]:
    """Return arrays that NumPy compares exactly as the values of the operands, tensors or arrays of numbers.

    These are the storage arrays if all operands have one type with increasing values, the values themselves if they
    have one float dtype, the values as float64 if float64 represents all of them, and otherwise Python's numbers in
    arrays of objects.
    """
    if all(isinstance(x, Tensor) and is_strictly_increasing(x.type) for x in operands):
        kinds = {(x.type, x._shape) for x in operands}
        if len(kinds) == 1 or have_one_scale(operands):
            return [stored(x) for x in operands]
    arrays = [np.asarray(x) if isinstance(x, Tensor) else as_array(x) for x in operands]
    if len({x.dtype for x in arrays}) == 1 and arrays[0].dtype in _FLOATS:
        return arrays
    return [x.astype(np.float64 if all(map(_is_exact_in_float64, arrays)) else object) for x in arrays]


_FLOATS = (np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64))


def _is_exact_in_float64(array: Array) -> bool:
    """Return True if float64 represents all numbers of an array exactly."""
    if array.dtype.kind in "iub":
        if array.dtype.itemsize < 8 or not array.size:
            return True
        return max(-int(array.min()), int(array.max())) <= _EXACT_INTEGERS
    return array.dtype in _FLOATS or array.dtype.type.__module__ == "ml_dtypes"


def sortable(operands: Sequence[Any]) -> list[Array]:
    """Return `comparable` arrays. Raise QuantTypeError unless they hold only real numbers."""
    arrays = comparable(operands)
    if any(not isinstance(item, (Real, Decimal)) for x in arrays if x.dtype == object for item in x.ravel()):
        raise QuantTypeError("expected tensors and real numbers to compare, got other objects")
    return arrays


def _with_number(ufunc: np.ufunc, storage: Array, low: int, high: int, end: int) -> Any:
    """Return the comparison of a tensor's values with a number, as a comparison of its storage with integers.

    ``low`` and ``high`` are the integers that ``places_of`` returns for the number. ``end`` is above all storage: if no
    element can equal the number, storage is compared with ``end``. NumPy compares storage with integers of any size.
    """
    if ufunc is np.less or ufunc is np.greater_equal:
        return ufunc(storage, low)
    if ufunc is np.less_equal or ufunc is np.greater:
        return (np.less if ufunc is np.less_equal else np.greater_equal)(storage, high)
    if high - low > 1:  # several integers have the number's value
        return ((storage >= low) & (storage < high)) == (ufunc is np.equal)
    return ufunc(storage, low if low < high else end)


@lru_cache(maxsize=256)
def places_of(t: UniformType, number: Any) -> tuple[int, int] | None:
    """Return (least storage integer with a value of at least ``number``, least one with a greater value).

    The type is per layer. If no integer has such a value, the greatest storage integer plus 1 is returned. Return None
    if there is no order, because the number or a value is NaN.
    """
    if number != number or np.isnan(_values(t, [t.storage_min, t.storage_max, t.zero_points[0]])).any():
        return None
    integers = range(t.storage_min, t.storage_max + 1)
    low, high = (search(integers, number, key=lambda n: float(_values(t, n))) for search in (bisect_left, bisect_right))
    return low + t.storage_min, high + t.storage_min


def _values(t: UniformType, storage: Any) -> Array:
    """Return the values of storage of a per-layer type as float64.

    A greater integer never has a smaller value. A value is NaN only if both its integer and the zero point are infinite
    in the expressed type.
    """
    return numerics.dequantize(storage, t.scales[0], t.zero_points[0], t.expressed_type.name)


def _comparison(ufunc: np.ufunc, mirrored: np.ufunc) -> Callable[..., Any]:
    def rule(a: Any, b: Any, /, *, out: Array | None = None, where: Any = True, **others: Any) -> Any:
        refuse_others(others)
        result = compare(ufunc, a, b)
        return result if out is None and where is True else written(result, out, where)

    return rule


enter("order", _comparison, _MIRRORED)


def written(result: Any, out: Array | None, where: Any) -> Any:
    """Return a result as a ufunc does: in ``out`` if that is given, and only where ``where`` is true."""
    if out is None and where is True:
        return result
    no_tensor((out, where), "'out' or 'where'")
    if out is None:
        out = np.empty(broadcast_shapes(np.shape(result), np.shape(where)), bool)
    np.copyto(out, result, where=where)
    return out


@implements(np.array_equal, kind="order")
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """True if shapes and values are equal."""
    if np.shape(a1) != np.shape(a2):
        return False
    is_equal = compare(np.equal, a1, a2)
    if equal_nan:
        is_equal |= compare(np.not_equal, a1, a1) & compare(np.not_equal, a2, a2)
    return bool(is_equal.all())


@implements(np.array_equiv, kind="order")
def array_equiv(a1: Any, a2: Any) -> bool:
    """True if the values are equal after broadcasting."""
    try:
        return bool(np.all(compare(np.equal, a1, a2)))
    except ValueError:
        return False


@implements(np.isclose, kind="order")
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """``abs(a - b) <= atol + rtol * abs(b)`` of the values, in float64."""
    x, y, relative, absolute = map(_doubles, (a, b, rtol, atol))
    return np.isclose(x, y, relative, absolute, equal_nan)


def _doubles(x: Any) -> Array:
    try:
        return (np.asarray(x) if isinstance(x, Tensor) else as_array(x)).astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise QuantTypeError(f"expected real numbers, got {shown(x)}") from None


_ALLCLOSE = "True if ``np.isclose`` is true for all elements."
enter_rules("order", {np.allclose: (lambda *args, **options: bool(np.all(isclose(*args, **options))), _ALLCLOSE)})


def _around(result: Any, t: UniformType) -> Any:
    """Return a result that NumPy computed on storage, with the storage in it wrapped as a tensor.

    The storage is the whole result or the first item of a tuple, as for ``np.unique`` with indices.
    """
    if not isinstance(result, tuple):
        return wrap_storage(result, t)
    parts = wrap_storage(result[0], t), *result[1:]
    return parts if type(result) is tuple else tuple.__new__(type(result), parts)


@implements(np.unique, kind="order")
def unique(ar: Any, *flags: Any, **options: Any) -> Any:
    """The values that occur, in ascending order."""
    axis = flags[3] if len(flags) > 3 else options.get("axis")
    require_one_scale(tensor(ar, "ar"), axis)
    t = per_layer(ar.type) if axis is None else ar.type
    return _around(np.unique(stored(ar), *flags, **options), t)


def _unique(function: Any) -> Callable[..., Any]:
    def rule(x: Any) -> Any:
        require_one_scale(tensor(x, "x"), None)
        return _around(function(stored(x)), per_layer(x.type))

    return rule


_UNIQUE = {
    np.unique_all: "The values that occur, their first indices, for each element the index of its value, and counts.",
    np.unique_counts: "The values that occur, and how often each value occurs.",
    np.unique_inverse: "The values that occur, and for each element the index of its value among them.",
    np.unique_values: "The values that occur.",
}
enter("order", _unique, _UNIQUE)


def _of_two_sets(function: Any) -> Callable[..., Any]:
    def rule(ar1: Any, ar2: Any, *args: Any, **options: Any) -> Any:
        tensors = [x for x in (ar1, ar2) if isinstance(x, Tensor)]
        types = {per_layer(x.type) for x in tensors}
        if len(tensors) < 2 or len(types) > 1 or not have_one_scale(tensors):
            given = " and ".join(str(x.type) if isinstance(x, Tensor) else shown(x) for x in (ar1, ar2))
            raise QuantTypeError(
                f"'ar1' and 'ar2' must be QuantTensors of the same per-layer type, got {given}: requantize one, or both"
            )
        return _around(function(stored(ar1), stored(ar2), *args, **options), types.pop())

    return rule


_OF_TWO_SETS = {
    np.union1d: "The values that occur in at least one of two tensors, which must have the same type.",
    np.intersect1d: "The values that occur in both of two tensors, which must have the same type.",
    np.setdiff1d: "The values of one tensor that do not occur in another of its type.",
    np.setxor1d: "The values that occur in only one of two tensors, which must have the same type.",
}
enter("order", _of_two_sets, _OF_TWO_SETS)


@implements(np.isin, kind="order")
def isin(element: Any, test_elements: Any, *flags: Any, **options: Any) -> Any:
    """True for each element whose value occurs in the other operand."""
    a, b = sortable([element, test_elements])
    return np.isin(a, b, *flags, **options)


@implements(np.searchsorted, kind="order")
def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    """The indices at which values would be inserted into sorted values."""
    is_number = isinstance(a, Tensor) and a.type.is_per_layer and isinstance(v, int | float)
    places = places_of(a.type, v) if is_number and side in ("left", "right") else None
    if places is not None:
        first, end = places[side == "right"], a.type.storage_max
        at = np.array(min(first, end), storage_dtype(a.type))
        return stored(a).searchsorted(at, "left" if first <= end else "right", sorter)
    x, y = sortable([a, v])
    return np.searchsorted(x, y, side, sorter)


@implements(np.digitize, kind="order")
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The index of the bin of each value."""
    values, edges = sortable([x, bins])
    return np.digitize(values, edges, right)
