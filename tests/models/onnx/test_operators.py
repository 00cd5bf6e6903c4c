"""Each form of each operator, beside the reference evaluator of the package `onnx`, and ONNX Runtime where it is."""

from typing import Any

import numpy as np
import pytest

from qrt.errors import ModelError
from qrt.models.importing.windows import Window, counts
from tests.models.onnx.forms import Form, forms
from tests.models.onnx.not_evaluated import NOT_EVALUATED
from tests.models.onnx.running import SATURATES, has_oracle, imported, multiplies_exactly, run, run_oracle
from tests.models.onnx.writing import model, node, port


def same(ours: Any, theirs: Any, ulp: int) -> None:
    """Asserts that two arrays are equal, or lie so many units apart, where the sum of a row cancels too."""
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    if not ulp:
        np.testing.assert_array_equal(ours, theirs)
        return
    unit = np.spacing(np.maximum(np.abs(theirs), np.abs(theirs).max() * np.float32(2.0**-6)))
    assert (np.abs(ours.astype(np.float64) - theirs) <= ulp * unit.astype(np.float64)).all()


def test_what_is_not_evaluated_is_a_form() -> None:
    assert NOT_EVALUATED.keys() <= set(map(str, forms()))


@pytest.mark.parametrize("form", forms(), ids=str)
def test_an_operator(form: Form) -> None:
    content = form.content()
    ours = run(content, **form.inputs)
    for each, theirs in zip(ours, expected(form, content), strict=True):
        if form.near and each.dtype == np.float32:
            assert (each.shape, each.dtype) == (np.shape(theirs), np.float32)
            np.testing.assert_allclose(each, theirs, rtol=0, atol=form.near * np.abs(form.operands[0]).max())
        elif form.bound and each.dtype == np.float32:
            assert (each.shape, each.dtype) == (np.shape(theirs), np.float32)
            unit = np.spacing(np.float32(np.abs(theirs).max()))
            np.testing.assert_allclose(each, theirs, rtol=0, atol=form.bound * unit)
        else:
            same(each, np.asarray(theirs), form.ulp)


def expected(form: Form, content: bytes) -> list[Any]:
    """What ONNX Runtime gives, or else the reference evaluator."""
    if has_oracle() and not form.is_evaluated:
        if form.type == "QAttention" and not multiplies_exactly():
            pytest.skip(SATURATES)
        return run_oracle(content, form.inputs)
    if (reason := NOT_EVALUATED.get(str(form))) is not None:
        pytest.skip(f"the reference evaluator {reason}: make test-oracle has ONNX Runtime")
    if form.domain:
        pytest.skip("the reference evaluator has no operators of the runtime: make test-oracle has ONNX Runtime")
    from onnx import load_from_string
    from onnx.reference import ReferenceEvaluator

    with np.errstate(all="ignore"):
        return list(ReferenceEvaluator(load_from_string(content)).run(None, form.inputs))


def test_a_normalization_needs_channels() -> None:
    constants = {name: np.float32([1]) for name in "sbmv"}
    made = node("BatchNormalization", ["x", *constants], ["y"])
    with pytest.raises(
        ModelError, match=r"node 0 BatchNormalization: the input must have a batch and channels, got shape \[3\]"
    ):
        imported(model([made], [port("x", shape=(3,))], [port("y")], constants))


def test_elements_of_windows_that_are_no_padding() -> None:
    """Beside counting them one by one; padding that no memory holds is not made."""
    rng = np.random.default_rng(0)
    for _ in range(500):
        size, kernel, stride, dilation, before, after, count = (int(n) for n in rng.integers((0, 1, 1, 1, 0, 0, 0), 8))
        line = np.pad(np.ones(size, int), (before, after))
        extent = (kernel - 1) * dilation + 1
        expected = [line[at * stride : at * stride + extent : dilation].sum() for at in range(count)]
        window = Window((kernel,), (stride,), (dilation,), ((before, after),), (count,))
        assert counts(window, [size]).tolist() == expected
    assert counts(Window((2**40,), (1,), (1,), ((2**39, 2**39),), (2,)), [5]).tolist() == [5, 5]


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
def test_a_batch_normalization_forms_its_constants_as_the_runtime_does() -> None:
    """A quotient of the scale rounds otherwise than a product with the reciprocal; where the sum cancels, little else
    is left."""
    rng = np.random.default_rng(1)
    scale, bias, mean, variance = (rng.uniform(0.1, 2, 64).astype(np.float32) for _ in range(4))
    constants = {"s": scale, "b": bias, "m": mean, "v": variance}
    shape = (1, 64, 16, 16)
    content = model([node("BatchNormalization", ["x", *constants], ["y"], epsilon=1e-3)], [port("x", shape=shape)],
                    [port("y", shape=shape)], constants)  # fmt: skip
    x = rng.normal(size=shape).astype(np.float32)
    np.testing.assert_array_equal(run(content, x=x)[0], run_oracle(content, {"x": x})[0])


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
@pytest.mark.parametrize("dtype", ["FLOAT", "FLOAT16"])
def test_a_fractional_position_sets_no_element(dtype: str) -> None:
    """The size is added in float32, so that the number next to -1 becomes 3."""
    numbers = [-1.5, -0.4, 0.6, 2.7, 3.0, -4.0, -5.0, 4.0, -0.0, -1e-3, np.nan, np.inf, -np.inf, -0.99999994, 3e4]
    x = np.array(numbers, np.float16 if dtype == "FLOAT16" else np.float32)
    constants = {"d": np.int64([4]), "v": np.int64([7, 9])}
    content = model(
        [node("OneHot", ["x", "d", "v"], ["y"])],
        [port("x", dtype, x.shape)],
        [port("y", "INT64", (*x.shape, 4))],
        constants,
    )
    np.testing.assert_array_equal(run(content, x=x)[0], run_oracle(content, {"x": x})[0])


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
@pytest.mark.parametrize("clip", [-1.0, 0.0, 0.5])
def test_a_clip_of_an_rnn(clip: float) -> None:
    """A negative clip does not clip."""
    rng = np.random.default_rng(2)
    constants = {"w": rng.normal(size=(1, 5, 4)).astype(np.float32), "r": rng.normal(size=(1, 5, 5)).astype(np.float32)}
    x = rng.normal(size=(3, 2, 4)).astype(np.float32)
    content = model(
        [node("RNN", ["x", "w", "r"], ["y"], hidden_size=5, clip=clip)], [port("x", shape=x.shape)], [port("y")],
        constants,
    )  # fmt: skip
    np.testing.assert_allclose(run(content, x=x)[0], run_oracle(content, {"x": x})[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize(("op", "gates"), [("GRU", 3), ("LSTM", 4)])
@pytest.mark.parametrize("clip", [-1.0, 0.0])
def test_a_clip_that_is_not_positive_is_an_error(op: str, gates: int, clip: float) -> None:
    constants = {"w": np.ones((1, 5 * gates, 4), np.float32), "r": np.ones((1, 5 * gates, 5), np.float32)}
    content = model(
        [node(op, ["x", "w", "r"], ["y"], hidden_size=5, clip=clip)], [port("x", shape=(3, 2, 4))], [port("y")],
        constants,
    )  # fmt: skip
    with pytest.raises(ModelError, match="attribute 'clip' must be a positive number, got"):
        imported(content)
