"""``qrt export``: write a program as an ONNX model with QuantizeLinear and DequantizeLinear nodes."""

import argparse

from qrt.cli.options import add_input_limit, add_input_shapes, add_profile, input_shapes
from qrt.extras import extra
from qrt.files import check_output, check_places
from qrt.models.programs import export_onnx, load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `qrt export` to its parser."""
    parser.add_argument("file", metavar="FILE", help="the program: an .mlir file, or a model")
    parser.add_argument("-o", dest="output", metavar="OUT.onnx", required=True, help="where the model goes")
    parser.add_argument("--function", metavar="NAME", help="what is written: main, or the only one, if not given")
    add_profile(parser)
    add_input_shapes(parser)
    add_input_limit(parser)
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Run `qrt export`: write a program as an ONNX model."""
    check_output(options.output, [".onnx"], [options.file])
    check_places([options.output])
    extra("onnx", "onnx")  # it may be missing, which is better said before the import
    module = load(
        options.file,
        profile=options.profile,
        max_bytes=options.max_input,
        for_quantization=True,
        shapes=input_shapes(options),
    )
    export_onnx(options.output, module, function=options.function)
