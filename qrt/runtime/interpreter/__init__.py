"""The interpreter: IR on NumPy, op by op, by each op's plain reference. Whatever runs faster is compared with it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.ir import Module, Operation
from qrt.runtime.interpreter.buffers import given
from qrt.runtime.interpreter.core import ModuleCode, Run, Tables
from qrt.runtime.operations import failure
from qrt.types import MemRefType

TABLES = Tables()


class Interpreter:
    """Runs functions of one module. With `saturating`, a float that an integer type cannot hold converts to the
    nearest one it can, where it is undefined without."""

    def __init__(self, module: Module, *, saturating: bool = False) -> None:
        self._code = ModuleCode(module, TABLES, saturating)

    def call(
        self,
        function: Operation,
        arguments: Sequence[Any],
        max_steps: int | None = None,
        state: dict[str, Any] | None = None,
    ) -> list[Any]:
        """The results of a function on arrays, or NumPy scalars, as ``execute.values`` says, in at most `max_steps`
        operations. It goes on with the values of `state`, and leaves its own there.

        Raises ModelError at the op that does not run or whose result is undefined."""
        arguments = [
            given(argument, value.type, number) if isinstance(value.type, MemRefType) else argument
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
