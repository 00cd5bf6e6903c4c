"""The interpreter: runs IR on NumPy, op by op, by reference implementations. Faster code is tested against it."""

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

    With `saturating`, a float outside an integer type's range converts to the nearest integer of the type; without, the
    conversion is undefined."""

    def __init__(self, module: Module, *, saturating: bool = False) -> None:
        self._code = ModuleCode(module, TABLES, saturating)

    def call(
        self,
        function: Operation,
        arguments: Sequence[Any],
        max_steps: int | None = None,
        state: dict[str, Any] | None = None,
    ) -> list[Any]:
        """Return the results of a function on arrays and NumPy scalars, as described in ``runtime.values``.

        At most `max_steps` operations run. `state` has the values of globals, which the call reads and updates.
        Raise ModelError at an op that cannot run or whose result is undefined."""
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
