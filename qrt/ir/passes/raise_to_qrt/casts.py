"""Raising of lowered casts: float arithmetic that equals a `quant.qcast` or `quant.dcast`.

The arithmetic is element-wise `arith` and `math` on tensors, or a `linalg.generic` on elements and on vectors of
constants with one constant for each channel.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError
from qrt.ir import Attribute, Builder, DenseElementsAttr, FloatAttr, IntegerAttr, Operation, StringAttr, Value
from qrt.ir.core.affine import AffineMapAttr, Expression
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import constant_of
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.passes.raise_to_qrt.terms import NotRaisedError
from qrt.ops.elementwise import FLOAT_PREDICATES
from qrt.types import FloatType, IntegerType, TensorType, UniformType

ROOTS = ("arith.mulf", "arith.fptosi", "arith.fptoui")
"""The last operations of lowered casts."""
_STEPS = ("arith.", "math.roundeven")
_UNORDERED = list(FLOAT_PREDICATES).index("uno")
_MOST_STEPS = 20
"""More than the operations of a cast."""


@dataclass(frozen=True)
class Constant:
    """A constant as Python numbers: one number, or one for each channel along the dimension `axis`."""

    values: tuple[Any, ...]
    axis: int | None = None


@dataclass(frozen=True)
class Step:
    """One operation in the computation of a result's element, with the op `name`.

    An operand is another step, a constant, or the tensor whose element is read. `predicate` is that of a comparison.
    """

    name: str
    operands: tuple["Step | Constant | Value", ...]
    predicate: int = 0


Node = Step | Constant | Value


def raised_cast(operation: Operation) -> Value | None:
    """Build the cast whose arithmetic ends with `operation`, and return its result; None if there is no such cast."""
    result = operation.results[0]
    type = result.type
    if not isinstance(type, TensorType) or type.shape is None:
        return None
    try:
        root = _Reader(len(type.shape)).of(result)
        return _dequantized(operation, type, root) or _quantized(operation, type, root)
    except (NotRaisedError, QuantTypeError):
        return None  # other arithmetic on floats is no cast, and its types may have no storage


def is_last(operation: Operation) -> bool:
    """Return True if a cast's arithmetic may end with an operation on tensors, or with a `linalg.generic`."""
    if operation.name in ROOTS:
        return isinstance(operation.results[0].type, TensorType)
    if operation.name != "linalg.generic" or len(operation.results) != 1:
        return False
    last = operation.regions[0].blocks[0].last
    source = None if last is None else last.operands[0].operation
    return source is not None and source.name in ROOTS


class _Reader:
    """Converter of an element of a result, which has the rank `rank`, to steps and constants."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.steps = 0

    def of(self, value: Value) -> Node:
        """Return the step, constant or tensor that gives the element of `value` at the result element's indices."""
        operation, constant = value.operation, constant_of(value)
        if isinstance(constant, DenseElementsAttr):
            return Constant((np.asarray(constant.python).flat[0].item(),)) if constant.is_splat else value
        if operation is None:
            return value
        if operation.name == "tensor.splat":
            return _constant(operation.operands[0]) or value
        if operation.name == "linalg.generic" and self.steps == 0:
            self.steps = 1
            return self._generic(operation)
        return self._step(operation, self.of) if operation.name.startswith(_STEPS) else value

    def _generic(self, operation: Operation) -> Node:
        assert isinstance(operation, StructuredOp)
        (block,) = operation.regions[0].blocks
        identity = AffineMapAttr.identity(self.rank)
        inputs: dict[Value, Node] = {}
        for argument, operand, map in zip(block.arguments, operation.operands, operation.indexing_maps, strict=True):
            inputs[argument] = self.of(operand) if map == identity else _channels(operand, map.results)
        if operation.indexing_maps[-1] != identity or block.last is None:
            return operation.results[0]

        def scalar(value: Value) -> Node:
            if value in inputs:
                return inputs[value]
            inner = value.operation
            if inner is None or not (inner.name.startswith(_STEPS) or inner.name == "arith.constant"):
                raise NotRaisedError("a scalar of the caller")
            return _constant(value) or self._step(inner, scalar)

        return scalar(block.last.operands[0])

    def _step(self, operation: Operation, node: Callable[[Value], Node]) -> Node:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise NotRaisedError("more operations than a cast has")
        operands = tuple(node(operand) for operand in operation.operands)
        is_conversion = operation.name in ("arith.sitofp", "arith.uitofp")
        if is_conversion and not isinstance(operands[0], Constant) and node == self.of:
            operands = (operation.operands[0],)  # integers are read, whatever computes them
        predicate = operation.attributes.get("predicate")
        step = Step(operation.name, operands, predicate.value if isinstance(predicate, IntegerAttr) else 0)
        return _as_float(step, operation) if is_conversion and isinstance(operands[0], Constant) else step


def _constant(value: Value) -> Constant | None:
    constant = constant_of(value)
    if isinstance(constant, FloatAttr | IntegerAttr):
        return Constant((constant.python,))
    return None


def _channels(operand: Value, indices: Sequence[Expression]) -> Node:
    """Return the constants in a vector with one constant for each channel; raise NotRaisedError for other operands."""
    constant = constant_of(operand)
    if not isinstance(constant, DenseElementsAttr) or len(indices) != 1:
        raise NotRaisedError("an operand is neither read at the result's place nor a vector of constants")
    (index,) = indices
    if not isinstance(index, tuple) or index[0] != "d":
        raise NotRaisedError("blocks of channels, or one of them")
    return Constant(tuple(np.asarray(constant.python).tolist()), int(index[1]))


def _as_float(step: Step, operation: Operation) -> Constant:
    """Return the result of converting an integer constant to floats; raise NotRaisedError if floats may round it."""
    (constant,) = step.operands
    source, form = element_of(operation.operands[0].type), element_of(operation.results[0].type)
    assert isinstance(constant, Constant)
    if not isinstance(source, IntegerType) or not isinstance(form, FloatType):
        raise NotRaisedError("a conversion of other types")
    modulus = 1 << source.width
    low = -(modulus // 2) if step.name == "arith.sitofp" else 0
    integers = [(int(value) - low) % modulus + low for value in constant.values]
    if any(abs(value) >= 1 << 24 for value in integers):
        raise NotRaisedError("a zero point that floats may round")
    return Constant(tuple(map(float, integers)), constant.axis)


# -- the casts -------------------------------------------------------------------------------------------------------


def _parts(node: Node, name: str) -> tuple[Node, ...] | None:
    return node.operands if isinstance(node, Step) and node.name == name else None


def _offset(node: Node, name: str) -> tuple[Node, Constant]:
    """Return (value, constant) of the sum or difference `name` (an op); (node, 0) for any other node."""
    parts = _parts(node, name)
    if parts is not None and isinstance(parts[1], Constant):
        return parts[0], parts[1]
    return node, Constant((0.0,))


def _dequantized(operation: Operation, result: TensorType, root: Node) -> Value | None:
    """Build a `quant.dcast` for `(float(x) - zero point) * scale`; return None for other arithmetic."""
    product = _parts(root, "arith.mulf")
    if product is None or not isinstance(product[1], Constant):
        return None
    centred, zero_points = _offset(product[0], "arith.subf")
    if not isinstance(centred, Step) or centred.name not in ("arith.sitofp", "arith.uitofp"):
        return None
    (x,) = centred.operands
    if not isinstance(x, Value) or not _fits(x, result):
        return None
    t = _type(x, centred.name == "arith.sitofp", element_of(result), product[1], zero_points)
    b = Builder(operation)
    return b.value("quant.dcast", (b.value("quant.scast", (x,), result.with_(element=t)),), result)


def _quantized(operation: Operation, result: TensorType, root: Node) -> Value | None:
    """Build a `quant.qcast` for `integer(clamp(round(x / scale + zero point)))`; return None for other arithmetic.

    Arithmetic without `clamp` and `round` is accepted too: that of upstream's pass, which rounds toward zero and is
    undefined for values out of range.
    """
    if not isinstance(root, Step) or root.name not in ROOTS[1:]:
        return None
    is_signed, (value,) = root.name == "arith.fptosi", root.operands
    bounds: tuple[int | None, int | None] = None, None
    attributes: dict[str, Attribute] = {"rounding": StringAttr("toward_zero")}
    upper = _parts(value, "arith.minimumf")
    if upper is not None:
        lower = _parts(upper[0], "arith.maximumf")
        ends = [] if lower is None else [lower[1], upper[1]]
        if lower is None or not all(isinstance(end, Constant) and len(end.values) == 1 for end in ends):
            return None
        low, high = (end.values[0] for end in ends if isinstance(end, Constant))
        rounded = _parts(lower[0], "math.roundeven")
        if rounded is None or not (float(low).is_integer() and float(high).is_integer()):
            return None
        bounds, attributes, value = (int(low), int(high)), {}, rounded[0]
    value, nan = _without_nan(value, is_clamped=upper is not None)
    quotient, zero_points = _offset(value, "arith.addf")
    parts = _parts(quotient, "arith.divf")
    if parts is None or not isinstance(parts[0], Value) or not isinstance(parts[1], Constant):
        return None
    x = parts[0]
    if not _fits(x, result):
        return None
    t = _type(operation.results[0], is_signed, element_of(x.type), parts[1], zero_points, *bounds)
    clamped = [float(min(max(point, t.storage_min), t.storage_max)) for point in t.zero_points]
    if nan is not None and list(np.broadcast_to(nan.values, len(clamped))) != clamped:
        return None
    b = Builder(operation)
    cast = b.value("quant.qcast", (x,), result.with_(element=t), attributes)
    return b.value("quant.scast", (cast,), result)


def _without_nan(node: Node, is_clamped: bool) -> tuple[Node, Constant | None]:
    """Return (value, constant) of `select(is NaN(value), constant, value)`; (node, None) if `is_clamped` is False.

    Raise NotRaisedError if the node is not such a selection although the cast is clamped.
    """
    if not is_clamped:
        return node, None
    parts = _parts(node, "arith.select")
    if parts is None or not isinstance(parts[1], Constant):
        raise NotRaisedError("NaNs are not replaced")
    if parts[0] != Step("arith.cmpf", (parts[2], parts[2]), _UNORDERED):
        raise NotRaisedError("another condition than that of NaNs")
    return parts[2], parts[1]


def _fits(x: Value, result: TensorType) -> bool:
    return isinstance(x.type, TensorType) and x.type.shape == result.shape


def _type(
    stored: Value,
    is_signed: bool,
    expressed: Any,
    scales: Constant,
    zero_points: Constant,
    low: int | None = None,
    high: int | None = None,
) -> UniformType:
    """Return the quantized type of the integers `stored`; raise NotRaisedError if there is no such type.

    `low` and `high` are the storage bounds, None for the default bounds.
    """
    element = element_of(stored.type)
    if not isinstance(element, IntegerType) or not isinstance(expressed, FloatType):
        raise NotRaisedError("no integers")
    if not all(float(value).is_integer() for value in zero_points.values):
        raise NotRaisedError("zero points that are not integers")
    axis = zero_points.axis if scales.axis is None else scales.axis
    if zero_points.axis not in (None, axis):
        raise NotRaisedError("scales and zero points along different dimensions")
    count = max(len(scales.values), len(zero_points.values))
    lists = [list(np.broadcast_to(c.values, count).tolist()) for c in (scales, zero_points)]
    points = list(map(int, lists[1]))
    storage = f"{'i' if is_signed else 'u'}{element.width}"
    if axis is None:
        return UniformType(storage, expressed, lists[0][0], points[0], storage_min=low, storage_max=high)
    return UniformType(storage, expressed, lists[0], points, axis=axis, storage_min=low, storage_max=high)
