"""The files of single operators with 16-bit activations, against the results that stand beside them. Hazard: qrt and
the runtime that it is compared with both change, in the same way."""

from pathlib import Path

import numpy as np
import pytest

import qrt
from qrt.profiles import PROFILES

FOLDER = Path(__file__).parents[4] / "shared" / "models" / "int16x8"
FILES = sorted(FOLDER.glob("*.tflite"))
MOVED = [path for path in FILES if path.name.startswith(("pad", "strided_slice"))]

pytestmark = pytest.mark.skipif(not FILES, reason="the models are not here")


def column(name: str) -> np.ndarray:
    return np.loadtxt(FOLDER / name, delimiter=",", dtype=np.int64)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("path", MOVED, ids=lambda path: path.stem)
def test_the_result_is_the_one_beside_the_file(path: Path, profile: str) -> None:
    program = qrt.compile(qrt.load(path, profile=profile))
    (port,) = program.inputs
    x = column(f"{path.stem}_input0_int16.csv").astype(np.int16).reshape(port.type.shape)
    (value,) = program.run({port.name: x}).values()
    np.testing.assert_array_equal(value.storage.ravel(), column(f"{path.stem}_golden_int16.csv").ravel())
