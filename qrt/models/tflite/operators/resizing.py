"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR."""

from typing import Any

from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.data_movement import settle, shape_of
from qrt.types import UniformType


def resize_bilinear(node: Node) -> None:
    """To a known height and width, quantized or float32, with corners aligned, centers at halves, or neither."""
    attributes, element = _attributes(node), node.type(0).element
    storage = element.storage if isinstance(element, UniformType) else str(element)
    attributes["rule"] = node.rule("resize_bilinear", storage=storage)
    settle(node, 0, node.emit("qrt.resize_bilinear", [node.value(0)], attributes))


def resize_nearest(node: Node) -> None:
    """To a known height and width, with corners aligned, centers at halves, or neither."""
    settle(node, 0, node.emit("qrt.resize_nearest", [node.value(0)], _attributes(node)))


def _attributes(node: Node) -> dict[str, Any]:
    size, shape = node.integers(1, "a size"), shape_of(node)
    if len(shape) != 4:
        node.fail(f"the input has rank 4, not {len(shape)}")
    if None in shape[1:3]:
        node.refuse("an image whose size only the run knows")
    if len(size) != 2 or min(size) < 1:
        node.fail(f"a size is a height and a width from 1 up, not {list(size)}")
    forms = {name: bool(node.options[name]) for name in ("align_corners", "half_pixel_centers")}
    return {"size": list(size), **forms}
