"""The command line: ``qrt run``, ``qrt opt`` and ``qrt bench``.

Exit status: 0 done, 1 the input is wrong or an output cannot be written (a line on standard error), 2 usage, 130
interrupted, 141 nobody reads the output any more. ``-`` reads standard input and writes standard output.
"""

import argparse
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from io import BytesIO, StringIO, TextIOWrapper
from typing import Any, BinaryIO, TextIO

import numpy as np

from qrt import ir, kernels
from qrt._version import __version__
from qrt.errors import ModelError, QuantError, diagnostics
from qrt.execute import Program, load
from qrt.files import read_bytes, read_text, reason, shown_name, write_files
from qrt.ops.core import Array, element_dtype
from qrt.options import Named, add_input_limit, duration, whole_number
from qrt.tensor import QuantTensor
from qrt.types import TensorType, parse_type


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and returns the exit status."""
    _open_streams()
    try:
        status = _execute(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
        return status
    except QuantError as error:
        return _fail("\n".join(map(str, diagnostics(error))))
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
    told = StringIO()
    try:
        with redirect_stdout(told):  # where argparse swallows that nothing can be written
            options = _parse(given)
    except SystemExit as stop:
        if text := told.getvalue():
            sys.stdout.write(text)
        try:
            sys.stderr.flush()
        except OSError:  # nobody reads it
            _leave_unwritten(sys.stderr)
        return int(stop.code or 0)
    return int(options.command(options) or 0)


class _Closed(StringIO):
    """Standard output where there is none: what was to be written there is not lost in silence."""

    def write(self, text: str) -> int:
        raise ModelError("standard output is closed")


def _open_streams() -> None:
    """Makes standard output and standard error take text: Python has None for one that is closed."""
    if sys.stdout is None:
        sys.stdout = _Closed()
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
    """What is left in a stream that takes no more: Python would try again, and complain, at its end."""
    with suppress(OSError, ValueError):
        number, null = stream.fileno(), os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, number)
        os.close(null)


def _interrupted(is_program: bool) -> int:
    """Ends a program by the signal that it got, as shells expect; a caller gets the status that they would show."""
    _fail("interrupted")
    if is_program:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return 128 + signal.SIGINT


def _parse(given: list[str]) -> argparse.Namespace:
    if given[:1] != ["opt"]:
        return _parser().parse_args(given)
    from qrt import opt  # here: to run a program takes no passes

    return _parser(opt.add_arguments).parse_args(opt.expand(given))


def _parser(add_opt_arguments: Callable[[argparse.ArgumentParser], None] | None = None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="qrt", description="Quantized MLIR programs: read, check, transform, run.")
    parser.add_argument("--version", action="version", version=f"qrt {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run a function of a program", allow_abbrev=False)
    run.add_argument("file", metavar="FILE")
    run.add_argument("--function", metavar="NAME")
    run.add_argument("--input", action=Named, scope="input", default=[], metavar="NAME=X.npy")
    run.add_argument("--input-value", action=Named, scope="input", default=[], metavar="NAME=4xf32=0,1,2,3")
    run.add_argument("--output", action=Named, scope="output", default=[], metavar="NAME=Y.npy")
    add_input_limit(run)
    run.add_argument("--isa", metavar="NAME", help=f"one of {', '.join(kernels.available())}")
    run.add_argument("--threads", type=int, metavar="N")
    how = run.add_mutually_exclusive_group()
    how.add_argument("--interpret", action="store_true", help="run every op's plain reference instead of the kernels")
    how.add_argument(
        "--print-plan", action="store_true", help="show which op would run where, a line for each, and end"
    )
    run.add_argument("--max-steps", type=whole_number, metavar="N", help="stop after N operations in the interpreter")
    run.add_argument(
        "--saturating", action="store_true", help="convert floats beyond an integer type to its nearest end"
    )
    run.set_defaults(command=_run)

    opt = commands.add_parser("opt", help="check, transform and print a program", allow_abbrev=False)
    if add_opt_arguments is not None:
        add_opt_arguments(opt)

    bench = commands.add_parser("bench", help="measure the kernels on this machine", allow_abbrev=False)
    bench.add_argument("--case", default="*", metavar="PATTERN", help="names to measure, such as 'gemm*'")
    bench.add_argument("--isa", metavar="NAME", help=f"one of {', '.join(kernels.available())}")
    bench.add_argument("--threads", type=int, metavar="N")
    bench.add_argument("--seconds", type=duration, default=0.2, help="spent on each case (default 0.2)")
    bench.set_defaults(command=_bench)
    return parser


def _read(name: str, limit: int) -> ir.Module:
    if name != "-":
        return load(name, max_bytes=limit)
    return ir.parse(read_text(name, limit), filename=shown_name(name))


# ------------------------------------------------------------------------------------------------------------------ run


def _run(options: argparse.Namespace) -> None:
    with ExitStack() as stack:
        if options.isa is not None:
            stack.enter_context(kernels.use(options.isa))
        if options.threads is not None:
            kernels.set_num_threads(options.threads)
        limit = options.max_input
        program = Program(_read(options.file, limit), options.function, saturating=options.saturating)
        inputs = {name: _named(_load_array(path, limit), program, name) for name, path in map(_pair, options.input)}
        inputs |= {name: _parse_value(text, program, name) for name, text in map(_pair, options.input_value)}
        if options.print_plan:
            print(program.plan_text(inputs))
            return
        results = program.run(inputs, interpret=options.interpret, max_steps=options.max_steps)
    targets = dict(map(_pair, options.output))
    if unknown := set(targets) - set(results):
        raise ModelError(f"no output is named {min(unknown)!r}; the outputs are {', '.join(results) or 'none'}")
    write_files([(targets[name], partial(_save_array, value)) for name, value in results.items() if name in targets])
    for name, value in results.items():
        if not targets:
            _show(name, value)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise ModelError(f"expected NAME=VALUE, got {text!r}")
    return name, value


def _load_array(path: str, limit: int) -> Array:
    file = BytesIO(read_bytes(path, limit))
    if file.getvalue()[:2] == b"PK":
        raise ModelError(f"{path}: an .npz archive, an .npy file is expected")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python's parser, about what is an error in a moment
            return np.lib.format.read_array(file, allow_pickle=False)
    except Exception as error:  # a header is Python's to parse, which raises what it likes
        raise ModelError(f"{path}: not an .npy file of numbers: {reason(error)}") from None


def _named(array: Array, program: Program, name: str) -> Array:
    """The array in its input's dtype where the file says only the size: NumPy has no name for bf16 and f8."""
    elements = [element_dtype(port.type.element) for port in program.inputs if port.name == name]
    unnamed = array.dtype.kind == "V" and array.dtype.names is None
    if unnamed and elements and elements[0].kind == "V" and elements[0].itemsize == array.dtype.itemsize:
        return array.view(elements[0])
    return array


def _parse_value(text: str, program: Program, name: str) -> Array:
    """``4xf32=0,1,2,3``: a shape, an element type and the values (one value fills the shape)."""
    spelled, _, numbers = text.rpartition("=")
    try:
        t = parse_type(f"tensor<{spelled}>" if spelled else "")
    except QuantError:
        raise ModelError(f"input {name!r}: expected SHAPExTYPE=VALUES such as 4xf32=0,1,2,3, got {text!r}") from None
    assert isinstance(t, TensorType)
    if not t.has_static_shape:
        raise ModelError(f"input {name!r}: the shape of {spelled} must be static")
    shape = tuple(d for d in t.shape or () if d is not None)
    dtype = element_dtype(t.element)
    try:
        number = float if dtype.kind not in "iub" else int
        values = np.array([number(v) for v in numbers.split(",")]).astype(dtype)
        return np.full(shape, values[0]) if values.size == 1 else values.reshape(shape)
    except (ValueError, OverflowError) as error:
        raise ModelError(f"input {name!r}: {error}") from None


def _save_array(value: Any, file: BinaryIO) -> None:
    array = np.asarray(value.storage if isinstance(value, QuantTensor) else value)
    np.lib.format.write_array(_Plain(file.write), array, allow_pickle=False)


@dataclass(frozen=True)
class _Plain:
    """A file of which NumPy does not know that it is one: written past Python, a full disk has no reason."""

    write: Callable[[bytes], int]


def _bench(options: argparse.Namespace) -> None:
    from qrt import bench  # here: to run a program takes no shapes

    with kernels.use(options.isa or kernels.active()):
        if options.threads is not None:
            kernels.set_num_threads(options.threads)
        bench.run(options.case, options.seconds)


def _show(name: str, value: Any) -> None:
    if isinstance(value, QuantTensor):
        print(f"{name}: {value.tensor_type}\nstorage = {np.array2string(value.storage, separator=', ')}")
        value = value.dequantize()
    print(f"{name} = {np.array2string(np.asarray(value), separator=', ')}")
