"""Loading of the program that a command runs, and of its inputs, from files and command-line values."""

import argparse
import warnings
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np

from qrt.cli.options import input_shapes
from qrt.errors import ModelError, QuantError
from qrt.files import read_bytes, reason
from qrt.models.programs import load
from qrt.ops.core import Array, element_dtype
from qrt.runtime.compilation import compile
from qrt.runtime.load import load_program
from qrt.runtime.ports import Port, brief
from qrt.runtime.program import Program
from qrt.types import IntegerType, TensorType, UniformType, parse_type

_MAX_NAMED = 3
"""The largest number of missing inputs that an error lists."""


def named_port(program: Program, name: str) -> Port:
    """Return the program input with a given name.

    The name may be the input's ``qrt.name``, its number as ``arg0``, or its SSA name in the program's text, ``%a`` or
    ``a``. Raises ModelError if there is no such input, or if the name is ambiguous because ``arg0`` is also the SSA
    name of another input.
    """
    ports = program.inputs
    named = [(number, port) for number, port in enumerate(ports) if port.name == name]
    spelled = [port for port in ports if port.spelled == f"%{name.removeprefix('%')}"]
    if named and spelled and spelled[0] is not named[0][1] and name == f"arg{named[0][0]}":
        raise ModelError(
            f"input {name!r} is ambiguous: it is the number of {named[0][1].spelled}, and the name %{name} of another "
            f"argument; write {named[0][1].spelled} or %{name}"
        )
    if named:
        return named[0][1]
    if spelled:
        return spelled[0]
    known = ", ".join(map(_shown, ports)) or "none"
    raise ModelError(f"no input is named {name!r}; the inputs are {known}")


def _shown(port: Port) -> str:
    return f"{port.name} ({port.spelled})" if port.spelled and port.spelled != f"%{port.name}" else port.name


def by_names(program: Program, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return `arrays` with the keys replaced by the names of the program's inputs.

    The old keys may be any names that `named_port` accepts. Raises ModelError if two of them name the same input.
    """
    by_input: dict[str, Any] = {}
    for name, array in arrays.items():
        port = named_port(program, name)
        if port.name in by_input:
            raise ModelError(f"input {_shown(port)} is given twice: as {name!r} and by another of its names")
        by_input[port.name] = array
    return by_input


def read_array(path: str, limit: int, port: Port) -> Array:
    """Return the array of an .npy file of at most `limit` bytes.

    NumPy saves dtypes such as bf16 and f8 without their names. An array of such a dtype therefore gets the dtype of the
    program input `port`.
    """
    array = _load(path, limit)
    dtype = element_dtype(port.type.element)
    unnamed = array.dtype.kind == "V" and array.dtype.names is None
    return array.view(dtype) if unnamed and dtype.kind == "V" and dtype.itemsize == array.dtype.itemsize else array


def _load(path: str, limit: int) -> Array:
    file = BytesIO(read_bytes(path, limit))
    if file.getvalue()[:2] == b"PK":
        raise ModelError(f"{path}: expected an .npy file, got an .npz archive")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python's parser, about what is an error in a moment
            return np.lib.format.read_array(file, allow_pickle=False)
    except Exception as error:  # a header is Python's to parse, which raises what it likes
        raise ModelError(f"{path}: not an .npy file of numbers: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """Return the reason why NumPy cannot read a file; all errors about a malformed header get one text."""
    message = reason(error)
    if type(error) is ValueError and "<ast." not in message:
        return message
    return "its header has no valid shape and dtype"


def parse_value(text: str, name: str) -> Array:
    """Parse an input value such as ``4xf32=0,1,2,3`` to an array; a single value fills the shape.

    `name` is the input's name in errors.
    """
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


# -- what is missing --------------------------------------------------------------------------------------------------


def require_all(program: Program, given: set[str]) -> None:
    """Raise ModelError if inputs are missing from `given`, the names of the inputs that have values.

    The message shows the type of each missing input, and the option that would give it.
    """
    missing = [port for port in program.inputs if port.name not in given]
    lines = [_input_needed(program, port) for port in missing[:_MAX_NAMED]]
    if len(missing) > _MAX_NAMED:
        lines[-1] += f"; {len(missing) - _MAX_NAMED} more inputs are missing"
    if lines:
        raise ModelError("\n".join(lines))


def _input_needed(program: Program, port: Port) -> str:
    name = _short_name(program, port)
    ways = f"--input {name}=FILE.npy"
    value = _example(port.type)
    if value:
        ways += f" or --input-value {name}={value}"
    shown = f" ({port.spelled})" if port.spelled not in ("", f"%{port.name}") else ""
    return f"input {port.name!r}{shown} is missing: it takes {brief(port.type)}; give it as {ways}"


def _short_name(program: Program, port: Port) -> str:
    """Return the name of an input for messages: its ``qrt.name`` or, if it has none, its SSA name in the text."""
    is_number = port.spelled and port.name == f"arg{program.inputs.index(port)}"
    name = port.spelled.removeprefix("%") if is_number else port.name
    try:
        return name if named_port(program, name) is port else port.spelled
    except ModelError:
        return port.spelled


def _example(t: TensorType) -> str:
    """Return an example of an ``--input-value`` of this type, such as ``4xf32=0``; dynamic sizes become 1.

    The text is empty if ``--input-value`` does not support the type.
    """
    if t.shape is None or element_dtype(t.element).kind not in "biuf":
        return ""
    element = t.element
    if isinstance(element, UniformType):
        bits = 8 * element_dtype(element).itemsize
        element = IntegerType(bits, "signless" if element.is_signed else "unsigned")
    return "x".join([*(str(1 if d is None else d) for d in t.shape), f"{element}=0"])


def is_saved(file: str) -> bool:
    """Return True if a file is a saved program, by its suffix ``.qrt``."""
    return Path(file).suffix == ".qrt"


def program_of(
    options: argparse.Namespace,
    *,
    saturating: bool = False,
    codegen: bool | Literal["best-effort"] = False,
    max_bytes: int | None = None,
) -> Program:
    """Load a saved program, or load and compile the file, function and profile that a command's options name.

    The function, the profile and the input shapes of a saved program are fixed. Raises ModelError if the options ask
    for others, or if ``saturating`` or ``codegen`` is set for a saved program.
    """
    file: str = options.file
    if not is_saved(file):
        module = load(file, profile=options.profile, max_bytes=max_bytes, shapes=input_shapes(options))
        return compile(module, options.function, saturating=saturating, codegen=codegen)
    if codegen:
        raise ModelError(f"{file}: --codegen needs the program or model from which this saved program was made")
    if options.profile is not None or saturating or options.input_shape:
        raise ModelError(
            f"{file}: --profile, --input-shape and --saturating are for qrt compile: the program is saved with them"
        )
    program = load_program(file)
    if options.function not in (None, program.name):
        raise ModelError(f"{file}: no function is named {options.function!r}; the saved function is {program.name!r}")
    return program
