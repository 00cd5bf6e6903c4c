"""Facts about an op family that passes, targets and exporters ask for: they read them here, and list no names.

``tests/ops/test_traits.py`` compares them with what the families' references compute.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from qrt.numerics import RULES, SUM_RULES
from qrt.types import TensorType, Type, UniformType

Order = tuple[int, ...]
"""A permutation of axes: for each axis of a transposed tensor that of the tensor before."""
_Types = tuple[TensorType, ...]
_Attributes = Mapping[str, Any]
_BY_PLACE: Final = frozenset(
    [name for name, rule in RULES.items() if rule.behind] + [name for name, rule in SUM_RULES.items() if rule.block]
)
_Permute = Callable[[_Attributes, Order], tuple[dict[str, Any], Order]]


@dataclass(frozen=True)
class Weights:
    """The weights of a sum of products, the second operand. The first operand is read as the distance from its zero
    point alone, and its last axis holds the input channels; a third operand is a bias at the scale of the sum.

    ``inputs`` and ``outputs`` are the axes of the weights along which input and output channels are. ``window`` has
    those of the height and width of a window that may take more padding, with zero points.
    """

    inputs: int
    outputs: int
    window: tuple[int, int] | None = None


@dataclass(frozen=True)
class Traits:
    """What is true of a family for all types and attributes that it takes.

    Attributes
    ----------
    is_elementwise : bool
        Each element of the result is computed from the one in its place of each operand, broadcast as NumPy's. The
        reference is the scalar function: of all values of 8 bits it makes a table.
    tables : tuple of int
        The operands that an elementwise family reads as a whole for each element.
    float_op : str
        The op on floats in place of which quantization puts an elementwise family.
    ends_in_clamp : bool
        The last thing computed is a clamp to the bounds of the result's storage, which play no other part.
    bounds : callable, optional
        ``(type, attributes)`` to the least and the greatest storage of the result, for each parameter of the type: the
        family computes nothing else.
    weights : Weights, optional
        The family computes sums of products with weights.
    of_floats : str
        The family that computes the same of floats in place of the first operand.
    is_exact : bool
        The type that follows where none is declared holds every result.
    kept_type : callable, optional
        ``(types, attributes, declared result)`` to the element type of the result, where it is that of the first
        operand and the declared shape says to which axis its parameters go.
    is_movement : bool
        Elements of any type go to other places, as they are.
    permutation : callable, optional
        ``(types, attributes)`` to the order of axes that a family gives a tensor: it does nothing else.
    permute : callable, optional
        ``(attributes, order)`` of operands that are transposed to ``order``, to the attributes that change where they
        are not, and the order to which the result is transposed then.
    scaled_axis : callable, optional
        ``(attributes, axis)`` of factors along an axis of the first operand to the axis of the result along which they
        are then, or None.
    """

    is_elementwise: bool = False
    tables: tuple[int, ...] = ()
    float_op: str = ""
    ends_in_clamp: bool = False
    bounds: Callable[[UniformType, _Attributes], tuple[npt.NDArray[Any], npt.NDArray[Any]]] | None = None
    weights: Weights | None = None
    of_floats: str = ""
    is_exact: bool = False
    kept_type: Callable[[_Types, _Attributes, TensorType], Type] | None = None
    is_movement: bool = False
    permutation: Callable[[_Types, _Attributes], Order] | None = None
    permute: _Permute | None = None
    scaled_axis: Callable[[_Attributes, int], int | None] | None = None


NO_TRAITS: Final = Traits()


def permute_lists(*names: str) -> _Permute:
    """Return how attributes with an entry for each axis go through a transpose, those that are given."""

    def permute(attributes: _Attributes, order: Order) -> tuple[dict[str, Any], Order]:
        given = {name: attributes[name] for name in names if attributes[name] is not None}
        return {name: [entries[axis] for axis in inverse(order)] for name, entries in given.items()}, order

    return permute


def permute_axis(attributes: _Attributes, order: Order) -> tuple[dict[str, Any], Order]:
    """Name the same axis in the order before a transpose."""
    return {"axis": order[attributes["axis"] % len(order)]}, order


def permute_reduced(attributes: _Attributes, order: Order) -> tuple[dict[str, Any], Order]:
    """Name the same axes of a reduction in the order before a transpose; the result may lack them."""
    rank = len(order)
    axes = [axis % rank for axis in (range(rank) if attributes["axes"] is None else attributes["axes"])]
    kept = list(order)
    if not attributes["keepdims"]:
        left = [order[axis] for axis in range(rank) if axis not in axes]
        kept = [sorted(left).index(axis) for axis in left]
    return {"axes": sorted(order[axis] for axis in axes)}, tuple(kept)


def kept_axis(attributes: _Attributes, axis: int) -> int | None:
    """Return where an axis is behind a reduction over others that are named; None where it is reduced."""
    if attributes["axes"] is None or axis in attributes["axes"]:
        return None
    return axis - (0 if attributes["keepdims"] else sum(other < axis for other in attributes["axes"]))


def is_by_place(attributes: _Attributes) -> bool:
    """Return True where the rule rounds the elements of whole blocks, in memory, in another way than those behind."""
    return attributes.get("requant") in _BY_PLACE


def values_of_storage(t: UniformType) -> npt.NDArray[Any]:
    """Return every value that a storage type has, in ascending order; those out of bounds, which nothing holds, as the
    nearest ones.
    """
    least, greatest = t.default_bounds
    return np.clip(np.arange(least, greatest + 1), t.storage_min, t.storage_max)


def inverse(order: Sequence[int]) -> Order:
    """Return the permutation that undoes another one."""
    return tuple(order.index(axis) for axis in range(len(order)))
