"""A list of scales in braces, read all at once: what stands between the numbers is compared with what its shape asks
for, and the numbers are read by JSON, whose plain decimals are MLIR's and are rounded as ``float`` rounds them."""

import json
from itertools import compress
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.text.scanner import MAX_NESTING

Array = npt.NDArray[Any]

_EXPONENTS = (b".e-", b".e+", b".e", b".E-", b".E+", b".E")


def read_scales(text: str) -> tuple[Array, Array | None] | None:
    """Scales and zero points, of the shape of the braces, from ``{{0.5, 2.5e-3:7}, {1.0, 0.25}}``; no zero points where
    none is written. None for every other text: one that is wrong, or has comments, bit patterns, or ``1.`` for ``1.0``.

    >>> scales, zero_points = read_scales("{{0.5, 2.5e-3:7}, {1.0, 0.25}}")
    >>> scales.tolist(), zero_points.tolist()
    ([[0.5, 0.0025], [1.0, 0.25]], [[0, 7], [0, 0]])
    >>> read_scales("{0.5, {1.0}}"), read_scales("{1.}"), read_scales("{0.5:0x7}")
    (None, None, None)
    """
    try:
        raw = text.encode("ascii")
        marks = raw.translate(None, b"0123456789 \t\r\n").replace(b":-", b":")
        for exponent in _EXPONENTS:
            marks = marks.replace(exponent, b".")
        shape = _shape(marks.replace(b".:", b"."))
        if shape is None:
            return None
        commas = raw.translate(bytes.maketrans(b":", b","), b"{}")
        numbers = json.loads(b"[%b]" % commas)
        if b":" not in marks:
            return np.array(numbers).reshape(shape), None
        is_zero_point = np.frombuffer(marks.translate(None, b"{},"), np.uint8) == ord(":")
        given = np.array([*compress(numbers, is_zero_point)])
    except ValueError:
        return None
    if given.dtype != np.int64:
        return None
    zero_points = np.zeros(prod(shape), np.int64)
    zero_points[(~is_zero_point).cumsum()[is_zero_point] - 1] = given
    return np.array([*compress(numbers, ~is_zero_point)]).reshape(shape), zero_points.reshape(shape)


def _shape(marks: bytes) -> tuple[int, ...] | None:
    """The shape of what is left of a list where each number is a point: ``{{.,.},{.,.}}``."""
    depth = len(marks) - len(marks.lstrip(b"{"))
    if not 0 < depth <= MAX_NESTING:
        return None
    counts = [marks.count(b"{" * level + b".") for level in range(depth, -1, -1)]
    if not all(counts):
        return None
    shape = tuple(inner // outer for outer, inner in zip(counts, counts[1:], strict=False))
    expected = b"."
    for size in reversed(shape):
        expected = b"{%b}" % ((expected + b",") * size)[:-1]
    return shape if marks == expected else None
