"""The scanner: hazards are positions that drift, carets under tabs, messages as long as their line, and literals that
Python reads and MLIR does not."""

import pickle

import pytest

from qrt.errors import ParseError, QuantError, VerifyError
from qrt.types.scanner import MAX_NESTING, Location, Scanner, Source


def scanner(text):
    return Scanner(Source(text, "t.mlir"))


def test_a_diagnostic_is_position_message_line_and_caret():
    source = Source("one\n\ttwo three\nfour", "t.mlir")
    error = ParseError("no such number", Location(source, 9, 14))
    assert str(error) == "t.mlir:2:6: error: no such number\n\ttwo three\n\t    ^~~~~"
    assert (error.location.line, error.location.column) == (2, 6)


def test_a_diagnostic_survives_pickling():
    error = VerifyError("bad", Location(Source("abc"), 1))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_huge_line_is_shown_in_part_around_the_caret():
    source = Source("x" * 1_000_000 + "!" + "y" * 1_000_000)
    first, line, caret = str(ParseError("here", Location(source, 1_000_000))).split("\n")
    assert first == "<string>:1:1000001: error: here"
    assert len(line) < 200
    assert line[caret.index("^")] == "!"


def test_control_characters_are_not_printed_raw():
    text = str(ParseError("bad", Location(Source("a\0b\x1b[2J"), 1)))
    assert "\0" not in text
    assert "\x1b" not in text


@pytest.mark.parametrize("text", ["  // comment\n\t x", "//a\n//b\n\r\nx", "x"])
def test_white_space_and_comments_are_skipped(text):
    s = scanner(text)
    assert s.peek_word() == "x"
    assert s.skip() == len(text) - 1


@pytest.mark.parametrize(
    ("text", "value"),
    [('"a\\22b\\\\"', 'a"b\\'), ('"\\n\\t\\0A"', "\n\t\n"), ('"\\C3\\A9"', "é"), ('"\\FF"', "\udcff"), ('""', "")],
)
def test_strings_unescape_bytes(text, value):
    assert scanner(text).string() == value


@pytest.mark.parametrize("text", ['"open', '"a\nb"', '"\\z"', '"\\1"', "bare"])
def test_broken_strings_are_errors(text):
    with pytest.raises(ParseError):
        scanner(text).string()


@pytest.mark.parametrize(("text", "value"), [("-9223372036854775808", -(2**63)), ("0x10", 16), ("007", 7), ("-0", 0)])
def test_integers(text, value):
    assert scanner(text).integer() == value


@pytest.mark.parametrize("text", ["9223372036854775808", "9" * 5000, "0x" + "f" * 17, "1.0", "+1", "", "\u0661"])
def test_what_is_no_64_bit_integer_is_an_error(text):
    with pytest.raises(ParseError):
        scanner(text).integer()


@pytest.mark.parametrize(
    ("text", "value"), [("1.", 1.0), ("1.5e-3", 1.5e-3), ("2.E+2", 200.0), ("0x3FF0000000000000", 1.0)]
)
def test_float_literals(text, value):
    assert scanner(text).float_literal()[0] == value


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("1", "as in 1.0", 1),
        (" 1e5", "trailing dot to the integer, as in 1.0e5", 2),
        (".5", "expected", 1),
        ("+1.0", "expected", 1),
        ("nan", "expected", 1),
        ("0x13FF0000000000000", "64 bits", 1),
        ("-0x3FF0000000000000", "leading minus", 1),
    ],
)
def test_what_python_reads_as_a_float_and_upstream_does_not(text, message, column):
    with pytest.raises(ParseError, match=message) as caught:
        scanner(text).float_literal()
    assert caught.value.location.column == column


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("(d0) -> (d0)> rest", "(d0) -> (d0)"),
        ("[1, 2], {a = ')'}", "[1, 2], {a = ')'}"),
        ('"a>b" > c', '"a>b"'),
        ("(d0 - 1 >= 0)>", "(d0 - 1 >= 0)"),
    ],
)
def test_balanced_text_ends_at_the_bracket_that_closes_it(text, kept):
    if "'" in text:
        text = text.replace("'", '"')
        kept = kept.replace("'", '"')
    assert scanner(text).balanced("an attribute") == kept


@pytest.mark.parametrize("text", ["((", "[)", '"open', ">"])
def test_unbalanced_text_is_an_error(text):
    with pytest.raises(ParseError):
        scanner(text).balanced("an attribute")


def test_nesting_is_bounded():
    s = scanner("x")

    def descend():
        with s.nested():
            descend()

    with pytest.raises(ParseError, match=f"more than {MAX_NESTING} levels deep"):
        descend()
    assert s.depth == 0


def test_diagnostics_are_quant_errors():
    assert issubclass(ParseError, QuantError)
    assert issubclass(VerifyError, QuantError)
