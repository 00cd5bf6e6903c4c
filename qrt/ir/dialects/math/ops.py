"""`math`: element-wise functions of floats, and functions that count bits."""

import numpy as np

from qrt.ir.core.constraints import element_of, same_as
from qrt.ir.core.define import Definition
from qrt.ir.core.folding import Folded, Folds
from qrt.ir.core.matching import constant_of
from qrt.ir.core.operations import Operation
from qrt.ir.core.traits import ELEMENTWISE, PURE, SAME_OPERANDS_AND_RESULT_SHAPE, SAME_OPERANDS_AND_RESULT_TYPE
from qrt.ir.dialects.arith.ops import BOOL, FASTMATH, FLOAT, INTEGER, elementwise, flag_attributes, result_of_test
from qrt.ir.dialects.arith.scalars import constant_value, fold_constants

_EXACT = "absf ceil floor roundeven"
_INEXACT = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc "
    "cbrt rsqrt"
)
"""Functions that are never folded: upstream folds them with the C library, whose last bit varies, except rsqrt, which
upstream does not fold."""
_TRAITS = (PURE, ELEMENTWISE)


def _fold_as_host(operation: Operation, folds: Folds) -> Folded:
    """Fold constants of types f32 and f64 only, because upstream folds by the C library's functions of these types."""
    native = getattr(element_of(operation.operands[0].type), "name", "") in ("f32", "f64")
    return fold_constants(operation, folds) if native else None


def _fold_sqrt(operation: Operation, folds: Folds) -> Folded:
    """Fold the square root of a constant, unless its sign is negative (even -0.0), as in upstream."""
    value = constant_value(constant_of(operation.operands[0]))
    return None if value is None or bool(np.signbit(value).any()) else _fold_as_host(operation, folds)


def _test(name: str) -> Definition:
    return Definition(
        name,
        operands=(f"operand: {FLOAT}",),
        results=(f"result: {BOOL}",),
        attributes=flag_attributes(FASTMATH),
        traits=_TRAITS,
        infer={"result": result_of_test("operand")},
        format="$operand attr-dict `:` type($operand)",
        fold=fold_constants,
    )


OPS = [
    *(elementwise(f"math.{name}", ("operand",), FLOAT, FASTMATH, fold=fold_constants) for name in _EXACT.split()),
    *(elementwise(f"math.{name}", ("operand",), FLOAT, FASTMATH, fold=_fold_as_host) for name in ("round", "trunc")),
    elementwise("math.sqrt", ("operand",), FLOAT, FASTMATH, fold=_fold_sqrt),
    *(elementwise(f"math.{name}", ("operand",), FLOAT, FASTMATH) for name in _INEXACT.split()),
    *(elementwise(f"math.{name}", ("lhs", "rhs"), FLOAT, FASTMATH) for name in ("atan2", "powf")),
    elementwise("math.copysign", ("lhs", "rhs"), FLOAT, FASTMATH, fold=fold_constants),
    elementwise("math.fma", ("a", "b", "c"), FLOAT, FASTMATH),
    *(
        elementwise(f"math.{name}", ("operand",), INTEGER, fold=fold_constants)
        for name in ("absi", "ctlz", "cttz", "ctpop")
    ),
    elementwise("math.ipowi", ("lhs", "rhs"), INTEGER, fold=fold_constants),
    *map(_test, ("math.isfinite", "math.isinf", "math.isnan", "math.isnormal")),
    Definition(
        "math.clampf",
        operands=(f"value: {FLOAT}", f"min: {FLOAT}", f"max: {FLOAT}"),
        results=(f"result: {FLOAT}",),
        attributes=flag_attributes(FASTMATH),
        traits=(*_TRAITS, SAME_OPERANDS_AND_RESULT_TYPE),
        format=f"$value `to` `[` $min `,` $max `]` {FASTMATH} attr-dict `:` type($result)",
    ),
    Definition(
        "math.fpowi",
        operands=(f"lhs: {FLOAT}", f"rhs: {INTEGER}"),
        results=(f"result: {FLOAT}",),
        attributes=flag_attributes(FASTMATH),
        traits=(SAME_OPERANDS_AND_RESULT_SHAPE, *_TRAITS),
        infer={"result": same_as("lhs")},
        format=f"$lhs `,` $rhs {FASTMATH} attr-dict `:` type($lhs) `,` type($rhs)",
    ),
    Definition(
        "math.sincos",
        operands=(f"operand: {FLOAT}",),
        results=(f"sin: {FLOAT}", f"cos: {FLOAT}"),
        attributes=flag_attributes(FASTMATH),
        traits=_TRAITS,
        infer={"sin": same_as("operand"), "cos": same_as("operand")},
        format=f"$operand {FASTMATH} attr-dict `:` type($operand)",
    ),
]
