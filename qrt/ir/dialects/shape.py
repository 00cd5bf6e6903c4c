"""`shape`: what the lowering of unranked tensors computes with extents held in `tensor<?xindex>`."""

from qrt.ir.constraints import add_type_constraint
from qrt.ir.core import Operation
from qrt.ir.define import PURE, Definition
from qrt.types import IndexType, TensorType


def _verify_shape_of(operation: Operation) -> None:
    given, made = operation.operands[0].type, operation.results[0].type
    assert isinstance(given, TensorType)  # the constraints
    assert isinstance(made, TensorType)
    assert made.shape is not None
    if given.rank is not None and made.shape[0] not in (None, given.rank):
        raise operation.op_error(f"yields {made.shape[0]} extents of a tensor of rank {given.rank}")


add_type_constraint(
    "shape or extent tensor",
    lambda type: isinstance(type, TensorType) and type.rank == 1 and isinstance(type.element, IndexType),
)

OPS = [
    Definition(
        "shape.shape_of",
        operands=("arg: tensor",),
        results=("result: shape or extent tensor",),
        traits={PURE},
        format="$arg attr-dict `:` type($arg) `->` type($result)",
        verify_signature=_verify_shape_of,
    ),
    Definition(
        "shape.num_elements",
        operands=("shape: shape or extent tensor",),
        results=("result: index",),
        traits={PURE},
        format="$shape attr-dict `:` type($shape) `->` type($result)",
    ),
    Definition(
        "shape.split_at",
        operands=("operand: shape or extent tensor", "index: index"),
        results=("head: shape or extent tensor", "tail: shape or extent tensor"),
        traits={PURE},
    ),
]
