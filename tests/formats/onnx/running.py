"""Runs models: here, and by ONNX Runtime with its optimizations off."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

import qrt
from qrt.formats.onnx.importing import import_model
from qrt.formats.onnx.read import read
from qrt.ir import Module
from qrt.ops.core import Array
from qrt.profiles import profile


def imported(content: bytes) -> Module:
    """The program of a model, verified."""
    module = import_model(read(content), profile("ort"))
    module.verify()
    return module


def run(content: bytes, **inputs: Any) -> list[Array]:
    """What a model computes here, planned; the interpreter's bits must be the same."""
    program = qrt.compile(imported(content))
    found = program.run(inputs)
    interpreted = program.run(inputs, interpret=True)
    results = [np.asarray(value) for value in found.values()]
    for result, other in zip(results, interpreted.values(), strict=True):
        assert result.tobytes() == np.asarray(other).tobytes()  # NaNs included
    return results


@cache
def has_oracle() -> bool:
    """Whether ONNX Runtime is installed."""
    try:
        import onnxruntime  # noqa: F401
    except ImportError:
        return False
    return True


def run_oracle(content: bytes, inputs: Mapping[str, Any]) -> list[Array]:
    """What ONNX Runtime computes of a model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return [np.asarray(value) for value in session.run(None, dict(inputs))]
