"""Selection of boxes by their scores, without those that overlap a selected box.

Source: TFLite's operators NON_MAX_SUPPRESSION_V4 and NON_MAX_SUPPRESSION_V5.
"""

from dataclasses import dataclass

import numpy as np

from qrt.numerics.detections import F32, overlaps
from qrt.numerics.floats32 import expf
from qrt.numerics.rounding import Array


@dataclass(frozen=True)
class SelectionLimits:
    """The limits of a selection: at most ``most`` boxes, of scores above ``score``, that overlap less than ``overlap``.

    With a ``sigma`` above 0, a box that overlaps a selected box by r has its score multiplied by
    ``exp(-0.5 / sigma * r * r)``.
    """

    most: int
    overlap: float
    score: float
    sigma: float = 0.0


@dataclass
class _Candidate:
    """A box that may be selected. Its score takes the first ``compared`` selected boxes into account."""

    box: int
    score: np.float32
    compared: int = 0


class _Queue:
    """A priority queue of candidates. Equal scores have the order of libstdc++'s heap."""

    def __init__(self) -> None:
        self.heap: list[_Candidate] = []

    def push(self, candidate: _Candidate) -> None:
        """Add a candidate."""
        self.heap.append(candidate)
        self._raise(len(self.heap) - 1, candidate)

    def pop(self) -> _Candidate:
        """Remove the candidate with the largest score and return it.

        The heap then has an empty position at its root. The child with the larger score moves up into this position
        until it is at the bottom. From there the last candidate of the heap rises.
        """
        heap = self.heap
        largest, last = heap[0], heap.pop()
        hole, length = 0, len(heap)
        while (child := 2 * hole + 2) < length:
            child -= bool(heap[child].score < heap[child - 1].score)
            heap[hole], hole = heap[child], child
        if child == length:
            heap[hole], hole = heap[child - 1], child - 1
        if heap:
            self._raise(hole, last)
        return largest

    def _raise(self, hole: int, candidate: _Candidate) -> None:
        """Insert a candidate into the heap, at the empty position ``hole`` or at a position above it."""
        while hole and self.heap[(hole - 1) // 2].score < candidate.score:
            self.heap[hole], hole = self.heap[(hole - 1) // 2], (hole - 1) // 2
        self.heap[hole] = candidate


def select_boxes(boxes: Array, scores: Array, limits: SelectionLimits) -> tuple[Array, Array, Array]:
    """Return (indices, scores, count) of the selected boxes, best first; rows from ``count`` on are 0.

    Boxes [n, 4] of float32 are two opposite corners (y, x, y, x).

    >>> boxes = np.float32([[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 1, 1]])
    >>> indices, _, count = select_boxes(boxes, np.float32([0.5, 0.75, 0.25]), SelectionLimits(3, 0.5, 0.0))
    >>> indices.tolist(), int(count)
    ([1, 2, 0], 2)
    """
    corners = np.concatenate([np.where(boxes[:, 2:] < boxes[:, :2], boxes[:, 2:], boxes[:, :2]),
                              np.where(boxes[:, :2] < boxes[:, 2:], boxes[:, 2:], boxes[:, :2])], axis=1)  # fmt: skip
    queue, least = _Queue(), F32(limits.score)
    for box in np.flatnonzero(scores > least):
        queue.push(_Candidate(int(box), scores[box]))
    most = min(limits.most, len(queue.heap))
    indices, selected = np.zeros(limits.most, np.int32), np.zeros(limits.most, F32)
    count = 0
    while count < most and queue.heap:
        candidate = queue.pop()
        score = _reduced_score(candidate, corners, indices[candidate.compared : count], limits)
        if score is None:
            continue
        if score == candidate.score:
            indices[count], selected[count] = candidate.box, score
        count, compared = count + (score == candidate.score), count
        if score > least:  # TFLite compares a selected box with itself once more
            queue.push(_Candidate(candidate.box, score, compared))
    return indices, selected, np.array(count, np.int32)


def _reduced_score(candidate: _Candidate, corners: Array, others: Array, limits: SelectionLimits) -> np.float32 | None:
    """Return a candidate's score after a comparison with other boxes, or None if one of them overlaps it too much.

    The comparison begins with the last of the others, and ends where the score is not above the limit.
    """
    ratios, score = overlaps(corners, candidate.box, others)[::-1], candidate.score
    if limits.sigma <= 0:
        return None if (ratios >= F32(limits.overlap)).any() else score
    with np.errstate(all="ignore"):
        exponents = F32(-0.5 / np.float64(F32(limits.sigma))) * ratios * ratios
        factors = np.where(np.isnan(exponents), exponents, expf(np.nan_to_num(exponents, nan=0.0)))
        for ratio, factor in zip(ratios, factors, strict=True):
            if ratio >= F32(limits.overlap):
                return None
            score = F32(score * factor)
            if score <= F32(limits.score):
                return score
    return score
