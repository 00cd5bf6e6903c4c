"""Affine maps and sets are simplified and spelled as mlir-opt 22 does. Hazards: a rule in another order, a constant on
the left, a division that is exact, a sum that is spelled without the parentheses it needs."""

import random

import pytest

from qrt import ir
from qrt.errors import ParseError
from qrt.ir.core import affine
from qrt.ir.core.affine import evaluate, spell_expression, substitute
from qrt.types.scanner import MAX_NESTING
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


def attribute(word, text):
    module = ir.parse(f'"a"() {{a = affine_{word}<{text}>}} : () -> ()', allow_unregistered=True)
    return next(iter(module.body)).attributes["a"]


def spelled(word, text):
    return str(attribute(word, text))


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


LARGEST = (1 << 63) - 1
APART = {
    f"({LARGEST} + 1, {LARGEST} * 2, d0 * {LARGEST} * 3, d0 + {LARGEST} + d1 + 5)": (
        f"({LARGEST} + 1, {LARGEST} * 2, (d0 * {LARGEST}) * 3, d0 + d1 + {LARGEST} + 5)"
    ),
    f"(d0 * {LARGEST} + d0 * {LARGEST}, (d0 + {LARGEST}) * 2 - (d0 + {LARGEST}) * 2)": (
        f"(d0 * {LARGEST} + d0 * {LARGEST}, 0)"
    ),
    f"(-{LARGEST} - 1, d0 - {LARGEST} - 1, d0 * (-{LARGEST} - 1), d1 - d0 * (-{LARGEST} - 1), -(-{LARGEST} - 1))": (
        f"(-{LARGEST} - 1, d0 - {LARGEST} - 1, d0 * (-{LARGEST} - 1), d1 - d0 * (-{LARGEST} - 1), -(-{LARGEST} - 1))"
    ),
}


@pytest.mark.parametrize("text", APART)
def test_constants_that_pass_64_bits_together_stay_apart(text):
    assert spelled("map", f"(d0, d1) -> {text}") == f"affine_map<(d0, d1) -> {APART[text]}>"
    assert spelled("map", f"(d0, d1) -> {APART[text]}") == f"affine_map<(d0, d1) -> {APART[text]}>"


def test_the_least_bound_of_a_loop_is_read_in_the_generic_form():
    """No literal says it: upstream prints one that it does not read."""
    text = f"func.func @f() {{ affine.for %i = 0 to {-LARGEST - 1} {{ }} return }}"
    module = ir.parse(text)
    assert ir.parse(module.print(generic=True)) == module


def drawn(draw, operators):
    """An expression as text, with constants close to 2^63 in it, and what it computes of d0 and d1."""
    if operators == 0:
        number = draw.choice([1, 2, 7, 1 << 62, LARGEST - 1, LARGEST])
        leaves = [("d0", lambda d0, d1: d0), ("d1", lambda d0, d1: d1), (f"(-{number})", lambda d0, d1: -number)]
        return draw.choice([*leaves, (f"(-{LARGEST} - 1)", lambda d0, d1: -LARGEST - 1)])
    left, first = drawn(draw, draw.randrange(operators))
    right, second = drawn(draw, operators - 1)
    factor, divisor = draw.choice([-LARGEST, -3, 2, 1 << 32]), draw.choice([1, 2, 3, (1 << 62) + 1, LARGEST])
    return draw.choice(
        [
            (f"({left} + {right})", lambda d0, d1: first(d0, d1) + second(d0, d1)),
            (f"({left} - {right})", lambda d0, d1: first(d0, d1) - second(d0, d1)),
            (f"({left} * {factor})", lambda d0, d1: first(d0, d1) * factor),
            (f"(-{left})", lambda d0, d1: -first(d0, d1)),
            (f"({left} floordiv {divisor})", lambda d0, d1: first(d0, d1) // divisor),
            (f"({left} ceildiv {divisor})", lambda d0, d1: -(-first(d0, d1) // divisor)),
            (f"({left} mod {divisor})", lambda d0, d1: first(d0, d1) % divisor),
        ]
    )


def result_of(text):
    (result,) = attribute("map", f"(d0, d1) -> ({text})").results
    return result


@pytest.mark.parametrize("seed", range(4))
def test_drawn_expressions_keep_their_values_and_their_texts_are_read(seed):
    draw = random.Random(seed)
    for _ in range(200):
        text, computes = drawn(draw, draw.randrange(6))
        result = result_of(text)
        again = result_of(spell_expression(result))
        for point in ((0, 0), (5, -3), (-(1 << 40), LARGEST)):
            assert evaluate(result, point) == evaluate(again, point) == computes(*point), text


def test_brackets_of_an_expression_have_a_depth_of_their_own():
    """Passes compose expressions up to a depth, however deep the operation stands."""
    deep = "(" * (MAX_NESTING - 2) + "d0" + " floordiv 2 + 1)" * (MAX_NESTING - 2)
    text = f'"a"() {{a = {"[" * 9}affine_map<(d0) -> ({deep})>{"]" * 9}}} : () -> ()'
    assert str(ir.parse(text, allow_unregistered=True)).count("floordiv") == MAX_NESTING - 2


def test_equal_parts_are_substituted_once(monkeypatch):
    """Each of the lines below stands twice in the next one, and each visit of a part combines it again."""
    combined = []
    monkeypatch.setattr(affine, "combine", lambda *parts: combined.append(parts) or affine.Compound(parts))
    part = ("d", 0)
    for _ in range(7):
        part = ("+", ("floordiv", part, 2), part)
    assert substitute(part, [("s", 0)], []) == substitute(part, [("s", 0)], [])
    assert len(combined) == 2 * 2 * 7
