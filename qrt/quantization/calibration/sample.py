"""A sample of rows of data that does not depend on their order or on their split into batches.

docs/reference/calibration.md describes the sample.
"""

from bisect import bisect_left, insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate
from operator import attrgetter
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError

Array = npt.NDArray[Any]

MOST_ROWS = 256
MOST_BYTES = 8 << 20
ROWS = 64
"""The rows in a batch of a sample, and in each part of an array that is split for a dynamic number of rows."""


@dataclass(frozen=True, order=True, slots=True)
class Row:
    """The values of all inputs for one row of the data, or for one whole run.

    ``key`` is a SHA-256 of the values with their dtypes and shapes. ``size`` is the number of bytes of the values.
    """

    key: bytes
    size: int
    arrays: tuple[Array, ...]
    is_run: bool

    @property
    def batch(self) -> tuple[object, ...]:
        """A grouping key: rows can be concatenated to one batch if their keys are equal."""
        return (self.is_run, self.key if self.is_run else b"", *(array.shape for array in self.arrays))


class Sample:
    """The rows with the least SHA-256 hashes: at most ``most`` rows, which fill at most about ``most_bytes`` bytes.

    Rows are added by ascending hash until they fill ``most_bytes``; the last row may exceed this limit. A row has the
    values of all inputs at one index of their first axis. With ``by_rows=False``, or if inputs have different numbers
    of rows, the values of one whole update count as a row. Equal rows count once, and rows with a NaN or an infinity
    are left out. Samples can be merged, in any order.

    >>> one, other = Sample(["x"], most=2), Sample(["x"], most=2)
    >>> one.update({"x": np.float32([[1, 2], [3, 4], [5, 6]])})
    >>> other.update({"x": np.float32([[3, 4]])})
    >>> other.update({"x": np.float32([[5, 6], [1, 2]])})
    >>> one.digest() == other.digest(), len(one)
    (True, 2)
    """

    __slots__ = ("_rows", "by_rows", "most", "most_bytes", "names")

    def __init__(
        self, names: Sequence[str], *, by_rows: bool = True, most: int = MOST_ROWS, most_bytes: int = MOST_BYTES
    ) -> None:
        self.names = tuple(names)
        self.by_rows = by_rows
        self.most = most
        self.most_bytes = most_bytes
        self._rows: list[Row] = []

    def __len__(self) -> int:
        return len(self._rows)

    def update(self, arrays: Mapping[str, Array]) -> None:
        """Add the rows of one run's inputs, given by name."""
        given = [np.asarray(arrays[name]) for name in self.names]
        counts = {len(array) for array in given} if self.by_rows else set()
        if len(counts) != 1:
            self._add(given, is_run=True)
            return
        for number in range(counts.pop()):
            self._add([array[number : number + 1] for array in given], is_run=False)

    def _add(self, arrays: Sequence[Array], *, is_run: bool) -> None:
        hasher = sha256()
        for array in arrays:
            hasher.update(f"{array.dtype.name} {array.shape} ".encode())
            hasher.update(array.tobytes())
        key = hasher.digest()
        if len(self._rows) == self.most and key > self._rows[-1].key:
            return
        if not self._has(key) and all(map(_is_finite, arrays)):
            size = sum(array.nbytes for array in arrays)
            self._keep(Row(key, size, tuple(array.copy() for array in arrays), is_run))

    def _has(self, key: bytes) -> bool:
        place = bisect_left(self._rows, key, key=attrgetter("key"))
        return place < len(self._rows) and self._rows[place].key == key

    def _keep(self, row: Row) -> None:
        """Insert a new row, and drop rows beyond the limits.

        A row stays if the rows before it fill less than ``most_bytes``. The row that crosses this limit stays too:
        without it, a smaller row with a greater hash could take its place after a merge.
        """
        insort(self._rows, row)
        before = accumulate((earlier.size for earlier in self._rows), initial=0)
        count = sum(taken < self.most_bytes for taken, _ in zip(before, self._rows, strict=False))
        del self._rows[min(count, self.most) :]

    def merge(self, other: Self) -> None:
        """Add the rows of another sample; raise QuantTypeError if its inputs or limits differ."""
        if other._kind != self._kind:
            raise QuantTypeError("samples can be merged only if they were created with the same inputs and limits")
        for row in other._rows:
            if not self._has(row.key):
                self._keep(row)

    @property
    def _kind(self) -> tuple[object, ...]:
        return self.names, self.by_rows, self.most, self.most_bytes

    def batches(self) -> list[dict[str, Array]]:
        """Return the rows by ascending hash, joined to batches of at most 64 rows of equal shapes.

        A row that is a whole run is a batch of its own.
        """
        groups: dict[tuple[object, ...], list[Row]] = {}
        for row in self._rows:
            groups.setdefault(row.batch, []).append(row)
        return [
            {name: _joined(column) for name, *column in zip(self.names, *(row.arrays for row in part), strict=True)}
            for rows in groups.values()
            for part in (rows[start : start + ROWS] for start in range(0, len(rows), ROWS))
        ]

    def digest(self) -> str:
        """Return a hash of the rows, as 64 hexadecimal digits."""
        return sha256(b"".join(row.key for row in self._rows)).hexdigest()


def _is_finite(array: Array) -> bool:
    return bool(np.isfinite(array).all())


def _joined(arrays: Sequence[Array]) -> Array:
    return np.concatenate(arrays) if len(arrays) > 1 else arrays[0]
