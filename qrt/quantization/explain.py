"""A report that measures how a quantized program differs from its float program (docs/reference/report.md)."""

import qrt.ir as ir
from qrt.errors import ModelError, require, shown
from qrt.ir import StringAttr
from qrt.ops.core import Array
from qrt.quantization.annotations.region_metadata import TARGET
from qrt.quantization.calibration.batches import Data
from qrt.quantization.calibration.observe import runs, sample_of
from qrt.quantization.comparison.comparison import Comparison, rows_of
from qrt.quantization.comparison.measure import Batches, Reference
from qrt.quantization.report.report import Report
from qrt.quantization.steps import NamedProgram, Trial, named
from qrt.quantization.targets.model import Target
from qrt.quantization.targets.registry import TARGETS, known
from qrt.quantization.tuning.calibrate import finite_parts
from qrt.quantization.tuning.function_scope import called
from qrt.quantization.tuning.optional_passes import changed_as
from qrt.runtime.functions import choose
from qrt.runtime.program import Program

MANY_REGIONS = 100
FEW_ROWS = 64
"""The most rows on which shares of the error are measured if a program has more than MANY_REGIONS regions."""


def explain_program(
    module: ir.Module,
    against: ir.Module,
    data: Data,
    *,
    function: str | None = None,
    target: str | Target | None = None,
    skip_nonfinite: bool = False,
) -> Report:
    """Run a quantized program and its float program on data, and report how their values differ.

    Each region of the program is one kernel. The error of its result is measured twice: with inputs from the float
    program, and in the quantized program, where the errors of earlier regions add up. Sums are exact, so neither the
    order of the data nor its split into batches changes the report. The share of each region in the error at the
    program's outputs is measured on a sample of at most 256 rows.

    Parameters
    ----------
    module : ir.Module
        The quantized program, as ``quantize_program`` and ``qrt quantize`` write it. It is not changed.
    against : ir.Module
        The float program that the quantized program was made from. It is not changed.
    data : mapping or iterable
        The data for both programs, in the form that ``quantize_program`` takes.
    function : str, optional
        The function to run; by default ``main``, or the only function.
    target : str or Target, optional
        The device, if it differs from the one that the quantized program names: a name, a path that ends in
        ``.toml``, or a Target, which is registered under its name.
    skip_nonfinite : bool, default False
        True leaves out and counts the rows for which an output of the float program is NaN or infinite; False raises an
        error for the first one.

    Returns
    -------
    Report
        A mapping from the keys of regions, such as ``f/lookup.0``, to their reports, sorted by error at the program's
        outputs, largest first. The part of a key after the ``/`` is enough if it is unique.

    Raises
    ------
    ModelError
        If the quantized program has no keys (``quant.key``), or none in common with the float program; if the inputs or
        outputs of the two programs differ; if the data is empty or does not fit the inputs; or if an output of the
        float program is NaN or infinite.
    VerifyError
        If a program is invalid.
    QuantError
        If the target is unknown.
    QuantTypeError
        If an argument has the wrong type.

    Examples
    --------
    >>> import numpy as np
    >>> text = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { %0 = math.tanh %x : tensor<4xf32>  "
    >>> module, data = ir.parse(text + "return %0 : tensor<4xf32> }"), {"arg0": np.float32([-1, 0, 0.5, 1])}
    >>> from qrt.quantization.workflow import quantize_program
    >>> report = explain_program(quantize_program(module, data).module, module, data)
    >>> report["lookup.0"].kernel, report["lookup.0"].error_share
    ('lookup', 1.0)
    """
    require(module, ir.Module, "explain_program: module", "a Module")
    require(against, ir.Module, "explain_program: against", "a Module")
    require(function, (str, type(None)), "explain_program: function", "a name")
    require(skip_nonfinite, bool, "explain_program: skip_nonfinite", "True or False")
    device = _device(module, target)
    name = str(choose(module, function).attributes["sym_name"].python)
    live = called(against, name)[0]
    comparison = Comparison(changed_as(named(live, device), device, module), module, name)
    program = comparison.float_program
    sample = sample_of(program)
    for where, arrays in runs(program, data):
        batch = dict(zip((port.name for port in program.inputs), arrays, strict=True))
        parts = finite_parts(program, batch, by_rows=sample.by_rows) if skip_nonfinite else [batch]
        for part in parts:
            comparison.add(where, list(part.values()))
            sample.update(part)
        comparison.skipped += rows_of(batch, program) - sum(rows_of(part, program) for part in parts)
    if not comparison.rows:
        raise ModelError(
            f"no row can be compared, because an output of {shown(program.name)} is NaN or infinite for each of them"
        )
    return _reported(comparison, device, sample.batches())


def report_of(
    program: NamedProgram, trial: Trial, target: Target, batches: Batches, function: str | None = None
) -> Report:
    """Run a float program and its quantized program on a sample, and return the report of their differences."""
    comparison = Comparison(program, trial.module, function)
    for number, batch in enumerate(batches, 1):
        comparison.add(f"run {number} of the sample", comparison.float_program.arrays_of(batch))
    return _reported(comparison, target, batches)


def _reported(comparison: Comparison, target: Target, batches: Batches) -> Report:
    """Return the report of a finished comparison, with each region's share of the error at the program's outputs.

    The shares are measured on ``batches``, or only on their first FEW_ROWS rows if the program has more than
    MANY_REGIONS regions.
    """
    program = comparison.float_program
    sample = _few(batches, program) if len(comparison.parts) > MANY_REGIONS else batches
    reference = Reference(comparison.named, program.name, sample)
    sampled = sum(rows_of(batch, program) for batch in sample)
    return comparison.report(target, comparison.errors(reference), sampled)


def _few(batches: Batches, program: Program) -> Batches:
    """Return the first batches, which have at most FEW_ROWS rows together; at least one batch."""
    few: list[dict[str, Array]] = []
    rows = 0
    for batch in batches:
        rows += rows_of(batch, program)
        if few and rows > FEW_ROWS:
            break
        few.append(batch)
    return few


def _device(module: ir.Module, target: str | Target | None) -> Target:
    """Return the given target; for None, the one that the module's attribute ``quant.target`` names."""
    if target is not None:
        return known(target)
    target_name = module.operation.attributes.get(TARGET)
    if not isinstance(target_name, StringAttr):
        message = (
            "the target is unknown, because the file has no quant.target (only programs that `qrt quantize -o "
            "Q.mlir` writes have it): "
        )
        message += "give Q.mlir, or the target (--target)"
        raise ModelError(f"{module.operation.location.filename}: {message}")
    if target_name.value not in TARGETS:
        message = (
            f"the program was made for {shown(target_name.value)}, which is not a registered target: "
            "give its file (--target)"
        )
        raise ModelError(f"{module.operation.location.filename}: {message}")
    return known(target_name.value)
