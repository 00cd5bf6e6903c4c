"""LSTM and RNN operators of floats beside plain loops, over several calls. Hazards: a state that is not handed on, or
not reset; a step alone; batches before or behind steps; weights that do not match."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import qrt
from qrt.models.profiles import for_kernels, profile
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite.writing import Tensor, one_op

INPUTS, CELLS, BATCH = 3, 4, 2


def weights(seed: int, *shape: int) -> Tensor:
    return Tensor(shape, "float32", data=np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def state(*shape: int) -> Tensor:
    return Tensor(shape, "float32", is_variable=True)


def operands(steps: int, time_major: bool = False, **changed: Any) -> list[Tensor | None]:
    shape = (steps, BATCH, INPUTS) if time_major else (BATCH, steps, INPUTS)
    found: list[Tensor | None] = [Tensor(shape, "float32")]
    found += [weights(i, CELLS, INPUTS) for i in range(4)] + [weights(4 + i, CELLS, CELLS) for i in range(4)]
    found += [None] * 3 + [weights(8 + i, CELLS) for i in range(4)] + [None] * 2
    found += [state(BATCH, CELLS), state(BATCH, CELLS)]
    for name, tensor in changed.items():
        found[int(name[1:])] = tensor
    return found


def model(given: Sequence[Tensor | None], **said: Any) -> bytes:
    x = given[0]
    assert x is not None
    assert x.shape is not None
    y = Tensor((*x.shape[:2], CELLS), "float32")
    options = {"fused_activation_function": "TANH", "cell_clip": 0.7, **said}
    return one_op("UNIDIRECTIONAL_SEQUENCE_LSTM", given, [y], options)


def rnn(**changed: Any) -> bytes:
    """An RNN on floats of which all weights are int8."""
    given = {"scales": 0.1, "data": np.arange(CELLS * INPUTS).reshape(CELLS, INPUTS) - 5, **changed}
    w = Tensor((CELLS, INPUTS), "int8", **given)
    r = Tensor((CELLS, CELLS), "int8", 0.05, data=np.eye(CELLS, dtype=np.int8) * 20)
    x, y = Tensor((BATCH, 2, INPUTS), "float32"), Tensor((BATCH, 2, CELLS), "float32")
    inputs = [x, w, r, Tensor((CELLS,), "float32", data=[1, 2, 3, 4]), state(BATCH, CELLS)]
    return one_op("UNIDIRECTIONAL_SEQUENCE_RNN", inputs, [y], {"fused_activation_function": "RELU"})


def both(is_first: bool = False, results: int = 2, dtype: str = "float32", **changed: Any) -> bytes:
    """RNNs in both directions."""
    x = Tensor((BATCH, 2, INPUTS), "float32")
    found: list[Tensor | None] = [x]
    for seed in range(2):
        w = weights(seed, CELLS, INPUTS)
        w = w if dtype == "float32" else Tensor(w.shape, dtype, 0.1, data=np.ones(w.shape))
        found += [w, weights(2, CELLS, CELLS), weights(4, CELLS), state(BATCH, CELLS)]
    found += [None] * 3
    for name, tensor in changed.items():
        found[int(name[1:])] = tensor
    merges = results == 1
    options = {"fused_activation_function": "RELU", "time_major": is_first, "merge_outputs": merges}
    ys = [Tensor((BATCH, 2, CELLS * (1 + merges)), "float32") for _ in range(results)]
    return one_op("BIDIRECTIONAL_SEQUENCE_RNN", found, ys, options)


def both_lstm(is_first: bool = False, merges: bool = False, activation: str = "TANH", **changed: Any) -> bytes:
    """LSTMs in both directions."""
    x, *one = operands(2, is_first)
    found = [x, *one[:17], *one[:17], *(state(BATCH, CELLS) for _ in range(4)), *[None] * 9]
    for name, tensor in changed.items():
        found[int(name[1:])] = tensor
    assert x is not None
    assert x.shape is not None
    options = {"fused_activation_function": activation, "time_major": is_first, "merge_outputs": merges}
    ys = [Tensor((*x.shape[:2], CELLS * (1 + merges)), "float32") for _ in range(2 - merges)]
    return one_op("BIDIRECTIONAL_SEQUENCE_LSTM", found, ys, options)


def imported(content: bytes) -> qrt.ir.Module:
    return import_model(read(content), profile("litert"))


def loops(given: Sequence[Tensor | None], x: np.ndarray, h: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, ...]:
    """In float64, of x [steps, batch, inputs]."""
    made = []
    data = [None if tensor is None else tensor.data for tensor in given]
    for row in x:
        sums = [data[12 + i] + row @ data[1 + i].T + h @ data[5 + i].T for i in range(4)]
        i, f, o = (1 / (1 + np.exp(-sums[k].astype(np.float64))) for k in (0, 1, 3))
        c = np.clip(f * c + i * np.tanh(sums[2]), -0.7, 0.7)
        h = o * np.tanh(c)
        made.append(h)
    return np.stack(made), h, c


@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("steps", [1, 5])
def test_calls_go_on_from_the_state(steps: int, time_major: bool) -> None:
    given = operands(steps, time_major)
    program = qrt.compile(imported(model(given, time_major=time_major)))
    rng = np.random.default_rng(1)
    for _ in range(2):
        h = c = np.zeros((BATCH, CELLS))
        program.reset()
        for _ in range(3):
            x = rng.normal(size=(steps, BATCH, INPUTS)).astype(np.float32)
            expected, h, c = loops(given, x, h, c)
            y = np.asarray(program(np.ascontiguousarray(x if time_major else x.swapaxes(0, 1))))
            np.testing.assert_allclose(y if time_major else y.swapaxes(0, 1), expected, rtol=2e-5, atol=2e-6)


def test_the_interpreter_has_the_same_bits() -> None:
    program = qrt.compile(imported(model(operands(4))))
    x = np.random.default_rng(2).normal(size=(BATCH, 4, INPUTS)).astype(np.float32)
    for _ in range(2):
        planned, other = program(x), program.clone()
        other.reset()
        interpreted = next(iter(other.run({other.inputs[0].name: x}, interpret=True).values()))
        np.testing.assert_array_equal(np.asarray(planned), np.asarray(interpreted))
        program.reset()


REFUSED: dict[str, tuple[bytes, str]] = {
    "a gate without a bias": (model(operands(2, _13=None)), r"its input 13 \('forget_bias'\) is required, but"),
    "an input gate without a bias": (model(operands(2, _12=None)), "the input gate must have all"),
    "weights of another depth": (
        model(operands(2, _2=weights(0, CELLS, 5))), r"'t2' must have the shape \[4, 3\], got \[4, 5\]"
    ),
    "a state that is none": (
        model(operands(2, _18=Tensor((BATCH, CELLS), "float32"))), r"'t1' \(a state\) must be a variable of rank"
    ),
    "a state of another batch": (model(operands(2, _19=state(5, CELLS))), r"'t14' \(a state\) must be a"),
    "hidden values without a projection": (model(operands(2, _18=state(BATCH, 3))), "without a projection, the"),
    "states without an axis": (
        model(operands(2, _18=state(), _19=state())), "the input and the states must have at least one axis"
    ),
    "a cell without an axis": (model(operands(2, _19=state())), "the input and the states must have at least one axis"),
    "an activation": (
        model(operands(2), fused_activation_function="SIGN_BIT"), r"\(float32, fused SIGN_BIT\)"
    ),
    "no activation, with which LiteRT multiplies by memory that nothing wrote": (
        model(operands(2), fused_activation_function="NONE"), r"\(without an activation, for which LiteRT multiplies"
    ),
    "no activation in both directions": (
        both_lstm(True, activation="NONE"), r"BIDIRECTIONAL_SEQUENCE_LSTM \(without an activation, for which LiteRT"
    ),
    "a clip that is none": (model(operands(2), cell_clip=float("nan")), "option cell_clip must be at least 0 and"),
    "weights of int8 beside others": (
        model(operands(2, _1=Tensor((CELLS, INPUTS), "int8", 0.1, data=np.ones((CELLS, INPUTS))))),
        r"UNIDIRECTIONAL_SEQUENCE_LSTM \(weights of float32 and int8\)",
    ),
    "an RNN of weights with a zero point": (rnn(zero_points=1), r"\(float32 with weights that have a zero point\)"),
    "an RNN of several scales": (
        rnn(scales=[0.1] * CELLS, zero_points=[0] * CELLS), r"\(float32 with weights of int8, or of several scales\)"
    ),
    "weights of the auxiliary inputs": (both(_10=weights(1, CELLS, INPUTS)), "weights for the auxiliary inputs"),
    "an auxiliary input that LiteRT ignores": (
        both(_9=Tensor((BATCH, 2, INPUTS), "float32")), "auxiliary inputs without time_major, which LiteRT ignores"
    ),
    "an auxiliary input of other steps": (
        both(True, 1, _9=Tensor((BATCH, 3, INPUTS), "float32")),
        r"auxiliary inputs must have the batch and steps of the inputs, \[2, 2\], got \[2, 3\]",
    ),
    "int8 weights of both ways with time_major": (
        both(True, 1, "int8"), "which LiteRT applies to the sequence once for each step"
    ),
    "two results with time_major": (both(True), "of which LiteRT exchanges the sizes of the second result"),
    "three results of both ways": (both(results=3), "it must have 2 results, got 3"),
    "weights of the way back of another depth": (
        both(_5=weights(0, CELLS, 5)), r"'t5' must have the shape \[4, 3\], got \[4, 5\]"
    ),
    "merged results of LSTMs": (
        both_lstm(merges=True), "merge_outputs without time_major, with which LiteRT writes one result over the other"
    ),
    "LSTMs with weights of the auxiliary inputs": (
        both_lstm(_41=weights(1, CELLS, INPUTS)), "weights for the auxiliary inputs"
    ),
    "LSTMs with a gate that is missing": (both_lstm(_19=None), "its input 19 .* is required"),
    "an RNN of weights of the run": (rnn(data=None), r"\(float32 with int8 weights known only at run time\)"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_form_that_is_refused(name: str) -> None:
    content, message = REFUSED[name]
    with pytest.raises(qrt.errors.ModelError, match=message):
        imported(content)


@pytest.mark.parametrize("is_for_kernels", [False, True])
def test_int8_weights_are_near_the_floats_that_they_stand_for(is_for_kernels: bool) -> None:
    rules = for_kernels(profile("litert")) if is_for_kernels else profile("litert")
    x = np.random.default_rng(3).normal(size=(BATCH, 2, INPUTS)).astype(np.float32)
    y = np.asarray(qrt.compile(import_model(read(rnn()), rules))(x))
    w = (np.arange(CELLS * INPUTS).reshape(CELLS, INPUTS) - 5) * 0.1
    first = np.maximum(x[:, 0] @ w.T + [1, 2, 3, 4], 0)
    second = np.maximum(x[:, 1] @ w.T + [1, 2, 3, 4] + first, 0)
    np.testing.assert_allclose(y, np.stack([first, second], 1), rtol=1e-5 if is_for_kernels else 0.02, atol=1e-5)


@pytest.mark.parametrize("size", [0.0, 1e-5, 1e-3, 1.0])
def test_layer_normalization_of_small_sums(size: float) -> None:
    """1e-8 is added to every variance: beside one of 1e-6, it changes a normalized sum by half a percent."""
    norms = [weights(30 + i, CELLS) for i in range(4)]
    given = [*operands(1, time_major=True), *norms]
    x = (size * np.array([[[1, -1, 0.5], [0.25, 1, -1]]])).astype(np.float32)
    content = model(given, time_major=True, cell_clip=0.0)
    program = qrt.compile(import_model(read(content), profile("litert")))
    (result,) = program.run({program.inputs[0].name: x}).values()

    def gate(i: int) -> Any:
        w, norm, bias = (np.asarray(given[k + i].data, np.float64) for k in (1, 20, 12))  # type: ignore[union-attr]
        sums = x[0].astype(np.float64) @ w.T
        centred = sums - sums.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-8) * norm + bias

    def logistic(v: Any) -> Any:
        return 1 / (1 + np.exp(-v))

    cell = logistic(gate(0)) * np.tanh(gate(2))
    np.testing.assert_allclose(np.asarray(result)[0], logistic(gate(3)) * np.tanh(cell), rtol=0, atol=2e-6)
