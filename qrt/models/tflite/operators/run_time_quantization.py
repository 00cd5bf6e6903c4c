"""Quantization of float inputs at each run, with parameters from the range of their elements.

It is for operators with float inputs and int8 weights. The module `hybrid` describes the rules.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from math import prod
from typing import NamedTuple

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, F64, I1, I8, I32, Extent, LoweringContext
from qrt.models.importing.windows import Window
from qrt.types import IntegerType

_EQUAL, _GREATER, _LESS = 1, 2, 4
"""The numbers of the predicates `oeq`, `ogt` and `olt` of arith.cmpf."""
_LANES = 8
"""The number of elements that TFLite's kernels round at a time."""
_HALF, _BELOW_HALF = np.float32(0.5), np.nextafter(np.float32(0.5), np.float32(0))
"""The addends for rounding half away from zero: 0.5 as in TFLite's vector code, which rounds the largest float below
0.5 to 1; and that float, which rounds exactly."""


class Parameters(NamedTuple):
    """Tensors of the quantization parameters of the input, with one element for each row or image.

    To quantize the input, its elements are multiplied by ``scale``; to dequantize the sums, they are multiplied by
    ``unit``, which is about ``1 / scale``. ``zero`` and ``shift`` are the zero point as a float and as an integer, or
    None if the rule has no zero point.
    """

    scale: Value
    unit: Value
    zero: Value | None = None
    shift: Value | None = None


def parameters_of(
    context: LoweringContext, x: Value, axes: tuple[int, ...], outer: list[Extent], rule: str
) -> Parameters:
    """Return the quantization parameters of ``x``. ``rule`` is a profile's rule `hybrid`.

    All elements along ``axes`` share one scale and zero point. ``outer`` has the sizes of the other axes, which are
    those of the parameters.
    """
    if rule == "rows":
        return _asymmetric(context, outer, *_ends(context, x, axes))
    if rule != "symmetric":
        return _whole_range(context, outer, *_ends(context, x, axes))
    return _symmetric(context, outer, _magnitude(context, x, axes))


def _whole_range(context: LoweringContext, extents: list[Extent], least: Value, greatest: Value) -> Parameters:
    """Return parameters that map the range ``least`` to ``greatest`` to the whole of int8, as TFLite's kernels do.

    For an empty range (least == greatest) the scale is 1. The size of the range is computed in float32, the scale and
    the zero point in float64.
    """
    nest = LoopNest(context, "parameters", extents)
    ends = [nest.read(end, nest.loops) for end in (least, greatest)]
    low, high, apart = (nest.value("arith.extf", (x,), F64) for x in (*ends, nest.value("arith.subf", ends[::-1], F32)))

    def emit(op: str, *operands: Value) -> Value:
        return nest.value(op, operands, F64)

    def number(value: float) -> Value:
        return nest.constant(value, F64)

    is_empty = nest.compare_floats(_EQUAL, low, high)
    span = emit("arith.select", is_empty, number(255.0), apart)
    scale = emit("arith.divf", span, number(255.0))
    below, above = emit("arith.divf", low, scale), emit("arith.divf", high, scale)
    errors = [
        emit("arith.addf", number(abs(end)), emit("math.absf", quotient))
        for end, quotient in ((-128.0, below), (127.0, above))
    ]
    from_least, from_greatest = emit("arith.subf", number(-128.0), below), emit("arith.subf", number(127.0), above)
    zero = emit("arith.select", nest.compare_floats(_LESS, *errors), from_least, from_greatest)
    zero = emit("arith.minimumf", emit("arith.maximumf", zero, number(-128.0)), number(127.0))
    zero = emit("arith.select", is_empty, number(0.0), emit("math.round", zero))
    shift = nest.value("arith.fptosi", (zero,), I32)
    unit, zero = (nest.value("arith.truncf", (x,), F32) for x in (scale, zero))
    inverse = nest.value("arith.divf", (nest.constant(1.0, F32), unit), F32)
    is_lost = nest.compare_floats(_EQUAL, unit, nest.constant(0.0, F32))
    inverse = nest.value("arith.select", (is_lost, nest.constant(0.0, F32), inverse), F32)
    return Parameters(*nest.finish(inverse, unit, zero, shift))


def _asymmetric(context: LoweringContext, extents: list[Extent], least: Value, greatest: Value) -> Parameters:
    """Return parameters that map the range ``least`` to ``greatest`` to the whole of int8, as XNNPACK does."""
    nest = LoopNest(context, "parameters", extents)
    low, high = nest.read(least, nest.loops), nest.read(greatest, nest.loops)

    def emit(op: str, *operands: Value) -> Value:
        return nest.value(op, operands, F32)

    def number(value: float) -> Value:
        return nest.constant(value, F32)

    one = number(1.0)
    quotient = emit("arith.divf", number(255.0), emit("arith.subf", high, low))
    scale = emit("arith.select", nest.compare_floats(_EQUAL, low, high), one, quotient)
    below, above = emit("arith.mulf", low, scale), emit("arith.mulf", high, scale)
    errors = emit("arith.addf", emit("arith.addf", number(-128.0), below), emit("arith.addf", number(127.0), above))
    from_least, from_greatest = emit("arith.subf", number(-128.0), below), emit("arith.subf", number(127.0), above)
    zero = emit("arith.select", nest.compare_floats(_GREATER, errors, number(0.0)), from_least, from_greatest)
    zero = emit("arith.minimumf", emit("arith.maximumf", zero, number(-128.0)), number(127.0))
    zero = emit("math.roundeven", zero)
    unit, shift = emit("arith.divf", one, scale), nest.value("arith.fptosi", (zero,), I32)
    return Parameters(*nest.finish(scale, unit, zero, shift))


def _symmetric(context: LoweringContext, extents: list[Extent], largest: Value) -> Parameters:
    """Return parameters that map the range ``-largest`` to ``largest`` to -127 to 127, without zero point."""
    nest = LoopNest(context, "parameters", extents)
    high, one, most = nest.read(largest, nest.loops), nest.constant(1.0, F32), nest.constant(127.0, F32)
    is_zero = nest.compare_floats(_EQUAL, high, nest.constant(0.0, F32))
    scale = nest.value("arith.select", (is_zero, one, nest.value("arith.divf", (most, high), F32)), F32)
    unit = nest.value("arith.select", (is_zero, one, nest.value("arith.divf", (high, most), F32)), F32)
    return Parameters(*nest.finish(scale, unit))


def _ends(context: LoweringContext, x: Value, axes: tuple[int, ...]) -> tuple[Value, Value]:
    """Return the least and the greatest number among 0 and the elements along axes."""
    least = greatest = x
    for turn, axis in enumerate(axes):
        nest, low, high = _along(context, axis - turn, least, greatest)
        low = nest.value("arith.minimumf", (nest.running(F32, 0.0), low), F32)
        high = nest.value("arith.maximumf", (nest.running(F32, 0.0), high), F32)
        least, greatest = nest.finish(low, high)
    return least, greatest


def _magnitude(context: LoweringContext, x: Value, axes: tuple[int, ...]) -> Value:
    for turn, axis in enumerate(axes):
        nest, element, _ = _along(context, axis - turn, x, x)
        magnitude = nest.value("math.absf", (element,), F32)
        x = nest.finish(nest.value("arith.maximumf", (nest.running(F32, 0.0), magnitude), F32))[0]
    return x


def _along(context: LoweringContext, axis: int, first: Value, second: Value) -> tuple[LoopNest, Value, Value]:
    """Return a loop nest that reduces one axis of two tensors, and the element of each tensor that its body reads.

    The caller reduces one axis after the other, so that the loops along the other axes can be vectorized. Minima and
    maxima do not depend on the order of the reductions.
    """
    extents = context.extents(first)
    nest = LoopNest(context, "range", [*extents[:axis], *extents[axis + 1 :]], [extents[axis]])
    *parallel, reduced = nest.loops
    places = [*parallel[:axis], reduced, *parallel[axis:]]
    element = nest.read(first, places)
    return nest, element, element if second is first else nest.read(second, places)


def stored_integers(
    context: LoweringContext,
    x: Value,
    parameters: Parameters,
    axes: Sequence[int],
    rule: str,
    element: IntegerType,
    window: Window | None = None,
) -> Value:
    """Quantize ``x``. The axes of the parameters are the axes ``axes`` of ``x``.

    With the type ``element`` i8, return the storage. With i32, return the storage minus the zero point. If ``window``
    is given, ``x`` includes its padding, which becomes the zero point even if the scale is not finite.
    """
    nest = LoopNest(context, "quantize", context.extents(x))
    places = [nest.loops[axis] for axis in axes]

    def emit(op: str, *operands: Value) -> Value:
        return nest.value(op, operands, F32)

    zero = None if parameters.zero is None else nest.read(parameters.zero, places)
    stored = emit("arith.mulf", nest.read(x, nest.loops), nest.read(parameters.scale, places))
    padding = window.padding if window is not None else ()
    if any(map(any, padding)):
        inside = np.pad(np.ones(_unpadded(nest.parallel[1:3], padding), bool), padding)
        is_inside = nest.read(context.dense(inside, I1), nest.loops[1:3])
        stored = emit("arith.select", is_inside, stored, nest.constant(0.0, F32))
    stored = emit("math.roundeven", stored) if rule == "rows" else _rounded_away(nest, stored, len(axes), padding)
    stored = stored if zero is None else emit("arith.addf", stored, zero)
    stored = emit("arith.maximumf", stored, nest.constant(-127.0 if rule == "symmetric" else -128.0, F32))
    stored = emit("arith.minimumf", stored, nest.constant(127.0, F32))
    if element is I32 and zero is not None:
        stored = emit("arith.subf", stored, zero)
    stored = nest.value("arith.fptosi", (stored,), I32)
    return nest.finish(nest.value("arith.trunci", (stored,), I8) if element is I8 else stored)[0]


def _unpadded(sizes: Sequence[Extent], padding: Iterable[tuple[int, int]]) -> list[int]:
    return [int(size) - sum(ends) for size, ends in zip(sizes, padding, strict=True) if isinstance(size, int)]


def _rounded_away(nest: LoopNest, scaled: Value, first: int, padding: tuple[tuple[int, int], ...]) -> Value:
    """Round half away from zero as TFLite's kernels do.

    A row or an image consists of the elements of all loops from number ``first`` on. TFLite's kernels add 0.5 to
    complete groups of eight of its elements, so that the largest float below 0.5 becomes 1. They round the elements
    after the last complete group exactly.
    """
    ends = (*padding, (0, 0)) if padding else ((0, 0),) * (len(nest.parallel) - first)
    sizes = _unpadded(nest.parallel[first:], ends)
    half: Value = nest.constant(_HALF, F32)
    if behind := prod(sizes) % _LANES:
        # The last elements have the last index in all outer loops, and are the end of the remaining inner loops.
        whole = next(axis for axis in reversed(range(len(sizes))) if prod(sizes[axis:]) >= behind)
        tables = [np.arange(size) == size - 1 for size in sizes[:whole]]
        tables.append((np.arange(prod(sizes[whole:])) >= prod(sizes[whole:]) - behind).reshape(sizes[whole:]))
        flags_along = []
        for axis, table in enumerate(tables):
            stop = axis + table.ndim
            flags = np.pad(table, ends[axis:stop])
            flags_along.append(nest.parameter(flags, I1, nest.loops[first + axis : first + stop]))
        is_behind = reduce(lambda a, b: nest.value("arith.andi", (a, b), I1), flags_along)
        half = nest.value("arith.select", (is_behind, nest.constant(_BELOW_HALF, F32), half), F32)
    is_negative = nest.compare_floats(_LESS, scaled, nest.constant(0.0, F32))
    half = nest.value("arith.select", (is_negative, nest.value("arith.negf", (half,), F32), half), F32)
    return nest.value("math.trunc", (nest.value("arith.addf", (scaled, half), F32),), F32)
