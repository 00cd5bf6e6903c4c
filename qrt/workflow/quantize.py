"""From a float program and data to a quantized program (docs/reference/records.md)."""

from dataclasses import dataclass
from os import PathLike, fspath

from qrt import ir
from qrt.calibrate.calibration import Calibration
from qrt.calibrate.records import RECORD_METHODS, RecordMethod
from qrt.calibrate.targets.model import Target
from qrt.calibrate.targets.registry import find, names, register_target
from qrt.errors import Diagnostic, QuantTypeError, require, shown
from qrt.execute.batches import Data
from qrt.execute.program import Program
from qrt.workflow.calibrate import Progress, calibrated
from qrt.workflow.trial import check_full, named, quantized


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
        What the passes said, in order: what stays float, and why.

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


def quantize_program(
    module: ir.Module,
    data: Data,
    target: str | Target = "qrt-cpu",
    method: RecordMethod = "mse",
    *,
    checkpoint: str | PathLike[str] | None = None,
    function: str | None = None,
    skip_nonfinite: bool = False,
    require_full: bool = False,
    progress: Progress | None = None,
) -> QuantizedProgram:
    """Quantizes a float program for a target, with ranges from data.

    It runs the passes ``fuse-kernels`` and ``attach-stats-ref``, keeps records of the values while the program runs on
    the data, and then runs ``propagate-quant`` with the records, ``check-quant`` and ``export-quant``. The same program
    and data give the same text, on every machine, however the data is split.

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
    checkpoint : str or PathLike, optional
        A file in which what has been seen of the data is kept every ten seconds and at the end. A later call with the
        same program and data goes on from it.
    function : str, optional
        The function that runs on the data; ``main``, or the only one, if not given.
    skip_nonfinite : bool, default False
        True leaves NaNs and infinities out of the records and counts them; False makes the first an error.
    require_full : bool, default False
        True makes it an error that an operation on floats, or a port that the target can quantize, stays float.
    progress : callable, optional
        It is called as ``progress(stage, done, total)``, where ``stage`` is ``"calibrate"``, ``done`` counts runs of
        the program, and ``total`` is None where it is not known.

    Returns
    -------
    QuantizedProgram
        It has ``module``, ``program``, ``calibration`` and ``remarks``.

    Raises
    ------
    ModelError
        If no value needs a type, the data is empty or does not fit, a value is a NaN or infinite, or the checkpoint
        is no whole one, or of another program or other data.
    FileError
        If the checkpoint cannot be read or written.
    VerifyError
        If the program breaks a rule, the target has no kernel for a region, or with ``require_full``, if something
        stays float: ``diagnostics`` names each.
    QuantError
        If there is no such target.
    QuantTypeError
        If an argument is of another type.

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
    require(module, ir.Module, "quantize_program: module", "a Module")
    if not isinstance(method, str) or method not in RECORD_METHODS:
        raise QuantTypeError(f"method must be one of {', '.join(RECORD_METHODS)}, got {shown(method)}")
    require(checkpoint, (str, PathLike, type(None)), "quantize_program: checkpoint", "the name of a file")
    require(require_full, bool, "quantize_program: require_full", "True or False")
    device = _known(target)
    program = named(module, device)
    seen = calibrated(
        program.module,
        data,
        function,
        skip_nonfinite=skip_nonfinite,
        checkpoint=None if checkpoint is None else fspath(checkpoint),
        progress=progress,
    )
    trial = quantized(program, device, seen.calibration.records, method)
    if require_full:
        check_full(program, trial, device)
    remarks = (*program.remarks, *trial.remarks)
    return QuantizedProgram(trial.module, Program(trial.module, function), seen.calibration, remarks)


def _known(target: str | Target) -> Target:
    """A target that passes find by its name."""
    if isinstance(target, str):
        target = find(target)
    require(target, Target, "quantize_program: target", "a name or a Target")
    if target.name not in names() or find(target.name) is not target:
        register_target(target)
    return target
