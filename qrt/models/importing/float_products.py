"""Sums of products of floats, as loop nests that fix the order of additions and the use of fused multiply-adds.

The parameter ``order`` of these functions is one of three names:

- "bias_then_fma" starts each sum with the bias and adds each product with a fused multiply-add.
- "fma_then_bias" starts each sum with 0, adds each product with a fused multiply-add, and adds the bias at the end.
- "products_then_bias" starts with 0, rounds each product before adding it, and adds the bias at the end.
"""

from collections.abc import Callable, Sequence

from qrt.ir import DenseElementsAttr, Value
from qrt.ir.core.affine import Expression, add, floordiv, multiply
from qrt.ir.core.matching import constant_of
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, Extent, LoweringContext
from qrt.models.importing.windows import Window

Operands = Callable[[LoopNest], tuple[Value, Value]]
"""Reads the two factors of a product in the body of a loop nest."""


def convolution(
    context: LoweringContext,
    x: Value,
    w: Value,
    window: Window,
    channels: int,
    depth: int,
    groups: int,
    order: str,
    bias: Value | None,
) -> Value:
    """Return the convolution of NHWC images ``x``, already padded, with OHWI weights ``w``.

    ``channels`` is the number of output channels, and ``depth`` the number of input channels of each of ``groups``
    groups. The module's description lists the names for ``order``.
    """
    rank = len(window.kernel)
    per_group = channels // max(groups, 1)

    def operands(nest: LoopNest) -> tuple[Value, Value]:
        image, *at, o = nest.loops[: rank + 2]
        *inside, c = nest.loops[rank + 2 :]
        place = add(multiply(floordiv(o, per_group), depth), c) if per_group < channels else c
        return nest.read(x, [image, *window.index(at, inside), place]), nest.read(w, [o, *inside, c])

    parallel = [context.extent(x, 0), *window.outputs, channels]
    return total(context, parallel, [*window.kernel, depth], operands, order, bias)


def depthwise(
    context: LoweringContext,
    x: Value,
    w: Value,
    window: Window,
    channels: int,
    multiplier: int,
    order: str,
    bias: Value | None,
    columns_first: bool = False,
) -> Value:
    """Return the depthwise convolution of NHWC images ``x``, already padded, with 1HWO weights ``w``.

    ``channels`` is the number of output channels; output channel ``o`` reads the input channel ``o // multiplier``.
    With ``columns_first`` the products of a window are added in column-major order, else in row-major order. The
    module's description lists the names for ``order``.
    """
    parallel = [context.extent(x, 0), *window.outputs, channels]
    reduced = window.kernel[::-1] if columns_first else window.kernel
    rank = len(window.kernel)
    known = constant_of(w)
    is_known = isinstance(known, DenseElementsAttr)
    filters = context.dense(known.array[0], F32) if isinstance(known, DenseElementsAttr) else w

    def operands(nest: LoopNest) -> tuple[Value, Value]:
        image, *at, o = nest.loops[: rank + 2]
        inside: Sequence[Expression] = nest.loops[rank + 2 :]
        if columns_first:
            inside = inside[::-1]
        source: Expression = floordiv(o, multiplier) if multiplier > 1 else o
        place = [*inside, o] if is_known else [0, *inside, o]
        return nest.read(x, [image, *window.index(at, inside), source]), nest.read(filters, place)

    return total(context, parallel, list(reduced), operands, order, bias)


def total(
    context: LoweringContext,
    parallel: list[Extent],
    reduced: Sequence[Extent],
    operands: Operands,
    order: str,
    bias: Value | None,
) -> Value:
    """Append a loop nest that computes sums of products, and return the tensor of the sums.

    ``parallel`` has the sizes of the result, and ``reduced`` the sizes of the loops that run over the terms of a sum.
    ``operands(nest)`` reads the two factors of a product in the body of the nest. ``bias`` has one element for each
    index of the last parallel loop. The module's description lists the names for ``order``.
    """
    first = order == "bias_then_fma"
    start: Value | float = 0.0
    if first and bias is not None:
        spread = LoopNest(context, "bias", parallel)
        (start,) = spread.finish(spread.read(bias, spread.loops[-1:]))
    nest = LoopNest(context, "accumulate", parallel, reduced)
    x, w = operands(nest)
    if order == "products_then_bias":
        product = nest.value("arith.mulf", (x, w), F32)
        (sums,) = nest.finish(nest.value("arith.addf", (nest.running(F32, start), product), F32))
    else:
        (sums,) = nest.finish(nest.value("math.fma", (x, w, nest.running(F32, start)), F32))
    if first or bias is None:
        return sums
    nest = LoopNest(context, "finish", parallel)
    added = (nest.read(sums, nest.loops), nest.read(bias, nest.loops[-1:]))
    return nest.finish(nest.value("arith.addf", added, F32))[0]
