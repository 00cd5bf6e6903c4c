"""Functions whose results have new elements: zeros, and real numbers quantized by the default rule.

A zero is the zero point; where the storage bounds exclude that, the nearest storage, as ``qrt.qcast`` saturates.
"""

from collections.abc import Callable
from functools import lru_cache
from inspect import unwrap
from operator import index
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from qrt.eager.calls import Planned
from qrt.errors import QuantTypeError, QuantValueError
from qrt.ops.core import Array, Shape
from qrt.tensor.float_results import in_floats
from qrt.tensor.protocol.assignment import exact_floats
from qrt.tensor.protocol.elements import filled, followed, made, numbers, stored, zeros
from qrt.tensor.protocol.rules.moves import diagonal, ravel
from qrt.tensor.protocol.table import implements
from qrt.tensor.protocol.written import written_call
from qrt.tensor.quant_tensor import QuantTensor
from qrt.types import check_integrity

# ---------------------------------------------------------------------------------------------------------------- like


def _shape(prototype: QuantTensor, shape: Any) -> Shape:
    return prototype.shape if shape is None else np.broadcast_to(0, shape).shape


def _like(plain: Callable[..., Array], a: QuantTensor, dtype: Any, shape: Any) -> Any:
    """Zeros of the type of ``a``, or an array where a dtype is asked for."""
    wanted = a.shape if shape is None else _shape(a, shape)
    return filled(a.type, wanted) if dtype is None else plain(wanted, dtype)


@implements(np.zeros_like, kind="moves")
def zeros_like(
    a: QuantTensor, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Zeros of the tensor's type; of a dtype, an array."""
    return _like(np.zeros, a, dtype, shape)


@implements(np.empty_like, kind="moves")
def empty_like(
    prototype: QuantTensor,
    dtype: Any = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """As np.zeros_like: storage is never outside its bounds."""
    return _like(np.empty, prototype, dtype, shape)


@implements(np.full_like, kind="moves")
def full_like(
    a: QuantTensor,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """A real number, quantized by the tensor's type, everywhere; with a dtype, an array."""
    wanted = a.shape if shape is None else _shape(a, shape)
    if dtype is not None:
        return np.full(wanted, fill_value, dtype)
    check_integrity(a.type, wanted)
    if isinstance(fill_value, QuantTensor):
        result = filled(a.type, wanted)
        result[...] = fill_value
        return result
    new = numbers(fill_value, a.type, wanted)
    data = np.empty(wanted, new.dtype)
    data[...] = new
    return made(data, a.type)


@implements(np.ones_like, kind="moves")
def ones_like(
    a: QuantTensor, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    """Ones, quantized by the tensor's type; of a dtype, an array."""
    return full_like(a, 1, dtype, shape=shape)


# ----------------------------------------------------------------------------------------------------------- triangles


def _kept(m: QuantTensor, mask: Array) -> QuantTensor:
    """The elements where a mask holds, and zeros elsewhere."""
    return made(np.where(mask, stored(m), zeros(m.type, m.shape)), m.type)


@implements(np.tril, kind="moves")
def tril(m: QuantTensor, k: int = 0) -> Any:
    """The lower triangles of matrices; zeros above."""
    return _triangle(m, k, True)


@implements(np.triu, kind="moves")
def triu(m: QuantTensor, k: int = 0) -> Any:
    """The upper triangles of matrices; zeros below."""
    return _triangle(m, k, False)


def _triangle(m: QuantTensor, k: Any, is_lower: bool) -> Any:
    rows, columns = _matrices(m).shape[-2:]
    if type(k) is not int or rows * columns > _MOST:
        return _kept(m, _mask(rows, columns, k, is_lower))
    return Planned((m,), lambda operands: _kept(operands[0], _kept_mask(rows, columns, k, is_lower)))


def _mask(rows: int, columns: int, k: Any, is_lower: bool) -> Array:
    return np.tri(rows, columns, k, dtype=bool) if is_lower else ~np.tri(rows, columns, k - 1, dtype=bool)


_MOST = 1 << 20
"""Masks of so many elements are kept, which it costs more to make than to use."""
_kept_mask = lru_cache(maxsize=16)(_mask)


def _matrices(m: QuantTensor) -> QuantTensor:
    if m.ndim < 2:
        raise QuantValueError(f"a tensor of at least 2 axes is needed, got {m.ndim}")
    return m


@implements(np.diag, kind="moves")
def diag(v: QuantTensor, k: int = 0) -> Any:
    """The diagonal of a matrix, a view; or a matrix of zeros with this diagonal, of a type per layer."""
    if v.ndim == 2:
        return _diagonal_of(v, k) if v.type.is_per_layer else diagonal(v, k)
    if v.ndim != 1:
        raise QuantValueError("Input must be 1- or 2-d.")
    if not v.type.is_per_layer:
        raise QuantTypeError(f"zeros beside the diagonal have no scale in {v.type}: qrt.requantize it first")
    t, k, zero = v.type, index(k), zeros(v.type, ())
    n = v.size + abs(k)
    first = k if k > 0 else -k * n
    places = slice(first, first + v.size * (n + 1), n + 1)

    def run(operands: Any) -> QuantTensor:
        data = np.empty(n * n, zero.dtype)
        data[...] = zero
        data[places] = stored(operands[0])
        return made(data.reshape(n, n), t)

    return Planned((v,), run)


def _diagonal_of(v: QuantTensor, k: Any) -> Planned:
    """Of a matrix per layer: NumPy says what is no offset."""
    t = v.type

    def run(operands: Any) -> QuantTensor:
        source = stored(operands[0])
        return made(source.diagonal(k), t, source)

    return Planned((v,), run)


@implements(np.diagflat, kind="moves")
def diagflat(v: QuantTensor, k: int = 0) -> Any:
    """A matrix of zeros with the elements along a diagonal, of a type per layer."""
    return np.diag(ravel(v), k)


# ------------------------------------------------------------------------------------------------------------- padding

_MOVES = ("edge", "reflect", "symmetric", "wrap")
_ORDER = ("maximum", "minimum")


_pad: Callable[..., Array] = unwrap(np.pad)


@implements(np.pad, kind="moves")
def pad(array: QuantTensor, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    """Elements around a tensor: zeros or real numbers, quantized; those of its edges; or its extremes along each axis.
    Channels and blocks are padded by their own edges alone."""
    t, source = array.type, stored(array)
    if mode == "constant" and not options and t.is_per_layer:
        zero = zeros(t, ())
        return Planned((array,), lambda operands: made(_pad(stored(operands[0]), pad_width, constant_values=zero), t))
    if mode == "empty" or (mode == "constant" and not options):
        return _framed(array, np.pad(source, pad_width), zeros, pad_width)
    if mode == "constant" and options.keys() == {"constant_values"}:
        values = exact_floats(options["constant_values"], t)
        floats = np.pad(np.zeros(array.shape), pad_width, constant_values=values)
        return _framed(array, np.pad(source, pad_width), lambda t, shape: numbers(floats, t, shape), pad_width)
    if (mode in _MOVES and options.get("reflect_type", "even") == "even") or (mode in _ORDER and t.is_per_layer):
        if t.is_per_layer:
            return Planned((array,), lambda operands: made(_pad(stored(operands[0]), pad_width, mode, **options), t))
        data = np.pad(source, pad_width, mode, **options)
        widths = np.broadcast_to(_widths(pad_width, array.ndim), (array.ndim, 2))

        def line(positions: Array, axis: int) -> Array:
            return np.pad(positions, widths[axis].tolist(), mode, **options)

        return followed(array, data, range(array.ndim), line)
    args = array, pad_width, mode
    return in_floats("np.pad", np.pad, args, options, lambda: written_call("np.pad", args, options))


def _framed(array: QuantTensor, padded: Array, frame: Callable[[Any, Shape], Array], pad_width: Any) -> QuantTensor:
    """The padded storage, with ``frame`` of the type and shape where it is new."""
    check_integrity(array.type, padded.shape)
    is_new = np.pad(np.zeros(array.shape, bool), pad_width, constant_values=True)
    return made(np.where(is_new, frame(array.type, padded.shape), padded), array.type)


def _widths(pad_width: Any, rank: int) -> Array:
    """The counts before and after, for each axis."""
    if isinstance(pad_width, dict):
        widths = np.zeros((rank, 2), int)
        for axis, width in pad_width.items():
            widths[normalize_axis_index(axis, rank)] = width
        return widths
    return np.asarray(pad_width)
