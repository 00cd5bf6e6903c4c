"""Helpers for matmul and convolutions: accumulator bounds, the bias at the accumulator's scale, and result types.

The accumulator is exact (docs/numerics.md, "Requantization"). It has 32 bits if its bound for the operands' types is
below 2**31, else 64, so that it never wraps. Throughout, ``a`` and ``w`` are the types of the first operand and of the
weights, ``sa`` and ``sw`` their scales, and ``depth`` (K) is the number of products in a sum.
"""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

import qrt.numerics as numerics
from qrt.errors import QuantTypeError, shown
from qrt.ops.core import Array, Constants, KernelCall, quantized, storage_dtype, uniform
from qrt.ops.requant import LARGEST_ACCUMULATOR, check_rule, max_magnitude, say_how_to_give_type
from qrt.types import TensorType, UniformType

Prepare = Callable[[Array], Array]


def accumulator_bound(a: UniformType, w: UniformType, depth: int | None) -> int | None:
    """Return the largest magnitude of a sum of products, ``K * max|a - za| * max|w - zw|``; None if K is dynamic."""
    return None if depth is None else depth * max_magnitude(a) * max_magnitude(w)


def check_accumulator(
    op: str, a: UniformType, w: UniformType, depth: int | None, rule: str, bias: UniformType | None
) -> None:
    """Raise QuantTypeError for an unsupported requantization rule, or for sums that may exceed 64 bits.

    ``depth`` is the number of products in a sum, None if unknown.
    """
    bound = accumulator_bound(a, w, depth)
    check_rule(op, rule, None if bound is None else bound + _bias_magnitude(bias))
    if w.is_sub_channel and rule not in ("fixed", "float32"):
        raise QuantTypeError(
            f"{op}: 'requant' must be 'fixed' or 'float32' for weights of a sub-channel type, got {shown(rule)}"
        )


def largest_depth(a: UniformType, w: UniformType, bias: UniformType | None) -> int:
    """Return the largest number of products in a sum that `check_accumulator` accepts for these types."""
    return (LARGEST_ACCUMULATOR - _bias_magnitude(bias)) // (max_magnitude(a) * max_magnitude(w))


def _bias_magnitude(bias: UniformType | None) -> int:
    return 0 if bias is None else max_magnitude(bias)


def check_expressed(op: str, *types: UniformType | None) -> None:
    """Raise QuantTypeError unless all the given quantized types have the same expressed type (None is skipped)."""
    expressed = {t.expressed_type for t in types if t is not None}
    if len(expressed) > 1:
        listed = " and ".join(sorted(map(str, expressed)))
        raise QuantTypeError(f"{op}: the operands and the result must have the same expressed type, got {listed}")


def exact_result(op: str, a: UniformType, w: UniformType, depth: int | None, axis: int | None) -> UniformType:
    """Return the i32 result type of scale ``sa * sw`` and zero point 0, which represents every accumulator exactly.

    ``axis`` is the result's channel axis if ``a`` or ``w`` is per axis. Raise QuantTypeError if i32 may not hold every
    accumulator, if both types are per axis, if one is sub-channel, or if a product of scales is out of range.
    """
    bound = accumulator_bound(a, w, depth)
    reason = ""
    if bound is None:
        reason = "no exact i32 result type exists, because the number of products in a sum is dynamic"
    elif bound >= 1 << 31:
        reason = f"no exact i32 result type exists, because the accumulator may reach {bound}"
    elif (a.is_per_axis and w.is_per_axis) or a.is_sub_channel or w.is_sub_channel:
        reason = f"no exact result type exists for the product of {a} and {w}"
    if reason:
        operands = "a, w" if op == "matmul" else "x, w"
        raise QuantTypeError(f"{op}: {reason}: {say_how_to_give_type(op, operands, bound)}")
    scales = [s * t for s, t in product(a.scales, w.scales)]
    per_axis = a.is_per_axis or w.is_per_axis
    return UniformType("i32", a.expressed_type, scales if per_axis else scales[0], axis=axis if per_axis else None)


def check_bias(
    op: str, bias: TensorType, channels: int | None, a: UniformType, w: UniformType, channel_axis: int
) -> UniformType:
    """Return the quantized type of a bias, after checking its shape and the types of ``a`` and ``w``.

    A bias is a vector with one value for each output channel, per layer or per axis. The weights must be per layer, or
    per axis along their output channels (``channel_axis``).
    """
    element = quantized(bias, op, "bias")
    size = bias.shape[0] if bias.shape is not None and len(bias.shape) == 1 else -1
    if size == -1 or (None not in (size, channels) and size != channels):
        wanted = "each output channel" if channels is None else f"each of the {channels} output channels"
        raise QuantTypeError(f"{op}: 'bias' must be a vector with one value for {wanted}, got {bias}")
    if element.is_sub_channel:
        raise QuantTypeError(f"{op}: 'bias' must have a type per layer or per axis, got the sub-channel type {element}")
    first = "a" if op == "matmul" else "x"
    if not a.is_per_layer:
        raise QuantTypeError(f"{op}: {first!r} must have a per-layer type if 'bias' is given, got {a}")
    if w.is_per_axis and w.axis != channel_axis:
        raise QuantTypeError(
            f"{op}: 'w' must have a type per layer, or per axis along the output channels (axis {channel_axis}), if "
            f"'bias' is given, got {w}"
        )
    return element


def _per_channel(t: UniformType, values: Sequence[float], channels: int) -> list[float]:
    return list(values) * channels if t.is_per_layer else list(values)


def accumulator_bias(bias: Array, element: UniformType, a: UniformType, w: UniformType) -> Array:
    """Return the values of a bias as int64 in units of the accumulator's scale ``sa * sw``.

    ``bias`` has storage of type ``element``; the weights are per layer or per axis.
    """
    if bias_is_direct(element, a, w):
        return np.asarray(bias, np.int64)
    channels = len(bias)
    scales = [(a.scale, s) for s in _per_channel(w, w.scales, channels)]
    zero_points = [int(z) for z in _per_channel(element, element.zero_points, channels)]
    return numerics.rescale_bias(bias, _per_channel(element, element.scales, channels), zero_points, scales)


def bias_is_direct(element: UniformType, a: UniformType, w: UniformType) -> bool:
    """Return True if bias storage can be added to the accumulator without rescaling.

    That is, in every channel the bias has the scale ``sa * sw`` and zero point 0.
    """
    if not a.is_per_layer or w.is_sub_channel or element.zero_point_array.any():
        return False
    with np.errstate(over="ignore"):  # an infinite product equals no scale
        return bool((element.scale_array == a.scale * w.scale_array).all())


def bias_operand(
    types: Sequence[TensorType], a: UniformType, w: UniformType, constants: Constants
) -> tuple[Array | str | None, Prepare | None]:
    """Return (bias argument of a `bind_*` function, function that converts a call's bias operand to it).

    - (array, None) for a constant bias, converted to int64 in units of the accumulator's scale;
    - ("i32", None) for a bias operand whose storage can be added directly;
    - ("i64", function) for any other bias operand: each call converts its storage by the function;
    - (None, None) without a bias.
    """
    if len(types) < 3:
        return None, None
    element = uniform(types[2])
    if 2 in constants:
        return accumulator_bias(constants[2], element, a, w), None
    if bias_is_direct(element, a, w) and storage_dtype(element) == np.int32:
        return "i32", None
    return "i64", lambda bias: accumulator_bias(bias, element, a, w)


def with_prepared_bias(call: KernelCall, prepare: Prepare | None) -> KernelCall:
    """Return a call that first converts its bias operand (the last input) by ``prepare``, then runs ``call``.

    If ``prepare`` is None, return ``call`` itself.
    """
    if prepare is None:
        return call

    def run(*arrays: Array) -> None:
        *inputs, bias, out = arrays
        call(*inputs, prepare(bias), out)

    return run


def without_zero_point(q: Array, zero_points: Array) -> Array:
    """Return ``q - zero_points`` as int64."""
    return np.asarray(q).astype(np.int64) - zero_points
