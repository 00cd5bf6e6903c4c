"""Construction of a kernel's op for a program on signless integers.

The integers are cast to quantized types whose scales and zero points are the program's constants.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError
from qrt.ir import Builder, Operation, Value, attribute
from qrt.ir.dialects.linalg.lowering import Array, tensor_type
from qrt.ir.passes.raise_to_qrt.requantized import Requantized
from qrt.ir.passes.raise_to_qrt.terms import NotRaisedError, Read
from qrt.ops import FAMILIES
from qrt.types import TensorType, UniformType


def build(
    b: Builder,
    name: str,
    operands: Sequence[Value],
    attributes: dict[str, Any],
    result: TensorType,
    r: Requantized,
) -> Value:
    """Build the op `qrt.<name>` with the rule `fixed`, and return its result as integers of type `result`.

    The quantized result has the scale 1, and the zero points and bounds of `r`. Raises NotRaisedError if the op does
    not take the types of its operands.
    """
    points = along_last(integers(r.zero_points), np.shape(r.zero_points), "zero points of the result")
    axis = len(result.shape or ()) - 1 if len(set(points)) > 1 else None
    storage = f"{'i' if r.is_signed else 'u'}{r.width}"
    family, attributes = FAMILIES[name], attributes | {"requant": "fixed"}
    try:
        out = UniformType(
            storage,
            "f32",
            1.0 if axis is None else [1.0] * len(points),
            points[0] if axis is None else points,
            axis=axis,
            storage_min=r.low,
            storage_max=r.high,
        )
        type = result.with_(element=out)
        inferred = family.resolve(tuple(map(tensor_type, operands)), family.complete(attributes), type)
    except QuantTypeError as error:
        raise NotRaisedError(f"qrt.{name} does not take it: {error}") from None
    if inferred is not type:
        raise NotRaisedError(f"qrt.{name} would give {inferred}, the program gives {result}")
    built = b.value(f"qrt.{name}", operands, type, {key: attribute(value) for key, value in attributes.items()})
    return b.value("quant.scast", (built,), result)


def quantized(b: Builder, tensor: Value, t: UniformType) -> Value:
    return b.value("quant.scast", (tensor,), tensor_type(tensor).with_(element=t))


def require_visible(values: Sequence[Value], operation: Operation) -> None:
    """Raise NotRaisedError unless each value is defined in a block that contains `operation`, directly or nested."""
    blocks = []
    place: Operation | None = operation
    while place is not None:
        blocks.append(place.parent)
        place = place.parent_operation
    if not all(value.block in blocks for value in values):
        raise NotRaisedError("a tensor that is read is defined in a loop")


def storage_of(read: Read) -> str:
    return f"{'i' if read.signed else 'u'}{read.width}"


def integers(values: Array) -> list[int]:
    return [int(value) for value in np.asarray(values, object).flat]


def along_last(values: list[Any], shape: Sequence[int], what: str) -> list[Any]:
    """Return `values`, an array of shape `shape` over the result's loops, as one value for each index of the last loop.

    Raise NotRaisedError, which calls them `what`, if the values differ along another loop.
    """
    if any(size != 1 for size in shape[:-1]):
        raise NotRaisedError(f"the {what} differ along another dimension than the last")
    return values
