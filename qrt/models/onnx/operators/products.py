"""Products of matrices: of floats, of quantized tensors, and of integers."""

from math import prod
from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.models.importing import float_products
from qrt.models.importing.data_movement import joined, reshaped, taken
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import Operand, apply, number_of
from qrt.models.onnx.node import Node, Shape
from qrt.models.onnx.operators.convolution import bias_of, product_facts
from qrt.models.onnx.operators.operands import F32, operand
from qrt.types import TensorType, UniformType


def matmul(node: Node) -> None:
    """Import MatMul: multiply float32 matrices.

    Each sum begins with 0 and goes over the depth in order. Each product is added by a fused multiply-add.
    """
    if node.type(0).element is not F32 or node.type(1).element is not F32:
        node.refuse(f"of {node.dtype(0)} and {node.dtype(1)}")
    node.set(0, _multiply(node, _product))


def _multiply(node: Node, product: Any) -> Value:
    """Compute ``product(node, a, b)``, where a and b are inputs 0 and 1 as matrices.

    A vector on the left is taken as a row, and a vector on the right as a column.
    """
    left, right = node.shape(0), node.shape(1)
    if not left or not right:
        node.fail("its inputs must have at least one axis, got a scalar")
    a, b = node.value(0), node.value(1)
    if len(left) == 1:
        a = _reshaped(node, a, (1, *left))
    if len(right) == 1:
        b = _reshaped(node, b, (*right, 1))
    result = product(node, a, b)
    if len(left) == 1 or len(right) == 1:
        shape = list(result.type.shape or ())
        if len(right) == 1:
            del shape[-1]
        if len(left) == 1:
            del shape[-1 if len(right) == 1 else -2]
        result = _reshaped(node, result, tuple(shape))
    return result  # type: ignore[no-any-return]


def _reshaped(node: Node, value: Value, shape: Shape) -> Value:
    assert isinstance(value.type, TensorType)
    return node.emit("qrt.reshape", [value], None, TensorType(shape, value.type.element))


def _product(node: Node, a: Value, b: Value) -> Value:
    context = lowering_context(node)
    left, right = _shape(a), _shape(b)
    batch = _batch(node, left[:-2], right[:-2])
    if left[-1] is not None and right[-2] is not None and left[-1] != right[-2]:
        node.fail(
            f"the columns of the left matrix must be as many as the rows of the right one, got shapes {list(left)} "
            f"and {list(right)}"
        )
    rank = len(batch)
    batch_extents = []
    for axis in range(rank):
        of_a, of_b = axis - rank + len(left) - 2, axis - rank + len(right) - 2
        is_of_b = of_a < 0 or (left[of_a] == 1 and of_b >= 0)
        batch_extents.append(context.extent(b, of_b) if is_of_b else context.extent(a, of_a))
    rows, columns, depth = (
        context.extent(a, len(left) - 2),
        context.extent(b, len(right) - 1),
        context.extent(a, len(left) - 1),
    )

    def operands(nest: LoopNest) -> tuple[Value, Value]:
        *outer, i, j, k = nest.loops
        return nest.read(a, [*_own_loops(outer, left[:-2]), i, k]), nest.read(b, [*_own_loops(outer, right[:-2]), k, j])

    return float_products.total(
        context, [*batch_extents, rows, columns], [depth], operands, node.rule("float_products"), None
    )


def _own_loops(outer: list[Any], shape: Shape) -> list[Any]:
    """Return an index for each batch axis of an operand: a loop, or 0 for an axis of size 1, which broadcasts.

    ``outer`` has the loops over the batch axes of the result, and ``shape`` the sizes of the operand's batch axes.
    """
    own_loops = outer[len(outer) - len(shape) :]
    return [0 if size == 1 else loop for loop, size in zip(own_loops, shape, strict=True)]


def _shape(value: Value) -> Shape:
    assert isinstance(value.type, TensorType)
    return value.type.shape or ()


def _batch(node: Node, left: Shape, right: Shape) -> Shape:
    rank = max(len(left), len(right))
    batch = []
    for a, b in zip((*(1,) * (rank - len(left)), *left), (*(1,) * (rank - len(right)), *right), strict=True):
        if a != b and 1 not in (a, b):
            node.fail(f"the batch dimensions of its inputs must broadcast, got {list(left)} and {list(right)}")
        batch.append(b if a == 1 else a)
    return tuple(batch)


def gemm(node: Node) -> None:
    """Import Gemm: multiply float32 matrices, each transposed or not, and add a bias.

    Sums are computed as in MatMul; alpha and beta are applied at the end.
    """
    if any(node.type(i).element is not F32 for i in range(len(node.op.inputs)) if node.has(i)):
        node.refuse(f"of {node.dtype(0)} and {node.dtype(1)}")
    a, b = (_transposed(node, node.value(i), node.attribute(name, 0)) for i, name in ((0, "transA"), (1, "transB")))
    result: Operand = _product(node, a, b)
    alpha, beta = node.attribute("alpha", 1.0), node.attribute("beta", 1.0)
    if alpha != 1:
        result = apply(node, "arith.mulf", [result, number_of(alpha, F32)], [F32, F32], F32)
    if node.has(2) and beta != 0:
        bias = operand(node, 2)
        if beta != 1:
            bias = apply(node, "arith.mulf", [bias, number_of(beta, F32)], [F32, F32], F32)
        result = apply(node, "arith.addf", [result, bias], [F32, F32], F32)
    assert isinstance(result, Value)
    node.set(0, result)


def _transposed(node: Node, value: Value, wanted: int) -> Value:
    if len(_shape(value)) != 2:
        node.fail(f"its first two inputs must be matrices, got shape {list(_shape(value))}")
    return node.emit("qrt.transpose", [value], {"permutation": [1, 0]}) if wanted else value


# -- quantized -------------------------------------------------------------------------------------------------------


def qlinear_matmul(node: Node) -> None:
    """Import QLinearMatMul: multiply 8-bit matrices, also in batches.

    The left operand has one scale. The right operand has one scale, or one for each column.
    """
    out = node.uniform(node.plain(7) if node.has(7) else node.plain(0), (), 6, 7)
    if node.known(4, "a scale").ndim > 1:
        _multiply_each(node, out)
        return
    x, w = node.parameters(0, 1, 2), node.parameters(3, 4, 5, axis=-1)
    operands = [node.cast(0, x), node.cast(3, w)]
    attributes = {"requant": node.rule("matmul", **product_facts(x, w, out))}
    node.set(0, node.emit("qrt.matmul", operands, attributes, out))


def _multiply_each(node: Node, out: UniformType) -> None:
    """Multiply the matrices of a batch one by one. Each right matrix has its own scales, of shape [..., 1, N]."""
    left, right, scales = node.shape(0), node.shape(3), node.known(4, "a scale")
    batch = tuple(size for size in right[:-2] if size is not None)
    if None in (*left, *right) or len(right) < 3 or left[:-2] not in ((), right[:-2]):
        node.refuse(f"of matrices of shapes {list(left)} and {list(right)}, with scales for each matrix")
    zeros = node.known(5, "a zero point") if node.has(5) else np.zeros(scales.shape, np.int64)
    if scales.shape != (*batch, 1, right[-1]) or zeros.shape != scales.shape:
        node.fail(
            f"the scales and zero points must have the shape {[*batch, 1, right[-1]]} for an operand of shape "
            f"{list(right)}, got {list(scales.shape)} and {list(zeros.shape)}"
        )
    x, storage, count = node.parameters(0, 1, 2), node.parameters(3, None, None).storage, prod(batch)
    a = reshaped(node, node.cast(0, x), (count if len(left) > 2 else 1, *left[-2:]))
    b = reshaped(node, node.stored(3), (count, *right[-2:]))
    results = []
    for at in range(count):
        columns = [float(scale) for scale in scales.reshape(count, -1)[at]]
        points = [int(zero) for zero in zeros.reshape(count, -1)[at]]
        w = UniformType(storage, "f32", columns, points, axis=1)
        one = taken(node, a, 0, at, 1) if len(left) > 2 else a
        other = reshaped(node, taken(node, b, 0, at, 1), right[-2:])
        assert isinstance(other.type, TensorType)
        other = node.emit("quant.scast", [other], None, other.type.with_(element=w))
        operands = [reshaped(node, one, left[-2:]), other]
        product = node.emit("qrt.matmul", operands, {"requant": node.rule("matmul", **product_facts(x, w, out))}, out)
        results.append(reshaped(node, product, (1, left[-2], right[-1])))
    node.set(0, reshaped(node, joined(node, results, 0), (*batch, left[-2], right[-1])))


def qgemm(node: Node) -> None:
    """Import QGemm: multiply 8-bit matrices, each transposed or not, and add an int32 bias.

    The result is float32 if no output scale is given.
    """
    if node.attribute("alpha", 1.0) != 1:
        node.refuse("with an alpha other than 1")
    x, w = node.parameters(0, 1, 2), _right_type(node)
    a = node.cast(0, x)
    if node.attribute("transA", 0):
        a = node.emit("qrt.transpose", [a], {"permutation": [1, 0]})
    operands = [a, _weights(node, w)]
    if node.has(6):
        operands.append(bias_of(node, 6, x, w))
    if node.has(7):
        out = node.uniform(node.plain(8) if node.has(8) else node.plain(0), (), 7, 8)
        rule = node.rule("matmul", **product_facts(x, w, out))
        node.set(0, node.emit("qrt.matmul", operands, {"requant": rule}, out))
        return
    if not w.is_per_layer:
        node.refuse("to float32 with a scale for each column")
    out = UniformType("i32", "f32", x.scale * w.scale)
    node.set(0, node.emit("quant.dcast", [node.emit("qrt.matmul", operands, {"requant": "float64_away"}, out)]))


def _right_type(node: Node) -> UniformType:
    return node.parameters(3, 4, 5, axis=0 if node.attribute("transB", 0) else 1)


def _weights(node: Node, w: UniformType) -> Value:
    if not node.attribute("transB", 0):
        return node.cast(3, w)
    array = node.constant(3)
    if array is not None:
        return node.dense(np.ascontiguousarray(array.T), w.with_(axis=1) if w.is_per_axis else w)
    return node.emit("qrt.transpose", [node.cast(3, w)], {"permutation": [1, 0]})
