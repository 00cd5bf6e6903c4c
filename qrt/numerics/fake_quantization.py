"""From the range of a fake quantization to a scale and a zero point, by the arithmetic of TensorFlow's converter and of
the `quant` dialect's `fakeQuantAttrsToType` (docs/numerics_choices.md, "From a fake quantization to a type")."""

from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.numerics.rounding import round_integral

Array = npt.NDArray[Any]


def fake_quant_parameters(low: Array, high: Array, storage_min: int, storage_max: int) -> tuple[Array, Array]:
    """(scales, zero points) of ranges of float64 numbers ``low <= high``, each step one float64 operation.

    The range keeps its width and is moved so that 0 is one of its values: values at an end may saturate. A range of one
    number has scale 1 and the least zero point.

    >>> fake_quant_parameters(np.float64([-1, 0.5]), np.float64([1, 1]), 0, 255)
    (array([0.00784314, 0.00196078]), array([128,   0]))
    """
    is_point = low == high
    scales = np.where(is_point, 1.0, (high - low) / float(storage_max - storage_min))
    from_low, from_high = storage_min - low / scales, storage_max - high / scales
    error_of_low = abs(storage_min) + np.abs(low / scales)
    error_of_high = abs(storage_max) + np.abs(high / scales)
    zeros = np.where(error_of_low < error_of_high, from_low, from_high)
    zeros = round_integral(np.clip(zeros, storage_min, storage_max), "half_away")
    return scales, np.where(is_point, storage_min, zeros).astype(np.int64)
