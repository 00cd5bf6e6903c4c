"""The replacement of constants whose rows are all equal by broadcasts of one row, which can be the bias of a kernel."""

from collections.abc import Iterator

import numpy as np

from qrt.ir import Attribute, Block, Builder, DenseElementsAttr, Module, Operation, Region, Value
from qrt.ir.core.attributes import DenseArrayAttr
from qrt.ir.core.matching import cyclic_operations
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.dialects.quant.region import outside_bodies
from qrt.ir.rewriting.rewrite import erase_dead
from qrt.ir.text.dense import static_shape
from qrt.quantization.forms.elements import dense_of, elements_of, repeated, shape_of, splat_of, tensor_type
from qrt.quantization.forms.products import begins_sum_of_products, products
from qrt.types import IntegerType, TensorType

_ADDITIONS = ("arith.addf", "linalg.add")


def write_biases(module: Module) -> None:
    """Replace each constant that is added to a product, and whose rows are all equal, by a broadcast of the row.

    The initial accumulator of a product is replaced in the same way, also if all its elements equal one number other
    than 0. Changes no value.
    """
    operations = list(outside_bodies(module.operation))
    cyclic = cyclic_operations(operations)
    for operation in operations:
        for number in _bias_operands(operation) if operation not in cyclic else ():
            constant = operation.operands[number]
            row = _row_of(constant) or (_number_of(constant) if number == 2 else None)
            if row is not None:
                operation.set_operand(number, _broadcast(operation, row, constant))
                erase_dead([constant.operation] if constant.operation is not None else [])


def _bias_operands(operation: Operation) -> Iterator[int]:
    """Yield the numbers of operands that may be a bias: the accumulator of a product, or what is added to a product."""
    if isinstance(operation, StructuredOp) and begins_sum_of_products(operation):
        yield 2
    elif operation.name in _ADDITIONS:
        yield from (number for number in (0, 1) if products(operation.operands[1 - number]))


def _row_of(value: Value) -> DenseElementsAttr | None:
    """Return the row that a constant repeats along all axes except the last; None for a vector or any other value."""
    type, shape = tensor_type(value), shape_of(value)
    if type is None or len(shape) < 2 or not type.has_static_shape or splat_of(value) is not None:
        return None
    source, axes, _ = repeated(value, tuple(range(len(shape))))
    elements = elements_of(source)
    if elements is not None and elements.is_copy and len(axes) == len(shape):  # a matrix of one row, repeated
        source, axes = elements.inputs[0], elements.axes[0]
    dense, ordered = dense_of(source), [axis for axis in axes if axis is not None]
    if dense is None or ordered != sorted(set(ordered)) or axes == (len(shape) - 1,):
        return None
    sizes = [dense.array.shape[axes.index(axis)] if axis in axes else 1 for axis in range(len(shape))]
    rows = np.broadcast_to(dense.array.reshape(sizes), static_shape(type)).reshape(-1, shape[-1] or 1)
    bits = np.ascontiguousarray(rows).view(f"u{rows.itemsize}")
    if not (bits == bits[:1]).all():
        return None
    return DenseElementsAttr(rows[0].copy(), TensorType((shape[-1],), type.element))


def _number_of(value: Value) -> float | None:
    """Return the number, other than 0, that all elements of a matrix equal; None for any other value."""
    type = tensor_type(value)
    is_matrix = type is not None and len(shape_of(value)) >= 2 and type.has_static_shape
    return (splat_of(value) or None) if is_matrix else None


def _broadcast(user: Operation, row: DenseElementsAttr | float, constant: Value) -> Value:
    """Emit a broadcast of a row or a number, which will replace ``constant`` as operand of ``user``."""
    builder, type, shape = Builder(user), tensor_type(constant), shape_of(constant)
    assert type is not None
    element = type.element
    vector = builder.constant(row, TensorType(shape[-1:], element))
    output = builder.value("tensor.empty", (), constant.type)
    body = Block([element, element], user.location)
    Builder(body, user.location).emit("linalg.yield", (body.arguments[0],))
    attributes: dict[str, Attribute] = {"dimensions": DenseArrayAttr(IntegerType(64), tuple(range(len(shape) - 1)))}
    return builder.emit("linalg.broadcast", (vector, output), (constant.type,), attributes, [Region([body])]).result
