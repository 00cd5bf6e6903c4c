"""ONNX Runtime's `quantize_static` on the networks of `make accuracy`: the same weights and data.

    python -m benches.accuracy.peers [--networks digits mnist vowels]

It runs where onnxruntime is installed, after `make accuracy` has trained the networks. The exit status is 1 if qrt is
more than half a decibel below the best method of `quantize_static`.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
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
BATCH = 64
EVERYTHING = ["Conv", "MatMul", "Gemm", "Add", "Sub", "Mul", "Sigmoid", "Tanh", "MaxPool", "Reshape", "Relu"]
"""Ops between quantized values, as qrt has them: without the list Tanh and Sub stay float."""


class Reader(CalibrationDataReader):
    """Training data, some rows at a time."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        self._parts: Iterator[dict[str, Array]] = (
            {name: array[start : start + BATCH] for name, array in arrays.items()}
            for start in range(0, len(next(iter(arrays.values()))), BATCH)
        )

    def get_next(self) -> dict[str, Array] | None:
        return next(self._parts, None)


def run(path: Path, arrays: dict[str, Array]) -> Array:
    """The logits of a model."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (logits,) = session.run(None, arrays)
    return np.asarray(logits)


def peer(case: Case, folder: Path, method: str) -> Row:
    """What `quantize_static` makes: QDQ, a scale for each channel of the weights."""
    quantized = folder / f"{method}.onnx"
    quantize_static(
        folder / "prepared.onnx",
        quantized,
        Reader(case.calibration),
        quant_format=QuantFormat.QDQ,
        op_types_to_quantize=EVERYTHING,
        per_channel=True,
        activation_type=QuantType.QInt8,
        weight_type=QuantType.QInt8,
        calibrate_method=METHODS[method],
    )
    return compared(case, "ONNX Runtime", method, "-", run(quantized, inputs(case.name, case.split.test)))


def rows_of(case: Case, constants: dict[str, Array]) -> list[Row]:
    """qrt's default, and every method of the peer."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "float.onnx").write_bytes(model(case.name, constants).SerializeToString())
        same = compared(case, "", "", "", run(folder / "float.onnx", inputs(case.name, case.split.test)))
        if same.snr < 100:
            raise ValueError(f"{case.name}: the ONNX model is another network: {same.snr:.1f} dB")
        quant_pre_process(folder / "float.onnx", folder / "prepared.onnx")
        return [measured(case, "qrt-cpu"), *(peer(case, folder, method) for method in METHODS)]


def main(arguments: list[str] | None = None) -> int:
    """Measures and writes; returns the exit status."""
    parser = argparse.ArgumentParser(description="accuracy beside ONNX Runtime")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=NETWORKS)
    found: dict[str, list[Row]] = {}
    for name in parser.parse_args(arguments).networks:
        split, constants = kept(name)
        found[name] = rows_of(Case.of(name, split, constants), constants)
    lines = [
        f"ONNX Runtime {onnxruntime.__version__}: `quantize_static` in the format QDQ, with 8 bits for weights",
        "and activations, a scale for each channel of the weights, and the same data for calibration.",
        "",
        "| network | quantizer | method | same | lost | signal-to-noise |",
        "|---|---|---|---:|---:|---:|",
    ]
    below = []
    for name, (own, *others) in found.items():
        for row in (own, *others):
            share = f"{100 * row.same / row.count:.2f}%"
            who = f"qrt, `{row.target}`" if row is own else row.target
            lines.append(f"| {name} | {who} | {row.method} | {share} | {row.lost} | {row.snr:.2f} dB |")
        best = max(row.snr for row in others)
        if own.snr < best - BELOW:
            below.append(f"{name}: {own.snr:.2f} dB, and ONNX Runtime has {best:.2f} dB")
    page.write({"peers": "\n".join(lines) + "\n"})
    print("\n".join(below), file=sys.stderr)
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
