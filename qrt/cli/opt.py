"""``qrt opt``: check, transform and print programs, with the options of ``mlir-opt``."""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from qrt import ir
from qrt.cli.options import add_input_limit
from qrt.errors import Diagnostic, QuantError, diagnostics
from qrt.execute.passes import PASSES, Report, run_pipeline
from qrt.files import read_text, shown_name, write_files
from qrt.ir.traits import EXTENSION
from qrt.text.diagnostics import Expectations
from qrt.types import UPSTREAM_VERSIONS

SPLIT = "// -----"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    flags = {
        "--split-input-file": f"the file is several programs, separated by lines '{SPLIT}'",
        "--verify-diagnostics": "check errors, warnings and notes against the file's expected-error, ... comments",
        "--mlir-print-ir-after-all": "print the program after each pass, on standard error",
        "--mlir-print-debuginfo": "print locations; those of lower-qrt name the stage of the arithmetic",
        "--allow-unregistered-dialect": "take ops and types of unknown dialects, in generic form",
        "--strict": "make warnings errors, and check that quantization parameters fit their tensors on every value",
        "--strict-upstream": "passes do what upstream's do, and ops that only qrt has are refused",
        "--timing": "print the time of each step, on standard error",
    }
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("-o", dest="output", metavar="OUT")
    add_input_limit(parser)
    parser.add_argument("--emit", choices=("custom", "generic"), default="custom")
    for flag, text in flags.items():
        parser.add_argument(flag, action="store_true", help=text)
    parser.add_argument(
        "--upstream", type=int, choices=UPSTREAM_VERSIONS, default=22, help="the version of MLIR whose types are read"
    )
    parser.add_argument(
        "--pass-pipeline", action=_PassAction, metavar="PIPELINE", dest="passes", help="passes as text: a,b{option=1}"
    )
    for name, kind in PASSES.items():
        summary = (kind.__doc__ or "").strip().splitlines()[0].replace("%", "%%")
        parser.add_argument(f"--{name}", action=_PassAction, nargs=0, dest="passes", help=f"{summary} (=OPTIONS)")
    parser.set_defaults(command=run, passes=None)


def expand(arguments: Sequence[str]) -> list[str]:
    """`--pass=options` as pipeline text: argparse would take what follows a bare `--pass` for its options."""
    given = (argument.partition("=") for argument in arguments)
    return [
        f"--pass-pipeline={name[2:]}{{{options}}}" if equals and name[2:] in PASSES and name[:2] == "--" else argument
        for argument, (name, equals, options) in zip(arguments, given, strict=True)
    ]


class _PassAction(argparse.Action):
    """Collects passes in the order they were given, as pipeline text."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        name = (option_string or "").removeprefix("--")
        text = values if name == "pass-pipeline" else name
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest) or []), text])


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit status. Raises QuantError where the file cannot be read at all."""
    filename, text = shown_name(options.file), read_text(options.file, options.max_input)
    outputs, failed = [], False
    with _Timing(options.timing) as timing:
        for program in _split(text) if options.split_input_file else [text]:
            expected = Expectations(program, filename) if options.verify_diagnostics else None
            report = _print if expected is None else expected.check
            try:
                outputs.append(_transform(program, filename, options, timing, report))
            except QuantError as error:
                outputs.append("")
                failed = failed or expected is None
                for diagnostic in diagnostics(error):
                    report(diagnostic)
            for problem in expected.problems() if expected is not None else ():
                failed = True
                _print(problem)
    result = f"{SPLIT}\n".join(outputs)
    if options.output is None:
        sys.stdout.write(result)
    elif not failed:
        write_files([(options.output, lambda file: file.write(result.encode()))])
    return int(failed)


def _transform(text: str, filename: str, options: argparse.Namespace, timing: "_Timing", report: Report) -> str:
    with timing.of("parse"):
        module = ir.parse(text, filename, options.allow_unregistered_dialect, options.upstream)
    if options.strict_upstream:
        _refuse_extensions(module)

    def after(name: str, seconds: float) -> None:
        timing.add(name, seconds)
        if options.mlir_print_ir_after_all and name in PASSES:
            text = _text(module, options)
            sys.stderr.write(f"// -----// IR Dump After {name} //----- //\n{text}\n")

    pipeline = ",".join(options.passes or ())
    rules = {"strict": options.strict, "strict_upstream": options.strict_upstream}
    run_pipeline(module, pipeline, **rules, after=after, report=report)
    with timing.of("print"):
        return _text(module, options)


def _text(module: ir.Module, options: argparse.Namespace) -> str:
    return module.print(generic=options.emit == "generic", locations=options.mlir_print_debuginfo)


def _refuse_extensions(module: ir.Module) -> None:
    for operation in module.operation.walk():
        if operation.has_trait(EXTENSION):
            raise operation.error(f"op '{operation.name}' is not upstream's, and refused under --strict-upstream")


def _print(diagnostic: Diagnostic) -> None:
    print(diagnostic, file=sys.stderr)


def _split(text: str) -> Iterator[str]:
    """The programs of a file, each after as many newlines as stand before it, so that its lines keep their numbers."""
    part: list[str] = []
    before = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if line.rstrip() == SPLIT:
            yield "\n" * before + "".join(part)
            part, before = [], number
        else:
            part.append(line)
    yield "\n" * before + "".join(part)


class _Timing:
    """Seconds per step, printed at the end where that is asked for."""

    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted
        self.seconds: dict[str, float] = {}

    def add(self, name: str, seconds: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - start)

    def __enter__(self) -> "_Timing":
        return self

    def __exit__(self, *_: object) -> None:
        if self.wanted:
            total = sum(self.seconds.values())
            for name, seconds in [*self.seconds.items(), ("total", total)]:
                print(f"{seconds:10.4f} s  {name}", file=sys.stderr)
