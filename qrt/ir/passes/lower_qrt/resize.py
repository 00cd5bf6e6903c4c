"""Lowering of resize_bilinear and resize_nearest to loops that read neighbours at positions from constant tables."""

from qrt.errors import QuantTypeError
from qrt.ir import Operation, Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, I32, I64, LoweringContext, tensor_type, uniform_type
from qrt.ir.passes.elementwise import INDEX
from qrt.ops.core import Attributes
from qrt.ops.resize import nearest, positions
from qrt.types import FloatType, IntegerType, Type, UniformType


def lower_resize_nearest(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.resize_nearest and return its result (storage integers if it is quantized)."""
    rows, columns = nearest((tensor_type(op.operands[0]),), attributes, _known(op))
    stored, nest = _nest(context, op, rows.size, columns.size)
    image, y, x, channel = nest.loops
    at = [image, nest.parameter(rows, INDEX, [y]), nest.parameter(columns, INDEX, [x]), channel]
    return nest.finish(nest.gather(stored, at))[0]


def lower_resize_bilinear(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.resize_bilinear and return its result (storage integers if it is quantized)."""
    rows, columns = positions((tensor_type(op.operands[0]),), attributes, _known(op))
    stored, nest = _nest(context, op, rows[0].size, columns[0].size)
    image, y, x, channel = nest.loops
    rule, t = attributes["rule"], tensor_type(op.operands[0]).element
    computed: Type = F32
    if rule.startswith("fixed"):
        computed = I32 if uniform_type(op.operands[0]).storage_width <= 8 else I64
    corners = []
    for row in rows[:2]:
        for column in columns[:2]:
            at = [image, nest.parameter(row, INDEX, [y]), nest.parameter(column, INDEX, [x]), channel]
            corners.append(_number(nest, nest.gather(stored, at), t, computed))
    down, right = nest.parameter(rows[2], computed, [y]), nest.parameter(columns[2], computed, [x])
    value = _RULES[rule](_Arithmetic(nest, computed), corners, down, right)
    if isinstance(t, UniformType):
        if computed is F32:
            value = nest.value("arith.addf", (value, nest.constant(0.5, F32)), F32)
            value = nest.value("arith.fptosi", (value,), I32)
        if value.type is not t.storage_type:
            value = nest.value("arith.trunci", (value,), t.storage_type)
    return nest.finish(value)[0]


def _known(op: Operation) -> tuple[int, int, int, int]:
    """Return the operand's shape with 0 for dynamic sizes; raise QuantTypeError for a dynamic height or width."""
    images, height, width, channels = tensor_type(op.operands[0]).shape or (None,) * 4
    if height is None or width is None:
        raise QuantTypeError(
            f"the height and width (dimensions 1 and 2) of the operand must be static, got {op.operands[0].type}"
        )
    return images or 0, height, width, channels or 0


def _nest(context: LoweringContext, op: Operation, rows: int, columns: int) -> tuple[Value, LoopNest]:
    stored = context.storage(op.operands[0])
    images, *_, channels = context.extents(stored)
    return stored, LoopNest(context, "resize", [images, rows, columns, channels])


def _number(nest: LoopNest, value: Value, t: Type, computed: Type) -> Value:
    """Convert a stored element to `computed`, the type in which the interpolation rule computes."""
    if isinstance(t, FloatType):
        return value
    assert isinstance(t, UniformType)  # the family takes no others
    if isinstance(computed, IntegerType):
        return nest.extend(value, computed, t.is_signed)
    return nest.value("arith.uitofp", (nest.extend(value, I32, False),), F32)


class _Arithmetic:
    """Builder of additions, subtractions and multiplications in one integer or float type."""

    def __init__(self, nest: LoopNest, type: Type) -> None:
        self.nest, self.type = nest, type
        self.letter = "f" if isinstance(type, FloatType) else "i"

    def __call__(self, name: str, a: Value, b: Value | int) -> Value:
        right = b if isinstance(b, Value) else self.nest.constant(b, self.type)
        return self.nest.value(f"arith.{name}{self.letter}", (a, right), self.type)

    def signed(self, name: str, a: Value, b: int) -> Value:
        return self.nest.value(f"arith.{name}", (a, self.nest.constant(b, self.type)), self.type)


def _lines(of: _Arithmetic, a: Value, b: Value, weight: Value, one: int) -> Value:
    """Emit the linear interpolation `a * one + (b - a) * weight`, which is `one` times the interpolated value.

    `weight / one` is the fraction of the distance from `a` to `b`.
    """
    return of("add", a if one == 1 else of("mul", a, one), of("mul", of("sub", b, a), weight))


def _fixed11(of: _Arithmetic, corners: list[Value], down: Value, right: Value) -> Value:
    top, bottom = (_lines(of, *pair, right, 2048) for pair in ((corners[0], corners[1]), (corners[2], corners[3])))
    return of.signed("shrsi", of("add", _lines(of, top, bottom, down, 2048), 1 << 21), 22)


def _lines_float32(of: _Arithmetic, corners: list[Value], down: Value, right: Value) -> Value:
    top, bottom = (_lines(of, *pair, right, 1) for pair in ((corners[0], corners[1]), (corners[2], corners[3])))
    return _lines(of, top, bottom, down, 1)


def _products(of: _Arithmetic, corners: list[Value], down: Value, right: Value, one: int) -> Value:
    whole = of.nest.constant(one, of.type)
    up, left = of("sub", whole, down), of("sub", whole, right)
    a, b, c, d = corners
    weighted = ((a, up, left), (c, down, left), (b, up, right), (d, down, right))
    first, *rest = (of("mul", of("mul", v, v_down), v_right) for v, v_down, v_right in weighted)
    for term in rest:
        first = of("add", first, term)
    return first


def _products_float32(of: _Arithmetic, corners: list[Value], down: Value, right: Value) -> Value:
    return _products(of, corners, down, right, 1)


def _fixed10_away(of: _Arithmetic, corners: list[Value], down: Value, right: Value) -> Value:
    acc = _products(of, corners, down, right, 1024)
    is_positive = of.nest.compare(_SGT, acc, of.nest.constant(0, of.type))
    halves = [of.nest.constant(half, of.type) for half in (1 << 19, -(1 << 19))]
    half = of.nest.value("arith.select", (is_positive, *halves), of.type)
    return of.signed("divsi", of("add", acc, half), 1 << 20)


_SGT = 4
"""The predicate of arith.cmpi: greater, signed."""
_RULES = {
    "fixed11": _fixed11,
    "fixed10_away": _fixed10_away,
    "products_float32": _products_float32,
    "lines_float32": _lines_float32,
}
