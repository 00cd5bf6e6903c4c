"""Diagnostics in the colours of LLVM's tools, and a progress bar, if standard error is a terminal."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from qrt.errors import Diagnostic

_BOLD, _PLAIN, _CARET = "\033[1m", "\033[0m", "\033[0;1;32m"
_SEVERITIES = {"error": "\033[0;1;31m", "warning": "\033[0;1;35m", "note": "\033[0;1;30m", "remark": "\033[0;1;34m"}


def spelled(diagnostic: Diagnostic, colour: bool | None = None) -> str:
    """Return the text of a diagnostic with its notes.

    `colour` selects colours; None selects them if standard error is a terminal that supports them.
    """
    if not (has_colours(sys.stderr) if colour is None else colour):
        return str(diagnostic)
    return "\n".join([_coloured(diagnostic), *(spelled(note, True) for note in diagnostic.notes)])


def has_colours(stream: TextIO) -> bool:
    """Return True if a stream is a terminal that supports colours and the user has not disabled them."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _coloured(diagnostic: Diagnostic) -> str:
    severity = f"{_SEVERITIES[diagnostic.severity]}{diagnostic.severity}: {_PLAIN}"
    if diagnostic.location is None:
        return f"{severity}{_BOLD}{diagnostic.message}{_PLAIN}"
    text = diagnostic.location.render(diagnostic.message, diagnostic.severity)
    head, source, caret = text.rsplit("\n", 2)
    place, _, message = head.partition(f" {diagnostic.severity}: ")
    return f"{_BOLD}{place} {_PLAIN}{severity}{_BOLD}{message}\n{_PLAIN}{source}\n{_CARET}{caret}{_PLAIN}"


@contextmanager
def progress_bar() -> Iterator[Callable[[str, int, int | None], None] | None]:
    """Show a progress bar on standard error within the `with` block, and return the function that updates it.

    The function is called as `update(stage, done, total)`, where `done` is the number of finished steps, and `total`
    the number of all steps. If standard error is not a terminal, or the package `rich` is not installed, None is
    returned.
    """
    if not sys.stderr.isatty():
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    except ImportError:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks = {}

        def tell(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        yield tell
