"""Shapes and order. What moves elements keeps their bits, and the parameters of quantized ones."""

from math import prod

from qrt.formats.onnx.node import Node, Shape
from qrt.formats.onnx.registry import operator
from qrt.types import TensorType


@operator("Reshape")
def reshape(node: Node) -> None:
    """To a shape that is known, in which 0 keeps a size and -1 stands for the rest."""
    wanted = node.integers(1, "a shape")
    shape = _new_shape(node, node.shape(0), wanted, bool(node.attribute("allowzero", 0)))
    reshaped(node, shape)


def reshaped(node: Node, shape: Shape) -> None:
    """Says that the first input in another shape is the result; one that is known stays known."""
    array = node.constant(0)
    if array is not None:
        node.set_constant(0, array.reshape([size or 0 for size in shape]), node.plain(0))
        return
    node.set(0, node.emit("qrt.reshape", [node.value(0)], None, TensorType(shape, node.type(0).element)))


def _new_shape(node: Node, own: Shape, wanted: tuple[int, ...], allows_zero: bool) -> Shape:
    if wanted.count(-1) > 1 or any(size < -1 for size in wanted):
        node.fail(f"a shape has one open size at most, not {list(wanted)}")
    sizes: list[int | None] = []
    for place, size in enumerate(wanted):
        if size == 0 and not allows_zero:
            if place >= len(own):
                node.fail(f"size {place} of {list(wanted)} is that of the input, which has {len(own)} dimensions")
            sizes.append(own[place])
        else:
            sizes.append(size)
    if -1 not in sizes:
        _check_count(node, own, sizes)
        return tuple(sizes)
    at = sizes.index(-1)
    others = [size for place, size in enumerate(sizes) if place != at]
    left = [size for size in own if size is not None]
    if own.count(None) and others.count(None) == own.count(None):
        # The sizes that only the run knows are kept: what is left is divided among the known ones.
        known = prod(size for size in others if size is not None)
        if known and prod(left) % known == 0:
            sizes[at] = prod(left) // known
            return tuple(sizes)
    if None in own or None in others:
        sizes[at] = None
        return tuple(sizes)
    rest = prod(size or 0 for size in others)
    if not rest or prod(left) % rest:
        node.fail(f"{prod(left)} elements do not fill the shape {list(wanted)}")
    sizes[at] = prod(left) // rest
    return tuple(sizes)


def _check_count(node: Node, own: Shape, sizes: list[int | None]) -> None:
    if None in own or None in sizes:
        return
    if prod(size or 0 for size in own) != prod(size or 0 for size in sizes):
        node.fail(f"{prod(size or 0 for size in own)} elements do not fill the shape {sizes}")
