"""Broken and hostile text: always a diagnostic with a position, never a Python error, a hang or unbounded memory."""

import random

import pytest

from qrt import ir
from qrt.errors import ParseError, VerifyError
from tests.ir.programs import CAST, PROGRAMS, UNREGISTERED


def refused(text, **options):
    """The diagnostic of a text that is not a program."""
    with pytest.raises((ParseError, VerifyError)) as caught:
        ir.parse(text, "f.mlir", **options).verify()
    location = caught.value.location
    assert location.filename == "f.mlir"
    assert 1 <= location.line <= text.count("\n") + 1
    assert location.column >= 1
    lines = str(caught.value).split("\n")
    message = caught.value.message
    shown = message if len(message) < 2000 else f"{message[:1000]} [...] {message[-1000:]}"
    assert lines[0] == f"f.mlir:{location.line}:{location.column}: error: {shown}"
    assert all(len(line) <= 160 for line in lines[1:])
    assert lines[-1].strip().startswith("^")
    return caught.value


def checked(text, **options):
    """Accepted or refused, nothing else."""
    try:
        ir.parse(text, **options).verify()
    except (ParseError, VerifyError) as error:
        str(error)


@pytest.mark.parametrize("name", ["cast", "kernels", "constants", "calls", "cast attributes"])
def test_a_function_cut_anywhere_inside_its_body_is_a_diagnostic(name):
    text = PROGRAMS[name].partition("{-#")[0].rstrip()
    for cut in range(text.index("{", text.index("func.func @f")) + 1, len(text)):
        refused(text[:cut])


@pytest.mark.parametrize("name", [*PROGRAMS, *UNREGISTERED])
def test_a_text_cut_or_damaged_anywhere_is_no_python_error(name):
    text = (PROGRAMS | UNREGISTERED)[name]
    draw = random.Random(name)
    for cut in range(len(text)):
        checked(text[:cut], allow_unregistered=True)
        if cut % 3 == 0:
            junk = draw.choice(
                ["\0", "{", "}", "<", ">", '"', "%", "#", "!", "@", "9" * 40, "-", "é", "\x7f", "loc(", "//"]
            )
            checked(text[:cut] + junk + text[cut:], allow_unregistered=True)
            checked(text[:cut] + text[cut + draw.randint(1, 9) :], allow_unregistered=True)


@pytest.mark.parametrize(
    "text",
    [
        '"a.b"() ({' * 10_000,
        "module {" * 10_000 + "}" * 10_000,
        '"a.b"() {a = ' + "[" * 10_000 + "]" * 10_000 + "} : () -> ()",
        '"a.b"() {a = ' + "{a = " * 10_000 + "} : () -> ()",
        '"a.b"() {a = dense<' + "[" * 10_000 + "1" + "]" * 10_000 + "> : tensor<1xi8>} : () -> ()",
        '"a.b"() {a = ' + "tensor<" * 10_000 + "} : () -> ()",
        '"a.b"() {a = ' + "(" * 10_000 + "} : () -> ()",
        '"a.b"() : () -> () loc(' + "callsite(" * 10_000,
        '"a.b"() {a = #a<' + "<" * 10_000 + "} : () -> ()",
        "".join(f"!a{n} = tuple<!a{n + 1}>\n" for n in range(10_000)) + '"a.b"() {a = !a0} : () -> ()',
    ],
    ids=lambda text: text[:24],
)
def test_deep_nesting_is_a_diagnostic(text):
    refused(text, allow_unregistered=True)


def test_an_alias_of_itself_is_a_diagnostic():
    assert "by itself" in refused("func.func private @f(!a)\n!a = tuple<!b>\n!b = tuple<!a>").message
    assert "undefined alias" in refused("func.func private @f(!a)").message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f\0() { return }", "control character"),
        ("\0", "control character"),
        ("\ufeffmodule {}", "expected an operation"),
        ('"a.b"() {a = dense<1> : tensor<99999999999999999999xi8>} : () -> ()', "64 bits"),
        ('"a.b"() {a = dense<[1, 2]> : tensor<9223372036854775807xi8>} : () -> ()', "inferred shape"),
        ('"a.b"() {a = dense<> : tensor<9223372036854775807xi8>} : () -> ()', "element literal"),
        ('"a.b"() {a = dense<"0x0102"> : tensor<9223372036854775807xi8>} : () -> ()', "does not fill"),
        ('"a.b"() {a = ' + "9" * 10_000 + "} : () -> ()", "out of range"),
        ('%0:999999999999 = "a.b"() : () -> i32', "was provided"),
        ('"a.b"(%0#99999999999) : (i32) -> ()', "undeclared"),
    ],
)
def test_hostile_text(text, message):
    assert message in refused(text, allow_unregistered=True).message


def test_an_enormous_splat_takes_no_memory():
    module = ir.parse('"a.b"() {a = dense<7> : tensor<9223372036854775807xi8>} : () -> ()', allow_unregistered=True)
    value = next(iter(module.body)).attributes["a"]
    assert value.array.strides == (0,)
    assert "dense<7> : tensor<9223372036854775807xi8>" in str(module)


def test_a_long_line_of_garbage_is_refused_quickly():
    refused("func.func @f() { " + "x" * 5_000_000)
    refused("<" * 5_000_000)
    refused('"' + "a" * 5_000_000)


def test_every_diagnostic_of_the_cast_program_shows_its_line():
    error = refused(CAST.replace("return %0", "return %1"))
    assert str(error) == (
        "f.mlir:3:10: error: use of undeclared SSA value name '%1'\n"
        "  return %1 : tensor<4x!quant.uniform<i8:f32, 0.5:3>>\n"
        "         ^~"
    )
