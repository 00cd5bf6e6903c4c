"""The compiled check and conversion of a program's arguments."""

from typing import Any, final

import numpy.typing as npt

from qrt._ext.kernels import Executable

@final
class ArgumentBinder:
    """A compiled check of a program's arguments, which runs the program's executable if they need no conversion.

    The check runs no Python code, which makes ``program(x)`` fast. Called with a tuple of arguments, the binder returns
    the list of results, quantized ones as tensors. It returns None if an argument needs a conversion or does not fit;
    the caller then converts the argument or raises an error. ``elements`` and ``results`` have the quantized type of
    each input and result, or None. ``whole`` is True for each input whose type has every value of its array's dtype.
    ``shapes`` are those of the results. ``names`` and ``initials`` are the names and the initial arrays of the globals
    in ``state``.
    """

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
