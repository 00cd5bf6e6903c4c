"""UNIDIRECTIONAL_SEQUENCE_LSTM and SVDF. Their states are variables of the program."""

from qrt.formats.tflite import state
from qrt.formats.tflite.node import Node
from qrt.formats.tflite.operators.functions import read_as
from qrt.formats.tflite.registry import operator
from qrt.formats.tflite.types import element_of
from qrt.ir import Value
from qrt.types import UniformType

_LEFT_OUT = {
    1: "CIFG (no input gate)",
    9: "peepholes",
    10: "peepholes",
    11: "peepholes",
    16: "a projection",
    20: "layer normalization",
    21: "layer normalization",
}
_HIDDEN, _CELL = 18, 19
_WEIGHTS = (*range(1, 9), *range(12, 16))


@operator("UNIDIRECTIONAL_SEQUENCE_LSTM")
def lstm(node: Node) -> None:
    """Of i8 with a cell of i16, without peepholes, projection, layer normalization and CIFG; of float32 in every
    form."""
    x = node.element(0)
    missing = [form for i, form in _LEFT_OUT.items() if node.has(i) == (i != 1)]
    if missing:
        node.refuse(missing[0])
    if x.storage != "i8" or any(node.element(i).storage != "i8" for i in range(1, 9)):
        node.refuse(f"{x.storage} with weights of {node.element(1).storage}")
    if node.options["fused_activation_function"] != "TANH":
        node.refuse(f"activation {node.options['fused_activation_function']}")
    hidden, cell, made = node.element(_HIDDEN), node.element(_CELL), _hidden_type(node)
    if hidden.storage != "i8" or cell.storage != "i16":
        node.refuse(f"a state of {hidden.storage} and {cell.storage}")
    operands = [node.value(0)]
    operands += [_bias(node, i) if i >= 12 else node.value(i) for i in _WEIGHTS]
    operands += [node.value(_HIDDEN), node.value(_CELL)]
    attributes = {"time_major": bool(node.options["time_major"]), "cell_clip": float(node.options["cell_clip"])}
    y, after, cell_after = node.emit_all("qrt.lstm", operands, attributes, [made, made, cell])
    node.set(0, read_as(node, y, node.result_element()))
    _store(node, _HIDDEN, read_as(node, after, hidden))
    _store(node, _CELL, cell_after)


def _hidden_type(node: Node) -> UniformType:
    """The type in which a step makes its hidden values, which the last intermediate has."""
    tensors = [node.graph.subgraph.tensors[index] for index in node.op.intermediates if index >= 0]
    if len(tensors) != 5 or len(node.op.intermediates) != 5:
        node.fail(f"there are {len(tensors)} intermediates, 5 are needed")
    made = element_of(tensors[4])
    if not isinstance(made, UniformType) or made.storage != "i8":
        node.fail(f"intermediate {tensors[4].name!r} must be int8 with a scale")
    return made


def _bias(node: Node, i: int) -> Value:
    """A bias, in the scale of the sums, to which its integers are added whatever the file says."""
    scale = node.element(0).scale * node.element(i - 11).scale
    data = node.constant(i)
    if data is None or node.input(i).dtype != "int32":
        node.refuse("a bias that is no constant of int32")
    return node.dense(data, UniformType("i32", "f32", scale))


def _store(node: Node, i: int, value: Value) -> None:
    state.store(node.graph, node.op, node.graph.variable(node.input(i)), value)


@operator("SVDF")
def svdf(node: Node) -> None:
    """Of i8 with a state of i16."""
    x, feature, time, memory = (node.element(i) for i in (0, 1, 2, 4))
    if (x.storage, feature.storage, time.storage, memory.storage) != ("i8", "i8", "i16", "i16"):
        node.refuse(f"{x.storage} with weights of {feature.storage} and a state of {memory.storage}")
    if node.options["fused_activation_function"] != "RELU":
        node.fail(f"activation {node.options['fused_activation_function']}: LiteRT takes RELU, which it does not apply")
    operands = [node.value(0), node.value(1), node.value(2), node.value(4)]
    if node.has(3):
        data = node.constant(3)
        if data is None or node.input(3).dtype != "int32":
            node.refuse("a bias that is no constant of int32")
        operands.append(node.dense(data, UniformType("i32", "f32", memory.scale * time.scale)))
    out = node.result_element()
    y, after = node.emit_all("qrt.svdf", operands, {"rank": int(node.options["rank"])}, [out, memory])
    node.set(0, y)
    _store(node, 4, after)
