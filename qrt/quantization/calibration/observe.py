"""Runs of a program over data, which record the values that `quant.stats_ref` operations name.

A value is recorded right after the step that computes it, so no value is kept in memory longer than in an ordinary run.
A *tap* is a function that receives named values during a run, and may replace them.
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
from qrt.runtime.module_source import ModuleSource
from qrt.runtime.program import Program
from qrt.types import FloatType


def observed_program(module: ir.Module, function: str | None = None) -> Program:
    """Compile a function so that ``run_arrays(..., tap=...)`` passes the value of each `quant.stats_ref` to the tap."""
    return Program(ModuleSource(module, function, is_observed=True))


def named_program(module: ir.Module, function: str | None) -> Program:
    """Compile a function as ``observed_program`` does; raise ModelError if it contains no `quant.stats_ref`."""
    program = observed_program(module, function)
    if not any(op.name == OBSERVED for op in module.operation.walk()):
        raise ModelError(
            f"{program.name} must have quant.stats_ref ops, which mark the values to observe, but has none: run "
            "the pass attach-stats-ref first"
        )
    return program


def calibrate_program(
    module: ir.Module, data: Data, function: str | None = None, *, skip_nonfinite: bool = False
) -> Calibration:
    """Run a program over data, and record the values that its ``quant.stats_ref`` operations name.

    Records are exact: neither the order of the data nor its split into batches changes them. Merging the records of
    parts of the data gives the same bytes as recording all of it. Memory does not grow with the data.

    Parameters
    ----------
    module : ir.Module
        The program, after the passes ``fuse-kernels`` and ``attach-stats-ref``. It is not changed.
    data : mapping or iterable
        Arrays by input name, or iterables of batches by input name, or an iterable of mappings from input names to
        batches. An array with more rows than the program's input is split along its first axis; if that dimension of
        the input is dynamic, into parts of 64 rows.
    function : str, optional
        The name of the function; by default ``main``, or the only function.
    skip_nonfinite : bool, default False
        True leaves NaNs and infinities out of the records and counts them; False raises an error for the first one.

    Returns
    -------
    Calibration
        An object with ``records`` by key, counts of ``skipped`` values by key, ``text`` (the file that
        ``propagate-quant`` reads), ``merge(other)`` and ``digest()``.

    Raises
    ------
    ModelError
        If the program has no ``quant.stats_ref``; if there is no data; if a batch is empty or differs from the
        program's inputs in name, shape or dtype; or if a value is NaN or infinite.
    QuantTypeError
        If an argument has the wrong type.

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
    """Yield a name for messages (``batch 1``) and the checked input arrays of each run of a program on data.

    Raises ModelError if there is no run, or if the arrays do not fit the program's inputs.
    """
    where = ""
    for where, batch in batches(program, data):
        try:
            arrays = program.arrays_of(batch)
        except ModelError as error:
            raise ModelError(f"{where}: {error}") from None
        yield where, arrays
    if not where:
        raise ModelError(f"'data' must have at least one batch for {program.name}, got none")


def sample_of(program: Program) -> Sample:
    """Return an empty sample for a program's inputs.

    It samples rows if the first dimension of every input is dynamic. Otherwise it samples the inputs of whole runs.
    """
    by_rows = all(port.type.shape and port.type.shape[0] is None for port in program.inputs)
    return Sample([port.name for port in program.inputs], by_rows=by_rows)


class ProgramObserver:
    """A compiled program whose runs add the values of its `quant.stats_ref` operations to calibration records."""

    def __init__(self, program: Program, *, skip_nonfinite: bool) -> None:
        require(skip_nonfinite, bool, "skip_nonfinite", "True or False")
        self.calibration = Calibration()
        self._program = program
        self._skip_nonfinite = skip_nonfinite
        self._where = ""

    def run(self, where: str, arrays: list[Array]) -> None:
        """Run on checked inputs, and record the program's named values. ``where`` names the batch in messages."""
        self._where = where
        if not self._skip_nonfinite:
            _check_inputs(self._program, arrays, where)
        self._program.run_arrays(arrays, tap=self._tap)

    def _tap(self, op: ir.Operation, value: Any) -> None:
        key = str(op.attributes["statsKey"].python)
        try:
            self.calibration.update(key, np.asarray(value), skip_nonfinite=self._skip_nonfinite)
        except QuantTypeError:
            message = f"{self._where}: {_described(op, key)} {_refused(value, _advice(self._program.module))}"
            raise ModelError(op.location.render(message)) from None


def _advice(module: ir.Module) -> str:
    """Return the end of an error message: the possible causes if a run on finite inputs computes a NaN or an infinity.

    The cause is the first constant that contains a NaN. If there is none, the causes are the data and, if one exists,
    the first constant that contains an infinity.
    """
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


def _refused(array: Array, cause: str = "the data") -> str:
    """Return a message about the first NaN or infinity of an array; an empty text if all values are finite.

    ``cause`` is what the message asks the user to correct.
    """
    finite = np.isfinite(array)
    if finite.all():
        return ""
    place = np.unravel_index(int(finite.argmin()), array.shape)
    where = f" at [{', '.join(map(str, place))}]" if place else ""
    return (
        f"must be finite, got {float(array[place])}{where}: fix {cause}, or leave such values out by "
        "skip_nonfinite=True (--skip-nonfinite)"
    )


_NAME = "statsKey"


def flattened(module: Module, name: str) -> Module:
    """Return a copy of a module without annotations or dead code, in which the calls in ``name`` are inlined."""
    with garbage_uncollected():
        copy = Module(module.operation.clone({}), module.upstream)
        for op in [op for op in acyclic_operations(copy.operation) if op.name in IDENTITIES]:
            replace(op, op.operands)
        Inline(entry=name, canonicalize=False, remove_unused=False).run(copy)
        DeadCodeElimination().run(copy)
    return copy


def tapped_program(module: Module, function: str, taps: Mapping[Value, str]) -> Program:
    """Compile a function so that ``run_arrays(..., tap=...)`` calls the tap with each value in ``taps``.

    The module is changed. The tap is called as ``tap(operation, value)``, where ``name_of(operation)`` is the name of
    the value in ``taps``. If the tap returns an array, the run continues with that array in place of the value. A
    quantized value is passed as its stored integers.

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
    """Return the name of a tapped value, given the operation with which ``tapped_program`` passes it to the tap."""
    return str(tap.attributes[_NAME].python)
