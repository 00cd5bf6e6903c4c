"""Casts of constants, computed by the reference of each op family. A quantized constant is an integer constant and a
quant.scast."""

import numpy as np

from qrt.errors import QuantTypeError
from qrt.ir import Attribute, Builder, DenseElementsAttr, FloatAttr, IntegerAttr, Operation, Value
from qrt.ir.core.constraints import with_element
from qrt.ir.core.matching import constant_of
from qrt.ir.text.dense import storage_dtype
from qrt.ops import FAMILIES
from qrt.ops.core import Array, element_dtype
from qrt.types import FloatType, IntegerType, TensorType, Type, UniformType

MAX_ELEMENTS = 1 << 20
"""Larger constants are left to be cast when the program runs: folding them would only make the program longer."""


def fold_constant_qcast(operation: Operation, builder: Builder) -> list[Value] | None:
    """`qcast(constant)` to `scast(integer constant)`."""
    computed = _computed(operation, constant_of(operation.operands[0]))
    result = operation.results[0].type
    element = _tensor(result).element
    if computed is None or not isinstance(element, UniformType) or not element.is_storage_castable:
        return None
    stored = with_element(result, element.storage_type)
    return [builder.constant(constant_attribute(computed, stored), result)]


def fold_constant_dcast(operation: Operation, builder: Builder) -> list[Value] | None:
    """`dcast(scast(integer constant))` to a float constant."""
    source = operation.operands[0].operation
    if source is None or source.name != "quant.scast":
        return None
    computed = _computed(operation, constant_of(source.operands[0]))
    result = operation.results[0].type
    return None if computed is None else [builder.constant(constant_attribute(computed, result), result)]


def _computed(cast: Operation, constant: Attribute | None) -> Array | None:
    """The values a cast yields; None where they are not known or its types do not execute."""
    if not isinstance(constant, IntegerAttr | FloatAttr | DenseElementsAttr):
        return None
    source, result = _tensor(cast.operands[0].type), _tensor(cast.results[0].type)
    if not isinstance(source.element, UniformType | FloatType) or source.shape is None:
        return None
    values = np.asarray(constant.python)
    if values.size > MAX_ELEMENTS:
        return None
    family = FAMILIES[cast.name.removeprefix("quant.")]
    try:
        if isinstance(source.element, UniformType):
            values = _stored(values, source.element)
        (computed,) = family.compute([values], (source,), (result,), family.complete(family.said(cast.attributes)))
        return computed
    except QuantTypeError:  # f80, zero points that do not fit, ...: the cast stays, and running it says so
        return None


def _stored(values: Array, element: UniformType) -> Array:
    """Signless integers as the storage type reads them."""
    return values if element.is_signed else values.astype(np.int64) & ((1 << element.storage_width) - 1)


def _tensor(type: Type) -> TensorType:
    return type if isinstance(type, TensorType) else TensorType((), type)


def constant_attribute(values: Array, type: Type) -> Attribute:
    """The value of an `arith.constant` of a static type that is not quantized, bit for bit. QuantTypeError for elements
    that are kept in no array, such as f80."""
    element = type.element if isinstance(type, TensorType) else type
    values = np.asarray(values, element_dtype(element))
    if isinstance(element, FloatType):
        values = values.view(f"u{values.dtype.itemsize}")
        if element.name == "tf32":
            values = values >> np.uint32(13)  # it is computed with as f32, whose last 13 bits it lacks
    elif isinstance(element, IntegerType) and element.is_signless and 1 < element.width < 64:
        half = 1 << (element.width - 1)
        values = ((values.astype(np.int64) + half) & (2 * half - 1)) - half
    if not isinstance(type, TensorType):
        return FloatAttr(int(values), element) if isinstance(element, FloatType) else IntegerAttr(int(values), element)
    dtype = storage_dtype(element)
    return DenseElementsAttr(values.view(dtype) if isinstance(element, FloatType) else values.astype(dtype), type)


CONSTANT_CASTS = {"quant.qcast": (fold_constant_qcast,), "quant.dcast": (fold_constant_dcast,)}
