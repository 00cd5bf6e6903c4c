"""Files that a command reads and writes. An input is read up to a limit; outputs are whole, all of them, or as they
were before."""

import os
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from typing import BinaryIO

from qrt.errors import FileError, ModelError

MAX_INPUT = 1 << 30
"""Bytes of one input, unless a limit is given."""

_PIECE = 1 << 20
_BYTECODE = b"ML\xefR"  # the first bytes of MLIR bytecode
Write = Callable[[BinaryIO], object]
"""Writes an output into a file."""


# -- inputs ------------------------------------------------------------------------------------------------------------


def read_bytes(name: str, limit: int = MAX_INPUT) -> bytes:
    """What is in a file, or in standard input where it is named ``-``. Raises FileError where it cannot be read, and
    ModelError where it is larger than ``limit`` bytes: no more than those are read of a file without an end."""
    try:
        with ExitStack() as stack:
            file = _standard_input() if name == "-" else stack.enter_context(open(name, "rb"))
            size = os.fstat(file.fileno()).st_size if name != "-" else 0
            data = b"" if size > limit else _read(file, limit, size)
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        raise FileError(f"{shown_name(name)}: {reason(error)}") from None
    if max(size, len(data)) > limit:
        raise ModelError(f"{shown_name(name)}: it has more than {limit} bytes, the limit of an input (--max-input)")
    return data


def _read(file: BinaryIO, limit: int, size: int) -> bytes:
    """At most one byte more than the limit, in pieces: a file is told how much room to make before it reads."""
    pieces, room = [], limit + 1
    while room and (piece := file.read(min(room, max(size + 1, _PIECE)))):
        pieces.append(piece)
        room -= len(piece)
    return b"".join(pieces)


def read_text(name: str, limit: int = MAX_INPUT) -> str:
    """As ``read_bytes``, UTF-8."""
    data = read_bytes(name, limit)
    if data.startswith(_BYTECODE):
        raise bytecode_error(name)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError(f"{shown_name(name)}: not UTF-8 text: {error.reason} at byte {error.start}") from None


def bytecode_error(name: str) -> ModelError:
    """The error that a file is MLIR bytecode."""
    return ModelError(f"{shown_name(name)}: this is MLIR bytecode, and qrt reads text: `mlir-opt {name}` writes it")


def shown_name(name: str) -> str:
    """How messages call an input."""
    return "<stdin>" if name == "-" else name


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.buffer


def reason(error: BaseException) -> str:
    """What went wrong, in one line and without the name of the file."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0]


# -- outputs -----------------------------------------------------------------------------------------------------------


def write_files(outputs: Iterable[tuple[str, Write]]) -> None:
    """Writes each file, or none of them: what is written stands beside its target until all is, then takes its place.

    A file that exists keeps its permissions, a symbolic link its place. What is no regular file, such as a pipe or a
    terminal, is written to at once; ``-`` is standard output. Raises FileError where one cannot be written.
    """
    direct, beside = [], dict[str, tuple[str, Write]]()
    for name, write in outputs:
        if "\0" in name:
            raise ModelError(f"{name!r}: a file's name has no null character")
        place = os.path.realpath(name)
        if place in beside:
            raise ModelError(f"{name}: two outputs go to this file")
        if name == "-" or _is_stream(name):
            direct.append((name, write))
        else:
            beside[place] = name, write
    with ExitStack() as stack:
        written = [(name, _write_beside(name, place, write, stack), place) for place, (name, write) in beside.items()]
        for name, write in direct:
            _write_to(name, write)
        undo = ExitStack()
        for name, temporary, place in written:
            try:
                if len(written) > 1:
                    _keep_old(place, temporary, stack, undo)
                os.replace(temporary, place)
            except OSError as error:
                undo.close()
                raise FileError(f"{name}: {reason(error)}") from None


def _is_stream(name: str) -> bool:
    """Whether a target takes what is written as it comes. /dev/stdout may be a regular file, whose place is not ours to
    give to another."""
    if os.path.abspath(name).startswith(("/dev/", "/proc/")):
        return True
    try:
        mode = os.stat(name).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _write_beside(name: str, place: str, write: Write, stack: ExitStack) -> str:
    """The name of a new file with what is written, which the stack removes where it still exists."""
    temporary = os.path.join(os.path.dirname(place), f".{os.path.basename(place)[:64]}.{os.getpid()}.{id(write):x}.tmp")
    try:
        if os.path.isdir(place):
            raise IsADirectoryError("Is a directory")
        with open(temporary, "xb", opener=_owned) as file:
            stack.callback(_remove, temporary)
            _keep_permissions(place, file)
            write(file)
    except (OSError, ValueError) as error:
        raise FileError(f"{name}: {reason(error)}") from None
    return temporary


def _owned(path: str, flags: int) -> int:
    return os.open(path, flags, 0o666)


def _keep_old(place: str, temporary: str, stack: ExitStack, undo: ExitStack) -> None:
    """Makes ``undo`` bring back what a place holds: the old file has another name until the stack removes that."""
    old = f"{temporary}.old"
    try:
        os.link(place, old)
    except FileNotFoundError:
        undo.callback(_remove, place)
    except OSError:  # a file system that gives files one name: what fails now is not undone
        pass
    else:
        stack.callback(_remove, old)
        undo.callback(os.replace, old, place)


def _as_it_is(path: str, flags: int) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND)  # what a shell opened for us may hold something


def _keep_permissions(place: str, file: BinaryIO) -> None:
    with suppress(FileNotFoundError):
        status = os.stat(place)
        if not os.access(place, os.W_OK):
            raise PermissionError("Permission denied")
        os.chmod(file.fileno(), stat.S_IMODE(status.st_mode))


def _remove(temporary: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(temporary)


def _write_to(name: str, write: Write) -> None:
    try:
        if name == "-":
            write(sys.stdout.buffer)
            sys.stdout.buffer.flush()
        else:
            with open(name, "wb", opener=_as_it_is) as file:
                write(file)
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        raise FileError(f"{name}: {reason(error)}") from None
