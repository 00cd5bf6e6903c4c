"""Element-wise operations of `arith` and `math` as NumPy functions, and their evaluation on constants."""

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
    """Return the function of `qrt.ops.elementwise` that computes an operation of `arith` or `math`.

    With `saturating`, conversions of floats to integers saturate. Raise QuantTypeError if qrt cannot execute the types.
    """
    return elementwise.bind(
        operation.name,
        [element_of(value.type) for value in operation.operands],
        [element_of(value.type) for value in operation.results],
        plain_attributes(operation),
        saturating=saturating,
    )


def plain_attributes(operation: Operation) -> dict[str, Any]:
    """Return the attributes of an `arith` or `math` operation that change results, as Python values.

    `elementwise.bind` accepts the returned dict.
    """
    return {name: read(operation.attributes[name]) for name, read in _PLAIN.items() if name in operation.attributes}


_PLAIN: dict[str, Callable[[Attribute], Any]] = {
    "predicate": lambda value: value.python,
    "roundingmode": lambda value: value.python,
    "isExact": lambda value: True,
    "overflowFlags": lambda value: ENUMERATIONS["arith.overflow"].flags(value),
}


# -- constants ---------------------------------------------------------------------------------------------------------


def fold_constants(operation: Operation, folds: Folds) -> Folded:
    """Return the constant results of an operation whose operands are constants.

    Return None if an operand is not constant, the result is undefined, or qrt cannot execute the types.
    """
    return _FOLDER.constants(operation, _known)


def _known(value: Value) -> Any:
    """Return the elements of a constant; None if `value` is not constant, or has more than MAX_FOLDED elements."""
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
    """Return a constant as a NumPy array for `qrt.ops.elementwise`, or a NumPy scalar if it is a scalar or splat.

    Return None for an attribute that is not a constant, and for types that qrt cannot execute.
    """
    try:
        match constant:
            case IntegerAttr():
                return element_dtype(constant.type).type(constant.value)
            case FloatAttr() if constant.bits < 1 << 64:  # f80 and f128 are not executed
                return _elementwise_form(np.uint64(constant.bits), constant.type)
            case DenseElementsAttr() if constant.array.size:
                return _elementwise_form(constant.first if constant.is_splat else constant.array, constant.element)
    except QuantTypeError:
        pass
    return None


def _elementwise_form(stored: Any, element: Type) -> Any:
    """Convert the stored elements of a constant (integers, bit patterns or floats) to the dtypes of `elementwise`."""
    dtype = element_dtype(element)
    if stored.dtype.kind == "f" or not isinstance(element, FloatType):
        return stored
    bits = stored.astype(f"u{dtype.itemsize}")
    return (bits << 13 if element.name == "tf32" else bits).view(dtype)


def _with_own_nan(value: Any, type: Type) -> Any:
    """Replace each NaN in a folded result by APFloat's default NaN, positive and quiet.

    The operands must not contain a NaN, because upstream copies the bits of such an operand to the result.
    """
    element = element_of(type)
    if not isinstance(element, FloatType) or element.special == "none":
        return value
    nan = constant_value(FloatAttr(element.format.encode_float(np.nan), element))
    bits = np.where(np.isnan(value), *(array.view(f"u{value.dtype.itemsize}") for array in (nan, value)))
    return bits.view(value.dtype)


# -- constant operands -------------------------------------------------------------------------------------------------


def width_of(type: Type) -> int:
    """Return the number of bits of an integer or float; 0 for index."""
    return getattr(element_of(type), "width", 0)


def splat(value: Value) -> Any:
    """Return the value of a scalar constant, or the element of a splat constant; None for any other value."""
    constant = constant_value(constant_of(value))
    return constant if constant is None or not constant.ndim else None


def splat_number(value: Value) -> int | None:
    """Return the signed value of a scalar integer constant, or of the element of a splat; None for any other value."""
    constant = splat(value)
    if constant is None or constant.dtype.kind not in "bi":
        return None
    return -int(constant) if constant.dtype.kind == "b" else int(constant)


def splat_is(value: Value, number: int) -> bool:
    """Return True if a value is an integer constant whose elements all equal `number` modulo 2**width."""
    constant = splat_number(value)
    return constant is not None and (constant - number) % (1 << getattr(element_of(value.type), "width", 64)) == 0


def filled(number: int, type: Type) -> Attribute | None:
    """Return an integer constant with all elements equal to `number`; None if `type` has no constants."""
    element = element_of(type)
    assert isinstance(element, IntegerType | IndexType)
    if not isinstance(type, TensorType | VectorType):
        return IntegerAttr(number, element)
    if not is_backed(element) or (isinstance(type, TensorType) and not type.has_static_shape):
        return None
    return dense.splat(storage_dtype(element).type(number), type)
