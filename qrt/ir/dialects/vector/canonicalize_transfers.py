"""Upstream's canonicalization patterns of `vector.transfer_read` and `vector.transfer_write`.

Upstream's patterns that change a value or drop an error are left out.
"""

from collections.abc import Iterator

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.attributes import FALSE, TRUE, ArrayAttr
from qrt.ir.core.define import segments
from qrt.ir.core.matching import constant_number, constant_of, defining_op
from qrt.ir.dialects._shaped.lists import mixed_values, with_lists
from qrt.ir.dialects._shaped.slices import PARTS
from qrt.ir.dialects._shaped.types import ranked, shaped
from qrt.ir.dialects.tensor.canonicalize import cast_source
from qrt.ir.dialects.vector.canonicalize_masks import is_full
from qrt.ir.dialects.vector.transfers import BOUNDS, MAP, is_in_bounds, is_plain, minor_identity, permutation_of
from qrt.ir.dialects.vector.types import part_type, vector_of
from qrt.ir.dialects.vector.values import changed, dense_array, dense_of
from qrt.ir.rewriting.rewrite import IN_PLACE, Pattern, PatternResult
from qrt.types import TensorType, VectorType


class Transfer:
    """Operands and attributes of a `vector.transfer_read` or `vector.transfer_write`.

    `base` is the tensor or memref, called the memory here.
    """

    def __init__(self, op: Operation) -> None:
        group = op.operand_group
        self.base: Value = group("base")[0]
        self.indices = group("indices")
        self.mask = group("mask")
        self.vector = op.results[0] if op.name == "vector.transfer_read" else op.operands[0]
        self.type: VectorType = vector_of(self.vector)
        self.map = op.attributes[MAP]
        self.permutation = permutation_of(op)
        self.in_bounds = is_in_bounds(op)

    @property
    def shape(self) -> tuple[int | None, ...]:
        return shaped(self.base).shape or ()

    @property
    def is_minor_identity(self) -> bool:
        return self.map == minor_identity(len(self.indices), len(self.type.shape))

    @property
    def extents(self) -> list[int]:
        """The vector's size along each dimension of the memory; 0 if the vector does not extend along the dimension."""
        sizes = dict(zip(self.permutation, self.type.shape, strict=True))
        return [sizes.get(axis, 0) for axis in range(len(self.indices))]

    def accesses_same_elements(self, other: "Transfer") -> bool:
        """Return True if two transfers to or from one memory access the same element in each lane."""
        return self.indices == other.indices and self.map == other.map and self.type is other.type

    def is_disjoint_from(self, other: "Transfer") -> bool:
        """Return True if constant indices show that two transfers to or from one memory have no element in common."""
        if self.type is not other.type:
            return False
        lead = len(self.indices) - len(self.permutation)
        for axis, pair in enumerate(zip(self.indices, other.indices, strict=True)):
            first, second = map(constant_number, pair)
            # Upstream assumes that the vector lies along the last dimensions, and ignores the map.
            taken = self.type.shape[axis - lead] if axis >= lead else 1
            reach = max(taken, self.extents[axis], other.extents[axis])
            if first is not None and second is not None and abs(first - second) >= reach:
                return True
        return False


def _writes_before(base: Value) -> Iterator[tuple[Operation, Transfer]]:
    """Yield the chain of `vector.transfer_write` ops that produces a tensor, the last write first."""
    while isinstance(base.type, TensorType) and (write := defining_op(base, "vector.transfer_write")) is not None:
        if not is_plain(write):
            return
        transfer = Transfer(write)
        yield write, transfer
        base = transfer.base


# -- transfer_read and transfer_write ----------------------------------------------------------------------------------


def _of_plain(pattern: Pattern) -> Pattern:
    """Restrict a pattern to transfers in which each lane is exactly one element of the memory."""
    return lambda op, builder: pattern(op, builder) if is_plain(op) else None


@_of_plain
def known_in_bounds(op: Operation, builder: Builder) -> PatternResult:
    """Set the `in_bounds` flags of the dimensions in which constant indices keep the transfer in bounds.

    Broadcast dimensions get the flag if all others have it.
    """
    transfer = Transfer(op)
    known = []
    for axis, size, flag in zip(transfer.permutation, transfer.type.shape, transfer.in_bounds, strict=True):
        begin = None if axis is None else constant_number(transfer.indices[axis])
        extent = None if axis is None else transfer.shape[axis]
        known.append(flag or (begin is not None and extent is not None and 0 <= begin <= extent - size))
    if all(flag for axis, flag in zip(transfer.permutation, known, strict=True) if axis is not None):
        known = [True] * len(known)
    if tuple(known) == transfer.in_bounds:
        return None
    return changed(builder, op, op.operands, {BOUNDS: ArrayAttr(tuple(TRUE if flag else FALSE for flag in known))})


@_of_plain
def without_mask(op: Operation, builder: Builder) -> PatternResult:
    """Remove a mask that is true in all lanes."""
    if not Transfer(op).mask or not is_full(op.operands[-1]):
        return None
    sizes = op.attributes["operandSegmentSizes"].python
    return changed(builder, op, op.operands[:-1], {"operandSegmentSizes": segments(*sizes[:-1], 0)})


# -- vector.transfer_read ----------------------------------------------------------------------------------------------


@_of_plain
def read_of_written(op: Operation, builder: Builder) -> PatternResult:
    """Replace a read by the vector that was written to the same place, if no later write overlaps that place."""
    read = Transfer(op)
    for _, write in _writes_before(read.base):
        unmasked = not read.mask and not write.mask
        if all(write.in_bounds) and write.accesses_same_elements(read) and (unmasked or _is_padding(op, read, write)):
            return [write.vector]
        if not write.is_disjoint_from(read):
            return None
    return None


def _is_padding(op: Operation, read: Transfer, write: Transfer) -> bool:
    """Return True if a masked read gives the written vector, because the vector is a splat of the padding value.

    The write must have the same mask or none: then all lanes of the read, masked or not, have the padding value.
    """
    if not read.mask or (write.mask and write.mask != read.mask):
        return False
    dense, padding = dense_of(write.vector), constant_of(op.operands[-2])
    return dense is not None and dense.is_splat and dense.element_at((0,) * dense.array.ndim) == padding


@_of_plain
def written_otherwise(op: Operation, builder: Builder) -> PatternResult:
    """Replace a read of the elements that a write has just written by ``transpose(broadcast(written vector))``.

    The read may permute the dimensions of the written vector, and repeat its elements along new dimensions.
    """
    read, source = Transfer(op), defining_op(op.operands[0], "vector.transfer_write")
    if source is None or not is_plain(source) or not isinstance(read.base.type, TensorType) or not read.permutation:
        return None
    write = Transfer(source)
    if read.mask or write.mask or read.indices != write.indices or read.extents != write.extents:
        return None
    if not all(read.in_bounds) or not all(write.in_bounds):
        return None
    repeated = [axis for axis, place in enumerate(read.permutation) if place is None]
    order = [*repeated, *(read.permutation.index(place) for place in write.permutation)]
    value = builder.value("vector.broadcast", (write.vector,), part_type(read.type, order))
    permutation = dense_array([order.index(axis) for axis in range(len(order))])
    return [builder.value("vector.transpose", (value,), read.type, {"permutation": permutation})]


@_of_plain
def of_cast(op: Operation, builder: Builder) -> PatternResult:
    """Read from the source of a `tensor.cast` that only drops static sizes, instead of from its result."""
    source = cast_source(op.operands[0])
    return None if source is None else changed(builder, op, [source, *op.operands[1:]], {})


# -- vector.transfer_write ---------------------------------------------------------------------------------------------


@_of_plain
def write_of_read(op: Operation, builder: Builder) -> PatternResult:
    """Remove a write of a vector that was read from the same place; replace a copy of a whole tensor by that tensor."""
    write, source = Transfer(op), defining_op(op.operands[0], "vector.transfer_read")
    if source is None or not is_plain(source) or not isinstance(write.base.type, TensorType):
        return None
    read = Transfer(source)
    if read.mask or write.mask:
        return None
    if read.base is write.base and read.accesses_same_elements(write):
        # An out-of-bounds write with `in_bounds` is an error, which must not get lost unless the read has it too.
        has_same_error = all(read_flag for read_flag, flag in zip(read.in_bounds, write.in_bounds, strict=True) if flag)
        return [read.base] if has_same_error else None
    if read.base.type is not write.base.type or read.type.shape != write.shape or not write.type.shape:
        return None
    zeros = all(constant_number(index) == 0 for index in (*read.indices, *write.indices))
    if zeros and all((*read.in_bounds, *write.in_bounds)) and read.is_minor_identity and write.is_minor_identity:
        return [read.base]
    return None


@_of_plain
def over_write(op: Operation, builder: Builder) -> PatternResult:
    """Remove an earlier write to the same place from the chain of writes, if nothing reads between the two writes."""
    last, first = Transfer(op), op
    for write, transfer in _writes_before(last.base):
        if transfer.accesses_same_elements(last) and transfer.mask == last.mask:
            builder.set_operand(first, 1, transfer.base)
            return IN_PLACE
        if not transfer.is_disjoint_from(last) or len(write.results[0].uses) != 1:
            return None
        first = write
    return None


# -- tensor.insert_slice -----------------------------------------------------------------------------------------------


def insert_of_written(op: Operation, builder: Builder) -> PatternResult:
    """Write a vector directly into the destination of a `tensor.insert_slice`, without a tensor in between.

    The inserted tensor must be a slice, with all offsets 0, of a tensor that was completely written with the vector.
    """
    cut, into = defining_op(op.operands[0], "tensor.extract_slice"), op.operands[1]
    source = None if cut is None else defining_op(cut.operands[0], "vector.transfer_write")
    if (
        cut is None
        or source is None
        or not is_plain(source)
        or any(len(producer.results[0].uses) != 1 for producer in (cut, source))
    ):
        return None
    write, (offsets, sizes, strides) = Transfer(source), (mixed_values(op, name) for name in PARTS)
    begins, cut_sizes, steps = (mixed_values(cut, name) for name in PARTS)
    type = ranked(op.operands[0])
    if {*strides, *steps} != {1} or set(begins) != {0} or sizes != cut_sizes or type.rank != len(write.permutation):
        return None
    if any(isinstance(size, Value) for size in sizes):
        return None  # the slice may be out of bounds, an error that must not get lost
    whole = [write.shape[axis] for axis in write.permutation if axis is not None]
    if write.mask or list(write.type.shape) != whole or any(constant_number(index) != 0 for index in write.indices):
        return None
    operands, attributes = with_lists({"offsets": offsets, "sizes": sizes, "strides": strides}, (into,))
    part = builder.value("tensor.extract_slice", operands, type, attributes)
    bounds = {**source.attributes, BOUNDS: ArrayAttr((FALSE,) * len(whole))}
    written = builder.value(source.name, [write.vector, part, *write.indices], type, bounds)
    return builder.emit(op.name, [written, *op.operands[1:]], [into.type], dict(op.attributes)).results
