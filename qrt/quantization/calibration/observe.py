"""Runs a program over data and keeps records of the values that `quant.stats_ref` names. A value is summed up right
after the step that makes it, and stays no longer than without. Programs tell values while they run, and go on with
others where they are told so.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import qrt.ir as ir
from qrt.errors import ModelError, QuantTypeError, require, shown
from qrt.ir import Builder, Module, Operation, StringAttr, UnitAttr, Value
from qrt.ir.constants import constant_array
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import acyclic_operations
from qrt.ir.core.operations import garbage_uncollected
from qrt.ir.dialects.quant.annotations import IDENTITIES
from qrt.ir.passes.dce import DeadCodeElimination
from qrt.ir.passes.inline import Inline
from qrt.ir.passes.planned import OBSERVED, REPLACED
from qrt.ir.rewriting.rewrite import replace
from qrt.ops.core import Array
from qrt.quantization.calibration.batches import Data, batches
from qrt.quantization.calibration.observers import Calibration
from qrt.quantization.calibration.sample import Sample
from qrt.runtime.plan_source import ModuleSource
from qrt.runtime.program import Program
from qrt.types import FloatType


def observed_program(module: ir.Module, function: str | None = None) -> Program:
    """Plan a function so that a run tells the values that `quant.stats_ref` names."""
    return Program(ModuleSource(module, function, is_observed=True))


def named_program(module: ir.Module, function: str | None) -> Program:
    """Plan a function as `observed_program` does. Raise ModelError where it names no value."""
    program = observed_program(module, function)
    if not any(op.name == OBSERVED for op in module.operation.walk()):
        raise ModelError(
            f"{program.name} has no quant.stats_ref, so that no value is observed: run the pass attach-stats-ref first"
        )
    return program


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
    program = named_program(module, function)
    observer = ProgramObserver(program, skip_nonfinite=skip_nonfinite)
    for where, arrays in runs(program, data):
        observer.run(where, arrays)
    return observer.calibration


def runs(program: Program, data: Data) -> Iterator[tuple[str, list[Array]]]:
    """The inputs of each run, checked, with the name of their batch. ModelError if there is none."""
    where = ""
    for where, batch in batches(program, data):
        try:
            arrays = program.arrays_of(batch)
        except ModelError as error:
            raise ModelError(f"{where}: {error}") from None
        yield where, arrays
    if not where:
        raise ModelError(f"no data: {program.name} needs at least one batch")


def sample_of(program: Program) -> Sample:
    """An empty sample of a program's data: by rows where the program leaves their number open in every input."""
    by_rows = all(port.type.shape and port.type.shape[0] is None for port in program.inputs)
    return Sample([port.name for port in program.inputs], by_rows=by_rows)


class ProgramObserver:
    """Runs a program, and keeps records of the values that it names."""

    def __init__(self, program: Program, *, skip_nonfinite: bool) -> None:
        require(skip_nonfinite, bool, "skip_nonfinite", "True or False")
        self.calibration = Calibration()
        self._program = program
        self._skip_nonfinite = skip_nonfinite
        self._where = ""

    def run(self, where: str, arrays: list[Array]) -> None:
        """Runs on checked inputs, and adds what is seen. ``where`` names their batch in messages."""
        self._where = where
        if not self._skip_nonfinite:
            _check_inputs(self._program, arrays, where)
        self._program.run_arrays(arrays, tap=self._tap)

    def _tap(self, op: ir.Operation, value: Any) -> None:
        key = str(op.attributes["statsKey"].python)
        try:
            self.calibration.update(key, np.asarray(value), skip_nonfinite=self._skip_nonfinite)
        except QuantTypeError:
            message = f"{self._where}: {_described(op, key)} {_refused(value, _what_to_mend(self._program.module))}"
            raise ModelError(op.location.render(message)) from None


def _what_to_mend(module: ir.Module) -> str:
    """Name what is to be mended where finite data give a value that is not: a constant with a NaN, else the data, and a
    constant with an infinity, which may be meant."""
    infinite = ""
    for op in module.operation.walk():
        if op.name == "arith.constant" and isinstance(element_of(op.results[0].type), FloatType):
            array = constant_array(op).astype(np.float64)
            places = np.argwhere(np.isnan(array) if np.isnan(array).any() else np.isinf(array))
            if not len(places):
                continue
            value, where = array[tuple(places[0])], f" at [{', '.join(map(str, places[0]))}]" if array.ndim else ""
            constant = f"the constant at {op.location}, which is {value}{where}"
            if np.isnan(value):
                return constant
            infinite = infinite or f", or {constant}"
    return f"the data{infinite}"


def _check_inputs(program: Program, arrays: list[Array], where: str) -> None:
    for port, array in zip(program.inputs, arrays, strict=True):
        if isinstance(port.type.element, FloatType):
            problem = _refused(array)
            if problem:
                raise ModelError(f"{where}: input {port.name!r} {problem}")


def _described(op: ir.Operation, key: str) -> str:
    source = op.operands[0].operation
    return f"the value {shown(key)} of {'an argument' if source is None else repr(source.name)}"


def _refused(array: Array, mend: str = "the data") -> str:
    """What is wrong with an array that is not finite."""
    finite = np.isfinite(array)
    if finite.all():
        return ""
    place = np.unravel_index(int(finite.argmin()), array.shape)
    where = f" at [{', '.join(map(str, place))}]" if place else ""
    return (
        f"is {float(array[place])}{where}: fix {mend}, or leave such values out: skip_nonfinite=True, --skip-nonfinite"
    )


_NAME = "statsKey"


def flattened(module: Module, name: str) -> Module:
    """A copy without annotations, with the bodies of functions in place of calls in the function of that name, and
    without what nothing reads."""
    with garbage_uncollected():
        copy = Module(module.operation.clone({}), module.upstream)
        for op in [op for op in acyclic_operations(copy.operation) if op.name in IDENTITIES]:
            replace(op, op.operands)
        Inline(entry=name, canonicalize=False, remove_unused=False).run(copy)
        DeadCodeElimination().run(copy)
    return copy


def tapped_program(module: Module, function: str, taps: Mapping[Value, str]) -> Program:
    """Plan a function so that ``run_arrays`` tells values by names. The module is changed.

    The tap is given each value with an op, of which ``name_of`` is the name. The run goes on with what it returns, if
    that is not None. Quantized values are given as they are stored.

    >>> import numpy as np
    >>> from qrt import ir
    >>> module = ir.parse("func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> { return %x : tensor<1xf32> }")
    >>> argument = module.functions[0].regions[0].blocks[0].arguments[0]
    >>> program = tapped_program(module, "f", {argument: "x"})
    >>> program.run_arrays(program.arrays_of({"arg0": np.float32([1])}), tap=lambda op, value: value + 1)
    [array([2.], dtype=float32)]
    """
    source = ModuleSource(module, function, is_observed=True)
    for value, name in taps.items():
        attributes = {_NAME: StringAttr(name), REPLACED: UnitAttr()}
        tap = Builder.after(value).emit(OBSERVED, (value,), (value.type,), attributes)
        value.replace_all_uses(tap.results[0])
        tap.set_operand(0, value)
    return Program(source)


def name_of(tap: Operation) -> str:
    """The name of the value that a tap tells."""
    return str(tap.attributes[_NAME].python)
