"""The logistic function and the hyperbolic tangent of 16-bit values as LiteRT computes them.

The rule ``table_uint16`` interpolates a table of the logistic function at 0, 1/24, 2/24, ...; the rule ``gemmlowp``
calls gemmlowp's functions. Source: TFLite's reference kernels of 16 bits.
"""

from functools import lru_cache
from math import frexp
from typing import Final, Literal, get_args

import numpy as np

from qrt.errors import QuantTypeError
from qrt.numerics import fixed_functions
from qrt.numerics.gemmlowp import saturate
from qrt.numerics.rounding import Array

SigmoidRule = Literal["table_uint16", "gemmlowp"]
SIGMOID_RULES: Final[tuple[SigmoidRule, ...]] = get_args(SigmoidRule)
LARGEST_SCALE: Final = 65536 / (3 * 4096)
"""The bound of scales: from it on, a value times its multiplier exceeds 32 bits."""


@lru_cache(maxsize=16)
def sigmoid_results(name: str, scale: float, rule: str) -> Array:
    """Return ``logistic`` or ``tanh`` of each 16-bit value from -2^15 up, in units of 2^-15: int16, read-only."""
    x = np.arange(-(1 << 15), 1 << 15, dtype=np.int64)
    if rule == "gemmlowp":
        value = saturate(x << gemmlowp_shift(name, scale), 16)
        function = fixed_functions.logistic if name == "logistic" else fixed_functions.tanh
        values = function(value, 3, 16)
    else:
        values = _interpolated(name, *_multiplied(x, *_multiplier(name, scale)))
    results = values.astype(np.int16)
    results.flags.writeable = False
    return results


def gemmlowp_shift(name: str, scale: float) -> int:
    """Return the left shift that converts values of this scale to the scale 2^-12.

    The shift is 0 for the scale 2^-12, and 1 for the scale 2^-11, which only ``tanh`` supports. Raises QuantTypeError
    for other scales, for which gemmlowp's functions are not defined.
    """
    shift = _shift(name, scale)
    if shift is None:
        wanted = "2**-12" + " or 2**-11" * (name == "tanh")
        raise QuantTypeError(f"{name}: requant = 'gemmlowp' needs a scale of {wanted}, got {scale}")
    return shift


def _shift(name: str, scale: float) -> int | None:
    fraction, exponent = frexp(scale)
    shift = exponent - 1 + 12
    return shift if fraction == 0.5 and shift in ((0, 1) if name == "tanh" else (0,)) else None


def _multiplier(name: str, scale: float) -> tuple[int, int]:
    """Return (multiplier, right shift) that convert a stored value to units of 1/24 with 9 fractional bits.

    For ``tanh`` there are 8 fractional bits.
    """
    shift = _shift(name, scale)
    if shift is not None:
        return 3 << shift, 0
    multiplier, right = float(np.float32(scale)) * 4096.0 * 3.0, 0
    while multiplier <= 32767.0 / 2.0 and right <= 30:
        multiplier, right = multiplier * 2.0, right + 1
    return int(multiplier), right


def _multiplied(x: Array, multiplier: int, right: int) -> tuple[Array, Array]:
    """Return (magnitude of ``x * multiplier`` shifted right, True where it is negative)."""
    value = (x * multiplier + ((1 << right) >> 1)) >> right
    return np.abs(value), value < 0


def _interpolated(name: str, magnitude: Array, is_negative: Array) -> Array:
    bits = 9 if name == "logistic" else 8
    entry = np.minimum(magnitude >> bits, 254)
    table = np.array(_LOGISTIC, np.int64)
    low = magnitude & ((1 << bits) - 1)
    value = (table[entry] << bits) + low * (table[entry + 1] - table[entry])
    beyond = magnitude >> bits >= 255
    if name == "logistic":
        value = np.where(beyond, 0x7FFF << 10, value)
        return np.where(is_negative, (1 << 25) - value + (1 << 9) - 1, value + (1 << 9)) >> 10
    value = np.where(beyond, 0xFFFF << 8, value) - (1 << 23)
    return np.where(is_negative, -value + (1 << 7) - 1, value + (1 << 7)) >> 8


# fmt: off
_LOGISTIC: Final = (
    32768, 33451, 34133, 34813, 35493, 36169, 36843, 37513, 38180, 38841, 39498, 40149, 40794, 41432, 42064, 42688,
    43304, 43912, 44511, 45102, 45683, 46255, 46817, 47369, 47911, 48443, 48964, 49475, 49975, 50464, 50942, 51409,
    51865, 52311, 52745, 53169, 53581, 53983, 54374, 54755, 55125, 55485, 55834, 56174, 56503, 56823, 57133, 57433,
    57724, 58007, 58280, 58544, 58800, 59048, 59288, 59519, 59743, 59959, 60168, 60370, 60565, 60753, 60935, 61110,
    61279, 61441, 61599, 61750, 61896, 62036, 62172, 62302, 62428, 62549, 62666, 62778, 62886, 62990, 63090, 63186,
    63279, 63368, 63454, 63536, 63615, 63691, 63765, 63835, 63903, 63968, 64030, 64090, 64148, 64204, 64257, 64308,
    64357, 64405, 64450, 64494, 64536, 64576, 64614, 64652, 64687, 64721, 64754, 64786, 64816, 64845, 64873, 64900,
    64926, 64950, 64974, 64997, 65019, 65039, 65060, 65079, 65097, 65115, 65132, 65149, 65164, 65179, 65194, 65208,
    65221, 65234, 65246, 65258, 65269, 65280, 65291, 65301, 65310, 65319, 65328, 65337, 65345, 65352, 65360, 65367,
    65374, 65381, 65387, 65393, 65399, 65404, 65410, 65415, 65420, 65425, 65429, 65433, 65438, 65442, 65445, 65449,
    65453, 65456, 65459, 65462, 65465, 65468, 65471, 65474, 65476, 65479, 65481, 65483, 65485, 65488, 65489, 65491,
    65493, 65495, 65497, 65498, 65500, 65501, 65503, 65504, 65505, 65507, 65508, 65509, 65510, 65511, 65512, 65513,
    65514, 65515, 65516, 65517, 65517, 65518, 65519, 65520, 65520, 65521, 65522, 65522, 65523, 65523, 65524, 65524,
    65525, 65525, 65526, 65526, 65526, 65527, 65527, 65528, 65528, 65528, 65529, 65529, 65529, 65529, 65530, 65530,
    65530, 65530, 65531, 65531, 65531, 65531, 65531, 65532, 65532, 65532, 65532, 65532, 65532, 65533, 65533, 65533,
    65533, 65533, 65533, 65533, 65533, 65534, 65534, 65534, 65534, 65534, 65534, 65534, 65534, 65534, 65534, 65535,
)
# fmt: on
"""The logistic function of n/24 with 16 fractional bits. Some entries are off by one, as they are in the source."""
