"""Emission of the ops of ``memref``, of ``affine`` loads and stores, and of conversions between tensors and memrefs.

Memory of a memref is zero at first, as in the interpreter. It is part of the function's memory, so that
``memref.dealloc`` emits nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from qrt.ir import Operation, Value
from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.attributes import UnitAttr
from qrt.ir.dialects._shaped.lists import reassociation_of
from qrt.ir.dialects._shaped.slices import PARTS
from qrt.ir.dialects._shaped.strides import is_contiguous
from qrt.ir.dialects._shaped.strides import strides_of as layout_of
from qrt.ir.dialects._shaped.types import memref_type
from qrt.ir.dialects.affine.dimensions import map_of
from qrt.ir.dialects.memref.ops import global_of, global_type
from qrt.ir.dialects.memref.views import dropped_axes, permutation_of
from qrt.ops.core import element_dtype
from qrt.runtime.codegen.buffers import Buffer, Index
from qrt.runtime.codegen.emitter import Emitter, Handler, not_emitted
from qrt.runtime.codegen.indices import evaluate
from qrt.runtime.codegen.tensors import dim, numbers_of_list, rank, slice_of
from qrt.types import MemRefType

# -- allocation --------------------------------------------------------------------------------------------------------


def _alloc(e: Emitter, op: Operation) -> None:
    type = memref_type(op.result)
    require_row_major(op, type)
    if len(op.operands) > (type.shape or ()).count(None):
        raise not_emitted(op, "has symbols of a layout, for which no code is emitted")
    sizes = iter([e.size(op, value) for value in op.operands])
    shape = tuple(next(sizes) if size is None else size for size in type.shape or ())
    if min(shape, default=0) < 0:
        raise not_emitted(op, f"every dimension must be at least 0, got shape {list(shape)}")
    e.set_buffer(op.result, e.fresh(type.element, shape, zero=True, is_exact=True))


def _dealloc(e: Emitter, op: Operation) -> None:
    """Emit nothing: memory is freed after the run. No use of the memory may follow, as that is undefined."""
    if not is_last_use(op, frozenset({"memref.alloc"})):
        raise not_emitted(op, "frees memory that is not allocated in the same block or is used afterwards")


def require_row_major(op: Operation, type: MemRefType) -> None:
    """Raise NotEmittedError unless a memref's layout is row-major without gaps."""
    if type.shape is None or not is_contiguous(type):
        raise not_emitted(op, f"has a memref {type} that is not row-major, for which no code is emitted")


def _get_global(e: Emitter, op: Operation) -> None:
    global_op = global_of(op)
    assert global_op is not None  # checked by the verifier
    type, value = global_type(global_op), global_op.attributes.get("initial_value")
    if value is None or isinstance(value, UnitAttr) or "constant" not in global_op.attributes:
        raise not_emitted(op, "reads a global that is not constant, for which no code is emitted")
    array = np.zeros([size or 0 for size in type.shape or ()], element_dtype(type.element))
    array[...] = np.asarray(value.python)
    e.set_buffer(op.result, e.constant(array, type.element))


# -- elements ----------------------------------------------------------------------------------------------------------


def _require_bounds(e: Emitter, op: Operation, buffer: Buffer, indices: Sequence[Index]) -> None:
    values, shape = [index.value for index in indices], list(buffer.shape)
    for index, size in zip(indices, buffer.shape, strict=True):
        e.require_index(op, index, size, lambda n: f"index {n} is out of bounds of shape {shape}", values)


def _access(e: Emitter, op: Operation, memref: Value, indices: Sequence[Index]) -> Buffer:
    buffer = e.buffer(memref)
    _require_bounds(e, op, buffer, indices)
    return buffer


def _load_from(e: Emitter, op: Operation, indices: Sequence[Index]) -> None:
    e.define(op.result, e.load(_access(e, op, op.operands[0], indices), indices))


def _store_to(e: Emitter, op: Operation, indices: Sequence[Index]) -> None:
    buffer = _access(e, op, op.operands[1], indices)
    _require_writable(op, buffer)
    e.store(e.register(op.operands[0]), buffer, indices)


def _require_writable(op: Operation, buffer: Buffer) -> None:
    if buffer.is_read_only:
        raise not_emitted(op, "writes to constant memory")


def _load(e: Emitter, op: Operation) -> None:
    _load_from(e, op, [e.index(value) for value in op.operands[1:]])


def _store(e: Emitter, op: Operation) -> None:
    _store_to(e, op, [e.index(value) for value in op.operands[2:]])


def _affine(first: int, emit: Callable[[Emitter, Operation, Sequence[Index]], None]) -> Handler:
    return lambda e, op: emit(e, op, map_results(e, op, map_of(op), op.operands[first:]))


def map_results(e: Emitter, op: Operation, map: AffineMapAttr, operands: Sequence[Value]) -> list[Index]:
    """Emit the results of an affine map for the values of its dimensions and symbols."""
    indices = [e.index(value) for value in operands]
    dimensions, symbols = indices[: map.dimensions], indices[map.dimensions :]
    return [evaluate(e, op, result, dimensions, symbols) for result in map.results]


def _copy(e: Emitter, op: Operation) -> None:
    source, target = map(e.buffer, op.operands)
    _require_writable(op, target)
    if source.shape != target.shape:
        shapes = f"{list(source.shape)} and {list(target.shape)}"
        raise not_emitted(op, f"source and target must have the same shape, got {shapes}")
    if source.slot is target.slot or (source.slot.is_shared and target.slot.is_shared):
        copied = e.fresh(source.type, source.shape)
        e.copy(source, copied)
        source = copied
    e.copy(source, target)


# -- views -------------------------------------------------------------------------------------------------------------


def _subview(e: Emitter, op: Operation) -> None:
    source, dropped = e.buffer(op.operands[0]), dropped_axes(op)
    part = e.part(source, *slice_of(e, op, source.shape))
    axes = [axis for axis in range(len(source.shape)) if axis not in dropped]
    shape, strides = (tuple(numbers[axis] for axis in axes) for numbers in (part.shape, part.strides))
    e.set_buffer(op.result, replace(part, shape=shape, strides=strides))


def _cast(e: Emitter, op: Operation) -> None:
    buffer, layout = e.buffer(op.operands[0]), layout_of(memref_type(op.result))
    for size, stride, wanted in zip(buffer.shape, buffer.strides, layout.strides if layout else (), strict=False):
        if size > 1 and wanted not in (None, stride):
            raise not_emitted(op, f"the operand has strides {list(buffer.strides)}, which do not match the result type")
    if layout is not None and layout.offset is not None and (buffer.base is not None or buffer.offset != layout.offset):
        raise not_emitted(op, "the operand has an offset that does not match the result type")
    e.set_buffer(op.result, buffer)


def _transpose(e: Emitter, op: Operation) -> None:
    buffer, order = e.buffer(op.operands[0]), permutation_of(op)
    shape, strides = (tuple(numbers[axis] for axis in order) for numbers in (buffer.shape, buffer.strides))
    e.set_buffer(op.result, replace(buffer, shape=shape, strides=strides))


def _reshaped(e: Emitter, op: Operation, shape: Sequence[int]) -> None:
    """Set the result to the operand's elements in another shape; the operand must be contiguous."""
    buffer = e.buffer(op.operands[0])
    if not buffer.is_contiguous or prod(shape) != buffer.size or min(shape, default=0) < 0:
        raise not_emitted(op, f"cannot reshape a memref of shape {list(buffer.shape)} to {list(shape)} in place")
    e.set_buffer(op.result, buffer.reshaped(tuple(shape)))


def _expand_shape(e: Emitter, op: Operation) -> None:
    _reshaped(e, op, numbers_of_list(e, op, "output_shape"))


def _collapse_shape(e: Emitter, op: Operation) -> None:
    shape = e.shape(op.operands[0])
    _reshaped(e, op, [prod(shape[axis] for axis in group) for group in reassociation_of(op)])


def _reinterpret_cast(e: Emitter, op: Operation) -> None:
    source = e.buffer(op.operands[0])
    (offset,), shape, strides = (numbers_of_list(e, op, name) for name in PARTS)
    ends = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    low, high = offset + sum(min(end, 0) for end in ends), offset + sum(max(end, 0) for end in ends)
    count = source.slot.nbytes // source.element.dtype.itemsize
    if min(shape, default=0) < 0 or not source.is_whole:
        raise not_emitted(op, "has a size or memory for which no code is emitted")
    if 0 not in shape and not 0 <= low <= high < count:
        raise not_emitted(op, f"elements {low} to {high} are out of bounds of the buffer of {count} elements")
    e.set_buffer(op.result, replace(source, shape=tuple(shape), strides=tuple(strides), offset=offset))


# -- tensors and memrefs -----------------------------------------------------------------------------------------------


def _clone(e: Emitter, op: Operation) -> None:
    source = e.buffer(op.operands[0])
    copied = e.fresh(source.type, source.shape)
    e.copy(source, copied)
    e.set_buffer(op.result, copied)


def _materialize(e: Emitter, op: Operation) -> None:
    if op.results:
        e.set_buffer(op.result, e.buffer(op.operands[0]))
    else:
        _copy(e, op)


def _to_buffer(e: Emitter, op: Operation) -> None:
    require_row_major(op, memref_type(op.result))
    buffer = e.buffer(op.operands[0])
    if buffer.splat is None and not buffer.is_contiguous:
        copied = e.fresh(buffer.type, buffer.shape)
        e.copy(buffer, copied)
        buffer = copied
    e.set_buffer(op.result, replace(buffer, is_read_only=True))


def _to_tensor(e: Emitter, op: Operation) -> None:
    buffer = e.buffer(op.operands[0])
    if is_last_use(op, frozenset({"memref.alloc"}), _ACCESSES):
        e.set_buffer(op.result, replace(buffer, is_read_only=False), owned=not buffer.is_read_only)
        return
    copied = e.fresh(buffer.type, buffer.shape)
    e.copy(buffer, copied)
    e.set_buffer(op.result, copied, owned=True)


def is_last_use(op: Operation, makers: frozenset[str], users: frozenset[str] | None = None) -> bool:
    """Return True if no later operation uses the first operand of ``op``, a memref, or a view of this memref.

    Return False unless an op in the same block, with a name in ``makers``, made the memref. If ``users`` is given,
    return False also if an op whose name is not in ``users`` uses the memref or a view of it.
    """
    source, block = op.operands[0].operation, op.parent
    if source is None or block is None or source.parent is not block or source.name not in makers:
        return False
    positions = {other: number for number, other in enumerate(block)}
    pending = [op.operands[0]]
    while pending:
        for user in pending.pop().users:
            inside: Operation | None = user
            while inside is not None and inside.parent is not block:
                inside = inside.parent_operation
            if inside is None or positions[inside] > positions[op] or (users is not None and user.name not in users):
                return False
            pending += [value for value in user.results if isinstance(value.type, MemRefType)]
    return True


_ACCESSES = frozenset({"affine.load", "affine.store", "memref.load", "memref.store", "bufferization.to_tensor"})

HANDLERS: dict[str, Handler] = {
    "affine.load": _affine(1, _load_from),
    "affine.store": _affine(2, _store_to),
    "bufferization.clone": _clone,
    "bufferization.materialize_in_destination": _materialize,
    "bufferization.to_buffer": _to_buffer,
    "bufferization.to_tensor": _to_tensor,
    "memref.alloc": _alloc,
    "memref.alloca": _alloc,
    "memref.cast": _cast,
    "memref.collapse_shape": _collapse_shape,
    "memref.copy": _copy,
    "memref.dealloc": _dealloc,
    "memref.dim": dim,
    "memref.expand_shape": _expand_shape,
    "memref.get_global": _get_global,
    "memref.load": _load,
    "memref.rank": rank,
    "memref.reinterpret_cast": _reinterpret_cast,
    "memref.store": _store,
    "memref.subview": _subview,
    "memref.transpose": _transpose,
}
