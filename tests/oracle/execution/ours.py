"""qrt's results: planned and interpreted, as bits."""

from dataclasses import dataclass

from qrt import ir
from qrt.errors import QuantError, UndefinedError
from qrt.runtime import Program
from qrt.runtime.compilation import compile
from tests.oracle.execution.case import Call, Case
from tests.oracle.execution.values import Value, value_of


@dataclass(frozen=True)
class Refusal:
    """What qrt says instead of giving results."""

    error: str
    is_undefined: bool
    """Whether it is that an op leaves the result undefined."""

    @staticmethod
    def of(error: QuantError) -> "Refusal":
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, UndefinedError):
            cause = cause.__cause__
        return Refusal(str(error), cause is not None)


Results = list[Value] | Refusal


def program(text: str) -> Program:
    """The function of a case, compiled. Raises QuantError."""
    return compile(ir.parse(text), "f")


def run(case: Case, compiled: Program, call: Call, interpret: bool) -> Results:
    """The results of a call, then the memrefs that it was given, as it leaves them."""
    arrays = [value.array() for value in call]
    inputs, outputs = case.signature
    given = {port.name: array for port, array in zip(compiled.inputs, arrays, strict=True)}
    try:
        found = compiled.run(given, interpret=interpret)
    except QuantError as error:
        return Refusal.of(error)
    results = [(found[port.name], t) for port, t in zip(compiled.outputs, outputs, strict=True)]
    written = [(array, t) for array, t in zip(arrays, inputs, strict=True) if t.container == "memref"]
    return [value_of(array, t.element) for array, t in [*results, *written]]
