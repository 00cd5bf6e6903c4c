"""SVDF of floats beside plain loops. Hazards: a state that is not handed on or not reset, its order, ranks, weights
that do not match."""

from typing import Any

import numpy as np
import pytest

import qrt
from qrt.models.profiles import for_kernels, profile
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite.writing import Tensor, one_op

BATCH, INPUTS, UNITS, RANK, MEMORY = 2, 7, 3, 2, 6
FILTERS = UNITS * RANK


def weights(seed: int, *shape: int, dtype: str = "float32", **changed: Any) -> Tensor:
    rng = np.random.default_rng(seed)
    if dtype == "int8":
        given = {"scales": 0.02, "data": rng.integers(-127, 128, shape), **changed}
        return Tensor(shape, "int8", **given)
    return Tensor(shape, "float32", data=rng.normal(size=shape).astype(np.float32))


def operands(dtype: str = "float32", memory: int = MEMORY, **changed: Any) -> list[Tensor | None]:
    given: list[Tensor | None] = [
        Tensor((BATCH, INPUTS), "float32"),
        weights(0, FILTERS, INPUTS, dtype=dtype),
        weights(1, FILTERS, memory, dtype=dtype),
        weights(2, UNITS),
        Tensor((BATCH, FILTERS * memory), "float32", is_variable=True),
    ]
    for name, tensor in changed.items():
        given[int(name[1:])] = tensor
    return given


def model(given: list[Tensor | None], **options: Any) -> bytes:
    chosen = {"rank": RANK, "fused_activation_function": "NONE", **options}
    return one_op("SVDF", given, [Tensor((BATCH, UNITS), "float32")], chosen)


def imported(content: bytes) -> qrt.ir.Module:
    return import_model(read(content), profile("litert"))


def numbers(tensor: Tensor | None) -> np.ndarray:
    assert tensor is not None
    return np.asarray(tensor.data, np.float64) * (tensor.scales or 1)


@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 1e-4), ("int8", 0.03)])
@pytest.mark.parametrize("memory", [1, 2, MEMORY])
def test_calls_go_on_from_the_state(dtype: str, rtol: float, memory: int) -> None:
    given = operands(dtype, memory)
    feature, time, bias = (numbers(tensor) for tensor in given[1:4])
    program = qrt.compile(imported(model(given)))
    rng = np.random.default_rng(3)
    for _ in range(2):
        state = np.zeros((BATCH, FILTERS, memory))
        program.reset()
        for _ in range(memory + 3):
            x = rng.normal(size=(BATCH, INPUTS)).astype(np.float32)
            state = np.concatenate([state[:, :, 1:], (x @ feature.T)[:, :, None]], axis=2)
            y = (state * time).sum(2).reshape(BATCH, UNITS, RANK).sum(2) + bias
            np.testing.assert_allclose(program(x), y, atol=rtol * np.abs(y).max())


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_the_interpreter_has_the_same_bits(dtype: str) -> None:
    program = qrt.compile(imported(model(operands(dtype), fused_activation_function="RELU6")))
    other = program.clone()
    other.reset()
    rng = np.random.default_rng(4)
    for _ in range(4):
        x = rng.normal(size=(BATCH, INPUTS)).astype(np.float32)
        interpreted = next(iter(other.run({other.inputs[0].name: x}, interpret=True).values()))
        np.testing.assert_array_equal(np.asarray(program(x)), np.asarray(interpreted))


def test_int8_weights_become_floats_for_quantization() -> None:
    given = operands("int8")
    program = qrt.compile(import_model(read(model(given)), for_kernels(profile("litert"))))
    x = np.random.default_rng(5).normal(size=(BATCH, INPUTS)).astype(np.float32)
    feature, time, bias = (numbers(tensor) for tensor in given[1:4])
    y = ((x @ feature.T) * time[:, -1]).reshape(BATCH, UNITS, RANK).sum(2) + bias
    np.testing.assert_allclose(program(x), y, rtol=1e-4, atol=1e-5)


REFUSED: dict[str, tuple[bytes, str]] = {
    "a rank that does not divide": (model(operands(), rank=4), "a positive divisor of the number of filters, 6, got 4"),
    "a rank of 0": (model(operands(), rank=0), "a positive divisor of the number of filters, 6, got 0"),
    "weights of another depth": (
        model(operands(_1=weights(0, FILTERS, 5))), r"'t1' must have the shape \[6, 7\], got \[6, 5\]"
    ),
    "time weights of other filters": (
        model(operands(_2=weights(0, 4, MEMORY))), r"'t2' must have the shape \[6, 6\], got \[4, 6\]"
    ),
    "a state of another size": (
        model(operands(_4=Tensor((BATCH, 5), "float32", is_variable=True))),
        r"'t4' must have the shape \[2, 36\], got \[2, 5\]",
    ),
    "a state that is an input": (
        model(operands(_4=Tensor((BATCH, FILTERS * MEMORY), "float32"))), r"\(a state\) must be a variable"
    ),
    "time weights of another dtype": (
        model(operands("int8", _2=weights(1, FILTERS, MEMORY))), r"\(weights of float32 and int8\)"
    ),
    "weights with a zero point": (
        model(operands("int8", _1=weights(0, FILTERS, INPUTS, dtype="int8", zero_points=3))), "that have a zero point"
    ),
    "time weights with a zero point": (
        model(operands("int8", _2=weights(0, FILTERS, MEMORY, dtype="int8", zero_points=3))), "that have a zero point"
    ),
    "time weights of the run": (
        model(operands("int8", _2=weights(0, FILTERS, MEMORY, dtype="int8", data=None))),
        r"\(float32 with int8 weights known only at run time\)",
    ),
    "an int8 state": (
        model(operands("int8", _4=Tensor((BATCH, FILTERS * MEMORY), "int8", 0.1, is_variable=True))),
        r"\(int8 among floats\)",
    ),
    "a sign bit": (model(operands(), fused_activation_function="SIGN_BIT"), r"\(float32, fused SIGN_BIT\)"),
    "a state of no steps": (model(operands(memory=0)), "which LiteRT does not run"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_form_that_is_refused(name: str) -> None:
    content, message = REFUSED[name]
    with pytest.raises(qrt.errors.ModelError, match=message):
        imported(content)
