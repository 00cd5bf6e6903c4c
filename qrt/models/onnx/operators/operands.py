"""Helpers for the functions that import operators: operands, results, axes, and the elements of shape tensors.

Some operators compute with shapes. Helpers such as `sizes` return a shape as a tuple. Each size in the tuple is an int,
or a value of type index if the size is known only at run time.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from qrt.ir import Value
from qrt.models.importing.graph import bits
from qrt.models.importing.node import index
from qrt.models.importing.unquantized import LARGEST, Operand
from qrt.models.onnx.model import ABSENT
from qrt.models.onnx.node import Node, Shape
from qrt.models.onnx.types import NUMBERS, element_of, signless
from qrt.ops.core import Array, element_dtype
from qrt.types import FloatType, IndexType, IntegerType, TensorType, Type, UniformType

F32 = FloatType("f32")
I64 = IntegerType(64)


def operand(node: Node, i: int) -> Operand:
    """Return input ``i`` as a NumPy array if it is a small constant, else as a value of the program.

    Quantized elements are returned as their storage, and unsigned integers as signless integers of the same bits.
    """
    array = node.constant(i)
    return bits(array) if array is not None and array.size <= LARGEST else node.stored(i)


def finish(node: Node, i: int, result: Operand, element: Type) -> None:
    """Set output ``i`` to an array or a value. ``element`` is the output's element type in the file."""
    if isinstance(result, np.ndarray):
        node.set_constant(i, np.asarray(result, order="C").view(element_dtype(element)), element)
    else:
        node.set_plain(i, result, element)


def one_type(node: Node, first: int = 0, last: int | None = None) -> Type:
    """Return the element type that the file gives for all of the node's ``inputs[first:last]``.

    Raise ModelError if their types differ.
    """
    node.input(first)
    inputs = [i for i in range(first, len(node.op.inputs) if last is None else last) if node.has(i)]
    elements = [node.plain(i) for i in inputs]
    if any(element is not elements[0] for element in elements):
        dtypes = " and ".join(f"{node.dtype(i)} (input {i})" for i in inputs)
        node.fail(f"its inputs must have the same type, got {dtypes}")
    return elements[0]


def float_bias(node: Node, i: int, channels: int) -> Value | None:
    """Return input ``i``, the float32 bias of a convolution with ``channels`` filters, or None if it is missing."""
    if not node.has(i):
        return None
    if node.type(i).element is not F32 or node.shape(i) not in ((channels,), (None,)):
        node.fail(f"its bias must be {TensorType((channels,), F32)}, got {node.type(i)}")
    return node.value(i)


def require(node: Node, i: int, *dtypes: str) -> None:
    """Raise UnsupportedForm unless input ``i`` has one of the dtypes."""
    if node.dtype(i) not in dtypes:
        node.refuse(f"of {node.dtype(i)}")


def quantized_element(node: Node) -> Type:
    """Return the element type that a QuantizeLinear stores: that of its zero point, ``output_dtype``, or uint8."""
    number = node.attribute("output_dtype", 0)
    if node.has(2):
        element = node.plain(2)
        if number and element_of(NUMBERS.get(number, ABSENT)) is not element:
            node.fail(
                f"attribute 'output_dtype' must be the type of the zero point, {node.dtype(2)}, got "
                f"{NUMBERS.get(number, number)}"
            )
        return element
    if number and number not in NUMBERS:
        node.fail(f"attribute 'output_dtype' must be a number of the enum TensorProto.DataType, got {number}")
    return element_of(NUMBERS[number] if number else "uint8")


def movable(node: Node, i: int = 0) -> Value:
    """Return input ``i`` for an operation that moves its elements.

    A value with several scales is returned as its integers, because the axis of the scales may move.
    """
    value = node.value(i)
    assert isinstance(value.type, TensorType)
    element = value.type.element
    if not isinstance(element, UniformType) or element.is_per_layer:
        return value
    stored, plain = node.stored(i), node.plain(i)
    if plain is signless(plain):
        return stored
    return node.emit("tensor.bitcast", [stored], None, value.type.with_(element=plain))


def set_moved(node: Node, i: int, value: Value) -> None:
    """Set output ``i`` to ``value``, which has elements of input 0 in another order or shape.

    Most operations of MLIR have signless integers, but ONNX's unsigned tensors have types such as ui8. If ``value`` has
    signless integers, it is reinterpreted as the integer type of input 0.
    """
    assert isinstance(value.type, TensorType)
    if value.type.element is signless(node.plain(0)):
        node.set_plain(i, value, node.plain(0))
    else:
        node.set(i, value)


def axes(node: Node, given: Sequence[int], rank: int) -> tuple[int, ...]:
    """Return axes counted from 0, in ascending order. Raise ModelError if an axis occurs twice or is out of range."""
    ordered = sorted(node.axis(axis, rank) for axis in given)
    if len({*ordered}) < len(ordered):
        node.fail(f"the axes must differ, got {list(given)}")
    return tuple(ordered)


def axes_of(node: Node, i: int, since: int) -> tuple[int, ...] | None:
    """Return the node's axes, or None if it has none.

    They are an attribute before the opset ``since``, and input ``i`` from that opset on.
    """
    if node.opset < since:
        return node.ints("axes", ()) if node.has_attribute("axes") else None
    return node.integers(i, "axes") if node.has(i) else None


# -- sizes -----------------------------------------------------------------------------------------------------------

Sizes = tuple[int | Value, ...]


def sizes(node: Node, i: int) -> Sizes | None:
    """Return the elements of integer input ``i``, each an int or a value of type index.

    Return None if no element is known.
    """
    name = node.input(i)
    if name in node.graph.sizes:
        return node.graph.sizes[name]
    known = node.graph.known(name)
    if known is None:
        return None
    return tuple(int(value) for value in known.array.ravel()) if known.array.dtype.kind in "iu" else None


def wanted_sizes(node: Node, i: int) -> Sizes:
    """Return the elements of input ``i``, a shape, as `sizes` does. Raise UnsupportedForm if none is known."""
    known = sizes(node, i)
    return node.integers(i, "a shape") if known is None else known


def run_sizes(node: Node, i: int) -> Sizes:
    """Return the elements of integer input ``i``, each an int or a value of type index.

    Elements that are known only at run time are extracted from the tensor. Raise UnsupportedForm if even their number
    is known only at run time.
    """
    known = sizes(node, i)
    if known is not None:
        return known
    if node.graph.required(node.input(i)) is not None:
        return node.integers(i, "sizes")
    shape = node.shape(i)
    if len(shape) > 1 or None in shape or node.dtype(i) not in ("int32", "int64"):
        node.refuse(f"sizes of {node.dtype(i)} and shape {list(shape)}")
    whole = node.value(i)
    places = [[index(node, at)] for at in range(shape[0] or 0)] if shape else [[]]
    elements = [node.emit("tensor.extract", [whole, *place], None, node.plain(i)) for place in places]
    return tuple(node.emit("arith.index_cast", [element], None, IndexType()) for element in elements)


def as_tensor(node: Node, dimensions: Sizes) -> Value:
    """Return sizes, each an int or a value of type index, as a tensor of int64."""
    values = [size if isinstance(size, Value) else index(node, size) for size in dimensions]
    cast = [node.emit("arith.index_cast", [value], None, I64) for value in values]
    return node.emit("tensor.from_elements", cast, None, TensorType((len(cast),), I64))


def in_shape(node: Node, value: Value, dimensions: Sizes) -> Value:
    """Return a value of unquantized elements in another shape, whose sizes may be known only at run time."""
    assert isinstance(value.type, TensorType)
    kind = value.type.with_(shape=shape_from(dimensions))
    if (kind.shape or ()).count(None) < 2:
        return node.emit("qrt.reshape", [value], None, kind)
    return node.emit("tensor.reshape", [value, as_tensor(node, dimensions)], None, kind)


def set_sizes(node: Node, known: Sizes | None) -> None:
    """Record the elements of output 0, for operators that read them by `sizes`. If ``known`` is None, do nothing."""
    if known is not None and node.returns(0):
        node.graph.sizes[node.op.outputs[0]] = known


def shape_from(dimensions: Sizes) -> Shape:
    """Return the shape with these sizes, in which a size known only at run time is None."""
    return tuple(None if isinstance(size, Value) else size for size in dimensions)


def spread(node: Node, value: Array, element: Type, dimensions: Sizes) -> Operand:
    """Return a tensor of the sizes ``dimensions``, filled with ``value`` of the file's type ``element``."""
    known = [size for size in dimensions if isinstance(size, int)]
    if any(size < 0 for size in known):
        node.fail(f"a shape must have sizes of at least 0, got {list(shape_from(dimensions))}")
    node.graph.check_size(node.op, TensorType(shape_from(dimensions), element))
    if len(known) == len(dimensions) and prod(known) <= LARGEST:
        return np.full(known, bits(value).reshape(()), bits(value).dtype)
    one = node.dense(bits(value).reshape(()), signless(element))
    scalar = node.make("tensor.extract", [one], None, [signless(element)]).result
    dynamic = [size for size in dimensions if isinstance(size, Value)]
    kind = TensorType(shape_from(dimensions), signless(element))
    return node.make("tensor.splat", [scalar, *dynamic], None, [kind]).result
