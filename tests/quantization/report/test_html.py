"""Reports as pages. Hazards: a name that becomes markup, an element that is not closed, a request, bytes that depend on
more than the report, a page too large to open, a figure that is left out."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from qrt.quantization.report import OutputReport, Report
from qrt.quantization.report.read_json import read_json
from tests.quantization.report.drawn import network

VOID = {"meta", "input"}
HOSTILE = "</style></p><script>alert(1)</script>&amp;\"'\x00\x1b\ud800<!-- ]]>"
LINES = "</text></svg><img src=x onerror=alert(2)>"


class Tree(HTMLParser):
    """The elements with their attributes and depths, and the text. Raises where an element is not closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[int, str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.elements.append((len(self.open), tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID or "svg" in self.open  # of HTML's own elements no other may end so
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def walked(element: ElementTree.Element, depth: int = 0) -> Iterator[tuple[int, str, dict[str, str]]]:
    yield depth, element.tag.lower(), {name.lower(): value for name, value in element.attrib.items()}
    for child in element:
        yield from walked(child, depth + 1)


def hostile() -> Report:
    """Every text is hostile."""
    report = network(2)
    port = replace(report.regions[0].ports[0], name=HOSTILE, spec=LINES, origin=HOSTILE)
    region = replace(report.regions[0], key=HOSTILE, kernel=LINES, place=HOSTILE, ports=(port,))
    return Report(
        HOSTILE, LINES, 1, (OutputReport(HOSTILE, 1.0, None),), (region,),
        (replace(report.rescales[0], place=HOSTILE, source=LINES, target=HOSTILE, cause=LINES),),
        (replace(report.floats[0], name=HOSTILE, place=LINES, reason=HOSTILE),), (LINES,),
    )  # fmt: skip


EMPTY = Report("main", "qrt-cpu", 0, (), (), (), ())


@pytest.mark.parametrize("report", [network(), hostile(), EMPTY], ids=["drawn", "hostile", "empty"])
class TestPage:
    def test_it_is_well_formed_for_html_and_for_xml(self, report: Report) -> None:
        page = report.html()
        assert page.startswith("<!DOCTYPE html>\n")
        assert Tree(page).elements == list(walked(ElementTree.fromstring(page)))

    def test_it_names_no_other_file_and_has_no_script(self, report: Report) -> None:
        elements = Tree(report.html()).elements
        assert {name for _, name, _ in elements} <= {
            "html", "head", "meta", "title", "style", "body", "div", "h1", "h2", "p", "b", "i", "code", "span", "form",
            "label", "input", "details", "summary", "figure", "figcaption", "svg", "path", "text", "ul", "li",
        }  # fmt: skip
        assert {attribute for _, _, attributes in elements for attribute in attributes} <= {
            "lang", "charset", "http-equiv", "content", "name", "class", "style", "type", "checked", "open", "viewbox",
            "aria-hidden", "d", "x", "y",
        }  # fmt: skip
        page = report.html()
        assert not re.search(r"://|url\(|@import", page)
        assert page.count("Content-Security-Policy") == 1
        assert "content=\"default-src 'none'; style-src 'unsafe-inline'\"" in page

    def test_the_same_report_gives_the_same_bytes(self, report: Report) -> None:
        assert read_json(report.json()).html() == report.html()

    def test_a_notebook_shows_the_same(self, report: Report) -> None:
        shown = report._repr_html_()
        assert f"<body>{shown}</body>" in report.html()
        assert Tree(shown).elements[0] == (0, "div", {"class": "qrt"})


def test_hostile_names_are_shown_as_they_are() -> None:
    text = Tree(hostile().html()).text
    shown = HOSTILE.encode("unicode_escape").decode()
    assert text.count(shown) == 11
    assert text.count(LINES) == 8


def test_regions_stand_in_the_order_of_the_report() -> None:
    report = network()
    keys = re.findall(r'<span class="key">(main/[^<]*)<', report.html())
    assert keys == [region.key for region in report.regions]


def test_styles_sort_the_regions() -> None:
    report = network()
    styles = re.findall(r'<details class="region" style="([^"]*)"', report.html())
    places = [dict(part.split(":") for part in style.rstrip(";").split(";")) for style in styles]

    def keys(name: str) -> list[str]:
        order = sorted(range(len(places)), key=lambda index: int(places[index][f"--{name}"]))
        return [report.regions[index].key for index in order]

    assert keys("snr") == [each.key for each in sorted(report.regions, key=lambda each: each.snr)]
    assert keys("alone") == [each.key for each in sorted(report.regions, key=lambda each: each.snr_alone)]
    assert keys("alone") != keys("snr") != list(report)
    assert keys("name") == sorted(report)
    assert keys("bytes") == keys("saturated") == list(report)  # of equals the worst first
    for name in places[0]:
        assert f".by-{name[2:]}:checked) .region {{ --by: var({name}); }}" in report.html()


def test_figures_and_reasons_are_shown() -> None:
    report = network()
    text = " ".join(Tree(report.html()).text.split())
    for said in (
        "256 rows measured, 7 regions, 1 rescale, 1 operation left float",
        "41.2 dB logits, 99.6% same answers",
        "from records main/x (mse)",
        "4,294,967,296 codes",
        report.rescales[0].cause,
        report.floats[0].reason,
        "no values were counted",
        "41.5% of them beyond the widest range",
    ):
        assert said in text
    assert "The program has no region." in EMPTY.html()
    assert "Nothing stays float." in EMPTY.html()


def test_a_program_of_300_regions_is_below_2_megabytes() -> None:
    """By a fifth of it."""
    page = network(60).html()
    assert page.count('class="region"') == 61
    assert page.count("<svg") == 241
    assert len(page.encode()) < 2_000_000 / 5
