"""A report as text for a terminal."""

from collections.abc import Callable, Iterator
from textwrap import wrap

from qrt.errors import plural
from qrt.quantization.report.figures import amount, decibels, number, ratio, share, specified, visible
from qrt.quantization.report.model import PortReport, RegionReport, ReportFigures

_COLUMNS: tuple[tuple[str, Callable[[RegionReport], str]], ...] = (
    (" error", lambda region: share(region.error_share)),
    ("SNR dB", lambda region: decibels(region.snr)),
    ("alone", lambda region: decibels(region.snr_alone)),
    ("saturated", lambda region: share(region.saturated)),
    ("unused", lambda region: amount(region.unused_codes)),
    ("weights B", lambda region: amount(region.weight_bytes, 9)),
)
_LEAST = 72
"""The number of columns that the line of a region needs."""
UNMATCHED = "Regions of one program only: not measured, and in no share"
_CULPRIT = 0.2
"""The least share of the error for which a region is shown in red."""


def as_text(report: ReportFigures, width: int = 80, *, colour: bool = False, details: int = 3) -> str:
    """Return the report as text: a line for each region, largest error first, then the ports of the first regions.

    Parameters
    ----------
    report : ReportFigures
        The figures of the report.
    width : int, default 80
        The greatest number of columns of a line; less than 72 counts as 72.
    colour : bool, default False
        True makes titles bold and regions with a large error red, by terminal escapes.
    details : int, default 3
        The number of regions whose operands and results are listed.

    Returns
    -------
    str
        Lines that each end with a newline.
    """
    return "\n".join(_lines(report, max(width, _LEAST), _Paint(colour), details)) + "\n"


class _Paint:
    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def _painted(self, code: int, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour else text

    def title(self, text: str) -> str:
        return self._painted(1, text)

    def culprit(self, text: str) -> str:
        return self._painted(31, text)


def _lines(report: ReportFigures, width: int, paint: _Paint, details: int) -> Iterator[str]:
    yield from map(paint.title, wrapped(f"{visible(report.function)} on {visible(report.target)}", width))
    yield from wrapped(f"  {counted(report)}", width, 4)
    for output in report.outputs:
        same = "" if output.same_answers is None else f", {share(output.same_answers)} same answers"
        yield from wrapped(f"  {visible(output.name)}: {ratio(output.snr)}{same}", width, 4)
    if report.regions:
        yield ""
        yield paint.title("  ".join([name for name, _ in _COLUMNS] + ["region"]))
    for region in report.regions:
        yield _row(region, width, paint)
    for region in report.regions[:details]:
        yield ""
        yield from map(paint.title, wrapped(f"{visible(region.key)}: {visible(region.kernel)}", width, 2))
        yield from wrapped(f"  at {visible(region.place)}", width, 4)
        for port in region.ports:
            yield from wrapped(f"  {port.direction} {visible(port.name)}: {visible(specified(port.spec))}", width, 4)
            yield from wrapped(f"    from {origin(port)}", width, 6)
    for title, items in _lists(report):
        yield ""
        yield paint.title(title)
        for item, reason in items:
            yield from wrapped(f"  {visible(item)}", width, 4)
            yield from wrapped(f"    {visible(reason)}", width, 4) if reason else ()


def _lists(report: ReportFigures) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    if report.rescales:
        rescales = [
            (f"{entry.place}: {specified(entry.source)} to {specified(entry.target)}", entry.cause)
            for entry in report.rescales
        ]
        yield "Rescales, and what causes them", rescales
    if report.floats:
        yield "What stays float, and why", [(f"{entry.place}: {entry.name}", entry.reason) for entry in report.floats]
    if report.unmatched:
        yield UNMATCHED, [(entry, "") for entry in report.unmatched]


def _row(region: RegionReport, width: int, paint: _Paint) -> str:
    figures = "  ".join(figure(region).rjust(len(name)) for name, figure in _COLUMNS)
    key, room = visible(region.key), width - len(figures) - 2
    row = f"{figures}  {key if len(key) <= room else '...' + key[3 - room :]}"
    return paint.culprit(row) if region.error_share >= _CULPRIT else row


def counted(report: ReportFigures) -> str:
    """Return the numbers of rows, regions, rescales and float operations as text."""
    counts = [
        plural(report.rows, "row") + " measured",
        plural(len(report.regions), "region"),
        plural(len(report.rescales), "rescale"),
        plural(len(report.floats), "operation") + " left float",
    ]
    if report.unmatched:
        counts.insert(2, f"{len(report.unmatched):,} not measured")
    if report.skipped:
        counts[0] += f", {plural(report.skipped, 'row')} left out"
    few = f", of which {report.sampled:,} for the share of error" if report.sampled else ""
    return f"{counts[0]}{few}, " + ", ".join(counts[1:])


def origin(port: PortReport) -> str:
    """Return a text with the origin of a port's type, the type's range, and its scale."""
    text = visible(port.origin) or "unknown"
    if port.codes:
        text += f"; {number(port.low)} to {number(port.high)}, {plural(port.codes, 'code')}"
    if port.scale:
        text += f", scale {number(port.scale)}" + (f", the greatest of {port.scales:,}" if port.scales > 1 else "")
    return text


def wrapped(text: str, width: int, indent: int = 0) -> list[str]:
    """Split a text into lines of a width, with lines after the first indented. A word longer than a line is split."""
    lead = text[: len(text) - len(text.lstrip())]
    return wrap(text.strip(), width, initial_indent=lead, subsequent_indent=" " * indent, break_on_hyphens=False) or [
        lead.rstrip()
    ]
