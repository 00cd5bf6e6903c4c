"""LSTM and RNN operators of floats: one step, sequences, and both directions. Hazards: a state that outlives a reset,
the order of gates, a peephole that reads the cell before or after, one step alone, a projection that is clipped."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.writing import Tensor, one_op

CALLS = 6
"""With a reset in the middle."""
_ULP = 64
_SHARE = 0.01
"""The share of results of an LSTM with int8 weights that may differ by more: where a hidden value is quantized that
lies within its rounding errors of a tie."""


def _weights(rng, *shape, around=0.0, dtype="float32"):
    if dtype == "int8":
        scale = float(np.float32(rng.uniform(0.5, 2) / 64 / np.sqrt(shape[-1])))
        return Tensor(shape, dtype, scale, data=rng.integers(-127, 128, shape, dtype=np.int8))
    return Tensor(shape, "float32", data=(around + rng.normal(size=shape) / np.sqrt(shape[-1])).astype("float32"))


def _sizes(rng, most=(17, 9, 40)):
    """Of few cells all results may be next to nothing, and what the sums lose is not."""
    batch, steps, inputs = (int(rng.integers(1, size)) for size in most)
    cells = int(rng.integers(16, 100))
    time_major = bool(rng.integers(2))
    return batch, inputs, cells, (steps, batch) if time_major else (batch, steps), time_major


def _case(rng, name, operands, results, options, **allowed):
    inputs = [[rng.normal(size=operands[0].shape).astype("float32")] for _ in range(CALLS)]
    return Case(one_op(name, operands, results, options), inputs, resets=(CALLS // 2,), **{"ulp": _ULP, **allowed})


def lstm(rng, *, form="", dtype="float32", is_asymmetric=False, name="UNIDIRECTIONAL_SEQUENCE_LSTM"):
    """LSTM has one step, without an axis of its own."""
    batch, inputs, cells, around, time_major = _sizes(rng)
    around = (batch,) if name == "LSTM" else around
    is_projected, has_norm = form == "projection", form == "layer normalization"
    hidden = int(rng.integers(1, min(cells, 40))) if is_projected else cells
    gates = [form != "CIFG", True, True, True]

    def each(*shape, dtype="float32"):
        return [_weights(rng, *shape, dtype=dtype) if is_there else None for is_there in gates]

    def matrices(depth):
        return each(cells, depth, dtype=dtype)

    peepholes = [_weights(rng, cells, dtype=dtype) if form == "peepholes" else None for _ in range(3)]
    projection = [_weights(rng, hidden, cells, dtype=dtype), _weights(rng, hidden) if rng.random() < 0.5 else None]
    norms = [_weights(rng, cells, around=1.0) if has_norm else None for _ in range(4)]
    states = [Tensor((batch, size), "float32", is_variable=True) for size in (hidden, cells)]
    operands = [
        Tensor((*around, inputs), "float32"), *matrices(inputs), *matrices(hidden), *peepholes, *each(cells),
        *(projection if is_projected else [None, None]), *states, *(norms if has_norm else []),
    ]  # fmt: skip
    options = {
        "fused_activation_function": str(rng.choice(["TANH", "TANH", "RELU6"])),
        "cell_clip": float(rng.choice([0.0, 0.3, 10.0])),
        "proj_clip": float(rng.choice([0.0, 0.3])) if is_projected else 0.0,
        "asymmetric_quantize_inputs": is_asymmetric,
        **({} if name == "LSTM" else {"time_major": time_major}),
    }
    allowed = {"share": _SHARE} if dtype == "int8" else {}
    y = Tensor((*around, hidden), "float32")
    return _case(rng, name, operands, [y], options, **allowed)


def basic(rng, *, has_variables=True):
    """An LSTM whose weights are one matrix. Without variables, the state is given in each run."""
    batch, inputs, cells, *_ = _sizes(rng)
    x = Tensor((batch, inputs), "float32")
    hidden, cell = (Tensor((batch, cells), "float32", is_variable=has_variables) for _ in range(2))
    operands = [x, hidden, _weights(rng, 4 * cells, inputs + cells), _weights(rng, 4 * cells), cell]
    results = [Tensor((batch, size), "float32") for size in (cells, cells, inputs + cells, 4 * cells)]
    options = {"fused_activation_function": "TANH", "kernel_type": "BASIC"}
    given = [x] if has_variables else [x, hidden, cell]
    runs = [[rng.normal(size=tensor.shape).astype("float32") for tensor in given] for _ in range(CALLS)]
    return Case(one_op("LSTM", operands, results, options), runs, ulp=_ULP, resets=(CALLS // 2,))


def rnn(rng, *, dtype="float32", is_asymmetric=False, name="UNIDIRECTIONAL_SEQUENCE_RNN"):
    """RNN has one step, without an axis of its own."""
    batch, inputs, cells, around, time_major = _sizes(rng)
    around = (batch,) if name == "RNN" else around
    state = Tensor((batch, cells), "float32", is_variable=True)
    x, weights, recurrent = (
        Tensor((*around, inputs), "float32"),
        _weights(rng, cells, inputs, dtype=dtype),
        _weights(rng, cells, cells, dtype=dtype),
    )
    options = {"fused_activation_function": str(rng.choice(["TANH", "RELU6"]))}
    options |= {} if name == "RNN" else {"time_major": time_major}
    if dtype == "int8":
        options |= {"fused_activation_function": "RELU6", "asymmetric_quantize_inputs": is_asymmetric}
    operands = [x, weights, recurrent, _weights(rng, cells), state]
    allowed = {"ulp": 0} if dtype == "int8" else {}
    y = Tensor((*around, cells), "float32")
    return _case(rng, name, operands, [y], options, **allowed)


def _both(rng, name, around, inputs, sizes, operands, auxiliary, options, **allowed):
    """A model of both directions, with inputs of their own or the same."""
    merges = options["merge_outputs"]
    results = [Tensor((*around, size), "float32") for size in ([sum(sizes)] if merges else sizes)]
    x = Tensor((*around, inputs), "float32")
    given = [x, *operands, *auxiliary]
    runs = [[rng.normal(size=(*around, n)).astype("float32") for n in [inputs] * (1 + bool(auxiliary[0]))]
            for _ in range(CALLS)]  # fmt: skip
    return Case(one_op(name, given, results, options), runs, resets=(CALLS // 2,), **{"ulp": _ULP, **allowed})


def _options(rng, time_major, is_asymmetric, merges, **others):
    return {"merge_outputs": merges, "time_major": time_major, "asymmetric_quantize_inputs": is_asymmetric, **others}


def both_rnn(rng, *, dtype="float32", is_asymmetric=False, has_own_inputs=False):
    batch, inputs, _, around, time_major = _sizes(rng, (6, 6, 20))
    if dtype == "int8" or has_own_inputs:  # LiteRT ignores inputs of the other way around, and repeats int8 ones
        around, time_major = (tuple(sorted((batch, around[0] * around[1] // batch))), has_own_inputs)
        batch = around[has_own_inputs]
    sizes = [int(n) for n in rng.integers(16, 40, 2)]
    operands = [
        tensor
        for cells in sizes
        for tensor in (
            _weights(rng, cells, inputs, dtype=dtype), _weights(rng, cells, cells, dtype=dtype), _weights(rng, cells),
            Tensor((batch, cells), "float32", is_variable=True),
        )
    ]  # fmt: skip
    auxiliary = [Tensor((*around, inputs), "float32") if has_own_inputs else None, None, None]
    activation = "RELU6" if dtype == "int8" else str(rng.choice(["TANH", "RELU6"]))
    merges = time_major or bool(rng.integers(2))
    options = _options(rng, time_major, is_asymmetric, merges, fused_activation_function=activation)
    name, allowed = "BIDIRECTIONAL_SEQUENCE_RNN", {"ulp": 0} if dtype == "int8" else {}
    return _both(rng, name, around, inputs, sizes, operands, auxiliary, options, **allowed)


def both_lstm(rng, *, form="", dtype="float32", is_asymmetric=False, has_own_inputs=False):
    batch, inputs, _, around, time_major = _sizes(rng, (6, 6, 20))
    sizes, operands, states = [], [], []
    cells = int(rng.integers(16, 40))
    hidden = int(rng.integers(1, min(cells, 40))) if form == "projection" else cells
    for _ in range(2):
        gates = [form != "CIFG", True, True, True]
        for shape, kind in (((cells, inputs), dtype), ((cells, hidden), dtype)):
            operands += [_weights(rng, *shape, dtype=kind) if is_there else None for is_there in gates]
        operands += [_weights(rng, cells, dtype=dtype) if form == "peepholes" else None for _ in range(3)]
        operands += [_weights(rng, cells) if is_there else None for is_there in gates]
        is_projected = form == "projection"
        operands += [_weights(rng, hidden, cells, dtype=dtype), _weights(rng, hidden)] if is_projected else [None] * 2
        states += [Tensor((batch, size), "float32", is_variable=True) for size in (hidden, cells)]
        sizes.append(hidden)
    auxiliary = [Tensor((*around, inputs), "float32") if has_own_inputs else None, *[None] * 8]
    options = _options(
        rng,
        time_major,
        is_asymmetric,
        time_major and bool(rng.integers(2)),
        fused_activation_function=str(rng.choice(["TANH", "TANH", "RELU6"])),
        cell_clip=float(rng.choice([0.0, 0.3, 10.0])), proj_clip=float(rng.choice([0.0, 0.3])),
    )  # fmt: skip
    name, allowed = "BIDIRECTIONAL_SEQUENCE_LSTM", {"share": _SHARE} if dtype == "int8" else {}
    return _both(rng, name, around, inputs, sizes, [*operands, *states], auxiliary, options, **allowed)


FORMS = ("CIFG", "peepholes", "projection", "layer normalization")
CASES = {
    "UNIDIRECTIONAL_SEQUENCE_LSTM float32": lstm,
    **{f"UNIDIRECTIONAL_SEQUENCE_LSTM float32, {form}": partial(lstm, form=form) for form in FORMS},
    **{
        f"UNIDIRECTIONAL_SEQUENCE_LSTM f32 x i8, {form}": partial(lstm, form=form, dtype="int8")
        for form in ("plain", *FORMS)
    },
    "UNIDIRECTIONAL_SEQUENCE_LSTM f32 x i8, asymmetric": partial(lstm, dtype="int8", is_asymmetric=True),
    "UNIDIRECTIONAL_SEQUENCE_RNN float32": rnn,
    "UNIDIRECTIONAL_SEQUENCE_RNN f32 x i8": partial(rnn, dtype="int8"),
    "UNIDIRECTIONAL_SEQUENCE_RNN f32 x i8, asymmetric": partial(rnn, dtype="int8", is_asymmetric=True),
    "LSTM float32": partial(lstm, name="LSTM"),
    **{f"LSTM float32, {form}": partial(lstm, form=form, name="LSTM") for form in FORMS},
    "LSTM f32 x i8": partial(lstm, dtype="int8", name="LSTM"),
    "LSTM f32 x i8, asymmetric": partial(lstm, dtype="int8", is_asymmetric=True, name="LSTM"),
    "LSTM float32, BASIC": basic,
    "LSTM float32, BASIC, given states": partial(basic, has_variables=False),
    "RNN float32": partial(rnn, name="RNN"),
    "RNN f32 x i8": partial(rnn, dtype="int8", name="RNN"),
    "RNN f32 x i8, asymmetric": partial(rnn, dtype="int8", is_asymmetric=True, name="RNN"),
    "BIDIRECTIONAL_SEQUENCE_RNN float32": both_rnn,
    "BIDIRECTIONAL_SEQUENCE_RNN float32, inputs of both": partial(both_rnn, has_own_inputs=True),
    "BIDIRECTIONAL_SEQUENCE_RNN f32 x i8": partial(both_rnn, dtype="int8"),
    "BIDIRECTIONAL_SEQUENCE_RNN f32 x i8, asymmetric": partial(both_rnn, dtype="int8", is_asymmetric=True),
    "BIDIRECTIONAL_SEQUENCE_LSTM float32": both_lstm,
    **{f"BIDIRECTIONAL_SEQUENCE_LSTM float32, {form}": partial(both_lstm, form=form) for form in FORMS[:3]},
    "BIDIRECTIONAL_SEQUENCE_LSTM float32, inputs of both": partial(both_lstm, has_own_inputs=True),
    "BIDIRECTIONAL_SEQUENCE_LSTM f32 x i8": partial(both_lstm, dtype="int8"),
    "BIDIRECTIONAL_SEQUENCE_LSTM f32 x i8, asymmetric": partial(both_lstm, dtype="int8", is_asymmetric=True),
}
