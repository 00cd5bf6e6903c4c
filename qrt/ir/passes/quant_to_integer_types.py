"""Replacement of quantized types by their storage integers in every operation."""

from collections.abc import Iterator
from dataclasses import dataclass

from qrt.errors import QuantTypeError, VerifyError
from qrt.ir import ArrayAttr, DictAttr, Module, Operation, TypeAttr, Value
from qrt.ir.core.attributes import Attribute
from qrt.ir.core.constraints import with_element
from qrt.ir.core.matching import require_acyclic
from qrt.ir.dialects.quant.channels import check_channels
from qrt.ir.dialects.quant.ops import element_of
from qrt.ir.text.dense import DenseResourceAttr, KeptElementsAttr
from qrt.types import FunctionType, IntegerType, QuantizedType, TensorType, TupleType, Type
from qrt.types.quantized import StoredType

_MOVING_DIALECTS = frozenset(
    (
        "affine",
        "arith",
        "bufferization",
        "builtin",
        "cf",
        "func",
        "linalg",
        "ml_program",
        "scf",
        "shape",
        "tensor",
        "ub",
    )
)
"""Dialects whose operations take quantized values only to move them: their verifiers refuse arithmetic on them."""
_EARLIER_PASSES = {
    "quant.qcast": "lower-quant-ops",
    "quant.dcast": "lower-quant-ops",
    "quant.cast": "lower-quant-ops",
    "quant.conv2d": "lower-qrt",
    "quant.matmul": "lower-qrt",
    "quant.region": "propagate-quant,export-quant",
}
"""The passes that replace operations that compute with quantized values."""


@dataclass(frozen=True)
class QuantToIntegerTypes:
    """Replaces quantized types by their storage integers in all operations, and removes quant.scast.

    Preserves every value. Changes the types of results, block arguments (also of loops) and functions, and the types in
    attributes. An operation that computes with quantized values is an error, which leaves the module unchanged.
    """

    def run(self, module: Module) -> None:
        require_acyclic(module.operation)  # a quant.scast of its own result has no operand to put in its place
        check_channels(module.operation)  # the integers no longer tell which scale belongs to an element
        operations = module.operation.walk()
        for operation in operations:
            _check(operation)
        for operation in operations:
            for value in _values_of(operation):
                value.type = _integers(value.type)
            for name, attribute in operation.attributes.items():
                operation.attributes[name] = _without_quantized(attribute)
        for operation in operations:
            if operation.name == "quant.scast":
                operation.results[0].replace_all_uses(operation.operands[0])
                operation.erase()


def _check(operation: Operation) -> None:
    """Raise VerifyError if an operation computes with quantized values, or has a type that cannot become integers."""
    for name, attribute in operation.attributes.items():
        _check_elements(operation, name, attribute)
    types = [value.type for value in (*operation.operands, *_values_of(operation))]
    types += [type for attribute in operation.attributes.values() for type in _types_in(attribute)]
    try:
        quantized = [type for type in types if _integers(type) is not type]
    except QuantTypeError as error:
        raise operation.op_error(
            f"quant-to-integer-types cannot convert the types of this operation: {error}"
        ) from None
    if operation.name == "quant.scast":
        types = [_integers(value.type) for value in (*operation.operands, *operation.results)]
        if types[0] is not types[1]:
            raise operation.op_error(
                f"quant-to-integer-types cannot remove this cast, because its types differ as integers: {types[0]} "
                f"and {types[1]}"
            )
    elif quantized and (operation.definition is None or operation.definition.dialect not in _MOVING_DIALECTS):
        raise _not_lowered(operation, quantized[0])


def _check_elements(operation: Operation, name: str, attribute: Attribute) -> None:
    """Raise VerifyError for elements that are written as texts and have a quantized type, also nested ones."""
    match attribute:
        case KeptElementsAttr() if _integers(attribute.type) is not attribute.type:
            raise operation.op_error(
                f"quant-to-integer-types cannot convert the elements of attribute '{name}', which are written as texts "
                f"and have the type {attribute.type}: write the storage integers as a constant, and a quant.scast"
            )
        case ArrayAttr():
            for element in attribute.elements:
                _check_elements(operation, name, element)
        case DictAttr():
            for key, element in attribute.items:
                _check_elements(operation, key, element)


def _not_lowered(operation: Operation, type: Type) -> VerifyError:
    earlier = "lower-qrt" if operation.name.startswith("qrt.") else _EARLIER_PASSES.get(operation.name)
    advice = f"run {earlier} first" if earlier else "replace the operation by operations on integers first"
    return operation.op_error(
        f"quant-to-integer-types cannot convert this operation, which computes with the quantized type {_shown(type)} "
        f"and would compute something else with its storage integers: {advice}"
    )


def _shown(type: Type) -> str:
    element = element_of(type)
    return element.shown() if isinstance(element, QuantizedType) else str(type)


def _values_of(operation: Operation) -> Iterator[Value]:
    """Yield the results of an operation and the arguments of the blocks in its regions."""
    yield from operation.results
    for region in operation.regions:
        for block in region.blocks:
            yield from block.arguments


def _types_in(attribute: Attribute) -> Iterator[Type]:
    """Yield the types in an attribute, also those in nested arrays and dictionaries."""
    match attribute:
        case TypeAttr() | DenseResourceAttr():
            yield attribute.type
        case ArrayAttr():
            for element in attribute.elements:
                yield from _types_in(element)
        case DictAttr():
            for _, element in attribute.items:
                yield from _types_in(element)


def _without_quantized(attribute: Attribute) -> Attribute:
    """Return an attribute in which storage integer types replace the quantized types."""
    match attribute:
        case TypeAttr():
            return TypeAttr(_integers(attribute.type))
        case DenseResourceAttr():
            integers = _integers(attribute.type)
            return DenseResourceAttr(attribute.blob, integers) if isinstance(integers, TensorType) else attribute
        case ArrayAttr():
            return ArrayAttr(tuple(map(_without_quantized, attribute.elements)))
        case DictAttr():
            return DictAttr(tuple((name, _without_quantized(element)) for name, element in attribute.items))
    return attribute


def _integers(type: Type) -> Type:
    """Return a type in which storage integer types replace the quantized types.

    Raises QuantTypeError for a quantized type that is not stored in integers.
    """
    match type:
        case FunctionType():
            return FunctionType(map(_integers, type.inputs), map(_integers, type.results))
        case TupleType():
            return TupleType(map(_integers, type.elements))
    element = element_of(type)
    if not isinstance(element, QuantizedType):
        return type
    if not isinstance(element, StoredType):
        raise QuantTypeError(f"{element} has no storage type: run propagate-quant first, which chooses one")
    if not isinstance(element.storage_type, IntegerType):
        raise QuantTypeError(f"{element.storage_type}, the storage type of {element.shown()}, is not an integer type")
    return with_element(type, element.storage_type)
