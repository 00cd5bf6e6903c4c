"""Import of variables, CALL_ONCE, WHILE, IF and CALL. A called subgraph becomes a private function."""

from collections.abc import Sequence

from qrt.errors import plural
from qrt.ir import Value
from qrt.models.importing import control
from qrt.models.tflite.check import callees
from qrt.models.tflite.model import Tensor
from qrt.models.tflite.node import Node
from qrt.models.tflite.state import Handle, Variable
from qrt.types import Type

# -- variables -------------------------------------------------------------------------------------------------------


def var_handle(node: Node) -> None:
    """Import VAR_HANDLE: record the variable to which a resource tensor refers. No operation is emitted."""
    node.graph.handles[node.outputs[0].index] = node.options["container"], node.options["shared_name"]


def _variable(node: Node) -> Variable:
    return node.graph.importer.state.resource(node.graph.handle(node.input(0), node.op))


def read_variable(node: Node) -> None:
    """Import READ_VARIABLE: load a variable. The import fails if no operator of the model sets the variable."""
    node.set(0, node.graph.load(node.op, _variable(node), node.result_type()))


def assign_variable(node: Node) -> None:
    """Import ASSIGN_VARIABLE: store to a variable. In a subgraph of CALL_ONCE, set the variable's initial value."""
    variable = _variable(node)
    if not node.graph.is_initial:
        node.graph.store(node.op, variable, node.value(1))
        return
    array = node.constant(1)
    if array is None:
        node.refuse("an initial value that is not constant")
    if not node.graph.importer.state.declare(variable, node.type(1)):
        node.fail(
            f"variable {variable.name!r} has the type {variable.type}, but gets a value of type {node.type(1).shown()}"
        )
    node.graph.importer.state.initialise(variable, array)


def call_once(node: Node) -> None:
    """Import CALL_ONCE: set the initial values of variables to the values that its subgraph assigns to them."""
    (index,) = callees(node.op)
    node.graph.importer.initialise(index)


# -- control ---------------------------------------------------------------------------------------------------------


class _Call:
    """A call of the private function that computes a subgraph.

    Resource handles are not arguments of the function: it is specialised to the variables to which they refer.
    """

    def __init__(self, node: Node, index: int, operands: Sequence[Tensor]) -> None:
        subgraph = node.graph.model.subgraphs[index]
        self.results = [subgraph.tensors[tensor] for tensor in subgraph.outputs]
        if len(operands) != len(subgraph.inputs):
            node.fail(
                f"subgraph {index} has {plural(len(subgraph.inputs), 'input')}, but is called with {len(operands)}"
            )
        handles: dict[int, Handle] = {}
        for tensor, target in zip(operands, subgraph.inputs, strict=True):
            if (tensor.dtype == "resource") != (subgraph.tensors[target].dtype == "resource"):
                node.fail(
                    f"tensor {tensor.name!r} has the type {tensor.dtype}, but input "
                    f"{subgraph.tensors[target].name!r} of subgraph {index} expects "
                    f"{subgraph.tensors[target].dtype}"
                )
            if tensor.dtype == "resource":
                handles[target] = node.graph.handle(tensor, node.op)
        self.function = node.graph.importer.subgraph_function(index, handles)

    def types(self) -> tuple[Sequence[Type], Sequence[Type]]:
        """Return the types of the function's arguments and of its results."""
        type = self.function.type
        return type.inputs, type.results


def _values(node: Node, tensors: Sequence[Tensor]) -> list[Value]:
    return [node.graph.value(tensor, node.op) for tensor in tensors if tensor.dtype != "resource"]


def _set_results(node: Node, values: Sequence[Value], handles: Sequence[Tensor] = ()) -> None:
    """Set the results of a node. ``values`` are the results that are not resource handles.

    A result that is a resource handle refers to the same variable as the operand at the same position in ``handles``.
    """
    left = iter(values)
    for number, tensor in enumerate(node.outputs):
        if tensor.dtype != "resource":
            node.set(number, next(left))
        elif number < len(handles):
            node.graph.handles[tensor.index] = node.graph.handle(handles[number], node.op)
        else:
            node.refuse("a result that is a handle of a variable")


def _check_results(node: Node, call: _Call) -> None:
    if [tensor.dtype for tensor in call.results] != [tensor.dtype for tensor in node.outputs]:
        node.fail(
            f"its outputs must have the number and the types of the outputs of subgraph @{call.function.sym_name}"
        )


def call(node: Node) -> None:
    """Import CALL or STABLEHLO_COMPOSITE: call a subgraph. A composite's subgraph is its decomposition."""
    (index,) = callees(node.op)
    operands = [node.input(number) for number in range(len(node.inputs))]
    subgraph_call = _Call(node, index, operands)
    _check_results(node, subgraph_call)
    values = _values(node, operands)
    if [value.type for value in values] != list(subgraph_call.types()[0]):
        node.refuse("operands whose types differ from those of the subgraph's inputs")
    _set_results(node, control.call(node.graph.block, subgraph_call.function, values))


def if_(node: Node) -> None:
    """Import IF: call one of two subgraphs, chosen by a bool."""
    operands = [node.input(number) for number in range(1, len(node.inputs))]
    calls = [_Call(node, index, operands) for index in callees(node.op)]
    for subgraph_call in calls:
        _check_results(node, subgraph_call)
    values = _values(node, operands)
    inputs, results = calls[0].types()
    if [value.type for value in values] != list(inputs) or calls[1].types() != (inputs, results):
        node.refuse("branches whose tensors have other types")
    functions = [subgraph_call.function for subgraph_call in calls]
    _set_results(node, control.branches(node, node.value(0), functions, [values, values]))


def while_(node: Node) -> None:
    """Import WHILE: call a body subgraph on its own results while a condition subgraph returns true.

    A run fails after a million iterations, unless it is given another limit of steps.
    """
    operands = [node.input(number) for number in range(len(node.inputs))]
    predicate, body = (_Call(node, index, operands) for index in callees(node.op))
    _check_results(node, body)
    values = _values(node, operands)
    types = [value.type for value in values]
    if any(list(sequence) != types for sequence in (predicate.types()[0], *body.types())):
        node.refuse("tensors whose type changes between iterations")
    if len(predicate.types()[1]) != 1:
        node.fail(f"the subgraph of its condition must have 1 result, got {len(predicate.types()[1])}")
    _set_results(node, control.rounds(node, predicate.function, body.function, values), operands)
