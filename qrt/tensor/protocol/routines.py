"""Which functions NumPy's own routine computes on the storage of tensors of one type per layer: what moves elements, or
compares them. ``call_rule`` runs it without the rule, which is for all other types and arguments."""

from collections.abc import Callable
from inspect import unwrap
from typing import Any

import numpy as np

from qrt.eager.calls import set_routine
from qrt.errors import QuantValueError
from qrt.numerics.broadcasting import broadcast_shapes
from qrt.ops.core import Array
from qrt.tensor.protocol.elements import in_place_of
from qrt.tensor.protocol.table import Function, present
from qrt.types import UniformType

Numbers = Callable[[UniformType, float], tuple[Callable[..., Any] | None, Array]]
"""(what runs in place of the routine, if it is another; the array in place of the number)."""


def _on_storage(
    functions: tuple[Function, ...],
    most: int,
    names: str = "",
    places: tuple[int, ...] = (0,),
    *,
    routine: Callable[..., Any] | None = None,
    lists: int = 0,
    is_moved: bool = True,
    numbers: Numbers | None = None,
) -> None:
    """As ``set_routine``. A function's routine is what it calls itself for arrays alone, unless another is given."""
    for function in functions:
        own = getattr(*function) if isinstance(function, tuple) else unwrap(function)
        set_routine(function, routine or own, places, most, frozenset(names.split()), lists, is_moved, numbers)


def _reduction(reduce: Callable[..., Any]) -> Callable[..., Any]:
    """Over all axes, unless one is given."""
    return lambda a, axis=None, keepdims=False: reduce(a, axis, None, None, keepdims)


def _sorted(a: Array, axis: int | None = -1) -> Array:
    """NumPy counts bytes where a stable sort is asked for, 15 times faster than it sorts them by default."""
    made = a.flatten() if axis is None else a.copy()
    made.sort(-1 if axis is None else axis, "stable" if a.itemsize == 1 else None)
    return made


def _partitioned(a: Array, kth: int) -> Array:
    """Sorted whole, as NumPy's partition differs between CPUs."""
    _check_place(a, kth)
    return _sorted(a)


def _argpartitioned(a: Array, kth: int) -> Array:
    _check_place(a, kth)
    return a.argsort(-1, "stable")


def _check_place(a: Array, kth: int) -> None:
    if type(kth) is not int or not -a.shape[-1] <= kth < a.shape[-1]:
        raise QuantValueError("the rule takes it, or says what is wrong")


def _filled(a: Array, value: Array) -> Array:
    made = np.empty(a.shape, a.dtype)
    made[...] = value
    return made


def _broadcast(*arrays: Array) -> tuple[Array, ...]:
    """Views that may be read alone."""
    shape = arrays[0].shape
    if any(a.shape != shape for a in arrays):
        shape = broadcast_shapes(*[a.shape for a in arrays])
        return tuple([np.broadcast_to(a, shape) for a in arrays])
    views = tuple([a.view() for a in arrays])
    for view in views:
        view.flags.writeable = False
    return views


def _resized(a: Array, new_shape: Any) -> Array:
    if not a.size:
        raise QuantValueError("NumPy fills with zeros, which need not be the storage of 0")
    return _resize(a, new_shape)


_resize: Callable[..., Array] = unwrap(np.resize)


# ---- one tensor ----

_on_storage((np.matrix_transpose, np.linalg.matrix_transpose, np.fliplr, np.flipud), 1)
_on_storage((np.tile, np.hsplit, np.vsplit, np.dsplit, np.reshape, np.broadcast_to), 2)
_on_storage((np.transpose, np.fft.fftshift, np.fft.ifftshift), 2, "axes")
_on_storage((np.expand_dims, np.squeeze, np.flip), 2, "axis")
_on_storage((np.lib.stride_tricks.sliding_window_view,), 2, "axis")
_on_storage((np.ravel,), 2, "order")
_on_storage((np.atleast_1d, np.atleast_2d, np.atleast_3d), 1)
_on_storage((np.swapaxes, np.moveaxis, np.rollaxis), 3)
_on_storage((np.roll, np.repeat, np.take_along_axis, np.delete, np.split, np.array_split), 3, "axis")
_on_storage((np.take,), 3, "axis mode")
_on_storage((np.rot90,), 3, "k axes")
_on_storage((np.extract,), 2, "", (1,))
_on_storage((np.compress,), 3, "axis", (1,))
_on_storage((np.diagonal,), 4, "offset axis1 axis2")
_on_storage((np.linalg.diagonal,), 1, "offset")
_on_storage(present("unstack"), 1, "axis")
_on_storage((np.copy, np.conjugate, np.positive), 1, routine=np.ndarray.copy)

_on_storage((np.unique, np.unique_values), 1)
_on_storage((np.sort,), 2, "axis", routine=_sorted)
_on_storage((np.argsort,), 2, "axis", routine=lambda a, axis=-1: a.argsort(axis, "stable"), is_moved=False)
_on_storage((np.partition,), 2, routine=_partitioned)
_on_storage((np.argpartition,), 2, routine=_argpartitioned, is_moved=False)
_on_storage((np.resize,), 2, routine=_resized)
_on_storage((np.isfinite, np.isnan, np.isinf), 1, is_moved=False)
_on_storage((np.max, np.amax, np.nanmax), 2, "axis keepdims", routine=_reduction(np.maximum.reduce))
_on_storage((np.min, np.amin, np.nanmin), 2, "axis keepdims", routine=_reduction(np.minimum.reduce))
_on_storage((np.argmax, np.nanargmax), 2, "axis keepdims", routine=unwrap(np.argmax), is_moved=False)
_on_storage((np.argmin, np.nanargmin), 2, "axis keepdims", routine=unwrap(np.argmin), is_moved=False)

# ---- several ----

_on_storage((np.concatenate, np.stack), 2, "axis", lists=1)
_on_storage((np.vstack, np.hstack, np.dstack, np.column_stack), 1, lists=1)
_on_storage((np.block,), 1, lists=4)
_on_storage((np.append,), 3, "axis", (0, 1), numbers=in_place_of)
_on_storage((np.insert,), 4, "axis", (0, 2), numbers=in_place_of)
_on_storage((np.where,), 3, "", (1, 2), numbers=in_place_of)
_on_storage((np.full_like,), 2, "", (0, 1), routine=_filled, numbers=in_place_of)
_on_storage((np.broadcast_arrays,), 2, "", (0, 1), routine=_broadcast)
_on_storage((np.copyto,), 2, "", (0, 1), is_moved=False, numbers=in_place_of)
_on_storage((np.put,), 4, "mode", (0, 2), is_moved=False, numbers=in_place_of)
_on_storage((np.putmask, np.place), 3, "", (0, 2), is_moved=False, numbers=in_place_of)
_on_storage((np.put_along_axis,), 4, "axis", (0, 2), is_moved=False, numbers=in_place_of)
_on_storage((np.fill_diagonal,), 3, "wrap", (0, 1), is_moved=False, numbers=in_place_of)
_on_storage((np.choose,), 2, "mode", (1,), lists=1)

_on_storage((np.may_share_memory, np.shares_memory), 2, "", (0, 1), is_moved=False)
_on_storage((np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d, np.meshgrid), 2, "", (0, 1))
# No value is NaN, so that two names mean one thing.
for _extreme, _other in ((np.maximum, np.fmax), (np.minimum, np.fmin)):
    _on_storage((_extreme, _other), 2, "", (0, 1), routine=_extreme)
    _on_storage(((_extreme, "reduce"), (_other, "reduce")), 2, "axis keepdims", routine=_extreme.reduce)
    _on_storage(((_extreme, "accumulate"), (_other, "accumulate")), 2, "axis", routine=_extreme.accumulate)
