"""Emission of index arithmetic: affine expressions, and the ranges in which indices lie at every run.

Ranges show which accesses are within the bounds, so that loops need no checks.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir as ll

from qrt.ir import Operation, Value
from qrt.ir.core.affine import Expression
from qrt.runtime.codegen.buffers import Index
from qrt.runtime.codegen.elements import I1, I64
from qrt.runtime.codegen.emitter import Emitter, not_emitted

_LOW, _HIGH = -(1 << 63), (1 << 63) - 1
Bounds = tuple[int, int]


def evaluate(
    e: Emitter, op: Operation, value: Expression, dimensions: Sequence[Index], symbols: Sequence[Index] = ()
) -> Index:
    """Emit an affine expression. The run ends with an error if a divisor is not positive or 64 bits overflow."""
    if isinstance(value, int):
        return e.number(value)
    if value[0] in ("d", "s"):
        return (dimensions if value[0] == "d" else symbols)[value[1]]
    operator, left, right = value
    a, b = (evaluate(e, op, part, dimensions, symbols) for part in (left, right))
    low, high = _interval(operator, a, b)
    if low == high and a.is_constant and b.is_constant:
        return e.number(low)
    if operator in "+*":
        return Index(_sum_or_product(e, op, operator, a, b, low, high), max(low, _LOW), min(high, _HIGH))
    return Index(_quotient(e, op, operator, a, b), max(low, _LOW), min(high, _HIGH))


def _interval(operator: str, a: Index, b: Index) -> Bounds:
    """Return the least and the greatest result of ``operator`` on two indices, without overflow."""
    if operator == "mod":
        return (0, max(b.high - 1, 0)) if a.low < 0 or a.high >= b.low else (a.low, a.high)
    if operator in ("floordiv", "ceildiv") and b.low <= 0 <= b.high:
        widest = max(abs(a.low), abs(a.high))
        return -widest, widest
    ends = [_exact(operator, x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return min(ends), max(ends)


def _exact(operator: str, x: int, y: int) -> int:
    if operator in "+*":
        return x + y if operator == "+" else x * y
    return x // y if operator == "floordiv" else -(-x // y)


def _sum_or_product(e: Emitter, op: Operation, operator: str, a: Index, b: Index, low: int, high: int) -> Any:
    kind = "add" if operator == "+" else "mul"
    if low >= _LOW and high <= _HIGH:
        return getattr(e.builder, kind)(a.value, b.value, flags=("nsw",))
    pair = ll.LiteralStructType([I64, I1])
    checked = e.module.declare_intrinsic(f"llvm.s{kind}.with.overflow", [I64], ll.FunctionType(pair, [I64, I64]))
    result = e.builder.call(checked, (a.value, b.value))
    message = "the result is out of the range of an index, a signed 64-bit integer"
    e.trap_if(op, e.builder.extract_value(result, 1), message)
    return e.builder.extract_value(result, 0)


def _quotient(e: Emitter, op: Operation, operator: str, a: Index, b: Index) -> Any:
    build, divisor = e.builder, b.value
    if b.low <= 0 and operator != "mod":
        raise not_emitted(op, f"has a divisor of {operator} that may be negative or 0")
    if b.low <= 0:
        wrong = build.icmp_signed("<=", divisor, I64(0))
        e.trap_if(op, wrong, lambda numbers: f"the divisor of mod must be positive, got {numbers[0]}", [divisor])
    if a.low >= 0 and operator in ("floordiv", "mod"):
        return build.udiv(a.value, divisor) if operator == "floordiv" else build.urem(a.value, divisor)
    quotient, remainder = build.sdiv(a.value, divisor), build.srem(a.value, divisor)
    if operator == "ceildiv":
        return build.add(quotient, build.zext(build.icmp_signed(">", remainder, I64(0)), I64))
    is_below = build.icmp_signed("<", remainder, I64(0))
    if operator == "mod":
        return build.select(is_below, build.add(remainder, divisor), remainder)
    return build.sub(quotient, build.zext(is_below, I64))


# -- ranges of arith ops on index --------------------------------------------------------------------------------------


def result_bounds(e: Emitter, op: Operation) -> Bounds | None:
    """Return the range of the index that an op of ``arith`` computes; None if the index may have any value."""
    bounds = [_operand_bounds(e, value) for value in op.operands]
    result = _RANGES[op.name](*bounds) if op.name in _RANGES else None
    return result if result is not None and result[0] >= _LOW and result[1] <= _HIGH else None


def _operand_bounds(e: Emitter, value: Value) -> Bounds:
    width = getattr(value.type, "width", 64)
    low, high = e.bounds(value)
    return max(low, -(1 << (width - 1))), min(high, (1 << (width - 1)) - 1)


def _product(a: Bounds, b: Bounds) -> Bounds:
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


def _remainder(a: Bounds, b: Bounds) -> Bounds | None:
    return (0, min(a[1], b[1] - 1)) if a[0] >= 0 and b[0] > 0 else None


def _positive_quotient(a: Bounds, b: Bounds) -> Bounds | None:
    return (a[0] // b[1], a[1] // b[0]) if a[0] >= 0 and b[0] > 0 else None


_RANGES: dict[str, Any] = {
    "arith.addi": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "arith.subi": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "arith.muli": _product,
    "arith.maxsi": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "arith.minsi": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "arith.remui": _remainder,
    "arith.remsi": _remainder,
    "arith.divui": _positive_quotient,
    "arith.divsi": _positive_quotient,
    "arith.floordivsi": _positive_quotient,
    "arith.select": lambda condition, a, b: (min(a[0], b[0]), max(a[1], b[1])),
    "arith.index_cast": lambda a: a,
}
