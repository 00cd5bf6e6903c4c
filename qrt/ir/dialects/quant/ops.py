"""`quant`: upstream's casts, with upstream's rules and the error messages of mlir-opt 22.

qcast also has the attributes `rounding`, `zero_point` and `scale` of docs/numerics.md.
"""

from typing import Literal, TypeVar

from qrt.errors import QuantTypeError, VerifyError
from qrt.ir.core.constraints import add_type_constraint
from qrt.ir.core.define import Definition, check_names
from qrt.ir.core.operations import Operation
from qrt.ir.core.places import type_of
from qrt.ir.core.traits import PURE, Trait
from qrt.ir.dialects.qrt.ops import specs_of
from qrt.ir.dialects.quant import annotations, extras, fake_quant, region
from qrt.ir.dialects.quant.fold import fold_dcast, fold_qcast, fold_scast
from qrt.ops import FAMILIES
from qrt.types import FloatType, IntegerType, QuantizedType, TensorType, Type, UniformType, check_integrity

_FORMAT = "$input attr-dict `:` type($input) `to` type($result)"
_T = TypeVar("_T", bound=Type)
_Side = Literal["operand", "result"]


def element_of(type: Type) -> Type:
    """Return the element type of a tensor, or a scalar type itself."""
    return type.element if isinstance(type, TensorType) else type


class CastOp(Operation):
    """Cast of the `quant` dialect, with upstream's names for the accessors of its element types."""

    __slots__ = ()

    def _element(self, kind: type[_T]) -> _T:
        for value in (*self.operands, *self.results):
            element = element_of(value.type)
            if isinstance(element, kind):
                return element
        types = ", ".join(str(value.type) for value in (*self.operands, *self.results))
        raise self.op_error(
            f"must have an operand or a result with elements of a {kind.__name__}, got the types {types}"
        )

    @property
    def quantized_type(self) -> QuantizedType:
        """The quantized type of the operand or of the result."""
        return self._element(QuantizedType)

    @property
    def quantized_side(self) -> _Side:
        """`operand` or `result`, whichever has the quantized type."""
        return "operand" if isinstance(element_of(self.operands[0].type), QuantizedType) else "result"

    @property
    def quantized_container(self) -> Type:
        """The scalar or tensor type whose element type is the quantized type."""
        return (self.operands if self.quantized_side == "operand" else self.results)[0].type


class FloatCastOp(CastOp):
    """A `quant.qcast` or `quant.dcast`."""

    __slots__ = ()

    @property
    def float_type(self) -> FloatType:
        """The float type of the operand or of the result."""
        return self._element(FloatType)


class StorageCastOp(CastOp):
    """A `quant.scast`."""

    __slots__ = ()

    @property
    def integer_type(self) -> IntegerType:
        """The integer type of the operand or of the result."""
        return self._element(IntegerType)


# -- constraints and traits, as in upstream's QuantBase.td ------------------------------------------------------------


def _is_quantized(element: Type) -> bool:
    return isinstance(element, QuantizedType)


def _is_integer_or_quantized(element: Type) -> bool:
    return _is_quantized(element) or (isinstance(element, IntegerType) and element.is_signless)


add_type_constraint("scalar or tensor of floating-point", lambda type: isinstance(element_of(type), FloatType))
add_type_constraint("scalar or tensor of quantized type", lambda type: _is_quantized(element_of(type)))
add_type_constraint(
    "scalar or tensor of signless integer or quantized type",
    lambda type: _is_integer_or_quantized(element_of(type)),
)


def _verify_same_shape(operation: Operation) -> None:
    shapes = [
        (value.type.shape,) if isinstance(value.type, TensorType) else None
        for value in (operation.operands[0], operation.results[0])
    ]
    if shapes[0] != shapes[1]:
        raise operation.op_error(
            "failed to verify that input and result are both scalars or both tensors with matching shape",
            type_of(operation, "result", 0),
        )


def _verify_combination(operation: Operation) -> None:
    if _is_quantized(element_of(operation.operands[0].type)) == _is_quantized(element_of(operation.results[0].type)):
        raise operation.op_error(
            "failed to verify that input must be integer and result must be quantized, or vice versa",
            type_of(operation, "result", 0),
        )


SAME_SCALAR_OR_TENSOR_SHAPE = Trait("SameScalarOrTensorShape", verify=_verify_same_shape)
INTEGER_AND_QUANTIZED_COMBINATION = Trait("IntegerAndQuantizedCombination", verify=_verify_combination)


# -- verification ------------------------------------------------------------------------------------


def _verify_parameters(operation: CastOp) -> None:
    quantized, container = operation.quantized_type, operation.quantized_container
    if not isinstance(quantized, UniformType):
        return

    def wrong(message: str) -> VerifyError:
        return operation.error(message, type_of(operation, operation.quantized_side, 0))

    if isinstance(container, TensorType):
        try:
            check_integrity(quantized, container.shape)
        except QuantTypeError as error:
            raise wrong(str(error)) from None
    elif quantized.is_per_axis:
        raise wrong("scalar types may not use per-axis quantization")
    elif quantized.is_sub_channel:
        raise wrong("scalar types may not use sub-channel quantization")


def _verify_float_cast(operation: Operation) -> None:
    assert isinstance(operation, FloatCastOp)
    expressed, given = operation.quantized_type.expressed_type, operation.float_type
    if expressed is not given:
        raise operation.error(
            f"expressed type in quantized type expected to match float type: {expressed}, {given}",
            type_of(operation, operation.quantized_side, 0),
        )
    _verify_parameters(operation)


def _verify_storage_cast(operation: Operation) -> None:
    assert isinstance(operation, StorageCastOp)
    quantized, integer = operation.quantized_type, operation.integer_type
    if getattr(quantized, "storage_type", None) is not integer:  # a calibrated type has no storage type
        raise operation.error(
            f"storage type in quantized type expected to match integer type: {quantized}, {integer}",
            type_of(operation, operation.quantized_side, 0),
        )
    _verify_parameters(operation)


def _verify_quantizing_cast(operation: Operation) -> None:
    assert operation.definition is not None  # QCAST
    check_names(
        operation, operation.definition.attributes, likeness=0.8
    )  # a less similar name is allowed, as upstream allows any name
    _verify_float_cast(operation)


QCAST = Definition(
    "quant.qcast",
    operands=("input: scalar or tensor of floating-point",),
    results=("result: scalar or tensor of quantized type",),
    attributes=specs_of(FAMILIES["qcast"].declaration, is_property=False),
    traits=(PURE, SAME_SCALAR_OR_TENSOR_SHAPE),
    format=_FORMAT,
    verify_signature=_verify_quantizing_cast,
    operation_class=FloatCastOp,
    fold=fold_qcast,
)

DCAST = Definition(
    "quant.dcast",
    operands=("input: scalar or tensor of quantized type",),
    results=("result: scalar or tensor of floating-point",),
    traits=(PURE, SAME_SCALAR_OR_TENSOR_SHAPE),
    format=_FORMAT,
    verify_signature=_verify_float_cast,
    operation_class=FloatCastOp,
    fold=fold_dcast,
)

SCAST = Definition(
    "quant.scast",
    operands=("input: scalar or tensor of signless integer or quantized type",),
    results=("result: scalar or tensor of signless integer or quantized type",),
    traits=(PURE, SAME_SCALAR_OR_TENSOR_SHAPE, INTEGER_AND_QUANTIZED_COMBINATION),
    format=_FORMAT,
    verify_signature=_verify_storage_cast,
    operation_class=StorageCastOp,
    fold=fold_scast,
)

OPS = [QCAST, DCAST, SCAST, *annotations.OPS, *extras.OPS, *fake_quant.OPS, *region.OPS]
