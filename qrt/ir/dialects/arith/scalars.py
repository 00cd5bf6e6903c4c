"""Element-wise operations of `arith` and `math` as functions, and on constants: attributes to NumPy values and back."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, UndefinedError
from qrt.ir.constants import constant_attribute
from qrt.ir.core.attribute_kinds import ENUMERATIONS
from qrt.ir.core.attributes import Attribute, FloatAttr, IntegerAttr
from qrt.ir.core.constraints import element_of
from qrt.ir.core.folding import Folded, Folds
from qrt.ir.core.matching import constant_of
from qrt.ir.core.operations import Operation, Value
from qrt.ir.rewriting.constant_folder import ConstantFolder
from qrt.ir.text import dense
from qrt.ir.text.dense import DenseElementsAttr, is_backed, storage_dtype
from qrt.ops import elementwise
from qrt.ops.core import element_dtype
from qrt.types import FloatType, IndexType, IntegerType, TensorType, Type, VectorType


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
    return _FOLDER.constants(operation, _known)


def _known(value: Value) -> Any:
    """Return a constant that is not so large that folding it would only make the program longer."""
    known = constant_value(constant_of(value))
    return known if np.size(known) <= dense.MAX_FOLDED else None


def _computed(operation: Operation, known: Mapping[Value, Any]) -> list[Any] | None:
    operands = [known[value] for value in operation.operands]
    try:
        with np.errstate(all="ignore"):
            results = bind_operation(operation)(*operands)
    except (QuantTypeError, UndefinedError):
        return None
    several = results if isinstance(results, tuple) else (results,)
    if any(operand.dtype.kind not in "biu" and bool(np.isnan(operand).any()) for operand in operands):
        return list(several)
    return [_with_own_nan(value, result.type) for value, result in zip(several, operation.results, strict=True)]


def _attributes(operation: Operation, arrays: Sequence[Any]) -> list[Value | Attribute]:
    return [constant_attribute(array, v.type) for array, v in zip(arrays, operation.results, strict=True)]


_FOLDER: ConstantFolder[Value | Attribute] = ConstantFolder(_computed, lambda operation: True, _attributes)


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


def _with_own_nan(value: Any, type: Type) -> Any:
    """Return floats with APFloat's NaN, positive and quiet, in the place of each: no operand gave it."""
    element = element_of(type)
    if not isinstance(element, FloatType) or element.special == "none":
        return value
    nan = constant_value(FloatAttr(element.format.encode_float(np.nan), element))
    bits = np.where(np.isnan(value), *(each.view(f"u{value.dtype.itemsize}") for each in (nan, value)))
    return bits.view(value.dtype)


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
