"""Sliding windows over NHWC: padding, output sizes and their checks, shared by convolution and pooling."""

from operator import index
from typing import Any

import numpy as np

from qrt._ext.kernels import window_count
from qrt.errors import QuantTypeError, shown
from qrt.ops.core import Array, Attributes
from qrt.ops.declare import Attribute

Pairs = tuple[tuple[int, int], tuple[int, int]]

PADDING = Attribute("padding", "pairs", ((0, 0), (0, 0)), given="VALID")
CONVOLUTION = (Attribute("strides", "pair", (1, 1)), PADDING, Attribute("dilations", "pair", (1, 1)))


def resolve_padding(
    op: str,
    padding: Any,
    size: tuple[int, int],
    kernel: tuple[int, int],
    strides: tuple[int, int],
    dilations: tuple[int, int],
) -> Pairs:
    """Return the padding as pairs ``((top, bottom), (left, right))``, given as such pairs, "VALID" or "SAME".

    "SAME" is TensorFlow's: an odd element is added at the end. ``size`` is the height and width of the input.
    """
    if not isinstance(padding, str) or padding not in ("VALID", "SAME"):
        return pairs(op, padding)
    if padding == "VALID":
        return ((0, 0), (0, 0))
    resolved = []
    for extent, k, stride, dilation in zip(size, kernel, strides, dilations, strict=True):
        total = max((-(-extent // stride) - 1) * stride + _reach(k, dilation) - extent, 0)
        resolved.append((total // 2, total - total // 2))
    return (resolved[0], resolved[1])


def _reach(kernel: int, dilation: int) -> int:
    return (kernel - 1) * dilation + 1


def pairs(op: str, padding: Any) -> Pairs:
    """Return an explicit padding as two pairs of integers. Raise QuantTypeError for any other value."""
    try:
        (top, bottom), (left, right) = padding
        values = tuple(index(v) for v in (top, bottom, left, right))
    except (TypeError, ValueError):
        values = (-1,)
    if min(values) < 0 or max(values) >= 1 << 31:
        is_name = isinstance(padding, str) and padding.upper() in ("SAME", "VALID")
        meant = f": write {padding.upper()!r}" if is_name else ""
        raise QuantTypeError(
            f"{op}: 'padding' must be 'SAME', 'VALID' or ((top, bottom), (left, right)), got {shown(padding)}{meant}"
        )
    return ((values[0], values[1]), (values[2], values[3]))


def two_positive(op: str, name: str, values: Any) -> tuple[int, int]:
    """Return the attribute ``name`` as two positive integers. Raise QuantTypeError for other values."""
    checked = tuple(values) if isinstance(values, (tuple, list)) else ()
    if len(checked) != 2 or any(not isinstance(v, (int, np.integer)) or not 1 <= v < 1 << 31 for v in checked):
        raise QuantTypeError(f"{op}: {name!r} must be two positive integers, got {shown(values)}")
    return int(checked[0]), int(checked[1])


def output_size(
    op: str, size: int | None, kernel: int | None, padding: tuple[int, int], stride: int, dilation: int = 1
) -> int | None:
    """Return the number of window positions along one dimension; None if a size is unknown.

    Raise QuantTypeError if no window fits.
    """
    if kernel == 0:
        raise QuantTypeError(f"{op}: the height and the width of the kernel must be at least 1, got 0")
    if size is None or kernel is None:
        return None
    count = window_count(size, kernel, padding, stride, dilation)
    if count < 1:
        reach = _reach(kernel, dilation)
        raise QuantTypeError(
            f"{op}: a window of {reach} elements must not be larger than the image, which has {size} elements along "
            f"this axis and padding {list(padding)}"
        )
    return count


def output_sizes(
    op: str, size: tuple[int | None, int | None], kernel: tuple[int | None, int | None], attributes: Attributes
) -> tuple[int | None, int | None]:
    """Return the output height and width of a convolution, after checking strides, dilations and padding.

    ``size`` and ``kernel`` are the heights and widths of input and kernel.
    """
    strides = two_positive(op, "strides", attributes["strides"])
    dilations = two_positive(op, "dilations", attributes["dilations"])
    padding = attributes["padding"]
    if isinstance(padding, str) and padding == "SAME":
        numbers = _numbers_of_same(op, size, kernel, strides, dilations)
        raise QuantTypeError(f"{op}: 'padding' must be numbers in a program, got 'SAME': write {numbers}")
    padding = pairs(op, padding)
    height, width = (
        output_size(op, size[d], kernel[d], padding[d], strides[d], dilations[d]) for d in range(len(size))
    )
    return height, width


def _numbers_of_same(
    op: str,
    size: tuple[int | None, int | None],
    kernel: tuple[int | None, int | None],
    strides: tuple[int, int],
    dilations: tuple[int, int],
) -> str:
    """Return the explicit padding that equals "SAME", as text for a message.

    If a size is dynamic, the text has names such as ``top`` in place of numbers.
    """
    (height, width), (rows, columns) = size, kernel
    if height is not None and width is not None and rows is not None and columns is not None:
        padding = resolve_padding(op, "SAME", (height, width), (rows, columns), strides, dilations)
        return str([list(pair) for pair in padding])
    return "[[top, bottom], [left, right]]"


def windows(
    x: Array, kernel: tuple[int, int], padding: Pairs, strides: tuple[int, int], dilations: tuple[int, int], fill: int
) -> Array:
    """Return all windows of a copy of ``x`` that is padded with ``fill``, as a view [N, OH, OW, C, KH, KW]."""
    padded = np.pad(x, ((0, 0), *padding, (0, 0)), constant_values=fill)
    reach = tuple(map(_reach, kernel, dilations))
    views = np.lib.stride_tricks.sliding_window_view(padded, reach, axis=(1, 2))
    return np.asarray(views[:, :: strides[0], :: strides[1], :, :: dilations[0], :: dilations[1]])
