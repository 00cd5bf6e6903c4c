"""Functions that move the elements of one tensor without changing their type.

NumPy's own function moves the storage. If scales or zero points vary, the type of the result depends on how the
function moves the axes. Its entry in the table describes the move in one of three ways: as an order of axes, as an
equivalent index, or as the positions that are taken along each axis.
"""

from collections.abc import Callable, Mapping
from inspect import signature
from operator import index
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from qrt.errors import QuantValueError, shown
from qrt.numerics.elements import broadcast_shapes
from qrt.ops.core import Array
from qrt.ops.indexing import Selection, indexed_element, selected_element
from qrt.ops.movement import reshaped_element, transposed_element
from qrt.tensor.protocol.elements import ALL, broadcast, flat_element, no_tensor, refuse_other_tensors, stored, truth
from qrt.tensor.protocol.results import filled, into, tensor
from qrt.tensor.protocol.table import enter, enter_rules, implements
from qrt.tensor.quant_tensor import QuantTensor, wrap_storage
from qrt.types import UniformType

ElementOf = Callable[..., UniformType]
"""A function that returns the result's type, given a tensor, its moved storage, and all other arguments of the call."""


def _moved(function: Any, element_of: ElementOf) -> Callable[..., QuantTensor]:
    """Return the implementation of a NumPy function that moves the storage of its first argument, the tensor."""

    def rule(*args: Any, **kwargs: Any) -> QuantTensor:
        if not args:
            name = next(iter(signature(function).parameters))
            args, kwargs = (kwargs[name],), {key: value for key, value in kwargs.items() if key != name}
        refuse_other_tensors(args, kwargs)
        q, source = tensor(args[0], "the operand"), stored(args[0])
        data = function(source, *args[1:], **kwargs)
        t = q.type if q.type.is_per_layer else element_of(q, data, *args[1:], **kwargs)
        return wrap_storage(data, t, source)

    return rule


def _order_of(function: Any) -> ElementOf:
    """Return the function that computes the result type of ``function``, which permutes axes.

    The returned function applies ``function`` to an empty array of shape (0, 1, 2, ...). The shape of the result shows
    the order of the axes.
    """
    return lambda q, data, *args, **options: transposed_element(
        q.type, function(np.empty(range(q.ndim)), *args, **options).shape
    )


def _key_of(key: Callable[..., Any]) -> ElementOf:
    """Return the function that computes the result type of a NumPy function, given an equivalent index.

    ``key`` takes the arguments of the NumPy function. It returns the index with which ``q[key(q, ...)]`` is the result.
    """
    return lambda q, data, *args, **options: indexed_element(q.type, q.shape, key(q, *args, **options))


def _expanding(q: QuantTensor, axis: Any) -> Any:
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    places = normalize_axis_tuple(axis, q.ndim + count)
    return tuple(None if i in places else ALL for i in range(q.ndim + count))


def _squeezing(q: QuantTensor, axis: Any = None) -> Any:
    gone = [i for i, n in enumerate(q.shape) if n == 1] if axis is None else normalize_axis_tuple(axis, q.ndim)
    return tuple(0 if i in gone else ALL for i in range(q.ndim))


_ORDERS = {
    np.transpose: "A view with the axes in another order.",
    np.swapaxes: "A view with two axes interchanged.",
    np.matrix_transpose: "A view with the last two axes interchanged.",
    np.linalg.matrix_transpose: "A view with the last two axes interchanged.",
    np.moveaxis: "A view with axes moved to other places.",
    np.rollaxis: "A view with an axis moved to the position before the axis ``start``.",
}
enter("moves", lambda function: _moved(function, _order_of(function)), _ORDERS)


def _atleast(function: Any, keys: Mapping[int, Any]) -> Callable[..., Any]:
    """Return the implementation of a NumPy function that adds axes to tensors of low rank.

    Arrays are passed to NumPy.
    """

    def rule(*arys: Any) -> Any:
        results = [
            (x[keys[x.ndim]] if x.ndim in keys else x) if isinstance(x, QuantTensor) else function(x) for x in arys
        ]
        return results[0] if len(results) == 1 else tuple(results)

    return rule


_AT_LEAST = {
    np.atleast_1d: ({0: None}, "A view with at least 1 axis of each argument."),
    np.atleast_2d: (
        {0: (None, None), 1: (None, ALL)},
        "A view with at least 2 axes of each argument; new axes come first.",
    ),
    np.atleast_3d: (
        {0: (None,) * 3, 1: (None, ALL, None), 2: (..., None)},
        "A view with at least 3 axes of each argument.",
    ),
}
enter("moves", _atleast, _AT_LEAST)


def along(function: Any) -> ElementOf:
    """Return the function that computes the result type of ``function``, such as `np.flip` or `np.roll`.

    ``function`` must move the elements of all lines along an axis in the same order. It is applied to (0, 1, 2, ...)
    along the axis of the channels or blocks, which shows their new order. If ``function`` adds axes, they must come
    first.
    """

    def element_of(q: QuantTensor, data: Array, *args: Any, **options: Any) -> UniformType:
        t, more = q.type, data.ndim - q.ndim
        axes: Any = (t.axis,) if t.is_per_axis else dict(t.block_sizes or ())
        selections = [Selection(d, ALL, d + more) for d in range(q.ndim)]
        for d in axes:
            positions = np.arange(q.shape[d])
            moved = function(positions.reshape([-1 if i == d else 1 for i in range(q.ndim)]), *args, **options)
            lines = np.moveaxis(moved, d + more, -1) if moved.size else positions  # np.tile may repeat 0 times
            line = np.resize(lines, data.shape[d + more])
            selections[d] = Selection(d, line, d + more)
        return selected_element(t, q.shape, selections, data.ndim)

    return element_of


def _along_one(function: Any, name: str) -> ElementOf:
    """Return the function that computes the result type of ``function``, which takes elements along one axis.

    If its ``axis`` is None, ``function`` takes elements of the flattened tensor. ``name`` is its name in errors.
    """

    def element_of(q: QuantTensor, data: Any, places: Any, axis: Any = None, **options: Any) -> UniformType:
        t, shape = (flat_element(q, name), (q.size,)) if axis is None else (q.type, q.shape)
        at = 0 if axis is None else normalize_axis_index(axis, q.ndim)
        return indexed_element(t, shape, (ALL,) * at + (function(np.arange(shape[at]), places, **options),))

    return element_of


def _turned(q: QuantTensor, data: Array, k: int = 1, axes: Any = (0, 1)) -> UniformType:
    first, second = normalize_axis_tuple(axes, q.ndim)
    reversed_axes = ((), (second,), (first, second), (first,))[index(k) % 4]
    t = along(np.flip)(q, stored(q), reversed_axes)
    return transposed_element(t, np.rot90(np.empty(range(q.ndim)), k, axes).shape)


def _rolled(q: QuantTensor, data: Array, shift: Any, axis: Any = None) -> UniformType:
    if axis is not None:
        return along(np.roll)(q, data, shift, axis)
    line = indexed_element(flat_element(q, "np.roll without axis"), (q.size,), np.roll(np.arange(q.size), shift))
    return reshaped_element(line, (q.size,), q.shape)


@implements(np.take, kind="moves")
def take(a: QuantTensor, indices: Any, axis: int | None = None, out: Any = None, mode: Any = "raise") -> QuantTensor:
    """Elements at positions along an axis or of the flattened tensor."""
    data, t = np.take(stored(tensor(a, "a")), indices, axis, mode=mode), a.type
    element = t if t.is_per_layer else _along_one(np.take, "np.take")(a, data, indices, axis, mode=mode)
    return into(out, wrap_storage(data, element))


@implements(np.compress, kind="moves")
def compress(condition: Any, a: QuantTensor, axis: int | None = None, out: Any = None) -> QuantTensor:
    """Elements along an axis, or of the flattened tensor, for which a condition is true."""
    places = np.asarray(truth(condition))
    if places.ndim != 1:
        raise QuantValueError(f"'condition' must be an array of rank 1, got rank {places.ndim}")
    return take(a, places.nonzero()[0], axis, out)


@implements(np.extract, kind="moves")
def extract(condition: Any, arr: QuantTensor) -> QuantTensor:
    """Elements of the flattened tensor for which a condition is true."""
    return take(np.ravel(tensor(arr, "arr")), np.ravel(truth(condition)).nonzero()[0], 0)  # type: ignore[arg-type]


def _split(function: Any, least: int = 0, fixed: int | None = None) -> Callable[..., list[QuantTensor]]:
    """Return the implementation of a NumPy function that splits a tensor along one axis.

    The tensor must have at least ``least`` axes. The axis is an argument of the function if ``fixed`` is None, else it
    is ``fixed``, or axis 0 of a vector. NumPy splits the positions along the axis, which shows where to split the
    tensor.
    """
    cut: Any = function if fixed is None else np.split

    def rule(ary: QuantTensor, indices_or_sections: Any, axis: int = 0) -> list[QuantTensor]:
        no_tensor(indices_or_sections, "indices_or_sections")
        _require_rank(least, ary)
        at = normalize_axis_index(axis if fixed is None else min(ary.ndim - 1, fixed), ary.ndim)
        if isinstance(indices_or_sections, (int, float)) and indices_or_sections == 0:  # NumPy raises ZeroDivisionError
            raise QuantValueError(f"'indices_or_sections' must be at least 1, got {indices_or_sections}")
        lines = cut(np.arange(ary.shape[at]), indices_or_sections)
        return [ary[(ALL,) * at + (slice(line[0], line[-1] + 1) if line.size else slice(0, 0),)] for line in lines]

    return rule


def _require_rank(least: int, q: QuantTensor) -> None:
    if tensor(q, "ary").ndim < least:
        raise QuantValueError(f"'ary' must have rank {least} or more, got rank {q.ndim}")


_SPLITS: dict[Any, Any] = {
    np.array_split: "Views of parts along an axis, of sizes as equal as they can be.",
    np.split: "Views of parts along an axis, of equal sizes or between positions.",
    np.hsplit: (1, 1, "Views of parts along axis 1, or along axis 0 of a tensor with a single axis."),
    np.vsplit: (2, 0, "Views of parts along axis 0; the tensor must have at least 2 axes."),
    np.dsplit: (3, 2, "Views of parts along axis 2; the tensor must have at least 3 axes."),
}
enter("moves", _split, _SPLITS)


@implements("unstack", kind="moves")
def unstack(x: QuantTensor, /, *, axis: int = 0) -> tuple[QuantTensor, ...]:
    """Views along an axis, which is removed; each has the type of its channel."""
    _require_rank(1, x)
    at, t, source = normalize_axis_index(axis, x.ndim), x.type, stored(x)
    types = (t if t.is_per_layer else indexed_element(t, x.shape, (ALL,) * at + (i,)) for i in range(x.shape[at]))
    return tuple(wrap_storage(row, u, source) for row, u in zip(np.moveaxis(source, at, 0), types, strict=True))


def _windowed(q: QuantTensor, data: Array, window_shape: Any, axis: Any = None, **options: Any) -> UniformType:
    axes = range(q.ndim) if axis is None else normalize_axis_tuple(axis, q.ndim, allow_duplicate=True)
    mixed = np.zeros((1, 1), np.intp)
    selections = [Selection(i, mixed, None) if i in axes else Selection(i, ALL, i) for i in range(q.ndim)]
    return selected_element(q.type, q.shape, selections, data.ndim)


def _on_diagonal(q: QuantTensor, data: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> UniformType:
    plane = [normalize_axis_index(axis, q.ndim) for axis in (axis1, axis2)]
    others = [i for i in range(q.ndim) if i not in plane]
    last, line = data.ndim - 1, np.arange(data.shape[-1])
    selections = [Selection(i, ALL, place) for place, i in enumerate(others)]
    for axis, first in zip(plane, (-offset, offset), strict=True):
        selections.append(Selection(axis, line + max(first, 0), last))
    return selected_element(q.type, q.shape, selections, data.ndim)


@implements(np.take_along_axis, kind="moves")
def take_along_axis(arr: QuantTensor, indices: Any, axis: Any = -1) -> QuantTensor:
    """Elements at positions along an axis; each line along it has its own positions. Not along channels or blocks."""
    places, t, shape = np.asarray(indices), tensor(arr, "arr").type, arr.shape
    data = np.take_along_axis(stored(arr), places, axis)
    if t.is_per_layer:
        return wrap_storage(data, t)
    if axis is None:
        t, shape, axis = flat_element(arr, "np.take_along_axis"), (arr.size,), 0
    at, rank = normalize_axis_index(axis, len(shape)), len(shape)
    # Along the other axes the positions only broadcast.
    selections = [
        Selection(i, ALL if n == m else np.zeros(m, np.intp), i)
        for i, (n, m) in enumerate(zip(shape, data.shape, strict=True))
    ]
    selections[at] = Selection(at, places, at) if rank == 1 else Selection(at, np.zeros((1, 1), int), None)
    return wrap_storage(data, selected_element(t, shape, selections, rank))


_MOVES: dict[Any, tuple[ElementOf, str]] = {
    np.expand_dims: (_key_of(_expanding), "A view with new axes of size 1."),
    np.squeeze: (
        _key_of(_squeezing),
        "A view without axes of size 1. If this removes the axis of channels, the type is that of the only channel.",
    ),
    np.flip: (along(np.flip), "A view in reverse order along axes."),
    np.fliplr: (along(np.fliplr), "A view in reverse order along axis 1."),
    np.flipud: (along(np.flipud), "A view in reverse order along axis 0."),
    np.rot90: (_turned, "A view rotated in the plane of two axes."),
    np.roll: (_rolled, "Elements shifted along axes; elements shifted beyond an end enter at the other end."),
    np.fft.fftshift: (along(np.fft.fftshift), "Elements shifted by half of each axis, as by `np.roll`."),
    np.fft.ifftshift: (along(np.fft.ifftshift), "Elements shifted back by half of each axis, as by `np.roll`."),
    np.tile: (along(np.tile), "The tensor repeated along axes."),
    np.repeat: (
        _along_one(np.repeat, "np.repeat"),
        "Each element several times, along an axis or of the flattened tensor.",
    ),
    np.delete: (
        _along_one(np.delete, "np.delete"),
        "The elements without those at some indices, along an axis or of the flattened tensor.",
    ),
    np.diagonal: (_on_diagonal, "The diagonals of two axes, as the last axis of the result. A read-only view."),
    np.linalg.diagonal: (
        lambda q, data, offset=0: _on_diagonal(q, data, offset, -2, -1),
        "The diagonals of matrices. A read-only view.",
    ),
    np.lib.stride_tricks.sliding_window_view: (
        _windowed,
        "A read-only view of windows; not along the axis of channels.",
    ),
    np.ravel: (
        lambda q, data, order="C": flat_element(q, "np.ravel"),
        "One axis; a view where NumPy makes one. Channels or blocks must not mix.",
    ),
}
enter("moves", _moved, _MOVES)


@implements(np.resize, kind="moves")
def resize(a: QuantTensor, new_shape: Any) -> QuantTensor:
    """The elements in another shape, flattened, and repeated from the first if there are too few."""
    no_tensor(new_shape, "new_shape")
    if not a.type.is_per_layer:
        return a.ravel()[np.resize(np.arange(a.size), new_shape)]  # type: ignore[no-any-return]
    return (
        wrap_storage(np.resize(stored(a), new_shape), a.type)
        if a.size
        else filled(a.type, np.zeros(new_shape, bool).shape)
    )


@implements(np.broadcast_to, kind="moves")
def broadcast_to(array: QuantTensor, shape: Any, subok: bool = False) -> QuantTensor:
    """A read-only view, broadcast to a shape."""
    view = wrap_storage(*broadcast(array, shape))
    view._data.flags.writeable = False
    return view


@implements(np.broadcast_arrays, kind="moves")
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """Read-only views, all broadcast to one shape."""
    shape = broadcast_shapes(*[np.shape(x) for x in args])
    return tuple(np.broadcast_to(x, shape) for x in args)


@implements(np.meshgrid, kind="moves")
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """The coordinates of a grid, each with the type of its tensor."""
    if indexing not in ("xy", "ij"):
        raise QuantValueError(f"'indexing' must be 'xy' or 'ij', got {shown(indexing)}")
    axes = [1, 0, *range(2, len(xi))] if indexing == "xy" and len(xi) > 1 else range(len(xi))
    keys = [tuple(ALL if axis == own else None for axis in range(len(xi))) for own in axes]
    grid = [np.ravel(x)[key] for x, key in zip(xi, keys, strict=True)]
    full = tuple(grid) if sparse else broadcast_arrays(*grid)
    return tuple(x.copy() for x in full) if copy else full


_COPIES: dict[Any, Any] = {
    np.reshape: (
        lambda a, /, shape, order="C", *, copy=None: a.reshape(shape, order=order, copy=copy),
        "Another shape, in which the axis of the channels stays one axis; a view where NumPy makes one.",
    ),
    np.copy: (lambda a, order="K", subok=False: a.copy(), "A tensor with storage of its own."),
    (np.real, np.real_if_close): (lambda val, tol=100: val, "The tensor itself: its values are real."),
    np.imag: (lambda val: filled(val.type, val.shape), "Zeros of the tensor's type, because its values are real."),
}
enter_rules("moves", _COPIES)
