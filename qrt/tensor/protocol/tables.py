"""Functions of one element as tables: a lookup of elements of at most 8 bits costs less than some ufuncs."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

import qrt.kernels as kernels
from qrt.eager.calls import Planned
from qrt.eager.storage import is_packed
from qrt.ops.core import storage_dtype
from qrt.ops.lookup import is_fast
from qrt.tensor.functions import lookup
from qrt.tensor.quant_tensor import QuantTensor
from qrt.types import UniformType

Compute = Callable[..., QuantTensor]
_FEW = 256
"""So many elements are looked up where a kernel handles one at a time: NumPy's ufuncs handle 64."""
SOME = 2048
"""Up to so many elements a lookup costs less than one ufunc or one kernel of arithmetic, whatever the CPU."""


def of_elements(compute: Compute, q: QuantTensor, *options: Any) -> QuantTensor:
    """What ``compute`` makes of a tensor and the options, element by element."""
    table = table_of(compute, q, *options)
    return compute(q, *options) if table is None else lookup(q, table)


def planned(compute: Compute, q: QuantTensor, *options: Any) -> Any:
    """As ``of_elements``, planned where it is a lookup."""
    table = table_of(compute, q, *options)
    return compute(q, *options) if table is None else Planned((q,), lambda operands: lookup(operands[0], table))


def table_of(compute: Compute, q: QuantTensor, *options: Any) -> QuantTensor | None:
    """The table of what ``compute`` makes of each storage, if looking elements up costs less than computing."""
    if q._data.size <= _FEW or is_fast(kernels.active()):
        return _table(compute, q.type, *options)
    return None


def has_table(t: UniformType) -> bool:
    """Whether elements of the type are looked up as they are stored, in one table for all."""
    return t.is_per_layer and t.storage_width <= 8 and not is_packed(t)


@lru_cache(maxsize=256)
def _table(compute: Compute, t: UniformType, *options: Any) -> QuantTensor | None:
    """What ``compute`` makes of every storage of a type per layer, in whatever bounds; None for other types."""
    if not has_table(t):
        return None
    low, high = t.default_bounds
    return compute(QuantTensor._of(np.arange(low, high + 1).astype(storage_dtype(t)), t), *options)
