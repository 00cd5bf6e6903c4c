"""What the rules share: the storage of tensors for NumPy's routines, and tensors around what these make of it."""

from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from math import prod
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from qrt.eager import calls
from qrt.eager.binding import EagerCall, bind_arrays, eager
from qrt.eager.calls import Tensor
from qrt.eager.storage import PACKED_WIDTHS, is_packed, pack, unpack
from qrt.errors import QuantTypeError, QuantValueError, shown
from qrt.ops.core import Array, Shape, parameter_index, storage_dtype
from qrt.ops.indexing import Selection, selected_element
from qrt.ops.movement import reshaped_element
from qrt.tensor.arrays import expressed_array
from qrt.tensor.protocol.table import Rule
from qrt.types import UniformType, check_integrity

if TYPE_CHECKING:
    from qrt.tensor.quant_tensor import QuantTensor

ALL = slice(None)

# ------------------------------------------------------------------------------------------------------------- storage


def stored(q: Tensor) -> Array:
    """The integers as an array: the memory of the tensor, or a copy where bits are packed."""
    t = q.type
    return unpack(q._data, t, q._shape) if t.storage_type.width in PACKED_WIDTHS else q._data


def storage_of(t: UniformType) -> Callable[[Tensor], Array]:
    """``stored`` for tensors of a type."""
    return stored if is_packed(t) else attrgetter("_data")


def made(data: Any, t: UniformType, of: Array | None = None) -> "QuantTensor":
    """A tensor around storage, or a scalar of it. Where bits are packed, and NumPy made a view of the storage ``of`` a
    tensor, it is read-only: what would be written to it, the tensor would not hold."""
    array = np.asarray(data)
    if t.block_sizes is not None:
        check_integrity(t, array.shape)
    if t.storage_type.width not in PACKED_WIDTHS:
        return calls.tensor_of(array, t, array.shape)  # type: ignore[no-any-return]
    packed = pack(array, t)
    packed.flags.writeable = of is None or not np.may_share_memory(array, of)
    return calls.tensor_of(packed, t, array.shape)  # type: ignore[no-any-return]


def by_storage(routine: Callable[..., Any]) -> Callable[[Rule], Rule]:
    """A decorator of rules that move the elements of their first operand. Where one scale and zero point are those of
    all, NumPy's ``routine`` moves the storage, and the type stays; the rule is for other types."""

    def register(rule: Rule) -> Rule:
        @wraps(rule)
        def moved(*args: Any, **kwargs: Any) -> Any:
            q = args[0] if args else None
            if not isinstance(q, Tensor) or q.type.axis is not None or q.type.block_sizes is not None:
                return rule(*args, **kwargs)
            t, is_plain = q.type, q.type.storage_type.width not in PACKED_WIDTHS
            source = q._data if is_plain else stored(q)
            result = routine(source, *args[1:], **kwargs)
            if is_plain and type(result) is np.ndarray:
                return calls.tensor_of(result, t, result.shape)
            if not isinstance(result, (list, tuple)):
                return made(result, t, source)
            if is_plain and result and type(result[0]) is np.ndarray:
                return type(result)([calls.tensor_of(part, t, part.shape) for part in result])
            return type(result)([made(part, t, source) for part in result])

        return moved  # type: ignore[return-value]

    return register


def into(out: Any, result: "QuantTensor") -> "QuantTensor":
    """The result, or ``out``, if it is given, with the result written to it."""
    if out is None:
        return result
    if not isinstance(out, Tensor) or out.type is not result.type:  # types are interned
        given = shown(out.type) if isinstance(out, Tensor) else type(out).__name__
        raise QuantTypeError(f"out must be a QuantTensor of the result's type {shown(result.type)}, got {given}")
    if out._shape != result._shape:
        raise QuantValueError(f"out has shape {out._shape}, the result has shape {result._shape}")
    memory(out)[...] = result._data
    return out  # type: ignore[return-value]


def memory(q: Tensor) -> Array:
    """The memory of a tensor that may be written."""
    if not q._data.flags.writeable:
        raise QuantValueError("assignment destination is read-only" + " or a part of packed bits" * is_packed(q.type))
    return q._data


def tensor(q: Any, what: str) -> "QuantTensor":
    """A QuantTensor; ``what`` names the argument in the error."""
    if not isinstance(q, Tensor):
        raise QuantTypeError(f"{what} must be a QuantTensor, got {type(q).__name__}")
    return q  # type: ignore[return-value]


def no_tensor(x: Any, what: str) -> Any:
    """What is no QuantTensor and holds none: indices, masks and the like."""
    if isinstance(x, (tuple, list)):
        for item in x:
            no_tensor(item, what)
    if isinstance(x, Tensor):
        raise QuantTypeError(f"{what} must not be a QuantTensor: its values are neither integers nor bools")
    return x


def zero_points(q: Tensor) -> Array:
    """In the dtype of the storage, to broadcast to its shape. Nobody writes to them."""
    kept = _kept_zero_points(q.type)
    return kept[parameter_index(q.type, q._shape)] if kept.ndim else kept


@lru_cache(maxsize=256)
def _kept_zero_points(t: UniformType) -> Array:
    """Of no axis where all are one, as an array of no axis costs NumPy less than a number."""
    held = np.array(t.zero_points, storage_dtype(t))
    return held if len(set(t.zero_points)) > 1 else held[0, ...]


def truth(condition: Any) -> Any:
    """A condition: of a QuantTensor, where its values are not 0."""
    if not isinstance(condition, Tensor):
        return condition
    return np.not_equal(stored(condition), zero_points(condition))


# -------------------------------------------------------------------------------------------------------- new elements


def numbers(x: Any, t: UniformType, shape: Shape) -> Array:
    """The storage of real numbers, quantized by the default rule: of their own shape for a type per layer, else
    broadcast to ``shape``, which has the parameters."""
    if t.is_per_layer:
        if type(x) in NUMBERS:
            return _number(x, t)
        if type(x) is list and len(x) <= _FEW and all(type(item) in NUMBERS for item in x):
            return np.array([_number(item, t)[()] for item in x], storage_dtype(t))
        return stored(_quantized(expressed_array(plain(x), t), t))
    values = np.broadcast_to(expressed_array(plain(x), t), shape)
    check_integrity(t, values.shape)
    return stored(_quantized(values, t))


NUMBERS = (int, float)
_FEW = 8
"""So many numbers are sooner found one by one."""


def in_place_of(t: UniformType, x: float) -> tuple[None, Array]:
    """The storage of one real number, for a routine that takes it in place of a tensor of the type."""
    return None, _number(x, t)


@lru_cache(maxsize=256)
def _number(x: float, t: UniformType) -> Array:
    """The storage of one real number, which nobody writes to."""
    storage = stored(_quantized(expressed_array(x, t), t))
    storage.flags.writeable = False
    return storage


calls.set_numbers(_number)


@eager
def _quantized(values: Array, type: UniformType) -> EagerCall[Tensor]:
    return bind_arrays("qcast", (values,), {}, type, None, type.expressed_type)


def plain(x: Any) -> Any:
    """What is no tensor and holds none: the values of one would be quantized again, perhaps to others."""
    if isinstance(x, (list, tuple)):
        for item in x:
            plain(item)
    if isinstance(x, Tensor):
        raise QuantTypeError("a QuantTensor is not taken as numbers here: join tensors by np.stack or np.concatenate")
    return x


def zeros(t: UniformType, shape: Shape) -> Array:
    """The storage of 0, which is the zero point, or the nearest that the storage bounds allow; it broadcasts to
    ``shape``."""
    if t.is_per_layer:
        return _zero(t)
    held = np.clip(np.array(t.zero_points, np.int64), t.storage_min, t.storage_max).astype(storage_dtype(t))
    return held[parameter_index(t, shape)]


@lru_cache(maxsize=256)
def _zero(t: UniformType) -> Array:
    return np.array(min(max(t.zero_points[0], t.storage_min), t.storage_max), storage_dtype(t))


def filled(t: UniformType, shape: Shape) -> "QuantTensor":
    """A tensor of zeros."""
    check_integrity(t, shape)
    zero = zeros(t, shape)
    data = np.empty(shape, zero.dtype)
    data[...] = zero
    return made(data, t)


# --------------------------------------------------------------------------------------------------------------- types


def followed(
    q: "QuantTensor", data: Array, axes: Sequence[int], routine: Callable[[Array, int], Array]
) -> "QuantTensor":
    """``data``, which NumPy made of the storage of ``q`` along some axes; its type is not per layer. ``routine`` makes
    the same of positions along one axis, and so says which parameters the elements have."""
    taken = [routine(np.arange(n), i) if i in axes else ALL for i, n in enumerate(q._shape)]
    selections = [Selection(i, item, i) for i, item in enumerate(taken)]
    return made(data, selected_element(q.type, q._shape, selections, q.ndim), q._data)


def broadcast(q: Tensor, shape: Shape) -> tuple[Array, UniformType]:
    """The storage, broadcast, and its type there."""
    data, t = np.broadcast_to(stored(q), shape), q.type
    if t.is_per_layer or data.shape == q._shape:
        return data, t
    first = data.ndim - len(q._shape)
    taken = [ALL if n == m else np.zeros(m, np.intp) for n, m in zip(q._shape, data.shape[first:], strict=True)]
    selections = [Selection(i, item, first + i) for i, item in enumerate(taken)]
    return data, selected_element(t, q._shape, selections, data.ndim)


def flat_element(q: Tensor, name: str) -> UniformType:
    """The type of the elements in one line."""
    try:
        return reshaped_element(q.type, q._shape, (prod(q._shape),))
    except QuantTypeError:
        where = f"axis {q.type.axis}" if q.type.is_per_axis else "the blocks"
        raise QuantTypeError(
            f"{name} would mix the scales of {where} of {q.tensor_type} along one axis: give another axis, "
            "np.asarray(q) for the values, or qrt.requantize to a type per layer first"
        ) from None


def one_type(types: Sequence[UniformType]) -> UniformType:
    """The type that all have."""
    first = types[0]
    for other in types:
        if other is not first:  # they are interned
            raise QuantTypeError(f"tensors of one type are needed, got {first} and {other}: qrt.requantize one of them")
    return first
