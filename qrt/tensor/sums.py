"""Sums and differences of two tensors: the op families, and single elements whose types do not bound an exact sum."""

from typing import Any

import numpy as np

from qrt.eager.binding import EagerCall, FamilyCall, bind, operand
from qrt.eager.calls import Tensor, call_cache
from qrt.errors import QuantTypeError
from qrt.ops.core import Array
from qrt.ops.requant import max_magnitude
from qrt.tensor.protocol.written import written_operator
from qrt.types import TensorType, UniformType

_I32_END = 1 << 31


def bind_sum(
    name: str,
    a: Tensor,
    b: Tensor,
    requant: str = "fixed",
    out_type: UniformType | str | None = None,
    out: Tensor | None = None,
) -> EagerCall[Any]:
    """Bind ``add`` or ``sub``. Two elements of one scale have an exact result in i32 wherever their values have: so
    Python's ``sum`` adds an element to the sum of those before, whose type alone says nothing of its size."""
    is_exact = isinstance(requant, str) and requant == "fixed" and out_type is None and out is None
    if is_exact and isinstance(a, Tensor) and isinstance(b, Tensor) and a._shape == () == b._shape:
        is_alike = a.type.scales == b.type.scales and a.type.expressed_type == b.type.expressed_type
        if is_alike and max_magnitude(a.type) + max_magnitude(b.type) >= _I32_END:
            return _bind_elements(name, a, b)
    return bind(name, (a, b), {"requant": requant}, out_type, out)


def _bind_elements(name: str, a: Tensor, b: Tensor) -> EagerCall[Any]:
    t: UniformType = a.type
    result = TensorType((), UniformType("i32", t.expressed_type, t.scale))
    sign = 1 if name == "add" else -1
    first_zero, second_zero = t.zero_point, b.type.zero_point

    def write_total(*arrays: Array) -> None:
        first, second, place = arrays
        total = int(first) - first_zero + sign * (int(second) - second_zero)
        if not -_I32_END <= total < _I32_END:
            floats = written_operator("+" if name == "add" else "-", a, b)
            raise QuantTypeError(
                f"{name}: the exact result is {total} times the scale, which i32 does not hold: write {floats}, "
                f"qrt.{name}(a, b, out_type=t), or for the sum of a tensor np.sum(q, dtype=np.float64)"
            )
        place[...] = total

    family_call = FamilyCall(name, write_total, (0, 1), result, (), np.dtype(np.int32), False)
    return EagerCall(family_call, (operand(a), operand(b)), None, call_cache, None)
