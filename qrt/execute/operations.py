"""Helpers with which planner and interpreter read operations: constants, op families."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.errors import ModelError
from qrt.execute.values import as_tensor, concrete
from qrt.ir import Attribute, DenseElementsAttr, DenseResourceAttr, FloatAttr, Operation
from qrt.ir.text.dense import storage_dtype
from qrt.ops import OpFamily, family_of
from qrt.ops.core import Array, Types, element_dtype, static_shape
from qrt.types import FloatType, TensorType


def failure(op: Operation, message: str) -> ModelError:
    """The error at an op: file:line:column, what is wrong, the source line and a caret."""
    return ModelError(op.location.render(f"'{op.name}' op {message}"))


def family_call(op: Operation, types: Sequence[TensorType]) -> tuple[OpFamily, dict[str, Any], Types]:
    """(family, attributes, result types) of an op for operands of these static types."""
    family = family_of(op)
    if family is None:
        raise failure(op, "does not run: it has neither a kernel nor a reference")
    attributes = family.read(op.attributes)
    declared = [as_tensor(value.type) for value in op.results]
    inferred = family.resolve_all(tuple(types), attributes, declared)
    pairs = zip(declared, inferred, strict=True)
    return (
        family,
        attributes,
        tuple(concrete(t, static_shape(i, family.name), f"the result of {op.name}") for t, i in pairs),
    )


class ArrayAttr(Attribute):
    """The value of an ``arith.constant`` while a program is planned: the array with which the constant runs. The
    constant may be of any type, and of a shape that its type leaves open."""

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        self.array = array

    def spell(self, elide: bool = False) -> str:
        return f"held<{self.array.dtype} {list(self.array.shape)}>"


def constant_array(op: Operation) -> Array:
    """The value of an ``arith.constant``, in the dtype that runs; of floats every bit, those of a NaN included."""
    return attribute_array(op.attributes["value"], as_tensor(op.results[0].type))


def attribute_array(value: Attribute, t: TensorType) -> Array:
    """The array of a type that an attribute holds, as ``constant_array``."""
    if isinstance(value, ArrayAttr):
        return value.array
    dtype = element_dtype(t.element)
    if isinstance(value, FloatAttr):
        array = np.array(value.bits, f"u{storage_dtype(value.type).itemsize}")
    else:
        array = value.array if isinstance(value, DenseElementsAttr | DenseResourceAttr) else np.asarray(value.python)
    if isinstance(t.element, FloatType) and array.dtype.kind == "u":
        array = (array << np.uint32(13) if t.element.name == "tf32" else array).view(dtype)  # tf32 runs as f32
    return np.ascontiguousarray(array.astype(dtype, copy=False)).reshape(static_shape(t, "arith.constant"))
