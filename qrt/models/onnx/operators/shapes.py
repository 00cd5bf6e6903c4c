"""Operators that create tensors or compute with shapes: Constant, ConstantOfShape, Shape, Size, Range."""

import numpy as np

from qrt.ir import Value
from qrt.models.importing.unquantized import index
from qrt.models.onnx.model import Tensor
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import I64, Sizes, finish, set_sizes, spread, wanted_sizes
from qrt.models.onnx.types import element_of
from qrt.types import TensorType


def constant(node: Node) -> None:
    """Create the constant that an attribute gives: a tensor, a number or a list of numbers."""
    attributes = node.op.attributes
    if len(attributes) > 1:
        node.fail(f"it must have one attribute, got {' and '.join(attributes)}")
    if isinstance(value := attributes.get("value"), Tensor):
        node.set_constant(0, value.data, element_of(value.dtype))
    elif node.has_attribute("value_float"):
        node.set_constant(0, np.array(node.number("value_float"), np.float32))
    elif node.has_attribute("value_floats"):
        node.set_constant(0, np.array(node.numbers("value_floats", float), np.float32))
    elif node.has_attribute("value_int"):
        node.set_constant(0, np.array(node.required("value_int", int), np.int64))
    elif node.has_attribute("value_ints"):
        node.set_constant(0, np.array(node.ints("value_ints"), np.int64))
    else:
        node.refuse(", ".join(attributes) or "without a value")


def constant_of_shape(node: Node) -> None:
    """Create a tensor of a given shape that is filled with one number."""
    dimensions, value = wanted_sizes(node, 0), node.op.attributes.get("value")
    array, dtype = (value.data, value.dtype) if isinstance(value, Tensor) else (np.zeros(1, np.float32), "float")
    if array.size != 1:
        node.fail(f"attribute 'value' must have one element, got shape {array.shape}")
    element = element_of(dtype)
    finish(node, 0, spread(node, array, element, dimensions), element)


def shape(node: Node) -> None:
    """Compute the sizes of a tensor, or of some of its axes, as int64."""
    input_shape = node.shape()
    start, end = node.attribute("start", 0), node.attribute("end", len(input_shape))
    first, last = (max(0, min(len(input_shape), n + len(input_shape) if n < 0 else n)) for n in (start, end))
    selected = range(first, max(first, last))
    if all(input_shape[axis] is not None for axis in selected):
        node.set_constant(0, np.array([input_shape[axis] for axis in selected], np.int64))
        return
    dimensions: Sizes = tuple(_size(node, input_shape[axis], axis) for axis in selected)
    set_sizes(node, dimensions)
    node.set(0, as_tensor(node, dimensions))


def _size(node: Node, size: int | None, axis: int) -> int | Value:
    return node.emit("tensor.dim", [node.value(0), index(node, axis)]) if size is None else size


def as_tensor(node: Node, dimensions: Sizes) -> Value:
    """Return sizes, each an int or a value of type index, as a tensor of int64."""
    values = [size if isinstance(size, Value) else index(node, size) for size in dimensions]
    cast = [node.emit("arith.index_cast", [value], None, I64) for value in values]
    return node.emit("tensor.from_elements", cast, None, TensorType((len(cast),), I64))


def size(node: Node) -> None:
    """Compute the number of elements of a tensor, whose shape must be known at import."""
    input_shape = node.shape()
    if None in input_shape:
        node.refuse("a dynamic dimension")
    node.set_constant(0, np.array(np.prod([length or 0 for length in input_shape], dtype=np.int64)))


def range_(node: Node) -> None:
    """List the numbers from a start up to a limit by a step. All three must be known at import."""
    arrays = [node.known(i, "a bound") for i in range(3)]
    if any(array.size != 1 or array.dtype != arrays[0].dtype for array in arrays):
        node.fail("its start, limit and delta must be scalars of one type")
    start, limit, delta = (array.reshape(()).item() for array in arrays)
    if not delta or not np.isfinite([start, limit, delta]).all():
        node.fail(f"start and limit must be finite, and delta finite and not 0, got {start}, {limit} and {delta}")
    span = (limit - start) / delta if arrays[0].dtype.kind == "f" else -((start - limit) // delta)
    count = max(int(np.ceil(span)), 0)
    node.graph.check_size(node.op, TensorType((count,), node.plain(0)))
    dtype = arrays[0].dtype
    steps = np.arange(count, dtype=np.int64).astype(dtype) * dtype.type(delta)
    node.set_constant(0, (dtype.type(start) + steps).astype(dtype), node.plain(0))
