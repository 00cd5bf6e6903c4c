"""Lowering of reduce_max, reduce_min, argmax, argmin and top_k to loops that carry the extreme element and its index.

The loops take elements in ascending order of index, and an equal element does not replace an earlier one. top_k counts,
for each element, the elements that precede it in the result; this count is its index in the result.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from qrt.errors import QuantTypeError
from qrt.ir import IntegerAttr, Operation, StringAttr, Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I1, I32, I64, Extent, LoweringContext, tensor_type
from qrt.ir.passes.elementwise import INDEX
from qrt.ops.core import Attributes, element_dtype, one_axis, reduced_axes
from qrt.types import FloatType, IntegerType, Type, UniformType

_EQ, _SLT, _SGT, _SGE, _ULT, _UGT = 0, 2, 4, 5, 6, 8
"""Predicates of arith.cmpi: equal, less and greater, signed and unsigned; signed greater or equal."""
_OLT, _OGT, _ORD, _UNO = 4, 2, 7, 14
"""Predicates of arith.cmpf: ordered less and greater, both ordered, one a NaN."""


def _lower_reduce(name: str, context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.reduce_max or qrt.reduce_min and return its result (storage integers if it is quantized)."""
    axes = reduced_axes(name, (tensor_type(op.operands[0]),), attributes)
    keeps, stored = attributes["keepdims"], context.storage(op.operands[0])
    sizes = context.extents(stored)
    outer: list[Extent] = [1 if d in axes else n for d, n in enumerate(sizes) if keeps or d not in axes]
    nest = LoopNest(context, "extremes", outer, [sizes[d] for d in axes])
    at = nest.split(axes, len(sizes), keeps)
    value = nest.read(stored, at)
    best = nest.running(value.type, _start(name, op))
    beyond = _comes_before(nest, name, op, value, best)
    return nest.finish(nest.value("arith.select", (beyond, value, best), value.type))[0]


def _lower_arg(name: str, context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.argmax or qrt.argmin and return the indices."""
    axis = one_axis(name, (tensor_type(op.operands[0]),), attributes)
    stored = context.storage(op.operands[0])
    sizes = context.extents(stored)
    nest = LoopNest(context, "extremes", [*sizes[:axis], *sizes[axis + 1 :]], sizes[axis : axis + 1])
    *others, last = nest.loops
    value = nest.read(stored, (*others[:axis], last, *others[axis:]))
    best, number = nest.running(value.type, _start(name, op)), nest.running(I64, 0)
    beyond = _comes_before(nest, name, op, value, best)
    here = nest.value("arith.index_cast", (nest.position(last),), I64)
    chosen = [nest.value("arith.select", (beyond, *pair), pair[0].type) for pair in ((value, best), (here, number))]
    numbers = nest.finish(*chosen)[1]
    element = tensor_type(op.results[0]).element
    if element is I64:
        return numbers
    nest = LoopNest(context, "extremes", context.extents(numbers))
    return nest.finish(nest.value("arith.trunci", (nest.read(numbers, nest.loops),), element))[0]


def _start(name: str, op: Operation) -> int | float:
    """Return the initial value of a reduction: the element type's least value for a maximum, else its greatest."""
    t, least = tensor_type(op.operands[0]).element, name.endswith("min")
    if isinstance(t, UniformType):
        low, high = t.default_bounds
        return high if least else low
    if isinstance(t, FloatType):
        return np.inf if least else -np.inf
    if not isinstance(t, IntegerType) or t.signedness != "signless":
        raise QuantTypeError(
            f"the elements must be quantized, floats or signless integers, got {t}: the dialect arith compares no "
            "other types"
        )
    if t.width == 1:
        return int(least)
    info = np.iinfo(element_dtype(t))
    return int(info.max if least else info.min) >> (info.bits - t.width)


def _comes_before(nest: LoopNest, name: str, op: Operation, value: Value, best: Value) -> Value:
    return is_beyond(nest, tensor_type(op.operands[0]).element, name.endswith("min"), value, best)


def is_beyond(nest: LoopNest, t: Type, least: bool, value: Value, best: Value) -> Value:
    """Emit the test `value < best` if `least`, else `value > best`, for elements of type `t`.

    A NaN replaces any number: the test is also true if `value` is a NaN and `best` is not.
    """
    if isinstance(t, FloatType):
        beyond = nest.compare_floats(_OLT if least else _OGT, value, best)
        is_nan, was_none = nest.compare_floats(_UNO, value, value), nest.compare_floats(_ORD, best, best)
        return nest.value("arith.ori", (beyond, nest.value("arith.andi", (is_nan, was_none), I1)), I1)
    signed = t.is_signed if isinstance(t, UniformType) else value.type is not I1
    return nest.compare((_SLT if least else _SGT) if signed else (_ULT if least else _UGT), value, best)


lower_reduce_max, lower_reduce_min = (partial(_lower_reduce, name) for name in ("reduce_max", "reduce_min"))
lower_argmax, lower_argmin = (partial(_lower_arg, name) for name in ("argmax", "argmin"))


def lower_top_k(context: LoweringContext, op: Operation, attributes: Attributes) -> Sequence[Value]:
    """Lower a qrt.top_k and return (values, indices); the values are storage integers if they are quantized."""
    stored, element = context.storage(op.operands[0]), tensor_type(op.operands[0]).element
    *rest, size = context.extents(stored)
    k = int(attributes["k"])
    if not isinstance(size, int):
        is_within = IntegerAttr(_SGE, I64)
        sizes = context.index(size), context.constant(k, INDEX)
        fits = context.value("arith.cmpi", sizes, I1, {"predicate": is_within})
        message = f"top_k: the last axis of 'x' must have a size of at least 'k' = {k}"
        context.emit("cf.assert", (fits,), (), {"msg": StringAttr(message)})
    nest = LoopNest(context, "order", [*rest, size], [size])
    *outer, here, other = nest.loops
    mine, its = nest.read(stored, (*outer, here)), nest.read(stored, (*outer, other))
    before, behind = (is_beyond(nest, element, False, *pair) for pair in ((its, mine), (mine, its)))
    earlier = nest.compare(_SLT, *(nest.value("arith.index_cast", (nest.position(i),), I64) for i in (other, here)))
    level = nest.value("arith.xori", (nest.value("arith.ori", (before, behind), I1), nest.constant(1, I1)), I1)
    first = nest.value("arith.ori", (before, nest.value("arith.andi", (level, earlier), I1)), I1)
    counted = nest.value("arith.extui", (first,), I32)
    (places,) = nest.finish(nest.value("arith.addi", (nest.running(I32, 0), counted), I32))

    nest = LoopNest(context, "select", [*rest, k], [size])
    *outer, wanted, other = nest.loops
    place = nest.read(places, (*outer, other))
    is_wanted = nest.compare(_EQ, place, nest.value("arith.index_cast", (nest.position(wanted),), I32))
    number = nest.value("arith.index_cast", (nest.position(other),), I32)
    chosen = [
        nest.value("arith.select", (is_wanted, value, so_far), value.type)
        for value in (nest.read(stored, (*outer, other)), number)
        for so_far in (nest.running(value.type, 0),)
    ]
    return nest.finish(*chosen)
