"""The parser of a list of scales in braces, in one pass. scale_lists.pyi describes it."""

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.unicode cimport PyUnicode_AsUTF8
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

import numpy as np

from qrt.numerics.powers_of_ten import reciprocals_of_tens

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *text, char **end, void *overflow) except? -1

cdef extern from "core/decimal.h":
    ctypedef struct Ten "qrt_power_of_ten":
        uint64_t high, low
        int64_t scale
    bint decimal "qrt_decimal"(uint64_t digits, const Ten *ten, double *result)

cdef enum:
    MOST_DEPTH = 64
    MOST_DIGITS = 19  # what 64 bits hold
    MOST_POWER = 300  # far within the table, on either side

cdef struct Reader:
    const char *at
    const Ten *tens  # that of 10^0
    double *scales
    int64_t *zero_points
    int64_t count
    bint any_zero_point

cdef bytes TABLE = np.rec.fromarrays(reciprocals_of_tens()).tobytes()


cdef inline bint is_digit(char c) noexcept:
    return c"0" <= c <= c"9"


cdef inline void skip(Reader *r) noexcept:
    while r.at[0] == c" " or r.at[0] == c"\n" or r.at[0] == c"\r" or r.at[0] == c"\t":
        r.at += 1


cdef bint take(Reader *r, char c) noexcept:
    skip(r)
    if r.at[0] != c:
        return False
    r.at += 1
    return True


cdef bint read_bits(Reader *r, double *result) noexcept:
    """Read the hexadecimal digits after 0x."""
    cdef uint64_t bits = 0
    cdef const char *start = r.at
    cdef char c
    while r.at - start < 16:
        c = r.at[0] | 0x20  # lower case
        if not is_digit(r.at[0]) and not c"a" <= c <= c"f":
            break
        bits = bits << 4 | <uint64_t>(r.at[0] - c"0" if is_digit(r.at[0]) else c - c"a" + 10)
        r.at += 1
    memcpy(result, &bits, sizeof(bits))
    return r.at != start


cdef bint read_scale(Reader *r, double *result) except -1:
    """Read digits, a point, optional digits and an optional exponent; or the bits of a double. Move past them."""
    cdef const char *start = r.at
    cdef uint64_t digits = 0
    cdef int power = 0, kept = 0, said = 0
    cdef bint is_negative
    cdef char *end
    if not is_digit(r.at[0]):
        return False
    if r.at[0] == c"0" and r.at[1] == c"x":
        r.at += 2
        return read_bits(r, result)
    while is_digit(r.at[0]):
        kept += digits != 0
        digits = digits * 10 + (r.at[0] - c"0") if kept < MOST_DIGITS else digits
        r.at += 1
    if r.at[0] != c".":
        return False
    r.at += 1
    while is_digit(r.at[0]):
        kept += digits != 0
        if kept < MOST_DIGITS:
            digits = digits * 10 + (r.at[0] - c"0")
            power -= 1
        r.at += 1
    if r.at[0] == c"e" or r.at[0] == c"E":
        r.at += 1
        is_negative = r.at[0] == c"-"
        r.at += r.at[0] == c"-" or r.at[0] == c"+"
        if not is_digit(r.at[0]):
            return False
        while is_digit(r.at[0]):
            said = min(said * 10 + (r.at[0] - c"0"), 100000)
            r.at += 1
        power += -said if is_negative else said
    if kept < MOST_DIGITS and -MOST_POWER <= power <= MOST_POWER and decimal(digits, r.tens - power, result):
        return True
    result[0] = PyOS_string_to_double(start, &end, NULL)
    return end == r.at


cdef bint read_zero_point(Reader *r) noexcept:
    cdef int64_t value = 0
    cdef const char *start
    cdef bint is_negative
    skip(r)
    is_negative = r.at[0] == c"-"
    r.at += is_negative
    start = r.at
    while is_digit(r.at[0]) and r.at - start < 18:
        value = value * 10 + (r.at[0] - c"0")
        r.at += 1
    r.zero_points[r.count] = -value if is_negative else value
    r.any_zero_point |= value != 0
    return r.at != start


def read_scales(str text):
    cdef const char *start
    cdef Reader r
    cdef int64_t shape[MOST_DEPTH + 1]
    cdef int64_t lengths[MOST_DEPTH + 1]
    cdef int depth = 0, deepest = 0, level
    if not text.isascii():
        return None
    start = PyUnicode_AsUTF8(text)
    most = text.count(",") + 1  # each number but the first stands behind a comma
    scales, zero_points = np.empty(most), np.zeros(most, np.int64)
    r.at = start
    r.tens = <const Ten *>PyBytes_AS_STRING(TABLE) + 345
    r.scales = <double *><size_t>scales.ctypes.data
    r.zero_points = <int64_t *><size_t>zero_points.ctypes.data
    r.count = 0
    r.any_zero_point = False
    if not take(&r, c"{"):
        return None
    depth, lengths[1] = 1, 0
    while depth:
        if take(&r, c"{"):  # a row
            depth += 1
            if depth > MOST_DEPTH or (deepest and depth > deepest):
                return None
            lengths[depth] = 0
            continue
        if not deepest:
            deepest = depth
            for level in range(1, depth + 1):
                shape[level] = 0
        if depth != deepest or not read_scale(&r, &r.scales[r.count]):
            return None
        if take(&r, c":") and not read_zero_point(&r):
            return None
        r.count += 1
        lengths[depth] += 1
        while depth and take(&r, c"}"):  # the ends of rows
            if shape[depth] and shape[depth] != lengths[depth]:
                return None
            shape[depth] = lengths[depth]
            depth -= 1
            lengths[depth] += depth > 0
        if depth and not take(&r, c","):
            return None
    skip(&r)
    if r.at - start != len(text):
        return None
    sizes = [shape[level] for level in range(1, deepest + 1)]
    zeros = zero_points[:r.count].reshape(sizes) if r.any_zero_point else None
    return scales[:r.count].reshape(sizes), zeros
