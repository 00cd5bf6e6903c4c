"""ONNX Runtime, which runs .onnx files: optimizations off, or at their best. Only the child process imports it."""

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
"""The elements that it gives as arrays of NumPy."""


class OnnxRuntime(Engine):
    """A process of ONNX Runtime. In the profile "ort" each node computes what the file says of it; in "ort-best" the
    graph is optimized as far as it can be. It calls tensors by their names. Tensors that are kept become outputs of the
    model, which keeps optimizations from fusing what makes them."""

    name = "ONNX Runtime"
    profiles: ClassVar[Mapping[str, str]] = {"ort": "ORT_DISABLE_ALL", "ort-best": "ORT_ENABLE_ALL"}
    module = "qrt.models.engines.ort"
    packages: ClassVar[Mapping[str, str]] = {"onnxruntime": "ort", "onnx": "ort"}


class _LoadedModel:
    """A model in the child process."""

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

    def ports(self) -> Mapping[str, Sequence[Any]]:
        known = {port.name: port for port in self.session.get_outputs()}
        said = {"inputs": self.session.get_inputs(), "outputs": [known[name] for name in self.outputs]}
        found = {which: [_described(i, port) for i, port in enumerate(ports)] for which, ports in said.items()}
        return {**found, "keys": self.outputs}

    def run(self, arrays: Sequence[Array], tensors: Sequence[str] | None) -> list[Array]:
        wanted = self.outputs if tensors is None else [*dict.fromkeys(tensors)]
        if not wanted:  # the session takes that for all
            return []
        found = dict(zip(wanted, self.session.run(wanted, self._feeds(arrays)), strict=True))
        return [np.asarray(found[name]) for name in (self.outputs if tensors is None else tensors)]

    def readable(self) -> list[str]:
        return [port.name for port in self.session.get_outputs() if _element(port) in _READ]

    def reset(self) -> None:
        """There is no state."""

    def timed(self, arrays: Sequence[Array], repeats: int) -> float:
        feeds = self._feeds(arrays)
        start = time.perf_counter()
        for _ in range(repeats):
            self.session.run(self.outputs, feeds)
        return (time.perf_counter() - start) / repeats

    def _feeds(self, arrays: Sequence[Array]) -> dict[str, Array]:
        if len(arrays) != len(self.inputs):
            raise ValueError(f"the model has {len(self.inputs)} inputs, got {len(arrays)}")
        return dict(zip(self.inputs, arrays, strict=True))


def _with_every_output(given: str | bytes) -> tuple[bytes, list[str]]:
    """(a model whose outputs are all tensors that nodes make, the names of its own outputs)."""
    onnx = extra("onnx", "onnx")
    model = onnx.load_model_from_string(given) if isinstance(given, bytes) else onnx.load(given)
    own = [port.name for port in model.graph.output]
    made = dict.fromkeys(name for node in model.graph.node for name in node.output if name)
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in made if name not in own)
    return model.SerializeToString(), own


def _described(index: int, port: Any) -> tuple[int, str, list[int], str]:
    """A size that only a run knows is -1."""
    shape = [size if isinstance(size, int) else -1 for size in port.shape]
    return index, port.name, shape, _element(port)


def _element(port: Any) -> str:
    """Of a tensor the name of its elements; of anything else its type."""
    return str(port.type.removeprefix("tensor(").removesuffix(")"))


def handlers() -> dict[str, Handler]:
    """What the child process answers."""
    extra("onnxruntime", "ort")
    return handlers_of(_LoadedModel)
