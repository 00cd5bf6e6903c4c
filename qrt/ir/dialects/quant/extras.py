"""Ops of the `quant` dialect that articles on lowering use, but upstream does not have.

`--strict-upstream` rejects them.
"""

from qrt.ir.core.attributes import FloatAttr, IntegerAttr, instance_of
from qrt.ir.core.constraints import element_of
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.operations import Operation, Value
from qrt.ir.core.places import attribute, type_of
from qrt.ir.core.traits import EXTENSION, PURE
from qrt.ir.dialects.qrt.ops import definition_of, verify_family
from qrt.ops import FAMILIES
from qrt.types import TensorType, UniformType


def _verify_cast(operation: Operation) -> None:
    source = _tensor(operation, operation.operands[0], "operand")
    result = _tensor(operation, operation.results[0], "result")
    quantized, expressed = source.element, result.element
    if not isinstance(quantized, UniformType):
        quantized, expressed = expressed, quantized
    if not isinstance(quantized, UniformType) or quantized.expressed_type is not expressed:
        message = f"must convert between a quantized type and its expressed type, got {source} to {result}"
        raise operation.op_error(message, type_of(operation, "result", 0))
    if source.shape != result.shape:
        message = f"operand and result must have the same shape, got {source} and {result}"
        raise operation.op_error(message, type_of(operation, "result", 0))


def _tensor(operation: Operation, value: Value, side: str) -> TensorType:
    if not isinstance(value.type, TensorType):
        raise operation.op_error(f"{side} #0 must be a tensor, got '{value.type}'", type_of(operation, side, 0))
    return value.type


def _verify_kernel(family: str, operation: Operation) -> None:
    """Raise VerifyError unless the op is valid as an op of the family, and its attributes fit the result type.

    That is, `output_scale` and `output_zero_point` must be the scale and zero point of the result's quantized type.
    """
    verify_family(family, operation)
    element = element_of(operation.results[0].type)
    if not isinstance(element, UniformType):
        return
    for name, numbers in (("output_scale", element.scales), ("output_zero_point", element.zero_points)):
        value = operation.attributes.get(name)
        if isinstance(value, FloatAttr | IntegerAttr) and (not element.is_per_layer or value.value != numbers[0]):
            wanted = str(numbers[0]) if element.is_per_layer else "absent (it is for per-tensor types)"
            message = f"attribute '{name}' must be {wanted}, because the result type is {element}, got {value}"
            raise operation.op_error(message, attribute(operation, name))


_OUTPUT = {
    "output_scale": AttributeSpec(instance_of(FloatAttr, "a float")),
    "output_zero_point": AttributeSpec(instance_of(IntegerAttr, "an integer")),
}

OPS = [
    Definition(
        "quant.cast",
        operands=("input",),
        results=("result",),
        traits={PURE, EXTENSION},
        verify_signature=_verify_cast,
        canonicalize=("quant.canonicalize: written_cast",),
    ),
    *(
        definition_of(name, "quant", None, _OUTPUT, _verify_kernel, ("quant.canonicalize: written_kernel",))
        for name, family in FAMILIES.items()
        if family.declaration.article
    ),
]
