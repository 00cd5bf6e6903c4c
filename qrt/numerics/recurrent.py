"""Steps of recurrent networks in integers, as LiteRT computes them: a long short-term memory of 8-bit values and a
16-bit cell, and a rank-decomposed filter with a memory (SVDF).

Source: TFLite's kernels of integers.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from qrt.errors import QuantTypeError
from qrt.numerics import fixed_functions
from qrt.numerics.gemmlowp import divide_by_power, saturate, scale_fixed_double
from qrt.numerics.multipliers import double_multiplier
from qrt.numerics.rounding import Array
from qrt.records import record

GATES: Final = ("input", "forget", "cell", "output")
GATE_INTEGER_BITS: Final = 3
"""Of the 16-bit sums of a gate: they are in units of 2^-12."""

Multiplier = tuple[int, int]


@record(frozen=True)
class LstmParameters:
    """Multipliers (M0, shift) of the sums over the inputs and over the hidden values, for each of `GATES`, and of the
    result; the exponent of the cell's scale; the largest magnitude of a cell, at most 32767, and 32768 where there is
    none; zero points."""

    input: tuple[Multiplier, ...]
    recurrent: tuple[Multiplier, ...]
    result: Multiplier
    cell_exponent: int
    cell_clip: int
    input_zero_point: int
    hidden_zero_point: int
    result_zero_point: int


def lstm_parameters(
    x: tuple[float, int],
    hidden: tuple[float, int],
    result: tuple[float, int],
    cell_exponent: int,
    weights: Sequence[float],
    recurrent: Sequence[float],
    cell_clip: float,
) -> LstmParameters:
    """Parameters from (scale, zero point) of the inputs, of the hidden values and of what becomes of them, and from the
    scales of the weights of each gate. Multipliers of sums are formed in float32. A clip of 0 clips nothing."""
    unit = 2.0**-12
    largest = 1 << 15
    if cell_clip > 0:
        largest = int(min(np.float32(cell_clip) / np.float32(2.0**cell_exponent), np.float32(32767)))
    of_result = float(np.float32(2.0**-15 / float(np.float32(result[0])) * 2.0**-15))
    return LstmParameters(
        tuple(_gate(w, x[0], unit) for w in weights),
        tuple(_gate(w, hidden[0], unit) for w in recurrent),
        double_multiplier(of_result),
        cell_exponent,
        largest,
        x[1],
        hidden[1],
        result[1],
    )


def _gate(weight: float, scale: float, unit: float) -> Multiplier:
    with np.errstate(over="ignore"):
        multiplier = float(np.float32(weight) * np.float32(scale) / np.float32(unit))
    if not np.isfinite(multiplier):
        raise QuantTypeError(f"scales {weight:.6g}, {scale:.6g} and {unit:.6g} are too far apart for a multiplier")
    return double_multiplier(multiplier)


def lstm_step(
    x: Array,
    weights: Sequence[Array],
    recurrent: Sequence[Array],
    biases: Sequence[Array],
    hidden: Array,
    cell: Array,
    p: LstmParameters,
) -> tuple[Array, Array]:
    """(hidden values of 8 bits, cell of 16 bits) after one step, of storage: x [batch, inputs], weights [cells,
    inputs], recurrent weights [cells, cells], biases [cells]."""
    centred, state = (a.astype(np.int64) - z for a, z in ((x, p.input_zero_point), (hidden, p.hidden_zero_point)))
    sums = []
    for w, r, bias, m, n in zip(weights, recurrent, biases, p.input, p.recurrent, strict=True):
        gate = saturate(scale_fixed_double(centred @ w.T.astype(np.int64) + bias, *m), 16)
        sums.append(saturate(scale_fixed_double(state @ r.T.astype(np.int64), *n) + gate, 16))
    enter, forget, out = (fixed_functions.logistic(sums[i], GATE_INTEGER_BITS, 16) for i in (0, 1, 3))
    candidate = fixed_functions.tanh(sums[2], GATE_INTEGER_BITS, 16)
    kept = saturate(divide_by_power(forget * cell.astype(np.int64), 15), 16)
    added = saturate(divide_by_power(enter * candidate, 30 + p.cell_exponent), 16)
    cell = np.clip(saturate(kept + added, 16), -p.cell_clip, p.cell_clip)
    activated = fixed_functions.tanh(cell, 15 + p.cell_exponent, 16)
    hidden = scale_fixed_double(out * activated, *p.result) + p.result_zero_point
    return saturate(hidden, 8), cell


@record(frozen=True)
class SvdfParameters:
    """Multipliers (M0, shift) of the features and of the result, and zero points."""

    feature: Multiplier
    result: Multiplier
    input_zero_point: int
    result_zero_point: int


def svdf_parameters(
    x: tuple[float, int], result: tuple[float, int], feature: float, time: float, state: float
) -> SvdfParameters:
    """Parameters from (scale, zero point) of the inputs and of the result, and from the scales of the weights of
    features, those of time, and the state; formed in float32."""
    sx, sf, st, ss, so = map(np.float32, (x[0], feature, time, state, result[0]))
    with np.errstate(over="ignore"):
        multipliers = double_multiplier(float(sx * sf / ss)), double_multiplier(float(ss * st / so))
    return SvdfParameters(*multipliers, x[1], result[1])


def svdf_step(
    x: Array, feature: Array, time: Array, state: Array, bias: Array | None, rank: int, p: SvdfParameters
) -> tuple[Array, Array]:
    """(8-bit result [batch, units], 16-bit state) after one step: x [batch, inputs], weights [filters, inputs] and
    [filters, memory], state [batch, filters * memory], of filters that are ``rank`` neighbours for each unit."""
    filters, memory = time.shape
    lines = state.astype(np.int64).reshape(len(x), filters, memory)
    found = (x.astype(np.int64) - p.input_zero_point) @ feature.T.astype(np.int64)
    newest = saturate(scale_fixed_double(found, *p.feature), 16)
    lines = np.concatenate([lines[:, :, 1:], newest[:, :, None]], axis=2)
    sums = (lines * time.astype(np.int64)).sum(axis=2).reshape(len(x), filters // rank, rank).sum(axis=2)
    made = scale_fixed_double(sums if bias is None else sums + bias, *p.result) + p.result_zero_point
    return saturate(made, 8), lines.reshape(state.shape)
