"""Import of QUANTIZE."""

from collections.abc import Sequence
from math import prod

import numpy as np

from qrt.ir import Value
from qrt.ir.core.constraints import INDEX
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import Extent, LoweringContext
from qrt.models.importing.node import lowering_context
from qrt.models.tflite.node import Node
from qrt.types import FloatType, TensorType, UniformType

_F32, _F64 = FloatType("f32"), FloatType("f64")
_CASTS = {
    "reciprocal": {"scale": "reciprocal", "zero_point": "after"},
    "divide": {"rounding": "half_away", "zero_point": "after"},
}
"""The attributes of `quant.qcast` for each rule of quantize."""


def quantize(node: Node) -> None:
    """Import QUANTIZE: quantize float32 values, or requantize quantized values to another type.

    If the values are float32, the result may have a scale and a zero point for each index of an axis.
    """
    source, out = node.type(0).element, node.result_element()
    if source is _F32:
        rule = node.rule("quantize", storage=out.storage, is_per_axis=out.is_per_axis)
        result = _in_eights(node, out) if rule == "eights" else _cast(node, node.value(0), rule, out)
        node.set(0, result)
        return
    if not isinstance(source, UniformType):
        node.refuse(f"{node.input(0).dtype} to {node.outputs[0].dtype}")
    if not source.is_per_layer or not out.is_per_layer:
        node.refuse(f"{node.input(0).dtype} to {node.outputs[0].dtype}, of several scales")
    if source.storage == out.storage == "i16" and (source.zero_point or out.zero_point):
        node.refuse("int16 to int16 with a zero point other than 0, which LiteRT does not run")
    if source.storage == "i32" and source.zero_point:
        node.refuse("int32 with a zero point other than 0, whose difference to an integer may overflow in LiteRT")
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


def _cast(node: Node, x: Value, rule: str, out: UniformType) -> Value:
    return node.emit("quant.qcast", [x], _CASTS[rule], out)


def _in_eights(node: Node, out: UniformType) -> Value:
    """Quantize by the rule `eights`: multiply whole blocks of 8 elements by the scale's reciprocal.

    The elements after the last whole block are divided by the scale in float64.
    """
    x = node.value(0)
    context = lowering_context(node)
    extents = context.extents(x)
    inner = prod(extent for extent in extents if isinstance(extent, int))
    if inner % 8 == 0:
        return _cast(node, x, "reciprocal", out)
    if not all(isinstance(extent, int) for extent in extents):
        return _in_eights_of_open_sizes(node, context, extents, out)
    count = inner
    blocks = count // 8 * 8
    flat = node.emit("qrt.reshape", [x], None, TensorType((count,), _F32))
    parts = []
    if blocks:
        whole = node.emit("qrt.slice", [flat], {"offsets": (0,), "sizes": (blocks,), "strides": (1,)})
        parts.append(_cast(node, whole, "reciprocal", out))
    rest = node.emit("qrt.slice", [flat], {"offsets": (blocks,), "sizes": (count - blocks,), "strides": (1,)})
    parts.append(_as_type(node, _divided(node, rest, out), out))
    joined = parts[0] if len(parts) == 1 else node.emit("qrt.concat", parts, {"axis": 0}, out)
    return node.emit("qrt.reshape", [joined], None, TensorType(node.type(0).shape, out))


def _in_eights_of_open_sizes(
    node: Node, context: LoweringContext, extents: Sequence[Extent], out: UniformType
) -> Value:
    """Quantize by the rule `eights` a tensor whose number of elements is known only at run time.

    Each element is quantized by the multiplication and by the division; its position selects one of the results.
    """
    x = node.value(0)
    cast = _cast(node, x, "reciprocal", out)
    whole = node.emit("quant.scast", [cast], None, node.type(0).with_(element=out.storage_type))
    rest = _divided(node, x, out)
    eight = context.constant(8, INDEX)
    eights = context.value("arith.divui", (context.index(context.count(extents)), eight), INDEX)
    end = context.value("arith.muli", (eights, eight), INDEX)
    nest = LoopNest(context, "requantize", extents)
    parts = [nest.read(part, nest.loops) for part in (whole, rest)]
    chosen = nest.value("arith.select", (nest.is_before(end), *parts), out.storage_type)
    return _as_type(node, nest.finish(chosen)[0], out)


def _divided(node: Node, x: Value, out: UniformType) -> Value:
    """Return the storage of floats that are divided by the scale in float64."""
    assert isinstance(x.type, TensorType)
    wide = node.make("arith.extf", [x], None, [x.type.with_(element=_F64)]).result
    cast = _cast(node, wide, "divide", out.with_(expressed=_F64))
    return node.emit("quant.scast", [cast], None, x.type.with_(element=out.storage_type))


def _as_type(node: Node, storage: Value, out: UniformType) -> Value:
    assert isinstance(storage.type, TensorType)
    return node.emit("quant.scast", [storage], None, storage.type.with_(element=out))


def is_shift(source: UniformType, out: UniformType) -> bool:
    """Return True if requantization from ``source`` to ``out`` copies storage, or only shifts it between i8 and u8.

    The scales must be equal, and the zero points must differ by the same amount as the least storage values.
    """
    apart = source.zero_point - out.zero_point
    return (
        source.scale == out.scale
        and {source.storage, out.storage} <= {"i8", "u8"}
        and apart == source.storage_min - out.storage_min
    )
