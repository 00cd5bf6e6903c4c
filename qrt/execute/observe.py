"""Runs a program over data and keeps records of the values that `quant.stats_ref` names. A value is summed up right
after the step that makes it, and stays no longer than without.
"""

from functools import cached_property
from typing import Any

import numpy as np

from qrt import ir
from qrt.calibrate.calibration import Calibration
from qrt.errors import ModelError, QuantTypeError, require, shown
from qrt.execute.batches import Batch, Data, batches
from qrt.execute.interpret.core import Tap
from qrt.execute.prepare import OBSERVED, prepared
from qrt.execute.program import Program
from qrt.ops.core import Array
from qrt.types import FloatType


class ObservedProgram(Program):
    """A program whose plans tell the values that `quant.stats_ref` names."""

    def checked(self, inputs: Batch) -> list[Array]:
        """The inputs as the program takes them. ModelError names one that does not fit."""
        return self._incoming(self._in_order(inputs))

    def run_observed(self, arrays: list[Array], tap: Tap) -> None:
        """Runs on checked inputs, and gives ``tap`` each named value with its op."""
        self._plan(self._types(arrays)).run(arrays, tap=tap)

    @cached_property
    def _prepared(self) -> ir.Module:
        return prepared(self._module, self.name, self._saturating, observed=True)


def calibrate_program(
    module: ir.Module, data: Data, function: str | None = None, *, skip_nonfinite: bool = False
) -> Calibration:
    """Runs a program over data, and keeps records of the values that its ``quant.stats_ref`` name.

    Records are exact: the data may be split into any batches and come in any order. The records of its parts are
    merged into the same bytes. Memory does not grow with the data.

    Parameters
    ----------
    module : ir.Module
        The program, after the passes ``fuse-kernels`` and ``attach-stats-ref``. It is not changed.
    data : mapping or iterable
        Arrays by the names of inputs, or iterables of batches by these names, or an iterable of mappings of names to
        batches. An array of more rows than the program takes runs in parts along its first axis, 64 at a time where
        the program leaves their number open.
    function : str, optional
        The name of the function; ``main``, or the only one, if not given.
    skip_nonfinite : bool, default False
        True leaves NaNs and infinities out of the records and counts them; False makes the first an error.

    Returns
    -------
    Calibration
        It has ``records`` by key, ``skipped`` counts by key, ``text``, which is the file that ``propagate-quant``
        reads, ``merge(other)`` and ``digest()``.

    Raises
    ------
    ModelError
        If the program names no value, there is no data, a batch is empty or has another name, shape or dtype than the
        program's, or a value is a NaN or infinite.
    QuantTypeError
        If an argument is of another type.

    Examples
    --------
    >>> import numpy as np
    >>> text = '''func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
    ...   %0 = "quant.stats_ref"(%x) {statsKey = "x"} : (tensor<?xf32>) -> tensor<?xf32>
    ...   return %0 : tensor<?xf32>
    ... }'''
    >>> found = calibrate_program(ir.parse(text), {"arg0": [np.float32([1, 2]), np.float32([-3])]})
    >>> found.records["x"].count, found.records["x"].low
    (3, -3.0)
    """
    require(skip_nonfinite, bool, "skip_nonfinite", "True or False")
    program = ObservedProgram(module, function)
    if not any(op.name == OBSERVED for op in module.operation.walk()):
        raise ModelError(f"{program.name} names no value to be observed: run the pass attach-stats-ref first")
    found, where = Calibration(), ""

    def tap(op: ir.Operation, value: Any) -> None:
        key = str(op.attributes["statsKey"].python)
        try:
            found.update(key, np.asarray(value), skip_nonfinite=skip_nonfinite)
        except QuantTypeError:
            raise ModelError(op.location.render(f"{where}: {_described(op, key)} {_refused(value)}")) from None

    for where, batch in batches(program, data):
        try:
            arrays = program.checked(batch)
        except ModelError as error:
            raise ModelError(f"{where}: {error}") from None
        if not skip_nonfinite:
            _check_inputs(program, arrays, where)
        program.run_observed(arrays, tap)
    if not where:
        raise ModelError(f"no data: {program.name} needs at least one batch")
    return found


def _check_inputs(program: Program, arrays: list[Array], where: str) -> None:
    for port, array in zip(program.inputs, arrays, strict=True):
        if isinstance(port.type.element, FloatType):
            problem = _refused(array)
            if problem:
                raise ModelError(f"{where}: input {port.name!r} {problem}")


def _described(op: ir.Operation, key: str) -> str:
    source = op.operands[0].operation
    return f"the value {shown(key)} of {'an argument' if source is None else repr(source.name)}"


def _refused(array: Array) -> str:
    """What is wrong with an array that is not finite."""
    finite = np.isfinite(array)
    if finite.all():
        return ""
    place = np.unravel_index(int(finite.argmin()), array.shape)
    where = f" at [{', '.join(map(str, place))}]" if place else ""
    return f"is {float(array[place])}{where}: mend the data, or leave such values out by skip_nonfinite"
