"""Upstream's canonicalization patterns of `arith`, except that they drop `nsw` and `nuw` flags that may not hold."""

from collections.abc import Callable

from qrt.ir import Attribute, Builder, IntegerAttr, Operation, Value
from qrt.ir.core.constraints import I1, element_of, with_element
from qrt.ir.core.matching import constant_number, constant_of, defining_op
from qrt.ir.dialects.arith.fold import holds_every_value, predicate_of
from qrt.ir.dialects.arith.ops import OVERFLOW
from qrt.ir.dialects.arith.scalars import filled, splat_is, width_of
from qrt.ir.rewriting.rewrite import Pattern, PatternResult
from qrt.ops.elementwise import INTEGER_PREDICATES
from qrt.types import FloatType, IntegerType, Type


def _constant(builder: Builder, number: int, type: Type) -> Value:
    """Build an integer constant, wrapped to the type's width."""
    half = 1 << ((width_of(type) or 64) - 1)
    wrapped = number & 1 if half == 1 else ((number + half) & (2 * half - 1)) - half
    value = filled(wrapped, type)
    assert value is not None  # the callers have checked that the type has constants
    return builder.constant(value, type)


def _make(
    builder: Builder, name: str, operands: tuple[Value, ...], like: Operation, **attributes: Attribute
) -> PatternResult:
    """Build `arith.<name>` with the result type of `like`, and return its result in a list."""
    return [builder.value(f"arith.{name}", operands, like.results[0].type, attributes)]


def _flags(*operations: Operation) -> dict[str, Attribute]:
    """Return the overflow flags that all of the operations have, as attributes."""
    flag_lists = [OVERFLOW.flags(op.attributes.get("overflowFlags", OVERFLOW.attribute("none"))) for op in operations]
    common = [flag for flag in flag_lists[0] if all(flag in flags for flags in flag_lists)]
    return {"overflowFlags": OVERFLOW.attribute(*common)} if common else {}


# -- sums with constants -----------------------------------------------------------------------------------------------


def sum_with_constant(op: Operation, builder: Builder) -> PatternResult:
    """Combine the constants of ``(±x + c0) ± c1`` and ``c1 - (±x + c0)`` into one addition or subtraction."""
    left, right = op.operands
    outer, inner = (
        (constant_number(right), left) if constant_number(right) is not None else (constant_number(left), right)
    )
    source = defining_op(inner, "arith.addi") or defining_op(inner, "arith.subi")
    if outer is None or source is None or inner is left is right:
        return None
    a, b = source.operands
    first, second = constant_number(a), constant_number(b)
    subtracts, inner_subtracts = op.name == "arith.subi", source.name == "arith.subi"
    if second is not None:
        x, sign, c0 = a, 1, -second if inner_subtracts else second
    elif first is not None and inner_subtracts:
        x, sign, c0 = b, -1, first
    else:
        return None
    if subtracts and inner is right:
        sign, total = -sign, outer - c0
    else:
        total = c0 - outer if subtracts else c0 + outer
    both_subtract = sign > 0 and subtracts and inner is left and inner_subtracts
    name, number = ("subi", -total) if both_subtract else ("addi" if sign > 0 else "subi", total)
    flags = {} if subtracts and inner is left and not inner_subtracts else _flags(op, source)
    flags = _valid_flags(flags, number, x.type, unsigned=op.name == source.name == "arith.addi")
    constant = _constant(builder, number, x.type)
    return _make(builder, name, (constant, x) if sign < 0 else (x, constant), op, **flags)


def _valid_flags(flags: dict[str, Attribute], number: int, type: Type, unsigned: bool) -> dict[str, Attribute]:
    """Return those of `flags` that hold for ``x + number``.

    This sum replaces two operations that both had these flags. `unsigned` is True if both are additions: only then may
    `nuw` stay.
    """
    half = 1 << ((width_of(type) or 64) - 1)
    names = OVERFLOW.flags(flags["overflowFlags"]) if flags else ()
    valid = [flag for flag in names if (-half <= number < half if flag == "nsw" else unsigned and 0 <= number < half)]
    return {"overflowFlags": OVERFLOW.attribute(*valid)} if valid else {}


def addi_of_negation(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``x + y * -1`` to ``x - y``."""
    for negated, other in (op.operands[::-1], op.operands):
        product = defining_op(negated, "arith.muli")
        if product is not None and splat_is(product.operands[1], -1):
            return _make(builder, "subi", (other, product.operands[0]), op)
    return None


def subi_of_subi(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``(x - y) - x`` to ``0 - y``."""
    source = defining_op(op.operands[0], "arith.subi")
    if source is None or source.operands[0] is not op.operands[1] or filled(0, op.results[0].type) is None:
        return None
    y = source.operands[1]
    return _make(builder, "subi", (_constant(builder, 0, y.type), y), op, **_flags(op, source))


def muli_of_muli(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``(x * c0) * c1`` to ``x * (c0 * c1)``."""
    source = defining_op(op.operands[0], "arith.muli")
    outer = constant_number(op.operands[1])
    inner = None if source is None else constant_number(source.operands[1])
    if source is None or outer is None or inner is None:
        return None
    x = source.operands[0]
    return _make(builder, "muli", (x, _constant(builder, inner * outer, x.type)), op, **_flags(op, source))


def low_half(op: Operation, builder: Builder) -> PatternResult:
    """Replace `addui_extended` or an extended multiplication by `addi` or `muli`, if the second result is unused."""
    if op.results[1].uses:
        return None
    name = "addi" if op.name == "arith.addui_extended" else "muli"
    return [builder.value(f"arith.{name}", op.operands, op.results[0].type), op.operands[0]]


def signed_product_with_one(op: Operation, builder: Builder) -> PatternResult:
    """Replace ``mulsi_extended(x, 1)`` by x for the low half, and by copies of the sign bit of x for the high half."""
    x, type = op.operands[0], op.results[0].type
    if width_of(type) == 1 or not splat_is(op.operands[1], 1) or filled(0, type) is None:
        return None
    zero = _constant(builder, 0, type)
    negative = builder.value("arith.cmpi", (x, zero), with_element(type, I1), _predicate("slt"))
    return [x, builder.value("arith.extsi", (negative,), type)]


# -- conversions -------------------------------------------------------------------------------------------------------


def _of(inner: str, outer: str | None = None, when: Callable[[Type, Type, Type], bool] | None = None) -> Pattern:
    """Return the pattern ``op(inner(x)) -> outer(x)``, where `outer` is `op` by default.

    With `when`, it applies only if `when(type of x, type of inner(x), type of the result)` is True.
    """

    def pattern(op: Operation, builder: Builder) -> PatternResult:
        source = defining_op(op.operands[0], f"arith.{inner}")
        if source is None:
            return None
        x, result = source.operands[0], op.results[0].type
        if when is not None and not when(x.type, source.results[0].type, result):
            return None
        name = f"arith.{outer}" if outer else op.name
        return [builder.value(name, (x,), result, dict(op.attributes) if name == op.name else {})]

    return pattern


def _narrows(x: Type, between: Type, result: Type) -> bool:
    return width_of(x) > width_of(result)


def _widens(x: Type, between: Type, result: Type) -> bool:
    return width_of(x) < width_of(result)


def _narrows_exactly(x: Type, between: Type, result: Type) -> bool:
    wide, narrow = element_of(between), element_of(x)
    assert isinstance(wide, FloatType)
    assert isinstance(narrow, FloatType)
    return _narrows(x, between, result) and holds_every_value(wide, narrow)


of_extui = _of("extui")
of_extsi = _of("extsi")
of_bitcast = _of("bitcast")
extsi_of_extui = _of("extui", "extui")
trunci_of_extui_of_wider = _of("extui", when=_narrows)
trunci_of_extsi_of_wider = _of("extsi", when=_narrows)
trunci_of_extsi_of_narrower = _of("extsi", "extsi", _widens)
trunci_of_extui_of_narrower = _of("extui", "extui", _widens)
truncf_of_extf = _of("extf", when=_narrows_exactly)


def trunci_of_shrsi(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``trunci(x >>s c)`` to ``trunci(x >>u c)``, if the truncation leaves exactly the highest bits of x."""
    source = defining_op(op.operands[0], "arith.shrsi")
    if source is None:
        return None
    x, count = source.operands
    if not splat_is(count, width_of(x.type) - width_of(op.results[0].type)):
        return None
    shifted = builder.value("arith.shrui", (x, count), x.type)
    return [builder.value(op.name, (shifted,), op.results[0].type)]


def trunci_of_trunci(op: Operation, builder: Builder) -> PatternResult:
    source = defining_op(op.operands[0], "arith.trunci")
    return None if source is None else _make(builder, "trunci", tuple(source.operands), op, **_flags(op, source))


def bitwise_of_extensions(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``ext(x) op ext(y)`` to ``ext(x op y)``, for a bitwise op."""
    for extension in ("arith.extui", "arith.extsi"):
        sources = [defining_op(value, extension) for value in op.operands]
        operands = [source.operands[0] for source in sources if source is not None]
        if len(operands) == 2 and operands[0].type is operands[1].type:
            narrow = builder.value(op.name, operands, operands[0].type)
            return [builder.value(extension, (narrow,), op.results[0].type)]
    return None


# -- comparisons and selections ----------------------------------------------------------------------------------------

_SWAPPED = {"l": "g", "g": "l"}
_INVERTED = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def inverse(predicate: str) -> str:
    """Return the predicate of the opposite comparison of integers, such as "sge" for "slt"."""
    return _INVERTED[predicate] if predicate in _INVERTED else predicate[0] + _INVERTED[predicate[1:]]


def _predicate(name: str) -> dict[str, Attribute]:
    return {"predicate": IntegerAttr(tuple(INTEGER_PREDICATES).index(name), IntegerType(64))}


def cmpi_constant_last(op: Operation, builder: Builder) -> PatternResult:
    left, right = op.operands
    if constant_of(left) is None or constant_of(right) is not None:
        return None
    name = predicate_of(op)
    swapped = name if name in ("eq", "ne") else name[0] + _SWAPPED[name[1]] + name[2]
    return _make(builder, "cmpi", (right, left), op, **_predicate(swapped))


def cmpi_of_extensions(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``ext(x) == ext(y)`` to ``x == y``, and likewise for ``!=``."""
    if predicate_of(op) not in ("eq", "ne"):
        return None
    for extension in ("arith.extsi", "arith.extui"):
        sources = [defining_op(value, extension) for value in op.operands]
        operands = tuple(source.operands[0] for source in sources if source is not None)
        if len(operands) == 2 and operands[0].type is operands[1].type:
            return _make(builder, "cmpi", operands, op, **_predicate(predicate_of(op)))
    return None


def not_cmpi(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``cmpi(p, a, b) ^ true`` to ``cmpi(not p, a, b)``."""
    source = defining_op(op.operands[0], "arith.cmpi")
    if source is None or op.results[0].type is not I1 or not splat_is(op.operands[1], 1):
        return None
    return _make(builder, "cmpi", tuple(source.operands), op, **_predicate(inverse(predicate_of(source))))


def select_of_not(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``select(not c, a, b)`` to ``select(c, b, a)``."""
    condition, true, false = op.operands
    negation = defining_op(condition, "arith.xori")
    if negation is None or not splat_is(negation.operands[1], -1):
        return None
    return _make(builder, "select", (negation.operands[0], false, true), op)


def select_of_select(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``select(c, select(c, a, b), d)`` to ``select(c, a, d)``, and likewise for the other branch."""
    condition, true, false = op.operands
    for at, branch in ((1, true), (2, false)):
        inner = defining_op(branch, "arith.select")
        if inner is not None and inner.operands[0] is condition:
            chosen = inner.operands[at]
            return _make(builder, "select", (condition, chosen, false) if at == 1 else (condition, true, chosen), op)
    return None


def select_of_bits(op: Operation, builder: Builder) -> PatternResult:
    """Replace a selection between the scalar integers 0 and 1 by the condition or its negation, extended if needed."""
    condition, true, false = op.operands
    type = op.results[0].type
    if not isinstance(type, IntegerType):
        return None
    is_negated = splat_is(true, 0) and splat_is(false, 1)
    if type is I1:
        one = (condition, _constant(builder, 1, I1)) if is_negated else None
        return None if one is None else _make(builder, "xori", one, op)
    if is_negated:
        one = condition, _constant(builder, 1, with_element(condition.type, I1))
        condition = builder.value("arith.xori", one, condition.type)
    elif not (splat_is(true, 1) and splat_is(false, 0)):
        return None
    return _make(builder, "extui", (condition,), op)


def of_negations(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``-a * -b`` to ``a * b``, and likewise for quotients."""
    sources = [defining_op(value, "arith.negf") for value in op.operands]
    operands = [source.operands[0] for source in sources if source is not None]
    return [builder.value(op.name, operands, op.results[0].type, dict(op.attributes))] if len(operands) == 2 else None
