"""Import of SOFTMAX, LOG_SOFTMAX and functions of one variable on quantized tensors, mostly as table lookups."""

import numpy as np

from qrt.ir import Value
from qrt.models.importing.unquantized import Operand, apply, number_of
from qrt.models.tflite import tables
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import finish, raw
from qrt.ops.core import Array
from qrt.types import FloatType, IntegerType, TensorType, UniformType

F32, I16 = FloatType("f32"), IntegerType(16)
_BYTES = ("i8", "u8")
_OF_BOTH = ("LOGISTIC", "TANH", "HARD_SWISH", "GELU")
"""The functions that LiteRT supports for u8 too; others only for i8."""
_OF_16 = ("EXP", "GELU", "LOG", "RSQRT")


def softmax(node: Node) -> None:
    """Import SOFTMAX: compute the softmax along the last axis.

    8-bit values have 8- or 16-bit results; int16 values have 16-bit results.
    """
    x, out = node.element(0), node.result_element()
    if x.storage == "i16" and out.storage != "i16":
        node.refuse(f"of {x.storage} to {out.storage}")
    if x.storage == "i16" and x.zero_point:
        node.refuse("int16 with a zero point other than 0, which LiteRT does not run")
    scale, zero_point = (2.0**-15, 0) if x.storage == "i16" else (2.0**-out.storage_width, out.storage_min)
    if x.storage == out.storage and (abs(out.scale - scale) > 1e-3 * scale or out.zero_point != zero_point):
        node.fail(f"the result must have scale {scale} and zero point {zero_point}, got {out}")
    rule = node.rule("softmax", storage=x.storage, result=out.storage)
    attributes = {"axis": -1, "beta": float(node.options["beta"]), "requant": rule}
    own = out.with_(scales=scale, zero_points=zero_point) if rule == "gemmlowp" else out
    node.set(0, read_as(node, node.emit("qrt.softmax", [node.value(0)], attributes, own), out))


def read_as(node: Node, value: Value, element: UniformType) -> Value:
    """Reinterpret the storage of a quantized value as another quantized type."""
    tensor = value.type
    if isinstance(tensor, TensorType) and tensor.element is element:
        return value
    assert isinstance(tensor, TensorType)
    bare = node.emit("quant.scast", [value], {}, tensor.with_(element=element.storage_type))
    return node.emit("quant.scast", [bare], {}, tensor.with_(element=element))


def log_softmax(node: Node) -> None:
    """Import LOG_SOFTMAX: compute the log-softmax of 8-bit values along the last axis."""
    x, out = node.element(0), node.result_element()
    rule = node.rule("log_softmax", storage=x.storage)
    if x.storage != out.storage or out.scale != 1 / 16 or out.zero_point != out.storage_max:
        node.fail(f"the result must have scale 1/16 and zero point {out.storage_max}, got {out}")
    node.set(0, node.emit("qrt.log_softmax", [node.value(0)], {"axis": -1, "requant": rule}, out))


def sigmoid(node: Node) -> None:
    """Import LOGISTIC or TANH: apply the function to 8- or 16-bit values."""
    x, out = node.element(0), node.result_element()
    name = node.op.name
    if x.storage != "i16":
        scale, zero_point = (2.0**-8, out.storage_min) if name == "LOGISTIC" else (2.0**-7, out.storage_min + 128)
        if x.storage == out.storage and (out.scale != scale or out.zero_point != zero_point):
            node.fail(f"the result must have scale {scale} and zero point {zero_point}, got {out}")
        return _lookup(node, name, x, out)
    if out.storage != "i16" or out.scale != 2.0**-15:
        node.fail(f"the result must be int16 of scale 2**-15, got {out}")
    rule = node.rule(name.lower(), storage=x.storage, scale=x.scale)
    node.set(0, node.emit(f"qrt.{name.lower()}", [node.value(0)], {"requant": rule}, out))
    return None


def function(node: Node) -> None:
    """Import ELU, EXP, GELU, HARD_SWISH, LOG, RSQRT or SQRT: apply the function to int8 values.

    GELU and HARD_SWISH accept uint8 values too, and EXP, GELU, LOG, RSQRT and SQRT int16 values.
    """
    x, out = node.element(0), node.result_element()
    name = node.op.name
    if name == "GELU" and node.options["approximate"]:
        name = "GELU approximate"
    if name == "HARD_SWISH" and not tables.hard_swish_fits(x, out):
        node.fail(f"the scale of the result must be at least 1/128 of that of the input, {x.scale}, got {out.scale}")
    if x.storage == out.storage == "i16" and name == "SQRT":
        return _root(node, x, out)
    if x.storage == "i16" and node.op.name in _OF_16 and out.storage == "i16":
        entries = tables.interpolated(name, x, out)
        if np.abs(np.diff(entries.astype(np.int64))).max() > out.default_bounds[1]:
            node.refuse("16 bits, with table entries so far apart that LiteRT's difference of them overflows")
        table = node.dense(entries, out)
        return node.set(0, node.emit("qrt.lookup_interpolated", [node.value(0), table], {}, out))
    return _lookup(node, name, x, out)


def _root(node: Node, x: UniformType, out: UniformType) -> None:
    """Set the result to the square root of 16-bit values, truncated.

    LiteRT reports an error for a negative value; here its root is 0.
    """
    node.rule("table", function="SQRT")
    if x.zero_point or out.zero_point:
        node.refuse("16 bits with a zero point")

    def emit(name: str, *operands: Operand) -> Operand:
        return apply(node, name, operands, [F32] * len(operands), F32)

    value = apply(node, "arith.sitofp", [raw(node, 0)], [I16], F32)
    value = emit("arith.mulf", value, number_of(x.scale, F32))
    value = emit("math.sqrt", emit("arith.maximumf", value, number_of(0, F32)))
    value = emit("arith.divf", value, number_of(out.scale, F32))
    value = emit("arith.minimumf", value, number_of(out.storage_max, F32))
    finish(node, 0, apply(node, "arith.fptosi", [value], [F32], I16))


def _lookup(node: Node, name: str, x: UniformType, out: UniformType) -> None:
    if x.storage != out.storage or x.storage not in (_BYTES if node.op.name in _OF_BOTH else ("i8",)):
        node.refuse(f"{x.storage} to {out.storage}")
    rule = node.rule("table", function=node.op.name)
    node.set(0, _looked_up(node, tables.table(name, x, out, rule), out))


def _looked_up(node: Node, table: Array, out: UniformType) -> Value:
    return node.emit("qrt.lookup", [node.value(0), node.dense(table, out)], {}, out)
