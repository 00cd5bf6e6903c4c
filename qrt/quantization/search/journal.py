"""A journal of trials: a file to which each trial is appended, so that a stopped search can continue.

Each line is a JSON object with its own digest. The first line identifies the search. A line is written whole and synced
to disk before the next trial starts. An incomplete last line is dropped; damage before it is an error.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO

from qrt.errors import FileError, ModelError, shown
from qrt.files import reason, require_regular

Line = Mapping[str, Any]

_VERSION = 1
_DIGEST = "sha256"


class Journal:
    """An open journal of trials.

    ``lines`` are the lines that were in the file when it was opened, without the first.
    """

    def __init__(self, file: BinaryIO, name: str, lines: list[dict[str, Any]]) -> None:
        self._file, self._name = file, name
        self.lines = lines

    def append(self, line: Line) -> None:
        """Write a line to the journal and sync it to disk."""
        try:
            self._file.write(encoded(line))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise FileError(f"{self._name}: {reason(error)}") from None


@contextmanager
def opened(name: str | os.PathLike[str], subject: Mapping[str, str]) -> Iterator[Journal]:
    """Open the journal of a search, or create the file. ``subject`` describes the search in the journal's first line.

    Raises FileError if the file cannot be read or written. Raises ModelError if it is not a journal, is damaged,
    belongs to another search (the message names the difference), or is being written by another search.
    """
    shown_name = os.fspath(name)
    with ExitStack() as stack:
        try:
            if os.path.exists(shown_name):
                require_regular(shown_name, os.stat(shown_name).st_mode)
            file = stack.enter_context(open(shown_name, "a+b"))
            file.seek(0)
            data = file.read()
        except FileError:
            raise
        except (OSError, ValueError) as error:  # ValueError: a name with a null character
            raise FileError(f"{shown_name}: {reason(error)}") from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ModelError(
                f"{shown_name}: another search is writing this journal: give each search its own"
            ) from None
        lines, size = decoded(data, shown_name)
        header = {"journal": _VERSION, **subject}
        if lines:
            _check(lines[0], header, shown_name)
        file.truncate(size)
        journal = Journal(file, shown_name, lines[1:])
        if not lines:
            journal.append(header)
        yield journal


def encoded(line: Line) -> bytes:
    """Return the bytes of a line: a JSON object that contains its own digest.

    >>> encoded({"trial": 1})
    b'{"trial": 1, "sha256": "de9d7b9650e7b2e1"}\\n'
    """
    return json.dumps({**line, _DIGEST: _digest(line)}).encode() + b"\n"


def decoded(data: bytes, name: str) -> tuple[list[dict[str, Any]], int]:
    """Return the lines of a journal and their total size in bytes, without an incomplete last line.

    Raises ModelError if another line is damaged.
    """
    lines: list[dict[str, Any]] = []
    size = 0
    while size < len(data):
        end = data.find(b"\n", size) + 1
        line = _line(data[size:end]) if end else None
        if line is None:
            is_last = not end or end == len(data)
            if not is_last or (not lines and not encoded({"journal": _VERSION}).startswith(data[:12])):
                raise ModelError(
                    f"{name}: line {len(lines) + 1} is damaged, or this is not a journal: give another file"
                )
            return lines, size
        lines.append(line)
        size = end
    return lines, size


def _line(data: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict):
        return None
    return line if line.pop(_DIGEST, None) == _digest(line) else None


def _digest(line: Line) -> str:
    return hashlib.sha256(json.dumps(line).encode()).hexdigest()[:16]


def _check(first: Line, header: Line, name: str) -> None:
    """Raise ModelError if the first line of a journal describes another search than ``header``."""
    if other := [key for key in {**header, **first} if first.get(key) != header.get(key)]:
        given, wanted = first.get(other[0]), header.get(other[0])
        raise ModelError(
            f"{name}: the journal is of another search, with {other[0]} {shown(given)} and not {shown(wanted)}: "
            "remove it, or give another file"
        )
