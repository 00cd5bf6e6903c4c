"""Steps of recurrent operators on floats: their operands, the loop over the steps, and the state between runs."""

from collections.abc import Callable, Mapping, Sequence

from qrt.errors import shown
from qrt.ir import Attribute, Block, DenseArrayAttr, Region, Value
from qrt.ir.core.define import OPERAND_SEGMENTS, segments
from qrt.ir.dialects.linalg.lowering import F32, LoweringContext
from qrt.models.importing.data_movement import taken
from qrt.models.importing.node import lowering_context
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.operands import input_shape
from qrt.types import IndexType, IntegerType, TensorType

_INDEX, _I64, _OPEN = IndexType(), IntegerType(64), -(1 << 63)
Step = Callable[[LoweringContext, Value, Sequence[Value]], list[Value]]
"""Appends one step for the given inputs and state, and returns the new state; its first value is the step's result."""
_CELLS = ("LSTM", "RNN")
"""The operators that compute one step, of inputs [batch, inputs]."""


def check_shapes(node: Node, shapes: Mapping[int, tuple[int | None, ...]], cells: tuple[int | None, ...]) -> None:
    """Raise UnsupportedForm for dynamic sizes, and ModelError if the shape of an input is not that in ``shapes``.

    ``shapes`` has the expected shapes by input number, and ``cells`` is (number of cells,).
    """
    rank = 2 if node.op.name in _CELLS else 3
    if len(input_shape(node)) != rank or None in (*input_shape(node), *cells):
        node.refuse(f"inputs {node.type(0).shown()}")
    for i, wanted in shapes.items():
        if node.has(i) and input_shape(node, i) != wanted:
            node.fail(
                f"{shown(node.input(i).name)} must have the shape {list(wanted)}, got {list(input_shape(node, i))}"
            )


def all_steps(node: Node, step: Step, states: tuple[int, ...], is_backward: bool = False) -> Value:
    """Import all steps of a recurrent operator, store its state after the last step, and return its result.

    ``step`` appends one step. ``states`` are the numbers of the inputs that are the operator's state. With
    ``is_backward`` the last step comes first.
    """
    x, is_cell = node.value(0), node.op.name in _CELLS
    is_first = not is_cell and bool(node.options["time_major"])
    assert isinstance(x.type, TensorType)
    if is_cell:
        x = node.emit("qrt.reshape", [x], None, TensorType((1, *(x.type.shape or ())), F32))
    elif not is_first:
        x = node.emit("qrt.transpose", [x], {"permutation": (1, 0, 2)})
    if is_backward:
        x = _reversed(node, x)
    steps, batch, depth = (size or 0 for size in shape_of_value(x))
    for i in states:
        if not node.input(i).is_variable or input_shape(node, i)[:-1] != (batch,) or len(input_shape(node, i)) != 2:
            node.fail(
                f"{shown(node.input(i).name)} (a state) must be a variable of rank 2 with {batch} rows, got "
                f"{node.type(i).shown()}"
            )
    before = [node.value(i) for i in states]
    if steps == 1:
        row = node.emit("qrt.reshape", [x], None, TensorType((batch, depth), F32))
        after = step(lowering_context(node), row, before)
        y = after[0]
    else:
        y, *after = _loop(node, x, step, before)
    for i, value in zip(states, after, strict=True):
        node.graph.store(node.op, node.graph.variable(node.input(i)), value)
    shape = (batch, input_shape(node, states[0])[1])
    y = node.emit("qrt.reshape", [y], None, TensorType(shape if is_cell else (steps, *shape), F32))
    if is_backward:
        y = _reversed(node, y)
    return y if is_cell or is_first else node.emit("qrt.transpose", [y], {"permutation": (1, 0, 2)})


def _reversed(node: Node, x: Value) -> Value:
    steps = shape_of_value(x)[0] or 0
    return taken(node, x, 0, max(steps - 1, 0), steps, -1)


def _loop(node: Node, x: Value, step: Step, before: Sequence[Value]) -> list[Value]:
    """Append an `scf.for` over the steps of ``x`` [steps, batch, inputs], with the initial state ``before``.

    Return the results of all steps [steps, batch, cells], followed by the final state.
    """
    context = lowering_context(node)
    steps, batch, depth = (size or 0 for size in shape_of_value(x))
    cells = shape_of_value(before[0])[1]
    y = context.value("tensor.empty", (), TensorType((steps, batch, cells), F32))
    types = [y.type, *(value.type for value in before)]
    block = Block([_INDEX, *types])
    counter, results, *state = block.arguments
    inside = LoweringContext(block, context.location)
    row = _slice(inside, "tensor.extract_slice", (x,), counter, (batch, depth), TensorType((batch, depth), F32))
    after = step(inside, row, state)
    results = _slice(inside, "tensor.insert_slice", (after[0], results), counter, (batch, cells or 0), results.type)
    inside.emit("scf.yield", [results, *after])
    ends = [context.constant(n, _INDEX) for n in (0, steps, 1)]
    return list(context.emit("scf.for", [*ends, y, *before], types, {}, [Region([block])]).results)


def shape_of_value(value: Value) -> tuple[int | None, ...]:
    """Return the shape of a tensor value."""
    assert isinstance(value.type, TensorType)
    return value.type.shape or ()


def _slice(
    context: LoweringContext, name: str, tensors: tuple[Value, ...], at: Value, sizes: tuple[int, int], type: object
) -> Value:
    """Append a `tensor.extract_slice` or `tensor.insert_slice` (``name``) of the step with index ``at``.

    ``sizes`` is the shape of one step, and ``type`` the type of the result.
    """
    attributes: dict[str, Attribute] = {
        "static_offsets": DenseArrayAttr(_I64, (_OPEN, 0, 0)),
        "static_sizes": DenseArrayAttr(_I64, (1, *sizes)),
        "static_strides": DenseArrayAttr(_I64, (1, 1, 1)),
        OPERAND_SEGMENTS: segments(*[1] * len(tensors), 1, 0, 0),
    }
    assert isinstance(type, TensorType)
    return context.value(name, (*tensors, at), type, attributes)
