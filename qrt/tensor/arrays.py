"""Conversions of arguments to storage and expressed values, and casts of tensors to other types."""

import sys
from collections.abc import Mapping, Set
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError, shown
from qrt.numerics import round_to_format
from qrt.ops.core import Array, check_zero_points, expressed_dtype
from qrt.tensor.binding import EagerCall, bind, bind_arrays, eager, uniform_type
from qrt.tensor.calls import Tensor
from qrt.types import FloatType, Type, UniformType, check_integrity, parse_type


def require_uniform(given: object, what: str = "type") -> UniformType:
    """Return a quantized type, given as a type or as text. Raise QuantTypeError for a type that tensors cannot have.

    ``what`` names the argument in the error.
    """
    t = uniform_type(given, what)
    check_zero_points(t, "the type of a tensor")
    return t


def items(values: object, what: str) -> tuple[Any, ...]:
    """Return the items of a sequence. Raise QuantTypeError for any other object, also for strings, sets and mappings.

    ``what`` names the sequence in the error.
    """
    if isinstance(values, (tuple, list)):
        return tuple(values)
    is_none = isinstance(values, (str, bytes, Set, Mapping)) or (isinstance(values, np.ndarray) and values.ndim != 1)
    if not is_none:
        try:
            return tuple(values)  # type: ignore[arg-type]  # raises TypeError if not iterable
        except TypeError:
            pass
    raise QuantTypeError(f"{what} must be a sequence, got {shown(values)}")


def integers(values: object, what: str) -> tuple[int, ...]:
    """Return the integers of a sequence. Floats and strings of digits are errors."""
    given = items(values, what)
    try:
        return tuple(map(index, given))
    except TypeError as error:
        raise QuantTypeError(f"{what} must be integers, got {shown(values)}") from error


_CACHE_LINE = 64


def aligned_copy(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Copy an array to C order, in memory that begins at a cache line, so that kernels read whole cache lines."""
    size = array.size * np.dtype(dtype).itemsize
    raw = np.empty(size + _CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % _CACHE_LINE
    copy = raw[start : start + size].view(dtype).reshape(array.shape)
    copy[...] = array
    return copy


def as_array(x: npt.ArrayLike) -> Array:
    """Return ``np.asarray(x)``, with qrt's error for ragged sequences.

    A tensor of PyTorch gives its values, also if it is bf16 or requires gradients.
    """
    if type(x).__module__.partition(".")[0] == "torch":
        x = _values_of_torch(x)
    try:
        return np.asarray(x)
    except ValueError as error:
        raise QuantTypeError(
            "nested sequences of one level must have the same length to form an array, got different lengths"
        ) from error


def _values_of_torch(x: Any) -> Any:
    tensor = x.detach().cpu()
    if str(tensor.dtype) != "torch.bfloat16":
        return tensor
    # PyTorch cannot convert bf16 to NumPy: its bits are passed as int16.
    return np.asarray(tensor.contiguous().view(sys.modules["torch"].int16)).view(expressed_dtype(FloatType("bf16")))


def as_storage(x: npt.ArrayLike) -> Array:
    """Return ``as_array(x)``, with the integers of ml_dtypes that are narrower than a byte converted to bytes."""
    array = as_array(x)
    if array.dtype.name not in _NARROW:
        return array
    return array.astype(np.uint8 if array.dtype.name.startswith("u") else np.int8)


_NARROW = frozenset({"int1", "int2", "int4", "uint1", "uint2", "uint4"})


def native_floats(values: Array) -> Array:
    """Return expressed values in a dtype of NumPy's own: bf16 and smaller formats become float32, which is exact."""
    return values if values.dtype.isbuiltin == 1 else values.astype(np.float32)


def expressed_array(
    x: npt.ArrayLike, t: UniformType | FloatType, *, exact: bool = False, what: str = "the values"
) -> Array:
    """Return ``x`` as an array of the type's expressed dtype.

    With ``exact``, another float dtype is an error instead of a conversion. ``what`` names ``x`` in the error.
    """
    array = as_array(x)
    kind = t.expressed_type if isinstance(t, UniformType) else t
    dtype = expressed_dtype(kind)
    if array.dtype == dtype:
        return array
    if array.dtype.kind not in "fiu" and array.dtype.type.__module__ != "ml_dtypes":
        given = f"dtype {array.dtype}" if isinstance(x, np.ndarray) or array.shape else shown(x)
        raise QuantTypeError(f"{what} must be real numbers, got {given}")
    if exact and isinstance(x, (np.ndarray, np.generic)):
        raise QuantTypeError(
            f"qcast: 'x' must be an array of {dtype}, the expressed type {kind} of {t}, got dtype {array.dtype}: "
            "qrt.quantize accepts any float dtype"
        )
    if dtype.type.__module__ == "ml_dtypes":
        # ml_dtypes converts a double through float32, which rounds twice.
        array = round_to_format(array.astype(np.float64), kind.name)
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(dtype)


def cast(q: Any, wanted: object) -> Any:
    """Convert a tensor to the quantized type ``wanted``, or return its values in the dtype ``wanted``.

    A float type such as `f32` stands for its dtype.
    """
    t = parse_type(wanted) if isinstance(wanted, str) and wanted.startswith("!") else wanted
    if isinstance(t, Type) and not isinstance(t, FloatType):
        t = require_uniform(t, "astype: 'dtype'")
        check_integrity(t, q.shape)
        return q.copy() if t is q.type else _converted(q, t)
    return _values(q.dequantize(), expressed_dtype(t) if isinstance(t, FloatType) else t)


def _values(values: Array, dtype: Any) -> Array:
    try:
        wanted = np.dtype("V" if dtype is None else dtype)
    except (TypeError, ValueError):
        wanted = np.dtype("V")
    if wanted.kind in "biu" or wanted.name.startswith(("int", "uint")):
        raise QuantTypeError(
            f"astype: 'dtype' must represent the real values, got {wanted}: write q.storage for the integers, or "
            f"np.asarray(q).astype({str(wanted)!r}), which truncates the values"
        )
    # The floats of ml_dtypes have the kind V, which bytes, records and subarrays have too: those are not numbers.
    if wanted.kind not in "fcO" and wanted.type.__module__ != "ml_dtypes":
        raise QuantTypeError(f"astype: 'dtype' must be a !quant.uniform type or a numeric dtype, got {shown(dtype)}")
    return values.astype(wanted, copy=False)


@eager
def _converted(q: Tensor, t: UniformType) -> EagerCall[Any]:
    if q.type.expressed_type is t.expressed_type:
        return bind("requantize", (q,), {}, t, None)
    return bind_arrays("qcast", (expressed_array(q, t),), {}, t, None, t.expressed_type)  # type: ignore[arg-type]
