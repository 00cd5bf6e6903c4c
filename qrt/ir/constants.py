"""Conversion of constants in the IR to NumPy arrays, and of arrays to constants."""

from collections.abc import Sequence

import numpy as np

from qrt.errors import QuantError
from qrt.ir.builder import Builder
from qrt.ir.core.attributes import Attribute, FloatAttr, IntegerAttr
from qrt.ir.core.constraints import element_of, with_element
from qrt.ir.core.matching import constant_of, defining_op
from qrt.ir.core.operations import Operation, Value
from qrt.ir.text.dense import DenseElementsAttr, DenseResourceAttr, static_shape, storage_dtype, wrapped
from qrt.ops.casts import from_signless
from qrt.ops.core import Array, element_dtype
from qrt.types import FloatType, IntegerType, TensorType, Type, UniformType, VectorType

CONSTANT_CASTS = ("quant.scast", "tensor.cast")
"""Casts of an `arith.constant` to a type that it cannot have: quantized (`scast`), or with dynamic sizes (`cast`)."""


def constant_of_storage(value: Value) -> Attribute | None:
    """Return the attribute of the constant that defines a value, directly or through a `quant.scast`; else None."""
    cast = defining_op(value, "quant.scast")
    return constant_of(value if cast is None else cast.operands[0])


def known_array(value: Value) -> Array | None:
    """Return a constant value as an array; for a quantized type, the array of storage integers.

    Return None if the value is not constant, or if its type has dynamic sizes or an element type without a NumPy dtype.
    """
    constant, element = constant_of_storage(value), element_of(value.type)
    is_static = getattr(value.type, "has_static_shape", True)
    if not is_static or not isinstance(constant, IntegerAttr | FloatAttr | DenseElementsAttr | DenseResourceAttr):
        return None
    try:
        array = attribute_array(constant, constant.type)
        return from_signless(array, element) if isinstance(element, UniformType) else array
    except QuantError:
        return None


def constant_array(op: Operation) -> Array:
    """Return the value of an `arith.constant` as an array, in the dtype that programs use for its element type.

    The conversion is exact to the bit, including the payload of NaNs.
    """
    return attribute_array(op.attributes["value"], op.results[0].type)


def attribute_array(value: Attribute, type: Type) -> Array:
    """Return an attribute of type `type` as an array, in the dtype that programs use for its element type.

    The conversion is exact to the bit.
    """
    element = element_of(type)
    dtype = element_dtype(element)
    if isinstance(value, FloatAttr):
        array = np.array(value.bits, f"u{storage_dtype(value.type).itemsize}")
    else:
        array = value.array if isinstance(value, DenseElementsAttr | DenseResourceAttr) else np.asarray(value.python)
    if isinstance(element, FloatType) and array.dtype.kind == "u":
        array = (array << np.uint32(13) if element.name == "tf32" else array).view(dtype)  # tf32 runs as f32
    shape = static_shape(type) if isinstance(type, TensorType | VectorType) else ()
    return np.ascontiguousarray(array.astype(dtype, copy=False)).reshape(shape)


def constant_attribute(values: Array, type: Type) -> Attribute:
    """Convert an array to the `value` attribute of an `arith.constant` of type `type`.

    The conversion is exact to the bit. The type has a static shape and is not quantized. An array of rank 0 gives a
    splat. Raises QuantTypeError for element types without a NumPy dtype, such as f80.
    """
    element = element_of(type)
    values = np.asarray(values, element_dtype(element))
    if isinstance(element, FloatType):
        values = values.view(f"u{values.dtype.itemsize}")
        if element.name == "tf32":
            values = values >> np.uint32(13)  # it is computed with as f32, whose last 13 bits it lacks
    elif isinstance(element, IntegerType) and element.is_signless and 1 < element.width < 64:
        values = wrapped(values.astype(np.int64), element)
    if not isinstance(type, TensorType | VectorType):
        return FloatAttr(int(values), element) if isinstance(element, FloatType) else IntegerAttr(int(values), element)
    dtype = storage_dtype(element)
    array = values.view(dtype) if isinstance(element, FloatType) else values.astype(dtype)
    return DenseElementsAttr(np.broadcast_to(array, static_shape(type)) if not array.ndim else array, type)


def write_constant(builder: Builder, array: Array, type: Type) -> list[Value]:
    """Create an `arith.constant` of an array, and cast it to `type` if `type` is quantized or has dynamic sizes.

    Return the results of the new operations: the constant's, then those of the casts. The last result has type `type`.
    Raises QuantTypeError for element types without a NumPy dtype, such as f80.
    """
    static = type.with_(shape=array.shape) if isinstance(type, TensorType) else type
    element = element_of(type)
    stored = with_element(static, element.storage_type) if isinstance(element, UniformType) else static
    values = [builder.constant(constant_attribute(array, stored), stored)]
    for name, wanted in zip(CONSTANT_CASTS, (static, type), strict=True):
        if values[-1].type is not wanted:
            values.append(builder.value(name, (values[-1],), wanted))
    return values


def replacements(known: dict[Value, Array], op: Operation, arrays: Sequence[Array]) -> list[Value] | None:
    """Create constants of `arrays` before `op`, and return the values that replace the results of `op`.

    Result i gets the value `arrays[i]`. The new values and their arrays are added to `known`. Return None if `op` is
    already a constant, or if a result type has no constants.
    """
    if is_constant(op) or not all(is_written(value.type) for value in op.results):
        return None
    builder, values = Builder(op), []
    for array, result in zip(arrays, op.results, strict=True):
        written = write_constant(builder, array, result.type)
        known.update(dict.fromkeys(written, array))
        values.append(written[-1])
    return values


def is_constant(operation: Operation) -> bool:
    """Return True for an `arith.constant`, and for a cast of an `arith.constant` to a quantized or dynamic type."""
    if operation.name not in CONSTANT_CASTS:
        return operation.name == "arith.constant"
    source, type = operation.operands[0].operation, operation.results[0].type
    is_plain = not isinstance(element_of(type), UniformType) and getattr(type, "has_static_shape", True)
    return source is not None and source.name in ("arith.constant", *CONSTANT_CASTS) and not is_plain


def is_written(type: Type) -> bool:
    """Return True if `write_constant` can create a constant of this type."""
    element = element_of(type)
    if isinstance(element, UniformType):
        return element.is_storage_castable
    return isinstance(type, TensorType) or not isinstance(element, IntegerType) or element.is_signless
