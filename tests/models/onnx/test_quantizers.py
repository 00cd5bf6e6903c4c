"""Files that ONNX Runtime's quantizers and optimizer write of float networks. Hazards: a format, a type or an operator
that no other test has; a bias of one row; zero points of the run."""

import logging
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qrt
from tests.models.onnx.float_networks import NETWORKS, inputs
from tests.models.onnx.running import run_oracle

pytestmark = pytest.mark.skipif(find_spec("onnxruntime") is None, reason="onnxruntime is not installed")
slow = pytest.mark.skipif(not os.environ.get("QRT_REQUIRE_ORACLE"), reason="it takes minutes: make test-oracle runs it")
NEAR, STEPS = 1e-5, 0.03
"""How far outputs may lie apart, as a share of the largest one: of floats, and of floats that follow from integers, of
which one may be a neighbour."""
INTEGERS = ("QUInt8", "QInt8", "QInt16", "QUInt16")
WEIGHTS = ("QInt8", "QUInt8", "QInt4", "QUInt4", "QInt16")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with the files of the networks; the quantizers' advice is not printed."""
    logging.disable(logging.CRITICAL)
    for name, made in NETWORKS.items():
        (tmp_path / name).write_bytes(made())
    yield tmp_path
    logging.disable(logging.NOTSET)


def _agrees(path: Path, name: str, bound: float) -> None:
    program = qrt.compile(qrt.load(str(path)))
    for feed in inputs(name, 2):
        wanted = run_oracle(path.read_bytes(), feed)
        for result, expected in zip(program.run(feed).values(), wanted, strict=True):
            difference = np.abs(np.asarray(result, np.float64) - expected).max()
            assert difference <= bound * np.abs(expected).max(), difference


def _runs(path: Path, name: str) -> bool:
    try:
        run_oracle(path.read_bytes(), inputs(name, 1)[0])
    except Exception:  # ONNX Runtime's own exceptions are of many kinds
        return False
    return True


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("weights", ["QInt8", "QUInt8"])
@pytest.mark.parametrize("name", NETWORKS)
def test_quantize_dynamic(folder: Path, name: str, weights: str, per_channel: bool) -> None:
    quantization: Any = pytest.importorskip("onnxruntime.quantization")
    out = folder / "q.onnx"
    kind = getattr(quantization.QuantType, weights)
    quantization.quantize_dynamic(folder / name, out, weight_type=kind, per_channel=per_channel)
    _agrees(out, name, NEAR)


@slow
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("activations", INTEGERS)
@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
@pytest.mark.parametrize("name", NETWORKS)
def test_quantize_static(folder: Path, name: str, form: str, activations: str, weights: str, per_channel: bool) -> None:
    """A combination that the quantizer refuses, or of which it writes what its own runtime refuses, has no result."""
    quantization: Any = pytest.importorskip("onnxruntime.quantization")

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc]  # it has no types
        def __init__(self) -> None:
            self.rows = iter(inputs(name, 3))

        def get_next(self) -> Any:
            return next(self.rows, None)

    out, kinds = folder / "q.onnx", quantization.QuantType
    try:
        quantization.quantize_static(
            folder / name, out, Reader(), quant_format=getattr(quantization.QuantFormat, form),
            activation_type=getattr(kinds, activations), weight_type=getattr(kinds, weights), per_channel=per_channel,
        )  # fmt: skip
    except (ValueError, KeyError, NotImplementedError, TypeError, RuntimeError):
        return
    if _runs(out, name):
        _agrees(out, name, STEPS)


@pytest.mark.parametrize("size", [16, 32])
@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("name", ["transformer", "cells"])
def test_weights_in_blocks(folder: Path, name: str, bits: int, symmetric: bool, form: str, size: int) -> None:
    """If they are symmetric, scales are negative where the element of the largest magnitude is positive."""
    quantization: Any = pytest.importorskip("onnxruntime.quantization")
    quantizers: Any = pytest.importorskip("onnxruntime.quantization.matmul_nbits_quantizer")
    import onnx

    config = quantizers.DefaultWeightOnlyQuantConfig(
        block_size=size, is_symmetric=symmetric, quant_format=getattr(quantization.QuantFormat, form), bits=bits
    )
    quantizer = quantizers.MatMulNBitsQuantizer(onnx.load(folder / name), algo_config=config)
    quantizer.process()
    quantizer.model.save_model_to_file(str(folder / "q.onnx"), use_external_data_format=False)
    _agrees(folder / "q.onnx", name, NEAR)


@slow
@pytest.mark.parametrize("level", ["BASIC", "EXTENDED"])
@pytest.mark.parametrize("quantized", [False, True])
@pytest.mark.parametrize("name", NETWORKS)
def test_optimized_files(folder: Path, name: str, quantized: bool, level: str) -> None:
    """Levels above EXTENDED write images in blocks of channels, for the CPU at hand alone."""
    runtime: Any = pytest.importorskip("onnxruntime")
    source, out = folder / name, folder / "o.onnx"
    if quantized:
        source = folder / "q.onnx"
        pytest.importorskip("onnxruntime.quantization").quantize_dynamic(folder / name, source)
    options = runtime.SessionOptions()
    options.optimized_model_filepath = str(out)
    options.graph_optimization_level = getattr(runtime.GraphOptimizationLevel, f"ORT_ENABLE_{level}")
    runtime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
    _agrees(out, name, NEAR)


def test_images_in_blocks_of_channels_are_refused(folder: Path) -> None:
    runtime: Any = pytest.importorskip("onnxruntime")
    options, out = runtime.SessionOptions(), folder / "o.onnx"
    options.optimized_model_filepath = str(out)
    runtime.InferenceSession(str(folder / "convolutions"), options, providers=["CPUExecutionProvider"])
    if b"com.microsoft.nchwc" not in out.read_bytes():  # a CPU without vectors of 8 floats
        return
    with pytest.raises(qrt.errors.ModelError, match=r"nchwc.Conv \(images in blocks of channels.*ORT_ENABLE_EXTENDED"):
        qrt.load(str(out))
