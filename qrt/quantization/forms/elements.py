"""Recognition of elementwise operations: `arith` and `math` on tensors, and parallel `linalg` operations."""

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
"""An input `("input", i)`, a constant `("constant", number)`, or a tuple of an op's name and its operands.

For a comparison, the predicate follows the name.
"""
Axes = tuple[int | None, ...]
"""For each axis of an input, the axis of the result that has the same index; None for an axis of size 1."""

MAX_OPERATIONS = 8
"""The greatest number of operations in an expression. Shared subexpressions count once for each use."""
_PREDICATES = {"arith.cmpf": tuple(FLOAT_PREDICATES), "arith.cmpi": tuple(INTEGER_PREDICATES)}
INNER_ANNOTATIONS = ("quant.stats", "quant.stats_ref")
"""Annotations that may move into a region's body, where they have no effect.

A `quant.coupled_ref` must stay outside: inside, it would no longer couple anything.
"""


def tensor_type(value: Value) -> TensorType | None:
    """Return the type of a ranked tensor; None for any other value."""
    return value.type if isinstance(value.type, TensorType) and value.type.shape is not None else None


def shape_of(value: Value) -> tuple[int | None, ...]:
    """Return the shape of a ranked tensor, with None for each dynamic size; an empty shape for any other value."""
    type = tensor_type(value)
    return () if type is None else tuple(type.shape or ())


def behind(value: Value, passed: list[Operation]) -> Value:
    """Return the value that a chain of `quant.stats` annotates, and append the annotations to ``passed``."""
    while value.operation is not None and value.operation.name in INNER_ANNOTATIONS:
        passed.append(value.operation)
        value = value.operation.operands[0]
    return value


def dense_of(value: Value) -> DenseElementsAttr | None:
    """Return the constant tensor that defines a value, with a resource's contents loaded; None for any other value."""
    constant = constant_of(value)
    if isinstance(constant, DenseResourceAttr):
        try:
            return DenseElementsAttr(constant.array, constant.type)
        except QuantTypeError as error:
            assert value.operation is not None  # it has the constant
            raise value.operation.error(str(error)) from None
    return constant if isinstance(constant, DenseElementsAttr) else None


def splat_of(value: Value) -> float | None:
    """Return the float that all elements of a value are equal to; None if no such float is known."""
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
    """An elementwise computation: each result element is the expression ``computed`` of elements of ``inputs``.

    ``axes`` has a tuple for each input. It maps the input's axes to those result axes that have the same index; a
    broadcast axis is mapped to None.
    """

    operation: Operation
    inputs: tuple[Value, ...]
    axes: tuple[Axes, ...]
    computed: Expression

    @property
    def is_copy(self) -> bool:
        """True if each element of the result is a copy of an element of the only input."""
        return self.computed == ("input", 0)

    def simplified(self) -> "Elements":
        """Return an equal computation with splat inputs as constants of the expression, and equal inputs merged."""
        return self._simplified

    @cached_property
    def _simplified(self) -> "Elements":
        known = [splat_of(value) for value in self.inputs]
        numbers: list[int] = []
        new: dict[int, Expression] = {}
        for number, (value, axes, splat) in enumerate(zip(self.inputs, self.axes, known, strict=True)):
            if splat is not None:
                new[number] = ("constant", splat)
                continue
            same = [k for k in numbers if self.inputs[k] is value and self.axes[k] == axes]
            numbers += [] if same else [number]
            new[number] = ("input", numbers.index(same[0] if same else number))
        return Elements(
            self.operation,
            tuple(self.inputs[k] for k in numbers),
            tuple(self.axes[k] for k in numbers),
            _substituted(self.computed, new),
        )

    def with_input(self, number: int, source: "Elements") -> "Elements":
        """Return this computation with the computation ``source`` in place of input ``number``.

        The result is correct only if both computations read these inputs at the index of the result element.
        """
        first = len(self.inputs)
        moved: dict[int, Expression] = {k: ("input", first + k) for k in range(len(source.inputs))}
        new: dict[int, Expression] = {k: ("input", k) for k in range(first)}
        new[number] = _substituted(source.computed, moved)
        computed = _substituted(self.computed, new)
        whole = Elements(self.operation, (*self.inputs, *source.inputs), (*self.axes, *source.axes), computed)
        return whole._without(number)

    def _without(self, number: int) -> "Elements":
        """Return the computation after removal of input ``number``, which its expression does not use."""
        places = [k for k in range(len(self.inputs)) if k != number]
        new: dict[int, Expression] = {k: ("input", place) for place, k in enumerate(places)}
        inputs, axes = tuple(self.inputs[k] for k in places), tuple(self.axes[k] for k in places)
        return Elements(self.operation, inputs, axes, _substituted(self.computed, new))

    def is_identity(self, number: int) -> bool:
        """Return True if input ``number`` has the result's shape and is read at the index of the result element."""
        return self.axes[number] == tuple(range(len(shape_of(self.operation.results[0]))))


def _substituted(expression: Expression, new: dict[int, Expression]) -> Expression:
    if expression[0] == "input":
        assert isinstance(expression[1], int)
        return new[expression[1]]
    return tuple(_substituted(part, new) if isinstance(part, tuple) else part for part in expression)


_READ: ContextVar[dict[Value, Elements | None] | None] = ContextVar("qrt_elements", default=None)


@contextmanager
def caching_elements() -> Iterator[None]:
    """Return a context manager: in the ``with`` block, `elements_of` caches results, and no operation may change."""
    token = _READ.set({})
    try:
        yield
    finally:
        _READ.reset(token)


def elements_of(value: Value) -> Elements | None:
    """Return the elementwise computation that defines a tensor; None if the tensor is not computed elementwise."""
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
    known = [input_axes for input_axes in axes if input_axes is not None]
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
    """Map an input's axes to axes of the result, given the index expressions ``results`` of its indexing map.

    An axis is mapped to the result axis with the same index, or to None if it is broadcast: its size is 1 and its index
    0. Returns None if another index expression is not a single loop of the result. For example, index 0 of an axis
    longer than 1 selects a slice.
    """
    axes: list[int | None] = []
    for result, size in zip(results, shape, strict=True):
        if result == 0 and size == 1:
            axes.append(None)
        elif isinstance(result, tuple) and result[0] == "d" and result[1] in order:
            axes.append(order.index(result[1]))
        else:
            return None
    return tuple(axes)


def body_expression(operation: StructuredOp) -> Expression | None:
    """Return the expression that the body of a structured op yields.

    Returns None if the body is too long, or contains anything but elementwise operations on its arguments and
    constants.
    """
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
    """Return the tensor that a chain of broadcasts expands to ``value``, its axes in the result, and the broadcasts.

    ``axes`` are the axes of ``value`` in the result. If ``value`` is no broadcast, ``value`` and ``axes`` are returned.
    """
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
