"""Tensors as the results of NumPy's functions, and as arguments that must be tensors."""

from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, QuantValueError, shown
from qrt.ops.core import Shape, storage_dtype
from qrt.tensor.calls import Tensor
from qrt.tensor.protocol.elements import in_quotes, memory, zeros
from qrt.tensor.quant_tensor import QuantTensor, wrap_storage
from qrt.types import UniformType, check_integrity


def into(out: Any, result: QuantTensor) -> QuantTensor:
    """Return the result, or ``out`` with the result written to it if ``out`` is given."""
    if out is None:
        return result
    if not isinstance(out, Tensor) or out.type is not result.type:  # types are interned
        given = out.type if isinstance(out, Tensor) else shown(out)
        raise QuantTypeError(f"'out' must be a QuantTensor of the result's type {result.type}, got {given}")
    if out._shape != result._shape:
        raise QuantValueError(f"'out' must have the result's shape {result._shape}, got {out._shape}")
    memory(out)[...] = result._data
    return out  # type: ignore[return-value]


def tensor(q: Any, argument: str) -> QuantTensor:
    """Return ``q`` if it is a QuantTensor, else raise QuantTypeError; ``argument`` names it in the error."""
    if not isinstance(q, Tensor):
        raise QuantTypeError(f"{in_quotes(argument)} must be a QuantTensor, got {shown(q)}")
    return q  # type: ignore[return-value]


def filled(t: UniformType, shape: Shape) -> QuantTensor:
    """Return a tensor of type ``t`` whose elements are 0, or the value nearest to 0 that the storage can represent."""
    check_integrity(t, shape)
    return wrap_storage(np.full(shape, zeros(t, shape), storage_dtype(t)), t)
