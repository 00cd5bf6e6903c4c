"""The networks as ONNX models, built from the constants of the float programs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from benches.accuracy import cnn, vowels
from benches.accuracy.data import STEPS, Array

OPSET = 17
SIZE = {"digits": 8, "mnist": 28}


class Graph:
    """Nodes and constants of a graph. Values are named by numbers."""

    def __init__(self, constants: dict[str, Array]) -> None:
        self._nodes: list[Any] = []
        self._constants = [numpy_helper.from_array(value, name) for name, value in constants.items()]
        self._inputs: list[Any] = []

    def input(self, name: str, *sizes: int) -> str:
        """Floats of so many sizes after the batch's."""
        self._inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", *sizes]))
        return name

    def constant(self, name: str, value: Any) -> str:
        self._constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def op(self, name: str, *operands: str, to: str = "", **attributes: Any) -> str:
        """The value that a node gives."""
        made = to or f"v{len(self._nodes)}"
        self._nodes.append(helper.make_node(name, operands, [made], f"{name}{len(self._nodes)}", **attributes))
        return made

    def model(self, classes: int) -> ModelProto:
        """A model that gives `logits`."""
        logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", classes])
        graph = helper.make_graph(self._nodes, "network", self._inputs, [logits], self._constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


def model(name: str, constants: dict[str, Array]) -> ModelProto:
    """A network of `make accuracy`."""
    return _vowels(constants) if name == "vowels" else _images(cnn.LAYERS[name], SIZE[name], constants)


def _images(layers: Sequence[cnn.Layer], size: int, constants: dict[str, Array]) -> ModelProto:
    """NCHW, as ONNX has it: the rows of the dense weights come in the order of channels, rows, columns."""
    first = size
    known = {key: value.transpose(0, 3, 1, 2) for key, value in constants.items() if value.ndim == 4}
    known |= {key: value for key, value in constants.items() if value.ndim == 1}
    for layer in layers:
        size = layer.size(size)
    weights = constants["dense_weights"].reshape(size, size, -1, cnn.CLASSES)
    known["dense_weights"] = weights.transpose(2, 0, 1, 3).reshape(-1, cnn.CLASSES)
    graph = Graph({key: np.ascontiguousarray(value) for key, value in known.items()})
    x = graph.input("images", first, first, 1)
    x = graph.op("Reshape", x, graph.constant("nchw", np.int64([-1, 1, first, first])))
    for layer in layers:
        name = layer.name
        bias = [] if layer.is_normalized else [f"{name}_bias"]
        x = graph.op("Conv", x, f"{name}_weights", *bias, kernel_shape=[3, 3], pads=[layer.padding] * 4)
        if layer.is_normalized:
            zeros, ones = (np.full(layer.channels, value, np.float32) for value in (0, 1))
            moments = graph.constant(f"{name}_mean", zeros), graph.constant(f"{name}_variance", ones)
            x = graph.op("BatchNormalization", x, f"{name}_factor", f"{name}_term", *moments, epsilon=0.0)
        x = graph.op("Relu", x)
        x = graph.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]) if layer.is_pooled else x
    x = graph.op("Reshape", x, graph.constant("flat", np.int64([-1, len(known["dense_weights"])])))
    graph.op("Gemm", x, "dense_weights", "dense_bias", to="logits")
    return graph.model(cnn.CLASSES)


def _vowels(constants: dict[str, Array]) -> ModelProto:
    """The cell, unrolled."""
    graph = Graph(constants)
    steps = [graph.input(f"x{step}", vowels.CHANNELS) for step in range(STEPS)]
    state = graph.input("state", vowels.UNITS)
    one = graph.constant("one", np.float32(1))

    for x in steps:

        def of_x(gate: str, x: str = x) -> str:
            return graph.op("Add", graph.op("MatMul", x, f"{gate}_weights"), f"{gate}_bias")

        def of_state(gate: str, state: str = state) -> str:
            return graph.op("MatMul", state, f"{gate}_recurrent")

        update, reset = (
            graph.op("Sigmoid", graph.op("Add", of_x(gate), of_state(gate))) for gate in ("update", "reset")
        )
        inner = graph.op("Mul", reset, graph.op("Add", of_state("new"), "new_recurrent_bias"))
        new = graph.op("Tanh", graph.op("Add", of_x("new"), inner))
        taken = graph.op("Mul", graph.op("Sub", one, update), new)
        state = graph.op("Add", taken, graph.op("Mul", update, state))
    graph.op("Add", graph.op("MatMul", state, "dense_weights"), "dense_bias", to="logits")
    return graph.model(vowels.CLASSES)
