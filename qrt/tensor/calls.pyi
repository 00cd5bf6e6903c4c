"""Bound calls: a public function finds the call for its arguments in a `CallCache`, and runs it."""

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
__pyx_capi__: dict[str, object]  # the C functions that qrt/runtime/argument_binder.pyx imports

@disjoint_base
class Tensor:
    """The fields of a quantized tensor: integers, their type, and the shape before bits were packed."""

    @property
    def type(self) -> Any: ...
    @property
    def tensor_type(self) -> TensorType: ...
    @property
    def _data(self) -> npt.NDArray[Any]: ...
    @property
    def _shape(self) -> tuple[int, ...]: ...
    @property
    def _cache(self) -> CallCache: ...  # None unless the tensor never changes
    def _fill(self, data: np.ndarray[Any, Any], type: Any, shape: tuple[int, ...]) -> None: ...
    def _keep_calls(self) -> None:
        """Give this tensor its own call cache. Its data must never change, and must have the form that kernels take."""

def set_tensor_class(kind: type) -> None:
    """Set the subclass of Tensor that results have."""

def tensor_of(data: np.ndarray[Any, Any], element: Any, shape: tuple[int, ...]) -> Any:
    """Return a tensor around storage, without checks: ``data`` must fit the type, and be packed for 1, 2 and 4 bits."""

@final
class CallCache:
    """A cache of bound calls of op families, with `sets` times `ways` entries.

    The key of a call consists of its function, the ISA in `kernels.forced_isa`, the parameters that have their default,
    and each argument. A type counts by identity, because types are interned. An attribute counts by kind and value, so
    that `True` differs from 1, and 0.0 from -0.0. An array counts by dtype and shape. A call has no such key if an
    argument is a list, an object of another kind, or an array that is not C-contiguous, aligned and of native byte
    order. It has none either if it needs a copy of its arrays, or is no `KernelCall`. A call without such a key is
    found by a second key, which the function computes: family, types, attributes and ISA.

    The process has one cache of 512 calls, `call_cache`. A tensor that never changes has a cache of its own, with 8
    calls that read the tensor as their second or a later operand; the calls are freed with the tensor. Only these calls
    may own the tensor's data in another form: packed by a family, or unpacked to whole bytes (``unpacked``, a weak
    reference to the array that such calls share). ``number`` represents the tensor in keys. If a set is full, the least
    recently used call is replaced.
    """

    unpacked: weakref.ref[Any] | None

    def __new__(cls, sets: int, ways: int) -> CallCache: ...
    def __len__(self) -> int: ...
    @property
    def hits(self) -> int: ...  # calls that functions found by their arguments
    @property
    def number(self) -> int: ...
    def get(self, key: tuple[Any, ...]) -> Any:
        """Return the value of an equal key, or None."""

    def put(self, key: tuple[Any, ...], value: object) -> None:
        """Store a value, unless a part of the key cannot be described."""

@final
class Function(Generic[_P, _R]):
    """A public function that caches the calls that `bind` returns, and runs them.

    The call may depend only on types, shapes and attributes, never on values in arrays. The argument named `out`, if
    there is one, is the output.
    """

    def __init__(self, bind: Callable[_P, EagerCall[_R]]) -> None: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    def __get__(self, instance: Any, owner: Any) -> Function[_P, _R]: ...
    def __reduce__(self) -> str: ...
