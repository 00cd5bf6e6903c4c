"""Fake quantization: float values rounded to those that a quantized type represents, as in training.

Both ops belong to an earlier version of upstream's `quant` dialect, and have only the generic form.

    %1 = "quant.const_fake_quant"(%0) {min = -1.0 : f32, max = 1.0 : f32, num_bits = 8 : i64} : (t) -> t
    %3 = "quant.const_fake_quant_per_axis"(%2)
           {min = [-1.0 : f32, ...], max = [1.0 : f32, ...], axis = 0 : i64, num_bits = 4 : i64} : (t) -> t

Each op equals a `quant.qcast` to the type that `fake_quant_type` returns, followed by a `quant.dcast`.
"""

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError
from qrt.ir.builder import Builder
from qrt.ir.core import attribute_kinds
from qrt.ir.core.attribute_kinds import AttributeKind, array_of
from qrt.ir.core.attributes import FALSE, ArrayAttr, Attribute, FloatAttr, IntegerAttr
from qrt.ir.core.constraints import add_type_constraint, with_element
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.operations import Operation, Value
from qrt.ir.core.traits import EXTENSION, PURE, SAME_OPERANDS_AND_RESULT_TYPE
from qrt.ir.dialects.quant import FAKE_QUANTS
from qrt.numerics.ranges import fake_quant_parameters
from qrt.types import FloatType, TensorType, UniformType, check_integrity

FAKE_QUANT, PER_AXIS = FAKE_QUANTS

_F32 = FloatType("f32")
_LEAST_BITS, _MOST_BITS = 2, 16


def fake_quant_type(operation: Operation) -> UniformType:
    """Return the quantized type to which a fake quantization rounds its operand.

    Raise QuantTypeError for invalid ranges or widths.
    """
    bits = operation.attribute("num_bits", IntegerAttr).value
    if not _LEAST_BITS <= bits <= _MOST_BITS:
        raise QuantTypeError(f"attribute 'num_bits' must be in [{_LEAST_BITS}, {_MOST_BITS}], got {bits}")
    low, high = (_ends(operation, name) for name in ("min", "max"))
    if low.shape != high.shape:
        raise QuantTypeError(
            f"attributes 'min' and 'max' must have the same number of values, got {low.size} and {high.size}"
        )
    wrong = ~(np.isfinite(low) & np.isfinite(high) & (low <= high))
    if wrong.any():
        place = int(wrong.argmax())
        suffix = f" for channel {place}" if low.size > 1 else ""
        raise QuantTypeError(
            f"attributes 'min' and 'max' must be finite, with min <= max, got min = {low.ravel()[place]:g} and max = "
            f"{high.ravel()[place]:g}{suffix}"
        )
    is_signed = operation.attributes.get("is_signed", FALSE) != FALSE
    least = (-1 << (bits - 1) if is_signed else 0) + (operation.attributes.get("narrow_range", FALSE) != FALSE)
    greatest = (1 << (bits - is_signed)) - 1
    scales, zeros = fake_quant_parameters(low, high, least, greatest)
    axis = operation.attributes.get("axis")
    channel = axis.value if isinstance(axis, IntegerAttr) else None
    if channel is None:
        return UniformType(f"{'iu'[not is_signed]}{bits}", _F32, float(scales), int(zeros), None, None, least, greatest)
    return UniformType(f"{'iu'[not is_signed]}{bits}", _F32, scales, zeros, channel, None, least, greatest)


def as_casts(operation: Operation, builder: Builder) -> Value:
    """Build the `quant.qcast` and `quant.dcast` that compute the same as a fake quantization; return the result."""
    type = operation.operands[0].type
    stored = builder.value("quant.qcast", operation.operands, with_element(type, fake_quant_type(operation)))
    return builder.value("quant.dcast", (stored,), type)


def _ends(operation: Operation, name: str) -> npt.NDArray[np.float64]:
    value = operation.attributes[name]
    if isinstance(value, ArrayAttr):
        return np.array([end.value for end in value.elements if isinstance(end, FloatAttr)], np.float64)
    return np.array(operation.attribute(name, FloatAttr).value, np.float64)


def _verify(operation: Operation) -> None:
    type = operation.operands[0].type
    assert isinstance(type, TensorType)  # the operand's constraint
    if operation.name == PER_AXIS:
        axis = operation.attribute("axis", IntegerAttr).value
        if not 0 <= axis < (type.rank or 0):
            raise operation.op_error(
                f"attribute 'axis' must be at least 0 and less than the rank of {type}, got {axis}"
            )
        if not operation.attribute("min", ArrayAttr).elements:
            raise operation.op_error("attributes 'min' and 'max' must have at least one value, got none")
    check_integrity(fake_quant_type(operation), type.shape)


def _is_f32(value: Attribute) -> bool:
    return isinstance(value, FloatAttr) and value.type is _F32


_END = AttributeKind("32-bit float attribute", _is_f32, lambda parser: parser.attribute())
_ENDS = array_of("32-bit float array attribute", _is_f32)
_BITS = {
    "num_bits": AttributeSpec(required=True, kind=attribute_kinds.I64),
    "narrow_range": AttributeSpec(default=FALSE, kind=attribute_kinds.BOOL),
    "is_signed": AttributeSpec(default=FALSE, kind=attribute_kinds.BOOL),
}

add_type_constraint(
    "f32 tensor",
    lambda type: isinstance(type, TensorType) and type.element is _F32,
    "tensor of 32-bit float values",
)


def _definition(name: str, ends: AttributeKind, **more: AttributeSpec) -> Definition:
    spec = AttributeSpec(required=True, kind=ends)
    return Definition(
        name,
        operands=("inputs: f32 tensor",),
        results=("outputs: f32 tensor",),
        attributes={"min": spec, "max": spec, **more, **_BITS},
        traits=(EXTENSION, PURE, SAME_OPERANDS_AND_RESULT_TYPE),
        verify_signature=_verify,
    )


OPS = [
    _definition(FAKE_QUANT, _END),
    _definition(PER_AXIS, _ENDS, axis=AttributeSpec(required=True, kind=attribute_kinds.I64)),
]
