"""Sums, means and extremes along axes, softmax, and BatchNormalization."""

from collections.abc import Sequence

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import Extent, LoweringContext
from qrt.models.importing import float_reductions
from qrt.models.importing.data_movement import taken
from qrt.models.importing.float_reductions import reduced
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import BOOL, Operand, apply, as_value, number_of
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators import extremes, folded_sums
from qrt.models.onnx.operators.arithmetic import form
from qrt.models.onnx.operators.operands import F32, I64, axes, axes_of
from qrt.models.onnx.types import signless
from qrt.types import FloatType, IntegerType, TensorType, Type

_REDUCTIONS = {
    "ReduceMax": ("arith.maxsi", "arith.maxui", "arith.maximumf", 18),
    "ReduceMin": ("arith.minsi", "arith.minui", "arith.minimumf", 18),
    "ReduceMean": ("", "", "arith.addf", 18),
    "ReduceSum": ("arith.addi", "arith.addi", "arith.addf", 13),
    "ReduceProd": ("arith.muli", "arith.muli", "arith.mulf", 18),
}
"""The operations on signed integers, unsigned integers and floats, and the first opset with axes as an input."""


def _start(name: str, element: Type) -> float:
    """Return the initial value of a reduction: 0 for sums, 1 for products, a limit of the type for extremes."""
    if name not in ("ReduceMax", "ReduceMin"):
        return int(name == "ReduceProd")
    if isinstance(element, FloatType):
        return -np.inf if name == "ReduceMax" else np.inf
    assert isinstance(element, IntegerType)
    least = 0 if element.signedness == "unsigned" else -(1 << (element.width - 1))
    most = least + (1 << element.width) - 1
    return least if name == "ReduceMax" else most


def reduction(node: Node) -> None:
    """Import a reduction such as ReduceSum: reduce float32, float64 or integers along axes, element by element.

    A mean is the sum divided by the number of elements, and 0 if there are none. Integers wrap, while the runtime
    saturates.
    """
    element = node.plain(0)
    *ops, since = _REDUCTIONS[node.op.type]
    op, signless_type = ops[form(element)], signless(element)
    shape, given = node.shape(), axes_of(node, 1, since)
    if node.op.is_folded and node.op.type in ("ReduceMean", "ReduceSum"):
        if not given and node.attribute("noop_with_empty_axes", 0):
            node.refuse("without axes")
        folded_sums.sum_along(node, axes(node, given, len(shape)) if given else tuple(range(len(shape))))
        return
    if not op or element is BOOL or (isinstance(element, FloatType) and element.name not in ("f32", "f64")):
        node.refuse(f"of {node.dtype(0)}")
    if not given and node.attribute("noop_with_empty_axes", 0):
        node.set_plain(
            0, node.emit("qrt.reshape", [node.stored(0)], None, node.type(0).with_(element=signless_type)), element
        )
        return
    along = axes(node, given, len(shape)) if given else tuple(range(len(shape)))
    if node.op.type in extremes.ALONG_AXES and extremes.is_of_bytes(node):
        extremes.along_axes(node, along)
        return
    context = lowering_context(node)
    result = reduced(context, node.stored(0), along, op, _start(node.op.type, element))
    if node.op.type == "ReduceMean":
        result = divided(node, context, result, [context.extent(node.value(0), axis) for axis in along])
    if node.attribute("keepdims", 1):
        reduced_shape = tuple(1 if axis in along else size for axis, size in enumerate(shape))
        result = node.emit("qrt.reshape", [result], None, TensorType(reduced_shape, signless_type))
    node.set_plain(0, result, element)


def divided(node: Node, context: LoweringContext, sums: Value, sizes: Sequence[Extent]) -> Value:
    """Divide sums by the product of ``sizes``, which is the number of terms of each sum.

    Sums of no terms are divided by 1: ONNX Runtime's mean of no elements is 0.
    """
    element, count = (sums.type.element if isinstance(sums.type, TensorType) else F32), context.count(sizes)
    number = max(count, 1) if isinstance(count, int) else number_tensor(node, count, element, least=1)
    nest = LoopNest(context, "divide", context.extents(sums))
    by = nest.constant(number, element) if isinstance(number, int) else nest.read(number, [])
    return nest.finish(nest.value("arith.divf", (nest.read(sums, nest.loops), by), element))[0]


def number_tensor(node: Node, count: Extent, element: Type, least: int = 0) -> Value:
    """Return a value of type index, or ``least`` if it is less, as a scalar tensor of floats."""
    context = lowering_context(node)
    number = node.emit("arith.index_cast", [context.index(count)], None, IntegerType(64))
    if least:
        number = node.emit("arith.maxsi", [number, context.constant(least, IntegerType(64))], None, IntegerType(64))
    return node.emit("tensor.from_elements", [node.emit("arith.sitofp", [number], None, element)], None,
                     TensorType((), element))  # fmt: skip


def softmax(node: Node) -> None:
    """Import Softmax: compute the softmax of float32 along an axis.

    Before opset 13, the softmax is along all axes from ``axis`` on. Exponentials are correctly rounded and then divided
    by their sum. The error of the sum does not grow with the number of terms.
    """
    if node.type(0).element is not F32:
        node.refuse(f"of {node.dtype(0)}")
    rank = len(node.shape())
    axis = node.axis(node.attribute("axis", -1 if node.opset >= 13 else 1), rank)
    along = (axis,) if node.opset >= 13 else tuple(range(axis, rank))
    rule = node.rule("float_softmax")
    node.set(0, float_reductions.softmax(lowering_context(node), node.value(0), along, 1.0, rule))


def batch_normalization(node: Node) -> None:
    """Import BatchNormalization: normalize float32 by parameters that are known at import.

    Each channel is multiplied by one constant, and a second constant is added. Both constants are computed in float32
    from the parameters.
    """
    if node.type(0).element is not F32 or any(node.returns(i) for i in range(1, 5)):
        node.refuse("in training, or of another type than float32")
    scale, bias, mean, variance = (np.asarray(node.known(i, "parameters"), np.float32) for i in range(1, 5))
    if len(node.shape()) < 2:
        node.fail(f"the input must have a batch and channels, got shape {list(node.shape())}")
    channels = node.shape()[1]
    if any(parameter.shape != (channels,) for parameter in (scale, bias, mean, variance)):
        node.fail(
            f"scale, B, mean and var must have the shape ({channels},), one value for each channel, but do not all"
        )
    factor = scale * (np.float32(1) / np.sqrt(variance + np.float32(node.attribute("epsilon", 1e-5))))
    shape = (channels or 0, *(1,) * (len(node.shape()) - 2))
    result: Operand = apply(node, "arith.mulf", [node.value(0), factor.reshape(shape)], [F32, F32], F32)
    result = apply(node, "arith.addf", [result, (bias - mean * factor).reshape(shape)], [F32, F32], F32)
    assert isinstance(result, Value)
    node.set(0, result)


def extreme(node: Node) -> None:
    """Import ArgMax or ArgMin: compute the int64 position of the largest or least element along an axis.

    Of several equal elements, the first one counts, or with ``select_last_index`` the last one.
    """
    if node.op.is_folded:
        extremes.require_distinct_floats(node)
    shape = node.shape()
    axis = node.axis(node.attribute("axis", 0), len(shape))
    name = "qrt.argmax" if node.op.type == "ArgMax" else "qrt.argmin"
    value, size = node.value(0), shape[axis]
    is_last = bool(node.attribute("select_last_index", 0))
    if is_last:
        if size is None:
            node.refuse("the last of equals along a dynamic dimension")
        value = taken(node, value, axis, size - 1, size, -1)
    position = node.emit(name, [value], {"axis": axis}, IntegerType(64))
    if is_last:
        number = number_of((size or 0) - 1, I64)
        position = as_value(node, apply(node, "arith.subi", [number, position], [I64, I64], I64), I64)
    if node.attribute("keepdims", 1):
        reduced_shape = tuple(1 if d == axis else size for d, size in enumerate(shape))
        position = node.emit("qrt.reshape", [position], None, TensorType(reduced_shape, IntegerType(64)))
    node.set(0, position)
