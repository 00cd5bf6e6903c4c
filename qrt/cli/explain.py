"""``qrt explain``: what a quantization did to a program, and where it lost accuracy."""

import argparse
import os
import sys
from collections.abc import Callable
from shutil import get_terminal_size

from qrt.cli.options import add_kernel_choice, chosen_kernels
from qrt.execute import load
from qrt.files import write_files
from qrt.formats import load_tensors
from qrt.report import Report
from qrt.workflow import explain_program


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("file", metavar="Q.mlir", help="the quantized program, as qrt quantize wrote it")
    parser.add_argument("--against", required=True, metavar="F.mlir", help="the float program that it was made of")
    parser.add_argument(
        "--data", required=True, metavar="X.npz", help="arrays by the names of inputs: .npz or .safetensors"
    )
    parser.add_argument("--function", metavar="NAME", help="what runs: main, or the only one, if not given")
    parser.add_argument("--target", metavar="NAME", help="the device, if it is another than the program names")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", metavar="OUT", nargs="?", const="-", help="write JSON to a file, or print it")
    form.add_argument("--html", metavar="OUT", help="write a page to a file")
    add_kernel_choice(parser)
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Runs the command."""
    quantized, floats = load(options.file), load(options.against)
    data = load_tensors(options.data)
    with chosen_kernels(options):
        report = explain_program(quantized, floats, data, function=options.function, target=options.target)
    path, render = _form(options)
    text = render(report)
    if path == "-":
        sys.stdout.write(text)
    else:
        write_files([(path, lambda file: file.write(text.encode()))])


def _form(options: argparse.Namespace) -> tuple[str, Callable[[Report], str]]:
    """Where the report goes, and as what."""
    if options.json is not None:
        from qrt.report.as_json import as_json

        return options.json, as_json
    if options.html is not None:
        from qrt.report.html import as_html

        return options.html, as_html
    from qrt.report.text import as_text

    width = get_terminal_size().columns
    return "-", lambda report: as_text(report, width, colour=_has_colour())


def _has_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")
