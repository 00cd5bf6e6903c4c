"""Functions that cut one tensor into several views, which keep its type; a per-axis type follows its axis."""

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qrt.errors import QuantValueError
from qrt.ops.indexing import indexed_element
from qrt.tensor.protocol.elements import ALL, made, stored, tensor
from qrt.tensor.protocol.table import implements, present
from qrt.tensor.quant_tensor import QuantTensor


def _parts(function: Any, q: QuantTensor, sections: Any, axis: int) -> list[QuantTensor]:
    """Return the parts of the lines along an axis, as NumPy's function cuts the positions along it."""
    at = normalize_axis_index(axis, tensor(q, "ary").ndim)
    if isinstance(sections, (int, float)) and sections == 0:  # NumPy's own refusal is a ZeroDivisionError
        raise QuantValueError("number sections must be larger than 0.")
    lines = function(np.arange(q.shape[at]), sections)
    return [q[(ALL,) * at + (slice(line[0], line[-1] + 1) if line.size else slice(0, 0),)] for line in lines]


def _require_rank(least: int, q: QuantTensor) -> None:
    if tensor(q, "ary").ndim < least:
        raise QuantValueError(f"it only works on tensors of {least} or more dimensions, got {q.ndim}")


@implements(np.array_split, kind="moves")
def array_split(ary: QuantTensor, indices_or_sections: Any, axis: int = 0) -> list[QuantTensor]:
    """Views of parts along an axis, of sizes as equal as they can be."""
    return _parts(np.array_split, ary, indices_or_sections, axis)


@implements(np.split, kind="moves")
def split(ary: QuantTensor, indices_or_sections: Any, axis: int = 0) -> list[QuantTensor]:
    """Views of parts along an axis, of equal sizes or between positions."""
    return _parts(np.split, ary, indices_or_sections, axis)


@implements(np.hsplit, kind="moves")
def hsplit(ary: QuantTensor, indices_or_sections: Any) -> list[QuantTensor]:
    """Views of parts along axis 1, or the only one."""
    _require_rank(1, ary)
    return _parts(np.split, ary, indices_or_sections, min(ary.ndim - 1, 1))


@implements(np.vsplit, kind="moves")
def vsplit(ary: QuantTensor, indices_or_sections: Any) -> list[QuantTensor]:
    """Views of parts along axis 0 of at least 2."""
    _require_rank(2, ary)
    return _parts(np.split, ary, indices_or_sections, 0)


@implements(np.dsplit, kind="moves")
def dsplit(ary: QuantTensor, indices_or_sections: Any) -> list[QuantTensor]:
    """Views of parts along axis 2 of at least 3."""
    _require_rank(3, ary)
    return _parts(np.split, ary, indices_or_sections, 2)


@implements(*present("unstack"), kind="moves")
def unstack(x: QuantTensor, /, *, axis: int = 0) -> tuple[QuantTensor, ...]:
    """Views along an axis, which is gone; each of the type of its channel."""
    _require_rank(1, x)
    at, t, source = normalize_axis_index(axis, x.ndim), x.type, stored(x)
    types = (t if t.is_per_layer else indexed_element(t, x.shape, (ALL,) * at + (i,)) for i in range(x.shape[at]))
    return tuple(made(row, u, source) for row, u in zip(np.moveaxis(source, at, 0), types, strict=True))
