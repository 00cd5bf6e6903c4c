"""Bound calls: a public function finds the call that the same arguments had before, in a `CallCache`, and runs it."""

import weakref
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, final

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from qrt.tensor.binding import EagerCall
from qrt.types import TensorType

_P = ParamSpec("_P")
_R = TypeVar("_R")

call_cache: CallCache
__pyx_capi__: dict[str, object]  # what qrt/runtime/argument_binder.pyx takes from here

@disjoint_base
class Tensor:
    """The fields of a quantized tensor: integers, their type, and the shape, which is not the data's where bits are
    packed."""

    @property
    def type(self) -> Any: ...
    @property
    def tensor_type(self) -> TensorType: ...
    @property
    def _data(self) -> npt.NDArray[Any]: ...
    @property
    def _shape(self) -> tuple[int, ...]: ...
    @property
    def _cache(self) -> CallCache: ...  # None but of a tensor that never changes
    def _fill(self, data: np.ndarray[Any, Any], type: Any, shape: tuple[int, ...]) -> None: ...
    def _keep_calls(self) -> None:
        """Give a cache of its own to a tensor whose data never changes, and is in the form that kernels take."""

def set_tensor_class(kind: type) -> None:
    """The subclass of Tensor that results are of."""

def tensor_of(data: np.ndarray[Any, Any], element: Any, shape: tuple[int, ...]) -> Any:
    """A tensor around storage known to be valid, packed where the width is."""

@final
class CallCache:
    """The one cache of bound calls of operation families, `sets` times `ways`.

    The key of a call is its function, the ISA that `kernels.forced_isa` holds, which parameters have their default, and
    each argument: types by identity, as they are interned; attributes by kind and value, so that `True` is not 1, nor
    0.0 -0.0; arrays by dtype and shape. A call has no such key if an argument is a list, an object of another kind, or
    an array that is not C-contiguous, aligned and of native byte order; or if its arrays are copied for it, or it is no
    `KernelCall`. What the function made of such arguments is then the key: family, types, attributes and ISA.

    The process has one of 512 calls, `call_cache`; a tensor that never changes has one of 8. Of a few calls the least
    recently used goes first, and those of a tensor go with it. They are the calls that have the tensor as an operand,
    but for the first, and they alone may hold its data in another form: what a family packed of it, and, as long as a
    call reads it, the storage of packed bits, ``unpacked``, a weak reference. ``number`` stands for the tensor in
    keys."""

    unpacked: weakref.ref[Any] | None

    def __new__(cls, sets: int, ways: int) -> CallCache: ...
    def __len__(self) -> int: ...
    @property
    def hits(self) -> int: ...  # of functions
    @property
    def number(self) -> int: ...
    def get(self, key: tuple[Any, ...]) -> Any:
        """Return what was put under an equal key, or None."""

    def put(self, key: tuple[Any, ...], value: object) -> None:
        """Keep a value, unless the key holds what has no description."""

@final
class Function(Generic[_P, _R]):
    """A function around `bind`, whose result depends on types, shapes and attributes alone, never on values in arrays.
    The argument named `out`, if there is one, is the output."""

    def __init__(self, bind: Callable[_P, EagerCall[_R]]) -> None: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    def __get__(self, instance: Any, owner: Any) -> Function[_P, _R]: ...
    def __reduce__(self) -> str: ...
