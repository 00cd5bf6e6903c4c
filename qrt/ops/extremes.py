"""reduce_max, reduce_min, argmax, argmin: the extreme element along axes, or the index of the first extreme element.

Elements are compared as the numbers that are stored: storage integers, integers, or floats. A NaN is more extreme than
all other elements, for maxima and minima. A per-axis operand may not be reduced over the axis of its channels.
"""

from collections.abc import Sequence
from functools import partial
from math import prod

import numpy as np

import qrt.kernels as kernels
from qrt._ext.kernels import bind_extremum
from qrt.ops.checks import check_comparable, check_flag, check_no_blocks, check_not_empty
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Shape,
    Types,
    any_element,
    checked_result,
    element_dtype,
    fail,
    one_axis,
    reduced_axes,
    static_shape,
)
from qrt.ops.declare import FOLLOWING, Attribute, Declaration, Operand, Result, Traits
from qrt.ops.traits import kept_axis, permute_reduced
from qrt.types import IntegerType, TensorType, Type, UniformType

KERNEL_DTYPES = frozenset({"i1", "u1", "i2", "u2", "i4", "u4", "i8", "f4", "f8"})
"""The element dtypes that the kernels can compare."""
INDEX_TYPES = (IntegerType(64), IntegerType(32))


def comparable_element(op: str, types: Types) -> Type:
    """Return the element type of the operand. Raise QuantTypeError for a sub-channel type.

    Storage values of different blocks have different scales, so they do not compare as the real values do.
    """
    x = any_element(types[0], op, "x")
    check_no_blocks(op, types, "'x'", x)
    return x


def has_kernel(t: Type) -> bool:
    return element_dtype(t).str[1:] in KERNEL_DTYPES


def _without(op: str, x: Type, types: Types, axes: Shape, keepdims: bool) -> Type:
    """Return the element type after a reduction over ``axes``.

    Raise QuantTypeError if one of them is the channel axis.
    """
    if not isinstance(x, UniformType) or x.axis is None:
        return x
    check_comparable(op, types, x, axes)
    return x if keepdims else x.with_(axis=x.axis - sum(axis < x.axis for axis in axes))


def _infer_reduce(op: str, types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x, keepdims = comparable_element(op, types), attributes["keepdims"]
    check_flag(op, types, attributes, "keepdims")
    axes, dims = reduced_axes(op, types, attributes), types[0].shape or ()
    check_not_empty(op, types, "x", axes)
    element = _without(op, x, types, axes, bool(keepdims))
    return checked_result(op, [1 if d in axes else n for d, n in enumerate(dims) if keepdims or d not in axes], element)


def _infer_arg(op: str, types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x, axis = comparable_element(op, types), one_axis(op, types, attributes)
    _without(op, x, types, (axis,), False)
    dims = types[0].shape or ()
    size, element = dims[axis], INDEX_TYPES[0] if result is None else result.element
    check_not_empty(op, types, "x", [axis])
    if element not in INDEX_TYPES:
        fail(op, f"the result must have elements of i64 or i32, got {element}", types)
    if size is not None and size >= 1 << 31 and element is not INDEX_TYPES[0]:
        fail(op, f"the result must have elements of i64 for an axis of {size} elements, got i32", types)
    return checked_result(op, [n for d, n in enumerate(dims) if d != axis], element)


def _numbers(op: str, x: Array, axes: Shape) -> tuple[Array, Array]:
    """Return (elements with the reduced axes merged into a last axis, index of the first extreme element along it)."""
    remaining = [d for d in range(x.ndim) if d not in axes]
    lines = x.transpose(*remaining, *axes).reshape([x.shape[d] for d in remaining] + [prod(x.shape[d] for d in axes)])
    return lines, (np.argmin if op.endswith("min") else np.argmax)(lines, axis=-1)


def _reference_reduce(
    op: str, arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes
) -> Array:
    lines, numbers = _numbers(op, arrays[0], reduced_axes(op, types, attributes))
    return np.take_along_axis(lines, numbers[..., None], -1).reshape(static_shape(result, op))


def _reference_arg(op: str, arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    return _numbers(op, arrays[0], (one_axis(op, types, attributes),))[1].astype(element_dtype(result.element))


def _bind(op: str, types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    if not has_kernel(types[0].element):
        return None
    is_arg = op.startswith("arg")
    return bind_extremum(
        isa=kernels.active(),
        dtype=element_dtype(types[0].element),
        x_shape=static_shape(types[0], op),
        axes=(one_axis(op, types, attributes),) if is_arg else reduced_axes(op, types, attributes),
        least=op.endswith("min"),
        index_dtype=element_dtype(result.element) if is_arg else None,
    )


_X = Operand("x", note="of any element type")


def _reduce(name: str) -> OpFamily:
    return OpFamily(
        Declaration(
            name,
            operands=(_X,),
            attributes=(Attribute("axes", "axes", note="all"), Attribute("keepdims", "boolean", False)),
            result=FOLLOWING,
            public=False,
        ),
        infer=partial(_infer_reduce, name),
        reference=partial(_reference_reduce, name),
        bind=partial(_bind, name),
        traits=Traits(constraint="same_scale", permute=permute_reduced, scaled_axis=kept_axis),
    )


def _arg(name: str) -> OpFamily:
    return OpFamily(
        Declaration(
            name,
            operands=(_X,),
            attributes=(Attribute("axis", "integer", -1),),
            result=Result("i64, or i32 if the text declares it"),
            public=False,
        ),
        infer=partial(_infer_arg, name),
        reference=partial(_reference_arg, name),
        bind=partial(_bind, name),
    )


FAMILIES = (*map(_reduce, ("reduce_max", "reduce_min")), *map(_arg, ("argmax", "argmin")))
