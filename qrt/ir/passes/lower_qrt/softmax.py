"""Lowering of softmax and log_softmax.

A line is a vector of elements along the softmax axis. The loops compute the largest element of each line, and for each
element the table entry of its distance from the largest. Then they add the entries of each line, and compute each
result from its entry and the sum by the rule in the attribute `requant`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import qrt.numerics as numerics
from qrt.errors import QuantTypeError
from qrt.ir import Operation, Value
from qrt.ir.core.affine import Expression
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, F64, I16, I32, I64, Array, LoweringContext, tensor_type, uniform_type
from qrt.ir.passes.elementwise import INDEX
from qrt.ir.passes.lower_qrt.floats32 import logarithm
from qrt.ir.passes.lower_qrt.gemmlowp import Fixed
from qrt.ir.passes.lower_qrt.lookup import interpolated
from qrt.ir.passes.lower_qrt.requantize import clamp, round_float, to_storage
from qrt.ops.core import Attributes, one_axis
from qrt.ops.elementwise import INTEGER_PREDICATES
from qrt.types import FloatType, IntegerType, UniformType

_GREATER = list(INTEGER_PREDICATES).index("sgt")


@dataclass
class _Lines:
    """The storage of a softmax operand, with the operand's quantized type `x` and the result's, `element`.

    A line is the elements along the softmax axis for one choice of the other indices.
    """

    context: LoweringContext
    stored: Value
    axis: int
    x: UniformType
    element: UniformType

    def __post_init__(self) -> None:
        self.sizes = self.context.extents(self.stored)
        self.rest = (*self.sizes[: self.axis], *self.sizes[self.axis + 1 :])

    def reduction_nest(self, stage: str) -> tuple[LoopNest, tuple[Expression, ...]]:
        """Return a loop nest that reduces the softmax axis, and the indices of the current element in its loops."""
        nest = LoopNest(self.context, stage, self.rest, self.sizes[self.axis : self.axis + 1])
        *others, last = nest.loops
        return nest, (*others[: self.axis], last, *others[self.axis :])

    def element_nest(self, stage: str) -> tuple[LoopNest, tuple[Expression, ...]]:
        """Return a loop nest over all elements, and the indices of the current element without the softmax axis."""
        nest = LoopNest(self.context, stage, self.sizes)
        return nest, (*nest.loops[: self.axis], *nest.loops[self.axis + 1 :])

    def maxima(self) -> Value:
        nest, at = self.reduction_nest("largest")
        value = nest.read(self.stored, at)
        largest = nest.running(value.type, self.x.storage_min)
        name = f"arith.max{'si' if self.x.is_signed else 'ui'}"
        return nest.finish(nest.value(name, (largest, value), value.type))[0]

    def entries(self, maxima: Value, table: Array, type: IntegerType | FloatType) -> Value:
        """Return a tensor with the entry `table[m - element]` for each element, where m is the maximum of its line."""
        self.context.stage("table")
        constant = self.context.dense(table, type)
        nest, others = self.element_nest("table")
        distance = nest.value("arith.index_cast", (self.distance(nest, maxima, others),), INDEX)
        return nest.finish(nest.gather(constant, [distance]))[0]

    def distance(self, nest: LoopNest, maxima: Value, others: tuple[Expression, ...]) -> Value:
        places = (maxima, others), (self.stored, nest.loops)
        pair = [nest.extend(nest.read(t, i), I32, self.x.is_signed) for t, i in places]
        return nest.value("arith.subi", pair, I32)

    def total(self, entries: Value, type: IntegerType | FloatType, term: Callable[[LoopNest, Value], Value]) -> Value:
        """Return for each line the sum of `term(nest, entry)` over its elements, added in order.

        `entry` is the element's number in the tensor `entries`.
        """
        nest, at = self.reduction_nest("sum")
        value = term(nest, nest.read(entries, at))
        name = "arith.addf" if isinstance(type, FloatType) else "arith.addi"
        return nest.finish(nest.value(name, (nest.running(type, 0), value), type))[0]

    def rounded(self, nest: LoopNest, value: Value, rounding: str) -> Value:
        """Round a float, add the zero point, clamp to the result's storage, and return the tensor of the results.

        The clamp is in f64, which represents all bounds.
        """
        value = nest.value("arith.extf", (value,), F64) if value.type is F32 else value
        zero_point = np.array(self.element.zero_point)
        integer = round_float(nest, value, rounding, zero_point, (), self.element)
        return nest.finish(to_storage(nest, integer, zero_point, (), self.element))[0]

    def stored_integer(self, nest: LoopNest, value: Value) -> Value:
        """Clamp an integer, zero point included, to the result's storage, and return the tensor of the results."""
        assert isinstance(self.element.storage_type, IntegerType)
        nest.stage("clamp")
        bounded = clamp(nest, value, self.element.storage_min, self.element.storage_max)
        return nest.finish(nest.value("arith.trunci", (bounded,), self.element.storage_type))[0]


def _lines(context: LoweringContext, op: Operation, attributes: Attributes, name: str) -> _Lines:
    x, element = (uniform_type(value) for value in (op.operands[0], op.results[0]))
    axis = one_axis(name, (tensor_type(op.operands[0]),), attributes)
    return _Lines(context, context.storage(op.operands[0]), axis, x, element)


def lower_softmax(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.softmax and return its result as storage integers."""
    lines = _lines(context, op, attributes, "softmax")
    return _SOFTMAX[attributes["requant"]](lines, float(attributes["beta"]))


def lower_log_softmax(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.log_softmax and return its result as storage integers."""
    lines = _lines(context, op, attributes, "log_softmax")
    return (_log_gemmlowp if attributes["requant"] == "gemmlowp" else _log_float32)(lines)


def _table_int32(lines: _Lines, beta: float) -> Value:
    entries = lines.entries(lines.maxima(), numerics.softmax_table(lines.x.scale, beta), I32)
    sums = lines.total(entries, I64, lambda nest, value: nest.extend(value, I64))
    nest, others = lines.element_nest("quotient")
    entry = nest.value("arith.sitofp", (nest.extend(nest.read(entries, nest.loops), I64),), F64)
    total = nest.value("arith.sitofp", (nest.read(sums, others),), F64)
    scaled = nest.value("arith.mulf", (total, nest.constant(lines.element.scale, F64)), F64)
    return lines.rounded(nest, nest.value("arith.divf", (entry, scaled), F64), "math.roundeven")


def _table_float32(lines: _Lines, beta: float) -> Value:
    entries = lines.entries(lines.maxima(), numerics.softmax_table_float32(lines.x.scale, beta), F32)
    sums = lines.total(entries, F32, lambda nest, value: value)
    nest, others = lines.element_nest("quotient")
    scale = nest.constant(np.float32(lines.element.scale), F32)
    scaled = nest.value("arith.mulf", (nest.read(sums, others), scale), F32)
    inverse = nest.value("arith.divf", (nest.constant(1.0, F32), scaled), F32)
    value = nest.value("arith.mulf", (nest.read(entries, nest.loops), inverse), F32)
    return lines.rounded(nest, value, "math.round")


def _table_shifted(lines: _Lines, beta: float) -> Value:
    size = lines.sizes[lines.axis]
    if not isinstance(size, int):
        raise QuantTypeError(
            f"with requant = 'table_shifted' the size of axis {lines.axis} must be static, because the table depends "
            "on "
            "it, but it is dynamic"
        )
    table = numerics.softmax_table_shifted(lines.x.scale, beta, size)
    entries = lines.entries(lines.maxima(), table, F32)
    sums = lines.total(entries, F32, lambda nest, value: value)
    nest, others = lines.element_nest("quotient")
    units = nest.constant(numerics.softmax_units(lines.element.scale), F32)
    scaled = nest.value("arith.mulf", (nest.read(entries, nest.loops), units), F32)
    return lines.rounded(nest, nest.value("arith.divf", (scaled, nest.read(sums, others)), F32), "math.roundeven")


def _gemmlowp_sum(lines: _Lines, entries: Value) -> Value:
    return lines.total(entries, I64, lambda nest, value: Fixed(nest).divide(nest.extend(value, I64), numerics.SUM_BITS))


def _gemmlowp(lines: _Lines, beta: float) -> Value:
    entries = lines.entries(lines.maxima(), numerics.softmax_table_gemmlowp(lines.x.scale, beta), I32)
    sums = _gemmlowp_sum(lines, entries)
    nest, others = lines.element_nest("quotient")
    fixed, total = Fixed(nest), nest.read(sums, others)
    headroom = fixed.leading_zeros(total)
    scale = fixed.reciprocal(fixed.subtract(fixed.left(total, headroom), 1 << 31))
    product = fixed.multiply(scale, nest.extend(nest.read(entries, nest.loops), I64))
    exponent = fixed.subtract(numerics.SUM_BITS + 31 - lines.element.storage_width, headroom)
    value = fixed.add(fixed.divide(product, exponent), lines.element.storage_min)
    return lines.stored_integer(nest, value)


def _table_int16(lines: _Lines, beta: float) -> Value:
    multiplier, shift = numerics.softmax_multiplier_int16(lines.x.scale, beta)
    tables = numerics.softmax_tables_int16()
    maxima = lines.maxima()
    lines.context.stage("table")
    exponential, reciprocal = (lines.context.dense(table, I16) for table in tables)
    nest, others = lines.element_nest("table")
    fixed = Fixed(nest)
    distance = nest.extend(lines.distance(nest, maxima, others), I64)
    scaled = fixed.add(fixed.scale(fixed.subtract(0, distance), multiplier, shift), 32767)
    entry = interpolated(nest, exponential, clamp(nest, scaled, -32768, 32767))
    (entries,) = nest.finish(nest.value("arith.trunci", (entry,), I32))
    sums = lines.total(entries, I64, lambda nest, value: nest.extend(value, I64))
    nest, others = lines.element_nest("quotient")
    fixed, total = Fixed(nest), nest.read(sums, others)
    headroom = fixed.leading_zeros(total)
    normal = fixed.right(fixed.add(fixed.left(total, fixed.subtract(headroom, 1)), 1 << 13), 14)
    at = clamp(nest, fixed.subtract(normal, (1 << 15) + (1 << 16)), -32768, 32767)
    product = fixed.emit("muli", nest.extend(nest.read(entries, nest.loops), I64), interpolated(nest, reciprocal, at))
    places = fixed.subtract(31, headroom)
    value = fixed.right(fixed.add(product, fixed.left(1, fixed.subtract(places, 1))), places)
    return lines.stored_integer(nest, value)


def _log_float32(lines: _Lines) -> Value:
    s, so = np.float32(lines.x.scale), np.float32(lines.element.scale)
    maxima = lines.maxima()
    entries = lines.entries(maxima, numerics.softmax_table_float32(lines.x.scale, 1.0), F32)
    sums = lines.total(entries, F32, lambda nest, value: value)
    nest, others = lines.element_nest("difference")
    largest, value = (
        nest.value("arith.sitofp", (nest.extend(nest.read(t, i), I32, lines.x.is_signed),), F32)
        for t, i in ((maxima, others), (lines.stored, nest.loops))
    )
    scaled = nest.value("arith.mulf", (nest.constant(s, F32), largest), F32)
    total = nest.value("arith.addf", (scaled, logarithm(nest, nest.read(sums, others))), F32)
    offset = nest.value("arith.divf", (total, nest.constant(so, F32)), F32)
    product = nest.value("arith.mulf", (nest.constant(s / so, F32), value), F32)
    return lines.rounded(nest, nest.value("arith.subf", (product, offset), F32), "math.roundeven")


def _log_gemmlowp(lines: _Lines) -> Value:
    p = numerics.log_softmax_parameters(lines.x.scale)
    maxima = lines.maxima()
    entries = lines.entries(maxima, p.table, I32)
    scaled = lines.entries(maxima, p.scaled, I32)
    sums = _gemmlowp_sum(lines, entries)
    nest, others = lines.element_nest("difference")
    fixed = Fixed(nest)
    log = fixed.logarithm(nest.read(sums, others), numerics.SUM_BITS, 5)
    threshold = fixed.scale(fixed.subtract(log, 1 << 31), p.multiplier, p.shift)
    least = fixed.emit("maxsi", threshold, -p.radius - 1)
    difference = fixed.subtract(nest.extend(nest.read(scaled, nest.loops), I64), log)
    value = fixed.add(fixed.divide(difference, 31 - 5 - 4), lines.element.zero_point)
    distance = fixed.subtract(0, nest.extend(lines.distance(nest, maxima, others), I64))
    counts = nest.compare(_GREATER, distance, least)
    return lines.stored_integer(nest, fixed.select(counts, value, lines.element.storage_min))


_SOFTMAX: dict[str, Callable[[_Lines, float], Value]] = {
    "table_int32": _table_int32,
    "table_float32": _table_float32,
    "gemmlowp": _gemmlowp,
    "table_int16": _table_int16,
    "table_shifted": _table_shifted,
}
