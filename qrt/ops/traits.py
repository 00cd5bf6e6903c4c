"""Functions that op families set as their traits (`Traits`), and helpers of the passes that read the traits.

The ``permute`` functions have the arguments and results that `Traits.permute` describes.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from qrt.numerics import RULES, SUM_RULES
from qrt.ops.core import Array, Attributes
from qrt.ops.declare import Order, Permute
from qrt.types import UniformType

_BY_PLACE: Final = frozenset(
    [name for name, rule in RULES.items() if rule.behind] + [name for name, rule in SUM_RULES.items() if rule.block]
)


def permute_lists(*names: str) -> Permute:
    """Return a ``permute`` function for an op whose attributes ``names`` are lists with an entry for each axis."""

    def permute(attributes: Attributes, order: Order) -> tuple[dict[str, Any], Order]:
        given = {name: attributes[name] for name in names if attributes[name] is not None}
        return {name: [entries[axis] for axis in inverse(order)] for name, entries in given.items()}, order

    return permute


def permute_axis(attributes: Attributes, order: Order) -> tuple[dict[str, Any], Order]:
    """Return (attributes, permutation) to move a transpose from an op's operands to its result.

    These are what `Traits.permute` returns. The changed attribute is ``axis``.
    """
    return {"axis": order[attributes["axis"] % len(order)]}, order


def permute_reduced(attributes: Attributes, order: Order) -> tuple[dict[str, Any], Order]:
    """Return (attributes, permutation) to move a transpose from a reduction's operand to its result.

    These are what `Traits.permute` returns. The changed attribute is ``axes``.
    """
    rank = len(order)
    axes = [axis % rank for axis in (range(rank) if attributes["axes"] is None else attributes["axes"])]
    after = list(order)
    if not attributes["keepdims"]:
        left = [order[axis] for axis in range(rank) if axis not in axes]
        after = [sorted(left).index(axis) for axis in left]
    return {"axes": sorted(order[axis] for axis in axes)}, tuple(after)


def kept_axis(attributes: Attributes, axis: int) -> int | None:
    """Return the number that ``axis`` has in the result of a reduction; None if it is reduced."""
    if attributes["axes"] is None or axis in attributes["axes"]:
        return None
    return axis - (0 if attributes["keepdims"] else sum(other < axis for other in attributes["axes"]))


def is_by_place(attributes: Attributes) -> bool:
    """Return True if the rule rounds an element differently depending on its place in memory.

    Elements in whole blocks are rounded differently from those after the last block.
    """
    return attributes.get("requant") in _BY_PLACE


def values_of_storage(t: UniformType) -> Array:
    """Return each value of the storage type in ascending order; values outside of the storage bounds are clamped."""
    least, greatest = t.default_bounds
    return np.clip(np.arange(least, greatest + 1), t.storage_min, t.storage_max)


def inverse(order: Sequence[int]) -> Order:
    """Return the inverse permutation."""
    return tuple(order.index(axis) for axis in range(len(order)))
