"""Writes the tables of csrc/ref/functions/float_tables.h, each entry rounded once from its exact value:

python -m tests.kernels.function_tables
"""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from qrt.numerics import enclosures
from qrt.numerics.enclosures import Bounds

HEADER = Path(__file__).parents[2] / "csrc" / "ref" / "functions" / "float_tables.h"
POWERS, LOGARITHMS, ERRORS, COMPLEMENTS = 32, 128, 64, 324
"""The numbers of parts of an octave, and of cells of the logarithm, of erf and of erfc."""
FIRST_CELL = 0x3F308000
"""The bits of the float32 with which the first cell of the logarithm begins: 1 is the middle of a cell."""
PER_LINE = 4
"""The entries of a table in a line of the header."""
LOW_BITS = 42
"""The high part of a logarithm is a multiple of 2**-LOW_BITS."""
_HEAD = """/* Tables of the functions of float32, each number rounded once. `python -m tests.kernels.function_tables`
 * writes this file, and tests/kernels/test_float_functions.py compares it with exact values. */
/* clang-format off */
#pragma once

#include "ref/functions/exponential.h"

#define QRT_LOG_CELLS 128
#define QRT_FIRST_LOG_CELL 0x3f308000
/* Units of float64 around the middle between two floats within which ref looks into its table. */
#define QRT_DOUBTFUL 4
"""


def exact(function: str, x: Fraction) -> Bounds:
    """Return close bounds of a function of `qrt.numerics.enclosures`."""
    return getattr(enclosures, function)(x, 400)  # type: ignore[no-any-return]


def middle(bounds: Bounds) -> Fraction:
    return (bounds[0] + bounds[1]) / 2


def power(part: int) -> Fraction:
    """Return 2**(part / 32)."""
    return middle(enclosures.power(Fraction(2), Fraction(part, POWERS), 200)) if part else Fraction(1)


def log_two() -> Fraction:
    return middle(enclosures.log_two(200))


def cell_middle(cell: int) -> Fraction:
    """Return the number in the middle of a cell of the logarithm."""
    bits = FIRST_CELL + (cell << 16) + (1 << 15)
    return (1 + Fraction(bits & 0x7FFFFF, 1 << 23)) * Fraction(2) ** ((bits >> 23) - 127)


def cell_inverse(cell: int) -> Fraction:
    """Return the inverse of `cell_middle` with 24 bits, so that its products with floats are exact in float64."""
    inverse = 1 / cell_middle(cell)
    scale = 1 << (23 if inverse >= 1 else 24)
    return Fraction(round(inverse * scale), scale)


def parts(x: Fraction) -> tuple[float, float]:
    """Return x as a multiple of 2**-LOW_BITS and a rest."""
    high = Fraction(round(x * (1 << LOW_BITS)), 1 << LOW_BITS)
    return float(high), float(x - high)


def slope(x: Fraction) -> Fraction:
    """Return the derivative of erf: 2 / sqrt(pi) * exp(-x**2)."""
    root = middle(enclosures.sqrt(middle(enclosures.pi(200)), 200))
    return 2 / root * middle(exact("exp", -(x**2)))


def tables() -> dict[str, list[float]]:
    """Return the tables by name."""
    inverses = [cell_inverse(cell) for cell in range(LOGARITHMS)]
    logs = [parts(-middle(exact("log", inverse)) if inverse != 1 else Fraction(0)) for inverse in inverses]
    powers = [power(part) for part in range(POWERS)]
    return {
        "qrt_powers_low": [float(exact_power - Fraction(float(exact_power))) for exact_power in powers],
        "qrt_log_inverses": [float(inverse) for inverse in inverses],
        "qrt_logs_high": [high for high, _ in logs],
        "qrt_logs_low": [low for _, low in logs],
        "qrt_erf_values": [
            float(middle(exact("erf", Fraction(cell, 16)))) if cell else 0.0 for cell in range(ERRORS + 1)
        ],
        "qrt_erf_slopes": [float(slope(Fraction(cell, 16))) for cell in range(ERRORS + 1)],
        "qrt_erfc_values": [
            float(middle(exact("erfc", Fraction(cell, 32)))) if cell else 1.0 for cell in range(COMPLEMENTS + 1)
        ],
        "qrt_erfc_slopes": [float(slope(Fraction(cell, 32))) for cell in range(COMPLEMENTS + 1)],
    }


def constants() -> dict[str, float]:
    """Return the constants by name."""
    half_pi = middle(enclosures.pi(300)) / 2
    first = Fraction(int(half_pi * (1 << 32)), 1 << 32)
    second = Fraction(int((half_pi - first) * (1 << 65)), 1 << 65)
    high, low = parts(log_two())
    steepest = slope(Fraction(0))
    return {
        "QRT_LOG_TWO_HIGH": high,
        "QRT_LOG_TWO_LOW": low,
        "QRT_ERF_SLOPE_LOW": float(steepest - Fraction(float(steepest))),
        "QRT_TWO_OVER_PI": float(1 / half_pi),
        "QRT_HALF_PI": float(half_pi),
        "QRT_HALF_PI_1": float(first),
        "QRT_HALF_PI_2": float(second),
        "QRT_HALF_PI_3": float(half_pi - first - second),
    }


def words() -> list[int]:
    """Return 2 / pi in words of 64 bits, the first of which is 0."""
    number = int(2 / middle(enclosures.pi(600)) * (1 << 320))
    return [(number >> 64 * (5 - i)) & (1 << 64) - 1 for i in range(6)]


def lines() -> Iterator[str]:
    yield _HEAD
    for name, value in constants().items():
        yield f"#define {name} {value.hex()}\n"
    for name, values in tables().items():
        yield f"\nstatic const double {name}[{len(values)}] = {{\n"
        for row in range(0, len(values), PER_LINE):
            yield f"    {', '.join(value.hex() for value in values[row : row + PER_LINE])},\n"
        yield "};\n"
    yield "\n/* 2 / pi in words, the first of which is 0. */\n"
    yield f"static const uint64_t qrt_two_over_pi[{len(words())}] = {{\n"
    yield from (f"    0x{word:016x},\n" for word in words())
    yield "};\n"


def text() -> str:
    """Return the text of the header."""
    return "".join(lines())


if __name__ == "__main__":
    HEADER.write_text(text())
