"""non_max_suppression beside loops. Hazards: equal scores, whose order is that of a heap; boxes without area, which are
selected again; scores that fall below the threshold; NaNs; corners in any order."""

import re
from typing import Any

import numpy as np
import pytest

from qrt.errors import QuantTypeError
from qrt.numerics import SelectionLimits, select_boxes
from qrt.numerics.floats32 import expf
from qrt.ops import FAMILIES
from qrt.types import FloatType, IntegerType, TensorType
from tests.ops.harness import tensor

F32 = FloatType("f32")
F = np.float32


def _overlap(a: np.ndarray, b: np.ndarray) -> np.float32:
    (a0, a1), (b0, b1) = ((np.minimum(box[:2], box[2:]), np.maximum(box[:2], box[2:])) for box in (a, b))
    areas = [F((high - low).prod(dtype=F)) for low, high in ((a0, a1), (b0, b1))]
    if min(areas) <= 0:
        return F(0)
    shared = F(np.maximum(np.minimum(a1, b1) - np.maximum(a0, b0), F(0)).prod(dtype=F))
    return F(shared / F(F(areas[0] + areas[1]) - shared))


def _selected(boxes: np.ndarray, scores: np.ndarray, limits: SelectionLimits) -> tuple[list[int], list[float]]:
    """The selection, box by box. One that was selected is compared with itself: without area it is selected again."""
    left: list[tuple[np.float32, int, int]] = []
    for i, score in enumerate(scores):
        if score > F(limits.score):
            _push(left, (score, i, 0))
    chosen: list[int] = []
    values: list[float] = []
    most = min(limits.most, len(left))
    while left and len(chosen) < most:
        given, i, compared = _pop(left)
        score, factor = given, F(-0.5 / limits.sigma) if limits.sigma else F(0)
        for j in reversed(chosen[compared:]):
            ratio = _overlap(boxes[i], boxes[j])
            if ratio >= F(limits.overlap):
                break
            score = F(score * expf(np.array([F(F(factor * ratio) * ratio)]))[0])
            if score <= F(limits.score):
                break
        else:
            _push(left, (score, i, len(chosen)))
            if score == given:
                chosen.append(i)
                values.append(float(score))
    return chosen, values


def _push(heap: list[tuple[np.float32, int, int]], item: tuple[np.float32, int, int]) -> None:
    """The item at the end rises above smaller scores."""
    heap.append(item)
    _rise(heap, len(heap) - 1, item)


def _pop(heap: list[tuple[np.float32, int, int]]) -> tuple[np.float32, int, int]:
    """The larger child, or of equal ones the second, fills the empty place until it is at the bottom."""
    first, last, hole = heap[0], heap.pop(), 0
    while children := [i for i in (2 * hole + 2, 2 * hole + 1) if i < len(heap)]:
        best = max(children, key=lambda i: heap[i][0])
        heap[hole], hole = heap[best], best
    if heap:
        _rise(heap, hole, last)
    return first


def _rise(heap: list[tuple[np.float32, int, int]], hole: int, item: tuple[np.float32, int, int]) -> None:
    while hole and heap[(hole - 1) // 2][0] < item[0]:
        heap[hole], hole = heap[(hole - 1) // 2], (hole - 1) // 2
    heap[hole] = item


def _drawn(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    corner = rng.random((count, 2))
    boxes = np.concatenate([corner, corner + (rng.random((count, 2)) + 0.01) * rng.choice([-0.4, 0.4], (count, 2))], 1)
    return boxes.astype(F), rng.permutation(np.linspace(0, 1, count)).astype(F)


@pytest.mark.parametrize("sigma", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("overlap", [0.05, 0.5, 1.0])
@pytest.mark.parametrize(("most", "least"), [(60, 0.0), (7, 0.0), (60, 0.5), (0, 0.0), (60, 2.0)])
def test_the_selection(sigma: float, overlap: float, most: int, least: float) -> None:
    boxes, scores = _drawn(1, 50)
    limits = SelectionLimits(most, overlap, least, sigma)
    wanted, values = _selected(boxes, scores, limits)
    indices, selected, count = select_boxes(boxes, scores, limits)
    assert count == len(wanted)
    assert indices.tolist() == wanted + [0] * (most - len(wanted))
    assert selected.tolist() == values + [0] * (most - len(wanted))


@pytest.mark.parametrize("levels", [1, 3, 40, 400])
@pytest.mark.parametrize("areas", ["all", "most"])
@pytest.mark.parametrize("sigma", [0.0, 0.5])
def test_several_blocks_of_equal_scores(levels: int, areas: str, sigma: float) -> None:
    """Blocks of 128 candidates, the ends of which equal scores cross."""
    boxes, scores = _drawn(2, 160)
    boxes[:, 2:] = boxes[:, :2] + 0.3 * (boxes[:, 2:] - boxes[:, :2])
    if areas == "most":
        boxes[::20, 2] = boxes[::20, 0]
    scores = np.ceil(scores * F(levels)) / F(levels)
    for most in (5, 60):
        limits = SelectionLimits(most, 0.25, 0.1, sigma)
        wanted, values = _selected(boxes, scores, limits)
        indices, selected, count = select_boxes(boxes, scores, limits)
        assert (indices.tolist()[:count], selected.tolist()[:count]) == (wanted, values)


@pytest.mark.parametrize(
    ("scores", "wanted"),
    [([0.5] * 7, [0, 2, 5, 6, 4, 1, 3]), ([0.5, 0.75, 0.5, 0.75, 0.5, 0.5, 0.75], [1, 6, 3, 2, 4, 0, 5])],
)
def test_equal_scores_have_the_order_of_a_heap(scores: list[float], wanted: list[int]) -> None:
    """The order of LiteRT for these scores."""
    boxes = np.array([[i, 0, i + 1, 1] for i in range(7)], F)
    indices, *_ = select_boxes(boxes, np.array(scores, F), SelectionLimits(7, 0.5, 0.0))
    assert indices.tolist() == wanted


def test_a_box_without_area_is_selected_again() -> None:
    boxes = np.array([[0, 0, 0, 1], [0, 0, 1, 1]], F)
    indices, _, count = select_boxes(boxes, np.array([0.75, 0.5], F), SelectionLimits(5, 0.5, 0.0))
    assert (indices.tolist(), count) == ([0, 0, 0, 0, 0], 2)


def test_nans_and_no_boxes() -> None:
    boxes = np.array([[0, 0, 1, 1], [0, 0, np.nan, 1], [0, 0, 1, 1]], F)
    indices, _, count = select_boxes(boxes, np.array([0.5, 0.75, np.nan], F), SelectionLimits(3, 0.5, 0.0))
    assert (indices.tolist()[:count], count) == ([1, 1], 2)  # it overlaps nothing, not even itself
    _, _, count = select_boxes(np.zeros((0, 4), F), np.zeros(0, F), SelectionLimits(3, 0.5, 0.0))
    assert count == 0


B, S = tensor((6, 4), F32), tensor((6,), F32)
REFUSED: list[tuple[list[TensorType], dict[str, Any], str]] = [
    ([tensor((6, 4), IntegerType(8)), S], {}, "'boxes' must be of f32 and rank 2, got tensor<6x4xi8>"),
    ([B, tensor((6, 1), F32)], {}, "'scores' must be of f32 and rank 1, got tensor<6x1xf32>"),
    ([tensor((6, 5), F32), S], {}, "'boxes' must have 4 columns, got 5"),
    ([tensor((7, 4), F32), S], {}, "'scores' must have an element for each of 7 boxes, got 6"),
    ([B, S], {"max_output_size": -1}, "'max_output_size' must be an integer from 0 to 1048575, got -1"),
    ([B, S], {"iou_threshold": 1.5}, "'iou_threshold' must be in [0, 1], got 1.5"),
    ([B, S], {"sigma": -1.0}, "'sigma' must not be negative, got -1.0"),
]


@pytest.mark.parametrize(("types", "said", "message"), REFUSED)
def test_it_is_refused(types: list[TensorType], said: dict[str, Any], message: str) -> None:
    family = FAMILIES["non_max_suppression"]
    with pytest.raises(QuantTypeError, match=re.escape(message)):
        family.resolve_all(tuple(types), family.complete(said))


def test_types_of_open_sizes() -> None:
    family = FAMILIES["non_max_suppression"]
    results = family.resolve_all((tensor((None, 4), F32), tensor((6,), F32)), family.complete({"max_output_size": 3}))
    assert [str(type) for type in results] == ["tensor<3xi32>", "tensor<3xf32>", "tensor<i32>"]
