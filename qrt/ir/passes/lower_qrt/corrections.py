"""Correction of sums of raw products for zero points: the strategy `post-accumulation`."""

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from qrt.ir import Value
from qrt.ir.core.affine import evaluate
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import Array, Extent, LoweringContext, constant_storage
from qrt.ir.passes.lower_qrt.contraction import Contraction, ProductOperand
from qrt.ir.text.dense import MAX_FOLDED, storage_dtype
from qrt.types import IntegerType

Correct = Callable[[LoopNest, Value], Value]
"""Corrects an accumulator for the zero points, in the body of the nest that reads the accumulator."""


def nothing_to_correct(nest: LoopNest, acc: Value) -> Value:
    return acc


def corrections(context: LoweringContext, c: Contraction) -> Correct:
    """Emit the operands' sums, and return a function that applies the zero-point terms to an accumulator.

    Terms with a zero point of 0 are omitted.
    """
    width = c.width
    sum_a = _sums(context, c.a, c.reduced, width) if c.w.has_zero_point else None
    sum_w = _sums(context, c.w, c.reduced, width) if c.a.has_zero_point else None
    both = c.a.has_zero_point and c.w.has_zero_point
    depth = _depth(context, c.reduced, width) if both else None

    def correct(nest: LoopNest, acc: Value) -> Value:
        nest.stage("zero-point")
        zero_points = {id(f): nest.parameter(f.zero_points, width, f.channel) for f in (c.a, c.w) if f.has_zero_point}
        for sums, of, other in ((sum_a, c.a, c.w), (sum_w, c.w, c.a)):
            if sums is not None:
                term = nest.value("arith.muli", (nest.read(sums, of.coordinates), zero_points[id(other)]), width)
                acc = nest.value("arith.subi", (acc, term), width)
        if depth is not None:
            count = nest.constant(depth, width) if isinstance(depth, int) else nest.read(depth, ())
            term = nest.value("arith.muli", (count, zero_points[id(c.a)]), width)
            term = nest.value("arith.muli", (term, zero_points[id(c.w)]), width)
            acc = nest.value("arith.addi", (acc, term), width)
        return acc

    return correct


def _depth(context: LoweringContext, reduced: Sequence[Extent], width: IntegerType) -> int | Value:
    """Return the number of products in one sum: an integer, or a tensor of rank 0 if the number is dynamic."""
    context.stage("zero-point")
    count = context.count(reduced)
    return count if isinstance(count, int) else context.filled((), context.value("arith.index_cast", (count,), width))


def _sums(context: LoweringContext, factor: ProductOperand, reduced: Sequence[Extent], width: IntegerType) -> Value:
    """Return the sums of one operand's integers over the reduced loops, a tensor of the shape `factor.extents`.

    The integers are the storage plus `factor.offset`. The sums of a constant operand are computed and emitted as a
    constant.
    """
    known = constant_values(factor, reduced)
    if known is not None:
        context.stage("zero-point")
        sums = known.sum(axis=tuple(range(len(factor.extents), known.ndim)))
        return context.dense(np.asarray(sums).astype(storage_dtype(width)), width)
    nest = LoopNest(context, "zero-point", factor.extents, reduced)
    own, inner = nest.loops[: len(factor.extents)], nest.loops[len(factor.extents) :]
    value = nest.extend(nest.read(factor.tensor, factor.index(own, inner)), width, factor.type.is_signed)
    count = prod(extent for extent in reduced if isinstance(extent, int))  # only static sums have an offset
    start = np.array(factor.offset * count).astype(storage_dtype(width))
    (sums,) = nest.finish(nest.value("arith.addi", (nest.running(width, start), value), width))
    return sums


def constant_values(factor: ProductOperand, reduced: Sequence[Extent]) -> Array | None:
    """Return the integers of a constant operand over its extents and the reduced loops; None if they are unknown."""
    source = factor.tensor.operation
    cast = source is not None and source.name == "quant.scast"
    values = constant_storage(source.operands[0]) if source is not None and cast else None
    extents = [extent for extent in (*factor.extents, *reduced) if isinstance(extent, int)]
    is_known = len(extents) == len(factor.extents) + len(reduced)
    if values is None or values.size > MAX_FOLDED or not is_known:
        return None
    loops = np.ogrid[tuple(map(slice, extents))]
    own, _inner = loops[: len(factor.extents)], loops[len(factor.extents) :]
    names = [("d", i) for i in range(len(loops))]
    indices = factor.index(names[: len(own)], names[len(own) :])
    read = values[tuple(evaluate(index, loops) for index in indices)]
    return np.broadcast_to(read + factor.offset, extents)
