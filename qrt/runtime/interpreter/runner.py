"""Functions of MLIR's runner libraries, such as `printMemrefF32`, which programs declare without a body.

The output is exactly that of `mlir-runner`, except that a memref's base address, which would differ from run to run, is
0x0.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from qrt.errors import QuantError, UndefinedError
from qrt.ir.core.functions import FuncOp
from qrt.ops.core import Array
from qrt.runtime.interpreter.buffers import laid_out, span_below, strides_of
from qrt.runtime.values import spelled
from qrt.types import FloatType, IndexType, IntegerType, MemRefType, TensorType, Type

_F32, _F64, _I64 = FloatType("f32"), FloatType("f64"), IntegerType(64)
_ELEMENTS: dict[str, Type] = {
    "F16": FloatType("f16"),
    "BF16": FloatType("bf16"),
    "F32": _F32,
    "F64": _F64,
    "I8": IntegerType(8),
    "I16": IntegerType(16),
    "I32": IntegerType(32),
    "I64": _I64,
    "Ind": IndexType(),
}
_OF_RANK = "0dF32 1dF32 1dF64 1dI8 1dI32 1dI64 1dInd 2dF32 3dF32 4dF32"


def _write(text: str) -> None:
    print(text, end="")


def _print_number(value: Any, unsigned: bool = False) -> None:
    _write(spelled(value.view(np.uint64) if unsigned else value))


def _print_memref(array: Array, title: str = "Memref", with_data: bool = True, unsigned: bool = False) -> None:
    _, offset = span_below(array)
    sizes, steps = (", ".join(map(str, numbers)) for numbers in (array.shape, strides_of(array)))
    head = f"{title} base@ = 0x0 rank = {array.ndim} offset = {offset} sizes = [{sizes}] strides = [{steps}]"
    if not with_data:
        return _write(f"{head}\n")
    if not array.size:
        raise UndefinedError(f"cannot print a memref without elements, got shape {list(array.shape)}")
    rows = _rows(array.view(np.uint64) if unsigned else array, array.ndim)
    return _write(f"{head} data = \n{rows if array.ndim else f'[{rows}]'}\n")


def _rows(array: Array, rank: int) -> str:
    """Return an array's elements as nested lists in brackets, one line per row; ``rank`` is that of the whole array."""
    if not array.ndim:
        is_byte = array.dtype == np.int8  # C++ prints int8 as a character
        return chr(int(array[()]) & 255) if is_byte else spelled(array[()])
    indent = " " * (rank - array.ndim + 1)
    separator = f", {indent}" if array.ndim == 1 else f", \n{indent}"
    return f"[{separator.join(_rows(part, rank) for part in array)}]"


Function = Callable[..., Any]
External = tuple[tuple[Type, ...], tuple[Type, ...], Function]


def _externals() -> dict[str, External]:
    externals: dict[str, External] = {
        "rtclock": ((), (_F64,), lambda: np.float64(time.time())),
        "printI64": ((_I64,), (), _print_number),
        "printU64": ((_I64,), (), partial(_print_number, unsigned=True)),
        "printF32": ((_F32,), (), _print_number),
        "printF64": ((_F64,), (), _print_number),
        **{
            f"print{name}": ((), (), partial(_write, text))
            for name, text in {"Open": "( ", "Close": " )", "Comma": ", ", "Newline": "\n"}.items()
        },
    }
    for name, element in _ELEMENTS.items():
        show = partial(_print_memref, title="Unranked Memref", unsigned=name == "Ind")
        externals[f"printMemref{name}"] = (MemRefType(None, element),), (), show
        if name not in ("F16", "BF16", "I16"):
            externals[f"printMemrefShape{name}"] = (MemRefType(None, element),), (), partial(show, with_data=False)
    for name in _OF_RANK.split():
        rank, element = int(name[0]), _ELEMENTS[name[2:]]
        externals[f"printMemref{name}"] = (
            (MemRefType((None,) * rank, element),),
            (),
            partial(_print_memref, unsigned=name.endswith("Ind")),
        )
    return externals


EXTERNALS = _externals()
"""The types of arguments and results, and the Python function, of each runner function by name."""


def external(function: FuncOp) -> Function:
    """Return the Python implementation of a runner function that the program declares.

    A tensor is accepted for a memref argument, because bufferization would convert it. Raise QuantError for an unknown
    function, or for a function declared with other types.
    """
    if function.sym_name not in EXTERNALS:
        raise QuantError(f"cannot be called: @{function.sym_name} has no body")
    expected, returned, call = EXTERNALS[function.sym_name]
    inputs = tuple(_as_buffer(type) for type in function.type.inputs)
    if inputs != expected or tuple(function.type.results) != returned:
        types, result = ", ".join(map(str, expected)), returned[0] if returned else "nothing"
        raise QuantError(
            f"declares @{function.sym_name} of MLIR's runner library as {function.type}, but this function takes "
            f"({types}) "
            f"and returns {result}"
        )
    if any(isinstance(type, TensorType) for type in function.type.inputs):
        (buffer,) = inputs
        return lambda tensor: call(laid_out(tensor, buffer, is_constant=True))
    return call


def _as_buffer(type: Type) -> Any:
    return MemRefType(type.shape, type.element) if isinstance(type, TensorType) else type
