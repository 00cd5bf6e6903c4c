"""`tensor`: making tensors, asking for extents, reading elements, changing shapes."""

from math import prod

from qrt.ir.constraints import element_type_of
from qrt.ir.core import Operation
from qrt.ir.define import PURE, Definition
from qrt.types import TensorType


def _result(operation: Operation) -> TensorType:
    type = operation.results[0].type
    assert isinstance(type, TensorType)  # the constraint
    return type


def _verify_sizes(operation: Operation) -> None:
    """As many `dynamicSizes` as the result has dynamic dimensions."""
    dynamic = (_result(operation).shape or ()).count(None)
    assert operation.definition is not None  # that says this rule
    found = len(operation.definition.operand_group(operation, "dynamicSizes"))
    if dynamic != found:
        raise operation.op_error(f"incorrect number of dynamic sizes, has {found}, expected {dynamic}")


def _verify_extract(operation: Operation) -> None:
    given = operation.operands[0].type
    if isinstance(given, TensorType) and given.rank != len(operation.operands) - 1:
        raise operation.op_error("incorrect number of indices for extract_element")


def _verify_from_elements(operation: Operation) -> None:
    count = prod(size or 0 for size in _result(operation).shape or ())
    if len(operation.operands) != count:
        raise operation.op_error("failed to verify that operand types match result element type")


def _verify_reshape(operation: Operation) -> None:
    source, shape = (value.type for value in operation.operands)
    made = _result(operation)
    assert isinstance(source, TensorType)  # the constraints
    assert isinstance(shape, TensorType)
    assert shape.shape is not None
    if source.element is not made.element:
        raise operation.op_error("element types of source and destination tensor types should be the same")
    if made.rank is None or shape.shape == (made.rank,):
        return
    if shape.shape[0] is not None:
        raise operation.op_error("length of shape operand differs from the result's tensor rank")
    raise operation.op_error("cannot use shape operand with dynamic length to reshape to statically-ranked tensor type")


def _verify_cast(operation: Operation) -> None:
    given, made = operation.operands[0].type, _result(operation)
    assert isinstance(given, TensorType)  # the constraint
    fits = given.element is made.element and (
        given.shape is None
        or made.shape is None
        or (
            len(given.shape) == len(made.shape)
            and all(a is None or b is None or a == b for a, b in zip(given.shape, made.shape, strict=True))
        )
    )
    if not fits:
        raise operation.op_error(f"operand type '{given}' and result type '{made}' are cast incompatible")


OPS = [
    Definition(
        "tensor.empty",
        operands=("dynamicSizes*: index",),
        results=("result: ranked tensor",),
        traits={PURE},
        format="`(` $dynamicSizes `)` attr-dict `:` type($result)",
        verify_signature=_verify_sizes,
    ),
    Definition(
        "tensor.splat",
        operands=("input", "dynamicSizes*: index"),
        results=("aggregate: ranked tensor",),
        infer={"input": element_type_of("aggregate", "operand type matches element type of result")},
        traits={PURE},
        format="$input (`[` $dynamicSizes^ `]`)? attr-dict `:` type($aggregate)",
        verify_signature=_verify_sizes,
    ),
    Definition(
        "tensor.dim",
        operands=("source: non-0-ranked or unranked tensor", "index: index"),
        results=("result: index",),
        traits={PURE},
        format="attr-dict $source `,` $index `:` type($source)",
    ),
    Definition(
        "tensor.extract",
        operands=("tensor: ranked tensor", "indices*: index"),
        results=("result",),
        infer={"result": element_type_of("tensor")},
        traits={PURE},
        format="$tensor `[` $indices `]` attr-dict `:` type($tensor)",
        verify_signature=_verify_extract,
    ),
    Definition(
        "tensor.from_elements",
        operands=("elements*",),
        results=("result: statically shaped tensor",),
        infer={"elements": element_type_of("result", "operand types match result element type")},
        traits={PURE},
        format="$elements attr-dict `:` type($result)",
        verify_signature=_verify_from_elements,
    ),
    Definition(
        "tensor.reshape",
        operands=("source: tensor", "shape: 1D tensor of signless integer or index"),
        results=("result: tensor",),
        traits={PURE},
        format="$source `(` $shape `)` attr-dict `:` functional-type(operands, results)",
        verify_signature=_verify_reshape,
    ),
    Definition(
        "tensor.cast",
        operands=("source: tensor",),
        results=("dest: tensor",),
        traits={PURE},
        format="$source attr-dict `:` type($source) `to` type($dest)",
        verify_signature=_verify_cast,
    ),
]
