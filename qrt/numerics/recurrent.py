"""Steps of an LSTM, and of an SVDF (a rank-decomposed filter with a memory), in integers as LiteRT computes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from qrt.errors import QuantTypeError
from qrt.numerics import fixed_functions
from qrt.numerics.addition import in_blocks
from qrt.numerics.gemmlowp import divide_by_power, inverse_root, saturate, scale_fixed_double, scale_half_up_twice
from qrt.numerics.multipliers import double_multiplier
from qrt.numerics.rounding import Array

Multiplier = tuple[int, int]


@dataclass(frozen=True)
class SvdfParameters:
    """The multipliers (M0, shift) of an SVDF's features and of its result, and the zero points."""

    feature: Multiplier
    result: Multiplier
    input_zero_point: int
    result_zero_point: int


def svdf_parameters(
    x: tuple[float, int], result: tuple[float, int], feature: float, time: float, state: float
) -> SvdfParameters:
    """Return the parameters of an SVDF; its multipliers are formed in float32.

    ``x`` and ``result`` are (scale, zero point); ``feature``, ``time`` and ``state`` are the scales of the feature
    weights, of the time weights and of the state.
    """
    sx, sf, st, ss, so = map(np.float32, (x[0], feature, time, state, result[0]))
    with np.errstate(over="ignore"):
        multipliers = double_multiplier(float(sx * sf / ss)), double_multiplier(float(ss * st / so))
    return SvdfParameters(*multipliers, x[1], result[1])


def svdf_step(
    x: Array, feature: Array, time: Array, state: Array, bias: Array | None, rank: int, p: SvdfParameters
) -> tuple[Array, Array]:
    """Return (8-bit result [batch, units], 16-bit state) after one step.

    Shapes: x [batch, inputs], feature [filters, inputs], time [filters, memory], state [batch, filters * memory]. A
    unit is the sum of ``rank`` adjacent filters.
    """
    filters, memory = time.shape
    lines = state.astype(np.int64).reshape(len(x), filters, memory)
    features = (x.astype(np.int64) - p.input_zero_point) @ feature.T.astype(np.int64)
    newest = saturate(scale_fixed_double(features, *p.feature), 16)
    lines = np.concatenate([lines[:, :, 1:], newest[:, :, None]], axis=2)
    sums = (lines * time.astype(np.int64)).sum(axis=2).reshape(len(x), filters // rank, rank).sum(axis=2)
    output = scale_fixed_double(sums if bias is None else sums + bias, *p.result) + p.result_zero_point
    return saturate(output, 8), lines.reshape(state.shape)


GATES: Final = ("input", "forget", "cell", "output")
GATE_INTEGER_BITS: Final = 3
"""Integer bits of a gate's 16-bit pre-activations, whose unit is 2^-12."""
GATE_UNIT: Final = 2.0**-12
NORM_BITS: Final = 10
"""Fractional bits of normalized pre-activations."""

Quantized = tuple[float, int]
"""A scale and a zero point."""


@dataclass(frozen=True)
class LstmGate:
    """The integer parameters of an LSTM gate; multipliers (M0, shift) of absent parts are None.

    The multipliers scale the sum over the inputs, the sum over the hidden values, the product with the peephole, and
    the layer normalization. The layer normalization replaces a variance below 1 by ``least_variance``.
    """

    input: Multiplier
    recurrent: Multiplier
    peephole: Multiplier | None = None
    norm: Multiplier | None = None
    least_variance: int = 1


@dataclass(frozen=True)
class LstmParameters:
    """The integer parameters of an LSTM.

    ``gates`` are the input, forget, cell and output gate; the first is None if it is computed from the forget gate
    (CIFG). ``cell_output`` and ``projection`` are multipliers of the output before and after the projection. The cell's
    scale is ``2**cell_exponent``. ``cell_clip`` and ``projection_clip`` are the largest magnitudes of stored cell
    values and projected values: 32768 and 128 without a clip. ``made_zero_point`` is added to the output before the
    projection. It is the output's zero point, or its negative if there is a projection, as in LiteRT.
    """

    gates: tuple[LstmGate | None, ...]
    cell_output: Multiplier
    projection: Multiplier | None
    cell_exponent: int
    cell_clip: int
    projection_clip: int
    input_zero_point: int
    hidden_zero_point: int
    made_zero_point: int
    result_zero_point: int


def _multiplier(a: float, b: float, unit: float) -> Multiplier:
    """Return (M0, shift) of ``a * b / unit``, formed in float32.

    This multiplier converts products of values with the scales ``a`` and ``b`` to multiples of ``unit``.
    """
    with np.errstate(over="ignore"):
        return _finite(np.float32(a) * np.float32(b) / np.float32(unit), (a, b, unit))


def _finite(multiplier: np.float32, scales: Sequence[float]) -> Multiplier:
    if not np.isfinite(multiplier):
        spelled = ", ".join(f"{scale:.6g}" for scale in scales)
        raise QuantTypeError(f"the scales {spelled} give a multiplier beyond the range of float32")
    return double_multiplier(float(multiplier))


def lstm_gate(
    x: float, hidden: float, cell: float, w: float, r: float, peephole: float | None, norm: float | None, unit: float
) -> LstmGate:
    """Return the parameters of a gate from scales; its pre-activations are multiples of ``unit``.

    ``x``, ``hidden`` and ``cell`` are the scales of operands; ``w``, ``r`` and ``peephole`` the scales of the weights
    that they are multiplied by; ``norm`` is the scale of the layer normalization's weights. The multiplier of a
    peephole is formed in float64, and rounded once to float32.
    """
    of_cell, of_norm, least = None, None, 1
    with np.errstate(over="ignore"):
        if peephole is not None:
            ratio = np.float32(cell * float(np.float32(peephole)) / float(np.float32(unit)))
            of_cell = _finite(ratio, (cell, peephole, unit))
        if norm is not None:
            m0, shift = _finite(np.float32(norm), (norm,))
            of_norm, least = (m0, shift + 12), max(1, int(np.float32(10000) * np.float32(norm)))
    return LstmGate(_multiplier(w, x, unit), _multiplier(r, hidden, unit), of_cell, of_norm, least)


def lstm_parameters(
    x: Quantized,
    hidden: Quantized,
    cell_output: Quantized,
    result: Quantized,
    cell_exponent: int,
    gates: Sequence[LstmGate | None],
    projection: float | None,
    cell_clip: float,
    projection_clip: float,
) -> LstmParameters:
    """Return the parameters of an LSTM from (scale, zero point) of its values, its gates, and the projection's scale.

    A clip of 0 means no clip. Without a projection, the zero point of ``cell_output`` is added to the stored output of
    the cell, as for every quantized result. With a projection, it is subtracted from the stored output instead, because
    LiteRT does so.
    """
    largest, most = 1 << 15, 1 << 7
    if cell_clip > 0:
        largest = int(min(np.float32(cell_clip) / np.float32(2.0**cell_exponent), np.float32(32767)))
    if projection_clip > 0:
        # LiteRT takes a clip of less than a unit for none.
        most = int(min(np.float32(projection_clip) / np.float32(result[0]), np.float32(127))) or most
    output_multiplier = float(np.float32(2.0**-15 / float(np.float32(cell_output[0])) * 2.0**-15))
    return LstmParameters(
        tuple(gates),
        double_multiplier(output_multiplier),
        None if projection is None else _multiplier(projection, cell_output[0], result[0]),
        cell_exponent,
        largest,
        most,
        x[1],
        hidden[1],
        cell_output[1] if projection is None else -cell_output[1],
        result[1],
    )


@dataclass(frozen=True)
class GateWeights:
    """The stored weights of a gate: w [cells, inputs], r [cells, hidden values], and vectors [cells].

    The vectors are the bias, and optionally the 16-bit weights of the peephole and of the layer normalization.
    """

    w: Array
    r: Array
    bias: Array
    peephole: Array | None = None
    norm: Array | None = None


def gate_sums(x: Array, hidden: Array, cell: Array, weights: GateWeights, gate: LstmGate) -> Array:
    """Return the 16-bit pre-activations of a gate, from inputs and hidden values minus their zero points.

    As in LiteRT, products with peepholes round half up for the cells in whole blocks of 16, and half away from zero for
    the others.
    """
    bias = weights.bias.astype(np.int64)
    first = x @ weights.w.T.astype(np.int64) + (bias if weights.norm is None else 0)
    sums = saturate(scale_fixed_double(first, *gate.input), 16)
    sums = saturate(scale_fixed_double(hidden @ weights.r.T.astype(np.int64), *gate.recurrent) + sums, 16)
    if weights.peephole is not None and gate.peephole is not None:
        product = weights.peephole.astype(np.int64) * cell
        is_whole = np.arange(product.shape[1]) < in_blocks(product.shape[1])
        scaled = (scale(product, *gate.peephole) for scale in (scale_half_up_twice, scale_fixed_double))
        sums = saturate(np.where(is_whole, *scaled) + sums, 16)
    if weights.norm is not None and gate.norm is not None:
        sums = normalized(sums, weights.norm.astype(np.int64), bias, gate.norm, gate.least_variance)
    return sums


def normalized(sums: Array, weights: Array, bias: Array, norm: Multiplier, least_variance: int) -> Array:
    """Return the layer normalization of rows of 16-bit pre-activations.

    The normalized values have 10 fractional bits before they are multiplied by ``weights``. Quotients are truncated.
    The variance is in squared units of ``sums``, and is computed with the factor ``2**20 // cells`` instead of a
    division by the number of cells.
    """
    cells = sums.shape[1]
    if cells == 0:
        return sums
    total, squares = sums.sum(axis=1, keepdims=True), (sums * sums).sum(axis=1, keepdims=True)
    mean = _cut(total << NORM_BITS, cells)
    variance = (squares * ((1 << 2 * NORM_BITS) // cells) - mean * mean) >> 2 * NORM_BITS
    m0, right = inverse_root(np.where(variance < 1, least_variance, variance))
    apart = scale_fixed_double((sums << NORM_BITS) - mean, m0, -right)
    weighted = apart * weights + bias
    half = np.where(weighted > 0, 1, -1) << (NORM_BITS - 1)
    return saturate(scale_fixed_double(_cut(weighted + half, 1 << NORM_BITS), *norm), 16)


def _cut(x: Array, divisor: int) -> Array:
    """Return ``x / divisor`` rounded toward zero."""
    return np.asarray(np.sign(x) * (np.abs(x) // divisor))


def lstm_step(
    x: Array,
    weights: Sequence[GateWeights | None],
    projection: tuple[Array, Array | None] | None,
    hidden: Array,
    cell: Array,
    p: LstmParameters,
) -> tuple[Array, Array]:
    """Return (8-bit hidden values, 16-bit cell) after one step; all arguments are stored values.

    x is [batch, inputs]; ``projection`` is (weights [hidden values, cells], bias or None).
    """
    centred, state = (a.astype(np.int64) - z for a, z in ((x, p.input_zero_point), (hidden, p.hidden_zero_point)))
    cell = cell.astype(np.int64)

    def sums(number: int) -> Array:
        gate, own = p.gates[number], weights[number]
        assert gate is not None
        assert own is not None
        return gate_sums(centred, state, cell, own, gate)

    forget = fixed_functions.logistic(sums(1), GATE_INTEGER_BITS, 16)
    enter = 32767 - forget if p.gates[0] is None else fixed_functions.logistic(sums(0), GATE_INTEGER_BITS, 16)
    candidate = fixed_functions.tanh(sums(2), GATE_INTEGER_BITS, 16)
    retained = saturate(divide_by_power(forget * cell, 15), 16)
    added = saturate(divide_by_power(enter * candidate, 30 + p.cell_exponent), 16)
    cell = np.clip(saturate(retained + added, 16), -p.cell_clip, p.cell_clip)
    out = fixed_functions.logistic(sums(3), GATE_INTEGER_BITS, 16)  # its peephole sees the new cell
    activated = fixed_functions.tanh(cell, 15 + p.cell_exponent, 16)
    output = saturate(scale_fixed_double(out * activated, *p.cell_output) + p.made_zero_point, 8)
    if projection is None or p.projection is None:
        return output, cell
    w, bias = projection
    total = (output - p.made_zero_point) @ w.T.astype(np.int64)
    projected = scale_fixed_double(total if bias is None else total + bias, *p.projection)
    return np.clip(saturate(projected + p.result_zero_point, 8), -p.projection_clip, p.projection_clip), cell
