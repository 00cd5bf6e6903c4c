"""Helpers of ops that end in a requantization: checks of rules and accumulators, and requantization parameters."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

import qrt.numerics as numerics
from qrt.errors import QuantTypeError, shown
from qrt.numerics.elements import broadcast_arrays
from qrt.ops.core import Array, container
from qrt.ops.declare import Attribute
from qrt.types import UniformType

REQUANT = Attribute("requant", "choice", "fixed", numerics.REQUANT_RULES)
LARGEST_ACCUMULATOR = (1 << 62) - 1
"""The largest magnitude of a sum, without a rescaled bias, for which rules are defined."""


@lru_cache(maxsize=512)
def max_magnitude(t: UniformType) -> int:
    """Return the largest ``|q - zero_point|`` of the values of a type."""
    least, greatest = t.zero_point_bounds
    return max(t.storage_max - least, greatest - t.storage_min)


def max_storage(t: UniformType) -> int:
    """Return the largest ``|q|`` of the storage values of a type."""
    return max(t.storage_max, -t.storage_min)


def check_choice(op: str, rule: str, rules: tuple[str, ...] = numerics.REQUANT_RULES) -> None:
    """Raise QuantTypeError if ``rule``, the attribute ``requant``, is not one of the op's ``rules``."""
    if rule not in rules:
        raise QuantTypeError(f"{op}: 'requant' must be one of {', '.join(rules)}, got {shown(rule)}")


_FEWER_BITS = "requantize the operands to fewer bits"


def say_how_to_give_type(op: str, operands: str, bound: int | None) -> str:
    """Return advice for the message of an error about a result type that cannot be inferred.

    The advice is to give ``out_type``. If the accumulator, of magnitude up to ``bound``, may exceed 64 bits, it is to
    give operands with fewer bits instead.
    """
    if bound is not None and bound > LARGEST_ACCUMULATOR:
        return _FEWER_BITS
    return f"give out_type, as in qrt.{op}({operands}, out_type=t)"


def check_rule(op: str, rule: str, bound: int | None, rules: tuple[str, ...] = numerics.REQUANT_RULES) -> None:
    """Raise QuantTypeError if ``rule`` is not one of the op's ``rules``, or the accumulator may exceed 64 bits.

    ``bound`` is the largest magnitude of the accumulator, None if unknown.
    """
    check_choice(op, rule, rules)
    if bound is not None and bound > LARGEST_ACCUMULATOR:
        raise QuantTypeError(f"{op}: the accumulator may reach {bound}, which overflows 64 bits: {_FEWER_BITS}")


def channel_parameters(rule: str, x: UniformType, w: UniformType, element: UniformType) -> numerics.RequantParameters:
    """Return the requantization parameters of a convolution, one entry for each output channel.

    ``x``, ``w`` and ``element`` are the types of input, weights and result. A per-axis type among them has one scale
    for each output channel. If all are per layer, there is only one entry.
    """
    count = max((t.scale_array.size for t in (x, w, element) if t.is_per_axis), default=1)

    def column(values: Array) -> Array:
        flat = values.ravel()
        return flat if flat.size == count else np.full(count, flat[0])

    return numerics.requant_parameters(
        rule,
        container(element),
        element.storage_min,
        element.storage_max,
        np.array([column(x.scale_array), column(w.scale_array)]).T,
        column(element.scale_array)[:, None],
        column(element.zero_point_array),
        None,
        column(x.zero_point_array),
    )


def combined_parameters(
    rule: str,
    factors: Sequence[tuple[UniformType, Array]],
    element: UniformType,
    element_index: Array,
    counts: Array | None = None,
) -> tuple[numerics.RequantParameters, Array]:
    """Return (requantization parameters, index) for a product of operands.

    The real multiplier is the product of the operands' scales divided by the result's scale. ``factors`` has (type,
    parameter index array) of each operand; ``element`` and ``element_index`` are the type and the parameter index array
    of the result. With ``counts``, as for a mean, the multiplier is also divided by the count. All index arrays and
    ``counts`` broadcast together. The parameters have one entry for each combination of values in these arrays that
    occurs. ``index`` has the broadcast shape, and gives each element's position among the entries.
    """
    columns = [i for _, i in factors] + [element_index]
    sizes = [t.scale_array.size for t, _ in factors] + [element.scale_array.size]
    if counts is not None:
        known, count_index = np.unique(counts, return_inverse=True)
        columns.append(count_index.reshape(counts.shape))
        sizes.append(len(known))
    broadcast = broadcast_arrays(*columns)
    flat = np.ravel_multi_index([c.ravel() for c in broadcast], sizes)
    distinct, inverse = np.unique(flat, return_inverse=True)
    *rows, result = np.unravel_index(distinct, sizes)[: len(factors) + 1]
    scales = np.column_stack([t.scale_array.ravel()[row] for (t, _), row in zip(factors, rows, strict=True)])
    parameters = numerics.requant_parameters(
        rule,
        container(element),
        element.storage_min,
        element.storage_max,
        scales,
        element.scale_array.ravel()[result, None],
        element.zero_point_array.ravel()[result],
        None if counts is None else known[distinct % sizes[-1]],
        factors[0][0].zero_point_array.ravel()[rows[0]],
    )
    return parameters, inverse.reshape(broadcast[0].shape)
