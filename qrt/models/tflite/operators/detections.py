"""Import of TFLite_Detection_PostProcess, the last operator of SSD models, and of NON_MAX_SUPPRESSION_V4 and _V5."""

from math import isfinite

import numpy as np

from qrt.errors import shown
from qrt.ir import Value
from qrt.models.importing.data_movement import reshaped
from qrt.models.importing.unquantized import Operand, apply, as_value, number_of
from qrt.models.tflite.flexbuffer import Number, read_map
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import input_shape, one_integer
from qrt.types import FloatType, TensorType, UniformType

_F32, _F64 = FloatType("f32"), FloatType("f64")


def detections(node: Node) -> None:
    """Import TFLite_Detection_PostProcess: decode float32 or uint8 boxes from anchors and suppress overlaps.

    Boxes of all classes are compared with each other, or with ``use_regular_nms`` only boxes of the same class. Rows of
    the results after the last detection are 0; LiteRT leaves old values in them.
    """
    options = read_map(node.op.custom_options, node.graph.place(node.op))
    encodings, scores, anchors = (input_shape(node, i) for i in range(3))
    if None in (*encodings, *scores, *anchors):
        node.refuse("a dynamic dimension")
    fits = len(encodings) == len(scores) == 3 and encodings[0] == scores[0] == 1 and (encodings[2] or 0) >= 4
    if not fits or not encodings[1] == scores[1] == (*anchors, 0)[0] or tuple(anchors[1:]) != (4,):
        node.fail(
            "boxes must have the shape [1, N, 4 or more], scores [1, N, classes] and anchors [N, 4], got "
            f"{list(encodings)}, {list(scores)} and {list(anchors)}"
        )
    if node.input(0).dtype != node.input(2).dtype:
        node.refuse(f"boxes of {node.input(0).dtype} with anchors of {node.input(2).dtype}")
    classes = _count(node, options, "num_classes", 1)
    background = (scores[2] or 0) - classes
    if background not in (0, 1):
        node.fail(f"each box must have {classes} scores (num_classes) or one more, got {scores[2]}")
    boxes = _decoded(node, [_float(options, f"{axis}_scale") for axis in "yxhw"], encodings[1] or 0)
    table = reshaped(node, _floats(node, 1), scores[1:])
    if background:
        lists = {"offsets": [0, 1], "sizes": [-1, -1], "strides": [1, 1]}
        table = node.emit("qrt.slice", [table], lists)
    results = node.emit_all("qrt.detection_postprocess", [boxes, table], _attributes(node, options), None)
    for i, value in enumerate(results):
        shape = (1,) if i == 3 else (1, *_shape(value))
        node.set(i, reshaped(node, value, shape))


def non_max_suppression(node: Node) -> None:
    """Import NON_MAX_SUPPRESSION_V4 or _V5: select boxes by their scores, without those that overlap a selected box.

    Boxes and scores are float32. The number of boxes and the thresholds must be known at import. The rows of the
    results after the last selected box are 0.
    """
    boxes, scores = (input_shape(node, i) for i in range(2))
    if {node.input(i).dtype for i in range(2)} != {"float32"}:
        node.refuse(f"boxes of {node.input(0).dtype} with scores of {node.input(1).dtype}")
    are_matched = None in (*boxes[:1], *scores[:1]) or boxes[:1] == scores
    if len(boxes) != 2 or boxes[1] != 4 or len(scores) != 1 or not are_matched:
        node.fail(f"boxes must have the shape [N, 4] and scores the shape [N], got {list(boxes)} and {list(scores)}")
    most = one_integer(node, 2, "max_output_size")
    if not 0 <= most < 1 << 20:
        node.fail(f"max_output_size (input 2) must be from 0 to {(1 << 20) - 1}, got {most}")
    has_sigma = node.op.name == "NON_MAX_SUPPRESSION_V5"
    names = ("iou_threshold", "score_threshold", "soft_nms_sigma")[: 3 if has_sigma else 2]
    numbers = dict(zip(names, [_number(node, i, name) for i, name in enumerate(names, 3)], strict=True))
    if not 0 <= numbers["iou_threshold"] <= 1:
        node.fail(f"iou_threshold (input 3) must be from 0 to 1, got {numbers['iou_threshold']}")
    sigma = numbers.pop("soft_nms_sigma", 0.0)
    if sigma < 0:
        node.fail(f"soft_nms_sigma (input 5) must not be negative, got {sigma}")
    attributes = {"max_output_size": most, "sigma": sigma, **numbers}
    indices, selected, count = node.emit_all(
        "qrt.non_max_suppression", [node.value(0), node.value(1)], attributes, None
    )
    for i, value in enumerate([indices, selected, count] if has_sigma else [indices, count]):
        node.set(i, value)


def _number(node: Node, i: int, name: str) -> float:
    array = node.constant(i)
    if array is None:
        node.refuse(f"{name} known only at run time")
    if array.size != 1 or array.dtype != np.float32 or not np.isfinite(array).all():
        node.fail(f"{name} (input {i}) must be one finite float32 number, got {shown(array.ravel().tolist())}")
    return float(array.item())


def _shape(value: Value) -> tuple[int | None, ...]:
    assert isinstance(value.type, TensorType)
    return value.type.shape or ()


def _attributes(node: Node, options: dict[str, Number]) -> dict[str, Number]:
    score, overlap = (_float(options, name) for name in ("nms_score_threshold", "nms_iou_threshold"))
    if not isfinite(score) or not 0 < overlap <= 1:
        node.fail(
            f"nms_score_threshold must be finite, and nms_iou_threshold above 0 and at most 1, got {score} and "
            f"{overlap}"
        )
    return {
        "max_detections": _count(node, options, "max_detections", 0),
        "max_classes_per_detection": _count(node, options, "max_classes_per_detection", 1),
        "detections_per_class": _count(node, {"detections_per_class": 100, **options}, "detections_per_class", 1),
        "use_regular_nms": bool(options.get("use_regular_nms", False)),
        "score_threshold": score,
        "iou_threshold": overlap,
    }


def _count(node: Node, options: dict[str, Number], name: str, least: int) -> int:
    given = options.get(name, 0)
    if given != given or not least <= given < 1 << 20:
        node.fail(f"option {name} must be from {least} to {(1 << 20) - 1}, got {given}")
    return int(given)


def _float(options: dict[str, Number], name: str) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(options.get(name, 0)))


def _floats(node: Node, i: int) -> Value:
    element = node.type(i).element
    if element is _F32:
        return node.value(i)
    if not isinstance(element, UniformType) or element.storage != "u8" or not element.is_per_layer:
        node.refuse(node.input(i).dtype)
    return node.emit("quant.dcast", [node.value(i)], None, _F32)


def _decoded(node: Node, scales: list[float], count: int) -> Value:
    """Return (top, left, bottom, right) of each of ``count`` boxes.

    A box is its anchor moved by ``encoding / scale * size`` and stretched by ``exp(encoding / scale)``. Center and half
    size are computed in float64 and rounded to float32.
    """
    encodings, anchors = (reshaped(node, _floats(node, i), (count, input_shape(node, i)[-1])) for i in (0, 2))

    def column(x: Value, i: int) -> Operand:
        lists = {"offsets": [0, i], "sizes": [-1, 1], "strides": [1, 1]}
        return apply(node, "arith.extf", [node.emit("qrt.slice", [x], lists)], [_F32], _F64)

    def wide(name: str, *operands: Operand) -> Operand:
        return apply(node, name, operands, [_F64] * len(operands), _F64)

    low: list[Value] = []
    high: list[Value] = []
    for axis in range(2):
        place, size = column(anchors, axis), column(anchors, axis + 2)
        moved, stretched = (
            wide("arith.divf", column(encodings, i), number_of(scales[i], _F64)) for i in (axis, axis + 2)
        )
        center = wide("arith.addf", wide("arith.mulf", moved, size), place)
        half = wide("arith.mulf", wide("arith.mulf", number_of(0.5, _F64), wide("math.exp", stretched)), size)
        narrow = [apply(node, "arith.truncf", [wide_value], [_F64], _F32) for wide_value in (center, half)]
        for name, ends in (("arith.subf", low), ("arith.addf", high)):
            ends.append(as_value(node, apply(node, name, narrow, [_F32] * 2, _F32), _F32))
    return node.emit("qrt.concat", [*low, *high], {"axis": 1}, _F32)
