"""The calibration run over the data, which records the values of a program and samples its inputs."""

from collections.abc import Callable
from hashlib import sha256

import numpy as np

import qrt.ir as ir
from qrt.errors import ModelError, shown
from qrt.ops.core import Array
from qrt.quantization.calibration.batches import Data, run_count
from qrt.quantization.calibration.observe import ProgramObserver, named_program, runs, sample_of
from qrt.quantization.calibration.sample import Sample
from qrt.quantization.comparison.measure import as_float64
from qrt.quantization.tuning.checkpoint import CalibrationProgress, Checkpoint, followed
from qrt.runtime.program import Program

Batch = dict[str, Array]
Progress = Callable[[str, int, int | None], None]
"""A callback that gets the stage, the number of finished steps, and the number of all steps if it is known."""


def calibrated(
    module: ir.Module,
    data: Data,
    function: str | None,
    *,
    skip_nonfinite: bool,
    checkpoint: str | None = None,
    progress: Progress | None = None,
) -> CalibrationProgress:
    """Run a program over the data, and return the records of its values and a sample of its inputs.

    The data is read only once. Neither the records nor the sample depend on the order of the data or on its split into
    batches. With a ``checkpoint``, the calibration continues from the state in that file. Earlier runs are not
    repeated, but their data is compared with a digest in the file.
    """
    program = named_program(module, function)
    observer = ProgramObserver(program, skip_nonfinite=skip_nonfinite)
    names = [port.name for port in program.inputs]
    seen = CalibrationProgress(observer.calibration, sample_of(program))
    file = None
    if checkpoint is not None:
        file = Checkpoint(checkpoint, _digest(module, program.name, skip_nonfinite))
        file.read(seen)
    total, earlier, data_so_far = run_count(program, data), seen.runs, ""
    for number, (where, arrays) in enumerate(runs(program, data), 1):
        inputs = dict(zip(names, arrays, strict=True))
        if number <= earlier:
            data_so_far = followed(data_so_far, inputs)
            if number == earlier and data_so_far != seen.data:
                raise ModelError(
                    f"{checkpoint}: this checkpoint was written after {earlier} runs on other data, "
                    "or in another order: give the same data, or the name of another file"
                )
        else:
            observer.run(where, arrays)
            seen.sample.update(inputs)
            if file is not None:
                seen.follow(inputs)
                file.write_sometimes(seen)
        if progress is not None:
            progress("calibrate", number, total)
    if number < earlier:
        raise ModelError(f"{checkpoint}: this checkpoint was written after {earlier} runs, but the data has {number}")
    for key, summary in sorted(seen.calibration.summaries.items()):
        if summary.nonfinite and not summary.count:
            message = f"all {summary.nonfinite:,} values of {shown(key)} are NaN or infinite"
            raise ModelError(f"{message}, so that no range can be chosen")
    if file is not None and number > earlier:
        file.write(seen)
    return seen


def _digest(module: ir.Module, function: str, skip_nonfinite: bool) -> str:
    return sha256(f"{function} {skip_nonfinite} {module}".encode()).hexdigest()


def measurable(program: Program, sample: Sample) -> list[Batch]:
    """Return the batches of a sample for which all outputs of a program are finite.

    Other batches are split into rows if the rows are independent, and the rows with finite outputs are returned as
    batches.
    """
    return [part for batch in sample.batches() for part in finite_parts(program, batch, by_rows=sample.by_rows)]


def finite_parts(program: Program, batch: Batch, *, by_rows: bool) -> list[Batch]:
    """Return the rows of a batch for which all outputs are finite: the batch itself, or batches of one row.

    With ``by_rows`` False, a batch with a NaN or an infinity in the outputs is left out as a whole.
    """
    if _has_finite_outputs(program, batch):
        return [batch]
    if not by_rows or len(counts := {len(array) for array in batch.values()}) != 1:
        return []
    rows = [{name: array[i : i + 1] for name, array in batch.items()} for i in range(counts.pop())]
    return [row for row in rows if _has_finite_outputs(program, row)]


def _has_finite_outputs(program: Program, batch: Batch) -> bool:
    return all(np.isfinite(as_float64(value)).all() for value in program.run(batch).values())
