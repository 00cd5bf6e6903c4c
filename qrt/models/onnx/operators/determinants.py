"""Det, computed by Gaussian elimination."""

import numpy as np

from qrt.models.onnx.composed import composed, require_floats, static_sizes
from qrt.models.onnx.node import Node


def determinant(node: Node) -> None:
    """Import Det: compute determinants of square matrices of float32 by elimination.

    The size of the matrices must be known at import. In each step, the row whose element in the current column has the
    largest magnitude becomes the pivot row. The determinant is the product of the pivots, negated for each exchange of
    rows.
    """
    require_floats(node, 0)
    rank = len(node.shape())
    if rank < 2:
        node.fail(f"its input must have at least two axes, got shape {list(node.shape())}")
    size, columns = static_sizes(node, 0, rank - 2, rank - 1)[-2:]
    if size != columns or not size:
        node.fail(f"its matrices must be square, got shape {list(node.shape())}")
    graph, row, column = composed(node), rank - 2, rank - 1
    zero, matrix, result = graph.constant(0), node.input(0), ""
    axes = graph.integers(row), graph.integers(column)

    def part(name: str, axis: int, start: int, end: int) -> str:
        return str(graph.add("Slice", name, graph.integers(start), graph.integers(end), axes[axis - row]))

    for left in range(size, 0, -1):
        first = part(matrix, column, 0, 1)
        position = graph.add("ArgMax", graph.add("Abs", first), axis=row, keepdims=1)
        is_chosen = graph.add("Equal", graph.constant(np.arange(left).reshape(-1, 1), np.int64), position)
        chosen = graph.add("ReduceSum", graph.add("Where", is_chosen, matrix, zero), axes[0], keepdims=1)
        divisor = part(chosen, column, 0, 1)
        is_exchanged = graph.add("Less", graph.constant(0, np.int64), position)
        signed = graph.add("Where", is_exchanged, graph.add("Neg", divisor), divisor)
        result = graph.add("Mul", result, signed) if result else signed
        if left == 1:
            break
        exchanged = graph.add("Where", is_chosen, part(matrix, row, 0, 1), matrix)
        rest = part(exchanged, row, 1, left)
        quotients = graph.add("Div", part(rest, column, 0, 1), divisor)
        quotients = graph.add("Where", graph.add("Equal", divisor, zero), zero, quotients)
        products = graph.add("Mul", quotients, part(chosen, column, 1, left))
        matrix = graph.add("Sub", part(rest, column, 1, left), products)
    graph.replace(node, graph.add("Squeeze", result, graph.integers(row, column)))
