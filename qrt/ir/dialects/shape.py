"""`shape`: what the lowering of unranked tensors computes with extents held in `tensor<?xindex>`."""

from qrt.ir.core import Operation
from qrt.ir.define import PURE, Definition
from qrt.ir.dialects.syntax import INDEX
from qrt.types import IndexType, TensorType, Type


def _is_extents(type: Type) -> bool:
    return isinstance(type, TensorType) and type.rank == 1 and isinstance(type.element, IndexType)


def _verify_shape_of(operation: Operation) -> None:
    given, made = operation.operands[0].type, operation.results[0].type
    if not isinstance(given, TensorType) or not isinstance(made, TensorType) or not _is_extents(made):
        raise operation.op_error(f"takes a tensor and yields its extents, not '{given}' to '{made}'")
    assert made.shape is not None  # of rank 1
    if given.rank is not None and made.shape[0] not in (None, given.rank):
        raise operation.op_error(f"yields {made.shape[0]} extents of a tensor of rank {given.rank}")


def _verify_num_elements(operation: Operation) -> None:
    given, made = operation.operands[0].type, operation.results[0].type
    if not _is_extents(given) or made is not INDEX:
        raise operation.op_error(f"takes extents and yields an index, not '{given}' to '{made}'")


def _verify_split_at(operation: Operation) -> None:
    shapes = [operation.operands[0].type, *(value.type for value in operation.results)]
    if not all(map(_is_extents, shapes)) or operation.operands[1].type is not INDEX:
        raise operation.op_error("takes extents and an index, and yields the extents before and after it")


_FORMAT = "${} attr-dict `:` type(${}) `->` type($result)"

OPS = [
    Definition(
        "shape.shape_of",
        operands=("arg",),
        results=("result",),
        traits={PURE},
        format=_FORMAT.format("arg", "arg"),
        verify_signature=_verify_shape_of,
    ),
    Definition(
        "shape.num_elements",
        operands=("shape",),
        results=("result",),
        traits={PURE},
        format=_FORMAT.format("shape", "shape"),
        verify_signature=_verify_num_elements,
    ),
    Definition(
        "shape.split_at",
        operands=("operand", "index"),
        results=("head", "tail"),
        traits={PURE},
        verify_signature=_verify_split_at,
    ),
]
