"""Bodies of loop nests that are more than one expression: operations that are written one after the other, several
results, casts, and folds along axes.
"""

import numpy as np

from qrt.ir import FloatAttr, IntegerAttr, Operation, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import constant_of
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.models.onnx.exporting.exported_value import Order
from qrt.models.onnx.exporting.group import Group
from qrt.models.onnx.exporting.writers.elementwise import OPERATORS
from qrt.ops.elementwise import FLOAT_PREDICATES
from qrt.quantization.forms.elements import Expression, shape_of, splat_of
from qrt.types import FloatType, IntegerType, Type

COMPARISONS = {"oeq": "Equal", "ogt": "Greater", "oge": "GreaterOrEqual", "olt": "Less", "ole": "LessOrEqual"}
"""The operators of comparisons of floats: those that are false of a NaN."""
_FLOATS_ARE_EQUAL = 11
"""The first opset in which Equal takes floats."""
INTEGERS = {"arith.addi": "Add", "arith.muli": "Mul", "arith.select": "Where", "arith.subi": "Sub"}
"""The operators of integers, which wrap, and of a choice."""
_BOOLS = {"arith.andi": "And", "arith.ori": "Or", "arith.xori": "Xor"}
"""The operators of bools."""
_CASTS = frozenset({"arith.fptosi", "arith.sitofp", "arith.extsi", "arith.trunci"})
_TYPES: dict[Type, int] = {
    FloatType("f32"): 1,
    FloatType("f64"): 11,
    IntegerType(8): 3,
    IntegerType(32): 6,
    IntegerType(64): 7,
}
"""The numbers of types in ONNX's list."""
_FOLDS = {
    "arith.addf": ("ReduceSum", 13, "Add", 0.0),
    "arith.maximumf": ("ReduceMax", 18, "Max", float("-inf")),
    "arith.minimumf": ("ReduceMin", 18, "Min", float("inf")),
}
"""For the operation of a fold its operator, the first opset in which this takes the axes as an input, the operator of
two tensors, and the number with which a fold may begin without one."""


def is_needed(expression: Expression) -> bool:
    """Whether an expression has operations that are several operators, or depend on the types in between."""
    op, *parts = expression
    if op == "constant":
        return isinstance(parts[0], int)
    inner = [part for part in parts if isinstance(part, tuple)]
    return op in ("math.fma", "math.round", "math.trunc") or op in _CASTS or any(map(is_needed, inner))


def write(group: Group) -> None:
    """An operator for each operation of the body, with broadcasting; of a fold the operator that reduces."""
    nest = group.op
    if not isinstance(nest, StructuredOp):
        group.refuse("an element-wise operation that ONNX does not have")
    if "reduction" in nest.iterators:
        _fold(group, nest)
        return
    loops = [("d", loop) for loop in range(len(nest.iterators))]
    if any(list(map_.results) != loops for map_ in nest.indexing_maps[nest.input_count :]):
        group.refuse("loops whose results have another order of axes")
    body = _Body(group, nest)
    for i, value in enumerate(nest.regions[0].blocks[0].terminator.operands):
        group.set_real(body.result(value), i=i)


class _Body:
    """The operations of a body, each of which is written once."""

    def __init__(self, group: Group, nest: StructuredOp) -> None:
        self.group = group
        self.nest = nest
        self.block = nest.regions[0].blocks[0]
        self.names: dict[Value, str] = {}

    def result(self, value: Value) -> str:
        """The tensor of a value that is a result, which a node of its own makes."""
        if not self.has_all_axes(value):
            return self._expanded(self.name(value))
        is_made_for_it = value.operation is not None and constant_of(value) is None and len(value.uses) == 1
        name = self.name(value)
        if is_made_for_it:
            return name
        return self.group.node("Identity", name)

    def has_all_axes(self, value: Value) -> bool:
        """Whether the operands of which a value is computed have every loop together."""
        read = {axis for number in self._read(value) for axis in self._axes(number)}
        return read.issuperset(range(len(self.nest.iterators)))

    def _read(self, value: Value) -> set[int]:
        """The operands that a value of the body is computed of."""
        seen, pending = {value}, [value]
        while pending:
            inner = pending.pop().operation
            new = set() if inner is None else {*inner.operands} - seen
            seen |= new
            pending += new
        return {each.index for each in seen if each.owner is self.block}

    def _expanded(self, name: str) -> str:
        """A tensor in the shape of the results, which is known, or that of an operand."""
        group, sizes = self.group, self.group.result().shape
        if None not in sizes:
            return group.node("Expand", name, group.integers([size or 0 for size in sizes], "shape"))
        loops = list(range(len(self.nest.iterators)))
        whole = next((number for number in range(self.nest.input_count) if self._axes(number) == loops), None)
        if whole is None:
            group.refuse("a broadcast to a shape that no operand has")
        return group.node("Expand", name, group.node("Shape", group.real(whole)))

    def name(self, value: Value) -> str:
        """The tensor of a value of the body."""
        if value not in self.names:
            self.names[value] = self._made(value)
        return self.names[value]

    def _made(self, value: Value) -> str:
        group = self.group
        if value.owner is self.block:
            if value.index >= self.nest.input_count:
                group.refuse("loops that read the initial value of their result")
            return group.real(value.index, self._order(value.index))
        constant = constant_of(value)
        if isinstance(constant, FloatAttr):
            return group.floats(constant.value, "constant")
        if isinstance(constant, IntegerAttr) and value.type == IntegerType(32):
            return group.constant(np.array(constant.python, np.int32), "constant")
        if constant is not None or value.operation is None or value.operation.parent is not self.block:
            group.refuse("an integer constant in a loop body")
        return self._computed(value.operation)

    def _computed(self, op: Operation) -> str:
        group, parts = self.group, [self.name(operand) for operand in op.operands]
        if op.name == "math.fma":
            return group.node("Add", group.node("Mul", *parts[:2]), parts[2])
        if op.name == "math.round":
            return _half_away(group, parts[0])
        if op.name == "math.trunc":
            return group.node("Mul", group.node("Sign", parts[0]), group.node("Floor", group.node("Abs", parts[0])))
        if op.name in _BOOLS and op.results[0].type == IntegerType(1):
            return group.node(_BOOLS[op.name], *parts)
        if op.name in _CASTS:
            kind = _TYPES.get(op.results[0].type)
            if kind is None:
                group.refuse(f"{op.name} to {op.results[0].type}")
            if op.operands[0].type == IntegerType(1):  # -1 where it holds, of which Cast makes 1
                group.refuse(f"{op.name} of i1")
            return group.node("Cast", parts[0], to=kind)
        if op.name == "arith.cmpf":
            predicate = tuple(FLOAT_PREDICATES)[op.attributes["predicate"].python]
            if predicate == "oeq":
                group.graph.need(_FLOATS_ARE_EQUAL)
            return group.node(COMPARISONS.get(predicate) or group.refuse(op.name), *parts)
        return group.node(OPERATORS.get(op.name) or INTEGERS.get(op.name) or group.refuse(op.name), *parts)

    def _axes(self, number: int) -> list[int | None]:
        """The loop along each axis of an operand; None along one of size 1 that is read at one place."""
        found: list[int | None] = []
        value, map_ = self.nest.operands[number], self.nest.indexing_maps[number]
        for size, result in zip(shape_of(value), map_.results, strict=True):
            loop = result[1] if isinstance(result, tuple) and result[0] == "d" else None
            if loop is None and (size, result) != (1, 0):
                self.group.refuse("loops that read several neighbouring elements")
            found.append(loop)
        return found

    def _order(self, number: int) -> Order | None:
        """The order in which an operand broadcasts to the result; None of one that has all its axes."""
        axes, rank = self._axes(number), len(self.nest.iterators)
        if axes == list(range(rank)):
            return None
        if None in axes:
            self.group.refuse("an axis of size 1 that is read at a constant index")
        return tuple(axes.index(axis) if axis in axes else None for axis in range(rank))


def _half_away(group: Group, name: str) -> str:
    """Return numbers rounded to integers, halves away from 0.

    What is below a half is compared with it: 0.5 added to the float before 0.5 would be rounded to 1.
    """
    magnitude = group.node("Abs", name)
    whole = group.node("Floor", magnitude)
    is_below = group.node("Less", group.node("Sub", magnitude, whole), group.floats(0.5, "half"))
    above = group.node("Add", whole, group.floats(1.0, "one"))
    return group.node("Mul", group.node("Sign", name), group.node("Where", is_below, whole, above))


def _fold(group: Group, nest: StructuredOp) -> None:
    """Sums, maxima and minima along axes of what the body computes of an element, and what they begin with."""
    block, inputs = nest.regions[0].blocks[0], nest.input_count
    axes = [axis for axis, kind in enumerate(nest.iterators) if kind == "reduction"]
    kept = [("d", loop) for loop in range(len(nest.iterators)) if loop not in axes]
    if any(list(map_.results) != kept for map_ in nest.indexing_maps[inputs:]):
        group.refuse("a reduction over another order of axes")
    if not all(isinstance(element_of(group.operand(number).type), FloatType) for number in range(inputs)):
        group.refuse("a reduction of integers")
    body = _Body(group, nest)
    for i, value in enumerate(block.terminator.operands):
        group.set_real(_folded(group, body, value, i, axes), i=i)


def _folded(group: Group, body: _Body, value: Value, i: int, axes: list[int]) -> str:
    """The tensor of the fold that makes a result."""
    number = body.nest.input_count + i
    running, start, last = body.block.arguments[number], splat_of(body.nest.operands[number]), value.operation
    if last is None or last.name not in _FOLDS or start is None:
        group.refuse("loops that are neither element-wise nor a reduction")
    folded = [operand for operand in last.operands if operand is not running]
    if len(folded) != 1 or not body.has_all_axes(folded[0]):
        group.refuse("a reduction over another order of axes")
    op_type, since, both, neutral = _FOLDS[last.name]
    elements = body.name(folded[0])
    if group.opset >= since:
        name = group.node(op_type, elements, group.integers(axes, "axes"), keepdims=0)
    else:
        name = group.node(op_type, elements, axes=axes, keepdims=0)
    return name if start == neutral else group.node(both, name, group.floats(start, "start"))
