"""Options that several commands share, and checks of their values."""

import argparse
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import qrt.kernels as kernels
from qrt.errors import ModelError
from qrt.files import MAX_INPUT
from qrt.models.profiles import PROFILES


def _number(kind: type[int] | type[float], holds: Callable[[float], bool], expected: str) -> Callable[[str], float]:
    def parse(text: str) -> float:
        with suppress(ValueError):
            if holds(value := kind(text)):
                return value
        raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")

    return parse


whole_number = _number(int, lambda value: value >= 0, "a non-negative integer")
duration = _number(float, lambda value: 0 < value < math.inf, "a finite number of seconds above 0")


def add_input_limit(parser: argparse.ArgumentParser, default: int | None = MAX_INPUT) -> None:
    """Add ``--max-input``, the largest size in bytes of a file that is read.

    If `default` is None, the limit is the default of the function that reads the file.
    """
    text = f"the largest file that is read{'' if default is None else f' (default {default})'}"
    parser.add_argument("--max-input", type=whole_number, default=default, metavar="BYTES", help=text)


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Add ``--profile``, which selects the runtime whose arithmetic an imported model reproduces."""
    text = "whose arithmetic a model gets: litert or litert-ref of TFLite, ort of ONNX"
    parser.add_argument("--profile", choices=tuple(PROFILES), help=text)


def add_input_shapes(parser: argparse.ArgumentParser) -> None:
    """Add ``--input-shape``, which fixes the shape of a model's input at the import."""
    parser.add_argument(
        "--input-shape",
        action=NamedValueAction,
        scope="input shape",
        default=[],
        metavar="NAME=SIZES",
        help="import a model with this shape of an input, such as x=1x96x96x3; once for each input",
    )


def input_shapes(options: argparse.Namespace) -> dict[str, tuple[int, ...]]:
    """Return the shapes given by ``--input-shape``, by name of the input. Raise ModelError for a malformed value."""
    shapes: dict[str, tuple[int, ...]] = {}
    for text in options.input_shape:
        name, _, sizes = text.rpartition("=")
        parts = sizes.split("x")
        if not name or not all(part.isdecimal() and int(part) for part in parts):
            raise ModelError(f"--input-shape: expected NAME=SIZES, such as x=1x96x96x3, got {text!r}")
        shapes[name] = tuple(map(int, parts))
    return shapes


def add_kernel_choice(parser: argparse.ArgumentParser) -> None:
    """Add ``--isa`` and ``--threads``, the kernels' instruction set and number of threads."""
    parser.add_argument("--isa", metavar="NAME", help=f"one of {', '.join(kernels.available())}")
    parser.add_argument("--threads", type=int, metavar="N")


@contextmanager
def chosen_kernels(options: argparse.Namespace) -> Iterator[None]:
    """Use the instruction set of ``--isa`` within the ``with`` block, and set the number of threads of ``--threads``.

    The number of threads stays set after the block.
    """
    with nullcontext() if options.isa is None else kernels.use(options.isa):
        if options.threads is not None:
            kernels.set_num_threads(options.threads)
        yield


class NamedValueAction(argparse.Action):
    """An argparse action for ``NAME=VALUE`` options, which reports an error if a name is given twice.

    Options with the same ``scope`` may not give the same name either.
    """

    def __init__(self, *arguments: Any, scope: str, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.scope = scope

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        name = str(values).partition("=")[0]
        seen = namespace.__dict__.setdefault(f"_{self.scope}", set())
        if name in seen:
            parser.error(f"{self.scope} {name!r} is given twice")
        seen.add(name)
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), values])
