"""Affine maps and sets are simplified and spelled as mlir-opt 22 does. Hazards: a rule in another order, a constant on
the left, a division that is exact, a sum that is spelled without the parentheses it needs."""

import pytest

from qrt import ir
from qrt.errors import ParseError
from tests import mlir_opt

MAPS = {
    "(d0, d1)[s0] -> (d0 + 2 + d1, d0 + d0, d0 * 2 + d0, d0 - d0, d0 * 2 * 3, (d0 + 1) * 2, 2 * d0 + d0 * 3)": (
        "(d0, d1)[s0] -> (d0 + d1 + 2, d0 * 2, d0 * 3, 0, d0 * 6, (d0 + 1) * 2, d0 * 5)"
    ),
    "(d0, d1) -> (d0 - (d0 floordiv 4) * 4, d0 - 4 * (d0 floordiv 4), (d0 * 8) floordiv 4, (d0 * 8 + d1) floordiv 4)": (
        "(d0, d1) -> (d0 mod 4, d0 mod 4, d0 * 2, d0 * 2 + d1 floordiv 4)"
    ),
    "(d0, d1) -> ((d0 * 8) mod 4, (d0 * 8 + d1) mod 4, (d0 mod 8) mod 4, (d0 * 4 + 8) mod 4, d0 mod 1)": (
        "(d0, d1) -> (0, d1 mod 4, d0 mod 4, 0, 0)"
    ),
    "(d0, d1)[s0] -> ((d0 * 8) ceildiv 4, d0 * s0 * 2, d0 * 2 * s0, s0 + d0, s0 * d0, (d0 + s0) + d1)": (
        "(d0, d1)[s0] -> (d0 * 2, (d0 * s0) * 2, (d0 * s0) * 2, d0 + s0, d0 * s0, d0 + s0 + d1)"
    ),
    "(d0)[s0, s1] -> (s0 * 2 * s1, d0 floordiv s0, d0 - (d0 floordiv s0) * s0, d0 mod s0, s0 floordiv 2 + d0)": (
        "(d0)[s0, s1] -> ((s0 * s1) * 2, d0 floordiv s0, d0 mod s0, d0 mod s0, d0 + s0 floordiv 2)"
    ),
    "(d0, d1) -> (-(d0 + d1), d0 - (d1 + 2), d0 - 2 * d1, -d0 - d1, d1 - (d0 - 2) * 3, d0 * -1 + 2, 3 - d0)": (
        "(d0, d1) -> (-(d0 + d1), d0 - (d1 + 2), d0 - d1 * 2, -d0 - d1, d1 - (d0 - 2) * 3, -d0 + 2, -d0 + 3)"
    ),
    "(d0, d1) -> (((d0 * 4) floordiv 2) mod 2, (d0 * 6 + d1 * 4) floordiv 2, d0 ceildiv 1, (d0 + d1) * 4 - d1 * 4)": (
        "(d0, d1) -> (0, d0 * 3 + d1 * 2, d0, (d0 + d1) * 4 - d1 * 4)"
    ),
    "(d0)[s0] -> (d0 floordiv -1, -s0 floordiv 4, 7 floordiv -2, 7 ceildiv -2, -7 mod -4, (d0 + 6) floordiv -2)": (
        "(d0)[s0] -> (d0 floordiv -1, (-s0) floordiv 4, -4, -3, -7 mod -4, d0 floordiv -2 - 3)"
    ),
    "(d0, d1) -> (d0 floordiv 0, 7 ceildiv 0, d0 mod 0, (d0 * 4) floordiv -4, (d0 * 2 + d1 * 4) ceildiv -2)": (
        "(d0, d1) -> (d0 floordiv 0, 7 ceildiv 0, d0 mod 0, -d0, (d0 * 2 + d1 * 4) ceildiv -2)"
    ),
}
SETS = {
    "(d0, d1)[s0] : (d0 - 1 >= 0, d0 + d1 == 0, 5 >= d0, d0 <= s0, 1 >= 0)": (
        "(d0, d1)[s0] : (d0 - 1 >= 0, d0 + d1 == 0, -d0 + 5 >= 0, -d0 + s0 >= 0, 1 >= 0)"
    ),
    "(d0) : ()": "(d0) : (0 == 0)",
    "() : (2 >= 1, 0 == 0)": "() : (1 >= 0, 0 == 0)",
    "(d0)[s0] : (d0 mod 2 == 0, -d0 + s0 floordiv 3 >= 0, d0 * s0 - 1 >= d0)": (
        "(d0)[s0] : (d0 mod 2 == 0, -d0 + s0 floordiv 3 >= 0, d0 * s0 - d0 - 1 >= 0)"
    ),
}
CASES = [("map", text, expected) for text, expected in MAPS.items()]
CASES += [("set", text, expected) for text, expected in SETS.items()]


def spelled(word, text):
    module = ir.parse(f'"a"() {{a = affine_{word}<{text}>}} : () -> ()', allow_unregistered=True)
    return str(next(iter(module.body)).attributes["a"])


@pytest.mark.parametrize(("word", "text", "expected"), CASES)
def test_simplified_as_upstream(word, text, expected):
    assert spelled(word, text) == f"affine_{word}<{expected}>"
    assert spelled(word, expected) == f"affine_{word}<{expected}>"


@mlir_opt.needed
def test_upstream_simplifies_so():
    lines = [f"#a{index} = affine_{word}<{text}>" for index, (word, text, _) in enumerate(CASES)]
    used = ", ".join(f"a{index} = #a{index}" for index in range(len(CASES)))
    accepted, output = mlir_opt.upstream(
        "\n".join([*lines, f'"a"() {{{used}}} : () -> ()']), "--allow-unregistered-dialect"
    )
    assert accepted, output
    for word, _, expected in CASES:
        assert f" = affine_{word}<{expected}>\n" in output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("affine_map<(d0, d1) -> (d0 * d1)>", "non-affine"),
        ("affine_map<(d0, d1) -> (d0 mod d1)>", "right operand of mod has to be either a constant or symbolic"),
        ("affine_set<(d0) : (d0)>", "expected '>=', '<=' or '=='"),
        ("affine_set<(d0) : (d1 >= 0)>", "undeclared identifier 'd1'"),
    ],
)
def test_refused(text, message):
    with pytest.raises(ParseError, match=message):
        ir.parse(f'"a"() {{a = {text}}} : () -> ()', allow_unregistered=True)
