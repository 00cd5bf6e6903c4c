"""``qrt compile``: compile a program, and save it together with its plans (kernel calls) and packed weights."""

import argparse

from qrt.cli.options import (
    add_input_limit,
    add_input_shapes,
    add_kernel_choice,
    add_profile,
    chosen_kernels,
    input_shapes,
)
from qrt.files import check_output, check_places
from qrt.models.programs import load
from qrt.runtime.compilation import compile


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `qrt compile` to its parser."""
    parser.add_argument("file", metavar="FILE", help="the program, or a model")
    parser.add_argument("-o", dest="output", metavar="OUT.qrt", required=True, help="where the saved program goes")
    parser.add_argument("--function", metavar="NAME", help="what is saved: main, or the only one, if not given")
    parser.add_argument(
        "--saturating", action="store_true", help="convert floats beyond an integer type to its nearest end"
    )
    add_profile(parser)
    add_input_shapes(parser)
    add_input_limit(parser)
    add_kernel_choice(parser)
    parser.set_defaults(command=run)


def run(options: argparse.Namespace) -> None:
    """Run `qrt compile`: compile a program or model, and save it."""
    check_output(options.output, [".qrt"], [options.file])
    check_places([options.output])
    with chosen_kernels(options):
        module = load(options.file, profile=options.profile, max_bytes=options.max_input, shapes=input_shapes(options))
        compile(module, options.function, saturating=options.saturating).save(options.output)
