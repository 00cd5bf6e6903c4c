"""Helpers that the operators share: operands and results that are known or computed, and sizes.

Sizes are the elements of a small tensor of integers, each known or a value of type index: the result of `Shape` for a
tensor with an open dimension, and the results of operators that compute with it.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from qrt.ir import Value
from qrt.models.importing.graph import bits
from qrt.models.importing.unquantized import LARGEST, Operand, apply, number_of
from qrt.models.onnx.model import ABSENT
from qrt.models.onnx.node import Node, Shape
from qrt.models.onnx.types import NUMBERS, element_of, signless
from qrt.ops.core import Array, element_dtype
from qrt.types import FloatType, IntegerType, TensorType, Type, UniformType

F32 = FloatType("f32")
I64 = IntegerType(64)


def operand(node: Node, i: int) -> Operand:
    """Return an input as plain numbers, with unsigned integers as signless bits. A known input is an array."""
    array = node.constant(i)
    return bits(array) if array is not None and array.size <= LARGEST else node.stored(i)


def finish(node: Node, i: int, result: Operand, element: Type) -> None:
    """Set output ``i`` to an array or a value. ``element`` is its type in the file."""
    if isinstance(result, np.ndarray):
        node.set_constant(i, np.asarray(result, order="C").view(element_dtype(element)), element)
    else:
        node.set_plain(i, result, element)


def one_type(node: Node, first: int = 0, last: int | None = None) -> Type:
    """Return the plain type of inputs, which must be the same."""
    node.input(first)
    elements = [node.plain(i) for i in range(first, len(node.op.inputs) if last is None else last) if node.has(i)]
    if any(element is not elements[0] for element in elements):
        dtypes = " and ".join(dict.fromkeys(node.dtype(i) for i in range(first, first + len(elements))))
        node.fail(f"its inputs are of {dtypes}")
    return elements[0]


def float_bias(node: Node, i: int, channels: int) -> Value | None:
    """Return the bias of a convolution, one float32 for each channel of the result, or None if there is none."""
    if not node.has(i):
        return None
    if node.type(i).element is not F32 or node.shape(i) not in ((channels,), (None,)):
        node.fail(f"its bias is {node.type(i)}, expected {TensorType((channels,), F32)}")
    return node.value(i)


def require(node: Node, i: int, *dtypes: str) -> None:
    """Refuse an input of another dtype."""
    if node.dtype(i) not in dtypes:
        node.refuse(f"of {node.dtype(i)}")


def quantized_element(node: Node) -> Type:
    """Return the plain type that a QuantizeLinear stores: that of its zero point, of `output_dtype`, or uint8."""
    number = node.attribute("output_dtype", 0)
    if node.has(2):
        element = node.plain(2)
        if number and element_of(NUMBERS.get(number, ABSENT)) is not element:
            node.fail(f"output_dtype is {NUMBERS.get(number, number)}, but the zero point has the type {node.dtype(2)}")
        return element
    if number and number not in NUMBERS:
        node.fail(f"output_dtype is {number}, which is not the number of a type")
    return element_of(NUMBERS[number] if number else "uint8")


def movable(node: Node, i: int = 0) -> Value:
    """Return an input to be moved: a value as it is, or its storage if it has scales along an axis."""
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
    """Set output ``i`` to elements of the first input: quantized, or signless integers of the same bits."""
    assert isinstance(value.type, TensorType)
    if value.type.element is signless(node.plain(0)):
        node.set_plain(i, value, node.plain(0))
    else:
        node.set(i, value)


def axes(node: Node, given: Sequence[int], rank: int) -> tuple[int, ...]:
    """Return axes counted from 0, in ascending order and without duplicates."""
    ordered = sorted(node.axis(axis, rank) for axis in given)
    if len({*ordered}) < len(ordered):
        node.fail(f"axes {list(given)} contain an axis twice")
    return tuple(ordered)


def axes_of(node: Node, i: int, since: int) -> tuple[int, ...] | None:
    """Return axes, an attribute before an opset and an input since then, or None if the file gives none."""
    if node.opset < since:
        return node.ints("axes", ()) if node.has_attribute("axes") else None
    return node.integers(i, "axes") if node.has(i) else None


def small_floats(node: Node, x: Operand, element: FloatType) -> Operand:
    """Convert float32 to float8, rounded half to even, and clamped to its range if ``saturate`` is set."""
    if node.attribute("saturate", 1):
        for name, bound in (("arith.maximumf", -element.largest), ("arith.minimumf", element.largest)):
            x = apply(node, name, [x, number_of(float(bound), F32)], [F32, F32], F32)
    return apply(node, "arith.truncf", [x], [F32], element)


# -- sizes -----------------------------------------------------------------------------------------------------------

Sizes = tuple[int | Value, ...]


def sizes(node: Node, i: int) -> Sizes | None:
    """Return the elements of a small tensor of integers, each known or a value, or None if they are not known."""
    name = node.input(i)
    if name in node.graph.sizes:
        return node.graph.sizes[name]
    known = node.graph.known(name)
    if known is None:
        return None
    return tuple(int(value) for value in known.array.ravel()) if known.array.dtype.kind in "iu" else None


def wanted_sizes(node: Node, i: int) -> Sizes:
    """Return the elements of an input that is a shape. Refuse an input of which nothing is known."""
    known = sizes(node, i)
    return node.integers(i, "a shape") if known is None else known


def set_sizes(node: Node, known: Sizes | None) -> None:
    """Record the known sizes of the output."""
    if known is not None and node.returns(0):
        node.graph.sizes[node.op.outputs[0]] = known


def shape_from(dimensions: Sizes) -> Shape:
    """Return the shape with these sizes."""
    return tuple(None if isinstance(size, Value) else size for size in dimensions)


def spread(node: Node, value: Array, element: Type, dimensions: Sizes) -> Operand:
    """Fill a shape with one element."""
    known = [size for size in dimensions if isinstance(size, int)]
    if any(size < 0 for size in known):
        node.fail(f"{list(shape_from(dimensions))} is not a valid shape")
    node.graph.check_size(node.op, TensorType(shape_from(dimensions), element))
    if len(known) == len(dimensions) and prod(known) <= LARGEST:
        return np.full(known, bits(value).reshape(()), bits(value).dtype)
    one = node.dense(bits(value).reshape(()), signless(element))
    scalar = node.make("tensor.extract", [one], None, [signless(element)]).result
    dynamic = [size for size in dimensions if isinstance(size, Value)]
    kind = TensorType(shape_from(dimensions), signless(element))
    return node.make("tensor.splat", [scalar, *dynamic], None, [kind]).result
