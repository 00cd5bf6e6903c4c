"""``qrt diff``: compare a model, tensor by tensor, with the runtime it was made for (LiteRT or ONNX Runtime)."""

import argparse
import sys
from pathlib import Path

from qrt.cli.inputs import named_port, read_array, require_all
from qrt.cli.options import (
    NamedValueAction,
    add_input_limit,
    add_input_shapes,
    add_kernel_choice,
    chosen_kernels,
    input_shapes,
    whole_number,
)
from qrt.errors import ModelError
from qrt.files import MAX_INPUT
from qrt.models.diff.compare import ModelComparison
from qrt.models.diff.drawn_inputs import drawn_inputs
from qrt.models.engines.engine import ENGINES, Engine
from qrt.models.profiles import PROFILES
from qrt.models.programs import MAX_MODEL
from qrt.ops.core import Array
from qrt.quantization.report.differences import differences_text
from qrt.runtime.program import Program

_NAMES = tuple(PROFILES)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `qrt diff` to its parser."""
    parser.add_argument("file", metavar="MODEL", help="the model: a .tflite or an .onnx file")
    parser.add_argument(
        "--against",
        required=True,
        choices=_NAMES,
        help="what it is compared with: LiteRT's default build, its reference kernels, or ONNX Runtime",
    )
    parser.add_argument(
        "--profile", choices=_NAMES, help="whose arithmetic the model gets here, if not that of --against"
    )
    parser.add_argument(
        "--input",
        action=NamedValueAction,
        scope="input",
        default=[],
        metavar="NAME=X.npy",
        help="an input of the only run; without any, inputs are drawn",
    )
    parser.add_argument("--runs", type=whole_number, default=6, metavar="N", help="how many inputs are drawn (6)")
    parser.add_argument("--seed", type=whole_number, default=0, metavar="N", help="another seed draws others (0)")
    parser.add_argument("--only-different", action="store_true", help="leave out tensors that are the same")
    add_input_shapes(parser)
    add_input_limit(parser, None)
    add_kernel_choice(parser)
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    """Run `qrt diff`, and return the exit status: 1 if any tensor differs, else 0."""
    if options.runs == 0 and not options.input:
        raise ModelError("--runs must be at least 1")
    with chosen_kernels(options), _engine(options) as engine:
        comparison = ModelComparison(
            options.file,
            engine,
            options.against,
            rules=options.profile,
            threads=options.threads or 1,
            shapes=input_shapes(options),
            max_bytes=MAX_MODEL if options.max_input is None else options.max_input,
        )
        if options.input:
            comparison.add(_inputs_from_files(options, comparison.program))
        else:
            for inputs in drawn_inputs(comparison.file.inputs, options.runs, options.seed):
                comparison.add(inputs)
        result = comparison.result()
    sys.stdout.write(differences_text(result, every=not options.only_different))
    return int(result.differ > 0)


def _engine(options: argparse.Namespace) -> Engine:
    """Return the runtime for ``--against``. Raise ModelError if it cannot run files of the model's format."""
    suffix = PROFILES[options.against].suffix
    if Path(options.file).suffix != suffix:
        raise ModelError(f"{options.file}: {options.against} runs {suffix} files")
    return ENGINES[options.against]()


def _inputs_from_files(options: argparse.Namespace, program: Program) -> list[Array]:
    """Return the arrays of the files given by ``--input``, in the order of the program's inputs."""
    arrays: dict[str, Array] = {}
    for text in options.input:
        name, equals, path = text.partition("=")
        if not (name and equals and path):
            raise ModelError(f"expected NAME=X.npy, got {text!r}")
        port = named_port(program, name)
        arrays[port.name] = read_array(path, MAX_INPUT if options.max_input is None else options.max_input, port)
    require_all(program, set(arrays))
    return [arrays[port.name] for port in program.inputs]
