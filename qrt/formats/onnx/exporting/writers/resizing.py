"""Images of another size."""

from typing import Any

from qrt.formats.onnx.exporting.group import Group
from qrt.formats.onnx.exporting.held import NCHW, shape_in_order
from qrt.formats.onnx.exporting.registry import writer

_WITH_AXES = 18
"""The first opset in which sizes are given of some axes alone."""


@writer("qrt.resize_bilinear", "qrt.resize_nearest")
def resize(group: Group) -> None:
    """Resize. The nearest element is the one below, or the one in whose square a place lies."""
    said = group.attributes
    is_nearest = group.op.name == "qrt.resize_nearest"
    form: dict[str, Any] = {"mode": "nearest" if is_nearest else "linear"}
    if said["align_corners"]:
        form["coordinate_transformation_mode"] = "align_corners"
    else:
        form["coordinate_transformation_mode"] = "half_pixel" if said["half_pixel_centers"] else "asymmetric"
    if is_nearest:
        is_floor = not (said["align_corners"] or said["half_pixel_centers"])
        form["nearest_mode"] = "floor" if is_floor else "round_prefer_ceil"
    shape = shape_in_order(group.result().shape, NCHW)
    sizes = [size for size in shape if size is not None]
    if len(sizes) < len(shape):
        if None in shape[2:]:
            group.refuse("an image of open size")
        group.graph.need(_WITH_AXES)
        sizes, form["axes"] = list(shape[2:]), [2, 3]
    x = group.real(0, NCHW)
    group.set_real(group.node("Resize", x, "", "", group.integers(sizes, "sizes"), **form), NCHW)
