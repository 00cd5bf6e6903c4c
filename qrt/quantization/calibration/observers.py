"""Observers: what is kept of the values that a program computes, in memory that does not grow with them
(docs/reference/records.md).

An observer is a monoid. A new one has seen nothing, `update` adds the values of an array, and `merge` what another has
seen. All that it keeps is exact: it depends on the values alone, not on their order, nor on how they were split.
"""

import hashlib
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError
from qrt.numerics.double_double import two_product
from qrt.numerics.sums import exact_sum, require_finite
from qrt.quantization.calibration.records import Record, write_records

Array = npt.NDArray[Any]

BINS = 1 << 16
_NEGATIVE_ZERO = 1 << 15
"""The bin of -0."""
_PART = 1 << 16
"""Elements at a time, so that intermediate arrays stay in the cache."""


class Observer(Protocol):
    """What all observers do."""

    def update(self, values: Array, *, skip_nonfinite: bool = False) -> None:
        """Adds the values of an array of floats. QuantTypeError at the first NaN or infinity, and then it is as it was;
        with ``skip_nonfinite`` these are left out and counted."""

    def merge(self, other: Self) -> None:
        """Adds what another observer has seen."""

    def digest(self) -> str:
        """64 hexadecimal digits, which are the same where the same was seen."""


class Summary:
    """How many values there were, the least, the greatest, and a histogram on the bins of bfloat16.

    ``nonfinite`` is how many were left out. ``low`` and ``high`` are 0 before the first value. -0 counts as 0.

    >>> summary = Summary()
    >>> summary.update(np.float32([1, -2.5, 1.5]))
    >>> summary.record()
    Record(count=3, low=-2.5, high=1.5, histogram={16256: 1, 16320: 1, 49184: 1})
    """

    __slots__ = ("_bins", "count", "high", "low", "nonfinite")

    def __init__(self) -> None:
        self.count = 0
        self.nonfinite = 0
        self.low = 0.0
        self.high = 0.0
        self._bins = np.zeros(BINS, np.int64)  # the system gives memory to the pages that are written

    def update(self, values: Array, *, skip_nonfinite: bool = False) -> None:
        values, skipped = _finite(values, skip_nonfinite)
        self.nonfinite += skipped
        if not values.size:
            return
        low, high = float(values.min()) + 0.0, float(values.max()) + 0.0  # + 0.0: of 0 and -0 either may come
        for start in range(0, values.size, _PART):
            bits = float_bits(values[start : start + _PART])
            before = self._bins[_NEGATIVE_ZERO]
            np.add.at(self._bins, (bits >> 16).astype(np.intp), 1)
            if self._bins[_NEGATIVE_ZERO] != before:
                zeros = np.count_nonzero(bits == np.uint32(_NEGATIVE_ZERO << 16))
                self._bins[_NEGATIVE_ZERO] -= zeros
                self._bins[0] += zeros
        self._add_range(values.size, low, high)

    def merge(self, other: Self) -> None:
        self.nonfinite += other.nonfinite
        if other.count:
            used = np.flatnonzero(other._bins)
            self._bins[used] += other._bins[used]
            self._add_range(other.count, other.low, other.high)

    def _add_range(self, count: int, low: float, high: float) -> None:
        self.low = min(self.low, low) if self.count else low
        self.high = max(self.high, high) if self.count else high
        self.count += count

    def record(self) -> Record | None:
        """What is kept in a file of records; None before the first value."""
        if not self.count:
            return None
        used = np.flatnonzero(self._bins)
        histogram = dict(zip(used.tolist(), self._bins[used].tolist(), strict=True))
        return Record(self.count, self.low, self.high, histogram)

    @classmethod
    def of(cls, record: Record | None, nonfinite: int = 0) -> Self:
        """What has seen the values of a record, which has a histogram."""
        made = cls()
        made.nonfinite = nonfinite
        if record is not None:
            made._bins[list(record.histogram)] = list(record.histogram.values())
            made._add_range(record.count, record.low, record.high)
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return Summary.of, (self.record(), self.nonfinite)  # less than its bins, most of which are 0

    def digest(self) -> str:
        return _digest(self.nonfinite, self.record())


class ExactSums:
    """The sum of values, and that of their squares, exactly.

    >>> moments = ExactSums()
    >>> moments.update(np.float64([1e16, 2.0**-30, -1e16]))
    >>> moments.total, moments.count
    (Fraction(1, 1073741824), 3)
    """

    __slots__ = ("count", "nonfinite", "squares", "total")

    def __init__(self) -> None:
        self.count = 0
        self.nonfinite = 0
        self.total = Fraction(0)
        self.squares = Fraction(0)

    def update(self, values: Array, *, skip_nonfinite: bool = False) -> None:
        values, skipped = _finite(values, skip_nonfinite)
        is_wide = values.dtype == np.float64
        for start in range(0, values.size, _PART):
            part = values[start : start + _PART].astype(np.float64)
            self.total += exact_sum(part)
            self.squares += _squares(part) if is_wide else exact_sum(part * part)  # 48 bits
        self.nonfinite += skipped
        self.count += values.size

    def merge(self, other: Self) -> None:
        self.count += other.count
        self.nonfinite += other.nonfinite
        self.total += other.total
        self.squares += other.squares

    def digest(self) -> str:
        return _digest(self.nonfinite, self.count, self.total, self.squares)


def float_bits(values: Array) -> npt.NDArray[np.uint32]:
    """The bits of finite values as f32; those of float64 are rounded toward 0, narrower ones are values of f32.

    >>> [hex(bits) for bits in float_bits(np.float64([1, 1.9999999999, -1e300]))]
    ['0x3f800000', '0x3fffffff', '0xff7fffff']
    """
    if values.dtype != np.float64:
        return values.view(np.uint32)
    with np.errstate(over="ignore", under="ignore"):
        narrow = values.astype(np.float32)
    bits: npt.NDArray[np.uint32] = narrow.view(np.uint32)
    bits -= np.abs(narrow) > np.abs(values)  # the next one toward 0, that of infinity included
    return bits


def _finite(values: Array, skip_nonfinite: bool) -> tuple[Array, int]:
    """The values in one row, as f32 or f64, and how many were left out."""
    if values.dtype.type.__module__ == "ml_dtypes" or values.dtype == np.float16:
        values = values.astype(np.float32)
    dtype = values.dtype.newbyteorder("=")
    if dtype not in (np.float32, np.float64):
        raise QuantTypeError(f"an observer needs floats, got dtype {dtype}")
    flat = np.ascontiguousarray(values, dtype).reshape(-1)
    if not flat.size or (np.isfinite(flat.min()) and np.isfinite(flat.max())):  # a NaN is the least and the greatest
        return flat, 0
    if not skip_nonfinite:
        require_finite(values, "values that are observed")
    kept = flat[np.isfinite(flat)]
    return kept, flat.size - kept.size


def _squares(values: Array) -> Fraction:
    """The sum of squares of float64 numbers, whose products are split where nothing overflows."""
    fraction, exponent = np.frexp(values)
    total = Fraction(0)
    for place in np.unique(exponent).tolist():
        chosen = fraction[exponent == place]
        square, rest = two_product(chosen, chosen)
        total += (exact_sum(square) + exact_sum(rest)) * Fraction(4) ** place
    return total


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@dataclass(eq=False)
class Calibration:
    """Summaries by key. It is a monoid, as its summaries are: those of parts of the data are merged in any order.

    >>> import numpy as np
    >>> one, other = Calibration(), Calibration()
    >>> one.update("x", np.float32([1, 2]))
    >>> other.update("x", np.float32([-4]))
    >>> one.merge(other)
    >>> one.records["x"].low, one.skipped
    (-4.0, {})
    """

    summaries: dict[str, Summary] = field(default_factory=dict)

    def update(self, key: str, values: Array, *, skip_nonfinite: bool = False) -> None:
        """Adds values of a key."""
        self._of(key).update(values, skip_nonfinite=skip_nonfinite)

    def merge(self, other: Self) -> None:
        """Adds what another calibration has seen."""
        for key, summary in other.summaries.items():
            self._of(key).merge(summary)

    def _of(self, key: str) -> Summary:
        found = self.summaries.get(key)
        if found is None:
            found = self.summaries[key] = Summary()
        return found

    @property
    def records(self) -> dict[str, Record]:
        """The records by key, in the order of keys; none where there was no finite value."""
        made = {key: self.summaries[key].record() for key in sorted(self.summaries)}
        return {key: record for key, record in made.items() if record is not None}

    @property
    def skipped(self) -> dict[str, int]:
        """How many values were left out as NaN or infinite, of the keys that had some."""
        return {key: self.summaries[key].nonfinite for key in sorted(self.summaries) if self.summaries[key].nonfinite}

    @property
    def text(self) -> str:
        """The file of records."""
        return write_records(self.records)

    def digest(self) -> str:
        """64 hexadecimal digits, which are the same where the same was seen."""
        return hashlib.sha256((self.text + repr(self.skipped)).encode()).hexdigest()
