"""Upstream's canonicalization patterns of masks, and of comparisons of `vector.step`."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.matching import constant_number, defining_op
from qrt.ir.dialects.arith.fold import predicate_of
from qrt.ir.dialects.arith.scalars import splat_number
from qrt.ir.dialects.vector.elements import slice_of
from qrt.ir.dialects.vector.types import integers, vector_of
from qrt.ir.dialects.vector.values import dense_array, dense_of, splat
from qrt.ir.rewriting.rewrite import PatternResult
from qrt.types import Type

MASKS: Final = ("vector.create_mask", "vector.constant_mask")


def is_full(mask: Value) -> bool:
    """Return True if a mask is a constant that is true in all lanes."""
    dense = dense_of(mask)
    return dense is not None and dense.is_splat and bool(dense.first)


def _constant_mask(builder: Builder, sizes: Sequence[int], type: Type) -> PatternResult:
    """Build a `vector.constant_mask` with these sizes; if one of them is 0, all are set to 0."""
    valid = list(sizes) if all(sizes) else [0] * len(sizes)
    return [builder.value("vector.constant_mask", (), type, {"mask_dim_sizes": dense_array(valid)})]


def of_constant_sizes(op: Operation, builder: Builder) -> PatternResult:
    type = vector_of(op.results[0])
    sizes = [number for value in op.operands if (number := constant_number(value)) is not None]
    shape, scalable = type.shape or (1,), type.scalable or (False,)
    if len(sizes) < len(shape) or any(flag and size >= 0 for size, flag in zip(sizes, scalable, strict=True)):
        return None
    return _constant_mask(builder, [min(max(size, 0), n) for size, n in zip(sizes, shape, strict=True)], type)


def full_or_empty(op: Operation, builder: Builder) -> PatternResult:
    type, sizes = vector_of(op.results[0]), integers(op, "mask_dim_sizes")
    if sizes != (type.shape or (1,)) and any(sizes):
        return None
    return splat(builder, np.bool_(any(sizes)), type)


def slice_of_mask(op: Operation, builder: Builder) -> PatternResult:
    """Replace a slice of a mask by a smaller mask: the slice's offsets are subtracted from the mask's sizes."""
    mask = op.operands[0].operation
    if mask is None or mask.name not in MASKS:
        return None
    type, where = op.results[0].type, slice_of(op)
    if mask.name == "vector.constant_mask":
        sizes = list(integers(mask, "mask_dim_sizes"))
        for axis, extent in enumerate(where):
            sizes[axis] = max(0, min(extent.stop, sizes[axis]) - extent.start)
        return _constant_mask(builder, sizes, type)
    known = [constant_number(size) for size in mask.operands]
    if any(extent.start and size is None for extent, size in zip(where, known, strict=False)):
        return None  # subtracting the offset from an unknown size may overflow
    left = []
    for extent, size in zip(where, mask.operands, strict=False):
        left.append(builder.value("arith.subi", (size, builder.constant(extent.start, INDEX)), INDEX))
    return [builder.value(mask.name, [*left, *mask.operands[len(left) :]], type)]


def transposed_mask(op: Operation, builder: Builder) -> PatternResult:
    mask, order, type = op.operands[0].operation, integers(op, "permutation"), op.results[0].type
    if mask is None or mask.name not in MASKS or not order:
        return None
    if mask.name == "vector.create_mask":
        return [builder.value(mask.name, [mask.operands[axis] for axis in order], type)]
    sizes = integers(mask, "mask_dim_sizes")
    return _constant_mask(builder, [sizes[axis] for axis in order], type)


def mask_without_ones(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `shape_cast` that drops trailing dimensions of size 1 from a mask by a mask without these dimensions.

    The mask must be true along the dropped dimensions.
    """
    mask, type = op.operands[0].operation, vector_of(op.results[0])
    if mask is None or mask.name not in MASKS:
        return None
    given = vector_of(op.operands[0])
    count = len(given.shape)
    while count > 1 and (given.shape[count - 1], given.scalable[count - 1]) == (1, False):
        count -= 1
    if count == len(given.shape) or (given.shape[:count], given.scalable[:count]) != (type.shape, type.scalable):
        return None
    if mask.name == "vector.constant_mask":
        sizes = integers(mask, "mask_dim_sizes")
        return _constant_mask(builder, sizes[:count], type) if set(sizes[count:]) == {1} else None
    if any(constant_number(size) != 1 for size in mask.operands[count:]):
        return None
    return [builder.value(mask.name, mask.operands[:count], type)]


_LANES = {"ult": (0, True), "uge": (0, False), "ule": (-1, True), "ugt": (-1, False), "eq": (0, False), "ne": (0, True)}
"""By predicate of a comparison of `step` with a bound: the smallest bound, relative to the number of lanes, for which
all lanes give the same result, and this result."""


def compared_step(op: Operation, builder: Builder) -> PatternResult:
    """Replace a comparison of `vector.step` with a constant by a splat, if the result is the same in all lanes."""
    step, bound = defining_op(op.operands[0], "vector.step"), splat_number(op.operands[1])
    predicate = predicate_of(op)
    if step is None or bound is None or predicate not in _LANES:
        return None
    less, outcome = _LANES[predicate]
    type = vector_of(op.results[0])
    if any(type.scalable) or type.shape[0] + less > bound:
        return None
    return splat(builder, np.bool_(outcome), type)
