"""Writes docs/performance.md: qrt beside other CPU runtimes, case by case, in one interleaved run.

    python -m benches.performance [--case 'gemm*'] [--rounds 11] [--threads 1 2]
    python -m benches.performance --draw

``benches.peers`` times every runtime that is installed, one process per library, its samples interleaved. This file
renders what comes back as a table, a plot of the ratios and a roofline. Only ratios within one run say anything: a
machine's absolute times drift. With ``--draw`` nothing is timed, and the plots of ratios are drawn from the tables that
stand in the page.
"""

import argparse
import fnmatch
import json
import platform
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

from benches.peers.cases import cases
from benches.peers.driver import Options, run
from benches.peers.runtimes import PEERS
from qrt import kernels

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
RULES = ("qrt_float32", "qrt_fixed")
METERS = ("meter_peak", "meter_copy")
# Not in the race: sums without requantization; and calls that take seconds where the CPU has no AMX.
LEFT_OUT = ("torch_int_mm_raw", "torch_pt2e_s8", "ort_s8")
# Between samples on several threads: a runtime's idle workers look for work on the other processor for tens of ms.
SETTLE_MS = 80
LIBRARIES = ("torch", "onnxruntime", "openvino", "ai-edge-litert", "numpy")


@dataclass
class Result:
    """One case at one thread count: microseconds by peer, of those whose result passed the harness's check."""

    case: str
    threads: int
    times: dict[str, float] = field(default_factory=dict)
    work: dict[str, float] = field(default_factory=dict)  # "gops" or "gbps" of any peer times its microseconds
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def peers(self) -> dict[str, float]:
        return {name: time for name, time in self.times.items() if name not in RULES and name not in METERS}

    @property
    def best_peer(self) -> tuple[str, float] | None:
        return min(self.peers.items(), key=lambda item: item[1]) if self.peers else None

    @property
    def best_rule(self) -> float | None:
        return min((self.times[rule] for rule in RULES if rule in self.times), default=None)

    @property
    def ratio(self) -> float | None:
        """Of qrt's float32 rule, or the cast, to the best peer."""
        own, best = self.times.get("qrt_float32"), self.best_peer
        return own / best[1] if own and best else None

    @property
    def share(self) -> float | None:
        """Of the meter of the same run: multiply-adds on registers alone, or a copy of the same bytes."""
        meter = next((self.times[name] for name in METERS if name in self.times), None)
        own = self.times.get("qrt_float32")
        return meter / own if own and meter else None


def measure(options: argparse.Namespace, threads: int) -> list[Result]:
    names = [name for name in PEERS if name not in LEFT_OUT]
    chosen = [case for case in cases() if fnmatch.fnmatch(case.name, options.case)]
    how = Options(threads, options.rounds, settle_ms=SETTLE_MS if threads > 1 else 0)
    rows = []
    for row in run(chosen, names, how):
        print(json.dumps(row), file=sys.stderr, flush=True)
        rows.append(row)
    return collected(rows, threads)


def collected(rows: Iterable[dict[str, Any]], threads: int) -> list[Result]:
    results: dict[str, Result] = {}
    for row in rows:
        result = results.setdefault(row["case"], Result(row["case"], threads))
        if row.get("ok") and "median_us" in row:
            result.times[row["peer"]] = row["median_us"]
            for unit in ("gops", "gbps"):
                if unit in row:
                    result.work[unit] = row[unit] * row["median_us"]
        elif row.get("ok") is False:
            result.failed[row["peer"]] = row.get("error") or f"off by up to {row.get('maxdiff')}"
    return list(results.values())


# ------------------------------------------------------------------------------------------------------------- the page


def spell(time: float | None) -> str:
    return "-" if time is None else f"{time:.2f}" if time < 100 else f"{time:,.0f}"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def table(results: list[Result]) -> list[str]:
    lines = [
        "| case | qrt, us | `fixed`, us | best peer | its us | qrt / best | of the limit |",
        "|---|---:|---:|---|---:|---:|---:|",
    ]
    for r in results:
        peer, time = r.best_peer or ("-", None)
        ratio = "-" if r.ratio is None else f"{r.ratio:.2f}"
        own, fixed = spell(r.times.get("qrt_float32")), spell(r.times.get("qrt_fixed"))
        lines.append(f"| {r.case} | {own} | {fixed} | {peer} | {spell(time)} | {ratio} | {percent(r.share)} |")
    return lines


def failures(results: list[Result]) -> list[str]:
    by_peer: dict[str, list[str]] = defaultdict(list)
    for r in results:
        for peer, reason in r.failed.items():
            by_peer[peer].append(f"{r.case} ({reason.split(chr(10))[0][:80]})")
    return [f"- {peer}: {', '.join(sorted(set(cases)))}" for peer, cases in sorted(by_peer.items())]


def processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.machine()


def versions() -> str:
    found = []
    for name in LIBRARIES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"{name} absent")
    return ", ".join(found)


PREAMBLE = """\
# qrt beside other runtimes

`make bench-peers` writes this page. It has a section for each machine and ISA. A run rewrites its own alone.

All runtimes run one table of workloads, each library in a process of its own. Their samples are interleaved, and a time
is the median of its samples. A result that fails the numeric check has no time. Before it is timed, each result of qrt
is compared bit for bit with that of its scalar reference. qrt is called through its public functions, with weights that
were packed once and a result that exists already.

The column `qrt, us` has the rule `float32`, which is what the other runtimes compute; the next one has the rule
`fixed`, in integers. `best peer` is the fastest of the other runtimes. `of the limit` is the limit's time as a share of
qrt's. The limit of a product is a loop of the ISA's multiply-add on registers alone, on as many threads. The limit of a
cast is a copy of as many bytes, on several threads where that is worth starting them. Limits are measured in the same
run. Only ratios within a run mean anything. A share above 100% says that the machine changed its speed between samples.
"""


RATIOS = "![Time of qrt, divided by that of the best other runtime, for each case](performance-{}.svg)"


def title(isa: str) -> str:
    return f"## {processor()}, {isa}"


def plot_name(heading: str) -> str:
    """The end of the names of a section's plots: machines with the same ISA have plots of their own.

    >>> plot_name("## Intel(R) Xeon(R) Processor @ 2.50GHz, avx512vnni")
    'intel-xeon-processor-2-50ghz-avx512vnni'
    """
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"\((r|tm)\)", "", heading.lower())).strip("-")


def section(results: dict[int, list[Result]], isa: str, cases: str = "*") -> str:
    lines = [title(isa), "", f"Measured on {date.today()}, with {versions()}."]
    if cases != "*":
        lines += ["", f"Only the cases `{cases}` were measured in this run."]
    for threads, rows in results.items():
        lines += ["", f"### {threads} thread{'s' * (threads > 1)}", "", *table(rows)]
    if failed := failures([r for rows in results.values() for r in rows]):
        lines += ["", "### Without a time", "", "These results were wrong, or the call was an error:", "", *failed]
    name = plot_name(title(isa))
    lines += ["", RATIOS.format(name), "", f"![The roofline of these cases](roofline-{name}.svg)", ""]
    return "\n".join(lines)


def page(before: str, new: str) -> str:
    """The page with a section in the place of the one of its title, or behind all others."""
    _, *sections = re.split(r"^(?=## )", before, flags=re.MULTILINE)
    titles = [text.partition("\n")[0] for text in sections]
    at = titles.index(new.partition("\n")[0]) if new.partition("\n")[0] in titles else len(sections)
    sections[at : at + 1] = [new]
    return "\n".join([PREAMBLE, *(text.rstrip("\n") + "\n" for text in sections)])


# ------------------------------------------------------------------------------------------------------------ the plots

COLORS = {"ge": "tab:blue", "co": "tab:orange", "qc": "tab:green", "dq": "tab:olive", "wo": "tab:purple"}
"""By the first letters of a case: products, convolutions, casts both ways, products by quantized weights."""


def load_pyplot() -> Any:
    try:
        import matplotlib

        matplotlib.use("svg")
        from matplotlib import pyplot
    except ImportError:
        raise SystemExit("the plots need matplotlib: pip install 'qrt[report]'") from None
    matplotlib.rcParams |= {"svg.hashsalt": "qrt", "svg.fonttype": "none"}
    return pyplot


def ratios_of(section: str) -> dict[str, float]:
    """The column `qrt / best` of a section's first table, by case."""
    table = section.partition("\n### ")[2].partition("\n### ")[0]
    return {
        case: float(ratio) for case, ratio in re.findall(r"^\| (\w\S*) \|.* ([\d.]+) \| \S+ \|$", table, re.MULTILINE)
    }


def ratio_plots(pyplot: Any, page: str) -> None:
    """One for each section that shows one."""
    for section in re.split(r"^(?=## )", page, flags=re.MULTILINE):
        heading = section.partition("\n")[0]
        if RATIOS.format(plot_name(heading)) in section:
            name = f"performance-{plot_name(heading)}.svg"
            ratio_plot(pyplot, f"{heading.removeprefix('## ')}, one thread", ratios_of(section), name)


def ratio_plot(pyplot: Any, heading: str, ratios: dict[str, float], name: str) -> None:
    figure, axes = pyplot.subplots(figsize=(9, 4.2))
    bars = axes.bar([*ratios], [*ratios.values()], color=[COLORS.get(case[:2]) for case in ratios])
    for case, bar in zip(ratios, bars, strict=True):
        bar.set_gid(case)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.annotate("the best other runtime", (len(ratios) - 0.5, 1), ha="right", va="bottom", fontsize=8)
    axes.tick_params(axis="x", rotation=90, labelsize=7)
    axes.margins(x=0.01)
    axes.set_ylim(0, max(1.15, *ratios.values()))
    axes.set_ylabel("time / best other runtime's")
    axes.set_title(heading, fontsize=9)
    save(figure, name)


def roofline(pyplot: Any, results: list[Result], name: str) -> None:
    """Operations per second over operations per byte of operands and result; the roof is the measured peak."""
    figure, axes = pyplot.subplots(figsize=(8, 5))
    roof = max(
        (r.work["gops"] / r.times["meter_peak"] for r in results if "meter_peak" in r.times),
        default=None,
    )
    for r in results:
        rate = r.work["gops"] / r.best_rule
        axes.loglog(intensity(r.case, r.work["gops"] * 1e3), rate, "o")
        axes.annotate(r.case, (intensity(r.case, r.work["gops"] * 1e3), rate), fontsize=6, rotation=20)
    if roof:
        axes.axhline(roof, color="black", linewidth=0.8, label="multiply-adds on registers")
        axes.legend()
    axes.set_xlabel("operations per byte of operands and result")
    axes.set_ylabel("GOP/s, one thread")
    save(figure, name)


def intensity(case: str, operations: float) -> float:
    """Operations by the bytes that a case must move at least once, read from its name."""
    kind, _, sizes = case.partition("_")
    if kind == "gemm":
        m, k, n = map(int, sizes.split("x"))
        return operations / (m * k + k * n + m * n)
    window, _, shape = sizes.partition("_")
    size = [int(part) for part in shape.replace("-", "x").split("x")]
    stride = int(window.partition("s")[2] or 1)
    depthwise = window.startswith("dw")
    channels, out = size[2], size[2] if depthwise else size[3]
    pixels = size[0] * size[1]
    taps = 1 if window.startswith("1x1") else 9
    return operations / (pixels * channels + pixels // stride**2 * out + taps * out * (1 if depthwise else channels))


def save(figure: Any, name: str) -> None:
    figure.tight_layout()
    figure.savefig(DOCS / name, metadata={"Date": None})


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", default="*", help="a glob")
    parser.add_argument("--rounds", type=int, default=11, help="samples of each peer")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--draw", action="store_true", help="times nothing: draws the ratios that stand in the page")
    return parser.parse_args()


def main() -> None:
    options, where = parse(), DOCS / "performance.md"
    pyplot = load_pyplot()
    if not options.draw:
        results = {threads: measure(options, threads) for threads in options.threads}
        isa = kernels.active()
        where.write_text(page(where.read_text(), section(results, isa, options.case)))
        first = results[options.threads[0]]
        roofline(
            pyplot, [r for r in first if "gops" in r.work and r.best_rule], f"roofline-{plot_name(title(isa))}.svg"
        )
    ratio_plots(pyplot, where.read_text())


if __name__ == "__main__":
    main()
