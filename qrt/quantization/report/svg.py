"""The histogram of a port as SVG, with the range and the integers (codes) of the port's type.

The axis is the base-2 logarithm of magnitudes, so all octaves have one width. Negative values are on the left, and
positive values on the right. A bar between them has the zeros, and values that are too near to 0 for the axis. The
height of a bar is the share of values in it. A bar contains whole bins, which are the values with equal bfloat16 bits,
128 for each octave. A bar of 0 that is higher than all others is cut off.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape
from math import frexp, isfinite, ldexp
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.numerics.transcendental.correctly_rounded import bind
from qrt.quantization.report.figures import visible
from qrt.quantization.report.model import PortReport

_EMPTY = ("input", "meta", "path")
"""Elements without contents."""


class Markup(str):
    """Text that is markup already, and is not escaped again."""

    __slots__ = ()


def element(name: str, /, *inside: str, **attributes: str) -> Markup:
    """Return an XML element with its contents. Text that is not Markup is escaped.

    In attribute names, a trailing underscore is dropped, because ``class`` must be written ``class_`` in Python. Any
    other underscore becomes a hyphen.

    >>> element("p", "a<b", element("b", "!"), class_="x")
    '<p class="x">a&lt;b<b>!</b></p>'
    """
    written = "".join(f' {key.rstrip("_").replace("_", "-")}="{_escaped(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{written}>{joined(*inside)}</{name}>" if name not in _EMPTY else f"<{name}{written}/>")


def joined(*inside: str) -> Markup:
    """Concatenate markup and text; the text is escaped."""
    return Markup("".join(part if isinstance(part, Markup) else _escaped(part) for part in inside))


def _escaped(text: str) -> str:
    return escape(visible(text))


WIDTH, HEIGHT = 264, 88
_TOP, _BASE = 4, 68
_MARKS = 71, 77
"""The vertical positions where the marks of codes begin and end."""
_LABELS = 86
_MARGIN = 4
_MIDDLE = 12
"""The width of the bar of 0."""
_MOST_OCTAVES = 48
_SHARE_ON_AXIS = 0.99
"""The share of the values that the axis includes, if there are enough octaves."""
_BARS = ((32, 4), (16, 5), (8, 6), (0, 7))
"""Pairs of an octave's least width, and the number of low bits of a bin that bars then ignore."""
_LEAST_GAP = 2.0
"""Marks closer than this are drawn as a band."""
_LABEL_GAP = 30
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_ZERO_BAR = -1

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Histogram:
    """A histogram drawn as SVG, with its figures.

    ``count`` is the number of values. ``outside`` is the share of the values beyond the type's range, ``at_zero`` the
    share in the bar of 0, and ``highest`` the share in the highest other bar.
    """

    picture: Markup
    count: int
    outside: float
    at_zero: float
    highest: float


@dataclass(frozen=True)
class Axis:
    """The horizontal axis of a histogram: octaves of magnitudes on both sides of 0.

    The magnitudes of negative values, on the left, go from 2^least to 2^negative. Those of positive values go from
    2^least to 2^positive. A side without values has no octaves.
    """

    least: int
    negative: int
    positive: int

    @cached_property
    def octave(self) -> float:
        """The width of an octave on the page."""
        return (WIDTH - 2 * _MARGIN - _MIDDLE) / (self.negative - self.least + self.positive - self.least)

    @cached_property
    def middle(self) -> float:
        """The horizontal position of 0."""
        return _MARGIN + (self.negative - self.least) * self.octave + _MIDDLE / 2

    def place(self, value: float) -> float:
        """Return the horizontal position of a value; values beyond the axis are placed at its end.

        The value is first rounded down to eight significant bits.
        """
        if abs(value) < 2.0**self.least:
            return self.middle
        most, sign = (self.positive, 1) if value > 0 else (self.negative, -1)
        return self.middle + sign * (_MIDDLE / 2 + (min(log2(abs(value)), most) - self.least) * self.octave)

    def bar(self, cell: int, shift: int) -> tuple[int, int]:
        """Return the left and right end of a bar on the page.

        ``cell`` tells which bar: ``_ZERO_BAR`` is the bar of 0, and any other bar contains the bfloat16 numbers with
        ``bits >> shift == cell``.
        """
        if cell == _ZERO_BAR:
            return round(self.middle - _MIDDLE / 2), round(self.middle + _MIDDLE / 2)
        first = cell << shift & 0x7FFF
        sign = -1 if cell << shift >> 15 else 1
        left, right = sorted(self.place(sign * _magnitude(bits)) for bits in (first, first + (1 << shift)))
        return round(left), round(right)


@cache
def _logarithms() -> list[float]:
    """Return log2(1 + i/128) for i = 0..127, computed without the platform's function, whose last bit varies."""
    logarithms: list[float] = bind("math.log2", "f64")(1 + np.arange(128) / 128).tolist()
    return logarithms


def log2(value: float) -> float:
    """Return the base-2 logarithm of a positive number, after rounding the number down to eight significant bits.

    >>> log2(4.0), log2(0.375)
    (2.0, -1.415037499278844)
    """
    fraction, exponent = frexp(value)
    return exponent - 1 + _logarithms()[int((2 * fraction - 1) * 128)]


def _magnitude(bits: int) -> float:
    """Return the magnitude of the bfloat16 with these lower 15 bits; infinity counts as the next power of two."""
    exponent, fraction = bits >> 7, bits & 0x7F
    return ldexp(fraction | (exponent > 0) << 7, max(exponent, 1) - 134)


def _values(bits: Array) -> Array:
    """Return for each bin, given as bfloat16 bits, the value nearest to 0."""
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def histogram(port: PortReport) -> Histogram:
    """Draw the histogram of a port as bars over an axis, with a mark for each integer (code) of the port's type.

    Shaded areas contain the values that are clipped, and those that become 0.
    """
    bits = np.array(sorted(port.histogram), np.int64)
    counts = np.array([port.histogram[bin_bits] for bin_bits in bits.tolist()], np.int64)
    axis = _axis(port, bits, counts)
    values = _values(bits)
    beyond = (values < port.low) | (values > port.high) if has_range(port) else np.zeros(bits.shape, bool)
    shift = next(shift for width, shift in _BARS if axis.octave >= width)
    cells = np.where(np.abs(values) < 2.0**axis.least, _ZERO_BAR, bits >> shift)
    every, inside = _sums(cells, counts), _sums(cells[~beyond], counts[~beyond])
    clipped = {cell: count for cell, count in every.items() if count != inside.get(cell)}
    at_zero, total = every.get(_ZERO_BAR, 0), max(1, int(counts.sum()))
    highest = max((count for cell, count in every.items() if cell != _ZERO_BAR), default=0)
    picture = element(
        "svg",
        *_shades(port, axis),
        *_bars("clipped", axis, shift, clipped, highest or at_zero),
        *_bars("bar", axis, shift, inside, highest or at_zero),
        *_cut(axis, highest, at_zero),
        *_codes(port, axis),
        *_labels(axis),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        aria_hidden="true",
    )
    return Histogram(picture, int(counts.sum()), int(counts[beyond].sum()) / total, at_zero / total, highest / total)


def _bars(kind: str, axis: Axis, shift: int, cells: dict[int, int], highest: int) -> Iterator[Markup]:
    if cells:
        bars = [(*axis.bar(cell, shift), min(1.0, count / highest)) for cell, count in cells.items()]
        yield element("path", d=_outline(bars), class_=kind)


def _cut(axis: Axis, highest: int, at_zero: int) -> Iterator[Markup]:
    """Draw a gap in the bar of 0 if the bar is cut off because it is higher than all others."""
    if at_zero > highest > 0:
        left, right = axis.bar(_ZERO_BAR, 0)
        yield element("path", d=f"M{left} {_TOP + 7}L{right} {_TOP + 4}v3L{left} {_TOP + 10}z", class_="cut")


def has_range(port: PortReport) -> bool:
    """Return True if the type of a port has codes in a finite range."""
    return port.codes > 0 and isfinite(port.low) and isfinite(port.high)


def _sums(cells: Array, counts: Array) -> dict[int, int]:
    names, places = np.unique(cells, return_inverse=True)
    sums = np.zeros(names.shape, np.int64)
    np.add.at(sums, places, counts)
    return {int(name): int(total) for name, total in zip(names, sums, strict=True)}


def _axis(port: PortReport, bits: Array, counts: Array) -> Axis:
    """Return the axis of a port's histogram: from half the scale to the greatest magnitude of a value or code.

    It begins below half the scale if it would otherwise leave out more than a small share of the values.
    """
    octaves = ((bits & 0x7FFF) >> 7) - 127
    used = (bits & 0x7FFF) > 0
    tops: list[int | None] = []
    for sign, end in ((1, -port.low), (0, port.high)):
        seen = (octaves[used & (bits >> 15 == sign)] + 1).tolist()
        if has_range(port) and end > 0:
            fraction, exponent = frexp(end)
            seen.append(exponent - (fraction == 0.5))
        tops.append(max(seen, default=None))
    most = max([top for top in tops if top is not None], default=0)
    order = np.argsort(octaves[used], kind="stable")
    amounts = np.cumsum(counts[used][order])
    lowest = octaves[used][order][amounts > (1 - _SHARE_ON_AXIS) * amounts[-1:]][:1].tolist()
    if port.scale:
        lowest.append(frexp(port.scale / 2)[1] - 1)
    least = max(min([*lowest, most - 2]), most - _MOST_OCTAVES)
    negative, positive = (least if top is None else max(top, least) for top in tops)
    return Axis(least, negative, positive if positive > least or negative > least else most)


def _rectangle(kind: str, left: float, right: float, top: int, bottom: int) -> Markup:
    start, end = round(left), round(right)
    return element("path", d=f"M{start} {top}H{end}V{bottom}H{start}z", class_=kind) if start < end else Markup()


def _outline(bars: list[tuple[int, int, float]]) -> str:
    """Return the SVG path around bars `(left, right, height)`.

    Adjacent bars share an outline. A bar is at least one unit high.
    """
    parts: list[str] = []
    end = None
    for left, right, height in sorted(bars):
        if left != end:
            parts.append(("" if end is None else f"V{_BASE}") + f"M{left} {_BASE}")
        parts.append(f"V{_BASE - max(1, round(height * (_BASE - _TOP)))}H{right}")
        end = right
    return "".join([*parts, f"V{_BASE}"])


def _shades(port: PortReport, axis: Axis) -> Iterator[Markup]:
    """Draw the areas of values beyond the type's range, and of values that are quantized to 0."""
    if not has_range(port):
        return
    ends = (axis.place(port.low), axis.place(port.high))
    yield _rectangle("beyond", _MARGIN, ends[0] - _MIDDLE / 2 * (port.low == 0), _TOP, _BASE)
    yield _rectangle("beyond", ends[1] + _MIDDLE / 2 * (port.high == 0), WIDTH - _MARGIN, _TOP, _BASE)
    half = port.scale / 2
    if half and port.low <= 0 <= port.high:
        yield _rectangle("zero", axis.place(max(-half, port.low)), axis.place(min(half, port.high)), _TOP, _BASE)


def _codes(port: PortReport, axis: Axis) -> Iterator[Markup]:
    """Draw a mark for each code of the type, or a band where marks are too close to each other."""
    if not has_range(port) or not port.scale or not port.low <= 0 <= port.high:
        return
    marks = {round(axis.middle)}
    for end in (port.low, port.high):
        step, count, last = port.scale if end > 0 else -port.scale, round(abs(end) / port.scale), None
        for index in range(1, count + 1):
            place = axis.place(index * step)
            if last is not None and abs(place - last) < _LEAST_GAP:
                left, right = sorted((last, axis.place(end)))
                yield _rectangle("code", left, right, *_MARKS)
                break
            marks.add(round(place))
            last = place
    lines = "".join(f"M{mark} {_MARKS[0]}V{_MARKS[1]}" for mark in sorted(marks))
    yield element("path", d=lines, class_="mark")


def _labels(axis: Axis) -> Iterator[Markup]:
    """Draw the axis, with labels for 0 and for some powers of two."""
    yield element("path", d=f"M{_MARGIN} {_BASE}H{WIDTH - _MARGIN}v1H{_MARGIN}z", class_="axis")
    yield element("text", "0", x=str(round(axis.middle)), y=str(_LABELS))
    every = next((step for step in (1, 2, 4, 8) if step * axis.octave >= _LABEL_GAP), 16)
    for sign, top in ((-1, axis.negative), (1, axis.positive)):
        for exponent in range(axis.least, top + 1):
            place = axis.place(sign * 2.0**exponent)
            if exponent % every == 0 and abs(place - axis.middle) >= 20 and 14 <= place <= WIDTH - 14:
                power = "2" + str(exponent).translate(_SUPERSCRIPTS)
                yield element(
                    "text", power if sign > 0 else "\N{MINUS SIGN}" + power, x=str(round(place)), y=str(_LABELS)
                )
