"""The part about models of a section of docs/performance.md."""

from dataclasses import dataclass, field
from datetime import date
from importlib import metadata
from typing import Any

from qrt.quantization.report.steps import PlanReport

NAMES = {"litert": "LiteRT", "ort": "ONNX Runtime"}
PACKAGES = {"litert": "ai-edge-litert", "ort": "onnxruntime"}
ACCOUNTED = 0.03
"""The least share of the time of a step that an account lists by itself."""


@dataclass
class Figures:
    """Measurements of a model: seconds and bytes of both runtimes, or an error. ``peer`` is the other runtime."""

    name: str
    size: int
    peer: str = "litert"
    load: dict[str, Any] = field(default_factory=dict)
    times: dict[int, dict[str, Any]] = field(default_factory=dict)
    steps: PlanReport | None = None

    def is_slower(self, threads: int) -> bool:
        """Return True if a run takes longer than in the other runtime."""
        found = self.times[threads]
        return "error" not in found and found["qrt_run"] > found["peer_run"]


def micro(seconds: float) -> str:
    """Microseconds.

    >>> micro(1.234e-6), micro(0.0123)
    ('1.23', '12,300')
    """
    found = seconds * 1e6
    return f"{found:.2f}" if found < 100 else f"{found:,.0f}"


def ratio(found: dict[str, Any], what: str) -> str:
    """qrt's figure by the other runtime's."""
    theirs = found[f"peer_{what}"]
    return f"{found[f'qrt_{what}'] / theirs:.2f}" if theirs > 0 else "-"


def times_table(figures: list[Figures], threads: int) -> list[str]:
    """A line for each model that has times."""
    name = NAMES[figures[0].peer]
    lines = [
        f"| model | run, us | {name} | ratio | bare, us | {name} | ratio |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for each in figures:
        found = each.times[threads]
        if "error" in found:
            continue
        cells = [
            f"{micro(found[f'qrt_{w}'])} | {micro(found[f'peer_{w}'])} | {ratio(found, w)}" for w in ("run", "bare")
        ]
        lines.append(f"| {each.name} | {' | '.join(cells)} |")
    return lines


def load_table(figures: list[Figures]) -> list[str]:
    """A line for each model that was loaded."""
    name = NAMES[figures[0].peer]
    lines = [
        f"| model | KB | load, ms | {name} | again, ms | {name} | saved, ms | alone, ms "
        f"| memory, KB | {name} | ratio | peak, KB | {name} |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for each in figures:
        found = each.load
        if "error" in found:
            continue
        times = [f"{found[f'{r}_{w}'] * 1e3:.1f}" for w in ("seconds", "again") for r in ("qrt", "peer")]
        times += [f"{found[f'saved_{w}'] * 1e3:.1f}" for w in ("seconds", "alone")]
        grown, most = ([f"{found[f'{r}_{w}'] / 1024:,.0f}" for r in ("qrt", "peer")] for w in ("grown", "peak"))
        cells = [each.name, f"{each.size / 1024:,.0f}", *times, *grown, ratio(found, "grown"), *most]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def account(report: PlanReport) -> list[str]:
    """The steps of a model that take time, and all others in one line."""
    lines = ["| step | op | kernel | us | share |", "|---:|---|---|---:|---:|"]
    rest, count = 0.0, 0
    for number, step in enumerate(report.steps):
        if step.share < ACCOUNTED:
            rest, count = rest + step.seconds, count + 1
            continue
        op = " ".join(filter(None, ["+".join((step.op, *step.fused)), step.rule]))
        lines.append(f"| {number} | {op} | {step.engine} {step.kernel} | {micro(step.seconds)} | {step.share:.0%} |")
    if count:
        share = rest / report.seconds if report.seconds else 0.0
        lines.append(f"| | {count} others | | {micro(rest)} | {share:.0%} |")
    return lines


def part(figures: list[Figures], overheads: dict[int, float], left_out: list[str]) -> list[str]:
    """Return the lines of the part *Models* of a section."""
    peers = list(dict.fromkeys(each.peer for each in figures))
    versions = " and ".join(f"{PACKAGES[peer]} {metadata.version(PACKAGES[peer])}" for peer in peers)
    lines = [f"Measured on {date.today()}, with {versions}."]
    groups = [[each for each in figures if each.peer == peer] for peer in peers]
    for threads in figures[0].times:
        lines += ["", f"#### Models, {threads} thread{'s' * (threads > 1)}"]
        for group in groups:
            lines += ["", *times_table(group, threads)]
    lines += ["", "#### Models, loaded"]
    for group in groups:
        lines += ["", *load_table(group)]
    spelled = ", ".join(f"{micro(seconds)} us for {count}" for count, seconds in overheads.items())
    lines += ["", f"A bound plan of additions of one byte takes {spelled} steps."]
    errors = [
        f"- {each.name}: {found['error']}"
        for each in figures
        for found in (each.load, *each.times.values())
        if "error" in found
    ]
    errors += [f"- {name}: no time was left" for name in left_out]
    if errors:
        lines += ["", "#### Models without a time", "", *dict.fromkeys(errors)]
    slower = [each for each in figures if each.steps is not None]
    if slower:
        lines += ["", "#### Models that are slower, step by step"]
    for each in slower:
        assert each.steps is not None
        lines += ["", f"{each.name}, each step as a call by itself:", "", *account(each.steps)]
    return lines
