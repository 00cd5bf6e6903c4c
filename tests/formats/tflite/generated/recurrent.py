"""UNIDIRECTIONAL_SEQUENCE_LSTM and SVDF. Hazards: a state that starts at 0 and not at its zero point, or outlives a
reset; hidden values of another type than the state's; cells of each scale, which saturate or are clipped."""

from functools import partial

import numpy as np

from tests.formats.beside import Case
from tests.formats.tflite.generated import draw
from tests.formats.tflite.writing import Tensor, one_op

CALLS = 6
"""With a reset in the middle."""


def _weights(rng, shape):
    return Tensor(shape, "int8", draw.scale(rng, -10, -4), data=draw.integers(rng, shape, "int8", -127))


def _bias(rng, count, scale, most):
    return Tensor((count,), "int32", float(np.float32(scale)), data=draw.integers(rng, (count,), "int32", -most, most))


def _inputs(rng, x):
    return [[draw.integers(rng, x.shape, "int8")] for _ in range(CALLS)]


def lstm(rng, *, is_one_type=True):
    batch, steps, inputs, cells = (int(rng.integers(1, most)) for most in (5, 9, 40, 40))
    time_major = bool(rng.integers(2))
    around = (steps, batch) if time_major else (batch, steps)
    x = draw.tensor(rng, (*around, inputs), "int8", draw.scale(rng, -9, -2))
    weights = [_weights(rng, (cells, depth)) for depth in (inputs, cells) for _ in range(4)]
    biases = [
        Tensor(
            (cells,),
            "int32",
            float(np.float32(x.scales * w.scales)),
            data=draw.integers(rng, (cells,), "int32", -9999, 9999),
        )
        for w in weights[:4]
    ]
    hidden = draw.tensor(rng, (batch, cells), "int8", draw.scale(rng, -8, -6), is_variable=True)
    cell = Tensor((batch, cells), "int16", 2.0 ** int(rng.integers(-15, -8)), is_variable=True)
    made = hidden if is_one_type else draw.tensor(rng, (0,), "int8", draw.scale(rng, -8, -6))
    y = Tensor((*around, cells), "int8", hidden.scales, hidden.zero_points)
    intermediates = [*(Tensor((0,), "float32") for _ in range(4)), Tensor((0,), "int8", made.scales, made.zero_points)]
    options = {
        "fused_activation_function": "TANH",
        "cell_clip": float(rng.choice([0.0, 0.0, 0.3, 2.0, 10.0])),
        "time_major": time_major,
    }
    operands = [x, *weights, None, None, None, *biases, None, None, hidden, cell, None, None, None, None]
    content = one_op("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, [y], options, intermediates=intermediates)
    return Case(content, inputs=_inputs(rng, x), resets=(CALLS // 2,))


def svdf(rng, *, has_bias=True):
    batch, inputs, units, rank, memory = (int(rng.integers(1, most)) for most in (9, 40, 33, 4, 12))
    filters = units * rank
    x = draw.tensor(rng, (batch, inputs), "int8", draw.scale(rng, -9, -2))
    feature = _weights(rng, (filters, inputs))
    moments = draw.integers(rng, (filters, memory), "int16", -1000, 1000)  # sums of more than 32 bits wrap in LiteRT
    time = Tensor((filters, memory), "int16", draw.scale(rng, -16, -10), data=moments)
    state = Tensor((batch, filters * memory), "int16", draw.around(rng, x.scales * feature.scales, 3), is_variable=True)
    bias = Tensor(
        (units,), "int32", state.scales * time.scales, data=draw.integers(rng, (units,), "int32", -(10**6), 10**6)
    )
    y = draw.tensor(rng, (batch, units), "int8", draw.around(rng, state.scales * time.scales * 2.0**22, 3))
    options = {"rank": rank, "fused_activation_function": "RELU"}
    operands = [x, feature, time, bias if has_bias else None, state]
    return Case(one_op("SVDF", operands, [y], options), inputs=_inputs(rng, x), resets=(CALLS // 2,))


CASES = {
    "UNIDIRECTIONAL_SEQUENCE_LSTM i8": lstm,
    "UNIDIRECTIONAL_SEQUENCE_LSTM i8, another hidden type": partial(lstm, is_one_type=False),
    "SVDF i8": svdf,
    "SVDF i8, no bias": partial(svdf, has_bias=False),
}
