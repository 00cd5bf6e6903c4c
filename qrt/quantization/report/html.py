"""A report as one HTML file without scripts or external resources. Its content security policy forbids any request."""

from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files

from qrt.errors import plural
from qrt.quantization.report.figures import decibels, number, ratio, share, specified, visible
from qrt.quantization.report.model import PortReport, RegionReport, ReportFigures
from qrt.quantization.report.svg import Markup, element, has_range, histogram, joined
from qrt.quantization.report.text import UNMATCHED, counted

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_FIGURES: tuple[tuple[str, Callable[[RegionReport], str]], ...] = (
    ("SNR, dB", lambda region: decibels(region.snr)),
    ("alone, dB", lambda region: decibels(region.snr_alone)),
    ("saturated", lambda region: share(region.saturated)),
    ("unused codes", lambda region: f"{region.unused_codes:,}"),
    ("weights, bytes", lambda region: f"{region.weight_bytes:,}"),
)
_ORDERS: tuple[tuple[str, str, Callable[[RegionReport], tuple[float | str, ...]]], ...] = (
    ("snr", "SNR", lambda region: (region.snr,)),
    ("alone", "SNR alone", lambda region: (region.snr_alone,)),
    ("saturated", "saturated", lambda region: (-region.saturated,)),
    ("bytes", "bytes of weights", lambda region: (-region.weight_bytes,)),
    ("name", "name", lambda region: (region.key,)),
)
"""Sort orders besides the share of the error: a class name, a label, and a sort key."""

_MEANINGS = (
    ("share of error", "the squared error at the outputs that this region alone makes, as a share of their sum"),
    ("SNR", "the signal-to-noise ratio of its result in the quantized program"),
    ("alone", "the same when the region is fed the values of the float program"),
    ("saturated", "the share of its results that its type cannot hold"),
    ("unused codes", "the codes that none of its results has"),
)
_PICTURES = (
    "A picture counts the float values of a port. Its axis is the logarithm of magnitudes to base 2: negative values "
    "stand on the left, positive ones on the right, and between them a bar for 0 and for what is nearer to 0 than the "
    "axis reaches. A bar is as high as its share of the values, and at least one unit high; a bar of 0 that is higher "
    "than all others is cut off. Values are counted in bins of bfloat16: one in which the range ends is within it."
)
_SWATCHES = (
    ("bar", "values within the range"),
    ("clipped", "values beyond it"),
    ("beyond", "what is beyond the range"),
    ("zero", "what becomes 0"),
    ("code", "codes"),
)


def as_html(report: ReportFigures) -> str:
    """Return the report as a complete page.

    Parameters
    ----------
    report : ReportFigures
        The figures of the report.

    Returns
    -------
    str
        HTML that is also well-formed XML. Equal reports give equal bytes.
    """
    title = f"{visible(report.function)} on {visible(report.target)}"
    head = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        '<meta name="color-scheme" content="light dark"/>'
    )
    style = "<style>body { margin: 0; } @media (prefers-color-scheme: dark) { body { background: #12171e; } }</style>"
    return f"{head}{element('title', title)}{style}</head>\n<body>{as_fragment(report)}</body></html>\n"


def as_fragment(report: ReportFigures) -> Markup:
    """Return the report as an HTML element to embed in a notebook, not as a complete page."""
    return element(
        "div",
        element("style", Markup(_style())),
        *_head(report),
        *_regions(report),
        *_rescales(report),
        *_floats(report),
        *_unmatched(report),
        class_="qrt",
    )


@cache
def _style() -> str:
    orders = (f".qrt:has(.by-{name}:checked) .region {{ --by: var(--{name}); }}\n" for name, _, _ in _ORDERS)
    return "\n" + files("qrt.quantization.report").joinpath("style.css").read_text(encoding="utf-8") + "".join(orders)


def _head(report: ReportFigures) -> Iterator[Markup]:
    yield element("h1", f"{report.function} on {report.target}")
    yield element("p", counted(report), class_="soft")
    cards = []
    for output in report.outputs:
        same = "" if output.same_answers is None else f", {share(output.same_answers)} same answers"
        cards.append(element("div", element("b", ratio(output.snr)), f" {output.name}{same}"))
    yield element("div", *cards, class_="outputs")


def _regions(report: ReportFigures) -> Iterator[Markup]:
    yield element("h2", "Regions, the worst first")
    if not report.regions:
        yield element("p", "The program has no region.")
        return
    yield _explained()
    yield _choices()
    titles = [element("span", name, class_="n") for name in ("share of error", *(name for name, _ in _FIGURES))]
    places = _places(report)
    rows = [_region(region, places[index], is_open=not index) for index, region in enumerate(report.regions)]
    yield element("div", element("span", "region"), *titles, class_="titles")
    yield element("div", *rows, class_="regions")


def _explained() -> Markup:
    """Return the part of the page that explains the figures and the histograms."""
    swatches = (
        element("span", element("span", class_=f"swatch {kind}"), f" {text}", class_="sample")
        for kind, text in _SWATCHES
    )
    items = (element("li", element("b", name), f": {text}") for name, text in _MEANINGS)
    return element(
        "details",
        element("summary", element("span", "How to read this", class_="key")),
        element("ul", *items),
        element("p", _PICTURES),
        element("p", *swatches),
    )


def _choices() -> Markup:
    """Return the HTML form in which the reader chooses a sort order.

    CSS rules sort the rows, so the page needs no script.
    """
    chosen = [element("label", element("input", type="radio", name="order", checked="checked"), " share of error")]
    for name, text, _ in _ORDERS:
        chosen.append(element("label", element("input", type="radio", name="order", class_=f"by-{name}"), f" {text}"))
    return element("form", "sorted by", *chosen)


def _places(report: ReportFigures) -> list[str]:
    """Return the CSS style of each region, which holds the region's position in each sort order."""
    styles = [""] * len(report.regions)
    for name, _, first in _ORDERS:
        for place, index in enumerate(sorted(range(len(styles)), key=lambda index: first(report.regions[index]))):
            styles[index] += f"--{name}:{place};"
    return styles


def _region(region: RegionReport, style: str, *, is_open: bool) -> Markup:
    part = f"--part: {100 * max(0.0, min(1.0, region.error_share)):.1f}%"
    cells = [element("span", _label("share of error"), share(region.error_share), class_="n part", style=part)]
    cells += [element("span", _label(name), figure(region), class_="n") for name, figure in _FIGURES]
    summary = element("summary", element("span", region.key, class_="key"), *cells)
    where = element("p", region.kernel, " at ", element("code", region.place))
    inside = (summary, where, element("div", *map(_port, region.ports), class_="ports"))
    opened = {"open": "open"} if is_open else {}
    return element("details", *inside, class_="region", style=style, **opened)


def _label(name: str) -> Markup:
    return element("i", f"{name} ")


def _port(port: PortReport) -> Markup:
    drawn = histogram(port)
    title = element("p", element("b", f"{port.direction} {port.name}"), " ", element("code", specified(port.spec)))
    descriptions = [f"from {port.origin or 'unknown'}"]
    if port.codes:
        spaced = f", scale {number(port.scale)}" if port.scale else ""
        several = f", the greatest of {port.scales:,}" if port.scales > 1 else ""
        descriptions.append(f"{number(port.low)} to {number(port.high)}, {plural(port.codes, 'code')}{spaced}{several}")
    if drawn.count:
        beyond = (
            f", {share(drawn.outside)} of them beyond the {'widest ' * (port.scales > 1)}range"
            if has_range(port)
            else ""
        )
        descriptions.append(f"{plural(drawn.count, 'value')}{beyond}")
        descriptions.append(f"the bar of 0 has {share(drawn.at_zero)}, the highest other one {share(drawn.highest)}")
    else:
        descriptions.append("no values were counted")
    lines = (element("p", line, class_="soft") for line in descriptions)
    return element("figure", drawn.picture, element("figcaption", title, *lines))


def _rescales(report: ReportFigures) -> Iterator[Markup]:
    yield element("h2", "Rescales, and what causes them")
    yield _list(
        "No value changes its type between two kernels.",
        [
            (
                rescale.place,
                joined(element("code", specified(rescale.source)), " to ", element("code", specified(rescale.target))),
                rescale.cause,
            )
            for rescale in report.rescales
        ],
    )


def _floats(report: ReportFigures) -> Iterator[Markup]:
    yield element("h2", "What stays float, and why")
    yield _list(
        "Nothing stays float.",
        [(operation.place, element("code", operation.name), operation.reason) for operation in report.floats],
    )


def _unmatched(report: ReportFigures) -> Iterator[Markup]:
    if report.unmatched:
        yield element("h2", UNMATCHED)
        yield element("ul", *(element("li", key) for key in report.unmatched))


def _list(nothing: str, items: list[tuple[str, Markup, str]]) -> Markup:
    if not items:
        return element("p", nothing)
    return element(
        "ul", *(element("li", f"{place}: ", what, element("p", why, class_="soft")) for place, what, why in items)
    )
