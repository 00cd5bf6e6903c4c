"""Checkpoints of a calibration: files from which a later run continues (docs/reference/calibration.md)."""

import json
from dataclasses import dataclass, field
from hashlib import sha256
from os import path
from time import monotonic
from typing import Any

import numpy as np

from qrt.errors import FileError, ModelError, QuantError
from qrt.files import reason, write_files
from qrt.quantization.calibration.observers import Calibration, Summary
from qrt.quantization.calibration.records import read_records
from qrt.quantization.calibration.sample import Sample
from qrt.tensor import npz
from qrt.tensor.file_entries import as_entry, from_entry

SECONDS = 10.0
"""The least time between checkpoints in seconds; _SHARE times the duration of a write must have passed, too."""
_SHARE = 20
_VERSION = 1
_STATE = "qrt.checkpoint"
Arrays = dict[str, np.ndarray[Any, Any]]


@dataclass(eq=False)
class CalibrationProgress:
    """The state of a calibration: records, a sample of inputs, the number of ``runs``, and a digest of all inputs."""

    calibration: Calibration
    sample: Sample
    runs: int = 0
    data: str = ""

    def follow(self, arrays: Arrays) -> None:
        """Count one more run, and add its inputs to the digest."""
        self.runs += 1
        self.data = followed(self.data, arrays)


def followed(data: str, arrays: Arrays) -> str:
    """Return the digest of all inputs so far, given the digest ``data`` of earlier runs and the next inputs."""
    hasher = sha256(data.encode())
    for name, array in arrays.items():
        hasher.update(f"{name} {array.dtype.name} {array.shape} ".encode())
        hasher.update(array.tobytes())
    return hasher.hexdigest()


@dataclass(eq=False)
class Checkpoint:
    """A checkpoint file at ``path``; ``program`` is the digest of the calibrated program and its options."""

    path: str
    program: str
    _written: float = field(default_factory=monotonic)
    _cost: float = 0.0

    def read(self, seen: CalibrationProgress) -> None:
        """Restore the state in the file into ``seen``, which must be empty. Do nothing if there is no file.

        Raises ModelError for a file that is not a checkpoint, is damaged, or belongs to another program.
        """
        if not path.lexists(self.path):
            if not path.isdir(path.dirname(self.path) or "."):  # else writing it would fail after the first runs
                raise FileError(f"{self.path}: the folder does not exist")
            return
        try:
            entries = npz.read(self.path, mapped=False, max_bytes=None)
        except FileError:
            raise
        except OSError as error:
            raise FileError(f"{self.path}: {reason(error)}") from None
        except ModelError as error:
            raise self._unreadable(str(error).removeprefix(f"{self.path}: ")) from None
        try:
            arrays = {name: np.asarray(from_entry(name, entry)) for name, entry in entries.items()}
            state = json.loads(arrays.pop(_STATE).tobytes())
            version, program = state["version"], state["program"]
        except (KeyError, TypeError, ValueError, AttributeError, QuantError):
            raise self._unreadable("it does not contain the state of a calibration") from None
        if version != _VERSION:
            raise self._unreadable(f"it has version {version}, but this version of qrt reads version {_VERSION}")
        if program != self.program:
            raise ModelError(
                f"{self.path}: this checkpoint was written for another program, target or option: "
                "give the same, or the name of another file"
            )
        try:
            self._restore(seen, state, arrays)
        except (KeyError, TypeError, ValueError, AttributeError, QuantError) as error:
            raise self._unreadable(reason(error)) from None

    def _restore(self, seen: CalibrationProgress, state: Any, arrays: Arrays) -> None:
        records = read_records(state["records"], self.path) if state["records"] else {}
        for key in sorted({*records, *state["skipped"]}):
            seen.calibration.summaries[key] = Summary.of(records.get(key), state["skipped"].get(key, 0))
        for number in range(state["samples"]):
            names = enumerate(seen.sample.names)
            seen.sample.update({name: arrays[f"{number}.{place}"] for place, name in names})
        seen.runs, seen.data = int(state["runs"]), str(state["data"])
        if self._digest(seen) != state["digest"]:
            raise ModelError("its records were changed")

    def write(self, seen: CalibrationProgress) -> None:
        """Write a state to the file; an older file is replaced only when the new one is complete."""
        start = monotonic()
        batches = seen.sample.batches()
        calibration = seen.calibration
        state = {
            "version": _VERSION,
            "program": self.program,
            "runs": seen.runs,
            "data": seen.data,
            "records": calibration.text if calibration.records else "",
            "skipped": calibration.skipped,
            "samples": len(batches),
            "digest": self._digest(seen),
        }
        values: Arrays = {_STATE: np.frombuffer(json.dumps(state).encode(), np.uint8)}
        for number, batch in enumerate(batches):
            values |= {f"{number}.{place}": array for place, array in enumerate(batch.values())}
        entries = {name: as_entry(name, value) for name, value in values.items()}
        write_files([(self.path, lambda file: npz.write(file, entries))])
        self._written = monotonic()
        self._cost = self._written - start

    def write_sometimes(self, seen: CalibrationProgress) -> None:
        """Write a state to the file, but not too often.

        The time since the last write must be at least 10 seconds, and at least 20 times the duration of that write.
        """
        if monotonic() - self._written >= max(SECONDS, _SHARE * self._cost):
            self.write(seen)

    @staticmethod
    def _digest(seen: CalibrationProgress) -> str:
        return f"{seen.calibration.digest()} {seen.sample.digest()}"

    def _unreadable(self, why: str) -> ModelError:
        return ModelError(f"{self.path}: this is not a complete checkpoint: {why}; remove it to start over")
