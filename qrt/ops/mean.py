"""mean, sum: the average or the sum over any axes.

``acc`` is the exact sum of ``q - zp`` over ``axes``. It is requantized with the multiplier ``s_in / (s_out * count)``
for the mean, as in avg_pool2d, and ``s_in / s_out`` for the sum. A per-axis operand may not be summed over its channel
axis; a per-axis result has its channels along an axis that is not summed over. The rules ``raw_mean`` and ``raw_sum``
sum ``q`` itself and apply the zero points in float32.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import get_args

import numpy as np

import qrt.kernels as kernels
import qrt.numerics as numerics
from qrt._ext.kernels import bind_mean
from qrt.ops.accumulate import check_expressed
from qrt.ops.checks import check_flag, check_not_empty
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Shape,
    Types,
    checked_result,
    container,
    declared_element,
    fail,
    parameter_index,
    parameters_of,
    quantized,
    reduced_axes,
    row_major_strides,
    static_shape,
    uniform,
)
from qrt.ops.declare import Attribute, Declaration, Operand, Traits
from qrt.ops.requant import REQUANT, check_rule, combined_parameters, max_magnitude
from qrt.ops.traits import kept_axis, permute_reduced
from qrt.types import TensorType, UniformType

MEAN_RULES: tuple[str, ...] = get_args(numerics.MeanName)
SUM_RULES: tuple[str, ...] = get_args(numerics.ReduceSumName)


def _rules(op: str) -> tuple[str, ...]:
    return MEAN_RULES if op == "mean" else SUM_RULES


def _remaining_axes(op: str, types: Types, attributes: Attributes) -> tuple[Shape, Shape]:
    """Return (the operand's axes that are not summed over, the axes of the result to which they correspond)."""
    axes = reduced_axes(op, types, attributes)
    remaining = tuple(d for d in range(types[0].rank or 0) if d not in axes)
    return remaining, remaining if attributes["keepdims"] else tuple(range(len(remaining)))


def _moved(t: UniformType, old: Shape, new: Shape) -> UniformType:
    """Return type ``t`` of a tensor whose axes are renumbered: axis ``old[i]`` becomes axis ``new[i]``.

    Only the channel axis of the type changes; a per-layer type has none and is returned unchanged.
    """
    return t if t.axis is None else t.with_(axis=new[old.index(t.axis)])


def _infer(op: str, types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x, keepdims = quantized(types[0], op, "q"), attributes["keepdims"]
    check_flag(op, types, attributes, "keepdims")
    axes, (remaining, places) = reduced_axes(op, types, attributes), _remaining_axes(op, types, attributes)
    dims = types[0].shape or ()
    if x.is_sub_channel or x.axis in axes:
        fail(
            op,
            f"'q' must have a type per layer, or per axis along an axis other than those summed over, {list(axes)}, "
            f"got {x}",
            types,
        )
    check_not_empty(op, types, "q", axes)
    element = declared_element(op, result) or _moved(x, remaining, places)
    check_expressed(op, x, element)
    if element.is_sub_channel or (element.axis is not None and element.axis not in places):
        fail(
            op,
            f"the result must have a type per layer, or per axis along an axis that is not summed over, got {element}",
            types,
        )
    known = [n for d, n in enumerate(dims) if d in axes and n is not None]
    bound = prod(known) * max_magnitude(x) if len(known) == len(axes) else None
    check_rule(op, attributes["requant"], bound, _rules(op))
    return checked_result(
        op, [1 if d in axes else n for d, n in enumerate(dims) if keepdims or d in remaining], element
    )


def _parameters(
    op: str, types: Types, result: TensorType, attributes: Attributes
) -> tuple[numerics.RequantParameters, Array, Array]:
    """Return (requantization parameters, the position of each sum's parameters among these, zero points to subtract).

    The positions and the zero points are arrays that broadcast over the axes that are not summed over.
    """
    x, element = uniform(types[0]), uniform(result)
    remaining, places = _remaining_axes(op, types, attributes)
    whole, order = static_shape(types[0], op), tuple(range(len(remaining)))
    shape = tuple(whole[d] for d in remaining)
    own, to = (parameter_index(_moved(t, axes, order), shape) for t, axes in ((x, remaining), (element, places)))
    count = counted(op, attributes, prod(whole[d] for d in reduced_axes(op, types, attributes)))
    parameters, index = combined_parameters(attributes["requant"], [(x, own)], element, to, count)
    zero_points = np.int64(0) if is_raw(attributes) else x.zero_point_array.ravel()[own]
    return parameters, index, np.broadcast_to(zero_points, index.shape)


def is_raw(attributes: Attributes) -> bool:
    """Return True if the rule sums storage without subtracting zero points."""
    return numerics.RULES[attributes["requant"]].summand == "storage"


def counted(op: str, attributes: Attributes, elements: int) -> Array:
    """Return the count that a requantization uses: the number of summed elements for a mean or a raw sum, else 1.

    A mean divides by the count. A raw sum subtracts the operand's zero point times the count.
    """
    return np.array(elements if op == "mean" or is_raw(attributes) else 1)


def _reference(op: str, arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (q,) = arrays
    zero_point = 0 if is_raw(attributes) else parameters_of(uniform(types[0]), q.shape)[1]
    centred = q.astype(np.int64) - zero_point
    parameters, index, _ = _parameters(op, types, result, attributes)
    acc = centred.sum(axis=reduced_axes(op, types, attributes))
    return numerics.requantize(acc, parameters, index).reshape(static_shape(result, op))


def _bind(op: str, types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    parameters, index, zero_points = _parameters(op, types, result, attributes)
    strides = row_major_strides(index.shape)
    step = [stride if size > 1 else 0 for size, stride in zip(index.shape, strides, strict=True)]
    return bind_mean(
        isa=kernels.active(),
        storage=container(uniform(types[0])),
        x_shape=static_shape(types[0], op),
        axes=reduced_axes(op, types, attributes),
        zero_points=zero_points,
        requant=parameters.take(index),
        step=step,
    )


def _family(op: str, is_public: bool) -> OpFamily:
    axes = Attribute("axes", "axes", note="all", positional=True)
    attributes = (axes, Attribute("keepdims", "boolean", False), replace(REQUANT, choices=_rules(op)))
    return OpFamily(
        Declaration(op, operands=(Operand("q"),), attributes=attributes, public=is_public),
        infer=partial(_infer, op),
        reference=partial(_reference, op),
        bind=partial(_bind, op),
        traits=Traits(constraint="free", ends_in_clamp=True, permute=permute_reduced, scaled_axis=kept_axis),
    )


FAMILIES = (_family("mean", True), _family("sum", False))
