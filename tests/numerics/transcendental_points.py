"""Points at which transcendental functions are tested."""

from fractions import Fraction

import numpy as np


def drawn(name, seed, count):
    """Doubles in the domain of a function, small and large, or pairs of them."""
    rng = np.random.default_rng([seed, *name.encode()])
    wide = np.ldexp(rng.uniform(1, 2, count), rng.integers(-45, 12, count)) * rng.choice([-1, 1], count)
    match name:
        case "log" | "log2" | "log10":
            return [
                np.where(
                    rng.random(count) < 0.5,
                    np.ldexp(rng.uniform(1, 2, count), rng.integers(-1070, 1023, count)),
                    1 + wide / 2**13,
                )
            ]
        case "log1p":
            return [np.where(wide < -1, 1 / wide, wide)]
        case "acosh":
            return [1 + abs(wide)]
        case "asin" | "acos" | "atanh":
            inner = np.where(abs(wide) < 1, wide, 1 / wide)
            return [np.where(rng.random(count) < 0.5, inner, np.copysign(1 - abs(inner) / 4, wide))]
        case "erf" | "erfc":
            return [np.where(abs(wide) < 5.9, wide, rng.uniform(-5.9, 26.5 if name == "erfc" else 5.9, count))]
        case "cbrt":
            return [np.ldexp(wide, rng.integers(-900, 900, count))]
        case "atan2":
            return [wide, rng.permutation(wide)]
        case "powf":
            base = np.exp(rng.uniform(-3, 3, count))
            return [base, rng.uniform(-200, 200, count)]
        case "fpowi":
            return [rng.choice([-1, 1], count) * np.exp(rng.uniform(-3, 3, count)), rng.integers(-200, 200, count)]
        case "exp" | "exp2" | "expm1" | "sinh" | "cosh":
            return [np.where(abs(wide) < 100, wide, rng.uniform(-745, 709, count))]
    return [wide]


_BELOW_ONE, _ABOVE_ONE, _TINY = 1 - 2.0**-53, 1 + 2.0**-52, 5e-324
_NEAR_A_QUARTER = 6381956970095103 * 2.0**797
"""The float64 nearest to a multiple of pi / 2: it lies 2^-61 from it."""

HARD = {
    "exp": [-745.1332191019411, -745.13, -708.3964185322641, 709.782712893384, 2.0**-60, -(2.0**-54), _TINY],
    "exp2": [-1074.9999999999998, -1075.0000000000002, -1022.5, 1023.9999999999999, 0.5, 2.0**-53, -1030.25],
    "expm1": [2.0**-30, -(2.0**-55), 3e-300, _TINY, 0.0014, -0.00135, 36.7, -37.5, 709.7],
    "log": [_BELOW_ONE, _ABOVE_ONE, 0.9990234375, 1.0009765625, _TINY, 2.0**-1022, 1.797e308, 0.7071067811865476],
    "log2": [_BELOW_ONE, _ABOVE_ONE, _TINY, 1.4142135623730951],
    "log10": [_BELOW_ONE, _ABOVE_ONE, _TINY, 1e23, 1e-5],
    "log1p": [-_BELOW_ONE, 2.0**-54, -(2.0**-53), _TINY, 1e300],
    "sin": [3.141592653589793, _NEAR_A_QUARTER, 5.319372648326541e255, 2.0**19, 2.0**19 + 1, 1e22, _TINY, 355.0],
    "cos": [1.5707963267948966, _NEAR_A_QUARTER, 2.0**1023, 4.71238898038469, 2.0**-27, 1e22],
    "tan": [1.5707963267948966, _NEAR_A_QUARTER, 0.7853981633974483, 1e-310],
    "asin": [_BELOW_ONE, 0.5, 2.0**-31, 2.0**-29, _TINY],
    "acos": [_BELOW_ONE, -_BELOW_ONE, 0.5, -0.5, 2.0**-60, _TINY],
    "atan": [1.0, 2.0**60, 1e308, 1e-310, 2.0**-27],
    "sinh": [710.4758600739439, 1e-5, 0.5, 2.0**-29, 1e-310, 50.0, 49.99999999],
    "cosh": [710.4758600739439, -1e-9, 2.0**-27, 25.0],
    "tanh": [19.06, 22.0, 1e-310, 0.25, 2.0**-29],
    "asinh": [2.0**40, 2.0**40 - 1, 1e308, 2.0**-29, 1e-310],
    "acosh": [_ABOVE_ONE, 2.0**40, 1e308, 1.5],
    "atanh": [_BELOW_ONE, 2.0**-29, 1e-310, 0.5],
    "cbrt": [_TINY, 2.0**-1022, 1.797e308, 27.0, 1e-300, 3.0000000000000004],
    "erf": [5.9, 5.921587195794507, 0.0625, 0.06249999999999999, 1e-309, _TINY, 1e-200],
    "erfc": [26.543258454250985, 26.54, 27.2, 0.03125, -5.8, 2.0**-60, 8.0, -8.0, 0.47],
    "atan2": [(_TINY, 1.0), (1e-300, -1e300), (3e-310, 7.0), (1.0, 1.0), (1e308, 1e-308), (1.0, -1e-300)],
    "powf": [(_ABOVE_ONE, 2.0**61), (_BELOW_ONE, -(2.0**62)), (0.5, 1073.5), (2.0, -1074.5), (0.1, 300.0), (3.0, 33.0)],
    "fpowi": [(_ABOVE_ONE, 2**61 + 1), (-_BELOW_ONE, 2**62 + 1), (-3.0, 33), (7.0, -300), (-0.1, 307)],
}
"""Where functions meet the ends of formats, where their arguments cancel, and where their methods change."""

_POWERS = [(2.0, -150.0), (2.0, -25.0), (3.0, 7.0), (5.0, 23.0), (-3.0, 33.0), (10.0, 23.0), (0.5, 150.0), (1.5, 13.0)]
_ROOTS = [(9.0, 0.5, 3), (0.0625, -0.25, 2), (6.25, 1.5, 15.625), (625.0, 0.25, 5), (4097.0**2, 0.5, 4097)]
EXACT = {
    "exp2": [((n,), Fraction(2) ** n) for n in (0, 1, -1, 10, -24, -25, 15, 126, -149, -150, -1074)],
    "log2": [((2.0**n,), n) for n in (0, 1, -1, 9, 11, -14, 13)],
    "log10": [((10.0**n,), n) for n in range(4)],
    "cbrt": [((n**3,), n) for n in (1, -2, 3, 5, -11, 21, 0.5)],
    "powf": [((x, y), Fraction(x) ** Fraction(y)) for x, y in _POWERS] + [((x, y), root) for x, y, root in _ROOTS],
    "fpowi": [((3.0, 7), 2187), ((2.0, -150), 2.0**-150), ((-5.0, 11), -(5**11)), ((-1.0, 2**63 - 1), -1)],
}
"""Rational results, among them halfway points of formats."""

_SPECIAL = """
exp: -inf 0, inf inf, -0 1
exp2: -inf 0, inf inf, 0 1
expm1: -inf -1, inf inf, -0 -0, 0 0
log: 0 -inf, -0 -inf, -1 nan, -inf nan, inf inf, 1 0
log2: 0 -inf, -1 nan, inf inf, 1 0
log10: -0 -inf, -1 nan, inf inf, 1 0
log1p: -1 -inf, -2 nan, inf inf, -0 -0, -inf nan
sin: -0 -0, inf nan, -inf nan
cos: inf nan, -0 1
tan: -0 -0, -inf nan, 0 0
asin: -0 -0, 2 nan, -inf nan
acos: 1 0, 2 nan, inf nan
atan: -0 -0, 0 0
sinh: -0 -0, -inf -inf
cosh: -0 1, -inf inf, inf inf
tanh: -0 -0, -inf -1, inf 1
asinh: -0 -0, -inf -inf
acosh: 1 0, 0 nan, inf inf, -inf nan
atanh: -0 -0, 1 inf, -1 -inf, 2 nan, inf nan
cbrt: -0 -0, -inf -inf, 0 0
erf: -0 -0, -inf -1, inf 1
erfc: -inf 2, inf 0, -0 1
atan2: 0 1 0, -0 1 -0, 0 0 0, -0 0 -0, 0 inf 0, -1 inf -0, 1 inf 0, nan 1 nan, 1 nan nan
powf: 0 -3 inf, -0 -3 -inf, -0 -2 inf, 0 -inf inf, -0 3 -0, -0 2 0, -0 0.5 0, -0 inf 0, -1 inf 1, -1 -inf 1
powf: 1 nan 1, nan 0 1, nan -0 1, inf -0 1, -8 0.5 nan, -inf 0.5 inf, 0.5 -inf inf, -2 -inf 0, -0.5 inf 0
powf: 2 inf inf, -inf -3 -0, -inf -2 0, -inf 3 -inf, -inf 2 inf, inf -1 0, inf 1 inf, nan 1 nan, 2 nan nan
powf: -1 nan nan, -2 3 -8, 0 0 1
fpowi: nan 0 1, -0 -3 -inf, 0 -2 inf, -inf 3 -inf, -inf -3 -0, -0 5 -0, inf 0 1, nan 2 nan
"""
SPECIAL = [
    [line.partition(":")[0], *case.split()]
    for line in _SPECIAL.strip().splitlines()
    for case in line.partition(":")[2].split(",")
]
"""Of C's Annex F: the function, its operands, its result."""
