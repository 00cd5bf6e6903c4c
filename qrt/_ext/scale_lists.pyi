"""The parser of a list of scales in braces, in one pass."""

from typing import Any

import numpy.typing as npt

def read_scales(text: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None] | None:
    """Parse scales and zero points, ``scale:zero_point``, from a text such as ``{{0.5, 2.5e-3:7}, {1.0, 0.25}}``.

    Both arrays have the shape that the braces show; the zero points are None if all are 0. A scale is rounded as by
    ``float``, or given as the bits of a double, such as ``0x3FE0000000000000``. Return None for a text that is not such
    a list, or has comments or very long numbers.
    """
