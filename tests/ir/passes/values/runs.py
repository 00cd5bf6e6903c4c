"""Runs of a function, and all that can be seen of one: results, the memory it was given and what it wrote there, the
memory of global variables, what it printed, or its error."""

import contextlib
import io
from dataclasses import dataclass

import numpy as np

from qrt import ir
from qrt.errors import QuantError
from qrt.runtime.interpreter import TABLES
from qrt.runtime.interpreter.buffers import on_memory, span_below
from qrt.runtime.interpreter.core import ModuleCode, Run
from qrt.types import MemRefType

STEPS = 3000
CRASH = "crash:"
"""Begins the error of what is no error of the product."""
SEEN = "seen"
"""The name of the global that functions write what they are given to."""


@dataclass(frozen=True)
class Seen:
    """What is seen of a run. `error` is its message, and where: nothing else of such a run is compared."""

    values: tuple = ()
    printed: str = ""
    error: str = ""

    @property
    def is_endless(self) -> bool:
        return "does not end within max_steps, the limit of steps" in self.error

    @property
    def is_crash(self) -> bool:
        return self.error.startswith(CRASH)


class Code:
    """A module's functions, compiled once for many runs."""

    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self.code = ModuleCode(module, TABLES, saturating=False)

    def run(self, name: str, arguments: list) -> Seen:
        function = self.module.function(name)
        block = function.regions[0].blocks[0]
        given = [_copied(value, argument.type) for value, argument in zip(arguments, block.arguments, strict=True)]
        run, printed = Run(STEPS), io.StringIO()
        with np.errstate(all="ignore"), contextlib.redirect_stdout(printed):
            try:
                results = self.code.function(function).call(run, given)
            except QuantError as error:
                return Seen(error=str(error).splitlines()[0])
            except Exception as error:
                return Seen(error=f"{CRASH} {type(error).__name__}: {error}")
        return Seen(tuple(map(bits, (*results, *given, *self.globals(run)))), printed.getvalue())

    def globals(self, run: Run) -> list:
        """The memory of functions that are called, which one who calls them may ask for."""
        memory = {operation.attributes["sym_name"].python: array for operation, array in run.globals.items()}
        return [memory.get(SEEN, np.zeros((), np.int64))]


def _copied(value, type):
    """Return the argument as the run may write to it, with its strides; a memref on memory of its own."""
    if not isinstance(value, np.ndarray):
        return value
    if not isinstance(type, MemRefType):
        return value.copy().reshape(value.shape)
    if value.base is None or value.flags.c_contiguous:
        return on_memory(value.copy().reshape(value.shape))
    start = value.__array_interface__["data"][0] - value.base.__array_interface__["data"][0]
    span, at = span_below(on_memory(value.base.copy().reshape(-1)))
    return span.view(at + start // value.itemsize, value.shape, [stride // value.itemsize for stride in value.strides])


def bits(value):
    """(shape, the bytes), where all NaNs are one: which NaN it is, is not promised."""
    array = np.asarray(value)
    if array.dtype.kind not in "biu":
        with np.errstate(invalid="ignore"):  # NaNs that signal
            array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return array.shape, array.dtype.itemsize, np.ascontiguousarray(array).tobytes()
