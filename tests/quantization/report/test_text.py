"""Reports for a terminal. Hazards: a line that is wider than it, a name whose characters it obeys, a culprit that does
not stand first, a reason that is left out."""

import re
from dataclasses import replace
from math import inf

import pytest

from qrt.quantization.report import Report
from qrt.quantization.report.steps import PlanReport, StepReport, steps_text
from qrt.quantization.report.text import as_text
from tests.quantization.report.drawn import network, region

HOSTILE = "main/\x1b[31m\u202e\n" + "a_long_name" * 20


def hostile() -> Report:
    report = network(3)
    first = replace(report.regions[0], key=HOSTILE, kernel=HOSTILE, place=HOSTILE, unused_codes=2**32)
    first = replace(first, ports=(replace(first.ports[0], name=HOSTILE, spec=HOSTILE, origin=HOSTILE),))
    rescale = replace(report.rescales[0], place=HOSTILE, cause="because " * 60)
    return replace(
        report, function=HOSTILE, regions=(first, *report.regions[1:]), rescales=(rescale,), unmatched=("k",)
    )


@pytest.mark.parametrize("report", [network(), hostile(), replace(network(), regions=())], ids=["drawn", "hostile", ""])
@pytest.mark.parametrize("width", [72, 80, 200])
def test_no_line_is_wider(report: Report, width: int) -> None:
    lines = as_text(report, width).splitlines()
    assert max(map(len, lines)) <= width
    assert all(line.isprintable() for line in lines)
    assert not any(line.endswith(" ") for line in lines)


def test_each_region_has_a_line_and_the_worst_is_the_first() -> None:
    report = network(40)
    text = as_text(report, details=1)
    rows = [line.split()[-1] for line in text.split("\n\n")[1].splitlines()[1:]]
    assert rows == [each.key for each in report.regions]
    assert text.split("\n\n")[2].startswith(f"{report.regions[0].key}: conv2d\n  at network.mlir:12\n")


def test_figures_stand_below_their_names() -> None:
    one = region("main/a.0", (), 0.25, snr=31.26, snr_alone=7.0, saturated=0.5, unused_codes=3, weight_bytes=12345)
    text = replace(network(1), regions=(one,)).text()
    titles, row = text.split("\n\n")[1].splitlines()
    ends = [found.end() for found in re.finditer(r"(error|SNR dB|alone|saturated|unused|weights B)", titles)]
    starts = [0, *ends]
    cells = [row[start:end].strip() for start, end in zip(starts, [*ends, None], strict=True)]
    assert cells == ["25.0%", "31.3", "7.0", "50.0%", "3", "12,345", "main/a.0"]


def test_reasons_are_said_whole() -> None:
    words = " ".join(hostile().text().split())
    assert ("because " * 60).strip() in words
    assert "network.mlir:20: math.exp the target qrt-cpu has no kernel for it" in words
    assert "4 regions, 1 not measured, 1 rescale" in words
    assert "one program only: not measured, and in no share k" in words
    said = " ".join(replace(network(), skipped=3).text().split())
    assert "256 rows measured, 3 rows left out, 7 regions" in said
    said = " ".join(replace(network(), sampled=64).text().split())
    assert "256 rows measured, of which 64 for the share of error, 7 regions, 1 rescale, 1 operation left float" in said


def test_colours_are_shown_where_asked_and_change_no_word() -> None:
    report = network()
    plain, coloured = as_text(report), as_text(report, colour=True)
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain
    red = [line for line in coloured.splitlines() if line.startswith("\x1b[31m")]
    assert ["conv2d.0" in red[0], "conv2d.1" in red[1], len(red)] == [True, True, 2]


def test_the_first_line_is_not_cut() -> None:
    assert network().text().splitlines()[0] == "main on qrt-cpu"


def test_print_shows_the_text_and_repr_one_short_line() -> None:
    """However many values a histogram has, and however many channels a type."""
    report = network(200)
    assert str(report) == report.text()
    assert len(repr(report)) < 200
    assert repr(report).startswith("<Report of main on ")
    scales = ",".join(["0.5"] * 4000)
    ports = tuple(replace(port, spec=f"!quant.uniform<i8:f32:1, {{{scales}}}>") for port in report.regions[0].ports)
    for shown in (report.regions[0], replace(report.regions[0], ports=ports), *ports):
        assert len(repr(shown)) < 200
        assert "\n" not in repr(shown)
    assert len(repr(dict(report))) < 200 * 200


def test_hostile_names_are_shown_in_repr_too() -> None:
    for shown in (hostile(), *hostile().regions):
        assert "\x1b" not in repr(shown)
        assert "\n" not in repr(shown)


def test_a_plan_is_shown_as_its_text() -> None:
    step = StepReport(0, "qrt.add", "fixed", (), "kernel", "add ref", "f:1", "y", 1e-6, 1.0, 12)
    plan = PlanReport("main", "ref", 1, 64, 64, 0, (step,) * 300)
    assert str(plan) == steps_text(plan)
    assert repr(plan) == "<PlanReport of main on ref: 300 steps>"


def test_a_port_of_floats_has_no_range() -> None:
    report = network(1)
    port = replace(report.regions[0].ports[0], spec="f32", origin="float", low=-inf, high=inf, codes=0, scale=0.0)
    text = replace(report, regions=(replace(report.regions[0], ports=(port,)),)).text()
    assert f"input {port.name}: f32\n    from float\n" in text
