"""Assignment: tensors of the type, or real numbers quantized by the default rule, written into a tensor's memory.

Nothing is kept of the storage of a tensor that may be written: ``qrt.pack`` copies what it keeps."""

from collections.abc import Callable
from typing import Any

import numpy as np

from qrt.errors import QuantError, QuantTypeError
from qrt.ops.core import Array, Shape, parameter_index
from qrt.ops.indexing import indexed_element
from qrt.tensor.arrays import expressed_array
from qrt.tensor.calls import Tensor
from qrt.tensor.numpy_errors import NUMPY_ERRORS, from_numpy
from qrt.tensor.protocol.elements import broadcast, memory, numbers, one_type, plain, stored
from qrt.tensor.storage import is_packed, pack
from qrt.types import UniformType


def assign(q: Tensor, key: Any, value: Any) -> None:
    """``q[key] = value``."""
    target, storage = memory(q), stored(q)
    try:
        storage[key] = _assigned(q, storage, key, value)
    except QuantError:
        raise
    except NUMPY_ERRORS as error:
        raise from_numpy(error) from None
    _store(storage, q.type, target)


def _assigned(q: Tensor, storage: Array, key: Any, value: Any) -> Array:
    t, shape = q.type, q._shape
    if isinstance(value, Tensor):
        if t.is_per_layer:
            one_type([t, value.type])
            return stored(value)
        data, given = broadcast(value, np.shape(storage[key]))
        one_type([indexed_element(t, shape, key), given])
        return data
    if t.is_per_layer:
        return numbers(value, t, shape)
    floats = np.zeros(shape)  # each number at its place, where it meets its own scale
    floats[key] = exact_floats(value, t)
    selected: Array = numbers(floats, t, shape)[key]
    return selected


def write(q: Any, value: Any, routine: Callable[[Array, Any], None]) -> None:
    """What a routine of NumPy's writes into a tensor: it takes an array and the values. Into an array it writes the
    values of a tensor."""
    if not isinstance(q, Tensor):
        routine(q, np.asarray(value))
        return
    t: UniformType = q.type
    target, storage, shape = memory(q), stored(q), q._shape
    if isinstance(value, Tensor):
        one_type([t, value.type])
        if not t.is_per_layer:
            _check_parameters(t, shape, value, routine)
        routine(storage, stored(value))
    elif t.is_per_layer:
        routine(storage, numbers(value, t, shape))
    else:
        floats, written = np.zeros(shape), np.zeros(shape, bool)
        routine(floats, exact_floats(value, t))
        routine(written, np.True_)
        storage[written] = numbers(floats, t, shape)[written]
    _store(storage, t, target)


def _check_parameters(t: UniformType, shape: Shape, value: Tensor, routine: Callable[[Array, Any], None]) -> None:
    """Refuses to write elements where those of other parameters are: seen from indices of parameters, which are written
    likewise."""
    before = np.broadcast_to(parameter_index(t, shape), shape)
    after = before.copy()
    routine(after, np.broadcast_to(parameter_index(value.type, value._shape), value._shape))
    if not np.array_equal(before, after):
        raise QuantTypeError(f"elements would be written where those of another scale are, of {t}")


def exact_floats(x: Any, t: UniformType) -> Array:
    """Real numbers, rounded to the expressed type, as float64."""
    return expressed_array(plain(x), t, exact=False).astype(np.float64)


def _store(storage: Array, t: UniformType, target: Array) -> None:
    """Packs what was written to a copy."""
    if is_packed(t):
        target[...] = pack(storage, t)
