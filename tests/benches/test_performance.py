"""The page that compares qrt with other runtimes: what its columns say of the harness's lines."""

import ctypes
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benches import performance
from benches.peers.runtimes.meters import load_peaks

ROWS = [
    {"peer": "litert", "ok": True, "median_us": 2.0, "gops": 0.064},
    {"peer": "broken", "ok": False, "maxdiff": 7, "median_us": 1.0},
    {"peer": "absent", "absent": True},
    {"peer": "qrt_float32", "ok": True, "median_us": 1.0, "gops": 0.128},
    {"peer": "qrt_fixed", "ok": True, "median_us": 1.5, "gops": 0.085},
    {"peer": "meter_peak", "ok": True, "median_us": 0.25, "gops": 0.512},
]


@pytest.fixture
def section() -> str:
    results = performance.collected([{"case": "gemm_4x4x4", **row} for row in ROWS], 1)
    return performance.section({1: results}, "avx2")


def test_a_line_has_ratio_and_share(section: str):
    assert "| gemm_4x4x4 | 1.00 | 1.50 | litert | 2.00 | 0.50 | 25% |" in section


def test_a_wrong_result_is_named_and_has_no_time(section: str):
    assert "- broken: gemm_4x4x4 (off by up to 7)" in section


def test_a_run_rewrites_the_section_of_its_machine_and_isa_alone(section: str):
    """Hazard: a run on one machine that throws away what another has measured."""
    one, two = "## A CPU, avx2\n\nold\n\n### 1 thread\n", "## Another, amx\n\nkept\n"
    page = performance.page(performance.page("", one), two)
    new = one.replace("old", "new")
    assert performance.page(page, new) == page.replace("old", "new")
    assert performance.page(page, section) == f"{page}\n{section}"
    assert performance.page(page, section).startswith(performance.PREAMBLE)


def test_sections_of_the_page_name_their_processors():
    page = (performance.DOCS / "performance.md").read_text()
    titles = [line for line in page.splitlines() if line.startswith("## ")]
    assert {line.rsplit(", ", 1)[1] for line in titles} >= {"avx512vnni", "amx"}
    assert page == performance.page(page, page[page.index(titles[-1]) :])


def test_machines_of_one_isa_have_plots_of_their_own():
    """Hazard: a run on one machine that overwrites the plot of another."""
    names = {performance.plot_name(f"## {machine}, avx2") for machine in ("A CPU", "A CPU @ 2.50GHz", "Another(R)")}
    assert names == {"a-cpu-avx2", "a-cpu-2-50ghz-avx2", "another-avx2"}


def test_a_plot_shows_every_ratio_of_its_table():
    """Hazard: a plot of an earlier run beside the table of this one."""
    _, *sections = re.split(r"^(?=## )", (performance.DOCS / "performance.md").read_text(), flags=re.MULTILINE)
    ratios = performance.ratios_of(sections[0])
    assert len(ratios) > 30
    plot = (performance.DOCS / "performance-intel-xeon-processor-2-50ghz-avx512vnni.svg").read_text()
    bars = re.findall(r'<g id="(\w[\w-]*_[\w-]*)">\s*<path d="M \S+ (\S+) \nL \S+ \S+ \nL \S+ (\S+) ', plot)
    heights = {case: float(low) - float(high) for case, low, high in bars}
    assert heights.keys() >= ratios.keys()
    scale = max(heights[case] for case in ratios) / max(ratios.values())
    assert {case: round(heights[case] / scale, 2) for case in ratios} == ratios


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
