"""SVDF of floats, with weights of floats and of int8. Hazards: rows of zeros, products that do not fill four lanes, a
state of one step, ranks, a state that outlives a reset."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.writing import Tensor, one_op

CALLS = 12
"""With a reset in the middle; more than half of the states are filled by then."""
_TANH_ULP = 8


def _weights(rng, *shape, dtype):
    if dtype == "int8":
        scale = float(np.float32(rng.uniform(0.5, 2) / 64 / np.sqrt(shape[-1])))
        return Tensor(shape, dtype, scale, data=rng.integers(-127, 128, shape, dtype=np.int8))
    return Tensor(shape, "float32", data=(rng.normal(size=shape) / np.sqrt(shape[-1])).astype("float32"))


def _inputs(rng, *shape):
    """Some rows are 0, and some inputs; others are large or of one sign."""
    x = rng.normal(size=shape).astype("float32") * np.float32(2.0 ** rng.integers(-6, 7))
    x[rng.random(shape[0]) < 0.1] = 0
    x = np.abs(x) if rng.random() < 0.2 else x
    return [np.zeros_like(x) if rng.random() < 0.05 else x]


def svdf(rng, *, dtype="float32", is_asymmetric=False, activation=None):
    batch, inputs, units, rank, memory = (int(rng.integers(1, most)) for most in (9, 40, 33, 4, 12))
    filters = units * rank
    operands = [
        Tensor((batch, inputs), "float32"), _weights(rng, filters, inputs, dtype=dtype),
        _weights(rng, filters, memory, dtype=dtype),
        Tensor((units,), "float32", data=rng.normal(size=units).astype("float32")) if rng.random() < 0.7 else None,
        Tensor((batch, filters * memory), "float32", is_variable=True),
    ]  # fmt: skip
    options = {
        "rank": rank,
        "fused_activation_function": activation or str(rng.choice(["NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1"])),
        "asymmetric_quantize_inputs": is_asymmetric,
    }
    content = one_op("SVDF", operands, [Tensor((batch, units), "float32")], options)
    runs = [_inputs(rng, batch, inputs) for _ in range(CALLS)]
    return Case(content, runs, ulp=_TANH_ULP if activation == "TANH" else 0, resets=(CALLS // 2,))


CASES = {
    "SVDF float32": svdf,
    "SVDF float32, TANH": partial(svdf, activation="TANH"),
    "SVDF f32 x i8": partial(svdf, dtype="int8"),
    "SVDF f32 x i8, TANH": partial(svdf, dtype="int8", activation="TANH"),
    "SVDF f32 x i8, asymmetric": partial(svdf, dtype="int8", is_asymmetric=True),
}
