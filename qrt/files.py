"""Reading and writing of the files that a command line names.

An input is read only up to a limit of bytes. Outputs are written completely, or none of them is changed.
"""

import os
import stat
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from typing import BinaryIO

from qrt.errors import FileError, ModelError

MAX_INPUT = 1 << 30
"""The largest number of bytes of one input, unless the caller gives a limit."""

_PIECE = 1 << 20
_BYTECODE = b"ML\xefR"  # the first bytes of MLIR bytecode
Write = Callable[[BinaryIO], object]
"""A function that writes an output into an open file."""


# -- inputs ------------------------------------------------------------------------------------------------------------


def open_regular(name: str) -> BinaryIO:
    """Open a regular file, or a link to one, for reading.

    Raises FileError for anything else: opening a pipe would wait for a writer, and a device may never end.
    """
    try:
        require_regular(name, os.stat(name).st_mode)  # opening some devices does something
        file = open(name, "rb", opener=_unblocked)  # noqa: SIM115 - the caller closes it
        try:
            require_regular(name, os.fstat(file.fileno()).st_mode)  # it may have been replaced
        except FileError:
            file.close()
            raise
    except FileError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        raise FileError(f"{name}: {reason(error)}") from None
    return file


def require_regular(name: str, mode: int) -> None:
    """Raise FileError unless a file's mode, from ``os.stat``, is that of a regular file."""
    if stat.S_ISDIR(mode):
        raise FileError(f"{name}: Is a directory")
    if not stat.S_ISREG(mode):
        kind = next((kind for is_kind, kind in _STREAMS if is_kind(mode)), "a device")
        raise FileError(f"{name}: expected a regular file, got {kind}")


_STREAMS = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))


def _unblocked(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def read_bytes(name: str, limit: int | None = None, *, streams: bool = True) -> bytes:
    """Return the bytes of a file, or of standard input if the name is ``-``.

    Raises FileError if the file cannot be read, and ModelError if it has more than ``limit`` bytes (``MAX_INPUT`` if
    ``limit`` is None). Reading stops at the limit, so that an endless device raises an error, too. If ``streams`` is
    False, a pipe or a device raises FileError.
    """
    most = MAX_INPUT if limit is None else limit
    try:
        with ExitStack() as stack:
            file = _standard_input() if name == "-" else stack.enter_context(_opened(name, streams))
            size = os.fstat(file.fileno()).st_size if name != "-" else 0
            data = b"" if size > most else _read(file, most, size)
    except FileError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        raise FileError(f"{shown_name(name)}: {reason(error)}") from None
    if max(size, len(data)) > most:
        where = "" if limit is None else " (set by max_bytes or --max-input)"
        raise ModelError(f"{shown_name(name)}: the file has more than {most} bytes, the limit for an input{where}")
    return data


def _opened(name: str, streams: bool) -> BinaryIO:
    return open(name, "rb") if streams else open_regular(name)


def _read(file: BinaryIO, limit: int, size: int) -> bytes:
    """Read at most ``limit`` + 1 bytes of a file, so that the caller notices a file that is too large.

    The file is read in pieces, because ``read(n)`` allocates n bytes first. ``size`` is the file's expected size.
    """
    pieces, room = [], limit + 1
    while room and (piece := file.read(min(room, max(size + 1, _PIECE)))):
        pieces.append(piece)
        room -= len(piece)
    return b"".join(pieces)


def read_text(name: str, limit: int | None = None, *, streams: bool = True) -> str:
    """Return the text of a UTF-8 file, read as by ``read_bytes``."""
    data = read_bytes(name, limit, streams=streams)
    if data.startswith(_BYTECODE):
        raise bytecode_error(name)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError(
            f"{shown_name(name)}: expected UTF-8 text, got other bytes: {error.reason} at byte {error.start}"
        ) from None


def bytecode_error(name: str) -> ModelError:
    """Return the error for a file of MLIR bytecode."""
    return ModelError(f"{shown_name(name)}: expected MLIR text, got MLIR bytecode: convert it by `mlir-opt {name}`")


def shown_name(name: str) -> str:
    """Return the name of an input file for messages: ``<stdin>`` for ``-``."""
    return "<stdin>" if name == "-" else name


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise OSError("standard input is closed")
    return sys.stdin.buffer


def reason(error: BaseException) -> str:
    """Return the message of an exception as one line, without the file name that an OSError prints."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0]


# -- outputs -----------------------------------------------------------------------------------------------------------


def write_files(outputs: Iterable[tuple[str, Write]]) -> None:
    """Write all files, or none of them.

    Each new file is written next to its target; when all are complete, they replace their targets. An existing file
    keeps its permissions, and a symbolic link is kept. A pipe, a terminal, or anything else that is not a regular file,
    is written to directly; ``-`` is standard output. Raises FileError if a file cannot be written.
    """
    direct, beside = [], dict[str, tuple[str, Write]]()
    for name, write in outputs:
        place = _place(name)
        if place in beside:
            raise ModelError(f"{name}: two outputs would be written to this file")
        if name == "-" or _is_stream(name):
            direct.append((name, write))
        else:
            beside[place] = name, write
    with ExitStack() as stack:
        written = [(name, _write_next_to(name, place, write, stack), place) for place, (name, write) in beside.items()]
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


def check_places(names: Iterable[str]) -> None:
    """Raise those errors of ``write_files`` that can be found before the outputs are computed.

    A folder that does not exist, or a name that is a folder, raises FileError. Two outputs with one path raise
    ModelError.
    """
    places = set[str]()
    for name in names:
        place = _place(name)
        if place in places:
            raise ModelError(f"{name}: two outputs would be written to this file")
        places.add(place)
        if name != "-" and not _is_stream(name):
            if os.path.isdir(place):
                raise FileError(f"{name}: Is a directory")
            if not os.path.isdir(os.path.dirname(place)):
                raise FileError(f"{name}: the folder does not exist")


def check_output(name: str | None, suffixes: Sequence[str], sources: Iterable[str | None] = ()) -> None:
    """Raise ModelError if an output's suffix is not one of ``suffixes``, or the output is a file in ``sources``.

    ``sources`` are the names of the inputs. The name of a stream (``-``, a pipe or a device) may have any suffix.
    """
    if name is None or name == "-" or _is_stream(name) or os.path.isdir(name):  # writing refuses a folder
        return
    suffix = os.path.splitext(name)[1]
    if suffix not in suffixes:
        raise ModelError(
            f"{name}: the name of this output must end in {' or '.join(suffixes)}, got {suffix or 'no suffix'}"
        )
    place = _place(name)
    if any(source is not None and _place(source) == place for source in sources):
        raise ModelError(f"{name}: this output would replace an input file: give the output another name")


def _place(name: str) -> str:
    """Return the path of a file with symbolic links resolved. Raise ModelError for a name with a null character."""
    if "\0" in name:
        raise ModelError(f"{name!r}: the name of a file must not contain a null character")
    return os.path.realpath(name)


def _is_stream(name: str) -> bool:
    """Return True for a pipe or device, which is written to directly; other outputs are replaced by a new file.

    /dev/stdout is written to directly, even if it is a regular file, because another program has the file open.
    """
    if os.path.abspath(name).startswith(("/dev/", "/proc/")):
        return True
    try:
        mode = os.stat(name).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _write_next_to(name: str, place: str, write: Write, stack: ExitStack) -> str:
    """Write an output to a temporary file in the folder of its target ``place``, and return the temporary file's name.

    ``stack`` deletes the temporary file if it still exists when the stack is closed.
    """
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
    """Link the target's old content to a second name, so that ``undo`` can restore it if a later output fails.

    ``stack`` deletes the second name. If there is no old file, ``undo`` deletes the new one.
    """
    old = f"{temporary}.old"
    try:
        os.link(place, old)
    except FileNotFoundError:
        undo.callback(_remove, place)
    except OSError:  # a file system without hard links: a later failure is not undone
        pass
    else:
        stack.callback(_remove, old)
        undo.callback(os.replace, old, place)


def _open_existing(path: str, flags: int) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND)  # a file that a shell has opened may hold something already


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
            with open(name, "wb", opener=_open_existing) as file:
                write(file)
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        raise FileError(f"{name}: {reason(error)}") from None
