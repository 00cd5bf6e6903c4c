"""The page in a browser. Hazards: a script error, a request, something that is cut or beyond the edge of a narrow
window, a worst region that does not stand first, rows that styles do not sort."""

from dataclasses import replace
from pathlib import Path

import pytest

from qrt.quantization.report import Report
from tests.quantization.report.browser import PROGRAM, Browser
from tests.quantization.report.drawn import network

LONG = "main/" + "a_name_without_a_place_to_break_it" * 8
OPEN = "document.querySelectorAll('details').forEach(each => each.open = true)"
CUT = """(edge => {
  const found = [];
  for (const each of document.documentElement.querySelectorAll('*')) {
    const box = each.getBoundingClientRect(), svg = each.ownerSVGElement, style = getComputedStyle(each);
    const outer = svg ? svg.getBoundingClientRect() : {left: 0, right: edge, top: 0, bottom: Infinity};
    const is_beyond = box.left < outer.left - 0.5 || box.right > outer.right + 0.5
      || box.top < outer.top - 0.5 || box.bottom > outer.bottom + 0.5;
    const is_cut = !svg && style.display != 'inline' && (each.scrollWidth > each.clientWidth + 0.5
      || style.overflowY != 'visible' && each.scrollHeight > each.clientHeight + 0.5);
    if (is_beyond || is_cut && each.clientWidth) found.push(each.tagName + '.' + each.getAttribute('class'));
  }
  return found;
})"""
ORDER = """[...document.querySelectorAll('.region')]
  .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
  .map(each => each.querySelector('.key').textContent)"""
LUMINANCE = (
    "getComputedStyle(document.querySelector('.qrt')).backgroundColor.match(/\\d+/g).reduce((a, b) => a + +b, 0)"
)
BROKEN = """<!DOCTYPE html><html><head><meta name="viewport" content="width=device-width"/></head>
<body><p style="width: 500px">a</p><img src="absent.png"/><script>absent()</script></body></html>"""


def page() -> Report:
    report = network(8)
    regions = list(report.regions)
    regions[1] = replace(regions[1], key=LONG, place=LONG, snr=3.0)
    return replace(report, regions=tuple(regions), unmatched=(LONG,))


def problems(browser: Browser) -> list[str]:
    """What a script, a policy or the network complained of, and what was asked for besides the page."""
    said = browser.said("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
    asked = [each["request"]["url"] for each in browser.said("Network.requestWillBeSent")]
    return [*map(str, said), *asked[1:]]


@pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium: apt-get install chromium")
def test_the_page_in_windows_of_1200_and_400_pixels(tmp_path: Path) -> None:
    report = page()
    path, broken = tmp_path / "report.html", tmp_path / "broken.html"
    path.write_text(report.html(), encoding="utf-8")
    broken.write_text(BROKEN)
    by_snr = sorted(report.regions, key=lambda each: each.snr)
    with Browser(tmp_path / "profile") as browser:
        browser.open(broken.as_uri(), 400)
        assert len(problems(browser)) >= 2  # the test can fail
        assert "P.null" in browser.evaluate(f"{CUT}(400)")
        for width, scheme in ((1200, "light"), (400, "dark")):
            browser.open(path.as_uri(), width, scheme)
            assert browser.evaluate("innerWidth") == width
            assert browser.evaluate("document.compatMode") == "CSS1Compat"
            assert (browser.evaluate(LUMINANCE) > 600) == (scheme == "light")
            assert browser.evaluate(f"{CUT}({width})") == []
            assert browser.evaluate(ORDER) == [each.key for each in report.regions]
            assert browser.evaluate("document.querySelector('.region').open")
            browser.evaluate(OPEN)
            assert browser.evaluate(f"{CUT}({width})") == []
            browser.evaluate("document.querySelector('.by-snr').click()")
            assert browser.evaluate(ORDER) == [each.key for each in by_snr]
            assert problems(browser) == []
