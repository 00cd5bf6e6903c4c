"""Counts of the elements in which the tensors of two runtimes differ, added up over several runs."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from qrt.models.importing.comparison_source import Bound
from qrt.ops.core import Array


@dataclass
class DifferenceTally:
    """Counts of the elements in which one tensor differs between two runtimes, added up over several runs.

    - ``elements`` counts all elements.
    - ``differ`` counts the elements that differ more than allowed. Floats are allowed to differ by ``bound``. Integers
      must be equal, or both lie in an interval given to `add`.
    - ``within`` counts the elements that are unequal but differ no more than allowed.
    - ``beyond`` counts the integers among ``differ`` that differ by more than 1.
    - ``largest`` is the largest difference of two elements. For floats, the unit is the unit in the last place.

    Examples
    --------
    >>> tally = DifferenceTally()
    >>> tally.add(np.int8([1, 2, 3]), np.int8([1, 2, 5]))
    >>> tally.elements, tally.differ, tally.beyond, tally.largest
    (3, 1, 1, 2)
    """

    bound: Bound = field(default_factory=Bound)
    elements: int = 0
    differ: int = 0
    within: int = 0
    beyond: int = 0
    largest: int = 0
    runs: int = 0
    is_float: bool = False
    _first: Array | None = field(default=None, repr=False)
    _moves: bool = False
    _varies: bool = False

    def add(
        self,
        ours: Array,
        theirs: Array,
        room: Callable[[], Array] | None = None,
        interval: Callable[[], tuple[Array, Array]] | None = None,
    ) -> None:
        """Add the differences of two arrays, qrt's ``ours`` and the other runtime's ``theirs``, to the counts.

        ``room`` returns the largest allowed absolute difference of each float. It is called only if a float differs by
        more than the bound. ``interval`` returns two arrays: the least and the greatest allowed integer of each
        element. It is called only if integers differ. Raise ValueError if shapes or dtypes differ.
        """
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            raise ValueError(
                f"{ours.dtype} of shape {list(ours.shape)} and {theirs.dtype} of shape {list(theirs.shape)}"
            )
        self.runs += 1
        self.elements += theirs.size
        self.is_float = theirs.dtype.kind == "f"
        self._watch(theirs)
        if not theirs.size or np.array_equal(_bits(ours), _bits(theirs)):
            return
        if self.is_float:
            self._add_floats(ours, theirs, room)
        else:
            apart = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
            outside = apart > 0
            if interval is not None:
                low, high = interval()
                outside &= (ours < low) | (ours > high) | (theirs < low) | (theirs > high)
            self._count(apart > 0, outside)
            self.beyond += int(np.count_nonzero(outside & (apart > 1)))
            self.largest = max(self.largest, int(apart.max()))

    @property
    def skipped(self) -> str:
        """A reason to leave the tensor out of the report, such as "empty" or "one value over all inputs"; else "".

        A constant tensor cannot show a difference between two rounding rules. A tensor with differences is never left
        out.
        """
        if not self.elements:
            return "empty"
        if self.differ:
            return ""
        if not self._varies:
            return "one value over all inputs"
        return "" if self._moves or self.runs < 2 else "the same over all inputs"

    def _watch(self, theirs: Array) -> None:
        """Record whether the tensor has several distinct values, and whether it changes between runs."""
        if self._first is None:
            self._first = theirs.copy()
        if not self._varies and theirs.size and self._first.size:
            self._varies = bool((theirs != self._first.reshape(-1)[0]).any())
        if not self._moves and self.runs > 1:
            self._moves = not np.array_equal(theirs, self._first)

    def _add_floats(self, ours: Array, theirs: Array, room: Callable[[], Array] | None) -> None:
        apart = ulps(ours, theirs)
        outside = apart > self.bound.ulp
        if outside.any():
            outside &= ~self._is_near(ours, theirs)
        if room is not None and outside.any():
            with np.errstate(invalid="ignore"):
                outside &= ~(np.abs(ours.astype(np.float64) - theirs.astype(np.float64)) <= room())
        self._count(apart > 0, outside)
        self.largest = max(self.largest, int(apart.max()))

    def _count(self, unequal: Array, outside: Array) -> None:
        self.differ += int(np.count_nonzero(outside))
        self.within += int(np.count_nonzero(unequal & ~outside))

    def _is_near(self, ours: Array, theirs: Array) -> Array:
        """Return a mask of the floats whose difference `Bound` allows by ``absolute``, ``relative`` or ``is_sum``."""
        wide = theirs.astype(np.float64)
        room = self.bound.absolute + self.bound.relative * np.abs(wide)
        if self.bound.is_sum:
            finite = np.abs(theirs[np.isfinite(theirs)])
            room = np.maximum(room, self.bound.ulp * np.spacing(finite.max(initial=0)))
        with np.errstate(invalid="ignore"):
            near: Array = np.abs(ours.astype(np.float64) - wide) <= room
        return near & np.isfinite(wide)


def ulps(a: Array, b: Array) -> Array:
    """Return the distance of ``a`` and ``b``, elementwise, in units in the last place.

    Two NaNs have distance 0, and so have 0.0 and -0.0.

    >>> ulps(np.float32([1, 0.0, np.nan]), np.float32([1.0000001, -0.0, np.nan])).tolist()
    [1, 0, 0]
    """
    are_nan = np.isnan(a), np.isnan(b)
    apart = np.where(are_nan[0] ^ are_nan[1], np.iinfo(np.int64).max, np.abs(_order(a) - _order(b)))
    return np.where(are_nan[0] & are_nan[1], 0, apart)


def _order(values: Array) -> Array:
    """Map floats to integers in the same order, so that adjacent floats become adjacent integers."""
    width = values.dtype.itemsize * 8
    bits = _bits(values).astype(np.int64)
    sign = np.int64(-1) << (width - 1)
    return np.where(bits < 0, sign - bits, bits)


def _bits(values: Array) -> Array:
    bits: Array = values.view(f"i{values.dtype.itemsize}") if values.dtype.kind == "f" else values
    return bits
