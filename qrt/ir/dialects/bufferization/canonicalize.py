"""Canonicalization patterns of `bufferization`: upstream's."""

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.define import segments
from qrt.ir.core.matching import constant_number, made_by, value_behind
from qrt.ir.core.traits import MEM_FREE, memory_effects
from qrt.ir.dialects._shaped.lists import constant_sizes
from qrt.ir.dialects._shaped.strides import strides_of
from qrt.ir.dialects._shaped.types import memref_type, ranked
from qrt.ir.dialects.memref import canonicalize as memref
from qrt.ir.dialects.memref.ops import open_numbers
from qrt.ir.dialects.tensor.canonicalize import cast
from qrt.ir.rewriting.rewrite import Made
from qrt.types import MemRefType, TensorType

# -- to_tensor, to_buffer ----------------------------------------------------------------------------------------------


def tensor_of_buffer(op: Operation, builder: Builder) -> Made:
    """``to_tensor(to_buffer(t)) -> t``, if nothing between them may write to the buffer."""
    inner = made_by(op.operands[0], "bufferization.to_buffer")
    return None if inner is None or inner.next is not op else [inner.operands[0]]


def buffer_of_tensor(op: Operation, builder: Builder) -> Made:
    """The buffer that the tensor is of; a copy of it where its layout may be another. Neither a cast to another memory
    space exists, nor a copy with a layout that leaves numbers open."""
    inner = made_by(op.operands[0], "bufferization.to_tensor")
    if inner is None:
        return None
    (source,), made = inner.operands, memref_type(op.results[0])
    given = memref_type(source)
    if (made.shape is None and given.space == made.space) or given is made or _casts(given, made):
        return [memref.cast(builder, source, made)]
    if given.shape is None or made.shape is None or open_numbers(made):
        return None
    sizes = [_extent(builder, source, axis) for axis, size in enumerate(made.shape) if size is None]
    copy = builder.value("memref.alloc", sizes, made, {"operandSegmentSizes": segments(len(sizes), 0)})
    builder.emit("memref.copy", (source, copy))
    return [copy]


def _extent(builder: Builder, source: Value, axis: int) -> Value:
    return builder.value("memref.dim", (source, builder.constant(axis, INDEX)), INDEX)


def _casts(given: MemRefType, made: MemRefType) -> bool:
    """Whether a cast says nothing of the layout that was not known."""
    old, new = strides_of(given), strides_of(made)
    if given.shape is None or old is None or new is None or given.space != made.space:
        return False
    pairs = zip((*old.strides, old.offset), (*new.strides, new.offset), strict=True)
    return all(wanted is None or known == wanted for known, wanted in pairs)


def buffer_of_cast(op: Operation, builder: Builder) -> Made:
    """``to_buffer(cast(t)) -> cast(to_buffer(t))``."""
    inner = made_by(op.operands[0], "tensor.cast")
    source = None if inner is None else inner.operands[0]
    if source is None or not isinstance(source.type, TensorType) or source.type.shape is None:
        return None
    type = memref_type(op.results[0])
    made = type.with_(shape=source.type.shape)
    return [memref.cast(builder, builder.value(op.name, (source,), made, dict(op.attributes)), type)]


def load(op: Operation, builder: Builder) -> Made:
    """``load(to_buffer(t), i) -> extract(t, i)``, if the buffer is only read."""
    buffer = made_by(op.operands[0], "bufferization.to_buffer")
    if buffer is None:
        return None
    if any(user.name not in ("memref.dim", "memref.load") for user in buffer.results[0].users):
        return None
    return [builder.value("tensor.extract", (buffer.operands[0], *op.operands[1:]), op.results[0].type)]


def dim_of_buffer(op: Operation, builder: Builder) -> Made:
    buffer = made_by(op.operands[0], "bufferization.to_buffer")
    return None if buffer is None else [builder.value("tensor.dim", (buffer.operands[0], op.operands[1]), INDEX)]


def dim_of_tensor(op: Operation, builder: Builder) -> Made:
    """The size of a tensor is that of its buffer, of the tensor it was copied from, or the operand with which it was
    made.
    """
    (tensor, axis), made = op.operands, op.operands[0].operation
    if made is None:
        return None
    if made.name == "bufferization.to_tensor":
        return [builder.value("memref.dim", (made.operands[0], axis), INDEX)]
    number, shape = constant_number(axis), getattr(tensor.type, "shape", None)
    if made.name != "bufferization.alloc_tensor" or number is None or shape is None or not 0 <= number < len(shape):
        return None
    if copied := made.operand_group("copy"):
        return [builder.value(op.name, (copied[0], builder.constant(number, INDEX)), INDEX)]
    sizes = made.operand_group("dynamic_sizes")
    return [sizes[shape[:number].count(None)]] if shape[number] is None else None


# -- alloc_tensor, clone -----------------------------------------------------------------------------------------------


def known_sizes(op: Operation, builder: Builder) -> Made:
    """Constant sizes of an `alloc_tensor` become part of its type, and its size hint is dropped."""
    if op.operand_group("copy"):
        return None
    type, sizes = ranked(op.results[0]), op.operand_group("dynamic_sizes")
    shape, kept = constant_sizes(type.shape or (), sizes)
    if len(kept) == len(sizes):
        return None
    attributes = {**op.attributes, "operandSegmentSizes": segments(len(kept), 0, 0)}
    return [cast(builder, builder.value(op.name, kept, type.with_(shape=shape), attributes), type)]


def _frees(value: Value) -> list[Operation]:
    return [user for user in value.users if user.name == "memref.dealloc"]


_VIEWS = {
    "memref.assume_alignment",
    "memref.cast",
    "memref.collapse_shape",
    "memref.expand_shape",
    "memref.memory_space_cast",
    "memref.reinterpret_cast",
    "memref.reshape",
    "memref.subview",
    "memref.transpose",
    "memref.view",
}


def needless_clone(op: Operation, builder: Builder) -> Made:
    """The source lives on as the clone, one of which is freed in this block, with nothing else freed before."""
    (source,), (clone,) = op.operands, op.results
    frees = _frees(clone), _frees(value_behind(source, _VIEWS))
    if any(len(each) > 1 for each in frees):
        return None
    freeing = [free for each in frees for free in each]
    if len(freeing) == 2 and freeing[0].parent is freeing[1].parent:
        return None
    redundant = next((free for free in freeing if free.parent is op.parent), None)
    if redundant is None:
        return None
    following = op.next
    while following is not redundant:
        if following is None or any(MEM_FREE in (memory_effects(each) or ()) for each in following.walk()):
            return None
        following = following.next
    builder.erase(redundant)
    return [memref.cast(builder, source, clone.type)]
