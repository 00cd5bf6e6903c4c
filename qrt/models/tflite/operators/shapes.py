"""Import of operators on shapes, indices and bits, of casts and of filled tensors. Most results are known at import."""

import numpy as np

from qrt.models.importing.node import index, lowering_context
from qrt.models.importing.unquantized import (
    BOOL,
    Operand,
    apply,
    broadcast_shape,
    cast_to,
    number_of,
    select,
    shape_of,
    signless,
)
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import filled, finish, raw, shape_from, sizes
from qrt.models.tflite.read import numpy_dtype
from qrt.ops.core import element_dtype
from qrt.types import IntegerType, TensorType, Type

_CAST = {"bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"}


def shape(node: Node) -> None:
    """Import SHAPE: compute the shape of a tensor in int32 or int64."""
    own = node.type(0).shape
    assert own is not None
    element = node.result_type().element
    if element not in (IntegerType(32), IntegerType(64)):
        node.refuse(node.outputs[0].dtype)
    if None not in own:
        finish(node, 0, np.array(own, numpy_dtype(node.outputs[0].dtype)))
        return
    builder, cast = node.graph.builder(node.op), []
    for axis, size in enumerate(own):
        if size is None:
            extent = node.emit("tensor.dim", [node.value(0), index(node, axis)])
            cast.append(node.emit("arith.index_cast", [extent], None, element))
        else:
            cast.append(builder.constant(size, element))
    finish(node, 0, node.emit("tensor.from_elements", cast, None, TensorType((len(cast),), element)))


def rank(node: Node) -> None:
    """Import RANK: compute the number of dimensions of a tensor."""
    finish(node, 0, np.array(len(node.type(0).shape or ()), np.int32))


def zeros_like(node: Node) -> None:
    """Import ZEROS_LIKE: create int32, int64 or float32 zeros in the shape of a tensor."""
    _require(node, node.input(0).dtype, "int32", "int64", "float32")
    element = signless(node.type(0).element)
    finish(node, 0, filled(node, number_of(0, element), element, lowering_context(node).extents(node.value(0))))


def fill(node: Node) -> None:
    """Import FILL: fill a tensor with one value. The shape is known at import, or computed from sizes of tensors."""
    extents = sizes(node, 0, "a shape")
    node.graph.check_size(node.op, TensorType(shape_from(extents), node.result_type().element))
    value, element = raw(node, 1), signless(node.type(1).element)
    if shape_of(value) not in ((), (1,)):
        node.fail(f"its value (input 1) must have one element, got shape {shape_of(value)}")
    finish(node, 0, filled(node, _scalar(node, value, element), element, extents))


def _scalar(node: Node, value: Operand, element: Type) -> Operand:
    if isinstance(value, np.ndarray):
        return value.reshape(())
    return value if shape_of(value) == () else node.emit("qrt.reshape", [value], None, TensorType((), element))


def bitcast(node: Node) -> None:
    """Import BITCAST: reinterpret the bits of a tensor as another type of the same width."""
    x = raw(node, 0)
    source, target = (signless(type.element) for type in (node.type(0), node.result_type()))
    if BOOL in (source, target) or element_dtype(source).itemsize != element_dtype(target).itemsize:
        node.refuse(f"{node.input(0).dtype} to {node.outputs[0].dtype}")
    if isinstance(x, np.ndarray):
        finish(node, 0, x.view(element_dtype(target)))
        return
    finish(node, 0, x if source is target else node.emit("tensor.bitcast", [x], None, TensorType(shape_of(x), target)))


def bitwise_xor(node: Node) -> None:
    """Import BITWISE_XOR: compute the bitwise XOR of integers or bools."""
    element = _bits(node)
    finish(node, 0, apply(node, "arith.xori", [raw(node, 0), raw(node, 1)], [element] * 2, element))


def right_shift(node: Node) -> None:
    """Import RIGHT_SHIFT: shift 8- to 32-bit integers right. The shift is clamped to 0 ... width - 1."""
    element, is_unsigned = _bits(node), node.input(0).dtype[0] == "u"
    _require(node, node.input(0).dtype, *(f"{sign}int{width}" for sign in ("", "u") for width in (8, 16, 32)))
    pair, count = [element] * 2, raw(node, 1)
    if not is_unsigned:
        count = apply(node, "arith.maxsi", [count, number_of(0, element)], pair, element)
    most = number_of(8 * element_dtype(element).itemsize - 1, element)
    count = apply(node, "arith.minui", [count, most], pair, element)
    finish(node, 0, apply(node, "arith.shrui" if is_unsigned else "arith.shrsi", [raw(node, 0), count], pair, element))


def _bits(node: Node) -> Type:
    """Return the signless element type of both inputs.

    Raise ModelError if their dtypes differ, and UnsupportedForm unless they are unquantized integers or bools.
    """
    element = signless(node.type(0).element)
    if node.input(0).dtype != node.input(1).dtype:
        node.fail(f"its inputs must have the same type, got {node.input(0).dtype} and {node.input(1).dtype}")
    if not isinstance(element, IntegerType) or node.input(0).quantization is not None:
        node.refuse(node.input(0).dtype)
    return element


def range_(node: Node) -> None:
    """Import RANGE: create int32, int64 or float32 numbers from a start to a limit by a delta, all known at import."""
    _require(node, node.input(0).dtype, "int32", "int64", "float32")
    arrays = [node.constant(i) for i in range(3)]
    dtype = numpy_dtype(node.input(0).dtype)
    numbers = []
    for array in arrays:
        if array is None:
            node.refuse("bounds known only at run time")
        if array.size != 1 or array.dtype != dtype:
            node.fail("its start, limit and delta must be scalars of one type")
        numbers.append(array.reshape(()).item())
    start, limit, delta = numbers
    if not delta or not np.isfinite(numbers).all():
        node.fail(f"start and limit must be finite, and delta finite and not 0, got {start}, {limit} and {delta}")
    span = (limit - start) / delta if dtype.kind == "f" else -((start - limit) // delta)
    count = max(int(np.ceil(span)), 0)
    node.graph.check_size(node.op, TensorType((count,), node.result_type().element))
    steps = np.arange(count, dtype=np.int64)
    finish(node, 0, (dtype.type(start) + steps.astype(dtype) * dtype.type(delta)).astype(dtype))


def broadcast_args(node: Node) -> None:
    """Import BROADCAST_ARGS: compute the shape to which two shapes, both known at import, broadcast."""
    shapes = [np.broadcast_to(np.int8(0), _positive(node, node.integers(i, "a shape"))) for i in range(2)]
    finish(node, 0, np.array(broadcast_shape(node, shapes), numpy_dtype(node.outputs[0].dtype)))


def _positive(node: Node, shape: tuple[int, ...]) -> tuple[int, ...]:
    if any(not 0 < size < 2**31 for size in shape) or len(shape) > 8:
        node.fail(f"a shape must have at most 8 sizes from 1 to 2**31 - 1, got {shape}")
    return shape


def select_(node: Node) -> None:
    """Import SELECT or SELECT_V2: select each element from one of two tensors by a bool.

    The condition of SELECT may have one bool for each row.
    """
    if node.input(0).dtype != "bool" or node.input(1).dtype != node.input(2).dtype:
        node.fail(
            "input 0 must be bool, and inputs 1 and 2 of one type, got "
            f"{', '.join(node.input(i).dtype for i in range(3))}"
        )
    condition, a, b = (raw(node, i) for i in range(3))
    element = signless(node.type(1).element)
    if node.op.name == "SELECT":
        if shape_of(a) != shape_of(b):
            node.fail(f"inputs 1 and 2 must have the same shape, got {shape_of(a)} and {shape_of(b)}")
        condition = _by_row(node, condition, len(shape_of(a)))
    finish(node, 0, select(node, condition, a, b, element))


def _by_row(node: Node, condition: Operand, rank: int) -> Operand:
    given = shape_of(condition)
    if len(given) != 1 or rank < 2:
        return condition
    shape = (*given, *(1,) * (rank - 1))
    if isinstance(condition, np.ndarray):
        return condition.reshape(given[0] or 0, *(1,) * (rank - 1))
    return node.emit("qrt.reshape", [condition], None, TensorType(shape, BOOL))


def _require(node: Node, dtype: str, *dtypes: str) -> None:
    if dtype not in dtypes:
        node.refuse(dtype)


# -- casts -----------------------------------------------------------------------------------------------------------


def cast(node: Node) -> None:
    """Import CAST: convert numbers, or the storage of a quantized tensor, to another type."""
    given, wanted = node.input(0).dtype, node.outputs[0].dtype
    _require(node, given, *_CAST)
    _require(node, wanted, *_CAST)
    source, target = signless(node.type(0).element), signless(node.result_type().element)
    finish(node, 0, cast_to(node, raw(node, 0), source, target, given[0] in "ub", wanted[0] == "u"))
