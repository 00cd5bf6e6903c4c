"""QUANTIZE and DEQUANTIZE."""

import numpy as np

from qrt.formats.tflite.node import Node
from qrt.formats.tflite.registry import operator
from qrt.types import FloatType, UniformType

_F32 = FloatType("f32")
_CASTS = {
    "reciprocal": {"scale": "reciprocal", "zero_point": "after"},
    "divide": {"rounding": "half_away", "zero_point": "after"},
}
"""What `quant.qcast` is told for each rule of quantize."""


_EXACT = {"exact": "fixed"}
"""The rule that multiplies by 1."""


@operator("QUANTIZE")
def quantize(node: Node) -> None:
    """Floats to integers, or integers of one type to those of another."""
    source, out = node.type(0).element, node.result_element()
    if source is _F32:
        rule = node.rule("quantize", storage=out.storage)
        node.set(0, node.emit("quant.qcast", [node.value(0)], _CASTS[rule], out))
        return
    if not isinstance(source, UniformType):
        node.refuse(f"{node.input(0).dtype} to {node.outputs[0].dtype}")
    requant = node.rule(
        "requantize",
        source=source.storage,
        storage=out.storage,
        ratio=float(np.float32(source.scale) / np.float32(out.scale)),
        is_shift=is_shift(source, out),
    )
    node.set(
        0, node.emit("qrt.requantize", [node.value(0)], {"requant": "fixed" if requant == "exact" else requant}, out)
    )


def is_shift(source: UniformType, out: UniformType) -> bool:
    """Whether both types have the same values for bits that differ in their sign at most."""
    apart = source.zero_point - out.zero_point
    return (
        source.scale == out.scale
        and {source.storage, out.storage} <= {"i8", "u8"}
        and apart == source.storage_min - out.storage_min
    )


@operator("DEQUANTIZE")
def dequantize(node: Node) -> None:
    """Integers to the floats that they stand for, each with one rounding."""
    node.element(0)
    if node.result_type().element is not _F32:
        node.refuse(f"to {node.outputs[0].dtype}")
    node.rule("dequantize")
    node.set(0, node.emit("quant.dcast", [node.value(0)], None, _F32))
