"""Operations that a target computes with two kernels: sums of products that start with a matrix, and broadcasts.

A product whose accumulator starts with a matrix becomes a product that starts with 0, to which the matrix is added. A
broadcast along new axes becomes a reshape, which adds axes of size 1, and a copy that repeats these axes.
"""

from collections.abc import Iterable

import numpy as np

from qrt.ir import Block, Builder, DenseElementsAttr, Module, Operation, Region, Value
from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.matching import cyclic_operations
from qrt.ir.dialects.linalg.structure import StructuredOp, generic
from qrt.ir.rewriting.rewrite import erase_dead, replace
from qrt.quantization.annotations.convert_stats import annotation_of
from qrt.quantization.forms.elements import dense_of, elements_of, shape_of, splat_of, tensor_type
from qrt.quantization.forms.products import begins_sum_of_products, products
from qrt.quantization.fusion.choose import choices_of
from qrt.quantization.layouts.fusable_blocks import blocks_of
from qrt.quantization.layouts.tensors import arranged, empty, filled, ranked, sizes_of
from qrt.quantization.targets.model import Target
from qrt.types import CalibratedType, FloatType, TensorType


def divide_products(module: Module, target: Target) -> None:
    """Replace products whose accumulator starts with a matrix by a product that starts with 0, and an addition.

    A product is replaced only if the target has a kernel for products that start with 0, but none for this product. The
    matrix is then added last instead of first, so that the rounding of a float result may differ.
    """
    for block in blocks_of(module.operation):
        cyclic = cyclic_operations(inner for operation in block for inner in operation.walk())
        for operation in list(block):
            if operation not in cyclic and isinstance(operation, StructuredOp) and begins_sum_of_products(operation):
                _divide_product(operation, target)


def _divide_product(operation: StructuredOp, target: Target) -> None:
    start, (result,) = operation.operands[2], operation.results
    if splat_of(start) == 0 or products(result) or next(choices_of(result, target), None) is not None:
        return
    builder = Builder(operation)
    product = builder.insert(operation.clone({}))
    product.set_operand(2, filled(Builder(product), 0.0, sizes_of(Builder(product), start), start))
    if next(choices_of(product.results[0], target), None) is None:
        erase_dead([product])
        return
    total = builder.value("arith.addf", (_annotated(builder, product.results[0], result, start), start), result.type)
    replace(operation, [total])


def _annotated(builder: Builder, product: Value, total: Value, start: Value) -> Value:
    """Return a product, annotated with the range of ``total - start`` if the ranges of both are known."""
    ends, added = _range_of(total), _range_of(start)
    if ends is None or added is None:
        return product
    span = np.array([ends[0] - added[1], ends[1] - added[0]])
    statistics = DenseElementsAttr(span, TensorType((2,), FloatType("f64")))
    return builder.value("quant.stats", (product,), product.type, {"layerStats": statistics})


def _range_of(value: Value) -> tuple[float, float] | None:
    """Return the range of a constant, or the annotated range of a value; None if neither is known."""
    dense = dense_of(value)
    if dense is not None and dense.array.size:
        numbers = np.asarray(dense.python, np.float64)
        return float(numbers.min()), float(numbers.max())
    near = [*value.users, *([value.operation] if value.operation is not None else [])]
    specs = (annotation.spec for op in near if (annotation := annotation_of(op)) is not None)
    return next(((spec.min, spec.max) for spec in specs if isinstance(spec, CalibratedType)), None)


def divide_broadcasts(operations: Iterable[Operation], target: Target) -> list[Operation]:
    """Replace broadcasts by a reshape and a copy if the target has kernels for both. Return the new operations."""
    return [part for operation in operations for part in _divide_broadcast(operation, target)]


def _divide_broadcast(operation: Operation, target: Target) -> list[Operation]:
    """Replace a broadcast along new axes by a reshape and a copy. Return the new operations, if there are any."""
    result = operation.results[0]
    elements, shape = elements_of(result), shape_of(result)
    if elements is None or not elements.is_copy or len(elements.axes[0]) >= len(shape) or None in shape:
        return []
    ((source, axes),) = zip(elements.inputs, elements.axes, strict=True)
    if tensor_type(source) is None:  # `linalg.fill` copies a scalar
        return []
    groups: list[list[int]] = [[] for _ in shape]
    last = 0
    for place, axis in enumerate(axes):
        last = last if axis is None else axis  # an axis of size 1 is merged with the axis before it
        groups[last].append(place)
    builder = Builder(operation)
    reshaped = arranged(builder, source, tuple(map(tuple, groups)))
    repeated = _repeated(builder, reshaped, result, [axis in axes for axis in range(len(shape))])
    parts = [value for value in (reshaped, repeated) if value is not source]
    if any(value.operation is None or next(choices_of(value, target), None) is None for value in parts):
        erase_dead([value.operation for value in (repeated,) if value.operation is not None])
        return []
    replace(operation, [repeated])
    return [value.operation for value in parts if value.operation is not None]


def _repeated(builder: Builder, reshaped: Value, result: Value, is_copied: list[bool]) -> Value:
    """Repeat ``reshaped`` to the shape of ``result``, along the axes for which ``is_copied`` is False.

    These axes of ``reshaped`` have size 1.
    """
    rank = len(is_copied)
    given = AffineMapAttr(rank, 0, tuple(("d", axis) if is_axis else 0 for axis, is_axis in enumerate(is_copied)))
    element = ranked(result).element
    body = Block([element, element], builder.location)
    Builder(body, builder.location).emit("linalg.yield", (body.arguments[0],))
    start = empty(builder, sizes_of(builder, result), reshaped)
    maps, kinds = [given, AffineMapAttr.identity(rank)], ["parallel"] * rank
    return generic(builder, [reshaped], [start], [result.type], maps, kinds, Region([body]))[0]
