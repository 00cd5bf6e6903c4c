"""CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED of float inputs with int8 weights: the input is quantized by its own
range at each run.

XNNPACK quantizes each row that it multiplies, of a 1x1 convolution each pixel and of any other each image, to the whole
range of int8 with a zero point. The reference kernels quantize each image or row symmetrically to -127 to 127. XNNPACK
does not take a depthwise convolution: all kernels quantize each image to the whole range with a zero point, in float64.
The sums are exact integers; a float scale and the bias follow. Where rows meet constant weights, the sums are those of
`qrt.matmul`, less what the zero points add to them.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from qrt.formats.importing.nests import site_of
from qrt.formats.importing.windows import Window
from qrt.formats.tflite.node import Node
from qrt.formats.tflite.operators.float_nests import activated
from qrt.ir import Value
from qrt.ir.core.affine import Expression, floordiv
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.site import F32, F64, I8, I32, Array, Extent, Site
from qrt.types import IntegerType, UniformType

_EQUAL, _GREATER, _LESS = 1, 2, 4
"""The predicates `oeq`, `ogt` and `olt` of arith.cmpf."""
_DEEPEST = (1 << 17) - 1
"""The depth up to which 32 bits hold the sums of products of int8."""


def is_hybrid(node: Node) -> bool:
    """Whether the input is quantized for weights of int8. Refuses weights that are neither these nor floats."""
    element = node.type(1).element
    if element is F32:
        return False
    if not isinstance(element, UniformType) or element.storage != "i8":
        node.refuse(f"float32 with weights of {node.input(1).dtype}")
    if any(element.zero_points):
        node.refuse("float32 with weights that have a zero point")
    return node.rule("hybrid") != "floats"


def convolution(node: Node, window: Window, channels: int) -> None:
    """Weights OHWI, of as many channels as the input."""
    site, x = site_of(node), node.value(0)
    # XNNPACK takes one channel to one channel for a depthwise convolution, which has no rows.
    is_depthwise = channels == 1 and (node.type(1).shape or ())[3] == 1
    by_pixel = (
        node.rule("hybrid") == "rows"
        and not is_depthwise
        and window.kernel == window.strides == (1, 1)
        and not any(map(any, window.padding))
    )
    depth = site.extent(x, 3)
    if by_pixel and _is_product(node, depth):
        _rows(node, site, x)
        return
    centred, unit = _quantized(node, site, x, (3,) if by_pixel else (1, 2, 3))
    if any(map(any, window.padding)):
        centred = node.emit("qrt.pad", [centred], {"padding": ((0, 0), *window.padding, (0, 0))})
    kept: list[Extent] = [site.extent(x, 0), *window.outputs, channels]
    nest = Nest(site, "accumulate", kept, [*window.kernel, depth])
    image, i, j, o, row, column, c = nest.loops
    left = nest.read(centred, [image, *window.index((i, j), (row, column)), c])
    sums = _sums(node, site, nest, left, [o, row, column, c])
    _finish(node, site, sums, unit, (0, 1, 2) if by_pixel else (0,), node.rule("hybrid"))


def depthwise(node: Node, window: Window, channels: int, multiplier: int) -> None:
    """Weights 1HWO: output channel ``o`` reads the channel ``o // multiplier``. Each image has one range."""
    site, x = site_of(node), node.value(0)
    rule = node.rule("hybrid_depthwise")
    extents = site.extents(x)
    least, greatest = _ends(site, x, (1, 2, 3))
    unit, zero = _whole_range(site, list(extents[:1]), least, greatest)
    centred = _shifted(site, x, unit, zero)
    if any(map(any, window.padding)):
        centred = node.emit("qrt.pad", [centred], {"padding": ((0, 0), *window.padding, (0, 0))})
    nest = Nest(site, "accumulate", [extents[0], *window.outputs, channels], window.kernel)
    image, i, j, o, row, column = nest.loops
    source: Expression = floordiv(o, multiplier) if multiplier > 1 else o
    left = nest.read(centred, [image, *window.index((i, j), (row, column)), source])
    _finish(node, site, _sums(node, site, nest, left, [0, row, column, o]), unit, (0,), rule)


def _whole_range(site: Site, extents: list[Extent], least: Value, greatest: Value) -> tuple[Value, ...]:
    """(unit, zero point) of integers from -128 to 127; 1 and 0 where there is no range. TFLite's kernels form the range
    in float32 and what follows in float64."""
    nest = Nest(site, "parameters", extents)
    ends = [nest.read(each, nest.loops) for each in (least, greatest)]
    low, high, apart = (
        nest.emit("arith.extf", (each,), F64) for each in (*ends, nest.emit("arith.subf", ends[::-1], F32))
    )

    def emit(op: str, *operands: Value) -> Value:
        return nest.emit(op, operands, F64)

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
    return tuple(nest.finish(*(nest.emit("arith.truncf", (each,), F32) for each in (scale, zero))))


def _shifted(site: Site, x: Value, unit: Value, zero: Value) -> Value:
    """Integers less the zero point of their image, which is added before they are rounded."""
    nest = Nest(site, "quantize", site.extents(x))
    own, shift = nest.read(unit, nest.loops[:1]), nest.read(zero, nest.loops[:1])
    inverse = nest.emit("arith.divf", (nest.constant(1.0, F32), own), F32)
    made = nest.emit("arith.mulf", (nest.read(x, nest.loops), inverse), F32)
    made = nest.emit("math.round", (nest.emit("arith.addf", (shift, made), F32),), F32)
    made = nest.emit("arith.maximumf", (made, nest.constant(-128.0, F32)), F32)
    made = nest.emit("arith.minimumf", (made, nest.constant(127.0, F32)), F32)
    made = nest.emit("arith.subf", (made, shift), F32)
    return nest.finish(nest.emit("arith.fptosi", (made,), I32))[0]


def matrix_product(node: Node, rows: Value, units: int, depth: int) -> None:
    """Weights [units, depth], and an input with ``depth`` as its last axis."""
    site = site_of(node)
    if _is_product(node, depth):
        _rows(node, site, rows)
        return
    *kept, _ = site.extents(rows)
    centred, unit = _quantized(node, site, rows, (len(kept),))
    nest = Nest(site, "accumulate", [*kept, units], [depth])
    *row, o, k = nest.loops
    sums = _sums(node, site, nest, nest.read(centred, [*row, k]), [o, k])
    _finish(node, site, sums, unit, range(len(kept)), node.rule("hybrid"))


def _is_product(node: Node, depth: Extent) -> bool:
    """Whether `qrt.matmul` has the sums of rows of that depth."""
    return node.constant(1) is not None and isinstance(depth, int) and depth <= _DEEPEST


def _rows(node: Node, site: Site, rows: Value) -> None:
    """The result of rows along the last axis, by a product of matrices."""
    array, weights = node.constant(1), node.element(1)
    assert array is not None  # `_is_product` says so
    matrix = array.reshape(array.shape[0], -1).T  # of a 1x1 convolution too
    *outer, _ = site.extents(rows)
    parameters = _parameters(node, site, rows, (len(outer),), outer)
    stored = _stored(node, site, rows, parameters, range(len(outer)), I8)
    x = node.emit("quant.scast", [stored], None, UniformType("i8", "f32", 1.0))
    w = node.dense(matrix, weights.with_(axis=1) if weights.is_per_axis else weights)
    sums = site.storage(node.emit("qrt.matmul", [x, w]))
    shift = None if parameters.shift is None else (parameters.shift, matrix.sum(axis=0, dtype=np.int64))
    _finish(node, site, sums, parameters.unit, range(len(outer)), node.rule("hybrid"), shift)


class _Parameters(NamedTuple):
    """How the elements of a range become integers: what they are multiplied by and its inverse, the bounds of the
    integers less their zero point, and the zero point as a float and as an integer, without which it is 0."""

    scale: Value
    unit: Value
    low: Value
    high: Value
    zero: Value | None = None
    shift: Value | None = None


def _parameters(node: Node, site: Site, x: Value, axes: tuple[int, ...], outer: list[Extent]) -> _Parameters:
    """Of one range for all elements along ``axes``; the others are ``outer``."""
    if node.rule("hybrid") == "rows":
        return _asymmetric(site, outer, *_ends(site, x, axes))
    return _symmetric(site, outer, _magnitude(site, x, axes))


def _quantized(node: Node, site: Site, x: Value, axes: tuple[int, ...]) -> tuple[Value, Value]:
    """(integers less their zero point, their unit), with one range for all elements along ``axes``."""
    extents = site.extents(x)
    kept = [axis for axis in range(len(extents)) if axis not in axes]
    parameters = _parameters(node, site, x, axes, [extents[axis] for axis in kept])
    return _stored(node, site, x, parameters, kept, I32), parameters.unit


def _stored(
    node: Node, site: Site, x: Value, parameters: _Parameters, kept: Iterable[int], element: IntegerType
) -> Value:
    """Integers whose parameters have the axes ``kept``: of int32 less their zero point, of int8 as they are."""
    nest = Nest(site, "quantize", site.extents(x))
    places = [nest.loops[axis] for axis in kept]
    by_rows = node.rule("hybrid") == "rows"
    made = nest.emit("arith.mulf", (nest.read(x, nest.loops), nest.read(parameters.scale, places)), F32)
    made = nest.emit("math.roundeven" if by_rows else "math.round", (made,), F32)
    if element is I32:
        low, high = nest.read(parameters.low, places), nest.read(parameters.high, places)
    else:  # a zero point before the bounds or behind them: the bits are the same, and these bounds are constants
        low, high = (nest.constant(end, F32) for end in (-128.0 if by_rows else -127.0, 127.0))
        if parameters.zero is not None:
            made = nest.emit("arith.addf", (made, nest.read(parameters.zero, places)), F32)
    made = nest.emit("arith.maximumf", (made, low), F32)
    made = nest.emit("arith.minimumf", (made, high), F32)
    made = nest.emit("arith.fptosi", (made,), I32)
    return nest.finish(nest.emit("arith.trunci", (made,), I8) if element is I8 else made)[0]


def _ends(site: Site, x: Value, axes: tuple[int, ...]) -> tuple[Value, Value]:
    """The least and the greatest element along axes, 0 counted in."""
    least = greatest = x
    for turn, axis in enumerate(axes):
        nest, low, high = _along(site, axis - turn, least, greatest)
        low = nest.emit("arith.minimumf", (nest.running(F32, 0.0), low), F32)
        high = nest.emit("arith.maximumf", (nest.running(F32, 0.0), high), F32)
        least, greatest = nest.finish(low, high)
    return least, greatest


def _magnitude(site: Site, x: Value, axes: tuple[int, ...]) -> Value:
    """The greatest magnitude along axes."""
    for turn, axis in enumerate(axes):
        nest, element, _ = _along(site, axis - turn, x, x)
        magnitude = nest.emit("math.absf", (element,), F32)
        x = nest.finish(nest.emit("arith.maximumf", (nest.running(F32, 0.0), magnitude), F32))[0]
    return x


def _along(site: Site, axis: int, first: Value, second: Value) -> tuple[Nest, Value, Value]:
    """A nest that reduces an axis of two tensors, and their elements. One axis is reduced at a time: ends have the same
    bits in any order, and the axes that are kept are the lanes of vectors."""
    extents = site.extents(first)
    nest = Nest(site, "range", [*extents[:axis], *extents[axis + 1 :]], [extents[axis]])
    *kept, reduced = nest.loops
    places = [*kept[:axis], reduced, *kept[axis:]]
    element = nest.read(first, places)
    return nest, element, element if second is first else nest.read(second, places)


def _asymmetric(site: Site, extents: list[Extent], least: Value, greatest: Value) -> _Parameters:
    """The whole range of int8."""
    nest = Nest(site, "parameters", extents)
    low, high = nest.read(least, nest.loops), nest.read(greatest, nest.loops)

    def emit(op: str, *operands: Value) -> Value:
        return nest.emit(op, operands, F32)

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
    ends = (emit("arith.subf", number(end), zero) for end in (-128.0, 127.0))
    unit, shift = emit("arith.divf", one, scale), nest.emit("arith.fptosi", (zero,), I32)
    return _Parameters(*nest.finish(scale, unit, *ends, zero, shift))


def _symmetric(site: Site, extents: list[Extent], largest: Value) -> _Parameters:
    """The integers from -127 to 127."""
    nest = Nest(site, "parameters", extents)
    high, one, most = nest.read(largest, nest.loops), nest.constant(1.0, F32), nest.constant(127.0, F32)
    is_zero = nest.compare_floats(_EQUAL, high, nest.constant(0.0, F32))
    scale = nest.emit("arith.select", (is_zero, one, nest.emit("arith.divf", (most, high), F32)), F32)
    unit = nest.emit("arith.select", (is_zero, one, nest.emit("arith.divf", (high, most), F32)), F32)
    return _Parameters(*nest.finish(scale, unit, nest.constant(-127.0, F32), most))


def _sums(node: Node, site: Site, nest: Nest, left: Value, places: list[Expression]) -> Value:
    """The sums of ``left`` times the weights at ``places``, by a nest."""
    stored = site.storage(node.value(1))
    product = nest.emit("arith.muli", (left, nest.extend(nest.read(stored, places), I32)), I32)
    return nest.finish(nest.emit("arith.addi", (nest.running(I32, 0), product), I32))[0]


def _finish(
    node: Node,
    site: Site,
    sums: Value,
    unit: Value,
    axes: Iterable[int],
    rule: str,
    shift: tuple[Value, Array] | None = None,
) -> None:
    """The result of sums whose units have these axes. ``shift`` has the zero points of the units, and of each output
    the sum of its weights, which a zero point adds so many times."""
    scales = node.element(1).scale_array.astype(np.float32).reshape(-1)
    nest = Nest(site, "scale", site.extents(sums))
    rows = [nest.loops[axis] for axis in axes]
    total = nest.read(sums, nest.loops)
    if shift is not None:
        zero, weights = nest.read(shift[0], rows), nest.parameter(shift[1], I32, nest.loops[-1:])
        added = nest.emit("arith.muli", (zero, weights), I32)
        total = nest.emit("arith.subi", (total, added), I32)
    total = nest.emit("arith.sitofp", (total,), F32)
    own, weight = nest.read(unit, rows), nest.parameter(scales, F32, nest.loops[-1:])
    bias = nest.read(node.value(2), nest.loops[-1:]) if node.has(2) else nest.constant(0.0, F32)
    if rule == "rows":
        total = nest.emit("arith.mulf", (total, own), F32)
        made = nest.emit("math.fma", (total, weight, bias), F32)
    elif rule == "symmetric":
        total = nest.emit("arith.mulf", (total, nest.emit("arith.mulf", (own, weight), F32)), F32)
        made = nest.emit("arith.addf", (total, bias), F32)
    else:
        total = nest.emit("arith.mulf", (nest.emit("arith.mulf", (total, weight), F32), own), F32)
        made = nest.emit("arith.addf", (total, bias), F32)
    activation = node.options["fused_activation_function"]
    node.set(0, nest.finish(activated(node, nest, made, activation))[0])
