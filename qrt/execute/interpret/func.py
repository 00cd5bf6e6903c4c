"""``func``: calls."""

from qrt.execute.interpret.core import Builder, Compiler, Frame, Step
from qrt.execute.operations import callee
from qrt.ir import Operation


def _call(op: Operation, compiler: Compiler) -> Step:
    function = compiler.code.function(callee(compiler.module, op))
    operands = [compiler.slot(value) for value in op.operands]
    results = [compiler.slot(value) for value in op.results]

    def step(frame: Frame) -> None:
        values = function.call(frame[0], [frame[slot] for slot in operands])
        for slot, value in zip(results, values, strict=True):
            frame[slot] = value

    return step


STRUCTURED: dict[str, Builder] = {"func.call": _call}
