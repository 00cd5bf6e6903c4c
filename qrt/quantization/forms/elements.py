"""Operations that compute each element of a tensor alone: `arith` and `math` on tensors, and the parallel ops of
`linalg`, whichever form they are written in."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property

from qrt.errors import QuantTypeError
from qrt.ir import DenseElementsAttr, DenseResourceAttr, FloatAttr, IntegerAttr, Operation, Value
from qrt.ir.core.constraints import is_ranked_tensor
from qrt.ir.core.matching import constant_of
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ops.elementwise import BINDERS, FLOAT_PREDICATES, INTEGER_PREDICATES
from qrt.types import FloatType, TensorType

Expression = tuple[object, ...]
"""`("input", i)`, `("constant", number)`, or the name of an op and its operands; a comparison's predicate follows its
name."""
Axes = tuple[int | None, ...]
"""For each axis of an input, that of the result whose index it has; None for an axis of size 1."""

MAX_OPERATIONS = 8
"""The most operations that an expression is made of: shared parts are written out for each use."""
_PREDICATES = {"arith.cmpf": tuple(FLOAT_PREDICATES), "arith.cmpi": tuple(INTEGER_PREDICATES)}
INNER_ANNOTATIONS = ("quant.stats", "quant.stats_ref")
"""Annotations that a region may take into its body, where they decide nothing. A `quant.coupled_ref` stays outside:
what it couples would be lost."""


def tensor_type(value: Value) -> TensorType | None:
    """The type of a ranked tensor; None of anything else."""
    return value.type if isinstance(value.type, TensorType) and value.type.shape is not None else None


def shape_of(value: Value) -> tuple[int | None, ...]:
    """The shape of a ranked tensor; that of a scalar is empty."""
    type = tensor_type(value)
    return () if type is None else tuple(type.shape or ())


def behind(value: Value, passed: list[Operation]) -> Value:
    """The value that annotations annotate; they are added to ``passed``."""
    while value.operation is not None and value.operation.name in INNER_ANNOTATIONS:
        passed.append(value.operation)
        value = value.operation.operands[0]
    return value


def dense_of(value: Value) -> DenseElementsAttr | None:
    """The constant tensor that a value is; a resource is read."""
    constant = constant_of(value)
    if isinstance(constant, DenseResourceAttr):
        try:
            return DenseElementsAttr(constant.array, constant.type)
        except QuantTypeError as error:
            assert value.operation is not None  # it has the constant
            raise value.operation.error(str(error)) from None
    return constant if isinstance(constant, DenseElementsAttr) else None


def splat_of(value: Value) -> float | None:
    """The float that every element of a value is known to be."""
    constant = constant_of(value)
    if isinstance(constant, FloatAttr):
        return constant.value
    if isinstance(constant, DenseElementsAttr) and isinstance(constant.element, FloatType) and constant.is_splat:
        first = constant.element_at((0,) * constant.array.ndim)
        assert isinstance(first, FloatAttr)
        return first.value
    source = value.operation
    if source is not None and source.name in ("linalg.fill", "linalg.broadcast", "tensor.splat"):
        return splat_of(source.operands[0])
    return None


@dataclass(frozen=True)
class Elements:
    """One computation for every element of the result."""

    operation: Operation
    inputs: tuple[Value, ...]
    axes: tuple[Axes, ...]
    computed: Expression

    @property
    def is_copy(self) -> bool:
        """Whether an element of the result is one of the only input."""
        return self.computed == ("input", 0)

    def simplified(self) -> "Elements":
        """The same, with splats as constants of the expression and each other input once."""
        return self._simplified

    @cached_property
    def _simplified(self) -> "Elements":
        known = [splat_of(value) for value in self.inputs]
        kept: list[int] = []
        new: dict[int, Expression] = {}
        for number, (value, axes, splat) in enumerate(zip(self.inputs, self.axes, known, strict=True)):
            if splat is not None:
                new[number] = ("constant", splat)
                continue
            same = [k for k in kept if self.inputs[k] is value and self.axes[k] == axes]
            kept += [] if same else [number]
            new[number] = ("input", kept.index(same[0] if same else number))
        return Elements(
            self.operation,
            tuple(self.inputs[k] for k in kept),
            tuple(self.axes[k] for k in kept),
            _substituted(self.computed, new),
        )

    def with_input(self, number: int, source: "Elements") -> "Elements":
        """The same, with an input that is read at the same index as what its own operation computes."""
        first = len(self.inputs)
        moved: dict[int, Expression] = {k: ("input", first + k) for k in range(len(source.inputs))}
        new: dict[int, Expression] = {k: ("input", k) for k in range(first)}
        new[number] = _substituted(source.computed, moved)
        computed = _substituted(self.computed, new)
        whole = Elements(self.operation, (*self.inputs, *source.inputs), (*self.axes, *source.axes), computed)
        return whole._without(number)

    def _without(self, number: int) -> "Elements":
        """The same, without an input that is not read."""
        places = [k for k in range(len(self.inputs)) if k != number]
        new: dict[int, Expression] = {k: ("input", place) for place, k in enumerate(places)}
        inputs, axes = tuple(self.inputs[k] for k in places), tuple(self.axes[k] for k in places)
        return Elements(self.operation, inputs, axes, _substituted(self.computed, new))

    def is_identity(self, number: int) -> bool:
        """Whether an input has the shape of the result and is read at the same index."""
        return self.axes[number] == tuple(range(len(shape_of(self.operation.results[0]))))


def _substituted(expression: Expression, new: dict[int, Expression]) -> Expression:
    if expression[0] == "input":
        assert isinstance(expression[1], int)
        return new[expression[1]]
    return tuple(_substituted(part, new) if isinstance(part, tuple) else part for part in expression)


_READ: ContextVar[dict[Value, Elements | None] | None] = ContextVar("qrt_elements", default=None)


@contextmanager
def reading_once() -> Iterator[None]:
    """Within it each operation is read once: none may change."""
    token = _READ.set({})
    try:
        yield
    finally:
        _READ.reset(token)


def elements_of(value: Value) -> Elements | None:
    """The operation that makes a tensor, if it computes each element alone."""
    known = _READ.get()
    if known is None:
        return _elements_of(value)
    if value not in known:
        known[value] = _elements_of(value)
    return known[value]


def _elements_of(value: Value) -> Elements | None:
    operation = value.operation
    if operation is None or len(operation.results) != 1 or tensor_type(value) is None:
        return None
    if isinstance(operation, StructuredOp):
        return _of_structured(operation)
    if operation.name not in BINDERS:
        return None
    rank = len(shape_of(value))
    axes = [tuple(range(rank)) if is_ranked_tensor(operand.type) else () for operand in operation.operands]
    inputs = tuple(("input", i) for i in range(len(operation.operands)))
    computed = _call(operation, inputs)
    return Elements(operation, tuple(operation.operands), tuple(axes), computed)


def _of_structured(operation: StructuredOp) -> Elements | None:
    maps = operation.indexing_maps
    order = [result[1] if isinstance(result, tuple) and result[0] == "d" else None for result in maps[-1].results]
    if any(kind != "parallel" for kind in operation.iterators) or None in order or len(set(order)) < len(order):
        return None
    computed = body_expression(operation)
    if computed is None:
        return None
    used = sorted(_inputs_of(computed))
    axes = [_axes(maps[number].results, order, shape_of(operation.operands[number])) for number in used]
    known = [found for found in axes if found is not None]
    if len(known) < len(axes):
        return None
    new: dict[int, Expression] = {number: ("input", place) for place, number in enumerate(used)}
    inputs = tuple(operation.operands[number] for number in used)
    return Elements(operation, inputs, tuple(known), _substituted(computed, new))


def _inputs_of(expression: Expression) -> set[int]:
    if expression[0] == "input":
        assert isinstance(expression[1], int)
        return {expression[1]}
    return {number for part in expression if isinstance(part, tuple) for number in _inputs_of(part)}


def _axes(results: Sequence[object], order: list[int | None], shape: Sequence[int | None]) -> Axes | None:
    """The axes of an input with these results of its map; None where it is read at another index than a plain one.

    Index 0 of a longer axis is a slice, which no broadcast is."""
    found: list[int | None] = []
    for result, size in zip(results, shape, strict=True):
        if result == 0 and size == 1:
            found.append(None)
        elif isinstance(result, tuple) and result[0] == "d" and result[1] in order:
            found.append(order.index(result[1]))
        else:
            return None
    return tuple(found)


def body_expression(operation: StructuredOp) -> Expression | None:
    """What the body of an op with one output yields; None where it is too long, or knows where it is."""
    block = operation.regions[0].blocks[0]
    last = block.last
    if last is None or len(last.operands) != 1 or len(block.operations) > MAX_OPERATIONS + 1:
        return None

    def written(value: Value) -> Expression | None:
        if value.owner is block:
            return ("input", value.index)
        constant = constant_of(value)
        if isinstance(constant, FloatAttr | IntegerAttr):
            return ("constant", constant.value)
        inner = value.operation
        if inner is None or inner.parent is not block or inner.name not in BINDERS or len(inner.results) > 1:
            return None
        parts = [written(operand) for operand in inner.operands]
        known = tuple(part for part in parts if part is not None)
        return _call(inner, known) if len(known) == len(parts) else None

    return written(last.operands[0])


def _call(operation: Operation, operands: Sequence[Expression]) -> Expression:
    if operation.name in _PREDICATES:
        predicate = operation.attributes["predicate"]
        assert isinstance(predicate, IntegerAttr)
        return (operation.name, _PREDICATES[operation.name][predicate.value], *operands)
    return (operation.name, *operands)


def repeated(value: Value, axes: Axes) -> tuple[Value, Axes, tuple[Operation, ...]]:
    """What a value is a broadcast of, its axes in the result, and the operations that broadcast it."""
    passed: list[Operation] = []
    while True:
        source, elements = value.operation, elements_of(value)
        if elements is not None and elements.is_copy and len(elements.axes[0]) < len(axes):
            axes = tuple(None if axis is None else axes[axis] for axis in elements.axes[0])
            value = elements.inputs[0]
        elif source is not None and source.name == "tensor.expand_shape" and _is_vector_among_ones(source):
            axes = tuple(axis for axis, size in zip(axes, shape_of(value), strict=True) if size != 1) or axes[-1:]
            value = source.operands[0]
        else:
            return value, axes, tuple(reversed(passed))
        assert source is not None
        passed.append(source)


def _is_vector_among_ones(expand: Operation) -> bool:
    sizes = [size for size in shape_of(expand.results[0]) if size != 1]
    return len(shape_of(expand.operands[0])) == 1 and len(sizes) <= 1
