"""qcast, dcast, requantize: between expressed values and storage, and from one storage type to another.

The rule is MLIR's ``quant.qcast`` and ``quant.dcast`` with the three cast attributes of ``numerics.quantize``;
``requantize`` is ``acc = q - zp`` followed by a requantization with the multiplier ``s_in / s_out``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from qrt import kernels, numerics
from qrt._seam import _core
from qrt.errors import QuantTypeError, shown
from qrt.ops.core import (
    KERNEL_FLOATS,
    Array,
    Attributes,
    BoundCall,
    OpFamily,
    Types,
    checked_result,
    collapsed_layout,
    container,
    declared_element,
    expressed_dtype,
    fail,
    parameter_index,
    parameters_of,
    quantized,
    static_shape,
)
from qrt.ops.requant import check_rule, combined_parameters, max_magnitude
from qrt.types import TensorType, UniformType

CAST_ATTRIBUTES = {"rounding": "half_even", "zero_point": "before", "scale": "divide"}
_CHOICES = {"rounding": numerics.ROUNDINGS, "zero_point": numerics.ZERO_POINTS, "scale": numerics.SCALES}


def _check_cast_attributes(attributes: Attributes) -> None:
    for name, choices in _CHOICES.items():
        if attributes[name] not in choices:
            raise QuantTypeError(f"qcast: {name} must be one of {', '.join(choices)}, got {shown(attributes[name])}")


def _infer_qcast(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    (x,) = types
    _check_cast_attributes(attributes)
    element = declared_element("qcast", result)
    if element is None:
        raise QuantTypeError("qcast: the result type must be given")
    if x.element != element.expressed_type:
        fail("qcast", f"the operand must have the expressed type {element.expressed_type} of {element}", types)
    if x.shape is None:
        return TensorType(None, element)
    return checked_result("qcast", x.shape, element)


def _reference_qcast(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (x,) = arrays
    element = quantized(result, "qcast", "result")
    scale, zero_point = parameters_of(element, x.shape)
    return numerics.quantize(
        x.astype(np.float64),
        scale,
        zero_point,
        element.storage_min,
        element.storage_max,
        element.expressed_type.name,
        rounding=attributes["rounding"],
        zero_point_order=attributes["zero_point"],
        scale_form=attributes["scale"],
    )


def _cast_layout(element: UniformType, shape: tuple[int, ...]) -> dict[str, Any]:
    collapsed, block, step = collapsed_layout(element, shape)
    return {
        "shape": collapsed,
        "block": block,
        "step": step,
        "scales": numerics.round_to_format(element.scales, element.expressed_type.name),
        "zero_points": np.array(element.zero_points, np.int64),
    }


def _bind_qcast(
    types: Types, result: TensorType, attributes: Attributes, constants: Mapping[int, Array]
) -> BoundCall | None:
    element = quantized(result, "qcast", "result")
    if element.expressed_type.name not in KERNEL_FLOATS or constants:
        return None
    return _core.bind_qcast(
        isa=kernels.active(),
        expressed=element.expressed_type.name,
        storage=container(element),
        storage_min=element.storage_min,
        storage_max=element.storage_max,
        rounding=attributes["rounding"],
        zero_point=attributes["zero_point"],
        scale=attributes["scale"],
        **_cast_layout(element, static_shape(types[0], "qcast")),
    )


def _infer_dcast(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    element = quantized(types[0], "dcast", "operand")
    if result is not None and result.element != element.expressed_type:
        fail("dcast", f"the result must have the expressed type, but {result} is declared", types)
    return TensorType(types[0].shape, element.expressed_type)


def _reference_dcast(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (q,) = arrays
    element = quantized(types[0], "dcast", "operand")
    scale, zero_point = parameters_of(element, q.shape)
    values = numerics.dequantize(q, scale, zero_point, element.expressed_type.name)
    return values.astype(expressed_dtype(element.expressed_type))


def _bind_dcast(
    types: Types, result: TensorType, attributes: Attributes, constants: Mapping[int, Array]
) -> BoundCall | None:
    element = quantized(types[0], "dcast", "operand")
    if element.expressed_type.name not in KERNEL_FLOATS or constants:
        return None
    return _core.bind_dcast(
        isa=kernels.active(),
        expressed=element.expressed_type.name,
        storage=container(element),
        **_cast_layout(element, static_shape(types[0], "dcast")),
    )


# --------------------------------------------------------------------------------------------------------- requantize


def _infer_requantize(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    source = quantized(types[0], "requantize", "operand")
    element = declared_element("requantize", result)
    if element is None:
        raise QuantTypeError("requantize: the result type must be given (out_type)")
    if source.expressed_type != element.expressed_type:
        fail("requantize", f"the result {element} has another expressed type", types)
    if types[0].shape is None:
        return TensorType(None, element)
    check_rule("requantize", attributes["requant"], max_magnitude(source))
    return checked_result("requantize", types[0].shape, element)


def _parameters(
    source: UniformType, element: UniformType, shape: tuple[int, ...], attributes: Attributes
) -> tuple[numerics.RequantParameters, Array]:
    factors = [(source, parameter_index(source, shape))]
    return combined_parameters(attributes["requant"], factors, element, parameter_index(element, shape))


def _reference_requantize(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    (q,) = arrays
    source, element = quantized(types[0], "requantize", "operand"), quantized(result, "requantize", "result")
    _, zero_point = parameters_of(source, q.shape)
    parameters, index = _parameters(source, element, q.shape, attributes)
    return numerics.requantize(q.astype(np.int64) - zero_point, parameters, index)


def _bind_requantize(
    types: Types, result: TensorType, attributes: Attributes, constants: Mapping[int, Array]
) -> BoundCall | None:
    source, element = quantized(types[0], "requantize", "operand"), quantized(result, "requantize", "result")
    shape = static_shape(types[0], "requantize")
    layout = _common_layout(source, element, shape)
    if layout is None or constants:
        return None
    collapsed, block, step = layout
    finer = element if source.is_per_layer else source
    parameters, index = _parameters(source, element, shape, attributes)
    order = np.zeros(len(finer.scales), np.int64)
    order[parameter_index(finer, shape)] = index
    zero_points = np.broadcast_to(np.array(source.zero_points, np.int64), order.shape)
    return _core.bind_requantize(
        isa=kernels.active(),
        storage=container(source),
        shape=collapsed,
        block=block,
        step=step,
        zero_points=np.ascontiguousarray(zero_points),
        requant=parameters.take(order),
    )


def _common_layout(
    source: UniformType, element: UniformType, shape: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]] | None:
    """The parameter layout of the one that is not per layer; None where two different layouts meet."""
    here, there = collapsed_layout(source, shape), collapsed_layout(element, shape)
    if element.is_per_layer or here == there:
        return here
    return there if source.is_per_layer else None


QCAST = OpFamily(
    name="qcast",
    operands=("x",),
    attributes=CAST_ATTRIBUTES,
    infer=_infer_qcast,
    reference=_reference_qcast,
    bind=_bind_qcast,
)
DCAST = OpFamily(name="dcast", operands=("q",), infer=_infer_dcast, reference=_reference_dcast, bind=_bind_dcast)
REQUANTIZE = OpFamily(
    name="requantize",
    operands=("q",),
    attributes={"requant": "fixed"},
    infer=_infer_requantize,
    reference=_reference_requantize,
    bind=_bind_requantize,
)
FAMILIES = (QCAST, DCAST, REQUANTIZE)
