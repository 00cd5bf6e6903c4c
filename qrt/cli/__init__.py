"""The command line `qrt`, with one module for each command.

- `main` parses the arguments and runs a command of the table `COMMANDS`; `options.py` has the options that commands
  share.
- Start with `run.py`.
- This package imports the other packages of `qrt`.

Exit status: 0 success; 1 wrong input, or an output that cannot be written (with a message on standard error); 2 wrong
usage; 130 interrupted; 141 the reader closed the pipe. The file name ``-`` means standard input or output.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from io import StringIO, TextIOWrapper
from typing import Any, TextIO

from qrt._version import __version__
from qrt.cli.parser import ShortParser, VerbParser
from qrt.cli.plugins import load_plugins
from qrt.cli.terminal import spelled
from qrt.errors import ModelError, QuantError, diagnostics, nearest
from qrt.files import reason
from qrt.registry import Registry

_COMMANDS = {
    "run": ("qrt.cli.run", "run a function of a program"),
    "opt": ("qrt.cli.opt", "check, transform and print a program"),
    "compile": ("qrt.cli.compile", "save a program with its plan and its packed weights"),
    "import": ("qrt.cli.import_model", "print the program of a TFLite model"),
    "export": ("qrt.cli.export", "write a program as a QDQ model of ONNX"),
    "quantize": ("qrt.cli.quantize", "quantize a float program, with ranges from data"),
    "explain": ("qrt.cli.explain", "say what a program or a model runs, or where a quantization lost accuracy"),
    "diff": ("qrt.cli.diff", "compare a TFLite model with LiteRT, tensor by tensor"),
    "bench": ("qrt.cli.bench", "measure the kernels on this machine"),
}
"""The module of each command, and its line in `qrt --help`, which imports none of the modules."""
COMMANDS: Registry[Any] = Registry("command", {name: place for name, (place, _) in _COMMANDS.items()})
"""The modules of the commands; each has `add_arguments(parser)`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    _open_streams()
    try:
        status = _execute(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
        return status
    except QuantError as error:
        return _fail("\n".join(map(spelled, diagnostics(error))))
    except MemoryError as error:
        return _fail(f"error: out of memory{': ' * bool(str(error))}{error}")
    except BrokenPipeError:
        _leave_unwritten(sys.stdout)
        return 128 + signal.SIGPIPE  # as of a program that the signal ends
    except OSError as error:  # standard output does not take what is written
        _leave_unwritten(sys.stdout)
        return _fail(f"error: standard output: {reason(error)}")
    except KeyboardInterrupt:
        return _interrupted(is_program=arguments is None)


def _execute(given: list[str]) -> int:
    captured = StringIO()
    try:
        with redirect_stdout(captured):  # where argparse swallows that nothing can be written
            options = _parse(given)
    except SystemExit as stop:
        if text := captured.getvalue():
            sys.stdout.write(text)
        try:
            sys.stderr.flush()
        except OSError:  # nobody reads it
            _leave_unwritten(sys.stderr)
        return int(stop.code or 0)
    return int(options.command(options) or 0)


class _ClosedOutput(StringIO):
    """Replacement for a closed standard output: writing to it raises ModelError instead of losing the text."""

    def write(self, text: str) -> int:
        raise ModelError("standard output is closed")


def _open_streams() -> None:
    """Make standard output and standard error writable as UTF-8, even if they were closed when the process started."""
    if sys.stdout is None:
        sys.stdout = _ClosedOutput()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # MLIR is UTF-8 wherever it is read
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _fail(message: str) -> int:
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:  # nobody reads it
        _leave_unwritten(sys.stderr)
    return 1


def _leave_unwritten(stream: TextIO) -> None:
    """Discard the text that could not be written to a broken stream, because Python would fail again on it at exit."""
    with suppress(OSError, ValueError):
        number, null = stream.fileno(), os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, number)
        os.close(null)


def _interrupted(is_program: bool) -> int:
    """Report an interrupt, and return the exit status that shells show for it.

    If `is_program` is True, the process is the command `qrt`, not Python code that called `main`. The signal then ends
    the process, as shells expect.
    """
    _fail("interrupted")
    if is_program:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return 128 + signal.SIGINT


def _parse(given: list[str]) -> argparse.Namespace:
    """Parse the arguments. Only the module of the given command is imported, to save time, and adds its options."""
    parser = ShortParser(prog="qrt", description="Quantized MLIR programs: read, check, transform, run.")
    parser.add_argument("--version", action="version", version=f"qrt {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=VerbParser)
    if given and not given[0].startswith("-") and given[0] not in COMMANDS:
        meant = nearest(given[0], COMMANDS)
        parser.error(f"unknown command {given[0]!r}{f'; did you mean {meant!r}?' if meant is not None else ''}")
    if given[:1] in (["opt"], ["run"]):
        load_plugins(given)
    names = given[:1] if given[:1] and given[0] in COMMANDS else list(COMMANDS)  # to make a parser takes long
    for name in names:
        verb = commands.add_parser(name, help=_COMMANDS[name][1], allow_abbrev=False)
        if given[:1] == [name]:
            COMMANDS[name].add_arguments(verb)
    if given[:1] == ["opt"] and (text := COMMANDS["opt"].help_of(given)):
        print(text, end="")
        parser.exit()
    return parser.parse_args(given)
