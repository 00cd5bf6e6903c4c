"""Runs models: here, and by ONNX Runtime with its optimizations off."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

import qrt
from qrt.ir import Module
from qrt.models.onnx.importing import import_model
from qrt.models.onnx.read import read
from qrt.models.profiles import profile
from qrt.ops.core import Array
from tests.models.onnx.writing import model, node, port


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


@cache
def multiplies_exactly() -> bool:
    """Whether ONNX Runtime, if it is installed, adds up products of uint8 by int8 exactly. On a CPU without VNNI pairs
    of them saturate at 16 bits, so that its results are no oracle there."""
    if not has_oracle():
        return True
    a, b = np.full((1, 8), 255, np.uint8), np.full((8, 1), 127, np.int8)
    content = model(
        [node("MatMulInteger", ["a", "b"], ["y"])], [port("a", "UINT8", a.shape)], [port("y", "INT32")], {"b": b}
    )
    return bool(run_oracle(content, {"a": a})[0] == 8 * 255 * 127)


SATURATES = "ONNX Runtime's sums of uint8 by int8 saturate on this CPU, which has no VNNI"


def run_oracle(content: bytes, inputs: Mapping[str, Any]) -> list[Array]:
    """What ONNX Runtime computes of a model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return [np.asarray(value) for value in session.run(None, dict(inputs))]
