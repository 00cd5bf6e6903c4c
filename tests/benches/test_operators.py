"""The bench of single operators. Hazards: a row that no runtime takes, a time of a row whose results differ, a ratio of
files that have other layouts."""

import argparse
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from benches.models.worker import write
from benches.operators.__main__ import ROWS, measured
from benches.operators.compared import problem
from benches.operators.page import RowTimes, part

pytestmark = pytest.mark.skipif(
    find_spec("ai_edge_litert") is None or find_spec("onnxruntime") is None,
    reason="the other runtimes are not installed: make test-oracle installs them",
)


def test_names_are_unique_and_families_have_quantized_and_float_rows():
    names = [row.name for row in ROWS]
    assert len({*names}) == len(names) > 200
    assert {row.is_quantized for row in ROWS} == {True, False}
    assert any(row.is_call for row in ROWS)


def test_a_row_is_timed_in_every_runtime():
    rows = [row for row in ROWS if row.name in ("add_i8_small", "conv_2d_i8_small")]
    options = argparse.Namespace(minutes=0.5, threads=[1], rounds=1)
    results = measured(rows, options)[1]
    for row in results:
        assert not row.errors
        assert row.own.keys() == {"tflite", "onnx"}
        assert row.peers.keys() == {"litert", "ort"}
    text = "\n".join(part({1: results}, 0.5))
    assert "| conv_2d_i8_small |" in text


def test_ratios():
    own, peers = {"tflite": 2e-6, "onnx": 6e-6}, {"litert": 1e-6, "ort": 4e-6}
    assert RowTimes("a", True, own, peers).ratio == pytest.approx(6)
    assert RowTimes("a", True, own, peers, is_image=True).ratio == pytest.approx(2)
    assert RowTimes("a", True, {}, {}).ratio is None


@pytest.mark.parametrize(
    ("ours", "theirs", "format", "words"),
    [
        (np.int8([1, 2]), np.int8([1, 3]), "tflite", "differs by up to 1"),
        (np.uint8([1, 2]), np.uint8([1, 3]), "onnx", ""),
        (np.uint8([1, 2]), np.uint8([1, 4]), "onnx", "differs by up to 2"),
        (np.float32([np.nan]), np.float32([1]), "onnx", "infinities or NaNs"),
        (np.float32([1, 2]), np.float32([1, 2.1]), "tflite", "differs"),
        (np.int8([1]), np.uint8([1]), "tflite", "output 0 is int8[1], the other is uint8[1]"),
    ],
)
def test_wrong_results_have_a_reason(tmp_path: Path, ours, theirs, format, words):
    """Hazard: a wrong result is fast."""
    write(str(tmp_path / "a.npz"), [ours])
    write(str(tmp_path / "b.npz"), [theirs])
    reason = problem(tmp_path / "a.npz", tmp_path / "b.npz", format)
    assert words in reason
    assert bool(reason) == bool(words)
