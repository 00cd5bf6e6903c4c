"""The conversion of an export graph to a ``ModelProto`` of the package `onnx`."""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from qrt._version import __version__
from qrt.extras import extra
from qrt.models.onnx.exporting.graph import Body, ExportGraph, NodeText
from qrt.ops.core import Array

Port = tuple[str, str, tuple[int | None, ...]]
"""Name, ONNX's element type, and shape."""
_DATA_TYPES = {
    "bool": "BOOL",
    "float16": "FLOAT16",
    "float32": "FLOAT",
    "float64": "DOUBLE",
    "int8": "INT8",
    "int16": "INT16",
    "int32": "INT32",
    "int64": "INT64",
    "uint8": "UINT8",
    "uint16": "UINT16",
    "uint32": "UINT32",
    "uint64": "UINT64",
}


def onnx_package() -> ModuleType:
    """Import the package `onnx`. Raise MissingPackageError, with the command to install it, if it is missing."""
    return extra("onnx", "onnx")


def model_of(graph: ExportGraph, name: str, inputs: Sequence[Port], outputs: Sequence[Port]) -> Any:
    """Return the ``ModelProto`` of an export graph, without metadata. ``name`` is the graph's name."""
    onnx = onnx_package()
    helper = onnx.helper
    opset = helper.make_opsetid("", graph.opset)
    others = sorted({str(node.attributes["domain"]) for node in graph.written if "domain" in node.attributes})
    ports = {name for name, _, _ in (*inputs, *outputs)}
    message = helper.make_graph(
        [_node(onnx, node) for node in graph.written],
        name,
        [_value(onnx, *port) for port in inputs],
        [_value(onnx, *port) for port in outputs],
        [_tensor(onnx, key, *content) for key, content in graph.initializers.items()],
        value_info=[_value(onnx, key, *kind) for key, kind in graph.shapes.items() if key not in ports],
    )
    return helper.make_model(
        message,
        opset_imports=[opset, *(helper.make_opsetid(domain, 1) for domain in others)],
        ir_version=helper.find_min_ir_version_for([opset]),
        producer_name="qrt",
        producer_version=__version__,
    )


def _node(onnx: ModuleType, node: NodeText) -> Any:
    attributes = {key: _attribute(onnx, node, value) for key, value in node.attributes.items()}
    return onnx.helper.make_node(node.op_type, node.inputs, node.outputs, name=node.name, **attributes)


def _attribute(onnx: ModuleType, node: NodeText, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return onnx.numpy_helper.from_array(value)
    if not isinstance(value, Body):
        return value
    inputs, outputs = ([_value(onnx, *port) for port in ports] for ports in (value.inputs, value.outputs))
    return onnx.helper.make_graph([_node(onnx, inner) for inner in value.nodes], f"{node.name}/body", inputs, outputs)


def _value(onnx: ModuleType, name: str, data_type: str, shape: tuple[int | None, ...]) -> Any:
    kind = getattr(onnx.TensorProto, data_type)
    return onnx.helper.make_tensor_value_info(name, kind, list(shape))


def _tensor(onnx: ModuleType, name: str, array: Array, data_type: str | None) -> Any:
    kind = data_type or _DATA_TYPES[array.dtype.name]
    message = onnx.TensorProto(name=name, dims=array.shape, data_type=getattr(onnx.TensorProto, kind))
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    message.raw_data = (_packed(little) if kind in ("INT4", "UINT4") else little).tobytes()
    return message


def _packed(array: Array) -> Array:
    """Pack 4-bit elements, two to a byte. The first one has the four low-order bits of the byte."""
    flat = array.ravel().view(np.uint8) & 15
    padded = np.append(flat, np.zeros(flat.size % 2, np.uint8))
    packed: Array = padded[::2] | padded[1::2] << 4
    return packed
