"""Operators that create tensors or compute with shapes: Constant, ConstantOfShape, Shape, Size, Range."""

import math

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.models.importing.node import index, lowering_context
from qrt.models.onnx.model import Tensor
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import I64, Sizes, as_tensor, finish, run_sizes, set_sizes, spread
from qrt.models.onnx.types import element_of
from qrt.types import IndexType, TensorType


def constant(node: Node) -> None:
    """Import Constant: create the constant that an attribute gives: a tensor, a number or a list of numbers."""
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
    """Import ConstantOfShape: create a tensor of a given shape that is filled with one number."""
    dimensions, value = run_sizes(node, 0), node.op.attributes.get("value")
    array, dtype = (value.data, value.dtype) if isinstance(value, Tensor) else (np.zeros(1, np.float32), "float")
    if array.size != 1:
        node.fail(f"attribute 'value' must have one element, got shape {array.shape}")
    element = element_of(dtype)
    finish(node, 0, spread(node, array, element, dimensions), element)


def shape(node: Node) -> None:
    """Import Shape: compute the sizes of a tensor, or of some of its axes, as int64."""
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


def size(node: Node) -> None:
    """Import Size: compute the number of elements of a tensor, as int64."""
    input_shape = node.shape()
    known = math.prod(length for length in input_shape if length is not None)
    if None not in input_shape:
        node.set_constant(0, np.array(known, np.int64))
        return
    count = index(node, known)
    for axis, length in enumerate(input_shape):
        if length is None:
            count = node.emit("arith.muli", [count, node.emit("tensor.dim", [node.value(0), index(node, axis)])])
    set_sizes(node, (count,))
    node.set(0, node.emit("qrt.reshape", [as_tensor(node, (count,))], None, TensorType((), I64)))


def range_(node: Node) -> None:
    """Import Range: list the numbers from a start up to a limit by a step.

    The start and the limit of integers may be known only at run time, but not the step.
    """
    required = [node.graph.required(node.input(i)) for i in (0, 1)]
    arrays = [None if constant is None else constant.array for constant in required]
    are_numbers = [math.prod(1 if n is None else n for n in node.shape(i)) == 1 for i in range(3)]
    if not all(are_numbers) or any(node.plain(i) is not node.plain(0) for i in range(3)):
        node.fail("its start, limit and delta must be scalars of one type")
    delta = node.known(2, "a step")
    step = delta.reshape(()).item()
    if not step or not np.isfinite(step):
        node.fail(f"delta must be finite and not 0, got {step}")
    if arrays[0] is None or arrays[1] is None:
        _open_range(node, step)
        return
    start, limit = (array.reshape(()).item() for array in arrays if array is not None)
    if not np.isfinite([start, limit]).all():
        node.fail(f"start and limit must be finite, got {start} and {limit}")
    span = (limit - start) / step if delta.dtype.kind == "f" else -((start - limit) // step)
    count = max(int(np.ceil(span)), 0)
    node.graph.check_size(node.op, TensorType((count,), node.plain(0)))
    dtype = delta.dtype
    steps = np.arange(count, dtype=np.int64).astype(dtype) * dtype.type(step)
    node.set_constant(0, (dtype.type(start) + steps).astype(dtype), node.plain(0))


def _open_range(node: Node, step: int) -> None:
    """List integers whose start or limit is known only at run time."""
    element = node.plain(0)
    if node.dtype(0) not in ("int32", "int64"):
        node.refuse(f"bounds of {node.dtype(0)} known only at run time")
    (start,), (limit,) = (run_sizes(node, i) for i in (0, 1))
    ends = [bound if isinstance(bound, Value) else index(node, bound) for bound in (start, limit)]
    span = ends[1] if start == 0 else node.emit("arith.subi", ends[::-1])
    if step != 1:
        span = node.emit("arith.ceildivsi", [span, index(node, step)])
    count = node.emit("arith.maxsi", [span, index(node, 0)])
    nest = LoopNest(lowering_context(node), "range", [count])
    at = nest.position(nest.loops[0])
    if step != 1:
        at = nest.value("arith.muli", (at, nest.constant(step, IndexType())), IndexType())
    if start != 0:
        at = nest.value("arith.addi", (at, ends[0]), IndexType())
    node.set(0, nest.finish(nest.value("arith.index_cast", (at,), element))[0])
