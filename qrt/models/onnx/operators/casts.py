"""QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear: per tensor, per axis, or in blocks along an axis."""

from collections.abc import Sequence

import numpy as np

from qrt.ir import Value
from qrt.models.importing.float_reductions import reduced
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import Operand, apply, compare, number_of, select
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.narrow_floats import E8M0, FINITE, narrowed
from qrt.models.onnx.operators.operands import quantized_element
from qrt.models.onnx.types import NUMBERS, dtype_of, element_of, plain_of, signless
from qrt.ops.core import Array
from qrt.types import FloatType, IntegerType, TensorType, Type

F32 = FloatType("f32")
CASTS = {
    "divide": {"zero_point": "after"},
    "divide_before": {},
}
"""The attributes of `quant.qcast` for each rule of QuantizeLinear."""
_EXPRESSED = ("f32", "f16", "bf16", "f64")


def quantize_linear(node: Node) -> None:
    """Import QuantizeLinear: quantize floats to integers of 2, 4, 8 or 16 bits, or to float8, float6 or float4e2m1.

    A scale that is known only at run time may be for the whole tensor or for each index of an axis. Scales for blocks
    must be known at import. Scales of float32 may be negative.
    """
    x = node.type(0).element
    if not isinstance(x, FloatType) or x.name not in _EXPRESSED:
        node.refuse(f"of {node.dtype(0)}")
    element = quantized_element(node)
    axis, size = node.attribute("axis", 1), node.attribute("block_size", 0)
    if isinstance(element, FloatType) and element.width <= 8:
        _quantize_to_small_floats(node, element)
        return
    if not isinstance(element, IntegerType) or element.width > 16:
        node.refuse(f"to {dtype_of(element)}")
    rule = node.rule("quantize", storage=f"{'u' if element.signedness == 'unsigned' else 'i'}{element.width}")
    if _is_computed_at_run(node, size) or _has_negative_scale(node):
        _quantize_at_run(node, element)
        return
    source: Operand = node.value(0)
    if x.width == 16:  # ONNX Runtime divides in float32, and so rounds the quotient less often
        source, x = apply(node, "arith.extf", [source], [x], F32), F32
    out = node.uniform(element, node.shape(), 1, 2, axis, size, expressed=x.name)
    assert isinstance(source, Value)
    node.set(0, node.emit("quant.qcast", [source], CASTS[rule], out))


def _is_computed_at_run(node: Node, block_size: int) -> bool:
    """Return True if a quantized type cannot have the parameters of a cast with float32 scales.

    This is the case if a scale or zero point is known only at run time, or if the last block is shorter than the
    others.
    """
    if node.type(1).element is not F32 or node.type(0).element in (FloatType("f16"), FloatType("bf16")):
        return False
    if node.constant(1) is None or (node.has(2) and node.constant(2) is None):
        return True
    size = node.shape()[node.axis(node.attribute("axis", 1), len(node.shape()))] if block_size else 0
    return bool(block_size) and size is not None and size % block_size != 0


def _has_negative_scale(node: Node) -> bool:
    """Return True if the float32 scales are known and finite, but no quantized type can have one of them.

    A quantized type has only positive scales. ONNX Runtime's block quantizer writes negative ones, because it maps the
    element with the largest magnitude to the least integer. In a DequantizeLinear, a scale may also be 0.
    """
    scales = node.constant(1)
    if scales is None or node.type(1).element is not F32 or not np.isfinite(scales).all():
        return False
    if node.op.type == "DequantizeLinear":
        return bool((scales <= 0).any())
    return bool((scales < 0).any() and scales.all())


def along(node: Node, i: int, axis: int) -> Value:
    """Return input ``i``, a scale or zero point, in a shape that broadcasts to input 0 along ``axis``.

    With the attribute ``block_size``, each number is repeated for the elements of its block.
    """
    shape, own = node.shape(0), node.shape(i)
    value = node.value(i)
    size = node.attribute("block_size", 0)
    if size:
        axis = node.axis(axis, len(shape))
        length = shape[axis]
        expected = tuple(-(-length // size) if d == axis and length else n for d, n in enumerate(shape))
        if length is None or own != expected:
            node.fail(
                f"the scales and zero points must have the shape {list(expected)} for blocks of {size} along axis "
                f"{axis} of a tensor of shape {list(shape)}, got {list(own)}"
            )
        blocks = node.dense(np.arange(length, dtype=np.int64) // size, IntegerType(64))
        return node.emit("qrt.gather", [node.as_storage(value), blocks], {"axis": axis})
    if own in ((), (1,)):
        return value
    axis = node.axis(axis, len(shape))
    if len(own) != 1:
        node.refuse("blocks whose scales are known only at run time")
    assert isinstance(value.type, TensorType)
    aligned = tuple(own[0] if d == axis else 1 for d in range(len(shape)))
    return node.emit("qrt.reshape", [value], None, value.type.with_(shape=aligned))


def _quantize_at_run(node: Node, element: IntegerType) -> None:
    """Quantize to ``element`` with a scale or zero point that is known only at run time.

    The quotient is rounded half to even, the zero point is added, and the sum is clamped. A NaN is stored as the least
    integer.
    """
    axis = node.attribute("axis", 1)
    least, greatest = (0, 2**element.width - 1) if element.signedness == "unsigned" else (
        -(2 ** (element.width - 1)), 2 ** (element.width - 1) - 1)  # fmt: skip
    result: Operand = apply(node, "arith.divf", [node.value(0), along(node, 1, axis)], [F32, F32], F32)
    result = apply(node, "math.roundeven", [result], [F32], F32)
    if node.has(2):
        result = apply(node, "arith.addf", [result, widened(node, along(node, 2, axis), element)], [F32, F32], F32)
    for name, bound in (("arith.maxnumf", least), ("arith.minnumf", greatest)):
        result = apply(node, name, [result, number_of(bound, F32)], [F32, F32], F32)
    wide = IntegerType(32)
    narrow = IntegerType(element.width)
    result = apply(node, "arith.fptosi", [result], [F32], wide)
    result = apply(node, "arith.trunci", [result], [wide], narrow)
    assert isinstance(result, Value)
    node.set_plain(0, result, element)


def widened(node: Node, value: Value, element: Type) -> Value:
    """Convert a value's stored integers, of the type ``element``, to float32."""
    assert isinstance(element, IntegerType)
    stored = node.as_storage(value)
    name = "arith.uitofp" if element.signedness == "unsigned" else "arith.sitofp"
    result = apply(node, name, [stored], [IntegerType(element.width)], F32)
    assert isinstance(result, Value)
    return result


def _quantize_to_small_floats(node: Node, element: FloatType) -> None:
    """Quantize float32 to float8, float6 or float4: divide by the scale, and round the quotient to ``element``."""
    scale_type = node.type(1).element
    if node.type(0).element is not F32 or scale_type not in (F32, E8M0) or element is E8M0:
        node.refuse(f"{node.dtype(0)} to {dtype_of(element)} with a scale of {node.dtype(1)}")
    if node.attribute("block_size", 0) and element not in FINITE:
        node.refuse(f"to {dtype_of(element)} in blocks")
    scale = _as_float(node, along(node, 1, node.attribute("axis", 1)), F32)
    quotient: Operand = apply(node, "arith.divf", [node.value(0), scale], [F32, F32], F32)
    quotient = _without_zero_point(node, quotient, F32)
    quotient = narrowed(node, quotient, element)
    if isinstance(quotient, Value):
        node.set(0, quotient)
    else:
        node.set_constant(0, quotient, element)


def _without_zero_point(node: Node, x: Operand, element: FloatType) -> Operand:
    """Return ``x``, with NaN instead of each element whose zero point is not 0.

    The zero points are float8 or float4e2m1. If one that is known at import is not 0, raise UnsupportedForm.
    """
    if not node.has(2):
        return x
    has_nan = node.plain(2) not in FINITE or node.op.type != "QuantizeLinear"
    zero = node.constant(2) if has_nan else node.known(2, f"a zero point of {node.dtype(2)}")
    if zero is not None and np.asarray(zero, np.float32).any():
        node.refuse(f"of {node.dtype(2)} with a zero point other than 0")
    if zero is not None:
        return x
    point = apply(node, "arith.extf", [along(node, 2, node.attribute("axis", 1))], [node.plain(2)], element)
    is_zero = compare(node, "eq", point, number_of(0, element), element)
    return select(node, is_zero, x, number_of(np.nan, element), element)


def _as_float(node: Node, value: Operand, element: FloatType) -> Operand:
    """Convert a scale of float8e8m0 to ``element``, and return a scale of another type unchanged."""
    is_power = isinstance(value, Value) and isinstance(value.type, TensorType) and value.type.element is E8M0
    return apply(node, "arith.extf", [value], [E8M0], element) if is_power else value


def dequantize_linear(node: Node) -> None:
    """Import DequantizeLinear: dequantize integers of up to 32 bits, float8, float6 or float4e2m1, to floats.

    Scales of float32 may be negative or 0. Scales of float4e2m1 and float6 may have the type float8e8m0. Zero points
    of floats must be 0. If such a zero point is known only at run time, elements with another zero point become NaN.
    """
    source, out = node.plain(0), node.type(1).element
    if node.has(2) and node.plain(2) is not source:
        node.fail(f"the zero point must have the type of the input, {node.dtype(0)}, got {node.dtype(2)}")
    number = node.attribute("output_dtype", 0)
    if number:
        out = element_of(NUMBERS.get(number, "float"))
    if not isinstance(out, FloatType) or out.name not in _EXPRESSED:
        node.refuse(f"to {node.dtype(1)}")
    axis, size = node.attribute("axis", 1), node.attribute("block_size", 0)
    node.rule("dequantize")
    if isinstance(source, FloatType):
        _dequantize_small_floats(node, source, out)
        return
    is_at_run = _is_computed_at_run(node, size) or _has_negative_scale(node) or _has_wide_zero_point(node, source)
    if is_at_run and out is F32:
        _dequantize_at_run(node, source)
        return
    # ONNX Runtime multiplies in float32, where 16 bits fit, and rounds the product to a narrower type.
    is_narrowed = isinstance(source, IntegerType) and source.width > 8 and out.width == 16
    if is_narrowed and _has_wide_zero_point(node, source):
        node.refuse(f"int32 to {dtype_of(out)} with a zero point other than 0")
    element = node.uniform(source, node.shape(), 1, 2, axis, size, expressed="f32" if is_narrowed else out.name)
    value = node.emit("quant.dcast", [node.cast(0, element)], None, F32 if is_narrowed else out)
    if is_narrowed:
        narrowed = apply(node, "arith.truncf", [value], [F32], out)
        assert isinstance(narrowed, Value)
        value = narrowed
    node.set(0, value)


def _has_wide_zero_point(node: Node, source: Type) -> bool:
    """Return True if 32-bit integers have a zero point other than 0. The difference may then be inexact in float32."""
    if not isinstance(source, IntegerType) or source.width < 32 or not node.has(2):
        return False
    zero_points = node.constant(2)
    return zero_points is not None and bool(zero_points.any())


def _dequantize_at_run(node: Node, source: Type) -> None:
    """Dequantize with a scale and zero point known only at run time.

    The zero point is subtracted in int32, and the difference is multiplied by the scale in float32.
    """
    axis, wide = node.attribute("axis", 1), IntegerType(32)
    if _set_known(node, axis):
        return
    result: Operand = _as_int32(node, node.value(0), source)
    if node.has(2):
        zero = _as_int32(node, along(node, 2, axis), plain_of(node.type(2).element))
        result = apply(node, "arith.subi", [result, zero], [wide, wide], wide)
    result = apply(node, "arith.sitofp", [result], [wide], F32)
    result = apply(node, "arith.mulf", [result, along(node, 1, axis)], [F32, F32], F32)
    assert isinstance(result, Value)
    node.set(0, result)


def _set_known(node: Node, axis: int) -> bool:
    """Set the output of a DequantizeLinear if all of its inputs are known at import. Return False otherwise."""
    arrays = [node.constant(i) for i in range(3) if node.has(i)]
    stored, scales, zero_points = (*arrays, None)[:3]
    if stored is None or scales is None or arrays[-1] is None or not _fit(node, stored, arrays[1:], axis):
        return False
    node.graph.check_size(node.op, TensorType(stored.shape, F32))
    shape, size = stored.shape, node.attribute("block_size", 0)

    def spread(parameters: Array) -> Array:
        if size:
            return np.repeat(parameters, size, axis=axis).take(range(shape[axis]), axis)
        if parameters.size == 1:
            return parameters.reshape(())
        return parameters.reshape([parameters.size if d == axis else 1 for d in range(len(shape))])

    axis = node.axis(axis, len(shape)) if shape and (size or scales.size > 1) else 0
    difference = stored.astype(np.int32)
    if zero_points is not None:
        difference = difference - spread(zero_points).astype(np.int32)
    node.set_constant(0, difference.astype(np.float32) * spread(scales), F32)
    return True


def _fit(node: Node, stored: Array, parameters: Sequence[Array | None], axis: int) -> bool:
    """Return True if the scales and zero points have valid shapes for the integers ``stored``. None has any shape."""
    size, shape = node.attribute("block_size", 0), stored.shape
    shapes = {array.shape for array in parameters if array is not None and (size or array.size != 1)}
    if not shapes:
        return True
    if not shape:
        return False
    axis = node.axis(axis, len(shape))
    blocks = tuple(-(-n // size) if d == axis else n for d, n in enumerate(shape)) if size else (shape[axis],)
    return shapes == {blocks}


def _as_int32(node: Node, value: Value, element: Type) -> Operand:
    assert isinstance(element, IntegerType)
    wide = IntegerType(32)
    if element.width == 32:
        return node.as_storage(value)
    name = "arith.extui" if element.signedness == "unsigned" else "arith.extsi"
    return apply(node, name, [node.as_storage(value)], [signless(element)], wide)


def _dequantize_small_floats(node: Node, source: FloatType, out: FloatType) -> None:
    is_power = node.type(1).element is E8M0
    if (node.type(1).element is not out and not is_power) or source is E8M0 or (is_power and out is not F32):
        node.refuse(f"{node.dtype(0)} to {dtype_of(out)} with a scale of {node.dtype(1)}")
    if node.attribute("block_size", 0) and source not in FINITE:
        node.refuse(f"of {node.dtype(0)} in blocks")
    wide = apply(node, "arith.extf", [node.value(0)], [source], out)
    wide = _without_zero_point(node, wide, out)
    scale = _as_float(node, along(node, 1, node.attribute("axis", 1)), out)
    result = apply(node, "arith.mulf", [wide, scale], [out, out], out)
    assert isinstance(result, Value)
    node.set(0, result)


def dynamic_quantize_linear(node: Node) -> None:
    """Import DynamicQuantizeLinear: quantize float32 to uint8, mapping the range of the elements to 0 to 255.

    The outputs are the integers, the scale and the zero point. The range is from the least to the largest element, and
    always includes 0. If all elements are 0, the scale is 1. If an element is -inf, the scale is inf and the zero point
    255. A NaN is not counted in the range, and is stored as 0. In the runtime, the range of 8 or more elements depends
    on the positions of NaNs.
    """
    if node.type(0).element is not F32:
        node.refuse(f"of {node.dtype(0)}")
    x, context, axes = node.value(0), lowering_context(node), tuple(range(len(node.shape())))
    least, most = (
        node.emit("qrt.reshape", [reduced(context, x, axes, name, 0.0)], None, TensorType((), F32))
        for name in ("arith.minnumf", "arith.maxnumf")
    )

    def floats(name: str, a: Operand, b: Operand) -> Operand:
        return apply(node, name, [a, b], [F32, F32], F32)

    span = floats("arith.subf", most, least)
    is_empty = compare(node, "eq", span, number_of(0, F32), F32)
    one = number_of(1, F32)
    scale = select(node, is_empty, one, floats("arith.divf", span, number_of(255, F32)), F32)
    point = floats("arith.divf", floats("arith.subf", number_of(0, F32), least), scale)
    point = floats("arith.maxnumf", floats("arith.minnumf", point, number_of(255, F32)), number_of(0, F32))
    point = apply(node, "math.roundeven", [point], [F32], F32)
    rounded = apply(node, "math.roundeven", [floats("arith.divf", x, scale)], [F32], F32)
    shifted = _within_bytes(node, floats("arith.addf", rounded, point))
    for i, number in ((0, shifted), (2, point)):
        wide = apply(node, "arith.fptosi", [number], [F32], IntegerType(32))
        narrow = apply(node, "arith.trunci", [wide], [IntegerType(32)], IntegerType(8))
        assert isinstance(narrow, Value)
        node.set_plain(i, narrow, IntegerType(8, "unsigned"))
    assert isinstance(scale, Value)
    node.set(1, scale)


def _within_bytes(node: Node, x: Operand) -> Operand:
    for name, bound in (("arith.maxnumf", 0), ("arith.minnumf", 255)):
        x = apply(node, name, [x, number_of(bound, F32)], [F32, F32], F32)
    return x


def bit_cast(node: Node) -> None:
    """Import BitCast: reinterpret the bits of elements as another type of the same width."""
    number = node.required("to", int)
    if number not in NUMBERS:
        node.fail(f"attribute 'to' must be a number of the enum TensorProto.DataType, got {number}")
    target, source = element_of(NUMBERS[number]), node.plain(0)
    own, wanted = (getattr(signless(element), "width", 0) for element in (source, target))
    if own != wanted:
        node.refuse(f"{node.dtype(0)} to {NUMBERS[number]}, which have {own} and {wanted} bits")
    value = node.stored(0)
    assert isinstance(value.type, TensorType)
    if value.type.element is not target:
        value = node.emit("tensor.bitcast", [value], None, value.type.with_(element=target))
    node.set(0, value)
