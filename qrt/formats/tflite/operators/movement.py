"""RESHAPE, PAD and CONCATENATION."""

from math import prod

from qrt.formats.tflite.node import Node
from qrt.formats.tflite.registry import operator
from qrt.types import TensorType


@operator("RESHAPE")
def reshape(node: Node) -> None:
    """The shape is an input, or stands in the options of old files."""
    wanted = node.integers(1, "a shape") if node.has(1) else tuple(node.options.get("new_shape") or ())
    own = node.type(0).shape or ()
    if wanted.count(-1) > 1 or any(size < -1 for size in wanted):
        node.fail(f"a shape has one open size at most, not {list(wanted)}")
    rest = prod(size for size in wanted if size >= 0)
    shape: tuple[int | None, ...] = tuple(None if size < 0 else size for size in wanted)
    if None not in own:
        count = prod(size for size in own if size is not None)
        if None in shape and rest and count % rest == 0:
            shape = tuple(count // rest if size is None else size for size in shape)
        if None in shape or prod(size for size in shape if size is not None) != count:
            node.fail(f"{count} elements do not fill the shape {list(wanted)}")
    node.set(0, node.emit("qrt.reshape", [node.value(0)], None, TensorType(shape, node.type(0).element)))


@operator("PAD")
def pad(node: Node) -> None:
    """New elements are zero points, which stand for 0."""
    ends = node.integers(1, "paddings")
    if len(ends) != 2 * (node.type(0).rank or 0) or min(ends, default=0) < 0:
        node.fail(f"paddings are pairs from 0 up for each of {node.type(0).rank} axes, not {list(ends)}")
    padding = tuple(zip(ends[::2], ends[1::2], strict=True))
    node.set(0, node.emit("qrt.pad", [node.value(0)], {"padding": padding}))


@operator("CONCATENATION")
def concatenation(node: Node) -> None:
    """Operands have the parameters of the result."""
    out = node.result_type().element
    elements = [node.type(i).element for i in range(len(node.inputs))]
    if any(each is not out for each in elements):
        node.refuse("operands of unequal parameters")
    values = [node.value(i) for i in range(len(node.inputs))]
    made = node.emit("qrt.concat", values, {"axis": node.options["axis"]}, out)
    node.set(0, node.activate(made, node.options["fused_activation_function"]))
