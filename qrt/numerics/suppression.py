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


_BLOCK = 128
"""The number of candidates that are compared with each other at once."""


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
    with np.errstate(invalid="ignore"):
        candidates = np.flatnonzero(scores > F32(limits.score))
    ordered = candidates[np.argsort(-scores[candidates], kind="stable")]
    if _is_sorted_once(corners, scores, ordered, limits):
        chosen = _select_in_order(corners, ordered, limits)
        values = list(scores[chosen])
    else:
        chosen, values = _select_from_queue(corners, scores, candidates, limits)
    indices, selected = np.zeros(limits.most, np.int32), np.zeros(limits.most, F32)
    indices[: len(chosen)], selected[: len(chosen)] = chosen, values
    return indices, selected, np.array(len(chosen), np.int32)


def _is_sorted_once(corners: Array, scores: Array, ordered: Array, limits: SelectionLimits) -> bool:
    """Return True if boxes are selected in the order of their scores, because scores never change and no two are equal.

    Each box must also overlap itself by 1. A box without area does not, and would be selected several times.
    """
    if limits.sigma > 0 or limits.overlap > 1 or (scores[ordered[1:]] == scores[ordered[:-1]]).any():
        return False
    top, left, bottom, right = corners[ordered].T
    with np.errstate(all="ignore"):
        areas = (bottom - top) * (right - left)
        return bool(((areas > 0) & np.isfinite(areas + areas)).all())


def _select_in_order(corners: Array, ordered: Array, limits: SelectionLimits) -> list[int]:
    """Return the boxes that are selected where each candidate is only compared with better boxes that are selected.

    Candidates are compared in blocks, first with the boxes selected before, then with each other.
    """
    chosen: list[int] = []
    for start in range(0, len(ordered), _BLOCK):
        block, most = ordered[start : start + _BLOCK], F32(limits.overlap)
        block = block[~(overlaps(corners, block[:, None], np.array(chosen, np.int64)) >= most).any(axis=1)]
        pairs = overlaps(corners, block[:, None], block) >= most
        is_left = np.ones(len(block), bool)
        for i, box in enumerate(block.tolist()):
            if len(chosen) == limits.most:
                return chosen
            if is_left[i]:
                chosen.append(box)
                is_left &= ~pairs[i]
    return chosen


def _select_from_queue(
    corners: Array, scores: Array, candidates: Array, limits: SelectionLimits
) -> tuple[list[int], list[np.float32]]:
    """Return the selected boxes and their scores, where scores change or are equal, or boxes have no area."""
    queue, least = _Queue(), F32(limits.score)
    for box in candidates.tolist():
        queue.push(_Candidate(box, scores[box]))
    most = min(limits.most, len(queue.heap))
    boxes: list[int] = []
    values: list[np.float32] = []
    while len(boxes) < most and queue.heap:
        candidate, count = queue.pop(), len(boxes)
        score = _reduced_score(candidate, corners, np.array(boxes[candidate.compared :], np.int64), limits)
        if score is None:
            continue
        if score == candidate.score:
            boxes.append(candidate.box)
            values.append(score)
        if score > least:  # TFLite compares a selected box with itself once more
            queue.push(_Candidate(candidate.box, score, count))
    return boxes, values


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
