"""UNIDIRECTIONAL_SEQUENCE_LSTM and SVDF. Hazards: a state that starts at 0 and not at its zero point, or outlives a
reset; hidden values of another type than the state's; cells of each scale, which saturate or are clipped."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op

CALLS = 6
"""With a reset in the middle."""


def _weights(rng, shape, is_small=False):
    scale = draw.scale(rng, -27, -19) if is_small else draw.scale(rng, -10, -4)
    return Tensor(shape, "int8", scale, data=draw.integers(rng, shape, "int8", -127))


def _bias(rng, count, scale, most):
    return Tensor((count,), "int32", float(np.float32(scale)), data=draw.integers(rng, (count,), "int32", -most, most))


def _words(rng, count, low, high):
    return Tensor((count,), "int16", draw.scale(rng, low, high), data=draw.integers(rng, (count,), "int16", -32767))


def _powers(rng, shape, dtype, exponents, most):
    """Weights whose scale is a power of two."""
    scale = 2.0 ** int(rng.integers(*exponents, endpoint=True))
    return Tensor(shape, dtype, scale, data=draw.integers(rng, shape, dtype, -most, most))


def _inputs(rng, x):
    return [[draw.integers(rng, x.shape, "int8")] for _ in range(CALLS)]


FORMS = ("CIFG", "peepholes", "projection", "layer normalization")


def lstm(rng, *, forms=(), is_one_type=True, hard=False, flat=False, name="UNIDIRECTIONAL_SEQUENCE_LSTM"):
    """With ``hard``, biases that bring sums of a layer normalization to their ends; with ``flat``, sums of a few units,
    which have no variance."""
    batch, steps, inputs, cells = (int(rng.integers(1, most)) for most in (5, 9, 40, 40))
    # LiteRT takes peepholes to be of as many cells as there are hidden values.
    values = int(rng.integers(1, 40)) if "projection" in forms and "peepholes" not in forms else cells
    time_major = bool(rng.integers(2))
    around = (batch,) if name == "LSTM" else (steps, batch) if time_major else (batch, steps)
    x = draw.tensor(rng, (*around, inputs), "int8", draw.scale(rng, -9, -2))
    gates = range(1 if "CIFG" in forms else 0, 4)
    has_norm = "layer normalization" in forms

    def each(make):
        return [make(gate) if gate in gates else None for gate in range(4)]

    w, r = (each(lambda _, depth=depth: _weights(rng, (cells, depth), flat)) for depth in (inputs, values))
    norms = each(lambda _: _words(rng, cells, *((-14, -9) if flat else (-20, -12)))) if has_norm else [None] * 4
    most = 2**31 - 1 if hard else 10**7 if has_norm else 9999
    biases = each(
        lambda gate: _bias(rng, cells, (norms[gate].scales / 1024 if has_norm else x.scales * w[gate].scales), most)
    )
    peepholes = [_words(rng, cells, -17, -9) if "peepholes" in forms and gate in gates else None for gate in (0, 1, 3)]
    hidden = draw.tensor(rng, (batch, values), "int8", draw.scale(rng, -8, -6), is_variable=True)
    cell = Tensor((batch, cells), "int16", 2.0 ** int(rng.integers(-15, -8)), is_variable=True)
    made = hidden if is_one_type else draw.tensor(rng, (0,), "int8", draw.scale(rng, -8, -6))
    projection, projection_bias = None, None
    if "projection" in forms:
        projection = _weights(rng, (values, cells))
        projection_bias = _bias(rng, values, made.scales * projection.scales, 9999) if rng.random() < 0.5 else None
    y = Tensor((*around, values), "int8", hidden.scales, hidden.zero_points)
    sums = [Tensor((0,), "int16", draw.scale(rng, -14, -8)) if has_norm else Tensor((0,), "float32") for _ in range(4)]
    options = {
        "fused_activation_function": "TANH",
        "cell_clip": float(rng.choice([0.0, 0.0, 0.3, 2.0, 10.0])),
        "proj_clip": float(rng.choice([0.0, 0.0, 0.3, 0.9])) if projection else 0.0,
        **({} if name == "LSTM" else {"time_major": time_major}),
    }
    operands = [x, *w, *r, *peepholes, *biases, projection, projection_bias, hidden, cell, *norms]
    intermediates = [*sums, Tensor((0,), "int8", made.scales, made.zero_points)]
    content = one_op(name, operands, [y], options, intermediates=intermediates)
    return Case(content, inputs=_inputs(rng, x), resets=(CALLS // 2,))


def _mixed(rng):
    """Any forms together."""
    forms = [form for form in FORMS if rng.random() < 0.5]
    return lstm(rng, forms=forms, is_one_type="projection" not in forms)


def halves(rng):
    """Peepholes whose products lie between two integers, and results fine enough to tell: scales are powers of two."""
    batch, steps, inputs, cells = (int(rng.integers(1, most)) for most in (5, 9, 4, 50))
    x = Tensor((steps, batch, inputs), "int8", 2.0**-6, draw.zero_point(rng))
    w, r = ([_powers(rng, (cells, depth), "int8", (-11, -6), 127) for _ in range(4)] for depth in (inputs, cells))
    places = int(rng.integers(2, 9))
    most = 12 << places
    peepholes = [_powers(rng, (cells,), "int16", (3 - places, 3 - places), most) for _ in range(3)]
    biases = [_bias(rng, cells, 1.0, 99) for _ in range(4)]
    state = [Tensor((batch, cells), "int8", 2.0**-12, is_variable=True)]
    state += [Tensor((batch, cells), "int16", 2.0**-15, is_variable=True)]
    intermediates = [*(Tensor((0,), "float32") for _ in range(4)), Tensor((0,), "int8", 2.0**-12)]
    options = {"fused_activation_function": "TANH", "cell_clip": 0.03, "time_major": True}
    operands = [x, *w, *r, *peepholes, *biases, None, None, *state, None, None, None, None]
    y = Tensor((steps, batch, cells), "int8", 2.0**-12)
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
    **{
        f"UNIDIRECTIONAL_SEQUENCE_LSTM i8, {form}": partial(lstm, forms=(form,), is_one_type=form != "projection")
        for form in FORMS
    },
    "UNIDIRECTIONAL_SEQUENCE_LSTM i8, several forms": _mixed,
    "UNIDIRECTIONAL_SEQUENCE_LSTM i8, peepholes at halves": halves,
    "UNIDIRECTIONAL_SEQUENCE_LSTM i8, large biases of norms": partial(lstm, forms=FORMS[3:], hard=True),
    "UNIDIRECTIONAL_SEQUENCE_LSTM i8, norms without a variance": partial(lstm, forms=FORMS[3:], flat=True),
    "LSTM i8": partial(lstm, name="LSTM"),
    **{
        f"LSTM i8, {form}": partial(lstm, forms=(form,), is_one_type=form != "projection", name="LSTM")
        for form in FORMS
    },
    "SVDF i8": svdf,
    "SVDF i8, no bias": partial(svdf, has_bias=False),
}
