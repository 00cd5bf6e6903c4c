"""ONNX Runtime's `quantize_static` on the networks of `make accuracy`: the same weights and data.

    python -m benches.accuracy.peers [--networks digits mnist vowels]

It runs where onnxruntime is installed, after `make accuracy` has trained the networks. The exit status is 1 if qrt is
more than half a decibel below the best of `quantize_static`, where both round the same values.
"""

import argparse
import logging
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import onnxruntime
from onnxruntime.quantization import (
    CalibrationDataReader,
    CalibrationMethod,
    QuantFormat,
    QuantType,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process

from benches.accuracy import page
from benches.accuracy.data import Array, kept
from benches.accuracy.measure import Case, Row, compared, measured
from benches.accuracy.onnx_models import model
from benches.accuracy.programs import inputs

NETWORKS = ("digits", "mnist", "vowels")
METHODS = {
    "MinMax": CalibrationMethod.MinMax,
    "Entropy": CalibrationMethod.Entropy,
    "Percentile": CalibrationMethod.Percentile,
}
BELOW = 0.5
"""Decibels."""
OPS = {
    "default": None,
    "all": ["Conv", "MatMul", "Gemm", "Add", "Sub", "Mul", "Sigmoid", "Tanh", "MaxPool", "Reshape", "Relu"],
}
"""Which ops are quantized: those that `quantize_static` takes by itself, or every op of the networks, as qrt does."""
PREPARED = {"as written": True, "fused": False}
"""Whether `quant_pre_process` leaves out its optimization of the graph, which makes a matmul and an add one Gemm."""
OTHER_SUMS = {("vowels", "fused")}
"""Where that Gemm adds another product, which is no constant: the sum of two products is rounded once, and a network
that has other values is no measure of the quantizer. These rows are shown, and the bar does not count them."""


class Reader(CalibrationDataReader):
    """All training data at once: histograms cannot be made of batches whose sizes differ."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        self._parts: Iterator[dict[str, Array]] = iter([arrays])

    def get_next(self) -> dict[str, Array] | None:
        return next(self._parts, None)


def run(path: Path, arrays: dict[str, Array]) -> Array:
    """The logits of a model."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (logits,) = session.run(None, arrays)
    return np.asarray(logits)


def peer(case: Case, folder: Path, method: str, prepared: str, ops: str) -> Row:
    """Return the result of `quantize_static`: QDQ, with a scale for each channel of the weights."""
    quantized = folder / "quantized.onnx"
    quantize_static(
        folder / f"{prepared}.onnx",
        quantized,
        Reader(case.calibration),
        quant_format=QuantFormat.QDQ,
        op_types_to_quantize=OPS[ops],
        per_channel=True,
        activation_type=QuantType.QInt8,
        weight_type=QuantType.QInt8,
        calibrate_method=METHODS[method],
    )
    logits = run(quantized, inputs(case.name, case.split.test))
    return compared(case, "ONNX Runtime", method, f"{prepared}, {ops}", logits)


def rows_of(case: Case, constants: dict[str, Array]) -> list[Row]:
    """qrt's default, and every method of the peer."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "float.onnx").write_bytes(model(case.name, constants).SerializeToString())
        same = compared(case, "", "", "", run(folder / "float.onnx", inputs(case.name, case.split.test)))
        if same.snr < 100:
            raise ValueError(f"{case.name}: the ONNX model is another network: {same.snr:.1f} dB")
        for prepared, skip in PREPARED.items():
            quant_pre_process(folder / "float.onnx", folder / f"{prepared}.onnx", skip_optimization=skip)
        tried = product(METHODS, PREPARED, OPS)
        return [measured(case, "qrt-cpu"), *(peer(case, folder, *choice) for choice in tried)]


def main(arguments: list[str] | None = None) -> int:
    """Measures and writes; returns the exit status."""
    parser = argparse.ArgumentParser(description="accuracy beside ONNX Runtime")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=NETWORKS)
    logging.disable(logging.WARNING)  # quantize_static says of each Gemm what the page says once
    found: dict[str, list[Row]] = {}
    for name in parser.parse_args(arguments).networks:
        split, constants = kept(name)
        found[name] = rows_of(Case.of(name, split, constants), constants)
    lines = [
        f"This section compares qrt with `quantize_static` of ONNX Runtime {onnxruntime.__version__}, format QDQ, with",
        "8 bits for weights and activations, a scale for each channel of the weights, and the same calibration data.",
        "The graph is quantized *as written*, or after `quant_pre_process` has *fused* ops. ONNX Runtime quantizes",
        "the ops that it chooses by default (*default*), or *all* ops. The command fails if the signal-to-noise",
        "ratio of qrt is more than half a decibel below the best row of a network.",
        "",
        "The rows of the vowels with the fused graph are excluded from this limit. One fused op adds two products,",
        "of the input and of the state, and rounds only their sum, which gains more than a decibel. qrt rounds each",
        "product and then the sum, as ONNX Runtime does in the graph as written.",
        "",
        "| network | quantizer | method | graph, ops | same | lost | signal-to-noise |",
        "|---|---|---|---|---:|---:|---:|",
    ]
    below = []
    for name, (own, *others) in found.items():
        for row in (own, *others):
            share = f"{100 * row.same / row.count:.2f}%"
            who = f"qrt, `{row.target}`" if row is own else row.target
            lines.append(f"| {name} | {who} | {row.method} | {row.passes} | {share} | {row.lost} | {row.snr:.2f} dB |")
        best = max(row.snr for row in others if (name, row.passes.partition(",")[0]) not in OTHER_SUMS)
        if own.snr < best - BELOW:
            below.append(f"{name}: {own.snr:.2f} dB, and ONNX Runtime has {best:.2f} dB")
    page.write({"peers": "\n".join(lines) + "\n"})
    print("\n".join(below), file=sys.stderr)
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
