"""Child processes that each run one engine (another runtime), with limits of memory and of the time for each answer.

If the engine crashes, hangs or reports an error, the parent raises a ModelError. A message between the processes is
JSON, followed by the bytes of each array. Messages are not pickled, because unpickling could execute code.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from qrt.errors import ModelError
from qrt.ops.core import Array
from qrt.registry import import_place

Message = tuple[dict[str, Any], list[Array]]


def send(connection: Connection, values: dict[str, Any], arrays: Sequence[Array] = ()) -> None:
    """Send a message: values that JSON can represent, and numeric arrays."""
    kinds = [(array.dtype.str, array.shape) for array in arrays]
    connection.send_bytes(json.dumps([values, kinds]).encode())
    for array in arrays:
        if array.nbytes:
            connection.send_bytes(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def receive(connection: Connection) -> Message:
    """Return the next message as (values, arrays). Raise EOFError if the other process has ended."""
    values, kinds = json.loads(connection.recv_bytes())
    arrays = []
    for dtype, shape in kinds:
        array = np.empty(shape, dtype)
        if array.nbytes:
            connection.recv_bytes_into(array.reshape(-1).view(np.uint8).data)
        arrays.append(array)
    return values, arrays


Handler = Callable[[dict[str, Any], list[Array]], Message]
"""A function of an engine that takes a message and returns the answer."""

MAX_ANSWER = 400
"""The largest number of characters of an engine's own message in an error."""
_PLACE = os.path.dirname(os.path.abspath(f"{__file__}/../../.."))
"""The folder that contains the package qrt."""


class Child:
    """A child process that runs an engine.

    The first request starts the process. If the process has ended, the next request starts a new one.

    Parameters
    ----------
    module : str
        The module whose function ``handlers()`` returns the request handlers by name.
    name : str
        The engine's name in error messages.
    seconds : float
        The time limit of an answer.
    max_bytes : int
        The limit of the process's address space.
    """

    def __init__(self, module: str, name: str, seconds: float, max_bytes: int) -> None:
        self.module, self.name, self.seconds, self.max_bytes = module, name, seconds, max_bytes
        self.ends = 0
        """The number of processes that have ended, each with the models loaded in it."""
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._error_file: Any = None

    def ask(self, handler: str, model_name: str, values: Mapping[str, Any], arrays: Sequence[Array] = ()) -> Message:
        """Send a request to the process and return its answer.

        ``handler`` is the name of the handler that answers ("load", "run", ...), with ``values`` and ``arrays`` as its
        arguments. ``model_name`` is for error messages. Raise ModelError if the process fails, or if the time limit is
        exceeded.
        """
        connection = self._started()
        try:
            send(connection, {"what": handler, **values}, arrays)
            if not connection.poll(self.seconds):
                self.close()
                raise ModelError(f"{self.name} did not answer within {self.seconds:g} s and was ended: {model_name}")
            answer, results = receive(connection)
        except (EOFError, OSError):
            raise ModelError(f"{self.name} {self._end()}: {model_name}") from None
        if "error" in answer:
            raise ModelError(f"{self.name} rejects {model_name}: {answer['error']}")
        return answer, results

    def close(self) -> None:
        """Kill the process, if it is running."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        for closable in (self._connection, self._error_file):
            if closable is not None:
                closable.close()
        self._process = self._connection = self._error_file = None
        self.ends += 1

    def __del__(self) -> None:
        with suppress(Exception):  # at the interpreter's end, modules may be gone
            self.close()

    def _started(self) -> Connection:
        if self._connection is not None:
            return self._connection
        ours, theirs = Pipe()
        self._error_file = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        arguments = [self.module, str(theirs.fileno()), str(self.max_bytes)]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "qrt.models.engines.child", *arguments],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._error_file,
            stderr=self._error_file,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(module_folders(sys.path)), "PYTHONSAFEPATH": "1"},
        )
        theirs.close()
        self._connection = ours
        return ours

    def _end(self) -> str:
        """Return, for an error message, how the process ended and the last line that the process printed."""
        assert self._process is not None
        try:
            status = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            status = 0
        self._error_file.seek(0)
        lines = self._error_file.read().decode(errors="replace").splitlines() or [""]
        self.close()
        ended = f"crashed ({signal.Signals(-status).name})" if status < 0 else f"ended with status {status}"
        return f"{ended}{f', after printing {lines[-1][:MAX_ANSWER]!r}' if lines[-1] else ''}"


def module_folders(searched: Sequence[str]) -> list[str]:
    """Return the module search path of a child process: ``searched`` (`sys.path`) without the working directory.

    Python would otherwise execute a ``numpy.py`` that lies next to a downloaded model. If qrt itself can only be
    imported from the working directory, that directory is appended as the last entry.
    """
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it has been removed
        here = ""
    absolute = [folder for folder in searched if os.path.isabs(folder)]
    folders = [folder for folder in absolute if os.path.realpath(folder) != here]
    return folders if _PLACE in folders else [*folders, _PLACE]


def _check_numbers(results: Sequence[Array]) -> None:
    """Raise ValueError if a result has texts or Python objects as elements, because `send` sends only numbers."""
    for number, array in enumerate(results):
        if array.dtype.hasobject or array.dtype.kind in "US":
            raise ValueError(f"result {number} has elements that are not numbers ({array.dtype})")


def serve(module: str, descriptor: int, max_bytes: int) -> None:
    """Answer requests by the handlers of a module until the parent closes the connection.

    ``descriptor`` is the file descriptor of the connection, and ``max_bytes`` the limit of this process's address
    space.
    """
    with suppress(ValueError):  # the process already has a lower limit
        resource.setrlimit(resource.RLIMIT_AS, (max_bytes, max_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    handlers: Mapping[str, Handler] = import_place(f"{module}:handlers")()
    connection = Connection(descriptor)
    while True:
        try:
            values, arrays = receive(connection)
        except EOFError:
            return
        try:
            answer, results = handlers[values.pop("what")](values, arrays)
            _check_numbers(results)
        except MemoryError:
            answer, results = {"error": "out of memory"}, []
        except Exception as error:
            answer, results = {"error": " ".join(f"{error}".split())[:MAX_ANSWER] or type(error).__name__}, []
        send(connection, answer, results)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
