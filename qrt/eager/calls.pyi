"""Calls kept: a public function finds the bound call that the same arguments had before, and runs it.

A call is kept by the ISA that `kernels.forced_isa` holds, the types, attributes, dtypes and shapes of the arguments,
and which of them are given. Attributes are told apart by kind and value (`True` is not 1, 0.0 not -0.0). Not kept: a
call with a list, an object of another kind, or an array that is not C-contiguous, aligned and in native byte order
among its arguments; one whose result had to be copied; one that is no `_core.Call`. 512 calls are kept in the process,
and 8 in each tensor that keeps its own; the least recently used of a few goes first.
"""

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, final, type_check_only

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

_P = ParamSpec("_P")
_R = TypeVar("_R")
_R_co = TypeVar("_R_co", covariant=True)

@type_check_only
class Bound(Protocol[_R_co]):
    """What a function binds its arguments to. `inputs` and `storage` are the arguments' own arrays, in their order,
    where the call can read and write these; then the next call with equal arguments does not bind again."""

    @property
    def call(self) -> Callable[..., None]: ...
    @property
    def inputs(self) -> tuple[npt.NDArray[Any], ...]: ...
    @property
    def storage(self) -> npt.NDArray[Any]: ...
    def run(self) -> _R_co: ...

kept_calls: Calls

@disjoint_base
class Tensor:
    """The fields of a quantized tensor: integers, their type, and the shape, which is not the data's where bits are
    packed."""

    _tensor_type: Any
    @property
    def type(self) -> Any: ...
    @property
    def _data(self) -> npt.NDArray[Any]: ...
    @property
    def _shape(self) -> tuple[int, ...]: ...
    def _fill(self, data: np.ndarray[Any, Any], type: Any, shape: tuple[int, ...]) -> None: ...
    def _keep_calls(self) -> None:
        """Marks a tensor whose data never changes: calls that it is an operand of, but for the first, are kept here,
        and may hold its data in another form. They go with it."""

@final
class Calls:
    """A cache of calls of `sets` times `ways`."""

    def __new__(cls, sets: int, ways: int) -> Calls: ...
    def __len__(self) -> int: ...
    @property
    def hits(self) -> int: ...

@final
class Function(Generic[_P, _R]):
    """A function around `bind`, whose result depends on types, shapes and attributes alone, never on values in arrays.
    The argument named `out`, if there is one, is the output."""

    def __init__(self, bind: Callable[_P, Bound[_R]]) -> None: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    def __get__(self, instance: Any, owner: Any) -> Function[_P, _R]: ...
    def __reduce__(self) -> str: ...
