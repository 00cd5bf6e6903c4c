"""Upstream's canonicalization patterns of `bufferization`."""

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.define import segments
from qrt.ir.core.matching import constant_number, defining_op, value_behind
from qrt.ir.core.traits import MEM_FREE, memory_effects
from qrt.ir.dialects._shaped.lists import constant_sizes
from qrt.ir.dialects._shaped.strides import strides_of
from qrt.ir.dialects._shaped.types import memref_type, ranked
from qrt.ir.dialects.memref import canonicalize as memref
from qrt.ir.dialects.memref.ops import dynamic_layout_count
from qrt.ir.dialects.tensor.canonicalize import cast
from qrt.ir.rewriting.rewrite import PatternResult
from qrt.types import MemRefType, TensorType

# -- to_tensor, to_buffer ----------------------------------------------------------------------------------------------


def tensor_of_buffer(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``to_tensor(to_buffer(t))`` to ``t``, if the ops are adjacent.

    An op between them might write to the buffer.
    """
    inner = defining_op(op.operands[0], "bufferization.to_buffer")
    return None if inner is None or inner.next is not op else [inner.operands[0]]


def buffer_of_tensor(op: Operation, builder: Builder) -> PatternResult:
    """Replace ``to_buffer(to_tensor(b))`` by a cast of b, or by a copy of b if the result may need another layout.

    If neither is possible, the op stays: a cast cannot change the memory space, and a copy needs a static layout.
    """
    inner = defining_op(op.operands[0], "bufferization.to_tensor")
    if inner is None:
        return None
    (source,), result_type = inner.operands, memref_type(op.results[0])
    given = memref_type(source)
    if (
        (result_type.shape is None and given.space == result_type.space)
        or given is result_type
        or _casts(given, result_type)
    ):
        return [memref.cast(builder, source, result_type)]
    if given.shape is None or result_type.shape is None or dynamic_layout_count(result_type):
        return None
    sizes = [_extent(builder, source, axis) for axis, size in enumerate(result_type.shape) if size is None]
    copy = builder.value("memref.alloc", sizes, result_type, {"operandSegmentSizes": segments(len(sizes), 0)})
    builder.emit("memref.copy", (source, copy))
    return [copy]


def _extent(builder: Builder, source: Value, axis: int) -> Value:
    return builder.value("memref.dim", (source, builder.constant(axis, INDEX)), INDEX)


def _casts(given: MemRefType, result_type: MemRefType) -> bool:
    """Return True if `given` can be cast to `result_type` without making a dynamic stride or offset static."""
    old, new = strides_of(given), strides_of(result_type)
    if given.shape is None or old is None or new is None or given.space != result_type.space:
        return False
    pairs = zip((*old.strides, old.offset), (*new.strides, new.offset), strict=True)
    return all(wanted is None or known == wanted for known, wanted in pairs)


def buffer_of_cast(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``to_buffer(cast(t))`` to ``cast(to_buffer(t))``."""
    inner = defining_op(op.operands[0], "tensor.cast")
    source = None if inner is None else inner.operands[0]
    if source is None or not isinstance(source.type, TensorType) or source.type.shape is None:
        return None
    type = memref_type(op.results[0])
    source_type = type.with_(shape=source.type.shape)
    return [memref.cast(builder, builder.value(op.name, (source,), source_type, dict(op.attributes)), type)]


def load(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``load(to_buffer(t), i)`` to ``extract(t, i)``, if no op writes to the buffer."""
    buffer = defining_op(op.operands[0], "bufferization.to_buffer")
    if buffer is None:
        return None
    if any(user.name not in ("memref.dim", "memref.load") for user in buffer.results[0].users):
        return None
    return [builder.value("tensor.extract", (buffer.operands[0], *op.operands[1:]), op.results[0].type)]


def dim_of_buffer(op: Operation, builder: Builder) -> PatternResult:
    buffer = defining_op(op.operands[0], "bufferization.to_buffer")
    return None if buffer is None else [builder.value("tensor.dim", (buffer.operands[0], op.operands[1]), INDEX)]


def dim_of_tensor(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `tensor.dim` of a `to_tensor` or `alloc_tensor`.

    It becomes a `memref.dim` of the buffer, a `tensor.dim` of the tensor that `alloc_tensor` copies, or the operand of
    `alloc_tensor` that gives the size.
    """
    (tensor, axis), source = op.operands, op.operands[0].operation
    if source is None:
        return None
    if source.name == "bufferization.to_tensor":
        return [builder.value("memref.dim", (source.operands[0], axis), INDEX)]
    number, shape = constant_number(axis), getattr(tensor.type, "shape", None)
    if source.name != "bufferization.alloc_tensor" or number is None or shape is None or not 0 <= number < len(shape):
        return None
    if copied := source.operand_group("copy"):
        return [builder.value(op.name, (copied[0], builder.constant(number, INDEX)), INDEX)]
    sizes = source.operand_group("dynamic_sizes")
    return [sizes[shape[:number].count(None)]] if shape[number] is None else None


# -- alloc_tensor, clone -----------------------------------------------------------------------------------------------


def known_sizes(op: Operation, builder: Builder) -> PatternResult:
    """Move constant sizes of an `alloc_tensor` into its type, and drop its operand `size_hint`."""
    if op.operand_group("copy"):
        return None
    type, sizes = ranked(op.results[0]), op.operand_group("dynamic_sizes")
    shape, dynamic = constant_sizes(type.shape or (), sizes)
    if len(dynamic) == len(sizes):
        return None
    attributes = {**op.attributes, "operandSegmentSizes": segments(len(dynamic), 0, 0)}
    return [cast(builder, builder.value(op.name, dynamic, type.with_(shape=shape), attributes), type)]


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


def needless_clone(op: Operation, builder: Builder) -> PatternResult:
    """Replace a clone by its source, if the next op that frees memory frees the clone or the source.

    That op, a `memref.dealloc` in the same block, is erased.
    """
    (source,), (clone,) = op.operands, op.results
    frees = _frees(clone), _frees(value_behind(source, _VIEWS))
    if any(len(deallocs) > 1 for deallocs in frees):
        return None
    freeing = [free for deallocs in frees for free in deallocs]
    if len(freeing) == 2 and freeing[0].parent is freeing[1].parent:
        return None
    redundant = next((free for free in freeing if free.parent is op.parent), None)
    if redundant is None:
        return None
    following = op.next
    while following is not redundant:
        if following is None or any(MEM_FREE in (memory_effects(inner) or ()) for inner in following.walk()):
            return None
        following = following.next
    builder.erase(redundant)
    return [memref.cast(builder, source, clone.type)]
