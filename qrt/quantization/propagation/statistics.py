"""Statistics of values that share a type (their range and calibration records), and the storage of the type."""

from dataclasses import dataclass, field
from fractions import Fraction

from qrt.quantization.calibration.records import Record
from qrt.types import UniformType

Span = tuple[float, float]
"""A range that includes 0."""


@dataclass(frozen=True)
class Storage:
    """The storage type of a class of nodes, by name, with its least and greatest integer."""

    name: str
    low: int
    high: int


@dataclass
class Statistics:
    """The range and the calibration records of values that share a type.

    ``span`` is the range of all values. ``bare`` is the range of those values that are in no histogram. ``records`` are
    the records with histograms, by key.
    """

    span: Span | None = None
    bare: Span | None = None
    records: dict[str, Record] = field(default_factory=dict)

    @classmethod
    def of_span(cls, span: Span) -> "Statistics":
        return cls(span, span)

    @classmethod
    def of_record(cls, key: str, record: Record) -> "Statistics":
        span = reaching_0(record.low, record.high)
        return cls(span, None, {key: record}) if record.histogram else cls(span, span)

    def add(self, other: "Statistics") -> "Statistics":
        """Return the union of ``self`` and ``other``. The larger dictionary of records is reused, and changed."""
        one, two = (self, other) if len(self.records) >= len(other.records) else (other, self)
        one.records.update(two.records)
        return Statistics(hull(self.span, other.span), hull(self.bare, other.bare), one.records)

    def copy(self) -> "Statistics":
        return Statistics(self.span, self.bare, dict(self.records))


def hull(one: Span | None, other: Span | None) -> Span | None:
    """Return the smallest range that includes both ranges; if one is None, the other."""
    if one is None or other is None:
        return other if one is None else one
    return min(one[0], other[0]), max(one[1], other[1])


def reaching_0(low: float, high: float) -> Span:
    return min(low, 0.0) + 0.0, max(high, 0.0) + 0.0


def width(span: Span) -> Fraction:
    return Fraction(span[1]) - Fraction(span[0])


def covered(spec: UniformType) -> Span:
    """Return the range from the least to the greatest value that a type represents, over all its scales."""
    low = (spec.storage_min - spec.zero_point_array) * spec.scale_array
    high = (spec.storage_max - spec.zero_point_array) * spec.scale_array
    return reaching_0(float(low.min()), float(high.max()))


def covers(spec: UniformType, span: Span) -> bool:
    """Return True if the range of a type, rounded to float64, includes a range."""
    low, high = covered(spec)
    return low <= span[0] and span[1] <= high
