"""The HTML of a tensor for notebooks: its type, a histogram of its values, and a part of the values."""

from html import escape

import numpy as np

from qrt.ops.core import Array, Shape
from qrt.tensor.arrays import native_floats
from qrt.types import UniformType

_BINS = 32
_WIDTH, _HEIGHT = 256, 48
_SAMPLE = 1 << 16
"""The largest number of elements from which the histogram is computed."""


def tensor_html(type: UniformType, shape: Shape, values: Array) -> str:
    """Return HTML without scripts or requests: the type, a histogram as SVG, and NumPy's text of the values."""
    values = native_floats(values)
    head = f"<code>{escape(str(shape))} {escape(repr(type))}</code>"
    text = np.array2string(values, threshold=100)
    return f'<div class="qrt-tensor">{head}{_histogram(values)}<pre>{text}</pre></div>'


def _histogram(values: Array) -> str:
    flat = values.reshape(-1)[:: max(1, -(-values.size // _SAMPLE))].astype(np.float64)
    flat = flat[np.isfinite(flat)]
    if flat.size == 0:
        return ""
    # In units of a power of two: the widths of NumPy's bins must neither overflow nor underflow in float64.
    exponent = np.frexp(np.abs(flat).max())[1]
    counts, edges = np.histogram(np.ldexp(flat, -exponent), _BINS)
    edges = np.ldexp(edges, exponent)
    bar = _WIDTH / _BINS
    bars = "".join(
        f'<rect x="{i * bar:g}" y="{_HEIGHT - height:.1f}" width="{bar:g}" height="{height:.1f}"/>'
        for i, height in enumerate(counts / counts.max() * _HEIGHT)
        if height
    )
    title = f"<title>{flat.size} of {values.size} values, {edges[0]:.4g} to {edges[-1]:.4g}</title>"
    return f'<svg width="{_WIDTH}" height="{_HEIGHT}" style="display:block" fill="steelblue">{title}{bars}</svg>'
