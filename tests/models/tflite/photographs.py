"""Photographs as inputs of models that take images."""

from pathlib import Path

import numpy as np

from examples.mobilenet.bmp import read, resized
from qrt.models.importing.comparison_source import Input
from qrt.ops.core import Array


def photographs(tensor: Input, folder: Path) -> list[Array]:
    """The photographs of a folder as an input; none if it is no image of three colours."""
    if len(tensor.shape) != 4 or tensor.shape[3] != 3:
        return []
    found = [resized(read(folder / f"{name}.bmp"), *tensor.shape[1:3])[None] for name in ("grace_hopper", "cat")]
    dtype = np.dtype(tensor.dtype)
    if dtype == np.uint8:
        return found
    if dtype == np.int8:
        return [(image.astype(np.int16) - 128).astype(np.int8) for image in found]
    return [(image / 127.5 - 1).astype(dtype) for image in found]
