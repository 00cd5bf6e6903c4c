"""Engine that runs .tflite files with LiteRT, by its default kernels or its reference kernels.

Only the child process imports LiteRT.
"""

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from qrt.extras import extra
from qrt.models.engines.child import Handler
from qrt.models.engines.engine import Engine, handlers_of
from qrt.ops.core import Array


class LiteRT(Engine):
    """LiteRT in a child process.

    Profile "litert" selects LiteRT's default kernels, "litert-ref" its reference kernels. The key of a tensor is its
    index in the file.
    """

    name = "LiteRT"
    profiles: ClassVar[Mapping[str, str]] = {"litert": "BUILTIN", "litert-ref": "BUILTIN_REF"}
    module = "qrt.models.engines.litert"
    packages: ClassVar[Mapping[str, str]] = {"ai_edge_litert": "litert"}


class _LoadedModel:
    """A LiteRT interpreter with a model, in the child process."""

    def __init__(self, content: bytes, values: Mapping[str, Any]) -> None:
        self.content, self.values = content, values
        self.reset()

    def reset(self) -> None:
        """Create a new interpreter, because LiteRT's own reset does not reset resource variables."""
        api = extra("ai_edge_litert.interpreter", "litert")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the warning that preserving tensors takes memory
            self.interpreter = api.Interpreter(
                model_path=self.values["path"] or None,
                model_content=self.content or None,
                num_threads=self.values["threads"],
                experimental_op_resolver_type=getattr(api.OpResolverType, self.values["profile"]),
                experimental_preserve_all_tensors=self.values["keeps"],
            )
        self.interpreter.allocate_tensors()

    def ports(self) -> Mapping[str, Sequence[Any]]:
        inputs, outputs = self.interpreter.get_input_details(), self.interpreter.get_output_details()
        return {"inputs": _described(inputs), "outputs": _described(outputs), "keys": self._outputs()}

    def run(self, arrays: Sequence[Array], tensors: Sequence[int] | None) -> list[Array]:
        self._set(arrays)
        self.interpreter.invoke()
        return self._get(self._outputs() if tensors is None else tensors)

    def readable(self) -> list[int]:
        # A tensor with a resource handle has the dtype object, and reading it crashes.
        indices = []
        for detail in self.interpreter.get_tensor_details():
            if np.dtype(detail["dtype"]).kind in "iufbc":
                try:
                    self.interpreter.get_tensor(detail["index"])
                except ValueError:
                    continue
                indices.append(int(detail["index"]))
        return indices

    def timed(self, arrays: Sequence[Array], repeats: int) -> float:
        self._set(arrays)
        indices = [int(detail["index"]) for detail in self.interpreter.get_input_details()]
        invoke, set_tensor, outputs = self.interpreter.invoke, self.interpreter.set_tensor, self._outputs()
        start = time.perf_counter()
        for _ in range(repeats):
            for index, array in zip(indices, arrays, strict=True):
                set_tensor(index, array)
            invoke()
            self._get(outputs)
        return (time.perf_counter() - start) / repeats

    def _set(self, arrays: Sequence[Array]) -> None:
        """Set the inputs to arrays. If an array's shape differs from the input's, resize the inputs first."""
        details = self.interpreter.get_input_details()
        if len(arrays) != len(details):
            raise ValueError(f"the model expects {len(details)} input arrays, got {len(arrays)}")
        if any(tuple(d["shape"]) != a.shape for d, a in zip(details, arrays, strict=True)):
            for detail, array in zip(details, arrays, strict=True):
                self.interpreter.resize_tensor_input(detail["index"], array.shape)
            self.interpreter.allocate_tensors()
        for detail, array in zip(details, arrays, strict=True):
            self.interpreter.set_tensor(detail["index"], array)

    def _outputs(self) -> list[int]:
        return [int(detail["index"]) for detail in self.interpreter.get_output_details()]

    def _get(self, indices: Sequence[int]) -> list[Array]:
        return [np.asarray(self.interpreter.get_tensor(index)) for index in indices]


def _described(details: Sequence[Mapping[str, Any]]) -> list[tuple[int, str, list[int], str]]:
    return [(int(d["index"]), d["name"], [*map(int, d["shape"])], np.dtype(d["dtype"]).name) for d in details]


def handlers() -> dict[str, Handler]:
    """Return the request handlers of the child process, by name."""
    extra("ai_edge_litert.interpreter", "litert")
    return handlers_of(_LoadedModel)
