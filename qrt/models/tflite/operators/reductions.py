"""MEAN and SUM."""

from qrt.models.tflite.node import Node
from qrt.models.tflite.operators import float_sums, reductions_plain


def reduce(node: Node) -> None:
    """Over axes, each of which may be named from the end."""
    name = node.op.name.lower()
    rank = node.type(0).rank or 0
    axes = node.integers(1, "axes")
    if any(not -rank <= axis < rank for axis in axes):
        node.fail(f"axes {list(axes)} are out of range for rank {rank}")
    numbers = tuple(sorted({axis % rank for axis in axes}))
    if node.is_float:
        float_sums.reduce(node, numbers)
        return
    if node.input(0).quantization is None:
        reductions_plain.reduce(node, numbers)
        return
    x, out = node.element(0), node.result_element()
    if x.storage != out.storage:
        node.refuse(f"{node.input(0).dtype} to {node.outputs[0].dtype}")
    rule = node.rule(name, storage=x.storage)
    attributes = {"axes": numbers, "keepdims": bool(node.options["keep_dims"]), "requant": rule}
    node.set(0, node.emit(f"qrt.{name}", [node.value(0)], attributes, out))
