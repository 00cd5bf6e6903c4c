"""MEAN."""

from qrt.formats.tflite.node import Node
from qrt.formats.tflite.registry import operator


@operator("MEAN")
def mean(node: Node) -> None:
    """The average over axes, each of which may be named from the end."""
    x, out = node.element(0), node.result_element()
    rank = node.type(0).rank or 0
    axes = node.integers(1, "axes")
    if any(not -rank <= axis < rank for axis in axes):
        node.fail(f"axes {list(axes)} are out of range for rank {rank}")
    rule = node.rule("mean", storage=x.storage)
    numbers = tuple(sorted({axis % rank for axis in axes}))
    attributes = {"axes": numbers, "keepdims": bool(node.options["keep_dims"]), "requant": rule}
    node.set(0, node.emit("qrt.mean", [node.value(0)], attributes, out))
