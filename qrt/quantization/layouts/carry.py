"""The movement of transposes and reshapes from the operands of an operation to its result.

`normalize-layouts` writes transposes and reshapes around convolutions and pools. This module moves them behind
element-wise operations, annotations and pads.
"""

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.attributes import FloatAttr
from qrt.ir.dialects._shaped.lists import static_values
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.rewriting.rewrite import replace
from qrt.quantization.forms.elements import (
    Axes,
    Expression,
    dense_of,
    elements_of,
    repeated,
    shape_of,
    splat_of,
    tensor_type,
)
from qrt.quantization.forms.movement import padding_of
from qrt.quantization.layouts.tensors import Layout, arranged, filled, padded, ranked, restored, sizes_of, spread
from qrt.types import FloatType, TensorType

Relayouts = dict[Value, tuple[Value, Layout]]
"""For each value that transposes and reshapes compute, the value that they start from, and the layout of the result."""


def carried(operation: Operation, relayouts: Relayouts) -> None:
    """Move the transposes and reshapes of an operation's operands to the operation's result.

    ``relayouts`` maps each value that transposes and reshapes compute to their operand and its layout; the new result
    is added. Nothing changes if an operand would need a new transpose or reshape.
    """
    given = next((relayouts[value] for value in operation.operands if value in relayouts), None)
    if given is None or len(operation.results) != 1 or tensor_type(operation.results[0]) is None:
        return
    source, layout = given
    builder = Builder(operation)
    value = _annotated(builder, operation, source) or _padded(builder, operation, source, layout)
    value = value or _elementwise(builder, operation, source, layout, relayouts)
    if value is None:
        return
    if operation.name == "tensor.pad":
        result = restored(builder, value, layout, [size or 0 for size in shape_of(operation.results[0])])
    else:
        like = next(operand for operand in operation.operands if operand in relayouts)
        result = restored(builder, value, layout, sizes_of(builder, like))
    relayouts[result] = (value, layout)
    replace(operation, [result])


def _annotated(builder: Builder, operation: Operation, source: Value) -> Value | None:
    """Copy a `quant.stats` with a single range to ``source``, and return its result; None for any other operation."""
    if operation.name != "quant.stats" or "axisStats" in operation.attributes:
        return None
    return builder.value(operation.name, [source], source.type, dict(operation.attributes))


def _padded(builder: Builder, operation: Operation, source: Value, layout: Layout) -> Value | None:
    padding = padding_of(operation.results[0]) if operation.name == "tensor.pad" else None
    if padding is None or None in static_values(operation, "low") or None in shape_of(operation.results[0]):
        return None
    if not all(padding.keeps(axis) for group in layout if len(group) > 1 for axis in group):
        return None
    return padded(builder, source, layout, padding.low, padding.high, padding.value)


def _elementwise(
    builder: Builder, operation: Operation, source: Value, layout: Layout, relayouts: Relayouts
) -> Value | None:
    elements = elements_of(operation.results[0])
    if elements is None:
        return None
    operands = []
    for number, value in enumerate(elements.inputs):
        operand = _operand(builder, value, elements.axes[number], source, layout, relayouts, operation.results[0])
        if operand is None:
            return None
        operands.append(operand)
    type = ranked(source).with_(element=ranked(operation.results[0]).element)
    if not isinstance(operation, StructuredOp):
        return builder.value(operation.name, operands, type, dict(operation.attributes))
    if elements.computed[0] in ("input", "constant"):
        return None
    return _computed(builder, elements.computed, operands, ranked(source))


def _operand(
    builder: Builder,
    value: Value,
    axes: Axes,
    source: Value,
    layout: Layout,
    relayouts: Relayouts,
    result: Value,
) -> Value | None:
    """Return an operand of an element-wise operation, brought to the layout of the transposed operand ``source``.

    Return None if this needs a new transpose or reshape. ``axes`` maps the axes of the operand to those of the
    operation's result.
    """
    before, own = relayouts.get(value, (None, ()))
    rank = len(shape_of(result))
    if before is not None and own == layout and axes == tuple(range(rank)):
        return before
    type = tensor_type(value)
    if type is None:
        return value  # a scalar
    shape = ranked(source).shape or ()
    number = splat_of(value)
    if number is not None and None in shape:
        return filled(builder, number, sizes_of(builder, source), value)
    if number is not None:
        return builder.constant(number, TensorType(shape, type.element))
    if dense_of(value) is not None and axes == tuple(range(rank)):
        return arranged(builder, value, layout)
    row, row_axes, _ = repeated(value, axes)
    place = [axis for axis in row_axes if axis is not None]
    if len(row_axes) != 1 or len(place) != 1 or (place[0],) not in layout:
        return None
    if not isinstance(ranked(row).element, FloatType):
        return None
    return spread(builder, row, layout.index((place[0],)), sizes_of(builder, source))


def _computed(builder: Builder, expression: Expression, operands: list[Value], like: TensorType) -> Value:
    """Emit the operations of an element-wise expression on whole tensors of type ``like``, and return the result."""
    if expression[0] == "input":
        return operands[int(str(expression[1]))]
    name, *parts = expression
    if name == "constant":
        element = like.element
        assert isinstance(element, FloatType)
        attribute = FloatAttr.of(float(str(parts[0])), element)
        return builder.constant(attribute.value, like)
    predicate = None if isinstance(parts[0], tuple) else str(parts.pop(0))
    values = [_computed(builder, part, operands, like) for part in parts if isinstance(part, tuple)]
    if predicate is not None:
        return builder.create(str(name), *values, predicate=predicate).results[0]
    return builder.create(str(name), *values).results[0]
