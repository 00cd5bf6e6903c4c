"""Helpers for operators that move elements or compute on unquantized numbers: their operands and results.

An operand is an array if its elements are known at import, or else a value of the program.
"""

from collections.abc import Sequence

import numpy as np

from qrt.ir import Value
from qrt.models.importing.data_movement import Shape, erase_unused, known_result, sizes_of
from qrt.models.importing.graph import bits
from qrt.models.importing.unquantized import LARGEST, Operand, as_value, broadcast, shape_of, signless, stored
from qrt.models.tflite.model import Tensor
from qrt.models.tflite.node import Node
from qrt.types import IndexType, TensorType, Type, UniformType


def raw(node: Node, i: int) -> Operand:
    """Return input ``i`` as signless integers or floats: the storage if it is quantized, the bits if it is unsigned."""
    array = node.constant(i)
    element = signless(node.type(i).element)
    if array is not None and array.size <= LARGEST:
        return bits(array)
    return stored(node, node.value(i), element)


def operands_of(node: Node, dtypes: tuple[str, ...]) -> tuple[list[Operand], Type]:
    """Return all inputs and their common element type.

    Raise UnsupportedForm if an input is quantized or its dtype is not in ``dtypes``, and ModelError if their dtypes
    differ.
    """
    tensors = [node.input(i) for i in range(len(node.inputs))]
    input_dtypes = {tensor.dtype for tensor in tensors}
    if len(input_dtypes) != 1:
        node.fail(f"its inputs must have the same type, got {' and '.join(sorted(input_dtypes))}")
    if tensors[0].dtype not in dtypes or any(tensor.quantization is not None for tensor in tensors):
        node.refuse(f"{tensors[0].dtype} with scales" if tensors[0].dtype in dtypes else tensors[0].dtype)
    return [raw(node, i) for i in range(len(tensors))], node.type(0).element


def finish(node: Node, i: int, result: Operand) -> None:
    """Set output ``i`` to an array or a value of signless elements, which is reinterpreted as the output's type.

    The shape may differ from the output's shape in the file.
    """
    declared = node.result_type(i)
    shape = result.shape if isinstance(result, np.ndarray) else shape_of(result)
    if isinstance(result, np.ndarray):
        node.set_constant(i, result)
        return
    element = signless(declared.element)
    if element is not declared.element:
        name = "quant.scast" if isinstance(declared.element, UniformType) else "tensor.bitcast"
        result = node.emit(name, [result], None, TensorType(shape, declared.element))
    node.set(i, result)


def element_of(operand: Operand, tensor: Tensor, node: Node) -> Type:
    """Return the element type of ``operand``: that of a value, or for an array the signless type of ``tensor``."""
    if isinstance(operand, Value):
        assert isinstance(operand.type, TensorType)
        return operand.type.element
    return signless(node.graph.type(tensor).element)


def input_shape(node: Node, i: int = 0) -> Shape:
    """Return the shape of input ``i``."""
    return node.type(i).shape or ()


def sizes(node: Node, i: int, description: str) -> tuple[int | Value, ...]:
    """Return the elements of an integer input, such as a shape: each an int, or a value of type index if it is open.

    An element is open if the program computes it at run time from the sizes of tensors. Raise UnsupportedForm if an
    element depends on the contents of a tensor that are known only at run time, and ModelError for a negative int.
    ``description``, such as "a shape", is for error messages.
    """
    traced = sizes_of(node.value(i)) if node.constant(i) is None else None
    elements = node.integers(i, description) if traced is None else traced
    known = [element for element in elements if isinstance(element, int)]
    if min(known, default=0) < 0:
        node.fail(f"{description} (input {i}) must have non-negative integers, got {list(shape_from(elements))}")
    return tuple(
        node.emit("arith.index_cast", [element], None, IndexType()) if isinstance(element, Value) else element
        for element in elements
    )


def shape_from(extents: Sequence[int | Value]) -> Shape:
    """Return the shape with these sizes, in which an open size is None."""
    return tuple(None if isinstance(extent, Value) else extent for extent in extents)


def filled(node: Node, number: Operand, element: Type, extents: Sequence[int | Value]) -> Operand:
    """Return a tensor of the given sizes, filled with ``number``, an operand of one element of type ``element``."""
    shape = shape_from(extents)
    if None not in shape:
        return broadcast(node, number, element, shape)
    scalar = node.emit("tensor.extract", [as_value(node, number, element)], None, element)
    dynamic = [extent for extent in extents if isinstance(extent, Value)]
    return node.emit("tensor.splat", [scalar, *dynamic], None, TensorType(shape, element))


def one_integer(node: Node, i: int, description: str) -> int:
    """Return the only element of an integer input, which must be known at import.

    ``description``, such as "an axis", is for error messages.
    """
    integers = node.integers(i, description)
    if len(integers) != 1:
        node.fail(f"{description} (input {i}) must be one integer, got {len(integers)}")
    return integers[0]


def settle(node: Node, i: int, value: Value) -> None:
    """Set output ``i`` to a value, whose storage is reinterpreted if the output has another scale or zero point.

    A small integer tensor that can be computed at import becomes a constant. The shape may differ from that in the
    file.
    """
    declared = node.result_type(i)
    array = known_result(value)
    if array is not None:
        node.set_constant(i, array)
        erase_unused(value)
        return
    node.set(i, _of_element(node, value, declared.element))


def _of_element(node: Node, value: Value, element: Type) -> Value:
    """Reinterpret a value's storage as another per-layer quantized type; return any other value unchanged."""
    assert isinstance(value.type, TensorType)
    own = value.type.element
    if own is element or not isinstance(own, UniformType) or not isinstance(element, UniformType):
        return value
    if own.storage != element.storage or not own.is_per_layer or not element.is_per_layer:
        return value
    stored = node.emit("quant.scast", [value], None, value.type.with_(element=own.storage_type))
    return node.emit("quant.scast", [stored], None, value.type.with_(element=element))
