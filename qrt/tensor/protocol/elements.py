"""Helpers for the implementations of NumPy's functions: they read the storage of tensors and write values to tensors.

Functions that return tensors are in `results.py`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from fractions import Fraction
from math import isfinite, prod
from numbers import Integral
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from qrt.errors import QuantAxisError, QuantError, QuantTypeError, QuantValueError, shown
from qrt.ops.core import Array, Shape, parameter_index, storage_dtype
from qrt.ops.indexing import Selection, indexed_element, selected_element
from qrt.ops.movement import reshaped_element
from qrt.tensor.arrays import as_array, expressed_array
from qrt.tensor.binding import EagerCall, bind_arrays, eager
from qrt.tensor.calls import Tensor
from qrt.tensor.numpy_errors import NUMPY_ERRORS, from_numpy
from qrt.tensor.storage import is_packed, pack, unpack
from qrt.types import UniformType, check_integrity

ALL = slice(None)


def stored(q: Tensor) -> Array:
    """Return the integers as an array: the tensor's memory, or a copy if bits are packed."""
    return unpack(q._data, q.type, q._shape) if is_packed(q.type) else q._data


def memory(q: Tensor) -> Array:
    """Return the memory of a tensor. Raise QuantValueError if it is read-only."""
    if not q._data.flags.writeable:
        raise QuantValueError(
            "assignment destination is read-only" + ", or a part of a tensor of packed bits" * is_packed(q.type)
        )
    return q._data


def in_quotes(argument: str) -> str:
    """Return the name of an argument in quotes, and any other description of an argument unchanged."""
    return repr(argument) if argument.isidentifier() else argument


def no_tensor(x: Any, argument: str) -> None:
    """Raise QuantTypeError for a QuantTensor, or a sequence with one, given as an index, mask or the like."""
    _refuse_tensor(
        x, f"{in_quotes(argument)} must not be a QuantTensor: only the operands of a function can be QuantTensors"
    )


def _refuse_tensor(x: Any, message: str) -> None:
    if isinstance(x, Tensor):
        raise QuantTypeError(message)
    for item in x if isinstance(x, (tuple, list)) else ():
        _refuse_tensor(item, message)


def refuse_other_tensors(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Raise QuantTypeError if an argument after the first one is a QuantTensor.

    These arguments are shapes, axes, counts and the like.
    """
    no_tensor(args[1:], "an argument after the first")
    for name, value in kwargs.items():
        no_tensor(value, name)


def zero_points(q: Tensor) -> Array:
    """Return the zero points in the dtype of the storage, so that they broadcast to its shape."""
    zeros = np.array(q.type.zero_points, storage_dtype(q.type))
    return zeros[parameter_index(q.type, q._shape)] if len(set(q.type.zero_points)) > 1 else zeros[0, ...]


def truth(condition: Any) -> Any:
    """Return True for each element of a QuantTensor whose value is not 0; return any other condition unchanged.

    Arrays of objects become bools, because NumPy's logical functions would return objects.
    """
    if isinstance(condition, Tensor):
        return np.not_equal(stored(condition), zero_points(condition))
    array = as_array(condition)
    return array.astype(bool) if array.dtype == object else condition


def clipped(storage: Array, low: Any = None, high: Any = None) -> Array:
    """Return storage clipped to bounds of its dtype.

    NumPy's ``clip`` with both bounds is ten times faster than with one.
    """
    limits, kind = np.iinfo(storage.dtype), storage.dtype.type
    return storage.clip(kind(limits.min) if low is None else low, kind(limits.max) if high is None else high)


def numbers(x: Any, t: UniformType, shape: Shape) -> Array:
    """Return the storage of real numbers, quantized to type ``t`` by the default rule.

    For a per-layer type the result has the shape of ``x``. For any other type ``x`` is broadcast to ``shape`` first,
    because the scale and zero point of an element depend on its index.
    """
    values = expressed_array(plain(x), t)
    if not t.is_per_layer:
        values = np.broadcast_to(values, shape)
        check_integrity(t, shape)
    return stored(_quantized(values, t))


@eager
def _quantized(values: Array, type: UniformType) -> EagerCall[Tensor]:
    return bind_arrays("qcast", (values,), {}, type, None, type.expressed_type)


def plain(x: Any) -> Any:
    """Return ``x`` unchanged, after checking that it has no QuantTensor.

    Raise QuantTypeError for a QuantTensor or a sequence with one: its values would be quantized again.
    """
    _refuse_tensor(x, "expected numbers, got a sequence with a QuantTensor: join tensors by np.stack or np.concatenate")
    return x


def zeros(t: UniformType, shape: Shape) -> Array:
    """Return the storage of 0, which broadcasts to ``shape``: the zero point, clamped to the storage bounds."""
    storage = np.clip(np.array(t.zero_points, np.int64), t.storage_min, t.storage_max).astype(storage_dtype(t))
    return storage[0, ...] if t.is_per_layer else storage[parameter_index(t, shape)]


def broadcast(q: Tensor, shape: Shape) -> tuple[Array, UniformType]:
    """Return (storage of a tensor, broadcast to ``shape``; type of the result).

    If the channel axis is broadcast, the type of the result repeats the scale and zero point for each index.
    """
    data, t = np.broadcast_to(stored(q), shape), q.type
    if t.is_per_layer or data.shape == q._shape:
        return data, t
    first = data.ndim - len(q._shape)
    taken = [ALL if n == m else np.zeros(m, np.intp) for n, m in zip(q._shape, data.shape[first:], strict=True)]
    selections = [Selection(i, item, first + i) for i, item in enumerate(taken)]
    return data, selected_element(t, q._shape, selections, data.ndim)


def first_element(t: UniformType, shape: Shape, axes: Collection[int], keepdims: bool = False) -> UniformType:
    """Return the type of the elements at index 0 of these axes; the axes are removed, or kept with size 1."""
    there: tuple[Any, ...] = (0, None) if keepdims else (0,)
    return indexed_element(
        t, shape, tuple(item for d in range(len(shape)) for item in (there if d in axes else (ALL,)))
    )


def per_layer(t: UniformType) -> UniformType:
    """Return the per-layer type with the first scale and zero point of a type."""
    return t.with_(scales=t.scales[0], zero_points=t.zero_points[0], axis=None, block_sizes=None)


def flat_element(q: Tensor, name: str) -> UniformType:
    """Return the type of the flattened tensor. Raise QuantTypeError if channels or blocks do not allow flattening."""
    try:
        return reshaped_element(q.type, q._shape, (prod(q._shape),))
    except QuantTypeError:
        where = f"axis {q.type.axis}" if q.type.is_per_axis else "the blocks"
        raise QuantTypeError(
            f"{name} would mix the different scales of {where} of {q.tensor_type}: give another axis, or "
            "np.asarray(q) for the values, or qrt.requantize to a type per layer first"
        ) from None


def one_type(types: Sequence[UniformType]) -> UniformType:
    """Return the one type that all ``types`` are equal to. Raise QuantTypeError if they differ."""
    first = types[0]
    for other in types:
        if other is not first:  # types are interned
            raise QuantTypeError(
                f"the tensors must have the same type, got {first} and {other}: use qrt.requantize for one of them"
            )
    return first


def have_one_scale(tensors: Sequence[Tensor]) -> bool:
    """Return True if all elements of all the tensors have the same scale and zero point."""
    scales: set[float] = set().union(*(q.type.scales for q in tensors))
    return len(scales) == 1 and len(set().union(*(q.type.zero_points for q in tensors))) == 1


def axes_of(axis: Any, rank: int) -> Shape:
    """Return the axes that NumPy's ``axis`` means, ascending; all of them for None."""
    is_array = isinstance(axis, Tensor) or (isinstance(axis, np.ndarray) and axis.ndim)
    if is_array or isinstance(axis, (str, bytes, Mapping, Set)):  # NumPy takes tuples of integers; these may be empty
        raise _axis_error(axis, rank)
    try:
        return tuple(range(rank)) if axis is None else tuple(sorted(normalize_axis_tuple(axis, rank)))
    except (TypeError, ValueError, OverflowError):
        raise _axis_error(axis, rank) from None


def axis_of(axis: Any, rank: int) -> int:
    axes = axes_of(axis, rank)
    if len(axes) != 1:
        raise _axis_error(axis, rank)
    return axes[0]


def _axis_error(axis: Any, rank: int) -> QuantAxisError:
    if isinstance(axis, (int, np.integer)):
        wanted = f"in [{-rank}, {rank - 1}] for a tensor of rank {rank}" if rank else "None for a tensor of rank 0"
        return QuantAxisError(f"'axis' must be {wanted}, got {shown(axis)}")
    return QuantAxisError(f"'axis' must be an integer or a tuple of different axes, got {shown(axis)}")


def varies_along(q: Tensor, axis: Any) -> bool:
    """Return True if scales or zero points differ along one of the axes."""
    t: UniformType = q.type
    if t.is_per_layer:
        return False
    axes = axes_of(axis, len(q._shape))
    if t.is_per_axis:
        return t.axis in axes and (len(set(t.scales)) > 1 or len(set(t.zero_points)) > 1)
    parameters = (t.scale_array, t.zero_point_array)
    return any((blocks != blocks.take([0], axis)).any() for blocks in parameters for axis in axes)


def in_order(q: Tensor, axis: Any) -> Array:
    """Return an array whose elements along the axis (None: all elements) compare as the values of ``q`` do.

    The array is the storage, or the values themselves if scales or zero points differ along the axis.
    """
    return np.asarray(q) if varies_along(q, axis) else stored(q)


def reduced(q: Tensor, axis: Any, keepdims: bool = False) -> UniformType:
    """Return the type of a reduction's result, which has one element for all elements along the axes.

    Raise QuantTypeError if scales or zero points differ along the axes: no type could hold the result.
    """
    require_one_scale(q, axis)
    t: UniformType = q.type
    return t if t.is_per_layer else first_element(t, q._shape, axes_of(axis, len(q._shape)), keepdims)


def require_one_scale(q: Tensor, axis: Any) -> None:
    """Raise QuantTypeError if scales or zero points differ along the axis (None: among all elements)."""
    if varies_along(q, axis):
        raise QuantTypeError(
            f"{q.type} has scales or zero points that differ along the axis, so that no type "
            "represents the result: requantize to a per-layer type first, by qrt.requantize(q, t)"
        )


def assign(q: Tensor, key: Any, value: Any) -> None:
    """Execute ``q[key] = value``."""

    def set_items(array: Array, values: Any) -> None:
        array[key] = values

    try:
        if q.type.is_per_layer or not isinstance(value, Tensor):
            write(q, value, set_items)
            return
        target, storage = memory(q), stored(q)
        data, given = broadcast(value, np.shape(storage[key]))
        one_type([indexed_element(q.type, q._shape, key), given])
        storage[key] = data
        _store(storage, q.type, target)
    except QuantError:
        raise
    except NUMPY_ERRORS as error:
        raise from_numpy(error) from None


def write(q: Any, value: Any, routine: Callable[[Array, Any], None]) -> None:
    """Write ``value`` to the tensor or array ``q`` by ``routine(array, values)``, a routine of NumPy.

    At least one of ``q`` and ``value`` is a tensor. The values of a tensor are written to an array as floats.
    """
    if not isinstance(q, Tensor):
        routine(q, np.asarray(value))
        return
    t: UniformType = q.type
    target, storage, shape = memory(q), stored(q), q._shape
    if isinstance(value, Tensor):
        one_type([t, value.type])
        if not t.is_per_layer:
            _check_parameters(t, shape, value, routine)
        routine(storage, stored(value))
    elif t.is_per_layer:
        routine(storage, numbers(value, t, shape))
    else:
        floats, written = np.zeros(shape), np.zeros(shape, bool)
        routine(floats, exact_floats(value, t))
        routine(written, np.True_)
        storage[written] = numbers(floats, t, shape)[written]
    _store(storage, t, target)


def _check_parameters(t: UniformType, shape: Shape, value: Tensor, routine: Callable[[Array, Any], None]) -> None:
    """Raise QuantTypeError if ``routine`` would write an element to a position with another scale or zero point.

    ``routine`` writes elements of ``value`` to a target with the type ``t`` and ``shape``. It is tested on arrays that
    hold the index of each element's scale. It must not change the target's array.
    """
    before = np.broadcast_to(parameter_index(t, shape), shape)
    after = before.copy()
    routine(after, np.broadcast_to(parameter_index(value.type, value._shape), value._shape))
    if not np.array_equal(before, after):
        raise QuantTypeError(
            f"elements of {t} must be written to positions with the same scale and zero point, got others"
        )


def exact_number(x: Any) -> Fraction | None:
    """Return a finite real number of Python, NumPy or ml_dtypes as a fraction; None for bools and anything else."""
    if isinstance(x, np.ndarray) and x.ndim == 0:
        x = x[()]
    if isinstance(x, (bool, np.bool_, np.ndarray)) or (isinstance(x, float) and not isfinite(x)):
        return None
    try:
        if hasattr(x, "as_integer_ratio"):
            return Fraction(*map(int, x.as_integer_ratio()))
        if isinstance(x, Integral):
            return Fraction(int(x))
        if isinstance(x, np.generic) and x.dtype.type.__module__ == "ml_dtypes":
            return Fraction(float(x))
    except (TypeError, ValueError, OverflowError):
        pass
    return None


def exact_floats(x: Any, t: UniformType) -> Array:
    """Return real numbers, rounded to the expressed type, as float64."""
    return expressed_array(plain(x), t, exact=False).astype(np.float64)


def _store(storage: Array, t: UniformType, target: Array) -> None:
    """Pack ``storage``, the changed integers of a tensor, into the tensor's memory ``target``.

    If bits are not packed, ``storage`` is that memory itself, so nothing is done.
    """
    if is_packed(t):
        target[...] = pack(storage, t)
