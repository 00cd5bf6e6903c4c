"""Writes ONNX models from data, by `onnx.helper`.

    content = model([node("Add", ["x", "y"], ["z"])], inputs={"x": np.float32, "y": ...}, outputs=["z"], ...)

Nothing is checked: wrong files can be written too.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

Shape = Sequence[int | str | None]
node = helper.make_node
DTYPES = dict(onnx.TensorProto.DataType.items())


def port(name: str, dtype: str = "FLOAT", shape: Shape | None = None) -> Any:
    """An input or an output; ``dtype`` is ONNX's name of it."""
    return helper.make_tensor_value_info(name, DTYPES[dtype], shape)


def tensor(name: str, array: Any, dtype: str | None = None) -> Any:
    """An initializer: of another dtype than the array's where one is said, as INT4, whose elements are packed."""
    array = np.asarray(array)
    if dtype is None:
        return numpy_helper.from_array(array, name)
    return helper.make_tensor(name, DTYPES[dtype], array.shape, array.ravel().tolist())


def model(
    nodes: Iterable[Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    constants: Mapping[str, Any] | None = None,
    *,
    opset: int = 17,
    ir_version: int = 10,
    functions: Sequence[Any] = (),
    change: Any = None,
) -> bytes:
    """The bytes of a model. A constant is an array, or a tensor of the file. ``change`` is called with the message."""
    tensors = [
        tensor(name, value) if isinstance(value, np.ndarray | np.generic) else value
        for name, value in (constants or {}).items()
    ]
    graph = helper.make_graph(list(nodes), "graph", list(inputs), list(outputs), tensors)
    domains = {"": opset, "com.microsoft": 1, **{each.domain: 1 for each in functions}}
    if any(each.domain == "ai.onnx.ml" for each in graph.node):
        domains["ai.onnx.ml"] = 5 if any(each.op_type == "TreeEnsemble" for each in graph.node) else 3
    opsets = [helper.make_opsetid(domain, version) for domain, version in domains.items()]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=ir_version, functions=list(functions))
    if change is not None:
        change(made)
    return bytes(made.SerializeToString())
