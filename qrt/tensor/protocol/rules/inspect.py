"""Functions that ask a tensor for what it is, or write its values out."""

from functools import cache
from math import prod
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from qrt.ops.core import Array, Shape, expressed_dtype
from qrt.tensor.protocol.elements import stored
from qrt.tensor.protocol.table import implements, present
from qrt.tensor.quant_tensor import QuantTensor


def _plain(x: Any) -> Any:
    """The dtype of a tensor's values, or what was given."""
    return expressed_dtype(x.type.expressed_type) if isinstance(x, QuantTensor) else x


@implements(np.shape, kind="inspects")
def shape(a: QuantTensor) -> Shape:
    """As ``q.shape``."""
    return a.shape


@implements(np.ndim, kind="inspects")
def ndim(a: QuantTensor) -> int:
    """As ``q.ndim``."""
    return a.ndim


@implements(np.size, kind="inspects")
def size(a: QuantTensor, axis: Any = None) -> int:
    """The number of elements, or that along axes."""
    return a.size if axis is None else prod(a.shape[i] for i in normalize_axis_tuple(axis, a.ndim))


@implements(np.result_type, kind="inspects")
def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """The dtype of the values."""
    return np.result_type(*map(_plain, arrays_and_dtypes))


@implements(np.can_cast, kind="inspects")
def can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    """Whether the values can be cast."""
    return np.can_cast(_plain(from_), _plain(to), casting)


@implements(np.common_type, kind="inspects")
def common_type(*arrays: Any) -> Any:
    """The scalar type of the values."""
    return np.common_type(*[_empty(_plain(x)) if isinstance(x, QuantTensor) else x for x in arrays])


@cache
def _empty(dtype: np.dtype[Any]) -> Array:
    return np.empty(0, dtype)


@implements(np.min_scalar_type, kind="inspects")
def min_scalar_type(a: QuantTensor, /) -> np.dtype[Any]:
    """The dtype of the values."""
    return _plain(a)  # type: ignore[no-any-return]


@implements(*present("astype"), kind="inspects")
def astype(x: QuantTensor, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """The values, in a float dtype."""
    return x.astype(dtype)  # type: ignore[no-any-return]


@implements(np.may_share_memory, kind="inspects")
def may_share_memory(a: Any, b: Any, /, max_work: Any = 0) -> bool:
    """Whether the storage of tensors lies in the same bounds."""
    return np.may_share_memory(_memory(a), _memory(b), max_work)


@implements(np.shares_memory, kind="inspects")
def shares_memory(a: Any, b: Any, /, max_work: Any = -1) -> bool:
    """Whether tensors share storage."""
    return np.shares_memory(_memory(a), _memory(b), max_work)


def _memory(x: Any) -> Any:
    return x._data if isinstance(x, QuantTensor) else x


@implements(np.iscomplexobj, kind="inspects")
def iscomplexobj(x: QuantTensor) -> bool:
    """False."""
    return False


@implements(np.isrealobj, kind="inspects")
def isrealobj(x: QuantTensor) -> bool:
    """True."""
    return True


@implements(np.iscomplex, kind="inspects")
def iscomplex(x: QuantTensor) -> Array:
    """False everywhere."""
    return np.zeros(x.shape, bool)[()]


@implements(np.isreal, kind="inspects")
def isreal(x: QuantTensor) -> Array:
    """True everywhere."""
    return np.ones(x.shape, bool)[()]


@implements(np.array2string, kind="inspects")
def array2string(a: QuantTensor, *args: Any, **options: Any) -> str:
    """The values as text."""
    return np.array2string(np.asarray(a), *args, **options)


@implements(np.array_str, kind="inspects")
def array_str(a: QuantTensor, *args: Any, **options: Any) -> str:
    """The values as text."""
    return np.array_str(np.asarray(a), *args, **options)


@implements(np.array_repr, kind="inspects")
def array_repr(
    arr: QuantTensor,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """As ``repr(q)``."""
    given = {"linewidth": max_line_width, "precision": precision, "suppress": suppress_small}
    options: Any = {name: value for name, value in given.items() if value is not None}
    with np.printoptions(**options):
        return repr(arr)


@implements(np.savetxt, kind="inspects")
def savetxt(fname: Any, X: QuantTensor, *args: Any, **options: Any) -> None:  # noqa: N803 - NumPy's name
    """Writes the values as text."""
    np.savetxt(fname, np.asarray(X), *args, **options)


@implements(np.tril_indices_from, kind="inspects")
def tril_indices_from(arr: QuantTensor, k: int = 0) -> tuple[Array, Array]:
    """Indices of the lower triangle of a matrix of this shape."""
    return np.tril_indices_from(stored(arr), k)


@implements(np.triu_indices_from, kind="inspects")
def triu_indices_from(arr: QuantTensor, k: int = 0) -> tuple[Array, Array]:
    """Indices of the upper triangle of a matrix of this shape."""
    return np.triu_indices_from(stored(arr), k)


@implements(np.diag_indices_from, kind="inspects")
def diag_indices_from(arr: QuantTensor) -> tuple[Array, ...]:
    """Indices of the main diagonal of a tensor of this shape."""
    return np.diag_indices_from(stored(arr))
