"""Emission of the integer ops of ``arith`` and ``math`` on registers, with the rules of `qrt.numerics.integers`.

Results wrap. If an op is undefined for its operands, the run ends with the error that the interpreter raises.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from llvmlite import ir as ll

from qrt.ir import Operation
from qrt.ir.dialects.arith.scalars import plain_attributes
from qrt.numerics.comparisons import INTEGER_PREDICATES
from qrt.runtime.codegen.elements import I1, Element, element_form, scalar_type
from qrt.runtime.codegen.emitter import Emitter
from qrt.types import VectorType

SIGNED, UNSIGNED, INEXACT = "signed overflow (nsw)", "unsigned overflow (nuw)", "an inexact result (exact)"


@dataclass(frozen=True)
class ScalarOp:
    """An op and the registers that have its operands, for the function that emits the op's code.

    ``known`` has each operand's NumPy scalar, or None if the operand is known only at run time.
    """

    emitter: Emitter
    operation: Operation
    operands: Sequence[Any]
    known: Sequence[Any]
    is_lane: bool = False
    """True if the operands are one lane of the op's vectors."""

    @property
    def builder(self) -> Any:
        return self.emitter.builder

    @cached_property
    def attributes(self) -> dict[str, Any]:
        return plain_attributes(self.operation)

    @property
    def source(self) -> Any:
        return self.operands[0].type

    @property
    def result(self) -> Any:
        """The register type of the first result."""
        return self.form.register

    @property
    def form(self) -> Element:
        """The element type of the first result in machine code."""
        type = scalar_type(self.operation.results[0].type)
        return element_form(type.element if self.is_lane and isinstance(type, VectorType) else type)

    @property
    def flags(self) -> frozenset[str]:
        return frozenset(self.attributes.get("overflowFlags", ()))

    def trap_if(self, condition: Any, message: str) -> None:
        self.emitter.trap_if(self.operation, condition, message)

    def call(self, name: str, *arguments: Any) -> Any:
        """Emit a call of an LLVM intrinsic on operands of one type."""
        kind = arguments[0].type
        declared = self.emitter.module.declare_intrinsic(
            name, [kind], ll.FunctionType(kind, [argument.type for argument in arguments])
        )
        return self.builder.call(declared, arguments)


Emit = Callable[..., Any]


# -- sums and products -------------------------------------------------------------------------------------------------


def _add(s: ScalarOp, a: Any, b: Any) -> Any:
    result, build = s.builder.add(a, b), s.builder
    if "nsw" in s.flags:
        s.trap_if(_is_negative(s, build.and_(build.xor(a, result), build.xor(b, result))), SIGNED)
    if "nuw" in s.flags:
        s.trap_if(build.icmp_unsigned("<", result, a), UNSIGNED)
    return result


def _subtract(s: ScalarOp, a: Any, b: Any) -> Any:
    result, build = s.builder.sub(a, b), s.builder
    if "nsw" in s.flags:
        s.trap_if(_is_negative(s, build.and_(build.xor(a, b), build.xor(a, result))), SIGNED)
    if "nuw" in s.flags:
        s.trap_if(build.icmp_unsigned("<", a, b), UNSIGNED)
    return result


def _is_negative(s: ScalarOp, value: Any) -> Any:
    return s.builder.icmp_signed("<", value, value.type(0))


def _multiply(s: ScalarOp, a: Any, b: Any) -> Any:
    for flag, extend, message in (("nsw", "sext", SIGNED), ("nuw", "zext", UNSIGNED)):
        if flag in s.flags:
            whole = _wide_product(s, a, b, extend)
            cut = s.builder.trunc(whole, a.type)
            back = getattr(s.builder, extend)(cut, whole.type)
            s.trap_if(s.builder.icmp_unsigned("!=", back, whole), message)
    return s.builder.mul(a, b)


def _wide_product(s: ScalarOp, a: Any, b: Any, extend: str) -> Any:
    wide = ll.IntType(2 * a.type.width)
    widen = getattr(s.builder, extend)
    return s.builder.mul(widen(a, wide), widen(b, wide))


def _extended_product(extend: str) -> Emit:
    def emit(s: ScalarOp, a: Any, b: Any) -> tuple[Any, Any]:
        whole = _wide_product(s, a, b, extend)
        high = s.builder.lshr(whole, whole.type(a.type.width))
        return s.builder.trunc(whole, a.type), s.builder.trunc(high, a.type)

    return emit


def _extended_sum(s: ScalarOp, a: Any, b: Any) -> tuple[Any, Any]:
    total = s.builder.add(a, b)
    return total, s.builder.icmp_unsigned("<", total, a)


# -- quotients ---------------------------------------------------------------------------------------------------------


def _divided(quotient: str, finish: Callable[[ScalarOp, Any, Any, Any, Any], Any] | None = None) -> Emit:
    """Return the function that emits a division; ``quotient`` is "sdiv" or "udiv".

    ``finish`` computes the result from the operands, the quotient toward zero and its remainder.
    """
    is_signed = quotient == "sdiv"

    def emit(s: ScalarOp, a: Any, b: Any) -> Any:
        build, zero, one = s.builder, b.type(0), b.type(1)
        if s.known[1] is None or not s.known[1] or (is_signed and int(s.known[1]) == -1):
            wrong = build.icmp_unsigned("==", b, zero)
            s.trap_if(wrong, "division by zero")
            if is_signed:
                low = -(1 << (a.type.width - 1))
                is_least = build.icmp_unsigned("==", a, a.type(low & ((1 << a.type.width) - 1)))
                overflows = build.and_(is_least, build.icmp_unsigned("==", b, b.type((1 << b.type.width) - 1)))
                s.trap_if(overflows, f"signed overflow: {low} / -1")
                wrong = build.or_(wrong, overflows)
            b = build.select(wrong, one, b)
        divided = getattr(build, quotient)(a, b)
        remainder = build.sub(a, build.mul(divided, b))
        if s.attributes.get("isExact"):
            s.trap_if(build.icmp_unsigned("!=", remainder, zero), INEXACT)
        return divided if finish is None else finish(s, a, b, divided, remainder)

    return emit


def _remainder(s: ScalarOp, a: Any, b: Any, divided: Any, remainder: Any) -> Any:
    return remainder


def _rounded(step: int, if_opposite: bool | None) -> Callable[[ScalarOp, Any, Any, Any, Any], Any]:
    """Return a function that emits the rounding of a quotient: it adds ``step`` if the remainder is not 0.

    If ``if_opposite`` is True, ``step`` is added only if the operands have opposite signs; if False, only if they have
    the same sign; if None, for any signs.
    """

    def finish(s: ScalarOp, a: Any, b: Any, divided: Any, remainder: Any) -> Any:
        build = s.builder
        moves = build.icmp_unsigned("!=", remainder, remainder.type(0))
        if if_opposite is not None:
            is_opposite = _is_negative(s, build.xor(a, b))
            moves = build.and_(moves, is_opposite if if_opposite else build.not_(is_opposite))
        moved = build.add(divided, divided.type(step & ((1 << divided.type.width) - 1)))
        return build.select(moves, moved, divided)

    return finish


# -- bits --------------------------------------------------------------------------------------------------------------


def _shift(kind: str) -> Emit:
    def emit(s: ScalarOp, a: Any, b: Any) -> Any:
        build, width = s.builder, a.type.width
        if s.known[1] is None or not 0 <= int(s.known[1]) < width:
            too_far = build.icmp_unsigned(">=", b, b.type(width))
            s.trap_if(too_far, f"a shift by {width} bits or more")
            b = build.select(too_far, b.type(0), b)
        result = getattr(build, kind)(a, b)
        checks = [("nsw", "ashr", SIGNED), ("nuw", "lshr", UNSIGNED)] if kind == "shl" else []
        for flag, back, message in checks:
            if flag in s.flags:
                s.trap_if(build.icmp_unsigned("!=", getattr(build, back)(result, b), a), message)
        if kind != "shl" and s.attributes.get("isExact"):
            s.trap_if(build.icmp_unsigned("!=", build.shl(result, b), a), INEXACT)
        return result

    return emit


def _plain(kind: str) -> Emit:
    return lambda s, a, b: getattr(s.builder, kind)(a, b)


def _count(name: str) -> Emit:
    def emit(s: ScalarOp, x: Any) -> Any:
        declared = s.emitter.module.declare_intrinsic(name, [x.type], ll.FunctionType(x.type, [x.type, I1]))
        return s.builder.call(declared, (x, I1(0)))  # of zero: the width

    return emit


def _absolute(s: ScalarOp, x: Any) -> Any:
    return s.builder.select(_is_negative(s, x), s.builder.neg(x), x)


# -- comparisons and choices -------------------------------------------------------------------------------------------

_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def compare(s: ScalarOp, a: Any, b: Any) -> Any:
    name = tuple(INTEGER_PREDICATES)[s.attributes["predicate"]]
    build = s.builder.icmp_unsigned if name[0] == "u" else s.builder.icmp_signed
    return build(_COMPARED[name if name in _COMPARED else name[1:]], a, b)


def _extremum(sign: str, is_signed: bool) -> Emit:
    def emit(s: ScalarOp, a: Any, b: Any) -> Any:
        build = s.builder.icmp_signed if is_signed else s.builder.icmp_unsigned
        return s.builder.select(build(sign, a, b), a, b)

    return emit


def _select(s: ScalarOp, condition: Any, a: Any, b: Any) -> Any:
    return s.builder.select(condition, a, b)


# -- conversions -------------------------------------------------------------------------------------------------------


def _extend(kind: str) -> Emit:
    return lambda s, x: getattr(s.builder, kind)(x, s.result)


def _truncate(s: ScalarOp, x: Any) -> Any:
    cut = s.builder.trunc(x, s.result)
    for flag, back, message in (("nsw", s.builder.sext, SIGNED), ("nuw", s.builder.zext, UNSIGNED)):
        if flag in s.flags:
            s.trap_if(s.builder.icmp_unsigned("!=", back(cut, x.type), x), message)
    return cut


def _cast_index(kind: str) -> Emit:
    def emit(s: ScalarOp, x: Any) -> Any:
        if x.type.width == s.result.width:
            return x
        return s.builder.trunc(x, s.result) if x.type.width > s.result.width else getattr(s.builder, kind)(x, s.result)

    return emit


OPS: dict[str, Emit] = {
    "arith.addi": _add,
    "arith.subi": _subtract,
    "arith.muli": _multiply,
    "arith.addui_extended": _extended_sum,
    "arith.mulsi_extended": _extended_product("sext"),
    "arith.mului_extended": _extended_product("zext"),
    "arith.divsi": _divided("sdiv"),
    "arith.divui": _divided("udiv"),
    "arith.ceildivsi": _divided("sdiv", _rounded(1, False)),
    "arith.ceildivui": _divided("udiv", _rounded(1, None)),
    "arith.floordivsi": _divided("sdiv", _rounded(-1, True)),
    "arith.remsi": _divided("sdiv", _remainder),
    "arith.remui": _divided("udiv", _remainder),
    "arith.andi": _plain("and_"),
    "arith.ori": _plain("or_"),
    "arith.xori": _plain("xor"),
    "arith.shli": _shift("shl"),
    "arith.shrsi": _shift("ashr"),
    "arith.shrui": _shift("lshr"),
    "arith.maxsi": _extremum(">", True),
    "arith.minsi": _extremum("<", True),
    "arith.maxui": _extremum(">", False),
    "arith.minui": _extremum("<", False),
    "arith.cmpi": compare,
    "arith.select": _select,
    "arith.extsi": _extend("sext"),
    "arith.extui": _extend("zext"),
    "arith.trunci": _truncate,
    "arith.index_cast": _cast_index("sext"),
    "arith.index_castui": _cast_index("zext"),
    "math.absi": _absolute,
    "math.ctlz": _count("llvm.ctlz"),
    "math.cttz": _count("llvm.cttz"),
    "math.ctpop": lambda s, x: s.call("llvm.ctpop", x),
}
"""The function that emits each integer op, given a `ScalarOp` and its registers."""
ON_VECTORS = frozenset(
    f"arith.{name}"
    for name in (
        *("addi", "andi", "cmpi", "extsi", "extui", "maxsi", "maxui", "minsi"),
        *("minui", "muli", "ori", "select", "subi", "trunci", "xori"),
    )
)
"""The ops that apply to whole vectors, if they have no overflow flags; others are emitted lane by lane."""
