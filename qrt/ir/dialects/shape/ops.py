"""`shape`: the ops on extents in `tensor<?xindex>`, which the lowering of unranked tensors uses.

The dialect's types (`!shape.shape`, `!shape.size`, `!shape.witness`) and the ops that need them are not supported.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from qrt.ir.core.attribute_kinds import AttributeKind
from qrt.ir.core.attributes import Attribute, IntegerAttr
from qrt.ir.core.constraints import INDEX, add_type_constraint
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.folding import Fold, Folded, Folds
from qrt.ir.core.forms import FormParser, FormPrinter, PendingOperation
from qrt.ir.core.matching import constant_number, constant_of
from qrt.ir.core.operations import Operation, Value, incompatible
from qrt.ir.core.traits import COMMUTATIVE, CONSTANT_LIKE, PURE
from qrt.ir.dialects._shaped.types import ranked, shaped
from qrt.ir.text.dense import MAX_FOLDED, DenseElementsAttr
from qrt.types import IndexType, IntegerType, TensorType

_EXTENTS = "shape or extent tensor"

add_type_constraint(
    _EXTENTS,
    lambda type: isinstance(type, TensorType) and type.rank == 1 and isinstance(type.element, IndexType),
)


def _verify_shape_of(operation: Operation) -> None:
    given, result_type = shaped(operation.operands[0]), ranked(operation.results[0])
    assert result_type.shape is not None
    if given.rank is not None and result_type.shape[0] not in (None, given.rank):
        raise incompatible(operation, [TensorType((given.rank,), INDEX)])


# -- shape.const_shape -------------------------------------------------------------------------------------------------


def _parse_const_shape(parser: FormParser, pending: PendingOperation) -> None:
    scanner = parser.scanner
    pending.attributes.update(parser.optional_attributes())
    extents = scanner.bracketed("[]", lambda: scanner.integer(64, "an extent"), " before extents", " after extents")
    scanner.expect(":", " before the type")
    pending.result_types = [parser.type()]
    type = TensorType((len(extents),), INDEX)
    pending.attributes["shape"] = DenseElementsAttr(np.array(extents, np.int64), type)


def extents_of(operation: Operation) -> tuple[int, ...]:
    """Return the extents of a `shape.const_shape`."""
    return tuple(operation.attribute("shape", DenseElementsAttr).array.tolist())


def _is_extents(value: Attribute) -> bool:
    return isinstance(value, DenseElementsAttr) and value.type.element is INDEX and isinstance(value.type, TensorType)


_EXTENT_ATTRIBUTE = AttributeKind("index elements attribute", _is_extents, lambda parser: parser.attribute())


def _verify_const_shape(operation: Operation) -> None:
    shape, result_type = operation.attribute("shape", DenseElementsAttr), operation.results[0].type
    assert isinstance(result_type, TensorType)  # the constraint
    inferred = TensorType((shape.array.size,), INDEX)
    if result_type is not inferred:
        raise incompatible(operation, [inferred])
    if shape.array.ndim != 1:
        raise operation.op_error(f"attribute 'shape' must be elements of rank 1, got '{shape.type}'")


def _print_const_shape(printer: FormPrinter, operation: Operation) -> None:
    printer.attributes(operation, ("shape",))
    printer.word(f"[{', '.join(map(str, extents_of(operation)))}] : {operation.results[0].type}")


# -- folding -----------------------------------------------------------------------------------------------------------


def _known(value: Value) -> list[int] | None:
    """Return the extents of a constant shape; None if `value` is not constant, or longer than MAX_FOLDED."""
    constant = constant_of(value)
    if not isinstance(constant, DenseElementsAttr) or constant.array.size > MAX_FOLDED:
        return None
    extents: list[int] = constant.array.tolist()
    return extents


def _extents(numbers: Sequence[int], value: Value) -> Attribute | None:
    """Return a constant with these extents and the type of `value`; None unless that type has this static length."""
    type = TensorType((len(numbers),), INDEX)
    return DenseElementsAttr(np.array(numbers, np.int64), type) if value.type is type else None


def _folded(operation: Operation, *shapes: Sequence[int]) -> Folded:
    constants = [_extents(numbers, value) for numbers, value in zip(shapes, operation.results, strict=True)]
    known = [attribute for attribute in constants if attribute is not None]
    return [*known] if len(known) == len(constants) else None


def _fold_num_elements(operation: Operation, folds: Folds) -> Folded:
    extents = _known(operation.operands[0])
    return None if extents is None else _index(prod(extents))


def _index(number: int) -> Folded:
    """Return a number as an index constant; None if the number exceeds 64 bits, which is an error at run time."""
    return [IntegerAttr(number, INDEX)] if -(1 << 63) <= number < 1 << 63 else None


def _fold_get_extent(operation: Operation, folds: Folds) -> Folded:
    extents, index = _known(operation.operands[0]), constant_number(operation.operands[1])
    if extents is None or index is None or not 0 <= index < len(extents):
        return None
    return [IntegerAttr(extents[index], INDEX)]


def _fold_rank(operation: Operation, folds: Folds) -> Folded:
    extents = _known(operation.operands[0])
    return None if extents is None else [IntegerAttr(len(extents), INDEX)]


def _fold_dim(operation: Operation, folds: Folds) -> Folded:
    shape, index = getattr(operation.operands[0].type, "shape", None), constant_number(operation.operands[1])
    if shape is None or index is None or not 0 <= index < len(shape) or shape[index] is None:
        return None
    return [IntegerAttr(shape[index], INDEX)]


def _fold_split_at(operation: Operation, folds: Folds) -> Folded:
    extents, index = _known(operation.operands[0]), constant_number(operation.operands[1])
    if extents is None or index is None or not -len(extents) <= index <= len(extents):
        return None
    at = index + len(extents) if index < 0 else index
    return _folded(operation, extents[:at], extents[at:])


def _fold_concat(operation: Operation, folds: Folds) -> Folded:
    left, right = map(_known, operation.operands)
    return None if left is None or right is None else _folded(operation, [*left, *right])


def _fold_to_extent_tensor(operation: Operation, folds: Folds) -> Folded:
    source = operation.operands[0]
    if source.type is operation.results[0].type:
        return [source]
    extents = _known(source)
    return None if extents is None else _folded(operation, extents)


def broadcast_of(left: Sequence[int], right: Sequence[int]) -> list[int] | None:
    """Return the broadcast shape of two shapes; None if they are incompatible or an extent is negative."""
    rank = max(len(left), len(right))
    pairs = zip(*([1] * (rank - len(shape)) + list(shape) for shape in (left, right)), strict=True)
    extents = [a if b == 1 or a == b else b if a == 1 else -1 for a, b in pairs]
    return None if any(extent < 0 for extent in extents) else extents


def _fold_broadcast(operation: Operation, folds: Folds) -> Folded:
    shapes = operation.operands
    if len(shapes) == 1:
        return [shapes[0]] if shapes[0].type is operation.results[0].type else None
    known = [extents for extents in map(_known, shapes) if extents is not None]
    joined = broadcast_of(*known) if len(known) == len(shapes) == 2 else None
    return None if joined is None else _folded(operation, joined)


def _fold_is_broadcastable(operation: Operation, folds: Folds) -> Folded:
    return [IntegerAttr(-1, IntegerType(1))] if len(operation.operands) < 2 else None


def _fold_shape_eq(operation: Operation, folds: Folds) -> Folded:
    known = [_known(value) for value in operation.operands]
    return None if None in known else [IntegerAttr(-int(all(extents == known[0] for extents in known)), IntegerType(1))]


def _fold_arithmetic(operation: Operation, folds: Folds) -> Folded:
    """Fold `shape.add`, `shape.mul` and `shape.div` (which rounds down) of constants, and a sum with 0."""
    left, right = map(constant_number, operation.operands)
    name = operation.name.removeprefix("shape.")
    if name == "add" and right == 0:
        return [operation.operands[0]]
    if left is None or right is None or (name == "div" and right in (0, -1)):
        return None
    return _index({"add": left + right, "mul": left * right, "div": left // (right or 1)}[name])


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
        fold=_fold_arithmetic,
    )


def _of_shapes(name: str, result: str, fold: Fold, *canonicalize: str) -> Definition:
    """Define `shape.<name>`, an op on any number of shapes whose result meets the type constraint `result`."""
    is_test = result == "i1"
    return Definition(
        f"shape.{name}",
        operands=(f"shapes*: {_EXTENTS}",),
        results=(f"result: {result}",),
        traits={PURE, COMMUTATIVE},
        fold=fold,
        canonicalize=canonicalize,
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
        canonicalize=("shape.canonicalize: static_shape shape_of_reshape",),
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
        fold=_fold_split_at,
    ),
    Definition(
        "shape.const_shape",
        results=(f"result: {_EXTENTS}",),
        attributes={"shape": AttributeSpec(kind=_EXTENT_ATTRIBUTE, required=True)},
        traits={PURE, CONSTANT_LIKE},
        parse=_parse_const_shape,
        print=_print_const_shape,
        verify_signature=_verify_const_shape,
    ),
    Definition(
        "shape.dim",
        operands=("value: tensor or memref", "index: index"),
        results=("extent: index",),
        traits={PURE},
        fold=_fold_dim,
        format="$value `,` $index attr-dict `:` type($value) `,` type($index) `->` type($extent)",
    ),
    Definition(
        "shape.rank",
        operands=(f"shape: {_EXTENTS}",),
        results=("rank: index",),
        traits={PURE},
        fold=_fold_rank,
        format="$shape attr-dict `:` type($shape) `->` type($rank)",
        canonicalize=("shape.canonicalize: rank_of_shape",),
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
        fold=_fold_concat,
        format=_SIZES,
    ),
    Definition(
        "shape.to_extent_tensor",
        operands=(f"input: {_EXTENTS}",),
        results=(f"result: {_EXTENTS}",),
        traits={PURE},
        fold=_fold_to_extent_tensor,
        format="$input attr-dict `:` type($input) `->` type($result)",
    ),
    _of_shapes(
        "broadcast",
        _EXTENTS,
        _fold_broadcast,
        "shape.canonicalize: known_rank joined_constants only_one without_casts once without_scalars",
    ),
    _of_shapes("is_broadcastable", "i1", _fold_is_broadcastable, "shape.canonicalize: once"),
    _of_shapes("shape_eq", "i1", _fold_shape_eq),
    _arithmetic("add"),
    _arithmetic("mul"),
    _arithmetic("div"),
]
