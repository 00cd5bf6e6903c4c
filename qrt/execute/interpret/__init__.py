"""The interpreter: IR on NumPy, op by op, through each op's plain reference. The referee of everything that runs
faster.

A handler takes (op, operand arrays, interpreter) and returns the result arrays; each dialect's handlers are one file.
"""

from collections.abc import Sequence

from qrt.errors import ModelError, QuantError
from qrt.execute.interpret import arith, func, qrt, quant
from qrt.execute.interpret.core import Handler
from qrt.execute.operations import MAX_CALL_DEPTH, body, callee, failure
from qrt.execute.values import as_tensor, concrete
from qrt.ir import Module, Operation, Value
from qrt.ops.core import Array

HANDLERS: dict[str, Handler] = {**arith.HANDLERS, **func.HANDLERS, **quant.HANDLERS, **qrt.HANDLERS}


class Interpreter:
    """Runs functions of one module. Values are arrays as ``execute.values`` says."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._depth = 0

    def call(self, function: Operation, arguments: Sequence[Array]) -> list[Array]:
        """Runs the body of a function on these arguments."""
        self._depth += 1
        if self._depth > MAX_CALL_DEPTH:
            raise failure(function, f"calls are nested deeper than {MAX_CALL_DEPTH}, or recursive")
        block = body(function)
        values: dict[Value, Array] = dict(zip(block.arguments, arguments, strict=True))
        for op in block:
            operands = [values[v] for v in op.operands]
            if op.name == "func.return":
                self._depth -= 1
                return operands
            values.update(zip(op.results, self._results(op, operands), strict=True))
        raise failure(function, "the function does not return")

    def callee(self, op: Operation) -> Operation:
        return callee(self._module, op)

    def _results(self, op: Operation, operands: Sequence[Array]) -> Sequence[Array]:
        handler = HANDLERS.get(op.name)
        if handler is None:
            raise failure(op, "does not run: the interpreter has no handler for it")
        try:
            results = handler(op, operands, self)
            for value, array in zip(op.results, results, strict=True):
                concrete(as_tensor(value.type), array.shape, f"the result of {op.name}")
        except ModelError:
            raise
        except QuantError as error:
            raise failure(op, str(error)) from error
        return results


__all__ = ["HANDLERS", "Interpreter"]
