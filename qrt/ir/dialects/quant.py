"""`quant`: upstream's casts, with upstream's rules; the wording follows mlir-opt 22.

qcast also takes what NUMERICS.md leaves to attributes: `rounding`, `zero_point` and `scale`.
"""

from typing import Literal

from qrt.errors import QuantTypeError
from qrt.ir.core import Operation
from qrt.ir.define import PURE, AttributeSpec, Definition, one_of
from qrt.ir.dialects import quant_extras
from qrt.ir.dialects.quant_folds import fold_dcast, fold_qcast, fold_scast
from qrt.ir.places import type_of
from qrt.types import FloatType, IntegerType, QuantizedType, TensorType, Type, UniformType, check_integrity

_FORMAT = "$input attr-dict `:` type($input) `to` type($result)"
_Part = Literal["floating-point", "quantized type", "signless integer or quantized type"]
_Side = Literal["operand", "result"]


def element_of(type: Type) -> Type:
    """The element of a tensor, or a scalar type itself."""
    return type.element if isinstance(type, TensorType) else type


def _is_part(element: Type, part: _Part) -> bool:
    if part == "floating-point":
        return isinstance(element, FloatType)
    if isinstance(element, QuantizedType):
        return True
    return part == "signless integer or quantized type" and isinstance(element, IntegerType) and element.is_signless


def _verify_kinds(operation: Operation, operand: _Part, result: _Part) -> tuple[Type, Type]:
    """Both sides' element types, after the rules that all casts share."""
    source, target = operation.operands[0].type, operation.results[0].type
    for side, type, part in (("operand", source, operand), ("result", target, result)):
        if not _is_part(element_of(type), part):
            message = f"{side} #0 must be scalar or tensor of {part}, but got '{type}'"
            raise operation.op_error(message, type_of(operation, side, 0))
    shapes = [(type.shape,) if isinstance(type, TensorType) else None for type in (source, target)]
    if shapes[0] != shapes[1]:
        raise operation.op_error(
            "failed to verify that input and result are both scalars or both tensors with matching shape",
            type_of(operation, "result", 0),
        )
    return element_of(source), element_of(target)


def _verify_parameters(operation: Operation, quantized: Type, container: Type, side: _Side) -> None:
    if not isinstance(quantized, UniformType):
        return
    if isinstance(container, TensorType):
        try:
            check_integrity(quantized, container.shape)
        except QuantTypeError as error:
            raise operation.error(str(error), type_of(operation, side, 0)) from None
    elif quantized.is_per_axis:
        raise operation.error("scalar types may not use per-axis quantization", type_of(operation, side, 0))
    elif quantized.is_sub_channel:
        raise operation.error("scalar types may not use sub-channel quantization", type_of(operation, side, 0))


def _verify_expressed(operation: Operation, quantized: Type, float_type: Type, side: _Side) -> None:
    assert isinstance(quantized, QuantizedType)
    if quantized.expressed_type is not float_type:
        raise operation.error(
            f"expressed type in quantized type expected to match float type: {quantized.expressed_type}, {float_type}",
            type_of(operation, side, 0),
        )


def _verify_qcast(operation: Operation) -> None:
    source, target = _verify_kinds(operation, "floating-point", "quantized type")
    _verify_expressed(operation, target, source, "result")
    _verify_parameters(operation, target, operation.results[0].type, "result")


def _verify_dcast(operation: Operation) -> None:
    source, target = _verify_kinds(operation, "quantized type", "floating-point")
    _verify_expressed(operation, source, target, "operand")
    _verify_parameters(operation, source, operation.operands[0].type, "operand")


def _verify_scast(operation: Operation) -> None:
    part: _Part = "signless integer or quantized type"
    source, target = _verify_kinds(operation, part, part)
    if isinstance(source, IntegerType) == isinstance(target, IntegerType):
        raise operation.op_error(
            "failed to verify that input must be integer and result must be quantized, or vice versa",
            type_of(operation, "result", 0),
        )
    side: _Side
    if isinstance(source, IntegerType):
        integer, quantized, side = source, target, "result"
    else:
        assert isinstance(target, IntegerType)
        integer, quantized, side = target, source, "operand"
    width = getattr(quantized, "storage_width", None)  # a calibrated type says no storage
    if width != integer.width:
        raise operation.error(
            f"storage type in quantized type expected to match integer type: {quantized}, {integer}",
            type_of(operation, side, 0),
        )
    _verify_parameters(operation, quantized, operation.results[0].type, side)


QCAST = Definition(
    "quant.qcast",
    operands=("input",),
    results=("result",),
    attributes={
        "rounding": AttributeSpec(one_of("half_even", "half_away", "toward_zero"), is_property=False),
        "zero_point": AttributeSpec(one_of("before", "after"), is_property=False),
        "scale": AttributeSpec(one_of("divide", "reciprocal"), is_property=False),
    },
    traits={PURE},
    format=_FORMAT,
    verify_signature=_verify_qcast,
    fold=fold_qcast,
)

DCAST = Definition(
    "quant.dcast",
    operands=("input",),
    results=("result",),
    traits={PURE},
    format=_FORMAT,
    verify_signature=_verify_dcast,
    fold=fold_dcast,
)

SCAST = Definition(
    "quant.scast",
    operands=("input",),
    results=("result",),
    traits={PURE},
    format=_FORMAT,
    verify_signature=_verify_scast,
    fold=fold_scast,
)

OPS = [QCAST, DCAST, SCAST, *quant_extras.OPS]
