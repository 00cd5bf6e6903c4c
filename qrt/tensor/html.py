"""The HTML of a tensor for notebooks: its type, a histogram of its values, and a part of the values."""

from html import escape

import numpy as np

from qrt.ops.core import Array, Shape
from qrt.tensor.arrays import native_floats
from qrt.types import UniformType

_EDGE = 4
"""Rows and columns that are shown from each end."""
_BINS = 32
_WIDTH, _HEIGHT = 256, 48
_SAMPLE = 1 << 16
"""Elements that the histogram counts at most."""


def tensor_html(type: UniformType, shape: Shape, values: Array) -> str:
    """Return HTML without scripts or requests: the type, a histogram as SVG, and a table of the last two axes."""
    values = native_floats(values)
    head = f"<code>{escape(str(shape))} {escape(repr(type))}</code>"
    return f'<div class="qrt-tensor">{head}{_histogram(values)}{_table(values)}</div>'


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


def _table(values: Array) -> str:
    if values.size == 0:
        return ""
    matrix = values.reshape(-1, values.shape[-1] if values.ndim else 1)
    rows, columns = (_shown(size) for size in matrix.shape)
    body = "".join(f"<tr>{''.join(_cell(matrix, row, column) for column in columns)}</tr>" for row in rows)
    return f"<table>{body}</table>"


def _shown(size: int) -> list[int | None]:
    """Return the indices of the rows or columns that are displayed, with None where some are left out."""
    if size <= 2 * _EDGE:
        return list(range(size))
    return [*range(_EDGE), None, *range(size - _EDGE, size)]


def _cell(matrix: Array, row: int | None, column: int | None) -> str:
    return "<td>…</td>" if row is None or column is None else f"<td>{matrix[row, column]:.6g}</td>"
