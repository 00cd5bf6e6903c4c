"""Import of DILATE and STABLEHLO_PAD: elements of one value between the elements of a tensor, and around them."""

from collections.abc import Sequence

from qrt.ir import Value
from qrt.models.importing.data_movement import joined, reshaped, taken
from qrt.models.importing.unquantized import as_value, broadcast, shape_of, signless
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import finish, input_shape, raw
from qrt.types import TensorType, Type

_VALUES = {"DILATE": 2}
"""The input with the value of the inserted elements, by operator; input 1 if the operator is not listed."""


def dilate(node: Node) -> None:
    """Import DILATE: put elements of one value between the elements of a tensor, by a factor for each axis.

    The factors must be known at import. Quantized tensors are dilated as their storage.
    """
    shape, factors = _sizes(node), node.integers(1, "dilation factors")
    if len(factors) != len(shape) or not shape or min(factors) < 1:
        node.fail(f"it must have a positive dilation factor for each axis of {list(shape)}, got {list(factors)}")
    if 0 in shape:
        node.refuse("an axis of 0 elements")
    finish(node, 0, padded(node, [(0, factor - 1, 0) for factor in factors]))


def stablehlo_pad(node: Node) -> None:
    """Import STABLEHLO_PAD: put elements of one value before, between and after the elements of each axis.

    A negative number before or after an axis removes elements. Quantized tensors are padded as their storage.
    """
    shape = _sizes(node)
    lists = [node.options[name] for name in ("edge_padding_low", "interior_padding", "edge_padding_high")]
    low, between, high = (tuple(int(n) for n in numbers) for numbers in lists)
    if not len(low) == len(between) == len(high) == len(shape) or min(between, default=0) < 0:
        node.fail(
            f"edge_padding_low, interior_padding (at least 0) and edge_padding_high must have a number for each axis "
            f"of {list(shape)}, got {list(low)}, {list(between)} and {list(high)}"
        )
    finish(node, 0, padded(node, list(zip(low, between, high, strict=True))))


def _sizes(node: Node) -> tuple[int, ...]:
    """Return the shape of input 0. Raise an error if it is dynamic, or if input, value and result differ in dtype."""
    shape = input_shape(node)
    value = _VALUES.get(node.op.name, 1)
    dtypes = [tensor.dtype for tensor in (node.input(0), node.input(value), node.outputs[0])]
    if len({*dtypes}) != 1:
        node.fail(f"its input, the padding value and the result must have the same type, got {', '.join(dtypes)}")
    if input_shape(node, value) not in ((), (1,)):
        node.fail(f"the padding value (input {value}) must be one element, got shape {list(input_shape(node, value))}")
    if None in shape:
        node.refuse("a dynamic dimension")
    return tuple(size or 0 for size in shape)


def padded(node: Node, pads: Sequence[tuple[int, int, int]]) -> Value:
    """Return input 0 with a value inserted before, between and after the elements of each axis.

    ``pads`` has the numbers of inserted elements, (before, between, after), of each axis. A negative number before or
    after an axis removes elements, including inserted ones. The value is another input of the operator.
    """
    element, shape = signless(node.type(0).element), _sizes(node)
    x = as_value(node, raw(node, 0), element)
    filler = reshaped(node, as_value(node, raw(node, _VALUES.get(node.op.name, 1)), element), ())
    whole = [n + max(n - 1, 0) * between + low + high for n, (low, between, high) in zip(shape, pads, strict=True)]
    if min(whole, default=1) < 1 <= min(shape, default=1):
        node.fail(f"padding of {[list(pad) for pad in pads]} must leave elements of a tensor of shape {list(shape)}")
    node.graph.check_size(node.op, TensorType(tuple(whole), element))
    for axis, (low, between, high) in enumerate(pads):
        x = _spread(node, x, axis, between, filler, element)
        ends = [_filled(node, x, axis, max(end, 0), filler, element) for end in (low, high)]
        x = joined(node, [part for part in (ends[0], x, ends[1]) if part is not None], axis)
        if low < 0 or high < 0:
            x = taken(node, x, axis, max(-low, 0), whole[axis])
    return x


def _spread(node: Node, x: Value, axis: int, between: int, filler: Value, element: Type) -> Value:
    """Insert ``between`` elements of the value ``filler`` between each two neighbours along an axis."""
    shape = tuple(size or 0 for size in shape_of(x))
    count = shape[axis]
    if not between or count < 2:
        return x
    x = reshaped(node, x, (*shape[: axis + 1], 1, *shape[axis + 1 :]))
    gaps = _filled(node, x, axis + 1, between, filler, element)
    assert gaps is not None
    x = reshaped(node, joined(node, [x, gaps], axis + 1), (*shape[:axis], count * (between + 1), *shape[axis + 1 :]))
    return taken(node, x, axis, 0, count * (between + 1) - between)


def _filled(node: Node, x: Value, axis: int, count: int, filler: Value, element: Type) -> Value | None:
    """Return a tensor filled with ``filler``, in the shape of ``x`` but with ``count`` elements along an axis."""
    if not count:
        return None
    shape = tuple(count if d == axis else size for d, size in enumerate(shape_of(x)))
    return as_value(node, broadcast(node, filler, element, shape), element)
