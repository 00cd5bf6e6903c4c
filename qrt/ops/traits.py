"""The functions of which families make their traits, and with which passes apply these."""

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
    """Return how attributes with an entry for each axis go through a transpose, those that are given."""

    def permute(attributes: Attributes, order: Order) -> tuple[dict[str, Any], Order]:
        given = {name: attributes[name] for name in names if attributes[name] is not None}
        return {name: [entries[axis] for axis in inverse(order)] for name, entries in given.items()}, order

    return permute


def permute_axis(attributes: Attributes, order: Order) -> tuple[dict[str, Any], Order]:
    """Name the same axis in the order before a transpose."""
    return {"axis": order[attributes["axis"] % len(order)]}, order


def permute_reduced(attributes: Attributes, order: Order) -> tuple[dict[str, Any], Order]:
    """Name the same axes of a reduction in the order before a transpose; the result may lack them."""
    rank = len(order)
    axes = [axis % rank for axis in (range(rank) if attributes["axes"] is None else attributes["axes"])]
    kept = list(order)
    if not attributes["keepdims"]:
        left = [order[axis] for axis in range(rank) if axis not in axes]
        kept = [sorted(left).index(axis) for axis in left]
    return {"axes": sorted(order[axis] for axis in axes)}, tuple(kept)


def kept_axis(attributes: Attributes, axis: int) -> int | None:
    """Return where an axis is behind a reduction over others that are named; None where it is reduced."""
    if attributes["axes"] is None or axis in attributes["axes"]:
        return None
    return axis - (0 if attributes["keepdims"] else sum(other < axis for other in attributes["axes"]))


def is_by_place(attributes: Attributes) -> bool:
    """Return True where the rule rounds the elements of whole blocks, in memory, in another way than those behind."""
    return attributes.get("requant") in _BY_PLACE


def values_of_storage(t: UniformType) -> Array:
    """Return every value that a storage type has, in ascending order; those out of bounds, which nothing holds, as the
    nearest ones.
    """
    least, greatest = t.default_bounds
    return np.clip(np.arange(least, greatest + 1), t.storage_min, t.storage_max)


def inverse(order: Sequence[int]) -> Order:
    """Return the permutation that undoes another one."""
    return tuple(order.index(axis) for axis in range(len(order)))
