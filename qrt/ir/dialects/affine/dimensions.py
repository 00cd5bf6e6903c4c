"""Checks that values are valid dimensions and symbols of `affine` maps."""

from collections.abc import Sequence

from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.matching import constant_number, defining_op, has_parts_throughout
from qrt.ir.core.operations import Block, Operation, Value
from qrt.ir.core.traits import CONSTANT_LIKE, PURE
from qrt.ir.dialects._shaped.types import memref_type

_SCOPES = ("func.func", "builtin.module")


def _is_top_level(value: Value) -> bool:
    owner = value.owner
    if isinstance(owner, Block):
        parent = owner.parent.parent if owner.parent is not None else None
    else:
        parent = owner.parent_operation if owner is not None else None
    return parent is not None and parent.name in _SCOPES


def is_symbol(value: Value) -> bool:
    """Return True if a value is a valid symbol: by the rules of `affine`, it is constant within a function."""
    return has_parts_throughout(value, _parts_of_symbol)


def _parts_of_symbol(value: Value) -> Sequence[Value] | None:
    """Return the values that must be symbols for `value` to be a symbol; None if `value` cannot be a symbol."""
    if value.type is not INDEX:
        return None
    source = value.operation
    if _is_top_level(value):
        return ()
    if source is None:
        return None
    if source.name in ("memref.dim", "tensor.dim"):
        return () if _is_top_level(source.operands[0]) else _parts_of_size(source)
    if source.has_trait(CONSTANT_LIKE):
        return ()
    return source.operands if source.has_trait(PURE) else None


_SIZES = {"memref.alloc": "dynamicSizes", "memref.view": "sizes", "memref.subview": "sizes"}
"""Ops that produce a memref, with the operand group of its dynamic sizes."""


def _parts_of_size(dim: Operation) -> Sequence[Value] | None:
    """Return the size operand that a `memref.dim` of an `alloc`, `view` or `subview` reads, as a list of one value.

    Return `()` if the size is static, and None if another op produces the memref. Casts of the memref are ignored.
    """
    index, source = constant_number(dim.operands[1]), _without_casts(dim.operands[0]).operation
    if index is None or source is None or source.name not in _SIZES:
        return None
    shape = memref_type(source.results[0]).shape or ()
    if not 0 <= index < len(shape):
        return None
    if shape[index] is not None:
        return ()
    sizes = source.operand_group(_SIZES[source.name])
    place = shape[:index].count(None)
    return sizes[place : place + 1] or None


def _without_casts(value: Value) -> Value:
    """Return the source of a chain of `memref.cast`; a cast from an unranked memref ends the chain."""
    passed: set[Value] = set()
    while (cast := defining_op(value, "memref.cast")) is not None and value not in passed:
        if memref_type(cast.operands[0]).shape is None:
            break
        passed.add(value)
        value = cast.operands[0]
    return value


def is_dimension(value: Value) -> bool:
    """Return True if a value is a symbol, an induction variable of an affine loop, or an `affine.apply` of these."""
    return has_parts_throughout(value, _parts_of_dimension)


def _parts_of_dimension(value: Value) -> Sequence[Value] | None:
    """Return the values that must be dimensions for `value` to be a dimension; None if `value` cannot be one."""
    if _is_top_level(value) and value.type is INDEX:
        return ()
    owner = value.owner
    if isinstance(owner, Block):
        loop = owner.parent.parent if owner.parent is not None else None
        if loop is None:
            return None
        is_index = loop.name == "affine.parallel" or (loop.name == "affine.for" and value is owner.arguments[0])
        return () if is_index else None
    if owner is not None and owner.name == "affine.apply":
        return owner.operands
    return () if is_symbol(value) else None


def require_valid(operation: Operation, values: Sequence[Value], dimensions: int) -> None:
    """Raise VerifyError unless the first `dimensions` values are valid dimensions, and the others valid symbols."""
    for index, value in enumerate(values):
        if index < dimensions and not is_dimension(value):
            raise operation.op_error("operand cannot be used as a dimension id")
        if index >= dimensions and not is_symbol(value):
            raise operation.op_error("operand cannot be used as a symbol")


def map_of(operation: Operation, name: str = "map") -> AffineMapAttr:
    """Return the operation's attribute `name`, an affine map."""
    return operation.attribute(name, AffineMapAttr)
