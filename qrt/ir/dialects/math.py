"""`math`: element-wise functions of floats, and counting bits."""

from qrt.ir.constraints import same_as
from qrt.ir.define import Definition
from qrt.ir.dialects.arith import BOOL, FASTMATH, FLOAT, INTEGER, elementwise, result_of_test, said
from qrt.ir.scalars import fold_constants
from qrt.ir.traits import (
    ELEMENTWISE,
    NO_MEMORY_EFFECT,
    PURE,
    SAME_OPERANDS_AND_RESULT_SHAPE,
    SAME_OPERANDS_AND_RESULT_TYPE,
)

_EXACT = "absf ceil floor round roundeven trunc sqrt"
_INEXACT = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc "
    "cbrt rsqrt"
)
"""Never folded: the last bit of these depends on the machine; not rsqrt's, which upstream does not fold."""
_TRAITS = (PURE, ELEMENTWISE)


def _test(name: str) -> Definition:
    return Definition(
        name,
        operands=(f"operand: {FLOAT}",),
        results=(f"result: {BOOL}",),
        attributes=said(FASTMATH),
        traits=_TRAITS,
        infer={"result": result_of_test("operand")},
        format="$operand attr-dict `:` type($operand)",
        fold=fold_constants,
    )


OPS = [
    *(elementwise(f"math.{name}", ("operand",), FLOAT, FASTMATH, fold=fold_constants) for name in _EXACT.split()),
    *(elementwise(f"math.{name}", ("operand",), FLOAT, FASTMATH) for name in _INEXACT.split()),
    *(elementwise(f"math.{name}", ("lhs", "rhs"), FLOAT, FASTMATH) for name in ("atan2", "powf")),
    elementwise("math.copysign", ("lhs", "rhs"), FLOAT, FASTMATH, fold=fold_constants),
    elementwise("math.fma", ("a", "b", "c"), FLOAT, FASTMATH),
    *(
        elementwise(f"math.{name}", ("operand",), INTEGER, fold=fold_constants)
        for name in ("absi", "ctlz", "cttz", "ctpop")
    ),
    elementwise("math.ipowi", ("lhs", "rhs"), INTEGER, traits=(NO_MEMORY_EFFECT, ELEMENTWISE), fold=fold_constants),
    *map(_test, ("math.isfinite", "math.isinf", "math.isnan", "math.isnormal")),
    Definition(
        "math.clampf",
        operands=(f"value: {FLOAT}", f"min: {FLOAT}", f"max: {FLOAT}"),
        results=(f"result: {FLOAT}",),
        attributes=said(FASTMATH),
        traits=(*_TRAITS, SAME_OPERANDS_AND_RESULT_TYPE),
        format=f"$value `to` `[` $min `,` $max `]` {FASTMATH} attr-dict `:` type($result)",
    ),
    Definition(
        "math.fpowi",
        operands=(f"lhs: {FLOAT}", f"rhs: {INTEGER}"),
        results=(f"result: {FLOAT}",),
        attributes=said(FASTMATH),
        traits=(*_TRAITS, SAME_OPERANDS_AND_RESULT_SHAPE),
        infer={"result": same_as("lhs")},
        format=f"$lhs `,` $rhs {FASTMATH} attr-dict `:` type($lhs) `,` type($rhs)",
    ),
    Definition(
        "math.sincos",
        operands=(f"operand: {FLOAT}",),
        results=(f"sin: {FLOAT}", f"cos: {FLOAT}"),
        attributes=said(FASTMATH),
        traits=_TRAITS,
        infer={"sin": same_as("operand"), "cos": same_as("operand")},
        format=f"$operand {FASTMATH} attr-dict `:` type($operand)",
    ),
]
