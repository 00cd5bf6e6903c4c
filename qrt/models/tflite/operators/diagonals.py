"""Import of MATRIX_DIAG and MATRIX_SET_DIAG."""

import numpy as np

from qrt.models.importing.data_movement import reshaped
from qrt.models.importing.unquantized import Operand, as_value, broadcast, number_of, select, signless
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import finish, input_shape, raw

_MOST = 1 << 26
"""The largest number of elements of a matrix: the mask of its diagonal is a constant of that many bytes."""


def matrix_diag(node: Node) -> None:
    """Import MATRIX_DIAG: create matrices with the given diagonals. The storage of all other elements is 0."""
    line = _sizes(node, 0)
    if not line:
        node.fail("the diagonal must have at least one axis, got a scalar")
    _diagonals(node, number_of(0, signless(node.type(0).element)), 0, (*line, line[-1]))


def matrix_set_diag(node: Node) -> None:
    """Import MATRIX_SET_DIAG: replace the diagonals of matrices, which need not be square."""
    shape, line = _sizes(node, 0), _sizes(node, 1)
    expected = (*shape[:-2], min(shape[-2:], default=0))
    if len(shape) < 2 or line != expected:
        node.fail(
            f"for matrices of shape {list(shape)} (at least 2 axes), the diagonal must have the shape "
            f"{list(expected)}, "
            f"got {list(line)}"
        )
    if node.type(1).element is not node.type(0).element:
        node.refuse(f"a diagonal of {node.type(1).element} in {node.type(0).element}")
    _diagonals(node, raw(node, 0), 1, shape)


def _sizes(node: Node, i: int) -> tuple[int, ...]:
    if node.input(i).dtype not in ("int8", "uint8", "int16", "int32", "int64", "float32"):
        node.refuse(node.input(i).dtype)
    sizes = tuple(size for size in input_shape(node, i) if size is not None)
    if len(sizes) != len(input_shape(node, i)):
        node.refuse("a dynamic dimension")
    return sizes


def _diagonals(node: Node, x: Operand, i: int, shape: tuple[int, ...]) -> None:
    """Set the result to ``x``, broadcast to matrices of ``shape``, with the elements of input ``i`` as diagonals."""
    *around, rows, columns = shape
    if rows * columns > _MOST:
        node.refuse(f"matrices of {rows:,} x {columns:,}")
    apart = (rows, 1) if rows < columns else (1, columns)
    element = signless(node.type(i).element)
    diagonal = reshaped(node, as_value(node, raw(node, i), element), (*around, *apart))
    selected = select(node, np.eye(rows, columns, dtype=bool), diagonal, x, element)
    finish(node, 0, broadcast(node, selected, element, shape))
