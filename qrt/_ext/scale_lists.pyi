"""The parser of a list of scales in braces, in one pass."""

from typing import Any

import numpy.typing as npt

def read_scales(text: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None] | None:
    """Return scales and zero points, of the shape of the braces, of a text such as ``{{0.5, 2.5e-3:7}, {1.0, 0.25}}``.

    The zero points are None if all are 0. Scales are rounded as ``float`` rounds them, and may be bits:
    ``0x3FE0000000000000``. The result is None for any other text: one that is wrong, has comments, or numbers of
    unusual length.
    """
