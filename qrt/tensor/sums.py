"""Sums and differences of two tensors: the op families, which two elements of one scale may use beyond their types."""

from typing import Any

from qrt.eager.binding import EagerCall, bind
from qrt.eager.calls import Tensor
from qrt.errors import QuantTypeError
from qrt.ops.requant import max_magnitude
from qrt.tensor.protocol.written import written_operator
from qrt.types import UniformType

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
    attributes, is_exact = {"requant": requant}, out_type is None and out is None
    if not (
        is_exact and isinstance(requant, str) and requant == "fixed" and isinstance(a, Tensor) and isinstance(b, Tensor)
    ):
        return bind(name, (a, b), attributes, out_type, out)
    t: UniformType = a.type
    are_elements = a._shape == () == b._shape and t.is_per_layer and b.type.is_per_layer
    is_alike = t.scales == b.type.scales and t.expressed_type == b.type.expressed_type
    if not (are_elements and is_alike and max_magnitude(t) + max_magnitude(b.type) >= _I32_END):
        return bind(name, (a, b), attributes, None, None)
    first, second = (int(q.storage) - q.type.zero_point for q in (a, b))  # type: ignore[attr-defined]
    total = first + second if name == "add" else first - second
    if not -_I32_END <= total < _I32_END:
        floats = written_operator("+" if name == "add" else "-", a, b)
        raise QuantTypeError(
            f"{name}: the exact result is {total} times the scale, which i32 does not hold: write {floats}, "
            f"qrt.{name}(a, b, out_type=t), or for the sum of a tensor np.sum(q, dtype=np.float64)"
        )
    return bind(name, (a, b), attributes, UniformType("i32", t.expressed_type, t.scale), None).of_values()
