"""NonMaxSuppression and Unique, the size of whose results depends on the values of their inputs.

Their inputs must be known at import.
"""

import numpy as np

from qrt.models.onnx.node import Node
from qrt.ops.core import Array
from qrt.types import FloatType, IntegerType

_I64 = IntegerType(64)


def non_max_suppression(node: Node) -> None:
    """Import NonMaxSuppression: select boxes by descending score, and skip boxes that overlap a selected box.

    All inputs must be known at import, because the number of selected boxes depends on their values.
    """
    inputs = [node.constant(i) if node.has(i) else None for i in range(5)]
    boxes, scores, *limits = inputs
    if boxes is None or scores is None or any(node.has(i) and inputs[i] is None for i in range(2, 5)):
        node.refuse(
            "boxes known only at run time, on whose values the size of the result depends: remove the node and what "
            "follows it, make its inputs outputs of the model, and select the boxes after the run"
        )
    if node.dtype(0) != "float" or node.dtype(1) != "float":
        node.fail(f"boxes and scores must be of float32, got {node.dtype(0)} and {node.dtype(1)}")
    if boxes.ndim != 3 or scores.ndim != 3 or boxes.shape != (scores.shape[0], scores.shape[2], 4):
        node.fail(
            f"boxes must be [batch, box, 4] and scores [batch, class, box], got {list(boxes.shape)} and "
            f"{list(scores.shape)}"
        )
    count, overlap, least = (None if array is None else array.reshape(-1)[0] for array in limits)
    most = 0 if count is None else max(int(count), 0)
    corners = _corners(boxes.astype(np.float32), node.attribute("center_point_box", 0) == 1)
    limit = 0.0 if overlap is None else float(overlap)
    if not 0 <= limit <= 1:
        node.fail(f"iou_threshold must be from 0 to 1, got {limit}")
    rows = [
        (image, of_class, box)
        for image in range(scores.shape[0])
        for of_class in range(scores.shape[1])
        for box in _selected(
            corners[image], scores[image, of_class], most, limit, None if least is None else float(least)
        )
    ]
    node.set_constant(0, np.array(rows, np.int64).reshape(-1, 3), _I64)


def _corners(boxes: Array, are_centers: bool) -> Array:
    """Convert boxes to [batch, box, 4]: the least coordinate on both axes, then the greatest on both axes."""
    first, second = boxes[..., :2], boxes[..., 2:]
    if are_centers:
        first, second = first - second / 2, first + second / 2
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=-1)


def _selected(corners: Array, scores: Array, most: int, limit: float, least: float | None) -> list[int]:
    """Return the selected boxes of a class, by descending score. Of boxes with equal scores, the first comes first."""
    order = np.argsort(-scores, kind="stable")
    selected: list[int] = []
    for box in order.tolist():
        if len(selected) >= most:
            break
        if least is not None and not scores[box] > least:
            continue
        if not any(_overlap(corners[box], corners[other]) > limit for other in selected):
            selected.append(box)
    return selected


def _overlap(a: Array, b: Array) -> float:
    """Return the area that two boxes share, divided by the area that they cover. It is 0 if a box has no area."""
    sides = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
    common = sides[0] * sides[1]
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    whole = areas[0] + areas[1] - common
    if min(sides) <= 0 or common <= 0 or min(areas) <= 0 or whole <= 0:
        return 0.0
    return float(common / whole)


def unique(node: Node) -> None:
    """Import Unique: list the distinct elements, or slices along an axis, of a tensor that is known at import.

    The other outputs are the index, inverse and counts of `numpy.unique`. If the attribute ``sorted`` is 0, the
    elements are listed in the order in which they first occur.
    """
    array = node.constant(0)
    if array is None:
        node.refuse(
            "a tensor known only at run time, on whose values the size of the result depends: remove the node and what "
            "follows it, make its input an output of the model, and call numpy.unique after the run"
        )
    if isinstance(node.plain(0), FloatType) and np.isnan(array.astype(np.float64)).any():
        node.refuse("of NaNs")
    axis = node.axis(node.attribute("axis", 0), array.ndim) if node.has_attribute("axis") else None
    values, positions, numbers, counts = np.unique(
        array if axis is not None else array.reshape(-1), return_index=True, return_inverse=True, return_counts=True,
        axis=axis,
    )  # fmt: skip
    numbers = numbers.reshape(-1)
    if not node.attribute("sorted", 1):
        order = np.argsort(positions, kind="stable")
        values, positions, counts = values.take(order, axis or 0), positions[order], counts[order]
        numbers = np.argsort(order, kind="stable")[numbers]
    node.set_constant(0, values, node.plain(0))
    for i, result in enumerate((positions, numbers, counts), 1):
        node.set_constant(i, result.astype(np.int64), _I64)
