"""``qrt run``: run a function of a program."""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, Literal

import numpy as np

import qrt.ir as ir
from qrt.cli import plugins
from qrt.cli.inputs import named_port, parse_value, program_of, read_array, require_all
from qrt.cli.options import (
    NamedValueAction,
    add_input_limit,
    add_input_shapes,
    add_kernel_choice,
    add_profile,
    chosen_kernels,
    whole_number,
)
from qrt.cli.timing import TimedEntry, report
from qrt.errors import ModelError
from qrt.files import check_output, read_text, shown_name, write_files
from qrt.ops.core import Array
from qrt.runtime.compilation import compile, preparation_text
from qrt.runtime.program import Program
from qrt.tensor import QuantTensor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `qrt run` to its parser."""
    parser.add_argument("file", metavar="FILE", help="a program, a model, or a saved program; - reads standard input")
    parser.add_argument("--function", metavar="NAME", help="what runs: main, or the only one, if not given")
    for name, scope, metavar, text in (
        ("--input", "input", "NAME=X.npy", "an argument from a file; NAME is its qrt.name, or a for %%a in the text"),
        ("--input-value", "input", "NAME=4xf32=0,1,2,3", "an argument by its type and values"),
        ("--output", "output", "NAME=Y.npy", "where a result goes; without any, all results are printed"),
    ):
        parser.add_argument(name, action=NamedValueAction, scope=scope, default=[], metavar=metavar, help=text)
    plugins.add_arguments(parser)
    add_profile(parser)
    add_input_shapes(parser)
    add_input_limit(parser)
    add_kernel_choice(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--interpret", action="store_true", help="run every op's plain reference instead of the kernels")
    how.add_argument(
        "--print-plan", action="store_true", help="show which op would run where, a line for each, and end"
    )
    how.add_argument(
        "--print-pipeline",
        action="store_true",
        help="show the passes that run before the program is planned, as qrt opt --pass-pipeline takes them, and end",
    )
    how.add_argument("--timing", action="store_true", help="print what each step took, on standard error")
    parser.add_argument(
        "--codegen",
        action="store_true",
        help="run machine code for this CPU; an op that has none is an error",
    )
    parser.add_argument(
        "--best-effort", action="store_true", help="with --codegen: run a function with such an op as without --codegen"
    )
    parser.add_argument(
        "--max-steps",
        type=whole_number,
        metavar="N",
        help="stop after N operations in the interpreter; without it, after a million rounds of a while",
    )
    parser.add_argument(
        "--saturating", action="store_true", help="convert floats beyond an integer type to its nearest end"
    )
    parser.set_defaults(command=run)


def _program(options: argparse.Namespace) -> Program:
    name, limit, codegen = options.file, options.max_input, _codegen(options)
    if name != "-":
        return program_of(options, saturating=options.saturating, codegen=codegen, max_bytes=limit)
    module = ir.parse(read_text(name, limit), filename=shown_name(name))
    return compile(module, options.function, saturating=options.saturating, codegen=codegen)


def _codegen(options: argparse.Namespace) -> bool | Literal["best-effort"]:
    """Return the argument ``codegen`` of `qrt.compile`. Raise ModelError for options that exclude each other."""
    if options.best_effort and not options.codegen:
        raise ModelError("--best-effort is for --codegen, which is not given")
    if options.codegen and options.interpret:
        raise ModelError("--codegen runs machine code and --interpret the interpreter: give one of them")
    return "best-effort" if options.best_effort else bool(options.codegen)


def run(options: argparse.Namespace) -> None:
    """Run `qrt run`: compute the results of a program's function, and print or save them."""
    targets = dict(map(_pair, options.output))
    for target in targets.values():
        check_output(target, [".npy"], [options.file])
    with chosen_kernels(options):
        program = _program(options)
        if options.print_pipeline:
            print(preparation_text(program))
            return
        inputs = _inputs(options, program)
        if options.print_plan:
            print(program.plan_text(inputs))
            return
        require_all(program, set(inputs))
        results = _results(options, program, inputs)
    if unknown := set(targets) - set(results):
        raise ModelError(f"no output is named {min(unknown)!r}; the outputs are {', '.join(results) or 'none'}")
    write_files([(targets[name], partial(_save_array, value)) for name, value in results.items() if name in targets])
    for name, value in results.items():
        if not targets:
            _show(name, value)


def _inputs(options: argparse.Namespace, program: Program) -> dict[str, Array]:
    inputs: dict[str, Array] = {}
    given = [(text, True) for text in options.input] + [(text, False) for text in options.input_value]
    for text, is_file in given:
        name, value = _pair(text)
        port = named_port(program, name)
        if port.name in inputs:
            raise ModelError(f"input {port.name!r} is given twice")
        inputs[port.name] = read_array(value, options.max_input, port) if is_file else parse_value(value, name)
    return inputs


def _results(options: argparse.Namespace, program: Program, inputs: dict[str, Array]) -> dict[str, Any]:
    if not options.timing:
        return program.run(inputs, interpret=options.interpret, max_steps=options.max_steps)
    start = time.perf_counter()
    results, timings = program.run_timed(inputs, max_steps=options.max_steps)
    total = time.perf_counter() - start
    entries = [TimedEntry(f"{step.name} ({step.engine}) {step.location}", step.seconds) for step in timings]
    sys.stderr.write(report(entries, total, digits=6))
    return results


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise ModelError(f"expected NAME=VALUE, got {text!r}")
    return name, value


def _save_array(value: Any, file: BinaryIO) -> None:
    array = np.asarray(value.storage if isinstance(value, QuantTensor) else value)
    np.lib.format.write_array(_Plain(file.write), array, allow_pickle=False)


@dataclass(frozen=True)
class _Plain:
    """A writable stream with only the method `write`, for `np.lib.format.write_array`.

    If NumPy gets a real file, it bypasses Python's buffer, and its error about a full disk does not contain the reason.
    """

    write: Callable[[bytes], int]


def _show(name: str, value: Any) -> None:
    if isinstance(value, QuantTensor):
        print(f"{name}: {value.tensor_type}\nstorage = {np.array2string(value.storage, separator=', ')}")
        value = value.dequantize()
    print(f"{name} = {np.array2string(np.asarray(value), separator=', ')}")
