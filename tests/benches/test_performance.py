"""The page that compares qrt with other runtimes: what its columns say of the harness's lines."""

import argparse
import ctypes
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benches import performance, performance_page
from benches.peers.runtimes.meters import load_peaks

ROWS = [
    {"peer": "litert", "ok": True, "median_us": 2.0, "gops": 0.064},
    {"peer": "broken", "ok": False, "maxdiff": 7, "median_us": 1.0},
    {"peer": "absent", "absent": True},
    {"peer": "slow", "ok": True, "dropped": "dropped: its first calls took 70 times those of qrt_float32"},
    {"peer": "qrt_float32", "ok": True, "median_us": 1.0, "gops": 0.128},
    {"peer": "qrt_fixed", "ok": True, "median_us": 1.5, "gops": 0.085},
    {"peer": "meter_peak", "ok": True, "median_us": 0.25, "gops": 0.512},
]


LEFT_OUT = {"case": "gemm_127x129x65", "threads": 1, "left_out": True}
OPTIONS = argparse.Namespace(case="*", rounds=11)


@pytest.fixture
def part() -> str:
    results = performance.collected([*({"case": "gemm_4x4x4", **row} for row in ROWS), LEFT_OUT], 1)
    return "\n".join(performance.part({1: results}, "A CPU, avx2", OPTIONS))


def test_a_line_has_ratio_and_share(part: str):
    assert "| gemm_4x4x4 | 1.00 | 1.50 | litert | 2.00 | 0.50 | 25% |" in part


def test_what_has_no_time_is_named_with_the_reason(part: str):
    assert "- broken: gemm_4x4x4 (off by up to 7)" in part
    assert "- slow: gemm_4x4x4 (dropped: its first calls took 70 times those of qrt_float32)" in part
    assert "No time was left for gemm_127x129x65 on 1 thread." in part
    assert "| gemm_127x129x65 |" not in part


def test_a_run_rewrites_its_part_of_the_section_of_its_machine_alone():
    """Hazard: a run that removes what another machine, or the other command, has measured."""
    page = performance_page.with_part("", "A CPU, avx2", "aa11", "Models", ["of models"])
    page = performance_page.with_part(page, "Another, amx", "bb22", "Models", ["of another"])
    page = performance_page.with_part(page, "A CPU, avx2", "aa11", "Operations", ["#### 1 thread", "", "old"])
    page = performance_page.with_part(page, "A CPU, avx2", "aa11", "Operations", ["#### 1 thread", "", "new"])
    assert page.startswith(performance_page.PREAMBLE)
    one, two = performance_page.sections(page)
    assert (performance_page.commit_of(one), performance_page.commit_of(two)) == ("aa11", "bb22")
    assert performance_page.parts(one) == {"Operations": "#### 1 thread\n\nnew", "Models": "of models"}
    assert performance_page.parts(two) == {"Models": "of another"}


def test_a_section_is_of_one_commit():
    """Hazard: figures of an older commit beside those of a newer one."""
    page = performance_page.with_part("", "A CPU, avx2", "aa11", "Models", ["of models"])
    page = performance_page.with_part(page, "A CPU, avx2", "cc33", "Operations", ["of operations"])
    (section,) = performance_page.sections(page)
    assert performance_page.commit_of(section) == "cc33"
    assert performance_page.parts(section) == {"Operations": "of operations"}


def test_every_section_of_the_page_names_its_commit_and_its_parts():
    page = performance_page.PAGE.read_text()
    sections = performance_page.sections(page)
    titles = [section.partition("\n")[0] for section in sections]
    assert len({*titles}) == len(titles) > 0
    for title, section in zip(titles, sections, strict=True):
        parts = performance_page.parts(section)
        assert set() < set(parts) <= set(performance_page.PARTS), title
        part, text = list(parts.items())[-1]
        machine, commit = title.removeprefix("## "), performance_page.commit_of(section)
        assert performance_page.with_part(page, machine, commit, part, text.split("\n")) == page


def test_machines_of_one_isa_have_plots_of_their_own():
    """Hazard: a run on one machine that overwrites the plot of another."""
    names = {performance.plot_name(f"{machine}, avx2") for machine in ("A CPU", "A CPU @ 2.50GHz", "Another(R)")}
    assert names == {"a-cpu-avx2", "a-cpu-2-50ghz-avx2", "another-avx2"}


def test_a_plot_shows_every_ratio_of_its_table():
    """Hazard: a plot of an earlier run beside the table of this one."""
    shown = 0
    for section in performance_page.sections(performance_page.PAGE.read_text()):
        operations = performance_page.parts(section).get("Operations")
        if operations is None:
            continue
        ratios = performance.ratios_of(operations)
        name = performance.plot_name(section.partition("\n")[0].removeprefix("## "))
        plot = (performance.DOCS / f"performance-{name}.svg").read_text()
        bars = re.findall(r'<g id="(\w[\w-]*_[\w-]*)">\s*<path d="M \S+ (\S+) \nL \S+ \S+ \nL \S+ (\S+) ', plot)
        heights = {case: float(low) - float(high) for case, low, high in bars}
        assert heights.keys() >= ratios.keys()
        scale = max(heights[case] for case in ratios) / max(ratios.values())
        assert {case: round(heights[case] / scale, 2) for case in ratios} == ratios
        shown += len(ratios)
    assert shown > 30


def test_the_peak_of_tiles_on_any_count_of_threads(tmp_path: Path):
    """On emulated tiles, whose state is each thread's own: one that was not configured ends the process."""
    peak = load_peaks(tmp_path, "-DQRT_EMULATE").peak_amx
    peak.argtypes, peak.restype = [ctypes.c_int64], ctypes.c_int64
    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(peak, [1, 2, 3])) == [n * 4 * 16 * 16 * 64 for n in (1, 2, 3)]


def test_intensity_counts_each_byte_once():
    assert performance.intensity("gemm_2x3x5", 60) == 60 / (6 + 15 + 10)
    assert performance.intensity("conv_3x3s2_4x4x2-8", 100) == 100 / (32 + 4 * 8 + 9 * 8 * 2)
    assert performance.intensity("conv_dw3x3_4x4x2", 100) == 100 / (32 + 32 + 9 * 2)
