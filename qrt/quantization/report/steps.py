"""A report on the steps that a program runs: the kernel and time of each step, and the memory of the whole program."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from qrt.errors import plural
from qrt.quantization.report.figures import share, visible

_NAME = 40
"""The most characters of a tensor's name in the table; longer names keep their end."""


@dataclass(frozen=True)
class StepReport:
    """A step of the plan by which a program runs.

    Attributes
    ----------
    segment : int
        The number of the segment that contains the step. A segment is a sequence of steps: either kernels that one call
        into C runs, or other steps.
    op : str
        The operation.
    rule : str
        The requantization rule; empty if the operation has none.
    fused : tuple of str
        The operations that a pass fused into this operation.
    engine : str
        What runs the step: "kernel", "reference", "interpreter", "constant" or "alias".
    kernel : str
        The C function and its instruction set.
    place : str
        The operator of a model, or the line of a text, that the step comes from.
    tensor : str
        The model's name of the step's result.
    seconds : float
        The median time.
    share : float
        The share of the time of all steps.
    bytes : int
        The number of bytes read and written, weights included.
    """

    segment: int
    op: str
    rule: str
    fused: tuple[str, ...]
    engine: str
    kernel: str
    place: str
    tensor: str
    seconds: float
    share: float
    bytes: int


@dataclass(frozen=True)
class PlanReport:
    """The plan of a function for given input shapes: its steps and their memory.

    Attributes
    ----------
    name : str
        The function.
    isa : str
        The instruction set for which the kernels were chosen.
    segments : int
        The number of segments: sequences of kernels that one call into C runs, and sequences of other steps.
    arena_bytes : int
        The memory of temporaries, which is allocated before a run.
    live_bytes : int
        The largest total size of temporaries that live at the same time. The arena cannot be smaller.
    constant_bytes : int
        The weights and other constants, in the layouts in which steps read them.
    steps : tuple of StepReport
        The steps in the order in which they run.

    Examples
    --------
    >>> step = StepReport(0, "qrt.add", "fixed", (), "kernel", "add ref", "f:1", "y", 1e-6, 1.0, 12)
    >>> PlanReport("main", "ref", 1, 64, 64, 0, (step,)).outside
    ()
    """

    name: str
    isa: str
    segments: int
    arena_bytes: int
    live_bytes: int
    constant_bytes: int
    steps: tuple[StepReport, ...]

    def __str__(self) -> str:
        return steps_text(self)

    def __repr__(self) -> str:
        return f"<PlanReport of {visible(self.name)} on {self.isa}: {plural(len(self.steps), 'step')}>"

    @property
    def outside(self) -> tuple[StepReport, ...]:
        """The steps that run outside of C kernels."""
        return tuple(step for step in self.steps if step.engine in ("reference", "interpreter"))

    @property
    def seconds(self) -> float:
        """The time of all steps together."""
        return sum(step.seconds for step in self.steps)


def steps_text(report: PlanReport) -> str:
    """Return the report as text: the memory, a line for each step, and the operations that run outside of C."""
    return "\n".join(_lines(report)) + "\n"


def steps_json(report: PlanReport) -> str:
    """Return the report as JSON, with a line for each step. Each field is named like the attribute."""
    table = asdict(report)
    steps = ",\n".join(json.dumps(step) for step in table.pop("steps"))
    return f'{json.dumps({"version": 1, **table})[:-1]}, "steps": [\n{steps}\n]}}\n'


def _lines(report: PlanReport) -> Iterator[str]:
    counts = f"{plural(len(report.steps), 'step')} in {plural(report.segments, 'segment')}"
    yield f"{visible(report.name)} for {report.isa}: {counts}, {report.seconds * 1e6:,.1f} us"
    ratio = f", {report.arena_bytes / report.live_bytes:.2f} times what lives at once" if report.live_bytes else ""
    yield f"arena of {plural(report.arena_bytes, 'byte')}{ratio}; constants of {plural(report.constant_bytes, 'byte')}"
    rows = [_row(step) for step in report.steps]
    head = ("segment", "us", "share", "bytes", "op", "rule", "kernel", "at", "tensor")
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    yield ""
    for row in (head, *rows):
        cells = [
            cell.rjust(width) if column < 4 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
    if report.outside:
        yield ""
        yield f"{plural(len(report.outside), 'step')} outside of C: " + ", ".join(
            dict.fromkeys(step.op for step in report.outside)
        )


def _row(step: StepReport) -> tuple[str, ...]:
    tensor, op = visible(step.tensor), "+".join((step.op, *step.fused))
    return (
        str(step.segment),
        f"{step.seconds * 1e6:,.1f}",
        share(step.share),
        f"{step.bytes:,}",
        op,
        step.rule,
        f"{step.engine} {step.kernel}".strip(),
        visible(step.place).rpartition(": ")[2].removeprefix("subgraph 0, operator "),
        tensor if len(tensor) <= _NAME else f"...{tensor[3 - _NAME :]}",
    )
