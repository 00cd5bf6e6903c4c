"""The comparison of a model's tensors in qrt and another runtime: how many elements differ, and in which op first."""

from collections.abc import Iterator
from dataclasses import dataclass

from qrt.errors import plural
from qrt.quantization.report.figures import visible

_NAME = 48
"""The most characters of a tensor's name in the table; longer names keep their end."""


@dataclass(frozen=True)
class TensorDifference:
    """A tensor that both runtimes computed from the same operands.

    Attributes
    ----------
    name : str
        The tensor's name in the file.
    operator : str
        The operator of the file that computes it, with its index: "CONV_2D 3".
    op : str
        The operation of the program that computes it, with its requantization rule: "qrt.conv2d float32".
    elements : int
        The number of compared elements over all runs; 0 if the tensor was not compared.
    differ : int
        The number of elements that differ by more than the operator's bound allows.
    largest : int
        The largest difference between two elements; between floats, in units in the last place.
    is_float : bool
        True if the elements are floats.
    skipped : str
        The reason why the tensor was not compared; empty if it was.
    beyond : int
        The number of integers that differ by more than 1, and by more than the bound allows; 0 for floats.
    within : int
        The number of elements that differ by an amount that the bound allows.
    """

    name: str
    operator: str
    op: str
    elements: int
    differ: int
    largest: int
    is_float: bool = False
    skipped: str = ""
    beyond: int = 0
    within: int = 0


@dataclass(frozen=True)
class Differences:
    """The differences between two runtimes on a model, with tensors in the order of computation.

    For each of ``tensors``, qrt computed one operator from the operands that the other runtime computed, so that
    differences do not add up. ``outputs`` are the outputs of whole runs. They are not judged if a tensor has small
    differences that its bound allows, because later operators amplify such differences. ``inside`` is the number of
    tensors inside of operators that qrt runs as one operation, so that qrt has no values of them.

    Examples
    --------
    >>> conv = TensorDifference("a", "CONV_2D 0", "qrt.conv2d float32", 8, 0, 0)
    >>> add = TensorDifference("b", "ADD 1", "qrt.add fixed", 8, 2, 1)
    >>> differences = Differences("m.tflite", "LiteRT (litert)", 3, (conv, add), ())
    >>> differences.first.name, differences.compared, differences.elements, differences.differ
    ('b', 2, 16, 2)
    """

    model: str
    engine: str
    runs: int
    tensors: tuple[TensorDifference, ...]
    outputs: tuple[TensorDifference, ...]
    inside: int = 0

    @property
    def first(self) -> TensorDifference | None:
        """The first tensor with an element that differs by more than its bound allows; None if there is none."""
        return next((tensor for tensor in self.tensors if tensor.differ), None)

    @property
    def compared(self) -> int:
        """The number of compared tensors, not counting outputs of whole runs."""
        return sum(not tensor.skipped for tensor in self.tensors)

    @property
    def elements(self) -> int:
        """The number of compared elements of tensors, not counting outputs of whole runs."""
        return sum(tensor.elements for tensor in self.tensors if not tensor.skipped)

    @property
    def within(self) -> int:
        """The number of tensor elements that differ by an amount that the bound of their tensor allows."""
        return sum(tensor.within for tensor in self.tensors)

    @property
    def differ(self) -> int:
        """The number of elements that differ by more than their bound allows.

        Outputs of whole runs are ignored if a tensor has differences that its bound allows, which later operators
        amplify.
        """
        outputs = () if self.within else self.outputs
        return sum(tensor.differ for tensor in (*self.tensors, *outputs))


def differences_text(report: Differences, *, every: bool = True) -> str:
    """Return the comparison as text: a table with a line for each tensor, and a summary.

    If ``every`` is False, only tensors that differ or were not compared have a line.
    """
    return "\n".join(_lines(report, every)) + "\n"


def _lines(report: Differences, every: bool) -> Iterator[str]:
    yield f"{visible(report.model)} beside {report.engine}, {plural(report.runs, 'run')}"
    shown = [t for t in report.tensors if every or t.differ or t.skipped]
    rows = [_row(tensor) for tensor in shown]
    if rows:
        head = ("elements", "differ", "by over 1", "largest", "operator", "op", "tensor")
        widths = [max(len(row[column]) for row in (head, *rows)) for column in range(6)]
        yield ""
        for row in (head, *rows):
            numbers = [cell.rjust(width) for cell, width in zip(row[:4], widths[:4], strict=True)]
            names = [cell.ljust(width) for cell, width in zip(row[4:6], widths[4:], strict=True)]
            yield "  ".join([*numbers, *names, row[6]])
    yield ""
    totals = f"{plural(report.compared, 'tensor')} compared, {plural(report.elements, 'element')}"
    yield f"{totals}, {report.differ:,} differ"
    if report.within:
        yield f"{plural(report.within, 'element')} more differ as far as their operators allow, and whole runs by these"
    if report.inside:
        yield f"{plural(report.inside, 'tensor')} more inside of operators that run as one"
    for output in report.outputs:
        yield f"output {visible(output.name)} of whole runs: {_counts(output)}"
    first = report.first
    if first is not None:
        yield f"the first op that differs is {first.operator}, which is {first.op}: {_counts(first)}"


def _row(tensor: TensorDifference) -> tuple[str, ...]:
    name = visible(tensor.name)
    name = name if len(name) <= _NAME else f"...{name[3 - _NAME :]}"
    beyond = "-" if tensor.is_float else f"{tensor.beyond:,}"
    numbers = ("-",) * 4
    if not tensor.skipped:
        numbers = f"{tensor.elements:,}", f"{tensor.differ:,}", beyond, _largest(tensor)
    return *numbers, tensor.operator, tensor.op or "-", f"{name}: {tensor.skipped}" if tensor.skipped else name


def _largest(tensor: TensorDifference) -> str:
    return f"{tensor.largest:,}{' ULP' * tensor.is_float}"


def _counts(tensor: TensorDifference) -> str:
    if tensor.skipped:
        return tensor.skipped
    most = f", by {_largest(tensor)} at most" if tensor.largest else ""
    return f"{tensor.differ:,} of {plural(tensor.elements, 'element')} differ{most}"
