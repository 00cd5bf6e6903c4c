"""``qrt explain``: list the steps of a program or model, or find where a quantized program loses accuracy.

With ``--against``, the quantized program is compared with the float program that the option gives.
"""

import argparse
import sys
from pathlib import Path
from shutil import get_terminal_size

from qrt.cli.inputs import by_names, is_saved, program_of
from qrt.cli.options import (
    add_input_limit,
    add_input_shapes,
    add_kernel_choice,
    add_profile,
    chosen_kernels,
    input_shapes,
)
from qrt.cli.terminal import has_colours
from qrt.errors import ModelError
from qrt.files import check_output, write_files
from qrt.models.programs import load, load_reported
from qrt.quantization.explain import explain_program
from qrt.quantization.explain_plan import explain_plan
from qrt.quantization.report.as_json import as_json
from qrt.quantization.report.html import as_html
from qrt.quantization.report.steps import steps_json, steps_text
from qrt.quantization.report.text import as_text
from qrt.runtime.compilation import compile
from qrt.runtime.program import Program
from qrt.tensor.tensor_files import load_tensors


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `qrt explain` to its parser."""
    parser.add_argument("file", metavar="FILE", help="a program, a model or a saved program, whose steps are listed")
    parser.add_argument(
        "--against",
        metavar="F.mlir",
        help="the float program or model of which qrt quantize made FILE, a .mlir file: what was lost",
    )
    parser.add_argument("--data", metavar="X.npz", help="arrays by the names of inputs: .npz or .safetensors")
    parser.add_argument("--function", metavar="NAME", help="what runs: main, or the only one, if not given")
    parser.add_argument("--target", metavar="NAME", help="the device, or its file, if the program names no known one")
    parser.add_argument(
        "--skip-nonfinite", action="store_true", help="leave out rows whose float outputs are NaNs or infinite"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON, whose schema has a version")
    form.add_argument("--html", metavar="OUT", help="write a page to a file")
    add_profile(parser)
    add_input_shapes(parser)
    add_input_limit(parser, None)
    add_kernel_choice(parser)
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Run `qrt explain`: print the steps of a program, or where it loses accuracy."""
    check_output(options.html, [".html"], [options.file, options.against, options.data])
    if options.against is None:
        _explain_steps(options)
        return
    if options.data is None:
        raise ModelError("--against needs --data, the inputs that both programs run on")
    if Path(options.file).suffix != ".mlir":
        raise ModelError(
            f"{options.file}: --against compares regions by the keys that `qrt quantize -o Q.mlir` "
            "writes, which other files do not have: give the Q.mlir of the same quantization"
        )
    arrays = load_tensors(options.data)
    quantized = load(options.file, max_bytes=options.max_input)
    floats = load(options.against, max_bytes=options.max_input, for_quantization=True, shapes=input_shapes(options))
    data = by_names(compile(floats, options.function), arrays)
    with chosen_kernels(options):
        report = explain_program(
            quantized,
            floats,
            data,
            function=options.function,
            target=options.target,
            skip_nonfinite=options.skip_nonfinite,
        )
    if options.html is not None:
        page = as_html(report).encode()
        write_files([(options.html, lambda file: file.write(page))])
        return
    if options.json:
        text = as_json(report)
    else:
        text = as_text(report, get_terminal_size().columns, colour=has_colours(sys.stdout))
    sys.stdout.write(text)


def _reported(options: argparse.Namespace) -> tuple[Program, str]:
    """Return the compiled program of ``options.file``, and the importer's report about folded operations."""
    if is_saved(options.file):
        return program_of(options), ""
    module, folds = load_reported(
        options.file, profile=options.profile, max_bytes=options.max_input, shapes=input_shapes(options)
    )
    return compile(module, options.function), folds


def _explain_steps(options: argparse.Namespace) -> None:
    """Print the steps of a program, with measurements from a run on the arrays of ``--data`` or on random inputs."""
    if options.html is not None or options.target is not None or options.skip_nonfinite:
        raise ModelError("--html, --target and --skip-nonfinite need --against and --data")
    arrays = None if options.data is None else load_tensors(options.data)
    program, folds = _reported(options)
    inputs = None if arrays is None else by_names(program, arrays)
    with chosen_kernels(options):
        report = explain_plan(program, inputs)
    sys.stdout.write(steps_json(report) if options.json else f"{steps_text(report)}{folds}")
    if options.json:
        sys.stderr.write(folds)
