"""Functions that cut one tensor into several views, which keep its type; a per-axis type follows its axis."""

from itertools import accumulate, pairwise
from operator import index
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qrt.eager.storage import is_packed
from qrt.errors import QuantValueError
from qrt.tensor.protocol.elements import ALL, made, stored
from qrt.tensor.protocol.table import implements, present
from qrt.tensor.quant_tensor import QuantTensor, tensor_of


def _parts(q: QuantTensor, indices_or_sections: Any, axis: int) -> list[QuantTensor]:
    axis = normalize_axis_index(axis, q.ndim)
    if np.ndim(indices_or_sections):
        ends = [0, *indices_or_sections, q.shape[axis]]
    else:
        count = index(indices_or_sections)
        if count <= 0:
            raise QuantValueError("number sections must be larger than 0.")
        each, more = divmod(q.shape[axis], count)
        # A list of sizes first, as NumPy makes one: where memory does not hold it, that is an error at once.
        ends = [0, *accumulate([each + 1] * more + [each] * (count - more))]
    return [q[(ALL,) * axis + (slice(*span),)] for span in pairwise(ends)]


@implements(np.array_split, kind="moves")
def array_split(ary: QuantTensor, indices_or_sections: Any, axis: int = 0) -> list[QuantTensor]:
    """Views of parts along an axis, of sizes as equal as they can be."""
    return _parts(ary, indices_or_sections, axis)


@implements(np.split, kind="moves")
def split(ary: QuantTensor, indices_or_sections: Any, axis: int = 0) -> list[QuantTensor]:
    """Views of parts along an axis, of equal sizes or between positions."""
    size = ary.shape[normalize_axis_index(axis, ary.ndim)]
    if not np.ndim(indices_or_sections) and index(indices_or_sections) > 0 and size % indices_or_sections:
        raise QuantValueError("array split does not result in an equal division")
    return _parts(ary, indices_or_sections, axis)


@implements(np.hsplit, kind="moves")
def hsplit(ary: QuantTensor, indices_or_sections: Any) -> list[QuantTensor]:
    """Views of parts along axis 1, or the only one."""
    return split(_of_rank(1, ary), indices_or_sections, 1 if ary.ndim > 1 else 0)


@implements(np.vsplit, kind="moves")
def vsplit(ary: QuantTensor, indices_or_sections: Any) -> list[QuantTensor]:
    """Views of parts along axis 0 of at least 2."""
    return split(_of_rank(2, ary), indices_or_sections, 0)


@implements(np.dsplit, kind="moves")
def dsplit(ary: QuantTensor, indices_or_sections: Any) -> list[QuantTensor]:
    """Views of parts along axis 2 of at least 3."""
    return split(_of_rank(3, ary), indices_or_sections, 2)


def _of_rank(least: int, q: QuantTensor) -> QuantTensor:
    if q.ndim < least:
        raise QuantValueError(f"it only works on tensors of {least} or more dimensions, got {q.ndim}")
    return q


@implements(*present("unstack"), kind="moves")
def unstack(x: QuantTensor, /, *, axis: int = 0) -> tuple[QuantTensor, ...]:
    """Views along an axis, which is gone; each of the type of its channel."""
    axis = normalize_axis_index(axis, _of_rank(1, x).ndim)
    if x.type.is_per_layer and x.ndim > 1:  # the elements of a vector would be scalars, which are no views
        source = stored(x)
        rows = source.transpose(axis, *(d for d in range(x.ndim) if d != axis))
        t, shape = x.type, rows.shape[1:]
        return tuple([made(row, t, source) if is_packed(t) else tensor_of(row, t, shape) for row in rows])
    return tuple(x[(ALL,) * axis + (i,)] for i in range(x.shape[axis]))
