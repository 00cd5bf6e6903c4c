"""The export of resized images."""

from typing import Any

import numpy as np

from qrt.models.onnx.coordinates import Axis
from qrt.models.onnx.exporting.exported_value import NCHW, shape_in_order
from qrt.models.onnx.exporting.group import Group
from qrt.numerics.resizing import nearest_positions

_WITH_AXES = 18
"""The first opset in which sizes may be given for some axes only."""


def resize(group: Group) -> None:
    """Export the operation as Resize, or as Gather along each axis if Resize would take other nearest elements.

    Resize computes coordinates in float32, so that it may take another element if two elements are equally near. The
    operation takes the element ``floor(coordinate)``, or with align_corners or half_pixel_centers the element
    ``floor(coordinate + 0.5)``.
    """
    attributes = group.attributes
    is_nearest = group.op.name == "qrt.resize_nearest"
    form: dict[str, Any] = {"mode": "nearest" if is_nearest else "linear"}
    if attributes["align_corners"]:
        form["coordinate_transformation_mode"] = "align_corners"
    else:
        form["coordinate_transformation_mode"] = "half_pixel" if attributes["half_pixel_centers"] else "asymmetric"
    if is_nearest:
        is_floor = not (attributes["align_corners"] or attributes["half_pixel_centers"])
        form["nearest_mode"] = "floor" if is_floor else "round_prefer_ceil"
        if _write_gathers(group, form["coordinate_transformation_mode"], form["nearest_mode"]):
            return
    shape = shape_in_order(group.result().shape, NCHW)
    sizes = [size for size in shape if size is not None]
    if len(sizes) < len(shape):
        if None in shape[2:]:
            group.refuse("an image of dynamic size")
        group.graph.need(_WITH_AXES)
        sizes, form["axes"] = list(shape[2:]), [2, 3]
    x = group.real(0, NCHW)
    group.set_real(group.node("Resize", x, "", "", group.integers(sizes, "sizes"), **form), NCHW)


def _write_gathers(group: Group, coordinates: str, rounding: str) -> bool:
    """Export the operation as Gather along height and width if Resize would take other elements than the operation.

    ``coordinates`` and ``rounding`` are the attributes of Resize. Return True if the Gathers were added.
    """
    attributes = group.attributes
    old, new = [size for size in group.operand(0).shape[1:3] if size is not None], attributes["size"]
    how = {name: bool(attributes[name]) for name in ("align_corners", "half_pixel_centers")}
    if len(old) < len(new):
        return False
    rows, columns = (nearest_positions(n, k, **how) for n, k in zip(old, new, strict=True))
    resized = (Axis(0, n, k, k / n).nearest(coordinates, rounding) for n, k in zip(old, new, strict=True))
    if all(map(np.array_equal, (rows, columns), resized)):
        return False
    x = group.stored(0, NCHW)
    for axis, positions in ((2, rows), (3, columns)):
        x = group.node("Gather", x, group.integers(positions.tolist(), "positions"), axis=axis)
    group.set_stored(x, NCHW)
    return True
