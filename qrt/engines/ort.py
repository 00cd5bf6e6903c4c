"""ONNX Runtime, which runs .onnx files: optimizations off, or at their best. Only the child process imports it."""

import time
from collections.abc import Sequence
from importlib.util import find_spec
from os import PathLike
from typing import Any

import numpy as np

from qrt.engines import engine
from qrt.engines.channel import Message
from qrt.engines.child import Child, Handler
from qrt.engines.engine import MAX_BYTES, SECONDS, Engine
from qrt.errors import ModelError, nearest, shown
from qrt.extras import extra
from qrt.ops.core import Array

LEVELS = {"off": "ORT_DISABLE_ALL", "best": "ORT_ENABLE_ALL"}
"""How far the graph is optimized. With "off" each node computes what the file says of it."""


class OnnxRuntime(Engine):
    """A process of ONNX Runtime. It is started when a model is first loaded, and again after it crashed.

    Parameters
    ----------
    seconds : float, default 60
        How long loading or a run may take.
    max_bytes : int, default 8 GiB
        The address space of the process.

    Raises
    ------
    ImportError
        If ONNX Runtime or ``onnx`` is not installed: they come with the extra ``ort``.
    """

    def __init__(self, *, seconds: float = SECONDS, max_bytes: int = MAX_BYTES) -> None:
        for package in ("onnxruntime", "onnx"):
            if find_spec(package) is None:
                extra(package, "ort")
        super().__init__(Child("qrt.engines.ort", "ONNX Runtime", seconds, max_bytes))

    def load(
        self,
        model: str | PathLike[str] | bytes,
        *,
        level: str = "off",
        threads: int = 1,
        keeps_tensors: bool = False,
        name: str | None = None,
    ) -> "LoadedModel":
        """Loads a model.

        Parameters
        ----------
        model : path or bytes
            The file, or its content.
        level : {"off", "best"}
            How far the graph is optimized.
        threads : int, default 1
            How many threads an operator may use.
        keeps_tensors : bool, default False
            Whether every tensor that a node makes can be read after a run. Each becomes an output of the model, which
            keeps optimizations from fusing what makes it.
        name : str, optional
            What errors call the model: the path if not given.

        Returns
        -------
        LoadedModel

        Raises
        ------
        ModelError
            If ONNX Runtime refuses the model, crashes or takes too long.
        """
        if level not in LEVELS:
            meant = nearest(level, LEVELS) or " or ".join(LEVELS)
            raise ModelError(f"ONNX Runtime has no level {shown(level)}; did you mean {meant}?")
        values = {"level": level, "keeps": keeps_tensors}
        return LoadedModel(self._child, *self._loaded(model, name, threads, values))


class LoadedModel(engine.LoadedModel):
    """A model in a process of ONNX Runtime."""

    def run(self, inputs: Sequence[Array], tensors: Sequence[str] | None = None) -> list[Array]:
        """The outputs of a run, or the tensors of these names. Inputs are in the file's order."""
        return self._ask("run", {"tensors": tensors}, inputs)[1]

    def readable(self) -> set[str]:
        """The names of the tensors that a run can return."""
        return set(self._ask("readable", {})[0]["names"])


class _Loaded:
    """A model in the child process."""

    def __init__(self, content: bytes, values: dict[str, Any]) -> None:
        api = extra("onnxruntime", "ort")
        options = api.SessionOptions()
        options.graph_optimization_level = getattr(api.GraphOptimizationLevel, LEVELS[values["level"]])
        options.intra_op_num_threads = options.inter_op_num_threads = values["threads"]
        options.log_severity_level = 4
        given: Any = values["path"] or content
        self.outputs: list[str] = []
        if values["keeps"]:
            given, self.outputs = _with_every_output(given)
        self.session = api.InferenceSession(given, options, providers=["CPUExecutionProvider"])
        self.inputs = [port.name for port in self.session.get_inputs()]
        self.outputs = self.outputs or [port.name for port in self.session.get_outputs()]
        self.names = {port.name for port in self.session.get_outputs()}

    def feeds(self, arrays: Sequence[Array]) -> dict[str, Array]:
        if len(arrays) != len(self.inputs):
            raise ValueError(f"the model takes {len(self.inputs)} inputs, got {len(arrays)}")
        return dict(zip(self.inputs, arrays, strict=True))


def _with_every_output(given: str | bytes) -> tuple[bytes, list[str]]:
    """(a model whose outputs are all tensors that nodes make, the names of its own outputs)."""
    onnx = extra("onnx", "onnx")
    model = onnx.load_model_from_string(given) if isinstance(given, bytes) else onnx.load(given)
    own = [port.name for port in model.graph.output]
    made = dict.fromkeys(name for node in model.graph.node for name in node.output if name)
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in made if name not in own)
    return model.SerializeToString(), own


def handlers() -> dict[str, Handler]:
    """What the child process answers."""
    extra("onnxruntime", "ort")
    loaded: dict[int, _Loaded] = {}

    def load(values: dict[str, Any], arrays: list[Array]) -> Message:
        model = _Loaded(arrays[0].tobytes(), values)
        number = max(loaded, default=0) + 1
        loaded[number] = model
        outputs = {port.name: port for port in model.session.get_outputs()}
        said = {"inputs": model.session.get_inputs(), "outputs": [outputs[name] for name in model.outputs]}
        ports = {which: [_described(i, port) for i, port in enumerate(found)] for which, found in said.items()}
        return {"number": number, **ports}, []

    def run(values: dict[str, Any], arrays: list[Array]) -> Message:
        model = loaded[values["number"]]
        wanted = model.outputs if values["tensors"] is None else values["tensors"]
        if not wanted:
            return {}, []
        found = model.session.run(wanted, model.feeds(arrays))
        return {}, [np.asarray(value) for value in found]

    def readable(values: dict[str, Any], arrays: list[Array]) -> Message:
        return {"names": sorted(loaded[values["number"]].names)}, []

    def timed(values: dict[str, Any], arrays: list[Array]) -> Message:
        model, repeats = loaded[values["number"]], int(values["repeats"])
        feeds = model.feeds(arrays)
        start = time.perf_counter()
        for _ in range(repeats):
            model.session.run(model.outputs, feeds)
        return {"seconds": (time.perf_counter() - start) / repeats}, []

    def close(values: dict[str, Any], arrays: list[Array]) -> Message:
        del loaded[values["number"]]
        return {}, []

    return {"load": load, "run": run, "readable": readable, "timed": timed, "close": close}


def _described(index: int, port: Any) -> tuple[int, str, list[int], str]:
    """A size that only a run knows is -1."""
    shape = [size if isinstance(size, int) else -1 for size in port.shape]
    return index, port.name, shape, port.type.removeprefix("tensor(").removesuffix(")")
