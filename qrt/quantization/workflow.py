"""The function that quantizes a float program with data, and its result (docs/quantization.md)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from os import PathLike, fspath

import qrt.ir as ir
from qrt.errors import Diagnostic, QuantTypeError, require, shown
from qrt.quantization.calibration.batches import Data
from qrt.quantization.calibration.observers import Calibration
from qrt.quantization.calibration.records import RECORD_METHODS, RecordMethod
from qrt.quantization.comparison.measure import Reference
from qrt.quantization.explain import report_of
from qrt.quantization.propagation.ranges import ranges_cached
from qrt.quantization.report import Report
from qrt.quantization.search import Budget, Metric, searched
from qrt.quantization.steps import check_full, named, quantized
from qrt.quantization.targets.model import Target
from qrt.quantization.targets.registry import known
from qrt.quantization.tuning.calibrate import Progress, calibrated, measurable
from qrt.quantization.tuning.function_scope import called, check_any, left_out, with_others
from qrt.quantization.tuning.optional_passes import Wanted, chosen, improved, with_corrected_bias
from qrt.runtime.compilation import compile
from qrt.runtime.functions import choose
from qrt.runtime.program import Program


@dataclass(frozen=True, eq=False)
class QuantizedProgram:
    """The result of ``quantize_program``.

    Attributes
    ----------
    module : ir.Module
        The quantized program, in ops of ``qrt``.
    program : Program
        ``module``, compiled.
    calibration : Calibration
        The calibration records, from which the types were chosen.
    remarks : tuple of Diagnostic
        The remarks of the passes, in order. They tell which operations stay float, which optional passes run, and why.
    reached : bool
        True if the program is within the budget, or no budget was given.
    budget_summary : str
        One line that compares the program with the budget; empty without a budget.
    report : Report
        The error of each region, and the operations that stay float; measured on the sample at the first access.

    Examples
    --------
    >>> import numpy as np
    >>> text = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { %0 = math.tanh %x : tensor<4xf32>  "
    >>> made = quantize_program(ir.parse(text + "return %0 : tensor<4xf32> }"), {"arg0": np.float32([-1, 0, 0.5, 1])})
    >>> [operation.name for operation in made.module.functions[0].regions[0].blocks[0]][0]
    'quant.qcast'
    """

    module: ir.Module
    program: Program
    calibration: Calibration
    remarks: tuple[Diagnostic, ...]
    reached: bool
    budget_summary: str
    _measure: Callable[[], Report] = field(repr=False)

    @cached_property
    def report(self) -> Report:
        """The error of each region, and the operations that stay float; measured on the sample at the first access."""
        return self._measure()


def quantize_program(
    module: ir.Module,
    data: Data,
    target: str | Target = "qrt-cpu",
    method: RecordMethod = "mse",
    *,
    budget: str | None = None,
    metric: Metric | None = None,
    checkpoint: str | PathLike[str] | None = None,
    function: str | None = None,
    skip_nonfinite: bool = False,
    passes: Wanted = "auto",
    require_full: bool = False,
    progress: Progress | None = None,
) -> QuantizedProgram:
    """Quantize a float program for a target, with ranges from data.

    This function runs the passes ``fuse-kernels`` and ``attach-stats-ref``, records the values while the program runs
    on the data, and then runs the passes ``propagate-quant`` (with the records), ``check-quant`` and ``export-quant``.
    Runs on a sample of the data choose the optional passes, and the bit widths if there is a budget. The same program
    and data give the same text on every machine, and for every split of the data into batches.

    Parameters
    ----------
    module : ir.Module
        A program of float operations; it may contain regions and annotations. It is not changed.
    data : mapping or iterable
        Arrays by input name, or iterables of batches by input name, or an iterable of mappings from input names to
        batches. An array with more rows than the program's input is split along its first axis; if that dimension of
        the input is dynamic, into parts of 64 rows.
    target : str or Target, default "qrt-cpu"
        The device: a name, a path that ends in ``.toml``, or a Target, which is registered under its name.
    method : str, default "mse"
        The method that chooses ranges: ``"minmax"``, ``"mse"``, ``"percentile"`` or ``"entropy"``.
    budget : str, optional
        The goal of a search for bit widths: ``"size=0.6"``, ``"snr=33"`` or ``"drop=0.005"``.
    metric : callable, optional
        Only with a budget: a function that takes a compiled Program and returns its score; larger is better.
    checkpoint : str or PathLike, optional
        A file that stores the state of the calibration, every ten seconds and at the end. A later call with the same
        program and data continues from it. The trials of a search are stored in a file beside it.
    function : str, optional
        The function to run on the data; by default ``main``, or the only function. Functions that it does not call are
        not changed.
    skip_nonfinite : bool, default False
        True leaves NaNs and infinities out of the records and counts them; False raises an error for the first one.
    passes : "auto" or sequence of str, default "auto"
        The optional passes: ``"auto"`` runs those of ``"fold-scales"``, ``"equalize-scales"`` and ``"correct-bias"``
        that reduce the error at the outputs; a sequence of names runs exactly these passes.
    require_full : bool, default False
        True raises an error if an operation stays float, or if an operand or result stays float although the target can
        quantize it.
    progress : callable, optional
        A callback ``progress(stage, done, total)``. ``stage`` is ``"calibrate"``, ``done`` is the number of finished
        runs, and ``total`` is the number of runs, or None if it is unknown.

    Returns
    -------
    QuantizedProgram
        An object with ``module``, ``program``, ``report``, ``calibration``, ``remarks``, ``reached`` and
        ``budget_summary``. If no program meets the budget, the result is the one nearest to it, and ``reached`` is
        False.

    Raises
    ------
    ModelError
        If nothing can be quantized; if the program is quantized already; if the data is empty or does not fit the
        inputs; if a value is NaN or infinite; if the metric raises an exception or returns no finite number; or if the
        checkpoint is incomplete or belongs to another program or other data.
    FileError
        If the checkpoint cannot be read or written.
    VerifyError
        If the program is invalid, or the target has no kernel for a region; with ``require_full``, also if something
        stays float, and ``diagnostics`` lists each place.
    QuantError
        If the target is unknown.
    QuantTypeError
        If an argument has the wrong type, or the budget cannot be parsed.

    Examples
    --------
    >>> import numpy as np
    >>> text = '''func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
    ...   %0 = math.tanh %x : tensor<?x4xf32>
    ...   return %0 : tensor<?x4xf32>
    ... }'''
    >>> made = quantize_program(ir.parse(text), {"arg0": np.float32([[-1, 0, 0.5, 1], [2, -2, 1, 0]])})
    >>> made.program(np.float32([[0, 1, -1, 0.25]])).tolist()
    [[0.0, 0.7590768337249756, -0.7590768337249756, 0.2504953444004059]]
    """
    require(function, (str, type(None)), "quantize_program: function", "a name")
    wanted = _checked(module, method, budget, metric, checkpoint, passes, skip_nonfinite, require_full, progress)
    device = known(target)
    part, others = called(module, function)
    name = str(choose(part, function).attributes["sym_name"].python)
    start = named(part, device)
    check_any(start, name, is_full=require_full)
    checkpoint_path = None if checkpoint is None else fspath(checkpoint)
    seen = calibrated(
        start.module, data, name, skip_nonfinite=skip_nonfinite, checkpoint=checkpoint_path, progress=progress
    )
    batches = measurable(compile(start.module, name), seen.sample) if skip_nonfinite else seen.sample.batches()
    reference = Reference(start, name, batches)
    with ranges_cached():  # passes and trials choose the ranges of most values again
        program, records = improved(start, device, seen.calibration.records, method, reference, passes)
        reached, summary = True, ""
        if wanted is None:
            trial = with_corrected_bias(quantized(program, device, records, method), device, reference, passes)
        else:
            journal = (
                None if checkpoint_path is None else f"{checkpoint_path}.{wanted.kind}={float(wanted.limit):g}.trials"
            )
            search = searched(program, device, records, method, reference, wanted, metric, journal, passes=passes)
            program, trial, reached, summary = search.named, search.trial, search.reached, search.summary
    if require_full:
        check_full(program, trial, device)
    remarks = (*left_out(others, name), *program.remarks, *trial.remarks)
    whole = with_others(trial.module, module, others)
    return QuantizedProgram(
        whole,
        compile(whole, name),
        seen.calibration,
        remarks,
        reached,
        summary,
        partial(report_of, program, trial, device, batches, name),
    )


def _checked(
    module: object,
    method: object,
    budget: str | None,
    metric: object,
    checkpoint: object,
    passes: Wanted,
    skip_nonfinite: object,
    require_full: object,
    progress: object,
) -> Budget | None:
    """Return the parsed budget, or None without one; raise QuantTypeError if an argument is invalid."""
    require(module, ir.Module, "quantize_program: module", "a Module")
    if not isinstance(method, str) or method not in RECORD_METHODS:
        raise QuantTypeError(f"method must be one of {', '.join(RECORD_METHODS)}, got {shown(method)}")
    require(checkpoint, (str, PathLike, type(None)), "quantize_program: checkpoint", "the name of a file")
    require(require_full, bool, "quantize_program: require_full", "True or False")
    require(skip_nonfinite, bool, "quantize_program: skip_nonfinite", "True or False")
    if progress is not None and not callable(progress):
        raise QuantTypeError(f"quantize_program: progress must be a function, got {shown(progress)}")
    chosen(passes)
    wanted = None if budget is None else Budget.parse(budget)
    if metric is not None and not callable(metric):
        raise QuantTypeError(f"quantize_program: metric must be a function of a program, got {shown(metric)}")
    if metric is not None and wanted is None:
        raise QuantTypeError("quantize_program: a metric goes with a budget: give budget='size=0.6' or 'drop=0.005'")
    return wanted
