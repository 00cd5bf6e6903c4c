"""Python's operators: comparisons, and arithmetic beside numbers and arrays. Each is NumPy's ufunc. There is none in
place, so that ``q += r`` is ``q = q + r``, whose result may have another type."""

from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from qrt.tensor.calls import Tensor
from qrt.tensor.protocol.table import answer

_OPERANDS = (Tensor, Number, np.ndarray, np.generic)


def by_ufunc(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """What NumPy's function gives; NotImplemented for operands of which NumPy knows nothing, which Python then asks."""
    return ufunc(a, b) if isinstance(a, _OPERANDS) and isinstance(b, _OPERANDS) else NotImplemented


def _operator(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    return lambda self, other: by_ufunc(ufunc, self, other)


def _reflected(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    return lambda self, other: by_ufunc(ufunc, other, self)


def _comparison(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    """With an operand of any kind: what NumPy does not compare is an error, not False."""
    return lambda self, other: answer(ufunc, (self, other), {})


def _unary(ufunc: np.ufunc) -> Callable[[Any], Any]:
    return lambda self: answer(ufunc, (self,), {})


class Operators:
    """The operators that no op family computes, and the reflected ones."""

    __slots__ = ()

    __eq__ = _comparison(np.equal)
    __ne__ = _comparison(np.not_equal)
    __lt__ = _comparison(np.less)
    __le__ = _comparison(np.less_equal)
    __gt__ = _comparison(np.greater)
    __ge__ = _comparison(np.greater_equal)
    __neg__ = _unary(np.negative)
    __pos__ = _unary(np.positive)
    __abs__ = _unary(np.absolute)
    __invert__ = _unary(np.invert)

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
    # No value is an integer: each says to take those of the storage.
    __and__ = _operator(np.bitwise_and)
    __rand__ = _reflected(np.bitwise_and)
    __or__ = _operator(np.bitwise_or)
    __ror__ = _reflected(np.bitwise_or)
    __xor__ = _operator(np.bitwise_xor)
    __rxor__ = _reflected(np.bitwise_xor)
    __lshift__ = _operator(np.left_shift)
    __rlshift__ = _reflected(np.left_shift)
    __rshift__ = _operator(np.right_shift)
    __rrshift__ = _reflected(np.right_shift)
