"""CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED of float inputs with int8 weights: the input is quantized by its own
range at each run.

XNNPACK quantizes each row that it multiplies, of a 1x1 convolution each pixel and of any other each image, to the whole
range of int8 with a zero point. The reference kernels quantize each image or row symmetrically to -127 to 127. XNNPACK
does not take a depthwise convolution: all kernels quantize each image to the whole range with a zero point, in float64.
The sums are exact integers; a float scale and the bias follow.
"""

import numpy as np

from qrt.formats.importing.nests import site_of
from qrt.formats.importing.windows import Window
from qrt.formats.tflite.node import Node
from qrt.formats.tflite.operators.float_nests import activated
from qrt.ir import Value
from qrt.ir.core.affine import Expression, floordiv
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.site import F32, F64, I32, Extent, Site
from qrt.types import UniformType

_EQUAL, _GREATER, _LESS = 1, 2, 4
"""The predicates `oeq`, `ogt` and `olt` of arith.cmpf."""


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
    centred, unit = _quantized(node, site, x, (3,) if by_pixel else (1, 2, 3))
    if any(map(any, window.padding)):
        centred = node.emit("qrt.pad", [centred], {"padding": ((0, 0), *window.padding, (0, 0))})
    depth = site.extent(x, 3)
    kept: list[Extent] = [site.extent(x, 0), *window.outputs, channels]
    nest = Nest(site, "accumulate", kept, [*window.kernel, depth])
    image, i, j, o, row, column, c = nest.loops
    left = nest.read(centred, [image, *window.index((i, j), (row, column)), c])
    _finish(
        node,
        site,
        nest,
        left,
        [o, row, column, c],
        unit,
        [image, i, j] if by_pixel else [image],
        node.rule("hybrid"),
    )


def depthwise(node: Node, window: Window, channels: int, multiplier: int) -> None:
    """Weights 1HWO: output channel ``o`` reads the channel ``o // multiplier``. Each image has one range."""
    site, x = site_of(node), node.value(0)
    rule = node.rule("hybrid_depthwise")
    extents = site.extents(x)
    least, greatest = (_range(site, x, (1, 2, 3), op, is_absolute=False) for op in ("arith.minimumf", "arith.maximumf"))
    unit, zero = _whole_range(site, list(extents[:1]), least, greatest)
    centred = _shifted(site, x, unit, zero)
    if any(map(any, window.padding)):
        centred = node.emit("qrt.pad", [centred], {"padding": ((0, 0), *window.padding, (0, 0))})
    nest = Nest(site, "accumulate", [extents[0], *window.outputs, channels], window.kernel)
    image, i, j, o, row, column = nest.loops
    source: Expression = floordiv(o, multiplier) if multiplier > 1 else o
    left = nest.read(centred, [image, *window.index((i, j), (row, column)), source])
    _finish(node, site, nest, left, [0, row, column, o], unit, [image], rule)


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
    *kept, _ = site.extents(rows)
    centred, unit = _quantized(node, site, rows, (len(kept),))
    nest = Nest(site, "accumulate", [*kept, units], [depth])
    *row, o, k = nest.loops
    _finish(node, site, nest, nest.read(centred, [*row, k]), [o, k], unit, row, node.rule("hybrid"))


def _quantized(node: Node, site: Site, x: Value, axes: tuple[int, ...]) -> tuple[Value, Value]:
    """(integers less their zero point, their unit), with one range for all elements along ``axes``."""
    extents = site.extents(x)
    kept = [axis for axis in range(len(extents)) if axis not in axes]
    outer = [extents[axis] for axis in kept]
    if node.rule("hybrid") == "rows":
        least, greatest = (_range(site, x, axes, op, is_absolute=False) for op in ("arith.minimumf", "arith.maximumf"))
        scale, unit, low, high = _asymmetric(site, outer, least, greatest)
        rounding = "math.roundeven"
    else:
        scale, unit, low, high = _symmetric(site, outer, _range(site, x, axes, "arith.maximumf", is_absolute=True))
        rounding = "math.round"
    nest = Nest(site, "quantize", extents)
    places = [nest.loops[axis] for axis in kept]
    product = nest.emit("arith.mulf", (nest.read(x, nest.loops), nest.read(scale, places)), F32)
    rounded = nest.emit(rounding, (product,), F32)
    bounded = nest.emit("arith.maximumf", (rounded, nest.read(low, places)), F32)
    bounded = nest.emit("arith.minimumf", (bounded, nest.read(high, places)), F32)
    (centred,) = nest.finish(nest.emit("arith.fptosi", (bounded,), I32))
    return centred, unit


def _range(site: Site, x: Value, axes: tuple[int, ...], op: str, is_absolute: bool) -> Value:
    """The least or greatest element along axes, 0 counted in."""
    extents = site.extents(x)
    kept = [axis for axis in range(len(extents)) if axis not in axes]
    nest = Nest(site, "range", [extents[axis] for axis in kept], [extents[axis] for axis in axes])
    loops = dict(zip((*kept, *axes), nest.loops, strict=True))
    element = nest.read(x, [loops[axis] for axis in range(len(extents))])
    if is_absolute:
        element = nest.emit("math.absf", (element,), F32)
    return nest.finish(nest.emit(op, (nest.running(F32, 0.0), element), F32))[0]


def _asymmetric(site: Site, extents: list[Extent], least: Value, greatest: Value) -> tuple[Value, ...]:
    """(scale, unit, bounds of the integers without their zero point) of the whole range of int8."""
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
    return tuple(nest.finish(scale, emit("arith.divf", one, scale), *ends))


def _symmetric(site: Site, extents: list[Extent], largest: Value) -> tuple[Value, ...]:
    """(scale, unit, bounds) of the integers from -127 to 127."""
    nest = Nest(site, "parameters", extents)
    high, one, most = nest.read(largest, nest.loops), nest.constant(1.0, F32), nest.constant(127.0, F32)
    is_zero = nest.compare_floats(_EQUAL, high, nest.constant(0.0, F32))
    scale = nest.emit("arith.select", (is_zero, one, nest.emit("arith.divf", (most, high), F32)), F32)
    unit = nest.emit("arith.select", (is_zero, one, nest.emit("arith.divf", (high, most), F32)), F32)
    return tuple(nest.finish(scale, unit, nest.constant(-127.0, F32), most))


def _finish(
    node: Node,
    site: Site,
    nest: Nest,
    left: Value,
    places: list[Expression],
    unit: Value,
    rows: list[Expression],
    rule: str,
) -> None:
    """The result of a nest that sums ``left`` times the weights at ``places``. ``rows`` are the loops of the unit."""
    stored = site.storage(node.value(1))
    product = nest.emit("arith.muli", (left, nest.extend(nest.read(stored, places), I32)), I32)
    (sums,) = nest.finish(nest.emit("arith.addi", (nest.running(I32, 0), product), I32))
    element = node.element(1)
    scales = element.scale_array.astype(np.float32).reshape(-1)
    nest = Nest(site, "scale", site.extents(sums))
    total = nest.emit("arith.sitofp", (nest.read(sums, nest.loops),), F32)
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
