"""The export of loop nests whose bodies have several operations or results, casts, or reductions."""

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
"""The operators of float comparisons that are false for a NaN."""
_FLOATS_ARE_EQUAL = 11
"""The first opset in which Equal takes floats."""
INTEGERS = {"arith.addi": "Add", "arith.muli": "Mul", "arith.select": "Where", "arith.subi": "Sub"}
"""The operators on integers, which wrap, and the operator that selects."""
_BOOLS = {"arith.andi": "And", "arith.ori": "Or", "arith.xori": "Xor"}
"""The operators on bools."""
_CASTS = frozenset({"arith.fptosi", "arith.sitofp", "arith.extsi", "arith.trunci"})
_TYPES: dict[Type, int] = {
    FloatType("f32"): 1,
    FloatType("f64"): 11,
    IntegerType(8): 3,
    IntegerType(32): 6,
    IntegerType(64): 7,
}
"""ONNX's numbers of types."""
_FOLDS = {
    "arith.addf": ("ReduceSum", 13, "Add", 0.0),
    "arith.maximumf": ("ReduceMax", 18, "Max", float("-inf")),
    "arith.minimumf": ("ReduceMin", 18, "Min", float("inf")),
}
"""By the operation of a reduction: its operator, the first opset with axes as an input, the operator on two tensors,
and the initial value that needs no operator."""


def is_needed(expression: Expression) -> bool:
    """Return True if the simpler code of the module `nests` cannot export an expression, so that `write` must do it.

    This is the case if the expression has an integer constant, or an operation that converts a type or that needs
    several ONNX operators, such as `math.fma`.
    """
    op, *parts = expression
    if op == "constant":
        return isinstance(parts[0], int)
    inner = [part for part in parts if isinstance(part, tuple)]
    return op in ("math.fma", "math.round", "math.trunc") or op in _CASTS or any(map(is_needed, inner))


def write(group: Group) -> None:
    """Export a loop nest as an operator for each operation of its body, or as a reduction."""
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
    """The body of a loop nest during export. Each operation is exported once."""

    def __init__(self, group: Group, nest: StructuredOp) -> None:
        self.group = group
        self.nest = nest
        self.block = nest.regions[0].blocks[0]
        self.names: dict[Value, str] = {}

    def result(self, value: Value) -> str:
        """Return the name of a tensor with a value that the body returns, in the shape of the results.

        A tensor that is also the operand of another node is copied by an Identity, so that the result can be renamed.
        """
        if not self.has_all_axes(value):
            return self._expanded(self.name(value))
        is_made_for_it = value.operation is not None and constant_of(value) is None and len(value.uses) == 1
        name = self.name(value)
        if is_made_for_it:
            return name
        return self.group.node("Identity", name)

    def has_all_axes(self, value: Value) -> bool:
        """Return True if the operands on which ``value`` depends have together an axis for every loop."""
        read = {axis for number in self._read(value) for axis in self._axes(number)}
        return read.issuperset(range(len(self.nest.iterators)))

    def _read(self, value: Value) -> set[int]:
        """Return the indices of the operands on which a value of the body depends."""
        seen, pending = {value}, [value]
        while pending:
            inner = pending.pop().operation
            new = set() if inner is None else {*inner.operands} - seen
            seen |= new
            pending += new
        return {argument.index for argument in seen if argument.owner is self.block}

    def _expanded(self, name: str) -> str:
        """Add an Expand of a tensor to the shape of the results, and return the name of its result.

        If the shape is not static, it is read from an operand with an axis for every loop.
        """
        group, sizes = self.group, self.group.result().shape
        if None not in sizes:
            return group.node("Expand", name, group.integers([size or 0 for size in sizes], "shape"))
        loops = list(range(len(self.nest.iterators)))
        whole = next((number for number in range(self.nest.input_count) if self._axes(number) == loops), None)
        if whole is None:
            group.refuse("a broadcast to a shape that no operand has")
        return group.node("Expand", name, group.node("Shape", group.real(whole)))

    def name(self, value: Value) -> str:
        """Return the name of a tensor with a value of the body, which is exported when it is first used."""
        if value not in self.names:
            self.names[value] = self._written(value)
        return self.names[value]

    def _written(self, value: Value) -> str:
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
            if op.operands[0].type == IntegerType(1):  # true is -1 here, but Cast converts it to 1
                group.refuse(f"{op.name} of i1")
            return group.node("Cast", parts[0], to=kind)
        if op.name == "arith.cmpf":
            predicate = tuple(FLOAT_PREDICATES)[op.attributes["predicate"].python]
            if predicate == "oeq":
                group.graph.need(_FLOATS_ARE_EQUAL)
            return group.node(COMPARISONS.get(predicate) or group.refuse(op.name), *parts)
        return group.node(OPERATORS.get(op.name) or INTEGERS.get(op.name) or group.refuse(op.name), *parts)

    def _axes(self, number: int) -> list[int | None]:
        """Return, for each axis of operand ``number``, the index of the loop that runs along it.

        An axis of size 1 that is read at index 0 gives None.
        """
        loops: list[int | None] = []
        value, map_ = self.nest.operands[number], self.nest.indexing_maps[number]
        for size, result in zip(shape_of(value), map_.results, strict=True):
            loop = result[1] if isinstance(result, tuple) and result[0] == "d" else None
            if loop is None and (size, result) != (1, 0):
                self.group.refuse("loops that read several neighbouring elements")
            loops.append(loop)
        return loops

    def _order(self, number: int) -> Order | None:
        """Return the order of axes in which operand ``number`` broadcasts to the result.

        Return None if its axes already have this order.
        """
        axes, rank = self._axes(number), len(self.nest.iterators)
        if axes == list(range(rank)):
            return None
        if None in axes:
            self.group.refuse("an axis of size 1 that is read at a constant index")
        return tuple(axes.index(axis) if axis in axes else None for axis in range(rank))


def _half_away(group: Group, name: str) -> str:
    """Add nodes that round numbers to integers, halves away from 0; return the result's name.

    The fraction is compared with 0.5, because 0.5 added to the float just below 0.5 would be 1.
    """
    magnitude = group.node("Abs", name)
    whole = group.node("Floor", magnitude)
    is_below = group.node("Less", group.node("Sub", magnitude, whole), group.floats(0.5, "half"))
    above = group.node("Add", whole, group.floats(1.0, "one"))
    return group.node("Mul", group.node("Sign", name), group.node("Where", is_below, whole, above))


def _fold(group: Group, nest: StructuredOp) -> None:
    """Export a reduction: sums, maxima or minima along axes, of elements that the body of a loop nest computes."""
    block, inputs = nest.regions[0].blocks[0], nest.input_count
    axes = [axis for axis, kind in enumerate(nest.iterators) if kind == "reduction"]
    loops = [("d", loop) for loop in range(len(nest.iterators)) if loop not in axes]
    if any(list(map_.results) != loops for map_ in nest.indexing_maps[inputs:]):
        group.refuse("a reduction over another order of axes")
    if not all(isinstance(element_of(group.operand(number).type), FloatType) for number in range(inputs)):
        group.refuse("a reduction of integers")
    body = _Body(group, nest)
    for i, value in enumerate(block.terminator.operands):
        group.set_real(_folded(group, body, value, i, axes), i=i)


def _folded(group: Group, body: _Body, value: Value, i: int, axes: list[int]) -> str:
    """Return the name of a tensor with result ``i``, a reduction along ``axes``.

    ``value`` is the body's value for this result: an addition, minimum or maximum of the running result and an element.
    """
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
