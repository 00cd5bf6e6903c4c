"""Use lists and the linked list of operations: what a rewrite relies on."""

import pytest

from qrt import ir
from qrt.errors import QuantTypeError, VerifyError
from qrt.ir import Block, DenseElementsAttr, Operation, Value, attribute
from qrt.types import parse_type

TEXT = """func.func @f(%x: i32) -> i32 {
  %0 = "t.a"(%x, %x) : (i32, i32) -> i32
  %1 = "t.b"(%0, %x) : (i32, i32) -> i32
  return %1 : i32
}"""


@pytest.fixture
def block():
    return ir.parse(TEXT, "f.mlir", allow_unregistered=True).function("f").regions[0].blocks[0]


def names(block):
    return [operation.name for operation in block]


def test_uses_follow_every_change(block):
    (x,) = block.arguments
    a, b, end = block.operations
    assert list(x.uses) == [(a, 0), (a, 1), (b, 1)]
    assert x.users == [a, b]
    b.set_operand(1, a.result)
    assert list(x.uses) == [(a, 0), (a, 1)]
    assert list(a.result.uses) == [(b, 0), (b, 1)]
    a.result.replace_all_uses(x)
    assert not a.result.uses
    assert b.operands == [x, x]
    end.set_operands([x])
    assert not b.result.uses
    assert (end, 0) in x.uses


def test_only_what_is_unused_is_erased(block):
    a, b, end = block.operations
    with pytest.raises(VerifyError, match="still has 1 use"):
        b.erase()
    end.set_operands([])
    b.erase()
    assert names(block) == ["t.a", "func.return"]
    assert not a.result.uses
    assert b.parent is None
    assert len(block.arguments[0].uses) == 2


def test_operations_move_anywhere_in_a_block(block):
    a, b, end = block.operations
    block.insert_before(a, b.detach())
    assert names(block) == ["t.b", "t.a", "func.return"]
    block.append(a.detach())
    assert names(block) == ["t.b", "func.return", "t.a"]
    block.insert_before(end, Operation("t.c"))
    assert names(block) == ["t.b", "t.c", "func.return", "t.a"]
    assert [o.name for o in (block.first, block.last)] == ["t.b", "t.a"]
    for operation in block:
        operation.drop_operands()
    for operation in block:
        operation.detach()
    assert (block.first, block.last) == (None, None)


def test_every_operation_and_block_knows_its_place(block):
    places = [(o.location.line, o.location.column) for o in block]
    assert places == [(2, 8), (3, 8), (4, 3)]
    assert str(block.last.location) == "f.mlir:4:3"
    assert block.last.parent_operation.name == "func.func"
    assert str(block.last.parent_operation.location) == "f.mlir:1:1"


def test_walk_visits_each_before_what_is_inside():
    module = ir.parse(
        '"a.a"() ({ "a.b"() ({ "a.c"() : () -> () }) : () -> () }) : () -> ()\n"a.d"() : () -> ()',
        allow_unregistered=True,
    )
    assert [o.name for o in module.operation.walk()] == ["builtin.module", "a.a", "a.b", "a.c", "a.d"]


def test_loops_see_operations_as_they_were(block):
    seen = []
    for operation in block:
        seen.append(operation.name)
        while block.last is not block.first:
            block.last.erase()  # those to come too
    assert seen == ["t.a", "t.b", "func.return"]
    assert names(block) == ["t.a"]


def test_a_walk_sees_operations_as_they_were():
    module = ir.parse("func.func @f() { return }\nfunc.func @g() { return }")
    seen = []
    for operation in module.operation.walk():
        seen.append(operation.name)
        for function in module.functions:
            function.erase()
    assert seen == ["builtin.module", "func.func", "func.return", "func.func", "func.return"]


def test_functions_are_found_and_missed():
    module = ir.parse("func.func private @g()\nfunc.func @f() { call @g() : () -> ()  return }")
    assert [f.sym_name for f in module.functions] == ["g", "f"]
    assert module.function() is module.function("f")
    call = module.function("f").regions[0].blocks[0].first
    assert module.callee(call) is module.function("g")
    assert module.function("g").is_declaration
    with pytest.raises(VerifyError, match="no function is named @h"):
        module.function("h")
    with pytest.raises(VerifyError, match="found none"):
        ir.parse("").function()


def test_ports_are_named_by_attributes():
    function = ir.parse(
        'func.func @f(%x: i32 {qrt.name = "images"}, %y: i32) -> (i32, i32 {qrt.name = "z"}) {'
        "return %x, %y : i32, i32 }"
    ).function("f")
    assert [function.port_name("inputs", n) for n in range(2)] == ["images", None]
    assert [function.port_name("results", n) for n in range(2)] == [None, "z"]


def test_plain_values_become_attributes_and_come_back():
    values = {"a": 1, "b": 2.5, "c": "s", "d": ((1, 2), (3, 4)), "e": True, "f": {"g": -1}, "h": parse_type("i8")}
    for value in values.values():
        assert attribute(value).python == value
    assert attribute(values).python == values
    with pytest.raises(QuantTypeError):
        attribute(object())


def test_constants_are_read_only_and_of_their_types_dtype(block):
    import numpy as np

    t = parse_type("tensor<2xi4>")
    given = np.array([1, -8], np.int8)
    constant = DenseElementsAttr(given, t)
    given[0] = 5
    assert constant.array.tolist() == [1, -8]
    with pytest.raises(ValueError, match="read-only"):
        constant.array[0] = 2
    for wrong in (np.array([1, 2], np.int16), np.array([1], np.int8)):
        with pytest.raises(QuantTypeError, match="must have dtype int8"):
            DenseElementsAttr(wrong, t)


def test_values_and_blocks_can_be_built_by_hand():
    block = Block([parse_type("i32")])
    made = block.append(Operation("t.a", block.arguments, [parse_type("i8")]))
    assert isinstance(made.result, Value)
    assert str(made).strip() == '%0 = "t.a"(<<UNKNOWN SSA VALUE>>) : (i32) -> i8'
