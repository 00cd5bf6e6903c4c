"""Operands and results of the operators that move elements: see `qrt.models.importing.data_movement`."""

from qrt.ir import Value
from qrt.ir.core.traits import have_compatible_shapes
from qrt.models.importing.data_movement import Shape, erase_unused, known_result
from qrt.models.tflite.node import Node
from qrt.types import TensorType, Type, UniformType


def shape_of(node: Node, i: int = 0) -> Shape:
    """The shape of an input."""
    return node.type(i).shape or ()


def one_integer(node: Node, i: int, what: str) -> int:
    """The only integer of an input."""
    found = node.integers(i, what)
    if len(found) != 1:
        node.fail(f"{what} is one integer, not {len(found)}")
    return found[0]


def settle(node: Node, i: int, value: Value) -> None:
    """Says that a value is the output ``i``. Its bits are those of the output, whatever scale the file gives that; few
    integers that follow from constants are known from here on. The file must give it the value's shape, which bounds
    the memory that a run needs.
    """
    declared = node.result_type(i)
    if not have_compatible_shapes((value.type, declared)):
        node.fail(f"the result is {value.type}, but the file has {declared}")
    array = known_result(value)
    if array is not None:
        node.set_constant(i, array)
        erase_unused(value)
        return
    node.set(i, _of_element(node, value, declared.element))


def _of_element(node: Node, value: Value, element: Type) -> Value:
    """The stored bits as another quantized type."""
    assert isinstance(value.type, TensorType)
    own = value.type.element
    if own is element or not isinstance(own, UniformType) or not isinstance(element, UniformType):
        return value
    if own.storage != element.storage or not own.is_per_layer or not element.is_per_layer:
        return value
    stored = node.emit("quant.scast", [value], None, value.type.with_(element=own.storage_type))
    return node.emit("quant.scast", [stored], None, value.type.with_(element=element))
