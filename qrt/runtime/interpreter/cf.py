"""Handlers of ``cf``: branches and assertions. A failed assertion raises UndefinedError."""

from typing import Any

from qrt.errors import UndefinedError
from qrt.ir import Operation
from qrt.ir.dialects.cf.ops import switch_cases
from qrt.runtime.interpreter.core import Compiler, Function, Handler


def _assert(op: Operation, compiler: Compiler) -> Function:
    message = op.attributes["msg"].python

    def check(condition: Any) -> None:
        if not condition:
            raise UndefinedError(f"failed: {message}")

    return check


def _br(op: Operation, compiler: Compiler) -> Function:
    return lambda *operands: (0, operands)


def _cond_br(op: Operation, compiler: Compiler) -> Function:
    split = 1 + len(op.operand_group("trueDestOperands"))
    return lambda *operands: (0, operands[1:split]) if operands[0] else (1, operands[split:])


def _switch(op: Operation, compiler: Compiler) -> Function:
    start = 1 + len(op.operand_group("defaultOperands"))
    default = 0, slice(1, start)
    chosen: dict[int, tuple[int, slice]] = {}
    for successor, (value, operands) in enumerate(switch_cases(op), 1):
        chosen.setdefault(value, (successor, slice(start, start + len(operands))))
        start += len(operands)

    def choose(*operands: Any) -> tuple[int, tuple[Any, ...]]:
        successor, passed = chosen.get(int(operands[0]), default)
        return successor, operands[passed]

    return choose


HANDLERS: dict[str, Handler] = {"cf.assert": _assert}
BRANCHES: dict[str, Handler] = {"cf.br": _br, "cf.cond_br": _cond_br, "cf.switch": _switch}
