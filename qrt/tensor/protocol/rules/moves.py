"""Functions that move the elements of one tensor and keep their type. A per-axis type follows its axis; blocks stay
whole. NumPy's own routine moves the storage."""

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np
from numpy.exceptions import AxisError
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from qrt.eager.storage import is_packed
from qrt.errors import QuantValueError, shown
from qrt.numerics.broadcasting import broadcast_shapes
from qrt.ops.core import Array
from qrt.ops.indexing import Selection, indexed_element, selected_element
from qrt.tensor.protocol.elements import (
    ALL,
    broadcast,
    by_storage,
    filled,
    flat_element,
    followed,
    into,
    made,
    stored,
    tensor,
    truth,
)
from qrt.tensor.protocol.table import implements
from qrt.tensor.quant_tensor import QuantTensor, tensor_of

Axes = Any
"""An integer, a sequence of integers, or None."""

# ---------------------------------------------------------------------------------------------------------------- axes


@implements(np.transpose, kind="moves")
@by_storage(np.transpose)
def transpose(a: QuantTensor, axes: Any = None) -> QuantTensor:
    """A view with the axes in another order."""
    return a.transpose(axes)


@implements(np.swapaxes, kind="moves")
@by_storage(np.swapaxes)
def swapaxes(a: QuantTensor, axis1: int, axis2: int) -> QuantTensor:
    """A view with two axes interchanged."""
    first, second = (normalize_axis_index(axis, a.ndim) for axis in (axis1, axis2))
    order = list(range(a.ndim))
    order[first], order[second] = second, first
    return a.transpose(order)


@implements(np.matrix_transpose, np.linalg.matrix_transpose, kind="moves")
@by_storage(np.matrix_transpose)
def matrix_transpose(x: QuantTensor) -> QuantTensor:
    """A view with the last two axes interchanged."""
    if x.ndim < 2:
        raise QuantValueError(f"a tensor of at least 2 axes is needed, got {x.ndim}")
    return swapaxes(x, -1, -2)


@implements(np.moveaxis, kind="moves")
@by_storage(np.moveaxis)
def moveaxis(a: QuantTensor, source: Axes, destination: Axes) -> QuantTensor:
    """A view with axes moved to other places."""
    old = normalize_axis_tuple(source, a.ndim, "source")
    new = normalize_axis_tuple(destination, a.ndim, "destination")
    if len(old) != len(new):
        raise QuantValueError("source and destination must have the same number of elements")
    order = [axis for axis in range(a.ndim) if axis not in old]
    for place, axis in sorted(zip(new, old, strict=True)):
        order.insert(place, axis)
    return a.transpose(order)


@implements(np.rollaxis, kind="moves")
def rollaxis(a: QuantTensor, axis: int, start: int = 0) -> QuantTensor:
    """A view with an axis moved back until it stands before ``start``."""
    axis = normalize_axis_index(axis, a.ndim)
    place = start + a.ndim if start < 0 else start
    if not 0 <= place <= a.ndim:
        raise AxisError(f"start {shown(start)} is out of bounds for a tensor of rank {a.ndim}")
    order = list(range(a.ndim))
    order.insert(place - (axis < place), order.pop(axis))
    return transpose(a, order)


@implements(np.expand_dims, kind="moves")
@by_storage(np.expand_dims)
def expand_dims(a: QuantTensor, axis: int | Sequence[int]) -> QuantTensor:
    """A view with new axes of size 1."""
    count = 1 if not isinstance(axis, (tuple, list)) else len(axis)
    new = normalize_axis_tuple(axis, a.ndim + count)
    return a[tuple(None if i in new else ALL for i in range(a.ndim + count))]


@implements(np.squeeze, kind="moves")
@by_storage(np.squeeze)
def squeeze(a: QuantTensor, axis: Axes = None) -> QuantTensor:
    """A view without axes of size 1. Without the axis of a channel it is of that channel's type."""
    if not a.ndim:
        np.squeeze(stored(a), axis)  # which refuses the axes that there are not
        return a[...]
    gone = tuple(i for i, n in enumerate(a.shape) if n == 1) if axis is None else normalize_axis_tuple(axis, a.ndim)
    if any(a.shape[i] != 1 for i in gone):
        raise QuantValueError("cannot select an axis to squeeze out which has size not equal to one")
    return a[tuple(0 if i in gone else ALL for i in range(a.ndim))]


def _at_least(rank: int, given: tuple[Any, ...]) -> Any:
    if len(given) == 1 and isinstance(given[0], QuantTensor) and given[0].ndim >= rank:
        return given[0]
    plain = {1: np.atleast_1d, 2: np.atleast_2d, 3: np.atleast_3d}[rank]
    keys: dict[int, Any] = {0: (None,) * rank, 1: (None, ALL, None)[:rank], 2: (..., None)}
    results = tuple(
        (x[keys[x.ndim]] if x.ndim < rank else x) if isinstance(x, QuantTensor) else plain(x) for x in given
    )
    return results[0] if len(results) == 1 else results


@implements(np.atleast_1d, kind="moves")
def atleast_1d(*arys: Any) -> Any:
    """Each as a view of at least 1 axis."""
    return _at_least(1, arys)


@implements(np.atleast_2d, kind="moves")
def atleast_2d(*arys: Any) -> Any:
    """Each as a view of at least 2 axes; a new one comes first."""
    return _at_least(2, arys)


@implements(np.atleast_3d, kind="moves")
def atleast_3d(*arys: Any) -> Any:
    """Each as a view of at least 3 axes."""
    return _at_least(3, arys)


# -------------------------------------------------------------------------------------------------------------- shapes


@implements(np.reshape, kind="moves")
def reshape(a: QuantTensor, /, shape: Any, order: Any = "C", *, copy: bool | None = None) -> QuantTensor:
    """Another shape, in which the axis of the channels stays one axis; a view where NumPy makes one."""
    return a.reshape(shape, order=order, copy=copy)


@implements(np.ravel, kind="moves")
@by_storage(np.ravel)
def ravel(a: QuantTensor, order: Any = "C") -> QuantTensor:
    """One axis; a view where NumPy makes one. Channels or blocks must not mix."""
    source = stored(a)
    return made(np.ravel(source, order), flat_element(a, "np.ravel"), source)


@implements(np.resize, kind="moves")
def resize(a: QuantTensor, new_shape: Any) -> QuantTensor:
    """The elements in one line, and again from the first, in another shape."""
    if not a.type.is_per_layer:
        return ravel(a)[np.resize(np.arange(a.size), new_shape)]
    if not a.size:
        return filled(a.type, np.zeros(new_shape, bool).shape)
    return made(np.resize(stored(a), new_shape), a.type)


@implements(np.broadcast_to, kind="moves")
def broadcast_to(array: QuantTensor, shape: Any, subok: bool = False) -> QuantTensor:
    """A view that may be read alone."""
    return broadcast_view(array, shape)


def broadcast_view(q: QuantTensor, shape: Any) -> QuantTensor:
    if shape == q._shape and not is_packed(q.type):
        data = q._data.view()
        data.flags.writeable = False
        return tensor_of(data, q.type, shape)
    view = made(*broadcast(q, shape))
    if view._data.flags.writeable:  # a copy, of packed bits
        view._data.flags.writeable = False
    return view


@implements(np.broadcast_arrays, kind="moves")
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """Views that may be read alone, all of one shape."""
    shapes = [x._shape if isinstance(x, QuantTensor) else np.shape(x) for x in args]
    shape = broadcast_shapes(*shapes) if len(set(shapes)) > 1 else shapes[0]
    return tuple(broadcast_view(x, shape) if isinstance(x, QuantTensor) else np.broadcast_to(x, shape) for x in args)


@implements(np.meshgrid, kind="moves")
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """The coordinates of a grid, each of its own type."""
    if indexing not in ("xy", "ij"):
        raise QuantValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    if copy and all(isinstance(x, QuantTensor) and x.type.is_per_layer for x in xi):
        whole: Any = np.meshgrid(*map(stored, xi), sparse=sparse, indexing=indexing)  # type: ignore[call-overload]
        return tuple(made(data, x.type) for data, x in zip(whole, xi, strict=True))
    rank, grid = len(xi), []
    for i, x in enumerate(xi):
        line = np.ravel(x)
        place = 1 - i if indexing == "xy" and i < 2 <= rank else i
        grid.append(line[tuple(ALL if axis == place else None for axis in range(rank))])
    full = tuple(grid) if sparse else broadcast_arrays(*grid)
    return tuple(x.copy() for x in full) if copy else full


@implements(np.lib.stride_tricks.sliding_window_view, kind="moves")
def sliding_window_view(
    x: QuantTensor, window_shape: Any, axis: Axes = None, *, subok: bool = False, writeable: bool = False
) -> QuantTensor:
    """A view that may be read alone; no window lies along the axis of channels or blocks."""
    source, t = stored(x), x.type
    data = np.lib.stride_tricks.sliding_window_view(source, window_shape, axis)
    if t.is_per_layer:
        return made(data, t, source)
    axes = tuple(range(x.ndim)) if axis is None else normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    mixed = np.zeros((1, 1), np.intp)
    selections = [Selection(i, mixed, None) if i in axes else Selection(i, ALL, i) for i in range(x.ndim)]
    return made(data, selected_element(t, x.shape, selections, data.ndim), source)


# --------------------------------------------------------------------------------------------------------- along axes


@implements(np.flip, kind="moves")
@by_storage(np.flip)
def flip(m: QuantTensor, axis: Axes = None) -> QuantTensor:
    """A view in reverse order along axes."""
    axes = range(m.ndim) if axis is None else normalize_axis_tuple(axis, m.ndim)
    return m[tuple(slice(None, None, -1) if i in axes else ALL for i in range(m.ndim))]


@implements(np.fliplr, kind="moves")
@by_storage(np.fliplr)
def fliplr(m: QuantTensor) -> QuantTensor:
    """A view in reverse order along axis 1."""
    return flip(m, 1)


@implements(np.flipud, kind="moves")
@by_storage(np.flipud)
def flipud(m: QuantTensor) -> QuantTensor:
    """A view in reverse order along axis 0."""
    return flip(m, 0)


@implements(np.rot90, kind="moves")
@by_storage(np.rot90)
def rot90(m: QuantTensor, k: int = 1, axes: Sequence[int] = (0, 1)) -> QuantTensor:
    """A view rotated in the plane of two axes."""
    given = tuple(axes)
    if len(given) != 2:
        raise QuantValueError("len(axes) must be 2.")
    first, second = normalize_axis_tuple(given, m.ndim)
    turns = index(k) % 4
    if turns in (0, 2):
        return flip(m, (first, second)) if turns else m[...]
    return swapaxes(flip(m, second), first, second) if turns == 1 else flip(swapaxes(m, first, second), second)


def _roll(a: QuantTensor, shift: Any, axis: Any) -> QuantTensor:
    shifts, axes = np.broadcast_arrays(np.atleast_1d(shift), normalize_axis_tuple(axis, a.ndim, allow_duplicate=True))

    def line(positions: Array, along: int) -> Array:
        return np.roll(positions, int(shifts[axes == along].sum()))

    return followed(a, np.roll(stored(a), shift, axis), axes.tolist(), line)


@implements(np.roll, kind="moves")
@by_storage(np.roll)
def roll(a: QuantTensor, shift: Any, axis: Any = None) -> QuantTensor:
    """Elements moved on along axes, round their ends."""
    if axis is not None:
        return _roll(a, shift, axis)
    t = flat_element(a, "np.roll without axis")
    return made(np.roll(stored(a), shift), t) if t.is_per_layer else _roll(ravel(a), shift, 0).reshape(a.shape)


@implements(np.fft.fftshift, kind="moves")
@by_storage(np.fft.fftshift)
def fftshift(x: QuantTensor, axes: Axes = None) -> QuantTensor:
    """Rolled by half of each axis."""
    along = tuple(range(x.ndim)) if axes is None else normalize_axis_tuple(axes, x.ndim)
    return _roll(x, [x.shape[i] // 2 for i in along], along)


@implements(np.fft.ifftshift, kind="moves")
@by_storage(np.fft.ifftshift)
def ifftshift(x: QuantTensor, axes: Axes = None) -> QuantTensor:
    """Rolled back by half of each axis."""
    along = tuple(range(x.ndim)) if axes is None else normalize_axis_tuple(axes, x.ndim)
    return _roll(x, [-(x.shape[i] // 2) for i in along], along)


@implements(np.repeat, kind="moves")
@by_storage(np.repeat)
def repeat(a: QuantTensor, repeats: Any, axis: int | None = None) -> QuantTensor:
    """Each element several times, along an axis or in one line."""
    a = tensor(a, "a")
    a, axis = (ravel(a), 0) if axis is None else (a, normalize_axis_index(axis, a.ndim))
    return followed(a, np.repeat(stored(a), repeats, axis), (axis,), lambda line, _: np.repeat(line, repeats))


@implements(np.tile, kind="moves")
@by_storage(np.tile)
def tile(A: QuantTensor, reps: Any) -> QuantTensor:  # noqa: N803 - NumPy's name
    """The tensor again and again along axes."""
    a = tensor(A, "A")
    counts = tuple(np.atleast_1d(reps).tolist())
    a = a[(None,) * (len(counts) - a.ndim) + (...,)]
    counts = (1,) * (a.ndim - len(counts)) + counts
    return followed(a, np.tile(stored(a), counts), range(a.ndim), lambda line, axis: np.tile(line, counts[axis]))


@implements(np.take, kind="moves")
def take(a: QuantTensor, indices: Any, axis: int | None = None, out: Any = None, mode: Any = "raise") -> QuantTensor:
    """Elements by their positions along an axis or in one line."""
    a = tensor(a, "a")
    t = a.type
    if not t.is_per_layer:
        a, axis = (ravel(a), 0) if axis is None else (a, normalize_axis_index(axis, a.ndim))
        positions = np.take(np.arange(a.shape[axis]), indices, mode=mode)
        t = indexed_element(a.type, a.shape, (ALL,) * axis + (positions,))
    return into(out, made(np.take(stored(a), indices, axis, mode=mode), t))


@implements(np.take_along_axis, kind="moves")
@by_storage(np.take_along_axis)
def take_along_axis(arr: QuantTensor, indices: Any, axis: int | None = -1) -> QuantTensor:
    """Elements by positions that differ from line to line along an axis, which holds no channels or blocks."""
    arr = tensor(arr, "arr")
    if axis is None:
        arr, axis = ravel(arr), 0
    axis = normalize_axis_index(axis, arr.ndim)
    data = np.take_along_axis(stored(arr), np.asarray(indices), axis)
    lines = [ALL if n == m else np.zeros(m, np.intp) for n, m in zip(arr.shape, data.shape, strict=True)]
    selections = [Selection(i, lines[i], i) for i in range(arr.ndim)]
    # What is taken differs along every other axis: it may be said of a line alone, as for a tensor of one axis.
    positions = np.asarray(indices) if arr.ndim == 1 else np.zeros((1, 1), np.intp)
    selections[axis] = Selection(axis, positions, axis if arr.ndim == 1 else None)
    return made(data, selected_element(arr.type, arr.shape, selections, arr.ndim))


@implements(np.compress, kind="moves")
def compress(condition: Any, a: QuantTensor, axis: int | None = None, out: Any = None) -> QuantTensor:
    """Elements along an axis, or in one line, where a condition holds."""
    kept = np.asarray(truth(condition))
    if kept.ndim != 1:
        raise QuantValueError("condition must be a 1-d array")
    return take(a, kept.nonzero()[0], axis, out)


@implements(np.extract, kind="moves")
def extract(condition: Any, arr: QuantTensor) -> QuantTensor:
    """Elements in one line where a condition holds."""
    return take(ravel(tensor(arr, "arr")), np.ravel(truth(condition)).nonzero()[0], 0)


@implements(np.delete, kind="moves")
@by_storage(np.delete)
def delete(arr: QuantTensor, obj: Any, axis: int | None = None) -> QuantTensor:
    """The elements but for some along an axis or in one line."""
    arr = tensor(arr, "arr")
    arr, axis = (ravel(arr), 0) if axis is None else (arr, normalize_axis_index(axis, arr.ndim))
    return followed(arr, np.delete(stored(arr), obj, axis), (axis,), lambda line, _: np.delete(line, obj))


@implements(np.trim_zeros, kind="moves")
def trim_zeros(filt: QuantTensor, trim: str = "fb", axis: Axes = None) -> QuantTensor:
    """A view without the zeros at both ends of axes, or at one."""
    if trim.lower() not in ("f", "b", "fb", "bf"):
        raise QuantValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = tuple(range(filt.ndim)) if axis is None else normalize_axis_tuple(axis, filt.ndim)
    found, keys = truth(filt).nonzero(), [ALL] * filt.ndim
    for i in axes:
        here, ends = found[i], trim.lower()
        if not here.size:
            keys[i] = slice(0, 0)
        else:
            keys[i] = slice(here.min() if "f" in ends else 0, here.max() + 1 if "b" in ends else None)
    return filt[tuple(keys)]


@implements(np.diagonal, kind="moves")
@by_storage(np.diagonal)
def diagonal(a: QuantTensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> QuantTensor:
    """The diagonals in the plane of two axes, which become the last. A view that may be read alone."""
    source = stored(a)
    data = np.diagonal(source, offset, axis1, axis2)
    plane = [normalize_axis_index(axis, a.ndim) for axis in (axis1, axis2)]
    others = [i for i in range(a.ndim) if i not in plane]
    last, line = data.ndim - 1, np.arange(data.shape[-1])
    selections = [Selection(i, ALL, place) for place, i in enumerate(others)]
    selections += [
        Selection(plane[0], line + max(-offset, 0), last),
        Selection(plane[1], line + max(offset, 0), last),
    ]
    return made(data, selected_element(a.type, a.shape, selections, data.ndim), source)


@implements(np.linalg.diagonal, kind="moves")
@by_storage(np.linalg.diagonal)
def matrix_diagonal(x: QuantTensor, /, *, offset: int = 0) -> QuantTensor:
    """The diagonals of matrices. A view that may be read alone."""
    return diagonal(x, offset, -2, -1)


# ------------------------------------------------------------------------------------------------------------- copies


@implements(np.copy, kind="moves")
def copy(a: QuantTensor, order: Any = "K", subok: bool = False) -> QuantTensor:
    """A tensor with storage of its own."""
    return a.copy()


@implements(np.real, np.real_if_close, kind="moves")
def real(val: QuantTensor, tol: float = 100) -> QuantTensor:
    """The tensor itself: its values are real."""
    return val


@implements(np.conjugate, kind="moves")
def conjugate(x: QuantTensor, /, *, out: QuantTensor | None = None) -> QuantTensor:
    """A copy: its values are real."""
    return into(out, x.copy())


@implements(np.imag, kind="moves")
def imag(val: QuantTensor) -> QuantTensor:
    """Zeros of its type: the values are real."""
    return filled(val.type, val.shape)
