"""``qrt explain``: what a quantization did to a program, and where it lost accuracy."""

import argparse
import sys
from shutil import get_terminal_size

from qrt.cli.diagnostics import has_colours
from qrt.cli.inputs import by_names
from qrt.cli.options import add_kernel_choice, chosen_kernels
from qrt.execute import Program
from qrt.files import write_files
from qrt.formats import load_tensors
from qrt.formats.programs import load
from qrt.workflow import explain_program


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("file", metavar="Q.mlir", help="the quantized program, as qrt quantize wrote it")
    parser.add_argument("--against", required=True, metavar="F.mlir", help="the float program that it was made of")
    parser.add_argument(
        "--data", required=True, metavar="X.npz", help="arrays by the names of inputs: .npz or .safetensors"
    )
    parser.add_argument("--function", metavar="NAME", help="what runs: main, or the only one, if not given")
    parser.add_argument("--target", metavar="NAME", help="the device, or its file, if the program names no known one")
    parser.add_argument(
        "--skip-nonfinite", action="store_true", help="leave out rows whose float outputs are NaNs or infinite"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON, whose schema has a version")
    form.add_argument("--html", metavar="OUT", help="write a page to a file")
    add_kernel_choice(parser)
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Runs the command."""
    quantized, floats = load(options.file), load(options.against)
    data = by_names(Program(floats, options.function), load_tensors(options.data))
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
        from qrt.report.html import as_html

        page = as_html(report).encode()
        write_files([(options.html, lambda file: file.write(page))])
        return
    if options.json:
        from qrt.report.as_json import as_json

        text = as_json(report)
    else:
        from qrt.report.text import as_text

        text = as_text(report, get_terminal_size().columns, colour=has_colours(sys.stdout))
    sys.stdout.write(text)
