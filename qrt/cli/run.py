"""``qrt run``: run a function of a program."""

import argparse
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np

from qrt import ir
from qrt.cli.options import Named, add_input_limit, add_kernel_choice, chosen_kernels, whole_number
from qrt.errors import ModelError, QuantError
from qrt.execute import Program, load
from qrt.files import read_bytes, read_text, reason, shown_name, write_files
from qrt.ops.core import Array, element_dtype
from qrt.tensor import QuantTensor
from qrt.types import TensorType, parse_type


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--function", metavar="NAME")
    parser.add_argument("--input", action=Named, scope="input", default=[], metavar="NAME=X.npy")
    parser.add_argument("--input-value", action=Named, scope="input", default=[], metavar="NAME=4xf32=0,1,2,3")
    parser.add_argument("--output", action=Named, scope="output", default=[], metavar="NAME=Y.npy")
    add_input_limit(parser)
    add_kernel_choice(parser)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--interpret", action="store_true", help="run every op's plain reference instead of the kernels")
    how.add_argument(
        "--print-plan", action="store_true", help="show which op would run where, a line for each, and end"
    )
    parser.add_argument(
        "--max-steps", type=whole_number, metavar="N", help="stop after N operations in the interpreter"
    )
    parser.add_argument(
        "--saturating", action="store_true", help="convert floats beyond an integer type to its nearest end"
    )
    parser.set_defaults(command=run)


def _read(name: str, limit: int) -> ir.Module:
    if name != "-":
        return load(name, max_bytes=limit)
    return ir.parse(read_text(name, limit), filename=shown_name(name))


def run(options: argparse.Namespace) -> None:
    """Runs the command."""
    with chosen_kernels(options):
        limit = options.max_input
        program = Program(_read(options.file, limit), options.function, saturating=options.saturating)
        inputs = {name: _named(_load_array(path, limit), program, name) for name, path in map(_pair, options.input)}
        inputs |= {name: _parse_value(text, program, name) for name, text in map(_pair, options.input_value)}
        if options.print_plan:
            print(program.plan_text(inputs))
            return
        results = program.run(inputs, interpret=options.interpret, max_steps=options.max_steps)
    targets = dict(map(_pair, options.output))
    if unknown := set(targets) - set(results):
        raise ModelError(f"no output is named {min(unknown)!r}; the outputs are {', '.join(results) or 'none'}")
    write_files([(targets[name], partial(_save_array, value)) for name, value in results.items() if name in targets])
    for name, value in results.items():
        if not targets:
            _show(name, value)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise ModelError(f"expected NAME=VALUE, got {text!r}")
    return name, value


def _load_array(path: str, limit: int) -> Array:
    file = BytesIO(read_bytes(path, limit))
    if file.getvalue()[:2] == b"PK":
        raise ModelError(f"{path}: an .npz archive, an .npy file is expected")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python's parser, about what is an error in a moment
            return np.lib.format.read_array(file, allow_pickle=False)
    except Exception as error:  # a header is Python's to parse, which raises what it likes
        raise ModelError(f"{path}: not an .npy file of numbers: {reason(error)}") from None


def _named(array: Array, program: Program, name: str) -> Array:
    """The array in its input's dtype where the file says only the size: NumPy has no name for bf16 and f8."""
    elements = [element_dtype(port.type.element) for port in program.inputs if port.name == name]
    unnamed = array.dtype.kind == "V" and array.dtype.names is None
    if unnamed and elements and elements[0].kind == "V" and elements[0].itemsize == array.dtype.itemsize:
        return array.view(elements[0])
    return array


def _parse_value(text: str, program: Program, name: str) -> Array:
    """``4xf32=0,1,2,3``: a shape, an element type and the values (one value fills the shape)."""
    spelled, _, numbers = text.rpartition("=")
    try:
        t = parse_type(f"tensor<{spelled}>" if spelled else "")
    except QuantError:
        raise ModelError(f"input {name!r}: expected SHAPExTYPE=VALUES such as 4xf32=0,1,2,3, got {text!r}") from None
    assert isinstance(t, TensorType)
    if not t.has_static_shape:
        raise ModelError(f"input {name!r}: the shape of {spelled} must be static")
    shape = tuple(d for d in t.shape or () if d is not None)
    dtype = element_dtype(t.element)
    try:
        number = float if dtype.kind not in "iub" else int
        values = np.array([number(v) for v in numbers.split(",")]).astype(dtype)
        return np.full(shape, values[0]) if values.size == 1 else values.reshape(shape)
    except (ValueError, OverflowError) as error:
        raise ModelError(f"input {name!r}: {error}") from None


def _save_array(value: Any, file: BinaryIO) -> None:
    array = np.asarray(value.storage if isinstance(value, QuantTensor) else value)
    np.lib.format.write_array(_Plain(file.write), array, allow_pickle=False)


@dataclass(frozen=True)
class _Plain:
    """A file of which NumPy does not know that it is one: written past Python, a full disk has no reason."""

    write: Callable[[bytes], int]


def _show(name: str, value: Any) -> None:
    if isinstance(value, QuantTensor):
        print(f"{name}: {value.tensor_type}\nstorage = {np.array2string(value.storage, separator=', ')}")
        value = value.dequantize()
    print(f"{name} = {np.array2string(np.asarray(value), separator=', ')}")
