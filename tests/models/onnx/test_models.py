"""The given models: quantized mobilenets are folded whole, and run as one part of the plan in C. All of them are
compared with ONNX Runtime, tensor by tensor. Hazards: a form that no generated model has; a step that a
fusion changes."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import qrt
from qrt.models.diff.compare import ModelComparison
from qrt.models.diff.drawn_inputs import drawn_inputs
from qrt.models.engines.ort import OnnxRuntime
from qrt.models.importing.comparison_source import Input
from qrt.models.programs import load_reported
from qrt.ops.core import Array
from qrt.quantization.report.differences import Differences
from tests.models.beside import Row, model_row
from tests.models.onnx.oracle import ROWS
from tests.models.onnx.running import SATURATES, has_oracle, multiplies_exactly, run_oracle
from tests.models.tflite.oracle import MODELS
from tests.models.tflite.photographs import photographs

FOLDER = MODELS / "onnx"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the given models are not beside the repository")


@pytest.mark.parametrize("form", ["qdq_s8s8_pc", "qdq_u8u8_pt", "qop_s8s8_pt", "qop_u8s8_pc"])
def test_a_quantized_mobilenet_runs_in_c_alone(form: str) -> None:
    module, report = load_reported(FOLDER / f"mobilenet_v2_128_0.5.{form}.onnx")
    assert report == ("66 of 66 operators other than casts are folded\n" if form.startswith("qdq") else "")
    steps = qrt.compile(module).coverage()
    assert {step.engine for step in steps} == {"kernel"}
    assert sum(step.op == "qrt.transpose" for step in steps) == 1  # of the input


@pytest.mark.parametrize("shape", [(1, 1), (1, 14), (2, 7)])
def test_a_model_of_memories(shape: tuple[int, int]) -> None:
    """Open batch and length; products and memories that are quantized at run time are kernels. With few rows on one
    thread ONNX Runtime quantizes a batch together, as `dynamic_lstm` does; with more it takes rows in groups.
    """
    file = FOLDER / "rawi.int8.onnx"
    program = qrt.compile(qrt.load(file))
    x = np.random.default_rng(1).integers(0, 302, shape)
    (y,) = program.run({"input": x}).values()
    kernels = {step.op for step in program.coverage() if step.engine == "kernel"}
    assert kernels >= {"qrt.dynamic_lstm", "qrt.dynamic_matmul"}
    if has_oracle() and multiplies_exactly():
        np.testing.assert_array_equal(np.asarray(y), run_oracle(file.read_bytes(), {"input": x})[0])


FILES = sorted(FOLDER.glob("*.onnx"))
UINT8_BY_INT8 = ("mobilenet_v2_128_0.5.qop_u8s8_pc", "rawi.int8")


def inputs_of(ports: Sequence[Input]) -> Iterator[list[Array]]:
    """Drawn inputs, and the photographs where a model takes images of three colours."""
    yield from drawn_inputs(ports, 12)
    if len(ports) == 1 and ports[0].shape[1:2] == (3,):
        batch, channels, *image = ports[0].shape
        for each in photographs(replace(ports[0], shape=(batch, *image, channels)), MODELS / "images"):
            yield [np.ascontiguousarray(each.transpose(0, 3, 1, 2))]


def groups(found: Differences) -> dict[str, Row]:
    """What was compared of groups of casts, by operator."""
    rows: dict[str, Row] = {}
    for tensor in found.tensors:
        if tensor.operator.startswith("QDQ "):
            kind = tensor.operator.rpartition(" ")[0]
            name = f"{found.model.rpartition('/')[2]}: {kind}"
            rows.setdefault(kind, Row(name, "ort", 1)).add(tensor)
    return rows


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
@pytest.mark.skipif(not os.environ.get("QRT_REQUIRE_ORACLE"), reason="it takes a minute: make test-oracle runs it")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_tensor_is_onnx_runtime_s(path: Path, runtime: OnnxRuntime) -> None:
    """Every integer of a model in QOperator form; those of groups of casts but for one step beside ties; floats within
    what their operators may lose, which adds up to more in whole runs."""
    if path.stem in UINT8_BY_INT8 and not multiplies_exactly():
        pytest.skip(SATURATES)
    comparison = ModelComparison(path, runtime, "ort")
    for inputs in inputs_of(comparison.file.inputs):
        comparison.add(inputs)
    found = comparison.result()
    comparison.close()
    rows = groups(found)
    ROWS.extend([model_row(found, "ort"), *rows.values()])
    assert found.compared, "nothing was compared"
    assert not [tensor for tensor in found.tensors if tensor.differ and not tensor.operator.startswith("QDQ ")]
    assert not [row for row in rows.values() if row.is_wrong]
    assert bool(rows) == ("qdq" in path.stem)
    if "qop" in path.stem:
        assert not found.differ
