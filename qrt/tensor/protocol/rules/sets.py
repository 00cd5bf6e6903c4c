"""Which values there are, and where one stands among others: by value, exact. Functions whose results hold values of
the operands need one scale and zero point; the others do not."""

from collections.abc import Callable
from typing import Any

import numpy as np

from qrt.eager.calls import Tensor
from qrt.errors import QuantTypeError
from qrt.ops.core import storage_dtype
from qrt.tensor.protocol.elements import made, per_layer, stored, tensor
from qrt.tensor.protocol.keys import have_one_scale, require_one_scale
from qrt.tensor.protocol.rules.comparisons import places_of, sortable
from qrt.tensor.protocol.table import enter, implements
from qrt.types import UniformType


def _around(result: Any, t: UniformType) -> Any:
    """Return what NumPy gives for storage, with a tensor of the values that stand first or alone."""
    if not isinstance(result, tuple):
        return made(result, t)
    parts = made(result[0], t), *result[1:]
    return parts if type(result) is tuple else tuple.__new__(type(result), parts)


@implements(np.unique, kind="order")
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
    **options: Any,
) -> Any:
    """The values that occur, in ascending order."""
    require_one_scale(tensor(ar, "ar"), axis)
    flags: Any = (return_index, return_inverse, return_counts, axis)
    t = per_layer(ar.type) if axis is None else ar.type
    return _around(np.unique(stored(ar), *flags, **options), t)


def _unique(function: Any) -> Callable[..., Any]:
    def rule(x: Any) -> Any:
        require_one_scale(tensor(x, "x"), None)
        return _around(function(stored(x)), per_layer(x.type))

    return rule


_UNIQUE = {
    np.unique_all: "The values that occur, their first indices, the inverse and the counts.",
    np.unique_counts: "The values that occur, and how often each does.",
    np.unique_inverse: "The values that occur, and for each element which it is.",
    np.unique_values: "The values that occur.",
}
enter("order", _unique, _UNIQUE)


def _of_two_sets(function: Any) -> Callable[..., Any]:
    def rule(ar1: Any, ar2: Any, *args: Any, **options: Any) -> Any:
        tensors = [x for x in (ar1, ar2) if isinstance(x, Tensor)]
        types = {per_layer(x.type) for x in tensors}
        if len(tensors) < 2 or len(types) > 1 or not have_one_scale(tensors):
            raise QuantTypeError("two tensors of one per-layer type are needed: requantize one, or both")
        return _around(function(stored(ar1), stored(ar2), *args, **options), types.pop())

    return rule


_OF_TWO_SETS = {
    np.union1d: "The values that occur in one of two tensors of a type, or in both.",
    np.intersect1d: "The values that occur in both of two tensors of a type.",
    np.setdiff1d: "The values of one tensor that do not occur in another of its type.",
    np.setxor1d: "The values that occur in one alone of two tensors of a type.",
}
enter("order", _of_two_sets, _OF_TWO_SETS)


@implements(np.isin, kind="order")
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Any:
    """Where a value of one operand occurs in the other."""
    a, b = sortable([element, test_elements])
    return np.isin(a, b, assume_unique, invert, kind=kind)


@implements(np.searchsorted, kind="order")
def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    """Where values would stand among sorted values."""
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
    """The bins of the values."""
    values, edges = sortable([x, bins])
    return np.digitize(values, edges, right)
