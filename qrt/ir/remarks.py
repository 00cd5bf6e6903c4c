"""Remarks: what a pass says about an operation that is no error. `qrt opt` prints them, and `expected-remark` checks
them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from qrt.errors import Diagnostic
from qrt.ir.core.operations import Operation

Report = Callable[[Diagnostic], None]
"""A function that is told each warning and each remark."""

_LISTENER: ContextVar[Report | None] = ContextVar("qrt_remarks", default=None)


def remark(operation: Operation, message: str, *notes: Diagnostic) -> None:
    """Says something about an operation, at its place in the text, to whoever listens."""
    report = _LISTENER.get()
    if report is not None:
        report(Diagnostic("remark", message, operation.location, notes))


@contextmanager
def remarks_to(report: Report | None) -> Iterator[None]:
    """Tells the remarks of the passes that run meanwhile to `report`."""
    token = _LISTENER.set(report)
    try:
        yield
    finally:
        _LISTENER.reset(token)
