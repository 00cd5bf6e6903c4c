"""SOFTMAX and LOG_SOFTMAX, and functions of one variable: they become a lookup in a table that is computed here."""

from qrt.formats.tflite import tables
from qrt.formats.tflite.node import Node
from qrt.formats.tflite.registry import operator
from qrt.ir import Value
from qrt.ops.core import Array
from qrt.types import UniformType

_BYTES = ("i8", "u8")
_OF_BOTH = ("LOGISTIC", "TANH", "HARD_SWISH", "GELU")
"""The functions that LiteRT has of u8 too."""
_OF_16 = ("EXP", "GELU", "LOG", "RSQRT")


@operator("SOFTMAX")
def softmax(node: Node) -> None:
    """Of 8 bits, to 8 or 16 bits, and of 16 bits; along the last axis."""
    x, out = node.element(0), node.result_element()
    _check_end(node, out, 2.0**-15 if x.storage == "i16" else 2.0**-out.storage_width, x.storage != "i16")
    rule = node.rule("softmax", storage=x.storage, result=out.storage)
    attributes = {"axis": -1, "beta": float(node.options["beta"]), "requant": rule}
    node.set(0, node.emit("qrt.softmax", [node.value(0)], attributes, out))


def _check_end(node: Node, out: UniformType, scale: float, from_least: bool) -> None:
    """The scale and the zero point that LiteRT asks of a softmax."""
    zero_point = out.storage_min if from_least else 0
    if abs(out.scale - scale) > 1e-3 * scale or out.zero_point != zero_point:
        node.fail(f"the result must have scale {scale} and zero point {zero_point}, not {out}")


@operator("LOG_SOFTMAX")
def log_softmax(node: Node) -> None:
    """Of 8 bits, along the last axis."""
    x, out = node.element(0), node.result_element()
    rule = node.rule("log_softmax", storage=x.storage)
    if x.storage != out.storage or out.scale != 1 / 16 or out.zero_point != out.storage_max:
        node.fail(f"the result must have scale 1/16 and zero point {out.storage_max}, not {out}")
    node.set(0, node.emit("qrt.log_softmax", [node.value(0)], {"axis": -1, "requant": rule}, out))


@operator("LOGISTIC", "TANH")
def sigmoid(node: Node) -> None:
    """Of 8 and 16 bits."""
    x, out = node.element(0), node.result_element()
    name = node.op.name
    if x.storage != "i16":
        scale, zero_point = (2.0**-8, out.storage_min) if name == "LOGISTIC" else (2.0**-7, out.storage_min + 128)
        if x.storage == out.storage and (out.scale != scale or out.zero_point != zero_point):
            node.fail(f"the result must have scale {scale} and zero point {zero_point}, not {out}")
        return _lookup(node, name, x, out)
    if out.storage != "i16" or out.scale != 2.0**-15:
        node.fail(f"the result must be i16 of scale 2**-15, not {out}")
    rule = node.rule(name.lower(), storage=x.storage, scale=x.scale)
    node.set(0, node.emit(f"qrt.{name.lower()}", [node.value(0)], {"requant": rule}, out))
    return None


@operator("ELU", "EXP", "GELU", "HARD_SWISH", "LOG", "RSQRT", "SQRT")
def function(node: Node) -> None:
    """Of 8 bits; EXP, GELU, LOG and RSQRT of 16 bits too."""
    x, out = node.element(0), node.result_element()
    name = node.op.name
    if name == "GELU" and node.options["approximate"]:
        name = "GELU approximate"
    if name == "HARD_SWISH" and not tables.hard_swish_fits(x, out):
        node.fail("the scale of the result is below 1/128 of that of the input")
    if x.storage == "i16" and node.op.name in _OF_16 and out.storage == "i16":
        table = node.dense(tables.interpolated(name, x, out), out)
        return node.set(0, node.emit("qrt.lookup_interpolated", [node.value(0), table], {}, out))
    return _lookup(node, name, x, out)


def _lookup(node: Node, name: str, x: UniformType, out: UniformType) -> None:
    if x.storage != out.storage or x.storage not in (_BYTES if node.op.name in _OF_BOTH else ("i8",)):
        node.refuse(f"{x.storage} to {out.storage}")
    rule = node.rule("table", function=node.op.name)
    node.set(0, _looked_up(node, tables.table(name, x, out, rule), out))


def _looked_up(node: Node, table: Array, out: UniformType) -> Value:
    return node.emit("qrt.lookup", [node.value(0), node.dense(table, out)], {}, out)
