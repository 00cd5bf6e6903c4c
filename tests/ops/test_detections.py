"""detection_postprocess beside loops. Hazards: scores below the threshold, boxes without area, which overlap nothing,
fewer detections than rows, equal scores within a box and between boxes, a limit of each class."""

import re
from typing import Any

import numpy as np
import pytest

from qrt.errors import QuantTypeError
from qrt.numerics.detections import heap_sorted
from qrt.ops import FAMILIES
from qrt.types import FloatType, IntegerType, TensorType
from tests.ops.harness import tensor

F32 = FloatType("f32")
F = np.float32


def _shared(a: np.ndarray, b: np.ndarray) -> float:
    areas = [F((box[2] - box[0]) * (box[3] - box[1])) for box in (a, b)]
    if min(areas) <= 0:
        return 0.0
    height, width = (max(F(min(a[i + 2], b[i + 2]) - max(a[i], b[i])), F(0)) for i in (0, 1))
    return float(F(height * width) / F(F(areas[0] + areas[1]) - F(height * width)))


def _kept(boxes: np.ndarray, scores: np.ndarray, most: int, least: float, overlap: float) -> list[int]:
    kept: list[int] = []
    for i in sorted(range(len(scores)), key=lambda i: -scores[i]):
        if scores[i] >= F(least) and len(kept) < most and all(_shared(boxes[j], boxes[i]) <= F(overlap) for j in kept):
            kept.append(i)
    return kept


def _run(boxes: np.ndarray, scores: np.ndarray, **said: Any) -> tuple[np.ndarray, ...]:
    family = FAMILIES["detection_postprocess"]
    types, attributes = (tensor(boxes.shape, F32), tensor(scores.shape, F32)), family.complete(said)
    results = family.resolve_all(types, attributes)
    found = family.compute([boxes, scores], types, results, attributes)
    assert [array.shape for array in found] == [type.shape for type in results]
    return found


def _drawn(seed: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    corner = rng.random((60, 2))
    boxes = np.concatenate([corner, corner + rng.random((60, 2)) * 0.6 - 0.05], 1).astype(F)
    return boxes, (np.round(rng.random((60, classes)) * 32) / 32).astype(F)


@pytest.mark.parametrize("least", [0.0, 0.5, 0.97, 2.0])
@pytest.mark.parametrize("overlap", [0.05, 0.5, 1.0])
def test_all_classes_together(least: float, overlap: float) -> None:
    boxes, scores = _drawn(1, 5)
    found, numbers, values, count = _run(
        boxes, scores, max_detections=20, max_classes_per_detection=3, score_threshold=least, iou_threshold=overlap
    )
    kept = _kept(boxes, scores.max(1), 20, least, overlap)
    assert count == len(kept)
    for row, box in enumerate(kept):
        for column in range(3):
            np.testing.assert_array_equal(found[3 * row + column], boxes[box])
            assert values[3 * row + column] == scores[box, int(numbers[3 * row + column])]
        np.testing.assert_array_equal(values[3 * row : 3 * row + 3], np.sort(scores[box])[:-4:-1])
    assert not found[3 * len(kept) :].any()
    assert not numbers[3 * len(kept) :].any()
    assert not values[3 * len(kept) :].any()


@pytest.mark.parametrize("each", [1, 3, 100])
@pytest.mark.parametrize("least", [0.0, 0.9, 2.0])
def test_each_class_by_itself(each: int, least: float) -> None:
    boxes, scores = _drawn(2, 4)
    found, numbers, values, count = _run(
        boxes, scores, max_detections=10, detections_per_class=each, use_regular_nms=True, score_threshold=least
    )
    chosen = [(c, i) for c in range(4) for i in _kept(boxes, scores[:, c], min(each, 10), least, 0.5)]
    chosen = sorted(chosen, key=lambda pair: -scores[pair[1], pair[0]])[:10]  # the sort is stable
    assert count == len(chosen)
    for row, (c, i) in enumerate(chosen):
        np.testing.assert_array_equal(found[row], boxes[i])
        assert (numbers[row], values[row]) == (c, scores[i, c])
    assert not values[len(chosen) :].any()


def test_more_classes_are_asked_for_than_there_are() -> None:
    _, numbers, values, count = _run(*_drawn(3, 2), max_detections=2, max_classes_per_detection=3)
    assert count == 2
    assert not numbers[[2, 5]].any()
    assert not values[[2, 5]].any()


def test_equal_scores_of_a_box_come_as_they_leave_a_heap() -> None:
    """The order of LiteRT, which sorts in part, for these scores."""
    assert heap_sorted(np.float32([0.5, 0.5, 0.5, 0.75]), 3) == [3, 1, 0]
    assert heap_sorted(np.float32([0.25, 0.5, 0.25, 0.5, 0.5, 0.25, 0.75]), 4) == [6, 1, 3, 4]
    assert heap_sorted(np.float32([0.5] * 5), 3) == [0, 1, 2]
    values = np.random.default_rng(4).random(40).astype(F)
    for count in (0, 1, 2, 7, 39, 40, 50):
        assert heap_sorted(values, count) == np.argsort(-values)[:count].tolist()


B, S = tensor((6, 4), F32), tensor((6, 3), F32)
REFUSED: list[tuple[list[TensorType], dict[str, Any], str]] = [
    ([tensor((6, 4), IntegerType(8)), S], {}, "'boxes' must be a matrix of f32, got tensor<6x4xi8>"),
    ([tensor((1, 6, 4), F32), S], {}, "'boxes' must be a matrix of f32, got tensor<1x6x4xf32>"),
    ([tensor((6, 5), F32), S], {}, "'boxes' must have 4 columns, got 5"),
    ([tensor((7, 4), F32), S], {}, "'boxes' and 'scores' must have the same number of rows, got 7 and 6"),
    ([B, tensor((6, 0), F32)], {}, "'scores' must have at least one column, because each column is a class, got 0"),
    ([B, S], {"max_detections": -1}, "'max_detections' must be an integer from 0 to 1048575, got -1"),
    (
        [B, S],
        {"max_classes_per_detection": 0},
        "'max_classes_per_detection' must be an integer from 1 to 1048575, got 0",
    ),
    (
        [B, S],
        {"max_detections": 10**5, "max_classes_per_detection": 99},
        "the product of 'max_detections' and 'max_classes_per_detection' must be below 1048576, got 9900000",
    ),
    ([B, S], {"iou_threshold": 0.0}, "'iou_threshold' must be in (0, 1], got 0.0"),
    ([B, S], {"score_threshold": "a"}, "'score_threshold' must be a real number, got 'a'"),
]


@pytest.mark.parametrize(("types", "attributes", "message"), REFUSED)
def test_refuses(types: list[TensorType], attributes: dict[str, Any], message: str) -> None:
    family = FAMILIES["detection_postprocess"]
    with pytest.raises(QuantTypeError, match=re.escape(message)):
        family.resolve_all(tuple(types), family.complete(attributes))
