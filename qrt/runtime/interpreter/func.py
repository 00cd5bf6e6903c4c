"""Handlers of ``func``: calls, also of functions of the runner libraries that a program declares without a body."""

from qrt.ir import Operation
from qrt.ir.core.functions import FuncOp
from qrt.runtime.interpreter.core import Builder, Compiler, Frame, Function, Handler, Step
from qrt.runtime.interpreter.runner import external


def _call(op: Operation, compiler: Compiler) -> Step:
    function = compiler.code.function(compiler.module.callee(op))
    operands = [compiler.slot(value) for value in op.operands]
    results = [compiler.slot(value) for value in op.results]

    def step(frame: Frame) -> None:
        values = function.call(frame[0], [frame[slot] for slot in operands])
        for slot, value in zip(results, values, strict=True):
            frame[slot] = value

    return step


def _declared(op: Operation, compiler: Compiler) -> Function:
    assert isinstance(op, FuncOp)  # a callee is a function
    return external(op)


HANDLERS: dict[str, Handler] = {"func.func": _declared}
STRUCTURED: dict[str, Builder] = {"func.call": _call}
