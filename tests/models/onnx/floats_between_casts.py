"""An engine that runs ONNX models here without folding: each operator between casts computes floats, as the file says.

`Comparison` takes it in place of the runtime, so that folded groups are compared where no runtime is installed.
"""

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np

from qrt.ir import Module, Operation
from qrt.models.engines.ort import OnnxRuntime
from qrt.models.importing.comparison_source import named_values
from qrt.models.onnx.folding import Folding
from qrt.models.onnx.importing import import_model
from qrt.models.onnx.read import read
from qrt.models.profiles import profile
from qrt.ops.core import Array
from qrt.quantization.calibration.observe import name_of, tapped_program
from qrt.runtime.compilation import compile
from qrt.tensor import QuantTensor


class FloatsBetweenCasts(OnnxRuntime):
    """An engine in this process. Tensors have the names of the file."""

    name = "qrt without folding"

    def __init__(self) -> None:
        """Start no process."""

    def load(self, model: Any, **_: Any) -> Any:
        return UnfoldedModel(model)

    def close(self) -> None:
        """Have nothing to end."""


class UnfoldedModel:
    """A model without folded groups."""

    def __init__(self, content: bytes) -> None:
        with patch.object(Folding, "_fold_operator", lambda self, op: None):
            module = import_model(read(content), profile("ort"))
        self.program = compile(Module(module.operation.clone({}), module.upstream))
        self.output_keys = [port.name for port in self.program.outputs]
        values = named_values(module.function("main"))
        self.tapped = tapped_program(module, "main", {value: name for name, value in values.items()})
        self.names = set(values)

    def readable(self) -> set[str]:
        return self.names | set(self.output_keys)

    def run(self, inputs: Sequence[Array], tensors: Sequence[str]) -> list[Array]:
        named = dict(zip((port.name for port in self.program.inputs), inputs, strict=True))
        values: dict[str, Array] = {}

        def tap(op: Operation, value: Any) -> None:
            values[name_of(op)] = np.asarray(value)

        results = self.tapped.run_arrays(self.tapped.arrays_of(named), tap=tap)
        for name, value in zip(self.output_keys, results, strict=True):
            values[name] = np.asarray(value.storage if isinstance(value, QuantTensor) else value)
        return [values[name] for name in tensors]

    def close(self) -> None:
        """Have nothing to free."""
