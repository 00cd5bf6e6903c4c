"""Options that verbs share, and values that are checked here: a wrong one is a usage error."""

import argparse
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import qrt.kernels as kernels
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
    """Add ``--max-input``, how large an input may be. Without a default it is that of what is read."""
    text = f"the largest file that is read{'' if default is None else f' (default {default})'}"
    parser.add_argument("--max-input", type=whole_number, default=default, metavar="BYTES", help=text)


def add_profile(parser: argparse.ArgumentParser) -> None:
    """``--profile``: whose arithmetic a model gets."""
    text = "whose arithmetic a model gets: litert or litert-ref of TFLite, ort of ONNX"
    parser.add_argument("--profile", choices=tuple(PROFILES), help=text)


def add_kernel_choice(parser: argparse.ArgumentParser) -> None:
    """``--isa`` and ``--threads``: what kernels run on."""
    parser.add_argument("--isa", metavar="NAME", help=f"one of {', '.join(kernels.available())}")
    parser.add_argument("--threads", type=int, metavar="N")


@contextmanager
def chosen_kernels(options: argparse.Namespace) -> Iterator[None]:
    """Within it kernels run on what was chosen."""
    with nullcontext() if options.isa is None else kernels.use(options.isa):
        if options.threads is not None:
            kernels.set_num_threads(options.threads)
        yield


class NamedValueAction(argparse.Action):
    """``NAME=VALUE``, once for each name: options that share a ``scope`` share their names."""

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
