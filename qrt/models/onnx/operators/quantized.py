"""Quantized operators of ONNX Runtime's own domain, ``com.microsoft``: sums, products, averages, softmax, tables.

Every tensor has one scale and one zero point, which must be known. The runtime exchanges the operands of QLinearAdd for
some shapes, which changes the rounding of its two fused steps.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.models.importing.unquantized import BOOL, apply
from qrt.models.onnx import tables
from qrt.models.onnx.node import Node, Shape
from qrt.models.onnx.operators.pooling import order_of_sums, window_of
from qrt.models.onnx.operators.windows import channels_first, channels_last, form_of
from qrt.ops.core import storage_dtype
from qrt.tensor import QuantTensor
from qrt.tensor.functions import add
from qrt.types import TensorType, Type, UniformType


def is_exchanged(node: Node, types: tuple[UniformType, UniformType, UniformType]) -> bool:
    """Return True if the runtime exchanges the inputs 0 and 3. ``types`` are theirs and that of the result.

    If that is known only at run time, the order must make no difference; otherwise the node is refused.
    """
    orders = _possible_orders(node.shape(0), node.shape(3))
    if len(orders) > 1 and _depends_on_order(types):
        node.refuse(
            "of sizes known only at run time, on which the order of the sum depends: write the sizes "
            "of the inputs into the file"
        )
    return orders == {True}


def _possible_orders(first: Shape, second: Shape) -> set[bool]:
    """Return the possible answers, True or False, to whether the runtime exchanges the operands.

    It does if the first operand has one element along the axis that counts. Of the axes that both operands have, that
    is the last one in which either has several elements, or else the first.
    """
    if not first:
        return {True}
    if not second:
        return {count == 1 for count in _possible_counts(first[-1])}
    orders = set()
    pairs = list(zip(reversed(first), reversed(second), strict=False))
    for i, (x, y) in enumerate(pairs):
        counts = set(product(_possible_counts(x), _possible_counts(y)))
        is_outermost = i == len(pairs) - 1
        orders |= {own == 1 for own, other in counts if is_outermost or max(own, other) > 1}
        if (1, 1) not in counts:
            break
    return orders


def _possible_counts(size: int | None) -> tuple[int, ...]:
    """Return 1 for one element, 2 for several, and both if the size is known only at run time."""
    return (1, 2) if size is None else (min(size, 2),)


def _depends_on_order(types: tuple[UniformType, UniformType, UniformType]) -> bool:
    """Return True if the sum of any two bytes depends on the order."""
    a, b = (QuantTensor(np.arange(t.storage_min, t.storage_max + 1).astype(storage_dtype(t)), t) for t in types[:2])
    pair = a[:, np.newaxis], b[np.newaxis]
    sums = [add(*operands, out_type=types[2], requant="float32_fused") for operands in (pair, pair[::-1])]
    return not np.array_equal(sums[0].storage, sums[1].storage)


MICROSOFT = "com.microsoft"
_WIDTHS = ("i8", "u8")


def _parameters(node: Node, storage: Type, scale: int, zero_point: int | None) -> UniformType:
    """Return the 8-bit type with one scale and one zero point, which two inputs give."""
    if node.known(scale, "a scale").size != 1:
        node.refuse("with more than one scale")
    element = node.uniform(storage, (), scale, zero_point)
    if element.storage not in _WIDTHS:
        node.refuse(f"of {element.storage}")
    return element


def _operand(node: Node, i: int) -> UniformType:
    """Return the type of an input whose scale and zero point are the next two inputs."""
    return _parameters(node, node.plain(i), i + 1, i + 2)


def _result(node: Node, scale: int, like: int = 0) -> UniformType:
    """Return the type of the result. Its storage is that of its zero point, or else that of input ``like``."""
    storage = node.plain(scale + 1 if node.has(scale + 1) else like)
    return _parameters(node, storage, scale, scale + 1)


def binary(node: Node) -> None:
    """Add or multiply tensors of int8 or uint8, with NumPy's broadcasting.

    QLinearAdd computes b + a, as the runtime does, if a has size 1 along the last axis where a or b is larger.
    If these sizes are known only at run time, both orders must give the same integers for all operands.
    """
    name = {"QLinearAdd": "add", "QLinearMul": "mul"}[node.op.type]
    a, b, out = _operand(node, 0), _operand(node, 3), _result(node, 6)
    if not a.storage == b.storage == out.storage:
        (node.refuse if node.op.is_folded else node.fail)(
            f"its tensors are of {a.storage}, {b.storage} and {out.storage}"
        )
    rule = node.rule(name, storage=out.storage)
    operands = [node.cast(0, a), node.cast(3, b)]
    if name == "add" and not node.op.is_folded and is_exchanged(node, (a, b, out)):
        operands.reverse()
    node.set(0, node.emit(f"qrt.{name}", operands, {"requant": rule}, out))


def average_pool(node: Node) -> None:
    """Average int8 or uint8 images of one or two axes, with the channels before or after them.

    Padding counts if ``count_include_pad`` is set. A pool between casts adds in the order of AveragePool, and its zero
    point is added after the rounding.
    """
    x, out, rank = _operand(node, 0), _result(node, 3), len(node.shape())
    shape, is_last = node.shape(), bool(node.attribute("channels_last", 0))
    if rank not in (3, 4):
        node.refuse(f"images of {rank - 2} axes")
    if is_last and rank == 3:
        node.refuse("images of one axis with the channels last")
    window_shape = form_of(node, (shape[0], shape[-1], *shape[1:-1]) if is_last else shape, None)
    form, folded = window_shape.of_images(), node.op.is_folded
    order = order_of_sums(node, node.required("opset", int), window_shape, shape[2:]) if folded else "rows"
    rule = node.rule("average_pool2d", storage=x.storage, folded=folded, sum=order)
    if any(dilation != 1 for dilation in form.dilations):
        node.refuse("with dilations")
    value = node.cast(0, x)
    value = value if is_last else channels_last(node, value)
    given, window = window_of(node, form, _sizes(value))
    padding = window.padding
    if node.attribute("count_include_pad", 0) and any(map(any, given.padding)):
        if window.padding != given.padding:
            node.refuse("with padding that counts and ceil_mode")
        value, padding = given.padded(node, value), ((0, 0),) * 2
    attributes: dict[str, Any] = {
        "kernel": form.kernel, "strides": form.strides, "padding": padding, "requant": rule,
    }  # fmt: skip
    result = node.emit("qrt.avg_pool2d", [value], attributes, out)
    node.set(0, result if is_last else channels_first(node, result, rank))


def _sizes(value: Value) -> tuple[int | None, ...]:
    assert isinstance(value.type, TensorType)
    return (value.type.shape or ())[1:-1]


def global_average_pool(node: Node) -> None:
    """Average int8 or uint8 over all axes but the batch and the channels, which come before or after them.

    Between casts, it is an average pool over the whole image.
    """
    x, out, rank = _operand(node, 0), _result(node, 3), len(node.shape())
    if node.op.is_folded:
        _average_of_image(node, x, out)
        return
    axes = tuple(range(1, rank - 1) if node.attribute("channels_last", 0) else range(2, rank))
    rule = node.rule("mean", storage=x.storage)
    attributes = {"axes": axes, "keepdims": True, "requant": rule}
    node.set(0, node.emit("qrt.mean", [node.cast(0, x)], attributes, out))


def _average_of_image(node: Node, x: UniformType, out: UniformType) -> None:
    """Import a GlobalAveragePool between casts. An image of any axes is reshaped to two."""
    shape = node.shape()
    image = (
        (1, _product(node, shape[2:])) if len(shape) != 4 else (_product(node, shape[2:3]), _product(node, shape[3:]))
    )
    rule = node.rule("average_pool2d", storage=x.storage, folded=True, sum="lanes")
    value = node.cast(0, x)
    if len(shape) != 4:
        value = node.emit("qrt.reshape", [value], None, TensorType((*shape[:2], *image), x))
    attributes: dict[str, Any] = {"kernel": image, "strides": (1, 1), "requant": rule}
    result = channels_first(node, node.emit("qrt.avg_pool2d", [channels_last(node, value)], attributes, out), 4)
    if len(shape) != 4:
        result = node.emit("qrt.reshape", [result], None, TensorType((*shape[:2], *(1 for _ in shape[2:])), out))
    node.set(0, result)


def softmax(node: Node) -> None:
    """Compute the softmax of int8 or uint8.

    Before opset 13, which an attribute gives, it is over all axes from ``axis`` on. Between casts, the result is
    rounded by its scale; otherwise by the largest integer below the inverse of its scale.
    """
    x, out, shape = _operand(node, 0), _result(node, 3), node.shape()
    is_new = node.required("opset", int) >= 13
    axis = node.axis(node.attribute("axis", -1 if is_new else 1), len(shape))
    rule = node.rule("softmax", storage=x.storage, folded=node.op.is_folded)
    value = node.cast(0, x)
    flattens = not is_new and axis != len(shape) - 1
    if flattens:
        rest = _product(node, shape[axis:])
        value = node.emit("qrt.reshape", [value], None, TensorType((*shape[:axis], rest), x))
    result = node.emit("qrt.softmax", [value], {"axis": axis, "requant": rule}, out)
    if flattens:
        result = node.emit("qrt.reshape", [result], None, TensorType(shape, out))
    node.set(0, result)


def _product(node: Node, sizes: Sequence[int | None]) -> int:
    total = 1
    for size in sizes:
        if size is None:
            node.refuse("over axes of a size known only at run time")
        total *= size
    return total


def function(node: Node) -> None:
    """Apply the function to int8 or uint8 values by a table of 256 entries."""
    x, out = _operand(node, 0), _result(node, 3)
    node.rule("table", storage=x.storage)
    computed: tables.Function = tables.logistic
    if node.op.type == "QLinearLeakyRelu":
        computed = tables.leaky_relu(node.attribute("alpha", 0.01))
    node.set(0, _looked_up(node, node.cast(0, x), tables.table(computed, x, out), out))


def _looked_up(node: Node, value: Value, table: Any, out: UniformType) -> Value:
    return node.emit("qrt.lookup", [value, node.dense(table, out)], None, out)


def _converted(node: Node, i: int, x: UniformType, out: UniformType) -> Value:
    """Return an input in the result's type, by a table if it has another type."""
    value = node.cast(i, x)
    return value if x is out else _looked_up(node, value, tables.table(tables.identity, x, out), out)


def concat(node: Node) -> None:
    """Join tensors of int8 or uint8, each converted by a table if its type is not the result's."""
    count = len(node.op.inputs)
    if count < 5 or count % 3 != 2:
        node.fail(f"it has {count} inputs, expected two and three more for each tensor")
    out = _result(node, 0, like=2)
    node.rule("table", storage=out.storage)
    axis = node.axis(node.required("axis", int), len(node.shape(2)))
    values = [_converted(node, i, _operand(node, i), out) for i in range(2, count, 3)]
    node.set(0, node.emit("qrt.concat", values, {"axis": axis}, out) if len(values) > 1 else values[0])


def where(node: Node) -> None:
    """Select int8 or uint8 by bools, each tensor converted by a table if its type is not the result's.

    The three tensors broadcast.
    """
    out = _result(node, 7, like=1)
    node.rule("table", storage=out.storage)
    if node.plain(0) is not BOOL:
        node.fail(f"its condition has the type {node.dtype(0)}, expected bool")
    x, y = (node.as_storage(_converted(node, i, _operand(node, i), out)) for i in (1, 4))
    plain = out.storage_type
    chosen = apply(node, "arith.select", [node.value(0), x, y], [BOOL, plain, plain], plain)
    assert isinstance(chosen, Value)
    assert isinstance(chosen.type, TensorType)
    node.set(0, node.emit("quant.scast", [chosen], None, chosen.type.with_(element=out)))
