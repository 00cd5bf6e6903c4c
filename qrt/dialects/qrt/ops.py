"""`qrt`: one op per kernel family, on quantized types. What an op takes and yields is its family's to say."""

from functools import partial

from qrt.ir.core.attributes import ArrayAttr, Attribute, DenseArrayAttr, IntegerAttr
from qrt.ir.core.define import AttributeSpec, Definition, one_of
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import EXTENSION, PURE
from qrt.ir.text.places import type_of
from qrt.types import IntegerType, TensorType

_FORMAT = "operands attr-dict `:` functional-type(operands, results)"
REQUANT = {"requant": AttributeSpec(one_of("fixed", "fixed_double", "float32", "float64_away"))}
_AXES = ("axes", "permutation")
_WINDOW = ("kernel", "strides", "padding")


def verify_family(family_name: str, operation: Operation) -> None:
    """The declared result must be what the family infers from the operands and attributes."""
    from qrt.ops import FAMILIES  # here, so that reading IR loads no kernels

    family = FAMILIES[family_name]
    types = []
    for side, values in (("operand", operation.operands), ("result", operation.results)):
        for index, value in enumerate(values):
            if not isinstance(value.type, TensorType):
                message = f"{side} #{index} must be a tensor, but got '{value.type}'"
                raise operation.op_error(message, type_of(operation, side, index))
            types.append(value.type)
    *operands, declared = types
    given = {name: value.python for name, value in operation.attributes.items() if name in family.attributes}
    inferred = family.resolve(tuple(operands), family.complete(given), declared)
    if not _compatible(inferred, declared):
        message = f"result is declared as {declared}, but is {inferred}"
        raise operation.op_error(message, type_of(operation, "result", 0))


def _compatible(inferred: TensorType, declared: TensorType) -> bool:
    """Equal, but for dimensions that one of the two leaves dynamic: those are checked when they are known."""
    if inferred.element is not declared.element or (inferred.rank, declared.rank) == (None, None):
        return inferred.element is declared.element
    if inferred.shape is None or declared.shape is None:
        return True
    return len(inferred.shape) == len(declared.shape) and all(
        a == b or a is None or b is None for a, b in zip(inferred.shape, declared.shape, strict=True)
    )


def _is_integer(value: Attribute) -> bool:
    return isinstance(value, IntegerAttr) and not value.is_bool


def _integers(value: Attribute) -> str | None:
    """A constraint on lists of axes."""
    dense = isinstance(value, DenseArrayAttr) and isinstance(value.element, IntegerType)
    listed = isinstance(value, ArrayAttr) and all(map(_is_integer, value.elements))
    return None if dense or listed else "must be a list of integers"


def _op(name: str, *operands: str, attributes: tuple[str, ...] = (), requant: bool = False) -> Definition:
    specs = {key: AttributeSpec(_integers if key in _AXES else None) for key in attributes}
    specs |= REQUANT if requant else {}
    return Definition(
        f"qrt.{name}",
        operands=operands,
        results=("result",),
        attributes=specs,
        traits={PURE, EXTENSION},
        format=_FORMAT,
        verify_signature=partial(verify_family, name),
    )


OPS = [
    _op("requantize", "input", requant=True),
    _op("matmul", "a", "w", "bias?", requant=True),
    _op("float_matmul", "a", "w", "bias?"),
    _op("conv2d", "x", "w", "bias?", attributes=("strides", "padding", "dilations", "groups"), requant=True),
    _op("depthwise_conv2d", "x", "w", "bias?", attributes=("strides", "padding", "dilations"), requant=True),
    _op("add", "a", "b", requant=True),
    _op("sub", "a", "b", requant=True),
    _op("mul", "a", "b", requant=True),
    _op("clamp", "x", attributes=("min", "max")),
    _op("lookup", "x", "table"),
    _op("avg_pool2d", "x", attributes=_WINDOW, requant=True),
    _op("max_pool2d", "x", attributes=_WINDOW),
    _op("mean", "x", attributes=("axes", "keepdims"), requant=True),
    _op("softmax", "x", attributes=("axis", "beta")),
    _op("pad", "x", attributes=("padding", "value")),
    _op("transpose", "x", attributes=("permutation",)),
    _op("reshape", "x"),
    _op("concat", "inputs*", attributes=("axis",), requant=True),
]
