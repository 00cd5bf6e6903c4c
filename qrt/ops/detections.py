"""detection_postprocess and non_max_suppression: the best boxes that do not overlap (docs/numerics_operations.md).

Boxes [anchors, 4] of detection_postprocess are (top, left, bottom, right), and scores are [anchors, classes]. With
``max_detections`` M and ``max_classes_per_detection`` C the results are boxes [M * C, 4], classes and scores [M * C],
and the number of detections; the rows after the last detection are 0. Classes are given as float32 numbers.

Boxes [n, 4] of non_max_suppression are two opposite corners (y, x, y, x), and scores are [n]. The results are the
indices and scores of the selected boxes, of ``max_output_size`` rows, and the number of selected boxes.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

import qrt.numerics as numerics
from qrt.errors import shown
from qrt.ops.core import Array, Attributes, OpFamily, Types, fail, real_number
from qrt.ops.declare import Attribute, Declaration, Operand, Result
from qrt.types import FloatType, IntegerType, TensorType

_F32, _I32 = FloatType("f32"), IntegerType(32)
_MOST_ROWS = 1 << 20


def _infer(types: Types, attributes: Attributes, results: Sequence[TensorType | None]) -> Types:
    name, (boxes, scores) = "detection_postprocess", types
    for what, operand in (("boxes", boxes), ("scores", scores)):
        if operand.element is not _F32 or operand.rank != 2:
            fail(name, f"{what!r} must be a matrix of f32, got {operand}", types)
    (anchors, sides), (rows, classes) = boxes.shape or (), scores.shape or ()
    if sides != 4:
        fail(name, f"'boxes' must have 4 columns, got {'a dynamic number' if sides is None else sides}", types)
    if None not in (anchors, rows) and anchors != rows:
        fail(name, f"'boxes' and 'scores' must have the same number of rows, got {anchors} and {rows}", types)
    if classes == 0:
        fail(name, "'scores' must have at least one column, because each column is a class, got 0", types)
    counts = {"max_detections": 0, "max_classes_per_detection": 1, "detections_per_class": 1}
    for key, least in counts.items():
        given = attributes[key]
        if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or not least <= given < _MOST_ROWS:
            fail(name, f"{key!r} must be an integer from {least} to {_MOST_ROWS - 1}, got {shown(given)}", types)
    count = int(attributes["max_detections"]) * int(attributes["max_classes_per_detection"])
    if count >= _MOST_ROWS:
        product = "the product of 'max_detections' and 'max_classes_per_detection'"
        fail(name, f"{product} must be below {_MOST_ROWS}, got {count}", types)
    real_number(name, "score_threshold", attributes["score_threshold"])
    if not 0 < real_number(name, "iou_threshold", attributes["iou_threshold"]) <= 1:
        fail(name, f"'iou_threshold' must be in (0, 1], got {shown(attributes['iou_threshold'])}", types)
    shapes: list[tuple[int, ...]] = [(count, 4), (count,), (count,), (1,)]
    return tuple(TensorType(shape, _F32) for shape in shapes)


def _reference(arrays: Sequence[Array], types: Types, results: Types, attributes: Attributes) -> tuple[Array, ...]:
    rule = numerics.SuppressionLimits(
        int(attributes["max_detections"]),
        int(attributes["max_classes_per_detection"]),
        int(attributes["detections_per_class"]) if attributes["use_regular_nms"] else None,
        float(attributes["score_threshold"]),
        float(attributes["iou_threshold"]),
    )
    return numerics.detections(arrays[0], arrays[1], rule)


def _infer_selection(types: Types, attributes: Attributes, results: Sequence[TensorType | None]) -> Types:
    name, (boxes, scores) = "non_max_suppression", types
    for what, operand, rank in (("boxes", boxes, 2), ("scores", scores, 1)):
        if operand.element is not _F32 or operand.rank != rank:
            fail(name, f"{what!r} must be of f32 and rank {rank}, got {operand}", types)
    (count, sides), (rows,) = boxes.shape or (), scores.shape or ()
    if sides != 4:
        fail(name, f"'boxes' must have 4 columns, got {'a dynamic number' if sides is None else sides}", types)
    if None not in (count, rows) and count != rows:
        fail(name, f"'scores' must have an element for each of {count} boxes, got {rows}", types)
    most = attributes["max_output_size"]
    if isinstance(most, bool) or not isinstance(most, (int, np.integer)) or not 0 <= most < _MOST_ROWS:
        fail(name, f"'max_output_size' must be an integer from 0 to {_MOST_ROWS - 1}, got {shown(most)}", types)
    real_number(name, "score_threshold", attributes["score_threshold"])
    if not 0 <= real_number(name, "iou_threshold", attributes["iou_threshold"]) <= 1:
        fail(name, f"'iou_threshold' must be in [0, 1], got {shown(attributes['iou_threshold'])}", types)
    if real_number(name, "sigma", attributes["sigma"]) < 0:
        fail(name, f"'sigma' must not be negative, got {shown(attributes['sigma'])}", types)
    shape = (int(most),)
    return TensorType(shape, _I32), TensorType(shape, _F32), TensorType((), _I32)


def _select(arrays: Sequence[Array], types: Types, results: Types, attributes: Attributes) -> tuple[Array, ...]:
    limits = numerics.SelectionLimits(
        int(attributes["max_output_size"]),
        float(attributes["iou_threshold"]),
        float(attributes["score_threshold"]),
        float(attributes["sigma"]),
    )
    return numerics.select_boxes(arrays[0], arrays[1], limits)


FAMILIES: tuple[Any, ...] = (
    OpFamily(
        Declaration(
            "detection_postprocess",
            operands=(Operand("boxes"), Operand("scores")),
            attributes=(
                Attribute("max_detections", "integer", 10),
                Attribute("max_classes_per_detection", "integer", 1),
                Attribute("detections_per_class", "integer", 100),
                Attribute("use_regular_nms", "boolean", False),
                Attribute("score_threshold", "number", 0.0),
                Attribute("iou_threshold", "number", 0.5),
            ),
            result=Result("f32"),
            results=("boxes_out", "classes", "scores_out", "count"),
            public=False,
        ),
        infer=_infer,
        reference=_reference,
    ),
    OpFamily(
        Declaration(
            "non_max_suppression",
            operands=(Operand("boxes"), Operand("scores")),
            attributes=(
                Attribute("max_output_size", "integer", 10),
                Attribute("iou_threshold", "number", 0.5),
                Attribute("score_threshold", "number", 0.0),
                Attribute("sigma", "number", 0.0),
            ),
            result=Result("i32, f32 and i32"),
            results=("indices", "scores_out", "count"),
            public=False,
        ),
        infer=_infer_selection,
        reference=_select,
    ),
)
