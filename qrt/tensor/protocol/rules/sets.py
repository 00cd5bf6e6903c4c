"""Which values there are, and where one stands among others: by value, exact. Functions whose results hold values of
the operands need one scale and zero point; the others do not."""

from collections.abc import Callable
from inspect import unwrap
from typing import Any

import numpy as np

from qrt.eager.calls import Planned, Tensor
from qrt.errors import QuantTypeError
from qrt.tensor.protocol.elements import made, storage_of, stored
from qrt.tensor.protocol.keys import have_one_scale, sortable
from qrt.tensor.protocol.results import delivered, one_tensor, per_layer, require_one_scale
from qrt.tensor.protocol.rules.comparisons import place_among
from qrt.tensor.protocol.table import implements
from qrt.tensor.quant_tensor import QuantTensor


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
    q = one_tensor("np.unique", ar)
    require_one_scale("np.unique", q, axis)
    flags: Any = (return_index, return_inverse, return_counts, axis)
    found: Any = np.unique(stored(q), *flags, **options)
    t = per_layer(q.type) if axis is None else q.type
    if isinstance(found, tuple):
        return delivered("np.unique", found[0], t), *found[1:]
    return delivered("np.unique", found, t)


def _unique(plain: Callable[..., Any], said: str) -> None:
    name, own = f"np.{plain.__name__}", unwrap(plain)

    def rule(x: Any) -> Any:
        q = one_tensor(name, x)
        require_one_scale(name, q, None)
        t, storage = per_layer(q.type), storage_of(q.type)

        def run(operands: Any) -> Any:
            found = own(storage(operands[0]))
            if isinstance(found, tuple):  # a named one, whose values come first
                return tuple.__new__(type(found), (made(found[0], t), *found[1:]))
            return made(found, t)

        return Planned((q,), run)

    rule.__doc__ = said
    implements(plain, kind="order")(rule)


_unique(np.unique_all, "The values that occur, their first indices, the inverse and the counts.")
_unique(np.unique_counts, "The values that occur, and how often each does.")
_unique(np.unique_inverse, "The values that occur, and for each element which it is.")
_unique(np.unique_values, "The values that occur.")


def _of_two_sets(plain: Callable[..., Any], said: str) -> None:
    name = f"np.{plain.__name__}"

    def rule(ar1: Any, ar2: Any, *args: Any, **options: Any) -> Any:
        tensors = [x for x in (ar1, ar2) if isinstance(x, QuantTensor)]
        types = {per_layer(x.type) for x in tensors}
        if len(tensors) < 2 or len(types) > 1 or not have_one_scale(tensors):
            raise QuantTypeError(f"{name}: two tensors of one per-layer type are needed: requantize one, or both")
        found = plain(stored(ar1), stored(ar2), *args, **options)
        if isinstance(found, tuple):
            return delivered(name, found[0], types.pop()), *found[1:]
        return delivered(name, found, types.pop())

    rule.__doc__ = said
    implements(plain, kind="order")(rule)


_of_two_sets(np.union1d, "The values that occur in one of two tensors of a type, or in both.")
_of_two_sets(np.intersect1d, "The values that occur in both of two tensors of a type.")
_of_two_sets(np.setdiff1d, "The values of one tensor that do not occur in another of its type.")
_of_two_sets(np.setxor1d, "The values that occur in one alone of two tensors of a type.")


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
    if isinstance(a, Tensor) and a.type.is_per_layer and isinstance(v, int | float):
        place = place_among(a.type, v, side)
        if place is not None:
            return stored(a).searchsorted(*place, sorter)
    x, y = sortable([a, v])
    return np.searchsorted(x, y, side, sorter)


@implements(np.digitize, kind="order")
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The bins of the values."""
    values, edges = sortable([x, bins])
    return np.digitize(values, edges, right)
