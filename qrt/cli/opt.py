"""``qrt opt``: check, transform and print programs, with the options of ``mlir-opt``."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import qrt.ir as ir
from qrt.cli import plugins
from qrt.cli.ir_dumps import Dumps
from qrt.cli.options import add_input_limit, whole_number
from qrt.cli.parser import VerbParser
from qrt.cli.pass_help import listed, whole
from qrt.cli.terminal import spelled
from qrt.cli.timing import Timing
from qrt.errors import Diagnostic, QuantError, diagnostics, nearest
from qrt.files import check_output, read_text, shown_name, write_files
from qrt.ir.core import registry
from qrt.ir.core.constraints import element_of
from qrt.ir.core.traits import EXTENSION
from qrt.ir.pipeline import PASSES, module_steps, run_steps, title
from qrt.ir.pipeline_text import PipelineStep, spell_steps
from qrt.ir.remarks import Report
from qrt.types import UPSTREAM_VERSIONS, NoQuantizedType
from qrt.types.diagnostics import Expectations

SPLIT = "// -----"


def add_arguments(parser: VerbParser) -> None:
    """Add the options of `qrt opt` to its parser."""
    parser.usage = "qrt opt [options] [FILE]"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog_maker = _epilog
    parser.add_argument("file", metavar="FILE", nargs="?", default="-", help="the program; standard input if not given")
    parser.add_argument("-o", dest="output", metavar="OUT", help="where the program goes")
    add_input_limit(parser)
    parser.add_argument("--emit", choices=("custom", "generic"), default="custom", help="the form that is printed")
    for flag, text in _FLAGS.items():
        parser.add_argument(flag, action="store_true", help=text)
    parser.add_argument(
        "--verify-each", action="store_true", default=True, help="verify after each pass (--verify-each=false: do not)"
    )
    parser.add_argument("--color", action="store_true", default=None, help="diagnostics have colours, or =false none")
    for when in ("before", "after"):
        parser.add_argument(
            f"--mlir-print-ir-{when}",
            action="extend",
            type=_pass_names,
            default=[],
            metavar="PASS",
            help=f"as {when}-all, for passes of these names, with commas between",
        )
    parser.add_argument(
        "--mlir-elide-elementsattrs-if-larger",
        type=whole_number,
        metavar="N",
        help="print constants of more than N elements without their values",
    )
    parser.add_argument(
        "--upstream", type=int, choices=UPSTREAM_VERSIONS, default=22, help="the version of MLIR whose types are read"
    )
    parser.add_argument(
        "--pass-pipeline", action=_PassAction, metavar="PIPELINE", dest="passes", help="passes as text: a,b{option=1}"
    )
    for flag, action in {"--show-dialects": _ShowDialects, "--list-passes": _ListPasses}.items():
        parser.add_argument(flag, action=action, nargs=0, help=action.__doc__)
    plugins.add_arguments(parser)
    taken = parser._option_string_actions  # a pass from outside that is called as an option stands in pipelines alone
    for name in [name for name in PASSES if f"--{name}" not in taken]:
        parser.add_argument(f"--{name}", action=_PassAction, nargs="?", dest="passes", help=argparse.SUPPRESS)
    parser.set_defaults(command=run, passes=None)


def _epilog() -> str:
    passes = f"passes, in the order in which they run, --PASS='OPTION=VALUE ...':\n{listed()}"
    return f"{passes}\n\nWith --help, --PASS shows all there is to say of that pass."


_FLAGS = {
    "--split-input-file": f"the file is several programs, separated by lines '{SPLIT}'",
    "--verify-diagnostics": "check errors, warnings, remarks and notes against the file's expected-error, ... comments",
    "--dump-pass-pipeline": "print the pipeline that runs, on standard error",
    "--mlir-timing": "print the time and the share of each step, on standard error",
    "--timing": "the same as --mlir-timing",
    "--mlir-print-ir-before-all": "print the program before each pass, on standard error",
    "--mlir-print-ir-after-all": "print the program after each pass, on standard error",
    "--mlir-print-ir-after-change": "print it after a pass only if that changed it",
    "--mlir-print-ir-after-failure": "print it after a pass only if that failed",
    "--mlir-print-ir-module-scope": "print the whole program where a pass is nested in an operation",
    "--mlir-print-op-generic": "print the generic form, as --emit=generic",
    "--mlir-print-local-scope": "print without aliases, of which qrt prints none anyway",
    "--mlir-print-debuginfo": "print locations; those of lower-qrt name the stage of the arithmetic",
    "--mlir-disable-threading": "accepted, and changes nothing: passes run one after the other",
    "--allow-unregistered-dialect": "take ops and types of unknown dialects, in generic form",
    "--strict": "make warnings errors, and check that quantization parameters fit their tensors on every value",
    "--strict-upstream": "passes do what upstream's do, and ops and types that only qrt has are refused",
}


def _pass_names(text: str) -> list[str]:
    """Parse pass names separated by commas. Report a usage error for an unknown name."""
    names = text.split(",")
    for name in names:
        if name not in PASSES:
            meant = nearest(name, PASSES)
            hint = f"; did you mean {meant!r}?" if meant is not None else ""
            raise argparse.ArgumentTypeError(f"no pass is named {name!r}{hint}")
    return names


class _PassAction(argparse.Action):
    """An argparse action that appends a pass with its options, as pipeline text, in command-line order."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        name = (option_string or "").removeprefix("--")
        text = values if name == "pass-pipeline" else f"{name}{{{values}}}" if values else name
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest) or []), text])


class _ShowDialects(argparse.Action):
    """list the dialects that qrt knows, and end"""

    def __call__(self, parser: Any, *_: Any) -> None:
        print(f"Available Dialects: {','.join(sorted(registry.DIALECTS))}")
        parser.exit()


class _ListPasses(argparse.Action):
    """list the passes with their options, and end"""

    def __call__(self, parser: Any, *_: Any) -> None:
        print(f"Passes:\n{listed()}")
        parser.exit()


def help_of(given: Sequence[str]) -> str:
    """Return the help of those passes that a command line with `--help` names; an empty text if there are none."""
    names = [argument.partition("=")[0].lstrip("-") for argument in given if argument.startswith("-")]
    passes = [name for name in names if name in PASSES]
    return "\n".join(map(whole, passes)) if {"help", "h"} & set(names) else ""


def run(options: argparse.Namespace) -> int:
    """Run `qrt opt`, and return the exit status. Raise QuantError if the file cannot be read."""
    check_output(options.output, [".mlir"])
    if options.file == "-" and sys.stdin is not None and sys.stdin.isatty():
        print("(processing input from stdin now, hit ctrl-c/ctrl-d to interrupt)", file=sys.stderr)
    filename, text = shown_name(options.file), read_text(options.file, options.max_input)
    outputs, failed = [], False

    def show(diagnostic: Diagnostic) -> None:
        print(spelled(diagnostic, options.color), file=sys.stderr)

    for program in _split(text) if options.split_input_file else [text]:
        expected = Expectations(program, filename) if options.verify_diagnostics else None
        report = show if expected is None else expected.check
        with Timing(options.timing or options.mlir_timing) as timing:
            observer = _Observer(options, timing)
            try:
                outputs.append(_transform(program, filename, options, observer, report))
            except QuantError as error:
                outputs.append("")
                failed = failed or expected is None
                for diagnostic in diagnostics(error):
                    report(diagnostic)
            observer.flush()
        for problem in expected.problems() if expected is not None else ():
            failed = True
            show(problem)
    result = f"{SPLIT}\n".join(outputs)
    if options.output is None:
        sys.stdout.write(result)
    elif not failed:
        write_files([(options.output, lambda file: file.write(result.encode()))])
    return int(failed)


def _transform(text: str, filename: str, options: argparse.Namespace, observer: "_Observer", report: Report) -> str:
    with observer.timing.of("Parser"):
        module = ir.parse(text, filename, options.allow_unregistered_dialect, options.upstream)
    if options.strict_upstream:
        _refuse_extensions(module)
    steps = module_steps(",".join(options.passes or ()), options.strict_upstream)
    if options.dump_pass_pipeline:
        sys.stderr.write(f"Pass Manager with {len(steps)} passes:\n{spell_steps(steps)}\n\n")
    run_steps(module, steps, strict=options.strict, verify_each=options.verify_each, observer=observer, report=report)
    observer.flush()
    with observer.timing.of("Output"):
        return _text(module, options)


class _Observer(Dumps):
    """Observer of a pipeline that prints IR dumps as the options request, and records the time of each pass."""

    def __init__(self, options: argparse.Namespace, timing: Timing) -> None:
        super().__init__(options, lambda module: _text(module, options))
        self.timing = timing

    def verified(self, seconds: float) -> None:
        self.timing.add("Verifier", seconds)

    def after(self, module: ir.Module, step: PipelineStep, anchors: tuple[str, ...], seconds: float) -> None:
        self.timing.add(title(step), seconds, anchors)
        super().after(module, step, anchors, seconds)


def _text(module: ir.Module, options: argparse.Namespace) -> str:
    return module.print(
        generic=options.emit == "generic" or options.mlir_print_op_generic,
        locations=options.mlir_print_debuginfo,
        elide_above=options.mlir_elide_elementsattrs_if_larger,
    )


def _refuse_extensions(module: ir.Module) -> None:
    for operation in module.operation.walk():
        if operation.has_trait(EXTENSION):
            raise operation.error(f"op '{operation.name}' does not exist upstream, which --strict-upstream requires")
        arguments = [value for region in operation.regions for block in region.blocks for value in block.arguments]
        for value in (*operation.results, *arguments):
            if isinstance(element_of(value.type), NoQuantizedType):
                raise operation.error(f"type '{value.type}' does not exist upstream, which --strict-upstream requires")


def _split(text: str) -> Iterator[str]:
    """Yield the programs in a file for `--split-input-file`; lines ``// -----`` separate them.

    Empty lines are put in front of each program, so that line numbers in messages are those of the file.
    """
    part: list[str] = []
    before = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if line.rstrip() == SPLIT:
            yield "\n" * before + "".join(part)
            part, before = [], number
        else:
            part.append(line)
    yield "\n" * before + "".join(part)
