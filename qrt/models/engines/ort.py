"""Engine that runs .onnx files with ONNX Runtime, without graph optimizations or with all of them.

Only the child process imports ONNX Runtime.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from qrt.extras import extra
from qrt.models.engines.child import Handler
from qrt.models.engines.engine import Engine, handlers_of
from qrt.ops.core import Array

_READ = frozenset(
    {
        "bool", "double", "float", "float16", "int16", "int32", "int64", "int8", "uint16", "uint32", "uint64", "uint8",
    }
)  # fmt: skip
"""The element types that ONNX Runtime returns as NumPy arrays."""


class OnnxRuntime(Engine):
    """ONNX Runtime in a child process.

    Profile "ort" runs each node as it is in the file, without graph optimizations; "ort-best" runs with all of them.
    The key of a tensor is its name. With ``keeps_tensors`` all tensors become outputs of the model, which prevents the
    optimizer from fusing the nodes that compute them.
    """

    name = "ONNX Runtime"
    profiles: ClassVar[Mapping[str, str]] = {"ort": "ORT_DISABLE_ALL", "ort-best": "ORT_ENABLE_ALL"}
    module = "qrt.models.engines.ort"
    packages: ClassVar[Mapping[str, str]] = {"onnxruntime": "ort", "onnx": "ort"}


class _LoadedModel:
    """An ONNX Runtime session with a model, in the child process."""

    def __init__(self, content: bytes, values: Mapping[str, Any]) -> None:
        api = extra("onnxruntime", "ort")
        options = api.SessionOptions()
        options.graph_optimization_level = getattr(api.GraphOptimizationLevel, values["profile"])
        options.intra_op_num_threads = options.inter_op_num_threads = values["threads"]
        options.log_severity_level = 4
        given: Any = values["path"] or content
        self.outputs: list[str] = []
        if values["keeps"]:
            given, self.outputs = _with_every_output(given)
        self.session = api.InferenceSession(given, options, providers=["CPUExecutionProvider"])
        self.inputs = [port.name for port in self.session.get_inputs()]
        self.outputs = self.outputs or [port.name for port in self.session.get_outputs()]
        has_maps = any(_element(port).startswith("seq(map") for port in self.session.get_outputs())
        self.labels = _class_labels(given) if has_maps else {}

    def ports(self) -> Mapping[str, Sequence[Any]]:
        known = {port.name: port for port in self.session.get_outputs()}
        groups = {"inputs": self.session.get_inputs(), "outputs": [known[name] for name in self.outputs]}
        described = {which: [_described(i, port) for i, port in enumerate(ports)] for which, ports in groups.items()}
        return {**described, "keys": self.outputs}

    def run(self, arrays: Sequence[Array], tensors: Sequence[str] | None) -> list[Array]:
        wanted = self.outputs if tensors is None else [*dict.fromkeys(tensors)]
        if not wanted:  # the session would return all outputs
            return []
        results = dict(zip(wanted, self.session.run(wanted, self._feeds(arrays)), strict=True))
        return [self._array(name, results[name]) for name in (self.outputs if tensors is None else tensors)]

    def _array(self, name: str, result: Any) -> Array:
        """Return an output of the session as an array.

        For the output of a ZipMap, a list of dicts from labels to scores, these are the scores [batch, class].
        """
        if not isinstance(result, list):
            return np.asarray(result)
        labels = self.labels.get(name)
        if not labels or len({*labels}) != len(labels):
            raise ValueError(
                f"output {name!r} is not a tensor: only the output of a ZipMap with different class labels is converted"
            )
        scores = [[row[label] for label in labels] for row in result]
        return np.array(scores, np.float32).reshape(len(result), len(labels))

    def readable(self) -> list[str]:
        return [port.name for port in self.session.get_outputs() if _element(port) in _READ]

    def reset(self) -> None:
        """Do nothing: a session has no state."""

    def timed(self, arrays: Sequence[Array], repeats: int) -> float:
        feeds = self._feeds(arrays)
        start = time.perf_counter()
        for _ in range(repeats):
            self.session.run(self.outputs, feeds)
        return (time.perf_counter() - start) / repeats

    def _feeds(self, arrays: Sequence[Array]) -> dict[str, Array]:
        if len(arrays) != len(self.inputs):
            raise ValueError(f"the model expects {len(self.inputs)} input arrays, got {len(arrays)}")
        return dict(zip(self.inputs, arrays, strict=True))


def _class_labels(given: str | bytes) -> dict[str, list[Any]]:
    """Map the output name of each ZipMap node of a model to the node's class labels, in the file's order.

    ``given`` is the path of the file or its content.
    """
    labels = {}
    for node in _read(given).graph.node:
        if node.op_type == "ZipMap":
            values = [label for attribute in node.attribute for label in (*attribute.ints, *attribute.strings)]
            labels[node.output[0]] = [value.decode() if isinstance(value, bytes) else value for value in values]
    return labels


def _read(given: str | bytes) -> Any:
    onnx = extra("onnx", "onnx")
    return onnx.load_model_from_string(given) if isinstance(given, bytes) else onnx.load(given)


def _with_every_output(given: str | bytes) -> tuple[bytes, list[str]]:
    """Return the model as bytes, with every node's results as model outputs, and the names of its original outputs.

    ``given`` is the path of the file or its content.
    """
    onnx, model = extra("onnx", "onnx"), _read(given)
    own = [port.name for port in model.graph.output]
    results = dict.fromkeys(name for node in model.graph.node for name in node.output if name)
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in results if name not in own)
    return model.SerializeToString(), own


def _described(index: int, port: Any) -> tuple[int, str, list[int], str]:
    """Return the index, name, shape and element type of a model's input or output (``port``). Dynamic sizes are -1."""
    shape = [size if isinstance(size, int) else -1 for size in port.shape]
    return index, port.name, shape, _element(port)


def _element(port: Any) -> str:
    """Return the element type of an input or output that is a tensor, such as "float".

    For any other input or output, return the type as ONNX Runtime prints it, such as "seq(map(int64,tensor(float)))".
    """
    return str(port.type.removeprefix("tensor(").removesuffix(")"))


def handlers() -> dict[str, Handler]:
    """Return the request handlers of the child process, by name."""
    extra("onnxruntime", "ort")
    return handlers_of(_LoadedModel)
