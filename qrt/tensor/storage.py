"""Conversions between the storage that kernels read and the storage of tensors.

Tensors pack integers of 1, 2 and 4 bits: the element with the lowest index is in the low-order bits of a byte, and rows
are padded to a byte.
"""

from math import prod
from weakref import ref

import numpy as np

import qrt.kernels as kernels
from qrt._ext.kernels import bind_pack_bits, bind_unpack_bits
from qrt.ops.core import Array, DerivedArray, KernelCall, Shape, container, storage_dtype
from qrt.tensor.calls import Tensor, call_cache
from qrt.types import Type, UniformType

PACKED_WIDTHS = (1, 2, 4)


def ready(array: Array) -> Array:
    """Return the array as kernels take it: C-contiguous, aligned, of native byte order."""
    flags = array.flags
    if flags.c_contiguous and flags.aligned and array.dtype.isnative:
        return array
    return np.require(array, array.dtype.newbyteorder("="), ["C", "A"]).reshape(array.shape)


def is_packed(t: Type) -> bool:
    """Return True if tensors store several elements of this type in one byte."""
    return isinstance(t, UniformType) and t.storage_width in PACKED_WIDTHS


def _bits_call(isa: str, pack: bool, storage: str, width: int, rows: int, columns: int) -> KernelCall:
    key = isa, pack, storage, width, rows, columns
    call: KernelCall | None = call_cache.get(key)
    if call is None:
        bind = bind_pack_bits if pack else bind_unpack_bits
        call = bind(isa=isa, storage=storage, width=width, rows=rows, columns=columns)
        call_cache.put(key, call)
    return call


def _rows(shape: Shape) -> tuple[int, int]:
    return prod(shape[:-1]), shape[-1] if shape else 1


def packed_shape(shape: Shape, width: int) -> Shape:
    return (*shape[:-1], -(-_rows(shape)[1] * width // 8))


def pack(storage: Array, t: UniformType) -> Array:
    if not is_packed(t):
        return storage
    packed = np.empty(packed_shape(storage.shape, t.storage_width), np.uint8)
    call = _bits_call(kernels.active(), True, container(t), t.storage_width, *_rows(storage.shape))
    call(ready(storage), packed)
    return packed


def unpack(packed: Array, t: UniformType, shape: Shape) -> Array:
    storage = np.empty(shape, storage_dtype(t))
    _bits_call(kernels.active(), False, container(t), t.storage_width, *_rows(shape))(packed, storage)
    return storage


def constant_of(x: Tensor) -> Array:
    """Return the storage of a tensor that never changes, as an unpacked array for kernels.

    All calls with this tensor share one unpacked array.
    """
    if not is_packed(x.type):
        return x._data
    cache = x._cache
    unpacked: Array | None = None if cache.unpacked is None else cache.unpacked()
    if unpacked is None:
        unpacked = DerivedArray.of(operand(x), x._data)
        cache.unpacked = ref(unpacked)
    return unpacked


def operand(x: Tensor | Array) -> Array:
    """Return an array, or the unpacked storage of a tensor, as kernels take it (see `ready`)."""
    if not isinstance(x, Tensor):
        return ready(x)
    return unpack(x._data, x.type, x._shape) if is_packed(x.type) else ready(x._data)
