"""`shape`: what the lowering of unranked tensors computes with extents held in `tensor<?xindex>`. The dialect's own
types (`!shape.shape`, `!shape.size`, `!shape.witness`), and the ops that need them, are not here."""

from typing import TYPE_CHECKING

import numpy as np

from qrt.ir.attributes import Attribute, IntegerAttr
from qrt.ir.constraints import INDEX, add_type_constraint
from qrt.ir.core import Operation, Value
from qrt.ir.define import PURE, AttributeSpec, Definition, instance_of
from qrt.ir.dense import DenseElementsAttr
from qrt.ir.fold import Folds, constant_of
from qrt.ir.traits import COMMUTATIVE
from qrt.types import IndexType, MemRefType, TensorType

if TYPE_CHECKING:
    from qrt.ir.parser import Parser, PendingOperation
    from qrt.ir.printer import Printer

_EXTENTS = "shape or extent tensor"

add_type_constraint(
    _EXTENTS,
    lambda type: isinstance(type, TensorType) and type.rank == 1 and isinstance(type.element, IndexType),
)


def _verify_shape_of(operation: Operation) -> None:
    given, made = operation.operands[0].type, operation.results[0].type
    assert isinstance(given, TensorType | MemRefType)  # the constraints
    assert isinstance(made, TensorType)
    assert made.shape is not None
    if given.rank is not None and made.shape[0] not in (None, given.rank):
        inferred = TensorType((given.rank,), INDEX)
        raise operation.op_error(
            f"inferred type(s) '{inferred}' are incompatible with return type(s) of operation '{made}'"
        )


# -- shape.const_shape -------------------------------------------------------------------------------------------------


def _parse_const_shape(parser: "Parser", pending: "PendingOperation") -> None:
    scanner = parser.scanner
    pending.attributes.update(parser.optional_attributes())
    scanner.expect("[", " before extents")
    extents: list[int] = []
    while not scanner.at("]") and (not extents or scanner.accept(",")):
        extents.append(scanner.integer(64, "an extent"))
    scanner.expect("]", " after extents")
    scanner.expect(":", " before the type")
    pending.result_types = [parser.type()]
    kept = TensorType((len(extents),), INDEX)
    pending.attributes["shape"] = DenseElementsAttr(np.array(extents, np.int64), kept)


def extents_of(operation: Operation) -> tuple[int, ...]:
    """The extents that a `shape.const_shape` says."""
    shape = operation.attributes["shape"]
    assert isinstance(shape, DenseElementsAttr)  # the attribute's constraint
    return tuple(shape.array.tolist())


def _print_const_shape(printer: "Printer", operation: Operation) -> None:
    printer.attributes(operation, ("shape",))
    printer.word(f"[{', '.join(map(str, extents_of(operation)))}] : {operation.results[0].type}")


def _fold_num_elements(operation: Operation, folds: Folds) -> "list[Value | Attribute] | None":
    source = operation.operands[0].operation
    if source is None or source.name != "shape.const_shape":
        return None
    return [IntegerAttr(int(np.prod(extents_of(source), dtype=np.int64)), INDEX)]


def _fold_get_extent(operation: Operation, folds: Folds) -> "list[Value | Attribute] | None":
    source, index = operation.operands[0].operation, constant_of(operation.operands[1])
    if source is None or source.name != "shape.const_shape" or not isinstance(index, IntegerAttr):
        return None
    extents = extents_of(source)
    return [IntegerAttr(extents[index.value], INDEX)] if 0 <= index.value < len(extents) else None


# -- the ops -----------------------------------------------------------------------------------------------------------

_SIZES = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"
_TEST = "$shapes attr-dict `:` type($shapes)"


def _arithmetic(name: str) -> Definition:
    return Definition(
        f"shape.{name}",
        operands=("lhs: index", "rhs: index"),
        results=("result: index",),
        traits={PURE, COMMUTATIVE} if name != "div" else {PURE},
        format=_SIZES,
    )


def _of_shapes(name: str, result: str) -> Definition:
    """An op on any number of shapes."""
    is_test = result == "i1"
    return Definition(
        f"shape.{name}",
        operands=(f"shapes*: {_EXTENTS}",),
        results=(f"result: {result}",),
        traits={PURE},
        format=_TEST if is_test else f"{_TEST} `->` type($result)",
    )


OPS = [
    Definition(
        "shape.shape_of",
        operands=("arg: tensor or memref",),
        results=(f"result: {_EXTENTS}",),
        traits={PURE},
        format="$arg attr-dict `:` type($arg) `->` type($result)",
        verify_signature=_verify_shape_of,
    ),
    Definition(
        "shape.num_elements",
        operands=(f"shape: {_EXTENTS}",),
        results=("result: index",),
        traits={PURE},
        format="$shape attr-dict `:` type($shape) `->` type($result)",
        fold=_fold_num_elements,
    ),
    Definition(
        "shape.split_at",
        operands=(f"operand: {_EXTENTS}", "index: index"),
        results=(f"head: {_EXTENTS}", f"tail: {_EXTENTS}"),
        traits={PURE},
    ),
    Definition(
        "shape.const_shape",
        results=(f"result: {_EXTENTS}",),
        attributes={"shape": AttributeSpec(instance_of(DenseElementsAttr, "dense extents"), required=True)},
        traits={PURE},
        parse=_parse_const_shape,
        print=_print_const_shape,
    ),
    Definition(
        "shape.dim",
        operands=("value: tensor or memref", "index: index"),
        results=("extent: index",),
        traits={PURE},
        format="$value `,` $index attr-dict `:` type($value) `,` type($index) `->` type($extent)",
    ),
    Definition(
        "shape.rank",
        operands=(f"shape: {_EXTENTS}",),
        results=("rank: index",),
        traits={PURE},
        format="$shape attr-dict `:` type($shape) `->` type($rank)",
    ),
    Definition(
        "shape.get_extent",
        operands=(f"shape: {_EXTENTS}", "dim: index"),
        results=("extent: index",),
        traits={PURE},
        format="$shape `,` $dim attr-dict `:` type($shape) `,` type($dim) `->` type($extent)",
        fold=_fold_get_extent,
    ),
    Definition(
        "shape.concat",
        operands=(f"lhs: {_EXTENTS}", f"rhs: {_EXTENTS}"),
        results=(f"result: {_EXTENTS}",),
        traits={PURE},
        format=_SIZES,
    ),
    Definition(
        "shape.to_extent_tensor",
        operands=(f"input: {_EXTENTS}",),
        results=(f"result: {_EXTENTS}",),
        traits={PURE},
        format="$input attr-dict `:` type($input) `->` type($result)",
    ),
    _of_shapes("broadcast", _EXTENTS),
    _of_shapes("is_broadcastable", "i1"),
    _of_shapes("shape_eq", "i1"),
    _arithmetic("add"),
    _arithmetic("mul"),
    _arithmetic("div"),
]
