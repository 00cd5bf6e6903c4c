"""Sums, means and extremes along axes, softmax, and BatchNormalization."""

from collections.abc import Sequence
from math import prod

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import LoweringContext
from qrt.models.importing import float_reductions
from qrt.models.importing.data_movement import taken
from qrt.models.importing.float_reductions import reduced
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import BOOL, Operand, apply, as_value, number_of
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.arithmetic import form
from qrt.models.onnx.operators.operands import F32, I64, axes, axes_of
from qrt.models.onnx.types import signless
from qrt.ops.core import element_dtype
from qrt.types import FloatType, IntegerType, TensorType, Type

_REDUCTIONS = {
    "ReduceMax": ("arith.maxsi", "arith.maxui", "arith.maximumf", 18),
    "ReduceMin": ("arith.minsi", "arith.minui", "arith.minimumf", 18),
    "ReduceMean": ("", "", "arith.addf", 18),
    "ReduceSum": ("arith.addi", "arith.addi", "arith.addf", 13),
    "ReduceProd": ("arith.muli", "arith.muli", "arith.mulf", 18),
}
"""The ops of signed integers, of unsigned ones and of floats, and since when the axes are an input."""


def _start(name: str, element: Type) -> float:
    """What a reduction begins with: no element is beyond it, or changed by it."""
    if name not in ("ReduceMax", "ReduceMin"):
        return int(name == "ReduceProd")
    if isinstance(element, FloatType):
        return -np.inf if name == "ReduceMax" else np.inf
    held = np.iinfo(element_dtype(element))
    return int(held.min if name == "ReduceMax" else held.max)


def reduction(node: Node) -> None:
    """Of floats of 32 or 64 bits and integers, one element after the other; a mean is divided by their number. Integers
    wrap, where the runtime saturates.
    """
    element = node.plain(0)
    *ops, since = _REDUCTIONS[node.op.type]
    op, own = ops[form(element)], signless(element)
    if not op or element is BOOL or (isinstance(element, FloatType) and element.name not in ("f32", "f64")):
        node.refuse(f"of {node.dtype(0)}")
    shape, given = node.shape(), axes_of(node, 1, since)
    if not given and node.attribute("noop_with_empty_axes", 0):
        node.set_plain(0, node.emit("qrt.reshape", [node.stored(0)], None, node.type(0).with_(element=own)), element)
        return
    along = axes(node, given, len(shape)) if given else tuple(range(len(shape)))
    context = lowering_context(node)
    made = reduced(context, node.stored(0), along, op, _start(node.op.type, element))
    if node.op.type == "ReduceMean":
        made = divided(node, context, made, [shape[axis] for axis in along])
    if node.attribute("keepdims", 1):
        kept = tuple(1 if axis in along else size for axis, size in enumerate(shape))
        made = node.emit("qrt.reshape", [made], None, TensorType(kept, own))
    node.set_plain(0, made, element)


def divided(node: Node, context: LoweringContext, sums: Value, sizes: Sequence[int | None]) -> Value:
    """Sums by the number of their terms."""
    if None in sizes:
        node.refuse("a mean over elements whose number is known only at run time")
    nest = LoopNest(context, "divide", context.extents(sums))
    element = sums.type.element if isinstance(sums.type, TensorType) else F32
    count = nest.constant(prod(size or 0 for size in sizes), element)
    return nest.finish(nest.value("arith.divf", (nest.read(sums, nest.loops), count), element))[0]


def softmax(node: Node) -> None:
    """Of float32, along an axis; before opset 13 along all axes from one on. Exponentials are correctly rounded, and
    divided by their sum, whose error does not grow with their number.
    """
    if node.type(0).element is not F32:
        node.refuse(f"of {node.dtype(0)}")
    rank = len(node.shape())
    axis = node.axis(node.attribute("axis", -1 if node.opset >= 13 else 1), rank)
    along = (axis,) if node.opset >= 13 else tuple(range(axis, rank))
    rule = node.rule("float_softmax")
    node.set(0, float_reductions.softmax(lowering_context(node), node.value(0), along, 1.0, rule))


def batch_normalization(node: Node) -> None:
    """Of float32, with known parameters: one product and one sum, whose constants are formed in float32."""
    if node.type(0).element is not F32 or any(node.returns(i) for i in range(1, 5)):
        node.refuse("in training, or of another type than float32")
    scale, bias, mean, variance = (np.asarray(node.known(i, "parameters"), np.float32) for i in range(1, 5))
    if len(node.shape()) < 2:
        node.fail(f"the input has shape {list(node.shape())}, expected channels behind the batch")
    channels = node.shape()[1]
    if any(each.shape != (channels,) for each in (scale, bias, mean, variance)):
        node.fail(f"its parameters have shape {scale.shape}, expected one for each of {channels} channels")
    factor = scale * (np.float32(1) / np.sqrt(variance + np.float32(node.attribute("epsilon", 1e-5))))
    shape = (channels or 0, *(1,) * (len(node.shape()) - 2))
    found: Operand = apply(node, "arith.mulf", [node.value(0), factor.reshape(shape)], [F32, F32], F32)
    found = apply(node, "arith.addf", [found, (bias - mean * factor).reshape(shape)], [F32, F32], F32)
    assert isinstance(found, Value)
    node.set(0, found)


def extreme(node: Node) -> None:
    """The number of the first extreme element along an axis, or of the last one, int64."""
    shape = node.shape()
    axis = node.axis(node.attribute("axis", 0), len(shape))
    name = "qrt.argmax" if node.op.type == "ArgMax" else "qrt.argmin"
    value, size = node.value(0), shape[axis]
    is_last = bool(node.attribute("select_last_index", 0))
    if is_last:
        if size is None:
            node.refuse("the last of equals along a dynamic dimension")
        value = taken(node, value, axis, size - 1, size, -1)
    made = node.emit(name, [value], {"axis": axis}, IntegerType(64))
    if is_last:
        number = number_of((size or 0) - 1, I64)
        made = as_value(node, apply(node, "arith.subi", [number, made], [I64, I64], I64), I64)
    if node.attribute("keepdims", 1):
        kept = tuple(1 if d == axis else size for d, size in enumerate(shape))
        made = node.emit("qrt.reshape", [made], None, TensorType(kept, IntegerType(64)))
    node.set(0, made)
