"""Where the parts of an operation stand in its text. Hazards: a type within a type, an attribute's name in a string,
forms that are not one line, operations that stand for the text of another."""

import pytest

from qrt import ir
from qrt.errors import ParseError
from qrt.ir import run_passes
from qrt.ir.core import places
from qrt.ir.core.operations import NOWHERE, Operation

Q = "tensor<2x!quant.uniform<i8<-9:9>:f32:0, {1.0, 2.0}>>"


def operation(text, arguments="%x: f32, %y: i8"):
    module = ir.parse(f"func.func @f({arguments}) {{\n  {text}\n  return\n}}", allow_unregistered=True)
    return module.function("f").regions[0].blocks[0].first


def operand_type(op, index):
    return places.type_of(op, "operand", index)


def result_type(op, index):
    return places.type_of(op, "result", index)


def said(location):
    return location.source.text[location.start : location.end]


@pytest.mark.parametrize(
    ("place", "which", "part"),
    [
        (places.operand, 0, "%x"),
        (places.operand, 1, "%y"),
        (operand_type, 0, "f32"),
        (operand_type, 1, "i8"),
        (result_type, 0, Q),
        (places.attribute, "b", "b"),
        (places.attribute, "p", "p"),
        (places.operand, 2, '"t.a"'),
        (result_type, 1, '"t.a"'),
        (places.attribute, "c", '"t.a"'),
    ],
)
def test_generic_form(place, which, part):
    op = operation(f'%0 = "t.a"(%x, %y) <{{p = 1}}> {{a = "b, c", b}} : (f32, i8) -> {Q}')
    assert said(place(op, which)) == part


def test_a_name_in_a_string_is_no_attribute():
    op = operation('"t.a"() {a = "b, c", b} : () -> i8')
    place = places.attribute(op, "b")
    assert place.source.text[place.start :].startswith("b} :")


@pytest.mark.parametrize(
    ("place", "which", "part"),
    [
        (places.operand, 0, "%x"),
        (operand_type, 0, "tensor<2xf32>"),
        (result_type, 0, Q),
        (places.attribute, "scale", "scale"),
    ],
)
def test_custom_form(place, which, part):
    op = operation(f'%0 = quant.qcast %x {{scale = "divide"}} : tensor<2xf32> to {Q}', "%x: tensor<2xf32>")
    assert said(place(op, which)) == part


def test_types_of_a_signature_are_told_apart():
    q = "tensor<2x2x!quant.uniform<i8:f32, 0.5>>"
    op = operation(f"%0 = qrt.add %x, %y : ({q}, {q}) -> {q}", f"%x: {q}, %y: {q}")
    found = [operand_type(op, 0), operand_type(op, 1), result_type(op, 0)]
    assert list(map(said, found)) == [q] * 3
    assert found[0].start < found[1].start < found[2].start


def test_a_part_on_another_line_is_placed_at_the_operation():
    """`expected-error` comments, upstream's too, say the line of the operation."""
    op = operation("%0 = quant.qcast %x\n    : f32 to !quant.uniform<i8:f32, 1.0>")
    assert said(places.operand(op, 0)) == "%x"
    assert result_type(op, 0) is op.location


def test_forms_with_a_parser_of_their_own_are_placed_at_the_operation():
    op = operation("%0 = arith.constant 1 : i32")
    assert result_type(op, 0) is op.location


def test_operations_made_by_a_pass_are_placed_where_what_they_replace_stands():
    cast = "%0 = quant.qcast %x : f32 to !quant.uniform<i8:f32, 2.0>  return %0 : !quant.uniform<i8:f32, 2.0>"
    module = ir.parse(f"func.func @f(%x: f32) -> !quant.uniform<i8:f32, 2.0> {{ {cast} }}")
    run_passes(module, "lower-quant-ops")
    made = [op for op in module.operation.walk() if op.name == "arith.divf"]
    assert made
    assert all(places.operand(op, 0) is op.location for op in made)
    assert places.operand(Operation("t.a"), 0) is NOWHERE


# -- diagnostics of the parser -----------------------------------------------------------------------------------------


MISSING = [
    ("func.func @f(%x: i32 -> i32 { }", 1, 21),
    ("func.func @f(%x: i32) {\n  %0 = arith.addi %x %x : i32\n}", 2, 21),
    ('func.func @f(%x: i32) {\n  %0 = arith.addi %x, %x // a comment\n\n  // and "one\n  return\n}', 2, 25),
    ("func.func @f() {\r\n  arith.constant\r\n}", 2, 17),
    ("func.func @f() {\n\n\n", 1, 17),
    ("  )", 1, 3),
    ("func.func @f() attributes {a = 1\n b = 1} { return }", 1, 33),
]
IN_STRINGS = [('func.func @f() attributes {a = "//"\n b = 1} { return }', 1, 36)]
"""Upstream takes what is in a string for a comment."""


@pytest.mark.parametrize(("text", "line", "column"), MISSING + IN_STRINGS)
def test_a_missing_token_is_reported_where_it_is_missing(text, line, column):
    """On another line than the next token; a `//` in a string begins no comment."""
    with pytest.raises(ParseError) as caught:
        ir.parse(text)
    assert (caught.value.location.line, caught.value.location.column) == (line, column)


NOTES = [
    ("%0 = arith.addi %x, %x : i32\n%0 = arith.addi %x, %x : i32", "redefinition", "previously defined here", (2, 1)),
    ("%a = arith.addi %x, %x : i64", "prior uses: 'i64' vs 'i32'", "prior use here", (1, 14)),
    ("%0:2 = t.a\n%1 = arith.addi %0#1, %x : i32", "prior uses: 'i32' vs 'i8'", "prior use here", (2, 1)),
    ("t.u %y : i32\nt.u %y : i64", "prior uses: 'i64' vs 'i32'", "prior use here", (2, 7)),
    ("t.u %y : i32\n%y = t.d : i64", "SSA value '%y#0' has type 'i64'", "previously used here with type 'i32'", (2, 7)),
    ("t.r {\n^bb0(%x: i8):\n}", "redefinition of SSA value '%x'", "previously defined here", (1, 14)),
    ("func.func @g(%z: i8, %z: i8) { }", "argument '%z' is already in use", "previously referenced", (2, 14)),
]


def with_generic_forms(body):
    """The program of one body in which ops of `t` stand for longer ones."""
    for name, generic in {
        "%0:2 = t.a": '%0:2 = "t.a"() : () -> (i8, i8)',
        "t.u %y : i32": '"t.u"(%y) : (i32) -> ()',
        "t.u %y : i64": '"t.u"(%y) : (i64) -> ()',
        "t.d : i64": '"t.d"() : () -> i64',
    }.items():
        body = body.replace(name, generic)
    body = body.replace("t.r {", '"t.r"() ({').replace("\n}", "\n}) : () -> ()")
    return f"func.func @f(%x: i32) {{\n{body}\n  return\n}}"


@pytest.mark.parametrize(("body", "error", "note", "before"), NOTES)
def test_a_note_says_where_the_name_stood_before(body, error, note, before):
    with pytest.raises(ParseError, match=error) as caught:
        ir.parse(with_generic_forms(body), allow_unregistered=True)
    (found,) = caught.value.diagnostics[0].notes
    assert note in found.message
    assert (found.location.line, found.location.column) == before
