"""MLIR's tokens, and words that are hazards in the place of others: ends of ranges, types, attributes."""

import re
from collections.abc import Sequence
from random import Random

TOKEN = re.compile(
    r"""
      "(?:[^"\\\n]|\\.)*"                       # strings
    | //[^\n]*                                  # comments
    | \s+
    | (?<=[\d?\]*])x(?=[\d?\[a-z!*])            # between the dimensions of a shape
    | 0x[0-9a-fA-F]+(?![0-9a-zA-Z])
    | \d+\.\d*(?:[eE][-+]?\d+)?
    | \d+(?=x)
    | [%@^!\#][\w$.-]*(?:\#\d+)?
    | ->|::|>=|==
    | [A-Za-z_][\w$]*(?:\.[\w$.]+)?
    | \d+
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?")

# fmt: off
INTEGERS = (
    "0", "1", "-1", "2", "3", "4", "7", "8", "-2", "15", "16", "17", "31", "32", "33", "63", "64", "65", "127", "128",
    "-128", "-129", "255", "256", "32767", "65535", "65536", "2147483647", "2147483648", "-2147483648", "-2147483649",
    "4294967295", "4294967296", "4611686018427387904", "9223372036854775807", "-9223372036854775807",
    "-9223372036854775808", "-9223372036854775809", "9223372036854775808", "18446744073709551615",
    "18446744073709551616", "1180591620717411303424", "-1180591620717411303424", "0x10", "0xFFFFFFFFFFFFFFFF",
)
"""The least int64 is ShapedType::kDynamic too."""
FLOATS = (
    "0.0", "-0.0", "1.0", "-1.0", "0.5", "1.0e-6", "2.0e-45", "1.17549435e-38", "3.4028235e38", "1.0e39", "1.0e308",
    "1.0e400", "5.0e-324", "0x7F800000", "0xFF800000", "0x7FC00000", "0x7FF8000000000000", "0x0001",
)
DIMENSIONS = ("?", "0", "1", "2", "3", "4", "8", "16", "17", "64", "*", "134217728", "4611686018427387904",
              "9223372036854775807", "9223372036854775808", "[4]", "-1")
SCALARS = (
    "i1", "i2", "i4", "i7", "i8", "i16", "i32", "i33", "i64", "i65", "i128", "si8", "ui8", "ui64", "index", "f16",
    "bf16",
    "f32", "f64", "f80", "f128", "tf32", "f4E2M1FN", "f6E3M2FN", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "none",
    "complex<f32>", "tuple<>", "tuple<i8, f32>", "!quant.any<i8:f32>", "!quant.calibrated<f32<-1.0:1.0>>",
    "!quant.uniform<i8:f32, 0.5>", "!quant.uniform<i8:f32, 0.5:3>", "!quant.uniform<u8<1:254>:f32, 1.0e-6:128>",
    "!quant.uniform<i4:f32, 0.25:-8>", "!quant.uniform<u1:f32, 1.0>", "!quant.uniform<i32:f32, 1.0e-3:2147483647>",
    "!quant.uniform<i8:f32:0, {0.5, 0.25}>", "!quant.uniform<i8:f32:1, {0.5:1, 0.25:-2, 1.0}>",
    "!quant.uniform<i8:f64, 2.0>", "!quant.uniform<i8:bf16, 0.1>", "!quant.uniform<u24:f16, 0.75:16777215>",
    "!quant.uniform<i8:f32:{0:1, 1:2}, {{0.5, 1.0}, {2.0, 0.25}}>",
)
SHAPED = (
    "tensor<%s>", "tensor<4x%s>", "tensor<?x%s>", "tensor<0x%s>", "tensor<1x%s>", "tensor<2x3x%s>", "tensor<?x?x%s>",
    "tensor<*x%s>", "memref<%s>", "memref<4x%s>", "memref<?x%s>", "memref<4x4x%s, strided<[?, 1], offset: ?>>",
    "memref<?x?x%s, strided<[4, 1]>>", "memref<4x%s, 2>", "memref<4x%s, affine_map<(d0) -> (d0 * 2)>>",
    "memref<*x%s>",
    "vector<%s>", "vector<4x%s>", "vector<[4]x%s>", "vector<2x3x%s>", "vector<1x%s>", "vector<134217728x%s>",
    "(%s) -> %s", "tensor<4611686018427387904x%s>", "tensor<4x%s, #a.b>",
)
ATTRIBUTES = (
    "unit", "true", "false", "0", "-1", "1 : i32", "1 : index", "9223372036854775807 : i64", "1.0 : f32", "1.0 : f64",
    '"a"', '""', "@x", "@x::@y", "[]", "[0]", "[1, 0]", "[0.0, 1]", "[@x, 1]", "[[0, 1]]", "[[0], [1, 2]]", "{}",
    "{a = 1}",
    "i8", "f32", "tensor<4xf32>", "dense<1> : tensor<2xi64>", "dense<[]> : tensor<0xi64>", "dense<1> : vector<2xi64>",
    "dense<[1, -2]> : tensor<2xi8>", "dense<1.0> : tensor<f32>", "array<i64>", "array<i64: 1, 2>", "array<i32: 1, 0>",
    "array<i1: true>", "affine_map<(d0) -> (d0)>", "affine_map<(d0, d1) -> (d1, d0)>", "affine_map<() -> ()>",
    "affine_map<(d0)[s0] -> (d0 floordiv s0)>", "affine_set<(d0) : (d0 >= 0)>", '["parallel"]', '["reduction"]',
    "#linalg.iterator_type<parallel>", "#vector.kind<add>", "#arith.fastmath<fast>", "loc(unknown)", '"half_away"',
    "array<i64: -9223372036854775808>", "dense<0> : tensor<4611686018427387904xi8>",
)
KEYWORDS = (
    "to", "into", "from", "step", "iter_args", "ins", "outs", "dimensions", "else", "do", "private", "attributes",
    "loc(unknown)",
    "{", "}", "(", ")", "[", "]", "<", ">", ",", ":", "=", "->", "::", "*", "+", "-", "?", "%0", "%0#1", "%c:2 =",
    "^bb0", "@f",
    "affine_map", "affine_set", "dense", "unit", "x", "#", "!", "\0", "\x7f", "\u00e9", "\ud800", "//", '"',
    "floordiv", "mod",
)
# fmt: on

OPENING, CLOSING = "([{<", ")]}>"


def tokens(text: str) -> list[str]:
    """The text in parts: joined, they are it."""
    return TOKEN.findall(text)


def integer(draw: Random) -> str:
    return draw.choice(INTEGERS) if draw.random() < 0.8 else str(draw.randint(-20, 300))


def any_type(draw: Random) -> str:
    scalar = draw.choice(SCALARS)
    if draw.random() < 0.4:
        return scalar
    return draw.choice(SHAPED).replace("%s", scalar)


def matching(parts: Sequence[str], start: int) -> int | None:
    """The place of what closes the bracket at `start`. None if nothing does: `->` closes none."""
    depth = 0
    for at in range(start, len(parts)):
        if parts[at] in OPENING:
            depth += 1
        elif parts[at] in CLOSING:
            depth -= 1
            if depth == 0:
                return at
    return None
