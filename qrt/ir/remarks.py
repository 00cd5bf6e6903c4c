"""Remarks: messages of passes about operations that are neither errors nor warnings.

`qrt opt` prints them, and `expected-remark` comments check them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from qrt.errors import Diagnostic
from qrt.ir.core.operations import Operation

Report = Callable[[Diagnostic], None]
"""A function that is called with each warning and each remark."""

_LISTENER: ContextVar[Report | None] = ContextVar("qrt_remarks", default=None)


def remark(operation: Operation, message: str, *notes: Diagnostic) -> None:
    """Report a remark located at an operation to the innermost `remarks_to` block; without one, discard the remark."""
    report = _LISTENER.get()
    if report is not None:
        report(Diagnostic("remark", message, operation.location, notes))


@contextmanager
def remarks_to(report: Report | None) -> Iterator[None]:
    """Within the `with` block, call `report` with each remark; None discards them."""
    token = _LISTENER.set(report)
    try:
        yield
    finally:
        _LISTENER.reset(token)
