"""Emission of the float ops of ``arith`` and ``math`` on f32 and f64, with the rules of `qrt.numerics.floats`.

Each op is one correctly rounded instruction or library call: no op is fused with another. Functions such as
``math.exp`` have no machine code, because libraries do not round them correctly.
"""

from typing import Any

import numpy as np
from llvmlite import ir as ll

from qrt.numerics.comparisons import FLOAT_PREDICATES
from qrt.runtime.codegen.emitter import not_emitted
from qrt.runtime.codegen.integers import Emit, ScalarOp

# -- NaNs --------------------------------------------------------------------------------------------------------------


def _is_nan(s: ScalarOp, x: Any) -> Any:
    return s.builder.fcmp_unordered("uno", x, x)


def _with_one_nan(s: ScalarOp, result: Any) -> Any:
    """Replace a NaN result by the first NaN operand, made quiet, or by a positive quiet NaN if no operand is a NaN."""
    form, build = s.form, s.builder
    nan = form.constant(form.dtype.type(np.nan))
    for x in reversed(s.operands):
        nan = build.select(_is_nan(s, x), _quiet(s, x), nan)
    return build.select(_is_nan(s, result), nan, result)


def _quiet(s: ScalarOp, x: Any) -> Any:
    width, bit = (32, 22) if isinstance(x.type, ll.FloatType) else (64, 51)
    bits = ll.IntType(width)
    return s.builder.bitcast(s.builder.or_(s.builder.bitcast(x, bits), bits(1 << bit)), x.type)


def _binary(kind: str) -> Emit:
    return lambda s, a, b: _with_one_nan(s, getattr(s.builder, kind)(a, b))


def _fused(s: ScalarOp, a: Any, b: Any, c: Any) -> Any:
    return _with_one_nan(s, s.call("llvm.fma", a, b, c))


def _root(s: ScalarOp, x: Any) -> Any:
    return _with_one_nan(s, s.call("llvm.sqrt", x))


def _inverse_root(s: ScalarOp, x: Any) -> Any:
    return _with_one_nan(s, s.builder.fdiv(x.type(1.0), s.call("llvm.sqrt", x)))


def _whole(name: str) -> Emit:
    return lambda s, x: s.call(name, x)


# -- extrema -----------------------------------------------------------------------------------------------------------


def _maximum(s: ScalarOp, a: Any, b: Any) -> Any:
    return _extremum(s, ">", a, b)


def _minimum(s: ScalarOp, a: Any, b: Any) -> Any:
    return _extremum(s, "<", a, b)


def _extremum(s: ScalarOp, sign: str, a: Any, b: Any) -> Any:
    """Emit IEEE 754's maximum if ``sign`` is ">", or minimum if it is "<".

    The result is NaN if an operand is NaN. -0 is less than +0.
    """
    build = s.builder
    second = build.fcmp_ordered(sign, b, a)
    known = s.known[1] if len(s.known) == 2 else None
    if known is not None and known == known and known != 0:  # neither a NaN nor a zero
        return build.select(second, b, a)
    bits = ll.IntType(32 if isinstance(a.type, ll.FloatType) else 64)
    join = build.and_ if sign == ">" else build.or_  # of the signs of zeros; other equal numbers have equal bits
    equal = build.bitcast(join(build.bitcast(a, bits), build.bitcast(b, bits)), a.type)
    unordered = build.select(_is_nan(s, a), a, build.select(_is_nan(s, b), b, equal))
    first = build.fcmp_ordered(sign, a, b)
    return build.select(first, a, build.select(second, b, unordered))


def _number(extremum: Emit) -> Emit:
    def emit(s: ScalarOp, a: Any, b: Any) -> Any:
        other = s.builder.select(_is_nan(s, b), a, extremum(s, a, b))
        return s.builder.select(_is_nan(s, a), b, other)

    return emit


def _clamp(s: ScalarOp, value: Any, low: Any, high: Any) -> Any:
    return _maximum(s, _minimum(s, value, high), low)


# -- comparisons and conversions ---------------------------------------------------------------------------------------

_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _compare(s: ScalarOp, a: Any, b: Any) -> Any:
    name = tuple(FLOAT_PREDICATES)[s.attributes["predicate"]]
    if name in ("false", "true"):
        return ll.IntType(1)(int(name == "true"))
    if name in ("ord", "uno"):
        return (s.builder.fcmp_ordered if name == "ord" else s.builder.fcmp_unordered)(name, a, b)
    if name == "one":
        return s.builder.and_(s.builder.fcmp_ordered("ord", a, b), s.builder.fcmp_unordered("!=", a, b))
    return (s.builder.fcmp_ordered if name[0] == "o" else s.builder.fcmp_unordered)(_COMPARED[name[1:]], a, b)


def _convert_float(kind: str) -> Emit:
    def emit(s: ScalarOp, x: Any) -> Any:
        if s.attributes.get("roundingmode", 0):
            raise not_emitted(
                s.operation, "has a roundingmode other than to_nearest_even, for which no code is emitted"
            )
        return getattr(s.builder, kind)(x, s.result)

    return emit


def _from_integer(kind: str) -> Emit:
    return lambda s, x: getattr(s.builder, kind)(x, s.result)


def _to_integer(is_signed: bool) -> Emit:
    kind = "fptosi" if is_signed else "fptoui"

    def emit(s: ScalarOp, x: Any) -> Any:
        build, width = s.builder, s.result.width
        if s.emitter.saturating:
            declared = s.emitter.module.declare_intrinsic(
                f"llvm.{kind}.sat", [s.result, x.type], ll.FunctionType(s.result, [x.type])
            )
            return build.call(declared, (x,))
        whole = s.call("llvm.trunc", x)
        low, beyond = (-(2.0 ** (width - 1)), 2.0 ** (width - 1)) if is_signed else (0.0, 2.0**width)
        fits = build.and_(build.fcmp_ordered(">=", whole, x.type(low)), build.fcmp_ordered("<", whole, x.type(beyond)))
        sign = "" if is_signed else "unsigned "
        s.trap_if(build.not_(fits), f"a NaN or a number out of the range of {sign}i{width}")
        return getattr(build, kind)(build.select(fits, whole, x.type(0.0)), s.result)

    return emit


def _bitcast(s: ScalarOp, x: Any) -> Any:
    return x if str(x.type) == str(s.result) else s.builder.bitcast(x, s.result)


def _is_class(s: ScalarOp, x: Any, sign: str, limit: float) -> Any:
    """Emit the comparison ``sign`` of the absolute value of ``x`` with a limit; it is false for a NaN."""
    return s.builder.fcmp_ordered(sign, s.call("llvm.fabs", x), x.type(limit))


def _least_normal(x: Any) -> float:
    return float(np.finfo(np.float32 if isinstance(x.type, ll.FloatType) else np.float64).tiny)


OPS: dict[str, Emit] = {
    "arith.addf": _binary("fadd"),
    "arith.subf": _binary("fsub"),
    "arith.mulf": _binary("fmul"),
    "arith.divf": _binary("fdiv"),
    "arith.remf": _binary("frem"),
    "arith.negf": lambda s, x: s.builder.fneg(x),
    "arith.maximumf": _maximum,
    "arith.minimumf": _minimum,
    "arith.maxnumf": _number(_maximum),
    "arith.minnumf": _number(_minimum),
    "arith.cmpf": _compare,
    "arith.extf": _convert_float("fpext"),
    "arith.truncf": _convert_float("fptrunc"),
    "arith.sitofp": _from_integer("sitofp"),
    "arith.uitofp": _from_integer("uitofp"),
    "arith.fptosi": _to_integer(True),
    "arith.fptoui": _to_integer(False),
    "arith.bitcast": _bitcast,
    "math.absf": _whole("llvm.fabs"),
    "math.ceil": _whole("llvm.ceil"),
    "math.clampf": _clamp,
    "math.copysign": lambda s, x, sign: s.call("llvm.copysign", x, sign),
    "math.floor": _whole("llvm.floor"),
    "math.fma": _fused,
    "math.isfinite": lambda s, x: _is_class(s, x, "<", np.inf),
    "math.isinf": lambda s, x: _is_class(s, x, "==", np.inf),
    "math.isnan": _is_nan,
    "math.isnormal": lambda s, x: s.builder.and_(_is_class(s, x, "<", np.inf), _is_class(s, x, ">=", _least_normal(x))),
    "math.round": _whole("llvm.round"),
    "math.roundeven": _whole("llvm.roundeven"),
    "math.rsqrt": _inverse_root,
    "math.sqrt": _root,
    "math.trunc": _whole("llvm.trunc"),
}
"""The function that emits each float op, given a `ScalarOp` and its registers."""
