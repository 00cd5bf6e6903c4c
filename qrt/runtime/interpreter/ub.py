"""Handlers of ``ub``, whose ops raise an error when they run."""

from typing import NoReturn

from qrt.errors import UndefinedError
from qrt.ir import Operation
from qrt.runtime.interpreter.core import Compiler, Function, Handler


def _undefined(message: str) -> Handler:
    def bind(op: Operation, compiler: Compiler) -> Function:
        def run() -> NoReturn:
            raise UndefinedError(message)

        return run

    return bind


HANDLERS: dict[str, Handler] = {"ub.poison": _undefined("has no value, because it is poison")}
BRANCHES: dict[str, Handler] = {
    "ub.unreachable": _undefined("is reached, although the program declares it unreachable")
}
