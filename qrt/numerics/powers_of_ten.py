"""Tables of powers of five and of ten, for conversions between binary and decimal digits."""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

LEAST_POWER, GREATEST_POWER = -345, 300
"""The least and the greatest power of ten by which a double is divided to leave 17 digits or a few more."""
EXACT_POWERS = -55, 19
"""The least and the greatest power of ten for which a double's product with the reciprocal has the exact floor."""


@cache
def powers_of_five() -> tuple[Array, Array]:
    """Return, for each power 5^s, its bit length L and the least integer m for which ``m * 5^s`` has 53 + L bits.

    For smaller integers of 53 bits the product has one bit less.
    """
    powers = [5**s for s in range(1075)]
    carries = [-(-(1 << (52 + power.bit_length())) // power) for power in powers]
    return np.array([power.bit_length() for power in powers]), np.array(carries)


@cache
def reciprocals_of_tens() -> tuple[Array, Array, Array]:
    """Return arrays (high, low, scale) of each 10^-p as ``(high * 2^64 + low) * 2^scale``: 128 bits, rounded up.

    They replace division of doubles by 10^p. The numbers from 10^55 down to 10^0 are exact. For the numbers down to
    10^-19, the floor of the product with a double is the exact floor of the quotient. This holds because the divided
    doubles are integers: a quotient is an integer or at least 10^-19 below the next integer, and the product is less
    than 2^-66 too large.
    """
    rows = []
    for power in range(LEAST_POWER, GREATEST_POWER + 1):
        ten = 10 ** abs(power)
        scale = ten.bit_length() - 128 if power <= 0 else -127 - ten.bit_length()
        up, down = (ten, 1) if power <= 0 else (1, ten)
        mantissa = -(-(up << max(-scale, 0)) // (down << max(scale, 0)))
        rows.append((mantissa >> 64, mantissa & ((1 << 64) - 1), scale))
    high, low, scales = zip(*rows, strict=True)
    return np.array(high, np.uint64), np.array(low, np.uint64), np.array(scales)
