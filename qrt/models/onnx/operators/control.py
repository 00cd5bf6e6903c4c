"""If, Loop and Scan. A nested graph becomes a private function, which `scf.if` or `scf.while` calls."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from qrt.errors import plural
from qrt.ir import Value
from qrt.ir.core.functions import FuncOp
from qrt.models.importing import control
from qrt.models.importing.data_movement import reshaped
from qrt.models.importing.node import index, lowering_context
from qrt.models.importing.unquantized import BOOL, Operand, apply, as_value, compare, number_of
from qrt.models.onnx.graph import Constant
from qrt.models.onnx.model import ModelGraph, Tensor
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import I64, Sizes, movable, shape_from, spread
from qrt.models.onnx.subgraphs import Subgraph
from qrt.ops.core import element_dtype
from qrt.types import IndexType, TensorType

_DYNAMIC = -(1 << 63)
"""The value in ``static_offsets`` of an offset that is an operand."""
_OF_ALL = "with scan outputs and {}"
_NOTHING = ModelGraph("", (), (), (), {})


# -- branches --------------------------------------------------------------------------------------------------------


def if_(node: Node) -> None:
    """Import If: run one of two graphs, selected by a bool.

    If the bool is known at import, the nodes of the selected graph are inlined. Otherwise both graphs must have results
    of the same types and ranks.
    """
    known = node.constant(0)
    if node.plain(0) is not BOOL or (known is not None and known.size != 1):
        node.fail(f"its condition must be one bool, got {node.type(0)}")
    if known is not None:
        _inline(node, "then_branch" if known.reshape(()) else "else_branch")
        return
    graphs = [Subgraph(node, name) for name in ("then_branch", "else_branch")]
    results = [_branch(node, graph) for graph in graphs]
    for i, (a, b) in enumerate(zip(*results, strict=True)):
        kind = _common(node, node.op.outputs[i], a, b)
        for graph, values in zip(graphs, results, strict=True):
            values[i] = _cast(Node(graph, node.op), values[i], kind)
    functions = [graph.close(values) for graph, values in zip(graphs, results, strict=True)]
    outputs = control.branches(node, node.value(0), functions, [graph.captures() for graph in graphs])
    for i, value in enumerate(outputs):
        node.set(i, value)


def _branch(node: Node, graph: Subgraph) -> list[Value]:
    """Import the nodes of a branch into a new private function, and return the results of the branch's graph.

    The caller ends the function by `Subgraph.close`, after it has converted the results of both branches to one type.
    """
    _check_outputs(node, graph)
    graph.open(graph.captured, _types(graph.captures()))
    graph.walk()
    return graph.results()


def _check_outputs(node: Node, graph: Subgraph) -> None:
    if graph.graph.inputs or len(graph.graph.outputs) != len(node.op.outputs):
        counts = f"{plural(len(graph.graph.inputs), 'input')} and {plural(len(graph.graph.outputs), 'output')}"
        outputs = plural(len(node.op.outputs), "output")
        node.fail(f"a branch must have no inputs and {outputs}, as many as the node, but has {counts}")


def _inline(node: Node, attribute: str) -> None:
    graph = Subgraph(node, attribute)
    _check_outputs(node, graph)
    graph.inline()
    graph.set_results()


def _types(values: Sequence[Value]) -> list[TensorType]:
    return [value.type for value in values if isinstance(value.type, TensorType)]


def _common(node: Node, name: str, a: Value, b: Value) -> TensorType:
    """Return the type of the result ``name`` of an If, given its values in the two branches.

    A size that differs between the branches becomes dynamic.
    """
    one, other = _types([a, b])
    if one.element is not other.element or one.shape is None or other.shape is None or one.rank != other.rank:
        node.refuse(f"branches that return {name} as {one} and {other}")
    return one.with_(shape=tuple(n if n == m else None for n, m in zip(one.shape, other.shape, strict=True)))


def _cast(node: Node, value: Value, kind: TensorType) -> Value:
    return value if value.type == kind else node.make("tensor.cast", [value], None, [kind]).result


# -- loops -----------------------------------------------------------------------------------------------------------


class _LoopBuilder:
    """A loop during import.

    These values are passed from each round to the next one:

    - the round's number; ``number`` is its name in the loop's body, or None, and ``shape`` its shape
    - the ``carried`` values, with their names in the body; with ``has_condition`` the first one is the condition of the
      next round
    - ``limit``, the number of rounds, if it is known only at run time
    - ``more``, values that do not change
    - the values that the body captures from the enclosing graph
    - the stacked results of all rounds
    """

    def __init__(
        self,
        node: Node,
        graph: Subgraph,
        number: str | None,
        carried: Sequence[tuple[str, Value]],
        limit: Value | int | None,
        more: Sequence[Value] = (),
        shape: tuple[int, ...] = (),
        has_condition: bool = False,
    ) -> None:
        self.node, self.graph, self.limit, self.has_condition = node, graph, limit, has_condition
        stays = [limit, *more] if isinstance(limit, Value) else list(more)
        self.names = [number, *(name for name, _ in carried), *(None for _ in stays), *graph.captured]
        values = (value for _, value in carried)
        zero = node.dense(np.zeros(shape, np.int64), I64)
        self.state = [zero, *values, *stays, *graph.captures()]
        self.count = len(carried)
        self.arguments = graph.open(self.names, _types(self.state))
        self.inner = Node(graph, node.op)
        first = 1 + len(carried) + isinstance(limit, Value)
        self.more = self.arguments[first : first + len(more)]

    def run(self, results: Sequence[Value], backwards: Sequence[bool]) -> Sequence[Value]:
        """Build the loop from the results of one round. The first results are the next carried values.

        Return the last carried values and, for each other result, a tensor that stacks the results of all rounds along
        a new first axis. If ``backwards`` is true for a result, the last round's result comes first.
        """
        number, carried = self.arguments[0], []
        for name, old, new in zip(self.names[1:], self.arguments[1:], results[: self.count], strict=False):
            is_cast = _is_more_static(new, old)
            carried.append(self.inner.emit("tensor.cast", [new], None, old.type) if is_cast else new)
            if old.type != new.type and not is_cast:
                self.node.refuse(f"{name}, whose type changes between iterations: {old.type}, then {new.type}")
        collected = zip(results[self.count :], backwards, strict=True)
        updated = [self._collect(value, is_backwards) for value, is_backwards in collected]
        one = as_value(self.inner, apply(self.inner, "arith.addi", [number, number_of(1, I64)], [I64] * 2, I64), I64)
        stays = self.arguments[1 + self.count : len(self.names)]
        body = self.graph.close([one, *carried, *stays, *updated])
        state = control.rounds(self.node, self._build_condition(), body, self.state)
        return [*state[1 : 1 + self.count], *state[len(self.names) :]]

    def position(self, backwards: bool) -> Value:
        """Return the index of the element that this round reads or writes along an axis.

        The index is the round's number. With ``backwards`` it is counted down from the last index.
        """
        number = self.arguments[0]
        if not backwards:
            return number
        last: Operand = (
            number_of(self.limit - 1, I64) if isinstance(self.limit, int) else self.arguments[1 + self.count]
        )
        if not isinstance(self.limit, int):
            last = apply(self.inner, "arith.subi", [last, number_of(1, I64)], [I64] * 2, I64)
        reverse = apply(self.inner, "arith.subi", [last, number], [I64] * 2, I64)
        return as_value(self.inner, reverse, I64)

    def _collect(self, value: Value, backwards: bool) -> Value:
        """Insert one round's result into the stacked results of all rounds, which become part of the loop's state."""
        value = self.inner.as_storage(value)
        (kind,) = _types([value])
        sizes = (self._rounds(), *self._sizes_of_result(kind))
        zeros = spread(self.node, np.zeros((), element_dtype(kind.element)), kind.element, sizes)
        self.state.append(as_value(self.node, zeros, kind.element))
        whole = self.graph.block.add_argument(TensorType(shape_from(sizes), kind.element))
        number = self.position(backwards)
        (of_number,) = _types([number])
        first = [index(self.inner, 0)] * len(of_number.shape or ())
        at = self.inner.emit("tensor.extract", [number, *first], None, I64)
        at = self.inner.emit("arith.index_cast", [at], None, IndexType())
        extents = [self.inner.emit("tensor.dim", [whole, index(self.inner, axis)])
                   for axis, size in enumerate(sizes) if axis and not isinstance(size, int)]  # fmt: skip
        rank = len(sizes)
        lists = {
            "static_offsets": [_DYNAMIC, *[0] * (rank - 1)],
            "static_sizes": [1, *(size if isinstance(size, int) else _DYNAMIC for size in sizes[1:])],
            "static_strides": [1] * rank,
        }
        operands: Sequence[Any] = [value, whole, [at], extents, []]  # no operands for strides: all are static
        return self.inner.make("tensor.insert_slice", operands, lists).result

    def _rounds(self) -> int | Value:
        if isinstance(self.limit, int):
            return self.limit
        assert self.limit is not None
        (kind,) = _types([self.limit])
        first = [index(self.node, 0)] * len(kind.shape or ())
        number = self.node.emit("tensor.extract", [self.limit, *first], None, I64)
        count = self.node.emit("arith.index_cast", [number], None, IndexType())
        return self.node.emit("arith.maxsi", [count, index(self.node, 0)])

    def _sizes_of_result(self, kind: TensorType) -> Sizes:
        """Return the sizes of a round's result of the type ``kind``.

        If a size is known only at run time, return the sizes of a carried value of the same type instead. At run time,
        a result with other sizes is an error.
        """
        if kind.shape is not None and None not in kind.shape:
            return tuple(size for size in kind.shape if size is not None)
        like = next((value for value in self.state[1 : 1 + self.count] if value.type == kind), None)
        if like is None:
            self.node.refuse("scan outputs whose shapes are known only at run time")
        return tuple(lowering_context(self.node).extents(like))

    def _build_condition(self) -> FuncOp:
        """Build the private function that returns True if there is another round."""
        graph = Subgraph(self.node, "condition", _NOTHING)
        state = graph.open([None] * len(self.state), _types(self.state))
        node = Node(graph, self.node.op)
        parts: list[Operand] = [state[1]] if self.has_condition else []
        if self.limit is not None:
            end = number_of(self.limit, I64) if isinstance(self.limit, int) else state[1 + self.count]
            parts.append(compare(node, "slt", state[0], end, I64))
        condition = reduce(lambda a, b: apply(node, "arith.andi", [a, b], [BOOL, BOOL], BOOL), parts)
        return graph.close([as_value(node, condition, BOOL)])


def _is_more_static(new: Value, old: Value) -> bool:
    """Return True if the types of two values differ only in dynamic sizes of ``old`` that are static in ``new``."""
    a, b = _types([new, old])
    if (
        a.element != b.element
        or a.shape is None
        or b.shape is None
        or a.shape == b.shape
        or len(a.shape) != len(b.shape)
    ):
        return False
    return all(there in (None, here) for here, there in zip(a.shape, b.shape, strict=True))


def loop(node: Node) -> None:
    """Import Loop: repeat a graph up to a trip count, while its condition holds.

    A carried value keeps its type. Results that are stacked over all rounds require a trip count and a condition that
    is always true. A run of more than a million rounds is an error, unless the user gives another limit of steps.
    """
    graph = Subgraph(node, "body")
    body, count = graph.graph, len(node.op.inputs) - 2
    scans = len(body.outputs) - 1 - count
    if count < 0 or len(body.inputs) != count + 2 or scans < 0 or len(node.op.outputs) != count + scans:
        node.fail(
            "its body must have as many inputs as the node (at least 2) and one more output, got "
            f"{len(node.op.inputs)} "
            f"and {len(node.op.outputs)} of the node, {len(body.inputs)} and {len(body.outputs)} of the body"
        )
    number, condition_name = (port.name for port in body.inputs[:2])
    shapes = [(1,) if port.shape == (1,) else () for port in body.inputs[:2]]
    limit, first_condition = _limit(node, scans > 0, shapes[0]), _first_condition(node, scans > 0, shapes[1])
    is_unconditional = first_condition is None and _has_true_condition(body)
    if is_unconditional and limit is None:
        node.fail("it must have a trip count or a condition, but has neither")
    if scans and not is_unconditional:
        node.refuse("scan outputs, and a number of iterations that is known only at run time")
    carried = [(port.name, node.graph.plain(node.value(2 + i))) for i, port in enumerate(body.inputs[2:])]
    truth = np.ones(shapes[1], np.bool_)
    if is_unconditional:
        graph.constants[condition_name] = Constant(truth, BOOL)
    else:
        carried.insert(0, (condition_name, node.dense(truth, BOOL) if first_condition is None else first_condition))
    rounds = _LoopBuilder(node, graph, number, carried, limit, shape=shapes[0], has_condition=not is_unconditional)
    graph.walk()
    condition, *results = graph.results()
    if not is_unconditional:
        if not control.is_one_bool(condition):
            node.fail(f"the condition that its body returns must be one bool, got {condition.type}")
        results.insert(0, reshaped(rounds.inner, condition, shapes[1]))
    outputs = rounds.run(results, [False] * scans)
    _set_results(node, outputs[0 if is_unconditional else 1 :], results[0 if is_unconditional else 1 :])


def _limit(node: Node, is_needed: bool, shape: tuple[int, ...]) -> Value | int | None:
    """Return the trip count as an int, or None if the node has none.

    A count that is known only at run time is returned as a tensor of the given shape. With ``is_needed``, raise
    UnsupportedForm if the count is missing.
    """
    if not node.has(0):
        if is_needed:
            node.refuse("scan outputs without a trip count")
        return None
    if node.plain(0) is not I64 or any(size != 1 for size in node.shape(0)):
        node.fail(f"its trip count must be one int64, got {node.type(0)}")
    if node.constant(0) is not None:
        return max(node.integers(0, "a trip count")[0], 0)
    return reshaped(node, node.value(0), shape)


def _first_condition(node: Node, is_needed: bool, shape: tuple[int, ...]) -> Value | None:
    """Return the condition of the first round as a tensor of the given shape, or None if it is missing or always true.

    With ``is_needed``, raise UnsupportedForm if the condition is known only at run time.
    """
    if not node.has(1):
        return None
    value = node.value(1)
    known = node.known(1, _OF_ALL.format("a condition")) if is_needed else node.constant(1)
    if not control.is_one_bool(value):
        node.fail(f"its condition must be one bool, got {node.type(1)}")
    return None if known is not None and known.reshape(()) else reshaped(node, value, shape)


def _has_true_condition(body: ModelGraph) -> bool:
    """Return True if a loop body always returns a true condition: a constant, or the condition that it receives."""
    makers = {name: op for op in body.operators for name in op.outputs}
    name = body.outputs[0].name
    while (op := makers.get(name)) is not None and op.key == "Identity":
        name = op.inputs[0]
    if name == body.inputs[1].name:
        return True
    value = op.attributes.get("value") if op is not None and op.key == "Constant" else body.constants.get(name)
    return isinstance(value, Tensor) and value.data.size == 1 and bool(value.data.reshape(()))


def _set_results(node: Node, values: Sequence[Value], round_results: Sequence[Value]) -> None:
    """Set output i to ``values[i]``, reinterpreted as the element type of ``round_results[i]``.

    ``round_results`` are the corresponding results of one round.
    """
    for i, (value, (kind,)) in enumerate(
        zip(values, ([result_type] for result_type in _types(round_results)), strict=True)
    ):
        node.set_plain(i, value, kind.element)


def scan(node: Node) -> None:
    """Import Scan: run a graph on each element along an axis of some tensors, in order or backwards.

    Each round passes its state to the next one, and computes one element of each stacked result.
    """
    if node.opset < 9:
        node.refuse("before opset 9, with batches")
    graph, count = Subgraph(node, "body"), node.required("num_scan_inputs", int)
    body, states = graph.graph, len(node.op.inputs) - count
    scans = len(body.outputs) - states
    if states < 0 or count < 1 or len(body.inputs) != states + count or scans < 0:
        node.fail(
            f"num_scan_inputs must be from 1 to {len(node.op.inputs)}, and the body have as many inputs as the "
            "node and an "
            f"output for each state, got {count}, {plural(len(body.inputs), 'input')} and "
            f"{plural(len(body.outputs), 'output')}"
        )
    if len(node.op.outputs) != len(body.outputs):
        node.fail(f"it must have as many outputs as its body, {len(body.outputs)}, got {len(node.op.outputs)}")
    axes = _axes(node, "scan_input_axes", [len(node.shape(states + i)) for i in range(count)])
    sizes = {node.shape(states + i)[axis] for i, axis in enumerate(axes)}
    if len(sizes) > 1:
        node.fail(f"the scanned axes must have the same size, got {' and '.join(map(str, sizes))}")
    (size,) = sizes
    carried = [(port.name, node.graph.plain(node.value(i))) for i, port in enumerate(body.inputs[:states])]
    scanned = [movable(node, states + i) for i in range(count)]
    limit: int | Value | None = size
    if size is None:
        count_of_rounds = lowering_context(node).extent(scanned[0], axes[0])
        assert isinstance(count_of_rounds, Value)
        number = node.emit("arith.index_cast", [count_of_rounds], None, I64)
        limit = node.emit("tensor.from_elements", [number], None, TensorType((), I64))
    rounds = _LoopBuilder(node, graph, None, carried, limit, scanned)
    directions = _directions(node, "scan_input_directions", count)
    for port, value, axis, is_reverse in zip(body.inputs[states:], rounds.more, axes, directions, strict=True):
        element = rounds.inner.emit("qrt.gather", [value, rounds.position(is_reverse)], {"axis": axis})
        graph.values[port.name] = element
    graph.walk()
    results = graph.results()
    outputs = list(rounds.run(results, _directions(node, "scan_output_directions", scans)))
    ranks = [(kind.rank or 0) + 1 for kind in _types(results[states:])]
    for i, axis in enumerate(_axes(node, "scan_output_axes", ranks)):
        order = [d + 1 if d < axis else d for d in range(ranks[i])]
        order[axis] = 0
        if axis:
            outputs[states + i] = node.emit("qrt.transpose", [outputs[states + i]], {"permutation": order})
    _set_results(node, outputs, results)


def _axes(node: Node, name: str, ranks: Sequence[int]) -> list[int]:
    axes = node.ints(name, (0,) * len(ranks))
    if len(axes) != len(ranks):
        node.fail(f"attribute '{name}' must have {plural(len(ranks), 'axis', 'axes')}, got {list(axes)}")
    return [node.axis(axis, rank) for axis, rank in zip(axes, ranks, strict=True)]


def _directions(node: Node, name: str, count: int) -> list[bool]:
    directions = node.ints(name, (0,) * count)
    if len(directions) != count or any(direction not in (0, 1) for direction in directions):
        node.fail(
            f"attribute '{name}' must have {plural(count, 'value')}, each 0 (forward) or 1 (reverse), got "
            f"{list(directions)}"
        )
    return [bool(direction) for direction in directions]
