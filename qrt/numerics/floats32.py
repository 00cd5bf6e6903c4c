"""float32 functions as the C library computes them, for runtimes that compute tables with the C library.

``expf`` and ``logf`` of glibc (2.27 and later; musl, FreeBSD and Bionic have the same) read a table and evaluate a
polynomial in float64, and round once to float32. They are not correctly rounded: ``expf`` is off by one unit in the
last place for about one value in 1600, and ``logf`` for one in 600. Source: Arm's optimized routines.
"""

from math import isqrt
from typing import Final

import numpy as np

from qrt.numerics.rounding import Array

PARTS: Final = 32
EXP: Final = tuple(
    float.fromhex(c) / PARTS**n
    for c, n in (("0x1.c6af84b912394p-5", 3), ("0x1.ebfce50fac4f3p-3", 2), ("0x1.62e42ff0c52d6p-1", 1))
)
PER_E: Final = float.fromhex("0x1.71547652b82fep+0") * PARTS
LOG: Final = tuple(map(float.fromhex, ("-0x1.00ea348b88334p-2", "0x1.5575b0be00b6ap-2", "-0x1.ffffef20a4123p-2")))
"""Coefficients of the polynomial of ``logf``."""
_FRACTION: Final = 23
"""Fractional bits of a float32."""
LOG_2: Final = float.fromhex("0x1.62e42fefa39efp-1")
LOG_OFFSET: Final = 0x3F330000
"""Bits of the float32 at which the first of the 16 parts begins."""
LOG_INVERSES: Final = tuple(
    float.fromhex(f"0x{digits}")
    for digits in (
        "1.661ec79f8f3bep+0", "1.571ed4aaf883dp+0", "1.49539f0f010bp+0", "1.3c995b0b80385p+0",
        "1.30d190c8864a5p+0", "1.25e227b0b8eap+0", "1.1bb4a4a1a343fp+0", "1.12358f08ae5bap+0",
        "1.0953f419900a7p+0", "1p+0", "1.e608cfd9a47acp-1", "1.ca4b31f026aap-1",
        "1.b2036576afce6p-1", "1.9c2d163a1aa2dp-1", "1.886e6037841edp-1", "1.767dcf5534862p-1",
    )
)  # fmt: skip
"""The reciprocal of a number in the middle of each of 16 parts of an octave."""
LOG_LOGARITHMS: Final = tuple(
    map(
        float.fromhex,
        (
            "-0x1.57bf7808caadep-2", "-0x1.2bef0a7c06ddbp-2", "-0x1.01eae7f513a67p-2", "-0x1.b31d8a68224e9p-3",
            "-0x1.6574f0ac07758p-3", "-0x1.1aa2bc79c81p-3", "-0x1.a4e76ce8c0e5ep-4", "-0x1.1973c5a611cccp-4",
            "-0x1.252f438e10c1ep-5", "0x0p+0", "0x1.aa5aa5df25984p-5", "0x1.c5e53aa362eb4p-4",
            "0x1.526e57720db08p-3", "0x1.bc2860d22477p-3", "0x1.1058bc8a07ee1p-2", "0x1.4043057b6ee09p-2",
        ),
    )
)  # fmt: skip
"""The logarithm of the number in the middle of each part."""


def _power(part: int) -> float:
    """Return 2^(part/32).

    The module `decimal` is not used: it sets a context variable of the thread, which slows down every NumPy call there.

    >>> _power(16) == 2**0.5
    True
    """
    root = 1 << part + PARTS * 100
    for _ in range(5):
        root = isqrt(root)
    return root / (1 << 100)


POWERS: Final = np.array([_power(part) for part in range(PARTS)])
"""The powers 2^(i/32), rounded to float64."""


def exp64(x: Array) -> Array:
    """Return the exponential of float32 values as the float64 that ``expf`` rounds to float32.

    >>> float(exp64(np.array([0.5]))[0])
    1.6487212707215566
    """
    z = np.clip(np.asarray(x, np.float64) * PER_E, -1e5, 1e5)
    whole = np.rint(z)
    r, k = z - whole, np.where(np.isnan(whole), 0, whole).astype(np.int64)
    c0, c1, c2 = EXP
    with np.errstate(all="ignore"):
        power = np.ldexp(POWERS[k % PARTS], k // PARTS)
        return np.asarray(((c0 * r + c1) * (r * r) + (c2 * r + 1.0)) * power)


def expf(x: Array) -> Array:
    """Return C's ``expf`` of float32 values, which must not be NaNs.

    >>> float(expf(np.float32([0.5]))[0])
    1.6487212181091309
    """
    with np.errstate(all="ignore"):
        return exp64(np.asarray(x, np.float32)).astype(np.float32)


def logf(x: Array) -> Array:
    """Return C's ``logf`` of positive float32 values.

    >>> logf(np.float32([2.0, 2.0**-149, np.inf])).tolist()
    [0.6931471824645996, -103.2789306640625, inf]
    """
    values = np.asarray(x, np.float32)
    is_small = values < np.finfo(np.float32).tiny  # subnormal values are brought to the least normal ones first
    normal = values * np.where(is_small, np.float32(2**_FRACTION), np.float32(1))
    bits = normal.view(np.int32).astype(np.int64)
    bits = bits - (np.where(is_small, _FRACTION, 0) << _FRACTION)
    over = bits - LOG_OFFSET
    part, exponent = (over >> 19) & 15, over >> _FRACTION
    z = (bits - (exponent << _FRACTION)).astype(np.int32).view(np.float32).astype(np.float64)
    r = z * np.array(LOG_INVERSES)[part] - 1.0
    y0, square = np.array(LOG_LOGARITHMS)[part] + exponent * LOG_2, r * r
    y = LOG[0] * square + (LOG[1] * r + LOG[2])
    logarithm = (y * square + (y0 + r)).astype(np.float32)
    return np.asarray(np.where(np.isinf(values), values, logarithm))
