"""One pass over the data: records of the values that a program computes, and a sample of its inputs."""

from dataclasses import dataclass

from qrt import ir
from qrt.calibrate.calibration import Calibration
from qrt.calibrate.sample import Sample
from qrt.execute.batches import Data
from qrt.execute.observe import Observer, observed_program, runs, sample_of


@dataclass(frozen=True, eq=False)
class Calibrated:
    """What a program has seen of its data. Neither part depends on the order of the data or on how they were split."""

    calibration: Calibration
    sample: Sample


def calibrated(module: ir.Module, data: Data, function: str | None, *, skip_nonfinite: bool) -> Calibrated:
    """Runs a program whose values are named once over the data, which may be read only once."""
    program = observed_program(module, function)
    observer, sample = Observer(program, skip_nonfinite=skip_nonfinite), sample_of(program)
    names = [port.name for port in program.inputs]
    for where, arrays in runs(program, data):
        observer.run(where, arrays)
        sample.update(dict(zip(names, arrays, strict=True)))
    return Calibrated(observer.calibration, sample)
