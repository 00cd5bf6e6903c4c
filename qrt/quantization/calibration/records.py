"""Records of the values that a program computed, and the choice of a range from them (docs/reference/records.md).

A record has the number of values, the least and the greatest value, and optionally a histogram, which counts values by
the upper 16 bits of their f32: sign, exponent and seven bits of the fraction. All histograms have the same bins, so
histograms of several records can be added bin by bin.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import Any, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from qrt.errors import ModelError, shown
from qrt.quantization.calibration.entropy import least_divergence
from qrt.tensor.choose import FRACTIONS, Storage

Array = npt.NDArray[Any]

RecordMethod = Literal["minmax", "mse", "percentile", "entropy"]
RECORD_METHODS: tuple[RecordMethod, ...] = get_args(RecordMethod)
PERCENTILE = Fraction("99.99")
"""The share of values, in percent, that the method ``percentile`` keeps in the range."""
_UNIT_BITS = 31
_BINS = 1 << 16
_POINTS = 4
"""The number of equally spaced points by which the method ``mse`` represents a bin.

A bin may be as wide as a quantization step: a single point for the bin would favour scales of which it is a multiple.
"""
_MANY_BINS = 16
"""The largest number of bins that the ``repr`` of a record lists."""
_FEW = 1 << 29
"""The number of values below which the sums of the upper and of the lower halves of squared errors fit 64 bits."""


@dataclass(frozen=True)
class Record:
    """A summary of the values of one key.

    Parameters
    ----------
    count : int
        The number of values.
    low, high : float
        The least and the greatest value.
    histogram : mapping of int to int, optional
        The number of values for each pattern of the upper 16 bits of their f32. The numbers add up to ``count``.

    Examples
    --------
    >>> Record(3, -1.0, 2.0, {0x3F80: 2, 0xBF80: 1}).histogram[0x3F80]
    2
    """

    count: int
    low: float
    high: float
    histogram: Mapping[int, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        few = len(self.histogram) <= _MANY_BINS
        histogram = dict(self.histogram) if few else f"{{{len(self.histogram)} bins}}"
        return f"Record(count={self.count}, low={self.low!r}, high={self.high!r}, histogram={histogram})"


def read_records(text: str, where: str) -> dict[str, Record]:
    """Parse the JSON text of a file of records, and return the records by key. ``where`` is the prefix of messages.

    Raises ModelError that names the key and the accepted values.

    >>> read_records('{"version": 1, "records": {"x": {"count": 2, "min": -1, "max": 3}}}', "r.json")["x"].high
    3.0
    """
    try:
        table = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{where}: not JSON: {error}") from None
    if not isinstance(table, dict) or table.get("version") != 1 or not isinstance(table.get("records"), dict):
        raise ModelError(f'{where}: expected {{"version": 1, "records": {{...}}}}')
    return {key: _record(entry, f"{where}: record {shown(key)}") for key, entry in table["records"].items()}


def _record(entry: Any, where: str) -> Record:
    if not isinstance(entry, dict):
        raise ModelError(f"{where}: expected a table, got {shown(entry)}")
    if unknown := [key for key in entry if key not in ("count", "min", "max", "histogram")]:
        raise ModelError(f"{where}: unknown key {shown(unknown[0])}: the keys are count, min, max, histogram")
    count, low, high = (entry.get(key) for key in ("count", "min", "max"))
    if not _is_integer(count) or cast(int, count) < 1:
        raise ModelError(f"{where}: count must be a positive integer, got {shown(count)}")
    for key, value in (("min", low), ("max", high)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
            raise ModelError(f"{where}: {key} must be a finite number, got {shown(value)}")
    count, low, high = cast(int, count), cast(float, low), cast(float, high)
    if low > high:
        raise ModelError(f"{where}: min must be at most max, got {low} and {high}")
    return Record(count, float(low), float(high), _histogram(entry.get("histogram", {}), count, where))


def _histogram(entry: Any, count: int, where: str) -> dict[int, int]:
    if not isinstance(entry, dict):
        raise ModelError(f"{where}: histogram must be a table, got {shown(entry)}")
    histogram: dict[int, int] = {}
    for key, number in entry.items():
        bits = int(key) if key.isascii() and key.isdigit() and len(key) <= 5 else _BINS
        if bits >= _BINS or not np.isfinite(_floats([bits]))[0]:
            raise ModelError(
                f"{where}: the keys of the histogram must be the 16 high bits of a finite f32, as a decimal "
                f"number, got {shown(key)}"
            )
        if not _is_integer(number) or number < 1:
            raise ModelError(
                f"{where}: the counts of the histogram must be positive integers, got {shown(number)} for key {key}"
            )
        histogram[bits] = number
    if histogram and sum(histogram.values()) != count:
        raise ModelError(f"{where}: count must be the sum of the histogram, {sum(histogram.values())}, got {count}")
    return histogram


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_finite(value: float) -> bool:
    try:
        return isfinite(float(value))
    except OverflowError:
        return False


def _floats(bits: Sequence[int]) -> Array:
    """Return for each bin the end nearer to 0: the float32 with the bin's upper 16 bits, and 0 as lower bits."""
    return (np.asarray(bits, np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)


def write_records(records: Mapping[str, Record]) -> str:
    """Return the JSON text of records, with one line for each, sorted by key. Equal records give equal bytes.

    >>> print(write_records({"x": Record(2, -1.0, 3.0, {0xBF80: 1, 0x4040: 1})}), end="")
    {"version": 1, "records": {
    "x": {"count": 2, "min": -1.0, "max": 3.0, "histogram": {"16448": 1, "49024": 1}}
    }}
    """
    lines = []
    for key, record in sorted(records.items()):
        entry: dict[str, Any] = {"count": record.count, "min": record.low, "max": record.high}
        if record.histogram:
            entry["histogram"] = {str(bits): record.histogram[bits] for bits in sorted(record.histogram)}
        lines.append(f"{json.dumps(key)}: {json.dumps(entry)}")
    return '{"version": 1, "records": {\n' + ",\n".join(lines) + "\n}}\n"


def chosen_range(records: Sequence[Record], storage: Storage, method: RecordMethod) -> tuple[float, float]:
    """Return the range, which includes 0, that a method chooses for the values of records with histograms.

    - ``minmax``: the whole range, from the least to the greatest value.
    - ``percentile``: the range of the values after at most 0.01 percent of them are left out. These are the values of
      greatest magnitude if the storage is symmetric; otherwise half of them are the least values, and half the
      greatest.
    - ``mse``: the whole range times k/64, for the k = 1 to 64 whose quantized values have the least squared error.
    - ``entropy``: the whole range times k/64, for the k whose quantized values diverge least from the histogram.

    Of equally good k the greatest is chosen. For ``percentile`` and ``entropy``, every value of a bin counts as the end
    of the bin that is farther from 0. This end is clipped to the least and the greatest value; the bin of 0 counts as
    0.

    >>> record = Record(100001, 0.0, 8.0, {0x3F80: 100000, 0x4100: 1})
    >>> chosen_range([record], Storage("i8", -128, 127, "f32", False), "percentile")
    (0.0, 1.0078125)
    """
    low = min([0.0, *(record.low for record in records)]) + 0.0
    high = max([0.0, *(record.high for record in records)]) + 0.0
    if method == "minmax" or low == high:
        return low, high
    (starts, ends), counts = _added(records)
    if method == "mse":
        parts = (np.arange(_POINTS) + 0.5)[:, np.newaxis] / _POINTS
        return _least_error(np.clip(starts + (ends - starts) * parts, low, high), counts, low, high, storage)
    values = np.clip(ends, low, high)
    if method == "percentile":
        return _percentile(values, counts, low, high, symmetric=storage.symmetric)
    return least_divergence(values, counts, low, high, storage)


def _added(records: Sequence[Record]) -> tuple[Array, list[int]]:
    """Add up histograms, and return the two ends of each non-empty bin and the number of values in it.

    Bins are in ascending order. Row 0 of the ends has those nearer to 0, and row 1 those farther from 0.
    """
    total: dict[int, int] = {}
    for record in records:
        for bits, number in record.histogram.items():
            total[bits] = total.get(bits, 0) + number
    keys = sorted(total, key=lambda bits: -(bits & 0x7FFF) if bits >> 15 else bits)
    magnitudes = [bits & 0x7FFF for bits in keys]
    ends = np.stack([_floats(magnitudes), _floats([min(bits, 0x7F7E) + 1 if bits else 0 for bits in magnitudes])])
    return np.where([bits >> 15 for bits in keys], -ends, ends), [total[bits] for bits in keys]


def _percentile(values: Array, counts: list[int], low: float, high: float, *, symmetric: bool) -> tuple[float, float]:
    outside = int(sum(counts) * (100 - PERCENTILE) / 100)
    if symmetric:
        order = np.argsort(np.abs(values), kind="stable")
        end = _end_of_range(np.abs(values)[order][::-1], [counts[i] for i in order[::-1]], outside)
        return (-end, end) if end else (low, high)
    ends = (
        min(_end_of_range(values, counts, outside // 2), 0.0),
        max(_end_of_range(values[::-1], counts[::-1], outside // 2), 0.0),
    )
    return (low, high) if ends == (0.0, 0.0) else (ends[0] + 0.0, ends[1] + 0.0)


def _end_of_range(values: Array, counts: Sequence[int], outside: int) -> float:
    """Return the new end of a range after ``outside`` observations are left out at the start of ``values``.

    ``counts`` has the number of observations of each value.
    """
    for value, count in zip(values, counts, strict=True):
        outside -= count
        if outside < 0:
            return float(value)
    return float(values[-1])


def _least_error(points: Array, counts: list[int], low: float, high: float, storage: Storage) -> tuple[float, float]:
    """Return the range `(low, high) * k/64`, k = 1 to 64, whose quantized values have the least squared error.

    Each column of ``points`` has the values that represent one bin. Errors are rounded to integers, in units of 2^-31
    times the least power of two above the range. The sums of their squares are exact, because the upper and the lower
    31 bits of the squares are summed separately.
    """
    factors = np.arange(FRACTIONS, 0, -1) / FRACTIONS
    scales, zeros = storage.parameters(low * factors, high * factors)
    exponent = _UNIT_BITS - np.frexp(max(-low, high))[1]
    scaled = np.ldexp(points, exponent)
    numbers = np.array(counts, np.int64 if sum(counts) < _FEW else object)
    best: tuple[int, int] | None = None
    for k, (scale, zero) in enumerate(zip(np.ldexp(scales, exponent), zeros, strict=True)):
        stored = np.clip(np.rint(scaled / scale), storage.low - zero, storage.high - zero)
        error = np.rint(scaled - stored * scale).astype(np.int64)
        square = error * error
        highs, lows = (square >> _UNIT_BITS).sum(axis=0), (square & ((1 << _UNIT_BITS) - 1)).sum(axis=0)
        total = (int(numbers @ highs) << _UNIT_BITS) + int(numbers @ lows)
        if best is None or total < best[0]:
            best = total, k
    assert best is not None
    return float(low * factors[best[1]]) + 0.0, float(high * factors[best[1]]) + 0.0
