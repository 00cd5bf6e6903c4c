"""Quantized operators of ONNX Runtime's own domain, ``com.microsoft``: sums, products, averages, softmax, tables.

Every tensor has one scale and one zero point, which must be known at import. For some shapes, the runtime exchanges the
operands of QLinearAdd, which changes the rounding of its two fused multiply-adds.
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
    """Return True if the runtime exchanges the operands of a QLinearAdd, its inputs 0 and 3.

    ``types`` are those of the two operands and of the result. If the exchange depends on sizes known only at run time,
    raise UnsupportedForm unless both orders give the same sums.
    """
    orders = _possible_orders(node.shape(0), node.shape(3))
    if len(orders) > 1 and _depends_on_order(types):
        node.refuse(
            "of sizes known only at run time, on which the order of the sum depends: write the sizes "
            "of the inputs into the file"
        )
    return orders == {True}


def _possible_orders(first: Shape, second: Shape) -> set[bool]:
    """Return {True} if the runtime exchanges operands of these shapes, and {False} if it does not.

    Return {True, False} if that depends on a size that is known only at run time. The runtime exchanges the operands if
    the first one has size 1 along a certain axis. With the shapes aligned at their ends, this is the last axis along
    which an operand has a size above 1. If there is none, it is the first axis that both shapes have.
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
    """Return the sizes that a dimension may have at run time, where 2 stands for all sizes above 1.

    A size of None, which is known only at run time, gives (1, 2).
    """
    return (1, 2) if size is None else (min(size, 2),)


def _depends_on_order(types: tuple[UniformType, UniformType, UniformType]) -> bool:
    """Return True if exchanging the operands changes the sum of at least one pair of 8-bit numbers."""
    a, b = (QuantTensor(np.arange(t.storage_min, t.storage_max + 1).astype(storage_dtype(t)), t) for t in types[:2])
    pair = a[:, np.newaxis], b[np.newaxis]
    sums = [add(*operands, out_type=types[2], requant="float32_fused") for operands in (pair, pair[::-1])]
    return not np.array_equal(sums[0].storage, sums[1].storage)


MICROSOFT = "com.microsoft"
_WIDTHS = ("i8", "u8")


def _parameters(node: Node, storage: Type, scale: int, zero_point: int | None) -> UniformType:
    if node.known(scale, "a scale").size != 1:
        node.refuse("with more than one scale")
    element = node.uniform(storage, (), scale, zero_point)
    if element.storage not in _WIDTHS:
        node.refuse(f"of {element.storage}")
    return element


def _operand(node: Node, i: int) -> UniformType:
    return _parameters(node, node.plain(i), i + 1, i + 2)


def _result(node: Node, scale: int, like: int = 0) -> UniformType:
    """Return the quantized type of the result. Input ``scale`` is its scale, and the next input its zero point.

    Without a zero point, the storage type is that of input ``like``.
    """
    storage = node.plain(scale + 1 if node.has(scale + 1) else like)
    return _parameters(node, storage, scale, scale + 1)


def binary(node: Node) -> None:
    """Import QLinearAdd or QLinearMul: add or multiply tensors of int8 or uint8, with NumPy's broadcasting.

    As in the runtime, the operands of QLinearAdd are exchanged if the first one has size 1 on the last axis whose size
    in the result is above 1. If these sizes are known only at run time, both orders must give the same sums.
    A Sub between DequantizeLinear and QuantizeLinear is a QLinearAdd of the negated second operand.
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
    if node.op.is_folded and node.attribute("is_difference", 0):
        name = "sub"
    node.set(0, node.emit(f"qrt.{name}", operands, {"requant": rule}, out))


def average_pool(node: Node) -> None:
    """Import QLinearAveragePool: average int8 or uint8 images of one or two axes, with the channels first or last.

    The number of elements includes padding if ``count_include_pad`` is set. A folded AveragePool (a float operator
    between DequantizeLinear and QuantizeLinear) differs in two ways: the elements are added in the order of the float
    operator, and the zero point is added after the rounding.
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
    given, window = window_of(node, form, value)
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


def global_average_pool(node: Node) -> None:
    """Import QLinearGlobalAveragePool: average int8 or uint8 images over all spatial axes.

    The channels are first or last. A GlobalAveragePool between DequantizeLinear and QuantizeLinear becomes an average
    pool over the whole image.
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
    """Import a GlobalAveragePool that was folded with its casts, as an average pool whose window is the whole image.

    An image of one axis, or of more than two, is reshaped to two.
    """
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
    """Import QLinearSoftmax: compute the softmax of int8 or uint8 along an axis.

    Before opset 13, the softmax is along all axes from ``axis`` on. The attribute ``opset`` gives the opset. The
    softmax is multiplied by ``floor(1 / scale)``, with the scale of the result, and rounded. A Softmax between
    DequantizeLinear and QuantizeLinear is divided by the scale instead.
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
    """Import QLinearLeakyRelu or QLinearSigmoid: compute the function of int8 or uint8 by a table of 256 entries."""
    x, out = _operand(node, 0), _result(node, 3)
    node.rule("table", storage=x.storage)
    computed: tables.Function = tables.logistic
    if node.op.type == "QLinearLeakyRelu":
        computed = tables.leaky_relu(node.attribute("alpha", 0.01))
    node.set(0, _looked_up(node, node.cast(0, x), tables.table(computed, x, out), out))


def _looked_up(node: Node, value: Value, table: Any, out: UniformType) -> Value:
    return node.emit("qrt.lookup", [value, node.dense(table, out)], None, out)


def _converted(node: Node, i: int, x: UniformType, out: UniformType) -> Value:
    """Return input ``i``, of the type ``x``, in the type ``out``. If the types differ, a table converts the values."""
    value = node.cast(i, x)
    return value if x is out else _looked_up(node, value, tables.table(tables.identity, x, out), out)


def concat(node: Node) -> None:
    """Import QLinearConcat: join tensors of int8 or uint8.

    A tensor of another quantized type than the result is converted by a table.
    """
    count = len(node.op.inputs)
    if count < 5 or count % 3 != 2:
        node.fail(
            f"it must have two inputs (the scale and zero point of the result) and three for each tensor, got {count}"
        )
    out = _result(node, 0, like=2)
    node.rule("table", storage=out.storage)
    axis = node.axis(node.required("axis", int), len(node.shape(2)))
    values = [_converted(node, i, _operand(node, i), out) for i in range(2, count, 3)]
    node.set(0, node.emit("qrt.concat", values, {"axis": axis}, out) if len(values) > 1 else values[0])


def where(node: Node) -> None:
    """Import QLinearWhere: select each element from one of two tensors of int8 or uint8 by a bool.

    The three tensors broadcast. A tensor of another quantized type than the result is converted by a table.
    """
    out = _result(node, 7, like=1)
    node.rule("table", storage=out.storage)
    if node.plain(0) is not BOOL:
        node.fail(f"the condition (input 0) must be bool, got {node.dtype(0)}")
    x, y = (node.as_storage(_converted(node, i, _operand(node, i), out)) for i in (1, 4))
    plain = out.storage_type
    chosen = apply(node, "arith.select", [node.value(0), x, y], [BOOL, plain, plain], plain)
    assert isinstance(chosen, Value)
    assert isinstance(chosen.type, TensorType)
    node.set(0, node.emit("quant.scast", [chosen], None, chosen.type.with_(element=out)))
