"""Writes the part *Operations* of docs/performance.md: qrt beside other CPU runtimes in one interleaved run.

    python -m benches.performance [--case 'gemm*'] [--rounds 11] [--threads 1 2] [--minutes 18] [--print]
    python -m benches.performance --draw

``benches.peers`` times every runtime that is installed, one process per library, its samples interleaved. This file
renders the times as a table, a plot of the ratios and a roofline. Only ratios within one run mean anything: a machine's
absolute times drift. With ``--print`` the page is left as it is. With ``--draw`` nothing is timed, and the plots of
ratios are drawn from the tables in the page.
"""

import argparse
import fnmatch
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from importlib import metadata
from typing import Any

from benches import performance_page
from benches.budget import MINUTES, Budget
from benches.peers.cases import cases
from benches.peers.driver import Options, run
from benches.peers.runtimes import PEERS
from qrt import kernels

DOCS = performance_page.PAGE.parent
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
    dropped: dict[str, str] = field(default_factory=dict)
    is_left_out: bool = False  # for lack of time

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
        """Return the time of qrt's float32 rule, or of its cast, divided by that of the best peer."""
        own, best = self.times.get("qrt_float32"), self.best_peer
        return own / best[1] if own and best else None

    @property
    def share(self) -> float | None:
        """Return the time of the meter of the same run divided by qrt's."""
        meter = next((self.times[name] for name in METERS if name in self.times), None)
        own = self.times.get("qrt_float32")
        return meter / own if own and meter else None


def measure(options: argparse.Namespace) -> dict[int, list[Result]]:
    """Time the chosen cases on each number of threads, within the budget of all."""
    names = [name for name in PEERS if name not in LEFT_OUT]
    chosen = [case for case in cases() if fnmatch.fnmatch(case.name, options.case)]
    if not chosen:
        raise SystemExit(f"no case matches {options.case!r}: python -m benches.peers --list lists them")
    budget = Budget(options.minutes * 60, len(chosen) * len(options.threads))
    results = {}
    for threads in options.threads:
        how = Options(threads, options.rounds, settle_ms=SETTLE_MS if threads > 1 else 0, budget=budget)
        rows = []
        for row in run(chosen, names, how):
            print(json.dumps(row), file=sys.stderr, flush=True)
            rows.append(row)
        results[threads] = collected(rows, threads)
    return results


def collected(rows: Iterable[dict[str, Any]], threads: int) -> list[Result]:
    results: dict[str, Result] = {}
    for row in rows:
        result = results.setdefault(row["case"], Result(row["case"], threads))
        if row.get("left_out"):
            result.is_left_out = True
        elif "dropped" in row:
            result.dropped[row["peer"]] = row["dropped"]
        elif row.get("ok") and "median_us" in row:
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
        "| case | qrt, us | fixed, us | best peer | its us | qrt / best | of the limit |",
        "|---|---:|---:|---|---:|---:|---:|",
    ]
    for r in results:
        if r.is_left_out:
            continue
        peer, time = r.best_peer or ("-", None)
        ratio = "-" if r.ratio is None else f"{r.ratio:.2f}"
        own, fixed = spell(r.times.get("qrt_float32")), spell(r.times.get("qrt_fixed"))
        lines.append(f"| {r.case} | {own} | {fixed} | {peer} | {spell(time)} | {ratio} | {percent(r.share)} |")
    return lines


def by_peer(reasons: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return a line for each peer, from triples of a peer, a case and a reason."""
    cases_of: dict[str, list[str]] = defaultdict(list)
    for peer, case, reason in reasons:
        cases_of[peer].append(f"{case} ({reason.split(chr(10))[0][:80]})")
    return [f"- {peer}: {', '.join(sorted(set(cases)))}" for peer, cases in sorted(cases_of.items())]


def without_a_time(results: list[Result]) -> list[str]:
    """Return the lines on peers and cases that have no time."""
    lines = []
    if wrong := by_peer((peer, r.case, reason) for r in results for peer, reason in r.failed.items()):
        lines += ["", "These results were wrong, or the call was an error:", "", *wrong]
    if slow := by_peer((peer, r.case, reason) for r in results for peer, reason in r.dropped.items()):
        lines += ["", "These runtimes were dropped, since their calls take too long to be repeated:", "", *slow]
    if left_out := [f"{r.case} on {r.threads} thread{'s' * (r.threads > 1)}" for r in results if r.is_left_out]:
        lines += ["", f"No time was left for {', '.join(left_out)}."]
    return ["", "#### Without a time", *lines] if lines else []


def versions() -> str:
    """Return the versions of the libraries, or that one is absent."""
    texts = []
    for name in LIBRARIES:
        try:
            texts.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            texts.append(f"{name} absent")
    return ", ".join(texts)


RATIOS = "![Time of qrt, divided by that of the best other runtime, for each case](performance-{}.svg)"


def machine(isa: str) -> str:
    """Return the title of this machine's section."""
    return f"{performance_page.processor()}, {isa}"


def plot_name(title: str) -> str:
    """Return the end of the names of a section's plots: machines with the same ISA have plots of their own.

    >>> plot_name("Intel(R) Xeon(R) Processor @ 2.50GHz, avx512vnni")
    'intel-xeon-processor-2-50ghz-avx512vnni'
    """
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"\((r|tm)\)", "", title.lower())).strip("-")


def part(results: dict[int, list[Result]], title: str, options: argparse.Namespace) -> list[str]:
    """Return the lines of the part *Operations* of a section."""
    lines = [f"Measured on {date.today()}, at most {options.rounds} rounds, with {versions()}."]
    if options.case != "*":
        lines += ["", f"Only the cases `{options.case}` were measured in this run."]
    for threads, rows in results.items():
        lines += ["", f"#### {threads} thread{'s' * (threads > 1)}", "", *table(rows)]
    lines += without_a_time([r for rows in results.values() for r in rows])
    name = plot_name(title)
    return [*lines, "", RATIOS.format(name), "", f"![The roofline of these cases](roofline-{name}.svg)"]


# ------------------------------------------------------------------------------------------------------------ the plots

COLORS = {"ge": "tab:blue", "co": "tab:orange", "qc": "tab:green", "dq": "tab:olive", "wo": "tab:purple"}
"""By the first letters of a case: products, convolutions, casts both ways, products by quantized weights; else gray."""


def load_pyplot() -> Any:
    try:
        import matplotlib

        matplotlib.use("svg")
        from matplotlib import pyplot
    except ImportError:
        raise SystemExit("the plots need matplotlib: pip install 'qrt[report]'") from None
    matplotlib.rcParams |= {"svg.hashsalt": "qrt", "svg.fonttype": "none"}
    return pyplot


def ratios_of(text: str) -> dict[str, float]:
    """Return the column `qrt / best` of the first table, by case."""
    table = text.partition("\n#### ")[2].partition("\n#### ")[0]
    return {
        case: float(ratio) for case, ratio in re.findall(r"^\| (\w\S*) \|.* ([\d.]+) \| \S+ \|$", table, re.MULTILINE)
    }


def ratio_plots(pyplot: Any, page: str) -> None:
    """Draw the ratios of each section that has operations."""
    for section in performance_page.sections(page):
        title = section.partition("\n")[0].removeprefix("## ")
        if operations := performance_page.parts(section).get(performance_page.OPERATIONS):
            ratio_plot(pyplot, f"{title}, one thread", ratios_of(operations), f"performance-{plot_name(title)}.svg")


def ratio_plot(pyplot: Any, heading: str, ratios: dict[str, float], name: str) -> None:
    figure, axes = pyplot.subplots(figsize=(9, 4.2))
    bars = axes.bar([*ratios], [*ratios.values()], color=[COLORS.get(case[:2], "tab:gray") for case in ratios])
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
    """Draw operations per second over operations per byte of operands and result; the roof is the measured peak."""
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
    """Return the operations for each byte that a case must move at least once, by the sizes in its name."""
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
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of all cases; slow ones get fewer samples")
    parser.add_argument("--print", action="store_true", help="print the part, and leave the page as it is")
    parser.add_argument("--draw", action="store_true", help="time nothing: draw the ratios in the page")
    return parser.parse_args()


def main() -> None:
    """Measure, and write the page and its plots."""
    options, where = parse(), performance_page.PAGE
    pyplot = None if options.print else load_pyplot()
    if not options.draw:
        commit = "" if options.print else performance_page.measured_commit()
        title = machine(kernels.active())
        results = measure(options)
        lines = part(results, title, options)
        if options.print:
            print("\n".join(lines))
            return
        page = performance_page.with_part(where.read_text(), title, commit, performance_page.OPERATIONS, lines)
        where.write_text(page)
        first = results[options.threads[0]]
        drawn = [r for r in first if "gops" in r.work and r.best_rule]
        roofline(pyplot, drawn, f"roofline-{plot_name(title)}.svg")
    ratio_plots(pyplot, where.read_text())


if __name__ == "__main__":
    main()
