"""Emission of ``tensor`` ops, `quant.scast` and constants. Slices and reshapes of contiguous tensors are views."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import prod

import numpy as np

from qrt.errors import QuantError
from qrt.ir import Operation, Value
from qrt.ir.constants import constant_array
from qrt.ir.dialects._shaped.lists import mixed_values, reassociation_of, static_values
from qrt.ir.dialects._shaped.slices import dropped_dimensions
from qrt.ops.core import element_dtype
from qrt.runtime.codegen.buffers import Buffer, Index, Shape
from qrt.runtime.codegen.elements import is_buffer, scalar_type
from qrt.runtime.codegen.emitter import Emitter, Handler, not_emitted
from qrt.runtime.interpreter.tensor import check_expansion
from qrt.runtime.values import as_tensor, sizes_of
from qrt.types import TensorType

# -- constants and casts -----------------------------------------------------------------------------------------------


def _constant(e: Emitter, op: Operation) -> None:
    value = op.result
    if not value.uses:
        return
    array = constant_array(op)
    if is_buffer(value.type):
        e.set_buffer(value, e.constant(array, scalar_type(value.type)))
    else:
        e.define_known(value, array[()])


def _storage_cast(e: Emitter, op: Operation) -> None:
    """Emit a cast between a quantized type and its storage, which keeps the bits.

    If an element is narrower than its dtype (i4 in int8), the unused bits are set as the result's dtype needs.
    """
    source, result = op.operands[0], op.result
    if not is_buffer(source.type):
        _same_scalar(e, source, result)
        return
    given, element = e.buffer(source), scalar_type(result.type)
    cast = replace(given, type=element, splat=None)
    if not given.element.is_narrow or given.element.dtype == cast.element.dtype:
        if given.splat is not None:
            cast = replace(cast, splat=np.asarray(given.splat).view(cast.element.dtype)[()])
        e.set_buffer(result, cast, owned=e.is_owned(source, op))
        return
    target = e.fresh(element, given.shape)
    e.copy(given, target)
    e.set_buffer(result, target, owned=True)


def _same_scalar(e: Emitter, source: Value, result: Value) -> None:
    number = e.known(source)
    if number is None:
        e.define(result, e.register(source))
    else:
        dtype = element_dtype(result.type)
        low_bits = int(number) & ((1 << (8 * dtype.itemsize)) - 1)
        e.define_known(result, np.array(low_bits, f"u{dtype.itemsize}").view(dtype)[()])


def _cast(e: Emitter, op: Operation) -> None:
    e.set_buffer(op.result, e.buffer(op.operands[0]), owned=e.is_owned(op.operands[0], op))


# -- making tensors ----------------------------------------------------------------------------------------------------


def sizes(e: Emitter, op: Operation, dynamic: Sequence[Value]) -> Shape:
    """Return the shape of an op's result, whose dynamic sizes are operands that must be known."""
    numbers = [e.size(op, value) for value in dynamic]
    try:
        return sizes_of(as_tensor(op.results[0].type), numbers)
    except QuantError as error:
        raise not_emitted(op, str(error)) from None


def _empty(e: Emitter, op: Operation) -> None:
    e.set_empty(op.result, sizes(e, op, op.operands))


def _splat(e: Emitter, op: Operation) -> None:
    buffer = e.fresh(scalar_type(op.result.type), sizes(e, op, op.operands[1:]))
    e.fill(buffer, e.register(op.operands[0]))
    e.set_buffer(op.result, buffer, owned=True)


def _from_elements(e: Emitter, op: Operation) -> None:
    buffer = e.fresh(scalar_type(op.result.type), sizes(e, op, ()))
    flat = buffer.reshaped((buffer.size,))
    for number, value in enumerate(op.operands):
        e.store(e.register(value), flat, [e.number(number)])
    e.set_buffer(op.result, buffer, owned=True)


def _generated(e: Emitter, op: Operation, shape: Shape) -> Buffer:
    """Emit a new buffer whose elements the op's body computes from their indices."""
    block, buffer = op.regions[0].blocks[0], e.fresh(scalar_type(op.result.type), shape)
    with e.nest(shape) as indices:
        if indices is not None:
            for argument, index in zip(block.arguments, indices, strict=True):
                e.define(argument, index.value, (index.low, index.high))
            (value,) = e.block(block)
            e.store(e.register(value), buffer, indices)
    return buffer


def _generate(e: Emitter, op: Operation) -> None:
    e.set_buffer(op.result, _generated(e, op, sizes(e, op, op.operands)), owned=True)


def _pad(e: Emitter, op: Operation) -> None:
    source = e.buffer(op.operands[0])
    low, high = (numbers_of_list(e, op, name) for name in ("low", "high"))
    if any(amount < 0 for amount in (*low, *high)):
        raise not_emitted(op, f"padding must be at least 0, got low {low} and high {high}")
    shape = tuple(sum(sizes) for sizes in zip(low, source.shape, high, strict=True))
    padded = _generated(e, op, shape)
    e.copy(source, e.part(padded, [e.number(n) for n in low], source.shape, (1,) * len(low)))
    e.set_buffer(op.result, padded, owned=True)


def _concat(e: Emitter, op: Operation) -> None:
    axis, sources = op.attributes["dim"].python, [e.buffer(value) for value in op.operands]
    others = {source.shape[:axis] + source.shape[axis + 1 :] for source in sources}
    if len(others) > 1:
        raise not_emitted(op, f"the shapes must be equal except for dimension {axis}")
    first, at = sources[0].shape, 0
    shape = (*first[:axis], sum(source.shape[axis] for source in sources), *first[axis + 1 :])
    joined = e.fresh(scalar_type(op.result.type), shape)
    for source in sources:
        offsets = [e.number(at if dimension == axis else 0) for dimension in range(len(shape))]
        e.copy(source, e.part(joined, offsets, source.shape, (1,) * len(shape)))
        at += source.shape[axis]
    e.set_buffer(op.result, joined, owned=True)


# -- elements and slices -----------------------------------------------------------------------------------------------


def dim(e: Emitter, op: Operation) -> None:
    """Set the op's result to a size of its operand, which is known while emitting."""
    axis, shape = e.size(op, op.operands[1]), e.shape(op.operands[0])
    if not 0 <= axis < len(shape):
        raise not_emitted(op, f"dimension {axis} is out of range for rank {len(shape)}")
    e.define_known(op.result, np.int64(shape[axis]))


def rank(e: Emitter, op: Operation) -> None:
    """Set the op's result to the rank of its operand, which is known while emitting."""
    e.define_known(op.result, np.int64(len(e.shape(op.operands[0]))))


def _checked_indices(e: Emitter, op: Operation, values: Sequence[Value], shape: Shape) -> list[Index]:
    indices = [e.index(value) for value in values]
    for axis, (index, size) in enumerate(zip(indices, shape, strict=True)):
        where = f"is out of bounds: dimension {axis} is {size}"
        e.require_index(op, index, size, partial(_placed, "index", where), [index.value])
    return indices


def _placed(what: str, where: str, numbers: Sequence[int]) -> str:
    return f"{what} {numbers[0]} {where}"


def _extract(e: Emitter, op: Operation) -> None:
    source, *values = op.operands
    buffer = e.buffer(source)
    indices = _checked_indices(e, op, values, buffer.shape)
    if buffer.splat is not None:
        e.define_known(op.result, buffer.splat)
    elif (array := buffer.slot.array) is not None and buffer.base is None and _are_constant(indices, buffer.shape):
        place = buffer.offset + sum(i.low * stride for i, stride in zip(indices, buffer.strides, strict=True))
        e.define_known(op.result, array.reshape(-1).view(buffer.element.dtype)[place])
    else:
        e.define(op.result, e.load(buffer, indices))


def _are_constant(indices: Sequence[Index], shape: Shape) -> bool:
    return all(index.is_constant and 0 <= index.low < size for index, size in zip(indices, shape, strict=True))


def _insert(e: Emitter, op: Operation) -> None:
    scalar, target, *values = op.operands
    indices = _checked_indices(e, op, values, e.shape(target))
    buffer = e.writable(target, op)
    e.store(e.register(scalar), buffer, indices)
    e.set_buffer(op.result, buffer, owned=True)


def numbers_of_list(e: Emitter, op: Operation, name: str) -> list[int]:
    """Return the integers of an op's list ``name``, such as "sizes".

    An entry is static, or an operand whose value must be known while emitting.
    """
    return [entry if isinstance(entry, int) else e.size(op, entry) for entry in mixed_values(op, name)]


def slice_of(e: Emitter, op: Operation, shape: Shape) -> tuple[list[Index], list[int], list[int]]:
    """Return the offsets, sizes and strides of a slice; emit checks that it is within the bounds."""
    offsets = [e.number(entry) if isinstance(entry, int) else e.index(entry) for entry in mixed_values(op, "offsets")]
    counts, steps = numbers_of_list(e, op, "sizes"), numbers_of_list(e, op, "strides")
    for axis, (start, size, step, extent) in enumerate(zip(offsets, counts, steps, shape, strict=True)):
        span = (size - 1) * step
        if size < 0:
            raise not_emitted(op, f"has a slice of the negative size {size}")
        if not size:
            continue
        first, most = max(0, -span), min(extent, extent - span)
        if start.low >= first and start.high < most:
            continue
        wrong = e.builder.or_(
            e.builder.icmp_signed("<", start.value, e.number(first).value),
            e.builder.icmp_signed(">=", start.value, e.number(most).value),
        )
        where = f"with stride {step} exceeds dimension {axis} of size {extent}"
        e.trap_if(op, wrong, partial(_placed, f"a slice of size {size} from", where), [start.value])
    return offsets, counts, steps


def _without(buffer: Buffer, dropped: Sequence[int]) -> Buffer:
    axes = [axis for axis in range(len(buffer.shape)) if axis not in dropped]
    return replace(buffer, shape=tuple(buffer.shape[a] for a in axes), strides=tuple(buffer.strides[a] for a in axes))


def _dropped(op: Operation, reduced: Value) -> Sequence[int]:
    dropped = dropped_dimensions(static_values(op, "sizes"), as_tensor(reduced.type).shape or ())
    assert dropped is not None  # checked by the verifier
    return dropped


def _extract_slice(e: Emitter, op: Operation) -> None:
    source = e.buffer(op.operands[0])
    part = e.part(source, *slice_of(e, op, source.shape))
    e.set_buffer(op.result, _without(part, _dropped(op, op.result)), owned=e.is_owned(op.operands[0], op))


def _insert_slice(e: Emitter, op: Operation) -> None:
    inserted = e.buffer(op.operands[0])
    offsets, counts, steps = slice_of(e, op, e.shape(op.operands[1]))
    target = e.writable(op.operands[1], op)
    part = _without(e.part(target, offsets, counts, steps), _dropped(op, op.operands[0]))
    if part.shape != inserted.shape:
        raise not_emitted(op, f"the inserted tensor must have the shape {list(part.shape)}, got {list(inserted.shape)}")
    e.copy(inserted, part)
    e.set_buffer(op.result, target, owned=True)


# -- shapes ------------------------------------------------------------------------------------------------------------


def _reshaped(e: Emitter, op: Operation, shape: Sequence[int]) -> None:
    source = e.buffer(op.operands[0])
    if prod(shape) != source.size or min(shape, default=0) < 0:
        raise not_emitted(op, f"a tensor of {source.size} elements cannot be reshaped to {list(shape)}")
    owned = e.is_owned(op.operands[0], op)
    if source.splat is None and not source.is_contiguous:
        copied = e.fresh(source.type, source.shape)
        e.copy(source, copied)
        source, owned = copied, True
    result = source.reshaped(tuple(shape))
    if source.splat is not None:
        result = replace(result, strides=(0,) * len(shape))
    e.set_buffer(op.result, result, owned=owned)


def _reshape(e: Emitter, op: Operation) -> None:
    static = as_tensor(op.result.type)
    if static.has_static_shape:
        lengths = [size or 0 for size in static.shape or ()]
        if (stated := _elements(e, op.operands[1])) not in (None, lengths):
            raise not_emitted(op, f"the result must be {static}, got shape {stated}")
        if stated is None:
            raise not_emitted(op, "has a shape that is known only at run time")
        _reshaped(e, op, lengths)
    elif (stated := _elements(e, op.operands[1])) is not None:
        _reshaped(e, op, stated)
    else:
        raise not_emitted(op, "has a shape that is known only at run time")


def _elements(e: Emitter, value: Value) -> list[int] | None:
    """Return the elements of a tensor that is used as a shape; None if they are known only at run time."""
    source = value.operation
    if source is not None and source.name == "tensor.from_elements":
        numbers = [e.known(operand) for operand in source.operands]
        return None if any(number is None for number in numbers) else [int(number) for number in numbers]
    if source is not None and source.name == "arith.constant":
        return [int(number) for number in constant_array(source).reshape(-1)]
    return None


def _collapse_shape(e: Emitter, op: Operation) -> None:
    shape = e.shape(op.operands[0])
    _reshaped(e, op, [prod(shape[axis] for axis in group) for group in reassociation_of(op)])


def _expand_shape(e: Emitter, op: Operation) -> None:
    shape = numbers_of_list(e, op, "output_shape")
    try:
        check_expansion(e.shape(op.operands[0]), reassociation_of(op), shape)
    except QuantError as error:
        raise not_emitted(op, str(error)) from None
    _reshaped(e, op, shape)


def _alloc_tensor(e: Emitter, op: Operation) -> None:
    type = op.result.type
    if op.operand_group("copy"):
        _cast(e, op)
        return
    assert isinstance(type, TensorType)  # by its definition
    e.set_empty(op.result, sizes(e, op, op.operands[: (type.shape or ()).count(None)]))


HANDLERS: dict[str, Handler] = {
    "arith.constant": _constant,
    "bufferization.alloc_tensor": _alloc_tensor,
    "quant.scast": _storage_cast,
    "tensor.cast": _cast,
    "tensor.collapse_shape": _collapse_shape,
    "tensor.concat": _concat,
    "tensor.dim": dim,
    "tensor.empty": _empty,
    "tensor.expand_shape": _expand_shape,
    "tensor.extract": _extract,
    "tensor.extract_slice": _extract_slice,
    "tensor.from_elements": _from_elements,
    "tensor.generate": _generate,
    "tensor.insert": _insert,
    "tensor.insert_slice": _insert_slice,
    "tensor.pad": _pad,
    "tensor.rank": rank,
    "tensor.reshape": _reshape,
    "tensor.splat": _splat,
}
