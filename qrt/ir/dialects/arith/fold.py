"""Folders of `arith`, the same as upstream's, except that none changes a value or folds an undefined result."""

from collections.abc import Callable
from math import isnan
from typing import Any

import numpy as np

from qrt.ir.core.attributes import Attribute, FloatAttr, IntegerAttr
from qrt.ir.core.constraints import I1, element_of
from qrt.ir.core.folding import Fold, Folded, Folds
from qrt.ir.core.matching import constant_of, defining_op
from qrt.ir.core.operations import Operation
from qrt.ir.dialects.arith.scalars import constant_value, filled, fold_constants, splat, splat_is, splat_number
from qrt.ir.text.dense import DenseElementsAttr
from qrt.ops.elementwise import FLOAT_PREDICATES, INTEGER_PREDICATES
from qrt.types import FloatType, TensorType

Identity = Callable[[Operation], Folded]


def rules(*identities: Identity, constants: Fold = fold_constants) -> Fold:
    """Return a folder that tries the identities in order, and then `constants`, which folds constant operands."""

    def fold(operation: Operation, folds: Folds) -> Folded:
        for identity in identities:
            folded = identity(operation)
            if folded is not None:
                return folded
        return constants(operation, folds)

    return fold


# -- identities --------------------------------------------------------------------------------------------------------


def right(number: int) -> Identity:
    """Return the identity ``x op number -> x``."""
    return lambda op: [op.operands[0]] if splat_is(op.operands[1], number) else None


def right_bound(signed: bool, greatest: bool, keeps: int) -> Identity:
    """Return the identity that folds ``x op bound``, to x if `keeps` is 0, and to the bound if `keeps` is 1.

    The bound is the greatest value of the integer type, or the least value if `greatest` is False. `signed` selects the
    signed or the unsigned range.
    """

    def fold(op: Operation) -> Folded:
        width = getattr(element_of(op.operands[0].type), "width", 64)
        bound = (1 << (width - 1)) - 1 if greatest else -(1 << (width - 1))
        if not signed:
            bound = -1 if greatest else 0
        return [op.operands[keeps]] if splat_number(op.operands[1]) == bound else None

    return fold


def right_float(test: Callable[[Any], Any]) -> Identity:
    """Return the identity ``x op constant -> x`` for float constants for which `test` is True."""

    def fold(op: Operation) -> Folded:
        constant = splat(op.operands[1])
        return [op.operands[0]] if constant is not None and bool(test(constant)) else None

    return fold


def absorbs(number: int) -> Identity:
    """Return the identity ``x op number -> number``."""
    return lambda op: [op.operands[1]] if splat_is(op.operands[1], number) else None


def same(op: Operation) -> Folded:
    """Fold ``x op x`` to ``x``."""
    return [op.operands[0]] if op.operands[0] is op.operands[1] else None


def same_is_zero(op: Operation) -> Folded:
    """Fold ``x op x`` to ``0``."""
    return _zero(op) if op.operands[0] is op.operands[1] else None


def by_one_is_zero(op: Operation) -> Folded:
    """Fold ``x op 1`` to ``0``."""
    return _zero(op) if splat_is(op.operands[1], 1) else None


def signed_one(fold: Identity) -> Identity:
    """Return the identity `fold`, for signed division by 1, restricted to types other than i1.

    In i1 the constant 1 means -1, and -1 / -1 overflows.
    """
    return lambda op: None if element_of(op.operands[0].type) is I1 else fold(op)


def _zero(op: Operation) -> Folded:
    zero = filled(0, op.results[0].type)
    return None if zero is None else [zero]


def undoes(inner: str) -> Identity:
    """Return the identity ``(a inner b) op b -> a``, such as ``(a + b) - b -> a``."""

    def fold(op: Operation) -> Folded:
        source = defining_op(op.operands[0], inner)
        return [source.operands[0]] if source is not None and source.operands[1] is op.operands[1] else None

    return fold


def _addi_of_subi(op: Operation) -> Folded:
    """Fold ``b + (a - b)`` to ``a``."""
    source = defining_op(op.operands[1], "arith.subi")
    return [source.operands[0]] if source is not None and source.operands[1] is op.operands[0] else None


def _subi_of_addi(op: Operation) -> Folded:
    """Fold ``(a + b) - a`` to ``b``."""
    source = defining_op(op.operands[0], "arith.addi")
    return [source.operands[1]] if source is not None and source.operands[0] is op.operands[1] else None


def _div_of_muli(flag: str) -> Identity:
    """Return the identity ``(a * b) / b -> a``, which requires that the product has the overflow flag `flag`."""

    def fold(op: Operation) -> Folded:
        product = defining_op(op.operands[0], "arith.muli")
        if product is None or flag not in str(product.attributes.get("overflowFlags", "")):
            return None
        for factor, other in (product.operands, product.operands[::-1]):
            if factor is op.operands[1]:
                return [other]
        return None

    return fold


def _complement(op: Operation) -> Operation | None:
    """Return the `arith.xori` with -1 that computes one operand of `op` from the other; None if there is none."""
    for value, other in (op.operands, op.operands[::-1]):
        negation = defining_op(other, "arith.xori")
        if negation is not None and negation.operands[0] is value and splat_number(negation.operands[1]) == -1:
            return negation
    return None


def _andi_of_complement(op: Operation) -> Folded:
    return None if _complement(op) is None else _zero(op)


def _ori_of_complement(op: Operation) -> Folded:
    negation = _complement(op)
    return None if negation is None else [negation.operands[1]]


def _idempotent(op: Operation) -> Folded:
    """Fold ``a op (a op b)`` to ``a op b``."""
    for value, other in (op.operands, op.operands[::-1]):
        inner = defining_op(value, op.name)
        if inner is not None and other in inner.operands:
            return [value]
    return None


def _xori_twice(op: Operation) -> Folded:
    """Fold ``(x ^ a) ^ a`` to ``x``."""
    for value, other in (op.operands, op.operands[::-1]):
        inner = defining_op(value, "arith.xori")
        if inner is not None:
            for remaining, dropped in (inner.operands, inner.operands[::-1]):
                if dropped is other:
                    return [remaining]
    return None


def _twice(op: Operation) -> Folded:
    """Fold ``op(op(x))`` to ``x``."""
    inner = defining_op(op.operands[0], op.name)
    return None if inner is None else [inner.operands[0]]


def _to_itself(op: Operation) -> Folded:
    return [op.operands[0]] if op.operands[0].type is op.results[0].type else None


def _there_and_back(op: Operation) -> Folded:
    """Fold ``op(op(x))`` to ``x``, if the result has the type of x."""
    inner = defining_op(op.operands[0], op.name)
    return [inner.operands[0]] if inner is not None and inner.operands[0].type is op.results[0].type else None


def _index_there_and_back(op: Operation) -> Folded:
    """Fold ``op(op(x))`` to ``x``, if the result has the type of x and the intermediate type is at least as wide.

    Upstream does not check the width, and may therefore change the value.
    """
    between, x = (getattr(element_of(type), "width", 64) for type in (op.operands[0].type, op.results[0].type))
    return _there_and_back(op) if between >= x else None


# -- ops with special rules --------------------------------------------------------------------------------------------


def _sum_with_zero(op: Operation) -> Folded:
    """Fold ``addui_extended(x, 0)`` to ``x, 0``: the sum is x, the overflow is 0."""
    overflow = filled(0, op.results[1].type)
    return [op.operands[0], overflow] if overflow is not None and splat_is(op.operands[1], 0) else None


def _product_with_zero(op: Operation) -> Folded:
    return [op.operands[1]] * 2 if splat_is(op.operands[1], 0) else None


def _product_with_one(op: Operation) -> Folded:
    high = filled(0, op.results[1].type)
    return [op.operands[0], high] if high is not None and splat_is(op.operands[1], 1) else None


def fold_select(op: Operation, folds: Folds) -> Folded:
    """Fold a selection with a constant condition or equal branches.

    Also fold ``select(c, true, false) -> c``, ``select(a == b, a, b) -> b`` and ``select(a != b, a, b) -> a``.
    """
    condition, true, false = op.operands
    if true is false:
        return [true]
    known = splat_number(condition)
    if known is not None:
        return [true if known else false]
    if op.results[0].type is I1 and splat_number(true) == -1 and splat_number(false) == 0:
        return [condition]
    comparison = defining_op(condition, "arith.cmpi")
    if comparison is not None and {true, false} == set(comparison.operands):
        predicate = predicate_of(comparison)
        if predicate in ("eq", "ne"):
            return [true if predicate == "ne" else false]
    return fold_constants(op, folds) if isinstance(constant_of(condition), DenseElementsAttr) else None


def _cmpi_of_same(op: Operation) -> Folded:
    if op.operands[0] is not op.operands[1]:
        return None
    result = filled(predicate_of(op) in ("eq", "sle", "sge", "ule", "uge"), op.results[0].type)
    return None if result is None else [result]


def predicate_of(op: Operation) -> str:
    """Return the name of the predicate of an `arith.cmpi`."""
    number: int = op.attributes["predicate"].python
    return tuple(INTEGER_PREDICATES)[number]


def _cmpi_of_bool(op: Operation) -> Folded:
    """Fold ``x != false``, ``x == true`` and ``ext(x) != 0`` to ``x``, for x of type i1."""
    left, number, predicate = op.operands[0], splat_number(op.operands[1]), predicate_of(op)
    if element_of(left.type) is I1:
        return [left] if (predicate, number) in (("ne", 0), ("eq", -1)) else None
    if predicate != "ne" or number != 0 or isinstance(left.type, TensorType):
        return None
    source = defining_op(left, "arith.extsi") or defining_op(left, "arith.extui")
    return [source.operands[0]] if source is not None and element_of(source.operands[0].type) is I1 else None


def _cmpf(op: Operation, folds: Folds) -> Folded:
    """Fold a comparison of two scalar float constants, or of a scalar with a constant NaN. Tensors are not folded."""
    constants = [constant_of(value) for value in op.operands]
    if any(isinstance(constant, FloatAttr) and isnan(constant.value) for constant in constants):
        name = tuple(FLOAT_PREDICATES)[op.attributes["predicate"].python]
        return [IntegerAttr(int(name[0] == "u" or name == "true"), I1)]
    return fold_constants(op, folds) if all(isinstance(c, FloatAttr) for c in constants) else None


def _lossless(op: Operation, folds: Folds) -> Folded:
    """Fold the conversion of a constant to another float format, unless the conversion changes the value."""
    folded = fold_constants(op, folds)
    before = constant_value(constant_of(op.operands[0]))
    if folded is None or not isinstance(folded[0], Attribute):
        return None
    after = constant_value(folded[0])
    with np.errstate(all="ignore"):
        wide = [value.astype(np.float64) for value in (before, after)]
    return folded if bool(np.all((wide[0] == wide[1]) | (np.isnan(wide[0]) & np.isnan(wide[1])))) else None


def _trunci_of_ext(op: Operation) -> Folded:
    """Fold ``trunc(ext(x))`` to ``x``, if the result has the type of x."""
    source = defining_op(op.operands[0], "arith.extui") or defining_op(op.operands[0], "arith.extsi")
    return [source.operands[0]] if source is not None and source.operands[0].type is op.results[0].type else None


def _truncf_of_extf(op: Operation) -> Folded:
    """Fold ``truncf(extf(x))`` to ``x``, if the result has x's type and the wider format has all of its values."""
    source = defining_op(op.operands[0], "arith.extf")
    if source is None or source.operands[0].type is not op.results[0].type:
        return None
    inner, outer = (element_of(value.type) for value in (source.operands[0], source.results[0]))
    assert isinstance(inner, FloatType)
    assert isinstance(outer, FloatType)
    return [source.operands[0]] if holds_every_value(outer, inner) else None


def holds_every_value(wide: FloatType, narrow: FloatType) -> bool:
    """Return True if `wide` represents every number of `narrow` (APFloat's `isRepresentableBy`)."""
    a, b = wide.format, narrow.format
    return a.max_exponent >= b.max_exponent and a.min_exponent <= b.min_exponent and a.precision >= b.precision


_is_negative_zero = lambda x: (x == 0) & np.signbit(x)  # noqa: E731
_is_positive_zero = lambda x: (x == 0) & ~np.signbit(x)  # noqa: E731

FOLDS: dict[str, Fold] = {
    "arith.addi": rules(right(0), undoes("arith.subi"), _addi_of_subi),
    "arith.subi": rules(same_is_zero, right(0), undoes("arith.addi"), _subi_of_addi),
    "arith.muli": rules(absorbs(0), right(1)),
    "arith.addui_extended": rules(_sum_with_zero),
    "arith.mulsi_extended": rules(_product_with_zero),
    "arith.mului_extended": rules(_product_with_zero, _product_with_one),
    "arith.divsi": rules(signed_one(right(1)), _div_of_muli("nsw")),
    "arith.divui": rules(right(1), _div_of_muli("nuw")),
    "arith.ceildivsi": rules(signed_one(right(1))),
    "arith.ceildivui": rules(right(1)),
    "arith.floordivsi": rules(signed_one(right(1))),
    "arith.remsi": rules(signed_one(by_one_is_zero)),
    "arith.remui": rules(by_one_is_zero),
    "arith.andi": rules(same, absorbs(0), right(-1), _andi_of_complement, _idempotent),
    "arith.ori": rules(same, right(0), absorbs(-1), _ori_of_complement),
    "arith.xori": rules(right(0), same_is_zero, _xori_twice),
    "arith.shli": rules(right(0)),
    "arith.shrsi": rules(right(0)),
    "arith.shrui": rules(right(0)),
    "arith.maxsi": rules(same, right_bound(True, True, 1), right_bound(True, False, 0)),
    "arith.minsi": rules(same, right_bound(True, False, 1), right_bound(True, True, 0)),
    "arith.maxui": rules(same, right_bound(False, True, 1), right_bound(False, False, 0)),
    "arith.minui": rules(same, right_bound(False, False, 1), right_bound(False, True, 0)),
    "arith.addf": rules(right_float(_is_negative_zero)),
    "arith.subf": rules(right_float(_is_positive_zero)),
    "arith.mulf": rules(right_float(lambda x: x == 1)),
    "arith.divf": rules(right_float(lambda x: x == 1)),
    "arith.remf": fold_constants,
    "arith.negf": rules(_twice),
    "arith.maximumf": rules(same, right_float(lambda x: x == -np.inf)),
    "arith.minimumf": rules(same, right_float(lambda x: x == np.inf)),
    "arith.maxnumf": rules(same, right_float(np.isnan)),
    "arith.minnumf": rules(same, right_float(np.isnan)),
    "arith.extsi": fold_constants,
    "arith.extui": fold_constants,
    "arith.trunci": rules(_trunci_of_ext),
    "arith.extf": _lossless,
    "arith.truncf": rules(_truncf_of_extf, constants=_lossless),
    "arith.sitofp": fold_constants,
    "arith.uitofp": fold_constants,
    "arith.fptosi": fold_constants,
    "arith.fptoui": fold_constants,
    "arith.index_cast": rules(_index_there_and_back),
    "arith.index_castui": rules(_index_there_and_back),
    "arith.bitcast": rules(_to_itself, _there_and_back),
    "arith.cmpi": rules(_cmpi_of_same, _cmpi_of_bool),
    "arith.cmpf": _cmpf,
    "arith.select": fold_select,
}
"""The fold of each op, by name."""
