"""``qrt quantize``: quantize a float program with calibration data."""

import argparse
import sys
from functools import partial
from typing import BinaryIO

from qrt.cli.inputs import by_names
from qrt.cli.options import add_input_limit, add_input_shapes, add_kernel_choice, chosen_kernels, input_shapes
from qrt.cli.terminal import progress_bar, spelled
from qrt.errors import QuantTypeError
from qrt.extras import extra
from qrt.files import check_output, check_places, write_files
from qrt.ir import Module
from qrt.models.onnx.export import onnx_bytes
from qrt.models.programs import load
from qrt.quantization.calibration.records import RECORD_METHODS
from qrt.quantization.search import Budget
from qrt.quantization.workflow import quantize_program
from qrt.runtime.compilation import compile
from qrt.tensor.tensor_files import load_tensors


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `qrt quantize` to its parser."""
    parser.add_argument("file", metavar="FILE", help="the float program: an .mlir file, or a model")
    parser.add_argument(
        "--data",
        required=True,
        metavar="X.npz",
        help="arrays by the names of inputs: .npz or .safetensors",
    )
    parser.add_argument("--function", metavar="NAME", help="what runs: main, or the only one, if not given")
    parser.add_argument("--target", default="qrt-cpu", metavar="NAME", help="the device (default qrt-cpu)")
    parser.add_argument("--method", default="mse", choices=RECORD_METHODS, help="how ranges are chosen (default mse)")
    parser.add_argument(
        "--budget",
        type=_budget,
        metavar="snr=33",
        help="search bit widths: size=0.6, snr=33 or drop=0.005; with the extra qrt[report] a terminal shows progress",
    )
    parser.add_argument(
        "--checkpoint", metavar="C", help="keep what was seen of the data in this file, or go on from it"
    )
    parser.add_argument("--require-full", action="store_true", help="fail where an operation or a port stays float")
    parser.add_argument("--skip-nonfinite", action="store_true", help="leave NaNs and infinities out, and count them")
    parser.add_argument(
        "-o", dest="output", metavar="Q", help="where the program goes, as .mlir or .onnx; printed if not given"
    )
    parser.add_argument("--html", metavar="R.html", help="where a report goes of what each region lost, as one page")
    add_input_shapes(parser)
    add_input_limit(parser, None)
    add_kernel_choice(parser)
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """Run `qrt quantize`, and return the exit status: 1 if no quantized program meets the budget, else 0."""
    sources = [options.file, options.data, options.checkpoint]
    check_output(options.output, [".mlir", ".onnx"], sources)
    check_output(options.html, [".html"], sources)
    check_places([name for name in (options.output, options.html) if name])
    if options.output is not None and options.output.endswith(".onnx"):
        extra("onnx", "onnx")  # it may be missing, which is better said before the calibration
    arrays = load_tensors(options.data)
    module = load(options.file, max_bytes=options.max_input, for_quantization=True, shapes=input_shapes(options))
    data = by_names(compile(module, options.function), arrays)
    with chosen_kernels(options), progress_bar() as progress:
        result = quantize_program(
            module,
            data,
            options.target,
            options.method,
            function=options.function,
            budget=options.budget,
            checkpoint=options.checkpoint,
            skip_nonfinite=options.skip_nonfinite,
            require_full=options.require_full,
            progress=progress,
        )
        page = None if options.html is None else result.report.html()
    for diagnostic in result.remarks:
        print(spelled(diagnostic), file=sys.stderr)
    for key, count in result.calibration.skipped.items():
        print(f"{key}: NaNs and infinities left out: {count}", file=sys.stderr)
    whole = _written(result.module, options.output, options.function)
    if options.output is None:
        sys.stdout.buffer.write(whole)
    outputs = [(options.output, whole), (options.html, None if page is None else page.encode())]
    write_files([(name, partial(_write, content)) for name, content in outputs if name and content])
    if result.budget_summary:
        print(result.budget_summary, file=sys.stderr)
    return 0 if result.reached else 1


def _budget(text: str) -> str:
    """Return the text of ``--budget`` if it is valid; otherwise report a usage error."""
    try:
        Budget.parse(text)
    except QuantTypeError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _written(module: Module, output: str | None, function: str | None) -> bytes:
    """Return a program as the bytes of its text or, if the output file ends in ``.onnx``, of an ONNX model."""
    if output is not None and output.endswith(".onnx"):
        return onnx_bytes(module, function, output)
    return str(module).encode()


def _write(data: bytes, file: BinaryIO) -> None:
    file.write(data)
