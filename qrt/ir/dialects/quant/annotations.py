"""Ops that return their operand unchanged, and annotate it with observed ranges or the key of ranges stored elsewhere.

These ops belong to an earlier version of upstream's `quant` dialect, and have only the generic form.

    %1 = "quant.stats"(%0) {layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>, axisStats = ..., axis = 1} : (t) -> t
    %2 = "quant.stats_ref"(%1) {statsKey = "conv1/output"} : (t) -> t
    %3 = "quant.coupled_ref"(%2) {coupledKey = "state"} : (t) -> t
"""

from math import prod

from qrt.ir.core.attributes import Attribute, IntegerAttr, StringAttr, instance_of
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.operations import Operation
from qrt.ir.core.places import attribute, type_of
from qrt.ir.core.traits import EXTENSION, PURE
from qrt.ir.text.dense import DenseElementsAttr
from qrt.types import FloatType, IntegerType, QuantizedType, TensorType

IDENTITIES = ("quant.stats", "quant.stats_ref", "quant.coupled_ref")
"""Ops whose result equals their operand."""


def _verify_identity(operation: Operation) -> None:
    """Raise VerifyError unless the operand is a tensor of floats and the result has the same type."""
    type = operation.operands[0].type
    if not isinstance(type, TensorType) or not isinstance(type.element, FloatType):
        message = f"operand #0 must be tensor of floating-point, but got '{type}'"
        raise operation.op_error(message, type_of(operation, "operand", 0))
    _verify_same_type(operation)


def _verify_same_type(operation: Operation) -> None:
    if operation.results[0].type is not operation.operands[0].type:
        raise operation.op_error("requires the same type for all operands and results", type_of(operation, "result", 0))


def _verify_stats(operation: Operation) -> None:
    _verify_identity(operation)
    type = operation.operands[0].type
    assert isinstance(type, TensorType)
    layer = _statistics(operation, "layerStats")
    if layer is None or layer.type.shape != (2,):
        message = (
            f"attribute 'layerStats' must have shape [2] (minimum, maximum), got {operation.attributes['layerStats']}"
        )
        raise operation.op_error(message, attribute(operation, "layerStats"))
    by_axis, axis = _statistics(operation, "axisStats"), operation.attributes.get("axis")
    if by_axis is None:
        return
    if not isinstance(axis, IntegerAttr):
        message = "attribute 'axisStats' requires an integer attribute 'axis', which is missing"
        raise operation.op_error(message, attribute(operation, "axisStats"))
    if not 0 <= axis.value < (type.rank or 0):
        message = f"attribute 'axis' must be at least 0 and less than the rank of {type}, got {axis.value}"
        raise operation.op_error(message, attribute(operation, "axis"))
    sizes = (type.shape or ())[axis.value :]
    shape = by_axis.type.shape or ()
    has_rows = None in sizes or shape[:1] in ((sizes[0],), (prod(size or 0 for size in sizes),))
    if len(shape) != 2 or shape[1] != 2 or not has_rows:
        message = (
            f"attribute 'axisStats' must have shape [N, 2] (minimum, maximum), with N the size of axis {axis.value} of "
            f"{type} or of all axes from it on, got shape {list(shape)}"
        )
        raise operation.op_error(message, attribute(operation, "axisStats"))


def _statistics(operation: Operation, name: str) -> DenseElementsAttr | None:
    value = operation.attributes.get(name)
    assert value is None or isinstance(value, DenseElementsAttr)  # the attribute's constraint
    if value is not None and not isinstance(value.element, FloatType):
        message = f"attribute '{name}' must have float elements, got {value.element}"
        raise operation.op_error(message, attribute(operation, name))
    return value


def _verify_coupled(operation: Operation) -> None:
    """Raise VerifyError unless operand and result have one type: a tensor of floats, quantized or integer values."""
    type = operation.operands[0].type
    if not isinstance(type, TensorType) or not isinstance(type.element, FloatType | QuantizedType | IntegerType):
        message = f"operand #0 must be tensor of floating-point, quantized type or integer, but got '{type}'"
        raise operation.op_error(message, type_of(operation, "operand", 0))
    _verify_same_type(operation)


def _key(value: Attribute) -> str | None:
    return None if isinstance(value, StringAttr) and value.value else "must be a non-empty string"


_ELEMENTS = instance_of(DenseElementsAttr, "dense elements")

OPS = [
    Definition(
        "quant.stats",
        operands=("arg",),
        results=("result",),
        attributes={
            "layerStats": AttributeSpec(_ELEMENTS, required=True),
            "axisStats": AttributeSpec(_ELEMENTS),
            "axis": AttributeSpec(instance_of(IntegerAttr, "an integer")),
        },
        traits={EXTENSION, PURE},
        verify_signature=_verify_stats,
    ),
    Definition(
        "quant.stats_ref",
        operands=("arg",),
        results=("result",),
        attributes={"statsKey": AttributeSpec(_key, required=True)},
        traits={EXTENSION, PURE},
        verify_signature=_verify_identity,
    ),
    Definition(
        "quant.coupled_ref",
        operands=("arg",),
        results=("result",),
        attributes={"coupledKey": AttributeSpec(_key, required=True)},
        traits={EXTENSION, PURE},
        verify_signature=_verify_coupled,
    ),
]
