"""Element-wise ops on Python ints and exact Fractions: a referee for tests, one rule a line, written for reading.

An integer is its signed reading; a float is its bit pattern's exact value (`FloatFormat.decode`). UNDEFINED stands for
what has no result.
"""

import math
from fractions import Fraction

UNDEFINED = object()


def signed(value, width):
    half = 1 << (width - 1)
    return ((value + half) & (2 * half - 1)) - half


def unsigned(value, width):
    return value & ((1 << width) - 1)


def truncated(a, b):
    return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


def _divided(a, b, width, quotient):
    if b == 0 or (a, b) == (-(1 << (width - 1)), -1):
        return UNDEFINED
    return quotient(a, b)


def integer(name, width, *x):
    """The result of an op of integers, or UNDEFINED; wrapped by the caller where it is a number."""
    u = [unsigned(value, width) for value in x]
    a, b = (*x, 0)[:2]
    ua, ub = (*u, 0)[:2]
    match name:
        case "arith.addi":
            return a + b
        case "arith.subi":
            return a - b
        case "arith.muli":
            return a * b
        case "arith.addui_extended":
            return ua + ub, signed(ua + ub >> width, 1)
        case "arith.mulsi_extended":
            return a * b, a * b >> width
        case "arith.mului_extended":
            return ua * ub, ua * ub >> width
        case "arith.divsi":
            return _divided(a, b, width, truncated)
        case "arith.ceildivsi":
            return _divided(a, b, width, lambda a, b: -(-a // b))
        case "arith.floordivsi":
            return _divided(a, b, width, lambda a, b: a // b)
        case "arith.remsi":
            return _divided(a, b, width, lambda a, b: a - truncated(a, b) * b)
        case "arith.divui":
            return ua // ub if ub else UNDEFINED
        case "arith.ceildivui":
            return -(-ua // ub) if ub else UNDEFINED
        case "arith.remui":
            return ua % ub if ub else UNDEFINED
        case "arith.andi":
            return a & b
        case "arith.ori":
            return a | b
        case "arith.xori":
            return a ^ b
        case "arith.shli":
            return a << ub if ub < width else UNDEFINED
        case "arith.shrsi":
            return a >> ub if ub < width else UNDEFINED
        case "arith.shrui":
            return ua >> ub if ub < width else UNDEFINED
        case "arith.maxsi":
            return max(a, b)
        case "arith.minsi":
            return min(a, b)
        case "arith.maxui":
            return max(ua, ub)
        case "arith.minui":
            return min(ua, ub)
        case "math.absi":
            return abs(a)
        case "math.ctpop":
            return bin(ua).count("1")
        case "math.ctlz":
            return width - ua.bit_length()
        case "math.cttz":
            return (ua & -ua).bit_length() - 1 if ua else width
        case "math.ipowi":
            if b >= 0:
                return pow(a, b, 1 << width)
            return UNDEFINED if a == 0 else a ** (-b % 2) if abs(a) == 1 else 0
    raise AssertionError(name)


def number(value):
    """A decoded float that is a number, as a Fraction; None for infinities and NaNs."""
    return None if isinstance(value, float) and not math.isfinite(value) else Fraction(value)


def rounded(exact, form, zero=0.0):
    """The bits of an exact result rounded to a format; of an exact zero the sign is given."""
    return form.encode(abs(exact), exact < 0 or (exact == 0 and math.copysign(1, zero) < 0))


def arithmetic(name, form, *x):
    """The bits of a float op's result. Infinities and NaNs are Python's; a sum of doubles gives the signs of zeros."""
    values = [number(value) for value in x]
    f = [float(value) for value in x]
    if None in values or (name in ("arith.divf", "arith.remf") and not values[1]):
        return form.encode_float(_special(name, f))
    match name:
        case "arith.addf":
            return rounded(values[0] + values[1], form, f[0] + f[1])
        case "arith.subf":
            return rounded(values[0] - values[1], form, f[0] - f[1])
        case "arith.mulf":
            return rounded(values[0] * values[1], form, math.copysign(1, f[0]) * math.copysign(1, f[1]) * 0.0)
        case "arith.divf":
            return rounded(values[0] / values[1], form, math.copysign(1, f[0]) * math.copysign(1, f[1]) * 0.0)
        case "arith.remf":
            whole = abs(values[0]) // abs(values[1])
            magnitude = abs(values[0]) - whole * abs(values[1])
            return rounded(math.copysign(1, f[0]).as_integer_ratio()[0] * magnitude, form, f[0])
        case "math.fma":
            return rounded(values[0] * values[1] + values[2], form, f[0] * f[1] + f[2])
    raise AssertionError(name)


def _special(name, f):
    """The result on infinities, NaNs and zero divisors, where doubles need no rounding."""
    match name:
        case "arith.addf":
            return f[0] + f[1]
        case "arith.subf":
            return f[0] - f[1]
        case "arith.mulf":
            return f[0] * f[1]
        case "arith.divf":
            if f[1]:
                return f[0] / f[1]
            sign = math.copysign(1, f[0]) * math.copysign(1, f[1])
            return math.nan if not f[0] or f[0] != f[0] else sign * math.inf
        case "arith.remf":
            return math.fmod(f[0], f[1]) if math.isfinite(f[0]) and f[1] else math.nan
        case "math.fma":
            is_finite = math.isfinite(f[0]) and math.isfinite(f[1])
            return f[2] if is_finite else f[0] * f[1] + f[2]
    raise AssertionError(name)


def extremum(name, a, b):
    """The operand that maximumf, minimumf, maxnumf or minnumf of two floats is; a NaN where any is wanted."""
    a, b = float(a), float(b)
    if a != a or b != b:
        return math.nan if name.endswith("imumf") or (a != a and b != b) else (b if a != a else a)
    return (max if "max" in name else min)(a, b, key=lambda x: (x, math.copysign(1, x)))
