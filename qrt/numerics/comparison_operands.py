"""What quantized values are compared as: LiteRT's kernels bring both sides to fixed point.

Source: TFLite's comparison kernels.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from qrt.numerics.gemmlowp import scale_fixed_double
from qrt.numerics.multipliers import double_multiplier
from qrt.numerics.rounding import Array

COMPARED_BITS: Final = 8
"""Fractional bits of what is compared."""


def compared_values(stored: npt.ArrayLike, scale: float, zero_point: int) -> Array:
    """``(stored - zero_point) * scale`` in units of 2^-8, by ``fixed_double``; the scale is below 1.

    >>> compared_values([3, 4, 5], 0.001, 0).tolist()
    [1, 1, 1]
    """
    m0, shift = double_multiplier(scale)
    return scale_fixed_double((np.asarray(stored, np.int64) - zero_point) << COMPARED_BITS, m0, shift)
