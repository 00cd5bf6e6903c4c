"""Detections from boxes and class scores, by greedy non-maximum suppression.

Boxes are suppressed by their best score of any class, or for each class separately. Source: TFLite's custom operator
TFLite_Detection_PostProcess.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from qrt.numerics.rounding import Array

F32 = np.float32


@dataclass(frozen=True)
class SuppressionLimits:
    """The limits of a non-maximum suppression.

    If ``per_class`` is None, boxes are ranked by their best score, whatever its class: at most ``most`` boxes remain,
    each with its ``classes`` best classes. Otherwise each class has a suppression of its own: at most ``per_class``
    boxes remain for a class, and then at most ``most`` boxes of all classes together, those of the best scores. Boxes
    with a score below ``score`` are dropped, and boxes whose overlap with a better box exceeds ``overlap``.
    """

    most: int
    classes: int
    per_class: int | None
    score: float
    overlap: float


def overlaps(boxes: Array, box: int | Array, others: Array) -> Array:
    """Return the intersection over union of box number ``box`` with each of the boxes numbered ``others``.

    ``box`` may also be an array of numbers, with which ``others`` are broadcast. The result is 0 if one of the two
    boxes has no area. Boxes [n, 4] of float32 are (top, left, bottom, right), and every step is rounded to float32.

    >>> overlaps(np.float32([[0, 0, 2, 2], [0, 1, 2, 3]]), 0, np.array([1])).tolist()
    [0.3333333432674408]
    """
    zero = np.zeros((), F32)
    top, left, bottom, right = (boxes[others, i] for i in range(4))
    y0, x0, y1, x1 = np.moveaxis(boxes[box], -1, 0)
    with np.errstate(all="ignore"):
        own, areas = (y1 - y0) * (x1 - x0), (bottom - top) * (right - left)
        height = _smaller(y1, bottom) - _larger(y0, top)
        width = _smaller(x1, right) - _larger(x0, left)
        shared = _larger(height, zero) * _larger(width, zero)
        ratio = shared / (own + areas - shared)
    return np.where((own <= 0) | (areas <= 0), F32(0), ratio)


def _larger(a: Array, b: Array) -> Array:
    """Return ``b`` where ``a < b``, else ``a``, as C++'s std::max does: ``a`` if either is a NaN."""
    return np.where(a < b, b, a)


def _smaller(a: Array, b: Array) -> Array:
    return np.where(b < a, b, a)


def descending(scores: Array, count: int) -> Array:
    """Return the indices of the ``count`` largest scores in descending order; equal scores stay in order."""
    return np.argsort(-scores, kind="stable")[:count]


def heap_sorted(scores: Array, count: int) -> list[int]:
    """Return the indices of the ``count`` largest scores in descending order, as libstdc++'s partial_sort does.

    The order of equal scores is that of the algorithm. The first ``count`` indices form a heap with the least score at
    its root. Each later index with a greater score replaces the root. In the end the root is removed repeatedly.

    >>> heap_sorted(np.float32([0.5, 0.5, 0.5, 0.75]), 3)
    [3, 1, 0]
    """
    numbers = list(range(len(scores)))
    count = min(count, len(numbers))

    def is_before(a: int, b: int) -> bool:
        return bool(scores[numbers[a]] > scores[numbers[b]])

    def settle(hole: int, length: int, number: int) -> None:
        """Insert index ``number`` into the heap of ``length`` indices, in which position ``hole`` is empty.

        The child with the smaller score moves up into the hole until the hole is at the bottom. From there ``number``
        rises to its position.
        """
        top = hole
        while (child := 2 * hole + 2) < length:
            child -= is_before(child, child - 1)
            numbers[hole], hole = numbers[child], child
        if child == length:
            numbers[hole], hole = numbers[child - 1], child - 1
        while hole > top and scores[numbers[(hole - 1) // 2]] > scores[number]:
            numbers[hole], hole = numbers[(hole - 1) // 2], (hole - 1) // 2
        numbers[hole] = number

    for start in reversed(range(count // 2)):
        settle(start, count, numbers[start])
    for place in range(count, len(numbers)):
        if is_before(place, 0):
            number, numbers[place] = numbers[place], numbers[0]
            settle(0, count, number)
    for last in range(count - 1, 0, -1):
        number, numbers[last] = numbers[last], numbers[0]
        settle(0, last, number)
    return numbers[:count]


def suppressed(boxes: Array, scores: Array, most: int, rule: SuppressionLimits) -> list[int]:
    """Return the indices of the boxes that remain, best first; a box removes all worse boxes that overlap it too much.

    At most ``most`` boxes remain.
    """
    with np.errstate(invalid="ignore"):
        candidates = np.flatnonzero(scores >= F32(rule.score))
    left = candidates[descending(scores[candidates], len(candidates))]
    remaining: list[int] = []
    while len(left) and len(remaining) < most:
        best, left = int(left[0]), left[1:]
        remaining.append(best)
        left = left[~(overlaps(boxes, best, left) > F32(rule.overlap))]
    return remaining


def detections(boxes: Array, scores: Array, rule: SuppressionLimits) -> tuple[Array, Array, Array, Array]:
    """Return (boxes, classes, scores, count) for boxes [anchors, 4] and scores [anchors, classes].

    The rows from ``count`` on are 0.
    """
    rows = rule.most * rule.classes
    detected = _of_each_class(boxes, scores, rule) if rule.per_class is not None else _of_all(boxes, scores, rule)
    count = len(detected) if rule.per_class is not None else len(detected) // max(rule.classes, 1)
    results = np.zeros((rows, 4), F32), np.zeros(rows, F32), np.zeros(rows, F32)
    for row, (box, number, score) in enumerate(detected):
        if number >= 0:
            results[0][row], results[1][row], results[2][row] = boxes[box], number, score
    return (*results, np.full(1, count, F32))


Detections = list[tuple[int, int, npt.NDArray[np.float32]]]


def _of_all(boxes: Array, scores: Array, rule: SuppressionLimits) -> Detections:
    """Suppress boxes by their best score of any class, and return each remaining box with its best classes.

    The class -1 fills up the list if there are fewer classes than ``rule.classes``.
    """
    best = np.stack([scores[row, descending(scores[row], 1)[0]] for row in range(len(scores))])
    detected: Detections = []
    for box in suppressed(boxes, best, rule.most, rule):
        numbers = heap_sorted(scores[box], rule.classes)
        detected += [(box, number, scores[box, number]) for number in numbers]
        detected += [(box, -1, F32(0))] * (rule.classes - len(numbers))  # type: ignore[list-item]
    return detected


def _of_each_class(boxes: Array, scores: Array, rule: SuppressionLimits) -> Detections:
    """Suppress boxes for each class separately, and return the best (box, class, score) of all classes.

    After each class the list is cut to its ``rule.most`` best items. Among equal scores, lower classes come first.
    """
    assert rule.per_class is not None
    detected: Detections = []
    for number in range(scores.shape[1]):
        of_class = scores[:, number]
        chosen = suppressed(boxes, of_class, min(rule.per_class, rule.most), rule)
        detected += [(box, number, of_class[box]) for box in chosen]
        order = descending(np.array([score for *_, score in detected], F32), rule.most)
        detected = [detected[place] for place in order]
    return detected
