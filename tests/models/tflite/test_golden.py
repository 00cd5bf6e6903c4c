"""The files of single operators with 16-bit activations and 8-bit weights, against the results that stand beside them.
Hazards: qrt and the runtime that it is compared with both change, in the same way; biases of 64 bits; sums beyond 32
bits; operands that are broadcast; the shape of a result that is an input."""

from pathlib import Path

import numpy as np
import pytest

import qrt
from tests.models.tflite.oracle import MODELS, PROFILES

FOLDER = MODELS / "int16x8"
FILES = sorted(FOLDER.glob("*.tflite"))

pytestmark = pytest.mark.skipif(not FILES, reason="the models are not here: QRT_MODELS names their folder")


def column(path: Path) -> np.ndarray:
    """The numbers of a file, whose name ends with their dtype."""
    return np.loadtxt(path, delimiter=",", dtype=np.int64).astype(path.stem.rpartition("_")[2])


def test_all_are_here() -> None:
    assert len(FILES) == 66


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_result_is_the_one_beside_the_file(path: Path, profile: str) -> None:
    program = qrt.compile(qrt.load(path, profile=profile))
    inputs = {}
    for number, port in enumerate(program.inputs):
        (given,) = FOLDER.glob(f"{path.stem}_input{number}_*.csv")
        inputs[port.name] = column(given).reshape(port.type.shape)
    (value,) = program.run(inputs).values()
    (golden,) = FOLDER.glob(f"{path.stem}_golden_*.csv")
    np.testing.assert_array_equal(value.storage.ravel(), column(golden).ravel())
