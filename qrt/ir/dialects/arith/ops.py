"""The ops of `arith`: constants, element-wise arithmetic, conversions, comparisons and selections."""

import operator
from collections.abc import Callable, Iterable, Sequence

from qrt.ir.core import attribute_kinds as kinds
from qrt.ir.core.attribute_kinds import ENUMERATIONS, enumeration
from qrt.ir.core.attributes import IntegerAttr
from qrt.ir.core.constraints import (
    I1,
    INDEX,
    Relation,
    add_type_constraint,
    element_of,
    is_integer,
    same_as,
    with_element,
    with_element_type,
)
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.folding import Fold
from qrt.ir.core.forms import FormParser, FormPrinter, PendingOperation
from qrt.ir.core.matching import constant_of
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import (
    COMMUTATIVE,
    ELEMENTWISE,
    NO_MEMORY_EFFECT,
    PURE,
    SAME_OPERANDS_AND_RESULT_SHAPE,
    SAME_OPERANDS_AND_RESULT_TYPE,
    SAME_TYPE_OPERANDS,
    Trait,
)
from qrt.ir.dialects.arith.constant import CONSTANT
from qrt.ir.dialects.arith.fold import FOLDS
from qrt.ir.dialects.arith.scalars import width_of
from qrt.ir.text.dense import DenseElementsAttr
from qrt.ops.elementwise import FLOAT_PREDICATES, INTEGER_PREDICATES, ROUNDING_MODES
from qrt.types import FloatType, IndexType, IntegerType, MemRefType, TensorType, Type

FASTMATH_FLAGS = enumeration("arith.fastmath", "reassoc nnan ninf nsz arcp contract afn", ",", every="fast")
OVERFLOW_FLAGS = enumeration("arith.overflow", "nsw nuw", ", ")
OVERFLOW = ENUMERATIONS["arith.overflow"]

# -- element-wise ------------------------------------------------------------------------------------------------------

FASTMATH = "(`fastmath` `` $fastmath^)?"
_OVERFLOW, _EXACT, _ROUNDING = "(`overflow` `` $overflowFlags^)?", "(`exact` $isExact^)?", "($roundingmode^)?"
_NONE = ENUMERATIONS["arith.fastmath"].attribute("none")
FLAGS: dict[str, AttributeSpec] = {
    "fastmath": AttributeSpec(kind=FASTMATH_FLAGS, default=_NONE),
    "overflowFlags": AttributeSpec(kind=OVERFLOW_FLAGS, default=OVERFLOW.attribute("none")),
    "isExact": AttributeSpec(kind=kinds.UNIT),
    "roundingmode": AttributeSpec(kind=kinds.keyword(ROUNDING_MODES, 32)),
}
"""The optional attributes that the custom formats print after the operands."""
FLOAT, INTEGER, BOOL = "floating-point-like", "signless-integer-like", "bool-like"
_TOTAL: tuple[Trait, ...] = (PURE, ELEMENTWISE)
_PARTIAL: tuple[Trait, ...] = (NO_MEMORY_EFFECT, ELEMENTWISE)
"""The traits of quotients: not speculatable in general, because division by zero is undefined."""


def flag_attributes(*groups: str) -> dict[str, AttributeSpec]:
    """Return the specifications of the flag attributes, such as `fastmath`, that occur in these format groups."""
    return {name: spec for name, spec in FLAGS.items() if any(f"${name}^" in group for group in groups)}


_CANONICALIZE: dict[str, tuple[str, ...]] = {
    "arith.addi": (
        "arith.canonicalize: sum_with_constant addi_of_negation",
        "vector.canonicalize_reductions: added_contraction",
    ),
    "arith.addui_extended": ("arith.canonicalize: low_half",),
    "arith.andi": ("arith.canonicalize: bitwise_of_extensions",),
    "arith.bitcast": ("arith.canonicalize: of_bitcast",),
    "arith.cmpi": (
        "arith.canonicalize: cmpi_constant_last cmpi_of_extensions",
        "vector.canonicalize_masks: compared_step",
    ),
    "arith.divf": ("arith.canonicalize: of_negations",),
    "arith.extsi": ("arith.canonicalize: of_extsi extsi_of_extui",),
    "arith.extui": ("arith.canonicalize: of_extui",),
    "arith.index_cast": ("arith.canonicalize: of_extsi",),
    "arith.index_castui": ("arith.canonicalize: of_extui",),
    "arith.mulf": ("arith.canonicalize: of_negations",),
    "arith.muli": ("arith.canonicalize: muli_of_muli",),
    "arith.mulsi_extended": ("arith.canonicalize: low_half signed_product_with_one",),
    "arith.mului_extended": ("arith.canonicalize: low_half",),
    "arith.ori": ("arith.canonicalize: bitwise_of_extensions",),
    "arith.subi": ("arith.canonicalize: sum_with_constant subi_of_subi",),
    "arith.truncf": ("arith.canonicalize: truncf_of_extf",),
    "arith.trunci": (
        "arith.canonicalize: trunci_of_extui_of_wider trunci_of_extsi_of_wider trunci_of_trunci",
        "arith.canonicalize: trunci_of_extsi_of_narrower trunci_of_extui_of_narrower trunci_of_shrsi",
    ),
    "arith.xori": ("arith.canonicalize: not_cmpi bitwise_of_extensions",),
}


def elementwise(
    name: str,
    operands: Sequence[str],
    type: str,
    group: str = "",
    traits: Sequence[Trait] = _TOTAL,
    fold: Fold | None = None,
) -> Definition:
    """Define an element-wise op, whose operands and result have the same type.

    `type` is the constraint on this type, `group` the optional group of flags in the format, such as `FASTMATH`.
    """
    return Definition(
        name,
        operands=tuple(f"{operand}: {type}" for operand in operands),
        results=(f"result: {type}",),
        attributes=flag_attributes(group),
        traits=(*traits, SAME_OPERANDS_AND_RESULT_TYPE),
        format=f"{' `,` '.join(f'${operand}' for operand in operands)} {group} attr-dict `:` type($result)",
        fold=fold,
        canonicalize=_CANONICALIZE.get(name, ()),
        speculatable=has_safe_constant if NO_MEMORY_EFFECT in traits else None,
    )


def has_safe_constant(operation: Operation) -> bool:
    """Return True if a division, remainder or shift has a constant right operand for which it is always defined.

    A safe divisor is neither 0 nor -1, a safe shift is less than the width.
    """
    constant, type = constant_of(operation.operands[1]), element_of(operation.operands[1].type)
    if not isinstance(constant, IntegerAttr | DenseElementsAttr):
        return False
    if isinstance(constant, IntegerAttr):
        values = [constant.value]
    else:
        values = [int(constant.first)] if constant.is_splat else constant.array.ravel().tolist()
    if "sh" in operation.name:
        width = type.width if isinstance(type, IntegerType) else 64
        return all(0 <= value < width for value in values)
    return all(value not in (0, -1) for value in values)


_COMMUTES: tuple[Trait, ...] = (*_TOTAL, COMMUTATIVE)


def _binary(names: str, type: str, group: str = "", traits: Sequence[Trait] = _TOTAL) -> list[Definition]:
    full = [f"arith.{name}" for name in names.split()]
    return [elementwise(name, ("lhs", "rhs"), type, group, traits, FOLDS[name]) for name in full]


def _extended(name: str, results: tuple[str, str], types: str, infer: dict[str, Relation]) -> Definition:
    """Define an op on two integers with two results, such as `arith.mulsi_extended`.

    `types` is the end of the format, after the colon. `infer` maps the name of an operand or result to the relation
    that infers its type.
    """
    return Definition(
        name,
        operands=(f"lhs: {INTEGER}", f"rhs: {INTEGER}"),
        results=results,
        traits=_COMMUTES,
        infer=infer,
        format=f"$lhs `,` $rhs attr-dict `:` {types}",
        fold=FOLDS[name],
        canonicalize=_CANONICALIZE.get(name, ()),
    )


# -- conversions -------------------------------------------------------------------------------------------------------

_FIXED = "signless-fixed-width-integer-like"
_INDEXED = "signless-integer-like or memref of signless-integer"
_BITS = "signless-integer-or-float-like or memref of signless-integer or float"
add_type_constraint(_FIXED, lambda type: is_integer(type) and element_of(type) is not INDEX)
add_type_constraint(_INDEXED, lambda type: _has_element(type, IntegerType, IndexType))
add_type_constraint(_BITS, lambda type: _has_element(type, IntegerType, FloatType))
Widths = Callable[[int, int], bool]
Class = type[IntegerType | IndexType | FloatType]


def _has_element(type: Type, *classes: Class) -> bool:
    element = element_of(type)
    if isinstance(type, MemRefType) and type.shape is None:
        return False
    return isinstance(element, classes) and (not isinstance(element, IntegerType) or element.is_signless)


def _check_shapes(operation: Operation) -> None:
    """Raise VerifyError unless the operands and results are all tensors of one shape, or none of them is a tensor."""
    tensors = [
        value.type for value in (operation.operands[0], *operation.results) if isinstance(value.type, TensorType)
    ]
    shapes = {type.shape for type in tensors}
    if tensors and (len(tensors) == 1 or len(shapes) > 1):
        raise operation.op_error("failed to verify that input and output have the same tensor dimensions")


_SAME_DIMENSIONS = Trait("SameTensorDimensions", verify=_check_shapes)


def _cast(name: str, source: str, target: str, fits: Widths, *groups: str, scale: str = "") -> Definition:
    """Define `arith.<name>`, a conversion from types that meet `source` to types that meet `target`.

    `fits(width, result width)` is True for the supported widths, where `index` has width 0. `groups` are optional
    groups of the format. `scale` is the constraint on the type of a second operand, if there is one.
    """

    def verify(operation: Operation) -> None:
        given, result = operation.operands[0].type, operation.results[0].type
        if not fits(width_of(given), width_of(result)) or _encoding(given) != _encoding(result):
            types = ", ".join(f"'{value.type}'" for value in operation.operands)
            plural = "s" * (len(operation.operands) - 1)
            raise operation.op_error(f"operand type{plural} {types} and result type '{result}' are cast incompatible")

    scaled = ("`,` $scale", "`,` type($scale)") if scale else ("", "")
    attributes = flag_attributes(*groups)
    if "fastmath" in attributes:
        attributes["fastmath"] = AttributeSpec(kind=FASTMATH_FLAGS)  # no default: casts print an explicit `none`
    return Definition(
        f"arith.{name}",
        operands=(f"in: {source}", *((f"scale: {scale}",) if scale else ())),
        results=(f"out: {target}",),
        attributes=attributes,
        traits=_TOTAL if scale else (SAME_OPERANDS_AND_RESULT_SHAPE, _SAME_DIMENSIONS, *_TOTAL),
        format=f"$in {scaled[0]} {' '.join(groups)} attr-dict `:` type($in) {scaled[1]} `to` type($out)",
        verify_signature=verify,
        fold=FOLDS.get(f"arith.{name}"),
        canonicalize=_CANONICALIZE.get(f"arith.{name}", ()),
    )


def _encoding(type: Type) -> str | None:
    return type.encoding if isinstance(type, TensorType) else None


def _any_width(given: int, result: int) -> bool:
    return True


def _index_or_not(given: int, result: int) -> bool:
    return (given == 0) != (result == 0)


# -- comparison and selection ------------------------------------------------------------------------------------------


def _comparison(name: str, type: str, predicates: Iterable[str], group: str) -> Definition:
    return Definition(
        name,
        operands=(f"lhs: {type}", f"rhs: {type}"),
        results=(f"result: {BOOL}",),
        attributes={
            "predicate": AttributeSpec(kind=kinds.keyword(predicates), required=True),
            **flag_attributes(group),
        },
        traits=(*_TOTAL, SAME_TYPE_OPERANDS),
        infer={"result": result_of_test("lhs")},
        format=f"$predicate `,` $lhs `,` $rhs {group} attr-dict `:` type($lhs)",
        fold=FOLDS[name],
        canonicalize=_CANONICALIZE.get(name, ()),
    )


def result_of_test(source: str) -> Relation:
    """Return the type relation of a comparison: the result has i1 elements and the shape of the operand `source`."""
    return with_element_type(source, I1, "result type has i1 element type and same shape as operands")


def _parse_select(parser: FormParser, pending: PendingOperation) -> None:
    pending.operands = parser.operand_list()
    pending.attributes.update(parser.optional_attributes())
    parser.scanner.expect(":", " before the type")
    type = parser.type()
    condition: Type = I1
    if parser.scanner.accept(","):
        condition, type = type, parser.type()
    pending.operand_types, pending.result_types = [condition, type, type], [type]


def _print_select(printer: FormPrinter, operation: Operation) -> None:
    printer.operands(operation.operands)
    printer.attributes(operation)
    condition = operation.operands[0].type
    printer.word(f": {'' if condition is I1 else f'{condition}, '}{operation.results[0].type}")


def _verify_select(operation: Operation) -> None:
    condition, result = operation.operands[0].type, operation.results[0].type
    if condition is not I1 and condition is not with_element(result, I1):
        raise operation.op_error("failed to verify that condition is signless i1 or has matching shape")


SELECT = Definition(
    "arith.select",
    operands=(f"condition: {BOOL}", "true_value", "false_value"),
    results=("result",),
    traits=(Trait("ScalarConditionOrMatchingShape", verify=_verify_select), *_TOTAL),
    infer={"true_value": same_as("result"), "false_value": same_as("result")},
    parse=_parse_select,
    print=_print_select,
    fold=FOLDS["arith.select"],
    canonicalize=("arith.canonicalize: select_of_not select_of_select select_of_bits",),
)

OPS = [
    CONSTANT,
    SELECT,
    *_binary("addf mulf maximumf minimumf maxnumf minnumf", FLOAT, FASTMATH, _COMMUTES),
    *_binary("subf divf remf", FLOAT, FASTMATH),
    elementwise("arith.negf", ("operand",), FLOAT, FASTMATH, fold=FOLDS["arith.negf"]),
    *_binary("addi muli", INTEGER, _OVERFLOW, _COMMUTES),
    *_binary("subi", INTEGER, _OVERFLOW),
    *_binary("shli", INTEGER, _OVERFLOW),
    *_binary("maxsi minsi maxui minui andi ori xori", INTEGER, "", _COMMUTES),
    *_binary("divsi divui", INTEGER, _EXACT, _PARTIAL),
    *_binary("ceildivsi ceildivui", INTEGER, "", _PARTIAL),
    *_binary("shrsi shrui", INTEGER, _EXACT),
    *_binary("floordivsi remsi remui", INTEGER),
    _extended(
        "arith.addui_extended",
        (f"sum: {INTEGER}", f"overflow: {BOOL}"),
        "type($sum) `,` type($overflow)",
        {"rhs": same_as("lhs"), "sum": same_as("lhs")},
    ),
    *(
        _extended(
            f"arith.{name}_extended",
            (f"low: {INTEGER}", f"high: {INTEGER}"),
            "type($lhs)",
            {"rhs": same_as("lhs"), "low": same_as("lhs"), "high": same_as("lhs")},
        )
        for name in ("mulsi", "mului")
    ),
    _cast("extsi", _FIXED, _FIXED, operator.lt),
    _cast("extui", _FIXED, _FIXED, operator.lt),
    _cast("trunci", _FIXED, _FIXED, operator.gt, _OVERFLOW),
    _cast("extf", FLOAT, FLOAT, operator.lt, FASTMATH),
    _cast("truncf", FLOAT, FLOAT, operator.gt, _ROUNDING, FASTMATH),
    _cast("scaling_extf", FLOAT, FLOAT, operator.lt, FASTMATH, scale=FLOAT),
    _cast("scaling_truncf", FLOAT, FLOAT, operator.gt, _ROUNDING, FASTMATH, scale=FLOAT),
    _cast("sitofp", _FIXED, FLOAT, _any_width),
    _cast("uitofp", _FIXED, FLOAT, _any_width),
    _cast("fptosi", FLOAT, _FIXED, _any_width),
    _cast("fptoui", FLOAT, _FIXED, _any_width),
    *(_cast(name, _INDEXED, _INDEXED, _index_or_not) for name in ("index_cast", "index_castui")),
    _cast("bitcast", _BITS, _BITS, operator.eq),
    _comparison("arith.cmpi", INTEGER, INTEGER_PREDICATES, ""),
    _comparison("arith.cmpf", FLOAT, FLOAT_PREDICATES, FASTMATH),
]
