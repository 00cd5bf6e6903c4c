"""Exact products of 8-bit matrices, whose zero points may be known only at run time."""

from dataclasses import dataclass

import numpy as np

from qrt.ir import Value
from qrt.models.importing.data_movement import reshaped
from qrt.models.importing.float_reductions import reduced
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import Operand, apply, as_value, cast_to, shape_of
from qrt.models.onnx.node import Node, Shape
from qrt.models.onnx.operators.convolution import unit_scale_type
from qrt.ops.core import Array
from qrt.types import IntegerType, TensorType, UniformType

I32 = IntegerType(32)


def matmul_integer(node: Node) -> None:
    """Import MatMulInteger: multiply 8-bit integers exactly in int32.

    The left operand has one zero point or one for each row, the right operand one or one for each column. They may be
    known only at run time, and differ between the matrices of a batch.
    """
    node.set(0, as_value(node, integer_product(node, (0, 1), (2, 3)), I32))


@dataclass(frozen=True)
class _Matrix:
    """An 8-bit operand as a batch of matrices: its integers, and its zero points.

    ``zero`` has the zero points as int32, and broadcasts to ``stored``. ``baked`` has the zero points that a quantized
    type of the operand can have. It is None if the zero points are known only at run time, or do not fit in a quantized
    type.
    """

    stored: Operand
    zero: Operand
    baked: Array | None
    is_unsigned: bool

    def element(self, node: Node, i: int) -> UniformType:
        """Return the quantized type of input ``i``, with the zero points ``baked``, or with 0 if ``baked`` is None."""
        zeros = np.zeros(1) if self.baked is None else self.baked
        return unit_scale_type(node, i, zeros, len(shape_of(self.stored)) - 1)

    def differences(self, node: Node) -> Operand:
        """Return the integers minus the zero points, as int32."""
        wide = _widened(node, self.stored, self.is_unsigned)
        return apply(node, "arith.subi", [wide, self.zero], [I32, I32], I32)


def integer_product(node: Node, inputs: tuple[int, int], zero_points: tuple[int, int]) -> Operand:
    """Return the exact product of two 8-bit inputs as int32, modulo 2^32. Vectors are multiplied as by MatMul.

    With integers a and b, and zero points za and zb, an element is ``sum(a * b) - za * sum(b) - zb * sum(a - za)``. If
    the quantized type of an operand has the zero points, `qrt.matmul` subtracts them, and the operand needs no such
    term.
    """
    shapes = [node.shape(i) for i in inputs]
    for i, shape in zip(inputs, shapes, strict=True):
        if not shape:
            node.fail(f"input {i} must have at least one axis, got a scalar")
    left, right = (_matrix(node, i, zero, is_left=zero == zero_points[0]) for i, zero in
                   zip(inputs, zero_points, strict=True))  # fmt: skip
    operands = [_quantized(node, side, side.element(node, i)) for side, i in zip((left, right), inputs, strict=True)]
    product = node.emit("qrt.matmul", operands, {"requant": "float64_away"}, UniformType("i32", "f32", 1.0))
    sums: Operand = node.as_storage(product)
    if left.baked is None:
        sums = _less(node, sums, left.zero, _total(node, right, -2))
    if right.baked is None:
        sums = _less(node, sums, right.zero, _total(node, left, -1, all_zeros=True))
    rows, columns = (1 if len(shape) == 1 else 0 for shape in shapes)
    if not rows and not columns:
        return sums
    whole = shape_of(sums)
    wanted = (*whole[:-2], *whole[len(whole) - 2 : len(whole) - 1][rows:], *whole[len(whole) - 1 :][columns:])
    return reshaped(node, as_value(node, sums, I32), wanted)


def _matrix(node: Node, i: int, zero: int, is_left: bool) -> _Matrix:
    shape, is_unsigned = node.shape(i), node.dtype(i) == "uint8"
    matrix_shape = (1, *shape) if len(shape) == 1 and is_left else (*shape, 1) if len(shape) == 1 else shape
    points: Operand = np.zeros((), np.int32)
    if node.has(zero):
        if node.plain(zero) is not node.plain(i):
            node.fail(f"the zero point must have the type of the operand, {node.dtype(i)}, got {node.dtype(zero)}")
        points = _widened(node, _integers(node, zero, None), is_unsigned)
        points = _in_shape(node, points, _zero_shape(node, zero, matrix_shape, is_left))
    baked = None
    if isinstance(points, np.ndarray) and (points.size == 1 or (not is_left and points.shape == (matrix_shape[-1],))):
        baked = points
    return _Matrix(_integers(node, i, matrix_shape), points, baked, is_unsigned)


def _zero_shape(node: Node, i: int, matrix: Shape, is_left: bool) -> Shape:
    """Return the shape in which the zero points in input ``i`` broadcast to a matrix.

    Raise ModelError if there is no such shape.
    """
    own = node.shape(i)
    if all(size == 1 for size in own):
        return ()
    free, contracted = (-2, -1) if is_left else (-1, -2)
    if len(own) == 1:
        wanted: Shape = (own[0], 1) if is_left else own
        fits = own[0] in (None, matrix[free]) or matrix[free] is None
    else:
        wanted = own
        fits = len(own) == len(matrix) and own[contracted] == 1 and all(
            a in (1, None, b) or b is None for a, b in zip(own, matrix, strict=True)
        )  # fmt: skip
    if not fits:
        row = "row" if is_left else "column"
        node.fail(
            f"input {i} must have 1 zero point, or {matrix[free]}, one for each {row} of an operand of shape "
            f"{list(matrix)}, got shape {list(own)}"
        )
    return wanted


def _integers(node: Node, i: int, shape: Shape | None) -> Operand:
    """Return the 8-bit integers of input ``i``, reshaped if ``shape`` is given. A constant is returned as an array."""
    array = node.constant(i)
    if array is not None:
        return np.asarray(array) if shape is None else np.asarray(array).reshape([size or 0 for size in shape])
    value = node.stored(i)
    return value if shape is None else reshaped(node, value, shape)


def _in_shape(node: Node, operand: Operand, shape: Shape) -> Operand:
    if isinstance(operand, np.ndarray):
        return operand.reshape([size or 0 for size in shape])
    return reshaped(node, operand, shape)


def _widened(node: Node, stored: Operand, is_unsigned: bool) -> Operand:
    if isinstance(stored, np.ndarray):
        return stored.astype(np.int32)
    return cast_to(node, stored, IntegerType(8), I32, is_unsigned, False)


def _quantized(node: Node, matrix: _Matrix, element: UniformType) -> Value:
    if isinstance(matrix.stored, np.ndarray):
        return node.dense(np.ascontiguousarray(matrix.stored), element)
    return node.emit("quant.scast", [matrix.stored], None, TensorType(shape_of(matrix.stored), element))


def _total(node: Node, matrix: _Matrix, axis: int, all_zeros: bool = False) -> Operand:
    """Return the sums of a matrix's integers along an axis, which remains with size 1.

    The zero points are subtracted if the quantized type has them (``baked``), or if ``all_zeros`` is set.
    """
    if matrix.baked is None and not all_zeros:
        terms = _widened(node, matrix.stored, matrix.is_unsigned)
    else:
        terms = matrix.differences(node)
    if isinstance(terms, np.ndarray):
        return np.asarray(terms.sum(axis, keepdims=True, dtype=np.int32))
    shape = shape_of(terms)
    place = axis + len(shape)
    total = reduced(lowering_context(node), terms, (place,), "arith.addi", 0)
    return reshaped(node, total, tuple(1 if d == place else size for d, size in enumerate(shape)))


def _less(node: Node, sums: Operand, zero: Operand, totals: Operand) -> Operand:
    less = apply(node, "arith.muli", [zero, totals], [I32, I32], I32)
    return apply(node, "arith.subi", [sums, less], [I32, I32], I32)
