"""cumsum: running sums along an axis, which include the element itself unless ``exclusive``.

A sum begins with 0 and adds one element after the other, with ``reverse`` from the end of the axis. Integers wrap;
every sum of floats is rounded to their type.
"""

from collections.abc import Sequence

import numpy as np

from qrt.ops.core import Array, Attributes, OpFamily, Types, checked_result, fail, one_axis
from qrt.ops.declare import KEPT, Attribute, Declaration, Operand
from qrt.ops.scatter import is_number
from qrt.types import TensorType


def _infer(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    name, (x,) = "cumsum", types
    if not is_number(x.element):
        fail(name, f"'x' must have elements of f32, f64 or integers of 8 bits or more, got {x.element}", types)
    one_axis(name, types, attributes)
    return checked_result(name, x.shape or (), x.element)


def _reference(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    axis = one_axis("cumsum", types, attributes)
    lines = np.moveaxis(arrays[0], axis, 0)
    if attributes["reverse"]:
        lines = lines[::-1]
    begun = np.concatenate([np.zeros((1, *lines.shape[1:]), lines.dtype), lines])
    with np.errstate(all="ignore"):
        sums = np.add.accumulate(begun, axis=0, dtype=lines.dtype)
    sums = sums[:-1] if attributes["exclusive"] else sums[1:]
    return np.ascontiguousarray(np.moveaxis(sums[::-1] if attributes["reverse"] else sums, 0, axis))


FAMILIES = (
    OpFamily(
        Declaration(
            "cumsum",
            operands=(Operand("x", note="integers of 8 bits or more, f32 or f64"),),
            attributes=(
                Attribute("axis", "integer", 0),
                Attribute("exclusive", "boolean", False),
                Attribute("reverse", "boolean", False),
            ),
            result=KEPT,
            public=False,
        ),
        infer=_infer,
        reference=_reference,
    ),
)
