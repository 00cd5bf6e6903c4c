"""Tensors of a model as qrt and another runtime compute them: how many elements differ, and in which op first."""

from collections.abc import Iterator
from dataclasses import dataclass

from qrt.errors import plural
from qrt.quantization.report.figures import visible

_NAME = 48
"""The most characters of a tensor's name in the table, whose end says more than its beginning."""


@dataclass(frozen=True)
class TensorDifference:
    """A tensor that both compute of the same operands.

    Attributes
    ----------
    name : str
        Its name in the file.
    operator : str
        The operator of the file that makes it, with its index: "CONV_2D 3".
    op : str
        The operation of the program that makes it, with its rule: "qrt.conv2d float32".
    elements : int
        How many were compared, over all runs; 0 if none was.
    differ : int
        How many differ more than the bound of the operator allows.
    largest : int
        The largest difference: of integers as it is, of floats in units in the last place.
    is_float : bool
        Whether its elements are floats.
    skipped : str
        Why it counts as not compared; empty if it does.
    beyond : int
        How many integers differ more than the bound allows, and by more than 1; 0 of floats.
    within : int
        How many are not the same, but differ no more than the bound allows.
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
    """What was compared of a model, in the order in which it is computed.

    ``tensors`` were each computed of the other runtime's own operands. ``outputs`` are those of whole runs: they count
    as different only where no element of a tensor is, because later operators take such elements further. ``inside`` is
    the number of tensors inside of operators that run as one here, which have no values of their own.

    Examples
    --------
    >>> conv = TensorDifference("a", "CONV_2D 0", "qrt.conv2d float32", 8, 0, 0)
    >>> add = TensorDifference("b", "ADD 1", "qrt.add fixed", 8, 2, 1)
    >>> found = Differences("m.tflite", "LiteRT (litert)", 3, (conv, add), ())
    >>> found.first.name, found.compared, found.elements, found.differ
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
        """The first tensor of which an element differs."""
        return next((tensor for tensor in self.tensors if tensor.differ), None)

    @property
    def compared(self) -> int:
        """How many tensors were compared."""
        return sum(not tensor.skipped for tensor in self.tensors)

    @property
    def elements(self) -> int:
        """How many elements of tensors were compared."""
        return sum(tensor.elements for tensor in self.tensors if not tensor.skipped)

    @property
    def within(self) -> int:
        """The number of elements of tensors that differ no more than their bounds allow."""
        return sum(tensor.within for tensor in self.tensors)

    @property
    def differ(self) -> int:
        """The number of elements of tensors that differ more than allowed, and of outputs where no tensor differs."""
        outputs = () if self.within else self.outputs
        return sum(tensor.differ for tensor in (*self.tensors, *outputs))


def differences_text(found: Differences, *, every: bool = True) -> str:
    """The table, a line for each tensor, and what it says. Without ``every``, only tensors that differ or were not
    compared have a line."""
    return "\n".join(_lines(found, every)) + "\n"


def _lines(found: Differences, every: bool) -> Iterator[str]:
    yield f"{visible(found.model)} beside {found.engine}, {plural(found.runs, 'run')}"
    shown = [t for t in found.tensors if every or t.differ or t.skipped]
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
    yield f"{plural(found.compared, 'tensor')} compared, {plural(found.elements, 'element')}, {found.differ:,} differ"
    if found.within:
        yield f"{plural(found.within, 'element')} more differ as far as their operators allow, and whole runs by these"
    if found.inside:
        yield f"{plural(found.inside, 'tensor')} more inside of operators that run as one"
    for output in found.outputs:
        yield f"output {visible(output.name)} of whole runs: {_said(output)}"
    if found.first is not None:
        yield f"the first op that differs is {found.first.operator}, which is {found.first.op}: {_said(found.first)}"


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


def _said(tensor: TensorDifference) -> str:
    if tensor.skipped:
        return tensor.skipped
    most = f", by {_largest(tensor)} at most" if tensor.largest else ""
    return f"{tensor.differ:,} of {plural(tensor.elements, 'element')} differ{most}"
