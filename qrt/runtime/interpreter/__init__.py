"""The interpreter: runs IR on NumPy, op by op. Kernels and compiled plans are tested against its results."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.ir import Module, Operation
from qrt.runtime.interpreter.buffers import memref_argument
from qrt.runtime.interpreter.core import ModuleCode, Run, Tables
from qrt.runtime.operations import failure
from qrt.types import MemRefType

TABLES = Tables()


class Interpreter:
    """An interpreter of one module's functions.

    If `saturating`, a float outside an integer type's range converts to the nearest integer of the type; otherwise the
    conversion is undefined.
    """

    def __init__(self, module: Module, *, saturating: bool = False) -> None:
        self._code = ModuleCode(module, TABLES, saturating)

    def call(
        self,
        function: Operation,
        arguments: Sequence[Any],
        max_steps: int | None = None,
        state: dict[str, Any] | None = None,
    ) -> list[Any]:
        """Run a function and return its results: arrays and NumPy scalars, as ``runtime.values`` describes.

        At most `max_steps` operations run. `state` has the values of globals by name, which the call reads and updates.
        Raise ModelError at an op that the interpreter does not support or whose result is undefined.
        """
        arguments = [
            memref_argument(argument, value.type, number) if isinstance(value.type, MemRefType) else argument
            for number, (argument, value) in enumerate(
                zip(arguments, function.regions[0].blocks[0].arguments, strict=True)
            )
        ]
        with np.errstate(all="ignore"):
            try:
                return self._code.function(function).call(Run(max_steps, state=state), arguments)
            except RecursionError:
                raise failure(function, "regions are nested too deeply to run") from None


__all__ = ["TABLES", "Interpreter"]
