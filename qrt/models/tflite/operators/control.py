"""Variables, CALL_ONCE, WHILE, IF and CALL. A subgraph becomes a private function."""

from collections.abc import Sequence

from qrt.ir import Value
from qrt.models.importing import control
from qrt.models.tflite.check import callees
from qrt.models.tflite.model import Tensor
from qrt.models.tflite.node import Node
from qrt.models.tflite.state import Handle, Variable
from qrt.types import Type

# -- variables -------------------------------------------------------------------------------------------------------


def var_handle(node: Node) -> None:
    """It names a variable, and computes nothing."""
    node.graph.handles[node.outputs[0].index] = node.options["container"], node.options["shared_name"]


def _variable(node: Node) -> Variable:
    return node.graph.importer.state.resource(node.graph.handle(node.input(0), node.op))


def read_variable(node: Node) -> None:
    """The value of a variable. What nothing ever sets is found when everything is imported."""
    node.set(0, node.graph.load(node.op, _variable(node), node.result_type()))


def assign_variable(node: Node) -> None:
    """Within the subgraph of CALL_ONCE it says what a variable begins with."""
    variable = _variable(node)
    if not node.graph.is_initial:
        node.graph.store(node.op, variable, node.value(1))
        return
    array = node.constant(1)
    if array is None:
        node.refuse("an initial value that is not constant")
    if not node.graph.importer.state.declare(variable, node.type(1)):
        node.fail(f"it stores {node.type(1).shown()}, but variable {variable.name!r} is {variable.type}")
    node.graph.importer.state.initialise(variable, array)


def call_once(node: Node) -> None:
    """Its subgraph runs before everything else, so that what it assigns are initial values."""
    (index,) = callees(node.op)
    node.graph.importer.initialise(index)


# -- control ---------------------------------------------------------------------------------------------------------


class _Call:
    """What is given to the function of a subgraph. Handles of variables are no values: the function knows them."""

    def __init__(self, node: Node, index: int, operands: Sequence[Tensor]) -> None:
        subgraph = node.graph.model.subgraphs[index]
        self.results = [subgraph.tensors[tensor] for tensor in subgraph.outputs]
        if len(operands) != len(subgraph.inputs):
            node.fail(
                f"it passes {len(operands)} operands to subgraph {index}, which has {len(subgraph.inputs)} inputs"
            )
        handles: dict[int, Handle] = {}
        for tensor, target in zip(operands, subgraph.inputs, strict=True):
            if (tensor.dtype == "resource") != (subgraph.tensors[target].dtype == "resource"):
                node.fail(f"tensor {tensor.name!r} is of {tensor.dtype}, but the input of subgraph {index} is not")
            if tensor.dtype == "resource":
                handles[target] = node.graph.handle(tensor, node.op)
        self.function = node.graph.importer.subgraph_function(index, handles)

    def types(self) -> tuple[Sequence[Type], Sequence[Type]]:
        """The types of the function's arguments and results."""
        found = self.function.type
        return found.inputs, found.results


def _values(node: Node, tensors: Sequence[Tensor]) -> list[Value]:
    return [node.graph.value(tensor, node.op) for tensor in tensors if tensor.dtype != "resource"]


def _set_results(node: Node, values: Sequence[Value], handles: Sequence[Tensor] = ()) -> None:
    """Results that are handles are those of the operands in the same place."""
    left = iter(values)
    for number, tensor in enumerate(node.outputs):
        if tensor.dtype != "resource":
            node.set(number, next(left))
        elif number < len(handles):
            node.graph.handles[tensor.index] = node.graph.handle(handles[number], node.op)
        else:
            node.refuse("a result that is a handle of a variable")


def _check_results(node: Node, call: _Call) -> None:
    if [each.dtype for each in call.results] != [each.dtype for each in node.outputs]:
        node.fail(f"its outputs are not those of subgraph @{call.function.sym_name}")


def call(node: Node) -> None:
    """The results of a subgraph, that of a composite its decomposition."""
    (index,) = callees(node.op)
    operands = [node.input(number) for number in range(len(node.inputs))]
    made = _Call(node, index, operands)
    _check_results(node, made)
    values = _values(node, operands)
    if [value.type for value in values] != list(made.types()[0]):
        node.refuse("operands whose types differ from those of the subgraph's inputs")
    _set_results(node, control.call(node.graph.block, made.function, values))


def if_(node: Node) -> None:
    """Two functions, of which one is called."""
    operands = [node.input(number) for number in range(1, len(node.inputs))]
    calls = [_Call(node, index, operands) for index in callees(node.op)]
    for each in calls:
        _check_results(node, each)
    values = _values(node, operands)
    inputs, results = calls[0].types()
    if [value.type for value in values] != list(inputs) or calls[1].types() != (inputs, results):
        node.refuse("branches whose tensors have other types")
    functions = [each.function for each in calls]
    _set_results(node, control.branches(node, node.value(0), functions, [values, values]))


def while_(node: Node) -> None:
    """A function that says whether to go on, and one that computes what the next round begins with. More than a million
    rounds are an error, unless the run is given a limit of steps."""
    operands = [node.input(number) for number in range(len(node.inputs))]
    goes_on, body = (_Call(node, index, operands) for index in callees(node.op))
    _check_results(node, body)
    values = _values(node, operands)
    types = [value.type for value in values]
    if any(list(each) != types for each in (goes_on.types()[0], *body.types())):
        node.refuse("tensors whose type changes between iterations")
    if len(goes_on.types()[1]) != 1:
        node.fail(f"its condition has {len(goes_on.types()[1])} results, expected 1")
    _set_results(node, control.rounds(node, goes_on.function, body.function, values), operands)
