"""Which values are dimensions and symbols of `affine`, and the maps they are given to."""

from collections.abc import Sequence

from qrt.dialects._shaped.types import memref_type
from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.matching import constant_number
from qrt.ir.core.operations import Block, Operation, Value
from qrt.ir.core.traits import CONSTANT_LIKE, PURE

_SCOPES = ("func.func", "builtin.module")


def _is_top_level(value: Value) -> bool:
    owner = value.owner
    if isinstance(owner, Block):
        parent = owner.parent.parent if owner.parent is not None else None
    else:
        parent = owner.parent_operation if owner is not None else None
    return parent is not None and parent.name in _SCOPES


def is_symbol(value: Value) -> bool:
    """Whether a value is the same in all of a function, as far as the rules of `affine` can tell."""
    if value.type is not INDEX:
        return False
    source = value.operation
    if _is_top_level(value) or source is None:
        return _is_top_level(value)
    if source.name in ("memref.dim", "tensor.dim"):
        return _is_top_level(source.operands[0]) or _is_size_symbol(source)
    return source.has_trait(CONSTANT_LIKE) or (source.has_trait(PURE) and all(map(is_symbol, source.operands)))


_SIZES = {"memref.alloc": "dynamicSizes", "memref.view": "sizes", "memref.subview": "sizes"}
"""Ops that make a memref, with the operands that are its open sizes."""


def _is_size_symbol(dim: Operation) -> bool:
    """Whether a `dim` is that of a view or an allocation, perhaps cast, whose size there is a symbol or static."""
    index, made = constant_number(dim.operands[1]), dim.operands[0].operation
    while made is not None and made.name == "memref.cast" and memref_type(made.operands[0]).shape is not None:
        made = made.operands[0].operation
    if index is None or made is None or made.name not in _SIZES:
        return False
    shape = memref_type(made.results[0]).shape or ()
    if not 0 <= index < len(shape):
        return False
    sizes = made.operand_group(_SIZES[made.name])
    place = shape[:index].count(None)
    return shape[index] is not None or (place < len(sizes) and is_symbol(sizes[place]))


def is_dimension(value: Value) -> bool:
    """Whether a value is a symbol, an index of an affine loop, or made of these by `affine.apply`."""
    if is_symbol(value):
        return True
    owner = value.owner
    if isinstance(owner, Block):
        loop = owner.parent.parent if owner.parent is not None else None
        if loop is None or loop.name == "affine.parallel":
            return loop is not None
        return loop.name == "affine.for" and value is owner.arguments[0]
    return owner is not None and owner.name == "affine.apply" and all(map(is_dimension, owner.operands))


def require_valid(operation: Operation, values: Sequence[Value], dimensions: int) -> None:
    """Raise VerifyError unless the first values are dimensions and the others symbols."""
    for index, value in enumerate(values):
        if index < dimensions and not is_dimension(value):
            raise operation.op_error("operand cannot be used as a dimension id")
        if index >= dimensions and not is_symbol(value):
            raise operation.op_error("operand cannot be used as a symbol")


def map_of(operation: Operation, name: str = "map") -> AffineMapAttr:
    """The map of an operation."""
    return operation.attribute(name, AffineMapAttr)
