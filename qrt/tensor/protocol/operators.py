"""Python's arithmetic operators beside numbers and arrays: each is NumPy's ufunc. There is none in place, so that
``q += r`` is ``q = q + r``, whose result may have another type."""

from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from qrt.eager.calls import Tensor

_OPERANDS = (Tensor, Number, np.ndarray, np.generic)


def by_ufunc(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """What NumPy's function gives; NotImplemented for operands of which NumPy knows nothing, which Python then asks."""
    return ufunc(a, b) if isinstance(a, _OPERANDS) and isinstance(b, _OPERANDS) else NotImplemented


def _operator(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    return lambda self, other: by_ufunc(ufunc, self, other)


def _reflected(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    return lambda self, other: by_ufunc(ufunc, other, self)


class Operators:
    """The operators that no op family computes, and the reflected ones."""

    __slots__ = ()

    __radd__ = _reflected(np.add)
    __rsub__ = _reflected(np.subtract)
    __rmul__ = _reflected(np.multiply)
    __rmatmul__ = _reflected(np.matmul)
    __truediv__ = _operator(np.divide)
    __rtruediv__ = _reflected(np.divide)
    __floordiv__ = _operator(np.floor_divide)
    __rfloordiv__ = _reflected(np.floor_divide)
    __mod__ = _operator(np.remainder)
    __rmod__ = _reflected(np.remainder)
    __divmod__ = _operator(np.divmod)
    __rdivmod__ = _reflected(np.divmod)
    __pow__ = _operator(np.power)
    __rpow__ = _reflected(np.power)
