"""Drawn models of every form against ONNX Runtime's results in `stored.txt`. Hazard: a changed rule that nobody notices
without ONNX Runtime. The plain references run: other tests hold kernels and lowerings to them."""

import numpy as np
import pytest

from tests.models.onnx.stored import FURTHER, by_name, differences, drawn, lines, ours
from tests.models.stored import Line, kept, wanted


@pytest.mark.parametrize("line", lines(), ids=lambda line: f"{line.name}-{line.number}")
def test_results_are_onnx_runtime_s(line: Line) -> None:
    assert not differences(line, interpret=True)


def test_every_form_has_a_line() -> None:
    expected = wanted(((name, "ort") for name in by_name()), FURTHER)
    assert {(line.name, line.number, profile) for line in lines() for profile in line.results} == expected


@pytest.mark.parametrize("name", ["QLinearAdd int8", "DequantizeLinear int8", "MatMulNBits of 4"])
def test_a_changed_result_is_noticed(name: str) -> None:
    """One unit of one integer; of floats, the more by which they may not lie apart."""
    line = next(line for line in lines() if line.name == name)
    results = ours(drawn(line.name, line.number), interpret=True)
    assert not differences(line, interpret=True)
    first = results[0][0] = results[0][0].copy()
    first.flat[0] += np.asarray(1, first.dtype)
    assert differences(Line(line.name, line.number, line.digest, {"ort": kept(results)}), interpret=True) == ["ort"]
