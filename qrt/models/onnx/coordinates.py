"""The coordinates of Resize: the position of each result element in the input, and the input element nearest to it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from qrt.ops.core import Array

_TIE = np.float32(1e-6)
"""The distance from the middle of two elements up to which the runtime treats a coordinate as a tie."""


def _round_ties(coordinates: Array, round_tie: Callable[[Array], Array]) -> Array:
    """Round coordinates to the nearest integer, and ties by the function ``round_tie``.

    A coordinate within 1e-6 of the middle of two integers counts as a tie, because float32 may be slightly off.
    """
    is_tie = np.abs(coordinates - np.floor(coordinates) - np.float32(0.5)) <= _TIE
    return np.where(is_tie, round_tie(coordinates), np.rint(coordinates))


ROUNDED: dict[str, Callable[[Array], Array]] = {
    "round_prefer_floor": lambda x: _round_ties(x, np.floor),
    "round_prefer_ceil": lambda x: _round_ties(x, np.ceil),
    "floor": np.floor,
    "ceil": np.ceil,
}
"""The rounding of a coordinate to an element's index, by ``nearest_mode``."""
COORDINATES = (
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)  # fmt: skip
"""The values of ``coordinate_transformation_mode``."""


@dataclass(frozen=True)
class Axis:
    """The resizing of one axis from ``size`` to ``result`` elements.

    ``region`` gives the start and the end of the part that is resized, as fractions of the axis.
    """

    axis: int
    size: int
    result: int
    scale: float
    region: tuple[float, float] = (0.0, 1.0)

    def coordinates(self, mode: str) -> Array:
        """Compute the position of each result element in the input, in units of input elements.

        ``mode`` is a value of ``coordinate_transformation_mode``. The arithmetic is in float32, in some modes partly
        in float64, as in the runtime.
        """
        at, one = np.arange(self.result, dtype=np.float32), np.float32
        scale, size, result = one(self.scale), one(self.size), one(self.result)
        places: Array
        if mode == "asymmetric":
            places = at / scale
        elif mode == "align_corners":
            places = at * (size - 1) / (result - 1) if self.result > 1 else at * 0
        elif mode == "tf_crop_and_resize":
            start, end = map(one, self.region)
            if self.result > 1:
                places = start * (size - 1) + at * (end - start) * (size - 1) / (result - 1)
            else:
                places = at + np.float64(0.5) * np.float64(start + end) * np.float64(size - 1)
        elif mode == "pytorch_half_pixel" and self.result <= 1:
            places = at * 0
        elif mode == "half_pixel_symmetric":
            offset = size / 2 * (1 - result / (scale * size))
            places = np.float64(offset) + (at.astype(np.float64) + 0.5) / np.float64(scale) - 0.5
        elif mode == "tf_half_pixel_for_nn":
            places = (at + one(0.5)) / scale
        else:
            places = (at + one(0.5)) / scale - one(0.5)
        return np.asarray(places, np.float32)

    def nearest(self, mode: str, rounding: str) -> Array:
        """Compute the index of the input element that each result element copies.

        ``mode`` is a value of ``coordinate_transformation_mode``, and ``rounding`` one of ``nearest_mode``.
        """
        whole = np.asarray(ROUNDED[rounding](self.coordinates(mode)))
        return np.asarray(np.clip(whole, 0, self.size - 1), np.int64)
