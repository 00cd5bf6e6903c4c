"""Counts of the errors of one region's results during runs of a program.

All counts and sums are exact, so neither the order of the data nor its split into batches changes them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.ops.core import Array
from qrt.quantization.comparison.measure import Error, as_float64
from qrt.tensor import QuantTensor
from qrt.types import Type, UniformType

WIDEST = 16
"""The greatest storage width in bits for which used codes are counted."""


@dataclass(eq=False)
class Tally:
    """Counts of the errors of a region's result.

    ``alone`` is the error if the region's inputs come from the float program. ``accumulated`` is the error in the
    quantized program, where errors of earlier regions add up. ``values`` counts the elements, and ``clipped`` those
    that exceed the range of the type. ``used`` marks the storage values that occur.
    """

    type: Type
    alone: Error = field(default_factory=Error)
    accumulated: Error = field(default_factory=Error)
    values: int = 0
    clipped: int = 0
    used: npt.NDArray[np.bool_] | None = None

    def add_alone(self, reference: Array, approximation: Array) -> None:
        """Add the error of a result that the region's kernel computed from inputs of the float program."""
        self.alone += Error.of(reference, approximation)

    def add(self, reference: Array, stored: Array) -> None:
        """Add the error of a result of the quantized program; ``stored`` has the storage values, or floats."""
        if not isinstance(self.type, UniformType):
            self.accumulated += Error.of(reference, stored)
            return
        self.accumulated += Error.of(reference, QuantTensor(stored, self.type).dequantize())
        self.values += reference.size
        self.clipped += int(np.count_nonzero(beyond(reference, self.type)))
        if self.type.storage_width <= WIDEST:
            if self.used is None:
                self.used = np.zeros(self.type.storage_max - self.type.storage_min + 1, np.bool_)
            self.used[stored.astype(np.int64).reshape(-1) - self.type.storage_min] = True

    @property
    def unused(self) -> int:
        """The number of storage values that do not occur.

        It is 0 if the storage has more than WIDEST bits, because the values of so wide a storage are not tracked.
        """
        return 0 if self.used is None else self.used.size - int(np.count_nonzero(self.used))


def beyond(values: Array, type: UniformType) -> npt.NDArray[np.bool_]:
    """Return a mask of the values that exceed the range of a type by more than half a scale.

    >>> beyond(np.float32([-65, -64.25, 63.75, 63.8]), UniformType("i8", "f32", 0.5)).tolist()
    [True, False, False, True]
    """
    scale, zero = (spread(array, type, values.shape) for array in (type.scale_array, type.zero_point_array))
    low, high = (type.storage_min - zero - 0.5) * scale, (type.storage_max - zero + 0.5) * scale
    exact = as_float64(values)
    is_beyond: npt.NDArray[np.bool_] = (exact < low) | (exact > high)
    return is_beyond


def spread(parameters: Array, type: UniformType, shape: tuple[int, ...]) -> Array:
    """Reshape or repeat scales or zero points of a type so that they broadcast with a tensor of this shape."""
    if type.axis is not None:
        return parameters.reshape([-1 if axis == type.axis else 1 for axis in range(len(shape))])
    sizes: Mapping[int, int] = dict(type.block_sizes or ())
    for axis in sorted(sizes):
        parameters = np.repeat(parameters, sizes[axis], axis)
    return parameters


def range_of(type: Any) -> tuple[float, float]:
    """Return the least and the greatest value that a type represents, over all its scales."""
    if not isinstance(type, UniformType):
        return -np.inf, np.inf
    zero, scale = type.zero_point_array, type.scale_array
    return float(((type.storage_min - zero) * scale).min()), float(((type.storage_max - zero) * scale).max())
