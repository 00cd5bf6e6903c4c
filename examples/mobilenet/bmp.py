"""Reads .bmp files without compression, and resizes images."""

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]


def read(path: Path) -> Image:
    """The pixels of a file, from the top: rows, columns, and red, green, blue.

    ValueError says which kind of file it is, if it has not 8 bits with a palette or 24 bits of each pixel.
    """
    content = path.read_bytes()
    if content[:2] != b"BM" or len(content) < 54:
        raise ValueError(f"{path} is not a .bmp file")
    (start,) = struct.unpack_from("<I", content, 10)
    size, width, height, _, bits, compression = struct.unpack_from("<IiiHHI", content, 14)
    (colours,) = struct.unpack_from("<I", content, 46)
    if bits not in (8, 24) or compression != 0 or width <= 0:
        raise ValueError(
            f"{path} has {bits} bits of a pixel and compression {compression}: 8 or 24, and none, are read"
        )
    row = -(-width * bits // 32) * 4  # whole words
    stored = np.frombuffer(content, np.uint8, row * abs(height), start).reshape(abs(height), row)
    pixels = stored[::-1] if height > 0 else stored  # a positive height: the lowest row is the first
    if bits == 8:
        palette = np.frombuffer(content, np.uint8, 4 * (colours or 256), 14 + size).reshape(-1, 4)
        return np.ascontiguousarray(palette[pixels[:, :width], 2::-1])
    return np.ascontiguousarray(pixels[:, : 3 * width].reshape(abs(height), width, 3)[:, :, ::-1])


def resized(image: Image, height: int, width: int) -> Image:
    """The image in another size. A new pixel is a mean of old ones, whose weights fall in a straight line from its
    middle to those of its neighbours: bilinear interpolation, in which all pixels are seen where the image shrinks."""
    rows, columns = (_weights(old, new) for old, new in zip(image.shape[:2], (height, width), strict=True))
    mixed = np.einsum("ij,jkc,lk->ilc", rows, image.astype(np.float64), columns, optimize=True)
    rounded: Image = np.clip(np.rint(mixed), 0, 255).astype(np.uint8)
    return rounded


def _weights(old: int, new: int) -> NDArray[np.float64]:
    """How much of each old pixel each new one has: a triangle around its middle, at least two old pixels wide."""
    scale = old / new
    centres = (np.arange(new) + 0.5) * scale - 0.5
    reach = max(scale, 1.0)
    weights = np.maximum(0.0, 1.0 - np.abs(centres[:, None] - np.arange(old)) / reach)
    normal: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return normal
