"""From a float program and data to a quantized program (docs/quantization.md)."""

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
from qrt.quantization.propagation.ranges import ranges_kept
from qrt.quantization.report import Report
from qrt.quantization.search import Budget, Metric, searched
from qrt.quantization.steps import check_full, named, quantized
from qrt.quantization.targets.model import Target
from qrt.quantization.targets.registry import known
from qrt.quantization.tuning.calibrate import Progress, calibrated, measurable
from qrt.quantization.tuning.function_scope import called, check_any, left_out, with_others
from qrt.quantization.tuning.optional_passes import Wanted, chosen, improved, with_corrected_bias
from qrt.runtime.ports import choose
from qrt.runtime.program import Program


@dataclass(frozen=True, eq=False)
class QuantizedProgram:
    """What ``quantize_program`` made.

    Attributes
    ----------
    module : ir.Module
        The quantized program, in ops of ``qrt``.
    program : Program
        The same, compiled.
    calibration : Calibration
        The records of the values that the types were chosen from.
    remarks : tuple of Diagnostic
        What the passes said, in order: what stays float, which optional passes are on, and why.
    reached : bool
        Whether the program is within the budget; True where none was given.
    said : str
        One line that says what was reached; empty where no budget was given.
    report : Report
        What each region lost, and what stays float. It is measured on the sample when it is first asked for.

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
    said: str
    _measure: Callable[[], Report] = field(repr=False)

    @cached_property
    def report(self) -> Report:
        """What each region lost, and what stays float. It is measured on the sample when it is first asked for."""
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
    """Quantizes a float program for a target, with ranges from data.

    It runs the passes ``fuse-kernels`` and ``attach-stats-ref``, keeps records of the values while the program runs on
    the data, and then runs ``propagate-quant`` with the records, ``check-quant`` and ``export-quant``. Which optional
    passes run and which widths a budget gives is decided by runs on a sample of the data. The same program and data
    give the same text, on every machine, however the data is split.

    Parameters
    ----------
    module : ir.Module
        A program of ops on floats, in which regions and annotations may stand. It is not changed.
    data : mapping or iterable
        Arrays by the names of inputs, or iterables of batches by these names, or an iterable of mappings of names to
        batches. An array of more rows than the program takes runs in parts along its first axis, 64 at a time where
        the program leaves their number open.
    target : str or Target, default "qrt-cpu"
        The device: a name, a path that ends in ``.toml``, or a Target, which is registered by its name.
    method : str, default "mse"
        How ranges are chosen: ``"minmax"``, ``"mse"``, ``"percentile"`` or ``"entropy"``.
    budget : str, optional
        It makes bit widths be searched: ``"size=0.6"``, ``"snr=33"`` or ``"drop=0.005"``.
    metric : callable, optional
        With a budget: a function of a compiled Program that says how good it is, larger for better.
    checkpoint : str or PathLike, optional
        A file in which what has been seen of the data is kept, every ten seconds and at the end. A later call with the
        same program and data goes on from it. The trials of a search are kept beside it.
    function : str, optional
        The function that runs on the data; ``main``, or the only one, if not given. Functions that it does not call
        are left as they are.
    skip_nonfinite : bool, default False
        True leaves NaNs and infinities out of the records and counts them; False makes the first an error.
    passes : "auto" or sequence of str, default "auto"
        The optional passes: ``"auto"`` runs each of ``"fold-scales"``, ``"equalize-scales"`` and ``"correct-bias"``
        that makes the error at the outputs less; names run these and no others.
    require_full : bool, default False
        True makes it an error that an operation on floats, or a port that the target can quantize, stays float.
    progress : callable, optional
        It is called as ``progress(stage, done, total)``, where ``stage`` is ``"calibrate"``, ``done`` counts runs of
        the program, and ``total`` is None where it is not known.

    Returns
    -------
    QuantizedProgram
        It has ``module``, ``program``, ``report``, ``calibration``, ``remarks``, ``reached`` and ``said``. If the
        budget is out of reach, it is the nearest program that was found, and ``reached`` is False.

    Raises
    ------
    ModelError
        If nothing can be quantized, or the program is quantized already, the data is empty or does not fit, a value is
        a NaN or infinite, the metric raises or returns no finite number, or the checkpoint is no whole one, or of
        another program or other data.
    FileError
        If the checkpoint cannot be read or written.
    VerifyError
        If the program breaks a rule, the target has no kernel for a region, or with ``require_full``, if something
        stays float: ``diagnostics`` names each.
    QuantError
        If there is no such target.
    QuantTypeError
        If an argument is of another type, or the budget is none.

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
    kept = None if checkpoint is None else fspath(checkpoint)
    seen = calibrated(start.module, data, name, skip_nonfinite=skip_nonfinite, checkpoint=kept, progress=progress)
    batches = measurable(Program(start.module, name), seen.sample) if skip_nonfinite else seen.sample.batches()
    reference = Reference(start, name, batches)
    with ranges_kept():  # passes and trials choose the ranges of most values again
        program, records = improved(start, device, seen.calibration.records, method, reference, passes)
        reached, said = True, ""
        if wanted is None:
            trial = with_corrected_bias(quantized(program, device, records, method), device, reference, passes)
        else:
            journal = None if kept is None else f"{kept}.{wanted.kind}={float(wanted.limit):g}.trials"
            found = searched(program, device, records, method, reference, wanted, metric, journal, passes=passes)
            program, trial, reached, said = found.named, found.trial, found.reached, found.said
    if require_full:
        check_full(program, trial, device)
    remarks = (*left_out(others, name), *program.remarks, *trial.remarks)
    whole = with_others(trial.module, module, others)
    return QuantizedProgram(
        whole,
        Program(whole, name),
        seen.calibration,
        remarks,
        reached,
        said,
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
    """The budget, when all arguments are what they must be: before anything runs."""
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
