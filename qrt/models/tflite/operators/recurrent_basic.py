"""Import of the operator LSTM with the option kernel_type BASIC: one step, with all weights in one matrix.

Its inputs are x, the hidden values, the weights [4 * cells, inputs + cells], the bias and the cell state. It has four
results: the new hidden values, the new cell state, the inputs joined with the hidden values, and the sums of the gates.
"""

from qrt.errors import shown
from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, LoweringContext
from qrt.models.importing.data_movement import joined, taken
from qrt.models.importing.float_products import total
from qrt.models.importing.node import lowering_context
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.float_nests import require_floats, sigmoid
from qrt.models.tflite.operators.operands import input_shape
from qrt.models.tflite.operators.recurrent_steps import check_shapes

_X, _HIDDEN, _WEIGHTS, _BIAS, _CELL = range(5)
_INPUT, _CANDIDATE, _FORGET, _OUTPUT = range(4)
"""The gates in the order of the rows of the weights."""
_RESULTS = 4


def is_basic(node: Node) -> bool:
    """Return True if the option kernel_type is BASIC."""
    return str(node.options.get("kernel_type", "FULL")) == "BASIC"


def basic_step(node: Node) -> None:
    """Import LSTM with kernel_type BASIC: one step of an LSTM on float32, with four results."""
    _check(node)
    context, hidden, cell = lowering_context(node), node.value(_HIDDEN), node.value(_CELL)
    rows = joined(node, [node.value(_X), hidden], 1)
    sums = _sums(context, rows, node.value(_WEIGHTS), node.value(_BIAS))
    cells = input_shape(node, _CELL)[1] or 0
    gates = [taken(node, sums, 1, gate * cells, cells) for gate in range(_OUTPUT + 1)]
    nest = LoopNest(context, "cell", context.extents(cell))
    enter, forget = (sigmoid(nest, nest.read(gates[gate], nest.loops)) for gate in (_INPUT, _FORGET))
    candidate = nest.value("math.tanh", (nest.read(gates[_CANDIDATE], nest.loops),), F32)
    added = nest.value("arith.mulf", (enter, candidate), F32)
    remembered = nest.value("arith.mulf", (forget, nest.read(cell, nest.loops)), F32)
    (after,) = nest.finish(nest.value("arith.addf", (added, remembered), F32))
    nest = LoopNest(context, "hidden", context.extents(cell))
    out = sigmoid(nest, nest.read(gates[_OUTPUT], nest.loops))
    activated = nest.value("math.tanh", (nest.read(after, nest.loops),), F32)
    (hidden_after,) = nest.finish(nest.value("arith.mulf", (out, activated), F32))
    for i, value in enumerate((hidden_after, after, rows, sums)):
        node.set(i, value)
    for i, value in ((_HIDDEN, hidden_after), (_CELL, after)):
        if node.input(i).is_variable:
            node.graph.store(node.op, node.graph.variable(node.input(i)), value)


def _check(node: Node) -> None:
    """Raise ModelError if the operator is invalid, and UnsupportedForm if LiteRT would ignore one of its options."""
    for i in range(_CELL + 1):
        node.input(i)  # which must be there
    if len(node.inputs) != _CELL + 1 or len(node.outputs) != _RESULTS:
        node.fail(
            f"with kernel_type BASIC it must have {_CELL + 1} inputs and {_RESULTS} results, got {len(node.inputs)} "
            f"and {len(node.outputs)}"
        )
    require_floats(node, _X, _HIDDEN, _WEIGHTS, _BIAS, _CELL)
    for option, only in (("fused_activation_function", "TANH"), ("cell_clip", 0), ("proj_clip", 0)):
        if node.options[option] != only:
            node.refuse(f"the kernel BASIC with {option} {node.options[option]}, which LiteRT ignores; write {only}")
    cells, inputs, batch = input_shape(node, _CELL)[-1:], input_shape(node)[-1:], input_shape(node)[:1]
    if not cells or None in (*cells, *inputs):
        node.refuse(f"inputs {node.type(_X).shown()} with a cell state {node.type(_CELL).shown()}")
    rows, depth = 4 * (cells[0] or 0), sum(size or 0 for size in (*inputs, *cells))
    state = (*batch, *cells)
    check_shapes(node, {_HIDDEN: state, _WEIGHTS: (rows, depth), _BIAS: (rows,), _CELL: state}, cells)
    for i in (_HIDDEN, _CELL):
        _check_state(node, i)


def _check_state(node: Node, i: int) -> None:
    """Raise UnsupportedForm unless a state is a variable or an input of the model that nothing else reads.

    LiteRT overwrites the tensor with the new state. Therefore it must not share its memory with another tensor.
    """
    tensor, subgraph, model = node.input(i), node.graph.subgraph, node.graph.model
    name = shown(tensor.name)
    if node.op.inputs.count(tensor.index) > 1:
        node.fail(f"the state {name} must be one input only")
    if tensor.is_variable:
        return
    entries = {0, *(signature.subgraph for signature in model.signatures)}
    if tensor.index not in subgraph.inputs or subgraph.index not in entries:
        node.refuse(f"a state {name} that is neither a variable nor an input of the model")
    reads = sum(list(op.inputs).count(tensor.index) for op in subgraph.operators)
    if reads > 1 or tensor.index in subgraph.outputs:
        node.refuse(f"a state {name} that is read elsewhere too, because LiteRT overwrites it with the new state")


def _sums(context: LoweringContext, rows: Value, weights: Value, bias: Value) -> Value:
    """Return the sums of all gates, ``bias + rows . weights``, [batch, 4 * cells]."""

    def operands(nest: LoopNest) -> tuple[Value, Value]:
        row, unit, k = nest.loops
        return nest.read(rows, (row, k)), nest.read(weights, (unit, k))

    parallel = [context.extent(rows, 0), context.extent(weights, 0)]
    return total(context, parallel, [context.extent(weights, 1)], operands, "bias_then_fma", bias)
