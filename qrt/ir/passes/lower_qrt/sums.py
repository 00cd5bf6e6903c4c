"""Lowering of mean, sum and cumsum.

A mean is the sum of `q - zp` over the reduced axes, requantized by `s_in / (s_out * count)`. A sum is the same sum,
requantized by `s_in / s_out`. Zero points are subtracted in the loop, or as `count * zp` from the sum. The rules
`raw_mean` and `raw_sum` sum `q` itself.

Each element of a cumsum is the sum of the elements before it along the axis (after it, if `reverse`), including the
element itself unless `exclusive`.
"""

from dataclasses import replace
from math import prod

from qrt.errors import QuantTypeError
from qrt.ir import Operation, Value
from qrt.ir.core.affine import add, multiply
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import Extent, LoweringContext, accumulator_type, tensor_type, uniform_type
from qrt.ir.passes.lower_qrt.parameters import Channels, requantization, without_zero_point
from qrt.ir.passes.lower_qrt.requantize import requantize
from qrt.ops.core import Attributes, one_axis, reduced_axes
from qrt.ops.elementwise import INTEGER_PREDICATES
from qrt.ops.mean import counted, is_raw
from qrt.ops.requant import max_magnitude, max_storage
from qrt.types import FloatType


def lower_mean(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.mean and return its result as storage integers.

    Raises QuantTypeError if a reduced axis has a dynamic size.
    """
    return _reduce(context, op, attributes, "mean")


def lower_sum(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.sum and return its result as storage integers.

    Raises QuantTypeError if a reduced axis has a dynamic size.
    """
    return _reduce(context, op, attributes, "sum")


def _reduce(context: LoweringContext, op: Operation, attributes: Attributes, name: str) -> Value:
    x, element = (uniform_type(value) for value in (op.operands[0], op.results[0]))
    operand = tensor_type(op.operands[0])
    axes = reduced_axes(name, (operand,), attributes)
    known = [size for axis, size in enumerate(operand.shape or ()) if axis in axes and size is not None]
    if len(known) < len(axes):
        raise QuantTypeError(
            f"the sizes of the reduced axes {list(axes)} must be static, because the {name} depends on their "
            f"product, got {operand}"
        )
    count = prod(known)
    stored = context.storage(op.operands[0])
    sizes = context.extents(stored)
    keeps = attributes["keepdims"]
    outer: list[Extent] = [1 if axis in axes else size for axis, size in enumerate(sizes) if keeps or axis not in axes]
    raw = is_raw(attributes)
    bound = count * (max_storage(x) if raw else max_magnitude(x))
    width = accumulator_type(bound)
    nest = LoopNest(context, "accumulate", outer, known)
    at = nest.split(axes, len(sizes), keeps)
    channels = Channels.of(x, at)
    value = nest.extend(nest.read(stored, at), width, x.is_signed)
    if context.in_loop and not raw:
        value = without_zero_point(nest, value, channels)
    (sums,) = nest.finish(nest.value("arith.addi", (nest.running(width, 0), value), width))

    nest = LoopNest(context, "requantize", outer)
    acc = nest.read(sums, nest.loops)
    if not context.in_loop and not raw:
        acc = without_zero_point(nest, acc, channels, count)
    r = requantization(
        attributes["requant"], [channels], Channels.of(element, nest.loops), counted(name, attributes, count)
    )
    return nest.finish(requantize(nest, acc, replace(r, bound=bound)))[0]


_PREDICATES = list(INTEGER_PREDICATES)


def lower_cumsum(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.cumsum and return its result.

    The lowered program's time is proportional to the square of the axis' size. Raises QuantTypeError for `reverse`
    along an axis of dynamic size.
    """
    (x,) = op.operands
    axis = one_axis("cumsum", (tensor_type(x),), attributes)
    extents, element = context.extents(x), tensor_type(x).element
    context.stage("accumulate")
    nest = LoopNest(context, "accumulate", extents, [extents[axis]])
    *outer, step = nest.loops
    place, own = step, nest.position(outer[axis])
    if attributes["reverse"]:
        size = extents[axis]
        if not isinstance(size, int):
            raise QuantTypeError(f"with reverse = true the size of axis {axis} must be static, got {x.type}")
        place = add(multiply(step, -1), size - 1)
        own = nest.value("arith.subi", (nest.constant(size - 1, own.type), own), own.type)
    value = nest.read(x, [place if d == axis else loop for d, loop in enumerate(outer)])
    total = nest.running(element, 0)
    taken = nest.value("arith.addf" if isinstance(element, FloatType) else "arith.addi", (total, value), element)
    predicate = _PREDICATES.index("slt" if attributes["exclusive"] else "sle")
    is_before = nest.compare(predicate, nest.position(step), own)
    return nest.finish(nest.value("arith.select", (is_before, taken, total), element))[0]
