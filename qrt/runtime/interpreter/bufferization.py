"""Handlers of ``bufferization``. Conversions between tensors and buffers copy, so that tensors never change."""

from typing import Any

import numpy as np

from qrt.errors import UndefinedError
from qrt.ir import Operation
from qrt.ir.dialects._shaped.types import memref_type
from qrt.ops.core import Array
from qrt.runtime.interpreter.buffers import allocate, allocate_as, laid_out, require_writeable
from qrt.runtime.interpreter.core import Compiler, Function, Handler
from qrt.runtime.interpreter.memref import checked
from qrt.runtime.values import as_tensor, sizes_of
from qrt.types import TensorType


def _to_tensor(op: Operation, compiler: Compiler) -> Function:
    return checked(op, 0, lambda buffer: buffer.copy(), compiler)


def _to_buffer(op: Operation, compiler: Compiler) -> Function:
    declared = memref_type(op.results[0])
    # Constant, because the effect of a write to the buffer on the tensor is undefined.
    return lambda tensor: laid_out(tensor, declared, is_constant=True)


def _require_shape(source: Array, target: Array) -> None:
    if source.shape != target.shape:
        raise UndefinedError(
            f"source and destination must have the same shape, got {list(source.shape)} and {list(target.shape)}"
        )


def _materialize(op: Operation, compiler: Compiler) -> Function:
    if isinstance(op.operands[1].type, TensorType):

        def replace(source: Array, target: Array) -> Array:
            _require_shape(source, target)
            return source

        return replace

    def write(source: Array, target: Array) -> None:
        _require_shape(source, target)
        np.copyto(require_writeable(target), source)

    return checked(op, 1, write, compiler)


def _alloc_tensor(op: Operation, compiler: Compiler) -> Function:
    type = as_tensor(op.results[0].type)
    if op.operand_group("copy"):
        return lambda source, *hint: source
    count = (type.shape or ()).count(None)
    return lambda *operands: allocate(sizes_of(type, operands[:count]), type.element)


def _clone(op: Operation, compiler: Compiler) -> Function:
    result = memref_type(op.results[0])

    def clone(source: Array) -> Any:
        copied = allocate_as(source.shape, result)
        np.copyto(copied, source)
        return copied

    return checked(op, 0, clone, compiler)


HANDLERS: dict[str, Handler] = {
    "bufferization.alloc_tensor": _alloc_tensor,
    "bufferization.clone": _clone,
    "bufferization.dealloc_tensor": lambda op, compiler: lambda tensor: None,
    "bufferization.materialize_in_destination": _materialize,
    "bufferization.to_buffer": _to_buffer,
    "bufferization.to_tensor": _to_tensor,
}
