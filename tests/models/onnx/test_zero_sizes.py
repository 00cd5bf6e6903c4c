"""Models whose inputs have a size of 0: results of ONNX Runtime, or errors of qrt.

Hazards: a mean of no elements; updates of rows without elements; a bare error of Python; a declared size of 0.
"""

import contextlib
import os
from typing import Any

import numpy as np
import pytest

from qrt.errors import ModelError, QuantError
from qrt.models.engines.ort import OnnxRuntime
from tests.models.onnx import zero_sizes
from tests.models.onnx.running import has_oracle, imported, run
from tests.models.onnx.writing import model, node, port

OPEN = [(name, form) for name, form, _ in zero_sizes.oracle.forms() if name.startswith("open ")]


@pytest.mark.parametrize("form", [form for _, form in OPEN], ids=[name for name, _ in OPEN])
def test_a_form_of_open_sizes_runs_or_is_an_error_of_qrt(form: Any) -> None:
    content, arrays = zero_sizes.drawn("", form)
    for _, copy, given in zero_sizes.copies(content, arrays, declares=False):
        with contextlib.suppress(QuantError):
            run(copy, **given)


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
@pytest.mark.skipif(not os.environ.get("QRT_REQUIRE_ORACLE"), reason="it takes minutes: make test-oracle runs it")
def test_no_form_has_other_results(runtime: OnnxRuntime) -> None:
    texts = {
        f"{name}, {copy}": zero_sizes.outcome(*given, runtime)
        for name, content, arrays in zero_sizes.models()
        for copy, *given in zero_sizes.copies(content, arrays)
    }
    assert not {name: text for name, text in texts.items() if text.startswith("wrong")}
    assert sum(text == "equal" for text in texts.values()) >= 100


def test_a_mean_of_no_elements_is_0() -> None:
    """As in ONNX Runtime."""
    content = model([node("ReduceMean", ["x"], ["y"], axes=[1])], [port("x", shape=("n", "m"))], [port("y")])
    assert run(content, x=np.zeros((2, 0), np.float32))[0].tolist() == [[0], [0]]
    content = model([node("Split", ["x", "s"], ["a", "b"], axis=1), node("ReduceMean", ["b"], ["y"], axes=[1])],
                    [port("x", shape=(2, 3))], [port("y")], {"s": np.int64([3, 0])})  # fmt: skip
    assert run(content, x=np.ones((2, 3), np.float32))[0].tolist() == [[0], [0]]


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
@pytest.mark.parametrize(("size", "index"), [(0, [[1], [0]]), (3, np.zeros((0, 1)))])
def test_a_scatter_of_no_elements_at_known_positions(reduction: str, size: int, index: Any) -> None:
    """Rows of a part without elements, and no rows at all."""
    index = np.asarray(index, np.int64)
    constants = {"s": np.int64([3 - size, size]), "i": index, "u": np.ones((len(index), size), np.float32)}
    nodes = [node("Split", ["x", "s"], ["a", "b"], axis=1), node("ScatterND", ["b", "i", "u"], ["y"])]
    if reduction != "none":
        nodes[1] = node("ScatterND", ["b", "i", "u"], ["y"], reduction=reduction)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    content = model(nodes, [port("x", shape=(2, 3))], [port("y")], constants, opset=18)
    np.testing.assert_array_equal(run(content, x=x)[0], x[:, 3 - size :])


def test_a_declared_size_of_0_is_refused() -> None:
    content = model([node("Neg", ["x"], ["y"])], [port("x", shape=(0, 3))], [port("y")])
    with pytest.raises(ModelError, match=r"every dimension of an input must be at least 1, got shape \(0, 3\)"):
        imported(content)
