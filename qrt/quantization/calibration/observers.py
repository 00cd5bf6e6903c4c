"""Observers: exact summaries of the values that a program computes, in constant memory (docs/reference/records.md).

A new observer is empty, `update` adds the values of an array, and `merge` adds the contents of another observer. The
contents depend only on the values, not on their order or their split into arrays.
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
"""The number of elements processed at a time, so that intermediate arrays stay in the cache."""


class Observer(Protocol):
    """The interface of a summary of values."""

    def update(self, values: Array, *, skip_nonfinite: bool = False) -> None:
        """Add the values of an array of floats.

        At the first NaN or infinity, raises QuantTypeError and adds nothing; with ``skip_nonfinite``, NaNs and
        infinities are left out and counted.
        """

    def merge(self, other: Self) -> None:
        """Add the contents of another observer."""

    def digest(self) -> str:
        """Return a hash of the contents, as 64 hexadecimal digits; equal contents give equal digests."""


class Summary:
    """The number of values, the least and the greatest value, and a histogram.

    The histogram counts values by the upper 16 bits of their f32, so a bin is a value of bfloat16. ``nonfinite`` is the
    number of NaNs and infinities that were left out. ``low`` and ``high`` are 0 before the first value. -0 counts as 0.

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
        self._bins = np.zeros(BINS, np.int64)  # the system allocates only the pages that are written

    def update(self, values: Array, *, skip_nonfinite: bool = False) -> None:
        values, skipped = _finite(values, skip_nonfinite)
        self.nonfinite += skipped
        if not values.size:
            return
        low, high = float(values.min()) + 0.0, float(values.max()) + 0.0  # + 0.0 turns -0 into 0
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
        """Return the summary as a record, the form in which files store it; None before the first value."""
        if not self.count:
            return None
        used = np.flatnonzero(self._bins)
        histogram = dict(zip(used.tolist(), self._bins[used].tolist(), strict=True))
        return Record(self.count, self.low, self.high, histogram)

    @classmethod
    def of(cls, record: Record | None, nonfinite: int = 0) -> Self:
        """Return a summary with the contents of a record, which must have a histogram; an empty summary for None."""
        summary = cls()
        summary.nonfinite = nonfinite
        if record is not None:
            summary._bins[list(record.histogram)] = list(record.histogram.values())
            summary._add_range(record.count, record.low, record.high)
        return summary

    def __reduce__(self) -> tuple[object, ...]:
        return Summary.of, (self.record(), self.nonfinite)  # smaller than the bins, most of which are 0

    def digest(self) -> str:
        return _digest(self.nonfinite, self.record())


class ExactSums:
    """The exact sums of values and of their squares.

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
            self.squares += _squares(part) if is_wide else exact_sum(part * part)  # a square of an f32 has 48 bits
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
    """Return the bits of finite values as f32; float64 values are rounded toward 0, narrower ones convert exactly.

    >>> [hex(bits) for bits in float_bits(np.float64([1, 1.9999999999, -1e300]))]
    ['0x3f800000', '0x3fffffff', '0xff7fffff']
    """
    if values.dtype != np.float64:
        return values.view(np.uint32)
    with np.errstate(over="ignore", under="ignore"):
        narrow = values.astype(np.float32)
    bits: npt.NDArray[np.uint32] = narrow.view(np.uint32)
    bits -= np.abs(narrow) > np.abs(values)  # step to the next f32 toward 0, also from infinity
    return bits


def _finite(values: Array, skip_nonfinite: bool) -> tuple[Array, int]:
    """Return the finite values as a flat f32 or f64 array, and the number of NaNs and infinities that were left out."""
    if values.dtype.type.__module__ == "ml_dtypes" or values.dtype == np.float16:
        values = values.astype(np.float32)
    dtype = values.dtype.newbyteorder("=")
    if dtype not in (np.float32, np.float64):
        raise QuantTypeError(f"the values to observe must be floats, got dtype {dtype}")
    flat = np.ascontiguousarray(values, dtype).reshape(-1)
    if not flat.size or (np.isfinite(flat.min()) and np.isfinite(flat.max())):  # min and max propagate a NaN
        return flat, 0
    if not skip_nonfinite:
        require_finite(values, "values that are observed")
    finite = flat[np.isfinite(flat)]
    return finite, flat.size - finite.size


def _squares(values: Array) -> Fraction:
    """Return the exact sum of squares of float64 values, which are scaled by powers of two to avoid overflow."""
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
    """A summary for each record key (the name of a value of the program).

    As with a single summary, the order of updates and merges does not change the contents.

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
        """Add the values of an array to the summary of a key."""
        self._of(key).update(values, skip_nonfinite=skip_nonfinite)

    def merge(self, other: Self) -> None:
        """Add the summaries of another calibration to those of this one."""
        for key, summary in other.summaries.items():
            self._of(key).merge(summary)

    def _of(self, key: str) -> Summary:
        summary = self.summaries.get(key)
        if summary is None:
            summary = self.summaries[key] = Summary()
        return summary

    @property
    def records(self) -> dict[str, Record]:
        """The records by key, sorted by key; keys without a finite value are left out."""
        records = {key: self.summaries[key].record() for key in sorted(self.summaries)}
        return {key: record for key, record in records.items() if record is not None}

    @property
    def skipped(self) -> dict[str, int]:
        """The number of NaNs and infinities that were left out, for each key with at least one."""
        return {key: self.summaries[key].nonfinite for key in sorted(self.summaries) if self.summaries[key].nonfinite}

    @property
    def text(self) -> str:
        """The records as the JSON text of a file of records."""
        return write_records(self.records)

    def digest(self) -> str:
        """Return a hash of all summaries, as 64 hexadecimal digits; equal contents give equal digests."""
        return hashlib.sha256((self.text + repr(self.skipped)).encode()).hexdigest()
