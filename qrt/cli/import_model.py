"""``qrt import``: convert a TFLite or ONNX model to a program, and print it."""

import argparse
import sys
from pathlib import Path
from typing import BinaryIO

from qrt.cli.options import add_input_limit, add_input_shapes, add_profile, input_shapes
from qrt.errors import ModelError
from qrt.files import check_output, write_files
from qrt.models.programs import load_reported


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `qrt import` to its parser."""
    parser.add_argument("file", metavar="FILE", help="the model, a .tflite or .onnx file")
    parser.add_argument("-o", dest="output", metavar="OUT", help="where the program goes; standard output if not given")
    parser.add_argument("--emit", choices=("custom", "generic"), default="custom", help="the form that is printed")
    add_profile(parser)
    add_input_shapes(parser)
    add_input_limit(parser)
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Run `qrt import`: convert a TFLite or ONNX model to a program, and print it."""
    check_output(options.output, [".mlir"], [options.file])
    if Path(options.file).suffix == ".mlir":
        raise ModelError(f"{options.file}: the file is a program and needs no import; qrt opt prints it")
    module, report = load_reported(
        options.file, profile=options.profile, max_bytes=options.max_input, shapes=input_shapes(options)
    )
    module.verify()
    sys.stderr.write(report)
    text = module.print(generic=options.emit == "generic")
    if options.output is None:
        print(text, end="")
        return

    def write(file: BinaryIO) -> None:
        file.write(text.encode())

    write_files([(options.output, write)])
