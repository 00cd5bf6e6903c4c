"""Functions that join tensors of one type, or choose between them, and keep it. Real numbers among the choices are
quantized by the default rule."""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import unwrap
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qrt.eager.calls import Planned
from qrt.eager.storage import PACKED_WIDTHS
from qrt.errors import QuantTypeError, QuantValueError, shown
from qrt.numerics.broadcasting import broadcast_shapes
from qrt.ops.core import Array
from qrt.tensor.protocol.assignment import exact_floats
from qrt.tensor.protocol.elements import (
    ALL,
    NUMBERS,
    broadcast,
    into,
    made,
    numbers,
    one_type,
    plain,
    storage_of,
    stored,
    tensor,
    truth,
)
from qrt.tensor.protocol.rules.moves import atleast_1d, atleast_2d, atleast_3d, ravel
from qrt.tensor.protocol.table import Rule, implements
from qrt.tensor.quant_tensor import QuantTensor, join, tensor_of
from qrt.types import UniformType, check_integrity


def _tensors(given: Any, what: str) -> tuple[QuantTensor, ...]:
    """The tensors of a sequence, or along axis 0 of one tensor."""
    if not np.iterable(given):
        tensor(given, what)
    tensors = tuple(given)
    for i, q in enumerate(tensors):
        if not isinstance(q, QuantTensor):
            tensor(q, f"{what} {i}")
    if not tensors:
        raise QuantValueError(f"{what}: at least one tensor is needed")
    return tensors


# ------------------------------------------------------------------------------------------------------------- joining


def _of_one_layer(tensors: Iterable[Any]) -> UniformType | None:
    """The type of all, if they are tensors of one type, and that is per layer."""
    t: UniformType | None = None
    for q in tensors:
        if not isinstance(q, QuantTensor) or (q.type is not t and not (t is None and q.type.is_per_layer)):
            return None
        t = q.type
    return t


def _by_storage(routine: Callable[..., Any]) -> Callable[[Rule], Rule]:
    """A decorator of rules that join. NumPy's ``routine`` joins the storage of a list of tensors of one type, per
    layer; the rule is for all else."""

    def register(rule: Rule) -> Rule:
        @wraps(rule)
        def joined(arrays: Any, *args: Any, **kwargs: Any) -> Any:
            is_plain = type(arrays) in (list, tuple) and len(args) < 2 and (not kwargs or [*kwargs] == ["axis"])
            t = _of_one_layer(arrays) if is_plain else None
            if t is None:
                return rule(arrays, *args, **kwargs)
            if t.storage_type.width in PACKED_WIDTHS:
                return made(routine([*map(stored, arrays)], *args, **kwargs), t)
            data = routine([q._data for q in arrays], *args, **kwargs)
            return tensor_of(data, t, data.shape)

        return joined  # type: ignore[return-value]

    return register


@implements(np.concatenate, kind="moves")
@_by_storage(np.concatenate)
def concatenate(
    arrays: Any, axis: int | None = 0, out: QuantTensor | None = None, *, dtype: None = None, casting: Any = "same_kind"
) -> QuantTensor:
    """Tensors joined along an axis; channels along it are joined too, and so are blocks."""
    tensors = tuple(arrays)
    if dtype is not None:
        raise QuantTypeError("a QuantTensor has no dtype: qrt.concat takes out_type, a !quant.uniform type")
    if axis is None:
        tensors, axis = tuple(ravel(tensor(q, f"operand {i}")) for i, q in enumerate(tensors)), 0
    if any(isinstance(q, QuantTensor) and q.type.is_sub_channel for q in tensors):
        return into(out, _joined_blocks(_tensors(tensors, "operand"), axis))
    _check_shapes(tensors, axis)
    return join(tensors, axis, None, "fixed", out)


def _check_shapes(tensors: tuple[Any, ...], axis: int) -> None:
    """Raises ValueError, as NumPy does; operands that are no tensors are refused by what joins them."""
    shapes = [q.shape for q in tensors if isinstance(q, QuantTensor)]
    at = normalize_axis_index(axis, len(shapes[0])) if shapes else 0
    if len({(len(shape), shape[:at], shape[at + 1 :]) for shape in shapes}) > 1:
        raise QuantValueError(f"shapes {shown(shapes)} must agree but along axis {axis}")


def _joined_blocks(tensors: tuple[QuantTensor, ...], axis: int) -> QuantTensor:
    axis, types = normalize_axis_index(axis, tensors[0].ndim), [q.type for q in tensors]
    data = np.concatenate([stored(q) for q in tensors], axis)
    first = types[0]
    fields = {(t.storage, t.expressed_type, t.block_sizes, t.storage_min, t.storage_max) for t in types}
    if len(fields) > 1 or axis not in dict(first.block_sizes or ()):
        return made(data, one_type(types))
    scales, zero_points = (
        np.concatenate(parts, axis) for parts in ([q.scales for q in tensors], [q.zero_points for q in tensors])
    )
    return made(data, first.with_(scales=scales, zero_points=zero_points))


@implements(np.stack, kind="moves")
@_by_storage(np.stack)
def stack(
    arrays: Any, axis: int = 0, out: QuantTensor | None = None, *, dtype: None = None, casting: Any = "same_kind"
) -> QuantTensor:
    """Tensors joined along a new axis."""
    tensors = _tensors(arrays, "operand")
    axis = normalize_axis_index(axis, tensors[0].ndim + 1)
    one_type([q.type for q in tensors])
    return concatenate([q[(ALL,) * axis + (None,)] for q in tensors], axis, out, dtype=dtype)


@implements(np.vstack, kind="moves")
@_by_storage(np.vstack)
def vstack(tup: Any, *, dtype: None = None, casting: Any = "same_kind") -> QuantTensor:
    """Tensors of at least 2 axes joined along axis 0."""
    return concatenate([atleast_2d(q) for q in _tensors(tup, "operand")], 0, dtype=dtype)


@implements(np.hstack, kind="moves")
@_by_storage(np.hstack)
def hstack(tup: Any, *, dtype: None = None, casting: Any = "same_kind") -> QuantTensor:
    """Tensors joined along axis 1, or the only one."""
    tensors = [atleast_1d(q) for q in _tensors(tup, "operand")]
    return concatenate(tensors, 0 if tensors[0].ndim == 1 else 1, dtype=dtype)


@implements(np.dstack, kind="moves")
@_by_storage(np.dstack)
def dstack(tup: Any) -> QuantTensor:
    """Tensors of at least 3 axes joined along axis 2."""
    return concatenate([atleast_3d(q) for q in _tensors(tup, "operand")], 2)


@implements(np.column_stack, kind="moves")
@_by_storage(np.column_stack)
def column_stack(tup: Any) -> QuantTensor:
    """Tensors joined along axis 1; one of a single axis is a column."""
    return concatenate([q if q.ndim > 1 else atleast_1d(q)[:, None] for q in _tensors(tup, "operand")], 1)


@implements(np.block, kind="moves")
def block(arrays: Any) -> QuantTensor:
    """Nested lists of tensors joined: the innermost along the last axis."""

    def parts(given: Any) -> list[QuantTensor]:
        return [q for item in given for q in parts(item)] if isinstance(given, list) else [tensor(given, "a block")]

    def depth(given: Any) -> int:
        depths = {depth(item) for item in given} if isinstance(given, list) else {-1}
        if len(depths) != 1:
            raise QuantValueError("the lists of blocks must be of one depth, and none of them empty")
        return depths.pop() + 1

    levels, tensors = depth(arrays), parts(arrays)
    rank = max([levels, *(q.ndim for q in tensors)])

    def joined(given: Any, axis: int) -> QuantTensor:
        if not isinstance(given, list):
            return given[(None,) * (rank - given.ndim) + (...,)]  # type: ignore[no-any-return]
        return concatenate([joined(item, axis + 1) for item in given], axis)

    return joined(arrays, rank - levels) if levels else tensors[0].copy()


def _of_layer(x: Any, t: UniformType) -> Array:
    """The storage of a tensor of a type per layer, or of real numbers."""
    if not isinstance(x, QuantTensor):
        return numbers(x, t, ())
    one_type((t, x.type))
    return stored(x)


@implements(np.append, kind="moves")
def append(arr: QuantTensor, values: Any, axis: int | None = None) -> QuantTensor:
    """Elements joined to the end of an axis or of one line; real numbers are quantized."""
    arr = tensor(arr, "arr")
    if arr.type.is_per_layer:
        return made(np.append(stored(arr), _of_layer(values, arr.type), axis), arr.type)
    if axis is None:
        arr, axis = ravel(arr), 0
        values = ravel(values) if isinstance(values, QuantTensor) else np.ravel(plain(values))
    if not isinstance(values, QuantTensor):
        values = made(numbers(values, arr.type, np.shape(values)), arr.type)
    return concatenate([arr, values], axis)


_insert: Callable[..., Array] = unwrap(np.insert)


@implements(np.insert, kind="moves")
def insert(arr: QuantTensor, obj: Any, values: Any, axis: int | None = None) -> Any:
    """Elements put between those along an axis or in one line; real numbers are quantized. Nothing is inserted
    along the axis of channels or blocks."""
    arr = tensor(arr, "arr")
    if arr.type.is_per_layer:
        if type(values) in NUMBERS and type(obj) is int:
            t, number = arr.type, _of_layer(values, arr.type)
            return Planned((arr,), lambda operands: made(_insert(stored(operands[0]), obj, number, axis), t))
        return made(np.insert(stored(arr), obj, _of_layer(values, arr.type), axis), arr.type)
    if axis is None:
        arr, axis = ravel(arr), 0
    axis, t, source = normalize_axis_index(axis, arr.ndim), arr.type, stored(arr)
    if axis == t.axis or axis in dict(t.block_sizes or ()):
        raise QuantTypeError(f"elements inserted along axis {axis} of {t} would have no scale: use np.concatenate")
    if isinstance(values, QuantTensor):
        raise QuantTypeError(f"a QuantTensor is inserted in one per layer alone, not {t}: use np.concatenate")
    # The result in floats, zero where elements stay, is quantized whole: each new one by its own scale.
    floats = np.insert(np.zeros(arr.shape), obj, exact_floats(values, t), axis)
    is_new = np.insert(np.zeros(arr.shape, bool), obj, True, axis)
    return made(np.where(is_new, numbers(floats, t, floats.shape), np.insert(source, obj, 0, axis)), t)


# ------------------------------------------------------------------------------------------------------------ choosing


def _of_one_type(options: Sequence[Any], *others: Any) -> tuple[list[Array], UniformType]:
    """The storage of tensors and numbers, to broadcast with one another and with ``others``, and the type of all."""
    t = _of_one_layer([x for x in options if isinstance(x, QuantTensor)])
    if t is not None:
        return [_of_layer(x, t) for x in options], t
    shape = broadcast_shapes(*map(np.shape, (*options, *others)))
    parts = [broadcast(x, shape) if isinstance(x, QuantTensor) else None for x in options]
    t = one_type([part[1] for part in parts if part is not None])
    check_integrity(t, shape)
    pairs = zip(parts, options, strict=True)
    return [numbers(x, t, shape) if part is None else part[0] for part, x in pairs], t


@implements(np.where, kind="moves")
def where(condition: Any, *options: Any) -> Any:
    """The elements of one tensor where a condition holds, of another elsewhere; real numbers are quantized."""
    if not options:
        return np.nonzero(condition)
    held = truth(condition)
    if len(options) != 2:
        raise QuantValueError("either both or neither of x and y should be given")
    if type(held) is np.ndarray and held is condition:
        for q, other in (options, options[::-1]):
            if type(other) in NUMBERS and isinstance(q, QuantTensor) and q.type.is_per_layer:
                return _where_or_number(held, q, other, q is options[0])
    t = _of_one_layer(options)
    if t is not None:
        return made(np.where(held, *map(stored, options)), t)
    if not any(isinstance(x, QuantTensor) for x in options):
        return np.where(held, *options)
    (first, second), t = _of_one_type(options, held)
    return made(np.where(held, first, second), t)


def _where_or_number(condition: Array, q: QuantTensor, number: float, is_first: bool) -> Planned:
    """``np.where`` of a tensor per layer and a number, which stand in this order if ``is_first``."""
    t, held = q.type, numbers(number, q.type, ())

    def run(operands: Any) -> QuantTensor:
        condition, data = operands[0], stored(operands[1])
        return made(np.where(condition, data, held) if is_first else np.where(condition, held, data), t)

    return Planned((condition, q), run)


@implements(np.select, kind="moves")
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """The elements of the first tensor whose condition holds; real numbers are quantized."""
    held, options = [truth(condition) for condition in condlist], [*choicelist, default]
    if not any(isinstance(x, QuantTensor) for x in options):
        return np.select(held, choicelist, default)
    tensors = [x for x in options if isinstance(x, QuantTensor)]
    t = _of_one_layer(tensors)
    if t is not None and all(type(x) in NUMBERS or isinstance(x, QuantTensor) for x in options):
        return _selected(list(condlist), options, t, held)
    storages, t = _of_one_type(options, *held)
    *choices, otherwise = storages
    return made(np.select(held, choices, otherwise), t)


def _selected(conditions: list[Any], options: list[Any], t: UniformType, held: list[Any]) -> Any:
    """``np.select`` of tensors of a type per layer and of numbers."""
    fixed = [None if isinstance(x, QuantTensor) else numbers(x, t, ()) for x in options]
    tensors = [x for x in options if isinstance(x, QuantTensor)]
    count = len(conditions)

    places = [count + sum(number is None for number in fixed[:i]) for i in range(len(fixed))]
    parts = list(zip(fixed, places, strict=True))
    storage = storage_of(t)

    def run(operands: Any) -> QuantTensor:
        choices = [storage(operands[place]) if number is None else number for number, place in parts]
        otherwise = choices.pop()
        return made(_select(list(operands[:count]), choices, otherwise), t)

    if any(type(x) is not np.ndarray for x in conditions):
        return run((*held, *tensors))
    return Planned((*conditions, *tensors), run, holds_no_list=True)


_select: Callable[..., Any] = unwrap(np.select)


@implements(np.choose, kind="moves")
def choose(a: Any, choices: Any, out: QuantTensor | None = None, mode: Any = "raise") -> QuantTensor:
    """For each element the tensor that an integer says; real numbers are quantized."""
    if isinstance(a, QuantTensor):
        raise QuantTypeError("the choices must be said by integers, not by a QuantTensor")
    storages, t = _of_one_type([*choices], a)
    return into(out, made(np.choose(a, storages, mode=mode), t))
