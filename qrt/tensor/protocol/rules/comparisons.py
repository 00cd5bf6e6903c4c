"""Comparisons of values: of tensors with tensors, with arrays of numbers and with real numbers of any size.

The value of an element is the number that ``np.asarray`` gives, and every comparison is exact. A real number
becomes two integers of the storage of a type per layer, so that NumPy compares storage.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np

import qrt.numerics as numerics
from qrt.errors import QuantTypeError, shown
from qrt.numerics.elements import broadcast_shapes
from qrt.ops.core import Array
from qrt.tensor.arrays import as_array
from qrt.tensor.calls import Tensor
from qrt.tensor.protocol.elements import no_tensor, stored
from qrt.tensor.protocol.exact import refuse_others
from qrt.tensor.protocol.keys import comparable
from qrt.tensor.protocol.table import enter, implements
from qrt.types import UniformType

_MIRRORED: dict[Any, tuple[Any, str]] = {
    np.equal: (np.equal, "Where a value is equal to the other, as bools."),
    np.not_equal: (np.not_equal, "Where a value is unequal to the other, as bools."),
    np.less: (np.greater, "Where a value is less than the other, as bools."),
    np.less_equal: (np.greater_equal, "Where a value is at most the other, as bools."),
    np.greater: (np.less, "Where a value is greater than the other, as bools."),
    np.greater_equal: (np.less_equal, "Where a value is at least the other, as bools."),
}
"""Each comparison with that of the operands in the other order."""


def compare(ufunc: Any, a: Any, b: Any) -> Any:
    """Return the array of bool that ``ufunc`` gives for the values; one of the operands is a tensor."""
    if not isinstance(a, Tensor):
        ufunc, a, b = _MIRRORED[ufunc][0], b, a
    if not isinstance(b, Tensor):
        number = b if isinstance(b, Real) else as_array(b)[()]
        if isinstance(number, Real):
            b = _exact(number)
            places = places_of(a.type, b) if a.type.is_per_layer else None
            if places is not None:
                return _with_number(ufunc, stored(a), *places, a.type.storage_max + 1)
    with np.errstate(invalid="ignore"):  # of NaNs that signal
        return _broadcast(ufunc, *comparable([a, b]))


def _broadcast(ufunc: np.ufunc, a: Array, b: Array) -> Any:
    try:
        result = ufunc(a, b)
    except (TypeError, ArithmeticError):  # of what is no number, and of a Decimal that is a NaN
        raise QuantTypeError("a tensor is compared with real numbers alone") from None
    return result.astype(bool) if isinstance(result, np.ndarray) else np.bool_(result)


# -------------------------------------------------------------------------------------------------------------- numbers


def _exact(number: Any) -> Any:
    """Return a real number as one of Python, which compares exactly with a float."""
    if isinstance(number, np.longdouble) and np.isfinite(number):
        return Fraction(*number.as_integer_ratio())
    return (
        int(number) if isinstance(number, np.integer) else float(number) if isinstance(number, np.generic) else number
    )


def _with_number(ufunc: np.ufunc, storage: Array, low: int, high: int, end: int) -> Any:
    """Return the comparison of storage below ``end`` with a number, for the integers that ``places_of`` gives for it:
    NumPy compares storage with integers of any size."""
    if ufunc is np.less or ufunc is np.greater_equal:
        return ufunc(storage, low)
    if ufunc is np.less_equal or ufunc is np.greater:
        return (np.less if ufunc is np.less_equal else np.greater_equal)(storage, high)
    if high - low > 1:  # several integers have the number's value
        return ((storage >= low) & (storage < high)) == (ufunc is np.equal)
    return ufunc(storage, low if low < high else end)


@lru_cache(maxsize=256)
def places_of(t: UniformType, number: Any) -> tuple[int, int] | None:
    """Return the first integers whose values are at least a real number, and greater than it, of a type per layer:
    one past the storage where there are none. None without an order: for a NaN, or among NaNs."""
    if number != number or np.isnan(_values(t, [t.storage_min, t.storage_max, t.zero_points[0]])).any():
        return None
    integers = range(t.storage_min, t.storage_max + 1)
    low, high = (search(integers, number, key=lambda n: float(_values(t, n))) for search in (bisect_left, bisect_right))
    return low + t.storage_min, high + t.storage_min


def _values(t: UniformType, storage: Any) -> Array:
    """Return the values of storage of a type per layer, as float64. They do not decrease; only where both the storage
    and the zero point are infinite is there a NaN among them."""
    return numerics.dequantize(storage, t.scales[0], t.zero_points[0], t.expressed_type.name)


# ------------------------------------------------------------------------------------------------------------ functions


def _comparison(ufunc: np.ufunc, mirrored: np.ufunc) -> Callable[..., Any]:
    def rule(a: Any, b: Any, /, *, out: Array | None = None, where: Any = True, **others: Any) -> Any:
        refuse_others(others)
        result = compare(ufunc, a, b)
        return result if out is None and where is True else written(result, out, where)

    return rule


enter("order", _comparison, _MIRRORED)


def written(found: Any, out: Array | None, where: Any) -> Any:
    """A result as a ufunc gives it: in ``out``, and only where it is asked for."""
    if out is None and where is True:
        return found
    no_tensor((out, where), "out or where")
    if out is None:
        out = np.empty(broadcast_shapes(np.shape(found), np.shape(where)), bool)
    np.copyto(out, found, where=where)
    return out


@implements(np.array_equal, kind="order")
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Whether shapes and values are equal."""
    if _shape(a1) != _shape(a2):
        return False
    is_equal = compare(np.equal, a1, a2)
    if equal_nan:
        is_equal |= compare(np.not_equal, a1, a1) & compare(np.not_equal, a2, a2)
    return bool(is_equal.all())


def _shape(x: Any) -> Any:
    return x._shape if isinstance(x, Tensor) else as_array(x).shape


@implements(np.array_equiv, kind="order")
def array_equiv(a1: Any, a2: Any) -> bool:
    """Whether the values are equal after broadcasting."""
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
        raise QuantTypeError(f"real numbers are needed, got {shown(x)}") from None


@implements(np.allclose, kind="order")
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    """Whether ``np.isclose`` holds everywhere."""
    return bool(np.all(isclose(a, b, rtol, atol)))
