"""NumPy arrays at the door: what is taken as storage or as expressed values, and tensors in other types."""

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
    """The type that is given, as itself or as text, if a tensor can be of it; ``what`` names the argument."""
    t = uniform_type(given, what)
    check_zero_points(t, "a tensor's type")
    return t


def items(values: object, what: str) -> tuple[Any, ...]:
    """The items of a sequence; ``what`` names it in the error. Strings, sets and mappings are none."""
    if isinstance(values, (tuple, list)):
        return tuple(values)
    is_none = isinstance(values, (str, bytes, Set, Mapping)) or (isinstance(values, np.ndarray) and values.ndim != 1)
    if not is_none:
        try:
            return tuple(values)  # type: ignore[arg-type]  # what is not iterable raises
        except TypeError:
            pass
    raise QuantTypeError(f"{what} must be a sequence, got {shown(values)}")


def integers(values: object, what: str) -> tuple[int, ...]:
    """The integers of a sequence, which floats are not, nor strings of digits."""
    given = items(values, what)
    try:
        return tuple(map(index, given))
    except TypeError as error:
        raise QuantTypeError(f"{what} must be integers, got {shown(values)}") from error


_CACHE_LINE = 64


def aligned_copy(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """In C order, from a cache line on: kernels then read rows of whole lines where they are."""
    size = array.size * np.dtype(dtype).itemsize
    raw = np.empty(size + _CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % _CACHE_LINE
    copy = raw[start : start + size].view(dtype).reshape(array.shape)
    copy[...] = array
    return copy


def as_array(x: npt.ArrayLike) -> Array:
    """``np.asarray``, with qrt's error for nested sequences that make no array; of a tensor of PyTorch its values, be
    they bf16 or part of a graph of gradients."""
    if type(x).__module__.partition(".")[0] == "torch":
        x = _values_of_torch(x)
    try:
        return np.asarray(x)
    except ValueError as error:
        raise QuantTypeError("the values do not form an array: nested sequences have different lengths") from error


def _values_of_torch(x: Any) -> Any:
    tensor = x.detach().cpu()
    if str(tensor.dtype) != "torch.bfloat16":
        return tensor
    # NumPy has no bf16 that PyTorch knows: the bits go through an integer of as many.
    return np.asarray(tensor.contiguous().view(sys.modules["torch"].int16)).view(expressed_dtype(FloatType("bf16")))


def as_storage(x: npt.ArrayLike) -> Array:
    """As ``as_array``, with integers of ml_dtypes that are narrower than a byte in the dtype of a byte."""
    array = as_array(x)
    if array.dtype.name not in _NARROW:
        return array
    return array.astype(np.uint8 if array.dtype.name.startswith("u") else np.int8)


_NARROW = frozenset({"int1", "int2", "int4", "uint1", "uint2", "uint4"})


def native_floats(values: Array) -> Array:
    """Expressed values in a dtype that NumPy has itself: bf16 and smaller formats as float32, which holds them."""
    return values if values.dtype.isbuiltin == 1 else values.astype(np.float32)


def expressed_array(
    x: npt.ArrayLike, t: UniformType | FloatType, *, exact: bool = False, what: str = "the values"
) -> Array:
    """``x`` as an array of the type's expressed dtype; with ``exact`` another float dtype is an error instead of a
    conversion. ``what`` names it in the error."""
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
            f"qcast: x must be an array of {dtype}, the expressed type {kind} of {t}, got dtype "
            f"{array.dtype}: qrt.quantize takes any float dtype"
        )
    if dtype.type.__module__ == "ml_dtypes":
        # ml_dtypes converts a double through float32, which rounds twice.
        array = round_to_format(array.astype(np.float64), kind.name)
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(dtype)


# ------------------------------------------------------------------------------------------------------ in other types


def cast(q: Any, wanted: object) -> Any:
    """A tensor of a quantized type, or an array of a NumPy dtype; a float type stands for its dtype."""
    t = parse_type(wanted) if isinstance(wanted, str) and wanted.startswith("!") else wanted
    if isinstance(t, Type) and not isinstance(t, FloatType):
        t = require_uniform(t, "astype: type")
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
            f"astype: {wanted} cannot represent the values: write q.storage for the integers, or "
            f"np.asarray(q).astype({str(wanted)!r}), which truncates the values"
        )
    # ml_dtypes' floats are of kind V, as are bytes, records and subarrays, which hold no numbers.
    if wanted.kind not in "fcO" and wanted.type.__module__ != "ml_dtypes":
        raise QuantTypeError(f"astype: dtype must be a !quant.uniform type or a numeric dtype, got {shown(dtype)}")
    return values.astype(wanted, copy=False)


@eager
def _converted(q: Tensor, t: UniformType) -> EagerCall[Any]:
    if q.type.expressed_type is t.expressed_type:
        return bind("requantize", (q,), {}, t, None)
    return bind_arrays("qcast", (expressed_array(q, t),), {}, t, None, t.expressed_type)  # type: ignore[arg-type]
