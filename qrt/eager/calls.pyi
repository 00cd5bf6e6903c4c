"""Calls kept: a public function finds the bound call that the same arguments had before, and runs it.

A call is kept by the ISA that `kernels.forced_isa` holds, the types, attributes, dtypes and shapes of the arguments,
and which of them are given. Attributes are told apart by kind and value (`True` is not 1, 0.0 not -0.0). Not kept by
these: a call with a list, an object of another kind, or an array that is not C-contiguous, aligned and in native byte
order among its arguments; one whose arrays are copied for it; one that is no `_core.KernelCall`. 512 calls are kept in
the process, and 8 in each tensor that keeps its own; the least recently used of a few goes first.
"""

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, final, type_check_only

import numpy as np
import numpy.typing as npt
from typing_extensions import disjoint_base

from qrt._seam._core import Executable
from qrt.types import TensorType

_P = ParamSpec("_P")
_R = TypeVar("_R")
_R_co = TypeVar("_R_co", covariant=True)

@type_check_only
class FamilyCall(Protocol):
    """`reads` says which of the arrays among a function's arguments the call reads, in its order. Where it takes these
    and the result's memory as they are, the next call with equal arguments does not bind again."""

    @property
    def call(self) -> Callable[..., None]: ...
    @property
    def reads(self) -> tuple[int, ...]: ...
    @property
    def is_in_place(self) -> bool: ...

@type_check_only
class EagerCall(Protocol[_R_co]):
    """A function's arguments, ready to run. If these do not find the family call the next time, `cache` keeps it by
    `key`, unless that is None."""

    @property
    def family_call(self) -> FamilyCall: ...
    @property
    def cache(self) -> Calls: ...
    @property
    def key(self) -> tuple[Any, ...] | None: ...
    def run(self) -> _R_co: ...

kept_calls: Calls

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
    def _calls(self) -> Calls: ...  # None where it keeps none
    @property
    def _constant(self) -> npt.NDArray[Any]: ...
    @property
    def _number(self) -> int: ...  # 0 where it keeps none
    def _fill(self, data: np.ndarray[Any, Any], type: Any, shape: tuple[int, ...]) -> None: ...
    def _keep_calls(self, constant: np.ndarray[Any, Any]) -> None:
        """Marks a tensor whose data never changes: calls that it is an operand of, but for the first, are kept here,
        and may hold its data, `constant`, in another form. They go with it. Packed bits are unpacked for each."""

def set_tensor_class(kind: type) -> None:
    """The subclass of Tensor that results are of."""

def tensor_of(data: np.ndarray[Any, Any], element: Any, shape: tuple[int, ...]) -> Any:
    """A tensor around storage known to be valid, packed where the width is."""

@final
class Calls:
    """A cache of calls, `sets` times `ways`: by the arguments of functions, or by keys of what an argument may be."""

    def __new__(cls, sets: int, ways: int) -> Calls: ...
    def __len__(self) -> int: ...
    @property
    def hits(self) -> int: ...  # of functions
    def get(self, key: tuple[Any, ...]) -> Any:
        """What was put under an equal key, or None."""

    def put(self, key: tuple[Any, ...], value: object) -> None:
        """Nothing is kept by a key that holds what has no description."""

@final
class Function(Generic[_P, _R]):
    """A function around `bind`, whose result depends on types, shapes and attributes alone, never on values in arrays.
    The argument named `out`, if there is one, is the output."""

    def __init__(self, bind: Callable[_P, EagerCall[_R]]) -> None: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    def __get__(self, instance: Any, owner: Any) -> Function[_P, _R]: ...
    def __reduce__(self) -> str: ...

@final
class ArgumentBinder:
    """The compiled check and conversion of a program's arguments, which then run its executable.

    It exists for the speed of ``program(x)``: no Python code runs for an argument that fits as it is. Called with a
    tuple of arguments it returns a list of results, quantized ones as tensors; None where an argument does not fit, so
    that the caller converts it or says what is wrong. ``whole`` says which inputs take any integer of their array.
    ``names`` and ``initials`` are those of the globals in ``state``."""

    def __init__(
        self,
        executable: Executable,
        isa: str,
        is_default: bool,
        elements: tuple[Any, ...],
        whole: tuple[bool, ...],
        results: tuple[Any, ...],
        shapes: tuple[tuple[int, ...], ...],
        state: Any,
        names: tuple[str, ...],
        initials: tuple[npt.NDArray[Any], ...],
    ) -> None: ...
    def __call__(self, arguments: tuple[Any, ...]) -> list[Any] | None: ...
    def states(self) -> tuple[npt.NDArray[Any], ...]: ...
    def with_state(self, state: Any) -> ArgumentBinder: ...
