"""matmul with sub-channel weights: each block along K has its own scale, and their weighted sum is requantized once.

The rules are in docs/numerics.md, "Requantization". The rule ``float32`` converts the integer sum of each block to
float32, and multiplies it by the block's scale. The products are added in float32 in ascending order without fusing,
and the bias in units of ``sa`` is added last. The total is multiplied by ``f32(sa) / f32(so)`` and rounded. The rule
``fixed`` adds ``P_b * M0_b`` over the blocks, where ``P_b`` is a block's integer sum and ``M0_b`` its multiplier, and
``bias * M0_bias``. This sum is exact in 128 bits, and is rounded once, with one shift N per column.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import qrt.numerics as numerics
from qrt.errors import QuantTypeError
from qrt.ops.core import Array, container
from qrt.ops.requant import max_magnitude
from qrt.types import UniformType


@dataclass(frozen=True, eq=False)
class BlockParameters:
    """The factors by which a matmul with sub-channel weights scales its sums, as arrays [blocks, columns].

    ``scale`` and ``bias_scale`` are for the rule ``float32``, the multipliers for ``fixed``. ``requant`` has one entry
    for each column.
    """

    k_block: int
    scale: Array
    multiplier: Array
    bias_scale: Array
    bias_multiplier: Array
    requant: numerics.RequantParameters


def column_scales(w: UniformType, depth: int, columns: int) -> tuple[int, Array, Array]:
    """Return (size of a block along K, scales [blocks, columns], zero points [blocks, columns]) of the weights."""
    sizes = dict(w.block_sizes or ())
    k_block, n_block = sizes.get(0, max(depth, 1)), sizes.get(1, max(columns, 1))
    index = np.arange(columns) // n_block
    scales = w.scale_array[:, index]
    return k_block, scales, w.zero_point_array[:, index]


def block_parameters(
    a: UniformType, w: UniformType, element: UniformType, rule: str, depth: int, columns: int, bias: UniformType | None
) -> BlockParameters:
    """Return the factors that scale the sums of each block in a matmul of ``a`` and weights [depth, columns].

    ``a`` is per layer, the weights are sub-channel. ``element`` is the type of the result, ``rule`` is ``float32`` or
    ``fixed``.
    """
    k_block, scales, _ = column_scales(w, depth, columns)
    out_scales = _per_column(element.scales, columns)
    zero_points = [int(z) for z in _per_column(element.zero_points, columns)]
    bias_scales = [] if bias is None else _per_column(bias.scales, columns)
    storage = (container(element), element.storage_min, element.storage_max)
    none = np.empty(0, np.int64)
    if rule == "float32":
        ratios = [(a.scale,)] * columns
        requant = numerics.requant_parameters(rule, *storage, ratios, [(s,) for s in out_scales], zero_points)
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            scale = scales.astype(np.float32)
            bias_scale = np.array(bias_scales, np.float64).astype(np.float32) / np.float32(a.scale)
        if not all(np.all((factor > 0) & (factor < np.inf)) for factor in (scale, bias_scale)):
            raise QuantTypeError(
                f"matmul: products of the scales of {a}, {w} and the bias exceed the range of float32: use "
                "requant = 'fixed'"
            )
        if not _sums_are_finite(a, w, bias, k_block, (scale, bias_scale)):
            raise QuantTypeError(
                f"matmul: sums of {a} times {w} may exceed the range of float32: use requant = 'fixed'"
            )
        return BlockParameters(k_block, scale, none, bias_scale, none, requant)
    if rule != "fixed":
        raise QuantTypeError(
            f"matmul: 'requant' must be 'fixed' or 'float32' for weights of a sub-channel type, got {rule!r}"
        )
    multiplier, bias_multiplier, shifts = np.empty(scales.shape, np.int64), [], []
    for n, out_scale in enumerate(out_scales):
        reals = [Fraction(a.scale) * Fraction(float(s)) / Fraction(out_scale) for s in scales[:, n]]
        reals += [Fraction(bias_scales[n]) / Fraction(out_scale)] if bias is not None else []
        m0, shift = numerics.shared_fixed_multipliers(reals)
        multiplier[:, n] = m0[: len(scales)]
        bias_multiplier += m0[len(scales) :]
        shifts.append(shift)
    requant = numerics.RequantParameters(
        rule, *storage, np.array(zero_points, np.int64), np.ones(columns, np.int32), np.array(shifts, np.int32)
    )
    empty = np.empty(0, np.float32)
    return BlockParameters(k_block, empty, multiplier, empty, np.array(bias_multiplier, np.int64), requant)


def _sums_are_finite(
    a: UniformType, w: UniformType, bias: UniformType | None, k_block: int, scales: tuple[Array, Array]
) -> bool:
    """Return True if no sum overflows when requantization uses the rule ``float32``.

    Otherwise infinities could add up to a NaN. Only the values of the largest magnitude are tested, because rounding is
    monotonic.
    """
    scale, bias_scale = scales
    terms = None if bias is None else np.full(scale.shape[1], max_magnitude(bias))
    sums = np.full(scale.shape, k_block * max_magnitude(a) * max_magnitude(w))
    return bool(np.isfinite(numerics.blocks_float32(sums, scale, terms, bias_scale)).all())


def _per_column(values: tuple[float, ...], columns: int) -> list[float]:
    return list(values) if len(values) == columns else list(values) * columns


def bias_in_blocks(bias: Array, element: UniformType) -> Array:
    """Return bias storage minus its zero points, as int64."""
    return bias.astype(np.int64) - element.zero_point_array.ravel()


def requantize_blocks(
    a: Array,
    w: Array,
    a_type: UniformType,
    w_type: UniformType,
    element: UniformType,
    rule: str,
    bias: tuple[Array, UniformType] | None,
) -> Array:
    """Return the reference result of a matmul with sub-channel weights, as storage [..., M, N].

    ``a`` [..., M, K] and ``w`` [K, N] are int64, after subtracting zero points; ``bias`` has storage and type.
    """
    depth, columns = w.shape
    p = block_parameters(a_type, w_type, element, rule, depth, columns, None if bias is None else bias[1])
    starts = range(0, depth, p.k_block)
    sums = np.stack([a[..., k : k + p.k_block] @ w[k : k + p.k_block] for k in starts])
    terms = None if bias is None else bias_in_blocks(*bias)
    if rule == "float32":
        with np.errstate(over="ignore"):  # an infinity is clamped
            scaled = numerics.blocks_float32(sums, p.scale, terms, p.bias_scale) * p.requant.scale_f32
        zero_point = np.broadcast_to(p.requant.zero_point, scaled.shape)
        return numerics.round_scaled_float32(scaled, zero_point, element.storage_min, element.storage_max)
    exact = numerics.blocks_fixed(sums, p.multiplier, terms, p.bias_multiplier)
    return numerics.requantize(exact, p.requant, np.arange(columns))
