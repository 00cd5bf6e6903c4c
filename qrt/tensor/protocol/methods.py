"""The methods of an ndarray and Python's protocols, each of which calls NumPy's function with the same meaning."""

from collections.abc import Callable, Iterator
from numbers import Number
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import numpy as np

from qrt.errors import QuantIndexError, QuantTypeError, QuantValueError, check_signatures, nearest, plural, shown
from qrt.tensor.arrays import integers
from qrt.tensor.calls import Tensor
from qrt.tensor.protocol.elements import truth
from qrt.tensor.protocol.table import answer

Q = TypeVar("Q")
"""The class of tensors that has the methods."""

numpy: Any = np
"""NumPy's functions, whose annotations allow only arrays."""

ABSENT = {
    "base": "np.shares_memory(q, other) says whether storage is shared",
    "byteswap": "q.storage.byteswap() swaps the bytes of the integers",
    "choose": "np.choose(integers, tensors) chooses elements from tensors",
    "ctypes": "q.storage.ctypes describes the integers",
    "data": "q.packed has the bytes, q.storage the integers",
    "dtype": "q.type is the quantized type, q.storage.dtype the dtype of the integers, np.result_type(q) the "
    "dtype of the values",
    "dump": "pickle.dump(q, file) keeps type and storage",
    "dumps": "pickle.dumps(q) keeps type and storage",
    "flags": "q.storage.flags describes the integers",
    "flat": "np.ravel(q) has the elements in one line",
    "getfield": "q.storage.getfield(...) reads the integers",
    "itemsize": "q.type.storage_width is the number of bits of an element, q.nbytes the number of bytes of all "
    "elements",
    "resize": "np.resize(q, shape) gives a tensor of another shape",
    "setfield": "q[...] = x writes elements",
    "setflags": "qrt.pack(q) gives a read-only tensor",
    "strides": "q.storage.strides has the strides of the integers",
    "tobytes": "q.packed.tobytes() has the bytes of the storage, np.asarray(q).tobytes() the bytes of the values",
    "tofile": "q.packed.tofile(file) writes the bytes, pickle.dump(q, file) type and storage",
    "view": "q.storage.view(dtype) reads the integers, qrt.scast(integers, type) makes a tensor of them",
}
"""Attributes of an ndarray that a tensor does not have, each with what to write instead."""
_OF_OTHERS = {
    "int_repr": "q.storage has the integers",
    "numpy": "np.asarray(q) gives the values, q.storage the integers",
    "q_scale": "q.type.scale is the scale, q.scales all of them",
    "q_zero_point": "q.type.zero_point is the zero point, q.zero_points all of them",
}
"""Attributes of other libraries' tensors, each with what to write instead."""


def _method(function: Any, summary: str) -> Any:
    """Return a method that calls NumPy's function with the tensor as first argument."""

    def method(self: Any, *args: Any, **options: Any) -> Any:
        return answer(function, (self, *args), options)

    name = function.__name__
    method.__doc__, method.__name__, method.__qualname__ = f"{summary}, as ``np.{name}``.", name, f"Methods.{name}"
    return method


@check_signatures
class Methods(Generic[Q]):
    """The methods of an ndarray and Python's protocols, for tensors."""

    __slots__ = ()

    if not TYPE_CHECKING:  # a type checker would accept every name as an attribute

        def __getattr__(self, name):
            hint = ABSENT.get(name) or _OF_OTHERS.get(name)
            if hint is None:
                near = None if name.startswith("_") else nearest(name, dir(self))
                hint = f": did you mean {near!r}?" if near else ""
                raise AttributeError(
                    f"a {type(self).__name__} has no attribute {shown(name)}{hint}", name=name, obj=self
                )
            raise AttributeError(f"a QuantTensor has no attribute {name!r}: {hint}", name=name, obj=self)

    def __iter__(self: Any) -> Iterator[Q]:
        if not self.ndim:
            raise QuantTypeError("a tensor of rank 0 cannot be iterated over: q.item() is its value")
        return (self[i] for i in range(len(self)))

    def __contains__(self: Any, value: Any) -> bool:
        return bool(numpy.any(numpy.equal(self, value)))

    def __bool__(self: Any) -> bool:
        """Return True if the only element is not 0. Raise ValueError unless there is exactly one, as NumPy does."""
        if self.size != 1:
            which = "a tensor with more than one element" if self.size else "an empty tensor"
            raise QuantValueError(f"the truth value of {which} is ambiguous: use np.any(q), np.all(q) or q.size")
        return bool(truth(self).item())

    def __float__(self: Any) -> float:
        return float(_scalar(self))

    def __int__(self: Any) -> int:
        return int(_scalar(self))

    def __complex__(self: Any) -> complex:
        return complex(_scalar(self))

    def __format__(self: Any, spec: str) -> str:
        return format(self.item(), spec) if spec and not self.ndim else super().__format__(spec)

    def item(self: Any, *args: Any) -> float:
        """Return the value of the only element, or of the element at an index, as a Python number."""
        if not args:
            if self.size != 1:
                raise QuantValueError(
                    f"only a tensor of one element converts to a Python number, got {self.size} elements"
                )
            return float(numpy.asarray(self).item())
        key = integers(args[0] if len(args) == 1 and isinstance(args[0], tuple) else args, "item: the index")
        if len(key) == 1 and self.ndim != 1:
            key = _place(key[0], self.shape, self.size)
        if len(key) != self.ndim:
            raise QuantValueError(
                f"item: expected {plural(self.ndim, 'index', 'indices')}, one for each axis, got {len(key)}"
            )
        return self[key].item()

    def tolist(self: Any) -> Any:
        """Return the values as nested lists of Python numbers."""
        return numpy.asarray(self).tolist()

    @property
    def mT(self: Any) -> Q:  # noqa: N802 - NumPy's name
        """The tensor with the last two axes interchanged."""
        return numpy.matrix_transpose(self)

    @property
    def real(self: Any) -> Q:
        """The tensor itself."""
        return numpy.real(self)

    @property
    def imag(self: Any) -> Q:
        """Zeros of the tensor's type."""
        return numpy.imag(self)

    @property
    def device(self: Any) -> Literal["cpu"]:
        """The device of the storage, always "cpu"."""
        return "cpu"

    def to_device(self: Any, device: Literal["cpu"], /, *, stream: None = None) -> Q:
        """Return the tensor itself; there is one device."""
        if not isinstance(device, str) or device != "cpu":
            raise QuantValueError(f"to_device: 'device' must be \"cpu\", the only device, got {shown(device)}")
        return self

    ravel = _method(np.ravel, "The elements in one line")
    squeeze = _method(np.squeeze, "The tensor without axes of size 1")
    swapaxes = _method(np.swapaxes, "Two axes interchanged")
    repeat = _method(np.repeat, "Each element several times")
    take = _method(np.take, "Elements by their positions")
    diagonal = _method(np.diagonal, "The diagonals in the plane of two axes")
    put = _method(np.put, "Writes at positions in one line")
    conj = conjugate = _method(np.conjugate, "A copy")

    def flatten(self: Any, order: str = "C") -> Q:
        """Return a copy of rank 1."""
        return numpy.ravel(self, order).copy()

    def compress(self: Any, condition: Any, axis: int | None = None, out: Any = None) -> Q:
        """Return the elements for which a condition is true, as ``np.compress``."""
        return numpy.compress(condition, self, axis, out)

    def fill(self: Any, value: Any) -> None:
        """Write a real number, which is quantized, or a tensor of rank 0 to every element."""
        self[...] = value

    max = _method(np.max, "The greatest value")
    min = _method(np.min, "The least value")
    argmax = _method(np.argmax, "The index of the greatest value")
    argmin = _method(np.argmin, "The index of the least value")
    all = _method(np.all, "Whether no element is 0")
    any = _method(np.any, "Whether an element is not 0")
    nonzero = _method(np.nonzero, "The indices of the elements that are not 0")
    clip = _method(np.clip, "The elements within two bounds")
    argsort = _method(np.argsort, "The indices that sort the values")
    argpartition = _method(np.argpartition, "The indices that partition the values")
    searchsorted = _method(np.searchsorted, "Where values would stand among sorted values")

    def sort(self: Any, axis: Any = -1, kind: Any = None, order: None = None, *, stable: Any = None) -> None:
        """Sort the tensor in place, as ``np.sort`` does."""
        self[...] = numpy.sort(self, axis, kind, order, stable=stable)

    def partition(self: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: None = None) -> None:
        """Partition the tensor in place, as ``np.partition`` does."""
        self[...] = numpy.partition(self, kth, axis, kind, order)

    sum = _method(np.sum, "The exact sum")
    prod = _method(np.prod, "The exact product")
    std = _method(np.std, "The standard deviation as float64")
    var = _method(np.var, "The variance as float64")
    cumsum = _method(np.cumsum, "Exact running sums")
    cumprod = _method(np.cumprod, "Running products, which have no exact result: an error, or floats")
    trace = _method(np.trace, "The sum along a diagonal")
    dot = _method(np.dot, "The exact product with another tensor")
    round = _method(np.round, "Rounding, which has no exact result: an error, or floats")

    def mean(
        self: Any, axis: Any = None, dtype: Any = None, out: Any = None, *, out_type: Any = None, **options: Any
    ) -> Any:
        """Return the mean as float64, as ``np.mean``, or quantized to ``out_type``, as ``qrt.mean``."""
        if dtype is not None and out_type is not None:
            raise QuantTypeError("mean: 'dtype' and 'out_type' both set the type of the result: give one of them")
        return answer(np.mean, (self, axis, dtype if out_type is None else out_type, out), options)


def _scalar(q: Any) -> float:
    """Return the value of a tensor of rank 0 as a Python number. Raise QuantTypeError for another rank."""
    if q.ndim:
        raise QuantTypeError(
            f"only a tensor of rank 0 converts to a Python number, got shape {q.shape}: take an element, or q.tolist()"
        )
    value: float = q.item()
    return value


def _place(at: int, shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Return the index tuple of an element from its row-major position."""
    if not -size <= at < size:
        raise QuantIndexError(f"index {shown(at)} is out of bounds for size {size}")
    return tuple(int(i) for i in numpy.unravel_index(at % size, shape))


_OPERANDS = (Tensor, Number, np.ndarray, np.generic)


def by_ufunc(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """Return the result of a ufunc for two operands of an operator.

    Return NotImplemented for an operand of an unknown class, so that Python tries the operator of that class.
    """
    return ufunc(a, b) if isinstance(a, _OPERANDS) and isinstance(b, _OPERANDS) else NotImplemented


def _reflected(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    return lambda self, other: by_ufunc(ufunc, other, self)


def _operators(ufunc: np.ufunc) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """Return the methods of a binary operator and its reflected form, such as ``__mod__`` and ``__rmod__``."""
    return lambda self, other: by_ufunc(ufunc, self, other), _reflected(ufunc)


def _comparison(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    """Return a comparison operator.

    For operands that NumPy cannot compare it raises an error; Python would return False.
    """
    return lambda self, other: answer(ufunc, (self, other), {})


def _unary(ufunc: np.ufunc) -> Callable[[Any], Any]:
    return lambda self: answer(ufunc, (self,), {})


class Operators:
    """Operators of tensors that call NumPy's ufuncs: operators without an op family, and all reflected operators."""

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
    __truediv__, __rtruediv__ = _operators(np.divide)
    __floordiv__, __rfloordiv__ = _operators(np.floor_divide)
    __mod__, __rmod__ = _operators(np.remainder)
    __divmod__, __rdivmod__ = _operators(np.divmod)
    __pow__, __rpow__ = _operators(np.power)
    # Values are floats, so the bitwise operators are errors, which advise to use the storage.
    __and__, __rand__ = _operators(np.bitwise_and)
    __or__, __ror__ = _operators(np.bitwise_or)
    __xor__, __rxor__ = _operators(np.bitwise_xor)
    __lshift__, __rlshift__ = _operators(np.left_shift)
    __rshift__, __rrshift__ = _operators(np.right_shift)
