"""BATCH_MATMUL of two quantized tensors."""

from qrt.ir import Value
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.products import multiplier_facts


def batch_matmul(node: Node) -> None:
    """Of int8 or int16, both operands computed or constant; adj_x and adj_y transpose an operand."""
    x, y, out = node.element(0), node.element(1), node.result_element()
    if not x.storage == y.storage == out.storage:
        node.refuse(", ".join(each.dtype for each in (node.input(0), node.input(1), *node.outputs)))
    for i in range(2):
        rank = node.type(i).rank or 0
        if rank < 2:
            node.fail(f"input {i} has rank {rank}, less than 2")
    facts = multiplier_facts(node, x, y, out)
    rule = node.rule("batch_matmul", **facts)
    operands = [_adjoint(node, i, bool(node.options[name])) for i, name in enumerate(("adj_x", "adj_y"))]
    node.set(0, node.emit("qrt.matmul", operands, {"requant": rule}, out))


def _adjoint(node: Node, i: int, transposes: bool) -> Value:
    """An operand, its last two axes exchanged where the options say so."""
    value = node.value(i)
    if not transposes:
        return value
    rank = node.type(i).rank or 0
    return node.emit("qrt.transpose", [value], {"permutation": (*range(rank - 2), rank - 1, rank - 2)})
