"""Functions that join tensors of one type, or choose among their elements, without changing the type.

Real numbers among the choices are quantized by the default rule.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qrt.errors import QuantTypeError, QuantValueError
from qrt.numerics.elements import broadcast_shapes
from qrt.ops.core import Array
from qrt.tensor.protocol.elements import (
    ALL,
    broadcast,
    exact_floats,
    no_tensor,
    numbers,
    one_type,
    plain,
    stored,
    truth,
)
from qrt.tensor.protocol.results import into, tensor
from qrt.tensor.protocol.table import enter, implements
from qrt.tensor.quant_tensor import QuantTensor, wrap_storage
from qrt.types import UniformType, check_integrity


def _tensors(given: Any, argument: str = "operand") -> tuple[QuantTensor, ...]:
    """Return the tensors of a sequence, or the parts of one tensor along axis 0."""
    if not np.iterable(given):
        tensor(given, argument)
    tensors = tuple(given)
    if not tensors:
        raise QuantValueError("expected at least one tensor, got an empty sequence")
    return tuple(tensor(q, f"{argument} {i}") for i, q in enumerate(tensors))


@implements(np.concatenate, kind="moves")
def concatenate(
    arrays: Any, axis: int | None = 0, out: QuantTensor | None = None, *, dtype: None = None, casting: Any = "same_kind"
) -> QuantTensor:
    """Tensors joined along an axis; channels along it are joined too, and so are blocks."""
    if dtype is not None:
        raise QuantTypeError(
            "'dtype' is not supported for QuantTensors: qrt.concat takes out_type, a !quant.uniform type"
        )
    tensors = _tensors(arrays)
    if axis is None:
        tensors, axis = tuple(q.ravel() for q in tensors), 0
    data = np.concatenate([stored(q) for q in tensors], axis)
    return into(out, wrap_storage(data, _joined_type([q.type for q in tensors], normalize_axis_index(axis, data.ndim))))


def _joined_type(types: Sequence[UniformType], axis: int) -> UniformType:
    """Return the type of tensors joined along an axis: their common type or, along an axis of channels, joined scales.

    An axis of blocks is treated as one of channels. Raise QuantTypeError if the types do not fit each other.
    """
    first = types[0]
    fields = {(t.storage, t.expressed_type, t.axis, t.block_sizes, t.storage_min, t.storage_max) for t in types}
    if len(fields) > 1 or not (axis == first.axis or axis in dict(first.block_sizes or ())):
        return one_type(types)
    place = 0 if first.is_per_axis else axis
    scales = np.concatenate([t.scale_array for t in types], place)
    return first.with_(scales=scales, zero_points=np.concatenate([t.zero_point_array for t in types], place))


@implements(np.stack, kind="moves")
def stack(
    arrays: Any, axis: int = 0, out: QuantTensor | None = None, *, dtype: None = None, casting: Any = "same_kind"
) -> QuantTensor:
    """Tensors joined along a new axis."""
    tensors = _tensors(arrays)
    axis = normalize_axis_index(axis, tensors[0].ndim + 1)
    one_type([q.type for q in tensors])
    return concatenate([q[(ALL,) * axis + (None,)] for q in tensors], axis, out, dtype=dtype)


def _along_axis(function: Any, atleast: Any, axis: int) -> Callable[..., QuantTensor]:
    """Return the implementation of ``np.vstack`` or a similar function, which joins tensors along ``axis``.

    ``atleast`` adds axes to operands of too low rank. Vectors, which have no axis 1, are joined along axis 0.
    """

    def rule(tup: Any, *, dtype: None = None, casting: Any = "same_kind") -> QuantTensor:
        tensors = [atleast(q) for q in _tensors(tup)]
        return concatenate(tensors, min(axis, tensors[0].ndim - 1), dtype=dtype)

    return rule


def _column(q: QuantTensor) -> QuantTensor:
    return q if q.ndim > 1 else q.reshape(-1)[:, None]


_ALONG_AXIS = {
    np.vstack: (np.atleast_2d, 0, "Tensors joined along axis 0; new axes make them at least 2-D."),
    np.hstack: (np.atleast_1d, 1, "Tensors joined along axis 1, or along axis 0 if they have a single axis."),
    np.dstack: (np.atleast_3d, 2, "Tensors joined along axis 2; new axes make them at least 3-D."),
    np.column_stack: (_column, 1, "Tensors joined along axis 1; a tensor with a single axis becomes a column."),
}
enter("moves", _along_axis, _ALONG_AXIS)


@implements(np.append, kind="moves")
def append(arr: QuantTensor, values: Any, axis: int | None = None) -> QuantTensor:
    """Elements joined to the end of an axis, or of the flattened tensor; real numbers are quantized."""
    arr = tensor(arr, "arr")
    if axis is None:
        arr, axis = arr.ravel(), 0
        values = values.ravel() if isinstance(values, QuantTensor) else np.ravel(plain(values))
    if not isinstance(values, QuantTensor):
        values = wrap_storage(numbers(values, arr.type, np.shape(values)), arr.type)
    return concatenate([arr, values], axis)


@implements(np.insert, kind="moves")
def insert(arr: QuantTensor, obj: Any, values: Any, axis: int | None = None) -> QuantTensor:
    """Elements inserted along an axis or into the flattened tensor; real numbers are quantized.

    The axis of channels or blocks is refused.
    """
    no_tensor(obj, "obj")
    t = tensor(arr, "arr").type
    if t.is_per_layer:
        is_tensor = isinstance(values, QuantTensor) and one_type((t, values.type))
        return wrap_storage(
            np.insert(stored(arr), obj, stored(values) if is_tensor else numbers(values, t, ()), axis), t
        )
    if axis is None:
        arr, axis = arr.ravel(), 0
    axis, t, source = normalize_axis_index(axis, arr.ndim), arr.type, stored(arr)
    if axis == t.axis or axis in dict(t.block_sizes or ()):
        raise QuantTypeError(f"elements inserted along axis {axis} of {t} would have no scale: use np.concatenate")
    if isinstance(values, QuantTensor):
        raise QuantTypeError(f"'arr' must have a per-layer type to insert a QuantTensor, got {t}: use np.concatenate")
    # Quantize an array of the result's shape, zero but for the new elements, so that each has the scale of its place.
    floats = np.insert(np.zeros(arr.shape), obj, exact_floats(values, t), axis)
    is_new = np.insert(np.zeros(arr.shape, bool), obj, True, axis)
    return wrap_storage(np.where(is_new, numbers(floats, t, floats.shape), np.insert(source, obj, 0, axis)), t)


def _of_one_type(options: Sequence[Any], *others: Any) -> tuple[list[Array], UniformType]:
    """Return the storage of tensors and numbers, which broadcast with each other and ``others``, and their type."""
    shape = broadcast_shapes(*map(np.shape, (*options, *others)))
    parts = [broadcast(x, shape) if isinstance(x, QuantTensor) else None for x in options]
    t = one_type([part[1] for part in parts if part is not None])
    check_integrity(t, shape)
    pairs = zip(parts, options, strict=True)
    return [numbers(x, t, shape) if part is None else part[0] for part, x in pairs], t


@implements(np.where, kind="moves")
def where(condition: Any, *options: Any) -> Any:
    """The elements of one tensor where a condition is true, of another elsewhere; real numbers are quantized."""
    if not options:
        return np.nonzero(condition)
    condition = truth(condition)
    if len(options) != 2:
        raise QuantValueError(f"expected both 'x' and 'y' or none of them, got {len(options)} of the two")
    if not any(isinstance(x, QuantTensor) for x in options):
        return np.where(condition, *options)
    (first, second), t = _of_one_type(options, condition)
    return wrap_storage(np.where(condition, first, second), t)


@implements(np.select, kind="moves")
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """The elements of the first tensor whose condition is true; real numbers are quantized."""
    conditions, options = [truth(condition) for condition in condlist], [*choicelist, default]
    if not any(isinstance(x, QuantTensor) for x in options):
        return np.select(conditions, choicelist, default)
    (*choices, otherwise), t = _of_one_type(options, *conditions)
    return wrap_storage(np.select(conditions, choices, otherwise), t)


@implements(np.choose, kind="moves")
def choose(a: Any, choices: Any, out: QuantTensor | None = None, mode: Any = "raise") -> QuantTensor:
    """Each element from the tensor that an integer selects; real numbers are quantized."""
    if isinstance(a, QuantTensor):
        raise QuantTypeError("'a', which selects a tensor for each element, must be integers, got a QuantTensor")
    storages, t = _of_one_type([*choices], a)
    return into(out, wrap_storage(np.choose(a, storages, mode=mode), t))
