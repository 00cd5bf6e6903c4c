"""The compiled check and conversion of a program's arguments."""

from typing import Any, final

import numpy.typing as npt

from qrt._ext.kernels import Executable

@final
class ArgumentBinder:
    """A check and conversion of a program's arguments, which then run its executable.

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
