"""A step of a rank-decomposed filter with a memory (SVDF) in integers, as LiteRT computes it.

Source: TFLite's kernels of integers.
"""

from dataclasses import dataclass

import numpy as np

from qrt.numerics.gemmlowp import saturate, scale_fixed_double
from qrt.numerics.multipliers import double_multiplier
from qrt.numerics.rounding import Array

Multiplier = tuple[int, int]


@dataclass(frozen=True)
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
