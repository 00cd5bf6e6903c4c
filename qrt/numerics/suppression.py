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


class _Queue:
    """A priority queue of candidates. Equal scores have the order of libstdc++'s heap.

    A candidate is a box that may be selected: (score, number of the box, compared). The score takes the first
    ``compared`` selected boxes into account.
    """

    def __init__(self) -> None:
        self.heap: list[tuple[float, int, int]] = []

    def push(self, candidate: tuple[float, int, int]) -> None:
        """Add a candidate."""
        self.heap.append(candidate)
        self._raise(len(self.heap) - 1, candidate)

    def pop(self) -> tuple[float, int, int]:
        """Remove the candidate with the largest score and return it.

        The heap then has an empty position at its root. The child with the larger score moves up into this position
        until it is at the bottom. From there the last candidate of the heap rises.
        """
        heap = self.heap
        largest, last = heap[0], heap.pop()
        hole, length = 0, len(heap)
        while (child := 2 * hole + 2) < length:
            child -= heap[child][0] < heap[child - 1][0]
            heap[hole], hole = heap[child], child
        if child == length:
            heap[hole], hole = heap[child - 1], child - 1
        if heap:
            self._raise(hole, last)
        return largest

    def _raise(self, hole: int, candidate: tuple[float, int, int]) -> None:
        """Insert a candidate into the heap, at the empty position ``hole`` or at a position above it."""
        heap, score = self.heap, candidate[0]
        while hole and heap[(hole - 1) // 2][0] < score:
            heap[hole], hole = heap[(hole - 1) // 2], (hole - 1) // 2
        heap[hole] = candidate


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
    indices, selected = np.zeros(limits.most, np.int32), np.zeros(limits.most, F32)
    ordered = candidates[np.argsort(-scores[candidates], kind="stable")]
    if _is_sorted_once(corners, scores, ordered, limits):
        chosen = _select_in_order(corners, ordered, limits)
        count = len(chosen)
        indices[:count], selected[:count] = chosen, scores[chosen]
    else:
        count = _select_from_queue(corners, scores, ordered, limits, indices, selected)
    return indices, selected, np.array(count, np.int32)


def _is_sorted_once(corners: Array, scores: Array, ordered: Array, limits: SelectionLimits) -> bool:
    """Return True if boxes are selected in the order of their scores: scores never change, and no two are equal.

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


class _Removal:
    """The candidates that selected boxes overlap too much, where scores do not change.

    Candidates are compared in blocks of descending scores: with the boxes that are selected when the first candidate of
    the block is the next, and then with each box that is selected, except those of better scores than this.
    """

    def __init__(self, corners: Array, scores: Array, ordered: Array, limits: SelectionLimits) -> None:
        self.corners, self.ordered, self.most = corners, ordered, F32(limits.overlap)
        self.descending, self.reached = -scores[ordered], 0
        self.places, self.removed = np.zeros(len(scores), np.int64), np.zeros(len(scores), bool)
        self.places[ordered] = np.arange(len(ordered))

    def is_removed(self, box: int, chosen: Array) -> bool:
        """Return True if one of the selected boxes overlaps a box too much."""
        place = int(self.places[box])
        if place >= self.reached:
            block = self.ordered[self.reached : max(place + 1, self.reached + _BLOCK)]
            self.removed[block] = (overlaps(self.corners, block[:, None], chosen) >= self.most).any(axis=1)
            self.reached += len(block)
        return bool(self.removed[box])

    def select(self, box: int) -> None:
        """Remove the candidates that a box, which is selected, overlaps too much."""
        first = np.searchsorted(self.descending, self.descending[self.places[box]])
        others = self.ordered[first : self.reached]
        self.removed[others] |= overlaps(self.corners, others, np.array(box)) >= self.most


def _select_from_queue(
    corners: Array, scores: Array, ordered: Array, limits: SelectionLimits, indices: Array, selected: Array
) -> int:
    """Write the selected boxes and their scores, and return their number. Candidates are taken from a queue."""
    queue, least, removal = _Queue(), float(F32(limits.score)), _Removal(corners, scores, ordered, limits)
    candidates = np.sort(ordered)
    for given, box in zip(scores[candidates].tolist(), candidates.tolist(), strict=True):
        queue.push((given, box, 0))
    most, count = min(limits.most, len(queue.heap)), 0
    while count < most and queue.heap:
        given, box, compared = queue.pop()
        score: float | None
        if limits.sigma > 0:
            score = _reduced_score(given, overlaps(corners, box, indices[compared:count])[::-1], limits)
        else:
            score = None if removal.is_removed(box, indices[:count]) else given
        if score is None:
            continue
        if score == given:
            indices[count], selected[count] = box, score
            if limits.sigma <= 0:
                removal.select(box)
        count, compared = count + (score == given), count
        if score > least:  # TFLite compares a selected box with itself once more
            queue.push((score, box, compared))
    return count


def _reduced_score(score: float, ratios: Array, limits: SelectionLimits) -> float | None:
    """Return a candidate's score after a comparison with boxes that overlap it by ``ratios``; None if by too much.

    TFLite ends where the score is not above the limit. The result is then not above it either.
    """
    if (ratios >= F32(limits.overlap)).any():
        return None
    if not ratios.size:
        return score
    factors = np.ones(ratios.size + 1, F32)
    factors[0] = score
    with np.errstate(all="ignore"):
        exponents = F32(-0.5 / np.float64(F32(limits.sigma))) * ratios * ratios
        apart = np.flatnonzero(exponents)
        if apart.size:
            known = exponents[apart]
            factors[1 + apart] = np.where(np.isnan(known), known, expf(np.nan_to_num(known, nan=0.0)))
        return float(np.multiply.accumulate(factors)[-1])
