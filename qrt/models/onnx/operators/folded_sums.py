"""ReduceMean and ReduceSum between DequantizeLinear and QuantizeLinear, folded into sums of integers."""

from qrt.models.onnx.node import Node

_WIDTHS = ("i8", "u8")


def sum_along(node: Node, axes: tuple[int, ...]) -> None:
    """Import a folded ReduceMean or ReduceSum of bytes: the exact sum along axes, which is rounded once.

    Inputs 2 and 3 are the scale and the zero point of the operand, 4 and 5 those of the result.
    """
    x, out = node.uniform(node.plain(0), (), 2, 3), node.uniform(node.plain(5), (), 4, 5)
    if not {x.storage, out.storage} <= {*_WIDTHS}:
        node.refuse(f"of {x.storage} and {out.storage}")
    name = "mean" if node.op.type == "ReduceMean" else "sum"
    rule = node.rule(name, storage=x.storage)
    attributes = {"axes": axes, "keepdims": bool(node.attribute("keepdims", 1)), "requant": rule}
    node.set(0, node.emit(f"qrt.{name}", [node.cast(0, x)], attributes, out))
