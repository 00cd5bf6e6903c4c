"""Ops in the `quant` dialect that upstream does not have: those of the propagation RFC, and those that articles on
lowering write. They parse, verify and print; `--strict-upstream` refuses them."""

from math import prod

from qrt.dialects.qrt.ops import definition_of, verify_family
from qrt.ir.core.attributes import ArrayAttr, Attribute, FloatAttr, IntegerAttr, StringAttr, TypeAttr
from qrt.ir.core.constraints import element_of
from qrt.ir.core.define import AttributeSpec, Definition, instance_of
from qrt.ir.core.operations import Operation, Value
from qrt.ir.core.traits import EXTENSION, ISOLATED_FROM_ABOVE, PURE, RETURN_LIKE, TERMINATOR
from qrt.ir.text.dense import DenseElementsAttr
from qrt.ir.text.places import attribute, type_of
from qrt.types import FloatType, QuantizedType, TensorType, Type, UniformType

# -- quant.region (%x, %w) { ... quant.return %y : t } {input_specs = [...], ...} : (t, t) -> t -----------------------


def _verify_region(operation: Operation) -> None:
    for what, values in (("input", operation.operands), ("output", operation.results)):
        specs = operation.attribute(f"{what}_specs", ArrayAttr)
        if len(specs.elements) != len(values):
            raise operation.op_error("has unmatched operands/results number and spec attributes number")
        for spec, value in zip(specs.elements, values, strict=True):
            if not _fits(spec, value.type):
                raise operation.op_error(f"has incompatible specification {spec} and {what} type {value.type}")
    blocks = operation.regions[0].blocks
    inputs = [value.type for value in operation.operands]
    if len(blocks) != 1 or [argument.type for argument in blocks[0].arguments] != inputs:
        raise operation.op_error("has one block, whose arguments are of the types of the operands")
    last = blocks[0].last
    if last is None or last.name != "quant.return":
        raise operation.op_error("ends with a quant.return")
    if [value.type for value in last.operands] != [value.type for value in operation.results]:
        raise operation.op_error("returns values of the types of its results")


def _fits(spec: Attribute, type: Type) -> bool:
    """Whether a specification is of a value's elements: their own type, or a quantized type that expresses it."""
    if not isinstance(spec, TypeAttr):
        return False
    element = element_of(type)
    return spec.type is element or (isinstance(spec.type, QuantizedType) and spec.type.expressed_type is element)


# -- "quant.stats"(%x) {layerStats = dense<[min, max]> : tensor<2xf32>, axisStats = ..., axis = 1} -------------------


def _verify_stats(operation: Operation) -> None:
    type = operation.operands[0].type
    if not isinstance(type, TensorType) or not isinstance(type.element, FloatType):
        message = f"operand #0 must be tensor of floating-point, but got '{type}'"
        raise operation.op_error(message, type_of(operation, "operand", 0))
    if operation.results[0].type is not type:
        raise operation.op_error("requires the same type for all operands and results", type_of(operation, "result", 0))
    layer = _statistics(operation, "layerStats")
    if layer is None or layer.type.shape != (2,):
        raise operation.op_error("layerStats must have shape [2]", attribute(operation, "layerStats"))
    by_axis, axis = _statistics(operation, "axisStats"), operation.attributes.get("axis")
    if by_axis is None:
        return
    if not isinstance(axis, IntegerAttr):
        raise operation.op_error("axis must be specified for axisStats", attribute(operation, "axisStats"))
    if not 0 <= axis.value < (type.rank or 0):
        raise operation.op_error(f"axis {axis.value} is not one of {type}", attribute(operation, "axis"))
    sizes = (type.shape or ())[axis.value :]
    if None not in sizes and by_axis.type.shape != (prod(size or 0 for size in sizes), 2):
        message = "axisStats must have shape [N,2] where N = the slice size defined by the axis dim"
        raise operation.op_error(message, attribute(operation, "axisStats"))


def _statistics(operation: Operation, name: str) -> DenseElementsAttr | None:
    value = operation.attributes.get(name)
    assert value is None or isinstance(value, DenseElementsAttr)  # the attribute's constraint
    if value is not None and not isinstance(value.element, FloatType):
        raise operation.op_error(f"{name} must have a floating point element type", attribute(operation, name))
    return value


# -- "quant.cast", "quant.conv2d", "quant.matmul" ---------------------------------------------------------------------


def _verify_cast(operation: Operation) -> None:
    source = _tensor(operation, operation.operands[0], "operand")
    result = _tensor(operation, operation.results[0], "result")
    quantized, expressed = source.element, result.element
    if not isinstance(quantized, UniformType):
        quantized, expressed = expressed, quantized
    if not isinstance(quantized, UniformType) or quantized.expressed_type is not expressed:
        message = f"casts between a quantized type and its expressed type, not {source} to {result}"
        raise operation.op_error(message, type_of(operation, "result", 0))
    if source.shape != result.shape:
        message = f"operand and result have one shape, not {source} and {result}"
        raise operation.op_error(message, type_of(operation, "result", 0))


def _tensor(operation: Operation, value: Value, side: str) -> TensorType:
    if not isinstance(value.type, TensorType):
        raise operation.op_error(f"takes and yields tensors, not '{value.type}'", type_of(operation, side, 0))
    return value.type


def _verify_kernel(family: str, operation: Operation) -> None:
    """Verifies the op as the `qrt` op of the same name. Attributes about the result must agree with its type."""
    verify_family(family, operation)
    element = element_of(operation.results[0].type)
    if not isinstance(element, UniformType):
        return
    for name, said in (("output_scale", element.scales), ("output_zero_point", element.zero_points)):
        value = operation.attributes.get(name)
        if isinstance(value, FloatAttr | IntegerAttr) and (not element.is_per_layer or value.value != said[0]):
            message = f"{name} {value} is not that of the result type {element}"
            raise operation.op_error(message, attribute(operation, name))


_OUTPUT = {
    "output_scale": AttributeSpec(instance_of(FloatAttr, "a float")),
    "output_zero_point": AttributeSpec(instance_of(IntegerAttr, "an integer")),
}
_ELEMENTS = instance_of(DenseElementsAttr, "dense elements")
_TYPES = AttributeSpec(instance_of(ArrayAttr, "an array of types"), required=True)


OPS = [
    Definition(
        "quant.region",
        operands=("inputs*",),
        results=("outputs*",),
        attributes={
            "input_specs": _TYPES,
            "output_specs": _TYPES,
            "kernel": AttributeSpec(instance_of(StringAttr, "a string"), required=True),
        },
        regions=("body",),
        traits={EXTENSION, ISOLATED_FROM_ABOVE},
        format="`(` $inputs `)` $body attr-dict `:` functional-type($inputs, $outputs)",
        verify=_verify_region,
    ),
    Definition(
        "quant.return",
        operands=("results*",),
        traits={EXTENSION, PURE, RETURN_LIKE, TERMINATOR},
        parents=("quant.region",),
        format="attr-dict ($results^ `:` type($results))?",
    ),
    Definition(
        "quant.stats",
        operands=("arg",),
        results=("result",),
        attributes={
            "layerStats": AttributeSpec(_ELEMENTS, required=True),
            "axisStats": AttributeSpec(_ELEMENTS),
            "axis": AttributeSpec(instance_of(IntegerAttr, "an integer")),
        },
        traits={EXTENSION},
        verify_signature=_verify_stats,
    ),
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
        for name in ("conv2d", "matmul")
    ),
]
