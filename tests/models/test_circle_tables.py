"""Tables of cosines and sines in imported Fourier transforms. Hazard: NumPy's functions, whose last bits depend on the
CPU.
"""

import numpy as np
import pytest

from qrt.models.onnx.operators.spectra import _matrix
from qrt.models.tflite.operators.fourier import _circle
from qrt.numerics.float_text import FORMATS
from qrt.numerics.transcendental import exact

SIZES = [1, 2, 3, 7, 8, 32, 100, 1000, 1024]


def rounded(name: str, size: int) -> list[float]:
    """Cosines or sines of whole fractions of a circle, correctly rounded; exact at multiples of a quarter."""
    values = [exact.evaluate(name, FORMATS["f64"], float(angle)) for angle in 2 * np.pi * np.arange(size) / size]
    zeros = {"cos": (1, 3), "sin": (0, 2)}[name]
    return [0.0 if 4 * i % size == 0 and 4 * i // size in zeros else value for i, value in enumerate(values)]


@pytest.mark.parametrize("size", SIZES)
def test_onnx(size: int) -> None:
    matrix = _matrix(2, size, size, False, False)[1]
    assert matrix[0, :, 0].tolist() == rounded("cos", size)
    assert matrix[1, :, 0].tolist() == rounded("sin", size)


@pytest.mark.parametrize("size", [size for size in SIZES if size & (size - 1) == 0])
def test_tflite(size: int) -> None:
    real, imaginary = _circle(np.arange(size), size)
    assert real.tolist() == rounded("cos", size)
    assert (-imaginary).tolist() == rounded("sin", size)
