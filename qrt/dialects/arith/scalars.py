"""Element-wise operations of `arith` and `math` as functions, and on constants: attributes to NumPy values and back."""

from collections.abc import Callable
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, UndefinedError
from qrt.ir.core.attributes import Attribute, FloatAttr, IntegerAttr
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import constant_of
from qrt.ir.core.operations import Operation, Value
from qrt.ir.core.rewrite import Folded, Folds
from qrt.ir.text import dense
from qrt.ir.text.attribute_kinds import ENUMERATIONS
from qrt.ir.text.dense import DenseElementsAttr, is_backed, static_shape, storage_dtype
from qrt.ops import elementwise
from qrt.ops.core import element_dtype
from qrt.types import FloatType, IndexType, IntegerType, TensorType, Type, VectorType

MAX_ELEMENTS = 1 << 20
"""Larger constants are left to be computed when the program runs: folding them would only make it longer."""


def bind_operation(operation: Operation, *, saturating: bool = False) -> elementwise.Function:
    """The function of `qrt.ops.elementwise` that an operation of `arith` or `math` is; QuantTypeError where its types
    do not execute."""
    return elementwise.bind(
        operation.name,
        [element_of(value.type) for value in operation.operands],
        [element_of(value.type) for value in operation.results],
        {name: read(operation.attributes[name]) for name, read in _PLAIN.items() if name in operation.attributes},
        saturating=saturating,
    )


_PLAIN: dict[str, Callable[[Attribute], Any]] = {
    "predicate": lambda value: value.python,
    "roundingmode": lambda value: value.python,
    "isExact": lambda value: True,
    "overflowFlags": lambda value: ENUMERATIONS["arith.overflow"].flags(value),
}


# -- constants ---------------------------------------------------------------------------------------------------------


def fold_constants(operation: Operation, folds: Folds) -> Folded:
    """The results, where all operands are constants, the operation is defined on them, and its types execute."""
    constants = [constant_of(value) for value in operation.operands]
    operands = [constant_value(constant) for constant in constants]
    if any(operand is None or np.size(operand) > MAX_ELEMENTS for operand in operands):
        return None
    try:
        with np.errstate(all="ignore"):
            results = bind_operation(operation)(*operands)
    except (QuantTypeError, UndefinedError):
        return None
    several = results if isinstance(results, tuple) else (results,)
    had_nan = any(operand.dtype.kind not in "biu" and bool(np.isnan(operand).any()) for operand in operands)
    return [_attribute(value, result.type, had_nan) for value, result in zip(several, operation.results, strict=True)]


def constant_value(constant: Attribute | None) -> Any:
    """A constant as `qrt.ops.elementwise` holds it, of a splat the one element; None where it is not known so."""
    try:
        match constant:
            case IntegerAttr():
                return element_dtype(constant.type).type(constant.value)
            case FloatAttr() if constant.bits < 1 << 64:  # f80 and f128 are not computed with
                return _held(np.uint64(constant.bits), constant.type)
            case DenseElementsAttr() if constant.array.size:
                return _held(constant.first if constant.is_splat else constant.array, constant.element)
    except QuantTypeError:
        pass
    return None


def _held(stored: Any, element: Type) -> Any:
    """The stored elements of a constant (integers, bit patterns or floats) in the form that `elementwise` takes."""
    dtype = element_dtype(element)
    if stored.dtype.kind == "f" or not isinstance(element, FloatType):
        return stored
    bits = stored.astype(f"u{dtype.itemsize}")
    return (bits << 13 if element.name == "tf32" else bits).view(dtype)


def _attribute(value: Any, type: Type, had_nan: bool) -> Attribute:
    element = element_of(type)
    stored = _bits(value, element, had_nan) if isinstance(element, FloatType) else value
    if isinstance(type, TensorType | VectorType):
        dtype = storage_dtype(element)
        array = stored.view(dtype) if dtype.kind == "f" else stored.astype(dtype)
        return DenseElementsAttr(np.broadcast_to(array, static_shape(type)), type)
    return FloatAttr(int(stored), element) if isinstance(element, FloatType) else IntegerAttr(int(stored), element)


def _bits(value: Any, element: FloatType, had_nan: bool) -> Any:
    """The bit patterns of floats. A NaN that no operand gave is APFloat's: positive and quiet."""
    unsigned = np.dtype(f"u{value.dtype.itemsize}")
    bits = value.view(unsigned)
    bits = bits >> 13 if element.name == "tf32" else bits
    if not had_nan and element.special != "none":
        bits = np.where(np.isnan(value), unsigned.type(element.format.encode_float(np.nan)), bits)[()]
    return bits


# -- what operands are -------------------------------------------------------------------------------------------------


def width_of(type: Type) -> int:
    """The bits of an integer or a float; 0 of index."""
    return getattr(element_of(type), "width", 0)


def splat(value: Value) -> Any:
    """The one value of a scalar or splat constant, None of anything else."""
    found = constant_value(constant_of(value))
    return found if found is None or not found.ndim else None


def splat_number(value: Value) -> int | None:
    """The one value of a constant of integers, read signed; None of anything else."""
    found = splat(value)
    if found is None or found.dtype.kind not in "bi":
        return None
    return -int(found) if found.dtype.kind == "b" else int(found)


def splat_is(value: Value, number: int) -> bool:
    """Whether a value is a constant that all elements of have the bits of this number."""
    found = splat_number(value)
    return found is not None and (found - number) % (1 << getattr(element_of(value.type), "width", 64)) == 0


def filled(number: int, type: Type) -> Attribute | None:
    """An integer constant of one value; None for a type of unknown shape."""
    element = element_of(type)
    assert isinstance(element, IntegerType | IndexType)
    if not isinstance(type, TensorType | VectorType):
        return IntegerAttr(number, element)
    if not is_backed(element) or (isinstance(type, TensorType) and not type.has_static_shape):
        return None
    return dense.splat(storage_dtype(element).type(number), type)
