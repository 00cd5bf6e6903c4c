"""Functions that create or write elements: zeros, and real numbers quantized by the default rule.

A zero is the zero point, or the nearest integer within the storage bounds, as ``qrt.qcast`` saturates.
"""

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from qrt.errors import QuantTypeError, QuantValueError, shown
from qrt.tensor.protocol.elements import exact_floats, no_tensor, numbers, stored, truth, write, zeros
from qrt.tensor.protocol.results import filled
from qrt.tensor.protocol.rules.movement import along
from qrt.tensor.protocol.table import answer_in_floats, enter, implements
from qrt.tensor.quant_tensor import QuantTensor, wrap_storage
from qrt.types import check_integrity


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
    """A tensor filled with a real number, quantized to the tensor's type; an array if a dtype is given."""
    wanted = a.shape if shape is None else np.broadcast_to(0, shape).shape
    if dtype is not None:
        return np.full(wanted, fill_value, dtype)
    result = filled(a.type, wanted)
    if type(fill_value) is not int or fill_value:
        result[...] = fill_value
    return result


def _like(function: Any, value: int) -> Callable[..., Any]:
    return lambda a, *args, **options: full_like(a, value, *args, **options)


_LIKE = {
    np.zeros_like: (0, "Zeros of the tensor's type; an array if a dtype is given."),
    np.empty_like: (
        0,
        "Zeros, as ``np.zeros_like``: memory that is not filled might be outside the bounds of the type.",
    ),
    np.ones_like: (1, "Ones, quantized to the tensor's type; an array if a dtype is given."),
}
enter("moves", _like, _LIKE)


def _triangle(function: Any) -> Callable[..., QuantTensor]:
    """Return the implementation of a NumPy function that keeps one triangle of matrices and sets the other to zeros."""

    def rule(m: QuantTensor, k: int = 0) -> QuantTensor:
        if m.ndim < 2:
            raise QuantValueError(f"'m' must have rank 2 or more, got rank {m.ndim}")
        no_tensor(k, "k")
        rows, columns = m.shape[-2:]
        is_lower = np.tri(rows, columns, k if function is np.tril else k - 1, dtype=bool)
        is_kept = is_lower if function is np.tril else ~is_lower
        return wrap_storage(np.where(is_kept, stored(m), zeros(m.type, m.shape)), m.type)

    return rule


_TRIANGLES = {
    np.tril: "The lower triangles of matrices; zeros above.",
    np.triu: "The upper triangles of matrices; zeros below.",
}
enter("moves", _triangle, _TRIANGLES)


@implements(np.diag, kind="moves")
def diag(v: QuantTensor, k: int = 0) -> QuantTensor:
    """The diagonal of a matrix, as a view; for a vector, a per-layer matrix with this diagonal and zeros elsewhere."""
    if v.ndim == 2:
        return np.diagonal(v, k)  # type: ignore[return-value]
    if v.ndim != 1:
        raise QuantValueError(f"'v' must have rank 1 or 2, got rank {v.ndim}")
    if not v.type.is_per_layer:
        raise QuantTypeError(
            "'v' must have a per-layer type, because the zeros off the diagonal have no scale of their own, got "
            f"{v.type}: use qrt.requantize first"
        )
    n, k, zero = v.size + abs(index(k)), index(k), zeros(v.type, ())
    data, line = np.full((n, n), zero, zero.dtype), np.arange(v.size)
    data[line + max(-k, 0), line + max(k, 0)] = stored(v)
    return wrap_storage(data, v.type)


@implements(np.diagflat, kind="moves")
def diagflat(v: QuantTensor, k: int = 0) -> QuantTensor:
    """A per-layer matrix with the elements along a diagonal and zeros elsewhere."""
    return diag(v.ravel(), k)


_MOVES = ("edge", "reflect", "symmetric", "wrap")
_ORDER = ("maximum", "minimum")


@implements(np.pad, kind="moves")
def pad(array: QuantTensor, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    """Elements added around a tensor. Mode ``constant`` quantizes the numbers; ``edge``, ``reflect``, ``symmetric`` and
    ``wrap`` copy elements; ``maximum`` and ``minimum`` need a per-layer type. Other modes have no exact result."""
    t, source = array.type, stored(array)
    if mode in ("constant", "empty") and options.keys() <= {"constant_values"}:
        return _framed(array, pad_width, options.get("constant_values"))
    if (mode in _MOVES and options.get("reflect_type", "even") == "even") or (mode in _ORDER and t.is_per_layer):
        data = np.pad(source, pad_width, mode, **options)
        return wrap_storage(data, t if t.is_per_layer else along(np.pad)(array, data, pad_width, mode, **options))
    return answer_in_floats(np.pad, (array, pad_width, mode), options)


def _framed(array: QuantTensor, pad_width: Any, values: Any) -> QuantTensor:
    """Return the padded tensor. The new elements are the real numbers ``values``, or zeros if that is None."""
    t, source = array.type, stored(array)
    if t.is_per_layer:
        fill = zeros(t, ()) if values is None else numbers(values, t, ())
        return wrap_storage(np.pad(source, pad_width, constant_values=fill), t)
    floats = np.pad(np.zeros(array.shape), pad_width, constant_values=0 if values is None else exact_floats(values, t))
    is_new = np.pad(np.zeros(array.shape, bool), pad_width, constant_values=True)
    check_integrity(t, floats.shape)
    frame = zeros(t, floats.shape) if values is None else numbers(floats, t, floats.shape)
    return wrap_storage(np.where(is_new, frame, np.pad(source, pad_width)), t)


@implements(np.copyto, kind="moves")
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Write a tensor or numbers to a tensor, or a tensor's values to an array, where a condition is true."""
    places = truth(where)
    write(dst, src, lambda array, values: np.copyto(array, values, casting, where=places))


@implements(np.put, kind="moves")
def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """Write values at positions of the flattened tensor."""
    no_tensor(ind, "ind")
    if mode not in ("raise", "wrap", "clip"):  # NumPy's own refusal is a SystemError
        raise QuantValueError(f"'mode' must be 'raise', 'wrap' or 'clip', got {shown(mode)}")
    write(a, v, lambda array, values: np.put(array, ind, values, mode))


@implements(np.place, kind="moves")
def place(arr: Any, mask: Any, vals: Any) -> None:
    """Write values one after the other where a mask is true."""
    places = truth(mask)
    write(arr, vals, lambda array, values: np.place(array, places, values))


@implements(np.putmask, kind="moves")
def putmask(a: Any, mask: Any, values: Any) -> None:
    """Write the value at the same position to each element for which a mask is true."""
    places = truth(mask)
    write(a, values, lambda array, given: np.putmask(array, places, given))


@implements(np.put_along_axis, kind="moves")
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """Write values at positions along an axis; each line along this axis has positions of its own."""
    no_tensor(indices, "indices")
    write(arr, values, lambda array, given: np.put_along_axis(array, indices, given, axis))


@implements(np.fill_diagonal, kind="moves")
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Write values along the main diagonal."""
    write(a, val, lambda array, values: np.fill_diagonal(array, values, wrap))
