"""Helpers of ops that end in a requantization: rule checks, accumulator bounds, parameters for combined scales."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from qrt import numerics
from qrt.errors import QuantTypeError, shown
from qrt.ops.core import Array, container
from qrt.ops.declare import Attribute
from qrt.types import UniformType

REQUANT = Attribute("requant", "choice", "fixed", numerics.REQUANT_RULES)


@lru_cache(maxsize=512)
def max_magnitude(t: UniformType) -> int:
    """The largest ``|q - zero_point|`` of a type."""
    zero_points = t.zero_point_array
    return max(t.storage_max - int(zero_points.min()), int(zero_points.max()) - t.storage_min)


def check_rule(op: str, rule: str, bound: int | None) -> None:
    """Refuses unknown rules, and accumulators (``bound`` is their largest magnitude, None if unknown) that a rule
    cannot hold."""
    if rule not in numerics.REQUANT_RULES:
        raise QuantTypeError(f"{op}: requant must be one of {', '.join(numerics.REQUANT_RULES)}, got {shown(rule)}")
    if bound is None or bound <= largest_accumulator(rule):
        return
    if rule == "fixed_double":
        raise QuantTypeError(
            f"{op}: requant = 'fixed_double' is defined on 32-bit accumulators, this one may reach {bound}; use 'fixed'"
        )
    raise QuantTypeError(f"{op}: the accumulator may reach {bound}, which 64 bits do not hold")


def largest_accumulator(rule: str) -> int:
    """The largest magnitude of a sum, without a rescaled bias, for which a rule is defined."""
    return (1 << 31 if rule == "fixed_double" else 1 << 62) - 1


def channel_parameters(
    rule: str, x: UniformType, w: UniformType, element: UniformType
) -> tuple[numerics.RequantParameters, Array]:
    """(parameters, index) of a convolution: one index per output channel, a single one where nothing is per axis."""

    def along(t: UniformType) -> Array:
        return np.arange(len(t.scales)) if t.is_per_axis else np.zeros(1, np.int64)

    return combined_parameters(rule, [(x, along(x)), (w, along(w))], element, along(element))


def combined_parameters(
    rule: str,
    factors: Sequence[tuple[UniformType, Array]],
    element: UniformType,
    element_index: Array,
    counts: Array | None = None,
) -> tuple[numerics.RequantParameters, Array]:
    """(parameters, index) for the multiplier ``product of the factors' scales / (result scale * count)``.

    Each factor comes with its parameter index as an array; all indices (and ``counts``) broadcast together, and
    ``index`` has that broadcast shape. Parameters are formed once per distinct combination.
    """
    columns = [i for _, i in factors] + [element_index] + ([] if counts is None else [counts])
    columns = list(np.broadcast_arrays(*columns))
    shape = columns[0].shape
    table = np.stack([c.ravel() for c in columns], axis=1)
    distinct, inverse = np.unique(table, axis=0, return_inverse=True)
    rows = [[int(v) for v in row] for row in distinct]
    numerators = [tuple(t.scales[row[k]] for k, (t, _) in enumerate(factors)) for row in rows]
    result = [row[len(factors)] for row in rows]
    denominators = [
        (element.scales[r], *(float(c) for c in row[len(factors) + 1 :])) for r, row in zip(result, rows, strict=True)
    ]
    zero_points = [element.zero_points[r] for r in result]
    parameters = numerics.requant_parameters(
        rule, container(element), element.storage_min, element.storage_max, numerators, denominators, zero_points
    )
    return parameters, inverse.reshape(shape)
